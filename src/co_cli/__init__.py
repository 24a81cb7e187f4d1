"""co: long-term knowledge and memory for people and their AI agents, in plain Markdown files.

    from co_cli import open_knowledge

    kb = open_knowledge()
    kb.save("We deploy on Fridays", tags=["deploy"])
    kb.recall("deploy").hits[0].note.body

The names below are the Python API; everything is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from co_cli.errors import CoError, Conflict, Corrupt, Denied, Invalid, NotFound, Unavailable
    from co_cli.knowledge import Hit, KnowledgeBase, Note, Problem, Recalled, Saved, open_knowledge

__version__ = "0.1.0"

__all__ = [
    "CoError",
    "Conflict",
    "Corrupt",
    "Denied",
    "Hit",
    "Invalid",
    "KnowledgeBase",
    "NotFound",
    "Note",
    "Problem",
    "Recalled",
    "Saved",
    "Unavailable",
    "__version__",
    "open_knowledge",
]

_ERRORS = ("CoError", "Conflict", "Corrupt", "Denied", "Invalid", "NotFound", "Unavailable")


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module("co_cli.errors" if name in _ERRORS else "co_cli.knowledge"), name)
    globals()[name] = value
    return value
