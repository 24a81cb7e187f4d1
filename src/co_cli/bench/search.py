"""How long a search takes where the index is open, and how that grows with the vault.

Owns which queries are put, in which ways, and what is promised. The floors are grep over the same files, up to a size
at which that still makes sense, and a scan of the same vectors by numpy.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from co_cli.bench.figures import Figure, Times, once, ratio, timed, together
from co_cli.bench.processes import run_times
from co_cli.bench.vaults import each_size, open_vault, queries
from co_cli.errors import Unavailable
from co_cli.index import vectors
from co_cli.note import FOLDERS, MEMORY
from co_cli.query import parse_query
from co_cli.retrieval.hit import Filter, Means
from co_cli.retrieval.ranked import Searcher

if TYPE_CHECKING:
    from collections.abc import Sequence

    from co_cli.bench.figures import Progress

_PROMISED_MS = {("text", 10_000): 2.0, ("hybrid", 10_000): 4.0, ("hybrid", 100_000): 25.0}
_QUERIES = 20
"""Of each kind."""
_LIMIT, _NEIGHBOURS = 5, 50
_GREP_UP_TO = 10_000
_TODAY = "2026-01-01"
_GREP, _SCAN, _ALL = "grep -riF", "numpy scan", "all queries"


def measure(
    sizes: Sequence[int], runs: int, embedder: str, cache: str, progress: Progress, kind: str = MEMORY
) -> list[Figure]:
    """Measure the search on vaults of these sizes, all of one kind, which is asked for where it is not that of memories.

    ``cache`` is where models are that were made here.
    """
    figures: list[Figure] = []
    kinds = (kind,) if kind != MEMORY else tuple(FOLDERS)
    for size, project in each_size(sizes, progress, kind):
        means = Means(cache, embedder=embedder, progress=progress)
        with Searcher([open_vault(project)], means) as searcher:
            searcher.refresh(by_meaning=embedder != "none", seconds=float("inf"))
            if embedder != "none" and searcher.embedder is None:
                raise Unavailable(" ".join(searcher.notices))
            searcher.means = means._replace(progress=None)
            figures += _measure(searcher, size, runs, progress, kinds)
    return _with_growth(figures)


def _measure(searcher: Searcher, size: int, runs: int, progress: Progress, asked_for: tuple[str, ...]) -> list[Figure]:
    kinds = queries(size, _QUERIES)
    grep, scan = _grep(searcher, size, kinds, asked_for[0]), _scan(searcher, runs)
    reconcile = timed(lambda: searcher.refresh(by_meaning=searcher.embedder is not None), runs)
    figures = [_figure(size, what, times, times, what) for what, times in ((_GREP, grep), (_SCAN, scan)) if times]
    figures.append(_figure(size, "reconcile before a search", reconcile, None, ""))
    for mode, floor, name in (("text", grep, _GREP), ("hybrid", scan, _SCAN)):
        if mode == "text" or searcher.embedder is not None:
            each = {}
            for kind, texts in kinds.items():
                each[kind] = _search(searcher, mode, texts, runs, asked_for)
                progress(f"{size:,} notes: searching, {mode}", len(each), len(kinds))
            whole = _figure(size, f"{mode}: {_ALL}", together(each.values()), floor, name)
            figures.append(_with_promise(whole, mode))
            figures += [_figure(size, f"{mode}: {kind}", times, floor, name) for kind, times in each.items()]
    return figures


def _search(searcher: Searcher, mode: str, texts: Sequence[str], runs: int, asked_for: tuple[str, ...]) -> Times:
    """Time each query so many times, after a first one that warms the caches."""
    only = Filter(asked_for)
    asked = [parse_query(text, _TODAY) for text in texts]
    times = Times([], [])
    for run in range(runs + 1):
        for query in asked:
            once(times if run else Times([], []), searcher.search, query, mode=mode, limit=_LIMIT, only=only)
    return times


def _grep(searcher: Searcher, size: int, kinds: dict[str, list[str]], kind: str) -> Times | None:
    """One search by grep of each kind of query."""
    if size > _GREP_UP_TO or not shutil.which("grep"):
        return None
    folder = searcher.vaults[0].path_of(kind, "")
    commands = [
        ["grep", "-rliF", *(part for word in texts[0].split() for part in ("-e", word)), folder] for texts in kinds.values()
    ]
    return together(run_times(command, 1, cwd=folder, variables=os.environ) for command in commands)


def _scan(searcher: Searcher, runs: int) -> Times | None:
    """The nearest of the same vectors, found by multiplying each of them."""
    if searcher.embedder is None:
        return None
    try:
        import numpy as np
    except ImportError:
        return None
    each = [vector for vector in vectors.every(searcher.sources[0].index) if vector]
    matrix = np.frombuffer(b"".join(each), np.int8).reshape(len(each), -1).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    near = min(_NEIGHBOURS, len(each) - 1)

    def scan() -> None:
        np.argpartition(-(matrix @ matrix[0]), near)[:near]

    return timed(scan, runs)


def _figure(size: int, what: str, times: Times, floor: Times | None, floor_name: str) -> Figure:
    return Figure(
        size,
        what,
        times.cpu_ms,
        times.wall_ms,
        times.wall_p95_ms,
        ratio=ratio(times.cpu_ms, floor.cpu_ms) if floor else None,
        floor=floor_name if floor else "",
    )


def _with_promise(figure: Figure, mode: str) -> Figure:
    promised = _PROMISED_MS.get((mode, figure.notes))
    if promised is None or figure.wall_ms is None:
        return figure
    return replace(figure, promised=f"≤ {promised:g} ms", kept=figure.wall_ms <= promised)


def _with_growth(figures: list[Figure]) -> list[Figure]:
    """Compare each figure with the same one on the smallest vault."""
    smallest: dict[str, float] = {}
    for figure in figures:
        if figure.wall_ms:
            smallest.setdefault(figure.what, figure.wall_ms)
    return [
        replace(figure, growth=ratio(figure.wall_ms, smallest[figure.what])) if figure.wall_ms else figure
        for figure in figures
    ]
