"""Markdown files of others, as what they become here: one topic a file, or a memory for each thing that a file says.

Owns reading titles, tags and dates from their headers, names that are free of each other, and taking a text apart into
what it says. Knows no program that writes such files.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import Invalid
from co_cli.exchange.intake import IMPORTED, Document, Entry
from co_cli.exchange.reading import Text, read_text, walk
from co_cli.exchange.report import SKIPPED, ImportEntry, short_name
from co_cli.frontmatter import FrontmatterError, parse_frontmatter, says_private, split_frontmatter
from co_cli.topic import essence, slug_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from co_cli.exchange.intake import Item

TOPICS, MEMORIES = "topics", "memories"
"""What the texts of Markdown files become."""

_TEXTS = (".md", ".markdown", ".txt")
"""The endings of files that may be named; in a folder, those of the first two are looked for."""
_ITEM = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_HEADING = re.compile(r"#{1,6}[ \t]+(\S.*?)[ \t#]*")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_RULE = re.compile(r"[ \t]*(?:[-*_][ \t]*){3,}")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_INLINE_TAG = re.compile(r"(?:(?<=\s)|^)#([^\W\d_][\w/-]*)", re.MULTILINE)
_LONGEST_NAME, _LONGEST_BYTES = 80, 200


class Statement(NamedTuple):
    """One thing that a text says: an item of a list, or a paragraph."""

    text: str
    heading: str
    """The heading that it stands under."""
    line: int


def check_is_text(path: str) -> None:
    """Raise ``Invalid`` for a file that was named and cannot be Markdown: data would only become an odd topic."""
    if not path.lower().endswith(_TEXTS):
        raise Invalid(f"{path} is no Markdown file.", f"Name a folder, or a file that ends in {', '.join(_TEXTS)}.")


def documents_in(
    top: str, tag: str, *, as_what: str = TOPICS, write: Callable[[str], str] | None = None, inline_tags: bool = False
) -> tuple[list[str], list[Item]]:
    """The Markdown files of a folder, or the one that is named, as what they become; ``write`` is given each text."""
    if as_what not in (TOPICS, MEMORIES):
        raise Invalid(f"Texts cannot become {as_what!r}.", f"They become {TOPICS} or {MEMORIES}.")
    if not os.path.isdir(top):
        check_is_text(top)
        files, others = [top], 0
    else:
        files = list(walk(top, _is_markdown))
        others = sum(1 for _ in walk(top, lambda name: not _is_markdown(name)))
    names = names_of(files, top)
    items: list[Item] = []
    for file in files:
        read = read_text(file)
        if isinstance(read, ImportEntry):
            items.append(read)
        elif as_what == MEMORIES:
            items.extend(memories_of(read, tag))
        else:
            items.append(document_of(read, tag, name=names[file], write=write, inline_tags=inline_tags))
    if others:
        items.append(ImportEntry(top, "", SKIPPED, f"{others} of its files are no Markdown", "not-markdown"))
    return files, items


def _is_markdown(name: str) -> bool:
    return name.lower().endswith(_TEXTS[:2])


def names_of(files: Iterable[str], top: str) -> dict[str, str]:
    """A name for each file: that of the file or, where several have it, with the folders that it lies in."""
    stems = {file: name_from(os.path.splitext(os.path.basename(file))[0]) for file in files}
    counts = Counter(_essence(stem) for stem in stems.values())
    named: dict[str, str] = {}
    taken: set[str] = set()
    for file, stem in stems.items():
        where = os.path.splitext(os.path.relpath(file, top))[0].replace(os.sep, " ")
        wanted = stem if counts[_essence(stem)] == 1 else where
        name, count = name_from(wanted), 1
        while _essence(name) in taken:
            count += 1
            name = f"{name_from(wanted, _LONGEST_NAME - len(str(count)) - 1)} {count}"
        taken.add(_essence(name))
        named[file] = name
    return named


def _essence(name: str) -> str:
    try:
        return essence(slug_of(name))
    except Invalid:
        return name


def document_of(
    read: Text, tag: str, *, name: str, write: Callable[[str], str] | None = None, inline_tags: bool = False
) -> Document | ImportEntry:
    """A Markdown file as the topic that it becomes, with the title, the tags and the dates of its header."""
    try:
        fields, body = parse_frontmatter(read.text)
    except FrontmatterError as error:
        return ImportEntry(read.path, "", SKIPPED, error.reason, "bad-frontmatter", line=error.line)
    if not body.strip():
        return ImportEntry(read.path, "", SKIPPED, "there is no text", "empty")
    title = fields.get("title")
    title = title.strip() if isinstance(title, str) and title.strip() else name
    extra: dict[str, object] = {"title": title} if title != name or " " in title else {}
    extra.update({field: fields[field] for field in ("type", "permalink") if isinstance(fields.get(field), str)})
    if fields.get("private") is True:
        extra["private"] = True
    aliases = words_of(fields.get("aliases") or fields.get("alias"))
    if aliases:
        extra["aliases"] = aliases
    tags = [tag.lstrip("#") for tag in words_of(fields.get("tags") or fields.get("tag"))]
    if inline_tags:
        tags.extend(_INLINE_TAG.findall(_without_fences(body)))
    return Document(
        read.path,
        "",
        name,
        write(body) if write else body,
        list(dict.fromkeys([IMPORTED, tag, *tags])),
        created=moment(fields.get("created") or fields.get("date")),
        updated=moment(fields.get("updated") or fields.get("modified")) or moment(read.written),
        extra=extra,
    )


def memories_of(read: Text, tag: str) -> Iterator[Item]:
    """A memory for each thing that a Markdown file says."""
    header, body = split_frontmatter(read.text)
    above = read.text.count("\n") - body.count("\n")
    for said in statements(body):
        entry = entry_of(read, said._replace(line=said.line + above), tag)
        entry.private = says_private(header or "")
        yield entry


def entry_of(read: Text, said: Statement, tag: str, *, category: str = "") -> Entry:
    """What a text says, as the memory that it becomes."""
    at = f"line {said.line}"
    because = f"imported from {tag}: {short_name(read.path)}{f', {said.heading}' if said.heading else ''}"
    return Entry(read.path, read.written, at, said.text, category, [IMPORTED, tag], pinned=False, because=because)


def statements(text: str) -> Iterator[Statement]:
    """What a text says, one thing after the other: items of lists with what is indented under them, and paragraphs."""
    blanked = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    heading, fence, start = "", "", 0
    held: list[str] = []
    is_item = False
    for number, line in enumerate(blanked.split("\n"), start=1):
        ticks = _FENCE.match(line)
        if fence or ticks:
            if ticks and not fence:
                fence, start = ticks[1], start if held else number
            elif ticks and ticks[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            held.append(line)
            continue
        title, item = _HEADING.fullmatch(line), _ITEM.match(line)
        goes_on = held and line.strip() and not (title or item) and (not is_item or line[0] in " \t" or held[-1].strip())
        if goes_on or (not line.strip() and is_item and held):
            held.append(line)
            continue
        if _says_something(held):
            yield Statement("\n".join(held).strip(), heading, start)
        held, is_item = [], item is not None
        if title:
            heading = title[1]
        elif line.strip() and not _RULE.fullmatch(line):
            held, start = [line[item.end() :] if item else line], number
    if _says_something(held):
        yield Statement("\n".join(held).strip(), heading, start)


def _says_something(lines: list[str]) -> bool:
    return any(sign.isalnum() for line in lines for sign in line)


def _without_fences(body: str) -> str:
    kept, fence = [], ""
    for line in body.split("\n"):
        ticks = _FENCE.match(line)
        if ticks:
            fence = "" if fence and ticks[1].startswith(fence) else fence or ticks[1]
        elif not fence:
            kept.append(re.sub(r"`[^`]*`", "", line))
    return "\n".join(kept)


def words_of(value: object) -> list[str]:
    """A list of words, however it was written: as a list, or with commas or blanks between."""
    items = re.split(r"[,\s]+", value) if isinstance(value, str) else value if isinstance(value, list) else []
    return [str(item).strip() for item in items if isinstance(item, (str, int)) and str(item).strip()]


def name_from(title: str, longest: int = _LONGEST_NAME) -> str:
    """A title as the name of a topic may be: not longer, and with letters in it."""
    short = title.strip()[:longest].encode("utf-8", "replace")[:_LONGEST_BYTES].decode("utf-8", "ignore").strip()
    return short if any(sign.isalnum() for sign in short) else "untitled"


def moment(value: object) -> str:
    """A date, a timestamp or seconds since 1970 as a note has it; empty for what is none. Without a zone it is UTC."""
    from datetime import UTC, datetime

    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC).isoformat(timespec="seconds")
        found = datetime.fromisoformat(value.strip() if isinstance(value, str) else "")
    except (ValueError, OverflowError, OSError):
        return ""
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).isoformat(timespec="seconds")
