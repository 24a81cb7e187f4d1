"""What a model is given from the memory without having asked: the notes that fit what the user said, within a budget.

Owns which notes those are, and the form in which they come. Knows nothing of models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from co_cli import tools
from co_cli.agent.history import CHARACTERS_A_TOKEN
from co_cli.errors import CoError
from co_cli.knowledge import ARTICLE, MEMORY, TOPIC

if TYPE_CHECKING:
    from collections.abc import Iterable

    from co_cli.knowledge import Hit, KnowledgeBase

_LOOKED_AT = 20
"""Hits that are looked at, of which some may be private, pinned, or too long."""
_MOST = 5
_FAR_BEHIND = 0.5
"""The share of the best score below which a note has too little to do with what was said."""
_BLOCK = "<system-reminder>\n## Notes That May Matter\n\n{lines}\n</system-reminder>"


def offer(kb: KnowledgeBase, text: str, budget: int, *, private: bool) -> tuple[str, tuple[Hit, ...]]:
    """The notes that fit a text, as a block for the prompt, in at most so many tokens; empty where none does."""
    if not budget or not text.strip():
        return "", ()
    try:
        hits = kb.recall(text, limit=_LOOKED_AT, kinds=(MEMORY, TOPIC, ARTICLE)).hits
    except CoError:  # it was not asked for, so it may be missing
        return "", ()
    chosen: list[Hit] = []
    lines: list[str] = []
    room = budget * CHARACTERS_A_TOKEN - len(_BLOCK)
    for hit in _worth_it(hits, private=private):
        doubts = f" (may be out of date: {'; '.join(hit.stale)})" if hit.stale else ""
        line = f"- [{hit.cite}] {' '.join(hit.content.split())}{doubts}"
        if len(chosen) < _MOST and len(line) < room:
            room -= len(line) + 1
            chosen.append(hit)
            lines.append(line)
    return _BLOCK.format(lines=tools.told({"display": "\n".join(lines)})) if lines else "", tuple(chosen)


def _worth_it(hits: Iterable[Hit], *, private: bool) -> list[Hit]:
    """Those that may go to the model, are not in its prompt anyway, and come near the best."""
    allowed = [hit for hit in hits if not hit.note.pinned and (private or not hit.note.private)]
    best = max((hit.score for hit in allowed), default=0)
    return [hit for hit in allowed if hit.score >= _FAR_BEHIND * best]
