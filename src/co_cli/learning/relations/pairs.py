"""The memories that are worth comparing: those that a new one may repeat or contradict, and all pairs of what is kept.

Owns finding candidates without comparing everything with everything, and what is proposed of two memories that are the same
or at odds. How two texts stand to each other, :mod:`co_cli.learning.relations` knows. Knows nothing of surfaces.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import CoError
from co_cli.languages import language_name
from co_cli.learning.relations import CONTRADICTION, UNRELATED, judge, said
from co_cli.learning.summaries.summary import parse, statements_of, was_merged
from co_cli.note import GLOBAL, MEMORY, claimed_ids, fold, instant, is_expired
from co_cli.succession import stands

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from co_cli.embedding import Embedder
    from co_cli.knowledge import FileChange, KnowledgeBase, Note, Problem
    from co_cli.learning.inbox import Outcome
    from co_cli.learning.proposal import Proposal
    from co_cli.learning.relations import Relation, Said

_CANDIDATES, _SMALL = 20, 200
"""Memories that a new one is compared with, and as many of a small vault as there can be, where each is read anyway."""
_WORDS = 16
"""Words of a new memory that are looked for."""
_SHARED = 4
"""One word in so many has to be in both of two memories, before they are compared in earnest."""
_TOLD = 3
"""Memories that are named after a new one was saved."""


class Related(NamedTuple):
    """Two memories that say the same, or cannot both be right."""

    note: Note
    """The one that stands, or would: the newer of two that are at odds."""
    other: Note
    relation: Relation

    @property
    def private(self) -> bool:
        """Whether to speak of it is for this machine only."""
        return self.note.private or self.other.private

    @property
    def contradicts(self) -> bool:
        """Whether they are at odds."""
        return self.relation.label == CONTRADICTION

    @property
    def reason(self) -> str:
        """Why, in words that give nothing private away."""
        if self.private:
            return "they are at odds" if self.contradicts else "they say the same"
        return self.relation.reason

    @property
    def in_one_vault(self) -> bool:
        """Whether both lie in the same vault."""
        return self.note.vault == self.other.vault


class Nearness:
    """The cosine of two texts by the static model, which is opened when it is first asked; without one there is none."""

    def __init__(self) -> None:
        self._embedder: Embedder | None = None
        self._tried = False

    def __call__(self, one: str, other: str) -> float | None:
        """The cosine, or ``None``."""
        if not self._tried:
            self._tried = True
            self._embedder = self._opened()
        if self._embedder is None:
            return None
        from array import array

        mine, theirs = (array("f", vector) for vector in self._embedder.embed((one, other)))
        return sum(a * b for a, b in zip(mine, theirs, strict=True)) if mine and theirs else None

    @staticmethod
    def _opened() -> Embedder | None:
        from co_cli.embedding.static import open_static

        try:
            return open_static()
        except CoError:
            return None


def said_by(note: Note) -> Said:
    """What a memory says, to be judged; the citations of one that was merged say nothing."""
    text = "\n".join(statement.text for statement in statements_of(note))
    return said(text, category=note.category, key=note.key, language=note.language)


def look(kb: KnowledgeBase, note: Note) -> tuple[Related, ...]:
    """The memories that say the same as this one, or the contrary; one search finds what to compare it with."""
    mine = said_by(note)
    if note.kind != MEMORY:
        return ()
    words = [token.shown for statement in mine.statements for token in statement.content][:_WORDS]
    query = " ".join(dict.fromkeys(word for shown in words for word in shown.replace('"', " ").replace(":", " ").split()))
    if not query:
        return ()
    mode = "grep" if kb.mode() == "grep" else "text"  # whatever is at odds has words in common; vectors would take longer
    found = kb.recall(query, limit=_SMALL if mode == "grep" else _CANDIDATES, mode=mode, kinds=(MEMORY,))
    near = Nearness()
    others = (hit.note for hit in found.hits if hit.note.path != note.path and _may_be_related(mine, hit.note))
    related = (_related(note, other, judge(mine, said_by(other), near=near)) for other in others)
    return tuple(filter(None, related))


def _may_be_related(mine: Said, other: Note) -> bool:
    """Whether a memory has enough words in common with another to be read with care."""
    words, others = ({*re.findall(r"\w+", text.casefold())} for text in (mine.text, other.body))
    return len(words & others) * _SHARED >= min(len(words), len(others))


class Report(NamedTuple):
    """What is told after a memory was saved."""

    sentences: tuple[str, ...] = ()
    data: tuple[dict[str, object], ...] = ()


def compare(kb: KnowledgeBase, note: Note, *, private: bool = True) -> Report:
    """Look for what a memory that was just saved repeats or contradicts, and propose what is to be done about it.

    What cannot be compared is saved all the same. Without ``private``, private notes are not spoken of.
    """
    if any(vault.rehearses for vault in kb.vaults):
        return Report()
    try:
        found = look(kb, note)
        outcomes = proposed(kb, found)
    except CoError as error:
        return Report((f"It was not compared with what is kept: {error.message} {error.hint}".strip(),))
    pairs = zip(found, outcomes, strict=True)
    told = [pair for pair in pairs if (private or not pair[0].private) and not is_settled(pair[1])]
    return Report(tuple(sentence(*pair) for pair in told[:_TOLD]), tuple(as_pair(*pair) for pair in told))


def compare_accepted(kb: KnowledgeBase, proposal: Proposal, changes: Iterable[FileChange]) -> Report:
    """The same for a memory that is new by the yes to a proposal."""
    from co_cli.learning.proposal import SAVE

    made = [change.after for change in changes if change.before is None and change.after]
    numbers = claimed_ids(made[0]) if proposal.action == SAVE and len(made) == 1 else ()
    for number in numbers:
        return compare(kb, kb.named(f"{'g' if proposal.vault == GLOBAL else 'p'}:{number}"))
    return Report()


def _related(one: Note, other: Note, relation: Relation) -> Related | None:
    """What two memories are to each other; ``None`` where both may stand.

    What holds for a programming language may differ from what holds for all; it only repeats it in the same words.
    """
    languages = {language_name(one.language), language_name(other.language)} if one.vault == other.vault else {""}
    repeats = "" in languages and fold(one.body) == fold(other.body)
    if relation.label == UNRELATED or (len(languages) > 1 and not repeats):
        return None
    return _ordered(one, other, relation)


def _ordered(one: Note, other: Note, relation: Relation) -> Related:
    """Which of the two stands: of what is at odds the newer, of what is the same the older, or what says more."""
    if relation.label == CONTRADICTION:
        first, second = sorted((one, other), key=_age)
        return Related(second, first, relation)
    twins = fold(one.body) == fold(other.body)  # of which the first is the one that saving it again would find
    length = 0 if twins else -1
    kept, redundant = sorted((one, other), key=lambda note: (bool(note.language), length * len(note.body), note.id or 0))
    if kept.vault != redundant.vault:
        kept, redundant = sorted((one, other), key=lambda note: note.vault)  # for all projects, not for this one
    return Related(kept, redundant, relation)


def _age(note: Note) -> tuple[str, int]:
    return note.updated or note.created, note.id or 0


def proposal_of(related: Related) -> Proposal | None:
    """What is proposed: that the newer one supersedes the older, or that one of two that say the same goes."""
    from co_cli.learning.proposal import (
        ARCHIVE,
        MERGE,
        MERGED,
        REVISE,
        SUPERSEDE,
        Evidence,
        Proposal,
        Value,
    )
    from co_cli.learning.proposal import (
        CONTRADICTION as AT_ODDS,
    )

    note, other = related.note, related.other
    private: dict[str, Value] = {"private": True} if related.private else {}
    evidence = Evidence(quote="" if related.private else other.body, refs=(note.ref, other.ref))
    vault = other.vault
    if related.contradicts:
        if not related.in_one_vault:
            return None  # what holds for a project comes before what holds for all of them
        rest = _without_denied(other, note)
        if rest:
            reason = f"{note.ref} contradicts one of its statements: {related.reason}"
            return Proposal(AT_ODDS, vault, REVISE, rest, private, (other.ref,), evidence, reason)
        fields: dict[str, Value] = {"by": note.ref, **private}
        return Proposal(AT_ODDS, vault, SUPERSEDE, "", fields, (other.ref,), evidence, related.reason)
    if not related.in_one_vault:
        reason = f"{note.ref} says this for all projects: {related.reason}"
        return Proposal(MERGED, vault, ARCHIVE, "", private, (other.ref,), evidence, reason)
    tags = [*dict.fromkeys((*note.tags, *other.tags))]
    fields = {**({"tags": tags} if tags else {}), **({"private": True} if note.private else {})}
    reason = f"{note.ref} says this as well: {related.reason}"
    return Proposal(MERGED, vault, MERGE, note.body, fields, (other.ref,), evidence, reason)


def _without_denied(merged: Note, note: Note) -> str:
    """A memory that was merged of several, as it reads without what another denies; empty where that is all or nothing."""
    summary = parse(merged.body) if was_merged(merged) else None
    if summary is None:
        return ""
    denying = said_by(note)
    kept = tuple(each for each in summary.statements if judge(said(each.text), denying).label != CONTRADICTION)
    return summary._replace(statements=kept).body if 0 < len(kept) < len(summary.statements) else ""


def proposed(kb: KnowledgeBase, found: tuple[Related, ...]) -> tuple[Outcome | None, ...]:
    """Put into the inbox what is to be done about each; ``None`` where nothing is."""
    if not found:
        return ()
    from co_cli.learning.inbox import propose

    replaced = _to_be_replaced(kb)
    wanted = [None if replaced.get(each.other.ref, each.note.ref) != each.note.ref else proposal_of(each) for each in found]
    outcomes = iter(propose(kb, [proposal for proposal in wanted if proposal]))
    return tuple(next(outcomes) if proposal else None for proposal in wanted)


def _to_be_replaced(kb: KnowledgeBase) -> dict[str, str]:
    """The memories that another is to take the place of, once somebody says yes: no second one can."""
    from co_cli.learning.inbox import proposals
    from co_cli.learning.proposal import SUPERSEDE

    waiting = [each for each in proposals(kb).proposals if each.action == SUPERSEDE]
    return {ref.removeprefix("p:"): str(each.fields.get("by", "")) for each in waiting for ref in each.refs}


def sentence(related: Related, outcome: Outcome | None) -> str:
    """What is told of it to whoever saved the note."""
    from co_cli.learning.inbox import PROPOSED, WAITING

    other, stands = related.other, related.note
    waits = f" ({outcome.proposal.ref}): co review" if outcome and outcome.state in (PROPOSED, WAITING) else ""
    if related.contradicts and not related.in_one_vault:
        here, everywhere = sorted((stands, other), key=lambda note: note.vault, reverse=True)
        return f"{here.ref} contradicts {everywhere.ref} ({related.reason}). In this project, {here.ref} comes first."
    if related.contradicts:
        whole = f"that {stands.ref} supersedes it"
        change = whole if outcome and outcome.proposal.fields.get("by") else f"to take that out of {other.ref}"
        proposal = f" It is proposed {change}{waits}" if waits else ""
        return f"{stands.ref} contradicts {other.ref} ({related.reason}).{proposal}"
    proposal = f" It is proposed to keep {stands.ref} alone{waits}" if waits else ""
    return f"{other.ref} is much like {stands.ref} ({related.reason}).{proposal}"


def is_settled(outcome: Outcome | None) -> bool:
    """Whether a person has said no to it before."""
    from co_cli.learning.inbox import REJECTED

    return outcome is not None and outcome.state == REJECTED


def as_pair(related: Related, outcome: Outcome | None) -> dict[str, object]:
    """A pair as JSON."""
    return {
        "label": related.relation.label,
        "ref": related.note.ref,
        "other": related.other.ref,
        "reason": related.reason,
        "proposal": outcome.proposal.ref if outcome and outcome.proposal.id else None,
        "state": outcome.state if outcome else None,
        **({"private": True} if related.private else {}),
    }


# ------------------------------------------------------------------------------------------------------------ all of them

_AT_ONCE = 100
"""Proposals of one check at most: an inbox that is full is not read."""


class Checked(NamedTuple):
    """What came of comparing all memories with each other."""

    memories: int
    found: tuple[Related, ...]
    outcomes: tuple[Outcome | None, ...]
    """What became of the proposals about them; ``None`` where nothing was proposed."""
    left: int
    """Pairs that were not proposed, since there were too many."""
    problems: tuple[Problem, ...]
    notices: tuple[str, ...]


def check(kb: KnowledgeBase, *, dry_run: bool = False, progress: Callable[[str, int, int], None] | None = None) -> Checked:
    """Compare all memories of both vaults that stand with each other, and propose what is to be done about them."""
    from co_cli.learning.relations.candidates import Candidates

    listing = kb.list((MEMORY,))
    notes = [note for note in listing.notes if not is_expired(note) and stands(kb.vault(note.vault), note)]
    candidates = Candidates([said_by(note) for note in notes], progress)
    found = []
    for pair in candidates.pairs():
        one, other = sorted(pair, key=lambda place: _newest_first(notes[place]))  # as it is when the newer is saved
        relation = judge(candidates.statements[one], candidates.statements[other], near=candidates.near)
        related = _related(notes[one], notes[other], relation)
        if related:
            found.append(related)
    found.sort(key=lambda related: (not related.contradicts, _newest_first(related.note), related.other.id or 0))
    wanted = [] if dry_run else _to_propose(found)
    outcomes = dict(zip(map(id, wanted[:_AT_ONCE]), proposed(kb, tuple(wanted[:_AT_ONCE])), strict=True))
    notices = (candidates.notice,) if candidates.notice else ()
    left = len(wanted[_AT_ONCE:])
    return Checked(
        len(notes), tuple(found), tuple(outcomes.get(id(each)) for each in found), left, listing.problems, notices
    )


def _newest_first(note: Note) -> tuple[float, int]:
    return -instant(note.updated or note.created), -(note.id or 0)


def _to_propose(found: list[Related]) -> list[Related]:
    """Of the pairs, those that leave each memory to one proposal: what is to go has not to go twice."""
    leaving: set[str] = set()
    wanted = []
    for related in found:
        if related.other.path not in leaving and (related.contradicts or related.note.path not in leaving):
            leaving.add(related.other.path)
            wanted.append(related)
    return wanted
