"""The archive that a service hands out as an export: a zip, the folder that it was unpacked to, or one JSON file of it.

Owns opening all three alike, and the bounds: nothing but the JSON files that are asked for is unpacked, and none that is
too large. Knows nothing of what is in the files. Also owns how a conversation is written down.
"""

from __future__ import annotations

import fnmatch
import os
import zipfile
from typing import TYPE_CHECKING

from co_cli.errors import Corrupt, NotFound
from co_cli.exchange.intake import Document
from co_cli.exchange.reading import LARGEST_JSON, nothing_readable, parse_json, place, read_file, walk
from co_cli.exchange.report import SKIPPED, ImportEntry
from co_cli.files import reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_MOST_MEMBERS = 10_000


def files_of(path: str, patterns: Sequence[str], hint: str) -> tuple[str, list[tuple[str, object]], list[ImportEntry]]:
    """The full path of an export, what each of its JSON files says that fits a pattern, and what could not be read.

    Raises a ``CoError`` where nothing could.
    """
    top = place(path, hint)
    found: list[tuple[str, object]] = []
    problems: list[ImportEntry] = []
    for name, raw in _raws(top, patterns):
        data = raw if isinstance(raw, ImportEntry) else parse_json(name, raw)
        if isinstance(data, ImportEntry):
            problems.append(data)
        else:
            found.append((name, data))
    if not found and problems:
        raise nothing_readable(problems)
    if not found:
        raise NotFound(f"There is none of {', '.join(patterns)} in {top}.", hint)
    return top, found, problems


def _raws(top: str, patterns: Sequence[str]) -> Iterator[tuple[str, bytes | ImportEntry]]:
    if os.path.isdir(top):
        for path in walk(top, lambda name: name.endswith(".json")):
            if _fits(os.path.relpath(path, top), patterns):
                yield path, read_file(path, LARGEST_JSON)
    elif zipfile.is_zipfile(top):
        yield from _unpacked(top, patterns)
    else:
        yield top, read_file(top, LARGEST_JSON)


def _fits(name: str, patterns: Sequence[str]) -> bool:
    """Whether a file is asked for, whatever folders the export has around it."""
    parts = name.replace("\\", "/").split("/")
    tails = ("/".join(parts[start:]) for start in range(len(parts)))
    return any(
        fnmatch.fnmatchcase(tail, pattern) and tail.count("/") == pattern.count("/")
        for tail in tails
        for pattern in patterns
    )


def _unpacked(top: str, patterns: Sequence[str]) -> Iterator[tuple[str, bytes | ImportEntry]]:
    try:
        with zipfile.ZipFile(top) as archive:
            for member in archive.infolist()[:_MOST_MEMBERS]:
                if member.is_dir() or not _fits(member.filename, patterns):
                    continue
                name = f"{top}/{member.filename}"
                with archive.open(member) as file:
                    raw = file.read(LARGEST_JSON + 1)  # what the archive says of the size need not be so
                if len(raw) > LARGEST_JSON:
                    yield name, ImportEntry(name, "", SKIPPED, "is larger than what is read", "too-large")
                else:
                    yield name, raw
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise Corrupt(f"{top} cannot be unpacked: {why}.", "Download it again, or unpack it yourself.") from error


def conversation(
    file: str,
    at: str,
    *,
    title: object,
    address: str,
    turns: Iterable[tuple[str, str]],
    tags: Sequence[str],
    created: str,
    updated: str,
) -> Document | None:
    """A conversation as an article, each turn under the name of who speaks; ``None`` for one in which nothing was said."""
    said = [f"## {who}\n\n{text.strip()}" for who, text in turns if text.strip()]
    if not said:
        return None
    name = title.strip() if isinstance(title, str) and title.strip() else "Untitled conversation"
    extra: dict[str, object] = {"created": created} if created else {}
    return Document(file, at, name, "\n\n".join(said), tags, source=address, created=created, updated=updated, extra=extra)


def left_out(file: str, count: int, one: str, many: str) -> ImportEntry:
    """The line for texts that are only taken in when somebody asks for them."""
    which, them = (f"{one} is", "it") if count == 1 else (f"{many} are", "them")
    reason = f"{count:,} {which} left out: --conversations takes {them} in as articles"
    return ImportEntry(file, "", SKIPPED, reason, "conversations")
