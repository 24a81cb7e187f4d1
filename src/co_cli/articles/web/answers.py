"""One request and its answer: the wire, with limits on everything that comes over it.

Owns connections to checked machines, time, the sizes of head and body, unpacking, and the words for what goes wrong on the
way. Knows nothing of redirects, of robots.txt, or of what a status means.

``http.client`` reads the answer, but never from the socket itself: each byte passes `_Wire`, which knows the end of the time
and how much may still come. So no trick of a server, such as a byte a second or headers without end, outlasts the limits.
"""

from __future__ import annotations

import io
import socket
import ssl
import zlib
from contextlib import closing, contextmanager, suppress
from http.client import HTTPException, HTTPResponse
from time import monotonic
from typing import TYPE_CHECKING

from co_cli import __version__
from co_cli.articles.web.reach import machines
from co_cli.articles.web.robots import PRODUCT
from co_cli.errors import Denied, Unavailable
from co_cli.files import reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from co_cli.articles.web.addresses import Address
    from co_cli.articles.web.policy import Policy

USER_AGENT = f"{PRODUCT}/{__version__} (+fetches single pages that a person or their agent asks for; no crawler)"

_ACCEPTED = "text/html,application/xhtml+xml,text/markdown,text/plain,application/pdf,*/*;q=0.5"
_PIECE = 64 * 1024
_LARGEST_HEAD = 64 * 1024
_INTERIM, _MOST_INTERIM = range(100, 200), 8
_AGAIN = "Try again later."


class Clock:
    """The time that is left for one page, and everything that has to be fetched before it."""

    def __init__(self, policy: Policy) -> None:
        self._limit = policy.seconds
        self._end = monotonic() + policy.seconds
        self._silence = policy.silence

    @property
    def left(self) -> float:
        """Seconds until the end; at the end, next to nothing, since 0 would mean something else to a socket."""
        return max(self._end - monotonic(), 0.001)

    @property
    def patience(self) -> float:
        """Seconds to wait for the next byte."""
        return min(self.left, self._silence)

    def said(self) -> str:
        """What has to be said after a time-out."""
        if monotonic() >= self._end:
            return f"it takes longer than {self._limit:g} seconds"
        return f"nothing came for {self._silence:g} seconds"


class _TooMuch(Exception):
    """More came over the wire than was agreed."""


class _Wire(io.RawIOBase):
    """What comes over a connection, as long as there is time, and as much as may come."""

    def __init__(self, connection: socket.socket, clock: Clock) -> None:
        self._connection, self._clock = connection, clock
        self.budget = _LARGEST_HEAD

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """The next bytes; 0 at the end."""
        if self.budget <= 0:
            raise _TooMuch
        self._connection.settimeout(self._clock.patience)
        count = self._connection.recv_into(buffer[: self.budget])
        self.budget -= count
        return count


class _Stream:
    """As much of a socket as ``HTTPResponse`` knows."""

    def __init__(self, wire: _Wire) -> None:
        self._buffered = io.BufferedReader(wire, 16 * 1024)

    def makefile(self, _mode: str) -> io.BufferedReader[_Wire]:
        """The bytes; the same for every answer that is read from them."""
        return self._buffered


class Answer:
    """What a server answers: the status and headers, and the body when it is read."""

    def __init__(self, address: Address, response: HTTPResponse, wire: _Wire, clock: Clock) -> None:
        self.address, self.status = address, response.status
        self._response, self._wire, self._clock = response, wire, clock

    def header(self, name: str) -> str:
        """The value of a header as it came, or an empty string."""
        return (self._response.getheader(name) or "").strip()

    def body(self, largest: int) -> bytes:
        """The whole body, unpacked; one that is larger, or breaks off, is an error."""
        self._check_framing()
        if (self._response.length or 0) > largest:
            raise self._too_large(largest)
        content = b"".join(self._pieces(largest))
        if len(content) > largest:
            raise self._too_large(largest)
        return content

    def beginning(self, largest: int) -> bytes:
        """The body, or as much of it as was asked for."""
        self._check_framing()
        pieces: list[bytes] = []
        with suppress(Denied):  # it is too large, but what has come is enough
            pieces.extend(self._pieces(largest))
        return b"".join(pieces)[:largest]

    def _pieces(self, largest: int) -> Iterator[bytes]:
        """The body in pieces, until it ends or is larger than it may be."""
        self._wire.budget = 2 * largest + _LARGEST_HEAD  # room for the sizes that stand between the pieces
        size = 0
        with _explained(self.address, self._clock):
            try:
                for piece in _unpacked(self._received(), self._packing()):
                    yield piece
                    size += len(piece)
                    if size > largest:
                        return
            except _TooMuch:
                raise self._too_large(largest) from None
            except zlib.error:
                raise broken(self.address, "what it sends is packed wrongly") from None

    def _received(self) -> Iterator[bytes]:
        try:
            while piece := self._response.read(_PIECE):
                yield piece
        except ValueError:  # a chunk of less than no bytes
            raise broken(self.address, "it is no HTTP") from None
        if self._response.length:
            raise broken(self.address, "it breaks off in the middle")

    def _packing(self) -> str:
        packing = self.header("Content-Encoding").lower()
        if packing not in {"", "identity", "gzip", "x-gzip", "deflate"}:
            raise broken(self.address, "it is packed in a way that was not asked for")
        return packing

    def _check_framing(self) -> None:
        lengths = {length.strip() for length in self._response.headers.get_all("Content-Length", [])}
        coding = self.header("Transfer-Encoding").lower()
        is_clear = len(lengths) <= 1 and all(length.isdecimal() for length in lengths)
        if not lengths and not coding:  # then a line that is no header may hide what it says of its length
            is_clear = not self._response.headers.defects
        if not is_clear or coding not in {"", "identity", "chunked"}:
            raise broken(self.address, "it does not say clearly how long it is")

    def _too_large(self, largest: int) -> Denied:
        return Denied(
            f"{self.address.url} has more than {largest / 1_000_000:g} MB.",
            "If it is worth it, raise the limit: co config set fetch_megabytes …",
            code="too-large",
        )


@contextmanager
def asked(address: Address, policy: Policy, clock: Clock, conditions: Mapping[str, str] | None = None) -> Iterator[Answer]:
    """Ask for a page; the answer can be read until the end of the block."""
    with closing(_connected(address, policy, clock)) as connection:
        wire = _Wire(connection, clock)
        with _explained(address, clock):
            connection.settimeout(clock.patience)
            connection.sendall(_request(address, conditions or {}))
            response = _head(wire, address)
        with closing(response):
            yield Answer(address, response, wire, clock)


def _request(address: Address, conditions: Mapping[str, str]) -> bytes:
    headers = {
        "Host": address.authority,
        "User-Agent": USER_AGENT,
        "Accept": _ACCEPTED,
        "Accept-Encoding": "gzip, deflate",
        "Connection": "close",
        **conditions,
    }
    lines = (f"GET {address.target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", "")
    return "\r\n".join(lines).encode("ascii")


def _head(wire: _Wire, address: Address) -> HTTPResponse:
    """The status and headers of the answer, after those that only announce it."""
    stream = _Stream(wire)
    try:
        for _ in range(_MOST_INTERIM):
            response = _next_head(stream)
            if response:
                return response
    except _TooMuch:
        raise broken(address, "its headers have no end") from None
    raise broken(address, "it announces an answer again and again")


def _next_head(stream: _Stream) -> HTTPResponse | None:
    """The next status with its headers, unless it only announces another."""
    response = HTTPResponse(stream)  # type: ignore[arg-type]
    is_final = False
    try:
        response.begin()
        is_final = response.status not in _INTERIM
    finally:
        if not is_final:  # when it is let go, it must not close the stream
            response.fp = None  # type: ignore[assignment]
    return response if is_final else None


# ------------------------------------------------------------------------------------------------------------ connections


def _connected(address: Address, policy: Policy, clock: Clock) -> socket.socket:
    """A connection to one of the machines of a host, all of which were checked."""
    failure: OSError | None = None
    tried = machines(address, policy.allow, policy.resolve, clock.left)
    for machine in tried:
        try:
            connection = _connect(machine, address.port, min(policy.connection, clock.left))
        except OSError as error:
            failure = error
            continue
        return _encrypted(connection, address, clock) if address.scheme == "https" else connection
    is_late = isinstance(failure, TimeoutError)
    said = "it does not answer" if is_late else reason(failure or OSError()).lower()
    raise Unavailable(
        f"{address.origin} cannot be reached: {said}.",
        _AGAIN,
        code="timeout" if is_late else "no-connection",
        details=f"Tried: {', '.join(tried)}",
    )


def _connect(machine: str, port: int, seconds: float) -> socket.socket:
    connection = socket.socket(socket.AF_INET6 if ":" in machine else socket.AF_INET)
    try:
        connection.settimeout(seconds)
        connection.connect((machine, port))
    except BaseException:
        connection.close()
        raise
    return connection


def _encrypted(connection: socket.socket, address: Address, clock: Clock) -> socket.socket:
    """The connection with TLS, for the name that was asked for."""
    try:
        with _explained(address, clock):
            context = ssl.create_default_context()
            context.minimum_version = ssl.TLSVersion.TLSv1_2
            context.set_alpn_protocols(["http/1.1"])
            connection.settimeout(clock.patience)
            # an end that nobody signed may be somebody else's: it counts as a break
            return context.wrap_socket(connection, server_hostname=address.host, suppress_ragged_eofs=False)
    except BaseException:
        connection.close()
        raise


# ---------------------------------------------------------------------------------------------------------------- packing


def _unpacked(pieces: Iterator[bytes], packing: str) -> Iterator[bytes]:
    """The pieces of a body as they were before it was packed; none is large, however well it was packed."""
    if packing in {"", "identity"}:
        yield from pieces
        return
    engine = None
    for piece in pieces:
        rest = piece
        while rest:
            if engine is None or (engine.eof and rest.startswith(b"\x1f")):  # the next of several that were put together
                engine = zlib.decompressobj(_window(packing, rest))
            if engine.eof:
                return  # what stands behind it is filling
            yield engine.decompress(rest, _PIECE)
            rest = engine.unconsumed_tail or engine.unused_data
    if engine is not None:
        yield engine.flush()
        if not engine.eof:
            raise zlib.error


def _window(packing: str, beginning: bytes) -> int:
    """How zlib is told what comes: gzip, zlib, or what some servers send as deflate, which has no head."""
    if packing != "deflate":
        return 16 + zlib.MAX_WBITS
    has_head = beginning[0] & 15 == 8 and int.from_bytes(beginning[:2]) % 31 == 0  # noqa: PLR2004 - as RFC 1950 has it
    return zlib.MAX_WBITS if has_head else -zlib.MAX_WBITS


# ----------------------------------------------------------------------------------------------------------------- errors


def broken(address: Address, what: str) -> Unavailable:
    """The error for an answer that cannot be used."""
    return Unavailable(f"The answer of {address.url} cannot be used: {what}.", _AGAIN, code="broken-answer")


@contextmanager
def _explained(address: Address, clock: Clock) -> Iterator[None]:
    """Say in plain words what went wrong on the way."""
    try:
        yield
    except TimeoutError:
        raise Unavailable(f"{address.url} cannot be fetched: {clock.said()}.", _AGAIN, code="timeout") from None
    except ssl.SSLCertVerificationError as error:
        raise _not_trusted(address, error) from None
    except ssl.SSLEOFError:
        raise broken(address, "the connection ended in the middle") from None
    except ssl.SSLError as error:
        hint = "Check the address: it may be one for http, not https."
        said = (error.reason or "no common language").replace("_", " ").lower()
        raise Unavailable(f"No secure connection to {address.authority}: {said}.", hint, code="no-connection") from None
    except HTTPException as error:
        raise broken(address, _garbled(error)) from None
    except OSError as error:
        raise broken(address, f"the connection ended in the middle ({reason(error).lower()})") from None


def _garbled(error: HTTPException) -> str:
    from http.client import IncompleteRead, LineTooLong, RemoteDisconnected

    if isinstance(error, IncompleteRead):
        return "it breaks off in the middle"
    if isinstance(error, RemoteDisconnected):
        return "the connection ended before it"
    if isinstance(error, LineTooLong) or "headers" in str(error):
        return "its headers have no end"
    return "it is no HTTP"


def _not_trusted(address: Address, error: ssl.SSLCertVerificationError) -> Denied:
    why = error.verify_message.rstrip(".")
    with suppress(IndexError):
        why = why[0].lower() + why[1:]
    return Denied(
        f"{address.host} cannot prove who it is: {why}.",
        "Check the address. For a server of your own, name its authority: SSL_CERT_FILE=/path/to/authority.pem co …",
        code="certificate",
    )
