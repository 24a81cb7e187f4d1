"""Fetching one page with care.

Owns the way from an address to the bytes of a page: robots.txt first, redirects one by one with every check anew, and what
each status means. The bytes come as they are, with the type and charset that the server claims; what they really are is for
others to find out. Knows nothing of notes, and keeps nothing: no cookies, no credentials, no pages.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from co_cli.articles.web.addresses import canonical, read_address
from co_cli.articles.web.answers import Clock, asked, broken
from co_cli.articles.web.policy import Policy, policy
from co_cli.articles.web.robots import LARGEST, Rules, read_rules
from co_cli.errors import CoError, Denied, NotFound, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from co_cli.articles.web.addresses import Address
    from co_cli.articles.web.answers import Answer

__all__ = ["DEAD_LINK", "Fetched", "Policy", "canonical", "fetch", "policy"]

DEAD_LINK = "dead-link"

_OK, _NOT_MODIFIED, _TOO_MANY = frozenset({200, 203}), 304, 429
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_GONE, _CLOSED = frozenset({404, 410}), frozenset({401, 402, 403, 407, 451})
_SUCCESSES, _REFUSALS, _FAILURES = range(200, 300), range(400, 500), range(500, 600)
_ROBOTS_REDIRECTS = 5
_LONGEST_VALUE = 1000


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page as it came."""

    url: str
    """The address as it was asked for."""
    final_url: str
    """The address that the page came from in the end, in its canonical spelling."""
    content_type: str
    """What the server says it is, such as ``text/html``; often wrong, and empty where it says nothing."""
    charset: str
    """What the server says of the encoding; often wrong, mostly empty."""
    raw: bytes
    etag: str
    last_modified: str
    not_modified: bool
    """Whether it is the same as when ``etag`` and ``last_modified`` were learned; then there are no bytes."""


def fetch(url: str, policy: Policy, *, etag: str = "", last_modified: str = "") -> Fetched:
    """Fetch a page; with the etag or date of an earlier copy, only if it is another now."""
    conditions = _conditions(etag, last_modified)
    clock = Clock(policy)
    way = [read_address(url)]
    try:
        while True:
            address = way[-1]
            _ask_robots(address, policy, clock)
            with asked(address, policy, clock, conditions) as answer:
                if answer.status not in _REDIRECTS:
                    return _fetched(url, answer, policy, conditions)
                way.append(_onward(answer, way, policy))
    except CoError as error:
        if len(way) > 1:
            lines = (error.details, "The way there:", *(f"  {address.url}" for address in way))
            error.details = "\n".join(line for line in lines if line)
        raise


def _conditions(etag: str, last_modified: str) -> dict[str, str]:
    """The headers by which a server need not send what is known; what could be no header is left out."""
    wanted = {"If-None-Match": etag, "If-Modified-Since": last_modified}
    return {name: _plain(value) for name, value in wanted.items() if _plain(value)}


def _plain(value: str) -> str:
    """A value that can be kept in a note and sent in a header, or an empty string."""
    return value if value.isascii() and value.isprintable() and len(value) <= _LONGEST_VALUE else ""


def _onward(answer: Answer, way: list[Address], policy: Policy) -> Address:
    """Where a redirect leads, if it may be followed."""
    address = _target(answer)
    if address in way:
        hint = "Open it in a browser: it may want cookies, which co does not keep."
        raise Unavailable(f"{way[0].url} redirects in a circle.", hint, code="redirects")
    if len(way) > policy.redirects:
        hint = "Open it in a browser, and give the address that it ends at."
        raise Unavailable(f"{way[0].url} redirects more than {policy.redirects} times.", hint, code="redirects")
    return address


def _target(answer: Answer) -> Address:
    location = answer.header("Location")
    if not location:
        raise broken(answer.address, "it redirects without saying where to")
    with suppress(UnicodeError):  # headers are read as Latin-1, but servers that do not escape an address send UTF-8
        location = location.encode("latin-1").decode()
    try:
        address = read_address(urljoin(answer.address.url, location))
    except (CoError, ValueError):
        raise broken(answer.address, "it redirects to what is no address of a page") from None
    if answer.address.scheme == "https" and address.scheme == "http":
        hint = f"If that is what you want, ask for it: {address.url}"
        said = f"{answer.address.url} redirects to {address.url}, which anybody on the way could read and change."
        raise Denied(said, hint, code="downgrade")
    return address


def _fetched(url: str, answer: Answer, policy: Policy, conditions: Mapping[str, str]) -> Fetched:
    not_modified = answer.status == _NOT_MODIFIED and bool(conditions)
    if not not_modified and answer.status not in _OK:
        raise _refusal(answer)
    content_type, charset = _declared(_plain(answer.header("Content-Type")))
    return Fetched(
        url=url,
        final_url=answer.address.url,
        content_type=content_type,
        charset=charset,
        raw=b"" if not_modified else answer.body(policy.largest),
        etag=_plain(answer.header("ETag")) or (conditions.get("If-None-Match", "") if not_modified else ""),
        last_modified=_plain(answer.header("Last-Modified"))
        or (conditions.get("If-Modified-Since", "") if not_modified else ""),
        not_modified=not_modified,
    )


def _declared(value: str) -> tuple[str, str]:
    """The type and the charset of a ``Content-Type``."""
    content_type, *parameters = value.split(";")
    charset = ""
    for parameter in parameters:
        name, _, given = parameter.partition("=")
        if name.strip().lower() == "charset" and not charset:
            charset = given.strip().strip("\"'").lower()
    return content_type.strip().lower(), charset


def _refusal(answer: Answer) -> CoError:
    """The error for a status without a page."""
    status, url = answer.status, answer.address.url
    if status in _GONE:
        return NotFound(f"There is no page {url} ({status}).", "Check the address: it may have moved.", code=DEAD_LINK)
    if status in _CLOSED:
        hint = "Open it in a browser, save it there, and add the file."
        return Denied(f"{answer.address.authority} does not let co read {url} ({status}).", hint, code="no-access")
    if status == _TOO_MANY or status in _FAILURES:
        what = "asks for fewer requests" if status == _TOO_MANY else "has an error of its own"
        wait = answer.header("Retry-After")
        hint = f"Try again in {wait} seconds." if wait.isdecimal() and len(wait) < 8 else "Try again later."  # noqa: PLR2004
        return Unavailable(f"{answer.address.authority} {what} ({status}): {url}", hint, code="server-error")
    return Unavailable(f"{url} answers without a page ({status}).", "Check the address in a browser.", code="no-page")


# ----------------------------------------------------------------------------------------------------------------- robots


def _ask_robots(address: Address, policy: Policy, clock: Clock) -> None:
    """Refuse a page that its site does not want programs to fetch."""
    if not policy.robots:
        return
    rules = policy.known.rules(address.origin)
    if rules is None:
        rules = _fetched_rules(address, policy, clock)
        policy.known.remember(address.origin, rules)
    if not rules.allow(address.target):
        raise Denied(
            f"{address.origin}/robots.txt asks programs not to fetch {address.url}",
            "Open it in a browser, save it there, and add the file; or: co config set fetch_robots no",
            code="robots",
        )


def _fetched_rules(address: Address, policy: Policy, clock: Clock) -> Rules:
    """What a site asks, by RFC 9309: without the file everything is free, and with an error of the server nothing is."""
    place = address._replace(target="/robots.txt")
    for _ in range(_ROBOTS_REDIRECTS + 1):
        with asked(place, policy, clock) as answer:
            if answer.status in _SUCCESSES:
                return read_rules(answer.beginning(LARGEST))
            if answer.status in _REFUSALS:
                return Rules()
            if answer.status not in _REDIRECTS:
                said = f"{place.url} cannot be read ({answer.status}), so nobody knows whether co may fetch {address.url}"
                hint = "Try again later, or: co config set fetch_robots no"
                raise Unavailable(said, hint, code="robots-unknown")
            place = _target(answer)
    return Rules()
