"""From the files of a vault to its index: the only writer of the index.

Owns what has to be read again, what is gone, and what becomes of a note on the way into the index. Knows nothing of queries.

Nothing is believed to be gone that was not seen to be: a folder that cannot be listed, has vanished, or is an empty one in
the place of that which was there, takes nothing out of the index. A file is read again when its stat has changed, and
indexed again when its bytes have.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import CoError, Unavailable
from co_cli.index.database import Damaged, database_path, remove
from co_cli.index.store import Entry, Index, Part, as_text
from co_cli.note import FOLDERS, MEMORY, NoteError, Problem, instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from co_cli.embedding import Embedder
    from co_cli.index.vectors import Pending
    from co_cli.note import Note
    from co_cli.vault import Vault

    Progress = Callable[[int, int], None]
    """Called with how many files are done, and how many there are to do."""

BATCH = 250
"""Files that are taken in at once: few enough that nobody who waits to write waits long."""
_AT_FIRST, _QUICK, _SLOW = 8, 0.5, 2.0
"""Passages that a model is given at first; more where it took less than so many seconds, fewer where it took longer. What it
has done is kept, however soon it breaks off."""
_DIGITS = 12
_DATE = (
    r"(?i)[\W\d_]*(?:(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?"
    r"|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|[ap]m|on|at|of|the|st|nd|rd|th)[\W\d_]*)*"
)
_SEPARATOR = "\x1f"


class SyncReport(NamedTuple):
    """What a sync did."""

    indexed: tuple[str, ...] = ()
    """The paths of the files that were read into the index."""
    removed: tuple[str, ...] = ()
    renamed: tuple[str, ...] = ()
    unchanged: int = 0
    problems: tuple[Problem, ...] = ()
    """The files that are no notes, or could not be read, with the reason."""
    unseen: tuple[str, ...] = ()
    """The kinds of which the index knows notes, but of which no file could be seen."""


def open_index(vault: Vault, cache: str) -> Index:
    """Open the index of a vault, in its folder or, where that cannot be written, in the cache folder."""
    path = index_path(vault, cache)
    if os.path.dirname(path) == vault.root:
        vault.tell_git()
    return Index(path)


def index_path(vault: Vault, cache: str) -> str:
    """Where the index of a vault lies, or would lie."""
    otherwise = _path_in_cache(vault, cache)
    return database_path(vault.root, otherwise) if vault.is_whole() and not vault.read_only else otherwise


def _path_in_cache(vault: Vault, cache: str) -> str:
    return os.path.join(cache, "index", f"{os.path.basename(vault.journal_folder)}.db")


def sync(
    vault: Vault, index: Index, kinds: Iterable[str] = tuple(FOLDERS), *, progress: Progress | None = None
) -> SyncReport:
    """Bring the index in line with the files."""
    return _Sync(vault, index, progress).run(kinds)


def forget(vault: Vault, cache: str, paths: Iterable[str]) -> None:
    """Take files that were just removed out of the index, if there is one, and leave nothing of them in its files.

    What stands in the way is no error: the next sync sees that the files are gone.
    """
    own, elsewhere = index_path(vault, cache), _path_in_cache(vault, cache)
    if own != elsewhere:  # what was kept there while the vault could not be written
        remove(elsewhere)
    if not os.path.exists(own):
        return
    with suppress(Damaged, CoError), closing(open_index(vault, cache)) as index:
        with index.writing():
            for path in paths:
                folder, name = os.path.split(path)
                kind = next((kind for kind in FOLDERS if vault.path_of(kind, "") == os.path.join(folder, "")), "")
                known = index.find(kind, name)
                if known and not os.path.lexists(path):
                    index.remove(known.id)
        index.tidy()


class _Sync:
    """One run: what it has found so far."""

    def __init__(self, vault: Vault, index: Index, progress: Progress | None) -> None:
        self.vault = vault
        self.index = index
        self.progress = progress
        self.problems: list[Problem] = []
        self.indexed: list[str] = []
        self.removed: list[str] = []
        self.renamed: list[str] = []
        self.unseen: list[str] = []
        self.unsettled: dict[str, int] = dict.fromkeys(FOLDERS, 0)
        """Files of each kind whose stat does not say for certain what they hold."""

    def run(self, kinds: Iterable[str]) -> SyncReport:
        unchanged, version = 0, self.index.version()
        changed: dict[str, list[str]] = {}
        states: dict[str, str] = {}
        gone: dict[tuple[str, str], bytes | None] = {}
        for kind in kinds:
            look = self.vault.look(kind, self.problems)
            if look is None or (not look.names and not self._is_known_folder(kind)):
                if self.index.stamps(kind):  # what is not there to be seen is not seen to be gone
                    self.unseen.append(kind)
                continue
            states[kind] = look.state
            if self.index.meta(f"state:{kind}") == states[kind]:
                unchanged += len(look.names)
                continue
            seen = look.by_name()
            known = self.index.stamps(kind)
            changed[kind] = sorted((name for name, stamp in seen.items() if known.get(name) != stamp), key=_by_number)
            unchanged += len(seen) - len(changed[kind])
            for name in known.keys() - seen.keys():
                if look.hides(name):
                    continue
                found = self.index.find(kind, name)
                gone[kind, name] = found.sha if found else None
        if changed:
            unchanged += self._take_in(changed, gone)
            self._remove(gone)
            self._remember(states, changed, version)
            self.index.count_frequent()
        indexed, removed, renamed = map(tuple, (self.indexed, self.removed, self.renamed))
        return SyncReport(indexed, removed, renamed, unchanged, tuple(self.problems), tuple(self.unseen))

    def _is_known_folder(self, kind: str) -> bool:
        """Whether a folder without notes is the one that had some, and not one on which a disk should be mounted."""
        return bool(self.index.meta(f"folder:{kind}") == self.vault.folder_identity(kind))

    def _remember(self, states: dict[str, str], changed: dict[str, list[str]], version: int) -> None:
        """Remember the state of each folder that is known to the last file, so that one look tells that it is the same.

        Not where another process has written meanwhile: what it saw may be newer than what was seen here.
        """
        found = {f"folder:{kind}": self.vault.folder_identity(kind) for kind in changed}
        found.update((f"state:{kind}", states[kind]) for kind in changed if not self.unsettled[kind])
        news = {key: value for key, value in found.items() if self.index.meta(key) != value}
        if news:
            with self.index.writing():
                if self.index.version() == version:
                    for key, value in news.items():
                        self.index.set_meta(key, value)

    def _take_in(self, changed: dict[str, list[str]], gone: dict[tuple[str, str], bytes | None]) -> int:
        """Read the changed files, batch by batch; returns how many turned out to hold what they held."""
        unchanged, done, total = 0, 0, sum(map(len, changed.values()))
        for kind, names in changed.items():
            for start in range(0, len(names), BATCH):
                batch = names[start : start + BATCH]
                unchanged += self._take_in_batch(kind, batch, gone)
                done += len(batch)
                if self.progress:
                    self.progress(done, total)
        return unchanged

    def _take_in_batch(self, kind: str, names: list[str], gone: dict[tuple[str, str], bytes | None]) -> int:
        problems: list[Problem] = []
        known = {name: self.index.find(kind, name) for name in names}  # before they are read, not after
        stamps = {name: self.vault.settled_stamp(kind, name) for name in names}
        self.unsettled[kind] += sum(not stamp for stamp in stamps.values())
        # read and parsed before the transaction begins: nobody waits for what concerns only this process
        touched: list[str] = []
        entries: dict[str, Entry] = {}
        for name, raw, sha in self._read(kind, names, problems):
            before = known[name]
            if before and before.sha == sha:
                touched.append(name)
            else:
                entries[name] = self._entry(kind, name, stamps[name], raw, sha)
        unread = {self.vault.name_of(problem.path): problem for problem in problems}
        missing = [name for name in names if known[name] and name not in entries and name not in touched]
        with self.index.writing():
            self.index.set_meta(f"state:{kind}", "")  # none that was seen before, until all is known again
            raced = [name for name in (*touched, *entries) if self.index.find(kind, name) != known[name]]
            for name, raw, sha in self._read(kind, raced, problems) if raced else ():
                # Another process was faster. Which of the two has read the newer file only the file can tell.
                if name not in entries or entries[name].sha != sha:
                    entries[name] = self._entry(kind, name, 0, raw, sha)
                    self.unsettled[kind] += 1
            for name in touched:
                before = known[name]
                if before and name not in raced:
                    self.index.touch(before.id, stamps[name])
            for entry in entries.values():
                self._put(entry, gone)
            for name in missing:
                self._drop(kind, name)
            for name, problem in unread.items():
                self._note_unread(kind, name, problem)
        return len(touched)

    def _read(self, kind: str, names: list[str], problems: list[Problem]) -> Iterator[tuple[str, bytes, bytes]]:
        from hashlib import sha256

        for path, raw in self.vault.named_files(kind, names, problems):
            yield self.vault.name_of(path), raw, sha256(raw).digest()

    def _drop(self, kind: str, name: str) -> None:
        """Take out what has become something else than a file: a folder, or a link. What cannot be read now stays."""
        known = self.index.find(kind, name)
        if known and not self.vault.may_be_note(kind, name):
            self.index.remove(known.id)
            self.removed.append(self.vault.path_of(kind, name))

    def _put(self, entry: Entry, gone: dict[tuple[str, str], bytes | None]) -> None:
        path = self.vault.path_of(entry.kind, entry.name)
        known = self.index.find(entry.kind, entry.name)
        if known and known.sha == entry.sha:  # another process was faster
            self.index.touch(known.id, entry.stamp)
            return
        former = next((key for key, sha in gone.items() if sha == entry.sha), None) if gone and not known else None
        if former and not os.path.lexists(self.vault.path_of(*former)):
            del gone[former]
            self.index.rename(former, entry.kind, entry.name)
            self.renamed.append(path)
        elif entry.problem is None:
            self.indexed.append(path)
        self.index.put(entry)

    def _note_unread(self, kind: str, name: str, problem: Problem) -> None:
        """A file that could not be read: what is known of it stays, and it is tried again at the next sync."""
        self.problems.append(problem)
        self.unsettled[kind] += 1
        known = self.index.find(kind, name)
        if known:
            self.index.touch(known.id, 0)

    def _remove(self, gone: dict[tuple[str, str], bytes | None]) -> None:
        keys = list(gone)
        for start in range(0, len(keys), BATCH):
            with self.index.writing():
                for kind, name in keys[start : start + BATCH]:
                    self.index.set_meta(f"state:{kind}", "")
                    path = self.vault.path_of(kind, name)
                    known = self.index.find(kind, name)
                    if known and not os.path.lexists(path):
                        self.index.remove(known.id)
                        self.removed.append(path)

    def _entry(self, kind: str, name: str, stamp: int, raw: bytes, sha: bytes) -> Entry:
        path = self.vault.path_of(kind, name)
        try:
            note = self.vault.parse(raw, kind, path)
        except NoteError as error:
            problem = error.problem
            self.problems.append(problem)
            said = (problem.message, str(problem.line), problem.hint, problem.code)
            packed = _SEPARATOR.join(as_text(part).replace(_SEPARATOR, " ") for part in said)
            return Entry(kind, name, stamp, sha, packed)
        return Entry(
            kind,
            name,
            stamp,
            sha,
            None,
            _number(note),
            as_text(note.title),
            note.tags,
            instant(note.created) if note.created else 0.0,
            note.category,
            note.key,
            note.expires,
            note.pinned,
            note.private,
            as_text(note.language),
            tuple(_parts(note)),
            tuple(_leads(note, self.vault.folder_of(note))),
            tuple(map(as_text, note.aliases)),
        )


def embed(vault: Vault, index: Index, embedder: Embedder, *, seconds: float, progress: Progress | None = None) -> bool:
    """Give the passages that have no vector yet to a model, for as long as there is time; private ones to local ones.

    Returns whether there were vectors of another model, which are of no use.
    """
    from co_cli.index import vectors

    had_others = vectors.prepare(index, embedder.fingerprint)
    now = time.monotonic()
    deadline = now + seconds
    totals, last, size, done = index.totals(), 0, _AT_FIRST, 0
    if totals.vectors >= totals.passages:
        return had_others
    while now < deadline:
        rows = vectors.pending(index, last, size, private=not embedder.remote)
        if not rows:
            break
        last = rows[-1].passage
        texts = _texts(vault, rows)
        try:
            found = embedder.embed(list(texts.values()), seconds=deadline - now) if texts else []
        except Unavailable:
            if done and time.monotonic() >= deadline:
                break  # not out of order, but slow
            raise
        vectors.put(index, embedder.fingerprint, list(texts), found)
        done += len(found)
        began, now = now, time.monotonic()
        if now - began < _QUICK:
            size = min(2 * size, BATCH)
        elif now - began > _SLOW:
            size = max(size // 2, 1)
        if progress:
            progress(index.totals().vectors, totals.passages)
    return had_others


def _texts(vault: Vault, rows: list[Pending]) -> dict[int, str]:
    """The text of each passage, read from its file; one that has changed since is left for the next sync."""
    from hashlib import sha256

    bodies: dict[tuple[str, str, bytes], str] = {}
    for kind in {row.kind for row in rows}:
        names = dict.fromkeys(row.file for row in rows if row.kind == kind)
        for path, raw in vault.named_files(kind, names, []):
            with suppress(NoteError):
                bodies[kind, vault.name_of(path), sha256(raw).digest()] = vault.parse(raw, kind, path).body
    texts = {}
    for row in rows:
        body = bodies.get((row.kind, row.file, row.sha))
        if body is not None:
            texts[row.passage] = embedded_text(row.title, row.heading, body[row.start : row.stop])
    return texts


def known_problems(vault: Vault, index: Index, kinds: Iterable[str] = tuple(FOLDERS)) -> list[Problem]:
    """The files that are no notes, as the index remembers them."""
    found = []
    for kind, name, packed in index.problems(kinds):
        message, line, hint, code = packed.split(_SEPARATOR)
        found.append(Problem(vault.path_of(kind, name), message, int(line), hint, code))
    return found


def _parts(note: Note) -> Iterator[Part]:
    from hashlib import blake2b

    from co_cli.chunking import split
    from co_cli.citation import packed

    for passage in split(note.body, whole=note.kind == MEMORY):
        text = note.body[passage.start : passage.end]
        embedded = embedded_text(note.title, passage.heading, text).encode("utf-8", "surrogatepass")
        digest = int.from_bytes(blake2b(embedded, digest_size=8).digest(), "big", signed=True)
        place = (passage.start, passage.end, passage.line, passage.heading)
        yield Part(*place, text, digest, packed(passage.anchor, passage.sections), passage.page)


def embedded_text(title: str, heading: str, text: str) -> str:
    """What a model is given to say what a passage is about; a title that is only a date says nothing of that."""
    title = "" if re.fullmatch(_DATE, title) else title.replace("_", " ")
    return "\n".join(filter(None, (title, heading, text)))


def _by_number(name: str) -> tuple[int, str]:
    """What brings files into the order in which they were made, as far as their names tell it."""
    digits = name.partition("-")[0]
    return (int(digits) if len(digits) <= _DIGITS and digits.isdecimal() else 0), name


def _number(note: Note) -> int | None:
    """What tells which notes were made one after another: a memory's id, or the number that a name begins with."""
    if note.id is not None:
        return note.id if 0 <= note.id < 10**_DIGITS else None
    digits = len(note.slug) - len(note.slug.lstrip("0123456789"))
    return int(note.slug[:digits]) if 0 < digits <= _DIGITS else None


def _leads(note: Note, folder: str) -> Iterator[tuple[str, str, int]]:
    from co_cli.links import key_of, links

    for link in links(note.body):
        key = key_of(link, note.kind, folder=folder)
        if key:
            yield key, link.written, link.line
