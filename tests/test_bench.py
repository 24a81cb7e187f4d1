"""The bench measures real vaults and real processes, and says what it measured."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from co_cli import open_knowledge
from co_cli.bench.figures import Figure, Times
from co_cli.bench.processes import call_in_child, peak_memory
from co_cli.bench.sync import Changes
from co_cli.bench.vaults import RARE_WORD, Language, open_vault, queries, write_vault
from co_cli.errors import Unavailable
from co_cli.knowledge import Means
from co_cli.retrieval.ranked import Searcher
from co_cli.surfaces.cli.bench import _table

FIELDS = {field.strip() for field in Figure.__slots__}


def figures_of(co, *arguments: str) -> list[dict[str, object]]:
    """The figures of a bench, which all have one shape."""
    figures = co.json("bench", *arguments)["figures"]
    assert all(figure.keys() == FIELDS for figure in figures)
    return figures


# --------------------------------------------------------------------------------------------------------------- the vaults


def test_the_vault_of_the_bench_is_the_same_at_every_run_and_free_of_problems(tmp_path: Path) -> None:
    first, second = (write_vault(str(tmp_path / name), 50) for name in ("one", "two"))
    names = sorted(path.name for path in Path(first).iterdir())
    assert names[0] == "001-roli-gomi-tobewo-wonewi-ratu-kebufike-fivebe-covag.md"
    texts = [{path.name: path.read_text() for path in Path(folder).iterdir()} for folder in (first, second)]
    assert texts[0] == texts[1]
    listing = open_knowledge(tmp_path / "one").list()
    assert (len(listing.notes), listing.problems) == (50, ())


def test_few_words_are_most_of_the_text_and_most_words_are_rare() -> None:
    language, rng = Language(1000), random.Random(1)
    notes = [set(language.text(rng, 60)) for _ in range(1000)]

    def share(rank: int) -> float:
        return sum(language.words[rank - 1] in note for note in notes) / len(notes)

    assert share(1) > 0.97
    assert 0.4 < share(10) < 0.6
    assert 0.03 < share(100) < 0.1
    assert share(4000) < 0.01


def test_a_larger_vault_knows_more_words() -> None:
    assert len(Language(100).words) == len(Language(1000).words) == 5000
    assert len(Language(10_000).words) > 12_000


def test_queries_are_of_every_kind_and_the_same_at_every_run() -> None:
    assert queries(1000, 5) == queries(1000, 5)
    language, rng = Language(1000), random.Random(1)
    notes = [set(language.text(rng, 60)) for _ in range(1000)]

    def found(kind: str) -> float:
        each = queries(1000, 5)[kind]
        return sum(word in note for word in each for note in notes) / len(each)

    assert found("a rare word") < 3 < found("a medium word") < 50 < found("a common word") < 500
    assert all(len(query.split()) == 6 for query in queries(1000, 5)["six words as they are said"])


# --------------------------------------------------------------------------------------------------------------- the figures


def test_a_table_has_the_columns_that_say_something_and_shouts_where_a_promise_is_broken() -> None:
    figures = [
        Figure(1000, "one", cpu_ms=1234.5, ratio=1.0, promised="≤ 1 ms", kept=False),
        Figure(10, "two", cpu_ms=0.25, kept=True),
    ]
    assert _table(figures).splitlines() == [
        "| notes | what | CPU ms | × floor | promised | kept |",
        "|---:|---|---:|---:|---|---|",
        "| 1,000 | one | 1,234 | 1 | ≤ 1 ms | NO |",
        "| 10 | two | 0.25 |  |  | yes |",
    ]


def test_times_are_given_as_median_and_95th_percentile() -> None:
    times = Times([0.001, 0.002, 0.009], [number / 1000 for number in range(1, 101)])
    assert times.cpu_ms == 2.0
    assert times.wall_ms == 50.5
    assert 94 < times.wall_p95_ms < 97


def test_the_memory_of_a_measurement_is_not_that_of_the_process_that_started_it() -> None:
    ballast = bytearray(200_000_000)
    ballast[::4096] = b"x" * len(ballast[::4096])
    assert call_in_child("co_cli.bench.processes", "peak_memory") < 100_000_000 < peak_memory()


def test_a_measurement_that_fails_in_a_process_of_its_own_is_an_error_here() -> None:
    with pytest.raises(Unavailable, match="No module named"):
        call_in_child("co_cli.bench.giraffe", "measure")


# --------------------------------------------------------------------------------------------------------------- the benches


@pytest.mark.slow
def test_whole_commands_are_measured_beside_the_bare_interpreter(co) -> None:
    figures = figures_of(co, "cli", "--sizes", "20", "--runs", "1")
    by_name = {figure["what"]: figure for figure in figures}
    assert by_name["python -c pass"]["ratio"] == 1.0
    recall = by_name["co recall (text, a rare word)"]
    assert recall["promised"] == "≤ 8 × python -c pass"
    assert recall["kept"] == (recall["ratio"] <= 8)
    assert recall["cpu_ms"] > by_name["python -c pass"]["cpu_ms"] > 0
    chat = by_name["co chat (to the first prompt)"]
    assert (chat["promised"], chat["kept"]) == ("≤ 1,500 ms wall", chat["wall_ms"] <= 1500)
    assert by_name["co recall (hybrid, a rare word)"]["promised"] == "≤ 15 × python -c pass"
    assert recall["notes"] == 20


def test_a_reconcile_is_measured_where_nothing_and_where_something_has_changed(co) -> None:
    figures = figures_of(co, "sync", "--sizes", "30", "--runs", "2")
    assert [figure["what"] for figure in figures] == [
        "scandir + stat (the same files)",
        "grep -rliF (the same files)",
        "nothing has changed",
        "one file changed, then found",
        "one file renamed, then found",
        "one file removed, then gone",
    ]
    assert figures[0]["ratio"] == 1.0
    assert all(figure["cpu_ms"] > 0 and figure["wall_ms"] > 0 for figure in figures)


def test_a_search_that_does_not_show_the_change_is_no_figure_but_an_error(tmp_path: Path) -> None:
    class LooksOnce(Searcher):
        """What a search would be that trusts what it saw the first time."""

        def refresh(self, **how) -> None:
            if not self.sources:
                super().refresh(**how)

    write_vault(str(tmp_path), 9)
    vault = open_vault(str(tmp_path))
    with LooksOnce([vault], Means(str(tmp_path / "cache"))) as searcher:
        searcher.refresh(by_meaning=False)
        changes = Changes(searcher, vault.path_of("memory", ""), 1)
        with pytest.raises(Unavailable, match=r"found \[\], not \['001-"):
            changes.measure()


@pytest.mark.slow
def test_indexing_is_measured_with_words_only_and_with_vectors(co) -> None:
    floor, text, static, fake = figures_of(co, "index", "--sizes", "40", "--embedder", "fake")
    assert [floor["what"], text["what"]] == ["reading the files (floor)", "text only"]
    assert [static["what"], fake["what"]] == ["text + vectors (static)", "text + vectors (fake)"]
    assert all(figure["per_second"] > 0 and figure["peak_mb"] > 5 for figure in (text, static, fake))
    assert text["size_mb"] < static["size_mb"]
    assert text["ratio"] > 1


def test_searches_are_measured_by_words_and_by_meaning_with_their_growth(co) -> None:
    figures = figures_of(co, "search", "--sizes", "60", "30", "--runs", "1", "--embedder", "fake")
    assert [figure["notes"] for figure in figures] == sorted(figure["notes"] for figure in figures)
    smaller, larger = ({f["what"]: f for f in figures if f["notes"] == size} for size in (30, 60))
    assert smaller.keys() == larger.keys() > {"text: all queries", "hybrid: a rare word", "reconcile before a search"}
    assert all(figure["growth"] == 1.0 for figure in smaller.values())
    text = larger["text: all queries"]
    assert text["growth"] == pytest.approx(text["wall_ms"] / smaller["text: all queries"]["wall_ms"], rel=0.02)
    assert text["wall_p95_ms"] >= text["wall_ms"] > 0
    assert (text["floor"], larger["hybrid: all queries"]["floor"]) == ("grep -riF", "numpy scan")


def test_without_vectors_searches_are_measured_by_words_only(co) -> None:
    figures = figures_of(co, "search", "--sizes", "30", "--runs", "1", "--embedder", "none")
    assert {str(figure["what"]).partition(":")[0] for figure in figures} == {
        "grep -riF",
        "reconcile before a search",
        "text",
    }


@pytest.mark.parametrize("bench", ["search", "index"])
def test_an_embedder_that_cannot_be_used_is_an_error_and_not_a_figure_without_it(co, bench) -> None:
    assert co("bench", bench, "--sizes", "9", "--runs", "1", "--embedder", "openai") == 1
    assert "CO_EMBEDDING_KEY" in co.err
    assert co.out == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("sync", "--sizes", "0"), "1 or more"),
        (("sync", "--runs", "-1"), "1 or more"),
        (("search", "--embedder", "giraffe"), "giraffe"),
        (("giraffe",), "giraffe"),
    ],
)
def test_a_bench_that_makes_no_sense_is_refused(co, arguments, said) -> None:
    assert co("bench", *arguments) == 2
    assert said in co.err


def test_people_get_a_table_and_no_progress_where_there_is_no_terminal(co) -> None:
    assert co("bench", "sync", "--sizes", "9", "--runs", "1") == 0
    assert co.out.startswith("| notes | what | CPU ms | wall ms | × floor | floor |\n|---:|---|")
    assert (co.err, RARE_WORD in co.out) == ("", False)


def test_json_is_one_document_with_the_name_of_the_bench(co) -> None:
    assert co("bench", "sync", "--sizes", "9", "--runs", "1", "--json") == 0
    assert json.loads(co.out)["bench"] == "sync"


def test_the_search_among_topics_is_measured_too(co) -> None:
    options = ("--kind", "topic", "--sizes", "30", "--runs", "1", "--embedder", "none")
    figures = {figure["what"]: figure for figure in co.json("bench", "search", *options)["figures"]}
    assert figures["text: all queries"]["notes"] == 30
    assert figures["text: all queries"]["cpu_ms"] > 0
