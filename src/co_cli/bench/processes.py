"""Measuring whole processes: what they cost, and how much memory they take at most.

Owns the running of commands and of measurements that need a process to themselves. Knows nothing of what they do.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from itertools import islice
from typing import TYPE_CHECKING, Any

from co_cli.bench.figures import Times
from co_cli.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_CALL = """
import json, sys
from importlib import import_module
module, function, arguments = json.loads(sys.argv[1])
print(json.dumps(getattr(import_module(module), function)(**arguments)))
"""


def installed_command() -> str:
    """The command `co` as people start it, from the environment that this runs in."""
    beside = os.path.join(os.path.dirname(sys.executable), "co")
    found = beside if os.path.exists(beside) else shutil.which("co")
    if not found:
        raise Unavailable("The command `co` is not installed beside this Python.", "Install it: pip install .")
    return found


def environment(project: str) -> dict[str, str]:
    """The environment of a user who has nothing but this project."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("CO_", "XDG_"))}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)  # who installs co has its modules compiled, and so has the bench
    return {
        **variables,
        "HOME": project,
        "CO_HOME": os.path.join(project, "home"),
        "XDG_STATE_HOME": os.path.join(project, "state"),
        "XDG_CACHE_HOME": os.path.join(project, "cache"),
    }


def run(command: list[str], *, cwd: str, variables: Mapping[str, str]) -> str:
    """Run a command that has to succeed; returns what it prints."""
    done = subprocess.run(command, cwd=cwd, env=variables, capture_output=True, check=False)
    if done.returncode and (command[0] != "grep" or done.returncode > 1):  # grep that finds nothing has done its work
        raise Unavailable(f"{' '.join(command)} failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode(errors="replace")


def run_times(command: list[str], runs: int, *, cwd: str, variables: Mapping[str, str], last: Sequence[str] = ()) -> Times:
    """The CPU and wall times of a command, after one run that warms the caches; each with a ``last`` argument of its own."""
    check_measurable()
    import resource

    each = iter(last)
    run([*command, *islice(each, 1)], cwd=cwd, variables=variables)
    times = Times([], [])
    for _ in range(runs):
        now = [*command, *islice(each, 1)]
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        run(now, cwd=cwd, variables=variables)
        times.wall.append(time.perf_counter() - started)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return times


def call_in_child(module: str, function: str, **arguments: object) -> Any:  # noqa: ANN401 - whatever the function returns
    """Call a function in a process of its own, which starts with nothing in its memory."""
    command = [sys.executable, "-c", _CALL, json.dumps([module, function, arguments])]
    return json.loads(run(command, cwd=os.getcwd(), variables=os.environ))


def peak_memory() -> int:
    """The most memory that this process has had at once, in bytes."""
    check_measurable()
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024
    except (OSError, StopIteration):
        import resource

        # on Linux this one would count the process that started this one too
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def check_measurable() -> None:
    """Refuse where the system does not say what a process took."""
    if sys.platform == "win32":
        raise Unavailable("The CPU time and memory of processes cannot be measured on Windows.", "Use WSL.")
