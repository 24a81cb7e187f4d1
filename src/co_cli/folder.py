"""A folder of note files, looked at and read as fast as the system allows.

Owns what a look at a folder shows, and how its files are read without following links. Knows nothing of what is in them, nor
which folders there are: `vault` asks.

Every query begins with such a look, and one at ten thousand files is most of what the query costs. So no more is done for
each file than must be: names stay the bytes that the system gave, and are looked up relative to their folder.
"""

from __future__ import annotations

import os
import stat
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_CHUNK = 4096
_SECOND_NS = 1_000_000_000
_SETTLING_NS, _SETTLING_SECONDS_NS = 50_000_000, 2_100_000_000
"""How long after a write its time may still be that of another: clocks of file systems are coarse, some of whole seconds."""
_ENDING, _DOT = b".md", ord(".")


class Look(NamedTuple):
    """What one look at a folder showed: its note files, each with a number that changes when the file does."""

    names: list[bytes]
    stamps: list[int]
    hidden: tuple[str, ...] = ()
    """How the names begin of files that may be there, in folders within that could not be looked into."""

    def hides(self, name: str) -> bool:
        """Whether a file that was not seen may be there all the same."""
        return name.startswith(self.hidden)

    @property
    def state(self) -> str:
        """What tells this state of the folder from every other: the names in it, and their stamps."""
        from zlib import crc32

        return f"{len(self.names)} {crc32(b'/'.join(self.names))} {hash(tuple(self.stamps))}"

    def by_name(self) -> dict[str, int]:
        """The stamp of each file."""
        return dict(zip(map(os.fsdecode, self.names), self.stamps, strict=True))


def look(folder: str) -> Look:
    """Look at the note files of a folder; raises ``OSError``."""
    if os.stat not in os.supports_dir_fd:
        return _look_one_by_one(folder)
    names = [name for name in os.listdir(os.fsencode(folder)) if name.endswith(_ENDING) and name[0] != _DOT]
    stamps: list[int] = []
    gone: list[bytes] = []
    see, add = os.lstat, stamps.append
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in names:
            try:  # half the work of looking the whole path up
                found = see(name, dir_fd=handle)
            except FileNotFoundError:  # removed since the folder was listed
                gone.append(name)
                continue
            add(hash((found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)))
    finally:
        os.close(handle)
    return Look([name for name in names if name not in gone] if gone else names, stamps)


def _look_one_by_one(folder: str) -> Look:
    with os.scandir(folder) as entries:
        found = [(entry, entry.stat(follow_symlinks=False)) for entry in entries if is_note_name(entry.name)]
    return Look([os.fsencode(entry.name) for entry, _ in found], [stamp(each) for _, each in found])


def stamp(found: os.stat_result) -> int:
    """A number that changes when a file does."""
    return hash((found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino))


def settled_stamp(found: os.stat_result) -> int:
    """The stamp of a file where it says for certain what the file holds, else ``0``.

    It does not where the file was written just now, so that another write would show no other time, nor for what is no
    ordinary file.
    """
    in_seconds = not (found.st_mtime_ns % _SECOND_NS and found.st_ctime_ns % _SECOND_NS)
    latest = time.time_ns() - (_SETTLING_SECONDS_NS if in_seconds else _SETTLING_NS)
    settled = found.st_mtime_ns < latest and found.st_ctime_ns < latest and stat.S_ISREG(found.st_mode)
    return stamp(found) if settled else 0


def is_note_name(name: str) -> bool:
    """Whether a file of this name can be a note."""
    return name.endswith(".md") and name[0] != "."


def contents(folder: str, names: Iterable[str] | None) -> Iterator[tuple[str, bytes | None]]:
    """The name and bytes of each note file in a folder, or of those named; ``None`` for one that takes a closer look.

    Reading every note is what a search without an index costs, so this asks the system for no more than it must: names are
    opened relative to the folder, and what is no ordinary file shows in an error or in nothing to read.
    """
    if os.open not in os.supports_dir_fd:
        yield from ((name, None) for name in (os.listdir(folder) if names is None else names) if is_note_name(name))
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in os.listdir(handle) if names is None else names:
            if is_note_name(name):
                yield name, _read_at_once(name, handle)
    finally:
        os.close(handle)


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


def leads_straight(path: str, top: str) -> bool:
    """Whether the way from a folder to a path inside of it takes no turns, so that it leads where it says.

    Which is nearly always so, and quicker to see than where both of them really lie.
    """
    if not path.startswith(os.path.join(top, "")) or os.pardir in path:
        return False
    while len(path) > len(top):
        if os.path.islink(path):
            return False
        path = os.path.dirname(path)
    return True
