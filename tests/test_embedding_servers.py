"""Embedders that are servers, against real servers on this machine: good ones, slow ones, wrong ones, and none at all."""

from __future__ import annotations

import json
import math
import socket
import struct
import threading
import time
from collections.abc import Callable
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from processes import within

from co_cli.embedding import SEMANTIC_UNAVAILABLE, Choice, open_embedder
from co_cli.errors import CoError, Denied, Invalid, Unavailable

KEY = "key-that-nobody-may-see"
TEXT = "text that nobody may see"


class Served:
    """A server that embeds a text as its length and a one, until it is told to do otherwise."""

    def __init__(self) -> None:
        self.questions: list[tuple[str, dict[str, str], Any]] = []
        self.answers: list[Callable[[BaseHTTPRequestHandler, list[str]], None]] = []
        """What the next requests are answered with; after that, vectors."""
        served = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                served.questions.append((self.path, dict(self.headers), asked))
                answer = served.answers.pop(0) if served.answers else vectors
                answer(self, asked["input"])

            def log_message(self, *arguments: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()


def send(handler: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def reply(handler: BaseHTTPRequestHandler, found: list[Any]) -> None:
    if handler.path.endswith("/api/embed"):
        answer: dict[str, Any] = {"embeddings": found}
    else:  # in no particular order, as the protocol allows
        answer = {"data": [{"index": place, "embedding": one} for place, one in enumerate(found)][::-1]}
    send(handler, 200, json.dumps(answer).encode())


def vectors(handler: BaseHTTPRequestHandler, texts: list[str]) -> None:
    reply(handler, [[len(text), 1] for text in texts])


def giving(change: Callable[[list[Any]], list[Any]]) -> Callable[[BaseHTTPRequestHandler, list[str]], None]:
    return lambda handler, texts: reply(handler, change([[float(len(text)), 1.0] for text in texts]))


def status(number: int, **headers: str) -> Callable[[BaseHTTPRequestHandler, list[str]], None]:
    """Refuse, and repeat what was sent, as servers do."""
    return lambda handler, texts: send(handler, number, json.dumps([texts, KEY]).encode(), **headers)


def raw(content: bytes) -> Callable[[BaseHTTPRequestHandler, list[str]], None]:
    return lambda handler, texts: send(handler, 200, content)


def cut_off(handler: BaseHTTPRequestHandler, texts: list[str]) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"embeddings": [[')


def hang_up(handler: BaseHTTPRequestHandler, texts: list[str]) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


def never(handler: BaseHTTPRequestHandler, texts: list[str]) -> None:
    time.sleep(8)


def drip(handler: BaseHTTPRequestHandler, texts: list[str]) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    for _ in range(80):
        try:
            handler.wfile.write(b" ")
        except OSError:
            return
        time.sleep(0.1)


@pytest.fixture
def server():
    served = Served()
    yield served
    served.close()


@pytest.fixture(params=["ollama", "openai"])
def embedder(request, server, monkeypatch):
    monkeypatch.setenv("CO_EMBEDDING_KEY", KEY)
    return open_embedder(Choice(request.param, server.url, "tiny"), "")


def expected(*texts: str) -> list[bytes]:
    return [struct.pack("<2f", len(text) / math.hypot(len(text), 1), 1 / math.hypot(len(text), 1)) for text in texts]


def refused(attempt: Callable[[], object]) -> CoError:
    """The error of an attempt, which gives away nothing."""
    with pytest.raises(Unavailable) as caught:
        attempt()
    error = caught.value
    assert error.code == SEMANTIC_UNAVAILABLE
    assert error.hint
    for secret in (KEY, TEXT):
        assert secret not in error.message + error.hint + error.details
    return error


def test_a_server_on_this_machine_embeds_and_nothing_is_remote(embedder, server):
    assert not embedder.remote
    assert embedder.embed(["one", "three"]) == expected("one", "three")
    assert embedder.embed_query("seven") == expected("seven")[0]
    assert embedder.dimensions == 2
    assert len(server.questions) == 2


def test_the_dimensions_are_asked_for_where_they_are_not_known_yet(embedder, server):
    assert embedder.dimensions == embedder.dimensions == 2
    assert len(server.questions) == 1


def test_opening_and_the_fingerprint_ask_nothing(embedder, server):
    assert embedder.fingerprint == open_embedder(Choice(embedder.name, server.url, "tiny"), "").fingerprint
    assert embedder.fingerprint != open_embedder(Choice(embedder.name, server.url, "large"), "").fingerprint
    assert embedder.fingerprint != open_embedder(Choice(embedder.name, f"{server.url}/v2", "tiny"), "").fingerprint
    assert server.questions == []


def test_many_texts_go_in_batches_and_blank_ones_do_not_go_at_all(embedder, server):
    texts = ["x" * (place % 50 + 1) if place % 10 else "  " for place in range(200)] + ["y" * 90_000, "z" * 90_000]
    found = embedder.embed(texts)
    assert found == [expected(text)[0] if text.strip() else b"" for text in texts]
    sent = [asked["input"] for _, _, asked in server.questions]
    assert [text for batch in sent for text in batch] == [text for text in texts if text.strip()]
    assert max(map(len, sent)) <= 64
    assert max(sum(map(len, batch)) for batch in sent) <= 100_000
    assert embedder.embed_query(" ") == b""


def test_each_protocol_is_spoken_as_its_servers_expect_it(server, monkeypatch):
    monkeypatch.setenv("CO_EMBEDDING_KEY", KEY)
    open_embedder(Choice("ollama", server.url, "tiny"), "").embed(["one"])
    open_embedder(Choice("openai", f"{server.url}/v1/", "tiny"), "").embed(["one"])
    (path, headers, asked), (path_2, headers_2, asked_2) = server.questions
    assert (path, path_2) == ("/api/embed", "/v1/embeddings")
    assert asked == asked_2 == {"model": "tiny", "input": ["one"]}
    assert "Authorization" not in headers
    assert headers_2["Authorization"] == f"Bearer {KEY}"


def test_the_default_model_of_ollama_is_told_what_is_searched_and_what_is_searched_for(server):
    embedder = open_embedder(Choice("ollama", server.url), "")
    embedder.embed(["heron"])
    embedder.embed_query("heron")
    assert [asked["input"] for _, _, asked in server.questions] == [["search_document: heron"], ["search_query: heron"]]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (raw(b"no json"), "no JSON"),
        (raw(b'{"embeddings": ['), "no JSON"),
        (raw(b"[" * 100_000), "no JSON"),
        (raw(b"\xff\xfe\xfd"), "no JSON"),
        (raw(b"{}"), "0 vectors for 2"),
        (raw(b"[]"), "0 vectors for 2"),
        (raw(b"null"), "0 vectors for 2"),
        (
            raw(b'{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}], "embeddings": 7}'),
            "0 vectors for 2",
        ),
        (giving(lambda found: found[:1]), "1 vectors for 2"),
        (giving(lambda found: found * 2), "4 vectors for 2"),
        (giving(lambda found: [found[0], [1.0, 2.0, 3.0]]), "3 numbers"),
        (giving(lambda found: [[], []]), "no list of numbers"),
        (giving(lambda found: [["1", "2"]] * 2), "no list of numbers"),
        (giving(lambda found: [[True, None]] * 2), "no list of numbers"),
        (giving(lambda found: [[math.nan, 1.0]] * 2), "without a direction"),
        (giving(lambda found: [[math.inf, 1.0]] * 2), "without a direction"),
        (giving(lambda found: [[10**400, 1]] * 2), "without a direction"),
        (giving(lambda found: [[0.0, 0.0]] * 2), "without a direction"),
    ],
)
def test_a_wrong_answer_is_noticed_at_once(embedder, server, answer, said):
    server.answers = [answer]
    assert said in refused(lambda: embedder.embed([TEXT, "two"])).message
    assert len(server.questions) == 1
    assert embedder.embed(["two"]) == expected("two")


def test_vectors_that_change_their_dimensions_are_noticed(embedder, server):
    embedder.embed(["one"])
    server.answers = [giving(lambda found: [[1.0, 2.0, 3.0]])]
    assert "3 numbers, when it was 2 before" in refused(lambda: embedder.embed_query(TEXT)).message


@pytest.mark.parametrize(
    ("number", "hint"), [(401, "CO_EMBEDDING_KEY"), (403, "CO_EMBEDDING_KEY"), (400, "embedd"), (413, "embedd")]
)
def test_what_will_not_get_better_is_not_tried_again(embedder, server, number, hint):
    server.answers = [status(number)] * 2
    error = refused(lambda: embedder.embed([TEXT]))
    assert str(number) in error.message
    assert hint in error.hint
    assert len(server.questions) == 1


def test_a_model_that_is_missing_comes_with_what_fetches_it(server):
    server.answers = [status(404)]
    assert refused(lambda: open_embedder(Choice("ollama", server.url, "tiny"), "").embed([TEXT])).hint == "ollama pull tiny"


@pytest.mark.parametrize("passing", [status(429), status(500), status(503, Retry_After="0"), cut_off, hang_up])
def test_what_may_pass_is_tried_again(embedder, server, passing):
    server.answers = [passing] * 2
    assert embedder.embed([TEXT]) == expected(TEXT)
    assert len(server.questions) == 3
    server.answers = [passing]
    assert embedder.embed_query(TEXT) == expected(TEXT)[0]


@pytest.mark.parametrize("passing", [status(429), status(503), cut_off, hang_up])
def test_a_query_is_tried_twice_and_no_more(embedder, server, passing):
    server.answers = [passing] * 9
    refused(lambda: embedder.embed_query(TEXT))
    assert len(server.questions) == 2


@pytest.mark.slow
@pytest.mark.parametrize("after", ["1", lambda: formatdate(time.time() + 2, usegmt=True)])
def test_a_server_that_asks_to_wait_is_waited_for(embedder, server, after):
    server.answers = [status(429, Retry_After=after if isinstance(after, str) else after())]
    begun = time.monotonic()
    assert embedder.embed([TEXT]) == expected(TEXT)
    assert 0.9 < time.monotonic() - begun < 4


def test_nobody_waits_longer_than_there_is_time(embedder, server):
    server.answers = [status(429, Retry_After="3600")] * 2
    with within(5):
        assert "429" in refused(lambda: embedder.embed_query(TEXT)).message
        assert "429" in refused(lambda: embedder.embed([TEXT])).message


@pytest.mark.slow
@pytest.mark.parametrize("slow", [never, drip])
def test_a_query_ends_in_time_even_if_the_server_does_not(embedder, server, slow):
    server.answers = [slow] * 2
    with within(4):
        assert "too long" in refused(lambda: embedder.embed_query(TEXT)).message


def test_a_server_that_is_gone_is_named(monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setenv("CO_EMBEDDING_KEY", KEY)
    with within(5):
        error = refused(lambda: open_embedder(Choice("ollama", url, "tiny"), "").embed_query(TEXT))
        assert url in error.message
        assert "ollama serve" in error.hint
        assert url in refused(lambda: open_embedder(Choice("openai", url, "tiny"), "").embed_query(TEXT)).message


def test_a_host_that_can_be_no_name_is_an_error_like_any_other():
    assert "a..b" in refused(lambda: open_embedder(Choice("ollama", "http://a..b"), "").embed_query(TEXT)).message


@pytest.mark.parametrize("number", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(embedder, server, number):
    elsewhere = Served()
    try:
        server.answers = [status(number, Location=f"{elsewhere.url}/{KEY}")] * 9
        assert "another address" in refused(lambda: embedder.embed([TEXT])).message
        assert elsewhere.questions == []
    finally:
        elsewhere.close()


@pytest.mark.parametrize(
    ("url", "remote"),
    [
        ("http://localhost:1", False),
        ("http://127.3.2.1:1/v1", False),
        ("http://[::1]:1", False),
        ("HTTPS://LOCALHOST", False),
        ("https://example.org", True),
        ("http://192.168.1.7:11434", True),
        ("http://0.0.0.0:1", True),
        ("http://localhost.example.org", True),
        ("http://127.0.0.1.example.org", True),
    ],
)
def test_only_a_loopback_address_is_not_remote(url, remote):
    for name in ("ollama", "openai"):
        assert open_embedder(Choice(name, url), "").remote is remote


@pytest.mark.parametrize(
    "url",
    [
        f"http://user:{KEY}@127.0.0.1:1",
        f"https://{KEY}@example.org",
        f"https://example.org/v1?key={KEY}",
        f"https://example.org/v1#{KEY}",
        f"file:///etc/{KEY}",
        f"example.org/{KEY}",
        "http://",
        "http://127.0.0.1:port",
        "http://[::1",
        "http://127.0.0.1:1/\r\nX-Header: 1",
        "http://127.0.0.1:1/a b",
    ],
)
def test_an_odd_address_is_refused_without_being_repeated(url):
    for name in ("ollama", "openai"):
        with pytest.raises(Invalid) as caught:
            open_embedder(Choice(name, url), "")
        assert KEY not in caught.value.message + caught.value.hint


def test_openai_needs_a_key_and_says_how_to_give_one(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert "CO_EMBEDDING_KEY" in refused(lambda: open_embedder(Choice("openai"), "")).hint
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    embedder = open_embedder(Choice("openai"), "")
    assert embedder.remote
    assert KEY not in embedder.fingerprint


def test_the_key_of_openai_goes_to_openai_only(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    open_embedder(Choice("openai", server.url, "tiny"), "").embed(["one"])
    assert "Authorization" not in server.questions[0][1]


def test_a_key_does_not_go_over_a_network_unencrypted(monkeypatch):
    monkeypatch.setenv("CO_EMBEDDING_KEY", KEY)
    with pytest.raises(Denied) as caught:
        open_embedder(Choice("openai", "http://example.org/v1"), "")
    assert KEY not in caught.value.message + caught.value.hint


@pytest.mark.parametrize("odd", [f"{KEY}\r\nX-Header: 1", f"{KEY} {KEY}", f"{KEY}é"])
def test_what_cannot_be_a_key_is_refused_without_being_repeated(server, monkeypatch, odd):
    monkeypatch.setenv("CO_EMBEDDING_KEY", odd)
    with pytest.raises(Invalid) as caught:
        open_embedder(Choice("openai", server.url), "")
    assert KEY not in caught.value.message + caught.value.hint


def test_a_text_that_is_no_text_does_not_break_the_question(embedder, server):
    assert len(embedder.embed(["\ud800", 'quotes "and" \\ backslashes\n', "日本語"])) == 3
    assert server.questions[0][2]["input"][2] == "日本語"
