"""The calls of tools as far as they concern notes: what is logged of a call, and what the log says about the notes.

Owns which parts of a call may be logged, and bringing the names in the log together with the notes that there are. Knows
nothing of how it is shown.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import Corrupt, Invalid, Unavailable
from co_cli.note import MEMORY, TOPIC
from co_cli.usage import OK, Call, Named, days_ago

if TYPE_CHECKING:
    from collections.abc import Iterable

    from co_cli.note import Note
    from co_cli.usage import ToolUse, UsageLog
    from co_cli.vault import Vault

LONGEST = 3650
"""Days that can be asked about: more than the log keeps."""


class ToolCall(NamedTuple):
    """A call of a tool that has just ended."""

    tool: str
    surface: str
    """Where it came from: ``chat``, ``mcp``, ``http`` or ``python``."""
    seconds: float
    """How long it took."""
    outcome: str = OK
    """``ok``, or the kind of the error."""
    notes: tuple[Note, ...] = ()
    """The notes that came back."""
    arguments: str = ""


class UsedNote(NamedTuple):
    """A note that came back from a tool."""

    note: Note
    calls: int
    last: str
    """The moment at which it came back for the last time."""


class Survey(NamedTuple):
    """What was used in some days, and what never was."""

    days: int
    calls: int
    tools: tuple[ToolUse, ...]
    """The tools, the most called first; of all projects."""
    by_day: tuple[tuple[str, int], ...]
    used: tuple[UsedNote, ...]
    """The notes of these vaults that came back in that time, the most used first."""
    elsewhere: int
    """How many notes of other projects, or that are gone, came back."""
    never: tuple[Note, ...]
    """The notes of these vaults that no call ever returned, as far as the log reaches back."""
    notes: int
    """How many notes there are."""


def logged(vaults: Iterable[Vault], call: ToolCall, *, arguments: bool) -> Call:
    """A call as it is logged: notes by their names, and the arguments only where they may be kept.

    They are not kept where a private note came back or something in them looks like a secret.
    """
    from co_cli.credentials import find_secret

    kept = arguments and not any(note.private for note in call.notes) and not find_secret(call.arguments)
    return Call(
        call.tool,
        call.surface,
        time.time() - call.seconds,
        call.seconds * 1000,
        call.outcome,
        _names(vaults, call.notes),
        call.arguments if kept else None,
    )


def forget(vaults: Iterable[Vault], log: UsageLog, notes: Iterable[Note]) -> None:
    """Take notes whose files were just removed out of the log.

    What stands in the way is no error: a name that stays in the log is the name of no note.
    """
    with suppress(Corrupt, Unavailable):
        log.forget(_names(vaults, notes))


def _names(vaults: Iterable[Vault], notes: Iterable[Note]) -> tuple[Named, ...]:
    keys = {vault.name: vault.key for vault in vaults}
    return tuple(Named(keys[note.vault], note.lasting_name) for note in notes if note.vault in keys)  # not linked ones


def survey(vaults: Iterable[Vault], log: UsageLog, days: int) -> Survey:
    """Look through the log, and through the memories and topics of these vaults."""
    if not 1 <= days <= LONGEST:
        raise Invalid(f"The number of days must be between 1 and {LONGEST}.", "Leave it out for the last 30.")
    since = days_ago(days)
    known = {Named(vault.key, note.lasting_name): note for vault in vaults for note in vault.scan((TOPIC, MEMORY)).notes}
    in_time = log.notes(since)
    ever = {use.note for use in log.notes(0)}
    tools = log.tools(since)
    used = tuple(UsedNote(known[use.note], use.calls, _moment(use.last)) for use in in_time if use.note in known)
    return Survey(
        days=days,
        calls=sum(tool.calls for tool in tools),
        tools=tools,
        by_day=log.days(since),
        used=used,
        elsewhere=len(in_time) - len(used),
        never=tuple(note for name, note in known.items() if name not in ever),
        notes=len(known),
    )


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(seconds))
