"""Memories that have served their time are proposed for the archive, and nothing is put away without a yes."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from commands import Co

from co_cli.knowledge import KnowledgeBase, open_knowledge_at
from co_cli.learning.aging import worn
from co_cli.learning.inbox import accept, proposals, propose
from co_cli.settings import change_setting
from co_cli.usage import Call, Named, UsageLog

DAY = 86400


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeBase:
    return open_knowledge_at(home=str(tmp_path / "home"), state=str(tmp_path / "state"), project=str(tmp_path / "project"))


def long_ago(days: int) -> str:
    return f"{(datetime.now().astimezone() - timedelta(days=days)).date().isoformat()}T12:00:00+00:00"


def used(kb: KnowledgeBase, days_ago: float, *names: str) -> None:
    """A call that returned these memories of the project so many days ago."""
    log = UsageLog(kb.places.usage_log)
    key = kb.vault("project").key
    at = time.time() - days_ago * DAY
    log.record(Call("recall_memory", "chat", at, 1.0, "ok", tuple(Named(key, name) for name in names), None))
    log.close()


def reasons(kb: KnowledgeBase) -> dict[str, str]:
    return {proposal.refs[0]: f"{proposal.kind}: {proposal.reason}" for proposal in worn(kb)}


def test_expired_memories_are_proposed_for_the_archive(kb: KnowledgeBase) -> None:
    kb.save("Staging is frozen.", expires="2020-01-31")
    kb.save("Staging is green.")

    assert reasons(kb) == {"1": "expiry: It expired on 2020-01-31."}
    propose(kb, worn(kb))
    assert len(kb.list().notes) == 2
    accept(kb, proposals(kb).proposals[0])
    assert [note.body for note in kb.list().notes] == ["Staging is green."]
    assert [note.body for note in kb.list(archived=True).notes] == ["Staging is frozen."]


def test_memories_that_name_what_is_gone_are_proposed_as_stale(kb: KnowledgeBase) -> None:
    kb.save("Start at `src/main.py`.")

    assert reasons(kb) == {"1": "stale: It may no longer hold: src/main.py is not there."}


def test_what_no_agent_got_for_long_is_proposed_where_the_log_is_old_enough(kb: KnowledgeBase) -> None:
    kb.save("Forgotten by all.", created=long_ago(150))
    kb.save("Used lately.", created=long_ago(150))
    kb.save("Pinned.", created=long_ago(150), pinned=True)
    kb.save("Made lately.")
    used(kb, 1, "memory:2")
    assert reasons(kb) == {}  # the log is of yesterday: it cannot know

    used(kb, 140, "memory:1")

    assert reasons(kb) == {"1": "expiry: No agent got it in the last 120 days."}
    change_setting(kb.places, "unused_days", "0")
    assert reasons(kb) == {}


def test_a_category_over_its_limit_gives_up_what_is_least_used(kb: KnowledgeBase) -> None:
    for number in range(4):
        kb.save(f"Fact {number}.", category="learned_facts", created=long_ago(10 - number), pinned=number == 1)
    kb.save("Of no category.")
    used(kb, 0.1, "memory:1")
    change_setting(kb.places, "category_limit", "2")

    assert list(reasons(kb)) == ["3", "4"]
    assert "learned_facts has 4 memories, 2 more than its limit" in reasons(kb)["3"]


def test_what_is_private_is_proposed_in_private(kb: KnowledgeBase) -> None:
    kb.save("The gate is open.", private=True, expires="2020-01-31")

    (proposal,) = worn(kb)

    assert proposal.private


def test_a_check_of_all_memories_says_and_proposes_it(co: Co) -> None:
    co("learn", "Staging is frozen", "--expires", "2020-01-31")

    assert co("knowledge", "--check") == 0
    assert "✓ 1 memory has served its time." in co.out
    assert "1: It expired on 2020-01-31; p1: co review." in co.out
    assert co.json("knowledge", "--check")["worn"][0]["state"] == "waiting already"
    co("review", "--reject", "p1")
    co("knowledge", "--check")
    assert "1 of them kept since you said so" in co.out
    assert "It expired" not in co.out
    co("learn", "The office is closed", "--expires", "2020-01-31")
    co("knowledge", "--check")
    assert "✓ 2 memories have served their time, 1 of them kept" in co.out


def test_whoever_gives_a_day_that_is_over_is_told(co: Co) -> None:
    co("learn", "Staging is frozen", "--expires", "2020-01-31")
    assert "It has expired already, on 2020-01-31" in co.out
    co("edit", "1", "--expires", "2020-02-29")
    assert "It has expired already, on 2020-02-29" in co.out


def test_a_dry_check_proposes_nothing(co: Co) -> None:
    co("learn", "Staging is frozen", "--expires", "2020-01-31")

    assert co.json("knowledge", "--check", "--dry-run")["worn"][0]["proposal"] is None
    assert co.json("review", "--list")["count"] == 0
