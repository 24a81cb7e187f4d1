"""`co article`: pages, files and folders from the command line, over a site on this machine."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import documents
import pytest
from commands import Co
from terminals import terminal
from websites import Site, page, redirect, website

from co_cli import KnowledgeBase
from co_cli.articles import source

SETTLED = 0.06
"""Seconds after which the time of a file says for certain whether it was written again."""
HERONS = b"""<html><head><title>On Herons</title></head><body><nav><a href="/">Home</a></nav><article><h1>On Herons</h1>
<p>Herons stand still in shallow water for hours, and then strike faster than the eye can follow.</p>
<p>They nest in colonies, high up in the trees, and return to the same place every year.</p></article></body></html>"""
FLYING = HERONS.replace(b"stand still in shallow water for hours", b"fly slowly over the fields at dusk")


@pytest.fixture
def site(co: Co) -> Iterator[Site]:
    with website() as site:
        assert co("config", "set", "fetch_allow", site.host) == 0
        yield site


@pytest.fixture
def docs(project: Path) -> Path:
    folder = project / "docs"
    (folder / "birds").mkdir(parents=True)
    (folder / "birds" / "herons.md").write_text("# Herons\n\nThey stand still.\n")
    (folder / "storks.html").write_bytes(HERONS.replace(b"Heron", b"Stork"))
    (folder / "plan.txt").write_bytes("Die Störche fliegen über den großen Fluß nach Süden.".encode("latin-1"))
    for path in folder.rglob("*"):
        os.utime(path, (1_700_000_000.5, 1_700_000_000.5))
    return folder


@pytest.fixture
def files_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are opened for what is in them, as they are opened."""
    read: list[str] = []
    reading = source._read_file
    monkeypatch.setattr(source, "_read_file", lambda path: read.append(path) or reading(path))
    return read


def outcomes(found: dict) -> dict[str, str]:
    return {Path(entry["source"]).name: entry["outcome"] for entry in found["entries"]}


# ------------------------------------------------------------------------------------------------------------------- pages


def test_a_page_is_taken_in_found_shown_and_deleted(co: Co, site: Site, vault: Path) -> None:
    site.pages["/herons"] = page(HERONS, Content_Type="text/html; charset=utf-8")
    assert co("article", "add", f"{site.url}/herons#top", "-t", "birds") == 0
    assert co.out == f"added     {site.url}/herons → article:on-herons (html)\n"
    assert co.err == "1 added\n"
    shown = co.json("article", "show", "on-herons")
    assert (shown["source"], shown["tags"], shown["title"]) == (f"{site.url}/herons", ["birds"], "On Herons")
    assert "Home" not in shown["content"]
    assert (vault / shown["attachment"]).read_bytes() == HERONS
    assert shown["attachment"].endswith(".html")
    assert co.json("recall", "strike faster", "--kind", "article")["results"][0]["ref"] == "article:on-herons"
    assert co("article", "list") == 0
    assert co.out.startswith("article:on-herons  ")
    assert co("show", "article:on-herons") == 0
    assert co("article", "delete", f"{site.url}/herons") == 0
    assert co.out == "✓ Deleted article:on-herons\n"
    assert not list((vault / "attachments").iterdir())
    assert co("undo") == 0
    assert (vault / shown["attachment"]).read_bytes() == HERONS


def test_a_page_that_is_the_same_is_not_sent_again(co: Co, site: Site) -> None:
    site.pages["/herons"] = page(HERONS, Content_Type="text/html", ETag='"one"')
    co("article", "add", f"{site.url}/herons")
    site.pages["/herons"] = page(b"", "304 Not Modified", ETag='"one"')
    assert co("article", "add", f"{site.url}/herons") == 0
    assert co.out == f"unchanged {site.url}/herons → article:on-herons\n"
    assert site.requests[-1].headers["If-None-Match"] == '"one"'
    assert len(co.json("log")["changes"]) == 1


def test_a_page_that_changed_updates_its_article(co: Co, site: Site, kb: KnowledgeBase) -> None:
    site.pages["/herons"] = page(HERONS, Content_Type="text/html", ETag='"one"')
    co("article", "add", f"{site.url}/herons")
    site.pages["/herons"] = page(FLYING, Content_Type="text/html", ETag='"two"')
    assert co("article", "add", f"{site.url}/herons") == 0
    assert co.out == f"updated   {site.url}/herons → article:on-herons (html)\n"
    note = kb.article("on-herons")
    assert "at dusk" in note.body
    assert kb.details(note).etag == '"two"'
    assert kb.original(note) == FLYING
    assert kb.originals()["project"].files == 1


@pytest.mark.parametrize(
    ("what", "code", "words"),
    [
        ("{site}/gone", 3, "There is no page"),
        ("nothing.txt", 3, "There is no file nothing.txt. Check its name."),
        ("www.example.org", 3, "https://www.example.org"),
        ("ftp://example.org/x", 2, "https"),
        ("http://10.0.0.1/x", 5, "fetch_allow"),
        ("/dev/null", 2, "no ordinary file"),
    ],
)
def test_what_cannot_be_taken_in_is_said_with_the_next_step(co: Co, site: Site, what: str, code: int, words: str) -> None:
    what = what.format(site=site.url)
    assert co("article", "add", what) == code
    assert co.out.startswith(f"failed    {what}: ")
    assert words in co.out
    assert co.err == "1 failed\n"


def test_one_that_fails_keeps_none_of_the_others_out(co: Co, site: Site, docs: Path) -> None:
    site.pages["/herons"] = page(HERONS, Content_Type="text/html")
    found = co.json("article", "add", f"{site.url}/gone", f"{site.url}/herons", "docs/plan.txt", "nothing.txt")
    assert found["counts"] == {"added": 2, "failed": 2}
    assert co("article", "add", f"{site.url}/gone", f"{site.url}/herons") == 1


def test_a_title_and_privacy_are_as_they_were_asked_for(co: Co, docs: Path) -> None:
    assert co("article", "add", "docs/plan.txt", "--title", "Our plan", "--private") == 0
    ref = co.json("article", "list")["articles"][0]["ref"]
    assert ref.endswith("-private")
    assert co.json("article", "show", ref)["title"] == "Our plan"
    assert co("article", "add", "docs/plan.txt", "--title", "The plan") == 0
    assert co.json("article", "show", ref)["title"] == "The plan"
    assert co("article", "add", "docs/plan.txt", "docs/storks.html", "--title", "Both") == 2
    assert co("article", "add", "docs", "--title", "All") == 2


# ----------------------------------------------------------------------------------------------------------------- folders


def test_a_folder_is_taken_in_as_one_change_and_a_second_time_only_looked_at(
    co: Co, docs: Path, vault: Path, files_read: list[str]
) -> None:
    assert outcomes(co.json("article", "add", "docs")) == {
        "herons.md": "added",
        "plan.txt": "added",
        "storks.html": "added",
    }
    assert {path.suffix for path in (vault / "attachments").iterdir()} == {".txt", ".html"}, "a text needs no copy"
    assert len(co.json("log")["changes"]) == 1
    time.sleep(SETTLED)
    co("article", "add", "docs")
    files_read.clear()
    assert set(outcomes(co.json("article", "add", "docs")).values()) == {"unchanged"}
    assert files_read == []
    (docs / "birds" / "herons.md").write_text("# Herons\n\nThey fly.\n")
    assert outcomes(co.json("article", "add", "docs"))["herons.md"] == "updated"
    assert [Path(path).name for path in files_read] == ["herons.md"]


def test_files_of_the_project_are_named_from_its_top_and_those_of_the_user_from_home(
    co: Co, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "paper.md").write_text("# Paper")
    (tmp_path / "else.md").write_text("# Else")
    monkeypatch.chdir(docs)
    co("article", "add", "birds/herons.md", str(tmp_path / "home" / "paper.md"), str(tmp_path / "else.md"))
    sources = {note["ref"]: note["source"] for note in co.json("article", "list")["articles"]}
    assert sources == {
        "article:herons": "docs/birds/herons.md",
        "article:paper": "~/paper.md",
        "article:else": str(tmp_path / "else.md"),
    }
    monkeypatch.chdir(docs / "birds")
    assert co("article", "add", "herons.md") == 0
    assert co.out.startswith("unchanged herons.md → article:herons")


def test_hidden_files_links_and_the_folders_of_tools_are_passed_by(co: Co, docs: Path, tmp_path: Path) -> None:
    for name in (".git", ".venv", "node_modules", "__pycache__"):
        (docs / name).mkdir()
        (docs / name / "inside.md").write_text("# Inside")
    (docs / ".hidden.md").write_text("# Hidden")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_text("# Outside")
    (docs / "link").symlink_to(tmp_path / "outside")
    (docs / "link.md").symlink_to(tmp_path / "outside" / "secret.md")
    (docs / "loop").symlink_to(docs)
    os.mkfifo(docs / "pipe.md")
    found = outcomes(co.json("article", "add", "docs"))
    assert {name for name, outcome in found.items() if outcome == "added"} == {"herons.md", "plan.txt", "storks.html"}
    assert {name for name, outcome in found.items() if outcome == "skipped"} == {"link", "link.md", "loop"}, (
        "links are named"
    )
    assert co("article", "add", "docs/link.md") == 0, "who names one means what it leads to"


def test_a_file_may_be_called_anything(co: Co, docs: Path) -> None:
    (docs / "two\nlines.md").write_text("# Two\n\nlines")
    try:
        (docs / os.fsdecode(b"bad\xff.md")).write_text("# Bad")
    except OSError:
        pytest.skip("this file system wants names to be text")
    assert co("article", "add", "docs") == 1
    assert "added     docs/two␊lines.md → article:two (markdown)\n" in co.out
    assert "failed    " in co.out
    assert "Rename it" in co.out
    assert co.json("article", "add", "docs")["counts"] == {"unchanged": 4, "failed": 1}


def test_a_note_that_says_that_it_is_private_stays_so(co: Co, docs: Path, vault: Path) -> None:
    (docs / "mine.md").write_text("---\ntitle: Mine\nprivate: true\n---\n\nFor me alone.\n")
    co("article", "add", "docs/mine.md")
    (note,) = co.json("article", "list")["articles"]
    assert note["private"] is True
    assert all("-private" in path.name for folder in ("articles", "attachments") for path in (vault / folder).iterdir())


def test_a_file_without_text_is_passed_by_in_a_folder_and_an_error_where_it_was_named(co: Co, docs: Path) -> None:
    (docs / "blob.bin").write_bytes(bytes(range(256)) * 50)
    (docs / "empty.md").write_text("")
    found = co.json("article", "add", "docs")
    assert found["counts"] == {"added": 3, "skipped": 2}
    assert co("article", "add", "docs") == 0
    assert "skipped   docs/empty.md: " in co.out
    assert co("article", "add", "docs/blob.bin") == 2
    assert co.json("article", "add", "docs")["counts"] == {"unchanged": 3, "skipped": 2}


def test_real_documents_of_each_kind_are_found_by_what_they_say_and_where(co: Co, project: Path) -> None:
    mail = "From: Ada <ada@example.org>\nTo: Bo <bo@example.org>\nSubject: Count\n\nTwelve cormorants were counted.\n"
    files = {
        "report.pdf": (documents.pdf(["First.", "The bittern booms."]), "bittern", 2),
        "run.docx": (documents.docx(), "rolling", 0),
        "review.pptx": (documents.pptx(), "quarter incidents", 2),
        "costs.xlsx": (documents.xlsx(), "domain", 0),
        "sea.epub": (documents.epub(), "mast broke", 0),
        "count.eml": (mail.encode(), "cormorants", 0),
        "old.txt": ("Die Möwe fliegt über das Meer.".encode("latin-1"), "Möwe", 0),
        "code.py": (b"def kingfisher():\n    return 1\n", "kingfisher", 0),
    }
    for name, (raw, _, _) in files.items():
        (project / name).write_bytes(raw)
    assert co("article", "add", *files) == 0, co.out + co.err
    for name, (_, words, number) in files.items():
        first = co.json("recall", words)["results"][0]
        assert (co.json("article", "show", first["ref"])["source"], first.get("page") or 0) == (name, number)


def test_ctrl_c_keeps_what_was_read_and_says_how_to_go_on(co: Co, site: Site, docs: Path, kb: KnowledgeBase) -> None:
    def late(connection: socket.socket) -> None:
        time.sleep(0.6)
        connection.sendall(page(HERONS, Content_Type="text/html"))

    site.pages["/late"] = late
    site.pages["/never"] = lambda _connection: time.sleep(20)
    with terminal("article", "add", "docs", f"{site.url}/late", f"{site.url}/never") as seen:
        seen.wait_for("reading ")
        seen.wait_for("4 of 5")
        seen.interrupt()
        assert seen.end() == 130
    assert "What was taken in stays. The same command goes on from there." in seen.shown
    assert len(kb.articles().notes) == 4


def test_a_document_that_cannot_be_read_is_a_line_and_nothing_else(co: Co, docs: Path, vault: Path) -> None:
    bad = docs / "bad"
    bad.mkdir()
    (bad / "bomb.docx").write_bytes(documents.packed({"[Content_Types].xml": "<Types/>", "word/document.xml": bytes(10**8)}))
    (bad / "broken.pdf").write_bytes(documents.pdf(["abc"])[:300])
    (bad / "empty.pdf").write_bytes(b"")
    (bad / "locked.pdf").write_bytes(documents.pdf(["abc"], password="x"))
    for _ in range(2):  # what is remembered of them says the same
        assert co("article", "add", "docs/bad") == 1
        bomb, broken, empty, locked = co.out.splitlines()
        assert "too large" in bomb
        assert "damaged" in broken
        assert empty == "skipped   docs/bad/empty.pdf: This document is empty."
        assert "protected by a password. Save a copy without" in locked
        assert co.err == "1 skipped, 3 failed\n"
    assert not (vault / "articles").exists()
    assert not (vault / "attachments").exists()


def test_what_was_deleted_comes_back_when_its_folder_is_added_again_and_what_is_in_the_archive_stays(
    co: Co, docs: Path
) -> None:
    co("article", "add", "docs")
    co("article", "delete", "herons")
    co("knowledge", "--archive", "article:plan")
    again = outcomes(co.json("article", "add", "docs"))
    assert again == {"herons.md": "added", "plan.txt": "unchanged", "storks.html": "unchanged"}
    assert [note["ref"] for note in co.json("article", "list", "--archived")["articles"]] == ["article:plan"]


def test_a_tag_is_added_to_what_is_there_already(co: Co, docs: Path) -> None:
    co("article", "add", "docs", "-t", "one")
    assert set(outcomes(co.json("article", "add", "docs", "-t", "two")).values()) == {"updated"}
    assert {tuple(note["tags"]) for note in co.json("article", "list")["articles"]} == {("one", "two")}


def test_the_same_command_with_marks_only_looks_at_what_has_them(co: Co, docs: Path, files_read: list[str]) -> None:
    time.sleep(SETTLED)
    co("article", "add", "docs", "-t", "birds", "--private")
    files_read.clear()
    assert set(outcomes(co.json("article", "add", "docs", "-t", "birds", "--private")).values()) == {"unchanged"}
    assert files_read == []
    assert set(outcomes(co.json("article", "add", "docs", "-t", "rivers")).values()) == {"updated"}


def test_a_mark_does_not_have_the_same_page_sent_again(co: Co, site: Site, kb: KnowledgeBase) -> None:
    site.pages["/herons"] = page(HERONS, Content_Type="text/html", ETag='"one"')
    co("article", "add", f"{site.url}/herons")
    site.pages["/herons"] = page(b"", "304 Not Modified", ETag='"one"')
    before = kb.article("on-herons")
    assert co("article", "add", f"{site.url}/herons", "-t", "birds", "--title", "Herons") == 0
    assert co.out == f"updated   {site.url}/herons → article:on-herons\n"
    assert site.asked == ["/robots.txt", "/herons", "/herons"], "the second time only whether it is another"
    after = kb.article("on-herons")
    assert (after.tags, after.title, after.body) == (("birds",), "Herons", before.body)
    assert (kb.details(after).etag, kb.original(after)) == ('"one"', HERONS)


@pytest.mark.parametrize("header", ["private: true", "title: {{ title }}: [\nprivate: true"], ids=["plain", "of a template"])
def test_a_markdown_file_that_calls_itself_private_stays_private(header: str, co: Co, docs: Path, vault: Path) -> None:
    (docs / "birds" / "nest.md").write_text(f"---\n{header}\n---\nThe nest is behind the mill.\n")
    co("article", "add", "docs/birds/nest.md")
    (note,) = co.json("article", "list")["articles"]
    assert note["private"]
    assert note["ref"].endswith("-private")
    assert all("-private" in path.name for path in vault.rglob("*.md") if path.name != "context.md")


def test_a_dry_run_says_what_would_be_done_and_does_nothing(co: Co, docs: Path, vault: Path) -> None:
    found = co.json("article", "add", "docs", "--dry-run")
    assert found["counts"] == {"would-add": 3}
    assert not (vault / "articles").exists()
    co("article", "add", "docs")
    (docs / "plan.txt").write_text("Another plan.")
    assert co.json("article", "add", "docs", "--dry-run")["counts"] == {"would-update": 1, "unchanged": 2}
    assert co.json("article", "add", "docs")["counts"] == {"updated": 1, "unchanged": 2}


# ------------------------------------------------------------------------------------------------- sources that live on


def test_refresh_shows_what_changed_and_replaces_it_only_after_a_yes(co: Co, site: Site, kb: KnowledgeBase) -> None:
    site.pages["/herons"] = page(HERONS, Content_Type="text/html", ETag='"one"')
    site.pages["/storks"] = page(HERONS.replace(b"Heron", b"Stork"), Content_Type="text/html")
    co("article", "add", f"{site.url}/herons", f"{site.url}/storks")
    assert co("article", "refresh") == 0
    assert (co.out, co.err) == ("", "2 unchanged\n")

    site.pages["/herons"] = page(FLYING, Content_Type="text/html", ETag='"two"')
    assert co("article", "refresh") == 5
    assert "-Herons stand still" in co.out
    assert "+Herons fly slowly" in co.out
    assert "co article refresh --yes" in co.err
    assert "stand still" in kb.article("on-herons").body
    assert co.json("article", "refresh", "--yes")["counts"] == {"unchanged": 1, "updated": 1}
    assert "fly slowly" in kb.article("on-herons").body
    assert co.json("article", "refresh", "on-herons")["counts"] == {"unchanged": 1}
    assert co("undo") == 0
    assert kb.original(kb.article("on-herons")) == HERONS


def test_refresh_reads_files_too(co: Co, docs: Path) -> None:
    co("article", "add", "docs")
    (docs / "birds" / "herons.md").write_text("# Herons\n\nThey fly.\n")
    (docs / "plan.txt").unlink()
    found = co.json("article", "refresh", "--yes")
    assert {row["ref"]: row["outcome"] for row in found["articles"]} == {
        "article:herons": "updated",
        "article:plan": "dead",
        "article:on-storks": "unchanged",
    }


@pytest.mark.parametrize("sha256", ["", "0" * 64], ids=["by an agent", "by a cloned project"])
def test_refresh_takes_no_file_from_outside_of_the_project_unseen(
    sha256: str, co: Co, kb: KnowledgeBase, tmp_path: Path
) -> None:
    diary = tmp_path / "diary.txt"
    diary.write_text("Nobody is to read this.")
    kb.save_article("Herons stand still.", source=str(diary), title="Herons", sha256=sha256)
    assert co.json("article", "refresh", "--yes")["counts"] == {"left": 1}
    assert kb.article("herons").body == "Herons stand still."
    assert f"co article add {diary}" in co.err
    assert co("article", "add", str(diary)) == 0
    assert kb.article("herons").body == "Nobody is to read this."


def test_check_finds_what_is_gone_and_removes_nothing(co: Co, site: Site, docs: Path, kb: KnowledgeBase) -> None:
    for name in ("herons", "storks", "moved", "closed", "down"):
        site.pages[f"/{name}"] = page(HERONS.replace(b"Heron", name.encode()), Content_Type="text/html")
        co("article", "add", f"{site.url}/{name}")
    co("article", "add", "docs/plan.txt")
    kb.save_article("What the model said.", source="a conversation", title="Said")
    assert co.json("article", "check")["counts"] == {"alive": 6, "no-source": 1}

    site.pages["/storks"] = page(b"", "410 Gone")
    site.pages["/moved"] = redirect("/herons")
    site.pages["/closed"] = page(b"", "403 Forbidden")
    site.pages["/down"] = page(b"", "503 Service Unavailable")
    (docs / "plan.txt").unlink()
    before = kb.articles().notes
    assert co("article", "check") == 1
    found = {row["source"].rpartition("/")[2]: row["outcome"] for row in co.json("article", "check")["articles"]}
    assert found == {
        "herons": "alive",
        "storks": "dead",
        "moved": "moved",
        "closed": "refused",
        "down": "unreachable",
        "plan.txt": "dead",
        "a conversation": "no-source",
    }
    assert kb.articles().notes == before


def test_status_says_how_many_originals_there_are(co: Co, docs: Path) -> None:
    co("article", "add", "docs")
    assert co("status") == 0
    assert "3 articles; 2 originals with 0.0 MB" in co.out
    assert co.json("status")["vaults"][0]["originals"]["files"] == 2


def test_an_article_that_is_not_there_is_said_to_be_so(co: Co) -> None:
    for action in ("show", "delete", "refresh", "check"):
        assert co("article", action, "nothing") == 3
    assert co("article", "list") == 0
    assert "co article add" in co.err


def test_hosts_that_are_none_are_refused_when_they_are_set(co: Co) -> None:
    assert co("config", "set", "fetch_allow", "not a host!!") == 2
    assert "is no host and no network" in co.err
    assert co("config", "set", "fetch_allow", "127.0.0.1:8000, 10.0.0.0/8") == 0
