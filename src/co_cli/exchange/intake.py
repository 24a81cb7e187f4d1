"""Taking in what an importer has read: every entry becomes a pinned memory, once.

Owns which entries say the same, which of two that differ counts, and what becomes of the memories that are there
already. Writes through the knowledge base only; must not know where the entries come from, nor how notes are stored or
shown.

It can be done again: what is there already stays as it is, and so does what was changed or put away here since.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from co_cli.errors import Conflict, Denied, Invalid, Unavailable
from co_cli.exchange.report import (
    CREATED,
    SKIPPED,
    UNCHANGED,
    UPDATED,
    WOULD_CREATE,
    WOULD_UPDATE,
    ImportEntry,
    short_name,
)
from co_cli.knowledge import GLOBAL, MEMORY, PROJECT, open_knowledge_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from co_cli.knowledge import KnowledgeBase, Note, Saved

IMPORTED = "imported"
"""The source of every memory that an import makes."""


@dataclass(slots=True, eq=False)
class Entry:
    """A text that is to become a memory, and later what became of it."""

    file: str
    written: float
    """When the file was last written, in seconds since 1970."""
    at: str
    text: str
    category: str
    tags: list[str]
    key: str = ""
    spare_key: str = ""
    """The key that it takes where another text has its own."""
    created: str = ""
    remark: str = ""
    """What there is to say about it once it is kept."""
    rank: int = 0
    """Which of two with the same key or text stands: the lower rank, then the one that was read first."""
    same_as: Entry | None = None
    outdone_by: Entry | None = None
    result: ImportEntry | None = None

    @property
    def origin(self) -> str:
        """Where it stood, for people."""
        return f"{short_name(self.file)}: {self.at}"

    def became(self, outcome: str, note: Note | None = None, code: str = "", reason: str = "") -> ImportEntry:
        """The line of the report for this entry."""
        return ImportEntry(
            self.file,
            self.at,
            outcome,
            reason=reason or (self.remark if outcome == CREATED else ""),
            code=code,
            ref=note.ref if note else "",
            category=self.category,
            key=self.key,
            summary=note.summary if note and outcome != SKIPPED else "",
        )


def take_in(
    kb: KnowledgeBase, items: Iterable[Entry | ImportEntry], *, in_global: bool, dry_run: bool
) -> tuple[ImportEntry, ...]:
    """Keep the entries, and return a line for each, in their order, among those lines that the importer wrote itself.

    A dry run is the same on a copy of the memories, so it says exactly what would be done.
    """
    items = list(items)
    ranked = sorted((item for item in items if isinstance(item, Entry)), key=lambda entry: entry.rank)
    for entry in ranked:
        entry.key = entry.key.strip()  # as memories have it: a key of blanks is none
    _settle(ranked)
    with rehearsal(kb) if dry_run else nullcontext(kb) as target:
        store = _Store(target, GLOBAL if in_global else PROJECT)
        for entry in ranked:
            entry.result = store.keep(entry)
    lines = [item.result or item.became(SKIPPED) if isinstance(item, Entry) else item for item in items]
    return tuple(as_rehearsed(lines) if dry_run else lines)


# ------------------------------------------------------------------------------------------------------------- settling


def _settle(ranked: list[Entry]) -> None:
    """Find the entries that are copies of others, or outdone by others, so that each thing is kept once.

    The same text under several keys stays several memories, since each key must be found. A text without a key adds its
    tags to the entry that says the same.
    """
    by_key: dict[tuple[str, str], Entry] = {}
    by_text: dict[str, Entry] = {}
    for entry in ranked:
        text = _comparable(entry.text)
        rival = by_key.get((entry.category, entry.key)) if entry.key else by_text.get(text)
        if rival and entry.spare_key and _comparable(rival.text) != text:
            entry.key = entry.spare_key
            rival = by_key.get((entry.category, entry.key))
        if rival is None:
            by_text.setdefault(text, entry)
            if entry.key:
                by_key[entry.category, entry.key] = entry
        elif _comparable(rival.text) == text:
            entry.same_as = rival
            rival.tags.extend(tag for tag in entry.tags if tag not in rival.tags)
        else:
            entry.outdone_by = rival


def _comparable(text: str) -> str:
    return " ".join(text.casefold().split())


def _as_kept(text: str) -> str:
    """A text as the knowledge base keeps it."""
    return text.strip().replace("\r\n", "\n").removeprefix("\ufeff").strip()


# -------------------------------------------------------------------------------------------------------------- keeping


class _Store:
    """The vault that is imported into, as the import sees it."""

    def __init__(self, kb: KnowledgeBase, vault: str) -> None:
        self._kb = kb
        self._vault = vault
        # Later memories win: where two have the same key, the newest is the one that counts.
        self._keyed = {(note.category, note.key): note for note in self._notes() if note.key}
        self._archived = {(note.key, note.body): note for note in self._notes(archived=True)}

    def _notes(self, *, archived: bool = False) -> list[Note]:
        return [note for note in self._kb.list(archived=archived).notes if note.vault == self._vault]

    def keep(self, entry: Entry) -> ImportEntry:
        """Make the memory of an entry, or bring the one that there is up to date."""
        if entry.outdone_by:
            reason = f"{entry.outdone_by.origin} has another text under this key, and counts"
            return entry.became(SKIPPED, code="outdone", reason=reason)
        if entry.same_as:
            return _copied(entry, entry.same_as)
        known = self._keyed.get((entry.category, entry.key))
        put_away = self._archived.get((entry.key, _as_kept(entry.text)))
        try:
            if known:
                return self._revise(known, entry)
            if put_away:
                return entry.became(UNCHANGED, put_away, "archived", "it is in the archive, and stays there")
            return self._add(entry)
        except (Invalid, Conflict, Denied) as error:
            if isinstance(error, Denied) and error.code != "secret":
                raise  # the vault as a whole is closed to co, not just to this entry
            return entry.became(SKIPPED, code=error.code, reason=error.message)

    def _revise(self, known: Note, entry: Entry) -> ImportEntry:
        text = _as_kept(entry.text)
        changed = _words_changed(known)
        if text != known.body and changed is not None and changed >= entry.written:
            reason = f"{known.ref} got another text after this file was last written, and keeps it"
            return entry.became(SKIPPED, known, "newer-here", reason)
        saved = self._kb.update(known.ref, content=text, pinned=_to_pin(known), expected_sha=known.sha)
        self._keyed[entry.category, entry.key] = saved.note
        only_pinned = saved.outcome == UPDATED and text == known.body
        return entry.became(saved.outcome, saved.note, reason="it is pinned now" if only_pinned else "")

    def _add(self, entry: Entry) -> ImportEntry:
        saved = self._save(entry)
        if saved.outcome == UNCHANGED:
            twin = saved.note
            other_key = entry.key and (twin.category, twin.key) != (entry.category, entry.key)
            if other_key or (twin.vault != self._vault and not twin.pinned):
                # It needs a memory of its own. What looks like a secret has been refused by now, so force may be used.
                saved = self._save(entry, force=True)
            elif _to_pin(twin):
                saved = self._kb.update(twin.ref, pinned=True)
                return entry.became(saved.outcome, saved.note, reason="a memory said so already; it is pinned now")
        if entry.key:
            self._keyed[entry.category, entry.key] = saved.note
        return entry.became(saved.outcome, saved.note)

    def _save(self, entry: Entry, *, force: bool = False) -> Saved:
        return self._kb.save(
            entry.text,
            tags=entry.tags,
            in_global=self._vault == GLOBAL,
            category=entry.category,
            key=entry.key,
            pinned=True,
            source=IMPORTED,
            created=entry.created,
            force=force,
        )


def _copied(entry: Entry, original: Entry) -> ImportEntry:
    """The line for a copy: it follows from what became of the original, which has the lower rank and so was first."""
    result = original.result
    if result is None or result.outcome == SKIPPED:
        return replace(result or original.became(SKIPPED), file=entry.file, at=entry.at)
    reason = f"says the same as {original.origin}"
    return replace(result, file=entry.file, at=entry.at, outcome=UNCHANGED, code="copy", reason=reason)


def _to_pin(note: Note) -> bool | None:
    """Whether to pin a memory that is there. An imported one was pinned once: if it is not, somebody unpinned it."""
    return True if not note.pinned and note.source != IMPORTED else None


def _words_changed(note: Note) -> float | None:
    """When a memory got its text by anything but the import that made it, in seconds since 1970."""
    from datetime import datetime

    when = note.updated or ("" if note.source == IMPORTED else note.created)
    try:
        return datetime.fromisoformat(when).timestamp()
    except (ValueError, OverflowError):  # never, or at a day that there is not
        return None


# ----------------------------------------------------------------------------------------------------------- rehearsing


@contextmanager
def rehearsal(kb: KnowledgeBase, kinds: Iterable[str] = (MEMORY,)) -> Iterator[KnowledgeBase]:
    """A knowledge base with copies of the notes of these kinds, in a folder that is gone afterwards."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="co-dry-run-")
    except OSError as error:
        raise _no_room(error) from error
    with folder as top:
        places = {name: os.path.join(top, name) for name in ("home", "state", "project")}
        copy = open_knowledge_at(**places)
        try:
            for note in (*kb.list(kinds).notes, *kb.list(kinds, archived=True).notes):
                relative = os.path.relpath(note.path, kb.vault(note.vault).root)
                _copy(note, os.path.join(copy.vault(note.vault).root, relative))
        except OSError as error:
            raise _no_room(error) from error
        yield copy


def _copy(note: Note, path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(note.raw)


def _no_room(error: OSError) -> Unavailable:
    return Unavailable(
        f"A dry run needs a copy of the notes, and none can be made: {error.strerror}.",
        "Nothing was changed. Name a folder with room in TMPDIR, or import without --dry-run and take it back: co undo",
    )


def as_rehearsed(lines: list[ImportEntry]) -> list[ImportEntry]:
    """The report of a rehearsal: the outcomes that there would be, and no refs to notes that are not there."""
    would = {CREATED: WOULD_CREATE, UPDATED: WOULD_UPDATE}
    made = {line.ref for line in lines if line.outcome == CREATED}
    return [
        replace(line, outcome=would.get(line.outcome, line.outcome), ref="" if line.ref in made else line.ref)
        for line in lines
    ]
