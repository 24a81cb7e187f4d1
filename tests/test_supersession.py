"""Supersession: one memory takes the place of another, which stays readable, and nothing is ever silently overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import Co
from processes import contents

from co_cli import KnowledgeBase
from co_cli.bench.processes import environment, installed_command, run_times
from co_cli.errors import Conflict, Invalid
from co_cli.note import MEMORY, render_memory

DAY = "2026-03-05T10:00:00+00:00"
EVERY_MODE = ("grep", "text", "hybrid")


def write(vault: Path, number: int, text: str, **fields: object) -> None:
    raw = render_memory({"id": number, "created": DAY, "tags": [], "source": "user-told", **fields}, text)
    (vault / "memories" / f"{number:03d}-note.md").write_bytes(raw)


@pytest.fixture
def changed_mind(kb: KnowledgeBase, vault: Path) -> KnowledgeBase:
    kb.save("The project indents with tabs", created=DAY)
    kb.save("Deployments happen on Fridays", created=DAY)
    kb.save("The project indents with spaces", created="2026-04-01T10:00:00+00:00")
    kb.supersede("1", by="3")
    return kb


def found(kb: KnowledgeBase, query: str, **how: object) -> list[tuple[str, str | None]]:
    return [(hit.note.ref, hit.why.standing) for hit in kb.recall(query, **how).hits]


def test_both_notes_say_so_and_the_old_one_stays_readable(changed_mind: KnowledgeBase):
    old, new = changed_mind.get("1"), changed_mind.get("3")
    assert (old.superseded_by, old.body) == (3, "The project indents with tabs")
    assert new.supersedes == (1,)
    assert "\nsupersedes: 1\n" in new.text
    assert [note.ref for note in changed_mind.list().notes] == ["1", "2", "3"]


@pytest.mark.parametrize("mode", EVERY_MODE)
def test_recall_shows_what_stands_now_and_since_when(changed_mind: KnowledgeBase, mode: str):
    assert found(changed_mind, "indents", mode=mode)[0] == ("3", "supersedes 1 since 2026-04-01")
    assert "1" not in [ref for ref, _standing in found(changed_mind, "indents", mode=mode)]


@pytest.mark.parametrize("mode", EVERY_MODE)
def test_what_only_the_old_words_fit_is_answered_by_the_new_note(changed_mind: KnowledgeBase, mode: str):
    first, *_rest = changed_mind.recall("tabs", mode=mode).hits
    assert first.content == "The project indents with spaces"
    assert first.why.standing == "supersedes 1 since 2026-04-01, in whose place it was found"


@pytest.mark.parametrize("mode", EVERY_MODE)
def test_the_old_note_is_shown_behind_the_new_one_where_it_is_asked_for(changed_mind: KnowledgeBase, mode: str):
    assert found(changed_mind, "indents", mode=mode, superseded=True)[:2] == [
        ("3", "supersedes 1 since 2026-04-01"),
        ("1", "superseded by 3 since 2026-04-01"),
    ]


def test_left_out_notes_make_room_for_others(kb: KnowledgeBase):
    for number in range(1, 7):
        kb.save(f"Build number {number} takes long")
    for number in range(2, 6):
        kb.supersede(str(number), by="6")
    assert {ref for ref, _standing in found(kb, "build", limit=2)} == {"6", "1"}


def test_a_chain_leads_to_its_end(changed_mind: KnowledgeBase):
    changed_mind.save("The project indents with three blanks", created="2026-05-01T10:00:00+00:00")
    changed_mind.supersede("3", by="4")
    assert found(changed_mind, "tabs") == [("4", "stands in the place of 1 since 2026-05-01")]


def test_several_are_superseded_at_once_and_in_steps(kb: KnowledgeBase):
    for text in ("One", "Two", "Three", "All of them"):
        kb.save(text)
    kb.supersede(["1", "2"], by="4")
    kb.supersede("3", by="4", because="they said the same")
    new = kb.get("4")
    assert (new.supersedes, new.because) == ((1, 2, 3), "they said the same")
    assert "\nsupersedes: [1, 2, 3]\n" in new.text
    before = new.raw
    assert kb.supersede("3", by="4").raw == before


def test_undo_takes_back_both_sides(changed_mind: KnowledgeBase, vault: Path):
    before = contents(vault)
    changed_mind.save("The project indents with three blanks")
    changed_mind.supersede("3", by="4")
    changed_mind.undo()
    changed_mind.undo()
    assert contents(vault) == before
    changed_mind.undo()
    assert found(changed_mind, "tabs") == [("1", None)]


def test_forgetting_the_new_one_lets_the_old_one_stand_again(changed_mind: KnowledgeBase):
    forgotten = changed_mind.forget("3")
    assert [note.ref for note in forgotten.standing] == ["1"]
    assert changed_mind.get("1").superseded_by is None
    assert found(changed_mind, "tabs") == [("1", None)]
    changed_mind.undo()
    assert changed_mind.get("1").superseded_by == 3


def test_forgetting_the_old_one_leaves_no_trace_of_it_on_the_new_one(changed_mind: KnowledgeBase):
    assert changed_mind.forget("1").standing == ()
    assert changed_mind.get("3").supersedes == ()
    assert "supersede" not in changed_mind.get("3").text


def test_forgetting_both_needs_no_mending(changed_mind: KnowledgeBase):
    changed_mind.forget(["1", "3"])
    assert [note.ref for note in changed_mind.list().notes] == ["2"]


def test_the_command_says_what_stands_again(changed_mind: KnowledgeBase, co: Co):
    assert co("forget", "3") == 0
    assert "1: The project indents with tabs stands again: nothing supersedes it any more." in co.out
    assert co.json("recall", "tabs")["results"][0]["ref"] == "1"


def test_recall_tells_people_and_programs(changed_mind: KnowledgeBase, co: Co):
    co("recall", "tabs")
    assert "(supersedes 1 since 2026-04-01, in whose place it was found)" in co.out
    (result,) = co.json("recall", "indents")["results"]
    assert result["supersedes"] == [1]
    assert result["why"]["standing"] == "supersedes 1 since 2026-04-01"
    co("recall", "indents", "--superseded")
    assert "(superseded by 3 since 2026-04-01)" in co.out
    co("list")
    assert "The project indents with tabs (superseded by 3)" in co.out


def test_who_says_the_old_thing_again_is_heard(changed_mind: KnowledgeBase):
    saved = changed_mind.save("the project indents with tabs.")
    assert (saved.outcome, saved.note.ref) == ("created", "4")
    changed_mind.supersede("3", by="4")
    assert found(changed_mind, "spaces")[0][0] == "4"


def test_a_superseded_key_is_not_written_to(kb: KnowledgeBase):
    kb.save("Tabs", category="user_preferences", key="indent")
    kb.save("Spaces", category="user_preferences")
    kb.supersede("1", by="2")
    assert kb.save("Blanks", category="user_preferences", key="indent").note.ref == "3"


def test_a_pinned_note_that_was_superseded_is_in_no_prompt(kb: KnowledgeBase):
    kb.save("Answer in French", pinned=True)
    kb.save("Answer in German", pinned=True)
    kb.supersede("1", by="2")
    assert "German" in kb.context().text
    assert "French" not in kb.context().text
    kb.forget("2")
    assert "French" in kb.context().text


def test_a_note_whose_successor_was_removed_by_hand_stands(changed_mind: KnowledgeBase, vault: Path):
    for path in (vault / "memories").glob("003-*"):
        path.unlink()
    assert found(changed_mind, "tabs") == [("1", None)]


def test_notes_that_supersede_each_other_in_a_circle_all_stand(kb: KnowledgeBase, vault: Path):
    write(vault, 1, "Tabs it is", supersedes=2, superseded_by=2)
    write(vault, 2, "Spaces it is", supersedes=1, superseded_by=1)
    assert sorted(ref for ref, _standing in found(kb, "is it")) == ["1", "2"]


def test_a_successor_is_found_under_any_file_name_and_not_shown_when_it_is_archived(kb: KnowledgeBase, vault: Path):
    write(vault, 1, "Tabs it is", superseded_by=2)
    write(vault, 2, "Spaces it is", supersedes=1)
    (vault / "memories" / "002-note.md").rename(vault / "memories" / "mine.md")
    assert found(kb, "tabs")[0][0] == "2"
    kb.archive("2")
    assert found(kb, "tabs") == []


def test_an_expired_successor_answers_only_where_what_expired_is_asked_for(changed_mind: KnowledgeBase):
    changed_mind.update("3", expires="2026-04-02")
    assert found(changed_mind, "tabs") == []
    assert found(changed_mind, "tabs", expired=True)[0][0] == "3"


@pytest.mark.parametrize(
    ("refs", "by", "error", "message"),
    [
        ("1", "1", Invalid, "1 cannot supersede itself"),
        ("3", "1", Conflict, "1 has been superseded by 3 already"),
        ("1", "2", Conflict, "1 has been superseded by 3 already"),
        ("topic:deploy", "2", Invalid, "topic:deploy is no memory"),
        ("g:1", "2", Invalid, "2 and g:1 are not in the same vault"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(
    changed_mind: KnowledgeBase, vault: Path, refs: str, by: str, error: type[Exception], message: str
):
    changed_mind.save("For all projects", in_global=True)
    changed_mind.write_topic("deploy", "# How we deploy")
    before = contents(vault)
    with pytest.raises(error, match=message):
        changed_mind.supersede(refs, by=by)
    assert contents(vault) == before


def test_the_global_vault_names_its_notes_in_full(kb: KnowledgeBase):
    kb.save("Answer in French", in_global=True, created=DAY)
    kb.save("Answer in German", in_global=True, created=DAY)
    kb.supersede("g:1", by="g:2")
    assert found(kb, "german") == [("g:2", "supersedes g:1 since 2026-03-05")]


def test_a_list_of_ids_is_checked(kb: KnowledgeBase, vault: Path):
    write(vault, 1, "Fine", supersedes=[7, 8])
    write(vault, 2, "Not fine")
    path = vault / "memories" / "002-note.md"
    path.write_text(path.read_text().replace("tags: []", "tags: []\nsupersedes: [7, eight]"))
    listing = kb.list()
    assert [note.supersedes for note in listing.notes if note.kind == MEMORY] == [(7, 8)]
    assert "Field 'supersedes' must be integer" in listing.problems[0].message


@pytest.mark.slow
def test_recall_is_no_slower_where_memories_were_replaced_and_name_what_is_not_there(tmp_path: Path):
    costs = {}
    for name in ("plain", "replaced"):
        folder = tmp_path / name / ".co-cli" / "knowledge" / "memories"
        folder.mkdir(parents=True)
        for number in range(1, 3001):
            claim, header = f" in {number}.txt", ""
            if name == "replaced":
                claim = f" in `src/{number}.py`, see `make {number}`"
                if number % 3 != 2:
                    header = f"superseded_by: {number + 1}\n" if number % 3 == 0 else f"supersedes: {number - 1}\n"
            fact = f"The release {number % 40} of unit {number} has its notes{claim}"
            text = f"---\nid: {number}\ncreated: 2026-01-01T00:00:00+00:00\n{header}---\n\n{fact}\n"
            (folder / f"{number:03d}-fact.md").write_text(text)
        project, command = str(tmp_path / name), [installed_command(), "recall", "release 17", "--mode", "text", "-n", "10"]
        costs[name] = min(run_times(command, 7, cwd=project, variables=environment(project)).cpu)
    assert costs["replaced"] <= 1.4 * costs["plain"]
