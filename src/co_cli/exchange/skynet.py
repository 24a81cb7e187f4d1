"""The knowledge of Skynet: the table ``knowledge`` of its database, and its folder ``knowledge`` of Markdown files.

Owns what that database and that folder look like. Must not know what becomes of an entry that is here already; that is
:mod:`co_cli.exchange.intake`'s.

Every entry becomes a topic, with its tags, source and dates. The database counts for more than the folder, from which Skynet
itself took only what the database did not have. It can be done again: an entry that was changed here since stays as it is.
"""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

from co_cli.errors import Corrupt, Invalid, NotFound, Unavailable
from co_cli.exchange.intake import Document, Item, imported
from co_cli.exchange.report import SKIPPED, ImportEntry, ImportReport

if TYPE_CHECKING:
    from collections.abc import Iterator

    from co_cli.knowledge import KnowledgeBase

FORMS = "Name a Skynet database, the folder that it lies in, such as ~/.skynet, or a folder of Markdown files."
"""The paths that are accepted, as a hint."""

_ENDINGS = (".db", ".sqlite", ".sqlite3")
_MAGIC = b"SQLite format 3\0"
_SOURCES = ("user", "seed", "api")
_COLUMNS = ("topic", "content", "tags", "source", "created_at", "updated_at")


def import_skynet(kb: KnowledgeBase, path: str, *, in_global: bool = False, dry_run: bool = False) -> ImportReport:
    """Take the knowledge of a Skynet into the project's vault, or the global one.

    Raises a ``CoError`` where the path holds nothing of the kind; anything less is a line in the report.
    """
    if not path.strip():
        raise Invalid("There is no path to import from.", FORMS)
    path = os.path.abspath(os.path.expanduser(path))
    databases, documents = _find(path)
    items = [item for database in databases for item in _rows(database)]
    items.extend(item for document in documents for item in _document(document))
    files = (*databases, *documents)
    return imported(kb, path, files, items, what="skynet", in_global=in_global, dry_run=dry_run)


# --------------------------------------------------------------------------------------------------------------- finding


def _find(path: str) -> tuple[list[str], list[str]]:
    """The databases and the Markdown files that a path stands for."""
    if not os.path.lexists(path):
        raise NotFound(f"There is no {path}.", FORMS)
    if os.path.isdir(path):
        files = _files(path)
        databases = [file for file in files if file.endswith(_ENDINGS) and _is_database(file) and _columns(file)]
        inside = os.path.join(path, "knowledge")
        folder = inside if os.path.isdir(inside) else "" if databases else path
        documents = [file for file in (_files(folder) if folder else []) if file.endswith(".md")]
        if not databases and not documents:
            raise NotFound(f"There is no knowledge of a Skynet in {path}.", FORMS)
        return databases, documents
    if not _is_database(path):
        raise Invalid(f"{path} is no SQLite database.", FORMS)
    if not _columns(path):
        raise Invalid(f"{path} has no table of knowledge, with topics and their content.", FORMS)
    return [path], []


def _files(folder: str) -> list[str]:
    try:
        names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError as error:
        raise Unavailable(f"{folder} cannot be read: {error.strerror}.", "Check its permissions.") from error
    return [path for path in (os.path.join(folder, name) for name in names) if os.path.isfile(path)]


def _is_database(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}.", "Check its permissions.") from error


# --------------------------------------------------------------------------------------------------------------- reading


def _columns(path: str) -> tuple[str, ...]:
    """The columns of the table of knowledge; nothing where there is no such table. ``source`` came later than the others."""
    found = {row[1] for row in _ask(path, "PRAGMA table_info(knowledge)")}
    return tuple(name for name in _COLUMNS if name in found) if {"topic", "content"} <= found else ()


def _rows(path: str) -> Iterator[Item]:
    columns = _columns(path)
    newest = "updated_at DESC, " if "updated_at" in columns else ""
    # of two topics that are one here, the one that was changed last comes first, and counts
    for row in _ask(path, f"SELECT {', '.join(columns)} FROM knowledge ORDER BY {newest}topic"):
        values = dict(zip(columns, row, strict=True))
        source = values.get("source") or "user"
        yield Document(
            path,
            f"knowledge.{values['topic']}",
            values["topic"],
            values["content"],
            _tags(values.get("tags")),
            str(source) if source in _SOURCES else "user",
            created=_timestamp(values.get("created_at")),
            updated=_timestamp(values.get("updated_at")),
        )


def _tags(value: object) -> tuple[str, ...]:
    return tuple(value.split(",")) if isinstance(value, str) else ()


def _ask(path: str, query: str) -> list[tuple[object, ...]]:
    """Put a question to a database of another program, which is not changed by it."""
    import apsw

    try:
        with closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            connection.set_busy_timeout(2000)
            return connection.execute(query).fetchall()
    except (apsw.BusyError, apsw.LockedError) as error:
        raise Unavailable(f"{path} is in use by another program.", "Stop that, then try again.") from error
    except apsw.Error as error:
        raise Corrupt(f"{path} cannot be read: {error}.", "Nothing was imported.") from error


def _document(path: str) -> Iterator[Item]:
    """A file of the folder: an optional first line of tags, and the text."""
    name = os.path.basename(path).removesuffix(".md")
    try:
        with open(path, "rb") as file:
            text = file.read().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        reason = f"not UTF-8: byte 0x{error.object[error.start]:02x} cannot be read"
        yield ImportEntry(path, "", SKIPPED, reason, "not-utf-8", line=line)
        return
    except OSError as error:
        yield ImportEntry(path, "", SKIPPED, f"cannot be read: {error.strerror}", "unreadable")
        return
    first, _, rest = text.partition("\n")
    has_tags = first.lower().startswith("tags:")
    tags = _tags(first[len("tags:") :]) if has_tags else ()
    yield Document(path, "", name, rest if has_tags else text, tags, "seed")


def _timestamp(value: object) -> str:
    """A moment as a note has it; empty where there is none. Without a zone it is taken as UTC, as SQLite writes it."""
    from datetime import UTC, datetime

    try:
        text = str(value).strip()
        if text.replace(".", "", 1).isdecimal():  # seconds since 1970, which a column of text keeps as text
            return datetime.fromtimestamp(float(text), UTC).isoformat(timespec="seconds")
        moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError):
        return ""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat(timespec="seconds")
