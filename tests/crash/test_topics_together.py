"""Many agents on one knowledge base: threads and processes that write, search and delete the same topics."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from processes import finish, start, temporaries

from co_cli import CoError, KnowledgeBase, open_knowledge
from co_cli.tools import Caller, call
from co_cli.usage import UsageLog

SECONDS = 30
COUNTERS, SHARED, QUIET = 3, 6, 210
"""Topics that count, topics that come and go, and topics that make the vault large enough for a ranked search."""

FOLDERS = f"{Path(__file__).parent}:{Path(__file__).parent.parent}"
WORKING = """
import json, sys
sys.path[:0] = sys.argv[1].split(":")
from test_topics_together import work
print('"ready"', flush=True)
sys.stdin.readline()
print(json.dumps(work(sys.argv[2], float(sys.argv[3]))))
"""


def work(who: str, seconds: float) -> dict[str, int]:
    """Use the tools for a while, and count what came of it; anything but a conflict or a missing topic is an error."""
    kb = open_knowledge()
    rng = random.Random(who)
    counts: Counter[str] = Counter()
    end = time.monotonic() + seconds
    turn = 0
    while time.monotonic() < end:
        turn += 1
        action = rng.choice((count_up, write, search, delete))
        try:
            counts[action(kb, rng, f"{who} {turn}")] += 1
        except CoError as error:
            if error.kind not in ("conflict", "not_found"):
                raise
            counts[error.kind] += 1
    return dict(counts)


def count_up(kb: KnowledgeBase, rng: random.Random, _words: str) -> str:
    """Add one to what a topic says, on the condition that nobody did meanwhile."""
    note = kb.topic(f"counter_{rng.randrange(COUNTERS)}")
    kb.write_topic(note.slug, f"The count is {int(note.body.split()[-1]) + 1}", expected_sha=note.sha)
    return "counted"


def write(kb: KnowledgeBase, rng: random.Random, words: str) -> str:
    """Write a topic whatever it says now, under some spelling of its name."""
    name = rng.choice(("shared {}", "Shared_{}", "shared-{}")).format(rng.randrange(SHARED))
    result = call(kb, "knowledge_write", {"topic": name, "content": f"Written by {words}", "tags": "herons"}, Caller("mcp"))
    assert result["outcome"] in ("created", "updated")
    return "wrote"


def search(kb: KnowledgeBase, _rng: random.Random, _words: str) -> str:
    """Search; what comes back is whole."""
    found = call(kb, "knowledge_search", {"query": "written by herons"}, Caller("mcp"))
    assert isinstance(found["results"], list)
    for entry in found["results"]:
        assert entry["content"].startswith(("Written by ", "Herons stand still "))
    return "searched"


def delete(kb: KnowledgeBase, rng: random.Random, _words: str) -> str:
    """Remove a topic, if it is there."""
    call(kb, "knowledge_delete", {"topic": f"shared_{rng.randrange(SHARED)}"}, Caller("mcp"))
    return "deleted"


@pytest.mark.slow
def test_threads_and_processes_lose_nothing_that_was_confirmed(kb: KnowledgeBase, vault: Path, tmp_path: Path) -> None:
    for number in range(COUNTERS):
        kb.write_topic(f"counter_{number}", "The count is 0")
    (vault / "topics" / "quiet_0.md").parent.mkdir(exist_ok=True)
    for number in range(QUIET):
        (vault / "topics" / f"quiet_{number}.md").write_text(f"---\ntags: [birds]\n---\n\nHerons stand still {number}\n")
    assert kb.search_topics("herons").mode == "text"

    processes = [start(WORKING, FOLDERS, f"process {who}", SECONDS) for who in range(4)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == '"ready"\n'
        process.stdin.write("go\n")
        process.stdin.flush()
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda who: work(f"thread {who}", SECONDS), range(8)))
    results.extend(finish(process)[-1] for process in processes)
    total = sum(map(Counter, results), Counter[str]())
    print(json.dumps(total))

    kb = open_knowledge()
    counted = sum(int(kb.topic(f"counter_{number}").body.split()[-1]) for number in range(COUNTERS))
    assert counted == total["counted"] > 0
    assert min(total[name] for name in ("wrote", "searched", "deleted")) > 0
    check_files(kb, vault, tmp_path)
    check_journal(kb, vault)
    check_log(kb, total)


def check_files(kb: KnowledgeBase, vault: Path, tmp_path: Path) -> None:
    """Every file is whole, there is one of each topic, and the search finds each as it is."""
    listing = kb.topics()
    assert listing.problems == ()
    slugs = [note.slug for note in listing.notes]
    assert len({slug.replace("-", "_") for slug in slugs}) == len(slugs) <= COUNTERS + SHARED + QUIET
    assert temporaries(tmp_path) == []
    for note in listing.notes:
        if note.slug.startswith("shared"):
            found = kb.search_topics(f'"{note.body}"', mode="text").hits
            assert [hit.note.ref for hit in found] == [note.ref]


def check_journal(kb: KnowledgeBase, vault: Path) -> None:
    """Each change of a file begins with what the one before left, so nothing was overwritten unseen."""
    journal = kb.vault("project").journal
    last: dict[str, bytes | None] = {}
    for change in reversed(list(journal.changes())):
        for step in journal.steps(change.number):
            assert step.path not in last or last[step.path] == step.before, f"{step.path} in change {change.number}"
            last[step.path] = step.after
    for path, after in last.items():
        file = vault / path
        assert (file.read_bytes() if file.exists() else None) == after


def check_log(kb: KnowledgeBase, total: Counter[str]) -> None:
    """Every call of a tool is in the log, whatever came of it."""
    calls = {tool.tool: tool.calls - tool.failed for tool in UsageLog(kb.places.usage_log).tools(0)}
    assert calls == {
        "knowledge_write": total["wrote"],
        "knowledge_search": total["searched"],
        "knowledge_delete": total["deleted"],
    }
