"""One question to a model, beside any chat: a single request, with a schema for the answer, within the cap of the day.

Owns that request, what it may take, and that what it took is written down. What is asked, and what is believed of the
answer, is for those who ask.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic_ai import Agent
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import UsageLimits

from co_cli.agent.failures import explained
from co_cli.agent.history import CHARACTERS_A_TOKEN
from co_cli.agent.providers import open_model
from co_cli.learning import spending

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_ai.models import Model

    from co_cli.agent.providers import Choice
    from co_cli.knowledge import KnowledgeBase


@dataclass(frozen=True, slots=True)
class Errand:
    """What is asked each time, whatever is said with it."""

    instructions: str
    form: type[BaseModel]
    """The schema of the answer."""
    answer: int
    """Tokens of the answer at most."""
    overhead: int
    """Tokens of instructions and schema, with room to spare."""


def run(errand: Errand, kb: KnowledgeBase, choice: Choice, model: Model | None, said: str) -> BaseModel | None:
    """Ask, outside of an event loop; ``None`` where the answer has not the form that was asked for.

    Raises a ``CoError`` where the cap of the day stands in the way, or the model cannot be reached.
    """
    tokens = len(said) // CHARACTERS_A_TOKEN + errand.overhead + errand.answer
    number = spending.reserve(kb, choice.label, tokens)
    return asyncio.run(_asked(errand, kb, choice, model, said, number))


async def _asked(
    errand: Errand, kb: KnowledgeBase, choice: Choice, model: Model | None, said: str, number: int
) -> BaseModel | None:
    try:
        async with model or open_model(choice, kb) as opened:
            agent = Agent(opened, instructions=errand.instructions, output_type=errand.form, retries=0)
            bounds = UsageLimits(request_limit=1)
            result = await agent.run(said, model_settings=ModelSettings(max_tokens=errand.answer), usage_limits=bounds)
    except UnexpectedModelBehavior:
        return None  # it answered, but not in the form that was asked for; what it took stays put aside
    except Exception as error:
        raise explained(error, choice) from error
    spending.settle(kb, number, result.usage.input_tokens + result.usage.output_tokens)
    return result.output
