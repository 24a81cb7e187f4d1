"""The default embedder: a text is the sum of what its words mean by themselves.

Owns how the vectors of word pieces become the vector of a text. The vectors and the vocabulary are two files inside of the
package ``wordllama``, which is not imported.

- Letters are small, characters in one form, words are runs of letters and digits; signs mean nothing.
- A word counts as often as it is there to the power of 3/4, so that a word that is said again and again does not drown the
  rest, and a little less the more pieces it has, since the vectors of its pieces are added up.
- How much a word says is already in the length of its vector, and texts that have nothing in common already have a cosine of
  about 0. Weights by frequency, leaving out stop words, and taking the mean off were measured and brought nothing.
- A word of which only single letters are known means nothing, unless its script writes meanings. Where that is most of a
  text, there is no vector. The bytes of a Chinese character that is not known still tell it from others.

One question costs less than it takes to import numpy, so it is answered without; many texts are added up by numpy, where
there is one. Both give the same vectors but for the rounding.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from math import inf
from struct import unpack_from
from typing import TYPE_CHECKING, Any

from co_cli.embedding.packages import find_folder, mapped, sampled, unavailable
from co_cli.embedding.vectors import unit
from co_cli.embedding.wordpieces import BYTES, pieces, read_vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from mmap import mmap

    from numpy.typing import NDArray

    from co_cli.errors import Unavailable

PACKAGE = "wordllama"
_VECTORS = os.path.join("weights", "l2_supercat_256.safetensors")
_TOKENIZER = os.path.join("tokenizers", "l2_supercat_tokenizer_config.json")
_RECIPE = 1
"""Goes up whenever the same texts get other vectors than before."""

_WORD = re.compile(r"[^\W_]{1,64}")
_REPEATS = 0.75
_PIECES = -0.15
_LATIN_END = "\u024f"
_MEANINGS = ("\u3040", "\u9fff")
"""Japanese and Chinese characters: here a single one says something."""
_WORDS_KEPT = 50_000
_WORTH_NUMPY = 100
"""Texts from which on importing numpy takes less time than it saves."""


def open_static() -> Static:
    """Find the two files, and read what one question needs."""
    folder = find_folder(PACKAGE)
    if not folder:
        raise unavailable(
            f"The package {PACKAGE}, which carries the static vectors, is not installed.", f"pip install {PACKAGE}"
        )
    try:
        vectors, tokenizer = mapped(os.path.join(folder, _VECTORS)), mapped(os.path.join(folder, _TOKENIZER))
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        raise _other_files(folder, "they cannot be read") from error
    start = int.from_bytes(vectors[:8], "little") + 8
    shape = re.search(rb'"dtype":"F16","shape":\[(\d+),(\d+)\],"data_offsets":\[0,(\d+)\]', vectors[8 : min(start, 4096)])
    if not shape:
        raise _other_files(folder, "the vectors are not 16-bit numbers")
    rows, columns, length = map(int, shape.groups())
    if length != rows * columns * 2 or len(vectors) < start + length:
        raise _other_files(folder, "the vectors are cut off")
    try:
        return Static(vectors, tokenizer, start, (rows, columns), _vocabulary(os.path.join(folder, _TOKENIZER), tokenizer))
    except ValueError as error:
        raise _other_files(folder, str(error)) from error


_vocabularies: dict[tuple[int, ...], dict[bytes, int]] = {}


def _vocabulary(path: str, tokenizer: mmap) -> dict[bytes, int]:
    """The vocabulary of a file. Nobody writes to it, so a process that stays keeps it for all searches."""
    status = os.stat(path)
    file = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    known = _vocabularies.get(file)
    if known is None:
        known = read_vocabulary(tokenizer)
        _vocabularies.clear()
        _vocabularies[file] = known
    return known


def _other_files(folder: str, reason: str) -> Unavailable:
    return unavailable(
        f"The static vectors in {folder} are not what is expected: {reason}.",
        f"pip install --force-reinstall --no-deps '{PACKAGE}>=0.4.0.post1'",
    )


class Static:
    """Vectors of texts, from the vectors of their words."""

    name = "static"
    remote = False

    def __init__(
        self, vectors: mmap, tokenizer: mmap, start: int, shape: tuple[int, int], vocabulary: dict[bytes, int]
    ) -> None:
        self._vectors, self._start = vectors, start
        self._rows, self.dimensions = shape
        self._vocabulary = vocabulary
        if len(self._vocabulary) > self._rows:
            raise ValueError("there are more words than vectors")
        self._tokenizer = tokenizer
        self._format = f"<{self.dimensions}e"
        self._words: dict[str, tuple[list[int], float]] = {}
        self._matrix: NDArray[Any] | None = None
        self._halves: NDArray[Any]

    @property
    def fingerprint(self) -> str:
        """From the files, the dimensions, and how vectors are made of them."""
        return f"static-{self.dimensions}-{_RECIPE}-{sampled(self._vectors, self._tokenizer)}"

    def embed_query(self, text: str) -> bytes:
        """The vector of one text."""
        return self.embed((text,))[0]

    def embed(self, texts: Sequence[str], *, seconds: float = inf) -> list[bytes]:  # noqa: ARG002 - nobody is waited for
        """The vectors of many texts, in their order."""
        if self._matrix is None and ("numpy" in sys.modules or len(texts) >= _WORTH_NUMPY):
            self._matrix = self._open_matrix()
        return list(self._added_by_hand(texts) if self._matrix is None else self._added_by_numpy(texts, self._matrix))

    def _open_matrix(self) -> NDArray[Any] | None:
        """Room for all rows as numbers of 32 bits; it takes memory for those only that a text has needed."""
        try:
            import numpy as np
        except ImportError:
            return None
        halves = np.frombuffer(self._vectors, "<f2", self._rows * self.dimensions, self._start)
        self._halves = halves.reshape(self._rows, self.dimensions)
        matrix = np.empty(self._halves.shape, np.float32)
        known = list({row for rows, _ in self._words.values() for row in rows})
        matrix[known] = self._halves[known]
        return matrix

    def _added_by_hand(self, texts: Sequence[str]) -> Iterator[bytes]:
        for text in texts:
            total = [0.0] * self.dimensions
            for row, weight in self._weights(text).items():
                values = unpack_from(self._format, self._vectors, self._start + row * self.dimensions * 2)
                total = [before + weight * value for before, value in zip(total, values, strict=True)]
            yield unit(total)

    def _added_by_numpy(self, texts: Sequence[str], matrix: NDArray[Any]) -> Iterator[bytes]:
        import numpy as np

        for text in texts:  # one at a time: all vectors of all words of many texts would be gigabytes
            weights = self._weights(text)
            factors = np.fromiter(weights.values(), np.float32, len(weights))
            total = factors @ matrix[list(weights)] if weights else factors
            length = float(np.sqrt(total @ total))
            yield (total / length).astype("<f4").tobytes() if length > 0 else b""

    def _weights(self, text: str) -> dict[int, float]:
        """How much each row of the vectors counts in a text; nothing if most of its words mean nothing."""
        if not text.isascii():
            from unicodedata import normalize

            text = normalize("NFKC", text)
        counts = Counter(_WORD.findall(text.lower()))
        weights: dict[int, float] = {}
        known = 0
        for word, count in counts.items():
            rows, factor = self._words.get(word) or self._look_up(word)
            if rows:
                known += 1
                if count > 1:
                    factor *= count**_REPEATS
                for row in rows:
                    weights[row] = weights.get(row, 0.0) + factor
        return weights if known * 3 >= len(counts) else {}

    def _look_up(self, word: str) -> tuple[list[int], float]:
        rows = pieces(word, self._vocabulary)
        found = rows, 1.0
        if not _MEANINGS[0] <= word[0] <= _MEANINGS[1]:
            only_letters = word[0] > _LATIN_END and len(rows) >= len(word)
            rows = [] if only_letters else [row for row in rows if row not in BYTES]
            found = rows, max(1, len(rows)) ** _PIECES
        if len(self._words) >= _WORDS_KEPT:
            self._words.clear()
        if self._matrix is not None and found[0]:
            self._matrix[found[0]] = self._halves[found[0]]
        self._words[word] = found
        return found
