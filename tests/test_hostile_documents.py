"""A document that is broken, locked, empty or made to do harm gives one clear error, and nothing else."""

from __future__ import annotations

import io
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path

import documents
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from co_cli.articles.extraction import extract
from co_cli.articles.extraction.document import Original
from co_cli.articles.extraction.reader import Desk
from co_cli.errors import CoError

WORD = {"[Content_Types].xml": "<Types/>"}
STUCK = """
import ctypes, os, time

def hang(original, alive):
    alive()
    time.sleep(600)

def crash(original, alive):
    os.abort()

def fill(original, alive):
    bytes(8 << 30)

def keys(original, alive):
    from co_cli.articles.extraction.document import Extracted
    print("noise"); os.write(1, b"more noise"); os.write(2, b"and more")
    return Extracted(markdown=" ".join(sorted(os.environ)))
"""


def code(raw: bytes, **said: str) -> str:
    """The code of the error for a document; there is always a message and a next step."""
    with pytest.raises(CoError) as caught:
        extract(raw, **said)
    assert len(caught.value.message) > 20
    assert caught.value.message.endswith(".")
    assert caught.value.hint
    return caught.value.code


def test_what_a_password_protects_is_said_to_be_so() -> None:
    assert code(documents.pdf(["secret"], password="x")) == "encrypted"
    locked = bytearray(documents.docx())
    for mark in (b"PK\x03\x04", b"PK\x01\x02"):  # the flag of the old encryption of packed folders, on every part
        place = locked.find(mark)
        while place >= 0:
            locked[place + (6 if mark[2] == 3 else 8)] |= 1
            place = locked.find(mark, place + 4)
    assert code(bytes(locked)) == "encrypted"
    office = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500) + "EncryptedPackage".encode("utf-16-le") + bytes(500)
    assert code(office, name="x.docx") == "encrypted"
    part = '<EncryptedData><CipherData><CipherReference URI="OPS/b.xhtml"/></CipherData></EncryptedData>'
    drm = f'<encryption xmlns="x">{part}</encryption>'
    parts = zipfile.ZipFile(io.BytesIO(documents.epub()))
    book = {name: parts.read(name) for name in parts.namelist()} | {"META-INF/encryption.xml": drm}
    assert code(documents.packed(book)) == "encrypted"


@pytest.mark.parametrize("kind", ["pdf", "docx", "pptx", "xlsx", "epub", "png"])
def test_what_is_cut_off_or_full_of_errors_is_said_to_be_damaged(kind: str) -> None:
    whole = {
        "pdf": lambda: documents.pdf(["Tides"] * 3),
        "docx": documents.docx,
        "pptx": documents.pptx,
        "xlsx": documents.xlsx,
        "epub": documents.epub,
        "png": lambda: documents.picture(["Tides"]),
    }[kind]()
    assert code(whole[: len(whole) // 3], name=f"x.{kind}") == "broken"


@pytest.mark.parametrize("part", ["word/document.xml", "ppt/presentation.xml", "xl/workbook.xml"])
def test_parts_that_are_no_xml_are_said_to_be_damaged(part: str) -> None:
    for content in (b"", b"<a", b"\0\1\2", b"<a/>"):
        assert code(documents.packed(WORD | {part: content})) in ("broken", "no-text")


def test_what_swells_when_it_is_unpacked_is_refused_before_it_does() -> None:
    started = time.process_time()
    assert code(documents.packed(WORD | {"word/document.xml": bytes(100_000_000)})) == "too-large"
    many = {f"word/{number}.xml": b"x" * 9_000_000 for number in range(30)}
    assert code(documents.packed(WORD | many)) == "too-large"
    assert time.process_time() - started < 5


def test_a_packed_document_that_lies_about_its_size_is_refused() -> None:
    raw = bytearray(documents.packed(WORD | {"word/document.xml": bytes(50_000_000)}))
    size = struct.pack("<I", 50_000_000)
    while size in raw:
        raw[raw.find(size) : raw.find(size) + 4] = struct.pack("<I", 1000)
    assert code(bytes(raw)) == "broken"


def test_xml_that_multiplies_itself_is_refused() -> None:
    laughs = '<!DOCTYPE a [<!ENTITY a "ha">' + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefghi", "bcdefghij", strict=True)
    )
    for part in ("word/document.xml", "ppt/presentation.xml", "xl/workbook.xml"):
        assert code(documents.packed(WORD | {part: f"{laughs}]><a>&j;</a>"})) == "broken"
    book = {"META-INF/container.xml": f'{laughs}]><rootfiles><rootfile full-path="&j;"/></rootfiles>'}
    assert code(documents.packed(book)) == "broken"


def test_a_picture_of_billions_of_dots_is_refused_before_it_is_unpacked() -> None:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    body = zlib.compress(bytes(100_000))
    raw = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    assert code(raw) == "too-large"


def test_pages_nested_without_end_are_read_all_the_same() -> None:
    for depth in (100, 300, 900):
        assert "deep" in extract(b"<html><body>" + b"<div><b>" * depth + b"deep enough to be read").markdown
        quoted = extract(b"<html><body>" + b"<blockquote>" * depth + b"<p>deep</p>").markdown
        assert "deep" in quoted
        assert len(quoted) < 1000
    assert code(b"<html><body>" + b"<div><b>" * 50_000 + b"too deep") == "no-text"
    assert "x" in extract(b"<html><table>" + b"<tr><td colspan=99999999 rowspan=65000>x" * 500).markdown


def test_what_is_none_of_the_kinds_is_refused_by_what_it_is() -> None:
    for raw in (b"\x7fELF\2\1\1" + bytes(99), b"\x1f\x8b\x08" + bytes(99), bytes(range(256)) * 9, b"{\\rtf1 hello}"):
        assert code(raw, name="x.txt", content_type="text/plain") == "unknown-kind"
    assert code(documents.packed({"a.txt": "hello"}), name="x.zip") == "unknown-kind"


@given(
    st.binary(min_size=1, max_size=300),
    st.sampled_from(["%PDF-1.7\n", "PK\3\4", "\x89PNG\r\n\x1a\n", "GIF89a", "<html>", "From: a\nDate: b\nTo: c\n", ""]),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_comes_there_is_a_text_or_an_error_that_says_why(raw: bytes, head: str) -> None:
    try:
        said = extract(head.encode("latin-1") + raw).markdown
    except CoError as error:
        said = error.message and error.hint
    assert said.strip()
    assert not set(said) & set(map(chr, [*range(9), *range(11, 32), *range(127, 160)]))


def test_nothing_is_printed_or_left_behind(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    (tmp_path / "tmp").mkdir()
    for raw in (documents.pdf(["x"])[:500], documents.docx()[:9000], documents.docx(), documents.pptx(), b"<html><p>Text"):
        with suppress(CoError):
            extract(raw)
    assert capfd.readouterr() == ("", "")
    assert not list((tmp_path / "tmp").iterdir())


ASKING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
import sys
from co_cli.articles.extraction.document import Original
from co_cli.articles.extraction.reader import Desk

desk = Desk()
desk._running()
print(desk._process.pid, flush=True)
desk.read("stuck_reader:hang", Original(b"x"))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are looked at in /proc")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_reader_never_outlives_the_command(sent: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "stuck_reader.py").write_text(STUCK)
    variables = {**os.environ, "PYTHONPATH": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", ASKING], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=variables
    ) as asking:
        assert asking.stdout is not None
        reader = int(asking.stdout.readline())
        time.sleep(0.3)
        asking.send_signal(sent)
        assert asking.wait(10)
    until = time.monotonic() + 10
    while runs(reader) and time.monotonic() < until:
        time.sleep(0.02)
    assert not runs(reader)


def runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A reader of its own, which can be sent to functions that behave as badly as libraries can."""
    (tmp_path / "stuck_reader.py").write_text(STUCK)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return Desk()


def failed(desk: Desk, reading: str) -> str:
    with pytest.raises(CoError) as caught:
        desk.read(f"stuck_reader:{reading}", Original(b"x"))
    assert caught.value.hint
    return caught.value.code


def test_a_reader_that_hangs_crashes_or_fills_the_memory_costs_that_document_alone(desk: Desk) -> None:
    try:
        assert failed(desk, "crash") == "broken"
        assert failed(Desk(patience=1), "hang") == "too-slow"
        if sys.platform == "linux":
            assert failed(desk, "fill") == "too-large"
        page = Original(b"<p>Here we are.</p>", name="x.html")
        assert desk.read("co_cli.articles.extraction.page:read_page", page).markdown == "Here we are."
    finally:
        desk.close()


def test_the_reader_has_none_of_the_keys_and_what_it_prints_is_lost(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    try:
        names = desk.read("stuck_reader:keys", Original(b"x")).markdown.split()
    finally:
        desk.close()
    assert "PATH" in names
    assert "SOME_API_KEY" not in names
    assert capfd.readouterr() == ("", "")


def test_the_reader_is_kept_for_the_next_document_and_gone_when_it_is_closed(desk: Desk) -> None:
    original = Original(b"<p>Text</p>")
    desk.read("co_cli.articles.extraction.page:read_page", original)
    process = desk._process
    assert process is not None
    desk.read("co_cli.articles.extraction.page:read_page", original)
    assert desk._process is process
    os.kill(process.pid, 9)
    process.wait()
    assert desk.read("co_cli.articles.extraction.page:read_page", original).markdown == "Text"
    process = desk._process
    desk.close()
    assert process is not None
    assert process.poll() is not None


def test_a_very_large_page_is_read_in_seconds_and_says_when_it_was_written() -> None:
    row = b'<p>Some words, and <a href="https://example.org/x">a link</a>.</p>'
    head = (
        b'<html><meta property="article:published_time" content="2024-03-05T10:00:00Z"><nav><a href="/">Home</a></nav><main>'
    )
    started = time.monotonic()
    found = extract(head + row * 12_000)
    assert found.markdown.count("[a link](https://example.org/x)") == 12_000
    assert (found.date, found.notices) == ("2024-03-05", ())
    assert time.monotonic() - started < 40
