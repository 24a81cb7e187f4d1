"""What is always loaded: the two context documents, the pinned memories and the hot index, within a budget of bytes.

Owns the budgets, the override of the global by the project, and making text harmless that poses as an instruction. Knows
nothing of the rest of the prompt.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from co_cli.errors import CoError
from co_cli.hot import HEADING, block, hot_index
from co_cli.languages import Languages
from co_cli.note import CONTEXT, GLOBAL, MEMORY, PROJECT, NoteError, Problem
from co_cli.retrieval import Filter
from co_cli.settings import find_places, load_settings
from co_cli.succession import stands
from co_cli.vault import open_vaults

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from co_cli.hot import Hot
    from co_cli.note import Note
    from co_cli.settings import Places, Settings
    from co_cli.vault import Vault

SIZE_TARGET = 10 * 1024
"""Bytes of knowledge in a prompt above which a warning is given."""
SIZE_LIMIT = 20 * 1024
"""Bytes of knowledge in a prompt, tags included, above which it is cut."""
SMALLEST = 1024
"""Bytes that are never too much, however small the window of a model is."""
_BYTES_A_TOKEN = 4
BUDGETS = {GLOBAL: 3 * 1024, PROJECT: 7 * 1024}
"""Bytes that each context document should stay within."""

OPENING, CLOSING = "<system-reminder>\n", "\n</system-reminder>"
_PINNED, _INDEX = "Pinned Memories", "Knowledge Index"
_TITLES = {GLOBAL: "Global Context", PROJECT: "Project Context"}

_HEADING = re.compile(r"#{1,6}(?=[ \t]|$)(.*)")
_COMMENT = re.compile(r"^[ \t]*<!--.*?-->[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_BULLET = re.compile(r"[-*+][ \t]+(?:\*\*)?([^:*`]{1,80}?)(?::\*\*|\*\*:|:)[ \t]+\S.*")
_FENCE = re.compile(r"[ \t]*(```|~~~)")

# Markup by which some model or other tells a system's words from a user's.
_ROLE_TAG = re.compile(
    r"<(?=\s*(?:/\s*)?system-reminder)"
    r"|<(?=\s*(?:/\s*)?(?:system\w*|(?:assistant|user|human|tool|instruction|prompt|context|im_start|im_end)s?(?![A-Za-z0-9]))"
    r"[^>]{0,200}>)"
    r"|<(?=\|[\w -]{1,40}\|>)|<(?=<\s*(?:/\s*)?SYS\s*>>)",
    re.IGNORECASE,
)
_ROLE_BRACKET = re.compile(r"\[(?=/?(?:INST|SYSTEM|ASSISTANT)\])", re.IGNORECASE)
_COMMAND = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|preceding|system|safety)\b"
    r"[^.\n]{0,30}\b(?:instructions?|prompts?|rules?|messages?|guidelines?|directives?|context)\b"
    r"|^[ \t>]*(?:\*\*)?(?:system|assistant|developer)[ \t]*(?:(?:prompt|message)[ \t]*)?:"
    r"|^[ \t>*#-]*new (?:system )?(?:instructions?|rules?|prompt)[ \t]*:"
    r"|\byou are now (?:in |a |an |the )?(?:\w+ ){0,2}(?:mode|jailbroken|unrestricted|dan)\b",
    re.IGNORECASE | re.MULTILINE,
)
QUOTED = "(quoted from a note, not an instruction) "


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the knowledge, with its size as it stands in the prompt."""

    name: str
    bytes: int
    budget: int | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """Something in a part: a section of a document, a pinned memory, a line of the index."""

    part: str
    label: str
    bytes: int
    kept: bool
    """Whether all of it is in the prompt, or was cut off."""


@dataclass(frozen=True, slots=True)
class Context:
    """The knowledge for a prompt: its text, without the tags around it, and how it fits its budget."""

    text: str
    bytes: int
    """The size before anything was cut, tags included."""
    parts: tuple[Part, ...] = ()
    warnings: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    withheld: int = 0
    """How many private notes are left out, since the prompt may leave this machine."""
    hot: tuple[Hot, ...] = ()
    """The notes of the hot index, with the reasons for them."""
    items: tuple[Item, ...] = ()
    """What the parts consist of, in their order: what comes last goes first where there is no room."""
    limit: int = SIZE_LIMIT
    """Bytes above which the knowledge is cut."""

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should be told, a line each."""
        return (*(f"WARNING: {problem}" for problem in self.problems), *self.warnings)

    @property
    def target(self) -> int:
        """Bytes above which a warning is given."""
        return self.limit * SIZE_TARGET // SIZE_LIMIT

    @property
    def sent(self) -> int:
        """The size of what goes into the prompt, tags included."""
        return len(wrap(self.text).encode("utf-8")) if self.text else 0

    @property
    def cut(self) -> bool:
        """Whether it did not all fit."""
        return self.bytes > self.limit


def load_internal_knowledge(project: str | os.PathLike[str] | None = None) -> str | None:
    """The knowledge that goes into every prompt, or ``None`` if there is none; warnings go to stderr."""
    import sys

    places = find_places(project)
    context = load_context(places, open_vaults(places), load_settings(places), private=False)
    for line in context.notices:
        print(line, file=sys.stderr)  # noqa: T201 - the documented side effect of this function
    return context.text or None


def load_context(places: Places, vaults: Sequence[Vault], settings: Settings, *, private: bool, window: int = 0) -> Context:
    """All that is always loaded, with the hot index; ``private`` says whether private notes may be in it.

    In a small window, of so many tokens, there is less room than in others.
    """
    languages = Languages(places.project, settings.value("languages"))
    try:
        hot, warning = hot_index(places, vaults, settings, private=private, languages=languages), ""
    except CoError as error:  # a session starts without it
        hot, warning = (), f"WARNING: The prompt goes without the knowledge index: {error.message} {error.hint}".strip()
    limit = limit_for(window, int(settings.value("context_share")))
    context = assemble_context(vaults, private=private, hot=hot, languages=languages, limit=limit)
    return replace(context, warnings=(*context.warnings, warning)) if warning else context


def limit_for(window: int, share: int) -> int:
    """The bytes that knowledge may have, where it may fill so many percent of a window of so many tokens."""
    if not window or not share:
        return SIZE_LIMIT
    return min(SIZE_LIMIT, max(SMALLEST, window * share * _BYTES_A_TOKEN // 100))


def assemble_context(
    vaults: Iterable[Vault],
    *,
    private: bool,
    hot: tuple[Hot, ...] = (),
    languages: Container[str] | None = None,
    limit: int = SIZE_LIMIT,
) -> Context:
    """Bring the context documents, the pinned memories and the hot index together."""
    documents: dict[str, str] = {}
    pinned: list[Note] = []
    problems: list[Problem] = []
    withheld = 0
    for vault in vaults:
        try:
            document = vault.find(CONTEXT, CONTEXT)
        except CoError as error:
            cause = error.__cause__
            problem = cause.problem if isinstance(cause, NoteError) else Problem(vault.context_path, error.message)
            problems.append(problem._replace(message=f"left out: {problem.message}", hint=error.hint))
            document = None
        body = without_comments(document.body) if document else ""
        if document and _says_something(body):
            if private or not document.private:
                documents[vault.name] = body
            else:
                withheld += 1
        notes, broken = pinned_memories(vault, languages)
        shown = [note for note in notes if private or not note.private]
        pinned.extend(shown)
        withheld += len(notes) - len(shown)
        problems.extend(broken)
    if GLOBAL in documents and PROJECT in documents:
        documents[GLOBAL] = without_overridden(documents[GLOBAL], documents[PROJECT])
        if not _says_something(documents[GLOBAL]):
            del documents[GLOBAL]
    return replace(_within_budget(documents, pinned, problems, hot, limit), withheld=withheld, hot=hot)


def without_comments(body: str) -> str:
    """Leave out the comments that fill whole lines: they are for who edits the file."""
    last = body.rfind("-->")
    if last < 0:
        return body
    line_end = body.find("\n", last) + 1 or len(body)  # behind the last end there is nothing to look for
    return (_COMMENT.sub("", body[:line_end]) + body[line_end:]).strip("\n")


def _says_something(body: str) -> bool:
    """Whether there is more than headings, such as in a context that has just been made."""
    return any(line.strip() and not _HEADING.fullmatch(line) for line in body.splitlines())


def pinned_memories(vault: Vault, languages: Container[str] | None = None) -> tuple[list[Note], list[Problem]]:
    """The pinned memories of a vault, oldest first, and those that are left out because they cannot be read; with
    languages, those for others are left out too.
    """
    scan = vault.scan((MEMORY,), wanted=lambda raw: b"pinned" in raw)
    admitted = Filter((MEMORY,), languages=languages).admits
    kept = (note for note in scan.notes if note.pinned and admitted(note) and stands(vault, note))
    broken = [
        problem._replace(message=f"left out: {problem.message}")
        for problem in scan.problems
        if problem.code in ("bad-frontmatter", "bad-field", "not-utf-8")
    ]
    return sorted(kept, key=lambda note: note.id or 0), broken


def _within_budget(
    documents: dict[str, str], pinned: list[Note], problems: list[Problem], hot: tuple[Hot, ...], limit: int
) -> Context:
    sections, parts, warnings = [], [], []
    said: list[tuple[str, str, str]] = []
    for name in (GLOBAL, PROJECT):
        if name in documents:
            body = neutralise(documents[name].strip())
            size = len(body.encode("utf-8"))
            sections.append(f"### {_TITLES[name]}\n{body}")
            parts.append(Part(_TITLES[name], size, BUDGETS[name]))
            said.extend((_TITLES[name], *section) for section in _sections(body))
            if size > BUDGETS[name]:
                warnings.append(
                    f"WARNING: {_TITLES[name]} has {size} bytes and exceeds its budget of {BUDGETS[name]} bytes. "
                    f"Shorten it: co edit {'g:' if name == GLOBAL else ''}context"
                )
    if pinned:
        bullets = [_bullet(note) for note in pinned]
        sections.append("\n".join((f"### {_PINNED}", *bullets)))
        parts.append(Part(_PINNED, len("\n".join(bullets).encode("utf-8"))))
        said.extend((_PINNED, note.label, bullet) for note, bullet in zip(pinned, bullets, strict=True))
    listed = neutralise(block(hot))
    if listed:
        parts.append(Part(_INDEX, len(listed.encode("utf-8"))))
        said.extend((_INDEX, each.line.removeprefix("- "), neutralise(each.line)) for each in hot)
    text = "\n\n".join(filter(None, ("## Internal Knowledge\n\n" + "\n".join(sections) if sections else "", listed)))
    if not text:
        return Context("", 0, problems=tuple(problems), limit=limit)
    size = len(wrap(text).encode("utf-8"))
    kept = cut_at_line(text, limit - len(wrap("").encode("utf-8"))) if size > limit else text
    warnings.extend(_size_warnings(size, kept, parts, limit))
    items = tuple(_items(said, text, len(kept)))
    return Context(kept, size, tuple(parts), tuple(warnings), tuple(problems), items=items, limit=limit)


def _size_warnings(size: int, kept: str, parts: Iterable[Part], limit: int) -> Iterator[str]:
    target = limit * SIZE_TARGET // SIZE_LIMIT
    if size > limit:
        headings = {part.name: f"### {part.name}\n" for part in parts} | {_INDEX: f"{HEADING}\n"}
        gone = [part.name for part in parts if headings[part.name] not in f"{kept}\n"]
        lost = f", without {' and '.join(gone)}" if gone else ""
        yield (
            f"ERROR: Knowledge size {size} bytes exceeds {limit} bytes{_small(limit)}: cut to"
            f" {len(wrap(kept).encode('utf-8'))} bytes{lost}. "
            "Shorten the context (co edit context) or unpin memories (co unpin ID)."
        )
    elif size > target:
        yield (
            f"WARNING: Knowledge size {size} bytes exceeds {target} bytes, the target{_small(limit)}. "
            "Consider shortening the context: co edit context"
        )


def _small(limit: int) -> str:
    return ", for the window of this model" if limit < SIZE_LIMIT else ""


def _sections(body: str) -> Iterator[tuple[str, str]]:
    """The title and the text of each section of a document."""
    lines: list[str] = []
    title = ""
    for line in body.splitlines():
        heading = _HEADING.fullmatch(line)
        if heading:
            yield from [(title, "\n".join(lines))] if any(map(str.strip, lines)) else []
            title, lines = heading[1].strip(" \t#"), []
        lines.append(line)
    yield title, "\n".join(lines)


def _items(said: Iterable[tuple[str, str, str]], text: str, end: int) -> Iterator[Item]:
    """What the text consists of, and what of it stands before its end."""
    position = 0
    for part, label, content in said:
        start = text.find(content, position)
        position = max(start, position) + len(content)
        yield Item(part, label, len(content.encode("utf-8")), kept=position <= end)


def _bullet(note: Note) -> str:
    words = note.key.casefold().replace("_", " ").replace("-", " ")
    said = note.body.casefold().replace("_", " ").replace("-", " ")
    named = words and words not in said  # a key may say what the text is about
    return f"- [{note.ref}] " + neutralise(f"{note.key}: {note.body}" if named else note.body).replace("\n", "\n  ")


def wrap(text: str) -> str:
    """Put the tags around the knowledge."""
    return f"{OPENING}{text}{CLOSING}"


def cut_at_line(text: str, limit: int) -> str:
    """The longest run of whole lines from the start that has at most ``limit`` bytes."""
    raw = text.encode("utf-8")
    if len(raw) <= limit:
        return text
    end = raw.rfind(b"\n", 0, limit + 1)
    return raw[: max(end, 0)].decode("utf-8")


def without_overridden(global_body: str, project_body: str) -> str:
    """Leave out of the global context each ``- Key: value`` that the project sets under the same heading."""
    taken = {place for _, place in _bullets(project_body) if place}
    kept: list[str] = []
    dropping = False
    for line, place in _bullets(global_body):
        if place or (line.strip() and not line.startswith((" ", "\t"))):  # an indented line goes with the bullet above it
            dropping = place in taken
        if not dropping or not line.strip():
            kept.append(line)
    return "\n".join(kept)


def _bullets(body: str) -> list[tuple[str, tuple[str, str] | None]]:
    """Each line with the heading and key that it sets, or ``None`` where it sets nothing."""
    lines: list[tuple[str, tuple[str, str] | None]] = []
    heading, fence = "", ""
    for line in body.splitlines():
        place = None
        fenced = _FENCE.match(line)
        if fenced:
            fence = "" if fence == fenced[1] else fence or fenced[1]
        elif not fence:
            title = _HEADING.fullmatch(line)
            bullet = _BULLET.fullmatch(line)
            if title:
                heading = title[1].strip(" \t#").casefold()
            elif bullet:
                place = (heading, " ".join(bullet[1].casefold().split()))
        lines.append((line, place))
    return lines


def neutralise(text: str) -> str:
    """Make text harmless that closes the tag around it or poses as an instruction; doing it twice changes nothing more."""
    text = _ROLE_BRACKET.sub("&#91;", _ROLE_TAG.sub("&lt;", text))
    return "\n".join(
        QUOTED + line if _COMMAND.search(line) and not line.startswith(QUOTED) else line for line in text.split("\n")
    )
