"""What a person sees of a chat: the answer as it grows, the tools at work, what would be written.

Owns rich. Whatever comes from notes or models is made harmless before it is drawn: the terminal obeys none of it.
"""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.markdown import Markdown
from rich.spinner import Spinner
from rich.text import Text

from co_cli.surfaces.cli.chat.voice import call_line
from co_cli.surfaces.cli.terminal import can_show_all, coloured, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from co_cli.agent.approval import Proposal
    from co_cli.agent.audience import Decision
    from co_cli.errors import CoError
    from co_cli.surfaces.cli.chat.keyboard import Keyboard

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_MARGIN = 4
"""Lines of the terminal that an answer in the making leaves free."""
_REFRESHES = 8


class Screen:
    """The screen of one chat."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, no_color=not coloured(sys.stdout), markup=False, emoji=False)
        spinner = "dots" if can_show_all(sys.stdout) else "line"
        self._spinner = Spinner(spinner, style="cyan")
        self._live: Live | None = None
        self._drawing, self._stopped = RLock(), Event()
        """Held by whoever draws, and what ends the drawing of what moves."""
        self._pending = ""
        """The part of the answer that is not finished: a paragraph, a list, a block of code."""
        self._doing = ""
        self._since = 0.0
        self.keyboard: Keyboard | None = None
        """Who is asked; set once there is one."""

    # -------------------------------------------------------------------------------------------------------------- a turn

    @contextmanager
    def busy(self, doing: str) -> Iterator[None]:
        """While something is going on: a spinner says what, and for how long."""
        self._do(doing)
        self._start()
        try:
            yield
        finally:
            self._flush()
            self._stop()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """While an answer is in the making."""
        with self.busy("thinking"):
            yield
        self._print()

    def text(self, delta: str) -> None:
        """Draw a piece of the answer: what is finished stays, the rest is drawn anew with every piece."""
        self._pending += visible(delta)
        end = _end_of_blocks(self._pending)
        if end:
            done, self._pending = self._pending[:end], self._pending[end:]
            self._print(_markdown(done))
            self._print()

    def called(self, tool: str, arguments: Mapping[str, object]) -> None:
        """A tool begins to work."""
        self._flush()
        self._do(visible(call_line(tool, arguments)))

    def answered(self, tool: str, display: str, seconds: float, *, done: bool) -> None:
        """A tool has ended."""
        mark, colour = ("✓", "green") if done else ("✗", "yellow")
        what = self._doing if self._doing.startswith(tool) else tool
        self._print(Text.assemble((mark, colour), (f" {what} ", "dim"), (f"{seconds:.1f} s", "dim")))
        if not done:
            self._print(Text(f"  {visible(display)}", "yellow"))
        self._do("thinking")

    def notice(self, text: str) -> None:
        """Something that people should know."""
        self._print(Text(visible(text), "yellow"))

    def remark(self, text: str) -> None:
        """Something by the way, below what was said."""
        self._flush()
        self._print(Text(visible(text), "dim"))

    def show(self, text: str) -> None:
        """What a command of the chat has to say."""
        self._print(Text(visible(text)))

    def failed(self, error: CoError) -> None:
        """What went wrong, and what to do next."""
        self._print(Text.assemble(("error: ", "red"), visible(error.message)))
        for line in filter(None, (error.details, error.hint)):
            self._print(Text(visible(line), "dim"))

    # -------------------------------------------------------------------------------------------------------------- asking

    async def decide(self, proposal: Proposal) -> Decision:
        """Show what would be written or fetched, whole, and ask."""
        assert self.keyboard is not None  # noqa: S101 - nobody is asked before the first line was typed
        self._flush()
        doing = self._doing
        self._stop()
        would = "ask another machine" if proposal.request else "change"
        self._print(Text(f"{proposal.tool} would {would}:", "bold"))
        self._print(_difference(proposal.text))
        try:
            return await self.keyboard.decide(proposal, self.notice)
        finally:
            self._do(doing)
            self._start()

    async def confirm(self, question: str, text: str) -> bool:
        """Show what would be done, and ask."""
        assert self.keyboard is not None  # noqa: S101 - nobody is asked before the first line was typed
        self._print(_difference(text))
        return (await self.keyboard.answer(f"{question} › ")).lower() in ("y", "yes")

    # ------------------------------------------------------------------------------------------------------------- drawing

    def _do(self, doing: str) -> None:
        self._doing, self._since = doing, time.monotonic()

    def _start(self) -> None:
        self._live = Live(console=self._console, get_renderable=self._moving, transient=True, auto_refresh=False)
        self._live.start()
        self._stopped = Event()
        Thread(target=self._move, args=(self._live, self._stopped), daemon=True).start()

    def _stop(self) -> None:
        if self._live:
            self._stopped.set()
            with self._drawing:
                self._live.stop()
            self._live = None

    def _move(self, live: Live, stopped: Event) -> None:
        while not stopped.wait(1 / _REFRESHES):
            with self._drawing:
                if not stopped.is_set():
                    live.refresh()

    def _print(self, *what: RenderableType) -> None:
        """Draw what stays, above what moves. One at a time: rich counts the lines to be drawn over, and would lose count."""
        with self._drawing:
            self._console.print(*what)

    def _flush(self) -> None:
        pending, self._pending = self._pending, ""  # before it is drawn: what moves would be drawn once more
        if pending.strip():
            self._print(_markdown(pending))

    def _moving(self) -> RenderableType:
        """The last lines of what is not finished, above what is going on."""
        elapsed = time.monotonic() - self._since
        self._spinner.update(text=Text(f"{self._doing} {elapsed:.0f} s" if elapsed >= 1 else self._doing, "dim"))
        tail = self._pending.splitlines()[-max(self._console.height - _MARGIN, 1) :]
        return Group(_markdown("\n".join(tail)), self._spinner) if tail else self._spinner


def _markdown(text: str) -> Markdown:
    drawn = Markdown(text.strip("\n"), hyperlinks=False)  # an address is shown, and never hidden behind other words
    for token in drawn.parsed:
        for child in token.children or ():
            if child.type == "softbreak":  # in a chat a line that ends is meant to end
                child.type = "hardbreak"
    return drawn


def _difference(text: str) -> Text:
    whole = Text()
    for line in visible(text).splitlines():
        whole.append(f"  {line}\n", _COLOURS.get(line[:1], "bold"))
    return whole


def _end_of_blocks(text: str) -> int:
    """Where the last block of Markdown that is surely finished ends: at an empty line outside of code."""
    end = place = 0
    fence = ""
    for line in text.splitlines(keepends=True):
        place += len(line)
        start = line.lstrip()[:3]
        if start in ("```", "~~~"):
            fence = "" if fence == start else fence or start
        elif not line.strip() and not fence and line.endswith("\n"):
            end = place
    return end
