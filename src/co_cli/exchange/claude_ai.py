"""The export of claude.ai: what Claude remembers and, if wanted, the conversations and the documents of projects.

Owns that format: ``memories.json`` with prose for all conversations, for each project, and files by topic;
``conversations.json``; ``projects.json``, of late one file a project.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from co_cli.exchange.archive import conversation, files_of, left_out
from co_cli.exchange.documents import moment, name_from, statements
from co_cli.exchange.intake import IMPORTED, Document, Entry, imported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from co_cli.exchange.intake import Item
    from co_cli.exchange.report import ImportReport
    from co_cli.knowledge import KnowledgeBase

FORMS = "Name the export of claude.ai: the zip, the folder that you unpacked it to, or one of its JSON files."
TAG = "claude-ai"
_FILES = ("memories.json", "memories/*.json", "projects.json", "projects/*.json", "conversations.json")
_BOLD = re.compile(r"(?m)^\*\*([^*\n]{1,80})\*\*:?[ \t]*$")
_SPEAKERS = {"human": "User", "assistant": "Claude"}
_Object = dict[str, object]


def import_claude_ai(
    kb: KnowledgeBase, path: str, *, in_global: bool = False, dry_run: bool = False, conversations: bool = False
) -> ImportReport:
    """Take in what Claude remembers and, with ``conversations``, conversations and documents of projects as articles."""
    top, found, problems = files_of(path, _FILES, FORMS)
    records = [(name, record) for name, data in found for record in (data if isinstance(data, list) else [data])]
    objects = [(name, record) for name, record in records if isinstance(record, dict)]
    projects = {str(record.get("uuid")): str(record.get("name") or "") for _, record in objects if _is_project(record)}
    items: list[Item] = []
    texts: dict[str, int] = {}
    for name, record in objects:
        if _is_memory(record):
            items.extend(_memories(name, record, projects))
        elif conversations:
            items.extend(_documents(name, record) if _is_project(record) else _talk(name, record))
        else:
            texts[name] = texts.get(name, 0) + (len(_docs(record)) if _is_project(record) else 1)
    for name, count in texts.items():
        talks = "conversation" in os.path.basename(name)
        what = ("conversation", "conversations") if talks else ("document of a project", "documents of projects")
        items.extend([left_out(name, count, *what)] if count else [])
    items.extend(problems)
    return imported(kb, top, [name for name, _ in found], items, what=TAG, in_global=in_global, dry_run=dry_run)


def _is_memory(record: _Object) -> bool:
    return any(name in record for name in ("conversations_memory", "project_memories", "memory_files"))


def _is_project(record: _Object) -> bool:
    return "docs" in record or "prompt_template" in record


# -------------------------------------------------------------------------------------------------------------- memories


def _memories(file: str, record: _Object, projects: dict[str, str]) -> Iterator[Item]:
    yield from _statements(file, "conversations_memory", record.get("conversations_memory"), ())
    of_projects = record.get("project_memories")
    for number, text in of_projects.items() if isinstance(of_projects, dict) else ():
        name = projects.get(str(number)) or str(number)
        yield from _statements(file, f"project_memories: {name}", text, (name,))
    files = record.get("memory_files")
    for given in files if isinstance(files, list) else ():
        content = given.get("content") if isinstance(given, dict) else None
        if isinstance(content, str) and content.strip():
            where = str(given.get("path") or "memory").strip("/")
            name = name_from(f"claude {os.path.splitext(where)[0].replace('/', ' ')}")
            yield Document(file, where, name, content, [IMPORTED, TAG], updated=moment(given.get("updated_at")))


def _statements(file: str, at: str, text: object, tags: tuple[str, ...]) -> Iterator[Entry]:
    if not isinstance(text, str):
        return
    for said in statements(_BOLD.sub(r"# \1", text)):
        because = f"imported from claude.ai: {said.heading or at}"
        yield Entry(file, 0.0, at, said.text, "", [IMPORTED, TAG, *tags], pinned=False, because=because)


# ----------------------------------------------------------------------------------------------------------------- texts


def _docs(record: _Object) -> list[_Object]:
    docs = record.get("docs")
    return [doc for doc in docs if isinstance(doc, dict)] if isinstance(docs, list) else []


def _documents(file: str, record: _Object) -> Iterator[Document]:
    """The documents of a project, and what Claude is told about it."""
    project = str(record.get("name") or "project")
    number = str(record.get("uuid") or project)
    texts = [(str(doc.get("filename") or "document"), doc.get("content"), doc.get("created_at")) for doc in _docs(record)]
    texts.append(("instructions", record.get("prompt_template"), record.get("updated_at")))
    for name, text, written in texts:
        if isinstance(text, str) and text.strip():
            source = f"claude-ai:{number}/{name}"
            tags = [IMPORTED, TAG, project]
            yield Document(
                file, f"{project}: {name}", f"{project}: {name}", text, tags, source=source, updated=moment(written)
            )


def _talk(file: str, record: _Object) -> Iterator[Document]:
    messages = record.get("chat_messages")
    number = record.get("uuid")
    if not isinstance(messages, list) or not isinstance(number, str):
        return
    turns = [_turn(message) for message in messages if isinstance(message, dict)]
    title = record.get("name")
    made = conversation(
        file,
        title.strip()[:60] if isinstance(title, str) else "",
        title=title,
        address=f"claude-ai:{number}",
        turns=turns,
        tags=[IMPORTED, TAG, "conversation"],
        created=moment(record.get("created_at")),
        updated=moment(record.get("updated_at")) or moment(record.get("created_at")),
    )
    if made:
        yield made


def _turn(message: _Object) -> tuple[str, str]:
    content = message.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    texts = [str(part.get("text") or "") for part in parts if part.get("type") == "text"]
    said = "\n\n".join(filter(None, texts)) or str(message.get("text") or "")
    attached = message.get("attachments")
    for file in attached if isinstance(attached, list) else ():
        inner = file.get("extracted_content") if isinstance(file, dict) else None
        if isinstance(inner, str) and inner.strip():
            said += f"\n\n### Attached: {file.get('file_name') or 'a file'}\n\n{inner.strip()}"
    return _SPEAKERS.get(str(message.get("sender")), str(message.get("sender") or "?")), said
