"""The pages of a document: the lines in a body that say where each of them begins.

Owns what such a line looks like: ``<!-- page 12 -->``, alone, at the beginning of a line. It belongs to no page, wherever it
stands: a page ends there even within a code fence, since in the text of a printed page nothing may be counted on. Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_BEGINNING = "<!-- page "
_MARK = r"(?m)^<!-- page ([0-9]{1,6}) -->[ \t]*(?:\r?\n|\r?\Z)"


class Page(NamedTuple):
    """A page, and where its text stands in the body."""

    number: int
    """0 for what stands before the first mark, and for all of a body without any."""
    start: int
    end: int


def pages(body: str) -> Iterator[Page]:
    """The pages of a body in their order; the marks are in none of them."""
    number = start = 0
    if _BEGINNING in body:
        for mark in re.compile(_MARK).finditer(body):
            yield Page(number, start, mark.start())
            number, start = int(mark[1]), mark.end()
    yield Page(number, start, len(body))


def without_marks(text: str) -> str:
    """A text without the lines that mark its pages."""
    return re.sub(_MARK, "", text) if _BEGINNING in text else text
