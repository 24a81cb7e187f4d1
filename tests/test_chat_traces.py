"""Traces go where OpenTelemetry's variables say, without what was said; without them nothing of it is even imported."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from co_cli import KnowledgeBase

WORDS = "words that nobody else may see"


class Collector:
    """What was sent to a collector of traces."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, bytes]] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                collector.sent.append((self.path, raw))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *arguments: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    made.http.shutdown()
    made.http.server_close()


def chat(message: str, **environment: str) -> str:
    """One chat in a process of its own; returns which packages of traces it has loaded."""
    script = (
        "import sys\nfrom co_cli.surfaces.cli.main import main\n"
        f"main(['chat', '--yes', {message!r}])\n"
        "print('loaded', [name for name in sys.modules if name.startswith(('opentelemetry.sdk', 'opentelemetry.exporter'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "OTEL_BSP_SCHEDULE_DELAY": "10", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Traceback" not in done.stderr
    return done.stdout.partition("loaded ")[2].strip()


@pytest.mark.slow
def test_traces_are_sent_without_what_was_said(kb: KnowledgeBase, collector: Collector) -> None:
    assert chat(f"remember that {WORDS}", OTEL_EXPORTER_OTLP_ENDPOINT=collector.url) != "[]"
    assert {path for path, _raw in collector.sent} == {"/v1/traces"}
    everything = b"".join(raw for _path, raw in collector.sent)
    assert b"save_memory" in everything
    assert b"service.name" in everything
    assert WORDS.encode() not in everything
    assert b"nobody else" not in everything
    assert b"accurate before you are quick" not in everything


@pytest.mark.slow
def test_what_was_said_is_sent_where_it_is_asked_for(kb: KnowledgeBase, collector: Collector) -> None:
    asked = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"}
    chat(f"remember that {WORDS}", OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, **asked)
    assert b"nobody else" in b"".join(raw for _path, raw in collector.sent)


@pytest.mark.slow
@pytest.mark.parametrize("off", [{}, {"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}])
def test_nothing_is_imported_or_sent_otherwise(kb: KnowledgeBase, collector: Collector, off: dict[str, str]) -> None:
    where = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url} if off else {}
    assert chat("list", **where, **off) == "[]"
    assert collector.sent == []
