"""What memories take for granted of a project, held against its files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from commands import Co
from hypothesis import given
from hypothesis import strategies as st

from co_cli.claims import COMMAND, COMMIT, PATH, broken_claims, claims_in


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("The entry point is src/app/main.py.", [(PATH, "src/app/main.py")]),
        ("Settings live in `config/` and `pyproject.toml`.", [(PATH, "config/"), (PATH, "pyproject.toml")]),
        ("Run `make lint` before pushing, and `npm run build` after.", [(COMMAND, "make lint"), (COMMAND, "npm build")]),
        ("The bug came in with commit 4f2a9c1.", [(COMMIT, "4f2a9c1")]),
        ("Use TCP/IP and/or HTTP/2 with Python 3.11, e.g. via node.js", []),
        ("See https://example.org/docs/index.html for more.", []),
        ("We no longer use `src/old.py`.", []),
        ("The parser was moved from src/a.py to src/b.py.", []),
        ("Never edit `dist/bundle.js` by hand.", []),
        ("Ping ops@example.org about /etc/hosts and ~/.ssh/config.", []),
        ("`async/await` is preferred", []),
        ("Der Einstieg ist `src/start.rs`.", [(PATH, "src/start.rs")]),
    ],
)
def test_only_what_is_plainly_a_path_a_commit_or_a_command_claims_something(
    text: str, claims: list[tuple[str, str]]
) -> None:
    assert [tuple(claim) for claim in claims_in(text)] == claims


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    assert len(claims_in(text)) <= 20


def project_with(tmp_path: Path, **files: str) -> Path:
    for name, content in files.items():
        path = tmp_path / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return tmp_path


def test_paths_that_are_gone_are_named(tmp_path: Path) -> None:
    project = project_with(tmp_path, src__main_dot_py="")

    assert broken_claims(str(project), "The entry point is src/main.py.") == ()
    assert [str(each) for each in broken_claims(str(project), "It is src/start.py.")] == ["src/start.py is not there"]


def test_the_parts_of_a_path_are_no_words_of_the_sentence(tmp_path: Path) -> None:
    for text in ("Plans start in `src/plan/create.py`", "Plans start in src/plan/create.py"):
        assert [str(each) for each in broken_claims(str(tmp_path), text, thorough=True)] == [
            "src/plan/create.py is not there"
        ]
    assert broken_claims(str(tmp_path), "We plan `src/new/a.py`", thorough=True) == ()


def test_a_path_may_be_written_as_seen_from_a_folder_of_the_project(tmp_path: Path) -> None:
    project = project_with(tmp_path, backend__app__main_dot_py="")

    assert broken_claims(str(project), "It is `app/main.py`.", thorough=True) == ()
    assert broken_claims(str(project), "It is `main.py`.", thorough=True) == ()
    assert len(broken_claims(str(project), "It is `app/start.py`.", thorough=True)) == 1


def test_commands_are_looked_up_where_they_are_defined(tmp_path: Path) -> None:
    project = project_with(
        tmp_path,
        Makefile=".PHONY: lint\nlint: ; ruff check\ntest: lint\n\tpytest\n",
        package_dot_json='{"scripts": {"build": "x"}}',
    )

    assert broken_claims(str(project), "Run `make test`, `npm run build`, `yarn install`.") == ()
    broken = broken_claims(str(project), "Run `make deploy` and `npm run watch`.")
    assert [str(each) for each in broken] == ["there is no `make deploy`", "there is no `npm watch`"]


def test_where_nothing_defines_commands_none_is_wrong(tmp_path: Path) -> None:
    assert broken_claims(str(tmp_path), "Run `make test` and `npm run build`.") == ()


def test_commits_are_looked_up_in_the_history(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        command = ["git", "-C", str(tmp_path), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    git("init")
    git("commit", "--allow-empty", "-m", "first")
    known = git("rev-parse", "HEAD").strip()[:10]
    text = f"Fixed in commit {known}, broken since commit 0123456789."

    assert [str(each) for each in broken_claims(str(tmp_path), text, thorough=True)] == [
        "commit 0123456789 is not in the history"
    ]
    assert broken_claims(str(tmp_path), text) == ()  # a quick look asks no other program


def test_recall_says_of_a_memory_that_its_claims_fail(co: Co, project: Path) -> None:
    (project / "src").mkdir()
    (project / "src" / "main.py").touch()
    co("learn", "The entry point is src/main.py")
    assert "stale" not in co.json("recall", "entry point")["results"][0]

    (project / "src" / "main.py").unlink()

    assert co.json("recall", "entry point")["results"][0]["stale"] == ["src/main.py is not there"]
    co("recall", "entry point")
    assert "(stale? src/main.py is not there)" in co.out


def test_what_is_kept_for_all_projects_is_held_against_none(co: Co) -> None:
    co("learn", "The entry point is src/main.py", "--global")

    assert "stale" not in co.json("recall", "entry point")["results"][0]
