"""What lies where notes should be and is none: pipes, folders, and links that lead elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from processes import read_everything, snapshot, within

from co_cli import KnowledgeBase, open_knowledge
from co_cli.errors import CoError, Corrupt, Denied

WORD = "heron"
NOTE = b"---\nid: 5\ncreated: 2026-02-09T14:30:00+00:00\n---\n\nA heron stands in the water.\n"
MEGABYTE = 1 << 20


def test_what_is_no_file_is_reported_and_never_waited_for(kb: KnowledgeBase, vault: Path, tmp_path: Path):
    memories = vault / "memories"
    (memories / "003-folder.md").mkdir()
    os.mkfifo(memories / "004-pipe.md")
    outside = tmp_path / "outside.md"
    outside.write_bytes(NOTE)
    (memories / "005-link.md").symlink_to(outside)
    (tmp_path / "folder").mkdir()
    (memories / "006-link-to-folder.md").symlink_to(tmp_path / "folder")
    (memories / "007-loop.md").symlink_to("007-loop.md")
    (memories / "001-fine.md").write_bytes(NOTE.replace(b"id: 5", b"id: 1"))
    before = snapshot(tmp_path)

    with within(20):
        for problems in (kb.list().problems, kb.recall(WORD).problems):
            reported = {Path(problem.path).name: problem.message for problem in problems}
            assert set(reported) >= {"003-folder.md", "004-pipe.md", "005-link.md", "006-link-to-folder.md"}
            assert "leaves the vault" in reported["005-link.md"]
        assert [note.id for note in kb.list().notes] == [1]
        assert [hit.note.id for hit in kb.recall(WORD).hits] == [1]
        read_everything(kb)
        assert snapshot(tmp_path) == before
        with pytest.raises(Corrupt, match="leaves the vault"):
            kb.get("5")
        assert (kb.save("next to them").note.id or 0) >= 6
    assert outside.read_bytes() == NOTE


def test_a_link_to_a_note_of_the_same_vault_does_not_double_it(kb: KnowledgeBase, vault: Path):
    (vault / "memories" / "005-real.md").write_bytes(NOTE)
    (vault / "memories" / "006-alias.md").symlink_to("005-real.md")
    assert [Path(note.path).name for note in kb.list().notes] == ["005-real.md"]
    assert kb.list().problems == ()


@pytest.mark.parametrize("what", ["pipe", "folder", "link out", "4 MB", "one line", "open comments"])
def test_a_context_that_is_none_never_keeps_a_session_from_starting(
    what: str, kb: KnowledgeBase, vault: Path, tmp_path: Path
):
    path = vault / "context.md"
    (tmp_path / "outside.md").write_text("- Secret: outside\n")
    {
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
        "link out": lambda: path.symlink_to(tmp_path / "outside.md"),
        "4 MB": lambda: path.write_bytes(b"- A heron: in the water\n" * (4 * MEGABYTE // 24)),
        "one line": lambda: path.write_bytes(
            b"- A heron " + b" " * MEGABYTE + b"#" * MEGABYTE + b"x <user " + b"a" * MEGABYTE
        ),
        "open comments": lambda: path.write_bytes(b"<!--" * MEGABYTE),
    }[what]()
    before = snapshot(vault)
    with within(30):
        context, prompt = kb.context(), kb.prompt()
    assert len(context.text.encode()) <= 20 * 1024
    assert "outside" not in prompt.text
    assert any("context" in notice.lower() for notice in prompt.notices), "silence is no answer"
    assert snapshot(vault) == before


def test_instructions_that_are_a_pipe_are_not_waited_for(kb: KnowledgeBase, project: Path):
    (project / ".co-cli").mkdir()
    os.mkfifo(project / ".co-cli" / "instructions.md")
    with within(10):
        assert any("instructions.md" in notice for notice in kb.prompt().notices)


# ------------------------------------------------------------------------------------------------- links out of the vault


def outside_vault(tmp_path: Path) -> Path:
    """A folder elsewhere, with what looks like notes."""
    outside = tmp_path / "outside"
    (outside / "memories").mkdir(parents=True)
    (outside / "memories" / "005-heron.md").write_bytes(NOTE)
    (outside / "005-heron.md").write_bytes(NOTE)
    (outside / "context.md").write_text("- A heron: outside\n")
    return outside


def check_not_followed(kb: KnowledgeBase, outside: Path) -> None:
    """Nothing is read through the link, and nothing written."""
    before = snapshot(outside)
    assert kb.list().notes == ()
    assert kb.recall(WORD).hits == ()
    assert any("leaves the vault" in problem.message for problem in kb.list().problems)
    assert any("leaves the vault" in problem.message for problem in kb.recall(WORD).problems)
    assert "heron" not in kb.prompt().text
    with pytest.raises(CoError):
        kb.get("5")
    with pytest.raises(Denied, match="symbolic link"):
        kb.save("must not be written there")
    assert snapshot(outside) == before


def test_a_folder_of_notes_that_is_a_link_out_of_the_vault_is_not_followed(kb: KnowledgeBase, vault: Path, tmp_path: Path):
    (vault / "memories").rmdir()
    (vault / "memories").symlink_to(outside_vault(tmp_path) / "memories")
    check_not_followed(kb, tmp_path / "outside")


@pytest.mark.parametrize("linked", [".co-cli/knowledge", ".co-cli"])
def test_a_vault_that_is_a_link_out_of_the_project_is_not_followed(linked: str, project: Path, tmp_path: Path):
    outside = outside_vault(tmp_path)
    link = project / linked
    link.parent.mkdir(exist_ok=True)
    if linked == ".co-cli":
        (tmp_path / "elsewhere").mkdir()
        outside = outside.rename(tmp_path / "elsewhere" / "knowledge")
    link.symlink_to(outside if linked != ".co-cli" else outside.parent)
    check_not_followed(open_knowledge(project), outside)


def test_an_archive_that_is_a_link_out_of_the_vault_takes_nothing(kb: KnowledgeBase, vault: Path, tmp_path: Path):
    kb.save("stays where it is")
    (vault / "archive").symlink_to(outside_vault(tmp_path))
    before = snapshot(tmp_path / "outside")
    with pytest.raises(Denied, match="symbolic link"):
        kb.archive(["1"])
    assert [note.body for note in kb.list().notes] == ["stays where it is"]
    assert kb.list(archived=True).notes == ()
    assert snapshot(tmp_path / "outside") == before


def test_the_users_own_vault_may_be_a_link(kb: KnowledgeBase, tmp_path: Path):
    (tmp_path / "dotfiles").mkdir()
    home = tmp_path / "home" / ".config" / "co-cli"
    home.mkdir(parents=True)
    (home / "knowledge").symlink_to(tmp_path / "dotfiles")
    kb.save("kept among the dotfiles", in_global=True)
    assert len(list((tmp_path / "dotfiles" / "memories").iterdir())) == 1
    assert kb.get("g:1").body == "kept among the dotfiles"
