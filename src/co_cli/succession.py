"""Which memory has taken the place of which.

Owns following ``superseded_by`` from a memory to the one that stands now. Knows nothing of how notes are changed, found or
shown.

Both sides are written on the notes, but a file may be edited, or removed, by hand: a memory whose successor is nowhere to be
found stands again, and so do those that supersede each other in a circle.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from co_cli.errors import CoError
from co_cli.note import FOLDERS, MEMORY, Note, numbers_in
from co_cli.vault import ARCHIVE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from co_cli.vault import Vault


class Succession:
    """What stands now in the place of memories of one vault; each number is looked up once."""

    def __init__(self, vault: Vault, files: Callable[[int], Iterable[str]] | None = None) -> None:
        """``files`` names the files that may have a number; without it, the names of all files are looked at."""
        self._vault = vault
        self._files = files
        self._names: dict[int, list[str]] | None = None
        self._archive: set[int] | None = None
        self._found: dict[int, Note | None] = {}

    def successor(self, note: Note) -> Note | None:
        """The memory that stands in the place of this one now; ``None`` where it stands itself."""
        seen = {note.id}
        last = note
        while last.superseded_by:
            if last.superseded_by in seen:
                return None
            seen.add(last.superseded_by)
            found = self._numbered(last.superseded_by)
            if found is None:
                break
            last = found
        return None if last is note else last

    def is_put_away(self, note: Note) -> bool:
        """Whether a successor lies in the archive."""
        return self._vault.is_archived(note)

    def _numbered(self, number: int) -> Note | None:
        if number not in self._found:
            self._found[number] = self._look_up(number)
        return self._found[number]

    def _look_up(self, number: int) -> Note | None:
        """The memory with a number, by the name of its file where that says it: a large vault is not read for one note."""
        names = self._files(number) if self._files else self._named(number)
        for note in self._vault.read_named(MEMORY, names).values():
            if note.id == number:
                return note
        if self._files and not self._is_archived(number):
            return None
        try:
            return self._vault.find(MEMORY, str(number))
        except CoError:  # there are two, or it cannot be read: doctor says so
            return None

    def _named(self, number: int) -> list[str]:
        if self._names is None:
            self._names = {}
            for name in self._vault.names(MEMORY):
                for found in numbers_in(name):
                    self._names.setdefault(found, []).append(f"{name}.md")
        return self._names.get(number, [])

    def _is_archived(self, number: int) -> bool:
        """Whether the name of a file in the archive begins with a number."""
        if self._archive is None:
            folder = os.path.join(self._vault.root, ARCHIVE, FOLDERS[MEMORY])
            names = os.listdir(folder) if os.path.isdir(folder) else []
            self._archive = {found for name in names for found in numbers_in(name)}
        return number in self._archive


def stands(vault: Vault, note: Note) -> bool:
    """Whether no other memory has taken the place of this note."""
    return not note.superseded_by or Succession(vault).successor(note) is None


def linked(vault: Vault) -> list[Note]:
    """The memories of a vault, the archive included, that say what they superseded, or what superseded them."""
    scans = (vault.scan((MEMORY,), wanted=lambda raw: b"supersede" in raw, archived=archived) for archived in (False, True))
    return [note for scan in scans for note in scan.notes if note.supersedes or note.superseded_by]


def as_written(numbers: Iterable[int]) -> int | list[int] | None:
    """Numbers as a header has them: one stands alone."""
    kept = sorted(set(numbers))
    return kept[0] if len(kept) == 1 else kept or None
