"""An address has one spelling, and only machines that the user may mean are fetched from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websites import Site, page, redirect, website

from co_cli import open_knowledge
from co_cli.articles.web import fetch, policy
from co_cli.articles.web.addresses import canonical, read_address
from co_cli.articles.web.policy import Policy
from co_cli.articles.web.reach import read_allowed, why_not
from co_cli.errors import CoError, Denied, Invalid, Unavailable
from co_cli.settings import change_setting, find_places, load_settings

promise = settings(max_examples=400, deadline=None)


@pytest.fixture
def site() -> Iterator[Site]:
    with website() as one:
        one.pages["/"] = page(b"inside")
        yield one


def refused(kind: type[CoError], url: str, policy: Policy) -> CoError:
    with pytest.raises(kind) as caught:
        fetch(url, policy)
    assert caught.value.hint
    assert caught.value.message.isprintable()
    return caught.value


# --------------------------------------------------------------------------------------------------------------- spelling


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("HTTPS://Example.ORG", "https://example.org/"),
        ("https://example.org:443/", "https://example.org/"),
        ("http://example.org:0080/", "http://example.org/"),
        ("http://example.org:443/", "http://example.org:443/"),
        ("https://example.org:/a", "https://example.org/a"),
        ("https://example.org./a", "https://example.org/a"),
        ("https://example.org/a#part", "https://example.org/a"),
        ("https://example.org#part", "https://example.org/"),
        ("https://example.org?q=1", "https://example.org/?q=1"),
        ("https://example.org/a?", "https://example.org/a"),
        ("https://example.org/a/./b/../c", "https://example.org/a/c"),
        ("https://example.org/../../a/..", "https://example.org/"),
        ("https://example.org/a/%2e%2E/b", "https://example.org/b"),
        ("https://example.org//a//b/", "https://example.org//a//b/"),
        ("https://example.org/%7euser/%c3%a9", "https://example.org/~user/%C3%A9"),
        ("https://example.org/é b?q=ä|ö", "https://example.org/%C3%A9%20b?q=%C3%A4%7C%C3%B6"),
        ("https://example.org/a%2Fb?x=%26", "https://example.org/a%2Fb?x=%26"),
        ("https://example.org/100%", "https://example.org/100%25"),
        ("  https://example.org/a \n", "https://example.org/a"),
        ("https://Bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://BU\u0308CHER。example/", "https://xn--bcher-kva.example/"),
        ("https://XN--BCHER-KVA.example/", "https://xn--bcher-kva.example/"),
        ("http://127.0.0.1/", "http://127.0.0.1/"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/"),
        ("http://[2001:DB8:0::1]:80/", "http://[2001:db8::1]/"),
    ],
)
def test_an_address_has_one_spelling(url, same):
    assert canonical(url) == same
    assert canonical(same) == same


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/A",
        "https://example.org/a/",
        "https://example.org/a?b=1&a=1",
        "https://www.example.org/a",
        "http://example.org/a",
        "https://example.org:8443/a",
        "https://example.org/a?A=1&b=1",
    ],
)
def test_what_may_be_another_page_is_another_address(url):
    assert canonical(url) not in {canonical("https://example.org/a"), canonical("https://example.org/a?a=1&b=1")}


hosts = st.sampled_from(
    ["example.org", "a.b-c.example", "x_y.example", "xn--bcher-kva.example", "1and1.example", "localhost"]
)
tails = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="#?\\"), max_size=20)
ports = st.integers(1, 65535)


@promise
@given(hosts, ports, tails, tails, tails)
def test_the_spelling_of_an_address_is_stable_ascii_and_without_the_fragment(host, port, path, query, fragment):
    url = f"https://{host}:{port}/{path}?{query}#{fragment}"
    once = canonical(url)
    assert canonical(once) == once
    assert once.isascii()
    assert not set(once) & set(' #<>"\\\n\t')
    assert once == canonical(f"HTTPS://{host.upper()}.:0{port}/{path}?{query}#")
    assert read_address(once).url == once


@promise
@given(st.text(max_size=40))
def test_any_text_is_an_address_or_refused_in_words_that_can_be_shown(text):
    for url in (text, f"http://{text}", f"https://{text}/", f"http://example.org:{text}/", f"http://[{text}]/"):
        said = spelling(url)
        assert said.isprintable()
        assert said.startswith("refused: ") or (said.isascii() and said == spelling(said))


def spelling(url: str) -> str:
    """The spelling of an address, or why it has none."""
    try:
        return canonical(url)
    except Invalid as error:
        return f"refused: {error.message} {error.hint}"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "does not begin with"),
        ("example.org/page", "does not begin with"),
        ("file:///etc/passwd", "file://"),
        ("ftp://example.org/", "ftp://"),
        ("javascript:alert(1)", "does not begin with"),
        ("data:text/html,x", "does not begin with"),
        ("gopher://127.0.0.1:6379/_x", "gopher://"),
        ("http:example.org", "does not begin with"),
        ("http:///page", "host"),
        ("http://user:secret@example.org/", "password"),
        ("http://example.org@127.0.0.1/", "password"),
        ("http://example.org\\@127.0.0.1/", "password"),
        ("http://example.org\\.evil.example/", "backslash"),
        ("http://example.org/\\..\\x", "backslash"),
        ("http://exa mple.org/", "name"),
        ("http://%31%32%37.0.0.1/", "name"),
        ("http://example..org/", "name"),
        ("http://example.org../", "name"),
        ("http://-example.org/", "name"),
        ("http://" + "a" * 64 + ".org/", "name"),
        ("http://" + "a." * 130 + "org/", "name"),
        ("http://straße.example/", "different names"),
        ("http://example.org:0/", "port"),
        ("http://example.org:65536/", "port"),
        ("http://example.org:" + "9" * 5000 + "/", "port"),
        ("http://example.org:８０/", "host"),
        ("http://example.org:80:80/", "host"),
        ("http://[::1/", "host"),
        ("http://[fe80::1%25eth0]/", "IPv6"),
        ("http://[::1]x/", "host"),
        ("http://example.org/\nHost: x", "shown"),
        ("http://example.org/\x00", "shown"),
        ("http://example.org/\ud800", "shown"),
        ("http://example.org/" + "a" * 9000, "8192"),
    ],
)
def test_what_is_no_address_of_a_page_is_refused(url, said):
    error = refused(Invalid, url, Policy())
    assert said in error.message
    assert error.code == "bad-address"
    assert "secret" not in error.message


def test_an_address_without_its_beginning_is_guessed_in_the_hint_only():
    assert refused(Invalid, "example.org/page", Policy()).hint == "Did you mean https://example.org/page?"


ODD_IPV4 = """
2130706433 0x7f000001 0x7f.0.0.1 0177.0.0.1 127.1 127.0.1 127.0.0.1.1 00000177.1 0x 1 256.1.1.1 127.0.0.01 1.2.3.4.5
example.0x7f １２７.1 2130706433. 0x7F.1
"""


@pytest.mark.parametrize("host", ODD_IPV4.split())
def test_an_ipv4_address_in_an_odd_spelling_is_refused(host):
    assert "odd way" in refused(Invalid, f"http://{host}/", Policy(allow=read_allowed("127.0.0.0/8"))).message


# --------------------------------------------------------------------------------------------------------------- machines


INSIDE = """
0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.254 168.63.129.16 169.254.169.254 172.16.0.1
172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1
239.255.255.250 240.0.0.1 255.255.255.255 :: ::1 ::2 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:0:127.0.0.1
64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 100::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:db8::1
2002:7f00:1:: 2002:a00:1::1 3fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1 4000::1
"""


@pytest.mark.parametrize("machine", INSIDE.split())
def test_a_machine_that_is_not_in_the_internet_is_not_fetched_from(machine):
    literal = f"[{machine}]" if ":" in machine else machine
    by_number = refused(Denied, f"http://{literal}/", Policy())
    by_name = refused(Denied, "http://www.example/", Policy(resolve=lambda host, port: [machine]))
    for error in (by_number, by_name):
        assert error.code == "refused-address"
        assert "belongs to" in error.message
    assert by_name.hint == "If you want it all the same: co config set fetch_allow 'www.example:80'"


OUTSIDE = """
1.1.1.1 9.255.255.255 11.0.0.1 100.63.255.255 100.128.0.1 126.255.255.255 128.0.0.1 172.15.255.255 172.32.0.1
192.167.1.1 223.255.255.255 2606:4700::1111 2a00::1 64:ff9b::101:101 2002:101:101::1 ::ffff:1.1.1.1
"""


@pytest.mark.parametrize("machine", OUTSIDE.split())
def test_a_machine_in_the_internet_may_be_fetched_from(machine):
    from ipaddress import ip_address

    assert not why_not(ip_address(machine))


@promise
@given(st.ip_addresses())
def test_what_python_calls_private_is_never_taken_for_the_internet(machine):
    hides_another = machine.version == 6 and (machine.ipv4_mapped or machine.sixtofour)
    if not hides_another and (machine.is_private or machine.is_multicast or machine.is_reserved or machine.is_loopback):
        assert why_not(machine) or str(machine).startswith("64:ff9b:")


def test_one_inner_machine_among_many_is_enough_to_refuse_a_host():
    error = refused(Denied, "http://www.example/", Policy(resolve=lambda host, port: ["1.1.1.1", "10.0.0.7", "2a00::1"]))
    assert "10.0.0.7" in error.message


def test_names_of_this_machine_are_refused_unless_they_are_allowed(site):
    for host in ("127.0.0.1", "localhost", "LOCALHOST.", "[::1]", "[::ffff:127.0.0.1]"):
        assert refused(Denied, f"http://{host}:{site.port}/", Policy()).code == "refused-address"
    assert site.connections == 0


def test_a_host_that_is_allowed_is_fetched_from_under_just_that_name(site):
    def here(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    named = Policy(allow=read_allowed(f"wiki.example, 127.0.0.1:{site.port}"), resolve=here)
    assert fetch(f"http://Wiki.Example.:{site.port}/", named).raw == b"inside"
    assert fetch(f"{site.url}/", named).raw == b"inside"
    refused(Denied, f"http://other.example:{site.port}/", named)
    refused(Denied, "http://127.0.0.1:8080/", named)


def test_a_network_that_is_allowed_is_fetched_from_by_any_name(site):
    def here(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    inside = Policy(allow=read_allowed("10.0.0.0/8 127.0.0.0/8"), resolve=here)
    assert fetch(f"http://any.example:{site.port}/", inside).raw == b"inside"
    refused(Denied, "http://any.example/", Policy(allow=inside.allow, resolve=lambda host, port: ["192.168.0.1"]))


def test_the_hint_keeps_what_is_allowed_already():
    hint = refused(Denied, "http://10.0.0.1:8080/", Policy(allow=read_allowed("localhost:80,10.1.0.0/16"))).hint
    assert hint.endswith("co config set fetch_allow 'localhost:80 10.1.0.0/16 10.0.0.1:8080'")


@pytest.mark.parametrize("port", [22, 25, 110, 993, 6000, 6667, 10080])
def test_ports_of_other_services_are_not_spoken_to(port):
    error = refused(Denied, f"http://www.example:{port}/", Policy(resolve=lambda host, port: ["1.1.1.1"]))
    assert error.code == "refused-address"
    assert f"port {port}" in error.message


def test_a_redirect_into_this_machine_is_refused(site):
    with website() as outside:
        outside.pages["/"] = redirect(f"{site.url}/")
        error = refused(Denied, f"{outside.url}/", Policy(allow=read_allowed(outside.host)))
    assert error.code == "refused-address"
    assert f"{site.url}/" in error.details
    assert site.connections == 0


def test_a_robots_file_cannot_lead_into_this_machine_either(site):
    with website() as outside:
        outside.pages |= {"/": page(b"x"), "/robots.txt": redirect(f"{site.url}/")}
        refused(Denied, f"{outside.url}/", Policy(allow=read_allowed(outside.host)))
    assert site.connections == 0


def test_a_name_is_looked_up_once_and_what_was_checked_is_what_is_connected_to(site):
    looked_up = []

    def rebinding(host: str, port: int) -> list[str]:
        looked_up.append(host)
        return ["1.1.1.1"] if len(looked_up) == 1 else ["127.0.0.1"]

    trying = Policy(resolve=rebinding, robots=False)
    assert refused(Unavailable, f"http://www.example:{site.port}/", trying).details == "Tried: 1.1.1.1"
    assert len(looked_up) == 1
    refused(Denied, f"http://www.example:{site.port}/", trying)
    assert site.connections == 0


def test_the_name_that_was_asked_for_is_told_to_the_machine(site):
    named = Policy(allow=read_allowed("wiki.example"), resolve=lambda host, port: ["127.0.0.1"])
    fetch(f"http://wiki.example:{site.port}/", named)
    assert site.requests[-1].headers["Host"] == f"wiki.example:{site.port}"


def test_a_machine_that_does_not_answer_is_passed_over_for_the_next(site):
    several = Policy(allow=read_allowed("wiki.example"), resolve=lambda host, port: ["::1", "127.0.0.2", "127.0.0.1"])
    assert fetch(f"http://wiki.example:{site.port}/", several).raw == b"inside"


# --------------------------------------------------------------------------------------------------------------- settings


def test_the_user_sets_what_may_be_fetched(site, co, project):
    assert policy(load_settings(find_places(project))).allow == ()
    co("config", "set", "fetch_allow", f"{site.host}, 10.0.0.0/8")
    co("config", "set", "fetch_megabytes", "1")
    co("config", "set", "fetch_robots", "no")
    chosen = policy(open_knowledge(project).settings())
    assert (chosen.largest, chosen.robots) == (1_000_000, False)
    assert fetch(f"{site.url}/", chosen).raw == b"inside"


def test_a_project_cannot_open_the_machine_of_who_clones_it(project):
    folder = project / ".co-cli"
    folder.mkdir()
    wishes = '{"fetch_allow": "127.0.0.0/8", "fetch_megabytes": "9000", "fetch_robots": "no"}'
    (folder / "settings.json").write_text(wishes)
    chosen = policy(load_settings(find_places(project)))
    assert (chosen.allow, chosen.largest, chosen.robots) == ((), 25_000_000, True)
    with pytest.raises(Denied):
        change_setting(find_places(project), "fetch_allow", "localhost", in_project=True)


def test_hosts_are_allowed_in_every_way_that_they_are_written():
    written = "wiki.example WIKI.example:8000, 10.0.0.1 10.0.0.1:80 ::1 [::1] [::1]:8000 fd00::/8 10.1.2.3/16"
    assert [(one.host, str(one.network or ""), one.port) for one in read_allowed(written)] == [
        ("wiki.example", "", 0),
        ("wiki.example", "", 8000),
        ("10.0.0.1", "", 0),
        ("10.0.0.1", "", 80),
        ("::1", "", 0),
        ("::1", "", 0),
        ("::1", "", 8000),
        ("", "fd00::/8", 0),
        ("", "10.1.0.0/16", 0),
    ]


@pytest.mark.parametrize("entry", ["10.0.0.0/40", "not a host!", "http://localhost/", "0x7f.1", "a:b:c", "localhost:99999"])
def test_a_list_of_hosts_that_cannot_be_read_is_an_error(entry):
    with pytest.raises(Invalid, match="fetch_allow cannot be read"):
        read_allowed(f"localhost {entry}")
