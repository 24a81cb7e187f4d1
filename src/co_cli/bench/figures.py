"""What a measurement says, in one shape for all of them.

Owns the shape, and how a promise is checked. Knows nothing of what is measured, nor of how it is shown.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import median, quantiles
from typing import TYPE_CHECKING, NamedTuple, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Progress = Callable[[str, int, int], None]
    """Told what is being done, how much of it is done, and how much there is."""

P = ParamSpec("P")
T = TypeVar("T")
_HUNDREDTHS, _TENTHS = 1.0, 10.0


@dataclass(frozen=True, slots=True)
class Figure:
    """What one thing took, or brought, on a vault of so many notes; what was not measured of it is ``None``."""

    notes: int
    what: str
    cpu_ms: float | None = None
    wall_ms: float | None = None
    wall_p95_ms: float | None = None
    per_second: float | None = None
    """Notes done in a second of wall time."""
    peak_mb: float | None = None
    """The most memory that the process had at once."""
    size_mb: float | None = None
    ratio: float | None = None
    """CPU time as a multiple of that of the floor, which was measured in the same run."""
    floor: str = ""
    growth: float | None = None
    """Wall time as a multiple of that on the smallest vault of the run."""
    promised: str = ""
    kept: bool | None = None


class Times(NamedTuple):
    """CPU and wall time of each of several runs, in seconds."""

    cpu: list[float]
    wall: list[float]

    @property
    def cpu_ms(self) -> float:
        """The median of the CPU times, in milliseconds."""
        return rounded(median(self.cpu) * 1000)

    @property
    def wall_ms(self) -> float:
        """The median of the wall times, in milliseconds."""
        return rounded(median(self.wall) * 1000)

    @property
    def wall_p95_ms(self) -> float:
        """What 19 of 20 runs stayed below, in milliseconds."""
        return rounded((quantiles(self.wall, n=20)[-1] if len(self.wall) > 1 else self.wall[0]) * 1000)


def timed(work: Callable[[], object], runs: int) -> Times:
    """Time some work in this process, so many times."""
    times = Times([], [])
    for _ in range(runs):
        once(times, work)
    return times


def once(times: Times, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Time some work once, and add it to other times; returns what comes of the work."""
    cpu, wall = time.process_time(), time.perf_counter()
    done = work(*given, **named)
    times.wall.append(time.perf_counter() - wall)
    times.cpu.append(time.process_time() - cpu)
    return done


def together(times: Iterable[Times]) -> Times:
    """Several times as one."""
    each = list(times)
    return Times([cpu for one in each for cpu in one.cpu], [wall for one in each for wall in one.wall])


def rounded(value: float) -> float:
    """A number with as many digits as it deserves."""
    return round(value, 3 if value < _HUNDREDTHS else 2 if value < _TENTHS else 1)


def ratio(value: float, floor: float) -> float:
    """How many times the floor something is."""
    return rounded(value / floor) if floor else 0.0
