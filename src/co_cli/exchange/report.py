"""What an import tells about itself: a line for everything that it met.

Owns the shape of the report, for importers to fill and surfaces to render. Knows no format and no surface.
"""

from __future__ import annotations

from dataclasses import dataclass

TYPE_CHECKING = False  # see co_cli.frontmatter
if TYPE_CHECKING:
    from collections.abc import Mapping

CREATED, UPDATED, UNCHANGED, SKIPPED = "created", "updated", "unchanged", "skipped"
WOULD_CREATE, WOULD_UPDATE = "would-create", "would-update"
_WOULD = {CREATED: WOULD_CREATE, UPDATED: WOULD_UPDATE}


@dataclass(frozen=True, slots=True)
class ImportEntry:
    """One thing that the import met, where it stood, and what became of it."""

    file: str
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
    """How the note that holds it begins; what was skipped is not repeated, since it may be a secret."""
    line: int = 0
    """The line of the file, where it is known."""


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
        """How many entries had each outcome; all four are there."""
        names = [_WOULD.get(name, name) if self.dry_run else name for name in (CREATED, UPDATED, UNCHANGED, SKIPPED)]
        return {name: sum(entry.outcome == name for entry in self.entries) for name in names}

    @property
    def skipped(self) -> tuple[ImportEntry, ...]:
        """What a person should look at: everything that was not taken over."""
        return tuple(entry for entry in self.entries if entry.outcome == SKIPPED)


def conditional(outcome: str) -> str:
    """The name of an outcome in a dry run."""
    return _WOULD.get(outcome, outcome)
