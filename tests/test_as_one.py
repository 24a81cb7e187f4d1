"""Several changes as one: done at once or not at all, and taken back at once."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from co_cli.errors import CoError, NotFound
from co_cli.knowledge import KnowledgeBase, open_knowledge_at


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeBase:
    return open_knowledge_at(home=str(tmp_path / "home"), state=str(tmp_path / "state"), project=str(tmp_path / "project"))


def texts(kb: KnowledgeBase) -> list[str]:
    return [note.body for note in kb.list().notes]


def test_what_is_done_as_one_is_done_and_undone_as_one(kb: KnowledgeBase) -> None:
    kb.save("We deploy on Mondays.")

    def action(rehearsal: KnowledgeBase) -> None:
        rehearsal.save("We deploy on Tuesdays.")
        rehearsal.forget("1")
        rehearsal.save("Tell everybody in all projects.", in_global=True)

    changes = kb.as_one(action, "accept", "moved the day of deploying")

    assert texts(kb) == ["We deploy on Tuesdays.", "Tell everybody in all projects."]
    assert len(changes) == 3
    project, everywhere = (next(entry for entry in kb.log() if entry.vault == name) for name in ("project", "global"))
    assert project.change.summary == everywhere.change.summary == "moved the day of deploying"
    kb.undo(project.id)
    assert texts(kb) == ["We deploy on Mondays.", "Tell everybody in all projects."]


def test_an_action_that_fails_halfway_has_done_nothing(kb: KnowledgeBase) -> None:
    def action(rehearsal: KnowledgeBase) -> None:
        rehearsal.save("This is never written.")
        rehearsal.forget("99")

    with pytest.raises(NotFound):
        kb.as_one(action, "accept", "never")

    assert texts(kb) == []
    assert not os.path.exists(kb.vault("project").root)  # not even the folder was made


def test_an_action_sees_what_it_has_done_before(kb: KnowledgeBase) -> None:
    def action(rehearsal: KnowledgeBase) -> None:
        first = rehearsal.save("Tabs, not spaces.").note
        second = rehearsal.save("Two blank lines.").note
        assert (first.id, second.id) == (1, 2)
        assert rehearsal.save("tabs, not spaces").outcome == "unchanged"
        rehearsal.update(first.ref, tags=["style"])
        rehearsal.update(first.ref, content="Spaces, not tabs.")
        rehearsal.forget(second.ref)
        rehearsal.write_topic("style guide", "See memory 1.")
        assert rehearsal.topic("style guide").body == "See memory 1."

    changes = kb.as_one(action, "accept", "style")

    assert texts(kb) == ["Spaces, not tabs."]
    assert kb.get("1").tags == ("style",)
    assert [os.path.basename(change.path) for change in changes] == ["001-tabs-not-spaces.md", "style_guide.md"]


def test_a_rehearsal_touches_neither_notes_nor_index(kb: KnowledgeBase) -> None:
    kb.save("The port is 8080.")
    kb.recall("port", mode="text")

    def action(rehearsal: KnowledgeBase) -> None:
        rehearsal.update("1", content="The port is 9090.")
        rehearsal.recall("port", mode="text")

    kb.rehearse(action)

    assert texts(kb) == ["The port is 8080."]
    assert [hit.note.body for hit in kb.recall("8080", mode="text").hits] == ["The port is 8080."]
    assert not kb.recall("9090", mode="text").hits


def test_what_is_forgotten_as_one_leaves_the_index(kb: KnowledgeBase) -> None:
    kb.save("The secret garden is behind the wall.")
    kb.recall("garden", mode="text")

    kb.as_one(lambda rehearsal: rehearsal.forget("1"), "accept", "forgot it")

    index = Path(kb.vault("project").root, "knowledge.db").read_bytes()
    assert b"garden" not in index


def test_a_note_that_is_forgotten_as_one_comes_back_with_an_id_of_its_own(kb: KnowledgeBase) -> None:
    kb.save("Old.")
    kb.as_one(lambda rehearsal: rehearsal.forget("1"), "accept", "forgot it")
    kb.save("New, with the same id.")

    kb.undo("p2")

    assert sorted((note.id, note.body) for note in kb.list().notes) == [(1, "New, with the same id."), (2, "Old.")]


def test_many_at_once_give_every_memory_an_id_of_its_own(kb: KnowledgeBase) -> None:
    failed: list[CoError] = []

    def work(number: int) -> None:
        def action(rehearsal: KnowledgeBase) -> None:
            rehearsal.save(f"Fact {number} of the first kind.")
            rehearsal.save(f"Fact {number} of the second kind.")

        own = open_knowledge_at(home=kb.places.home, state=kb.places.state, project=kb.places.project)
        try:
            own.as_one(action, "accept", f"facts {number}")
        except CoError as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not failed
    assert sorted(note.id or 0 for note in kb.list().notes) == list(range(1, 13))
