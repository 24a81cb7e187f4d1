"""Looking through the text of every note: the tier that needs no index.

Owns what matches, and in which order. Reads notes through the vault only; knows nothing of how hits are shown.

Every note is read at each query, so an answer is never stale. Whole phrase first, then all words, then any; within that
newest first; in body and tags, whatever the case. A query of one word therefore finds just the notes that contain it.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from co_cli.chunking import split
from co_cli.note import MEMORY, instant
from co_cli.pages import without_marks
from co_cli.retrieval.hit import ALL, ANY, FILTER, PHRASE, Hit, Recalled, Why
from co_cli.retrieval.standing import in_force
from co_cli.retrieval.words import STOP_WORDS
from co_cli.succession import Succession

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from co_cli.chunking import Passage
    from co_cli.note import Note, Problem
    from co_cli.query import Query
    from co_cli.retrieval.hit import Filter
    from co_cli.vault import Vault

_SCORE = {PHRASE: 1.0, ALL: 0.75, ANY: 0.5}
_MARKS = ".,;:!?"
"""What a sentence puts around a word, which is then not part of what is looked for."""


def grep(vaults: Sequence[Vault], query: Query, *, limit: int, only: Filter) -> Recalled:
    """Look for the query in the text of every note."""
    matcher = _Matcher.of(query)
    hits: list[Hit] = []
    problems: list[Problem] = []
    for vault in vaults:
        scan = vault.scan(only.kinds, wanted=matcher.prefilter())
        problems.extend(scan.problems)
        hits.extend(hit for hit in map(matcher.hit, filter(only.admits, scan.notes)) if hit)
    if len(hits) > 1:
        hits.sort(key=lambda hit: (hit.score, instant(hit.note.created), hit.note.id or 0), reverse=True)
    by_name = {vault.name: vault for vault in vaults}

    def keyed(name: str, category: str, key: str) -> Iterator[Note]:
        notes = by_name[name].scan((MEMORY,), wanted=lambda raw: b"key" in raw).notes
        return (note for note in notes if (note.category, note.key) == (category, key))

    shown = islice(in_force(hits, {name: Succession(vault) for name, vault in by_name.items()}, only, keyed), limit)
    return Recalled(query.text, "grep", tuple(map(_passage, shown)), problems=tuple(problems), total=len(hits))


def _passage(hit: Hit) -> Hit:
    """The hit with the passage of its note that holds most of what was found."""
    passages = split(hit.note.body, whole=hit.note.kind == MEMORY)
    if not passages:
        return hit
    texts = [" ".join(_fold(hit.note.body[each.start : each.end]).split()) for each in passages]
    best = max(range(len(passages)), key=lambda place: sum(word in texts[place] for word in hit.why.words))
    shown = passages[best]
    content = hit.note.body[shown.start : shown.end]
    return Hit(hit.note, hit.score, hit.why, content, shown.heading, shown.line, _anchor(hit, shown, content), shown.page)


def _anchor(hit: Hit, passage: Passage, content: str) -> str:
    """The name of the heading in a passage under which most of what was found stands."""
    if not passage.sections:
        return passage.anchor
    from co_cli.citation import nearest, packed

    def held(text: str) -> list[str]:
        folded = " ".join(_fold(text).split())
        return [word for word in hit.why.words if word in folded]

    return nearest(packed(passage.anchor, passage.sections), content, held)


def is_whole(hit: Hit) -> bool:
    """Whether what matched are whole words of the note, not parts of others."""
    text = "\n".join((" ".join(_fold(without_marks(hit.note.body)).split()), *map(_fold, hit.note.tags)))
    return all(_has_word(word, text) for word in hit.why.words)


class _Matcher(NamedTuple):
    phrase: str
    words: tuple[str, ...]
    required: tuple[str, ...]
    """The quoted phrases: a note without one of them is none that was asked for."""

    @classmethod
    def of(cls, query: Query) -> _Matcher:
        required = tuple(" ".join(_fold(phrase).split()) for phrase in query.phrases)
        found = (word.strip(_MARKS) or word for text in (*query.words, *required) for word in _fold(text).split())
        words = tuple(dict.fromkeys(found))
        telling = tuple(word for word in words if word not in STOP_WORDS)
        return cls(" ".join(_fold(query.text.replace('"', " ")).split()), telling or words, required)

    def prefilter(self) -> Callable[[bytes], bool]:
        """A cheap test of a file's bytes that never says no to a note that matches."""
        needles = self.words or ("",)
        plain = tuple(needle.encode() for needle in needles if needle.isascii())

        def wanted(raw: bytes) -> bool:
            if raw.isascii():
                low = raw.lower()
                if any(needle in low for needle in plain):
                    return True
                return b"\\" in raw or b"''" in raw  # a tag may be written with escapes
            folded = _folded(raw)
            return any(needle in folded for needle in needles)

        return wanted

    def hit(self, note: Note) -> Hit | None:
        body = " ".join(_fold(without_marks(note.body)).split())
        tags = [_fold(tag) for tag in note.tags]
        if not all(_places(phrase, body, tags) for phrase in self.required):
            return None
        if not self.words:
            return Hit(note, _SCORE[ANY], Why(FILTER, (), ()), note.body)
        phrase_places = _places(self.phrase, body, tags)
        if phrase_places:
            return Hit(note, _SCORE[PHRASE], Why(PHRASE, (self.phrase,), phrase_places), note.body)
        found = {word: places for word in self.words if (places := _places(word, body, tags))}
        if not found:
            return None
        match = ALL if len(found) == len(self.words) else ANY
        where = {place for places in found.values() for place in places}
        return Hit(note, _SCORE[match], Why(match, tuple(found), tuple(sorted(where))), note.body)


def _has_word(word: str, text: str) -> bool:
    before = r"(?<!\w)" if re.match(r"[a-z0-9_]", word) else ""  # scripts without spaces have no such borders
    after = r"(?!\w)" if re.search(r"[a-z0-9_]$", word) else ""
    return re.search(before + re.escape(word) + after, text) is not None


def _places(needle: str, body: str, tags: list[str]) -> tuple[str, ...]:
    in_tags = any(needle in tag for tag in tags)
    return (("body",) if needle in body else ()) + (("tags",) if in_tags else ())


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    import unicodedata

    return unicodedata.normalize("NFC", text.casefold())


def _folded(raw: bytes) -> str:
    return _fold(raw.decode("utf-8", "replace"))
