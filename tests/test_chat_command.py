"""`co chat` off the terminal: messages line by line, plain text out, and nothing written that nobody allowed."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import Co
from model_server import ModelServer, calls, chunk, model_server, refuses, says, stream

from co_cli import KnowledgeBase
from co_cli.learning import inbox
from co_cli.learning.inbox import Proposal

ESCAPES = "\x1b]0;owned\x07\x1b[2J\x1b[31m"


class Piped:
    """Types lines into `co chat` through a pipe."""

    def __init__(self, co: Co, monkeypatch: pytest.MonkeyPatch) -> None:
        self._co = co
        self._monkeypatch = monkeypatch

    def __call__(self, *lines: str, arguments: tuple[str, ...] = ()) -> int:
        self._monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return self._co("chat", *arguments)

    @property
    def out(self) -> str:
        return self._co.out

    @property
    def err(self) -> str:
        return self._co.err


@pytest.fixture
def chat(co: Co, monkeypatch: pytest.MonkeyPatch) -> Piped:
    return Piped(co, monkeypatch)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with model_server() as served:
        monkeypatch.setenv("CO_PROVIDER", "openai")
        monkeypatch.setenv("CO_PROVIDER_URL", served.url)
        monkeypatch.setenv("CO_MODEL", "script")
        yield served


def test_nothing_is_written_without_somebody_to_ask(chat: Piped, kb: KnowledgeBase) -> None:
    assert chat("remember that we deploy on Fridays") == 5
    assert "Nothing was written. This is no terminal" in chat.out
    assert "+We deploy on Fridays" in chat.err
    assert kb.list().notes == ()


def test_with_yes_it_is_written_and_found_again(chat: Piped, kb: KnowledgeBase) -> None:
    lines = ("remember that we deploy on Fridays #ops", "", "when do we deploy?", "forget 1", "list my memories")
    assert chat(*lines, arguments=("--yes",)) == 0
    first, *_rest = chat.out.split("\n\n")
    place = f"{kb.places.project_vault}/memories/001-we-deploy-on-fridays.md"
    saved = f"✓ Saved memory 1: 001-we-deploy-on-fridays.md\nLocation: {place}\n"
    assert first == f"{saved}*No model is configured; the notes say, in their own words:*"
    assert "— [1], 20" in chat.out
    forgotten = "✓ Forgot 1: We deploy on Fridays; `co undo` brings it back.\n"
    assert chat.out.endswith(f"\n{forgotten}No memories saved yet.\n")
    assert kb.list().notes == ()


def test_a_message_of_the_command_line_is_answered_and_that_is_all(co: Co, kb: KnowledgeBase) -> None:
    kb.save("We deploy on Fridays")
    assert co("chat", "when", "do", "we", "deploy?") == 0
    assert "> We deploy on Fridays" in co.out
    assert co.err == ""


def test_json_holds_the_whole_chat(co: Co, kb: KnowledgeBase) -> None:
    kb.save("We deploy on Fridays")
    data = co.json("chat", "when do we deploy?")
    assert (data["provider"], data["cost"], data["denied"]) == ("offline", 0.0, False)
    (turn,) = data["turns"]
    assert turn["message"] == "when do we deploy?"
    assert "We deploy on Fridays" in turn["answer"]
    assert [call["tool"] for call in turn["calls"]] == ["recall_memory", "knowledge_search"]
    assert data["session"]
    again = co.json("chat", f"--resume={data['session']}", "thanks")
    assert again["session"] == data["session"]


def test_a_failure_is_told_and_the_next_line_is_answered(chat: Piped, server: ModelServer) -> None:
    server.answers = [refuses(404)]
    assert chat("hi", "hi again") == 1
    assert "error: openai:script does not know this model." in chat.err
    assert "/model NAME" in chat.err
    assert chat.out == "Hello there \n"


def test_the_exit_code_says_what_went_wrong(co: Co, server: ModelServer) -> None:
    server.answers = [refuses(401)]
    assert co("chat", "hi") == 1
    assert "does not accept the key" in co.err
    assert "Traceback" not in co.err
    server.answers = [calls("knowledge_delete", '{"topic": "7"}'), says("There is none.")]
    assert co("chat", "delete 7") == 0


def test_every_command_of_the_chat_works_off_the_terminal(chat: Piped, kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.init()
    kb.save("We deploy on Fridays", tags=["ops"], pinned=True)
    lines = [
        "/help",
        "/tools",
        "/remember tea is better #taste",
        "/recall fridays",
        "/recall 2",
        "/context",
        "what about tea?",
        "/why",
        "/save",
        f"/save {tmp_path}/chat.md",
        f"/save {tmp_path}/chat.md",
        "/resume",
        "/model",
        "/model zebra",
        "/remember",
        "/zebra",
        "/resume zebra",
        "/quit",
        "this is never read",
    ]
    assert chat(*lines) == 4  # the file was there already: the first thing that went wrong
    for words in (
        "/undo",
        "save_memory       asks first",
        "✓ Saved memory 2",
        "[1] ",
        "why: phrase (fridays) in body",
        "[2] ",
        "### Pinned Memories\n- [1] We deploy on Fridays",
        "[2] Tea is better\n     found by recall_memory; ",
        "Go on with it later: co chat --resume 20",
        f"✓ Saved to {tmp_path}/chat.md",
        "1 turn  what about tea?",
        "offline: no model is configured",
    ):
        assert words in chat.out, words
    for words in (
        "exists already",
        "Name it too: /model PROVIDER:NAME",
        "/remember TEXT",
        "There is no /zebra",
        "no chat 'zebra'",
    ):
        assert words in chat.err, words
    assert "never read" not in chat.out
    saved = (tmp_path / "chat.md").read_text()
    assert saved.startswith("User: what about tea?\n\n[recall_memory: ")
    assert "\n\nCo: *No model is configured; the notes say, in their own words:*\n\n> Tea is better" in saved


def test_undo_shows_what_it_would_do_and_needs_a_yes(chat: Piped, kb: KnowledgeBase) -> None:
    kb.save("We deploy on Fridays")
    assert chat("/undo") == 5
    assert "-We deploy on Fridays" in chat.err
    assert len(kb.list().notes) == 1
    assert chat("/undo", arguments=("--yes",)) == 0
    assert "✓ Took back: learned 1" in chat.out
    assert kb.list().notes == ()


def test_review_shows_what_is_proposed_and_accepts_with_a_yes(chat: Piped, kb: KnowledgeBase) -> None:
    assert chat("/review") == 0
    assert "Nothing is proposed." in chat.out
    kb.save("Staging is frozen")
    inbox.propose(kb, [Proposal("draft", "project", "save", "Tea is better", reason="a preference")])
    inbox.propose(kb, [Proposal("expiry", "project", "archive", refs=("1",))])
    kb.archive("1")
    assert chat("/review") == 5
    assert "+Tea is better" in chat.err
    assert "1 is already in the archive" in chat.out
    assert kb.list().notes == ()
    assert chat("/review", arguments=("--yes",)) == 0
    assert "✓ Accepted p1." in chat.out
    assert [note.body for note in kb.list().notes] == ["Tea is better"]


def test_a_model_is_changed_in_the_middle_of_a_chat(chat: Piped, server: ModelServer) -> None:
    assert chat("hi", "/model other", "hi", "/model offline", "list") == 0
    assert [asked["model"] for asked in server.asked] == ["script", "other"]
    assert "✓ openai:other answers from now on." in chat.out
    assert "No memories saved yet." in chat.out


def test_choices_that_do_not_exist_are_refused_before_anything_is_asked(co: Co) -> None:
    assert co("chat", "--personality", "zebra", "hi") == 3
    assert "Known: " in co.err
    assert co("chat", "--resume", "20250101") == 3
    assert "No chat has been kept yet" in co.err


def test_what_a_model_says_cannot_steer_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from co_cli.surfaces.cli.chat.screen import Screen

    class Terminal(io.StringIO):
        encoding = "utf-8"  # type: ignore[assignment]

        def isatty(self) -> bool:
            return True

    drawn = Terminal()
    monkeypatch.setattr(sys, "stdout", drawn)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    screen = Screen()
    with screen.turn():
        screen.called(f"tool{ESCAPES}", {"query": ESCAPES})
        screen.answered("tool", f"{ESCAPES}\rdone", 1.0, done=False)
        screen.text(f"{ESCAPES}\n\n# Heading {ESCAPES}\n\n`{ESCAPES}` [words](http://x.example/{ESCAPES})\n")
        screen.notice(ESCAPES)
        screen.show(ESCAPES)
    text = drawn.getvalue()
    assert "\x07" not in text
    for piece in ("\x1b]0;", "\x1b[2J", "\x1b[31m", "\x1b]8;"):
        assert piece not in text
    assert "␛]0;owned␇" in text
    assert "x.example" in text  # where a link leads is seen


def test_a_stream_is_printed_as_it_comes(kb: KnowledgeBase, server: ModelServer) -> None:
    server.answers = [stream(chunk({"content": "We deploy "}), chunk({"content": "on Fridays"}), ends=False)]
    done = subprocess.run(
        [sys.executable, "-m", "co_cli", "chat", "when?"], capture_output=True, text=True, env=os.environ, check=False
    )
    assert (done.returncode, done.stdout) == (1, "We deploy on Fridays")
    assert "Traceback" not in done.stderr
    assert "openai:script" in done.stderr


def test_a_chat_loads_no_more_than_it_needs() -> None:
    script = """
import sys, json
sys.argv = ["co"]
from co_cli.surfaces.cli.main import build_parser
build_parser("chat")
slow = ("pydantic_ai", "pydantic", "openai", "keyring", "opentelemetry")
loaded = [name for name in (*slow, "rich", "prompt_toolkit") if name in sys.modules]
from co_cli.surfaces.cli.chat import conversation
late = [name for name in slow if name in sys.modules]
print(json.dumps([loaded, late]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=os.environ, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == [[], []]
