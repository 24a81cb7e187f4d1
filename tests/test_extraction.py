"""What is in a document is found in its Markdown, whatever kind of document it is and whatever it is called."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import documents
import pytest

from co_cli.articles.extraction import Extracted, extract, kinds
from co_cli.errors import CoError, Corrupt, Invalid

GOLDEN = Path(__file__).parent / "golden" / "articles"
PAGE = b"<!doctype html><title>Tides</title><h1>Tides</h1><p>The moon pulls at the water, twice a day.</p>"
PDF = documents.pdf(["Tides"])
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(99)


def refused(raw: bytes, **said: str) -> CoError:
    """The error for a document that cannot be read."""
    with pytest.raises(CoError) as caught:
        extract(raw, **said)
    assert caught.value.message.endswith(".")
    assert caught.value.hint
    return caught.value


def test_a_page_keeps_its_headings_links_lists_tables_and_code_and_nothing_that_stands_around_its_text() -> None:
    found = extract((GOLDEN / "page.html").read_bytes(), base_url="https://example.org/journal/retrying")
    assert found.markdown + "\n" == (GOLDEN / "page.txt").read_text()
    assert (found.title, found.author, found.date) == ("Retrying safely", "Ada Byron", "2024-03-05")
    assert (found.kind, found.language) == ("html", "en-GB")


def test_the_text_of_a_page_is_found_where_nothing_marks_it() -> None:
    words = "The tide comes in twice a day, and the moon is to blame for it, as sailors have known for long. "
    page = f"""<html><body><div id=top><ul>{"<li><a href=/x>Section</a></li>" * 9}</ul></div><div class=wrap><div>
    <h2>Tides</h2><p>{words * 3}</p><h3>Spring tides</h3><p>{words * 2}</p><pre>height = 3</pre></div>
    <div class="related-posts"><p>Read on: <a href=/a>Waves and what they carry</a></p></div></div>
    <div id=footer>Copyright by nobody. <a href=/imprint>Imprint</a></div></body></html>"""
    markdown = extract(page.encode()).markdown
    assert markdown.startswith("## Tides\n\nThe tide comes in")
    assert "### Spring tides" in markdown
    assert "```\nheight = 3\n```" in markdown
    assert not any(word in markdown for word in ("Section", "Imprint", "Waves"))


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ('<a href="/x"><h3>Tides</h3><p>Twice a day.</p></a>', "### [Tides](https://example.org/x)\n\nTwice a day."),
        ("<p>a<b> bold</b><i>er </i>word</p>", "a **bold***er* word"),
        ("<ul>\n<li>one<ul><li>two</ul><ul><li>three</ul></ul>", "- one\n  - two\n  - three"),
        ("<p>`tick` and <code>a`b</code> and <code></code></p>", "`tick` and `` a`b `` and"),
        ("<table><tr><td><p>Only</p><p>layout</p></td></tr></table>", "Only\n\nlayout"),
        (
            "<h2></h2><p>  </p><hr><p>1986. A year &amp; <a href='data:x'>no link</a>.</p>",
            "* * *\n\n1986\\. A year & no link.",
        ),
        ("<p>x</p><details><summary>More</summary>Behind it</details>", "x\n\nMore\n\nBehind it"),
        ("<p>&lt;system-reminder&gt; &lt;!-- page 3 --&gt;</p>", "\\<system-reminder> \\<!-- page 3 -->"),
    ],
)
def test_what_html_means_is_written_as_plain_markdown(html: str, markdown: str) -> None:
    assert extract(f"<html><body>{html}</body></html>".encode(), base_url="https://example.org/").markdown == markdown


def test_pages_of_a_pdf_stand_behind_their_marks_and_its_outline_becomes_headings() -> None:
    raw = documents.pdf(
        ["Introduction\nWhat goes up (comes down).", "", "Rolling Back\nGröße counts.\n# no heading\n<!-- page 9 -->"],
        title="Manual",
        author="Ada Byron",
        outline={"Introduction": 1, "Rolling  back": 3},
    )
    found = extract(raw, name="m.pdf")
    assert found.markdown == (
        "<!-- page 1 -->\n\n## Introduction\n\nWhat goes up (comes down).\n\n"
        "<!-- page 3 -->\n\n## Rolling Back\n\nGröße counts.\n\\# no heading\n<!- - page 9 -->"
    )
    assert (found.pages, found.title, found.author, found.date) == (3, "Manual", "Ada Byron", "2024-03-05")


def test_a_word_document_keeps_headings_lists_tables_and_links() -> None:
    found = extract(documents.docx())
    assert found.markdown == (
        "# Runbook\n\n# Rolling back\n\nStop the **queue** first, then read [the page](https://example.org/rollback)\n\n"
        "- wait for the workers\n- tell the others\n\n| Service | Port |\n| --- | --- |\n| mail \\| news | 25 |"
    )
    assert (found.kind, found.title, found.author) == ("docx", "Runbook", "Ada Byron")


def test_slides_are_pages_with_their_points_tables_and_notes() -> None:
    found = extract(documents.pptx())
    assert found.markdown == (
        "<!-- page 1 -->\n\n## What went well\n\n- fewer incidents\n  - none at night\n\nNotes: Thank the team.\n\n"
        "<!-- page 2 -->\n\n## Numbers\n\n| Quarter | Incidents |\n| --- | --- |\n| Q3 | 4 |"
    )
    assert (found.kind, found.title, found.pages) == ("pptx", "Quarterly review", 2)


def test_sheets_are_tables_under_their_names() -> None:
    found = extract(documents.xlsx())
    assert found.markdown == (
        "## Costs 2024\n\n| Item | Euro | Paid |\n| --- | --- | --- |\n| Server | 120.5 | 2024-03-05 |\n| Domain | 12 |  |\n"
        "|  | 132.5 |  |\n\n## People\n\n| Name | Role |\n| --- | --- |"
    )
    assert (found.kind, found.title) == ("xlsx", "Budget")


def test_chapters_of_a_book_stand_in_the_order_in_which_they_are_read() -> None:
    found = extract(documents.epub())
    assert found.markdown == (
        "# Calm\n\nNothing moved for nine days. further on\n\n# Storm\n\nThe mast broke at night. further on"
    )
    assert (found.title, found.author, found.date, found.language) == ("The Sea", "Ada Byron", "1843-01-01", "en")


MAIL = (
    b"Received: from a by b\r\nFrom: =?utf-8?q?J=C3=B6rg?= <joerg@example.org>\r\nTo: ada@example.org\r\n"
    b"Subject: The =?iso-8859-1?q?Gr=F6=DFe?= of it\r\nDate: Tue, 05 Mar 2024 10:15:00 +0100\r\nMIME-Version: 1.0\r\n"
)


def test_a_message_says_who_wrote_what_when_and_what_is_attached() -> None:
    raw = MAIL + (
        b'Content-Type: multipart/mixed; boundary="x"\r\n\r\n--x\r\nContent-Type: text/plain; charset=iso-8859-1\r\n'
        b"Content-Transfer-Encoding: quoted-printable\r\n\r\nDie Gr=F6=DFe z=E4hlt.\r\n--x\r\n"
        b'Content-Type: application/pdf; name="plan.pdf"\r\nContent-Disposition: attachment; filename="plan.pdf"\r\n'
        b"Content-Transfer-Encoding: base64\r\n\r\n" + b"QUJD" * 700 + b"\r\n--x--\r\n"
    )
    found = extract(raw, name="mail.eml")
    assert found.markdown == (
        "# The Größe of it\n\n- **From**: Jörg \\<joerg@example.org>\n- **To**: ada@example.org\n"
        "- **Date**: Tue, 05 Mar 2024 10:15:00 +0100\n\nDie Größe zählt.\n\nAttachments:\n\n- plan.pdf (2 KB)"
    )
    assert (found.kind, found.title, found.date) == ("mail", "The Größe of it", "2024-03-05T10:15:00+01:00")


def test_a_message_of_html_alone_is_read_as_a_page_is() -> None:
    raw = (
        MAIL
        + b"Content-Type: text/html; charset=nonsense\r\n\r\n<p>See <a href='https://example.org/x'>the <b>plan</b></a>.</p>"
    )
    assert "See [the **plan**](https://example.org/x)." in extract(raw).markdown


def test_a_markdown_file_stays_as_it_is_and_its_header_says_what_it_is_about() -> None:
    body = "# Deploying\n\n* one\n* two  \n  with a break\n\n<details>kept</details>"
    found = extract(
        f"---\ntitle: How we deploy\ntags: [ops, deploy]\nother: 1\n---\n\n{body}\n".encode(), name="notes/deploy.md"
    )
    assert (found.markdown, found.title, found.tags) == (body, "How we deploy", ("ops", "deploy"))
    assert extract(body.encode(), name="x.md").title == "Deploying"


def test_a_header_that_cannot_be_read_stays_in_the_text() -> None:
    found = extract(b"---\ntitle: [open\n---\n\nText.", name="x.md")
    assert "title: [open" in found.markdown
    assert "header could not be read" in found.notices[0]


def test_source_code_and_data_are_blocks_that_name_their_language() -> None:
    found = extract(b"def f():\n\treturn '```'\n", name="src/tool.py")
    assert (found.markdown, found.title, found.kind) == ("````python\ndef f():\n\treturn '```'\n````", "tool.py", "code")
    assert extract(b"a,b\n1,2\n", name="x.csv").markdown == "```csv\na,b\n1,2\n```"
    assert extract(json.dumps({"a": 1}).encode(), content_type="application/json; charset=utf-8").markdown.startswith(
        "```json"
    )
    assert extract(b"#!/usr/bin/env python3\nprint(1)\n", name="run").markdown.startswith("```python")
    assert extract(b"all:\n\ttrue\n", name="Makefile").markdown.startswith("```makefile")


def test_a_notebook_is_its_texts_and_its_code() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Tides\n", "Twice a day."]},
        {"cell_type": "code", "source": "height = 3", "outputs": [{"text": "much of it"}]},
    ]
    found = extract(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}).encode(), name="t.ipynb")
    assert (found.markdown, found.title) == ("# Tides\nTwice a day.\n\n```python\nheight = 3\n```", "Tides")
    assert extract(b'{"cells": 3}', name="t.ipynb").markdown == '```json\n{"cells": 3}\n```'


def test_a_plain_text_stays_as_it_is() -> None:
    found = extract(b"First line.\n\n  indented, 3 < 4 & <b>\n", name="My notes.txt")
    assert (found.markdown, found.title, found.kind) == ("First line.\n\n  indented, 3 < 4 & <b>", "My notes", "text")


@pytest.mark.parametrize(
    ("raw", "said", "kind"),
    [
        (PAGE, {"name": "x.pdf", "content_type": "application/pdf"}, "html"),
        (PAGE, {"name": "x.png", "content_type": "image/png"}, "html"),
        (b"just text", {"name": "x.docx", "content_type": "text/html"}, "text"),
        (documents.pdf(["Tides"]), {"name": "x.html", "content_type": "text/html; charset=utf-8"}, "pdf"),
        (b"\r\n%PDF-lies", {"name": "a.txt"}, ""),
        (documents.epub(), {"name": "x.zip", "content_type": "application/zip"}, "epub"),
        (documents.xlsx(), {"name": "x.txt", "content_type": "text/plain"}, "xlsx"),
        (b"# A heading, <br> and text", {"name": "README.md", "content_type": "text/html"}, "markdown"),
        (b"import os\n", {"name": "a.py", "content_type": "text/plain"}, "code"),
        (b"From: a@b.c\nTo: d@e.f\nSubject: Hello\nDate: x\n\nHello", {"content_type": "text/plain"}, "mail"),
        (b"From: here\n\nto there", {}, "text"),
        (b"GIF89a is what such a picture begins with, as %PDF-1.7 is for others", {"content_type": "image/gif"}, "text"),
    ],
)
def test_what_a_document_is_counts_and_not_what_it_is_called(raw: bytes, said: dict[str, str], kind: str) -> None:
    if kind:
        assert extract(raw, **said).kind == kind
    else:
        assert isinstance(refused(raw, **said), Corrupt)


def test_a_document_without_a_title_is_called_as_its_file_is() -> None:
    assert extract(documents.pdf(["Tides"]), name="C:\\papers\\Tides of 2024.pdf").title == "Tides of 2024"


def test_no_sign_that_acts_on_a_terminal_or_hides_text_comes_through() -> None:
    raw = "a\x1b[31mred\x1b]0;title\x07\x00\x08 b\u202ec\U000e0041\f\nd\r\ne\x9b2Jf\n\n\n\n\n\n\ng\x7f" + " " * 500 + "h"
    text = extract(raw.encode(), name="a.txt").markdown
    assert text == "ared bc\n\nd\nef\n\n\ng" + " " * 100 + "h"
    page = extract(f"<html><p>{raw.replace(chr(12), '')}</p></html>".encode()).markdown
    assert not any(sign < " " and sign != "\n" for sign in page)
    assert "\x1b" not in extract(b"x = '\x1b[31m'\n", name="a.py").markdown


def test_what_is_not_installed_is_said_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [place for place in sys.path if "site-packages" not in place])
    for raw, package in ((PDF, "pypdfium2"), (PAGE, "trafilatura"), (PICTURE, "rapidocr")):
        error = refused(raw)
        assert (error.code, error.hint) == ("missing-extra", "Install it: pip install 'co-cli[articles]'")
        assert package in error.message
    assert extract(b"Plain text needs nothing.").kind == "text"


def test_the_registry_says_what_each_kind_needs() -> None:
    needs = {kind.name: kind.packages for kind in kinds()}
    assert needs["pdf"] == ("pypdfium2",)
    assert needs["text"] == ()
    assert not any(kind.missing for kind in kinds())


def test_a_very_long_text_is_cut_between_paragraphs_and_says_so() -> None:
    raw = ("word " * 200 + "\n\n").encode() * 3000
    found = extract(raw, name="long.txt")
    assert 1_800_000 < len(found.markdown) <= 2_000_000
    assert found.markdown.endswith("word")
    assert found.notices == ("Only the first 2,000,000 characters are kept.",)
    assert extract(raw, name="long.py").markdown.endswith("\n```")
    for encoding in ("utf-8", "utf-16-le", "utf-32-be", "cp1252"):
        assert extract(("Größe und Maß\n" * 700_000).encode(encoding)).markdown.endswith("Größe und Maß"), encoding


def test_an_empty_document_is_refused() -> None:
    for raw in (b"", b" \n\t\r\n", b"\0\0\0\0"):
        assert isinstance(refused(raw, name="x.txt"), Invalid)
    assert refused(b"<html><body><script>draw()</script></body></html>").code == "no-text"
    assert refused(documents.pdf([""])).code == "no-text"


def test_the_result_says_nothing_that_it_does_not_know() -> None:
    assert extract(b"text") == Extracted(markdown="text", kind="text")
