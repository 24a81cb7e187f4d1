"""The index follows the files: whatever is done to them, it holds what one made anew would hold, and answers nothing old."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import inf
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from indexes import bodies, bring_up_to_date, choose, holdings, means_of, note, open_anew, open_at, put
from processes import within

from co_cli import KnowledgeBase
from co_cli.embedding.fake import Fake
from co_cli.errors import CoError
from co_cli.folder import Look
from co_cli.index.store import Index
from co_cli.note import Note
from co_cli.query import parse_query
from co_cli.retrieval.hit import Filter
from co_cli.retrieval.ranked import Searcher
from co_cli.sync import embed, open_index, sync
from co_cli.vault import Vault

FOLDERS = ("memories", "topics", "articles")
ALL_KINDS = ("memory", "topic", "article")
SETTLED = 0.06
"""Seconds after which the time of a file says for certain that it was not written again."""


# -------------------------------------------------------------------------------------- incremental is as good as anew

WORDS = ["heron", "stork", "deploy", "staging", "Größe", "日本語", "snake_case", "[[001-a]]", "[page](b.md)", "#tag"]
BODIES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
LONG = st.lists(BODIES, min_size=2, max_size=4).map(lambda parts: "\n\n".join(f"# {part}\n\n{part * 90}" for part in parts))
NAMES = st.sampled_from(["001-a.md", "002-b.md", "003-ü.md", "x.md", "004-🦩.md", "005-\udcff.md", "006-\x1f.md"])
KINDS = st.sampled_from(FOLDERS)
HEADERS = st.sampled_from(
    [
        "",
        "",
        "tags: [ops, Straße]\n",
        "pinned: true\n",
        "private: true\n",
        "expires: 2020-01-01\n",
        "title: A title\n",
        "topic: T\n",
    ]
)
BROKEN = st.sampled_from(
    [b"", b"\xff\xfe", b"---\nid: [\n", b"---\nid: 1\ntags: 7\n---\n\nx\n", b"no header", b"---\nid: \x1f\n---\n"]
)


class AnyHistory(RuleBasedStateMachine):
    """What people, editors, git and co itself do to the files of a vault, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.top = Path(tempfile.mkdtemp(prefix="co-test-"))
        self.kb = open_at(self.top)
        self.vault = self.kb.vaults[0]
        self.folder = Path(self.vault.root)

    def teardown(self) -> None:
        try:
            self.compare()
            first = self.answers()
            for path in self.folder.glob("knowledge.db*"):
                path.unlink()
            assert self.answers() == first
        finally:
            shutil.rmtree(self.top)

    def answers(self) -> list[tuple[str, float, str]]:
        means = means_of(self.kb)._replace(embedder="fake")
        with Searcher(self.kb.vaults, means) as searcher:
            searcher.refresh(by_meaning=True)
            query, only = parse_query("heron Größe 日本語 snake deploy", "2026-11-19"), Filter(ALL_KINDS)
            found = searcher.search(query, mode="hybrid", limit=100, only=only)
        return sorted((hit.note.path, round(hit.score, 3), hit.content) for hit in found.hits)

    def path(self, kind: str, name: str) -> Path:
        path = self.folder / kind / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def there(self, kind: str) -> list[Path]:
        found = sorted((self.folder / kind).iterdir()) if (self.folder / kind).is_dir() else []
        return [path for path in found if path.is_file() and not path.is_symlink()]

    @initialize(count=st.integers(0, 4), body=BODIES)
    def begin(self, count: int, body: str) -> None:
        for number in range(count):
            self.path("memories", f"{number:03d}-first.md").write_bytes(note(number, f"{body} {number}"))

    @rule(kind=KINDS, name=NAMES, body=BODIES | LONG, header=HEADERS, number=st.integers(0, 7))
    def write(self, kind: str, name: str, body: str, header: str, number: int) -> None:
        path = self.path(kind, name)
        self.clear(path)
        path.write_bytes(note(number, body, header=header))

    @rule(kind=KINDS, name=NAMES, raw=BROKEN)
    def write_what_is_no_note(self, kind: str, name: str, raw: bytes) -> None:
        path = self.path(kind, name)
        self.clear(path)
        path.write_bytes(raw)

    @rule(kind=KINDS, name=NAMES, what=st.sampled_from(["folder", "link in", "link out", "link to nothing", "pipe"]))
    def put_something_else_in_its_place(self, kind: str, name: str, what: str) -> None:
        path = self.path(kind, name)
        self.clear(path)
        if what == "folder":
            path.mkdir()
        elif what == "pipe":
            os.mkfifo(path)
        else:
            (self.top / "outside.md").write_bytes(note(9, "an outsider"))
            targets = {
                "link in": "../memories/001-a.md",
                "link out": self.top / "outside.md",
                "link to nothing": "nowhere.md",
            }
            path.symlink_to(targets[what])

    @rule(kind=KINDS, to=KINDS, name=NAMES, chance=st.randoms(use_true_random=False))
    def rename(self, kind: str, to: str, name: str, chance) -> None:
        there, target = self.there(kind), self.path(to, name)
        if there:
            self.clear(target)
            chosen = chance.choice(there)
            if chosen.exists():
                chosen.rename(target)

    @rule(kind=KINDS, chance=st.randoms(use_true_random=False))
    def swap(self, kind: str, chance) -> None:
        there = self.there(kind)
        if len(there) > 1:
            one, other = chance.sample(there, 2)
            one.rename(self.top / "aside")
            other.rename(one)
            (self.top / "aside").rename(other)

    @rule(kind=KINDS, name=NAMES, chance=st.randoms(use_true_random=False))
    def copy(self, kind: str, name: str, chance) -> None:
        there, target = self.there(kind), self.path(kind, name)
        if there and (chosen := chance.choice(there)) != target:
            self.clear(target)
            shutil.copy2(chosen, target)

    @rule(kind=KINDS, chance=st.randoms(use_true_random=False))
    def edit_without_changing_size_and_time(self, kind: str, chance) -> None:
        there = self.there(kind)
        if there:
            path = chance.choice(there)
            was = path.stat()
            path.write_bytes(path.read_bytes().replace(b"heron", b"eagle").replace(b"stork", b"robin"))
            os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))

    @rule(kind=KINDS, chance=st.randoms(use_true_random=False))
    def delete(self, kind: str, chance) -> None:
        there = self.there(kind)
        if there:
            chance.choice(there).unlink()

    @rule(kind=KINDS)
    def delete_all(self, kind: str) -> None:
        for path in self.there(kind):
            path.unlink()

    @rule(chance=st.randoms(use_true_random=False))
    def use_co(self, chance) -> None:
        notes = [found for found in self.kb.list().notes if found.vault == "project"]
        number = chance.randrange(1000)
        if not notes or chance.random() < 0.4:
            self.kb.save(f"co keeps heron {number}", force=True)
            return
        refs = [str(found.id) for found in notes if sum(found.id == other.id for other in notes) == 1]
        if refs and all(problem.code != "unreadable" for problem in self.kb.list().problems):
            what = chance.choice([self.kb.forget, self.kb.archive, lambda ref: self.kb.update(ref, content=f"new {number}")])
            with suppress(CoError):  # what other rules made of the vault may be in the way
                what(chance.choice(refs))

    @rule()
    def time_passes(self) -> None:
        time.sleep(SETTLED)

    @rule()
    def somebody_asks(self) -> None:
        bring_up_to_date(self.vault, self.kb.places.cache)

    @rule()
    def somebody_asks_twice(self) -> None:
        bring_up_to_date(self.vault, self.kb.places.cache)
        time.sleep(SETTLED)
        bring_up_to_date(self.vault, self.kb.places.cache)
        report = bring_up_to_date(self.vault, self.kb.places.cache)
        assert (report.indexed, report.removed, report.renamed) == ((), (), ())

    @rule()
    def compare(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        bring_up_to_date(self.vault, self.kb.places.cache)
        index = open_index(self.vault, self.kb.places.cache)
        anew = open_anew(self.vault, self.top / "anew.db")
        try:
            kept, made = holdings(index), holdings(anew)
            for what in made:
                assert kept[what] == made[what], what
            assert kept["strays"] == []
        finally:
            index.close()
            anew.close()
            for path in self.top.glob("anew.db*"):
                path.unlink()

    @staticmethod
    def clear(path: Path) -> None:
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        elif os.path.lexists(path):
            path.unlink()


@pytest.mark.slow
def test_after_any_history_the_index_holds_what_one_made_anew_would_hold():
    # without looking for a shorter history that fails as well, which takes minutes: add Phase.shrink to have one
    phases = (Phase.explicit, Phase.reuse, Phase.generate)
    run_state_machine_as_test(
        AnyHistory, settings=settings(max_examples=60, stateful_step_count=25, deadline=None, phases=phases)
    )


# ------------------------------------------------------------------------------------------------------------ freshness


@pytest.fixture
def asked(kb: KnowledgeBase, vault: Path) -> KnowledgeBase:
    """Knowledge of some notes that has been searched before, so that there is an index."""
    for number in range(1, 4):
        put(vault, number, f"bystander {number} says nothing")
    time.sleep(SETTLED)
    assert len(bodies(kb, "bystander")) == 3
    return kb


@pytest.mark.parametrize("mode", ["text", "vector", "hybrid"])
@pytest.mark.parametrize("settled", [True, False], ids=["settled", "just written"])
def test_what_another_program_changed_is_found_by_its_new_words_and_not_by_its_old(
    asked: KnowledgeBase, vault: Path, mode: str, settled: bool
):
    path = put(vault, 7, "a heron by the water")
    for old, new in [("heron", "stork"), ("stork", "robin"), ("robin", "eagle")]:
        if settled:
            time.sleep(SETTLED)
        assert bodies(asked, old, mode)[0] == f"a {old} by the water"
        was = path.stat()
        path.write_bytes(path.read_bytes().replace(old.encode(), new.encode()))
        os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
        assert path.stat().st_size == was.st_size
        assert bodies(asked, new, mode)[0] == f"a {new} by the water"
        assert bodies(asked, old, "text") == []


def test_two_notes_that_changed_places_are_told_apart(asked: KnowledgeBase, vault: Path):
    one, other = put(vault, 7, "heron"), put(vault, 8, "stork")
    time.sleep(SETTLED)
    for _ in range(2):
        assert bodies(asked, "heron") == ["heron"]
    one.rename(vault / "aside")
    other.rename(one)
    (vault / "aside").rename(other)
    assert [hit.note.path for hit in asked.recall("heron", mode="text").hits] == [str(other)]


def test_a_state_in_which_files_changed_places_is_another_state():
    """Not every file system shows in the time of a file that it was renamed."""
    assert Look([b"a.md", b"b.md"], [1, 2]).state != Look([b"a.md", b"b.md"], [2, 1]).state


def test_a_note_that_came_and_went_leaves_no_trace(asked: KnowledgeBase, vault: Path, index: Index):
    """Then the folder looks as it looked before, and the index has to know that it does not."""
    sync(asked.vaults[0], index)
    path = put(vault, 7, "heron")
    assert bodies(asked, "heron") == ["heron"]
    path.unlink()
    assert bodies(asked, "heron") == []
    assert index.find("memory", "007-note.md") is None


def test_what_is_deleted_archived_or_forgotten_is_found_no_more(asked: KnowledgeBase, vault: Path):
    for number, do in enumerate([lambda ref: put(vault, 7, "").unlink(), asked.forget, asked.archive], start=7):
        put(vault, 7, f"heron {number}")
        assert bodies(asked, "heron") == [f"heron {number}"]
        do("7")
        assert bodies(asked, "heron") == []


def test_the_last_note_that_is_deleted_by_hand_is_gone(kb: KnowledgeBase, vault: Path):
    path = put(vault, 1, "heron")
    assert bodies(kb, "heron") == ["heron"]
    path.unlink()
    for mode in ("text", "hybrid"):
        found = kb.recall("heron", mode=mode)
        assert (found.hits, found.total) == ((), 0)
    assert bring_up_to_date(kb.vaults[0], kb.places.cache).unchanged == 0


class Counting(Fake):
    """The fake, which remembers what it was given."""

    def __init__(self) -> None:
        self.given: list[str] = []

    def embed(self, texts: Sequence[str], *, seconds: float = inf) -> list[bytes]:
        self.given.extend(texts)
        return super().embed(texts, seconds=seconds)


@pytest.fixture
def index(kb: KnowledgeBase, vault: Path) -> Iterator[Index]:
    found = open_index(kb.vaults[0], kb.places.cache)
    yield found
    found.close()


def embedded_anew(kb: KnowledgeBase, index: Index) -> list[str]:
    """What a model is given for an index to be complete."""
    model = Counting()
    sync(kb.vaults[0], index)
    embed(kb.vaults[0], index, model, seconds=60)
    assert index.totals().vectors == index.totals().passages
    return model.given


def test_a_note_that_only_got_another_name_or_header_is_not_embedded_again(kb: KnowledgeBase, vault: Path, index: Index):
    for number in range(1, 21):
        put(vault, number, f"heron {number}")
    long = put(vault, 1, "# One\n\n" + "one " * 400 + "\n\n# Two\n\n" + "two " * 400, kind="topics", name="long.md")
    assert len(embedded_anew(kb, index)) == index.totals().passages > 21
    for number in range(1, 21):
        (vault / "memories" / f"{number:03d}-note.md").rename(vault / "memories" / f"{number:03d}-renamed.md")
    assert embedded_anew(kb, index) == []
    put(vault, 3, "heron 3", header="pinned: true\ntags: [bird]\n", name="003-renamed.md")
    assert embedded_anew(kb, index) == []
    long.write_text(long.read_text().replace("two two", "two three", 1))
    assert 1 <= len(embedded_anew(kb, index)) < index.totals().passages - 20


def test_a_sync_says_what_it_did_with_each_file(kb: KnowledgeBase, vault: Path, index: Index):
    paths = [put(vault, number, f"heron {number}") for number in range(1, 5)]
    put(vault, 5, "x", name="005-broken.md", header="tags: 7\n")
    (vault / "memories" / "006-folder.md").mkdir()
    time.sleep(SETTLED)
    report = sync(kb.vaults[0], index)
    assert sorted(report.indexed) == sorted(map(str, paths))
    assert {Path(problem.path).name for problem in report.problems} == {"005-broken.md", "006-folder.md"}
    paths[0].unlink()
    paths[1].rename(vault / "memories" / "002-moved.md")
    put(vault, 3, "stork")
    report = sync(kb.vaults[0], index)
    assert report.removed == (str(paths[0]),)
    assert report.renamed == (str(vault / "memories" / "002-moved.md"),)
    assert report.indexed == (str(paths[2]),)
    assert report.unchanged == 2
    assert [Path(problem.path).name for problem in report.problems] == ["006-folder.md"]
    for _ in range(2):
        problems = {Path(problem.path).name for problem in kb.recall("heron", mode="text").problems}
        assert problems == {"005-broken.md", "006-folder.md"}


def test_a_file_that_was_read_before_another_process_saw_it_change_does_not_come_back(
    kb: KnowledgeBase, vault: Path, index: Index, monkeypatch: pytest.MonkeyPatch
):
    """Who reads a file, and is slow to write down what it held, must not undo what was written down meanwhile."""
    path = put(vault, 1, "an old heron")
    time.sleep(SETTLED)
    read = type(kb.vaults[0]).named_files

    def slowly(vault_read, kind, names, problems):  # the other process works between reading and writing
        found = list(read(vault_read, kind, names, problems))
        monkeypatch.undo()
        path.write_bytes(note(1, "a young stork"))
        time.sleep(SETTLED)
        assert bodies(kb, "stork") == ["a young stork"]
        assert bodies(kb, "stork") == ["a young stork"]
        yield from found

    monkeypatch.setattr(type(kb.vaults[0]), "named_files", slowly)
    sync(kb.vaults[0], index)
    assert [body.split() for (body,) in index.connection.execute("SELECT body FROM passages")] == [["a", "young", "stork"]]
    for _ in range(2):
        assert bodies(kb, "stork") == ["a young stork"]
        assert bodies(kb, "old") == []


@pytest.mark.parametrize("mode", ["text", "hybrid"])
def test_a_note_that_changes_between_search_and_reading_is_no_answer_to_its_old_words(
    kb: KnowledgeBase, vault: Path, monkeypatch: pytest.MonkeyPatch, mode: str
):
    path = put(vault, 1, "a heron and a stork")
    read = Vault.read_named

    def changed_before(self: Vault, kind: str, names: list[str]) -> dict[str, Note]:
        monkeypatch.undo()
        path.write_bytes(note(1, "only a stork"))
        return read(self, kind, names)

    monkeypatch.setattr(Vault, "read_named", changed_before)
    assert bodies(kb, "heron", mode) == []
    path.write_bytes(note(1, "a heron and a stork"))
    monkeypatch.setattr(Vault, "read_named", changed_before)
    [hit] = kb.recall("heron stork", mode=mode).hits
    assert (hit.content, hit.why.words, hit.why.match) == ("only a stork", ("stork",), "any word")


@pytest.mark.parametrize("tick", [10_000_000, 1_000_000_000, 2_000_000_000], ids=["10 ms", "1 s", "2 s"])
def test_writes_that_follow_each_other_faster_than_the_clock_are_told_apart(
    kb: KnowledgeBase, vault: Path, index: Index, monkeypatch: pytest.MonkeyPatch, tick: int
):
    """The clock of a file system is as coarse as it is; here it is made to be."""
    look = os.lstat

    def coarsely(*arguments: object, **how: object) -> SimpleNamespace:
        found = look(*arguments, **how)
        fields = {name: getattr(found, name) for name in dir(found) if name.startswith("st_")}
        return SimpleNamespace(**fields | {name: fields[name] // tick * tick for name in ("st_mtime_ns", "st_ctime_ns")})

    monkeypatch.setattr(os, "lstat", coarsely)
    path = put(vault, 1, "a word0")
    for number in range(200):
        word = f"word{number % 10}"
        path.write_bytes(note(1, f"a {word}"))
        sync(kb.vaults[0], index)
        assert [body.split() for (body,) in index.connection.execute("SELECT body FROM passages")] == [["a", word]]


# ------------------------------------------------------------------------------------------------- what could not be seen


def unmounted(vault: Path, tmp_path: Path) -> None:
    (vault / "memories").rename(tmp_path / "elsewhere")
    (vault / "memories").mkdir()


def vanished(vault: Path, tmp_path: Path) -> None:
    (vault / "memories").rename(tmp_path / "elsewhere")


def leads_out(vault: Path, tmp_path: Path) -> None:
    (vault / "memories").rename(tmp_path / "elsewhere")
    (vault / "memories").symlink_to(tmp_path / "elsewhere")


def became_a_file(vault: Path, tmp_path: Path) -> None:
    (vault / "memories").rename(tmp_path / "elsewhere")
    (vault / "memories").write_text("what?")


@pytest.mark.parametrize("lose", [unmounted, vanished, leads_out, became_a_file])
def test_a_folder_that_cannot_be_seen_takes_nothing_out_of_the_index_and_answers_nothing(
    kb: KnowledgeBase, vault: Path, index: Index, tmp_path: Path, lose
):
    choose(kb, embedder="fake")
    for number in range(1, 81):
        put(vault, number, f"heron {number}")
    put(vault, 1, "a heron, among many words that make it a worse answer than the others are", kind="topics", name="t.md")
    assert len(embedded_anew(kb, index)) == 81
    lose(vault, tmp_path)
    for mode in ("text", "vector", "hybrid"):
        assert [hit.note.slug for hit in kb.recall("heron", mode=mode).hits] == ["t"]
    assert index.totals().passages == 81

    for found in ((vault / "memories"), (tmp_path / "elsewhere")):
        if lose is not vanished and found.name == "memories":
            found.rmdir() if lose is unmounted else found.unlink()
    (tmp_path / "elsewhere").rename(vault / "memories")
    assert embedded_anew(kb, index) == []
    assert len(bodies(kb, "heron", limit=100)) == 81


@pytest.mark.parametrize("mode", ["grep", "text", "vector", "hybrid"])
def test_what_lies_where_a_note_was_is_no_answer(kb: KnowledgeBase, vault: Path, index: Index, tmp_path: Path, mode: str):
    put(vault, 2, "stork")
    (tmp_path / "outside.md").write_bytes(note(1, "heron"))
    for put_there in (
        Path.mkdir,
        os.mkfifo,
        lambda path: path.symlink_to("002-note.md"),
        lambda path: path.symlink_to(tmp_path / "outside.md"),
        lambda path: path.symlink_to("nowhere.md"),
    ):
        path = put(vault, 1, "heron")
        assert bodies(kb, "heron", mode)[0] == "heron"
        path.unlink()
        put_there(path)
        with within(10):
            assert "heron" not in bodies(kb, "heron", mode)
            assert bodies(kb, "stork", mode) == ["stork"]
        if mode != "grep":
            assert index.find("memory", path.name) is None
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


@pytest.mark.parametrize("name", [b"001-\xff\xfe.md", "001-🦩 heron.md".encode(), b"001-\x1f\n'\".md", b"001-a%2f\\x.md"])
@pytest.mark.parametrize("folder", ["memories", "topics"])
def test_a_note_with_an_odd_name_is_found_renamed_and_gone_like_any_other(
    kb: KnowledgeBase, vault: Path, index: Index, name: bytes, folder: str
):
    path = put(vault, 1, "heron by the water", kind=folder, name=os.fsdecode(name))
    assert len(embedded_anew(kb, index)) == 1
    for mode in ("grep", "text", "vector", "hybrid"):
        assert [hit.note.path for hit in kb.recall("heron", mode=mode).hits] == [str(path)]
    path.rename(path.with_name("002-other.md"))
    assert bodies(kb, "heron") == ["heron by the water"]
    path.with_name("002-other.md").rename(path)
    assert bodies(kb, "heron") == ["heron by the water"]
    path.unlink()
    assert bodies(kb, "heron") == []


def test_an_odd_note_does_not_keep_the_others_from_being_found(kb: KnowledgeBase, vault: Path):
    put(vault, 1, "heron")
    put(vault, 10**30, "heron with a large number", name="002-large.md")
    put(vault, 2**63 - 1, "heron with a large number", name="003-large.md")
    put(vault, 4, "heron", kind="topics", name="\x1f.md", header="title: [\n")
    put(vault, 5, "heron " + "x" * 2_000_000, name="005-long.md")
    put(vault, 6, "\0heron\0\x01", name="006-nul.md")
    put(
        vault,
        7,
        "heron",
        name="007-time.md",
        header="expires: 9999-12-31T23:59:59-23:59\nupdated: 0001-01-01T00:00:00+23:59\n",
    )
    for mode in ("grep", "text", "hybrid"):
        assert len(bodies(kb, "heron", mode, limit=10)) == 6
