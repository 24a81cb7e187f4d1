"""What a summary is: a heading, and statements each with the refs of the notes that it rests on.

Owns the form in which it is written as the text of a memory, and the way back; and how it reads without one of its sources.
Knows nothing of vaults. Pure.

    Deploys and staging:

    - We deploy on Fridays [12, 15]
    - Staging runs on port 8080 [18]
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from co_cli.note import Note

_REF = r"(?:g:)?[1-9][0-9]{0,17}"
_REFS = rf"{_REF}(?:\s*,\s*{_REF})*"
_CITATION = re.compile(rf"\s*\[(?P<refs>{_REFS})\]\s*\Z")
_WITHIN = re.compile(rf"(?P<gap> ?)(?<![\w\]\[])\[(?P<refs>{_REFS})\](?![\[(:])")
_BULLET, _INDENT = "- ", "  "
MERGED_FROM = "merged from "
"""How a memory begins to tell why it is there, when it was made from others."""


class Statement(NamedTuple):
    """Something that a summary says, and the notes in which it stands."""

    text: str
    refs: tuple[str, ...]


class Summary(NamedTuple):
    """Several notes in one."""

    heading: str
    statements: tuple[Statement, ...]

    @property
    def refs(self) -> tuple[str, ...]:
        """All that it cites, in its order."""
        return tuple(dict.fromkeys(ref for statement in self.statements for ref in statement.refs))

    @property
    def body(self) -> str:
        """The text of the memory that it becomes."""
        head = [f"{self.heading}:", ""] if self.heading else []
        return "\n".join([*head, *map(_bullet, self.statements)])


def _bullet(statement: Statement) -> str:
    first, *rest = statement.text.split("\n")
    lines = [_BULLET + first, *(_INDENT + line if line else "" for line in rest)]
    citation = f"[{', '.join(statement.refs)}]"
    # behind several lines it stands by itself: the last may be the end of a block of code
    return "\n".join([*lines, _INDENT + citation]) if rest else f"{lines[0]} {citation}"


def listed(heading: str, statements: Iterable[Statement]) -> Summary:
    """The faithful list: every statement in its exact words, and those of twins once."""
    texts: dict[str, str] = {}
    refs: dict[str, dict[str, None]] = {}
    for statement in statements:
        mark = " ".join(statement.text.split()).removesuffix(".")  # nothing more is the same in every case
        texts.setdefault(mark, statement.text)
        refs.setdefault(mark, {}).update(dict.fromkeys(statement.refs))
    return Summary(heading, tuple(Statement(text, tuple(refs[mark])) for mark, text in texts.items()))


def statements_of(note: Note) -> tuple[Statement, ...]:
    """What a note says: one that was merged is taken over with the citations that it has."""
    summary = parse(note.body) if was_merged(note) else None
    return summary.statements if summary else (Statement(note.body.strip(), (note.ref,)),)


def was_merged(note: Note) -> bool:
    """Whether a note was made from others; in any other a number in brackets is no citation.

    One that took the place of a single other mostly contradicts it.
    """
    return len(note.supersedes) > 1 or note.because.startswith(MERGED_FROM)


def parse(body: str) -> Summary | None:
    """The summary that a text is; ``None`` for any other text."""
    heading, items = _items(body.strip().split("\n"))
    statements = tuple(filter(None, map(_statement, items)))
    if not items or len(statements) < len(items):
        return None
    return Summary(heading, statements)


def _items(lines: list[str]) -> tuple[str, list[list[str]]]:
    """The heading, and the lines of each bullet; no bullets where anything else is between them."""
    heading = ""
    if lines and not lines[0].startswith(_BULLET):
        if not lines[0].endswith(":"):
            return "", []
        heading = lines.pop(0)[:-1]
        while lines and not lines[0]:
            lines.pop(0)
    items: list[list[str]] = []
    for line in lines:
        if line.startswith(_BULLET):
            items.append([line[len(_BULLET) :]])
        elif items and (not line or line.startswith(_INDENT)):
            items[-1].append(line[len(_INDENT) :])
        else:
            return "", []
    return heading, items


def _statement(lines: list[str]) -> Statement | None:
    text = "\n".join(lines)
    found = _CITATION.search(text)
    return Statement(text[: found.start()].rstrip(), refs_in(found["refs"])) if found and found.start() else None


def refs_in(text: str) -> tuple[str, ...]:
    """The refs between two brackets."""
    return tuple(dict.fromkeys(ref.strip() for ref in text.split(",")))


def cited(body: str) -> tuple[str, ...]:
    """The refs that a text cites, as a summary or anywhere within."""
    summary = parse(body)
    if summary:
        return summary.refs
    return tuple(dict.fromkeys(ref for found in _WITHIN.finditer(body) for ref in refs_in(found["refs"])))


def without(body: str, gone: Collection[str]) -> tuple[str, bool]:
    """A text as it reads without these sources, and whether that is all there is to it.

    Of a summary go the statements that rest on nothing else; of any other text only the citations can be taken out, and a
    person has to look at the words.
    """
    summary = parse(body)
    if summary is None:
        return _WITHIN.sub(lambda found: _bracket(found, gone), body).strip(), False
    left = (
        statement._replace(refs=tuple(ref for ref in statement.refs if ref not in gone)) for statement in summary.statements
    )
    kept = tuple(statement for statement in left if statement.refs)
    return (summary._replace(statements=kept).body if kept else ""), True


def _bracket(found: re.Match[str], gone: Collection[str]) -> str:
    left = [ref for ref in refs_in(found["refs"]) if ref not in gone]
    return f"{found['gap']}[{', '.join(left)}]" if left else ""
