"""What the ranking does for a question as people ask it: other tenses, quoted titles, long notes, and remarks in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from co_cli.index.analysis import terms
from co_cli.index.search import Passage
from co_cli.retrieval import scoring

if TYPE_CHECKING:
    from pathlib import Path

    from co_cli import KnowledgeBase, Recalled


def _write(vault: Path, *bodies: str) -> None:
    folder = vault / "articles"
    folder.mkdir()
    for number, body in enumerate(bodies, start=1):
        (folder / f"note-{number}.md").write_text(f"---\ntitle: Note\n---\n\n{body}\n", encoding="utf-8")


def _found(answer: Recalled) -> list[str]:
    return [hit.note.slug for hit in answer.hits]


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("When did we go to Oslo?", "We went to Oslo"),
        ("who teaches", "she taught for years"),
        ("which child", "the children"),
        ("our hypotheses", "one hypothesis"),
        ("three replicas", "3 replicas"),
    ],
)
def test_a_question_and_a_note_may_tell_the_same_in_other_forms(asked: str, written: str) -> None:
    assert set(terms(asked)) & set(terms(written)) - {"we", "to", "our"}


def test_what_only_looks_like_an_irregular_form_stays_a_word_of_its_own() -> None:
    assert terms("founded") != terms("find")
    assert terms("rose") != terms("rise")


def test_a_note_in_the_past_tense_is_found_by_a_question_in_the_present(kb: KnowledgeBase, vault: Path) -> None:
    _write(vault, "Ada bought a boat.", "Ada likes the sea.")
    assert _found(kb.recall("When did Ada buy it?", mode="text"))[0] == "note-1"


def test_a_quoted_title_that_no_note_holds_does_not_silence_the_question(kb: KnowledgeBase, vault: Path) -> None:
    _write(vault, "Ada reads about winter seasons.", "Bob cooks.")
    answer = kb.recall('Would Ada like "The Four Seasons"?', mode="text")
    assert _found(answer) == ["note-1"]
    assert any("quotation marks" in notice for notice in answer.notices)


def test_a_quoted_title_that_a_note_holds_is_meant_as_it_stands(kb: KnowledgeBase, vault: Path) -> None:
    _write(vault, "Ada heard The Four Seasons.", "Ada has four friends in all seasons.")
    answer = kb.recall('Would Ada like "The Four Seasons"?', mode="text")
    assert _found(answer) == ["note-1"]
    assert not answer.notices


def test_a_phrase_by_itself_is_meant_as_it_stands(kb: KnowledgeBase, vault: Path) -> None:
    _write(vault, "Approvals come in twos: two people, two approvals each.", "Bob cooks.")
    assert not kb.recall('"approvals two"', mode="text").hits


def test_of_two_long_notes_that_say_the_same_words_the_one_where_they_meet_comes_first(
    kb: KnowledgeBase, vault: Path
) -> None:
    filler = "Nothing of any interest happened on that long and quiet afternoon by the river. " * 6
    together = f"{filler}{filler}It broke, that old and heavy kettle of copper. {filler}And so the day went by. "
    scattered = f"The kettle sang. {filler}Some wire was copper. {filler}A glass broke. {filler}"
    _write(vault, together, scattered)
    assert _found(kb.recall("copper, kettle, broke", mode="text")) == ["note-1", "note-2"]


def test_the_vector_of_a_remark_counts_for_more_among_neighbours_that_are_near_as_well() -> None:
    remark = Passage(1, 0, 9, 1, "", 8, "", "", " so do i ", 1, "article", "1.md", 1, "Talk", 1, b"", 0, 0.0, 0)
    alone = scoring.cosine_among(0.5, [], remark)
    assert scoring.cosine_among(0.5, [0.8, 0.7], remark) > alone > scoring.cosine_among(0.5, [0.1, 0.0], remark)
    assert alone < scoring.cosine_among(0.5, [], remark._replace(length=100)) == 0.5
