"""``co recall``: the one command whose start is a promise, so it has a module to itself."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from co_cli.knowledge import open_knowledge
from co_cli.surfaces.cli.terminal import as_data, emit, paint, say, visible, warn

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from co_cli.knowledge import Hit, Neighbour, Recalled


def recall_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Find notes by what they say, in the project's vault and the global one.

    A query is words, "phrases", filters such as tag:ops, kind:topic, since:2026-05 or before:7d, and times in plain words,
    which favour notes of that time: "what did we decide last week".

    Examples:
        co recall async
        co recall "release process" -n 10 --why
        co recall deploy -t ops --json
        co recall '"two approvals" since:2026' --links
    """
    parser.add_argument("query", nargs="+", metavar="QUERY", help="what to look for")
    parser.add_argument("-n", type=int, default=5, dest="limit", metavar="N", help="at most so many notes (5)")
    parser.add_argument("--mode", default="", metavar="M", help="auto, grep, text, vector or hybrid")
    parser.add_argument("--kind", action="append", default=[], metavar="K", help="only memory, topic or article")
    parser.add_argument("-t", "--tag", action="append", default=[], metavar="TAG", help="only notes with this tag")
    parser.add_argument("--expired", action="store_true", help="expired notes as well")
    parser.add_argument("--superseded", action="store_true", help="superseded notes as well, behind what superseded them")
    parser.add_argument("--why", action="store_true", help="say for each note why it was found")
    parser.add_argument("--links", action="store_true", help="name the notes that each note is linked with")
    return _recall


def _recall(arguments: Namespace) -> None:
    kb = open_knowledge()
    with _progress() as progress:
        found = kb.recall(
            " ".join(arguments.query),
            limit=arguments.limit,
            mode=arguments.mode,
            kinds=arguments.kind,
            tags=arguments.tag,
            expired=arguments.expired,
            superseded=arguments.superseded,
            progress=progress,
        )
        linked = kb.neighbours(hit.note for hit in found.hits) if arguments.links and found.hits else {}
    warn((*found.problems, *found.notices))
    if arguments.json:
        emit(arguments, _data(found, linked), "")
        return
    emit(arguments, None, "\n\n".join(_text(hit, linked, why=arguments.why) for hit in found.hits))
    count, more = len(found.hits), found.total > len(found.hits)
    what = f"{count}{f' of {found.total}' if more else ''} {'note' if count == 1 and not more else 'notes'}"
    if not count:
        what = f"No notes found matching '{found.query}'"
    say(paint(" · ".join((what, found.mode, *found.degraded)), "dim", sys.stderr))


def _progress() -> AbstractContextManager[Callable[[str, int, int], None] | None]:
    if sys.stderr is None or not sys.stderr.isatty():
        from contextlib import nullcontext

        return nullcontext()
    from co_cli.surfaces.cli.progress import Progress

    return Progress()


def _data(found: Recalled, linked: Mapping[str, tuple[Neighbour, ...]]) -> dict[str, object]:
    return {
        "query": found.query,
        "mode": found.mode,
        "count": len(found.hits),
        "total": found.total,
        "degraded": list(found.degraded),
        "notices": list(found.notices),
        "results": [_result(hit, linked) for hit in found.hits],
    }


def _result(hit: Hit, linked: Mapping[str, tuple[Neighbour, ...]]) -> dict[str, object]:
    why = {name: value for name, value in hit.why._asdict().items() if value is not None}
    place = {"cite": hit.cite, "page": hit.page or None}
    data = {**as_data(hit.note), **place, "score": hit.score, "why": {**why, "vault": hit.note.vault}}
    if hit.stale:
        data["stale"] = list(hit.stale)
    if hit.is_passage:
        data.update(content=hit.content, heading=hit.heading, line=hit.line)
    if hit.note.path in linked:
        data["links"] = [neighbour._asdict() for neighbour in linked[hit.note.path]]
    return data


def _text(hit: Hit, linked: Mapping[str, tuple[Neighbour, ...]], *, why: bool) -> str:
    note = hit.note
    about = [note.created[:10], *(f"#{tag}" for tag in note.tags)]
    if note.title:
        about.insert(0, note.title)
    lines = [
        f"{paint(f'[{note.ref}]', 'bold')} {paint(visible(' '.join(filter(None, about))), 'dim')}",
        visible(hit.content),
    ]
    if hit.is_passage:
        place = f"line {hit.line}{f', under {hit.heading}' if hit.heading else ''}"
        lines.append(paint(visible(f"({hit.cite}: {place}; co show {note.ref} has the whole)"), "dim"))
    if hit.why.standing and not why:
        lines.append(paint(f"({hit.why.standing})", "dim"))
    lines += [paint(visible(f"(stale? {reason})"), "yellow") for reason in hit.stale]
    lines += [neighbour_line(neighbour) for neighbour in linked.get(note.path, ())]
    if why:
        written = note.updated or note.created or "on an unknown day"
        lines.append(paint(visible(f"why: {hit.why}; {note.vault} vault; written {written}"), "dim"))
    return "\n".join(lines)


def neighbour_line(neighbour: Neighbour) -> str:
    """A linked note in one line; an arrow says which of the two leads to the other."""
    arrow = "←" if neighbour.incoming else "→"
    if not neighbour.ref:
        return paint(visible(f"{arrow} {neighbour.written} leads nowhere"), "yellow")
    return f"{arrow} {paint(f'[{neighbour.ref}]', 'bold')} {paint(visible(neighbour.title), 'dim')}"
