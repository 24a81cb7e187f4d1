"""Whole notes, header and all, from another vault or from an export of one.

Owns by what such a note is recognised in the vault that it comes to, which id it gets, and that what refers to it goes with
it. Must not know where the notes come from, nor what a surface makes of those that a person has to decide on.

A note keeps its bytes where its id is free. Where another memory has the id, it takes a new one, and whatever points to it
(``supersedes``, ``superseded_by``, links) is mended in the notes that came with it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from co_cli.context import without_comments
from co_cli.credentials import find_secret
from co_cli.errors import CoError
from co_cli.exchange.relinking import relink
from co_cli.exchange.report import CREATED, SKIPPED, UNCHANGED, UPDATED, ImportEntry
from co_cli.exchange.threeway import Names as SideNames
from co_cli.exchange.threeway import merge
from co_cli.files import read_bytes, reason
from co_cli.frontmatter import FrontmatterError, parse_frontmatter, replace_fields, split_frontmatter
from co_cli.knowledge import ARTICLE, CONTEXT, MEMORY, TOPIC
from co_cli.links import Named, Names, key_of
from co_cli.note import FOLDERS, Note, NoteError, fold, instant, memory_name, parse_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from co_cli.batch import Batch
    from co_cli.links import Link

ATTACHMENTS = "attachments"
_KINDS = {folder: kind for kind, folder in FOLDERS.items()}
_PLACE = re.compile(r"(?:(archive)/)?(memories|topics|articles)/([^/\\\0]{1,250}\.md)")
_CONTEXT_PLACE = "context.md"
_ATTACHED = re.compile(rf"{ATTACHMENTS}/(?:[^/\\\0.][^/\\\0]{{0,249}}/)*[^/\\\0.][^/\\\0]{{0,249}}")


class Whole(NamedTuple):
    """A note, or a file that goes with one, as it stood in another vault."""

    file: str
    """Where it was read from, for the report."""
    at: str
    place: str
    """Its path in that vault, with forward slashes: ``memories/012-we-deploy.md``, ``attachments/x.pdf``."""
    raw: bytes


class Divergence(NamedTuple):
    """A note that was changed here and there, so that a person has to choose."""

    ref: str
    kind: str
    vault: str
    path: str
    base: bytes | None
    """The version that both come from, where it is known."""
    ours: bytes
    theirs: bytes
    """Their version, with our id."""
    proposed: bytes
    """Both in one; where they contradict each other, it is theirs."""
    origin: str

    @property
    def note(self) -> Note:
        """The note as it would be with theirs."""
        return parse_note(self.proposed, kind=self.kind, vault=self.vault, path=self.path)

    @property
    def difference(self) -> str:
        """The lines in which that differs from ours."""
        from co_cli.draft import difference

        return difference(self.ours, self.proposed, f"{self.ref} as it is", "as it would be with theirs")


Ancestor = Callable[[str, str, bytes, bytes], bytes | None]
"""Given the name of a file here and there, and what it holds here and there, the version that both come from."""


@dataclass(slots=True, eq=False)
class _Arrival:
    """A whole note on its way in."""

    whole: Whole
    note: Note
    match: Note | None = None
    number: int = 0
    by_text: bool = False
    """Whether it is known by what it says, though it is another note."""

    def line(self, outcome: str, note: Note | None = None, code: str = "", reason: str = "") -> ImportEntry:
        """The line of the report for this note."""
        ref = note.ref if note else ""
        summary = (note.title or note.summary) if note and outcome != SKIPPED and not note.private else ""
        return ImportEntry(
            self.whole.file, self.whole.at, outcome, reason, code, ref, note.category if note else "", "", summary
        )


@dataclass(slots=True)
class Joining:
    """The joining of whole notes into a vault."""

    batch: Batch
    ancestor: Ancestor | None = None
    """What finds the version that two of a note come from; without it the newer of the two counts."""
    divergences: list[Divergence] = field(default_factory=list)
    _numbers: dict[int, int] = field(default_factory=dict)
    _attached: dict[str, str] = field(default_factory=dict)
    _theirs: Names | None = None

    def join(self, wholes: Iterable[Whole]) -> list[ImportEntry]:
        """Put whole notes into the vault, and return a line for each, in their order."""
        wholes = list(wholes)
        lines: dict[int, ImportEntry] = {}
        arrivals: dict[int, _Arrival] = {}
        for position, whole in enumerate(wholes):
            if _ATTACHED.fullmatch(whole.place) and ".." not in whole.place.split("/"):
                lines[position] = self._attach(whole)
            else:
                met = self._meet(whole)
                if isinstance(met, _Arrival):
                    arrivals[position] = met
                else:
                    lines[position] = met
        self._number(list(arrivals.values()))
        self._theirs = Names(
            Named(each.note.vault, each.note.kind, os.path.basename(each.note.path), each.note.id, each.note.title)
            for each in arrivals.values()
            if each.note.kind != CONTEXT
        )
        for position, arrival in arrivals.items():
            try:
                lines[position] = self._keep(arrival)
            except CoError as error:
                lines[position] = arrival.line(SKIPPED, code=error.code, reason=error.message)
        return [lines[position] for position in range(len(wholes))]

    # ---------------------------------------------------------------------------------------------------------- meeting

    def _meet(self, whole: Whole) -> _Arrival | ImportEntry:
        """A whole note as it could be kept, or the line for one that cannot."""
        place = _PLACE.fullmatch(whole.place)
        if not place and whole.place != _CONTEXT_PLACE:
            return ImportEntry(whole.file, whole.at, SKIPPED, f"{whole.place!r} is no place in a vault", "unknown")
        kind = _KINDS[place[2]] if place else CONTEXT
        try:
            note = parse_note(whole.raw, kind=kind, vault=self.batch.vault.name, path=self.batch.path(whole.place))
        except NoteError as error:
            problem = error.problem
            return ImportEntry(whole.file, whole.at, SKIPPED, problem.message, problem.code, line=problem.line)
        secret = "" if note.private else find_secret(note.text)
        if secret:
            return ImportEntry(whole.file, whole.at, SKIPPED, f"This looks like {secret}: it was not saved.", "secret")
        return _Arrival(whole, note)

    def _number(self, arrivals: Sequence[_Arrival]) -> None:
        """Find the notes that are here already, and give ids to the memories that are not: their own where it is free."""
        waiting = []
        for arrival in arrivals:
            if arrival.note.kind != MEMORY:
                continue
            own = arrival.note.id or 0
            arrival.match = self._same(arrival)
            if arrival.match:
                arrival.number = arrival.match.id or 0
                self._numbers.setdefault(own, arrival.number)
            elif self.batch.is_free(own):
                self.batch.claim(own)
                arrival.number = own
                self._numbers[own] = own
            else:
                waiting.append(arrival)
        for arrival in waiting:
            arrival.number = self.batch.new_id()
            self._numbers.setdefault(arrival.note.id or 0, arrival.number)

    def _same(self, arrival: _Arrival) -> Note | None:
        """The memory here that is the same one: by its birth, else by its key, else by what it says."""
        note = arrival.note
        born = self.batch.born(note)
        if born:
            return min(born, key=lambda known: (known.id != note.id, known.body != note.body))
        keyed = self.batch.keyed(note.category, note.key, note.language) if note.key else None
        if keyed:
            return keyed
        here = [twin for twin in self.batch.twins(note.body) if twin.vault == note.vault and not (twin.key and note.key)]
        found = here[0] if here else self.batch.put_away(note.body, note.key)
        arrival.by_text = found is not None
        return found

    # ---------------------------------------------------------------------------------------------------------- keeping

    def _keep(self, arrival: _Arrival) -> ImportEntry:
        if arrival.note.kind == CONTEXT:
            return self._keep_context(arrival)
        match = arrival.match if arrival.note.kind == MEMORY else self._known_document(arrival.note)
        raw = self._mended(arrival)
        return self._settle(arrival, match, raw) if match else self._add(arrival, raw)

    def _known_document(self, note: Note) -> Note | None:
        for path in (note.path, self.batch.vault.archive_path(note, archived=True), self._live_path(note)):
            known = self.batch.at(path)
            if known and (note.kind == TOPIC or known.source == note.source or not (known.source and note.source)):
                return known
        return self.batch.from_source(note.source) if note.kind == ARTICLE and note.source else None

    def _live_path(self, note: Note) -> str:
        return self.batch.vault.archive_path(note, archived=False)

    def _add(self, arrival: _Arrival, raw: bytes) -> ImportEntry:
        note, path, remark = arrival.note, arrival.note.path, ""
        if note.kind == MEMORY and arrival.number != note.id:
            name = re.sub(r"^[0-9]*", f"{arrival.number:03d}", os.path.basename(path), count=1)
            path = os.path.join(os.path.dirname(path), name)
            remark = f"its id here is {arrival.number}"
        if self._is_taken(path):
            path, remark = self._free_path(arrival, path), remark or "its name here is another"
        kept = self.batch.add(note.kind, path, raw)
        return arrival.line(CREATED, kept, reason=remark)

    def _is_taken(self, path: str) -> bool:
        planned = self.batch.planned(path)
        return planned is not None or (os.path.lexists(path) and not self.batch.is_going(path))

    def _free_path(self, arrival: _Arrival, path: str) -> str:
        folder, name = os.path.split(path)
        if arrival.note.kind == MEMORY:
            name = memory_name(arrival.number, arrival.note.body, private=arrival.note.private)
        stem, count = name.removesuffix(".md")[:200], 1
        while self._is_taken(path := os.path.join(folder, name)):
            count += 1
            name = f"{stem}-{count}.md"
        return path

    def _settle(self, arrival: _Arrival, ours: Note, raw: bytes) -> ImportEntry:
        """What becomes of a note that is here already."""
        if ours.raw == raw:
            return arrival.line(UNCHANGED, ours)
        if arrival.by_text:
            return self._unite(arrival, ours)
        same_words = ours.body == arrival.note.body
        if self.ancestor is None:
            if _moment(arrival.note) > _moment(ours):
                return arrival.line(UPDATED, self.batch.replace(ours, raw))
            return self._succeed(arrival, ours, raw) if same_words else self._left(arrival, ours)
        name = os.path.relpath(ours.path, self.batch.vault.root).replace(os.sep, "/")
        base = self.ancestor(name, arrival.whole.place, ours.raw, raw)
        if base is None and not same_words and fold(ours.body) == fold(arrival.note.body):
            return self._unite(arrival, ours)
        return self._merge(arrival, ours, raw, base, same_words=same_words)

    def _left(self, arrival: _Arrival, ours: Note) -> ImportEntry:
        return arrival.line(SKIPPED, ours, "newer-here", f"{ours.ref} differs, and is as new or newer: it stays")

    def _succeed(self, arrival: _Arrival, ours: Note, raw: bytes) -> ImportEntry:
        """A memory whose words are the same learns what it replaced, and what replaced it; its own tags and marks stay."""
        fields = parse_frontmatter(raw.decode("utf-8"))[0]
        known = parse_frontmatter(ours.text)[0]
        news = {name: fields[name] for name in ("supersedes", "superseded_by") if fields.get(name) and not known.get(name)}
        if not news:
            same = ours.tags == arrival.note.tags
            return arrival.line(UNCHANGED, ours) if same else self._left(arrival, ours)
        after = replace_fields(ours.text, news).encode("utf-8")
        return arrival.line(UPDATED, self.batch.replace(ours, after))

    def _merge(
        self, arrival: _Arrival, ours: Note, raw: bytes, base: bytes | None, *, same_words: bool = False
    ) -> ImportEntry:
        bullets = ours.kind == CONTEXT
        merged = merge(base, ours.raw, raw, by_bullets=bullets)
        if merged.conflicts or (base is None and not bullets and not same_words):
            proposed = merge(base, ours.raw, raw, by_bullets=bullets, names=SideNames(take_theirs=True)).raw
            place = (ours.ref, ours.kind, ours.vault, ours.path)
            self.divergences.append(Divergence(*place, base, ours.raw, raw, proposed, arrival.whole.file))
            reason = f"{ours.ref} says something else here: it stays, and theirs is proposed"
            return arrival.line(SKIPPED, ours, "conflict", reason)
        if merged.raw == ours.raw:
            return arrival.line(UNCHANGED, ours)
        return arrival.line(UPDATED, self.batch.replace(ours, merged.raw))

    def _unite(self, arrival: _Arrival, ours: Note) -> ImportEntry:
        """A memory that says the same gets the tags and marks that it lacks."""
        theirs = arrival.note
        folded = {tag.casefold() for tag in ours.tags}
        tags = [*ours.tags, *(tag for tag in theirs.tags if tag.casefold() not in folded)]
        fields: dict[str, object | None] = {"tags": tags} if tags != [*ours.tags] else {}
        fields.update({name: True for name in ("pinned", "private") if getattr(theirs, name) and not getattr(ours, name)})
        if not fields or self.batch.vault.is_archived(ours):
            return arrival.line(UNCHANGED, ours, "known")
        after = replace_fields(ours.text, fields).encode("utf-8")
        return arrival.line(UPDATED, self.batch.replace(ours, after), reason="it says the same; tags and marks were added")

    def _keep_context(self, arrival: _Arrival) -> ImportEntry:
        path = self.batch.vault.context_path
        ours = self.batch.vault.find(CONTEXT, CONTEXT)
        raw = self._mended(arrival)
        if ours is None:
            return arrival.line(CREATED, self.batch.add(CONTEXT, path, raw))
        if ours.raw == raw or not _says_something(arrival.note):
            return arrival.line(UNCHANGED, ours)
        if not _says_something(ours):  # it was only just made
            return arrival.line(UPDATED, self.batch.replace(ours, raw))
        base = self.ancestor(_CONTEXT_PLACE, _CONTEXT_PLACE, ours.raw, raw) if self.ancestor else None
        return self._merge(arrival, ours, raw, base)

    # ---------------------------------------------------------------------------------------------------------- mending

    def _mended(self, arrival: _Arrival) -> bytes:
        """The bytes of a note with its own id here, and with the ids here of those that it refers to."""
        note = arrival.note
        changes: dict[str, object | None] = {}
        if note.kind == MEMORY and arrival.number != note.id:
            changes["id"] = arrival.number
        try:
            fields = parse_frontmatter(note.text)[0]
        except FrontmatterError:  # it has been read before, so this does not happen
            fields = {}
        for name in ("supersedes", "superseded_by"):
            value = fields.get(name)
            renumbered = self._renumbered(value)
            if renumbered != value:
                changes[name] = renumbered
        attached = fields.get("attachment")
        if isinstance(attached, str) and attached in self._attached:
            changes["attachment"] = self._attached[attached]
        text = replace_fields(note.text, changes) if changes else note.text
        return self._relinked(note, text).encode("utf-8")

    def _renumbered(self, value: object) -> object:
        """The ids here of the notes that ids there name; one that did not come along but is another's here goes."""
        if isinstance(value, list):
            return [each for each in map(self._renumbered, value) if each is not None] or None
        if not isinstance(value, int) or isinstance(value, bool) or value in self._numbers:
            return self._numbers.get(value, value) if isinstance(value, int) else value
        return value if self.batch.is_free(value) else None

    def _relinked(self, note: Note, text: str) -> str:
        """A document whose links lead to the memories that they meant, by the ids that these have here."""
        if all(old == new for old, new in self._numbers.items()) or self._theirs is None:
            return text
        theirs = self._theirs
        body = split_frontmatter(text)[1]

        def write(link: Link) -> str | None:
            meant = theirs.meant(key_of(link, FOLDERS.get(note.kind, "")), note.vault)
            number = meant.id if meant and meant.kind == MEMORY else None
            if number is None or self._numbers.get(number, number) == number:
                return None
            return _renumbered_link(link.written, number, self._numbers[number])

        return text[: len(text) - len(body)] + relink(body, write)

    def _attach(self, whole: Whole) -> ImportEntry:
        """Put a file beside the notes; one of this name that holds something else stays, and this one gets another name."""
        stem, ending = os.path.splitext(whole.place)
        place, count = whole.place, 1
        while True:
            path = self.batch.path(place)
            try:
                there = self.batch.planned(path) or read_bytes(path)
            except OSError as error:
                return ImportEntry(whole.file, whole.at, SKIPPED, f"cannot be kept: {reason(error)}", "unreadable")
            if there is None or there == whole.raw:
                break
            count += 1
            place = f"{stem}-{count}{ending}"
        if place != whole.place:
            self._attached[whole.place] = place
        if there is None:
            self.batch.put(path, None, whole.raw)
        outcome = CREATED if there is None else UNCHANGED
        remark = f"its name here is {place}" if place != whole.place else ""
        return ImportEntry(whole.file, whole.at, outcome, remark)


def _renumbered_link(written: str, old: int, new: int) -> str:
    """A link as it is written, with another id in its target."""

    def target(match: re.Match[str]) -> str:
        digits = match[0]
        return f"{new:0{len(digits)}d}" if digits[0] == "0" or len(digits) > len(str(old)) else str(new)

    border = 0 if written.lstrip("!").startswith("[[") else max(written.rfind("]("), written.rfind("]:"), 0)
    return written[:border] + re.sub(rf"(?<![0-9])0*{old}(?![0-9])", target, written[border:], count=1)


def _says_something(context: Note) -> bool:
    """Whether a context has more than headings and comments."""
    lines = without_comments(context.body).splitlines()
    return any(line.strip() and not line.startswith("#") for line in lines)


def _moment(note: Note) -> float:
    return instant(note.updated or note.created)
