"""Answering without a model: requests in plain words become calls of the same tools, and notes are quoted with their refs.

Owns what is called for which request, and how results are told. It is a model to everything around it, so that approvals,
logging and history are the same as with any other.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import ModelRequest, RetryPromptPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel

from co_cli.agent import requests
from co_cli.agent.requests import Request, is_question, read_request

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models.function import AgentInfo

NAME = "offline"
_QUOTED = 5
"""Notes that an answer quotes at most."""
_LINES = 12
"""Lines of a note that are quoted at most."""

HELP = """I am co, and no model is configured, so I work with your notes alone. Say, for instance:

- *remember that we deploy on Fridays #ops*
- *what do you remember about deploys?*
- *list my memories*, *show 12*, *forget 12*
- *search for rollback*, *list topics*
- any question: I look for the notes that answer it, and quote them

`/undo` takes the last change back. For a model: `co config set provider ollama`, or gemini, openai, anthropic."""

_NO_MODEL = "No model is configured: this is what the notes say, in their own words."
_TOPIC_PREFIX = "topic:"


def offline_model() -> FunctionModel:
    """The model that is none."""
    return FunctionModel(stream_function=_respond, model_name=NAME)


async def _respond(messages: list[ModelMessage], _info: AgentInfo) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
    text = _last_words(messages)
    request = read_request(text)
    results = _results(messages)
    if results:
        yield _told(request, results)
        return
    calls = _calls(request)
    if not calls:
        yield _said(request)
        return
    for place, (tool, arguments) in enumerate(calls):
        number = f"offline-{len(messages)}-{place}"
        yield {place: DeltaToolCall(name=tool, json_args=json.dumps(arguments), tool_call_id=number)}


def _last_words(messages: Sequence[ModelMessage]) -> str:
    """What the user said last."""
    for message in reversed(messages):
        for part in reversed(message.parts):
            if isinstance(part, UserPromptPart):
                return part.content if isinstance(part.content, str) else str(part.content[0])
    return ""


def _results(messages: Sequence[ModelMessage]) -> list[ToolReturnPart | RetryPromptPart]:
    """What the tools answered, if that is what came last."""
    last = messages[-1] if messages else None
    parts = last.parts if isinstance(last, ModelRequest) else ()
    return [part for part in parts if isinstance(part, (ToolReturnPart, RetryPromptPart))]


def _calls(request: Request) -> list[tuple[str, dict[str, Any]]]:
    """The tools to be called for a request."""
    about = request.about
    is_topic = about.removeprefix("g:").removeprefix("p:").startswith(_TOPIC_PREFIX)
    match request.action:
        case requests.REMEMBER:
            return [("save_memory", {"content": about, **({"tags": [*request.tags]} if request.tags else {})})]
        case requests.LIST:
            return [("list_memories", {})]
        case requests.TOPICS:
            return [("knowledge_list", {})]
        case requests.SHOW:
            return [("knowledge_search", {"query": about})] if is_topic else [("recall_memory", {"query": about})]
        case requests.FORGET:
            return [("knowledge_delete", {"topic": about.removeprefix(_TOPIC_PREFIX) if is_topic else about})]
        case requests.RECALL | requests.SEARCH | requests.ASK:
            return [("recall_memory", {"query": about}), ("knowledge_search", {"query": about})] if about.strip() else []
    return []


def _said(request: Request) -> str:
    """What is said where no tool is needed."""
    if request.action == requests.THANKS:
        return "You are welcome. Ask me anything about your notes, or tell me what to remember."
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
    results = [result for content in found for result in content.get("results", ())]
    if not results:
        hint = "" if is_question(request.about) or request.action != requests.ASK else _keep_hint(request.about)
        return "\n\n".join(
            filter(None, [f"No note says anything about that. {_NO_MODEL.partition(':')[0]}.", hint, *map(str, failures)])
        )
    lines = []
    for result in results[:_QUOTED]:
        day = str(result.get("created", ""))[:10]
        body = str(result.get("content", "")).strip().splitlines()
        more = f"\n> … (`/recall {result['ref']}` has the rest)" if len(body) > _LINES else ""
        quotation = "\n".join(f"> {line}" for line in body[:_LINES])
        lines.append(f"{quotation}{more}\n\n— [{result['ref']}]{f', {day}' if day else ''}")
    return "\n\n".join([*lines, f"*{_NO_MODEL}*"])


def _keep_hint(text: str) -> str:
    return f"If it is something to be kept, say: *remember that {text.rstrip('.!')}*"
