"""Links are really links, and lead to the note that is meant."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_chunking import bodies, promise

from co_cli.links import Link, Named, Names, key_of, links


@promise
@given(bodies)
def test_links_are_what_stands_in_the_body(body):
    for link in links(body):
        assert link.written in body
        assert link.target
        assert body.split("\n")[link.line - 1].strip() or link.written.startswith("[")


@promise
@given(st.text())
def test_any_text_has_links_or_none(body):
    for link in links(body):
        key = key_of(link, "memory")
        assert key == key.strip() == key.casefold()


@pytest.mark.parametrize(
    ("written", "target", "anchor"),
    [
        ("[[deploy]]", "deploy", ""),
        ("[[ deploy ]]", "deploy", ""),
        ("[[Deploy guide|the guide]]", "Deploy guide", ""),
        (r"[[deploy\|in a table]]", "deploy", ""),
        ("[[deploy#Roll back|so]]", "deploy", "Roll back"),
        ("[[topic:deploy]]", "topic:deploy", ""),
        ("![[deploy]]", "deploy", ""),
        ("![[deploy.md]]", "deploy.md", ""),
        ("![[Release 1.2]]", "Release 1.2", ""),
        ("[x](../topics/deploy.md)", "../topics/deploy.md", ""),
        ('[x](../topics/deploy.md#a "title")', "../topics/deploy.md", "a"),
        ("[x](a.md 'one')", "a.md", ""),
        ("[x](a.md (one))", "a.md", ""),
        ("[x](<my file.md#the end>)", "my file.md", "the end"),
        ("[x](my%20file%C3%A9.md)", "my fileé.md", ""),
        ("[x](a%zz%ff.md)", "a%zz\ufffd.md", ""),
        ("[x](a(1).md)", "a(1).md", ""),
        (r"[x](a\(1.md)", "a(1.md", ""),
        ("[`x` [y] z](a.md)", "a.md", ""),
        ("[](a.md)", "a.md", ""),
        ("![x](a.MD)", "a.MD", ""),
        ("[x](report.pdf)", "report.pdf", ""),
        ("[x]: ../a.md", "../a.md", ""),
        ("[x]: <my file.md#b>", "my file.md", "b"),
    ],
)
def test_a_link_is_found_and_read(written, target, anchor):
    wiki = written.lstrip("!").startswith("[[")
    assert links(f"before\n\n{written}\n\nafter") == (Link(target, anchor, wiki, 3, written),)


@pytest.mark.parametrize(
    "body",
    [
        "`[[no]]`",
        "`` [[no]] ` [a](b.md) ``",
        "```\n[[no]]\n```",
        "~~~\n[no](a.md)\n",
        "> ```\n> [[no]]\n",
        "    [[no]]",
        "text\n\n\t[[no]]\n\n    [no](a.md)",
        "    - [[no]]",
        "<!-- [[no]] -->",
        "<!--\n\n[[no]]\n\n[no](a.md)\n-->",
        "[x](http://example.org/a.md)",
        "[x](HTTPS://example.org) [x](mailto:a@example.org) [x](//example.org/a.md)",
        "[[https://example.org]]",
        "[x](#anchor) [[#anchor]] [[|x]] [[ ]]",
        "![x](a.png) ![[a.png]]",
        r"\[x](a.md) \[\[a]] [x\](a.md)",
        "[x](a b.md)",
        "](a.md)",
        "[x\n\ny](a.md)",
        "[x] (a.md)",
        "[^1]: footnote.md",
        "[//]: # (a comment)",
        "[x](",
        "[[a",
        "[[a\nb]]",
    ],
)
def test_what_is_no_link_to_a_note(body):
    assert links(body) == ()


@pytest.mark.parametrize(
    "body",
    [
        "` [[yes]]",
        "` [[yes]]\n\n`",
        "`` [[yes]] `",
        r"\` [[yes]] `",
        "<!-- [[yes]]",
        "`<!--` [[yes]] `-->`",
        "- item\n\n    [[yes]]",
        "paragraph\n    [[yes]]",
        "```\ncode\n```\n[[yes]]",
        "    ```\n\n[[yes]]",
    ],
)
def test_what_only_looks_like_code(body):
    assert [link.target for link in links(body)] == ["yes"]


def test_links_come_in_their_order_with_their_lines():
    body = "[[a]] [b](b.md)\r\n\r\n[ref]: c.md\r\n[![picture](x.png)](d.md)"
    assert [(link.target, link.line) for link in links(body)] == [("a", 1), ("b.md", 1), ("c.md", 3), ("d.md", 4)]


# ------------------------------------------------------------------------------------------------------- who is meant

DEPLOY = Named("project", "topic", "deploy_guide.md", title="How we deploy")
FRIDAYS = Named("project", "memory", "012-we-deploy-on-fridays.md", 12)
RFC = Named("global", "article", "rfc-9110.md", title="HTTP Semantics")
OTHER = Named("global", "memory", "012-tabs-not-spaces.md", 12)
NAMES = Names([DEPLOY, FRIDAYS, RFC, OTHER])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("[[deploy_guide]]", DEPLOY),
        ("[[Deploy Guide]]", DEPLOY),
        ("[[deploy-guide.md]]", DEPLOY),
        ("[[topics/deploy_guide]]", DEPLOY),
        ("[[how we deploy|so]]", DEPLOY),
        ("[[topic:deploy_guide#Roll back]]", DEPLOY),
        ("[[12]]", FRIDAYS),
        ("[[memory:12]]", FRIDAYS),
        ("[[g:12]]", OTHER),
        ("[[p:12]]", FRIDAYS),
        ("[[we-deploy-on-fridays]]", FRIDAYS),
        ("[[HTTP semantics]]", RFC),
        ("[[article:rfc-9110]]", RFC),
        ("[[tabs not spaces]]", OTHER),
        ("[[nothing of the kind]]", None),
        ("[the guide](../topics/deploy_guide.md)", DEPLOY),
        ("[the guide](../topics/deploy_guide.md#roll-back)", DEPLOY),
        ("[beside](012-we-deploy-on-fridays.md)", FRIDAYS),
        ("[beside](./012-we-deploy-on-fridays)", FRIDAYS),
        ("[a file](../attachments/deploy_guide.pdf)", None),
        ("[out](../../../deploy_guide.md)", None),
    ],
)
def test_a_link_means_the_note_that_it_names(written, meant):
    assert [NAMES.meant(key_of(link, "memory"), "project") for link in links(written)] == (
        [meant] if "[[#" not in written else []
    )


def test_a_note_of_the_same_vault_is_meant_before_one_of_the_other():
    (link,) = links("[[12]]")
    assert NAMES.meant(key_of(link, "topic"), "global") == OTHER
    assert NAMES.meant(key_of(link, "topic"), "project") == FRIDAYS


def test_a_surer_name_comes_before_a_title():
    titled = Named("project", "article", "a-page.md", title="deploy")
    named = Named("project", "topic", "deploy.md", title="Something else")
    (link,) = links("[[deploy]]")
    assert Names([titled, named]).meant(key_of(link, "memory"), "project") == named


# --------------------------------------------------------------------------------------------------------------- time


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        "# Head\n\nSome words, and more of them. [[link]]\n\n- item\n\n```\ncode\n```\n\n",
        "x",
        "word ",
        "漢",
        "\u0301",
        "a\f",
        "    ```x\n",
        "```` `\n",
        "> ",
        "a\n---\n",
        "[[`",
        "](a",
        "[](a (",
        "[[<!--",
        "[a]:\n",
        "| ",
        "&" * 1999 + " ",
    ],
)
def test_twice_as_much_takes_twice_as_long(piece):
    def cost(size):
        body = piece * (size // len(piece))
        begun = time.process_time()
        links(body)
        return time.process_time() - begun

    cost(10_000)
    assert cost(1_600_000) < 6 * cost(400_000) + 0.2
