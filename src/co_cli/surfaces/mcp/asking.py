"""What a client is told and asked while a call is under way: how far it is, and whether notes may be changed.

Owns both exchanges, in the older form of the protocol, where a client is called back, and in the newer, where it calls again
with the answer. Knows nothing of what the call does.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import anyio.from_thread
from mcp import types
from mcp.shared.exceptions import MCPError

from co_cli.errors import Denied
from co_cli.tools import TOOLS, question

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcp.server.context import ServerRequestContext

ANSWERS_IN_RETRY = "2026-07-28"
"""From this version of the protocol on a client is not called back: it asks again, with the answer."""
_PAUSE = 0.2
"""Seconds between two words on how far it is."""
_ALLOWED = "allowed"
_SHOWN = 300
_NO_FIELDS: dict[str, Any] = {"type": "object", "properties": {}}


def teller(context: ServerRequestContext[Any]) -> Callable[[str, int, int], None]:
    """What tells a client from a thread how far a call is, and ends the call where the client has taken it back."""
    said_at, phase, phases = 0.0, "", -1

    def tell(what: str, done: int, total: int) -> None:
        nonlocal said_at, phase, phases
        anyio.from_thread.check_cancelled()
        if what != phase:
            phase, phases = what, phases + 1
        now = time.monotonic()
        if now - said_at >= _PAUSE:
            said_at = now
            passed = phases + min(done / max(total, 1), 1)  # it may only grow, also from one thing to the next
            anyio.from_thread.run(context.session.report_progress, passed, None, f"{what}: {done} of {total}")

    return tell


async def ask_to_write(
    context: ServerRequestContext[Any], given: types.CallToolRequestParams
) -> bool | types.InputRequiredResult:
    """Whether the person at the client allows a change or a fetch; the newest clients are handed the question first."""
    capabilities = context.session.client_capabilities
    offered = capabilities.elicitation if capabilities else None
    if offered is None or (offered.form is None and offered.url is not None):
        what = "Notes are to be changed" if TOOLS[given.name].writes else "Pages are to be fetched"
        raise Denied(
            f"{what} from here only after asking, and this client cannot ask.",
            "The user may allow it without: co config set mcp_writes allow",
        )
    answered = (given.input_responses or {}).get(_ALLOWED)
    if answered is None:
        form = types.ElicitRequestFormParams(message=_question(given), requested_schema=_NO_FIELDS)
        request = types.ElicitRequest(params=form)
        if context.protocol_version >= ANSWERS_IN_RETRY:
            return types.InputRequiredResult(input_requests={_ALLOWED: request})
        try:
            answered = await context.session.elicit_form(form.message, _NO_FIELDS, context.request_id)
        except MCPError:  # a client that says it can ask, and then cannot
            return False
    return isinstance(answered, types.ElicitResult) and answered.action == "accept"


def _question(given: types.CallToolRequestParams) -> str:
    request = question(given.name, given.arguments or {})
    if request:  # whole: what is behind the question mark of an address goes to another machine too
        return f"May {given.name} {request}?"
    lines = [f"May {given.name} change the notes of co?"]
    for name, value in (given.arguments or {}).items():
        text = "".join(sign if sign.isprintable() else " " for sign in str(value))
        lines.append(f"{name}: {text[:_SHOWN]}{'…' if len(text) > _SHOWN else ''}")
    return "\n".join(lines)
