"""What embedders that are servers have in common.

Owns batches, and the checks of what comes back: a server that is wrong must not spoil an index. Knows no protocol; that is
what each server's own file is for.
"""

from __future__ import annotations

import time
from math import inf
from typing import TYPE_CHECKING

from co_cli.embedding.packages import unavailable
from co_cli.embedding.vectors import unit
from co_cli.embedding.wire import Patience, Server, ask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_QUESTION = Patience(connection=0.5, answer=1.5, total=2.0, tries=2)
"""Somebody waits for it, and can do without."""
_MANY = Patience(connection=5.0, answer=120.0, total=240.0, tries=6)
_BATCH, _BATCH_CHARACTERS = 64, 100_000
_RECIPE = 1
"""Goes up whenever the same texts get other vectors than before."""


class Remote:
    """Vectors of texts, from a server."""

    def __init__(
        self,
        name: str,
        server: Server,
        path: str,
        model: str,
        read: Callable[[object], Sequence[object]],
        prefixes: tuple[str, str] = ("", ""),
    ) -> None:
        from zlib import crc32

        self.name = name
        self.remote = server.address.remote
        self.fingerprint = f"{name}-{model}-{_RECIPE}-{crc32(server.address.shown.encode()):08x}"
        self._server, self._path, self._model, self._read = server, path, model, read
        self._for_texts, self._for_query = prefixes
        self._dimensions = 0

    @property
    def dimensions(self) -> int:
        """Numbers in a vector; the server is asked if it has not answered yet."""
        if not self._dimensions:
            self.embed_query("dimensions")
        return self._dimensions

    def embed_query(self, text: str) -> bytes:
        """The vector of one text; gives up soon."""
        return self._embedded([self._for_query + text], _QUESTION)[0] if text.strip() else b""

    def embed(self, texts: Sequence[str], *, seconds: float = inf) -> list[bytes]:
        """The vectors of many texts, in their order."""
        vectors = [b""] * len(texts)
        deadline = time.monotonic() + seconds
        for places in _batches(texts):
            asked = [self._for_texts + texts[place] for place in places]
            for place, vector in zip(places, self._embedded(asked, _MANY.until(deadline)), strict=True):
                vectors[place] = vector
        return vectors

    def _embedded(self, texts: list[str], patience: Patience) -> list[bytes]:
        answer = ask(self._server, self._path, {"model": self._model, "input": texts}, patience)
        try:
            found = list(self._read(answer))
        except (KeyError, IndexError, TypeError, ValueError):
            found = []
        if len(found) != len(texts):
            raise self._wrong(f"{len(found)} vectors for {len(texts)} texts")
        return [self._checked(values) for values in found]

    def _checked(self, values: object) -> bytes:
        if not isinstance(values, list) or not values or not all(type(value) in {float, int} for value in values):
            raise self._wrong("a vector that is no list of numbers")
        if self._dimensions not in {0, len(values)}:
            raise self._wrong(f"a vector of {len(values)} numbers, when it was {self._dimensions} before")
        try:
            vector = unit(values)
        except (OverflowError, ValueError):
            vector = b""
        if not vector:
            raise self._wrong("a vector without a direction")
        self._dimensions = len(values)
        return vector

    def _wrong(self, what: str) -> Exception:
        return unavailable(
            f"The embedding server at {self._server.address.shown} answers wrongly: {what}.",
            "Check embedding_url, and that embedding_model is a model for embeddings.",
        )


def _batches(texts: Sequence[str]) -> Iterator[list[int]]:
    """The places of texts that are sent together; blank ones are not sent at all."""
    places: list[int] = []
    characters = 0
    for place, text in enumerate(texts):
        if not text.strip():
            continue
        if places and (len(places) == _BATCH or characters + len(text) > _BATCH_CHARACTERS):
            yield places
            places, characters = [], 0
        places.append(place)
        characters += len(text)
    if places:
        yield places
