"""The log of tool calls: which tool, when, for how long, with what outcome, and which notes came back.

Owns ``usage.db`` in the state folder: its schema, its one way of writing, and its pruning. Knows nothing of notes: a note is
the key of its vault and a name. No text of a note is ever in it, and none of a call unless that is switched on. Beside the
calls it has what learning has cost, and marks of the turns of conversations that were looked through for what to learn.

The log serves the tools and never stands in their way. Many processes write to it at once; who cannot write says so once,
and goes on.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import apsw

from co_cli.errors import Corrupt, Unavailable
from co_cli.files import locked, make_folder
from co_cli.warmth import weight

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

KEPT_DAYS, KEPT_CALLS, KEPT_BYTES = 180, 100_000, 32 * 1024 * 1024
"""What is kept of the log: the older calls, those above this number, and those above this size go."""
ARGUMENTS_LIMIT = 500
"""Characters of a call's arguments that are kept, where they are kept at all."""
OK = "ok"
"""The outcome of a call that did what was asked; any other is the kind of its error."""

_APPLICATION = 0x636F7531  # "cou1": a database of another program is not taken for ours
_PATIENCE_MS = 1000
_DAY = 86400.0
_FAINT = 0.01
_LOG_PAGES = 200
"""Pages of the write-ahead log, which every process that opens the file has to look through."""
_PRUNE_EVERY, _PRUNED_AT_ONCE = 256, 2000

# Append only: what has been released stays as it is. The file remembers in user_version how many of these it has seen.
MIGRATIONS = (
    """
    CREATE TABLE calls (
        id INTEGER PRIMARY KEY,
        at REAL NOT NULL,               -- seconds since 1970
        tool TEXT NOT NULL,
        surface TEXT NOT NULL,          -- chat, mcp, http, python
        ms REAL NOT NULL,
        outcome TEXT NOT NULL,
        arguments TEXT                  -- null unless the user has switched it on
    );
    CREATE INDEX calls_at ON calls (at, tool);
    CREATE TABLE notes (
        id INTEGER PRIMARY KEY,
        vault TEXT NOT NULL, name TEXT NOT NULL,
        warmth REAL NOT NULL,           -- the sum of its uses, each weighed by its moment
        UNIQUE (vault, name)
    );
    CREATE INDEX notes_warmth ON notes (warmth);
    CREATE TABLE returned (call INTEGER NOT NULL, note INTEGER NOT NULL, PRIMARY KEY (call, note)) WITHOUT ROWID;
    CREATE INDEX returned_note ON returned (note);
    CREATE TRIGGER calls_out AFTER DELETE ON calls BEGIN
        DELETE FROM returned WHERE call = old.id;
    END;
    CREATE TRIGGER notes_out AFTER DELETE ON notes BEGIN
        DELETE FROM returned WHERE note = old.id;
    END;
    """,
    """
    CREATE TABLE spent (
        id INTEGER PRIMARY KEY,
        at REAL NOT NULL,
        purpose TEXT NOT NULL,          -- what the model was asked for
        model TEXT NOT NULL,
        tokens INTEGER NOT NULL,        -- as they were counted; before that, as they were estimated
        settled INTEGER NOT NULL        -- whether they were counted
    );
    CREATE INDEX spent_at ON spent (at);
    CREATE TABLE heard (mark BLOB PRIMARY KEY) WITHOUT ROWID;
    """,
)


class Named(NamedTuple):
    """A note as the log knows it: the lasting key of its vault, and its name there, such as ``topic:deploy``."""

    vault: str
    name: str


class Call(NamedTuple):
    """One call of a tool."""

    tool: str
    surface: str
    at: float
    ms: float
    outcome: str = OK
    notes: tuple[Named, ...] = ()
    """The notes that came back."""
    arguments: str | None = None


class ToolUse(NamedTuple):
    """How often a tool was called, how often without success, and how long a call took in the middle of them."""

    tool: str
    calls: int
    failed: int
    ms: float


class NoteUse(NamedTuple):
    """How often a note came back, and when for the last time."""

    note: Named
    calls: int
    last: float


class Warm(NamedTuple):
    """A note with what is left of its uses."""

    note: Named
    uses: float


class Spending(NamedTuple):
    """What a model took on one day, for one purpose."""

    day: str
    purpose: str
    model: str
    requests: int
    tokens: int


class UsageLog:
    """The log, for one process; it is opened when it is first needed, and may be shared by threads."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._connection: apsw.Connection | None = None
        self._owner = 0
        self._guard = Lock()
        self._said = False

    def close(self) -> None:
        """Let go of the file."""
        with self._guard:
            if self._connection is not None and self._owner == os.getpid():
                self._connection.close()
            self._connection = None

    # ----------------------------------------------------------------------------------------------------------- writing

    def record(self, call: Call) -> str:
        """Add a call. A log that cannot be written stops nobody; what there is to say of it is returned, the first time."""
        try:
            with self._guard, _complaints(self.path):
                self._add(call)
        except (Corrupt, Unavailable) as error:
            notice = f"{error.message} {error.hint}".strip()
            if isinstance(error, Corrupt):
                self._begin_anew()
            if not self._said:
                self._said = True
                return notice
        return ""

    def _add(self, call: Call) -> None:
        connection = self._open()
        added = weight(call.at)
        arguments = call.arguments if call.arguments is None else call.arguments[:ARGUMENTS_LIMIT]
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.execute(
                "INSERT INTO calls (at, tool, surface, ms, outcome, arguments) VALUES (?, ?, ?, ?, ?, ?)",
                (call.at, call.tool, call.surface, call.ms, call.outcome, arguments),
            )
            number = connection.last_insert_rowid()
            for note in dict.fromkeys(call.notes):
                known = connection.execute(
                    "INSERT INTO notes (vault, name, warmth) VALUES (?, ?, ?)"
                    " ON CONFLICT DO UPDATE SET warmth = warmth + excluded.warmth RETURNING id",
                    (*note, added),
                ).get
                connection.execute("INSERT INTO returned VALUES (?, ?)", (number, known))
            if number % _PRUNE_EVERY == 0:
                _prune(connection, call.at)
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def forget(self, notes: Iterable[Named]) -> None:
        """Take notes out of the log, and leave nothing of their names in its files; the calls stay."""
        if not os.path.exists(self.path):
            return
        with self._guard, _complaints(self.path):
            connection = self._open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                connection.executemany("DELETE FROM notes WHERE vault = ? AND name = ?", list(notes))
                gone = connection.changes()
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
            if gone:
                connection.pragma("wal_checkpoint", "TRUNCATE")

    def reserve(self, purpose: str, model: str, tokens: int, *, cap: int, since: float) -> int | None:
        """Put tokens aside before a model is asked, unless more than a cap would then be spent since a moment.

        Returns the number under which they are settled. Who is killed in between has spent what was estimated.
        """
        with self._guard, _complaints(self.path):
            connection = self._open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                query = "SELECT coalesce(sum(tokens), 0) FROM spent WHERE at >= ? AND purpose = ?"
                spent: Any = connection.execute(query, (since, purpose)).get
                number = None
                if spent + tokens <= cap:
                    row = (time.time(), purpose, model, tokens)
                    connection.execute("INSERT INTO spent (at, purpose, model, tokens, settled) VALUES (?, ?, ?, ?, 0)", row)
                    number = connection.last_insert_rowid()
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
            return number

    def settle(self, number: int, tokens: int) -> None:
        """Put down what was really spent of what was put aside."""
        with self._guard, _complaints(self.path):
            self._open().execute("UPDATE spent SET tokens = ?, settled = 1 WHERE id = ?", (tokens, number))

    def hear(self, marks: Iterable[bytes]) -> None:
        """Remember that turns were looked through, by their marks."""
        with self._guard, _complaints(self.path):
            connection = self._open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                connection.executemany("INSERT OR IGNORE INTO heard VALUES (?)", [(mark,) for mark in marks])
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    # ----------------------------------------------------------------------------------------------------------- reading

    def spent(self, since: float) -> tuple[Spending, ...]:
        """What models took since a moment, by day."""
        rows = self._read(
            "SELECT date(at, 'unixepoch', 'localtime'), purpose, model, count(*), sum(tokens) FROM spent WHERE at >= ?"
            " GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
            (since,),
        )
        return tuple(Spending(*row) for row in rows)

    def unheard(self, marks: Iterable[bytes]) -> frozenset[bytes]:
        """Those of these marks of turns that were not looked through yet."""
        wanted = list(dict.fromkeys(marks))
        known = {mark for mark in wanted if self._read("SELECT 1 FROM heard WHERE mark = ?", (mark,))}
        return frozenset(wanted) - known

    def tools(self, since: float, limit: int = -1) -> tuple[ToolUse, ...]:
        """The tools that were called since a moment, the most called first."""
        rows = self._read(
            "SELECT tool, count(*), sum(outcome != 'ok'), avg(ms) FROM calls WHERE at >= ?"
            " GROUP BY tool ORDER BY 2 DESC, tool LIMIT ?",
            (since, limit),
        )
        return tuple(ToolUse(*row) for row in rows)

    def days(self, since: float) -> tuple[tuple[str, int], ...]:
        """The days, in local time, on which tools were called since a moment, with the number of calls."""
        query = "SELECT date(at, 'unixepoch', 'localtime'), count(*) FROM calls WHERE at >= ? GROUP BY 1 ORDER BY 1"
        return tuple((str(day), int(calls)) for day, calls in self._read(query, (since,)))

    def notes(self, since: float) -> tuple[NoteUse, ...]:
        """The notes that came back since a moment, the most used first."""
        rows = self._read(
            "SELECT n.vault, n.name, count(*), max(c.at) FROM calls c JOIN returned r ON r.call = c.id"
            " JOIN notes n ON n.id = r.note WHERE c.at >= ? GROUP BY n.id ORDER BY 3 DESC, 4 DESC, n.name",
            (since,),
        )
        return tuple(NoteUse(Named(vault, name), calls, last) for vault, name, calls, last in rows)

    def warmest(self, vaults: Sequence[str], limit: int, now: float) -> tuple[Warm, ...]:
        """The notes of these vaults that are used most, with what is left of their uses."""
        marks = ", ".join("?" * len(vaults))
        rows = self._read(
            f"SELECT vault, name, warmth FROM notes WHERE vault IN ({marks}) ORDER BY warmth DESC LIMIT ?", (*vaults, limit)
        )
        scale = weight(now)
        return tuple(Warm(Named(vault, name), warmth / scale) for vault, name, warmth in rows)

    def uses(self, vault: str, names: Sequence[str], now: float) -> dict[str, float]:
        """What is left of the uses of each of these notes; one that was never used is left out."""
        marks = ", ".join("?" * len(names))
        rows = self._read(f"SELECT name, warmth FROM notes WHERE vault = ? AND name IN ({marks})", (vault, *names))
        scale = weight(now)
        return {name: warmth / scale for name, warmth in rows}

    def _read(self, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        if not os.path.exists(self.path):
            return []
        with self._guard, _complaints(self.path):
            return self._open().execute(query, values).fetchall()

    # ---------------------------------------------------------------------------------------------------------- the file

    def _open(self) -> apsw.Connection:
        if self._connection is None or self._owner != os.getpid():
            inherited, self._connection = self._connection, None
            if inherited is not None:  # of the process that this one was forked from: closing it would undo its locks
                _inherited.append(inherited)
            make_folder(os.path.dirname(self.path), mode=0o700)
            self._connection, self._owner = _connect(self.path), os.getpid()
        return self._connection

    def _begin_anew(self) -> None:
        """Put a file that is no log out of the way, unless another process was faster."""
        damaged = _file(self.path)
        self.close()
        with suppress(Unavailable, OSError), locked(os.path.dirname(self.path)):
            if _file(self.path) == damaged:
                for ending in ("", "-wal", "-shm"):
                    with suppress(FileNotFoundError):
                        os.replace(self.path + ending, f"{self.path}.broken{ending}")


_inherited: list[apsw.Connection] = []


def _file(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


def _connect(path: str) -> apsw.Connection:
    with suppress(OSError):  # for its owner alone; what stands in the way shows when it is opened
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = apsw.Connection(path)
    try:
        connection.set_busy_timeout(_PATIENCE_MS)
        if connection.pragma("user_version") != len(MIGRATIONS) or connection.pragma("application_id") != _APPLICATION:
            with locked(os.path.dirname(path), _PATIENCE_MS / 1000):  # SQLite does not wait where two turn a log on at once
                _migrate(connection)
        # A power cut may cost the last calls; a tool must not wait for the disk.
        connection.execute("PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; PRAGMA secure_delete = ON")
        # a process that ends after one call would else wait for the disk, just to tidy up
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.wal_autocheckpoint(_LOG_PAGES)
    except BaseException:
        connection.close()
        raise
    return connection


def _migrate(connection: apsw.Connection) -> None:
    connection.pragma("journal_mode", "wal")
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = connection.pragma("user_version")
        ours = connection.pragma("application_id") == _APPLICATION
        if (version and not ours) or (not version and connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").get):
            raise Corrupt("usage.db is the database of another program.", "It is kept as usage.db.broken.")
        if version > len(MIGRATIONS):
            raise Unavailable("usage.db was made by a newer co: nothing is logged.", "Use that co, or remove the file.")
        for migration in MIGRATIONS[version:]:
            connection.execute(migration)
        connection.pragma("application_id", _APPLICATION)
        connection.pragma("user_version", len(MIGRATIONS))
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _prune(connection: apsw.Connection, now: float) -> None:
    """Let go of the oldest calls; only so many at once that nobody waits for it."""
    newest: Any = connection.execute("SELECT max(id) FROM calls").get
    last = newest - KEPT_CALLS
    pages = connection.pragma("page_count") - connection.pragma("freelist_count")
    if pages * connection.pragma("page_size") > KEPT_BYTES:
        oldest: Any = connection.execute("SELECT min(id) FROM calls").get
        last = max(last, oldest + _PRUNED_AT_ONCE)
    connection.execute(
        "DELETE FROM calls WHERE id IN (SELECT id FROM calls WHERE id <= ? OR at < ? ORDER BY id LIMIT ?)",
        (last, now - KEPT_DAYS * _DAY, _PRUNED_AT_ONCE),
    )
    connection.execute("DELETE FROM notes WHERE warmth < ?", (_FAINT * weight(now),))


@contextmanager
def _complaints(path: str) -> Iterator[None]:
    """Translate what SQLite complains about: a file that is no log is ``Corrupt``, anything else ``Unavailable``."""
    try:
        yield
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise Corrupt(f"{path} cannot be understood: {error}.", f"It is kept as {path}.broken, and begun anew.") from error
    except apsw.BusyError as error:
        raise Unavailable(f"{path} is in use by another process.", "This call is not in the log.") from error
    except apsw.Error as error:
        hint = "Calls are not logged. Free some space, or check the permissions of the folder."
        raise Unavailable(f"{path} cannot be used: {error}.", hint) from error


def days_ago(days: float) -> float:
    """The moment so many days ago."""
    return time.time() - days * _DAY
