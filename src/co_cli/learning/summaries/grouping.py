"""Which memories speak of the same subject, so that one could stand for them.

Owns what may be grouped at all, and how near two memories are to each other: by the words and tags that they share, and by
their meaning where the static model is installed. What becomes of a group is none of its business. The same notes give the
same groups.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import CoError
from co_cli.index.analysis import terms
from co_cli.learning.relations import CONTRADICTION, judge
from co_cli.learning.relations.vocabulary import DENYING, LIGHT, PERSONS, ROLES, SOFT
from co_cli.learning.relations.vocabulary import SILENT as DULL
from co_cli.learning.summaries.facts import SILENT
from co_cli.learning.summaries.summary import statements_of
from co_cli.note import MEMORY, is_expired

if TYPE_CHECKING:
    from array import array
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from co_cli.note import Note

LEAST, MOST = 3, 8
"""Memories of a group."""
LONGEST = 600
"""Characters of a memory that may be grouped: what is longer stands better by itself."""
_STATEMENTS = 12
"""Statements that a summary may grow to."""
_WIDE = 24
"""Memories that may share a word for it to be a subject; what more of them share is too wide for one note."""
_NEAR, _NEAR_IN_WORDS = 0.1, 0.07
"""How near the memories of a group are to each other on average, with their meaning, and by their words alone."""
_USUAL = 50
"""Memories among which a word has its usual weight: among a handful, what all of them share would seem to tell nothing."""
_TIE = 0.1
"""How much nearer the rarest tag brings two memories."""
_PLAIN_NUMBER = re.compile(r"[\d_.:-]+")
_SHORTEST = 2
_SUBJECTS = 3


class Group(NamedTuple):
    """Memories of one vault that speak of the same."""

    subject: str
    """What of, in their own words; empty where they have none in common."""
    notes: tuple[Note, ...]

    @property
    def refs(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(note.ref for note in self.notes)

    @property
    def private(self) -> bool:
        """Whether they are for this machine alone; a group is so as a whole, or not at all."""
        return self.notes[0].private


def hindrance(note: Note) -> str:
    """Why a memory is not to be merged with others; empty where nothing stands against it."""
    if note.kind != MEMORY:
        return "is no memory"
    if note.superseded_by:
        return "has been superseded"
    if is_expired(note):
        return "has expired"
    if note.expires:
        return "expires on a day of its own"
    if note.pinned:
        return "is pinned"
    if note.key:
        return f"has a key, {note.key}, under which it is replaced"
    statements = statements_of(note)
    if len(note.body) > LONGEST if len(statements) == 1 else len(statements) > _STATEMENTS - LEAST:
        return "is long enough by itself"
    return ""


def kind_of(note: Note) -> tuple[str, bool, str, str, str]:
    """What memories have to have in common before they can be one."""
    return note.vault, note.private, note.scope or note.vault, note.language, note.category


def group_of(notes: Sequence[Note]) -> Group:
    """These memories as one group, whatever they speak of."""
    counts = Counter(term for note in notes for term in _subjects(note))
    return Group(_subject(notes, [term for term, count in counts.items() if 2 * count > len(notes)]), tuple(notes))


def groups(notes: Iterable[Note], taken: Container[str] = ()) -> tuple[Group, ...]:
    """The groups that these memories make, the nearest first; no memory is in two, and none of those that are taken."""
    kinds: dict[tuple[str, bool, str, str, str], list[Note]] = {}
    for note in sorted(notes, key=lambda note: (note.vault, note.id or 0)):
        if note.ref not in taken and not hindrance(note):
            kinds.setdefault(kind_of(note), []).append(note)
    found = [each for _kind, members in sorted(kinds.items()) if len(members) >= LEAST for each in _grouped(members)]
    return tuple(group for _near, group in sorted(found, key=lambda pair: -pair[0]))


def _grouped(notes: list[Note]) -> Iterator[tuple[float, Group]]:
    """The groups among memories of one kind, with how near they are; each takes its memories away from the next."""
    near = _Nearness(notes)
    left = set(range(len(notes)))
    candidates = []
    for term, places in near.shared():
        members = near.closest(places)
        if members:
            candidates.append((-near.of(members), -len(members), term, members))
    for _near, _count, _term, members in sorted(candidates):
        kept = _consistent(notes, near.closest([place for place in members if place in left]))
        if len(kept) >= LEAST:
            left.difference_update(kept)
            yield near.of(kept), group_of([notes[place] for place in kept])


def _consistent(notes: Sequence[Note], places: Sequence[int]) -> list[int]:
    """Those of which no two are at odds; where two are, the pair of them is left out, since one of them is wrong."""
    at_odds = {
        place
        for pair in combinations(places, 2)
        if judge(notes[pair[0]].body, notes[pair[1]].body).label == CONTRADICTION
        for place in pair
    }
    return [place for place in places if place not in at_odds]


class _Nearness:
    """How near memories are to each other, by their places among those that are compared."""

    def __init__(self, notes: Sequence[Note]) -> None:
        counted = [Counter([*terms(note.body), *(f"#{tag.casefold()}" for tag in note.tags)]) for note in notes]
        self._subjects = [_subjects(note) for note in notes]
        self._tags = [{term for term in counts if term.startswith("#")} for counts in counted]
        self._spread = spread = Counter(term for counts in counted for term in counts)
        self._weights = [_weights(counts, spread, max(len(notes), _USUAL)) for counts in counted]
        self._vectors = _vectors([note.body for note in notes])
        self._pairs: dict[tuple[int, int], float] = {}
        self._least = _NEAR if self._vectors else _NEAR_IN_WORDS

    def shared(self) -> Iterator[tuple[str, list[int]]]:
        """The subjects that some memories share, with their places."""
        places: dict[str, list[int]] = {}
        for place, subjects in enumerate(self._subjects):
            for term in subjects:
                places.setdefault(term, []).append(place)
        for term, members in sorted(places.items()):
            if LEAST <= len(members) <= _WIDE:
                yield term, members

    def closest(self, places: Sequence[int]) -> list[int]:
        """Those that are near to each other, the farthest left out until there are few enough; none where all are far."""
        members = list(places)
        while len(members) >= LEAST:
            means = {place: self._mean(place, members) for place in members}
            farthest = min(members, key=lambda place: (means[place], -place))
            if len(members) <= MOST and means[farthest] >= self._least / 2 and self.of(members) >= self._least:
                return members
            members.remove(farthest)
        return []

    def of(self, places: Sequence[int]) -> float:
        """How near these are to each other on average."""
        return sum(self._mean(place, places) for place in places) / len(places)

    def _mean(self, place: int, places: Sequence[int]) -> float:
        return sum(self._pair(place, other) for other in places if other != place) / max(1, len(places) - 1)

    def _pair(self, one: int, other: int) -> float:
        pair = (one, other) if one < other else (other, one)
        known = self._pairs.get(pair)
        if known is None:
            known = _product(self._weights[one], self._weights[other])
            if self._vectors:
                mine, theirs = self._vectors[one], self._vectors[other]
                known = (known + max(0.0, sum(a * b for a, b in zip(mine, theirs, strict=False)))) / 2
            known += max((self._tie(tag) for tag in self._tags[one] & self._tags[other]), default=0.0)
            self._pairs[pair] = known
        return known

    def _tie(self, tag: str) -> float:
        """How much nearer a tag brings two memories: somebody chose it, which says the more the fewer have it."""
        return _TIE * max(0.0, 1 - self._spread[tag] / _WIDE)


def _weights(counts: Mapping[str, int], spread: Mapping[str, int], total: int) -> dict[str, float]:
    """How much each word of a memory tells, as a vector of length one."""
    weights = {
        term: (1 + math.log(count)) * math.log(1 + total / spread[term])
        for term, count in counts.items()
        if term not in _SILENT
    }
    length = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
    return {term: weight / length for term, weight in weights.items()}


def _product(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    return sum(weight * other[term] for term, weight in one.items() if term in other)


def _vectors(texts: Sequence[str]) -> list[array[float]]:
    """What the texts mean, by the static model; nothing where it is not installed."""
    from co_cli.embedding.static import open_static

    try:
        embedder = open_static()
    except CoError:
        return []
    from array import array

    return [array("f", vector) for vector in embedder.embed(texts)]


# ----------------------------------------------------------------------------------------------------------------- subjects

_SILENT = frozenset(SILENT)
_NO_SUBJECT = frozenset(term for word in SILENT | DULL | SOFT | LIGHT | ROLES | PERSONS | DENYING for term in terms(word))
"""Words that many sentences share without speaking of the same."""


def _subjects(note: Note) -> frozenset[str]:
    """What a memory may be about: its tags, and the words that name something."""
    named = (term for term in terms(note.body) if len(term) > _SHORTEST and term not in _NO_SUBJECT)
    return frozenset(
        (*(term for term in named if not _PLAIN_NUMBER.fullmatch(term)), *(f"#{tag.casefold()}" for tag in note.tags))
    )


def _subject(notes: Sequence[Note], shared: Iterable[str]) -> str:
    """What memories share, as it is written in the first of them that has it; tags where they share no word."""
    wanted = set(shared)
    found: dict[str, str] = {}
    for note in notes:
        for word in re.findall(r"`?[\w'’./+#-]*\w[+#]*`?", note.body):
            for term in terms(word):
                if term in wanted and term not in found and "_" not in term:
                    found[term] = re.sub(r"['’]s?$", "", word.strip("`'’.-/"))
    words = list(dict.fromkeys(found.values()))[:_SUBJECTS]
    if not words:
        words = [tag for tag in dict.fromkeys(tag for note in notes for tag in note.tags) if f"#{tag.casefold()}" in wanted]
    text = ", ".join(words[:_SUBJECTS])
    return text[:1].upper() + text[1:] if text[:1].isalpha() and words[0].islower() and words[0].isalpha() else text
