"""Memories of a programming language, and of all projects: where they are kept, and where they are found."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from commands import Co

from co_cli.knowledge import KnowledgeBase, open_knowledge_at
from co_cli.languages import Languages, language_name

MODES = ("grep", "text", "hybrid")


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeBase:
    return open_knowledge_at(home=str(tmp_path / "home"), state=str(tmp_path / "state"), project=str(tmp_path / "project"))


def in_project(kb: KnowledgeBase, tmp_path: Path, name: str, *files: str) -> KnowledgeBase:
    """The knowledge as it is in another project, with these files."""
    project = tmp_path / name
    project.mkdir()
    for file in files:
        path = project / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return open_knowledge_at(home=kb.places.home, state=kb.places.state, project=str(project))


def found(kb: KnowledgeBase, query: str, mode: str) -> list[str]:
    return [hit.note.body for hit in kb.recall(query, mode=mode).hits]


def test_what_is_about_a_language_is_kept_for_all_projects_in_it(kb: KnowledgeBase) -> None:
    note = kb.save("Prefer async over callbacks.", language="Py").note

    assert (note.ref, note.scope, note.language) == ("g:1", "language", "python")


@pytest.mark.parametrize("mode", MODES)
def test_it_is_found_in_projects_of_its_language_and_not_in_others(kb: KnowledgeBase, tmp_path: Path, mode: str) -> None:
    kb.save("Prefer async over callbacks.", language="python")
    kb.save("Prefer channels over callbacks.", language="go")
    kb.save("Explain callbacks to newcomers.", in_global=True)

    python = in_project(kb, tmp_path, "a", "pyproject.toml")
    both = in_project(kb, tmp_path, "b", "src/tool.py", "go.mod")
    neither = in_project(kb, tmp_path, "c", "Cargo.toml")

    assert set(found(python, "callbacks", mode)) == {"Prefer async over callbacks.", "Explain callbacks to newcomers."}
    assert len(found(both, "callbacks", mode)) == 3
    assert found(neither, "callbacks", mode) == ["Explain callbacks to newcomers."]


def test_what_is_known_for_one_language_alone_is_news_for_another(kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.save("Write type hints.", language="python")
    (tmp_path / "project").mkdir(exist_ok=True)
    (tmp_path / "project" / "main.py").touch()

    assert kb.save("Write type hints.").note.ref == "g:1"
    assert kb.save("Write type hints.", language="ruby").note.ref == "g:2"
    assert kb.save("Write type hints.", in_global=True).note.ref == "g:3"
    assert kb.save("Write type hints.", language="php").note.ref == "g:3"


@pytest.mark.parametrize("mode", MODES)
def test_where_nothing_tells_the_language_every_one_may_be_it(kb: KnowledgeBase, tmp_path: Path, mode: str) -> None:
    kb.save("Prefer async over callbacks.", language="python")

    assert found(in_project(kb, tmp_path, "empty", "README.md"), "callbacks", mode) == ["Prefer async over callbacks."]


@pytest.mark.parametrize("mode", MODES)
def test_a_query_that_names_the_language_means_it(kb: KnowledgeBase, tmp_path: Path, mode: str) -> None:
    kb.save("Prefer async over callbacks.", language="python")
    rust = in_project(kb, tmp_path, "rust", "Cargo.toml")

    assert found(rust, "callbacks", mode) == []
    assert found(rust, "callbacks in Python", mode) == ["Prefer async over callbacks."]


def test_the_languages_of_a_project_can_be_set(co: Co, project: Path) -> None:
    co("learn", "Prefer channels over callbacks.", "--language", "go")
    (project / "main.py").touch()
    assert co.json("recall", "callbacks")["count"] == 0

    co("config", "set", "languages", "go,python", "--project")

    assert co.json("recall", "callbacks")["count"] == 1


def test_a_pinned_memory_of_another_language_is_in_no_prompt(kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.save("Prefer async over callbacks.", language="python", pinned=True)

    assert "async" in in_project(kb, tmp_path, "a", "setup.py").prompt().text
    assert "async" not in in_project(kb, tmp_path, "b", "Cargo.toml").prompt().text


def test_pinning_says_in_which_projects(co: Co) -> None:
    co("learn", "Use pathlib.", "--language", "python")
    co("pin", "g:1")
    assert co.out == "✓ g:1 is pinned: every prompt has it in all your python projects.\n"


@pytest.mark.parametrize(
    ("files", "languages"),
    [
        (["pyproject.toml"], {"python"}),
        (["package.json", "tsconfig.json"], {"javascript", "typescript"}),
        (["src/deep/down/main.rs", "LICENSE"], {"rust"}),
        (["node_modules/left/index.js", ".venv/lib/x.py", "lib.zig"], {"zig"}),
        (["Makefile"], set()),
    ],
)
def test_the_files_of_a_project_tell_its_languages(tmp_path: Path, files: list[str], languages: set[str]) -> None:
    for file in files:
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    assert Languages(str(tmp_path)).names == languages


def test_a_project_of_very_many_files_is_not_looked_at_to_its_end(tmp_path: Path) -> None:
    for number in range(4000):
        (tmp_path / f"{number:04}.py").touch()
    (tmp_path / "zz").mkdir()
    (tmp_path / "zz" / "last.rs").touch()

    assert Languages(str(tmp_path)).names == {"python"}


def test_names_of_languages_that_mean_the_same_are_the_same() -> None:
    assert language_name("Golang") == language_name("go") == "go"
    assert language_name(" C++ ") == "cpp"
    assert language_name("Gleam") == "gleam"


def test_an_index_of_before_learns_the_languages_of_its_notes(kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.save("Prefer async over callbacks.", language="python")
    index = Path(kb.vault("global").root, "knowledge.db")
    with gzip.open(Path(__file__).parent / "schemas" / "index-1.db.gz") as packed:
        index.write_bytes(packed.read())
    rust = in_project(kb, tmp_path, "rust", "Cargo.toml")

    assert found(rust, "callbacks", "text") == []
    assert found(in_project(kb, tmp_path, "python", "setup.py"), "callbacks", "text") == ["Prefer async over callbacks."]


@pytest.mark.parametrize("mode", MODES)
def test_under_one_key_the_project_counts_before_the_language_and_that_before_all(
    kb: KnowledgeBase, tmp_path: Path, mode: str
) -> None:
    kb.save("Indent with two blanks.", key="indent", in_global=True)
    everywhere = in_project(kb, tmp_path, "any", "Cargo.toml")
    python = in_project(kb, tmp_path, "python", "setup.py")
    python.save("Indent with four blanks.", key="indent", language="python")
    own = in_project(kb, tmp_path, "own", "main.py")
    own.save("Tabs here.", key="indent")

    assert found(everywhere, "indent blanks", mode) == ["Indent with two blanks."]
    assert found(python, "two blanks", mode) == ["Indent with four blanks."]
    hits = own.recall("blanks", mode=mode).hits
    assert [hit.note.body for hit in hits] == ["Tabs here."]
    assert hits[0].why.standing.startswith("this project's indent, in the place of g:")


@pytest.mark.parametrize("mode", MODES)
def test_what_is_overridden_is_shown_behind_where_it_was_asked_for(kb: KnowledgeBase, mode: str) -> None:
    kb.save("Indent with two blanks.", key="indent", in_global=True)
    kb.save("Tabs here.", key="indent")

    hits = kb.recall("blanks", mode=mode, superseded=True).hits

    assert [hit.note.ref for hit in hits] == ["1", "g:1"]
    assert hits[1].why.standing == "overridden by 1, this project's indent"
