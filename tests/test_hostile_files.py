"""Files that no note was meant to be: each is read or reported, none is touched, and the rest goes on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from processes import AS_NOBODY, give_away, open_to_all, read_everything, run, snapshot, within

from co_cli import KnowledgeBase
from co_cli.errors import Corrupt

# Every file holds this word, so that recall cannot pass it by.
WORD = "heron"
CREATED = b"created: 2026-02-09T14:30:00+00:00\n"
HEADER = b"---\nid: 5\n" + CREATED
NOTE = HEADER + b"---\n\nA heron stands in the water.\n"
MEGABYTE = 1 << 20

READABLE = {
    "a plain note": NOTE,
    "Windows line endings": NOTE.replace(b"\n", b"\r\n"),
    "a byte-order mark": b"\xef\xbb\xbf" + NOTE,
    "both": b"\xef\xbb\xbf" + NOTE.replace(b"\n", b"\r\n"),
    "no newline at the end": NOTE.rstrip(),
    "a line of 8 MB": NOTE + b"x" * (8 * MEGABYTE),
    "a line of 2 MB of white space": NOTE + b" " * (2 * MEGABYTE) + b"x",
    "a line of 2 MB of brackets": NOTE + b"<!--" * (MEGABYTE // 2),
    "a NUL byte in the body": NOTE + b"before\0after",
    "a body that looks like a header": NOTE + b"---\nid: 77\n---\n",
    "control characters and no real words": NOTE + bytes(range(1, 32)) + "\u202e\ufeff\u2028".encode(),
    "a header of 60 KiB": HEADER + b"notes: " + b"x" * (60 * 1024) + b"\n---\n\nheron\n",
    "60 KiB of comments before the id": b"---\n" + b"# comment\n" * 6000 + b"id: 5\n" + CREATED + b"---\n\nheron\n",
    "a header in braces": b'---\n{"id": 5, "created": "2026-02-09T14:30:00Z"}\n---\n\nheron\n',
    "an id in quotation marks": b'---\n"id": 5\n' + CREATED + b"---\n\nheron\n",
    "an id with zeros before it": b"---\nid: 005\n" + CREATED + b"---\n\nheron\n",
    "an id that is there twice": b"---\nid: 4\nid: 5\n" + CREATED + b"---\n\nheron\n",
}

REFUSED: dict[str, tuple[bytes, int, str]] = {
    "no header": (b"A heron stands in the water.\n", 1, "id"),
    "a header that never ends": (HEADER + b"\nA heron stands in the water.\n", 1, "never closed"),
    "broken YAML": (HEADER + b"source: a: heron\n---\n\nx\n", 4, "YAML"),
    "tabs as indentation": (HEADER + b"map:\n\tkey: heron\n---\n\nx\n", 5, "YAML"),
    "a list as header": (b"---\n- heron\n---\n\nx\n", 2, "mapping"),
    "an id that is a text": (b"---\nid: mem-005\n" + CREATED + b"---\n\nheron\n", 2, "'id'"),
    "an id that is nothing": (b"---\nid: 0\n" + CREATED + b"---\n\nheron\n", 2, "'id'"),
    "an id of 5000 digits": (b"---\nid: " + b"9" * 5000 + b"\n" + CREATED + b"---\n\nheron\n", 2, ""),
    "a date that is none": (b"---\nid: 5\ncreated: yesterday\n---\n\nheron\n", 3, "'created'"),
    "tags that are numbers": (HEADER + b"tags: [heron, 5]\n---\n\nx\n", 4, "'tags'"),
    "bytes that are no UTF-8": (HEADER + b"---\n\nA heron, na\xefve.\n", 6, "UTF-8"),
    "UTF-16": (NOTE.decode().encode("utf-16") + b"heron", 1, "UTF-8"),
    "a NUL byte in the header": (HEADER + b"source: a\0b\n---\n\nheron\n", 2, "x0000"),
    "a header of 100 KiB": (HEADER + b"notes: " + b"x" * (100 * 1024) + b"\n---\n\nheron\n", 1, "64 KiB"),
    "a conflict left by git": (b"<<<<<<< HEAD\n" + NOTE + b"=======\n" + NOTE + b">>>>>>> theirs\n", 1, "id"),
}


def times_ten(name: str, levels: int = 12) -> bytes:
    """A value that is small on paper, and has ten to the power of the levels leaves when it is written out."""
    lines = [f"{name}0: &{name}0 [heron]"]
    lines += [f"{name}{n}: &{name}{n} [{', '.join([f'*{name}{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines).encode() + b"\n"


# Files that would take the process down with them, or all of its memory or time.
EXPLOSIVE = {
    "an alias bomb in a field of no meaning": HEADER + times_ten("a") + b"---\n\nheron\n",
    "an alias bomb as tags": HEADER + times_ten("a") + b"tags: *a11\n---\n\nheron\n",
    "an alias bomb as id": b"---\n" + times_ten("a") + b"id: *a11\n" + CREATED + b"---\n\nheron\n",
    "an alias bomb of merges": HEADER
    + b"m0: &m0 {heron: 1}\n"
    + b"".join(b"m%d: &m%d\n  <<: [%s]\n" % (n, n, b", ".join([b"*m%d" % (n - 1)] * 10)) for n in range(1, 12))
    + b"---\n\nheron\n",
    "a value that contains itself": HEADER + b"tags: &a [*a]\n---\n\nheron\n",
    "60,000 brackets that open": HEADER + b"x: " + b"[" * 60_000 + b"\n---\n\nheron\n",
    "30,000 brackets that open and close": HEADER + b"x: " + b"[" * 30_000 + b"]" * 30_000 + b"\n---\n\nheron\n",
    "30,000 lists in lists": HEADER + b"x:\n  " + b"- " * 30_000 + b"\n---\n\nheron\n",
    "60,000 blanks before a value": HEADER + b"x: " + b" " * 60_000 + b"'a'\n---\n\nheron\n",
    "a tag that would run something": HEADER + b"x: !!python/object/apply:os._exit [7]\n---\n\nheron\n",
    "a boolean that is none": HEADER + b"x: !!bool heron\n---\n\nheron\n",
    "a number that is none": HEADER + b"x: !!int ''\n---\n\nheron\n",
    "a timestamp that is none": HEADER + b"x: !!timestamp heron\n---\n\nheron\n",
}

READING = """
import json, resource
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
from co_cli import open_knowledge
kb = open_knowledge()
listing, recalled = kb.list(), kb.recall("heron")
kb.context(), kb.prompt()
print(json.dumps({
    "listed": [note.path for note in listing.notes],
    "found": [hit.note.path for hit in recalled.hits],
    "problems": sorted({problem.path for problem in listing.problems}),
    "lines": [problem.line for problem in listing.problems],
    "longest": max([0, *(len(str(problem)) for problem in listing.problems)]),
    "saved": kb.save("next to it").note.id,
}))
"""


def check_is_a_note(raw: bytes, kb: KnowledgeBase, vault: Path) -> None:
    """The file is read as the note 5, and left as it is."""
    path = vault / "memories" / "odd.md"
    path.write_bytes(raw)
    before = snapshot(vault)

    with within(30):
        listing = kb.list()
        assert listing.problems == ()
        assert [(note.id, note.path) for note in listing.notes] == [(5, str(path))]
        assert [hit.note.id for hit in kb.recall(WORD).hits] == [5]
        assert kb.get("5").raw == raw
        read_everything(kb)
    assert snapshot(vault) == before

    assert kb.save("next to it").note.id == 6
    assert path.read_bytes() == raw


@pytest.mark.parametrize("what", READABLE)
def test_an_odd_note_is_a_note(what: str, kb: KnowledgeBase, vault: Path):
    check_is_a_note(READABLE[what], kb, vault)


@pytest.mark.slow
def test_a_note_of_30_megabytes_is_a_note(kb: KnowledgeBase, vault: Path):
    check_is_a_note(NOTE + b"0123456789abcde\n" * (30 * MEGABYTE // 16), kb, vault)


@pytest.mark.parametrize("what", REFUSED)
def test_a_file_that_is_no_note_is_reported_with_path_and_line(what: str, kb: KnowledgeBase, vault: Path):
    raw, line, said = REFUSED[what]
    path = vault / "memories" / "005-odd.md"
    path.write_bytes(raw)
    (vault / "memories" / "001-fine.md").write_bytes(NOTE.replace(b"id: 5", b"id: 1"))
    before = snapshot(vault)

    with within(30):
        listing, recalled = kb.list(), kb.recall(WORD)
        for problems in (listing.problems, recalled.problems):
            assert [(problem.path, problem.line) for problem in problems] == [(str(path), line)]
            assert said in problems[0].message
            assert len(str(problems[0])) < 1000
        assert [note.id for note in listing.notes] == [1]
        assert [hit.note.id for hit in recalled.hits] == [1]
        read_everything(kb)
    assert snapshot(vault) == before

    assert kb.save("next to it").note.id == 6, "the name of the file says that 5 is taken"
    assert path.read_bytes() == raw


def test_an_empty_file_is_reported(kb: KnowledgeBase, vault: Path):
    path = vault / "memories" / "empty.md"
    path.write_bytes(b"")
    assert [(problem.path, problem.line) for problem in kb.list().problems] == [(str(path), 1)]
    assert kb.recall(WORD).hits == ()
    assert kb.save("next to it").note.id == 1


@pytest.mark.parametrize("what", EXPLOSIVE)
def test_a_file_that_explodes_does_not_take_co_with_it(what: str, vault: Path):
    path = vault / "memories" / "odd.md"
    path.write_bytes(EXPLOSIVE[what])
    before = snapshot(vault / "memories")

    seen = run(READING, seconds=20)

    assert seen["listed"] + seen["problems"] == [str(path)]
    assert seen["found"] == seen["listed"]
    assert all(line >= 1 for line in seen["lines"])
    assert seen["longest"] < 1000
    assert seen["saved"] == 6 or what == "an alias bomb as id"
    after = snapshot(vault / "memories")
    assert {name: after[name] for name in before} == before


@pytest.mark.parametrize("made_up", [10**18 - 1, 10**18, 10**30])
def test_an_absurd_id_does_not_spoil_the_ids_that_follow(made_up: int, kb: KnowledgeBase, vault: Path):
    (vault / "memories" / "odd.md").write_bytes(NOTE.replace(b"id: 5", b"id: %d" % made_up))
    kb.save("the first")
    kb.save("the second")
    assert {kb.get(str(note.id)).body for note in kb.list().notes[:2]} == {"the first", "the second"}
    assert len({note.id for note in kb.list().notes}) == len(kb.list().notes) >= 2


def test_names_with_spaces_emoji_and_line_breaks_are_names(kb: KnowledgeBase, vault: Path):
    names = ["a note.md", "🦩 heron.md", "Ünïcödé.md", "line\nbreak.md", "-rf.md", "$(date).md", "a" * 250 + ".md"]
    for number, name in enumerate(names, start=1):
        (vault / "memories" / name).write_bytes(NOTE.replace(b"id: 5", b"id: %d" % number))
    assert kb.list().problems == ()
    assert [Path(note.path).name for note in kb.list().notes] == names
    assert len(kb.recall(WORD, limit=20).hits) == len(names)
    for number in range(1, len(names) + 1):
        kb.update(str(number), content="changed")
        kb.forget([str(number)])
        kb.undo()
        assert kb.get(str(number)).body == "changed"


def test_a_name_that_is_no_unicode_can_be_read_edited_forgotten_and_brought_back(kb: KnowledgeBase, vault: Path):
    path = os.fsencode(vault / "memories") + b"/na\xefve.md"
    with open(path, "wb") as file:
        file.write(NOTE)
    assert os.fsencode(kb.get("5").path) == path
    kb.update("5", content="changed")
    kb.forget(["5"])
    assert not os.path.lexists(path)
    assert len(kb.log()) == 2
    kb.undo()
    assert os.path.lexists(path)
    assert kb.get("5").body == "changed"


UNREADABLE = (
    AS_NOBODY
    + """
become_nobody()
kb = open_knowledge(sys.argv[1])
listing, recalled = kb.list(), kb.recall("heron")
report(
    listed=[note.id for note in listing.notes],
    found=[hit.note.id for hit in recalled.hits],
    problems=[[problem.path, problem.message, problem.hint] for problem in listing.problems],
    recalled=[problem.path for problem in recalled.problems],
    got=attempt(lambda: kb.get("5")),
    doctor=[[finding.problem.path, finding.mended] for finding in kb.check(fix=True).findings],
    saved=kb.save("next to it").note.id,
)
"""
)


def test_a_file_that_may_not_be_read_is_reported(monkeypatch: pytest.MonkeyPatch):
    with open_to_all() as base:
        monkeypatch.setenv("CO_HOME", str(base / "home"))
        monkeypatch.setenv("XDG_STATE_HOME", str(base / "state"))
        memories = base / "project" / ".co-cli" / "knowledge" / "memories"
        memories.mkdir(parents=True)
        (memories / "001-fine.md").write_bytes(NOTE.replace(b"id: 5", b"id: 1"))
        closed = memories / "005-closed.md"
        closed.write_bytes(NOTE)
        closed.chmod(0)
        give_away(base)
        before = closed.stat()

        seen = run(UNREADABLE, base / "project")

        assert seen["listed"] == seen["found"] == [1]
        [[path, message, hint]] = seen["problems"]
        assert path == str(closed)
        assert "Permission denied" in message
        assert "ls -l" in hint
        assert seen["recalled"] == [str(closed)]
        assert seen["got"]["kind"] == "corrupt"
        assert str(closed) in seen["got"]["message"]
        assert [str(closed), ""] in seen["doctor"], "the doctor names it too, and leaves it as it is"
        assert seen["saved"] == 6
        assert (closed.stat().st_mode, closed.stat().st_mtime_ns) == (before.st_mode, before.st_mtime_ns)


@pytest.mark.parametrize("name", ["topics/odd.md", "articles/odd.md", "context.md"])
@pytest.mark.parametrize("what", ["bytes that are no UTF-8", "broken YAML"])
def test_other_kinds_of_documents_are_no_different(what: str, name: str, kb: KnowledgeBase, vault: Path):
    path = vault / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(REFUSED[what][0])
    before = snapshot(vault)
    if name == "context.md":
        problems = kb.context().problems
        assert [problem.path for problem in problems] == [str(path)]
        assert any(str(path) in notice for notice in kb.prompt().notices)
    else:
        problems = kb.list(("topic", "article")).problems
        assert [(problem.path, problem.line) for problem in problems] == [(str(path), REFUSED[what][1])]
    ref = "context" if name == "context.md" else f"{Path(name).parent.name.rstrip('s')}:odd"
    with pytest.raises(Corrupt, match=str(path)):
        kb.get(ref)
    read_everything(kb)
    assert snapshot(vault) == before
