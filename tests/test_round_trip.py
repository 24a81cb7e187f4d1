"""What goes out comes back: export and import into an empty vault give the same notes, byte for byte."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from co_cli import KnowledgeBase
from co_cli.exchange.export import export
from co_cli.exchange.json_lines import import_json_lines
from co_cli.exchange.markdown import import_markdown
from co_cli.frontmatter import render_document
from co_cli.knowledge import open_knowledge_at
from co_cli.note import memory_name, parse_note

IMPORTERS = {"markdown": import_markdown, "jsonl": import_json_lines}
FORMS = pytest.mark.parametrize("form", IMPORTERS)

words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=60).filter(
    lambda text: text.strip()
)
plain = st.text("abcdefghijklmnopqrstuvwxyz ", min_size=1, max_size=20).filter(lambda text: text.strip())
values = st.one_of(words, st.integers(1, 10**6), st.booleans(), st.lists(words, max_size=3))
extra = st.dictionaries(st.from_regex(r"x_[a-z]{1,8}", fullmatch=True), values, max_size=3)


@st.composite
def memories(draw: st.DrawFn) -> dict[str, bytes]:
    """The memories of a vault, some of them in the archive, with references among them."""
    ids = draw(st.lists(st.integers(1, 300), unique=True, max_size=6))
    files = {}
    for number in ids:
        fields: dict[str, object] = {
            "id": number,
            "created": "2026-02-09T14:30:00+00:00",
            "tags": draw(st.lists(plain, max_size=3)),
        }
        if draw(st.booleans()):
            fields["supersedes"] = draw(st.sampled_from(ids))
        if draw(st.booleans()):
            fields["pinned"] = True
        body = draw(words) + draw(st.sampled_from(["", f"\n\nSee [[{ids[0]}]] and `[[{ids[0]}]]`.\n", "\r\nCRLF\r\n"]))
        text = render_document({**fields, **draw(extra)}, body)
        folder = draw(st.sampled_from(["memories", "archive/memories"]))
        files[f"{folder}/{memory_name(number, body)}"] = text.encode("utf-8")
    return files


@st.composite
def vaults(draw: st.DrawFn) -> dict[str, bytes]:
    """All files of a vault."""
    files = draw(memories())
    for slug in draw(st.lists(st.sampled_from(["deploy", "discord_setup", "c++", "наука"]), unique=True)):
        files[f"topics/{slug}.md"] = render_document({"topic": slug, "tags": [], **draw(extra)}, draw(words)).encode("utf-8")
    for slug in draw(st.lists(st.sampled_from(["rfc-9110", "talk"]), unique=True)):
        fields = {"source": f"https://example.org/{slug}", "title": draw(words), "attachment": f"attachments/{slug}.pdf"}
        files[f"articles/{slug}.md"] = render_document(fields, draw(words)).encode("utf-8")
        files[f"attachments/{slug}.pdf"] = draw(st.binary(max_size=50))
    if draw(st.booleans()):
        files["context.md"] = draw(words).encode("utf-8")
    return {name: raw for name, raw in files.items() if is_sound(name, raw)}


def is_sound(name: str, raw: bytes) -> bool:
    """Whether a file can be read, so that there is something to come back."""
    if name.startswith("attachments/"):
        return True
    kind = {"memories": "memory", "topics": "topic", "articles": "article"}.get(
        name.split("/")[-2] if "/" in name else "", "context"
    )
    try:
        return bool(parse_note(raw, kind=kind, vault="project", path=name))
    except ValueError:
        return False


def at(top: Path, name: str) -> KnowledgeBase:
    return open_knowledge_at(home=str(top / name / "h"), state=str(top / name / "s"), project=str(top / name / "p"))


def put(kb: KnowledgeBase, files: dict[str, bytes]) -> None:
    for name, raw in files.items():
        path = Path(kb.vault("project").root, *name.split("/"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)


def files_of(kb: KnowledgeBase) -> dict[str, bytes]:
    root = Path(kb.vault("project").root)
    found = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    return {name: raw for name, raw in found.items() if name != ".gitignore"}


@FORMS
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(files=vaults())
def test_an_export_imported_into_an_empty_vault_gives_the_same_files(form: str, files: dict[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        here, there = at(top, "here"), at(top, "there")
        put(here, files)
        out = str(top / "out")
        export(here, out, form=form, vaults=["project"])
        first = IMPORTERS[form](there, out)
        assert not first.skipped
        assert files_of(there) == files
        again = IMPORTERS[form](there, out)
        assert set(again.counts) <= {"unchanged"}
        assert files_of(there) == files
        assert len(there.log()) == min(1, len(files))


@FORMS
def test_a_header_that_co_would_write_otherwise_comes_back_as_it_was(form: str, tmp_path: Path) -> None:
    head = '---\nid:   7   # lucky\ncreated: "2026-02-09T14:30:00Z"\nmood: {a: [1, 2.5, ~], b: !!set {x, y}}\n---\n'
    odd = f"{head}Words\r\n\n\n"
    here, there = at(tmp_path, "here"), at(tmp_path, "there")
    put(here, {"memories/007-words.md": odd.encode()})
    export(here, str(tmp_path / "out"), form=form, vaults=["project"])
    IMPORTERS[form](there, str(tmp_path / "out"))
    assert files_of(there) == {"memories/007-words.md": odd.encode()}


@FORMS
def test_where_an_id_is_taken_the_note_gets_another_and_what_refers_to_it_goes_along(form: str, tmp_path: Path) -> None:
    here, there = at(tmp_path, "here"), at(tmp_path, "there")
    old = here.save("We deploy on Fridays").note
    new = here.save("We deploy on Mondays, see [[1]], [why](001-we-deploy-on-fridays.md) and `[[1]]`").note
    here.update(new.ref, text=new.text.replace("source:", "supersedes: 1\nsource:"))
    here.update(old.ref, text=old.text.replace("source:", "superseded_by: 2\nsource:"))
    there.save("Mine has the id 1")
    there.save("Mine has the id 2")
    export(here, str(tmp_path / "out"), form=form, vaults=["project"])
    report = IMPORTERS[form](there, str(tmp_path / "out"))
    assert [(entry.outcome, entry.ref) for entry in report.entries] == [("created", "3"), ("created", "4")]
    assert there.get("3").superseded_by == 4
    assert there.get("4").supersedes == (3,)
    assert there.get("4").body == "We deploy on Mondays, see [[3]], [why](003-we-deploy-on-fridays.md) and `[[1]]`"
    assert IMPORTERS[form](there, str(tmp_path / "out")).counts == {"unchanged": 2}


@FORMS
def test_a_reference_to_a_note_that_did_not_come_along_does_not_mean_another_one_here(form: str, tmp_path: Path) -> None:
    here, there = at(tmp_path, "here"), at(tmp_path, "there")
    head = "---\nid: {id}\ncreated: 2026-01-01T00:00:00+00:00\n{more}---\n\n{text}\n"
    put(here, {"memories/001-a.md": head.format(id=1, more="private: true\n", text="Hidden").encode()})
    put(here, {"memories/002-b.md": head.format(id=2, more="supersedes: [1, 9]\n", text="New").encode()})
    there.save("Mine has the id 1")
    export(here, str(tmp_path / "out"), form=form, vaults=["project"])
    IMPORTERS[form](there, str(tmp_path / "out"))
    assert there.get("2").supersedes == (9,)
    assert IMPORTERS[form](there, str(tmp_path / "out")).counts == {"unchanged": 1}


@FORMS
def test_private_notes_stay_here_unless_they_are_asked_for(form: str, tmp_path: Path) -> None:
    here, there = at(tmp_path, "here"), at(tmp_path, "there")
    here.save("The door code is on the fridge", private=True)
    report = export(here, str(tmp_path / "out"), form=form, vaults=["project"])
    assert report.counts == {"withheld": 1}
    assert b"fridge" not in b"".join(path.read_bytes() for path in tmp_path.glob("out*/*")) + _content(tmp_path / "out")
    export(here, str(tmp_path / "all"), form=form, vaults=["project"], private=True)
    IMPORTERS[form](there, str(tmp_path / "all"))
    assert [note.private for note in there.list().notes] == [True]


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


@FORMS
def test_both_vaults_go_out_together_and_come_back_one_by_one(form: str, tmp_path: Path) -> None:
    here, there = at(tmp_path, "here"), at(tmp_path, "there")
    here.save("Of the project")
    here.save("Of mine", in_global=True)
    export(here, str(tmp_path / "out"), form=form, vaults=["project", "global"])
    mine = IMPORTERS[form](there, str(tmp_path / "out"))
    assert [(entry.outcome, entry.code) for entry in mine.entries] == [("created", ""), ("skipped", "other-vault")]
    IMPORTERS[form](there, str(tmp_path / "out"), in_global=True)
    assert [(note.ref, note.body) for note in there.list().notes] == [("1", "Of the project"), ("g:1", "Of mine")]


@FORMS
def test_a_note_that_changed_there_is_updated_and_one_that_changed_here_stays(form: str, tmp_path: Path) -> None:
    here, there = at(tmp_path, "here"), at(tmp_path, "there")
    put(here, {"memories/001-a.md": b"---\nid: 1\ncreated: 2026-01-01T00:00:00+00:00\ntags: []\n---\n\nOne\n"})
    out = str(tmp_path / "out")
    export(here, out, form=form, vaults=["project"])
    IMPORTERS[form](there, out)
    here.update("1", content="Two")
    export(here, out, form=form, vaults=["project"])
    assert IMPORTERS[form](there, out).counts == {"updated": 1}
    assert there.get("1").body == "Two"
    there.update("1", text=there.get("1").text.replace("Two", "Mine").replace("updated: 2", "updated: 3"))
    report = IMPORTERS[form](there, out)
    assert [(entry.outcome, entry.code) for entry in report.entries] == [("skipped", "newer-here")]
    assert there.get("1").body == "Mine"


@FORMS
def test_what_was_replaced_there_is_replaced_here_and_my_tags_stay_mine(form: str, tmp_path: Path) -> None:
    here, there = at(tmp_path, "here"), at(tmp_path, "there")
    here.save("The queue is Redis", tags=["ops"], pinned=True)
    out = str(tmp_path / "out")
    export(here, out, form=form, vaults=["project"])
    IMPORTERS[form](there, out)
    there.update("1", pinned=False)
    here.save("The queue is NATS")
    here.update("1", text=here.get("1").text.replace("source:", "superseded_by: 2\nsource:"))
    note = here.get("1")
    Path(note.path).write_text("".join(line for line in note.text.splitlines(keepends=True) if "updated" not in line))
    export(here, out, form=form, vaults=["project"])
    assert IMPORTERS[form](there, out).counts == {"created": 1, "updated": 1}
    assert (there.get("1").superseded_by, there.get("1").pinned) == (2, False)


def test_an_attachment_whose_name_is_taken_gets_another_with_its_article(tmp_path: Path) -> None:
    here, there = at(tmp_path, "here"), at(tmp_path, "there")
    article = b"---\nsource: https://example.org/talk\ntitle: Talk\nattachment: attachments/talk.pdf\n---\n\nWords\n"
    put(here, {"articles/talk.md": article, "attachments/talk.pdf": b"theirs"})
    put(there, {"attachments/talk.pdf": b"mine"})
    export(here, str(tmp_path / "out"), vaults=["project"])
    import_markdown(there, str(tmp_path / "out"))
    assert files_of(there) == {
        "articles/talk.md": article.replace(b"talk.pdf\n", b"talk-2.pdf\n"),
        "attachments/talk.pdf": b"mine",
        "attachments/talk-2.pdf": b"theirs",
    }


@pytest.mark.parametrize(
    "place",
    [
        "../outside.md",
        "memories/../../x.md",
        "/etc/x.md",
        "memories/a/b.md",
        "seed/x.md",
        "attachments/../x",
        "attachments/.x",
    ],
)
def test_a_line_cannot_name_a_place_outside_of_the_notes(place: str, tmp_path: Path) -> None:
    there = at(tmp_path, "there")
    document = "---\nid: 1\ncreated: 2026-01-01T00:00:00+00:00\n---\n\nWords\n"
    kind = "attachment" if place.startswith("attach") else "memory"
    line = {"kind": kind, "path": place, "document": document, "base64": "AAAA"}
    (tmp_path / "out.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    report = import_json_lines(there, str(tmp_path / "out.jsonl"))
    assert [(entry.outcome, entry.code) for entry in report.entries] == [("skipped", "unknown")]
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.name not in ("out.jsonl", ".gitignore")]


def test_a_file_that_was_cut_off_is_taken_in_as_far_as_it_goes_and_that_is_told(tmp_path: Path) -> None:
    here, there = at(tmp_path, "here"), at(tmp_path, "there")
    for word in ("One", "Two", "Three"):
        here.save(word)
    out = tmp_path / "out.jsonl"
    export(here, str(out), vaults=["project"])
    out.write_bytes(out.read_bytes()[:-20])
    report = import_json_lines(there, str(out))
    assert [(entry.outcome, entry.code) for entry in report.entries] == [
        ("created", ""),
        ("created", ""),
        ("skipped", "malformed"),
    ]
    out.write_bytes(b"".join(out.read_bytes().splitlines(keepends=True)[:3]))
    report = import_json_lines(there, str(out))
    assert report.entries[-1].reason == "the file is not whole: 3 lines were written, and 2 are there"
