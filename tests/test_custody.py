"""What becomes of kept notes: moved between the vaults, and forgotten for good."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from commands import Co

from co_cli.attachment import Attachment
from co_cli.errors import Conflict, NotFound
from co_cli.knowledge import KnowledgeBase, open_knowledge_at
from co_cli.learning.inbox import Evidence, Proposal, accept, proposals, propose, reject


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeBase:
    return open_knowledge_at(home=str(tmp_path / "home"), state=str(tmp_path / "state"), project=str(tmp_path / "project"))


def everything_under(*folders: str) -> bytes:
    files = (path for folder in folders for path in Path(folder).rglob("*") if path.is_file())
    return b"\n".join(path.name.encode() + b"\n" + path.read_bytes() for path in files)


# --------------------------------------------------------------------------------------------------------------- promoting


def test_a_memory_is_promoted_with_all_that_it_says_and_demoted_again(kb: KnowledgeBase) -> None:
    kb.save("One for all.", in_global=True)
    note = kb.save("Squash before merging.", tags=["git"], category="project_insights", key="merging").note

    (moved,) = kb.promote(note.ref)

    assert (moved.after.ref, moved.after.body, moved.after.tags) == ("g:2", note.body, ("git",))
    assert (moved.after.created, moved.after.key, moved.after.scope) == (note.created, "merging", "global")
    with pytest.raises(NotFound):
        kb.get("p:1")

    (back,) = kb.demote("g:2")

    assert (back.after.ref, back.after.scope) == ("1", "")
    assert back.after.raw == note.raw


def test_a_memory_may_be_promoted_to_the_projects_of_a_language(kb: KnowledgeBase) -> None:
    kb.save("Use pathlib.")

    (moved,) = kb.promote("1", language="Python")

    assert (moved.after.scope, moved.after.language) == ("language", "python")


def test_what_is_said_there_already_is_not_promoted(kb: KnowledgeBase) -> None:
    kb.save("Use pathlib.", in_global=True)
    kb.save("use pathlib", force=True)

    with pytest.raises(Conflict, match="says this there already"):
        kb.promote("p:1")

    assert len(kb.list().notes) == 2


def test_promoting_is_undone_in_both_vaults(kb: KnowledgeBase) -> None:
    kb.save("Use pathlib.")
    before = kb.get("1").raw
    kb.promote("1")

    kb.undo()
    kb.undo()

    assert [(note.ref, note.raw) for note in kb.list().notes] == [("1", before)]


def test_topics_are_promoted_under_their_names(kb: KnowledgeBase) -> None:
    kb.write_topic("review", "Look twice.")

    (moved,) = kb.promote("topic:review")

    assert moved.after.ref == "g:topic:review"
    assert kb.topic("review").body == "Look twice."


def test_an_article_is_promoted_with_its_original(kb: KnowledgeBase) -> None:
    original = Attachment("report.pdf", b"%PDF of a report")
    note = kb.save_article("The report.", source="https://example.org/report.pdf", title="Report", attachment=original).note

    (moved,) = kb.promote(note.ref)

    assert moved.after.ref == "g:article:report"
    assert kb.original(moved.after) == original.raw
    assert not list(Path(kb.vault("project").root).rglob("report-*.pdf"))
    kb.demote("g:article:report")
    assert kb.original(kb.get("article:report")) == original.raw
    assert not list(Path(kb.vault("global").root).rglob("report-*.pdf"))


def test_what_a_promoted_memory_had_taken_the_place_of_stands_again_and_that_is_said(co: Co) -> None:
    co("learn", "We deploy on Fridays")
    co("learn", "We deploy on Mondays")
    co("review", "--accept", "p1")

    assert co("promote", "2") == 0

    assert "1: We deploy on Fridays stands again: nothing supersedes it any more." in co.out


def test_the_command_says_where_a_note_is_now(co: Co) -> None:
    co("learn", "Use pathlib.")

    assert co("promote", "1") == 0
    assert co.out.startswith("✓ 1 is g:1: Use pathlib.\n")
    assert co.out.endswith("`co undo`, twice, takes it back.\n")
    assert co("promote", "g:1") == 4
    assert "for all projects already" in co.err
    assert co("promote", "77") == 3


# ----------------------------------------------------------------------------------------------------------------- purging


def test_what_was_purged_is_nowhere_any_more(kb: KnowledgeBase) -> None:
    kb.save("The zanzibar gate has a spare key.")
    kb.update("1", content="The zanzibar gate has two spare keys.")
    kb.save("Something else.")
    kb.recall("zanzibar", mode="hybrid")

    purged = kb.purge("1")

    assert [note.ref for note in purged.notes] == ["1"]
    assert purged.changes == 3
    assert b"zanzibar" not in everything_under(kb.places.home, kb.places.state, kb.places.project)
    assert [note.body for note in kb.list().notes] == ["Something else."]


def test_nothing_brings_back_what_was_purged(kb: KnowledgeBase) -> None:
    kb.save("The zanzibar gate.")
    kb.purge("1")

    for entry in kb.log():
        with pytest.raises(Conflict, match="purged"):
            kb.undo(entry.id)

    assert not kb.list().notes


def test_what_was_forgotten_before_can_still_be_purged(kb: KnowledgeBase) -> None:
    kb.save("The zanzibar gate.")
    kb.forget("1")

    purged = kb.purge("1")

    assert (purged.notes, purged.changes) == ((), 2)
    assert b"zanzibar" not in everything_under(kb.places.home, kb.places.state, kb.places.project)


def test_another_note_that_had_the_same_number_is_left_alone(kb: KnowledgeBase) -> None:
    kb.save("The first one, forgotten.")
    kb.forget("1")
    kb.save("The zanzibar gate.")

    kb.purge("1")

    kb.undo("p2")
    assert [note.body for note in kb.list().notes] == ["The first one, forgotten."]


def test_a_note_is_followed_through_archive_undo_and_other_names(kb: KnowledgeBase) -> None:
    kb.save("The zanzibar gate.")
    kb.archive("1")
    kb.archive("1", restore=True)
    kb.forget("1")
    kb.undo()
    kb.update("1", private=True)

    purged = kb.purge("1")

    assert purged.changes == 7
    assert b"zanzibar" not in everything_under(kb.places.home, kb.places.state, kb.places.project)


def test_others_that_were_changed_together_with_it_stay_in_the_journal(kb: KnowledgeBase) -> None:
    kb.save("The zanzibar gate.")
    kb.save("The other gate.")
    kb.forget(["1", "2"])

    kb.purge("1")
    kb.purge("2")

    assert b"other gate" not in everything_under(kb.places.home, kb.places.state, kb.places.project)


def test_proposals_that_name_a_forgotten_note_are_forgotten_with_it(kb: KnowledgeBase) -> None:
    kb.save("The zanzibar gate.")
    kb.save("Another.")
    about = Proposal("stale", "project", "archive", refs=("1",), evidence=Evidence(quote="the zanzibar gate is gone"))
    propose(kb, [about, Proposal("stale", "project", "archive", refs=("2",))])

    kb.forget("1")

    assert [each.refs for each in proposals(kb).proposals] == [("2",)]
    kb.undo()
    assert [each.refs for each in proposals(kb).proposals] == [("1",), ("2",)]
    kb.purge("1")
    assert b"zanzibar" not in everything_under(kb.places.home, kb.places.state, kb.places.project)


def test_a_note_is_followed_to_the_other_vault_and_back(kb: KnowledgeBase) -> None:
    kb.save("The zanzibar gate.")
    kb.promote("1")
    kb.update("g:1", content="The zanzibar gate is green.")
    kb.demote("g:1")
    kb.save("Another.")

    purged = kb.purge("1")

    assert not purged.remains
    assert b"zanzibar" not in everything_under(kb.places.home, kb.places.state, kb.places.project)
    assert [note.body for note in kb.list().notes] == ["Another."]


def test_an_article_is_followed_to_the_other_vault_with_its_original(kb: KnowledgeBase) -> None:
    Path(kb.places.project).mkdir(exist_ok=True)
    kb.save_article("The zanzibar page.", source="page.txt", attachment=Attachment("page.txt", b"The zanzibar original."))
    kb.promote("article:page")

    assert not kb.purge("g:article:page").remains

    assert b"zanzibar" not in everything_under(kb.places.home, kb.places.state, kb.places.project)


def test_a_note_that_lives_on_in_the_other_vault_is_left_there_and_named(kb: KnowledgeBase) -> None:
    kb.save("The zanzibar gate.")
    kb.promote("1")

    purged = kb.purge("p:1")

    assert [(each.where, each.hint) for each in purged.remains] == [("g:1", "co forget g:1 --purge")]
    assert kb.get("g:1").body == "The zanzibar gate."


def test_what_the_inbox_said_of_a_purged_note_is_gone_from_the_journal(kb: KnowledgeBase) -> None:
    propose(kb, [Proposal("draft", "project", "save", "The zanzibar gate.")])
    reject(kb, proposals(kb).proposals[0])
    kb.undo()
    accept(kb, proposals(kb).proposals[0])
    kb.save("Something else.")
    merged = Proposal("merge", "project", "merge", "- The zanzibar gate. [1]\n- Something else. [2]", refs=("1", "2"))
    about = Proposal("stale", "project", "archive", refs=("1",), evidence=Evidence(quote="zanzibar is gone"))
    other = Proposal("stale", "project", "archive", refs=("2",), evidence=Evidence(quote="nothing"))
    propose(kb, [merged, about, other])
    for each in proposals(kb).proposals:
        reject(kb, each)

    kb.purge("1")

    assert b"zanzibar" not in everything_under(kb.places.home, kb.places.state, kb.places.project)
    kb.undo(next(entry.id for entry in kb.log() if entry.change.summary.startswith("rejected")))
    assert [each.refs for each in proposals(kb).proposals] == [("2",)]


@pytest.mark.parametrize("in_global", [False, True])
def test_what_was_proposed_for_a_purged_topic_is_gone_too(kb: KnowledgeBase, in_global: bool) -> None:
    kb.write_topic("gates", "The north gate.", in_global=in_global)
    vault, ref = ("global", "g:topic:gates") if in_global else ("project", "topic:gates")
    propose(kb, [Proposal("update", vault, "topic", "The zanzibar gate.", {"name": "gates"})])
    reject(kb, proposals(kb).proposals[0])

    kb.purge(ref)

    assert b"zanzibar" not in everything_under(kb.places.home, kb.places.state, kb.places.project)


def test_a_draft_that_still_waits_with_the_words_of_a_purged_note_is_named(kb: KnowledgeBase) -> None:
    propose(kb, [Proposal("draft", "global", "save", "The zanzibar gate.")])
    kb.save("The zanzibar gate.")

    (waiting,) = kb.purge("1").remains

    assert waiting.where == proposals(kb).proposals[0].path
    assert "co review" in waiting.hint


def test_purging_says_what_stands_again(kb: KnowledgeBase, co: Co) -> None:
    co("learn", "We deploy on Fridays")
    co("learn", "We deploy on Mondays")
    co("review", "--accept", "--all")

    assert co("forget", "2", "--purge", "--yes") == 0

    assert "1: We deploy on Fridays stands again" in co.out


def test_the_history_of_git_and_chats_are_named(kb: KnowledgeBase) -> None:
    kb.save("The zanzibar gate.")

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", kb.places.project, *identity, *arguments], check=True, capture_output=True)

    git("init")
    git("add", ".")
    git("commit", "-m", "notes")
    sessions = Path(kb.places.state, "sessions")
    sessions.mkdir(parents=True)
    (sessions / "20260101-000000-abcd.jsonl").write_text('{"text": "Remember: The zanzibar gate."}\n')

    purged = kb.purge("1")

    history, chat = purged.remains
    assert history.where == "git history"
    assert "1 commit has it" in history.what
    assert "--path .co-cli/knowledge/memories/001-the-zanzibar-gate.md" in history.hint
    assert chat.where.endswith("20260101-000000-abcd.jsonl")


def test_purging_asks_first_and_takes_refs_only(co: Co) -> None:
    co("learn", "The zanzibar gate.")

    assert co("forget", "--purge", "1") == 5
    assert "--yes" in co.err
    assert co("forget", "--purge", "zanzibar", "--yes") == 2
    assert co("forget", "--purge", "1", "--yes") == 0
    assert co.out.startswith("✓ Purged 1, and 2 changes in the journal")
    assert co("forget", "--purge", "1", "--yes") == 3
