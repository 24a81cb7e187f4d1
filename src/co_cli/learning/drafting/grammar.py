"""How the phrases of a language are written down, and reading them: a text of plain words, to be looked through by people.

Owns the notation of `english.txt`. Pure, but for reading that file.
"""

from __future__ import annotations

import os
import re
from functools import cache
from typing import NamedTuple

_FILE = os.path.join(os.path.dirname(__file__), "english.txt")
_NAME = re.compile(r"\{([a-z_]+)\}")


class Grammar(NamedTuple):
    """The phrases of a language: each section with its patterns, in their order, by name where they have one."""

    leads: tuple[tuple[str, re.Pattern[str]], ...]
    """What leads into a statement, and what that says of it; an empty text for fillers."""
    irony: tuple[re.Pattern[str], ...]
    """What makes a whole turn one that means the contrary of what it says."""
    unsaid: tuple[re.Pattern[str], ...]
    """What makes of a whole sentence none that says something: questions, guesses, what others say, jokes."""
    passing: tuple[re.Pattern[str], ...]
    """What makes of a clause one about this moment."""
    phrases: dict[str, tuple[tuple[str, re.Pattern[str]], ...]]
    """By the letter that a clause begins with, since most phrases begin with one; an empty one is for all others."""
    others: dict[str, re.Pattern[str]]


@cache
def english() -> Grammar:
    """The phrases of English."""
    with open(_FILE, encoding="utf-8") as file:
        sections = _sections(file.read())
    parts: dict[str, str] = {}
    for line in sections["words"]:
        name, _, listed = line.partition(": ")
        parts[name] = f"(?:{'|'.join(word.replace('_', ' ') for word in listed.split())})"
    for line in sections["parts"]:
        name, _, written = line.partition(": ")
        parts[name] = f"(?:{_filled(written, parts)})"
    behind = r"[\s,:;–—-]+"
    leads = [
        ("" if meaning == "filler" else meaning, _compiled(f"(?:{_filled(line, parts)}){behind}"))
        for meaning in ("asked for", "standing", "corrected", "filler")
        for line in sections[meaning]
    ]
    phrases, others = (
        [(line.partition(": ")[0], _filled(line.partition(": ")[2], parts)) for line in sections[name]]
        for name in ("phrases", "others")
    )
    firsts = [(_first(written), kind, _compiled(written)) for kind, written in phrases]
    by_letter = {
        letter: tuple((kind, pattern) for first, kind, pattern in firsts if first in ("", letter))
        for letter in {first for first, _kind, _pattern in firsts} | {""}
    }
    named = {name: _compiled(written) for name, written in others}
    irony, unsaid, passing = (
        tuple(_compiled(_filled(line, parts)) for line in sections[name]) for name in ("irony", "unsaid", "passing")
    )
    return Grammar(tuple(leads), irony, unsaid, passing, by_letter, named)


def _sections(text: str) -> dict[str, list[str]]:
    """The lines of each section; a line that is indented goes on with the one before it."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("["):
            lines = sections.setdefault(line.strip("[]"), [])
        elif line.startswith(" "):
            lines[-1] += line if lines is sections.get("words") else line[1:]
        elif line and not line.startswith("#"):
            lines.append(line)
    return sections


def _filled(written: str, parts: dict[str, str]) -> str:
    return _NAME.sub(lambda found: parts[found[1]], written)


def _first(written: str) -> str:
    """The letter that a pattern begins with, if there is only one way for it to begin."""
    begins = re.match(r"[a-z](?![?*{])", written)
    flat, before = re.sub(r"\\.|\[[^\]]*\]", "", written), ""
    while flat != before:
        flat, before = re.sub(r"\([^()]*\)", "", flat), flat
    return begins[0] if begins and "|" not in flat else ""


def _compiled(written: str) -> re.Pattern[str]:
    spaced = written.replace(" ", r"\s+")
    return re.compile(f"(?i)(?:{spaced})")
