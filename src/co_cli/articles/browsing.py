"""The files of a folder that may be documents, and what is remembered of those that were read.

Owns which files are passed by, and the memory of stats: a file that is as it was when it was read is not read again. That
memory lies in the cache folder, and without it files are read once more. Knows nothing of what is in them.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from co_cli import __version__
from co_cli.errors import CoError
from co_cli.files import make_folder, replace_file
from co_cli.folder import settled_stamp, stamp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from co_cli.knowledge import KnowledgeBase

PASSED_BY = frozenset(("node_modules", "__pycache__", "CVS", "_darcs"))
"""Folders that hold no documents of anybody's own; hidden ones, such as `.git`, are passed by as well."""


def find_files(folder: str, leave_out: frozenset[str] = frozenset()) -> Iterator[str]:
    """The ordinary files and the links in a folder and those below it, by their names; no link is followed."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        yield folder  # whoever reads it says why that is not possible
        return
    for entry in found:
        if entry.name.startswith("."):
            continue
        if entry.is_file(follow_symlinks=False) or entry.is_symlink():
            yield entry.path
        elif entry.is_dir(follow_symlinks=False) and not _is_passed_by(entry, leave_out):
            yield from find_files(entry.path, leave_out)


def _is_passed_by(folder: os.DirEntry[str], leave_out: frozenset[str]) -> bool:
    return folder.name in PASSED_BY or os.path.realpath(folder.path) in leave_out


class Known(NamedTuple):
    """What was learned of a file when it was read."""

    stamp: int
    """That of the file."""
    article: str = ""
    """The path of the article that holds it; empty where there is none."""
    article_stamp: int = 0
    code: str = ""
    """Why it was passed by, where it was."""
    reason: str = ""
    hint: str = ""


class Remembered:
    """What is remembered of files that were taken into one vault."""

    def __init__(self, kb: KnowledgeBase, vault: str) -> None:
        self._path = os.path.join(kb.places.cache, "articles", f"{kb.vault(vault).key}.jsonl")
        self._files: dict[str, Known] = {}
        self._news: list[str] = []
        with suppress(OSError, ValueError, TypeError), open(self._path, encoding="utf-8") as lines:
            if next(lines, "").strip() == _HEADER:
                for line in lines:
                    path, *known = json.loads(line)
                    self._files[path] = Known(*known)

    def is_as_it_was(self, path: str) -> Known | None:
        """What was learned of a file, if it and its article are still what they were; both are only looked at."""
        known = self._files.get(path)
        if known is None:
            return None
        try:
            same = stamp(os.stat(path)) == known.stamp
            return known if same and (not known.article or stamp(os.lstat(known.article)) == known.article_stamp) else None
        except OSError:
            return None

    def note(self, path: str, seen: int, *, article: str = "", code: str = "", reason: str = "", hint: str = "") -> None:
        """Remember what became of a file that had this stamp before it was read; 0 stands for one that may have changed."""
        if not seen:
            return
        try:
            known = Known(seen, article, stamp(os.lstat(article)) if article else 0, code, reason, hint)
        except OSError:
            return
        self._files[path] = known
        self._news.append(json.dumps([path, *known]))

    def save(self) -> None:
        """Write down what is new; where that is not possible, the files are read again some day."""
        news, self._news = self._news, []
        if not news:
            return
        with suppress(OSError, CoError):
            make_folder(os.path.dirname(self._path), mode=0o700)
            if not os.path.exists(self._path) or self._is_outdated():
                replace_file(self._path, f"{_HEADER}\n".encode(), mode=0o600)
            with open(self._path, "a", encoding="utf-8") as file:
                file.write("".join(f"{line}\n" for line in news))

    def _is_outdated(self) -> bool:
        with open(self._path, encoding="utf-8", errors="replace") as file:
            return file.readline().strip() != _HEADER


_HEADER = json.dumps({"co": __version__, "form": 1})


def stamp_before_reading(path: str) -> int:
    """The stamp of a file that is about to be read, 0 where the next write might not show in it."""
    try:
        return settled_stamp(os.stat(path))
    except OSError:
        return 0
