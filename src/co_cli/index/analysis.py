"""What a text is made of, for searching: the terms of a note and of a query, made the same way.

Owns lower case, accents, stems, the parts of identifiers, and scripts that put no blanks between words. Knows nothing of
tables. The terms of a text are written as one line with blanks between them; FTS5 only has to cut that line, so every rule
is here, and both sides of a search follow it.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import apsw

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

VERSION = 2
"""To be raised with any change to the terms of a text: indexes made by another version are made anew."""
TOKENIZER = "ascii tokenchars '_'"
"""What cuts the line of terms for FTS5: at blanks, since the terms hold nothing else that it would cut at."""

_CHUNKS_KEPT = 200_000
_TERM_LENGTH = 64
"""Characters of a term that count; what is longer is no word but data."""

_WORD = re.compile(r"[a-z0-9]+(?:_+[a-z0-9]+)*")
# Words that are written as one: snake_case, kebab-case, dotted.path, scoped::name, camelCase, HTTPServer, C++ and C#. They
# are looked for where a word begins only: a megabyte of letters without a blank would take hours else.
_COMPOUND = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"[A-Za-z0-9]++(?:(?:_++|[.-]|::)[A-Za-z0-9]++)+"
    r"|[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*|[A-Z]{2,}[a-z][A-Za-z0-9]*"
    r"|[A-Za-z](?:\+\+|#))"
)
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PIECE = re.compile(r"[A-Za-z0-9]+")
_SIGNS = {"++": "plusplus", "#": "sharp"}

# Scripts without blanks between words, and Hangul, whose words carry their particles: Thai to Lao, Myanmar, Khmer, kana,
# Han, Hangul.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# Vowel signs of Thaana and of Indic scripts are no letters to Python, but they do not end a word.
_INDIC = "\u07a6-\u07b0\u0900-\u0963\u0966-\u0dff\u0f00-\u0fff"
_RUN = rf"(?P<unspaced>[{_UNSPACED}]+)|(?:(?![{_UNSPACED}])[\w{_INDIC}])+"
# What people write or leave out: accents, the points of Hebrew, the short vowels and the stretching of Arabic, soft hyphens,
# and what has no width, such as the marks for the direction of a text.
_ACCENTS = (
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    "\u00ad\u200c-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]+"
)
_LETTERS = str.maketrans(
    dict(zip("øłđðıØŁĐÐ·", "olddiOLDD ", strict=True))
    | {"æ": "ae", "œ": "oe", "þ": "th", "ß": "ss", "Æ": "AE", "Œ": "OE", "Þ": "TH", "ẞ": "SS"}
)


# What no stemmer finds: the forms of an English word that are written unlike each other, and small numbers in letters. Each
# line ends with what the others are taken for. Questions and notes tell the same thing in different tenses: "When did we go
# to Oslo?" and "We went to Oslo". Left out is what is as often another word: "rose", "bound", "wound".
_SAME = """
    arose arisen arise, awoke awoken awake, beaten beat, became become, began begun begin, bent bend, bitten bite,
    blew blown blow, broke broken break, brought bring, built build, burnt burn, bought buy, caught catch,
    chose chosen choose, came come, crept creep, dealt deal, dug dig, drew drawn draw, dreamt dream, drank drunk drink,
    drove driven drive, ate eaten eat, fell fallen fall, fed feed, felt feel, fought fight, found find, fled flee,
    flew flown fly, forbade forbidden forbid, forgot forgotten forget, forgave forgiven forgive, froze frozen freeze,
    gave given give, went gone go, got gotten get, grew grown grow, hung hang, heard hear, hid hidden hide, held hold,
    kept keep, knew known know, laid lay, led lead, leapt leap, learnt learn, left leave, lent lend, lit light, lost lose,
    made make, meant mean, met meet, mistook mistaken mistake, overcame overcome, paid pay, proven prove, rode ridden ride,
    rang rung ring, risen rise, ran run, said say, saw seen see, sought seek, sold sell, sent send, sewn sew,
    shook shaken shake, shone shine, shot shoot, shown show, shrank shrunk shrink, sang sung sing, sank sunk sink, sat sit,
    slept sleep, slid slide, spoke spoken speak, sped speed, spent spend, spun spin, sprang sprung spring, stood stand,
    stole stolen steal, stuck stick, stung sting, struck strike, swore sworn swear, swept sweep, swollen swell,
    swam swum swim, swung swing, took taken take, taught teach, tore torn tear, told tell, thought think,
    threw thrown throw, understood understand, woke woken wake, wore worn wear, wove woven weave, wept weep, won win,
    withdrew withdrawn withdraw, wrote written write,
    children child, feet foot, geese goose, halves half, knives knife, lives life, loaves loaf, men man, mice mouse,
    people person, shelves shelf, teeth tooth, thieves thief, wives wife, wolves wolf, women woman,
    analyses analysis, axes axis, crises crisis, criteria criterion, hypotheses hypothesis, indices index,
    matrices matrix, phenomena phenomenon, theses thesis, vertices vertex,
    two 2, three 3, four 4, five 5, six 6, seven 7, eight 8, nine 9, ten 10, eleven 11, twelve 12
"""


class _Chunks(dict[str, list[str]]):
    """The terms of whatever stands between two blanks, found once: a language says the same words again and again."""

    def __missing__(self, chunk: str) -> list[str]:
        found = _of_chunk(chunk)
        if len(chunk) <= _TERM_LENGTH:
            if len(self) >= _CHUNKS_KEPT:  # chunks without end are no language
                self.clear()
            self[chunk] = found
        return found


class _Stems(dict[str, str]):
    """The stem of each word, by SQLite's own Porter stemmer; of a form that it cannot know, that of the plain word."""

    def __init__(self) -> None:
        self._stemmer: Callable[..., Any] | None = None
        self._same: dict[str, str] = {}

    def __missing__(self, word: str) -> str:
        if len(word) > _TERM_LENGTH:
            return self[word[:_TERM_LENGTH]]
        if self._stemmer is None:
            self._stemmer = apsw.Connection(":memory:").fts5_tokenizer("porter", ["ascii", "tokenchars", "_"])
            for *forms, plain in map(str.split, _SAME.split(",")):
                self._same.update(dict.fromkeys(forms, plain))
        plain = self._same.get(word, word)
        found: Any = self._stemmer(plain.encode("ascii"), apsw.FTS5_TOKENIZE_DOCUMENT, None) if plain.isalpha() else None
        stem: str = found[0][2] if found else plain
        if len(self) >= _CHUNKS_KEPT:
            self.clear()
        self[word] = stem
        return stem


_chunks = _Chunks()
_stems = _Stems()


def terms(text: str) -> list[str]:
    """The terms of a text, in its order."""
    return [term for chunk in text.split() for term in _chunks[chunk]]


def _of_chunk(chunk: str) -> list[str]:
    if not chunk.isascii():
        chunk = _plain(chunk)
    if _COMPOUND.search(chunk):
        chunk = _COMPOUND.sub(_expand, chunk)
    if chunk.isascii():
        return [_stems[word] for word in _WORD.findall(chunk.lower())]
    return _of_any_script(chunk.casefold())


def _expand(match: re.Match[str]) -> str:
    """A word made of words: the whole, so that it is found as it is written, and its parts."""
    whole = match[0]
    sign = whole[1:]
    if sign in _SIGNS:
        return f" {whole[0]}_{_SIGNS[sign]} {whole[0]} "
    pieces = _PIECE.findall(whole)
    parts = []
    for piece in pieces:
        humps = _HUMPS.findall(piece) if not (piece.islower() or piece.isupper() or piece.isdigit()) else [piece]
        if len(humps) > 1 and not piece[1:].islower():
            parts += [piece, *humps] if len(pieces) == 1 else humps
        else:
            parts.append(piece)
    return f" {'_'.join(pieces)} {' '.join(parts)} " if len(pieces) > 1 else f" {' '.join(parts)} "


def _of_any_script(folded: str) -> list[str]:
    found: list[str] = []
    for run in re.finditer(_RUN, folded):
        word = run[0]
        if run["unspaced"]:
            found += map("".join, pairwise(word))
            found.append(word[-1])  # so that each sign of a run begins a term, and one sign alone can be looked for
            continue
        parts = [part for part in word.split("_") if part]
        found += [_term("_".join(parts)), *map(_term, parts)] if len(parts) > 1 else map(_term, parts)
    return found


def _term(word: str) -> str:
    return _stems[word] if word.isascii() else word[:_TERM_LENGTH]


def _plain(text: str) -> str:
    """A text without accents and the variants of a letter."""
    import unicodedata

    plain = re.sub(_ACCENTS, "", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFKC", plain).translate(_LETTERS)


def sought(row: Sequence[str]) -> str:
    """What is found in a line of terms where this row of them stands in it; of a sign at its end, what begins with it."""
    return f" {' '.join(row)}" if is_sign(row[-1]) else f" {' '.join(row)} "


def asked_for(text: str) -> tuple[str, ...]:
    """The terms of what is looked for: the last sign of a run in a script without blanks stands in its last pair already."""
    found = terms(text)
    return tuple(found[:-1] if len(found) > 1 and is_sign(found[-1]) and found[-2][1:] == found[-1] else found)


def is_sign(term: str) -> bool:
    """Whether a term is one sign of a script without blanks: what begins with it is meant."""
    return len(term) == 1 and not term.isascii() and re.match(f"[{_UNSPACED}]", term) is not None
