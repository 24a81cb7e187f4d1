"""`co eval` finds documents as a recall finds notes, and says how well."""

from __future__ import annotations

import json
from math import log2
from pathlib import Path

import pytest

from co_cli.bench.quality import evaluate, load_answers
from co_cli.knowledge import Means

DOCUMENTS = (
    ("a", "Deploying", "The release goes out on fridays after the green light of two people."),
    ("b", "", "Backups of the ledger are kept for ninety days in another building."),
    ("c", "", "The ledger is closed each month. Whoever closes the ledger signs the ledger."),
    ("d", "Espresso", "The machine in the kitchen wants water twice a day."),
    ("e", "", "Visitors get a badge at the entrance."),
)
QUERIES = (
    ("q1", "release on fridays"),
    ("q2", "ledger"),
    ("q3", "giraffes"),
    ("q4", "nobody has judged this badge"),
)
JUDGEMENTS = (("q1", "a", 1), ("q2", "b", 2), ("q2", "c", 1), ("q3", "e", 1), ("q1", "e", 0))


def write_set(folder: Path, documents=DOCUMENTS, queries=QUERIES, judgements=JUDGEMENTS) -> Path:
    folder.mkdir()
    lines = [json.dumps({"_id": name, "title": title, "text": text}) for name, title, text in documents]
    (folder / "corpus.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "queries.jsonl").write_text("".join(json.dumps({"_id": name, "text": text}) + "\n" for name, text in queries))
    rows = "".join(f"{query}\t{document}\t{grade}\n" for query, document, grade in judgements)
    (folder / "qrels.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")
    return folder


@pytest.fixture
def known(tmp_path: Path) -> Path:
    return write_set(tmp_path / "known")


def test_the_measures_are_those_that_one_can_work_out_by_hand(known, co):
    (row,) = co.json("eval", str(known), "--mode", "text")["sets"]
    # q1 finds its one document first. q2 finds both, but the one of grade 2 behind the one of grade 1. q3 finds nothing.
    # q4 has no answer and does not count.
    gain = (1 / log2(2) + 2 / log2(3)) / (2 / log2(2) + 1 / log2(3))
    assert (row["documents"], row["queries"], row["mode"]) == (5, 3, "text")
    assert row["recall_5"] == row["recall_10"] == pytest.approx(2 / 3, abs=1e-4)
    assert row["mrr_10"] == pytest.approx(2 / 3, abs=1e-4)
    assert row["ndcg_10"] == pytest.approx((1 + gain) / 3, abs=1e-4)


def test_recall_counts_what_is_among_the_first_five_and_the_first_ten(tmp_path, co):
    documents = [(f"d{number}", "", "word " * (9 - number) + "filler " * number) for number in range(8)]
    folder = write_set(tmp_path / "eight", documents, [("q", "word")], [("q", f"d{number}", 1) for number in range(8)])
    (row,) = co.json("eval", str(folder), "--mode", "text")["sets"]
    assert (row["recall_5"], row["recall_10"]) == (5 / 8, 1.0)


def test_a_run_has_the_documents_of_each_query_in_the_form_of_trec(known, tmp_path, co):
    out = tmp_path / "found.run"
    co.json("eval", str(known), "--mode", "text", "--run", str(out))["sets"]
    lines = [line.split() for line in out.read_text().splitlines()]
    assert [line[:4] for line in lines if line[0] == "q2"] == [["q2", "Q0", "c", "1"], ["q2", "Q0", "b", "2"]]
    assert {line[5] for line in lines} == {"co"}
    scores = [float(line[4]) for line in lines if line[0] == "q2"]
    assert scores == sorted(scores, reverse=True)


def test_a_run_has_up_to_a_hundred_documents_a_query(tmp_path, co):
    folder = write_set(
        tmp_path / "many", [(f"d{n}", "", f"badge {n}") for n in range(130)], [("q", "badge")], [("q", "d1", 1)]
    )
    out = tmp_path / "many.run"
    for mode in ("grep", "text", "hybrid"):
        co.json("eval", str(folder), "--mode", mode, "--embedder", "fake", "--run", str(out))["sets"]
        assert [line.split()[3] for line in out.read_text().splitlines()] == [str(rank) for rank in range(1, 101)]


def test_several_sets_are_measured_in_one_go_with_a_run_each(known, tmp_path, co):
    other = write_set(tmp_path / "other", queries=[("q", "badge")], judgements=[("q", "e", 1)])
    rows = co.json("eval", str(known), str(other), "--mode", "text", "--run", str(tmp_path / "runs"))["sets"]
    assert [(row["set"], row["queries"]) for row in rows] == [("known", 3), ("other", 1)]
    assert (tmp_path / "runs" / "other.run").read_text().startswith("q Q0 e 1 ")
    assert co("eval", str(known), str(known)) == 2


def test_auto_chooses_the_way_of_searching_by_the_number_of_documents_as_a_recall_does(known, co):
    assert [row["mode"] for row in co.json("eval", str(known))["sets"]] == ["grep"]
    co("config", "set", "text_from", "5")
    assert [row["mode"] for row in co.json("eval", str(known))["sets"]] == ["text"]
    co("config", "set", "hybrid_from", "5")
    co("config", "set", "embedder", "fake")
    assert [(row["mode"], row["embedder"]) for row in co.json("eval", str(known))["sets"]] == [("hybrid", "fake")]


def test_what_is_asked_for_comes_before_what_is_set(known, co):
    co("config", "set", "mode", "text")
    assert [row["mode"] for row in co.json("eval", str(known))["sets"]] == ["text"]
    (row,) = co.json("eval", str(known), "--mode", "vector", "--embedder", "fake", "--fusion", "rrf")["sets"]
    assert (row["mode"], row["embedder"]) == ("vector", "fake")


def test_without_vectors_it_says_that_words_alone_were_searched(known, co):
    (row,) = co.json("eval", str(known), "--mode", "hybrid", "--embedder", "none")["sets"]
    assert (row["mode"], row["degraded"]) == ("text", ["semantic-unavailable"])
    co("eval", str(known), "--mode", "hybrid", "--embedder", "none")
    assert "semantic-unavailable" in co.err


def test_people_get_a_table_and_no_progress_where_there_is_no_terminal(known, co):
    assert co("eval", str(known), "--mode", "text") == 0
    header, rule, row = co.out.splitlines()
    assert "| R@5 | R@10 | MRR@10 | nDCG@10 |" in header
    assert rule.count("|") == header.count("|") == row.count("|")
    assert row.startswith("| known | text |")
    assert co.err == ""


def test_the_users_own_notes_are_neither_searched_nor_touched(known, project, co):
    co("learn", "The ledger is mine")
    before = sorted(path for path in project.rglob("*"))
    quality, run = evaluate(load_answers(str(known)), mode="text", means=Means(cache="unused"))
    assert [document for document, _score in run["q2"]] == ["c", "b"]
    assert (quality.documents, sorted(project.rglob("*"))) == (5, before)


@pytest.mark.parametrize(
    ("file", "content", "code", "said"),
    [
        ("corpus.jsonl", None, 3, "no corpus.jsonl"),
        ("corpus.jsonl", '{"_id": "a", "text": "fine"}\n{"_id": ', 2, "corpus.jsonl:2"),
        ("queries.jsonl", '{"text": "no id"}\n', 2, "queries.jsonl:1"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nq1\ta\tmuch\n", 2, "qrels.tsv:2"),
    ],
)
def test_a_set_that_cannot_be_used_is_refused_with_the_place(known, co, file, content, code, said):
    if content is None:
        (known / file).unlink()
    else:
        (known / file).write_text(content)
    assert co("eval", str(known)) == code
    assert said in co.err


@pytest.mark.parametrize("option", ["--mode", "--embedder", "--fusion"])
def test_a_choice_that_does_not_exist_is_refused(known, co, option):
    assert co("eval", str(known), option, "giraffe") == 2
    assert "giraffe" in co.err


def test_a_run_that_cannot_be_written_is_an_error_with_its_path(known, tmp_path, co):
    assert co("eval", str(known), "--mode", "text", "--run", str(tmp_path / "none" / "x.run")) == 1
    assert "x.run cannot be written" in co.err
