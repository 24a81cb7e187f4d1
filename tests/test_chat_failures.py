"""Servers that refuse, break off and talk nonsense: a clear line each time, nothing half saved, and the chat goes on."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from chats import Listener
from model_server import Answer, ModelServer, calls, chunk, model_server, refuses, says, send, stream

from co_cli import CoError, KnowledgeBase
from co_cli.agent.audience import Decision
from co_cli.agent.providers import Choice
from co_cli.agent.session import Session

KEY = "sk-key-that-nobody-may-see-0123456789"
WORDS = "words that nobody else may see"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with model_server() as served:
        yield served


def chat_with(kb: KnowledgeBase, server: ModelServer, *decisions: Decision) -> Session:
    return Session(kb, Choice("openai", "script", server.url, "OPENAI_API_KEY"), Listener(*decisions))


def say_all(chat: Session, *texts: str) -> list[str | CoError]:
    """What becomes of each of these, in one event loop, as in a real chat."""

    async def turns() -> list[str | CoError]:
        outcomes: list[str | CoError] = []
        assert isinstance(chat.audience, Listener)
        for text in texts:
            chat.audience.pieces.clear()
            try:
                await chat.turn(text)
                outcomes.append(chat.audience.said.strip())
            except CoError as error:
                outcomes.append(error)
        await chat.close()
        return outcomes

    return asyncio.run(turns())


def test_a_real_server_is_asked_with_prompt_tools_and_key(kb: KnowledgeBase, server: ModelServer) -> None:
    server.answers = [calls("save_memory", '{"content": "We deploy on Fridays"}'), says("It is kept.")]
    chat = chat_with(kb, server, Decision("yes"))
    assert say_all(chat, "remember our deploy day") == ["It is kept."]
    assert [note.body for note in kb.list().notes] == ["We deploy on Fridays"]
    first, second = server.asked
    assert [tool["function"]["name"] for tool in first["tools"]][:1] == ["save_memory"]
    assert first["messages"][0]["role"] == "system"
    assert first["stream"] is True
    assert "Saved memory 1" in second["messages"][-1]["content"]
    assert {headers["authorization"] for _path, headers, _body in server.requests} == {f"Bearer {KEY}"}
    assert chat.spent[:2] == (100, 10)


FAILURES: list[tuple[str, list[Answer], str]] = [
    ("a wrong key", [refuses(401, f"Incorrect API key provided: {KEY}")], "does not accept the key"),
    ("no rights", [refuses(403)], "does not accept the key"),
    ("an unknown model", [refuses(404)], "does not know this model"),
    ("a rate limit", [refuses(429, retry_after="0")] * 4, "has too many requests from you"),
    ("a fault", [refuses(500)] * 4, "has a fault of its own"),
    ("too busy", [refuses(503)] * 4, "is not available now|has a fault of its own"),
    ("a bad request", [refuses(400, WORDS)], "does not accept the request"),
    ("a page instead of JSON", [lambda handler: send(handler, 200, b"<html>hello", Content_Type="text/html")], "."),
    ("an empty answer", [stream(b"data: [DONE]\n\n")] * 4, "makes no sense|broke off"),
    ("no JSON in the stream", [stream(b"data: {not json\n\n", b"data: [DONE]\n\n")], "."),
    ("a stream cut in the middle", [stream(chunk({"content": "We deploy on "}), ends=False)], "broke off|reached"),
    ("a stream that ends too soon", [stream(chunk({"content": "We deploy on "}))], "."),
    ("a call cut in the middle", [stream(chunk({"tool_calls": [{"index": 0, "id": "1", "function": {"name": "save_memory",
      "arguments": '{"content": "We dep'}}]}), ends=False)], "broke off|reached"),
    ("a loop of malformed calls", [calls("save_memory", '{"content": ')] * 9, "makes no sense|broke off"),
    ("a loop of calls of nothing", [calls("no_such_tool", "{}")] * 9, "makes no sense"),
    ("a loop of calls", [calls("list_memories", "{}")] * 40, "called tools again and again"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "answers", "what"), FAILURES, ids=[name for name, *_ in FAILURES])
def test_what_a_server_does_wrong_is_told_in_a_line_and_the_chat_goes_on(
    kb: KnowledgeBase, server: ModelServer, name: str, answers: list[Answer], what: str
) -> None:
    server.answers = list(answers)
    chat = chat_with(kb, server, *[Decision("yes")] * 3)
    if name == "a stream that ends too soon":  # what came is an answer, as far as anybody can tell
        assert say_all(chat, WORDS)[0] == "We deploy on"
        return
    failed, again = say_all(chat, WORDS, "hi")
    assert isinstance(failed, CoError), failed
    import re

    assert re.search(what, failed.message), failed.message
    assert failed.hint
    for secret in (KEY, WORDS, "Traceback"):
        assert secret not in failed.message + failed.hint + failed.details
    server.answers.clear()
    if not isinstance(again, str):  # what was left of a loop
        (again,) = say_all(chat_with(kb, server), "hi")
    assert again == "Hello there"
    assert kb.list().notes == ()
    assert WORDS not in str(chat.messages)
    assert not chat.transcript or WORDS not in Path(chat.transcript.path).read_text()


def test_what_was_written_before_a_failure_stays_and_the_model_is_told(kb: KnowledgeBase, server: ModelServer) -> None:
    server.answers = [
        calls("save_memory", '{"content": "We deploy on Fridays"}'),
        refuses(401),
        says("Yes, it is."),
    ]
    chat = chat_with(kb, server, Decision("yes"))
    failed, answer = say_all(chat, "remember our deploy day", "is it saved?")
    assert isinstance(failed, CoError)
    assert answer == "Yes, it is."
    assert "Saved memory 1" in str(server.asked[-1]["messages"])
    assert [note.body for note in kb.list().notes] == ["We deploy on Fridays"]


def test_malformed_calls_are_sent_back_and_may_be_corrected(kb: KnowledgeBase, server: ModelServer) -> None:
    server.answers = [
        calls("save_memory", "{'content': 'single quotes'}"),
        calls("save_memory", '["a list"]'),
        calls("save_memory", '{"content": "We deploy on Fridays"}'),
        says("Kept."),
    ]
    chat = chat_with(kb, server, Decision("yes"))
    assert say_all(chat, "remember our deploy day") == ["Kept."]
    assert [note.body for note in kb.list().notes] == ["We deploy on Fridays"]


def test_a_server_that_is_not_there_is_told_as_such(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    chat = Session(kb, Choice("openai", "script", f"http://127.0.0.1:{port}/v1", "OPENAI_API_KEY"), Listener())
    (failed,) = say_all(chat, "hi")
    assert isinstance(failed, CoError)
    assert "openai:script cannot be reached" in failed.message


def test_the_network_of_this_test_is_down_for_others_too(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    chat = Session(kb, Choice("anthropic", "claude-haiku-5-5", "http://127.0.0.1:1", "ANTHROPIC_API_KEY"), Listener())
    (failed,) = say_all(chat, "hi")
    assert isinstance(failed, CoError)
    assert "anthropic:claude-haiku-5-5 cannot be reached" in failed.message
