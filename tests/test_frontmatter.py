"""The header of a note: what is read from it, and what is refused."""

from __future__ import annotations

import time

import pytest

from co_cli.frontmatter import (
    FrontmatterError,
    parse_frontmatter,
    split_frontmatter,
    strip_frontmatter,
    validate_context_frontmatter,
    validate_memory_frontmatter,
    validate_note_frontmatter,
)

CREATED = "2026-02-09T14:30:00+00:00"

# --------------------------------------------------------------------------------------------------------------- reading


def test_a_header_is_read_and_the_body_starts_after_the_blank_line():
    fields, body = parse_frontmatter("---\nversion: 1\nupdated: 2026-02-09T14:30:00Z\n---\n\n# User\n- Name: Ada\n")
    assert fields == {"version": 1, "updated": "2026-02-09T14:30:00Z"}
    assert body == "# User\n- Name: Ada\n"


@pytest.mark.parametrize(
    "text",
    [
        "# Only a body\n",
        "",
        "\n---\nid: 1\n---\nnot in the first line",
        " ---\nid: 1\n---\n",
        "----\nid: 1\n----\n",
        "---\nid: 1\nno closing fence",
        "---\nid: 1\n --- \nthe fence is indented",
        "---",
        "--- # a comment\nid: 1\n---\n",
    ],
)
def test_a_text_without_a_header_comes_back_as_it_is(text):
    assert parse_frontmatter(text) == ({}, text)
    assert strip_frontmatter(text) == text


@pytest.mark.parametrize("header", ["", "\n", "# only a comment\n", "  \n\n", "~\n"])
def test_an_empty_header_has_no_fields(header):
    assert parse_frontmatter(f"---\n{header}---\nbody\n") == ({}, "body\n")


def test_windows_line_endings_are_read_like_any_others():
    text = "---\r\nid: 7\r\ntags: [a, b]\r\nbecause: 'it''s so'\r\n---\r\n\r\nfirst\r\nsecond\r\n"
    assert parse_frontmatter(text) == ({"id": 7, "tags": ["a", "b"], "because": "it's so"}, "first\r\nsecond\r\n")


def test_a_byte_order_mark_does_not_hide_the_header():
    assert parse_frontmatter("\ufeff---\nid: 7\n---\n\nbody") == ({"id": 7}, "body")


def test_a_rule_inside_the_body_stays_in_the_body():
    body = "above\n\n---\n\nbelow\n---\nid: 2\n---\n"
    assert parse_frontmatter(f"---\nid: 1\n---\n\n{body}") == ({"id": 1}, body)


def test_blanks_after_the_fences_are_no_reason_to_miss_them():
    assert parse_frontmatter("---  \nid: 1\n---\t\nbody") == ({"id": 1}, "body")


def test_the_indentation_of_the_first_line_belongs_to_the_body():
    assert strip_frontmatter("---\nid: 1\n---\n \n\n    indented code\n") == "    indented code\n"


@pytest.mark.parametrize("end", ["---", "---\n", "---\r\n", "---\n\n\n"])
def test_a_document_may_end_with_its_header(end):
    assert parse_frontmatter(f"---\nid: 1\n{end}") == ({"id": 1}, "")


@pytest.mark.parametrize(
    "written",
    [
        "2026-02-09T14:30:00Z",
        "2026-02-09T14:30:00+00:00",
        "2026-02-09T14:30:00.123456-05:30",
        "2026-02-09 14:30:00",
        "2026-02-09t14:30:00z",
        "2026-2-9 14:30:00 +1",
        "2026-12-31",
    ],
)
@pytest.mark.parametrize("shape", ["when: {}\n", "when: {} # noted\n", "{{when: {}}}\n"])
def test_timestamps_stay_the_strings_that_the_user_wrote(written, shape):
    assert parse_frontmatter(f"---\n{shape.format(written)}---\n")[0] == {"when": written}


def test_timestamps_in_a_list_stay_strings_too():
    fields, _ = parse_frontmatter(f"---\ntags: [2026-01-01, {CREATED}]\ndays:\n- 2026-01-02\n---\n")
    assert fields == {"tags": ["2026-01-01", CREATED], "days": ["2026-01-02"]}


@pytest.mark.parametrize(
    ("header", "line"),
    [
        ("id: 1\ncreated: now\n bad: indent\n", 4),
        ("\tid: 1\n", 2),
        ("id: 1\ntags: [a\n", 3),
        ("# why\n\nkey: value: again\n", 4),
        ("id: 1\nname: @nobody\n", 3),
    ],
)
def test_malformed_yaml_is_an_error_that_names_the_line_of_the_file(header, line):
    with pytest.raises(ValueError, match="Invalid YAML") as caught:
        parse_frontmatter(f"---\n{header}---\n\nBody\n")
    assert isinstance(caught.value, FrontmatterError)
    assert caught.value.line == line
    assert f"(line {line})" in str(caught.value)


@pytest.mark.parametrize("header", ["- a\n- b\n", "just words\n", "42\n", "[a, b]\n", "'quoted'\n"])
def test_a_header_that_is_no_mapping_is_an_error(header):
    with pytest.raises(ValueError, match="mapping"):
        parse_frontmatter(f"---\n{header}---\n")


@pytest.mark.parametrize("header", ["1: one\n", "yes: indeed\n", "[a]: b\n", "x: !!python/object:os.x\n"])
def test_what_yaml_makes_of_odd_headers_is_never_another_kind_of_error(header):
    with pytest.raises(FrontmatterError):
        parse_frontmatter(f"---\n{header}---\n")


def test_control_characters_and_endless_nesting_are_errors_too():
    for header in ("id: \x00\n", "[" * 20_000, "a: 1\n---- b\n--- c\n"):
        with pytest.raises(FrontmatterError):
            parse_frontmatter(f"---\n{header}\n---\n")


def test_a_header_of_unreasonable_length_is_refused_before_yaml_sees_it():
    header = "name: " + "x" * (64 * 1024 - 7) + "\n"
    assert parse_frontmatter(f"---\n{header}---\n")[0]["name"]
    with pytest.raises(FrontmatterError, match="64 KiB"):
        parse_frontmatter(f"---\n{header}\n---\n")


def test_aliases_in_moderation_are_fine_and_a_bomb_of_them_is_refused_with_its_line():
    levels = ["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12))]
    fields, _ = parse_frontmatter("---\n" + "\n".join(levels[:4]) + "\n---\n")
    assert fields["a3"] == [[[["x"]] * 10] * 10] * 10
    with pytest.raises(FrontmatterError, match="aliases make it too large") as caught:
        parse_frontmatter("---\n" + "\n".join(levels) + "\n---\n")
    assert caught.value.line == 7
    with pytest.raises(FrontmatterError, match="aliases make it too large"):
        parse_frontmatter("---\nmine: &a [*a]\n---\n")
    with pytest.raises(FrontmatterError, match="Invalid YAML"):
        parse_frontmatter("---\nmine: [&a x, *b]\n---\n")


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("- ", "x"), ("{a: ", "}")])
def test_a_hundred_collections_in_one_another_are_enough(opening, closing):
    def nested(depth: int) -> str:
        return f"---\nx:\n  {opening * depth}{closing * (depth if closing != 'x' else 1)}\n---\n"

    assert parse_frontmatter(nested(100))[0]["x"]
    with pytest.raises(FrontmatterError, match="nests too deeply") as caught:
        parse_frontmatter(nested(101))
    assert caught.value.line == 3


def test_an_error_is_never_long():
    with pytest.raises(ValueError, match="Field 'tags'") as caught:
        validate_note_frontmatter({"tags": "x" * 10_000})
    assert len(str(caught.value)) < 400


FIFTY_MEGABYTES = 50_000_000


@pytest.mark.parametrize(
    ("start", "line", "header"),
    [
        ("---\nid: 1\n---\n", "some words in a line\n", "id: 1\n"),
        ("---\nid: 1\n---\n", "\n", "id: 1\n"),
        ("---\nid: 1\n---\n", " ", "id: 1\n"),
        ("---\nno closing fence\n", "-- \n", None),
        ("", "--- not a fence\n", None),
    ],
)
def test_fifty_megabytes_are_split_within_two_seconds(start, line, header):
    text = start + line * (FIFTY_MEGABYTES // len(line))
    began = time.process_time()
    found, _ = split_frontmatter(text)
    assert time.process_time() - began < 2
    assert found == header


# ---------------------------------------------------------------------------------------------------------------- checking

CONTEXT = {"version": 1, "updated": CREATED}
MEMORY = {"id": 1, "created": CREATED, "tags": ["python"], "source": "user-told"}


def test_good_headers_pass():
    validate_context_frontmatter(CONTEXT)
    validate_memory_frontmatter(MEMORY)
    validate_memory_frontmatter(
        {**MEMORY, "category": "learned_facts", "scope": "language", "expires": "2026-12-31", "x": object}
    )
    validate_note_frontmatter({"topic": "deploy", "tags": []})


@pytest.mark.parametrize(
    ("check", "good", "change", "words"),
    [
        (validate_context_frontmatter, CONTEXT, {"version": None}, "Missing required field: version"),
        (validate_context_frontmatter, CONTEXT, {"updated": None}, "Missing required field: updated"),
        (validate_context_frontmatter, CONTEXT, {"version": 2}, "Unsupported version: 2"),
        (validate_context_frontmatter, CONTEXT, {"version": "1"}, "Unsupported version: '1'"),
        (validate_context_frontmatter, CONTEXT, {"version": True}, "Unsupported version: True"),
        (validate_context_frontmatter, CONTEXT, {"version": 1.0}, "Unsupported version: 1.0"),
        (validate_context_frontmatter, CONTEXT, {"updated": "today"}, "Field 'updated' must be ISO8601"),
        (validate_context_frontmatter, CONTEXT, {"tags": 5}, "Field 'tags' must be list"),
        (validate_context_frontmatter, CONTEXT, {"private": "no"}, "Field 'private' must be true or false"),
        (validate_memory_frontmatter, MEMORY, {"id": None}, "Missing required field: id"),
        (validate_memory_frontmatter, MEMORY, {"created": None}, "Missing required field: created"),
        (validate_memory_frontmatter, MEMORY, {"id": "mem-001"}, "Field 'id' must be integer"),
        (validate_memory_frontmatter, MEMORY, {"id": True}, "Field 'id' must be integer"),
        (validate_memory_frontmatter, MEMORY, {"id": 0}, "Field 'id' must be 1 or more"),
        (validate_memory_frontmatter, MEMORY, {"created": 20260209}, "Field 'created' must be string"),
        (validate_memory_frontmatter, MEMORY, {"created": "2026-02-09"}, "Field 'created' must be ISO8601"),
        (validate_memory_frontmatter, MEMORY, {"created": "2026-13-09T14:30:00Z"}, "Field 'created' must be ISO8601"),
        (validate_memory_frontmatter, MEMORY, {"tags": "python"}, "Field 'tags' must be list"),
        (validate_memory_frontmatter, MEMORY, {"tags": ["a", 1]}, "All tags must be strings"),
        (validate_memory_frontmatter, MEMORY, {"source": 1}, "Field 'source' must be string"),
        (validate_memory_frontmatter, MEMORY, {"category": "facts"}, "Field 'category' must be one of user_preferences"),
        (validate_memory_frontmatter, MEMORY, {"scope": ["global"]}, "Field 'scope' must be one of project"),
        (validate_memory_frontmatter, MEMORY, {"expires": "soon"}, "Field 'expires' must be a date"),
        (validate_memory_frontmatter, MEMORY, {"pinned": 1}, "Field 'pinned' must be true or false"),
        (validate_memory_frontmatter, MEMORY, {"supersedes": "12"}, "Field 'supersedes' must be integer"),
    ],
)
def test_a_bad_header_is_an_error_that_names_the_field_and_the_reason(check, good, change, words):
    with pytest.raises(ValueError, match=words):
        check({name: value for name, value in {**good, **change}.items() if value is not None})


@pytest.mark.parametrize(
    ("written", "read"), [("012", 12), ("7", 7), ("-3", -3), ("0x1f", "0x1f"), ("1_000", "1_000"), ("12:30", "12:30")]
)
def test_numbers_are_read_as_people_write_them(written, read):
    assert parse_frontmatter(f"---\nid: {written}  # padded like a file name\n---\n")[0] == {"id": read}


def test_a_field_without_a_value_is_one_that_is_not_set():
    fields, _ = parse_frontmatter("---\nid: 1\ncreated: 2026-02-09T10:00:00Z\ntags:\nexpires:\n---\n")
    validate_memory_frontmatter(fields)
    with pytest.raises(ValueError, match="Missing required field: created"):
        validate_memory_frontmatter({"id": 1, "created": None})
