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
    assert drafts.precision >= 0.95
    assert drafts.kept
    assert drafts.recall >= (0.8 if part == OTHER_HAND else 0.9)
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


@pytest.mark.parametrize(
    ("said", "statement"),
    [
        ("my editor is vim and i mostly write go", "User's editor is vim and they mostly write go."),
        ("my name's Oya but people call me Kay", "User's name is Oya but people call them Kay."),
        ("please dont ever log tokens", "Don't ever log tokens."),
        (
            "don't ever log request bodies pls, they hold customer data",
            "Don't ever log request bodies, they hold customer data.",
        ),
        ("I'm dyslexic, so please don't write walls of text", "User is dyslexic, so don't write walls of text."),
        ("we decided last week to drop the ie11 build", "We decided to drop the ie11 build."),
        ("we moved from jira to linear two months ago", "We moved from jira to linear."),
        ("we decided to test last week's build first, always", "We decided to test last week's build first, always."),
        ("Let's settle on kebab-case for the file names, that's final.", "We settled on kebab-case for the file names."),
        ("Let's standardise on UTC for all timestamps", "We standardise on UTC for all timestamps."),
        (
            "When I say 'the twins' i mean the two api servers",
            "When the user says 'the twins' the user means the two api servers.",
        ),
    ],
)
def test_a_draft_is_worded_to_last(said: str, statement: str) -> None:
    assert texts(said) == [statement]


@pytest.mark.parametrize(
    ("kept", "left"),
    [
        pytest.param(
            (
                "that works. From now on always rebase before you say you're finished",
                "can you fix that? also for future reference, metric units in every report",
                "for future reference, sentence case in all headings",
            ),
            (
                "ok looks fine. now run the linter and you're done",
                "for future reference, where is that file?",
                "good to know",
            ),
            id="behind an opener",
        ),
        pytest.param(
            (
                "hmm, no. the order number is a string, never an integer",
                "nope. the rate limit is per account, not per key",
                "no, the sandbox tokens are in vault/sandbox, not in 1password",
            ),
            ("hmm, no. the second one", "nope, it's still failing. the server is gone", "no, the class is in models.py"),
            id="corrections",
        ),
        pytest.param(
            (
                "scratch what I said about quotes, the frontend code uses single quotes but everything else is double",
                "forget what i said about retries, the worker retries are limited to 3",
                "You always forget that our admin panel runs on the legacy auth",
                "you keep missing that the docs are in german",
            ),
            ("scratch what i said about tabs", "forget what I said, you are right", "you keep forgetting the semicolon"),
            id="said before",
        ),
        pytest.param(
            (
                "Priya owns the checkout service, talk to her before changing it",
                "jonas is responsible for the payments code",
                "The data team is in charge of the warehouse schema.",
                "Anna reviews all database changes",
            ),
            (
                "this class owns the connection",
                "I think Marit owns the billing service",
                "she owns the repo so ask her to merge it",
            ),
            id="owners",
        ),
        pytest.param(
            (
                "The audit log table is append-only.",
                "The sessions table is partitioned by day",
                "the `events` topic is keyed by tenant",
            ),
            ("the `events` table is empty", "the users table is locked right now", "the index is generated in line 20"),
            id="how tables are",
        ),
        pytest.param(
            (
                "the mac build needs Xcode 15",
                "The installer requires Python 3.9 or newer",
                "The linux build only works with gcc 12",
            ),
            ("the build needs 2 more fixes", "the build needs a restart", "maybe the build needs node 20"),
            id="what a build needs",
        ),
        pytest.param(
            (
                "Credentials come from the keychain on startup.",
                "Exchange rates are fetched from the ECB every morning",
                "there's no debugger in production",
            ),
            ("the errors come from the parser", "warnings come from eslint", "there's no error in production"),
            id="where things come from",
        ),
        pytest.param(
            (
                "the full test suite takes about 25 minutes, that's expected",
                "a clean build takes around ten minutes",
                "The logs are kept for 30 days",
            ),
            ("this takes about 5 minutes", "the test takes 3 seconds longer now", "the query takes about 3 seconds, why"),
            id="how long it takes",
        ),
        pytest.param(
            (
                "retro is every other thursday at 14:00",
                "our sprint planning is at 10:00 on mondays",
                "releases go out on wednesdays",
            ),
            ("standup is in 5 minutes", "the demo is on friday", "the meeting is at 3 today", "sync is at 50%"),
            id="when it recurs",
        ),
        pytest.param(
            (
                "The reason we fork the driver is that upstream never merged our patch.",
                "the main reason we still use python 3.9 is the old customer servers",
            ),
            ("The reason we see this error is that the cache is stale.", "the reason we use this hack here is the deadline"),
            id="reasons",
        ),
        pytest.param(
            ("my first name is Xu", "people call me Kasia", "my name's Jo, not Joe"),
            ("my name is missing from the list", "everyone calls me when it breaks", "my name's not in the file"),
            id="names",
        ),
        pytest.param(
            (
                "When I say 'the monster' I mean the invoice generator.",
                'by "the twins" we mean the two api servers',
                "'BFF' is short for backend for frontend",
            ),
            ("when i say now, I mean it", "'x' means the test failed", 'by "broken" I mean it crashes'),
            id="terms",
        ),
        pytest.param(
            ("let's standardise on UTC for all timestamps", "Let's settle on two spaces for the yaml files, that's final"),
            ("let's stick with the first option", "let's settle on a name tomorrow", "let's go with B for everything"),
            id="decisions",
        ),
        pytest.param(
            (
                "for frontend stuff ask Tom",
                "If you're unsure, ask",
                "Don't mock the database in integration tests",
                "Before every commit run make fmt",
            ),
            ("for this ask Tom", "I'm not sure, ask him", "don't change the number in line 5", "don't do that pls"),
            id="how to work",
        ),
        pytest.param(
            (
                "i should have told you: we don't use semicolons",
                "I review everything on Friday mornings",
                "i have two kids so I am offline between 5 and 8",
                "you can assume I know git",
                "please reply in german unless I write english",
            ),
            ("i should have told you earlier", "i forgot to mention it", "i have two errors left", "answer in the ticket"),
            id="oneself",
        ),
        pytest.param(
            (
                "we had to pin openssl to 1.1 because of the old appliances",
                "we're three developers and one tester",
                "The importer expects latin-1, not utf-8.",
                "everything in legacy/ is frozen",
                "the css lives in styles/, one file per component",
            ),
            (
                "we had to restart it because it hung",
                "we're two weeks late",
                "the test expects 5, not 6",
                "everything in main.py is broken",
                "the typo is in docs/readme.md",
            ),
            id="the project",
        ),
        pytest.param(
            (
                "the vpn has to be on before you can reach the test cluster",
                "Tickets are in the ACME project on Jira.",
                "dark mode is the default for our users",
                "Log messages are in english even though the ui is french",
                "master is protected, so push to a branch",
                "The release notes are written by Sofia",
            ),
            (
                "the modal has to be closed first",
                "screenshots are on the ticket",
                "this is the default here",
                "the labels are in english now",
                "main is broken",
            ),
            id="how things are",
        ),
    ],
)
def test_what_lasts_is_drafted_and_what_only_sounds_like_it_is_not(kept: tuple[str, ...], left: tuple[str, ...]) -> None:
    assert [said for said in kept if not texts(said)] == []
    assert [text for said in left for text in texts(said)] == []


def test_what_follows_a_correction_goes_on_with_it() -> None:
    assert texts("nope, translations are in locales/en.json now. crowdin is dead")[1] == "Crowdin is dead."
    assert texts("crowdin is dead") == []


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
