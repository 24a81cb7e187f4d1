"""The links of a note: what in its body points to another, and which note is meant.

Owns what a link is, and the names that a note goes by. Knows nothing of folders or the index: it is told which notes there
are. Pure, linear in the length of a body, and never raises.

A link names a note in one of five ways, tried in this order: by its path in the vault (`topics/deploy`), by its ref
(`topic:deploy`, `12`), by the name of its file (`deploy`, `012-we-deploy`), by that name without the number (`we-deploy`),
and by its title. Case does not matter, nor whether a blank, a hyphen or an underscore stands between two words.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

from co_cli.chunking import FENCE, HEADING, ITEM, blocks
from co_cli.note import FOLDERS, GLOBAL, MEMORY, PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_CODE = r"`+|<!--|\\[\[\]()<>!`\\]"
_INDENTED = r"(?:(?: {4}|\t)[^\n]*(?:\n|$))+"
_DESTINATION = r"<[^<>\n]*>|[^\s()<>]*+(?:\([^\s()<>]*+\)[^\s()<>]*+)*+"
_TITLE = r"\"[^\"]{0,500}\"|'[^']{0,500}'|\([^()]{0,500}\)"
_LINK = rf"""(?x)
    !?\[\[(?P<wiki>[^\[\]\n]{{1,1000}})\]\]
  | (?P<open>!?\[)
  | \](?:\(\s*+(?P<to>{_DESTINATION})(?:\s++(?:{_TITLE}))?\s*+\))?
  | (?P<gap>\n[ \t\r]*+\n)
"""
_DEFINITION = r"(?m)^ {0,3}\[(?!\^)[^\[\]\n]{1,1000}\]:[ \t]*+(?:\n[ \t]*+)?(?P<to><[^<>\n]*>|[^\s<]\S*)"
_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]*:|//"


class Link(NamedTuple):
    """A place in a body that points to another note, or to a file beside it."""

    target: str
    anchor: str
    wiki: bool
    line: int
    written: str
    """The link as it stands in the body; for a reference link that is its definition, which holds the target."""


def links(body: str) -> tuple[Link, ...]:
    """What a body points to within the knowledge, in its order; not what stands in code or comments, and not the web."""
    if "](" not in body and "[[" not in body and "]:" not in body:
        return ()
    masked = _without_code(body)
    found = [*_links_in_text(body, masked), *(_definitions(body, masked) if "]:" in masked else ())]
    made = []
    line, counted = 1, 0
    for start, end, target, anchor, wiki in sorted(found):
        line += body.count("\n", counted, start)
        counted = start
        made.append(Link(target, anchor, wiki, line, body[start:end].strip()))
    return tuple(made)


def _links_in_text(body: str, masked: str) -> Iterator[tuple[int, int, str, str, bool]]:
    opened: list[re.Match[str]] = []
    for match in re.compile(_LINK).finditer(masked):
        if match["gap"]:
            opened.clear()  # a link does not reach over a blank line
        elif match["open"]:
            opened.append(match)
        elif match["wiki"]:
            target, anchor = _wiki_target(body[slice(*match.span("wiki"))])
            if target and not (match[0][0] == "!" and _is_file(target)):
                yield match.start(), match.end(), target, anchor, True
        elif opened:
            opening = opened.pop()
            target, anchor = _target(body[slice(*match.span("to"))]) if match["to"] else ("", "")
            if target and (opening["open"] == "[" or target.lower().endswith(".md")):
                yield opening.start(), match.end(), target, anchor, False


def _definitions(body: str, masked: str) -> Iterator[tuple[int, int, str, str, bool]]:
    for match in re.compile(_DEFINITION).finditer(masked):
        target, anchor = _target(body[slice(*match.span("to"))])
        if target:
            yield match.start(), match.end(), target, anchor, False


def _wiki_target(inside: str) -> tuple[str, str]:
    target, _, anchor = inside.partition("|")[0].removesuffix("\\").partition("#")  # in a table the bar is escaped
    return ("", "") if "://" in target else (target.strip(), anchor.strip())


def _is_file(target: str) -> bool:
    """Whether an embedded target is a picture or the like: a note has no ending, or that of Markdown."""
    found = re.search(r"\.([A-Za-z][A-Za-z0-9]{1,4})$", target)
    return found is not None and found[1].lower() != "md"


def _target(destination: str) -> tuple[str, str]:
    """The path and the anchor of a destination; no path where it leads out of the knowledge, or within the note."""
    if destination.startswith("<"):
        destination = destination[1:-1]
    destination = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", destination)
    if re.match(_SCHEME, destination):
        return "", ""
    path, _, anchor = destination.partition("#")
    return _decoded(path).strip(), _decoded(anchor)


def _decoded(text: str) -> str:
    if "%" not in text:
        return text
    return re.sub(
        r"(?:%[0-9A-Fa-f]{2})+", lambda run: bytes.fromhex(run[0].replace("%", "")).decode("utf-8", "replace"), text
    )


def _without_code(body: str) -> str:
    """The body with blanks for code and comments, and letters for escaped signs; everything else keeps its place."""
    parts: list[str] = []
    at = 0
    for start, end, filler in _masks(body):
        parts += (body[at:start], filler * (end - start))
        at = end
    return "".join((*parts, body[at:]))


def _masks(body: str) -> Iterator[tuple[int, int, str]]:
    special = re.compile(_CODE)
    done, in_list, comments = 0, False, True
    for block in blocks(body):
        start = max(block.start, done)
        if block.kind is FENCE and start < block.end:
            yield start, block.end, " "
            continue
        indented = re.compile(_INDENTED).match(body, block.start, block.end)
        if block.kind is ITEM and not indented:
            in_list = True
        elif block.kind is HEADING or not body[block.start].isspace():
            in_list = False
        if indented and not in_list and start < indented.end():
            yield start, indented.end(), " "
            start = indented.end()
        closings: dict[int, int] | None = None
        while start < block.end and (found := special.search(body, start, block.end)):
            start = found.end()
            if found[0][0] == "\\":
                yield found.start(), start, "x"
                continue
            if found[0][0] == "`":
                if closings is None:
                    closings = _closings(body, found.start(), block.end)
                stop = closings.get(found.start(), 0)
            else:
                stop = (body.find("-->", start) + 3) if comments else 0
                comments = stop >= len("-->") + start  # else no comment ends from here on
            if stop > start:
                yield found.start(), stop, " "
                start = stop
        done = max(done, start)


def _closings(body: str, start: int, end: int) -> dict[int, int]:
    """Where a span of code ends, by where it starts: at the next run of as many backticks."""
    runs = [found.span() for found in re.compile("`+").finditer(body, start, end)]
    following: dict[int, int] = {}
    closings: dict[int, int] = {}
    for first, last in reversed(runs):
        if last - first in following:
            closings[first] = following[last - first]
        following[last - first] = last
    return closings


# ------------------------------------------------------------------------------------------------------- who is meant

_PLAIN = r"[\s_-]+"
_DIGITS = "0123456789"


class Named(NamedTuple):
    """A note, as far as links can name it."""

    vault: str
    kind: str
    file: str
    """The name of its file, in the folder of its kind."""
    id: int | None = None
    title: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """All that it is called by links, the surest first."""
        stem = self.file.removesuffix(".md")
        if self.vault not in (PROJECT, GLOBAL, ""):  # a linked folder, with folders within
            return tuple(filter(None, map(folded, (stem, f"{self.vault}:{stem}", stem.rpartition("/")[2], self.title))))
        name = str(self.id) if self.kind == MEMORY else stem
        ref = f"{self.kind}:{name}"
        prefix = self.vault[:1]
        refs = (ref, f"{prefix}:{ref}", *((name, f"{prefix}:{name}") if self.kind == MEMORY else ()))
        bare = stem.lstrip(_DIGITS).lstrip("-_ ")
        found = (f"{FOLDERS[self.kind]}/{stem}", *refs, stem, bare, self.title)
        return tuple(dict.fromkeys(filter(None, map(folded, found))))


def folded(name: str) -> str:
    """A name as it is compared."""
    name = name.strip().removeprefix("#")
    if name.lower().endswith(".md"):
        name = name[: -len(".md")]
    return re.sub(_PLAIN, "-", name.casefold()).strip("-")


def key_of(link: Link, kind: str, *, folder: str | None = None) -> str:
    """The name by which a link in a note calls another; empty where it can be no note that is kept there.

    A note lies in the folder of its kind, unless another is named.
    """
    if link.wiki:
        return folded(link.target.strip("/"))
    path = posixpath.normpath(posixpath.join(FOLDERS.get(kind, "") if folder is None else folder, link.target))
    ending = posixpath.splitext(path)[1].lower()
    if path.startswith(("../", "/")) or ending not in ("", ".md", ".mdx", ".markdown"):
        return ""
    return folded(path)


class Names:
    """Which note is called what."""

    def __init__(self, notes: Iterable[Named]) -> None:
        self._called: dict[str, list[tuple[int, Named]]] = {}
        for note in notes:
            for place, name in enumerate(note.names):
                self._called.setdefault(name, []).append((place, note))

    def meant(self, key: str, vault: str) -> Named | None:
        """The note that a link in a vault means; a note of the same vault comes first, then the surer name."""
        found = self._called.get(key, ())
        return min(found, key=lambda each: (each[1].vault != vault, each[0], each[1].file), default=(0, None))[1]
