"""Memories of mem0, as its ``get_all`` and its export give them: JSON with a text, an id and dates for each.

Owns that shape. A memory is known again by its id, so one that changed there is brought up to date here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from co_cli.errors import Corrupt, Invalid
from co_cli.exchange.documents import moment, words_of
from co_cli.exchange.intake import IMPORTED, Entry, imported
from co_cli.exchange.reading import nothing_readable, place, read_json
from co_cli.exchange.report import SKIPPED, ImportEntry
from co_cli.note import instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from co_cli.exchange.intake import Item
    from co_cli.exchange.report import ImportReport
    from co_cli.knowledge import KnowledgeBase

FORMS = "Name a JSON file with memories of mem0: the answer of get_all(), or an export."
TAG = "mem0"
_LISTS = ("results", "memories")
_TEXTS = ("memory", "text", "content", "data")
_OWNERS = ("user_id", "agent_id", "app_id", "run_id")


def import_mem0(kb: KnowledgeBase, path: str, *, in_global: bool = False, dry_run: bool = False) -> ImportReport:
    """Take memories of mem0 in."""
    path = place(path, FORMS)
    data = read_json(path)
    if isinstance(data, ImportEntry):
        raise nothing_readable([data])
    found = data
    if isinstance(data, dict):
        found = next((data[name] for name in _LISTS if isinstance(data.get(name), list)), None)
    if not isinstance(found, list):
        raise Invalid(f"{path} has no list of memories.", FORMS)
    items = [item for position, given in enumerate(found) for item in _items(path, f"[{position}]", given)]
    if found and all(isinstance(item, ImportEntry) for item in items):
        first = next(item for item in items if isinstance(item, ImportEntry))
        raise Corrupt(f"{path}: none of {len(found)} entries is a memory: {first.reason}.", FORMS)
    return imported(kb, path, [path], items, what=TAG, in_global=in_global, dry_run=dry_run)


def _items(path: str, at: str, given: object) -> Iterator[Item]:
    if not isinstance(given, dict):
        yield ImportEntry(path, at, SKIPPED, "must be an object", "wrong-type")
        return
    text = next((given[name] for name in _TEXTS if isinstance(given.get(name), str)), "")
    if not text.strip():
        yield ImportEntry(path, at, SKIPPED, f"has no text under {', '.join(_TEXTS)}", "empty")
        return
    created, updated = moment(given.get("created_at")), moment(given.get("updated_at"))
    metadata = given.get("metadata")
    inner = metadata.get("category") if isinstance(metadata, dict) else None
    tags = [IMPORTED, TAG, *words_of(given.get("categories")), *([inner] if isinstance(inner, str) else [])]
    owners = [f"{name} {given[name]}" for name in _OWNERS if isinstance(given.get(name), str)]
    number = given.get("id")
    yield Entry(
        path,
        instant(updated or created),
        at,
        text,
        "",
        list(dict.fromkeys(tags)),
        key=f"mem0 {number}" if isinstance(number, str) and number else "",
        created=created,
        pinned=False,
        because=": ".join(["imported from mem0", *([", ".join(owners)] if owners else [])]),
    )
