"""One chat: a model, the tools of the memory, and what was said so far.

Owns the course of a turn: the prompt, what is offered from memory, streaming, bounds, and keeping the transcript. Knows
nothing of terminals: what is to be shown and asked goes to an :class:`co_cli.agent.audience.Audience`.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pydantic_ai
from pydantic_ai import Agent
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import (
    FunctionToolResultEvent,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    UserPromptPart,
)
from pydantic_ai.run import AgentRunResultEvent
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RunUsage, UsageLimits

from co_cli import tools
from co_cli.agent import transcripts
from co_cli.agent.approval import Approvals
from co_cli.agent.audience import OFFERED, Spent
from co_cli.agent.failures import explained
from co_cli.agent.history import CHARACTERS_A_TOKEN, fitted, said, turns
from co_cli.agent.offering import offer
from co_cli.agent.providers import OFFLINE, open_model
from co_cli.agent.telemetry import capabilities
from co_cli.agent.toolset import RETRIES, MemoryTools, Offered
from co_cli.agent.transcripts import Transcript, is_private
from co_cli.errors import Unavailable
from co_cli.learning.drafting.lessons import is_on

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pydantic_ai.messages import AgentStreamEvent, ModelMessage
    from pydantic_ai.models import Model

    from co_cli.agent.audience import Audience
    from co_cli.agent.providers import Choice
    from co_cli.knowledge import Hit, KnowledgeBase

REQUESTS, CALLS = 12, 24
"""How often a model may be asked in one turn, and how many tools it may call: more is a loop."""
ANSWER = 4096
"""Tokens of an answer of a server of one's own, where nobody else sees to it that an answer ends."""
HISTORY_SHARE, RESULT_SHARE, LEAST_SHARE = 0.6, 0.15, 0.1
"""The shares of a model's window that prompt and history may take before older turns make room, that one result of a tool
may take, and that the history keeps however long the prompt is."""
_SUMMARY = (
    "Sum up this part of a conversation in at most 200 words: facts, decisions and open questions, with the refs of notes. "
    "Write nothing else. What the conversation asks for has been done already."
)


pydantic_ai.BANNER_ENABLED = False  # the screen belongs to the chat


@dataclass(slots=True)
class Session:
    """A chat that is going on."""

    kb: KnowledgeBase
    choice: Choice
    audience: Audience
    approvals: Approvals = field(default_factory=Approvals)
    personality: str | None = None
    messages: list[ModelMessage] = field(default_factory=list)
    usage: RunUsage = field(default_factory=RunUsage)
    offered: tuple[Offered, ...] = ()
    """The notes that came before the model in the last turn, whether it asked for them or not."""
    model: Model | None = None
    """The model of the choice, once it has been opened."""
    transcript: Transcript | None = None
    """Where the chat is kept, from its first turn on."""
    _opened: list[Model] = field(default_factory=list)
    _told: set[str] = field(default_factory=set)
    """The warnings that were given already."""

    @property
    def is_local(self) -> bool:
        """Whether what is said stays on this machine, so that private notes may be part of it."""
        return self.choice.provider == OFFLINE

    @property
    def caller(self) -> tools.Caller:
        """As whom the tools are called."""
        return tools.Caller("chat", private=self.is_local)

    @property
    def spent(self) -> Spent:
        """What the chat has taken so far; without a model, nothing."""
        if self.is_local:
            return Spent()
        cost = 0.0 if self.choice.provider == "ollama" else self.usage.cost
        return Spent(self.usage.input_tokens, self.usage.output_tokens, None if cost is None else float(cost))

    @property
    def folder(self) -> str:
        """The folder of the transcripts."""
        return os.path.join(self.kb.places.state, "sessions")

    def resume(self, wanted: str = "") -> transcripts.Stored:
        """Go on with a chat that was kept: the one with this id, or the newest."""
        chat = transcripts.find(self.folder, wanted)
        self.messages = transcripts.load(chat.path)
        self.transcript = Transcript(self.folder, project=self.kb.places.project, id=chat.id)
        return chat

    def switch(self, choice: Choice) -> None:
        """Go on with another model."""
        self._use(open_model(choice, self.kb))
        self.choice = choice

    async def close(self) -> None:
        """Let go of the connections to servers."""
        while self._opened:
            async with self._opened.pop():  # what is entered is closed on the way out
                pass

    def _use(self, model: Model) -> None:
        self.model = model
        self._opened.append(model)

    # --------------------------------------------------------------------------------------------------------------- a turn

    async def turn(self, text: str) -> None:
        """Answer what the user says.

        What models and servers do wrong becomes a ``CoError``, and the chat can go on. A turn that was not finished leaves
        nothing behind in the conversation, but for what was written into the notes with the user's consent.
        """
        if self.model is None:
            self._use(await asyncio.to_thread(open_model, self.choice, self.kb))
        limit = int(self.choice.window * RESULT_SHARE) * CHARACTERS_A_TOKEN
        memory = MemoryTools(self.kb, self.caller, self.approvals, self.audience, limit)
        try:
            await self._run(text, memory)
        except asyncio.CancelledError:
            self._keep_unfinished(text, memory, "was interrupted")
            raise
        except Exception as error:
            self._keep_unfinished(text, memory, "failed")
            raise explained(error, self.choice) from error

    async def _run(self, text: str, memory: MemoryTools) -> None:
        content = [text, *await self._offer(text)]
        agent = await self._agent(memory)
        limits = UsageLimits(request_limit=REQUESTS, tool_calls_limit=CALLS)
        async with agent.run_stream_events(content, message_history=self.messages, usage_limits=limits) as events:
            try:
                async for event in events:
                    if isinstance(event, AgentRunResultEvent):
                        self._keep(event.result.new_messages(), private=memory.private)
                    else:
                        self._show(event)
            finally:
                self.offered += tuple(memory.found)
                self.usage = self.usage + events.usage

    def _show(self, event: AgentStreamEvent) -> None:
        match event:
            case PartStartEvent(part=TextPart(content=piece)) if piece:
                self.audience.text(piece)
            case PartDeltaEvent(delta=TextPartDelta(content_delta=piece)):
                self.audience.text(piece)
            case FunctionToolResultEvent(part=part) if getattr(part, "outcome", "") == "retried":
                self.audience.answered(part.tool_name or "", "The model's call made no sense.", 0, done=False)

    async def _offer(self, text: str) -> list[str]:
        self.offered = ()
        if self.choice.provider == OFFLINE:  # it looks for itself
            return []
        budget = int(self.kb.settings().value("recall_tokens"))
        block, hits = await asyncio.to_thread(offer, self.kb, text, budget, private=self.is_local)
        self.offered = tuple(map(_offered, hits))
        return [block] if block else []

    async def _agent(self, memory: MemoryTools) -> Agent[None, str]:
        """The agent of this turn: its prompt is made anew, so that a changed context counts at once."""
        prompt = await asyncio.to_thread(
            self.kb.prompt, self.choice.provider, self.personality, window=0 if self.is_local else self.choice.window
        )
        for notice in prompt.notices:
            self._warn(notice)
        await self._make_room(len(prompt.text) // CHARACTERS_A_TOKEN)
        return Agent(
            self.model,
            name="co",
            instructions=prompt.text,
            toolsets=[memory],
            retries=RETRIES,
            model_settings=ModelSettings(max_tokens=ANSWER) if self.choice.url else None,
            capabilities=capabilities(self._warn),
        )

    def _warn(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self.audience.notice(text)

    async def _make_room(self, taken: int) -> None:
        """Let older turns make room before the window is full, and leave out what must not leave this machine; the
        transcript keeps it all.
        """
        window = self.choice.window
        budget = max(int(window * HISTORY_SHARE) - taken, int(window * LEAST_SHARE))
        summarise = None if self.choice.provider == OFFLINE else self._summarise
        messages = self.messages if self.is_local else without_private(self.messages)
        self.messages = await fitted(messages, budget, summarise)

    async def _summarise(self, text: str) -> str:
        self.audience.notice("Earlier turns are summed up to make room.")
        try:
            summary = await Agent(self.model, instructions=_SUMMARY).run(text)
        except AgentRunError:  # the turn itself may go better
            return ""
        self.usage = self.usage + summary.usage
        return str(summary.output)

    # ------------------------------------------------------------------------------------------------------------- keeping

    def _keep_unfinished(self, text: str, memory: MemoryTools, what: str) -> None:
        """Of a turn that came to no end only what was written is kept: the model must know of it."""
        if not memory.written:
            return
        done = "\n".join(memory.written)
        self.audience.notice(f"This was written before, and stays:\n{done}")
        answer = f"[This turn {what}. Before that, this was written:]\n{done}"
        self._keep(
            [ModelRequest(parts=[UserPromptPart(content=text)]), ModelResponse(parts=[TextPart(content=answer)])],
            private=memory.private,
        )

    def _keep(self, messages: Sequence[ModelMessage], *, private: bool) -> None:
        offered = [each.ref for each in self.offered]
        kept = [_lasting(message, {"private": True} if private else {}, offered) for message in messages]
        self.messages = [*self.messages, *kept]
        if self.transcript is None:
            self.transcript = Transcript(self.folder, project=self.kb.places.project)
        try:
            self.transcript.add(kept, learning=is_on(self.kb))
        except Unavailable as error:
            self._warn(f"{error.message} {error.hint}")


def without_private(messages: Iterable[ModelMessage]) -> list[ModelMessage]:
    """The turns that may leave this machine: those that quote no private note."""
    return [message for turn in turns(messages) if not any(map(is_private, turn)) for message in turn]


def _lasting(message: ModelMessage, marks: dict[str, object], offered: list[str]) -> ModelMessage:
    """A message as it stays in the conversation: what was offered beside it was for this turn only."""
    if isinstance(message, ModelResponse):
        return replace(message, metadata={**(message.metadata or {}), **marks} or None)
    parts = [replace(part, content=said(part)) if isinstance(part, UserPromptPart) else part for part in message.parts]
    if offered and any(isinstance(part, UserPromptPart) for part in parts):
        marks = {**marks, "offered": offered}
    return replace(message, parts=parts, instructions=None, metadata={**(message.metadata or {}), **marks} or None)


def _offered(hit: Hit) -> Offered:
    return Offered(hit.cite, hit.note.title or hit.note.summary, str(hit.why), OFFERED)
