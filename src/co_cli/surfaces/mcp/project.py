"""Which project a client means: the folder that it works in, or else the one that the server was started in.

Owns asking the client for its roots, once a session, and again when it says that they changed. Knows nothing of notes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from mcp import types
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata

from co_cli.settings import find_project
from co_cli.surfaces.mcp.asking import ANSWERS_IN_RETRY

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from mcp.server.context import ServerRequestContext

_PATIENCE = 5.0
"""Seconds that a client has to name its roots."""
_ASKED = "roots"
_CARRIED = "project:"
_MOST = 1000


class Project:
    """The projects of the clients of one server: one over pipes, a number of them over HTTP."""

    def __init__(self, start: str | None = None) -> None:
        self._start = start
        self._known: dict[str, str] = {}
        """The project of each session; empty where the client has none."""

    async def find(self, context: ServerRequestContext[Any], given: object) -> str | types.InputRequiredResult | None:
        """The top folder of the project; ``None`` stands for that of the working directory.

        With the newest protocol the client may first have to be asked: what is returned then is the question.
        """
        if self._start:
            return self._start
        session = _session(context)
        known = _carried(given) if session is None else self._known.get(session)
        if known is None:
            capabilities = context.session.client_capabilities
            if capabilities is None or capabilities.roots is None:
                return None
            answered = getattr(given, "input_responses", None) or {}
            if _ASKED in answered:
                known = _project_of(answered[_ASKED])
            elif context.protocol_version >= ANSWERS_IN_RETRY:
                return types.InputRequiredResult(input_requests={_ASKED: types.ListRootsRequest()})
            else:
                known = await _called_back(context)
            self._keep(session, known)
        return known or None

    async def forget(self, context: ServerRequestContext[Any], _params: types.NotificationParams | None) -> None:
        """The roots have changed."""
        self._known.pop(_session(context) or "", None)

    def _keep(self, session: str | None, project: str) -> None:
        if session is not None:
            if len(self._known) >= _MOST:  # sessions come and go; who is still there is asked once more
                self._known.clear()
            self._known[session] = project


def _session(context: ServerRequestContext[Any]) -> str | None:
    """What tells the session of a request from others; ``None`` where each request over HTTP stands by itself."""
    return "" if context.request is None else context.request.headers.get("mcp-session-id")


def carry(project: str | None) -> str:
    """A project as it goes along with the questions of one request, where there is no session to keep it."""
    return f"{_CARRIED}{project or ''}"


def _carried(given: object) -> str | None:
    state = getattr(given, "request_state", None)
    if not isinstance(state, str) or not state.startswith(_CARRIED):
        return None
    folder = state.removeprefix(_CARRIED)
    return find_project(folder) if os.path.isabs(folder) and os.path.isdir(folder) else ""


async def _called_back(context: ServerRequestContext[Any]) -> str:
    try:
        listed = await context.session.send_request(
            types.ListRootsRequest(),
            types.ListRootsResult,
            request_read_timeout_seconds=_PATIENCE,
            metadata=ServerMessageMetadata(related_request_id=context.request_id),  # over HTTP: on the stream of its answer
        )
    except MCPError:  # a client that says it has roots, and then has none
        return ""
    return _project_of(listed)


def _project_of(listed: object) -> str:
    roots = listed.roots if isinstance(listed, types.ListRootsResult) else ()
    return project_among(str(root.uri) for root in roots)


def project_among(uris: Iterable[str]) -> str:
    """The project of the first root that is a folder on this machine; empty where none is."""
    for uri in uris:
        parts = urlsplit(uri)
        path = unquote(parts.path)
        if os.name == "nt":
            path = path.lstrip("/")
        if parts.scheme == "file" and parts.netloc in ("", "localhost") and os.path.isabs(path) and os.path.isdir(path):
            return find_project(path)
    return ""
