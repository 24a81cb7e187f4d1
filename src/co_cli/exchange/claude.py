"""What Claude Code knows: CLAUDE.md with the files that it takes in, its rules, and the memory folder of a project.

Owns where these lie. What becomes of them is that of all files of instructions and of all memory folders.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from co_cli.errors import NotFound
from co_cli.exchange.documents import TOPICS, check_is_text
from co_cli.exchange.instructions import instructions, with_imports
from co_cli.exchange.intake import imported
from co_cli.exchange.memory_folder import INDEX, is_memory_folder, items_of, memories_in
from co_cli.exchange.reading import place, walk
from co_cli.exchange.report import SKIPPED, ImportEntry

if TYPE_CHECKING:
    from co_cli.exchange.intake import Item
    from co_cli.exchange.report import ImportReport
    from co_cli.knowledge import KnowledgeBase

FORMS = "Name a project with a CLAUDE.md, that file, ~/.claude, or a memory folder such as ~/.claude/projects/NAME/memory."
TAG = "claude-code"
_LOCAL = "CLAUDE.local.md"


def import_claude(
    kb: KnowledgeBase, path: str, *, in_global: bool = False, dry_run: bool = False, as_what: str = TOPICS
) -> ImportReport:
    """Take in what Claude Code knows of a project, or of its user."""
    top = place(path, FORMS)
    files: list[str] = []
    items: list[Item] = []
    if os.path.isfile(top):
        check_is_text(top)
        if os.path.basename(top) == INDEX:
            files, items = [top], list(items_of(top, TAG))
        else:
            _add_instructions(files, items, [top], os.path.dirname(top), as_what)
    elif is_memory_folder(top):
        files, items = memories_in(top, TAG)
    else:
        _add_project(files, items, top, as_what, in_global=in_global)
    if not items:
        raise NotFound(f"There is nothing of Claude Code in {top}.", FORMS)
    return imported(kb, top, files, items, what=TAG, in_global=in_global, dry_run=dry_run)


def config_folder() -> str:
    """Where Claude Code keeps what is its user's."""
    return os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")


def memory_folder_of(project: str) -> str:
    """The memory folder of a project: its path with a hyphen for every sign that is no letter or digit."""
    return os.path.join(config_folder(), "projects", re.sub(r"[^A-Za-z0-9]", "-", os.path.realpath(project)), "memory")


def _add_project(files: list[str], items: list[Item], top: str, as_what: str, *, in_global: bool) -> None:
    mine = os.path.join(top, ".claude")
    found = [os.path.join(top, "CLAUDE.md"), os.path.join(mine, "CLAUDE.md")]
    for rules in (os.path.join(top, "rules"), os.path.join(mine, "rules")):
        found.extend(walk(rules, lambda name: name.endswith(".md")) if _is_config(os.path.dirname(rules)) else ())
    local = os.path.join(top, _LOCAL)
    if os.path.isfile(local) and in_global:
        found.append(local)
    elif os.path.isfile(local):
        items.append(ImportEntry(local, "", SKIPPED, "is yours alone: --global takes it into your own vault", "personal"))
    _add_instructions(files, items, [path for path in found if os.path.isfile(path)], top, as_what)
    folder = memory_folder_of(top)
    if is_memory_folder(folder):
        more, others = memories_in(folder, TAG)
        files.extend(more)
        items.extend(others)
    projects = os.path.join(top, "projects")
    for name in sorted(os.listdir(projects)) if os.path.isdir(projects) else ():
        inner = os.path.join(projects, name, "memory")
        if is_memory_folder(inner):
            items.append(ImportEntry(inner, "", SKIPPED, "holds the memories of one project: import it there", "project"))


def _is_config(folder: str) -> bool:
    return os.path.basename(folder) == ".claude" or os.path.realpath(folder) == os.path.realpath(config_folder())


def _add_instructions(files: list[str], items: list[Item], found: list[str], top: str, as_what: str) -> None:
    for path in found:
        taken, strangers = with_imports(path, top)
        for file in taken:
            if file not in files:
                files.append(file)
                items.extend(instructions(file, _name(file), TAG, as_what))
        items.extend(line for line in strangers if line not in items)


def _name(path: str) -> str:
    """The name of the topic: CLAUDE.md is one of many files of this name, so it is called by the program."""
    stem = os.path.splitext(os.path.basename(path))[0]
    return {"CLAUDE": "claude code instructions", "CLAUDE.local": "claude code my instructions"}.get(
        stem, f"claude code {stem}"
    )
