"""Two vaults become one, and nothing is lost: neither a note, nor a change, nor a choice that is a person's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Co
from hypothesis import given, settings
from hypothesis import strategies as st

from co_cli import CoError, KnowledgeBase, open_knowledge
from co_cli.exchange.merging import MergeReport, merge_vault
from co_cli.exchange.threeway import merge


@pytest.fixture
def other(tmp_path: Path, kb: KnowledgeBase) -> KnowledgeBase:
    """The knowledge of another project of the same user."""
    (tmp_path / "other" / ".git").mkdir(parents=True)
    return open_knowledge(tmp_path / "other")


def fates(merged: MergeReport) -> list[tuple[str, str, str]]:
    return [(entry.outcome, entry.ref, entry.code) for entry in merged.report.entries]


def copied(kb: KnowledgeBase, other: KnowledgeBase) -> None:
    """The other project begins with what this one has, as a clone does."""
    assert set(merge_vault(other, kb.places.project).report.counts) == {"created"}


def root(kb: KnowledgeBase) -> Path:
    return Path(kb.vault("project").root)


def files(kb: KnowledgeBase) -> dict[str, bytes]:
    return {path.relative_to(root(kb)).as_posix(): path.read_bytes() for path in root(kb).rglob("*.md")}


def test_notes_that_are_here_are_recognised_and_others_come_with_an_id_that_is_free(
    kb: KnowledgeBase, other: KnowledgeBase
) -> None:
    kb.save("We deploy on Fridays", tags=["ops"])
    kb.write_topic("deploy", "Steps")
    old = other.save("The queue is NATS").note
    other.save("we deploy on fridays.", tags=["deploy"])
    new = other.save("The queue is Redis, see [[1]]").note
    other.update(new.ref, text=new.text.replace("source:", "supersedes: 1\nsource:"))
    other.update(old.ref, text=old.text.replace("source:", "superseded_by: 3\nsource:"))
    merged = merge_vault(kb, other.places.project)
    assert fates(merged) == [("created", "2", ""), ("updated", "1", ""), ("created", "3", "")]
    assert kb.get("1").tags == ("ops", "deploy")
    assert (kb.get("2").superseded_by, kb.get("3").supersedes) == (3, (2,))
    assert kb.get("3").body == "The queue is Redis, see [[2]]"
    assert set(merge_vault(kb, other.places.project).report.counts) == {"unchanged"}
    assert kb.log()[0].change.summary == "merged another vault: 2 created, 1 updated"
    kb.undo()
    assert [note.body for note in kb.list().notes] == ["We deploy on Fridays"]


def test_what_only_one_side_changed_is_taken_over(kb: KnowledgeBase, other: KnowledgeBase) -> None:
    kb.save("One")
    kb.save("Two")
    kb.write_topic("deploy", "First\n\nSecond\n\nThird")
    copied(kb, other)
    kb.update("1", content="One, changed here")
    other.update("2", content="Two, changed there", tags=["there"])
    kb.write_topic("deploy", "First, here\n\nSecond\n\nThird")
    other.write_topic("deploy", "First\n\nSecond\n\nThird, there", tags=["ops"])
    merged = merge_vault(kb, other.places.project)
    assert merged.divergences == ()
    assert [note.body for note in kb.list().notes] == ["One, changed here", "Two, changed there"]
    assert kb.get("2").tags == ("there",)
    assert kb.topic("deploy").body == "First, here\n\nSecond\n\nThird, there"
    assert kb.topic("deploy").tags == ("ops",)
    assert set(merge_vault(kb, other.places.project).report.counts) == {"unchanged"}


def test_what_was_replaced_there_is_replaced_here_even_if_no_journal_tells(kb: KnowledgeBase, other: KnowledgeBase) -> None:
    kb.save("The queue is Redis", tags=["ops"])
    root(other).mkdir(parents=True)
    (root(other) / "memories").mkdir()
    for name, raw in files(kb).items():
        (root(other) / name).write_bytes(raw.replace(b"source:", b"superseded_by: 2\nsource:").replace(b"[ops]", b"[queue]"))
    other.save("The queue is NATS")
    assert fates(merge_vault(kb, other.places.project)) == [("updated", "1", ""), ("created", "2", "")]
    assert (kb.get("1").superseded_by, kb.get("1").tags) == (2, ("ops", "queue"))


def test_what_both_changed_stays_and_theirs_is_proposed(
    co: Co, kb: KnowledgeBase, other: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.write_topic("deploy", "On Fridays")
    kb.save("Tests run with nox", category="project_insights", key="tests")
    other.write_topic("deploy", "On Mondays")
    other.save("Tests run with tox", category="project_insights", key="tests")
    before = files(kb)
    assert co("merge", other.places.project, "--dry-run") == 0
    assert "-On Fridays" in co.out
    assert files(kb) == before
    assert not (root(kb) / "inbox").exists()
    found = co.json("merge", other.places.project)
    assert [each["ref"] for each in found["conflicts"]] == ["1", "topic:deploy"]
    assert {name: raw for name, raw in files(kb).items() if not name.startswith("inbox/")} == before
    assert co("merge", other.places.project) == 0
    assert "2 notes say something else there" in co.err
    assert co("review", "--accept", "--all") == 0
    assert kb.topic("deploy").body == "On Mondays"
    assert kb.get("1").body == "Tests run with tox"
    assert set(co.json("merge", other.places.project)["counts"]) <= {"unchanged", "updated"}


def test_contexts_are_joined_by_their_bullets(kb: KnowledgeBase, other: KnowledgeBase) -> None:
    for each, lines in ((kb, "- Tests: pytest\n- Style: ruff\n"), (other, "- Tests: pytest\n- Deploy: Fridays\n")):
        each.init()
        (root(each) / "context.md").write_text(f"# Project\n\n{lines}", encoding="utf-8")
    merged = merge_vault(kb, other.places.project)
    assert merged.divergences == ()
    assert kb.get("context").body == "# Project\n\n- Tests: pytest\n- Style: ruff\n- Deploy: Fridays"


def test_a_context_that_was_only_just_made_gives_way(kb: KnowledgeBase, other: KnowledgeBase) -> None:
    kb.init()
    other.init()
    (root(other) / "context.md").write_text("- Tests: nox\n", encoding="utf-8")
    assert fates(merge_vault(kb, other.places.project)) == [("updated", "context", "")]
    assert kb.get("context").body == "- Tests: nox"
    other.init()
    (root(other) / "context.md").write_text("# Nothing yet\n", encoding="utf-8")
    assert fates(merge_vault(kb, other.places.project)) == [("unchanged", "context", "")]


def test_a_vault_can_be_named_in_several_ways_and_go_into_my_own(kb: KnowledgeBase, other: KnowledgeBase) -> None:
    other.save("Fact")
    for path in (other.places.project, f"{other.places.project}/.co-cli", str(root(other))):
        merge_vault(kb, path, into="global")
    assert [note.ref for note in kb.list().notes] == ["g:1"]


@pytest.mark.parametrize("path", ["", "/nowhere", ".", "empty"])
def test_a_path_that_is_no_other_vault_is_an_error(kb: KnowledgeBase, project: Path, path: str) -> None:
    kb.save("Fact")
    (project / "empty").mkdir()
    with pytest.raises(CoError):
        merge_vault(kb, path)


def test_a_file_of_theirs_that_is_broken_is_a_line_and_the_rest_goes_on(kb: KnowledgeBase, other: KnowledgeBase) -> None:
    other.save("Fine")
    (root(other) / "memories" / "009-broken.md").write_text("---\nid: nine\n---\nBroken\n", encoding="utf-8")
    assert fates(merge_vault(kb, other.places.project)) == [("created", "1", ""), ("skipped", "", "bad-field")]


# ------------------------------------------------------------------------------------------------- two versions of a text

HEAD = "---\nid: 3\ncreated: 2026-01-01T00:00:00+00:00\ntags: [a, b]\n---\n\n"


def joined(base: str | None, ours: str, theirs: str, *, by_bullets: bool = False) -> tuple[str, int]:
    merged = merge(base.encode() if base is not None else None, ours.encode(), theirs.encode(), by_bullets=by_bullets)
    return merged.raw.decode(), merged.conflicts


def test_headers_are_joined_field_by_field_and_texts_by_their_lines() -> None:
    base = f"{HEAD}One\nTwo\nThree\n"
    ours = base.replace("[a, b]", "[a, b, c]").replace("One", "Uno")
    theirs = base.replace("[a, b]", "[b, d]\nupdated: 2026-02-01T00:00:00+00:00").replace("Three", "Tres")
    head = HEAD.replace("[a, b]", "[b, c, d]\nupdated: 2026-02-01T00:00:00+00:00")
    assert joined(base, ours, theirs) == (f"{head}Uno\nTwo\nTres\n", 0)


def test_marks_stand_only_where_both_sides_say_something_else() -> None:
    base = f"{HEAD}One\nTwo\n"
    ours = base.replace("One", "Uno").replace("[a, b]", "[a, b]\nexpires: 2026-03-01")
    theirs = base.replace("One", "Eins").replace("[a, b]", "[a, b]\nexpires: 2026-04-01")
    text, conflicts = joined(base, ours, theirs)
    assert conflicts == 2
    marked = "<<<<<<< ours\nexpires: 2026-03-01\n=======\nexpires: 2026-04-01\n>>>>>>> theirs\n"
    head = HEAD.replace("---\n\n", f"{marked}---\n\n")
    assert text == f"{head}<<<<<<< ours\nUno\n=======\nEins\n>>>>>>> theirs\nTwo\n"


def test_of_two_dates_the_later_update_and_the_earlier_birth_count() -> None:
    ours = HEAD.replace("tags", "updated: 2026-02-01T00:00:00+00:00\ntags") + "One\n"
    theirs = (
        HEAD.replace("tags", "updated: 2026-01-31T23:30:00-02:00\ntags").replace("2026-01-01T00", "2025-01-01T00") + "One\n"
    )
    text, conflicts = joined(None, ours, theirs)
    assert conflicts == 0
    assert "updated: 2026-01-31T23:30:00-02:00" in text
    assert "created: 2025-01-01T00:00:00+00:00" in text


def test_where_only_one_side_has_a_header_it_stays() -> None:
    assert joined(None, f"{HEAD}One\nTwo\n", "One\n") == (f"{HEAD}One\nTwo\n", 0)
    assert joined(None, "One\nTwo\n", f"{HEAD}One\n") == (f"{HEAD}One\nTwo\n", 0)


def test_line_endings_of_ours_stay() -> None:
    assert joined("A\nB\n", "A\r\nB\r\nC\r\n", "Z\nB\n") == ("Z\r\nB\r\nC\r\n", 0)


def test_a_bullet_that_both_changed_is_marked_alone() -> None:
    base = "# P\n\n- Tests: pytest\n- Style: ruff\n"
    ours = "# P\n\n- Tests: nox\n- Style: ruff\n- Mine\n"
    theirs = "# P\n\n- Tests: tox\n- Theirs\n"
    text, conflicts = joined(base, ours, theirs, by_bullets=True)
    assert conflicts == 1
    assert text == "# P\n\n<<<<<<< ours\n- Tests: nox\n=======\n- Tests: tox\n>>>>>>> theirs\n- Mine\n- Theirs\n"


lines = st.lists(st.sampled_from(["- a: 1", "- a: 2", "- b", "text", "", "# h", "  more"]), max_size=8).map("\n".join)


@settings(deadline=None)
@given(base=lines, ours=lines, by_bullets=st.booleans())
def test_where_one_side_changed_nothing_the_other_counts(base: str, ours: str, by_bullets: bool) -> None:
    assert joined(base, ours, base, by_bullets=by_bullets) == (ours, 0)
    assert joined(base, base, ours, by_bullets=by_bullets) == (ours, 0)
    assert joined(base, ours, ours, by_bullets=by_bullets) == (ours, 0)


@settings(deadline=None)
@given(base=st.one_of(st.none(), lines), ours=lines, theirs=lines, by_bullets=st.booleans())
def test_no_line_that_a_side_added_is_lost(base: str | None, ours: str, theirs: str, by_bullets: bool) -> None:
    text, _ = joined(base, ours, theirs, by_bullets=by_bullets)
    kept = text.split("\n")
    for side, other in ((ours, theirs), (theirs, ours)):
        added = {line for line in side.split("\n") if line.strip() and line not in (base or "").split("\n")}
        assert added <= set(kept), (added, kept)
        assert other is not None


# ------------------------------------------------------------------------------------------------------------------- git


def git(folder: Path, *arguments: str, fails: bool = False) -> str:
    scripts = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": os.pathsep.join((scripts, os.environ["PATH"]))}
    identity = ("-c", "user.name=Noor", "-c", "user.email=noor@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert bool(done.returncode) is fails, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def repository(project: Path, kb: KnowledgeBase, co: Co) -> Path:
    """This project as a repository with two notes, in which git merges with co."""
    (project / ".git").rmdir()
    git(project, "init", "-q", "-b", "main")
    kb.save("We deploy on Fridays")
    kb.init()
    (root(kb) / "context.md").write_text("# P\n\n- Tests: pytest\n", encoding="utf-8")
    assert co("init", "--git") == 0
    assert co.out.count("✓") == 3
    assert co("init", "--git") == 0
    assert "nothing to set" in co.out
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Begin")
    git(project, "branch", "side")
    return project


def commit(repository: Path) -> None:
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "Change")


def test_git_merges_two_branches_of_a_vault_without_a_word(repository: Path, kb: KnowledgeBase) -> None:
    kb.update("1", tags=["here"], pinned=True)
    (root(kb) / "context.md").write_text("# P\n\n- Tests: pytest\n- Style: ruff\n", encoding="utf-8")
    commit(repository)
    git(repository, "checkout", "-q", "side")
    kb.update("1", tags=["there"], content="We deploy on Fridays, after lunch")
    (root(kb) / "context.md").write_text("# P\n\n- Tests: pytest\n- Deploy: Fridays\n", encoding="utf-8")
    commit(repository)
    git(repository, "merge", "main")
    assert (kb.get("1").body, kb.get("1").tags, kb.get("1").pinned) == (
        "We deploy on Fridays, after lunch",
        ("there", "here"),
        True,
    )
    assert kb.get("context").body == "# P\n\n- Tests: pytest\n- Deploy: Fridays\n- Style: ruff"
    assert kb.check().open == ()


def test_git_stops_where_a_person_must_decide(repository: Path, kb: KnowledgeBase) -> None:
    kb.update("1", content="We deploy on Mondays")
    commit(repository)
    git(repository, "checkout", "-q", "side")
    kb.update("1", content="We deploy on Tuesdays")
    commit(repository)
    said = git(repository, "merge", "main", fails=True)
    assert "1 place to decide on" in said
    assert "CONFLICT" in said
    (memory,) = (root(kb) / "memories").iterdir()
    assert "<<<<<<< ours\nWe deploy on Tuesdays\n=======\nWe deploy on Mondays\n>>>>>>> theirs\n" in memory.read_text()


def test_two_memories_that_got_one_name_on_two_branches_are_both_kept(repository: Path, kb: KnowledgeBase) -> None:
    text = "---\nid: 2\ncreated: 2026-01-0{day}T00:00:00+00:00\ntags: []\n---\n\nThe same first words and then {words}\n"
    path = root(kb) / "memories" / "002-the-same-first-words-and-then.md"
    path.write_text(text.format(day=1, words="one"), encoding="utf-8")
    commit(repository)
    git(repository, "checkout", "-q", "side")
    path.write_text(text.format(day=2, words="two"), encoding="utf-8")
    commit(repository)
    assert "theirs is now .co-cli/knowledge/memories/003-" in git(repository, "merge", "main", fails=True)
    assert [note.body.split()[-1] for note in kb.list().notes] == ["Fridays", "two", "one"]
    commit(repository)
    assert kb.check().open == ()


def test_without_a_repository_git_cannot_be_told(co: Co, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert co("init", "--git", "--global") == 3
    assert "is in no git repository" in co.err
