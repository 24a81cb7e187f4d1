"""How long it takes to see what has changed.

Owns what is changed, and what is promised of the look at the files that every search begins with. The floors are that look
made bare, and grep over the same files.
"""

from __future__ import annotations

import os
import shutil
from functools import partial
from typing import TYPE_CHECKING

from co_cli.bench.figures import Figure, Times, once, ratio, timed
from co_cli.bench.processes import run_times
from co_cli.bench.vaults import RARE_WORD, each_size, open_vault
from co_cli.errors import Unavailable
from co_cli.note import FOLDERS
from co_cli.query import parse_query
from co_cli.retrieval.hit import Filter, Means
from co_cli.retrieval.ranked import Searcher

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from co_cli.bench.figures import Progress

_PROMISED_MS, _PROMISED_AT = 60.0, 10_000
_FLOOR = "scandir + stat"
_TODAY = "2026-01-01"


def measure(sizes: Sequence[int], runs: int, progress: Progress) -> list[Figure]:
    """Measure the reconcile of files and index on vaults of these sizes."""
    figures = []
    for size, project in each_size(sizes, progress):
        vault = open_vault(project)
        memories = vault.path_of("memory", "")
        with Searcher([vault], Means(os.path.join(project, "cache"), progress=progress)) as searcher:
            searcher.refresh(by_meaning=False)
            searcher.means = searcher.means._replace(progress=None)
            progress(f"{size:,} notes: measuring", 0, 1)
            bare = timed(partial(_look, memories), runs)
            nothing = timed(partial(searcher.refresh, by_meaning=False), runs)
            changes = Changes(searcher, memories, runs)
            figures += [
                _figure(size, f"{_FLOOR} (the same files)", bare, bare),
                *_grep(size, project, memories, runs, bare),
                _figure(size, "nothing has changed", nothing, bare, promised=size == _PROMISED_AT),
                *(_figure(size, what, times, bare) for what, times in changes.measure()),
            ]
    return figures


def _look(folder: str) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            entry.stat(follow_symlinks=False)


def _grep(size: int, project: str, memories: str, runs: int, bare: Times) -> list[Figure]:
    if not shutil.which("grep"):
        return []
    times = run_times(["grep", "-rliF", RARE_WORD, memories], runs, cwd=project, variables=os.environ)
    return [_figure(size, "grep -rliF (the same files)", times, bare)]


def _figure(size: int, what: str, times: Times, bare: Times, *, promised: bool = False) -> Figure:
    return Figure(
        size,
        what,
        times.cpu_ms,
        times.wall_ms,
        ratio=ratio(times.cpu_ms, bare.cpu_ms),
        floor=_FLOOR,
        promised=f"≤ {_PROMISED_MS:g} ms CPU" if promised else "",
        kept=times.cpu_ms <= _PROMISED_MS if promised else None,
    )


class Changes:
    """Changes of one file, each followed by the search that has to show it."""

    def __init__(self, searcher: Searcher, memories: str, runs: int) -> None:
        self.searcher = searcher
        self.memories = memories
        self.names = sorted(os.listdir(memories))[: 3 * runs]
        self.runs = min(runs, len(self.names) // 3)

    def measure(self) -> list[tuple[str, Times]]:
        """Time each kind of change, always of another file."""
        rounds = range(self.runs)
        changed, renamed, removed = (self.names[kind::3] for kind in range(3))
        return [
            ("one file changed, then found", self._all(lambda run: self._change(changed[run], f"changed{run}x"), rounds)),
            ("one file renamed, then found", self._all(lambda run: self._rename(renamed[run], f"renamed{run}x"), rounds)),
            ("one file removed, then gone", self._all(lambda run: self._remove(removed[run], f"removed{run}x"), rounds)),
        ]

    def _all(self, change: Callable[[int], tuple[str, list[str]]], rounds: range) -> Times:
        """Time the search after each change; ``change`` says which word to look for, and which files have it then."""
        times = Times([], [])
        for each in rounds:
            word, expected = change(each)
            found = once(times, self._find, word)
            if found != expected:
                raise Unavailable(f"After a change the search for {word} found {found}, not {expected}.", "This is a bug.")
        return times

    def _find(self, word: str) -> list[str]:
        self.searcher.refresh(by_meaning=False)
        only = Filter(tuple(FOLDERS))
        found = self.searcher.search(parse_query(word, _TODAY), mode="text", limit=5, only=only)
        return [os.path.basename(hit.note.path) for hit in found.hits]

    def _change(self, name: str, word: str) -> tuple[str, list[str]]:
        with open(os.path.join(self.memories, name), "a", encoding="ascii") as file:
            file.write(f"{word}\n")
        return word, [name]

    def _rename(self, name: str, word: str) -> tuple[str, list[str]]:
        self._change(name, word)
        self._find(word)
        new = f"{name[:-3]}-renamed.md"
        os.rename(os.path.join(self.memories, name), os.path.join(self.memories, new))
        return word, [new]

    def _remove(self, name: str, word: str) -> tuple[str, list[str]]:
        self._change(name, word)
        self._find(word)
        os.unlink(os.path.join(self.memories, name))
        return word, []
