"""Taking in addresses, files and folders of files: each becomes an article, once.

Owns the way of one document from its source to its article, what is kept as its original, and in which portions many are
written. Knows nothing of how documents are read or stored, nor of surfaces.

Many documents are written in portions, each of which is one change: what is done stays done, however it ends, and `co undo`
takes back a portion rather than a file. A second time, files that are as they were are only looked at.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from co_cli.article import Incoming, check
from co_cli.articles import source as sources
from co_cli.articles.browsing import Remembered, find_files, stamp_before_reading
from co_cli.articles.entry import ADDED, FAILED, SKIPPED, UNCHANGED, UPDATED, WOULD_ADD, WOULD_UPDATE, Entry
from co_cli.attachment import Attachment
from co_cli.errors import CoError, Invalid
from co_cli.knowledge import GLOBAL, PROJECT
from co_cli.note import ARTICLE, clean_tags, sha_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from co_cli.articles.extraction.document import Extracted
    from co_cli.articles.source import Document, Source
    from co_cli.knowledge import KnowledgeBase, Note, Saved

PORTION, PORTION_BYTES, PORTION_SECONDS = 100, 16 * 1024 * 1024, 10.0
"""Documents that are written as one change, at most: by their number, by their size, and by how long the first one waits."""
_GLANCE = 1.0
"""Seconds for which it is taken for known which articles there are; what is written looks once more."""
_NO_DOCUMENTS = frozenset(("unknown-kind", "empty", "no-text", "not-a-file"))
_LINK = "link"
"""The codes of what is passed by in a folder: files that hold nothing to be read, and links."""
_LASTING = _NO_DOCUMENTS | {"encrypted", "broken", "too-large"}
"""The codes of what would be no other if the same bytes were read again."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How what is taken in is to be kept."""

    tags: tuple[str, ...] = ()
    title: str = ""
    private: bool = False
    in_global: bool = False
    dry_run: bool = False

    @property
    def marks(self) -> bool:
        """Whether it asks for more than to have the text, so that a look at the file is not enough."""
        return bool(self.tags or self.title or self.private)

    def is_met_by(self, note: Note) -> bool:
        """Whether an article has all the marks that are asked for."""
        tags = clean_tags((*note.tags, *self.tags)) == note.tags
        return tags and (note.private or not self.private) and (not self.title or note.title == self.title)


class _Task(NamedTuple):
    """A file or an address whose turn it is."""

    source: Source
    shown: str
    named: bool
    """Whether somebody named it, rather than a folder that it lies in."""
    problem: CoError | None = None


class _Waiting(NamedTuple):
    """A document that was read and waits to be written."""

    task: _Task
    incoming: Incoming
    entry: Entry
    stamp: int


def take_in(
    kb: KnowledgeBase, what: Sequence[str], wish: Wish, tell: Callable[[str, int, int], None] | None = None
) -> Iterator[Entry]:
    """Take in what is named, and say of each document what became of it, as soon as that is known for certain."""
    tasks = list(_tasks(kb, what, wish))
    if wish.title and len(tasks) > 1:
        raise Invalid("A title goes with one page or file.", "Give each its title by itself.", code="usage")
    intake = _Intake(kb, wish)
    try:
        for number, task in enumerate(tasks):
            if tell:
                tell("reading", number, len(tasks))
            yield from intake.take(task)
        yield from intake.write()
    finally:  # Ctrl-C too: what has been read is not to be read again
        intake.finish()


def _tasks(kb: KnowledgeBase, what: Iterable[str], wish: Wish) -> Iterator[_Task]:
    """What is to be read, each once, in the order in which it was named."""
    vaults = frozenset(os.path.realpath(vault.root) for vault in kb.vaults)
    seen: set[str] = set()
    for text in what:
        path = os.path.expanduser(text)
        if not sources.is_address(text) and os.path.isdir(path):
            found: Iterable[str] = find_files(path, vaults)
        else:
            found = [text]
        for each in found:
            named = each is text
            problem = None
            try:
                if not named and os.path.islink(each):
                    raise Invalid("This is a link, and links are not followed.", "Name what it leads to.", code=_LINK)
                source = sources.named(kb, each, in_global=wish.in_global)
            except CoError as error:
                source, problem = sources.Source(each), error
            if source.written not in seen:
                seen.add(source.written)
                yield _Task(source, source.url or each, named, problem)


@dataclass(slots=True)
class _Intake:
    """What is under way."""

    kb: KnowledgeBase
    wish: Wish
    waiting: list[_Waiting] = field(default_factory=list)
    size: int = 0
    since: float = 0.0
    _remembered: Remembered | None = None

    @property
    def remembered(self) -> Remembered:
        if self._remembered is None:
            self._remembered = Remembered(self.kb, GLOBAL if self.wish.in_global else PROJECT)
        return self._remembered

    def take(self, task: _Task) -> Iterator[Entry]:
        """Read one document; what waits is written where it is enough by now."""
        path = task.source.path
        stamp = stamp_before_reading(path) if path else 0
        try:
            if task.problem:
                raise task.problem
            passed = self._passed_by(task) if path else None
            if passed:
                yield passed
                return
            known = self.kb.article_from(task.source.written, in_global=self.wish.in_global, age=_GLANCE)
            document = sources.read(self.kb, task.source, self.kb.details(known) if known and task.source.url else None)
            if known is None or not self._is_same(known, document):
                yield from self._read(task, document, stamp)
            elif self.wish.is_met_by(known) or self._is_archived(known):
                yield self._unchanged(task, known, stamp)
            else:
                yield from self._mark(task, known, stamp)
        except CoError as error:
            self._remember(task, stamp, error)
            yield self._failed(task, error)

    def _is_archived(self, known: Note) -> bool:
        return self.kb.vault(known.vault).is_archived(known)

    def _is_same(self, known: Note, document: Document) -> bool:
        """Whether a document is the original of an article, which has all that belongs to it."""
        details = self.kb.details(known)
        same = document.not_modified or sha_of(document.raw) == details.sha256
        return same and (not details.attachment or self.kb.original(known) is not None)

    def _read(self, task: _Task, document: Document, stamp: int) -> Iterator[Entry]:
        extracted = extract(document)
        incoming = incoming_of(task.source, document, extracted, self.wish)
        if self.wish.dry_run:
            check(incoming)
        title, kind = incoming.title, extracted.kind
        entry = Entry(task.shown, ADDED, title=title, kind=kind, pages=extracted.pages, notices=extracted.notices)
        yield from self._wait(_Waiting(task, incoming, entry, stamp), len(document.raw))

    def _mark(self, task: _Task, known: Note, stamp: int) -> Iterator[Entry]:
        """Give an article the marks that it lacks; its document is the same, and need not be read again."""
        wish = self.wish
        incoming = Incoming(
            known.body,
            task.source.written,
            title=wish.title,
            titled=bool(wish.title),
            tags=clean_tags(wish.tags),
            sha256=self.kb.details(known).sha256,
            private=wish.private or known.private,
        )
        yield from self._wait(_Waiting(task, check(incoming), Entry(task.shown, UPDATED), stamp), len(known.raw))

    def _wait(self, waiting: _Waiting, size: int) -> Iterator[Entry]:
        if not self.waiting:
            self.since = time.monotonic()
        self.waiting.append(waiting)
        self.size += size
        late = time.monotonic() - self.since > PORTION_SECONDS
        if len(self.waiting) >= PORTION or self.size >= PORTION_BYTES or late:
            yield from self.write()

    def write(self) -> list[Entry]:
        """Write what waits, as one change; returns what became of each."""
        waiting, incoming = self.waiting, [each.incoming for each in self.waiting]
        outcomes: Sequence[Saved | CoError | str]
        if self.wish.dry_run:
            outcomes = [self._would(each) for each in incoming]
        else:
            outcomes = self.kb.save_articles(incoming, in_global=self.wish.in_global) if incoming else ()
        self.waiting, self.size = [], 0  # not before: where the disk is full, nothing of it was written
        entries = [self._written(each, outcome) for each, outcome in zip(waiting, outcomes, strict=True)]
        if not self.wish.dry_run and self._remembered:
            self._remembered.save()
        return entries

    def _written(self, waiting: _Waiting, outcome: Saved | CoError | str) -> Entry:
        if isinstance(outcome, CoError):
            return self._failed(waiting.task, outcome)
        if isinstance(outcome, str):
            return waiting.entry._replace(outcome=outcome)
        note = outcome.note
        self._remember(waiting.task, waiting.stamp, note)
        became = {"created": ADDED, "updated": UPDATED}.get(outcome.outcome, UNCHANGED)
        return waiting.entry._replace(outcome=became, ref=note.ref, title=note.title, private=note.private)

    def _would(self, incoming: Incoming) -> str:
        known = self.kb.article_from(incoming.source, in_global=self.wish.in_global, age=_GLANCE)
        return WOULD_UPDATE if known else WOULD_ADD

    def finish(self) -> None:
        """Write what still waits, where somebody broke off."""
        if self.waiting and not self.wish.dry_run:
            self.write()
        if self._remembered:
            self._remembered.save()

    # ------------------------------------------------------------------------------------------ what is known already

    def _passed_by(self, task: _Task) -> Entry | None:
        """The line for a file that is as it was when it was read."""
        known = self.remembered.is_as_it_was(task.source.path)
        if known is None:
            return None
        if known.article:
            name = os.path.basename(known.article).removesuffix(".md")
            in_global = known.article.startswith(os.path.join(self.kb.vault(GLOBAL).root, ""))
            vault = self.kb.vault(GLOBAL if in_global else PROJECT)
            if self.wish.marks and not self.wish.is_met_by(vault.read(known.article, ARTICLE)):
                return None
            return Entry(task.shown, UNCHANGED, ref=f"{'g:' if in_global else ''}article:{name}")
        return self._failed(task, Invalid(known.reason, known.hint, code=known.code))

    def _unchanged(self, task: _Task, known: Note, stamp: int) -> Entry:
        self._remember(task, stamp, known)
        where = "it is in the archive, and stays there" if self._is_archived(known) else ""
        return Entry(task.shown, UNCHANGED, ref=known.ref, title=known.title, reason=where, private=known.private)

    def _remember(self, task: _Task, stamp: int, what: Note | CoError) -> None:
        if not task.source.path or self.wish.dry_run:
            return
        if not isinstance(what, CoError):
            self.remembered.note(task.source.path, stamp, article=what.path)
        elif what.code in _LASTING:
            self.remembered.note(task.source.path, stamp, code=what.code, reason=what.message, hint=what.hint)

    def _failed(self, task: _Task, error: CoError) -> Entry:
        """The line for what was not taken in; what nobody named and is no document is only passed by."""
        outcome = SKIPPED if error.code in _NO_DOCUMENTS | {_LINK} and not task.named else FAILED
        return Entry(task.shown, outcome, reason=error.message, code=error.code, hint=error.hint, error=error.kind)


def extract(document: Document) -> Extracted:
    """The text of a document, and what it says of itself."""
    from co_cli.articles import extraction

    return extraction.extract(
        document.raw,
        name=document.name,
        content_type=document.content_type,
        charset=document.charset,
        base_url=document.base_url,
    )


def incoming_of(source: Source, document: Document, extracted: Extracted, wish: Wish) -> Incoming:
    """What is to be kept of a document that was read: its text, what it says of itself, and the original.

    A text that is all there is to its file needs no copy: the article is the original.
    """
    itself = _as_text(document.raw) == extracted.markdown.strip()
    name = sources.file_name(document.name, extracted.kind)
    return Incoming(
        extracted.markdown,
        source.written,
        title=wish.title or extracted.title,
        titled=bool(wish.title),
        tags=clean_tags((*wish.tags, *extracted.tags)),
        sha256=sha_of(document.raw),
        attachment=None if itself else Attachment(name, document.raw),
        etag=document.etag,
        last_modified=document.last_modified,
        author=extracted.author,
        date=extracted.date,
        private=wish.private or extracted.private,
    )


def _as_text(raw: bytes) -> str | None:
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n").strip()
    except UnicodeDecodeError:
        return None
