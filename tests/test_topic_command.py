"""`co topic`: the shared documents from the command line."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from co_cli.surfaces.cli.main import main


class Co:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.out = self.err = ""

    def __call__(self, *argv: str) -> int:
        code = main(["topic", *argv])
        self.out, self.err = self._capsys.readouterr()
        return code

    def json(self, *argv: str) -> dict:
        self(*argv, "--json")
        return json.loads(self.out)


@pytest.fixture
def topic(capsys: pytest.CaptureFixture[str]) -> Co:
    return Co(capsys)


def test_a_topic_is_written_shown_searched_listed_and_deleted(topic: Co) -> None:
    assert topic("write", "Deploy Steps", "1. Tag.", "2. Push.", "-t", "ops,release") == 0
    assert topic.out.startswith("✓ Created topic:deploy_steps\nLocation: ")
    assert topic("show", "deploy-steps") == 0
    assert topic.out == "1. Tag. 2. Push.\n"
    assert topic("search", "push") == 0
    assert topic.out == "[topic:deploy_steps] #ops #release\n1. Tag. 2. Push.\n"
    assert "1 topic · grep" in topic.err
    assert topic("list") == 0
    assert topic.out.splitlines()[-1] == "| deploy_steps | ops,release | user |"
    assert topic("delete", "deploysteps") == 0
    assert topic.out == "✓ Deleted topic:deploy_steps\n"
    assert topic("show", "deploy_steps") == 3
    assert topic("list") == 0
    assert topic.out == "0 knowledge entries.\n"


def test_a_text_may_come_from_a_file_or_from_stdin(topic: Co, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "steps.md").write_bytes(b"\xef\xbb\xbf# Steps\r\n\r\n1. T\xc3\xa4g\r\n")
    assert topic("write", "steps", "--file", str(tmp_path / "steps.md")) == 0
    assert topic.json("show", "steps")["content"] == "# Steps\n\n1. Täg"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"# Mehr\n")))
    assert topic("write", "steps", "-", "--global") == 0
    assert topic.json("show", "g:steps")["content"] == "# Mehr"
    assert topic("write", "steps", "--file", str(tmp_path / "gone.md")) == 1
    assert topic("write", "steps") == 2
    assert topic("write", "steps", "words", "--file", "too") == 2


def test_a_hash_guards_against_writing_over_what_was_not_read(topic: Co) -> None:
    assert topic("write", "steps", "one", "--expected", "") == 0
    sha = topic.json("show", "steps")["sha"]
    assert topic.json("write", "steps", "two", "--expected", sha)["outcome"] == "updated"
    assert topic("write", "steps", "three", "--expected", sha) == 4
    assert topic.json("show", "steps")["content"] == "two"


def test_programs_get_json(topic: Co) -> None:
    written = topic.json("write", "steps", "one two", "-t", "a")
    assert (written["ref"], written["outcome"], written["tags"]) == ("topic:steps", "created", ["a"])
    assert topic.json("list")["topics"][0]["id"] == "steps"
    found = topic.json("search", "two")
    assert (found["count"], found["results"][0]["ref"], found["mode"]) == (1, "topic:steps", "grep")
    assert topic.json("delete", "steps")["deleted"][0]["ref"] == "topic:steps"
    assert topic.json("delete", "steps")["error"]["kind"] == "not_found"


def test_all_names_are_known_before_the_first_topic_goes(topic: Co) -> None:
    topic("write", "one", "text")
    assert topic("delete", "one", "two") == 3
    assert topic("show", "one") == 0
