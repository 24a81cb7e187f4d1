"""A chat without a terminal: messages from the arguments or line by line, plain text out, and nobody to be asked.

Owns that loop, and the JSON form of a chat.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from co_cli.agent.audience import Decision
from co_cli.errors import DENIED, CoError
from co_cli.surfaces.cli.chat.chat import Chat
from co_cli.surfaces.cli.chat.slash import obey
from co_cli.surfaces.cli.learning import as_data, lines_of
from co_cli.surfaces.cli.terminal import emit, harmless, say, visible, warn

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Mapping

    from co_cli.agent.approval import Proposal
    from co_cli.agent.providers import Choice
    from co_cli.knowledge import KnowledgeBase

NOBODY = "This is no terminal, so nobody can be asked; --yes allows it."


class Plain:
    """Plain text on stdout, everything else on stderr; nobody is asked."""

    def __init__(self, *, quiet: bool, yes: bool) -> None:
        self._quiet = quiet
        self._yes = yes
        self.denied = False
        """Whether something was not written since nobody could be asked."""
        self.said = ""
        self.calls: list[dict[str, object]] = []
        self.kind = ""
        """The kind of the last error."""

    def begin(self) -> None:
        """Forget the last turn."""
        self.said, self.calls, self.kind = "", [], ""

    def text(self, delta: str) -> None:
        """A piece of the answer."""
        self.said += delta
        self._write(delta)

    def called(self, tool: str, arguments: Mapping[str, object]) -> None:
        """A tool begins to work."""
        self.calls.append({"tool": tool, "arguments": dict(arguments)})

    def answered(self, tool: str, display: str, seconds: float, *, done: bool) -> None:
        """A tool has ended."""
        del tool, seconds
        if self.calls:
            self.calls[-1].update(display=display, done=done)

    def notice(self, text: str) -> None:
        """Something that people should know."""
        warn([text])

    async def decide(self, proposal: Proposal) -> Decision:
        """Say what would be written or fetched; nobody is there to allow it."""
        done = "fetched" if proposal.request else "written"
        say(f"Not {done}, since nobody can be asked (--yes allows it):\n{proposal.text}")
        self.denied = True
        return Decision("no", NOBODY)

    async def confirm(self, question: str, text: str) -> bool:
        """Do it only where everything was allowed."""
        say(f"{text}\n{question}" if self._yes else f"{text}\n{NOBODY}")
        self.denied = self.denied or not self._yes
        return self._yes

    def show(self, text: str) -> None:
        """What a command of the chat has to say."""
        self.text(f"{text}\n")

    def failed(self, error: CoError) -> None:
        """What went wrong, and what to do next."""
        self.kind = error.kind
        say(f"error: {error.message}")
        for line in filter(None, (error.details, error.hint)):
            say(line)

    def end(self) -> None:
        """End the answer with a line of its own."""
        if self.said and not self.said.endswith("\n"):
            self._write("\n")

    def _write(self, text: str) -> None:
        if not self._quiet:
            sys.stdout.write(harmless(visible(text), sys.stdout))
            sys.stdout.flush()


def converse_plainly(kb: KnowledgeBase, choice: Choice, arguments: Namespace) -> int:
    """Answer the messages, one after the other; returns the exit code."""
    voice = Plain(quiet=arguments.json, yes=arguments.yes)
    chat = Chat(kb, choice, voice, personality=arguments.personality, everything=arguments.yes)
    turns = []
    failed: list[CoError] = []
    if arguments.resume is not None:
        chat.load().resume(arguments.resume)
    with asyncio.Runner() as runner:
        for message in _messages(arguments):
            voice.begin()
            try:
                goes_on = runner.run(_answered(chat, message))
            except CoError as error:
                if arguments.message and not arguments.json:
                    runner.run(chat.close())
                    raise
                failed.append(error)
                voice.failed(error)
                goes_on = True
            voice.end()
            turns.append({"message": message, "answer": voice.said, "calls": voice.calls, "error": voice.kind or None})
            if not goes_on:
                break
        runner.run(chat.close())
    learned = _learned(chat, voice)
    emit(arguments, {**chat.data(), "denied": voice.denied, "turns": turns, **learned}, "")
    from co_cli.surfaces.cli.main import EXIT_CODES

    return EXIT_CODES[failed[0].kind] if failed else EXIT_CODES[DENIED] if voice.denied else 0


def _learned(chat: Chat, voice: Plain) -> dict[str, object]:
    """Draft from what was said, once it is over; what goes wrong with that costs nothing else, since the chat is kept."""
    try:
        lesson = chat.learned()
    except CoError as error:
        voice.failed(error)
        return {}
    if lesson is None:
        return {}
    warn(lesson.notices)
    if lesson.proposed:
        say("\n".join(lines_of(lesson)))
    return {"learned": as_data(lesson)}


async def _answered(chat: Chat, message: str) -> bool:
    if message.startswith("/"):
        return await obey(chat, message)
    await chat.load().turn(message)
    return True


def _messages(arguments: Namespace) -> Iterable[str]:
    if arguments.message:
        yield " ".join(arguments.message)
    elif sys.stdin is not None:
        for line in sys.stdin:
            if line.strip():
                yield line.strip()
