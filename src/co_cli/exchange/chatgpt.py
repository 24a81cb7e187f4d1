"""The export of ChatGPT: what it was told to remember, the custom instructions and, if wanted, the conversations.

Owns that format. The export has no file of memories of its own, so they are read where they were written: in messages to
the tool ``bio``, and in the list of memories that some conversations begin with.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from co_cli.exchange.archive import conversation, files_of, left_out
from co_cli.exchange.documents import moment
from co_cli.exchange.intake import IMPORTED, Entry, imported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from co_cli.exchange.intake import Item
    from co_cli.exchange.report import ImportReport
    from co_cli.knowledge import KnowledgeBase

FORMS = "Name the export of ChatGPT: the zip, the folder that you unpacked it to, or its conversations.json."
TAG = "chatgpt"
_FILES = ("conversations.json", "conversations-*.json", "memories.json", "memory.json")
_LISTED = re.compile(r"(?m)^[ \t]*\d+\.[ \t]*\[(\d{4}-\d\d-\d\d)\][.:]?[ \t]*(\S.*)$")
_FENCED = re.compile(r"```(?:\w*\n)?(.*?)```", re.DOTALL)
_ABOUT = {
    "about_user_message": ("about me", "user_profile"),
    "about_model_message": ("how to answer", "user_instructions"),
}
_SPEAKERS = {"user": "User", "assistant": "ChatGPT"}
_Object = dict[str, object]


def import_chatgpt(
    kb: KnowledgeBase, path: str, *, in_global: bool = False, dry_run: bool = False, conversations: bool = False
) -> ImportReport:
    """Take in what ChatGPT remembers and, with ``conversations``, each conversation as an article."""
    top, found, problems = files_of(path, _FILES, FORMS)
    items: list[Item] = []
    for name, data in found:
        talks = [talk for talk in _list(data) if isinstance(talk, dict) and isinstance(talk.get("mapping"), dict)]
        items.extend(_saved(name, data) if not talks else _items(name, talks, conversations=conversations))
    items.extend(problems)
    return imported(kb, top, [name for name, _ in found], items, what=TAG, in_global=in_global, dry_run=dry_run)


def _list(data: object) -> list[object]:
    return data if isinstance(data, list) else [data]


def _saved(file: str, data: object) -> Iterator[Entry]:
    """The memories of a file of memories, which some exports have."""
    for position, given in enumerate(_list(data)):
        text = given.get("content") or given.get("text") if isinstance(given, dict) else given
        if isinstance(text, str) and text.strip() and not (isinstance(given, dict) and given.get("enabled") is False):
            created = moment(given.get("created_at")) if isinstance(given, dict) else ""
            yield _entry(file, f"[{position}]", text, created)


def _items(file: str, talks: list[_Object], *, conversations: bool) -> Iterator[Item]:
    instructions: dict[str, Entry] = {}
    for talk in sorted(talks, key=lambda talk: _seconds(talk.get("update_time") or talk.get("create_time"))):
        for message in _messages(talk):
            yield from _remembered(file, talk, message)
            for entry in _instructed(file, talk, message):
                instructions[entry.key] = entry  # the last ones count
    yield from instructions.values()
    if not conversations:
        yield left_out(file, len(talks), "conversation", "conversations")
        return
    for talk in talks:
        number = talk.get("conversation_id") or talk.get("id")
        made = conversation(
            file,
            _at(talk),
            title=talk.get("title"),
            address=f"chatgpt:{number}",
            turns=_turns(talk),
            tags=[IMPORTED, TAG, "conversation"],
            created=moment(talk.get("create_time")),
            updated=moment(talk.get("update_time")) or moment(talk.get("create_time")),
        )
        if made and isinstance(number, str):
            yield made


def _messages(talk: _Object) -> Iterator[_Object]:
    mapping = talk.get("mapping")
    for node in mapping.values() if isinstance(mapping, dict) else ():
        message = node.get("message") if isinstance(node, dict) else None
        if isinstance(message, dict):
            yield message


def _remembered(file: str, talk: _Object, message: _Object) -> Iterator[Entry]:
    """What a message says is to be remembered."""
    content = message.get("content")
    if not isinstance(content, dict):
        return
    written = message.get("create_time") or talk.get("create_time")
    if message.get("recipient") == "bio" and _author(message) == "assistant":
        for line in _text(content).split("\n"):
            if line.strip():
                yield _entry(file, _at(talk), line.strip(), moment(written))
    elif content.get("content_type") == "model_editable_context":
        for day, text in _LISTED.findall(str(content.get("model_set_context") or "")):
            yield _entry(file, _at(talk), text, moment(day))


def _instructed(file: str, talk: _Object, message: _Object) -> Iterator[Entry]:
    """The custom instructions that a conversation began with."""
    content, metadata = message.get("content"), message.get("metadata")
    if not isinstance(content, dict) or content.get("content_type") != "user_editable_context":
        return
    data = metadata.get("user_context_message_data") if isinstance(metadata, dict) else None
    for field, (key, wrapped) in _ABOUT.items():
        plain = data.get(field) if isinstance(data, dict) else None
        text = plain if isinstance(plain, str) else _unwrapped(content.get(wrapped))
        if text.strip():
            entry = _entry(file, _at(talk), text.strip(), moment(talk.get("create_time")))
            entry.key, entry.category = f"chatgpt {key}", "user_preferences"
            entry.written = _seconds(talk.get("update_time") or talk.get("create_time"))
            yield entry


def _unwrapped(value: object) -> str:
    """A text without the words that ChatGPT puts around it."""
    found = _FENCED.search(value) if isinstance(value, str) else None
    return found[1].strip() if found else str(value or "")


def _entry(file: str, at: str, text: str, created: str) -> Entry:
    because = f"imported from ChatGPT{': ' if at else ''}{at}"
    return Entry(file, 0.0, at, text, "", [IMPORTED, TAG], created=created, pinned=False, because=because)


def _turns(talk: _Object) -> list[tuple[str, str]]:
    """What was said, along the branch that the conversation ended with."""
    mapping = talk.get("mapping")
    nodes: dict[str, object] = mapping if isinstance(mapping, dict) else {}
    turns: list[tuple[str, str]] = []
    seen: set[str] = set()
    at = talk.get("current_node")
    if not isinstance(at, str) or at not in nodes:
        at = next(reversed(nodes), "")
    while isinstance(at, str) and at in nodes and at not in seen:
        seen.add(at)
        node = nodes[at]
        message = node.get("message") if isinstance(node, dict) else None
        if isinstance(message, dict) and (turn := _turn(message)):
            turns.append(turn)
        at = node.get("parent") if isinstance(node, dict) else None
    return turns[::-1]


def _turn(message: _Object) -> tuple[str, str] | None:
    metadata, content = message.get("metadata"), message.get("content")
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
    speaker = _SPEAKERS.get(_author(message))
    if not speaker or hidden or message.get("recipient") not in (None, "all") or not isinstance(content, dict):
        return None
    if content.get("content_type") not in ("text", "multimodal_text"):
        return None
    return speaker, _text(content)


def _author(message: _Object) -> str:
    author = message.get("author")
    return str(author.get("role")) if isinstance(author, dict) else ""


def _text(content: _Object) -> str:
    parts = content.get("parts")
    return "\n\n".join(part for part in parts if isinstance(part, str)) if isinstance(parts, list) else ""


def _at(talk: _Object) -> str:
    title = talk.get("title")
    return title.strip()[:60] if isinstance(title, str) else ""


def _seconds(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
