"""A block of lines of our own in a text of somebody else: between two marks, by which it is found again.

Owns the marks, and leaving the rest of the text as it is: taking the block out gives the text that was there before.
"""

from __future__ import annotations

_BEGIN = "co connect: begin (this block is replaced by co)"
_END = "co connect: end"
_CLOSED = {"#": "", "<!--": " -->"}


def with_block(text: str, comment: str, body: str) -> str:
    """The text with the block: in its old place, or else at the end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    block = newline.join((_line(comment, _BEGIN), *body.split("\n"), _line(comment, _END)))
    place = _find(text, comment)
    if place:
        return text[: place[0]] + block + text[place[1] :]
    if not text:
        return f"{block}{newline}"
    # a text whose last line does not end keeps that, so that it can be told afterwards
    return f"{text}{newline}{block}{newline}" if text.endswith("\n") else f"{text}{newline}{newline}{block}"


def without(text: str, comment: str) -> str:
    """The text without the block, and without the empty line that came with it."""
    place = _find(text, comment)
    if not place:
        return text
    before, after = text[: place[0]], text[place[1] :]
    newline = "\r\n" if "\r\n" in text else "\n"
    if not after:
        return before.removesuffix(newline).removesuffix(newline)
    return before.removesuffix(newline) + after.removeprefix(newline)


def _find(text: str, comment: str) -> tuple[int, int] | None:
    begin, end = _line(comment, _BEGIN), _line(comment, _END)
    stop = text.find(end)
    start = text.rfind(begin, 0, max(stop, 0))  # the nearest: nothing of somebody else may lie between
    if start < 0 or (start and text[start - 1] != "\n"):
        return None
    return start, stop + len(end)


def _line(comment: str, words: str) -> str:
    return f"{comment} {words}{_CLOSED[comment]}"
