"""A chat on a terminal: from the first prompt to the last.

Owns the loop, what Ctrl-C and Ctrl-D mean, and that the prompt comes at once, while the slow imports go on beside it.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from co_cli.agent.audience import OFFERED
from co_cli.agent.providers import health
from co_cli.errors import CoError
from co_cli.learning.drafting.lessons import is_on
from co_cli.learning.inbox import count
from co_cli.surfaces.cli.chat.chat import Chat
from co_cli.surfaces.cli.chat.keyboard import Keyboard
from co_cli.surfaces.cli.chat.slash import obey
from co_cli.surfaces.cli.learning import lines_of
from co_cli.surfaces.cli.main import EXIT_CODES
from co_cli.surfaces.cli.review import ask_about
from co_cli.surfaces.cli.terminal import say, waiting_line

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Awaitable, Iterator

    from co_cli.agent.providers import Choice
    from co_cli.knowledge import KnowledgeBase
    from co_cli.surfaces.cli.chat.screen import Screen


def converse(kb: KnowledgeBase, choice: Choice, arguments: Namespace) -> int:
    """Talk until the user ends it; returns the exit code."""
    from co_cli.surfaces.cli.chat.screen import Screen

    screen = Screen()
    chat = Chat(kb, choice, screen, personality=arguments.personality, everything=arguments.yes)
    code = asyncio.run(_Conversation(chat, screen).run(arguments))
    _learn(chat, screen, arguments)
    return code


def _learn(chat: Chat, screen: Screen, arguments: Namespace) -> None:
    """Draft from what was said, and ask about it; what goes wrong with that costs nothing else, since the chat is kept."""
    try:
        lesson = chat.learned()
    except CoError as error:
        screen.failed(error)
        return
    if lesson:
        for notice in lesson.notices:
            screen.notice(notice)
        if lesson.proposed:
            say("\n".join(lines_of(lesson)))
            ask_about(chat.kb, lesson.proposed, arguments)


class _Conversation:
    """One chat on a terminal."""

    def __init__(self, chat: Chat, screen: Screen) -> None:
        self._chat = chat
        self._screen = screen
        self._keyboard = screen.keyboard = Keyboard(chat.kb, lambda: chat.status, self._stored, self._interrupted)
        self._is_loaded = asyncio.Event()
        self._turn: asyncio.Future[object] | None = None
        self._code = 0

    async def run(self, arguments: Namespace) -> int:
        """Greet, and answer until the user ends it."""
        loading = threading.Thread(target=self._load, args=(asyncio.get_running_loop(),), daemon=True)
        loading.start()  # no executor: the end of the chat must not wait for it
        with self._interruptible():
            try:
                return await self._converse(arguments)
            finally:
                await self._chat.close()

    async def _converse(self, arguments: Namespace) -> int:
        if arguments.resume is not None:
            await self._do(self._resume(arguments.resume))
        if arguments.message:
            await self._answer(" ".join(arguments.message))
            return self._code
        self._greet()
        while await self._next():
            pass
        return 0

    def _greet(self) -> None:
        found = health(self._chat.choice, ask=False)
        project = self._chat.kb.places.project
        self._screen.show(f"co · {self._chat.choice.label} · {project}\n/help lists the commands, Ctrl-D ends.")
        if is_on(self._chat.kb):
            self._screen.notice(
                "Learning is on: what you say is drafted at the end, for your yes. Off: co learn --auto=false"
            )
        waiting = count(self._chat.kb)
        if waiting:
            self._screen.remark(f"{waiting_line(waiting)}, or /review")
        if not found.ready:
            self._screen.notice(f"{found.message[:1].upper()}{found.message[1:]}. {found.hint}")

    async def _next(self) -> bool:
        """Read and answer one line; returns whether the chat goes on."""
        try:
            text = (await self._keyboard.line()).strip()
        except KeyboardInterrupt:  # what was typed is gone, and that is all
            return True
        except EOFError:
            return False
        if text.startswith("/"):
            return await self._do(obey(self._chat, text)) is not False
        if text:
            await self._answer(text)
        return True

    async def _answer(self, text: str) -> None:
        with self._keyboard.silent():
            await self._loaded()
            session = self._chat.load()
            with self._screen.turn():
                await self._do(session.turn(text))
                offered = [note.ref for note in session.offered if note.by == OFFERED]
                if offered:
                    self._screen.remark(f"offered: {', '.join(offered)} · /why says why")

    async def _do(self, work: Awaitable[object]) -> object:
        """Do something that Ctrl-C stops, and of which what goes wrong is told."""
        self._turn = asyncio.ensure_future(work)
        try:
            return await self._turn
        except asyncio.CancelledError:
            self._screen.notice("Stopped.")
            self._code = 130
        except CoError as error:
            self._screen.failed(error)
            self._code = EXIT_CODES[error.kind]
        finally:
            self._turn = None
        return None

    async def _resume(self, wanted: str) -> None:
        await self._loaded()
        chat = self._chat.load().resume(wanted)
        self._screen.show(f"Going on with {chat.id}: {chat.title}")

    # ------------------------------------------------------------------------------------------------------------- loading

    def _load(self, loop: asyncio.AbstractEventLoop) -> None:
        """Import what a turn needs, beside the prompt."""
        try:
            self._chat.load()
        finally:
            with suppress(RuntimeError):  # the chat has ended before
                loop.call_soon_threadsafe(self._is_loaded.set)

    async def _loaded(self) -> None:
        if not self._is_loaded.is_set():
            with self._screen.busy("loading"):
                await self._is_loaded.wait()

    def _stored(self) -> Iterator[tuple[str, str]]:
        from co_cli.agent.transcripts import stored

        return ((chat.id, chat.title) for chat in stored(self._chat.load().folder))

    # -------------------------------------------------------------------------------------------------------------- Ctrl-C

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Let Ctrl-C stop what is going on, and nothing else."""
        loop = asyncio.get_running_loop()
        try:
            loop.add_signal_handler(signal.SIGINT, self._interrupted)
        except NotImplementedError:  # Windows
            before = signal.signal(signal.SIGINT, lambda *_: loop.call_soon_threadsafe(self._interrupted))
            yield
            signal.signal(signal.SIGINT, before)
            return
        yield
        loop.remove_signal_handler(signal.SIGINT)

    def _interrupted(self) -> None:
        if self._turn:
            self._turn.cancel()
