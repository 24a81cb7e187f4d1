"""Taking in the knowledge of a Skynet: its table, with and without sources, and its folder."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

from co_cli import Corrupt, Invalid, KnowledgeBase, NotFound
from co_cli.exchange.report import ImportReport
from co_cli.exchange.skynet import import_skynet
from co_cli.surfaces.cli.main import main

OLD = "CREATE TABLE knowledge (topic TEXT PRIMARY KEY, content TEXT, tags TEXT, created_at TEXT, updated_at TEXT)"
NEW = (
    "CREATE TABLE knowledge (id INTEGER PRIMARY KEY, topic TEXT UNIQUE, content TEXT, tags TEXT DEFAULT '',"
    " source TEXT DEFAULT 'user', created_at TEXT, updated_at TEXT)"
)
DAY, LATER = "2026-02-19T10:00:00+00:00", "2026-02-20T10:00:00+00:00"


def database(path: Path, rows: Iterable[tuple], schema: str = NEW) -> Path:
    columns = (
        "topic, content, tags, source, created_at, updated_at"
        if schema == NEW
        else "topic, content, tags, created_at, updated_at"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(schema)
        raw.execute("CREATE VIRTUAL TABLE knowledge_fts USING fts5(topic, content, tags)")
        for row in rows:
            raw.execute(f"INSERT INTO knowledge ({columns}) VALUES ({', '.join('?' * len(row))})", row)
    raw.close()
    return path


def change(path: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(statement, values)
    raw.close()


def outcomes(report: ImportReport) -> dict[str, tuple[str, str]]:
    return {entry.at or Path(entry.file).name: (entry.outcome, entry.code) for entry in report.entries}


@pytest.fixture
def skynet(tmp_path: Path) -> Path:
    folder = tmp_path / ".skynet"
    database(
        folder / "skynet.db",
        [
            ("claude_models", "# Models\n\nOpus, Sonnet, Haiku", "ai,anthropic,models", "seed", DAY, LATER),
            ("Discord Setup", "First make a bot", "discord, bot", "user", "2026-02-19 10:00:00", None),
        ],
    )
    (folder / "knowledge").mkdir()
    (folder / "knowledge" / "claude_models.md").write_text("tags: ai\n# An older text")
    (folder / "knowledge" / "deploy_steps.md").write_text("tags: deploy,docker\r\n# Deploy\r\n\r\nTag, push, wait\r\n")
    return folder


def test_the_table_and_the_folder_become_topics(kb: KnowledgeBase, skynet: Path) -> None:
    report = import_skynet(kb, str(skynet))
    assert outcomes(report) == {
        "knowledge.claude_models": ("created", ""),
        "knowledge.Discord Setup": ("created", ""),
        "claude_models.md": ("skipped", "outdone"),
        "deploy_steps.md": ("created", ""),
    }
    topics = {note.slug: note for note in kb.topics().notes}
    assert set(topics) == {"claude_models", "discord_setup", "deploy_steps"}
    models = topics["claude_models"]
    assert (models.source, models.created, models.updated) == ("seed", DAY, LATER)
    assert models.tags == ("ai", "anthropic", "models")
    assert models.body == "# Models\n\nOpus, Sonnet, Haiku"
    assert topics["discord_setup"].created == DAY
    assert (topics["deploy_steps"].tags, topics["deploy_steps"].source) == (("deploy", "docker"), "seed")
    assert topics["deploy_steps"].body == "# Deploy\n\nTag, push, wait"


def test_a_database_without_sources_is_of_the_user(kb: KnowledgeBase, tmp_path: Path) -> None:
    path = database(tmp_path / "old.db", [("deploy", "On Fridays", None, DAY, DAY)], OLD)
    assert outcomes(import_skynet(kb, str(path))) == {"knowledge.deploy": ("created", "")}
    assert (kb.topic("deploy").source, kb.topic("deploy").tags) == ("user", ())


def test_doing_it_again_adds_nothing(kb: KnowledgeBase, skynet: Path) -> None:
    import_skynet(kb, str(skynet))
    before = {note.path: note.raw for note in kb.topics().notes}
    changes = len(kb.log())
    again = import_skynet(kb, str(skynet))
    assert again.counts == {"unchanged": 3, "skipped": 1}
    assert {note.path: note.raw for note in kb.topics().notes} == before
    assert len(kb.log()) == changes


def test_what_changed_there_is_taken_and_what_changed_here_stays(kb: KnowledgeBase, skynet: Path) -> None:
    import_skynet(kb, str(skynet))
    kb.write_topic("discord setup", "Edited here")
    change(
        skynet / "skynet.db", "UPDATE knowledge SET content = 'Fable too', updated_at = '2026-02-21 08:00:00' WHERE id = 1"
    )
    (skynet / "knowledge" / "deploy_steps.md").write_text("Another text")
    report = import_skynet(kb, str(skynet))
    assert outcomes(report) == {
        "knowledge.claude_models": ("updated", ""),
        "knowledge.Discord Setup": ("skipped", "newer-here"),
        "claude_models.md": ("skipped", "outdone"),
        "deploy_steps.md": ("skipped", "newer-here"),
    }
    models = kb.topic("claude_models")
    assert (models.body, models.created, models.updated) == ("Fable too", DAY, "2026-02-21T08:00:00+00:00")
    assert kb.topic("discord_setup").body == "Edited here"
    kb.undo()
    assert kb.topic("claude_models").body.startswith("# Models")


def test_a_dry_run_says_exactly_what_would_be_done_and_does_nothing(kb: KnowledgeBase, skynet: Path, project: Path) -> None:
    kb.write_topic("claude_models", "Mine")
    before = {note.path: note.raw for note in kb.topics().notes}
    rehearsed = import_skynet(kb, str(skynet), dry_run=True)
    assert {note.path: note.raw for note in kb.topics().notes} == before
    done = import_skynet(kb, str(skynet))
    expected = {
        at: (outcome.replace("would-create", "created"), code) for at, (outcome, code) in outcomes(rehearsed).items()
    }
    assert expected == outcomes(done)
    assert outcomes(rehearsed)["knowledge.Discord Setup"] == ("would-create", "")
    assert outcomes(rehearsed)["knowledge.claude_models"] == ("skipped", "newer-here")


def test_it_can_go_to_the_vault_of_all_projects(kb: KnowledgeBase, skynet: Path) -> None:
    kb.write_topic("deploy_steps", "The project's own")
    report = import_skynet(kb, str(skynet), in_global=True)
    assert {entry.ref for entry in report.entries if entry.ref} == {
        "g:topic:claude_models",
        "g:topic:discord_setup",
        "g:topic:deploy_steps",
    }
    assert kb.topic("deploy_steps").body == "The project's own"


def test_of_two_topics_that_are_one_here_the_one_that_changed_last_counts(kb: KnowledgeBase, tmp_path: Path) -> None:
    path = database(
        tmp_path / "s.db", [("discord_setup", "old", "", "user", DAY, DAY), ("Discord-Setup", "new", "", "user", DAY, LATER)]
    )
    report = import_skynet(kb, str(path))
    assert outcomes(report) == {
        "knowledge.Discord-Setup": ("created", ""),
        "knowledge.discord_setup": ("skipped", "outdone"),
    }
    assert kb.topic("discord_setup").body == "new"


def test_an_entry_that_is_none_is_named_and_the_others_are_taken(kb: KnowledgeBase, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    database(
        folder / "s.db",
        [
            ("fine", "text", 7, "martian", "yesterday", 1771495200),
            ("empty", " ", "", "user", DAY, DAY),
            ("nothing", None, "", "user", DAY, DAY),
            ("binary", b"\xff\xfe", "", "user", DAY, DAY),
            ("!!!", "text", "", "user", DAY, DAY),
            ("key", "-----BEGIN PRIVATE " + "KEY-----", "", "user", DAY, DAY),
            (12.5, "text", "", "user", DAY, DAY),
        ],
    )
    (folder / "knowledge").mkdir()
    (folder / "knowledge" / "latin.md").write_bytes(b"one\ncaf\xe9")
    (folder / "knowledge" / "notes.txt").write_text("not one of them")
    report = import_skynet(kb, str(folder))
    assert outcomes(report) == {
        "knowledge.fine": ("created", ""),
        "knowledge.empty": ("skipped", "invalid"),
        "knowledge.nothing": ("skipped", "wrong-type"),
        "knowledge.binary": ("skipped", "wrong-type"),
        "knowledge.!!!": ("skipped", "invalid"),
        "knowledge.key": ("skipped", "secret"),
        "knowledge.12.5": ("created", ""),
        "latin.md": ("skipped", "not-utf-8"),
    }
    assert [entry.line for entry in report.entries if entry.code == "not-utf-8"] == [2]
    fine = kb.topic("fine")
    assert (fine.source, fine.tags, fine.updated) == ("user", ("7",), "2026-02-19T10:00:00+00:00")


def test_a_folder_of_markdown_files_will_do(kb: KnowledgeBase, skynet: Path) -> None:
    report = import_skynet(kb, str(skynet / "knowledge"))
    assert report.counts == {"created": 2}


def test_the_database_of_another_program_is_only_read(kb: KnowledgeBase, skynet: Path) -> None:
    file = skynet / "skynet.db"
    before = file.read_bytes()
    import_skynet(kb, str(file))
    assert file.read_bytes() == before
    assert {path.name for path in skynet.iterdir()} == {"skynet.db", "knowledge"}


def test_a_path_without_such_knowledge_is_an_error_with_the_accepted_forms(kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.db").write_text("no database")
    with closing(sqlite3.connect(tmp_path / "other.db")) as raw, raw:
        raw.execute("CREATE TABLE knowledge (x)")
    raw.close()
    for name, kind in (
        ("nowhere", NotFound),
        ("empty", NotFound),
        ("text.db", Invalid),
        ("other.db", Invalid),
        (" ", Invalid),
    ):
        with pytest.raises(kind) as caught:
            import_skynet(kb, str(tmp_path / name) if name.strip() else name)
        assert "Skynet database" in caught.value.hint
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    with pytest.raises(Corrupt):
        import_skynet(kb, str(broken))


def test_the_command_reports_every_entry(kb: KnowledgeBase, skynet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "skynet", str(skynet), "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "would-create  .skynet/skynet.db: knowledge.claude_models" in said
    assert said.splitlines()[-1] == "3 would-create, 1 skipped"
    assert main(["import", "skynet", str(skynet), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["counts"] == {"created": 3, "skipped": 1}
    assert data["entries"][0]["ref"] == "topic:claude_models"
