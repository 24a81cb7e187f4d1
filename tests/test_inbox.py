"""The inbox: what is proposed waits for a yes, a yes is one change that can be taken back, and a no is remembered."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from co_cli import KnowledgeBase
from co_cli.errors import Conflict, Denied, Invalid, NotFound
from co_cli.learning import inbox
from co_cli.learning.inbox import Evidence, Outcome, Proposal
from co_cli.learning.proposal import identity, parse, render

FRIDAY = Proposal(
    "draft",
    "project",
    "save",
    "We deploy on Fridays",
    {"tags": ["ops"]},
    evidence=Evidence("no, we deploy on Fridays", "chat 20260209", ("4",)),
    reason="a correction",
)


def proposed(kb: KnowledgeBase, *wanted: Proposal) -> list[str]:
    return [outcome.state for outcome in inbox.propose(kb, wanted)]


def only(kb: KnowledgeBase) -> Proposal:
    (proposal,) = inbox.proposals(kb).proposals
    return proposal


def texts(kb: KnowledgeBase) -> list[str]:
    return [note.body for note in kb.list().notes]


# ---------------------------------------------------------------------------------------------------------------- proposing


def test_what_is_proposed_waits_in_a_file_and_changes_no_note(kb: KnowledgeBase, vault: Path) -> None:
    (outcome,) = inbox.propose(kb, [FRIDAY])
    assert outcome.state == inbox.PROPOSED
    assert outcome.proposal == only(kb)
    assert (outcome.proposal.ref, outcome.proposal.id) == ("p1", 1)
    path = vault / "inbox" / "0001-draft-we-deploy-on-fridays.md"
    assert outcome.proposal.path == str(path)
    assert path.read_text().startswith("---\nkind: draft\naction: save\ntags: [ops]\nreason: a correction\nevidence:\n")
    assert path.read_text().endswith("---\n\nWe deploy on Fridays\n")
    assert texts(kb) == []
    assert kb.log() == ()


def test_nobody_else_may_read_a_proposal_and_git_leaves_it_out(kb: KnowledgeBase, vault: Path) -> None:
    inbox.propose(kb, [FRIDAY])
    assert stat.S_IMODE(os.stat(only(kb).path).st_mode) == 0o600
    assert (vault / "inbox" / ".gitignore").read_text().endswith("\n*\n")


def test_the_same_thing_waits_only_once_however_it_is_written(kb: KnowledgeBase) -> None:
    assert proposed(kb, FRIDAY, FRIDAY._replace(content="we deploy, on fridays.")) == [inbox.PROPOSED, inbox.WAITING]
    assert proposed(kb, FRIDAY) == [inbox.WAITING]
    assert proposed(kb, FRIDAY._replace(content="We deploy on Mondays")) == [inbox.PROPOSED]
    assert len(inbox.proposals(kb).proposals) == 2


def test_what_is_known_already_is_not_proposed(kb: KnowledgeBase) -> None:
    kb.save("We deploy on Fridays", tags=["ops"])
    kb.write_topic("deploy", "1. Tag")
    same = Proposal("update", "project", "topic", "1. Tag", {"name": "deploy"})
    assert proposed(kb, FRIDAY, same) == [inbox.NOTHING, inbox.NOTHING]


def test_what_could_never_be_kept_is_refused_and_stops_none_of_the_others(kb: KnowledgeBase) -> None:
    secret = FRIDAY._replace(content="the key is AKIAIOSFODNN7EXAMPLE")
    odd = FRIDAY._replace(fields={"colour": "red"})
    first, second, third, fourth = inbox.propose(kb, [secret, odd, FRIDAY, FRIDAY._replace(kind="whim")])
    assert [first.state, second.state, third.state, fourth.state] == ["refused", "refused", "proposed", "refused"]
    assert isinstance(first.error, Denied)
    assert "takes no 'colour'" in str(second.error)
    assert "no kind 'whim'" in str(fourth.error)
    assert only(kb).content == FRIDAY.content


def test_a_number_that_was_read_never_comes_to_mean_something_else(kb: KnowledgeBase) -> None:
    inbox.propose(kb, [FRIDAY])
    inbox.reject(kb, only(kb))
    inbox.propose(kb, [FRIDAY._replace(content="Another thing")])
    assert only(kb).ref == "p2"


def test_each_vault_has_an_inbox_of_its_own(kb: KnowledgeBase, global_vault: Path) -> None:
    inbox.propose(kb, [FRIDAY, FRIDAY._replace(vault="global")])
    assert [each.ref for each in inbox.proposals(kb).proposals] == ["p1", "g1"]
    assert inbox.get(kb, "g1").path.startswith(str(global_vault))
    inbox.accept(kb, inbox.get(kb, "g1"))
    assert [note.ref for note in kb.list().notes] == ["g:1"]
    with pytest.raises(NotFound):
        inbox.get(kb, "g1")
    with pytest.raises(Invalid):
        inbox.get(kb, "the first")


# ----------------------------------------------------------------------------------------------------------------- accepting


def test_accepting_keeps_the_text_and_empties_the_inbox_in_one_change_that_undo_takes_back(kb: KnowledgeBase) -> None:
    inbox.propose(kb, [FRIDAY])
    proposal = only(kb)
    (shown,) = inbox.changes(kb, proposal)
    assert texts(kb) == []
    assert inbox.accept(kb, proposal) == (shown,)
    (note,) = kb.list().notes
    assert (note.body, note.tags, note.raw) == ("We deploy on Fridays", ("ops",), shown.after)
    assert inbox.proposals(kb).proposals == ()
    (logged,) = kb.log()
    assert logged.change.summary == "accepted p1 draft We deploy on Fridays"
    kb.undo()
    assert texts(kb) == []
    assert only(kb) == proposal
    assert stat.S_IMODE(os.stat(proposal.path).st_mode) == 0o600


def test_a_text_that_was_edited_in_its_file_is_the_one_that_is_kept(kb: KnowledgeBase) -> None:
    inbox.propose(kb, [FRIDAY])
    path = Path(only(kb).path)
    path.write_text(path.read_text().replace("\n\nWe deploy on Fridays\n", "\n\nWe deploy on Mondays\n\nAfter the tests.\n"))
    inbox.accept(kb, only(kb))
    assert texts(kb) == ["We deploy on Mondays\n\nAfter the tests."]


def test_another_text_can_be_given_with_the_yes_or_before_it(kb: KnowledgeBase) -> None:
    inbox.propose(kb, [FRIDAY, FRIDAY._replace(content="Tea is better")])
    first, second = inbox.proposals(kb).proposals
    inbox.accept(kb, first, "We deploy on Mondays")
    reworded = inbox.reword(kb, second, "Coffee is better")
    assert reworded == only(kb)
    assert (reworded.fields, reworded.evidence) == (second.fields, second.evidence)
    inbox.accept(kb, reworded)
    assert texts(kb) == ["We deploy on Mondays", "Coffee is better"]


def test_every_action_does_what_it_says(kb: KnowledgeBase) -> None:
    for text in ("Tabs", "Old", "Gone", "Tests take 5 minutes", "Tests take 9 minutes", "One", "Two"):
        kb.save(text)
    wanted = [
        Proposal("update", "project", "revise", "Spaces", {"tags": ["style"]}, ("1",)),
        Proposal("expiry", "project", "archive", refs=("2",)),
        Proposal("expiry", "project", "forget", refs=("3",)),
        Proposal("contradiction", "project", "supersede", "Tests take 7 minutes", {}, ("4",)),
        Proposal("contradiction", "project", "supersede", "", {"by": "4"}, ("5",)),
        Proposal("merge", "project", "merge", "One and two", {"because": "they say the same"}, ("6", "7")),
        Proposal("draft", "project", "topic", "# Deploy", {"name": "deploy"}),
    ]
    assert set(proposed(kb, *wanted)) == {inbox.PROPOSED}
    for proposal in inbox.proposals(kb).proposals[:4]:
        inbox.accept(kb, proposal)
    (by, *rest) = inbox.proposals(kb).proposals
    with pytest.raises(Conflict, match="4 has been replaced by 8 already"):
        inbox.accept(kb, by)
    for proposal in rest:
        inbox.accept(kb, proposal)
    notes = {note.ref: note for note in (*kb.list().notes, *kb.list(archived=True).notes)}
    assert notes["1"].body == "Spaces"
    assert notes["1"].tags == ("style",)
    assert "3" not in notes
    assert notes["4"].superseded_by == 8
    assert (notes["8"].body, notes["8"].supersedes) == ("Tests take 7 minutes", (4,))
    assert [notes[ref].superseded_by for ref in ("6", "7")] == [9, 9]
    assert (notes["9"].body, notes["9"].because) == ("One and two", "they say the same")
    assert [note.ref for note in kb.list(archived=True).notes] == ["2", "6", "7"]
    assert kb.topic("deploy").body == "# Deploy"


def test_a_page_is_taken_in(kb: KnowledgeBase) -> None:
    page = Proposal("draft", "project", "article", "# Herons\n\nThey nest.", {"source": "https://example.org/herons"})
    assert proposed(kb, page, page._replace(fields={})) == [inbox.PROPOSED, inbox.REFUSED]
    inbox.accept(kb, only(kb))
    assert kb.article("https://example.org/herons").body == "# Herons\n\nThey nest."
    kb.undo()
    assert kb.articles().notes == ()


def test_a_note_is_moved_between_the_vaults(kb: KnowledgeBase) -> None:
    kb.save("Tea is better")
    kb.save("We deploy on Fridays", in_global=True)
    here = Proposal("update", "project", "move", fields={"to": "global", "language": "python"}, refs=("1",))
    there = Proposal("update", "global", "move", fields={"to": "project"}, refs=("g:1",))
    nowhere = Proposal("update", "project", "move", fields={"to": "mars"}, refs=("1",))
    assert proposed(kb, here, there, nowhere) == [inbox.PROPOSED, inbox.PROPOSED, inbox.REFUSED]
    for proposal in inbox.proposals(kb).proposals:
        inbox.accept(kb, proposal)
    assert {note.vault: note.body for note in kb.list().notes} == {
        "project": "We deploy on Fridays",
        "global": "Tea is better",
    }
    assert inbox.proposals(kb).proposals == ()


def test_what_the_notes_have_left_behind_is_refused_in_clear_words_and_nothing_is_lost(kb: KnowledgeBase) -> None:
    kb.save("Tabs")
    inbox.propose(kb, [Proposal("update", "project", "revise", "Spaces", {}, ("1",))])
    os.unlink(kb.get("1").path)
    with pytest.raises(Conflict, match="p1 cannot be accepted: There is no note 1") as caught:
        inbox.accept(kb, only(kb))
    assert "co review --reject p1" in caught.value.hint
    assert texts(kb) == []
    assert only(kb).content == "Spaces"


def test_a_text_that_was_written_since_is_not_replaced_unseen(kb: KnowledgeBase) -> None:
    kb.save("Tabs")
    inbox.propose(kb, [Proposal("update", "project", "revise", "Spaces", {}, ("1",))])
    kb.update("1", content="Tabs, but only in makefiles")
    with pytest.raises(Conflict, match="changed"):
        inbox.accept(kb, only(kb))
    shown = inbox.changes(kb, only(kb))
    assert inbox.changed_since(kb, only(kb)) == ["1"]
    kb.update("1", content="Tabs, in makefiles and in C")
    with pytest.raises(Conflict, match="since they were shown"):
        inbox.accept(kb, only(kb), seen=shown)
    inbox.accept(kb, only(kb), seen=inbox.changes(kb, only(kb)))
    assert texts(kb) == ["Spaces"]


def test_a_note_that_got_the_number_of_one_that_is_gone_is_not_taken_for_it(kb: KnowledgeBase) -> None:
    kb.save("Staging is frozen")
    inbox.propose(kb, [Proposal("expiry", "project", "archive", refs=("1",))])
    os.unlink(kb.get("1").path)
    kb.save("We deploy on Fridays")
    with pytest.raises(Conflict, match="1 has changed since p1 was proposed"):
        inbox.accept(kb, only(kb))
    assert texts(kb) == ["We deploy on Fridays"]


def test_a_topic_that_somebody_wrote_meanwhile_is_not_replaced_unseen(kb: KnowledgeBase) -> None:
    inbox.propose(kb, [Proposal("draft", "project", "topic", "1. Tag", {"name": "deploy"})])
    kb.write_topic("deploy", "1. Wait")
    with pytest.raises(Conflict):
        inbox.accept(kb, only(kb))
    assert kb.topic("deploy").body == "1. Wait"


def test_what_waits_no_more_or_was_changed_meanwhile_is_not_accepted(kb: KnowledgeBase) -> None:
    inbox.propose(kb, [FRIDAY])
    proposal = only(kb)
    inbox.reword(kb, proposal, "We deploy on Mondays")
    with pytest.raises(Conflict, match="p1 was changed by another program meanwhile"):
        inbox.accept(kb, proposal)
    inbox.accept(kb, only(kb))
    with pytest.raises(Conflict, match="p1 waits no more"):
        inbox.accept(kb, proposal)
    with pytest.raises(Conflict, match="p1 waits no more"):
        inbox.reject(kb, proposal)
    assert texts(kb) == ["We deploy on Mondays"]


# ------------------------------------------------------------------------------------------------------- rejecting and later


def test_what_was_rejected_is_not_proposed_again_however_it_is_written(kb: KnowledgeBase, vault: Path) -> None:
    inbox.propose(kb, [FRIDAY])
    reworded = inbox.reword(kb, only(kb), "We never deploy")
    inbox.reject(kb, reworded, "it was in jest")
    assert kb.log()[0].change.summary == "rejected p1 draft We never deploy because it was in jest"
    again = [FRIDAY._replace(content=text) for text in ("we deploy on Fridays!", "We never deploy", "We deploy daily")]
    assert proposed(kb, *again) == [inbox.REJECTED, inbox.REJECTED, inbox.PROPOSED]
    remembered = [path for path in (vault / "inbox" / ".rejected").rglob("*") if path.is_file()]
    assert len(remembered) == 2
    assert not any("deploy" in f"{path.name} {path.read_text()}".lower() for path in remembered)


def test_a_rejection_can_be_taken_back_and_all_of_them_be_forgotten(kb: KnowledgeBase) -> None:
    inbox.propose(kb, [FRIDAY])
    proposal = only(kb)
    inbox.reject(kb, proposal)
    kb.undo()
    assert only(kb) == proposal
    inbox.reject(kb, proposal)
    assert proposed(kb, FRIDAY) == [inbox.REJECTED]
    assert inbox.forget_rejected(kb) == 1
    assert inbox.forget_rejected(kb) == 0
    assert proposed(kb, FRIDAY) == [inbox.PROPOSED]


def test_what_is_put_off_is_not_shown_before_its_day(kb: KnowledgeBase) -> None:
    inbox.propose(kb, [FRIDAY])
    later = inbox.postpone(kb, only(kb))
    assert inbox.waiting(kb) == ()
    assert only(kb) == later
    assert proposed(kb, FRIDAY) == [inbox.WAITING]
    today = inbox.postpone(kb, later, "0d")
    assert inbox.waiting(kb) == (today,)


# ---------------------------------------------------------------------------------------------------------------- as a file


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("no header\n", 1, "Missing required field: kind"),
        ("---\nkind: draft\naction: dance\n---\n\nx\n", 3, "there is no action 'dance'"),
        ("---\nkind: draft\naction: save\ncolour: red\n---\n\nx\n", 4, "save takes no 'colour'"),
        ("---\nkind: draft\naction: save\ntags: red\n---\n\nx\n", 4, "Field 'tags' must be list"),
        ("---\nkind: draft\naction: save\npinned: very\n---\n\nx\n", 4, "Field 'pinned' must be true or false"),
        ("---\nkind: draft\naction: save\nlater: soon\n---\n\nx\n", 4, "Field 'later' must be a date"),
        ("---\nkind: draft\naction: save\nevidence: heard\n---\n\nx\n", 4, "Field 'evidence' must have"),
        ("---\nkind: draft\naction: save\n---\n\n \n", 3, "save needs a text"),
        ("---\nkind: expiry\naction: archive\n---\n", 3, "archive needs refs"),
        ("---\nkind: draft\naction: topic\nsource: x\n---\n\ny\n", 3, "topic needs a name"),
        ("---\nkind: [\n---\n\nx\n", 2, "Invalid YAML"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_problem_with_its_line_and_stops_no_other(
    kb: KnowledgeBase, vault: Path, text: str, line: int, said: str
) -> None:
    inbox.propose(kb, [FRIDAY])
    bad = vault / "inbox" / "0007-draft-bad.md"
    bad.write_text(text)
    listing = inbox.proposals(kb)
    assert [each.content for each in listing.proposals] == ["We deploy on Fridays"]
    (problem,) = listing.problems
    assert problem.path == str(bad)
    assert said in problem.message
    assert problem.line == line
    with pytest.raises(NotFound, match="p7 cannot be read"):
        inbox.get(kb, "p7")
    inbox.propose(kb, [FRIDAY._replace(content="Another")])
    assert inbox.get(kb, "p8").content == "Another"


def test_who_writes_a_proposal_by_hand_may_name_a_note_by_its_bare_number(kb: KnowledgeBase, vault: Path) -> None:
    kb.save("We deploy on Mondays")
    kb.save("We deploy on Fridays")
    (vault / "inbox").mkdir()
    (vault / "inbox" / "0001-x.md").write_text("---\nkind: contradiction\naction: supersede\nrefs: 1\nby: 2\n---\n")
    inbox.accept(kb, only(kb))
    assert kb.get("1").superseded_by == 2


def test_of_two_files_with_one_number_none_is_taken_for_the_other(kb: KnowledgeBase, vault: Path) -> None:
    (vault / "inbox").mkdir(parents=True)
    for name in ("0001-a.md", "0001-b.md"):
        (vault / "inbox" / name).write_text(f"---\nkind: draft\naction: save\n---\n\n{name}\n")
    with pytest.raises(Conflict, match="2 proposals could be meant") as caught:
        inbox.get(kb, "p1")
    assert "another number" in caught.value.hint


def test_an_inbox_that_leads_out_of_the_vault_is_neither_read_nor_written(
    kb: KnowledgeBase, vault: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (vault / "inbox").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Conflict, match="symbolic link"):
        inbox.propose(kb, [FRIDAY])
    assert [*(tmp_path / "elsewhere").iterdir()] == []
    assert [problem.code for problem in inbox.proposals(kb).problems] == ["link"]


def test_a_private_proposal_keeps_its_words_to_itself(kb: KnowledgeBase) -> None:
    inbox.propose(kb, [FRIDAY._replace(fields={"private": True})])
    proposal = only(kb)
    assert proposal.private
    assert Path(proposal.path).name == "0001-draft-private.md"
    inbox.accept(kb, proposal)
    assert kb.log()[0].change.summary == "accepted p1 draft (private)"
    (note,) = kb.list().notes
    assert note.private


def test_what_is_said_of_a_private_note_is_as_private(kb: KnowledgeBase) -> None:
    kb.save("The nest is behind the mill", private=True)
    kb.write_topic("diary", "Only for me")
    kb.update("topic:diary", private=True)
    inbox.propose(kb, [Proposal("update", "project", "revise", "The nest is behind the church", refs=("1",))])
    inbox.propose(kb, [Proposal("update", "project", "topic", "Still only for me", {"name": "diary"})])
    shared = Proposal("draft", "project", "topic", "Secretly", {"name": "secrets", "private": True})
    assert proposed(kb, shared) == [inbox.REFUSED]
    for proposal in inbox.proposals(kb).proposals:
        assert proposal.private
        assert Path(proposal.path).name.endswith("-update-private.md")
        inbox.accept(kb, proposal)
    assert [note.private for note in kb.list(("memory", "topic")).notes] == [True, True]
    assert not any("church" in entry.change.summary or "Still" in entry.change.summary for entry in kb.log())


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
refs = st.lists(st.sampled_from(["12", "g:3", "topic:deploy", "p:article:rfc", "007"]), max_size=3).map(tuple)


@given(
    content=words.filter(lambda text: text.strip() and "\r" not in text),
    tags=st.lists(words, max_size=3),
    key=words,
    pinned=st.booleans(),
    cited=refs,
    quote=words,
    reason=words,
)
def test_what_is_proposed_is_what_is_read_back(
    content: str, tags: list[str], key: str, pinned: bool, cited: tuple[str, ...], quote: str, reason: str
) -> None:
    from co_cli.learning.proposal import checked

    fields = {"tags": tags, "key": key, "pinned": pinned}
    given = Proposal("draft", "project", "save", content, fields, cited, Evidence(quote, "s", cited), reason)
    try:
        ready = checked(given)
    except Invalid:
        return
    ready = ready._replace(id=12, created="2026-02-09T14:30:00+00:00", fingerprint=identity(ready))
    path = "/vault/inbox/0012-draft-x.md"
    raw = render(ready)
    assert parse(raw, vault="project", path=path) == ready._replace(path=path, raw=raw)


def test_outcomes_come_in_the_order_of_what_was_proposed(kb: KnowledgeBase) -> None:
    wanted = [FRIDAY._replace(content=f"Fact {number}", vault=name) for number in range(3) for name in ("global", "project")]
    outcomes: tuple[Outcome, ...] = inbox.propose(kb, wanted)
    assert [outcome.proposal.content for outcome in outcomes] == [proposal.content for proposal in wanted]
    assert [outcome.proposal.ref for outcome in outcomes] == ["g1", "p1", "g2", "p2", "g3", "p3"]
