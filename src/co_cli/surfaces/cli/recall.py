"""``co recall``: the one command whose start is a promise, so it has a module to itself."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from co_cli.knowledge import open_knowledge
from co_cli.surfaces.cli.terminal import as_data, emit, paint, say, visible, warn

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from co_cli.knowledge import Hit, Recalled


def recall_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Find notes by what they say, in the project's vault and the global one.

    Examples:
        co recall async
        co recall "release process" -n 10 --why
        co recall deploy -t ops --json
    """
    parser.add_argument("query", nargs="+", metavar="QUERY", help="words to look for")
    parser.add_argument("-n", type=int, default=5, dest="limit", metavar="N", help="at most so many notes (5)")
    parser.add_argument("--mode", default="", metavar="M", help="auto, grep, text, vector or hybrid")
    parser.add_argument("--kind", action="append", default=[], metavar="K", help="only memory, topic or article")
    parser.add_argument("-t", "--tag", action="append", default=[], metavar="TAG", help="only notes with this tag")
    parser.add_argument("--expired", action="store_true", help="expired notes as well")
    parser.add_argument("--why", action="store_true", help="say for each note why it was found")
    return _recall


def _recall(arguments: Namespace) -> None:
    found = open_knowledge().recall(
        " ".join(arguments.query),
        limit=arguments.limit,
        mode=arguments.mode,
        kinds=arguments.kind,
        tags=arguments.tag,
        expired=arguments.expired,
    )
    warn(found.problems)
    emit(
        arguments, _data(found) if arguments.json else None, "\n\n".join(_text(hit, why=arguments.why) for hit in found.hits)
    )
    if not arguments.json:
        count, more = len(found.hits), found.total > len(found.hits)
        what = f"{count}{f' of {found.total}' if more else ''} {'note' if count == 1 else 'notes'}"
        if not count:
            what = f"No notes found matching '{found.query}'"
        say(paint(" · ".join((what, found.mode, *found.degraded)), "dim", sys.stderr))


def _data(found: Recalled) -> dict[str, object]:
    return {
        "query": found.query,
        "mode": found.mode,
        "count": len(found.hits),
        "total": found.total,
        "degraded": list(found.degraded),
        "results": [{**as_data(hit.note), "score": hit.score, "why": _why(hit)} for hit in found.hits],
    }


def _why(hit: Hit) -> dict[str, object]:
    return {"match": hit.why.match, "words": list(hit.why.words), "places": list(hit.why.places), "vault": hit.note.vault}


def _text(hit: Hit, *, why: bool) -> str:
    note = hit.note
    about = [note.created[:10], *(f"#{tag}" for tag in note.tags)]
    if note.title:
        about.insert(0, note.title)
    lines = [f"{paint(f'[{note.ref}]', 'bold')} {paint(visible(' '.join(filter(None, about))), 'dim')}", visible(note.body)]
    if why:
        lines.append(
            paint(
                f"why: {hit.why}; {note.vault} vault; written {note.updated or note.created or 'on an unknown day'}", "dim"
            )
        )
    return "\n".join(lines)
