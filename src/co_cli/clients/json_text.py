"""Editing JSON as a text: what is not meant keeps its bytes, with comments, trailing commas, order and indentation.

Owns the places of values in a text, and putting in and taking out members. Comments (``//`` and ``/* */``) and trailing
commas are understood, since several programs allow them in their settings. Knows nothing of what the settings mean.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

Path = tuple[str | int, ...]
"""The way to a value: names of members, and numbers of items."""

_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?[0-9][-+.0-9eE]*|true|false|null")
_DEEPEST = 200


class Item(NamedTuple):
    """A member of an object, or an item of a list, with its place."""

    name: str | int
    start: int
    node: Node


class Node(NamedTuple):
    """A value with its place in the text."""

    start: int
    end: int
    value: object
    items: tuple[Item, ...] = ()


def parse(text: str) -> Node:
    """The value that a text holds; raises ``ValueError`` with the line where it is none."""
    node = _value(text, _skip(text, 0), 0)
    if _skip(text, node.end) != len(text):
        raise _wrong(text, node.end)
    return node


def value_at(value: object, path: Path) -> object:
    """The value at the end of a path, or ``None``."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def put(text: str, path: Path, value: object) -> str:
    """The text with this value at the end of the path; what is missing on the way is made. ``-1`` adds to a list."""
    node = parse(text)
    if value_at(node.value, path) == value:
        return text
    for depth, step in enumerate(path):
        fits = isinstance(node.value, list if isinstance(step, int) else dict)
        if not fits:
            raise ValueError(f"line {_line(text, node.start)}: {'.'.join(map(str, path[:depth])) or 'it'} is something else")
        found = _item(node, step)
        if found is None:
            for inner in reversed(path[depth + 1 :]):
                value = [value] if isinstance(inner, int) else {inner: value}
            return _insert(text, node, step, value, depth)
        node = found.node
    return text[: node.start] + _written(text, value, len(path)) + text[node.end :]


def drop(text: str, path: Path, keep: int = 0) -> str:
    """The text without the value at the end of the path, and without what then holds nothing any more, but for the first
    ``keep`` steps of the path.
    """
    way = [parse(text)]
    for step in path:
        found = _item(way[-1], step)
        if found is None:
            return text
        way.append(found.node)
    steps = list(path)
    while len(steps) > keep + 1 and len(way[-2].items) == 1 and not _has_comment(text, way[-2]):
        steps.pop()
        way.pop()
    return _remove(text, way[-2], steps[-1])


def _item(node: Node, name: str | int) -> Item | None:
    return next((item for item in reversed(node.items) if item.name == name), None)


def _has_comment(text: str, node: Node) -> bool:
    (only,) = node.items
    return "/" in text[node.start : only.start] + text[only.node.end : node.end]


# ----------------------------------------------------------------------------------------------------------------- writing


def _insert(text: str, node: Node, step: str | int, value: object, depth: int) -> str:
    """Put a member in as the first: then no comma and no comment of the others has to be touched."""
    name = "" if isinstance(step, int) else f"{json.dumps(step, ensure_ascii=False)}: "
    newline, indent = _style(text)
    inside = text[node.start : node.end]
    written = name + _written(text, value, depth + 1)
    if node.items and "\n" not in inside:
        return f"{text[: node.start + 1]}{name}{json.dumps(value, ensure_ascii=False)}, {text[node.start + 1 :]}"
    lead = newline + indent * (depth + 1)
    if node.items or "/" in inside:
        return f"{text[: node.start + 1]}{lead}{written}{',' if node.items else ''}{text[node.start + 1 :]}"
    return f"{text[: node.start + 1]}{lead}{written}{newline}{indent * depth}{text[node.end - 1 :]}"


def _remove(text: str, node: Node, step: str | int) -> str:
    number = next(number for number, item in enumerate(node.items) if item is _item(node, step))
    item, is_last = node.items[number], number == len(node.items) - 1
    start, end = item.start, item.node.end
    comma = _skip(text, end)
    if text[comma] == ",":
        end = comma + 1
    if is_last and number:  # the comma of the one before has nothing to part any more
        before = _skip(text, node.items[number - 1].node.end)
        lead = text[before + 1 : start]
        return text[:before] + lead.rstrip() + text[end:]
    alone = len(node.items) == 1
    if alone and not text[node.start + 1 : start].strip() and not text[end : node.end - 1].strip():
        return text[: node.start + 1] + text[node.end - 1 :]
    lead = text[node.start + 1 if not number else _skip_comma(text, node.items[number - 1].node.end) : start]
    if "\n" in lead and not lead.rsplit("\n", 1)[1].strip():
        start -= len(lead) - len(lead.rstrip(" \t").removesuffix("\n").removesuffix("\r"))
    elif text[end : end + 1] == " ":
        end += 1
    return text[:start] + text[end:]


def _skip_comma(text: str, place: int) -> int:
    comma = _skip(text, place)
    return comma + 1 if text[comma] == "," else place


def _written(text: str, value: object, depth: int) -> str:
    newline, indent = _style(text)
    lines = json.dumps(value, ensure_ascii=False, indent=indent).split("\n")
    return f"{newline}{indent * depth}".join(lines)


def _style(text: str) -> tuple[str, str]:
    """How the text breaks and indents its lines."""
    indent = re.search(r"^([ \t]+)[\"{\[]", text, re.MULTILINE)
    return "\r\n" if "\r\n" in text else "\n", indent[1] if indent else "  "


# ----------------------------------------------------------------------------------------------------------------- reading


def _value(text: str, start: int, depth: int) -> Node:
    opened = text[start : start + 1]
    if opened in ("{", "[") and opened and depth < _DEEPEST:
        return _container(text, start, depth)
    for pattern in (_STRING, _SCALAR):
        found = pattern.match(text, start)
        if found:
            try:
                return Node(start, found.end(), json.loads(found[0]))
            except ValueError:
                break
    raise _wrong(text, start)


def _container(text: str, start: int, depth: int) -> Node:
    is_object = text[start] == "{"
    items: list[Item] = []
    place = _skip(text, start + 1)
    while text[place : place + 1] != ("}" if is_object else "]"):
        first = place
        name: str | int = len(items)
        if is_object:
            found = _STRING.match(text, place)
            colon = _skip(text, found.end()) if found else place
            if not found or text[colon : colon + 1] != ":":
                raise _wrong(text, place)
            name, place = json.loads(found[0]), _skip(text, colon + 1)
        node = _value(text, place, depth + 1)
        items.append(Item(name, first, node))
        place = _skip(text, node.end)
        if text[place : place + 1] == ",":
            place = _skip(text, place + 1)
        elif text[place : place + 1] not in ("}", "]"):
            raise _wrong(text, place)
    values = {item.name: item.node.value for item in items} if is_object else [item.node.value for item in items]
    return Node(start, place + 1, values, tuple(items))


def _skip(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _wrong(text: str, place: int) -> ValueError:
    return ValueError(f"line {_line(text, place)}: this is no JSON")


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1
