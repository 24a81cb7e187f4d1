"""The shelf: what everybody shares. The verbs of the knowledge base about topics, seed documents, and what agents use.

Owns which vault a topic goes to, when seed documents are loaded, and what is open of the log of calls. Knows nothing of
memories, search or prompts; :class:`co_cli.knowledge.KnowledgeBase` is made of it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import CoError
from co_cli.note import Note, Problem
from co_cli.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from co_cli.seed import Changed as ChangedSeed
    from co_cli.seed import Seeding
    from co_cli.settings import Places, Settings
    from co_cli.survey import Survey, ToolCall
    from co_cli.usage import UsageLog
    from co_cli.vault import Vault


class Saved(NamedTuple):
    """What became of a text that was to be kept."""

    note: Note
    outcome: str
    """``created``, ``updated``, or ``unchanged`` where a note already says it."""


class Listing(NamedTuple):
    """Notes, with the files that could not be read as such."""

    notes: tuple[Note, ...]
    problems: tuple[Problem, ...]


class Shelf:
    """The shared documents of one user and one project."""

    def __init__(self, places: Places, vaults: tuple[Vault, ...]) -> None:
        self.places = places
        self.vaults = vaults
        self.progress: Callable[[str, int, int], None] | None = None
        """Who is told of what takes long, where the verb is not given anybody; see :meth:`KnowledgeBase.recall`."""
        self._gone: list[Note] = []
        """Notes that were removed, and of which something derived may be left."""
        self._usage: UsageLog | None = None
        self._seeded = False

    @property
    def _rehearses(self) -> bool:
        """Whether changes are only noted: then nothing that is derived from the files is touched either."""
        return any(vault.rehearses for vault in self.vaults)

    def vault(self, name: str) -> Vault:
        """The vault of this name: ``project`` or ``global``."""
        return next(vault for vault in self.vaults if vault.name == name)

    def settings(self) -> Settings:
        """The settings in force."""
        return load_settings(self.places)

    def write_topic(
        self,
        name: str,
        content: str,
        *,
        tags: Iterable[str] | None = None,
        source: str = "user",
        in_global: bool = False,
        created: str = "",
        updated: str = "",
        expected_sha: str | None = None,
    ) -> Saved:
        """Write a shared document. A topic that is there under this name or one like it gets the new text, and the new tags
        if there are any; it keeps its ``created``, and its old text is in the journal.

        With ``expected_sha`` the change is refused where the topic is no longer the one that was read; ``""`` says that
        there was none.
        """
        from co_cli import topic

        vault, slug = topic.home(self.vaults, name, in_global=in_global)
        with vault.change("topic") as draft:
            fields = {"source": source, "created": created, "updated": updated}
            return Saved(*topic.write(draft, vault, slug, content, tags=tags, expected_sha=expected_sha, **fields))

    def topic(self, name: str) -> Note:
        """The topic that a name means, however it is spelt; the project's before that of all projects."""
        from co_cli import topic

        self._sow()
        return topic.named(self.vaults, name)

    def load_seeds(self) -> Seeding:
        """Make topics of seed documents that are new. The first verb that looks for topics does this by itself."""
        from co_cli import seed

        self._seeded = True
        return seed.load(self.vaults, self._seed_folders(), self.places.state)

    def changed_seeds(self) -> tuple[tuple[ChangedSeed, ...], tuple[Problem, ...]]:
        """The seed documents that are no longer what was taken of them, and those that cannot be read."""
        from co_cli import seed

        return seed.changed(self.vaults, self._seed_folders(), self.places.state)

    def take_seeds(self, names: Iterable[str] = ()) -> Seeding:
        """Take seed documents that changed, where nobody touched their topics; those named are taken in any case."""
        from co_cli import seed

        return seed.take(self.vaults, self._seed_folders(), self.places.state, names)

    def _seed_folders(self, settings: Settings | None = None) -> tuple[str, ...]:
        """The folders of seed documents that are set, beside those of the vaults."""
        folders = (settings or self.settings()).value("seed_folders").split(os.pathsep)
        return tuple(os.path.join(self.places.home, os.path.expanduser(folder)) for folder in folders if folder.strip())

    def _sow(self, settings: Settings | None = None) -> tuple[Problem, ...]:
        """Load new seeds, once in a life; what stands in the way is a problem, and keeps nobody from what there is."""
        if self._seeded:
            return ()
        self._seeded = True
        extra, state = self._seed_folders(settings), self.places.state
        if not any(map(os.path.isdir, (*extra, *(vault.seed_folder for vault in self.vaults)))):
            return ()
        from co_cli import seed

        try:
            return () if seed.is_settled(self.vaults, extra, state) else seed.load(self.vaults, extra, state).problems
        except CoError as error:
            return (Problem(self.places.state, f"seed documents are not loaded: {error.message}", hint=error.hint),)

    def log_call(self, call: ToolCall) -> str:
        """Note that a tool was called, with the notes that came back; returns what there is to say of the log, once."""
        from co_cli.survey import logged

        kept = bool(call.arguments) and self.settings().value("log_arguments") == "yes"
        return self._log.record(logged(self.vaults, call, arguments=kept))

    def usage(self, days: int = 30) -> Survey:
        """What agents called in the last days, which notes came back, and which never did."""
        from co_cli.survey import survey

        return survey(self.vaults, self._log, days)

    @property
    def _log(self) -> UsageLog:
        if self._usage is None:
            from co_cli.usage import UsageLog

            self._usage = UsageLog(self.places.usage_log)
        return self._usage
