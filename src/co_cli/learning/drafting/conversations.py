"""Conversations with agents, as their programs have kept them: Claude Code, Codex, Gemini CLI, and co itself.

Owns finding the files, and telling their form by what is in them, whatever they are called. What is taken from each form,
:mod:`co_cli.learning.drafting.transcripts` knows. Files are only read. A line that cannot be read costs itself and no other.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import NotFound, Unavailable
from co_cli.learning.drafting import transcripts
from co_cli.learning.drafting.transcripts import Told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from co_cli.learning.drafting.rules import Turn

    Progress = Callable[[str, int, int], None]
    """Told what is being done, how much of it is done, and how much there is."""

__all__ = ["Conversation", "Unread", "conversations_at", "read_conversation"]

_ENDINGS = (".jsonl", ".json")
_LARGEST = 256 * 1024 * 1024
"""Bytes of a file above which it is left alone."""
_SNIFFED = 40
"""Lines that are looked at to tell the form of a file."""


class Conversation(NamedTuple):
    """What was said in one session with an agent."""

    agent: str
    """Whose file it is: claude, codex, gemini or co."""
    id: str
    path: str
    project: str
    """The folder in which the agent worked; ``sha256:…`` where only its hash is known, empty where nothing is."""
    turns: tuple[Turn, ...]
    shown: tuple[str, ...]
    """What programs put into it: results of tools, reminders, boot files."""
    decided: tuple[str, ...] = ()
    """What the agent was about to save, and a person allowed or refused."""
    broken: int = 0
    """Lines that cannot be read."""


class Unread(NamedTuple):
    """A file in which there is no conversation that co knows how to read."""

    path: str
    why: str


def conversations_at(path: str, progress: Progress | None = None) -> Iterator[Conversation | Unread]:
    """The conversations of a file, or of a folder and those below it, in the order of their names; one is read at a time."""
    paths = _files(os.path.expanduser(path))
    for number, each in enumerate(paths, start=1):
        yield read_conversation(each)
        if progress:
            progress("reading", number, len(paths))


def _files(path: str) -> list[str]:
    if os.path.isfile(path):
        return [path]
    if not os.path.isdir(path):
        raise NotFound(f"There is no {path}.", "Transcripts lie in ~/.claude/projects, ~/.codex/sessions and ~/.gemini/tmp.")
    walked = sorted((folder, name) for folder, _folders, names in os.walk(path, onerror=_refuse) for name in names)
    return [os.path.join(folder, name) for folder, name in walked if name.endswith(_ENDINGS)]


def _refuse(error: OSError) -> None:
    raise Unavailable(f"{error.filename} cannot be read: {error.strerror}.", "Check its permissions.") from error


def read_conversation(path: str) -> Conversation | Unread:
    """Read one file."""
    try:
        if os.path.getsize(path) > _LARGEST:
            return Unread(path, "it is too large")
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError as error:
        return Unread(path, f"it cannot be read: {error.strerror}")
    entries, broken = _entries(text)
    form = next((form for form in transcripts.FORMS if any(map(form.is_one, entries[:_SNIFFED]))), None)
    if form is None:
        return Unread(path, "it is no transcript of an agent that co knows")
    told: Told = form.read(entries, path)
    name = os.path.basename(path).rpartition(".")[0]
    return Conversation(
        form.agent, told.id or name, path, told.project, tuple(told.turns), tuple(told.shown), tuple(told.decided), broken
    )


def _entries(text: str) -> tuple[list[dict[str, Any]], int]:
    """The entries of JSON Lines, or of one JSON document, and how many lines are none."""
    lines = [line for line in text.splitlines() if line.strip()]
    entries: list[dict[str, Any]] = []
    broken = 0
    for line in lines:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            broken += 1
            continue
        if isinstance(entry, dict):
            entries.append(entry)
        elif isinstance(entry, list) and len(lines) == 1:
            entries.append({"history": entry})
        else:
            broken += 1
    if entries or not lines:
        return entries, broken
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return [], broken
    return [whole if isinstance(whole, dict) else {"history": whole}], 0
