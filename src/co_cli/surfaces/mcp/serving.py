"""The two ways to serve: over the pipes of a client that started us, and over HTTP on this machine.

Owns the loops and the sockets, and when they end. What is served is the matter of ``server``; who may ask, of ``access``.
"""

from __future__ import annotations

import signal
import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio

from co_cli.errors import Denied, Invalid, Unavailable
from co_cli.surfaces.mcp.project import Project
from co_cli.surfaces.mcp.server import make_server

if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from mcp.server.lowlevel import Server
    from starlette.types import ASGIApp

LOOPBACK = ("127.0.0.1", "::1", "localhost")
DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8787
PATH = "/mcp"
_SESSIONS = 200
_HIGHEST_PORT = 65535


def serve_stdio(project: str | None = None) -> None:
    """Serve the client at the other end of stdin and stdout, until it closes stdin."""
    # the thread that waits for stdin cannot be interrupted; and a change survives an end at any moment
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    anyio.run(_over_pipes, make_server(Project(project)))


async def _over_pipes(server: Server[Any]) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def serve_http(place: str, project: str | None = None, token_file: str = "") -> None:
    """Serve clients on this machine over HTTP, each with the token, until a signal comes."""
    from co_cli.surfaces.mcp.access import load_token

    host, port = parse_place(place)
    token, is_new = load_token(token_file)
    listening = _listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    print(f"Serving http://{shown}:{listening.getsockname()[1]}{PATH}", file=sys.stderr)
    if is_new:
        print(f"Token, shown this once and kept in {token_file}: {token}", file=sys.stderr)
    else:
        print(f"The token is in {token_file}.", file=sys.stderr, flush=True)
    anyio.run(_over_http, web_app(make_server(Project(project)), token), listening)


def web_app(server: Server[Any], token: str) -> ASGIApp:
    """The application that answers over HTTP: to the token, and to the names of this machine only."""
    from mcp.server.transport_security import TransportSecuritySettings

    from co_cli.surfaces.mcp.access import TokenGate

    names = [f"[{host}]" if ":" in host else host for host in LOOPBACK]
    hosts = [form for name in names for form in (name, f"{name}:*")]
    security = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts])
    app = server.streamable_http_app(streamable_http_path=PATH, transport_security=security, max_sessions=_SESSIONS)
    return TokenGate(app, token)


async def _over_http(app: ASGIApp, listening: socket.socket) -> None:
    import asyncio

    import uvicorn

    loop, stopped = asyncio.get_running_loop(), asyncio.Event()

    class Waiting(uvicorn.Server):
        """Waits for a signal, where uvicorn wakes up ten times a second to look whether there was one."""

        async def main_loop(self) -> None:
            await stopped.wait()

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            super().handle_exit(sig, frame)
            loop.call_soon_threadsafe(stopped.set)

    config = uvicorn.Config(app, log_level="warning", access_log=False, date_header=False, timeout_graceful_shutdown=2)
    await Waiting(config).serve(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as error:
        said = error.strerror or str(error)
        raise Unavailable(
            f"{host}:{port} cannot be listened on: {said}.", "Choose another port: co mcp --http :0"
        ) from error


def parse_place(place: str) -> tuple[str, int]:
    """Host and port of ``HOST:PORT``, ``HOST``, ``:PORT`` or ``PORT``."""
    host, _, port = place.rpartition(":") if not place.endswith("]") else (place, "", "")
    if not port.isdecimal() and not host:
        host, port = port, ""
    host = host.strip("[]") or DEFAULT_HOST
    if (port and not port.isdecimal()) or int(port or 0) > _HIGHEST_PORT:
        raise Invalid(f"{place!r} is no HOST:PORT.", f"Such as {DEFAULT_HOST}:{DEFAULT_PORT}.")
    if host not in LOOPBACK:
        hint = f"Use {DEFAULT_HOST}; to reach it from elsewhere, put a tunnel such as ssh -L in between."
        raise Denied(f"co mcp serves this machine only, not {host}.", hint)
    return host, int(port) if port else DEFAULT_PORT
