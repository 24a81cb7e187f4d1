"""Looking after the vaults: the verbs of the knowledge base that make, check and repair, and say how the search stands.

Owns what a new vault has, and what a search works with as it is set. Knows nothing of memories or prompts;
:class:`co_cli.knowledge.KnowledgeBase` is made of it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from co_cli.custody import Custody
from co_cli.files import make_folder
from co_cli.note import FOLDERS, GLOBAL, PROJECT
from co_cli.retrieval import Means, tier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from co_cli.coverage import Coverage
    from co_cli.doctor import Report
    from co_cli.note import Problem
    from co_cli.retrieval.ranked import Rebuilt
    from co_cli.settings import Places, Settings
    from co_cli.sync import SyncReport

_CONTEXT_TEMPLATE = """---
version: 1
updated: {now}
---

# {title}

<!-- What every session should know, a line each: - Key: value. Comments and bare headings are not loaded. -->
"""


def search_means(places: Places, settings: Settings) -> Means:
    """What a search works with, as it is set."""
    return Means(
        places.cache,
        embedder=settings.value("embedder"),
        embedding_url=settings.value("embedding_url"),
        embedding_model=settings.value("embedding_model"),
        text_from=int(settings.value("text_from")),
        hybrid_from=int(settings.value("hybrid_from")),
        fusion=settings.value("fusion"),
        usage_log=places.usage_log,
    )


class Upkeep(Custody):
    """The vaults of one user and one project, as somebody looks after them."""

    def init(self, *, in_global: bool = False) -> tuple[str, ...]:
        """Make the folders of a vault and an empty context; nothing that is there is touched. Returns what was made."""
        from co_cli import memory

        vault = self.vault(GLOBAL if in_global else PROJECT)
        made = []
        with vault.change("init") as draft:
            for name in FOLDERS.values():
                folder = os.path.join(vault.root, name)
                if not os.path.lexists(folder):
                    if not self._rehearses:
                        make_folder(folder)
                    made.append(folder)
            if not os.path.lexists(vault.context_path):
                title = "User" if in_global else "Project"
                draft.create(vault.context_path, memory.encode(_CONTEXT_TEMPLATE.format(now=memory.now(), title=title)))
                draft.summary = f"made {vault.context_path}"
                made.append(vault.context_path)
        return tuple(made)

    def check(self, *, fix: bool = False, also: Iterable[Problem] = ()) -> Report:
        """Look for what is wrong with the files; with ``fix``, mend what can be mended without losing anything.

        ``also`` is what others have found wrong with files that are no notes.
        """
        from co_cli.doctor import examine

        linked, gone = self._readable()
        return examine(self.vaults, self.places.cache, fix=fix, also=(*also, *gone), linked=linked[len(self.vaults) :])

    def reindex(self, progress: Callable[[str, int, int], None] | None = None) -> tuple[Rebuilt, ...]:
        """Make the indexes anew from the notes, with their vectors; interrupted, the next try goes on."""
        from co_cli.retrieval.ranked import rebuild

        return rebuild(self._readable()[0], search_means(self.places, self.settings())._replace(progress=progress))

    def sync(self, progress: Callable[[str, int, int], None] | None = None) -> Mapping[str, SyncReport]:
        """Bring the indexes in line with the notes, vectors and all, as a search does by itself; by the vault's name."""
        from co_cli.retrieval.ranked import Searcher

        means = search_means(self.places, self.settings())._replace(progress=progress)
        with Searcher(self._readable()[0], means) as searcher:
            reports = searcher.refresh(by_meaning=means.embedder != "none", seconds=float("inf"))
            return {vault.name: report for vault, report in zip(searcher.vaults, reports, strict=True)}

    def coverage(self) -> Mapping[str, Coverage]:
        """How far the index of each vault knows its notes, by the vault's name; nothing is changed by looking."""
        from co_cli.coverage import coverage

        return {vault.name: coverage(vault, self.places.cache) for vault in self.vaults}

    def mode(self) -> str:
        """The way of searching where none is asked for: the one that is set or, for ``auto``, what that means now."""
        settings = self.settings()
        chosen = settings.value("mode")
        return tier(self._readable()[0], search_means(self.places, settings)) if chosen == "auto" else chosen
