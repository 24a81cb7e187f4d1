"""``co chat``: talking with an agent that remembers.

Owns the arguments, and the choice between a terminal and plain text. The conversation itself lies beside this file.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from co_cli.agent.providers import choose
from co_cli.errors import NotFound, Unavailable
from co_cli.knowledge import open_knowledge
from co_cli.settings import PROVIDERS
from co_cli.surfaces.cli.terminal import warn

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

_PACKAGES = ("pydantic_ai", "prompt_toolkit", "rich")


def chat_command(parser: ArgumentParser) -> Callable[[Namespace], int]:
    """Talk with an agent that knows your notes, and asks before it writes any. Without a model it answers from the notes.

    With a message, that one is answered. Without a terminal, every line of the input is a message; then nothing is written
    unless --yes allows it.

    Examples:
        co chat
        co chat "when do we deploy?"
        co chat --yes "remember that we deploy on Fridays #ops"
        co chat --provider ollama --model qwen3:8b --personality terse
        co chat --resume
    """
    parser.add_argument("message", nargs="*", metavar="MESSAGE", help="answer this, and end")
    names = (*PROVIDERS, "google")
    parser.add_argument("--provider", metavar="P", choices=names, help="gemini, ollama, openai, anthropic or offline")
    parser.add_argument("--model", default="", metavar="M", help="the model; P:M names its provider too")
    parser.add_argument("--personality", metavar="N", help="the style")
    parser.add_argument("--resume", nargs="?", const="", metavar="ID", help="go on with this chat, or with the last one")
    parser.add_argument("--yes", action="store_true", help="write without asking")
    return _chat


def _chat(arguments: Namespace) -> int:
    import gc

    _check_installed()
    gc.enable()  # it stays, and so does its garbage
    kb = open_knowledge()
    settings = kb.settings()
    warn(settings.warnings)
    choice = choose(settings, provider=arguments.provider or "", model=arguments.model)
    if arguments.personality and arguments.personality not in kb.personalities():
        raise NotFound(f"There is no personality {arguments.personality!r}.", f"Known: {', '.join(kb.personalities())}.")
    if not arguments.json and _is_terminal():
        from co_cli.surfaces.cli.chat.conversation import converse

        return converse(kb, choice, arguments)
    from co_cli.surfaces.cli.chat.plain import converse_plainly

    return converse_plainly(kb, choice, arguments)


def _is_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _check_installed() -> None:
    from importlib.util import find_spec

    if any(find_spec(name) is None for name in _PACKAGES):
        raise Unavailable("The packages of the chat are not installed.", "Install them: pip install 'co-cli[chat]'")
