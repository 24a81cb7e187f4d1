"""A process that dies at any step of taking in, replacing or removing an article leaves it whole, with its original, or not
there at all."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest
from processes import finish, kill, run, start, temporaries
from test_every_step import DYING

from co_cli import KnowledgeBase, open_knowledge
from co_cli.attachment import Attachment
from co_cli.journal import LARGE

PREPARE = """
from co_cli.attachment import Attachment
from co_cli.journal import LARGE
import random
OLD, NEW = (random.Random(seed).randbytes(LARGE + 5) for seed in (1, 2))

def take(kb, text, raw, place="a"):
    kb.save_article(text, source=f"https://{place}.example/", title="Herons", attachment=Attachment(f"{place}.pdf", raw))

def prepare(kb):
    if operation != "add":
        take(kb, "old", OLD)
    if operation == "forget-shared":
        take(kb, "twin", OLD, "b")
    if operation == "undo":
        kb.forget(["article:herons"])

def operate(kb):
    match operation:
        case "add": take(kb, "new", NEW)
        case "replace": take(kb, "new", NEW)
        case "forget" | "forget-shared": kb.forget(["article:herons"])
        case "private": kb.update("article:herons", private=True)
        case "undo": kb.undo()
"""
OLD, NEW = (random.Random(seed).randbytes(LARGE + 5) for seed in (1, 2))
GONE, THERE, NEWER = {}, {"old": OLD}, {"new": NEW}
STATES = {
    "add": (GONE, NEWER),
    "replace": (THERE, NEWER),
    "forget": (THERE, GONE),
    "forget-shared": ({"old": OLD, "twin": OLD}, {"twin": OLD}),
    "private": (THERE, THERE),
    "undo": (GONE, THERE),
}
"""The texts of the articles with their originals, before each operation and after it."""


def script() -> str:
    before, _, rest = DYING.partition("def prepare(kb):")
    return before + PREPARE + rest.partition("def lives(")[1] + rest.partition("def lives(")[2]


def kept(kb: KnowledgeBase) -> dict[str, bytes | None]:
    return {note.body: kb.original(note) for note in kb.articles().notes}


def settled_as(operation: str, project: Path) -> str:
    """Check what a death left, and that all works from there; returns which of the two states it came to."""
    before, after = STATES[operation]
    kb = open_knowledge(project)
    kb.log()  # whoever comes next settles what was left half done
    settled = kept(kb)
    assert settled in (before, after), operation
    wrong = {finding.problem.code for finding in kb.check().open}
    assert wrong <= {"not-ignored"}, "no original is lost, and none is left over"
    private = [note.private for note in kb.articles().notes]
    folder = project / ".co-cli" / "knowledge"
    for path in (*folder.glob("articles/*"), *folder.glob("attachments/*")):
        assert not path.name.count("-private") or path.stat().st_mode & 0o077 == 0
    kb.save_article("what came after", source="after.pdf", attachment=Attachment("after.pdf", b"%PDF"))
    assert temporaries(project, Path(kb.vaults[0].journal.folder)) == []
    while any(not entry.change.undone and entry.change.undoes is None for entry in kb.log()):
        kb.undo()
    assert kept(kb) == {}
    assert kb.originals()["project"].files == 0
    return "after" if settled == after and (operation != "private" or private == [True]) else "before"


@pytest.mark.slow
@pytest.mark.parametrize("operation", STATES)
def test_a_death_before_any_step_leaves_an_article_with_its_original_or_neither(operation: str, tmp_path: Path):
    run(script(), tmp_path / "projects", operation, "once")
    projects = sorted((tmp_path / "projects").iterdir())
    outcomes = Counter(settled_as(operation, project) for project in projects)
    assert len(projects) > 12, "so many steps there are at least"
    assert outcomes["before"] > 3
    assert outcomes["after"] > 1


ADDING = """
import json, sys
from co_cli import open_knowledge
from co_cli.articles import intake
intake.PORTION = 7
kb = open_knowledge()
for entry in intake.take_in(kb, ["docs"], intake.Wish()):
    print(json.dumps([entry.outcome, entry.source]), flush=True)
"""


@pytest.mark.slow
def test_a_folder_that_is_taken_in_by_processes_which_are_killed_is_taken_in_once(kb: KnowledgeBase, project: Path):
    docs = project / "docs"
    docs.mkdir()
    for number in range(120):
        text = f"Paper {number} about herons.".encode("utf-16") if number % 3 else f"# Paper {number}\n\nHerons.".encode()
        (docs / f"paper-{number:03}.{'txt' if number % 3 else 'md'}").write_bytes(text)
    time.sleep(0.06)
    chance = random.Random(20_260_209)
    confirmed: set[str] = set()
    killed = 0
    while killed < 5:
        process = start(ADDING)
        try:
            assert process.stdout is not None
            said = [process.stdout.readline() for _ in range(len(confirmed) + chance.randrange(1, 20))]
            time.sleep(chance.uniform(0, 0.02))
            os.kill(process.pid, signal.SIGKILL)
            said += process.stdout.read().splitlines(keepends=True)
        finally:
            kill(process)
        killed += 1
        lines = [json.loads(line) for line in said if line.endswith("\n")]
        assert {outcome for outcome, _ in lines} <= {"added", "unchanged"}
        assert {source for outcome, source in lines if outcome == "added"}.isdisjoint(confirmed), "what is done is done"
        confirmed.update(source for _, source in lines)
        kb.log()
        assert {f"docs/{Path(note.source).name}" for note in kb.articles().notes} >= confirmed
        assert kb.check().open == ()
    assert confirmed

    finish(start(ADDING))
    assert len(kb.articles().notes) == 120
    assert len({note.source for note in kb.articles().notes}) == 120
    assert kb.originals()["project"].files == 80
    assert temporaries(project) == []
