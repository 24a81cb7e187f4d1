"""A linked folder is found where it is, by what its files say now, and never gets a byte written to it."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from commands import Co
from hypothesis import given
from hypothesis import strategies as st
from indexes import choose
from mcp import Client
from mcp_clients import said, talk
from processes import AS_NOBODY, give_away, open_to_all, run, snapshot

from co_cli import CoError, Conflict, Invalid, KnowledgeBase, NotFound, open_knowledge
from co_cli.index.store import named, stored
from co_cli.linked import LARGEST, MOST_FILES, LinkedFolder, read_leniently
from co_cli.note import Note, NoteError
from co_cli.tools import Caller, knowledge_delete, knowledge_search

MODES = pytest.mark.parametrize("mode", ["grep", "text", "hybrid"])


@pytest.fixture
def obsidian(tmp_path: Path) -> Path:
    """A vault as Obsidian leaves it."""
    top = tmp_path / "My Notes"
    files = {
        "Start here.md": "---\ntags: [start, '#inbox']\naliases:\n  - Front door\ncssclass: wide\n---\nSee [[Install]] and "
        "[[Projekte/Größe/Über uns|us]].\n",
        "Install.md": "# Installing the quokka\n\nFirst the drum, then the valve. #setup/first\n\n"
        "```sh\n# no #heading\n```\n",
        "Projekte/Größe/Über uns.md": "Wir zählen Wombats. Zurück: [Start](../../Start%20here.md)\n",
        "Daily/2026-02-09.md": "---\ntags: daily, log\ndate: 2026-02-09\n---\nSaw a heron. #birds\n",
        "Templates/New.md": "---\ntitle: {{title}}\ncreated: {{date}}\n---\nTemplate of a pelican\n",
        "notes.txt": "Plain text about a cassowary\n",
        "Board.canvas": '{"nodes": [{"text": "heron on a canvas"}]}',
        "attachments/picture.png": "heron in a picture",
        ".obsidian/workspace.md": "heron in the settings",
        ".trash/Old.md": "heron in the trash",
        "node_modules/pkg/README.md": "heron in a package",
    }
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return top


@pytest.fixture
def linked(obsidian: Path, kb: KnowledgeBase) -> KnowledgeBase:
    kb.link(str(obsidian), name="notes")
    return kb


def refs(kb: KnowledgeBase, query: str, mode: str = "text", **how: object) -> list[str]:
    return [hit.note.ref for hit in kb.recall(query, mode=mode, **how).hits]  # type: ignore[arg-type]


def note_of(text: str | bytes, name: str = "a.md") -> Note:
    raw = text if isinstance(text, bytes) else text.encode()
    return read_leniently(raw, vault="docs", path=f"/docs/{name}", name=name)


# --------------------------------------------------------------------------------------------------------------- finding


@MODES
def test_the_notes_of_a_linked_folder_are_found_and_nothing_else_in_it_is(mode: str, linked: KnowledgeBase) -> None:
    found = [hit.note.ref for hit in linked.recall("heron", mode=mode).hits if hit.why.words]
    assert found == ["notes:Daily/2026-02-09"]
    assert refs(linked, "wombats", mode)[0] == "notes:Projekte/Größe/Über uns"
    assert refs(linked, "cassowary", mode)[0] == "notes:notes.txt"
    assert refs(linked, "pelican", mode)[0] == "notes:Templates/New"


def test_a_note_is_found_by_its_file_name_its_aliases_and_its_tags(linked: KnowledgeBase) -> None:
    assert refs(linked, "front door") == ["notes:Start here"]
    assert refs(linked, "start")[0] == "notes:Start here"
    assert refs(linked, "install") == ["notes:Install", "notes:Start here"]
    assert refs(linked, "valve", tags=["setup/first"]) == ["notes:Install"]
    assert refs(linked, "heron", tags=["birds", "log"]) == ["notes:Daily/2026-02-09"]
    assert refs(linked, "heron", tags=["heading"]) == []


def test_few_notes_are_ranked_as_soon_as_a_folder_is_linked(linked: KnowledgeBase, obsidian: Path) -> None:
    assert linked.recall("install").mode == linked.mode() == "text"
    linked.unlink("notes")
    assert linked.recall("install").mode == linked.mode() == "grep"


def test_a_hit_says_where_it_is_from_and_its_citation_leads_there(co: Co, obsidian: Path) -> None:
    long = "\n\n".join(f"## Part {number}\n\n{'Some words on birds. ' * 60}" for number in range(5))
    (obsidian / "guide").mkdir()
    (obsidian / "guide" / "birds.md").write_text(f"# Birds\n\n{long}\n\n## The kiwi\n\nA kiwi has no tail.\n")
    co("article", "link", str(obsidian), "--name", "docs")
    (hit,) = co.json("recall", "kiwi", "--mode", "text")["results"]
    assert (hit["cite"], hit["scope"], hit["kind"]) == ("docs:guide/birds#the-kiwi", "docs", "article")
    assert hit["path"] == str(obsidian / "guide" / "birds.md")
    assert co.json("show", hit["cite"])["text"] == "## The kiwi\n\nA kiwi has no tail."
    assert co("recall", "kiwi") == 0
    assert "[docs:guide/birds]" in co.out


@MODES
def test_what_changes_in_the_folder_is_seen_by_the_next_query(mode: str, linked: KnowledgeBase, obsidian: Path) -> None:
    assert refs(linked, "drum", mode)[:1] == ["notes:Install"]
    (obsidian / "Install.md").write_text("Now with a trumpet\n")
    (obsidian / "Neu").mkdir()
    (obsidian / "Neu" / "Ibis.md").write_text("An ibis came\n")
    (obsidian / "notes.txt").unlink()
    os.rename(obsidian / "Projekte", obsidian / "Projects")
    for query, ref in (("trumpet", "Install"), ("ibis", "Neu/Ibis"), ("wombats", "Projects/Größe/Über uns")):
        assert refs(linked, query, mode)[0] == f"notes:{ref}"
    for gone in ("drum", "cassowary"):
        assert not any(hit.why.words for hit in linked.recall(gone, mode=mode).hits)


def test_a_file_that_was_moved_keeps_its_vectors(linked: KnowledgeBase, obsidian: Path) -> None:
    linked.sync()
    os.rename(obsidian / "Install.md", obsidian / "Daily" / "Install.md")
    report = linked.sync()["notes"]
    assert (report.indexed, report.removed) == ((), ())
    assert report.renamed == (str(obsidian / "Daily" / "Install.md"),)


def test_memories_alone_are_looked_for_without_a_look_at_the_folder(linked: KnowledgeBase) -> None:
    linked.save("The heron is ours")
    assert refs(linked, "heron", kinds=["memory"]) == ["1"]
    assert [note.ref for note in linked.match("heron")] == ["1"]
    assert [note.ref for note in linked.list(("memory", "topic", "article")).notes] == ["1"]


# ------------------------------------------------------------------------------------------------------- never written to


def test_no_command_changes_a_byte_or_a_time_in_the_folder(co: Co, obsidian: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.symlink(obsidian / "Install.md", obsidian / "link.md")
    monkeypatch.setenv("EDITOR", "touch")
    before = snapshot(obsidian)
    folder = obsidian.stat()
    co("learn", "We use [[notes:Install]] here")
    assert co("article", "link", str(obsidian), "--name", "notes") == 0
    for mode in ("grep", "text", "vector", "hybrid"):
        assert co("recall", "install the quokka", "--mode", mode, "--why", "--links") == 0
    for command in (
        "show notes:Install --links",
        "status",
        "doctor",
        "doctor --fix",
        "knowledge --reindex",
        "article links",
        "list",
        "log",
        "prompt",
        "usage",
        "knowledge --check",
        "article link . --name here",
    ):
        co(*command.split())
    for command in (
        "edit notes:Install",
        "edit notes:Install --content x",
        "forget notes:Install --yes",
        "pin notes:Install",
    ):
        assert co(*command.split()) == 5, command
    co("undo")
    assert co("article", "unlink", "notes") == 0
    assert snapshot(obsidian) == before
    assert (obsidian.stat().st_mtime_ns, obsidian.stat().st_mode) == (folder.st_mtime_ns, folder.st_mode)


@pytest.mark.parametrize(
    "verb",
    [
        lambda kb, ref: kb.update(ref, content="x"),
        lambda kb, ref: kb.update(ref, pinned=True),
        lambda kb, ref: kb.forget(ref),
        lambda kb, ref: kb.archive([ref]),
        lambda kb, ref: kb.archive([ref], restore=True),
        lambda kb, ref: kb.promote(ref),
        lambda kb, ref: kb.demote(ref),
        lambda kb, ref: kb.purge(ref),
        lambda kb, ref: kb.rehearse(lambda base: base.forget(ref)),
        knowledge_delete,
    ],
)
def test_every_verb_that_writes_is_denied_and_names_the_file(
    verb: Callable[[KnowledgeBase, str], object], linked: KnowledgeBase, obsidian: Path
) -> None:
    before = snapshot(obsidian)
    with pytest.raises(CoError) as refused:
        verb(linked, "notes:Install")
    assert refused.value.kind == "denied"
    assert str(obsidian / "Install.md") in refused.value.hint
    assert snapshot(obsidian) == before


@pytest.mark.parametrize("action", ["show", "delete", "refresh", "check"])
def test_what_is_done_with_articles_sends_a_linked_note_to_where_it_is_found(
    action: str, co: Co, linked: KnowledgeBase, obsidian: Path
) -> None:
    before = snapshot(obsidian)
    assert co("article", action, "notes:Install") == 2
    assert "co show notes:Install" in co.err
    assert snapshot(obsidian) == before


def test_the_index_lies_in_the_cache_and_goes_with_the_link(linked: KnowledgeBase, obsidian: Path) -> None:
    linked.recall("quokka", mode="text")
    folder = Path(linked.places.cache) / "index"
    assert [path.name.rpartition("-")[0] for path in folder.glob("*.db")] == ["linked-notes"]
    linked.unlink("notes")
    assert list(folder.glob("linked-*")) == []
    assert refs(linked, "quokka") == []


def test_nothing_of_a_linked_folder_is_exported_and_no_export_goes_there(
    co: Co, linked: KnowledgeBase, obsidian: Path, tmp_path: Path
) -> None:
    linked.save("The quokka is ours")
    before = snapshot(obsidian)
    assert co("knowledge", "--export", str(tmp_path / "out")) == 0
    exported = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert b"The quokka is ours" in exported
    assert b"Installing" not in exported
    assert co("knowledge", "--export", str(obsidian / "export")) == 2
    assert snapshot(obsidian) == before


# ------------------------------------------------------------------------------------------------------------ what is linked


def test_a_folder_is_linked_for_one_project_or_for_all(obsidian: Path, kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "other" / ".git").mkdir(parents=True)
    other = open_knowledge(tmp_path / "other")
    kb.link(str(obsidian), name="notes")
    assert refs(other, "quokka") == []
    other.link(str(obsidian), name="notes", in_global=True)
    assert refs(other, "quokka") == ["notes:Install"]
    kb.unlink("notes")
    assert refs(other, "quokka") == ["notes:Install"], "it is linked there in its own right"
    assert refs(kb, "quokka") == ["notes:Install"]
    kb.unlink(str(obsidian))
    assert kb.links() == other.links() == ()


def test_what_arrives_with_a_project_links_nothing(obsidian: Path, kb: KnowledgeBase, project: Path) -> None:
    entry = {"links": [{"name": "notes", "folder": str(obsidian), "project": "", "private": False}]}
    for name in (".co-cli/links.json", ".co-cli/knowledge/links.json", "links.json"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(json.dumps(entry))
    (project / ".co-cli" / "settings.json").write_text(json.dumps(entry))
    assert kb.links() == ()
    assert refs(kb, "quokka") == []


def test_links_out_of_the_folder_are_not_followed(obsidian: Path, kb: KnowledgeBase, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("The secret of the emu\n")
    os.symlink(outside / "secret.md", obsidian / "secret.md")
    os.symlink(outside, obsidian / "more")
    os.symlink(obsidian, obsidian / "loop")
    os.mkfifo(obsidian / "pipe.md")
    state = kb.link(str(obsidian), name="notes")
    assert sorted(name for name, _why in state.skipped) == ["loop", "more", "secret.md"]
    for mode in ("grep", "text"):
        assert refs(kb, "emu", mode) == []
    for ref in ("notes:secret", "notes:more/secret", "notes:../outside/secret", f"notes:{outside}/secret", "notes:pipe"):
        with pytest.raises(NotFound):
            kb.get(ref)
    shutil.rmtree(obsidian / "Daily")  # a folder that is known becomes a link
    os.symlink(outside, obsidian / "Daily")
    (outside / "2026-02-09.md").write_text("A heron and an emu\n")
    for mode in ("grep", "text"):
        assert refs(kb, "emu", mode) == []


@pytest.mark.parametrize(
    "name",
    [
        "g",
        "p",
        "topic",
        "Topic",
        "memory",
        "global",
        "project",
        "team",
        "tag",
        "http",
        "12",
        "a b",
        "a:b",
        "a/b",
        "-x",
        "Docs",
    ],
)
def test_a_name_that_would_mean_something_else_is_refused(name: str, kb: KnowledgeBase, obsidian: Path) -> None:
    with pytest.raises(Invalid, match="cannot be called"):
        kb.link(str(obsidian), name=name)
    assert kb.links() == ()


def test_a_name_is_made_of_that_of_the_folder(kb: KnowledgeBase, obsidian: Path, tmp_path: Path) -> None:
    assert kb.link(str(obsidian)).link.name == "my-notes"
    (tmp_path / "知識").mkdir()
    assert kb.link(str(tmp_path / "知識")).link.name == "知識"
    (tmp_path / "topics").mkdir()
    with pytest.raises(Invalid) as refused:
        kb.link(str(tmp_path / "topics"))
    assert "--name docs" in refused.value.hint


def test_a_folder_linked_again_gets_the_new_name_or_privacy(kb: KnowledgeBase, obsidian: Path, tmp_path: Path) -> None:
    kb.link(str(obsidian), name="notes")
    kb.link(str(obsidian), name="brain", private=True)
    (state,) = kb.links()
    assert (state.link.name, state.link.private) == ("brain", True)
    (tmp_path / "b").mkdir()
    with pytest.raises(Conflict, match="brain already"):
        kb.link(str(tmp_path / "b"), name="brain")


def test_a_vault_of_co_and_what_is_no_folder_are_refused(kb: KnowledgeBase, project: Path, tmp_path: Path) -> None:
    kb.save("one")
    for folder in (project / ".co-cli" / "knowledge", project / ".co-cli" / "knowledge" / "memories", project / ".co-cli"):
        with pytest.raises(Invalid, match="a vault of co"):
            kb.link(str(folder), name="x")
    with pytest.raises(NotFound):
        kb.link(str(tmp_path / "nowhere"), name="x")
    assert kb.link(str(project), name="x").files == 0, "hidden folders are not looked into"


def test_many_may_link_at_once(kb: KnowledgeBase, tmp_path: Path) -> None:
    folders = [tmp_path / f"folder-{number}" for number in range(12)]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda folder: kb.link(str(folder)), folders))
    assert sorted(state.link.folder for state in kb.links()) == sorted(map(str, folders))


def test_a_list_that_cannot_be_read_is_said_and_stops_no_search(co: Co, linked: KnowledgeBase) -> None:
    linked.save("Herons fish at dawn")
    (Path(linked.places.home) / "links.json").write_text('{"links": [{"name": "g", "folder": "/"}]}')
    assert co("recall", "herons") == 0
    assert "Herons fish" in co.out
    assert "no linked folder is read" in co.err
    assert co("article", "links") == 1
    assert "links.json:1" in co.err


# --------------------------------------------------------------------------------------------------- gone, closed, too much


def test_a_folder_that_is_gone_is_said_and_nothing_is_lost(co: Co, linked: KnowledgeBase, obsidian: Path) -> None:
    linked.sync()
    os.rename(obsidian, obsidian.with_name("elsewhere"))
    assert co("recall", "quokka") == 0
    assert "the linked folder notes is not there" in co.err
    assert co("doctor") == 1
    assert "co article unlink notes" in co.out
    for command in ("status", "article links"):
        assert co(*command.split()) == 0
        assert "it is not there" in co.out
    assert co("show", "notes:Install") == 3
    os.rename(obsidian.with_name("elsewhere"), obsidian)
    report = linked.sync()["notes"]
    assert (report.indexed, report.removed) == ((), ())
    assert refs(linked, "quokka") == ["notes:Install"]


def test_an_empty_folder_where_a_disk_should_be_takes_nothing_away(linked: KnowledgeBase, obsidian: Path) -> None:
    linked.sync()
    os.rename(obsidian, obsidian.with_name("disk"))
    obsidian.mkdir()
    assert refs(linked, "quokka") == []
    obsidian.rmdir()
    os.rename(obsidian.with_name("disk"), obsidian)
    assert linked.sync()["notes"].indexed == ()


CLOSED = (
    AS_NOBODY
    + """
top = sys.argv[1]
def recalled(kb):
    found = kb.recall("heron", mode="text")
    return [hit.note.ref for hit in found.hits], [problem.path for problem in found.problems]

real = dict(os.environ)
with tempfile.TemporaryDirectory() as scratch:  # once, so that all is imported
    os.environ.update(CO_HOME=f"{scratch}/home", XDG_STATE_HOME=f"{scratch}/state", XDG_CACHE_HOME=f"{scratch}/cache")
    os.makedirs(f"{scratch}/project"), os.makedirs(f"{scratch}/docs")
    pathlib.Path(scratch, "docs", "a.md").write_text("heron")
    kb = open_knowledge(f"{scratch}/project")
    kb.link(f"{scratch}/docs")
    recalled(kb), kb.sync()
os.environ.clear(), os.environ.update(real)
become_nobody()
kb = open_knowledge(f"{top}/project")
kb.link(f"{top}/docs")
first = recalled(kb)
os.chmod(f"{top}/docs/closed", 0)
os.chmod(f"{top}/docs/file.md", 0)
while_closed = recalled(kb), recalled(kb)
os.chmod(f"{top}/docs/closed", 0o755)
os.chmod(f"{top}/docs/file.md", 0o644)
again = kb.sync()["docs"]
report(first=first, closed=while_closed, indexed=len(again.indexed), removed=again.removed, last=recalled(kb))
"""
)


def test_what_may_not_be_read_now_is_not_taken_for_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    with open_to_all() as base:
        for name, folder in (("CO_HOME", "home"), ("XDG_STATE_HOME", "state"), ("XDG_CACHE_HOME", "cache")):
            monkeypatch.setenv(name, str(base / folder))
        for name in ("open/a.md", "closed/b.md", "closed/deep/c.md", "file.md"):
            (base / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
            (base / "docs" / name).write_text(f"A heron in {name}\n")
        (base / "project").mkdir()
        give_away(base)
        seen = run(CLOSED, base)
        everything = ["docs:closed/b", "docs:closed/deep/c", "docs:file", "docs:open/a"]
        assert sorted(seen["first"][0]) == sorted(seen["last"][0]) == everything
        for found, problems in seen["closed"]:
            assert found == ["docs:open/a"]
            assert sorted(problems) == [str(base / "docs" / "closed"), str(base / "docs" / "file.md")]
        assert (seen["indexed"], seen["removed"]) == (0, [])


def test_a_file_that_is_too_large_is_left_out_and_said(co: Co, obsidian: Path) -> None:
    with open(obsidian / "huge.md", "wb") as file:
        file.truncate(LARGEST + 1)
    assert co("article", "link", str(obsidian), "--name", "notes") == 0
    assert "not read: huge.md: larger than 10 MB" in co.out
    assert co("recall", "quokka") == 0
    assert "huge" not in co.err


@pytest.mark.slow
def test_a_folder_with_too_many_files_is_refused_and_one_that_grows_loses_nothing(kb: KnowledgeBase, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "0.md").write_text("The first heron\n")
    kb.link(str(docs))
    assert refs(kb, "heron") == ["docs:0"]
    (docs / "more").mkdir()
    for number in range(MOST_FILES + 1):
        (docs / "more" / f"{number}.md").touch()
    with pytest.raises(Invalid, match="more than 25,000 files"):
        kb.link(str(docs), name="again")
    found = kb.recall("heron", mode="text")
    assert [problem.message for problem in found.problems] == ["more than 25,000 files to read: the rest is left out"]
    assert [hit.note.ref for hit in found.hits] == ["docs:0"]


@pytest.mark.slow
def test_two_thousand_files_are_found_and_the_second_query_only_looks(kb: KnowledgeBase, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    for number in range(2000):
        path = docs / f"part {number % 40}" / f"seite-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Seite {number}\n\nHerons and lakes, {number}, told by unique{number}.\n")
    kb.link(str(docs))
    before = snapshot(docs)
    time.sleep(0.06)  # what was written just now may be written again with the same time
    assert refs(kb, "unique1234") == ["docs:part 34/seite-1234"]
    (docs / "part 3" / "seite-3.md").write_text("Now about an albatross\n")
    assert refs(kb, "albatross") == ["docs:part 3/seite-3"]
    time.sleep(0.06)
    kb.sync()
    began = time.process_time()
    report = kb.sync()["docs"]
    assert (report.unchanged, report.indexed) == (2000, ())
    assert time.process_time() - began < 0.5
    assert {**snapshot(docs), str(docs / "part 3" / "seite-3.md"): None} == {
        **before,
        str(docs / "part 3" / "seite-3.md"): None,
    }


# ------------------------------------------------------------------------------------------------------------------- refs


def test_a_note_is_named_by_its_path_with_or_without_its_ending(linked: KnowledgeBase) -> None:
    for ref in ("notes:Install", "notes:Install.md", "notes:install", " notes:Install "):
        assert linked.get(ref).ref == "notes:Install"
    assert linked.get("notes:über uns").ref == "notes:Projekte/Größe/Über uns"
    assert linked.get("notes:Größe/Über uns.md").ref == "notes:Projekte/Größe/Über uns"
    assert linked.get("notes:notes").ref == "notes:notes.txt"


def test_a_ref_that_could_be_several_files_is_not_guessed_at(co: Co, linked: KnowledgeBase, obsidian: Path) -> None:
    (obsidian / "Daily" / "Readme.md").write_text("one")
    (obsidian / "Projekte" / "Readme.md").write_text("two")
    assert co("show", "notes:readme") == 4
    assert "notes:Daily/Readme" in co.err
    assert co("show", "notes:Daily/Readme") == 0
    assert co("show", "notes:nothing") == 3
    assert co("show", "others:Install") == 2


@pytest.mark.parametrize("text", ["TODO: write it", "http://example.com", "a:b", "notes:", "notes", "12:30"])
def test_what_only_looks_like_a_ref_is_none(text: str, linked: KnowledgeBase) -> None:
    assert linked.ref(text) == ""
    assert linked.ref("notes:anything") == "notes:anything"


@given(st.text(st.characters(exclude_characters="\0"), min_size=1))
def test_any_name_in_a_folder_comes_back_out_of_the_index(name: str) -> None:
    name = os.fsdecode(name.encode("utf-8", "ignore")) + "\udc80/\udcff/x.md"
    assert named(stored(name)) == name
    assert not any("\ud800" <= sign <= "\udfff" for sign in stored(name))


def test_a_name_that_is_no_text_is_found_all_the_same(linked: KnowledgeBase, obsidian: Path) -> None:
    folder = os.fsencode(obsidian) + b"/caf\xe9"
    os.mkdir(folder)
    with open(folder + b"/men\xfc.md", "wb") as file:
        file.write(b"Coffee for a stork\n")
    (hit,) = linked.recall("stork", mode="text").hits
    assert linked.get(hit.note.ref).body == "Coffee for a stork"


# ------------------------------------------------------------------------------------------------------------------- links


def test_links_lead_from_note_to_note_by_name_by_path_and_from_the_vault(
    linked: KnowledgeBase, co: Co, obsidian: Path
) -> None:
    linked.save("Read [[notes:Install]] and [[Über uns]] first")
    start, us, install = map(linked.get, ("notes:Start here", "notes:Über uns", "notes:Install"))
    around = linked.neighbours([start, us, install])
    assert [(each.ref, each.incoming) for each in around[start.path]] == [
        ("notes:Install", False),
        ("notes:Projekte/Größe/Über uns", False),
        ("notes:Projekte/Größe/Über uns", True),
    ]
    assert around[us.path][0][:1] == ("notes:Start here",)
    assert {each.ref for each in around[install.path]} == {"1", "notes:Start here"}
    assert co("doctor") == 0, co.out


# ----------------------------------------------------------------------------------------------------- what a file says


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("---\ntags: [a, b]\n---\nx", ("a", "b")),
        ("---\ntags: a, b c\n---\nx", ("a", "b c")),
        ("---\ntags: a b\n---\nx", ("a", "b")),
        ("---\ntags: '#a #b'\n---\nx", ("a", "b")),
        ("---\ntag: a\nkeywords: [b]\n---\nx", ("a", "b")),
        ("---\ntags:\n  - a\n  - 2026\n---\nx", ("a", "2026")),
        ("---\ntags:\n---\nx #c", ("c",)),
        ("---\ntags: {a: 1}\n---\nx", ()),
        ("#one two #three/four (#five) `#six` x#seven #8 [#nine](#ten)", ("one", "three/four", "five", "nine")),
        ("# Heading\n\n~~~\n#code\n~~~\n#größe", ("größe",)),
    ],
)
def test_tags_are_read_as_obsidian_has_them(text: str, tags: tuple[str, ...]) -> None:
    assert note_of(text).tags == tags


@pytest.mark.parametrize(
    ("text", "title", "aliases"),
    [
        ("---\ntitle: The title\n---\n# Other", "The title", ("name",)),
        ("---\ntitle: 2026\naliases: One, Two\n---\nx", "2026", ("name", "One", "Two")),
        ("# From the text #\n\nx", "From the text", ("name",)),
        ("From a line\n===========\n\nx", "From a line", ("name",)),
        ("## Only a section\n\nx", "name", ()),
        ("---\nalias: Three\n---\nx", "name", ("Three",)),
        ("---\ntitle: {{title}}\n---\nx", "name", ()),
        ("---\nnot yaml: [\n---\nx", "name", ()),
        ("", "name", ()),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_title_is_found_whatever_the_header(text: str, title: str, aliases: tuple[str, ...], ending: str) -> None:
    note = note_of(text.replace("\n", ending), "folder/name.md")
    assert (note.title, note.aliases) == (title, aliases)
    assert note.body.strip() in ("x", "# Other", "") or "\r\n".join(note.body.splitlines())
    assert "yaml" not in note.body


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_file_of_another_encoding_is_read_and_can_be_shown(
    encoding: str, linked: KnowledgeBase, obsidian: Path, co: Co
) -> None:
    (obsidian / "alt.md").write_bytes("---\ntags: käse\n---\nGrüße vom Kranich – früh\n".encode(encoding))
    (hit,) = linked.recall("kranich", mode="text").hits
    assert (hit.note.body, hit.note.tags) == ("Grüße vom Kranich – früh", ("käse",))
    assert co("show", "notes:alt") == 0
    assert "Grüße" in co.out


def test_dates_and_privacy_are_taken_from_the_header(linked: KnowledgeBase) -> None:
    assert linked.get("notes:2026-02-09").created == "2026-02-09"
    assert refs(linked, "heron since:2026-02 before:2026-03") == ["notes:Daily/2026-02-09"]
    assert refs(linked, "heron before:2026-02") == []
    assert note_of("---\ncreated: yesterday\nexpires: soon\npinned: maybe\nid: x\n---\nx").created == ""
    assert note_of("---\nprivate: true\n---\nx").private
    assert note_of("---\ntitle: {{ of: [a template }}\nprivate: true\n---\nx").private


@given(st.one_of(st.binary(max_size=300), st.text(max_size=300).map(lambda text: f"---\n{text}\n---\n#x\n{text}".encode())))
def test_any_bytes_are_a_note_or_no_text(raw: bytes) -> None:
    try:
        note = note_of(raw)
    except NoteError:
        assert b"\0" in raw or not raw.isascii()
        return
    assert note.title == note.title.strip()
    assert note.body.strip() in note.text.replace("\r\n", "\n") or note.body in note.text


@pytest.mark.parametrize(
    "raw",
    [b"\0\1\2", "Привет, это журавль".encode("cp1251"), "鶴が来た".encode("shift_jis")],
    ids=["data", "cp1251", "sjis"],
)
def test_a_file_that_is_no_text_that_can_be_read_is_named_once_and_the_others_are_found(
    raw: bytes, co: Co, linked: KnowledgeBase, obsidian: Path
) -> None:
    (obsidian / "data.md").write_bytes(raw)
    for mode in ("grep", "text"):
        found = linked.recall("quokka", mode=mode)
        assert [hit.note.ref for hit in found.hits] == ["notes:Install"]
        assert found.problems == ()
    (state,) = linked.links()
    assert [name for name, _why in state.skipped] == ["data.md"]
    assert co("show", "notes:data") == 1
    assert "notes:data.md cannot be shown" in co.err


# ------------------------------------------------------------------------------------------------------------------ agents


def test_agents_find_a_linked_note_and_a_private_one_never(kb: KnowledgeBase, obsidian: Path) -> None:
    kb.link(str(obsidian), name="notes")
    found = knowledge_search(kb, "quokka", Caller("mcp"))
    assert [entry["cite"] for entry in found["results"]] == ["notes:Install"]  # type: ignore[attr-defined]
    kb.link(str(obsidian), name="notes", private=True)
    for query in ("quokka", "notes:Install", "notes:Install#installing-the-quokka"):
        assert knowledge_search(kb, query, Caller("mcp"))["results"] == []
        assert knowledge_search(kb, query, Caller("chat", private=True))["count"] == 1

    async def use(client: Client) -> None:
        assert "valve" not in said(await client.call_tool("knowledge_search", {"query": "quokka drum"}))
        assert "valve" not in (await client.get_prompt("recall", {"query": "quokka drum"})).model_dump_json()
        with pytest.raises(Exception, match="no note"):
            await client.read_resource("co://note/notes:Install")

    talk(use)
    from co_cli.agent.offering import offer

    choose(kb, mode="text")
    assert offer(kb, "quokka drum", 1000, private=False) == ("", ())
    assert offer(kb, "quokka drum", 1000, private=True)[1][0].note.ref == "notes:Install"


def test_the_passages_of_a_private_folder_go_to_no_model_elsewhere(kb: KnowledgeBase, obsidian: Path) -> None:
    from contextlib import closing

    from co_cli.index import vectors
    from co_cli.sync import open_index, sync

    kb.link(str(obsidian), name="notes", private=True)
    folder = kb._readable()[0][-1]
    assert isinstance(folder, LinkedFolder)
    with closing(open_index(folder, kb.places.cache)) as index:
        sync(folder, index)
        assert vectors.pending(index, 0, 100, private=False) == []
        assert len(vectors.pending(index, 0, 100, private=True)) == 6
