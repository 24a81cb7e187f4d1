"""The vaults that are measured: notes of made-up words, the same at every run.

Owns the words, how often each is said, the notes that are written of them, and the queries that are put to them. Knows
nothing of how notes are searched, nor of what is measured.

As in any language, few words are most of the text, and a larger vault knows more words: in notes of 60 words the commonest
word stands in nearly all of them, the tenth in half, the hundredth in one of twenty, and half of all words in a handful.
What a search costs depends on exactly that.
"""

from __future__ import annotations

import os
import random
import tempfile
from bisect import bisect
from itertools import accumulate
from typing import TYPE_CHECKING

from co_cli.note import FOLDERS, MEMORY, PROJECT
from co_cli.retrieval.words import STOP_WORDS
from co_cli.settings import PROJECT_FOLDER
from co_cli.vault import Vault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

WORDS_PER_NOTE = 60
RARE_WORD = "zanzibar"
"""A word that every thousandth note holds, whatever the size of the vault."""
_RARE_EVERY = 1000
_SEED = 20260209
_FEWEST_WORDS, _WORDS_PER_ROOT = 5000, 20
"""The vocabulary grows with the square root of the text, as that of any language does."""
_CONSONANTS, _VOWELS = "bcdfghklmnprstvw", "aeiou"
_MEDIUM, _COMMON = (0.003, 0.03), (0.1, 0.5)
"""The share of the notes that hold a medium, and a common word."""
_SYLLABLES = (2, 4)


class Language:
    """The words of a vault of so many notes, the commonest first."""

    def __init__(self, notes: int) -> None:
        rng = random.Random(_SEED)  # noqa: S311 - repeatable on purpose
        wanted = max(_FEWEST_WORDS, round(_WORDS_PER_ROOT * (notes * WORDS_PER_NOTE) ** 0.5))
        words: dict[str, None] = {}
        while len(words) < wanted:
            syllables = rng.randint(*_SYLLABLES)
            word = "".join(rng.choice(_CONSONANTS) + rng.choice(_VOWELS) for _ in range(syllables))
            if word not in STOP_WORDS:
                words[word] = None
        self.words = list(words)
        self.weights = list(accumulate(1 / rank for rank in range(1, wanted + 1)))

    def shared_by(self, low: float, high: float) -> list[str]:
        """The words that stand in such a share of the notes."""
        ranks = [rank for rank in range(1, len(self.words) + 1) if low <= self._share(rank) <= high]
        return [self.words[rank - 1] for rank in ranks]

    def _share(self, rank: int) -> float:
        return 1 - (1 - 1 / (rank * self.weights[-1])) ** WORDS_PER_NOTE

    def rarest(self) -> list[str]:
        """The last quarter of the words: each stands in a handful of notes."""
        return self.words[-len(self.words) // 4 :]

    def text(self, rng: random.Random, words: int) -> list[str]:
        """So many words as they are said."""
        total = self.weights[-1]
        return [self.words[bisect(self.weights, rng.random() * total)] for _ in range(words)]


def each_size(
    sizes: Sequence[int], progress: Callable[[str, int, int], None], kind: str = MEMORY
) -> Iterator[tuple[int, str]]:
    """Each size with a project that has a vault of so many notes; it is gone when the next one comes."""
    for size in sorted(sizes):
        with tempfile.TemporaryDirectory(prefix="co-bench-") as project:
            write_vault(project, size, progress, kind)
            yield size, project


def write_vault(project: str, size: int, progress: Callable[[str, int, int], None] | None = None, kind: str = MEMORY) -> str:
    """Write a vault of so many notes of a kind into a project; returns their folder."""
    folder = os.path.join(project, PROJECT_FOLDER, "knowledge", FOLDERS[kind])
    os.makedirs(folder)
    for number, (name, text) in enumerate(_notes(size, kind), start=1):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(text)
        if progress and number % _RARE_EVERY == 0:
            progress(f"writing {size:,} notes", number, size)
    return folder


def open_vault(project: str) -> Vault:
    """The vault of a project that was written so."""
    root = os.path.join(project, PROJECT_FOLDER, "knowledge")
    return Vault(root, PROJECT, os.path.join(project, "state", "journal"))


def _notes(size: int, kind: str) -> Iterator[tuple[str, bytes]]:
    language, rng = Language(size), random.Random(_SEED)  # noqa: S311 - repeatable on purpose
    for number in range(1, size + 1):
        text = language.text(rng, WORDS_PER_NOTE)
        if number % _RARE_EVERY == 1:
            text[WORDS_PER_NOTE // 2] = RARE_WORD
        slug = "-".join(text[:10])[:50].strip("-")
        day = f"2026-{1 + number % 12:02d}-{1 + number % 28:02d}T{number % 24:02d}:00:00+00:00"
        name = f"{number:03d}-{slug}" if kind == MEMORY else f"{slug}-{number}"
        own = f"id: {number}" if kind == MEMORY else f"topic: {name}"
        source = "user-told" if kind == MEMORY else "user"
        header = f"{own}\ncreated: {day}\ntags: [{text[0]}, {text[1]}]\nsource: {source}\n"
        yield f"{name}.md", f"---\n{header}---\n\n{' '.join(text)}\n".encode("ascii")


def queries(size: int, each: int) -> dict[str, list[str]]:
    """So many queries of each kind for a vault of this size."""
    language, rng = Language(size), random.Random(_SEED + 1)  # noqa: S311 - repeatable on purpose
    rare, medium, common = language.rarest(), language.shared_by(*_MEDIUM), language.shared_by(*_COMMON)

    def one_of(*words: list[str]) -> str:
        return " ".join(rng.choice(choices) for choices in words)

    return {
        "a rare word": [one_of(rare) for _ in range(each)],
        "a medium word": [one_of(medium) for _ in range(each)],
        "a common word": [one_of(common) for _ in range(each)],
        "six words as they are said": [" ".join(language.text(rng, 6)) for _ in range(each)],
        "rare, medium and common words": [one_of(common, medium, common, rare) for _ in range(each)],
    }
