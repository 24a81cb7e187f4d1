"""How good the search is, on questions whose answers are known.

Owns reading such a set (BEIR's layout: `corpus.jsonl`, `queries.jsonl`, `qrels.tsv`), the scratch vault that its documents
become notes of, and the measures. The documents take the way of every note, and the queries that of every search; boosts by
age and use are off, since they are about the user and not about the words.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING

from co_cli.errors import Invalid, NotFound
from co_cli.note import ARTICLE, FOLDERS
from co_cli.query import parse_query
from co_cli.retrieval import narrowed, tier
from co_cli.retrieval.candidates import understand
from co_cli.retrieval.grep import grep
from co_cli.retrieval.hit import QUERY_LIMIT, Filter
from co_cli.retrieval.ranked import BY_MEANING, Searcher
from co_cli.vault import Vault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from co_cli.retrieval.hit import Means, Recalled

DEPTH = 100
"""Documents of a run for each query."""
_SHALLOW, _DEEP = 5, 10
_TODAY = "2026-01-01"
"""What "last week" in a query counts from, so that every run finds the same."""
_FILES = ("corpus.jsonl", "queries.jsonl", "qrels.tsv")

Run = dict[str, list[tuple[str, float]]]
"""The documents of each query with their scores, the best first."""


@dataclass(frozen=True, slots=True)
class KnownAnswers:
    """A set of documents and queries, with what is relevant to each query, and how much."""

    documents: tuple[tuple[str, str, str], ...]
    """Id, title and text."""
    queries: tuple[tuple[str, str], ...]
    relevant: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Quality:
    """What was measured, on average over the queries that have an answer."""

    mode: str
    documents: int
    queries: int
    recall_5: float
    recall_10: float
    mrr_10: float
    ndcg_10: float
    index_seconds: float
    """CPU time of writing the index, vectors included."""
    query_ms: float
    """CPU time of a query, with the notes that it shows read from their files."""
    degraded: tuple[str, ...] = ()


def load_answers(folder: str) -> KnownAnswers:
    """Read a set from its folder."""
    missing = [name for name in _FILES if not os.path.isfile(os.path.join(folder, name))]
    if missing:
        raise NotFound(f"{folder} has no {' and no '.join(missing)}.", f"A set is a folder with {', '.join(_FILES)}.")
    documents = tuple(
        (str(entry["_id"]), str(entry.get("title") or ""), str(entry["text"])) for entry in _lines(folder, "corpus.jsonl")
    )
    queries = tuple((str(entry["_id"]), str(entry["text"])) for entry in _lines(folder, "queries.jsonl"))
    return KnownAnswers(documents, queries, _judgements(os.path.join(folder, "qrels.tsv")))


def _lines(folder: str, name: str) -> Iterator[dict[str, object]]:
    path = os.path.join(folder, name)
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                try:
                    entry = json.loads(line)
                except json.JSONDecodeError as error:
                    raise Invalid(f"{path}:{number}: this is no JSON: {error.msg}.") from error
                if not isinstance(entry, dict) or not {"_id", "text"} <= entry.keys():
                    raise Invalid(f"{path}:{number}: an entry needs an _id and a text.")
                yield entry


def _judgements(path: str) -> dict[str, dict[str, float]]:
    relevant: dict[str, dict[str, float]] = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            fields = line.rstrip("\n").split("\t")
            try:
                query, document, grade = fields
                if float(grade) > 0:
                    relevant.setdefault(query, {})[document] = float(grade)
            except ValueError as error:
                if number > 1 and line.strip():  # the first line may be a header
                    raise Invalid(f"{path}:{number}: a line needs a query, a document and a number.") from error
    return relevant


def evaluate(
    answers: KnownAnswers, *, mode: str, means: Means, progress: Callable[[str, int, int], None] | None = None
) -> tuple[Quality, Run]:
    """Search for the answers; returns the measures, and what was found."""
    means = means._replace(boosts=False, progress=progress)
    run: Run = {}
    with tempfile.TemporaryDirectory(prefix="co-eval-") as scratch:
        vault = Vault(os.path.join(scratch, "knowledge"), "global", os.path.join(scratch, "journal"))
        ids = _write_notes(vault, answers.documents)
        mode = tier([vault], means) if mode == "auto" else mode
        with Searcher([vault], means) as searcher:
            started = time.process_time()
            if mode != "grep":
                searcher.refresh(by_meaning=mode in BY_MEANING, seconds=float("inf"))
                searcher.degraded.pop("index-rebuilt", None)  # there was none before
            indexed = time.process_time()
            found = None
            for number, (query, text) in enumerate(answers.queries, start=1):
                found = _search(searcher, text, mode)
                run[query] = [(ids[os.path.basename(hit.note.path)], hit.score) for hit in found.hits]
                if progress:
                    progress("searching", number, len(answers.queries))
            searched = time.process_time()
    quality = Quality(
        found.mode if found else mode,
        len(answers.documents),
        sum(query in answers.relevant for query, _text in answers.queries),
        *_measures(run, answers.relevant),
        index_seconds=round(indexed - started, 2),
        query_ms=round((searched - indexed) * 1000 / max(len(answers.queries), 1), 2),
        degraded=found.degraded if found else (),
    )
    return quality, run


def _search(searcher: Searcher, text: str, mode: str) -> Recalled:
    """Put one query, as a recall puts it, to the notes as they are: nothing changes them meanwhile."""
    query = parse_query(text[:QUERY_LIMIT], _TODAY)
    only = narrowed(Filter(tuple(FOLDERS)), query)
    if mode == "grep" or not understand(query).terms:
        return grep(searcher.vaults, query, limit=DEPTH, only=only)
    return searcher.search(query, mode=mode, limit=DEPTH, only=only)


def _write_notes(vault: Vault, documents: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """Write each document as an article, numbered in their order; returns the ids by file name."""
    folder = vault.path_of(ARTICLE, "")
    os.makedirs(folder)
    ids = {}
    for number, (document, title, text) in enumerate(documents, start=1):
        name = f"{number:07d}.md"
        header = f"title: {json.dumps(title, ensure_ascii=False)}\n" if title else ""
        with open(os.path.join(folder, name), "w", encoding="utf-8", newline="\n") as file:
            file.write(f"---\nsource: {json.dumps(document)}\n{header}---\n\n{text}\n")
        ids[name] = document
    return ids


def _measures(run: Run, relevant: Mapping[str, Mapping[str, float]]) -> tuple[float, float, float, float]:
    sums = [0.0] * 4
    judged = [query for query in run if query in relevant]
    for query in judged:
        grades = relevant[query]
        found = [grades.get(document, 0.0) for document, _score in run[query]]
        first = next((rank for rank, grade in enumerate(found[:_DEEP], start=1) if grade), 0)
        ideal = _gain(sorted(grades.values(), reverse=True)[:_DEEP])
        each = (
            sum(map(bool, found[:_SHALLOW])) / len(grades),
            sum(map(bool, found[:_DEEP])) / len(grades),
            1 / first if first else 0.0,
            _gain(found[:_DEEP]) / ideal,
        )
        sums = [total + value for total, value in zip(sums, each, strict=True)]
    recall_5, recall_10, mrr, ndcg = (round(total / max(len(judged), 1), 4) for total in sums)
    return recall_5, recall_10, mrr, ndcg


def _gain(grades: Iterable[float]) -> float:
    return sum(grade / log2(rank + 1) for rank, grade in enumerate(grades, start=1))


def write_run(run: Run, path: str) -> None:
    """Write what was found as a TREC run."""
    with open(path, "w", encoding="utf-8") as file:
        for query, documents in run.items():
            file.writelines(
                f"{query} Q0 {document} {rank} {score:.6f} co\n" for rank, (document, score) in enumerate(documents, start=1)
            )
