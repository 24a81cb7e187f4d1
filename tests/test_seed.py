"""Seed documents: files that become topics by themselves, once, and never overwrite anything."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path

import pytest
from processes import finish, start

from co_cli import KnowledgeBase, NotFound, open_knowledge
from co_cli.note import NoteError
from co_cli.seed import Changed as ChangedSeed
from co_cli.seed import is_settled, parse_seed
from co_cli.surfaces.cli.main import main

MODELS = "tags: ai,anthropic,models\n# Claude Model Family\n\n- Opus: most capable\n"


@pytest.fixture
def seeds(vault: Path) -> Path:
    folder = vault / "seed"
    folder.mkdir()
    (folder / "claude_models.md").write_text(MODELS)
    return folder


def begin() -> KnowledgeBase:
    """A new start of co."""
    return open_knowledge()


def settle(*folders: Path) -> None:
    """Let what was done to the folders have been done a while ago."""
    past = time.time() - 60
    for folder in folders:
        os.utime(folder, (past, past))


# ---------------------------------------------------------------------------------------------------------------- reading


@pytest.mark.parametrize(
    ("text", "tags", "content"),
    [
        (MODELS, ("ai", "anthropic", "models"), "# Claude Model Family\n\n- Opus: most capable"),
        ("# No tags\n\ntags: later", (), "# No tags\n\ntags: later"),
        ("Tags : a , b,,a\r\ntext\r\n", ("a", "b"), "text"),
        ("tags:\ntext", (), "text"),
        ("\ufefftags: a\ntext", ("a",), "text"),
        ("---\ntags: [a, b]\n---\n\ntext\n", ("a", "b"), "text"),
        ("", (), ""),
    ],
)
def test_a_seed_is_a_line_of_tags_and_a_text(text: str, tags: tuple[str, ...], content: str) -> None:
    seed = parse_seed(text.encode(), "/somewhere/Claude Models.md")
    assert (seed.slug, seed.tags, seed.content) == ("claude_models", tags, content)


def test_a_seed_that_is_no_text_is_refused_with_its_line() -> None:
    with pytest.raises(NoteError, match="not UTF-8"):
        parse_seed(b"tags: a\n\xff", "/somewhere/x.md")


# ---------------------------------------------------------------------------------------------------------------- loading


def test_a_seed_becomes_a_topic_by_the_first_verb_that_looks_for_topics(seeds: Path, vault: Path) -> None:
    assert [hit.note.ref for hit in begin().recall("opus").hits] == ["topic:claude_models"]
    note = begin().topic("claude_models")
    assert (note.source, note.tags) == ("seed", ("ai", "anthropic", "models"))
    assert note.body == "# Claude Model Family\n\n- Opus: most capable"
    assert begin().get("topic:claude_models").raw == (vault / "topics" / "claude_models.md").read_bytes()


@pytest.mark.parametrize(
    "look", [lambda kb: kb.topics(), lambda kb: kb.list(("topic",)), lambda kb: kb.get("topic:claude_models")]
)
def test_every_way_to_look_for_topics_loads_them(seeds: Path, look) -> None:
    look(begin())
    assert begin().topic("claude_models").source == "seed"


def test_a_seed_of_your_own_vault_serves_all_projects(global_vault: Path, tmp_path: Path) -> None:
    (global_vault / "seed").mkdir()
    (global_vault / "seed" / "style.md").write_text("Short answers")
    (tmp_path / "other").mkdir()
    assert open_knowledge(tmp_path / "other").topic("style").ref == "g:topic:style"
    assert begin().topic("style").ref == "g:topic:style"


def test_folders_named_in_the_settings_are_loaded_into_your_own_vault(kb: KnowledgeBase, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.md").write_text(f"Seed {name}")
        (tmp_path / name / "both.md").write_text(f"From {name}")
    folders = os.pathsep.join((str(tmp_path / "one"), str(tmp_path / "two"), str(tmp_path / "gone")))
    assert main(["config", "set", "seed_folders", folders]) == 0
    seeding = begin().load_seeds()
    assert [line.ref for line in seeding.seeded] == ["g:topic:both", "g:topic:one", "g:topic:two"]
    assert begin().topic("both").body == "From one"
    assert [problem.code for problem in seeding.problems] == ["seed-twice"]


def test_a_project_cannot_name_folders_to_be_read(project: Path, tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "diary.md").write_text("Dear diary")
    (project / ".co-cli").mkdir()
    (project / ".co-cli" / "settings.json").write_text(json.dumps({"seed_folders": str(tmp_path / "private")}))
    assert begin().topics().notes == ()


def test_without_seed_documents_nothing_is_made(kb: KnowledgeBase, project: Path) -> None:
    kb.topics()
    assert kb.load_seeds() == ((), ())
    assert not (project / ".co-cli").exists()
    assert not Path(kb.places.state).exists()


def test_an_existing_topic_is_never_overwritten_also_under_a_name_that_is_nearly_the_same(
    kb: KnowledgeBase, vault: Path
) -> None:
    kb.write_topic("Claude-Models", "Mine")
    (vault / "seed").mkdir()
    (vault / "seed" / "claude_models.md").write_text(MODELS)
    (line,) = begin().load_seeds().seeded
    assert (line.outcome, line.reason) == ("kept", "there is a topic of this name")
    assert [note.body for note in begin().topics().notes] == ["Mine"]


def test_a_seeded_topic_that_was_edited_or_deleted_stays_so(seeds: Path) -> None:
    (seeds / "deploy.md").write_text("On Fridays")
    (seeds / "style.md").write_text("Short answers")
    begin().topics()
    begin().write_topic("deploy", "On Mondays")
    begin().delete_topic("style")
    begin().archive("topic:claude_models")
    (seeds / "news.md").write_text("A new seed")
    assert [line.slug for line in begin().load_seeds().seeded] == ["news"]
    assert {note.slug: note.body for note in begin().topics().notes} == {"deploy": "On Mondays", "news": "A new seed"}


def test_loading_is_in_the_journal_and_stays_undone_once_undone(seeds: Path) -> None:
    begin().topics()
    assert begin().log()[0].change.summary == "loaded the seed claude_models"
    begin().undo()
    assert begin().load_seeds().seeded == ()
    assert begin().topics().notes == ()


def test_a_vault_that_is_made_anew_in_the_same_place_gets_its_seeds_again(seeds: Path, vault: Path) -> None:
    begin().topics()
    (vault / "topics" / "claude_models.md").unlink()
    (vault / "topics").rmdir()
    assert len(begin().topics().notes) == 1


def test_a_seed_that_cannot_be_used_is_named_and_the_others_are_loaded(
    seeds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (seeds / "latin.md").write_bytes(b"caf\xe9")
    (seeds / "empty.md").write_text("tags: a\n")
    (seeds / "key.md").write_text("-----BEGIN PRIVATE " + "KEY-----")
    (seeds / "!!!.md").write_text("text")
    (seeds / "out.md").symlink_to("/etc/hostname")
    found = begin().recall("opus")
    assert [hit.note.slug for hit in found.hits] == ["claude_models"]
    named = {Path(problem.path).name for problem in found.problems}
    assert named == {"latin.md", "empty.md", "key.md", "!!!.md", "out.md"}
    (seeds / "latin.md").write_text("café")  # mended in place
    assert begin().topic("latin").body == "café"


def test_seeds_that_cannot_be_loaded_now_keep_nobody_from_the_notes(kb: KnowledgeBase, seeds: Path) -> None:
    kb.save("Opus is a word here")
    state = Path(kb.places.state)
    (state / "seeds").write_text("no folder")
    found = begin().recall("opus")
    assert "1" in [hit.note.ref for hit in found.hits]
    assert any("seed documents are not loaded" in problem.message for problem in found.problems)


# ------------------------------------------------------------------------------------------------------------ cheap starts


def test_a_start_with_nothing_new_looks_at_the_folders_only(kb: KnowledgeBase, seeds: Path) -> None:
    settle(seeds)
    kb.topics()
    assert is_settled(kb.vaults, (), kb.places.state)
    (seeds / "claude_models.md").write_bytes(b"\xff")  # whoever read it would complain
    assert begin().topics().problems == ()
    (seeds / "news.md").write_text("A new seed")
    assert not is_settled(kb.vaults, (), kb.places.state)


def test_a_seed_that_is_added_in_the_moment_of_loading_is_not_missed(kb: KnowledgeBase, seeds: Path) -> None:
    kb.topics()
    assert not is_settled(kb.vaults, (), kb.places.state)  # the folder was changed just now
    changed = os.stat(seeds)
    (seeds / "late.md").write_text("Late")
    os.utime(seeds, ns=(changed.st_atime_ns, changed.st_mtime_ns))  # within one tick of the clock
    assert begin().topic("late").source == "seed"


LOADING = """
from co_cli import open_knowledge
print('"ready"', flush=True)
input()
print(len(open_knowledge().load_seeds().seeded))
"""


def test_processes_that_start_at_once_load_every_seed_once(seeds: Path) -> None:
    for number in range(20):
        (seeds / f"topic_{number}.md").write_text(f"Seed {number}")
    processes = [start(LOADING) for _ in range(4)]
    for process in processes:
        assert process.stdout.readline() == '"ready"\n'
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    assert sum(finish(process)[0] for process in processes) == 21
    assert len(begin().topics().notes) == 21
    assert len(begin().log()) == 1
    assert {change.state for change in changed_in(seeds)} == {"unchanged"}


def changed_in(seeds: Path) -> tuple[ChangedSeed, ...]:
    """What is known of all seeds, once each of them has changed."""
    for path in seeds.iterdir():
        path.write_text(path.read_text() + "\nmore")
    return begin().changed_seeds()[0]


# --------------------------------------------------------------------------------------------------------------- changes


@pytest.fixture
def changing(seeds: Path) -> Path:
    """Four seeds that changed: of an untouched topic, an edited one, a deleted one, and one that was there before."""
    begin().write_topic("own", "Mine")
    for name in ("edited", "deleted", "own"):
        (seeds / f"{name}.md").write_text(f"tags: a\nThe first {name}")
    begin().topics()
    begin().write_topic("edited", "Edited here")
    begin().delete_topic("deleted")
    (seeds / "claude_models.md").write_text(MODELS.replace("capable", "able"))
    for name in ("edited", "deleted", "own"):
        (seeds / f"{name}.md").write_text(f"tags: a\nThe second {name}")
    return seeds


def bodies() -> dict[str, str]:
    return {note.slug: note.body.splitlines()[-1] for note in begin().topics().notes}


def test_a_changed_seed_is_not_taken_by_itself(changing: Path) -> None:
    assert begin().load_seeds().seeded == ()
    assert bodies() == {"claude_models": "- Opus: most capable", "edited": "Edited here", "own": "Mine"}


def test_what_changed_is_shown_with_what_became_of_the_topic(changing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    states = {change.slug: change.state for change in begin().changed_seeds()[0]}
    assert states == {"claude_models": "unchanged", "deleted": "deleted", "edited": "edited", "own": "own"}
    assert main(["topic", "seed", "--diff"]) == 0
    said = capsys.readouterr().out
    assert "-- Opus: most capable\n+- Opus: most able" in said
    assert "-Edited here\n" in said
    assert bodies()["claude_models"] == "- Opus: most capable"


def test_an_update_takes_what_nobody_touched_and_names_the_rest(changing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topic", "seed", "--update"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "taken   topic:claude_models",
        "left    topic:deleted: the topic was deleted here",
        "left    topic:edited: the topic was changed here",
        "left    topic:own: the topic was there before the seed",
        "What was left is taken by its name: co topic seed --update NAME",
    ]
    assert bodies() == {"claude_models": "- Opus: most able", "edited": "Edited here", "own": "Mine"}
    assert begin().topic("claude_models").source == "seed"
    assert {change.slug for change in begin().changed_seeds()[0]} == {"deleted", "edited", "own"}


def test_what_is_named_is_taken_whatever_became_of_it(changing: Path) -> None:
    seeding = begin().take_seeds(["Edited", "deleted", "own"])
    assert [line.outcome for line in seeding.seeded] == ["taken"] * 3
    assert bodies() == {
        "claude_models": "- Opus: most capable",
        "edited": "The second edited",
        "deleted": "The second deleted",
        "own": "The second own",
    }
    begin().undo()
    assert bodies()["edited"] == "Edited here"
    with pytest.raises(NotFound, match="no seed document nowhere"):
        begin().take_seeds(["nowhere"])


def test_a_damaged_memory_of_what_was_seeded_is_an_error_that_names_the_file(kb: KnowledgeBase, seeds: Path) -> None:
    kb.topics()
    (file,) = (Path(kb.places.state) / "seeds").iterdir()
    file.write_text("12\n{broken")
    problems = begin().topics().problems
    assert str(file) in problems[0].message
    file.unlink()
    assert [line.outcome for line in begin().load_seeds().seeded] == ["kept"]


def test_threads_may_start_at_once(kb: KnowledgeBase, seeds: Path) -> None:
    counts: list[int] = []
    threads = [threading.Thread(target=lambda: counts.append(len(begin().topics().notes))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [1, 1, 1, 1]
