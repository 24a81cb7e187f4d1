"""How two statements stand to each other: duplicate, contradiction, or neither."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Co
from hypothesis import given
from hypothesis import strategies as st

from co_cli.bench.learning import PARTS, load_pairs, relations
from co_cli.errors import Invalid
from co_cli.learning.relations import CONTRADICTION, DUPLICATE, LABELS, UNRELATED, judge, said

PAIRS = load_pairs()
TEXTS = sorted({text for pair in PAIRS for text in (pair.one, pair.other)})


def label(one: str, other: str) -> str:
    return judge(one, other).label


# ------------------------------------------------------------------------------------------------------- the labelled set


def test_the_set_is_large_balanced_and_half_of_it_was_kept_from_the_rules():
    for part, least in zip(PARTS, (50, 40, 15, 15), strict=True):
        counts = [sum(pair.label == each for pair in PAIRS if pair.part == part) for each in LABELS]
        assert min(counts) >= least
        assert max(counts) < 1.7 * min(counts)
    assert len({frozenset(pair[:2]) for pair in PAIRS}) == len(PAIRS)


@pytest.mark.parametrize("part", PARTS[:2])
def test_contradictions_are_found_and_few_are_claimed_that_are_none(part: str):
    measured = {each.label: each for each in relations([pair for pair in PAIRS if pair.part == part])}
    assert measured[CONTRADICTION].precision >= 0.9
    assert measured[CONTRADICTION].recall >= 0.7
    assert measured[DUPLICATE].precision >= 0.9
    assert measured[DUPLICATE].recall >= 0.7
    assert measured[UNRELATED].recall >= 0.95


def test_statements_of_different_things_are_hardly_ever_related():
    """Each statement of the set with those of other pairs: some of these really are related, but not one in a hundred."""
    read = [said(text) for text in TEXTS[::2]]
    known = {frozenset(pair[:2]) for pair in PAIRS}
    claims = [
        (one.text, other.text)
        for place, one in enumerate(read)
        for other in read[:place]
        if frozenset((one.text, other.text)) not in known and judge(one, other).label != UNRELATED
    ]
    assert len(claims) < len(read) * (len(read) - 1) / 2 / 1000


# ------------------------------------------------------------------------------------------------------------ properties


@given(st.sampled_from(TEXTS), st.sampled_from(TEXTS))
def test_it_does_not_matter_which_of_two_comes_first(one: str, other: str):
    assert label(one, other) == label(other, one)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.one)
def test_the_order_does_not_matter_within_a_pair_either(pair):
    assert label(pair.one, pair.other) == label(pair.other, pair.one)


@given(st.text(min_size=1))
def test_any_text_repeats_itself_and_never_contradicts_itself(text: str):
    assert label(text, text) == DUPLICATE
    assert label(text, text.upper()) != CONTRADICTION


@given(st.text(), st.text())
def test_any_two_texts_can_be_judged_either_way_round(one: str, other: str):
    assert label(one, other) == label(other, one)


# --------------------------------------------------------------------------------------------------------------- reasons


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("Use tabs.", "use tabs", "the same words"),
        ("Never commit to main.", "Do not commit to main.", "the same, put in other words"),
        ("Indent with tabs.", "Indent with spaces.", "another value for the same thing: tabs ≠ spaces"),
        ("The port is 80.", "The port is 8080.", "another number: 80 ≠ 8080"),
        ("We deploy on Fridays.", "Never deploy on Fridays.", "one denies what the other says"),
        ("Prefer tabs over spaces.", "Prefer spaces over tabs.", "the other way round"),
        ("Use npm for scripts.", "Use pnpm instead of npm for scripts.", "one says not to take npm"),
    ],
)
def test_it_says_why(one: str, other: str, reason: str):
    assert judge(one, other).reason == reason


def test_the_same_time_in_other_units_is_the_same():
    assert label("Sessions expire after 60 minutes.", "Sessions expire after 1 hour.") == DUPLICATE
    assert label("Sessions expire after 60 minutes.", "Sessions expire after 61 minutes.") == CONTRADICTION
    assert label("We release weekly.", "We release every week.") == DUPLICATE


def test_the_same_key_with_another_value_is_a_contradiction():
    one = said("Concise answers, please.", category="user_preferences", key="style")
    other = said("As long as it takes.", category="user_preferences", key="style")
    assert judge(one, other) == (CONTRADICTION, "the same key, style, with another value")
    assert judge(one, said("As long as it takes.", category="project_insights", key="style")).label == UNRELATED


def test_what_is_for_other_languages_is_neither_repeated_nor_contradicted():
    python, go = said("Indent with spaces.", language="python"), said("Indent with tabs.", language="Go")
    assert judge(python, go).label == UNRELATED
    assert judge(python, said("Indent with tabs.", language="Python")).label == CONTRADICTION


def test_vectors_are_asked_only_where_words_leave_it_open():
    asked = []

    def near(one: str, other: str) -> float:
        asked.append((one, other))
        return 0.9

    assert judge("Use tabs.", "Run the tests.", near=near).label == UNRELATED
    assert judge("The port is 80.", "The port is 81.", near=near).label == CONTRADICTION
    assert not asked
    open_one = ("Importing large customer files happens slowly at night", "Importing large customer files happens at night")
    assert judge(*open_one).label == UNRELATED
    assert judge(*open_one, near=near).label == DUPLICATE
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The deprecated API listens on port 80.", "The API is stable."),
        ("Use tabs in Go.", "Use spaces in Python."),
        ("The public API is stable.", "The private API is stable."),
        ("We support PostgreSQL.", "We support MySQL."),
        ("The user speaks French.", "The user speaks Spanish."),
        ("The log file is rotated.", "The log file is compressed."),
        ("Tests run in Docker.", "Tests run on every push."),
        ("データベースはPostgreSQLです。", "データベースは速いです。"),
        ("Мы используем PostgreSQL.", "Мы используем Docker."),
        ("Der Server ist schnell.", "Der Server ist nicht erreichbar."),
        ("x" * 5000, "y" * 5000),
        ("", "Something."),
    ],
)
def test_what_only_looks_alike_is_left_alone(one: str, other: str):
    assert label(one, other) == UNRELATED


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Il server usa la porta 3000.", "Il server usa la porta 4000."),
        ("Сервер слушает порт 3000.", "Сервер слушает порт 4000."),
        ("Wir benutzen Docker.", "Wir benutzen Docker nicht."),
    ],
)
def test_plain_signals_are_seen_in_other_languages_too(one: str, other: str):
    assert label(one, other) == CONTRADICTION


def test_of_several_sentences_one_that_is_denied_is_enough_but_all_have_to_be_repeated():
    two = "The port is 80. Logs go to stdout."
    assert label(two, "Logs go to stdout. The port is 81.") == CONTRADICTION
    assert label(two, "Logs go to stdout. The port is 80.") == DUPLICATE
    assert label(two, "Logs go to stdout.") == UNRELATED


def test_long_texts_are_compared_as_a_whole():
    words = [f"word{'abcdefghij'[number % 10]}{'klmnopqrst'[number // 10]}" for number in range(60)]
    text = " ".join(words)
    assert judge(text, text.replace("wordbk ", ""), near=lambda _one, _other: 0.99).label == DUPLICATE
    assert judge(text, text.replace("wordbk ", ""), near=lambda _one, _other: 0.5).label == UNRELATED
    assert judge(text, text.replace("wordbk ", "not "), near=lambda _one, _other: 0.99).label == UNRELATED
    assert judge(text, text.replace("wordbk ", "1234 "), near=lambda _one, _other: 0.99).label == UNRELATED
    assert judge(text, " ".join(words[:30] * 2), near=lambda _one, _other: 0.99).label == UNRELATED


# ------------------------------------------------------------------------------------------------------------- measuring


def test_the_rules_can_be_measured_on_a_set_of_ones_own(tmp_path: Path, co: Co):
    path = tmp_path / "pairs.jsonl"
    lines = [
        {"a": "The port is 80", "b": "The port is 81", "label": "contradiction"},
        {"a": "Logs go to stdout", "b": "Use tabs", "label": "unrelated"},
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    judged = {row["label"]: row for row in co.json("bench", "learning", "--pairs", str(path))["judged"]}
    assert (judged["contradiction"]["precision"], judged["contradiction"]["recall"]) == (1, 1)
    assert judged["duplicate"]["examples"] == 0
    path.write_text('{"a": "x", "b": "y", "label": "perhaps"}\n')
    with pytest.raises(Invalid, match="there is no label 'perhaps'"):
        load_pairs(str(path))
    path.write_text('{"a": "x"}\n')
    with pytest.raises(Invalid, match=r"pairs\.jsonl:1: a line needs a, b and a label"):
        load_pairs(str(path))
