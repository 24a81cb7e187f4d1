"""How the command line speaks: text or JSON on stdout, everything else on stderr, colour on a terminal only.

Owns the two streams, colours and questions. Knows nothing of what is said.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from co_cli.errors import Denied
from co_cli.knowledge import is_expired

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable

    from co_cli.knowledge import Note, Problem

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def can_show_all(stream: object) -> bool:
    """Whether every sign can be written to a stream as it is."""
    return str(getattr(stream, "encoding", "")).lower().replace("-", "") in ("utf8", "")


def coloured(stream: object) -> bool:
    """Whether to colour what goes to a stream."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or bool(getattr(stream, "isatty", bool)())


def paint(text: str, colour: str, stream: object = None) -> str:
    """Text in a colour where the stream is a terminal."""
    return f"\033[{_CODES[colour]}m{text}\033[0m" if text and coloured(stream or sys.stdout) else text


_VISIBLE = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {127: 0x2421}
_VISIBLE |= dict.fromkeys((*range(128, 160), 0x202D, 0x202E), 0xFFFD)  # the last two turn the order of letters around
_VISIBLE_BUT_ESCAPE = {code: shown for code, shown in _VISIBLE.items() if chr(code) != "\033"}
_OWN = tuple(f"[{code}m" for code in ("0", *_CODES.values()))


def visible(text: str) -> str:
    """Text from a file as a terminal may have it: signs that it would obey are shown instead."""
    return text.translate(_VISIBLE) if getattr(sys.stdout, "isatty", bool)() else text


def harmless(text: str, stream: object) -> str:
    """Text for people as a stream may have it: on a terminal, of all signs that it would obey only our own colours stay."""
    if not getattr(stream, "isatty", bool)():
        return text
    first, *others = text.split("\033")
    shown = (("\033" if part.startswith(_OWN) else "\u241b") + part for part in others)
    return "".join((first, *shown)).translate(_VISIBLE_BUT_ESCAPE)


def emit(arguments: Namespace, data: object, text: str) -> None:
    """Write a result: the data as one JSON document with ``--json``, else the text for people."""
    if arguments.json:
        import json

        print(json.dumps(data, ensure_ascii=not can_show_all(sys.stdout), indent=2))
    elif text:
        print(harmless(text, sys.stdout))


def say(text: str) -> None:
    """Tell people something that is no result."""
    print(harmless(text, sys.stderr), file=sys.stderr)


def warn(problems: Iterable[Problem | str]) -> None:
    """Tell people what is wrong, with path and line."""
    for problem in problems:
        text = str(problem)
        text = text if text.startswith(("WARNING", "ERROR")) else f"warning: {text}"
        say(paint(text, "red" if text.startswith("ERROR") else "yellow", sys.stderr))


def interactive() -> bool:
    """Whether somebody is there to answer."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str, *, otherwise: str) -> str:
    """Put a question on the terminal; without one, say with ``otherwise`` how to do it there."""
    if not interactive():
        raise Denied("There is nobody to ask: this is no terminal.", otherwise)
    say(question)
    try:
        sys.stderr.write("> ")
        sys.stderr.flush()
        return input().strip()
    except EOFError:
        return ""


def painted_difference(text: str, stream: object) -> str:
    """A difference as a terminal has it: what comes in green, what goes in red."""
    colours = {"+": "green", "-": "red", "@": "cyan"}
    return "\n".join(paint(f"  {line}", colours.get(line[:1], "bold"), stream) for line in visible(text).splitlines())


def counted(count: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{count:,} {one if count == 1 else many}"


def waiting_line(count: int) -> str:
    """How many proposals wait, and where to answer them."""
    return f"{counted(count, 'proposal waits', 'proposals wait')} for your yes or no: co review"


def line_of(note: Note) -> str:
    """A note in one line: ref, day, tags, first words."""
    marks = [name for name in ("pinned", "private") if getattr(note, name)]
    if note.superseded_by:
        marks.append(f"superseded by {'g:' if note.ref.startswith('g:') else ''}{note.superseded_by}")
    if note.expires:
        marks.append(f"{'expired' if is_expired(note) else 'expires'} {note.expires[:10]}")
    tags = visible(f" [{', '.join(note.tags)}]") if note.tags else ""
    extra = f" ({', '.join(marks)})" if marks else ""
    words = visible(note.title or note.summary)
    day = paint(note.created[:10] or " " * 10, "dim")
    return f"{paint(note.ref.rjust(5), 'bold')}  {day}  {words}{paint(tags, 'cyan')}{paint(extra, 'dim')}"


def as_data(note: Note) -> dict[str, object]:
    """A note as JSON."""
    data: dict[str, object] = {
        "ref": note.ref,
        "kind": note.kind,
        "id": note.id if note.kind == "memory" else note.slug,
        "title": note.title or note.summary,
        "content": note.body,
        "summary": note.summary,
        "tags": list(note.tags),
        "created": note.created,
        "path": note.path,
        "scope": note.scope or note.vault,
    }
    optional = ("updated", "source", "category", "key", "language", "expires", "superseded_by", "because")
    data.update({name: getattr(note, name) for name in optional if getattr(note, name)})
    data.update({"supersedes": list(note.supersedes)} if note.supersedes else {})
    data.update({name: True for name in ("pinned", "private") if getattr(note, name)})
    return data
