"""``co knowledge``: what concerns the memories as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from co_cli.errors import Invalid
from co_cli.knowledge import open_knowledge
from co_cli.surfaces.cli.notes import add_list_arguments, print_list
from co_cli.surfaces.cli.terminal import as_data, emit

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable


def knowledge_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """List the memories, or put some into the archive: kept and readable there, but no longer recalled.

    Examples:
        co knowledge --list
        co knowledge --archive 12 15
        co knowledge --restore 12
    """
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--list", action="store_true", help="list the memories")
    what.add_argument("--archive", nargs="+", metavar="REF", help="put these notes into the archive")
    what.add_argument("--restore", nargs="+", metavar="REF", help="bring these notes back from the archive")
    add_list_arguments(parser)
    return _knowledge


def _knowledge(arguments: Namespace) -> None:
    kb = open_knowledge()
    if arguments.list:
        print_list(arguments, kb)
        return
    if arguments.tag or arguments.category or arguments.key or arguments.archived:
        raise Invalid("The filters go with --list.", "Name the notes by their refs: co knowledge --archive 12")
    notes = kb.archive(arguments.archive or arguments.restore, restore=bool(arguments.restore))
    done = "Restored" if arguments.restore else "Archived"
    display = "\n".join(f"✓ {done} {note.ref}: {note.summary}" for note in notes)
    emit(arguments, {"count": len(notes), "notes": [as_data(note) for note in notes], "display": display}, display)
