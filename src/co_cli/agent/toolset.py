"""The memory's tools as a model gets them: a write is rehearsed, it or a fetch is asked about, then done; all is logged.

Owns the way of one call, from what a model hands over to what it is told, and what came of the calls of one turn. Knows
nothing of models.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic_ai import ToolReturn
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets.abstract import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from co_cli import tools
from co_cli.agent.approval import propose
from co_cli.agent.history import cut
from co_cli.errors import CoError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_ai import RunContext

    from co_cli.agent.approval import Approvals, Proposal
    from co_cli.agent.audience import Audience
    from co_cli.knowledge import KnowledgeBase

RETRIES = 2
"""How often a model may call a tool with what is no JSON object before the turn is given up."""
_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema()))
"""What is handed over must be an object; what must be in it, the tools check themselves, in words that help."""


@dataclass(frozen=True, slots=True)
class Offered:
    """A note that came before the model, and why."""

    ref: str
    title: str
    why: str
    by: str
    """The tool that found it, or ``OFFERED`` where it was put there without being asked for."""


class _Refused(Exception):
    """A person said no."""


class MemoryTools(AbstractToolset[None]):
    """The tools, for one turn."""

    def __init__(
        self, kb: KnowledgeBase, caller: tools.Caller, approvals: Approvals, audience: Audience, limit: int
    ) -> None:
        self._kb = kb
        self._caller = caller
        self._approvals = approvals
        self._audience = audience
        self._limit = limit
        self.written: list[str] = []
        """What was written, as people were told."""
        self.found: list[Offered] = []
        self.private = False
        """Whether anything of a private note came back."""

    @property
    def id(self) -> str:
        """Its name in traces."""
        return "memory"

    async def get_tools(self, ctx: RunContext[None]) -> dict[str, ToolsetTool[None]]:
        """All of them, at any time; they run one after the other, each on what the one before it left."""
        del ctx
        return {
            tool.name: ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(
                    name=tool.name, description=tool.meaning, parameters_json_schema=tool.schema(), sequential=True
                ),
                max_retries=RETRIES,
                args_validator=_OBJECT,
            )
            for tool in tools.TOOLS.values()
        }

    async def call_tool(
        self, name: str, tool_args: Mapping[str, object], ctx: RunContext[None], tool: ToolsetTool[None]
    ) -> ToolReturn[str]:
        """Call one; what a person refuses is a result like any other, what goes wrong is one that failed."""
        del ctx, tool
        self._audience.called(name, tool_args)
        started = time.monotonic()
        try:
            known = tools.known_tool(name)
            if known.writes or known.network:
                tool_args = await self._allowed(name, tool_args)
                started = time.monotonic()
            if known.writes:
                result = await self._written(name, tool_args)
            else:
                result = await asyncio.to_thread(tools.call, self._kb, name, tool_args, self._caller)
        except _Refused as refused:
            display = f"Nothing was {'written' if tools.known_tool(name).writes else 'fetched'}. {refused}".strip()
            await asyncio.to_thread(tools.refused, self._kb, name, tool_args, self._caller)
            self._audience.answered(name, display, 0, done=False)
            return ToolReturn(display, metadata={"display": display})
        except CoError as error:
            display = f"{error.message} {error.hint}".strip()
            self._audience.answered(name, display, time.monotonic() - started, done=False)
            raise ToolFailed(display) from error
        self._look_at(name, result)
        self._audience.answered(name, str(result.get("display", "")), time.monotonic() - started, done=True)
        return ToolReturn(cut(tools.told(result), self._limit), metadata=result)

    async def _allowed(self, name: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
        """What the tool may be called with; raises ``_Refused`` where a person says no."""
        if self._approvals.covers(name):
            return arguments
        proposal = await self._rehearsed(name, arguments)
        while True:
            decision = await self._audience.decide(proposal)
            if decision.verdict == "no":
                raise _Refused(decision.reason or "The user does not want it.")
            if decision.verdict == "edit":
                try:
                    proposal = await self._rehearsed(name, proposal.with_content(decision.content))
                except CoError as error:  # in these words it cannot be kept
                    self._audience.notice(f"{error.message} {error.hint}".strip())
                continue
            now = await self._rehearsed(name, proposal.arguments)
            if now.is_of_the_same_files(proposal):
                if decision.verdict == "always":
                    self._approvals.allowed.add(name)
                return proposal.arguments
            self._audience.notice("The files have changed while you were asked: please look again.")
            proposal = now

    async def _rehearsed(self, name: str, arguments: Mapping[str, object]) -> Proposal:
        return await asyncio.to_thread(propose, self._kb, name, arguments, self._caller)

    async def _written(self, name: str, arguments: Mapping[str, object]) -> dict[str, object]:
        """Do it; once begun, it is finished also where the turn is interrupted, and people are told."""
        work = asyncio.ensure_future(asyncio.to_thread(tools.call, self._kb, name, arguments, self._caller))
        try:
            result = await asyncio.shield(work)
        except asyncio.CancelledError:
            with suppress(CoError):
                self.written.append(str((await work)["display"]))
            raise
        self.written.append(str(result.get("display", "")))
        return result

    def _look_at(self, name: str, result: dict[str, object]) -> None:
        self.private = self.private or tools.holds_private(result)
        results = result.get("results")
        for entry in results if isinstance(results, list) else ():
            title = str(entry.get("content", "")).strip().partition("\n")[0]
            self.found.append(Offered(str(entry.get("cite", entry["ref"])), title, str(entry.get("why", "")), name))
