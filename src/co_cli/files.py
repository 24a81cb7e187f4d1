"""Bytes on disk that survive: whole-file writes, renames that last, and a lock between processes.

Owns durability. Knows nothing of notes, vaults or what the bytes mean.

A write goes through a temporary file in the same folder, is flushed to disk, renamed into place, and the folder is flushed.
So a reader sees the old file or the new one, whatever dies at whatever moment.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from co_cli.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

TEMPORARY_PREFIX, TEMPORARY_SUFFIX = ".co-", ".tmp"
LOCK_PATIENCE = 60.0
"""Seconds after which a lock that is never released is an error."""


def reason(error: Exception) -> str:
    """What the system says went wrong, without the path and the number."""
    return (error.strerror if isinstance(error, OSError) else str(error)) or type(error).__name__


def cannot(verb: str, path: str, error: OSError) -> Unavailable:
    """The error for a file or folder that the system would not let us work on."""
    hint = "Nothing was changed. Check its permissions."
    if error.errno in _DISK_FULL:
        hint = "Nothing was changed. Free some space, then try again."
    return Unavailable(f"{path} cannot be {verb}: {reason(error)}.", hint)


def _disk_full() -> frozenset[int]:
    import errno

    return frozenset(getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name))


_DISK_FULL = _disk_full()


def read_bytes(path: str) -> bytes | None:
    """The content of a file, or ``None`` if there is none; a folder, a pipe or a device is an ``OSError``."""
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(0, "it is no regular file")
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _open_at_once(path: str, flags: int) -> int:
    """Open a file, without waiting for the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def is_within(path: str, folder: str) -> bool:
    """Whether a path, symbolic links resolved, is a folder or lies in it."""
    real, top = os.path.realpath(path), os.path.realpath(folder)
    return real == top or real.startswith(top.rstrip(os.sep) + os.sep)


def make_folder(path: str, mode: int = 0o777) -> None:
    """Make a folder and those above it, where they are missing."""
    try:
        os.makedirs(path, mode=mode, exist_ok=True)
    except OSError as error:
        raise cannot("made", path, error) from error


def stage(path: str, content: bytes, mode: int | None = None) -> str:
    """Write the content to a temporary file beside ``path``, safe on disk; returns the temporary file's path.

    Without a mode the file gets that of the one it will replace, or what the umask leaves of the usual.
    """
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f"{TEMPORARY_PREFIX}{os.getpid()}-{os.urandom(6).hex()}{TEMPORARY_SUFFIX}")
    if mode is None:
        try:
            mode = stat.S_IMODE(os.stat(path).st_mode)
        except OSError:
            mode = None
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else mode)
        with open(descriptor, "wb") as file:
            if mode is not None and os.name != "nt":
                os.fchmod(descriptor, mode)
            file.write(content)
            file.flush()
            os.fsync(descriptor)
    except OSError as error:
        discard(temporary)
        raise cannot("written", os.path.join(folder, name), error) from error
    return temporary


def publish(temporary: str, path: str, *, new: bool) -> None:
    """Rename a staged file into place; with ``new`` an existing file is never replaced (``FileExistsError``)."""
    if new:
        try:
            os.link(temporary, path)
        except OSError:
            if os.path.lexists(path):
                raise FileExistsError(path) from None
            # a file system without hard links
            os.replace(temporary, path)
        else:
            os.unlink(temporary)
    else:
        os.replace(temporary, path)


def discard(temporary: str) -> None:
    """Remove a staged file that is not wanted any more."""
    with suppress(OSError):
        os.unlink(temporary)


def replace_file(path: str, content: bytes, mode: int | None = None) -> None:
    """Put a whole file in place, safe on disk."""
    temporary = stage(path, content, mode)
    try:
        publish(temporary, path, new=False)
        flush_folder(os.path.dirname(path))
    except OSError as error:
        discard(temporary)
        raise cannot("written", path, error) from error


def flush_folder(folder: str) -> None:
    """Make renames and removals in a folder survive a power cut."""
    if os.name == "nt":  # Windows has no such thing for folders
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sweep(folder: str) -> None:
    """Remove temporary files that a killed process left; only for one who holds the lock that writers here hold."""
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        if name.startswith(TEMPORARY_PREFIX) and name.endswith(TEMPORARY_SUFFIX):
            discard(os.path.join(folder, name))


@contextmanager
def locked(folder: str, patience: float = LOCK_PATIENCE) -> Iterator[None]:
    """Hold the lock of a folder against every other process and thread; it is released however the process ends.

    The folder itself is locked, so that no lock file lies among the notes (Windows needs one).
    """
    deadline = time.monotonic() + patience
    pause = 0.001
    while True:
        handle = _try_lock(folder)
        if handle is not None:
            break
        if time.monotonic() > deadline:
            raise Unavailable(
                f"Another process has held the lock of {folder} for {patience:.0f} seconds.",
                "Nothing was changed. Find the process that hangs, then try again.",
            )
        time.sleep(pause)
        pause = min(pause * 1.5, 0.025)
    try:
        yield
    finally:
        os.close(handle)


def _try_lock(folder: str) -> int | None:
    """An open handle that holds the lock, or ``None`` if another has it."""
    try:
        handle = _open_lock(folder)
    except OSError as error:
        raise cannot("locked", folder, error) from error
    try:
        _lock_handle(handle)
        # The folder may have been replaced (by a git checkout, say) between opening and locking.
        if os.name == "nt" or os.path.samestat(os.fstat(handle), os.stat(folder)):
            return handle
    except (BlockingIOError, PermissionError, FileNotFoundError):  # another has it, or the folder is gone
        pass
    except OSError as error:
        os.close(handle)
        raise cannot("locked", folder, error) from error
    os.close(handle)
    return None


if sys.platform == "win32":
    import msvcrt

    def _open_lock(folder: str) -> int:
        return os.open(os.path.join(folder, ".lock"), os.O_RDWR | os.O_CREAT)

    def _lock_handle(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _open_lock(folder: str) -> int:
        return os.open(folder, os.O_RDONLY)

    def _lock_handle(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
