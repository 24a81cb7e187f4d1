"""`co chat` as a person sees it, on a pseudo-terminal: typing, approving, editing, refusing, interrupting, going on."""

from __future__ import annotations

import time
from pathlib import Path

import pyte
import pytest
from model_server import ModelServer, calls, chunk, says, send
from terminals import COLUMNS, Terminal, golden, program_on_terminal, terminal

from co_cli import KnowledgeBase
from co_cli.learning import inbox
from co_cli.learning.inbox import Proposal
from co_cli.settings import change_setting

pytestmark = pytest.mark.slow

ENTER, CTRL_C, CTRL_D, CTRL_R, ALT_ENTER = "\r", "\x03", "\x04", "\x12", "\x1b\r"
ASKS = "Write this?"


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("PYTHONUTF8", "1")


def prompted(seen: Terminal) -> None:
    """Wait until the prompt is there, and empty."""
    while "›" not in [line for line in seen.lines() if line][-2:]:  # the last line is the status
        seen.read()


def kept(kb: KnowledgeBase) -> list[str]:
    return [note.body for note in kb.list().notes]


def test_a_fact_is_typed_approved_and_found_again(kb: KnowledgeBase, tmp_path: Path) -> None:
    with terminal("chat") as seen:
        prompted(seen)
        seen.type(f"remember that we deploy on Fridays #ops{ENTER}")
        seen.wait_to_see(ASKS)
        assert kept(kb) == []
        seen.type(f"y{ENTER}")
        prompted(seen)
        assert kept(kb) == ["We deploy on Fridays"]
        seen.type(f"when do we deploy?{ENTER}")
        seen.wait_to_see("in their own words")
        prompted(seen)
        seen.type(f"/why{ENTER}")
        seen.wait_to_see("found by recall_memory")
        prompted(seen)
        seen.type(CTRL_D)
        assert seen.end() == 0
    golden(seen, "chat/remember", tmp_path)


def test_a_chat_says_at_its_start_how_much_is_proposed(kb: KnowledgeBase) -> None:
    inbox.propose(kb, [Proposal("draft", "project", "save", "Tea is better")])
    with terminal("chat") as seen:
        seen.wait_to_see("1 proposal waits for your yes or no: co review, or /review")
        prompted(seen)
        seen.type(f"/review{ENTER}")
        seen.wait_to_see("p1: keep this?")
        seen.type(f"y{ENTER}")
        seen.wait_to_see("Accepted p1.")
        prompted(seen)
        seen.type(CTRL_D)
        assert seen.end() == 0
    assert kept(kb) == ["Tea is better"]


def test_what_was_said_is_drafted_at_the_end_and_asked_about_at_once(kb: KnowledgeBase) -> None:
    change_setting(kb.places, "auto_learn", "yes")
    with terminal("chat", NO_COLOR="") as seen:
        seen.wait_to_see("Learning is on: what you say is drafted at the end")
        prompted(seen)
        seen.wait_to_see("offline · learning is on")
        seen.type(f"we use pnpm here, not npm{ENTER}")
        seen.wait_to_see("No note says anything about that")
        prompted(seen)
        seen.type(CTRL_D)
        seen.wait_to_see("1 draft waits for your yes")
        seen.wait_to_see("Accept?")
        assert "␛" not in seen.shown  # colours, and no signs that make them
        assert kept(kb) == []
        seen.type(f"y{ENTER}")
        assert seen.end() == 0
    assert kept(kb) == ["We use pnpm here, not npm."]


def test_a_refusal_goes_back_with_its_reason(kb: KnowledgeBase, server: ModelServer, tmp_path: Path) -> None:
    server.answers = [calls("save_memory", '{"content": "We deploy on Fridays"}'), says("All right, not on **Fridays**.")]
    with terminal("chat") as seen:
        prompted(seen)
        seen.type(f"we deploy on Fridays, ha{ENTER}")
        seen.wait_to_see(ASKS)
        seen.type(f"n{ENTER}")
        seen.wait_to_see("Why not?")
        seen.type(f"I said it in jest{ENTER}")
        seen.wait_to_see("All right")
        prompted(seen)
        seen.type(CTRL_D)
        assert seen.end() == 0
    assert "I said it in jest" in str(server.asked[-1]["messages"][-1])
    assert kept(kb) == []
    golden(seen, "chat/refuse", tmp_path)


def test_a_text_is_edited_first_in_the_users_editor(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i s/Fridays/Mondays/ "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    with terminal("chat") as seen:
        prompted(seen)
        seen.type(f"remember that we deploy on Fridays{ENTER}")
        seen.wait_to_see(ASKS)
        seen.type(f"e{ENTER}")
        seen.wait_to_see("+We deploy on Mondays")
        seen.type(f"y{ENTER}")  # before the question stands there: it is not lost
        prompted(seen)
        seen.type(CTRL_D)
        assert seen.end() == 0
    assert kept(kb) == ["We deploy on Mondays"]
    golden(seen, "chat/edit", tmp_path)


def test_always_is_asked_once(kb: KnowledgeBase) -> None:
    with terminal("chat") as seen:
        prompted(seen)
        seen.type(f"remember that tea is better{ENTER}")
        seen.wait_to_see(ASKS)
        seen.type(f"a{ENTER}")
        prompted(seen)
        seen.type(f"remember that coffee is worse{ENTER}")
        seen.wait_to_see("Saved memory 2")
        prompted(seen)
        seen.type(CTRL_D)
        assert seen.end() == 0
    assert len(kept(kb)) == 2


def test_ctrl_c_stops_an_answer_and_the_chat_goes_on(kb: KnowledgeBase, server: ModelServer) -> None:
    def slow(handler) -> None:  # type: ignore[no-untyped-def]
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        try:
            for _ in range(300):
                handler.wfile.write(chunk({"content": "word "}))
                handler.wfile.flush()
                time.sleep(0.1)
        except OSError:
            pass
        handler.close_connection = True

    server.answers = [slow, says("Here I am.")]
    with terminal("chat") as seen:
        prompted(seen)
        seen.type(f"tell me a long story{ENTER}")
        seen.wait_to_see("word word")
        seen.interrupt()
        seen.wait_to_see("Stopped.")
        prompted(seen)
        seen.type(f"are you there?{ENTER}")
        seen.wait_to_see("Here I am.")
        prompted(seen)
        seen.type(CTRL_D)
        assert seen.end() == 0
    assert "long story" not in str(server.asked[-1])
    assert "Traceback" not in seen.shown


def test_ctrl_c_at_the_question_writes_nothing(kb: KnowledgeBase) -> None:
    with terminal("chat") as seen:
        prompted(seen)
        seen.type(f"remember that tea is better{ENTER}")
        seen.wait_to_see(ASKS)
        seen.type(CTRL_C)
        seen.wait_to_see("Stopped.")
        prompted(seen)
        seen.type(f"list{ENTER}")
        seen.wait_to_see("No memories saved yet.")
        prompted(seen)
        seen.type(CTRL_D)
        assert seen.end() == 0
    assert kept(kb) == []
    assert "Traceback" not in seen.shown


def test_ctrl_c_at_the_prompt_clears_the_line_and_ctrl_d_ends(kb: KnowledgeBase) -> None:
    with terminal("chat") as seen:
        prompted(seen)
        seen.type("remember that I did not mean th")
        seen.wait_to_see("mean th")
        seen.type(CTRL_C)
        prompted(seen)
        seen.type(CTRL_D)
        assert seen.end() == 0
    assert kept(kb) == []


def test_a_chat_is_gone_on_with_after_it_was_killed(kb: KnowledgeBase, server: ModelServer, tmp_path: Path) -> None:
    server.answers = [says("Nice to meet you, Anna.")]
    with terminal("chat") as seen:
        prompted(seen)
        seen.type(f"my name is Anna{ENTER}")
        seen.wait_to_see("Nice to meet you")
        prompted(seen)  # and now it is killed, at the end of the with
    server.answers = [says("You are Anna.")]
    with terminal("chat", "--resume") as seen:
        seen.wait_to_see("Going on with")
        prompted(seen)
        seen.type(f"who am I?{ENTER}")
        seen.wait_to_see("You are Anna.")
        prompted(seen)
        seen.type(f"/quit{ENTER}")
        assert seen.end() == 0
    assert "my name is Anna" in str(server.asked[-1]["messages"])
    golden(seen, "chat/resume", tmp_path)


def test_an_answer_is_drawn_as_markdown(kb: KnowledgeBase, server: ModelServer, tmp_path: Path) -> None:
    code, table = "```sh\nmake all\n\nmake deploy\n```", "| a | b |\n|---|---|\n| 1 | 2 |"
    markdown = f"# Deploys\n\nOn *Fridays*:\n\n1. tag\n2. push\n\n{code}\n\n{table}\n"
    pieces = [chunk({"content": markdown[place : place + 7]}) for place in range(0, len(markdown), 7)]

    def answer(handler) -> None:  # type: ignore[no-untyped-def]
        body = b"".join([*pieces, chunk({}, "stop"), b"data: [DONE]\n\n"])
        send(handler, 200, body, Content_Type="text/event-stream")

    server.answers = [answer]
    with terminal("chat") as seen:
        prompted(seen)
        seen.type(f"how do we deploy?{ENTER}")
        seen.wait_to_see("make deploy")
        prompted(seen)
        seen.type(CTRL_D)
        assert seen.end() == 0
    golden(seen, "chat/markdown", tmp_path)


DRAWING = """
import sys
from co_cli.surfaces.cli.chat import screen
sys.setswitchinterval(1e-6)
screen._REFRESHES = 20_000
drawn = screen.Screen()
for number in range(120):
    with drawn.turn():
        drawn.called("web_fetch", {})
        drawn.answered("web_fetch", "", 0, done=True)
        for piece in (f"before {number}\\n\\n", "> quoted\\n", "> too\\n\\n", f"after {number}"):
            drawn.text(piece)
"""


def test_nothing_is_lost_or_drawn_twice_however_often_the_spinner_moves() -> None:
    with program_on_terminal("-c", DRAWING) as seen:
        assert seen.end() == 0
    paper = pyte.Screen(COLUMNS, 2000)
    pyte.Stream(paper).feed(seen.shown.replace("\n", "\r\n"))
    turns = (("✓ web_fetch 0.0 s", f"before {number}", "▌ quoted", "▌ too", f"after {number}") for number in range(120))
    assert [line.rstrip() for line in paper.display if line.strip()] == [line for turn in turns for line in turn]


def test_what_was_offered_to_the_model_is_named_below_the_answer(kb: KnowledgeBase, server: ModelServer) -> None:
    kb.save("We deploy on Fridays")
    server.answers = [says("On Fridays [1].")]
    with terminal("chat") as seen:
        prompted(seen)
        seen.type(f"when do we deploy?{ENTER}")
        seen.wait_to_see("offered: 1 · /why says why")
        prompted(seen)
        seen.type(f"/why{ENTER}")
        seen.wait_to_see("offered by itself; all words (deploy) in body")
        prompted(seen)
        seen.type(CTRL_D)
        assert seen.end() == 0
    assert "- [1] We deploy on Fridays" in str(server.asked[0]["messages"])


def test_commands_and_refs_are_completed(kb: KnowledgeBase) -> None:
    kb.save("We deploy on Fridays")
    with terminal("chat") as seen:
        prompted(seen)
        seen.type("/wh")
        seen.wait_to_see("the notes that came before the model")
        seen.type("\t")
        seen.wait_to_see("› /why")
        seen.type(CTRL_C)
        prompted(seen)
        seen.type("forget ")
        seen.wait_to_see("We deploy on Fridays")
        seen.type(CTRL_C)
        prompted(seen)
        seen.type(CTRL_D)
        assert seen.end() == 0


def test_several_lines_are_one_message_and_are_found_again(kb: KnowledgeBase, tmp_path: Path) -> None:
    with terminal("chat") as seen:
        prompted(seen)
        seen.type("remember: first line")
        seen.type(ALT_ENTER)
        seen.type("second line")
        seen.wait_to_see("… second line")
        seen.type(ENTER)
        seen.wait_to_see(ASKS)
        seen.type(f"y{ENTER}")
        prompted(seen)
        seen.type(CTRL_D)
        assert seen.end() == 0
    assert kept(kb) == ["First line\nsecond line"]
    history = Path(kb.places.state, "chat_history")
    assert history.stat().st_mode & 0o777 == 0o600
    with terminal("chat") as seen:
        prompted(seen)
        seen.type(f"{CTRL_R}second")
        seen.wait_to_see("remember: first line")


def test_hostile_notes_do_not_reach_the_terminal(kb: KnowledgeBase, vault: Path) -> None:
    hostile = "Deploy day \x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b[8mhidden"
    note = f"---\nid: 1\ncreated: 2026-02-09T14:30:00+00:00\n---\n\n{hostile}\n"
    (vault / "memories" / "001-x.md").write_text(note)
    with terminal("chat") as seen:
        prompted(seen)
        seen.type(f"what is our deploy day?{ENTER}")
        seen.wait_to_see("in their own words")
        prompted(seen)
        seen.type(f"/recall deploy{ENTER}")
        seen.wait_to_see("why: ")
        prompted(seen)
        seen.type(f"forget 1{ENTER}")
        seen.wait_to_see(ASKS)
        seen.type(f"n no{ENTER}")
        prompted(seen)
        seen.type(CTRL_D)
        assert seen.end() == 0
    for code in ("\x1b]0;", "\x07", "\x1b[2J\x1b[31m", "\x1b[31m", "\x1b[8m"):
        assert code not in seen.shown
    assert "␛]0;owned␇␛[2J␛[31mred␛[8mhidden" in seen.shown


def test_what_is_missing_is_said_at_the_start_and_the_prompt_lives(kb: KnowledgeBase, tmp_path: Path) -> None:
    with terminal("chat", "--provider", "anthropic") as seen:
        seen.wait_to_see("needs a key")
        prompted(seen)
        seen.type(f"hi{ENTER}")
        seen.wait_to_see("error:")
        prompted(seen)
        seen.type(f"/model offline{ENTER}")
        seen.wait_to_see("answers from now on")
        prompted(seen)
        seen.type(f"list{ENTER}")
        seen.wait_to_see("No memories saved yet.")
        prompted(seen)
        seen.type(CTRL_D)
        assert seen.end() == 0
    golden(seen, "chat/no-key", tmp_path)


def test_one_message_on_a_terminal_is_answered_with_its_questions(kb: KnowledgeBase) -> None:
    with terminal("chat", "remember that tea is better") as seen:
        seen.wait_to_see(ASKS)
        seen.type(f"y{ENTER}")
        assert seen.end() == 0
    assert kept(kb) == ["Tea is better"]


def test_the_first_prompt_comes_before_the_slow_imports(kb: KnowledgeBase) -> None:
    started = time.monotonic()
    with terminal("chat") as seen:
        seen.wait_for("›")
        assert time.monotonic() - started < 10  # the promise is measured by `co bench cli`; this only finds a disaster
        seen.type(CTRL_D)
        assert seen.end() == 0
