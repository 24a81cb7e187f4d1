"""From what a person said to drafts of what may be kept, by rules and without a model.

Owns what becomes a draft: its text, its category, the exact words that it was taken from, and how sure it is. Pure. A draft
is a proposal and nothing more: it goes to the inbox.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from co_cli.credentials import find_secret
from co_cli.learning.drafting.phrases import (
    ASKED_FOR,
    CORRECTED,
    CORRECTS,
    DECIDED,
    DOES,
    HAS,
    IS,
    NAMED,
    PREFERS,
    RULES,
    TOLD,
    bare,
    begins_anew,
    is_meant,
    is_said,
    lasts,
    phrase_of,
    turns_down,
    without_errand,
)
from co_cli.learning.drafting.speech import spoken
from co_cli.learning.drafting.wording import statement, undated

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

USER, PROJECT, FACT = "user_preferences", "project_insights", "learned_facts"


class Turn(NamedTuple):
    """What a person said in one go."""

    text: str
    at: str = ""
    """When, as the transcript has it."""
    before: str = ""
    """What the agent had said before it."""
    private: bool = False
    """Whether private notes were quoted in its course, so that nothing of it may leave this machine."""
    allowed: bool = False
    """Whether learning was on when it was said."""
    seen: int = 0
    """How much programs had put into the conversation before it."""


class Draft(NamedTuple):
    """Something that may be worth keeping."""

    text: str
    """A statement that stands by itself."""
    category: str
    quote: str
    """The exact words of the person."""
    confidence: float
    """How sure it is that this is to be kept, up to 1."""
    turn: Turn = Turn("")


_SURE = {NAMED: 0.95, TOLD: 0.95, PREFERS: 0.9, DECIDED: 0.9, RULES: 0.85, DOES: 0.85, HAS: 0.8, IS: 0.8, CORRECTS: 0.75}
_JOINT = re.compile(
    r"[,;:]\s+(?:(?:and|but|so|because|since|also|as)\s+)?|\s+(?:–|—|-)\s+|\s+(?:and|but|so|because|since|also)\s+"
)
_WHOLE = (PREFERS, DECIDED, RULES)
"""Phrases that stand by themselves also where what follows is about this moment."""
_SHORTEST = 2
"""Words of a statement, fewer of which say nothing."""
_ABOUT_TALKING = re.compile(
    r"(?i)\b(?:answers?|reply|replies|respond|responses?|speak|talk|explain\w*|explanations?|ask|asking|tell|show|call|summar\w+|plan"
    r"|apologi[sz]e|brief|concise|terse|blunt|emojis|you'?re\s+done)\b"
)
_ABOUT_THE_WORLD = re.compile(
    r"(?i)\b(?:servers?|clusters?|urls?|buckets?|hosts?|hosted|region|ports?|limit(?:s|ed)?|quota|timeout|memory|GB|MB|minutes|hours"
    r"|max|retention|window|owner|owns?|owned|(?:release|product|project)\s+manager|contact|person\s+to|cto|environment|vpn|proxy"
    r"|balancer|jobs?|nightly|every\s+(?:morning|night|sunday|day|hour|\d+)|customers\s+can|database\s+is|staging|resets?|wiped"
    r"|at\s+most|will\s+be|registry|fiscal|stand-?ups?|retros?|in\s+production)\b"
)


def drafts_of(turns: Iterable[Turn]) -> tuple[Draft, ...]:
    """What the rules find in these turns, each statement once."""
    found: dict[str, Draft] = {}
    for turn in turns:
        for draft in _drafts(turn):
            key = draft.text.casefold()
            if key not in found or found[key].confidence < draft.confidence:
                found[key] = draft
    return tuple(found.values())


def holds_secret(text: str) -> bool:
    """Whether a text holds what looks like a secret, so that nothing is to be made of it."""
    return bool(find_secret(text))


def _drafts(turn: Turn) -> Iterator[Draft]:
    sentences = spoken(turn.text)
    if not all(map(is_meant, sentences)):
        return
    carried: frozenset[str] = frozenset()
    for sentence in sentences:
        if find_secret(sentence):
            continue
        clause, meanings = bare(sentence)
        meanings |= carried
        found = _clause(clause, meanings)
        corrects = turns_down(sentence) or (found and CORRECTED in meanings)
        carried = frozenset({CORRECTED}) if corrects else frozenset()  # what follows goes on with it
        if found:
            text = _worded(without_errand(found[1]), found[0], turn)
            if text and not find_secret(text):
                sure = min(_SURE[found[0]] + (0.1 if meanings else 0), 1.0)
                yield Draft(text, _category(found[0], text), sentence, round(sure, 2), turn)


def _clause(clause: str, meanings: frozenset[str]) -> tuple[str, str] | None:
    """The phrase that a sentence is, from where it begins to be one."""
    if not is_said(clause) or _in_quotes(clause):
        return None
    phrase = phrase_of(clause, meanings) if lasts(clause) else ""
    if phrase:
        return phrase, clause
    for joint in _JOINT.finditer(clause):
        rest, more = bare(clause[joint.end() :])
        head = clause[: joint.start()]
        if lasts(head) and (phrase := phrase_of(head, meanings)) in _WHOLE:
            return phrase, head
        if (more or begins_anew(rest)) and is_said(rest) and lasts(rest):
            phrase = phrase_of(rest, more | meanings - {ASKED_FOR})
            if phrase:
                return phrase, rest
    return None


def _in_quotes(clause: str) -> bool:
    """Whether somebody else's words, or words for somewhere else, make up most of it."""
    quoted = re.findall(r"[\"“][^\"”]*[\"”]|(?<!\w)'[^']*'(?!\w)", clause)
    return sum(map(len, quoted)) * 2 > len(clause)


def _worded(clause: str, phrase: str, turn: Turn) -> str:
    text = statement(undated(clause) if phrase == DECIDED else clause)
    if phrase == CORRECTS and re.match(r"(?i)(?:it|that)\b", clause):
        about = _corrected(clause, turn.before)
        if about:
            return f'{text} (corrects: "{about}")'
    return text if len(text.split()) >= _SHORTEST else ""


def _corrected(clause: str, before: str) -> str:
    """The agent's sentence that a correction is about: the last one that names what it is not."""
    wrong = re.search(r"(?i),\s+not\s+(\S+)", clause)
    for sentence in reversed(spoken(before)):
        if not wrong or wrong[1].strip(".!,").casefold() in sentence.casefold():
            return sentence
    return ""


def _category(phrase: str, text: str) -> str:
    if phrase in (PREFERS, IS, NAMED) or text.startswith("User"):
        return USER
    if phrase == RULES:
        return USER if _ABOUT_TALKING.search(text) else PROJECT
    if phrase in (HAS, TOLD, CORRECTS) and _ABOUT_THE_WORLD.search(text):
        return FACT
    return PROJECT
