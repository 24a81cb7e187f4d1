"""The system prompt: base text, personality, knowledge, project instructions, closing reminder, in this order.

Owns the templates, their conditionals, the personalities and the order. Knows nothing of how knowledge is found or cut.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from co_cli.context import Context, cut_at_line, load_context, wrap
from co_cli.errors import CoError, Corrupt, Invalid, NotFound
from co_cli.files import read_bytes, reason
from co_cli.note import NoteError, decode
from co_cli.settings import PROVIDERS, WINDOWS, find_places, load_settings
from co_cli.vault import open_vaults

if TYPE_CHECKING:
    from collections.abc import Sequence

    from co_cli.settings import Places
    from co_cli.vault import Vault

ALIASES = {"google": "gemini"}
INSTRUCTIONS_LIMIT = 32 * 1024
"""Bytes of a project's instructions above which they are cut."""
LOCAL = ("offline",)
"""Providers that send nothing anywhere: only their prompts may hold private notes."""

_TEXTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "prompts")
_MARK = re.compile(r"^[ \t]*\[(IF\b[ \t]*([^\]\n]*)|ENDIF)\][ \t]*\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Prompt:
    """An assembled prompt with what went into it."""

    text: str
    provider: str
    personality: str
    context: Context
    notices: tuple[str, ...] = ()


def get_system_prompt(provider: str, personality: str | None = None) -> str:
    """The system prompt for a provider; warnings about the knowledge go to stderr."""
    import sys

    places = find_places()
    prompt = build_prompt(places, open_vaults(places), provider=provider, personality=personality)
    for line in prompt.notices:
        print(line, file=sys.stderr)  # noqa: T201 - the documented side effect of this function
    return prompt.text


def build_prompt(
    places: Places,
    vaults: Sequence[Vault],
    *,
    provider: str | None = None,
    personality: str | None = None,
    private: bool = True,
    window: int = 0,
) -> Prompt:
    """Load everything that a prompt is made of, and assemble it.

    Private notes are in it for a provider that sends nothing anywhere, and only if ``private`` does not forbid it. The
    window of the model is given in tokens; without it, it is taken for what the provider's models usually have.
    """
    settings = load_settings(places)
    provider = provider or settings.value("provider")
    provider = ALIASES.get(provider, provider)
    window = window or int(settings.value("model_window")) or (0 if provider in LOCAL else WINDOWS.get(provider, 0))
    context = load_context(places, vaults, settings, private=private and provider in LOCAL, window=window)
    instructions, notices = _instructions(places)
    style = ""
    if personality is None:
        personality = settings.value("personality")
        try:
            style = load_personality(places, personality) if personality else ""
        except CoError as error:  # a file asked for it, and no file keeps a session from starting
            notices.append(f"WARNING: {error.message} The prompt goes without. {error.hint}")
            personality = ""
    elif personality:
        style = load_personality(places, personality)
    text = assemble(
        base=resolve_conditionals(_template("system.md"), provider),
        personality=style,
        knowledge=context.text,
        instructions=instructions,
        closing=_template("closing.md"),
    )
    return Prompt(text, provider, personality, context, (*settings.warnings, *context.notices, *notices))


def assemble(*, base: str, personality: str, knowledge: str, instructions: str, closing: str) -> str:
    """Put the parts of a prompt into their order; empty ones leave no trace."""
    parts = [
        base,
        f"## Personality\n\n{personality.strip()}" if personality.strip() else "",
        wrap(knowledge) if knowledge else "",
        f"## Project-Specific Instructions\n\n{instructions.strip()}" if instructions.strip() else "",
        closing,
    ]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def resolve_conditionals(template: str, provider: str) -> str:
    """Keep the parts of a template between ``[IF provider]`` and ``[ENDIF]`` that are meant for this provider."""
    kept: list[str] = []
    position = 0
    inside: str | None = None
    for mark in _MARK.finditer(template):
        line = template.count("\n", 0, mark.start()) + 1
        if inside is None or inside == provider:
            kept.append(template[position : mark.start()])
        position = mark.end()
        if mark[1] == "ENDIF":
            if inside is None:
                raise Corrupt(f"The template has an [ENDIF] without an [IF …] in line {line}.")
            inside = None
        else:
            if inside is not None:
                raise Corrupt(f"The template has an [IF …] inside another in line {line}.")
            if mark[2] not in PROVIDERS:
                raise Corrupt(f"The template names the unknown provider {mark[2]!r} in line {line}.")
            inside = mark[2]
    if inside is not None:
        raise Corrupt(f"The template has an [IF {inside}] that is never closed.")
    kept.append(template[position:])
    return re.sub(r"\n{3,}", "\n\n", "".join(kept))


def personalities(places: Places) -> dict[str, str]:
    """The names of all personalities with the file of each; the user's own come before the built-in ones."""
    found: dict[str, str] = {}
    for folder in (os.path.join(_TEXTS, "personalities"), os.path.join(places.home, "personalities")):
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        found.update({name[:-3]: os.path.join(folder, name) for name in names if name.endswith(".md") and name[0] != "."})
    return dict(sorted(found.items()))


def load_personality(places: Places, name: str) -> str:
    """The text of a personality."""
    known = personalities(places)
    if name not in known:
        own = os.path.join(places.home, "personalities", f"{name}.md")
        raise NotFound(f"There is no personality {name!r}.", f"Known: {', '.join(known)}. Your own goes to {own}.")
    try:
        return decode(read_bytes(known[name]) or b"", known[name]).strip()
    except OSError as error:
        raise Invalid(f"{known[name]} cannot be read: {reason(error)}.", "Check its permissions.") from error
    except NoteError as error:
        raise Invalid(f"{error.problem}.", "Save the personality as UTF-8.") from error


def _instructions(places: Places) -> tuple[str, list[str]]:
    path = places.instructions
    if not os.path.realpath(path).startswith(os.path.join(os.path.realpath(places.project), "")):
        return "", [
            f"WARNING: {path}: a symbolic link that leaves the project is not followed; the instructions are left out."
        ]
    try:
        text = decode(read_bytes(path) or b"", path)
        if len(text.encode("utf-8")) > INSTRUCTIONS_LIMIT:
            return cut_at_line(text, INSTRUCTIONS_LIMIT), [
                f"WARNING: {path} is longer than {INSTRUCTIONS_LIMIT} bytes: what comes after them is left out."
            ]
        return text, []
    except NoteError as error:
        return "", [f"WARNING: {error.problem}; the instructions are left out."]
    except OSError as error:
        return "", [f"WARNING: {path}: cannot be read: {reason(error)}; the instructions are left out."]


def _template(name: str) -> str:
    with open(os.path.join(_TEXTS, name), encoding="utf-8") as file:
        return file.read()
