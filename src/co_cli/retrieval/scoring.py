"""How good a passage is for a query.

Owns the formulas and their constants. Pure: it is handed what the index knows, and touches neither index nor files.

Text is scored by BM25 with additions, each of which raised the measured quality of some kind of notes and lowered that of
none noticeably. A title counts twice. A passage counts as no shorter than 60 terms. Names in the query count for more, and a
note without them for less; so do terms that stand side by side in query and passage, and those that meet within a few
sentences of a long one. And a short note borrows from those beside it, words and meaning: of notes that were made one after
another, each too short to say what it is about, every one stands in the light of its neighbours.
"""

from __future__ import annotations

from itertools import pairwise
from math import log
from typing import TYPE_CHECKING, NamedTuple

from co_cli.index.analysis import sought

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from co_cli.index.search import Passage

    Key = tuple[int, int]
    """A passage, or a note: the place of its vault among those that are asked, and its id there."""

_SATURATION, _LENGTH_SHARE = 1.2, 0.75
"""BM25's k1 and b."""
_SHORTEST = 60
"""Terms below which a passage counts as this long: of two short notes, the shorter is not the better for it."""
_TITLE, _NAME, _PAIR, _WHOLE, _MISSING = 2, 1.25, 0.25, 0.5, 0.3
"""What a term in the title, a name, a pair of terms and the rest of a long note count for, and what missing names cost."""
_CLOSE, _WINDOW = 0.75, 360
"""What the terms count for again that stand close together, and how many characters of terms that is: some sixty terms."""
_BORROWED, REACH = 0.3, 2
"""What of its neighbours' terms a short note counts as its own, and how far its neighbours reach."""
TOGETHER = 3600
"""Seconds within which notes that have no title were made in one go."""
_SHORT, _LONG = 60, 100
"""Terms up to which a note borrows and lends in full, and from which on it does not."""
_BRIEF, _LIGHT = 80, 0.5
"""Terms below which the vector of a note among neighbours says little: it is the vector of a remark. And what the cosines of
those neighbours count for beside its own."""
_RRF_K = 60
_HALF_LIFE = 182 * 86400


class Weights(NamedTuple):
    """What each term of a query is worth, over all the vaults that are asked."""

    terms: tuple[str, ...]
    lines: tuple[str, ...]
    """What each term looks like in a passage."""
    worth: tuple[float, ...]
    pairs: tuple[tuple[str, float], ...]
    """Two terms side by side, as they would stand in a passage, and what that is worth."""
    names: tuple[int, ...]
    """The places of the terms that are names, as far as any passage holds them."""
    average: float
    """Terms of a passage on average."""


class Counted(NamedTuple):
    """A passage with how often it holds each term of the query."""

    passage: Passage
    counts: tuple[float, ...]
    in_body: tuple[int, ...]
    shortness: float
    """1 for a short passage, 0 for one that is long enough to stand by itself."""


def weigh(terms: Sequence[str], names: Iterable[str], frequency: Mapping[str, int], passages: int, total: int) -> Weights:
    """Make weights of how many passages hold each term: what few of them hold, says most."""
    rarity = {
        term: log(1 + (passages - min(found, passages) + 0.5) / (found + 0.5))
        for term, found in ((term, frequency.get(term, 0)) for term in terms)
    }
    names = frozenset(names)
    each = tuple(dict.fromkeys(terms))
    beside = [(one, other) for one, other in pairwise(terms) if one != other and one.isascii()]
    return Weights(
        each,
        tuple(sought((term,)) for term in each),
        tuple(rarity[term] * (_NAME if term in names else 1) for term in each),
        tuple((f" {one} {other} ", _PAIR * min(rarity[one], rarity[other])) for one, other in beside),
        tuple(place for place, term in enumerate(each) if term in names and frequency.get(term)),
        max(total / passages if passages else 0.0, _SHORTEST),
    )


def count(passage: Passage, weights: Weights) -> Counted:
    """Count the terms of a query in a passage."""
    body, name, tags = passage.body, passage.name, passage.tags
    in_body = []
    counts = []
    for found in weights.lines:
        here = body.count(found)
        in_body.append(here)
        counts.append(here + (_TITLE * name.count(found) if name else 0) + (tags.count(found) if tags else 0))
    shortness = min(max((_LONG - passage.length) / (_LONG - _SHORT), 0.0), 1.0) if passage.parts == 1 else 0.0
    return Counted(passage, tuple(counts), tuple(in_body), shortness)


def plain_score(passage: Passage, counts: Sequence[float], weights: Weights) -> float:
    """The score of a passage by how often it holds the terms of the query, wherever they stand."""
    return _saturated(counts, passage.length, weights)


def text_score(passage: Passage, counts: Sequence[float], weights: Weights) -> float:
    """The score of a passage by how often it holds the terms of the query, borrowed ones included, and by how they stand."""
    plain = plain_score(passage, counts, weights)
    close = closest(passage, counts, weights) if len(passage.body) > _WINDOW else plain
    score = plain + _CLOSE * close
    for pair, worth in weights.pairs:
        if pair in passage.body:
            score += worth
    return score


def closest(passage: Passage, counts: Sequence[float], weights: Weights) -> float:
    """The score of that part of a long passage which holds most of the terms, under the title of the whole.

    An answer is a sentence or two, so terms that are scattered tell less of it than terms that meet. A short passage is such
    a part by itself.
    """
    held = [0.0] * len(weights.terms)
    places: list[tuple[int, int]] = []
    for number, (line, found) in enumerate(zip(weights.lines, counts, strict=True)):
        if not found:
            continue
        if line in passage.name:
            held[number] = _TITLE * passage.name.count(line)
        place = passage.body.find(line)
        while place >= 0:
            places.append((place, number))
            place = passage.body.find(line, place + 1)
    places.sort()
    return _best_window(places, held, weights.worth)


def _best_window(places: Sequence[tuple[int, int]], held: list[float], worth: Sequence[float]) -> float:
    best = here = sum(map(_gain, held, worth))
    first = 0
    for place, number in places:
        while places[first][0] < place - _WINDOW:
            gone = places[first][1]
            here -= _gain(held[gone], worth[gone])
            held[gone] -= 1
            here += _gain(held[gone], worth[gone])
            first += 1
        here -= _gain(held[number], worth[number])
        held[number] += 1
        here += _gain(held[number], worth[number])
        best = max(best, here)
    return best


def _gain(found: float, worth: float) -> float:
    return worth * found * (_SATURATION + 1) / (found + _SATURATION)


def _saturated(counts: Sequence[float], length: int, weights: Weights) -> float:
    norm = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * max(length, _SHORTEST) / weights.average)
    score = 0.0
    for found, worth in zip(counts, weights.worth, strict=True):
        if found:
            score += worth * found * (_SATURATION + 1) / (found + norm)
    return score


def with_borrowed(counted: Counted, near: Iterable[Counted]) -> Sequence[float]:
    """How often a passage holds each term, with what it borrows from short notes beside it."""
    counts: list[float] = []
    for other in near:
        share = _BORROWED * counted.shortness * other.shortness
        counts = [have + share * lent for have, lent in zip(counts or counted.counts, other.in_body, strict=True)]
    return counts or counted.counts


def are_neighbours(one: Passage, other: Passage) -> bool:
    """Whether two notes that are numbered one after another were made in one go: under one title, or within an hour."""
    return one.title == other.title and (bool(one.title) or abs(one.created - other.created) < TOGETHER)


def whole_score(counts: Sequence[float], length: int, average: float, weights: Weights) -> float:
    """The score of a long note as a whole; ``average`` is the length of the long notes beside it."""
    return _saturated(counts, round(length * weights.average / max(average, 1)), weights)


def note_score(best: float, whole: float, counts: Sequence[float], weights: Weights) -> float:
    """The text score of a note: its best passage, a little of the rest, and less where it lacks names that were asked."""
    missing = sum(not counts[place] for place in weights.names) / len(weights.names) if weights.names else 0.0
    return (best + _WHOLE * whole) * (1 - _MISSING * missing)


def cosine_among(cosine: float, near: Sequence[float], passage: Passage) -> float:
    """What the cosine of a remark among its neighbours counts for, in their light: a few words have a vector of their own,
    but what they are about stands in those around them."""
    if near:
        cosine = (cosine + _LIGHT * sum(near) / len(near)) / (1 + _LIGHT)
    return float(cosine * min(1.0, passage.length / _BRIEF) ** 0.5)


def weighted(text: Mapping[Key, float], vector: Mapping[Key, float], text_share: float) -> dict[Key, float]:
    """The weighted sum of text scores, the best as 1, and cosines."""
    top = max(text.values(), default=0.0) or 1.0
    return {
        key: text_share * text.get(key, 0.0) / top + (1 - text_share) * max(vector.get(key, 0.0), 0.0)
        for key in text.keys() | vector.keys()
    }


def reciprocal_ranks(text: Mapping[Key, float], vector: Mapping[Key, float]) -> dict[Key, float]:
    """Reciprocal rank fusion of two rankings, the best possible score as 1."""
    scores: dict[Key, float] = {}
    for ranking in (ranked(text), ranked(vector)):
        for rank, key in enumerate(ranking, start=1):
            scores[key] = scores.get(key, 0.0) + (_RRF_K + 1) / 2 / (_RRF_K + rank)
    return scores


def ranked(scores: Mapping[Key, float]) -> list[Key]:
    """The keys, the best first; among equals the newest."""
    return sorted(scores, key=lambda key: (scores[key], key[1]), reverse=True)


def recency(created: float, now: float) -> float:
    """Between 1 for what was written today and 0 for what is old; half a year halves it."""
    return float(0.5 ** (max(now - created, 0.0) / _HALF_LIFE)) if created else 0.0


def places(passage: Passage, terms: Iterable[str]) -> tuple[str, ...]:
    """In which fields of a passage any of these terms is found."""
    fields = (("body", passage.body), ("tags", passage.tags), ("title", passage.name))
    found = [sought((term,)) for term in terms]
    return tuple(name for name, line in fields if any(term in line for term in found))
