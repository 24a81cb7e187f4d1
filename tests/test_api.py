"""The Python API: its names, and that using it is as simple as the docs say."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import co_cli
from co_cli import CoError, Conflict, Denied, Invalid, KnowledgeBase, NotFound, open_knowledge


def test_the_public_names_are_these() -> None:
    assert sorted(co_cli.__all__) == [
        "CoError",
        "Conflict",
        "Corrupt",
        "Denied",
        "Hit",
        "Invalid",
        "KnowledgeBase",
        "NotFound",
        "Note",
        "Problem",
        "Recalled",
        "Saved",
        "Unavailable",
        "__version__",
        "open_knowledge",
    ]
    for name in co_cli.__all__:
        assert getattr(co_cli, name) is not None


def test_the_verbs_of_a_knowledge_base_are_these() -> None:
    verbs = {name for name, member in inspect.getmembers(KnowledgeBase) if not name.startswith("_") and callable(member)}
    assert verbs == {
        "archive",
        "article",
        "article_from",
        "articles",
        "as_one",
        "changed_seeds",
        "check",
        "context",
        "coverage",
        "delete_article",
        "delete_topic",
        "demote",
        "details",
        "forget",
        "get",
        "init",
        "link",
        "links",
        "list",
        "load_seeds",
        "log",
        "log_call",
        "match",
        "mode",
        "named",
        "neighbours",
        "original",
        "originals",
        "part",
        "personalities",
        "promote",
        "prompt",
        "purge",
        "recall",
        "ref",
        "rehearse",
        "reindex",
        "save",
        "save_article",
        "save_articles",
        "search_topics",
        "settings",
        "supersede",
        "sync",
        "take_seeds",
        "topic",
        "topics",
        "undo",
        "unlink",
        "update",
        "usage",
        "vault",
        "write_topic",
    }


def test_the_names_of_the_first_design_are_where_they_were_said_to_be() -> None:
    from co_cli.context import SIZE_LIMIT, SIZE_TARGET, load_internal_knowledge
    from co_cli.frontmatter import (
        parse_frontmatter,
        strip_frontmatter,
        validate_context_frontmatter,
        validate_memory_frontmatter,
    )
    from co_cli.prompt import get_system_prompt

    assert (SIZE_TARGET, SIZE_LIMIT) == (10240, 20480)
    named = (load_internal_knowledge, parse_frontmatter, strip_frontmatter, get_system_prompt)
    assert all(map(callable, (*named, validate_context_frontmatter, validate_memory_frontmatter)))
    assert [*inspect.signature(get_system_prompt).parameters] == ["provider", "personality"]


def test_a_project_can_be_named_and_is_used_from_anywhere(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    saved = open_knowledge(project).save("Named from outside")
    assert Path(saved.note.path).is_relative_to(project)
    assert open_knowledge(str(project)).get("1").body == "Named from outside"
    with pytest.raises(NotFound):
        open_knowledge(tmp_path / "nowhere")


def test_errors_are_of_one_tree_and_carry_a_kind_and_a_hint(kb: KnowledgeBase) -> None:
    with pytest.raises(CoError) as caught:
        kb.get("12")
    assert (caught.value.kind, bool(caught.value.hint)) == ("not_found", True)
    for error, act in [
        (Invalid, lambda: kb.save("")),
        (Invalid, lambda: kb.save("lone \ud800 surrogate")),
        (Denied, lambda: kb.save("-----BEGIN PRIVATE " + "KEY-----")),
        (NotFound, kb.undo),
        (Invalid, lambda: kb.recall("x", mode="magic")),
    ]:
        with pytest.raises(error):
            act()


def test_a_note_that_was_changed_since_it_was_read_is_not_overwritten(kb: KnowledgeBase) -> None:
    note = kb.save("We deploy on Fridays").note
    kb.update("1", content="We deploy on Mondays")
    with pytest.raises(Conflict) as caught:
        kb.update("1", content="We deploy on Sundays", expected_sha=note.sha)
    assert "Mondays" in caught.value.details
    assert "Sundays" in caught.value.details
    assert kb.get("1").body == "We deploy on Mondays"


def test_a_sync_brings_the_index_in_line_and_says_what_it_did(kb: KnowledgeBase) -> None:
    assert kb.sync() == {}, "where there is no vault, there is nothing to bring in line"
    saved = kb.save("We deploy on Fridays")
    kb.save("I prefer short answers", in_global=True)
    reports = kb.sync()
    assert list(reports) == ["project", "global"]
    assert [*map(Path, reports["project"].indexed)] == [Path(saved.note.path)]
    assert (kb.coverage()["project"].indexed, kb.coverage()["project"].vectors) == (1, 1)
    again = kb.sync()["project"]
    assert (again.indexed, again.unchanged) == ((), 1)
    kb.forget("1")
    assert kb.coverage()["project"].files == 0


def test_results_cannot_be_changed_by_accident(kb: KnowledgeBase) -> None:
    note = kb.save("We deploy on Fridays").note
    with pytest.raises(AttributeError):
        note.body = "other"  # type: ignore[misc]


def test_importing_the_package_loads_next_to_nothing() -> None:
    code = "import sys; before = set(sys.modules); import co_cli; print(*sorted(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False)
    assert "co_cli.knowledge" not in loaded.stdout.split()
