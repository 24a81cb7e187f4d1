"""How long it takes to make an index from nothing, and how much room it needs.

Owns what is measured of it, each time in a process of its own, and what is promised. The floor is the reading of the same
files.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from co_cli.bench.figures import Figure, Times, once, ratio, rounded, timed
from co_cli.bench.processes import call_in_child, check_measurable, peak_memory
from co_cli.bench.vaults import each_size, open_vault
from co_cli.errors import Unavailable
from co_cli.retrieval.hit import Means
from co_cli.retrieval.ranked import Searcher
from co_cli.sync import index_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from co_cli.bench.figures import Progress

_TEXT, _STATIC = 6000, 2000
"""Notes that are promised to be indexed in a second: by their words, and by their meaning too."""
_PROMISED_FROM = 10_000
"""Notes: with fewer, the time is that of loading the model."""
_PEAK_MB, _PEAK_AT = 300, 100_000
_MB = 1_000_000
_FLOOR = "reading the files"


def measure(sizes: Sequence[int], embedders: Sequence[str], cache: str, progress: Progress) -> list[Figure]:
    """Measure the making of an index on vaults of these sizes; ``cache`` is where models are that were made here."""
    check_measurable()
    figures = []
    for size, project in each_size(sizes, progress):
        progress(f"{size:,} notes: indexing", 0, 1 + len(embedders))
        reading = timed(partial(_read, open_vault(project).path_of("memory", "")), 1)
        figures.append(Figure(size, f"{_FLOOR} (floor)", reading.cpu_ms, reading.wall_ms, ratio=1.0, floor=_FLOOR))
        for done, embedder in enumerate(("none", *embedders), start=1):
            found = call_in_child(__name__, "build", project=project, embedder=embedder, cache=cache)
            figures.append(_figure(size, embedder, found, reading))
            progress(f"{size:,} notes: indexing", done, 1 + len(embedders))
    return figures


def _read(folder: str) -> None:
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            file.read()


def build(project: str, embedder: str, cache: str) -> dict[str, float]:
    """Make the index of a project's vault from nothing, in this process; returns what it took."""
    by_meaning = embedder != "none"
    vault = open_vault(project)
    times = Times([], [])
    with Searcher([vault], Means(cache, embedder=embedder)) as searcher:
        once(times, searcher.rebuild, by_meaning=by_meaning)
        if by_meaning and "semantic-unavailable" in searcher.degraded:
            raise Unavailable(" ".join(searcher.notices))
    return {
        "cpu": times.cpu[0],
        "wall": times.wall[0],
        "peak": peak_memory(),
        "size": os.stat(index_path(vault, cache)).st_size,
    }


def _figure(size: int, embedder: str, found: dict[str, float], reading: Times) -> Figure:
    per_second = round(size / found["wall"])
    peak = rounded(found["peak"] / _MB)
    promises = []
    if embedder in ("none", "static") and size >= _PROMISED_FROM:
        promised = _TEXT if embedder == "none" else _STATIC
        promises.append((f"≥ {promised:,}/s", per_second >= promised))
        if size == _PEAK_AT:
            promises.append((f"< {_PEAK_MB} MB", peak < _PEAK_MB))
    return Figure(
        size,
        "text only" if embedder == "none" else f"text + vectors ({embedder})",
        rounded(found["cpu"] * 1000),
        rounded(found["wall"] * 1000),
        per_second=per_second,
        peak_mb=peak,
        size_mb=rounded(found["size"] / _MB),
        ratio=ratio(found["cpu"] * 1000, reading.cpu_ms),
        floor=_FLOOR,
        promised=", ".join(promise for promise, _kept in promises),
        kept=all(kept for _promise, kept in promises) if promises else None,
    )
