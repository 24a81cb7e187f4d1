"""A process that dies at any step of a change leaves each file as it was before, or as it was to become."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from processes import run, temporaries

from co_cli import KnowledgeBase, open_knowledge

# Dies just before its n-th step that can be seen on disk, for each n until it lives to the end; each time in a project of
# its own. With "twice" the process that finds what was left dies as well, at each of its own steps; with "interrupted" it
# does not die, but somebody presses Ctrl-C at that moment.
DYING = """
import itertools, json, os, sys
from co_cli import open_knowledge

base, operation, how = sys.argv[1:]
DIED = 99
STEPS = ("replace", "link", "unlink", "fsync", "fchmod", "mkdir", "close")

def die_before(step):
    count = itertools.count(1)
    def counted(function):
        def call(*arguments, **options):
            if next(count) == step:
                if how == "interrupted":
                    raise KeyboardInterrupt
                os._exit(DIED)
            return function(*arguments, **options)
        return call
    for name in STEPS:
        setattr(os, name, counted(getattr(os, name)))
    reading, writing = os.open, counted(os.open)
    os.open = lambda path, flags, *rest: (writing if flags & os.O_CREAT else reading)(path, flags, *rest)

def prepare(kb):
    if operation == "first":
        return
    kb.save("the first fact", private=True)
    kb.save("the second fact", private=True)
    kb.save("the third fact")
    if operation == "restore":
        kb.archive(["1"])
    elif operation == "undo":
        kb.forget(["2"])
    elif operation == "undo-two":
        kb.forget(["1", "2"])

def operate(kb):
    match operation:
        case "first": kb.save("the very first fact")
        case "save": kb.save("the fourth fact")
        case "edit": kb.update("1", content="the first fact, edited")
        case "forget": kb.forget(["1"])
        case "forget-two": kb.forget(["1", "2"])
        case "archive": kb.archive(["1"])
        case "restore": kb.archive(["1"], restore=True)
        case "undo" | "undo-two": kb.undo()

def lives(action, kb, step):
    child = os.fork()
    if not child:
        status = 1
        try:
            die_before(step)
            action(kb)
            status = 0
        except KeyboardInterrupt:
            status = DIED
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, DIED), status
    return status == 0

def recover(kb):
    kb.log()

for step in itertools.count(1):
    for second in itertools.count(1):
        os.makedirs(f"{base}/{step:03}-{second:03}")
        kb = open_knowledge(f"{base}/{step:03}-{second:03}")
        prepare(kb)
        lived = lives(operate, kb, step)
        if how != "twice" or lived or lives(recover, kb, second):
            break
    if lived:
        break
"""

FIRST, SECOND, THIRD = {1: "the first fact"}, {2: "the second fact"}, {3: "the third fact"}
ALL = {**FIRST, **SECOND, **THIRD}
STATES = {
    "first": ({}, {1: "the very first fact"}),
    "save": (ALL, {**ALL, 4: "the fourth fact"}),
    "edit": (ALL, {**ALL, 1: "the first fact, edited"}),
    "forget": (ALL, {**SECOND, **THIRD}),
    "forget-two": (ALL, THIRD),
    "archive": (ALL, {**SECOND, **THIRD}),
    "restore": ({**SECOND, **THIRD}, ALL),
    "undo": ({**FIRST, **THIRD}, ALL),
    "undo-two": (THIRD, ALL),
}
"""The notes before each operation, and after it."""
LOGGED = {"first": 0, "restore": 4, "undo": 4, "undo-two": 4}
"""How many changes there were before, where it is not three."""


def notes(kb: KnowledgeBase, *, archived: bool = False) -> dict[int, str]:
    """The text of every note by its id; all of them whole, and no id there twice."""
    listing = kb.list(archived=archived)
    assert listing.problems == ()
    assert len({note.id for note in listing.notes}) == len(listing.notes)
    return {note.id or 0: note.body for note in listing.notes}


def settled_as(operation: str, project: Path) -> str:
    """Check what a death left, and that all works from there; returns which of the two states it came to."""
    before, after = STATES[operation]
    kb = open_knowledge(project)
    assert notes(kb).items() <= before.items() | after.items(), "torn"

    kb.log()  # whoever comes next settles what was left half done
    settled = notes(kb)
    archived = notes(kb, archived=True)
    assert settled in (before, after)
    assert len(kb.log()) == LOGGED.get(operation, 3) + (settled == after), "the log says what happened"
    if operation in ("archive", "restore"):
        assert {**settled, **archived} == ALL
        assert not settled.keys() & archived.keys()
    else:
        assert archived == {}
    for note in kb.list().notes:
        if note.id in (1, 2) and operation != "first":
            assert note.private
            assert Path(note.path).stat().st_mode & 0o077 == 0

    fresh = kb.save("what came after").note.id or 0
    assert fresh == max([0, *settled, *archived]) + 1
    assert notes(kb) == {**settled, fresh: "what came after"}
    assert temporaries(project, Path(kb.vaults[0].journal.folder)) == []
    assert kb.vaults[0].journal.pending() == []

    kb.undo()
    assert notes(kb) == settled
    return "after" if settled == after else "before"


@pytest.mark.slow
@pytest.mark.parametrize("operation", STATES)
def test_a_death_before_any_step_leaves_the_old_or_the_new(operation: str, tmp_path: Path):
    run(DYING, tmp_path / "projects", operation, "once")
    projects = sorted((tmp_path / "projects").iterdir())
    settled = [settled_as(operation, project) for project in projects]
    outcomes = Counter(settled)

    assert len(projects) > 8, "so many steps there are at least"
    assert settled[0] == "before"
    assert settled[-1] == "after"
    assert outcomes["before"] > 3
    assert outcomes["after"] > 3, "what was all in place is not taken back"


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["save", "edit", "archive", "forget-two"])
def test_an_interruption_at_any_step_leaves_the_old_or_the_new(operation: str, tmp_path: Path):
    run(DYING, tmp_path / "projects", operation, "interrupted")
    projects = sorted((tmp_path / "projects").iterdir())

    assert {settled_as(operation, project) for project in projects} == {"before", "after"}
    assert len(projects) > 8, "so many steps there are at least"


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["archive", "forget-two"])
def test_a_death_while_another_death_is_being_settled_does_no_harm(operation: str, tmp_path: Path):
    run(DYING, tmp_path / "projects", operation, "twice")
    projects = sorted((tmp_path / "projects").iterdir())

    assert {settled_as(operation, project) for project in projects} == {"before", "after"}
    assert any(project.name.endswith("-005") for project in projects), "settling has steps to die at"
