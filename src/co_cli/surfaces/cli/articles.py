"""``co article``: what was written elsewhere, and is found by ``co recall``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from co_cli.knowledge import open_knowledge
from co_cli.surfaces.cli import linked

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable


def article_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Link folders of notes that somebody else looks after: documentation, a vault of Obsidian.

    A linked folder is read where it is. Its notes are found by `co recall` and shown by `co show`; nothing is ever written
    into it, and nothing of it is exported.

    Examples:
        co article link docs
        co article link ~/Obsidian --name notes --global --private
        co article links
        co article unlink notes
    """
    actions = parser.add_subparsers(dest="action", required=True, prog="co article", metavar="ACTION")
    linked.add_link_actions(actions)
    run = {"link": linked.link, "unlink": linked.unlink, "links": linked.links}
    return lambda arguments: run[arguments.action](arguments, open_knowledge())
