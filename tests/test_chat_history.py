"""What stays of a long conversation: calls with their results, the first exchange, and a summary of what made room."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from chats import REMOTE, Listener, Script, listener, say, session
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from co_cli import KnowledgeBase
from co_cli.agent.history import (
    DROPPED,
    RECENT_RESULTS,
    RESULT_LIMIT,
    SUMMED_UP,
    fitted,
    tokens,
    trimmed,
    turns,
    whole_turns,
)
from co_cli.agent.providers import Choice
from co_cli.agent.session import Session


def turn(number: int, *, calls: int = 0, size: int = 100) -> list[ModelMessage]:
    """A turn with so many calls, of which each returns so many characters."""
    messages: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart(content=f"question {number}")])]
    for call in range(calls):
        name = f"{number}-{call}"
        messages.append(ModelResponse(parts=[ToolCallPart("recall_memory", {"query": "x"}, name)]))
        messages.append(ModelRequest(parts=[ToolReturnPart("recall_memory", "y" * size, name)]))
    return [*messages, ModelResponse(parts=[TextPart(content=f"answer {number}")])]


def chat(*lengths: tuple[int, int]) -> list[ModelMessage]:
    return [message for place, (calls, size) in enumerate(lengths) for message in turn(place, calls=calls, size=size)]


def parts(messages: list[ModelMessage], kind: type) -> list[Any]:
    return [part for message in messages for part in message.parts if isinstance(part, kind)]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6000)), min_size=1, max_size=12),
    st.integers(10, 4000),
    st.booleans(),
)
def test_no_call_is_ever_parted_from_its_result(lengths: list[tuple[int, int]], budget: int, sums_up: bool) -> None:
    async def summarise(text: str) -> str:
        assert len(text) <= budget * 4 + 100
        return "in short"

    messages = chat(*lengths)
    left = asyncio.run(fitted(messages, budget, summarise if sums_up else None))
    calls = [part.tool_call_id for part in parts(left, ToolCallPart)]
    assert calls == [part.tool_call_id for part in parts(left, ToolReturnPart)]
    assert left[0] == trimmed(messages)[0]
    assert [first.parts[0].content for first, *_ in turns(left)][-1] == f"question {len(lengths) - 1}"
    assert whole_turns(left) == left
    if tokens(trimmed(messages)) <= budget:
        assert left == trimmed(messages)


def test_older_turns_make_room_as_a_summary_and_the_first_exchange_stays() -> None:
    asked = []

    async def summarise(text: str) -> str:
        asked.append(text)
        return "They spoke of herons [1]."

    left = asyncio.run(fitted(chat(*[(1, 1500)] * 12), 2000, summarise))
    said = [part.content for part in parts(left, UserPromptPart)]
    assert said[0] == "question 0"
    assert said[1] == f"{SUMMED_UP}\nThey spoke of herons [1]."
    assert said[-3:] == ["question 9", "question 10", "question 11"]
    assert "User: question 1\n" in asked[0]
    assert tokens(left) < 3000


def test_without_a_model_older_turns_are_dropped_with_a_note() -> None:
    left = asyncio.run(fitted(chat(*[(1, 1500)] * 12), 1500, None))
    assert DROPPED in [part.content for part in parts(left, UserPromptPart)]


def test_large_results_of_earlier_calls_are_cut_and_say_so() -> None:
    messages = chat(*[(1, RESULT_LIMIT * 3)] * (RECENT_RESULTS + 2))
    contents = [part.content for part in parts(trimmed(messages), ToolReturnPart)]
    assert [len(content) < RESULT_LIMIT + 100 for content in contents] == [True, True] + [False] * RECENT_RESULTS
    assert f"{RESULT_LIMIT * 2} characters were left out" in contents[0]


def test_only_turns_that_came_to_an_end_are_whole() -> None:
    good, cut = turn(1, calls=2), turn(2, calls=2)
    assert whole_turns([*good, *cut[:-1]]) == good
    next_one = turn(3)
    assert whole_turns([*good, *cut[:2], *next_one]) == [*good, *next_one]
    assert whole_turns([cut[0], cut[1], *cut[3:], *good]) == good
    assert whole_turns(good[1:]) == []


def test_a_small_window_is_never_overrun(kb: KnowledgeBase) -> None:
    kb.write_topic("long", "heron " * 20_000)
    script = Script(*[("knowledge_search", {"query": "heron"}), "word " * 300] * 30)
    small = Session(kb, Choice("ollama", "x", "http://127.0.0.1:1"), Listener(), model=script.model)
    for number in range(10):
        try:
            say(small, f"question {number}")
        finally:
            used = tokens(script.asked[-1][0]) + len(script.prompt) // 4
            assert used < small.choice.window, f"turn {number}"


def test_a_summary_is_made_by_the_model_and_counted(kb: KnowledgeBase) -> None:
    script = Script(*["word " * 900] * 60)
    chat = session(kb, script, choice=Choice("ollama", "x", "http://127.0.0.1:1"))
    say(chat, *[f"question {number}" for number in range(8)])
    assert any("summed up" in notice for notice in listener(chat).notices)
    assert any("User: question 1" in str(messages[-1].parts[0].content) for messages, _info in script.asked)
    assert script.heard()[0] == "question 0"


def test_a_summary_never_has_what_is_private(kb: KnowledgeBase) -> None:
    kb.save("The alarm code is 4711", private=True)
    chat = session(kb)
    say(chat, *["what is the alarm code?"] * 6)
    script = Script(*["word " * 900] * 60)
    chat.choice, chat.model = Choice("ollama", "x", "http://127.0.0.1:1"), script.model
    say(chat, *[f"question {number}" for number in range(8)])
    assert "4711" not in str(script.asked)


@pytest.mark.parametrize("provider", ["gemini", "openai", "anthropic", "ollama", "offline"])
def test_every_provider_has_a_window(provider: str) -> None:
    assert Choice(provider, "x").window >= 8000
    assert REMOTE.window > Choice("openai", "x", "http://127.0.0.1:1").window
