"""``co mcp``: serving the knowledge to agents that speak the Model Context Protocol.

Owns the arguments. The server is a surface of its own, named here and not imported: surfaces do not know each other.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from co_cli.errors import Unavailable
from co_cli.settings import find_places
from co_cli.surfaces.cli.terminal import interactive, say

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

_SERVING = "co_cli.surfaces.mcp.serving"
_NOT_SAID = "127.0.0.1:8787"


def mcp_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Serve the knowledge to an agent over the Model Context Protocol, on stdin and stdout; `co connect` sets clients up.

    The project is the one of the client's first root or, if it names none, of the working directory. Private notes are
    never served. `co config set mcp_writes ask`, `inbox` or `deny` limits what clients may change.

    With --http it serves any number of clients on this machine, which have to bring a token. The token is made and shown
    at the first start, and kept in a file that only you can read.

    Examples:
        co mcp
        co mcp --project ~/code/heron
        co mcp --http
        co mcp --http 127.0.0.1:9000 --token-file ~/.co-token
    """
    parser.add_argument("--http", nargs="?", const=_NOT_SAID, metavar="HOST:PORT", help=f"serve over HTTP ({_NOT_SAID})")
    parser.add_argument("--token-file", default="", metavar="FILE", help="where the token of --http is kept")
    parser.add_argument("--project", metavar="DIR", help="serve this project, whatever the client says")
    parser.add_argument("--client", default="", metavar="NAME", help="who started it; `co connect` knows its own by this")
    return _mcp


def _mcp(arguments: Namespace) -> None:
    import gc

    if find_spec("mcp") is None:
        raise Unavailable("co mcp needs a package that is not installed.", "Install it: pip install 'co-cli[mcp]'")
    gc.enable()  # it stays, and so does its garbage
    places = find_places(arguments.project)
    project = places.project if arguments.project else None
    serving = import_module(_SERVING)
    if arguments.http is None:
        if interactive():
            say("Waiting for an agent on stdin; this command is for agents to start. To set one up: co connect CLIENT")
        serving.serve_stdio(project)
    else:
        token_file = os.path.abspath(os.path.expanduser(arguments.token_file or os.path.join(places.state, "mcp-token")))
        serving.serve_http(arguments.http, project, token_file)
