"""What a plain statement says, as far as two of them can be compared by rules.

Owns taking a sentence apart: the words that count, the part that each plays, whether it denies, and what it turns down.
Knows nothing of notes, and nothing of what a comparison means. Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from co_cli.learning.relations.forms import plain
from co_cli.learning.relations.vocabulary import (
    ALIASES,
    ALTERNATIVES,
    ATTITUDES,
    BREAKS,
    CONTRARIES,
    COPULAS,
    DENYING,
    DISTINCT,
    ENDED,
    FIXED,
    FREQUENCIES,
    HOLDERS,
    INVARIABLE,
    LIGHT,
    MANY,
    MODALS,
    MOVES,
    NUMBERS,
    OPENERS,
    OPPOSITES,
    PERSONS,
    PLACES,
    QUALITIES,
    ROLES,
    SAME_SIDE,
    SILENT,
    SINGLE,
    SOFT,
    UNITS,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

SENTENCES = 8
"""Sentences of a text that are looked at."""
WORDS = 40
"""Words of a sentence; what is longer is no plain statement."""

_LENGTH = 4000
"""Characters of a text that are looked at."""

WORD, NAME, NUMBER = "word", "name", "number"

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\S)|\n+|(?<=[\u3002\uff01\uff1f])")
_TOKEN = re.compile(
    r"`[^`\n]+`|--?[A-Za-z][\w-]*|[./~]?[^\W_](?:[\w.+#/@:~%&'-]*[\w+#%/])?|/[\w.@/-]+|[%=;:,()—–-]|\w", re.UNICODE
)
_CODE_WORD = re.compile(r"[^\s]+")
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?)([a-z%]*)")
_NUMERIC = re.compile(r"v?[0-9]+(?:[.,:/-][0-9]+)*[a-z%]{0,3}")
_IDENTIFIER = re.compile(r"[0-9_/@#+]|\.\w|.[A-Z]")
_CAPITALS = re.compile(r"[A-Z]{2,}s")


class Token(NamedTuple):
    """A word that counts."""

    stem: str
    """The word without its ending; what is compared."""
    shown: str
    """The word as it stands in the text."""
    kind: str
    role: str
    """The preposition before it: ``with``, ``for``."""
    place: int
    """Which of the words that count it is."""
    before_verb: bool
    soft: bool = False
    """Whether the statement would mean the same without it."""


class Statement(NamedTuple):
    """A sentence, taken apart."""

    tokens: tuple[Token, ...]
    negative: bool
    rejected: frozenset[str]
    """What it says not to take: "tabs, not spaces"."""
    verb: str
    """The first verb that was recognised; empty where there is none."""
    order: bool
    """Whether it has no other subject than the reader or the team: "use tabs", "we use tabs"."""
    attitude: bool
    """Whether it is about what somebody thinks of a thing."""

    @property
    def content(self) -> tuple[Token, ...]:
        """The words without which it would mean something else."""
        return tuple(token for token in self.tokens if not token.soft)


def read(text: str) -> tuple[Statement, ...]:
    """The sentences of a text."""
    split = _SENTENCE_END.split(text[:_LENGTH].replace("’", "'").replace("*", ""))
    parts = (part.strip() for part in split if part.strip(" \t-#>") and part.count(" ") <= WORDS)
    return tuple(statement for statement, _ in zip(map(_read, parts), range(SENTENCES), strict=False) if statement.tokens)


class _Word(NamedTuple):
    low: str
    shown: str
    kind: str


def _words(sentence: str) -> list[_Word]:
    words: list[_Word] = []
    for found in _TOKEN.findall(sentence):
        if found[0] == "`":
            words += [_Word(word.lower().rstrip("/"), word, NAME) for word in _CODE_WORD.findall(found.strip("`"))]
            continue
        words += _plain(found, first=not words)
    return words


def _plain(found: str, *, first: bool) -> list[_Word]:
    low = found.casefold()
    if low.endswith("n't"):
        stem = {"ca": "can", "wo": "will", "sha": "shall"}.get(low[:-3], low[:-3])
        return [_Word(stem, found, WORD), _Word("not", found, WORD)]
    if low == "cannot":
        return [_Word("can", found, WORD), _Word("not", found, WORD)]
    for ending in ("'s", "'re", "'ve", "'ll", "'m", "'d", "'"):
        if low.endswith(ending) and len(low) > len(ending):
            low, found = low[: -len(ending)], found[: -len(ending)]
            break
    low = low.rstrip("/:") or low
    if _CAPITALS.fullmatch(found):
        low = low[:-1]  # PRs
    if _NUMERIC.fullmatch(low):
        return [_Word(low, found, NUMBER)]
    named = _IDENTIFIER.search(found) or (found[0].isupper() and not first)
    return [_Word(low, found, NAME if named else WORD)]


class _Stems(dict[str, str]):
    """The stems of words, found once."""

    def __missing__(self, word: str) -> str:
        if len(self) >= _STEMS_KEPT:
            self.clear()
        self[word] = found = _stem(word)
        return found


_STEMS_KEPT = 50_000
_stems = _Stems()


def stem(word: str) -> str:
    """A word without its ending; only the forms that statements of the same thing differ in."""
    return _stems[word]


def _stem(word: str) -> str:
    word = ALIASES.get(word, word)
    if word in _KNOWN or len(word) < 4 or not word.isascii() or not word.isalpha():  # noqa: PLR2004 - "is", "bus", "das"
        return word
    if word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith(("sses", "xes", "ches", "shes")):
        word = word[:-2]
    elif word.endswith("s") and word[-2] not in "su" and word not in INVARIABLE:
        word = word[:-1]
    word = ALIASES.get(word, word)
    if word in _KNOWN:
        return word
    for ending in ("ing", "ed"):
        root = word[: -len(ending)]
        if word.endswith(ending) and (len(root) > 2 or root in _ROOTS) and re.search("[aeiouy]", root) and root[-1] != "e":  # noqa: PLR2004
            if root[-1] == root[-2] and root[-1] not in "lsz":
                root = root[:-1]
            word = _ROOTS.get(root, root)
            break
    else:
        word = word[:-1] if word.endswith("e") and len(word) > 4 else word  # noqa: PLR2004 - "delete" as of "deleting"
    return ALIASES.get(word, word)


_KNOWN = SILENT | SOFT | LIGHT | FIXED | HOLDERS | DENYING | SINGLE | MANY | ATTITUDES | OPPOSITES.keys()
_KNOWN |= ALTERNATIVES.keys() | CONTRARIES.keys() | DISTINCT | UNITS.keys()
_ROOTS = {word[:-1]: word for word in _KNOWN if word.endswith("e") and word.isalpha()}
"""What is left of a verb without its ending, with the verb: "us" of "using"."""


def _read(sentence: str) -> Statement:
    words = _main_clause(_words(plain(sentence)))
    words, rejected = _without_rejected(words)
    return _Reading(words, rejected).statement()


def _main_clause(words: list[_Word]) -> list[_Word]:
    """The words up to where a reason or a second thought begins; what such a thought takes back is marked as denied."""
    kept: list[_Word] = []
    for place, word in enumerate(words):
        if word.kind == WORD and word.low in BREAKS and len(kept) > 1:
            break
        if word.low == "," and _begins_clause(words, place, kept):
            break
        kept.append(word)
    rest = words[len(kept) :]
    if rest and rest[0].low == "," and any(stem(each.low) in ("remove", "drop", "retire", "gone") for each in rest):
        kept += [_Word(",", ",", WORD), _Word("not", "not", WORD), *(each for each in rest if each.kind == NAME)]
        kept += [each for each in rest[1:2] if each.kind == WORD]
    return [word for word in kept if word.low not in BREAKS]


def _begins_clause(words: list[_Word], place: int, kept: list[_Word]) -> bool:
    """Whether a comma ends what is said, and does not stand in a list, or behind a condition that comes first."""
    after = [word.low for word in words[place + 1 : place + 3]]
    if not after or after[0] in ("not", "never", "and", "or", "but") or (kept and kept[0].low in OPENERS):
        return False
    return len(words) - place > 3 and sum(word.low != "," for word in kept) > 2  # noqa: PLR2004 - no list of single words


def _without_rejected(words: list[_Word]) -> tuple[list[_Word], frozenset[str]]:
    """Take what a sentence turns down out of its words."""
    lows = [word.low for word in words]
    stems = [stem(low) for low in lows]
    if "replac" in stems:
        words, replaced = _without_replaced(words, stems.index("replac"))
        if replaced:
            return words, replaced
    if _TURNS.isdisjoint(lows):
        return words, frozenset()
    prefers = not _PREFERS.isdisjoint(stems)
    left_at = _departure(lows, stems)
    kept: list[_Word] = []
    rejected: set[str] = set()
    place, taking = 0, False
    while place < len(words):
        turn = _turn(lows, place, prefers=prefers and bool(kept) and not taking)
        if turn or place == left_at:
            taking, place = True, place + (turn or 1)
        elif taking and (lows[place] in _RESUMES or (left_at > 0 and lows[place] == "to")):
            taking, place = False, place + (lows[place] in (",", "to"))
        else:
            if taking:
                rejected.add(stems[place])
            elif not (left_at > 0 and stems[place] in MOVES):
                kept.append(words[place])
            place += 1
    if all(word.kind == WORD and word.low in SILENT for word in kept):
        return words, frozenset()
    return kept, _telling(rejected)


_INSTEAD = (
    ("instead", "of"),
    ("rather", "than"),
    ("better", "than"),
    ("in", "place", "of"),
    ("as", "opposed", "to"),
    ("in", "lieu", "of"),
)
_TURNS = frozenset(["instead", "rather", "better", "place", "opposed", "lieu", "not", "never", "over", "to"])
"""Words of which one is there where something is turned down."""
_PREFERS = frozenset(["prefer", "favour", "favor", "choose"])
_RESUMES = frozenset([",", "for", "in", "on", "when", "at", "during"])
"""Words behind which it is no longer spoken of what is turned down."""


def _turn(lows: list[str], place: int, *, prefers: bool) -> int:
    """How many words turn down what follows them."""
    low = lows[place]
    if low in _TURNS or low in ("in", "as"):
        for phrase in _INSTEAD:
            if tuple(lows[place : place + len(phrase)]) == phrase:
                return len(phrase)
    if low in ("not", "never") and place and lows[place - 1] == ",":
        return 1
    return int(prefers and (low == "over" or (low == "to" and place + 1 < len(lows))))


def _without_replaced(words: list[_Word], at: int) -> tuple[list[_Word], frozenset[str]]:
    """Take what was replaced out of "we replaced flake8 with ruff", and out of "flake8 was replaced by ruff"."""
    end = next((place for place in range(at + 1, len(words)) if words[place].low in ("with", "by")), 0)
    if not end:
        return words, frozenset()
    passive = end == at + 1
    gone = words[:at] if passive else words[at + 1 : end]
    kept = words[end + 1 :] if passive else [*words[:at], *words[end + 1 :]]
    return kept, _telling(stem(word.low) for word in gone)


def _telling(stems: Iterable[str]) -> frozenset[str]:
    return frozenset(stems) - SILENT - LIGHT - SOFT - ROLES - {","}


def _departure(lows: list[str], stems: list[str]) -> int:
    """Where it says what was left: "we moved from Jenkins to Buildkite"; -1 where it does not."""
    moves = next((place for place, root in enumerate(stems) if root in MOVES), len(lows))
    leaves = lows.index("from", moves) if "from" in lows[moves:] else -1
    return leaves if leaves > 0 and "to" in lows[leaves:] else -1


class _Reading:
    """The words of a sentence, one after the other."""

    def __init__(self, words: list[_Word], rejected: frozenset[str]) -> None:
        self.words = _joined(words)
        self.rejected = rejected
        self.tokens: list[Token] = []
        self.negative = self.attitude = self.personal = False
        self.role = self.verb = ""
        self.first_verb = -1

    def statement(self) -> Statement:
        for place, word in enumerate(self.words):
            self._take(place, word)
        order = not any(token.before_verb for token in self.tokens) and (self.personal or self.first_verb == 0)
        statement = Statement(tuple(self.tokens), self.negative, self.rejected, self.verb, order, self.attitude)
        return _turned(statement) if self.verb == "be" else statement

    def _take(self, place: int, word: _Word) -> None:
        low, root = word.low, stem(word.low) if word.kind != NUMBER else word.low
        if word.kind == NUMBER:
            self._add(low, word, NUMBER)
        elif low in PERSONS:
            self.personal = self.personal or not self.tokens
        elif word.kind == WORD and (low in DENYING or root in DENYING) and not self._is_quality(place, low):
            self._deny(place, word)
        elif low in COPULAS or low in MODALS:
            self._subject_ends(place)
            self._verb_at(place, "be" if low in COPULAS else "")
        elif low == "to" and self._is_infinitive(place):
            self.role = ""
        elif word.kind == WORD and low in ROLES:
            self.role = low if low not in PLACES else "in"
            if low in CONTRARIES:
                self._add(low, word, WORD)
        elif low in SILENT or not re.search(r"\w", low):
            pass
        else:
            self._take_content(place, word, root)

    def _deny(self, place: int, word: _Word) -> None:
        if word.low in ("without", "ohne", "sans"):
            self.role = ""
            if self.negative:  # "never delete without asking" is "ask before deleting"
                self._add("before", word, WORD)
        self.negative = not self.negative
        self._verb_at(place, "")

    def _is_infinitive(self, place: int) -> bool:
        """Whether a verb follows: "no need to run the tests" says nothing of where."""
        after = stem(self.words[place + 1].low) if place + 1 < len(self.words) else ""
        return after in LIGHT or after in FIXED

    def _is_quality(self, place: int, low: str) -> bool:
        """Whether a word that could deny tells what sort of thing is spoken of: "the deprecated server listens"."""
        told = low in QUALITIES or low.endswith("ed")
        unfinished = low in ENDED  # "remove the old files" asks for something, and denies nothing
        return unfinished or (
            told and not self.personal and self.first_verb < 0 and not self.negative and place + 1 < len(self.words)
        )

    def _subject_ends(self, place: int) -> None:
        """What stood before the first "is" or "must" are nouns, even where they look like verbs: "releases are signed"."""
        ordered = self.personal or (self.first_verb == 0 and self.verb == self.words[0].low)
        if not ordered and self.verb != "be" and not any(not token.before_verb and token.role for token in self.tokens):
            self.tokens = [token._replace(before_verb=True) for token in self.tokens]
            self.first_verb, self.verb = place if self.tokens else self.first_verb, ""

    def _take_content(self, place: int, word: _Word, root: str) -> None:
        if (
            word.kind == WORD
            and root in OPPOSITES
            and (self.first_verb >= 0 or place == 0 or not root.startswith(("un", "in")))
        ):
            self.negative = self.negative if root in SAME_SIDE else not self.negative
            root = OPPOSITES[root]
        is_verb = word.kind == WORD and (root in LIGHT or root in FIXED or root in HOLDERS)
        if is_verb and root in ATTITUDES and not self.tokens:
            self.attitude = True
        if is_verb:
            if root in LIGHT and word.low == f"{root}s":
                self._subject_ends(place)
            self._verb_at(place, root)
        if word.kind == WORD and root in LIGHT:
            return
        self._add(root, word, word.kind, soft=word.kind == WORD and (root in SOFT or word.low in SOFT))

    def _verb_at(self, place: int, verb: str) -> None:
        if self.first_verb < 0:
            self.first_verb = len(self.tokens) and place
        if verb and (not self.verb or (self.verb in LIGHT | {"be"} and verb != "be")):
            self.verb = verb

    def _add(self, root: str, word: _Word, kind: str, *, soft: bool = False) -> None:
        before = self.first_verb < 0
        self.tokens.append(Token(root, word.shown, kind, self.role, len(self.tokens), before, soft))
        if soft and self.role == "by":
            self.role = ""  # "by default"


def _turned(statement: Statement) -> Statement:
    """ "X is the queue" says of the queue what it is: the name comes last, whichever way round it was put."""
    subject = [token for token in statement.tokens if token.before_verb and not token.soft]
    rest = [token for token in statement.tokens if not token.before_verb and not token.soft]
    named = subject and all(token.kind != WORD for token in subject)
    if not named or not rest or any(token.kind != WORD or token.role for token in rest):
        return statement
    ordered = [token._replace(before_verb=True) for token in rest]
    ordered += [token._replace(before_verb=False) for token in subject]
    softs = [token for token in statement.tokens if token.soft]
    return statement._replace(tokens=tuple(token._replace(place=place) for place, token in enumerate((*ordered, *softs))))


def _joined(words: list[_Word]) -> list[_Word]:
    """Numbers with their units as one word each, counted in the same unit; "no longer" as one denial."""
    joined: list[_Word] = []
    skip = 0
    for place, word in enumerate(words):
        if skip:
            skip -= 1
            continue
        after = words[place + 1].low if place + 1 < len(words) else ""
        low = word.low
        if stem(low) in ("pull", "merge") and after in ("request", "requests"):
            joined.append(_Word("pr", f"{word.shown} {after}", WORD))
            skip = 1
        elif (low, after) in (("no", "longer"), ("used", "to")):
            joined.append(_Word("not", f"{word.shown} {after}", WORD))
            skip = 1
        elif (low in ("any", "anymore") and after in ("more", "longer", "")) and any(each.low == "not" for each in joined):
            skip = 1 if low == "any" and after else 0
        elif low in FREQUENCIES and word.kind == WORD:
            unit = FREQUENCIES[low]
            each = _quantity("1", unit, word.shown) if unit in UNITS else _Word(unit, word.shown, WORD)
            joined += [_Word("every", "every", WORD), each]
        else:
            skip = _join_number(joined, word, after, words[place + 1].shown if after else "")
    return joined


def _join_number(joined: list[_Word], word: _Word, after: str, shown: str) -> int:
    """Add a word, as a number if it is one; returns how many of the words behind it were taken with it."""
    number = NUMBERS.get(word.low) if word.kind == WORD else word.low
    unit = stem(after) if after not in UNITS else after
    found = _QUANTITY.fullmatch(number) if number and word.kind != NAME else None
    if found and not found[2] and unit in UNITS:
        joined.append(_quantity(found[1], unit, f"{word.shown} {shown}"))
        return 1
    if found and found[2] in UNITS:
        joined.append(_quantity(found[1], found[2], word.shown))
    elif found or (number and word.kind == NUMBER):
        joined.append(_Word(number or "", word.shown, NUMBER))
    elif joined and joined[-1].low == "every" and stem(word.low) in UNITS:
        joined.append(_quantity("1", stem(word.low), word.shown))
    else:
        joined.append(word)
    return 0


def _quantity(number: str, unit: str, shown: str) -> _Word:
    base, factor = UNITS[unit if unit in UNITS else stem(unit)]
    return _Word(f"{float(number) * factor:g}{base}", shown, NUMBER)
