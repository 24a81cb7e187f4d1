"""A process that is killed at any moment loses nothing that it had confirmed."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from processes import contents, kill, start, temporaries

from co_cli import KnowledgeBase
from co_cli.errors import NotFound

OPERATING = """
import difflib, json, random, sys, yaml
from co_cli import open_knowledge
seed, sequence = sys.argv[1:]
chance = random.Random(seed)
kb = open_knowledge()
kb.log()
print(json.dumps(["ready"]), flush=True)
for number in range(1000):
    notes = kb.list().notes
    operation = chance.choice(["save", "save", "edit", "edit", "forget"]) if len(notes) > 5 else "save"
    text = f"life_{sequence}_fact_{number} " + "word " * chance.choice([1, 50, 5000])
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

MOST_OPERATIONS = 12
"""How many a life has, plus what it does in the milliseconds that it is left after that."""

WRITTEN_BY_HAND = {
    "001-plain.md": b"---\nid: 1\ncreated: 2026-02-09T14:30:00+00:00\n---\n\nWritten by hand.\n",
    "windows.md": b"\xef\xbb\xbf---\r\nid: 7 # lucky\r\ncreated: 2026-02-09T14:30:00Z\r\n---\r\nWith a mark.\r\n",
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


def live_until_killed(seed: int, sequence: int, chance: random.Random) -> list[list[object]]:
    """Let a process work on the vault, kill it at a random moment, and return what it had said until then."""
    process = start(OPERATING, seed + sequence, sequence)
    try:
        assert process.stdout is not None
        said = [process.stdout.readline()]
        assert json.loads(said[0]) == ["ready"], process.stderr
        said += [process.stdout.readline() for _ in range(chance.randrange(2 * MOST_OPERATIONS))]
        time.sleep(chance.uniform(0, 0.010))
        assert process.poll() is None, "it should have gone on"
        os.kill(process.pid, signal.SIGKILL)
        said += process.stdout.read().splitlines(keepends=True)
    finally:
        kill(process)
    return [json.loads(line) for line in said if line.endswith("\n")]


@pytest.mark.slow
def test_a_process_killed_at_random_moments_loses_nothing_that_it_confirmed(kb: KnowledgeBase, vault: Path, tmp_path: Path):
    for name, raw in WRITTEN_BY_HAND.items():
        (vault / "memories" / name).write_bytes(raw)
    first = {note.id or 0: note.body for note in kb.list().notes}
    expected = Expected(first, written=set(first.values()))
    seed = 20_260_209
    chance = random.Random(seed)
    lives = 0

    while lives < 40 or expected.confirmed < 200:
        lives += 1
        possible = expected.after(live_until_killed(seed, lives, chance))

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
