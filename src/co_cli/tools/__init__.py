"""The tools of agents: what each is called, what it takes, and what comes back.

Owns the table of tools, and calling them. Chat, MCP and HTTP only pass calls on to here. Every call is logged, and the model
is told nothing of it. Knows nothing of models, protocols or approvals: `writes` says which tools change something.

A result is a mapping: ``display`` for people, and the data beside it.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from co_cli.context import neutralise
from co_cli.errors import DENIED, CoError, NotFound
from co_cli.survey import ToolCall
from co_cli.tools.articles import ARTICLE_TOOLS
from co_cli.tools.memories import MEMORY_TOOLS
from co_cli.tools.tool import Answer, Caller, Tool, checked
from co_cli.tools.topics import ENTRIES, TOPIC_TOOLS, name_of, table

if TYPE_CHECKING:
    from collections.abc import Callable

    from co_cli.knowledge import KnowledgeBase, Note
    from co_cli.tools.tool import Result

    Work = Callable[[KnowledgeBase, str, object, Caller], Answer]

__all__ = [
    "ENTRIES",
    "TOOLS",
    "Answer",
    "Caller",
    "Tool",
    "call",
    "holds_private",
    "knowledge_delete",
    "knowledge_list",
    "knowledge_search",
    "knowledge_write",
    "known_tool",
    "list_memories",
    "logged",
    "name_of",
    "propose",
    "question",
    "recall_memory",
    "refused",
    "run",
    "save_knowledge",
    "save_memory",
    "table",
    "told",
    "told_data",
    "web_fetch",
]

TOOLS = {tool.name: tool for tool in (*MEMORY_TOOLS, *TOPIC_TOOLS, *ARTICLE_TOOLS)}
_LOGGED = 2000


def call(kb: KnowledgeBase, name: str, arguments: object, caller: Caller = Caller()) -> Result:  # noqa: B008 - it is immutable
    """Call a tool by its name with what a model handed over; raises a ``CoError`` for what makes no sense."""
    known_tool(name)
    return logged(kb, name, arguments, caller, run)


def propose(kb: KnowledgeBase, name: str, arguments: object, caller: Caller) -> Result:
    """Let what a tool would write wait in the inbox for the yes of a person; one that only reads is called."""
    known_tool(name)
    return logged(kb, name, arguments, caller, _proposed)


def _proposed(kb: KnowledgeBase, name: str, arguments: object, caller: Caller) -> Answer:
    from co_cli.tools.proposing import proposed

    tool = known_tool(name)
    given = checked(tool, arguments)
    return proposed(kb, tool, given, caller) if tool.writes else tool.run(kb, given, caller)


def logged(kb: KnowledgeBase, name: str, arguments: object, caller: Caller, work: Work) -> Result:
    """Do something for a caller that counts as a call under this name, such as reading a resource."""
    started = time.perf_counter()
    outcome = "interrupted"
    notes: tuple[Note, ...] = ()
    try:
        answer = work(kb, name, arguments, caller)
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
        _log(kb, ToolCall(name, caller.surface, seconds, outcome, notes, _as_text(arguments)))


def refused(kb: KnowledgeBase, name: str, arguments: object, caller: Caller) -> None:
    """Note a call that a person refused."""
    _log(kb, ToolCall(name, caller.surface, 0, DENIED, (), _as_text(arguments)))


def _log(kb: KnowledgeBase, call: ToolCall) -> None:
    notice = kb.log_call(call)
    if notice:
        print(f"warning: {notice}", file=sys.stderr)  # noqa: T201 - said once; the model must not be told


def run(kb: KnowledgeBase, name: str, arguments: object, caller: Caller) -> Answer:
    """Do what a tool does, without logging it: for a rehearsal."""
    tool = known_tool(name)
    return tool.run(kb, checked(tool, arguments), caller)


def question(name: str, arguments: object) -> str:
    """What a person is asked about before a tool asks another machine; raises where the call makes no sense."""
    tool = known_tool(name)
    return tool.asks(checked(tool, arguments)) if tool.asks else ""


def told(result: Result) -> str:
    """A result as a model gets it: what a note says is data, and cannot pose as anything else."""
    return neutralise(str(result.get("display", "")))


def told_data(result: Result) -> Result:
    """The data of a result as a model gets it, without ``display``: texts are as harmless as there."""
    return {name: _harmless(value) for name, value in result.items() if name != "display"}


def _harmless(value: object) -> object:
    if isinstance(value, str):
        return neutralise(value)
    if isinstance(value, dict):
        return {name: _harmless(inner) for name, inner in value.items()}
    return [_harmless(inner) for inner in value] if isinstance(value, list) else value


def holds_private(result: Result) -> bool:
    """Whether anything of a private note is in a result, which must then stay on this machine."""
    if result.get("private"):
        return True
    lists = (value for value in result.values() if isinstance(value, list))
    return any(isinstance(entry, dict) and entry.get("private") for value in lists for entry in value)


def known_tool(name: str) -> Tool:
    """The tool of this name."""
    if name not in TOOLS:
        raise NotFound(f"There is no tool {name!r}.", f"Tools: {', '.join(TOOLS)}.")
    return TOOLS[name]


def _as_text(arguments: object) -> str:
    """What the log may get of the arguments: their beginnings, by far long enough to see a secret that begins there."""
    import json

    if not isinstance(arguments, dict):
        return ""
    texts = {str(name): value[:_LOGGED] if isinstance(value, (str, list)) else "" for name, value in arguments.items()}
    return json.dumps(texts, ensure_ascii=False, default=str)


# -------------------------------------------------------------------------------------------------------------- by name


def save_memory(kb: KnowledgeBase, content: object, tags: object = None, caller: Caller = Caller()) -> Result:  # noqa: B008
    """Keep a small fact."""
    return call(kb, "save_memory", _given(content=content, tags=tags), caller)


def recall_memory(kb: KnowledgeBase, query: object, max_results: object = None, caller: Caller = Caller()) -> Result:  # noqa: B008
    """Find small facts by their words, or one by its ref."""
    return call(kb, "recall_memory", _given(query=query, max_results=max_results), caller)


def list_memories(kb: KnowledgeBase, caller: Caller = Caller()) -> Result:  # noqa: B008
    """List every small fact with its first line."""
    return call(kb, "list_memories", {}, caller)


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
    return call(kb, "knowledge_write", _given(topic=topic, content=content, tags=tags), caller)


def knowledge_list(kb: KnowledgeBase, caller: Caller = Caller()) -> Result:  # noqa: B008
    """List the shared topics with their tags and sources."""
    return call(kb, "knowledge_list", {}, caller)


def knowledge_delete(kb: KnowledgeBase, topic: object, caller: Caller = Caller()) -> Result:  # noqa: B008
    """Remove a shared topic."""
    return call(kb, "knowledge_delete", {"topic": topic}, caller)


def web_fetch(kb: KnowledgeBase, url: object, caller: Caller = Caller()) -> Result:  # noqa: B008
    """Fetch a page of the web as Markdown; what it says is foreign."""
    return call(kb, "web_fetch", {"url": url}, caller)


def save_knowledge(
    kb: KnowledgeBase,
    content: object,
    source: object,
    title: object,
    tags: object = None,
    caller: Caller = Caller(),  # noqa: B008
) -> Result:
    """Keep an article that was read, new or in place of the text from the same source."""
    return call(kb, "save_knowledge", _given(content=content, source=source, title=title, tags=tags), caller)


def _given(**arguments: object) -> dict[str, object]:
    return {name: value for name, value in arguments.items() if value is not None}
