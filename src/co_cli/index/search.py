"""Asking the index: which passages hold the terms of a query, and which notes they belong to.

Owns the full-text queries and what keeps them cheap. Knows nothing of how candidates are scored.

Full text costs what its matches cost: every passage that holds one of the terms is ranked, so a frequent word would decide
the price of a query to which it adds little. The number of passages that hold a term is known, so only the rare terms of a
query drive the search, as many of them as a budget of matches allows. The frequent ones count all the same where the
candidates are scored. Where even the rarest term is in more passages than any search may rank, those are ranked that came
last: among so many that say it, there are always some that say it as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from co_cli.index.analysis import is_sign
from co_cli.index.database import Damaged, complaints
from co_cli.index.store import as_text, named

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from co_cli.index.store import Index

_BUDGET = 2000
_SHARE = 16
"""What the terms of a query may match: so many passages and, of a large index, one in so many."""
_MOST = 30_000
"""Passages that any search ranks at most, however many there are; about 10 ms."""
_TERMS = 48
"""Terms that drive a search at most."""


class Terms(NamedTuple):
    """The terms that a query is made of."""

    words: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...] = ()
    """Rows of terms that have to be there as they stand."""


class Narrowing(NamedTuple):
    """Which notes are asked for, as far as the index knows them."""

    kinds: tuple[str, ...]
    all_kinds: bool = True
    tags: tuple[str, ...] = ()
    category: str = ""
    key: str = ""
    after: float | None = None
    before: float | None = None
    today: str = ""
    """Notes that have expired before this day are left out; empty: none are."""
    languages: Container[str] | None = None
    """Notes for other programming languages are left out; ``None``: none are."""

    def condition(self, index: Index) -> tuple[str, list[object]]:
        """What a note has to be, as SQL with its values; empty where every note will do."""
        parts: list[str] = []
        values: list[object] = []
        with complaints(index.path):
            some_expire = bool(
                self.today and index.connection.execute("SELECT 1 FROM notes WHERE expires != '' LIMIT 1").get
            )

        def demand(sql: str, *given: object) -> None:
            parts.append(sql)
            values.extend(given)

        if not self.all_kinds and self._leaves_out(index):
            demand(f"n.kind IN ({','.join('?' * len(self.kinds))})", *self.kinds)
        for tag in self.tags:
            demand("instr(n.tags, ?)", f"\n{as_text(tag).casefold()}\n")
        for column, value in (("category", self.category), ("key", self.key)):
            if value:
                demand(f"n.{column} = ?", as_text(value))
        if self.after is not None:
            demand("n.created >= ?", self.after)
        if self.before is not None:
            demand("n.created < ? AND n.created > 0", self.before)
        if some_expire:
            demand("(n.expires = '' OR n.expires >= ?)", self.today)
        foreign = self._foreign(index)
        if foreign:
            demand(f"n.language NOT IN ({','.join('?' * len(foreign))})", *foreign)
        return " AND ".join(parts), values

    def _foreign(self, index: Index) -> list[str]:
        """The languages of notes that are for others."""
        if self.languages is None:
            return []
        with complaints(index.path):
            named = index.connection.execute("SELECT DISTINCT language FROM notes WHERE language != ''")
            return [language for (language,) in named if language not in self.languages]

    def _leaves_out(self, index: Index) -> bool:
        """Whether there are notes of other kinds: where there are only topics, to ask for topics is to ask for all."""
        kind: object = ""
        while kind is not None:
            kind = index.connection.execute("SELECT min(kind) FROM notes WHERE kind > ?", (kind,)).get
            if kind is not None and kind not in self.kinds:
                return True
        return False


class Passage(NamedTuple):
    """A passage as the index holds it, with the note that it belongs to."""

    id: int
    start: int
    stop: int
    line: int
    heading: str
    length: int
    name: str
    tags: str
    body: str
    note: int
    kind: str
    file: str
    number: int | None
    title: str
    parts: int
    """Passages of the note."""
    sha: bytes
    stamp: int
    created: float
    pinned: int
    anchor: str = ""
    page: int = 0


def frequencies(index: Index, words: Iterable[str]) -> dict[str, int]:
    """How many passages hold each of these terms; those of frequent ones as they were last counted."""
    wanted = list(dict.fromkeys(words))
    marks = ",".join("?" * len(wanted))
    with complaints(index.path):
        query = f"SELECT term, passages FROM frequent WHERE term IN ({marks})"
        known = dict(index.connection.execute(query, wanted))
        rest = [word for word in wanted if word not in known]
        for word in rest:
            known[word] = index.connection.execute("SELECT doc FROM vocabulary WHERE term = ?", (word,)).get or 0
    return known


def files_with(index: Index, category: str, key: str) -> list[str]:
    """The files of the memories that have a category and a key."""
    query = "SELECT name FROM notes WHERE key = ? AND key != '' AND category = ? AND kind = 'memory'"
    with complaints(index.path):
        return [named(name) for (name,) in index.connection.execute(query, (as_text(key), as_text(category)))]


def matching(index: Index, terms: Terms, frequency: dict[str, int], narrowing: Narrowing, limit: int) -> list[int]:
    """The ids of the passages that match best, by the full-text index's own ranking."""
    totals = index.totals()
    drivers = _drivers(terms, frequency, min(max(_BUDGET, totals.passages // _SHARE), _MOST))
    expression = _expression(terms, drivers)
    if not expression:
        return []
    condition, values = narrowing.condition(index)
    narrowed = ""
    matches = sum(frequency.get(term, 0) for term in drivers)
    if condition:
        narrowed = f"AND +rowid IN (SELECT p.id FROM notes n JOIN passages p ON p.note = n.id WHERE {condition})"
    elif matches > _MOST and not terms.phrases:
        narrowed = "AND rowid > (SELECT max(id) FROM passages) - ?"
        values = [totals.passages * _MOST // matches]
    # ordered by a value and not by the column, which would have FTS5 sort all matches where only the best are wanted
    query = f"SELECT rowid FROM search WHERE search MATCH ? {narrowed} ORDER BY +rank LIMIT ?"
    with complaints(index.path):
        return [row[0] for row in index.connection.execute(query, (expression, *values, limit))]


def _drivers(terms: Terms, frequency: dict[str, int], budget: int) -> list[str]:
    """The terms to look for: the rarest, as many as the budget allows, but one at least."""
    drivers: list[str] = []
    matches = 0
    for term in sorted(terms.words, key=lambda term: frequency.get(term, 0)):
        cost = frequency.get(term, 0)
        if (drivers and matches + cost > budget) or len(drivers) == _TERMS:
            break
        if cost or is_sign(term):
            drivers.append(term)
            matches += cost
    return drivers


def _expression(terms: Terms, drivers: list[str]) -> str:
    """The query in the language of the full-text index; every term is quoted, so that none can be an operator."""
    if terms.phrases:  # a phrase has to be there; the words beside it only rank
        return " AND ".join(map(_quoted, terms.phrases))
    return " OR ".join(_quoted((term,)) for term in drivers)


def _quoted(row: Sequence[str]) -> str:
    return f'"{" ".join(row)}"' + ("*" if is_sign(row[-1]) else "")


_PASSAGES = """
    SELECT p.id, p.start, p.stop, p.line, p.heading, p.length, p.name, p.tags, p.body,
           n.id, n.kind, n.name, n.number, n.title, n.parts, n.sha, n.stamp, n.created, n.pinned, p.anchor, p.page
    FROM passages p JOIN notes n ON n.id = p.note
"""


def passages(index: Index, ids: Iterable[int]) -> list[Passage]:
    """The passages with these ids, with their notes."""
    wanted = set(ids)
    with complaints(index.path):
        found = _read(index, f"{_PASSAGES} WHERE p.id IN ({','.join(map(str, wanted))})")
    if len(found) < len(wanted):
        raise Damaged("it has terms or vectors of passages that it does not have", index.path)
    return found


def passages_of(index: Index, notes: Iterable[int]) -> list[Passage]:
    """The passages of these notes."""
    with complaints(index.path):
        query = f"{_PASSAGES} WHERE p.note IN ({','.join(map(str, notes))})"
        return _read(index, query)


def _read(index: Index, query: str) -> list[Passage]:
    found = [Passage(*row) for row in index.connection.execute(query)]
    return [passage._replace(file=named(passage.file)) if "/" in passage.file else passage for passage in found]


def beside(index: Index, near: Iterable[Passage], reach: int, seconds: float, narrowing: Narrowing) -> list[int]:
    """The passages of the notes that are numbered next to those of these passages, under the same title or, where there is
    none, made within so many seconds.
    """
    condition, values = narrowing.condition(index)
    with complaints(index.path):
        rows = index.connection.execute(
            "SELECT DISTINCT n.id FROM notes o CROSS JOIN notes n ON n.kind = o.kind"
            " AND n.number BETWEEN o.number - ? AND o.number + ? AND n.id != o.id"
            " AND n.title = o.title AND (n.title != '' OR abs(n.created - o.created) < ?)"
            f" WHERE o.id IN ({','.join(str(passage.note) for passage in near)}) {f'AND {condition}' if condition else ''}",
            (reach, reach, seconds, *values),
        )
        notes = [row[0] for row in rows]
        query = f"SELECT id FROM passages WHERE note IN ({','.join(map(str, notes))})"
        return [row[0] for row in index.connection.execute(query)] if notes else []
