"""A look at a folder shows every change of its notes, and nothing leads out of it unseen."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from co_cli.folder import contents, leads_straight, look


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    top = tmp_path / "memories"
    top.mkdir()
    for number in range(3):
        (top / f"{number}.md").write_text(f"note {number}")
    return top


def append(folder: Path) -> None:
    with (folder / "1.md").open("a") as file:
        file.write(" and more")


def replace_by_one_of_the_same_size_and_time(folder: Path) -> None:
    before = (folder / "1.md").stat()
    (folder / "new").write_text("Note 1")
    os.replace(folder / "new", folder / "1.md")
    os.utime(folder / "1.md", ns=(before.st_atime_ns, before.st_mtime_ns))


def swap(folder: Path) -> None:
    os.rename(folder / "1.md", folder / "kept")
    os.rename(folder / "2.md", folder / "1.md")
    os.rename(folder / "kept", folder / "2.md")


@pytest.mark.parametrize(
    "change",
    [
        append,
        replace_by_one_of_the_same_size_and_time,
        swap,
        lambda folder: (folder / "1.md").unlink(),
        lambda folder: (folder / "3.md").touch(),
        lambda folder: os.rename(folder / "1.md", folder / "01.md"),
        lambda folder: os.chmod(folder / "1.md", 0o600),
    ],
)
def test_a_look_tells_each_state_of_a_folder_from_every_other(folder: Path, change) -> None:
    before = look(str(folder)).state
    assert look(str(folder)).state == before
    change(folder)
    assert look(str(folder)).state != before


def test_a_look_shows_notes_only_whatever_the_bytes_of_their_names(folder: Path) -> None:
    for name in (b".hidden.md", b"notes.txt", b".md", b"caf\xe9.md", "日記.md".encode()):
        with open(os.path.join(os.fsencode(folder), name), "wb") as file:
            file.write(b"text")
    seen = look(str(folder)).by_name()
    assert sorted(seen) == sorted(["0.md", "1.md", "2.md", os.fsdecode(b"caf\xe9.md"), "日記.md"])
    assert {name for name, _raw in contents(str(folder), None)} == set(seen)


def test_reading_a_folder_changes_nothing_in_what_a_look_shows(folder: Path) -> None:
    before = look(str(folder))
    assert {raw for _name, raw in contents(str(folder), None)} == {b"note 0", b"note 1", b"note 2"}
    assert look(str(folder)) == before


def test_a_folder_that_is_not_there_is_an_error_and_not_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        look(str(tmp_path / "none"))


def test_only_a_way_without_links_is_straight(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    (folder / "inner.md").symlink_to(folder / "1.md")
    top = str(tmp_path)
    assert leads_straight(str(folder), top)
    assert leads_straight(str(folder / "1.md"), top)
    assert leads_straight(f"{folder}/", top)
    assert not leads_straight(f"{top}/link", top)
    assert not leads_straight(f"{top}/link/", top)
    assert not leads_straight(f"{top}/link/1.md", top)
    assert not leads_straight(str(folder / "inner.md"), top)
    assert not leads_straight(f"{folder}/../../elsewhere", top)
    assert not leads_straight(f"{top}-beside/1.md", top)
