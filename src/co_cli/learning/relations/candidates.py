"""Which of many statements are worth comparing.

Owns finding the pairs without comparing everything with everything: by the words that few of them use, by their keys, and by
their vectors. Knows nothing of notes, nor of what comes of a comparison.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from co_cli.errors import CoError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from co_cli.learning.relations import Said

    Progress = Callable[[str, int, int], None]

_RARE, _DRIVERS = 150, 6
"""In how many statements a word may stand to lead from one to another, and how many words of each do."""
_SHARED = 3
"""One word in so many that two have to share."""
_MOST = 60
"""Pairs of one statement at most."""
_NEAR = 0.85
"""The cosine from which on two are compared, whatever their words."""
_BLOCK = 512
_LENGTH = 2000
"""Characters of a text that its vector is made of."""


class Candidates:
    """The pairs among many statements that are worth comparing."""

    def __init__(self, statements: Sequence[Said], progress: Progress | None = None) -> None:
        self.statements = statements
        self.progress = progress
        self.notice = ""
        """Why there are no vectors, where there are none."""
        self._places = {said.text: place for place, said in enumerate(statements)}
        self._matrix = self._embedded()

    def near(self, one: str, other: str) -> float | None:
        """The cosine of two of the texts."""
        if self._matrix is None:
            return None
        return float(self._matrix[self._places[one]] @ self._matrix[self._places[other]])

    def pairs(self) -> Iterator[tuple[int, int]]:
        """The places of both of each pair, each pair once, the smaller first."""
        seen: set[tuple[int, int]] = set()
        for found in (self._same(), self._by_words(), self._by_vectors()):
            for pair in found:
                if pair not in seen:
                    seen.add(pair)
                    yield pair

    def _same(self) -> Iterator[tuple[int, int]]:
        """Those that say the same, or go by the same key."""
        groups: dict[tuple[str, str], list[int]] = defaultdict(list)
        for place, said in enumerate(self.statements):
            groups["text", said.folded].append(place)
            if said.key:
                groups[f"key {said.category}", said.key].append(place)
        for places in groups.values():
            for number, place in enumerate(places):
                yield from ((place, other) for other in places[number + 1 : number + 1 + _MOST])

    def _by_words(self) -> Iterator[tuple[int, int]]:
        stems = [{token.stem for each in said.statements for token in each.tokens} for said in self.statements]
        number = Counter(stem for each in stems for stem in each)
        holders: dict[str, list[int]] = defaultdict(list)
        for place, mine in enumerate(stems):
            if self.progress and place % _BLOCK == 0:
                self.progress("comparing words", place, len(stems))
            drivers = sorted((stem for stem in mine if number[stem] <= _RARE), key=number.__getitem__)[:_DRIVERS]
            met = Counter(other for stem in drivers for other in holders[stem])
            for other, _count in met.most_common(_MOST):
                if len(mine & stems[other]) * _SHARED >= min(len(mine), len(stems[other])):
                    yield other, place
            for stem in mine:
                if number[stem] <= _RARE:
                    holders[stem].append(place)

    def _by_vectors(self) -> Iterator[tuple[int, int]]:
        if self._matrix is None:
            return
        import numpy as np

        matrix = self._matrix
        for start in range(0, len(matrix), _BLOCK):
            if self.progress:
                self.progress("comparing meanings", start, len(matrix))
            cosines = matrix[start : start + _BLOCK] @ matrix[start:].T
            rows, columns = np.nonzero(cosines >= _NEAR)
            later = columns > rows  # both count from the start of the block
            rows, columns = rows[later], columns[later]
            order = np.argsort(-cosines[rows, columns], kind="stable")
            pairs_of: Counter[int] = Counter()
            for row, column in zip(rows[order].tolist(), columns[order].tolist(), strict=True):
                if pairs_of[row] < _MOST:
                    pairs_of[row] += 1
                    yield start + row, start + column

    def _embedded(self) -> NDArray[Any] | None:
        """The vectors of all texts by the static model, a row each; zeros for a text that has none."""
        from co_cli.embedding.static import open_static

        try:
            import numpy as np

            embedder = open_static()
        except (ImportError, CoError) as error:
            reason = str(error) if isinstance(error, CoError) else "numpy is not installed."
            self.notice = f"Compared by words only. {reason}"
            return None
        texts = [said.text[:_LENGTH] for said in self.statements]
        if not texts:
            return None
        vectors = embedder.embed(texts)
        empty = b"\0" * (4 * embedder.dimensions)
        return np.frombuffer(b"".join(vector or empty for vector in vectors), "<f4").reshape(len(texts), -1)
