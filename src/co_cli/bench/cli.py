"""How long the commands take, as whole processes, on vaults of many notes.

Owns the seeded vaults, the measuring of processes, and the floors that the figures are compared with in the same run: the
bare interpreter, and grep over the same files. Knows the product only as a command.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from co_cli.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

WORDS_PER_NOTE = 60
_SEED = 20260209
_VOCABULARY = 5000


@dataclass(frozen=True, slots=True)
class Figure:
    """What one command took: the median of its runs, in milliseconds."""

    notes: int
    command: str
    cpu_ms: float
    wall_ms: float
    ratio: float
    """CPU time as a multiple of the bare interpreter's."""
    promised: float | None = None
    """The largest ratio that is promised, where one is."""


def measure(sizes: Sequence[int], runs: int, progress: Callable[[str], None]) -> list[Figure]:
    """Measure the everyday commands on vaults of these sizes."""
    if sys.platform == "win32":
        raise Unavailable("The CPU time of other processes cannot be measured on Windows.", "Use WSL.")
    figures = []
    with tempfile.TemporaryDirectory(prefix="co-bench-") as scratch:
        for size in sizes:
            progress(f"{size} notes: writing")
            project = os.path.join(scratch, str(size))
            memories = write_vault(project, size)
            progress(f"{size} notes: measuring")
            figures.extend(_measure_commands(project, memories, size, runs))
    return figures


def _installed_command() -> str:
    """The command as people start it, from the environment that this runs in."""
    beside = os.path.join(os.path.dirname(sys.executable), "co")
    found = beside if os.path.exists(beside) else shutil.which("co")
    if not found:
        raise Unavailable("The command `co` is not installed beside this Python.", "Install it: pip install .")
    return found


def _measure_commands(project: str, memories: str, size: int, runs: int) -> list[Figure]:
    commonest = _vocabulary(random.Random(_SEED))[0]  # noqa: S311 - repeatable on purpose
    environment = {
        **os.environ,
        "HOME": project,
        "CO_HOME": os.path.join(project, "home"),
        "XDG_STATE_HOME": os.path.join(project, "state"),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # who installs co has its modules compiled, and so has the bench
    co = [_installed_command()]
    commands: list[tuple[str, list[str], float | None]] = [
        ("python -c pass", [sys.executable, "-c", "pass"], None),
        ("co --version", [*co, "--version"], None),
        ("co recall (a rare word)", [*co, "recall", "zanzibar"], 8.0),
        ("co recall (two words)", [*co, "recall", "zanzibar quagga"], 8.0),
        ("co recall (the commonest word)", [*co, "recall", commonest], None),
        ("co show 1", [*co, "show", "1"], None),
        ("co list", [*co, "list"], None),
        ("co prompt", [*co, "prompt"], None),
        ("co learn (a new fact)", [*co, "learn", "--force", "Benchmarks are run on a quiet machine"], None),
    ]
    if shutil.which("grep"):
        commands.insert(1, ("grep -rliF (the floor)", ["grep", "-rliF", "zanzibar", memories], None))
    floor = 0.0
    figures = []
    for name, command, promised in commands:
        cpu, wall = run_times(command, runs, cwd=project, environment=environment)
        floor = floor or cpu
        figures.append(Figure(size, name, round(cpu * 1000, 1), round(wall * 1000, 1), round(cpu / floor, 1), promised))
    return figures


def run_times(command: list[str], runs: int, *, cwd: str, environment: dict[str, str]) -> tuple[float, float]:
    """The median CPU and wall time of a command, in seconds, after one run that warms the caches."""
    import resource

    cpu_times, wall_times = [], []
    for attempt in range(runs + 1):
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, check=False)
        wall = time.perf_counter() - started
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode not in (0, 1) or (done.returncode and command[0] != "grep"):
            raise Unavailable(f"{' '.join(command)} failed: {done.stderr.decode(errors='replace').strip()}")
        if attempt:
            cpu_times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            wall_times.append(wall)
    return median(cpu_times), median(wall_times)


def write_vault(project: str, size: int) -> str:
    """Write a vault of so many memories, the same at every run; returns the folder of the memories."""
    memories = os.path.join(project, ".co-cli", "knowledge", "memories")
    os.makedirs(memories)
    rng = random.Random(_SEED)  # noqa: S311 - repeatable on purpose
    words = _vocabulary(rng)
    weights = [1 / rank for rank in range(1, len(words) + 1)]  # as in any language, few words are most of the text
    for number in range(1, size + 1):
        text = rng.choices(words, weights, k=WORDS_PER_NOTE)
        if number % 1000 == 1:
            text[WORDS_PER_NOTE // 2] = "zanzibar"
        sentence = " ".join(text)
        slug = "-".join(text)[:50].strip("-")
        day = f"2026-{1 + number % 12:02d}-{1 + number % 28:02d}"
        header = (
            f"id: {number}\ncreated: {day}T{number % 24:02d}:00:00+00:00\ntags: [{text[0]}, {text[1]}]\nsource: user-told\n"
        )
        with open(os.path.join(memories, f"{number:03d}-{slug}.md"), "w", encoding="utf-8") as file:
            file.write(f"---\n{header}---\n\n{sentence}\n")
    return memories


def _vocabulary(rng: random.Random) -> list[str]:
    consonants, vowels = "bcdfghklmnprstvw", "aeiou"
    words: set[str] = set()
    while len(words) < _VOCABULARY:
        words.add("".join(rng.choice(consonants) + rng.choice(vowels) for _ in range(rng.randint(1, 4))))
    shuffled = sorted(words)
    rng.shuffle(shuffled)
    return shuffled
