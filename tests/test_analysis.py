"""What a text is made of for searching: what is written one way is found when it is asked for another way."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import within

from co_cli.index.analysis import asked_for, sought, terms

promise = settings(max_examples=300, deadline=None)


def finds(query: str, text: str) -> bool:
    """Whether every term of a query stands in a text."""
    line = f" {' '.join(terms(text))} "
    asked = asked_for(query)
    return bool(asked) and all(sought((term,)) in line for term in asked)


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        # case, accents, and what they are in other ways of writing
        ("Crème brûlée at the CAFÉ", ["creme", "BRULEE", "cafe", "café", "cafe\u0301"]),
        ("Größe der Straße in Øresund", ["große", "grosse", "strasse", "STRASSE", "oresund", "øresund"]),
        ("Łódź, smørrebrød, Þór, Æsir, Đà Nẵng", ["lodz", "smorrebrod", "thor", "aesir", "da nang"]),
        ("İstanbul ve ısı", ["istanbul", "ISTANBUL", "isi"]),
        ("der naïve-bayes im Über-Cool", ["naive", "naïve", "bayes", "naïve-bayes", "uber", "über", "cool"]),
        ("Frau Müller-Lüdenscheidt", ["Müller", "ludenscheidt", "Lüdenscheidt", "müller-lüdenscheidt"]),
        ("ﬁne ＦＵＬＬ ½ ｶﾞｲﾄﾞ", ["fine", "full", "ガイド"]),
        ("Donau\u00addampfschiff her\u200don \u202eeagle\u202c", ["donaudampfschiff", "heron", "eagle"]),
        # other alphabets
        ("Москва — ёлка, чай", ["москва", "МОСКВА", "елка", "ёлка", "чаи"]),
        ("Ελληνική Οδύσσεια, ΟΔΟΣ", ["ελληνικη", "οδυσσεια", "οδος", "οδός"]),
        ("שָׁלוֹם עולם", ["שלום", "שָׁלוֹם", "עולם"]),
        ("مُحَمَّد في القـــاهرة أحمد", ["محمد", "مُحَمَّد", "القاهرة", "احمد"]),
        ("हिन्दी में क़िताब", ["हिन्दी", "में", "क़िताब"]),
        ("தமிழ் மொழி", ["தமிழ்", "மொழி"]),
        ("ދިވެހި ބަސް", ["ދިވެހި"]),
        ("ქართული հայերեն አማርኛ", ["ქართული", "հայերեն", "አማርኛ"]),
        # no blanks between words
        ("我们在北京使用SQLite数据库", ["北京", "数据库", "北", "库", "sqlite", "京"]),
        ("日本語を話す人がいる", ["日本", "日本語", "日", "本", "語", "る", "話す"]),
        ("ภาษาไทยไม่มีช่องว่าง", ["ภาษา", "ไทย", "ช่องว่าง"]),
        ("데이터베이스에서 검색을", ["데이터베이스", "검색", "색"]),
        ("ພາສາລາວ ភាសាខ្មែរ မြန်မာ", ["ລາວ", "ខ្មែរ", "မြန်"]),
        ("使用snake_case命名", ["snake_case", "snake", "case", "命名"]),
        ("𠮷野家で食べる", ["𠮷", "野家"]),
        # what programs are written with
        ("call parse_frontmatter here", ["parse_frontmatter", "frontmatter", "parse", "parse frontmatter"]),
        ("call parseFrontMatter here", ["parseFrontMatter", "parsefrontmatter", "front", "matter"]),
        ("an HTTPServer, getHTTPResponseCode", ["httpserver", "http", "server", "HTTPServer", "response", "code"]),
        ("run kebab-case-name --dry-run", ["kebab-case-name", "kebab", "name", "--dry-run", "dry", "dry-run"]),
        ("import os.path.join", ["os.path.join", "path", "join", "os.path.join."]),
        ("use std::vector", ["std::vector", "vector"]),
        ("def __init__(self, _private, class_):", ["__init__", "init", "_private", "private", "class_", "class"]),
        ("SCREAMING_SNAKE and snake_регистр and größe_wert", ["screaming_snake", "snake", "регистр", "größe", "wert"]),
        ("C++ or C# or C, x86_64", ["C++", "c#", "c", "x86_64", "x86", "64"]),
        ("Python 3.11 and v2.0.1-rc.1", ["3.11", "python 3.11", "v2.0.1-rc.1", "rc"]),
        ("Mail jane.doe+spam@example.org.", ["jane.doe+spam@example.org", "jane.doe", "doe", "example.org", "example"]),
        (
            "See https://docs.example.org:8080/a/to-file.md?x=1#top.",
            ["https://docs.example.org", "to-file.md", "docs", "file", "8080"],
        ),
        ("the file Makefile.am, ~/.bashrc, notes.tar.gz", ["Makefile.am", "makefile", ".bashrc", "notes.tar.gz", "gz"]),
        ("error E0308, KB-1234, CVE-2024-3094", ["e0308", "KB-1234", "1234", "cve-2024-3094", "3094"]),
        # forms of one word
        ("deploying the deployments", ["deploy", "deployment", "deployed"]),
    ],
)
def test_what_is_written_is_found_whole_and_by_its_parts(text: str, queries: list[str]):
    missed = [query for query in queries if not finds(query, text)]
    assert missed == [], terms(text)


@pytest.mark.parametrize(
    ("text", "query"),
    [("notes.tar.gz", "tar.gz"), ("v2.0.1-rc.1", "2.0.1"), ("to-file.md", "to-file"), ("a_b_c_delta", "c_delta")],
)
def test_some_parts_of_a_word_made_of_parts_have_terms_in_common_with_it(text: str, query: str):
    assert set(asked_for(query)) & set(terms(text))


def test_c_and_its_kin_are_told_apart():
    assert not finds("C++", "C# and C")
    assert not finds("C#", "C++ and C")
    assert not finds("3.11", "3.12 and 4.11")


@pytest.mark.parametrize("text", ["", " ", "!!!", "🎉", "👩‍👩‍👧 ✈️ —…„“", "\0\x01\ud800", "\u202e\u200f", "^*(){}\"':;"])
def test_punctuation_and_emoji_are_no_terms(text: str):
    assert terms(text) == []


@pytest.mark.parametrize(
    "word", ["heron🎉", "🎉heron", "«heron»", '"heron"', "(heron)", "heron's", "\u200fheron\u200f", "heron\0"]
)
def test_punctuation_and_emoji_beside_a_word_are_harmless(word: str):
    assert finds("heron", word)
    assert finds("heron", f"a {word} stands")


TEXTS = st.text(max_size=60) | st.text(alphabet="aBéß_-.:+#1 日本ไท한글שָمُиЁΣς🎉\u0301\u200d\u202e\0\ud800\"*'", max_size=40)


@promise
@given(TEXTS)
def test_terms_hold_nothing_that_a_query_could_be_broken_with(text: str):
    for term in terms(text):
        assert term.strip()
        assert len(term.split()) == 1
        assert not set(term) & set("\"'*^():-+\0{}[]")
        term.encode("utf-8")


@promise
@given(TEXTS)
def test_every_word_of_a_text_is_found_in_it(text: str):
    for word in text.split():
        assert finds(word, text) or not terms(word)


@promise
@given(TEXTS)
def test_it_does_not_matter_how_accents_are_composed(text: str):
    assert terms(unicodedata.normalize("NFD", text)) == terms(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize("part", ["a", "A", "aB", "a_", "a.", "a-", "::", "日", "é", "é_", "A#", "\u0301", "🎉"])
def test_a_megabyte_without_a_blank_takes_no_time(part: str):
    with within(10):
        found = terms(part * (1_000_000 // len(part)))
    assert all(len(term) <= 64 or "_" in term for term in found)
