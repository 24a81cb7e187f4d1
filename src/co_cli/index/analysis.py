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
    from collections.abc import Callable
    from typing import Any

VERSION = 1
"""To be raised with any change to the terms of a text: indexes made by another version are made anew."""
TOKENIZER = "ascii tokenchars '_'"
"""What cuts the line of terms for FTS5: at blanks, since the terms hold nothing else that it would cut at."""

_CHUNKS_KEPT = 200_000
_TERM_LENGTH = 64
"""Characters of a term that count; what is longer is no word but data."""

_WORD = re.compile(r"[a-z0-9_]+")
# Words that are written as one: snake_case, kebab-case, dotted.path, scoped::name, camelCase, HTTPServer, C++ and C#.
_COMPOUND = re.compile(
    r"(?:[A-Za-z0-9]+(?:__?|[.-]|::))+[A-Za-z0-9]+"
    r"|[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*|[A-Z]{2,}[a-z][A-Za-z0-9]*"
    r"|\b[A-Za-z](?:\+\+|#)"
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
# Vowel signs of Indic scripts are no letters to Python, but they do not end a word.
_INDIC = "\u0900-\u0963\u0966-\u0dff\u0f00-\u0fff"
_RUN = rf"(?P<unspaced>[{_UNSPACED}]+)|(?:(?![{_UNSPACED}])[\w{_INDIC}])+"
_ACCENTS = "[\u0300-\u036f]+"
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "\u0131": "i", "·": " "})


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
    """The stem of each word, by SQLite's own Porter stemmer."""

    def __init__(self) -> None:
        self._stemmer: Callable[..., Any] | None = None

    def __missing__(self, word: str) -> str:
        if self._stemmer is None:
            self._stemmer = apsw.Connection(":memory:").fts5_tokenizer("porter", ["ascii", "tokenchars", "_"])
        cut = word[:_TERM_LENGTH]
        found: Any = self._stemmer(cut.encode("ascii"), apsw.FTS5_TOKENIZE_DOCUMENT, None) if cut.isalpha() else None
        stem: str = found[0][2] if found else cut
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
    if _COMPOUND.search(chunk):
        chunk = _COMPOUND.sub(_expand, chunk)
    if chunk.isascii():
        return [_stems[word] for word in _WORD.findall(chunk.lower())]
    return _of_any_script(chunk)


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


def _of_any_script(text: str) -> list[str]:
    folded = fold(text)
    if folded.isascii():
        return [_stems[word] for word in _WORD.findall(folded)]
    found: list[str] = []
    for run in re.finditer(_RUN, folded):
        word = run[0]
        if run["unspaced"]:
            found += map("".join, pairwise(word))
            found.append(word[-1])  # so that each sign of a run begins a term, and one sign alone can be looked for
        elif word.isascii():
            found.append(_stems[word])
        else:
            found.append(word[:_TERM_LENGTH])
    return found


def fold(text: str) -> str:
    """A text without case, accents and the variants of a letter."""
    if text.isascii():
        return text.lower()
    import unicodedata

    plain = re.sub(_ACCENTS, "", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFKC", plain).casefold().translate(_LETTERS)


def is_sign(term: str) -> bool:
    """Whether a term is one sign of a script without blanks: what begins with it is meant."""
    return len(term) == 1 and not term.isascii() and re.match(f"[{_UNSPACED}]", term) is not None
