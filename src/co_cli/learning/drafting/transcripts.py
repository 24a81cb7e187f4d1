"""The forms in which agents keep what was said: what in a file is the user's turn, what the agent's, what a program's.

Owns the table of forms, and what is taken from each entry: the words that a person typed, what the agent said before, and
what programs showed. Everything else is passed over. Pure, but for the marker file of Gemini's folders.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from co_cli.learning.drafting.rules import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Entry = dict[str, Any]
_SHOWN = 20_000
"""Characters that are kept of what a program showed."""
_BEFORE = 2000
_REFERENCED = "--- Content from referenced files ---"
_INTERRUPTED = "[Request interrupted by user"


class Told:
    """A conversation as it is gathered from its entries."""

    def __init__(self) -> None:
        self.id = ""
        self.project = ""
        self.turns: list[Turn] = []
        self.shown: list[str] = []
        self.decided: list[str] = []
        self._before = ""

    def user(self, text: str, at: object = "", *, private: bool = False, allowed: bool = False) -> None:
        """Something that a person said."""
        text = text.partition(_REFERENCED)[0].strip()
        if text and not text.startswith(_INTERRUPTED):
            when = at if isinstance(at, str) else ""
            self.turns.append(Turn(text, when, self._before[-_BEFORE:], private, allowed, len(self.shown)))
            self._before = ""

    def agent(self, text: str) -> None:
        """Something that the agent said."""
        self._before = f"{self._before}\n{text}".strip()

    def called(self, tool: object, arguments: object) -> None:
        """A tool that the agent called; what it was to save has been decided on, one way or the other."""
        if isinstance(arguments, str):
            with suppress(ValueError):
                arguments = json.loads(arguments)
        content = _mapping(arguments).get("content")
        if str(tool).endswith("save_memory") and isinstance(content, str):
            self.decided.append(content)

    def program(self, text: object) -> None:
        """Something that a program put into the conversation."""
        shown = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
        if shown.strip():
            self.shown.append(shown[:_SHOWN])


class Form(NamedTuple):
    """A way of keeping conversations."""

    agent: str
    is_one: Callable[[Entry], bool]
    """Whether an entry can only be of this form."""
    read: Callable[[list[Entry], str], Told]


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(content: object, *kinds: str) -> str:
    """The words of a content: a text, or blocks of which those of these kinds count."""
    if isinstance(content, str):
        return content
    blocks = [_mapping(block) for block in _list(content)]
    return "\n".join(
        str(block["text"])
        for block in blocks
        if isinstance(block.get("text"), str) and (not kinds or block.get("type") in kinds)
    )


# ------------------------------------------------------------------------------------------------------------------ Claude


_NOT_TYPED = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")


def _is_claude(entry: Entry) -> bool:
    return entry.get("type") in ("user", "assistant") and isinstance(entry.get("message"), dict) and "payload" not in entry


def _read_claude(entries: list[Entry], _path: str) -> Told:
    told = Told()
    for entry in entries:
        told.id = told.id or str(entry.get("sessionId") or "")
        told.project = told.project or str(entry.get("cwd") or "")
        content = _mapping(entry.get("message")).get("content")
        if "attachment" in entry:
            told.program(entry["attachment"])
        elif any(entry.get(mark) is True for mark in _NOT_TYPED):
            told.program(_text(content))
        elif entry.get("type") == "assistant":
            told.agent(_text(content, "text"))
            for block in map(_mapping, _list(content)):
                told.called(block.get("name"), block.get("input"))
        elif entry.get("type") == "user":
            for block in map(_mapping, _list(content)):
                if block.get("type") == "tool_result":
                    told.program(_text(block.get("content")) or block.get("content") or "")
            if _mapping(entry.get("origin")).get("kind", "human") == "human":
                told.user(_text(content, "text"), entry.get("timestamp"))
    return told


# ------------------------------------------------------------------------------------------------------------------- Codex


def _is_codex(entry: Entry) -> bool:
    wrapped = entry.get("type") in ("session_meta", "response_item", "event_msg", "turn_context") and "payload" in entry
    return wrapped or (entry.get("type") == "message" and _text(entry.get("content"), "input_text") != "")


def _read_codex(entries: list[Entry], _path: str) -> Told:
    told = Told()
    payloads = [(entry, _mapping(entry.get("payload", entry))) for entry in entries]
    typed = any(_typed_into_codex(entry, payload) for entry, payload in payloads)
    for entry, payload in payloads:
        kind = payload.get("type")
        if entry.get("type") == "session_meta" or (not told.id and "instructions" in entry):
            told.id, told.project = str(payload.get("id") or ""), str(payload.get("cwd") or "")
            told.program(payload.get("instructions") or "")
            if "subagent" in _mapping(payload.get("source")):
                return told  # what one agent tells another is nobody's word
        elif said := _typed_into_codex(entry, payload):
            told.user(said, entry.get("timestamp"))
        elif kind == "message":
            said = _text(payload.get("content"))
            if payload.get("role") == "assistant":
                told.agent(said)
            elif payload.get("role") != "user" or said.lstrip().startswith(("<", "# AGENTS.md")):
                told.program(said)
            elif not typed:
                told.user(said, entry.get("timestamp"))
        elif kind == "function_call":
            told.called(payload.get("name"), payload.get("arguments"))
        elif kind in ("function_call_output", "custom_tool_call_output", "local_shell_call_output"):
            told.program(payload.get("output") or "")
    return told


def _typed_into_codex(entry: Entry, payload: Mapping[str, Any]) -> str:
    """What a person typed, where an event says so; its name has changed with the versions of Codex."""
    item = _mapping(payload.get("item"))
    if entry.get("type") != "event_msg":
        return ""
    if payload.get("type") == "item_completed" and item.get("type") == "UserMessage":
        return _text(item.get("content"))
    return _text(payload.get("message")) if payload.get("type") == "user_message" else ""


# ------------------------------------------------------------------------------------------------------------------ Gemini


def _is_gemini(entry: Entry) -> bool:
    if "history" in entry:
        return any(_mapping(each).get("role") in ("user", "model") and "parts" in each for each in _list(entry["history"]))
    return "projectHash" in entry or (entry.get("type") == "gemini" and "content" in entry) or "$rewindTo" in entry


def _read_gemini(entries: list[Entry], path: str) -> Told:
    told = Told()
    about: Entry = {}
    messages: dict[str, Entry] = {}
    for entry in entries:
        if "history" in entry:
            for each in map(_mapping, _list(entry["history"])):
                _checkpointed(told, each)
        elif isinstance(entry.get("$rewindTo"), str):  # that message and all behind it were taken back
            ids = list(messages)
            for name in ids[ids.index(entry["$rewindTo"]) if entry["$rewindTo"] in ids else 0 :]:
                del messages[name]
        elif isinstance(entry.get("id"), str):
            messages[entry["id"]] = entry
        else:
            patch = _mapping(entry.get("$set", entry))
            about.update(patch)
            for number, message in enumerate(map(_mapping, _list(patch.get("messages")))):
                messages.setdefault(str(message.get("id", number)), dict(message))
    told.id = str(about.get("sessionId") or "")
    told.project = _gemini_project(path, about)
    if about.get("kind") != "subagent":
        for message in messages.values():
            _recorded(told, message)
    return told


def _recorded(told: Told, message: Entry) -> None:
    if message.get("type") == "user":
        told.user(_text(message.get("displayContent") or message.get("content")), message.get("timestamp"))
    elif message.get("type") == "gemini":
        told.agent(_text(message.get("content")))
        for call in map(_mapping, _list(message.get("toolCalls"))):
            told.called(call.get("name"), call.get("args"))
            told.program(call.get("result") or "")


def _checkpointed(told: Told, message: Mapping[str, Any]) -> None:
    parts = [_mapping(part) for part in _list(message.get("parts"))]
    for part in parts:
        if "functionResponse" in part:
            told.program(part["functionResponse"])
    said = _text(parts)
    if message.get("role") == "user" and said:
        told.user(said)
    elif said:
        told.agent(said)


def _gemini_project(path: str, about: Entry) -> str:
    """The folder that a conversation was about: its own folder has a marker with the path, or its name is a hash of it."""
    marker = os.path.join(os.path.dirname(os.path.dirname(path)), ".project_root")
    with suppress(OSError, UnicodeDecodeError), open(marker, encoding="utf-8") as file:
        return file.read().strip()
    folders = [each for each in _list(about.get("directories")) if isinstance(each, str)]
    return folders[0] if folders else f"sha256:{about['projectHash']}" if about.get("projectHash") else ""


# ---------------------------------------------------------------------------------------------------------------------- co


def _is_co(entry: Entry) -> bool:
    return ("session" in entry and "started" in entry) or _mapping(entry.get("message")).get("kind") in (
        "request",
        "response",
    )


def _read_co(entries: list[Entry], _path: str) -> Told:
    told = Told()
    for entry in entries:
        if "session" in entry:
            told.id, told.project = str(entry["session"]), str(entry.get("project") or "")
        for part in map(_mapping, _list(_mapping(entry.get("message")).get("parts"))):
            kind, content = part.get("part_kind"), part.get("content")
            told.called(part.get("tool_name"), part.get("args"))
            if content and kind == "user-prompt":
                said = content if isinstance(content, str) else next(iter(_list(content)), "")
                marks = {name: entry.get(mark) is True for name, mark in (("private", "private"), ("allowed", "learning"))}
                told.user(str(said), entry.get("at"), **marks)
            elif content and kind == "text":
                told.agent(str(content))
            elif content and kind == "tool-return":
                told.program(content)
    return told


FORMS = (
    Form("co", _is_co, _read_co),
    Form("codex", _is_codex, _read_codex),
    Form("gemini", _is_gemini, _read_gemini),
    Form("claude", _is_claude, _read_claude),
)
