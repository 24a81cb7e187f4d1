"""Chats for the tests: an audience that notes what it was told, and models that say what a test wants said."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from co_cli import KnowledgeBase
from co_cli.agent.approval import Proposal
from co_cli.agent.audience import Decision
from co_cli.agent.providers import Choice
from co_cli.agent.session import Session

Step = str | tuple[str, dict[str, Any]] | Callable[[list[ModelMessage]], str]
"""What a model does: say a text, call a tool, or say what it makes of the messages."""


class Listener:
    """An audience that keeps everything, and answers questions as it was told to."""

    def __init__(self, *decisions: Decision) -> None:
        self.decisions = list(decisions)
        self.pieces: list[str] = []
        self.calls: list[tuple[str, dict[str, object]]] = []
        self.answers: list[tuple[str, str, bool]] = []
        self.notices: list[str] = []
        self.proposals: list[Proposal] = []
        self.on_decide: Callable[[], None] = lambda: None

    @property
    def said(self) -> str:
        return "".join(self.pieces)

    def text(self, delta: str) -> None:
        self.pieces.append(delta)

    def called(self, tool: str, arguments: Mapping[str, object]) -> None:
        self.calls.append((tool, dict(arguments)))

    def answered(self, tool: str, display: str, seconds: float, *, done: bool) -> None:
        assert seconds >= 0
        self.answers.append((tool, display, done))

    def notice(self, text: str) -> None:
        self.notices.append(text)

    async def decide(self, proposal: Proposal) -> Decision:
        self.proposals.append(proposal)
        self.on_decide()
        await asyncio.sleep(0)
        return self.decisions.pop(0) if self.decisions else Decision("no", "not in this test")


class Script:
    """A model that does what is written, one step for each time that it is asked; a list of steps is one answer."""

    def __init__(self, *steps: Step | Sequence[tuple[str, dict[str, Any]]]) -> None:
        self.steps = list(steps)
        self.asked: list[tuple[list[ModelMessage], AgentInfo]] = []
        self.model = FunctionModel(self._sum_up, stream_function=self._respond, model_name="script")

    async def _sum_up(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.asked.append((list(messages), info))
        return ModelResponse(parts=[TextPart("They spoke of many things.")])

    async def _respond(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        self.asked.append((list(messages), info))
        step = self.steps.pop(0) if self.steps else "There is nothing left to say."
        if callable(step):
            step = step(messages)
        if isinstance(step, str):
            for word in re.findall(r"\S+\s*", step):  # as models do: a little at a time
                yield word
            return
        for place, (tool, arguments) in enumerate([step] if isinstance(step, tuple) else step):
            yield {
                place: DeltaToolCall(name=tool, json_args=json.dumps(arguments), tool_call_id=f"{len(self.asked)}-{place}")
            }

    @property
    def prompt(self) -> str:
        """The system prompt of the last request."""
        return self.asked[-1][1].instructions or ""

    def told(self) -> list[str]:
        """What tools returned, as the model got it in the last request."""
        parts = [part for message in self.asked[-1][0] if isinstance(message, ModelRequest) for part in message.parts]
        return [str(part.content) for part in parts if isinstance(part, ToolReturnPart)]

    def heard(self) -> list[str]:
        """What the user said, with what was offered beside it, in the last request."""
        parts = [part for message in self.asked[-1][0] for part in message.parts if isinstance(part, UserPromptPart)]
        return [part.content if isinstance(part.content, str) else "\n".join(map(str, part.content)) for part in parts]


REMOTE = Choice("openai", "script")


def session(kb: KnowledgeBase, script: Script | None = None, *decisions: Decision, choice: Choice = REMOTE) -> Session:
    """A chat with a script for a model; without one, with no model at all."""
    if script is None:
        return Session(kb, Choice("offline"), Listener(*decisions))
    return Session(kb, choice, Listener(*decisions), model=script.model)


def listener(chat: Session) -> Listener:
    assert isinstance(chat.audience, Listener)
    return chat.audience


def say(chat: Session, *texts: str) -> str:
    """Say something; returns what is answered to the last of it."""
    for text in texts:
        listener(chat).pieces.clear()
        asyncio.run(chat.turn(text))
    return listener(chat).said
