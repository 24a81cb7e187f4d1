"""``co connect``: setting other agents up, so that they use co.

Owns the arguments, and showing what changes. What is written where is the matter of ``clients``.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from co_cli.clients import CLIENTS, PRE_COMPACT, SESSION_START, Wish, edits
from co_cli.errors import Invalid, Unavailable
from co_cli.settings import find_places
from co_cli.surfaces.cli.terminal import emit, paint, say

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from co_cli.clients import Edit


def connect_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Write co into the settings of another agent: its MCP server and, for Claude Code, a hook that loads the context.

    What is in those files stays as it is, comments and all. What changes is shown; --dry-run only shows it. Done again, it
    changes nothing more. --remove takes out exactly what was put in. `agents-md` puts a few lines of advice for any agent
    into AGENTS.md of the project, and into CLAUDE.md and GEMINI.md where these exist.

    Examples:
        co connect claude
        co connect codex --dry-run
        co connect cursor --project
        co connect agents-md
        co connect claude --remove
    """
    parser.add_argument("client", choices=tuple(CLIENTS), metavar="CLIENT", help=", ".join(CLIENTS))
    parser.add_argument("--project", action="store_true", help="in this project's settings, for all who work on it")
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")
    parser.add_argument("--remove", action="store_true", help="take out what was put in")
    parser.add_argument("--no-hooks", action="store_true", help="the server only (claude)")
    parser.add_argument("--pre-compact", action="store_true", help="also a hook for when a session is shortened (claude)")
    return _connect


def _connect(arguments: Namespace) -> None:
    if arguments.client != "claude" and (arguments.no_hooks or arguments.pre_compact):
        raise Invalid("Only Claude Code has hooks that co knows.", f"Leave the option out: co connect {arguments.client}")
    if arguments.no_hooks and arguments.pre_compact:
        raise Invalid("--pre-compact is a hook, and --no-hooks says that there should be none.", "Leave one of them out.")
    needs_server = not arguments.remove and arguments.client != "agents-md"
    if needs_server and find_spec("mcp") is None:
        raise Unavailable("The server needs a package that is not installed.", "Install it: pip install 'co-cli[mcp]'")
    hooks = () if arguments.no_hooks else (SESSION_START, *((PRE_COMPACT,) if arguments.pre_compact else ()))
    in_project = arguments.project or arguments.client == "agents-md"
    project = find_places().project if in_project else ""
    changes = edits(Wish(arguments.client, project, hooks, arguments.remove))
    shown = "".join(map(difference, changes))
    if shown and not arguments.json:
        say(shown.rstrip("\n"))
    for change in changes if not arguments.dry_run else ():
        change.save(shared=in_project)
    paths = [change.path for change in changes]
    data = {"client": arguments.client, "changed": paths, "dry_run": arguments.dry_run, "difference": shown}
    emit(arguments, data, _summary(arguments, paths))


def _summary(arguments: Namespace, paths: list[str]) -> str:
    client = CLIENTS[arguments.client]
    if not paths:
        what = "is not connected" if arguments.remove else "is connected already"
        return f"{client.title}: co {what}; nothing was changed."
    if arguments.dry_run:
        return f"{client.title}: nothing was changed; without --dry-run it would be."
    done = "✓ co is taken out of" if arguments.remove else "✓ co is written into"
    check = f"\nTo see it: {client.next_step}" if client.next_step and not arguments.remove else ""
    return f"{client.title}: {done} {', '.join(paths)}{check}"


def difference(change: Edit) -> str:
    """What changes in a file. Lines around it are left out: settings hold the secrets of others."""
    import difflib

    before, after = ((text or "").splitlines(keepends=True) for text in (change.before, change.after))
    colours = {"+": "green", "-": "red"}
    lines = []
    for line in difflib.unified_diff(
        before, after, change.path, change.path if change.after is not None else "(removed)", n=0
    ):
        ended = line if line.endswith("\n") else f"{line}\n"
        head = ended.startswith(("+++", "---", "@@"))
        lines.append(ended if head else paint(ended.rstrip("\n"), colours.get(line[0], "dim")) + "\n")
    return "".join(lines)
