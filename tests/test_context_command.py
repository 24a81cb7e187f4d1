"""``co context``: what fills the knowledge in every prompt, and how much room there is in a model's window."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import Co

from co_cli.context import SIZE_LIMIT, SMALLEST, limit_for


def fill(co: Co, project: Path) -> None:
    co("init")
    context = project / ".co-cli" / "knowledge" / "context.md"
    context.write_text("# Project\n\nco is a tool.\n\n## Style\n\n- Indent: four blanks\n")
    co("learn", "Tabs are for makefiles.", "--pin")
    co("learn", "Answer briefly. " + "And kindly. " * 150, "--pin", "--force")


def test_it_lists_every_piece_with_its_size(co: Co, project: Path) -> None:
    fill(co, project)

    assert co("context") == 0

    lines = co.out.splitlines()
    assert lines[0] == "Project Context"
    assert [line.split(maxsplit=1)[1] for line in lines[1:3]] == ["Project", "Style"]
    assert lines[3] == "Pinned Memories"
    assert lines[4].endswith("1: Tabs are for makefiles.")
    assert lines[-1].startswith("Would go first: 2: Answer briefly.")
    assert "cut above 20480" in co.err


def test_in_a_small_window_it_says_what_is_cut_off(co: Co, project: Path) -> None:
    fill(co, project)

    data = co.json("context", "--window", "600")

    assert data["knowledge"]["limit"] == 1200
    assert data["knowledge"]["sent"] <= 1200
    assert [(item["label"][:6], item["kept"]) for item in data["items"]] == [
        ("Projec", True),
        ("Style", True),
        ("1: Tab", True),
        ("2: Ans", False),
    ]
    assert "for the window of this model" in co.err


def test_the_share_of_the_window_is_a_setting(co: Co, project: Path) -> None:
    fill(co, project)
    co("config", "set", "context_share", "80")

    assert co.json("context", "--window", "600")["knowledge"]["limit"] == 1920

    co("config", "set", "context_share", "0")
    assert co.json("context", "--window", "600")["knowledge"]["limit"] == SIZE_LIMIT


def test_the_prompt_of_a_small_model_keeps_within_its_share(co: Co, project: Path) -> None:
    fill(co, project)
    co("config", "set", "model_window", "800")

    assert co.json("prompt")["knowledge"]["sent"] <= 1600


@pytest.mark.parametrize(
    ("window", "share", "limit"), [(0, 20, SIZE_LIMIT), (8000, 20, 6400), (1_000_000, 20, SIZE_LIMIT), (100, 20, SMALLEST)]
)
def test_the_room_follows_the_window(window: int, share: int, limit: int) -> None:
    assert limit_for(window, share) == limit
