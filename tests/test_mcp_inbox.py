"""`mcp_writes: inbox`: what a client would write waits for the user's yes, and the client is told so."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import Co
from mcp import Client, types
from mcp_clients import said, talk

from co_cli import KnowledgeBase, open_knowledge, tools
from co_cli.errors import Denied
from co_cli.learning import inbox
from co_cli.tools.proposing import PROPOSALS

ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])


@pytest.fixture(autouse=True)
def _inbox(co: Co) -> None:
    assert co("config", "set", "mcp_writes", "inbox") == 0


def told(result: types.CallToolResult) -> dict[str, object]:
    assert not result.is_error, said(result)
    assert result.structured_content is not None
    return result.structured_content


@ERAS
def test_every_write_waits_for_the_users_yes_and_reading_goes_on(kb: KnowledgeBase, co: Co, mode: str) -> None:
    kb.save("Herons are grey")
    kb.write_topic("deploy", "1. Wait")

    async def use(client: Client) -> None:
        saved = await client.call_tool("save_memory", {"content": "Herons nest in colonies", "tags": "birds"})
        assert told(saved) == {"outcome": "proposed", "saved": False, "proposal": "p1", "review": "co review p1"}
        assert "Nothing is changed yet" in said(saved)
        assert "co review p1" in said(saved)
        written = await client.call_tool("knowledge_write", {"topic": "Deploy", "content": "1. Tag", "tags": ["ops"]})
        assert told(written)["proposal"] == "p2"
        assert told(await client.call_tool("knowledge_delete", {"topic": "1"}))["proposal"] == "p3"
        everywhere = {"content": "Tea is better", "everywhere": True}
        assert told(await client.call_tool("save_memory", everywhere))["proposal"] == "g1"
        assert "Herons are grey" in said(await client.call_tool("recall_memory", {"query": "herons"}))
        assert "save_memory" in [tool.name for tool in (await client.list_tools()).tools]

    talk(use, mode=mode)
    assert {note.body for note in kb.list(("memory", "topic")).notes} == {"Herons are grey", "1. Wait"}
    waiting = inbox.proposals(kb).proposals
    assert [(each.ref, each.kind, each.action) for each in waiting] == [
        ("p1", "draft", "save"),
        ("p2", "update", "topic"),
        ("p3", "expiry", "forget"),
        ("g1", "draft", "save"),
    ]
    assert {each.evidence.session for each in waiting} == {"mcp"}  # what the official client calls itself
    assert waiting[0].reason == "mcp called save_memory"
    assert co("review", "--accept", "--all") == 0
    listed = {note.ref: note for note in kb.list(("memory", "topic")).notes}
    assert {ref: note.body for ref, note in listed.items()} == {
        "2": "Herons nest in colonies",
        "topic:deploy": "1. Tag",
        "g:1": "Tea is better",
    }
    assert (listed["2"].source, listed["2"].tags, listed["topic:deploy"].source) == ("agent-inferred", ("birds",), "api")


def test_a_client_is_told_what_waits_already_was_rejected_or_is_known(kb: KnowledgeBase) -> None:
    async def use(client: Client) -> None:
        async def save(content: str) -> types.CallToolResult:
            return await client.call_tool("save_memory", {"content": content})

        assert told(await save("Herons nest in colonies"))["outcome"] == "proposed"
        again = await save("herons nest in colonies.")
        assert told(again) == {"outcome": "waiting already", "saved": False, "proposal": "p1", "review": "co review p1"}
        inbox.reject(kb, inbox.get(kb, "p1"))
        refused = await save("Herons nest in colonies!")
        assert told(refused) == {"outcome": "rejected before", "saved": False}
        assert "said no" in said(refused)
        kb.save("Tea is better")
        assert told(await save("tea is better"))["outcome"] == "nothing to do"

    talk(use)
    assert inbox.proposals(kb).proposals == ()


def test_what_could_never_be_kept_is_an_error_as_it_is_without_the_inbox(kb: KnowledgeBase) -> None:
    kb.write_topic("diary", "Only for me")
    kb.update("topic:diary", private=True)
    kb.save("My secret garden", private=True)

    async def use(client: Client) -> None:
        for name, given, expected in (
            ("save_memory", {"content": "the key is AKIAIOSFODNN7EXAMPLE"}, "AWS"),
            ("save_memory", {"content": " "}, "empty"),
            ("save_memory", {"colour": "red"}, "takes no 'colour'"),
            ("knowledge_write", {"topic": "diary", "content": "x"}, "private"),
            ("knowledge_write", {"topic": "???", "content": "x"}, "no name for a topic"),
            ("knowledge_delete", {"topic": "diary"}, "no topic diary"),
            ("knowledge_delete", {"topic": "1"}, "no note 1"),
            ("knowledge_delete", {"topic": "99"}, "99"),
        ):
            result = await client.call_tool(name, given)
            assert result.is_error, name
            assert expected in said(result)

    talk(use)
    assert inbox.proposals(kb).proposals == ()


def test_calls_that_wait_are_in_the_log_like_others(project: Path) -> None:
    async def use(client: Client) -> None:
        await client.call_tool("save_memory", {"content": "Herons nest in colonies"})
        await client.call_tool("save_memory", {"content": ""})

    talk(use)
    import apsw

    log = apsw.Connection(open_knowledge(project).places.usage_log)
    rows = log.execute("SELECT tool, surface, outcome FROM calls ORDER BY id").fetchall()
    assert rows == [("save_memory", "mcp", "ok"), ("save_memory", "mcp", "invalid")]


def test_every_tool_that_writes_can_be_proposed_or_is_refused(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    writes = {name for name, tool in tools.TOOLS.items() if tool.writes}
    assert writes == {*PROPOSALS}
    monkeypatch.delitem(PROPOSALS, "save_memory")
    with pytest.raises(Denied, match="cannot be proposed"):
        tools.propose(kb, "save_memory", {"content": "x"}, tools.Caller("mcp"))
