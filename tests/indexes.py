"""What the tests of the search have in common: vaults of plain files, and what an index holds apart from its numbers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from co_cli.embedding.fake import Fake
from co_cli.index.store import Index
from co_cli.knowledge import KnowledgeBase, open_knowledge_at, search_means
from co_cli.retrieval.hit import Means
from co_cli.sync import SyncReport, embed, open_index, sync
from co_cli.vault import Vault


def open_at(folder: Path) -> KnowledgeBase:
    """The knowledge of a project and a home of its own under a folder."""
    (folder / "project").mkdir(exist_ok=True)
    return open_knowledge_at(home=str(folder / "home"), state=str(folder / "state"), project=str(folder / "project"))


def note(number: int, body: str, *, header: str = "", year: int = 0) -> bytes:
    """The bytes of a memory; each of another year, so that none stands in the light of another."""
    year = year or 1000 + number % 9000
    return f"---\nid: {number}\ncreated: {year:04d}-02-09T14:30:00+00:00\n{header}---\n\n{body}\n".encode()


def put(
    vault: Path, number: int, body: str, *, name: str = "", kind: str = "memories", header: str = "", year: int = 0
) -> Path:
    """Write a note as another program would."""
    path = vault / kind / (name or f"{number:03d}-note.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(note(number, body, header=header, year=year))
    return path


def choose(kb: KnowledgeBase, **settings: str) -> None:
    """Set what a user would set with ``co config set``."""
    from co_cli.settings import change_setting

    for name, value in settings.items():
        change_setting(kb.places, name, value)


def bodies(kb: KnowledgeBase, query: str, mode: str = "text", **how: Any) -> list[str]:
    """The texts that answer a query, the best first."""
    return [hit.note.body for hit in kb.recall(query, mode=mode, **how).hits]


def means_of(kb: KnowledgeBase) -> Means:
    """What a search of this knowledge works with."""
    return search_means(kb.places, kb.settings())


def open_anew(vault: Vault, path: Path) -> Index:
    """A second index of a vault, made from its files as they are."""
    index = Index(str(path))
    sync(vault, index)
    embed(vault, index, Fake(), seconds=60)
    return index


def bring_up_to_date(vault: Vault, cache: str) -> SyncReport:
    """Let the index of a vault see what has changed, as a query does."""
    index = open_index(vault, cache)
    try:
        report = sync(vault, index)
        embed(vault, index, Fake(), seconds=60)
        return report
    finally:
        index.close()


def holdings(index: Index) -> dict[str, object]:
    """All that an index knows, by names instead of by numbers, and without when it learned it."""
    rows = index.connection.execute
    index.connection.execute("INSERT INTO search (search, rank) VALUES ('integrity-check', 1)")
    columns = "kind, name, sha, problem, number, title, tags, created, category, key, expires, pinned, private, parts"
    passage = "n.kind, n.name, p.start"
    of_passage = "JOIN notes n ON n.id = p.note"
    return {
        "notes": sorted(rows(f"SELECT {columns} FROM notes"), key=str),
        "passages": sorted(
            rows(
                f"SELECT {passage}, p.stop, p.line, p.heading, p.anchor, p.page, p.digest, p.length, p.name, p.tags, p.body"
                f" FROM passages p {of_passage}"
            ),
            key=str,
        ),
        "links": sorted(
            rows("SELECT n.kind, n.name, target, written, line FROM links JOIN notes n ON n.id = note"), key=str
        ),
        "vectors": sorted(
            rows(
                f"SELECT {passage}, vector, code FROM vectors v JOIN passages p ON p.id = v.passage {of_passage}"
                " LEFT JOIN codes c ON c.passage = p.id"
            ),
            key=str,
        ),
        "strays": [
            *rows("SELECT passage FROM codes WHERE passage NOT IN (SELECT passage FROM vectors)"),
            *rows("SELECT passage FROM vectors WHERE passage NOT IN (SELECT id FROM passages)"),
            *rows("SELECT id FROM passages WHERE note NOT IN (SELECT id FROM notes)"),
            *rows("SELECT note FROM links WHERE note NOT IN (SELECT id FROM notes)"),
        ],
        "terms": sorted(rows("SELECT term, doc, cnt FROM vocabulary")),
        "totals": tuple(index.totals()),
        "counted": rows("SELECT COUNT(*), TOTAL(length) FROM passages").get,
    }


def files_of_index(folder: Path) -> dict[str, bytes]:
    """The files of the index in a folder, with their bytes."""
    return {name: (folder / name).read_bytes() for name in os.listdir(folder) if name.startswith("knowledge.db")}
