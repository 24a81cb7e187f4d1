"""One query, put to the indexes: from its words to the notes that are shown.

Owns which passages are looked at, how many, and in which order the parts of the score come together. The formulas are in
`scoring`, the statements in `index`. Reads the notes that are shown from their files, so that no answer is older than they.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import ExitStack
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from co_cli.index import search
from co_cli.index.analysis import asked_for, sought, terms
from co_cli.index.store import as_line
from co_cli.note import FOLDERS, GLOBAL, MEMORY, lasting_name
from co_cli.retrieval import scoring
from co_cli.retrieval.hit import ALL, ANY, BESIDE, MEANING, PHRASE, Hit, Why, moment
from co_cli.retrieval.standing import in_force
from co_cli.retrieval.words import STOP_WORDS
from co_cli.succession import Succession

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from co_cli.index.search import Narrowing, Passage
    from co_cli.index.store import Index
    from co_cli.note import Note
    from co_cli.query import Query
    from co_cli.retrieval.hit import Filter, Means
    from co_cli.retrieval.scoring import Counted, Key, Weights
    from co_cli.vault import Vault

_POOL = 50
"""Passages that each way of searching puts up for each vault; more where more hits are asked for."""
_AROUND, _WHOLES = 20, 20
"""Of the best of them, whose neighbours are looked at, and which long notes as a whole."""
_STATIC_SHARE = 0.75
_SHARE, _LONG_SHARE, _SHORT_QUERY, _LONG_QUERY = 0.6, 0.5, 5, 10
"""What words count for where words and meaning are weighed together: more for a model that knows words only, and else a
little less for a long query, which says more of what it means."""
_DAY = 86400
_LATIN = "\u0250"
"""The first letter that is not of the Latin script."""
_RECENCY, _PINNED, _USED, _SPAN = 0.03, 0.03, 0.03, 0.15
"""What a boost adds to a score, of which the best is about 1."""
_OFTEN = 3.0
"""Uses for which a note gets half of what it can get for them."""
_AROUND_IT = tuple(distance for distance in range(-scoring.REACH, scoring.REACH + 1) if distance)
_NAMED = r"[^\W\d_][\w'’.-]*"


class Source(NamedTuple):
    """A vault that is asked, and its index."""

    vault: Vault
    index: Index  # type: ignore[assignment] # it hides a method of tuples that nobody needs here
    unseen: frozenset[str] = frozenset()
    """The kinds of which no file could be seen: what the index knows of them is no answer."""


class Asked(NamedTuple):
    """A query as the indexes understand it."""

    query: Query
    words: dict[str, tuple[str, ...]]
    """The terms of each word that says something."""
    terms: tuple[str, ...]
    """All terms, in their order."""
    phrases: tuple[tuple[str, ...], ...]
    names: frozenset[str]
    """Terms of words with a capital letter that do not begin the query."""


class Answer(NamedTuple):
    """What came of a query."""

    mode: str
    hits: tuple[Hit, ...]
    total: int
    degraded: tuple[str, ...]
    notices: tuple[str, ...] = ()


def understand(query: Query) -> Asked:
    """Read a query as the indexes do; words that say nothing by themselves are left out where there are others."""
    each = {word: asked_for(word) for word in dict.fromkeys((*query.words, *query.phrases))}
    telling = {word: kept for word, found in each.items() if (kept := tuple(t for t in found if t not in STOP_WORDS))}
    words = telling or {word: found for word, found in each.items() if found}
    phrases = tuple(found for phrase in query.phrases if (found := asked_for(phrase)))
    capitals = (word for word in re.findall(_NAMED, query.text)[1:] if word[0].isupper() and len(word) > 1)
    names = frozenset(term for word in capitals for term in terms(word) if len(term) > 1)
    return Asked(query, words, tuple(term for found in words.values() for term in found), phrases, names)


class Meaning(NamedTuple):
    """The vector of a query, as the index has them, and the model that it is of."""

    vector: bytes
    model: str

    def text_share(self, terms: int) -> float:
        """What words count for beside it."""
        if self.model == "static":
            return _STATIC_SHARE
        length = min(max(terms - _SHORT_QUERY, 0) / (_LONG_QUERY - _SHORT_QUERY), 1.0)
        return _SHARE - (_SHARE - _LONG_SHARE) * length

    def trust(self, text: str) -> float:
        """What it counts for by itself: a model that was taught English only says little of other scripts."""
        if self.model != "minilm":
            return 1.0
        letters = [sign for sign in text if sign.isalpha()]
        return sum(sign < _LATIN for sign in letters) / len(letters) if letters else 1.0


def ask(
    sources: Sequence[Source],
    asked: Asked,
    meaning: Meaning | None,
    *,
    mode: str,
    limit: int,
    only: Filter,
    means: Means,
) -> Answer:
    """Find the best notes; where the meaning of the query is not known, by its words."""
    question = _Question(sources, asked, meaning, mode=mode if meaning else "text", limit=limit, only=only, means=means)
    with ExitStack() as each:
        for source in sources:
            each.enter_context(source.index.reading())
        return question.answer()


class _Question:
    def __init__(
        self,
        sources: Sequence[Source],
        asked: Asked,
        meaning: Meaning | None,
        *,
        mode: str,
        limit: int,
        only: Filter,
        means: Means,
    ) -> None:
        self.sources = sources
        self.asked = asked
        self.meaning = meaning
        self.vector = meaning.vector if meaning else b""
        self.mode = mode
        self.limit = limit
        self.only = only
        self.means = means
        self.pool = max(_POOL, limit)
        self.counted: dict[Key, Counted] = {}
        self.counts: dict[Key, Sequence[float]] = {}
        """How often each passage holds each term, with what it borrows."""
        self.near: dict[Key, list[Key]] = {}
        """The neighbours of each short passage that has some."""
        self.text: dict[Key, float] = {}
        """The text score of each passage."""
        self.cosines: dict[Key, float] = {}
        self.notices: tuple[str, ...] = ()

    def answer(self) -> Answer:
        narrowing = [self._narrowing(source) for source in self.sources]
        self.weights, found = self._by_words(narrowing)
        if not found and self._may_loosen():
            self.weights, found = self._by_words(narrowing)
        if self.vector:
            found |= self._by_meaning(narrowing)
        self._count(found)
        self._borrow(narrowing)
        self._score_text()
        if self.vector:
            self._complete_cosines()
        notes = self._score_notes()
        successions = {each.vault.name: Succession(each.vault, each.index.files_numbered) for each in self.sources}
        standing = in_force(self._hits(scoring.ranked(notes), notes), successions, self.only, self._keyed)
        hits = islice(standing, self.limit)
        partial = any(source.index.totals().vectors < source.index.totals().passages for source in self.sources)
        degraded = ("vectors-partial",) if self.vector and partial else ()
        return Answer(self.mode, tuple(hits), len(notes), degraded, self.notices)

    def _keyed(self, name: str, category: str, key: str) -> Iterator[Note]:
        """The memories of a vault that have a category and a key, as their files say."""
        for source in self.sources:
            if source.vault.name == name:
                files = search.files_with(source.index, category, key)
                notes = source.vault.read_named(MEMORY, files).values()
                yield from (note for note in notes if (note.category, note.key) == (category, key))

    # --------------------------------------------------------------------------------------------------------- candidates

    def _narrowing(self, source: Source) -> Narrowing:
        only = self.only
        kinds = tuple(kind for kind in only.kinds if kind not in source.unseen)
        return search.Narrowing(
            kinds,
            set(kinds) == set(FOLDERS),
            only.tags,
            only.category,
            only.key,
            moment(only.after) if only.after else None,
            moment(only.before) if only.before else None,
            # a day before yesterday: which day it is, is different elsewhere, and what is read tells for certain
            "" if only.expired else time.strftime("%Y-%m-%d", time.localtime(time.time() - 2 * _DAY)),
            only.languages if source.vault.name == GLOBAL else None,
        )

    def _by_words(self, narrowing: Sequence[Narrowing]) -> tuple[Weights, set[Key]]:
        frequency: dict[str, int] = {}
        passages = total = 0
        found: set[Key] = set()
        for place, (_vault, index, _unseen) in enumerate(self.sources):
            mine = search.frequencies(index, self.asked.terms)
            for term, number in mine.items():
                frequency[term] = frequency.get(term, 0) + number
            totals = index.totals()
            passages, total = passages + totals.passages, total + totals.terms
            if self.mode != "vector":
                wanted = search.Terms(tuple(mine), self.asked.phrases)
                found.update((place, each) for each in search.matching(index, wanted, mine, narrowing[place], self.pool))
        return scoring.weigh(self.asked.terms, self.asked.names, frequency, passages, total), found

    def _may_loosen(self) -> bool:
        """Take a phrase that no note holds for its words, where it stands among others: whoever quotes a title in a question
        wants an answer. A phrase by itself is meant as it stands."""
        phrases = self.asked.phrases
        if not phrases or self.mode == "vector" or self.asked.words.keys().isdisjoint(self.asked.query.words):
            return False
        self.asked = self.asked._replace(phrases=())
        self.notices = ("No note holds what stands in quotation marks as it stands; its words were searched for.",)
        return True

    def _by_meaning(self, narrowing: Sequence[Narrowing]) -> set[Key]:
        from co_cli.index import vectors

        for place, (_vault, index, _unseen) in enumerate(self.sources):
            for passage, cosine in vectors.nearest(index, self.vector, narrowing[place], self.pool):
                self.cosines[place, passage] = cosine
        return set(self.cosines)

    def _count(self, keys: Iterable[Key]) -> None:
        for place, ids in _by_place(keys).items():
            for passage in search.passages(self.sources[place].index, ids):
                self.counted[place, passage.id] = scoring.count(passage, self.weights)

    def _complete_cosines(self) -> None:
        """Find the cosines of the passages that were found by their words."""
        from co_cli.index import vectors

        for place, ids in _by_place(key for key in self.text if key not in self.cosines).items():
            for passage, cosine in vectors.cosines(self.sources[place].index, self.vector, ids):
                self.cosines[place, passage] = cosine

    # ------------------------------------------------------------------------------------------------------------ scoring

    def _score_text(self) -> None:
        if self.mode != "vector":
            for key, counted in self.counted.items():
                score = scoring.text_score(counted.passage, self.counts[key], self.weights)
                if score and self._has_phrases(counted.passage):
                    self.text[key] = score

    def _borrow(self, narrowing: Sequence[Narrowing]) -> None:
        """Look at the notes beside the best short ones as well, which may be what those are about, and let each borrow."""
        alone = {key: scoring.text_score(each.passage, each.counts, self.weights) for key, each in self.counted.items()}
        best = [key for key in scoring.ranked(alone)[:_AROUND] if self.counted[key].shortness]
        if self.vector:
            best = list(dict.fromkeys((*best, *(key for key in self.cosines if self.counted[key].shortness))))
        for place, ids in _by_place(best).items():
            near = [self.counted[place, each].passage for each in ids]
            known = {key[1] for key in self.counted if key[0] == place}
            found = search.beside(self.sources[place].index, near, scoring.REACH, scoring.TOGETHER, narrowing[place])
            self._count((place, passage) for passage in found if passage not in known)
        numbered = {
            (key[0], counted.passage.kind, counted.passage.number): counted
            for key, counted in self.counted.items()
            if counted.shortness
        }
        for key, counted in self.counted.items():
            near_by = self._neighbours(key, counted, numbered) if counted.shortness else []
            self.counts[key] = scoring.with_borrowed(counted, near_by)
            if near_by:
                self.near[key] = [(key[0], other.passage.id) for other in near_by]

    @staticmethod
    def _neighbours(key: Key, counted: Counted, numbered: dict[tuple[int, str, int | None], Counted]) -> list[Counted]:
        passage = counted.passage
        if passage.number is None:
            return []
        place, kind, number = key[0], passage.kind, passage.number
        found = [numbered.get((place, kind, number + distance)) for distance in _AROUND_IT]
        return [other for other in found if other and scoring.are_neighbours(passage, other.passage)]

    def _has_phrases(self, passage: Passage) -> bool:
        return all(
            any(sought(phrase) in field for field in (passage.body, passage.name, passage.tags))
            for phrase in self.asked.phrases
        )

    def _score_notes(self) -> dict[Key, float]:
        """The score of each note; which passage of it is shown is decided by the same weighing."""
        text = self._note_texts()
        cosines = self._note_cosines()
        if self.asked.phrases and self.mode != "vector":
            cosines = {key: cosine for key, cosine in cosines.items() if key in text}
        share = self.meaning.text_share(len(self.weights.terms)) if self.meaning else 1.0
        if self.mode == "vector":
            fused = {key: cosine for key, cosine in cosines.items() if cosine > 0}
        elif self.meaning and self.means.fusion == "rrf":
            fused = scoring.reciprocal_ranks(text, cosines)
        else:
            fused = scoring.weighted(text, cosines, share)
        self.note_texts, self.top = text, max(text.values(), default=0.0) or 1.0
        self.shown = self._best_passages(share)
        self.uses = self._look_up_uses() if self.means.boosts and os.path.exists(self.means.usage_log) else {}
        # what shares neither a word nor a meaning with the query is no answer to it, however recent it is
        return {key: score + self._boost(self.shown[key])[0] for key, score in fused.items() if score > 0}

    def _look_up_uses(self) -> dict[Key, float]:
        """How often each note was used lately."""
        from co_cli.warmth import uses

        notes: dict[tuple[str, str], Key] = {}
        for note, shown in self.shown.items():
            passage = self.counted[shown].passage
            name = lasting_name(passage.kind, passage.number, passage.file.removesuffix(".md"))
            notes[self.sources[note[0]].vault.key, name] = note
        return {notes[name]: found for name, found in uses(self.means.usage_log, notes, time.time()).items()}

    def _note_cosines(self) -> dict[Key, float]:
        trust = self.meaning.trust(self.asked.query.text) if self.meaning else 0.0
        cosines: dict[Key, float] = {}
        for key, own in self.cosines.items():
            counted, note = self.counted[key], self._note_of(key)
            near = [self.cosines[other] for other in self.near.get(key, ()) if other in self.cosines]
            cosine = scoring.cosine_among(own, near, counted.passage) if key in self.near else own
            cosines[note] = max(cosine * trust, cosines.get(note, -1.0))
        return cosines

    def _note_of(self, key: Key) -> Key:
        return key[0], self.counted[key].passage.note

    def _note_texts(self) -> dict[Key, float]:
        best: dict[Key, Key] = {}
        long: dict[Key, None] = {}
        for key in scoring.ranked(self.text):
            note = self._note_of(key)
            best.setdefault(note, key)
            if self.counted[key].passage.parts > 1 and len(long) < _WHOLES:
                long[note] = None
        wholes = self._wholes(long)
        alone = {
            note: (scoring.plain_score(self.counted[key].passage, self.counts[key], self.weights), self.counts[key])
            for note, key in best.items()
        }
        return {
            note: scoring.note_score(self.text[key], *wholes.get(note, alone[note]), self.weights)
            for note, key in best.items()
        }

    def _wholes(self, notes: Iterable[Key]) -> dict[Key, tuple[float, Sequence[float]]]:
        """The scores of long notes as a whole, with how often they hold each term."""
        counts: dict[Key, list[float]] = {}
        lengths: dict[Key, int] = {}
        for place, ids in _by_place(notes).items():
            for passage in search.passages_of(self.sources[place].index, ids):
                key = (place, passage.note)
                found = scoring.count(passage, self.weights).counts
                counts[key] = [have + more for have, more in zip(counts.get(key, (0.0,) * len(found)), found, strict=True)]
                lengths[key] = lengths.get(key, 0) + passage.length
        average = sum(lengths.values()) / len(lengths) if lengths else 1.0
        return {
            key: (scoring.whole_score(found, lengths[key], average, self.weights), found) for key, found in counts.items()
        }

    def _best_passages(self, share: float) -> dict[Key, Key]:
        """The passage of each note that answers best."""
        top = max(self.text.values(), default=0.0) or 1.0
        shown: dict[Key, tuple[float, Key]] = {}
        for key in self.counted:
            score = share * self.text.get(key, 0.0) / top + (1 - share) * self.cosines.get(key, 0.0)
            note = self._note_of(key)
            if note not in shown or score > shown[note][0]:
                shown[note] = (score, key)
        return {note: key for note, (_score, key) in shown.items()}

    def _boost(self, key: Key) -> tuple[float, tuple[str, ...]]:
        passage = self.counted[key].passage
        boost, names = 0.0, []
        first, last = self.asked.query.span
        if first and moment(first) <= passage.created < moment(last):
            boost, names = _SPAN, ["of the time asked about"]
        if self.means.boosts:
            recent = scoring.recency(passage.created, time.time())
            uses = self.uses.get(self._note_of(key), 0.0)
            boost += _RECENCY * recent + _PINNED * passage.pinned + _USED * uses / (uses + _OFTEN)
            reasons = (("recent", recent > 0.5), ("pinned", passage.pinned), ("often used", uses > _OFTEN))  # noqa: PLR2004
            names += [name for name, is_so in reasons if is_so]
        return boost, tuple(names)

    # --------------------------------------------------------------------------------------------------------------- hits

    def _hits(self, keys: Sequence[Key], scores: Mapping[Key, float]) -> Iterator[Hit]:
        """Read notes from their files, as many at once as are asked for; some may turn out to be none any more."""
        for start in range(0, len(keys), self.limit):
            batch = keys[start : start + self.limit]
            files: dict[tuple[int, str], list[str]] = {}
            for key in batch:
                passage = self.counted[self.shown[key]].passage
                files.setdefault((key[0], passage.kind), []).append(passage.file)
            stamps: dict[tuple[int, str, str], int] = {}
            notes: dict[tuple[int, str, str], Note] = {}
            for (place, kind), names in files.items():
                vault = self.sources[place].vault
                notes.update(((place, kind, name), note) for name, note in vault.read_named(kind, names).items())
                # afterwards: what is still as it was indexed now, was so when it was read
                stamps.update(((place, kind, name), vault.settled_stamp(kind, name)) for name in names)
            for key in batch:
                passage = self.counted[self.shown[key]].passage
                file = (key[0], passage.kind, passage.file)
                if file in notes and self.only.admits(notes[file]):
                    hit = self._hit(key, scores[key], notes[file], stamps[file])
                    if hit:
                        yield hit

    def _hit(self, key: Key, score: float, note: Note, stamp: int) -> Hit | None:
        """Show a note as its file says it; ``stamp`` is that of the file just after it was read."""
        shown = self.shown[key]
        passage = self.counted[shown].passage
        if not (stamp and stamp == passage.stamp) and bytes.fromhex(note.sha) != passage.sha:
            return self._changed_hit(key, note, score)
        why = self._why(key, shown, passage)
        content = note.body[passage.start : passage.stop]
        return Hit(
            note, round(score, 4), why, content, passage.heading, passage.line, self._anchor(passage, content), passage.page
        )

    def _anchor(self, passage: Passage, content: str) -> str:
        """The name of the heading in a passage under which most of what was asked for stands."""
        if " " not in passage.anchor:
            return passage.anchor
        from co_cli.citation import nearest

        def held(text: str) -> list[str]:
            line = as_line(terms(text))
            return [word for word, each in self.asked.words.items() if any(sought((term,)) in line for term in each)]

        return nearest(passage.anchor, content, held)

    def _changed_hit(self, key: Key, note: Note, score: float) -> Hit | None:
        """A note that was changed in this very moment: it is an answer if it still has words that were asked for."""
        from co_cli.pages import without_marks

        shown, content = self.shown[key], without_marks(note.body)
        name, tags, body = (as_line(terms(text)) for text in (note.title, " ".join(note.tags), content))
        now = self.counted[shown].passage._replace(name=name, tags=tags, body=body)
        why = self._why(key, shown, now)
        return Hit(note, round(score, 4), why, content) if why.words and self._has_phrases(now) else None

    def _why(self, key: Key, shown: Key, passage: Passage) -> Why:
        found = {word: where for word, each in self.asked.words.items() if (where := scoring.places(passage, each))}
        match = BESIDE if self.text.get(shown) else MEANING
        if self.asked.phrases:
            match = PHRASE
        elif found:
            match = ALL if len(found) == len(self.asked.words) else ANY
        text, cosine = self.note_texts.get(key, 0.0) / self.top, self.cosines.get(shown)
        return Why(
            match,
            tuple(found),
            tuple(dict.fromkeys(place for where in found.values() for place in where)),
            round(text, 3) if self.mode != "vector" else None,
            round(cosine, 3) if cosine is not None else None,
            self._boost(shown)[1],
        )


def _by_place(keys: Iterable[Key]) -> dict[int, list[int]]:
    """Ids by the place of their vault."""
    by_place: dict[int, list[int]] = {}
    for place, each in keys:
        by_place.setdefault(place, []).append(each)
    return by_place
