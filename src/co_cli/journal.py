"""Every change that co made to the files of a vault, with what was there before and after.

Owns the files of the journal: one a change, named by its number. Knows nothing of notes: paths and bytes are all it sees.

A change is written down before the first file is touched (``.pending``) and renamed when the last one is in place
(``.change``). Whoever next holds the vault's lock settles what a killed process left pending. All functions that write are
for one who holds that lock.

What is large is not written into the entry: what was there before lies in a file of its own, once for all entries, and what
came after is known by its hash, since the file itself has it. So a large original costs its room once.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import Corrupt, NotFound
from co_cli.files import cannot, discard, flush_folder, make_folder, publish, read_bytes, replace_file, stage, sweep

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import Any

KEPT = 2000
"""How many changes of a vault are kept; older ones can no longer be undone."""

LARGE = 64 * 1024
"""Bytes from which a content is not written into the entry."""

_NAME = re.compile(r"([0-9]{8})\.(change|pending)")
_PRUNE_EVERY = 50


class Digest(NamedTuple):
    """A large content that is known by its hash alone."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Step:
    """What a change does to one file; ``None`` stands for no file."""

    path: str
    """Relative to the vault, with forward slashes."""
    before: bytes | None
    after: bytes | None
    mode: int | None = None
    """The permissions of the file before."""


@dataclass(frozen=True, slots=True)
class Done:
    """A step as the journal knows it: of what is large, only the hash is left once it is in its file."""

    path: str
    before: bytes | None
    after: bytes | Digest | None
    mode: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One change, made at once or not at all."""

    number: int
    at: str
    operation: str
    summary: str
    paths: tuple[str, ...]
    undoes: int | None = None
    undone: bool = False
    """Whether a later change took this one back."""
    struck: bool = False
    """Whether something of it was struck out, so that it cannot be taken back any more."""


@dataclass(frozen=True, slots=True)
class Journal:
    """The journal of one vault."""

    folder: str

    def begin(self, operation: str, summary: str, steps: tuple[Step, ...], undoes: int | None = None) -> int:
        """Write a change down before it is made; returns its number."""
        from datetime import UTC, datetime

        make_folder(self.folder, mode=0o700)
        sweep(self.folder)
        sweep(self._kept_folder)
        numbers = self._numbers()
        number = (numbers[-1] if numbers else 0) + 1
        header = {
            "at": datetime.now(UTC).isoformat(timespec="microseconds"),
            "operation": operation,
            "summary": summary,
            "undoes": undoes,
        }
        for step in steps:
            if step.before is not None and _is_large(step.before):
                self._keep(step.before)
        path = self._path(number, "pending")
        staged = stage(path, _entry(header, steps), mode=0o600)
        try:
            publish(staged, path, new=True)
            flush_folder(self.folder)
        except OSError as error:
            discard(staged)
            raise cannot("written", path, error) from error
        if number % _PRUNE_EVERY == 0:
            self._prune(numbers)
        return number

    def _prune(self, numbers: list[int]) -> None:
        """Remove the oldest entries, and what was kept for them alone."""
        for old in numbers[: -KEPT or None]:
            discard(self._path(old, "change"))
        self._tidy()

    def _tidy(self) -> None:
        """Remove the large contents that no entry needs."""
        kept = os.listdir(self._kept_folder) if os.path.isdir(self._kept_folder) else []
        if kept:
            try:
                headers = [self._read(number, header_only=True)[0] for number in self._numbers()]
            except Corrupt:  # nobody knows what it needs
                return
            needed = {step.get("before_sha256") for header in headers for step in header["steps"]}
            for name in kept:
                if name not in needed:
                    discard(os.path.join(self._kept_folder, name))

    @property
    def _kept_folder(self) -> str:
        return os.path.join(self.folder, "kept")

    def _keep(self, image: bytes) -> None:
        """Put a large content that a change replaces or removes in a file of its own, unless it is there."""
        path = os.path.join(self._kept_folder, _sha256(image))
        if not os.path.exists(path):
            make_folder(self._kept_folder, mode=0o700)
            replace_file(path, image, mode=0o600)

    def _kept(self, sha256: str) -> bytes | None:
        path = os.path.join(self._kept_folder, sha256)
        try:
            image = read_bytes(path) if sha256.isalnum() else None
        except OSError as error:
            raise cannot("read", path, error) from error
        return image if image is not None and _sha256(image) == sha256 else None

    def last_content(self, path: str) -> bytes | None:
        """What a file held before the newest change that removed or replaced it; ``None`` where no change is known to."""
        for number in reversed(self._numbers()):
            with suppress(Corrupt):
                if any(step["path"] == path and step["before"] for step in self._read(number, header_only=True)[0]["steps"]):
                    return next(step.before for step in self.steps(number) if step.path == path)
        return None

    def finish(self, number: int) -> None:
        """Note that every file of the change is in place."""
        path = self._path(number, "pending")
        try:
            os.replace(path, self._path(number, "change"))
        except OSError as error:
            raise cannot("renamed", path, error) from error

    def abandon(self, number: int) -> None:
        """Strike out a change that was not made after all."""
        discard(self._path(number, "pending"))

    def set_aside(self, number: int) -> None:
        """Keep an entry that cannot be understood where it is in nobody's way: it may hold the only copy of a text."""
        with suppress(OSError):
            os.replace(self._path(number, "pending"), self._path(number, "broken"))

    def strike_out(self, number: int, paths: Collection[str]) -> None:
        """Take files out of a change that was made, with all that the journal holds of them."""
        header = self._read(number, header_only=True)[0]
        kept = tuple(step for step in self.steps(number) if step.path not in paths)
        header.update(summary=f"{header['operation']} (purged)", struck=True)
        path = self._path(number, "change")
        try:
            publish(stage(path, _entry(header, kept), mode=0o600), path, new=False)
            flush_folder(self.folder)
        except OSError as error:
            raise cannot("written", path, error) from error
        self._tidy()

    def pending(self) -> list[int]:
        """The changes whose process ended before they were finished."""
        return [number for number, state in self._names() if state == "pending"]

    def changes(self) -> Iterator[Change]:
        """All changes, newest first, each knowing whether it has been taken back."""
        undone: set[int] = set()
        for number in reversed(self._numbers()):
            try:
                header = self._read(number, header_only=True)[0]
            except Corrupt:
                yield Change(number, "", "unreadable", "cannot be read: it can no longer be undone", ())
                continue
            is_undone = number in undone
            undoes = header.get("undoes")
            if undoes is not None and not is_undone:
                undone.add(undoes)
            yield Change(
                number=number,
                at=header["at"],
                operation=header["operation"],
                summary=header["summary"],
                paths=tuple(step["path"] for step in header["steps"]),
                undoes=undoes,
                undone=is_undone,
                struck=bool(header.get("struck")),
            )

    def steps(self, number: int) -> tuple[Done, ...]:
        """What a change did to each of its files."""
        header, images = self._read(number)
        steps, position, whole = [], 0, True
        for step in header["steps"]:
            inline: list[bytes | None] = []
            for name in ("before", "after"):
                size = None if f"{name}_sha256" in step else step[name]
                inline.append(None if size is None else images[position : position + size])
                position += size or 0
            before, after = inline
            if "before_sha256" in step:
                before = self._kept(step["before_sha256"])
                whole = whole and before is not None
            digest = Digest(step["after"], step["after_sha256"]) if "after_sha256" in step else None
            steps.append(Done(step["path"], before, digest or after, step.get("mode")))
        if position != len(images) or not whole:
            raise Corrupt(f"The journal entry {number} is not whole.", "This change cannot be undone any more.")
        return tuple(steps)

    def _names(self) -> list[tuple[int, str]]:
        try:
            names = os.listdir(self.folder)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise cannot("read", self.folder, error) from error
        return sorted((int(match[1]), match[2]) for match in map(_NAME.fullmatch, names) if match)

    def _numbers(self) -> list[int]:
        return [number for number, _ in self._names()]

    def _path(self, number: int, state: str) -> str:
        return os.path.join(self.folder, f"{number:08d}.{state}")

    def _read(self, number: int, *, header_only: bool = False) -> tuple[dict[str, Any], bytes]:
        import json

        header: dict[str, Any] = {}
        images = b""
        for state in ("change", "pending", "change"):  # another process may be finishing it just now
            path = self._path(number, state)
            try:
                with open(path, "rb") as file:
                    header = json.loads(file.readline())
                    whole = header.keys() >= {"at", "operation", "summary", "steps"}
                    images = b"" if header_only else file.read()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise cannot("read", path, error) from error
            except (ValueError, AttributeError):
                whole = False
            if whole:
                return header, images
            raise Corrupt(f"The journal entry {path} cannot be understood.", "This change cannot be undone any more.")
        raise NotFound(f"There is no change {number}.", "`co log` lists the changes.")


def is_of(content: bytes | None, image: bytes | Digest | None) -> bool:
    """Whether a content is the one that the journal means."""
    if isinstance(image, Digest):
        return content is not None and len(content) == image.size and _sha256(content) == image.sha256
    return content == image


def _entry(header: dict[str, Any], steps: Sequence[Step | Done]) -> bytes:
    """The bytes of an entry: a line about the change, then what its files held before and after, unless that is large."""
    import json

    noted = [{"path": step.path, **_noted(step), "mode": step.mode} for step in steps]
    images = (image for step in steps for image in (step.before, step.after))
    inline = b"".join(image for image in images if isinstance(image, bytes) and not _is_large(image))
    return json.dumps({**header, "steps": noted}).encode("ascii") + b"\n" + inline


def _noted(step: Step | Done) -> dict[str, object]:
    """What the header of an entry says of the contents of a step: their sizes, and the hashes of those that are large."""
    noted: dict[str, object] = {}
    for name, image in (("before", step.before), ("after", step.after)):
        digest = image
        if isinstance(image, bytes) and _is_large(image):
            digest = Digest(len(image), _sha256(image))
        if isinstance(digest, Digest):
            noted[name], noted[f"{name}_sha256"] = digest.size, digest.sha256
        else:
            noted[name] = None if digest is None else len(digest)
    return noted


def _is_large(image: bytes) -> bool:
    return len(image) >= LARGE


def _sha256(image: bytes) -> str:
    import hashlib

    return hashlib.sha256(image).hexdigest()
