"""What happens only where a person sits: questions, Ctrl-C, editors, and the width of the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from terminals import terminal

from co_cli import KnowledgeBase
from co_cli.surfaces.cli.main import COMMANDS, build_parser


@pytest.fixture
def staging(kb: KnowledgeBase) -> KnowledgeBase:
    """Three memories, of which two are about staging."""
    for text in ("Staging is frozen until May", "Staging runs on two machines", "Nothing else"):
        kb.save(text)
    return kb


def kept(kb: KnowledgeBase) -> list[int | None]:
    return [note.id for note in kb.list().notes]


@pytest.mark.parametrize(
    ("answer", "code", "left"),
    [
        ("1", 0, [2, 3]),
        ("#2, 1", 0, [3]),
        ("a", 0, [3]),
        ("", 5, [1, 2, 3]),
        ("3", 2, [1, 2, 3]),
        ("1 7", 2, [1, 2, 3]),
    ],
)
def test_forget_lists_what_fits_and_asks_which(staging: KnowledgeBase, answer: str, code: int, left: list[int]) -> None:
    with terminal("forget", "staging") as seen:
        seen.wait_for("> ")
        assert "Staging is frozen until May" in seen.shown
        assert "Staging runs on two machines" in seen.shown
        assert "Nothing else" not in seen.shown
        seen.type(f"{answer}\n")
        assert seen.end() == code
    assert kept(staging) == left


def test_ctrl_c_at_a_question_forgets_nothing(staging: KnowledgeBase) -> None:
    with terminal("forget", "staging") as seen:
        seen.wait_for("> ")
        seen.interrupt_a_question()
        assert seen.end() == 130
        assert "Traceback" not in seen.shown
    assert kept(staging) == [1, 2, 3]


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": "", "TERM": "dumb"}, False)],
)
def test_a_terminal_has_colours_unless_somebody_minds(
    staging: KnowledgeBase, environment: dict[str, str], coloured: bool
) -> None:
    with terminal("list", **{"TERM": "xterm", **environment}) as seen:
        assert seen.end() == 0
    assert "Staging is frozen until May" in seen.shown
    assert ("\x1b[" in seen.shown) is coloured
    assert len(kept(staging)) == 3


def test_a_project_is_trusted_when_somebody_says_yes(project: Path) -> None:
    (project / ".co-cli").mkdir()
    (project / ".co-cli" / "settings.json").write_text('{"editor": "vim"}')
    for answer, code in (("n", 5), ("", 5), ("y", 0)):
        with terminal("trust") as seen:
            seen.wait_for("> ")
            assert "editor = 'vim'" in seen.shown
            seen.type(f"{answer}\n")
            assert seen.end() == code


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Writes the script that stands for the user at the editor; drafts go to a folder of this test."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "drafts"))
    (tmp_path / "drafts").mkdir()

    def write(script: str) -> None:
        path = tmp_path / "editor.sh"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setenv("EDITOR", str(path))

    return write


def drafts(tmp_path: Path) -> list[str]:
    return [path.read_text() for path in (tmp_path / "drafts").iterdir()]


def test_ctrl_c_in_an_editor_is_for_the_editor_alone(
    staging: KnowledgeBase, editor: Callable[[str], None], tmp_path: Path
) -> None:
    # As in vim: Ctrl-C ends what the editor is doing, and the editor goes on.
    editor("trap 'sed -i s/May/June/ \"$1\"; exit 0' INT\necho ready\nwhile :; do sleep 0.1; done")
    with terminal("edit", "1") as seen:
        seen.wait_for("ready")
        seen.interrupt()
        assert seen.end() == 0, seen.shown
    assert staging.get("1").body == "Staging is frozen until June"
    assert drafts(tmp_path) == []


def test_ctrl_c_that_ends_the_editor_changes_nothing(
    staging: KnowledgeBase, editor: Callable[[str], None], tmp_path: Path
) -> None:
    editor("echo ready\nexec sleep 60")
    with terminal("edit", "1") as seen:
        seen.wait_for("ready")
        seen.interrupt()
        assert seen.end() == 1
        assert "nothing was changed" in seen.shown
    assert staging.get("1").body == "Staging is frozen until May"
    assert drafts(tmp_path) == [], "a copy of what may be a private note is no draft"


def test_a_draft_is_kept_where_an_editor_fails_after_something_was_written(
    staging: KnowledgeBase, editor: Callable[[str], None], tmp_path: Path
) -> None:
    editor('sed -i s/May/June/ "$1"\nexit 3')
    with terminal("edit", "1") as seen:
        assert seen.end() == 1
        assert "Your draft is kept: " in seen.shown
    assert staging.get("1").body == "Staging is frozen until May"
    assert ["until June" in draft for draft in drafts(tmp_path)] == [True]


@pytest.mark.parametrize("columns", [50, 80])
@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_no_wider_than_the_terminal(name: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    help_text = build_parser(name)[0].format_help()
    _usage, _, text = help_text.partition("\n\n")  # choices in a usage are never broken by argparse
    text, _, _examples = text.partition("\nexamples:\n")  # these are to be copied whole
    assert [line for line in text.splitlines() if len(line) > columns] == []
