"""Transcripts for the tests, in the forms in which agents keep them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

AT = "2026-11-10T09:00:00.000Z"


def lines(path: Path, entries: Iterable[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(f"{entry if isinstance(entry, str) else json.dumps(entry)}\n" for entry in entries), encoding="utf-8"
    )
    return path


def claude(folder: Path, project: Path, *said: Any, name: str = "0b5c7a2e-claude", at: str = AT) -> Path:
    """A session of Claude Code: texts are what the user typed, mappings are entries of their own."""
    about = {"sessionId": name, "cwd": str(project), "version": "2.1.0", "isSidechain": False, "userType": "external"}
    entries: list[Any] = [{"type": "summary", "summary": "Some work", "leafUuid": "x"}, {"type": "file-history-snapshot"}]
    for number, each in enumerate(said):
        base = {**about, "uuid": f"{name}-{number}", "timestamp": at}
        entries.append({**base, **(typed(each) if isinstance(each, str) else each)})
        answer = {"role": "assistant", "content": [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": "Done."}]}
        entries.append({**base, "type": "assistant", "message": answer})
    return lines(folder / f"{name}.jsonl", entries)


def typed(text: str) -> dict[str, Any]:
    """What a user of Claude Code typed."""
    return {"type": "user", "message": {"role": "user", "content": text}}


def tool_result(text: str) -> dict[str, Any]:
    """What a tool of Claude Code returned."""
    block = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": text}]}
    return {"type": "user", "message": {"role": "user", "content": [block]}, "toolUseResult": {"stdout": text}}


def codex(folder: Path, project: Path, *said: str, events: str = "item_completed") -> Path:
    """A rollout of Codex; older versions had other events, or none."""

    def item(role: str, text: str) -> dict[str, Any]:
        kind = "output_text" if role == "assistant" else "input_text"
        payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        return {"timestamp": AT, "type": "response_item", "payload": payload}

    meta = {"id": "019a-codex", "cwd": str(project), "originator": "codex_cli", "cli_version": "0.90.0", "source": "cli"}
    entries: list[Any] = [{"timestamp": AT, "type": "session_meta", "payload": meta}]
    entries.append(
        item("user", f"# AGENTS.md instructions for {project}\n\n<INSTRUCTIONS>\nWe never rebase.\n</INSTRUCTIONS>")
    )
    entries.append(item("user", f"<environment_context>\n  <cwd>{project}</cwd>\n</environment_context>"))
    for text in said:
        entries.append(item("user", text))
        item_said = {"type": "UserMessage", "id": "i1", "content": [{"type": "text", "text": text, "text_elements": []}]}
        event = {"type": events, **({"item": item_said} if events == "item_completed" else {"message": text})}
        if events:
            entries.append({"timestamp": AT, "type": "event_msg", "payload": event})
        call = {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "c1"}
        output = {"type": "function_call_output", "call_id": "c1", "output": "our API is versioned by a header"}
        entries += [{"timestamp": AT, "type": "response_item", "payload": payload} for payload in (call, output)]
        entries.append(item("assistant", "Done."))
    return lines(folder / "2026" / "11" / "10" / "rollout-2026-11-10T09-00-00-019a-codex.jsonl", entries)


def gemini(folder: Path, project: Path, *said: Any) -> Path:
    """A recording of Gemini CLI; texts are what the user typed, mappings are entries of their own."""
    digest = hashlib.sha256(str(project).encode()).hexdigest()
    entries: list[Any] = [{"sessionId": "gem-1", "projectHash": digest, "startTime": AT, "lastUpdated": AT, "kind": "main"}]
    for number, each in enumerate(said):
        if not isinstance(each, str):
            entries.append(each)
            continue
        entries.append({"id": f"u{number}", "timestamp": AT, "type": "user", "content": [{"text": each}]})
        answer = {"id": f"g{number}", "timestamp": AT, "type": "gemini", "content": "Done.", "model": "gemini-3.8-flash"}
        entries += [answer, {**answer, "tokens": {"total": 10}}, {"$set": {"lastUpdated": AT}}]
    return lines(folder / "project" / "chats" / "session-2026-11-10T09-00-gem1.jsonl", entries)


def gemini_whole(folder: Path, project: Path, *said: str) -> Path:
    """The same as older versions wrote it: one document."""
    messages = [{"id": f"u{number}", "timestamp": AT, "type": "user", "content": text} for number, text in enumerate(said)]
    digest = hashlib.sha256(str(project).encode()).hexdigest()
    whole = {"sessionId": "gem-0", "projectHash": digest, "startTime": AT, "lastUpdated": AT, "messages": messages}
    path = folder / "project" / "chats" / "session-2025-11-10T09-00-gem0.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(whole, indent=2), encoding="utf-8")
    return path


def gemini_checkpoint(folder: Path, *said: str) -> Path:
    """What `/chat save` of Gemini CLI wrote."""
    setup = "This is the Gemini CLI. We are setting up the context for our chat. We use the folder /x."
    history = [{"role": "user", "parts": [{"text": setup}]}, {"role": "model", "parts": [{"text": "Got it."}]}]
    for text in said:
        history += [{"role": "user", "parts": [{"text": text}]}, {"role": "model", "parts": [{"text": "Done."}]}]
    path = folder / "checkpoint-work.json"
    path.write_text(json.dumps({"history": history}), encoding="utf-8")
    return path
