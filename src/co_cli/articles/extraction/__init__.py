"""From the bytes of a document to Markdown.

Owns the registry of kinds: what can be read, by what, and what that needs. Decides what a document is, has it read, and sees
to it that what comes out is clean and not too long. Knows nothing of where a document came from, or where its text goes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, cast

from co_cli.articles.extraction.document import (
    CHARACTERS,
    EMPTY,
    MEGABYTE,
    RAW_LIMIT,
    Extracted,
    Original,
    missing,
    no_text,
    too_large,
)
from co_cli.errors import Invalid

if TYPE_CHECKING:
    from co_cli.articles.extraction.document import Reading

__all__ = ["Extracted", "Kind", "extract", "kinds"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of document that can be read."""

    name: str
    title: str
    """What people call documents of the kind."""
    reading: str
    """The module and the function in it that reads it."""
    packages: tuple[str, ...] = ()
    """What is imported to read it, beyond what co needs anyway."""
    apart: bool = True
    """Whether it is read in a process of its own, since its libraries have to be protected against."""

    @property
    def missing(self) -> tuple[str, ...]:
        """Those of its packages that are not installed."""
        from co_cli.embedding.packages import find_folder

        return tuple(name for name in self.packages if not find_folder(name))

    def read(self) -> Reading:
        """The function that reads it."""
        module, _, name = self.reading.partition(":")
        return cast("Reading", getattr(import_module(module), name))


_KINDS = (
    Kind(
        "html", "Pages of the web", "co_cli.articles.extraction.page:read_page", ("lxml", "lxml_html_clean", "trafilatura")
    ),
    Kind("pdf", "PDF documents", "co_cli.articles.extraction.pdf:read_pdf", ("pypdfium2",)),
    Kind(
        "image", "Pictures", "co_cli.articles.extraction.pictures:read_picture", ("PIL", "numpy", "onnxruntime", "rapidocr")
    ),
    Kind("docx", "DOCX documents", "co_cli.articles.extraction.office:read_docx", ("lxml", "mammoth")),
    Kind("pptx", "Presentations", "co_cli.articles.extraction.office:read_pptx", ("lxml", "pptx")),
    Kind("xlsx", "Spreadsheets", "co_cli.articles.extraction.office:read_sheets", ("lxml", "python_calamine")),
    Kind("epub", "EPUB books", "co_cli.articles.extraction.epub:read_epub", ("lxml",)),
    Kind("mail", "Messages", "co_cli.articles.extraction.mail:read_mail", ("lxml",)),
    Kind("markdown", "Markdown files", "co_cli.articles.extraction.plain:read_markdown", apart=False),
    Kind("notebook", "Notebooks", "co_cli.articles.extraction.plain:read_notebook", apart=False),
    Kind("code", "Source code and data", "co_cli.articles.extraction.plain:read_code", apart=False),
    Kind("text", "Plain texts", "co_cli.articles.extraction.plain:read_text", apart=False),
)


def kinds() -> tuple[Kind, ...]:
    """What can be read, each with what it needs and what of that is missing."""
    return _KINDS


def extract(raw: bytes, *, name: str = "", content_type: str = "", charset: str = "", base_url: str = "") -> Extracted:
    """The text of a document as Markdown; a ``CoError`` says why there is none."""
    from co_cli.articles.extraction.recognition import recognise

    if not raw.strip(b"\0 \t\r\n\f\v"):
        raise Invalid("This document is empty.", "Add one with something in it.", code=EMPTY)
    if len(raw) > RAW_LIMIT:
        raise too_large("document", f"it has {len(raw) // MEGABYTE:,} MB, and {RAW_LIMIT // MEGABYTE} are read at the most")
    original = Original(raw, name, content_type, charset, base_url)
    recognised = recognise(original)
    kind = next(kind for kind in _KINDS if kind.name == recognised)
    if kind.missing:
        raise missing(kind.title, kind.missing)
    if kind.apart:
        from co_cli.articles.extraction.reader import read_apart

        found = read_apart(kind.reading, original)
    else:
        found = kind.read()(original, lambda: None)
    return _finished(kind, original, found)


def _finished(kind: Kind, original: Original, found: Extracted) -> Extracted:
    from co_cli.articles.extraction.cleaning import clean, one_line, shortened

    markdown = clean(found.markdown)
    if not markdown.strip():
        raise no_text("document")
    notices = found.notices
    if len(markdown) > CHARACTERS:
        notices += (f"Only the first {CHARACTERS:,} characters are kept.",)
        markdown = _closed(shortened(markdown, CHARACTERS))
    base = original.name.replace("\\", "/").rpartition("/")[2]
    stem = base.rpartition(".")[0] or base
    return replace(
        found,
        kind=kind.name,
        markdown=markdown,
        title=one_line(found.title) or one_line(stem),
        author=one_line(found.author),
        date=one_line(found.date, 40),
        language=one_line(found.language, 35),
        notices=tuple(map(one_line, notices)),
    )


def _closed(markdown: str) -> str:
    """A text that was cut, with the fence closed that it was cut in."""
    opening = markdown.split("\n", 1)[0]
    fence = opening[: len(opening) - len(opening.lstrip("`"))]
    return f"{markdown}\n{fence}" if len(fence) > 2 and f"\n{fence}\n" not in f"{markdown}\n" else markdown  # noqa: PLR2004
