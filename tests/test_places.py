"""Where co looks: which folder is the project, and where the user's own things are."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from processes import run

from co_cli import open_knowledge
from co_cli.errors import CoError

WHERE = """
import json, os
from co_cli import open_knowledge
places = open_knowledge().places
print(json.dumps([places.project, places.home, places.state]))
"""


def project_from(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project that a session in this folder belongs to."""
    monkeypatch.chdir(folder)
    return Path(open_knowledge().places.project)


def test_the_nearest_folder_with_knowledge_is_the_project(project: Path, monkeypatch: pytest.MonkeyPatch):
    deep = project / "packages" / "inner" / "src" / "deep"
    deep.mkdir(parents=True)
    assert project_from(deep, monkeypatch) == project, "so far only git says where the top is"
    (project / "packages" / "inner" / ".co-cli").mkdir()
    assert project_from(deep, monkeypatch) == project / "packages" / "inner"
    assert project_from(project / "packages", monkeypatch) == project


def test_knowledge_further_up_comes_before_the_top_of_the_checkout(project: Path, monkeypatch: pytest.MonkeyPatch):
    (project / ".co-cli").mkdir()
    inner = project / "vendored"
    (inner / ".git").mkdir(parents=True)
    assert project_from(inner, monkeypatch) == project


def test_a_file_named_co_cli_is_no_knowledge(project: Path, monkeypatch: pytest.MonkeyPatch):
    (project / "inner").mkdir()
    (project / "inner" / ".co-cli").write_text("")
    assert project_from(project / "inner", monkeypatch) == project


def test_the_top_of_a_worktree_is_a_project_of_its_own(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "worktree" / "src").mkdir(parents=True)
    (tmp_path / "worktree" / ".git").write_text(f"gitdir: {project}/.git/worktrees/worktree\n")
    assert project_from(tmp_path / "worktree" / "src", monkeypatch) == tmp_path / "worktree"


def test_worktrees_have_their_own_branch_of_the_knowledge(tmp_path: Path):
    def git(*arguments: str) -> None:
        who = {"GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "e", "GIT_COMMITTER_NAME": "n", "GIT_COMMITTER_EMAIL": "e"}
        subprocess.run(["git", *arguments], cwd=main, env={**os.environ, **who}, check=True, capture_output=True)

    main, branch = tmp_path / "main", tmp_path / "branch"
    main.mkdir()
    git("init")
    open_knowledge(main).save("known before the branch")
    git("add", "-A")
    git("commit", "-m", "knowledge")
    git("worktree", "add", str(branch))

    open_knowledge(branch).save("known on the branch only")
    assert [note.body for note in open_knowledge(main).list().notes] == ["known before the branch"]
    assert len(open_knowledge(branch).list().notes) == 2
    assert len(open_knowledge(main).log()) == 1, "each has its own journal"
    assert len(open_knowledge(branch).log()) == 1


def test_without_git_or_knowledge_the_working_directory_is_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "plain" / "folder").mkdir(parents=True)
    assert project_from(tmp_path / "plain" / "folder", monkeypatch) == tmp_path / "plain" / "folder"


def test_a_working_directory_that_is_gone_is_an_error_that_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(CoError, match="working directory") as caught:
        open_knowledge()
    assert caught.value.hint
    monkeypatch.chdir(tmp_path)


VARIABLES = {
    "nothing set": ({}, "~/.config/co-cli", "~/.local/state/co-cli"),
    "the folders of the desktop": (
        {"XDG_CONFIG_HOME": "/x/config", "XDG_STATE_HOME": "/x/state"},
        "/x/config/co-cli",
        "/x/state/co-cli",
    ),
    "a home of its own": ({"CO_HOME": "/x/home", "XDG_CONFIG_HOME": "/x/config"}, "/x/home", "~/.local/state/co-cli"),
    "a home under the user's": ({"CO_HOME": "~/co"}, "~/co", "~/.local/state/co-cli"),
    "empty ones": (
        {"CO_HOME": "", "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": ""},
        "~/.config/co-cli",
        "~/.local/state/co-cli",
    ),
    "relative ones, which the standard says to ignore": (
        {"XDG_CONFIG_HOME": "config", "XDG_STATE_HOME": "state"},
        "~/.config/co-cli",
        "~/.local/state/co-cli",
    ),
}


@pytest.mark.parametrize("case", VARIABLES)
def test_the_environment_says_where_the_users_things_are(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    variables, home, state = VARIABLES[case]
    for name in ("CO_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    user = str(tmp_path / "home")
    found = run(WHERE)
    assert found[1:] == [home.replace("~", user), state.replace("~", user)]


def test_a_home_that_is_named_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CO_HOME", str(tmp_path / "mine"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "states"))
    open_knowledge().save("kept where I said", in_global=True)
    assert (tmp_path / "mine" / "knowledge" / "memories" / "001-kept-where-i-said.md").is_file()
    assert len(list((tmp_path / "states" / "co-cli" / "journal").glob("global-*/*.change"))) == 1
