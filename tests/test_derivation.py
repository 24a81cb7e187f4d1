"""Forgetting reaches what was made from the forgotten: it is named, and how it reads without is proposed."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import Co

from co_cli import KnowledgeBase, tools
from co_cli.learning import inbox
from co_cli.learning.inbox import Proposal
from co_cli.learning.summaries.derivation import forget, made_from, purge
from co_cli.learning.summaries.merging import summarize

FACTS = ("We deploy on Fridays after 3pm", "Deploys go through staging first", "Anna approves production deploys")
LIST = "Deploy:\n\n- We deploy on Fridays after 3pm [1]\n- Anna approves production deploys [3]"
USER = tools.Caller("chat", private=True)
STRANGER = tools.Caller("mcp", private=False)


@pytest.fixture
def merged(kb: KnowledgeBase) -> str:
    """A memory that was made of three others."""
    for fact in FACTS:
        kb.save(fact)
    summarize(kb)
    inbox.accept(kb, only(kb))
    return "4"


def only(kb: KnowledgeBase) -> Proposal:
    (proposal,) = inbox.proposals(kb).proposals
    return proposal


def test_a_merged_memory_is_proposed_as_it_reads_without_what_was_forgotten(kb: KnowledgeBase, merged: str) -> None:
    forgotten, (derived,) = forget(kb, ["2"])
    assert [note.ref for note in forgotten.notes] == ["2"]
    assert (derived.note.ref, derived.gone, derived.state) == (merged, ("2",), inbox.PROPOSED)
    proposal = only(kb)
    assert (proposal.kind, proposal.action, proposal.refs) == ("stale", "revise", (merged,))
    assert proposal.content == LIST
    assert "staging" not in Path(proposal.path).read_text(encoding="utf-8")
    assert "staging" in kb.get(merged).body  # nothing is changed before a yes
    inbox.accept(kb, proposal)
    note = kb.get(merged)
    assert note.body == LIST
    assert note.supersedes == (1, 3)
    assert kb.recall("staging").hits == ()


def test_undo_brings_the_words_back(kb: KnowledgeBase, merged: str) -> None:
    before = kb.get(merged)
    forget(kb, ["2"])
    inbox.accept(kb, only(kb))
    kb.undo()
    kb.undo()
    assert kb.get(merged) == before
    assert kb.get("2").body == FACTS[1]


def test_what_another_source_says_too_stays(kb: KnowledgeBase) -> None:
    for force in (False, True):
        kb.save("We deploy on Fridays", force=force)
    kb.save("Anna approves deploys")
    summarize(kb, ["1", "2", "3"])
    inbox.accept(kb, only(kb))
    forget(kb, ["1"])
    assert only(kb).content.endswith("- We deploy on Fridays [2]\n- Anna approves deploys [3]")


def test_of_words_that_a_person_chose_the_citation_goes_and_the_rest_is_for_a_person(kb: KnowledgeBase, merged: str) -> None:
    kb.update(merged, content="We deploy on Fridays [1], through staging [2], if Anna says so [3].")
    forget(kb, ["2"])
    proposal = only(kb)
    assert proposal.content == "We deploy on Fridays [1], through staging, if Anna says so [3]."
    assert "look at the words" in proposal.reason


def test_what_cites_nothing_but_stands_for_it_is_named(kb: KnowledgeBase, merged: str) -> None:
    kb.update(merged, content="We deploy on Fridays through staging, if Anna says so.")
    _forgotten, (derived,) = forget(kb, ["2"])
    assert inbox.proposals(kb).proposals == ()
    assert str(derived) == "4 was made from 2, and may still say so: co edit 4"


def test_when_all_its_sources_go_it_is_proposed_to_go_too(kb: KnowledgeBase, merged: str) -> None:
    forget(kb, ["1", "2", "3"])
    proposal = only(kb)
    assert (proposal.action, proposal.refs) == ("forget", (merged,))
    inbox.accept(kb, proposal)
    assert kb.list().notes == ()


def test_one_after_the_other_nothing_comes_back(kb: KnowledgeBase, merged: str) -> None:
    forget(kb, ["2"])
    forget(kb, ["3"])
    texts = [proposal.content for proposal in inbox.proposals(kb).proposals]
    assert texts == [LIST, "Deploy:\n\n- We deploy on Fridays after 3pm [1]"]


def test_memories_of_another_vault_with_the_same_numbers_are_left_alone(kb: KnowledgeBase, merged: str) -> None:
    kb.save("Tea is in the green tin", in_global=True)
    assert forget(kb, ["g:1"])[1] == ()
    assert [each.note.ref for each in made_from(kb, ["1"])] == [merged]


def test_a_number_in_brackets_that_cites_nothing_is_none_of_it(kb: KnowledgeBase) -> None:
    kb.save("Staging is frozen")
    kb.save("The first item is items[1], see [1](https://example.org), [[1]] and footnote [1]")
    kb.save("To do:\n\n- call Mia [1]")
    assert forget(kb, ["1"])[1] == ()


def test_a_merge_that_was_merged_again_is_named_too(kb: KnowledgeBase, merged: str) -> None:
    kb.save("Ben approves staging deploys")
    summarize(kb, [merged, "5"])
    inbox.accept(kb, only(kb))
    _forgotten, derived = forget(kb, ["2"])
    assert [(each.note.ref, bool(each.proposal)) for each in derived] == [("6", True), ("4", False)]
    assert "co forget 4" in str(derived[1])
    assert "staging first" not in only(kb).content


def test_purging_says_it_too(kb: KnowledgeBase, merged: str) -> None:
    purged, (derived,) = purge(kb, ["2"])
    assert [note.ref for note in purged.notes] == ["2"]
    assert derived.proposal == "p2"


def test_purging_what_was_forgotten_before_says_it_again(kb: KnowledgeBase, merged: str) -> None:
    forget(kb, ["3"])
    (derived,) = purge(kb, ["3"])[1]
    assert (derived.gone, derived.state, derived.proposal) == (("3",), inbox.WAITING, "p2")


def test_a_yes_to_forgetting_reaches_it_as_well(kb: KnowledgeBase, merged: str) -> None:
    (outcome,) = inbox.propose(kb, [Proposal("expiry", "project", "forget", refs=("2",))])
    inbox.accept(kb, outcome.proposal)
    assert only(kb).content == LIST


def test_the_command_names_it(co: Co, kb: KnowledgeBase, merged: str) -> None:
    assert co("forget", "2") == 0
    assert "4 was made from 2, and still says so: p2 proposes how it reads without (co review p2)." in co.out
    assert co.json("forget", "3")["derived"] == [{"ref": "4", "from": ["3"], "proposal": "p3"}]
    assert co("forget", "1", "--purge", "--yes") == 0
    assert "4 was made from 1, and still says so: p4 proposes" in co.out
    assert "The journal keeps what 4 said before, until 4 is purged." in co.out


def test_what_a_merge_superseded_is_said_to_lie_in_the_archive(co: Co, kb: KnowledgeBase, merged: str) -> None:
    assert co("forget", merged) == 0
    told = (
        "1: We deploy on Fridays after 3pm lies in the archive, and nothing supersedes it any more: co knowledge --restore 1"
    )
    assert told in co.out


def test_agents_are_told_too_but_not_of_what_is_private(kb: KnowledgeBase, merged: str) -> None:
    answer = tools.call(kb, "knowledge_delete", {"topic": "2"}, USER)
    assert "4 was made from 2, and still says so: p2 proposes" in str(answer["display"])
    kb.update(merged, private=True)
    answer = tools.call(kb, "knowledge_delete", {"topic": "3"}, STRANGER)
    assert "4" not in str(answer["display"])
