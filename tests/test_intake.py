"""An import is one change, whatever its format: it is made at once, and taken back at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from co_cli import Denied, KnowledgeBase
from co_cli.exchange.intake import Document, Entry, take_in
from co_cli.exchange.report import ImportEntry


def fact(text: str, **given: object) -> Entry:
    fields = {"file": "/there/file.json", "written": 0.0, "at": "", "category": "", "tags": [], "pinned": False}
    return Entry(text=text, **{**fields, **given})


def kept(kb: KnowledgeBase, *items: Entry | Document, dry_run: bool = False) -> tuple[ImportEntry, ...]:
    return take_in(kb, items, in_global=False, dry_run=dry_run)


def files_under(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_import_is_one_change_that_one_undo_takes_back(kb: KnowledgeBase) -> None:
    mine = kb.save("This was here before").note
    lines = kept(
        kb,
        *(fact(f"Fact number {number}") for number in range(50)),
        Document("/there/a.md", "", "deploy", "Deploy on Fridays"),
        Document(
            "/there/b.json", "", "A talk", "Words", source="https://example.org/talk", updated="2026-01-02T03:04:05+00:00"
        ),
    )
    assert {line.outcome for line in lines} == {"created"}
    assert [note.id for note in kb.list().notes] == list(range(1, 52))
    assert kb.log()[0].change.summary == "imported notes: 52 created"
    kb.undo()
    assert kb.list(("memory", "topic", "article")).notes == (mine,)


def test_doing_it_again_changes_nothing_and_is_no_change_in_the_log(kb: KnowledgeBase, vault: Path) -> None:
    items = (fact("Fact"), Document("/there/a.md", "", "deploy", "Deploy on Fridays"))
    kept(kb, *items)
    before = files_under(vault)
    assert [line.outcome for line in kept(kb, *items)] == ["unchanged", "unchanged"]
    assert files_under(vault) == before
    assert len(kb.log()) == 1


def test_a_dry_run_says_the_same_and_writes_nothing_at_all(kb: KnowledgeBase, project: Path) -> None:
    items = (fact("Fact"), fact("fact!"), fact("password: hunter2hunter2"), Document("/a.md", "", "deploy", "On Fridays"))
    before = files_under(project.parent)
    would = kept(kb, *items, dry_run=True)
    assert files_under(project.parent) == before
    assert [line.outcome for line in would] == ["would-create", "unchanged", "skipped", "would-create"]
    assert [line.outcome for line in kept(kb, *items)] == ["created", "unchanged", "skipped", "created"]


def test_what_looks_like_a_secret_is_refused_and_the_rest_goes_on(kb: KnowledgeBase) -> None:
    lines = kept(
        kb, fact("token = ghp_" + "a1" * 20), Document("/a.md", "", "keys", "token = ghp_" + "a1" * 20), fact("Fine")
    )
    assert [(line.outcome, line.code) for line in lines] == [("skipped", "secret"), ("skipped", "secret"), ("created", "")]
    assert "ghp_" not in repr(lines)


def test_a_vault_is_not_made_for_nothing(kb: KnowledgeBase, project: Path) -> None:
    kept(kb, fact("token = ghp_" + "a1" * 20))
    assert not (project / ".co-cli").exists()


def test_a_memory_of_mine_that_says_the_same_is_left_as_it_is(kb: KnowledgeBase) -> None:
    mine = kb.save("We deploy on Fridays", tags=["ops"]).note
    (line,) = kept(kb, fact("we deploy on fridays.", tags=["imported"]))
    assert (line.outcome, line.ref) == ("unchanged", mine.ref)
    assert kb.get(mine.ref) == mine


def test_a_text_under_a_key_replaces_its_older_text_but_not_one_that_was_edited_here(kb: KnowledgeBase) -> None:
    kept(kb, fact("Tests run with pytest", key="tests"))
    (line,) = kept(kb, fact("Tests run with nox", key="tests", written=2e9))
    assert line.outcome == "updated"
    (note,) = kb.list().notes
    kb.update(note.ref, content="Tests run with make")
    (line,) = kept(kb, fact("Tests run with tox", key="tests", written=1e9))
    assert (line.outcome, line.code) == ("skipped", "newer-here")
    assert kb.get(note.ref).body == "Tests run with make"


@pytest.mark.parametrize("key", ["", "queue"])
def test_what_was_replaced_here_does_not_come_back(kb: KnowledgeBase, key: str) -> None:
    kept(kb, fact("The queue is Redis", key=key))
    new = kb.save("The queue is NATS").note
    old = kb.get("1")
    kb.update("1", text=old.text.replace("source:", f"superseded_by: {new.id}\nsource:"))
    (line,) = kept(kb, fact("The queue is Redis", key=key, written=4e9))
    assert (line.outcome, line.code, line.reason) == ("unchanged", "replaced", "2 took its place here")
    assert len(kb.list().notes) == 2


def test_an_article_is_known_by_its_source(kb: KnowledgeBase) -> None:
    first = Document(
        "/c.json", "", "A talk", "Words", source="https://example.org/talk", updated="2026-01-02T03:04:05+00:00"
    )
    other = Document(
        "/c.json", "", "A talk", "Other words", source="https://example.org/two", updated="2026-01-02T03:04:05+00:00"
    )
    assert [line.ref for line in kept(kb, first, other)] == ["article:a-talk", "article:a-talk-2"]
    assert [line.outcome for line in kept(kb, first, other)] == ["unchanged", "unchanged"]


def test_a_vault_that_is_closed_is_an_error_and_nothing_is_written(kb: KnowledgeBase, project: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (project / ".co-cli").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Denied):
        kept(kb, fact("Fact"))
    assert not list((tmp_path / "elsewhere").rglob("*.md"))
