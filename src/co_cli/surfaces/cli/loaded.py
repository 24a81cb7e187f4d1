"""The commands that show what agents are given: prompt and context."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from co_cli.knowledge import open_knowledge
from co_cli.settings import PROVIDERS, WINDOWS
from co_cli.surfaces.cli.terminal import emit, paint, say, visible, warn

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterator

    from co_cli.knowledge import Context

_GO_FIRST = 3
"""Pieces that are named as those which would go first."""


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


def context_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Show what fills the knowledge that is in every prompt, piece by piece, and what would go where there is no room.

    It is cut from its end. How much room there is follows the window of the model: see the settings context_share and
    model_window.

    Examples:
        co context
        co context --provider ollama
        co context --window 4000
    """
    parser.add_argument("--provider", metavar="P", choices=PROVIDERS, help="as for the usual models of this provider")
    parser.add_argument("--window", type=int, default=0, metavar="TOKENS", help="as for a model with such a window")
    parser.add_argument("--private", action="store_true", help="with private notes, as on this machine")
    return _context


def _context(arguments: Namespace) -> None:
    kb = open_knowledge()
    settings = kb.settings()
    provider = arguments.provider or settings.value("provider")
    usual = 0 if provider == "offline" else WINDOWS[provider]  # which has no window at all
    window = max(arguments.window, 0) or int(settings.value("model_window")) or usual
    context = kb.context(private=arguments.private, window=window)
    warn(context.notices)
    items = [{"part": each.part, "label": each.label, "bytes": each.bytes, "kept": each.kept} for each in context.items]
    data = {"provider": provider, "window": window, "knowledge": _budget(context), "items": items, "text": context.text}
    emit(arguments, data, "\n".join(_filling(context)))
    if not arguments.json:
        if context.withheld:
            say(f"Left out as private: {context.withheld}.")
        limit = f"; cut above {context.limit}" if context.parts else ""
        say(paint(f"{budget_text(context)}{limit}", "dim", sys.stderr))


def _filling(context: Context) -> Iterator[str]:
    """A line for each piece, and behind them the order in which they would go."""
    width = max((len(str(each.bytes)) for each in context.items), default=0)
    part = ""
    for each in context.items:
        if each.part != part:
            part = each.part
            yield paint(part, "bold")
        gone = "" if each.kept else paint("  cut off", "red")
        yield f"  {str(each.bytes).rjust(width)}  {visible(each.label) or '(before the first heading)'}{gone}"
    kept = [each for each in context.items if each.kept]
    if kept:
        first = ", then ".join(visible(each.label) or each.part for each in kept[: -_GO_FIRST - 1 : -1])
        yield f"Would go first: {first}."


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
