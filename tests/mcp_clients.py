"""Clients for the tests of the MCP server: the official one, at a server in this process, at a real process, over HTTP."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import anyio
from mcp import Client, StdioServerParameters, types

from co_cli.surfaces.mcp.project import Project
from co_cli.surfaces.mcp.server import make_server

CO = (sys.executable, "-m", "co_cli")


def talk(what: Callable[[Client], Awaitable[None]], server: object = None, **options: object) -> None:
    """Do something as a client; without a server, at one in this process."""

    async def connected() -> None:
        with anyio.fail_after(60):
            async with Client(server or make_server(Project()), **options) as client:
                await what(client)

    anyio.run(connected)


def own_process(*arguments: str) -> StdioServerParameters:
    """A server as clients start it."""
    return StdioServerParameters(command=CO[0], args=[*CO[1:], "mcp", *arguments], env=dict(os.environ), cwd=os.getcwd())


def said(result: types.CallToolResult) -> str:
    """The text of an answer."""
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


class Served(NamedTuple):
    """A server over HTTP."""

    url: str
    token: str
    errors: Path
    pid: int
    wait: Callable[[float], int]


@contextmanager
def over_http(tmp_path: Path, *arguments: str) -> Iterator[Served]:
    """A real process that serves over HTTP, on a port of its own."""
    errors, token_file = tmp_path / "serving.txt", tmp_path / "token"
    command = [*CO, "mcp", "--http", "127.0.0.1:0", "--token-file", str(token_file), *arguments]
    with errors.open("w") as stderr, subprocess.Popen(command, stderr=stderr, stdin=subprocess.DEVNULL) as process:
        try:
            yield Served(_address(errors, process), token_file.read_text().strip(), errors, process.pid, process.wait)
        finally:
            process.terminate()
            process.wait(20)


def _address(errors: Path, process: subprocess.Popen[bytes]) -> str:
    import time

    for _ in range(400):
        text = errors.read_text()
        found = re.search(r"http://\S+", text)
        if found and "oken" in text:
            return found[0]
        assert process.poll() is None, text
        time.sleep(0.05)
    raise AssertionError(errors.read_text())
