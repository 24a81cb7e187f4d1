"""From a query to hits.

Owns the choice between the tiers: every note read at each query, or the ranked search of the index. Knows nothing of how
hits are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from co_cli.errors import Invalid, Unavailable
from co_cli.note import FOLDERS
from co_cli.query import parse_query
from co_cli.retrieval.hit import ALL, ANY, MEANING, PHRASE, QUERY_LIMIT, Filter, Hit, Means, Recalled, Why

if TYPE_CHECKING:
    from collections.abc import Sequence

    from co_cli.query import Query
    from co_cli.vault import Vault

__all__ = [
    "ALL",
    "ANY",
    "MEANING",
    "MODES",
    "PHRASE",
    "Filter",
    "Hit",
    "Means",
    "Recalled",
    "Why",
    "narrowed",
    "retrieve",
    "tier",
]

MODES = ("auto", "grep", "text", "vector", "hybrid")


def retrieve(vaults: Sequence[Vault], text: str, *, mode: str, limit: int, only: Filter, means: Means) -> Recalled:
    """Answer a query from these vaults."""
    if mode not in MODES:
        raise Invalid(f"There is no mode {mode!r}.", f"Modes: {', '.join(MODES)}.")
    if limit < 1:
        raise Invalid("The number of results must be 1 or more.")
    if not text.strip(' \t\r\n"'):
        raise Invalid("The query is empty.", 'Say what to look for: co recall "async"')
    query = parse_query(text[:QUERY_LIMIT], _today())
    only = narrowed(only, query)
    chosen = tier(vaults, means) if mode == "auto" else mode
    found = _ranked(vaults, query, chosen, limit, only, means) if chosen != "grep" else None
    if found is None:
        from co_cli.retrieval.grep import grep

        found = grep(vaults, query, limit=limit, only=only)
    return found._replace(query=text, notices=(*query.warnings, *found.notices))


def _today() -> str:
    import time

    return time.strftime("%Y-%m-%d")


def narrowed(only: Filter, query: Query) -> Filter:
    """What the query itself says of the notes that are asked for, on top of what was asked for beside it."""
    if not (query.kinds or query.tags or query.after or query.before):
        return only
    kinds = tuple(kind for kind in only.kinds if kind in query.kinds) if query.kinds else only.kinds
    if not kinds:
        raise Invalid(f"No note can be of a kind among {', '.join(query.kinds)} and {', '.join(only.kinds)} at once.")
    return only._replace(kinds=kinds, tags=(*only.tags, *query.tags), after=query.after, before=query.before)


def tier(vaults: Sequence[Vault], means: Means) -> str:
    """The way of searching that so many notes call for."""
    count = 0
    for vault in vaults:
        count += vault.count(FOLDERS, means.hybrid_from - count)
    # what is linked is always ranked, since the titles and names of its files say much
    few = count < means.text_from and not any(vault.read_only for vault in vaults)
    return "grep" if few else "text" if count < means.hybrid_from else "hybrid"


def _ranked(vaults: Sequence[Vault], query: Query, mode: str, limit: int, only: Filter, means: Means) -> Recalled | None:
    """The ranked answer; where the index cannot be had now, every note is read instead, and that is said."""
    from co_cli.retrieval.ranked import retrieve_ranked

    try:
        return retrieve_ranked(vaults, query, mode=mode, limit=limit, only=only, means=means)
    except Unavailable as error:
        from co_cli.retrieval.grep import grep

        found = grep(vaults, query, limit=limit, only=only)
        code = error.code if error.code.startswith("index-") else "index-unavailable"
        return found._replace(degraded=(code,), notices=(f"{error.message} {error.hint}".strip(),))
