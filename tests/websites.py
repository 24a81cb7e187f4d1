"""A site on this machine that says byte for byte what a test wants: good pages, wrong ones, slow ones, or no HTTP."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

CERTIFICATE = Path(__file__).parent / "tls" / "localhost.pem"
"""Signed by itself, for the name localhost."""

Answer = bytes | Callable[[socket.socket], None]


class Request(NamedTuple):
    """What a site was asked."""

    target: str
    headers: dict[str, str]


class Site:
    """The site: what lies where, and what was asked. What is not there is a 404."""

    def __init__(self, *, secure: bool = False) -> None:
        self.pages: dict[str, Answer] = {}
        self.requests: list[Request] = []
        self.connections = 0
        self._context = None
        if secure:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(CERTIFICATE)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.host = f"{'localhost' if secure else '127.0.0.1'}:{self.port}"
        self.url = f"{'https' if secure else 'http'}://{self.host}"
        self._serving = threading.Thread(target=self._serve, daemon=True)
        self._serving.start()

    @property
    def asked(self) -> list[str]:
        """Which pages were asked for, in their order."""
        return [request.target for request in self.requests]

    def close(self) -> None:
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._serving.join(5)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, plain: socket.socket) -> None:
        connection = plain
        try:
            connection.settimeout(20)
            if self._context:
                connection = self._context.wrap_socket(plain, server_side=True)
            asked = b""
            while b"\r\n\r\n" not in asked:
                piece = connection.recv(65536)
                if not piece:
                    return
                asked += piece
                if asked.startswith(b"\x16"):  # TLS, to a server that has none
                    connection.sendall(page(b"what?", "400 Bad Request"))
                    return
            first, *lines = asked.decode("ascii").split("\r\n")
            target = first.split(" ")[1]
            self.requests.append(Request(target, dict(line.split(": ", 1) for line in lines if line)))
            answer = self.pages.get(target, page(b"not here", "404 Not Found"))
            if isinstance(answer, bytes):
                connection.sendall(answer)
                if self._context:
                    connection = connection.unwrap()  # says that this is the end
            else:
                answer(connection)
        except OSError:  # the client has gone
            pass
        finally:
            connection.close()


@contextmanager
def website(*, secure: bool = False) -> Iterator[Site]:
    """A site that is gone at the end."""
    site = Site(secure=secure)
    try:
        yield site
    finally:
        site.close()


def page(body: bytes = b"", status: str = "200 OK", **headers: str) -> bytes:
    """A whole answer; its length is said unless a header says otherwise."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if not named.keys() & {"Content-Length", "Transfer-Encoding"}:
        named["Content-Length"] = str(len(body))
    lines = (f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in named.items() if value), "", "")
    return "\r\n".join(lines).encode("latin-1") + body


def redirect(target: str, status: str = "302 Found") -> bytes:
    """An answer that sends elsewhere."""
    return page(b"", status, Location=target)


def chunked(*chunks: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    """A body in chunks."""
    return b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + end


def reset(connection: socket.socket) -> None:
    """End a connection in the rudest way."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
