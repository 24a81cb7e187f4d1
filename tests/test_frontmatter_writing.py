"""The header of a note, written and rewritten: co reads back what it writes, and leaves alone what it does not change."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from co_cli.frontmatter import (
    _parse_plain,
    _parse_yaml,
    parse_frontmatter,
    render_document,
    render_field,
    replace_fields,
)

promise = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

CREATED = "2026-02-09T14:30:00+00:00"

# ------------------------------------------------------------------------------------- the two ways of reading agree

ONE_WORD_TRAPS = r"""
yes no on off y n Yes NO On True FALSE true false null Null ~ = << * &a *a !x | > - -- --- ... ? : # %x @x `x
010 0o10 0 00 007 1e3 1.5e+3 0x1f 0b11 1_000 12:30 1:30:00 -1 +1 .5 5. .inf .nan 123456789012345678901
2026-02-09 2026-13-01 2026-02-09T14:30:00Z 2026-02-09T25:00:00 2026-02-09T14:30:00+00:00
a#b a:b a: :a 'a' "b" {} {a} [] [a] [a,] [,] [[a]] [12:30] [2026-02-09T14:30:00Z] a,b a- a/b 'it''s' \n
C++ C# c#1 v1.2.3 e-mail über 日本
"""
TRAPS = ["", "a: b", "a: b: c", "a # b", "a #", "a\tb", "a\t", "a\rb", "a  b", "foo - bar", "foo ? bar", "a, b", "x" * 200]
TRAPS += ["[a, b]", "[a b, 1, true]", "[a, yes]", "[ a , b ]", "[a, b] # c", "[a: b]", "[- a]", *ONE_WORD_TRAPS.split()]

plain_words = st.from_regex(r"[A-Za-z][A-Za-z0-9_./+ -]{0,12}", fullmatch=True)
scalars = st.one_of(plain_words, st.sampled_from(TRAPS), st.integers().map(str), st.text("aZ09 :#-,[]'\"\t.", max_size=8))
values = scalars | st.lists(scalars, max_size=4).map(lambda items: f"[{', '.join(items)}]")
keys = st.sampled_from([*"abcxyn", "id", "tags", "no", "on", "null", "a b", "_", "1", "x-y", "k" * 120])
gaps = st.sampled_from([": ", ":  ", ":", ":\t", " : "])
ends = st.sampled_from(["", "", "", " ", "\t", "\r", " # note", "\r\n\r", "\n", "\n  more", "\n- item"])
header_lines = st.builds("".join, st.tuples(keys, gaps, values, ends)) | st.sampled_from(["", "# note", "...", " a: b"])
headers = st.lists(header_lines, max_size=5).map("\n".join)


@settings(promise, max_examples=400)
@given(headers)
def test_what_the_plain_reader_reads_yaml_reads_alike(header):
    plain = _parse_plain(header)
    if plain is not None:
        assert repr(list(plain.items())) == repr(list(_parse_yaml(header).items()))


@pytest.mark.parametrize("value", TRAPS)
@pytest.mark.parametrize("shape", ["k: {}", "k: [{}]", "{}: v"])
def test_no_trap_of_yaml_catches_the_plain_reader(shape, value):
    header = shape.format(value)
    plain = _parse_plain(header)
    assert plain is None or repr(plain) == repr(_parse_yaml(header))


def test_the_plain_reader_reads_what_co_writes_by_itself():
    header = (
        f"id: 12\ncreated: {CREATED}\ntags: [python, code style]\nsource: user-told\nexpires: 2026-12-31\npinned: true\n"
    )
    assert _parse_plain(header) == {
        "id": 12,
        "created": CREATED,
        "tags": ["python", "code style"],
        "source": "user-told",
        "expires": "2026-12-31",
        "pinned": True,
    }


# ---------------------------------------------------------------------------------------------------------------- writing

any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(TRAPS)
names = st.from_regex(r"[a-z_][a-z0-9_]{0,12}", fullmatch=True) | st.sampled_from(
    ["on", "y", "null", "a b", "a: b", "é", "#", "k" * 150]
)
written = st.one_of(any_text, st.integers(), st.booleans(), st.lists(any_text, max_size=4))
field_maps = st.dictionaries(names, written, max_size=5)


@promise
@given(field_maps, st.text(st.characters(exclude_categories=["Cs"])))
def test_whatever_co_writes_it_reads_back(fields, body):
    read, read_body = parse_frontmatter(render_document(fields, body))
    assert repr(list(read.items())) == repr(list(fields.items()))
    assert read_body == (f"{body.strip()}\n" if body.strip() else "")


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (CREATED, f"f: {CREATED}\n"),
        ("2026-12-31", "f: 2026-12-31\n"),
        (["python", "code style"], "f: [python, code style]\n"),
        ([], "f: []\n"),
        (True, "f: true\n"),
        (12, "f: 12\n"),
        ("12", "f: '12'\n"),
        ("yes", "f: 'yes'\n"),
        ("ship it 🚀", "f: ship it 🚀\n"),
        (["größe", "C#"], "f: [größe, C#]\n"),
        ("one\ntwo", 'f: "one\\ntwo"\n'),
        ("next\x85line", 'f: "next\\Nline"\n'),
        ("word " * 60 + "end", "f: " + "word " * 60 + "end\n"),
    ],
)
def test_values_are_written_as_a_person_would(value, line):
    assert render_field("f", value) == line


# --------------------------------------------------------------------------------------------------------------- rewriting

HAND_WRITTEN = """---
# made by hand
id:   3   # three
'created': "2026-02-09T14:30:00Z"
tags:            # mine
  - python       # the language
  - "code style"

x-owner: {name: Ada, since: 2020-01-01}
because: >-
  folded
  words
nested:
  deep:
    - 1
# the end
---


# Body   with   blanks\t
---
id: 99
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("changes", "before", "after"),
    [
        ({"id": 4}, "id:   3   # three", "id: 4   # three"),
        ({"created": CREATED}, "'created': \"2026-02-09T14:30:00Z\"", f"created: {CREATED}"),
        ({"tags": ["a"]}, 'tags:            # mine\n  - python       # the language\n  - "code style"', "tags: [a]"),
        ({"because": "short"}, "because: >-\n  folded\n  words", "because: short"),
        ({"because": None}, "because: >-\n  folded\n  words\n", ""),
        ({"nested": 1}, "nested:\n  deep:\n    - 1", "nested: 1"),
        ({"pinned": True}, "# the end\n", "# the end\npinned: true\n"),
        ({"id": None}, "id:   3   # three\n", ""),
    ],
)
def test_one_field_is_replaced_and_every_other_byte_stays(changes, before, after, mark, newline):
    text = mark + HAND_WRITTEN.replace("\n", newline)
    expected = mark + HAND_WRITTEN.replace(before, after, 1).replace("\n", newline)
    assert replace_fields(text, changes) == expected != text


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"id": 3},
        {"tags": ["python", "code style"], "because": "folded words", "created": "2026-02-09T14:30:00Z"},
        {"absent": None},
    ],
)
@pytest.mark.parametrize("text", [HAND_WRITTEN, HAND_WRITTEN.replace("\n", "\r\n")])
def test_a_change_that_changes_nothing_leaves_the_bytes_alone(text, changes):
    assert replace_fields(text, changes) == text


def test_true_is_not_mistaken_for_one():
    assert replace_fields("---\npinned: 1\n---\n", {"pinned": True}) == "---\npinned: true\n---\n"


@pytest.mark.parametrize("text", ["just a body\n", "", "---\nno closing fence\n"])
def test_a_document_without_a_header_gets_one_when_there_is_something_to_say(text):
    assert replace_fields(text, {"id": 5}) == f"---\nid: 5\n---\n\n{text}"
    assert replace_fields("\ufeff" + text, {"id": 5}) == f"\ufeff---\nid: 5\n---\n\n{text}"
    assert replace_fields(text, {}) == replace_fields(text, {"id": None}) == text


@pytest.mark.parametrize("header", ["", "# nothing yet\n", "\n"])
def test_an_empty_header_is_filled(header):
    assert replace_fields(f"---\n{header}---\nbody\n", {"id": 5, "pinned": True}) == (
        f"---\n{header}id: 5\npinned: true\n---\nbody\n"
    )


@pytest.mark.parametrize(
    "header",
    [
        "{id: 1, tags: [a, b], name: x}\n",
        "id: 1\ntags: [a, b]\nname: x\n...\n",
        "id: &one 1\ntags: [a, b]\nname: x\nagain: *one\n",
        "id: 5\ntags: [a, b]\nname: x\nid: 1\n",
        "? id\n: 1\ntags: [a, b]\nname: x\n",
    ],
)
def test_headers_that_cannot_be_cut_by_the_line_change_all_the_same(header):
    text = f"---\n{header}---\nbody\n"
    fields, _ = parse_frontmatter(text)
    changed = replace_fields(text, {"id": 2, "extra": "more", "name": None})
    expected = {**fields, "id": 2, "extra": "more"}
    del expected["name"]
    assert parse_frontmatter(changed) == (expected, "body\n")


PIECES = {
    "id": ["id: 1\n", "id:  1  # one\n", '"id": 1\n'],
    "tags": ["tags: [a, b] # mine\n", "tags:\n- a\n# between\n- b\n", "tags:\n  - a\n  - b\n\n", "tags: []\n"],
    "because": [
        "because: |\n  two\n  lines\n",
        "because: >-\n  folded\n\n  text\n\n",
        "because: plain\n  goes on\n",
        "because: 'x'\n",
    ],
    "empty": ["empty:\n", "empty: # nothing\n", "empty: ~\n"],
    "nested": ["nested:\n  deep:\n    - 1\n    - {a: b}\n", "nested: {deep: [1, 2],\n  more: x}\n"],
    "": ["# a comment\n", "\n", "# é 🚀\n"],
}
pieces = st.permutations(list(PIECES)).flatmap(
    lambda order: st.tuples(*(st.tuples(st.just(name), st.sampled_from(PIECES[name])) for name in order))
)
new_values = st.one_of(st.none(), written)
some_changes = st.dictionaries(st.sampled_from([*filter(None, PIECES), "new", "other"]), new_values, max_size=4)


@settings(promise, max_examples=150)
@given(pieces, some_changes, st.sampled_from(["\n", "\r\n"]))
def test_a_rewritten_header_says_what_was_asked_for_and_keeps_the_rest_as_it_was(parts, changes, newline):
    text = f"---\n{''.join(piece for _, piece in parts)}---\n\nbody\n".replace("\n", newline)
    old, body = parse_frontmatter(text)
    changed = replace_fields(text, changes)
    new, new_body = parse_frontmatter(changed)

    expected = {name: value for name, value in {**old, **changes}.items() if name not in changes or value is not None}
    assert repr(sorted(new.items())) == repr(sorted(expected.items()))
    assert new_body == body
    position = 0
    for name, piece in parts:  # what was not changed stands there still, in its order
        if name not in changes:
            position = changed.index(piece.replace("\n", newline).rstrip("\r\n"), position)
    assert replace_fields(changed, changes) == changed
