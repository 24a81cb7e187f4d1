"""``co bench``: measure the promises on this machine."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING

from co_cli.bench.figures import Figure
from co_cli.errors import Invalid
from co_cli.settings import EMBEDDERS, find_places
from co_cli.surfaces.cli.progress import Progress
from co_cli.surfaces.cli.terminal import emit

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

_SIZES = {
    "cli": (100, 1000, 10_000),
    "sync": (1000, 10_000, 100_000),
    "index": (1000, 10_000, 100_000),
    "search": (1000, 10_000, 100_000),
    "learning": (1000, 5000),
}
_RUNS = {"cli": 10, "sync": 10, "index": 1, "search": 3, "learning": 1}
_HEADINGS = {
    "notes": "notes",
    "what": "what",
    "cpu_ms": "CPU ms",
    "wall_ms": "wall ms",
    "wall_p95_ms": "p95 ms",
    "per_second": "notes/s",
    "peak_mb": "peak MB",
    "size_mb": "index MB",
    "ratio": "× floor",
    "floor": "floor",
    "growth": "growth",
    "promised": "promised",
    "kept": "kept",
}


def bench_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Measure the promises on this machine: CPU next to wall time, with the ratio to a floor measured in the same run.

    It works on notes of its own, made the same way each time, in a scratch folder. Measure when the machine is quiet.

    Examples:
        co bench cli
        co bench sync --sizes 1000 10000 --json
        co bench index --embedder minilm --sizes 1000
        co bench search --sizes 10000 1000000
        co bench search --kind topic --sizes 10000
        co bench learning --sizes 5000
    """
    parser.add_argument(
        "what",
        choices=tuple(_SIZES),
        metavar="WHAT",
        help="cli: whole commands; sync: seeing what has changed; index: making the index; search: searching it;"
        " learning: drafting from what is said, judging statements, and comparing all memories",
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[], metavar="N", help="notes in the vault (up to 100000)")
    parser.add_argument("--runs", type=int, default=0, metavar="N", help="runs of each measurement")
    parser.add_argument("--embedder", default="static", metavar="E", help="index, search: what makes vectors (static)")
    parser.add_argument("--kind", choices=("memory", "topic"), default="memory", help="search: of what the vault is made")
    parser.add_argument(
        "--utterances", default="", metavar="FILE", help="learning: other labelled turns, with text and facts a line"
    )
    parser.add_argument(
        "--pairs", default="", metavar="FILE", help="learning: other labelled pairs, with a, b and label a line"
    )
    return _bench


def _bench(arguments: Namespace) -> None:
    sizes = arguments.sizes or list(_SIZES[arguments.what])
    runs = arguments.runs or _RUNS[arguments.what]
    if min(sizes) < 1 or runs < 1:
        raise Invalid("Sizes and runs must be 1 or more.")
    if arguments.embedder not in EMBEDDERS:
        raise Invalid(f"There is no embedder {arguments.embedder!r}.", f"Embedders: {', '.join(EMBEDDERS)}.")
    if (arguments.pairs or arguments.utterances) and arguments.what != "learning":
        raise Invalid("--pairs and --utterances go with: co bench learning")
    with Progress() as progress:
        if arguments.what == "learning":
            _learning(arguments, sizes, progress)
            return
        figures = _measure(arguments.what, sizes, runs, arguments, progress)
    emit(arguments, {"bench": arguments.what, "figures": [asdict(figure) for figure in figures]}, _table(figures))


def _learning(arguments: Namespace, sizes: list[int], progress: Progress) -> None:
    """Print how well the rules judge, and what it takes to compare all memories."""
    from co_cli.bench import drafting, learning

    everything = not (arguments.pairs or arguments.utterances)
    judged = []
    if everything or arguments.pairs:
        judged += learning.relations(learning.load_pairs(arguments.pairs), progress)
    if everything or arguments.utterances:
        judged += drafting.measure_drafting(drafting.load_utterances(arguments.utterances))
    figures = learning.checking(sizes, progress) if everything else []
    headings = {name: name.replace("us_each", "µs each").replace("_", " ") for name in learning.Judged.__slots__}
    rows = ("| " + " | ".join(_cell(getattr(row, name)) for name in headings) + " |" for row in judged)
    rules = ("---" if name in ("what", "part", "label", "promised", "kept") else "---:" for name in headings)
    table = "\n".join((f"| {' | '.join(headings.values())} |", f"|{'|'.join(rules)}|", *rows))
    data = {"judged": [asdict(row) for row in judged], "figures": [asdict(figure) for figure in figures]}
    emit(arguments, {"bench": "learning", **data}, "\n\n".join([table, *([_table(figures)] if figures else [])]))


def _measure(what: str, sizes: list[int], runs: int, arguments: Namespace, progress: Progress) -> list[Figure]:
    from co_cli.bench import cli, index, search, sync

    cache, embedder = find_places().cache, arguments.embedder
    if what == "cli":
        return cli.measure(sizes, runs, progress)
    if what == "sync":
        return sync.measure(sizes, runs, progress)
    if what == "index":
        embedders = dict.fromkeys(("static", embedder)) if embedder != "none" else ()
        return index.measure(sizes, tuple(embedders), cache, progress)
    return search.measure(sizes, runs, embedder, cache, progress, arguments.kind)


def _table(figures: list[Figure]) -> str:
    """A table in Markdown, with the columns that say something."""
    names = [field.name for field in fields(Figure)]
    used = [name for name in names if any(getattr(figure, name) not in (None, "") for figure in figures)]
    rules = ("---" if name in ("what", "floor", "promised", "kept") else "---:" for name in used)
    lines = [f"| {' | '.join(_HEADINGS[name] for name in used)} |", f"|{'|'.join(rules)}|"]
    lines += [f"| {' | '.join(_cell(getattr(figure, name)) for name in used)} |" for figure in figures]
    return "\n".join(lines)


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, float | int):
        return f"{value:,g}" if abs(value) < 1000 else f"{value:,.0f}"  # noqa: PLR2004 - from here on no decimals
    return "" if value is None else str(value)
