"""The notes of basic-memory: Markdown with a title and a permalink, observations, and relations by wiki links.

Owns that format, both ways. A note of basic-memory becomes a topic; a memory of co becomes a note with one observation.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from co_cli.exchange.documents import documents_in
from co_cli.exchange.intake import imported
from co_cli.exchange.outgoing import Rendering
from co_cli.exchange.reading import place
from co_cli.exchange.titles import Titles
from co_cli.frontmatter import render_document
from co_cli.knowledge import CONTEXT, MEMORY

if TYPE_CHECKING:
    from co_cli.exchange.outgoing import Shelf
    from co_cli.exchange.report import ImportReport
    from co_cli.knowledge import KnowledgeBase, Note

FORMS = "Name the folder of a basic-memory project, such as ~/basic-memory, or one of its files."
TAG = "basic-memory"
_FOLDERS = {MEMORY: "memories", "topic": "topics", "article": "articles", CONTEXT: ""}
_DEFAULT = "fact"


# --------------------------------------------------------------------------------------------------------------- writing


def render(shelves: list[Shelf]) -> Rendering:
    """A folder that basic-memory reads as a project."""
    titles = Titles(shelves, _title)
    files: dict[str, bytes] = {}
    places: dict[str, str] = {}
    for shelf in shelves:
        for note in shelf.notes:
            name = f"{shelf.prefix}{_name(note)}"
            places[note.path] = name
            files[name] = _document(note, name, titles).encode("utf-8")
        files.update({shelf.prefix + where: raw for where, raw in shelf.attachments.items()})
    stowed = {note.path: "it is in the archive" for shelf in shelves for note in shelf.archived}
    return Rendering(files, places, (), stowed)


def _title(note: Note) -> str:
    """The title by which others link to a note, so without the signs that a link is made of."""
    title = "Context" if note.kind == CONTEXT else note.title or note.summary
    return re.sub(r"[\[\]|#^]", "", title).strip() or note.ref


def _name(note: Note) -> str:
    return "context.md" if note.kind == CONTEXT else f"{_FOLDERS[note.kind]}/{os.path.basename(note.path)}"


def _document(note: Note, name: str, titles: Titles) -> str:
    title = titles.of(note)
    fields: dict[str, object] = {
        "title": title,
        "type": note.kind if note.kind != "topic" else "note",
        "permalink": name.removesuffix(".md"),
        "tags": [_hyphened(tag) for tag in note.tags],
    }
    fields.update(
        {field: value for field in ("created", "updated", "source", "category", "key") if (value := getattr(note, field))}
    )
    body = titles.relinked(note)
    if note.kind == MEMORY:
        body = _observation(note, body)
        relations = [
            f"- {kind} [[{other}]]"
            for kind in ("supersedes", "superseded_by")
            for number in _several(getattr(note, kind))
            if (other := titles.of_memory(note.vault, number))
        ]
        if relations:
            body += "\n\n## Relations\n\n" + "\n".join(relations)
    return render_document(fields, body)


def _several(value: object) -> list[int]:
    if isinstance(value, (list, tuple)):
        return [item for item in value if isinstance(item, int)]
    return [value] if isinstance(value, int) else []


def _observation(note: Note, body: str) -> str:
    """A memory of one line as an observation; a longer one stays text."""
    if "\n" in body.strip():
        return body
    tags = "".join(f" #{_hyphened(tag)}" for tag in note.tags)
    return f"## Observations\n\n- [{(note.category or _DEFAULT).replace('_', ' ')}] {body.strip()}{tags}"


def _hyphened(tag: str) -> str:
    return re.sub(r"\s+", "-", tag.strip())


# --------------------------------------------------------------------------------------------------------------- reading


def import_basic_memory(kb: KnowledgeBase, path: str, *, in_global: bool = False, dry_run: bool = False) -> ImportReport:
    """Take the notes of a project of basic-memory in, each as a topic under its title."""
    top = place(path, FORMS)
    files, items = documents_in(top, TAG)
    return imported(kb, top, files, items, what=TAG, in_global=in_global, dry_run=dry_run)
