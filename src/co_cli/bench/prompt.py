"""How long it takes from `co chat` to the first prompt, on a terminal of its own.

Owns the pseudo-terminal and what counts as the prompt. Knows the product only as a command.
"""

from __future__ import annotations

import os
import select
import subprocess
import time
from typing import TYPE_CHECKING

from co_cli.bench.figures import Times
from co_cli.bench.processes import check_measurable, installed_command
from co_cli.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

_PROMPT, _END = "›".encode(), b"\x04"
_PATIENCE = 30


def times_to_prompt(runs: int, *, cwd: str, variables: Mapping[str, str]) -> Times:
    """The wall times to the first prompt, and the CPU times of the whole chat, after one run that warms the caches."""
    check_measurable()
    import resource

    times = Times([], [])
    for attempt in range(runs + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        wall = _time_to_prompt([installed_command(), "chat", "--provider", "offline"], cwd, variables)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if attempt:
            times.wall.append(wall)
            times.cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return times


def _time_to_prompt(command: list[str], cwd: str, variables: Mapping[str, str]) -> float:
    import pty

    keyboard, screen = pty.openpty()
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env={**variables, "TERM": "xterm", "NO_COLOR": "1"},
        stdin=screen,
        stdout=screen,
        stderr=screen,
        start_new_session=True,
    )
    os.close(screen)
    try:
        seen = b""
        while _PROMPT not in seen:
            piece = _read(keyboard)
            if not piece:
                raise Unavailable(f"`co chat` ended before its first prompt: {seen.decode(errors='replace').strip()}")
            seen += piece
        wall = time.perf_counter() - started
        os.write(keyboard, _END)
        while _read(keyboard):
            pass
        process.wait(_PATIENCE)
        return wall
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(keyboard)


def _read(keyboard: int) -> bytes:
    if not select.select([keyboard], [], [], _PATIENCE)[0]:
        raise Unavailable(f"`co chat` says nothing for {_PATIENCE} seconds.")
    try:
        return os.read(keyboard, 65536)
    except OSError:  # how Linux tells that the last program has left the terminal
        return b""
