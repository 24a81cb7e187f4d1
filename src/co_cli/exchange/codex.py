"""What Codex knows: AGENTS.md, and the handbook in its folder of memories.

Owns where these lie, and that each group of tasks in the handbook is a topic. The summaries and raw notes from which Codex
made the handbook are left where they are.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from co_cli.errors import NotFound
from co_cli.exchange.documents import TOPICS, check_is_text, moment, name_from
from co_cli.exchange.instructions import instructions
from co_cli.exchange.intake import IMPORTED, Document, imported
from co_cli.exchange.reading import place, read_text, walk
from co_cli.exchange.report import SKIPPED, ImportEntry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from co_cli.exchange.intake import Item
    from co_cli.exchange.reading import Text
    from co_cli.exchange.report import ImportReport
    from co_cli.knowledge import KnowledgeBase

FORMS = "Name a project with an AGENTS.md, that file, ~/.codex, or ~/.codex/memories."
TAG = "codex"
_HANDBOOK = "MEMORY.md"
_DERIVED = ("memory_summary.md", "raw_memories.md", "rollout_summaries", "skills")
_INSTRUCTIONS = ("AGENTS.md", "AGENTS.override.md")
_GROUP = re.compile(r"(?m)^# Task Group:[ \t]*(.+?)[ \t]*$")


def import_codex(
    kb: KnowledgeBase, path: str, *, in_global: bool = False, dry_run: bool = False, as_what: str = TOPICS
) -> ImportReport:
    """Take in what Codex knows of a project, or of its user."""
    top = place(path, FORMS)
    if os.path.isfile(top):
        check_is_text(top)
        folder, found = os.path.dirname(top), [top]
    else:
        folder = top
        inner = os.path.join(top, "memories") if os.path.isdir(os.path.join(top, "memories")) else top
        notes = os.path.join(inner, "extensions", "ad_hoc", "notes")
        candidates = [*(os.path.join(top, name) for name in _INSTRUCTIONS), os.path.join(inner, _HANDBOOK)]
        found = [file for file in candidates if os.path.isfile(file)]
        found.extend(walk(notes, lambda name: name.endswith(".md")))
        folder = inner
    items = [item for file in found for item in _items(file, as_what)]
    if not items:
        raise NotFound(f"There is nothing of Codex in {top}.", FORMS)
    if os.path.isdir(top):
        derived = [name for name in _DERIVED if os.path.exists(os.path.join(folder, name))]
        reason = "is what Codex made its handbook of"
        items.extend(ImportEntry(os.path.join(folder, name), "", SKIPPED, reason, "derived") for name in derived)
    return imported(kb, top, found, items, what=TAG, in_global=in_global, dry_run=dry_run)


def _items(path: str, as_what: str) -> Iterator[Item]:
    name = os.path.basename(path)
    if name != _HANDBOOK:
        stem = os.path.splitext(name)[0]
        called = {"AGENTS": "agents_instructions", "AGENTS.override": "agents_override"}.get(stem, f"{TAG}_{stem}")
        yield from instructions(path, called, TAG, as_what)
        return
    read = read_text(path)
    if isinstance(read, ImportEntry):
        yield read
        return
    groups = list(_GROUP.finditer(read.text))
    if not groups:
        yield from instructions(path, f"{TAG}_memory", TAG, as_what)
    for group, following in zip(groups, [*groups[1:], None], strict=True):
        yield _group(read, group, following.start() if following else len(read.text))


def _group(read: Text, group: re.Match[str], end: int) -> Document:
    line = read.text.count("\n", 0, group.start()) + 1
    text = read.text[group.start() : end]
    return Document(
        read.path, f"line {line}", name_from(f"{TAG} {group[1]}"), text, [IMPORTED, TAG], updated=moment(read.written)
    )
