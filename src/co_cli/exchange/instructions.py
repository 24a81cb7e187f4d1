"""The files of instructions that coding agents read: CLAUDE.md, AGENTS.md, GEMINI.md.

Owns what becomes of them: a topic each or, where that is wanted, a memory for each thing that they say. Knows no agent.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from co_cli.exchange.documents import MEMORIES, document_of, memories_of
from co_cli.exchange.reading import read_text
from co_cli.exchange.report import SKIPPED, ImportEntry
from co_cli.files import is_within

if TYPE_CHECKING:
    from collections.abc import Iterator

    from co_cli.exchange.intake import Item
    from co_cli.exchange.reading import Text

_IMPORT = re.compile(r"(?:(?<=\s)|^)@((?:~/|\.{0,2}/)?[\w.~/-]*\w)", re.MULTILINE)
_CODE = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[^\n]*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_DEEPEST = 5
"""How many files may take in one another, as Claude Code has it."""


def instructions(path: str, name: str, tag: str, as_what: str) -> Iterator[Item]:
    """What becomes of one file of instructions."""
    read = read_text(path)
    if isinstance(read, ImportEntry):
        yield read
    else:
        yield from of_text(read, name, tag, as_what)


def of_text(read: Text, name: str, tag: str, as_what: str) -> Iterator[Item]:
    """What becomes of the text of such a file."""
    if as_what == MEMORIES:
        yield from memories_of(read, tag)
    else:
        yield document_of(read, tag, name=name)


def with_imports(path: str, top: str) -> tuple[list[str], list[ImportEntry]]:
    """A file with those that it takes in by ``@path``, and the lines for those that lie elsewhere, which are not read."""
    found: list[str] = []
    strangers: dict[str, ImportEntry] = {}
    waiting = [(path, 0)]
    while waiting:
        file, depth = waiting.pop(0)
        if file in found:
            continue
        found.append(file)
        read = read_text(file) if depth < _DEEPEST else None
        if read is None or isinstance(read, ImportEntry):
            continue
        for target in _IMPORT.findall(_CODE.sub("", read.text)):
            there = os.path.normpath(os.path.join(os.path.dirname(file), os.path.expanduser(target)))
            if not os.path.isfile(there):
                continue  # a name that is mentioned, such as @somebody
            if is_within(there, top):
                waiting.append((there, depth + 1))
            else:
                reason = f"lies outside of {top}, so it is not read; import it by itself"
                strangers[there] = ImportEntry(there, "", SKIPPED, reason, "outside")
    return found, list(strangers.values())
