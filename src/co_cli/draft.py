"""A change in the making: what is to become of which files, done at once or not at all.

Owns the guarding of files by their bytes, the order of journal and writes, and taking back what was done by half. Knows
nothing of what a note means: paths and bytes are all it needs. Everything here is for one who holds the vault's lock.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from co_cli.errors import Conflict, Corrupt, Denied, Unavailable
from co_cli.files import cannot, flush_folder, is_within, make_folder, publish, read_bytes, reason, stage, sweep
from co_cli.frontmatter import parse_frontmatter
from co_cli.journal import Digest, Done, Journal, Step, is_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from co_cli.note import Note


class Draft:
    """A change in the making."""

    def __init__(self, root: str, journal: Journal, operation: str, undoes: int | None = None) -> None:
        self.root = root
        self.journal = journal
        self.operation = operation
        self.undoes = undoes
        self.summary = ""
        self.steps: list[Step] = []
        self.modes: dict[str, int | None] = {}
        """The permissions that new files are to have, where that was said."""

    def create(self, path: str, raw: bytes) -> None:
        """Add a file that must not exist yet."""
        self.put(path, None, raw)

    def replace(self, note: Note, raw: bytes) -> None:
        """Put new bytes in place of those that were read."""
        self.put(note.path, note.raw, raw)

    def remove(self, note: Note) -> None:
        """Remove a file that is as it was read."""
        self.put(note.path, note.raw, None)

    def move(self, note: Note, path: str) -> None:
        """Give a file another place."""
        self.put(path, None, note.raw, mode=_permissions(note.path))
        self.remove(note)

    def put(self, path: str, before: bytes | None, after: bytes | None, *, mode: int | None = None) -> None:
        """Add one step: the file must hold ``before``, and will hold ``after``; ``mode`` is for a file that is new."""
        if before != after:
            path = os.path.realpath(path)  # where a link inside of the vault leads, the link stays
            self.steps.append(Step(relative(self.root, path), before, after, _permissions(path)))
            self.modes[self.steps[-1].path] = mode

    def commit(self) -> None:
        """Check, write the journal, write the files; on any failure everything is as it was."""
        if not self.steps:
            return
        folders = self._folders()
        for step in self.steps:
            self._check(step)
        number = self.journal.begin(self.operation, self.summary, tuple(self.steps), self.undoes)
        staged: list[str | None] = []
        applied = 0
        try:
            for folder in folders:
                make_folder(folder)
                sweep(folder)
            staged.extend(map(self._stage, self.steps))
            for step, temporary in zip(self.steps, staged, strict=True):
                self._check(step)  # once more, at the last moment: an editor may have saved since
                applied += 1  # from here on, it may have happened
                self._apply(step, temporary)
            for folder in folders:  # once for all steps: until the journal says that it is done, it is settled by that
                flush_folder(folder)
        except BaseException as error:  # Ctrl-C too: what was begun is taken back
            take_back(self.root, self.steps[:applied])
            self.journal.abandon(number)
            for folder in folders:
                sweep(folder)
            if isinstance(error, OSError):
                raise cannot("written", self.root, error) from error
            raise
        with suppress(Unavailable):  # the files are in place: whoever comes next can note that just as well
            self.journal.finish(number)

    def _folders(self) -> set[str]:
        folders = {os.path.dirname(absolute(self.root, step.path)) for step in self.steps}
        for folder in folders:
            guard(folder, self.root)
        return folders

    def _stage(self, step: Step) -> str | None:
        if step.after is None:
            return None
        path = absolute(self.root, step.path)
        return stage(path, step.after, _private_mode(step.after) or self.modes.get(step.path))

    def _apply(self, step: Step, temporary: str | None) -> None:
        path = absolute(self.root, step.path)
        if temporary is None:
            os.unlink(path)
        else:
            try:
                publish(temporary, path, new=step.before is None)
            except FileExistsError:
                self._check(step)
                raise

    def _check(self, step: Step) -> None:
        path = absolute(self.root, step.path)
        now = content_of(path)
        if now != step.before:
            raise Conflict(
                f"{path} was changed by another program meanwhile.",
                "Nothing was overwritten. Look at both, then try again.",
                details=difference(now, step.after, "as it is now", "as it would have become"),
            )


def settle(root: str, journal: Journal) -> None:
    """Finish or take back what a killed process left half done."""
    for number in journal.pending():
        try:
            steps = journal.steps(number)
        except Corrupt:
            journal.set_aside(number)
            continue
        for folder in {os.path.dirname(absolute(root, step.path)) for step in steps}:
            sweep(folder)
        if all(is_of(content_of(absolute(root, step.path)), step.after) for step in steps):
            journal.finish(number)
        else:
            take_back(root, steps)
            journal.abandon(number)


def take_back(root: str, steps: Iterable[Step | Done]) -> None:
    """Put back what was there before, in those files that still hold what the change put into them."""
    for step in steps:
        path = absolute(root, step.path)
        if step.before != step.after and is_of(content_of(path), step.after):
            _put(path, step.before, step.mode)


def absolute(root: str, relative: str) -> str:
    """The full path of a file that the journal names."""
    return os.path.join(root, *relative.split("/"))


def relative(root: str, path: str) -> str:
    """The name of a file in the journal."""
    top = root if path.startswith(os.path.join(root, "")) else os.path.realpath(root)
    return os.path.relpath(path, top).replace(os.sep, "/")


def _put(path: str, content: bytes | None, mode: int | None) -> None:
    """Put back what was there before; what cannot be put back now stays in the journal for the next one to settle."""
    try:
        if content is None:
            os.unlink(path)
        else:
            publish(stage(path, content, _private_mode(content) or mode), path, new=False)
        flush_folder(os.path.dirname(path))
    except OSError as error:
        hint = "A change was made by half; the next command that can write there takes it back."
        raise Unavailable(f"{path} cannot be put back: {reason(error)}.", hint) from error


def content_of(path: str) -> bytes | None:
    """What a file that is about to be changed holds."""
    try:
        return read_bytes(path)
    except OSError as error:
        raise cannot("read", path, error) from error


def _permissions(path: str) -> int | None:
    """The permissions of a file, ``None`` where there is none."""
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return None


def _private_mode(raw: bytes) -> int | None:
    """The permissions that a file must have for what is in it, if that matters."""
    return 0o600 if b"private" in raw and _says_private(raw) else None


def _says_private(raw: bytes) -> bool:
    try:
        return parse_frontmatter(raw.decode("utf-8"))[0].get("private") is True
    except ValueError:
        return False


def guard(folder: str, root: str) -> None:
    """Refuse to write where a symbolic link leads out of the vault."""
    if not is_within(folder, root):
        raise Denied(f"{folder} leads out of the vault by a symbolic link: co does not write there.")


def difference(one: bytes | Digest | None, other: bytes | Digest | None, one_name: str, other_name: str) -> str:
    """What a person compares: the lines in which two versions of a file differ."""
    import difflib

    if one is None or other is None:
        present = _lines(other if one is None else one)
        missing, there = (one_name, other_name) if one is None else (other_name, one_name)
        return "\n".join([f"{missing}: no file", f"{there}:", *present])
    return "\n".join(difflib.unified_diff(_lines(one), _lines(other), one_name, other_name, lineterm=""))


def _lines(raw: bytes | Digest | None) -> list[str]:
    """The lines of a file; what is no text, or only known by its hash, is named by its size."""
    if raw is None:
        return []
    if isinstance(raw, Digest) or b"\0" in raw:
        from co_cli.note import sha_of

        size, sha256 = raw if isinstance(raw, Digest) else (len(raw), sha_of(raw))
        return [f"{size:,} bytes, sha256 {sha256}"]
    return raw.decode("utf-8", "replace").splitlines()
