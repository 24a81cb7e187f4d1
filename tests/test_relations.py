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
from co_cli.learning.relations.forms import plain

PAIRS = load_pairs()
TEXTS = sorted({text for pair in PAIRS for text in (pair.one, pair.other)})


def label(one: str, other: str) -> str:
    return judge(one, other).label


# ------------------------------------------------------------------------------------------------------- the labelled set


def test_the_set_is_large_balanced_and_much_of_it_was_kept_from_the_rules():
    for part, least in zip(PARTS, (50, 40, 15, 15), strict=True):
        counts = [sum(pair.label == each for pair in PAIRS if pair.part == part) for each in LABELS]
        assert min(counts) >= least
        assert max(counts) < 1.7 * min(counts)
    assert len({frozenset(pair[:2]) for pair in PAIRS}) == len(PAIRS)


@pytest.mark.parametrize("part", PARTS)
def test_contradictions_are_found_and_few_are_claimed_that_are_none(part: str):
    measured = {each.label: each for each in relations([pair for pair in PAIRS if pair.part == part])}
    assert measured[CONTRADICTION].precision >= 0.95
    assert measured[CONTRADICTION].recall >= 0.7
    assert measured[DUPLICATE].precision >= 0.95
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


@pytest.mark.parametrize(
    ("expected", "pairs"),
    [
        pytest.param(
            DUPLICATE,
            [
                ("Priya maintains the parser.", "The maintainer of the parser is Priya."),
                ("Ana Silva leads the data team.", "The lead of the data team is Ana Silva."),
                ("Priya owns checkout.", "Priya is the owner of checkout."),
            ],
            id="who owns a thing: duplicate",
        ),
        pytest.param(
            CONTRADICTION,
            [("Priya maintains the parser.", "The maintainer of the parser is Jonas.")],
            id="who owns a thing: contradiction",
        ),
        pytest.param(
            UNRELATED,
            [
                ("Marit owns the billing service.", "The owner of the search service is Deniz."),
                ("Marit owns the billing service.", "The maintainer of the billing docs is Deniz."),
                ("Marit owns the billing service.", "Deniz reviews the billing service."),
            ],
            id="who owns a thing: unrelated",
        ),
        pytest.param(
            DUPLICATE,
            [
                ("Titles are limited to 60 characters.", "Titles may be at most 60 characters long."),
                ("Uploads must not exceed 10 MB.", "The maximum upload size is 10 MB."),
                ("Passwords have at least 12 characters.", "Passwords must not be shorter than 12 characters."),
                ("Coverage must stay at least 80%.", "Coverage must never drop below 80%."),
                ("Coverage must be at least 80%.", "Coverage must not fall below 80%."),
                ("We need Node 20 or newer.", "We need at least Node 20."),
                ("The minimum Java version is 17.", "We require Java 17 or newer."),
            ],
            id="what limits it: duplicate",
        ),
        pytest.param(
            CONTRADICTION,
            [
                ("Branch coverage must not drop below 90%.", "The minimum branch coverage is 75%."),
                ("Lines may be at most 80 characters long.", "The maximum line length is 120 characters."),
                ("Uploads are limited to 10 MB.", "The maximum upload size is 50 MB."),
                ("The minimum Java version is 17.", "We require Java 21 or newer."),
            ],
            id="what limits it: contradiction",
        ),
        pytest.param(
            UNRELATED,
            [
                ("The minimum password length is 12.", "The maximum password length is 128."),
                ("Lines may be at most 100 characters long.", "Titles may be at most 60 characters long."),
                ("Uploads are limited to 10 MB.", "Downloads are limited to 50 MB."),
                ("Coverage must not fall below 85%.", "Memory use must not exceed 85%."),
                ("Backups are kept for at least 30 days.", "Backups are kept for at most 90 days."),
                ("The request timeout is 30 seconds.", "Requests may be at most 30 KB large."),
            ],
            id="what limits it: unrelated",
        ),
        pytest.param(
            DUPLICATE,
            [
                ("Port 9000 is where the admin panel listens.", "The admin panel listens on port 9000."),
                ("Fixtures live in tests/data.", "Put fixtures into the tests/data folder."),
                ("The retro is at 14:00.", "The retro starts at 14:00."),
                ("The full build takes about 20 minutes.", "It takes roughly twenty minutes for the full build to finish."),
                ("The export takes around an hour.", "The export takes about an hour."),
                ("Reviews happen every other Monday.", "Reviews happen every second Monday."),
                ("Backups run once a day.", "Backups run every day."),
            ],
            id="where, when and how long: duplicate",
        ),
        pytest.param(
            CONTRADICTION,
            [
                ("The retro is at 14:00.", "The retro starts at 15:30."),
                ("Planning is held at 9:00.", "Planning starts at 10:00."),
                ("The full build takes about 20 minutes.", "It takes roughly forty minutes for the full build to finish."),
                ("Snapshots are taken every 6 hours.", "Snapshots are taken once a day."),
                ("Port 9000 is where the admin panel listens.", "The admin panel listens on port 9100."),
            ],
            id="where, when and how long: contradiction",
        ),
        pytest.param(
            UNRELATED,
            [
                ("The import starts at 2:00.", "The import ends at 4:00."),
                ("Standup is at 9:45.", "The retro starts at 10:30."),
                ("The nightly import takes 40 minutes.", "The nightly export takes 20 minutes."),
                ("Fixtures live in tests/data.", "Snapshots live in tests/snapshots."),
                ("Backups run once a day.", "Reports run every hour."),
            ],
            id="where, when and how long: unrelated",
        ),
        pytest.param(
            DUPLICATE,
            [
                ("Config is read from Consul on startup.", "On startup the service reads its config from Consul."),
                ("CI runs on Jenkins.", "We use Jenkins for continuous integration."),
                ("uv is our package manager.", "We use uv for all packages."),
                ("The staging database is MySQL 8.", "Staging runs on MySQL 8."),
            ],
            id="what it is done with: duplicate",
        ),
        pytest.param(
            CONTRADICTION,
            [
                ("Dependencies are installed with poetry.", "We use pip for all dependencies."),
                ("Deployment is done with Ansible.", "We use Terraform for deployment."),
                ("The staging database is Postgres 14.", "Staging runs on SQLite 3."),
                ("The test database is MariaDB 10.", "Test runs on Postgres 16."),
                ("CI runs on Jenkins.", "We use Buildkite for continuous integration."),
                ("Our package manager is npm.", "pnpm is our package manager."),
            ],
            id="what it is done with: contradiction",
        ),
        pytest.param(
            UNRELATED,
            [
                ("Packages are installed with yarn.", "We use pnpm for the docs."),
                ("Packages are tested with jest.", "We use yarn for all packages."),
                ("The production database is Postgres 15.", "Production runs on Kubernetes 1.29."),
                ("The production database is Postgres 15.", "Staging runs on MySQL 8."),
                ("The production database is Postgres 15.", "The production cache is Redis 7."),
                ("CI runs on Buildkite.", "CI runs on every push."),
                ("Secrets are read from Vault at startup.", "Flags are read from Redis at startup."),
                ("Secrets come from Vault.", "The app gets its config from Consul."),
            ],
            id="what it is done with: unrelated",
        ),
        pytest.param(
            DUPLICATE,
            [
                ("Each tenant has its own database.", "Every tenant has its own separate database."),
                ("The pool is shared between all threads.", "All threads share one pool."),
            ],
            id="of whom it is: duplicate",
        ),
        pytest.param(
            CONTRADICTION,
            [
                ("The pool is shared between all threads.", "Each thread has its own pool."),
                ("All tenants share one database.", "Every tenant has its own database."),
            ],
            id="of whom it is: contradiction",
        ),
        pytest.param(
            UNRELATED,
            [
                ("The cache is shared between all workers.", "Each worker has its own log file."),
                ("The cache is shared between all workers.", "Each tenant has its own cache."),
            ],
            id="of whom it is: unrelated",
        ),
        pytest.param(
            DUPLICATE,
            [
                ("No new tables without asking.", "Ask before adding a new table."),
                ("Never push to main.", "Direct commits to main are forbidden."),
                ("I like brief answers.", "I prefer short replies."),
                ("Keep responses concise.", "Keep answers short."),
                ("Documentation uses American English.", "Write documentation in American English."),
            ],
            id="what is to be done: duplicate",
        ),
        pytest.param(
            CONTRADICTION,
            [
                ("Always rebase before pushing.", "Never rebase branches when pushing."),
                ("Always lint before committing.", "Never lint code before committing."),
                ("Globals are fine in unit tests.", "Don't use globals in tests."),
                ("Sleeps are okay in integration tests.", "Never use sleeps in tests."),
            ],
            id="what is to be done: contradiction",
        ),
        pytest.param(
            UNRELATED,
            [
                ("Always lint before committing.", "Never lint generated code."),
                ("Always rebase before pushing.", "Never rebase release branches."),
                ("Always test before merging.", "Never test code on Fridays."),
                ("Mocks are fine in unit tests.", "Don't use globals in tests."),
                ("Mocks are fine in unit tests.", "Don't use mocks in production code."),
                ("Mocks are fine in unit tests.", "Don't use mocks in integration tests."),
                ("Never commit directly to main.", "Don't commit generated files."),
                ("Ask before adding a new dependency.", "Ask before deleting a branch."),
                ("No new dependencies without asking.", "No new tables without a migration."),
                ("I prefer short answers.", "I prefer short functions."),
                ("Keep replies brief.", "Keep functions short."),
                ("User-facing text uses British English.", "The API docs use American English."),
            ],
            id="what is to be done: unrelated",
        ),
        pytest.param(
            DUPLICATE, [("Use spaces for Python code.", "Use spaces for Python.")], id="how it is indented: duplicate"
        ),
        pytest.param(
            CONTRADICTION,
            [
                ("Indent JSON with 2 spaces.", "JSON files are indented with tabs."),
                ("Indent TypeScript with 4 spaces.", "TypeScript code is indented with tabs."),
            ],
            id="how it is indented: contradiction",
        ),
        pytest.param(
            UNRELATED,
            [
                ("Indent Python with 4 spaces.", "Makefiles are indented with tabs."),
                ("Indent Python with 4 spaces.", "Go files are indented with tabs."),
                ("Test files end in _test.go.", "Go files use tabs."),
            ],
            id="how it is indented: unrelated",
        ),
        pytest.param(
            DUPLICATE,
            [
                ("We deploy on Mondays.", "Deployments go out on Mondays."),
                ("All endpoints return JSON.", "Every endpoint responds with JSON."),
                ("I work from Berlin.", "I'm based in Berlin."),
                ("Never edit generated files.", "Generated files must not be edited by hand."),
            ],
            id="verbs: duplicate",
        ),
        pytest.param(
            CONTRADICTION,
            [
                ("Logs are kept for 30 days.", "Logs are deleted after 7 days."),
                ("Retries are limited to 3.", "Retry at most 5 times."),
                ("Deploys require approval.", "Anyone can deploy without approval."),
            ],
            id="verbs: contradiction",
        ),
        pytest.param(
            UNRELATED,
            [
                ("Logs are kept for 30 days.", "Backups are deleted after 90 days."),
                ("I work from Berlin.", "I work from 9 to 5."),
                ("Retries are limited to 3.", "Workers are limited to 5."),
                ("PRs need two approvals.", "Hotfixes need one approval."),
            ],
            id="verbs: unrelated",
        ),
    ],
)
def test_the_same_put_in_other_ways_is_known_and_what_only_looks_like_it_is_left_alone(
    expected: str, pairs: list[tuple[str, str]]
):
    wrong = [(one, other, label(one, other)) for one, other in pairs if label(one, other) != expected]
    assert wrong == []
    assert [(one, other) for one, other in pairs if label(other, one) != expected] == []


def test_what_is_said_plainly_stays_as_it_is():
    for text in ("We use pnpm.", "Never commit secrets.", "The port is 80.", "x" * 50):
        assert plain(text) == text
    assert plain("The owner of the parser is Priya.") == "Priya owns the parser"


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
