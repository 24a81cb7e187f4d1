"""The memory of the MCP reference server: a knowledge graph as JSON Lines of entities and relations.

Owns that format. An entity becomes a topic with its observations, and its relations become links to other topics.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import Corrupt
from co_cli.exchange.documents import moment, name_from
from co_cli.exchange.intake import IMPORTED, Document, imported
from co_cli.exchange.reading import lines_of, place
from co_cli.exchange.report import SKIPPED, ImportEntry

if TYPE_CHECKING:
    from co_cli.exchange.intake import Item
    from co_cli.exchange.report import ImportReport
    from co_cli.knowledge import KnowledgeBase

FORMS = "Name the file of the server, memory.jsonl (once memory.json), or the folder that it lies in."
TAG = "mcp-memory"
_NAMES = ("memory.jsonl", "memory.json")


class _Entity(NamedTuple):
    name: str
    kind: str
    observations: list[str]
    relations: list[tuple[str, str]]
    """The kind of each relation, and the name of the other entity."""
    line: int


def import_mcp_memory(kb: KnowledgeBase, path: str, *, in_global: bool = False, dry_run: bool = False) -> ImportReport:
    """Take a knowledge graph in, each entity as a topic."""
    path = place(path, FORMS)
    if os.path.isdir(path):
        path = next((os.path.join(path, name) for name in _NAMES if os.path.isfile(os.path.join(path, name))), path)
    entities, lines = _graph(path)
    if not entities and lines:
        raise Corrupt(f"{path}: no line is an entity: {lines[0].reason}.", FORMS)
    written = moment(os.stat(path).st_mtime)
    items: list[Item] = [*(_document(path, entity, written) for entity in entities.values()), *lines]
    return imported(kb, path, [path], items, what=TAG, in_global=in_global, dry_run=dry_run)


def _graph(path: str) -> tuple[dict[str, _Entity], list[ImportEntry]]:
    entities: dict[str, _Entity] = {}
    relations: list[tuple[int, dict[str, object]]] = []
    problems: list[ImportEntry] = []

    def skip(number: int, reason: str, code: str) -> None:
        problems.append(ImportEntry(path, "", SKIPPED, reason, code, line=number))

    for number, raw in lines_of(path, FORMS):
        if raw is not None and not raw.strip():
            continue
        try:
            data = json.loads((raw or b"").decode("utf-8-sig"))
        except (ValueError, RecursionError):
            skip(number, "this is no JSON" if raw else "the line is too long", "malformed")
            continue
        name = data.get("name") if isinstance(data, dict) else None
        if isinstance(data, dict) and data.get("type") == "relation":
            relations.append((number, data))
        elif not isinstance(name, str) or not name.strip():
            skip(number, "is neither an entity with a name nor a relation", "unknown")
        else:
            known = entities.setdefault(name, _Entity(name, str(data.get("entityType") or ""), [], [], number))
            given = data.get("observations")
            texts = [text for text in given if isinstance(text, str)] if isinstance(given, list) else []
            known.observations.extend(text for text in texts if text not in known.observations)
    for number, data in relations:
        one, other, kind = (data.get(name) for name in ("from", "to", "relationType"))
        if not isinstance(one, str) or one not in entities:
            skip(number, f"a relation of {str(one)[:40]!r}, which is no entity", "unknown")
        elif isinstance(other, str) and (str(kind), other) not in entities[one].relations:
            entities[one].relations.append((str(kind), other))
    return entities, problems


def _document(path: str, entity: _Entity, written: str) -> Document:
    parts = [f"# {entity.name}"]
    if entity.observations:
        parts.append("\n".join(f"- {' '.join(text.split())}" for text in entity.observations))
    if entity.relations:
        parts.append("## Relations\n\n" + "\n".join(f"- {kind} [[{name_from(other)}]]" for kind, other in entity.relations))
    tags = [IMPORTED, TAG, *([entity.kind] if entity.kind else [])]
    name = name_from(entity.name)
    text = "\n\n".join(parts)
    return Document(path, f"line {entity.line}", name, text, tags, updated=written, extra={"title": entity.name})
