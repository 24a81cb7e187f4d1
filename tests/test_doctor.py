"""The doctor finds what is wrong, mends what can be mended, and never deletes anything."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from co_cli import KnowledgeBase, open_knowledge
from co_cli.surfaces.cli.main import main

TEN_IN_FEBRUARY = 1770631200  # 2026-02-09T10:00:00Z
HEADER = "---\nid: {id}\ncreated: 2026-02-0{id}T10:00:00+00:00\ntags: []\nsource: user-told\n---\n\n"


def write(vault: Path, name: str, text: str) -> Path:
    path = vault / "memories" / name
    path.write_text(text)
    return path


def codes(kb: KnowledgeBase) -> list[str]:
    return sorted(finding.problem.code for finding in kb.check().open)


def bodies(kb: KnowledgeBase) -> set[str]:
    return {note.body for note in kb.list().notes}


def test_a_healthy_vault_has_no_findings(kb: KnowledgeBase) -> None:
    kb.init()
    kb.save("All is well")
    assert kb.check().findings == ()
    assert main(["doctor"]) == 0


def test_ids_that_a_merge_made_twice_are_given_to_the_oldest_and_the_others_get_new_ones(kb: KnowledgeBase) -> None:
    kb.save("From this branch")
    vault = Path(kb.vault("project").root)
    write(vault, "001-from-the-other-branch.md", HEADER.format(id=1) + "From the other branch\n")
    assert codes(kb) == ["duplicate-id"]
    kb.check(fix=True)
    assert codes(kb) == []
    by_id = {note.id: note.body for note in kb.list().notes}
    assert by_id == {1: "From the other branch", 2: "From this branch"}
    assert {note.slug[:4] for note in kb.list().notes} == {"001-", "002-"}


def test_what_two_branches_learned_at_once_is_all_there_after_a_merge(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        who = {"GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "e", "GIT_COMMITTER_NAME": "n", "GIT_COMMITTER_EMAIL": "e"}
        subprocess.run(["git", *arguments], cwd=top, env={**os.environ, **who}, check=True, capture_output=True)

    def learn_on(branch: str, *facts: str) -> None:
        git("checkout", "-b", branch, "trunk")
        for fact in facts:
            open_knowledge(top).save(fact)
        git("add", "-A")
        git("commit", "-m", branch)

    top = tmp_path / "shared"
    top.mkdir()
    git("init")
    open_knowledge(top).save("Known before")
    git("add", "-A")
    git("commit", "-m", "before")
    git("branch", "-m", "trunk")
    learn_on("mine", "Mine first", "Mine second")
    learn_on("yours", "Yours first", "Yours second", "Yours third")
    git("merge", "mine")

    kb = open_knowledge(top)
    assert codes(kb) == ["duplicate-id", "duplicate-id"]
    kb.check(fix=True)
    assert kb.check().findings == ()
    assert sorted(note.id or 0 for note in kb.list().notes) == [1, 2, 3, 4, 5, 6]
    mine, yours = {"Mine first", "Mine second"}, {"Yours first", "Yours second", "Yours third"}
    assert bodies(kb) == {"Known before"} | mine | yours


def test_a_wrong_name_is_put_right(kb: KnowledgeBase, vault: Path) -> None:
    write(vault, "prefers async 🎉.md", HEADER.format(id=3) + "Prefers async\n")
    write(vault, "009-other-number.md", HEADER.format(id=4) + "Other number\n")
    assert "misnamed" in codes(kb)
    kb.check(fix=True)
    assert sorted(path.name for path in (vault / "memories").iterdir()) == ["003-prefers-async.md", "004-other-number.md"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Just a line without a header\n", {"source": "user-told"}),
        ('---\nid: "7"\ncreated: 2026-02-09T10:00:00Z\n---\n\nAn id that is a text\n', {"id": 7}),
        ("---\nid: mem-007\ncreated: 2026-02-09T10:00:00Z\n---\n\nAn id of the first design\n", {"id": 7}),
        ("---\nid: 7\ncreated: 2026-02-09\n---\n\nA day without a time\n", {"created": "2026-02-09T00:00:00+00:00"}),
        ("---\nid: 7\ncreated: 2026-02-09T10:00:00Z\ntags: a, b\n---\n\nTags as a text\n", {"tags": ("a", "b")}),
        (
            "---\nid: 7\ncreated: 2026-02-09T10:00:00Z\ntags: [2026, a]\n---\n\nA tag that is a number\n",
            {"tags": ("2026", "a")},
        ),
        ("---\ncreated: 2026-02-09T10:00:00Z\nteam: core # ours\n---\n\nWithout an id\n", {"id": 7}),
        ("---\nid: 7\n---\n\nWithout a date\n", {"id": 7}),
    ],
)
def test_a_header_that_lacks_something_is_completed_and_its_text_stays(
    kb: KnowledgeBase, vault: Path, text: str, expected: dict[str, object]
) -> None:
    path = write(vault, "007-note.md", text)
    assert kb.list().notes == ()
    kb.check(fix=True)
    note = kb.list().notes[0]
    assert {name: getattr(note, name) for name in expected} == expected
    assert note.body == text.rstrip("\n").rsplit("\n", 1)[-1]
    if "team: core # ours" in text:
        assert "team: core # ours" in path.read_text()


@pytest.mark.parametrize(
    "text",
    [
        "---\nid: [1\n---\n\nBroken YAML\n",
        "---\nid: 7\n<<<<<<< ours\ntags: [a]\n=======\ntags: [b]\n>>>>>>> theirs\n---\n\nMerge\n",
        "---\nid: 7\ncreated: yesterday\n---\n\nA date that is none\n",
        "---\nid: 7\nno closing fence\n",
        "",
    ],
)
def test_what_cannot_be_mended_for_sure_is_left_as_it_is(kb: KnowledgeBase, vault: Path, text: str) -> None:
    path = write(vault, "007-note.md", text)
    before = path.stat().st_mtime_ns
    report = kb.check(fix=True)
    assert [finding.mended for finding in report.findings] == [""]
    assert (path.read_text(), path.stat().st_mtime_ns) == (text, before)
    assert main(["doctor"]) == 1


def test_conflict_marks_are_named_with_their_line(kb: KnowledgeBase, vault: Path) -> None:
    write(vault, "007-note.md", "---\nid: 7\n<<<<<<< ours\ncreated: x\n=======\n>>>>>>> theirs\n---\n\nMerge\n")
    problem = kb.check().open[0].problem
    assert "git merge" in problem.message
    assert problem.line == 3


def test_a_context_that_cannot_be_read_is_a_finding(kb: KnowledgeBase, vault: Path) -> None:
    (vault / "context.md").write_text("---\nversion: 2\nupdated: 2026-02-09T10:00:00Z\n---\nText\n")
    assert "bad-context" in codes(kb)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("version: 1 # ours\n", "version: 1 # ours\nupdated: 2026-02-09T10:00:00+00:00\n"),
        ("updated: 2026-02-09T11:00:00Z\n", "updated: 2026-02-09T11:00:00Z\nversion: 1\n"),
        ('version: "1.0"\nupdated: 2026-02-09\n', "version: 1\nupdated: 2026-02-09T00:00:00+00:00\n"),
        ("version: 1.0\nupdated: 2026-02-09T11:00:00Z\n", "version: 1\nupdated: 2026-02-09T11:00:00Z\n"),
    ],
)
def test_the_header_of_a_context_is_completed_and_the_prompt_has_it_again(
    kb: KnowledgeBase, header: str, expected: str
) -> None:
    kb.init()
    context = Path(kb.vault("project").context_path)
    context.write_text(f"---\n{header}---\n\n- Tests: pytest\n")
    os.utime(context, (TEN_IN_FEBRUARY, TEN_IN_FEBRUARY))
    assert "pytest" not in kb.context().text
    assert [finding.mendable for finding in kb.check().open] == [True]
    assert [finding.mended for finding in kb.check(fix=True).findings] == ["the header was completed"]
    assert context.read_text() == f"---\n{expected}---\n\n- Tests: pytest\n"
    assert "pytest" in kb.context().text
    assert kb.check(fix=True).findings == ()
    kb.undo()
    assert header in context.read_text()


@pytest.mark.parametrize("header", ["version: 2\n", "version: true\n", "version: 1\nupdated: yesterday\n", "version: [\n"])
def test_a_context_that_says_something_else_is_left_as_it_is(kb: KnowledgeBase, header: str) -> None:
    kb.init()
    context = Path(kb.vault("project").context_path)
    context.write_text(f"---\n{header}---\n\n- Tests: pytest\n")
    (found,) = kb.check(fix=True).findings
    assert (found.mendable, found.mended) == (False, "")
    assert context.read_text() == f"---\n{header}---\n\n- Tests: pytest\n"


def test_permissions_that_are_too_open_are_tightened(kb: KnowledgeBase) -> None:
    private = Path(kb.save("The gate code", private=True).note.path)
    public = Path(kb.save("A fact").note.path)
    private.chmod(0o644)
    public.chmod(0o666)
    assert codes(kb) == ["too-open", "too-open"]
    kb.check(fix=True)
    assert (private.stat().st_mode & 0o777, public.stat().st_mode & 0o777) == (0o600, 0o664)
    assert codes(kb) == []


def test_a_database_that_git_would_keep_is_found_and_ignored(kb: KnowledgeBase) -> None:
    kb.init()
    ignore = Path(kb.vault("project").root) / ".gitignore"
    ignore.write_text("drafts/")
    assert codes(kb) == ["not-ignored"]
    kb.check(fix=True)
    assert ignore.read_text().startswith("drafts/\n")
    assert "knowledge.db*" in ignore.read_text().splitlines()
    assert codes(kb) == []


def test_a_vault_that_another_tool_made_without_gitignore_is_found_too(kb: KnowledgeBase, vault: Path) -> None:
    write(vault, "001-a.md", HEADER.format(id=1) + "A\n")
    assert codes(kb) == ["not-ignored"]
    kb.check(fix=True)
    assert codes(kb) == []


def test_every_repair_can_be_undone(kb: KnowledgeBase, vault: Path) -> None:
    path = write(vault, "note.md", HEADER.format(id=3) + "Text\n")
    before = path.read_bytes()
    kb.check(fix=True)
    assert not path.exists()
    kb.undo()
    assert path.read_bytes() == before


def test_the_doctor_deletes_nothing(kb: KnowledgeBase, vault: Path) -> None:
    for number, text in enumerate(
        ["plain\n", HEADER.format(id=2) + "one\n", HEADER.format(id=2) + "two\n", "---\n[\n---\nbad\n", ""]
    ):
        write(vault, f"{number:03d}-x.md", text)
    (vault / "memories" / "folder.md").mkdir()
    (vault / "memories" / "other.txt").write_text("not a note")
    kb.check(fix=True)
    assert {"plain", "one", "two"} <= bodies(kb)
    names = [path.name for path in (vault / "memories").iterdir()]
    assert len(names) == 7
    assert {"folder.md", "other.txt"} <= set(names)


def test_findings_name_path_line_and_the_next_step(
    kb: KnowledgeBase, vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(vault, "007-note.md", '---\ncreated: 2026-02-09T10:00:00Z\nid: "x"\n---\n\nAn id that is no number\n')
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert f"{os.path.join('memories', '007-note.md')}:3: Field 'id' must be integer" in out
    assert "to look at" in out
