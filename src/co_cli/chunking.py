"""From the body of a note to what is searched and followed: its passages and its links.

Owns where a Markdown body may be cut, how much of it makes a passage, and what in it points to another note. Knows nothing
of files, the index or models: a token is estimated here, never counted. Pure, linear in the length of the body, and never
raises.

How a body is cut:

- A body that is small and has no headings is one passage; a blank body has none.
- Headings come first. A section that fits is one passage, and small ones go together with what stands beside them under
  the same parent. A passage's heading is then what holds for all of it: the parent's.
- A section that is too long is cut between its paragraphs, list items and fences, a paragraph at the ends of sentences, then
  at blanks, then between characters. Fences and the rows of tables stay whole as long as they are not absurd.
- A heading goes with what follows it. Comments are text like any other.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

GOAL = 400
"""Tokens that a passage should have at the most."""
SMALL = 100
"""Tokens below which a passage looks for company. By as many it may exceed the goal, to leave no such rest."""
WHOLE = 4 * GOAL
"""Tokens up to which a fence or the row of a table stays whole, whatever the goal."""

_PER_WORD, _WIDTH = 1.3, 5
"""Tokens of a word between blanks; characters of a token in a text whose words are very long."""
# Scripts that put no blanks between words, or whose signs are about a token each: Thai to Myanmar, Khmer, CJK, Hangul.
_WIDE = (
    r"[\u0e00-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]+"
)

_TITLE_LENGTH = 200
_CLUSTER = 32
"""Characters that belong to one sign, such as a letter with its accents, are not looked at beyond this."""

_TEXT, _ITEM, _FENCE, _HEADING, _ROWS = "text", "item", "fence", "heading", "rows"

# A line at which something new begins. Every pattern looks at a line once, so that nothing takes more than linear time.
_LINE = r"""
    (?P<atx>\ {0,3}\#{1,6}[ \t]+[^\s][^\n\f]*)
  | (?P<fence>[ \t]*+(?:(?:>|(?:[-*+]|[0-9]{1,9}[.)])(?=[ \t]))[ \t]*+)*+(?P<ticks>`{3,}+(?=[^`\n]*$)|~{3,}+))
  | (?P<item>[ \t]*+(?:[-*+]|[0-9]{1,9}[.)])[ \t])
  | (?P<rule>\ {0,3}(?:==+|--+|\*\*\*+|___+)[ \t]*\r?$)
  | (?P<blank>(?:[ \t>]*+\r?\n)++)
"""
_FIRST = rf"(?mx)(?:{_LINE})"
_BORDER = rf"(?mx)[\n\f]\f*+(?:{_LINE}|(?<=\f))"  # a form feed is the border of a page

# The end of a fence: its closing line, or a line that is outside of the list item or the quotation that it stands in.
_MARKS = r"(?P<marks>`{3,}+|~{3,}+)[ \t]*\r?$"
_CLOSING = rf"(?m)\n {{0,3}}{_MARKS}"
_CLOSING_QUOTED = rf"(?m)\n(?:[ \t>]*+{_MARKS}|(?! {{0,3}}>))"
_CLOSING_INDENTED = rf"(?m)\n(?:[ \t>]*+{_MARKS}|(?=\S))"

_TABLE = r"(?m)^[ \t>]*+(?:\||:?-+:?[ \t]*\|[-:| \t]*\r?$)"
_SENTENCE = r"[.!?…][\"'”’»)\]]*\s|[。\uff01\uff1f][”’」』]*"


class Passage(NamedTuple):
    """A part of a body, without the white space around it."""

    start: int
    end: int
    heading: str
    """The headings that all of it stands under, ``Deploy > Rollback``; empty above the first one."""
    line: int
    """The line of the body in which it starts, from 1."""


class Link(NamedTuple):
    """A place in a body that points to another note, or to a file beside it."""

    target: str
    anchor: str
    wiki: bool
    line: int
    written: str
    """The link as it stands in the body; for a reference link that is its definition, which holds the target."""


class _Block(NamedTuple):
    start: int
    end: int
    kind: str
    level: int = 0
    title: str = ""


_Trail = tuple[_Block, ...]


class _Draft(NamedTuple):
    """A passage in the making: ``size`` in tokens, ``trail`` the headings that it stands under."""

    start: int
    end: int
    size: float
    trail: _Trail


def split(body: str, *, whole: bool = False) -> tuple[Passage, ...]:
    """Cut a body into passages, in their order; what is not white space is in exactly one. ``whole`` keeps it in one."""
    if whole or _is_small(body):
        text = body.lstrip()
        start = len(body) - len(text)
        return (Passage(start, start + len(text.rstrip()), "", body.count("\n", 0, start) + 1),) if text else ()
    passages = []
    line, counted = 1, 0
    for draft in _drafts(body):
        text = body[draft.start : draft.end]
        bare = text.lstrip()
        if bare:
            start = draft.end - len(bare)
            line += body.count("\n", counted, start)
            counted = start
            heading = " > ".join([above.title for above in draft.trail])
            passages.append(Passage(start, start + len(bare.rstrip()), heading, line))
    return tuple(passages)


def _is_small(body: str) -> bool:
    if len(body) > GOAL * _WIDTH or "#" in body or "--" in body or "==" in body:
        return False
    return len(body) <= GOAL or _tokens(body, 0, len(body)) <= GOAL


def _tokens(body: str, start: int, end: int) -> float:
    """About how many tokens a model makes of this part of a body; of a very long part, at least how many."""
    length = end - start
    if length > WHOLE * _WIDTH:
        return length / _WIDTH
    text = body[start:end]
    wide = 0
    if not text.isascii():
        text = re.sub(_WIDE, "", text)
        wide, length = length - len(text), len(text)
    return wide + max(len(text.split()) * _PER_WORD, length / _WIDTH)


# -------------------------------------------------------------------------------------------------------------- blocks


def _blocks(body: str) -> Iterator[_Block]:
    """The blocks of a body in their order; between them is nothing but white space."""
    border = re.compile(_BORDER)
    start, kind = 0, _TEXT
    found = re.match(_FIRST, body) or border.search(body)
    while found:
        name = found.lastgroup
        at = found.start(name) if name else found.end()
        new = _new_block(body, found, start if kind is _TEXT else -1) if name in ("atx", "fence", "rule") else None
        if new:
            if new.start > start:
                yield _Block(start, new.start, kind)
            yield new
            start, kind = new.end, _TEXT
            at = new.end - 1 if body[new.end - 1] == "\n" else new.end
        elif name == "blank":
            at = found.end() - 1
            if found.start(name) > start or ">" in found[0]:
                yield _Block(start, at + 1, kind)
            start, kind = at + 1, _TEXT
        elif name != "rule":
            if at > start:
                yield _Block(start, at, kind)
            start, kind = at, _ITEM if name == "item" else _TEXT
        found = border.search(body, at)
    if start < len(body):
        yield _Block(start, len(body), kind)


def _new_block(body: str, found: re.Match[str], paragraph: int) -> _Block | None:
    """The heading, fence or rule that a line begins; under a paragraph of one line, a rule makes it a heading."""
    at, end = found.start(found.lastgroup or 0), found.end()
    if found["fence"] is not None:
        return _Block(at, _fence_end(body, found), _FENCE)
    after = end + 1 if body[end : end + 1] == "\n" else end
    if found["atx"] is not None:
        marked = found["atx"].lstrip(" ")
        title = marked.lstrip("#")
        return _Block(at, after, _HEADING, len(marked) - len(title), _title(title))
    sign = body[end - 1] if body[end - 1] in "=-*_" else found["rule"].strip()[0]
    if 0 <= paragraph < at - 1 and sign in "=-" and at - paragraph <= _TITLE_LENGTH:
        above = body[paragraph:at].rstrip("\r\n")
        if above.strip() and "\n" not in above and above[0] not in "|>\t" and not above.startswith("    "):
            return _Block(paragraph, after, _HEADING, 1 if sign == "=" else 2, _title(above))
    return _Block(at, after, _TEXT) if sign != "=" and found["rule"].count(sign) > 2 else None  # noqa: PLR2004 - "--" is text


def _title(text: str) -> str:
    """What a heading says, in one line; the signs that close it stand by themselves."""
    text = text.strip()
    bare = text.rstrip("#")
    if bare and bare[-1].isspace():
        text = bare.rstrip()
    return text if len(text) <= _TITLE_LENGTH else text[: _TITLE_LENGTH - 1] + "…"


def _fence_end(body: str, found: re.Match[str]) -> int:
    """Where a fence ends that begins here; one that is never closed goes on to the end, as Markdown has it."""
    ticks = found["ticks"]
    lead = found["fence"].removesuffix(ticks)
    pattern = _CLOSING_QUOTED if ">" in lead else _CLOSING if len(lead) < 4 and not lead.strip(" ") else _CLOSING_INDENTED  # noqa: PLR2004
    for closing in re.compile(pattern).finditer(body, found.end()):
        marks = closing["marks"]
        if marks is None:
            return closing.start() + 1
        if marks[0] == ticks[0] and len(marks) >= len(ticks):
            return min(closing.end() + 1, len(body))
    return len(body)


# ------------------------------------------------------------------------------------------------------------ passages


def _drafts(body: str) -> list[_Draft]:
    drafts: list[_Draft] = []
    section: list[_Block] = []
    trail: _Trail = ()
    empty = True  # the section has headings only
    for block in _blocks(body):
        if block.kind is _HEADING:
            # the heading of a section without a text of its own goes with the first one under it
            if section and not (empty and trail and block.level > trail[-1].level):
                _close(body, section, trail, drafts)
                section = []
            while trail and trail[-1].level >= block.level:
                trail = trail[:-1]
            trail, empty = (*trail, block), True
        else:
            empty = False
        section.append(block)
    if section:
        _close(body, section, trail, drafts)
    return drafts


def _close(body: str, section: list[_Block], trail: _Trail, drafts: list[_Draft]) -> None:
    """Add a section to the drafts; if it is whole it may go with the one before it, under the heading of both."""
    start, end = section[0].start, section[-1].end
    size = _tokens(body, start, end)
    if size > GOAL:
        drafts += _packed(body, section, trail)
        return
    before = drafts[-1] if drafts else None
    parent = trail[:-1]
    if (
        before
        and before.size + size <= GOAL
        and min(before.size, size) < SMALL
        and (before.trail == parent or (len(before.trail) == len(trail) and before.trail[:-1] == parent))
    ):
        drafts[-1] = _Draft(before.start, end, before.size + size, parent)
    else:
        drafts.append(_Draft(start, end, size, trail))


def _packed(body: str, section: list[_Block], trail: _Trail) -> list[_Draft]:
    """A long section as passages: as many blocks as fit go together, and what does not fit is cut."""
    drafts: list[_Draft] = []
    start, size = section[0].start, 0.0
    heading = True  # so far there are headings only, which do not stay behind
    for block in section:
        at = block.start
        kind = _stiffness(body, block)
        while at < block.end:
            tokens = _tokens(body, at, block.end)
            room = GOAL if heading and size < SMALL else GOAL - size
            if tokens <= room or (kind is _FENCE and room == GOAL):
                size += tokens
                heading = heading and kind is _HEADING
                break
            cut = at
            if kind is not _FENCE and tokens > GOAL and room >= SMALL:
                cut = _cut(body, at, block.end, room, rows=kind is _ROWS)
                size += _tokens(body, at, cut)
            drafts.append(_Draft(start, cut, size, trail))
            start, at, size, heading = cut, cut, 0.0, True
    if size:
        last = drafts[-1] if drafts else None
        if last and size < SMALL and last.size + size <= GOAL + SMALL:
            drafts[-1] = _Draft(last.start, section[-1].end, last.size + size, trail)
        else:
            drafts.append(_Draft(start, section[-1].end, size, trail))
    return drafts


def _stiffness(body: str, block: _Block) -> str:
    """How a block may be cut: a fence not at all, unless it is absurdly long; then, and in a table, between lines."""
    if block.kind is _FENCE:
        return _FENCE if _tokens(body, block.start, block.end) <= WHOLE else _ROWS
    if block.end - block.start > GOAL and re.compile(_TABLE).search(body, block.start, block.end):
        return _ROWS
    return block.kind


def _cut(body: str, at: int, end: int, room: float, *, rows: bool) -> int:
    """The best place to cut a text that is too long for the room there is; ``at`` itself where a new passage is better."""
    stop = _reach(body, at, end, room)
    if rows:
        cut = body.rfind("\n", at, stop) + 1
        if cut <= at and room == GOAL:
            cut = body.find("\n", at, min(end, at + WHOLE * _WIDTH)) + 1 or end
            if _tokens(body, at, cut) > WHOLE:
                cut = _cut(body, at, cut, room, rows=False)
        return max(cut, at)
    cut = at
    for sentence in re.compile(_SENTENCE).finditer(body, at + (stop - at) // 4, min(stop + 1, end)):
        cut = sentence.end()
    if cut > at or room < GOAL:
        return cut
    if body[stop : stop + 1].isspace() or body[stop - 1].isspace():
        return stop
    cut = stop - len(body[at:stop].rsplit(None, 1)[-1])
    return cut if cut > at else _between_signs(body, at, stop)


def _reach(body: str, at: int, end: int, room: float) -> int:
    """How far a passage may go from here, in this room."""
    length = min(end - at, int(room * _WIDTH))
    while length > 1 and (tokens := _tokens(body, at, at + length)) > room:
        length = max(1, min(int(length * room / tokens), length * 15 // 16))
    return at + length


def _between_signs(body: str, at: int, stop: int) -> int:
    """A place at or before ``stop`` that does not part a letter from its accents, or an emoji from its parts."""
    import unicodedata

    for cut in range(stop, max(at, stop - _CLUSTER), -1):
        sign = body[cut : cut + 1]
        joined = sign and (unicodedata.category(sign)[0] == "M" or "\udc00" <= sign <= "\udfff" or sign == "\u200d")
        if not joined and not "\U0001f3fb" <= sign <= "\U0001f3ff" and body[cut - 1] != "\u200d":
            return cut
    return stop


# --------------------------------------------------------------------------------------------------------------- links

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
    for block in _blocks(body):
        start = max(block.start, done)
        if block.kind is _FENCE and start < block.end:
            yield start, block.end, " "
            continue
        indented = re.compile(_INDENTED).match(body, block.start, block.end)
        if block.kind is _ITEM and not indented:
            in_list = True
        elif block.kind is _HEADING or not body[block.start].isspace():
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
