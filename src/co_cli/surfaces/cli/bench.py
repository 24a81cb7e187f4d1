"""``co bench``: measure the promises on this machine."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from co_cli.bench import cli as cli_bench
from co_cli.errors import Invalid
from co_cli.surfaces.cli.terminal import emit, interactive, say

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from co_cli.bench.cli import Figure


def bench_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Measure the promises on this machine: CPU next to wall time, with the ratio to the bare interpreter.

    Examples:
        co bench cli
        co bench cli --sizes 1000 10000 --runs 20 --json
    """
    parser.add_argument("what", choices=("cli",), metavar="WHAT", help="cli: whole commands, from start to exit")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10000], metavar="N", help="notes in the vault")
    parser.add_argument("--runs", type=int, default=10, metavar="N", help="runs of each command (10)")
    return _bench


def _bench(arguments: Namespace) -> None:
    if min(arguments.sizes) < 1 or arguments.runs < 1:
        raise Invalid("Sizes and runs must be 1 or more.")
    figures = cli_bench.measure(arguments.sizes, arguments.runs, say if interactive() else lambda _text: None)
    emit(arguments, {"bench": "cli", "figures": [asdict(figure) for figure in figures]}, _table(figures))


def _table(figures: list[Figure]) -> str:
    lines = ["| notes | command | CPU ms | wall ms | × python | promised |", "|---:|---|---:|---:|---:|---:|"]
    for figure in figures:
        promised = f"≤ {figure.promised:g}" if figure.promised else ""
        lines.append(
            f"| {figure.notes} | {figure.command} | {figure.cpu_ms} | {figure.wall_ms} | {figure.ratio} | {promised} |"
        )
    return "\n".join(lines)
