"""What a model is shown of the conversation so far.

Owns the budget of the history: large results of tools are trimmed, and older turns make room, as a summary where there is a
model to write one. A call and its result are never parted, and the first exchange stays. Pure but for the summary.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolReturnPart, UserPromptPart

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from pydantic_ai.messages import ModelMessage

CHARACTERS_A_TOKEN = 4
RESULT_LIMIT, RECENT_RESULTS = 2000, 4
"""Characters that stay of a tool's result once it is no longer among the last few."""
KEPT_TURNS = 3
"""Turns that always stay as they are: the last ones."""
DROPPED = "[Earlier turns of this conversation were left out to make room.]"


def tokens(messages: Sequence[ModelMessage]) -> int:
    """About how many tokens messages take."""
    return (
        sum(
            len(str(getattr(part, "content", ""))) + len(str(getattr(part, "args", "") or ""))
            for message in messages
            for part in message.parts
        )
        // CHARACTERS_A_TOKEN
    )


def trimmed(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The messages with the large results of earlier calls cut short."""
    results = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    recent = {part.tool_call_id for part in results[-RECENT_RESULTS:]}
    return [_trimmed(message, recent) if isinstance(message, ModelRequest) else message for message in messages]


def _trimmed(message: ModelRequest, recent: set[str]) -> ModelRequest:
    parts = [
        _cut(part) if isinstance(part, ToolReturnPart) and part.tool_call_id not in recent else part
        for part in message.parts
    ]
    return replace(message, parts=parts) if parts != list(message.parts) else message


def _cut(part: ToolReturnPart) -> ToolReturnPart:
    text = part.content
    if not isinstance(text, str) or len(text) <= RESULT_LIMIT:
        return part
    rest = len(text) - RESULT_LIMIT
    return ToolReturnPart(part.tool_name, f"{text[:RESULT_LIMIT]}\n[… {rest} characters were left out]", part.tool_call_id)


def turns(messages: Sequence[ModelMessage]) -> list[list[ModelMessage]]:
    """The messages by turn: each begins with what the user said, so that no call is parted from its result."""
    found: list[list[ModelMessage]] = []
    for message in messages:
        begins = isinstance(message, ModelRequest) and any(isinstance(part, UserPromptPart) for part in message.parts)
        if begins or not found:
            found.append([])
        found[-1].append(message)
    return found


async def fitted(
    messages: Sequence[ModelMessage], budget: int, summarise: Callable[[list[ModelMessage]], Awaitable[str]] | None
) -> list[ModelMessage]:
    """The messages within a budget of tokens: the first exchange, what became of the middle, and the last turns."""
    messages = trimmed(messages)
    if tokens(messages) <= budget:
        return messages
    first, *rest = turns(messages)
    kept = len(rest)
    while kept > min(KEPT_TURNS, len(rest)) and tokens(first) + sum(map(tokens, rest[len(rest) - kept :])) > budget // 2:
        kept -= 1
    dropped = [message for turn in rest[: len(rest) - kept] for message in turn]
    if not dropped:
        return messages
    summary = await summarise(dropped) if summarise else ""
    note = f"[What was said before, in short:]\n{summary}" if summary else DROPPED
    bridge: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart(content=note)]),
        ModelResponse(parts=[TextPart(content="Understood.")]),
    ]
    return [*first, *bridge, *(message for turn in rest[len(rest) - kept :] for message in turn)]
