"""Which project a client means: the folder that it works in, or else the one that the server was started in.

Owns asking the client for its roots, once, and again when it says that they changed. Knows nothing of notes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from mcp import types
from mcp.shared.exceptions import MCPError

from co_cli.settings import find_project
from co_cli.surfaces.mcp.asking import ANSWERS_IN_RETRY

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from mcp.server.context import ServerRequestContext

_PATIENCE = 5.0
"""Seconds that a client has to name its roots."""
_ASKED = "roots"


class Project:
    """The project of a client."""

    def __init__(self, start: str | None = None, *, ask: bool = True) -> None:
        self._start = start
        self._ask = ask
        self._known: str | None = None

    async def find(self, context: ServerRequestContext[Any], given: object) -> str | types.InputRequiredResult | None:
        """The top folder of the project; ``None`` stands for that of the working directory.

        With the newest protocol the client may first have to be asked: what is returned then is the question.
        """
        if self._start or not self._ask:
            return self._start
        if self._known is None:
            capabilities = context.session.client_capabilities
            if capabilities is None or capabilities.roots is None:
                return None
            answered = getattr(given, "input_responses", None) or {}
            if _ASKED in answered:
                self._keep(answered[_ASKED])
            elif context.protocol_version >= ANSWERS_IN_RETRY:
                return types.InputRequiredResult(input_requests={_ASKED: types.ListRootsRequest()})
            else:
                await self._call_back(context)
        return self._known or None

    async def forget(self, _context: ServerRequestContext[Any], _params: types.NotificationParams | None) -> None:
        """The roots have changed."""
        self._known = None

    async def _call_back(self, context: ServerRequestContext[Any]) -> None:
        request, session = types.ListRootsRequest(), context.session
        try:
            listed = await session.send_request(request, types.ListRootsResult, request_read_timeout_seconds=_PATIENCE)
        except MCPError:  # a client that says it has roots, and then has none
            self._known = ""
        else:
            self._keep(listed)

    def _keep(self, listed: object) -> None:
        roots = listed.roots if isinstance(listed, types.ListRootsResult) else ()
        self._known = project_among(str(root.uri) for root in roots)


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
