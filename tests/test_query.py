"""A query says what it means: words, phrases, filters and times, and nothing that is typed can break it."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from co_cli.query import Query, parse_query

promise = settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

TODAY = "2026-11-19"  # a Thursday


def parse(text):
    return parse_query(text, TODAY)


# ----------------------------------------------------------------------------------------------------------- any text

PARTS = """
tag:x tags:a,b tag: kind:memory kind:TOPICS kind:foo before:2024-05 after:7d since:yesterday on:2024
before:nonsense in:2024-05 on:click -tag:x " “ ” „ « » 「 」 ' 27" last week May march 3 2024
2024-02-30 9999-12 ago three 9999 years from to between since before the AND OR NEAR * ^ ( ) : ::
http://x std::vector 12:30 2024-03-31T10:00Z after:2024-03-31T10:00+02:00 months 29 february , ;
today (today) 12. ٣ ²
"""
WITH_BLANKS = [
    'tag:"two words"',
    'since:"last week"',
    'before:"last foo"',
    "\0",
    "\u202e",
    "\ud800",
    "\u3000",
    "\f",
    "C:\\x",
]
pieces = st.one_of(st.sampled_from([*PARTS.split(), *WITH_BLANKS]), st.text(max_size=6))
queries = st.builds(lambda parts, gap: gap.join(parts), st.lists(pieces, max_size=12), st.sampled_from([" ", "", "\n"]))


@promise
@given(queries)
def test_every_text_is_a_query_and_what_is_left_of_it_has_no_filters(text):
    query = parse(text)
    again = parse(query.text)
    assert (again.text, again.words, again.phrases, again.span) == (query.text, query.words, query.phrases, query.span)
    assert (again.tags, again.kinds, again.after, again.before) == ((), (), "", "")
    assert all([word] == word.split() for word in query.words)
    assert len(query.warnings) <= 5
    assert all(warning.isprintable() for warning in query.warnings)
    start, end = query.span
    assert (start < end) if start else (end == "")


@promise
@given(st.text(), st.text(max_size=12))
def test_no_date_of_today_is_too_strange(text, today):
    parse_query(f"{text} last week since:3d in May", today)


@promise
@given(st.lists(st.text("abcdefghäöü漢*^()'", min_size=1), max_size=5))
def test_words_come_back_as_they_were_written(words):
    assert parse(" ".join(words)) == Query(" ".join(words), tuple(words))


@pytest.mark.parametrize(
    "text",
    [
        "how to deploy",
        "AND OR NOT NEAR(a b) * ^ { } ( ) + -x",
        "http://example.org:80/x?tag=1",
        r"C:\notes d:/notes",
        "std::vector kind::x after::before",
        "12:30 1:1",
        "a:b title:x Tag",
        "on:click in:box -in:x",
        "\0 \u202e \ud800",
        "记忆 ความจำ память",
        "c++ c# .net 3.11 #tag",
        "don't",
    ],
)
def test_what_is_no_filter_and_no_phrase_stays_words(text):
    assert parse(text) == Query(text, tuple(text.split()))


# ------------------------------------------------------------------------------------------------- phrases and filters


@pytest.mark.parametrize(
    ("text", "phrases", "words"),
    [
        ('"two words"', ["two words"], []),
        ('say "one" more', ["one"], ["say", "more"]),
        ('a"b c"d', [], ["a", "b", "c", "d"]),
        ("(“typographic  quotes”) „wie hier“, « là »", ["typographic quotes", "wie hier", "là"], ["(", ")", ","]),
        ("记忆「重要的」事", ["重要的"], ["记忆", "事"]),
        ("»so« ”här”", ["so", "här"], []),
        ('"not closed', [], ["not", "closed"]),
        ('a "b" "c', ["b"], ["a", "c"]),
        ('27" or 24" screen', [], ["27", "or", "24", "screen"]),
        ('"" "  "', [], []),
        ('"tag:x last week"', ["tag:x last week"], []),
    ],
)
def test_quotation_marks_hold_a_phrase_together(text, phrases, words):
    query = parse(text)
    assert list(query.phrases) == phrases
    assert list(query.words) == words
    assert query.text == " ".join(text.split())
    assert query.span == ("", "")


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("tag:x", ["x"]),
        ("TAG:Ops", ["Ops"]),
        ("tag:a,b tag:A,c", ["a", "b", "c"]),
        ('tag:"two words"', ["two words"]),
        ('tag:"a, b",c', ["a, b", "c"]),
        ("tag:“two  words”", ["two words"]),
        ("tag:#x tags:c# tag:c++ tag:记忆?", ["x", "c#", "c++", "记忆"]),
        ("tag:a:b", ["a:b"]),
    ],
)
def test_tags(text, tags):
    query = parse(f"how {text} works")
    assert (list(query.tags), query.text, query.words, query.warnings) == (tags, "how works", ("how", "works"), ())


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("kind:memory", ["memory"]),
        ("kind:Topics,articles", ["topic", "article"]),
        ("kinds:memories kind:memory", ["memory"]),
    ],
)
def test_kinds(text, kinds):
    query = parse(f"{text} x")
    assert (list(query.kinds), query.text, query.warnings) == (kinds, "x", ())


@pytest.mark.parametrize(
    ("text", "after", "before"),
    [
        ("after:2024-05-03", "2024-05-03", ""),
        ("since:2024-05", "2024-05-01", ""),
        ("before:2024", "", "2024-01-01"),
        ("before:2024-5-3.", "", "2024-05-03"),
        ("on:2024-05-31", "2024-05-31", "2024-06-01"),
        ("in:2024-12", "2024-12-01", "2025-01-01"),
        ("in:2023", "2023-01-01", "2024-01-01"),
        ("on:yesterday", "2026-11-18", "2026-11-19"),
        ('in:"May 2023"', "2023-05-01", "2023-06-01"),
        ("in:may", "2026-05-01", "2026-06-01"),
        ("after:2024-05-03T14:30:00+02:00", "2024-05-03T14:30:00+02:00", ""),
        ("before:2024-05-03t14:30z", "", "2024-05-03T14:30Z"),
        ("since:yesterday", "2026-11-18", ""),
        ('since:"last week"', "2026-11-09", ""),
        ("since:monday", "2026-11-16", ""),
        ('since:"the last 3 days"', "2026-11-16", ""),
        ('since:"two weeks ago"', "2026-11-05", ""),
        ("before:7d", "", "2026-11-12"),
        ("since:3w", "2026-10-29", ""),
        ("since:9m", "2026-02-19", ""),
        ("since:1Y", "2025-11-19", ""),
        ("since:2024 since:2025 before:2026 before:2027", "2025-01-01", "2026-01-01"),
    ],
)
def test_limits_of_time(text, after, before):
    query = parse(f"x {text} y")
    assert (query.after, query.before, query.text, query.warnings) == (after, before, "x y", ())
    assert query.span == ("", "")


def test_a_month_ago_is_never_a_day_that_does_not_exist():
    assert parse_query("since:1m", "2026-03-31").after == "2026-02-28"
    assert parse_query("since:1y", "2024-02-29").after == "2023-02-28"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("before:soon", "yesterday"),
        ("after:2024-02-30", "2024-05-03"),
        ("since:03/04/2024", "is no date"),
        ("on:2024-13", "is no date"),
        ("since:99999d", "is no date"),
        ("since:9999y", "is no date"),
        ("after:2024-05-03T99:00", "is no date"),
        ("before:", "is no date"),
        ('since:"last foo"', "is no date"),
        ("kind:note", "kind:memory, kind:topic and kind:article"),
        ("kind:memory,note", "kind:memory,note"),
        ("tag:", "tag:deploy"),
        ("tag:,#", "tag:deploy"),
        ("-tag:x", "nothing can be left out"),
        ("-since:2024", "nothing can be left out"),
    ],
)
def test_a_filter_that_is_not_understood_is_a_word_and_a_warning(text, says):
    query = parse(text)
    assert says in "".join(query.warnings)
    assert query.text == text
    assert query.words == tuple(part.strip('"') for part in text.split())
    assert query[3:7] == ((), (), "", "")


def test_limits_that_leave_no_time_are_pointed_out():
    assert parse("since:2025 before:2024").warnings == ("no time is both since 2025-01-01 and before 2024-01-01",)


def test_a_warning_shows_neither_control_characters_nor_a_novel():
    (warning,) = parse("before:\0\u202e" + "x" * 10_000).warnings
    assert warning.isprintable()
    assert len(warning) < 300


# --------------------------------------------------------------------------------------------- times in plain words


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("what happened today?", "2026-11-19", "2026-11-20"),
        ("yesterday's decision", "2026-11-18", "2026-11-19"),
        ("the day before yesterday", "2026-11-17", "2026-11-18"),
        ("what did I say last night", "2026-11-18", "2026-11-19"),
        ("this morning", "2026-11-19", "2026-11-20"),
        ("deploys of last week", "2026-11-09", "2026-11-16"),
        ("this week", "2026-11-16", "2026-11-23"),
        ("last weekend", "2026-11-14", "2026-11-16"),
        ("this month", "2026-11-01", "2026-12-01"),
        ("last month", "2026-10-01", "2026-11-01"),
        ("last quarter", "2026-07-01", "2026-10-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("in the last 3 days", "2026-11-16", "2026-11-20"),
        ("the past two months", "2026-09-19", "2026-11-20"),
        ("three days ago", "2026-11-16", "2026-11-17"),
        ("a week ago", "2026-11-09", "2026-11-16"),
        ("2 months ago", "2026-09-01", "2026-10-01"),
        ("two years ago", "2024-01-01", "2025-01-01"),
        ("on Monday", "2026-11-16", "2026-11-17"),
        ("on Thursday", "2026-11-19", "2026-11-20"),
        ("last Thursday", "2026-11-12", "2026-11-13"),
        ("since Monday", "2026-11-16", "2026-11-20"),
        ("in May 2023", "2023-05-01", "2023-06-01"),
        ("december 2023 retro", "2023-12-01", "2024-01-01"),
        ("in May", "2026-05-01", "2026-06-01"),
        ("in December", "2025-12-01", "2026-01-01"),
        ("last May", "2026-05-01", "2026-06-01"),
        ("on 3 March 2024", "2024-03-03", "2024-03-04"),
        ("March 3rd, 2024", "2024-03-03", "2024-03-04"),
        ("the 3rd of March", "2026-03-03", "2026-03-04"),
        ("Dec 24", "2025-12-24", "2025-12-25"),
        ("on May 3", "2026-05-03", "2026-05-04"),
        ("on 29 February", "2024-02-29", "2024-03-01"),
        ("release 2024-03", "2024-03-01", "2024-04-01"),
        ("(2024-03-31)", "2024-03-31", "2024-04-01"),
        ("2024/3/31", "2024-03-31", "2024-04-01"),
        ("at 2024-03-31T10:00", "2024-03-31", "2024-04-01"),
        ("in 2023", "2023-01-01", "2024-01-01"),
        ("plans of 2023", "2023-01-01", "2024-01-01"),
        ("notes from May 2023", "2023-05-01", "2023-06-01"),
        ("from May to July 2024", "2024-05-01", "2024-08-01"),
        ("between 2023-01-05 and 2023-02-03", "2023-01-05", "2023-02-04"),
        ("since May 2023", "2023-05-01", "2026-11-20"),
        ("before May 2023, or last week", "2026-11-09", "2026-11-16"),
    ],
)
def test_a_time_in_plain_words_is_half_open_and_the_words_stay(text, start, end):
    query = parse(text)
    assert query.span == (start, end)
    assert query[3:7] == ((), (), "", "")
    assert query.text == text
    assert query.words == tuple(text.split())


@pytest.mark.parametrize(
    "text",
    [
        "what may happen",
        "may 5 people join",
        "march on",
        "monday meeting",
        "python 3.11",
        "port 2024",
        "page 3 of 5",
        "before May 2023",
        "until yesterday",
        "2024-13-01 2024-02-30",
        "1999-2003",
        "2024-05-1234",
        "30 february",
        "week year day ago",
        "the last word",
        "next",
        "9999 years ago",
        "a day in a life",
    ],
)
def test_what_is_no_time(text):
    assert parse(text).span == ("", "")
    assert parse(text).warnings == ()


# --------------------------------------------------------------------------------------------------------------- cost


def test_a_query_of_plain_words_needs_no_calendar():
    script = (
        "import sys; from co_cli.query import parse_query; parse_query('how do we deploy', '2026-11-19'); "
        "sys.exit('datetime' in sys.modules or 'dataclasses' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["x", "word ", "tag:x ", "before:x ", '"', "“ ", '« tag:"', "last ", "before may ", "tag:", "12 ", ","]
)
def test_twice_as_much_takes_twice_as_long(piece):
    def cost(size):
        text = "tag:" + piece * (size // len(piece))
        begun = time.process_time()
        parse(text)
        return time.process_time() - begun

    cost(10_000)
    assert cost(800_000) < 6 * cost(200_000) + 0.2
