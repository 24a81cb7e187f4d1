"""Results of tools as a client gets them: a text to read and the data beside it, never more than a set number of bytes.

Owns the budget and what is left out to stay within it, always with a word on how to get the rest; and the one table from
the kind of an error to what the protocol has for it. Knows no tool.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcp import types
from mcp.shared.exceptions import MCPError

from co_cli.errors import CONFLICT, CORRUPT, DENIED, INVALID, NOT_FOUND, UNAVAILABLE
from co_cli.tools import told, told_data

if TYPE_CHECKING:
    from typing import Any

    from co_cli.errors import CoError

    Result = dict[str, object]

BUDGET = 12 * 1024
"""Bytes of the text of an answer, and of its data."""
SNIPPET = 900
"""Bytes of each note where an answer that would be too long has several."""
_MESSAGE = 2000

ERROR_CODES = {
    INVALID: types.INVALID_PARAMS,
    NOT_FOUND: types.INVALID_PARAMS,
    CONFLICT: types.INVALID_REQUEST,
    DENIED: types.INVALID_REQUEST,
    UNAVAILABLE: types.INTERNAL_ERROR,
    CORRUPT: types.INTERNAL_ERROR,
}


def answer(result: Result) -> types.CallToolResult:
    """What a tool returned."""
    text, data = fitted(result)
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=data)


def fitted(result: Result) -> tuple[str, dict[str, Any]]:
    """The text and the data of a result, within the budget: long notes as snippets, long lists up to what fits."""
    facts = {name: cut(value, _MESSAGE) for name, value in result.items() if isinstance(value, str) and name != "display"}
    result = {**result, **facts}  # a query that is given back may be of any length
    found = result.get("results")
    if isinstance(found, list) and found and max(map(_size, (result.get("display"), told_data(result)))) > BUDGET:
        result = _with_snippets(result, found)
    return _whole_lines(told(result), BUDGET), _few_enough(told_data(result))


def _with_snippets(result: Result, found: list[dict[str, object]]) -> Result:
    """The same result with the beginnings of its notes, each with the way to the rest."""
    room = min(max(BUDGET // (2 * len(found)), 100), SNIPPET) if len(found) > 1 else BUDGET - _MESSAGE
    display, shortened = str(result.get("display", "")), []
    for entry in found:
        content = str(entry.get("content", ""))
        snippet = cut(content, room)
        if snippet == content:
            shortened.append(entry)
            continue
        more = f"the whole note: co://note/{entry['ref']}"
        if len(found) > 1:
            more = f"more of it: search for {entry['ref']}; {more}"
        display = display.replace(content, f"{snippet}\n… [{more}]", 1)
        shortened.append({**entry, "content": snippet, "more": more})
    return {**result, "display": display, "results": shortened}


def _few_enough(data: Result) -> dict[str, Any]:
    """The data with as many entries of each list as fit."""
    if _size(data) <= BUDGET:
        return data
    for name, value in data.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            room = BUDGET - _size({**data, name: []}) - _MESSAGE // 10
            kept = []
            for entry in value:
                room -= _size(entry) + 2
                if room < 0:
                    break
                kept.append(entry)
            more = f"{len(value) - len(kept)} more are left out: search for the one that you need"
            data = {**data, name: kept, "more": more}
    return data if _size(data) <= BUDGET else {"more": "the data is too long; the text has its beginning"}


def _whole_lines(text: str, room: int) -> str:
    """The lines of a text that fit, with how many do not."""
    if len(text.encode("utf-8")) <= room:
        return text
    kept = cut(text, room - 100)
    more = text.count("\n") - kept.count("\n")
    rest = f"{more} more lines" if more > 1 else "more of it"
    return f"{kept}\n… [{rest}: ask for less, or search]"


def cut(text: str, room: int) -> str:
    """The beginning of a text that has at most so many bytes: whole lines or, if not even one fits, words."""
    raw = text.encode("utf-8")
    if len(raw) <= room:
        return text
    head = raw[:room].decode("utf-8", errors="ignore")
    for end in ("\n", " "):
        if end in head.strip():
            return head[: head.rstrip().rindex(end)].rstrip()
    return head


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", errors="replace"))


def failed(error: CoError) -> types.CallToolResult:
    """An error as a model gets it: it may read what happened and what to do next, and try again."""
    said = _said(error)
    facts: dict[str, object] = {"kind": error.kind, "code": error.code, "message": _short(error.message)}
    facts["hint"] = error.hint
    if error.candidates:
        facts["candidates"] = [*error.candidates[:20]]
    content = types.TextContent(type="text", text=said)
    return types.CallToolResult(content=[content], structured_content={"error": facts}, is_error=True)


def as_protocol_error(error: CoError) -> MCPError:
    """An error where the protocol has no result that could say so: for resources and prompts."""
    return MCPError(code=ERROR_CODES[error.kind], message=_said(error), data={"kind": error.kind, "code": error.code})


def _said(error: CoError) -> str:
    return told({"display": "\n".join(filter(None, (_short(error.message), _short(error.details), error.hint)))})


def _short(text: str) -> str:
    return text if len(text) <= _MESSAGE else f"{text[:_MESSAGE]}…"
