"""A body becomes passages that lose nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from co_cli.chunking import GOAL, SMALL, WHOLE, _tokens, headings, split

promise = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def passages(body, **options):
    """The texts of the passages, with their headings."""
    return [(passage.heading, body[passage.start : passage.end]) for passage in split(body, **options)]


def words(count, word="word"):
    return " ".join([word] * count)


def estimate(text):
    return _tokens(text, 0, len(text))


# ---------------------------------------------------------------------------------------------------- nothing is lost

lines = st.one_of(
    st.sampled_from(
        [
            "",
            "  ",
            "# One",
            "## Two ##",
            "###### Six",
            "#tag",
            "Title\n=====",
            "Under\n---",
            "---",
            "***",
            "```",
            "````",
            "```py",
            "~~~",
            "    ```",
            "- ```",
            "> ```",
            "> quoted",
            "- item",
            "  - nested",
            "10) ten",
            "    code",
            "| a | b |",
            "|---|---|",
            "a | b\n--|--\n1 | 2",
            "<!-- comment",
            "-->",
            "\f",
            "page\fnext",
            "\f# On a page",
            words(30),
            words(90, "Sentence."),
            words(500),
            "x" * 3000,
            "漢字" * 400,
            "ภาษาไทย" * 100,
            "e\u0301" * 900,
            "\ud83d\ude00 \ud800",
            "\u2028\x85\x1c",
            "\r",
            "[[link]] [a](b.md) `code",
        ]
    ),
    st.text(max_size=30),
)
bodies = st.builds(lambda parts, newline: newline.join(parts), st.lists(lines, max_size=40), st.sampled_from(["\n", "\r\n"]))


@promise
@given(bodies, st.booleans())
def test_what_is_not_white_space_is_in_exactly_one_passage_and_in_order(body, whole):
    found = split(body, whole=whole)
    end = 0
    for passage in found:
        assert not body[end : passage.start].strip()
        assert end <= passage.start < passage.end
        text = body[passage.start : passage.end]
        assert text == text.strip()
        assert passage.line == body.count("\n", 0, passage.start) + 1
        end = passage.end
    assert not body[end:].strip()
    assert len(found) <= 1 or not whole


@promise
@given(bodies)
def test_no_passage_is_huge(body):
    for _, text in passages(body):
        assert estimate(text) <= (WHOLE if any(sign in body for sign in ("```", "~~~", "|")) else GOAL) + SMALL


@promise
@given(st.text())
def test_any_text_is_a_body(body):
    assert "".join("".join(text for _, text in passages(body)).split()) == "".join(body.split())


# -------------------------------------------------------------------------------------------------------------- pages

pages_of_lines = st.lists(st.lists(lines, max_size=12).map("\n".join), min_size=1, max_size=6)


def mark(number):
    return f"<!-- page {number} -->"


@promise
@given(pages_of_lines, st.sampled_from(["\n", "\r\n"]))
def test_no_passage_crosses_a_page_and_nothing_but_the_marks_is_lost(texts, newline):
    body, pages = "", []
    for number, text in enumerate(texts):
        mark_line = f"{mark(number)}{newline}" if number else ""
        start = len(body) + len(mark_line)
        body += f"{mark_line}{text}{newline}"
        pages.append((number, start, len(body)))
    found = split(body)
    for number, start, end in pages:
        mine = [passage for passage in found if passage.page == number]
        assert all(start <= passage.start < passage.end <= end for passage in mine)
        shown = "".join("".join(body[passage.start : passage.end].split()) for passage in mine)
        assert shown == "".join(body[start:end].split())
        assert all(passage.line == body.count("\n", 0, passage.start) + 1 for passage in mine)


@promise
@given(bodies)
def test_a_body_without_marks_is_on_no_page(body):
    assert {passage.page for passage in split(body)} <= {0}


def test_the_headings_of_a_page_hold_for_the_next_one():
    body = "\n\n".join(
        [mark(1), "# Manual", "## Care", words(20), mark(2), words(20, "more"), "## Repair", words(5), mark(4), "# End"]
    )
    assert [(each.page, each.heading, each.anchor) for each in split(body)] == [
        (1, "Manual > Care", "care"),
        (2, "Manual", "manual"),
        (4, "End", "end"),
    ]


def test_a_page_ends_within_a_fence_that_is_never_closed():
    body = f"{mark(1)}\n\n```\ncode\n\n{mark(2)}\n\n# Two\n\ntext\n"
    assert [(each.page, each.heading) for each in split(body)] == [(1, ""), (2, "Two")]


@pytest.mark.parametrize("line", ["text <!-- page 2 -->", "  <!-- page 2 -->", "<!-- page two -->", "<!-- page 2 --> text"])
def test_what_is_no_mark_of_a_page(line):
    assert {each.page for each in split(f"one\n\n{line}\n\ntwo\n")} == {0}


# ------------------------------------------------------------------------------------------------------------- anchors


@pytest.mark.parametrize(
    ("title", "anchor"),
    [
        ("Routing", "routing"),
        ("Request routing (HTTP/2)", "request-routing-http2"),
        ("`co recall`: *how* it works", "co-recall-how-it-works"),
        ("snake_case and-hyphens", "snake_case-and-hyphens"),
        ("See [the guide](guide.md#x)", "see-the-guide"),
        ("Größe über 9000", "größe-über-9000"),
        ("การติดตั้ง", "การติดตั้ง"),
        ("Cafe\u0301", "cafe\u0301"),
        ("!?", ""),
    ],
)
def test_a_heading_has_the_name_that_github_gives_it(title, anchor):
    assert [each.block.anchor for each in headings(f"# {title}\n\ntext\n")] == [anchor]


def test_headings_of_the_same_title_have_names_of_their_own():
    body = "\n\n".join(f"# {title}\n\n{words(300)}" for title in ("Usage", "Usage", "Usage-1", "Usage"))
    names = ["usage", "usage-1", "usage-1-1", "usage-2"]
    assert [each.block.anchor for each in headings(body)] == names
    assert list(dict.fromkeys(each.anchor for each in split(body))) == names


@promise
@given(bodies)
def test_a_passage_knows_every_heading_that_stands_in_it(body):
    found = [(passage.start + place, name) for passage in split(body) for place, name in passage.sections]
    held = {title for passage in split(body) for title in passage.heading.split(" > ")}
    for heading in headings(body):
        assert (heading.start, heading.block.anchor) in found or heading.block.title in held


@promise
@given(bodies)
def test_the_name_of_a_passage_is_that_of_one_heading_before_it(body):
    named = {each.block.anchor: each for each in headings(body)}
    for passage in split(body):
        if passage.anchor:
            assert named[passage.anchor].block.title == passage.heading.split(" > ")[-1]
            assert named[passage.anchor].start < passage.end


# ----------------------------------------------------------------------------------------------------------- passages


@pytest.mark.parametrize("body", ["", " ", "\n\r\n\t\f\n", "\n" * 5000])
def test_a_blank_body_has_no_passage(body):
    assert split(body) == split(body, whole=True) == ()


def test_a_small_body_is_one_passage():
    assert split("\n\n One fact.\n\nAnd why.\n") == ((3, 22, "", 3, "", 0, ()),)


def test_a_memory_stays_whole():
    body = f"# A\n\n{words(900)}\n\n## B\n\n{words(900)}\n"
    assert passages(body, whole=True) == [("", body.strip())]


def test_a_long_note_is_cut_at_its_headings_and_each_passage_knows_where_it_stands():
    body = f"""{words(100, "before")}

# Deploy

{words(100, "deploy")}

## Rollback #

{words(100, "back")}

Setext
======

{words(100, "set")}

Lower
-----
{words(100, "low")}
"""
    assert [(heading, text.split()[-1]) for heading, text in passages(body)] == [
        ("", "before"),
        ("Deploy", "deploy"),
        ("Deploy > Rollback", "back"),
        ("Setext", "set"),
        ("Setext > Lower", "low"),
    ]
    assert [text.split("\n")[0] for _, text in passages(body)[1:]] == ["# Deploy", "## Rollback #", "Setext", "Lower"]


def test_small_sections_go_together_under_the_heading_of_both():
    body = f"# A\n\n## B\n\nb\n\n## C\n\nc\n\n## D\n\n{words(300)}\n\n# E\n\ne\n"
    assert [(heading, text[:3]) for heading, text in passages(body)] == [("A", "# A"), ("A > D", "## "), ("E", "# E")]


def test_a_small_section_does_not_go_with_that_of_another_parent():
    body = f"# A\n\n{words(200)}\n\n## B\n\n{words(200)}\n\n### C\n\nc\n\n# D\n\nd\n\n## E\n\ne\n"
    assert [heading for heading, _ in passages(body)] == ["A", "A > B", "D"]


def test_a_heading_goes_with_what_follows_it():
    body = f"# A\n\n## B\n\n{words(290)} end.\n\n### C\n\n{words(305)}\n\n{words(305)}\n"
    assert [(heading, text.split()[:2]) for heading, text in passages(body)] == [
        ("A > B", ["#", "A"]),
        ("A > B > C", ["###", "C"]),
        ("A > B > C", ["word", "word"]),
    ]


@pytest.mark.parametrize("fence", ["```", "~~~~", "  ```py", "- ```", "1. - ~~~", "> ```"])
def test_what_looks_like_a_heading_in_a_fence_is_none(fence):
    lead = "> " if fence[0] == ">" else "  "
    closing = fence.strip("> 1.-py")
    body = f"# A\n\n{words(150)}\n\n{fence}\n{lead}# no\n{lead}===\n{lead}{closing}\n\n# B\n\n{words(150)}\n"
    assert [heading for heading, _ in passages(body)] == ["A", "B"]


def test_a_fence_in_a_quotation_ends_with_it():
    body = f"# A\n\n{words(150)}\n\n> ```\n> # no\n\n# B\n\n{words(150)}\n"
    assert [heading for heading, _ in passages(body)] == ["A", "B"]


def test_a_fence_is_closed_by_as_many_signs_of_its_own():
    body = f"````md\n{words(200)}\n```\n# no\n~~~~\n````\n\n# Yes\n\n{words(200)}\n"
    assert [heading for heading, _ in passages(body)] == ["", "Yes"]


def test_a_fence_that_is_never_closed_goes_on_to_the_end():
    body = f"# A\n\n{words(200)}\n\n```\n# no\n{words(200)}\n"
    assert [heading for heading, _ in passages(body)] == ["A", "A"]


def test_a_fence_in_a_list_ends_with_the_list():
    body = f"- one\n\n      ```\n      {words(200)}\n\n# Yes\n\n{words(200)}\n"
    assert [heading for heading, _ in passages(body)] == ["", "Yes"]


@pytest.mark.parametrize(
    "text", ["#tag", "#", "####### seven", "    # code", "\\# no", "a\n\n---\n", "- a\n---", "| a |\n---"]
)
def test_what_is_no_heading(text):
    assert {heading for heading, _ in passages(f"{words(300)}\n\n{text}\n{words(300)}")} == {""}


def test_a_long_section_is_cut_between_its_blocks():
    paragraphs = [words(200, f"p{number}") for number in range(4)]
    assert passages("# A\n\n" + "\n\n".join(paragraphs)) == [
        ("A", f"# A\n\n{paragraphs[0]}"),
        *[("A", p) for p in paragraphs[1:]],
    ]


@pytest.mark.parametrize("mark", ["- ", "* ", "3. ", "  - ", "    10) "])
def test_list_items_are_not_cut_while_they_fit(mark):
    items = [f"{mark}{words(60)}" for _ in range(20)]
    for _, text in passages("\n".join(items)):
        assert all(item.strip() == words(60) for item in re.split(r"(?m)^[ \t]*(?:[-*]|\d+[.)]) ", text)[1:])


def test_a_page_mark_is_a_border():
    pages = [words(160, f"page{number}") for number in range(4)]
    assert [text for _, text in passages("\f".join(pages))] == ["\f".join(pages[0:1]), *pages[1:]]


def test_a_fence_stays_whole_even_if_it_is_long():
    fence = "```\n" + "\n\n".join([words(8)] * 80) + "\n```"
    assert fence in [text for _, text in passages(f"# A\n\n{words(300)}\n\n{fence}\n\n{words(300)}\n")]


def test_an_absurd_fence_is_cut_between_lines():
    line = words(9)
    found = passages("```\n" + f"{line}\n" * 1000 + "```")
    assert len(found) > 20
    assert all(part in (line, "```") for _, text in found for part in text.split("\n"))


@pytest.mark.parametrize("row", ["| {0} | {0} |", "{0} | {0}"])
def test_a_table_is_cut_between_rows_only(row):
    table = [row.format("head"), "--- | ---", *[row.format(words(5)) for _ in range(200)]]
    found = passages("\n".join(table))
    assert len(found) > 3
    assert [line for _, text in found for line in text.split("\n")] == table


def test_a_long_row_stays_whole_unless_it_is_absurd():
    long, absurd = f"| {words(600)} |", f"| {words(5000)} |"
    found = [text for _, text in passages(f"| a |\n|---|\n{long}\n{absurd}\n| b |")]
    assert any(long in text for text in found)
    assert not any(absurd in text for text in found)


def test_a_long_paragraph_is_cut_at_the_ends_of_sentences():
    sentence = f"It is {words(40)}."
    found = passages(" ".join([sentence] * 50))
    assert all(text.endswith(".") and text.startswith("It is") for _, text in found)


def test_a_long_sentence_is_cut_at_blanks():
    assert {word for _, text in passages(words(3000, "longish")) for word in text.split()} == {"longish"}


@pytest.mark.parametrize("sign", ["e\u0301\u0323", "👩\u200d🚀", "👍\U0001f3fd"])
def test_a_word_without_end_is_cut_between_signs(sign):
    found = passages(sign * 3000)
    assert len(found) > 1
    assert all(len(text) % len(sign) == 0 for _, text in found)


@pytest.mark.parametrize("text", ["記憶は大切です。" * 300, "ความจำเป็นสิ่งสำคัญ" * 150])
def test_scripts_without_blanks_make_passages_of_the_same_size(text):
    assert all(SMALL < len(part) <= GOAL + SMALL for _, part in passages(text))


def test_windows_line_ends_make_the_same_passages():
    body = f"# A\n\n{words(200)}\n\nB\n-\n\nC\n--\n\n```\n# no\n```\n\n{words(200)}\n\n- {words(200)}\n- x\n"
    assert [(h, t.replace("\r\n", "\n")) for h, t in passages(body.replace("\n", "\r\n"))] == passages(body)


def test_the_title_of_a_passage_is_never_huge():
    assert {len(heading) for heading, _ in passages(f"# {words(5000)}")} == {200}
