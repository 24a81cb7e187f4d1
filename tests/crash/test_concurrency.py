"""Many writers at once: nothing is lost, no id is given twice, and who has to wait is told so."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from processes import finish, kill, start, temporaries, within

from co_cli import KnowledgeBase, open_knowledge
from co_cli.errors import Unavailable
from co_cli.files import locked

SAVING = """
import sys
from co_cli import open_knowledge
who, count = sys.argv[1:]
kb = open_knowledge()
print('"ready"', flush=True)
sys.stdin.readline()
for number in range(int(count)):
    print(kb.save(f"process_{who}_remembers_fact_{number}").note.id)
"""

EDITING = """
import json, sys
from co_cli import CoError, open_knowledge
who, count = sys.argv[1:]
kb = open_knowledge()
print('"ready"', flush=True)
sys.stdin.readline()
for number in range(int(count)):
    text = f"edit {number} of {who}"
    try:
        kb.update("1", content=text)
        print(json.dumps(["confirmed", text[:40]]))
    except CoError as error:
        print(json.dumps([error.kind, error.details]))
"""

COUNTING = """
import sys
from co_cli import open_knowledge
from co_cli.errors import Conflict
kb = open_knowledge()
print('"ready"', flush=True)
sys.stdin.readline()
left = int(sys.argv[1])
while left:
    note = kb.get("1")
    count = int(note.body.split()[-1])
    try:
        kb.update("1", content=f"The count is {count + 1}", expected_sha=note.sha)
        left -= 1
    except Conflict:
        pass
"""

HOLDING = """
import sys, time
from co_cli.files import locked
with locked(sys.argv[1]):
    print("held", flush=True)
    time.sleep(600)
"""


def all_at_once(processes: list[subprocess.Popen[str]]) -> list[list[object]]:
    """Let processes that say when they are ready begin at the same moment; returns what each wrote after that."""
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == '"ready"\n'
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        return [finish(process) for process in processes]
    finally:
        for process in processes:
            kill(process)


@contextmanager
def lock_held(folder: Path) -> Iterator[int]:
    """Another process that holds the lock of a folder; its id is there to kill it."""
    process = start(HOLDING, folder)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process.pid
    finally:
        kill(process)


@pytest.mark.slow
def test_sixteen_processes_that_save_fifty_memories_each_lose_none(kb: KnowledgeBase, vault: Path, tmp_path: Path):
    confirmed = all_at_once([start(SAVING, who, 50) for who in range(16)])

    ids = [note_id for of_one_process in confirmed for note_id in of_one_process]
    assert len(ids) == 800
    assert set(ids) == set(range(1, 801))

    listing = kb.list()
    assert listing.problems == ()
    assert len(list((vault / "memories").iterdir())) == 800
    assert {note.body for note in listing.notes} == {
        f"process_{who}_remembers_fact_{number}" for who in range(16) for number in range(50)
    }
    assert {note.id for note in listing.notes} == set(ids)
    assert temporaries(tmp_path) == []

    changes = kb.log(limit=10_000)
    assert len(changes) == 800
    assert {entry.change.paths for entry in changes} == {(f"memories/{Path(note.path).name}",) for note in listing.notes}


def test_threads_that_share_a_knowledge_base_lose_nothing(kb: KnowledgeBase, vault: Path, tmp_path: Path):
    def save(number: int) -> int | None:
        return kb.save(f"a thread remembers fact {number}").note.id

    with ThreadPoolExecutor(8) as threads:
        ids = list(threads.map(save, range(64)))

    assert set(ids) == set(range(1, 65))
    assert {note.body for note in kb.list().notes} == {f"a thread remembers fact {number}" for number in range(64)}
    assert len(kb.log(limit=1000)) == 64
    assert temporaries(tmp_path) == []


def test_processes_that_save_the_same_text_keep_it_once(kb: KnowledgeBase):
    same = SAVING.replace("process_{who}", "everybody")
    confirmed = all_at_once([start(same, who, 3) for who in range(4)])

    assert len({tuple(ids) for ids in confirmed}) == 1
    assert len(kb.list().notes) == 3


def test_of_two_processes_that_edit_one_note_each_edit_is_made_or_refused(kb: KnowledgeBase):
    first = kb.save("before anyone edited it").note
    results = [result for results in all_at_once([start(EDITING, who, 40) for who in "ab"]) for result in results]

    outcomes = Counter(outcome for outcome, _ in results)
    assert set(outcomes) <= {"confirmed", "conflict"}
    assert outcomes.total() == 80
    confirmed = [text for outcome, text in results if outcome == "confirmed"]
    assert kb.get("1").body in confirmed
    assert all(details for outcome, details in results if outcome == "conflict")

    # Each edit started from what the one before it had left: none was written over unseen.
    journal = kb.vaults[0].journal
    edits = [journal.steps(change.number) for change in journal.changes() if change.operation == "edit"][::-1]
    assert len(edits) == len(confirmed)
    befores, afters = [edit[0].before for edit in edits], [edit[0].after for edit in edits]
    assert befores == [first.raw, *afters[:-1]]
    assert afters[-1] == Path(first.path).read_bytes()


def test_a_count_kept_in_a_note_by_three_processes_comes_out_right(kb: KnowledgeBase):
    kb.save("The count is 0")
    all_at_once([start(COUNTING, 15) for _ in range(3)])
    assert kb.get("1").body == "The count is 45"


def test_two_processes_that_undo_the_same_change_undo_it_once(kb: KnowledgeBase):
    kb.save("one")
    kb.save("two")
    script = EDITING.replace('kb.update("1", content=text)', 'kb.undo("p2")')
    results = [result for results in all_at_once([start(script, who, 1) for who in "abc"]) for result in results]

    assert sorted(outcome for outcome, _ in results) == ["confirmed", "conflict", "conflict"]
    assert [note.body for note in kb.list().notes] == ["one"]


def test_a_lock_that_another_process_keeps_is_an_error_after_a_while(vault: Path):
    with lock_held(vault):
        began = time.monotonic()
        with pytest.raises(Unavailable) as caught, locked(str(vault), patience=0.3):
            pytest.fail("two processes hold the lock")
        assert 0.3 <= time.monotonic() - began < 3
    assert str(vault) in caught.value.message
    assert "Nothing was changed" in caught.value.hint


def test_the_lock_of_a_killed_process_is_free_at_once(vault: Path):
    with lock_held(vault) as pid:
        os.kill(pid, signal.SIGKILL)
        with locked(str(vault), patience=5):
            pass


def test_a_thread_waits_for_the_lock_as_a_process_does(vault: Path):
    def try_it() -> str:
        try:
            with locked(str(vault), patience=0.1):
                return "held twice"
        except Unavailable:
            return "refused"

    with ThreadPoolExecutor(1) as other, locked(str(vault)):
        assert other.submit(try_it).result() == "refused"


def test_a_save_waits_until_the_lock_is_free(kb: KnowledgeBase, vault: Path):
    with lock_held(vault) as pid:
        release = threading.Timer(0.3, os.kill, (pid, signal.SIGKILL))
        release.start()
        began = time.monotonic()
        kb.save("worth waiting for")
        assert time.monotonic() - began >= 0.25
        release.join()
    assert [note.body for note in kb.list().notes] == ["worth waiting for"]


def test_reading_does_not_wait_for_the_lock(kb: KnowledgeBase, vault: Path):
    kb.save("always readable")
    with lock_held(vault):
        began = time.monotonic()
        assert kb.recall("readable").hits[0].note.body == "always readable"
        assert len(kb.list().notes) == 1
        assert kb.get("1").body == "always readable"
        assert len(kb.log()) == 1
        assert kb.context().text == ""
        assert time.monotonic() - began < 5


def test_a_reader_never_sees_half_a_note(kb: KnowledgeBase, project: Path):
    kb.save("edit 0 of nobody")
    writer = start(EDITING, "a " + "long " * 20_000, 20)
    try:
        assert writer.stdout is not None
        assert writer.stdin is not None
        writer.stdout.readline()
        writer.stdin.write("go\n")
        writer.stdin.flush()
        reader, seen = open_knowledge(project), set()
        with within(60):
            while writer.poll() is None:
                listing = reader.list()
                assert listing.problems == ()
                seen.add(listing.notes[0].body)
    finally:
        kill(writer)
    assert len(seen) > 5
    assert all(text == "edit 0 of nobody" or text.endswith("long") for text in seen)
