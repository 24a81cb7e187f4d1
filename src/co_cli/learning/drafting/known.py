"""What is known already: the notes, archived ones too, the boot files of agents, and what programs showed in a conversation.

Owns the answer to whether a statement was there before somebody said it. What the memory handed out must not come back to it
as something new, and what stands in a file that every agent reads need not be kept a second time.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from co_cli.files import read_bytes
from co_cli.knowledge import ARTICLE, CONTEXT, MEMORY, TOPIC
from co_cli.note import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from co_cli.knowledge import KnowledgeBase

_BOOT_FILES = (
    *("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", ".claude/CLAUDE.md", ".cursorrules"),
    *(".github/copilot-instructions.md", ".co-cli/instructions.md"),
)
_OWN_BOOT_FILES = (".claude/CLAUDE.md", ".codex/AGENTS.md", ".gemini/GEMINI.md")
_LARGEST = 1_000_000
_NEAR = 0.8
"""The share of their words that two statements have in common when they say the same."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+|(?:^|(?<=\n))\s*(?:[-*•]|\d+[.)])\s+")
_DENIED = re.compile(r"(?i)\b(?:no|not|never|without|cannot|nor|neither|none)\b|n['’]t\b")
_EMPTY = frozenset(
    """
    a an the is are was be been am to of and or in on for at by with from as it its this that we our us i my
    me you your they them their user users s do does did has have will would please always
    """.split()  # noqa: SIM905 - a table is read more easily so
)


class Known:
    """Statements that are known, to be compared with."""

    def __init__(self) -> None:
        self._whole: list[tuple[str, str]] = []
        self._statements: list[tuple[frozenset[str], bool, str]] = []
        self._by_word: dict[str, list[int]] = {}

    def add(self, text: str, source: str) -> None:
        """Know a text, under the name of where it is from."""
        self._whole.append((fold(text), source))
        for sentence in filter(None, _SENTENCE.split(text)):
            words = _words(sentence)
            if words:
                for word in words:
                    self._by_word.setdefault(word, []).append(len(self._statements))
                self._statements.append((words, bool(_DENIED.search(sentence)), source))

    def holder(self, *statements: str) -> str:
        """Where one of these statements stands already, in these words or in nearly these; empty where it stands nowhere."""
        for statement in statements:
            folded = fold(statement)
            found = next((source for text, source in self._whole if folded and folded in text), "")
            if found or (found := self._nearly(statement)):
                return found
        return ""

    def _nearly(self, statement: str) -> str:
        words = _words(statement)
        common: dict[int, int] = {}
        for word in words:
            for place in self._by_word.get(word, ()):
                common[place] = common.get(place, 0) + 1
        denied = bool(_DENIED.search(statement))
        for place, shared in sorted(common.items(), key=lambda each: -each[1]):
            others, is_denied, source = self._statements[place]
            if shared < _NEAR * len(words | others) or is_denied is not denied:
                continue
            if _figures(words) == _figures(others):
                return source
        return ""


def _words(text: str) -> frozenset[str]:
    found = re.findall(r"[\w+#][\w+#./:@-]*[\w+#]|[\w+#]", text.casefold())
    return frozenset(re.sub(r"(?<=\w{3})(?:ing|ed|es|s|e)$", "", word) for word in found if word not in _EMPTY)


def _figures(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if any(sign.isdigit() for sign in word))


def known_in(kb: KnowledgeBase) -> Known:
    """What the notes and the boot files say."""
    known = Known()
    for archived in (False, True):
        for note in kb.list((MEMORY,), archived=archived).notes:
            known.add(note.body, note.ref)
    for note in kb.list((TOPIC, ARTICLE)).notes:
        known.add(note.body, note.ref)
    for path in _boot_files(kb):
        with suppress(OSError):
            raw = read_bytes(path) or b""
            known.add(raw[:_LARGEST].decode("utf-8", "replace"), os.path.basename(path))
    return known


def _boot_files(kb: KnowledgeBase) -> Iterator[str]:
    for name in _BOOT_FILES:
        yield os.path.join(kb.places.project, *name.split("/"))
    for name in _OWN_BOOT_FILES:
        yield os.path.join(os.path.expanduser("~"), *name.split("/"))
    for vault in kb.vaults:
        yield os.path.join(vault.root, f"{CONTEXT}.md")


class Shown(Known):
    """What programs showed in a conversation, as far as it has gone, and what was decided on in its course."""

    def __init__(self, texts: Sequence[str], decided: Iterable[str] = ()) -> None:
        super().__init__()
        self._texts = texts
        self._reached = 0
        for text in decided:
            self.add(text, "what was decided on there")

    def reach(self, end: int) -> Shown:
        """Go on to where so much had been shown; it never goes back."""
        for text in self._texts[self._reached : end]:
            self.add(text, "what was shown before it")
        self._reached = max(self._reached, end)
        return self
