"""What every way of showing a chat can do, on a terminal and off it.

Owns that protocol, and the words that all ways share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from co_cli.agent.audience import Audience

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_ai.usage import RunUsage

    from co_cli.agent.providers import Choice
    from co_cli.errors import CoError

_SHOWN = 60


class Voice(Audience, Protocol):
    """A way of showing a chat."""

    def show(self, text: str) -> None:
        """What a command of the chat has to say."""

    def failed(self, error: CoError) -> None:
        """What went wrong, and what to do next."""

    async def confirm(self, question: str, text: str) -> bool:
        """Whether to do what is shown."""


def call_line(tool: str, arguments: Mapping[str, object]) -> str:
    """A call in a line: the tool, and the beginning of what it is given."""
    first = " ".join(str(next(iter(arguments.values()), "")).split())
    return f"{tool} {first[:_SHOWN]}{'…' if len(first) > _SHOWN else ''}".rstrip()


def usage_line(choice: Choice, usage: RunUsage | None) -> str:
    """What a chat has taken so far: tokens, and their price where it is known."""
    if not choice.window or choice.provider == "offline":
        return f"{choice.label} · no tokens, no cost"
    if usage is None or not usage.has_values():
        return choice.label
    price = f"${usage.cost:.4f}" if usage.cost is not None else "price unknown"
    if choice.provider == "ollama":
        price = "no cost"
    return f"{choice.label} · {usage.input_tokens:,} tokens in, {usage.output_tokens:,} out · {price}"
