"""From the body of a note to what is searched: its passages.

Owns the blocks of a Markdown body, where it may be cut, and how much of it makes a passage. Knows nothing of files, the
index or models: a token is estimated here, never counted. Pure, linear in the length of the body, and never raises.

How a body is cut:

- A body that is small and has no headings is one passage; a blank body has none.
- Headings come first. A section that fits is one passage, and small ones go together with what stands beside them under
  the same parent. A passage's heading is then what holds for all of it: the parent's.
- A section that is too long is cut between its paragraphs, list items and fences, a paragraph at the ends of sentences, then
  at blanks, then between characters. Fences and the rows of tables stay whole as long as they are not absurd.
- A heading goes with what follows it. Comments are text like any other.
- No passage runs across the pages of a document; the headings of a page hold for the next ones, until there are others. The
  marks of pages are in no passage.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from co_cli.pages import pages

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

TEXT, ITEM, FENCE, HEADING = "text", "item", "fence", "heading"
"""The kinds of blocks."""
_ROWS = "rows"

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
    anchor: str = ""
    """The name by which a link leads to the last of these headings, ``rollback``."""
    page: int = 0
    """The page that it stands on; 0 where the body has none."""
    sections: tuple[tuple[int, str], ...] = ()
    """Where further headings stand in it, counted from its start, with their names."""


class Block(NamedTuple):
    """A part of a body that Markdown takes as one thing."""

    start: int
    end: int
    kind: str
    level: int = 0
    title: str = ""
    anchor: str = ""
    """The name by which a link leads to a heading; known to those who count them."""


_Trail = tuple[Block, ...]


class _Draft(NamedTuple):
    """A passage in the making: ``size`` in tokens, ``trail`` the headings that it stands under."""

    start: int
    end: int
    size: float
    trail: _Trail


class Heading(NamedTuple):
    """A heading of a body, with the page that it stands on."""

    block: Block
    start: int
    page: int


def split(body: str, *, whole: bool = False) -> tuple[Passage, ...]:
    """Cut a body into passages, in their order. What is neither white space nor the mark of a page is in exactly one.

    ``whole`` keeps a body in one, marks and all.
    """
    if whole or _is_small(body):
        text = body.lstrip()
        start = len(body) - len(text)
        return (Passage(start, start + len(text.rstrip()), "", body.count("\n", 0, start) + 1),) if text else ()
    passages: list[Passage] = []
    line, counted = 1, 0
    trail: _Trail = ()
    anchors = _Anchors()
    for page in pages(body):
        found: list[Block] = []
        drafts, trail = _drafts(body[page.start : page.end], trail, anchors, found)
        for draft, inner in _with_headings(drafts, found):
            end = page.start + draft.end
            bare = body[page.start + draft.start : end].lstrip()
            if bare:
                start = end - len(bare)
                line += body.count("\n", counted, start)
                counted = start
                heading = " > ".join([above.title for above in draft.trail])
                anchor = draft.trail[-1].anchor if draft.trail else ""
                sections = tuple((page.start + each.start - start, each.anchor) for each in inner)
                passages.append(Passage(start, start + len(bare.rstrip()), heading, line, anchor, page.number, sections))
    return tuple(passages)


def _with_headings(drafts: list[_Draft], found: list[Block]) -> Iterator[tuple[_Draft, list[Block]]]:
    """Each draft with the headings that stand in it, but for those that hold for all of it."""
    at = 0
    for draft in drafts:
        first = at
        while at < len(found) and found[at].start < draft.end:
            at += 1
        yield draft, [heading for heading in found[first:at] if heading not in draft.trail]


def headings(body: str) -> Iterator[Heading]:
    """The headings of a body in their order, by the same names that its passages have."""
    anchors = _Anchors()
    for page in pages(body):
        for block in blocks(body[page.start : page.end]):
            if block.kind is HEADING:
                yield Heading(anchors.named(block), page.start + block.start, page.number)


class _Anchors(dict[str, int]):
    """The names of the headings of a body, made as GitHub makes them: a second *Usage* is ``usage-1``."""

    def named(self, heading: Block) -> Block:
        """The heading with its name; one of signs only has none."""
        title = re.sub(r"!?\[([^\[\]]*)\]\([^()]*\)", r"\1", heading.title)
        plain = anchor = _lasting(title.lower()).strip().replace(" ", "-")
        while anchor in self:
            self[plain] += 1
            anchor = f"{plain}-{self[plain]}"
        if anchor:
            self[anchor] = 0
        return heading._replace(anchor=anchor)


def _lasting(title: str) -> str:
    """What of a title is part of its name: letters with their accents, digits, blanks, hyphens and underscores."""
    if title.isascii():
        return re.sub(r"[^\w\- ]", "", title)
    import unicodedata

    return "".join(sign for sign in title if sign.isalnum() or sign in "_- " or unicodedata.category(sign)[0] == "M")


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


def blocks(body: str) -> Iterator[Block]:
    """The blocks of a body in their order; between them is nothing but white space."""
    border = re.compile(_BORDER)
    start, kind = 0, TEXT
    found = re.match(_FIRST, body) or border.search(body)
    while found:
        name = found.lastgroup
        at = found.start(name) if name else found.end()
        new = _new_block(body, found, start if kind is TEXT else -1) if name in ("atx", "fence", "rule") else None
        if new:
            if new.start > start:
                yield Block(start, new.start, kind)
            yield new
            start, kind = new.end, TEXT
            at = new.end - 1 if body[new.end - 1] == "\n" else new.end
        elif name == "blank":
            at = found.end() - 1
            if found.start(name) > start or ">" in found[0]:
                yield Block(start, at + 1, kind)
            start, kind = at + 1, TEXT
        elif name != "rule":
            if at > start:
                yield Block(start, at, kind)
            start, kind = at, ITEM if name == "item" else TEXT
        found = border.search(body, at)
    if start < len(body):
        yield Block(start, len(body), kind)


def _new_block(body: str, found: re.Match[str], paragraph: int) -> Block | None:
    """The heading, fence or rule that a line begins; under a paragraph of one line, a rule makes it a heading."""
    at, end = found.start(found.lastgroup or 0), found.end()
    if found["fence"] is not None:
        return Block(at, _fence_end(body, found), FENCE)
    after = end + 1 if body[end : end + 1] == "\n" else end
    if found["atx"] is not None:
        marked = found["atx"].lstrip(" ")
        title = marked.lstrip("#")
        return Block(at, after, HEADING, len(marked) - len(title), _title(title))
    sign = body[end - 1] if body[end - 1] in "=-*_" else found["rule"].strip()[0]
    if 0 <= paragraph < at - 1 and sign in "=-" and at - paragraph <= _TITLE_LENGTH:
        above = body[paragraph:at].rstrip("\r\n")
        if above.strip() and "\n" not in above and above[0] not in "|>\t" and not above.startswith("    "):
            return Block(paragraph, after, HEADING, 1 if sign == "=" else 2, _title(above))
    return Block(at, after, TEXT) if sign != "=" and found["rule"].count(sign) > 2 else None  # noqa: PLR2004 - "--" is text


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


def _drafts(body: str, trail: _Trail, anchors: _Anchors, found: list[Block]) -> tuple[list[_Draft], _Trail]:
    """The drafts of a page, and the headings that hold where it ends; all its headings are added to those found."""
    drafts: list[_Draft] = []
    section: list[Block] = []
    empty = True  # the section has headings only
    for block in blocks(body):
        if block.kind is HEADING:
            # the heading of a section without a text of its own goes with the first one under it
            if section and not (empty and trail and block.level > trail[-1].level):
                _close(body, section, trail, drafts)
                section = []
            while trail and trail[-1].level >= block.level:
                trail = trail[:-1]
            found.append(anchors.named(block))
            trail, empty = (*trail, found[-1]), True
        else:
            empty = False
        section.append(block)
    if section:
        _close(body, section, trail, drafts)
    return drafts, trail


def _close(body: str, section: list[Block], trail: _Trail, drafts: list[_Draft]) -> None:
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


def _packed(body: str, section: list[Block], trail: _Trail) -> list[_Draft]:
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
            if tokens <= room or (kind is FENCE and room == GOAL):
                size += tokens
                heading = heading and kind is HEADING
                break
            cut = at
            if kind is not FENCE and tokens > GOAL and room >= SMALL:
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


def _stiffness(body: str, block: Block) -> str:
    """How a block may be cut: a fence not at all, unless it is absurdly long; then, and in a table, between lines."""
    if block.kind is FENCE:
        return FENCE if _tokens(body, block.start, block.end) <= WHOLE else _ROWS
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
