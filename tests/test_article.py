"""Articles and their originals: kept together, found again by their source, and gone or back together."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from co_cli import Conflict, Denied, Invalid, KnowledgeBase, NotFound, open_knowledge
from co_cli.article import Incoming, slug_of
from co_cli.attachment import Attachment
from co_cli.journal import LARGE
from co_cli.note import sha_of

PAGE = Attachment("herons.html", b"<p>Herons stand still.</p>")
OTHER = Attachment("herons.html", b"<p>Herons fly.</p>")
LARGE_PDF = Attachment("Big Report.PDF", random.Random(7).randbytes(3 * LARGE))


def files(vault: Path) -> set[str]:
    return {path.relative_to(vault).as_posix() for path in vault.rglob("*") if path.is_file() and path.suffix != ".db"}


def kept(kb: KnowledgeBase, vault: Path) -> set[str]:
    """The notes and originals that there are."""
    assert kb.check().open == ()
    return {name for name in files(vault) if name.startswith(("articles/", "attachments/", "archive/"))}


# ----------------------------------------------------------------------------------------------------------------- keeping


def test_an_article_is_kept_with_its_original_and_says_where_both_come_from(kb: KnowledgeBase, vault: Path) -> None:
    saved = kb.save_article(
        "Herons stand *still*.",
        source="https://birds.example/herons",
        title="On Herons",
        tags=["birds", "#Water"],
        fetched="2026-02-09T14:30:00+00:00",
        attachment=PAGE,
        etag='W/"7"',
        author="Ada: a poet",
    )

    assert (saved.outcome, saved.note.ref) == ("created", "article:on-herons")
    assert saved.note.text == (
        "---\nsource: https://birds.example/herons\nfetched: 2026-02-09T14:30:00+00:00\ntitle: On Herons\n"
        "tags: [birds, Water]\nauthor: 'Ada: a poet'\n"
        f'attachment: attachments/herons-{sha_of(PAGE.raw)[:16]}.html\nsha256: {sha_of(PAGE.raw)}\netag: W/"7"\n'
        "---\n\nHerons stand *still*.\n"
    )
    assert kb.original(saved.note) == PAGE.raw
    assert kb.details(saved.note).etag == 'W/"7"'
    assert [note.ref for note in kb.articles(tags=["water"]).notes] == ["article:on-herons"]
    assert kb.recall("herons", kinds=["article"]).hits[0].note.ref == "article:on-herons"
    assert kept(kb, vault) == {"articles/on-herons.md", f"attachments/herons-{sha_of(PAGE.raw)[:16]}.html"}


@pytest.mark.parametrize("name", ["on-herons", "article:on-herons", "p:article:on-herons", "https://birds.example/herons"])
def test_an_article_is_found_by_its_slug_its_ref_or_its_source(kb: KnowledgeBase, name: str) -> None:
    kb.save_article("Herons.", source="https://birds.example/herons", title="On Herons")
    assert kb.article(name).ref == "article:on-herons"


def test_a_name_that_is_not_known_is_answered_with_those_that_look_like_it(kb: KnowledgeBase) -> None:
    kb.save_article("Herons.", source="https://birds.example/herons", title="On Herons")
    with pytest.raises(NotFound) as error:
        kb.article("on-heron")
    assert "on-herons" in error.value.hint
    with pytest.raises(NotFound):
        kb.article("../memories/001-fact")


@pytest.mark.parametrize(
    ("title", "source", "slug"),
    [
        ("On Herons", "https://birds.example/x", "on-herons"),
        ("", "https://birds.example/guide/herons.html?page=2#top", "herons"),
        ("", "https://birds.example/", "birds-example"),
        ("README", "docs/herons/README.md", "herons"),
        ("Index", "https://birds.example/herons/index.html", "herons"),
        ("鹭", "https://birds.example/x", "鹭"),
        ("", "~/papers/Nature Of Herons.pdf", "nature-of-herons"),
        ("!!!", "…", "article"),
    ],
)
def test_a_slug_says_what_an_article_is_about(title: str, source: str, slug: str) -> None:
    assert slug_of(Incoming("text", source, title=title)) == slug


def test_another_source_with_the_same_title_becomes_another_article(kb: KnowledgeBase) -> None:
    refs = [kb.save_article(f"From {place}.", source=f"https://{place}.example/", title="News").note.ref for place in "abc"]
    assert refs == ["article:news", "article:news-2", "article:news-3"]
    assert kb.article("https://b.example/").body == "From b."


def test_what_says_nothing_or_says_a_secret_is_not_kept(kb: KnowledgeBase, vault: Path) -> None:
    with pytest.raises(Invalid):
        kb.save_article(" \n", source="https://a.example/", attachment=PAGE)
    with pytest.raises(Invalid):
        kb.save_article("text", source=" ")
    with pytest.raises(Denied):
        kb.save_article("password: hunter2-Xk29slq0", source="https://a.example/", attachment=PAGE)
    assert kb.log() == ()
    assert files(vault) == set()


# ------------------------------------------------------------------------------------------------------------------- again


def test_the_same_source_again_updates_its_article_and_undo_brings_the_old_one_back(kb: KnowledgeBase, vault: Path) -> None:
    first = kb.save_article(
        "They stand.", source="https://a.example/", title="Herons", tags=["a"], attachment=PAGE, etag='"1"'
    )
    before = files(vault)
    again = kb.save_article("They fly.", source="https://a.example/", title="Herons", tags=["b"], attachment=OTHER)

    assert (again.outcome, again.note.ref, again.note.body) == ("updated", first.note.ref, "They fly.")
    assert again.note.tags == ("a", "b")
    assert kb.details(again.note).etag == ""
    assert kb.original(again.note) == OTHER.raw
    assert kept(kb, vault) == {"articles/herons.md", f"attachments/herons-{sha_of(OTHER.raw)[:16]}.html"}
    kb.undo()
    assert files(vault) == before
    assert kb.original(kb.article("herons")) == PAGE.raw


def test_the_same_original_again_changes_nothing_not_even_what_was_corrected_by_hand(kb: KnowledgeBase) -> None:
    kb.save_article("Herons stnd.", source="https://a.example/", title="Herons", attachment=PAGE)
    kb.update("article:herons", content="Herons stand.")
    again = kb.save_article("Herons stnd.", source="https://a.example/", title="Herons", attachment=PAGE)
    assert (again.outcome, again.note.body) == ("unchanged", "Herons stand.")
    assert len(kb.log()) == 2


def test_fields_that_somebody_added_stay_where_they_are(kb: KnowledgeBase) -> None:
    note = kb.save_article("One.", source="https://a.example/", title="Herons", attachment=PAGE).note
    Path(note.path).write_bytes(note.raw.replace(b"title:", b"mood: good # mine\ntitle:"))
    again = kb.save_article("Two.", source="https://a.example/", title="Herons", attachment=OTHER).note
    assert "mood: good # mine\ntitle: Herons\n" in again.text
    assert again.body == "Two."


def test_a_source_is_found_where_its_article_lies_also_in_the_archive(kb: KnowledgeBase, global_vault: Path) -> None:
    kb.save_article("One.", source="https://a.example/", title="Herons", in_global=True)
    assert kb.save_article("Two.", source="https://a.example/", title="Herons").note.ref == "g:article:herons"
    kb.archive("g:article:herons")
    with pytest.raises(Conflict) as error:
        kb.save_article("Three.", source="https://a.example/")
    assert "co knowledge --restore g:article:herons" in error.value.hint


def test_what_another_process_took_in_is_known_at_once(kb: KnowledgeBase, project: Path) -> None:
    other = open_knowledge(project)
    assert kb.save_article("One.", source="https://a.example/", title="Herons").outcome == "created"
    assert other.save_article("Two.", source="https://a.example/", title="Herons").outcome == "updated"
    path = Path(kb.article("herons").path)
    path.write_text(path.read_text().replace("https://a.example/", "https://b.example/"))
    assert other.save_article("Three.", source="https://b.example/").note.slug == "herons"
    assert kb.save_article("Four.", source="https://a.example/", title="Herons").note.slug == "herons-2"


def test_many_are_kept_as_one_change_and_one_that_cannot_be_keeps_none_of_the_others_out(kb: KnowledgeBase) -> None:
    incoming = [
        Incoming("One.", "a.md", title="One"),
        Incoming("", "b.md", title="Two"),
        Incoming("Three.", "c.md", title="One", attachment=PAGE),
        Incoming("Four.", "d.md", title="Four", attachment=Attachment("copy.html", PAGE.raw)),
        Incoming("Three.", "c.md", title="One", attachment=PAGE),
    ]
    one, two, three, four, again = kb.save_articles(incoming)
    assert isinstance(two, Invalid)
    assert [getattr(each, "outcome", "") for each in (one, three, four, again)] == ["created"] * 3 + ["unchanged"]
    assert [note.ref for note in kb.articles().notes] == ["article:four", "article:one", "article:one-2"]
    assert kb.originals()["project"].files == 1
    assert [entry.change.summary for entry in kb.log()] == ["took in 3 articles"]
    kb.undo()
    assert kb.articles().notes == ()
    assert kb.originals()["project"].files == 0


# --------------------------------------------------------------------------------------------------- originals come and go


@pytest.mark.parametrize("original", [PAGE, LARGE_PDF], ids=["small", "large"])
def test_an_article_that_is_forgotten_takes_its_original_with_it_and_undo_brings_both_back(
    kb: KnowledgeBase, vault: Path, original: Attachment
) -> None:
    kb.save_article("Herons stand.", source="https://a.example/", title="Herons", attachment=original)
    before = kept(kb, vault)
    assert kb.delete_article("herons").ref == "article:herons"
    assert kept(kb, vault) == set()
    assert kb.recall("herons").hits == ()
    kb.undo()
    assert kept(kb, vault) == before
    assert kb.original(kb.article("herons")) == original.raw
    assert kb.recall("herons").hits[0].note.ref == "article:herons"


def test_nothing_of_a_forgotten_article_is_left_in_the_index_and_undo_has_it_found_again(
    kb: KnowledgeBase, vault: Path
) -> None:
    def indexed() -> tuple[int, int, bool]:
        known = kb.coverage()["project"]
        raw = b"".join(path.read_bytes() for path in vault.glob("knowledge.db*"))
        return known.passages, known.vectors, b"quagmir" in raw

    text = "# Herons\n\nThe quagmire.\n\n## Nests\n\n" + "High up in the trees. " * 200
    kb.save_article(text, source="https://a.example/", title="Herons", attachment=LARGE_PDF)
    kb.sync()
    assert kb.recall("quagmire", mode="hybrid").hits
    passages, vectors, there = indexed()
    assert passages > 1
    assert vectors == passages
    assert there
    kb.forget("article:herons")
    assert indexed() == (0, 0, False)
    kb.undo()
    assert kb.recall("quagmire", mode="hybrid").hits[0].note.ref == "article:herons"


@pytest.mark.parametrize("original", [PAGE, LARGE_PDF], ids=["small", "large"])
def test_an_original_that_two_articles_share_stays_until_the_last_of_them_goes(
    kb: KnowledgeBase, vault: Path, original: Attachment
) -> None:
    kb.save_article("One.", source="https://a.example/", title="One", attachment=original)
    kb.save_article("Two.", source="https://b.example/", title="Two", attachment=original._replace(name="other.pdf"))
    assert kb.originals()["project"].files == 1
    kb.forget("article:one")
    assert kb.original(kb.article("two")) == original.raw
    kb.forget("article:two")
    assert kb.originals()["project"].files == 0

    kb.undo("2")  # the first one alone: the file that went with the second one comes back for it
    assert kb.original(kb.article("one")) == original.raw
    kb.undo("2")
    assert kb.original(kb.article("two")) == original.raw
    assert kb.check().open == ()


def test_taking_back_the_first_of_two_articles_leaves_the_original_to_the_second(kb: KnowledgeBase, vault: Path) -> None:
    kb.save_article("One.", source="https://a.example/", title="One", attachment=LARGE_PDF)
    kb.save_article("Two.", source="https://b.example/", title="Two", attachment=LARGE_PDF)
    kb.undo("2")
    assert [note.slug for note in kb.articles().notes] == ["two"]
    assert kb.original(kb.article("two")) == LARGE_PDF.raw
    assert kb.check().open == ()


def test_a_note_that_shows_an_original_keeps_it(kb: KnowledgeBase) -> None:
    note = kb.save_article("One.", source="https://a.example/", title="One", attachment=PAGE).note
    kb.write_topic("birds", f"![heron]({kb.details(note).attachment})")
    kb.forget("article:one")
    assert kb.originals()["project"].files == 1
    kb.write_topic("birds", "no picture")
    assert [finding.problem.code for finding in kb.check().open] == ["unused"]


def test_an_article_in_the_archive_keeps_its_original(kb: KnowledgeBase, vault: Path) -> None:
    kb.save_article("One.", source="https://a.example/", title="One", attachment=PAGE)
    kb.save_article("Two.", source="https://b.example/", title="Two", attachment=PAGE)
    kb.archive("article:one")
    kb.forget("article:two")
    assert kb.original(kb.article("one")) == PAGE.raw
    kb.archive("article:one", restore=True)
    assert kept(kb, vault) == {"articles/one.md", f"attachments/herons-{sha_of(PAGE.raw)[:16]}.html"}


@pytest.mark.parametrize(
    "claimed",
    [
        "../../../outside.txt",
        "memories/001-fact.md",
        "attachments/../memories/001-fact.md",
        "attachments/.hidden",
        "attachments/link.pdf",
        "/etc/hostname",
    ],
)
def test_no_header_can_name_for_an_original_what_is_none(
    kb: KnowledgeBase, vault: Path, project: Path, claimed: str
) -> None:
    (vault / "attachments").mkdir()
    (project / "outside.txt").write_text("mine")
    (vault / "attachments" / ".hidden").write_text("mine")
    kb.save("fact")
    (vault / "attachments" / "link.pdf").symlink_to("../memories/001-fact.md")
    (vault / "articles").mkdir()
    (vault / "articles" / "evil.md").write_text(f"---\nsource: x\nattachment: {claimed}\n---\n\nEvil.\n")
    before = files(vault)
    kb.forget("article:evil")
    assert files(vault) == before - {"articles/evil.md"}
    assert (project / "outside.txt").exists()


def test_a_folder_of_attachments_that_leads_out_of_the_vault_is_neither_read_nor_written(
    kb: KnowledgeBase, vault: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.pdf").write_bytes(b"mine")
    (vault / "attachments").symlink_to(outside)
    (vault / "articles").mkdir()
    (vault / "articles" / "evil.md").write_text("---\nsource: x\nattachment: attachments/x.pdf\n---\n\nEvil.\n")
    assert kb.original(kb.article("evil")) is None
    assert kb.originals()["project"].files == 0
    kb.forget("article:evil")
    with pytest.raises(Denied):
        kb.save_article("Text.", source="a.pdf", attachment=PAGE)
    assert [path.name for path in outside.iterdir()] == ["x.pdf"]


def test_a_file_that_cannot_be_read_may_use_any_original_so_all_stay(kb: KnowledgeBase, vault: Path) -> None:
    kb.save_article("One.", source="https://a.example/", title="One", attachment=PAGE)
    (vault / "topics").mkdir()
    (vault / "topics" / "closed.md").write_text("closed")
    (vault / "topics" / "closed.md").chmod(0)
    kb.forget("article:one")
    assert kb.originals()["project"].files == (0 if os.getuid() == 0 else 1)


# ---------------------------------------------------------------------------------------------------------- large originals


def test_a_large_original_costs_its_room_once_and_the_journal_has_it_only_when_it_is_gone(
    kb: KnowledgeBase, vault: Path, tmp_path: Path
) -> None:
    def journalled() -> int:
        return sum(path.stat().st_size for path in (tmp_path / "home" / ".local" / "state").rglob("*") if path.is_file())

    kb.save_article("Text.", source="r.pdf", title="Report", attachment=LARGE_PDF)
    assert journalled() < LARGE
    kb.forget("article:report")
    assert len(LARGE_PDF.raw) <= journalled() < len(LARGE_PDF.raw) + LARGE
    kb.undo()
    kb.forget("article:report")
    assert journalled() < len(LARGE_PDF.raw) + LARGE, "it is kept once"
    for path in (tmp_path / "home" / ".local" / "state").rglob("*"):
        assert path.is_dir() or path.stat().st_mode & 0o077 == 0


def test_a_large_text_can_be_edited_and_taken_back_like_any_other(kb: KnowledgeBase) -> None:
    long, longer = "word " * LARGE, "words " * LARGE
    kb.write_topic("long", long)
    kb.write_topic("long", longer)
    kb.undo()
    assert kb.topic("long").body == long.strip()
    kb.undo("1")
    assert kb.topic("long").body == longer.strip()
    Path(kb.topic("long").path).write_text("other")
    with pytest.raises(Conflict) as error:
        kb.undo("1")
    assert "bytes, sha256 " in error.value.details


def test_a_large_content_that_the_journal_lost_can_no_longer_be_brought_back_and_says_so(
    kb: KnowledgeBase, tmp_path: Path
) -> None:
    kb.save_article("Text.", source="r.pdf", title="Report", attachment=LARGE_PDF)
    kb.forget("article:report")
    (lying,) = (tmp_path / "home").rglob("kept/*")
    lying.write_bytes(b"something else")
    with pytest.raises(Exception, match="not whole"):
        kb.undo()


def test_the_journal_lets_large_contents_go_with_the_last_change_that_needs_them(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("co_cli.journal.KEPT", 5)
    monkeypatch.setattr("co_cli.journal._PRUNE_EVERY", 2)
    kb.save_article("Text.", source="r.pdf", title="Report", attachment=LARGE_PDF)
    kb.forget("article:report")
    for number in range(4):
        kb.save(f"fact {number}")
    assert len(list((tmp_path / "home").rglob("kept/*"))) == 1
    for number in range(4, 8):
        kb.save(f"fact {number}")
    assert list((tmp_path / "home").rglob("kept/*")) == []


# ----------------------------------------------------------------------------------------------------------------- private


def test_a_private_article_gives_nothing_away_by_its_names_and_git_leaves_both_files_out(
    kb: KnowledgeBase, vault: Path
) -> None:
    vault.joinpath(".gitignore").write_text("knowledge.db*\n*-private.md")
    saved = kb.save_article("My salary.", source="~/salary.pdf", title="Salary", attachment=LARGE_PDF, private=True)
    names = kept(kb, vault)
    assert "salary" not in " ".join(names)
    assert "report" not in " ".join(names)
    assert all("-private" in name for name in names)
    assert all(vault.joinpath(name).stat().st_mode & 0o077 == 0 for name in names)
    assert vault.joinpath(".gitignore").read_text() == "knowledge.db*\n*-private.md\nattachments/*-private*\n"
    assert [entry.change.summary for entry in kb.log()] == [f"took in {saved.note.ref} (private)"]
    kb.forget(saved.note.ref)
    kb.undo()
    assert all(vault.joinpath(name).stat().st_mode & 0o077 == 0 for name in names)


def test_an_article_that_becomes_private_loses_its_telling_names_and_its_twin_keeps_the_original(
    kb: KnowledgeBase, vault: Path
) -> None:
    kb.save_article("My salary.", source="~/salary.pdf", title="Salary", attachment=LARGE_PDF)
    kb.save_article("My salary.", source="~/copy.pdf", title="Copy", attachment=LARGE_PDF)
    note = kb.update("article:salary", private=True).note
    assert note.private
    assert kb.original(note) == LARGE_PDF.raw == kb.original(kb.article("copy"))
    assert sorted("private" in name for name in kept(kb, vault)) == [False, False, True, True]
    assert kb.save_article("New.", source="~/salary.pdf", title="Salary", attachment=PAGE).note.ref == note.ref
    assert kb.originals()["project"].files == 2
    kb.undo()
    kb.undo()
    assert {path.name for path in (vault / "articles").iterdir()} == {"salary.md", "copy.md"}
    assert kb.originals()["project"].files == 1


def test_a_secret_may_be_kept_in_private(kb: KnowledgeBase) -> None:
    assert kb.save_article("password: hunter2-Xk29slq0", source="a.txt", private=True).note.private


# ------------------------------------------------------------------------------------------------------------------ doctor


@pytest.mark.parametrize("original", [PAGE, LARGE_PDF], ids=["small", "large"])
def test_doctor_brings_back_an_original_that_the_journal_has(kb: KnowledgeBase, vault: Path, original: Attachment) -> None:
    note = kb.save_article("One.", source="https://a.example/", title="One", attachment=original).note
    kb.forget("article:one")
    Path(note.path).write_bytes(note.raw)  # the article alone came back, from git, say
    (finding,) = kb.check().open
    assert (finding.problem.code, finding.problem.line, finding.mendable) == ("missing-original", 6, True)
    assert kb.check(fix=True).open == ()
    assert kb.original(note) == original.raw
    assert kb.check(fix=True).findings == ()


def test_doctor_names_an_original_that_is_lost_and_adding_the_source_again_brings_it_back(
    kb: KnowledgeBase, vault: Path
) -> None:
    note = kb.save_article("One.", source="https://a.example/", title="One", attachment=PAGE).note
    os.unlink(vault / kb.details(note).attachment)
    (finding,) = kb.check(fix=True).open
    assert (finding.problem.code, finding.mendable) == ("missing-original", False)
    assert "co article add https://a.example/" in finding.problem.hint
    assert kb.save_article("One.", source="https://a.example/", title="One", attachment=PAGE).outcome == "updated"
    assert kb.original(note) == PAGE.raw
    assert kb.check().open == ()


def test_links_in_articles_are_not_ours_to_correct(kb: KnowledgeBase) -> None:
    kb.save_article("See [the next page](next.html) and [[Nowhere]].", source="https://a.example/", title="One")
    assert kb.check().open == ()


# ------------------------------------------------------------------------------------------------------------- rehearsing


def test_a_rehearsal_says_what_would_become_of_both_files_and_touches_none(kb: KnowledgeBase, vault: Path) -> None:
    changes = kb.rehearse(lambda kb: kb.save_article("One.", source="https://a.example/", title="One", attachment=PAGE))
    assert [(os.path.basename(change.path), change.before is None) for change in changes] == [
        (f"herons-{sha_of(PAGE.raw)[:16]}.html", True),
        ("one.md", True),
    ]
    assert files(vault) == set()

    def both(kb: KnowledgeBase) -> None:
        kb.save_article("One.", source="https://a.example/", title="One", attachment=PAGE)
        assert kb.save_article("Two.", source="https://a.example/", title="One", attachment=OTHER).outcome == "updated"
        kb.save_article("Three.", source="https://b.example/", title="Three", attachment=OTHER)
        kb.forget("article:one")

    kb.as_one(both, "article", "did it all")
    assert kept(kb, vault) == {"articles/three.md", f"attachments/herons-{sha_of(OTHER.raw)[:16]}.html"}
    kb.undo()
    assert kept(kb, vault) == set()


# ---------------------------------------------------------------------------------------------------------------- for good


@pytest.mark.parametrize("original", [PAGE, LARGE_PDF], ids=["small", "large"])
def test_an_article_that_is_purged_leaves_nothing_of_its_original_in_the_journal(
    kb: KnowledgeBase, tmp_path: Path, original: Attachment
) -> None:
    kb.save_article("Herons stand.", source="https://a.example/", title="Herons", attachment=original)
    kb.save_article("Herons fly.", source="https://a.example/", title="Herons", attachment=OTHER)
    kb.undo()
    kb.save("something else")
    kb.purge("article:herons")
    files = [path for path in (tmp_path / "home" / ".local" / "state").rglob("*") if path.is_file()]
    assert files
    for path in files:
        raw = path.read_bytes()
        assert original.raw not in raw
        assert OTHER.raw not in raw
        assert b"Herons" not in raw
    kb.undo()
    assert kb.list().notes == ()


def test_an_original_that_another_article_uses_outlives_the_purge(kb: KnowledgeBase) -> None:
    kb.save_article("One.", source="https://a.example/", title="One", attachment=LARGE_PDF)
    kb.save_article("Two.", source="https://b.example/", title="Two", attachment=LARGE_PDF)
    kb.purge("article:one")
    assert kb.original(kb.article("two")) == LARGE_PDF.raw
