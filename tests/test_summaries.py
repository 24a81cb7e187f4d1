"""Several memories become one when somebody says so: a list of their own words that cites them, and takes their place."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import Co

from co_cli import KnowledgeBase
from co_cli.errors import Conflict, Invalid, NotFound
from co_cli.learning import inbox
from co_cli.learning.inbox import Proposal
from co_cli.learning.summaries.merging import AT_ONCE, doubts, summarize

DEPLOYS = (
    "We deploy on Fridays after 3pm",
    "Deploys go through the staging cluster first",
    "Never deploy without a green smoke run",
    "Anna approves production deploys",
)
POSTGRES = (
    "The shop keeps its orders in Postgres 16",
    "Postgres listens on port 5432 in the cellar",
    "Backups of Postgres are kept for 30 days",
)
WOODS = ("ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine", "rowan", "willow")
OTHERS = ("User prefers tabs in Makefiles", "The office closes at noon in August", "Invoices are sent by finance")


def learn(kb: KnowledgeBase, *texts: str, **fields: object) -> list[str]:
    return [kb.save(text, **fields).note.ref for text in texts]  # type: ignore[arg-type]


def only(kb: KnowledgeBase) -> Proposal:
    (proposal,) = inbox.proposals(kb).proposals
    return proposal


def bodies(kb: KnowledgeBase) -> list[str]:
    return [note.body for note in kb.list().notes]


# ------------------------------------------------------------------------------------------------------------------ grouping


def test_memories_of_the_same_subject_are_proposed_as_one_and_nothing_is_changed(kb: KnowledgeBase) -> None:
    learn(kb, *DEPLOYS, *OTHERS)
    before = kb.log()
    (merged,) = summarize(kb).proposed
    assert merged.group.refs == ("1", "2", "3", "4")
    proposal = only(kb)
    assert (proposal.kind, proposal.action, proposal.refs) == ("merge", "merge", ("1", "2", "3", "4"))
    assert proposal.content == (
        "Deploy:\n\n"
        "- We deploy on Fridays after 3pm [1]\n"
        "- Deploys go through the staging cluster first [2]\n"
        "- Never deploy without a green smoke run [3]\n"
        "- Anna approves production deploys [4]"
    )
    assert proposal.fields["because"] == "merged from 1, 2, 3 and 4"
    assert proposal.evidence.refs == ("1", "2", "3", "4")
    assert doubts(kb, proposal) == ()
    assert kb.log() == before
    assert len(bodies(kb)) == 7


def test_the_same_memories_give_the_same_groups_whatever_their_order(kb: KnowledgeBase) -> None:
    from co_cli.learning.summaries.grouping import groups

    learn(kb, *DEPLOYS, *POSTGRES, *OTHERS)
    notes = list(kb.list().notes)
    found = groups(notes)
    assert sorted(group.refs for group in found) == [("1", "2", "3", "4"), ("5", "6", "7")]
    assert groups(notes[::-1]) == found


def test_tags_are_a_subject_too(kb: KnowledgeBase) -> None:
    learn(
        kb,
        "Call Mia when the gate is shut",
        "The spare key hangs in the shed",
        "Rubbish goes out at seven",
        tags=["allotment"],
    )
    (merged,) = summarize(kb).proposed
    assert merged.group.subject == "Allotment"
    assert merged.outcome.proposal.fields["tags"] == ["allotment"]


def test_a_group_has_eight_memories_at_most(kb: KnowledgeBase) -> None:
    learn(kb, *(f"The {wood} gateway is run by team {wood}" for wood in WOODS))
    sizes = [len(merged.group.notes) for merged in summarize(kb).proposed]
    assert sizes
    assert all(3 <= size <= 8 for size in sizes)


def test_what_is_to_stand_by_itself_is_in_no_group(kb: KnowledgeBase) -> None:
    first, second, third = learn(kb, *POSTGRES)
    learn(kb, "Postgres is upgraded in autumn", pinned=True)
    learn(kb, "Postgres is frozen", expires="1y")
    learn(kb, "Postgres user is shop", category="project_insights", key="pg-user")
    learn(kb, f"Postgres runbook: {'step ' * 150}")
    gone = learn(kb, "Postgres logs are in the attic")
    kb.archive(gone)
    old, new = learn(kb, "Postgres has 2 replicas in Oslo", "Postgres has 3 replicas in Oslo")
    kb.supersede(old, by=new)
    assert {ref for each in summarize(kb).proposed for ref in each.group.refs} <= {first, second, third, new}


def test_private_memories_make_a_private_one_and_are_never_mixed_with_others(kb: KnowledgeBase) -> None:
    learn(kb, *POSTGRES[:2])
    learn(kb, POSTGRES[2], private=True)
    assert summarize(kb).merged == ()
    learn(kb, "Postgres has a replica in Oslo", "Postgres is patched by Ben", private=True)
    (merged,) = summarize(kb).proposed
    assert merged.group.refs == ("3", "4", "5")
    proposal = only(kb)
    assert proposal.private
    assert "Postgres" not in f"{proposal.label} {proposal.reason} {Path(proposal.path).name}"
    inbox.accept(kb, proposal)
    note = kb.get("6")
    assert note.private
    assert Path(note.path).name == "006-private.md"


def test_memories_of_different_vaults_languages_and_categories_are_not_mixed(kb: KnowledgeBase) -> None:
    learn(kb, POSTGRES[0])
    learn(kb, POSTGRES[1], in_global=True)
    learn(kb, POSTGRES[2], category="project_insights")
    learn(kb, "Postgres drivers are asyncpg only", language="python")
    assert summarize(kb).merged == ()


def test_memories_that_are_at_odds_are_not_merged(kb: KnowledgeBase) -> None:
    learn(kb, *POSTGRES, "Postgres listens on port 6432 in the cellar")
    assert {ref for each in summarize(kb).proposed for ref in each.group.refs} <= {"1", "3"}


def test_no_more_is_proposed_at_once_than_somebody_can_look_through(kb: KnowledgeBase) -> None:
    for wood in WOODS:
        learn(kb, f"The {wood}mill grinds {wood}corn", f"Buy {wood}oil for the {wood}mill", f"{wood}mill {wood}water")
    found = summarize(kb)
    assert len(found.proposed) == AT_ONCE
    assert found.further == 2
    assert len(inbox.proposals(kb).proposals) == AT_ONCE
    assert len(summarize(kb).proposed) == 2


# --------------------------------------------------------------------------------------------------------- what is proposed


def test_a_yes_puts_the_originals_away_and_recall_finds_the_one_that_stands(kb: KnowledgeBase) -> None:
    learn(kb, *DEPLOYS, tags=["ops"])
    summarize(kb)
    inbox.accept(kb, only(kb))
    (note,) = kb.list().notes
    assert note.supersedes == (1, 2, 3, 4)
    assert note.tags == ("ops",)
    assert note.because == "merged from 1, 2, 3 and 4"
    assert [old.superseded_by for old in kb.list(archived=True).notes] == [5, 5, 5, 5]
    assert [hit.note.ref for hit in kb.recall("fridays").hits] == ["5"]
    assert [hit.note.ref for hit in kb.recall("approves production").hits] == ["5"]
    assert kb.get("1").body == DEPLOYS[0]


def test_one_undo_brings_all_of_it_back(kb: KnowledgeBase, vault: Path) -> None:
    learn(kb, *DEPLOYS)
    before = {path.name: path.read_bytes() for path in (vault / "memories").iterdir()}
    summarize(kb)
    proposal = only(kb)
    inbox.accept(kb, proposal)
    kb.undo()
    assert {path.name: path.read_bytes() for path in (vault / "memories").iterdir()} == before
    assert not list((vault / "archive" / "memories").glob("*.md"))
    assert only(kb) == proposal
    assert [hit.note.ref for hit in kb.recall("fridays").hits] == ["1"]


def test_what_waits_or_was_rejected_is_not_proposed_again(kb: KnowledgeBase) -> None:
    learn(kb, *DEPLOYS)
    summarize(kb)
    again = summarize(kb)
    assert again.merged == ()
    assert again.waiting == ("1", "2", "3", "4")
    assert [each.outcome.state for each in summarize(kb, ["1", "2", "3", "4"]).merged] == [inbox.WAITING]
    inbox.reject(kb, only(kb))
    assert [each.outcome.state for each in summarize(kb).merged] == [inbox.REJECTED]
    assert inbox.proposals(kb).proposals == ()
    kb.update("1", content="We deploy on Fridays after 4pm")
    assert len(summarize(kb).proposed) == 1


def test_a_memory_that_changed_meanwhile_stops_the_yes(kb: KnowledgeBase) -> None:
    learn(kb, *DEPLOYS)
    summarize(kb)
    kb.update("1", content="We deploy on Mondays")
    with pytest.raises(Conflict, match="1 has changed since p1 was proposed"):
        inbox.accept(kb, only(kb))
    assert len(bodies(kb)) == 4


def test_a_merge_grows_by_what_is_learned_later_and_keeps_its_citations(kb: KnowledgeBase) -> None:
    learn(kb, *DEPLOYS[:3])
    summarize(kb)
    inbox.accept(kb, only(kb))
    learn(kb, DEPLOYS[3])
    summarize(kb, ["4", "5"])
    inbox.accept(kb, only(kb))
    (note,) = kb.list().notes
    assert note.supersedes == (4, 5)
    assert [line[-3:] for line in note.body.split("\n")[2:]] == ["[1]", "[2]", "[3]", "[5]"]


def test_what_is_at_odds_with_one_statement_of_a_merge_leaves_the_others_alone(kb: KnowledgeBase, co: Co) -> None:
    learn(kb, *POSTGRES)
    summarize(kb)
    inbox.accept(kb, only(kb))
    assert co("learn", "Postgres listens on port 6432 in the cellar") == 0
    assert "5 contradicts 4 (another number: 6432 ≠ 5432). It is proposed to take that out of 4 (p2): co review" in co.out
    proposal = only(kb)
    assert (proposal.kind, proposal.action) == ("contradiction", "revise")
    inbox.accept(kb, proposal)
    assert [line[-3:] for line in kb.get("4").body.split("\n")[2:]] == ["[1]", "[3]"]
    assert kb.get("4").superseded_by is None


def test_a_dry_run_proposes_nothing(kb: KnowledgeBase) -> None:
    learn(kb, *DEPLOYS)
    assert len(summarize(kb, dry_run=True).proposed) == 1
    assert inbox.proposals(kb).proposals == ()


# -------------------------------------------------------------------------------------------------------------------- naming


def test_named_memories_are_one_group_whatever_they_speak_of(kb: KnowledgeBase) -> None:
    learn(kb, *OTHERS)
    (merged,) = summarize(kb, ["1", "3"]).proposed
    assert merged.summary.body == "- User prefers tabs in Makefiles [1]\n- Invoices are sent by finance [3]"


def test_what_cannot_be_merged_is_refused_with_the_reason(kb: KnowledgeBase) -> None:
    learn(kb, *POSTGRES, "Postgres listens on port 6432 in the cellar")
    (pinned,) = learn(kb, "Mind the gap", pinned=True)
    (private,) = learn(kb, "The safe is behind the clock", private=True)
    (everywhere,) = learn(kb, "User likes tea", in_global=True)
    for refs, kind, message in (
        (["1"], Invalid, "two memories at least"),
        (["1", "99"], NotFound, "no note 99"),
        (["1", pinned], Conflict, "is pinned: it cannot be merged"),
        (["1", private], Conflict, "one is private and the other is not"),
        (["1", everywhere], Conflict, "cannot be merged: they hold for different things"),
        (["2", "4"], Conflict, "2 and 4 are at odds"),
    ):
        with pytest.raises(kind, match=message):
            summarize(kb, refs)
    assert inbox.proposals(kb).proposals == ()


def test_a_person_may_word_it_otherwise_and_is_told_what_gets_lost(kb: KnowledgeBase, co: Co) -> None:
    learn(kb, *DEPLOYS)
    summarize(kb)
    edited = inbox.reword(kb, only(kb), "We deploy on Fridays through staging, Anna says when.")
    told = doubts(kb, edited)
    assert "drops the number “after 3pm” of 1" in told
    assert any(doubt.startswith("drops the negation “without a green smoke run” of 3") for doubt in told)
    assert co("review", "p1") == 0
    assert "look twice: it drops the number “after 3pm” of 1" in co.out
    assert "drops the number “after 3pm” of 1" in co.json("review", "p1")["proposals"][0]["doubts"]
    assert co("review", "--accept", "p1") == 0
    assert "warning: p1 drops the number “after 3pm” of 1; `co undo` takes it back" in co.err
    assert bodies(kb) == ["We deploy on Fridays through staging, Anna says when."]


# ------------------------------------------------------------------------------------------------------------------- command


def test_the_command_says_what_it_proposes_and_what_to_do_next(co: Co, kb: KnowledgeBase) -> None:
    learn(kb, *DEPLOYS)
    assert co("knowledge", "--summarize", "--dry-run") == 0
    assert co.out.startswith("1 memory could stand for 4. Nothing was proposed; without --dry-run it is.\n")
    assert co("knowledge", "--summarize") == 0
    assert co.out.startswith("✓ 1 memory could stand for 4. Nothing was changed yet; say yes or no: co review\n")
    assert "   p1  Deploy (1, 2, 3, 4)\n       - We deploy on Fridays after 3pm [1]\n" in co.out
    assert co("knowledge", "--summarize") == 0
    assert "4 memories were left out, since what waits is about them already: co review --list" in co.out
    assert co("knowledge", "--summarize", "1", "2", "3", "4") == 0
    assert "1, 2, 3, 4: p1 proposes this already. co review p1" in co.out


def test_the_command_gives_programs_everything(co: Co, kb: KnowledgeBase) -> None:
    learn(kb, *DEPLOYS, *OTHERS)
    found = co.json("knowledge", "--summarize")
    assert (found["proposed"], found["further"], found["dry_run"]) == (1, 0, False)
    (group,) = found["groups"]
    assert group["refs"] == ["1", "2", "3", "4"]
    assert (group["id"], group["state"], group["wording"], group["refused"]) == ("p1", "proposed", None, [])
    assert group["text"] == only(kb).content


def test_private_words_are_not_printed(co: Co, kb: KnowledgeBase) -> None:
    learn(kb, *POSTGRES, private=True)
    co("knowledge", "--summarize")
    assert "3 private memories (1, 2, 3)" in co.out
    assert "Postgres" not in co.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--no-model", "--list"], "--no-model goes with --summarize."),
        (["--dry-run", "--list"], "These options go with --export."),
        (["--summarize", "-t", "ops"], "The filters go with --list."),
        (["--summarize", "nothing"], "'nothing' names no note."),
    ],
)
def test_options_that_would_be_passed_over_are_refused(co: Co, arguments: list[str], message: str) -> None:
    assert co("knowledge", *arguments) == 2
    assert message in co.err


def test_with_nothing_to_merge_it_says_so(co: Co, kb: KnowledgeBase) -> None:
    learn(kb, *OTHERS)
    assert co("knowledge", "--summarize") == 0
    assert co.out.startswith("No memories speak of the same closely enough.")
