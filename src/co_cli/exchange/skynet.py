"""The knowledge of Skynet: the table ``knowledge`` of its database, and its folder ``knowledge`` of Markdown files.

Owns what that database and that folder look like, and what becomes of an entry that is here already. Must not know how
topics are stored or shown.

Every entry becomes a topic, with its tags, source and dates. The database counts for more than the folder, from which Skynet
itself took only what the database did not have. It can be done again: an entry that was changed here since stays as it is.
"""

from __future__ import annotations

import os
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import Conflict, Corrupt, Denied, Invalid, NotFound, Unavailable
from co_cli.exchange.intake import as_rehearsed, rehearsal
from co_cli.exchange.report import CREATED, SKIPPED, UNCHANGED, UPDATED, ImportEntry, ImportReport
from co_cli.knowledge import GLOBAL, PROJECT, TOPIC

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from co_cli.knowledge import KnowledgeBase, Note

FORMS = "Name a Skynet database, the folder that it lies in, such as ~/.skynet, or a folder of Markdown files."
"""The paths that are accepted, as a hint."""

_ENDINGS = (".db", ".sqlite", ".sqlite3")
_MAGIC = b"SQLite format 3\0"
_SOURCES = ("user", "seed", "api")
_COLUMNS = ("topic", "content", "tags", "source", "created_at", "updated_at")


class _Entry(NamedTuple):
    """A topic as it stands in the database or in a file."""

    file: str
    at: str
    name: object
    content: object
    tags: object = ()
    source: object = "user"
    created: str = ""
    updated: str = ""

    def line(self, outcome: str, note: Note | None = None, code: str = "", reason: str = "") -> ImportEntry:
        """The line of the report for this entry."""
        ref, summary = (note.ref, note.summary) if note else ("", "")
        return ImportEntry(self.file, self.at, outcome, reason, code, ref, summary=summary if outcome != SKIPPED else "")


def import_skynet(kb: KnowledgeBase, path: str, *, in_global: bool = False, dry_run: bool = False) -> ImportReport:
    """Take the knowledge of a Skynet into the project's vault, or the global one.

    Raises a ``CoError`` where the path holds nothing of the kind; anything less is a line in the report.
    """
    if not path.strip():
        raise Invalid("There is no path to import from.", FORMS)
    path = os.path.abspath(os.path.expanduser(path))
    databases, documents = _find(path)
    items: list[_Entry | ImportEntry] = []
    for database in databases:
        items.extend(_rows(database))
    items.extend(item for document in documents for item in _document(document))
    vault = GLOBAL if in_global else PROJECT
    with rehearsal(kb, (TOPIC,)) if dry_run else nullcontext(kb) as target:
        store = _Store(target, vault)
        lines = [store.keep(item) if isinstance(item, _Entry) else item for item in items]
    files = (*databases, *documents)
    return ImportReport(path, vault, dry_run, files, tuple(as_rehearsed(lines) if dry_run else lines))


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


def _rows(path: str) -> Iterator[_Entry | ImportEntry]:
    columns = _columns(path)
    newest = "updated_at DESC, " if "updated_at" in columns else ""
    # of two topics that are one here, the one that was changed last comes first, and counts
    for row in _ask(path, f"SELECT {', '.join(columns)} FROM knowledge ORDER BY {newest}topic"):
        values = dict(zip(columns, row, strict=True))
        yield _Entry(
            path,
            f"knowledge.{values['topic']}",
            values["topic"],
            values["content"],
            values.get("tags") or (),
            values.get("source") or "user",
            _timestamp(values.get("created_at")),
            _timestamp(values.get("updated_at")),
        )


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


def _document(path: str) -> Iterator[_Entry | ImportEntry]:
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
    yield _Entry(path, "", name, rest if has_tags else text, first[len("tags:") :] if has_tags else (), "seed")


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


# --------------------------------------------------------------------------------------------------------------- keeping


class _Store:
    """The vault that is imported into."""

    def __init__(self, kb: KnowledgeBase, vault: str) -> None:
        self._kb = kb
        self._vault = vault
        self._kept: dict[str, _Entry] = {}

    def keep(self, entry: _Entry) -> ImportEntry:
        """Make the topic of an entry, or bring the one that there is up to date."""
        wrong = _what_is_wrong(entry)
        if wrong:
            return entry.line(SKIPPED, code="wrong-type", reason=wrong)
        try:
            return self._keep(entry, f"{self._vault[0]}:{entry.name}")
        except (Invalid, Conflict, Denied) as error:
            if isinstance(error, Denied) and error.code != "secret":
                raise  # the vault as a whole is closed to co, not just to this entry
            return entry.line(SKIPPED, code=error.code, reason=error.message)

    def _keep(self, entry: _Entry, name: str) -> ImportEntry:
        try:
            known = self._kb.topic(name)
        except NotFound:
            known = None
        if known and known.ref in self._kept:
            other = self._kept[known.ref]
            reason = f"{other.line(SKIPPED).origin} has the same name here, and counts"
            return entry.line(SKIPPED, code="outdone", reason=reason)
        source = str(entry.source) if entry.source in _SOURCES else "user"
        tags = tuple(str(entry.tags).split(",")) if isinstance(entry.tags, str) else ()
        if known and _is_newer(known, entry) and not self._says_the_same(known, entry, tags):
            self._kept[known.ref] = entry
            reason = f"{known.ref} was written after it, and keeps its text"
            return entry.line(SKIPPED, known, "newer-here", reason)
        saved = self._kb.write_topic(
            name,
            str(entry.content),
            tags=tags,
            source=source,
            created=entry.created,
            updated=entry.updated,
            expected_sha=known.sha if known else "",
        )
        self._kept[saved.note.ref] = entry
        outcome = {"created": CREATED, "updated": UPDATED, "unchanged": UNCHANGED}[saved.outcome]
        renamed = saved.note.slug != entry.name and outcome == CREATED
        return entry.line(outcome, saved.note, reason=f"its name here is {saved.note.slug}" if renamed else "")

    @staticmethod
    def _says_the_same(known: Note, entry: _Entry, tags: Sequence[str]) -> bool:
        wanted = {tag.strip().lstrip("#").casefold() for tag in tags} - {""}
        text = str(entry.content).replace("\r\n", "\n").strip()
        return known.body == text and {tag.casefold() for tag in known.tags} == wanted


def _what_is_wrong(entry: _Entry) -> str:
    for what, value in (("name", entry.name), ("content", entry.content)):
        if not isinstance(value, str):
            return f"the {what} must be a text, not {type(value).__name__}" if value is not None else f"there is no {what}"
    return ""


def _is_newer(known: Note, entry: _Entry) -> bool:
    """Whether a topic here was written after an entry; one without a date was there first."""
    from datetime import datetime

    here = known.updated or known.created
    if not (entry.updated or entry.created) or not here:
        return True
    there = datetime.fromisoformat(entry.updated or entry.created)
    moment = datetime.fromisoformat(here)
    return (moment if moment.tzinfo else moment.replace(tzinfo=there.tzinfo)) >= there
