"""One question to a server, and its answer: JSON over HTTP, with patience that ends.

Owns addresses, time limits, tries, and what is said when a server does not do what it should. Knows nothing of vectors.

No message holds a key, a text, or what the server said, since servers repeat in their errors what they were sent. Redirects
are not followed: what is sent is meant for the address that was set, and for no other.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from co_cli.embedding.packages import unavailable
from co_cli.errors import CoError, Denied, Invalid

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse
    from socket import socket

_LARGEST = 64 * 1024 * 1024
_LATER = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses after which the same question may well be answered."""
_OK, _REDIRECTS, _TOO_MANY = 200, range(300, 400), 429
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 10.0
_FIRST_PRINTABLE, _LAST_PRINTABLE = "!", "~"


class Patience(NamedTuple):
    """Seconds for a connection, for an answer, and for all tries together; and how many tries."""

    connection: float
    answer: float
    total: float
    tries: int

    def until(self, deadline: float) -> Patience:
        """As much of it as there is time for."""
        left = max(deadline - time.monotonic(), 0.01)
        return Patience(min(self.connection, left), min(self.answer, left), min(self.total, left), self.tries)


class Address(NamedTuple):
    """Where a server listens."""

    secure: bool
    host: str
    port: int
    path: str

    @property
    def shown(self) -> str:
        """The address as it is shown to people."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.secure else 'http'}://{host}:{self.port}{self.path}"

    @property
    def remote(self) -> bool:
        """Whether what is sent there leaves this machine."""
        from ipaddress import ip_address

        try:
            return not ip_address(self.host).is_loopback
        except ValueError:
            return self.host != "localhost"


class Server(NamedTuple):
    """A server with what opens it, and what to do if it is not there, or has not got what was asked for."""

    address: Address
    key: str
    when_gone: str
    when_missing: str
    key_name: str = ""


def read_address(url: str) -> Address:
    """Take an address apart; one with a name and password, or with anything behind its path, is refused."""
    from urllib.parse import urlsplit

    hint = "Set embedding_url to an address such as http://127.0.0.1:11434."
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise Invalid("The address of the embedding server cannot be read.", hint) from None
    if "@" in parts.netloc:
        raise Invalid("The address of the embedding server holds a name or password.", "Set CO_EMBEDDING_KEY instead.")
    if parts.scheme not in {"http", "https"} or not parts.hostname or not _is_plain(url):
        raise Invalid("The address of the embedding server does not begin with http:// or https:// and a host.", hint)
    if parts.query or parts.fragment:
        raise Invalid("The address of the embedding server has something behind its path.", hint)
    secure = parts.scheme == "https"
    return Address(secure, parts.hostname, port or (443 if secure else 80), parts.path.rstrip("/"))


def check_key(address: Address, key: str, name: str) -> None:
    """Refuse a key that cannot be one, and one that everybody on the way could read."""
    if not _is_plain(key):
        raise Invalid(f"What is in {name} is no key.", f"Set {name} to the key alone.")
    if key and address.remote and not address.secure:
        raise Denied(f"The key in {name} would go to {address.shown} unencrypted.", "Set embedding_url to an https address.")


def _is_plain(text: str) -> bool:
    return all(_FIRST_PRINTABLE <= character <= _LAST_PRINTABLE for character in text)


class _Again(Exception):
    """An attempt failed in a way that may pass; holds the error for the case that it does not."""

    def __init__(self, error: CoError, pause: float = 0.0) -> None:
        super().__init__(error.message)
        self.error = error
        self.pause = pause


def ask(server: Server, path: str, question: object, patience: Patience) -> object:
    """Post a question and return the decoded answer."""
    import json
    from random import uniform

    body = json.dumps(question, ensure_ascii=True).encode("ascii")
    deadline = time.monotonic() + patience.total
    pause = _FIRST_PAUSE
    for attempt in range(1, patience.tries + 1):
        try:
            return _attempt(server, path, body, patience, deadline)
        except _Again as failure:
            wait = max(failure.pause, pause * uniform(0.5, 1.0))  # noqa: S311 - so that many do not come back at once
            if attempt == patience.tries or time.monotonic() + wait >= deadline:
                raise failure.error from None
            time.sleep(wait)
            pause = min(pause * 2, _LONGEST_PAUSE)
    raise AssertionError("there is at least one try")


def _attempt(server: Server, path: str, body: bytes, patience: Patience, deadline: float) -> object:
    """One try; it ends at the deadline even if the server sends a byte now and then."""
    from http.client import HTTPException
    from threading import Timer

    connection = _connection(server.address, min(patience.connection, max(deadline - time.monotonic(), 0.01)))
    try:
        connection.connect()
    except (OSError, UnicodeError) as error:  # the latter for a host that can be no name
        connection.close()
        raise _Again(_unreachable(server, error)) from error
    left = min(patience.answer, max(deadline - time.monotonic(), 0.01))
    end = time.monotonic() + left
    watch = Timer(left, _cut, (connection.sock,))
    watch.daemon = True
    watch.start()
    try:
        connection.sock.settimeout(left)
        connection.request("POST", server.address.path + path, body, _headers(server))
        with connection.getresponse() as response:  # it may outlive the connection
            _check_status(server, response)
            content = response.read(_LARGEST + 1)
            if len(content) > _LARGEST:
                raise _broken(server, "its answer is too long")
            if response.length:
                raise ConnectionAbortedError
    except (TimeoutError, HTTPException, OSError) as error:
        late = isinstance(error, TimeoutError) or time.monotonic() >= end
        raise _Again(_broken(server, "it takes too long" if late else "it broke the connection off")) from error
    finally:
        watch.cancel()
        connection.close()
    return _decoded(server, content)


def _connection(address: Address, seconds: float) -> HTTPConnection:
    from http.client import HTTPConnection, HTTPSConnection

    return (HTTPSConnection if address.secure else HTTPConnection)(address.host, address.port, timeout=seconds)


def _cut(open_socket: socket) -> None:
    """End what another thread waits for; with encryption too, so the lower of the two ways to do it."""
    import socket

    with suppress(OSError):
        socket.socket.shutdown(open_socket, socket.SHUT_RDWR)


def _headers(server: Server) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "co"}
    return headers | ({"Authorization": f"Bearer {server.key}"} if server.key else {})


def _check_status(server: Server, response: HTTPResponse) -> None:
    status = response.status
    shown = server.address.shown
    if status == _OK:
        return
    if status in {401, 403}:
        hint = f"Set {server.key_name or 'CO_EMBEDDING_KEY'} to a key that it knows."
        raise unavailable(f"The embedding server at {shown} does not accept the key ({status}).", hint)
    if status == 404:  # noqa: PLR2004 - known to everybody
        raise unavailable(f"The embedding server at {shown} does not know the model or the path (404).", server.when_missing)
    if status in _REDIRECTS:
        raise _broken(server, f"it sends to another address ({status}), which is not followed")
    if status in _LATER:
        what = "too many requests (429)" if status == _TOO_MANY else f"an error of its own ({status})"
        raise _Again(_broken(server, what), _retry_after(response.getheader("Retry-After", "")))
    raise _broken(server, f"it does not accept the request ({status})")


def _retry_after(value: str) -> float:
    """Seconds that the server asks to wait, given as a number or a date."""
    from email.utils import parsedate_to_datetime

    if value.strip().isdecimal():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0.0


def _decoded(server: Server, content: bytes) -> object:
    import json

    try:
        answer: object = json.loads(content)
    except (ValueError, RecursionError):
        raise _broken(server, "its answer is no JSON") from None
    return answer


def _unreachable(server: Server, error: Exception) -> CoError:
    reason = (
        "it does not answer in time" if isinstance(error, TimeoutError) else getattr(error, "strerror", "") or "no such host"
    )
    return unavailable(f"The embedding server at {server.address.shown} cannot be reached: {reason}.", server.when_gone)


def _broken(server: Server, reason: str) -> CoError:
    return unavailable(f"The embedding server at {server.address.shown} gives no vectors: {reason}.", server.when_gone)
