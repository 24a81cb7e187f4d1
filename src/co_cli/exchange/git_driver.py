"""Merging notes where git merges branches: what git is told, and what it calls for a file that both branches changed.

Owns the name of the driver and its settings, and what becomes of two memories that got one name. How two versions are
joined is :mod:`co_cli.exchange.threeway`'s.
"""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import Invalid, NotFound, Unavailable
from co_cli.exchange.threeway import Names, merge
from co_cli.files import cannot, make_folder, publish, read_bytes, replace_file, stage
from co_cli.frontmatter import FrontmatterError, parse_frontmatter, replace_fields
from co_cli.note import FOLDERS, MEMORY, claimed_ids, numbers_in

if TYPE_CHECKING:
    from co_cli.knowledge import Vault

ATTRIBUTES = "*.md merge=co"
_COMMAND = "co-cli"  # by this name no other program goes


class Driven(NamedTuple):
    """What became of a file that both branches changed."""

    conflicts: int
    message: str = ""


def merge_file(base: str, ours: str, theirs: str, name: str) -> Driven:
    """Join two versions of a file as git asks for it: the result goes into the file of ours."""
    base, ours, theirs = map(os.path.abspath, (base, ours, theirs))  # git names them from where it stands
    contents = [_read(path) for path in (base, ours, theirs)]
    old, mine, other = contents[0] or None, contents[1] or b"", contents[2] or b""
    if old is None and _are_two_memories(name, mine, other):
        beside = _put_beside(name, mine, other)
        if beside:
            return Driven(
                1, f"{name} and theirs are two memories with one id: theirs is now {beside}. Add it: git add {beside}"
            )
    merged = merge(old, mine, other, by_bullets=os.path.basename(name) == "context.md", names=Names())
    replace_file(ours, merged.raw)
    places = "place" if merged.conflicts == 1 else "places"
    return Driven(merged.conflicts, f"{name}: {merged.conflicts} {places} to decide on" if merged.conflicts else "")


def _read(path: str) -> bytes | None:
    try:
        return read_bytes(path)
    except OSError as error:
        raise cannot("read", path, error) from error


def _are_two_memories(name: str, ours: bytes, theirs: bytes) -> bool:
    """Whether two files of one name are two memories, learned on two branches, that took the same id."""
    if os.path.basename(os.path.dirname(name)) != FOLDERS[MEMORY]:
        return False
    births = []
    for raw in (ours, theirs):
        try:
            births.append(parse_frontmatter(raw.decode("utf-8"))[0].get("created"))
        except ValueError:
            return False
    return births[0] != births[1]


def _put_beside(name: str, ours: bytes, theirs: bytes) -> str:
    """Put their memory into a file of its own, with an id that is free; empty where there is no working tree to put it."""
    folder = os.path.dirname(name)
    if not os.path.isdir(folder):
        return ""
    taken = claimed_ids(ours) | claimed_ids(theirs)
    for there in os.listdir(folder):
        taken.update(numbers_in(there))
    number = max(taken, default=0) + 1
    try:
        raw = replace_fields(theirs.decode("utf-8"), {"id": number}).encode("utf-8")
    except (UnicodeDecodeError, FrontmatterError):
        return ""
    beside = os.path.join(folder, re.sub(r"^[0-9]*", f"{number:03d}", os.path.basename(name), count=1))
    try:
        publish(stage(os.path.abspath(beside), raw), beside, new=True)
    except FileExistsError:
        return ""
    return beside.replace(os.sep, "/")


def driver() -> str:
    """What git is to run: this very installation, since git may be started where no PATH leads to it."""
    import shlex
    import sys

    beside = os.path.join(os.path.dirname(sys.executable), _COMMAND)
    return f"{shlex.quote(beside) if os.path.exists(beside) else _COMMAND} merge --driver %O %A %B %P"


def set_up(vault: Vault) -> list[str]:
    """Tell git, in the repository that a vault lies in, to merge notes as notes; returns what was set."""
    make_folder(vault.root)
    top = _git(vault.root, "rev-parse", "--show-toplevel")
    done = []
    attributes = os.path.join(vault.root, ".gitattributes")
    there = (_read(attributes) or b"").decode("utf-8", "replace")
    if ATTRIBUTES not in there.splitlines():
        ending = "" if not there or there.endswith("\n") else "\n"
        replace_file(attributes, f"{there}{ending}{ATTRIBUTES}\n".encode())
        done.append(f"{attributes}: {ATTRIBUTES}")
    for name, value in (("merge.co.name", "notes of co, field by field"), ("merge.co.driver", driver())):
        if _git(top, "config", "--local", "--get", name, missing_is_empty=True) != value:
            _git(top, "config", "--local", name, value)
            done.append(f"git config {name} “{value}”")
    return done


def _git(folder: str, *arguments: str, missing_is_empty: bool = False) -> str:
    try:
        done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, check=False, timeout=30)
    except FileNotFoundError as error:
        raise Unavailable("There is no git on this machine.", "Install it, then try again.") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"git does not answer: {error}.", "Try it by hand: git status") from error
    if done.returncode and not missing_is_empty:
        if "not a git repository" in done.stderr:
            raise NotFound(f"{folder} is in no git repository.", "Make one: git init")
        raise Invalid(f"git says: {done.stderr.strip()}.", "Nothing more was set.")
    return done.stdout.strip()
