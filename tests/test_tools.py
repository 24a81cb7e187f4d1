"""The tools of agents: what they take, what they say, and that every call is in the log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from co_cli import CoError, Denied, Invalid, KnowledgeBase, NotFound
from co_cli.tools import TOOLS, Caller, call, knowledge_delete, knowledge_list, knowledge_search, knowledge_write

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def shared(kb: KnowledgeBase) -> KnowledgeBase:
    kb.write_topic(
        "claude_models",
        "# Claude Model Family\n\n- Opus: most capable\n- Haiku: fastest",
        tags="ai,anthropic,models",
        source="seed",
    )
    kb.write_topic("discord_setup", "## Discord Bot Setup\n\n1. Create a bot", tags=["discord", "bot"])
    kb.write_topic("deploy_steps", "1. Tag. 2. Push the models. 3. Wait.")
    return kb


# --------------------------------------------------------------------------------------------------------------- displays


def shown(kb: KnowledgeBase) -> dict[str, str]:
    """What each tool says, by the name of its golden file."""
    caller = Caller("mcp")
    said = {
        "knowledge_list": knowledge_list(kb, caller),
        "knowledge_search": knowledge_search(kb, "models", caller),
        "knowledge_search-nothing": knowledge_search(kb, "zanzibar", caller),
        "knowledge_write": knowledge_write(kb, "Discord Setup", "## Setup\n\n1. Create an account", "discord,setup", caller),
        "knowledge_write-unchanged": knowledge_write(kb, "discord-setup", "## Setup\n\n1. Create an account", None, caller),
        "knowledge_write-new": knowledge_write(kb, "release", "Tag it", ["ops"], caller),
        "knowledge_delete": knowledge_delete(kb, "release", caller),
    }
    return {name: str(result["display"]) for name, result in said.items()}


def test_each_tool_says_what_the_golden_files_say(shared: KnowledgeBase) -> None:
    said = "\n".join(f"<<< {name}\n{display}\n" for name, display in shown(shared).items())
    assert said == (GOLDEN / "tools.md").read_text(encoding="utf-8")


def test_the_list_is_the_table_that_was_described(shared: KnowledgeBase) -> None:
    assert knowledge_list(shared)["display"] == "\n".join(
        (
            "3 knowledge entries:",
            "",
            "| Topic | Tags | Source |",
            "|-------|------|--------|",
            "| claude_models | ai,anthropic,models | seed |",
            "| deploy_steps |  | user |",
            "| discord_setup | discord,bot | user |",
        )
    )
    assert knowledge_list(shared)["count"] == 3


def test_a_table_stays_a_table_whatever_is_in_a_tag(kb: KnowledgeBase) -> None:
    assert knowledge_list(kb)["display"] == "0 knowledge entries."
    kb.write_topic("pipes", "text", tags=["a|b"])
    kb.write_topic("pipes", "text", in_global=True)
    display = str(knowledge_list(kb)["display"])
    assert "| pipes | a\\|b | user |\n| g:pipes |  | user |" in display


# ------------------------------------------------------------------------------------------------------------------- data


def test_a_search_returns_at_most_five_entries_with_all_of_their_text(kb: KnowledgeBase) -> None:
    long = "\n\n".join(f"## Part {number}\n\nherons and more herons" for number in range(300))
    for number in range(7):
        kb.write_topic(f"herons_{number}", f"{long}\n\nEnd of {number}", tags="birds")
    found = knowledge_search(kb, "herons")
    assert (found["count"], len(found["results"])) == (5, 5)  # type: ignore[arg-type]
    first = found["results"][0]  # type: ignore[index]
    assert first["content"].startswith("## Part 0")
    assert "End of" in first["content"]
    assert first.keys() >= {"topic", "ref", "tags", "source", "created", "updated", "score"}


def test_only_topics_are_searched(shared: KnowledgeBase) -> None:
    shared.save("Models are memories here")
    refs = [entry["ref"] for entry in knowledge_search(shared, "models")["results"]]  # type: ignore[index, attr-defined]
    assert sorted(refs) == ["topic:claude_models", "topic:deploy_steps"]


@pytest.mark.parametrize("tags", ["discord, bot,,setup", ["discord", "bot", " setup "], "#discord,bot,setup"])
def test_tags_may_be_one_text_or_a_list(kb: KnowledgeBase, tags: object) -> None:
    written = knowledge_write(kb, "discord_setup", "text", tags)
    assert (written["tags"], written["outcome"], written["source"]) == (["discord", "bot", "setup"], "created", "user")


def test_a_topic_keeps_its_tags_unless_others_are_given(shared: KnowledgeBase) -> None:
    assert knowledge_write(shared, "discord_setup", "new")["tags"] == ["discord", "bot"]
    assert knowledge_write(shared, "discord_setup", "newer", "")["tags"] == []
    assert knowledge_write(shared, "discord_setup", "newest", caller=Caller("http", source="api"))["source"] == "api"


def test_deleting_what_is_not_there_says_so(shared: KnowledgeBase) -> None:
    assert knowledge_delete(shared, "Deploy Steps")["topic"] == "deploy_steps"
    with pytest.raises(NotFound, match="no topic deploy_steps"):
        knowledge_delete(shared, "deploy_steps")


# ----------------------------------------------------------------------------------------------------------- odd callers


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("knowledge_search", {"query": 12}),
        ("knowledge_search", {"query": ["a"]}),
        ("knowledge_search", {"query": None}),
        ("knowledge_search", {"query": ""}),
        ("knowledge_search", {"query": " \n\t"}),
        ("knowledge_search", {"query": '""'}),
        ("knowledge_search", {}),
        ("knowledge_search", {"query": "a", "limit": 9}),
        ("knowledge_search", None),
        ("knowledge_search", "deploy"),
        ("knowledge_write", {"topic": "a"}),
        ("knowledge_write", {"topic": {"a": 1}, "content": "b"}),
        ("knowledge_write", {"topic": "a", "content": True}),
        ("knowledge_write", {"topic": "a", "content": "b", "tags": [1, 2]}),
        ("knowledge_write", {"topic": "a", "content": "b", "tags": {"a": "b"}}),
        ("knowledge_write", {"topic": "a", "content": "b", "tags": "\ud800"}),
        ("knowledge_write", {"topic": "a", "content": "b", "tags": "x" * 100_000}),
        ("knowledge_write", {"topic": "", "content": "b"}),
        ("knowledge_write", {"topic": "x" * 10_000, "content": "b"}),
        ("knowledge_write", {"topic": "a", "content": ""}),
        ("knowledge_delete", {"topic": "../../etc"}),
        ("knowledge_delete", {"topic": ""}),
        ("knowledge_list", {"all": "yes"}),
        ("knowledge_burn", {}),
    ],
)
def test_what_makes_no_sense_is_a_clear_error(shared: KnowledgeBase, name: str, arguments: object) -> None:
    with pytest.raises((Invalid, NotFound)) as caught:
        call(shared, name, arguments)
    assert caught.value.message
    assert caught.value.hint
    assert len(shared.topics().notes) == 3


@pytest.mark.parametrize("mode", ["auto", "text", "hybrid"])
@pytest.mark.parametrize(
    "query",
    [
        'models AND "',
        "NEAR(models, 3) OR *",
        "models) -- ; DROP TABLE notes",
        "^models* {tags} : models",
        "tag:models",
        "tag:",
        "kind:",
        "((((((",
        "a" * 1_000_000,
        "models " * 200_000,
        "\0 models",
        "half \ud800 models",
        "💥🦀",
        "'; --",
    ],
)
def test_any_text_can_be_searched_for(shared: KnowledgeBase, query: str, mode: str) -> None:
    from co_cli.settings import change_setting

    change_setting(shared.places, "mode", mode)
    said = ""
    try:
        said = str(knowledge_search(shared, query)["display"])
    except CoError as error:
        said = f"{error.message} {error.hint}"
    assert 10 < len(said) < 2000


def test_a_secret_is_refused(kb: KnowledgeBase) -> None:
    with pytest.raises(Denied):
        knowledge_write(kb, "keys", "-----BEGIN PRIVATE " + "KEY-----")


# --------------------------------------------------------------------------------------------------------- what is private


@pytest.fixture
def secretive(shared: KnowledgeBase, vault: Path) -> KnowledgeBase:
    (vault / "topics" / "merger.md").write_text("---\nprivate: true\ntags: [models]\n---\nThe models are sold\n")
    return shared


def test_a_private_topic_goes_to_nobody_who_may_hand_it_on(secretive: KnowledgeBase) -> None:
    remote = Caller("mcp")
    for result in (knowledge_list(secretive, remote), knowledge_search(secretive, "models sold", remote)):
        assert "merger" not in json.dumps(result)
    with pytest.raises(Denied):
        knowledge_write(secretive, "Merger", "text", caller=remote)
    with pytest.raises(NotFound):
        knowledge_delete(secretive, "merger", remote)
    assert secretive.topic("merger").body == "The models are sold"


def test_a_private_topic_is_there_for_who_keeps_it_here(secretive: KnowledgeBase) -> None:
    here = Caller("chat", private=True)
    assert "merger" in str(knowledge_list(secretive, here)["display"])
    assert "sold" in str(knowledge_search(secretive, "sold", here)["display"])
    assert knowledge_delete(secretive, "merger", here)["topic"] == "merger"


# ---------------------------------------------------------------------------------------------------------------- logging


def test_every_call_is_logged_with_its_outcome_and_the_notes_that_came_back(shared: KnowledgeBase) -> None:
    knowledge_search(shared, "models", Caller("mcp"))
    knowledge_search(shared, "models", Caller("chat"))
    knowledge_list(shared)
    for broken in ({"query": 12}, {"query": ""}):
        with pytest.raises(Invalid):
            call(shared, "knowledge_search", broken)
    found = shared.usage()
    assert {tool.tool: (tool.calls, tool.failed) for tool in found.tools} == {
        "knowledge_search": (4, 2),
        "knowledge_list": (1, 0),
    }
    assert {use.note.ref: use.calls for use in found.used} == {"topic:claude_models": 2, "topic:deploy_steps": 2}
    assert [note.ref for note in found.never] == ["topic:discord_setup"]


def test_a_log_that_cannot_be_written_stops_no_tool(shared: KnowledgeBase, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(shared.places.state) / "usage.db"
    path.mkdir(parents=True)
    for _ in range(3):
        assert knowledge_search(shared, "models")["count"] == 2
    said = capsys.readouterr()
    assert said.err.count("usage.db") == 1
    assert said.out == ""


def test_the_schemas_are_small_and_say_what_is_required() -> None:
    listed = [{"name": tool.name, "description": tool.meaning, "inputSchema": tool.schema()} for tool in TOOLS.values()]
    assert len(json.dumps(listed)) < 4000
    assert TOOLS["knowledge_write"].schema()["required"] == ["topic", "content"]
    assert [tool.name for tool in TOOLS.values() if tool.writes] == [
        "save_memory",
        "knowledge_write",
        "knowledge_delete",
        "save_knowledge",
    ]
    assert call.__doc__
