"""Embeddings of an Ollama server.

Owns Ollama's address, its default model, and the form of its answers.
"""

from __future__ import annotations

from typing import Any

from co_cli.embedding.remote import Remote
from co_cli.embedding.wire import Server, read_address

_ADDRESS = "http://127.0.0.1:11434"
_MODEL = "nomic-embed-text"
_PREFIXES = {"nomic-embed-text": ("search_document: ", "search_query: ")}
"""What a model was trained to see before what is searched, and before what is searched for."""


def open_ollama(url: str, model: str) -> Remote:
    """An embedder that asks the Ollama server at an address; nothing is asked yet."""
    address = read_address(url or _ADDRESS)
    model = model or _MODEL
    server = Server(address, "", "Start it with `ollama serve`, or choose another embedder.", f"ollama pull {model}")
    prefixes = _PREFIXES.get(model.partition(":")[0], ("", ""))
    return Remote("ollama", server, "/api/embed", model, _read, prefixes)


def _read(answer: Any) -> list[object]:  # noqa: ANN401 - any JSON
    found: list[object] = answer["embeddings"]
    return found
