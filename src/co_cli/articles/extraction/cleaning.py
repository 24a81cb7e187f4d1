"""What a text from elsewhere must not carry into a note: signs that act on terminals, or hide what is written.

Owns the signs that are left out, the runs of blanks, and the length of a text. Knows nothing of where a text comes from.
Pure, and linear in the length of the text.
"""

from __future__ import annotations

import re

_LINE_ENDS = re.compile("\r\n?|[\x85\u2028\u2029\x0b\x0c]")
# Commands to a terminal: ESC [ … letter, ESC ] … BEL, and the like; the sign that introduces one goes with its words.
_TERMINAL = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"
    "|(?:\x1b[\\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]{0,512}(?:\x07|\x1b\\\\|\x9c)"
    "|\x1b[ -/]{0,4}[0-~]"
)
# Controls; signs that turn the direction of a line around; signs that are there and cannot be seen.
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u200b\u2060\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff\U000e0000-\U000e007f]"
)
_SURROGATES = re.compile("[\ud800-\udfff]")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){3,}")
_BLANKS = re.compile(r"(?<![ \t\xa0])[ \t\xa0]{101,}")
_PAGE_MARK = re.compile(r"<!--(?=\s*page\b)", re.IGNORECASE)


def clean(text: str) -> str:
    """A text without what must not go on; lines end in one way, and no more than two of them in a row are blank."""
    text = _LINE_ENDS.sub("\n", text)
    if "\x1b" in text or not text.isascii():
        text = _SURROGATES.sub("\ufffd", _TERMINAL.sub("", text))
    text = _FORBIDDEN.sub("", text)
    text = _BLANKS.sub(lambda run: run[0][:100], text)
    return _BLANK_LINES.sub("\n\n\n", text).strip("\n").rstrip()


def one_line(text: str, limit: int = 300) -> str:
    """A title or a name: one line, not too long."""
    line = " ".join(clean(text).split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def without_page_marks(text: str) -> str:
    """A text that cannot be taken for the mark before a page."""
    return _PAGE_MARK.sub("<!- -", text) if "<!--" in text else text


def page_mark(number: int) -> str:
    """What stands, on a line of its own, before the text of a page."""
    return f"<!-- page {number} -->"


def shortened(text: str, limit: int) -> str:
    """The beginning of a text, cut between paragraphs or lines where one is near."""
    if len(text) <= limit:
        return text
    for border in ("\n\n", "\n", " "):
        end = text.rfind(border, limit * 9 // 10, limit)
        if end > 0:
            return text[:end].rstrip()
    return text[:limit]


def fenced(text: str, language: str = "") -> str:
    """A text as a block of code, with a fence that is longer than any in it."""
    longest = max(map(len, re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.strip(chr(10)).rstrip()}\n{fence}"
