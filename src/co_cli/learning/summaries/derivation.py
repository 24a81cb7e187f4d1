"""What was made from notes that are forgotten, and how it would read without them.

Owns finding memories that stand for others, or cite them, and proposing their change when one of those goes. Nothing is
changed before a person has said so. Knows nothing of surfaces.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import NotFound
from co_cli.knowledge import GLOBAL, MEMORY, PROJECT
from co_cli.learning import inbox
from co_cli.learning.inbox import NOTHING, PROPOSED, WAITING, Proposal
from co_cli.learning.proposal import FORGET, REVISE, STALE
from co_cli.learning.summaries.summary import cited, was_merged, without
from co_cli.note import parse_ref

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from co_cli.knowledge import Forgotten, KnowledgeBase, Note, Purged, Vault


class Derived(NamedTuple):
    """A memory that was made from others, some of which are forgotten."""

    note: Note
    gone: tuple[str, ...]
    """The refs of those that it was made from."""
    state: str = ""
    """What became of the proposal to change it; empty where none was made, since it stands no more."""
    proposal: str = ""
    """The name of that proposal."""

    def __str__(self) -> str:
        made = f"{self.note.ref} was made from {' and '.join(self.gone)}"
        if self.proposal and self.state in (PROPOSED, WAITING):
            return f"{made}, and still says so: {self.proposal} proposes how it reads without (co review {self.proposal})."
        if not self.state:
            return f"{made}, and still says so, though it stands no more: co show {self.note.ref}; co forget {self.note.ref}"
        return f"{made}, and may still say so: co edit {self.note.ref}"


def forget(kb: KnowledgeBase, refs: Iterable[str]) -> tuple[Forgotten, tuple[Derived, ...]]:
    """Forget notes, and propose the change of what was made from them."""
    refs = list(refs)
    made = made_from(kb, refs)
    return kb.forget(refs), propose(kb, made)


def purge(kb: KnowledgeBase, refs: Iterable[str]) -> tuple[Purged, tuple[Derived, ...]]:
    """Forget notes for good, and propose the change of what was made from them."""
    refs = list(refs)
    made = made_from(kb, refs)
    return kb.purge(refs), propose(kb, made)


def made_from(kb: KnowledgeBase, refs: Iterable[str]) -> tuple[Derived, ...]:
    """The memories that were made from these notes, as long as those are there to be asked; not these themselves."""
    leaving: dict[str, set[int]] = {PROJECT: set(), GLOBAL: set()}
    for parsed in filter(None, map(parse_ref, refs)):
        if parsed.kind == MEMORY:
            leaving[parsed.vault or PROJECT].add(int(parsed.name))
    return tuple(each for vault in kb.vaults if leaving[vault.name] for each in _made_in(vault, leaving[vault.name]))


def _made_in(vault: Vault, numbers: set[int]) -> list[Derived]:
    mark = "g:" if vault.name == GLOBAL else ""
    names = {f"{mark}{number}": number for number in sorted(numbers)}
    plausible = re.compile(rb"(?<![0-9])(?:%s)(?![0-9])" % b"|".join(b"%d" % number for number in sorted(numbers)))
    found = []
    for archived in (False, True):
        for note in vault.scan((MEMORY,), wanted=lambda raw: plausible.search(raw) is not None, archived=archived).notes:
            gone = _behind(note, names)
            if gone and note.id not in numbers:
                found.append(Derived(note, gone))
    return found


def _behind(note: Note, names: Mapping[str, int]) -> tuple[str, ...]:
    """Which of these a memory was made from, or cites. One that took the place of a single other says something else."""
    if not was_merged(note):
        return ()
    citations = cited(note.body)
    return tuple(ref for ref, number in names.items() if number in note.supersedes or ref in citations)


def propose(kb: KnowledgeBase, made: Iterable[Derived]) -> tuple[Derived, ...]:
    """Propose how these read without the notes that are gone by now; says of each what became of that."""
    return tuple(_proposed(kb, each) for each in made)


def _proposed(kb: KnowledgeBase, derived: Derived) -> Derived:
    note = derived.note
    vault = kb.vault(note.vault)
    if vault.is_archived(note) or note.superseded_by:
        return derived
    wanted = _proposal(kb, kb.named(note.ref), derived.gone)  # as it is now: it no longer says what it superseded
    if wanted is None:
        return derived._replace(state=NOTHING)
    (outcome,) = inbox.propose(kb, [wanted])
    return derived._replace(state=outcome.state, proposal=outcome.proposal.ref if outcome.proposal.id else "")


def _proposal(kb: KnowledgeBase, note: Note, gone: tuple[str, ...]) -> Proposal | None:
    lost = {*gone, *(ref for ref in cited(note.body) if not _is_there(kb, ref))}
    content, whole = without(note.body, lost)
    if content == note.body:
        return None
    named = " and ".join(gone)
    private = {"private": True} if note.private else {}
    if not content:
        return Proposal(STALE, note.vault, FORGET, "", private, (note.ref,), reason=f"It was made from {named} alone.")
    reason = f"It was made from {named}, which {'is' if len(gone) == 1 else 'are'} forgotten"
    reason += ": this is how it reads without." if whole else "; only the citation is taken out, so look at the words."
    return Proposal(STALE, note.vault, REVISE, content, private, (note.ref,), reason=reason)


def _is_there(kb: KnowledgeBase, ref: str) -> bool:
    try:
        kb.named(ref)
    except NotFound:
        return False
    return True
