"""Who follows a chat: is told what happens, and asked before anything is written.

Owns the protocol between a session and whatever shows it, and the records that pass between them. Knows neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from co_cli.agent.approval import Proposal

OFFERED = "offered"
"""How a note came before the model that it did not ask for."""
Verdict = Literal["yes", "no", "edit", "always"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person said to a proposal."""

    verdict: Verdict
    reason: str = ""
    """Why not, for the model."""
    content: str = ""
    """The text in the words of the person, who is shown then what would become of it."""


class Spent(NamedTuple):
    """What a chat has taken so far."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0
    """In US dollars; ``None`` where the price is not known."""


class Audience(Protocol):
    """Who follows a turn."""

    def text(self, delta: str) -> None:
        """A piece of the answer."""

    def called(self, tool: str, arguments: Mapping[str, object]) -> None:
        """A tool begins to work."""

    def answered(self, tool: str, display: str, seconds: float, *, done: bool) -> None:
        """A tool has ended; ``seconds`` is what it took, without the time in which a person was asked."""

    def notice(self, text: str) -> None:
        """Something that people should know."""

    async def decide(self, proposal: Proposal) -> Decision:
        """Whether a tool may write, or fetch."""
