"""Embeddings of OpenAI, and of the many servers that speak its protocol.

Owns the address, the key, the default model and the form of the answers. A key in ``OPENAI_API_KEY`` was made for OpenAI,
and goes nowhere else.
"""

from __future__ import annotations

import os
from typing import Any

from co_cli.embedding.packages import unavailable
from co_cli.embedding.remote import Remote
from co_cli.embedding.wire import Server, check_key, read_address

_ADDRESS = "https://api.openai.com/v1"
_MODEL = "text-embedding-3-small"
_KEY, _OPENAI_KEY = "CO_EMBEDDING_KEY", "OPENAI_API_KEY"


def open_openai(url: str, model: str) -> Remote:
    """An embedder that asks the server at an address; nothing is asked yet."""
    address = read_address(url or _ADDRESS)
    name = _KEY
    key = os.environ.get(name, "").strip()
    official = address.host == "api.openai.com"
    if official and not key:
        name = _OPENAI_KEY
        key = os.environ.get(name, "").strip()
    if official and not key:
        raise unavailable("OpenAI needs a key, and none is set.", f"export {_KEY}=…")
    check_key(address, key, name)
    model = model or _MODEL
    server = Server(
        address,
        key,
        "Check embedding_url, or choose another embedder.",
        f"Check embedding_url, which often ends in /v1, and that the server has the model '{model}'.",
        name,
    )
    return Remote("openai", server, "/embeddings", model, _read)


def _read(answer: Any) -> list[object]:  # noqa: ANN401 - any JSON
    found = sorted(answer["data"], key=lambda one: one["index"])
    if [one["index"] for one in found] != list(range(len(found))):
        raise ValueError("the numbers of the vectors are not those of the texts")
    return [one["embedding"] for one in found]
