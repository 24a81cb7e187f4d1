"""What became of each address and file that was to be taken in.

Owns the line of a report, for intake to fill and surfaces to render. Knows no document and no surface.
"""

from __future__ import annotations

from typing import NamedTuple

ADDED, UPDATED, UNCHANGED, SKIPPED, FAILED = "added", "updated", "unchanged", "skipped", "failed"
WOULD_ADD, WOULD_UPDATE = "would-add", "would-update"
OUTCOMES = (ADDED, WOULD_ADD, UPDATED, WOULD_UPDATE, UNCHANGED, SKIPPED, FAILED)


class Entry(NamedTuple):
    """One address or file, and what became of it."""

    source: str
    """The address, or the path as it was found."""
    outcome: str
    """``added``, ``updated``, ``unchanged``, ``skipped`` for what is no document, ``failed`` for one that could not be taken
    in; in a dry run ``would-add`` and ``would-update``."""
    ref: str = ""
    """The article that holds it; empty where there is none (yet)."""
    title: str = ""
    kind: str = ""
    """What it is: ``html``, ``pdf``, ``text``, …"""
    pages: int = 0
    reason: str = ""
    code: str = ""
    """The reason for programs: ``encrypted``, ``broken``, ``empty``, ``no-text``, ``secret``, …"""
    hint: str = ""
    error: str = ""
    """The kind of the error that kept it out: ``invalid``, ``not_found``, ``denied``, …"""
    notices: tuple[str, ...] = ()
    """What was left out of its text, or could not be done."""
    private: bool = False


def counts(entries: list[Entry]) -> dict[str, int]:
    """How many had each outcome; an outcome that none had is left out."""
    found = {outcome: sum(entry.outcome == outcome for entry in entries) for outcome in OUTCOMES}
    return {outcome: count for outcome, count in found.items() if count}
