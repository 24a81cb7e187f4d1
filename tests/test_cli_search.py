"""What the index brings to the command line: passages, links, coverage, and making it anew."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from commands import Co

from co_cli import KnowledgeBase
from co_cli.surfaces.cli.progress import line

CREATED = "created: 2026-05-01T10:00:00+00:00"
FILLING = "Nothing of interest stands here, and it goes on for a while. " * 20


# Where the tests run in the background, SIGINT is ignored, and processes hand that down.
REINDEXING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from co_cli.surfaces.cli.main import main
raise SystemExit(main(["knowledge", "--reindex"]))
"""


def write(vault: Path, kind: str, name: str, body: str, header: str = "") -> Path:
    """A note as another program would leave it."""
    path = vault / kind / f"{name}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"---\n{CREATED}\n{header}---\n\n{body}\n")
    return path


@pytest.fixture
def linked(vault: Path, co: Co) -> Path:
    """A topic, a memory and an article that point to each other, and to nothing."""
    write(
        vault,
        "topics",
        "deploy-guide",
        "# How we deploy\n\nSee [[1]], [the page](../articles/rfc.md) and [[Rollback plan]].",
    )
    write(vault, "articles", "rfc", "It is quoted in [[How we deploy]] and in [[deploy-guide]].", "title: HTTP Semantics\n")
    co("learn", "Read [[deploy-guide]] before you deploy")
    return vault


# ----------------------------------------------------------------------------------------------------------- passages


@pytest.mark.parametrize("mode", ["grep", "text", "hybrid"])
def test_a_hit_in_a_long_note_shows_the_passage_and_its_place_and_show_has_the_whole(mode: str, co: Co, vault: Path) -> None:
    sections = [f"## Part {number}\n\n{FILLING}{'The quokka jumps.' if number == 7 else ''}" for number in range(12)]
    write(vault, "articles", "animals", "# Animals\n\n" + "\n\n".join(sections), "title: Animals\n")
    (hit,) = co.json("recall", "quokka", "--mode", mode)["results"]
    assert hit["content"].startswith("## Part 7")
    assert hit["content"].endswith("The quokka jumps.")
    assert hit["heading"] == "Animals > Part 7"
    co("recall", "quokka", "--mode", mode)
    assert (
        f"(article:animals#part-7: line {hit['line']}, under Animals > Part 7; co show article:animals has the whole)"
        in co.out
    )
    assert "## Part 6" not in co.out
    co("show", "article:animals")
    assert "## Part 6" in co.out


def test_a_short_note_is_shown_as_it_is(co: Co) -> None:
    co("learn", "We deploy on Fridays")
    (hit,) = co.json("recall", "fridays", "--mode", "text")["results"]
    assert "heading" not in hit
    assert hit["content"] == "We deploy on Fridays"


def test_a_page_that_was_taken_in_is_dated_by_the_day_of_that(co: Co, vault: Path) -> None:
    path = vault / "articles" / "page.md"
    path.parent.mkdir()
    path.write_text("---\nsource: https://example.org\nfetched: 2026-05-01T10:00:00+00:00\n---\n\nAbout quokkas\n")
    for mode in ("grep", "text"):
        assert co.json("recall", "quokkas since:2026-04 before:2026-06", "--mode", mode)["count"] == 1
        assert co.json("recall", "quokkas since:2026-06", "--mode", mode)["count"] == 0


# -------------------------------------------------------------------------------------------------------------- links


def test_show_names_the_notes_that_a_note_is_linked_with(co: Co, linked: Path) -> None:
    assert co("show", "topic:deploy-guide", "--links") == 0
    assert co.out.splitlines() == [
        "→ [1] Read [[deploy-guide]] before you deploy",
        "→ [article:rfc] HTTP Semantics",
        "→ [[Rollback plan]] leads nowhere",
        "← [article:rfc] HTTP Semantics",
        "← [1] Read [[deploy-guide]] before you deploy",
    ]
    links = co.json("show", "1", "--links")["links"]
    assert [(link["ref"], link["incoming"], link["written"], link["line"]) for link in links] == [
        ("topic:deploy-guide", False, "[[deploy-guide]]", 1),
        ("topic:deploy-guide", True, "[[1]]", 3),
    ]
    co("learn", "Alone")
    assert co("show", "2", "--links") == 0
    assert "linked with no other note" in co.err


def test_recall_names_the_neighbours_of_each_hit_on_request(co: Co, linked: Path) -> None:
    co("recall", "semantics quoted", "--links", "--mode", "text")
    assert co.out.splitlines()[-2:] == ["→ [topic:deploy-guide] How we deploy", "← [topic:deploy-guide] How we deploy"]
    (hit,) = co.json("recall", "quoted", "--links")["results"]
    assert {link["ref"] for link in hit["links"]} == {"topic:deploy-guide"}
    assert "links" not in co.json("recall", "quoted")["results"][0]


def test_links_follow_the_files(co: Co, linked: Path) -> None:
    co("show", "topic:deploy-guide", "--links")
    (linked / "articles" / "rfc.md").rename(linked / "articles" / "semantics.md")
    co("show", "topic:deploy-guide", "--links")
    assert "→ [the page](../articles/rfc.md) leads nowhere" in co.out
    assert "← [article:semantics] HTTP Semantics" in co.out


def test_a_link_between_the_vaults_is_followed(co: Co) -> None:
    co("learn", "Tabs, not spaces", "--global")
    co("learn", "As in [[g:1]]")
    co("show", "g:1", "--links")
    assert co.out == "← [1] As in [[g:1]]\n"


def test_the_doctor_names_broken_links_with_their_line(co: Co, linked: Path) -> None:
    (linked / "attachments").mkdir()
    (linked / "attachments" / "plan.pdf").write_bytes(b"%PDF")
    write(linked, "topics", "files", "![[plan.pdf]] [plan](../attachments/plan.pdf)\n\n[lost](lost.pdf) [[plan.pdf]]")
    report = co.json("doctor")
    broken = [(Path(found["path"]).name, found["line"], found["message"]) for found in report["findings"]]
    assert broken == [
        ("deploy-guide.md", 7, "[[Rollback plan]] leads nowhere"),
        ("files.md", 7, "[lost](lost.pdf) leads nowhere"),
    ]
    assert {found["code"] for found in report["findings"]} == {"broken-link"}


def test_the_doctor_does_not_quote_a_private_note(co: Co) -> None:
    co("learn", "My doctor is [[Miriam Adler]]", "--private")
    assert co("doctor") == 1
    assert "Miriam" not in co.out + co.err
    assert "a link leads nowhere" in co.out


# ------------------------------------------------------------------------------------------------------------- the index


def test_status_tells_how_much_is_indexed_and_how_much_has_a_vector(co: Co, kb: KnowledgeBase) -> None:
    for number in range(3):
        kb.save(f"Fact number {number} is about herons")
    before = co.json("status")["search"]
    assert (before["mode"], before["indexes"]["project"]["exists"]) == ("grep", False)
    co("recall", "herons", "--mode", "text")
    kb.save("One that is not indexed yet")
    index = co.json("status")["search"]["indexes"]["project"]
    assert (index["files"], index["indexed"], index["passages"], index["vectors"]) == (4, 3, 3, 0)
    co("recall", "herons", "--mode", "hybrid")
    co("status")
    assert "4 of 4 notes in the project index, 4 of 4 passages with a vector" in co.out


def test_looking_at_the_status_makes_no_index(co: Co, kb: KnowledgeBase, vault: Path) -> None:
    kb.save("A fact")
    co("status")
    co("doctor")
    assert not (vault / "knowledge.db").exists()


def test_status_says_which_way_of_searching_so_many_notes_call_for(co: Co, kb: KnowledgeBase) -> None:
    for number in range(5):
        kb.save(f"Fact number {number}")
    modes = []
    for text_from, hybrid_from in ((6, 7), (5, 6), (4, 5)):
        co("config", "set", "text_from", str(text_from))
        co("config", "set", "hybrid_from", str(hybrid_from))
        modes.append(co.json("status")["search"]["mode"])
        assert co.json("recall", "fact")["mode"] == modes[-1]
    assert modes == ["grep", "text", "hybrid"]


def test_reindex_makes_the_index_anew_and_reports_what_became_of_each_file(co: Co, kb: KnowledgeBase, vault: Path) -> None:
    for number in range(3):
        kb.save(f"Fact number {number}")
    (vault / "memories" / "004-broken.md").write_text("---\nid: [\n---\n\nbroken\n")
    (done,) = co.json("knowledge", "--reindex")["vaults"]
    assert [Path(path).name[:3] for path in sorted(done["indexed"])] == ["001", "002", "003"]
    assert [(Path(each["path"]).name, each["line"]) for each in done["skipped"]] == [("004-broken.md", 2)]
    assert done["skipped"][0]["reason"]
    assert (done["passages"], done["vectors"], done["unchanged"]) == (3, 3, 0)
    assert co("knowledge", "--reindex") == 0
    assert "✓ project: 3 notes indexed, 1 skipped, 3 vectors in" in co.out
    assert "004-broken.md:2" in co.err


def test_without_an_embedder_reindex_makes_no_vectors(co: Co, kb: KnowledgeBase) -> None:
    kb.save("A fact")
    co("config", "set", "embedder", "none")
    assert co("knowledge", "--reindex") == 0
    assert "vector" not in co.out + co.err


def test_reindex_without_a_vault_says_so(co: Co) -> None:
    assert co("knowledge", "--reindex") == 0
    assert "There is no vault yet" in co.out


@pytest.mark.slow
def test_an_interrupted_reindex_goes_on_where_it_was(co: Co, vault: Path, project: Path) -> None:
    for number in range(1, 6001):
        (vault / "memories" / f"{number:03d}-fact.md").write_text(
            f"---\nid: {number}\n{CREATED}\ntags: []\nsource: user-told\n---\n\nFact {number}. {FILLING}\n"
        )
    process = subprocess.Popen(
        [sys.executable, "-c", REINDEXING], cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    database = vault / "knowledge.db"
    deadline = time.monotonic() + 30
    while _indexed(database) < 500 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _out, err = process.communicate(timeout=30)
    assert (process.returncode, "Interrupted" in err) == (130, True)
    (done,) = co.json("knowledge", "--reindex")["vaults"]
    assert done["unchanged"] >= 500
    assert len(done["indexed"]) + done["unchanged"] == done["files"] == done["vectors"] == 6000
    (again,) = co.json("knowledge", "--reindex")["vaults"]
    assert (len(again["indexed"]), again["unchanged"]) == (6000, 0)


def _indexed(database: Path) -> int:
    if not database.exists():
        return 0
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection, connection:
        try:
            return connection.execute("SELECT count(*) FROM notes").fetchone()[0]
        except sqlite3.Error:
            return 0


def test_the_doctor_finds_an_index_that_says_something_else_than_the_files(co: Co, kb: KnowledgeBase, vault: Path) -> None:
    kb.save("We deploy on Fridays")
    time.sleep(0.1)
    co("recall", "fridays", "--mode", "text")
    assert co("doctor") == 0
    with closing(sqlite3.connect(vault / "knowledge.db")) as connection, connection:
        connection.execute("UPDATE notes SET sha = x'00'")
    report = co.json("doctor")
    assert [(found["code"], found["mendable"]) for found in report["findings"]] == [("index-differs", True)]
    assert co("doctor", "--fix") == 0
    assert b"friday" not in (vault / "knowledge.db").read_bytes()  # emptied where it is, since others may have it open
    assert co.json("recall", "fridays", "--mode", "text")["count"] == 1
    assert co("doctor") == 0


@pytest.mark.parametrize("damage", ["DELETE FROM totals", "DROP TABLE links", "UPDATE totals SET terms = 0", ""])
def test_the_doctor_finds_a_damaged_index_and_throws_it_away(damage: str, co: Co, kb: KnowledgeBase, vault: Path) -> None:
    kb.save("We deploy on Fridays")
    co("recall", "fridays", "--mode", "text")
    database = vault / "knowledge.db"
    if damage:
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.executescript(damage)
    else:
        database.write_bytes(b"no database at all" * 300)
    assert [found["code"] for found in co.json("doctor")["findings"]] == ["index-damaged"]
    assert co("doctor", "--fix") == 0
    assert "thrown away" in co.out
    assert co.json("recall", "fridays", "--mode", "text")["count"] == 1


# ----------------------------------------------------------------------------------------------------------- progress


def test_the_line_of_progress_says_how_far_it_is_how_fast_and_how_long_it_takes() -> None:
    assert line("indexing", 500, 1000, 250.0).endswith(" 50 % · 500 of 1,000 · 250/s · 2 s left")
    assert line("embedding", 0, 100_000, 100.0).endswith(" 0 % · 0 of 100,000 · 100/s · 16 min 40 s left")
    assert line("indexing", 0, 0, 0.0).endswith(" 0 % · 0 of 0")


def test_where_stderr_is_no_terminal_there_is_no_progress(co: Co, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("co_cli.surfaces.cli.progress._SILENT", 0.0)  # else only what takes its time is mentioned
    for number in range(100):
        write(vault, "topics", f"fact-{number}", f"Fact number {number} stands by itself")
    for on_a_terminal in (False, True):
        monkeypatch.setattr("sys.stderr.isatty", lambda answer=on_a_terminal: answer)
        assert co("knowledge", "--reindex") == 0
        assert ("%" in co.err) is on_a_terminal
        assert ("\r" in co.err) is on_a_terminal


def test_a_note_that_has_none_of_the_words_but_stands_among_them_says_so(co: Co, vault: Path) -> None:
    for number, said in enumerate(["Where were the quokkas?", "On the island.", "How many quokkas were there?"], start=1):
        write(vault, "articles", f"{number:03d}", said, "title: A talk about a trip\n")
    found = co.json("recall", "quokkas", "--mode", "text")["results"]
    assert {result["content"]: result["why"]["match"] for result in found} == {
        "Where were the quokkas?": "all words",
        "How many quokkas were there?": "all words",
        "On the island.": "beside",
    }


def test_links_are_followed_although_the_index_is_damaged(co: Co, linked: Path) -> None:
    co("show", "topic:deploy-guide", "--links")
    before = co.out
    with closing(sqlite3.connect(linked / "knowledge.db")) as connection, connection:
        connection.executescript("DROP TABLE links")
    assert co("show", "topic:deploy-guide", "--links") == 0
    assert co.out == before
