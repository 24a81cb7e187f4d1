"""The programming languages of a project, as its files tell.

Owns which names mean the same language, and which files speak for one. Knows nothing of notes or search. Nothing is looked
at before somebody asks, and then no more than a few hundred names.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_ALIASES = {
    "c#": "csharp",
    "c++": "cpp",
    "cs": "csharp",
    "golang": "go",
    "js": "javascript",
    "kt": "kotlin",
    "node": "javascript",
    "objective-c": "objc",
    "py": "python",
    "python3": "python",
    "rb": "ruby",
    "rs": "rust",
    "bash": "shell",
    "sh": "shell",
    "zsh": "shell",
    "ts": "typescript",
}
_MARKERS = {
    "build.gradle": "java",
    "build.gradle.kts": "kotlin",
    "build.sbt": "scala",
    "cargo.toml": "rust",
    "cmakelists.txt": "cpp",
    "composer.json": "php",
    "deno.json": "typescript",
    "gemfile": "ruby",
    "go.mod": "go",
    "mix.exs": "elixir",
    "package.json": "javascript",
    "package.swift": "swift",
    "pom.xml": "java",
    "pubspec.yaml": "dart",
    "pyproject.toml": "python",
    "requirements.txt": "python",
    "setup.cfg": "python",
    "setup.py": "python",
    "stack.yaml": "haskell",
    "tsconfig.json": "typescript",
}
_ENDINGS = {
    "c": "c",
    "cc": "cpp",
    "clj": "clojure",
    "cpp": "cpp",
    "cs": "csharp",
    "csproj": "csharp",
    "dart": "dart",
    "erl": "erlang",
    "ex": "elixir",
    "exs": "elixir",
    "f90": "fortran",
    "fs": "fsharp",
    "go": "go",
    "hs": "haskell",
    "java": "java",
    "jl": "julia",
    "js": "javascript",
    "jsx": "javascript",
    "kt": "kotlin",
    "lua": "lua",
    "m": "objc",
    "mjs": "javascript",
    "ml": "ocaml",
    "php": "php",
    "pl": "perl",
    "py": "python",
    "pyi": "python",
    "r": "r",
    "rb": "ruby",
    "rs": "rust",
    "scala": "scala",
    "sh": "shell",
    "sql": "sql",
    "swift": "swift",
    "tf": "terraform",
    "ts": "typescript",
    "tsx": "typescript",
    "vue": "vue",
    "zig": "zig",
}
_FOREIGN = frozenset(("node_modules", "vendor", "third_party", "target", "build", "dist", "site-packages", "__pycache__"))
"""Folders whose files are not the project's own."""
_ENTRIES, _FOLDERS = 3000, 300
"""Names and folders that are looked at: what the first of them do not show is not what a project is written in."""


def language_name(text: str) -> str:
    """The one name of a language: ``Py``, ``python3`` and ``Python`` are the same."""
    name = " ".join(text.split()).casefold()
    return _ALIASES.get(name, name)


class Languages:
    """The languages of a project; its files are looked at when the first of them is asked for.

    Where nothing tells what a project is written in, it may be any language.
    """

    def __init__(self, project: str, given: str = "", said: str = "") -> None:
        self._project = project
        self._said = frozenset(map(language_name, said.split()))
        """Words of which one may be the name of a language: whoever names it, means it."""
        self._given = frozenset(language_name(name) for name in given.split(",") if name.strip())
        self._found: frozenset[str] | None = None

    def __contains__(self, language: object) -> bool:
        name = language_name(str(language))
        return name in self._said or not self.names or name in self.names

    @property
    def names(self) -> frozenset[str]:
        """All of them: those that were given, else what the files tell."""
        if self._found is None:
            self._found = self._given or frozenset(_languages_of(self._project))
        return self._found


def _languages_of(project: str) -> Iterable[str]:
    """The languages of the files of a project, folder by folder from the top."""
    found: set[str] = set()
    seen, waiting = 0, [project]
    for folder in waiting:
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    seen += 1
                    if seen > _ENTRIES:
                        return found
                    _take(entry, found, waiting)
        except OSError:  # not ours to read: it tells nothing
            continue
    return found


def _take(entry: os.DirEntry[str], found: set[str], waiting: list[str]) -> None:
    name = entry.name.casefold()
    if name.startswith(".") or name in _FOREIGN:
        return
    if entry.is_dir(follow_symlinks=False):
        if len(waiting) < _FOLDERS:
            waiting.append(entry.path)
        return
    language = _MARKERS.get(name) or _ENDINGS.get(name.rpartition(".")[2] if "." in name else "")
    if language:
        found.add(language)
