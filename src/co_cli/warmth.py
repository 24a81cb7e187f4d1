"""How use fades, and what is left of it.

Owns the weight of a use by its moment, and the one question that a search puts to the log of calls. Knows nothing of calls.
It is a module of its own since every ranked search loads it, and needs no more of the log than this.

Use fades by half in 30 days. What it has faded to is never computed row by row: each use is added with a weight that grows
by as much, so that the sums stay in the right order whatever the day.
"""

from __future__ import annotations

from contextlib import closing, suppress
from typing import TYPE_CHECKING

import apsw

if TYPE_CHECKING:
    from collections.abc import Iterable

HALF_LIFE = 30 * 86400.0
LANDMARK = 1767225600.0
"""The moment, 2026-01-01, at which one use weighs 1. The weights outgrow a float in the year 2110."""

_PATIENCE_MS = 50


def weight(at: float) -> float:
    """What a use at this moment adds."""
    return float(2.0 ** ((at - LANDMARK) / HALF_LIFE))


def uses(path: str, names: Iterable[tuple[str, str]], now: float) -> dict[tuple[str, str], float]:
    """What is left of the uses of each of these notes, by the keys of their vaults and their names there.

    A log that cannot be read tells nothing: who only wants to rank a little better has no use for the reason.
    """
    found: dict[tuple[str, str], float] = {}
    by_vault: dict[str, list[str]] = {}
    for vault, name in names:
        by_vault.setdefault(vault, []).append(name)
    with suppress(apsw.Error), closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        connection.set_busy_timeout(_PATIENCE_MS)
        scale = weight(now)
        for vault, mine in by_vault.items():
            query = f"SELECT name, warmth FROM notes WHERE vault = ? AND name IN ({','.join('?' * len(mine))})"
            found.update(((vault, name), warmth / scale) for name, warmth in connection.execute(query, (vault, *mine)))
    return found
