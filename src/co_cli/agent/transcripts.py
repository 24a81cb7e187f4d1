"""Chats that are kept: one file of JSON Lines each, in the state folder, readable by its owner alone.

Owns the files and their form: a first line about the session, then a line a message. What quotes private notes is marked. A
line that was cut off, by a crash or a full disk, costs its own turn and no other. Knows nothing of how a chat goes on.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelRequest, ToolReturnPart

from co_cli.agent.history import whole_turns
from co_cli.errors import Conflict, Corrupt, NotFound, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic_ai.messages import ModelMessage, ModelRequestPart

PRIVATE = "private"
"""The mark of a message that may quote private notes, in its metadata and in its line."""
LEARNING = "learning"
"""The mark of a line that was said while learning was on."""
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

    def __init__(self, folder: str, *, project: str, id: str = "") -> None:  # noqa: A002 - its name everywhere
        self.id = id or f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.urandom(2).hex()}"
        self.path = os.path.join(folder, f"{self.id}.jsonl")
        self._about = {"session": self.id, "project": project}

    def add(self, messages: Sequence[ModelMessage], *, learning: bool = False) -> None:
        """Add the messages of a turn at the end, in one write."""
        lines: list[dict[str, object]] = [] if os.path.exists(self.path) else [{**self._about, "started": _now()}]
        for message in messages:
            mark: dict[str, object] = {PRIVATE: True} if is_private(message) else {}
            mark |= {LEARNING: True} if learning else {}
            (content,) = ModelMessagesTypeAdapter.dump_python([_bare(message)], mode="json")
            lines.append({"at": _now(), **mark, "message": content})
        text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
        try:
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            with open(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "ab+") as file:
                raw = text.encode("utf-8", "surrogatepass")
                file.write(raw if _ends_well(file) else b"\n" + raw)
        except OSError as error:
            raise Unavailable(
                f"{self.path} cannot be written: {error.strerror}.", "The chat goes on, but is not kept."
            ) from error


def _ends_well(file: Any) -> bool:  # noqa: ANN401 - a binary file
    """Whether the last line is whole: what follows one that was cut off must not become part of it."""
    if file.seek(0, os.SEEK_END) == 0:
        return True
    file.seek(-1, os.SEEK_END)
    return bool(file.read(1) == b"\n")


def _bare(message: ModelMessage) -> ModelMessage:
    """A message without what can be made again: the data of results, of which the text is there, and the prompt."""
    if not isinstance(message, ModelRequest):
        return message
    parts: list[ModelRequestPart] = [
        replace(part, metadata=None) if isinstance(part, ToolReturnPart) else part for part in message.parts
    ]
    return replace(message, parts=parts, instructions=None)


def is_private(message: ModelMessage) -> bool:
    """Whether a message may quote private notes."""
    return bool((message.metadata or {}).get(PRIVATE))


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
            entries = list(_entries(path))
        except Corrupt:
            continue
        said = [text for entry in entries if (text := _said(entry))]
        project = str(entries[0].get("project", "")) if entries else ""
        found.append(Stored(name.removesuffix(".jsonl"), path, said[0][:_TITLE] if said else "", project, len(said)))
    return found


def _said(entry: dict[str, Any]) -> str:
    """What the user said in an entry, read without making messages of it: a list of chats is there at once."""
    message = entry.get("message")
    parts = message.get("parts") if isinstance(message, dict) else None
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and part.get("part_kind") == "user-prompt":
            content = part.get("content")
            return " ".join(str(content[0] if isinstance(content, list) and content else content).split())
    return ""


def find(folder: str, wanted: str = "") -> Stored:
    """The chat with this id, or with an id that begins so; without one the newest."""
    chats = stored(folder)
    matches = [chat for chat in chats if chat.id.startswith(wanted)]
    if not chats:
        raise NotFound("No chat has been kept yet.", "Begin one: co chat")
    if not matches:
        raise NotFound(f"There is no chat {wanted!r}.", f"The newest is {chats[0].id}; /resume lists them all.")
    if wanted and len(matches) > 1 and matches[0].id != wanted:
        error = Conflict(f"{len(matches)} chats begin with {wanted}.", "Give more of the id.")
        error.candidates = tuple(chat.id for chat in matches)
        error.details = "\n".join(error.candidates)
        raise error
    return matches[0]


def load(path: str) -> list[ModelMessage]:
    """The messages of a chat, as far as its turns came to their end."""
    messages: list[ModelMessage] = []
    for entry in _entries(path):
        if "message" in entry:
            try:
                messages += ModelMessagesTypeAdapter.validate_python([entry["message"]])
            except ValidationError:  # its turn will not be whole
                continue
    return whole_turns(messages)


def _entries(path: str) -> Iterator[dict[str, Any]]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    entry = json.loads(line)
                except ValueError:  # cut off in the middle of a write
                    continue
                if isinstance(entry, dict):
                    yield entry
    except OSError as error:
        raise Corrupt(f"{path} cannot be read.") from error
