"""Office documents: texts, slides and sheets.

Owns what of each becomes Markdown. Reads DOCX with mammoth, PPTX with python-pptx and sheets with calamine. Knows nothing of
how a packed document is unpacked with care.
"""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from co_cli.articles.extraction.archive import Archive, properties
from co_cli.articles.extraction.cleaning import one_line, page_mark, without_page_marks
from co_cli.articles.extraction.document import CHARACTERS, PAGES, ROWS, Extracted, broken, count, encrypted, no_text

if TYPE_CHECKING:
    from co_cli.articles.extraction.document import Original, SignOfLife

_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='Quote'] => blockquote:fresh
p[style-name='Intense Quote'] => blockquote:fresh
p[style-name='Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
p[style-name='Source Code'] => pre:separator('\\n')
r[style-name='Code'] => code
"""
_CELLS = 500_000
"""Cells of all sheets that are looked at."""
_GROUPS = 20
_WHOLE = re.compile(r"-?\d{1,15}\.0")


def read_docx(original: Original, alive: SignOfLife) -> Extracted:
    """A text with its headings, lists, tables, links and footnotes."""
    import mammoth
    from lxml import html

    from co_cli.articles.extraction.rendering import rendered

    archive = Archive(original.raw, "DOCX document")
    archive.check()
    alive()
    try:
        converted = mammoth.convert_to_html(
            io.BytesIO(original.raw), style_map=_STYLES, convert_image=mammoth.images.img_element(lambda _: {"src": ""})
        )
        tree = html.fragment_fromstring(converted.value, create_parent="div")
    except Exception as error:  # its errors are of many kinds, as its documents are
        raise broken("DOCX document") from error
    alive()
    markdown = rendered(tree, original.base_url)
    if not markdown.strip():
        raise no_text("DOCX document")
    return replace(properties(archive), markdown=markdown)


def read_pptx(original: Original, alive: SignOfLife) -> Extracted:
    """Slides as pages, each with its title, its texts in their order, its tables and what the speaker noted."""
    import pptx

    archive = Archive(original.raw, "presentation")
    archive.check()
    alive()
    try:
        slides = list(pptx.Presentation(io.BytesIO(original.raw)).slides)
        parts = []
        for number, slide in enumerate(slides[:PAGES], 1):
            alive()
            text = without_page_marks("\n\n".join(_slide(slide)))
            if text:
                parts.append(f"{page_mark(number)}\n\n{text}")
    except Exception as error:  # its errors are of many kinds
        raise broken("presentation") from error
    if not parts:
        raise no_text("presentation")
    notices = (f"Only the first {PAGES:,} of {count(len(slides), 'slide')} were read.",) if len(slides) > PAGES else ()
    return replace(properties(archive), markdown="\n\n".join(parts), pages=len(slides), notices=notices)


def _slide(slide: Any) -> list[str]:  # noqa: ANN401 - python-pptx has no types
    from co_cli.articles.extraction.rendering import harmless

    title = slide.shapes.title
    blocks = []
    if title is not None and title.has_text_frame and title.text_frame.text.strip():
        blocks.append(f"## {one_line(title.text_frame.text)}")
    for shape in slide.shapes:
        if title is None or shape.shape_id != title.shape_id:
            blocks += _shape(shape, 0)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        noted = slide.notes_slide.notes_text_frame.text.strip()
        if noted:
            blocks.append(f"Notes: {harmless(noted)}")
    return blocks


def _shape(shape: Any, depth: int) -> list[str]:  # noqa: ANN401
    from co_cli.articles.extraction.rendering import harmless, table

    if hasattr(shape, "shapes"):
        return [block for inner in shape.shapes for block in _shape(inner, depth + 1)] if depth < _GROUPS else []
    if getattr(shape, "has_table", False):
        grid = [[" ".join(cell.text_frame.text.split()) for cell in row.cells] for row in shape.table.rows]
        return [table(grid)] if any(map(any, grid)) else []
    if not shape.has_text_frame:
        return []
    paragraphs = [(part.level, " ".join(_runs(part).split())) for part in shape.text_frame.paragraphs]
    said = [(level, text) for level, text in paragraphs if text]
    if len(said) <= 1 or (shape.is_placeholder and shape.placeholder_format.type in (3, 4)):  # center title, subtitle
        return [harmless(text) for _, text in said]
    return ["\n".join(f"{'  ' * level}- {text}" for level, text in said)]


def _runs(paragraph: Any) -> str:  # noqa: ANN401
    parts = []
    for run in paragraph.runs:
        address = run.hyperlink.address if run.text.strip() else None
        parts.append(f"[{run.text.strip()}]({address})" if address else run.text)
    return "".join(parts) or paragraph.text


def read_sheets(original: Original, alive: SignOfLife) -> Extracted:
    """Each sheet under its name, as a table: what cells show, not how they reckon it."""
    import python_calamine

    said = Extracted()
    if original.raw.startswith(b"PK"):
        archive = Archive(original.raw, "spreadsheet")
        archive.check()
        said = properties(archive)
    alive()
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(original.raw))
    except python_calamine.PasswordError as error:
        raise encrypted("spreadsheet") from error
    except (python_calamine.CalamineError, OSError, ValueError) as error:
        raise broken("spreadsheet", str(error)) from error
    blocks: list[str] = []
    notices: list[str] = []
    left, size = _CELLS, 0
    for name in book.sheet_names:
        alive()
        try:
            sheet = book.get_sheet_by_name(name)
        except (python_calamine.CalamineError, OSError, ValueError):
            notices.append(f"The sheet “{one_line(name, 60)}” could not be read.")
            continue
        if left <= 0 or size > CHARACTERS:
            notices.append(f"The sheet “{one_line(name, 60)}” was not read: those before it are large enough.")
            continue
        text, seen, whole = _sheet(sheet, left)
        left, size = left - seen, size + len(text)
        if text:
            blocks += [f"## {one_line(name, 200)}", text]
        if not whole:
            notices.append(
                f"Of the sheet “{one_line(name, 60)}” only the beginning was read: it has {sheet.total_height:,} rows."
            )
    if not blocks:
        raise no_text("spreadsheet")
    return replace(said, markdown="\n\n".join(blocks), notices=tuple(notices))


def _sheet(sheet: Any, left: int) -> tuple[str, int, bool]:  # noqa: ANN401
    """A sheet as a table, how many cells were looked at, and whether it is all of it."""
    from co_cli.articles.extraction.rendering import table

    rows: list[list[str]] = []
    seen = size = 0
    for values in sheet.iter_rows():
        row = [_shown(value) for value in values]
        if not any(row):
            continue
        seen += len(row)
        if len(rows) >= ROWS or seen > left or size > CHARACTERS:
            return (table(rows) if rows else ""), seen, False
        size += sum(map(len, row)) + 3 * len(row)
        rows.append(row)
    return (table(rows) if rows else ""), seen, True


def _shown(value: object) -> str:
    """What a cell shows; whole numbers come as fractions, and days as midnights."""
    text = str(value) if value is not None else ""
    if isinstance(value, float) and _WHOLE.fullmatch(text):
        return text[:-2]
    return text.removesuffix(" 00:00:00")
