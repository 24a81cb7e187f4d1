"""Fetching a page is careful: it takes what a server gives, within limits, and says plainly what it does not take."""

from __future__ import annotations

import gzip
import socket
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websites import Site, chunked, page, redirect, reset, website

from co_cli import __version__
from co_cli.articles.web import Fetched, fetch
from co_cli.articles.web.policy import Policy
from co_cli.articles.web.reach import read_allowed
from co_cli.errors import CoError, Denied, NotFound, Unavailable


@pytest.fixture
def site() -> Iterator[Site]:
    with website() as one:
        yield one


def careful(*sites: Site, **limits: Any) -> Policy:
    """A policy that allows these sites, and has no patience."""
    limits = {"seconds": 10.0, "silence": 5.0, "robots": False} | limits
    return Policy(allow=read_allowed(" ".join(one.host for one in sites)), **limits)


def got(site: Site, target: str = "/page", **limits: Any) -> Fetched:
    return fetch(site.url + target, careful(site, **limits))


def refused(attempt: Callable[[], object]) -> CoError:
    """The error of an attempt, which has to name a next step and to fit on a terminal."""
    with pytest.raises(CoError) as caught:
        attempt()
    assert caught.value.hint
    assert caught.value.message.isprintable()
    return caught.value


# ---------------------------------------------------------------------------------------------------------- what is asked


def test_a_page_comes_as_it_is_with_what_its_server_says_of_it(site):
    site.pages["/page"] = page(
        b"<p>f\xfcnf",
        Content_Type='Text/HTML; Charset="ISO-8859-1"',
        ETag='"a1"',
        Last_Modified="Thu, 19 Nov 2026 12:00:00 GMT",
    )
    asked = f"{site.url}/page#here"
    assert fetch(asked, careful(site)) == Fetched(
        url=asked,
        final_url=f"{site.url}/page",
        content_type="text/html",
        charset="iso-8859-1",
        raw=b"<p>f\xfcnf",
        etag='"a1"',
        last_modified="Thu, 19 Nov 2026 12:00:00 GMT",
        not_modified=False,
    )


@pytest.mark.parametrize(
    ("said", "content_type", "charset"),
    [("", "", ""), ("text/html; charset=no-such-charset", "text/html", "no-such-charset"), ("nonsense;;=", "nonsense", "")],
)
def test_what_a_server_says_of_a_page_is_passed_on_even_if_it_is_wrong(site, said, content_type, charset):
    site.pages["/page"] = page(b"\x89PNG\r\n", Content_Type=said)
    fetched = got(site)
    assert (fetched.content_type, fetched.charset, fetched.raw) == (content_type, charset, b"\x89PNG\r\n")


def test_a_site_is_told_honestly_who_asks_and_nothing_else(site):
    site.pages["/page"] = page(b"x", Set_Cookie="who=you; Path=/")
    for _ in range(2):
        got(site)
    for request in site.requests:
        assert request.headers.keys() == {"Host", "User-Agent", "Accept", "Accept-Encoding", "Connection"}
        assert request.headers["Host"] == site.host
        assert request.headers["User-Agent"].startswith(f"co-cli/{__version__} (+")


def test_proxies_and_passwords_of_the_environment_are_left_alone(site, project, monkeypatch):
    with website() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        netrc = project / "netrc"
        netrc.write_text("machine 127.0.0.1 login me password secret\n")
        monkeypatch.setenv("NETRC", str(netrc))
        site.pages["/page"] = page(b"straight")
        assert got(site).raw == b"straight"
        assert proxy.connections == 0
    assert "Authorization" not in site.requests[0].headers


def test_what_has_not_changed_is_not_sent_again(site):
    def changed(connection: socket.socket) -> None:
        if site.requests[-1].headers.get("If-None-Match") == '"a1"':
            connection.sendall(page(b"", "304 Not Modified", Content_Length=""))
        else:
            connection.sendall(page(b"text", ETag='"a1"', Last_Modified="Thu, 19 Nov 2026 12:00:00 GMT"))

    site.pages["/page"] = changed
    first = got(site)
    again = fetch(f"{site.url}/page", careful(site), etag=first.etag, last_modified=first.last_modified)
    assert (first.not_modified, again.not_modified, again.raw) == (False, True, b"")
    assert (again.etag, again.last_modified) == (first.etag, first.last_modified)
    assert site.requests[1].headers["If-Modified-Since"] == first.last_modified
    assert fetch(f"{site.url}/page", careful(site), etag='"another"').raw == b"text"


def test_a_condition_cannot_smuggle_in_a_header(site):
    site.pages["/page"] = page(b"text")
    fetch(f"{site.url}/page", careful(site), etag='"a"\r\nCookie: x', last_modified="ä")
    assert not site.requests[0].headers.keys() & {"Cookie", "If-None-Match", "If-Modified-Since"}


@pytest.mark.parametrize("value", ["a\r\n  folded", "\x1b[31mred", "\x00", "x" * 2000, "g\xc3\xbcnstig"])
def test_what_cannot_be_kept_on_a_line_is_not_taken_from_a_header(site, value):
    site.pages["/page"] = page(b"text", ETag=value, Last_Modified=value, Content_Type=f"text/html; charset={value}")
    fetched = got(site)
    assert (fetched.etag, fetched.last_modified, fetched.content_type, fetched.charset) == ("", "", "", "")
    assert fetched.raw == b"text"


def test_not_modified_without_being_asked_is_no_page(site):
    site.pages["/page"] = page(b"", "304 Not Modified")
    assert refused(lambda: got(site)).code == "no-page"


# -------------------------------------------------------------------------------------------------------------- redirects


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
def test_a_redirect_is_followed_to_where_the_page_is_now(site, status):
    site.pages |= {"/page": redirect("../new/place?x=1#part", status), "/new/place?x=1": page(b"moved")}
    fetched = got(site)
    assert (fetched.raw, fetched.final_url) == (b"moved", f"{site.url}/new/place?x=1")


def test_an_address_that_a_server_did_not_escape_is_understood(site):
    site.pages |= {"/page": redirect("/gr\xc3\xb6\xc3\x85e b"), "/gr%C3%B6%C3%85e%20b": page(b"moved")}
    assert got(site).raw == b"moved"


def test_a_circle_of_redirects_is_noticed_at_once(site):
    site.pages |= {"/page": redirect("/b"), "/b": redirect("/c"), "/c": redirect("/b")}
    error = refused(lambda: got(site))
    assert (type(error), error.code) == (Unavailable, "redirects")
    assert "circle" in error.message
    assert site.asked == ["/page", "/b", "/c"]
    assert f"  {site.url}/c" in error.details


def test_redirects_without_an_end_are_given_up(site):
    site.pages |= {f"/{number}": redirect(f"/{number + 1}") for number in range(20)}
    error = refused(lambda: got(site, "/0", redirects=5))
    assert (error.code, len(site.asked)) == ("redirects", 6)


@pytest.mark.parametrize("target", ["", "file:///etc/passwd", "javascript:alert(1)", "http://[x", "ftp://example.org/"])
def test_a_redirect_to_what_is_no_page_is_not_followed(site, target):
    site.pages["/page"] = redirect(target)
    assert refused(lambda: got(site)).code == "broken-answer"


# -------------------------------------------------------------------------------------------------------- packed and large


def raw_deflate(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


TEXT = bytes(range(256)) * 2000


@pytest.mark.parametrize(
    ("packing", "packed"),
    [
        ("gzip", gzip.compress(TEXT)),
        ("X-Gzip", gzip.compress(TEXT)),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", raw_deflate(TEXT)),
        ("gzip", gzip.compress(TEXT[:1000]) + gzip.compress(TEXT[1000:])),
        ("gzip", gzip.compress(TEXT) + b"\0" * 100),
        ("identity", TEXT),
    ],
    ids=["gzip", "x-gzip", "zlib", "raw", "members", "filling", "identity"],
)
def test_a_packed_page_is_unpacked(site, packing, packed):
    site.pages["/page"] = page(packed, Content_Encoding=packing)
    assert got(site).raw == TEXT
    assert site.requests[0].headers["Accept-Encoding"] == "gzip, deflate"


@pytest.mark.parametrize(
    ("packing", "body"),
    [
        ("gzip", b"<html>not packed at all"),
        ("gzip", gzip.compress(TEXT)[:-9]),
        ("gzip", gzip.compress(TEXT)[:-4] + b"long"),
        ("gzip", gzip.compress(TEXT) + gzip.compress(TEXT)[:50]),
        ("deflate", zlib.compress(TEXT)[:50]),
        ("br", b"\x0b\x02\x80text\x03"),
        ("gzip, gzip", gzip.compress(gzip.compress(TEXT))),
    ],
    ids=["plain", "cut", "wrong", "half-member", "half", "brotli", "twice"],
)
def test_a_page_that_is_packed_wrongly_is_an_error_and_never_half_a_page(site, packing, body):
    site.pages["/page"] = page(body, Content_Encoding=packing)
    assert refused(lambda: got(site)).code == "broken-answer"


def test_an_empty_page_is_a_page(site):
    site.pages |= {"/page": page(), "/packed": page(Content_Encoding="gzip")}
    assert got(site).raw == got(site, "/packed").raw == b""


def test_a_page_may_be_as_large_as_the_limit_and_not_a_byte_larger(site):
    site.pages |= {"/page": page(b"x" * 1000), "/more": page(b"x" * 1001)}
    site.pages |= {
        "/open": page(b"x" * 1001, Content_Length=""),
        "/packed": page(gzip.compress(b"x" * 1001), Content_Encoding="gzip"),
    }
    assert len(got(site, largest=1000).raw) == 1000
    for target in ("/more", "/open", "/packed"):
        error = refused(lambda at=target: got(site, at, largest=1000))
        assert (type(error), error.code) == (Denied, "too-large")
        assert "fetch_megabytes" in error.hint


SAID, UNSAID, IN_CHUNKS = "Content-Length: 50000000\r\n", "", "Transfer-Encoding: chunked\r\n"


@pytest.mark.parametrize("length", [SAID, UNSAID, IN_CHUNKS], ids=["said", "unsaid", "chunks"])
def test_a_page_of_50_megabytes_is_given_up_early_and_never_held_in_memory(site, length):
    sent = 0

    def pour(connection: socket.socket) -> None:
        nonlocal sent
        connection.sendall(f"HTTP/1.1 200 OK\r\n{length}\r\n".encode())
        for _ in range(500):
            connection.sendall(
                (b"186a0\r\n" if length == IN_CHUNKS else b"") + b"x" * 100_000 + b"\r\n"[: 2 * (length == IN_CHUNKS)]
            )
            sent += 100_000

    site.pages["/page"] = pour
    peak = peak_of(lambda: refused(lambda: got(site, largest=4_000_000)))
    assert peak < (1_000_000 if length == SAID else 12_000_000)
    assert sent < 20_000_000


def test_a_page_that_unpacks_to_200_megabytes_is_given_up_at_the_limit(site):
    engine = zlib.compressobj(9, wbits=31)
    bomb = b"".join(engine.compress(bytes(1_000_000)) for _ in range(200)) + engine.flush()
    assert len(bomb) < 250_000
    site.pages["/page"] = page(bomb, Content_Encoding="gzip")
    errors = []
    assert peak_of(lambda: errors.append(refused(lambda: got(site, largest=4_000_000)))) < 12_000_000
    assert errors[0].code == "too-large"


def peak_of(attempt: Callable[[], object]) -> int:
    """The most memory that was in use at once."""
    tracemalloc.start()
    try:
        attempt()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# ------------------------------------------------------------------------------------------------------------ slow servers


def dripping(beginning: bytes, drop: bytes) -> Callable[[socket.socket], None]:
    """A byte now and then, for as long as somebody waits."""

    def drip(connection: socket.socket) -> None:
        connection.sendall(beginning)
        for _ in range(400):
            connection.sendall(drop)
            time.sleep(0.05)

    return drip


@pytest.mark.parametrize(
    ("beginning", "drop"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nX: ", b"x"),
        (b"", b"H"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
    ids=["body", "chunks", "open", "header", "status", "continue"],
)
def test_a_server_that_drips_is_given_up_when_the_time_is_over(site, beginning, drop):
    site.pages["/page"] = dripping(beginning, drop)
    started = time.monotonic()
    error = refused(lambda: got(site, seconds=0.4))
    assert time.monotonic() - started < 2
    assert (type(error), error.code) == (Unavailable, "timeout")
    assert "longer than 0.4 seconds" in error.message


def test_a_server_that_says_nothing_is_given_up_before_that(site):
    site.pages["/page"] = lambda connection: time.sleep(1)
    error = refused(lambda: got(site, silence=0.2))
    assert error.code == "timeout"
    assert "nothing came for 0.2 seconds" in error.message


def test_the_time_is_for_all_redirects_together(site):
    def slowly(connection: socket.socket) -> None:
        time.sleep(0.15)
        connection.sendall(redirect(f"/{len(site.requests)}"))

    site.pages |= dict.fromkeys(("/page", *(f"/{number}" for number in range(9))), slowly)
    started = time.monotonic()
    assert refused(lambda: got(site, seconds=0.5)).code == "timeout"
    assert time.monotonic() - started < 2


def test_a_name_that_is_looked_up_for_ever_is_given_up():
    def for_ever(host: str, port: int) -> list[str]:
        time.sleep(2)
        return []

    error = refused(lambda: fetch("http://slow.example/", Policy(seconds=0.2, resolve=for_ever)))
    assert error.code == "timeout"
    assert "Looking up slow.example" in error.message


# ------------------------------------------------------------------------------------------------------- no page, no HTTP


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        ("404 Not Found", NotFound, "dead-link"),
        ("410 Gone", NotFound, "dead-link"),
        ("401 Unauthorized", Denied, "no-access"),
        ("403 Forbidden", Denied, "no-access"),
        ("451 Unavailable For Legal Reasons", Denied, "no-access"),
        ("429 Too Many Requests", Unavailable, "server-error"),
        ("500 Internal Server Error", Unavailable, "server-error"),
        ("503 Service Unavailable", Unavailable, "server-error"),
        ("204 No Content", Unavailable, "no-page"),
        ("206 Partial Content", Unavailable, "no-page"),
        ("300 Multiple Choices", Unavailable, "no-page"),
        ("400 Bad Request", Unavailable, "no-page"),
        ("999 Request denied", Unavailable, "no-page"),
    ],
)
def test_each_status_without_a_page_has_its_kind_and_code(site, status, kind, code):
    site.pages["/page"] = page(b"sorry", status)
    error = refused(lambda: got(site))
    assert (type(error), error.code) == (kind, code)
    assert status[:3] in error.message
    assert f"{site.url}/page" in error.message


def test_a_server_that_asks_to_wait_is_quoted(site):
    site.pages["/page"] = page(b"", "429 Too Many Requests", Retry_After="120")
    assert refused(lambda: got(site)).hint == "Try again in 120 seconds."


HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"<html>HTTP/0.9 has no headers</html>",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\x00\xff\x00\xff" * 100,
        b"HTTP/1.1 OK\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/2.0 200 OK\r\n\r\n",
        HEAD + b"Content-Length: 100\r\n\r\nonly this",
        HEAD + b"Content-Length: 4\r\nContent-Length: 9\r\n\r\nwhich one",
        HEAD + b"Content-Length: -1\r\n\r\nbody",
        HEAD + b"Content-Length: many\r\n\r\nbody",
        HEAD + b"this is no header\r\nContent-Length: 100\r\n\r\nonly this",
        HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + chunked(b"body"),
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(b"half", end=b""),
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(b"half", end=b"ff\r\nhal"),
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(b"half", end=b"zz\r\nhal"),
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"-1\r\n" + b"x" * 100,
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"-9\r\n" + b"x" * 100,
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 70_000,
        HEAD + b"X: " + b"x" * 200_000 + b"\r\n\r\n",
        HEAD + b"X: x\r\n" * 101 + b"\r\n",
        HEAD + b"".join(b"X: %b\r\n" % (b"x" * 1000) for _ in range(90)) + b"\r\n",
        b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100,
        b"HTTP/1.1 100 Continue\r\n\r\n" * 10_000,
    ],
    ids=lambda answer: answer[:12].decode("latin-1") + "…" + str(len(answer)),
)
def test_an_answer_that_is_broken_is_an_error_and_never_half_a_page(site, answer):
    site.pages["/page"] = answer
    error = refused(lambda: got(site, largest=1000))
    assert (type(error), error.code) == (Unavailable, "broken-answer")


WHOLE = [
    page(b"hello", ETag='"a"', Content_Type="text/html; charset=utf-8"),
    page(gzip.compress(b"x" * 500), Content_Encoding="gzip"),
    page(chunked(gzip.compress(b"x" * 500)), Transfer_Encoding="chunked", Content_Encoding="gzip"),
    redirect("/else?x=\xc3\xa9"),
]
spoiled = st.tuples(
    st.sampled_from(WHOLE), st.integers(0, 300), st.integers(0, 20), st.binary(max_size=6) | st.sampled_from(WHOLE)
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(spoiled)
def test_any_answer_is_a_page_or_an_error_in_plain_words(site, spoiled):
    whole, place, removed, added = spoiled
    site.pages["/page"] = whole[:place] + added + whole[place + removed :]
    try:
        said = got(site, largest=10_000).etag
    except CoError as error:
        said = f"{error.message}{error.hint}"
    assert said.isprintable()


def test_headers_without_an_end_are_given_up(site):
    def flood(connection: socket.socket) -> None:
        connection.sendall(HEAD)
        for _ in range(100_000):
            connection.sendall(b"X: x\r\n" * 1000)

    site.pages["/page"] = flood
    assert peak_of(lambda: refused(lambda: got(site))) < 2_000_000


def test_a_connection_that_is_reset_is_an_error(site):
    def cut(connection: socket.socket) -> None:
        connection.sendall(HEAD + b"Content-Length: 100\r\n\r\nonly this")
        time.sleep(0.1)
        reset(connection)

    site.pages |= {"/page": reset, "/half": cut}
    for target in ("/page", "/half"):
        error = refused(lambda at=target: got(site, at))
        assert (type(error), error.code) == (Unavailable, "broken-answer")


def test_what_follows_behind_the_said_length_is_not_taken(site):
    site.pages["/page"] = page(b"the page and more", Content_Length="8")
    assert got(site).raw == b"the page"


def test_odd_but_clear_answers_are_understood(site):
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
    trailer = b"0\r\nX-Trailer: x\r\n\r\n"
    site.pages |= {
        "/hints": hints + page(b"page"),
        "/chunks": page(chunked(b"pa", b"g", b"e", end=trailer), Transfer_Encoding="chunked"),
        "/extended": page(b"4;name=value\r\npage\r\n0\r\n\r\n", Transfer_Encoding="Chunked"),
        "/old": b"HTTP/1.0 200\n\npage",
        "/twice": page(b"page", Content_Length="4\r\nContent-Length: 4"),
        "/packed": page(chunked(gzip.compress(b"page")), Transfer_Encoding="chunked", Content_Encoding="gzip"),
    }
    for target in site.pages:
        assert got(site, target).raw == b"page", target


def test_a_server_that_is_not_there_is_named():
    with website() as gone:
        policy = careful(gone)
    error = refused(lambda: fetch(f"{gone.url}/page", policy))
    assert (type(error), error.code) == (Unavailable, "no-connection")
    assert error.message == f"{gone.url} cannot be reached: connection refused."


def test_a_name_that_does_not_exist_is_told_from_a_network_that_is_gone():
    def unknown(host: str, port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    def offline(host: str, port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    assert refused(lambda: fetch("http://nowhere.example/", Policy(resolve=unknown))).code == "no-such-host"
    assert refused(lambda: fetch("http://nowhere.example/", Policy(resolve=offline))).code == "no-network"


# -------------------------------------------------------------------------------------------------------------------- TLS


@pytest.fixture
def secure() -> Iterator[Site]:
    with website(secure=True) as one:
        one.pages["/page"] = page(b"sealed")
        yield one


def trust(monkeypatch: pytest.MonkeyPatch) -> None:
    from websites import CERTIFICATE

    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))


def test_a_certificate_that_nobody_vouches_for_is_refused(secure):
    error = refused(lambda: got(secure))
    assert (type(error), error.code) == (Denied, "certificate")
    assert error.message == "localhost cannot prove who it is: self-signed certificate."
    assert "SSL_CERT_FILE" in error.hint
    assert not secure.requests


def test_a_certificate_of_an_authority_that_the_user_names_is_accepted(secure, monkeypatch):
    trust(monkeypatch)
    assert got(secure).raw == b"sealed"


def test_a_certificate_for_another_name_is_refused(secure, monkeypatch):
    trust(monkeypatch)
    policy = Policy(allow=read_allowed("other.example"), robots=False, resolve=lambda host, port: ["127.0.0.1"])
    error = refused(lambda: fetch(f"https://other.example:{secure.port}/page", policy))
    assert error.code == "certificate"
    assert "other.example" in error.message
    assert not secure.requests


def test_a_secure_page_that_redirects_to_an_open_one_is_refused(secure, site, monkeypatch):
    trust(monkeypatch)
    site.pages["/page"] = page(b"open")
    secure.pages["/page"] = redirect(f"{site.url}/page")
    error = refused(lambda: fetch(f"{secure.url}/page", careful(secure, site)))
    assert (type(error), error.code) == (Denied, "downgrade")
    assert f"{site.url}/page" in error.hint
    assert not site.requests


def test_an_open_page_may_redirect_to_a_secure_one(secure, site, monkeypatch):
    trust(monkeypatch)
    site.pages["/page"] = redirect(f"{secure.url}/page")
    assert fetch(f"{site.url}/page", careful(secure, site)).raw == b"sealed"


def test_a_secure_page_that_is_cut_off_is_no_page(secure, monkeypatch):
    trust(monkeypatch)

    def cut(connection: socket.socket) -> None:  # without the goodbye by which TLS tells an end from a cut
        connection.sendall(HEAD + b"\r\nhalf a pa")

    secure.pages["/page"] = cut
    assert refused(lambda: got(secure)).code == "broken-answer"


def test_a_server_without_tls_is_named_as_such(site):
    error = refused(lambda: fetch(f"https://{site.host}/page", careful(site)))
    assert (type(error), error.code) == (Unavailable, "no-connection")
    assert "http, not https" in error.hint
