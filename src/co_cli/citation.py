"""Citations: how an answer says in which part of a note it found something, and which part is meant by one.

Owns reading ``article:rfc-9110#routing``, ``article:rfc-9110 p. 12`` and both at once, and finding the section or the page
in the body. Headings have the names that `chunking` gives them; citations are written by `retrieval.hit`. Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import NotFound
from co_cli.pages import pages, without_marks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from co_cli.note import Note

_CITATION = r"(?s)\s*(?P<ref>[^#\s].*?)(?:#(?P<anchor>[^#\s]+?))?(?:,?\s+(?:p|pp|page)\b\.?\s*(?P<page>[0-9]{1,6}))?\s*"
_NAMED = 20
"""Headings that are named at most where one is not found."""


def packed(anchor: str, sections: Iterable[tuple[int, str]]) -> str:
    """The names of a passage in one line: that of the heading that holds for all of it, then those of further ones."""
    return " ".join([anchor, *(f"{place}:{name}" for place, name in sections)])


def nearest(names: str, content: str, words: Callable[[str], Iterable[str]]) -> str:
    """The name of the heading under which the words stand that were found in a passage, else of that which holds for all.

    ``names`` is what :func:`packed` made of them; ``words`` says which of the words a text holds.
    """
    anchor, *rest = names.split(" ")
    if not rest:
        return anchor
    sections = [(int(place), name) for place, _, name in (each.partition(":") for each in rest)]
    starts, ends = (0, *(place for place, _ in sections)), (*(place for place, _ in sections), len(content))
    held = [frozenset(words(content[start:end])) for start, end in zip(starts, ends, strict=True)]
    everything = frozenset().union(*held)
    having = [name for (_, name), each in zip([(0, anchor), *sections], held, strict=True) if each == everything]
    return having[0] if everything and len(having) == 1 and having[0] else anchor


class Citation(NamedTuple):
    """A ref, and which part of the note is meant."""

    ref: str
    anchor: str = ""
    page: int = 0


class Part(NamedTuple):
    """A part of a note: a section, a page, or what of a section stands on a page; or the whole."""

    note: Note
    text: str
    """The text of the part, without the marks of pages; of a whole note, its body."""
    anchor: str = ""
    page: int = 0
    line: int = 1
    """The line of the body on which it begins."""

    @property
    def is_whole(self) -> bool:
        """Whether the whole note is meant."""
        return not (self.anchor or self.page)


def parse_citation(text: str) -> Citation | None:
    """Read a citation; ``None`` for what names no part."""
    found = re.fullmatch(_CITATION, text)
    if not found or not (found["anchor"] or found["page"]):
        return None
    return Citation(found["ref"], found["anchor"] or "", int(found["page"] or 0))


def find_part(note: Note, citation: Citation) -> Part:
    """The part that a citation of a note means; raises ``NotFound`` with what there is."""
    body, anchor = note.body, citation.anchor.lower()
    start, end = _section(note, anchor) if anchor else (0, len(body))
    if citation.page:
        found = [(max(start, page.start), min(end, page.end)) for page in pages(body) if page.number == citation.page]
        found = [(first, last) for first, last in found if body[first:last].strip()]
        if not found:
            raise _no_page(note, citation)
        start, end = found[0][0], found[-1][1]
    text = body[start:end]
    at = start + len(text) - len(text.lstrip())
    return Part(note, without_marks(text).strip(), anchor, citation.page, body.count("\n", 0, at) + 1)


def _section(note: Note, anchor: str) -> tuple[int, int]:
    """Where the section under a heading begins and ends: at the next heading that is no lower."""
    from co_cli.chunking import headings

    start, level = -1, 0
    known = []
    for heading in headings(note.body):
        if start >= 0 and heading.block.level <= level:
            return start, heading.start
        if start < 0 and heading.block.anchor == anchor:
            start, level = heading.start, heading.block.level
        known.append(heading.block.anchor)
    if start >= 0:
        return start, len(note.body)
    names = ", ".join(f"#{name}" for name in known[:_NAMED] if name)
    more = f" and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
    hint = f"Its headings: {names}{more}." if names else f"It has no headings: co show {note.ref}"
    raise NotFound(f"{note.ref} has no heading #{anchor}.", hint)


def _no_page(note: Note, citation: Citation) -> NotFound:
    numbers = [page.number for page in pages(note.body) if page.number]
    if not numbers:
        return NotFound(f"{note.ref} has no pages.", f"The whole of it: co show {note.ref}")
    where = f"page {citation.page}" + (f" of #{citation.anchor}" if citation.anchor and citation.page in numbers else "")
    hint = f"It has the pages {min(numbers)} to {max(numbers)}."
    return NotFound(
        f"{note.ref} has nothing on {where}." if citation.page in numbers else f"{note.ref} has no {where}.", hint
    )
