"""`co review` as a person uses it: listing, deciding by name, and one after the other on a terminal."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from commands import Co
from terminals import Terminal, golden, terminal

from co_cli import KnowledgeBase
from co_cli.learning import inbox
from co_cli.learning.inbox import Evidence, Proposal

ENTER, CTRL_D = "\r", "\x04"
ASKS = "? help ›"


@pytest.fixture
def waiting(kb: KnowledgeBase) -> KnowledgeBase:
    """Three that wait: two drafts, one of them for all projects, and a note that has served its time."""
    kb.save("Staging is frozen")
    evidence = Evidence("no, we deploy on Fridays", "chat 20260209-143000-abcd", ("1",))
    outcomes = inbox.propose(
        kb,
        [
            Proposal("draft", "project", "save", "We deploy on Fridays", {"tags": ["ops"]}, (), evidence, "a correction"),
            Proposal("expiry", "project", "archive", refs=("1",), reason="not used for a year"),
            Proposal("draft", "global", "save", "I prefer tea", reason="a preference"),
        ],
    )
    assert [outcome.proposal.ref for outcome in outcomes] == ["p1", "p2", "g1"]
    return kb


def texts(kb: KnowledgeBase) -> list[str]:
    return [note.body for note in kb.list().notes]


# ------------------------------------------------------------------------------------------------------------------ by name


def test_without_a_terminal_what_waits_is_listed(co: Co, waiting: KnowledgeBase) -> None:
    assert co("review") == 0
    lines = [re.sub(r"\d{4}-\d\d-\d\d", "DAY", " ".join(line.split())) for line in co.out.splitlines()]
    assert lines == [
        "p1 DAY draft We deploy on Fridays (a correction)",
        "p2 DAY expiry 1 (not used for a year)",
        "g1 DAY draft I prefer tea (a preference)",
    ]
    assert texts(waiting) == ["Staging is frozen"]


def test_one_that_is_named_is_shown_whole_with_what_it_rests_on_and_what_it_would_do(co: Co, waiting: KnowledgeBase) -> None:
    co("review", "p1")
    for said in ("a correction", "no, we deploy on Fridays", "chat 20260209", "notes 1", "+tags: [ops]", "new file"):
        assert said in co.out


def test_programs_get_everything_with_the_difference(co: Co, waiting: KnowledgeBase) -> None:
    data = co.json("review")
    assert [each["id"] for each in data["proposals"]] == ["p1", "p2", "g1"]
    first, second, _third = data["proposals"]
    assert first["evidence"] == {
        "quote": "no, we deploy on Fridays",
        "session": "chat 20260209-143000-abcd",
        "refs": ["1"],
    }
    assert first["fields"] == {"tags": ["ops"]}
    assert "+We deploy on Fridays" in first["difference"]
    assert second["difference"].startswith("move /")
    os.unlink(waiting.get("1").path)
    assert "There is no note 1" in co.json("review", "p2")["proposals"][0]["error"]["message"]


def test_several_are_accepted_at_once_and_each_is_undone_by_itself(co: Co, waiting: KnowledgeBase) -> None:
    assert co.json("review", "--accept", "p1", "g1")["accepted"] == ["p1", "g1"]
    assert texts(waiting) == ["Staging is frozen", "We deploy on Fridays", "I prefer tea"]
    co("undo")
    assert [each.ref for each in inbox.proposals(waiting).proposals] == ["p2", "g1"]


def test_all_of_a_kind_are_rejected_with_a_reason_and_not_proposed_again(co: Co, waiting: KnowledgeBase) -> None:
    assert co("review", "--reject", "--kind", "draft", "--reason", "in jest") == 0
    assert "2 rejected; 1 still waits" in co.out
    co("log")
    assert co.out.count("because in jest") == 2
    again = Proposal("draft", "project", "save", "we deploy on fridays!")
    assert inbox.propose(waiting, [again])[0].state == inbox.REJECTED
    co("review", "--forget-rejected")
    assert "Forgot 2 rejected proposals" in co.out
    assert inbox.propose(waiting, [again])[0].state == inbox.PROPOSED


def test_what_is_put_off_is_shown_again_only_when_all_are_asked_for(co: Co, waiting: KnowledgeBase) -> None:
    co("review", "--later", "--all", "--until", "2w")
    assert "3 put off; nothing waits" in co.out
    assert co("review") == 0
    assert co.out == ""
    assert "3 proposals are put off" in co.err
    co("review", "--list", "--all")
    assert co.out.count("not before") == 3


def test_what_is_new_by_a_yes_is_compared_with_what_is_kept(co: Co, kb: KnowledgeBase) -> None:
    kb.save("The API listens on port 80")
    inbox.propose(kb, [Proposal("draft", "project", "save", "The API listens on port 81")])
    assert co("review", "--accept", "p1") == 0
    assert "2 contradicts 1" in co.err
    assert "1 accepted; 1 still waits" in co.out
    assert inbox.get(kb, "p2").kind == "contradiction"


def test_one_that_cannot_be_accepted_stops_none_of_the_others_and_sets_the_exit_code(co: Co, waiting: KnowledgeBase) -> None:
    waiting.update("1", content="Staging is frozen until May")
    assert co("review", "--accept", "--all") == 4
    assert "1 has changed since p2 was proposed" in co.err
    assert "2 accepted, 1 failed; 1 still waits." in co.out
    assert texts(waiting) == ["Staging is frozen until May", "We deploy on Fridays", "I prefer tea"]


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (["--accept"], 2, "not said which"),
        (["--accept", "--reject", "p1"], 2, "do not go together"),
        (["--accept", "p1", "--all"], 2, "not both"),
        (["--accept", "p9"], 3, "no proposal p9"),
        (["--accept", "the first"], 2, "names no proposal"),
        (["--kind", "whim"], 2, "invalid choice"),
        (["--later", "p1", "--until", "soon"], 2, "is no date"),
    ],
)
def test_what_makes_no_sense_is_said(co: Co, waiting: KnowledgeBase, argv: list[str], code: int, said: str) -> None:
    assert co("review", *argv) == code
    assert said in co.err
    assert len(inbox.proposals(waiting).proposals) == 3


def test_status_says_how_many_wait_and_doctor_what_cannot_be_read(co: Co, waiting: KnowledgeBase) -> None:
    co("status")
    assert "3 proposals wait for your yes or no: co review" in co.out
    inbox_folder = Path(waiting.vault("project").root, "inbox")
    (inbox_folder / "0009-draft-bad.md").write_text("---\nkind: whim\naction: save\n---\n\nx\n")
    assert co("doctor") == 1
    assert "0009-draft-bad.md:2: there is no kind 'whim'" in co.out
    assert json.loads(json.dumps(co.json("doctor")))["findings"][-1]["code"] == "bad-proposal"
    co("review")
    assert "there is no kind 'whim'" in co.err


# ------------------------------------------------------------------------------------------------------------- on a terminal


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("PYTHONUTF8", "1")


def asked(seen: Terminal, place: str) -> None:
    """Wait until the question about this one stands there: what is typed before it does would be shown twice."""
    seen.wait_to_see(place)
    while not seen.lines()[-1].endswith(ASKS):
        seen.read()


def test_one_after_the_other_is_shown_edited_accepted_and_rejected(
    waiting: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i s/Fridays/Mondays/ "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    with terminal("review") as seen:
        asked(seen, "1 of 3")
        seen.type(f"e{ENTER}")
        asked(seen, "+We deploy on Mondays")
        seen.type(f"y{ENTER}")
        asked(seen, "2 of 3")
        seen.type(f"n{ENTER}")
        seen.wait_to_see("Why not? (Enter: no reason) ›")
        seen.type(f"we still need it{ENTER}")
        asked(seen, "3 of 3")
        seen.type(f"q{ENTER}")
        assert seen.end() == 0
    golden(seen, "review/one-after-the-other", tmp_path)
    assert texts(waiting) == ["Staging is frozen", "We deploy on Mondays"]
    assert [each.ref for each in inbox.proposals(waiting).proposals] == ["g1"]
    assert "we still need it" in waiting.log()[0].change.summary


def test_all_of_a_kind_later_help_and_the_end_of_the_input(waiting: KnowledgeBase) -> None:
    with terminal("review") as seen:
        seen.wait_to_see(ASKS)
        seen.type(f"what?{ENTER}")
        seen.wait_to_see("y  yes: do what is shown")
        seen.type(f"a{ENTER}")
        asked(seen, "p2 · expiry")
        seen.type(f"l{ENTER}")
        assert seen.end() == 0
    assert "2 accepted, 1 put off; nothing waits." in seen.shown
    with terminal("review", "--all") as seen:
        seen.wait_to_see(ASKS)
        seen.type(CTRL_D)
        assert seen.end() == 0
    assert "Nothing was decided; nothing waits." in seen.shown
    assert texts(waiting) == ["Staging is frozen", "We deploy on Fridays", "I prefer tea"]


def test_what_changed_while_it_was_shown_is_shown_again_before_it_is_done(waiting: KnowledgeBase) -> None:
    with terminal("review", "p2") as seen:
        seen.wait_to_see(ASKS)
        waiting.update("1", content="Staging is frozen until May")
        seen.type(f"y{ENTER}")
        seen.wait_to_see("have changed since they were shown")
        seen.wait_to_see("until May")
        seen.type(f"y{ENTER}")
        assert seen.end() == 0
    assert texts(waiting) == []
    assert "Traceback" not in seen.shown


def test_what_cannot_be_done_any_more_is_said_and_can_only_be_rejected_or_put_off(waiting: KnowledgeBase) -> None:
    waiting.archive("1")
    with terminal("review", "p2") as seen:
        asked(seen, "it cannot be done: 1 is already in the archive.")
        assert "y yes" not in seen.shown
        seen.type(f"y{ENTER}")
        asked(seen, "`co undo` takes it back")
        seen.type(f"n{ENTER}")
        seen.wait_to_see("Why not?")
        seen.type(ENTER)
        assert seen.end() == 0
    assert "1 rejected; 2 still wait." in seen.shown
