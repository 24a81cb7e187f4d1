"""``co usage``: what agents call, what comes back, and what nobody ever asked for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from co_cli.knowledge import MEMORY, TOPIC, open_knowledge
from co_cli.learning.spending import spent
from co_cli.surfaces.cli.terminal import can_show_all, emit, paint, visible

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterable

    from co_cli.knowledge import Note, Survey
    from co_cli.learning.spending import Spent

_BAR = 32
_DAYS_SHOWN = 14


def usage_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Show what agents did with the knowledge: calls by tool and by day, the most used notes, and those never used.

    Every call of a tool is counted, whichever program made it, for all projects; the notes are those of this project and
    your own. Your own `co` commands are not counted. Below stands what `co learn` took from models, in tokens.

    Examples:
        co usage
        co usage --days 7 -n 20
        co usage --json
    """
    parser.add_argument("--days", type=int, default=30, metavar="N", help="the last so many days (30)")
    parser.add_argument("-n", type=int, default=10, dest="limit", metavar="N", help="at most so many notes in a list (10)")
    return _usage


def _usage(arguments: Namespace) -> None:
    kb = open_knowledge()
    found = kb.usage(arguments.days)
    learning = spent(kb, arguments.days)
    limit = max(arguments.limit, 0)
    lines = [*_lines(found, limit), *_learning_lines(learning)]
    emit(arguments, {**_data(found), "learning": _learning_data(learning)}, "\n".join(lines))


def _learning_data(learning: Spent) -> dict[str, object]:
    return {"cap": learning.cap, "today": learning.today, "by_day": [day._asdict() for day in learning.days]}


def _learning_lines(learning: Spent) -> list[str]:
    """What learning took from models; nothing where it never asked one."""
    if not learning.days:
        return []
    lines = ["", paint("Tokens for learning", "bold")]
    lines += _chart((f"{day.day} {day.model}", day.tokens, f"  ({_requests(day.requests)})") for day in learning.days)
    return [*lines, f"{learning.today:,} of {learning.cap:,} for today are spent."]


def _requests(number: int) -> str:
    return "1 request" if number == 1 else f"{number} requests"


def _data(found: Survey) -> dict[str, object]:
    return {
        "days": found.days,
        "calls": found.calls,
        "tools": [tool._asdict() for tool in found.tools],
        "by_day": [{"day": day, "calls": calls} for day, calls in found.by_day],
        "used": [
            {"ref": used.note.ref, "calls": used.calls, "last": used.last, "title": _words(used.note)} for used in found.used
        ],
        "elsewhere": found.elsewhere,
        "never_used": [note.ref for note in found.never],
        "notes": found.notes,
    }


def _lines(found: Survey, limit: int) -> list[str]:
    if not found.calls:
        lines = [f"No tool was called in the last {_days(found.days)}."]
    else:
        lines = [paint(f"{_calls(found.calls)} in {_days(found.days)}", "bold"), ""]
        lines += _chart((tool.tool, tool.calls, _remark(tool.failed, tool.ms)) for tool in found.tools)
        lines += ["", *_chart((day, calls, "") for day, calls in _every_day(found.by_day))]
    if found.used:
        lines += ["", paint("Most used", "bold")]
        width = max(len(used.note.ref) for used in found.used[:limit]) if limit else 0
        for used in found.used[:limit]:
            lines.append(f"{used.calls:5}  {used.note.ref.ljust(width)}  {visible(_words(used.note))}")
        if len(found.used) > limit:
            lines.append(paint(f"       and {len(found.used) - limit} more", "dim"))
    if found.notes:
        lines += ["", *_never(found, limit)]
    return lines


def _never(found: Survey, limit: int) -> list[str]:
    lines = [paint("Never used", "bold")]
    for kind, many in ((TOPIC, "topics"), (MEMORY, "memories")):
        refs = [note.ref for note in found.never if note.kind == kind]
        if refs:
            more = f", and {len(refs) - limit} more" if len(refs) > limit else ""
            lines.append(f"{len(refs):5}  {many}: {', '.join(refs[:limit])}{more}" if limit else f"{len(refs):5}  {many}")
    return lines if len(lines) > 1 else ["Every note was used."]


def _chart(rows: Iterable[tuple[str, int, str]]) -> list[str]:
    """A bar for each number."""
    bars = list(rows)
    block = "█" if can_show_all(sys.stdout) else "#"
    width = max(len(name) for name, _, _ in bars)
    most = max(number for _, number, _ in bars) or 1
    lines = []
    for name, number, remark in bars:
        bar = block * max(round(_BAR * number / most), min(number, 1))
        lines.append(f"{name.ljust(width)}  {paint(bar, 'cyan')}{' ' if bar else ''}{number}{paint(remark, 'dim')}".rstrip())
    return lines


def _every_day(by_day: tuple[tuple[str, int], ...]) -> list[tuple[str, int]]:
    """The last days up to the last call, those without a call as well."""
    from datetime import date, timedelta

    calls = dict(by_day)
    first, last = (date.fromisoformat(by_day[place][0]) for place in (0, -1))
    first = max(first, last - timedelta(days=_DAYS_SHOWN - 1))
    days = (first + timedelta(days=number) for number in range((last - first).days + 1))
    return [(day.isoformat(), calls.get(day.isoformat(), 0)) for day in days]


def _remark(failed: int, ms: float) -> str:
    return f"  ({f'{failed} failed, ' if failed else ''}{ms:.1f} ms each)"


def _words(note: Note) -> str:
    return "(private)" if note.private else note.title or note.summary


def _days(days: int) -> str:
    return "day" if days == 1 else f"{days} days"


def _calls(calls: int) -> str:
    return "1 call" if calls == 1 else f"{calls} calls"
