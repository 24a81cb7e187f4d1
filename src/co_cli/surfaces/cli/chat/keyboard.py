"""Where a person types: the line with its history and completion, the question before a write, and the editor.

Owns prompt_toolkit. Knows nothing of what becomes of what is typed.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import Completer, Completion, ThreadedCompleter
from prompt_toolkit.filters import is_searching
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings

from co_cli.agent.audience import Decision
from co_cli.errors import CoError
from co_cli.knowledge import ARTICLE, MEMORY, TOPIC
from co_cli.settings import PROVIDERS
from co_cli.surfaces.cli.chat.slash import SLASHES
from co_cli.surfaces.cli.editor import edit_text
from co_cli.surfaces.cli.terminal import coloured, paint, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document
    from prompt_toolkit.history import History
    from prompt_toolkit.key_binding import KeyPressEvent

    from co_cli.agent.approval import Proposal
    from co_cli.knowledge import KnowledgeBase, Note

_REF_BEGINS = re.compile(r"(?:#?\d+|[gp]:[\w:.-]*|(?:topic|article):[\w.-]*)$")
_NAMES_A_NOTE = re.compile(r"(?:^/recall|\b(?:show|forget|open|delete|remove|read|view))\s+\S*$", re.IGNORECASE)
_OFFERED = 30


class Keyboard:
    """The keyboard of one chat."""

    def __init__(
        self,
        kb: KnowledgeBase,
        status: Callable[[], str],
        chats: Callable[[], Iterable[tuple[str, str]]],
        interrupt: Callable[[], None],
    ) -> None:
        self._kb = kb
        self._interrupt = interrupt
        self._lines: PromptSession[str] = PromptSession(
            history=_history(os.path.join(kb.places.state, "chat_history")),
            completer=ThreadedCompleter(_Completer(kb, chats)),  # the notes may be many
            key_bindings=_keys(),
            multiline=True,
            prompt_continuation="… ",
            complete_while_typing=True,
            bottom_toolbar=lambda: f" {status()}",
        )
        self._answers: PromptSession[str] = PromptSession(history=InMemoryHistory())

    async def line(self) -> str:
        """What is typed next; raises ``EOFError`` for Ctrl-D, and ``KeyboardInterrupt`` for Ctrl-C."""
        return await self._lines.prompt_async(ANSI(_shown("› ", "bold")), handle_sigint=False)

    async def answer(self, question: str) -> str:
        """A short answer; Ctrl-D is none, and Ctrl-C stops what the question is part of."""
        try:
            return (await self._answers.prompt_async(ANSI(question), handle_sigint=False)).strip()
        except EOFError:
            return ""
        except KeyboardInterrupt:  # which must not get out of its task: it would end the whole loop
            self._interrupt()
            await asyncio.Event().wait()  # the interrupt ends it
            raise

    @contextmanager
    def silent(self) -> Iterator[None]:
        """While an answer is drawn: what is typed meanwhile is kept for the next line, and does not show in between."""
        try:
            import termios
        except ImportError:  # Windows
            yield
            return
        before = termios.tcgetattr(sys.stdin)
        _set_echo(on=False)
        try:
            yield
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSANOW, before)

    async def decide(self, proposal: Proposal, say: Callable[[str], None]) -> Decision:
        """Ask about a write or a fetch until there is an answer; no answer is a no."""
        choices = ["y yes", "n no", *(["e edit first"] if proposal.content else []), "a always in this chat"]
        asked = "Fetch this?" if proposal.request else "Write this?"
        question = f"{_shown(asked, 'bold')} {' · '.join(choices)} {_shown('›', 'bold')} "
        while True:
            word, _, rest = (await self.answer(question)).partition(" ")
            match word.lower():
                case "y" | "yes":
                    return Decision("yes")
                case "a" | "always":
                    return Decision("always")
                case "n" | "no":
                    return Decision("no", rest.strip() or await self.answer("Why not? (Enter: no reason) › "))
                case "e" | "edit" if proposal.content:
                    edited = self._edited(proposal.content, say)
                    if edited.strip() and edited.strip() != proposal.content.strip():
                        return Decision("edit", content=edited.strip())
                    say("Nothing was edited.")
                case "":
                    return Decision("no")
                case _:
                    say("Type one of the letters, and Enter.")

    def _edited(self, text: str, say: Callable[[str], None]) -> str:
        """A text as the user leaves it in the editor; as it was, where that went wrong."""
        _set_echo(on=True)
        try:
            return edit_text(self._kb, text, "chat")
        except CoError as error:
            say(f"{error.message} {error.hint}".strip())
        finally:
            _set_echo(on=False)
        return text


def _set_echo(*, on: bool) -> None:
    """Whether the terminal itself shows what is typed."""
    with suppress(ImportError):
        import termios

        modes = termios.tcgetattr(sys.stdin)
        modes[3] = modes[3] | termios.ECHO if on else modes[3] & ~termios.ECHO
        termios.tcsetattr(sys.stdin, termios.TCSANOW, modes)


def _shown(text: str, colour: str) -> str:
    return paint(text, colour) if coloured(sys.stdout) else text


def _history(path: str) -> History:
    """What was typed in earlier chats, readable by its owner alone."""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600))
    except OSError:
        return InMemoryHistory()
    return FileHistory(path)


def _keys() -> KeyBindings:
    """Enter sends, Alt-Enter begins a new line; a text that is pasted comes in one piece."""
    keys = KeyBindings()

    @keys.add("enter", filter=~is_searching)
    def _send(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state and buffer.complete_state.current_completion:
            buffer.complete_state = None
        elif buffer.text.endswith("\\"):
            buffer.delete_before_cursor(1)
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys


class _Completer(Completer):
    """Completes slash commands with what they take, and refs."""

    def __init__(self, kb: KnowledgeBase, chats: Callable[[], Iterable[tuple[str, str]]]) -> None:
        self._kb = kb
        self._chats = chats

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """What may come where the cursor stands."""
        del complete_event
        before = document.text_before_cursor
        word = before.split()[-1] if before and not before[-1].isspace() else ""
        if before.startswith("/") and " " not in before:
            for name, command in SLASHES.items():
                if name.startswith(before[1:]):
                    yield Completion(f"/{name}", -len(before), display_meta=command.summary)
        elif before.startswith("/model "):
            yield from (Completion(name, -len(word)) for name in PROVIDERS if name.startswith(word))
        elif before.startswith("/resume "):
            for id, title in self._chats():  # noqa: A001 - its name everywhere
                if id.startswith(word):
                    yield Completion(id, -len(word), display_meta=visible(title))
        elif _NAMES_A_NOTE.search(before) or _REF_BEGINS.fullmatch(word):
            yield from self._refs(word)

    def _refs(self, word: str) -> Iterator[Completion]:
        wanted = word.lstrip("#[")
        try:
            notes: Iterable[Note] = self._kb.list((MEMORY, TOPIC, ARTICLE)).notes
        except CoError:
            return
        fitting = [note for note in notes if note.ref.startswith(wanted)]
        for note in fitting[:_OFFERED]:
            yield Completion(note.ref, -len(wanted), display_meta=visible(note.title or note.summary))
