"""A process that is killed leaves whole files: each as it was before, or as it was to become."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from processes import contents, kill, run, start, temporaries

from co_cli import KnowledgeBase, open_knowledge
from co_cli.errors import NotFound

# ------------------------------------------------------------------------------------------------------ at random moments

OPERATING = """
import json, random, sys
from co_cli import open_knowledge
seed, sequence = sys.argv[1:]
chance = random.Random(seed)
kb = open_knowledge()
print(json.dumps(["ready"]), flush=True)
for number in range(1000):
    notes = kb.list().notes
    operation = chance.choice(["save", "save", "edit", "edit", "forget"]) if len(notes) > 5 else "save"
    text = f"life {sequence} fact {number} " + "word " * chance.choice([1, 50, 5000])
    target = chance.choice(notes).id if operation != "save" else None
    print(json.dumps(["try", operation, target, text.strip()]), flush=True)
    if operation == "save":
        target = kb.save(text).note.id
    elif operation == "edit":
        kb.update(str(target), content=text)
    else:
        kb.forget([str(target)])
    print(json.dumps(["done", operation, target, text.strip()]), flush=True)
"""

WRITTEN_BY_HAND = {
    "001-plain.md": b"---\nid: 1\ncreated: 2026-02-09T14:30:00+00:00\n---\n\nWritten by hand.\n",
    "windows.md": b"\xef\xbb\xbf---\r\nid: 7 # lucky\r\ncreated: 2026-02-09T14:30:00Z\r\nmood: fine\r\n---\r\nWith a mark.\r\n",
}


@dataclass
class Expected:
    """What must be in the vault, going by what was confirmed."""

    notes: dict[int, str]
    confirmed: int = 0
    interrupted: int = 0
    written: set[str] = field(default_factory=set)

    def after(self, lines: list[list[object]]) -> list[dict[int, str]]:
        """Take in what one life said; returns the states that may be found after it."""
        unconfirmed: list[object] | None = None
        for what, *operation in lines:
            if what == "try":
                unconfirmed = operation
                self.written.add(str(operation[2]))
            elif what == "done":
                self.notes = self._with(operation)
                self.confirmed += 1
                unconfirmed = None
        if unconfirmed is None:
            return [self.notes]
        self.interrupted += 1
        if unconfirmed[0] == "save":
            # The id that it would have been given: one more than the largest.
            unconfirmed = ["save", max(self.notes) + 1, unconfirmed[2]]
        return [self.notes, self._with(unconfirmed)]

    def _with(self, operation: list[object]) -> dict[int, str]:
        name, target, text = operation
        assert isinstance(target, int)
        changed = dict(self.notes)
        changed.pop(target, None)
        return changed if name == "forget" else {**changed, target: str(text)}


def live_until_killed(seed: int, sequence: int, seconds: float) -> list[list[object]]:
    """Let a process work on the vault, kill it after a while, and return what it had said until then."""
    process = start(OPERATING, seed + sequence, sequence)
    try:
        assert process.stdout is not None
        said = [process.stdout.readline()]
        assert json.loads(said[0]) == ["ready"], process.stderr
        time.sleep(seconds)
        assert process.poll() is None, "it should have gone on"
        os.kill(process.pid, signal.SIGKILL)
        said += process.stdout.read().splitlines(keepends=True)
    finally:
        kill(process)
    return [json.loads(line) for line in said if line.endswith("\n")]


@pytest.mark.slow
def test_a_process_killed_at_random_moments_loses_nothing_that_it_confirmed(
    kb: KnowledgeBase, vault: Path, tmp_path: Path
):
    for name, raw in WRITTEN_BY_HAND.items():
        (vault / "memories" / name).write_bytes(raw)
    first = {note.id or 0: note.body for note in kb.list().notes}
    expected = Expected(first, written=set(first.values()))
    seed = 20_260_209
    chance = random.Random(seed)
    lives = 0

    while lives < 40 or expected.confirmed < 200:
        lives += 1
        possible = expected.after(live_until_killed(seed, lives, chance.uniform(0, 0.06)))

        listing = kb.list()
        assert listing.problems == (), f"a file is not whole after life {lives}"
        found = {note.id or 0: note.body for note in listing.notes}
        assert len(found) == len(listing.notes), f"an id is there twice after life {lives}"
        assert set(found.values()) <= expected.written
        assert found in possible, f"after life {lives}"
        # The change that was under way is now settled: the next life starts from a state that does not change any more.
        kb.log()
        settled = {note.id or 0: note.body for note in kb.list().notes}
        assert settled in possible, f"after settling life {lives}"
        expected.notes = settled
        assert lives < 400, "too slow to be killed in the middle of anything"

    assert expected.interrupted >= 10, "hardly a kill hit an operation"
    kb.save("the last word")
    assert temporaries(vault / "memories") == []
    assert not list(tmp_path.rglob("*.pending"))

    undone = 0
    while True:
        try:
            kb.undo()
        except NotFound:
            break
        undone += 1
    assert undone >= expected.confirmed + 1
    assert contents(vault / "memories") == WRITTEN_BY_HAND
    assert temporaries(tmp_path) == []


# ------------------------------------------------------------------------------------------------------- at every step

# Dies just before its n-th step that would be seen on disk, for each n until it lives to the end; each time in a project
# of its own. With a second number the process after it, which finds what was left, dies as well, before that many steps.
DYING = """
import itertools, json, os, sys
from co_cli import open_knowledge

base, operation, recovering = sys.argv[1:]
DIED, STEPS = 99, ("replace", "link", "unlink", "fsync", "fchmod", "mkdir", "close")

def die_before(last):
    count = itertools.count(1)
    def counted(function):
        def call(*arguments, **options):
            if next(count) == last:
                os._exit(DIED)
            return function(*arguments, **options)
        return call
    for name in STEPS:
        setattr(os, name, counted(getattr(os, name)))
    for_reading, opening = os.open, counted(os.open)
    os.open = lambda path, flags, *rest, **options: (
        opening if flags & (os.O_WRONLY | os.O_RDWR) else for_reading)(path, flags, *rest, **options)

def prepare(kb):
    kb.save("the first fact")
    kb.save("the second fact", private=True)
    kb.save("the third fact")
    if operation == "restore":
        kb.archive(["1"])
    if operation in ("undo", "undo-two"):
        kb.forget(["2"] if operation == "undo" else ["1", "2"])

def operate(kb):
    {
        "save": lambda: kb.save("the fourth fact"),
        "first": lambda: kb.save("the very first fact"),
        "edit": lambda: kb.update("1", content="the first fact, edited"),
        "forget": lambda: kb.forget(["1"]),
        "forget-two": lambda: kb.forget(["1", "2"]),
        "archive": lambda: kb.archive(["1"]),
        "restore": lambda: kb.archive(["1"], restore=True),
        "undo": lambda: kb.undo(),
        "undo-two": lambda: kb.undo(),
        "settle": lambda: kb.log(),
    }[operation]()

def ends(action, last):
    child = os.fork()
    if not child:
        status = 1
        try:
            die_before(last)
            action()
            status = 0
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, DIED), status
    return status == 0

def new(name):
    os.makedirs(f"{base}/{name}")
    kb = open_knowledge(f"{base}/{name}")
    if operation != "first":
        prepare(kb)
    return kb

for first in itertools.count(1):
    survived = False
    for second in itertools.count(1):
        kb = new(f"{first}-{second}")
        survived = ends(lambda: operate(kb), first)
        if recovering == "no" or survived or ends(kb.log, second):
            break
    if survived:
        break
print(json.dumps(first - 1))
"""

BEFORE = {1: "the first fact", 2: "the second fact", 3: "the third fact"}
AFTER = {
    "save": {**BEFORE, 4: "the fourth fact"},
    "first": {1: "the very first fact"},
    "edit": {**BEFORE, 1: "the first fact, edited"},
    "forget": {2: "the second fact", 3: "the third fact"},
    "forget-two": {3: "the third fact"},
    "archive": {2: "the second fact", 3: "the third fact"},
    "restore": BEFORE,
    "undo": BEFORE,
    "undo-two": BEFORE,
}
AT_FIRST = {
    "first": {},
    "restore": AFTER["archive"],
    "undo": {1: "the first fact", 3: "the third fact"},
    "undo-two": AFTER["forget-two"],
}


def project_vault(project: Path) -> Path:
    return project / ".co-cli" / "knowledge"


def notes(kb: KnowledgeBase, *, archived: bool = False) -> dict[int, str]:
    """All notes by id, which must be whole and there once."""
    listing = kb.list(archived=archived)
    assert listing.problems == ()
    assert len({note.id for note in listing.notes}) == len(listing.notes)
    return {note.id or 0: note.body for note in listing.notes}


def check_as_before_or_after(operation: str, project: Path) -> str:
    """What one death left, and that everything works from there; returns which of the two states was settled on."""
    before, after = AT_FIRST.get(operation, BEFORE), AFTER[operation]
    kb = open_knowledge(project)

    # Nothing is torn: each note is whole, and a text that only a death in between can leave is one of the two.
    for note in notes(kb).items():
        assert note in {**before, **after}.items() or note in before.items()

    kb.log()  # settles what was left half done
    settled = notes(kb)
    assert settled in (before, after)
    archived = notes(kb, archived=True)
    kept = {1: "the first fact"}
    if operation in ("archive", "restore"):
        assert archived == (kept if settled == AFTER["archive"] else {})
    else:
        assert archived == {}
    for note in kb.list().notes:
        if note.private:
            assert Path(note.path).stat().st_mode & 0o777 == 0o600
    newest = kb.log(limit=1)
    if settled == after and before != after:
        assert newest[0].change.operation == operation.split("-")[0].replace("first", "learn").replace("save", "learn")

    # The next operation works, and sweeps away what the dead process left.
    fresh = kb.save("what came after").note.id
    assert fresh == max({**before, **after, **settled, **archived, 0: ""} if operation == "first" else {
        **settled, **archived, 0: ""
    }) + 1 or fresh == max({**settled, **archived, 0: ""}) + 1
    assert notes(kb) == {**settled, fresh: "what came after"}
    assert temporaries(project_vault(project)) == []
    assert temporaries(Path(kb.vaults[0].journal.folder)) == []
    assert kb.vaults[0].journal.pending() == []

    # All the way back is still open.
    kb.undo()
    assert notes(kb) == settled
    return "after" if settled == after else "before"
