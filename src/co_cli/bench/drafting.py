"""How well the rules draft: precision and recall on a labelled set of what people say to coding agents.

Owns the set (`utterances.jsonl`, written for this project; one part was held out while the rules were made, and two were
written without a look at them) and the measure. A draft is right where it says what is to be kept of the turn, and does not
deny what that affirms.
"""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, NamedTuple

from co_cli.bench.learning import Judged, labelled
from co_cli.errors import Invalid
from co_cli.learning.drafting.rules import Turn, drafts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from co_cli.learning.drafting.rules import Draft

SEEN, HELD_OUT, OTHER_HAND, SECOND_HAND = "seen", "held-out", "other hand", "second hand"
_SET = "utterances.jsonl"
_PRECISION = 0.9
_ALIKE = 0.6
"""The share of the shorter statement's words that two statements have in common when they say the same."""
_EMPTY = frozenset(
    """
    a an the is are be to of and or in on for at by with we our i my user users please it this that they their
    them not do does don't dont s
    """.split()  # noqa: SIM905 - a table is read more easily so
)
_DENIES = re.compile(
    r"(?i)\b(?:no|not|never|without|cannot|neither|nor|hates?|dislikes?|allergic|avoid|stop|gone|dropped|ignored?)\b|n['’]t\b"
    r"|\b(?:do|does|did|is|are|was|were|has|have|had|ca|wo|should|would|could|must)nt\b"
)
"""Words that deny, also where a person left the apostrophe out."""
_JOINTS = re.compile(r"[,;]\s+(?:(?:so|and|but)\s+)?"), re.compile(r"[,;]\s+|\s+(?:and|so|but)\s+")


class Fact(NamedTuple):
    """What is to be kept of an utterance."""

    text: str
    category: str = ""


class Utterance(NamedTuple):
    """One turn of a person, with what is to be kept of it."""

    text: str
    facts: tuple[Fact, ...]
    part: str


def load_utterances(path: str = "") -> tuple[Utterance, ...]:
    """The labelled turns of a file with ``text`` and ``facts`` on each line; without one, those of the included set."""
    utterances = []
    for number, line in enumerate(labelled(path, _SET).splitlines(), start=1):
        try:
            entry = json.loads(line)
            facts = tuple(Fact(fact) if isinstance(fact, str) else Fact(**fact) for fact in entry["facts"])
            utterances.append(Utterance(str(entry["text"]), facts, str(entry.get("part", "all"))))
        except (ValueError, KeyError, TypeError) as error:
            raise Invalid(f"{path}:{number}: a line needs a text and facts.") from error
    return tuple(utterances)


def measure_drafting(utterances: Sequence[Utterance]) -> list[Judged]:
    """Draft from each utterance by itself, and compare with what is to be kept of it: for each part of the set how often a
    draft is right, and how often a right one has the right category.
    """
    judged = []
    drafts_of([Turn("We read the rules once.")])
    for part in dict.fromkeys(utterance.part for utterance in utterances):
        mine = [utterance for utterance in utterances if utterance.part == part]
        started = time.process_time()
        drafts = [drafts_of([Turn(utterance.text)]) for utterance in mine]
        each = round((time.process_time() - started) * 1e6 / len(mine))
        hits = [_hits(found, utterance.facts) for utterance, found in zip(mine, drafts, strict=True)]
        credited = [pair for each in hits for pair in each]
        right = len({id(draft) for draft, _fact in credited})
        filed = sum(fact.category in ("", draft.category) for draft, fact in credited)
        facts, claimed = (sum(map(len, lists)) for lists in ([utterance.facts for utterance in mine], drafts))
        precision, recall = round(right / max(claimed, 1), 3), round(len(credited) / max(facts, 1), 3)
        promised, kept = f"precision ≥ {_PRECISION}", precision >= _PRECISION
        judged.append(Judged("drafting", part, "draft", facts, claimed, precision, recall, each, promised, kept))
        share = round(filed / max(len(credited), 1), 3)
        judged.append(Judged("drafting", part, "category", len(credited), len(credited), share, share, 0))
    return judged


def _hits(drafts: Sequence[Draft], facts: Sequence[Fact]) -> list[tuple[Draft, Fact]]:
    """Each fact with the draft that says it: a draft may hold two, but what two drafts say counts for the first alone."""
    left = list(facts)
    hits = []
    for draft in drafts:
        whole = next((fact for fact in left if says_the_same(draft.text, fact.text)), None)
        said = [fact for fact in left if fact is whole or _holds(draft.text, fact.text)]
        left = [fact for fact in left if fact not in said]
        hits += [(draft, fact) for fact in said]
    return hits


def _holds(draft: str, fact: str) -> bool:
    """Whether one of the pieces that a draft is joined from says a fact."""
    words = _words(fact)
    pieces = {piece for joint in _JOINTS for piece in joint.split(draft)} - {draft}
    return any(len(words & _words(piece)) >= _ALIKE * len(words) and says_the_same(piece, fact) for piece in pieces)


def says_the_same(one: str, other: str) -> bool:
    """Whether two wordings say the same, as far as words can tell."""
    words = _words(one), _words(other)
    shared = len(words[0] & words[1]) / max(min(map(len, words)), 1)
    return shared >= _ALIKE and bool(_DENIES.search(one)) is bool(_DENIES.search(other))


def _words(text: str) -> set[str]:
    found = re.findall(r"[\w./+#'-]*\w", text.lower())
    return {
        re.sub(r"(?:ing|es|ed|s|e)$", "", word.removesuffix("'s")) for word in found if word.removesuffix("'s") not in _EMPTY
    }
