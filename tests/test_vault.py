"""What a vault does to files: guarded, whole, to the byte, and in a way that can be taken back."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from processes import contents, temporaries

from co_cli import KnowledgeBase, Note, open_knowledge
from co_cli.errors import CoError, Conflict, NotFound
from co_cli.files import discard, publish, stage

CREATED = "created: 2026-02-09T14:30:00+00:00\n"
BY_HAND = """---
# written by hand
created: 2026-02-09T14:30:00+00:00   # a Monday
id: 7
mood: "rather: good"
tags:
  - first   # with a comment
  - second
nested: {a: [1, 2], b: ~}
---

# A heading

The text, with   odd spacing.\x20\x20

"""


def memory(vault: Path, text: str = BY_HAND, name: str = "007-by-hand.md") -> Path:
    path = vault / "memories" / name
    path.write_bytes(text.encode())
    return path


def mode(path: str | Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


# ---------------------------------------------------------------------------------------------------------- guarded writes


def test_an_edit_of_what_another_program_has_changed_is_refused_and_shows_both(kb: KnowledgeBase):
    read = kb.save("as it was read").note
    Path(read.path).write_bytes(read.raw.replace(b"as it was read", b"as the editor saved it"))
    changed = Path(read.path).read_bytes()

    with pytest.raises(Conflict) as caught:
        kb.update("1", content="as co would have it", expected_sha=read.sha)

    assert "as the editor saved it" in caught.value.details
    assert "as co would have it" in caught.value.details
    assert read.path in caught.value.message
    assert caught.value.hint
    assert Path(read.path).read_bytes() == changed
    assert [entry.change.operation for entry in kb.log()] == ["learn"]


def test_an_edit_of_what_nobody_has_changed_is_made(kb: KnowledgeBase):
    read = kb.save("as it was read").note
    assert kb.update("1", content="as co has it", expected_sha=read.sha).outcome == "updated"
    assert kb.get("1").body == "as co has it"


def editor_saves(note: Note) -> bytes:
    Path(note.path).write_bytes(note.raw + b"\nadded by an editor\n")
    return Path(note.path).read_bytes()


def editor_removes(note: Note) -> None:
    Path(note.path).unlink()


@pytest.mark.parametrize("meanwhile", [editor_saves, editor_removes])
@pytest.mark.parametrize("operation", ["replace", "remove", "move"])
def test_a_change_to_a_note_that_is_stale_is_refused(operation: str, meanwhile, kb: KnowledgeBase, vault: Path):
    kb.save("another note")
    stale = kb.save("as it was read").note
    project_vault = kb.vaults[0]
    meanwhile(stale)
    before = contents(vault, "*")

    def change() -> None:
        with project_vault.change("edit") as draft:
            draft.remove(kb.get("1"))  # goes together with the other, or not at all
            match operation:
                case "replace":
                    draft.replace(stale, stale.raw.replace(b"as it was read", b"as co would have it"))
                case "remove":
                    draft.remove(stale)
                case "move":
                    draft.move(stale, project_vault.archive_path(stale, archived=True))

    with pytest.raises(Conflict) as caught:
        change()

    assert "Nothing was overwritten" in caught.value.hint
    if meanwhile is editor_saves:
        assert "added by an editor" in caught.value.details
    if operation == "replace":
        assert "as co would have it" in caught.value.details
    assert contents(vault, "*") == before
    assert len(kb.log()) == 2
    assert kb.vaults[0].journal.pending() == []


def test_a_new_file_never_takes_the_place_of_one_that_is_there(kb: KnowledgeBase, vault: Path):
    path = memory(vault)
    with pytest.raises(Conflict), kb.vaults[0].change("learn") as draft:
        draft.create(str(path), b"something else")
    assert path.read_text() == BY_HAND


def test_a_new_file_never_takes_the_place_of_one_that_comes_at_the_last_moment(vault: Path):
    staged = stage(str(vault / "new.md"), b"by co")
    (vault / "new.md").write_bytes(b"by an editor")
    with pytest.raises(FileExistsError):
        publish(staged, str(vault / "new.md"), new=True)
    assert (vault / "new.md").read_bytes() == b"by an editor"
    discard(staged)
    assert temporaries(vault) == []


def test_a_change_that_was_called_off_half_way_leaves_nothing(kb: KnowledgeBase, vault: Path):
    kb.save("a note")
    before = contents(vault, "*")

    def change_one_s_mind() -> None:
        with kb.vaults[0].change("forget") as draft:
            draft.remove(kb.get("1"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        change_one_s_mind()
    assert contents(vault, "*") == before
    assert len(kb.log()) == 1
    kb.save("the vault is not locked")


# ------------------------------------------------------------------------------------------------------- byte for byte


FORMS = {
    "as co writes it": f"---\nid: 7\n{CREATED}tags: [a, b]\n---\n\nThe text.\n",
    "by hand": BY_HAND,
    "Windows line endings": BY_HAND.replace("\n", "\r\n"),
    "a byte-order mark": "\ufeff" + BY_HAND,
    "both": "\ufeff" + BY_HAND.replace("\n", "\r\n"),
    "no newline at the end": BY_HAND.rstrip(),
    "no blank line after the header": f"---\nid: 7\n{CREATED}---\nThe text.\n",
    "blanks after the fences": f"---  \nid: 7\n{CREATED}---\t\n\nThe text.\n",
    "fences in the text": f"---\nid: 7\n{CREATED}---\n\nAbove\n\n---\n\nBelow\n",
    "no body": f"---\nid: 7\n{CREATED}---\n",
    "other alphabets": f"---\nid: 7\n{CREATED}tags: [日本語, 🦩]\n---\n\nЦапля — 鷺 🦩\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_pinning_and_unpinning_gives_back_the_same_bytes(form: str, kb: KnowledgeBase, vault: Path):
    path = memory(vault, FORMS[form])
    kb.update("7", pinned=True)
    pinned = path.read_bytes()
    newline = b"\r\n" if b"\r\n" in pinned else b"\n"
    assert kb.get("7").pinned
    assert pinned.replace(b"pinned: true" + newline, b"", 1) == FORMS[form].encode(), "one line more, and no other byte"

    kb.update("7", pinned=False)
    assert path.read_bytes() == FORMS[form].encode()


@pytest.mark.parametrize("form", FORMS)
def test_undoing_an_edit_gives_back_the_same_bytes(form: str, kb: KnowledgeBase, vault: Path):
    path = memory(vault, FORMS[form])
    kb.update("7", content="something else", tags=["new"], private=True)
    assert not path.exists()  # a private note has a name that says nothing
    kb.undo()
    assert path.read_bytes() == FORMS[form].encode()


def test_an_edit_keeps_comments_unknown_fields_and_their_order(kb: KnowledgeBase, vault: Path):
    path = memory(vault)
    kb.update("7", content="Another text.")
    kb.update("7", expires="2030-01-01")
    before, after = BY_HAND.splitlines(), path.read_text().splitlines()
    header = before[: before.index("nested: {a: [1, 2], b: ~}") + 1]
    assert after[: len(header)] == header
    assert "expires: 2030-01-01" in after
    assert kb.get("7").body == "Another text."


def test_an_edit_keeps_the_line_endings_and_the_mark(kb: KnowledgeBase, vault: Path):
    path = memory(vault, FORMS["both"])
    kb.update("7", content="One line.\nAnother line.")
    raw = path.read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf---\r\n")
    assert raw.count(b"\n") == raw.count(b"\r\n")
    assert raw.endswith(b"One line.\r\nAnother line.\r\n")


def test_changing_nothing_writes_nothing(kb: KnowledgeBase, vault: Path):
    path = memory(vault)
    before = path.stat()
    text = kb.get("7").body
    assert kb.update("7", content=text, pinned=False, tags=["first", "second"]).outcome == "unchanged"
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert kb.log() == ()


# -------------------------------------------------------------------------------------------------------------- permissions


def test_private_notes_are_for_their_owner_only_whatever_happens_to_them(kb: KnowledgeBase):
    note = kb.save("between us", private=True).note
    assert mode(note.path) == 0o600
    kb.update("1", content="still between us")
    assert mode(note.path) == 0o600
    [archived] = kb.archive(["1"])
    assert mode(archived.path) == 0o600
    kb.undo()
    assert mode(note.path) == 0o600
    kb.forget(["1"])
    kb.undo()
    assert mode(note.path) == 0o600


def test_a_note_that_becomes_private_is_closed_to_others(kb: KnowledgeBase):
    note = kb.save("was for everybody").note
    os.chmod(note.path, 0o644)
    closed = kb.update("1", private=True).note
    assert mode(closed.path) == 0o600
    assert Path(closed.path).name == "001-private.md"
    assert not Path(note.path).exists()


@pytest.mark.parametrize("given", [0o600, 0o640, 0o664, 0o755])
def test_an_edit_keeps_the_permissions_of_the_file(given: int, kb: KnowledgeBase, vault: Path):
    path = memory(vault)
    path.chmod(given)
    kb.update("7", content="Another text.")
    assert mode(path) == given
    kb.undo()
    assert mode(path) == given


def test_a_file_that_somebody_closed_by_hand_stays_closed_wherever_it_goes(kb: KnowledgeBase, vault: Path):
    path = memory(vault)
    path.chmod(0o600)
    [archived] = kb.archive(["7"])
    assert mode(archived.path) == 0o600
    kb.undo()
    assert mode(path) == 0o600
    kb.forget(["7"])
    kb.undo()
    assert mode(path) == 0o600


def test_a_new_note_gets_what_the_umask_leaves(kb: KnowledgeBase):
    before = os.umask(0o027)
    try:
        note = kb.save("for the group").note
    finally:
        os.umask(before)
    assert mode(note.path) == 0o640


def test_the_journal_is_for_its_owner_only(kb: KnowledgeBase):
    before = os.umask(0)
    try:
        kb.save("written down")
    finally:
        os.umask(before)
    folder = kb.vaults[0].journal.folder
    assert mode(folder) == 0o700
    entries = list(Path(folder).iterdir())
    assert [mode(entry) for entry in entries] == [0o600]


# ------------------------------------------------------------------------------------------------------------------- scopes


def test_the_project_and_the_global_vault_answer_together(kb: KnowledgeBase, vault: Path, global_vault: Path, project: Path):
    kb.save("herons live near this project")
    kb.save("herons live everywhere", in_global=True)
    kb.save("storks live everywhere", in_global=True)

    assert {hit.note.ref for hit in kb.recall("herons").hits} == {"1", "g:1"}
    assert [note.ref for note in kb.list().notes] == ["1", "g:1", "g:2"]
    assert kb.get("1").path.startswith(str(vault))
    assert kb.get("g:1").path.startswith(str(global_vault))
    assert kb.get("p:1").ref == "1"
    assert kb.get("2").ref == "g:2", "no such note in the project, so the global one is meant"
    with pytest.raises(NotFound):
        kb.get("p:2")
    with pytest.raises(NotFound):
        kb.get("g:3")


def test_forgetting_and_undoing_keep_to_the_vault_that_is_named(kb: KnowledgeBase):
    kb.save("herons live near this project")
    kb.save("herons live everywhere", in_global=True)
    kb.forget(["g:1"])
    assert [note.ref for note in kb.list().notes] == ["1"]
    assert [entry.id for entry in kb.log()] == ["g2", "g1", "p1"]
    kb.undo()
    kb.forget(["1", "g:1"])
    assert kb.list().notes == ()
    kb.undo()
    kb.undo()
    assert {note.ref for note in kb.list().notes} == {"1", "g:1"}


def test_two_projects_do_not_see_each_other(tmp_path: Path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    open_knowledge(one).save("of the one")
    open_knowledge(other).save("of the other")
    assert [note.body for note in open_knowledge(one).list().notes] == ["of the one"]
    assert len(open_knowledge(one).log()) == 1
    open_knowledge(other).undo()
    assert [note.body for note in open_knowledge(one).list().notes] == ["of the one"]


def test_a_project_reached_by_a_link_is_the_same_project(tmp_path: Path, project: Path):
    open_knowledge(project).save("learned on the straight way")
    (tmp_path / "shortcut").symlink_to(project)
    by_link = open_knowledge(tmp_path / "shortcut")
    assert [note.body for note in by_link.list().notes] == ["learned on the straight way"]
    assert [entry.change.operation for entry in by_link.log()] == ["learn"]
    by_link.undo()
    assert open_knowledge(project).list().notes == ()


def test_a_project_that_does_not_exist_is_an_error(tmp_path: Path):
    with pytest.raises(NotFound):
        open_knowledge(tmp_path / "nowhere")


def test_nothing_is_made_before_something_is_kept(kb: KnowledgeBase, project: Path, tmp_path: Path):
    kb.list(), kb.recall("anything"), kb.log(), kb.prompt()
    for action in (lambda: kb.get("1"), lambda: kb.forget(["1"]), kb.undo, lambda: kb.save(" ")):
        with pytest.raises(CoError):
            action()
    assert not (project / ".co-cli").exists()
    assert not (tmp_path / "home").exists()
    kb.save("now")
    assert contents(project, "*").keys() >= {".co-cli/knowledge/memories/001-now.md", ".co-cli/knowledge/.gitignore"}
    assert "knowledge.db" in (project / ".co-cli" / "knowledge" / ".gitignore").read_text()
    assert temporaries(project) == []
