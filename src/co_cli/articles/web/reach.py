"""Which machines pages may be fetched from: any in the internet, and of the others those that the user allows.

Owns looking a host up, the check of every answer, and what the setting ``fetch_allow`` means. Knows nothing of HTTP.

A page from outside can hold links into this machine and its networks, where much answers without asking who calls. So an
address is checked where it cannot change any more: after the name was looked up, and before the connection to just that
address. The name is not looked up again.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, NamedTuple

from co_cli.articles.web.addresses import DEFAULT_PORTS, read_address
from co_cli.errors import CoError, Denied, Invalid, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from co_cli.articles.web.addresses import Address

    Resolve = Callable[[str, int], Sequence[str]]

REFUSED_ADDRESS = "refused-address"
NO_SUCH_HOST = "no-such-host"

_HERE, _PRIVATE, _LINK = "this machine", "a private network", "the local network"
_MANY, _RESERVED, _EXAMPLES = "a group of machines", "a reserved network", "the examples of documents"
_CLOUD = "the inside of a cloud"
_NOT_PUBLIC: tuple[tuple[IPv4Network | IPv6Network, str], ...] = tuple(
    (ip_network(network), what)
    for network, what in (
        ("0.0.0.0/8", _HERE),
        ("10.0.0.0/8", _PRIVATE),
        ("100.64.0.0/10", "the inside of a provider's network"),
        ("127.0.0.0/8", _HERE),
        ("168.63.129.16/32", _CLOUD),
        ("169.254.0.0/16", _LINK),  # where clouds keep what their machines sign in with
        ("172.16.0.0/12", _PRIVATE),
        ("192.0.0.0/24", _RESERVED),
        ("192.0.2.0/24", _EXAMPLES),
        ("192.88.99.0/24", _RESERVED),
        ("192.168.0.0/16", _PRIVATE),
        ("198.18.0.0/15", "measurements of networks"),
        ("198.51.100.0/24", _EXAMPLES),
        ("203.0.113.0/24", _EXAMPLES),
        ("224.0.0.0/4", _MANY),
        ("240.0.0.0/4", _RESERVED),
        ("::/127", _HERE),
        ("2001::/23", _RESERVED),  # Teredo among them, which hides an IPv4 address in scrambled form
        ("2001:db8::/32", _EXAMPLES),
        ("3fff::/20", _EXAMPLES),
        ("fc00::/7", _PRIVATE),
        ("fe80::/10", _LINK),
        ("fec0::/10", _PRIVATE),
        ("ff00::/8", _MANY),
    )
)
_PUBLIC_IPV6 = IPv6Network("2000::/3")
"""All that was ever given out; what lies beside it is reserved."""
_HIDING = ((IPv6Network("::ffff:0:0/96"), 0), (IPv6Network("64:ff9b::/96"), 0), (IPv6Network("2002::/16"), 80))
"""Networks whose addresses hold an IPv4 address, and how many bits stand behind it: mapped, NAT64, 6to4."""
_SYSTEM_PORTS = 1024
_OTHER_SERVICES = frozenset(
    {1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080}
)
"""Ports above those of the system that browsers do not speak HTTP to either."""


class Allowed(NamedTuple):
    """One thing that the user allows to be fetched from."""

    text: str
    host: str
    """A name or an address: what is asked for under just this name may be fetched."""
    network: IPv4Network | IPv6Network | None
    """A network: every machine in it may be fetched from, by whatever name."""
    port: int
    """Holds for this port only, unless it is 0."""

    def covers(self, address: Address, machine: IPv4Address | IPv6Address) -> bool:
        """Whether it allows a page at an address, on a machine."""
        if self.port not in {0, address.port}:
            return False
        return machine in self.network if self.network else self.host == address.host


def read_allowed(text: str) -> tuple[Allowed, ...]:
    """What a list of hosts and networks allows; blanks or commas stand between them."""
    return tuple(_read_one(entry) for entry in text.replace(",", " ").split())


def _read_one(entry: str) -> Allowed:
    try:
        if "/" in entry:
            return Allowed(entry, "", ip_network(entry, strict=False), 0)
        bracketed = f"[{entry}]" if entry.count(":") > 1 and not entry.startswith("[") else entry
        address = read_address(f"http://{bracketed}")
    except (ValueError, CoError):
        hint = "Name hosts, addresses or networks: co config set fetch_allow 'localhost:8000 wiki.example 10.1.0.0/16'"
        raise Invalid(f"fetch_allow cannot be read: {entry!r} is no host and no network.", hint) from None
    has_port = bracketed.rpartition("]")[2].count(":") == 1
    return Allowed(entry, address.host, None, address.port if has_port else 0)


def why_not(machine: IPv4Address | IPv6Address) -> str:
    """What a machine belongs to, if that is not the internet."""
    machine = _unhidden(machine)
    for network, what in _NOT_PUBLIC:
        if machine in network:
            return what
    return _RESERVED if isinstance(machine, IPv6Address) and machine not in _PUBLIC_IPV6 else ""


def _unhidden(machine: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address that an IPv6 address leads to, or the address itself."""
    if isinstance(machine, IPv6Address):
        for network, behind in _HIDING:
            if machine in network:
                return IPv4Address(int(machine) >> behind & 0xFFFFFFFF)
    return machine


def machines(address: Address, allowed: Sequence[Allowed], resolve: Resolve, seconds: float) -> list[str]:
    """The addresses of the machines that serve a page, in the order to try; if one of them may not be reached, none may."""
    found = []
    for answer in _looked_up(address, resolve, seconds):
        machine = ip_address(answer)
        if not any(one.covers(address, _unhidden(machine)) for one in allowed):
            _check_machine(address, machine, allowed)
        found.append(answer)
    if not found:
        raise _unknown(address)
    return found


def _check_machine(address: Address, machine: IPv4Address | IPv6Address, allowed: Sequence[Allowed]) -> None:
    what = why_not(machine)
    if what:
        name = address.host if address.host == str(machine) else f"{address.host} is {machine}, which"
        said = f"{name} belongs to {what}, and pages are not fetched from there."
    elif address.port in _OTHER_SERVICES or (address.port < _SYSTEM_PORTS and address.port not in DEFAULT_PORTS.values()):
        said = f"{address.authority} is no address of a web server: port {address.port} belongs to another service."
    else:
        return
    host = f"[{address.host}]" if ":" in address.host else address.host
    together = " ".join((*(one.text for one in allowed), f"{host}:{address.port}"))  # no more than what was asked for
    raise Denied(said, f"If you want it all the same: co config set fetch_allow '{together}'", code=REFUSED_ADDRESS)


def _looked_up(address: Address, resolve: Resolve, seconds: float) -> list[str]:
    """What a host's name stands for; in a thread, since the system's own way to ask knows no limit of time."""
    from threading import Thread

    answers: list[str] = []
    failures: list[Exception] = []

    def look() -> None:
        try:
            answers.extend(resolve(address.host, address.port))
        except (OSError, UnicodeError) as error:
            failures.append(error)

    asking = Thread(target=look, daemon=True)
    asking.start()
    asking.join(max(seconds, 0.0))
    if asking.is_alive():
        hint = "Check the connection to the network, then try again."
        raise Unavailable(f"Looking up {address.host} takes too long.", hint, code="timeout")
    if failures:
        raise _unknown(address, failures[0])
    return answers


def _unknown(address: Address, error: Exception | None = None) -> Unavailable:
    import socket

    if isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN:
        hint = "Check the connection to the network, then try again."
        return Unavailable(f"{address.host} cannot be looked up now.", hint, code="no-network")
    hint = "Check the spelling of the address, and the connection to the network."
    return Unavailable(f"There is no host {address.host}.", hint, code=NO_SUCH_HOST)


def system_addresses(host: str, port: int) -> list[str]:
    """What the system says a name stands for."""
    from socket import SOCK_STREAM, getaddrinfo

    return list(dict.fromkeys(str(answer[4][0]) for answer in getaddrinfo(host, port, type=SOCK_STREAM)))
