"""An index that is damaged, foreign, outdated or cut short: made anew from the notes, which are never touched."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from indexes import bodies, choose, files_of_index, put
from processes import AS_NOBODY, contents, finish, give_away, kill, open_to_all, start, within
from test_concurrency import all_at_once
from test_disk import OWN_MOUNTS, can_mount

from co_cli import KnowledgeBase, open_knowledge

COUNT = 60
RANKED = ("text", "vector", "hybrid")


@pytest.fixture
def searched(kb: KnowledgeBase, vault: Path) -> KnowledgeBase:
    """Knowledge of some notes with a whole index."""
    for number in range(1, COUNT + 1):
        put(vault, number, f"heron {number} stands in the water, rare{number}")
    choose(kb, embedder="fake")
    assert len(bodies(kb, "heron", "hybrid", limit=100)) == COUNT
    return kb


def check_right_again(kb: KnowledgeBase, vault: Path, *, said: str | None = "index-rebuilt") -> None:
    """The next query says what happened, and answers as if nothing had."""
    before = contents(vault)
    with within(60):
        found = kb.recall("rare7 heron", mode="hybrid", limit=100)
        assert found.mode == "hybrid"
        assert found.hits[0].note.id == 7
        assert len(found.hits) == COUNT
        if said:
            assert said in found.degraded
        again = kb.recall("rare7", mode="text")
        assert again.hits[0].note.id == 7
        assert again.degraded == ()
    assert contents(vault) == before


def set_version(number: int) -> Callable[[Path], None]:
    return lambda path: changed(path, f"PRAGMA user_version = {number}")


def changed(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def of_another_program(path: Path) -> None:
    path.unlink()
    changed(path, "CREATE TABLE theirs (x)", "INSERT INTO theirs VALUES ('precious')")


DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "older version": set_version(0),
    "newer version": set_version(99),
    "another analysis": lambda path: changed(path, "UPDATE meta SET value = 0 WHERE key = 'analysis'"),
    "no analysis": lambda path: changed(path, "DELETE FROM meta"),
    "a table is gone": lambda path: changed(path, "DROP TABLE totals"),
    "a row is gone": lambda path: changed(path, "DELETE FROM totals"),
    "no database": lambda path: path.write_bytes(b"heron " * 5000),
    "cut to half": lambda path: os.truncate(path, path.stat().st_size // 2),
    "cut to a page": lambda path: os.truncate(path, 4096),
    "cut in the header": lambda path: os.truncate(path, 50),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "first page": lambda path: path.write_bytes(b"\xff" * 4096 + path.read_bytes()[4096:]),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_an_index_that_cannot_be_used_is_made_anew_and_that_is_said(searched: KnowledgeBase, vault: Path, damage: str):
    DAMAGES[damage](vault / "knowledge.db")
    check_right_again(searched, vault)


def test_vectors_of_another_model_are_made_anew_and_that_is_said(searched: KnowledgeBase, vault: Path):
    changed(vault / "knowledge.db", "UPDATE meta SET value = 'another' WHERE key = 'embedder'")
    check_right_again(searched, vault, said="vectors-rebuilt")
    choose(searched, embedder="static")
    found = searched.recall("rare7", mode="hybrid")
    assert found.degraded == ("vectors-rebuilt",)
    assert found.hits[0].note.id == 7


def test_vectors_of_a_wrong_length_are_made_anew(searched: KnowledgeBase, vault: Path):
    changed(vault / "knowledge.db", "UPDATE vectors SET vector = x'010203'")
    check_right_again(searched, vault)


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_a_stray_file_of_another_index_is_harmless(searched: KnowledgeBase, vault: Path, ending: str):
    (vault / f"knowledge.db{ending}").write_bytes(b"\x37\x7f\x06\x82" + b"heron" * 10_000)
    check_right_again(searched, vault, said=None)


def test_the_database_of_another_program_is_left_alone(kb: KnowledgeBase, searched: KnowledgeBase, vault: Path):
    path = vault / "knowledge.db"
    of_another_program(path)
    before = path.read_bytes()
    check_right_again(searched, vault)
    searched.forget("9")
    assert bodies(kb, "rare9", "text") == []
    assert files_of_index(vault) == {"knowledge.db": before}


@pytest.mark.parametrize("what", ["folder", "link", "link to a database", "link to nothing", "pipe"])
def test_what_is_no_file_in_the_place_of_the_index_is_left_alone(
    searched: KnowledgeBase, vault: Path, tmp_path: Path, what: str
):
    path, elsewhere = vault / "knowledge.db", tmp_path / "elsewhere"
    path.unlink()
    if what == "folder":
        path.mkdir()
        (path / "precious").write_text("x")
    elif what == "pipe":
        os.mkfifo(path)
    else:
        if what == "link":
            elsewhere.write_text("precious")
        elif what == "link to a database":
            of_another = sqlite3.connect(elsewhere)
            of_another.execute("CREATE TABLE theirs (x)")
            of_another.close()
        path.symlink_to(elsewhere)
    before = elsewhere.read_bytes() if elsewhere.exists() else None
    check_right_again(searched, vault)
    assert (elsewhere.read_bytes() if elsewhere.exists() else None) == before
    assert os.path.lexists(path)


def test_nothing_is_written_where_a_link_leads_out_of_the_project(kb: KnowledgeBase, vault: Path, tmp_path: Path):
    shutil.rmtree(vault)
    (tmp_path / "elsewhere" / "memories").mkdir(parents=True)
    put(tmp_path / "elsewhere", 1, "heron")
    vault.symlink_to(tmp_path / "elsewhere")
    for mode in RANKED:
        assert bodies(kb, "heron", mode) == []
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["memories"]


@pytest.mark.slow
def test_bytes_that_are_spoilt_anywhere_are_never_an_error(searched: KnowledgeBase, vault: Path):
    """Where SQLite cannot see it, an answer may lack a note until it changes; a query made anew gives all again."""
    path = vault / "knowledge.db"
    whole, notes = path.read_bytes(), contents(vault)
    chance = random.Random(20_260_209)
    seen = 0
    for _ in range(60):
        spoilt = bytearray(whole)
        for _ in range(chance.choice([1, 10, 200])):
            start_at = chance.randrange(len(spoilt))
            stretch = chance.choice([1, 4, 100, 5000])
            spoilt[start_at : start_at + stretch] = chance.randbytes(len(spoilt[start_at : start_at + stretch]))
        for file in vault.glob("knowledge.db*"):
            file.unlink()
        path.write_bytes(spoilt)
        with within(60):
            for mode in ("text", "hybrid"):
                found = searched.recall(f"rare{chance.randint(1, COUNT)} heron", mode=mode, limit=100)
                assert {hit.note.path.rpartition("/")[2] for hit in found.hits} <= {
                    name.rpartition("/")[2] for name in notes
                }
                seen += "index-rebuilt" in found.degraded
            put(vault, 1, "heron 1 stands in the water, rare1")
            searched.recall("rare1", mode="text")
    assert contents(vault) == notes
    assert seen > 10
    path.unlink()
    check_right_again(searched, vault)


ASKING = """
import json, sys
from co_cli import open_knowledge
kb = open_knowledge()
print('"ready"', flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[1])):
    found = kb.recall("rare7 heron", mode=sys.argv[2], limit=100)
    print(json.dumps([found.mode, [hit.note.id for hit in found.hits][:1], len(found.hits), found.degraded]), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["missing", "no database", "a table is gone", "cut to half"])
def test_processes_that_all_find_the_index_damaged_all_answer(searched: KnowledgeBase, vault: Path, damage: str):
    path = vault / "knowledge.db"
    for _ in range(3):
        DAMAGES[damage](path)
        for file in (path.with_name("knowledge.db-wal"), path.with_name("knowledge.db-shm")):
            file.unlink(missing_ok=True)
        results = [each for of_one in all_at_once([start(ASKING, 3, "hybrid") for _ in range(6)]) for each in of_one]
        assert [(mode, ids, count) for mode, ids, count, _ in results] == [("hybrid", [7], COUNT)] * 18
        assert any("index-rebuilt" in degraded for *_, degraded in results)
    check_right_again(searched, vault, said=None)


# -------------------------------------------------------------------------------------------------------------- cut short


@pytest.mark.slow
def test_a_process_that_is_killed_while_it_indexes_leaves_an_index_that_is_right(kb: KnowledgeBase, vault: Path):
    choose(kb, embedder="fake")
    for number in range(1, 1501):
        put(vault, number, f"heron {number} stands in the water, rare{number}")
    chance = random.Random(20_260_209)
    kept = 0
    for life in range(12):
        process = start(ASKING, 1, "hybrid")
        try:
            assert process.stdout is not None
            assert process.stdin is not None
            assert process.stdout.readline() == '"ready"\n'
            process.stdin.write("go\n")
            process.stdin.flush()
            time.sleep(chance.uniform(0.02, 0.5))
            os.kill(process.pid, signal.SIGKILL)
        finally:
            kill(process)
        if (vault / "knowledge.db").exists():
            connection = sqlite3.connect(vault / "knowledge.db")
            try:
                assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
                known = connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone()[0]
                done = connection.execute("SELECT COUNT(*) FROM notes").fetchone()[0] if known else 0
            finally:
                connection.close()
            assert done >= kept, "what was indexed once is not indexed again"
            kept = done
        put(vault, 2000 + life, f"another heron, rare{2000 + life}")
    found = kb.recall("rare2003", mode="text")
    assert found.hits[0].note.id == 2003
    assert kb.recall("rare1400", mode="hybrid").hits[0].note.id == 1400
    assert len(kb.recall("heron", mode="text", limit=2000).hits) == 1512


# --------------------------------------------------------------------------------------------------------- many processes

SECONDS = 60

# Whoever would have to wait for a lock for more than a second is told that it cannot be had.
IMPATIENT = """
import json, random, sys, time
import co_cli.files, co_cli.index.database
from co_cli import open_knowledge
co_cli.files.locked.__wrapped__.__defaults__ = (1.0,)
co_cli.index.database.PATIENCE_MS = 1000
who, seconds, mode = sys.argv[1], float(sys.argv[2]), sys.argv[3]
kb = open_knowledge()
print('"ready"', flush=True)
sys.stdin.readline()
end = time.monotonic() + seconds
def say(*facts):
    print(json.dumps([*facts, time.monotonic_ns()]), flush=True)
"""

WRITING = (
    IMPATIENT
    + """
number, mine = 0, []
while time.monotonic() < end:
    number += 1
    word = f"writer{who}word{number}"
    saved = kb.save(f"The fact is {word}", force=True, created=f"{1000 + number % 8000:04d}-0{who}-01T00:00:00+00:00")
    say("there", word)
    mine.append((str(saved.note.id), word))
    if len(mine) > 20:
        ref, word = mine.pop(0)
        say("leaving", word)
        if number % 2:
            kb.forget(ref)
        else:
            kb.update(ref, content=f"writer{who}edited{number}")
            say("there", f"writer{who}edited{number}")
        say("gone", word)
    time.sleep(0.02)
"""
)

READING = (
    IMPATIENT
    + """
chance = random.Random(who)
asked = 0
while time.monotonic() < end:
    asked += 1
    word = f"writer{chance.randint(1, 2)}word{chance.randint(1, max(2, asked))}"
    began = time.monotonic_ns()
    found = kb.recall(word, mode=mode, limit=3)
    holding = [hit.note.id for hit in found.hits if word in hit.note.body.split()]
    claimed = [hit.note.id for hit in found.hits if hit.why.match == "all words" and word not in hit.note.body.split()]
    say(word, holding, claimed, found.mode, found.degraded, [str(problem) for problem in found.problems], began)
"""
)


@pytest.mark.slow
def test_eight_readers_and_two_writers_for_a_minute(kb: KnowledgeBase, vault: Path):
    """No error, no stale answer, and nobody waits for a lock for more than a second."""
    choose(kb, embedder="fake")
    for number in range(1, 201):
        put(vault, number, f"bystander {number} says nothing of it")
    kb.recall("bystander", mode="hybrid")
    writers = [start(WRITING, who, SECONDS, "") for who in (1, 2)]
    readers = [start(READING, who, SECONDS, "hybrid" if who % 2 else "text") for who in range(8)]
    results = all_at_once([*writers, *readers])

    times: dict[str, dict[str, int]] = {"there": {}, "leaving": {}, "gone": {}}
    for what, word, at in (said for of_one in results[:2] for said in of_one):
        times[what][word] = at
    there, leaving, gone = times.values()
    never = 1 << 62
    answers = [answer for of_one in results[2:] for answer in of_one]
    found = missing = 0
    for word, holding, claimed, mode, degraded, problems, began, ended in answers:
        assert mode in ("text", "hybrid"), degraded
        assert set(degraded) <= {"vectors-partial"}
        assert problems == []
        assert claimed == [], f"{word} was answered with what does not hold it"
        if there.get(word, never) < began and ended < leaving.get(word, never):
            assert holding, f"{word} was confirmed, and not found"
            found += 1
        if gone.get(word, never) < began or word not in there:
            assert holding == [], f"{word} was gone, and found"
            missing += 1
    assert min(found, missing) > 20, f"of {len(answers)} answers, {found} were checked for a word and {missing} for none"


# ------------------------------------------------------------------------------------------------- where nobody may write

WITHOUT_SPACE = (
    AS_NOBODY
    + """
import subprocess
kb = open_knowledge()
folder = kb.vaults[0].root
os.makedirs(folder)
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "co-test", folder], check=True)
os.mkdir(f"{folder}/memories")
for number in range(1, 41):
    with open(f"{folder}/memories/{number:03d}-x.md", "w") as file:
        file.write(f"---\\nid: {number}\\ncreated: {1000 + number}-01-01T00:00:00Z\\n---\\n\\nheron rare{number} stands\\n")
if sys.argv[1] == "later":
    kb.recall("heron", mode="text")
with open(os.path.join(folder, "filler"), "wb", buffering=0) as filler:
    for size in (4096, 1):
        try:
            while True:
                filler.write(b"x" * size)
        except OSError:
            pass
with open(f"{folder}/memories/003-x.md", "r+") as file:
    text = file.read().replace("stands", "stalks")
    file.seek(0)
    file.write(text)
for what in ("full", "space again"):
    for word in ("rare7", "stalks"):
        for mode in ("text", "hybrid"):
            found = kb.recall(word, mode=mode)
            ids = [hit.note.id for hit in found.hits][:1]
            report(what=what, word=word, mode=found.mode, ids=ids, degraded=found.degraded, notices=found.notices)
    if what == "full":
        os.unlink(os.path.join(folder, "filler"))
"""
)


@pytest.mark.skipif(not can_mount(), reason="needs a file system of its own")
@pytest.mark.parametrize("when", ["first", "later"])
def test_on_a_full_disk_every_query_is_answered_and_says_what_is_missing(when: str):
    seen = finish(start(WITHOUT_SPACE, when, under=OWN_MOUNTS))
    assert [each["ids"] for each in seen] == [[7], [7], [3], [3]] * 2
    for each in seen[:4]:
        if each["mode"] == "grep":
            assert each["degraded"] == ["index-unavailable"]
            assert "notes are safe" in each["notices"][0]
    if when == "first":
        assert [each["mode"] for each in seen[:4]] == ["grep"] * 4
    assert [each["mode"] for each in seen[4:]] == ["text", "hybrid"] * 2
    assert seen[-1]["degraded"] == []


READ_ONLY = (
    AS_NOBODY
    + """
kb = open_knowledge(sys.argv[1])
settings = dict(os.environ)
with tempfile.TemporaryDirectory() as scratch:
    os.environ.update(CO_HOME=f"{scratch}/home", XDG_STATE_HOME=f"{scratch}/state", XDG_CACHE_HOME=f"{scratch}/cache")
    os.mkdir(f"{scratch}/top")
    warm = open_knowledge(f"{scratch}/top")
    warm.save("something")
    warm.recall("something", mode="hybrid")
os.environ.update(settings)
become_nobody()
for mode in sys.argv[2:]:
    found = kb.recall("heron", mode=mode)
    report(mode=found.mode, ids=[hit.note.id for hit in found.hits], degraded=found.degraded)
"""
)


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project with a note and a home, in which only the cache folder can be written."""
    with open_to_all() as folder:
        for name, value in (("CO_HOME", "home"), ("XDG_STATE_HOME", "state"), ("XDG_CACHE_HOME", "cache")):
            monkeypatch.setenv(name, str(folder / value))
            (folder / value).mkdir()
        (folder / "project").mkdir()
        put(folder / "project" / ".co-cli" / "knowledge", 1, "heron by the water")
        give_away(folder)
        for path in (folder / "project", *(folder / "project").rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        yield folder


def test_where_the_vault_cannot_be_written_the_index_lies_in_the_cache_folder(closed: Path):
    before = contents(closed / "project", "*")
    seen = finish(start(READ_ONLY, closed / "project", "text", "hybrid", "text"))
    assert [each["mode"] for each in seen] == ["text", "hybrid", "text"]
    assert [each["ids"] for each in seen] == [[1]] * 3
    assert [each["degraded"] for each in seen] == [["index-rebuilt"], [], []]
    assert contents(closed / "project", "*") == before
    assert len(list((closed / "cache").rglob("*.db"))) == 1

    # What is forgotten later, when the vault can be written again, is not kept there either.
    for path in (closed / "project").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    kb = open_knowledge(closed / "project")
    assert bodies(kb, "heron") == ["heron by the water"]
    kb.forget("1")
    assert not any(b"heron" in path.read_bytes() for path in (closed / "cache").rglob("*") if path.is_file())


def test_where_nothing_can_be_written_every_note_is_read(closed: Path):
    (closed / "cache").chmod(0o555)
    [text] = finish(start(READ_ONLY, closed / "project", "text"))
    assert (text["mode"], text["ids"], text["degraded"]) == ("grep", [1], ["index-unavailable"])
