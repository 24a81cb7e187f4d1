"""A text is read as it was written, whatever encoding it is in and whatever is said about it."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from co_cli.articles.extraction.encoding import codec_name, decoded, is_binary

LETTERS = st.characters(exclude_categories=["Cs", "Cc", "Cn", "Co"], exclude_characters="\ufeff\ufffe\ufffd")
TEXTS = st.text(st.one_of(LETTERS, st.sampled_from("\n\t ")), min_size=1)
RUSSIAN = "Память хранит факты, а не мнения. Каждый файл можно прочитать и без программы."
JAPANESE = "記憶は小さな事実を保存します。ファイルは誰でも読むことができます。"
GERMAN = "Größe und Straße: für Süßes wäre später noch Zeit, sagte Jürgen über den Gärten."


@given(TEXTS, st.sampled_from(["utf-8-sig", "utf-16", "utf-32"]), st.sampled_from(["", "latin-1", "utf-8", "nonsense"]))
def test_a_mark_at_the_beginning_is_believed_before_anything_that_is_said(text: str, encoding: str, said: str) -> None:
    assert decoded(text.encode(encoding), said)[0] == text


@given(TEXTS, st.sampled_from(["", "latin-1", "utf-8", "shift_jis", "utf-16", "no such thing", "rot13", "idna", "zlib"]))
def test_utf8_is_recognised_whatever_is_said(text: str, said: str) -> None:
    assert decoded(text.encode(), said)[0] == text


@given(st.text(st.characters(codec="cp1252", exclude_categories=["Cc"]), min_size=1), st.sampled_from(["latin-1", "cp1252"]))
def test_what_is_said_is_believed_where_the_bytes_do_not_contradict_it(text: str, said: str) -> None:
    raw = text.encode("cp1252")
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        assert decoded(raw, said)[0] == text
    else:
        assume(text.isascii())
        assert decoded(raw, said)[0] == text


@pytest.mark.parametrize(
    ("text", "encoding", "said"),
    [
        (RUSSIAN, "koi8-r", "KOI8-R"),
        (RUSSIAN, "cp1251", "windows-1251"),
        (JAPANESE, "shift_jis", "Shift_JIS"),
        (JAPANESE, "euc_jp", "EUC-JP"),
        (JAPANESE, "iso2022_jp", "iso-2022-jp"),
        ("记忆保存事实，文件可以直接阅读。", "gb18030", "gb2312"),
        (JAPANESE, "utf-16-le", "utf-16le"),
        (GERMAN, "cp1252", "utf-8"),
        (GERMAN, "latin-1", ""),
        (GERMAN, "utf-16-le", ""),
        (GERMAN, "utf-16-be", "latin-1"),
        (GERMAN, "utf-32-be", ""),
        (GERMAN + "—“”", "cp1252", "iso-8859-1"),
        (RUSSIAN * 3, "cp1251", ""),
        (JAPANESE * 3, "shift_jis", ""),
        ("Die Möwe fliegt über das Meer und über die Dünen.", "latin-1", ""),
        ("L'été dernier, nous étions à la plage, et ça va très bien.", "latin-1", ""),
        ("Räksmörgås är gott när vi åker båt i skärgården.", "latin-1", "utf-8"),
        ("Keep it below 20°C.", "latin-1", ""),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy, když se vracel domů.", "cp1250", ""),
        (GERMAN, "cp1252", "us-ascii"),
    ],
)
def test_texts_of_many_lands_are_read(text: str, encoding: str, said: str) -> None:
    assert decoded(text.encode(encoding), said)[0] == text


def test_a_few_wrong_bytes_do_not_make_a_text_another_encoding() -> None:
    raw = (GERMAN * 20).encode()
    text, encoding = decoded(raw[:50] + b"\xff" + raw[50:])
    assert encoding == "utf-8"
    assert text.count("\ufffd") == 1


@given(st.binary())
def test_any_bytes_give_a_text_and_a_name_that_python_knows(raw: bytes) -> None:
    text, encoding = decoded(raw)
    assert isinstance(text, str)
    assert codec_name(encoding) or encoding == "gb18030"


def test_texts_are_told_from_what_is_none() -> None:
    for encoding in ("utf-8", "utf-16", "utf-16-le", "utf-32-be", "cp1251", "koi8-r"):
        assert not is_binary(RUSSIAN.encode(encoding) if encoding[:3] != "utf" else GERMAN.encode(encoding))
    assert is_binary(bytes(range(256)) * 20)
    assert is_binary(b"\x00\x01\x02\x03" * 100)
