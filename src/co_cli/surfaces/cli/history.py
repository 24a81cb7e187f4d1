"""The commands that look back: log and undo."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from co_cli.knowledge import open_knowledge
from co_cli.surfaces.cli.terminal import emit, paint

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from co_cli.knowledge import LoggedChange


def log_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """List the last changes that co made to the notes of the project and the global ones, newest first.

    Examples:
        co log
        co log -n 100 --json
    """
    parser.add_argument("-n", type=int, default=20, dest="limit", metavar="N", help="at most so many changes (20)")
    return _log


def _log(arguments: Namespace) -> None:
    changes = open_knowledge().log(max(arguments.limit, 0))
    text = "\n".join(map(_line, changes)) or "Nothing has been changed yet."
    emit(arguments, {"count": len(changes), "changes": [_data(entry) for entry in changes]}, text)


def _line(entry: LoggedChange) -> str:
    change = entry.change
    day = datetime.fromisoformat(change.at).astimezone().strftime("%Y-%m-%d %H:%M")
    state = paint(" (undone)", "dim") if change.undone else ""
    return (
        f"{str(entry.position).rjust(3)}  {paint(entry.id.ljust(5), 'bold')}  {paint(day, 'dim')}  {change.summary}{state}"
    )


def _data(entry: LoggedChange) -> dict[str, object]:
    change = entry.change
    return {
        "position": entry.position,
        "id": entry.id,
        "at": change.at,
        "operation": change.operation,
        "summary": change.summary,
        "vault": entry.vault,
        "paths": list(change.paths),
        "undone": change.undone,
    }


def undo_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Take back the newest change, or the one with this place or id in `co log`.

    A file that was edited since is not touched: the difference is shown instead. An undo can be undone by its id.

    Examples:
        co undo
        co undo 3
        co undo p12
    """
    parser.add_argument("which", nargs="?", default="", metavar="N", help="place or id in `co log` (the newest)")
    return _undo


def _undo(arguments: Namespace) -> None:
    entry = open_knowledge().undo(arguments.which)
    display = f"✓ Took back: {entry.change.summary}"
    emit(arguments, {**_data(entry), "undone": True, "display": display}, display)
