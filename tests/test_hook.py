"""What the hooks of other agents run: the context, quickly, and never a fault."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Co

from co_cli import KnowledgeBase, open_knowledge

HOOK = (sys.executable, "-m", "co_cli", "hook")


def log(kb: KnowledgeBase) -> str:
    return (Path(kb.places.state) / "hook.log").read_text()


@pytest.mark.parametrize("name", ["session-start", "pre-compact"])
def test_a_hook_prints_the_context_without_private_notes(co: Co, kb: KnowledgeBase, name: str) -> None:
    kb.save("Herons nest in colonies", pinned=True)
    kb.save("The nest is behind the mill", pinned=True, private=True)
    kb.write_topic("deploy_steps", "1. Tag")
    from co_cli.tools import Caller, knowledge_search

    knowledge_search(kb, "tag", Caller("mcp"))
    assert co("hook", name) == 0
    assert "Herons nest in colonies" in co.out
    assert "- deploy_steps" in co.out
    assert "mill" not in co.out


def test_without_notes_a_hook_prints_nothing(co: Co) -> None:
    assert co("hook", "session-start") == 0
    assert co.out == ""


def test_the_project_is_the_one_that_claude_code_names(co: Co, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other"
    other.mkdir()
    open_knowledge(other).save("Herons nest in colonies", pinned=True)
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(other))
    assert co("hook", "session-start") == 0
    assert "Herons nest" in co.out


def test_a_fault_is_a_line_in_the_log_and_nothing_else(co: Co, kb: KnowledgeBase) -> None:
    assert co("hook", "no-such-hook") == 0
    assert (co.out, co.err) == ("", "")
    assert "no-such-hook not_found: There is no hook" in log(kb)


@pytest.mark.parametrize("given", [["session-start", "--of-another-version"], [], ["session-start", "--client"], ["a", "b"]])
@pytest.mark.parametrize("json", [[], ["--json"]])
def test_arguments_that_are_not_known_are_a_line_in_the_log_and_nothing_else(
    kb: KnowledgeBase, given: list[str], json: list[str]
) -> None:
    done = subprocess.run([*HOOK, *given, *json], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert " ? invalid: " in log(kb)


def test_a_vault_that_cannot_be_read_stops_no_session(co: Co, kb: KnowledgeBase, project: Path) -> None:
    (project / ".co-cli").write_text("a file where a folder should be")
    assert co("hook", "session-start") == 0
    assert (co.out, co.err) == ("", "")


def test_a_home_that_is_not_there_stops_no_session() -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("CO_", "XDG_"))}
    done = subprocess.run([*HOOK, "session-start"], env={**env, "HOME": "/"}, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_reader_that_is_gone_is_no_fault(kb: KnowledgeBase) -> None:
    kb.save("Herons nest in colonies", pinned=True)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*HOOK, "session-start"], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_log_does_not_grow_without_end(co: Co, kb: KnowledgeBase) -> None:
    path = Path(kb.places.state) / "hook.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x" * 100_000)
    co("hook", "no-such-hook")
    assert path.stat().st_size < 1000


@pytest.mark.slow
def test_a_hook_costs_less_than_150_milliseconds(kb: KnowledgeBase) -> None:
    for number in range(200):
        kb.save(f"Heron number {number} was seen at the lake", pinned=number < 20)
        kb.write_topic(f"lake_{number}", f"What is known of lake {number}", tags=["search"])
    from co_cli.tools import Caller, knowledge_search

    knowledge_search(kb, "lake", Caller("mcp"))
    costs = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*HOOK, "session-start"], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        costs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(costs) <= 0.150
