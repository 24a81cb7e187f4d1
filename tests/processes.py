"""Real processes for the tests: started, watched, killed, deprived of their rights; and what to look for afterwards."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from co_cli import KnowledgeBase
from co_cli.errors import CoError

NOBODY = 65534

# For scripts that have to be refused something: rights do not bind root, so root becomes somebody else. What co imports only
# when it needs it, it imports in a life before that, since nobody may be allowed to read the interpreter's files either.
AS_NOBODY = f"""
import array, difflib, hashlib, json, os, pathlib, stat, sys, tempfile
import yaml
from co_cli import CoError, open_knowledge

def warm_up():
    real = dict(os.environ)
    with tempfile.TemporaryDirectory() as scratch:
        os.environ.update(CO_HOME=f"{{scratch}}/home", XDG_STATE_HOME=f"{{scratch}}/state")
        os.mkdir(f"{{scratch}}/top")
        kb = open_knowledge(f"{{scratch}}/top")
        kb.save("something", expires="30d")
        kb.update("1", pinned=True)
        kb.recall("something"), kb.prompt(), kb.undo(), kb.archive(["1"]), kb.forget(["1"]), kb.log()
        try:
            kb.save("\\n---\\n- [", key="'", category="none")
        except CoError:
            pass
    os.environ.clear()
    os.environ.update(real)

def become_nobody():
    warm_up()
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid({NOBODY})
        os.setuid({NOBODY})

def attempt(action):
    try:
        return {{"done": repr(action())}}
    except CoError as error:
        return {{"kind": error.kind, "message": error.message, "hint": error.hint}}

def report(**facts):
    print(json.dumps(facts), flush=True)
"""


def start(script: str, *arguments: object, under: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Start a Python script as a process of its own, under another command where one is given."""
    command = [*under, sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )


def finish(process: subprocess.Popen[str], seconds: float = 120) -> list[Any]:
    """Wait for the end of a process, which must be a good one; returns the JSON values that it wrote, one a line."""
    try:
        out, err = process.communicate(timeout=seconds)
    finally:
        kill(process)
    assert process.returncode == 0, f"exit code {process.returncode}: {err}"
    return [json.loads(line) for line in out.splitlines()]


def run(script: str, *arguments: object, seconds: float = 60) -> Any:
    """The last JSON value that a script writes, if it writes any."""
    return next(reversed(finish(start(script, *arguments), seconds)), None)


def traces_of_reports(script: str, *arguments: object, top: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a script leaves in its home, cache and temporary folders: onnxruntime keeps there what it is about to report."""
    for name in ("HOME", "XDG_CACHE_HOME", "TMPDIR"):
        (top / name).mkdir(parents=True)
        monkeypatch.setenv(name, str(top / name))
    monkeypatch.delenv("CI", raising=False)  # where nothing is reported in any case
    run(script, *arguments)
    return sorted(str(path.relative_to(top)) for path in top.rglob("*") if path.is_file())


def kill(process: subprocess.Popen[str]) -> None:
    """End a process as ``kill -9`` does."""
    if process.poll() is None:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe and not pipe.closed:
            pipe.close()


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail rather than hang."""

    def ring(_number: int, _frame: object) -> None:
        raise AssertionError(f"not done after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def open_to_all() -> Iterator[Path]:
    """A temporary folder that every user of the machine can reach, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp(prefix="co-test-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        for path in (folder, *folder.rglob("*")):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o755)
        shutil.rmtree(folder)


def give_away(folder: Path) -> None:
    """Make nobody the owner of a folder and all in it, where that can be done at all."""
    if os.getuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def contents(folder: Path, pattern: str = "*.md") -> dict[str, bytes]:
    """Every file under a folder with its bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob(pattern) if path.is_file()}


def temporaries(*folders: Path) -> list[Path]:
    """Files that a write left behind."""
    return [path for folder in folders for path in folder.rglob(".co-*.tmp")]


def read_everything(kb: KnowledgeBase) -> None:
    """Use every verb that only reads."""
    kinds = ("memory", "topic", "article")
    kb.list(kinds)
    kb.list(kinds, archived=True)
    kb.recall("heron", kinds=kinds)
    kb.match("heron")
    for ref in ("5", "g:5", "topic:odd", "article:odd", "context", "g:context"):
        try:
            kb.get(ref)
        except CoError:
            continue
    kb.context(private=True)
    kb.prompt()
    kb.log()
    kb.check()


def snapshot(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything in a folder as it is now: mode, time of the last change, and bytes or the target of a link."""
    state = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
        if path.is_symlink():
            content = os.fsencode(os.readlink(path))
        state[str(path)] = (status.st_mode, status.st_mtime_ns, content)
    return state
