"""A digest: what matters most, in one Markdown file for agents that read no more than that, such as CLAUDE.md or AGENTS.md.

Owns what comes into it and in which order, within so many bytes: the contexts, the pinned memories, then those that are
most useful, and the names of the topics. Only whole notes go in, and what had to stay out is told.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from co_cli.context import neutralise, without_comments, without_overridden
from co_cli.errors import CoError, Invalid
from co_cli.exchange.outgoing import Rendering
from co_cli.knowledge import ARTICLE, CONTEXT, GLOBAL, MEMORY, TOPIC, is_expired
from co_cli.note import instant, sha_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from co_cli.exchange.outgoing import Shelf
    from co_cli.knowledge import KnowledgeBase, Note

_MARK = re.compile(rb"<!-- A digest by co, sha256 ([0-9a-f]{64}): [^\n]*-->\n")
_MARK_TEXT = "<!-- A digest by co, sha256 {sha}: `co knowledge --export` writes it anew; edit the notes instead. -->\n"
_SMALLEST = 512
_LEFT_OUT = "it did not fit"
_SHELF, _PINNED, _USEFUL = "Topics and articles", "Always", "Most useful"


def render(kb: KnowledgeBase, shelves: list[Shelf], size: int) -> Rendering:
    """The digest of these notes in at most ``size`` bytes."""
    if size < _SMALLEST:
        raise Invalid(f"A digest of {size} bytes says nothing.", f"Give it at least {_SMALLEST} bytes.")
    everything = [note for shelf in shelves for note in shelf.notes]
    over = {note.path: why for note in everything if (why := _over(note))}
    notes = [note for note in everything if note.path not in over]
    room = size - len(_mark("").encode()) - len(_told(10**6, 10**6).encode())
    pages = _Pages(room)
    _write_contexts(pages, notes)
    memories = _by_use(kb, [note for note in notes if note.kind == MEMORY])
    _write(pages, _PINNED, [note for note in memories if note.pinned])
    _write(pages, _USEFUL, [note for note in memories if not note.pinned])
    _write(pages, _SHELF, _by_use(kb, [note for note in notes if note.kind in (TOPIC, ARTICLE)]))
    left = [note for note in notes if note.path not in pages.taken]
    text = "\n\n".join(pages.parts) + "\n"
    if left:
        memories_left = sum(note.kind == MEMORY for note in left)
        text += _told(memories_left, len(left) - memories_left)
    content = (_mark(text) + text).encode("utf-8")
    notices = (f"{len(left)} of {len(notes)} notes did not fit into {size} bytes.",) if left else ()
    stowed = {note.path: "it is in the archive" for shelf in shelves for note in shelf.archived}
    out = {**over, **stowed, **{note.path: _LEFT_OUT for note in left}}
    return Rendering({"": content}, dict.fromkeys(pages.taken, ""), notices, out)


def _over(note: Note) -> str:
    """Why a note no longer holds; empty where it does."""
    if note.superseded_by:
        return f"{note.superseded_by} took its place"
    return "it has expired" if is_expired(note) else ""


def is_own(raw: bytes) -> bool:
    """Whether a file is a digest that nobody has edited."""
    found = _MARK.match(raw)
    return bool(found) and found is not None and sha_of(raw[found.end() :]) == found[1].decode("ascii")


def _mark(text: str) -> str:
    return _MARK_TEXT.format(sha=sha_of(text.encode("utf-8")))


def _told(memories: int, documents: int) -> str:
    return f"\n<!-- Left out: {memories} memories, {documents} others; `co recall WORDS` finds them. -->\n"


class _Pages:
    """The text of the digest as it grows, and the room that is left."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.parts: list[str] = []
        self.taken: list[str] = []

    def add(self, part: str, notes: Iterable[Note]) -> bool:
        """Add a part if there is room for all of it."""
        size = len(part.encode("utf-8")) + 2
        if size > self.room:
            return False
        self.room -= size
        self.parts.append(part)
        self.taken.extend(note.path for note in notes)
        return True


def _write_contexts(pages: _Pages, notes: list[Note]) -> None:
    contexts = {note.vault: note for note in notes if note.kind == CONTEXT}
    bodies = {vault: without_comments(note.body).strip() for vault, note in contexts.items()}
    others = [body for vault, body in bodies.items() if vault != GLOBAL]
    if GLOBAL in bodies and others:
        bodies[GLOBAL] = without_overridden(bodies[GLOBAL], others[0]).strip()
    for vault in sorted(bodies):  # the global one is first, as in a prompt
        body = neutralise(bodies[vault])
        if body and not pages.add(body, [contexts[vault]]):
            lines: list[str] = []
            for line in body.split("\n"):
                if sum(len(kept.encode("utf-8")) + 1 for kept in (*lines, line)) > pages.room - 2:
                    break
                lines.append(line)
            pages.add("\n".join(lines).rstrip(), ())


def _write(pages: _Pages, heading: str, notes: list[Note]) -> None:
    """A section with as many of the notes as there is room for, the most useful first."""
    bullets, kept = [], []
    room = pages.room - len(f"## {heading}\n") - 2
    for note in notes:
        bullet = _bullet(note)
        size = len(bullet.encode("utf-8")) + 1
        if size <= room:
            room -= size
            bullets.append(bullet)
            kept.append(note)
    if bullets:
        pages.add(f"## {heading}\n\n" + "\n".join(bullets), kept)


def _bullet(note: Note) -> str:
    if note.kind == MEMORY:
        return "- " + "\n".join(f"  {line}".rstrip() for line in neutralise(note.body).split("\n"))[2:]
    first = neutralise(next((line for line in note.body.split("\n") if line.strip() and not line.startswith("#")), ""))
    said = f": {first[:120].strip()}" if first.strip() else ""
    return f"- {note.ref}{said}"


def _by_use(kb: KnowledgeBase, notes: list[Note]) -> list[Note]:
    """The notes, those that agents used most first, then the newest."""
    try:
        used = {use.note.path: use.calls for use in kb.usage(365).used}
    except CoError:  # the log is a help, no more
        used = {}
    newest = sorted(notes, key=lambda note: (instant(note.updated or note.created), note.id or 0), reverse=True)
    return sorted(newest, key=lambda note: -used.get(note.path, 0))
