"""What a search of a large index costs is bounded, and what was asked for is found all the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from co_cli.index.search import Narrowing, Terms, frequencies, matching
from co_cli.index.store import Entry, Index, Part
from co_cli.note import FOLDERS

NOTES, MOST = 31_000, 30_000
EVERY = Narrowing(tuple(FOLDERS))

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Notes that all hold one word; every hundredth holds a second one, and only the first has a tag."""
    index = Index(str(tmp_path_factory.mktemp("index") / "knowledge.db"))
    with index.writing():
        for number in range(1, NOTES + 1):
            text = f"heron {number}{' kingfisher' if number % 100 == 1 else ''}"
            tags = ("pond",) if number == 1 else ()
            part = Part(0, len(text), 1, "", text, number)
            index.put(Entry("memory", f"{number}.md", number, b"", number=number, tags=tags, parts=(part,)))
    yield index
    index.close()


def found(index: Index, *words: str, narrowing: Narrowing = EVERY, phrases=(), limit: int = NOTES) -> list[int]:
    return matching(index, Terms(words, phrases), frequencies(index, words), narrowing, limit)


def test_of_a_word_that_nearly_all_notes_hold_those_are_ranked_that_came_last(index: Index) -> None:
    ids = found(index, "heron")
    assert len(ids) == MOST
    assert set(ids) == set(range(NOTES - MOST + 1, NOTES + 1))


def test_a_filter_finds_what_came_first_too(index: Index) -> None:
    assert found(index, "heron", narrowing=EVERY._replace(tags=("pond",), all_kinds=True)) == [1]


def test_a_phrase_finds_what_came_first_too(index: Index) -> None:
    assert found(index, "heron", phrases=(("heron", "1"),)) == [1]


def test_a_rarer_word_beside_it_finds_all_that_hold_it(index: Index) -> None:
    assert set(found(index, "heron", "kingfish")) == set(range(1, NOTES + 1, 100))
