"""Which memory has taken the place of which.

Owns following ``superseded_by`` from a memory to the one that stands now. Knows nothing of how notes are changed, found or
shown.

Both sides are written on the notes, but a file may be edited, or removed, by hand: a memory whose successor is nowhere to be
found stands again, and so do those that supersede each other in a circle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from co_cli.errors import CoError
from co_cli.note import MEMORY, Note, numbers_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from co_cli.vault import Vault


def successor(vault: Vault, note: Note) -> Note | None:
    """The memory that stands in the place of this one now; ``None`` where it stands itself."""
    seen = {note.id}
    last = note
    while last.superseded_by:
        if last.superseded_by in seen:
            return None
        seen.add(last.superseded_by)
        found = numbered(vault, last.superseded_by)
        if found is None:
            break
        last = found
    return None if last is note else last


def stands(vault: Vault, note: Note) -> bool:
    """Whether no other memory has taken the place of this note."""
    return not note.superseded_by or successor(vault, note) is None


def numbered(vault: Vault, number: int) -> Note | None:
    """The memory with this number, found by the name of its file where that says it: a large vault is not read for it."""
    names = [f"{name}.md" for name in vault.names(MEMORY) if number in numbers_in(name)]
    for note in vault.read_named(MEMORY, names).values():
        if note.id == number:
            return note
    try:
        return vault.find(MEMORY, str(number))
    except CoError:  # there are two, or it cannot be read: doctor says so
        return None


def linked(vault: Vault) -> list[Note]:
    """The memories of a vault, the archive included, that say what they superseded, or what superseded them."""
    scans = (vault.scan((MEMORY,), wanted=lambda raw: b"supersede" in raw, archived=archived) for archived in (False, True))
    return [note for scan in scans for note in scan.notes if note.supersedes or note.superseded_by]


def as_written(numbers: Iterable[int]) -> int | list[int] | None:
    """Numbers as a header has them: one stands alone."""
    kept = sorted(set(numbers))
    return kept[0] if len(kept) == 1 else kept or None
