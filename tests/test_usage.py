"""The log of tool calls: written by many, read by few, in nobody's way."""

from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
import stat
import threading
import time
from contextlib import closing
from pathlib import Path
from statistics import median

import pytest
from processes import finish as finished
from processes import run, start

from co_cli import usage
from co_cli.errors import Unavailable
from co_cli.usage import Call, Named, UsageLog, days_ago
from co_cli.warmth import uses

SCHEMAS = Path(__file__).parent / "schemas"
DEPLOY, FRIDAY = Named("v", "topic:deploy"), Named("v", "memory:12")

LOGGING = """
import sys, time
from co_cli.warmth import uses
from co_cli.usage import Call, Named, UsageLog
path, who, count = sys.argv[1:]
log = UsageLog(path)
for number in range(int(count)):
    notes = tuple(Named("v", f"topic:{place}") for place in range(5))
    notice = log.record(Call(f"tool_{who}", "mcp", time.time(), 1.0, "ok", notes))
    assert not notice, notice
"""


def call(tool: str = "knowledge_search", *notes: Named, at: float = 0.0, outcome: str = "ok") -> Call:
    return Call(tool, "mcp", at or time.time(), 2.0, outcome, notes)


@pytest.fixture
def log(tmp_path: Path) -> UsageLog:
    return UsageLog(str(tmp_path / "state" / "usage.db"))


def test_what_is_logged_can_be_counted_by_tool_by_day_and_by_note(log: UsageLog) -> None:
    log.record(call("knowledge_search", DEPLOY, FRIDAY))
    log.record(call("knowledge_search", DEPLOY))
    log.record(call("knowledge_write", outcome="denied"))
    assert [(tool.tool, tool.calls, tool.failed, tool.ms) for tool in log.tools(0)] == [
        ("knowledge_search", 2, 0, 2.0),
        ("knowledge_write", 1, 1, 2.0),
    ]
    assert log.days(0) == ((time.strftime("%Y-%m-%d"), 3),)
    assert [(note.note, note.calls) for note in log.notes(0)] == [(DEPLOY, 2), (FRIDAY, 1)]


def test_only_what_was_called_in_time_is_counted(log: UsageLog) -> None:
    log.record(call("old_tool", DEPLOY, at=days_ago(31)))
    log.record(call("new_tool", FRIDAY, at=days_ago(29)))
    assert [tool.tool for tool in log.tools(days_ago(30))] == ["new_tool"]
    assert [note.note for note in log.notes(days_ago(30))] == [FRIDAY]


def test_a_use_counts_half_after_thirty_days(log: UsageLog) -> None:
    now = time.time()
    for _ in range(4):
        log.record(call("t", DEPLOY, at=now - 60 * 86400))
    log.record(call("t", FRIDAY, at=now))
    assert log.uses("v", ["topic:deploy", "memory:12", "memory:13"], now) == {
        "topic:deploy": pytest.approx(1.0),
        "memory:12": pytest.approx(1.0),
    }
    later = log.warmest(("v",), 5, now + 30 * 86400)
    assert {warm.note: round(warm.uses, 6) for warm in later} == {DEPLOY: 0.5, FRIDAY: 0.5}


def test_vaults_are_told_apart(log: UsageLog) -> None:
    log.record(call("t", DEPLOY, Named("w", "topic:deploy"), Named("w", "topic:deploy")))
    assert log.uses("w", ["topic:deploy"], time.time()) == {"topic:deploy": pytest.approx(1.0)}
    assert [warm.note.vault for warm in log.warmest(("v",), 5, time.time())] == ["v"]


def test_a_note_that_is_forgotten_leaves_nothing_in_the_files_of_the_log(log: UsageLog) -> None:
    secret = Named("v", "topic:the-merger-with-acme")
    log.record(call("t", secret, DEPLOY))
    log.forget([secret])
    assert [note.note for note in log.notes(0)] == [DEPLOY]
    assert log.tools(0)[0].calls == 1
    for file in Path(log.path).parent.iterdir():
        assert b"merger" not in file.read_bytes(), file


def test_arguments_are_kept_only_where_they_are_given_and_cut(log: UsageLog) -> None:
    log.record(call())
    log.record(call()._replace(arguments="x" * 5000))
    with closing(sqlite3.connect(log.path)) as raw, raw:
        assert [row[0] for row in raw.execute("SELECT arguments FROM calls ORDER BY id")] == [None, "x" * 500]
    raw.close()


def test_the_log_is_for_its_owner_alone(log: UsageLog) -> None:
    log.record(call())
    for file in Path(log.path).parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_reading_a_log_that_is_not_there_makes_none(log: UsageLog) -> None:
    assert (log.tools(0), log.days(0), log.notes(0), log.warmest(("v",), 5, 0)) == ((), (), (), ())
    assert uses(log.path, [DEPLOY], 0) == {}
    log.forget([DEPLOY])
    assert not os.path.exists(os.path.dirname(log.path))


# ------------------------------------------------------------------------------------------------------------- in the way


def test_a_log_that_cannot_be_written_says_so_once(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("no folder")
    log = UsageLog(str(tmp_path / "state" / "usage.db"))
    assert "state" in log.record(call())
    assert log.record(call()) == ""


def test_a_log_that_is_damaged_is_put_aside_and_begun_anew(log: UsageLog) -> None:
    os.makedirs(os.path.dirname(log.path))
    Path(log.path).write_bytes(b"this is no database, but somebody may want it" * 100)
    assert "begun anew" in log.record(call())
    assert log.record(call()) == ""
    assert log.tools(0)[0].calls == 1
    assert Path(f"{log.path}.broken").read_bytes().startswith(b"this is no database")


def test_the_database_of_another_program_is_not_written_to(log: UsageLog) -> None:
    os.makedirs(os.path.dirname(log.path))
    with closing(sqlite3.connect(log.path)) as raw, raw:
        raw.execute("CREATE TABLE theirs (x)")
    raw.close()
    assert "another program" in log.record(call())
    with closing(sqlite3.connect(f"{log.path}.broken")) as raw, raw:
        assert raw.execute("SELECT name FROM sqlite_schema").fetchall() == [("theirs",)]
    raw.close()


def test_the_log_of_a_newer_co_is_left_as_it_is(log: UsageLog) -> None:
    log.record(call())
    log.close()
    with closing(sqlite3.connect(log.path)) as raw, raw:
        raw.execute(f"PRAGMA user_version = {len(usage.MIGRATIONS) + 1}")
    raw.close()
    assert "newer co" in log.record(call())
    with pytest.raises(Unavailable, match="newer co"):
        log.tools(0)
    with closing(sqlite3.connect(log.path)) as raw, raw:
        assert raw.execute("SELECT count(*) FROM calls").fetchone() == (1,)
    raw.close()


def test_a_child_that_was_forked_writes_with_a_connection_of_its_own(log: UsageLog) -> None:
    log.record(call("parent"))
    child = os.fork()
    if not child:
        os._exit(1 if log.record(call("child")) else 0)
    assert os.waitpid(child, 0)[1] == 0
    log.record(call("parent"))
    assert [(tool.tool, tool.calls) for tool in log.tools(0)] == [("parent", 2), ("child", 1)]


# ---------------------------------------------------------------------------------------------------------------- pruning


def test_old_calls_go_and_so_do_notes_that_nobody_remembers(log: UsageLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "_PRUNE_EVERY", 10)
    for _ in range(5):
        log.record(call("old", DEPLOY, at=days_ago(400)))
    for _ in range(5):
        log.record(call("new", FRIDAY))
    assert [tool.tool for tool in log.tools(0)] == ["new"]
    assert [note.note for note in log.notes(0)] == [FRIDAY]
    assert log.uses("v", [DEPLOY.name], time.time()) == {}


def test_the_log_keeps_no_more_calls_than_it_may(log: UsageLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "_PRUNE_EVERY", 10)
    monkeypatch.setattr(usage, "KEPT_CALLS", 20)
    for number in range(60):
        log.record(call(f"tool_{number}", DEPLOY))
    assert {tool.tool for tool in log.tools(0)} == {f"tool_{number}" for number in range(40, 60)}
    assert log.notes(0)[0].calls == 20


def test_the_log_grows_no_larger_than_it_may(log: UsageLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "_PRUNE_EVERY", 100)
    monkeypatch.setattr(usage, "_PRUNED_AT_ONCE", 200)
    monkeypatch.setattr(usage, "KEPT_BYTES", 300_000)
    for _ in range(2000):
        log.record(call()._replace(arguments="x" * 400))
    log.close()
    with closing(sqlite3.connect(log.path)) as raw, raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw.close()
    assert os.path.getsize(log.path) < 500_000
    assert log.tools(0)[0].calls > 100


# --------------------------------------------------------------------------------------------------------------- together


def test_threads_and_processes_write_to_one_log_and_no_call_is_lost(log: UsageLog) -> None:
    log.record(call("first"))
    processes = [start(LOGGING, log.path, who, 200) for who in range(3)]

    def work() -> None:
        for _ in range(100):
            assert log.record(call("thread", DEPLOY)) == ""

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for process in processes:
        finished(process)
    counts = {tool.tool: tool.calls for tool in log.tools(0)}
    assert counts == {"first": 1, "thread": 400, "tool_0": 200, "tool_1": 200, "tool_2": 200}
    assert {note.note.name: note.calls for note in log.notes(0)} == {
        "topic:deploy": 400,
        **{f"topic:{place}": 600 for place in range(5)},
    }


def test_processes_that_begin_the_log_at_once_lose_no_call(log: UsageLog) -> None:
    for process in [start(LOGGING, log.path, who, 3) for who in range(6)]:
        finished(process)
    assert sum(tool.calls for tool in log.tools(0)) == 18


def test_a_call_is_logged_in_less_than_a_millisecond(log: UsageLog) -> None:
    log.record(call())
    took = []
    for number in range(500):
        before = time.process_time()
        log.record(call("t", *(Named("v", f"topic:{(number * 5 + place) % 700}") for place in range(5))))
        took.append(time.process_time() - before)
    assert median(took) < 0.001


def test_a_process_that_is_killed_while_it_writes_leaves_a_log_that_works(log: UsageLog) -> None:
    killing = LOGGING.replace(
        "assert not notice, notice", "number == 50 and __import__('os').kill(__import__('os').getpid(), 9)"
    )
    process = start(killing, log.path, "killed", 1000)
    process.wait(30)
    for pipe in (process.stdin, process.stdout, process.stderr):
        pipe.close()
    assert log.record(call("next")) == ""
    assert {tool.tool: tool.calls for tool in log.tools(0)} == {"tool_killed": 51, "next": 1}


# -------------------------------------------------------------------------------------------------------------- migrating


def stored(number: int, folder: Path) -> str:
    """A log as that version of the schema left it."""
    path = folder / "usage.db"
    folder.mkdir(parents=True, exist_ok=True)
    with gzip.open(SCHEMAS / f"usage-{number}.db.gz") as packed, open(path, "wb") as file:
        shutil.copyfileobj(packed, file)
    return str(path)


@pytest.mark.parametrize("number", range(1, len(usage.MIGRATIONS) + 1))
def test_a_log_of_every_schema_that_there_was_is_read_and_written(number: int, tmp_path: Path) -> None:
    log = UsageLog(stored(number, tmp_path))
    assert {tool.tool: tool.calls for tool in log.tools(0)} == {"knowledge_search": 2, "knowledge_list": 1}
    assert {note.note.name: note.calls for note in log.notes(0)} == {"topic:deploy": 2, "memory:12": 1}
    assert log.record(call("knowledge_list", DEPLOY)) == ""
    assert log.notes(0)[0].calls == 3


def test_a_migration_that_is_interrupted_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stored(len(usage.MIGRATIONS), tmp_path)
    step = "ALTER TABLE calls ADD COLUMN client TEXT; CREATE TABLE half_done (x);"
    monkeypatch.setattr(usage, "MIGRATIONS", (*usage.MIGRATIONS, f"{step} INSERT INTO missing VALUES (1);"))
    assert "cannot be used" in UsageLog(path).record(call())
    with closing(sqlite3.connect(path)) as raw, raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (len(usage.MIGRATIONS) - 1,)
        assert raw.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'half_done'").fetchone() == (0,)
    raw.close()

    monkeypatch.setattr(usage, "MIGRATIONS", (*usage.MIGRATIONS[:-1], step))
    log = UsageLog(path)
    assert log.record(call()) == ""
    log.close()
    assert UsageLog(path).record(call()) == ""  # a step that was taken is not taken again
    assert log.tools(0)[0].calls == 4


def test_processes_that_find_an_old_log_at_once_migrate_it_once(tmp_path: Path) -> None:
    path = stored(1, tmp_path)
    code = LOGGING.replace(
        "log = UsageLog(path)",
        "from co_cli import usage\nusage.MIGRATIONS += ('ALTER TABLE calls ADD COLUMN client TEXT',)\nlog = UsageLog(path)",
    )
    for process in [start(code, path, who, 20) for who in range(4)]:
        finished(process)
    with closing(sqlite3.connect(path)) as raw, raw:
        assert raw.execute("SELECT count(*) FROM calls").fetchone() == (83,)
    raw.close()


def test_a_log_that_is_opened_costs_recall_no_more_than_a_millisecond(tmp_path: Path) -> None:
    log = UsageLog(str(tmp_path / "usage.db"))
    for number in range(400):
        log.record(call("t", *(Named("v", f"topic:{number * 5 + place}") for place in range(5))))
    log.close()
    names = [Named("v", f"topic:{number}") for number in range(120)]
    took = []
    for _ in range(20):
        before = time.process_time()
        assert len(uses(log.path, names, time.time())) == 120
        took.append(time.process_time() - before)
    assert min(took) < 0.001
    assert run("import sys, json; import co_cli.usage; print(json.dumps('sqlite3' in sys.modules))") is False
