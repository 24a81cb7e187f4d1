"""Reading the files of others: bounded, and with a line of the report for what cannot be read.

Owns how large a file may be, which encodings are understood, and finding the files of a folder. Knows no format.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import Corrupt, Invalid, NotFound
from co_cli.exchange.report import SKIPPED, ImportEntry
from co_cli.files import cannot, read_bytes, reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LARGEST_TEXT = 16 * 1024 * 1024
"""Bytes of a Markdown file above which it is left alone."""
LARGEST_JSON = 256 * 1024 * 1024
"""Bytes of a JSON file above which it is left alone: reading it takes several times as much memory."""
LONGEST_LINE = 64 * 1024 * 1024
_MOST_FILES = 200_000


class Text(NamedTuple):
    """A file that could be read."""

    path: str
    text: str
    written: float
    """When it was last written, in seconds since 1970."""


def place(path: str, hint: str) -> str:
    """The full path of what is to be imported; raises ``Invalid`` or ``NotFound`` with the forms that are accepted."""
    if not path.strip():
        raise Invalid("There is no path to import from.", hint)
    full = os.path.abspath(os.path.expanduser(path))
    if not os.path.lexists(full):
        raise NotFound(f"There is no {full}.", hint)
    return full


def read_text(path: str) -> Text | ImportEntry:
    """Read a text file, or say what is wrong with it."""
    raw = read_file(path, LARGEST_TEXT)
    if isinstance(raw, ImportEntry):
        return raw
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{raw[error.start]:02x}" if error.start < len(raw) else "its end"
        return ImportEntry(path, "", SKIPPED, f"not UTF-8: {found} cannot be read", "not-utf-8", line=line)
    return Text(path, text.replace("\r\n", "\n"), os.stat(path).st_mtime)


def read_file(path: str, largest: int) -> bytes | ImportEntry:
    """Read a file of at most so many bytes, or say what is wrong with it."""
    try:
        size = os.stat(path).st_size
        if size > largest:
            why = f"has {size // 1024 // 1024} MiB: more than {largest // 1024 // 1024} MiB are not read"
            return ImportEntry(path, "", SKIPPED, why, "too-large")
        raw = read_bytes(path)
    except OSError as error:
        return ImportEntry(path, "", SKIPPED, f"cannot be read: {reason(error)}", "unreadable")
    return ImportEntry(path, "", SKIPPED, "is gone", "unreadable") if raw is None else raw


def parse_json(path: str, raw: bytes) -> object | ImportEntry:
    """What the bytes of a JSON file say, or what is wrong with them."""
    try:
        data: object = json.loads(raw.decode(json.detect_encoding(raw)))
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return ImportEntry(path, "", SKIPPED, f"not {error.encoding.upper()}", "not-utf-8", line=line)
    except json.JSONDecodeError as error:
        return ImportEntry(path, "", SKIPPED, f"this is no JSON: {error.msg}", "malformed", line=error.lineno)
    except (ValueError, RecursionError) as error:  # a number with thousands of digits, brackets without end
        return ImportEntry(path, "", SKIPPED, f"this JSON cannot be read: {error}", "malformed", line=1)
    return data


def read_json(path: str) -> object | ImportEntry:
    """What a JSON file says, or what is wrong with it."""
    raw = read_file(path, LARGEST_JSON)
    return raw if isinstance(raw, ImportEntry) else parse_json(path, raw)


def lines_of(path: str, hint: str) -> Iterator[tuple[int, bytes | None]]:
    """The lines of a file with their numbers, one after the other; ``None`` for one that is too long."""
    place(path, hint)
    if not os.path.isfile(path):
        raise Invalid(f"{path} is no file.", hint)
    try:
        with open(path, "rb") as file:
            number = 0
            while line := file.readline(LONGEST_LINE):
                number += 1
                if len(line) < LONGEST_LINE or line.endswith(b"\n"):
                    yield number, line
                    continue
                while line and not line.endswith(b"\n"):
                    line = file.readline(LONGEST_LINE)
                yield number, None
    except OSError as error:
        raise cannot("read", path, error) from error


def walk(top: str, wanted: Callable[[str], bool]) -> Iterator[str]:
    """The files of a folder and those below it that are wanted, by name; no hidden ones, and no links out of it."""
    count = 0
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = os.path.join(folder, name)
            if not name.startswith(".") and wanted(name) and not os.path.islink(path):
                count += 1
                if count > _MOST_FILES:
                    raise Invalid(f"{top} has more than {_MOST_FILES} files.", "Name a folder in it.")
                yield path


def nothing_readable(problems: list[ImportEntry]) -> Corrupt:
    """The error for files of which none could be read."""
    lines = [f"{problem.file}:{problem.line or 1}: {problem.reason}." for problem in problems]
    return Corrupt(lines[0], "Nothing was imported. Correct the file by hand.", details="\n".join(lines[1:]))
