"""The memories that are worth comparing: those that a new one may repeat or contradict, and all pairs of what is kept.

Owns finding candidates without comparing everything with everything, and what is proposed of two memories that are the same
or at odds. How two texts stand to each other, :mod:`co_cli.learning.relations` knows. Knows nothing of surfaces.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import CoError
from co_cli.knowledge import MEMORY
from co_cli.learning.relations import CONTRADICTION, UNRELATED, judge, said

if TYPE_CHECKING:
    from co_cli.embedding import Embedder
    from co_cli.knowledge import KnowledgeBase, Note
    from co_cli.learning.inbox import Outcome
    from co_cli.learning.proposal import Proposal
    from co_cli.learning.relations import Relation, Said

_CANDIDATES, _SMALL = 20, 200
"""Memories that a new one is compared with, and as many of a small vault as there can be, where each is read anyway."""
_WORDS = 16
"""Words of a new memory that are looked for."""


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
    """What a memory says, to be judged."""
    return said(note.body, category=note.category, key=note.key, language=note.language)


def look(kb: KnowledgeBase, note: Note) -> tuple[Related, ...]:
    """The memories that say the same as this one, or the contrary; one search finds what to compare it with."""
    mine = said_by(note)
    words = [token.shown for statement in mine.statements for token in statement.content][:_WORDS]
    query = " ".join(dict.fromkeys(word for shown in words for word in shown.replace('"', " ").replace(":", " ").split()))
    if note.kind != MEMORY or not query:
        return ()
    mode = kb.mode()
    found = kb.recall(query, limit=_SMALL if mode == "grep" else _CANDIDATES, mode=mode, kinds=(MEMORY,))
    near = Nearness()
    related = []
    for hit in found.hits:
        if hit.note.path != note.path:
            relation = judge(mine, said_by(hit.note), near=near)
            if relation.label != UNRELATED:
                related.append(_ordered(note, hit.note, relation))
    return tuple(related)


def _ordered(one: Note, other: Note, relation: Relation) -> Related:
    """Which of the two stands: of what is at odds the newer, of what is the same the older, or what says more."""
    if relation.label == CONTRADICTION:
        first, second = sorted((one, other), key=_age)
        return Related(second, first, relation)
    kept, redundant = sorted((one, other), key=lambda note: (-len(note.body), _age(note)))
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
        fields: dict[str, Value] = {"by": note.ref, **private}
        return Proposal(AT_ODDS, vault, SUPERSEDE, "", fields, (other.ref,), evidence, related.reason)
    if not related.in_one_vault:
        reason = f"{note.ref} says this for all projects: {related.reason}"
        return Proposal(MERGED, vault, ARCHIVE, "", private, (other.ref,), evidence, reason)
    fields = {"tags": [*dict.fromkeys((*note.tags, *other.tags))], **({"private": True} if note.private else {})}
    reason = f"{note.ref} says this as well: {related.reason}"
    return Proposal(MERGED, vault, MERGE, note.body, fields, (other.ref,), evidence, reason)


def proposed(kb: KnowledgeBase, found: tuple[Related, ...]) -> tuple[Outcome | None, ...]:
    """Put into the inbox what is to be done about each; ``None`` where nothing is."""
    from co_cli.learning.inbox import propose

    wanted = [proposal_of(related) for related in found]
    outcomes = iter(propose(kb, [proposal for proposal in wanted if proposal]))
    return tuple(next(outcomes) if proposal else None for proposal in wanted)
