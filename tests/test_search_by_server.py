"""Searching with an embedder that is a server: what it is sent, and what happens when it is slow, wrong or gone."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from indexes import bodies, choose, put
from processes import within
from test_embedding_servers import Served, cut_off, hang_up, never, raw, reply, status

from co_cli import KnowledgeBase
from co_cli.knowledge import Recalled

COUNT = 40
PATIENCE = 12
"""Seconds after which an answer by words has to be there, whatever the server does."""


def meaning(handler: BaseHTTPRequestHandler, texts: list[str]) -> None:
    """Vectors in which herons and birds are alike."""
    reply(handler, [[1.0, 0.1] if {"heron", "bird"} & {*text.lower().split()} else [0.1, 1.0] for text in texts])


def after(seconds: float) -> Callable[[BaseHTTPRequestHandler, list[str]], None]:
    def slowly(handler: BaseHTTPRequestHandler, texts: list[str]) -> None:
        time.sleep(seconds)
        meaning(handler, texts)

    return slowly


@pytest.fixture
def server() -> Iterator[Served]:
    served = Served()
    yield served
    served.close()


def sent(server: Served) -> list[str]:
    return [text for _, _, asked in server.questions for text in asked["input"]]


@pytest.fixture
def served(kb: KnowledgeBase, vault: Path, server: Served) -> Served:
    """A server that embeds by meaning, for knowledge of some notes that is not indexed yet."""
    for number in range(1, COUNT + 1):
        put(vault, number, f"bystander number {number}")
    put(vault, COUNT + 1, "a heron by the water")
    server.answers = _Always(meaning)
    choose(kb, embedder="ollama", embedding_url=server.url, embedding_model="tiny")
    return server


class _Always(list[Any]):
    """Answers without end: those that were put first, and then always the same."""

    def __init__(self, usual: Callable[[BaseHTTPRequestHandler, list[str]], None], first: list[Any] | None = None) -> None:
        super().__init__(first or [])
        self.usual = usual

    def __bool__(self) -> bool:
        return True

    def pop(self, place: int = -1) -> Any:  # type: ignore[override]
        return super().pop(place) if len(self) else self.usual


def recalled(kb: KnowledgeBase, query: str = "bird") -> Recalled:
    with within(PATIENCE):
        return kb.recall(query, mode="hybrid")


def check_by_words(found: Recalled) -> None:
    assert (found.mode, "semantic-unavailable" in found.degraded) == ("text", True)
    assert [hit.note.id for hit in found.hits] == [COUNT + 1]
    [notice] = found.notices
    assert notice.startswith("Searched by words only. The embedding server at http://127.0.0.1:")


def check_by_meaning(kb: KnowledgeBase) -> None:
    found = recalled(kb)
    assert (found.mode, found.hits[0].note.id, found.notices) == ("hybrid", COUNT + 1, ())
    assert "semantic-unavailable" not in found.degraded


def test_what_a_server_says_is_alike_is_found_and_nothing_is_sent_twice(kb: KnowledgeBase, vault: Path, served: Served):
    check_by_meaning(kb)
    texts = sent(served)
    assert len(texts) == len(set(texts)) == COUNT + 2  # each note once, and the query
    check_by_meaning(kb)
    assert sent(served)[len(texts) :] == ["bird"]
    put(vault, 3, "another text")
    (vault / "memories" / "004-note.md").rename(vault / "memories" / "004-renamed.md")
    check_by_meaning(kb)
    assert sent(served)[len(texts) + 1 :] == ["another text", "bird"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong",
    [
        status(500),
        status(401),
        status(404),
        raw(b"no json"),
        raw(b'{"embeddings": []}'),
        raw(b'{"embeddings": [["a"]]}'),
        cut_off,
        hang_up,
        never,
    ],
    ids=["500", "401", "404", "no json", "too few", "no numbers", "cut off", "hung up", "never"],
)
def test_a_server_that_fails_in_the_middle_leaves_the_search_by_words_and_is_taken_up_again(
    kb: KnowledgeBase, served: Served, wrong
):
    served.answers = _Always(wrong, [meaning])
    check_by_words(recalled(kb, "heron"))
    kept = sent(served)[:8]
    check_by_words(recalled(kb, "heron"))
    served.answers = _Always(meaning)
    served.questions.clear()
    check_by_meaning(kb)
    assert not set(kept) & set(sent(served)), "what was embedded is not embedded again"
    assert len(sent(served)) == COUNT + 2 - len(kept)


def test_a_server_that_is_gone_leaves_the_search_by_words(kb: KnowledgeBase, served: Served):
    served.close()
    check_by_words(recalled(kb, "heron"))
    [hint] = recalled(kb, "heron").notices
    assert "ollama serve" in hint


@pytest.mark.slow
def test_a_slow_server_gets_further_with_each_query(kb: KnowledgeBase, served: Served):
    served.answers = _Always(after(0.9))
    seen = []
    for _ in range(12):
        found = recalled(kb, "heron")
        assert found.hits[0].note.id == COUNT + 1
        seen.append(len(set(sent(served))))
        if found.degraded == ():
            break
        assert set(found.degraded) <= {"index-rebuilt", "vectors-partial"}
    assert seen == sorted(seen)
    assert len(seen) > 1
    assert seen[-1] == COUNT + 2
    assert len(sent(served)) <= COUNT + 2 + 8 + len(seen), "little is sent twice"


@pytest.mark.slow
def test_a_server_that_changes_its_model_is_not_believed_halfway(kb: KnowledgeBase, served: Served):
    check_by_meaning(kb)
    three = lambda handler, texts: reply(handler, [[1.0, 0.5, 0.25]] * len(texts))  # noqa: E731
    served.answers = _Always(three)
    found = recalled(kb, "heron")
    assert "index-rebuilt" in found.degraded
    assert found.hits[0].note.id == COUNT + 1


# ------------------------------------------------------------------------------------------------------------- what leaves


@pytest.mark.parametrize("mode", ["auto", "grep", "text", "vector", "hybrid"])
def test_nothing_is_sent_unless_a_server_was_chosen(
    kb: KnowledgeBase,
    vault: Path,
    project: Path,
    server: Served,
    mode: str,
):
    put(vault, 1, "a heron by the water")
    asks = {"embedder": "ollama", "embedding_url": server.url, "text_from": "1", "hybrid_from": "1"}
    (project / ".co-cli" / "settings.json").write_text(json.dumps(asks))  # a project cannot choose one by itself
    assert bodies(kb, "heron", mode) == ["a heron by the water"]
    choose(kb, embedding_url=server.url, embedding_model="tiny")  # an address alone chooses nothing
    assert bodies(kb, "heron", mode) == ["a heron by the water"]
    assert server.questions == []
    if mode in ("grep", "text"):
        choose(kb, embedder="ollama")
        assert bodies(kb, "heron", mode) == ["a heron by the water"]
        assert server.questions == []


@pytest.mark.parametrize("embedder", ["ollama", "openai"])
def test_private_notes_are_never_sent_to_another_machine(
    kb: KnowledgeBase,
    vault: Path,
    global_vault: Path,
    server: Served,
    embedder: str,
):
    server.answers = _Always(meaning)
    # A name that is not known for this machine counts as another one, although it leads here.
    remote = server.url.replace("127.0.0.1", "127.1")
    choose(kb, embedder=embedder, embedding_url=remote, embedding_model="tiny", text_from="1", hybrid_from="1")
    put(vault, 1, "a public heron")
    put(vault, 2, "SECRET in a project", header="private: true\n")
    put(global_vault, 3, "SECRET for all projects", header="private: true\n")
    put(
        vault, 4, "# A title\n\nSECRET in a topic", kind="topics", name="t.md", header="private: true\ntitle: SECRET title\n"
    )
    kb.save("SECRET that co keeps", private=True)
    was_public = put(vault, 5, "SECRET in the making, a heron")
    was_public.write_bytes(was_public.read_bytes().replace(b"---\n\n", b"private: true\n---\n\n"))
    for _ in range(2):
        found = kb.recall("bird heron", mode="hybrid", limit=20)
        assert found.mode == "hybrid"
        assert {hit.note.private for hit in found.hits} == {False, True}
        assert len(kb.recall("secret", mode="text", limit=20).hits) == 5
        put(vault, 2, "SECRET in a project, changed", header="private: true\n")
    assert any("a public heron" in text for text in sent(server))
    assert not any("SECRET" in text for text in sent(server))

    # The same server on this machine is given everything.
    choose(kb, embedding_url=server.url)
    kb.recall("bird", mode="hybrid")
    assert sum("SECRET" in text for text in sent(server)) == 5
