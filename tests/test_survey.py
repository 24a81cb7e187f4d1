"""What `co usage` tells: calls by tool and day, the most used notes, and those that nobody asked for."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from co_cli import Invalid, KnowledgeBase
from co_cli.surfaces.cli.main import main
from co_cli.survey import ToolCall


def log_calls(kb: KnowledgeBase) -> None:
    friday, tabs, private = (kb.get(ref) for ref in ("1", "g:1", "2"))
    for _ in range(3):
        kb.log_call(ToolCall("recall_memory", "mcp", 0.004, notes=(friday, tabs)))
    kb.log_call(ToolCall("recall_memory", "chat", 0.004, notes=(friday, private)))
    kb.log_call(ToolCall("save_memory", "chat", 0.001, outcome="denied"))


@pytest.fixture
def used(kb: KnowledgeBase) -> KnowledgeBase:
    kb.save("We deploy on Fridays")
    kb.save("I prefer tabs", in_global=True)
    kb.save("The safe is behind the mirror", private=True)
    kb.save("Nobody asks for this")
    log_calls(kb)
    return kb


def test_tools_days_and_notes_are_counted(used: KnowledgeBase) -> None:
    found = used.usage()
    assert [(tool.tool, tool.calls, tool.failed) for tool in found.tools] == [("recall_memory", 4, 0), ("save_memory", 1, 1)]
    assert (found.calls, [calls for _, calls in found.by_day]) == (5, [5])
    assert [(use.note.ref, use.calls) for use in found.used] == [("1", 4), ("g:1", 3), ("2", 1)]
    assert [note.ref for note in found.never] == ["3"]
    assert found.notes == 4


def test_a_project_sees_its_own_notes_and_how_many_of_others_were_used(used: KnowledgeBase, tmp_path: Path) -> None:
    from co_cli import open_knowledge

    (tmp_path / "other").mkdir()
    found = open_knowledge(tmp_path / "other").usage()
    assert [(use.note.ref, use.calls) for use in found.used] == [("g:1", 3)]
    assert (found.elsewhere, found.calls) == (2, 5)


def test_a_forgotten_note_is_out_of_the_log_and_its_id_begins_anew(used: KnowledgeBase) -> None:
    used.forget("3")
    used.log_call(ToolCall("recall_memory", "mcp", 0.1, notes=(used.save("Short-lived").note,)))
    used.forget("3")
    again = used.save("Another with the same id").note
    assert again.ref == "3"
    found = used.usage()
    assert "3" in [note.ref for note in found.never]
    assert found.elsewhere == 0


def test_no_text_of_a_note_is_ever_in_the_log(used: KnowledgeBase) -> None:
    raw = b"".join(file.read_bytes() for file in Path(used.places.state).glob("usage.db*"))
    for word in (b"Fridays", b"mirror", b"tabs"):
        assert word not in raw


@pytest.mark.parametrize(
    ("setting", "private", "arguments", "kept"),
    [
        (None, False, '{"query": "deploy"}', None),
        ("yes", False, '{"query": "deploy"}', '{"query": "deploy"}'),
        ("yes", True, '{"query": "safe"}', None),
        ("yes", False, '{"content": "token = ghp_' + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8" + '"}', None),
    ],
)
def test_arguments_are_kept_only_if_that_was_asked_for_and_they_are_harmless(
    kb: KnowledgeBase, setting: str | None, private: bool, arguments: str, kept: str | None
) -> None:
    if setting:
        assert main(["config", "set", "log_arguments", setting]) == 0
    note = kb.save("The safe is behind the mirror", private=private).note
    kb.log_call(ToolCall("knowledge_search", "mcp", 0.1, notes=(note,), arguments=arguments))
    with closing(sqlite3.connect(kb.places.usage_log)) as raw, raw:
        assert raw.execute("SELECT arguments FROM calls").fetchall() == [(kept,)]
    raw.close()


def test_a_project_cannot_switch_the_logging_of_arguments_on(kb: KnowledgeBase, project: Path) -> None:
    (project / ".co-cli").mkdir()
    (project / ".co-cli" / "settings.json").write_text('{"log_arguments": "yes"}')
    kb.log_call(ToolCall("knowledge_search", "mcp", 0.1, arguments="deploy"))
    with closing(sqlite3.connect(kb.places.usage_log)) as raw, raw:
        assert raw.execute("SELECT arguments FROM calls").fetchall() == [(None,)]
    raw.close()


def test_the_chart_has_a_bar_for_each_tool_and_day(used: KnowledgeBase, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["usage"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "5 calls in 30 days"
    assert lines[2] == f"recall_memory  {'█' * 32} 4  (4.0 ms each)"
    assert lines[3] == f"save_memory    {'█' * 8} 1  (1 failed, 1.0 ms each)"
    assert lines[5].endswith(f"{'█' * 32} 5")
    assert lines[7:] == [
        "Most used",
        "    4  1    We deploy on Fridays",
        "    3  g:1  I prefer tabs",
        "    1  2    (private)",
        "",
        "Never used",
        "    1  memories: 3",
    ]


def test_programs_get_the_same_as_json(used: KnowledgeBase, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["usage", "--json", "--days", "7"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["days"], data["calls"], data["never_used"], data["notes"]) == (7, 5, ["3"], 4)
    assert data["tools"][0] == {"tool": "recall_memory", "calls": 4, "failed": 0, "ms": 4.0}
    assert [(use["ref"], use["calls"], use["title"]) for use in data["used"]][2] == ("2", 1, "(private)")


def test_without_any_call_there_is_no_chart_and_no_log(kb: KnowledgeBase, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["usage"]) == 0
    assert capsys.readouterr().out == "No tool was called in the last 30 days.\n"
    assert not Path(kb.places.usage_log).exists()
    with pytest.raises(Invalid):
        kb.usage(0)
