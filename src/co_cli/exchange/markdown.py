"""Folders of Markdown: those that co wrote itself, whose notes come back as they were, and those of others.

Owns telling the two apart, and finding the files of a vault or of an export of one.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from co_cli.exchange.documents import TOPICS, documents_in
from co_cli.exchange.intake import imported
from co_cli.exchange.reading import place, read_file, walk
from co_cli.exchange.report import SKIPPED, ImportEntry
from co_cli.exchange.target import MANIFEST
from co_cli.exchange.wholes import ATTACHMENTS, Whole
from co_cli.knowledge import GLOBAL, PROJECT
from co_cli.note import FOLDERS

if TYPE_CHECKING:
    from co_cli.exchange.intake import Item
    from co_cli.exchange.report import ImportReport
    from co_cli.knowledge import KnowledgeBase

FORMS = "Name a folder of Markdown files, or one such file."
TAG = "markdown"
_LARGEST_ATTACHMENT = 512 * 1024 * 1024


def import_markdown(
    kb: KnowledgeBase, path: str, *, in_global: bool = False, dry_run: bool = False, as_what: str = TOPICS
) -> ImportReport:
    """Take Markdown files in: an export of co with everything that it has, the files of others as topics or memories."""
    top = place(path, FORMS)
    if is_vault(top):
        files, items = wholes_in(top)
    elif is_vault(os.path.join(top, PROJECT)) or is_vault(os.path.join(top, GLOBAL)):  # an export of both vaults
        name, other = (GLOBAL, PROJECT) if in_global else (PROJECT, GLOBAL)
        files, items = wholes_in(os.path.join(top, name))
        if os.path.isdir(os.path.join(top, other)):
            how = "without" if in_global else "with"
            reason = f"belongs to the {other} vault: take it in {how} --global"
            items.append(ImportEntry(os.path.join(top, other), "", SKIPPED, reason, "other-vault"))
    else:
        files, items = documents_in(top, TAG, as_what=as_what)
    return imported(kb, top, files, items, what=TAG, in_global=in_global, dry_run=dry_run)


def is_vault(folder: str) -> bool:
    """Whether a folder is laid out as a vault is, so that its files are notes of co."""
    memories = os.path.join(folder, "memories")
    try:
        names = os.listdir(memories) if os.path.isdir(memories) else []
    except OSError:
        names = []
    made_here = os.path.exists(os.path.join(folder, MANIFEST)) and not os.path.isdir(os.path.join(folder, PROJECT))
    numbered = any(name[:1].isdecimal() and name.endswith(".md") for name in names)
    return numbered or (made_here and any(os.path.lexists(os.path.join(folder, name)) for name in _PARTS))


_PARTS = (*FOLDERS.values(), "archive", ATTACHMENTS, "context.md")


def wholes_in(folder: str) -> tuple[list[str], list[Item]]:
    """All notes of a vault, the archive included, with the files that go with them; the context comes first."""
    found = [os.path.join(folder, "context.md")] if os.path.isfile(os.path.join(folder, "context.md")) else []
    for part in (*FOLDERS.values(), *(os.path.join("archive", name) for name in FOLDERS.values())):
        where = os.path.join(folder, part)
        found.extend(path for path in walk(where, lambda name: name.endswith(".md")) if os.path.dirname(path) == where)
    found.extend(walk(os.path.join(folder, ATTACHMENTS), lambda _: True))
    items: list[Item] = []
    for path in found:
        name = os.path.relpath(path, folder).replace(os.sep, "/")
        raw = read_file(path, _LARGEST_ATTACHMENT)
        items.append(raw if isinstance(raw, ImportEntry) else Whole(path, "", name, raw))
    return found, items
