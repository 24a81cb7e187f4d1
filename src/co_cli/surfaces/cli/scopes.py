"""``co promote`` and ``co demote``: for which projects a note is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from co_cli.knowledge import open_knowledge
from co_cli.surfaces.cli.notes import stands_again
from co_cli.surfaces.cli.terminal import as_data, emit, visible

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from co_cli.knowledge import KnowledgeBase, Moved


def promote_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Make notes of this project ones for all your projects, or for all that are written in a programming language.

    A memory gets a new number in the other vault. The text stays what it is, byte for byte.

    Examples:
        co promote 12
        co promote 12 15 --language python
        co promote topic:review_checklist
    """
    parser.add_argument("refs", nargs="+", metavar="REF", help="which notes")
    parser.add_argument("--language", default="", metavar="L", help="only for projects in this programming language")
    return _promote


def demote_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Make notes for all your projects ones of this project alone.

    Examples:
        co demote g:3
    """
    parser.add_argument("refs", nargs="+", metavar="REF", help="which notes")
    return _demote


def _promote(arguments: Namespace) -> None:
    kb = open_knowledge()
    _report(arguments, kb, kb.promote(arguments.refs, language=arguments.language))


def _demote(arguments: Namespace) -> None:
    kb = open_knowledge()
    _report(arguments, kb, kb.demote(arguments.refs))


def _report(arguments: Namespace, kb: KnowledgeBase, moved: tuple[Moved, ...]) -> None:
    lines = [f"✓ {each.before.ref} is {visible(each.after.label)}\nLocation: {each.after.path}" for each in moved]
    lines += [stands_again(kb, note) for each in moved for note in each.standing]
    times, them = ("twice", "it") if len(moved) == 1 else (f"{2 * len(moved)} times", "them")
    display = "\n".join([*lines, f"`co undo`, {times}, takes {them} back."])  # each vault has its own journal
    notes = [{"before": each.before.ref, **as_data(each.after)} for each in moved]
    standing = [note.ref for each in moved for note in each.standing]
    emit(arguments, {"count": len(moved), "moved": notes, "standing": standing, "display": display}, display)
