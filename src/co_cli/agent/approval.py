"""Asking before anything is written or fetched: what, and where, and what was allowed once and for all.

Owns the proposal, made by rehearsing the call on the real notes. Knows nothing of how it is shown.
"""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from co_cli import tools

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from co_cli.knowledge import FileChange, KnowledgeBase

_EDITABLE = "content"
"""The argument that a person may put into other words."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A call that waits for a yes: the tool, what it was given, and what would become of which files."""

    tool: str
    arguments: Mapping[str, object]
    changes: tuple[FileChange, ...] = ()
    request: str = ""
    """What would be asked of another machine, where nothing would be written."""

    @property
    def text(self) -> str:
        """What would be asked of another machine, or the files as they would be: a changed one as a difference."""
        return self.request or shown(self.changes)

    @property
    def content(self) -> str:
        """The text that a person may edit first; empty where there is none."""
        content = self.arguments.get(_EDITABLE)
        return content if isinstance(content, str) else ""

    def with_content(self, content: str) -> Mapping[str, object]:
        """The arguments with the text in other words."""
        return {**self.arguments, _EDITABLE: content}

    def is_of_the_same_files(self, other: Proposal) -> bool:
        """Whether both would change the same files, which were not changed in between."""
        return [change[:2] for change in self.changes] == [change[:2] for change in other.changes]


@dataclass(slots=True)
class Approvals:
    """What has been allowed for the rest of the session, and whether to ask at all."""

    everything: bool = False
    allowed: set[str] = field(default_factory=set)

    def covers(self, tool: str) -> bool:
        """Whether a tool need not be asked about any more."""
        return self.everything or tool in self.allowed


def propose(kb: KnowledgeBase, tool: str, arguments: Mapping[str, object], caller: tools.Caller) -> Proposal:
    """Rehearse a call: nothing is written or fetched, and what would be is told; raises what the call would raise."""
    request = tools.question(tool, dict(arguments))
    if request:
        return Proposal(tool, arguments, request=request)
    return Proposal(tool, arguments, kb.rehearse(lambda rehearsal: tools.run(rehearsal, tool, dict(arguments), caller)))


def shown(changes: Iterable[FileChange]) -> str:
    """What would become of files, in a form that shows every line."""
    changes = tuple(changes)
    leaving = [change for change in changes if change.after is None]
    moved: dict[FileChange, FileChange] = {}
    for change in changes:
        if change.before is None:
            from_ = next((each for each in leaving if _is_move(each, change)), None)
            if from_:
                leaving.remove(from_)
                moved[change] = from_
    left = moved.values()
    parts = [
        _moved(moved[change], change) if change in moved else _shown(change) for change in changes if change not in left
    ]
    return "\n\n".join(parts) or "Nothing would be changed."


def _is_move(leaving: FileChange, coming: FileChange) -> bool:
    """Whether a file only goes elsewhere: as it is, or under its old name, such as into the archive."""
    return leaving.before == coming.after or os.path.basename(leaving.path) == os.path.basename(coming.path)


def _moved(leaving: FileChange, coming: FileChange) -> str:
    head = [f"move {leaving.path}", f"to {coming.path}"]
    if leaving.before == coming.after:
        return "\n".join([*head, *(f" {line}" for line in _lines(coming.path, coming.after))])
    before, after = _lines(leaving.path, leaving.before), _lines(coming.path, coming.after)
    difference = difflib.unified_diff(before, after, lineterm="")
    return "\n".join([*head, *list(difference)[2:]])


def _shown(change: FileChange) -> str:
    before, after = _lines(change.path, change.before), _lines(change.path, change.after)
    if change.before is None:
        return "\n".join([f"new file {change.path}", *(f"+{line}" for line in after)])
    if change.after is None:
        return "\n".join([f"remove {change.path}", *(f"-{line}" for line in before)])
    difference = difflib.unified_diff(before, after, lineterm="")
    return "\n".join([f"change {change.path}", *list(difference)[2:]])


def _lines(path: str, raw: bytes | None) -> list[str]:
    """The lines of a file; of an original that was taken in, such as a PDF, its size says enough."""
    if raw is None:
        return []
    if not path.endswith((".md", ".gitignore")):
        return [f"({len(raw):,} bytes)"]
    return raw.decode("utf-8", "replace").splitlines()
