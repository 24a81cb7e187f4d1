"""The index of one vault: what is known of each note, and the terms and places of its passages.

Owns every statement that writes, and what a note becomes in the tables. Knows nothing of files: it is told what is in them.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from co_cli.index.analysis import terms
from co_cli.index.database import Damaged, complaints, discard, open_database, open_existing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

FREQUENT = 256
"""Passages that hold a term from which on it counts as frequent: asking the full-text index for it begins to cost."""
_GROWTH = 1.1
"""How much an index may change before the frequent terms are counted anew."""


class Part(NamedTuple):
    """A passage as it is handed over: its place, and its text."""

    start: int
    stop: int
    line: int
    heading: str
    text: str
    digest: int
    anchor: str = ""
    page: int = 0


class Entry(NamedTuple):
    """A note as it is handed over to the index."""

    kind: str
    name: str
    stamp: int
    sha: bytes | None
    problem: str | None = None
    number: int | None = None
    title: str = ""
    tags: tuple[str, ...] = ()
    created: float = 0.0
    category: str = ""
    key: str = ""
    expires: str = ""
    pinned: bool = False
    private: bool = False
    language: str = ""
    parts: Sequence[Part] = ()
    links: Sequence[tuple[str, str, int]] = ()
    """Where each link leads, as it is written, and its line."""
    aliases: tuple[str, ...] = ()
    """Other titles that it is found by."""


class Known(NamedTuple):
    """What the index knows of a file."""

    id: int
    stamp: int
    sha: bytes | None


class Totals(NamedTuple):
    """How much there is to be searched."""

    passages: int
    terms: int
    vectors: int


TOPIC = "topic"
"""The kind of notes that are looked up by their tags alone."""
_TABLES = ("topic_tags", "meta", "notes", "links", "frequent", "vocabulary", "codes")
_KEPT = (
    *("stamp", "sha", "problem", "number", "title", "tags", "created"),
    *("category", "key", "expires", "pinned", "private", "language", "parts"),
)
_PUT = f"""
    INSERT INTO notes (kind, name, {", ".join(_KEPT)}) VALUES (?, ?{", ?" * len(_KEPT)})
    ON CONFLICT (kind, name) DO UPDATE SET {", ".join(f"{column} = excluded.{column}" for column in _KEPT)}
    RETURNING id
"""
_TAKE_OUT = """
    SELECT id, digest, vector, code FROM passages LEFT JOIN vectors v ON v.passage = id LEFT JOIN codes c ON c.passage = id
    WHERE note = ?
"""
_PUT_PASSAGE = """
    INSERT INTO passages (note, start, stop, line, heading, digest, anchor, page, length, name, tags, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def as_line(found: list[str]) -> str:
    """Terms in a line that begins and ends with a blank, so that each is found by what it stands between."""
    return f" {' '.join(found)} " if found else ""


def folded_tags(tags: Iterable[str]) -> str:
    """Tags as they are compared: each between line ends."""
    return "".join(f"\n{tag.casefold()}" for tag in tags) + "\n" if tags else ""


def as_text(text: str) -> str:
    """A text that can be written: halves of signs, which no file can hold, become question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def stored(name: str) -> str:
    """A file's name as a text: bytes that are none, and the slashes of a path, are written with a slash and their number."""
    if name.isascii() and "/" not in name:
        return name
    return re.sub("[/\udc80-\udcff]", lambda sign: f"/{ord(sign[0]) & 0xFF:02x}", name)


def named(text: str) -> str:
    """The name that was stored like this."""
    return re.sub("/(..)", _unescaped, text) if "/" in text else text


def _unescaped(sign: re.Match[str]) -> str:
    return "/" if sign[1] == "2f" else chr(0xDC00 + int(sign[1], 16))


class Index:
    """The index of one vault, open in this process."""

    def __init__(self, path: str, *, as_it_is: bool = False) -> None:
        """Open the index, made anew where it cannot be used; ``as_it_is`` raises ``Damaged`` then, and makes nothing."""
        self.path = path
        self.connection, self._born, self.rebuilt = open_existing(path) if as_it_is else open_database(path)
        self.has_vectors: bool | None = None
        """Whether sqlite-vec is there; ``None`` until somebody has asked."""

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    def discard(self) -> None:
        """Remove the file of an index that turned out to be damaged."""
        self.close()
        discard(self.path, self._born)

    # ----------------------------------------------------------------------------------------------------------- writing

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write in one transaction: the others see all of it or nothing."""
        with complaints(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                self._check_same()
                yield
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise
            self.connection.execute("COMMIT")

    def _check_same(self) -> None:
        """Refuse to go on with an index that another process has made anew since this one looked at the files."""
        if str(self.connection.execute("SELECT value FROM meta WHERE key = 'born'").get or "") != self._born:
            raise Damaged("it was made anew by another process", self.path)

    def put(self, entry: Entry) -> None:
        """Take a note in, in the place of what was known of its file."""
        known = self.find(entry.kind, entry.name)
        vectors = self._take_out_passages(known.id) if known else {}
        fields = (entry.kind, stored(entry.name), *entry[2:7], folded_tags(entry.tags), *entry[8:15], len(entry.parts))
        note = self.connection.execute(_PUT, fields).get
        if entry.kind == TOPIC:
            self._put_tags(note, entry.tags)
        title, tags = terms(" ".join((entry.title, *entry.aliases))), terms(" ".join(entry.tags))
        for part in entry.parts:
            name = title + terms(part.heading) if part.heading else title
            body = terms(part.text)
            length = 2 * len(name) + len(tags) + len(body)
            place = (part.start, part.stop, part.line, part.heading, part.digest, part.anchor, part.page)
            self.connection.execute(_PUT_PASSAGE, (note, *place, length, *map(as_line, (name, tags, body))))
            if part.digest in vectors:
                self.put_vectors([(self.connection.last_insert_rowid(), *vectors[part.digest])])
        if entry.links:
            self.connection.executemany("INSERT INTO links VALUES (?, ?, ?, ?)", [(note, *link) for link in entry.links])

    def _put_tags(self, note: object, tags: Iterable[str]) -> None:
        self.connection.execute("DELETE FROM topic_tags WHERE note = ?", (note,))
        self.connection.executemany(
            "INSERT OR IGNORE INTO topic_tags VALUES (?, ?)", [(tag.casefold(), note) for tag in tags]
        )

    def touch(self, note: int, stamp: int) -> None:
        """Note that a file was looked at again and holds what it held."""
        self.connection.execute("UPDATE notes SET stamp = ? WHERE id = ? AND stamp != ?", (stamp, note, stamp))

    def rename(self, former: tuple[str, str], kind: str, name: str) -> None:
        """Note that a file has another name now; a kind and a name are what it was known by."""
        query = "UPDATE notes SET kind = ?, name = ? WHERE kind = ? AND name = ?"
        self.connection.execute(query, (kind, stored(name), former[0], stored(former[1])))

    def remove(self, note: int) -> None:
        """Forget a note, with its passages, links and vectors."""
        self._take_out_passages(note)
        self.connection.execute("DELETE FROM notes WHERE id = ?", (note,))

    def _take_out_passages(self, note: int) -> dict[int, tuple[bytes, bytes | None]]:
        """Remove the passages and links of a note; returns the vectors by the digest of what they were made of."""
        rows: list[Any] = self.connection.execute(_TAKE_OUT, (note,)).fetchall()
        self.connection.executemany("DELETE FROM vectors WHERE passage = ?", [(row[0],) for row in rows])
        self.connection.execute("DELETE FROM passages WHERE note = ?; DELETE FROM links WHERE note = ?", (note, note))
        return {digest: (vector, code) for _passage, digest, vector, code in rows if vector is not None}

    def put_vectors(self, rows: Iterable[tuple[int, bytes, bytes | None]]) -> None:
        """Keep the vectors of passages with their codes; a passage that has gone meanwhile is passed over."""
        for passage, vector, code in rows:
            if self.connection.execute("SELECT 1 FROM passages WHERE id = ?", (passage,)).get:
                self.connection.execute("INSERT OR IGNORE INTO vectors VALUES (?, ?)", (passage, vector))
                if code:
                    self.connection.execute("INSERT OR IGNORE INTO codes VALUES (?, ?)", (passage, code))

    def count_frequent(self) -> None:
        """Count the terms that many passages hold, where the index has changed enough since the last time."""
        passages = self.totals().passages
        counted = self.meta("frequent") or 1
        if passages < FREQUENT or counted / _GROWTH <= passages <= counted * _GROWTH:
            return
        with self.writing():
            self.connection.execute("DELETE FROM frequent")
            self.connection.execute("INSERT INTO frequent SELECT term, doc FROM vocabulary WHERE doc >= ?", (FREQUENT,))
            self.set_meta("frequent", passages)

    def set_meta(self, key: str, value: str | int) -> None:
        """Remember something about the index as a whole."""
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def tidy(self) -> None:
        """Leave nothing of what was removed in the files of the index."""
        with complaints(self.path):
            self.connection.pragma("wal_checkpoint", "TRUNCATE")

    # ----------------------------------------------------------------------------------------------------------- reading

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read one state of the index, whatever others write meanwhile."""
        with complaints(self.path):
            self.connection.execute("BEGIN")
            try:
                self._check_same()
                yield
            finally:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")

    def meta(self, key: str) -> Any:  # noqa: ANN401 - a number or a text, as it was given
        """What was remembered about the index, or ``None``."""
        with complaints(self.path):
            return self.connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).get

    def version(self) -> int:
        """A number that changes when another process has written."""
        with complaints(self.path):
            return int(self.connection.pragma("data_version"))

    def stamps(self, kind: str) -> dict[str, int]:
        """The stamp of each file of a kind that is known."""
        with complaints(self.path):
            known: dict[str, int] = dict(self.connection.execute("SELECT name, stamp FROM notes WHERE kind = ?", (kind,)))
        return {named(name): stamp for name, stamp in known.items()} if "/" in "".join(known) else known

    def hashes(self, kind: str) -> dict[str, bytes | None]:
        """The hash of each file of a kind, as it was read into the index."""
        with complaints(self.path):
            rows: list[Any] = self.connection.execute("SELECT name, sha FROM notes WHERE kind = ?", (kind,)).fetchall()
        return {named(name): sha for name, sha in rows}

    def find(self, kind: str, name: str) -> Known | None:
        """What is known of a file."""
        with complaints(self.path):
            query = "SELECT id, stamp, sha FROM notes WHERE kind = ? AND name = ?"
            row = self.connection.execute(query, (kind, stored(name))).fetchone()
            return Known(*row) if row else None

    def files_numbered(self, number: int) -> list[str]:
        """The names of the files of memories with a number."""
        with complaints(self.path):
            rows: Any = self.connection.execute("SELECT name FROM notes WHERE kind = 'memory' AND number = ?", (number,))
            return [named(row[0]) for row in rows]

    def titles(self) -> list[tuple[int, str, str, int | None, str]]:
        """The id of every note, with its kind, the name of its file, its number, and its title."""
        query = "SELECT id, kind, name, number, title FROM notes WHERE problem IS NULL"
        with complaints(self.path):
            rows: list[Any] = self.connection.execute(query).fetchall()
        return [(note, kind, named(name), number, title) for note, kind, name, number, title in rows]

    def links_of(self, note: int) -> list[tuple[str, str, int]]:
        """Where the links of a note lead, as they are written, and their lines."""
        query = "SELECT target, written, line FROM links WHERE note = ? ORDER BY line"
        with complaints(self.path):
            rows: list[Any] = self.connection.execute(query, (note,)).fetchall()
            return rows

    def links_to(self, keys: Sequence[str]) -> list[tuple[int, str, str, int]]:
        """The notes with links to any of these, with what such a link says, as it is written, and its line."""
        query = f"SELECT note, target, written, line FROM links WHERE target IN ({','.join('?' * len(keys))})"
        with complaints(self.path):
            rows: list[Any] = self.connection.execute(query, keys).fetchall()
            return rows

    def unsound(self) -> str:
        """What is wrong inside of the index; empty where it holds together."""
        try:
            with complaints(self.path):
                found = self.connection.execute("PRAGMA quick_check(1)").get
                if found != "ok":
                    return str(found)
                self.connection.execute("INSERT INTO search (search, rank) VALUES ('integrity-check', 1)")
                for table in _TABLES:
                    self.connection.execute(f"SELECT 1 FROM {table} LIMIT 1")
                counted: Any = self.connection.execute(
                    "SELECT count(*), coalesce(sum(length), 0), (SELECT count(*) FROM vectors) FROM passages"
                ).fetchone()
                lost = self.connection.execute(
                    "SELECT EXISTS (SELECT 1 FROM passages WHERE note NOT IN (SELECT id FROM notes))"
                    " OR EXISTS (SELECT 1 FROM vectors WHERE passage NOT IN (SELECT id FROM passages))"
                ).get
            fits = Totals(*counted) == self.totals() and not lost
        except Damaged as error:
            return str(error)
        return "" if fits else "its parts do not fit together"

    def topics_tagged(self, tags: Sequence[str], limit: int) -> dict[str, int]:
        """The files of the topics with most of these tags, with how many of them each has."""
        query = f"""
            SELECT n.name, t.found FROM (
                SELECT note, count(*) AS found FROM topic_tags WHERE tag IN ({",".join("?" * len(tags))})
                GROUP BY note ORDER BY found DESC, note LIMIT ?
            ) t JOIN notes n ON n.id = t.note WHERE n.problem IS NULL
        """
        with complaints(self.path):
            rows: list[Any] = self.connection.execute(query, (*tags, limit)).fetchall()
            return {named(name): found for name, found in rows}

    def problems(self, kinds: Iterable[str]) -> list[tuple[str, str, str]]:
        """The kind, name and problem of each file that is no note."""
        # named, since SQLite would rather look through every note of the kind
        query = "SELECT kind, name, problem FROM notes INDEXED BY notes_problem WHERE kind = ? AND problem IS NOT NULL"
        with complaints(self.path):
            rows: list[Any] = [row for kind in kinds for row in self.connection.execute(query, (kind,))]
        return [(kind, named(name), problem) for kind, name, problem in rows]

    def totals(self) -> Totals:
        """How many passages there are, and how many terms in them."""
        with complaints(self.path):
            row: Any = self.connection.execute("SELECT passages, terms, vectors FROM totals").fetchone()
        if not row:
            raise Damaged("it does not know how much it holds", self.path)
        return Totals(*row)
