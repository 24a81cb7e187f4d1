"""Ranked search through the indexes: by words, by meaning, or by both.

Owns the indexes while they are open: bringing them up to date before a query, making a damaged one anew, and doing with less
where vectors cannot be had. Knows nothing of how hits are scored or shown.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import CoError, Unavailable
from co_cli.index.database import Damaged, unusable
from co_cli.retrieval.candidates import Answer, Meaning, Source, ask, understand
from co_cli.retrieval.hit import Recalled
from co_cli.sync import embed, known_problems, open_index, sync

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import TracebackType

    from co_cli.coverage import Coverage
    from co_cli.embedding import Embedder
    from co_cli.note import Note, Problem
    from co_cli.query import Query
    from co_cli.retrieval.hit import Filter, Means
    from co_cli.retrieval.neighbours import Neighbour
    from co_cli.sync import SyncReport
    from co_cli.vault import Vault

_EMBEDDING_SECONDS = 3.0
"""How long a query waits for passages that have no vector yet."""

_ATTEMPTS = 4
"""How often an index is made anew for one question: many processes may find the same damage at once."""

BY_MEANING = ("vector", "hybrid")


def retrieve_ranked(
    vaults: Sequence[Vault], query: Query, *, mode: str, limit: int, only: Filter, means: Means
) -> Recalled | None:
    """Answer a query from the indexes; ``None`` where it holds no term that an index could know."""
    asked = understand(query)
    if not asked.terms:
        return None
    with Searcher(vaults, means) as searcher:
        searcher.refresh(by_meaning=mode in BY_MEANING)
        return searcher.search(query, mode=mode, limit=limit, only=only)


class Rebuilt(NamedTuple):
    """What became of the index of a vault that was made anew."""

    vault: str
    report: SyncReport
    coverage: Coverage
    seconds: float
    notices: tuple[str, ...]
    """What people should know, such as why there are no vectors."""


def rebuild(vaults: Sequence[Vault], means: Means) -> tuple[Rebuilt, ...]:
    """Make the index of each vault anew, with its vectors."""
    from co_cli.coverage import coverage

    done = []
    for vault in vaults:
        started = time.monotonic()
        with Searcher((vault,), means) as searcher:
            for report in searcher.rebuild(by_meaning=means.embedder != "none"):
                seconds, known = time.monotonic() - started, coverage(vault, means.cache)
                done.append(Rebuilt(vault.name, report, known, seconds, tuple(searcher.notices)))
    return tuple(done)


class Searcher:
    """The indexes of some vaults, open to be asked; to be used in a ``with`` statement."""

    def __init__(self, vaults: Sequence[Vault], means: Means) -> None:
        self.vaults = [vault for vault in vaults if os.path.isdir(vault.root)]
        self.means = means
        self.sources: list[Source] = []
        self.embedder: Embedder | None = None
        self.degraded: dict[str, None] = {}
        self.notices: dict[str, None] = {}
        self.problems: dict[Problem, None] = {}
        self.reports: list[SyncReport] = []

    def __enter__(self) -> Searcher:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the indexes."""
        for source in self.sources:
            source.index.close()
        self.sources.clear()

    # ------------------------------------------------------------------------------------------------ bringing up to date

    def refresh(self, *, by_meaning: bool, seconds: float = _EMBEDDING_SECONDS) -> tuple[SyncReport, ...]:
        """Bring the indexes in line with the files; one that is damaged is made anew. Says what was done in each vault."""
        self._mending(lambda: self._refresh(by_meaning=by_meaning, seconds=seconds))
        return tuple(self.reports)

    def rebuild(self, *, by_meaning: bool) -> tuple[SyncReport, ...]:
        """Make the indexes anew from the notes, vectors and all; goes on where an earlier rebuild was broken off."""
        from co_cli.coverage import begin_anew, end_anew

        self.close()
        for vault in self.vaults:
            begin_anew(vault, self.means.cache, by_meaning=by_meaning)
        reports = self.refresh(by_meaning=by_meaning, seconds=float("inf"))
        for source in self.sources:
            end_anew(source.index)
        return reports

    def _refresh(self, *, by_meaning: bool, seconds: float) -> None:
        self.problems.clear()
        self.reports.clear()
        if not self.sources:
            for vault in self.vaults:
                self.sources.append(Source(vault, open_index(vault, self.means.cache)))
        for place, (vault, index, _unseen) in enumerate(self.sources):
            if index.rebuilt:
                self.degraded["index-rebuilt"] = None
            report = sync(vault, index, progress=self._progress("indexing"))
            self.sources[place] = Source(vault, index, frozenset(report.unseen))
            self.reports.append(report)
            # the problems of files that could be read are remembered; those of the others are found anew each time
            found = (*known_problems(vault, index), *report.problems)
            # what is no text in a folder of somebody else's is how they want it: `links` names it
            self.problems.update((each, None) for each in found if not (vault.read_only and each.code == "not-text"))
        if by_meaning:
            self._embed(seconds)

    def neighbours(self, notes: Iterable[Note]) -> Mapping[str, tuple[Neighbour, ...]]:
        """The notes that these are linked with, by the paths of these, as the files are now."""
        from co_cli.retrieval.neighbours import neighbours

        notes = tuple(notes)
        found: list[Mapping[str, tuple[Neighbour, ...]]] = []

        def work() -> None:
            self._refresh(by_meaning=False, seconds=0)
            found.append(neighbours(self.sources, notes))

        self._mending(work)
        return found[-1]

    def _mending(self, work: Callable[[], object]) -> None:
        """Do something with the indexes; one that turns out to be damaged is made anew, also where others do so as well."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                work()
                return
            except Damaged as damage:
                for source in self.sources:
                    if source.index.path == damage.path:
                        source.index.discard()
                self.close()
                self.degraded["index-rebuilt"] = None
                if attempt == _ATTEMPTS:
                    raise unusable(damage) from damage

    def _progress(self, what: str) -> Callable[[int, int], None] | None:
        progress = self.means.progress
        return (lambda done, total: progress(what, done, total)) if progress else None

    def _embed(self, seconds: float) -> None:
        """Open the model and give it what it has not seen; without one, words have to do."""
        from co_cli.embedding import Choice, open_embedder
        from co_cli.index import vectors

        try:
            if not all(vectors.available(source.index) for source in self.sources):
                raise Unavailable("sqlite-vec is not installed, or cannot be loaded.", "Install it: pip install sqlite-vec")
            if self.embedder is None:
                choice = Choice(self.means.embedder, self.means.embedding_url, self.means.embedding_model)
                self.embedder = open_embedder(choice, self.means.cache)
            if self.embedder is None:
                raise Unavailable("No embedder is set.", "Choose one: co config set embedder static")
            for vault, index, _unseen in self.sources:
                if embed(vault, index, self.embedder, seconds=seconds, progress=self._progress("embedding")):
                    self.degraded["vectors-rebuilt"] = None
        except CoError as error:
            self._do_without_vectors(error)

    def _do_without_vectors(self, error: CoError) -> None:
        self.embedder = None
        self.degraded["semantic-unavailable"] = None
        self.notices[f"Searched by words only. {error.message} {error.hint}".strip()] = None

    # --------------------------------------------------------------------------------------------------------------- asking

    def search(self, query: Query, *, mode: str, limit: int, only: Filter) -> Recalled:
        """Answer a query from the indexes as they are."""
        asked = understand(query)
        answers: list[Answer] = []

        def work() -> None:
            if not self.sources:  # it has been thrown away, since it was damaged
                self._refresh(by_meaning=mode in BY_MEANING, seconds=_EMBEDDING_SECONDS)
            meaning = self._meaning(query) if mode in BY_MEANING else None
            answers.append(ask(self.sources, asked, meaning, mode=mode, limit=limit, only=only, means=self.means))

        self._mending(work)
        answer = answers[-1]
        degraded = (*self.degraded, *answer.degraded)
        problems = tuple(problem for problem in self.problems if _is_of(problem, only.kinds, self.vaults))
        return Recalled(
            query.text, answer.mode, answer.hits, degraded, problems, answer.total, (*self.notices, *answer.notices)
        )

    def _meaning(self, query: Query) -> Meaning | None:
        """The vector of a query; ``None`` where there is none, so that words have to do."""
        if self.embedder is None:
            return None
        from co_cli.index import vectors

        try:
            vector = self.embedder.embed_query(query.text)
        except CoError as error:
            self._do_without_vectors(error)
            return None
        return Meaning(vectors.quantise([vector])[0], self.embedder.name) if vector else None


def _is_of(problem: Problem, kinds: Sequence[str], vaults: Sequence[Vault]) -> bool:
    path = os.path.join(problem.path, "")  # the folder itself may be what cannot be read
    return any(path.startswith(vault.path_of(kind, "")) for vault in vaults for kind in kinds)
