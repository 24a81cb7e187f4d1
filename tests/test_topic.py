"""Topics: shared documents under a name that nobody has to spell the same way twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from co_cli import Conflict, Denied, Invalid, KnowledgeBase, NotFound, open_knowledge
from co_cli.topic import address, essence, slug_of

# ------------------------------------------------------------------------------------------------------------------ slugs


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("claude_models", "claude_models"),
        ("Discord Setup", "discord_setup"),
        ("rfc-9110", "rfc-9110"),
        ("deploy.md", "deploy"),
        ("node.js", "node.js"),
        ("C++", "c++"),
        ("C#", "c#"),
        ("#deploy", "deploy"),
        (" a - b ", "a_b"),
        ("../../etc/passwd", "etc_passwd"),
        ("Zürich Büro", "zürich_büro"),
        ("日本語 メモ", "日本語_メモ"),
        ("हिन्दी", "हिन्दी"),
    ],
)
def test_a_name_becomes_a_slug_that_is_a_good_file_name(name: str, slug: str) -> None:
    assert slug_of(name) == slug
    assert slug_of(slug) == slug


@pytest.mark.parametrize("name", ["", "   ", "!!!", "..", "_", "x" * 81, "語" * 81, "a\0b", "half \ud800"])
def test_what_is_no_name_is_refused_with_a_reason(kb: KnowledgeBase, name: str) -> None:
    with pytest.raises(Invalid) as caught:
        kb.write_topic(name, "text")
    assert caught.value.hint


@pytest.mark.parametrize("name", ["discord setup", "Discord_Setup", "discord-setup", "DISCORD  SETUP", "discordsetup.md"])
def test_a_name_that_is_nearly_the_same_finds_the_topic_that_is_there(kb: KnowledgeBase, vault: Path, name: str) -> None:
    kb.write_topic("discord_setup", "First make a bot")
    saved = kb.write_topic(name, "First make an account")
    assert (saved.outcome, saved.note.slug) == ("updated", "discord_setup")
    assert kb.topic(name).body == "First make an account"
    assert [path.name for path in (vault / "topics").iterdir()] == ["discord_setup.md"]


@pytest.mark.parametrize(("one", "other"), [("C", "C++"), ("C#", "C++"), ("3.11", "311"), ("gpt_4_5", "gpt45"), ("a", "ab")])
def test_names_that_mean_two_things_are_two_topics(kb: KnowledgeBase, one: str, other: str) -> None:
    kb.write_topic(one, "one")
    kb.write_topic(other, "other")
    assert (kb.topic(one).body, kb.topic(other).body) == ("one", "other")
    assert essence(slug_of(one)) != essence(slug_of(other))


def test_a_file_that_was_named_by_hand_is_found_by_its_name(kb: KnowledgeBase, vault: Path) -> None:
    (vault / "topics").mkdir()
    (vault / "topics" / "Release Steps.md").write_text("# Release\n\nTag, then push.\n")
    saved = kb.write_topic("release_steps", "Tag, push, wait.", tags=["release"])
    assert (saved.outcome, saved.note.slug) == ("updated", "Release Steps")
    assert kb.delete_topic("release-steps").slug == "Release Steps"
    assert not list((vault / "topics").iterdir())


def test_two_files_that_one_name_could_mean_are_not_guessed_at(kb: KnowledgeBase, vault: Path) -> None:
    (vault / "topics").mkdir()
    for name in ("discord-setup", "discord_setup"):
        (vault / "topics" / f"{name}.md").write_text("text\n")
    with pytest.raises(Conflict, match=r"topic:discord-setup.*topic:discord_setup"):
        kb.write_topic("DiscordSetup", "text")
    assert kb.topic("discord-setup").slug == "discord-setup"


def test_a_name_may_say_which_vault_is_meant() -> None:
    assert address("g:topic:Deploy") == ("deploy", "global")
    assert address("p:deploy") == ("deploy", "project")
    assert address("topic:deploy") == ("deploy", "")


# ---------------------------------------------------------------------------------------------------------------- writing


def test_a_new_topic_has_the_fields_of_a_topic(kb: KnowledgeBase, vault: Path) -> None:
    saved = kb.write_topic("discord_setup", "## Bot\n\n1. Create it", tags="discord, bot")
    assert saved.outcome == "created"
    lines = (vault / "topics" / "discord_setup.md").read_text().splitlines()
    assert lines[:4] == ["---", "topic: discord_setup", "tags: [discord, bot]", "source: user"]
    assert [line.split(":")[0] for line in lines[4:7]] == ["created", "updated", "---"]
    assert lines[7:] == ["", "## Bot", "", "1. Create it"]


def test_writing_again_keeps_when_it_was_made_and_can_be_undone(kb: KnowledgeBase) -> None:
    first = kb.write_topic("deploy", "On Fridays", tags=["ops"], created="2026-02-09T14:30:00+00:00", source="seed").note
    second = kb.write_topic("deploy", "On Mondays").note
    assert (second.created, second.source, second.tags) == (first.created, "user", ("ops",))
    assert second.updated > first.updated
    assert kb.write_topic("deploy", "On Mondays", tags=[]).note.tags == ()
    assert kb.write_topic("deploy", "  On Mondays\n").outcome == "unchanged"
    kb.undo()
    kb.undo()
    assert kb.topic("deploy").raw == first.raw


def test_a_topic_that_was_changed_since_it_was_read_is_not_overwritten(kb: KnowledgeBase) -> None:
    read = kb.write_topic("deploy", "On Fridays").note
    kb.write_topic("deploy", "On Mondays")
    with pytest.raises(Conflict) as caught:
        kb.write_topic("deploy", "On Sundays", expected_sha=read.sha)
    assert "Mondays" in caught.value.details
    with pytest.raises(Conflict):
        kb.write_topic("deploy", "On Sundays", expected_sha="")
    kb.delete_topic("deploy")
    with pytest.raises(Conflict, match="not there any more"):
        kb.write_topic("deploy", "On Sundays", expected_sha=read.sha)
    assert kb.write_topic("deploy", "On Sundays", expected_sha="").outcome == "created"


def test_what_was_written_by_hand_into_a_header_stays(kb: KnowledgeBase, vault: Path) -> None:
    kb.write_topic("deploy", "On Fridays")
    path = vault / "topics" / "deploy.md"
    path.write_text(path.read_text().replace("source: user", "mood: good  # today\nsource: user"))
    kb.write_topic("deploy", "On Mondays", tags=["ops"])
    assert "mood: good  # today\nsource: user\n" in path.read_text()


@pytest.mark.parametrize("content", ["", " \n\t", "\ufeff", "a\0b", "half \ud800"])
def test_a_text_that_is_none_is_refused(kb: KnowledgeBase, content: str) -> None:
    with pytest.raises(Invalid):
        kb.write_topic("deploy", content)


def test_a_secret_is_refused_also_in_a_topic_that_is_there(kb: KnowledgeBase) -> None:
    kb.write_topic("deploy", "On Fridays")
    with pytest.raises(Denied, match="not saved"):
        kb.write_topic("deploy", "-----BEGIN PRIVATE " + "KEY-----")
    assert kb.topic("deploy").body == "On Fridays"


def test_a_source_that_there_is_not_is_refused(kb: KnowledgeBase) -> None:
    with pytest.raises(Invalid, match="nowhere"):
        kb.write_topic("deploy", "On Mondays", source="nowhere")


def test_a_topic_in_the_archive_is_not_written_beside(kb: KnowledgeBase) -> None:
    kb.write_topic("deploy", "On Fridays")
    kb.archive("topic:deploy")
    with pytest.raises(Conflict, match="archive"):
        kb.write_topic("deploy", "On Mondays")
    kb.archive("topic:deploy", restore=True)
    assert kb.write_topic("deploy", "On Mondays").outcome == "updated"


# ----------------------------------------------------------------------------------------------------------- both vaults


def test_a_topic_for_all_projects_is_written_where_it_is(kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.write_topic("style", "Short answers", in_global=True)
    (tmp_path / "other").mkdir()
    other = open_knowledge(tmp_path / "other")
    assert other.write_topic("Style", "Shorter answers").note.ref == "g:topic:style"
    assert kb.topic("style").body == "Shorter answers"
    assert kb.write_topic("p:style", "Long answers").note.ref == "topic:style"
    assert (kb.topic("style").body, kb.topic("g:style").body) == ("Long answers", "Shorter answers")
    assert [note.ref for note in kb.topics().notes] == ["topic:style", "g:topic:style"]


def test_topics_are_listed_by_name_and_found_by_their_words(kb: KnowledgeBase) -> None:
    kb.write_topic("zoo", "Herons stand still", tags=["birds"])
    kb.write_topic("Apes", "They use sticks", tags=["apes"], in_global=True)
    kb.save("Herons are memories here")
    assert [note.slug for note in kb.topics().notes] == ["apes", "zoo"]
    assert [note.slug for note in kb.topics(tags=["birds"]).notes] == ["zoo"]
    for mode in ("grep", "text", "hybrid"):
        assert [hit.note.ref for hit in kb.search_topics("herons", mode=mode).hits][:1] == ["topic:zoo"]
        assert {hit.note.kind for hit in kb.search_topics("herons", mode=mode).hits} == {"topic"}
    kb.forget("1")
    assert [hit.note.ref for hit in kb.search_topics("herons", mode="text").hits] == ["topic:zoo"]


def test_a_topic_that_is_deleted_is_gone_until_it_is_undone(kb: KnowledgeBase) -> None:
    kb.write_topic("zoo", "Herons stand still")
    assert kb.delete_topic("Zoo").ref == "topic:zoo"
    assert kb.search_topics("herons").hits == ()
    with pytest.raises(NotFound, match="no topic zoo"):
        kb.delete_topic("zoo")
    kb.undo()
    assert kb.topic("zoo").body == "Herons stand still"


def test_who_misspells_a_name_is_told_the_names_that_look_like_it(kb: KnowledgeBase) -> None:
    kb.write_topic("deploy_steps", "One, two, three")
    with pytest.raises(NotFound) as caught:
        kb.topic("deply_step")
    assert "deploy_steps" in caught.value.hint
