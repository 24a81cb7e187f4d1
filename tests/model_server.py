"""A server on this machine that speaks OpenAI's protocol, or breaks it in the way that a test asks for."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[BaseHTTPRequestHandler], None]


class ModelServer:
    """The server: what it was asked, and what it answers next."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.answers: list[Answer] = []
        """What the next questions are answered with; after that, with a greeting."""
        self.models = ["script", "other"]
        self.listing = 200
        served = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                served.requests.append((self.path, lowered(self), None))
                if served.listing == 302:
                    self.send_response(302)
                    self.send_header("Location", f"{served.url}/elsewhere")
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                names = served.models
                listed = {"data": [{"id": name} for name in names], "models": [{"name": name} for name in names]}
                send(self, served.listing, json.dumps(listed).encode())

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                served.requests.append((self.path, lowered(self), asked))
                (served.answers.pop(0) if served.answers else says("Hello there"))(self)

            def log_message(self, *arguments: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def asked(self) -> list[Any]:
        """What was posted."""
        return [body for _path, _headers, body in self.requests if body is not None]

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """A server for as long as a test takes."""
    server = ModelServer()
    try:
        yield server
    finally:
        server.close()


def lowered(handler: BaseHTTPRequestHandler) -> dict[str, str]:
    return {name.lower(): value for name, value in handler.headers.items()}


def send(handler: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    handler.send_response(status)
    for name, value in {"Content-Type": "application/json", **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    """One event of a stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    about = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "script"}
    return f"data: {json.dumps({**about, 'choices': [choice]})}\n\n".encode()


def stream(*events: bytes, ends: bool = True) -> Answer:
    """Answer with these events; without an end the connection breaks off after them."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for event in events:
            handler.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
            handler.wfile.flush()
        if ends:
            handler.wfile.write(b"0\r\n\r\n")
        else:
            handler.close_connection = True
            handler.wfile.flush()
            handler.connection.shutdown(2)

    return answer


def says(text: str) -> Answer:
    """Answer with a text, a word at a time."""
    words = [chunk({"role": "assistant", "content": f"{word} "}) for word in text.split()]
    usage = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "script", "choices": []}
    usage |= {"usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}}
    return stream(*words, chunk({}, "stop"), f"data: {json.dumps(usage)}\n\n".encode(), b"data: [DONE]\n\n")


def calls(tool: str, arguments: str) -> Answer:
    """Answer with a call, its arguments as they are."""
    function = {"name": tool, "arguments": arguments}
    call = {"index": 0, "id": f"call-{tool}-{len(arguments)}", "type": "function", "function": function}
    return stream(chunk({"role": "assistant", "tool_calls": [call]}), chunk({}, "tool_calls"), b"data: [DONE]\n\n")


def refuses(status: int, message: str = "no", **headers: str) -> Answer:
    """Answer with an error, as OpenAI's servers do."""
    body = json.dumps({"error": {"message": message, "type": "x", "code": "x"}}).encode()
    return lambda handler: send(handler, status, body, **headers)
