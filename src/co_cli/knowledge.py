"""The knowledge base: one façade over the global vault and the project's.

Owns what the verbs mean: which vault a note goes to, what counts as the same note, what is refused. The command line, the
tools of agents, MCP and the web are thin layers over exactly these verbs. Knows nothing of any of them.

Every verb is synchronous, returns records that cannot be changed, and raises :class:`co_cli.errors.CoError`.
"""

from __future__ import annotations

import os
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from co_cli.custody import Forgotten, Moved, Purged
from co_cli.errors import Conflict, Invalid, NotFound
from co_cli.languages import Languages
from co_cli.note import (
    ARTICLE,
    CONTEXT,
    FOLDERS,
    GLOBAL,
    MEMORY,
    PROJECT,
    TOPIC,
    Note,
    Problem,
    clean_tags,
    is_expired,
    parse_ref,
    render_memory,
)
from co_cli.retrieval import ALL, PHRASE, Filter, Hit, Means, Recalled, Why, retrieve
from co_cli.settings import Places, find_places
from co_cli.shelf import Listing, Saved
from co_cli.upkeep import Upkeep, search_means
from co_cli.vault import Vault, open_vaults

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from co_cli.citation import Part
    from co_cli.context import Context
    from co_cli.coverage import Coverage
    from co_cli.doctor import Finding, Report
    from co_cli.journal import Change
    from co_cli.linking import Link, LinkState
    from co_cli.prompt import Prompt
    from co_cli.rehearsal import Rehearsal
    from co_cli.retrieval.neighbours import Neighbour
    from co_cli.retrieval.ranked import Rebuilt
    from co_cli.seed import Changed as ChangedSeed
    from co_cli.seed import Seeding
    from co_cli.survey import Survey, ToolCall
    from co_cli.sync import SyncReport

__all__ = [
    "ARTICLE",
    "CONTEXT",
    "GLOBAL",
    "MEMORY",
    "PROJECT",
    "TOPIC",
    "Change",
    "ChangedSeed",
    "Context",
    "Coverage",
    "FileChange",
    "Finding",
    "Forgotten",
    "Hit",
    "KnowledgeBase",
    "Link",
    "LinkState",
    "Listing",
    "LoggedChange",
    "Means",
    "Moved",
    "Neighbour",
    "Note",
    "Part",
    "Places",
    "Problem",
    "Prompt",
    "Purged",
    "Rebuilt",
    "Recalled",
    "Report",
    "Saved",
    "Seeding",
    "Survey",
    "SyncReport",
    "ToolCall",
    "Vault",
    "Why",
    "is_expired",
    "open_knowledge",
    "open_knowledge_at",
    "search_means",
]


class FileChange(NamedTuple):
    """What would become of a file; ``None`` stands for no file."""

    path: str
    before: bytes | None
    after: bytes | None


class LoggedChange(NamedTuple):
    """A change with its place in the log: 1 is the newest."""

    position: int
    id: str
    """Its lasting name: ``p12`` in the project's journal, ``g3`` in the global one."""
    vault: str
    change: Change


class KnowledgeBase(Upkeep):
    """The notes of one user and one project."""

    def rehearse(self, action: Callable[[KnowledgeBase], object]) -> tuple[FileChange, ...]:
        """What an action would do to which files, without doing it; its errors are raised as they would be."""
        return _file_changes(self._rehearsed(action)[0])

    def as_one(self, action: Callable[[KnowledgeBase], object], operation: str, summary: str) -> tuple[FileChange, ...]:
        """Do all that an action does as one change of each vault that it concerns: at once or not at all, and so undone.

        The action is rehearsed, so that nothing is written where it fails, and once more when nobody else can write.
        """
        from contextlib import ExitStack

        concerned = [vault.name for vault in self._rehearsed(action)[0] if vault.steps]
        with ExitStack() as held:
            locks = {name: held.enter_context(ExitStack()) for name in concerned}  # in the order in which all take them
            drafts = {name: locks[name].enter_context(self.vault(name).change(operation)) for name in concerned}
            vaults, gone = self._rehearsed(action)
            for vault in vaults:
                if vault.steps and vault.name not in drafts:
                    raise Conflict("The notes were changed meanwhile.", "Nothing was written. Try again.")
                if vault.name in drafts:
                    vault.hand_over(drafts[vault.name])
                    drafts[vault.name].summary = summary
            leaving = {note.vault for note in gone}
            for name in sorted(concerned, key=lambda name: name in leaving):
                locks[name].close()  # what a note moves to is written first: whoever dies between has it twice, not lost
        self._let_go(gone)
        return _file_changes(vaults)

    def _rehearsed(self, action: Callable[[KnowledgeBase], object]) -> tuple[tuple[Rehearsal, ...], list[Note]]:
        """The vaults as they would be after an action, and the notes that would be gone."""
        from co_cli.rehearsal import Rehearsal

        vaults = tuple(map(Rehearsal, self.vaults))
        rehearsal = KnowledgeBase(self.places, vaults)
        rehearsal._seeded = True  # seeds are taken for good, or not at all
        action(rehearsal)
        return vaults, rehearsal._gone

    # ----------------------------------------------------------------------------------------------------------- keeping

    def save(  # noqa: PLR0913 - one argument a field of a memory, by name
        self,
        content: str,
        *,
        tags: Iterable[str] = (),
        in_global: bool = False,
        category: str = "",
        key: str = "",
        language: str = "",
        expires: str = "",
        pinned: bool = False,
        private: bool = False,
        source: str = "user-told",
        created: str = "",
        force: bool = False,
    ) -> Saved:
        """Keep a small fact.

        A text that a memory already holds makes no twin: that memory gets the tags and marks that it lacks. One with the
        category and key of another replaces its text. ``force`` adds a twin all the same, and keeps what looks like a
        secret, as a private memory. What is about a programming language is for all projects in that language.
        """
        from co_cli import memory

        content = memory.check_content(content)
        fields = memory.check_fields(
            content,
            tags=clean_tags(tags),
            source=source,
            category=category,
            key=key,
            language=language,
            expires=expires,
            pinned=pinned,
            private=private,
            force=force,
        )
        vault = self.vault(GLOBAL if in_global or language else PROJECT)
        with vault.change("learn") as draft:
            keyed = memory.keyed(vault, category, key, language) if key else None
            known = keyed or (None if force else self._holder(vault, content, key, language))
            if known and known.vault != vault.name:
                return Saved(known, "unchanged")
            if known:
                note = memory.enriched(known, content if keyed else None, fields)
                if note.raw == known.raw:
                    return Saved(known, "unchanged")
                draft.summary = f"updated {note.label}"
                return Saved(memory.replace(draft, vault, known, note), "updated")
            memory_id = vault.next_id()
            raw = render_memory({"id": memory_id, "created": created or memory.now(), **fields}, content)
            path = vault.memory_path(memory_id, content, private=bool(fields["private"]))
            note = memory.reread(raw, kind=MEMORY, vault=vault.name, path=path)
            draft.create(path, raw)
            draft.summary = f"learned {note.label}"
        return Saved(note, "created")

    def _holder(self, vault: Vault, content: str, key: str, language: str) -> Note | None:
        """The memory that says this already; what is saved for one project may be known for all.

        A text with a key is to be found by it in its own vault, so there it has a memory of its own. One that is for a
        programming language alone says nothing to those who work in another.
        """
        from co_cli import memory
        from co_cli.languages import Languages, language_name

        here = Languages(self.places.project, self.settings().value("languages")) if vault.name == PROJECT else ()

        def is_for_them(note: Note) -> bool:
            return language_name(note.language) in ("", language_name(language)) or note.language in here

        others = self.vaults if vault.name == PROJECT and not key else ()
        vaults = [vault, *(other for other in others if other is not vault)]
        found = chain.from_iterable(memory.twins(each, content) for each in vaults)
        return next((note for note in found if not (key and note.key) and is_for_them(note)), None)

    def update(
        self,
        ref: str,
        *,
        content: str | None = None,
        tags: Iterable[str] | None = None,
        pinned: bool | None = None,
        private: bool | None = None,
        expires: str | None = None,
        text: str | None = None,
        expected_sha: str | None = None,
        force: bool = False,
    ) -> Saved:
        """Change parts of a note, or with ``text`` the whole document; what is not named stays, byte for byte.

        With ``expected_sha`` the change is refused where the file is no longer the one that was read.
        """
        from co_cli import memory

        note = self.named(ref)
        vault = self.vault(note.vault)
        if pinned:
            self._check_pinnable(note)
        memory.check_words(text or "", content or "")
        if expected_sha is not None and note.sha != expected_sha:
            raise memory.changed_meanwhile(note, text or content or "")
        fields: dict[str, object | None] = {}
        if tags is not None:
            fields["tags"] = [*clean_tags(tags)]
        if expires is not None:
            fields["expires"] = memory.parse_expiry(expires) or None
        if pinned is not None:
            fields["pinned"] = pinned or None
        if private is not None:
            fields["private"] = private or None
        if memory.needs_privacy(note, text, content, private=private, force=force):
            fields["private"] = True
        after = memory.revise(note, text=text, content=content, fields=fields)
        if after.raw == note.raw:
            return Saved(note, "unchanged")
        with vault.change("edit") as draft:
            draft.summary = f"{memory.name_revision(note, after)} {after.label}"
            return Saved(self._put_in_place(draft, vault, note, after), "updated")

    def _check_pinnable(self, note: Note) -> None:
        if note.kind != MEMORY:
            hint = "Keep what matters of it as a memory: co learn"
            raise Invalid(f"{note.ref} cannot be pinned: only memories are.", hint)
        if self.vault(note.vault).is_archived(note):
            hint = f"Bring it back first: co knowledge --restore {note.ref}"
            raise Conflict(f"{note.ref} is in the archive: no prompt would have it.", hint)

    # ----------------------------------------------------------------------------------------------------------- finding

    def recall(
        self,
        query: str,
        *,
        limit: int = 5,
        mode: str = "",
        kinds: Iterable[str] = (),
        tags: Iterable[str] = (),
        expired: bool = False,
        superseded: bool = False,
        linked: bool = True,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Recalled:
        """Find notes by what they say, also in linked folders; expired and superseded ones are left out unless asked for.

        Without a mode it is the one of the settings. ``progress`` is told what is being done, how much of it is done, and
        how much there is, where an index has to be made first.
        """
        chosen = tuple(kinds) or tuple(FOLDERS)
        for kind in chosen:
            if kind not in FOLDERS:
                raise Invalid(f"There is no kind {kind!r}.", f"Kinds: {', '.join(FOLDERS)}.")
        only = Filter(chosen, tags=clean_tags(tags), expired=expired, superseded=superseded)
        settings = self.settings()
        only = only._replace(languages=Languages(self.places.project, settings.value("languages"), said=query))
        problems = self._sow(settings)
        means = search_means(self.places, settings)._replace(progress=progress or self.progress)
        vaults, gone = self._readable(chosen) if linked else (self.vaults, ())
        found = retrieve(vaults, query, mode=mode or settings.value("mode"), limit=limit, only=only, means=means)
        hits = tuple(map(self._with_claims_checked, found.hits))
        return found._replace(problems=(*found.problems, *problems, *gone), hits=hits)

    def _with_claims_checked(self, hit: Hit) -> Hit:
        """Say of a memory of this project what it takes for granted and is not so any more, as far as a quick look tells."""
        if hit.note.kind != MEMORY or hit.note.vault != PROJECT or not ("/" in hit.content or "`" in hit.content):
            return hit
        from co_cli.claims import broken_claims

        return hit._replace(stale=tuple(map(str, broken_claims(self.places.project, hit.content))))

    def neighbours(self, notes: Iterable[Note]) -> Mapping[str, tuple[Neighbour, ...]]:
        """The notes that these are linked with, in both directions, by the paths of these."""
        from co_cli.retrieval.ranked import Searcher

        with Searcher(self._readable()[0], search_means(self.places, self.settings())) as searcher:
            return searcher.neighbours(notes)

    def list(
        self,
        kinds: Iterable[str] = (MEMORY,),
        *,
        tags: Iterable[str] = (),
        category: str = "",
        key: str = "",
        archived: bool = False,
    ) -> Listing:
        """All notes of these kinds, by vault and id."""
        only = Filter(tuple(kinds), clean_tags(tags), category, key, expired=True)
        notes: list[Note] = []
        problems: list[Problem] = [*self._sow()] if TOPIC in only.kinds else []
        for vault in self.vaults:
            scan = vault.scan(only.kinds, archived=archived)
            notes.extend(sorted(filter(only.admits, scan.notes), key=lambda note: (note.id or 0, note.kind, note.slug)))
            problems.extend(scan.problems)
        return Listing(tuple(notes), tuple(problems))

    def match(self, text: str) -> tuple[Note, ...]:
        """The notes that a person means by a few of their words: those with the phrase, else those with all the words.

        Words count as a whole here: who forgets "all" does not mean what is small.
        """
        from co_cli.retrieval.grep import is_whole

        found = [
            hit
            for hit in self.recall(text, limit=1000, mode="grep", expired=True, superseded=True, linked=False).hits
            if is_whole(hit)
        ]
        for match in (PHRASE, ALL):
            notes = tuple(hit.note for hit in found if hit.why.match == match)
            if notes:
                return notes
        return ()

    # ------------------------------------------------------------------------------------------------------------- topics

    def topics(self, *, tags: Iterable[str] = ()) -> Listing:
        """All topics, by their names."""
        found = self.list((TOPIC,), tags=tags)
        return found._replace(
            notes=tuple(sorted(found.notes, key=lambda note: (note.slug.casefold(), note.vault == GLOBAL)))
        )

    def search_topics(self, query: str, *, limit: int = 5, mode: str = "") -> Recalled:
        """Find topics by what they say."""
        return self.recall(query, limit=limit, mode=mode, kinds=(TOPIC,))

    def delete_topic(self, name: str) -> Note:
        """Remove a topic; ``undo`` brings it back."""
        return self.forget(self.topic(name).ref).notes[0]

    def delete_article(self, name: str) -> Note:
        """Remove an article, and its original where nothing else uses it; ``undo`` brings both back."""
        return self.forget(self.article(name).ref).notes[0]

    # -------------------------------------------------------------------------------------------------------- taking back

    def log(self, limit: int = 20) -> tuple[LoggedChange, ...]:
        """The last changes of both vaults, newest first."""
        if limit < 1:
            raise Invalid("The number of changes must be 1 or more.", "Leave it out for the last 20.")
        changes = [(vault, change) for vault in self.vaults for change in vault.changes()]
        changes.sort(key=lambda pair: (pair[1].at, pair[1].number), reverse=True)
        return tuple(
            LoggedChange(position, f"{vault.name[0]}{change.number}", vault.name, change)
            for position, (vault, change) in enumerate(changes[:limit], start=1)
        )

    def undo(self, which: str = "") -> LoggedChange:
        """Take a change back: the newest that still stands, or the one with this position in the log, or this id."""
        changes = self.log(limit=1_000_000)
        if not which:
            standing = (entry for entry in changes if not (entry.change.undone or entry.change.struck))
            found = next((entry for entry in standing if entry.change.undoes is None), None)
            if found is None:
                raise NotFound("There is nothing to undo.", "`co log` lists the changes.")
        else:
            found = next((entry for entry in changes if which.lstrip("#") in (str(entry.position), entry.id)), None)
            if found is None:
                raise NotFound(f"There is no change {which}.", "`co log` lists the changes.")
        from co_cli import reversal

        vault = self.vault(found.vault)
        reversal.undo(vault, found.change.number)
        if not self._rehearses:
            from co_cli import sync

            sync.forget(vault, self.places.cache, (os.path.join(vault.root, path) for path in found.change.paths))
        return found

    # ----------------------------------------------------------------------------------------------------- what is loaded

    def context(self, *, private: bool = False, window: int = 0) -> Context:
        """What is always loaded into a prompt, and how it fits its budget; for a model whose window has so many tokens."""
        from co_cli.context import load_context

        self._sow()
        return load_context(self.places, self.vaults, self.settings(), private=private, window=window)

    def prompt(
        self, provider: str | None = None, personality: str | None = None, *, private: bool = False, window: int = 0
    ) -> Prompt:
        """The assembled system prompt; with ``private`` also what must not leave this machine, if the provider is local."""
        from co_cli.prompt import build_prompt

        self._sow()
        return build_prompt(
            self.places, self.vaults, provider=provider, personality=personality, private=private, window=window
        )

    def personalities(self) -> Mapping[str, str]:
        """The names of all personalities, with the file of each."""
        from co_cli.prompt import personalities

        return personalities(self.places)

    def ref(self, text: str) -> str:
        """The ref that a text is, or an empty string where it is other words."""
        return text.strip() if parse_ref(text) or self._is_linked_ref(text) else ""


def _file_changes(vaults: Iterable[Rehearsal]) -> tuple[FileChange, ...]:
    from co_cli.draft import absolute

    return tuple(
        FileChange(absolute(vault.root, step.path), step.before, step.after) for vault in vaults for step in vault.steps
    )


def open_knowledge(project: str | os.PathLike[str] | None = None) -> KnowledgeBase:
    """Open the knowledge of a project (without one: of the project that the working directory is in) and the global one."""
    places = find_places(project)
    return KnowledgeBase(places, open_vaults(places))


def open_knowledge_at(*, home: str, state: str, project: str) -> KnowledgeBase:
    """Open knowledge that lies in just these folders, whatever the environment says."""
    state = os.path.abspath(state)
    places = Places(os.path.abspath(home), state, os.path.abspath(project), os.path.join(state, "cache"))
    return KnowledgeBase(places, open_vaults(places))
