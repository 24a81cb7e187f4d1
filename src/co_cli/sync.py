"""From the files of a vault to its index: the only writer of the index.

Owns what has to be read again, what is gone, and what becomes of a note on the way into the index. Knows nothing of queries.

Nothing is believed to be gone that was not seen to be: a folder that cannot be listed, has vanished or lies there empty
takes nothing out of the index. A file is read again when its stat has changed, and indexed again when its bytes have.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import CoError
from co_cli.index.database import Damaged, database_path, remove
from co_cli.index.store import Entry, Index, Part
from co_cli.note import FOLDERS, MEMORY, NoteError, Problem, instant, parse_note

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
_DIGITS = 12
_DATE = (
    r"(?i)[\W\d_]*(?:(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?"
    r"|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|[ap]m|on|at|of|the|st|nd|rd|th)[\W\d_]*)*"
)
_SEPARATOR = "\x1f"
_ANEW = "anew"
"""What says in an index that it was begun anew on request: what it lacks is what that request has not come to."""


class SyncReport(NamedTuple):
    """What a sync did."""

    indexed: tuple[str, ...] = ()
    """The paths of the files that were read into the index."""
    removed: tuple[str, ...] = ()
    renamed: tuple[str, ...] = ()
    unchanged: int = 0
    problems: tuple[Problem, ...] = ()
    """The files that are no notes, or could not be read, with the reason."""


def open_index(vault: Vault, cache: str) -> Index:
    """Open the index of a vault, in its folder or, where that cannot be written, in the cache folder."""
    vault.tell_git()
    return Index(index_path(vault, cache))


def index_path(vault: Vault, cache: str) -> str:
    """Where the index of a vault lies, or would lie."""
    label = os.path.basename(vault.journal_folder)
    return database_path(vault.root, os.path.join(cache, "index", f"{label}.db"))


class Coverage(NamedTuple):
    """How far the index of a vault knows its notes."""

    path: str
    files: int
    """Note files there are."""
    indexed: int = 0
    """Those of them that the index knows as they are now."""
    passages: int = 0
    vectors: int = 0
    model: str = ""
    """The fingerprint of the model that the vectors are of."""
    bytes: int = 0
    damage: str = ""
    """Why the index cannot be used as it is; it is made anew at the next search."""

    @property
    def exists(self) -> bool:
        """Whether there is an index at all."""
        return self.bytes > 0


def coverage(vault: Vault, cache: str) -> Coverage:
    """Look at the index of a vault without changing anything."""
    path = index_path(vault, cache)
    seen = {kind: vault.stamps(kind, []) or {} for kind in FOLDERS}
    files = sum(map(len, seen.values()))
    try:
        size = os.stat(path).st_size
    except OSError:
        return Coverage(path, files)
    try:
        with closing(Index(path, as_it_is=True)) as index:
            indexed = sum(_known(vault, index, kind, seen[kind]) for kind in FOLDERS)
            totals = index.totals()
            return Coverage(path, files, indexed, totals.passages, totals.vectors, index.meta("embedder") or "", size)
    except (Damaged, CoError) as error:
        return Coverage(path, files, bytes=size, damage=str(error))


def _known(vault: Vault, index: Index, kind: str, seen: dict[str, int]) -> int:
    """How many files of a kind the index knows as they are; where their stamps do not settle it, their bytes do."""
    from hashlib import sha256

    stamps, hashes = index.stamps(kind), index.hashes(kind)
    unsettled = [name for name in seen if stamps.get(name) == 0]
    known = sum(stamps.get(name) == stamp for name, stamp in seen.items())
    for path, raw in vault.named_files(kind, unsettled, []):
        known += sha256(raw).digest() == hashes[path.rpartition(os.sep)[2]]
    return known


def differences(vault: Vault, cache: str) -> list[Problem]:
    """Where the index of a vault says something else than the files, in a way that no search would notice by itself."""
    from hashlib import sha256

    path = index_path(vault, cache)
    if not os.path.exists(path):
        return []
    hint = "co doctor --fix throws it away; the next search makes it anew from the notes."
    try:
        with closing(Index(path, as_it_is=True)) as index:
            unsound = index.unsound()
            if unsound:
                return [Problem(path, f"the index is damaged: {unsound}", hint=hint, code="index-damaged")]
            problems = []
            for kind in FOLDERS:
                stamps, hashes = index.stamps(kind), index.hashes(kind)
                settled = [name for name, stamp in (vault.stamps(kind, []) or {}).items() if stamps.get(name) == stamp]
                for file, raw in vault.named_files(kind, settled, []):
                    if sha256(raw).digest() != hashes[file.rpartition(os.sep)[2]]:
                        problems.append(Problem(file, "the index holds another text of it", hint=hint, code="index-differs"))
            return problems
    except (Damaged, CoError) as error:
        return [Problem(path, f"the index cannot be used: {error}", hint=hint, code="index-damaged")]


def begin_anew(vault: Vault, cache: str, *, by_meaning: bool) -> None:
    """Throw the index of a vault away, to be made anew; one that was begun anew and still lacks something is kept."""
    known = coverage(vault, cache)
    lacks = known.indexed < known.files or (by_meaning and known.vectors < known.passages)
    if known.exists and not known.damage and lacks:
        with closing(open_index(vault, cache)) as index:
            if index.meta(_ANEW):
                return
    throw_away(vault, cache)
    with closing(open_index(vault, cache)) as index, index.writing():
        index.set_meta(_ANEW, 1)


def end_anew(index: Index) -> None:
    """Note that what was asked for is done."""
    with index.writing():
        index.set_meta(_ANEW, 0)


def throw_away(vault: Vault, cache: str) -> None:
    """Remove the index of a vault, which loses nothing but the time to make it anew."""
    from co_cli.files import locked

    path = index_path(vault, cache)
    with locked(os.path.dirname(path)):
        remove(path)


def sync(
    vault: Vault, index: Index, kinds: Iterable[str] = tuple(FOLDERS), *, progress: Progress | None = None
) -> SyncReport:
    """Bring the index in line with the files."""
    return _Sync(vault, index, progress).run(kinds)


def forget(vault: Vault, cache: str, notes: Iterable[Note]) -> None:
    """Take notes whose files were just removed out of the index, if there is one, and leave nothing of them in its files.

    What stands in the way is no error: the next sync sees that the files are gone.
    """
    if not os.path.exists(index_path(vault, cache)):
        return
    with suppress(Damaged, CoError), closing(open_index(vault, cache)) as index:
        with index.writing():
            for note in notes:
                known = index.find(note.kind, os.path.basename(note.path))
                if known and not os.path.lexists(note.path):
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
        self.unsettled: dict[str, int] = dict.fromkeys(FOLDERS, 0)
        """Files of each kind whose stat does not say for certain what they hold."""

    def run(self, kinds: Iterable[str]) -> SyncReport:
        unchanged = 0
        changed: dict[str, list[str]] = {}
        states: dict[str, str] = {}
        gone: dict[tuple[str, str], bytes | None] = {}
        for kind in kinds:
            look = self.vault.look(kind, self.problems)
            if not look or not look.names:
                continue  # what is not there to be seen is not seen to be gone
            states[kind] = look.state
            if self.index.meta(f"state:{kind}") == states[kind]:
                unchanged += len(look.names)
                continue
            seen = look.by_name()
            known = self.index.stamps(kind)
            changed[kind] = sorted((name for name, stamp in seen.items() if known.get(name) != stamp), key=_by_number)
            unchanged += len(seen) - len(changed[kind])
            for name in known.keys() - seen.keys():
                found = self.index.find(kind, name)
                gone[kind, name] = found.sha if found else None
        if changed:
            unchanged += self._take_in(changed, gone)
            self._remove(gone)
            self._remember(states, changed)
            self.index.count_frequent()
        return SyncReport(tuple(self.indexed), tuple(self.removed), tuple(self.renamed), unchanged, tuple(self.problems))

    def _remember(self, states: dict[str, str], changed: dict[str, list[str]]) -> None:
        """Remember the state of each folder that is known to the last file, so that one look tells that it is the same."""
        for kind in changed:
            if not self.unsettled[kind] and self.index.meta(f"state:{kind}") != states[kind]:
                with self.index.writing():
                    self.index.set_meta(f"state:{kind}", states[kind])

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
        from hashlib import sha256

        problems: list[Problem] = []
        stamps = {name: self.vault.settled_stamp(kind, name) for name in names}  # before they are read, not after
        self.unsettled[kind] += sum(not stamp for stamp in stamps.values())
        read = {
            path.rpartition(os.sep)[2]: (raw, sha256(raw).digest())
            for path, raw in self.vault.named_files(kind, names, problems)
        }
        # read and parsed before the transaction begins: nobody waits for what concerns only this process
        entries = {}
        touched = []
        for name, (raw, sha) in read.items():
            known = self.index.find(kind, name)
            if known and known.sha == sha:
                touched.append((known.id, stamps[name]))
            else:
                entries[name] = self._entry(kind, name, stamps[name], raw, sha)
        unread = {problem.path.rpartition(os.sep)[2]: problem for problem in problems}
        with self.index.writing():
            for note, stamp in touched:
                self.index.touch(note, stamp)
            for entry in entries.values():
                self._put(entry, gone)
            for name, problem in unread.items():
                self._note_unread(kind, name, problem)
        return len(touched)

    def _put(self, entry: Entry, gone: dict[tuple[str, str], bytes | None]) -> None:
        path = self.vault.path_of(entry.kind, entry.name)
        known = self.index.find(entry.kind, entry.name)
        if known and known.sha == entry.sha:  # another process was faster
            self.index.touch(known.id, entry.stamp)
            return
        former = next((key for key, sha in gone.items() if sha == entry.sha), None) if gone and not known else None
        if former:
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
                    path = self.vault.path_of(kind, name)
                    known = self.index.find(kind, name)
                    if known and not os.path.lexists(path):
                        self.index.remove(known.id)
                        self.removed.append(path)

    def _entry(self, kind: str, name: str, stamp: int, raw: bytes, sha: bytes) -> Entry:
        path = self.vault.path_of(kind, name)
        try:
            note = parse_note(raw, kind=kind, vault=self.vault.name, path=path)
        except NoteError as error:
            problem = error.problem
            self.problems.append(problem)
            packed = _SEPARATOR.join((problem.message, str(problem.line), problem.hint, problem.code))
            return Entry(kind, name, stamp, sha, packed)
        return Entry(
            kind,
            name,
            stamp,
            sha,
            None,
            _number(note),
            note.title,
            note.tags,
            instant(note.created) if note.created else 0.0,
            note.category,
            note.key,
            note.expires,
            note.pinned,
            note.private,
            tuple(_parts(note)),
            tuple(_leads(note)),
        )


def embed(vault: Vault, index: Index, embedder: Embedder, *, seconds: float, progress: Progress | None = None) -> None:
    """Give the passages that have no vector yet to a model, for as long as there is time; private ones to local ones."""
    from co_cli.index import vectors

    vectors.prepare(index, embedder.fingerprint)
    deadline = time.monotonic() + seconds
    totals, last = index.totals(), 0
    if totals.vectors >= totals.passages:
        return
    while time.monotonic() < deadline:
        rows = vectors.pending(index, last, BATCH, private=not embedder.remote)
        if not rows:
            return
        last = rows[-1].passage
        texts = _texts(vault, rows)
        if texts:
            vectors.put(index, embedder.fingerprint, list(texts), embedder.embed(list(texts.values())))
        if progress:
            progress(index.totals().vectors, totals.passages)


def _texts(vault: Vault, rows: list[Pending]) -> dict[int, str]:
    """The text of each passage, read from its file; one that has changed since is left for the next sync."""
    from hashlib import sha256

    bodies: dict[tuple[str, str, bytes], str] = {}
    for kind in {row.kind for row in rows}:
        names = dict.fromkeys(row.file for row in rows if row.kind == kind)
        for path, raw in vault.named_files(kind, names, []):
            with suppress(NoteError):
                name = path.rpartition(os.sep)[2]
                bodies[kind, name, sha256(raw).digest()] = parse_note(raw, kind=kind, vault=vault.name, path=path).body
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

    for passage in split(note.body, whole=note.kind == MEMORY):
        text = note.body[passage.start : passage.end]
        embedded = embedded_text(note.title, passage.heading, text).encode("utf-8", "surrogatepass")
        digest = int.from_bytes(blake2b(embedded, digest_size=8).digest(), "big", signed=True)
        yield Part(passage.start, passage.end, passage.line, passage.heading, text, digest)


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
        return note.id
    digits = len(note.slug) - len(note.slug.lstrip("0123456789"))
    return int(note.slug[:digits]) if 0 < digits <= _DIGITS else None


def _leads(note: Note) -> Iterator[tuple[str, str, int]]:
    from co_cli.links import key_of, links

    for link in links(note.body):
        key = key_of(link, note.kind)
        if key:
            yield key, link.written, link.line
