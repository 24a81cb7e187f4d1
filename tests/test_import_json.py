"""The JSON form is taken over completely, once, and as often as one likes."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from co_cli import CoError, Corrupt, Invalid, KnowledgeBase, Note, NotFound
from co_cli.exchange.json_form import ImportEntry, ImportReport, import_json

CONTEXT = {
    "version": "1.0",
    "created": "2025-11-03T08:00:00",
    "updated": "2025-12-24T18:15:00",
    "user": {
        "name": "Noor Haddad",
        "timezone": "Europe/Lisbon",
        "working_hours": None,
        "preferences": {"editor": "Helix with the light theme", "answers": "Short answers, then the details"},
        "notes": ["Reads diffs before prose"],
    },
    "project": {
        "name": "tidepool",
        "type": "rust_service",
        "architecture": ["One writer thread owns the ledger"],
        "patterns": ["Handlers return typed errors", "Builds run in Nix shells"],
        "conventions": ["Commit subjects start with a verb"],
        "notes": ["The staging cluster sleeps at night"],
    },
    "learned_facts": {
        "facts": ["Port 7443 belongs to the gateway", "Fixtures live under data/"],
        "corrections": ["The queue is NATS, not Kafka"],
        "clarifications": ["'Board' means the hardware, not the kanban"],
    },
}
MEMORIES = {
    "user_preferences": {"editor": {"value": "Helix with the light theme", "timestamp": "2025-11-05T09:12:44.123456"}},
    "project_insights": {"builds": {"value": "Builds run in Nix shells", "timestamp": "2025-11-06T10:00:00+01:00"}},
    "learned_facts": {"gateway": {"value": "Port 7443 belongs to the gateway", "timestamp": "2025-11-07T11:30:00"}},
}
OLD = 1_600_000_000
"""A moment before any memory of these tests was made."""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A project that still has the JSON form, all of it."""
    put(tmp_path / "old", CONTEXT, **MEMORIES)
    return tmp_path / "old"


def put(top: Path, context: object = None, **memories: object) -> Path:
    folder = top / ".co-cli"
    for path, content in [
        (folder / "internal" / "context.json", context),
        *((folder / "memories" / f"{name}.json", content) for name, content in memories.items()),
    ]:
        if content is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return top


def preferences(**values: str) -> dict[str, object]:
    return {"version": "1.0", "user": {"preferences": values}}


def bodies(kb: KnowledgeBase) -> list[str]:
    return [note.body for note in kb.list().notes]


def at(report: ImportReport, place: str) -> ImportEntry:
    return next(entry for entry in report.entries if entry.at == place)


def fate(report: ImportReport, place: str) -> tuple[str, str]:
    return at(report, place).outcome, at(report, place).code


def found(kb: KnowledgeBase, key: str) -> Note:
    (note,) = kb.list(key=key).notes
    return note


def everything_under(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# ------------------------------------------------------------------------------------------------------------- complete


@pytest.mark.parametrize(
    ("body", "category", "key", "tag"),
    [
        ("Name: Noor Haddad", "user_preferences", "name", "user"),
        ("Timezone: Europe/Lisbon", "user_preferences", "timezone", "user"),
        ("Helix with the light theme", "user_preferences", "editor", "user"),
        ("Short answers, then the details", "user_preferences", "answers", "preference"),
        ("Reads diffs before prose", "user_preferences", "", "note"),
        ("Project name: tidepool", "project_insights", "project_name", "project"),
        ("Project type: rust_service", "project_insights", "project_type", "project"),
        ("One writer thread owns the ledger", "project_insights", "", "architecture"),
        ("Handlers return typed errors", "project_insights", "", "pattern"),
        ("Builds run in Nix shells", "project_insights", "builds", "pattern"),
        ("Commit subjects start with a verb", "project_insights", "", "convention"),
        ("The staging cluster sleeps at night", "project_insights", "", "note"),
        ("Port 7443 belongs to the gateway", "learned_facts", "gateway", "fact"),
        ("Fixtures live under data/", "learned_facts", "", "learned"),
        ("The queue is NATS, not Kafka", "learned_facts", "", "correction"),
        ("'Board' means the hardware, not the kanban", "learned_facts", "", "clarification"),
    ],
)
def test_every_entry_becomes_one_pinned_memory(kb, old, body, category, key, tag):
    import_json(kb, str(old))
    (note,) = [note for note in kb.list(category=category, tags=[tag]).notes if note.body == body]
    assert (note.key, note.pinned, note.source) == (key, True, "imported")
    assert body in kb.context().text
    assert body in [hit.note.body for hit in kb.recall(body).hits]


def test_there_is_no_other_memory_than_those_and_no_line_is_skipped(kb, old):
    report = import_json(kb, str(old))
    assert len(bodies(kb)) == len(set(bodies(kb))) == 16
    assert report.counts == {"created": 16, "unchanged": 3}  # the three that both files have
    assert not kb.list().problems


def test_a_memory_keeps_its_date_and_what_only_the_context_says_is_dated_by_that(kb, old):
    import_json(kb, str(old))
    assert found(kb, "editor").created == "2025-11-05T09:12:44.123456"
    assert found(kb, "builds").created == "2025-11-06T10:00:00+01:00"
    assert found(kb, "answers").created == CONTEXT["updated"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2025-11-05 09:12:44.5", "2025-11-05T09:12:44.500000"),
        ("2025-11-05T09:12:44Z", "2025-11-05T09:12:44Z"),
        ("2025-11-05", "2025-11-05T00:00:00"),
        *((wrong, "") for wrong in ("yesterday", "2025-02-30T10:00:00", "", 1762333964, None)),
    ],
)
def test_other_ways_to_write_a_date_are_understood_and_what_is_none_is_today(kb, old, given, kept):
    put(old, learned_facts={"k": {"value": "A fact", "timestamp": given}})
    today = datetime.now(UTC).isoformat(timespec="seconds")
    line = at(import_json(kb, str(old / ".co-cli/memories/learned_facts.json")), "k")
    assert line.outcome == "created"
    assert found(kb, "k").created == kept if kept else found(kb, "k").created >= today
    assert ("no date" in line.reason) is (not kept and given is not None)


def test_the_global_vault_can_take_it(kb, old):
    report = import_json(kb, str(old), in_global=True)
    assert report.vault == "global"
    assert {note.vault for note in kb.list().notes} == {"global"}
    assert at(report, "user.preferences.answers").ref.startswith("g:")
    assert import_json(kb, str(old), in_global=True).counts == {"unchanged": 19}


@pytest.mark.parametrize(
    ("path", "count"),
    [
        (".", 16),
        (".co-cli", 16),
        (".co-cli/internal/context.json", 16),
        (".co-cli/internal", 16),
        (".co-cli/memories", 3),
        (".co-cli/memories/project_insights.json", 1),
    ],
)
def test_every_form_of_path_is_understood(kb, old, path, count):
    import_json(kb, str(old / path))
    assert len(bodies(kb)) == count


def test_any_script_and_any_encoding_survives(kb, old):
    memories = old / ".co-cli" / "memories"
    text = json.dumps({"Größe": {"value": "日本語 \U0001f41a", "timestamp": None}})  # as \\u escapes
    (memories / "user_preferences.json").write_bytes(b"\xef\xbb\xbf" + text.encode())
    text = json.dumps({"ключ 🐚": {"value": "Ответы по-русски"}}, ensure_ascii=False)
    (memories / "project_insights.json").write_bytes(text.encode("utf-16"))
    for _ in range(2):
        report = import_json(kb, str(memories))
    assert found(kb, "Größe").body == "日本語 \U0001f41a"
    assert found(kb, "ключ 🐚").body == "Ответы по-русски"
    assert report.counts == {"unchanged": 3}
    (memories / "project_insights.json").write_text(json.dumps({"ключ 🐚": {"value": "Или нет"}}))
    import_json(kb, str(memories))
    assert found(kb, "ключ 🐚").body == "Или нет"


# ------------------------------------------------------------------------------------------------------- once, and again


def test_a_second_run_changes_nothing(kb, old, tmp_path):
    first = import_json(kb, str(old))
    before = everything_under(tmp_path)
    second = import_json(kb, str(old))
    assert everything_under(tmp_path) == before
    assert second.counts == {"unchanged": 19}
    assert [(entry.at, entry.ref) for entry in second.entries] == [(entry.at, entry.ref) for entry in first.entries]


def test_a_copy_names_the_memory_that_it_became_part_of(kb, old):
    report = import_json(kb, str(old))
    copy = at(report, "user.preferences.editor")
    assert fate(report, copy.at) == ("unchanged", "copy")
    assert copy.ref == found(kb, "editor").ref
    assert copy.reason == "says the same as memories/user_preferences.json: editor"
    assert copy.origin == "internal/context.json: user.preferences.editor"


def test_a_memory_file_counts_more_than_an_older_copy_of_it(kb, old):
    put(old, preferences(editor="Something else"))
    report = import_json(kb, str(old))
    assert found(kb, "editor").body == "Helix with the light theme"
    assert fate(report, "user.preferences.editor") == ("skipped", "outdone")


def test_one_text_under_two_keys_is_found_under_both(kb, old):
    put(old, preferences(shell="fish", prompt="fish"))
    kb.save("fish")
    for _ in range(2):
        report = import_json(kb, str(old / ".co-cli/internal"))
    assert found(kb, "shell").body == found(kb, "prompt").body == "fish"
    assert report.counts == {"unchanged": 2}


def test_a_preference_called_name_does_not_cost_the_name(kb, old):
    put(old, {"user": {"name": "Noor Haddad", "preferences": {"name": "Call me Noor"}}})
    for _ in range(2):
        report = import_json(kb, str(old / ".co-cli/internal"))
    assert found(kb, "name").body == "Call me Noor"
    assert found(kb, "user.name").body == "Name: Noor Haddad"
    assert report.counts == {"unchanged": 2}


def test_a_changed_value_updates_its_memory_as_often_as_it_changes(kb, old):
    import_json(kb, str(old))
    ref = found(kb, "gateway").ref
    for port in ("8443", "9443"):
        text = f"Port {port} belongs to the gateway"
        put(old, learned_facts={"gateway": {"value": text, "timestamp": "2025-11-07T11:30:00"}})
        report = import_json(kb, str(old / ".co-cli/memories"))
        assert (at(report, "gateway").outcome, at(report, "gateway").ref) == ("updated", ref)
        assert found(kb, "gateway").body == text
    assert found(kb, "gateway").created == "2025-11-07T11:30:00"
    kb.undo()
    assert found(kb, "gateway").body == "Port 8443 belongs to the gateway"


def test_what_was_changed_here_since_stays(kb, old):
    import_json(kb, str(old))
    kb.update(found(kb, "editor").ref, content="Back to Vim", pinned=False)
    kb.archive([found(kb, "builds").ref])
    kb.update(found(kb, "answers").ref, pinned=False)
    for path in old.rglob("*.json"):
        os.utime(path, (OLD, OLD))
    report = import_json(kb, str(old))
    assert found(kb, "editor").body == "Back to Vim"
    assert fate(report, "editor") == ("skipped", "newer-here")
    assert fate(report, "builds") == ("unchanged", "archived")
    assert not found(kb, "answers").pinned
    assert len(bodies(kb)) == 15


def test_a_text_that_was_learned_here_already_is_pinned_and_not_doubled(kb, old):
    mine = kb.save("reads diffs before prose.").note
    report = import_json(kb, str(old))
    assert kb.get(mine.ref).pinned
    assert (at(report, "user.notes[0]").outcome, at(report, "user.notes[0]").ref) == ("updated", mine.ref)
    assert at(import_json(kb, str(old)), "user.notes[0]").outcome == "unchanged"


def test_a_text_of_the_global_vault_is_left_alone_there(kb, old):
    mine = kb.save("Reads diffs before prose", in_global=True).note
    import_json(kb, str(old))
    assert kb.get(mine.ref).raw == mine.raw
    assert "Reads diffs before prose" in kb.context().text


def test_a_dry_run_says_the_same_and_writes_nothing(kb, old, tmp_path):
    import_json(kb, str(old))
    put(old, preferences(answers="Long answers", pager="less", token="ghp_" + "a1B2" * 9))
    before = everything_under(tmp_path)
    planned = import_json(kb, str(old), dry_run=True)
    assert everything_under(tmp_path) == before
    assert planned.counts == {"would-create": 1, "would-update": 1, "unchanged": 3, "skipped": 1}
    assert at(planned, "user.preferences.pager").ref == ""
    assert at(planned, "user.preferences.answers").ref == found(kb, "answers").ref
    done = import_json(kb, str(old))
    assert [entry.outcome for entry in done.entries] == [
        {"would-create": "created", "would-update": "updated"}.get(entry.outcome, entry.outcome) for entry in planned.entries
    ]


# ------------------------------------------------------------------------------------------------- nothing goes unnoticed


@pytest.mark.parametrize(
    ("context", "place", "code"),
    [
        ({"agenda": {}}, "agenda", "unknown"),
        ({"user": {"shoe size": 43}}, 'user["shoe size"]', "unknown"),
        ({"user": []}, "user", "wrong-type"),
        ({"user": {"name": 7}}, "user.name", "wrong-type"),
        ({"user": {"name": "  "}}, "user.name", "empty"),
        ({"user": {"preferences": ["x"]}}, "user.preferences", "wrong-type"),
        ({"user": {"preferences": {"indent": 4}}}, "user.preferences.indent", "wrong-type"),
        ({"user": {"preferences": {"indent": None}}}, "user.preferences.indent", "empty"),
        ({"user": {"preferences": {"\ud800": "x"}}}, r'user.preferences["\ud800"]', "invalid"),
        ({"user": {"preferences": {"half": "x \ud800"}}}, "user.preferences.half", "invalid"),
        ({"project": {"patterns": "one"}}, "project.patterns", "wrong-type"),
        ({"project": {"patterns": ["", {}]}}, "project.patterns[1]", "wrong-type"),
        ({"learned_facts": {"facts": [""]}}, "learned_facts.facts[0]", "empty"),
        ({"updated": "soon"}, "updated", "wrong-type"),
        ({"user": {"notes": ["The password is hunter2-Xy99"]}}, "user.notes[0]", "secret"),
        ('{"user": {"preferences": {"a": "1", "a": "2"}}}', "user.preferences.a", "repeated"),
    ],
)
def test_what_cannot_be_taken_over_is_a_line_and_the_rest_goes_on(kb, old, context, place, code):
    put(old, context)
    report = import_json(kb, str(old))
    line = next(entry for entry in report.skipped if entry.at == place)
    assert line.code == code
    assert line.reason
    assert "hunter2" not in repr(report)
    assert {"editor", "builds", "gateway"} <= {note.key for note in kb.list().notes}


@pytest.mark.parametrize(
    ("entry", "place", "code"),
    [
        ("just a text", "k", "wrong-type"),
        ({"timestamp": "2025-11-05T09:12:44"}, "k", "empty"),
        ({"value": ["x"]}, "k", "wrong-type"),
        ({"value": "y" * (50 * 1024 * 1024 + 1)}, "k", "invalid"),
        ({"value": "A fact", "colour": "red"}, "k.colour", "unknown"),
    ],
)
def test_an_entry_of_a_memory_file_that_is_none_is_a_line(kb, old, entry, place, code):
    put(old, learned_facts={"k": entry, "good": {"value": "The good one"}})
    report = import_json(kb, str(old / ".co-cli" / "memories"))
    assert [(line.at, line.code) for line in report.skipped] == [(place, code)]
    assert found(kb, "good").body == "The good one"


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b'{\n  "user": {\n    "name": "Noor",,\n}', 3, "no JSON"),
        (b"", 1, "no JSON"),
        (b'{"user":\n {"name": "\xff"}}', 2, "UTF-8"),
        (b"[" * 100_000, 1, "cannot be read"),
        (b"[]", 1, "an object"),
        (b'{\n"version": "2.0", "user": {}}', 2, '"2.0"'),
        (b'{\n\n"version": 1.0}', 3, "1.0"),
    ],
)
def test_a_broken_file_is_named_with_its_line(kb, old, content, line, words):
    path = old / ".co-cli" / "internal" / "context.json"
    path.write_bytes(content)
    with pytest.raises(Corrupt, match=r"context\.json") as caught:
        import_json(kb, str(path))
    assert f"{path}:{line}: " in caught.value.message
    assert words in caught.value.message
    report = import_json(kb, str(old))  # among others it is a line
    assert [(entry.file, entry.line) for entry in report.skipped] == [(str(path), line)]
    assert report.counts["created"] == 3


def test_files_that_are_not_read_are_named(kb, old):
    (old / ".co-cli/memories/holidays.json").write_text("{}")
    (old / ".co-cli/internal/context.json").unlink()
    (old / ".co-cli/internal/context.json").mkdir()
    report = import_json(kb, str(old))
    skipped = {Path(entry.file).name: entry.code for entry in report.skipped}
    assert skipped == {"context.json": "unreadable", "holidays.json": "unknown"}
    assert len(report.files) == 3


@pytest.mark.parametrize(
    ("path", "kind"), [("nowhere", NotFound), ("", Invalid), ("empty", NotFound), ("notes.json", Invalid)]
)
def test_a_path_that_holds_none_of_it_is_refused_with_the_forms_that_are_accepted(kb, tmp_path, path, kind):
    (tmp_path / "empty" / ".co-cli" / "memories").mkdir(parents=True)
    (tmp_path / "notes.json").write_text("{}")
    with pytest.raises(CoError, match=r"\.") as caught:
        import_json(kb, str(tmp_path / path) if path else "")
    assert type(caught.value) is kind
    assert "context.json" in caught.value.hint
    assert bodies(kb) == []


def test_an_empty_form_is_no_error(kb, tmp_path):
    report = import_json(kb, str(put(tmp_path / "new", {}, learned_facts={})))
    assert (report.counts, report.entries) == ({}, ())
