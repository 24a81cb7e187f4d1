"""Answering without a model: requests in plain words become calls of the same tools, and notes are quoted with their refs.

Owns what is called for which request, and how results are told. It is a model to everything around it, so that approvals,
logging and history are the same as with any other.
"""

from __future__ import annotations

import asyncio
import json
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import ModelRequest, RetryPromptPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel

from co_cli.agent import requests
from co_cli.agent.history import said
from co_cli.agent.requests import Request, is_question, read_request
from co_cli.errors import CoError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models.function import AgentInfo

    from co_cli.knowledge import KnowledgeBase, Note

NAME = "offline"
_FETCH = "web_fetch"
_QUOTED = 5
"""Notes that an answer quotes at most."""
_LINES = 12
"""Lines of a note that are quoted at most."""

HELP = """I am co, and no model is configured, so I work with your notes alone. Say, for instance:

- *remember that we deploy on Fridays #ops*
- *what do you remember about deploys?*
- *list my memories*, *show 12*, *forget 12*, *forget the one about callbacks*
- *search for rollback*, *list topics*
- *read https://example.org/page*, then *save this page #tag*
- any question: I look for the notes that answer it, and quote them

`/undo` takes the last change back. For a model: `co config set provider ollama`, or gemini, openai, anthropic."""

_NO_MODEL = "No model is configured"
_CANDIDATES = 10
"""Notes that are listed at most where a request fits several."""


def offline_model(kb: KnowledgeBase) -> FunctionModel:
    """The model that is none."""

    async def respond(messages: list[ModelMessage], _info: AgentInfo) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        request = read_request(_last_words(messages))
        results = _results(messages)
        if results and not _is_to_be_kept(request, results):
            yield _told(request, results)
            return
        candidates = await asyncio.to_thread(_candidates, kb, request.about) if request.action == requests.FORGET else ()
        calls = _keeping(request, messages) if request.action == requests.KEEP else _calls(request, candidates)
        if not calls:
            yield _said(request, candidates)
        for place, (tool, arguments) in enumerate(calls):
            number = f"offline-{len(messages)}-{place}"
            yield {place: DeltaToolCall(name=tool, json_args=json.dumps(arguments), tool_call_id=number)}

    return FunctionModel(stream_function=respond, model_name=NAME)


def _candidates(kb: KnowledgeBase, about: str) -> tuple[Note, ...]:
    """The notes that are meant by a ref, or by a few of their words."""
    if not kb.ref(about):
        return kb.match(about)
    try:
        return (kb.get(about),)
    except CoError:
        return ()


def _which(about: str, candidates: Sequence[Note]) -> str:
    if not candidates:
        return f"No note says {about!r}: nothing was forgotten. *list my memories* shows what there is."
    lines = [f"- [{note.ref}] {_title(note)}" for note in candidates[:_CANDIDATES]]
    lines += [f"- … and {len(candidates) - _CANDIDATES} more"] if len(candidates) > _CANDIDATES else []
    return "\n".join([f"{len(candidates)} notes fit. Say which, such as *forget {candidates[0].ref}*:", "", *lines])


def _title(note: Note) -> str:
    return "(private)" if note.private else note.title or note.summary


def _last_words(messages: Sequence[ModelMessage]) -> str:
    """What the user said last."""
    for message in reversed(messages):
        for part in reversed(message.parts):
            if isinstance(part, UserPromptPart):
                return said(part)
    return ""


def _results(messages: Sequence[ModelMessage]) -> list[ToolReturnPart | RetryPromptPart]:
    """What the tools answered, if that is what came last."""
    last = messages[-1] if messages else None
    parts = last.parts if isinstance(last, ModelRequest) else ()
    return [part for part in parts if isinstance(part, (ToolReturnPart, RetryPromptPart))]


def _calls(request: Request, candidates: Sequence[Note]) -> list[tuple[str, dict[str, Any]]]:
    """The tools to be called for a request."""
    about = request.about
    is_whole_document = about.removeprefix("g:").removeprefix("p:").startswith(("topic:", "article:"))
    match request.action:
        case requests.REMEMBER:
            return [("save_memory", {"content": about, **({"tags": [*request.tags]} if request.tags else {})})]
        case requests.LIST:
            return [("list_memories", {})]
        case requests.TOPICS:
            return [("knowledge_list", {})]
        case requests.SHOW:
            return [("knowledge_search", {"query": about})] if is_whole_document else [("recall_memory", {"query": about})]
        case requests.FORGET:
            return [("knowledge_delete", {"topic": note.ref}) for note in candidates] if len(candidates) == 1 else []
        case requests.RECALL | requests.SEARCH | requests.ASK:
            return [("recall_memory", {"query": about}), ("knowledge_search", {"query": about})] if about.strip() else []
        case requests.FETCH:
            return [(_FETCH, {"url": about})]
    return []


def _is_to_be_kept(request: Request, results: Sequence[ToolReturnPart | RetryPromptPart]) -> bool:
    """Whether what came back is a page that was fetched so that it can be kept."""
    last = results[-1]
    return request.action == requests.KEEP and last.tool_name == _FETCH and not _failed(last) and bool(_page(last))


def _keeping(request: Request, messages: Sequence[ModelMessage]) -> list[tuple[str, dict[str, Any]]]:
    """What is called so that a page is kept: with an address it is fetched first, unless it has just been."""
    parts = [part for message in reversed(messages) if isinstance(message, ModelRequest) for part in reversed(message.parts)]
    pages = (_page(part) for part in parts if isinstance(part, ToolReturnPart) and part.tool_name == _FETCH)
    page = next((page for page in pages if page and _is_of(page, request.about)), None)
    if page is None:
        return [(_FETCH, {"url": request.about})] if request.about else []
    given = {name: page[name] for name in ("content", "source", "title")}
    if page.get("left_out"):
        given["content"] += f"\n\n[… {page['left_out']:,} more characters of it were left out]"
    return [("save_knowledge", {**given, **({"tags": [*request.tags]} if request.tags else {})})]


def _page(part: object) -> dict[str, Any] | None:
    """The page that a tool returned, if it is one."""
    found = part.metadata if isinstance(part, ToolReturnPart) else None
    return found if isinstance(found, dict) and {"content", "source", "title"} <= found.keys() else None


def _is_of(page: dict[str, Any], address: str) -> bool:
    given = address if "://" in address else f"https://{address}"
    return not address or given.partition("#")[0].rstrip("/") in {str(page[name]).rstrip("/") for name in ("source", "url")}


def _said(request: Request, candidates: Sequence[Note]) -> str:
    """What is said where no tool is needed."""
    if request.action == requests.FORGET:
        return _which(request.about, candidates)
    if request.action == requests.THANKS:
        return "You are welcome. Ask me anything about your notes, or tell me what to remember."
    if request.action == requests.KEEP:
        return "There is no page to keep yet. Give its address: *save https://example.org/page*"
    if request.action == requests.UNDO:
        return "Type `/undo`: it shows what would be taken back, and takes it back."
    return HELP


def _told(request: Request, results: Sequence[ToolReturnPart | RetryPromptPart]) -> str:
    """The answer, from what the tools returned."""
    failures = [part.content if isinstance(part.content, str) else "That did not work." for part in results if _failed(part)]
    found = [part.metadata for part in results if isinstance(part, ToolReturnPart) and isinstance(part.metadata, dict)]
    if request.action in (requests.RECALL, requests.SEARCH, requests.ASK):
        return _quoted(request, found, failures)
    told = [str(content.get("display", "")) for content in found]
    return "\n\n".join([*told, *map(str, failures)]) or "Nothing came of it."


def _failed(part: ToolReturnPart | RetryPromptPart) -> bool:
    return isinstance(part, RetryPromptPart) or part.outcome != "success"


def _quoted(request: Request, found: Sequence[dict[str, Any]], failures: Sequence[object]) -> str:
    """The notes that answer a question, in their own words, the best first."""
    results = _best([content.get("results", []) for content in found])
    if not results:
        hint = "" if is_question(request.about) or request.action != requests.ASK else _keep_hint(request.about)
        return "\n\n".join(filter(None, [f"No note says anything about that. {_NO_MODEL}.", hint, *map(str, failures)]))
    lines = []
    for result in results:
        day = str(result.get("created", ""))[:10]
        body = str(result.get("content", "")).strip().splitlines()
        more = f"\n> … (`/recall {result['ref']}` has the rest)" if len(body) > _LINES else ""
        quotation = "\n".join(f"> {line}" for line in body[:_LINES])
        lines.append(f"{quotation}{more}\n\n— [{result.get('cite', result['ref'])}]{f', {day}' if day else ''}")
    return "\n\n".join([f"*{_NO_MODEL}; the notes say, in their own words:*", *lines])


def _best(found: Sequence[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The results to be quoted: of each tool in turn, those with a single word in common only where there are no others."""
    merged = [result for ranks in zip_longest(*found) for result in ranks if result]
    good = [result for result in merged if not str(result.get("why", "")).startswith("any word")]
    return (good or merged)[:_QUOTED]


def _keep_hint(text: str) -> str:
    return f"If it is something to be kept, say: *remember that {text.rstrip('.!')}*"
