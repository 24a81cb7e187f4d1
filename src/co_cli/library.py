"""The library: pages and files that were taken in. The verbs of the knowledge base about articles and their originals.

Owns which vault an article goes to, and that an article and its original are one change. Knows nothing of where texts come
from, of memories, search or prompts; :class:`co_cli.knowledge.KnowledgeBase` is made of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from co_cli.errors import CoError, Conflict
from co_cli.note import ARTICLE, GLOBAL, Note, clean_tags
from co_cli.shelf import Listing, Saved, Shelf

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from co_cli.article import Details, Incoming, Sources
    from co_cli.attachment import Attachment, Usage
    from co_cli.draft import Draft
    from co_cli.settings import Places
    from co_cli.vault import Vault


_PORTION = 60.0
"""Seconds that one look at the files holds for while many articles are kept at once."""


class Library(Shelf):
    """The articles of one user and one project."""

    def __init__(self, places: Places, vaults: tuple[Vault, ...]) -> None:
        super().__init__(places, vaults)
        self._known_sources: dict[str, Sources] = {}

    @property
    def _sources(self) -> Mapping[str, Sources]:
        if not self._known_sources:
            from co_cli.article import Sources

            self._known_sources.update((vault.name, Sources(vault)) for vault in self.vaults)
        return self._known_sources

    def save_article(  # noqa: PLR0913 - one argument a field of an article, by name
        self,
        content: str,
        *,
        source: str,
        title: str = "",
        tags: Iterable[str] = (),
        fetched: str = "",
        sha256: str = "",
        attachment: Attachment | None = None,
        etag: str = "",
        last_modified: str = "",
        author: str = "",
        date: str = "",
        private: bool = False,
        in_global: bool = False,
        name: str = "",
    ) -> Saved:
        """Keep a page or a file, with its original where it has one.

        The same source again updates its article, and the old text is in the journal; where the original is the same,
        its text stays.
        """
        from co_cli.article import Incoming

        incoming = Incoming(
            content,
            source,
            title=title,
            titled=True,
            tags=clean_tags(tags),
            fetched=fetched,
            sha256=sha256,
            attachment=attachment,
            etag=etag,
            last_modified=last_modified,
            author=author,
            date=date,
            private=private,
            name=name,
        )
        (saved,) = self.save_articles([incoming], in_global=in_global)
        if isinstance(saved, CoError):
            raise saved
        return saved

    def save_articles(self, incoming: Iterable[Incoming], *, in_global: bool = False) -> tuple[Saved | CoError, ...]:
        """Keep several at once, as one change of each vault; one that cannot be kept keeps none of the others out."""
        from co_cli import article

        outcomes: dict[int, Saved | CoError] = {}
        places: dict[str, list[tuple[int, Incoming]]] = {}
        for number, each in enumerate(incoming):
            try:
                checked = article.check(each)
            except CoError as error:
                outcomes[number] = error
                continue
            age = _PORTION if places else 0.0
            vault = article.home(self.vaults, self._sources, checked.source, in_global=in_global, age=age)
            places.setdefault(vault.name, []).append((number, checked))
        for name, mine in places.items():
            outcomes.update(self._saved(self.vault(name), mine))
        return tuple(outcome for _, outcome in sorted(outcomes.items(), key=lambda item: item[0]))

    def _saved(self, vault: Vault, incoming: Sequence[tuple[int, Incoming]]) -> dict[int, Saved | CoError]:
        from co_cli import article, attachment

        outcomes: dict[int, Saved | CoError] = {}
        taken: set[str] = set()
        twice: dict[str, int] = {}
        with vault.change("article") as draft:
            for number, each in incoming:
                if each.source in twice:  # the same once more
                    continue
                twice[each.source] = number
                try:
                    # once the vault is locked, one look is enough for all
                    known = self._sources[vault.name].find(each.source, _PORTION if len(twice) > 1 else 0.0)
                    outcomes[number] = Saved(*article.write(draft, vault, each, known, taken))
                except CoError as error:
                    outcomes[number] = error
            attachment.settle(draft, vault)
            self._leave_out_of_git(draft, vault)
            done = [(each.note, each.outcome) for each in outcomes.values() if isinstance(each, Saved)]
            draft.summary = article.summary([each for each in done if each[1] != "unchanged"])
        for number, each in incoming:
            if number not in outcomes:
                first = outcomes[twice[each.source]]
                outcomes[number] = first._replace(outcome="unchanged") if isinstance(first, Saved) else first
        return outcomes

    def articles(self, *, tags: Iterable[str] = (), archived: bool = False) -> Listing:
        """All articles, by their names."""
        wanted = {tag.casefold() for tag in clean_tags(tags)}
        scans = [vault.scan((ARTICLE,), archived=archived) for vault in self.vaults]
        notes = [note for scan in scans for note in scan.notes if wanted <= {tag.casefold() for tag in note.tags}]
        problems = tuple(problem for scan in scans for problem in scan.problems)
        return Listing(tuple(sorted(notes, key=lambda note: (note.slug.casefold(), note.vault))), problems)

    def article(self, name: str) -> Note:
        """The article that a slug, a ref or a source names; the project's before that of all projects."""
        from co_cli import article

        return article.named(self.vaults, self._sources, name)

    def article_from(self, source: str, *, in_global: bool = False, age: float = 0.0) -> Note | None:
        """The article that was taken from a source, also if it is in the archive; ``None`` if there is none.

        Who asks often may say how many seconds ago the files may have been looked at last.
        """
        vaults = [vault for vault in self.vaults if vault.name == GLOBAL or not in_global]
        return next((note for note in (self._sources[vault.name].find(source, age) for vault in vaults) if note), None)

    def details(self, note: Note) -> Details:
        """What an article says of where it comes from."""
        from co_cli import article

        return article.details(note)

    def originals(self) -> Mapping[str, Usage]:
        """How many originals each vault has, and how much room they take."""
        from co_cli import attachment

        return {vault.name: attachment.usage(vault) for vault in self.vaults}

    def original(self, note: Note) -> bytes | None:
        """The original of an article as it came; ``None`` where there is none."""
        from co_cli import article, attachment

        return attachment.content(self.vault(note.vault), article.details(note).attachment)

    # ---------------------------------------------------------------------------------------------- for the other verbs

    def _put_in_place(self, draft: Draft, vault: Vault, before: Note, after: Note) -> Note:
        """Put a revised note in place of the one that was read."""
        from co_cli import article, memory

        if before.kind != ARTICLE:
            return memory.replace(draft, vault, before, after)
        after = article.replace(draft, vault, before, after)
        self._settle_originals(draft, vault, [before])
        self._leave_out_of_git(draft, vault)
        return after

    def _settle_originals(self, draft: Draft, vault: Vault, notes: Iterable[Note]) -> None:
        """Where notes are removed or changed: let the originals go that nothing uses any more."""
        if any(note.kind == ARTICLE for note in notes):
            from co_cli import attachment

            attachment.settle(draft, vault)

    def _bring_original(self, draft: Draft, vault: Vault, note: Note) -> None:
        """Take the original of an article along to another vault, where it has the same name, which tells its content."""
        raw = self.original(note) if note.kind == ARTICLE else None
        if raw is None:
            return
        from co_cli import attachment

        name = self.details(note).attachment
        known = attachment.content(vault, name)
        if known not in (None, raw):
            raise Conflict(f"{name} is another file there.", f"Add the document itself: co article add {note.source}")
        if known is None:
            attachment.bring_back(draft, vault, name, raw)
        if note.private:
            attachment.leave_out_of_git(draft, vault)

    def _leave_out_of_git(self, draft: Draft, vault: Vault) -> None:
        from co_cli import attachment

        attachment.leave_out_of_git(draft, vault)
