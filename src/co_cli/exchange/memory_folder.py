"""The memory folders of coding agents: a file MEMORY.md, and beside it a file for each thing to remember.

Owns what Claude Code and Gemini CLI have in common there, and what becomes of it: a file with a name and a description in
its header is a memory, another one a topic, and of MEMORY.md what is no mere list of the files.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from co_cli.exchange.documents import document_of, entry_of, statements
from co_cli.exchange.intake import IMPORTED, Entry
from co_cli.exchange.reading import Text, read_text, walk
from co_cli.exchange.report import SKIPPED, ImportEntry, short_name
from co_cli.frontmatter import FrontmatterError, parse_frontmatter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from co_cli.exchange.intake import Item

INDEX = "MEMORY.md"
CATEGORIES = {
    "user": "user_preferences",
    "feedback": "user_preferences",
    "project": "project_insights",
    "reference": "learned_facts",
}
"""The kinds of memories that agents tell apart, and what they are here."""
_LONGEST = 4000
"""Characters of a memory above which it is a document, so a topic."""
_POINTER = re.compile(r"(?:\*\*)?(?:\[[^\]]*\]\((?!https?:)[^)]*\.md\)|\[\[[^\]]+\]\]|`[^`]+\.md`)")
_WIKI = re.compile(r"\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]+))?\]\]")


def is_memory_folder(folder: str) -> bool:
    """Whether a folder holds the memories of an agent."""
    return os.path.isfile(os.path.join(folder, INDEX))


def memories_in(folder: str, tag: str) -> tuple[list[str], list[Item]]:
    """The files of a memory folder, and what becomes of them."""
    files = sorted(walk(folder, lambda name: name.lower().endswith(".md")), key=lambda path: os.path.basename(path) == INDEX)
    return files, [item for file in files for item in items_of(file, tag)]


def items_of(path: str, tag: str) -> Iterator[Item]:
    """What becomes of one file of a memory folder."""
    read = read_text(path)
    if isinstance(read, ImportEntry):
        yield read
    elif os.path.basename(path) == INDEX:
        yield from _index(read, tag)
    else:
        yield _file(read, tag)


def _index(read: Text, tag: str) -> Iterator[Item]:
    pointers = 0
    for said in statements(read.text):
        if _POINTER.match(said.text) and os.path.isdir(os.path.dirname(read.path)):
            pointers += 1
        else:
            yield entry_of(read, said, tag)
    if pointers:
        reason = f"{pointers} of its lines only point to files, which are taken in by themselves"
        yield ImportEntry(read.path, "", SKIPPED, reason, "index")


def _file(read: Text, tag: str) -> Item:
    try:
        fields, body = parse_frontmatter(read.text)
    except FrontmatterError as error:
        return ImportEntry(read.path, "", SKIPPED, error.reason, "bad-frontmatter", line=error.line)
    stem = os.path.splitext(os.path.basename(read.path))[0]
    name = fields.get("name")
    if not isinstance(name, str) or not body.strip() or len(body) > _LONGEST:
        return document_of(read, tag, name=f"{tag} {stem}")
    inner = fields.get("metadata")
    kind = fields.get("type") or (inner.get("type") if isinstance(inner, dict) else "")
    text = _WIKI.sub(lambda link: link[2] or link[1], body.strip())  # there are no notes of these names here
    tags = [IMPORTED, tag, *([kind] if isinstance(kind, str) and kind else [])]
    category = CATEGORIES.get(kind, "") if isinstance(kind, str) else ""
    because = f"imported from {tag}: {short_name(read.path)}"
    return Entry(read.path, read.written, "", text, category, tags, key=name.strip(), pinned=False, because=because)
