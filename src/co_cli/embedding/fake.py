"""An embedder without a model, for tests: texts are alike where they have words in common.

Owns that likeness. The same text has the same vector everywhere and for ever.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from co_cli.embedding.vectors import unit

if TYPE_CHECKING:
    from collections.abc import Sequence


class Fake:
    """Vectors in which each word adds to a few places that its letters choose."""

    name = "fake"
    fingerprint = "fake-32-1"
    dimensions = 32
    remote = False

    def embed(self, texts: Sequence[str], *, seconds: float = inf) -> list[bytes]:  # noqa: ARG002 - nobody is waited for
        """The vectors of many texts, in their order."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> bytes:
        """The vector of one text."""
        import re
        from zlib import crc32

        values = [0.0] * self.dimensions
        for word in re.findall(r"\w+", text.lower()):
            chosen = crc32(word.encode("utf-8"))
            for shift in (0, 6, 12, 18):
                place = chosen >> shift
                values[place % self.dimensions] += 1.0 if place & self.dimensions else -1.0
        return unit(values)
