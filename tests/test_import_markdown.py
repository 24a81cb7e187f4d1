"""Folders of Markdown become topics: plain ones, those of Obsidian, and those of basic-memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from co_cli import Invalid, KnowledgeBase, NotFound
from co_cli.exchange.basic_memory import import_basic_memory
from co_cli.exchange.documents import statements
from co_cli.exchange.markdown import import_markdown
from co_cli.exchange.obsidian import import_obsidian


def put(path: Path, text: str, seconds: float = 1.7e9) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (seconds, seconds))
    return path


def test_each_file_becomes_a_topic_under_its_name(kb: KnowledgeBase, tmp_path: Path) -> None:
    put(tmp_path / "in" / "Deploy Steps.md", "---\ntags: [ops, weekly]\ndate: 2025-03-04\n---\n# Deploy\n\nOn Fridays.\n")
    put(tmp_path / "in" / "team" / "people.md", "Noor leads.\n")
    put(tmp_path / "in" / ".hidden" / "x.md", "Hidden\n")
    put(tmp_path / "in" / "empty.md", "\n")
    put(tmp_path / "in" / "picture.png", "png")
    report = import_markdown(kb, str(tmp_path / "in"))
    assert [(Path(entry.file).name, entry.outcome, entry.ref or entry.code) for entry in report.entries] == [
        ("Deploy Steps.md", "created", "topic:deploy_steps"),
        ("empty.md", "skipped", "empty"),
        ("people.md", "created", "topic:people"),
        ("in", "skipped", "not-markdown"),
    ]
    note = kb.topic("deploy steps")
    assert (note.tags, note.created) == (("imported", "markdown", "ops", "weekly"), "2025-03-04T00:00:00+00:00")
    assert note.body == "# Deploy\n\nOn Fridays."
    assert note.title == "Deploy Steps"
    assert import_markdown(kb, str(tmp_path / "in")).counts == {"unchanged": 2, "skipped": 2}


def test_what_its_header_calls_private_stays_private(kb: KnowledgeBase, tmp_path: Path) -> None:
    for header in ("private: true", "private: true\ntags: [ops, 'night']"):
        put(tmp_path / "in" / "diary.md", f"---\n{header}\n---\nThe key lies under the mat.\n")
        for take_in in (import_markdown, import_obsidian, import_basic_memory):
            take_in(kb, str(tmp_path / "in"))
            assert [note.private for note in kb.topics().notes] == [True]
            kb.undo()
        import_markdown(kb, str(tmp_path / "in"), as_what="memories")
        assert [(note.private, note.slug) for note in kb.list().notes] == [(True, "001-private")]
        kb.undo()


def test_files_of_one_name_in_several_folders_are_kept_apart(kb: KnowledgeBase, tmp_path: Path) -> None:
    for folder in ("api", "web"):
        put(tmp_path / "in" / folder / "README.md", f"About {folder}\n")
    report = import_markdown(kb, str(tmp_path / "in"))
    assert [entry.ref for entry in report.entries] == ["topic:api_readme", "topic:web_readme"]


def test_a_name_that_no_topic_can_have_costs_no_text(kb: KnowledgeBase, tmp_path: Path) -> None:
    names = ["x" * 120 + ".md", "x" * 119 + "y.md", "!!!.md", "\u732b" * 70 + ".md", "Note.md", "note.markdown"]
    for number, name in enumerate(names):
        put(tmp_path / "in" / name, f"Text {number}\n")
    assert import_markdown(kb, str(tmp_path / "in")).counts == {"created": 6}
    assert sorted(note.body for note in kb.topics().notes) == [f"Text {number}" for number in range(6)]
    assert import_markdown(kb, str(tmp_path / "in")).counts == {"unchanged": 6}


def test_a_file_that_changed_there_is_taken_and_a_topic_that_changed_here_stays(kb: KnowledgeBase, tmp_path: Path) -> None:
    one = put(tmp_path / "in" / "one.md", "First\n")
    put(tmp_path / "in" / "two.md", "First\n")
    import_markdown(kb, str(tmp_path / "in"))
    put(one, "Second\n", 1.8e9)
    kb.write_topic("two", "Edited here")
    put(tmp_path / "in" / "two.md", "Second\n", 1.75e9)
    report = import_markdown(kb, str(tmp_path / "in"))
    assert [(entry.outcome, entry.code) for entry in report.entries] == [("updated", ""), ("skipped", "newer-here")]
    assert [note.body for note in kb.topics().notes] == ["Second", "Edited here"]


def test_a_folder_can_become_memories(kb: KnowledgeBase, tmp_path: Path) -> None:
    put(tmp_path / "in" / "adr.md", "---\ntags: [x]\n---\n\n# Decisions\n\n1. We use Postgres\n2. We host in Lisbon\n")
    report = import_markdown(kb, str(tmp_path / "in"), as_what="memories")
    assert [entry.at for entry in report.entries] == ["line 7", "line 8"]
    assert [note.body for note in kb.list().notes] == ["We use Postgres", "We host in Lisbon"]
    assert import_markdown(kb, str(tmp_path / "in"), as_what="memories").counts == {"unchanged": 2}


def test_what_cannot_be_read_is_a_line_with_its_place_and_the_rest_goes_on(kb: KnowledgeBase, tmp_path: Path) -> None:
    put(tmp_path / "in" / "a.md", "---\n[unclosed\n---\nWords\n")
    (tmp_path / "in" / "b.md").write_bytes(b"Words\nPr\xfcfe\n")
    put(tmp_path / "in" / "c.md", "token = ghp_" + "a1" * 20)
    put(tmp_path / "in" / "d.md", "Fine\n")
    (tmp_path / "in" / "e.md").symlink_to("/etc/hostname")
    (tmp_path / "in" / "utf16.md").write_bytes("Gr\u00fc\u00dfe".encode("utf-16"))
    report = import_markdown(kb, str(tmp_path / "in"))
    assert [(Path(entry.file).name, entry.code, entry.line) for entry in report.entries] == [
        ("a.md", "bad-frontmatter", 2),
        ("b.md", "not-utf-8", 2),
        ("c.md", "secret", 0),
        ("d.md", "", 0),
        ("utf16.md", "", 0),
    ]
    assert kb.topic("utf16").body == "Gr\u00fc\u00dfe"


def test_one_file_will_do_and_a_path_that_is_not_there_is_an_error(kb: KnowledgeBase, tmp_path: Path) -> None:
    report = import_markdown(kb, str(put(tmp_path / "note.md", "Words\n")), in_global=True)
    assert [entry.ref for entry in report.entries] == ["g:topic:note"]
    with pytest.raises(Invalid, match="is no Markdown file"):
        import_markdown(kb, str(put(tmp_path / "script.sh", "make\n")))
    with pytest.raises(NotFound, match="There is no"):
        import_markdown(kb, str(tmp_path / "gone"))


def test_a_vault_of_obsidian_keeps_its_links_tags_and_aliases(kb: KnowledgeBase, tmp_path: Path) -> None:
    vault = tmp_path / "Vault"
    put(vault / ".obsidian" / "app.json", "{}")
    put(
        vault / "Daily" / "Monday.md",
        "Met [[People/Noor Haddad|Noor]] about [[Deploy]]. #meeting/weekly `#not` #1\n\n![[x.png]]\n",
    )
    put(vault / "People" / "Noor Haddad.md", "---\naliases: [Noor]\ntags: person\n---\nLeads the team.\n")
    put(vault / "Deploy.md", "On Fridays\n")
    report = import_obsidian(kb, str(vault))
    assert report.counts == {"created": 3}
    monday = kb.topic("Monday")
    assert monday.body.startswith("Met [[Noor Haddad|Noor]] about [[Deploy]].")
    assert monday.tags == ("imported", "obsidian", "meeting/weekly")
    linked = {link.ref for link in kb.neighbours([monday])[monday.path]}
    assert linked == {"topic:noor_haddad", "topic:deploy"}
    assert "aliases: [Noor]" in kb.topic("noor haddad").text
    assert import_obsidian(kb, str(vault)).counts == {"unchanged": 3}


BASIC = """---
title: Coffee Brewing Methods
type: note
tags: [coffee, brewing]
permalink: food/coffee-brewing-methods
---

# Coffee Brewing Methods

## Observations
- [method] Pour over gives more clarity #clarity (tried twice)

## Relations
- relates_to [[Tea Brewing]]
"""


def test_a_note_of_basic_memory_keeps_its_observations_and_relations(kb: KnowledgeBase, tmp_path: Path) -> None:
    put(tmp_path / "bm" / "food" / "Coffee Brewing Methods.md", BASIC)
    put(
        tmp_path / "bm" / "Tea Brewing.md",
        "---\ntitle: Tea Brewing\ntype: note\npermalink: tea-brewing\n---\n\nHot water.\n",
    )
    assert import_basic_memory(kb, str(tmp_path / "bm")).counts == {"created": 2}
    note = kb.topic("coffee brewing methods")
    assert note.body == BASIC.partition("---\n\n")[2].strip()
    assert note.tags == ("imported", "basic-memory", "coffee", "brewing")
    assert "permalink: food/coffee-brewing-methods" in note.text
    assert [link.ref for link in kb.neighbours([note])[note.path]] == ["topic:tea_brewing"]
    assert import_basic_memory(kb, str(tmp_path / "bm")).counts == {"unchanged": 2}


@given(st.text(st.sampled_from("#- *1.\n`~ab\t<!->"), max_size=80))
def test_what_a_text_says_stands_in_the_text_and_nothing_is_said_twice(text: str) -> None:
    said = list(statements(text))
    assert all(any(sign.isalnum() for sign in each.text) for each in said)
    assert [each.line for each in said] == sorted(each.line for each in said)
    letters = [sign for sign in text if sign in "ab"]
    assert len([sign for each in said for sign in each.text if sign in "ab"]) <= len(letters)
