"""A summary says what its sources say: whoever drops a number, a name, a date or a "not" is told which."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from co_cli.learning.summaries.facts import read
from co_cli.learning.summaries.faithfulness import lapses, lapses_of_text
from co_cli.learning.summaries.summary import Statement, Summary, cited, listed, parse, statements_of, without
from co_cli.note import MEMORY, Note

SOURCES = {
    "1": "We deploy on Fridays.",
    "2": "Never deploy before 3pm on Fridays",
    "3": "Anna owns billing",
    "4": "Ben owns search",
    "5": "The API timeout is 30 s",
    "6": "Worker timeout is 60 seconds",
}


def found(*statements: tuple[str, str], sources: dict[str, str] | None = None) -> list[str]:
    """What is wrong with statements, each of which cites some of the sources."""
    given_sources = sources or SOURCES
    summary = Summary("", tuple(Statement(text, tuple(refs.split())) for text, refs in statements))
    named = {ref: given_sources[ref] for ref in summary.refs if ref in given_sources}
    return [str(lapse) for lapse in lapses(named, summary)]


def as_list(heading: str, *notes: tuple[str, str]) -> Summary:
    """The faithful list of notes, each given by its ref and its text."""
    return listed(heading, (Statement(text, (ref,)) for ref, text in notes))


def of(source: str, text: str) -> list[str]:
    """What is wrong with a text in place of one source."""
    return found((text, "1"), sources={"1": source})


FAITHFUL = [
    ("We deploy on Fridays.", "Deploys happen every Friday"),
    ("Never push to main", "Don't push to main directly"),
    ("Tabs are not allowed", "Never use tabs"),
    ("Use tabs instead of spaces", "Use tabs, not spaces"),
    ("The limit is 20,000 requests", "The limit is 20000 requests"),
    ("The timeout is 30s", "The timeout is 30 seconds"),
    ("It expires after 2 hours", "It expires after 120 min"),
    ("There are three workers", "There are 3 workers"),
    ("The freeze begins on Feb 9, 2026", "From 2026-02-09 on there is a freeze"),
    ("The freeze begins on 9 February", "The freeze begins on February 9th"),
    ("Standup is at 3pm", "Standup is at 3:00 pm"),
    ("At most 5 connections", "No more than five connections"),
    ("Anna Schmidt owns the billing service", "The billing service is Anna Schmidt's"),
    ("Run `make lint` before a commit", "Before a commit, `make lint` is run"),
    ("Redis keeps the sessions", "Sessions live in Redis"),
    ("数据库在北京", "数据库在北京"),
]


@pytest.mark.parametrize(("source", "text"), FAITHFUL)
def test_other_words_for_the_same_are_faithful(source: str, text: str) -> None:
    assert of(source, text) == []


UNFAITHFUL = [
    ("The port is 5432", "The port is open", "drops the number “5432” of 1"),
    ("The port is 5432", "The port is 5433", "drops the number “5432” of 1"),
    ("The timeout is 30 s", "The timeout is 30 minutes", "drops the number “30 s” of 1"),
    ("We deploy after 3pm", "We deploy before 3pm", "drops the number “after 3pm” of 1"),
    ("Staging is frozen until Monday", "Staging is frozen on Monday", "drops the date “until Monday” of 1"),
    ("At least 3 reviewers", "At most 3 reviewers", "drops the number “At least 3” of 1"),
    ("There are three workers", "There are some workers", "drops the number “three”"),
    ("It costs $20", "It costs 20", "drops the number “$20”"),
    ("We need Python 3.11", "We need Python 3.12", "drops the number “3.11”"),
    ("Freeze from 2026-02-09", "Freeze from 2026-02-10", "drops the date “2026-02-09”"),
    ("We deploy on Fridays", "We deploy weekly", "drops the date “Fridays”"),
    ("The audit is in March", "The audit is in May", "drops the date “March”"),
    ("Ask Anna about billing", "Ask about billing", "drops the name “Anna”"),
    ("Sessions live in Redis", "Sessions live in Postgres", "drops the name “Redis”"),
    ("Postgres holds the orders", "Orders are in the database", "drops the name “Postgres”"),
    ("The settings are in src/app.toml", "The settings are in a file", "drops the name “src/app.toml”"),
    ("Call `parse_ref` first", "Call the parser first", "drops the name “`parse_ref`”"),
    ("See https://example.org/a?b=1", "See the site", "drops the name “https://example.org/a?b=1”"),
    ("Pass --no-cache to the build", "Pass the option to the build", "drops the name “--no-cache”"),
    ("FunctionModel stands in for a model", "A fake stands in for a model", "drops the name “FunctionModel”"),
    ("Never push to main", "Push to main", "drops the negation “never push to main” of 1"),
    ("We don't mock the database", "We mock the database", "drops the negation “don't mock the database”"),
    ("Build without the cache", "Build with the cache", "drops the negation “without the cache”"),
    ("Use tabs instead of spaces", "Use tabs or spaces", "drops the negation"),
    ("Deploy only from main", "Deploy from main", "drops the limit “only”"),
    ("Retry unless the key is wrong", "Retry when the key is wrong", "drops the limit “unless”"),
    ("数据库在北京", "数据库在上海", "drops the name “数据库在北京”"),
    ("Wir nutzen keine Mocks", "Wir nutzen Mocks", "drops the negation “keine mocks”"),
    ("We deploy on Fridays", "We deploy on Fridays at 9:00", "adds the number “9:00”, which 1 does not have"),
    ("We deploy on Fridays", "We never deploy on Fridays", "adds the negation “never deploy on fridays”"),
    ("Deploys take long", "Deploys take long because of Jenkins", "adds the name “Jenkins”"),
    ("Never use tabs; use spaces", "Never use spaces; use tabs", "drops the negation “never use tabs”"),
]


@pytest.mark.parametrize(("source", "text", "told"), UNFAITHFUL)
def test_what_is_dropped_or_added_is_named(source: str, text: str, told: str) -> None:
    assert any(lapse.startswith(told) for lapse in of(source, text)), of(source, text)


def test_a_statement_may_rest_on_several_sources() -> None:
    assert found(("We deploy on Fridays, but never before 3 pm", "1 2")) == []
    assert found(("Anna owns billing and Ben owns search", "3 4")) == []
    assert found(("Timeouts are 30 s for the API and 1 minute for workers", "5 6")) == []


def test_what_belongs_to_one_source_may_not_stand_beside_the_words_of_another() -> None:
    swapped = found(("Anna owns search and Ben owns billing", "3 4"))
    assert "puts “Anna” of 3 beside what another source says" in swapped
    swapped = found(("Timeouts are 60 s for the API and 30 s for workers", "5 6"))
    assert "puts “30 s” of 5 beside what another source says" in swapped


def test_a_fact_has_to_stand_where_its_source_is_cited() -> None:
    assert found(("We deploy on Fridays", "1"), ("Billing has an owner: Anna", "3"), ("Ben owns search", "4")) == []
    elsewhere = found(("Billing has an owner", "3"), ("Anna owns search", "4"))
    assert "drops the name “Anna” of 3" in elsewhere
    assert "adds the name “Anna”, which 4 does not have" in elsewhere


def test_every_source_is_cited_and_nothing_else() -> None:
    summary = Summary(
        "Owners", (Statement("Anna owns billing", ("3",)), Statement("So it is", ("40",)), Statement("Hm", ()))
    )
    told = [str(lapse) for lapse in lapses({"3": SOURCES["3"], "4": SOURCES["4"]}, summary)]
    assert "leaves 4 out" in told
    assert "cites 40 for “So it is”" in told
    assert "cites nothing for “Hm”" in told


def test_a_heading_may_name_what_the_sources_or_their_tags_say_and_nothing_else() -> None:
    summary = as_list("Deploys, OPS", ("1", SOURCES["1"]))
    told = [str(lapse) for lapse in lapses({"1": SOURCES["1"]}, summary)]
    assert told == ["adds the name “OPS”, which no source has"]
    assert lapses({"1": SOURCES["1"]}, summary, known="OPS") == ()


def test_a_text_of_another_form_is_held_to_all_sources_together() -> None:
    both = {ref: SOURCES[ref] for ref in "12"}
    assert lapses_of_text(both, "We deploy on Fridays, never before 3pm.") == ()
    told = [str(each) for each in lapses_of_text(both, "We deploy before 3pm on Fridays.")]
    assert told == ["drops the negation “never deploy before 3pm on” of 2"]


# --------------------------------------------------------------------------------------------------------- the faithful list

WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc")) | st.sampled_from("\n [],.-0123456789"), min_size=1).map(
    str.strip
)
TEXTS = WORDS.filter(lambda text: bool(text) and parse(text) is None)


@settings(deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_the_list_of_any_notes_is_faithful_and_read_back_as_it_was(texts: list[str]) -> None:
    sources = {str(number): text for number, text in enumerate(texts, start=1)}
    summary = as_list("", *sources.items())
    assert lapses(sources, summary) == ()
    assert parse(summary.body) == summary
    assert {*summary.refs} == {*sources}
    assert {statement.text for statement in summary.statements} <= {*texts}


@settings(deadline=None)
@given(st.lists(TEXTS, min_size=2, max_size=5, unique_by=lambda text: " ".join(text.split()).removesuffix(".")))
def test_without_a_source_its_words_are_gone_and_all_others_stay(texts: list[str]) -> None:
    sources = {str(number): text for number, text in enumerate(texts, start=1)}
    summary = as_list("", *sources.items())
    body, whole = without(summary.body, {"1"})
    left = parse(body)
    assert whole
    assert left
    assert [statement.text for statement in left.statements] == texts[1:]
    assert "leaves 1 out" in [str(each) for each in lapses(sources, left)]


@settings(deadline=None)
@given(st.integers(0, 10**9), st.integers(0, 10**9), st.sampled_from(["{}", "v{}.1", "${}", "{} ms", "{}%", "at most {}"]))
def test_no_number_becomes_another(one: int, other: int, form: str) -> None:
    text = "Requests to billing take {} as a rule"
    told = of(text.format(form.format(one)), text.format(form.format(other)))
    assert (told == []) is (one == other)


@settings(deadline=None)
@given(st.lists(st.sampled_from([*SOURCES["1"].split(), "not", "5", "Redis", "`x`", "12:30", "2026-02-09"]), min_size=1))
def test_a_text_is_faithful_to_itself(words: list[str]) -> None:
    assert of(" ".join(words), " ".join(words)) == []


FACTS = (
    "Anna",
    "`parse_ref`",
    "5432",
    "30 s",
    "2026-02-09",
    "Fridays",
    "src/app.py",
    "FunctionModel",
    "v1.2",
    "https://a.example/b",
)
FILLERS = st.sampled_from(["the gate opens by", "a note is kept for", "it goes along", "some of that is about"])


@settings(deadline=None)
@given(st.lists(st.tuples(FILLERS, st.sampled_from(FACTS)), min_size=1, max_size=6), st.data())
def test_whatever_fact_is_taken_out_of_a_summary_is_missed(parts: list[tuple[str, str]], data: st.DataObject) -> None:
    sources = {str(number): f"so {filler} {fact} here" for number, (filler, fact) in enumerate(parts, start=1)}
    summary = as_list("", *sources.items())
    place = data.draw(st.integers(0, len(summary.statements) - 1))
    statement = summary.statements[place]
    fact = next(fact for _filler, fact in parts if f" {fact} " in statement.text)
    poorer = statement._replace(text=statement.text.replace(fact, "something"))
    statements = (*summary.statements[:place], poorer, *summary.statements[place + 1 :])
    missed = {(lapse.what, lapse.ref) for lapse in lapses(sources, summary._replace(statements=statements))}
    assert missed == {("drops", ref) for ref in statement.refs}


def test_twins_are_one_statement_with_both_refs() -> None:
    summary = as_list("Deploys", ("1", "We deploy on Fridays"), ("g:2", "We  deploy on Fridays."), ("3", "We use `uv`"))
    assert summary.body == "Deploys:\n\n- We deploy on Fridays [1, g:2]\n- We use `uv` [3]"
    assert cited(summary.body) == ("1", "g:2", "3")


def test_a_note_of_several_lines_keeps_them() -> None:
    text = "Run:\n\n```sh\n  make test\n```"
    summary = as_list("How to test", ("7", text))
    assert summary.body == "How to test:\n\n- Run:\n\n  ```sh\n    make test\n  ```\n  [7]"
    assert parse(summary.body) == summary
    assert summary.statements[0].text == text


def test_what_was_merged_before_keeps_its_own_citations_and_other_lists_have_none() -> None:
    body = "Deploys:\n\n- We deploy on Fridays [1]\n- Never before 3pm [2]"
    note = Note(MEMORY, "project", "9.md", b"", body, id=9)
    merged = note._replace(supersedes=(1, 2))
    assert [statement.refs for statement in statements_of(merged)] == [("1",), ("2",)]
    assert statements_of(note) == (Statement(body, ("9",)),)


@pytest.mark.parametrize(
    "body", ["", "We deploy on Fridays", "- We deploy on Fridays", "Deploys:\n\n- a [1]\nand so on", "- [x] done", "- [1]"]
)
def test_other_texts_are_no_summaries(body: str) -> None:
    assert parse(body) is None


def test_of_other_words_only_the_citation_can_be_taken_out() -> None:
    body = "We deploy on Fridays [1], never before 3pm [1, 2]. See [the page](x) and a[1]."
    assert cited(body) == ("1", "2")
    assert without(body, {"1"}) == ("We deploy on Fridays, never before 3pm [2]. See [the page](x) and a[1].", False)


def test_of_a_summary_nothing_is_left_without_its_only_source() -> None:
    assert without("- We deploy [1]", {"1"}) == ("", True)


@pytest.mark.parametrize("text", ["+" * 20_000, "a." * 10_000, "no " * 7_000, "/" * 20_000, "1," * 10_000, "a@" * 10_000])
def test_no_text_takes_long(text: str) -> None:
    started = time.process_time()
    read(text)
    cited(text)
    without(text, {"1"})
    assert time.process_time() - started < 1


def test_numbers_are_found_in_any_running_text() -> None:
    text = "On 2026-02-09 at 14:30 the 3 workers of v1.2.3 took 5.5 GB, 20% more than -3 or 1,000."
    shown = [fact.shown for fact in read(text).facts if re.search(r"\d", fact.shown)]
    assert shown == ["2026-02-09", "14:30", "3", "v1.2.3", "5.5 GB", "20%", "more than -3", "1,000"]
