"""`co learn --auto` and `--from`: what was said is drafted for the inbox, once, and nothing is kept without a yes."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest
import transcripts
from commands import Co
from processes import kill, start
from transcripts import claude, codex, gemini, gemini_checkpoint, tool_result

from co_cli import KnowledgeBase, open_knowledge
from co_cli.learning import inbox
from co_cli.learning.drafting.conversations import conversations_at
from co_cli.learning.drafting.lessons import learn

PNPM = "we use pnpm here, not npm"
SHORT = "I prefer short answers."


def waiting(kb: KnowledgeBase) -> list[str]:
    return [proposal.content for proposal in inbox.proposals(kb).proposals]


@pytest.fixture
def history(tmp_path: Path) -> Path:
    return tmp_path / "history"


def chat(co: Co, monkeypatch: pytest.MonkeyPatch, *lines: str, arguments: tuple[str, ...] = ()) -> int:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    return co("chat", *arguments)


# ------------------------------------------------------------------------------------------------------- from transcripts


def test_drafts_from_transcripts_wait_in_the_inbox_with_the_words_they_were_taken_from(
    co: Co, kb: KnowledgeBase, history: Path, project: Path
) -> None:
    claude(history, project, f"Fix the test. {PNPM}.", SHORT)
    assert co("learn", "--from", str(history)) == 0
    assert "Read 1 conversation: 2 turns were new." in co.out
    assert "2 drafts wait for your yes: co review" in co.out
    mine, everywhere = inbox.proposals(kb).proposals
    assert (mine.kind, mine.vault, mine.content) == ("draft", "project", "We use pnpm here, not npm.")
    assert mine.fields["category"] == "project_insights"
    assert mine.evidence.quote == f"{PNPM}."
    assert mine.evidence.session == "claude:0b5c7a2e-claude"
    assert mine.reason == "You said so to Claude Code on 2026-11-10."
    assert (everywhere.vault, everywhere.content) == ("global", "User prefers short answers.")
    assert kb.list().notes == ()


def test_a_draft_that_is_accepted_is_a_memory_and_undo_takes_it_back(
    kb: KnowledgeBase, history: Path, project: Path
) -> None:
    learn(kb, conversations_at(str(claude(history, project, PNPM))))
    inbox.accept(kb, inbox.get(kb, "p1"))
    (note,) = kb.list().notes
    assert (note.body, note.category, note.source) == ("We use pnpm here, not npm.", "project_insights", "extracted")
    assert waiting(kb) == []
    kb.undo()
    assert kb.list().notes == ()
    assert waiting(kb) == ["We use pnpm here, not npm."]


def test_reading_the_same_again_proposes_nothing_new(co: Co, kb: KnowledgeBase, history: Path, project: Path) -> None:
    path = claude(history, project, PNPM)
    co("learn", "--from", str(history))
    inbox.reject(kb, inbox.get(kb, "p1"))
    assert co.json("learn", "--from", str(history))["new_turns"] == 0
    path.write_text(path.read_text() + json.dumps({**transcripts.typed(SHORT), "timestamp": transcripts.AT}) + "\n")
    claude(history, project, PNPM, name="another-session")
    found = co.json("learn", "--from", str(history))
    assert (found["conversations"], found["new_turns"], found["proposed"]) == (2, 1, 1)
    assert waiting(kb) == ["User prefers short answers."]


def test_all_agents_are_read_from_one_folder(kb: KnowledgeBase, history: Path, project: Path) -> None:
    claude(history, project, PNPM)
    codex(history, project, "we deploy with Nomad")
    gemini(history, project, "Our main branch is called trunk.")
    gemini_checkpoint(history, SHORT)
    lesson = learn(kb, conversations_at(str(history)))
    assert lesson.conversations == 4
    assert sorted(waiting(kb)) == sorted(
        [
            "We use pnpm here, not npm.",
            "We deploy with Nomad.",
            "Our main branch is called trunk.",
            "User prefers short answers.",
        ]
    )


def test_a_dry_run_shows_the_drafts_and_leaves_no_trace(co: Co, kb: KnowledgeBase, history: Path, project: Path) -> None:
    claude(history, project, PNPM)
    assert co("learn", "--from", str(history), "--dry-run") == 0
    assert "1 draft would be proposed. Nothing was written" in co.out
    assert "We use pnpm here, not npm." in co.out
    assert waiting(kb) == []
    assert co.json("learn", "--from", str(history))["proposed"] == 1


def test_what_was_said_before_a_day_is_left_alone_and_may_be_read_later(co: Co, history: Path, project: Path) -> None:
    claude(history, project, PNPM, at="2026-01-05T10:00:00Z")
    claude(history, project, SHORT, name="newer", at="2026-06-05T10:00:00Z")
    assert co.json("learn", "--from", str(history), "--since", "2026-06-01")["new_turns"] == 1
    assert co.json("learn", "--from", str(history))["new_turns"] == 1
    assert co("learn", "--from", str(history), "--since", "long ago") == 2


def test_facts_of_other_projects_stay_there_and_preferences_are_the_users(
    co: Co, kb: KnowledgeBase, history: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    claude(history, elsewhere, PNPM, SHORT)
    co("learn", "--from", str(history))
    assert waiting(kb) == ["User prefers short answers."]
    assert "1 about other projects (learn from them there)" in co.out
    assert waiting(open_knowledge(elsewhere)) == ["User prefers short answers."]
    learn(open_knowledge(elsewhere), conversations_at(str(history)))
    assert "We use pnpm here, not npm." in waiting(open_knowledge(elsewhere))


def test_what_is_known_is_not_proposed_even_from_the_archive_in_other_words_or_from_a_boot_file(
    kb: KnowledgeBase, history: Path, project: Path
) -> None:
    kb.save("We use pnpm here and not npm")
    kb.save("The user prefers short answers.", in_global=True)
    kb.archive([kb.save("We deploy with Nomad.").note.ref])
    (project / "CLAUDE.md").write_text("# Rules\n\n- Our main branch is called trunk.\n", encoding="utf-8")
    said = [PNPM, SHORT, "we deploy with Nomad", "our main branch is called trunk", "We deploy with Nomad 2."]
    lesson = learn(kb, conversations_at(str(claude(history, project, *said))))
    assert [draft.quote for draft, _holder in lesson.known] == said[:4]
    assert [holder for _draft, holder in lesson.known] == ["1", "g:1", "2", "CLAUDE.md"]
    assert waiting(kb) == ["We deploy with Nomad 2."]


def test_what_contradicts_a_memory_is_proposed_to_take_its_place(kb: KnowledgeBase, history: Path, project: Path) -> None:
    kb.save("We use Redux.")
    learn(kb, conversations_at(str(claude(history, project, "We do not use Redux."))))
    (proposal,) = inbox.proposals(kb).proposals
    assert (proposal.kind, proposal.action, proposal.refs) == ("contradiction", "supersede", ("1",))
    assert proposal.content == "We do not use Redux."
    assert "It contradicts 1" in proposal.reason
    inbox.accept(kb, proposal)
    assert kb.get("1").superseded_by == 2
    assert kb.get("2").supersedes == (1,)


def test_what_a_memory_says_in_other_words_is_not_proposed(kb: KnowledgeBase, history: Path, project: Path) -> None:
    kb.save("The billing service is owned by Ingrid.")
    lesson = learn(kb, conversations_at(str(claude(history, project, "Remember that Ingrid owns the billing service."))))
    assert [holder for _draft, holder in lesson.known] == ["1"]
    assert waiting(kb) == []


def test_what_a_tool_showed_before_is_not_learned_from_who_repeats_it(
    kb: KnowledgeBase, history: Path, project: Path
) -> None:
    said = ["look it up", tool_result("[12] We use pnpm here, not npm."), PNPM, SHORT, tool_result(f"saved: {SHORT}")]
    lesson = learn(kb, conversations_at(str(claude(history, project, *said))))
    assert [holder for _draft, holder in lesson.known] == ["what was shown before it"]
    assert waiting(kb) == ["User prefers short answers."]


def test_what_was_decided_on_in_the_conversation_is_not_asked_for_again(
    kb: KnowledgeBase, history: Path, project: Path
) -> None:
    call = {"type": "tool_use", "name": "mcp__co__save_memory", "input": {"content": "We use pnpm here, not npm."}}
    refused = {"type": "assistant", "message": {"role": "assistant", "content": [call]}}
    learn(kb, conversations_at(str(claude(history, project, PNPM, refused))))
    assert waiting(kb) == []


def test_lines_that_cannot_be_read_are_told_and_files_that_are_none_too(co: Co, history: Path, project: Path) -> None:
    path = claude(history, project, PNPM)
    path.write_text(path.read_text() + '{"type": "us\n')
    (history / "x.json").write_text("{}")
    assert co("learn", "--from", str(history)) == 0
    assert "1 line was passed over: it could not be read." in co.out
    assert "x.json (it is no transcript of an agent that co knows)" in co.out


def test_a_secret_that_was_said_goes_nowhere(co: Co, kb: KnowledgeBase, history: Path, project: Path) -> None:
    claude(history, project, "Remember that our token is ghp_abcdefghijklmnopqrstuvwxyz0123456789.")
    co("learn", "--from", str(history))
    assert "ghp_" not in co.out + co.err
    assert waiting(kb) == []


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--from", "nowhere"], 3),
        (["--from", ".", "text"], 2),
        (["--auto", "--from", "."], 2),
        (["--auto=perhaps"], 2),
        (["--dry-run", "text"], 2),
        ([], 2),
        (["--from", ".", "--with-model"], 2),
    ],
)
def test_what_makes_no_sense_is_said_with_the_next_step(co: Co, arguments: list[str], code: int) -> None:
    assert co("learn", *arguments) == code
    assert co.err.startswith("error: ")
    assert len(co.err.splitlines()) >= 2


@pytest.mark.slow
def test_who_is_killed_in_the_middle_loses_nothing_and_goes_on_there(
    kb: KnowledgeBase, history: Path, project: Path
) -> None:
    for number in range(200):
        claude(history, project, f"Remember that service {number} listens on port {7000 + number}.", name=f"s{number:03d}")
    process = start(
        "import sys; from co_cli.surfaces.cli.main import main; sys.exit(main(['learn', '--from', sys.argv[1]]))", history
    )
    try:
        while len(waiting(kb)) < 5:
            assert process.poll() is None, process.communicate()
        accepted = inbox.get(kb, "p1")
        inbox.accept(kb, accepted)
    finally:
        kill(process)
    assert 0 < len(waiting(kb)) < 199
    learn(kb, conversations_at(str(history)))
    assert len(waiting(kb)) == 199
    assert [note.body for note in kb.list().notes] == [accepted.content]


# -------------------------------------------------------------------------------------------------------------- from chats


def test_nothing_is_learned_from_a_chat_before_somebody_wants_it(
    co: Co, kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat(co, monkeypatch, PNPM)
    assert waiting(kb) == []
    assert "learned" not in co.json("chat", "hello")


def test_with_auto_what_was_said_in_a_chat_is_drafted_at_its_end_also_after_quit(
    co: Co, kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert co("learn", "--auto") == 0
    assert "Learning from chats is on" in co.out
    assert "co learn --auto=false" in co.out
    assert "learning on" in (co("status") or co.out)
    chat(co, monkeypatch, PNPM, "what is a monad?", "/quit", SHORT)
    assert "1 draft waits for your yes: co review" in co.err
    assert waiting(kb) == ["We use pnpm here, not npm."]
    assert kb.list().notes == ()
    co("learn", "--auto=false")
    chat(co, monkeypatch, "we deploy with Nomad")
    assert waiting(kb) == ["We use pnpm here, not npm."]
    assert "learning on" not in (co("status") or co.out)


def test_what_was_said_before_opting_in_is_not_learned_when_the_chat_goes_on(
    co: Co, kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat(co, monkeypatch, PNPM)
    co("learn", "--auto")
    chat(co, monkeypatch, SHORT, arguments=("--json", "--resume"))
    found = json.loads(co.out)
    assert [draft["text"] for draft in found["learned"]["drafts"]] == ["User prefers short answers."]
    assert waiting(kb) == ["User prefers short answers."]


def test_a_chat_that_broke_off_is_learned_from_when_the_next_one_ends(
    co: Co, kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat(co, monkeypatch, "hello")
    folder = Path(kb.places.state) / "sessions"
    (before,) = folder.iterdir()
    broken = folder / "20260101-000000-abcd.jsonl"  # as if its process had been killed an hour ago
    broken.write_text(before.read_text().replace("hello", PNPM).replace('"message"', '"learning": true, "message"'))
    os.utime(broken, (1e9, 1e9))
    co("learn", "--auto")
    chat(co, monkeypatch, "hello again")
    assert waiting(kb) == ["We use pnpm here, not npm."]


def test_a_project_may_switch_learning_off_and_never_on(co: Co, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert co("config", "set", "auto_learn", "yes", "--project") == 5
    assert co("config", "set", "auto_learn", "no", "--project") == 0
    co("learn", "--auto")
    assert "but not for this one" in co.out
    kb = open_knowledge(project)
    chat(co, monkeypatch, PNPM)
    assert waiting(kb) == []
    (project / ".co-cli" / "settings.json").write_text('{"auto_learn": "yes", "learn_tokens": "999999"}')
    co("learn", "--auto=false")
    assert kb.settings().value("auto_learn") == "no"
    assert kb.settings().value("learn_tokens") == "20000"
