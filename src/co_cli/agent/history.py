"""What a model is shown of the conversation so far.

Owns the budget of the history: large results of tools are trimmed, and older turns make room, as a summary where there is a
model to write one. A call and its result are never parted, and the first exchange stays. Pure but for the summary.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from pydantic_ai.messages import ModelMessage

CHARACTERS_A_TOKEN = 4
RESULT_LIMIT, RECENT_RESULTS = 2000, 4
"""Characters that stay of a tool's result once it is no longer among the last few."""
KEPT_TURNS = 3
"""Turns that stay as long as they fit at all: the last ones."""
DROPPED = "[Earlier turns of this conversation were left out to make room.]"
SUMMED_UP = "[What was said before, in short:]"


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


def cut(text: str, limit: int) -> str:
    """The beginning of a text that is too long, which says so."""
    return text if len(text) <= limit else f"{text[:limit]}\n[… {len(text) - limit} characters were left out]"


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


def _cut(part: ToolReturnPart[Any]) -> ToolReturnPart[Any]:
    return replace(part, content=cut(part.content, RESULT_LIMIT)) if isinstance(part.content, str) else part


def turns(messages: Iterable[ModelMessage]) -> list[list[ModelMessage]]:
    """The messages by turn: each begins with what the user said, so that no call is parted from its result."""
    found: list[list[ModelMessage]] = []
    for message in messages:
        begins = isinstance(message, ModelRequest) and any(isinstance(part, UserPromptPart) for part in message.parts)
        if begins or not found:
            found.append([])
        found[-1].append(message)
    return found


def whole_turns(messages: Iterable[ModelMessage]) -> list[ModelMessage]:
    """The messages of those turns that came to their end: from what the user said to an answer."""
    return [message for turn in turns(messages) if _is_whole(turn) for message in turn]


def _is_whole(turn: Sequence[ModelMessage]) -> bool:
    first, last = turn[0], turn[-1]
    asked = {part.tool_call_id for message in turn for part in message.parts if isinstance(part, ToolCallPart)}
    replies = [part for message in turn[1:] if isinstance(message, ModelRequest) for part in message.parts]
    answered = {part.tool_call_id for part in replies if isinstance(part, (ToolReturnPart, RetryPromptPart))}
    begins = any(isinstance(part, UserPromptPart) for part in first.parts)
    ends = isinstance(last, ModelResponse) and not any(isinstance(part, ToolCallPart) for part in last.parts)
    return begins and ends and asked <= answered


async def fitted(
    messages: Sequence[ModelMessage], budget: int, summarise: Callable[[str], Awaitable[str]] | None
) -> list[ModelMessage]:
    """The messages within a budget of tokens: the first exchange, what became of the middle, and the last turns."""
    messages = trimmed(messages)
    if tokens(messages) <= budget:
        return messages
    first, *rest = turns(messages)
    kept = len(rest)
    while kept > 1 and tokens(first) + sum(map(tokens, rest[-kept:])) > (budget // 2 if kept > KEPT_TURNS else budget):
        kept -= 1
    dropped = [message for turn in rest[: len(rest) - kept] for message in turn]
    if not dropped:
        return messages
    summary = await summarise(cut(as_text(dropped), budget * CHARACTERS_A_TOKEN)) if summarise else ""
    bridge: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart(content=f"{SUMMED_UP}\n{summary}" if summary else DROPPED)]),
        ModelResponse(parts=[TextPart(content="Understood.")]),
    ]
    return [*first, *bridge, *(message for turn in rest[len(rest) - kept :] for message in turn)]


def as_text(messages: Iterable[ModelMessage]) -> str:
    """What was said, in plain text: for a summary, and for people."""
    lines = []
    for message in messages:
        for part in message.parts:
            match part:
                case UserPromptPart():
                    lines.append(f"User: {said(part)}")
                case TextPart(content=content) if content.strip():
                    lines.append(f"Co: {content.strip()}")
                case ToolCallPart():
                    lines.append(f"[{part.tool_name}: {cut(part.args_as_json_str(), RESULT_LIMIT)}]")
                case ToolReturnPart():
                    lines.append(f"[{part.tool_name} returned: {cut(str(part.content), RESULT_LIMIT)}]")
    return "\n\n".join(lines)


def said(part: UserPromptPart) -> str:
    """What the user said, without what was offered to the model beside it."""
    return part.content if isinstance(part.content, str) else str(next(iter(part.content), ""))
