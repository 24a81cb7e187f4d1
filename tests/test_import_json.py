"""The JSON form is taken over completely, once, and as often as one likes."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from co_cli import CoError, Corrupt, Invalid, KnowledgeBase, Note, NotFound
from co_cli.exchange.json_form import ImportEntry, ImportReport, import_json

CONTEXT = {
    "version": "1.0",
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
ONE_FILE = "memories/project_insights.json"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A project that still has the JSON form, all of it."""
    put(tmp_path / "old", CONTEXT, **MEMORIES)
    return tmp_path / "old"


def put(top: Path, context: object = None, **memories: object) -> Path:
    files = {"internal/context": context, **{f"memories/{name}": content for name, content in memories.items()}}
    for name, content in files.items():
        if content is not None:
            path = top / ".co-cli" / f"{name}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return top


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


@pytest.mark.parametrize(
    ("path", "count"),
    [("..", 16), (".", 16), ("internal", 16), ("internal/context.json", 16), ("memories", 3), (ONE_FILE, 1)],
)
def test_every_form_of_path_is_understood(kb, old, path, count):
    import_json(kb, str(old / ".co-cli" / path))
    assert len(bodies(kb)) == count


def test_any_script_and_any_encoding_survives(kb, old):
    memories = old / ".co-cli" / "memories"
    text = json.dumps({"Größe": {"value": "日本語 \U0001f41a", "timestamp": None}})  # as \u escapes
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


@pytest.mark.parametrize("vault", ["project", "global"])
def test_a_second_run_changes_nothing(kb, old, tmp_path, vault):
    first = import_json(kb, str(old), in_global=vault == "global")
    assert {note.vault for note in kb.list().notes} == {first.vault} == {vault}
    before = everything_under(tmp_path)
    second = import_json(kb, "~/../old", in_global=vault == "global")
    assert everything_under(tmp_path) == before
    assert second.counts == {"unchanged": 19}
    assert [(entry.at, entry.ref) for entry in second.entries] == [(entry.at, entry.ref) for entry in first.entries]
    assert all(kb.get(entry.ref).summary == entry.summary for entry in second.entries)


def test_a_key_that_is_blank_is_none_at_every_run(kb: KnowledgeBase, tmp_path: Path):
    blank = {" ": {"value": "Says little", "timestamp": "2025-01-01T00:00:00"}, " a ": {"value": "Says more"}}
    top = put(tmp_path / "blank", user_preferences=blank)
    import_json(kb, str(top))
    before = [note.raw for note in kb.list().notes]
    assert [note.key for note in kb.list().notes] == ["", "a"]
    assert {entry.outcome for entry in import_json(kb, str(top)).entries} == {"unchanged"}
    assert [note.raw for note in kb.list().notes] == before


def test_a_copy_is_part_of_the_memory_that_it_is_a_copy_of(kb, old):
    copy = at(import_json(kb, str(old)), "user.preferences.editor")
    assert (copy.outcome, copy.code, copy.ref) == ("unchanged", "copy", found(kb, "editor").ref)
    assert copy.reason == "says the same as memories/user_preferences.json: editor"
    assert copy.origin == "internal/context.json: user.preferences.editor"


def test_a_memory_file_counts_more_than_an_older_copy_of_it(kb, old):
    report = import_json(kb, str(put(old, {"user": {"preferences": {"editor": "Something else"}}})))
    assert found(kb, "editor").body == "Helix with the light theme"
    assert fate(report, "user.preferences.editor") == ("skipped", "outdone")


@pytest.mark.parametrize(
    ("user", "kept"),
    [
        ({"preferences": {"shell": "fish", "prompt": "fish"}}, {"shell": "fish", "prompt": "fish"}),
        ({"name": "Noor", "preferences": {"name": "Call me No"}}, {"name": "Call me No", "user.name": "Name: Noor"}),
    ],
)
def test_neither_a_shared_text_nor_a_shared_key_costs_an_entry(kb, old, user, kept):
    kb.save("fish")
    for _ in range(2):
        report = import_json(kb, str(put(old, {"user": user}) / ".co-cli/internal"))
    assert {key: found(kb, key).body for key in kept} == kept
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
    for key, text in [("editor", "Back to Vim"), ("gateway", "Other"), ("gateway", "Port 7443 belongs to the gateway")]:
        kb.update(found(kb, key).ref, content=text)
    kb.update(found(kb, "answers").ref, pinned=False)
    kb.archive([found(kb, "builds").ref])
    put(old, {"user": {"preferences": {"answers": "Long answers"}}})
    for path in old.rglob("*.json"):
        os.utime(path, (0, 0))
    assert import_json(kb, str(old), dry_run=True).counts == {"would-update": 1, "unchanged": 2, "skipped": 1}
    report = import_json(kb, str(old))
    assert (fate(report, "editor"), found(kb, "editor").body) == (("skipped", "newer-here"), "Back to Vim")
    assert fate(report, "builds") == ("unchanged", "archived")
    assert (found(kb, "answers").body, found(kb, "answers").pinned) == ("Long answers", False)
    assert not any(line.summary for line in report.skipped)


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
    put(old, {"user": {"preferences": {"answers": "Long ones", "pager": "less", "token": "ghp_" + "a1B2" * 9}}})
    before = everything_under(tmp_path)
    planned = import_json(kb, str(old), dry_run=True)
    assert everything_under(tmp_path) == before
    assert planned.counts == {"would-create": 1, "would-update": 1, "unchanged": 3, "skipped": 1}
    assert at(planned, "user.preferences.pager").ref == ""
    assert at(planned, "user.preferences.answers").ref == found(kb, "answers").ref
    done = import_json(kb, str(old))
    assert done.counts == {"created": 1, "updated": 1, "unchanged": 3, "skipped": 1}


@pytest.mark.parametrize(
    ("file", "content", "place", "code"),
    [
        ("context", {"agenda": {}}, "agenda", "unknown"),
        ("context", {"updated": "soon"}, "updated", "wrong-type"),
        ("context", {"user": []}, "user", "wrong-type"),
        ("context", {"user": {"shoe size": 43}}, 'user["shoe size"]', "unknown"),
        ("context", {"user": {"name": 7}}, "user.name", "wrong-type"),
        ("context", {"user": {"name": "  "}}, "user.name", "empty"),
        ("context", {"user": {"preferences": ["x"]}}, "user.preferences", "wrong-type"),
        ("context", {"user": {"preferences": {"indent": 4}}}, "user.preferences.indent", "wrong-type"),
        ("context", {"user": {"preferences": {"indent": None}}}, "user.preferences.indent", "empty"),
        ("context", {"user": {"preferences": {"\ud800": "x"}}}, r'user.preferences["\ud800"]', "invalid"),
        ("context", {"user": {"preferences": {"half": "x \ud800"}}}, "user.preferences.half", "invalid"),
        ("context", '{"user": {"preferences": {"a": "1", "a": "2"}}}', "user.preferences.a", "repeated"),
        ("context", {"user": {"notes": ["The password is hunter2-Xy99"]}}, "user.notes[0]", "secret"),
        ("context", {"project": {"patterns": "one"}}, "project.patterns", "wrong-type"),
        ("context", {"project": {"patterns": ["x", {}]}}, "project.patterns[1]", "wrong-type"),
        ("context", {"learned_facts": {"facts": [""]}}, "learned_facts.facts[0]", "empty"),
        ("learned_facts", {"k": "just a text"}, "k", "wrong-type"),
        ("learned_facts", {"k": {"timestamp": "2025-11-05T09:12:44"}}, "k", "empty"),
        ("learned_facts", {"k": {"value": ["x"]}}, "k", "wrong-type"),
        ("learned_facts", {"k": {"value": "x", "colour": "red"}}, "k.colour", "unknown"),
        pytest.param("learned_facts", {"k": {"value": "y" * (50 * 2**20 + 1)}}, "k", "invalid", id="too-long"),
    ],
)
def test_what_cannot_be_taken_over_is_a_line_and_the_rest_goes_on(kb, old, file, content, place, code):
    report = import_json(kb, str(put(old, **{file: content})))
    assert [(line.at, line.code) for line in report.skipped] == [(place, code)]
    assert all(line.reason and not line.ref for line in report.skipped)
    assert "hunter2" not in repr(report)
    assert {"editor", "builds"} <= {note.key for note in kb.list().notes}


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
    with pytest.raises(Corrupt, match=rf"{re.escape(str(path))}:{line}: .*{words}"):
        import_json(kb, str(path))
    report = import_json(kb, str(old))  # among others it is a line
    assert [(entry.file, entry.line) for entry in report.skipped] == [(str(path), line)]
    assert report.counts["created"] == 3


def test_files_that_are_not_read_are_named(kb, old):
    (old / ".co-cli/memories/holidays.json").write_text("{}")
    (old / ".co-cli/internal/context.json").unlink()
    (old / ".co-cli/internal/context.json").mkdir()
    skipped = {Path(entry.file).name: entry.code for entry in import_json(kb, str(old)).skipped}
    assert skipped == {"context.json": "unreadable", "holidays.json": "unknown"}


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
