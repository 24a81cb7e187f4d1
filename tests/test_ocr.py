"""What only a picture shows is read too, on this machine."""

from __future__ import annotations

from pathlib import Path

import documents
import pytest
from processes import traces_of_reports

from co_cli.articles.extraction import extract, pictures
from co_cli.errors import CoError

pytestmark = pytest.mark.slow
LINES = ["Invoice number 4711", "Total 99 EUR"]


def test_pictures_of_every_format_are_read() -> None:
    for form in ("PNG", "JPEG", "WEBP", "TIFF", "GIF", "BMP"):
        found = extract(documents.picture(LINES, form), name="scan.txt")
        assert (found.markdown, found.kind, found.pages) == ("\n".join(LINES), "image", 0)
    for mode in ("1", "P", "I;16", "CMYK"):
        form = "TIFF" if mode in ("I;16", "CMYK") else "PNG"
        assert extract(documents.picture(LINES, form, mode=mode)).markdown == "\n".join(LINES), mode


def test_a_picture_of_a_long_page_is_read_to_its_end() -> None:
    lines = [f"This is line number {number}" for number in range(100, 145)]
    found = extract(documents.picture(lines, size=(800, 2800)))
    assert [line for line in found.markdown.split("\n") if line] == lines


def test_scanned_pages_stand_behind_their_marks_and_blank_ones_are_left_out() -> None:
    found = extract(documents.scan([LINES, [], ["Third page"]]), name="scan.pdf")
    assert found.markdown == "<!-- page 1 -->\n\nInvoice number 4711\nTotal 99 EUR\n\n<!-- page 3 -->\n\nThird page"
    assert found.pages == 3
    assert found.notices == ("Read by OCR: pages 1, 3.",)


def test_a_scanned_page_with_a_number_written_on_it_is_read_all_the_same() -> None:
    import io

    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=io.BytesIO(documents.scan([LINES])))
    writer.pages[0].merge_page(PdfReader(io.BytesIO(documents.pdf(["7"]))).pages[0])
    content = io.BytesIO()
    writer.write(content)
    assert "\n".join(LINES) in extract(content.getvalue()).markdown


def test_a_picture_without_letters_is_said_to_hold_no_text() -> None:
    for raw in (documents.picture([]), documents.scan([[]])):
        with pytest.raises(CoError) as caught:
            extract(raw)
        assert caught.value.code == "no-text"


def test_the_engine_reports_to_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scan.png").write_bytes(documents.picture(LINES))
    script = """
import pathlib, sys
from co_cli.articles.extraction import extract
assert "4711" in extract(pathlib.Path(sys.argv[1]).read_bytes()).markdown
"""
    assert traces_of_reports(script, tmp_path / "scan.png", top=tmp_path / "top", monkeypatch=monkeypatch) == []


def test_without_ocr_pictures_say_what_to_install_and_pdfs_what_they_leave_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pictures, "PACKAGES", ("rapidocr_that_is_not_there",))
    from co_cli.articles.extraction.document import Original
    from co_cli.articles.extraction.pdf import read_pdf

    with pytest.raises(CoError, match="not installed") as caught:
        pictures.read_picture(Original(documents.picture(LINES)), lambda: None)
    assert "pip install 'co-cli[articles]'" in caught.value.hint
    with pytest.raises(CoError) as caught:
        read_pdf(Original(documents.scan([LINES])), lambda: None)
    assert "pip install 'co-cli[articles]'" in caught.value.hint
