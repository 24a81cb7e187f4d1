"""What every way of showing a chat can do, on a terminal and off it.

Owns that protocol, and the words that all ways share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from co_cli.agent.audience import Audience, Spent

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def spent_line(choice: Choice, spent: Spent) -> str:
    """The model, and what a chat has taken so far."""
    if not spent.input_tokens:
        return choice.label
    price = "price unknown" if spent.cost is None else f"${spent.cost:.4f}" if spent.cost else "no cost"
    return f"{choice.label} · {spent.input_tokens:,} tokens in, {spent.output_tokens:,} out · {price}"
