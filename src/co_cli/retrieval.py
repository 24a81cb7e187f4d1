"""From a query to hits.

Owns matching and ranking. Reads notes through the vault only; knows nothing of how hits are shown.

There is one tier so far, ``grep``: every note is read at each query, so an answer is never stale. Whole phrase first, then
all words, then any; within that newest first; in body and tags, whatever the case. A query of one word therefore finds
just the notes that contain it. The ranked tiers take their place beside :func:`grep`, behind :func:`retrieve`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import Invalid
from co_cli.note import instant, is_expired

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from co_cli.note import Note, Problem
    from co_cli.vault import Vault

MODES = ("auto", "grep")
QUERY_LIMIT = 1000
"""Characters of a query that are looked at: nobody means more than that."""

PHRASE, ALL, ANY = "phrase", "all words", "any word"
_SCORE = {PHRASE: 1.0, ALL: 0.75, ANY: 0.5}
_MARKS = ".,;:!?"
"""What a sentence puts around a word, which is then not part of what is looked for."""
# Words that say nothing by themselves: they do not make a note match where the query has other words.
_STOP_WORDS = frozenset(
    [
        "a",
        "about",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "by",
        "can",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "how",
        "i",
        "if",
        "in",
        "is",
        "it",
        "its",
        "me",
        "my",
        "of",
        "on",
        "or",
        "our",
        "so",
        "that",
        "the",
        "their",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "us",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
        "will",
        "with",
        "you",
        "your",
    ]
)


class Why(NamedTuple):
    """Why a note was found."""

    match: str
    """``phrase``, ``all words`` or ``any word``."""
    words: tuple[str, ...]
    places: tuple[str, ...]
    """``body``, ``tags``, or both."""

    def __str__(self) -> str:
        return f"{self.match} ({', '.join(self.words)}) in {' and '.join(self.places)}"


class Hit(NamedTuple):
    """A note that matched, with its score and the reason."""

    note: Note
    score: float
    why: Why

    @property
    def whole(self) -> bool:
        """Whether what matched are whole words of the note, not parts of others."""
        text = "\n".join((" ".join(_fold(self.note.body).split()), *map(_fold, self.note.tags)))
        return all(_has_word(word, text) for word in self.why.words)


class Recalled(NamedTuple):
    """The answer to a query: the hits, the mode that found them, and anything that held it back."""

    query: str
    mode: str
    hits: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    total: int = 0
    """How many notes matched, shown or not."""


class Filter(NamedTuple):
    """Which notes a query is put to."""

    kinds: tuple[str, ...]
    tags: tuple[str, ...] = ()
    category: str = ""
    key: str = ""
    expired: bool = False

    def admits(self, note: Note) -> bool:
        """Whether a note is among those asked for."""
        return (
            (self.expired or not is_expired(note))
            and (not self.category or note.category == self.category)
            and (not self.key or note.key == self.key)
            and (not self.tags or {tag.casefold() for tag in self.tags} <= {tag.casefold() for tag in note.tags})
        )


def retrieve(vaults: Iterable[Vault], query: str, *, mode: str, limit: int, only: Filter) -> Recalled:
    """Answer a query from these vaults."""
    if mode not in MODES:
        raise Invalid(f"There is no mode {mode!r}.", f"Modes: {', '.join(MODES)}.")
    if limit < 1:
        raise Invalid("The number of results must be 1 or more.")
    if not query.strip(' \t\r\n"'):
        raise Invalid("The query is empty.", 'Say what to look for: co recall "async"')
    return grep(vaults, query[:QUERY_LIMIT], limit=limit, only=only)


def grep(vaults: Iterable[Vault], query: str, *, limit: int, only: Filter) -> Recalled:
    """Look for the query in the text of every note."""
    matcher = _Matcher.of(query)
    hits: list[Hit] = []
    problems: list[Problem] = []
    for vault in vaults:
        scan = vault.scan(only.kinds, wanted=matcher.prefilter())
        problems.extend(scan.problems)
        hits.extend(hit for hit in map(matcher.hit, filter(only.admits, scan.notes)) if hit)
    if len(hits) > 1:
        hits.sort(key=lambda hit: (hit.score, instant(hit.note.created), hit.note.id or 0), reverse=True)
    return Recalled(query, "grep", tuple(hits[:limit]), problems=tuple(problems), total=len(hits))


class _Matcher(NamedTuple):
    phrase: str
    words: tuple[str, ...]

    @classmethod
    def of(cls, query: str) -> _Matcher:
        phrase = " ".join(_fold(query).split())
        found = (word.strip(_MARKS) or word for word in re.findall(r"[^\s\"]+", phrase))
        words = tuple(dict.fromkeys(found))
        telling = tuple(word for word in words if word not in _STOP_WORDS)
        return cls(phrase.strip('"'), telling or words)

    def prefilter(self) -> Callable[[bytes], bool]:
        """A cheap test of a file's bytes that never says no to a note that matches."""
        needles = self.words or (self.phrase,)
        plain = tuple(needle.encode() for needle in needles if needle.isascii())

        def wanted(raw: bytes) -> bool:
            if raw.isascii():
                low = raw.lower()
                if any(needle in low for needle in plain):
                    return True
                return b"\\" in raw or b"''" in raw  # a tag may be written with escapes
            folded = _folded(raw)
            return any(needle in folded for needle in needles)

        return wanted

    def hit(self, note: Note) -> Hit | None:
        body = " ".join(_fold(note.body).split())
        tags = [_fold(tag) for tag in note.tags]
        phrase_places = _places(self.phrase, body, tags)
        if phrase_places:
            return Hit(note, _SCORE[PHRASE], Why(PHRASE, (self.phrase,), phrase_places))
        found = {word: places for word in self.words if (places := _places(word, body, tags))}
        if not found:
            return None
        match = ALL if len(found) == len(self.words) else ANY
        where = {place for places in found.values() for place in places}
        return Hit(note, _SCORE[match], Why(match, tuple(found), tuple(sorted(where))))


def _has_word(word: str, text: str) -> bool:
    before = r"(?<!\w)" if re.match(r"[a-z0-9_]", word) else ""  # scripts without spaces have no such borders
    after = r"(?!\w)" if re.search(r"[a-z0-9_]$", word) else ""
    return re.search(before + re.escape(word) + after, text) is not None


def _places(needle: str, body: str, tags: list[str]) -> tuple[str, ...]:
    in_tags = any(needle in tag for tag in tags)
    return (("body",) if needle in body else ()) + (("tags",) if in_tags else ())


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    import unicodedata

    return unicodedata.normalize("NFC", text.casefold())


def _folded(raw: bytes) -> str:
    return _fold(raw.decode("utf-8", "replace"))
