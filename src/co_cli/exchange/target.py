"""Where an export is written: a folder or a file outside of the vaults.

Owns that nobody's files are written over: a folder must be empty or the work of an earlier export, and a file in it must
be as that export left it. Knows nothing of notes: names and bytes are all it sees.

The manifest is written before the first file and after the last one, so a process that was killed in between is taken up
by the next.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import TYPE_CHECKING

from co_cli.errors import Conflict, Invalid
from co_cli.files import (
    cannot,
    discard,
    flush_folder,
    is_within,
    locked,
    make_folder,
    publish,
    read_bytes,
    replace_file,
    stage,
)
from co_cli.note import sha_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

MANIFEST = ".co-export.json"
"""The file by which a folder is known to be an export, with the hashes of what was written."""

WRITTEN, UNCHANGED, REMOVED, LEFT = "written", "unchanged", "removed", "left"
_IGNORED = (".git", ".DS_Store", MANIFEST)
_SHOWN = 5


def check_place(path: str, roots: Iterable[str]) -> None:
    """Raise ``Invalid`` for a place in a vault or a linked folder: what is written there would be notes, or in their way."""
    for root in roots:
        if is_within(path, root):
            raise Invalid(
                f"{path} lies in a vault, or in a linked folder.",
                "Name a folder or file outside of it: co knowledge --export ~/notes",
            )


def write_folder(folder: str, files: Mapping[str, bytes], *, dry_run: bool, private: Iterable[str] = ()) -> dict[str, str]:
    """Make a folder hold these files, and take away what an earlier export has there beside them.

    Returns what became of each name: ``written``, ``unchanged``, ``removed``, or ``left`` where somebody has edited a file
    that is no longer part of the export. Raises ``Conflict``, with nothing written, where a file is in the way.
    """
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise Invalid(f"{folder} is no folder.", "Name a folder, or a file that ends in .jsonl or .md.")
    if not dry_run:
        make_folder(folder)
    with nullcontext() if dry_run else locked(folder):
        known = _manifest(folder)
        if known is None and (strangers := _strangers(folder)):
            raise Conflict(
                f"{folder} is not empty, and no export made it: it has {', '.join(strangers)}.",
                "Nothing was written. Name an empty folder, or one that does not exist yet.",
            )
        outcomes = _plan(folder, files, known or {})
        if not dry_run and any(outcome in (WRITTEN, REMOVED) for outcome in outcomes.values()):
            _write(folder, files, outcomes, known or {}, set(private))
    return outcomes


def write_file(path: str, content: bytes, is_own: Callable[[bytes], bool], *, dry_run: bool, private: bool) -> str:
    """Put one file in place, where there is none or one of an earlier export that nobody has edited."""
    there = _content(path)
    if there == content:
        return UNCHANGED
    if there is not None and not is_own(there):
        raise Conflict(
            f"{path} is there already, and is not as an export left it.",
            "Nothing was written. Name another file, or remove this one first.",
        )
    if not dry_run:
        make_folder(os.path.dirname(path))
        replace_file(path, content, 0o600 if private else None)
    return WRITTEN


def _plan(folder: str, files: Mapping[str, bytes], known: Mapping[str, list[str]]) -> dict[str, str]:
    outcomes: dict[str, str] = {}
    in_the_way = []
    for name, content in files.items():
        there = _content(_path(folder, name))
        if there == content:
            outcomes[name] = UNCHANGED
        elif there is None or sha_of(there) in known.get(name, ()):
            outcomes[name] = WRITTEN
        else:
            in_the_way.append(name)
    if in_the_way:
        names = ", ".join(sorted(in_the_way)[:_SHOWN]) + (", …" if len(in_the_way) > _SHOWN else "")
        raise Conflict(
            f"{folder} has files that are not as an export left them: {names}.",
            "Nothing was written. Move them away, or name another folder.",
        )
    for name in known.keys() - files.keys():
        there = _content(_path(folder, name))
        if there is not None:
            outcomes[name] = REMOVED if sha_of(there) in known[name] else LEFT
    return outcomes


def _write(
    folder: str,
    files: Mapping[str, bytes],
    outcomes: Mapping[str, str],
    known: Mapping[str, list[str]],
    private: set[str],
) -> None:
    hashes = {name: [sha_of(content)] for name, content in files.items()}
    both = {name: [*known.get(name, ()), *hashes.get(name, ())] for name in {**known, **hashes}}
    _write_manifest(folder, both)
    touched: set[str] = set()
    for name, outcome in outcomes.items():
        path = _path(folder, name)
        if outcome == WRITTEN:
            make_folder(os.path.dirname(path))
            if not is_within(path, folder):
                raise Conflict(f"{path} leads out of {folder} by a symbolic link.", "Nothing was written there.")
            _put(path, files[name], 0o600 if name in private else None)
            touched.add(os.path.dirname(path))
        elif outcome == REMOVED:
            _remove(path, folder)
    for each in touched:
        flush_folder(each)
    _write_manifest(folder, hashes)


def _put(path: str, content: bytes, mode: int | None) -> None:
    """Put a whole file in place; its folder is still to be flushed, which is done once for all."""
    staged = stage(path, content, mode)
    try:
        publish(staged, path, new=False)
    except OSError as error:
        discard(staged)
        raise cannot("written", path, error) from error


def _remove(path: str, folder: str) -> None:
    try:
        os.unlink(path)
        above = os.path.dirname(path)
        while above != folder and not os.listdir(above):
            os.rmdir(above)
            above = os.path.dirname(above)
    except OSError as error:
        raise cannot("removed", path, error) from error


def _manifest(folder: str) -> dict[str, list[str]] | None:
    """What an earlier export wrote, by name; ``None`` where there was none."""
    raw = _content(os.path.join(folder, MANIFEST))
    if raw is None:
        return None
    import json

    try:
        files = json.loads(raw)["files"]
        return {str(name): [str(sha) for sha in hashes] for name, hashes in files.items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Conflict(
            f"{os.path.join(folder, MANIFEST)} cannot be understood, so what is in {folder} is not known.",
            "Nothing was written. Name another folder.",
        ) from error


def _write_manifest(folder: str, files: Mapping[str, list[str]]) -> None:
    import json

    content = {"co": "export", "version": 1, "files": dict(sorted(files.items()))}
    replace_file(os.path.join(folder, MANIFEST), (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode("utf-8"))


def _strangers(folder: str) -> list[str]:
    try:
        names = sorted(set(os.listdir(folder)) - set(_IGNORED))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise cannot("read", folder, error) from error
    return [*names[:_SHOWN], *(["…"] if len(names) > _SHOWN else [])]


def _content(path: str) -> bytes | None:
    try:
        return read_bytes(path)
    except OSError as error:
        raise cannot("read", path, error) from error


def _path(folder: str, name: str) -> str:
    return os.path.join(folder, *name.split("/"))
