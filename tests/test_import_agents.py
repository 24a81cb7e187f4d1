"""What Claude Code, Codex and Gemini CLI remember is taken over, from where they keep it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from commands import Co

from co_cli import Invalid, KnowledgeBase, NotFound
from co_cli.exchange.claude import import_claude
from co_cli.exchange.codex import import_codex
from co_cli.exchange.gemini import import_gemini
from co_cli.exchange.report import ImportReport


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def outcomes(report: ImportReport) -> list[tuple[str, str, str]]:
    return [(Path(entry.file).name, entry.outcome, entry.ref or entry.code) for entry in report.entries]


MEMORY = """---
name: {name}
description: what it is about
{kind}
---

Integration tests must hit a real database, see [[ci-setup]].

**Why:** mocks passed while the migration failed
"""


@pytest.fixture
def claude_memory(project: Path, tmp_path: Path) -> Path:
    """The memory folder that Claude Code has for this project."""
    name = re.sub(r"[^A-Za-z0-9]", "-", os.path.realpath(project))
    folder = tmp_path / "home" / ".claude" / "projects" / name / "memory"
    put(
        folder / "MEMORY.md",
        "# Index\n\n- [Tests](feedback_tests.md) — a real database\n- The user reads diffs before prose\n",
    )
    put(folder / "feedback_tests.md", MEMORY.format(name="feedback_tests", kind="metadata:\n  type: feedback"))
    put(folder / "role.md", MEMORY.format(name="role", kind="type: project").replace("Integration", "Unit"))
    put(folder / "debugging.md", "# Debugging\n\nLook at the queue first.\n")
    return folder


def test_the_memory_folder_of_a_project_is_found_from_the_project(
    kb: KnowledgeBase, project: Path, claude_memory: Path
) -> None:
    report = import_claude(kb, str(project))
    assert outcomes(report) == [
        ("debugging.md", "created", "topic:claude-code_debugging"),
        ("feedback_tests.md", "created", "1"),
        ("role.md", "created", "2"),
        ("MEMORY.md", "created", "3"),
        ("MEMORY.md", "skipped", "index"),
    ]
    note = kb.get("1")
    assert note.body.startswith("Integration tests must hit a real database, see ci-setup.\n\n**Why:**")
    assert (note.category, note.key, note.source, note.pinned) == ("user_preferences", "feedback_tests", "imported", False)
    assert note.tags == ("imported", "claude-code", "feedback")
    assert note.because == "imported from claude-code: memory/feedback_tests.md"
    assert kb.get("2").category == "project_insights"
    assert kb.get("3").body == "The user reads diffs before prose"


def test_importing_again_changes_nothing_and_a_memory_that_changed_there_is_updated(
    kb: KnowledgeBase, claude_memory: Path
) -> None:
    import_claude(kb, str(claude_memory))
    assert import_claude(kb, str(claude_memory)).counts == {"unchanged": 4, "skipped": 1}
    changed = put(
        claude_memory / "feedback_tests.md", MEMORY.format(name="feedback_tests", kind="type: feedback") + "\nMore.\n"
    )
    os.utime(changed, (2e9, 2e9))
    assert import_claude(kb, str(claude_memory)).counts == {"updated": 1, "unchanged": 3, "skipped": 1}
    assert kb.get("1").body.endswith("More.")


def test_instructions_become_topics_with_the_files_that_they_take_in(
    kb: KnowledgeBase, project: Path, tmp_path: Path
) -> None:
    put(project / "CLAUDE.md", "See @docs/style.md, `@docs/not.md`, @nobody and @../../secret.md.\n\n- Deploy on Fridays\n")
    put(project / "docs" / "style.md", "Tabs. More in @deep.md\n")
    put(project / "docs" / "deep.md", "Deeper. Back to @../CLAUDE.md\n")
    put(project / "docs" / "not.md", "In code, so not taken in\n")
    put(project / ".claude" / "rules" / "kind.md", "Be kind\n")
    put(tmp_path / "secret.md", "Outside\n")
    put(project.parent.parent / "secret.md", "Outside of the project\n")
    report = import_claude(kb, str(project))
    assert outcomes(report) == [
        ("CLAUDE.md", "created", "topic:claude_code_instructions"),
        ("style.md", "created", "topic:claude_code_style"),
        ("deep.md", "created", "topic:claude_code_deep"),
        ("secret.md", "skipped", "outside"),
        ("kind.md", "created", "topic:claude_code_kind"),
    ]
    assert "Outside" not in "".join(note.body for note in kb.topics().notes)


def test_instructions_can_become_a_memory_for_each_thing_that_they_say(kb: KnowledgeBase, project: Path) -> None:
    rules = "# Rules\n\nWe use pytest.\n\n## Deploy\n\n- On Fridays:\n  - never at night\n\n- Ask first\n\n"
    put(project / "CLAUDE.md", rules + "```sh\nmake deploy\n```\n\n<!-- x -->\n---\n")
    report = import_claude(kb, str(project / "CLAUDE.md"), as_what="memories")
    assert [(entry.at, entry.outcome) for entry in report.entries] == [
        ("line 3", "created"),
        ("line 7", "created"),
        ("line 10", "created"),
    ]
    assert [note.body for note in kb.list().notes] == [
        "We use pytest.",
        "On Fridays:\n  - never at night",
        "Ask first\n\n```sh\nmake deploy\n```",
    ]
    assert kb.get("2").because == "imported from claude-code: project/CLAUDE.md, Deploy"


def test_what_is_mine_alone_goes_into_my_own_vault_only(kb: KnowledgeBase, project: Path) -> None:
    put(project / "CLAUDE.md", "Ours\n")
    put(project / "CLAUDE.local.md", "Mine\n")
    assert outcomes(import_claude(kb, str(project)))[0] == ("CLAUDE.local.md", "skipped", "personal")
    assert [note.body for note in kb.topics().notes] == ["Ours"]
    import_claude(kb, str(project), in_global=True)
    assert kb.get("g:topic:claude_code_my_instructions").body == "Mine"


def test_the_memories_of_other_projects_are_named_and_left(kb: KnowledgeBase, tmp_path: Path, claude_memory: Path) -> None:
    put(tmp_path / "home" / ".claude" / "CLAUDE.md", "Be brief\n")
    report = import_claude(kb, str(tmp_path / "home" / ".claude"), in_global=True)
    assert outcomes(report) == [
        ("CLAUDE.md", "created", "g:topic:claude_code_instructions"),
        ("memory", "skipped", "project"),
    ]


GEMINI = (
    "# Mine\n\nBe brief.\n\n## Gemini Added Memories\n- My cat is called Ada\n- I work with Rust\n\n# More\n\nAsk first.\n"
)


def test_what_gemini_was_told_to_remember_becomes_memories_and_the_rest_a_topic(kb: KnowledgeBase, tmp_path: Path) -> None:
    put(tmp_path / "home" / ".gemini" / "GEMINI.md", GEMINI)
    report = import_gemini(kb, "~/.gemini", in_global=True)
    assert [(entry.at, entry.ref) for entry in report.entries] == [
        ("", "g:topic:gemini_instructions"),
        ("line 6", "g:1"),
        ("line 7", "g:2"),
    ]
    assert [note.body for note in kb.list().notes] == ["My cat is called Ada", "I work with Rust"]
    assert kb.get("g:topic:gemini_instructions").body == "# Mine\n\nBe brief.\n\n# More\n\nAsk first."
    assert import_gemini(kb, "~/.gemini", in_global=True).counts == {"unchanged": 3}


def test_gemini_as_memories_keeps_the_lines(kb: KnowledgeBase, tmp_path: Path) -> None:
    path = put(tmp_path / "GEMINI.md", GEMINI)
    report = import_gemini(kb, str(path), as_what="memories")
    assert [entry.at for entry in report.entries] == ["line 6", "line 7", "line 3", "line 11"]


HANDBOOK = """# Task Group: shop / lazy images

scope: the product pages

## Task 1: keep the rule
- keywords: lazyload

# Task Group: shop / deploys

- use the script
"""


def test_the_handbook_of_codex_becomes_a_topic_for_each_group_of_tasks(kb: KnowledgeBase, tmp_path: Path) -> None:
    home = tmp_path / "home" / ".codex"
    put(home / "AGENTS.md", "- Answer in English\n")
    put(home / "memories" / "MEMORY.md", HANDBOOK)
    put(home / "memories" / "raw_memories.md", "raw\n")
    put(home / "memories" / "rollout_summaries" / "one.md", "raw\n")
    put(home / "memories" / "extensions" / "ad_hoc" / "notes" / "n.md", "A note made by hand\n")
    report = import_codex(kb, str(home), in_global=True)
    assert outcomes(report) == [
        ("AGENTS.md", "created", "g:topic:agents_instructions"),
        ("MEMORY.md", "created", "g:topic:codex_shop_lazy_images"),
        ("MEMORY.md", "created", "g:topic:codex_shop_deploys"),
        ("n.md", "created", "g:topic:codex_n"),
        ("raw_memories.md", "skipped", "derived"),
        ("rollout_summaries", "skipped", "derived"),
    ]
    assert kb.get("g:topic:codex_shop_deploys").body == "# Task Group: shop / deploys\n\n- use the script"
    assert import_codex(kb, str(home / "memories"), in_global=True).counts == {"unchanged": 3, "skipped": 2}


@pytest.mark.parametrize("take_in", [import_claude, import_codex, import_gemini])
def test_a_folder_with_nothing_of_it_is_an_error_that_names_what_is_accepted(
    take_in, kb: KnowledgeBase, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFound) as error:
        take_in(kb, str(tmp_path / "empty"))
    assert error.value.hint.startswith("Name a project with")


@pytest.mark.parametrize("take_in", [import_claude, import_codex, import_gemini])
def test_a_file_of_data_is_not_taken_for_instructions(take_in, kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "data.json").write_text('{"a": 1}')
    with pytest.raises(Invalid, match="no Markdown file"):
        take_in(kb, str(tmp_path / "data.json"))


def test_a_file_in_another_encoding_is_a_line_and_the_rest_goes_on(kb: KnowledgeBase, claude_memory: Path) -> None:
    (claude_memory / "debugging.md").write_bytes("Pr\u00fcfe".encode("latin-1"))
    report = import_claude(kb, str(claude_memory))
    assert ("debugging.md", "skipped", "not-utf-8") in outcomes(report)
    assert report.counts == {"created": 3, "skipped": 2}


def test_the_command_takes_each_source_and_says_what_it_takes(co: Co, project: Path) -> None:
    put(project / "AGENTS.md", "- Deploy on Fridays\n")
    assert co("import", "codex", ".", "--dry-run") == 0
    assert co.out.splitlines()[-1] == "1 would-create"
    assert co.json("import", "codex", ".")["entries"][0]["ref"] == "topic:agents_instructions"
    assert co("import", "mem0", ".", "--as", "memories") == 2
    assert "It goes with markdown, obsidian, claude, codex, gemini." in co.err
    assert co("import", "nothing", ".") == 2
    assert co("undo") == 0
    assert co.json("topic", "list")["count"] == 0
