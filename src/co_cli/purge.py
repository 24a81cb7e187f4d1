"""What is left of a note after it was forgotten: what the journal keeps for `co undo`, and what others may have kept.

Owns following a note through the changes of its vault, whatever its file was called, and saying which git history still
holds it. Knows nothing of search, prompts or surfaces.
"""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from co_cli import attachment
from co_cli.errors import Corrupt, NotFound
from co_cli.journal import Digest, is_of
from co_cli.note import FOLDERS, MEMORY, claimed_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from co_cli.journal import Done, Journal
    from co_cli.note import Note, Ref
    from co_cli.vault import Vault

_SECONDS = 20
_NAMED = 5
"""Commits that are named."""
_TELLING = 60
"""Characters of a text by which it is recognised elsewhere."""


class Trail(NamedTuple):
    """The changes that a note went through, and the files that it was."""

    steps: dict[int, frozenset[str]]
    """The paths that concern it, by the number of the change."""
    paths: tuple[str, ...]
    texts: tuple[str, ...]


class Remains(NamedTuple):
    """Where something of a note may still be, since it is not for co to remove."""

    where: str
    what: str
    hint: str


def trail_of(vault: Vault, note: Note) -> Trail:
    """The changes that a note which is there went through."""
    from co_cli.draft import relative

    path = relative(vault.root, note.path)
    return _follow(vault.journal, {path: note.raw}, {})


def trails_of_gone(vault: Vault, ref: Ref) -> list[Trail]:
    """The changes that notes went through which had this ref, and are no more."""
    found: list[Trail] = []
    seen: set[tuple[int, str]] = set()
    for number in _numbers(vault.journal):
        for step in _steps(vault.journal, number):
            if step.after is None and (number, step.path) not in seen and _was(step, ref):
                trail = _follow(vault.journal, {}, {step.path: step.before or b""}, newest=number)
                seen.update((each, path) for each, paths in trail.steps.items() for path in paths)
                found.append(trail)
    return found


def _was(step: Done, ref: Ref) -> bool:
    folders = step.path.split("/")
    if FOLDERS.get(ref.kind) not in folders[:-1]:
        return False
    return int(ref.name) in claimed_ids(step.before or b"") if ref.kind == MEMORY else folders[-1] == f"{ref.name}.md"


def _follow(journal: Journal, living: dict[str, bytes], gone: dict[str, bytes | Digest], newest: int | None = None) -> Trail:
    """Go back through the changes, from the newest on: a note is one, however often it was moved, or undone and redone.

    ``living`` are the files that it has at that time, ``gone`` those that it had before it was removed.
    """
    steps: dict[int, frozenset[str]] = {}
    paths: dict[str, None] = dict.fromkeys((*living, *gone))
    texts = dict.fromkeys(image for image in (*living.values(), *gone.values()) if isinstance(image, bytes))
    for number in _numbers(journal):
        if newest is not None and number > newest:
            continue
        change = _steps(journal, number)
        mine = {
            step.path for step in change if step.path in living or (step.before and is_of(step.before, gone.get(step.path)))
        }
        if not mine:
            continue
        for step in (step for step in change if step.path in mine):
            texts.update(dict.fromkeys(image for image in (step.before, step.after) if isinstance(image, bytes)))
            living.pop(step.path, None)
            gone.pop(step.path, None)
            if step.before is not None:
                living[step.path] = step.before
            elif step.after is not None:
                moved = [other for other in change if other.after is None and _same(other.before, step.after)]
                mine.update(other.path for other in moved)
                living.update((other.path, other.before or b"") for other in moved)
                if not moved:  # made here, or brought back from where an earlier change removed it
                    gone[step.path] = step.after
        paths.update(dict.fromkeys(mine))
        steps[number] = frozenset(mine)
    kept = tuple(text.decode("utf-8", "replace") for text in texts if text)
    return Trail(steps, tuple(paths), kept)


def _same(one: bytes | None, other: bytes | Digest) -> bool:
    """Whether two files are the same memory, or the same document."""
    if one is None or isinstance(other, Digest):
        return is_of(one, other)
    ids = claimed_ids(one)
    return one == other or bool(ids and ids == claimed_ids(other))


def _numbers(journal: Journal) -> list[int]:
    return [change.number for change in journal.changes()]


def _steps(journal: Journal, number: int) -> tuple[Done, ...]:
    try:
        return journal.steps(number)
    except (Corrupt, NotFound):  # nobody can read it: it is not followed through it
        return ()


def with_originals(vault: Vault, trail: Trail) -> Trail:
    """A trail with those of the originals of an article that are gone from the vault like itself."""
    named = {attachment.original_of(text.encode("utf-8", "replace"))[0] for text in trail.texts}
    gone = {name for name in named if name and attachment.content(vault, name) is None}
    if not gone:
        return trail
    steps = {number: set(paths) for number, paths in trail.steps.items()}
    for change in vault.journal.changes():
        if gone & set(change.paths):
            steps.setdefault(change.number, set()).update(gone & set(change.paths))
    return trail._replace(
        steps={number: frozenset(paths) for number, paths in steps.items()}, paths=(*trail.paths, *sorted(gone))
    )


def purge(vault: Vault, trail: Trail) -> int:
    """Take a note out of the journal; returns how many changes held something of it. Those can no longer be undone whole."""
    with vault.change("purge"):  # nothing of the files; but nobody else writes to the journal meanwhile
        for number, paths in trail.steps.items():
            # what waited in the inbox and named the note was removed together with it
            beside = {step.path for step in _steps(vault.journal, number) if step.path.startswith("inbox/")}
            vault.journal.strike_out(number, paths | beside)
    return len(trail.steps)


def remains(vault: Vault, trail: Trail, folders: Iterable[str]) -> tuple[Remains, ...]:
    """What others keep of it: the history of git, and files in these folders that quote it."""
    return (*_in_git(vault, trail.paths), *_quoted(trail.texts, folders))


def _in_git(vault: Vault, paths: Sequence[str]) -> Iterator[Remains]:
    files = [os.path.join(vault.root, *path.split("/")) for path in paths]
    command = ["git", "-C", vault.root, "log", "--all", "--format=%h", "--", *files]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return  # no git, no history
    commits = done.stdout.split() if done.returncode == 0 else []
    if commits:
        named = f"{', '.join(commits[:_NAMED])}{', …' if len(commits) > _NAMED else ''}"
        what = f"{len(commits)} commit{'s have' if len(commits) > 1 else ' has'} it: {named}"
        top = os.path.relpath(os.path.realpath(vault.root), _top(vault.root))
        names = " ".join(f"--path {os.path.join(top, *path.split('/'))}" for path in paths)
        hint = f"To rewrite the history is for you to decide: git filter-repo --invert-paths {names}"
        yield Remains("git history", what, hint)


def _top(folder: str) -> str:
    """The top of the git checkout that a folder is in, which is known to be one."""
    while not os.path.exists(os.path.join(folder, ".git")) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return os.path.realpath(folder)


def _quoted(texts: Iterable[str], folders: Iterable[str]) -> Iterator[Remains]:
    import json

    telling: set[bytes] = set()
    for text in texts:
        body = text.rpartition("\n---\n")[2].strip()[:_TELLING]
        telling.update((body.encode(), json.dumps(body, ensure_ascii=False)[1:-1].encode()) if body else ())
    for folder in folders:
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            path = os.path.join(folder, name)
            try:
                with open(path, "rb") as file:
                    raw = file.read()
            except OSError:
                continue
            if any(each in raw for each in telling):
                yield Remains(path, "a chat in which its words were said", f"Remove it if you like: rm {path}")
