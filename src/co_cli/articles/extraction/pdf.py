"""PDF documents, page by page.

Owns how pages become text, which pages have to be looked at as pictures, and how the outline of a document becomes headings.
Reads with pypdfium2. Knows nothing of how a picture is read.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

from co_cli.articles.extraction import pictures
from co_cli.articles.extraction.cleaning import clean, one_line, page_mark, shortened, without_page_marks
from co_cli.articles.extraction.document import (
    CHARACTERS,
    OCR_SECONDS,
    PAGES,
    Extracted,
    broken,
    count,
    encrypted,
    listed,
    no_text,
)

if TYPE_CHECKING:
    from co_cli.articles.extraction.document import Original, SignOfLife

_DOTS = 200
"""Dots an inch at which a page is drawn to be looked at."""
_POINTS = 72
_FEW, _IMAGE = 30, 3
"""Letters that a page may have and still be a picture of one; what pypdfium2 calls a picture."""
_LEADER = re.compile(r"(?:[ \t]?[.·…]){6,}[ \t]?")
"""The dots between a title and the number of its page."""
_HYPHEN = re.compile("(?<=\\w)[\ufffe\x02\xad]\\n?(?=\\w)")
_POSING = re.compile(r"^(?=#{1,6}(?:\s|$)|```|~~~|={3,}\s*$|-{3,}\s*$)", re.MULTILINE)
_TOOL_TITLE = re.compile(
    r"^(?:microsoft \w+ - |untitled|slide \d+$|.*\.(?:docx?|pptx?|xlsx?|tex|dvi|indd|pdf)$)", re.IGNORECASE
)
_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?")
_OUTLINE = 2000


def read_pdf(original: Original, alive: SignOfLife) -> Extracted:
    """The text of each page behind its mark; pages that are only pictures are read by OCR."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(original.raw)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower() or "security" in str(error).lower():
            raise encrypted("PDF") from error
        raise broken("PDF") from error
    try:
        return _read(document, alive)
    except pypdfium2.PdfiumError as error:
        raise broken("PDF", str(error)) from error
    finally:
        document.close()


def _read(document: Any, alive: SignOfLife) -> Extracted:  # noqa: ANN401 - pypdfium2 is left to its own types
    there = len(document)
    looks = _Looks(alive)
    headings = _headings(document)
    parts: list[str] = []
    damaged: list[int] = []
    size = read = 0
    for place in range(min(there, PAGES)):
        alive()
        text = _page_text(document, place, looks, headings.get(place, []), damaged)
        if text:
            parts.append(f"{page_mark(place + 1)}\n\n{text}")
            size += len(parts[-1])
        read = place + 1
        if size > CHARACTERS:
            break
    notices = looks.notices()
    if damaged:
        notices.append(f"{'Pages' if len(damaged) > 1 else 'Page'} {listed(damaged)} could not be read.")
    if read < there:
        notices.append(f"Only the first {read:,} of {count(there, 'page')} were read.")
    if not parts:
        raise no_text("PDF", looks.hint())
    said = document.get_metadata_dict(skip_empty=True)
    return Extracted(
        markdown=shortened("\n\n".join(parts), CHARACTERS),
        title=_title(said),
        author=one_line(said.get("Author", "")),
        date=_date(said.get("CreationDate", "")),
        pages=there,
        notices=tuple(notices),
    )


class _Looks:
    """The pages that only a look at them can read: how long that has taken, and what became of them."""

    def __init__(self, alive: SignOfLife) -> None:
        self._alive, self._until = alive, 0.0
        self._seen: list[int] = []
        self._not_installed: list[int] = []
        self._too_late: list[int] = []

    def text(self, page: Any, number: int) -> str:  # noqa: ANN401
        """What a look at a page finds."""
        if pictures.missing_packages():
            self._not_installed.append(number)
            return ""
        now = time.monotonic()
        self._until = self._until or now + OCR_SECONDS
        if now > self._until:
            self._too_late.append(number)
            return ""
        width, height = page.get_size()
        scale = min(_DOTS / _POINTS, pictures.SIDE / max(width, height, 1))  # paper may be as large as a wall
        bitmap = page.render(scale=scale, rev_byteorder=True, may_draw_forms=False)
        try:
            found = pictures.text_of(bitmap.to_pil().convert("RGB"))
        finally:
            bitmap.close()
        self._alive()
        if found:
            self._seen.append(number)
        return found

    def notices(self) -> list[str]:
        """What there is to say about them."""
        said = []
        if self._seen:
            said.append(f"Read by OCR: {_pages(self._seen)}.")
        if self._not_installed:
            said.append(f"Not read, since there are only pictures: {_pages(self._not_installed)}. {pictures.HINT}")
        if self._too_late:
            said.append(f"Not read, since OCR took more than {OCR_SECONDS / 60:.0f} minutes: {_pages(self._too_late)}.")
        return said

    def hint(self) -> str:
        """What could be done about a document without any text."""
        return pictures.HINT if self._not_installed else "Its pages are empty, or OCR finds no letters on them."


def _pages(numbers: list[int]) -> str:
    return f"{'pages' if len(numbers) > 1 else 'page'} {listed(numbers)}"


def _page_text(document: Any, place: int, looks: _Looks, titles: list[tuple[int, str]], damaged: list[int]) -> str:  # noqa: ANN401
    import pypdfium2

    try:
        page = document[place]
        try:
            layer = page.get_textpage()
            try:
                text = layer.get_text_bounded()
            finally:
                layer.close()
            text = clean(_LEADER.sub(" … ", _HYPHEN.sub("", text.replace("\r\n", "\n"))))
            if _needs_a_look(page, text):
                seen = clean(looks.text(page, place + 1))
                text = seen if len(seen) > len(text) else text
        finally:
            page.close()
    except pypdfium2.PdfiumError:
        damaged.append(place + 1)
        return ""
    return _with_headings(without_page_marks(_POSING.sub(r"\\", text)), titles) if text.strip() else ""


def _needs_a_look(page: Any, text: str) -> bool:  # noqa: ANN401
    """Whether a page is drawn and not written; one that was scanned may have a number written on it."""
    letters = sum(sign.isalnum() for sign in text)
    if letters > _FEW:
        return False
    for thing in page.get_objects(max_depth=2):
        if not letters:
            return True
        left, bottom, right, top = thing.get_bounds()
        width, height = page.get_size()
        if thing.type == _IMAGE and (right - left) * (top - bottom) > width * height / 2:
            return True
    return False


def _headings(document: Any) -> dict[int, list[tuple[int, str]]]:  # noqa: ANN401
    """The outline of a document: what stands on which page, and how deep it lies."""
    import pypdfium2

    found: dict[int, list[tuple[int, str]]] = {}
    try:
        for number, mark in enumerate(document.get_toc(max_depth=6)):
            target = mark.get_dest()
            page = target.get_index() if target else None
            title = " ".join(str(mark.get_title()).split())
            if page is not None and title:
                found.setdefault(page, []).append((mark.level, title))
            if number >= _OUTLINE:
                break
    except (pypdfium2.PdfiumError, ValueError):
        pass  # a document can be read without its outline
    return found


def _with_headings(text: str, titles: list[tuple[int, str]]) -> str:
    """A page whose lines that stand in the outline are headings."""
    lines = text.split("\n")
    folded = [" ".join(line.casefold().split()) for line in lines]
    for level, title in titles:
        wanted = title.casefold()
        if wanted in folded:
            place = folded.index(wanted)
            folded[place] = ""
            lines[place] = f"\n{'#' * min(level + 2, 6)} {lines[place].strip()}\n"
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _title(said: dict[str, str]) -> str:
    title = one_line(said.get("Title", ""))
    return "" if _TOOL_TITLE.match(title) else title


def _date(stamp: str) -> str:
    found = _DATE.match(stamp)
    return "-".join(part for part in found.groups() if part) if found else ""
