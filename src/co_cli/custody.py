"""Custody: what becomes of notes that are kept. The verbs of the knowledge base that find one by its name, put it away,
bring it back, and forget it.

Owns which vault a ref reaches into, and what has to go with a note. Knows nothing of search, prompts or surfaces;
:class:`co_cli.knowledge.KnowledgeBase` is made of it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import Conflict, Invalid, NotFound
from co_cli.linking import Linking
from co_cli.note import ARTICLE, CONTEXT, GLOBAL, MEMORY, PROJECT, TOPIC, Note, Ref, parse_ref
from co_cli.succession import as_written, stands
from co_cli.vault import documents

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from co_cli.citation import Part
    from co_cli.purge import Remains, Trail
    from co_cli.vault import Vault

INBOX = "inbox"
"""The folder of a vault in which proposals wait."""


class Forgotten(NamedTuple):
    """The notes that were forgotten."""

    notes: tuple[Note, ...]
    standing: tuple[Note, ...] = ()
    """The notes that stand again, since what had taken their place is gone."""


class Purged(NamedTuple):
    """What was forgotten for good."""

    notes: tuple[Note, ...]
    """Those that were still there."""
    changes: int
    """Changes of the journal that held something of them."""
    remains: tuple[Remains, ...]
    """Where something of them may still be."""
    standing: tuple[Note, ...] = ()
    """The notes that stand again, since what had taken their place is gone."""


class Moved(NamedTuple):
    """A note that went from one vault to the other."""

    before: Note
    after: Note
    standing: tuple[Note, ...] = ()
    """The notes that stand again where it was, since it had taken their place."""


def _proposals_about(vault: Vault, refs: set[str]) -> Iterator[tuple[str, bytes]]:
    """The files of the inbox that name one of these notes: what they propose makes no sense without it."""
    from co_cli import purge

    folder = os.path.join(vault.root, INBOX)
    for path, raw in documents(folder, []) if os.path.isdir(folder) else ():
        if purge.refs_in(raw, "g:" if vault.name == GLOBAL else "") & refs:
            yield path, raw


class Custody(Linking):
    """The notes of one user and one project, as somebody keeps them."""

    def get(self, ref: str) -> Note:
        """The note that a ref names; without a vault in the ref, the project's comes before the global one."""
        linked = self._linked_note(ref) if ":" in ref else None
        if linked:
            return linked
        parsed = parse_ref(ref)
        if parsed is None:
            raise Invalid(f"{ref!r} names no note.", "A ref looks like 12, g:3, topic:deploy or context; see: co list")
        if parsed.kind == TOPIC:
            self._sow()
        for vault in self.vaults:
            if parsed.vault in ("", vault.name):
                note = vault.find(parsed.kind, parsed.name)
                if note:
                    return note
        flag = " --global" if parsed.vault == GLOBAL else ""
        hint = f"`co init{flag}` makes one." if parsed.kind == CONTEXT else "`co list` shows what there is."
        if parsed.kind in (TOPIC, ARTICLE):
            hint = f"`co recall WORDS --kind {parsed.kind}` finds what there is."
        raise NotFound(f"There is no note {ref}.", hint)

    def part(self, ref: str) -> Part:
        """The section or the page that a citation such as ``article:rfc-9110#routing`` names; the whole note by its ref."""
        from co_cli.citation import Part, find_part, parse_citation

        try:
            note = self.get(ref)
        except (NotFound, Invalid):
            citation = parse_citation(ref)
            if citation is None:
                raise
            return find_part(self.get(citation.ref), citation)
        return Part(note, note.body)

    def forget(self, refs: str | Iterable[str]) -> Forgotten:
        """Remove notes; ``undo`` brings them back."""
        from co_cli import memory

        notes = self._all_named(refs)
        if any(note.kind == CONTEXT for note in notes):
            raise Invalid("The context is not forgotten but edited.", "Empty it with: co edit context")
        standing: list[Note] = []
        for vault in self.vaults:
            mine = [note for note in notes if note.vault == vault.name]
            waiting = list(_proposals_about(vault, {note.ref for note in notes}))
            if mine or waiting:
                with vault.change("forget") as draft:
                    for note in mine:
                        draft.remove(note)
                    for before, after in memory.rewritten(vault, mine):
                        draft.replace(before, after.raw)
                        standing += [after] if before.superseded_by and not after.superseded_by else []
                    self._settle_originals(draft, vault, mine)
                    for path, raw in waiting:
                        draft.put(path, raw, None)
                    draft.summary = f"forgot {memory.name_notes(mine or notes)}"
        self._let_go(notes)
        return Forgotten(tuple(notes), tuple(standing))

    def supersede(self, refs: str | Iterable[str], *, by: str, because: str = "") -> Note:
        """Let one memory take the place of others; they stay readable, and say by which they were replaced."""
        from co_cli import memory

        new, old = self.named(by), self._all_named(refs)
        vault = self.vault(new.vault)
        for note in old:
            self._check_superseding(new, note)
        fields: dict[str, object | None] = {}
        numbers = {*new.supersedes, *(note.id for note in old if note.id)}
        if numbers != {*new.supersedes}:
            fields["supersedes"] = as_written(numbers)
        if because:
            fields["because"] = because
        with vault.change("supersede") as draft:
            for note in old:
                if note.superseded_by != new.id:
                    draft.replace(note, memory.revise(note, fields={"superseded_by": new.id}).raw)
            after = memory.revise(new, fields=fields)
            if after.raw != new.raw:
                draft.replace(new, after.raw)
            name = memory.name_notes(old) if len(old) > 1 else old[0].ref
            draft.summary = f"superseded {name} by {new.label}"
        return after

    def _check_superseding(self, new: Note, old: Note) -> None:
        """Raise where one note cannot take the place of another."""
        for note in (new, old):
            if note.kind != MEMORY:
                raise Invalid(f"{note.ref} is no memory: only memories supersede each other.", "See: co list")
        if new.vault != old.vault:
            hint = "A memory of the project comes before one for all projects as it is."
            raise Invalid(f"{new.ref} and {old.ref} are not in the same vault.", hint)
        if new.id == old.id:
            raise Invalid(f"{new.ref} cannot supersede itself.", "Name the note that is to stand in its place.")
        for note in (new, old):
            if note.superseded_by and note.superseded_by != (new.id if note is old else None):
                now = f"g:{note.superseded_by}" if note.vault == GLOBAL else str(note.superseded_by)
                if not stands(self.vault(note.vault), note):
                    raise Conflict(f"{note.ref} has been superseded by {now} already.", f"Look at it: co show {now}")

    def purge(self, refs: str | Iterable[str]) -> Purged:
        """Forget notes for good, or those that were forgotten before: nothing brings them back afterwards."""
        from co_cli import purge

        found: list[tuple[Vault, Trail]] = []
        living = []
        for ref in dict.fromkeys([refs] if isinstance(refs, str) else refs):
            parsed = parse_ref(ref)
            try:
                living.append(self.named(ref))
            except NotFound:
                vault = self.vault((parsed and parsed.vault) or PROJECT)
                gone = purge.trails_of_gone(vault, parsed) if parsed else []
                if not gone:
                    raise
                found.extend((vault, trail) for trail in gone)
        standing: tuple[Note, ...] = ()
        if living:
            standing = self.forget(note.ref for note in living).standing
            for note in living:
                vault = self.vault(note.vault)
                trails = purge.trails_of_gone(vault, Ref(note.kind, note.slug if note.id is None else str(note.id)))
                found.append((vault, trails[0]))
        sessions = os.path.join(self.places.state, "sessions")
        entries = 0
        remains: list[Remains] = []
        for vault, its_trail in purge.with_moves(self.vaults, found):
            trail = purge.with_originals(vault, its_trail)
            entries += purge.purge(vault, trail)
            remains.extend(purge.remains(self.vaults, vault, trail, sessions))
        return Purged(tuple(living), entries, tuple(dict.fromkeys(remains)), standing)

    def promote(self, refs: str | Iterable[str], *, language: str = "") -> tuple[Moved, ...]:
        """Make notes of this project ones for all projects, or for all projects in a programming language."""
        return self._move(refs, PROJECT, GLOBAL, language=language)

    def demote(self, refs: str | Iterable[str]) -> tuple[Moved, ...]:
        """Make notes for all projects ones of this project alone."""
        return self._move(refs, GLOBAL, PROJECT)

    def _move(self, refs: str | Iterable[str], source: str, target: str, *, language: str = "") -> tuple[Moved, ...]:
        """Move notes between the vaults: the new one is there before the old one goes."""
        from co_cli import memory

        notes = [self._own(self.get(ref)) for ref in dict.fromkeys([refs] if isinstance(refs, str) else refs)]
        for note in notes:
            if note.vault != source:
                where = "for all projects" if target == GLOBAL else "one of this project"
                raise Conflict(f"{note.ref} is {where} already.", "`co list` shows what is where.")
            if note.kind == CONTEXT:
                raise Invalid(f"{note.ref} stays where it is: each vault has its own.", "Move its lines: co edit context")
        moved = []
        for note in notes:
            with self.vault(target).change("promote" if target == GLOBAL else "demote") as there:
                after = memory.moved(note, self.vault(target), language=language)
                there.create(after.path, after.raw)
                self._bring_original(there, self.vault(target), note)
                there.summary = f"took {after.label} over from {'the project' if target == GLOBAL else 'all projects'}"
            with self.vault(source).change("promote" if target == GLOBAL else "demote") as here:
                here.remove(note)
                rewritten = list(memory.rewritten(self.vault(source), [note]))
                for before, changed in rewritten:
                    here.replace(before, changed.raw)
                self._settle_originals(here, self.vault(source), [note])
                here.summary = f"gave {note.label} away: it is {after.ref} now"
            standing = (now for was, now in rewritten if was.superseded_by and not now.superseded_by)
            moved.append(Moved(note, after, tuple(standing)))
            self._let_go([note])
        return tuple(moved)

    def _let_go(self, notes: Iterable[Note]) -> None:
        """Leave nothing of notes that were removed in what is derived from them."""
        self._gone.extend(notes)
        if self._rehearses or not self._gone:
            return
        from co_cli import survey, sync

        for vault in self.vaults:
            sync.forget(vault, self.places.cache, (note.path for note in self._gone if note.vault == vault.name))
        survey.forget(self.vaults, self._log, self._gone)
        self._gone.clear()

    def archive(self, refs: str | Iterable[str], *, restore: bool = False) -> tuple[Note, ...]:
        """Put notes where they are kept but no longer recalled, or bring them back from there."""
        from co_cli import memory

        notes = self._all_named(refs)
        for note in notes:
            if note.kind == CONTEXT:
                raise Invalid("The context cannot be archived.", "Shorten it instead: co edit context")
            if self.vault(note.vault).is_archived(note) is not restore:
                where = "not" if restore else "already"
                raise Conflict(f"{note.ref} is {where} in the archive.", "`co list --archived` shows what is.")
        moved = []
        for vault in self.vaults:
            mine = [note for note in notes if note.vault == vault.name]
            if mine:
                with vault.change("restore" if restore else "archive") as draft:
                    for note in mine:
                        path = vault.archive_path(note, archived=not restore)
                        draft.move(note, path)
                        moved.append(note._replace(path=path))
                    draft.summary = f"{'restored' if restore else 'archived'} {memory.name_notes(mine)}"
        return tuple(moved)

    def named(self, ref: str) -> Note:
        """The note to be changed: a bare ref never reaches from a project into the vault of all projects."""
        note, parsed = self._own(self.get(ref)), parse_ref(ref)
        if parsed and not parsed.vault and note.vault == GLOBAL:
            raise NotFound(
                f"There is no note {ref} in this project.", f"{note.ref} is one for all your projects: name it so."
            )
        return note

    def _all_named(self, refs: str | Iterable[str]) -> list[Note]:
        return [self.named(ref) for ref in dict.fromkeys([refs] if isinstance(refs, str) else refs)]
