"""What agents use comes a little higher in a ranked search: a tie-breaker, never a reason to be found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from co_cli import KnowledgeBase
from co_cli.knowledge import search_means
from co_cli.query import parse_query
from co_cli.retrieval import Filter
from co_cli.retrieval.ranked import Searcher
from co_cli.survey import ToolCall


@pytest.fixture
def twins(kb: KnowledgeBase) -> KnowledgeBase:
    """Two memories and two topics that say the same, of which the older ones are used."""
    for name in ("used", "unused"):
        kb.write_topic(f"herons_{name}", "Herons stand still for hours", created="2024-02-09T14:30:00+00:00")
        kb.save(f"Quaggas are gone for good, says {name}", created="2024-02-09T14:30:00+00:00")
    used = tuple(kb.get(ref) for ref in ("topic:herons_used", "1"))
    for _ in range(10):
        kb.log_call(ToolCall("knowledge_search", "mcp", 0.001, notes=used))
    return kb


@pytest.mark.parametrize("mode", ["text", "hybrid"])
def test_of_two_notes_that_answer_as_well_the_one_that_is_used_comes_first(twins: KnowledgeBase, mode: str) -> None:
    for query, first in (("herons", "topic:herons_used"), ("quaggas", "1")):
        hits = twins.recall(query, mode=mode).hits
        assert hits[0].note.ref == first
        assert "often used" in hits[0].why.boosts
        assert "often used" not in hits[1].why.boosts
        assert 0 < hits[0].score - hits[1].score < 0.03


def test_a_better_answer_stays_the_better_one(twins: KnowledgeBase) -> None:
    twins.save("Herons, herons, herons: herons stand still beside the pond")
    twins.save("A pond without herons")
    assert twins.recall("herons beside the pond", mode="text").hits[0].note.ref == "3"


def test_where_boosts_are_off_the_log_is_not_looked_at(twins: KnowledgeBase) -> None:
    means = search_means(twins.places, twins.settings())._replace(boosts=False)
    with Searcher(twins.vaults, means) as searcher:
        searcher.refresh(by_meaning=False)
        found = searcher.search(parse_query("herons", "2026-02-09"), mode="text", limit=5, only=Filter(("topic",)))
    assert {hit.why.boosts for hit in found.hits} == {()}
    assert len({hit.score for hit in found.hits}) == 1


def test_a_log_that_cannot_be_read_costs_a_search_nothing_but_the_boost(twins: KnowledgeBase) -> None:
    Path(twins.places.usage_log).write_bytes(b"no database" * 1000)
    assert len(twins.recall("herons", mode="text").hits) == 2


def test_without_a_log_recall_does_not_load_what_reads_it(kb: KnowledgeBase) -> None:
    kb.save("Herons stand still")
    code = (
        "import sys; from co_cli import open_knowledge; open_knowledge().recall('herons', mode='text'); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert not {"co_cli.usage", "co_cli.warmth", "co_cli.seed", "sqlite3"} & {*done.stdout.split()}
