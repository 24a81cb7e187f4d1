"""Chats are kept line by line, for their owner alone, and can be gone on with, also after a crash."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from chats import REMOTE, Listener, Script, say, session

from co_cli import KnowledgeBase
from co_cli.agent.audience import Decision
from co_cli.agent.session import Session
from co_cli.agent.transcripts import find, load, stored
from co_cli.errors import Conflict, NotFound


def lines(chat: Session) -> list[dict]:
    assert chat.transcript
    return [json.loads(line) for line in Path(chat.transcript.path).read_text().splitlines()]


def resumed(kb: KnowledgeBase, script: Script, wanted: str = "") -> Session:
    chat = Session(kb, REMOTE, Listener(), model=script.model)
    chat.resume(wanted)
    return chat


def test_a_transcript_is_json_lines_for_its_owner_alone(kb: KnowledgeBase) -> None:
    chat = session(kb, Script(("save_memory", {"content": "Herons eat fish"}), "Kept."), Decision("yes"))
    say(chat, "remember that herons eat fish")
    assert chat.transcript
    path = Path(chat.transcript.path)
    assert path.parent == Path(kb.places.state, "sessions")
    assert (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode)) == (0o600, 0o700)
    first, *rest = lines(chat)
    assert first["session"] == path.stem
    assert [entry["message"]["kind"] for entry in rest] == ["request", "response", "request", "response"]
    assert "accurate before you are quick" not in path.read_text()  # the prompt is not repeated with every message


def test_lines_that_quote_private_notes_are_marked_and_others_are_not(kb: KnowledgeBase) -> None:
    kb.save("The alarm code is 4711", private=True)
    kb.save("Herons eat fish")
    chat = session(kb)
    say(chat, "what is the alarm code?", "what do herons eat?")
    marked = [entry for entry in lines(chat) if entry.get("private")]
    assert len(marked) == 4
    assert all("4711" not in str(entry) for entry in lines(chat) if not entry.get("private"))


def test_what_was_offered_is_named_but_not_repeated(kb: KnowledgeBase) -> None:
    kb.save("Herons eat fish, and much of it")
    chat = session(kb, Script("Fish [1]."))
    say(chat, "what do herons eat?")
    (asked,) = [entry["message"] for entry in lines(chat)[1:] if entry["message"]["kind"] == "request"]
    assert asked["metadata"] == {"offered": ["1"]}
    assert "much of it" not in Path(chat.transcript.path).read_text()  # type: ignore[union-attr]


def test_any_stored_chat_can_be_gone_on_with(kb: KnowledgeBase) -> None:
    first = session(kb, Script("One"))
    say(first, "first question")
    assert first.transcript
    os.rename(first.transcript.path, first.transcript.path.replace(first.transcript.id, "20250101-000000-aaaa"))
    say(session(kb, Script("Two")), "second question")
    script = Script("And three")
    chat = resumed(kb, script, "2025")
    say(chat, "third question")
    assert script.heard() == ["first question", "third question"]
    newest = resumed(kb, Script("x"))
    assert newest.transcript
    assert newest.transcript.id != "20250101-000000-aaaa"
    assert [(each.id[:4] == "2025", each.title, each.turns) for each in stored(chat.folder)] == [
        (False, "second question", 1),
        (True, "first question", 2),
    ]


@pytest.mark.parametrize("lost", [20, 200, 400])
def test_a_line_that_was_cut_off_costs_its_own_turn_and_no_other(kb: KnowledgeBase, lost: int) -> None:
    first = session(kb, Script("One", ("list_memories", {}), "Two"))
    say(first, "first question", "second question")
    assert first.transcript
    path = Path(first.transcript.path)
    raw = path.read_bytes()
    path.write_bytes(raw[:-lost])
    script = Script("And three")
    chat = resumed(kb, script)
    say(chat, "third question")
    assert script.heard() == ["first question", "third question"]
    again = Script("And four")
    say(resumed(kb, again), "fourth question")
    assert again.heard() == ["first question", "third question", "fourth question"]


def test_a_last_line_without_its_end_is_not_run_into(kb: KnowledgeBase) -> None:
    first = session(kb, Script("One"))
    say(first, "first question")
    assert first.transcript
    path = Path(first.transcript.path)
    path.write_bytes(path.read_bytes()[:-1])
    say(resumed(kb, Script("Two")), "second question")
    script = Script("Three")
    say(resumed(kb, script), "third question")
    assert script.heard() == ["first question", "second question", "third question"]


@pytest.mark.parametrize("junk", [b"", b"\xff\xfe\x00", b"[]\n", b'{"message": {"kind": "zebra"}}\n', b"{}\n" * 3])
def test_a_file_that_is_no_transcript_is_an_empty_chat(kb: KnowledgeBase, junk: bytes) -> None:
    folder = Path(kb.places.state, "sessions")
    folder.mkdir(parents=True)
    (folder / "20250101-000000-aaaa.jsonl").write_bytes(junk)
    (folder / "notes.txt").write_text("not ours")
    (only,) = stored(str(folder))
    assert (only.turns, load(only.path)) == (0, [])


def test_a_chat_that_is_not_there_is_said_to_be_missing(kb: KnowledgeBase) -> None:
    folder = Path(kb.places.state, "sessions")
    with pytest.raises(NotFound, match="No chat has been kept yet"):
        find(str(folder))
    say(session(kb, Script("One")), "hi")
    with pytest.raises(NotFound, match="There is no chat '1999'") as missing:
        find(str(folder), "1999")
    assert "The newest is 2" in missing.value.hint
    say(session(kb, Script("One")), "hi")
    with pytest.raises(Conflict, match="2 chats begin with 20") as several:
        find(str(folder), "20")
    assert len(several.value.candidates) == 2
