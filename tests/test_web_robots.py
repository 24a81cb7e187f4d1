"""What a site asks programs to leave alone is left alone, as RFC 9309 has it."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websites import Site, page, redirect, reset, website

from co_cli.articles.web import fetch
from co_cli.articles.web.policy import Policy
from co_cli.articles.web.reach import read_allowed
from co_cli.articles.web.robots import read_rules
from co_cli.errors import CoError, Denied, Unavailable

promise = settings(max_examples=400, deadline=None)


def allowed(robots: str, target: str) -> bool:
    return read_rules(robots.encode()).allow(target)


# ------------------------------------------------------------------------------------------------------------- the rules

ALL = "User-agent: *\n"


@pytest.mark.parametrize(
    ("robots", "target", "may"),
    [
        ("", "/page", True),
        (ALL + "Disallow:", "/page", True),
        (ALL + "Disallow: /", "/page", False),
        (ALL + "Disallow: /private", "/private/x", False),
        (ALL + "Disallow: /private", "/privately", False),
        (ALL + "Disallow: /private/", "/private", True),
        (ALL + "Disallow: /\nAllow: /open", "/open/x", True),
        (ALL + "Allow: /open\nDisallow: /open/not", "/open/not/x", False),
        (ALL + "Disallow: /page\nAllow: /page", "/page", True),
        (ALL + "Disallow: /*.pdf$", "/a/b.pdf", False),
        (ALL + "Disallow: /*.pdf$", "/a/b.pdf?x", True),
        (ALL + "Disallow: /*.pdf", "/a/b.pdf?x", False),
        (ALL + "Disallow: *?session=", "/a?session=1", False),
        (ALL + "Disallow: /a$", "/a", False),
        (ALL + "Disallow: /a$", "/ab", True),
        (ALL + "Disallow: /a*b*b$", "/ab", True),
        (ALL + "Disallow: /a*b*b$", "/axbyb", False),
        (ALL + "Disallow: /~user/é", "/~user/%C3%A9", False),
        (ALL + "Disallow: /%7euser", "/~user", False),
        (ALL + "disallow : /page # not this", "/page", False),
        ("\ufeff" + ALL + "Disallow: /", "/page", False),
        (ALL.replace("\n", "\r") + "Disallow: /\r", "/page", False),
        ("Disallow: /", "/page", True),
        ("User-agent: other\nDisallow: /", "/page", True),
        ("User-agent: co-cli\nDisallow: /\n\n" + ALL + "Allow: /", "/page", False),
        (ALL + "Disallow: /\n\nUser-agent: CO-CLI/1.0\nAllow: /", "/page", True),
        (ALL + "Disallow: /\nUser-agent: co-cli-other\nAllow: /", "/page", False),
        ("User-agent: co-cli\nUser-agent: other\nDisallow: /a\n\nUser-agent: co-cli\nDisallow: /b", "/a", False),
        ("User-agent: co-cli\nUser-agent: other\nDisallow: /a\n\nUser-agent: co-cli\nDisallow: /b", "/b", False),
        ("User-agent: co-cli\nCrawl-delay: 1\nSitemap: /s\nUser-agent: other\nDisallow: /", "/page", False),
        ("<html><body>User-agent: *<br>Disallow: /</body></html>", "/page", True),
    ],
)
def test_the_longest_rule_of_the_group_for_co_decides(robots, target, may):
    assert allowed(robots, target) == may


@promise
@given(st.binary(max_size=300), st.text("/abc*$?", max_size=10))
def test_no_robots_file_breaks_anything(content, target):
    for rules in (read_rules(ALL.encode() + b"Disallow: " + content), read_rules(content)):
        assert rules.allow("/" + target) in (True, False)


@promise
@given(st.lists(st.text("/ab", min_size=1, max_size=4), max_size=6), st.text("/ab", max_size=8))
def test_without_special_signs_a_rule_is_a_beginning(disallowed, target):
    robots = ALL + "".join(f"Disallow: {path}\n" for path in disallowed)
    assert allowed(robots, target) == (not target.startswith(tuple(disallowed)))


def test_a_robots_file_that_is_made_to_be_slow_is_not():
    started = time.process_time()
    assert allowed(ALL + "Disallow: /" + "*a" * 100_000 + "b$", "/" + "a" * 8000)
    assert allowed("User-agent: *\n" * 20_000 + "Disallow: /x\n" * 20_000, "/page")
    assert time.process_time() - started < 1


# --------------------------------------------------------------------------------------------------------------- fetching


@pytest.fixture
def site() -> Iterator[Site]:
    with website() as one:
        one.pages |= {"/page": page(b"text"), "/private": page(b"secret")}
        yield one


def polite(*sites: Site, **more: bool) -> Policy:
    return Policy(allow=read_allowed(" ".join(one.host for one in sites)), seconds=10.0, **more)


def refused(url: str, policy: Policy) -> CoError:
    with pytest.raises(CoError) as caught:
        fetch(url, policy)
    assert "fetch_robots" in caught.value.hint
    return caught.value


def test_a_page_that_a_site_asks_to_leave_alone_is_not_even_asked_for(site):
    site.pages["/robots.txt"] = page(b"User-agent: *\nDisallow: /private\n")
    error = refused(f"{site.url}/private", polite(site))
    assert (type(error), error.code) == (Denied, "robots")
    assert site.asked == ["/robots.txt"]
    assert fetch(f"{site.url}/page", polite(site)).raw == b"text"


def test_the_user_may_decide_not_to_ask(site):
    site.pages["/robots.txt"] = page(b"User-agent: *\nDisallow: /\n")
    assert fetch(f"{site.url}/page", polite(site, robots=False)).raw == b"text"
    assert site.asked == ["/page"]


def test_a_site_is_asked_once_for_many_pages(site):
    policy = polite(site)
    site.pages["/robots.txt"] = page(b"User-agent: *\nDisallow: /private\n")
    for _ in range(3):
        fetch(f"{site.url}/page", policy)
        refused(f"{site.url}/private", policy)
    assert site.asked == ["/robots.txt", *["/page"] * 3]


@pytest.mark.parametrize("status", ["404 Not Found", "401 Unauthorized", "403 Forbidden", "410 Gone"])
def test_a_site_without_the_file_asks_nothing(site, status):
    site.pages["/robots.txt"] = page(b"User-agent: *\nDisallow: /\n", status)
    assert fetch(f"{site.url}/page", polite(site)).raw == b"text"


@pytest.mark.parametrize("status", ["500 Internal Server Error", "503 Service Unavailable"])
def test_a_site_that_cannot_say_what_it_asks_is_left_alone_until_it_can(site, status):
    policy = polite(site)
    site.pages["/robots.txt"] = page(b"", status)
    error = refused(f"{site.url}/page", policy)
    assert (type(error), error.code) == (Unavailable, "robots-unknown")
    site.pages["/robots.txt"] = page(b"")
    assert fetch(f"{site.url}/page", policy).raw == b"text"


def test_a_site_that_breaks_off_is_not_fetched_from_either(site):
    site.pages["/robots.txt"] = reset
    with pytest.raises(Unavailable):
        fetch(f"{site.url}/page", polite(site))
    assert "/page" not in site.asked


def test_the_file_may_lie_elsewhere(site):
    with website() as other:
        site.pages["/robots.txt"] = redirect(f"{other.url}/rules")
        other.pages["/rules"] = page(b"User-agent: *\nDisallow: /private\n")
        assert refused(f"{site.url}/private", polite(site, other)).code == "robots"


def test_a_file_that_is_always_elsewhere_is_no_file(site):
    site.pages["/robots.txt"] = redirect("/robots.txt")
    assert fetch(f"{site.url}/page", polite(site)).raw == b"text"
    assert site.asked.count("/robots.txt") == 6


def test_the_beginning_of_a_file_without_an_end_is_enough(site):
    site.pages["/robots.txt"] = page(b"User-agent: *\nDisallow: /private\n" + b"# and so on\n" * 100_000)
    assert fetch(f"{site.url}/page", polite(site)).raw == b"text"
    assert refused(f"{site.url}/private", polite(site)).code == "robots"


def test_where_a_redirect_leads_the_site_there_is_asked_too(site):
    with website() as other:
        other.pages |= {"/robots.txt": page(b"User-agent: *\nDisallow: /\n"), "/page": page(b"x")}
        site.pages["/page"] = redirect(f"{other.url}/page")
        assert refused(f"{site.url}/page", polite(site, other)).code == "robots"
        assert other.asked == ["/robots.txt"]
