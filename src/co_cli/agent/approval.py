"""Asking before anything is written: what would be written and where, and what a person says to it.

Owns the proposal, made by rehearsing the call on the real notes, and the answers. Knows nothing of how it is shown.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from co_cli import tools
from co_cli.errors import CoError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from co_cli.knowledge import FileChange, KnowledgeBase

Verdict = Literal["yes", "no", "always"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A call that waits for a yes: the tool, what it was given, and what would become of which files."""

    tool: str
    arguments: Mapping[str, object]
    changes: tuple[FileChange, ...] = ()
    problem: str = ""
    """Why the call would fail as it stands."""

    @property
    def text(self) -> str:
        """The files as they would be: a new one with its header, a changed one as a difference."""
        if self.problem:
            return self.problem
        return "\n\n".join(map(_shown, self.changes)) or "Nothing would be changed."


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person said to a proposal."""

    verdict: Verdict
    reason: str = ""
    """Why not, for the model."""
    arguments: Mapping[str, object] | None = None
    """What the call is to be given instead, where the person has edited it."""


@dataclass(slots=True)
class Approvals:
    """What has been allowed for the rest of the session, and whether to ask at all."""

    everything: bool = False
    allowed: set[str] = field(default_factory=set)

    def covers(self, tool: str) -> bool:
        """Whether a tool need not be asked about any more."""
        return self.everything or tool in self.allowed


def propose(kb: KnowledgeBase, tool: str, arguments: Mapping[str, object], caller: tools.Caller) -> Proposal:
    """Rehearse a call: nothing is written, and what would be is told."""
    try:
        changes = kb.rehearse(lambda rehearsal: tools.run(rehearsal, tool, dict(arguments), caller))
    except CoError as error:
        return Proposal(tool, arguments, problem=f"{error.message} {error.hint}".strip())
    return Proposal(tool, arguments, changes)


def _shown(change: FileChange) -> str:
    before, after = _lines(change.before), _lines(change.after)
    if change.before is None:
        return "\n".join([f"new file {change.path}", *after])
    if change.after is None:
        return "\n".join([f"remove {change.path}", *(f"-{line}" for line in before)])
    difference = difflib.unified_diff(before, after, "as it is", "as it would be", lineterm="")
    return "\n".join([f"change {change.path}", *difference])


def _lines(raw: bytes | None) -> list[str]:
    return [] if raw is None else raw.decode("utf-8", "replace").splitlines()
