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
from co_cli.files import (
    cannot,
    discard,
    flush_folder,
    locked,
    make_folder,
    publish,
    read_bytes,
    reason,
    replace_file,
    stage,
    sweep,
)
from co_cli.frontmatter import parse_frontmatter, replace_fields
from co_cli.note import (
    CONTEXT,
    FOLDERS,
    GLOBAL,
    MEMORY,
    PROJECT,
    Note,
    NoteError,
    Problem,
    memory_name,
    parse_note,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from co_cli.journal import Change, Journal, Step
    from co_cli.settings import Places

ARCHIVE = "archive"
IGNORED = "# derived from the notes; co makes it anew\nknowledge.db*\n.lock\n"
"""What a vault tells git not to keep."""

_CHUNK = 4096
_READABLE = ("bad-frontmatter", "bad-field", "no-frontmatter", "not-utf-8")
"""The problems of files whose bytes can be read all the same."""
_HEAD = 4096
_ID = rb"(?m)^id:[ \t]*[\"']?([0-9]{1,18})"
# The header as co writes it, with no second id.
_OWN_ID = rb"---\nid: ([0-9]{1,18})\n(?:(?!id\b|---)[a-z_]+: [^\n]*\n)*---\n"
_NUMBERED = r"([0-9]{1,18})-"
_LARGEST_ID = 10**15
"""No id that co gave is larger; counting on from one that somebody made up would soon leave what a ref can name."""


class Scan(NamedTuple):
    """What a scan found: the notes, and the files that are none."""

    notes: tuple[Note, ...]
    problems: tuple[Problem, ...]


class Vault:
    """One vault: the global one, or a project's."""

    def __init__(self, root: str, name: str, journal_folder: str) -> None:
        self.root = root
        self.name = name
        self.journal_folder = journal_folder

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
        folder = self._folder(kind, archived=archived)
        if not self._inside(folder):
            problems.append(Problem(folder, "a symbolic link that leaves the vault is not followed", code="link"))
            return
        try:
            prefix = os.path.join(folder, "")
            for name, content in _contents(folder):
                path = prefix + name
                raw = self._look_closer(path, problems) if content is None else content
                if raw is not None:
                    yield path, raw
        except FileNotFoundError:
            return
        except OSError as error:
            problems.append(Problem(folder, f"cannot be read: {reason(error)}"))

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
        root = os.path.realpath(self.root)
        top = os.path.realpath(os.path.dirname(os.path.dirname(self.root))) if self.name == PROJECT else root
        real = os.path.realpath(path)
        return (real == root or real.startswith(root + os.sep)) and (root + os.sep).startswith(top.rstrip(os.sep) + os.sep)

    def read(self, path: str, kind: str) -> Note:
        """Read one note; raises ``NotFound``, ``Denied`` or ``Corrupt``."""
        if not self._inside(path):
            raise Denied(f"{path} is a symbolic link that leaves the vault: co does not follow it.")
        try:
            raw = read_bytes(path)
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

    def find(self, kind: str, name: str) -> Note | None:
        """The note of a kind with this id or slug, the archive included; ``None`` if there is none."""
        if kind == CONTEXT:
            return self.read(self.context_path, CONTEXT) if os.path.lexists(self.context_path) else None
        if kind == MEMORY:
            return self._find_memory(int(name))
        for archived in (False, True):
            path = os.path.join(self._folder(kind, archived=archived), f"{name}.md")
            if os.path.basename(path) == f"{name}.md" and os.path.isfile(path):
                return self.read(path, kind)
        return None

    def _find_memory(self, wanted: int) -> Note | None:
        """The memory with an id; raises ``Conflict`` where there are two, ``Corrupt`` where its file is no note."""

        def may_have_id(raw: bytes) -> bool:
            return wanted in _ids(raw)

        for archived in (False, True):
            scan = self.scan((MEMORY,), wanted=may_have_id, archived=archived)
            found = [note for note in scan.notes if note.id == wanted]
            if len(found) > 1:
                paths = "\n".join(sorted(note.path for note in found))
                raise Conflict(
                    f"{len(found)} memories have the id {wanted}.", "Mend it with: co doctor --fix", details=paths
                )
            if found:
                return found[0]
        for archived in (False, True):  # no note has the id: perhaps a file that is none has it in its header or its name
            for problem in self.scan((MEMORY,), archived=archived).problems:
                raw = read_bytes(problem.path) if problem.code in _READABLE else b""
                if wanted in _numbers(problem.path) or wanted in _ids(raw or b""):
                    raise Corrupt(f"{problem}.", problem.hint or "Correct it by hand, or run: co doctor --fix")
        return None

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
        with self._held():
            draft = Draft(self, operation, undoes)
            yield draft
            draft.commit()

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Hold the vault's lock, with nothing of an earlier process left half done."""
        self.guard(self.root)
        make_folder(self.root)
        with locked(self.root):
            self._settle()
            ignore = os.path.join(self.root, ".gitignore")
            if not os.path.lexists(ignore):
                sweep(self.root)
                replace_file(ignore, IGNORED.encode())
            yield

    def guard(self, folder: str) -> None:
        """Refuse to write where a symbolic link leads out of the vault."""
        if not self._inside(folder):
            raise Denied(f"{folder} leads out of the vault by a symbolic link: co does not write there.")

    def changes(self) -> Iterator[Change]:
        """The changes of this vault, newest first."""
        if self.journal.pending():
            with self._held():
                pass
        return self.journal.changes()

    def _settle(self) -> None:
        """Finish or take back what a killed process left half done."""
        for number in self.journal.pending():
            try:
                steps = self.journal.steps(number)
            except Corrupt:
                self.journal.abandon(number)
                continue
            for folder in {os.path.dirname(self.absolute(step.path)) for step in steps}:
                sweep(folder)
            if all(_now(self.absolute(step.path)) == step.after for step in steps):
                self.journal.finish(number)
            else:
                self.take_back(steps)
                self.journal.abandon(number)

    def take_back(self, steps: Iterable[Step]) -> None:
        """Put back what was there before, in those files that still hold what the change put into them."""
        for step in steps:
            path = self.absolute(step.path)
            if step.before != step.after and _now(path) == step.after:
                _put(path, step.before)

    def absolute(self, relative: str) -> str:
        """The full path of a file that the journal names."""
        return os.path.join(self.root, *relative.split("/"))

    def relative(self, path: str) -> str:
        """The name of a file in the journal."""
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    def next_id(self) -> int:
        """One more than the largest id in use, the archive included."""
        taken = {0}
        problems: list[Problem] = []
        for archived in (False, True):
            for path, raw in self.files(MEMORY, problems, archived=archived):
                taken.update(_ids(raw), _numbers(path))
        for problem in problems:
            if problem.code == "unreadable" and os.path.basename(problem.path) == FOLDERS[MEMORY]:
                raise Unavailable(f"{problem.path} {problem.message}.", "Nothing was changed. Check its permissions.")
            taken.update(_numbers(problem.path))  # a file that cannot be read still has its name
        new_id = max(number for number in taken if number < _LARGEST_ID) + 1
        while new_id in taken:
            new_id += 1
        return new_id

    def memory_path(self, memory_id: int, content: str) -> str:
        """Where a new memory goes."""
        return os.path.join(self._folder(MEMORY), memory_name(memory_id, content))

    def archive_path(self, note: Note, *, archived: bool) -> str:
        """Where a note lies in the archive, or out of it."""
        return os.path.join(self._folder(note.kind, archived=archived), os.path.basename(note.path))

    # ------------------------------------------------------------------------------------------------------- taking back

    def undo(self, number: int) -> Change:
        """Take a change back; refuses with the difference where a file has been changed since."""
        with self.change("undo", undoes=number) as draft:
            change = next((change for change in self.journal.changes() if change.number == number), None)
            if change is None:
                raise NotFound(f"There is no change {number}.", "`co log` lists the changes.")
            if change.undone:
                raise Conflict(f"Change {number} has been undone already.", "`co log` lists the changes.")
            steps = self.journal.steps(number)
            taken = self._ids_beside(steps)
            returning = {number for step in steps for number in _ids(step.before or b"")}
            for step in reversed(steps):
                path = self.absolute(step.path)
                now = _now(path)
                if now != step.after:
                    raise Conflict(
                        f"{path} has been changed since: undoing would lose that.",
                        "Nothing was changed. Bring it in order by hand, or undo the later change first.",
                        details=difference(step.after, now, "as co left it", "as it is now"),
                    )
                self._reverse(draft, step, taken, returning)
            draft.summary = f"undid: {change.summary}" if change.undoes is None else f"redid: {change.summary[7:]}"
        return change

    def _ids_beside(self, steps: tuple[Step, ...]) -> set[int]:
        """The ids of all memories but those that taking these steps back will remove."""
        leaving = {self.absolute(step.path) for step in steps if step.before is None}
        files = (file for archived in (False, True) for file in self.files(MEMORY, [], archived=archived))
        return {number for path, raw in files if path not in leaving for number in _ids(raw)}

    def _reverse(self, draft: Draft, step: Step, taken: set[int], returning: set[int]) -> None:
        path, restored = self.absolute(step.path), step.before
        folder, name = os.path.split(path)
        if step.after is None and restored is not None and os.path.basename(folder) == FOLDERS[MEMORY]:
            if _ids(restored) & taken:
                # Meanwhile another memory got the id: the one that comes back takes a new one.
                new_id = self.next_id()
                while new_id in taken | returning:
                    new_id += 1
                restored = replace_fields(restored.decode("utf-8"), {"id": new_id}).encode("utf-8")
                path = os.path.join(folder, re.sub(r"^[0-9]+", f"{new_id:03d}", name))
            taken |= _ids(restored)
        draft.put(path, step.after, restored)


class Draft:
    """A change in the making, for one who holds the vault's lock."""

    def __init__(self, vault: Vault, operation: str, undoes: int | None = None) -> None:
        self.vault = vault
        self.operation = operation
        self.undoes = undoes
        self.summary = ""
        self.steps: list[Step] = []
        self._private: set[str] = set()

    def create(self, path: str, raw: bytes, *, private: bool = False) -> None:
        """Add a file that must not exist yet."""
        self.put(path, None, raw, private=private)

    def replace(self, note: Note, raw: bytes, *, private: bool = False) -> None:
        """Put new bytes in place of those that were read."""
        self.put(note.path, note.raw, raw, private=private)

    def remove(self, note: Note) -> None:
        """Remove a file that is as it was read."""
        self.put(note.path, note.raw, None)

    def move(self, note: Note, path: str) -> None:
        """Give a file another place."""
        self.create(path, note.raw, private=note.private)
        self.remove(note)

    def put(self, path: str, before: bytes | None, after: bytes | None, *, private: bool = False) -> None:
        """Add one step: the file must hold ``before``, and will hold ``after``."""
        from co_cli.journal import Step

        if before != after:
            self.steps.append(Step(self.vault.relative(path), before, after))
            if private:
                self._private.add(path)

    def commit(self) -> None:
        """Check, write the journal, write the files; on any failure everything is as it was."""
        if not self.steps:
            return
        folders = self._folders()
        for step in self.steps:
            self._check(step)
        journal = self.vault.journal
        number = journal.begin(self.operation, self.summary, tuple(self.steps), self.undoes)
        staged: list[str | None] = []
        applied = 0
        try:
            for folder in folders:
                make_folder(folder)
                sweep(folder)
            staged.extend(map(self._stage, self.steps))
            for step, temporary in zip(self.steps, staged, strict=True):
                self._apply(step, temporary)
                applied += 1
                flush_folder(os.path.dirname(self.vault.absolute(step.path)))
        except (OSError, CoError) as error:
            self.vault.take_back(self.steps[:applied])
            journal.abandon(number)
            for temporary in filter(None, staged):
                discard(temporary)
            if isinstance(error, OSError):
                raise cannot("written", self.vault.root, error) from error
            raise
        with suppress(Unavailable):  # the files are in place: whoever comes next can note that just as well
            journal.finish(number)

    def _folders(self) -> set[str]:
        folders = {os.path.dirname(self.vault.absolute(step.path)) for step in self.steps}
        for folder in folders:
            self.vault.guard(folder)
        return folders

    def _stage(self, step: Step) -> str | None:
        if step.after is None:
            return None
        path = self.vault.absolute(step.path)
        return stage(path, step.after, 0o600 if path in self._private else _mode(step.after))

    def _apply(self, step: Step, temporary: str | None) -> None:
        path = self.vault.absolute(step.path)
        self._check(step)  # once more, at the last moment: an editor may have saved since
        if temporary is None:
            os.unlink(path)
        else:
            try:
                publish(temporary, path, new=step.before is None)
            except FileExistsError:
                self._check(step)
                raise

    def _check(self, step: Step) -> None:
        path = self.vault.absolute(step.path)
        now = _now(path)
        if now != step.before:
            raise Conflict(
                f"{path} was changed by another program meanwhile.",
                "Nothing was overwritten. Look at both, then try again.",
                details=difference(now, step.after, "as it is now", "as it would have become"),
            )


def open_vaults(places: Places) -> tuple[Vault, Vault]:
    """The project's vault and the global one, in the order in which they are asked."""
    project = os.path.basename(os.path.realpath(places.project))
    return (
        Vault(places.project_vault, PROJECT, _journal_folder(places, places.project_vault, project)),
        Vault(places.global_vault, GLOBAL, _journal_folder(places, places.global_vault, "global")),
    )


def _journal_folder(places: Places, root: str, label: str) -> str:
    import zlib

    # The label is for people who look into the folder; the number tells two vaults with one label apart.
    place = os.path.realpath(root).encode("utf-8", "surrogateescape")
    label = re.sub(r"[^A-Za-z0-9_-]+", "-", label)[:40]
    return os.path.join(places.state, "journal", f"{label}-{zlib.crc32(place):08x}{zlib.adler32(place):08x}")


def _contents(folder: str) -> Iterator[tuple[str, bytes | None]]:
    """The name and bytes of each note file in a folder; ``None`` for one that takes a closer look.

    Reading every note is what a search without an index costs, so this asks the system for no more than it must: names are
    opened relative to the folder, and what is no ordinary file shows in an error or in nothing to read.
    """
    if os.open not in os.supports_dir_fd:
        yield from ((name, None) for name in os.listdir(folder) if _is_note_name(name))
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in os.listdir(handle):
            if _is_note_name(name):
                yield name, _read_at_once(name, handle)
    finally:
        os.close(handle)


def _is_note_name(name: str) -> bool:
    return name.endswith(".md") and name[0] != "."


def _read_at_once(name: str, folder: int) -> bytes | None:
    try:  # without following links, and without waiting for the other end of a pipe
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError:
        return None
    try:
        raw = os.read(handle, _CHUNK)
        if len(raw) == _CHUNK:
            parts = [raw]
            while parts[-1]:
                parts.append(os.read(handle, _CHUNK * 256))
            raw = b"".join(parts)
    except OSError:
        return None
    finally:
        os.close(handle)
    return raw or None


def _put(path: str, content: bytes | None) -> None:
    """Put back what was there before; what cannot be put back now stays in the journal for the next one to settle."""
    try:
        if content is None:
            os.unlink(path)
        else:
            publish(stage(path, content, _mode(content)), path, new=False)
        flush_folder(os.path.dirname(path))
    except OSError as error:
        hint = "A change was made by half; the next command that can write there takes it back."
        raise Unavailable(f"{path} cannot be put back: {reason(error)}.", hint) from error


def _now(path: str) -> bytes | None:
    """What a file that is about to be changed holds."""
    try:
        return read_bytes(path)
    except OSError as error:
        raise cannot("read", path, error) from error


def _mode(raw: bytes) -> int | None:
    """The permissions that a file must have for what is in it, if that matters."""
    return 0o600 if b"private" in raw and _fields(raw).get("private") is True else None


def _fields(raw: bytes) -> dict[str, Any]:
    """The header of a file, as far as it can be read."""
    try:
        return parse_frontmatter(raw.decode("utf-8"))[0]
    except ValueError:
        return {}


def _ids(raw: bytes) -> set[int]:
    """The ids that a file could claim: what its header says or, where that cannot be read, what looks like one."""
    found = re.match(_OWN_ID, raw)
    if found:
        return {int(found[1])}
    claimed = _fields(raw).get("id")
    if type(claimed) is int:
        return {claimed}
    found = re.search(_ID, raw[:_HEAD])
    return {int(found[1])} if found else set()


def _numbers(path: str) -> list[int]:
    found = re.match(_NUMBERED, os.path.basename(path))
    return [int(found[1])] if found else []


def difference(one: bytes | None, other: bytes | None, one_name: str, other_name: str) -> str:
    """What a person compares: the lines in which two versions of a file differ."""
    import difflib

    def lines(raw: bytes | None) -> list[str]:
        return [] if raw is None else raw.decode("utf-8", "replace").splitlines()

    if one is None or other is None:
        present = lines(other if one is None else one)
        missing, there = (one_name, other_name) if one is None else (other_name, one_name)
        return "\n".join([f"{missing}: no file", f"{there}:", *present])
    return "\n".join(difflib.unified_diff(lines(one), lines(other), one_name, other_name, lineterm=""))
