"""Many notes at once: the notes of a vault held in memory, and what is to become of them in one change.

Owns looking notes up by id, text, key, name and source while others are being added, and giving ids and names to those that
are new. The rules for a single memory or topic are those of ``memory`` and ``topic``. Knows nothing of formats or surfaces.

Keeping a thousand memories one by one would read the vault a thousand times; a batch reads it once.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from co_cli import attachment, memory, topic
from co_cli.errors import Conflict
from co_cli.frontmatter import parse_frontmatter, render_document, replace_fields
from co_cli.languages import language_name
from co_cli.note import (
    ARTICLE,
    CONTEXT,
    FOLDERS,
    GLOBAL,
    MEMORY,
    TOPIC,
    Note,
    NoteError,
    Problem,
    claimed_ids,
    clean_tags,
    fold,
    numbers_in,
    parse_note,
    render_memory,
    slugify,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from co_cli.draft import Draft
    from co_cli.vault import Vault

CREATED, UPDATED, UNCHANGED = "created", "updated", "unchanged"


class Kept(NamedTuple):
    """What became of a text that was to be kept."""

    note: Note
    outcome: str


class Batch:
    """The notes of a vault, and what is to become of them; to be made and handed over while the vault is locked."""

    def __init__(self, vault: Vault, beside: Iterable[Vault] = ()) -> None:
        self.vault = vault
        self.problems: list[Problem] = []
        self._known: dict[str, Note] = {}
        self._before: dict[str, bytes | None] = {}
        self._after: dict[str, bytes | None] = {}
        self._taken: set[int] = set()
        self._texts: dict[str, list[str]] = {}
        self._keys: dict[tuple[str, str], list[str]] = {}
        self._slugs: dict[tuple[str, str], list[str]] = {}
        self._sources: dict[str, str] = {}
        self._births: dict[tuple[str, str], list[str]] = {}
        for archived in (False, True):
            for kind in FOLDERS:
                self._read(kind, archived=archived)
        self._next = vault.next_id()
        self._elsewhere = [note for other in beside for note in other.scan((MEMORY,)).notes]
        for note in self._elsewhere:
            self._texts.setdefault(fold(note.body), []).append(note.path)
            self._known[note.path] = note

    def _read(self, kind: str, *, archived: bool) -> None:
        for path, raw in self.vault.files(kind, self.problems, archived=archived):
            if kind == MEMORY:
                self._taken.update(claimed_ids(raw), numbers_in(path))
            try:
                self._learn(parse_note(raw, kind=kind, vault=self.vault.name, path=path))
            except NoteError as error:
                self.problems.append(error.problem)

    def _learn(self, note: Note) -> None:
        """Take a note among those that can be found."""
        self._known[note.path] = note
        if note.kind == MEMORY:
            self._taken.add(note.id or 0)
            self._texts.setdefault(fold(note.body), []).append(note.path)
            self._births.setdefault((note.created, bare_name(note)), []).append(note.path)
            if note.key:
                self._keys.setdefault((note.category, note.key), []).append(note.path)
        else:
            self._slugs.setdefault((note.kind, topic.essence(note.slug)), []).append(note.path)
            if note.kind == ARTICLE and note.source:
                self._sources.setdefault(note.source, note.path)

    # ----------------------------------------------------------------------------------------------------------- finding

    def notes(self, *kinds: str) -> list[Note]:
        """The notes of these kinds, the archive left out."""
        found = (note for note in self._known.values() if note.kind in kinds and note.vault == self.vault.name)
        return [note for note in found if not self.vault.is_archived(note)]

    def born(self, note: Note) -> list[Note]:
        """The memories that were written at the moment of this one and with its first words, whatever they say now."""
        name = bare_name(note)
        found = [self._known[path] for path in dict.fromkeys(self._births.get((note.created, name), ()))]
        return found if name and not note.private else [known for known in found if known.id == note.id]

    def at(self, path: str) -> Note | None:
        """The note in a file."""
        return self._known.get(path)

    def claim(self, number: int) -> None:
        """Keep an id for a memory that is to come."""
        self._taken.add(number)

    def is_free(self, number: int) -> bool:
        """Whether no memory has this id, nor a file that cannot be read might have it."""
        return number not in self._taken

    def twins(self, content: str) -> list[Note]:
        """The memories that say the same, but for case, white space and punctuation; those that stand, and of
        this vault, come first."""
        folded = fold(content)
        found = [self._known[path] for path in dict.fromkeys(self._texts.get(folded, ()))]
        same = [note for note in found if fold(note.body) == folded and not self.vault.is_archived(note)]
        return sorted(same, key=lambda note: (bool(note.superseded_by), note.vault != self.vault.name, note.id or 0))

    def keyed(self, category: str, key: str, language: str = "") -> Note | None:
        """The memory with this category, key and language; one that was replaced comes last, else the newest first."""
        wanted = (category, key, language_name(language))
        found = [self._known[path] for path in self._keys.get((category, key), ())]
        same = [note for note in found if (note.category, note.key, language_name(note.language)) == wanted]
        here = [note for note in same if not self.vault.is_archived(note)]
        return max(here, key=lambda note: (not note.superseded_by, note.id or 0), default=None)

    def put_away(self, content: str, key: str = "") -> Note | None:
        """The memory in the archive with this text and key."""
        found = (self._known[path] for path in self._texts.get(fold(content), ()))
        return next(
            (note for note in found if self.vault.is_archived(note) and (note.key, note.body) == (key, content)), None
        )

    def named(self, kind: str, slug: str) -> Note | None:
        """The topic or article of this name or one like it, the archive included; raises ``Conflict`` for several."""
        paths = dict.fromkeys(self._slugs.get((kind, topic.essence(slug)), ()))
        found = [self._known[path] for path in paths]
        exact = [note for note in found if note.slug == slug]
        found = exact or found
        here = [note for note in found if not self.vault.is_archived(note)] or found
        if len(here) > 1:
            refs = ", ".join(sorted(note.ref for note in here))
            raise Conflict(f"{slug!r} could be any of {refs}.", "Name one of them as it is written there.")
        return here[0] if here else None

    def from_source(self, source: str) -> Note | None:
        """The article that was taken from this source."""
        path = self._sources.get(source)
        return self._known.get(path) if path else None

    # ---------------------------------------------------------------------------------------------------------- changing

    def save(self, content: str, *, created: str = "", force: bool = False, **given: object) -> Kept:
        """Keep a small fact, as :meth:`co_cli.knowledge.KnowledgeBase.save` does."""
        content = memory.check_content(content)
        fields = _checked(content, force=force, **given)
        category, key = str(fields.get("category") or ""), str(fields.get("key") or "")
        keyed = self.keyed(category, key) if key else None
        known = keyed or (None if force else self._holder(content, key))
        if known and known.vault != self.vault.name:
            return Kept(known, UNCHANGED)
        if known:
            return self._settled(known, memory.enriched(known, content if keyed else None, fields))
        number = self.new_id()
        raw = render_memory({"id": number, "created": created or memory.now(), **fields}, content)
        path = self.vault.memory_path(number, content, private=bool(fields["private"]))
        return Kept(self.add(MEMORY, path, raw), CREATED)

    def _holder(self, content: str, key: str) -> Note | None:
        """The memory that says this already; one with a key is to be found in its own vault."""
        found = (note for note in self.twins(content) if not key or note.vault == self.vault.name)
        return next((note for note in found if not (key and note.key)), None)

    def revise(self, note: Note, *, content: str | None = None, fields: Mapping[str, object | None]) -> Kept:
        """Change the text or the fields of a note; nothing else moves."""
        changes = dict(fields)
        if memory.needs_privacy(note, None, content, private=None, force=False):
            changes["private"] = True
        return self._settled(note, memory.revise(note, content=content, fields=changes))

    def _settled(self, before: Note, after: Note) -> Kept:
        if after.raw == before.raw:
            return Kept(before, UNCHANGED)
        return Kept(self.replace(before, after.raw), UPDATED)

    def write_topic(
        self,
        slug: str,
        content: str,
        *,
        tags: Sequence[str] = (),
        source: str = "user",
        created: str = "",
        updated: str = "",
        extra: Mapping[str, object] | None = None,
    ) -> Kept:
        """Write a topic, new or in place of its old text; ``extra`` are further fields of one that is new."""
        content = topic.check_content(content, tags, source)
        known = self.named(TOPIC, slug)
        wanted = clean_tags(tags)
        if known and self.vault.is_archived(known):
            hint = f"Bring it back first: co knowledge --restore {known.ref}"
            raise Conflict(f"{known.ref} is in the archive.", hint)
        if known is None:
            moment = created or memory.now()
            fields = {"topic": slug, **(extra or {}), "tags": [*wanted], "source": source}
            raw = memory.encode(render_document({**fields, "created": moment, "updated": updated or moment}, content))
            return Kept(self.add(TOPIC, self.vault.path_of(TOPIC, f"{slug}.md"), raw), CREATED)
        if (known.body, known.tags) == (content, wanted):
            return Kept(known, UNCHANGED)
        changes: dict[str, object | None] = {"tags": [*wanted], "source": source}
        after = memory.revise(known, content=content, fields=changes)
        moment = updated or memory.now()
        return self._settled(known, after._replace(raw=memory.encode(replace_fields(after.text, {"updated": moment}))))

    def write_article(self, source: str, title: str, content: str, fields: Mapping[str, object]) -> Kept:
        """Keep an article under its source, new or in place of its old text."""
        content = topic.check_content(content, (), "user")
        known = self.from_source(source)
        if known is None:
            slug = slugify(title) if title else "article"
            number, free = 1, slug
            while self.named(ARTICLE, free):
                number += 1
                free = f"{slug}-{number}"
            header = {"source": source, "title": title, **fields}
            raw = memory.encode(render_document({name: value for name, value in header.items() if value}, content))
            return Kept(self.add(ARTICLE, self.vault.path_of(ARTICLE, f"{free}.md"), raw), CREATED)
        if known.body == content:
            return Kept(known, UNCHANGED)
        return self._settled(known, memory.revise(known, content=content, fields={}))

    def new_id(self) -> int:
        """An id that nobody has."""
        while self._next in self._taken:
            self._next += 1
        self._taken.add(self._next)
        return self._next

    def add(self, kind: str, path: str, raw: bytes) -> Note:
        """Add a whole note under a path that is free."""
        note = memory.reread(raw, kind=kind, vault=self.vault.name, path=path)
        self.put(path, None, raw)
        if kind != CONTEXT:
            self._learn(note)
        return note

    def replace(self, note: Note, raw: bytes) -> Note:
        """Put other bytes in place of a note; a memory that becomes private loses its telling name."""
        after = memory.reread(raw, kind=note.kind, vault=note.vault, path=note.path)
        if after.private and not note.private and note.kind == MEMORY:
            path = self.vault.memory_path(after.id or 0, "", private=True)
            after = after._replace(path=path)
            self.put(path, None, raw)
            self.put(note.path, note.raw, None)
            del self._known[note.path]
            for paths in (*self._births.values(), *self._texts.values(), *self._keys.values()):
                if note.path in paths:
                    paths.remove(note.path)
        else:
            self.put(note.path, note.raw, raw)
        if note.kind != CONTEXT:
            self._learn(after)
        return after

    def put(self, path: str, before: bytes | None, after: bytes | None) -> None:
        """Set what is to become of a file of the vault, whatever it is."""
        self._before.setdefault(path, before)
        self._after[path] = after

    def path(self, relative: str) -> str:
        """The path of a file of the vault, such as an attachment."""
        return os.path.join(self.vault.root, *relative.split("/"))

    def planned(self, path: str) -> bytes | None:
        """What is to become of a file, where something is."""
        return self._after.get(path)

    def is_going(self, path: str) -> bool:
        """Whether a file is to be removed."""
        return path in self._after and self._after[path] is None

    @property
    def changed(self) -> int:
        """How many files would be others."""
        return sum(self._before[path] != after for path, after in self._after.items())

    def hand_over(self, draft: Draft) -> None:
        """Put all of it into a draft, which will do it."""
        for path, after in self._after.items():
            draft.put(path, self._before[path], after)
        attachment.leave_out_of_git(draft, self.vault)


def _checked(content: str, *, force: bool, **given: object) -> dict[str, object]:
    """The fields of a new memory, checked as one that is learned."""
    because = given.pop("because", "")
    tags = given.pop("tags", ())
    defaults: dict[str, object] = {
        "source": "user-told",
        "category": "",
        "key": "",
        "language": "",
        "expires": "",
        "pinned": False,
        "private": False,
    }
    wanted = clean_tags(tags) if isinstance(tags, (list, tuple)) else ()
    fields = memory.check_fields(content, tags=wanted, force=force, **{**defaults, **given})  # type: ignore[arg-type]
    return {**fields, "because": because}


def bare_name(note: Note) -> str:
    """The name of a memory's file without its number: it says how the memory began, and stays when that changes."""
    return note.slug.lstrip("0123456789").strip("-_ ")


def header_of(raw: bytes) -> dict[str, object]:
    """The fields of a document, as far as they can be read."""
    try:
        return dict(parse_frontmatter(raw.decode("utf-8"))[0])
    except ValueError:
        return {}


def beside(vault: Vault, vaults: Iterable[Vault]) -> list[Vault]:
    """The vaults whose memories count as known in this one: what is saved for one project may be known for all."""
    return [] if vault.name == GLOBAL else [other for other in vaults if other.name == GLOBAL]
