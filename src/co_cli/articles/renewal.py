"""Looking after articles whose sources go on living: what has changed there, and what is gone.

Owns comparing an article with its source of today. Changes nothing by itself: what is new is handed over, to be shown and
kept by those who ask. Knows nothing of how documents are read or stored, nor of surfaces.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from co_cli.articles import source as sources
from co_cli.articles.intake import Wish, extract, incoming_of
from co_cli.errors import DENIED, NOT_FOUND, CoError
from co_cli.note import PROJECT, sha_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from co_cli.article import Incoming
    from co_cli.articles.source import Document, Source
    from co_cli.knowledge import KnowledgeBase, Note

    Tell = Callable[[str, int, int], None] | None

SAME, CHANGED, REPLACED, LEFT = "unchanged", "changed", "updated", "left"
ALIVE, MOVED, DEAD, REFUSED, UNREACHABLE, UNKNOWN = "alive", "moved", "dead", "refused", "unreachable", "no-source"
OUTCOMES = (ALIVE, SAME, MOVED, CHANGED, REPLACED, LEFT, "failed", REFUSED, UNREACHABLE, DEAD, UNKNOWN)


class State(NamedTuple):
    """How an article stands to its source."""

    note: Note
    outcome: str
    source: str = ""
    reason: str = ""
    code: str = ""
    difference: str = ""
    """The lines in which the text differs, where it does."""
    incoming: Incoming | None = None
    """What the article would become."""
    strange: bool = False
    """Whether it names a file that nobody of here may have meant: a cloned project, or an agent, can write any name."""


def refreshed(kb: KnowledgeBase, notes: Sequence[Note], tell: Tell = None) -> Iterator[State]:
    """Read the sources of articles again, and say what is another there now; nothing is written."""
    for number, note in enumerate(notes):
        if tell:
            tell("reading", number, len(notes))
        yield _looked_at(kb, note, _compared)


def checked(kb: KnowledgeBase, notes: Sequence[Note], tell: Tell = None) -> Iterator[State]:
    """Look whether the sources of articles are still there."""
    for number, note in enumerate(notes):
        if tell:
            tell("asking", number, len(notes))
        yield _looked_at(kb, note, _present)


def _looked_at(kb: KnowledgeBase, note: Note, look: Callable[[KnowledgeBase, Note, Source], State]) -> State:
    written = kb.details(note).source
    source = sources.of(kb, written) if written else None
    if source is None:
        return State(note, UNKNOWN, written, "its source is neither an address nor a file")
    try:
        return look(kb, note, source)._replace(source=written)
    except CoError as error:
        from co_cli.articles.web.reach import NO_SUCH_HOST

        gone = error.kind == NOT_FOUND or error.code == NO_SUCH_HOST
        outcome = DEAD if gone else REFUSED if error.kind == DENIED else UNREACHABLE
        return State(note, outcome, written, f"{error.message} {error.hint}".strip(), error.code)


def _compared(kb: KnowledgeBase, note: Note, source: Source) -> State:
    details = kb.details(note)
    document = sources.read(kb, source, details if details.sha256 else None)
    if document.not_modified or (details.sha256 and sha_of(document.raw) == details.sha256):
        return State(note, SAME)
    incoming = incoming_of(source, document, extract(document), Wish(private=note.private))
    difference = _difference(note, incoming)
    if not difference:  # other bytes around the same words
        return State(note, SAME)
    return State(note, CHANGED, difference=difference, incoming=incoming, strange=_is_strange(kb, note, source))


def _is_strange(kb: KnowledgeBase, note: Note, source: Source) -> bool:
    """Whether a file lies outside of the project, and its article does not come from the user for certain."""
    inside = os.path.join(os.path.realpath(kb.places.project), "") if kb.places.project else ""
    if not source.path or (inside and os.path.realpath(source.path).startswith(inside)):
        return False
    return note.vault == PROJECT or not kb.details(note).sha256


def _difference(note: Note, incoming: Incoming) -> str:
    import difflib

    old, new = note.body.splitlines(), incoming.content.strip().splitlines()
    return "\n".join(difflib.unified_diff(old, new, "the article as it is now", "its source", lineterm=""))


def _present(kb: KnowledgeBase, note: Note, source: Source) -> State:
    details = kb.details(note)
    if source.path:
        if not os.path.exists(source.path):
            return State(note, DEAD, reason="there is no such file any more", code=sources.MISSING)
        changed = details.sha256 and sha_of(sources.read(kb, source).raw) != details.sha256
        return State(note, CHANGED if changed else ALIVE)
    document: Document = sources.read(kb, source, details)
    if document.moved_to:
        return State(note, MOVED, reason=f"it is at {document.moved_to} now", code="moved")
    changed = not document.not_modified and details.sha256 and sha_of(document.raw) != details.sha256
    return State(note, CHANGED if changed else ALIVE)


def counts(states: Iterable[State]) -> dict[str, int]:
    """How many had each outcome; an outcome that none had is left out."""
    found = [state.outcome for state in states]
    return {outcome: found.count(outcome) for outcome in OUTCOMES if outcome in found}
