"""The example vault: copied into a project, it is read without a word of complaint."""

from __future__ import annotations

import shutil
from pathlib import Path

from co_cli import KnowledgeBase

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "knowledge"


def test_the_example_vault_loads_without_a_warning(kb: KnowledgeBase, vault: Path) -> None:
    kb.init()
    shutil.copytree(EXAMPLE, vault, dirs_exist_ok=True)

    listing = kb.list()
    assert len(listing.notes) == len(list(EXAMPLE.glob("memories/*.md"))) > 0
    assert not listing.problems
    assert not kb.check().findings

    prompt = kb.prompt("offline")
    assert not prompt.notices
    assert "### Project Context\n# Project\n\n- Language: Python 3.11\n" in prompt.text


def test_the_example_memory_is_found_by_its_words_and_by_its_tag(kb: KnowledgeBase, vault: Path) -> None:
    shutil.copytree(EXAMPLE, vault, dirs_exist_ok=True)

    for query in ("retries", "decision", "given up"):
        found = kb.recall(query)
        assert not found.problems
        assert [hit.note.ref for hit in found.hits] == ["1"]


def test_what_co_changes_in_the_example_is_only_what_was_asked_for(kb: KnowledgeBase, vault: Path) -> None:
    shutil.copytree(EXAMPLE, vault, dirs_exist_ok=True)
    before = (EXAMPLE / "memories" / "001-example.md").read_text(encoding="utf-8")

    after = kb.update("1", pinned=True).note.text

    assert after == before.replace("category: project_insights\n", "category: project_insights\npinned: true\n")
    kb.undo()
    assert kb.get("1").text == before
