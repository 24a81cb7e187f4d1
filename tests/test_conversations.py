"""Transcripts of other agents are read as they are: what a person typed, and nothing that a program put beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import transcripts
from transcripts import claude, codex, gemini, gemini_checkpoint, gemini_whole, tool_result

from co_cli import CoError
from co_cli.learning.drafting.conversations import Conversation, Unread, conversations_at, read_conversation

SAID = ("we use pnpm here", "I prefer tabs")


def read(path: Path) -> Conversation:
    found = read_conversation(str(path))
    assert isinstance(found, Conversation), found
    return found


def turns(path: Path) -> list[str]:
    return [turn.text for turn in read(path).turns]


def test_each_form_is_told_by_its_content_whatever_the_file_is_called(tmp_path: Path, project: Path) -> None:
    made = [
        (claude(tmp_path / "a", project, *SAID), "claude", "0b5c7a2e-claude"),
        (codex(tmp_path / "b", project, *SAID), "codex", "019a-codex"),
        (gemini(tmp_path / "c", project, *SAID), "gemini", "gem-1"),
        (gemini_whole(tmp_path / "d", project, *SAID), "gemini", "gem-0"),
    ]
    for number, (path, agent, session) in enumerate(made):
        renamed = path.rename(tmp_path / f"{number}.jsonl")
        found = read(renamed)
        assert (found.agent, found.id) == (agent, session)
        assert [turn.text for turn in found.turns] == list(SAID)
        assert found.turns[0].at == transcripts.AT
        assert found.broken == 0


def test_a_checkpoint_of_gemini_begins_with_what_nobody_said(tmp_path: Path) -> None:
    from co_cli.learning.drafting.rules import drafts_of

    found = read(gemini_checkpoint(tmp_path, *SAID))
    assert [draft.quote for draft in drafts_of(found.turns)] == list(SAID)


@pytest.mark.parametrize("events", ["item_completed", "user_message", ""])
def test_all_versions_of_codex_are_read_and_its_boot_files_are_no_speech(tmp_path: Path, project: Path, events: str) -> None:
    from co_cli.learning.drafting.rules import drafts_of

    found = read(codex(tmp_path, project, *SAID, events=events))
    assert [draft.quote for draft in drafts_of(found.turns)] == list(SAID)
    assert any("We never rebase" in text for text in found.shown)


def test_what_claude_code_wrote_as_the_user_is_not_the_users(tmp_path: Path, project: Path) -> None:
    def meta(mark: str) -> dict[str, object]:
        return {"type": "user", mark: True, "message": {"role": "user", "content": f"we always use {mark}"}}

    marks = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")
    robot = {
        "type": "user",
        "origin": {"kind": "task-notification"},
        "message": {"role": "user", "content": "we use robots"},
    }
    stopped = "[Request interrupted by user for tool use]"
    path = claude(tmp_path, project, SAID[0], *map(meta, marks), robot, tool_result("our API is v2"), stopped, SAID[1])
    assert turns(path) == list(SAID)
    assert read(path).shown[-1] == "our API is v2"


def test_a_turn_knows_what_the_agent_had_said_before_it(tmp_path: Path, project: Path) -> None:
    path = claude(tmp_path, project, *SAID)
    assert [turn.before for turn in read(path).turns] == ["", "Done."]


def test_what_was_taken_back_in_gemini_was_not_said(tmp_path: Path, project: Path) -> None:
    path = gemini(tmp_path, project, SAID[0], "we use npm", {"$rewindTo": "u1"}, SAID[1])
    assert turns(path) == list(SAID)


def test_what_one_agent_tells_another_is_nobodys_word(tmp_path: Path, project: Path) -> None:
    entries = [json.loads(line) for line in codex(tmp_path, project, *SAID).read_text().splitlines()]
    entries[0]["payload"]["source"] = {"subagent": {"thread_spawn": {}}}
    assert turns(transcripts.lines(tmp_path / "sub.jsonl", entries)) == []
    path = gemini(tmp_path, project, {"$set": {"kind": "subagent"}}, *SAID)
    assert turns(path) == []


def test_broken_lines_cost_themselves_and_are_counted(tmp_path: Path, project: Path) -> None:
    path = claude(tmp_path, project, *SAID)
    whole = path.read_text(encoding="utf-8").splitlines()
    whole.insert(3, '{"type": "user", "message": {"content": "cut o')
    whole.insert(0, "no json at all")
    path.write_bytes("\n".join(whole).encode() + b"\n\xff\xfe{\n[1, 2]\n")
    assert turns(path) == list(SAID)
    assert read(path).broken == 4


def test_the_folder_of_gemini_is_known_by_its_marker(tmp_path: Path, project: Path) -> None:
    path = gemini(tmp_path, project, *SAID)
    assert read(path).project.startswith("sha256:")
    (path.parent.parent / ".project_root").write_text(f"{project}\n", encoding="utf-8")
    assert read(path).project == str(project)


@pytest.mark.parametrize(
    "content", ["", "\n", "[]", "{}", "[1]", "null", "word", '{"a": 1}', '[{"sessionId": "x", "type": "user"}]']
)
def test_a_file_that_is_no_transcript_is_named_as_such(tmp_path: Path, content: str) -> None:
    path = tmp_path / "some.json"
    path.write_text(content, encoding="utf-8")
    assert isinstance(read_conversation(str(path)), Unread)


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "user", "message": "no mapping"},
        {"type": "user", "message": {"content": {"text": 1}}},
        {"type": "user", "message": {"content": [1, None, {"type": "text"}, {"type": "text", "text": 5}]}},
        {"type": "assistant", "message": {"content": [{"type": "tool_use", "name": 5, "input": "no"}]}},
        {"type": "user", "origin": "human", "timestamp": 5, "message": {"content": "we use npm"}},
    ],
)
def test_entries_of_another_shape_than_expected_stop_nothing(tmp_path: Path, project: Path, odd: dict[str, object]) -> None:
    assert set(SAID) <= set(turns(claude(tmp_path, project, SAID[0], odd, SAID[1])))


def test_all_files_of_a_folder_are_read_and_none_is_changed(tmp_path: Path, project: Path) -> None:
    folder = tmp_path / "all"
    made = [claude(folder, project, *SAID), codex(folder, project, *SAID), gemini(folder, project, *SAID)]
    (folder / "notes.md").write_text("we use npm", encoding="utf-8")
    (folder / "settings.json").write_text("{}", encoding="utf-8")
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in made}
    found = list(conversations_at(str(folder)))
    assert sorted(each.agent for each in found if isinstance(each, Conversation)) == ["claude", "codex", "gemini"]
    assert [Path(each.path).name for each in found if isinstance(each, Unread)] == ["settings.json"]
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in made} == before


def test_a_path_that_is_not_there_says_where_transcripts_are(tmp_path: Path) -> None:
    with pytest.raises(CoError, match="There is no") as raised:
        list(conversations_at(str(tmp_path / "nowhere")))
    assert "~/.claude/projects" in raised.value.hint
