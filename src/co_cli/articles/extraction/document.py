"""What goes into the reading of a document, what comes out of it, and how large either may be.

Owns the shapes that all kinds share, the limits, and the words for documents that cannot be read. Knows no kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import Corrupt, Invalid, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MEGABYTE = 1024 * 1024
RAW_LIMIT = 100 * MEGABYTE
"""Bytes of an original; the web and the disk have larger files, but no larger text worth keeping."""
PAGE_SOURCE_LIMIT = 20 * MEGABYTE
"""Bytes of HTML: the tree of a page takes many times its size."""
UNPACKED_LIMIT = 256 * MEGABYTE
"""Bytes that the parts of a packed document may have together, once unpacked."""
CHARACTERS = 2_000_000
"""Characters of the text that is kept: more than War and Peace in Russian has words, or a thousand pages."""
PAGES = 2000
PIXELS = 50_000_000
"""Dots of a picture, about those of an A4 page scanned at 720 dots an inch."""
ROWS = 20_000
"""Rows that are kept of one sheet."""
OCR_SECONDS = 600.0
"""How long the pages of one document are looked at, in all, for what only a picture shows."""

INSTALL = "Install it: pip install 'co-cli[articles]'"

ENCRYPTED, BROKEN, EMPTY, TOO_LARGE, TOO_SLOW = "encrypted", "broken", "empty", "too-large", "too-slow"
NO_TEXT, UNKNOWN_KIND, MISSING_EXTRA = "no-text", "unknown-kind", "missing-extra"
"""The codes of what can be wrong."""


class Original(NamedTuple):
    """A document as it came, with what was said about it."""

    raw: bytes
    name: str = ""
    """The name of its file, or the last part of its address."""
    content_type: str = ""
    charset: str = ""
    base_url: str = ""
    """Where its relative links start from."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """The text of a document as Markdown, and what the document says of itself; what is not known is empty."""

    markdown: str = ""
    kind: str = ""
    """``html``, ``pdf``, ``image``, ``docx``, ``pptx``, ``xlsx``, ``epub``, ``mail``, ``markdown``, ``code``, ``text``, …"""
    title: str = ""
    author: str = ""
    date: str = ""
    """As far as it is known: ``2024``, ``2024-03``, ``2024-03-05`` or a whole timestamp."""
    language: str = ""
    pages: int = 0
    """How many there are; 0 for what has none."""
    tags: tuple[str, ...] = ()
    """Those in the header of a Markdown file."""
    private: bool = False
    """Whether the header of a Markdown file says so."""
    notices: tuple[str, ...] = ()
    """What was left out or could not be done, a sentence each."""


if TYPE_CHECKING:
    SignOfLife = Callable[[], None]
    """Called now and then by who reads a long document: one that is silent for too long is taken for stuck."""
    Reading = Callable[[Original, SignOfLife], Extracted]


def encrypted(what: str) -> Corrupt:
    """The error for a document that only a password opens."""
    return Corrupt(
        f"This {what} is protected by a password.", "Save a copy without the password, and add that.", code=ENCRYPTED
    )


def broken(what: str, why: str = "") -> Corrupt:
    """The error for a document that its library cannot understand."""
    reason = " ".join(why.split())[:200].rstrip(".")
    return Corrupt(
        f"This {what} is damaged, or is none{f': {reason}' if reason else ''}.",
        "Open it with the program that made it, save it again, and add that.",
        code=BROKEN,
    )


def too_large(what: str, limit: str) -> Invalid:
    """The error for a document that is larger than is good for who reads it."""
    return Invalid(f"This {what} is too large: {limit}.", "Add the part of it that matters.", code=TOO_LARGE)


def no_text(what: str, hint: str = "There is nothing in it to search for; describe it in a note of your own.") -> Invalid:
    """The error for a document that was read, and holds no text."""
    return Invalid(f"This {what} holds no text.", hint, code=NO_TEXT)


def missing(what: str, packages: Iterable[str]) -> Unavailable:
    """The error for a kind whose libraries are not installed."""
    names = ", ".join(packages)
    return Unavailable(f"{what} cannot be read: what reads them is not installed ({names}).", INSTALL, code=MISSING_EXTRA)


def count(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(numbers: Iterable[int]) -> str:
    """Page numbers for people: ``3``, ``3–5, 9``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in runs)
