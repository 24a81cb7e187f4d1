"""What goes out: the notes of a vault that were chosen, and the files that a format makes of them.

Owns these two records, which formats and :mod:`co_cli.exchange.export` share. Knows no format.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from co_cli.knowledge import Note, Problem, Vault


@dataclass(slots=True)
class Shelf:
    """What goes out of one vault."""

    vault: Vault
    prefix: str
    """What stands before its names in the export, where several vaults go out."""
    notes: list[Note] = field(default_factory=list)
    """The notes, in the order in which they are listed; the context comes first."""
    archived: list[Note] = field(default_factory=list)
    withheld: list[Note] = field(default_factory=list)
    attachments: dict[str, bytes] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def place(self, note: Note) -> str:
        """The path of a note in its vault, with forward slashes."""
        return os.path.relpath(note.path, self.vault.root).replace(os.sep, "/")

    def of(self, *kinds: str) -> list[Note]:
        """The notes of these kinds that are not in the archive."""
        return [note for note in self.notes if note.kind in kinds]


class Rendering(NamedTuple):
    """What a format makes of the notes."""

    files: Mapping[str, bytes]
    """The files by their names, with forward slashes; one without a name where the export is one file."""
    places: Mapping[str, str]
    """The name of the file that each note is in, by the note's path."""
    notices: tuple[str, ...] = ()
    left_out: Mapping[str, str] = {}
    """Why a note is in no file, by the note's path."""
