"""A vault of Obsidian: Markdown with wiki links, tags and aliases.

Owns that format, both ways. A file of Obsidian becomes a topic under its name.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TYPE_CHECKING

from co_cli.exchange.documents import TOPICS, documents_in
from co_cli.exchange.intake import imported
from co_cli.exchange.outgoing import Rendering
from co_cli.exchange.reading import place
from co_cli.exchange.relinking import relink
from co_cli.exchange.titles import Titles
from co_cli.frontmatter import replace_fields, split_frontmatter
from co_cli.knowledge import CONTEXT, MEMORY
from co_cli.note import FOLDERS

if TYPE_CHECKING:
    from co_cli.exchange.outgoing import Shelf
    from co_cli.exchange.report import ImportReport
    from co_cli.knowledge import KnowledgeBase, Note
    from co_cli.links import Link

FORMS = "Name the folder of an Obsidian vault, or one of its files."
TAG = "obsidian"


# --------------------------------------------------------------------------------------------------------------- writing


def render(shelves: list[Shelf]) -> Rendering:
    """A folder that Obsidian opens as a vault."""
    stems = Counter(_stem(note).casefold() for shelf in shelves for note in shelf.notes)
    prefixes = {shelf.vault.name: shelf.prefix for shelf in shelves}

    def link_to(note: Note) -> str:
        alone = stems[_stem(note).casefold()] == 1
        return _stem(note) if alone else _name(note, prefixes[note.vault]).removesuffix(".md")

    titles = Titles(shelves, link_to)
    files: dict[str, bytes] = {}
    places: dict[str, str] = {}
    for shelf in shelves:
        for note in shelf.notes:
            places[note.path] = _name(note, shelf.prefix)
            files[places[note.path]] = _document(note, titles).encode("utf-8")
        files.update({shelf.prefix + where: raw for where, raw in shelf.attachments.items()})
    stowed = {note.path: "it is in the archive" for shelf in shelves for note in shelf.archived}
    return Rendering(files, places, (), stowed)


def _stem(note: Note) -> str:
    return os.path.basename(note.path).removesuffix(".md")


def _name(note: Note, prefix: str) -> str:
    return f"{prefix}{'' if note.kind == CONTEXT else FOLDERS[note.kind] + '/'}{_stem(note)}.md"


def _document(note: Note, titles: Titles) -> str:
    """The document with tags as Obsidian has them, and with the other names of the note as aliases."""
    aliases = [str(note.id), note.key] if note.kind == MEMORY else [note.title]
    aliases = [name for name in dict.fromkeys(aliases) if name and name != _stem(note)]
    changes: dict[str, object | None] = {"tags": [_as_tag(tag) for tag in note.tags]} if note.tags else {}
    if aliases and note.kind != CONTEXT:
        changes["aliases"] = aliases
    text = replace_fields(note.text, changes)
    head = text[: len(text) - len(split_frontmatter(text)[1])]
    return f"{head}{titles.relinked(note)}\n"


def _as_tag(tag: str) -> str:
    return re.sub(r"[^\w/-]+", "-", tag.strip()).strip("-") or "tag"


# --------------------------------------------------------------------------------------------------------------- reading


def import_obsidian(
    kb: KnowledgeBase, path: str, *, in_global: bool = False, dry_run: bool = False, as_what: str = TOPICS
) -> ImportReport:
    """Take the files of an Obsidian vault in, each as a topic under its name."""
    top = place(path, FORMS)
    files, items = documents_in(top, TAG, as_what=as_what, write=_with_short_links, inline_tags=True)
    return imported(kb, top, files, items, what=TAG, in_global=in_global, dry_run=dry_run)


def _with_short_links(body: str) -> str:
    """A body whose wiki links name files without the folders that these lay in, since topics have none."""

    def write(link: Link) -> str | None:
        if not link.wiki or "/" not in link.target or link.written.startswith("!"):
            return None
        return link.written.replace(link.target, link.target.rpartition("/")[2], 1)

    return relink(body, write)
