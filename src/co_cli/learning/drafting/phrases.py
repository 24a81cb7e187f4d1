"""What a sentence is: a statement of some kind, with or without a lead that says so, or nothing that lasts.

Owns the kinds of phrases, and which of them a clause is. The phrases themselves stand in `english.txt`. Pure. What fits no
phrase is not kept, which is the safe reading: most of what is said to an agent is work, and not knowledge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from co_cli.learning.drafting.grammar import english

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFERS, IS, NAMED, DOES, DECIDED, HAS, RULES, TOLD, CORRECTS = (
    *("prefers", "is", "named", "does", "decided", "has", "rules", "told", "corrects"),
)
"""The phrases: what a person prefers or is, what they are called, what a team does or decided, how its things are, how work
is to be done, what was asked to be remembered, what is put right."""
ASKED_FOR, CORRECTED, STANDING = "asked for", "corrected", "standing"
"""What a lead says of the statement behind it: that it is to be kept, corrects something, or holds from now on."""


def bare(sentence: str) -> tuple[str, frozenset[str]]:
    """A sentence without what leads into it and out of it, and what that says of it."""
    grammar = english()
    meanings: set[str] = set()
    before = ""
    while before != sentence:
        before = sentence
        for meaning, lead in grammar.leads:
            found = lead.match(sentence)
            if found and sentence[found.end() :].strip():
                sentence = sentence[found.end() :]
                meanings.add(meaning)
    for tail in _tails(sentence):
        sentence = sentence[: -len(tail)]
        meanings |= {ASKED_FOR} if grammar.others["tail asks"].match(tail) else set()
        meanings |= {STANDING} if grammar.others["tail stands"].match(tail) else set()
    if STANDING in meanings:
        sentence = grammar.others["together"].sub("", sentence, count=1)
    return sentence.strip(), frozenset(meanings - {""})


def _tails(sentence: str) -> Iterator[str]:
    """What leads out of a sentence, from its end on."""
    tail = english().others["tail"].search(sentence)
    while tail and tail.start():
        yield tail[0]
        sentence = sentence[: tail.start()]
        tail = english().others["tail"].search(sentence)


def turns_down(sentence: str) -> bool:
    """Whether a sentence says no and nothing else, so that the next one puts something right."""
    return english().others["no_more"].match(sentence) is not None


def is_meant(sentence: str) -> bool:
    """Whether a sentence, and the turn that it is from, means what it says."""
    return not any(each.search(sentence) for each in english().irony)


def is_said(sentence: str) -> bool:
    """Whether a sentence states something, in the words of the person who says it."""
    return not any(each.search(sentence) for each in english().unsaid)


def lasts(clause: str) -> bool:
    """Whether what a clause states may hold beyond the moment."""
    return not any(each.search(clause) for each in english().passing)


def begins_anew(words: str) -> bool:
    """Whether words behind a comma may be a statement by themselves."""
    return english().others["anew"].match(words) is not None


def without_errand(clause: str) -> str:
    """A statement without what is to be done about it right away."""
    errand = english().others["errand"].search(clause)
    return clause[: errand.start()] if errand else clause


def phrase_of(clause: str, meanings: frozenset[str] = frozenset()) -> str:
    """The phrase that a clause is, or an empty string; a lead makes more of it a statement than would be one without."""
    others = english().others
    placed = others["placed"].match(clause)
    adverbial = placed or others["adverbial"].match(clause)
    for text in filter(None, (clause, clause[adverbial.end() :] if adverbial else "")):
        phrases = english().phrases
        for kind, each in phrases.get(text[:1].lower(), phrases[""]):
            if each.match(text):
                return kind
    rest = clause[placed.end() :] if placed else clause
    is_statement = others["statement"].match(rest) is not None
    if placed and is_statement:
        return HAS
    if STANDING in meanings and others["order"].match(rest):
        return RULES
    if CORRECTED in meanings and any(others[name].match(rest) for name in _CORRECTED):
        return CORRECTS
    told = is_statement or any(others[name].match(rest) for name in ("exception", "verbless"))
    return TOLD if told and meanings & {ASKED_FOR, STANDING} else ""


_CORRECTED = ("value", "correction", "corrected", "settled")
"""What a sentence may be that puts something right."""
