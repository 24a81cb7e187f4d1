"""Taking changes back: any of them, in any order, and never at the cost of what somebody did since."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from processes import contents

from co_cli import KnowledgeBase, journal
from co_cli.errors import Conflict, NotFound

BEGINNING = ["to be edited", "to be forgotten", "to be archived", "of no concern"]


@pytest.fixture
def five(kb: KnowledgeBase, vault: Path) -> dict[str, bytes]:
    """A vault in which five different things have just been done; its notes as they were before that."""
    for text in BEGINNING:
        kb.save(text)
    kb.save("to be replaced", category="learned_facts", key="height")
    before = contents(vault)
    kb.save("newly learned")
    kb.update("1", content="edited by now")
    kb.save("the replacement", category="learned_facts", key="height")
    kb.forget(["2"])
    kb.archive(["3"])
    return before


FIVE = ("p6", "p7", "p8", "p9", "p10")
DONE = [
    ("p10", "archive", "archived 3: to be archived"),
    ("p9", "forget", "forgot 2: to be forgotten"),
    ("p8", "learn", "updated 5: the replacement"),
    ("p7", "edit", "edited 1: edited by now"),
    ("p6", "learn", "learned 6: newly learned"),
]


def bodies(kb: KnowledgeBase) -> list[str]:
    return [note.body for note in kb.list().notes]


def test_the_log_tells_what_was_done_newest_first(kb: KnowledgeBase, five: dict[str, bytes]):
    log = kb.log(limit=5)
    assert [(entry.id, entry.change.operation, entry.change.summary) for entry in log] == DONE
    assert [entry.position for entry in log] == [1, 2, 3, 4, 5]
    assert len(kb.log()) == 10


def test_the_log_tells_a_pin_from_an_edit(kb: KnowledgeBase):
    kb.save("to be pinned")
    kb.update("1", pinned=True)
    kb.update("1", pinned=False)
    kb.update("1", pinned=True, content="another text")
    summaries = [entry.change.summary for entry in kb.log(limit=3)]
    assert summaries == ["edited 1: another text", "unpinned 1: to be pinned", "pinned 1: to be pinned"]


ORDERS = [order for number, order in enumerate(itertools.permutations(FIVE)) if number % 17 == 0 or order == FIVE[::-1]]


@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
def test_changes_are_undone_in_any_order(order: tuple[str, ...], kb: KnowledgeBase, vault: Path, five: dict[str, bytes]):
    for which in order:
        assert kb.undo(which).id == which
    assert contents(vault) == five


def test_without_a_name_the_newest_change_that_still_stands_is_undone(
    kb: KnowledgeBase, vault: Path, five: dict[str, bytes]
):
    undone = [kb.undo().id for _ in range(5)]
    assert undone == [name for name, _, _ in DONE]
    assert contents(vault) == five
    for _ in range(5):
        kb.undo()
    assert contents(vault) == {}
    with pytest.raises(NotFound):
        kb.undo()


def test_a_change_is_named_by_its_place_in_the_log_too(kb: KnowledgeBase, five: dict[str, bytes]):
    assert kb.undo("#2").change.operation == "forget"
    assert "to be forgotten" in bodies(kb)


@pytest.mark.parametrize("which", ["0", "99", "p99", "g1", "x", "-1"])
def test_a_change_that_there_is_not_cannot_be_undone(which: str, kb: KnowledgeBase, five: dict[str, bytes]):
    before = bodies(kb)
    with pytest.raises(NotFound, match="no change"):
        kb.undo(which)
    assert bodies(kb) == before


def test_a_change_is_undone_once(kb: KnowledgeBase, five: dict[str, bytes]):
    kb.undo("p9")
    with pytest.raises(Conflict, match="already"):
        kb.undo("p9")
    assert bodies(kb).count("to be forgotten") == 1


def test_undoing_an_undo_does_the_change_again_and_it_can_be_undone_again(kb: KnowledgeBase, vault: Path):
    kb.save("there and gone")
    there = contents(vault)
    kb.undo("p1")
    assert contents(vault) == {}
    kb.undo("p2")
    assert contents(vault) == there
    assert [entry.change.undone for entry in kb.log()] == [False, True, False]
    kb.undo("p1")
    assert contents(vault) == {}
    with pytest.raises(Conflict, match="already"):
        kb.undo("p2")


def test_undoing_the_undo_of_a_forget_forgets_again(kb: KnowledgeBase, vault: Path, five: dict[str, bytes]):
    before = contents(vault)
    kb.undo("p9")
    kb.undo("p11")
    assert contents(vault) == before


# ------------------------------------------------------------------------------------------------- changed in the meantime


@pytest.mark.parametrize("which", ["p6", "p7", "p8"])
def test_what_was_changed_by_hand_since_is_not_undone(which: str, kb: KnowledgeBase, vault: Path, five: dict[str, bytes]):
    ref = {"p6": "6", "p7": "1", "p8": "5"}[which]
    path = Path(kb.get(ref).path)
    path.write_bytes(path.read_bytes() + b"A line by hand.\n")
    before = contents(vault)
    log = len(kb.log(limit=100))

    with pytest.raises(Conflict) as caught:
        kb.undo(which)

    assert "+A line by hand." in caught.value.details
    assert str(path) in caught.value.message
    assert caught.value.hint
    assert contents(vault) == before
    assert len(kb.log(limit=100)) == log
    assert not any(entry.change.undone for entry in kb.log())


def test_what_was_changed_by_co_since_is_not_undone_before_that(kb: KnowledgeBase, vault: Path):
    kb.save("the first text")
    kb.update("1", content="the second text")
    kb.update("1", content="the third text")
    with pytest.raises(Conflict) as caught:
        kb.undo("p2")
    assert "-the second text" in caught.value.details
    assert "+the third text" in caught.value.details
    assert kb.get("1").body == "the third text"
    kb.undo("p3")
    kb.undo("p2")
    assert kb.get("1").body == "the first text"


def test_a_file_that_took_the_place_of_a_forgotten_one_stays(kb: KnowledgeBase):
    note = kb.save("the old heron").note
    kb.forget(["1"])
    Path(note.path).write_bytes(note.raw.replace(b"old", b"new"))
    with pytest.raises(Conflict) as caught:
        kb.undo()
    assert "the new heron" in caught.value.details
    assert bodies(kb) == ["the new heron"]


def test_a_note_that_was_removed_by_hand_is_not_edited_back(kb: KnowledgeBase):
    note = kb.save("the text").note
    kb.update("1", content="the edited text")
    Path(note.path).unlink()
    with pytest.raises(Conflict) as caught:
        kb.undo()
    assert "no file" in caught.value.details
    assert bodies(kb) == []


def test_of_a_change_of_several_notes_all_are_undone_or_none(kb: KnowledgeBase, vault: Path):
    for number in range(1, 4):
        kb.save(f"fact {number}")
    first = Path(kb.get("1").path)
    kb.forget(["1", "2", "3"])
    first.write_bytes(b"in the way")
    with pytest.raises(Conflict):
        kb.undo()
    assert contents(vault) == {f"memories/{first.name}": b"in the way"}
    first.unlink()
    kb.undo()
    assert bodies(kb) == ["fact 1", "fact 2", "fact 3"]


# ------------------------------------------------------------------------------------------------------ an id that was taken


def texts(kb: KnowledgeBase) -> dict[int | None, str]:
    """All notes by id, those in the archive too; no id is there twice."""
    notes = [*kb.list().notes, *kb.list(archived=True).notes]
    by_id = {note.id: note.body for note in notes}
    assert len(by_id) == len(notes)
    return by_id


def test_a_forgotten_note_whose_id_was_taken_comes_back_under_another(kb: KnowledgeBase):
    kb.save("the first")
    kb.save("forgotten", tags=["kept"], private=True)
    kb.forget(["2"])
    kb.save("took the id")
    kb.undo("p3")
    assert texts(kb) == {1: "the first", 2: "took the id", 3: "forgotten"}
    back = kb.get("3")
    assert back.tags == ("kept",)
    assert back.private
    assert Path(back.path).name == "003-private.md"


@pytest.mark.parametrize("order", [("2", "3", "4"), ("4", "3", "2"), ("3", "4", "2")])
@pytest.mark.parametrize("taken", [1, 2, 3])
def test_several_forgotten_notes_come_back_under_different_ids(taken: int, order: tuple[str, ...], kb: KnowledgeBase):
    for text in ("the first", "forgotten 2", "forgotten 3", "forgotten 4"):
        kb.save(text)
    kb.forget(order)
    for number in range(taken):
        kb.save(f"took an id, {number}")
    kb.undo("p5")
    found = texts(kb)
    assert sorted(found.values()) == sorted(
        ["the first", "forgotten 2", "forgotten 3", "forgotten 4", *(f"took an id, {number}" for number in range(taken))]
    )
    assert set(found) == set(range(1, 5 + taken))
    for number in range(2 + taken, 5):
        assert found[number] == f"forgotten {number}", "an id that is free stays"


def test_an_id_is_taken_by_a_note_in_the_archive_too(kb: KnowledgeBase):
    kb.save("forgotten")
    kb.forget(["1"])
    kb.save("took the id")
    kb.archive(["1"])
    kb.undo("p2")
    assert texts(kb) == {1: "took the id", 2: "forgotten"}


def test_a_note_forgotten_out_of_the_archive_comes_back_there(kb: KnowledgeBase):
    kb.save("archived")
    kb.archive(["1"])
    kb.forget(["1"])
    kb.save("took the id")
    kb.undo("p3")
    assert texts(kb) == {1: "took the id", 2: "archived"}
    assert bodies(kb) == ["took the id"]


def test_coming_back_under_another_id_can_be_undone_as_well(kb: KnowledgeBase):
    kb.save("forgotten")
    kb.forget(["1"])
    kb.save("took the id")
    kb.undo("p2")
    kb.undo("p4")
    assert texts(kb) == {1: "took the id"}


# ------------------------------------------------------------------------------------------------------------- the journal


def test_the_journal_keeps_the_newest_changes_and_no_more(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(journal, "KEPT", 30)
    for number in range(120):
        kb.save(f"fact {number}", force=True)

    kept = [entry.id for entry in kb.log(limit=1000)]
    assert kept[0] == "p120"
    assert 30 <= len(kept) < 100
    assert kept == [f"p{number}" for number in range(120, 120 - len(kept), -1)]
    with pytest.raises(NotFound):
        kb.undo("p1")
    for _ in range(20):
        kb.undo()
    assert len(kb.list().notes) == 100
