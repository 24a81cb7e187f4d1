"""What a query answers: the right notes in the right order, with the reasons, and never an error."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from indexes import bodies, choose, files_of_index, open_at, put
from processes import within

from co_cli import KnowledgeBase
from co_cli.errors import Invalid

MODES = ("grep", "text", "vector", "hybrid")
RANKED = MODES[1:]


# ------------------------------------------------------------------------------------------------------- any query at all

HARD = [
    "\0",
    "heron\0stork",
    "\ud800",
    "heron\udfff",
    "\u202eheron\u202c",
    '"',
    '""',
    '"heron',
    "'heron'",
    '"heron stork',
    '"" heron ""',
    "heron AND",
    "OR",
    "NOT heron",
    "NEAR(heron stork, 5)",
    "heron*",
    "*",
    "^heron",
    "body:heron",
    "{body tags}:heron",
    "-heron",
    "+heron",
    "(heron",
    "heron)",
    "heron; DROP TABLE notes; --",
    "' OR 1=1 --",
    "\\",
    "%_%",
    "the of and",
    "?!…—",
    "🎉",
    "👩‍👩‍👧",
    "日",
    "ก",
    "\u0301",
    "tag:\ud800 heron",
    "tag:\0 heron",
    'tag:"',
    "kind:nothing",
    "kind:memory kind:topic heron",
    "since:0001-01-01T00:00 heron",
    "before:0001-01-01T00:00+14:00 heron",
    "before:9999-12-31T23:59-14:00 heron",
    "on:2024-02-30 heron",
    "since:2024-05-01 before:2024-04-01 heron",
    "heron " * 200_000,
    "x" * 1_000_000,
    '"' * 1_000_000,
    "日" * 1_000_000,
    "a " * 500_000,
    "é." * 500_000,
]


@pytest.fixture(scope="module")
def any_vault(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    kb = open_at(tmp_path_factory.mktemp("any"))
    choose(kb, embedder="fake")
    vault = Path(kb.vaults[0].root)
    for number in range(1, 60):
        put(
            vault, number, f'heron {number} AND stork OR "eagle" NEAR the 日本語 snake_case', header="tags: [bird, Straße]\n"
        )
    put(vault, 60, "# One\n\nheron\n\n# Two\n\n" + "stork " * 900, kind="topics", name="birds.md")
    return kb


def check_answer(kb: KnowledgeBase, query: str, mode: str, **how: Any) -> None:
    """Put a query that has to be answered, unless there is nothing in it."""
    if not query.strip(' \t\r\n"'):
        with pytest.raises(Invalid, match="empty"):
            kb.recall(query, mode=mode, **how)
        return
    with within(20):
        found = kb.recall(query, mode=mode, **how)
    assert found.query == query
    assert found.mode in (mode, "grep", "text")
    assert len(found.hits) <= found.total
    assert len({hit.note.path for hit in found.hits}) == len(found.hits)
    assert set(found.degraded) <= {"index-rebuilt"}


@pytest.mark.parametrize("query", HARD, ids=lambda query: ascii(query[:20]))
@pytest.mark.parametrize("mode", MODES)
def test_a_query_made_of_anything_gets_an_answer(any_vault: KnowledgeBase, query: str, mode: str):
    check_answer(any_vault, query, mode)


PIECES = st.sampled_from(
    [*(query for query in HARD if len(query) < 100), "heron", "stork", " ", "\n", "since:7d", "tag:bird", "日本"]
)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES | st.text(max_size=8), max_size=8), st.sampled_from(["", " "]), st.sampled_from([*MODES, "auto"]))
def test_any_text_is_a_query(any_vault: KnowledgeBase, pieces: list[str], between: str, mode: str):
    check_answer(any_vault, between.join(pieces), mode, expired=bool(pieces))


@pytest.mark.parametrize(
    "query", ["AND", "OR", "NEAR", "heron AND stork", "snake", "snake_case", "SNAKE_CASE", "日本", "語", "本"]
)
@pytest.mark.parametrize("mode", ["text", "hybrid"])
def test_words_that_look_like_operators_are_words(any_vault: KnowledgeBase, query: str, mode: str):
    assert "heron" in bodies(any_vault, query, mode)[0]


# -------------------------------------------------------------------------------------------------- phrases and filters


@pytest.mark.parametrize("mode", ["grep", "text", "hybrid"])
def test_a_phrase_has_to_stand_as_it_is_asked_for(kb: KnowledgeBase, vault: Path, mode: str):
    put(vault, 1, "the blue heron stands in the water")
    put(vault, 2, "blue water, and a heron stands")
    put(vault, 3, "日本語を話す人がいる")
    put(vault, 4, "日話す本語")
    assert bodies(kb, '"blue heron"', mode) == ["the blue heron stands in the water"]
    assert bodies(kb, '"in the water"', mode) == ["the blue heron stands in the water"]
    assert bodies(kb, '"日本" 話す', mode) == ["日本語を話す人がいる"]
    assert bodies(kb, '"日本語"', mode) == ["日本語を話す人がいる"]
    assert bodies(kb, '"red heron"', mode) == []
    assert str(kb.recall('"blue heron"', mode=mode).hits[0].why).startswith("phrase")


@pytest.mark.parametrize("mode", MODES)
def test_filters_hold_in_every_mode(kb: KnowledgeBase, vault: Path, mode: str):
    put(vault, 1, "heron one", header="tags: [Ops, two words]\n", year=2021)
    put(vault, 2, "heron two", header="tags: [dev]\n", year=2022)
    put(vault, 3, "heron three", kind="topics", name="three.md", header="tags: [ops]\n", year=2023)
    put(vault, 4, "heron four", kind="articles", name="four.md", year=2024)
    for query, expected in {
        "heron": {"one", "two", "three", "four"},
        "heron tag:ops": {"one", "three"},
        "tag:OPS heron": {"one", "three"},
        'heron tag:"two words"': {"one"},
        "heron tag:ops tag:dev": set(),
        "heron kind:memory": {"one", "two"},
        "heron kind:topic,article": {"three", "four"},
        "heron since:2022-03": {"three", "four"},
        "heron since:2022": {"two", "three", "four"},
        "heron before:2023": {"one", "two"},
        "heron since:2022 before:2024": {"two", "three"},
        "heron tag:ops kind:topic since:2023": {"three"},
    }.items():
        assert {body.split()[1] for body in bodies(kb, query, mode, limit=10)} == expected, query
    assert {body.split()[1] for body in bodies(kb, "heron", mode, tags=["ops"], kinds=["memory"])} == {"one"}
    assert {body.split()[1] for body in bodies(kb, "tag:ops", mode)} == {"one", "three"}


@pytest.fixture(params=["UTC", "Etc/GMT-14", "Etc/GMT+12"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A place where it is another day than elsewhere."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("zone")
@pytest.mark.parametrize("mode", MODES)
def test_what_has_expired_is_left_out_unless_it_is_asked_for(kb: KnowledgeBase, vault: Path, mode: str):
    now = datetime.now(UTC)
    today = now.astimezone().date()
    times = {
        "past": "2020-01-01",
        "yesterday": str(today - timedelta(1)),
        "today": str(today),
        "hour ago": (now - timedelta(hours=1)).isoformat(timespec="seconds"),
        "soon": (now + timedelta(hours=1)).isoformat(timespec="seconds"),
        "soon elsewhere": (now + timedelta(hours=1)).replace(tzinfo=None).isoformat(timespec="seconds"),
        "far": "2999-12-31",
    }
    for number, (name, expires) in enumerate(times.items(), start=1):
        put(vault, number, f"heron: {name}", header=f"expires: {expires}\n")
    assert {body[7:] for body in bodies(kb, "heron", mode, limit=20)} == {"today", "soon", "soon elsewhere", "far"}
    assert {body[7:] for body in bodies(kb, "heron", mode, limit=20, expired=True)} == {*times}


# --------------------------------------------------------------------------------------------- order, scores and reasons


def test_grep_gives_the_phrase_first_then_all_words_then_any_and_the_newest_first(kb: KnowledgeBase, vault: Path):
    for number, body in enumerate(
        ["any heron", "stork, heron", "a HERON STORK", "xheronx storky", "nothing", "heron stork again"], start=1
    ):
        put(vault, number, body)
    assert bodies(kb, "heron stork", "grep", limit=9) == [
        "heron stork again",
        "a HERON STORK",
        "xheronx storky",
        "stork, heron",
        "any heron",
    ]
    put(vault, 7, "only a tag", header="tags: [Stork]\n")
    assert bodies(kb, "stork", "grep", limit=9)[0] == "only a tag"
    assert len(bodies(kb, "STORK", "grep", limit=9)) == 5


def test_ranked_search_puts_the_better_answer_first(kb: KnowledgeBase, vault: Path):
    put(vault, 1, "the heron and the stork nest by the river")
    put(vault, 2, "the stork nests on a roof")
    put(vault, 3, "a roof of the house needs tiles")
    for number in range(10, 40):
        put(vault, number, f"the house number {number} has a roof and tiles of its own")
    for mode in ("text", "hybrid"):
        assert bodies(kb, "where do heron and stork nest", mode)[0].startswith("the heron")
        assert bodies(kb, "stork roof", mode)[0].startswith("the stork")
        scores = [hit.score for hit in kb.recall("stork roof", mode=mode, limit=20).hits]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
def test_either_fusion_takes_words_and_meaning_together(kb: KnowledgeBase, vault: Path, fusion: str):
    choose(kb, fusion=fusion)
    put(vault, 1, "our automobile is parked in the garage")
    put(vault, 2, "car insurance is due in May")
    put(vault, 3, "the recipe needs three eggs")
    hits = kb.recall("car", mode="hybrid").hits
    assert hits[0].note.id == 2
    assert 1 in [hit.note.id for hit in hits]
    assert bodies(kb, "car", "text") == ["car insurance is due in May"]
    why = hits[0].why
    assert why.text is not None
    assert why.vector is not None
    assert 0 < why.vector <= 1


def test_the_reasons_name_words_places_scores_and_boosts(kb: KnowledgeBase, vault: Path):
    put(vault, 1, "the heron stands", header="tags: [river]\npinned: true\n", year=2026)
    put(vault, 2, "a river", kind="topics", name="t.md", header="title: Heron\n")
    for mode in ("text", "hybrid"):
        hits = {hit.note.kind: hit for hit in kb.recall("heron river stork", mode=mode).hits}
        first, second = hits["memory"], hits["topic"]
        assert first.why.match == second.why.match == "any word"
        assert set(first.why.words) == {"heron", "river"}
        assert set(first.why.places) == {"body", "tags"}
        assert set(second.why.places) == {"body", "title"}
        assert "pinned" in first.why.boosts
        assert "pinned" not in second.why.boosts
        assert first.why.text is not None
        assert (first.why.vector is not None) == (mode == "hybrid")
        for part in ("any word", "heron", "tags", "text ", "pinned"):
            assert part in str(first.why)
    assert kb.recall("heron river", mode="text").hits[0].why.match == "all words"
    assert kb.recall("heron", mode="vector").hits[0].why.text is None


def test_what_is_pinned_or_recent_comes_first_among_equals_unless_boosts_are_off(kb: KnowledgeBase, vault: Path):
    from indexes import means_of

    from co_cli.retrieval import Filter, retrieve

    this_year = time.localtime().tm_year
    put(vault, 1, "a heron here", header="pinned: true\n", year=1990)
    put(vault, 2, "a heron here", year=1995)
    put(vault, 3, "a heron here", year=this_year - 1 if time.localtime().tm_mon < 3 else this_year)
    put(vault, 4, "a heron here", year=1999)

    def order(*, boosts: bool) -> list[int | None]:
        only, means = Filter(("memory",)), means_of(kb)._replace(boosts=boosts)
        return [hit.note.id for hit in retrieve(kb.vaults, "heron", mode="text", limit=9, only=only, means=means).hits]

    assert set(order(boosts=True)[:2]) == {1, 3}
    assert len(order(boosts=False)) == 4
    scores = {
        hit.score
        for hit in retrieve(
            kb.vaults, "heron", mode="text", limit=9, only=Filter(("memory",)), means=means_of(kb)._replace(boosts=False)
        ).hits
    }
    assert len(scores) == 1


def test_a_hit_of_a_long_note_is_the_passage_that_answers(kb: KnowledgeBase, vault: Path):
    parts = [f"# Part {number}\n\n" + f"filler{number} " * 300 for number in range(6)]
    parts[4] += "\n\nThe heron stands in the water."
    put(vault, 1, "\n\n".join(parts), kind="topics", name="long.md")
    for mode in ("text", "hybrid"):
        hit = kb.recall("where does the heron stand", mode=mode).hits[0]
        assert "The heron stands" in hit.content
        assert len(hit.content) < len(hit.note.body) / 2
        assert hit.heading.endswith("Part 4")
        assert hit.note.body.split("\n")[hit.line - 1 :][0] in hit.content


def test_auto_chooses_the_way_by_the_number_of_notes(kb: KnowledgeBase, vault: Path):
    choose(kb, text_from="3", hybrid_from="5", embedder="fake")
    modes = []
    for number in range(1, 7):
        put(vault, number, f"heron {number}")
        modes.append(kb.recall("heron").mode)
    assert modes == ["grep", "grep", "text", "text", "hybrid", "hybrid"]
    choose(kb, mode="grep")
    assert kb.recall("heron").mode == "grep"
    assert kb.recall("heron", mode="text").mode == "text"


def test_the_project_and_the_global_vault_are_searched_as_one(kb: KnowledgeBase, vault: Path, global_vault: Path):
    put(vault, 1, "a heron in the project")
    put(global_vault, 1, "a heron for all projects, and a stork")
    for mode in MODES:
        assert {hit.note.ref for hit in kb.recall("heron", mode=mode).hits} == {"1", "g:1"}
        assert kb.recall("stork", mode=mode).hits[0].note.ref == "g:1"


def test_two_notes_that_answer_equally_come_in_the_same_order_each_time(kb: KnowledgeBase, vault: Path):
    for number in range(1, 30):
        put(vault, number, "a heron here")
    for mode in RANKED:
        assert len({tuple(hit.note.path for hit in kb.recall("heron", mode=mode).hits) for _ in range(3)}) == 1


# ------------------------------------------------------------------------------------------------------------ forgetting

SECRET = "xylocarpine"  # a word with a beginning of its own: of words that begin alike, the beginning is kept once


def everything_of(vault: Path) -> bytes:
    return b"".join(files_of_index(vault).values()).lower()


@pytest.mark.parametrize("how", ["forget", "undo", "by hand"])
def test_of_what_was_forgotten_nothing_is_left_in_the_files_of_the_index(kb: KnowledgeBase, vault: Path, how: str):
    choose(kb, embedder="fake")
    for number in range(1, 300):
        put(vault, number, f"bystander {number} says nothing")
    kb.recall("bystander", mode="hybrid")
    saved = kb.save(f"The {SECRET} is in the {SECRET}-drawer, see [[{SECRET}]]", tags=[SECRET]).note
    assert bodies(kb, SECRET, "hybrid")[0] == saved.body
    assert SECRET.encode() in everything_of(vault)

    if how == "forget":
        kb.forget(str(saved.id))
    elif how == "undo":
        kb.undo()
    else:
        Path(saved.path).unlink()
        assert SECRET not in " ".join(bodies(kb, SECRET, "hybrid"))
    assert SECRET.encode() not in everything_of(vault)
    assert b"xylocarp" not in everything_of(vault)
    for mode in MODES:
        assert SECRET not in " ".join(bodies(kb, SECRET, mode))
    if how != "by hand":
        kb.undo(kb.log()[0].id)
        for mode in ("text", "hybrid"):
            assert bodies(kb, SECRET, mode)[0] == saved.body


def test_a_vector_of_what_was_forgotten_is_gone_as_well(kb: KnowledgeBase, vault: Path):
    import sqlite3

    choose(kb, embedder="fake")
    for number in range(1, 20):
        put(vault, number, f"bystander {number}")
    saved = kb.save(f"The {SECRET} is in the drawer").note
    kb.recall("bystander", mode="hybrid")
    connection = sqlite3.connect(vault / "knowledge.db")
    query = (
        "SELECT v.vector FROM vectors v JOIN passages p ON p.id = v.passage JOIN notes n ON n.id = p.note WHERE n.number = ?"
    )
    [vector] = connection.execute(query, (saved.id,)).fetchone()
    connection.close()
    assert vector in b"".join(files_of_index(vault).values())
    kb.forget(str(saved.id))
    assert vector not in b"".join(files_of_index(vault).values())


# ------------------------------------------------------------------------------------------- machines that lack something

ASKING = """
import json, os, sys
{before}
from co_cli import open_knowledge
kb = open_knowledge()
for mode in sys.argv[1:]:
    found = kb.recall("heron", mode=mode)
    hits = [hit.note.id for hit in found.hits]
    print(json.dumps([found.mode, hits, found.degraded, found.notices, "numpy" in sys.modules, "sqlite3" in sys.modules]))
"""


def answers_without(before: str, *modes: str) -> list[Any]:
    done = subprocess.run(
        [sys.executable, "-c", ASKING.format(before=before), *modes], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def herons(kb: KnowledgeBase, vault: Path) -> KnowledgeBase:
    for number in range(1, 130):
        put(vault, number, f"bystander {number}")
    put(vault, 130, "heron by the water")
    return kb


def test_without_sqlite_vec_words_are_searched_and_that_is_said_with_the_next_step(herons: KnowledgeBase, tmp_path: Path):
    # everything that is installed, but sqlite-vec
    hide = f"""
import pathlib
places = [place for place in sys.path if place.endswith("site-packages")]
hidden = pathlib.Path({str(tmp_path / "hidden")!r})
hidden.mkdir(exist_ok=True)
for place in places:
    for entry in pathlib.Path(place).iterdir():
        if not entry.name.startswith("sqlite_vec") and not (hidden / entry.name).exists():
            (hidden / entry.name).symlink_to(entry)
sys.path[:] = [place for place in sys.path if place not in places] + [str(hidden)]
"""
    for mode, hits, degraded, notices, *_ in answers_without(hide, "hybrid", "vector"):
        assert (mode, hits) == ("text", [130])
        assert degraded[-1] == "semantic-unavailable"
        assert len(notices) == 1
        assert "pip install sqlite-vec" in notices[0]
    [[mode, hits, degraded, notices, *_]] = answers_without(hide.replace('hidden")', 'again")'), "text")
    assert (mode, hits, degraded, notices) == ("text", [130], [], [])


def test_without_numpy_everything_is_searched(herons: KnowledgeBase):
    results = answers_without("sys.modules['numpy'] = None", "text", "hybrid", "vector")
    assert [mode for mode, *_ in results] == ["text", "hybrid", "vector"]
    assert all(hits[0] == 130 and "semantic-unavailable" not in degraded for _, hits, degraded, *_ in results)


def test_pythons_own_sqlite_is_not_used_whatever_it_can(herons: KnowledgeBase):
    results = answers_without("sys.modules['sqlite3'] = sys.modules['_sqlite3'] = None", "text", "hybrid", "vector")
    assert [mode for mode, *_ in results] == ["text", "hybrid", "vector"]
    assert all(hits[0] == 130 for _, hits, *_ in results)


def test_an_sqlite_that_loads_no_extension_leaves_the_search_by_words(herons: KnowledgeBase):
    block = """
import apsw
class Connection(apsw.Connection):
    enable_load_extension = property()
apsw.Connection = Connection
"""
    [[mode, hits, degraded, notices, *_]] = answers_without(block, "hybrid")
    assert (mode, hits) == ("text", [130])
    assert "semantic-unavailable" in degraded
    assert "sqlite-vec" in notices[0]


@pytest.mark.parametrize("embedder", ["none", "ollama"])
def test_without_an_embedder_words_are_searched_and_that_is_said(herons: KnowledgeBase, embedder: str):
    choose(herons, embedder=embedder, embedding_url="http://127.0.0.1:9")
    with within(10):
        found = herons.recall("heron", mode="hybrid")
    assert (found.mode, [hit.note.id for hit in found.hits]) == ("text", [130])
    assert "semantic-unavailable" in found.degraded
    assert found.notices[0].startswith("Searched by words only.")


HEAVY = ["pydantic", "numpy", "httpx", "mcp", "pydantic_ai", "yaml", "dataclasses", "json", "datetime", "sqlite3", "inspect"]


@pytest.mark.parametrize("embedder", ["static"])
def test_recall_by_words_loads_nothing_heavy(herons: KnowledgeBase, embedder: str):
    herons.recall("heron", mode="text")
    time.sleep(0.06)
    herons.recall("heron", mode="text")
    script = """
import sys
from co_cli.surfaces.cli.main import main
main(["recall", "heron", "--mode", "text"])
loaded = [name for name in sys.argv[1:] if name in sys.modules]
import json
print(json.dumps(loaded))
"""
    done = subprocess.run([sys.executable, "-c", script, *HEAVY], capture_output=True, text=True, check=True)
    assert "heron by the water" in done.stdout
    assert json.loads(done.stdout.splitlines()[-1]) == []
