"""What an import tells about itself: a line for everything that it met.

Owns the shape of the report, for importers to fill and surfaces to render. Knows no format and no surface.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

CREATED, UPDATED, UNCHANGED, SKIPPED = "created", "updated", "unchanged", "skipped"
WOULD_CREATE, WOULD_UPDATE = "would-create", "would-update"
OUTCOMES = (CREATED, WOULD_CREATE, UPDATED, WOULD_UPDATE, UNCHANGED, SKIPPED)


@dataclass(frozen=True, slots=True)
class ImportEntry:
    """One thing that the import met, where it stood, and what became of it."""

    file: str
    """The full path of the file."""
    at: str
    """Its place in the file, such as ``user.preferences.style``; empty where the whole file is meant."""
    outcome: str
    """``created``, ``updated``, ``unchanged`` or ``skipped``; in a dry run ``would-create`` and ``would-update``."""
    reason: str = ""
    """Why it was skipped, or what there is to know about the outcome."""
    code: str = ""
    """The reason for programs: ``secret``, ``empty``, ``wrong-type``, ``unknown``, ``copy``, …"""
    ref: str = ""
    """The note that holds it; empty where there is none (yet)."""
    category: str = ""
    key: str = ""
    summary: str = ""
    """How the note that holds it begins. What was skipped is not repeated here: it may be a secret."""
    line: int = 0
    """The line of the file, where it is known."""

    @property
    def origin(self) -> str:
        """Where it stood, for people: the file with the folder that it lies in, and the place."""
        name = short_name(self.file) + (f":{self.line}" if self.line else "")
        return f"{name}: {self.at}" if self.at else name


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did, or in a dry run would do."""

    path: str
    vault: str
    """``project`` or ``global``: where the notes went."""
    dry_run: bool
    files: tuple[str, ...]
    """The files that could be read."""
    entries: tuple[ImportEntry, ...]

    @property
    def counts(self) -> Mapping[str, int]:
        """How many entries had each outcome; an outcome that no entry had is left out."""
        counts = {outcome: sum(entry.outcome == outcome for entry in self.entries) for outcome in OUTCOMES}
        return {outcome: count for outcome, count in counts.items() if count}

    @property
    def skipped(self) -> tuple[ImportEntry, ...]:
        """What a person should look at: everything that was not taken over."""
        return tuple(entry for entry in self.entries if entry.outcome == SKIPPED)


def short_name(path: str) -> str:
    """A file with the folder that it lies in."""
    return "/".join(path.replace("\\", "/").split("/")[-2:])
