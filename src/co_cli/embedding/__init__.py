"""Vectors of texts: what an embedder is, which there are, and how one is opened.

Owns the protocol and the registry; each provider is a file of its own, imported when it is chosen. Must not know where texts
come from, what the vectors are kept in, or how they are compared beyond this: vectors have length one, so that their scalar
product is the cosine, and are only comparable under one fingerprint.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple, Protocol

from co_cli.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Sequence

SEMANTIC_UNAVAILABLE = "semantic-unavailable"
"""The code of every error that leaves text search as it was, but takes the vectors away."""

NAMES = ("static", "minilm", "ollama", "openai", "none", "fake")
"""What an embedder can be called in the settings."""


class Choice(NamedTuple):
    """Which embedder is wanted; address and model are for those that are servers."""

    name: str = "static"
    url: str = ""
    model: str = ""


class Embedder(Protocol):
    """From texts to vectors of length one, as little-endian 32-bit floats; empty where there is nothing to say."""

    @property
    def name(self) -> str:
        """What it is called in the settings."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever new vectors could not be compared with older ones."""

    @property
    def dimensions(self) -> int:
        """Numbers in a vector; a server may have to be asked for it."""

    @property
    def remote(self) -> bool:
        """Whether a text leaves this machine."""

    def embed(self, texts: Sequence[str], *, seconds: float = inf) -> list[bytes]:
        """The vectors of many texts, in their order; a server is waited for so many seconds at most."""

    def embed_query(self, text: str) -> bytes:
        """The vector of one text, as fast as can be."""


def open_embedder(choice: Choice, cache: str) -> Embedder | None:
    """Open the embedder that was chosen, or ``None`` for none; ``cache`` is a folder for models made on this machine."""
    match choice.name:
        case "static":
            from co_cli.embedding.static import open_static

            return open_static()
        case "minilm":
            from co_cli.embedding.minilm import open_minilm

            return open_minilm(cache)
        case "ollama":
            from co_cli.embedding.ollama import open_ollama

            return open_ollama(choice.url, choice.model)
        case "openai":
            from co_cli.embedding.openai import open_openai

            return open_openai(choice.url, choice.model)
        case "fake":
            from co_cli.embedding.fake import Fake

            return Fake()
        case "none":
            return None
    raise Invalid(f"There is no embedder called '{choice.name}'.", f"The embedders are {', '.join(NAMES)}.")
