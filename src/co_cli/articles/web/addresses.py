"""Addresses of pages: what is one, and when two of them are the same.

Owns reading an address and its one canonical spelling. Pure: knows nothing of networks, nor of what lies at an address.

What different programs read differently is refused rather than guessed, since a check is worth nothing if the one who checks
and the one who connects mean different machines.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple

from co_cli.errors import Invalid

BAD_ADDRESS = "bad-address"
DEFAULT_PORTS = {"http": 80, "https": 443}

_LONGEST, _LONGEST_NAME, _LAST_PORT = 8192, 253, 65535
_PARTS = re.compile(r"([a-z][a-z0-9+.-]*)://([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#.*)?", re.IGNORECASE | re.DOTALL)
_AUTHORITY = re.compile(r"(\[[^\[\]]*\]|[^:]*)(?::([0-9]*))?")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_ODDLY_MAPPED = re.compile("[ßẞς\u200c\u200d]")
"""Characters that older and newer rules for names turn into different names."""
_PLAIN = re.compile(r"[A-Za-z0-9._~-]")
_TO_SPELL = re.compile(r"%([0-9A-Fa-f]{2})|[^A-Za-z0-9._~!$&'()*+,;=:@/?-]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class Address(NamedTuple):
    """Where a page is, in its canonical spelling."""

    scheme: str
    host: str
    """A name in ASCII, an IPv4 address with four numbers, or an IPv6 address without brackets."""
    port: int
    target: str
    """Path and query."""

    @property
    def authority(self) -> str:
        """The host as it stands in an address, with the port unless it is the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """The address without its path."""
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        """The whole address."""
        return self.origin + self.target


def canonical(url: str) -> str:
    """The one spelling of an address, by which it is known as a source; the place within the page is dropped."""
    return read_address(url).url


def read_address(url: str) -> Address:
    """Take an address apart; what is none, or could be read in two ways, is an ``Invalid``."""
    text = url.strip(" \t\r\n")
    if len(text) > _LONGEST:
        raise _bad(text, f"has more than {_LONGEST} characters")
    if _CONTROL.search(text) or not _is_encodable(text):
        raise _bad(text, "has characters that cannot be shown")
    parts = _PARTS.fullmatch(text)
    if not parts:
        raise _bad(text, "does not begin with https:// or http://", _with_scheme(text))
    scheme, authority, path, query = parts[1].lower(), parts[2], parts[3], parts[4]
    if scheme not in DEFAULT_PORTS:
        raise _bad(text, f"begins with {scheme}://; only https:// and http:// can be fetched")
    if "@" in authority:
        raise Invalid("The address holds a name or password.", "Leave out what stands before the @.", code=BAD_ADDRESS)
    if "\\" in authority + path:
        raise _bad(text, "has a backslash, which programs read in different ways")
    split = _AUTHORITY.fullmatch(authority)
    if not split:
        raise _bad(text, "has a host that cannot be read")
    target = _without_dots(spelled(path)) + (f"?{spelled(query)}" if query else "")
    return Address(scheme, _host(split[1], text), _port(split[2], scheme, text), target)


def spelled(part: str) -> str:
    """A path or query with escapes exactly where they are needed, in capitals."""
    return _TO_SPELL.sub(_spelled_character, part)


def _spelled_character(found: re.Match[str]) -> str:
    if found[1]:
        character = chr(int(found[1], 16))
        return character if _PLAIN.fullmatch(character) else f"%{found[1].upper()}"
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


def _without_dots(path: str) -> str:
    """The path with ``.`` and ``..`` carried out; it begins with a slash."""
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments and segments[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)


def _port(text: str | None, scheme: str, url: str) -> int:
    if not text:
        return DEFAULT_PORTS[scheme]
    port = int(text[-6:]) if not text[:-6].strip("0") else _LAST_PORT + 1
    if not 0 < port <= _LAST_PORT:
        raise _bad(url, "has a port that does not exist")
    return port


def _host(text: str, url: str) -> str:
    if text.startswith("["):
        try:
            if "%" in text:  # names a network card of this machine
                raise ValueError
            return str(IPv6Address(text[1:-1]))
        except ValueError:
            raise _bad(url, "has an IPv6 address that cannot be read") from None
    name = _ascii_name(text, url)
    labels = name.split(".")
    if len(name) > _LONGEST_NAME or not all(_LABEL.fullmatch(label) for label in labels):
        raise _bad(url, "has a host that cannot be a name")
    if _NUMBER.fullmatch(labels[-1]):
        return _ipv4(name, url)
    return name


def _ascii_name(text: str, url: str) -> str:
    """A host in ASCII and small letters, without the dot that may end it."""
    if _ODDLY_MAPPED.search(text):
        raise _bad(url, "has a host that programs turn into different names", "Write the host in ASCII: xn--…")
    try:
        return text[:1024].encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError:
        raise _bad(url, "has a host that cannot be a name") from None


def _ipv4(name: str, url: str) -> str:
    """An IPv4 address in its one plain spelling; those with fewer numbers, octal or hexadecimal ones are refused."""
    try:
        return str(IPv4Address(name))
    except ValueError:
        raise _bad(url, "spells an IPv4 address in an odd way", "Write it with four plain numbers.") from None


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _with_scheme(text: str) -> str:
    """What may have been meant by an address without a scheme."""
    if "://" in text or not re.match(r"[\w-]+(\.[\w-]+)+(:\d+)?(/|$)", text):
        return ""
    return f"Did you mean https://{text}?"


def _bad(url: str, what: str, hint: str = "") -> Invalid:
    shown = url if len(url) <= 200 else url[:200] + "…"  # noqa: PLR2004 - as much as fits into a message
    shown = "".join(character if character.isprintable() else "�" for character in shown)
    return Invalid(f"{shown!r} {what}.", hint or "Give an address such as https://example.org/page.", code=BAD_ADDRESS)
