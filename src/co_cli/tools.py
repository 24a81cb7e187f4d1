"""The tools of agents: what each is called, what it takes, and what comes back.

Owns the table of tools, the checks of what a model hands over, and the words in which a result is told. Chat, MCP and HTTP
only pass calls on to here. Every call is logged, and the model is told nothing of it. Knows nothing of models, protocols or
approvals: `writes` says which tools change something.

A result is a mapping: ``display`` for people, and the data beside it.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import CoError, Denied, Invalid, NotFound
from co_cli.knowledge import GLOBAL
from co_cli.survey import ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from co_cli.knowledge import KnowledgeBase, Note

    Result = dict[str, object]

ENTRIES = 5
"""Entries that a search returns at most."""


class Caller(NamedTuple):
    """Who calls a tool."""

    surface: str = "python"
    """``chat``, ``mcp``, ``http`` or ``python``: what the log calls it."""
    private: bool = False
    """Whether private notes may come back: only to one that hands them to nobody on another machine."""
    source: str = "user"
    """The source of topics that it writes: ``user``, or ``api``."""


class Parameter(NamedTuple):
    """One thing that a tool takes."""

    meaning: str
    tags: bool = False
    """Whether it is a list of tags, or the same as one text with commas; else it is a text."""
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
    run: Callable[[KnowledgeBase, Mapping[str, str | list[str]], Caller], Answer]
    writes: bool = False
    """Whether it changes something, so that a person has to be asked."""

    def schema(self) -> dict[str, object]:
        """What it takes, as a JSON schema."""
        properties: dict[str, object] = {}
        for name, parameter in self.parameters.items():
            kind: dict[str, object] = {"type": "string"}
            if parameter.tags:
                kind = {"type": ["string", "array"], "items": {"type": "string"}}
            properties[name] = {**kind, "description": parameter.meaning}
        required = [name for name, parameter in self.parameters.items() if parameter.required]
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


# ---------------------------------------------------------------------------------------------------------------- calling


def call(kb: KnowledgeBase, name: str, arguments: object, caller: Caller = Caller()) -> Result:  # noqa: B008 - it is immutable
    """Call a tool by its name with what a model handed over; raises a ``CoError`` for what makes no sense."""
    tool = TOOLS.get(name)
    if tool is None:
        raise NotFound(f"There is no tool {name!r}.", f"Tools: {', '.join(TOOLS)}.")
    started = time.perf_counter()
    outcome = "interrupted"
    notes: tuple[Note, ...] = ()
    try:
        answer = tool.run(kb, _checked(tool, arguments), caller)
        outcome, notes = "ok", answer.notes
        return answer.result
    except CoError as error:
        outcome = error.kind
        raise
    except Exception:
        outcome = "failed"
        raise
    finally:
        seconds = time.perf_counter() - started
        notice = kb.log_call(ToolCall(name, caller.surface, seconds, outcome, notes, _as_text(arguments)))
        if notice:
            print(f"warning: {notice}", file=sys.stderr)  # noqa: T201 - said once; the model must not be told


def knowledge_search(kb: KnowledgeBase, query: object, caller: Caller = Caller()) -> Result:  # noqa: B008
    """Search the shared topics by words and meaning: up to 5 entries with their full content, the best first."""
    return call(kb, "knowledge_search", {"query": query}, caller)


def knowledge_write(
    kb: KnowledgeBase,
    topic: object,
    content: object,
    tags: object = None,
    caller: Caller = Caller(),  # noqa: B008
) -> Result:
    """Write a shared topic, new or in place of its old text."""
    given = {"topic": topic, "content": content, "tags": tags}
    return call(kb, "knowledge_write", {name: value for name, value in given.items() if value is not None}, caller)


def knowledge_list(kb: KnowledgeBase, caller: Caller = Caller()) -> Result:  # noqa: B008
    """List the shared topics with their tags and sources."""
    return call(kb, "knowledge_list", {}, caller)


def knowledge_delete(kb: KnowledgeBase, topic: object, caller: Caller = Caller()) -> Result:  # noqa: B008
    """Remove a shared topic."""
    return call(kb, "knowledge_delete", {"topic": topic}, caller)


def _checked(tool: Tool, arguments: object) -> dict[str, str | list[str]]:
    """What a model handed over, if it is what the tool takes."""
    if not isinstance(arguments, dict):
        raise Invalid(f"{tool.name} takes an object with names and values, not {_kind(arguments)}.", _usage(tool))
    checked: dict[str, str | list[str]] = {}
    for name, value in arguments.items():
        parameter = tool.parameters.get(name)
        if parameter is None:
            raise Invalid(f"{tool.name} takes no {name!r}.", _usage(tool))
        if value is None and not parameter.required:
            continue
        is_list = parameter.tags and isinstance(value, list) and all(isinstance(item, str) for item in value)
        if is_list or isinstance(value, str):
            checked[name] = value
        else:
            wanted = "a text or a list of texts" if parameter.tags else "a text"
            raise Invalid(f"{name} must be {wanted}, not {_kind(value)}.", _usage(tool))
    for name, parameter in tool.parameters.items():
        if parameter.required and name not in checked:
            raise Invalid(f"{tool.name} needs {name}: {parameter.meaning}.", _usage(tool))
    return checked


_KINDS = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list", dict: "an object"}


def _kind(value: object) -> str:
    return "nothing" if value is None else _KINDS.get(type(value), type(value).__name__)


def _usage(tool: Tool) -> str:
    return f"It takes {', '.join(tool.parameters)}." if tool.parameters else "It takes nothing."


def _as_text(arguments: object) -> str:
    """What the log may get of the arguments: their beginnings, by far long enough to see a secret that begins there."""
    import json

    if not isinstance(arguments, dict):
        return ""
    texts = {str(name): value[:_LOGGED] if isinstance(value, (str, list)) else "" for name, value in arguments.items()}
    return json.dumps(texts, ensure_ascii=False, default=str)


# -------------------------------------------------------------------------------------------------------------- the tools


def _search(kb: KnowledgeBase, given: Mapping[str, str | list[str]], caller: Caller) -> Answer:
    query = str(given["query"])
    if not query.strip():
        raise Invalid("The query is empty.", "Say in a few words what to look for; knowledge_list lists everything.")
    found = kb.search_topics(query, limit=ENTRIES if caller.private else 4 * ENTRIES)
    hits = [hit for hit in found.hits if caller.private or not hit.note.private][:ENTRIES]
    notes = tuple(hit.note for hit in hits)
    asked = query if len(query) <= _SHOWN else f"{query[:_SHOWN]}…"
    display = f"No knowledge entries found for {asked!r}."
    if notes:
        entries = "\n\n".join(f"### {name_of(note, notes)}{_bracketed(note)}\n\n{note.body}" for note in notes)
        display = f"{_counted(len(notes))} for {asked!r}:\n\n{entries}"
    results = [{**_entry(hit.note), "content": hit.note.body, "score": hit.score} for hit in hits]
    return Answer(
        {
            "display": display,
            "query": query,
            "count": len(notes),
            "mode": found.mode,
            "degraded": [*found.degraded],
            "results": results,
        },
        notes,
    )


def _write(kb: KnowledgeBase, given: Mapping[str, str | list[str]], caller: Caller) -> Answer:
    name, content = str(given["topic"]), str(given["content"])
    if not caller.private:
        _refuse_private(kb, name)
    saved = kb.write_topic(name, content, tags=given.get("tags"), source=caller.source)
    note = saved.note
    display = {
        "created": f"✓ Created topic {note.slug}{_bracketed(note)}",
        "updated": f"✓ Updated topic {note.slug}{_bracketed(note)}; `co undo` brings its old text back.",
        "unchanged": f"Topic {note.slug} says this already: nothing was changed.",
    }[saved.outcome]
    return Answer({"display": display, "outcome": saved.outcome, **_entry(note), "path": note.path}, (note,))


def _refuse_private(kb: KnowledgeBase, name: str) -> None:
    try:
        note = kb.topic(name)
    except NotFound:
        return
    if note.private:
        raise Denied(f"The topic {note.slug} is private: it is not for this caller.", "Choose another name.")


def _list(kb: KnowledgeBase, _given: Mapping[str, str | list[str]], caller: Caller) -> Answer:
    listing = kb.topics()
    notes = tuple(note for note in listing.notes if caller.private or not note.private)
    return Answer({"display": table(notes), "count": len(notes), "topics": [_entry(note) for note in notes]})


def _delete(kb: KnowledgeBase, given: Mapping[str, str | list[str]], caller: Caller) -> Answer:
    name = str(given["topic"])
    note = kb.topic(name)
    if note.private and not caller.private:
        raise NotFound(f"There is no topic {name}.", "knowledge_list lists what there is.")
    gone = kb.delete_topic(note.ref)
    return Answer(
        {"display": f"✓ Deleted topic {gone.slug}; `co undo` brings it back.", "topic": gone.slug, "ref": gone.ref}
    )


def table(notes: Iterable[Note]) -> str:
    """Topics as a table, as an agent gets it."""
    notes = tuple(notes)
    if not notes:
        return "0 knowledge entries."
    rows = [(name_of(note, notes), ",".join(note.tags), note.source or "user") for note in notes]
    lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join([f"{_counted(len(notes))}:", "", "| Topic | Tags | Source |", "|-------|------|--------|", *lines])


def name_of(note: Note, among: Iterable[Note]) -> str:
    """The name by which a topic is shown and found: its slug; one for all projects says so where the project has its own."""
    twice = note.vault == GLOBAL and any(other.slug == note.slug and other.vault != GLOBAL for other in among)
    return f"g:{note.slug}" if twice else note.slug


def _bracketed(note: Note) -> str:
    return f" [{','.join(note.tags)}]" if note.tags else ""


def _entry(note: Note) -> dict[str, object]:
    return {
        "topic": note.slug,
        "ref": note.ref,
        "tags": [*note.tags],
        "source": note.source,
        "created": note.created,
        "updated": note.updated,
    }


def _counted(count: int) -> str:
    return f"{count} knowledge {'entry' if count == 1 else 'entries'}"


_SHOWN, _LOGGED = 80, 2000
_TOPIC = Parameter("name of the topic, such as deploy_steps")

TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "knowledge_search",
            "Search the shared topics by words and meaning. Returns up to 5 entries with their full content, best first.",
            {"query": Parameter("words to look for")},
            _search,
        ),
        Tool(
            "knowledge_write",
            "Create a shared topic, or replace the text of the one that is there. Write a whole document in Markdown.",
            {
                "topic": _TOPIC,
                "content": Parameter("the whole text, in Markdown"),
                "tags": Parameter("tags, as a list or as a text with commas", tags=True, required=False),
            },
            _write,
            writes=True,
        ),
        Tool("knowledge_list", "List all shared topics with their tags and sources.", {}, _list),
        Tool("knowledge_delete", "Remove a shared topic.", {"topic": _TOPIC}, _delete, writes=True),
    )
}
