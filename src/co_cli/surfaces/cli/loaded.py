"""The commands that show what agents are given: prompt."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from co_cli.knowledge import open_knowledge
from co_cli.settings import PROVIDERS
from co_cli.surfaces.cli.terminal import emit, paint, say, warn

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from co_cli.knowledge import Context


def prompt_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Show the system prompt as an agent gets it; its budget goes to stderr.

    Private notes are in it only with --private, and only for `offline`, which sends nothing anywhere.

    Examples:
        co prompt
        co prompt --provider gemini --personality terse
        co prompt --why
        co prompt --personalities
    """
    names = (*PROVIDERS, "google")
    parser.add_argument("--provider", metavar="P", choices=names, help="gemini, ollama, openai, anthropic or offline")
    parser.add_argument("--personality", metavar="N", help="the style")
    parser.add_argument("--private", action="store_true", help="with private notes, for a provider on this machine")
    parser.add_argument("--why", action="store_true", help="say why each line of the knowledge index is there")
    parser.add_argument("--personalities", action="store_true", help="list the styles instead")
    return _prompt


def _prompt(arguments: Namespace) -> None:
    kb = open_knowledge()
    if arguments.personalities:
        known = kb.personalities()
        emit(arguments, {"personalities": dict(known)}, "\n".join(known))
        return
    prompt = kb.prompt(arguments.provider, arguments.personality, private=arguments.private)
    warn(prompt.notices)
    context = prompt.context
    data = {
        "provider": prompt.provider,
        "personality": prompt.personality,
        "bytes": len(prompt.text.encode("utf-8")),
        "knowledge": _budget(context),
        "hot": [
            {"ref": hot.note.ref, "line": hot.line, "score": round(hot.score, 3), "uses": round(hot.uses, 3), "why": hot.why}
            for hot in context.hot
        ],
        "prompt": prompt.text,
    }
    emit(arguments, data, prompt.text.rstrip("\n"))
    if context.withheld:
        count = context.withheld
        say(f"{count} private {'note is' if count == 1 else 'notes are'} left out.")
    if not arguments.json:
        for hot in context.hot if arguments.why else ():
            say(f"{hot.line}\n  why: {hot.why}")
        if arguments.why and not context.hot:
            say("There is no knowledge index: agents have used none of these notes yet.")
        say(paint(budget_text(context), "dim", sys.stderr))


def _budget(context: Context) -> dict[str, object]:
    return {
        "bytes": context.bytes,
        "sent": context.sent,
        "withheld": context.withheld,
        "target": context.target,
        "limit": context.limit,
        "cut": context.cut,
        "parts": [{"name": part.name, "bytes": part.bytes, "budget": part.budget} for part in context.parts],
    }


def budget_text(context: Context) -> str:
    """How the knowledge fits its budget, for people."""
    if not context.parts:
        return "Knowledge: nothing to load. Make a context with `co init`, fill it with `co edit context`."
    parts = [f"{part.name} {part.bytes}" + (f" of {part.budget}" if part.budget else "") for part in context.parts]
    whole = f", cut from {context.bytes}" if context.cut else ""
    return f"Knowledge: {context.sent} of {context.target} bytes{whole} ({', '.join(parts)})"
