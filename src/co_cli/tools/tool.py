"""What a tool of an agent is: its name, what it takes, what comes back, and whether it changes something.

Owns the records and the checks of what a model hands over. Knows no tool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import Invalid, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from co_cli.knowledge import KnowledgeBase, Note

    Result = dict[str, object]
    Value = str | int | bool | list[str]
    Given = Mapping[str, Value]

TEXT, TAGS, NUMBER, FLAG = "a text", "a text or a list of texts", "a whole number", "true or false"
"""What a parameter may be."""
_SCHEMAS: dict[str, dict[str, object]] = {
    TEXT: {"type": "string"},
    TAGS: {"type": ["string", "array"], "items": {"type": "string"}},
    NUMBER: {"type": "integer"},
    FLAG: {"type": "boolean"},
}
_KINDS = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list", dict: "an object"}


class Caller(NamedTuple):
    """Who calls a tool."""

    surface: str = "python"
    """``chat``, ``mcp``, ``http`` or ``python``: what the log calls it."""
    private: bool = False
    """Whether private notes may come back: only to one that hands them to nobody on another machine."""
    source: str = "user"
    """The source of topics that it writes: ``user``, or ``api``."""
    memory_source: str = "user-told"
    """The source of the memories that it writes."""
    session: str = ""
    """Who it is among those of its surface: the name of a client."""


class Parameter(NamedTuple):
    """One thing that a tool takes."""

    meaning: str
    kind: str = TEXT
    required: bool = True


class Answer(NamedTuple):
    """What a tool returns, and which notes came back with it."""

    result: Result
    notes: tuple[Note, ...] = ()


class Tool(NamedTuple):
    """One tool."""

    name: str
    meaning: str
    parameters: Mapping[str, Parameter]
    run: Callable[[KnowledgeBase, Given, Caller], Answer]
    writes: bool = False
    """Whether it changes something, so that a person has to be asked."""
    destructive: bool = False
    """Whether something that is there may be gone or replaced afterwards; `co undo` brings it back."""
    idempotent: bool = False
    """Whether the same call once more would change nothing more."""
    network: bool = False
    """Whether it asks another machine for something, so that a person has to be asked."""
    extra: str = ""
    """The extra of the package that it cannot work without."""
    asks: Callable[[Given], str] | None = None
    """What a person is asked about where nothing would be written: the one thing that it is about to do."""

    def schema(self) -> dict[str, object]:
        """What it takes, as a JSON schema."""
        properties: dict[str, object] = {}
        for name, parameter in self.parameters.items():
            properties[name] = {**_SCHEMAS[parameter.kind], "description": parameter.meaning}
        required = [name for name, parameter in self.parameters.items() if parameter.required]
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def checked(tool: Tool, arguments: object) -> dict[str, Value]:
    """What a model handed over, if it is what the tool takes."""
    if not isinstance(arguments, dict):
        raise Invalid(f"{tool.name} takes an object with names and values, not {_kind(arguments)}.", _usage(tool))
    taken: dict[str, Value] = {}
    for name, value in arguments.items():
        parameter = tool.parameters.get(name)
        if parameter is None:
            raise Invalid(f"{tool.name} takes no {name!r}.", _usage(tool))
        if value is None and not parameter.required:
            continue
        if not _fits(parameter.kind, value):
            raise Invalid(f"{name} must be {parameter.kind}, not {_kind(value)}.", _usage(tool))
        taken[name] = value
    for name, parameter in tool.parameters.items():
        if parameter.required and name not in taken:
            raise Invalid(f"{tool.name} needs {name}: {parameter.meaning}.", _usage(tool))
    return taken


def tags_of(given: Given) -> str | list[str] | None:
    """The tags that were handed over."""
    tags = given.get("tags")
    return tags if isinstance(tags, (str, list)) else None


def meant(kb: KnowledgeBase, query: str, kinds: tuple[str, ...]) -> Note | None:
    """The note that a query names by its ref, if it is one of these kinds; a number may be a word like any other."""
    try:
        note = kb.get(query) if kb.ref(query) else None
    except NotFound:
        return None
    return note if note and note.kind in kinds else None


def marks(note: Note) -> dict[str, object]:
    """What marks the data of a private note, so that those who pass it on know."""
    return {"private": True} if note.private else {}


def _fits(kind: str, value: object) -> bool:
    if kind == NUMBER:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == FLAG:
        return isinstance(value, bool)
    is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return isinstance(value, str) or (kind == TAGS and is_list)


def _kind(value: object) -> str:
    return "nothing" if value is None else _KINDS.get(type(value), type(value).__name__)


def _usage(tool: Tool) -> str:
    return f"It takes {', '.join(tool.parameters)}." if tool.parameters else "It takes nothing."
