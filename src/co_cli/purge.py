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
from co_cli.frontmatter import parse_frontmatter
from co_cli.journal import Digest, is_of
from co_cli.note import ARTICLE, FOLDERS, GLOBAL, MEMORY, TOPIC, claimed_ids

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
_INBOX = "inbox/"
_MOVED = (MEMORY, TOPIC, ARTICLE)
"""The kinds that may go from one vault to the other."""


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


def with_moves(vaults: Sequence[Vault], found: Iterable[tuple[Vault, Trail]]) -> list[tuple[Vault, Trail]]:
    """These trails, and those that the same notes left in either vault before they were moved to the other."""
    trails = list(found)
    seen = {(vault.name, number, path) for vault, trail in trails for number, paths in trail.steps.items() for path in paths}
    removals = [
        (vault, number, step.path, step.before)
        for vault in vaults
        for number in _numbers(vault.journal)
        for step in _removals(vault.journal, number)
    ]
    reached = 0
    while reached < len(trails):  # what is found may lead to more
        origins = _origins(trails[reached][1].texts)
        reached += 1
        for vault, number, path, before in removals:
            if (vault.name, number, path) not in seen and before and origins & _origins([before.decode("utf-8", "replace")]):
                trail = _follow(vault.journal, {}, {path: before}, newest=number)
                seen.update((vault.name, each, part) for each, parts in trail.steps.items() for part in parts)
                trails.append((vault, trail))
    return trails


def _removals(journal: Journal, number: int) -> Iterator[Done]:
    """The notes that a change removed, but for those that only got another file by it."""
    change = _steps(journal, number)
    folders = [FOLDERS[kind] for kind in _MOVED]
    for step in change:
        is_gone = step.after is None and step.path.rpartition("/")[0].rpartition("/")[2] in folders
        if is_gone and not any(other.after is not None and _same(step.before, other.after) for other in change):
            yield step


def _origins(texts: Iterable[str]) -> set[tuple[str, str]]:
    """What a note keeps when it is moved to the other vault: when it was made, and what it says."""
    found = set()
    for text in texts:
        try:
            fields, body = parse_frontmatter(text)
        except ValueError:  # nobody can say what it was
            continue
        made = fields.get("created") or fields.get("fetched")
        if made:
            found.add((str(made), body.strip()))
    return found


def refs_in(raw: bytes, mark: str = "") -> set[str]:
    """The refs of the notes that a proposal names; the topic that it would write has the mark of its vault."""
    try:
        fields = parse_frontmatter(raw.decode("utf-8"))[0]
    except ValueError:  # it names nothing that could be read
        return set()
    evidence = fields.get("evidence")
    lists = (fields.get("refs"), evidence.get("refs") if isinstance(evidence, dict) else None)
    named = {str(ref).removeprefix("p:") for each in lists if isinstance(each, list) for ref in each}
    return named | ({f"{mark}topic:{fields.get('name')}"} if fields.get("action") == "topic" else set())


def _with_proposals(vault: Vault, trail: Trail) -> Trail:
    """A trail with the proposals that somebody has answered, and that named the note while it was there, or quote it."""
    numbers = {number for text in trail.texts for number in claimed_ids(text.encode("utf-8", "replace"))}
    mark = "g:" if vault.name == GLOBAL else ""
    refs = {f"{mark}{number}" for number in numbers}
    refs |= {f"{mark}topic:{path[:-3].rpartition('/')[2]}" for path in trail.paths if FOLDERS[TOPIC] in path.split("/")}
    telling = _telling(trail.texts)
    steps = {number: set(paths) for number, paths in trail.steps.items()}
    for change in vault.journal.changes():
        if not any(path.startswith(_INBOX) for path in change.paths):
            continue
        alive = min(trail.steps) <= change.number <= max(trail.steps)
        for step in _steps(vault.journal, change.number):
            images = (image for image in (step.before, step.after) if isinstance(image, bytes))
            if step.path.startswith(_INBOX) and any(
                (alive and refs & refs_in(image, mark)) or any(each in image for each in telling) for image in images
            ):
                steps.setdefault(change.number, set()).add(step.path)
    return trail._replace(steps={number: frozenset(paths) for number, paths in steps.items()})


def purge(vault: Vault, trail: Trail) -> int:
    """Take a note out of the journal; returns how many changes held something of it. Those can no longer be undone whole."""
    with vault.change("purge"):  # nothing of the files; but nobody else writes to the journal meanwhile
        whole = _with_proposals(vault, trail)
        for number, paths in whole.steps.items():
            vault.journal.strike_out(number, paths)
    return len(whole.steps)


def remains(vaults: Sequence[Vault], vault: Vault, trail: Trail, sessions: str) -> tuple[Remains, ...]:
    """What others keep of it: the other vault, what waits in the inboxes, the history of git, and chats."""
    waiting = [Remains(path, "a proposal that says it", "Say no to it: co review") for path in _waiting(vaults, trail.texts)]
    chats = (
        Remains(path, "a chat in which its words were said", f"Remove it if you like: rm {path}")
        for path in _quoted(trail.texts, sessions)
    )
    return (*_living(vaults, trail), *waiting, *_in_git(vault, trail.paths), *chats)


def _living(vaults: Sequence[Vault], trail: Trail) -> Iterator[Remains]:
    """The notes that it became when it was moved, and that are still there."""
    origins = _origins(trail.texts)
    days = [created.encode() for created, _body in origins]
    for vault in vaults:
        for archived in (False, True):
            listed = vault.scan(_MOVED, wanted=lambda raw: any(day in raw for day in days), archived=archived)
            for note in listed.notes:
                if origins & _origins([note.text]):
                    yield Remains(note.ref, "what became of it when it was moved", f"co forget {note.ref} --purge")


def _waiting(vaults: Iterable[Vault], texts: Iterable[str]) -> Iterator[str]:
    for vault in vaults:
        yield from _quoted(texts, os.path.join(vault.root, _INBOX.rstrip("/")))


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


def _quoted(texts: Iterable[str], folder: str) -> Iterator[str]:
    """The files of a folder that quote one of these texts."""
    telling = _telling(texts)
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        try:
            with open(path, "rb") as file:
                raw = file.read()
        except OSError:
            continue
        if any(each in raw for each in telling):
            yield path


def _telling(texts: Iterable[str]) -> set[bytes]:
    """By what these texts are recognised elsewhere, as they are and as JSON writes them."""
    import json

    found: set[bytes] = set()
    for text in texts:
        body = text.rpartition("\n---\n")[2].strip()[:_TELLING]
        found.update((body.encode(), json.dumps(body, ensure_ascii=False)[1:-1].encode()) if body else ())
    return found
