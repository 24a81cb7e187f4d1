"""Terminals for the tests: commands on a pseudo-terminal of their own, and what a person would see there."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
from codecs import getincrementaldecoder
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyte
import pytest
from processes import kill

PATIENCE = 30
"""Seconds without a sign of life after which a command is taken to hang."""
GOLDEN = Path(__file__).parent / "golden"
COLUMNS, ROWS = 200, 40  # so wide that no path is broken, wherever the tests run


class Terminal:
    """A command on a terminal of its own: what it shows, and the keys that are pressed."""

    def __init__(self, process: subprocess.Popen[bytes], keyboard: int) -> None:
        self.process = process
        self._keyboard = keyboard
        self.shown = ""
        self._signs = getincrementaldecoder("utf-8")("replace")
        self._screen = pyte.Screen(COLUMNS, ROWS)
        self._screen.write_process_input = self.type  # it answers where its cursor is, as terminals do
        self._drawn = pyte.ByteStream(self._screen)

    def lines(self) -> list[str]:
        """What a person sees now, without the empty lines at the end."""
        lines = [line.rstrip() for line in self._screen.display]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def read(self) -> None:
        """Read what comes next, which must be something."""
        assert self._read(), "it ended with\n" + "\n".join(self.lines())

    def wait_to_see(self, text: str) -> None:
        """Read until this stands on the screen."""
        while text not in "\n".join(self.lines()):
            assert self._read(), f"{text!r} is not on\n" + "\n".join(self.lines())

    def wait_for(self, text: str) -> None:
        """Read until this is shown."""
        while text not in self.shown:
            assert self._read(), f"{text!r} is not in {self.shown!r}"

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._keyboard, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C: everything that belongs to the terminal is told."""
        os.killpg(self.process.pid, signal.SIGINT)

    def interrupt_a_question(self) -> None:
        """Press Ctrl-C until something happens: Python overlooks one that comes just before it begins to wait for a line."""
        for _ in range(PATIENCE):
            self.interrupt()
            if select.select([self._keyboard], [], [], 1)[0]:
                return

    def end(self) -> int:
        """Read to the end; returns the exit code."""
        while self._read():
            pass
        return self.process.wait(PATIENCE)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._keyboard], [], [], PATIENCE)
        assert ready, f"nothing came after {self.shown!r}"
        try:
            raw = os.read(self._keyboard, 65536)
        except OSError:  # how Linux tells that the last program has left the terminal
            return False
        seam = self.shown[-1:]  # what a read ends with may go on in the next one
        self.shown = self.shown[:-1] + (seam + self._signs.decode(raw)).replace("\r\n", "\n")
        self._drawn.feed(raw)
        return bool(raw)


@contextmanager
def terminal(*argv: str, **environment: str) -> Iterator[Terminal]:
    """Run a command on a terminal."""
    with program_on_terminal("-m", "co_cli", *argv, **environment) as seen:
        yield seen


@contextmanager
def program_on_terminal(*argv: str, **environment: str) -> Iterator[Terminal]:
    """Run Python on a terminal."""
    keyboard, screen = pty.openpty()
    termios.tcsetwinsize(screen, (ROWS, COLUMNS))
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    # Who runs tests in the background may have told them to ignore Ctrl-C, and what they start as well; a terminal has not.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [sys.executable, *argv],
        stdin=screen,
        stdout=screen,
        stderr=screen,
        env={**kept, "NO_COLOR": "1", **environment},
        start_new_session=True,
    )
    signal.signal(signal.SIGINT, before)
    os.close(screen)
    try:
        yield Terminal(process, keyboard)
    finally:
        kill(process)
        os.close(keyboard)


def golden(seen: Terminal, name: str, tmp_path: Path) -> None:
    """Compare what is on the screen with the golden one, but for times, places and ids."""
    text = "\n".join(seen.lines()).replace(str(tmp_path), "/home/anna")
    text = re.sub(
        r"\d{4}-\d\d-\d\d(T[\d:]+\+00:00)?", lambda date: "2026-02-09T14:30:00+00:00" if date[1] else "2026-02-09", text
    )
    text = re.sub(r"\d+\.\d s", "0.0 s", text)
    text = re.sub(r"\d{8}-\d{6}-[0-9a-f]{4}", "20260209-143000-abcd", text)
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:1", text) + "\n"
    path = GOLDEN / f"{name}.txt"
    if not path.exists():  # a new one is written, to be looked at
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        pytest.fail(f"{path} was made: look at it")
    assert text == path.read_text(encoding="utf-8")
