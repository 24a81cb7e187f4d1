"""Real documents of many kinds, made for the tests of what can be read."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any


def pdf(
    pages: Sequence[str], *, title: str = "", author: str = "", password: str = "", outline: Mapping[str, int] | None = None
) -> bytes:
    """A PDF with a line of text for each line, and bookmarks with the number of the page that each stands for."""
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    font = writer._add_object(
        DictionaryObject(
            {
                NameObject("/Type"): NameObject("/Font"),
                NameObject("/Subtype"): NameObject("/Type1"),
                NameObject("/BaseFont"): NameObject("/Helvetica"),
                NameObject("/Encoding"): NameObject("/WinAnsiEncoding"),
            }
        )
    )
    for text in pages:
        page = writer.add_blank_page(612, 792)
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})})
        lines = [line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for line in text.split("\n")]
        drawn = "".join(f"({line}) Tj T* " for line in lines)
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 16 TL 72 720 Td {drawn}ET".encode("cp1252"))
        page[NameObject("/Contents")] = writer._add_object(stream)
    for name, number in (outline or {}).items():
        writer.add_outline_item(title=name, page_number=number - 1)
    writer.add_metadata({"/Title": title, "/Author": author, "/CreationDate": "D:20240305101500Z"})
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    content = io.BytesIO()
    writer.write(content)
    return content.getvalue()


def picture(lines: Sequence[str], form: str = "PNG", *, size: tuple[int, int] = (900, 400), mode: str = "RGB") -> bytes:
    """A picture with lines of text, as large letters on a light ground."""
    content = io.BytesIO()
    drawn(lines, size).convert(mode).save(content, form)
    return content.getvalue()


def drawn(lines: Sequence[str], size: tuple[int, int] = (900, 400)) -> Any:
    """The same as an object of Pillow, from which scans and documents are made."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        draw.text((40, 40 + number * 60), line, fill="black", font=ImageFont.load_default(size=36))
    return image


def scan(pages: Sequence[Sequence[str]]) -> bytes:
    """A PDF whose pages are pictures, as a scanner makes it."""
    first, *rest = (drawn(lines) for lines in pages)
    content = io.BytesIO()
    first.save(content, "PDF", save_all=True, append_images=rest, resolution=100)
    return content.getvalue()


def docx() -> bytes:
    """A text with headings, a list, a table, a link, and what Word knows about it."""
    import docx as word
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    document = word.Document()
    document.core_properties.title, document.core_properties.author = "Runbook", "Ada Byron"
    document.add_heading("Runbook", 0)
    document.add_heading("Rolling back", 1)
    paragraph = document.add_paragraph("Stop the ")
    paragraph.add_run("queue").bold = True
    paragraph.add_run(" first, then read ")
    link = OxmlElement("w:hyperlink")
    link.set(
        qn("r:id"),
        document.part.relate_to(
            "https://example.org/rollback", word.opc.constants.RELATIONSHIP_TYPE.HYPERLINK, is_external=True
        ),
    )
    run = OxmlElement("w:r")
    run.append(OxmlElement("w:t"))
    run[0].text = "the page"
    link.append(run)
    paragraph._p.append(link)
    document.add_paragraph("wait for the workers", style="List Bullet")
    document.add_paragraph("tell the others", style="List Bullet")
    table = document.add_table(2, 2)
    for row, words in zip(table.rows, (("Service", "Port"), ("mail | news", "25")), strict=True):
        for cell, word_ in zip(row.cells, words, strict=True):
            cell.text = word_
    content = io.BytesIO()
    document.save(content)
    return content.getvalue()


def pptx() -> bytes:
    """Two slides: one with points under points and notes, one with a table."""
    import pptx as powerpoint
    from pptx.util import Inches

    show = powerpoint.Presentation()
    show.core_properties.title = "Quarterly review"
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = "What went well"
    frame = slide.placeholders[1].text_frame
    frame.text = "fewer incidents"
    inner = frame.add_paragraph()
    inner.text, inner.level = "none at night", 1
    slide.notes_slide.notes_text_frame.text = "Thank the team."
    slide = show.slides.add_slide(show.slide_layouts[5])
    slide.shapes.title.text = "Numbers"
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    for place, text in (((0, 0), "Quarter"), ((0, 1), "Incidents"), ((1, 0), "Q3"), ((1, 1), "4")):
        table.cell(*place).text = text
    content = io.BytesIO()
    show.save(content)
    return content.getvalue()


def xlsx() -> bytes:
    """Two sheets, with numbers, a day, a formula and an empty row."""
    from datetime import date

    import xlsxwriter

    content = io.BytesIO()
    book = xlsxwriter.Workbook(content)
    book.set_properties({"title": "Budget", "author": "Ada Byron"})
    sheet = book.add_worksheet("Costs 2024")
    sheet.write_row(0, 0, ["Item", "Euro", "Paid"])
    sheet.write_row(1, 0, ["Server", 120.5])
    sheet.write_datetime(1, 2, date(2024, 3, 5), book.add_format({"num_format": "yyyy-mm-dd"}))
    sheet.write_row(3, 0, ["Domain", 12])
    sheet.write_formula(4, 1, "=SUM(B2:B4)", None, 132.5)
    book.add_worksheet("People").write_row(0, 0, ["Name", "Role"])
    book.add_worksheet("Empty")
    book.close()
    return content.getvalue()


def epub() -> bytes:
    """A book of two chapters, in another order than their files."""
    package = """<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">
    <metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Sea</dc:title><dc:creator>Ada Byron</dc:creator>
    <dc:language>en</dc:language><dc:date>1843-01-01</dc:date></metadata>
    <manifest><item id="b" href="b.xhtml" media-type="application/xhtml+xml"/>
    <item id="a" href="chapter%20a.xhtml" media-type="application/xhtml+xml"/></manifest>
    <spine><itemref idref="a"/><itemref idref="b"/></spine></package>"""
    chapter = """<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title>
    </head><body><h1>{0}</h1><p>{1} <a href="b.xhtml#x">further on</a></p></body></html>"""
    return packed(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OPS/book.opf"/></rootfiles></container>',
            "OPS/book.opf": package,
            "OPS/b.xhtml": chapter.format("Storm", "The mast broke at night."),
            "OPS/chapter a.xhtml": chapter.format("Calm", "Nothing moved for nine days."),
        }
    )


def packed(parts: Mapping[str, str | bytes]) -> bytes:
    """A packed folder with these parts."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part, zipfile.ZIP_STORED if name == "mimetype" else None)
    return content.getvalue()
