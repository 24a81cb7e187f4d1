"""Whether a summary says what its sources say: no fact lost, none added, none denied that was said.

Owns the comparison, statement by statement along the citations, and naming what is wrong. What a fact is,
:mod:`co_cli.learning.summaries.facts` knows. Knows nothing of vaults and models. Pure.
"""

from __future__ import annotations

import re
from bisect import bisect
from typing import TYPE_CHECKING, NamedTuple

from co_cli.learning.summaries.facts import DENIAL, LIMIT, NAME, Reading, read, stem
from co_cli.learning.summaries.summary import Statement, Summary, parse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from co_cli.learning.summaries.facts import Denial, Fact

_SHOWN = 40
_BORDER = 100


class Lapse(NamedTuple):
    """Something that a summary has otherwise than its sources."""

    what: str
    """What it does: ``drops``, ``adds``, ``mixes up``, ``contradicts``, ``leaves out``, ``cites``."""
    kind: str
    shown: str
    """The words that it is about."""
    ref: str
    """The source that has it, or has it not."""

    def __str__(self) -> str:
        words = self.shown if len(self.shown) <= _SHOWN else f"{self.shown[:_SHOWN]}…"
        match self.what:
            case "drops":
                return f"drops the {self.kind} “{words}” of {self.ref}"
            case "adds":
                return (
                    f"adds the {self.kind} “{words}”, which {f'{self.ref} does not have' if self.ref else 'no source has'}"
                )
            case "mixes up":
                return f"puts “{words}” of {self.ref} beside what another source says"
            case "contradicts":
                return f"contradicts {self.ref}: “{words}”"
            case "leaves out":
                return f"leaves {self.ref} out"
        return f"cites {self.ref or 'nothing'} for “{words}”"


def lapses(sources: Mapping[str, str], summary: Summary, *, known: str = "") -> tuple[Lapse, ...]:
    """What a summary has otherwise than its sources, which are given by their refs; nothing where it is faithful.

    ``known`` are further words that its heading may have, such as tags.
    """
    read_sources = {ref: read(text) for ref, text in sources.items()}
    read_statements = [(statement, read(statement.text)) for statement in summary.statements]
    found: list[Lapse] = []
    for statement, _reading in read_statements:
        unknown = [ref for ref in statement.refs if ref not in sources]
        found += [Lapse("cites", "", statement.text, ref) for ref in (unknown if statement.refs else [""])]
    for ref, source in read_sources.items():
        citing = [reading for statement, reading in read_statements if ref in statement.refs]
        found += _dropped(ref, source, citing) if citing else [Lapse("leaves out", "", "", ref)]
    for statement, reading in read_statements:
        behind = {ref: read_sources[ref] for ref in statement.refs if ref in read_sources}
        if behind:
            found += _added(reading, behind)
            found += _mixed_up(reading, behind) if len(behind) > 1 else ()
    heading = read(summary.heading)
    found += [lapse._replace(ref="") for lapse in _added(heading, {"": read(known), **read_sources})]
    return tuple(dict.fromkeys(found))


def lapses_of_text(sources: Mapping[str, str], text: str, *, known: str = "") -> tuple[Lapse, ...]:
    """The same for any text: where it is no summary, every source counts as cited by the whole of it."""
    summary = parse(text) or Summary("", (Statement(text, tuple(sources)),))
    return lapses(sources, summary, known=known)


# --------------------------------------------------------------------------------------------------------------- lost, added


def _dropped(ref: str, source: Reading, citing: list[Reading]) -> Iterator[Lapse]:
    for fact in source.facts:
        if not any(_has(reading, fact) for reading in citing):
            yield Lapse("drops", fact.kind, fact.shown, ref)
    denials = [denial for reading in citing for denial in reading.denials]
    for denial in source.denials:
        if not any(_same(denial, other) for other in denials):
            yield Lapse("drops", DENIAL, denial.shown, ref)


def _added(reading: Reading, sources: Mapping[str, Reading]) -> Iterator[Lapse]:
    named = " or ".join(ref for ref in sources if ref)
    for fact in reading.facts:
        if not any(_has(source, fact, loosely=True) for source in sources.values()):
            yield Lapse("adds", fact.kind, fact.shown, named)
    denials = [denial for source in sources.values() for denial in source.denials]
    for denial in reading.denials:
        if not any(_same(denial, other) for other in denials):
            yield Lapse("adds", DENIAL, denial.shown, named)


def _has(reading: Reading, fact: Fact, *, loosely: bool = False) -> bool:
    """Whether a text has a fact; a name may be a word of it that is written small there."""
    if fact.mark in reading.marks(fact.kind):
        return True
    if fact.kind != NAME:
        return False
    if stem(fact.mark) in reading.stems and (loosely or fact.mark.isalpha()):
        return True
    return _holds(reading.text, fact.mark if fact.shown.startswith("`") else fact.shown)


def _holds(text: str, words: str) -> bool:
    """Whether these very words stand in a text, and are no part of others."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None


def _same(one: Denial, other: Denial) -> bool:
    """Whether two denials are about the same."""
    if not one.about or not other.about:
        return one.about == other.about
    return one.about[0] in other.about or other.about[0] in one.about


# ------------------------------------------------------------------------------------------------------------------ mixed up


def _mixed_up(reading: Reading, sources: Mapping[str, Reading]) -> Iterator[Lapse]:
    """Facts of one source that stand nearer to the words of another: "30 s for A, 60 s for B", the wrong way round."""
    for ref, source in sources.items():
        others = [each for name, each in sources.items() if name != ref]
        for fact in reading.facts:
            if fact.kind == LIMIT or not _has(source, fact) or any(_has(other, fact) for other in others):
                continue
            mine = _distance(reading, _alone(source, others, fact), fact.place)
            theirs = _distance(reading, [word for each in others for word in _alone(each, [source], fact)], fact.place)
            if mine is not None and theirs is not None and theirs < mine:
                yield Lapse("mixes up", fact.kind, fact.shown, ref)


def _alone(source: Reading, others: Iterable[Reading], fact: Fact) -> frozenset[str]:
    """The words by which it is told what a fact is about: those that only this source has; for a name, no other names."""
    names = [each for each in source.facts if each.kind == NAME]
    taken = {stem(each.shown) for each in names} if fact.kind == NAME else {stem(fact.shown)}
    return source.stems.difference(taken, *(other.stems for other in others))


def _distance(reading: Reading, words: Collection[str], place: int) -> int | None:
    """How far away the nearest of these words is, in characters; what stands behind a comma or an "and" is far away."""

    def far(start: int) -> int:
        between = abs(bisect(reading.borders, start) - bisect(reading.borders, place))
        return abs(start - place) + between * _BORDER

    return min((far(start) for word, start in reading.places if word in words), default=None)
