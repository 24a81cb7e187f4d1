"""The notes of an export by names that other programs link to.

Owns giving each note a name of its own, and writing links by these names. Knows no format.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from co_cli.exchange.relinking import relink
from co_cli.knowledge import CONTEXT, MEMORY
from co_cli.links import Named, Names, key_of
from co_cli.note import FOLDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from co_cli.exchange.outgoing import Shelf
    from co_cli.knowledge import Note
    from co_cli.links import Link


class Titles:
    """Which note goes by which name."""

    def __init__(self, shelves: list[Shelf], name_of: Callable[[Note], str]) -> None:
        self._by_path: dict[str, str] = {}
        taken: set[str] = set()
        notes = [note for shelf in shelves for note in shelf.notes]
        for note in notes:
            wanted = name_of(note)
            name, count = wanted, 1
            while name.casefold() in taken:
                count += 1
                name = f"{wanted} ({note.ref if count == 2 else f'{note.ref}, {count}'})"  # noqa: PLR2004 - the second one
            taken.add(name.casefold())
            self._by_path[note.path] = name
        named = {(note.vault, note.kind, os.path.basename(note.path)): note.path for note in notes}
        self._paths: Mapping[tuple[str, str, str], str] = named
        self._numbers = {(note.vault, note.id): note.path for note in notes if note.kind == MEMORY}
        self._names = Names(
            Named(note.vault, note.kind, os.path.basename(note.path), note.id, note.title if note.kind != MEMORY else "")
            for note in notes
            if note.kind != CONTEXT  # nothing links to a context
        )

    def of(self, note: Note) -> str:
        """The name of a note."""
        return self._by_path[note.path]

    def of_memory(self, vault: str, number: int | None) -> str:
        """The name of a memory; empty where it does not go out."""
        path = self._numbers.get((vault, number))
        return self._by_path[path] if path else ""

    def relinked(self, note: Note) -> str:
        """The body of a note with wiki links by these names; links to what does not go out stay as they are."""

        def write(link: Link) -> str | None:
            meant = self._names.meant(key_of(link, FOLDERS.get(note.kind, "")), note.vault)
            path = self._paths.get((meant.vault, meant.kind, meant.file)) if meant else None
            if path is None:
                return None
            name = self._by_path[path]
            label = _label(link)
            anchor = f"#{link.anchor}" if link.anchor else ""
            return f"[[{name}{anchor}{f'|{label}' if label and label != name else ''}]]"

        return relink(note.body, write)


def _label(link: Link) -> str:
    """The words that a link shows."""
    if link.wiki:
        shown = link.written.strip("![]").partition("|")[2]
        return shown.strip() or link.target
    return link.written.partition("](")[0].lstrip("![").replace("|", "\\|").strip() if "](" in link.written else ""
