"""Two versions of a document and the one that both come from, made one again.

Owns how headers are joined field by field, texts by their lines, and contexts by their bullets; and the marks of git for
what only a person can decide. Knows nothing of vaults, journals or git itself. Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from co_cli.frontmatter import parse_frontmatter, render_field, replace_fields, split_frontmatter
from co_cli.note import instant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

OURS, THEIRS = "ours", "theirs"

_BULLET = re.compile(r"[-*+][ \t]+")
_KEY = re.compile(r"[-*+][ \t]+(?:\*\*)?([^:*`]{1,80}?)(?::\*\*|\*\*:|:)[ \t]+\S")
_LISTS = ("tags",)
_LATER, _EARLIER = ("updated", "fetched"), ("created",)


class Merged(NamedTuple):
    """What became of two versions."""

    raw: bytes
    conflicts: int
    """In how many places both sides say something else; each stands between marks, for a person to decide."""


class Names(NamedTuple):
    """How the two sides are called in the marks, and whether theirs is taken where both changed something."""

    ours: str = OURS
    theirs: str = THEIRS
    take_theirs: bool = False


def merge(base: bytes | None, ours: bytes, theirs: bytes, *, by_bullets: bool = False, names: Names | None = None) -> Merged:
    """Join two versions of a document; without the one that both come from, what is common stands for it.

    Text that one side changed is taken from it, and what both changed alike is taken once. With ``by_bullets`` a list that
    both sides added to has the bullets of both.
    """
    names = names or Names()
    if theirs in (ours, base):
        return Merged(ours, 0)
    if base == ours:
        return Merged(theirs, 0)
    try:
        texts = [None if raw is None else raw.decode("utf-8").replace("\r\n", "\n") for raw in (base, ours, theirs)]
        fields = [({} if text is None else parse_frontmatter(text)[0]) for text in texts]
    except ValueError:
        return _as_text(base, ours, theirs, names)
    old, mine, other = texts
    if not fields[1] and fields[2]:  # only they have a header, so it is theirs
        mine = f"{_head(other or '')}{mine}"
        fields[1] = fields[2]
    elif not fields[2]:
        fields[2] = fields[1]
    bodies = [None if text is None else split_frontmatter(text)[1] for text in (old, mine, other)]
    body, conflicts = _merge_body(*bodies, by_bullets=by_bullets, names=names)
    head, torn = _merge_header(mine or "", *fields, known=base is not None, names=names)
    text = head + body
    if b"\r\n" in ours:
        text = text.replace("\n", "\r\n")
    return Merged(text.encode("utf-8"), conflicts + torn)


def _as_text(base: bytes | None, ours: bytes, theirs: bytes, names: Names) -> Merged:
    texts = [None if raw is None else raw.decode("utf-8", "surrogateescape") for raw in (base, ours, theirs)]
    body, conflicts = _merge_body(*texts, by_bullets=False, names=names)
    return Merged(body.encode("utf-8", "surrogateescape"), conflicts)


# ----------------------------------------------------------------------------------------------------------------- header


def _merge_header(
    text: str,
    base: Mapping[str, object],
    ours: Mapping[str, object],
    theirs: Mapping[str, object],
    *,
    known: bool,
    names: Names,
) -> tuple[str, int]:
    """The head of our document with the fields of both, and how many of them both sides set to different values."""
    changes: dict[str, object | None] = {}
    torn: list[str] = []
    for name in dict.fromkeys((*ours, *theirs)):
        old, mine, other = base.get(name), ours.get(name), theirs.get(name)
        if mine == other:
            continue
        if _is_list(name, mine, other):
            changes[name] = _merge_lists(old, mine, other)
        elif name in (*_LATER, *_EARLIER) and mine is not None and other is not None:
            choose = max if name in _LATER else min
            changes[name] = choose(mine, other, key=lambda value: instant(str(value)))
        elif (known and mine == old) or (not known and mine is None):
            changes[name] = other
        elif not ((known and other == old) or (not known and other is None)):
            torn.append(name)
    head = _head(replace_fields(text, changes))
    for name in torn:
        head = _with_marks(head, name, ours.get(name), theirs.get(name), names)
    return head, len(torn)


def _head(text: str) -> str:
    """What of a document stands before its body."""
    return text[: len(text) - len(split_frontmatter(text)[1])]


def _is_list(name: str, *values: object) -> bool:
    return all(value is None or isinstance(value, list) for value in values) and (name in _LISTS or None not in values)


def _merge_lists(base: object, ours: object, theirs: object) -> list[object]:
    """The items of both, without those that one of them took away."""
    old, mine, other = (value if isinstance(value, list) else [] for value in (base, ours, theirs))
    kept = [item for item in mine if not (item in old and item not in other)]
    return kept + [item for item in other if item not in mine and item not in old]


def _with_marks(head: str, name: str, ours: object, theirs: object, names: Names) -> str:
    if names.take_theirs:
        return replace_fields(head, {name: theirs})
    sides = ["" if value is None else render_field(name, value) for value in (ours, theirs)]
    marks = f"<<<<<<< {names.ours}\n{sides[0]}=======\n{sides[1]}>>>>>>> {names.theirs}\n"
    field = re.compile(rf"(?m)^[\"']?{re.escape(name)}[\"']?[ \t]*:[^\n]*\n(?:[ \t]+[^\n]*\n)*")
    if ours is not None and field.search(head):
        return field.sub(lambda _: marks, head, count=1)
    end = head.rfind("\n---")
    return f"{head[: end + 1]}{marks}{head[end + 1 :]}"


# ------------------------------------------------------------------------------------------------------------------- body


def _merge_body(
    base: str | None, ours: str | None, theirs: str | None, *, by_bullets: bool, names: Names
) -> tuple[str, int]:
    cut = _units if by_bullets else _lines
    mine, other = cut(ours or ""), cut(theirs or "")
    old = cut(base) if base is not None else _common(mine, other)
    parts: list[str] = []
    conflicts = 0
    for region in regions(old, mine, other):
        resolved = _resolve(region, by_bullets=by_bullets)
        if resolved is None:
            conflicts += 1
            parts += _marked(region.ours, region.theirs, names)
            continue
        for unit in resolved:
            if isinstance(unit, str):
                parts.append(unit)
            else:
                conflicts += 1
                parts += _marked([unit[0]] if unit[0] else [], [unit[1]] if unit[1] else [], names)
    return "".join(parts), conflicts


class Region(NamedTuple):
    """A stretch of the document as each of the three has it."""

    base: Sequence[str]
    ours: Sequence[str]
    theirs: Sequence[str]


def regions(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Region]:
    """The stretches of three texts: by turns one in which they may differ, and one that they have in common."""
    at, mine, other = 0, 0, 0
    for start, our_start, their_start, length in _in_step(base, ours, theirs):
        yield Region(base[at:start], ours[mine:our_start], theirs[other:their_start])
        at, mine, other = start + length, our_start + length, their_start + length
        yield Region(base[start:at], base[start:at], base[start:at])


def _in_step(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """The runs of the base that stand in both of the others: where they start in each, and how long they are."""
    first, second = _matches(base, ours), _matches(base, theirs)
    i = j = 0
    while i < len(first) and j < len(second):
        (start, mine, length), (other_start, other, other_length) = first[i], second[j]
        low, high = max(start, other_start), min(start + length, other_start + other_length)
        if low < high:
            yield low, mine + low - start, other + low - other_start, high - low
        if start + length < other_start + other_length:
            i += 1
        else:
            j += 1
    yield len(base), len(ours), len(theirs), 0


def _matches(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int, int]]:
    """The runs that two texts have in common; equal beginnings and ends are not searched for."""
    from difflib import SequenceMatcher

    head = 0
    while head < min(len(one), len(other)) and one[head] == other[head]:
        head += 1
    tail = 0
    while tail < min(len(one), len(other)) - head and one[-1 - tail] == other[-1 - tail]:
        tail += 1
    inner = one[head : len(one) - tail], other[head : len(other) - tail]
    blocks = SequenceMatcher(None, *inner, autojunk=False).get_matching_blocks()
    found = [(block.a + head, block.b + head, block.size) for block in blocks if block.size]
    ends = [(0, 0, head)] if head else []
    return [*ends, *found, *([(len(one) - tail, len(other) - tail, tail)] if tail else [])]


def _common(one: Sequence[str], other: Sequence[str]) -> list[str]:
    return [unit for start, _, size in _matches(one, other) for unit in one[start : start + size]]


def _lines(text: str) -> list[str]:
    """The lines of a text; the last one ends like the others, so that what is put behind it stands in a line of its own."""
    found = text.split("\n")
    lines = [f"{line}\n" for line in found[:-1]]
    return [*lines, f"{found[-1]}\n"] if found[-1] else lines


def _units(text: str) -> list[str]:
    """The lines of a text, with each bullet and what is indented under it as one."""
    units: list[str] = []
    for line in _lines(text):
        if units and line.strip() and line[0] in " \t" and _BULLET.match(units[-1]):
            units[-1] += line
        else:
            units.append(line)
    return units


def _resolve(region: Region, *, by_bullets: bool) -> Sequence[str | tuple[str, str]] | None:
    """What a region comes to; ``None`` where a person must decide, a pair of texts where it is about one bullet."""
    if region.ours in (region.theirs, region.base):
        return region.theirs
    if region.theirs == region.base:
        return region.ours
    lists = by_bullets and _is_list_of_bullets(region.ours) and _is_list_of_bullets(region.theirs)
    return _merge_bullets(region) if lists else None


def _is_list_of_bullets(units: Sequence[str]) -> bool:
    """Whether there is nothing but bullets, each of them known by something of its own."""
    bullets = [unit for unit in units if unit.strip()]
    return all(map(_BULLET.match, bullets)) and len(set(map(_identity, bullets))) == len(bullets)


def _merge_bullets(region: Region) -> list[str | tuple[str, str]]:
    """A list that both sides changed, bullet by bullet: what one added, changed or took away is so."""
    old, mine, other = ({_identity(unit): unit for unit in part} for part in region)
    merged: list[str | tuple[str, str]] = []
    for name, unit in mine.items():
        before, theirs = old.get(name, ""), other.get(name, "")
        if before == unit != theirs and name:  # they changed it, or took it away
            merged += [theirs] if theirs else []
        elif theirs in (before, unit) or not name:
            merged.append(unit)
        else:
            merged.append((unit, theirs))
    for name, theirs in other.items():
        if name not in mine and old.get(name) != theirs:
            merged.append(theirs if name not in old else ("", theirs))  # what we took away, they have changed
    return merged


def _identity(unit: str) -> str:
    """By what a bullet is known: its key or, without one, its words; a blank line by nothing."""
    found = _KEY.match(unit)
    return f"{found[1]}:".casefold() if found else " ".join(unit.split())


def _marked(ours: Sequence[str], theirs: Sequence[str], names: Names) -> list[str]:
    if names.take_theirs:
        return [*theirs]
    return [f"<<<<<<< {names.ours}\n", *ours, "=======\n", *theirs, f">>>>>>> {names.theirs}\n"]
