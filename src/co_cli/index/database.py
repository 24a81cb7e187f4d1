"""The file of an index: opening it, its schema, and starting anew where it cannot be trusted.

Owns the connection, the migrations, and what SQLite's complaints mean. Knows nothing of what the tables are used for.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

import apsw

from co_cli.errors import Unavailable
from co_cli.files import locked, make_folder
from co_cli.index.analysis import TOKENIZER
from co_cli.index.analysis import VERSION as ANALYSIS_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = "knowledge.db"
PATIENCE_MS = 5000
"""How long a statement waits for another process that is writing."""

_NOT_THE_SAME = (apsw.SQLITE_IOERR_SHORT_READ, apsw.SQLITE_READONLY_DBMOVED)
"""What SQLite says where the file was cut off, or taken away to be made anew, since it was opened."""
_APPLICATION = 0x636F3031  # "co01": a database of another program is not taken for ours
_SQLITE, _HEADER, _MARK = b"SQLite format 3\0", 100, slice(68, 72)
"""How the file of a database begins, and where it says whose it is."""

# Append only: what has been released stays as it is. An index remembers in user_version how many of these it has seen.
MIGRATIONS = (
    f"""
    CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE notes (
        id INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,             -- of the file, in the folder of its kind
        stamp INTEGER NOT NULL,         -- of its stat; 0 where the stat settles nothing
        sha BLOB,                       -- of its bytes; null where they could not be read
        problem TEXT,                   -- why it is no note
        number INTEGER,                 -- a memory's id, or the number that the name of another begins with
        title TEXT NOT NULL DEFAULT '',
        tags TEXT NOT NULL DEFAULT '',  -- folded, each between line ends
        created REAL NOT NULL DEFAULT 0,
        category TEXT NOT NULL DEFAULT '', key TEXT NOT NULL DEFAULT '', expires TEXT NOT NULL DEFAULT '',
        pinned INTEGER NOT NULL DEFAULT 0,
        private INTEGER NOT NULL DEFAULT 0,
        parts INTEGER NOT NULL DEFAULT 0,  -- how many passages there are of it
        UNIQUE (kind, name)
    );
    CREATE INDEX notes_problem ON notes (kind) WHERE problem IS NOT NULL;
    CREATE INDEX notes_number ON notes (kind, number);
    CREATE INDEX notes_expires ON notes (expires) WHERE expires != '';
    CREATE TABLE passages (
        id INTEGER PRIMARY KEY,
        note INTEGER NOT NULL,
        start INTEGER NOT NULL, stop INTEGER NOT NULL, line INTEGER NOT NULL,
        heading TEXT NOT NULL,
        digest INTEGER NOT NULL,        -- of the text that is embedded
        length INTEGER NOT NULL,        -- in terms
        name TEXT NOT NULL, tags TEXT NOT NULL, body TEXT NOT NULL  -- the terms, as they are searched
    );
    CREATE INDEX passages_note ON passages (note);
    CREATE VIRTUAL TABLE search USING fts5 (
        name, tags, body, content='passages', content_rowid='id', tokenize="{TOKENIZER}"
    );
    CREATE VIRTUAL TABLE vocabulary USING fts5vocab (search, row);
    CREATE TABLE totals (passages INTEGER NOT NULL, terms INTEGER NOT NULL, vectors INTEGER NOT NULL);
    INSERT INTO totals VALUES (0, 0, 0);
    CREATE TRIGGER passages_in AFTER INSERT ON passages BEGIN
        INSERT INTO search (rowid, name, tags, body) VALUES (new.id, new.name, new.tags, new.body);
        UPDATE totals SET passages = passages + 1, terms = terms + new.length;
    END;
    CREATE TRIGGER passages_out AFTER DELETE ON passages BEGIN
        INSERT INTO search (search, rowid, name, tags, body) VALUES ('delete', old.id, old.name, old.tags, old.body);
        UPDATE totals SET passages = passages - 1, terms = terms - old.length;
    END;
    CREATE TABLE links (note INTEGER NOT NULL, target TEXT NOT NULL, written TEXT NOT NULL, line INTEGER NOT NULL);
    CREATE INDEX links_note ON links (note);
    CREATE INDEX links_target ON links (target);
    CREATE TABLE frequent (term TEXT PRIMARY KEY, passages INTEGER NOT NULL) WITHOUT ROWID;
    INSERT INTO search (search, rank) VALUES ('secure-delete', 1);
    CREATE TABLE vectors (
        passage INTEGER PRIMARY KEY,
        vector BLOB NOT NULL            -- a signed byte for each dimension; empty where the model has nothing to say
    );
    CREATE TABLE codes (
        passage INTEGER PRIMARY KEY,
        code BLOB NOT NULL              -- the sign of each dimension: quickly looked through
    );
    CREATE TRIGGER vectors_in AFTER INSERT ON vectors BEGIN
        UPDATE totals SET vectors = vectors + 1;
    END;
    CREATE TRIGGER vectors_out AFTER DELETE ON vectors BEGIN
        DELETE FROM codes WHERE passage = old.passage;
        UPDATE totals SET vectors = vectors - 1;
    END;
    """,
    """
    CREATE TABLE topic_tags (tag TEXT NOT NULL, note INTEGER NOT NULL, PRIMARY KEY (tag, note)) WITHOUT ROWID;  -- folded
    CREATE INDEX topic_tags_note ON topic_tags (note);
    CREATE TRIGGER notes_out AFTER DELETE ON notes BEGIN
        DELETE FROM topic_tags WHERE note = old.id;
    END;
    WITH RECURSIVE split (note, tag, rest) AS (
        SELECT id, '', substr(tags, 2) FROM notes WHERE kind = 'topic' AND tags != ''
        UNION ALL
        SELECT note, substr(rest, 1, instr(rest, char(10)) - 1), substr(rest, instr(rest, char(10)) + 1) FROM split
        WHERE rest != ''
    )
    INSERT OR IGNORE INTO topic_tags SELECT tag, note FROM split WHERE tag != '';
    """,
    # what an index does not know yet is read anew from the notes, whose vectors stay
    """
    ALTER TABLE notes ADD COLUMN language TEXT NOT NULL DEFAULT '';
    CREATE INDEX notes_language ON notes (language) WHERE language != '';
    UPDATE notes SET stamp = 0, sha = NULL WHERE kind = 'memory' AND problem IS NULL;
    DELETE FROM meta WHERE key = 'state:memory';
    """,
    """
    ALTER TABLE passages ADD COLUMN anchor TEXT NOT NULL DEFAULT '';  -- the names of its headings
    ALTER TABLE passages ADD COLUMN page INTEGER NOT NULL DEFAULT 0;  -- that it stands on; 0 where there are none
    UPDATE notes SET stamp = 0, sha = NULL WHERE kind != 'memory' AND problem IS NULL;
    DELETE FROM meta WHERE key IN ('state:topic', 'state:article');
    """,
    "CREATE INDEX notes_key ON notes (key) WHERE key != ''",
)


class Damaged(Exception):
    """The index with this path cannot be trusted; it has to be made anew from the notes."""

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message)
        self.path = path
        self.born = ""
        """What tells that index from one that was made in its place, where it could be read."""


class Opened(NamedTuple):
    """A connection, and whether the index behind it was there and whole."""

    connection: apsw.Connection
    born: str
    """What tells this index from one that is made in its place. Files do not: a new one may get the number of the old."""
    rebuilt: bool
    """Whether there was none, or one that could not be used."""


def open_database(path: str) -> Opened:
    """Open an index, making it where it is missing and making it anew where it cannot be used."""
    make_folder(os.path.dirname(path), mode=0o700)
    try:
        connection, made = _open(path)
    except Damaged as damage:
        discard(path, damage.born)
        try:
            connection, made = _open(path)
        except Damaged as error:
            raise unusable(error) from error
    return Opened(connection, _born(connection), made)


def unusable(damage: Damaged) -> Unavailable:
    """The error for an index that stays damaged although it was made anew."""
    hint = "The notes are safe. Remove it, then try again."
    return Unavailable(f"{damage.path} cannot be used as an index: {damage}.", hint, code="index-unavailable")


def open_existing(path: str) -> Opened:
    """Open an index that is there; raises :class:`Damaged` where it cannot be used."""
    connection, _made = _open(path)
    return Opened(connection, _born(connection), rebuilt=False)


def _born(connection: apsw.Connection) -> str:
    """What the index says that tells it from others; empty where it cannot be read."""
    try:
        return str(connection.execute("SELECT value FROM meta WHERE key = 'born'").get or "")
    except (apsw.Error, UnicodeDecodeError):
        return ""


def database_path(folder: str, otherwise: str) -> str:
    """Where the index of a vault lies: in its folder or, where that cannot be, in another place."""
    path = os.path.join(folder, FILE)
    writable = os.access(folder, os.W_OK) and (not os.path.lexists(path) or os.access(path, os.W_OK))
    return path if writable and not _is_taken(path) else otherwise


def _is_taken(path: str) -> bool:
    """Whether what lies there is no index, nor what is left of one: no file, or the database of another program."""
    try:
        with open(path, "rb", opener=_open_itself) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return True
            header = file.read(_HEADER)
    except FileNotFoundError:
        return False
    except OSError:  # a link, a folder
        return True
    mark = int.from_bytes(header[_MARK], "big")
    return header.startswith(_SQLITE) and len(header) == _HEADER and mark != _APPLICATION


def _open_itself(path: str, flags: int) -> int:
    """Open a file, without following links, and without waiting for the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def discard(path: str, born: str | None = None) -> None:
    """Empty an index; one that cannot be used, and was ``born`` so, unless another process has made it anew meanwhile.

    It is emptied where it is, since others may have it open: to SQLite, the log of a removed file and that of the next one
    under its name are the same, and the two would be mixed up. Only what cannot even be emptied is removed.
    """
    with locked(os.path.dirname(path), PATIENCE_MS / 1000):
        if os.path.exists(path) and os.path.getsize(path):  # an empty one is about to be made
            connection = apsw.Connection(path)
            connection.set_busy_timeout(PATIENCE_MS)
            emptied = (born is not None and _born(connection) != born) or _empty(connection)
            connection.close()
            if not emptied:
                remove(path)


def _empty(connection: apsw.Connection) -> bool:
    """Take everything out of a database, however damaged it is; returns whether that was possible."""
    try:
        connection.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 1)
        connection.execute("VACUUM")
        connection.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 0)
        connection.pragma("application_id", _APPLICATION)  # else it would be the database of another program
    except apsw.Error:
        return False
    return True


def remove(path: str) -> None:
    """Remove the files of an index: nothing is lost but the time to make it again."""
    for ending in ("", "-wal", "-shm", "-journal"):
        with suppress(FileNotFoundError):
            os.unlink(path + ending)


def _open(path: str) -> tuple[apsw.Connection, bool]:
    """Open an index; says also whether it has just been made."""
    with complaints(path):
        connection = apsw.Connection(path)
    try:
        with complaints(path):
            return connection, _prepared(connection, path)
    except BaseException as error:
        if isinstance(error, Damaged):
            error.born = _born(connection)
        connection.close()
        raise


def _prepared(connection: apsw.Connection, path: str) -> bool:
    """Bring an index that was just opened up to date, and set how it is used; returns whether it has just been made."""
    made = False
    connection.set_busy_timeout(PATIENCE_MS)
    found = connection.pragma("user_version")
    if found != len(MIGRATIONS) or connection.pragma("application_id") != _APPLICATION:
        # not while another process removes the files of an index that it found damaged
        with locked(os.path.dirname(path), PATIENCE_MS / 1000):
            made = _migrate(connection, path)
    if connection.execute("SELECT value FROM meta WHERE key = 'analysis'").get != ANALYSIS_VERSION:
        raise Damaged("it was made by another version of co", path)
    # The index can be made again, so a power cut may cost its last changes; it must not cost waiting for the disk.
    connection.execute(
        "PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;"
        "PRAGMA mmap_size = 1073741824; PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF"
    ).fetchall()  # to the last statement: execute stops at the first that has something to say
    return made


def _migrate(connection: apsw.Connection, path: str) -> bool:
    """Bring the schema up to date; returns whether there was none."""
    if connection.pragma("user_version") == 0:
        if connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").get:
            raise Damaged("it is the database of another program", path)
        connection.pragma("application_id", _APPLICATION)  # before anything can be in the log only
    connection.pragma("journal_mode", "wal")
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = connection.pragma("user_version")
        if version > len(MIGRATIONS):
            raise Damaged("it was made by a newer version of co", path)
        if connection.pragma("application_id") != _APPLICATION:
            raise Damaged("it is the database of another program", path)
        for migration in MIGRATIONS[version:]:
            connection.execute(migration)
        if version == 0:
            born = os.urandom(8).hex()
            connection.execute("INSERT INTO meta VALUES ('analysis', ?), ('born', ?)", (ANALYSIS_VERSION, born))
        connection.pragma("user_version", len(MIGRATIONS))
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    return bool(version == 0)


@contextmanager
def complaints(path: str) -> Iterator[None]:
    """Translate what SQLite complains about: damage is :class:`Damaged`, the machine's no is ``Unavailable``."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        hint = "Try again; if it stays so, find the process that hangs."
        raise Unavailable(f"{path} is in use by another process.", hint, code="index-busy") from error
    except (apsw.FullError, apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError) as error:
        if getattr(error, "extendedresult", 0) in _NOT_THE_SAME:
            raise Damaged(str(error), path) from error
        hint = "The notes are safe. Free some space, or check the folder's permissions."
        raise Unavailable(f"{path} cannot be written: {error}.", hint, code="index-unavailable") from error
    except (apsw.Error, UnicodeDecodeError) as error:
        # corruption shows in many ways: a malformed image, a table that is gone, a value of the wrong kind
        raise Damaged(str(error), path) from error
