"""A disk that is full and folders that may not be written: an error that says so, and nothing half done."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import AS_NOBODY, contents, finish, give_away, open_to_all, start, temporaries

from co_cli import open_knowledge

# Every way of changing something, tried in turn.
TRYING = """
def files(kb):
    roots = [pathlib.Path(kb.vaults[0].root), pathlib.Path(kb.vaults[0].journal_folder)]
    paths = [path for root in roots for path in root.rglob("*") if path.is_file() and path.name != "filler"]
    return {str(path): path.read_bytes() for path in paths if os.access(path, os.R_OK)}

def fill(kb):
    kb.save("the first fact")
    kb.save("the second fact", private=True)
    kb.save("the third fact")
    kb.archive(["3"])

def try_everything(kb, text):
    for what, action in {
        "save": lambda: kb.save(text),
        "edit": lambda: kb.update("1", content=text),
        "edit a private note": lambda: kb.update("2", content=text),
        "archive": lambda: kb.archive(["1", "2"]),
        "restore": lambda: kb.archive(["3"], restore=True),
        "undo": lambda: kb.undo(),
        "forget": lambda: kb.forget(["1"]),
    }.items():
        before = files(kb)
        outcome = attempt(action)
        after = files(kb)
        report(
            what=what,
            changed=sorted(name for name in {*before, *after} if before.get(name) != after.get(name)),
            listed=sorted(note.body for note in kb.list().notes),
            problems=[str(problem) for problem in kb.list().problems],
            recalled=[hit.note.body for hit in kb.recall("the first fact", limit=1).hits],
            **outcome,
        )
"""

FULL_BY_LIMIT = (
    AS_NOBODY
    + TRYING
    + """
import resource
kb = open_knowledge()
fill(kb)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
try_everything(kb, "long " * 2000)
"""
)

# A small file system for the vault or the journal, filled to the last byte. It belongs to the process, and ends with it.
FULL_BY_SIZE = (
    AS_NOBODY
    + TRYING
    + """
import subprocess
kb = open_knowledge()
folder = kb.vaults[0].root if sys.argv[1] == "vault" else os.path.dirname(kb.vaults[0].journal_folder)
os.makedirs(folder, exist_ok=True)
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160k", "co-test", folder], check=True)
fill(kb)
with open(os.path.join(folder, "filler"), "wb", buffering=0) as filler:
    for size in (4096, 1):
        try:
            while True:
                filler.write(b"x" * size)
        except OSError:
            pass
try_everything(kb, "long " * 2000)
os.unlink(os.path.join(folder, "filler"))
report(what="space again", **attempt(lambda: kb.save("it works again").outcome))
"""
)

REFUSED_RIGHTS = (
    AS_NOBODY
    + TRYING
    + """
become_nobody()
try_everything(open_knowledge(sys.argv[1]), "a text")
"""
)

OWN_MOUNTS = ("unshare", "--map-root-user", "--mount")
FACTS = ["the first fact", "the second fact"]
EVERYTHING = {"save", "edit", "edit a private note", "archive", "restore", "undo", "forget"}


def can_mount() -> bool:
    """Whether a process may have file systems of its own here."""
    if not shutil.which("unshare"):
        return False
    trial = [*OWN_MOUNTS, "mount", "-t", "tmpfs", "co-test", "/mnt"]
    return subprocess.run(trial, capture_output=True, check=False).returncode == 0


def attempts(script: str, *arguments: object, under: tuple[str, ...] = ()) -> dict[str, dict[str, Any]]:
    """What came of each way of changing something."""
    return {seen.pop("what"): seen for seen in finish(start(script, *arguments, under=under))}


def check_refused(seen: dict[str, dict[str, Any]], reason: str, hint: str, *, which: set[str] = EVERYTHING) -> None:
    """These attempts failed as they should: with a reason and a hint, and without a trace."""
    for what in which:
        outcome = seen[what]
        assert outcome.get("kind") == "unavailable", f"{what}: {outcome}"
        assert reason in outcome["message"], what
        assert "Nothing was changed" in outcome["hint"], what
        assert hint in outcome["hint"], what
        assert outcome["changed"] == [], what
        assert outcome["listed"] == FACTS, what
        assert outcome["recalled"] == FACTS[:1], what
        assert outcome["problems"] == [], what


def test_a_file_larger_than_allowed_is_not_written_in_part():
    seen = attempts(FULL_BY_LIMIT)
    check_refused(seen, "File too large", "Free some space", which={"save", "edit", "edit a private note"})
    assert all("done" in seen[what] for what in ("archive", "restore", "undo", "forget")), "these are small"


@pytest.mark.parametrize("full", ["vault", "journal"])
def test_a_full_disk_changes_nothing(full: str):
    if can_mount():
        seen = attempts(FULL_BY_SIZE, full, under=OWN_MOUNTS)
        possible = {"forget"} if full == "vault" else set()
        check_refused(seen, "No space left", "Free some space", which=EVERYTHING - possible)
        assert all("done" in seen[what] for what in possible), "forgetting takes no space where the notes are"
        assert seen["space again"]["done"] == "'created'"
    else:  # the limit on the size of one file is the next best thing
        seen = attempts(FULL_BY_LIMIT.replace("4096", "16"))
        check_refused(seen, "File too large", "Free some space")


COMMAND = (
    AS_NOBODY
    + """
import re, resource
from co_cli.surfaces.cli.main import build_parser, main
build_parser(sys.argv[3])
os.chdir(sys.argv[2])
if sys.argv[1] == "full":
    warm_up()
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, resource.RLIM_INFINITY))
else:
    become_nobody()
sys.exit(main(sys.argv[3:]))
"""
)


@pytest.mark.parametrize("what", ["full", "read-only"])
@pytest.mark.parametrize(
    "command", [["learn", "a third fact"], ["edit", "1", "--content", "x"], ["pin", "1"], ["forget", "1"]]
)
def test_a_command_that_cannot_write_says_so_and_ends_with_1(what: str, command: list[str], base: Path):
    project = base / "project"
    give_away(base)
    if what == "read-only":
        for folder in folders(project):
            folder.chmod(0o555)
    before = contents(base, "*")
    for as_json in ([], ["--json"]):
        script = [sys.executable, "-c", COMMAND, what, project, *command, *as_json]
        done = subprocess.run(script, capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stderr
        assert done.stderr.startswith("error: ")
        assert "Nothing was changed" in done.stderr
        assert "Traceback" not in done.stderr
        assert done.stdout == "" if not as_json else json.loads(done.stdout)["error"]["kind"] == "unavailable"
        assert contents(base, "*") == before
        assert temporaries(base) == []


# ----------------------------------------------------------------------------------------------------------------- rights


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home, a state folder and a project with three notes that nobody can reach."""
    with open_to_all() as folder:
        monkeypatch.setenv("CO_HOME", str(folder / "home"))
        monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
        (folder / "project").mkdir()
        kb = open_knowledge(folder / "project")
        kb.save("the first fact")
        kb.save("the second fact", private=True)
        kb.save("the third fact")
        kb.archive(["3"])
        yield folder


def journal_of(base: Path) -> Path:
    return Path(open_knowledge(base / "project").vaults[0].journal_folder)


def check_nothing_was_done(base: Path, closed: list[Path], *, which: set[str] = EVERYTHING) -> None:
    """Close these folders to their owner, try everything as their owner, and look at what happened to the files."""
    give_away(base)
    before = contents(base, "*")
    for folder in closed:
        folder.chmod(0o555)

    check_refused(attempts(REFUSED_RIGHTS, base / "project"), "Permission denied", "permissions", which=which)

    assert contents(base, "*") == before
    assert temporaries(base) == []
    for folder in closed:
        folder.chmod(0o755)
    kb = open_knowledge(base / "project")
    assert kb.save("it works again").note.id == 4
    kb.undo()
    kb.undo()
    assert [note.body for note in kb.list().notes] == [*FACTS, "the third fact"]


def folders(top: Path) -> list[Path]:
    return [top, *(path for path in top.rglob("*") if path.is_dir())]


def test_a_vault_that_may_not_be_written_stays_as_it_is(base: Path):
    check_nothing_was_done(base, folders(base / "project"))


def test_a_vault_of_which_only_the_folders_of_notes_may_not_be_written_stays_as_it_is(base: Path):
    vault = base / "project" / ".co-cli" / "knowledge"
    check_nothing_was_done(base, [vault / "memories", vault / "archive" / "memories"])


def test_what_cannot_be_written_down_in_the_journal_is_not_done(base: Path):
    check_nothing_was_done(base, [journal_of(base)])


def test_without_a_place_for_the_journal_nothing_is_done(base: Path):
    shutil.rmtree(base / "state")
    give_away(base)
    before = contents(base, "*")
    (base / "project" / ".co-cli" / "knowledge" / ".gitignore").unlink()  # even that file is not made anew in vain
    base.chmod(0o555)
    which = EVERYTHING - {"undo"}  # without a journal there is nothing to undo
    seen = attempts(REFUSED_RIGHTS, base / "project")
    for what in which:
        assert seen[what]["kind"] == "unavailable"
        assert "Permission denied" in seen[what]["message"]
    assert seen["undo"]["kind"] == "not_found"
    assert contents(base, "*.md") == {name: raw for name, raw in before.items() if name.endswith(".md")}


def test_a_journal_that_may_not_be_read_is_not_taken_for_an_empty_one(base: Path):
    give_away(base)
    before = contents(base, "*")
    journal_of(base).chmod(0o300)
    seen = attempts(REFUSED_RIGHTS, base / "project")
    check_refused(seen, "Permission denied", "permissions")
    journal_of(base).chmod(0o700)
    assert contents(base, "*") == before


def test_ids_are_not_guessed_where_the_notes_may_not_be_listed(base: Path):
    give_away(base)
    memories = base / "project" / ".co-cli" / "knowledge" / "memories"
    before = contents(memories)
    memories.chmod(0o300)
    seen = attempts(REFUSED_RIGHTS, base / "project")
    memories.chmod(0o755)
    assert seen["save"]["kind"] == "unavailable"
    assert f"{memories} cannot be read" in seen["save"]["message"]
    assert any(str(memories) in problem for problem in seen["save"]["problems"])
    assert contents(memories) == before


READING = (
    AS_NOBODY
    + """
become_nobody()
kb = open_knowledge(sys.argv[1])
report(listed=[note.id for note in kb.list().notes], found=len(kb.recall("fact").hits), prompt=len(kb.prompt().text))
"""
)


def test_reading_takes_no_more_rights_than_to_read(base: Path):
    for folder in folders(base):
        folder.chmod(0o555)
    for note in (base / "project").rglob("*.md"):
        note.chmod(0o444)
    before = contents(base, "*")

    [seen] = finish(start(READING, base / "project"))

    assert seen["listed"] == [1, 2]
    assert seen["found"] == 2
    assert seen["prompt"] > 100
    assert contents(base, "*") == before
