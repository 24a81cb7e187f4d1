"""The YAML header of a note: splitting, reading, checking and rewriting it.

Owns every rule about frontmatter text. Knows nothing of files, vaults or what a note is used for. Pure.

Reading and writing go two ways that must agree: headers made of plain words, numbers, timestamps and flat lists, which is
what co writes, are handled by a few regular expressions, because importing YAML costs more than a whole search; anything
else goes to YAML. A property test holds the two together.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    import yaml

HEADER_LIMIT = 64 * 1024
"""A header longer than this is no header: it is refused before YAML sees it."""
GROWTH_LIMIT = 4 * HEADER_LIMIT
"""Characters that a header may have with its aliases written out."""
DEPTH_LIMIT = 100
"""How many collections may lie in one another in the value of a field."""

_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_FEBRUARY = 2
CATEGORIES = ("user_preferences", "project_insights", "learned_facts")
SCOPES = ("project", "language", "global")

_FENCE = re.compile(r"---[ \t]*(?:\r?\n|$)")
_CLOSING = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
_NOT_BLANK = re.compile(r"[^ \t\r\n]")
_TIMESTAMP = re.compile(
    r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"
)
_DATE = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")

# What both ways of reading agree on. A plain word starts with a letter, so it is never a number; the words that YAML 1.1
# takes for booleans or nothing are left to YAML.
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_PLAIN_LINE = re.compile(r"([A-Za-z_][A-Za-z0-9_]{0,99}):(?: (.*))?")
_PLAIN_INT = re.compile(r"0|[1-9][0-9]{0,17}")
_PLAIN_WORD = re.compile(r"[A-Za-z](?:[A-Za-z0-9_./+-]|[ ](?=[A-Za-z0-9_./+-]))*")
_REASON_LENGTH = 300
_YAML_WORDS = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null"])


class FrontmatterError(ValueError):
    """A header that cannot be read, with the line of the file on which reading stopped."""

    def __init__(self, reason: str, line: int = 1) -> None:
        self.reason = _shortened(reason)
        super().__init__(f"{self.reason} (line {line})")
        self.line = line


class FieldError(ValueError):
    """A header whose field has no value, or one of the wrong kind; ``field`` is its name."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(_shortened(reason))
        self.field = field


def _shortened(reason: str) -> str:
    return reason if len(reason) <= _REASON_LENGTH else f"{reason[: _REASON_LENGTH // 2]} … {reason[-_REASON_LENGTH // 2 :]}"


def _cut(text: str) -> tuple[int, int, int] | None:
    """Where the header starts, where it ends, and where the body starts; ``None`` for a text without a header."""
    opening = _FENCE.match(text, int(text.startswith("\ufeff")))
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if not opening or not closing:
        return None
    after = min(closing.end() + 1, len(text))
    first = _NOT_BLANK.search(text, after)
    body = text.rfind("\n", after, first.start() if first else len(text)) + 1  # 0 where no blank line follows
    return opening.end(), closing.start(), body or after


def split_frontmatter(text: str) -> tuple[str | None, str]:
    """Cut a document into its header, without the fences, and its body; no header gives ``None``."""
    cut = _cut(text)
    if cut is None:
        return None, text
    header_start, header_end, body_start = cut
    return text[header_start:header_end], text[body_start:]


def parse_frontmatter(text: str) -> tuple[dict[str, Any], str]:
    """Return the header as a mapping and the body after it; a text without a header comes back as it is.

    Timestamps stay the strings that the user wrote. Raises :class:`FrontmatterError`, a ``ValueError``, for YAML that cannot
    be read and for a header that is not a mapping.
    """
    header, body = split_frontmatter(text)
    if header is None:
        return {}, body
    return parse_header(header), body


def strip_frontmatter(text: str) -> str:
    """Return the body of a document."""
    return split_frontmatter(text)[1]


def parse_header(header: str) -> dict[str, Any]:
    """Read the text between the fences."""
    if len(header) > HEADER_LIMIT:
        raise FrontmatterError(f"Invalid frontmatter: longer than {HEADER_LIMIT // 1024} KiB")
    plain = _parse_plain(header)
    return _parse_yaml(header) if plain is None else plain


def says_private(header: str) -> bool:
    """Whether the header of a document says that it is private; of one that cannot be read, whether a line of it does."""
    try:
        return parse_header(header).get("private") is True
    except FrontmatterError:
        return re.search(r"^private:[ \t]*true\b", header, re.MULTILINE) is not None


def _parse_plain(header: str) -> dict[str, Any] | None:
    """Read a header of plain values, or return ``None`` where only YAML can tell."""
    fields: dict[str, Any] = {}
    for ended in header.split("\n"):
        line = ended.removesuffix("\r")
        if not line:
            continue
        match = _PLAIN_LINE.fullmatch(line)
        if not match or match[1] in fields or match[1].lower() in _YAML_WORDS:
            return None
        value = _plain_value((match[2] or "").rstrip(" "))
        if value is None:
            return None
        fields[match[1]] = value
    return fields


def _plain_value(text: str) -> object:
    if text.startswith("[") and text.endswith("]"):
        inner = text[1:-1].strip(" ")
        items = [_plain_scalar(item.strip(" ")) for item in inner.split(",")] if inner else []
        return None if None in items else items
    return _plain_scalar(text)


def _plain_scalar(text: str) -> object:
    if text in ("true", "false"):
        return text == "true"
    if _PLAIN_INT.fullmatch(text):
        return int(text)
    if _is_plain_word(text):
        return text
    return None


def _is_plain_word(text: str) -> bool:
    if _PLAIN_WORD.fullmatch(text):
        return text.lower() not in _YAML_WORDS
    return bool(_TIMESTAMP.fullmatch(text) or _DATE.fullmatch(text))


def _parse_yaml(header: str) -> dict[str, Any]:
    import yaml

    try:
        _refuse_bomb(header)
        fields = yaml.load(header, Loader=_loader())  # noqa: S506 - a SafeLoader without timestamps
    except FrontmatterError:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        last = max(header.count("\n") - 1, 0)  # where something is never closed, YAML stops behind the header
        line = min(mark.line if mark else 0, last)
        raise FrontmatterError(f"Invalid YAML in frontmatter: {error.problem}", line + 2) from error
    except yaml.YAMLError as error:
        raise FrontmatterError(f"Invalid YAML in frontmatter: {str(error).splitlines()[0]}", 2) from error
    except (ValueError, LookupError, AttributeError, TypeError, RecursionError) as error:  # !!bool heron, and the like
        raise FrontmatterError("Invalid YAML in frontmatter: a value is not what its tag says", 2) from error
    if fields is None:
        return {}
    if not isinstance(fields, dict):
        raise FrontmatterError("Frontmatter must be a YAML object (dict), a mapping of fields to values", 2)
    for key in fields:
        if not isinstance(key, str):
            raise FrontmatterError(f"Invalid frontmatter: the field name {key!r} is not a text", 2)
    return fields


def _refuse_bomb(header: str) -> None:
    """Refuse what would nest too deeply, or grow too large by its aliases, before anything is made of it."""
    if sum(map(header.count, "[{-?")) <= DEPTH_LIMIT and not ("&" in header and "*" in header):
        return
    import yaml

    sizes: dict[str, int] = {}
    nested: list[tuple[str | None, int]] = [(None, 0)]
    for event in yaml.parse(header, Loader=_loader()):
        if isinstance(event, yaml.CollectionStartEvent):
            nested.append((event.anchor, 1))
            sizes[event.anchor or ""] = GROWTH_LIMIT  # until it is complete: with an alias of itself it would never end
            grown = 0
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, grown = nested.pop()
            sizes[anchor or ""] = grown
        elif isinstance(event, yaml.AliasEvent):
            grown = sizes.get(event.anchor or "", 0)
        elif isinstance(event, yaml.ScalarEvent):
            grown = len(event.value) + 1
            sizes[event.anchor or ""] = grown
        else:
            continue
        around, size = nested[-1]
        nested[-1] = (around, size + grown)
        deep = len(nested) - 2 > DEPTH_LIMIT  # the document and its mapping do not count
        if deep or size + grown > GROWTH_LIMIT:
            why = "it nests too deeply" if deep else "its aliases make it too large"
            line = event.start_mark.line if event.start_mark else 0
            raise FrontmatterError(f"Invalid frontmatter: {why}", line + 2)


_DECIMAL = r"[-+]?[0-9]+$"
_yaml_classes: dict[str, type[Any]] = {}


def _loader() -> type[Any]:
    if "loader" not in _yaml_classes:
        import yaml

        class NoteLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
            """A safe loader that leaves timestamps the strings that they are, and reads 012 as people do: as 12."""

        NoteLoader.yaml_implicit_resolvers = _without("timestamp", "int", resolvers=NoteLoader.yaml_implicit_resolvers)
        NoteLoader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(_DECIMAL), [*"-+0123456789"])
        NoteLoader.add_constructor("tag:yaml.org,2002:int", lambda _loader, node: int(node.value))
        _yaml_classes["loader"] = NoteLoader
    return _yaml_classes["loader"]


def _dumper() -> type[Any]:
    if "dumper" not in _yaml_classes:
        import yaml

        class NoteDumper(yaml.SafeDumper):  # the one in C would write 🚀 as \U0001F680
            """A safe dumper that writes timestamps bare, lists on one line and never an alias."""

            def ignore_aliases(self, _data: object) -> bool:
                return True

        NoteDumper.yaml_implicit_resolvers = _without("timestamp", resolvers=NoteDumper.yaml_implicit_resolvers)
        NoteDumper.add_implicit_resolver(
            "tag:yaml.org,2002:int", re.compile(_DECIMAL), [*"-+0123456789"]
        )  # so that a text like 08 is written in quotes
        NoteDumper.add_representer(str, _represent_text)
        NoteDumper.add_representer(
            list, lambda dumper, data: dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=True)
        )
        _yaml_classes["dumper"] = NoteDumper
    return _yaml_classes["dumper"]


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    # In double quotes where it holds a line break of any script: YAML folds the others, and reads some breaks as blanks.
    style = '"' if len(f"{text}.".splitlines()) > 1 else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _without(*kinds: str, resolvers: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    dropped = {f"tag:yaml.org,2002:{kind}" for kind in kinds}
    kept = {first: [rule for rule in rules if rule[0] not in dropped] for first, rules in resolvers.items()}
    return {first: rules for first, rules in kept.items() if rules}


# ---------------------------------------------------------------------------------------------------------------- writing


def render_field(name: str, value: object) -> str:
    """Write one field as the lines of a header, ending in a newline."""
    plain = _render_plain(value)
    if plain is not None and _PLAIN_KEY.fullmatch(name) and name.lower() not in _YAML_WORDS:
        return f"{name}: {plain}\n"
    import yaml

    # Beyond the line width YAML would fold a long value, and a folded value reads badly in a diff.
    text: str = yaml.dump(
        {name: value}, Dumper=_dumper(), default_flow_style=False, allow_unicode=True, width=2**30, sort_keys=False
    )
    return text


def _render_plain(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if 0 <= value < 10**18 else None
    if isinstance(value, str):
        return value if _is_plain_word(value) else None
    if isinstance(value, list):
        items = [_render_plain(item) for item in value if not isinstance(item, list)]
        if len(items) == len(value) and None not in items:
            return f"[{', '.join(item for item in items if item)}]"
    return None


def render_document(fields: Mapping[str, object], body: str) -> str:
    """Write a document as co writes it: header, blank line, body, one newline at the end."""
    header = "".join(render_field(name, value) for name, value in fields.items())
    return f"---\n{header}---\n\n{body.strip()}\n"


def replace_fields(text: str, changes: Mapping[str, object | None]) -> str:
    """Set fields (or remove those given as ``None``), leaving every other byte of the document as it was.

    Order, comments, quoting and line endings of what is not changed stay; a field that has the value already is not changed.
    Raises :class:`FrontmatterError` where the header cannot be read.
    """
    cut = _cut(text)
    old = {} if cut is None else parse_header(text[cut[0] : cut[1]])
    changes = {name: value for name, value in changes.items() if not _stays(old, name, value)}
    if not changes:
        return text
    if cut is None:
        bom = "\ufeff" if text.startswith("\ufeff") else ""
        header = "".join(render_field(name, value) for name, value in changes.items() if value is not None)
        return f"{bom}---\n{header}---\n\n{text.removeprefix(bom)}"
    start, end, _ = cut
    header = text[start:end]
    wanted = {**old, **changes}
    wanted = {name: value for name, value in wanted.items() if value is not None or name not in changes}
    newline = "\r\n" if text[:start].endswith("\r\n") else "\n"
    edited = header
    try:
        for name, value in changes.items():
            edited = _replace_field(edited, name, value, newline)
        exact = parse_header(edited) == wanted
    except FrontmatterError:
        exact = False
    if not exact:  # a header of a shape that cannot be cut by the line, such as one in braces, is written anew
        edited = "".join(render_field(name, value) for name, value in wanted.items()).replace("\n", newline)
    return text[:start] + edited + text[end:]


def _stays(fields: Mapping[str, object], name: str, value: object | None) -> bool:
    if value is None or name not in fields:
        return value is None and name not in fields
    return repr(fields[name]) == repr(value)  # by their writing, because 1 == True


def _replace_field(header: str, name: str, value: object | None, newline: str) -> str:
    span = _field_span(header, name)
    rendered = "" if value is None else render_field(name, value).replace("\n", newline)
    if span is None:
        return header + rendered
    start, value_end = span
    if value is None:
        line_end = header.find("\n", value_end)
        return header[:start] + ("" if line_end < 0 else header[line_end + 1 :])
    return header[:start] + rendered.rstrip("\r\n") + header[value_end:]


def _field_span(header: str, name: str) -> tuple[int, int] | None:
    """Where a top-level field stands, from the first letter of its name to the last of its value."""
    import yaml

    try:
        root = yaml.compose(header, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        raise FrontmatterError("Invalid YAML in frontmatter: it cannot be cut into fields") from error
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        return None
    for key, value in root.value:
        if key.value == name:
            leaf = value
            while isinstance(leaf, yaml.CollectionNode) and not leaf.flow_style and leaf.value:
                leaf = leaf.value[-1][1] if isinstance(leaf, yaml.MappingNode) else leaf.value[-1]
            start, end = key.start_mark.index, leaf.end_mark.index
            return start, start + len(header[start:end].rstrip())
    return None


# --------------------------------------------------------------------------------------------------------------- checking


def validate_context_frontmatter(fields: Mapping[str, Any]) -> None:
    """Raise ``ValueError``, naming the field, unless this is the header of a context document."""
    _require(fields, "version")
    if fields["version"] != 1 or type(fields["version"]) is not int:
        raise FieldError("version", f"Unsupported version: {fields['version']!r} (expected 1)")
    _require(fields, "updated")
    validate_note_frontmatter(fields)


def validate_memory_frontmatter(fields: Mapping[str, Any]) -> None:
    """Raise ``ValueError``, naming the field, unless this is the header of a memory."""
    _require(fields, "id")
    _check_id("id", fields["id"])
    _require(fields, "created")
    validate_note_frontmatter(fields)


def validate_note_frontmatter(fields: Mapping[str, Any]) -> None:
    """Raise ``ValueError``, naming the field, where a field that co knows has a value of the wrong kind."""
    for name, value in fields.items():
        check = _CHECKS.get(name)
        if check is not None and value is not None:  # a field without a value is one that is not set
            check(name, value)


def _require(fields: Mapping[str, Any], name: str) -> None:
    if fields.get(name) is None:
        raise FieldError(name, f"Missing required field: {name}")


def _check_id(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise FieldError(name, f"Field '{name}' must be integer, not {value!r}")
    if value < 1:
        raise FieldError(name, f"Field '{name}' must be 1 or more, not {value}")


def _check_ids(name: str, value: object) -> None:
    for each in value if isinstance(value, list) else [value]:
        _check_id(name, each)


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        # the value itself is not repeated: it may be the text of a private note
        raise FieldError(name, f"Field '{name}' must be string, not {type(value).__name__}")


def _check_flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise FieldError(name, f"Field '{name}' must be true or false, not {value!r}")


def _check_timestamp(name: str, value: object) -> None:
    _check_text(name, value)
    if not _TIMESTAMP.fullmatch(str(value)) or not _is_real_day(str(value)):
        raise FieldError(name, f"Field '{name}' must be ISO8601 format: {value!r} is not like 2026-02-09T14:30:00+00:00")


def _is_real_day(text: str) -> bool:
    """Whether a month has the day that a date names; its form has been checked."""
    year, month, day = int(text[:4]), int(text[5:7]), int(text[8:10])
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return day <= (_DAYS[month - 1] + (month == _FEBRUARY and is_leap)) and year > 0


def _check_day(name: str, value: object) -> None:
    _check_text(name, value)
    if not (_DATE.fullmatch(str(value)) or _TIMESTAMP.fullmatch(str(value))) or not _is_real_day(str(value)):
        raise FieldError(name, f"Field '{name}' must be a date, like 2026-12-31, not {value!r}")


def _check_tags(name: str, value: object) -> None:
    if not isinstance(value, list):
        raise FieldError(name, f"Field '{name}' must be list, not {type(value).__name__}")
    for item in value:
        if not isinstance(item, str):
            raise FieldError(name, f"All tags must be strings (field '{name}'), not {item!r}")


def _one_of(choices: tuple[str, ...]) -> Callable[[str, object], None]:
    def check(name: str, value: object) -> None:
        if value not in choices:
            raise FieldError(name, f"Field '{name}' must be one of {', '.join(choices)}, not {value!r}")

    return check


_CHECKS: dict[str, Callable[[str, object], None]] = {
    "tags": _check_tags,
    "source": _check_text,
    "created": _check_timestamp,
    "updated": _check_timestamp,
    "fetched": _check_timestamp,
    "category": _one_of(CATEGORIES),
    "key": _check_text,
    "scope": _one_of(SCOPES),
    "language": _check_text,
    "expires": _check_day,
    "pinned": _check_flag,
    "private": _check_flag,
    "supersedes": _check_ids,
    "superseded_by": _check_id,
    "because": _check_text,
}
