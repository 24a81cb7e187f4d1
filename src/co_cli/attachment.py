"""Attachments: the originals of articles, which lie beside the notes as they came.

Owns their names, which of them a note uses, and that each comes and goes with those who use it. Knows nothing of what is in
them, nor of how an article came about.

Two articles with the same original share one file: its name ends in a part of its hash. Nothing but a file that lies in the
folder of attachments itself is ever touched, whatever the header of an article claims.
"""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, NamedTuple

from co_cli.draft import absolute, content_of, relative
from co_cli.errors import Unavailable
from co_cli.files import is_within, reason
from co_cli.frontmatter import parse_frontmatter
from co_cli.note import ARTICLE, FOLDERS, Note, Problem, sha_of, slugify

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from co_cli.draft import Draft
    from co_cli.vault import Vault

FOLDER = "attachments"
IGNORED = "attachments/*-private*"
"""What git must not keep of them: the line of a `.gitignore` that leaves out the originals of private articles."""

_PRIVATE = "-private"
_MARK = 16
"""Signs of the hash in the name of a file."""
_NAME = r"attachments/([^./\\\0][^/\\\0]{0,254})"
_ENDING = r"\.[a-z0-9]{1,8}"
_FIELD = b"attachment:"
_UNREADABLE = "unreadable"


class Attachment(NamedTuple):
    """An original: the name that it came with, and its bytes."""

    name: str
    raw: bytes


class Usage(NamedTuple):
    """How many originals a vault has, and how much room they take."""

    files: int
    size: int


def name_for(vault: Vault, attachment: Attachment, *, private: bool) -> str:
    """What an original is to be called in a vault, or is called there already: ``attachments/report-0123456789abcdef.pdf``.

    That of a private article says nothing about it, and git leaves it out.
    """
    sha256 = sha_of(attachment.raw)
    stem, ending = os.path.splitext(attachment.name.lower())
    ending = ending if re.fullmatch(_ENDING, ending) else ""
    if private:
        return f"{FOLDER}/{sha256[:_MARK]}{_PRIVATE}{ending}"
    for name in names(vault):
        if name.partition(".")[0].endswith(f"-{sha256[:_MARK]}") and content(vault, f"{FOLDER}/{name}") == attachment.raw:
            return f"{FOLDER}/{name}"
    return f"{FOLDER}/{slugify(stem, otherwise='original')}-{sha256[:_MARK]}{ending}"


def path_of(vault: Vault, name: str) -> str:
    """The full path of an original; empty for what is none, such as a path that leads elsewhere."""
    return os.path.join(vault.root, *name.split("/")) if re.fullmatch(_NAME, name) else ""


def content(vault: Vault, name: str) -> bytes | None:
    """The bytes of an original; ``None`` where there is no ordinary file of this name."""
    path = path_of(vault, name) if _is_inside(vault) else ""
    try:
        if path and not vault.rehearses and not stat.S_ISREG(os.lstat(path).st_mode):
            return None
    except OSError:
        return None
    return vault.content(path) if path else None


def names(vault: Vault) -> list[str]:
    """The names of all files in the folder of attachments."""
    folder = os.path.join(vault.root, FOLDER)
    if not _is_inside(vault):
        return []
    try:
        return sorted(name for name in os.listdir(folder) if name[0] != ".")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise Unavailable(f"{folder} cannot be read: {reason(error)}.", "Check its permissions.") from error


def _is_inside(vault: Vault) -> bool:
    """Whether the folder of attachments is one of the vault, and no link out of it."""
    folder = os.path.join(vault.root, FOLDER)
    return not os.path.islink(folder) or is_within(folder, vault.root)


def usage(vault: Vault) -> Usage:
    """How many originals there are, and how much room they take."""
    sizes = []
    for name in names(vault):
        try:
            found = os.lstat(os.path.join(vault.root, FOLDER, name))
        except OSError:  # removed since the folder was listed
            continue
        if stat.S_ISREG(found.st_mode):
            sizes.append(found.st_size)
    return Usage(len(sizes), sum(sizes))


def put(draft: Draft, vault: Vault, attachment: Attachment, *, private: bool) -> str:
    """Put an original into a draft, unless the vault or the draft has it; returns its name."""
    for step in draft.steps:  # another article of the same change has it
        if step.after == attachment.raw and step.path.startswith(f"{FOLDER}/") and (_PRIVATE in step.path) is private:
            return step.path
    name = name_for(vault, attachment, private=private)
    if content(vault, name) != attachment.raw:
        bring_back(draft, vault, name, attachment.raw)
    return name


def settle(draft: Draft, vault: Vault) -> None:
    """Let the originals go that nothing uses any more once a draft is done, and bring back those that are used again."""
    changed = [(step.before, step.after) for step in draft.steps if _is_article(step.path)]
    before = _named(image for image, _ in changed if isinstance(image, bytes))
    after = _named(image for _, image in changed if isinstance(image, bytes))
    own = {step.path: step for step in draft.steps if step.path.startswith(f"{FOLDER}/")}
    leaving = before.keys() - after.keys() | {path for path, step in own.items() if step.after is None}
    used = _used(vault, draft, leaving) if leaving else set()
    for name in sorted(leaving):
        raw = content(vault, name)
        if name in used and name in own:
            draft.steps.remove(own[name])
        elif name not in used and name not in own and raw is not None:
            draft.put(path_of(vault, name), raw, None)
    for name, sha256 in sorted(after.items()):
        raw = _known(vault, name, sha256) if name not in own and content(vault, name) is None else None
        if raw is not None:
            bring_back(draft, vault, name, raw)


def bring_back(draft: Draft, vault: Vault, name: str, raw: bytes) -> None:
    """Put an original into a draft under its old name, once."""
    path = path_of(vault, name)
    if relative(draft.root, path) not in {step.path for step in draft.steps}:
        draft.put(path, None, raw, mode=_mode(name))


def _mode(name: str) -> int | None:
    return 0o600 if _PRIVATE in name else None


def _known(vault: Vault, name: str, sha256: str) -> bytes | None:
    """The bytes of an original that is not there, from the journal, if it has them."""
    raw = vault.journal.last_content(name)
    return raw if raw is not None and sha_of(raw) == sha256 else None


def _is_article(path: str) -> bool:
    return path.rpartition("/")[0].split("/")[-1] == FOLDERS[ARTICLE]


def _named(images: Iterable[bytes]) -> dict[str, str]:
    """The originals that the headers of articles name, with their hashes."""
    return {name: sha256 for name, sha256 in map(original_of, images) if name}


def original_of(raw: bytes) -> tuple[str, str]:
    """The original that an article names, and its hash; empty where it names none, or what is none."""
    if _FIELD not in raw:
        return "", ""
    try:
        fields = parse_frontmatter(raw.decode("utf-8"))[0]
    except ValueError:
        return "", ""
    name, sha256 = str(fields.get("attachment") or ""), str(fields.get("sha256") or "")
    return (name, sha256) if re.fullmatch(_NAME, name) else ("", "")


def _used(vault: Vault, draft: Draft, wanted: Iterable[str]) -> set[str]:
    """Which of these originals are used by what is there once the draft is done: any mention of its name is a use.

    Where a file cannot be read, it may use any of them.
    """
    needles = {name: name.removeprefix(f"{FOLDER}/").encode() for name in wanted}
    changed = {absolute(vault.root, step.path) for step in draft.steps}
    problems: list[Problem] = []
    used: set[str] = set()
    for raw in (*_texts(vault, changed, problems), *(step.after for step in draft.steps if step.path.endswith(".md"))):
        if raw is not None:
            used.update(name for name, needle in needles.items() if needle in raw)
    return set(needles) if any(problem.code == _UNREADABLE for problem in problems) else used


def _texts(vault: Vault, but: Iterable[str], problems: list[Problem]) -> Iterator[bytes]:
    """The bytes of every note of a vault but these."""
    left_out = frozenset(but)
    for kind in FOLDERS:
        for archived in (False, True):
            yield from (raw for path, raw in vault.files(kind, problems, archived=archived) if path not in left_out)
    yield content_of(vault.context_path) or b""


class Missing(NamedTuple):
    """An original that an article names and that is not there."""

    problem: Problem
    name: str
    raw: bytes | None
    """Its bytes, where the journal has them."""


def missing(vault: Vault, notes: Iterable[Note]) -> Iterator[Missing]:
    """The originals that the articles of a vault name and that are not there."""
    for note in notes:
        name, sha256 = original_of(note.raw) if note.kind == ARTICLE else ("", "")
        if name and content(vault, name) is None:
            line = note.text.partition(_FIELD.decode())[0].count("\n") + 1
            what = "its original" if note.private else name
            hint = f"Take it in again: co article add {'SOURCE' if note.private else note.source or 'SOURCE'}"
            problem = Problem(note.path, f"{what} is not there", line, hint, code="missing-original")
            yield Missing(problem, name, _known(vault, name, sha256))


def unused(vault: Vault, notes: Iterable[Note]) -> Iterator[Problem]:
    """The originals that no note of a vault names any more."""
    present = names(vault)
    if present:
        texts = b"\0".join((*(note.raw for note in notes), content_of(vault.context_path) or b""))
        for name in present:
            if name.encode() not in texts:
                hint = "Remove it if nobody needs it, or name it in a note."
                yield Problem(os.path.join(vault.root, FOLDER, name), "no note uses this original", 1, hint, code="unused")


def leave_out_of_git(draft: Draft, vault: Vault) -> None:
    """See to it that git does not keep a private original that a draft adds, in a vault whose `.gitignore` is older."""
    if not any(
        step.after is not None and step.path.startswith(f"{FOLDER}/") and _PRIVATE in step.path for step in draft.steps
    ):
        return
    path = os.path.join(vault.root, ".gitignore")
    before = content_of(path)
    lines = (before or b"").splitlines()
    if before is not None and not {IGNORED.encode(), b"*"} & {line.strip() for line in lines}:
        draft.put(path, before, before + (b"" if before.endswith(b"\n") else b"\n") + f"{IGNORED}\n".encode())
