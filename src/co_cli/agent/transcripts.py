"""Chats that are kept: one file of JSON Lines each, in the state folder, readable by its owner alone.

Owns the files and their form: a first line about the session, then a line a message. Knows nothing of how a chat goes on.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import ValidationError
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelRequest, UserPromptPart

from co_cli.errors import Corrupt, NotFound, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic_ai.messages import ModelMessage

_NAME = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{4}")
_TITLE = 60


@dataclass(frozen=True, slots=True)
class Stored:
    """A chat that was kept."""

    id: str
    path: str
    title: str
    """The first words of its user."""
    project: str
    turns: int


class Transcript:
    """The file of one chat; it is made with the first message."""

    def __init__(self, folder: str, *, project: str, provider: str, id: str = "") -> None:  # noqa: A002 - its name everywhere
        self.id = id or f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.urandom(2).hex()}"
        self.path = os.path.join(folder, f"{self.id}.jsonl")
        self._about = {"session": self.id, "project": project, "provider": provider}

    def add(self, messages: Sequence[ModelMessage], *, private: bool = False) -> None:
        """Add messages at the end; ``private`` marks those in which private notes may be quoted."""
        mark: dict[str, object] = {"at": _now(), **({"private": True} if private else {})}
        lines: list[dict[str, object]] = [] if os.path.exists(self.path) else [{**self._about, "started": _now()}]
        lines += [{**mark, "message": each} for each in ModelMessagesTypeAdapter.dump_python(list(messages), mode="json")]
        text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
        try:
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with open(handle, "a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise Unavailable(
                f"{self.path} cannot be written: {error.strerror}.", "The chat goes on, but is not kept."
            ) from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def stored(folder: str) -> list[Stored]:
    """The chats that were kept, the newest first."""
    try:
        names = sorted((name for name in os.listdir(folder) if _NAME.fullmatch(name.removesuffix(".jsonl"))), reverse=True)
    except OSError:
        return []
    found = []
    for name in names:
        path = os.path.join(folder, name)
        try:
            about, messages = _read(path)
        except Corrupt:
            continue
        said = [text for message in messages if (text := first_words(message))]
        found.append(
            Stored(
                name.removesuffix(".jsonl"), path, said[0][:_TITLE] if said else "", str(about.get("project", "")), len(said)
            )
        )
    return found


def load(folder: str, id: str) -> list[ModelMessage]:  # noqa: A002
    """The messages of a chat, by its id or the beginning of it; a last line that was cut off is left out."""
    matches = [chat for chat in stored(folder) if chat.id.startswith(id)]
    if not matches:
        raise NotFound(f"There is no chat {id!r}.", "/resume lists those that were kept.")
    return _read(matches[0].path)[1]


def _read(path: str) -> tuple[dict[str, object], list[ModelMessage]]:
    about: dict[str, object] = {}
    raw = []
    for number, line in enumerate(_lines(path)):
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            break  # cut off in the middle of a write
        if number == 0:
            about = entry
        elif "message" in entry:
            raw.append(entry["message"])
    try:
        return about, ModelMessagesTypeAdapter.validate_python(raw)
    except ValidationError as error:
        raise Corrupt(f"{path} is no transcript of co.") from error


def _lines(path: str) -> Iterator[str]:
    try:
        with open(path, encoding="utf-8") as file:
            yield from file
    except (OSError, UnicodeDecodeError) as error:
        raise Corrupt(f"{path} cannot be read.") from error


def first_words(message: ModelMessage) -> str:
    """What the user said in a message, without what was offered to the model beside it."""
    if isinstance(message, ModelRequest):
        for part in message.parts:
            if isinstance(part, UserPromptPart):
                content = part.content if isinstance(part.content, str) else str(part.content[0])
                return " ".join(content.split())
    return ""
