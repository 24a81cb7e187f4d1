"""Duplicates and contradictions among the notes: told at a save, found by a check, and never acted upon alone."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from commands import Co
from processes import contents

from co_cli import KnowledgeBase
from co_cli.bench.learning import statements
from co_cli.learning import inbox
from co_cli.learning.relations.pairs import check, look
from co_cli.note import render_memory
from co_cli.tools import call
from co_cli.tools.tool import Caller

DAY = "2026-03-05T10:00:00+00:00"


def fill(vault: Path, texts: list[str]) -> None:
    """Write memories as files, numbered in their order."""
    for number, text in enumerate(texts, start=1):
        raw = render_memory({"id": number, "created": DAY, "tags": [], "source": "user-told"}, text)
        (vault / "memories" / f"{number:04d}-note.md").write_bytes(raw)


def waiting(kb: KnowledgeBase) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(each.kind, each.action, each.refs) for each in inbox.proposals(kb).proposals]


# --------------------------------------------------------------------------------------------------------- when it is saved


def test_a_contradiction_is_told_and_proposed_and_nothing_is_overwritten(co: Co, kb: KnowledgeBase):
    co("learn", "The project indents with tabs")
    assert co("learn", "The project indents with spaces") == 0
    assert "2 contradicts 1 (another value for the same thing: spaces ≠ tabs)." in co.out
    assert "It is proposed that 2 supersedes it (p1): co review" in co.out
    assert [note.body for note in kb.list().notes] == ["The project indents with tabs", "The project indents with spaces"]
    (proposal,) = inbox.proposals(kb).proposals
    assert (proposal.kind, proposal.action, proposal.refs) == ("contradiction", "supersede", ("1",))
    assert (proposal.evidence.quote, proposal.evidence.refs) == ("The project indents with tabs", ("2", "1"))
    inbox.accept(kb, proposal)
    assert kb.get("1").superseded_by == 2
    assert [hit.note.ref for hit in kb.recall("tabs").hits] == ["2"]
    kb.undo()
    assert waiting(kb) == [("contradiction", "supersede", ("1",))]


def test_what_says_nearly_the_same_is_proposed_to_be_merged(co: Co, kb: KnowledgeBase):
    co("learn", "Never commit directly to main", "-t", "git")
    co("learn", "Do not commit directly to main.", "-t", "rules")
    assert "1 is much like 2 (the same, put in other words). It is proposed to keep 2 alone (p1): co review" in co.out
    (proposal,) = inbox.proposals(kb).proposals
    inbox.accept(kb, proposal)
    (note,) = kb.list().notes
    assert (note.ref, set(note.tags), note.supersedes) == ("2", {"git", "rules"}, (1,))
    assert [note.ref for note in kb.list(archived=True).notes] == ["1"]


def test_programs_are_told_as_data(co: Co):
    co("learn", "The port is 80")
    data = co.json("learn", "The port is 8080")
    assert data["related"] == [
        {
            "label": "contradiction",
            "ref": "2",
            "other": "1",
            "reason": "another number: 8080 ≠ 80",
            "proposal": "p1",
            "state": "proposed",
        }
    ]
    assert "related" not in co.json("learn", "Logs go to stdout")


def test_what_was_rejected_is_not_brought_up_again(co: Co, kb: KnowledgeBase):
    co("learn", "The port is 80")
    co("learn", "The port is 8080")
    inbox.reject(kb, inbox.proposals(kb).proposals[0])
    co("knowledge", "--check")
    assert "1 contradiction" in co.out
    assert "1 of them was rejected before, and not proposed again." in co.out
    assert waiting(kb) == []


def test_the_project_may_differ_from_what_holds_for_all_of_them(co: Co, kb: KnowledgeBase):
    co("learn", "We deploy with Ansible", "--global")
    co("learn", "We deploy with Terraform")
    assert "1 contradicts g:1 (another value for the same thing: Terraform ≠ Ansible)." in co.out
    assert "In this project, 1 comes first." in co.out
    assert waiting(kb) == []


def test_what_is_known_for_all_projects_needs_no_copy_in_this_one(co: Co, kb: KnowledgeBase):
    co("learn", "Never commit directly to main", "--global")
    co("learn", "Do not commit directly to main!")
    assert waiting(kb) == [("merge", "archive", ("1",))]
    inbox.accept(kb, inbox.proposals(kb).proposals[0])
    assert [note.ref for note in kb.list().notes] == ["g:1"]


def test_what_changes_again_and_again_is_proposed_as_a_chain_of_which_all_can_be_accepted(co: Co, kb: KnowledgeBase):
    for day in ("Mondays", "Tuesdays", "Wednesdays", "Thursdays"):
        co("learn", f"We deploy on {day}")
    assert [(each.refs, each.fields["by"]) for each in inbox.proposals(kb).proposals] == [
        (("1",), "2"),
        (("2",), "3"),
        (("3",), "4"),
    ]
    reasons = {(each.note.ref, each.other.ref): each.reason for each in check(kb).found}
    assert reasons["4", "1"] == "another value for the same thing: Thursdays ≠ Mondays"
    assert inbox.count(kb) == 3
    assert co("review", "--accept", "--all") == 0
    assert [hit.note.ref for hit in kb.recall("deploy").hits] == ["4"]


def test_a_language_may_differ_from_what_holds_for_all_of_them(co: Co, kb: KnowledgeBase):
    co("learn", "Indent with spaces", "--global", "--key", "indent")
    assert co("learn", "Indent with tabs", "--language", "go", "--key", "indent") == 0
    co("learn", "Run the linter with 80 columns", "--global")
    co("learn", "Run the linter with 100 columns", "--language", "java")
    assert "contradicts" not in co.out
    assert check(kb).found == ()


def test_what_is_for_all_languages_stands_in_the_place_of_what_is_for_one(co: Co, kb: KnowledgeBase):
    co("learn", "Name files in lower case", "--language", "go")
    co("learn", "Name files in lower case", "--language", "java")
    assert check(kb).found == ()
    co("learn", "Name files in lower case", "--global")
    assert {(each.note.ref, each.other.ref) for each in check(kb).found} == {("g:3", "g:1"), ("g:3", "g:2")}
    co("review", "--accept", "--all")
    assert [(note.ref, note.language) for note in kb.list().notes] == [("g:3", "")]


def test_agents_are_told_as_well_but_nothing_private(kb: KnowledgeBase):
    kb.save("The port is 80")
    kb.save("The code of the door is 1234", private=True)
    told = call(kb, "save_memory", {"content": "The port is 8080"}, Caller("test"))
    assert "3 contradicts 1" in str(told["display"])
    secret = call(kb, "save_memory", {"content": "The code of the door is 4321"}, Caller("test"))
    assert "1234" not in str(secret)
    assert "contradicts" not in str(secret["display"])
    (proposal,) = [each for each in inbox.proposals(kb).proposals if each.refs == ("2",)]
    assert proposal.private
    assert "1234" not in proposal.raw.decode()
    assert "1234" not in Path(proposal.path).name


def test_a_rehearsal_proposes_nothing(kb: KnowledgeBase):
    kb.save("The port is 80")
    changes = kb.rehearse(lambda each: call(each, "save_memory", {"content": "The port is 8080"}, Caller("test")))
    assert len(changes) == 1
    assert waiting(kb) == []


@pytest.mark.parametrize("mode", ["grep", "text", "hybrid"])
def test_it_is_found_in_vaults_of_every_size(kb: KnowledgeBase, vault: Path, mode: str):
    fill(vault, [*statements(300), "The standup of the parser team is at 9:30"])
    kb.settings()
    (vault.parent / "settings.json").write_text(f'{{"mode": "{mode}"}}')
    note = kb.save("The standup of the parser team is at 10:15").note
    assert [(each.note.ref, each.other.ref) for each in look(kb, note)] == [("302", "301")]


def test_what_was_superseded_contradicts_nobody(kb: KnowledgeBase):
    kb.save("The port is 80")
    kb.save("The port is 8080")
    kb.supersede("1", by="2")
    assert look(kb, kb.get("2")) == ()
    assert check(kb).found == ()


def test_a_topic_is_not_compared(kb: KnowledgeBase):
    kb.save("The port is 80")
    assert look(kb, kb.write_topic("ports", "The port is 8080").note) == ()


# ------------------------------------------------------------------------------------------------------------ all of them


def test_a_check_finds_all_pairs_and_proposes_each_once(co: Co, kb: KnowledgeBase, vault: Path):
    texts = ["The port is 80", "Logs go to stdout", "The port is 81", "logs go to STDOUT.", "Use tabs", "The port is 82"]
    fill(vault, texts)
    co("knowledge", "--check", "--dry-run")
    assert "6 memories compared: 3 contradictions, 1 duplicate." in co.out
    assert "6 contradicts 3 (another number: 82 ≠ 81)." in co.out
    assert waiting(kb) == []
    before = contents(vault)
    co("knowledge", "--check")
    after = contents(vault)
    assert {name: raw for name, raw in after.items() if not name.startswith("inbox")} == before
    assert waiting(kb) == [
        ("contradiction", "supersede", ("1",)),
        ("contradiction", "supersede", ("3",)),
        ("merge", "merge", ("4",)),
    ]
    data = co.json("knowledge", "--check")
    assert (data["memories"], data["contradictions"], data["duplicates"]) == (6, 3, 1)
    assert [pair["state"] for pair in data["pairs"]] == ["waiting already"] * 2 + [None, "waiting already"]
    for proposal in inbox.proposals(kb).proposals:
        inbox.accept(kb, proposal)
    assert [hit.note.body for hit in kb.recall("port").hits] == ["The port is 82"]
    assert co.json("knowledge", "--check")["pairs"] == []


def test_exact_twins_become_one_with_the_tags_of_both(kb: KnowledgeBase):
    kb.save("Logs go to stdout", tags=["ops"])
    kb.save("Logs go to stdout", tags=["log"], force=True)
    check(kb)
    inbox.accept(kb, inbox.proposals(kb).proposals[0])
    (note,) = kb.list().notes
    assert (note.ref, set(note.tags)) == ("1", {"ops", "log"})


def test_too_many_proposals_are_left_for_another_time(kb: KnowledgeBase, vault: Path):
    fill(vault, statements(260, planted=130))
    checked = check(kb)
    assert len(waiting(kb)) == 100
    assert checked.left == 30


def test_without_the_model_words_have_to_do(kb: KnowledgeBase, vault: Path, monkeypatch: pytest.MonkeyPatch):
    fill(vault, ["The port is 80", "The port is 81"])
    monkeypatch.setattr("sys.path", [path for path in __import__("sys").path if "site-packages" not in path])
    checked = check(kb, dry_run=True)
    assert len(checked.found) == 1
    assert checked.notices[0].startswith("Compared by words only.")


@pytest.mark.slow
def test_five_thousand_memories_are_compared_in_seconds_and_what_is_at_odds_is_found(kb: KnowledgeBase, vault: Path):
    texts = statements(5000, planted=50)
    fill(vault, texts)
    started = time.process_time()
    checked = check(kb, dry_run=True)
    assert time.process_time() - started < 20
    assert checked.memories == 5000
    pairs = {(each.note.id, each.other.id) for each in checked.found if each.contradicts}
    assert {(4951 + number, 1 + number) for number in range(50)} <= pairs
    assert len(pairs) < 150
