"""The JSON form of the knowledge: ``.co-cli/internal/context.json`` and ``.co-cli/memories/*.json``.

Owns what that form looks like: its files, its sections, which category, key and tags each entry gets, and what is wrong
with those that are none. Must not know what becomes of the entries; that is :mod:`co_cli.exchange.intake`'s.

All of that form was loaded into every prompt, so everything in it becomes a pinned memory. The form kept a copy of each
entry of the memory files in ``context.json``; the two become one memory, and the memory file's counts, since that has a
date.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from co_cli.errors import Corrupt, Invalid, NotFound
from co_cli.exchange.intake import Entry, Item, imported
from co_cli.exchange.report import SKIPPED, ImportEntry, ImportReport
from co_cli.settings import PROJECT_FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from co_cli.knowledge import KnowledgeBase

__all__ = ["FORMS", "ImportEntry", "ImportReport", "import_json"]

VERSION = "1.0"
"""The one version of ``context.json`` that there is."""

CONTEXT_FILES = ("context.json",)
MEMORY_FILES = {
    "user_preferences.json": ("user_preferences", "user"),
    "project_insights.json": ("project_insights", "project"),
    "learned_facts.json": ("learned_facts", "learned"),
}
"""The memory files in the order in which they are read, with the category and the tag of their entries."""

FORMS = (
    f"Name a project folder, its {PROJECT_FOLDER} folder, {PROJECT_FOLDER}/internal/context.json, "
    f"{PROJECT_FOLDER}/memories, or a file in there: {', '.join(MEMORY_FILES)}."
)
"""The paths that are accepted, as a hint."""


@dataclass(frozen=True, slots=True)
class Section:
    """A section of ``context.json``: its fields, by what they hold."""

    category: str
    tag: str
    texts: Mapping[str, tuple[str, str]]
    """Fields with one text: the key that it gets, and the words put before it."""
    lists: Mapping[str, str]
    """Fields with a list of texts: the tag that these get."""
    objects: Mapping[str, str] = field(default_factory=dict)
    """Fields with texts under keys: the tag that these get."""


SECTIONS = {
    "user": Section(
        category="user_preferences",
        tag="user",
        texts={
            "name": ("name", "Name"),
            "timezone": ("timezone", "Timezone"),
            "working_hours": ("working_hours", "Working hours"),
        },
        lists={"notes": "note"},
        objects={"preferences": "preference"},
    ),
    "project": Section(
        category="project_insights",
        tag="project",
        texts={"name": ("project_name", "Project name"), "type": ("project_type", "Project type")},
        lists={"architecture": "architecture", "patterns": "pattern", "conventions": "convention", "notes": "note"},
    ),
    "learned_facts": Section(
        category="learned_facts",
        tag="learned",
        texts={},
        lists={"facts": "fact", "corrections": "correction", "clarifications": "clarification"},
    ),
}
_DATES = ("created", "updated")

# Entries with a key are kept before those without, which may be copies of them. A preference that happens to be called
# `name` keeps that key; the user's name then takes its place in the file, `user.name`, for its key.
_IN_MEMORY_FILE, _PREFERENCE, _PROFILE, _LISTED = range(4)

_PLAIN_KEY = re.compile(r"[\w-]+")
_TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T"
    r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
)
_TYPE_NAMES = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


class _Object(dict[str, object]):
    """A JSON object that remembers which of its keys stood in it more than once."""

    repeated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Source:
    """A file that could be read."""

    path: str
    data: _Object
    written: float

    def skip(self, at: str, code: str, reason: str) -> ImportEntry:
        """The line of the report for something in this file that cannot be taken over."""
        return ImportEntry(self.path, at, SKIPPED, reason, code)


def import_json(kb: KnowledgeBase, path: str, *, in_global: bool = False, dry_run: bool = False) -> ImportReport:
    """Take the JSON form of the knowledge into the project's vault, or the global one.

    Doing it again changes only what has changed in the files. Raises a ``CoError`` where the path holds no file of that
    form that could be read; anything less is a line in the report.
    """
    if not path.strip():
        raise Invalid("There is no path to import from.", FORMS)
    path = os.path.abspath(os.path.expanduser(path))
    files, strangers = _find(path)
    loaded = [_load(file) for file in files]
    sources = [source for source in loaded if isinstance(source, _Source)]
    if not sources:
        raise _nothing_readable([problem for problem in loaded if isinstance(problem, ImportEntry)])
    items: list[Item] = []
    for source in loaded:
        items.extend(_items(source) if isinstance(source, _Source) else [source])
    items.extend(ImportEntry(file, "", SKIPPED, "is no file of the JSON form", "unknown") for file in strangers)
    files = [source.path for source in sources]
    return imported(kb, path, files, items, what="json", in_global=in_global, dry_run=dry_run)


# -------------------------------------------------------------------------------------------------------------- finding


def _find(path: str) -> tuple[list[str], list[str]]:
    """The files of the JSON form that a path stands for, and other JSON files beside them, which would go unnoticed."""
    if not os.path.lexists(path):
        raise NotFound(f"There is no {path}.", FORMS)
    if not os.path.isdir(path):
        if os.path.basename(path) not in (*MEMORY_FILES, *CONTEXT_FILES):
            raise Invalid(f"{path} is no file of the JSON form.", FORMS)
        return [path], []
    for memories, internal in (
        (os.path.join(path, PROJECT_FOLDER, "memories"), os.path.join(path, PROJECT_FOLDER, "internal")),
        (os.path.join(path, "memories"), os.path.join(path, "internal")),
        (path, ""),
        ("", path),
    ):
        files = [*_present(memories, tuple(MEMORY_FILES)), *_present(internal, CONTEXT_FILES)]
        if files:
            return files, [*_others(memories, tuple(MEMORY_FILES)), *_others(internal, CONTEXT_FILES)]
    raise NotFound(f"There is nothing of the JSON form in {path}.", FORMS)


def _present(folder: str, names: tuple[str, ...]) -> list[str]:
    paths = [os.path.join(folder, name) for name in names if folder]
    return [path for path in paths if os.path.lexists(path)]


def _others(folder: str, names: tuple[str, ...]) -> list[str]:
    try:
        found = sorted(os.listdir(folder)) if folder else []
    except OSError:
        return []
    return [os.path.join(folder, name) for name in found if name.endswith(".json") and name not in names]


def _nothing_readable(problems: list[ImportEntry]) -> Corrupt:
    lines = [f"{problem.file}:{problem.line}: {problem.reason}." for problem in problems]
    return Corrupt(lines[0], "Nothing was imported. Correct the file by hand.", details="\n".join(lines[1:]))


# -------------------------------------------------------------------------------------------------------------- loading


def _load(path: str) -> _Source | ImportEntry:
    """Read a file, or say what is wrong with it as a whole."""
    if not os.path.isfile(path):  # a folder, a dangling link, or something that would keep a reader waiting
        return _broken(path, "no file that can be read", code="unreadable")
    try:
        with open(path, "rb") as file:
            raw = file.read()
            written = os.fstat(file.fileno()).st_mtime
    except OSError as error:
        return _broken(path, f"cannot be read: {error.strerror}", code="unreadable")
    try:
        text = raw.decode(json.detect_encoding(raw))  # some editors and shells write UTF-16, or a byte-order mark
        data = json.loads(text, object_pairs_hook=_object)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return _broken(path, f"not {error.encoding.upper()}: byte 0x{raw[error.start]:02x} cannot be read", line)
    except json.JSONDecodeError as error:
        return _broken(path, f"this is no JSON: {error.msg}", error.lineno)
    except (ValueError, RecursionError) as error:  # a number with thousands of digits, brackets without end
        return _broken(path, f"this JSON cannot be read: {error}")
    if not isinstance(data, _Object):
        return _broken(path, f"must be an object, not {_type_name(data)}")
    version = data.get("version", VERSION)
    if os.path.basename(path) in CONTEXT_FILES and version != VERSION:
        reason = f'version {json.dumps(version)[:40]} is unknown; there is only "{VERSION}"'
        return _broken(path, reason, _line_of("version", text), "unsupported-version")
    return _Source(path, data, written)


def _object(pairs: list[tuple[str, object]]) -> _Object:
    made = _Object(pairs)
    if len(made) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        made.repeated = tuple(key for key, count in counts.items() for _ in range(count - 1))
    return made


def _broken(path: str, reason: str, line: int = 1, code: str = "malformed") -> ImportEntry:
    return ImportEntry(path, "", SKIPPED, reason, code, line=line)


def _line_of(key: str, text: str) -> int:
    found = re.search(rf'"{key}"\s*:', text)
    return text.count("\n", 0, found.start()) + 1 if found else 1


# -------------------------------------------------------------------------------------------------------------- reading


def _items(source: _Source) -> Iterator[Item]:
    """Every entry of a file, and a line for everything in it that is none."""
    yield from _repeated(source, "", source.data)
    if os.path.basename(source.path) in CONTEXT_FILES:
        yield from _context_items(source)
    else:
        category, tag = MEMORY_FILES[os.path.basename(source.path)]
        for key, value in source.data.items():
            yield from _memory_items(source, key, value, category, tag)


def _memory_items(source: _Source, key: str, entry: object, category: str, tag: str) -> Iterator[Item]:
    at = _below("", key)
    if not isinstance(entry, _Object):
        yield source.skip(at, "wrong-type", f"must be an object with a value, not {_type_name(entry)}")
        return
    yield from _repeated(source, at, entry)
    for name in entry:
        if name not in ("value", "timestamp"):
            yield source.skip(_below(at, name), "unknown", "there is no such field")
    made = _entry(source, at, entry.get("value"), category, [tag], key=key, rank=_IN_MEMORY_FILE)
    if isinstance(made, Entry) and entry.get("timestamp") is not None:
        made.created = _timestamp(entry["timestamp"])
        made.remark = "" if made.created else "its timestamp is no date and time: dated today"
    yield made


def _context_items(source: _Source) -> Iterator[Item]:
    """The entries of ``context.json``, dated by when that file was last known to say so."""
    dates = {name: _timestamp(source.data[name]) for name in _DATES if source.data.get(name) is not None}
    for name, date in dates.items():
        if not date:
            yield source.skip(name, "wrong-type", "this is no date and time")
    for name, value in source.data.items():
        if name in SECTIONS:
            for item in _section_items(source, name, SECTIONS[name], value):
                if isinstance(item, Entry):
                    item.created = dates.get("updated") or dates.get("created") or ""
                yield item
        elif name not in ("version", *_DATES):
            yield source.skip(_below("", name), "unknown", "there is no such section")


def _section_items(source: _Source, at: str, section: Section, value: object) -> Iterator[Item]:
    if not isinstance(value, _Object):
        yield source.skip(at, "wrong-type", f"must be an object, not {_type_name(value)}")
        return
    yield from _repeated(source, at, value)
    for name, inner in value.items():
        place = _below(at, name)
        if name in section.texts:
            if inner is not None:  # null says that this was never set
                yield _profile_item(source, place, section, name, inner)
        elif name in section.lists:
            yield from _listed_items(source, place, section, section.lists[name], inner)
        elif name in section.objects:
            yield from _keyed_items(source, place, section, section.objects[name], inner)
        else:
            yield source.skip(place, "unknown", "there is no such field")


def _profile_item(source: _Source, at: str, section: Section, name: str, value: object) -> Entry | ImportEntry:
    key, label = section.texts[name]
    made = _entry(source, at, value, section.category, [section.tag], key=key, rank=_PROFILE)
    if isinstance(made, Entry):
        made.text = f"{label}: {made.text.strip()}"
        made.spare_key = at
    return made


def _listed_items(source: _Source, at: str, section: Section, tag: str, value: object) -> Iterator[Item]:
    if not isinstance(value, list):
        yield source.skip(at, "wrong-type", f"must be a list, not {_type_name(value)}")
        return
    for position, text in enumerate(value):
        yield _entry(source, f"{at}[{position}]", text, section.category, [section.tag, tag], rank=_LISTED)


def _keyed_items(source: _Source, at: str, section: Section, tag: str, value: object) -> Iterator[Item]:
    if not isinstance(value, _Object):
        yield source.skip(at, "wrong-type", f"must be an object, not {_type_name(value)}")
        return
    yield from _repeated(source, at, value)
    for key, text in value.items():
        tags = [section.tag, tag]
        yield _entry(source, _below(at, key), text, section.category, tags, key=key, rank=_PREFERENCE)


def _entry(
    source: _Source, at: str, value: object, category: str, tags: list[str], *, key: str = "", rank: int
) -> Entry | ImportEntry:
    """An entry, or the line for a value or a key that no memory can be made of."""
    if value is None:
        return source.skip(at, "empty", "there is no value")
    if not isinstance(value, str):
        return source.skip(at, "wrong-type", f"must be a text, not {_type_name(value)}")
    if not value.strip():
        return source.skip(at, "empty", "the text is empty")
    if any("\ud800" <= letter <= "\udfff" for letter in key):
        return source.skip(at, "invalid", "the key has a character that is none (a lone surrogate)")
    key = key if key.strip() else ""  # a blank key names nothing, but what is under it counts
    return Entry(source.path, source.written, at, value, category, tags, key=key, rank=rank)


def _repeated(source: _Source, at: str, value: _Object) -> Iterator[ImportEntry]:
    for key in value.repeated:
        yield source.skip(_below(at, key), "repeated", "the key stands there more than once: the last one counts")


def _below(at: str, key: str) -> str:
    """The place of a key in an object; an unusual key is quoted, and what a terminal would act upon is escaped."""
    if _PLAIN_KEY.fullmatch(key):
        return f"{at}.{key}" if at else key
    return f"{at}[{json.dumps(key, ensure_ascii=not key.isprintable())}]"


def _type_name(value: object) -> str:
    return next(name for kind, name in _TYPE_NAMES.items() if isinstance(value, kind))


def _timestamp(value: object) -> str:
    """A timestamp as a memory has it: as it stands if it is well formed, else written anew; empty if it is none."""
    if not isinstance(value, str):
        return ""
    from datetime import datetime

    try:
        moment = datetime.fromisoformat(value.strip()).isoformat()
    except ValueError:
        return ""
    if _TIMESTAMP.fullmatch(value) and value[:19] == moment[:19]:
        return value
    return moment if _TIMESTAMP.fullmatch(moment) else ""
