"""Taking in what an importer has read: every entry becomes a note, once, and all of it is one change.

Owns which entries say the same, which of two that differ counts, and what becomes of the notes that are there already.
Must not know where the entries come from, nor how notes are stored or shown.

It can be done again: what is there already stays as it is, and so does what was changed or put away here since.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from co_cli.batch import Batch, Kept, beside
from co_cli.errors import Conflict, Denied, Invalid
from co_cli.exchange.report import (
    CREATED,
    SKIPPED,
    UNCHANGED,
    UPDATED,
    WOULD_CREATE,
    WOULD_UPDATE,
    ImportEntry,
    ImportReport,
    short_name,
)
from co_cli.exchange.wholes import Joining, Whole
from co_cli.knowledge import GLOBAL, PROJECT, TOPIC
from co_cli.note import instant
from co_cli.topic import slug_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from co_cli.knowledge import KnowledgeBase, Note

IMPORTED = "imported"
"""The source of every memory that an import makes, and the first of its tags where it has no other."""


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
    pinned: bool = True
    because: str = ""
    private: bool = False
    same_as: Entry | None = None
    outdone_by: Entry | None = None
    result: ImportEntry | None = None

    @property
    def origin(self) -> str:
        """Where it stood, for people."""
        return f"{short_name(self.file)}: {self.at}" if self.at else short_name(self.file)

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


@dataclass(slots=True, eq=False)
class Document:
    """A text that is to become a topic under its name or, where it has a source of its own, an article."""

    file: str
    at: str
    name: object
    """The name of the topic, or the title of the article; what is no text is refused."""
    text: object
    tags: Sequence[str] = ()
    origin: str = "user"
    """Where the topic comes from, in the words of topics: ``user``, ``seed`` or ``api``."""
    source: str = ""
    """The address of an article."""
    created: str = ""
    updated: str = ""
    extra: dict[str, object] = field(default_factory=dict)
    """Further fields of a new note."""

    def became(self, outcome: str, note: Note | None = None, code: str = "", reason: str = "") -> ImportEntry:
        """The line of the report for this document."""
        ref, summary = (note.ref, note.title or note.summary) if note else ("", "")
        return ImportEntry(self.file, self.at, outcome, reason, code, ref, summary=summary if outcome != SKIPPED else "")


Item = Entry | Document | Whole | ImportEntry
"""What an importer reads: something to keep, or the line for something that cannot be."""


def imported(
    kb: KnowledgeBase, path: str, files: Sequence[str], items: Iterable[Item], *, what: str, in_global: bool, dry_run: bool
) -> ImportReport:
    """The report of an import whose files have been read: its entries are kept, unless this is a dry run."""
    entries = take_in(kb, items, in_global=in_global, dry_run=dry_run, what=what)
    return ImportReport(path, GLOBAL if in_global else PROJECT, dry_run, tuple(files), entries)


def take_in(
    kb: KnowledgeBase, items: Iterable[Item], *, in_global: bool, dry_run: bool, what: str = "notes"
) -> tuple[ImportEntry, ...]:
    """Keep the entries, and return a line for each, in their order, among those lines that the importer wrote itself."""
    items = list(items)
    ranked = sorted((item for item in items if isinstance(item, Entry)), key=lambda entry: entry.rank)
    for entry in ranked:
        entry.key = entry.key.strip()  # as memories have it: a key of blanks is none
    _settle(ranked)

    def keep(batch: Batch) -> list[ImportEntry]:
        memories, documents = _Memories(batch), _Documents(batch)
        for entry in ranked:
            entry.result = memories.keep(entry)
        joined = iter(Joining(batch).join([item for item in items if isinstance(item, Whole)]))
        lines = []
        for item in items:
            if isinstance(item, Entry):
                lines.append(item.result or item.became(SKIPPED))
            elif isinstance(item, Whole):
                lines.append(next(joined))
            else:
                lines.append(documents.keep(item) if isinstance(item, Document) else item)
        return lines

    return in_one_change(kb, GLOBAL if in_global else PROJECT, keep, dry_run=dry_run, what=what)


def in_one_change(
    kb: KnowledgeBase,
    vault: str,
    keep: Callable[[Batch], list[ImportEntry]],
    *,
    dry_run: bool,
    what: str,
    operation: str = "import",
) -> tuple[ImportEntry, ...]:
    """Keep things in a vault as one change, which one undo takes back; a dry run notes what would be done."""
    lines: list[ImportEntry] = []

    def act(acting: KnowledgeBase) -> None:
        target = acting.vault(vault)
        with target.change(operation) as draft:
            batch = Batch(target, beside(target, acting.vaults))
            lines[:] = keep(batch)
            batch.hand_over(draft)
            draft.summary = f"{_DONE[operation]} {what}: {_counted(lines)}"

    if dry_run or not os.path.isdir(kb.vault(vault).root):  # a vault is not made for nothing
        changes = kb.rehearse(act)
        if dry_run or not changes:
            return tuple(as_rehearsed(lines) if dry_run else lines)
    act(kb)
    return tuple(lines)


_DONE = {"import": "imported", "merge": "merged"}


def _counted(lines: list[ImportEntry]) -> str:
    counts = {outcome: sum(line.outcome == outcome for line in lines) for outcome in (CREATED, UPDATED)}
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count) or "nothing new"


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


# ------------------------------------------------------------------------------------------------------- keeping memories


class _Memories:
    """The memories of the vault that is imported into, as the import sees them."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch

    def keep(self, entry: Entry) -> ImportEntry:
        """Make the memory of an entry, or bring the one that there is up to date."""
        if entry.outdone_by:
            reason = f"{entry.outdone_by.origin} has another text under this key, and counts"
            return entry.became(SKIPPED, code="outdone", reason=reason)
        if entry.same_as:
            return _copied(entry, entry.same_as)
        known = self._batch.keyed(entry.category, entry.key) if entry.key else None
        put_away = self._batch.put_away(_as_kept(entry.text), entry.key)
        replaced = known or next(iter(self._batch.twins(_as_kept(entry.text))), None)
        if replaced and replaced.superseded_by:
            return entry.became(UNCHANGED, replaced, "replaced", f"{replaced.superseded_by} took its place here")
        try:
            if known:
                return self._revise(known, entry)
            if put_away:
                return entry.became(UNCHANGED, put_away, "archived", "it is in the archive, and stays there")
            return self._add(entry)
        except (Invalid, Conflict, Denied) as error:
            return entry.became(SKIPPED, code=error.code, reason=error.message)

    def _revise(self, known: Note, entry: Entry) -> ImportEntry:
        text = _as_kept(entry.text)
        changed = _words_changed(known)
        if text != known.body and changed is not None and changed >= entry.written:
            reason = f"{known.ref} got another text after this file was last written, and keeps it"
            return entry.became(SKIPPED, known, "newer-here", reason)
        pinned = entry.pinned and _to_pin(known)
        saved = self._batch.revise(known, content=text, fields={"pinned": True} if pinned else {})
        only_pinned = saved.outcome == UPDATED and text == known.body
        return entry.became(saved.outcome, saved.note, reason="it is pinned now" if only_pinned else "")

    def _add(self, entry: Entry) -> ImportEntry:
        if not entry.pinned and (known := self._known(entry)):
            says = "" if known.source == IMPORTED else f"{known.ref} says so already"
            return entry.became(UNCHANGED, known, "known", says)
        saved = self._save(entry)
        if saved.outcome == UNCHANGED:
            twin = saved.note
            other_key = entry.key and (twin.category, twin.key) != (entry.category, entry.key)
            if other_key or (twin.vault != self._batch.vault.name and not twin.pinned):
                # It needs a memory of its own. What looks like a secret has been refused by now, so force may be used.
                saved = self._save(entry, force=True)
            elif _to_pin(twin):
                saved = self._batch.revise(twin, fields={"pinned": True})
                return entry.became(saved.outcome, saved.note, reason="a memory said so already; it is pinned now")
        return entry.became(saved.outcome, saved.note)

    def _known(self, entry: Entry) -> Note | None:
        """The memory that says it already; an entry with a key needs one that has it, or none."""
        twins = self._batch.twins(_as_kept(entry.text))
        return next((twin for twin in twins if not entry.key or not twin.key), None)

    def _save(self, entry: Entry, *, force: bool = False) -> Kept:
        return self._batch.save(
            entry.text,
            tags=entry.tags,
            category=entry.category,
            key=entry.key,
            pinned=entry.pinned,
            private=entry.private,
            source=IMPORTED,
            created=entry.created,
            because=entry.because,
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
    when = note.updated or ("" if note.source == IMPORTED else note.created)
    return instant(when) or None  # never, or at a day that there is not


# ------------------------------------------------------------------------------------------------------ keeping documents


class _Documents:
    """The topics and articles of the vault that is imported into."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._kept: dict[str, Document] = {}

    def keep(self, document: Document) -> ImportEntry:
        """Make the note of a document, or bring the one that there is up to date."""
        wrong = _what_is_wrong(document)
        if wrong:
            return document.became(SKIPPED, code="wrong-type", reason=wrong)
        try:
            return self._article(document) if document.source else self._topic(document)
        except (Invalid, Conflict, Denied) as error:
            return document.became(SKIPPED, code=error.code, reason=error.message)

    def _topic(self, document: Document) -> ImportEntry:
        slug = slug_of(str(document.name))
        known = self._batch.named(TOPIC, slug)
        if known and known.ref in self._kept:
            other = self._kept[known.ref]
            reason = f"{other.became(SKIPPED).origin} has the same name here, and counts"
            return document.became(SKIPPED, code="outdone", reason=reason)
        if known and self._batch.vault.is_archived(known):
            return document.became(UNCHANGED, known, "archived", "it is in the archive, and stays there")
        if known and _is_newer(known, document) and not _says_the_same(known, document):
            self._kept[known.ref] = document
            reason = f"{known.ref} was written after it, and keeps its text"
            return document.became(SKIPPED, known, "newer-here", reason)
        saved = self._batch.write_topic(
            slug,
            str(document.text),
            tags=document.tags,
            source=document.origin,
            created=document.created,
            updated=document.updated,
            extra=document.extra,
        )
        self._kept[saved.note.ref] = document
        plain = str(document.name).strip().lower().replace(" ", "_")
        renamed = saved.note.slug not in (document.name, plain) and saved.outcome == CREATED
        return document.became(saved.outcome, saved.note, reason=f"its name here is {saved.note.slug}" if renamed else "")

    def _article(self, document: Document) -> ImportEntry:
        known = self._batch.from_source(document.source)
        if known and self._batch.vault.is_archived(known):
            return document.became(UNCHANGED, known, "archived", "it is in the archive, and stays there")
        if known and known.body != str(document.text).strip() and _is_newer(known, document):
            return document.became(SKIPPED, known, "newer-here", f"{known.ref} was written after it, and keeps its text")
        fields = {"fetched": document.updated or document.created, "tags": [*document.tags], **document.extra}
        saved = self._batch.write_article(document.source, str(document.name), str(document.text), fields)
        return document.became(saved.outcome, saved.note)


def _what_is_wrong(document: Document) -> str:
    for what, value in (("name", document.name), ("content", document.text)):
        if not isinstance(value, str):
            return f"the {what} must be a text, not {type(value).__name__}" if value is not None else f"there is no {what}"
    return ""


def _says_the_same(known: Note, document: Document) -> bool:
    wanted = {tag.strip().lstrip("#").casefold() for tag in document.tags} - {""}
    return known.body == _as_kept(str(document.text)) and {tag.casefold() for tag in known.tags} == wanted


def _is_newer(known: Note, document: Document) -> bool:
    """Whether a note here was written after a document; one without a date was there first."""
    here, there = known.updated or known.created, document.updated or document.created
    return not here or not there or instant(here) >= instant(there)


# ----------------------------------------------------------------------------------------------------------- rehearsing


def as_rehearsed(lines: list[ImportEntry]) -> list[ImportEntry]:
    """The report of a rehearsal: the outcomes that there would be, and no refs to notes that are not there."""
    would = {CREATED: WOULD_CREATE, UPDATED: WOULD_UPDATE}
    made = {line.ref for line in lines if line.outcome == CREATED}
    return [
        replace(line, outcome=would.get(line.outcome, line.outcome), ref="" if line.ref in made else line.ref)
        for line in lines
    ]
