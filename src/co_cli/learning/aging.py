"""Which memories have served their time: expired, long unused, too many of a kind, or wrong about their project.

Owns what makes a memory one to look at again, and what is then proposed; nothing is put away without a yes. Knows nothing of
inboxes or surfaces.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from co_cli.claims import broken_claims
from co_cli.errors import CoError
from co_cli.knowledge import MEMORY, PROJECT, is_expired
from co_cli.learning.inbox import propose
from co_cli.learning.proposal import ARCHIVE, EXPIRY, STALE, Evidence, Proposal
from co_cli.note import instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from co_cli.knowledge import KnowledgeBase, Note
    from co_cli.learning.inbox import Outcome

_EVER = 3650
_QUOTE = 300
_AT_ONCE = 50


def worn(kb: KnowledgeBase) -> tuple[Proposal, ...]:
    """What is to be proposed of the memories as they are today; each note once, for the first reason that holds."""
    notes = [note for note in kb.list((MEMORY,)).notes if not note.superseded_by]
    found: dict[str, Proposal] = {}
    for proposal in (*_expired(notes), *_stale(kb, notes), *_unused(kb, notes), *_too_many(kb, notes)):
        found.setdefault(proposal.refs[0], proposal)
    return tuple(found.values())


def propose_worn(kb: KnowledgeBase, *, dry_run: bool = False) -> tuple[tuple[Proposal, ...], tuple[Outcome, ...], int]:
    """Propose what is worn, as much as one looks through at once; returns it, what became of it, and the rest."""
    found = worn(kb)
    first = () if dry_run else found[:_AT_ONCE]
    return found, propose(kb, first), 0 if dry_run else len(found) - len(first)


def _away(note: Note, kind: str, reason: str, quote: str = "") -> Proposal:
    fields: dict[str, str | int | bool | list[str]] = {"private": True} if note.private else {}
    return Proposal(kind, note.vault, ARCHIVE, "", fields, (note.ref,), Evidence(quote), reason)


def _expired(notes: Iterable[Note]) -> Iterator[Proposal]:
    for note in notes:
        if is_expired(note):
            yield _away(note, EXPIRY, f"It expired on {note.expires[:10]}.", note.body[:_QUOTE])


def _stale(kb: KnowledgeBase, notes: Iterable[Note]) -> Iterator[Proposal]:
    """Memories of this project that name what is not there any more."""
    for note in notes:
        if note.vault == PROJECT:
            broken = broken_claims(kb.places.project, note.body, thorough=True)
            if broken:
                yield _away(note, STALE, f"It may no longer hold: {'; '.join(map(str, broken))}.", note.body[:_QUOTE])


def _unused(kb: KnowledgeBase, notes: Iterable[Note]) -> Iterator[Proposal]:
    """Memories that no agent got for a long time, where the log of calls is old enough to know."""
    days = int(kb.settings().value("unused_days"))
    last = _last_uses(kb)
    if not days or last is None:
        return
    first_day, uses = last
    border = (datetime.now().astimezone() - timedelta(days=days)).date().isoformat()
    if first_day > border:
        return
    for note in notes:
        touched = max(note.created, note.updated, uses.get(note.ref, ""), key=instant)
        if not note.pinned and touched[:10] < border:
            yield _away(note, EXPIRY, f"No agent got it in the last {days} days.", note.body[:_QUOTE])


def _last_uses(kb: KnowledgeBase) -> tuple[str, dict[str, str]] | None:
    """The first day that the log knows of, and when each note came back for the last time; ``None`` without a log."""
    try:
        survey = kb.usage(_EVER)
    except CoError:  # a log that cannot be read tells nothing
        return None
    return (survey.by_day[0][0], {use.note.ref: use.last for use in survey.used}) if survey.by_day else None


def _too_many(kb: KnowledgeBase, notes: Iterable[Note]) -> Iterator[Proposal]:
    """The memories of a category beyond its limit: those that were longest neither used nor changed."""
    limit = int(kb.settings().value("category_limit"))
    last = _last_uses(kb)
    uses = last[1] if last else {}
    groups: dict[tuple[str, str], list[Note]] = {}
    for note in notes:
        if note.category:
            groups.setdefault((note.vault, note.category), []).append(note)
    for (_vault, category), members in groups.items():
        excess = len(members) - limit
        if not limit or excess <= 0:
            continue
        spare = [note for note in members if not note.pinned]
        spare.sort(key=lambda note: max(map(instant, (note.created, note.updated, uses.get(note.ref, "")))))
        for note in spare[:excess]:
            reason = f"{category} has {len(members)} memories, {excess} more than its limit; this one was least used lately."
            yield _away(note, EXPIRY, reason, note.body[:_QUOTE])
