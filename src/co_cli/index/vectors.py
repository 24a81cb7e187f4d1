"""The vectors of the passages: kept as signed bytes, looked through as codes of one bit a dimension.

Owns loading sqlite-vec, what becomes of a vector on its way into the file, and the search for the nearest. Knows nothing of
models: it is told by whose fingerprint the vectors go.

Both lie in plain tables, which every SQLite can write; of sqlite-vec only the functions are used. Its own table takes time
in proportion to the neighbours that are asked for: 38 ms for 400 among 100,000, where a plain scan of codes takes 7.
"""

from __future__ import annotations

import os
import sys
from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from co_cli.index.database import complaints
from co_cli.index.store import named

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from co_cli.index.search import Narrowing
    from co_cli.index.store import Index

_EXACT = 1000
"""Vectors up to which each is compared; beyond, their codes choose which are."""
_SHORTLIST = 4
"""Codes that are looked up for each neighbour that is asked for."""
_SUFFIXES = (".so", ".dylib", ".dll")


class Pending(NamedTuple):
    """A passage that has no vector yet, with where its text is."""

    passage: int
    kind: str
    file: str
    sha: bytes
    title: str
    heading: str
    start: int
    stop: int


def available(index: Index) -> bool:
    """Whether vectors can be searched here: sqlite-vec is installed, and can be loaded."""
    if index.has_vectors is None:
        index.has_vectors = _load(index.connection)
    return index.has_vectors


def _load(connection: apsw.Connection) -> bool:
    # importing the package would import numpy, so its one file is loaded by its path
    for folder in sys.path:
        for suffix in _SUFFIXES:
            path = os.path.join(folder, "sqlite_vec", f"vec0{suffix}")
            if os.path.isfile(path):
                try:
                    connection.enable_load_extension(True)
                    connection.load_extension(path)
                    connection.enable_load_extension(False)
                except (apsw.Error, AttributeError):
                    return False
                return True
    return False


def prepare(index: Index, fingerprint: str) -> bool:
    """Make room for the vectors of a model; those of another are thrown away. Returns whether there were any."""
    if index.meta("embedder") == fingerprint:
        return False
    with index.writing():
        had_others = index.meta("embedder") != fingerprint and index.totals().vectors > 0
        if index.meta("embedder") != fingerprint:
            index.connection.execute("DELETE FROM codes; DELETE FROM vectors")
            index.set_meta("embedder", fingerprint)
    return had_others


def pending(index: Index, after: int, limit: int, *, private: bool) -> list[Pending]:
    """Passages without a vector, behind the one with this id, in the order of their ids; private ones where wanted."""
    query = """
        SELECT p.id, n.kind, n.name, n.sha, n.title, p.heading, p.start, p.stop
        FROM passages p JOIN notes n ON n.id = p.note
        WHERE p.id > ? AND n.private <= ? AND NOT EXISTS (SELECT 1 FROM vectors WHERE passage = p.id)
        ORDER BY p.id LIMIT ?
    """
    with complaints(index.path):
        rows: list[Any] = index.connection.execute(query, (after, private, limit)).fetchall()
        found = [Pending(*row) for row in rows]
    return [row._replace(file=named(row.file)) if "/" in row.file else row for row in found]


def put(index: Index, fingerprint: str, ids: Sequence[int], vectors: Sequence[bytes]) -> None:
    """Keep the vectors of passages as a model gave them, unless another model has taken over meanwhile."""
    quantised = quantise(vectors)
    rows = zip(ids, quantised, _codes(quantised), strict=True)
    with index.writing():
        if index.meta("embedder") == fingerprint:
            index.put_vectors(rows)


def quantise(vectors: Sequence[bytes]) -> list[bytes]:
    """Vectors of floats as signed bytes, the largest value of each as 127: as much as cosines need of them."""
    kept = [vector for vector in vectors if vector]
    if len(kept) > 1 and sys.modules.get("numpy"):
        import numpy as np

        # in 64 bits, as without numpy: the same vector becomes the same bytes, whatever stands beside it
        matrix = np.frombuffer(b"".join(kept), dtype="<f4").reshape(len(kept), -1).astype("f8")
        scaled = np.rint(matrix * (127 / np.abs(matrix).max(axis=1, keepdims=True)))
        rows = iter(scaled.astype("int8"))
        return [next(rows).tobytes() if vector else b"" for vector in vectors]
    return [_quantised(vector) if vector else b"" for vector in vectors]


def _quantised(vector: bytes) -> bytes:
    floats = array("f", vector)
    if sys.byteorder == "big":
        floats.byteswap()
    scale = 127 / max(map(abs, floats))
    return array("b", [round(value * scale) for value in floats]).tobytes()


def _codes(quantised: Iterable[bytes]) -> list[bytes]:
    """A bit for each dimension: whether it is above zero."""
    return [_code(vector) for vector in quantised]


_SIGNS = b"0" + b"1" * 127 + b"0" * 128


def _code(vector: bytes) -> bytes:
    return int(vector.translate(_SIGNS) or b"0", 2).to_bytes((len(vector) + 7) // 8, "big")


def nearest(index: Index, query: bytes, narrowing: Narrowing, limit: int) -> list[tuple[int, float]]:
    """The passages whose vectors are nearest to a quantised one, with the cosine, the nearest first."""
    condition, values = narrowing.condition(index)
    narrowed = (
        f"WHERE passage IN (SELECT p.id FROM notes n JOIN passages p ON p.note = n.id WHERE {condition})"
        if condition
        else ""
    )
    shortlist = f"SELECT passage FROM codes {narrowed}"
    if index.totals().passages > _EXACT:
        shortlist += " ORDER BY vec_distance_hamming(vec_bit(code), vec_bit(?)) LIMIT ?"
        values += [_code(query), limit * _SHORTLIST]
    return _cosines(index, query, shortlist, values, limit)


def every(index: Index) -> list[bytes]:
    """All vectors as they are kept, in the order of their passages."""
    with complaints(index.path):
        rows: Any = index.connection.execute("SELECT vector FROM vectors ORDER BY passage")
        return [row[0] for row in rows]


def cosines(index: Index, query: bytes, ids: Sequence[int]) -> list[tuple[int, float]]:
    """The cosine of a quantised vector with those of these passages, the nearest first."""
    return _cosines(index, query, ",".join(map(str, ids)), (), len(ids))


def _cosines(index: Index, query: bytes, ids: str, values: Sequence[object], limit: int) -> list[tuple[int, float]]:
    statement = (
        "SELECT passage, 1 - vec_distance_cosine(vec_int8(vector), vec_int8(?)) AS cosine FROM vectors"
        f" WHERE passage IN ({ids}) AND vector != x'' ORDER BY cosine DESC LIMIT ?"
    )
    with complaints(index.path):
        rows: Any = index.connection.execute(statement, (query, *values, limit))
        return list(rows)
