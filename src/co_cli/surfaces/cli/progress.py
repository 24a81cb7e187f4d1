"""How far something is that takes its time: one line on the terminal, which is gone when it is done.

Owns that line. Where stderr is no terminal nothing is shown: an agent's transcript is no place for progress.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from co_cli.surfaces.cli.terminal import can_show_all

if TYPE_CHECKING:
    from types import TracebackType

_WIDTH = 24
_SILENT, _EVERY = 0.4, 0.1
"""Seconds that may pass unmentioned, and seconds between two states of the line."""
_MINUTE = 60


class Progress:
    """The line, to be used in a ``with`` statement and told what is done."""

    def __init__(self) -> None:
        self._shown = False
        self._what = ""
        self._started = self._last = time.monotonic()
        self._first = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.clear()

    def clear(self) -> None:
        """Take the line away, so that something else can be said."""
        if self._shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Say what is being done, how much of it is done, and how much there is."""
        now = time.monotonic()
        if what != self._what:
            self._what, self._started, self._first, self._last = what, now, done, 0.0 if self._shown else now
        if now - self._last < (_EVERY if self._shown else _SILENT) or not sys.stderr.isatty():
            return
        self._shown, self._last = True, now
        sys.stderr.write(f"\r\033[K{line(what, done, total, (done - self._first) / max(now - self._started, 0.001))}")
        sys.stderr.flush()


def line(what: str, done: int, total: int, rate: float) -> str:
    """The line: a bar, the share, the count, how many a second, and how long it will take."""
    full, empty = ("█", "░") if can_show_all(sys.stderr) else ("#", ".")
    filled = _WIDTH * done // max(total, 1)
    parts = [f"{what} {full * filled}{empty * (_WIDTH - filled)} {100 * done // max(total, 1)} %", f"{done:,} of {total:,}"]
    if rate:
        parts += [f"{rate:,.0f}/s", f"{_span((total - done) / rate)} left"]
    return " · ".join(parts)


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), _MINUTE)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
