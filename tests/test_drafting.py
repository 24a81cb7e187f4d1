"""What people say to agents becomes drafts by rules: few that are wrong, and never what nobody said for themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Co

from co_cli.bench.drafting import HELD_OUT, OTHER_HAND, SECOND_HAND, SEEN, Fact, Utterance, load_utterances, measure_drafting
from co_cli.frontmatter import CATEGORIES
from co_cli.learning.drafting.rules import Draft, Turn, drafts_of
from co_cli.learning.drafting.speech import PASTED, spoken


def drafted(text: str, before: str = "") -> list[Draft]:
    return list(drafts_of([Turn(text, before=before)]))


def texts(text: str, before: str = "") -> list[str]:
    return [draft.text for draft in drafted(text, before)]


def test_the_labelled_set_is_large_and_half_of_it_holds_nothing_to_keep() -> None:
    utterances = load_utterances()
    assert len(utterances) >= 180
    assert 0.4 < sum(not utterance.facts for utterance in utterances) / len(utterances) < 0.65
    assert {fact.category for utterance in utterances for fact in utterance.facts} == set(CATEGORIES)
    assert len({utterance.text for utterance in utterances}) == len(utterances)


@pytest.mark.parametrize("part", [SEEN, HELD_OUT, OTHER_HAND, SECOND_HAND])
def test_nine_of_ten_drafts_are_right_and_most_facts_are_found(part: str) -> None:
    drafts, categories = (row for row in measure_drafting(load_utterances()) if row.part == part)
    assert drafts.precision >= 0.9
    assert drafts.kept
    assert drafts.recall >= 0.5
    assert categories.precision >= 0.9


def test_the_measure_takes_other_sets_and_refuses_what_is_none(co: Co, tmp_path: Path) -> None:
    turns = [
        {"text": "we use npm", "facts": ["We use npm."]},
        {"text": "hello", "facts": []},
        {"text": "I like tea", "facts": []},
    ]
    path = tmp_path / "turns.jsonl"
    path.write_text("".join(f"{json.dumps(turn)}\n" for turn in turns), encoding="utf-8")
    row, _categories = co.json("bench", "learning", "--utterances", str(path))["judged"]
    assert (row["what"], row["part"], row["examples"], row["claimed"]) == ("drafting", "all", 1, 2)
    assert (row["precision"], row["recall"], row["kept"]) == (0.5, 1.0, False)
    path.write_text('{"text": "we use npm"}\n', encoding="utf-8")
    assert co("bench", "learning", "--utterances", str(path)) == 2
    assert co("bench", "cli", "--utterances", str(path)) == 2


def test_two_sets_at_once_are_both_measured(co: Co, tmp_path: Path) -> None:
    turns, pairs = tmp_path / "turns.jsonl", tmp_path / "pairs.jsonl"
    turns.write_text('{"text": "we use npm", "facts": ["We use npm."]}\n', encoding="utf-8")
    pairs.write_text('{"a": "The port is 80", "b": "The port is 81", "label": "contradiction"}\n', encoding="utf-8")
    found = co.json("bench", "learning", "--utterances", str(turns), "--pairs", str(pairs))
    assert [(row["what"], row["label"]) for row in found["judged"] if row["examples"]] == [
        ("relations", "contradiction"),
        ("drafting", "draft"),
        ("drafting", "category"),
    ]
    assert found["figures"] == []


def test_a_draft_that_denies_what_was_said_is_no_hit_of_the_measure() -> None:
    from co_cli.bench.drafting import says_the_same

    assert says_the_same("We use pnpm, not npm.", "we use pnpm here, not npm")
    assert says_the_same("Dont push to main.", "Never push to main.")
    assert not says_the_same("We use Redux.", "We do not use Redux.")
    assert not says_the_same("We use Redux.", "We dont use Redux.")


def test_a_draft_that_holds_two_facts_is_one_right_draft_and_two_facts_found() -> None:
    facts = (Fact("We release on Mondays."), Fact("No risky merges on Fridays."))
    whole = Utterance("We release on Mondays, no risky merges on Fridays.", facts, "all")
    drafts, _categories = measure_drafting([whole])
    assert (drafts.claimed, drafts.precision, drafts.recall) == (1, 1, 1)
    other = Utterance("We release on Mondays, mostly.", facts, "all")
    drafts, _categories = measure_drafting([other])
    assert (drafts.claimed, drafts.precision, drafts.recall) == (1, 1, 0.5)


@pytest.mark.parametrize(
    ("said", "statement", "category"),
    [
        ("I prefer tabs.", "User prefers tabs.", "user_preferences"),
        ("I don't like emojis in my commits", "User does not like emojis in their commits.", "user_preferences"),
        ("call me Jo", "User wants to be called Jo.", "user_preferences"),
        ("My timezone is Europe/Lisbon", "User's timezone is Europe/Lisbon.", "user_preferences"),
        ("btw, we use pnpm here, not npm", "We use pnpm here, not npm.", "project_insights"),
        ("Remember that releases go out on Tuesdays!", "Releases go out on Tuesdays!", "project_insights"),
        ("No new dependencies without asking me first, remember that.", "", ""),
        ("The staging database is db-stage-2.", "The staging database is db-stage-2.", "learned_facts"),
        ("`npm` is never used here", "`npm` is never used here.", "project_insights"),
    ],
)
def test_a_draft_stands_by_itself_and_says_whose_it_is(said: str, statement: str, category: str) -> None:
    found = drafted(said)
    if statement:
        assert [(draft.text, draft.category) for draft in found] == [(statement, category)]
    else:
        assert [draft.text for draft in found] == ["No new dependencies without asking the user first."]


def test_the_quote_is_the_sentence_as_it_was_said() -> None:
    said = "Fix the login first, please.  No,  we use factory_boy for fixtures. Thanks!"
    (draft,) = drafted(said)
    assert draft.quote == "No,  we use factory_boy for fixtures."
    assert draft.quote in said


def test_a_number_in_the_middle_of_a_line_is_no_mark_of_a_list() -> None:
    assert texts("The port is 8443. 8080 was the old one.") == ["The port is 8443."]
    assert texts("1. We use pnpm.\n- We use ruff.\n* hello") == ["We use pnpm.", "We use ruff."]


def test_what_follows_about_this_moment_is_left_out() -> None:
    assert texts("We've moved to Buildkite, so ignore the Jenkinsfile.") == ["We've moved to Buildkite."]
    assert texts("that test belongs elsewhere, we keep fixtures in tests/data") == ["We keep fixtures in tests/data."]


def test_nothing_comes_from_a_turn_that_means_the_contrary() -> None:
    assert texts("Oh wonderful, another flaky test. We really only use the finest ones here.") == []


def test_a_correction_takes_along_what_it_corrects() -> None:
    (text,) = texts("no, it's pnpm, not npm", before="I read the code. I will run `npm install` now.")
    assert text == 'It\'s pnpm, not npm. (corrects: "I will run `npm install` now.")'


@pytest.mark.parametrize(
    "said",
    [
        "```\nwe use tabs\nalways run make fmt before you commit\n```",
        "~~~\nwe never use eval\n",
        "> we always use tabs",
        "    we always use tabs",
        "# we always retry three times\nRETRIES = 3;",
        "<system-reminder>\nWe use pnpm here, not npm.\n</system-reminder>",
        "<system-reminder>We use pnpm here. This never ends",
        "<environment_context>\n  <cwd>/x</cwd>\nWe use pnpm here.\n</environment_context>",
        "<local-command-stdout>We use pnpm here.</local-command-stdout>",
        "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nAlways run make check before you commit.\n</INSTRUCTIONS>",
        "This session is being continued from a previous conversation. We use pnpm here.",
        'The readme says "we always use tabs".',
        '"We always use tabs for indentation."',
        "2026-11-19 12:00:01 INFO we use the fallback here always",
        "AssertionError: we use strict mode always",
    ],
)
def test_nothing_comes_from_code_quotations_programs_and_boot_files(said: str) -> None:
    assert texts(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "We use the token ghp_abcdefghijklmnopqrstuvwxyz0123456789 in CI.",
        "Remember that the database password is hunter2!secret",
        f"our key is AKIA{'ABCDEFGHIJKLMNOP'}",
    ],
)
def test_a_secret_is_never_drafted(said: str) -> None:
    assert texts(said) == []


def test_what_was_pasted_is_not_taken_for_something_said() -> None:
    sentence = "We use pnpm here, not npm. "
    assert texts(sentence)
    assert spoken(sentence * (PASTED // len(sentence) + 1)) == ()


def test_the_same_said_twice_is_one_draft() -> None:
    turns = [Turn("we use pnpm here"), Turn("We use pnpm here!"), Turn("As I said: we use pnpm here.")]
    assert len({draft.text.rstrip("!.").casefold() for draft in drafts_of(turns)}) == 1


@pytest.mark.parametrize(
    "said", ["", " ", "\n\n", "?", "no", "we use", "I prefer", "call me", "remember that", "always", "\x00\ud800"]
)
def test_a_turn_that_says_nothing_gives_nothing(said: str) -> None:
    assert texts(said) == []


def test_no_turn_takes_long_to_read() -> None:
    import time

    hostile = [
        "we " * 5000,
        "no, " * 5000,
        "always " * 3000,
        "the " + "a-" * 5000,
        "(" * 20000,
        "'\"" * 5000,
        "i am " * 4000,
    ]
    hostile += [
        f"{text}." for text in ("we always " * 30, "the server " * 28, "please remember " * 19, "and also but " * 24)
    ]
    started = time.process_time()
    for said in hostile:
        texts(said)
    assert time.process_time() - started < 3
