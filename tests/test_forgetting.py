"""What was forgotten is gone from everything that was derived from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from co_cli import KnowledgeBase


@pytest.mark.parametrize("mode", ["text", "hybrid"])
def test_a_note_that_is_forgotten_leaves_none_of_its_words_in_the_files_of_the_index(
    kb: KnowledgeBase, vault: Path, mode: str
) -> None:
    for number in range(20):
        kb.save(f"Release {number} was tagged by hand", tags=["release"])
    kb.save("The merger with Heronsbill is off", tags=["quagga"])
    assert kb.recall("heronsbill", mode=mode).hits
    kb.forget("21")
    for file in vault.glob("knowledge.db*"):
        raw = file.read_bytes().lower()
        for word in (b"heronsb", b"quagga", b"merger"):
            assert word not in raw, (file.name, word)
    assert kb.recall("heronsbill", mode="text").hits == ()
