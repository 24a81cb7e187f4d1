"""How long the commands take, as whole processes from start to exit.

Owns which commands are measured, and what is promised of them. Knows the product only as a command. The floors are the bare
interpreter, and grep over the same files.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from co_cli.bench.figures import Figure, ratio
from co_cli.bench.processes import check_measurable, environment, installed_command, run, run_times
from co_cli.bench.vaults import RARE_WORD, Language, each_size
from co_cli.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from co_cli.bench.figures import Progress

_TEXT, _HYBRID, _PROMISED_UP_TO = 8.0, 15.0, 10_000
"""What a search may cost at most, in bare interpreters, and on how many notes."""
_FLOOR = "python -c pass"
_PROMPT_MS = 1500
"""Wall time that may pass from the start of a chat to its first prompt; its slow imports go on while the user types."""
_SEED = 7
_PATIENCE = 1000
"""Searches after which the index has to be whole."""


class _Measured(NamedTuple):
    what: str
    command: list[str]
    promised: float | None = None
    last: Sequence[str] = ()
    """The last argument of each run, where it is to be another each time."""


def measure(sizes: Sequence[int], runs: int, progress: Progress) -> list[Figure]:
    """Measure the everyday commands on vaults of these sizes."""
    check_measurable()
    figures = []
    for size, project in each_size(sizes, progress):
        figures.extend(_measure_commands(project, size, runs, progress))
    return figures


def _measure_commands(project: str, size: int, runs: int, progress: Progress) -> list[Figure]:
    variables = environment(project)
    _make_index(project, variables, progress)
    commands = _commands(project, size, runs)
    floor = 0.0
    figures = []
    for number, (what, command, limit, last) in enumerate(commands, start=1):
        times = run_times(command, runs, cwd=project, variables=variables, last=last)
        floor = floor or times.cpu_ms
        found = ratio(times.cpu_ms, floor)
        promised = limit if size <= _PROMISED_UP_TO else None
        figures.append(
            Figure(
                size,
                what,
                times.cpu_ms,
                times.wall_ms,
                ratio=found,
                floor=_FLOOR,
                promised=f"≤ {promised:g} × {_FLOOR}" if promised else "",
                kept=found <= promised if promised else None,
            )
        )
        progress(f"{size:,} notes: measuring", number, len(commands))
    if find_spec("prompt_toolkit"):
        figures.append(_first_prompt(project, size, runs, variables))
    return figures


def _first_prompt(project: str, size: int, runs: int, variables: Mapping[str, str]) -> Figure:
    from co_cli.bench.prompt import times_to_prompt

    times = times_to_prompt(runs, cwd=project, variables=variables)
    kept = times.wall_ms <= _PROMPT_MS
    return Figure(
        size, "co chat (to the first prompt)", times.cpu_ms, times.wall_ms, promised=f"≤ {_PROMPT_MS:,} ms wall", kept=kept
    )


def _commands(project: str, size: int, runs: int) -> list[_Measured]:
    co = [installed_command()]
    commonest = Language(size).words[0]
    text, hybrid = [*co, "recall", "--mode", "text"], [*co, "recall", "--mode", "hybrid"]
    several = f"{RARE_WORD} quagga {commonest}"
    commands = [
        _Measured(_FLOOR, [sys.executable, "-c", "pass"]),
        _Measured("co --version", [*co, "--version"]),
        _Measured("co recall (text, a rare word)", [*text, RARE_WORD], _TEXT),
        _Measured("co recall (text, several words)", [*text, several], _TEXT),
        _Measured("co recall (text, the commonest word)", [*text, commonest]),
        _Measured("co recall (hybrid, a rare word)", [*hybrid, RARE_WORD], _HYBRID),
        _Measured("co recall (hybrid, several words)", [*hybrid, several], _HYBRID),
        _Measured("co recall (grep, a rare word)", [*co, "recall", "--mode", "grep", RARE_WORD]),
        _Measured("co show 1", [*co, "show", "1"]),
        _Measured("co list", [*co, "list"]),
        _Measured("co prompt", [*co, "prompt"]),
        _Measured("co learn (a new fact)", [*co, "learn"], last=_new_facts(size, runs + 1)),
    ]
    if shutil.which("grep"):
        commands.insert(1, _Measured("grep -rliF (the same files)", ["grep", "-rliF", RARE_WORD, project]))
    return commands


def _new_facts(size: int, number: int) -> list[str]:
    """Statements that have nothing to do with each other."""
    language, rng = Language(size), random.Random(_SEED)  # noqa: S311 - repeatable on purpose
    return [" ".join(language.text(rng, 12)) for _ in range(number)]


def _make_index(project: str, variables: Mapping[str, str], progress: Progress) -> None:
    """Search until every note is indexed, with its vector: a search waits for them only so long."""
    command = [installed_command(), "recall", RARE_WORD, "--mode", "hybrid", "--json"]
    for search in range(_PATIENCE):
        found = json.loads(run(command, cwd=project, variables=variables))
        if not found["degraded"]:
            return
        if "semantic-unavailable" in found["degraded"]:
            raise Unavailable(" ".join(found["notices"]))
        progress("making the index", search, _PATIENCE)
    raise Unavailable(f"The index of {os.path.basename(project)} is not whole after {_PATIENCE} searches.")
