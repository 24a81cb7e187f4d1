"""``co article link``, ``unlink`` and ``links``: folders of notes that are read where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from co_cli.surfaces.cli.terminal import counted, emit, paint, say, visible

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace, _SubParsersAction
    from collections.abc import Callable, Iterator

    from co_cli.knowledge import KnowledgeBase, LinkState

_SHOWN = 5
"""Files that are not read, and are named, at most."""


def add_link_actions(actions: _SubParsersAction[ArgumentParser]) -> None:
    """The actions of ``co article`` that concern linked folders."""
    link = actions.add_parser("link", help="have the notes of a folder found where they are; they are never written to")
    link.add_argument("folder", metavar="FOLDER", help="a folder of Markdown or text files, such as a vault of Obsidian")
    link.add_argument(
        "--name", default="", metavar="NAME", help="what stands before the colon in refs; else the folder's own"
    )
    link.add_argument("--global", action="store_true", dest="in_global", help="in all your projects")
    link.add_argument("--private", action="store_true", help="never let what is in it leave this machine")
    unlink = actions.add_parser("unlink", help="let a linked folder go; the folder stays as it is")
    unlink.add_argument("name", metavar="NAME", help="its name, or its path")
    actions.add_parser("links", help="list the folders that are linked here")


def _link(arguments: Namespace, kb: KnowledgeBase) -> None:
    """Link a folder."""
    state = kb.link(arguments.folder, name=arguments.name, in_global=arguments.in_global, private=arguments.private)
    name = state.link.name
    lines = [f"✓ Linked {name}: {state.link.folder}", f"{counted(state.files, 'file', 'files')}{_where(state)}"]
    lines += _not_read(state)
    lines.append(f"Next: co recall WORDS; a note of it is called {name}:PATH. co article unlink {name} lets it go.")
    display = visible("\n".join(lines))
    emit(arguments, {**link_data(state), "display": display}, display)


def _unlink(arguments: Namespace, kb: KnowledgeBase) -> None:
    """Let a folder go."""
    gone = kb.unlink(arguments.name)
    display = visible(f"✓ {gone.name} is linked no longer; {gone.folder} is as it was.")
    emit(arguments, {**gone._asdict(), "display": display}, display)


def _links(arguments: Namespace, kb: KnowledgeBase) -> None:
    """List the linked folders."""
    states = kb.links()
    lines = [line for state in states for line in link_lines(state)]
    emit(arguments, {"count": len(states), "links": [link_data(state) for state in states]}, "\n".join(lines))
    if not states and not arguments.json:
        say("No folder is linked here. Link one: co article link FOLDER")


def link_data(state: LinkState) -> dict[str, object]:
    """A linked folder as JSON."""
    skipped = [{"name": name, "why": why} for name, why in state.skipped]
    counts = {"files": state.files, "indexed": state.indexed, "skipped": skipped, "problem": state.problem}
    return {**state.link._asdict(), **counts}


def link_lines(state: LinkState) -> Iterator[str]:
    """A linked folder for people."""
    link = state.link
    yield f"{paint(link.name.ljust(8), 'bold')} {visible(link.folder)}"
    if state.problem:
        yield paint(f"         {state.problem}; it is not searched. co article unlink {link.name} lets it go.", "yellow")
        return
    yield f"         {counted(state.files, 'file', 'files')}, {state.indexed:,} indexed{_where(state)}"
    yield from (f"         {visible(line)}" for line in _not_read(state))


def _where(state: LinkState) -> str:
    marks = [*([] if state.link.project else ["all projects"]), *(["private"] if state.link.private else [])]
    return f" ({', '.join(marks)})" if marks else ""


def _not_read(state: LinkState) -> list[str]:
    lines = [f"not read: {name}: {why}" for name, why in state.skipped[:_SHOWN]]
    more = len(state.skipped) - _SHOWN
    return [*lines, f"not read: {more:,} more"] if more > 0 else lines


RUN: dict[str, Callable[[Namespace, KnowledgeBase], None]] = {"link": _link, "unlink": _unlink, "links": _links}
"""What runs each of these actions."""
