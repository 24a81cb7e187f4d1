"""Every change that co made to the files of a vault, with what was there before and after.

Owns the files of the journal: one a change, named by its number. Knows nothing of notes: paths and bytes are all it sees.

A change is written down before the first file is touched (``.pending``) and renamed when the last one is in place
(``.change``). Whoever next holds the vault's lock settles what a killed process left pending. All functions that write are
for one who holds that lock.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from co_cli.errors import Corrupt, NotFound
from co_cli.files import cannot, discard, flush_folder, make_folder, publish, stage, sweep

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

KEPT = 2000
"""How many changes of a vault are kept; older ones can no longer be undone."""

_NAME = re.compile(r"([0-9]{8})\.(change|pending)")
_PRUNE_EVERY = 50


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
        numbers = self._numbers()
        number = (numbers[-1] if numbers else 0) + 1
        header = {
            "at": datetime.now(UTC).isoformat(timespec="microseconds"),
            "operation": operation,
            "summary": summary,
            "undoes": undoes,
        }
        path = self._path(number, "pending")
        staged = stage(path, _entry(header, steps), mode=0o600)
        try:
            publish(staged, path, new=True)
            flush_folder(self.folder)
        except OSError as error:
            discard(staged)
            raise cannot("written", path, error) from error
        if number % _PRUNE_EVERY == 0:
            for old in numbers[: -KEPT or None]:
                discard(self._path(old, "change"))
        return number

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

    def steps(self, number: int) -> tuple[Step, ...]:
        """What a change did to each of its files."""
        header, images = self._read(number)
        steps, position = [], 0
        for step in header["steps"]:
            pair: list[bytes | None] = []
            for size in (step["before"], step["after"]):
                pair.append(None if size is None else images[position : position + size])
                position += size or 0
            steps.append(Step(step["path"], pair[0], pair[1], step.get("mode")))
        if position != len(images):
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


def _entry(header: dict[str, Any], steps: tuple[Step, ...]) -> bytes:
    """The bytes of an entry: a line about the change, then what its files held before and after."""
    import json

    sizes = [
        {"path": step.path, "before": _size(step.before), "after": _size(step.after), "mode": step.mode} for step in steps
    ]
    images = b"".join(image for step in steps for image in (step.before, step.after) if image is not None)
    return json.dumps({**header, "steps": sizes}).encode("ascii") + b"\n" + images


def _size(image: bytes | None) -> int | None:
    return None if image is None else len(image)
