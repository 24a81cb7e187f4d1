"""The JSON form of the knowledge, taken into a vault: ``internal/context.json`` and ``memories/*.json``.

Owns what that form looks like, which of its entries say the same, and which memory each of them becomes. Writes through the
knowledge base only; must not know how notes are stored, searched or shown.

All of the JSON form was loaded into every prompt, so each entry becomes a pinned memory. An import happens in four steps:
find the files, read their entries, settle which of them are copies of others, keep the rest. Whatever is not taken over
is a line in the report. A dry run is the same import on a copy of the memories.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace

from co_cli.errors import Conflict, Corrupt, Denied, Invalid, NotFound, Unavailable
from co_cli.exchange.report import CREATED, SKIPPED, UNCHANGED, UPDATED, ImportEntry, ImportReport, conditional
from co_cli.knowledge import GLOBAL, PROJECT
from co_cli.settings import PROJECT_FOLDER

TYPE_CHECKING = False  # see co_cli.frontmatter
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from co_cli.knowledge import KnowledgeBase, Note, Saved

__all__ = ["FORMS", "ImportEntry", "ImportReport", "import_json"]

VERSION = "1.0"
"""The one version of ``context.json`` that there is."""

CONTEXT_FILE = "context.json"
MEMORY_FILES = {
    "user_preferences.json": ("user_preferences", "user"),
    "project_insights.json": ("project_insights", "project"),
    "learned_facts.json": ("learned_facts", "learned"),
}
"""The memory files in the order in which they are read, with the category and the tag of their entries."""

FORMS = (
    f"Name a project folder, its {PROJECT_FOLDER} folder, its {PROJECT_FOLDER}/internal/{CONTEXT_FILE}, its "
    f"{PROJECT_FOLDER}/memories folder, or a file of that: {', '.join(MEMORY_FILES)}."
)
"""The paths that are accepted, as a hint."""

IMPORTED = "imported"


@dataclass(frozen=True, slots=True)
class _Section:
    """A section of ``context.json``: its fields, by what they hold."""

    category: str
    tag: str
    texts: Mapping[str, tuple[str, str]]
    """Fields with one text: the key it gets and the words before it."""
    lists: Mapping[str, str]
    """Fields with a list of texts: the tag that they get."""
    objects: Mapping[str, str] = field(default_factory=dict)
    """Fields with texts under keys: the tag that they get."""


SECTIONS = {
    "user": _Section(
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
    "project": _Section(
        category="project_insights",
        tag="project",
        texts={"name": ("project_name", "Project name"), "type": ("project_type", "Project type")},
        lists={"architecture": "architecture", "patterns": "pattern", "conventions": "convention", "notes": "note"},
    ),
    "learned_facts": _Section(
        category="learned_facts",
        tag="learned",
        texts={},
        lists={"facts": "fact", "corrections": "correction", "clarifications": "clarification"},
    ),
}
"""What ``context.json`` holds beside its version and its dates."""

# Which of two entries under the same key, or with the same text, stands: the lower rank. A memory file comes first, for
# its entries are dated, and context.json has but copies of them.
_MEMORY_FILE, _PREFERENCE, _PROFILE, _LISTED = range(4)

_PLAIN_KEY = re.compile(r"[\w-]+")
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?")
_TYPE_NAMES = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a number",
    float: "a number",
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
    changed: float
    """When the file was last written."""

    @property
    def name(self) -> str:
        """Its name for people, with the folder that it lies in."""
        return "/".join(self.path.replace("\\", "/").split("/")[-2:])

    def skip(self, at: str, code: str, reason: str) -> ImportEntry:
        """The line of the report for something in this file that is not taken over."""
        return ImportEntry(self.path, at, SKIPPED, reason, code)


@dataclass(slots=True, eq=False)
class _Entry:
    """A text that is to become a memory, and later what became of it."""

    source: _Source
    at: str
    rank: int
    text: str
    category: str
    tags: list[str]
    key: str = ""
    created: str = ""
    remark: str = ""
    same_as: _Entry | None = None
    """The entry that this one is a copy of."""
    outdone_by: _Entry | None = None
    """The entry that says something else under the same key, and counts."""
    result: ImportEntry | None = None

    def became(self, outcome: str, note: Note | None = None, code: str = "", reason: str = "") -> ImportEntry:
        """The line of the report for this entry."""
        return ImportEntry(
            self.source.path,
            self.at,
            outcome,
            reason=reason or (self.remark if outcome == CREATED else ""),
            code=code,
            ref=note.ref if note else "",
            category=self.category,
            key=self.key,
            summary=note.summary if note and outcome != SKIPPED else "",
        )


def import_json(kb: KnowledgeBase, path: str, *, in_global: bool = False, dry_run: bool = False) -> ImportReport:
    """Take the JSON form of the knowledge into the project's vault, or the global one.

    Running it again changes nothing but what has changed in the files. Raises a ``CoError`` where the path holds nothing
    that could be read; anything less is a line in the report.
    """
    path = _absolute(path)
    files, strangers = _find(path)
    loaded = [_load(file) for file in files]
    sources = [source for source in loaded if isinstance(source, _Source)]
    if not sources:
        raise _nothing_readable([problem for problem in loaded if isinstance(problem, ImportEntry)])
    items: list[_Entry | ImportEntry] = []
    for source in loaded:
        items.extend(_entries(source) if isinstance(source, _Source) else [source])
    items.extend(map(_stranger, strangers))

    _settle([item for item in items if isinstance(item, _Entry)])
    with _rehearsal(kb) if dry_run else nullcontext(kb) as target:
        _keep_all(target, [item for item in items if isinstance(item, _Entry)], in_global=in_global)
    entries = [_result(item) if isinstance(item, _Entry) else item for item in items]
    return ImportReport(
        path=path,
        vault=GLOBAL if in_global else PROJECT,
        dry_run=dry_run,
        files=tuple(source.path for source in sources),
        entries=tuple(_as_rehearsed(entries) if dry_run else entries),
    )


# --------------------------------------------------------------------------------------------------------------- finding


def _absolute(path: str) -> str:
    if not path.strip():
        raise Invalid("There is no path to import from.", FORMS)
    return os.path.abspath(os.path.expanduser(path))


def _find(path: str) -> tuple[list[str], list[str]]:
    """The files of the JSON form under a path, and other JSON files beside them that would go unnoticed."""
    if not os.path.lexists(path):
        raise NotFound(f"There is no {path}.", FORMS)
    if not os.path.isdir(path):
        if os.path.basename(path) not in (*MEMORY_FILES, CONTEXT_FILE):
            raise Invalid(f"{path} is no file of the JSON form.", FORMS)
        return [path], []
    for folder in (os.path.join(path, PROJECT_FOLDER), path):
        memories, internal = os.path.join(folder, "memories"), os.path.join(folder, "internal")
        files = [*_present(memories, MEMORY_FILES), *_present(internal, [CONTEXT_FILE])]
        if files:
            return files, [*_others(memories, MEMORY_FILES), *_others(internal, [CONTEXT_FILE])]
    for names in (MEMORY_FILES, [CONTEXT_FILE]):  # the memories folder itself, or the internal one
        files = _present(path, names)
        if files:
            return files, _others(path, names)
    raise NotFound(f"There is nothing of the JSON form in {path}.", FORMS)


def _present(folder: str, names: Mapping[str, object] | list[str]) -> list[str]:
    paths = [os.path.join(folder, name) for name in names]
    return [path for path in paths if os.path.lexists(path)]


def _others(folder: str, names: Mapping[str, object] | list[str]) -> list[str]:
    try:
        found = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in found if name.endswith(".json") and name not in names]


def _stranger(path: str) -> ImportEntry:
    return ImportEntry(path, "", SKIPPED, "this file is not part of the JSON form", "unknown")


# --------------------------------------------------------------------------------------------------------------- reading


def _load(path: str) -> _Source | ImportEntry:
    """Read a file, or say what is wrong with it as a whole."""
    if not os.path.isfile(path):  # a folder, a dangling link, or something that would keep a reader waiting
        return ImportEntry(path, "", SKIPPED, "this is no file that can be read", "unreadable")
    try:
        with open(path, "rb") as file:
            raw = file.read()
            changed = os.fstat(file.fileno()).st_mtime
    except OSError as error:
        return ImportEntry(path, "", SKIPPED, f"it cannot be read: {error.strerror}", "unreadable")
    try:
        text = raw.decode(json.detect_encoding(raw))  # some editors and shells save UTF-16, or a byte-order mark
        data = json.loads(text, object_pairs_hook=_object)
    except UnicodeDecodeError as error:
        return _broken(path, f"byte 0x{raw[error.start]:02x} is no {error.encoding}", raw.count(b"\n", 0, error.start) + 1)
    except json.JSONDecodeError as error:
        return _broken(path, f"this is no JSON: {error.msg}", error.lineno)
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or brackets without end
        return _broken(path, f"this is no JSON that can be read: {error}", 1)
    if not isinstance(data, _Object):
        return _broken(path, f"it must hold an object, not {_type_name(data)}", 1)
    if os.path.basename(path) == CONTEXT_FILE and data.get("version", VERSION) != VERSION:
        shown = json.dumps(data["version"])[:40]
        found = re.search(r'"version"\s*:', text)
        line = text.count("\n", 0, found.start()) + 1 if found else 1
        return _broken(path, f'version {shown} is unknown, there is only "{VERSION}"', line, "unsupported-version")
    return _Source(path, data, changed)


def _object(pairs: list[tuple[str, object]]) -> _Object:
    made = _Object(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        made.repeated = tuple(name for place, name in enumerate(names) if name in names[place + 1 :])
    return made


def _broken(path: str, reason: str, line: int, code: str = "malformed") -> ImportEntry:
    return ImportEntry(path, "", SKIPPED, reason, code, line=line)


def _nothing_readable(problems: list[ImportEntry]) -> Corrupt:
    places = [f"{problem.file}:{problem.line or 1}: {problem.reason}" for problem in problems]
    return Corrupt(f"{places[0]}.", "Nothing was imported. Correct the file by hand.", details="\n".join(places[1:]))


def _entries(source: _Source) -> Iterator[_Entry | ImportEntry]:
    """Every entry of a file, and a line for everything that is none."""
    for key in source.data.repeated:
        yield _repeated(source, _below("", key))
    if os.path.basename(source.path) == CONTEXT_FILE:
        yield from _context_entries(source)
    else:
        yield from _memory_entries(source)


def _memory_entries(source: _Source) -> Iterator[_Entry | ImportEntry]:
    category, tag = MEMORY_FILES[os.path.basename(source.path)]
    for key, entry in source.data.items():
        at = _below("", key)
        if not isinstance(entry, _Object):
            yield source.skip(at, "wrong-type", f"must be an object with a value, not {_type_name(entry)}")
            continue
        for name in entry.repeated:
            yield _repeated(source, _below(at, name))
        for name in entry:
            if name not in ("value", "timestamp"):
                yield source.skip(_below(at, name), "unknown", "an entry has no such field")
        problem = _no_text(source, at, entry.get("value"), key)
        if problem:
            yield problem
            continue
        given = entry.get("timestamp")
        created = _timestamp(given)
        remark = "" if created or given is None else "its timestamp is no date and time: dated today"
        text = str(entry["value"])
        yield _Entry(source, at, _MEMORY_FILE, text, category, [tag], key.strip() and key, created, remark)


def _context_entries(source: _Source) -> Iterator[_Entry | ImportEntry]:
    """The entries of ``context.json``, dated by when the file was last known to say so."""
    created = ""
    for name in ("created", "updated"):  # the later one counts
        if source.data.get(name) is not None:
            created = _timestamp(source.data[name]) or created
            if not _timestamp(source.data[name]):
                yield source.skip(name, "wrong-type", "this is no date and time")
    for name, value in source.data.items():
        section = SECTIONS.get(name)
        if section:
            for item in _section_entries(source, name, section, value):
                if isinstance(item, _Entry):
                    item.created = created
                yield item
        elif name not in ("version", "created", "updated"):
            yield source.skip(_below("", name), "unknown", "there is no such section")


def _section_entries(source: _Source, at: str, section: _Section, value: object) -> Iterator[_Entry | ImportEntry]:
    if not isinstance(value, _Object):
        yield source.skip(at, "wrong-type", f"must be an object, not {_type_name(value)}")
        return
    for name in value.repeated:
        yield _repeated(source, _below(at, name))
    for name, inner in value.items():
        place = _below(at, name)
        if name in section.texts:
            if inner is not None:  # null says that it was never set
                yield _profile_entry(source, place, section, name, inner)
        elif name in section.lists:
            yield from _listed_entries(source, place, section, section.lists[name], inner)
        elif name in section.objects:
            yield from _keyed_entries(source, place, section, section.objects[name], inner)
        else:
            yield source.skip(place, "unknown", "there is no such field")


def _profile_entry(source: _Source, at: str, section: _Section, name: str, value: object) -> _Entry | ImportEntry:
    key, label = section.texts[name]
    return _no_text(source, at, value) or _Entry(
        source, at, _PROFILE, f"{label}: {str(value).strip()}", section.category, [section.tag], key
    )


def _listed_entries(source: _Source, at: str, section: _Section, tag: str, value: object) -> Iterator[_Entry | ImportEntry]:
    if not isinstance(value, list):
        yield source.skip(at, "wrong-type", f"must be a list, not {_type_name(value)}")
        return
    for position, text in enumerate(value):
        place = f"{at}[{position}]"
        yield _no_text(source, place, text) or _Entry(
            source, place, _LISTED, str(text), section.category, [section.tag, tag]
        )


def _keyed_entries(source: _Source, at: str, section: _Section, tag: str, value: object) -> Iterator[_Entry | ImportEntry]:
    if not isinstance(value, _Object):
        yield source.skip(at, "wrong-type", f"must be an object, not {_type_name(value)}")
        return
    for key in value.repeated:
        yield _repeated(source, _below(at, key))
    for key, text in value.items():
        place = _below(at, key)
        yield _no_text(source, place, text, key) or _Entry(
            source, place, _PREFERENCE, str(text), section.category, [section.tag, tag], key.strip() and key
        )


def _no_text(source: _Source, at: str, value: object, key: str = "") -> ImportEntry | None:
    """The line for a value, or a key, that no memory can be made of; ``None`` if one can."""
    if value is None:
        return source.skip(at, "empty", "there is no value")
    if not isinstance(value, str):
        return source.skip(at, "wrong-type", f"must be a text, not {_type_name(value)}")
    if not value.strip():
        return source.skip(at, "empty", "the text is empty")
    if any("\ud800" <= letter <= "\udfff" for letter in key):
        return source.skip(at, "invalid", "the key has a character that is none (a lone surrogate)")
    return None


def _repeated(source: _Source, at: str) -> ImportEntry:
    return source.skip(at, "repeated", "the key stands there more than once: the last one counts")


def _below(at: str, key: str) -> str:
    """The place of a key in the object at a place; an unusual key is quoted, and never shown raw if it is not printable."""
    if _PLAIN_KEY.fullmatch(key):
        return f"{at}.{key}" if at else key
    return f"{at}[{json.dumps(key, ensure_ascii=not key.isprintable())}]"


def _type_name(value: object) -> str:
    return next((name for kind, name in _TYPE_NAMES.items() if isinstance(value, kind)), "something else")


def _timestamp(value: object) -> str:
    """A timestamp as a memory has it: as it stands where that is well formed, else rewritten; empty if it is none."""
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


# -------------------------------------------------------------------------------------------------------------- settling


def _settle(entries: list[_Entry]) -> None:
    """Find the entries that are copies of others, or that others outdo, so that each thing is kept once.

    The same text under several keys stays several memories: a key that is looked up must be found. A text without a key
    adds its tags to the memory that says the same.
    """
    by_key: dict[tuple[str, str], _Entry] = {}
    by_text: dict[str, _Entry] = {}
    for entry in _ranked(entries):
        rival = _rival(entry, by_key) if entry.key else by_text.get(_comparable(entry.text))
        if rival and entry.rank == _PROFILE and _comparable(rival.text) != _comparable(entry.text):
            entry.key = entry.at  # a preference that happens to be called `name` must not cost the name
            rival = _rival(entry, by_key)
        if rival is None:
            by_key[entry.category, entry.key] = entry
            by_text.setdefault(_comparable(entry.text), entry)
        elif _comparable(rival.text) == _comparable(entry.text):
            entry.same_as = rival
            rival.tags.extend(tag for tag in entry.tags if tag not in rival.tags)
        else:
            entry.outdone_by = rival


def _ranked(entries: list[_Entry]) -> list[_Entry]:
    return sorted(entries, key=lambda entry: entry.rank)


def _rival(entry: _Entry, by_key: Mapping[tuple[str, str], _Entry]) -> _Entry | None:
    return by_key.get((entry.category, entry.key))


def _comparable(text: str) -> str:
    return " ".join(text.casefold().split())


# --------------------------------------------------------------------------------------------------------------- keeping


def _keep_all(kb: KnowledgeBase, entries: list[_Entry], *, in_global: bool) -> None:
    """Keep the entries, those with a key first, since a text without one may turn out to be said by them."""
    store = _Store(kb, in_global=in_global)
    for entry in _ranked(entries):
        if entry.same_as is None and entry.outdone_by is None:
            entry.result = store.keep(entry)


def _result(entry: _Entry) -> ImportEntry:
    """The line of the report for an entry; for a copy it follows from what became of the original."""
    if entry.result:
        return entry.result
    other = entry.same_as or entry.outdone_by
    if other is None or other.result is None:
        raise AssertionError(f"{entry.at} was neither kept nor settled")
    place = f"{other.source.name}: {other.at}"
    if entry.outdone_by:
        return entry.became(SKIPPED, code="outdone", reason=f"{place} has this key with another text, and counts")
    if other.result.outcome == SKIPPED:
        return replace(other.result, file=entry.source.path, at=entry.at)
    return replace(
        other.result,
        file=entry.source.path,
        at=entry.at,
        outcome=UNCHANGED,
        code="copy",
        reason=f"says the same as {place}",
    )


class _Store:
    """The vault that is imported into, as the import sees it."""

    def __init__(self, kb: KnowledgeBase, *, in_global: bool) -> None:
        self._kb = kb
        self._vault = GLOBAL if in_global else PROJECT
        # Later memories win: where two have the same key, the newest is the one that counts.
        self._keyed = {(note.category, note.key): note for note in self._notes() if note.key}
        self._archived = {(note.key, note.body): note for note in self._notes(archived=True)}

    def _notes(self, *, archived: bool = False) -> list[Note]:
        return [note for note in self._kb.list(archived=archived).notes if note.vault == self._vault]

    def keep(self, entry: _Entry) -> ImportEntry:
        """Make the memory of an entry, or bring the one that there is up to date."""
        known = self._keyed.get((entry.category, entry.key))
        put_away = self._archived.get((entry.key, _as_kept(entry.text)))
        try:
            if known:
                return self._revise(known, entry)
            if put_away:
                return entry.became(UNCHANGED, put_away, "archived", "it is in the archive, and stays there")
            return self._add(entry)
        except Denied as error:
            if error.code != "secret":  # the vault as a whole is closed to co, not just this entry
                raise
            return entry.became(SKIPPED, code=error.code, reason=error.message)
        except (Invalid, Conflict) as error:
            return entry.became(SKIPPED, code=error.code, reason=error.message)

    def _revise(self, known: Note, entry: _Entry) -> ImportEntry:
        text = _as_kept(entry.text)
        if text != known.body and _words_changed(known) >= entry.source.changed:
            reason = f"{known.ref} got another text after {entry.source.name} was last written, and keeps it"
            return entry.became(SKIPPED, known, "newer-here", reason)
        saved = self._kb.update(known.ref, content=text, pinned=_pin(known), expected_sha=known.sha)
        self._keyed[entry.category, entry.key] = saved.note
        pinned = saved.outcome == UPDATED and text == known.body
        return entry.became(saved.outcome, saved.note, reason="it is pinned now" if pinned else "")

    def _add(self, entry: _Entry) -> ImportEntry:
        saved = self._save(entry)
        twin = saved.note
        if saved.outcome == UNCHANGED:
            other_key = entry.key and (twin.category, twin.key) != (entry.category, entry.key)
            if other_key or (twin.vault != self._vault and not twin.pinned):
                # It needs a memory of its own. What looks like a secret was refused above, before it was compared.
                saved = self._save(entry, force=True)
            elif _pin(twin):
                saved = self._kb.update(twin.ref, pinned=True)
                return entry.became(saved.outcome, saved.note, reason="a memory said so already; it is pinned now")
            else:
                return entry.became(UNCHANGED, twin)
        if entry.key:
            self._keyed[entry.category, entry.key] = saved.note
        return entry.became(saved.outcome, saved.note)

    def _save(self, entry: _Entry, *, force: bool = False) -> Saved:
        return self._kb.save(
            entry.text,
            tags=entry.tags,
            in_global=self._vault == GLOBAL,
            category=entry.category,
            key=entry.key,
            pinned=True,
            source=IMPORTED,
            created=entry.created,
            force=force,
        )


def _as_kept(text: str) -> str:
    """A text as the knowledge base keeps it."""
    return text.strip().replace("\r\n", "\n").removeprefix("\ufeff").strip()


def _pin(note: Note) -> bool | None:
    """Whether to pin a memory that there is. An imported one was pinned at birth: if it is not, somebody unpinned it."""
    return True if not note.pinned and note.source != IMPORTED else None


def _words_changed(note: Note) -> float:
    """When a memory got its text in another way than by the import that made it; 0 if it did not."""
    from datetime import datetime

    when = note.updated or ("" if note.source == IMPORTED else note.created)
    try:
        return datetime.fromisoformat(when).timestamp()
    except (ValueError, OverflowError):
        return 0.0


# --------------------------------------------------------------------------------------------------------- rehearsing


@contextmanager
def _rehearsal(kb: KnowledgeBase) -> Iterator[KnowledgeBase]:
    """A knowledge base with a copy of the memories, in a folder that is gone afterwards."""
    notes = [*kb.list().notes, *kb.list(archived=True).notes]
    try:
        folder = tempfile.TemporaryDirectory(prefix="co-dry-run-")
    except OSError as error:
        raise _no_room(error) from error
    with folder as top:
        vaults = []
        for vault in kb.vaults:
            root = os.path.join(top, vault.name, "vault", "knowledge")
            try:
                for note in notes:
                    if note.vault == vault.name:
                        _copy(note, os.path.join(root, os.path.relpath(note.path, vault.root)))
            except OSError as error:
                raise _no_room(error) from error
            journal = replace(vault.journal, folder=os.path.join(top, vault.name, "journal"))
            vaults.append(replace(vault, root=root, journal=journal))
        yield replace(kb, vaults=tuple(vaults))


def _copy(note: Note, path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(note.raw)


def _no_room(error: OSError) -> Unavailable:
    return Unavailable(
        f"The dry run cannot copy the memories to {tempfile.gettempdir()}: {error.strerror}.",
        "Nothing was changed. Make room there, or name another folder in TMPDIR.",
    )


def _as_rehearsed(entries: list[ImportEntry]) -> list[ImportEntry]:
    """The report of a rehearsal: outcomes that would be, and no refs to notes that are not there."""
    made = {entry.ref for entry in entries if entry.outcome == CREATED}
    return [
        replace(entry, outcome=conditional(entry.outcome), ref="" if entry.ref in made else entry.ref) for entry in entries
    ]
