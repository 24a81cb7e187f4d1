"""What is asked for, and what is found.

Owns the records that pass between a query and its answer. Knows nothing of how hits are found or shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from co_cli.note import GLOBAL, instant, is_expired

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from co_cli.note import Note, Problem

PHRASE, ALL, ANY, MEANING, BESIDE, FILTER = "phrase", "all words", "any word", "meaning", "beside", "filter"
QUERY_LIMIT = 1000
"""Characters of a query that are looked at: nobody means more than that."""


class Why(NamedTuple):
    """Why a note was found."""

    match: str
    """``phrase``, ``all words``, ``any word``; ``meaning`` where only the vectors are near each other, ``beside`` where
    the words stand in the notes around it, and ``filter`` where the query has no words but says which notes it wants."""
    words: tuple[str, ...]
    places: tuple[str, ...]
    """``body``, ``tags``, ``title``: where the words were found."""
    text: float | None = None
    """The share of the text score, between 0 and 1; ``None`` where no ranking by words was asked for."""
    vector: float | None = None
    """The cosine of the vectors of query and passage; ``None`` where there is none."""
    boosts: tuple[str, ...] = ()
    """What lifted the note beyond what it says: that it is recent, pinned, or of the time that was asked about."""
    standing: str | None = None
    """What it has superseded, or what has superseded it, and since when."""

    def __str__(self) -> str:
        words = f" ({', '.join(self.words)}) in {' and '.join(self.places)}" if self.words else ""
        scores = [
            f"{name} {value:.2f}" for name, value in (("text", self.text), ("vector", self.vector)) if value is not None
        ]
        return "; ".join((self.match + words, *scores, *self.boosts, *([self.standing] if self.standing else ())))


class Hit(NamedTuple):
    """A note that matched, with its score and the reason; of a long note, the passage that matched best."""

    note: Note
    score: float
    why: Why
    content: str
    """The text of the passage; of a short note, all of it."""
    heading: str = ""
    """The headings above the passage: ``Deploy > Rollback``."""
    line: int = 1
    """The line of the note's text on which the passage begins."""
    anchor: str = ""
    """The name of its heading, ``rollback``, as links have it; of several that of the one with what was found."""
    page: int = 0
    """The page of the document on which the passage stands; 0 where it has none."""
    stale: tuple[str, ...] = ()
    """What it takes for granted of the project, and is not so any more."""

    @property
    def is_passage(self) -> bool:
        """Whether what was found is less than the whole note."""
        return self.content.strip() != self.note.body.strip()

    @property
    def cite(self) -> str:
        """By what an answer says where it is from: ``12``, ``article:rfc-9110#routing``, ``article:rfc-9110 p. 12``."""
        if not self.is_passage:
            return self.note.ref
        return f"{self.note.ref}{f'#{self.anchor}' if self.anchor else ''}{f' p. {self.page}' if self.page else ''}"


class Recalled(NamedTuple):
    """The answer to a query: the hits, the mode that found them, and anything that held it back."""

    query: str
    mode: str
    hits: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    total: int = 0
    """How many notes matched, shown or not; a ranked search counts those that it ranked."""
    notices: tuple[str, ...] = ()
    """What people should know about this answer, such as what to install for a better one."""


class Filter(NamedTuple):
    """Which notes a query is put to."""

    kinds: tuple[str, ...]
    tags: tuple[str, ...] = ()
    category: str = ""
    key: str = ""
    expired: bool = False
    after: str = ""
    """The first day, or moment, on which a note may have been written."""
    before: str = ""
    """The day, or moment, before which a note has to be written."""
    superseded: bool = False
    """Whether notes are wanted as well whose place another has taken."""
    languages: Container[str] | None = None
    """The programming languages of the project: what was kept for those of other languages is left out."""

    def admits(self, note: Note) -> bool:
        """Whether a note is among those asked for."""
        return (
            (self.expired or not is_expired(note))
            and (not self.category or note.category == self.category)
            and (not self.key or note.key == self.key)
            and (not self.tags or {tag.casefold() for tag in self.tags} <= {tag.casefold() for tag in note.tags})
            and (self.languages is None or not note.language or note.vault != GLOBAL or note.language in self.languages)
            and (not self.after or instant(note.created) >= moment(self.after))
            and (not self.before or 0 < instant(note.created) < moment(self.before))
        )


class Means(NamedTuple):
    """What a search works with, as the user has set it."""

    cache: str
    """The folder of indexes that cannot lie in their vaults, and of models that were made on this machine."""
    embedder: str = "static"
    embedding_url: str = ""
    embedding_model: str = ""
    text_from: int = 200
    hybrid_from: int = 500
    """How many notes it takes for ``auto`` to rank by words, and by words and meaning."""
    fusion: str = "weighted"
    boosts: bool = True
    """Whether what is recent, pinned or often used comes a little higher."""
    usage_log: str = ""
    """The log of tool calls, which knows what is used; where there is none, nothing is."""
    progress: Callable[[str, int, int], None] | None = None
    """Told what is being done, how much of it is done, and how much there is."""


def moment(date: str) -> float:
    """The moment that a day, in local time, or an instant begins."""
    from datetime import datetime

    return datetime.fromisoformat(date).astimezone().timestamp()
