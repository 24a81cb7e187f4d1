"""How an index stands to the files that it was made of: how much of them it knows, where it contradicts them, starting anew.

Owns these looks at an index, which change nothing, and throwing one away. Knows nothing of queries, nor of how a file gets
into an index.
"""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import CoError
from co_cli.index.database import Damaged, discard, remove
from co_cli.index.store import Index
from co_cli.note import FOLDERS, Problem
from co_cli.sync import index_path, open_index

if TYPE_CHECKING:
    from co_cli.vault import Vault

_ANEW = "anew"
"""What says in an index that it was begun anew on request: what it lacks is what that request has not come to."""


class Coverage(NamedTuple):
    """How far the index of a vault knows its notes."""

    path: str
    files: int
    """Note files there are."""
    indexed: int = 0
    """Those of them that the index knows as they are now."""
    passages: int = 0
    vectors: int = 0
    model: str = ""
    """The fingerprint of the model that the vectors are of."""
    bytes: int = 0
    damage: str = ""
    """Why the index cannot be used as it is; it is made anew at the next search."""

    @property
    def exists(self) -> bool:
        """Whether there is an index at all."""
        return self.bytes > 0


def coverage(vault: Vault, cache: str) -> Coverage:
    """Look at the index of a vault without changing anything."""
    path = index_path(vault, cache)
    seen = {kind: vault.stamps(kind, []) or {} for kind in FOLDERS}
    files = sum(map(len, seen.values()))
    try:
        size = os.stat(path).st_size
    except OSError:
        return Coverage(path, files)
    try:
        with closing(Index(path, as_it_is=True)) as index:
            indexed = sum(_known(vault, index, kind, seen[kind]) for kind in FOLDERS)
            totals = index.totals()
            return Coverage(path, files, indexed, totals.passages, totals.vectors, index.meta("embedder") or "", size)
    except (Damaged, CoError) as error:
        return Coverage(path, files, bytes=size, damage=str(error))


def _known(vault: Vault, index: Index, kind: str, seen: dict[str, int]) -> int:
    """How many files of a kind the index knows as they are; where their stamps do not settle it, their bytes do."""
    from hashlib import sha256

    stamps, hashes = index.stamps(kind), index.hashes(kind)
    unsettled = [name for name in seen if stamps.get(name) == 0]
    known = sum(stamps.get(name) == stamp for name, stamp in seen.items())
    for path, raw in vault.named_files(kind, unsettled, []):
        known += sha256(raw).digest() == hashes[vault.name_of(path)]
    return known


def differences(vault: Vault, cache: str) -> list[Problem]:
    """Where the index of a vault says something else than the files, in a way that no search would notice by itself."""
    from hashlib import sha256

    path = index_path(vault, cache)
    if not os.path.exists(path):
        return []
    hint = "co doctor --fix throws it away; the next search makes it anew from the notes."
    try:
        with closing(Index(path, as_it_is=True)) as index:
            unsound = index.unsound()
            if unsound:
                return [Problem(path, f"the index is damaged: {unsound}", hint=hint, code="index-damaged")]
            problems = []
            for kind in FOLDERS:
                stamps, hashes = index.stamps(kind), index.hashes(kind)
                settled = [name for name, stamp in (vault.stamps(kind, []) or {}).items() if stamps.get(name) == stamp]
                for file, raw in vault.named_files(kind, settled, []):
                    if sha256(raw).digest() != hashes[vault.name_of(file)]:
                        problems.append(Problem(file, "the index holds another text of it", hint=hint, code="index-differs"))
            return problems
    except (Damaged, CoError) as error:
        return [Problem(path, f"the index cannot be used: {error}", hint=hint, code="index-damaged")]


def begin_anew(vault: Vault, cache: str, *, by_meaning: bool) -> None:
    """Throw the index of a vault away, to be made anew; one that was begun anew and still lacks something is kept."""
    known = coverage(vault, cache)
    lacks = known.indexed < known.files or (by_meaning and known.vectors < known.passages)
    if known.exists and not known.damage and lacks:
        with closing(open_index(vault, cache)) as index:
            if index.meta(_ANEW):
                return
    empty(vault, cache)
    with closing(open_index(vault, cache)) as index, index.writing():
        index.set_meta(_ANEW, 1)


def end_anew(index: Index) -> None:
    """Note that what was asked for is done."""
    with index.writing():
        index.set_meta(_ANEW, 0)


def empty(vault: Vault, cache: str) -> None:
    """Take everything out of the index of a vault, which is to be made anew; others may have it open meanwhile."""
    path = index_path(vault, cache)
    if os.path.exists(path):
        discard(path)


def throw_away(vault: Vault, cache: str) -> None:
    """Remove the index of a vault, which loses nothing but the time to make it anew."""
    from co_cli.files import locked

    path = index_path(vault, cache)
    if os.path.exists(path):
        with locked(os.path.dirname(path)):
            remove(path)
