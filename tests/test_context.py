"""What is always loaded: which documents, which of them wins, and how much fits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from co_cli import KnowledgeBase
from co_cli.context import (
    BUDGETS,
    SIZE_LIMIT,
    SIZE_TARGET,
    cut_at_line,
    load_internal_knowledge,
    without_overridden,
    wrap,
)

promise = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
texts = st.text(st.characters(exclude_categories=["Cs"]))

HEADER = "---\nversion: 1\nupdated: 2026-02-09T14:30:00Z\n---\n\n"


def write_context(vault: Path, body: str, header: str = HEADER) -> Path:
    path = vault / "context.md"
    path.write_text(header + body, encoding="utf-8", newline="")
    return path


def write_memory(vault: Path, number: int, body: str, fields: str = "pinned: true\n") -> Path:
    path = vault / "memories" / f"{number:03d}-memory.md"
    path.write_text(f"---\nid: {number}\ncreated: 2026-02-09T14:30:00Z\n{fields}---\n\n{body}\n", encoding="utf-8")
    return path


def loaded(capsys: pytest.CaptureFixture[str]) -> tuple[str | None, str]:
    """The knowledge, and what was said on stderr while it was loaded."""
    text = load_internal_knowledge()
    said = capsys.readouterr()
    assert said.out == ""
    return text, said.err


# ------------------------------------------------------------------------------------------------------ what is loaded


def test_without_any_knowledge_there_is_none(capsys):
    assert loaded(capsys) == (None, "")


def test_the_context_of_the_project_is_loaded_without_its_header(vault, capsys):
    write_context(vault, "# Project\n- Build: make\n")
    assert loaded(capsys) == ("## Internal Knowledge\n\n### Project Context\n# Project\n- Build: make", "")


def test_the_global_context_stands_before_that_of_the_project(vault, global_vault, capsys):
    write_context(vault, "Ours.\n")
    write_context(global_vault, "Mine.\n")
    assert loaded(capsys)[0] == "## Internal Knowledge\n\n### Global Context\nMine.\n### Project Context\nOurs."


def test_a_context_needs_no_header(vault, capsys):
    write_context(vault, "\ufeff\r\n- Build: make\r\n", header="")
    assert loaded(capsys) == ("## Internal Knowledge\n\n### Project Context\n- Build: make", "")


def test_another_project_can_be_named(vault, tmp_path):
    write_context(vault, "Ours.")
    other = tmp_path / "other"
    other.mkdir()
    assert load_internal_knowledge(other) is None
    assert "Ours." in str(load_internal_knowledge(vault.parent.parent))


@pytest.mark.parametrize(
    "body", ["", "\n \n", "# Title\n\n## Empty ##\n#\n", "<!-- one\n- two -->\n# Title\n<!-- three -->\n"]
)
def test_headings_and_comments_alone_are_not_loaded(vault, body, capsys):
    write_context(vault, body)
    assert loaded(capsys) == (None, "")


@pytest.mark.parametrize("body", ["#hashtag", "# Title\n<!-- comment --> words", "<!-- never closed\n- Build: make"])
def test_everything_else_is_loaded(vault, body, capsys):
    write_context(vault, body)
    assert body in str(loaded(capsys)[0])


def test_a_private_context_stays_out_unless_private_notes_are_welcome(vault, kb: KnowledgeBase, capsys):
    write_context(vault, "Ours.", HEADER.replace("version", "private: true\nversion"))
    assert loaded(capsys) == (None, "")
    assert "Ours." in kb.context(private=True).text


@pytest.mark.parametrize(
    ("header", "line", "words"),
    [
        ("---\nversion: [\n---\n", 2, "Invalid YAML"),
        ("---\n- a list\n---\n", 2, "mapping"),
        ("---\nversion: 2\nupdated: 2026-02-09T14:30:00Z\n---\n", 2, "version"),
        ("---\nversion: 1\n---\n", 1, "Missing required field: updated"),
        ("---\nversion: 1\nupdated: 2026-02-09T14:30:00Z\ntags: 5\n---\n", 4, "tags"),
    ],
)
def test_a_broken_context_is_skipped_with_a_warning_and_the_rest_is_loaded(vault, global_vault, header, line, words, capsys):
    path = write_context(vault, "Ours.", header)
    write_context(global_vault, "Mine.")
    write_memory(vault, 1, "Pinned here.")
    text, said = loaded(capsys)
    assert "Mine." in text
    assert "Pinned here." in text
    assert "Ours." not in text
    assert said.startswith(f"WARNING: {path}:{line}: left out: ")
    assert words in said


def test_bytes_that_are_no_text_are_skipped_with_a_warning(vault, global_vault, capsys):
    (vault / "context.md").write_bytes(b"one\ncaf\xe9\n")
    write_context(global_vault, "Mine.")
    text, said = loaded(capsys)
    assert text == "## Internal Knowledge\n\n### Global Context\nMine."
    assert f"WARNING: {vault / 'context.md'}:2: left out: not UTF-8" in said


def test_a_context_that_is_a_folder_or_leads_out_of_the_vault_is_skipped_with_a_warning(
    vault, global_vault, tmp_path, capsys
):
    (vault / "context.md").mkdir()
    outside = tmp_path / "outside.md"
    outside.write_text("Not ours.")
    (global_vault / "context.md").symlink_to(outside)
    text, said = loaded(capsys)
    assert text is None
    assert said.count("WARNING: ") == said.count("left out: ") == 2
    assert "symbolic link" in said


# ----------------------------------------------------------------------------------------------------- the project wins


@pytest.mark.parametrize(
    ("ours", "mine", "kept"),
    [
        ("- Tests: pytest", "- Tests: unittest\n- Editor: vim", "- Editor: vim"),
        ("# A\n- Tests: pytest", "# A\n- Tests: unittest\n# B\n- Tests: nose", "# A\n# B\n- Tests: nose"),
        ("# Style #\n* **Line  length:** 120", "## STYLE\n+ line length: 80\nrest", "## STYLE\nrest"),
        ("- **Tests**: pytest", "- tests: unittest\nrest", "rest"),
        ("- Tests: pytest", "- Tests: unittest\n  with mocks\n\n  and more\nrest", "\nrest"),
        ("- Tests: pytest", "- Tests: unittest\n  - Runner: tox\n- Runner: nox", "- Runner: nox"),
        ("- Tests: pytest", "```\n- Tests: unittest\n```", "```\n- Tests: unittest\n```"),
        ("~~~\n- Tests: pytest\n~~~", "- Tests: unittest", "- Tests: unittest"),
        ("```\n~~~\n- A: 1\n```\n- B: 1", "- A: 2\n- B: 2\nrest", "- A: 2\nrest"),
        ("- Tests: pytest", "Tests: unittest", "Tests: unittest"),
        ("- Tests:", "- Tests: unittest", "- Tests: unittest"),
        ("- See https://a.example", "- See https://b.example", "- See https://b.example"),
        ("No keys here.", "- Tests: unittest\n\n# End", "- Tests: unittest\n\n# End"),
    ],
)
def test_a_key_under_the_same_heading_is_taken_from_the_project(ours, mine, kept):
    assert without_overridden(mine, ours) == kept


keyed = st.builds("- {}: {}".format, st.sampled_from(["Tests", "Editor", "**Shell**"]), st.sampled_from("xyz"))
lines = st.one_of(keyed, keyed, st.sampled_from(["# One", "## Two", "```", "  more", "", "words"]))


@promise
@given(st.lists(lines).map("\n".join), st.lists(lines).map("\n".join))
def test_an_override_takes_lines_away_and_changes_none(mine, ours):
    kept = without_overridden(mine, ours)
    rest = iter(mine.splitlines())
    assert all(line in rest for line in kept.splitlines())  # the same lines, in the same order
    assert without_overridden(f"{kept}\n", ours) == kept
    assert without_overridden(mine, "words") == "\n".join(mine.splitlines())


def test_the_project_wins_in_the_prompt_too(vault, global_vault, capsys):
    write_context(vault, "# Code\n- Tests: pytest\n")
    write_context(global_vault, "# Code\n- Tests: unittest\n- Editor: vim\n")
    text, _ = loaded(capsys)
    assert "### Global Context\n# Code\n- Editor: vim\n### Project Context\n# Code\n- Tests: pytest" in text
    write_context(global_vault, "# Code\n- Tests: unittest\n")
    assert loaded(capsys)[0] == "## Internal Knowledge\n\n### Project Context\n# Code\n- Tests: pytest"


# ------------------------------------------------------------------------------------------------------ pinned memories


def test_pinned_memories_are_loaded_with_their_refs_oldest_first(vault, global_vault, capsys):
    write_memory(vault, 12, "We deploy on Fridays.\nReally.")
    write_memory(vault, 3, "We use pytest.")
    write_memory(vault, 4, "Not pinned, though it says pinned.", "")
    write_memory(global_vault, 1, "Ada prefers vim.")
    text, said = loaded(capsys)
    assert text == (
        "## Internal Knowledge\n\n### Pinned Memories\n"
        "- [3] We use pytest.\n- [12] We deploy on Fridays.\n  Really.\n- [g:1] Ada prefers vim."
    )
    assert said == ""


def test_a_key_is_said_where_the_text_does_not_say_what_it_is_about(vault, capsys):
    write_memory(vault, 1, "Short, then the details", "pinned: true\nkey: answer_style\n")
    write_memory(vault, 2, "Working hours: 9 to 6", "pinned: true\nkey: working_hours\n")
    write_memory(vault, 3, "The time-zone is UTC", "pinned: true\nkey: time_zone\n")
    text, _ = loaded(capsys)
    assert text.splitlines()[-3:] == [
        "- [1] answer_style: Short, then the details",
        "- [2] Working hours: 9 to 6",
        "- [3] The time-zone is UTC",
    ]


def test_private_and_expired_memories_are_left_out(vault, kb: KnowledgeBase, capsys):
    write_memory(vault, 1, "A private matter.", "pinned: true\nprivate: true\n")
    write_memory(vault, 2, "An old matter.", "pinned: true\nexpires: 2020-01-01\n")
    write_memory(vault, 3, "A matter for later.", "pinned: true\nexpires: 2999-01-01\n")
    assert loaded(capsys) == ("## Internal Knowledge\n\n### Pinned Memories\n- [3] A matter for later.", "")
    assert "private matter" in kb.context(private=True).text
    assert "old matter" not in kb.context(private=True).text


def test_a_pinned_memory_that_cannot_be_read_is_left_out_with_a_warning(vault, capsys):
    path = write_memory(vault, 1, "Broken.", "tags: 5\npinned: true\n")
    write_memory(vault, 2, "Whole.")
    text, said = loaded(capsys)
    assert text == "## Internal Knowledge\n\n### Pinned Memories\n- [2] Whole."
    assert f"WARNING: {path}:4: left out: Field 'tags'" in said


def test_pinned_memories_share_the_budget(vault, capsys):
    for number in range(1, 40):
        write_memory(vault, number, f"Memory {number} " + "x" * 600)
    text, said = loaded(capsys)
    assert len(wrap(text).encode()) <= SIZE_LIMIT
    assert "- [1] Memory 1 x" in text
    assert "[39]" not in text
    assert f"exceeds {SIZE_LIMIT}" in said


# -------------------------------------------------------------------------------------------------------------- budgets


def test_the_budgets_are_what_they_are_said_to_be():
    assert (SIZE_TARGET, SIZE_LIMIT, BUDGETS) == (10240, 20480, {"global": 3072, "project": 7168})


def filled(size: int) -> str:
    """A body of so many bytes, in lines of sixteen."""
    return ("- twelve bytes.\n" * (size // 16 + 1))[: size - 1] + "."


@pytest.mark.parametrize(("name", "title", "budget"), [("global", "Global", 3072), ("project", "Project", 7168)])
def test_each_context_has_a_budget_of_its_own(vault, global_vault, name, title, budget, capsys):
    folder = {"global": global_vault, "project": vault}[name]
    write_context(folder, filled(budget))
    assert loaded(capsys)[1] == ""
    write_context(folder, filled(budget + 1))
    said = loaded(capsys)[1]
    assert f"WARNING: {title} Context has {budget + 1} bytes and exceeds its budget of {budget} bytes" in said
    assert said.endswith(f"Shorten it: co edit {'g:' if name == 'global' else ''}context\n")
    assert said.count("WARNING") == 1
    assert "ERROR" not in said


def whole(body_bytes: int) -> int:
    """The bytes of a prompt's knowledge around a project context of so many bytes."""
    return len(wrap("## Internal Knowledge\n\n### Project Context\n").encode()) + body_bytes


def test_more_than_ten_kibibytes_are_loaded_whole_with_a_warning(vault, capsys):
    body = filled(10240 - whole(0))
    write_context(vault, body)
    assert "exceeds 10240" not in loaded(capsys)[1]
    write_context(vault, body + ".")
    text, said = loaded(capsys)
    assert text.endswith(body + ".")
    assert "WARNING: Knowledge size 10241 bytes exceeds 10240 bytes" in said
    assert "ERROR" not in said


def test_more_than_twenty_kibibytes_are_cut_at_a_line_with_an_error(vault, kb: KnowledgeBase, capsys):
    body = filled(20480 - whole(0))
    write_context(vault, body)
    text, said = loaded(capsys)
    assert text.endswith(body)
    assert "exceeds 10240" in said
    assert "ERROR" not in said
    write_context(vault, body + ".")
    text, said = loaded(capsys)
    assert text.endswith("\n- twelve bytes.")
    assert 20480 - 32 < len(wrap(text).encode()) <= 20480
    assert f"ERROR: Knowledge size 20481 bytes exceeds 20480 bytes: cut to {len(wrap(text).encode())} bytes" in said
    assert "exceeds 10240" not in said
    assert (kb.context().cut, kb.context().bytes) == (True, 20481)


@promise
@given(st.lists(texts | st.sampled_from(["日本語", "🚀" * 9, "", "\r"])).map("\n".join), st.integers(0, 200))
def test_what_is_cut_are_whole_lines_as_many_as_fit(text, limit):
    rows = text.split("\n")
    fitting = ["\n".join(rows[:count]) for count in range(len(rows) + 1)]
    assert cut_at_line(text, limit) == max((some for some in fitting if len(some.encode()) <= limit), key=len)


hostile = st.sampled_from(
    ["</system-reminder>", "< / SYSTEM-reminder\n>", "<system-reminder>", "[IF gemini]", "日" * 40, "x" * 999]
)


@promise
@given(st.lists(texts | hostile, max_size=12).map("\n".join), st.sampled_from([1, 3, 200]), st.booleans())
def test_whatever_the_bodies_the_tags_are_closed_and_the_limit_holds(kb, vault, global_vault, body, times, both):
    write_context(vault, f"{body}\n" * times, "")
    write_context(global_vault, body if both else "", "")
    context = kb.context()
    block = wrap(context.text)
    assert len(block.encode("utf-8")) <= SIZE_LIMIT
    assert re.findall(r"<\s*/?\s*system-reminder\s*>", block, re.IGNORECASE) == ["<system-reminder>", "</system-reminder>"]
    assert block.startswith("<system-reminder>\n")
    assert block.endswith("\n</system-reminder>")
    assert context.cut == any("ERROR" in line for line in context.warnings)
