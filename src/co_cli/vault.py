"""A folder of notes: the only module that touches note files.

Owns scanning, reading, guarded writing, ids, the archive and taking changes back. Knows nothing of search, prompts or
surfaces.

Every change runs under the vault's lock, is guarded by the bytes that were read, is written to the journal first, and
happens as a whole or not at all.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import CoError, Conflict, Corrupt, Denied, NotFound, Unavailable
from co_cli.files import is_within, locked, make_folder, read_bytes, reason, replace_file, sweep
from co_cli.folder import contents, is_note_name, leads_straight, look, settled_stamp
from co_cli.note import (
    CONTEXT,
    FOLDERS,
    GLOBAL,
    MEMORY,
    PROJECT,
    Note,
    NoteError,
    Problem,
    claimed_ids,
    memory_name,
    numbers_in,
    parse_note,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from co_cli.draft import Draft
    from co_cli.folder import Look
    from co_cli.journal import Change, Journal
    from co_cli.settings import Places

ARCHIVE, SEED = "archive", "seed"
IGNORED = (
    "# derived from the notes; co makes it anew\nknowledge.db*\n.lock\n# private notes stay on this machine\n*-private.md\n"
    "attachments/*-private*\n"
)
"""What a vault tells git not to keep."""

_READABLE = ("bad-frontmatter", "bad-field", "no-frontmatter", "not-utf-8")
"""The problems of files whose bytes can be read all the same."""
_LARGEST_ID = 10**15
"""No id that co gave is larger; counting on from one that somebody made up would soon leave what a ref can name."""


class Scan(NamedTuple):
    """What a scan found: the notes, and the files that are none."""

    notes: tuple[Note, ...]
    problems: tuple[Problem, ...]


class Vault:
    """One vault: the global one, or a project's."""

    read_only = False
    """Whether nothing may be changed here, since it is somebody else's: see co_cli.linked."""
    rehearses = False  # whether changes are only noted: see co_cli.rehearsal

    def __init__(self, root: str, name: str, journal_folder: str) -> None:
        self.root, self.name, self.journal_folder = root, name, journal_folder

    @property
    def key(self) -> str:
        """What tells this vault from every other in the state folder: a label for people, and a number for its place."""
        return os.path.basename(self.journal_folder)

    @property
    def journal(self) -> Journal:
        """The changes of this vault; loaded where they are needed, since most commands only read."""
        from co_cli.journal import Journal

        return Journal(self.journal_folder)

    # ----------------------------------------------------------------------------------------------------------- reading

    def scan(
        self,
        kinds: Iterable[str] = tuple(FOLDERS),
        *,
        wanted: Callable[[bytes], bool] | None = None,
        archived: bool = False,
    ) -> Scan:
        """Read every note of these kinds; with ``wanted``, only those whose bytes it says yes to."""
        notes: list[Note] = []
        problems: list[Problem] = []
        for kind in kinds:
            for path, raw in self.files(kind, problems, archived=archived):
                if wanted is None or wanted(raw):
                    try:
                        notes.append(parse_note(raw, kind=kind, vault=self.name, path=path))
                    except NoteError as error:
                        problems.append(error.problem)
        return Scan(tuple(notes), tuple(sorted(problems, key=lambda problem: (problem.path, problem.line))))

    def files(self, kind: str, problems: list[Problem], *, archived: bool = False) -> Iterator[tuple[str, bytes]]:
        """The path and the bytes of each note file of a kind; what cannot be read is added to the problems."""
        yield from self._read_all(self._folder(kind, archived=archived), None, problems)

    def seeds(self, problems: list[Problem]) -> Iterator[tuple[str, bytes]]:
        """The path and the bytes of each seed document of this vault."""
        yield from self._read_all(self.seed_folder, None, problems)

    @property
    def seed_folder(self) -> str:
        """The folder of the documents that become topics by themselves, once."""
        return os.path.join(self.root, SEED)

    def named_files(
        self, kind: str, names: Iterable[str], problems: list[Problem], *, archived: bool = False
    ) -> Iterator[tuple[str, bytes]]:
        """The path and the bytes of just these files of a kind."""
        yield from self._read_all(self._folder(kind, archived=archived), names, problems)

    def _read_all(self, folder: str, names: Iterable[str] | None, problems: list[Problem]) -> Iterator[tuple[str, bytes]]:
        try:
            if self._leaves(folder, problems):
                return
            prefix = os.path.join(folder, "")
            for name, content in contents(folder, names):
                path = prefix + name
                raw = self._look_closer(path, problems) if content is None else content
                if raw is not None:
                    yield path, raw
        except FileNotFoundError:
            return
        except OSError as error:
            problems.append(Problem(folder, f"cannot be read: {reason(error)}"))

    def _leaves(self, folder: str, problems: list[Problem]) -> bool:
        """Whether a folder is not to be read, since a link leads out of the vault."""
        leaves = not self._inside(folder)
        if leaves:
            problems.append(Problem(folder, "a symbolic link that leaves the vault is not followed", code="link"))
        return leaves

    def look(self, kind: str, problems: list[Problem], *, archived: bool = False) -> Look | None:
        """What one look at the files of a kind shows, without reading any.

        ``None`` where there is no such folder, or it could not be read to its end: then nothing is known to be gone.
        """
        folder = self._folder(kind, archived=archived)
        try:
            return None if self._leaves(folder, problems) else look(folder)
        except FileNotFoundError:
            return None
        except OSError as error:
            problems.append(Problem(folder, f"cannot be read: {reason(error)}"))
            return None

    def stamps(self, kind: str, problems: list[Problem], *, archived: bool = False) -> dict[str, int] | None:
        """The name of each note file of a kind with its stamp, as one look shows them; ``None`` as there."""
        found = self.look(kind, problems, archived=archived)
        return found.by_name() if found else None

    def settled_stamp(self, kind: str, name: str) -> int:
        """The stamp of a file where it says for certain what the file holds, else ``0``."""
        try:
            return settled_stamp(os.lstat(self.path_of(kind, name)))
        except OSError:
            return 0

    def may_be_note(self, kind: str, name: str) -> bool:
        """Whether there is an ordinary file of this name, or could be: where nobody may look, nothing is known."""
        try:
            return stat.S_ISREG(os.lstat(self.path_of(kind, name)).st_mode)
        except FileNotFoundError:
            return False
        except OSError:
            return True

    def folder_identity(self, kind: str) -> str:
        """What tells the folder of a kind from any other that may lie in its place."""
        try:
            found = os.stat(self._folder(kind))
        except OSError:
            return ""
        return f"{found.st_dev} {found.st_ino}"

    def is_whole(self) -> bool:
        """Whether the vault lies where it belongs, and no link leads out of the project."""
        return self._inside(self.root)

    def count(self, kinds: Iterable[str], enough: int) -> int:
        """How many note files of these kinds there are, counted no further than it takes to know that there are enough."""
        total = 0
        for kind in kinds:
            with suppress(OSError), os.scandir(self._folder(kind)) as entries:
                for entry in entries:
                    total += is_note_name(entry.name)
                    if total >= enough:
                        return total
        return total

    def names(self, kind: str) -> frozenset[str]:
        """The names of the note files of a kind, without their endings."""
        folder = self._folder(kind)
        try:
            names = os.listdir(folder) if self._inside(folder) else []
        except (FileNotFoundError, NotADirectoryError):
            names = []
        except OSError as error:
            raise Unavailable(f"{folder} cannot be read: {reason(error)}.", "Check its permissions.") from error
        return frozenset(name[:-3] for name in names if is_note_name(name))

    def path_of(self, kind: str, name: str, *, archived: bool = False) -> str:
        """The path of a file of a kind."""
        return os.path.join(self._folder(kind, archived=archived), name)

    def _look_closer(self, path: str, problems: list[Problem]) -> bytes | None:
        """Read what could not be read at once, or say why it is no note."""
        try:
            mode = os.lstat(path).st_mode
            if stat.S_ISREG(mode):
                return read_bytes(path)
            if stat.S_ISLNK(mode):
                if not self._inside(path):
                    message = "a symbolic link that leaves the vault is not followed"
                    problems.append(Problem(path, message, code="link"))
                elif not os.path.exists(path):
                    problems.append(Problem(path, "a symbolic link to nothing", code="link"))
                return None  # a link inside the vault: its target is read under its own name
            what = "a folder" if stat.S_ISDIR(mode) else "no regular file"
            problems.append(Problem(path, f"{what}, not a note", hint="Rename or move it.", code="not-a-file"))
        except FileNotFoundError:  # removed since the folder was listed
            return None
        except OSError as error:
            hint = f"Check its permissions: ls -l {path}"
            problems.append(Problem(path, f"cannot be read: {reason(error)}", hint=hint))
        return None

    def _inside(self, path: str) -> bool:
        """Whether a path, links resolved, lies in the vault, and a project's vault in its project."""
        top = os.path.dirname(os.path.dirname(self.root)) if self.name == PROJECT else self.root
        if leads_straight(path, top):
            return True
        return is_within(path, self.root) and is_within(self.root, top)

    def read(self, path: str, kind: str) -> Note:
        """Read one note; raises ``NotFound``, ``Denied`` or ``Corrupt``."""
        if not self._inside(path):
            raise Denied(f"{path} is a symbolic link that leaves the vault: co does not follow it.")
        try:
            raw = self.content(path)
        except OSError as error:
            raise Corrupt(f"{path} cannot be read: {reason(error)}.", "Check its permissions.") from error
        if raw is None:
            raise NotFound(f"There is no file {path}.")
        try:
            return parse_note(raw, kind=kind, vault=self.name, path=path)
        except NoteError as error:
            raise Corrupt(
                f"{error.problem}.", error.problem.hint or "Correct it by hand, or run: co doctor --fix"
            ) from error

    def read_named(self, kind: str, names: Iterable[str]) -> dict[str, Note]:
        """The notes in just these files of a kind, by their names; what is no note, or gone, is left out."""
        notes = {}
        for path, raw in self.named_files(kind, names, []):
            with suppress(NoteError):
                notes[self.name_of(path)] = self.parse(raw, kind, path)
        return notes

    def parse(self, raw: bytes, kind: str, path: str) -> Note:
        """The note in a file; raises ``NoteError``."""
        return parse_note(raw, kind=kind, vault=self.name, path=path)

    def name_of(self, path: str) -> str:
        """The name of a file among those of its kind."""
        return path.rpartition(os.sep)[2]

    def folder_of(self, note: Note) -> str:
        """The folder, in the vault, that the links in a note start from."""
        return FOLDERS.get(note.kind, "")

    def find(self, kind: str, name: str) -> Note | None:
        """The note of a kind with this id or slug, the archive included; ``None`` if there is none."""
        if kind == CONTEXT:
            found = self._exists(self.context_path) or os.path.lexists(self.context_path)
            return self.read(self.context_path, CONTEXT) if found else None
        if kind == MEMORY:
            return self._find_memory(int(name))
        for archived in (False, True):
            path = os.path.join(self._folder(kind, archived=archived), f"{name}.md")
            if os.path.basename(path) == f"{name}.md" and self._exists(path):
                return self.read(path, kind)
        return None

    def content(self, path: str) -> bytes | None:
        """What a file holds, ``None`` where there is none; raises ``OSError``."""
        return read_bytes(path)

    def _exists(self, path: str) -> bool:
        return os.path.isfile(path)

    def _find_memory(self, wanted: int) -> Note | None:
        """The memory with an id; raises ``Conflict`` where there are two, ``Corrupt`` where its file is no note."""

        def may_have_id(raw: bytes) -> bool:
            return wanted in claimed_ids(raw)

        broken: list[Problem] = []
        for archived in (False, True):
            scan = self.scan((MEMORY,), wanted=may_have_id, archived=archived)
            found = [note for note in scan.notes if note.id == wanted]
            if len(found) > 1:
                paths = "\n".join(sorted(note.path for note in found))
                hint = "Mend it with: co doctor --fix"
                raise Conflict(f"{len(found)} memories have the id {wanted}.", hint, details=paths)
            if found:
                return found[0]
            broken.extend(
                problem for problem in scan.problems if problem.code in _READABLE or wanted in numbers_in(problem.path)
            )
            broken.extend(self._wrong_with(wanted, archived=archived))
        if broken:  # no note has the id, but a file that is no note has it in its header or its name
            raise Corrupt(f"{broken[0]}.", broken[0].hint or "Correct it by hand, or run: co doctor --fix")
        return None

    def _wrong_with(self, number: int, *, archived: bool) -> list[Problem]:
        """What is wrong with the files whose names begin with a number."""
        folder = self._folder(MEMORY, archived=archived)
        problems: list[Problem] = []
        try:
            names = os.listdir(folder) if self._inside(folder) else []
        except OSError:
            return []
        for name in names:
            if is_note_name(name) and number in numbers_in(name):
                path = os.path.join(folder, name)
                raw = self._look_closer(path, problems)
                try:
                    parse_note(raw or b"", kind=MEMORY, vault=self.name, path=path)
                except NoteError as error:
                    problems.append(error.problem)
        return problems

    def is_archived(self, note: Note) -> bool:
        """Whether a note lies in the archive: kept and readable, but no longer recalled."""
        return note.path.startswith(os.path.join(self.root, ARCHIVE) + os.sep)

    @property
    def context_path(self) -> str:
        """The file of the context that is always loaded."""
        return os.path.join(self.root, "context.md")

    def _folder(self, kind: str, *, archived: bool = False) -> str:
        return os.path.join(self.root, *((ARCHIVE,) if archived else ()), FOLDERS[kind])

    # ---------------------------------------------------------------------------------------------------------- changing

    @contextmanager
    def change(self, operation: str, *, undoes: int | None = None) -> Iterator[Draft]:
        """Make a change: what the draft holds when the block ends is done at once, or not at all."""
        from co_cli.draft import Draft

        draft = Draft(self.root, self.journal, operation, undoes)
        with self._held():
            yield draft
            draft.commit()

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Hold the vault's lock, with nothing of an earlier process left half done."""
        from co_cli.draft import settle

        if not self._inside(self.root):
            raise Denied(f"{self.root} leads out of the project by a symbolic link: co does not write there.")
        make_folder(self.root)
        with locked(self.root):
            settle(self.root, self.journal)
            self._write_ignored()
            yield

    def tell_git(self) -> None:
        """See to it that git leaves out what is derived; a folder that cannot be written is left as it is."""
        if not os.path.lexists(os.path.join(self.root, ".gitignore")):
            with suppress(CoError), self._held():
                pass

    def _write_ignored(self) -> None:
        ignore = os.path.join(self.root, ".gitignore")
        if not os.path.lexists(ignore):
            sweep(self.root)
            replace_file(ignore, IGNORED.encode())

    def changes(self) -> Iterator[Change]:
        """The changes of this vault, newest first."""
        if self.journal.pending():
            with self._held():
                pass
        return self.journal.changes()

    def next_id(self) -> int:
        """One more than the largest id in use, the archive included."""
        taken = {0}
        problems: list[Problem] = []
        for archived in (False, True):
            for path, raw in self.files(MEMORY, problems, archived=archived):
                taken.update(claimed_ids(raw), numbers_in(path))
        for problem in problems:
            if problem.code == "unreadable" and os.path.basename(problem.path) == FOLDERS[MEMORY]:
                raise Unavailable(f"{problem.path} {problem.message}.", "Nothing was changed. Check its permissions.")
            taken.update(numbers_in(problem.path))  # a file that cannot be read still has its name
        new_id = max(number for number in taken if number < _LARGEST_ID) + 1
        while new_id in taken:
            new_id += 1
        return new_id

    def memory_path(self, memory_id: int, content: str, *, private: bool = False) -> str:
        """Where a new memory goes."""
        return os.path.join(self._folder(MEMORY), memory_name(memory_id, content, private=private))

    def archive_path(self, note: Note, *, archived: bool) -> str:
        """Where a note lies in the archive, or out of it."""
        return os.path.join(self._folder(note.kind, archived=archived), os.path.basename(note.path))


def open_vaults(places: Places) -> tuple[Vault, Vault]:
    """The project's vault and the global one, in the order in which they are asked."""
    project = os.path.basename(os.path.realpath(places.project))
    return (
        Vault(places.project_vault, PROJECT, _journal_folder(places, places.project_vault, project)),
        Vault(places.global_vault, GLOBAL, _journal_folder(places, places.global_vault, "global")),
    )


def documents(folder: str, problems: list[Problem]) -> Iterator[tuple[str, bytes]]:
    """The path and the bytes of each Markdown file in a folder that is no vault, read with the same care."""
    yield from Vault(folder, "", "")._read_all(folder, None, problems)  # noqa: SLF001 - its own module


def _journal_folder(places: Places, root: str, label: str) -> str:
    import zlib

    # The label is for people who look into the folder; the number tells two vaults with one label apart.
    place = os.path.realpath(root).encode("utf-8", "surrogateescape")
    label = re.sub(r"[^A-Za-z0-9_-]+", "-", label)[:40]
    return os.path.join(places.state, "journal", f"{label}-{zlib.crc32(place):08x}{zlib.adler32(place):08x}")
