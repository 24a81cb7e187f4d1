"""A folder of somebody else's notes that is read where it is, and never written to.

Owns which of its files are read, how one look at all of them shows what has changed, and what a file without a header of
co's, such as a page of documentation or a note of Obsidian, says as an article. Knows nothing of which folders are linked.

Whoever writes these files knows nothing of co, so nothing in them is wrong: a header that cannot be read counts as none.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import Conflict, Corrupt, Denied, NotFound, Unavailable
from co_cli.files import reason
from co_cli.folder import Look, leads_straight, stamp
from co_cli.frontmatter import FrontmatterError, parse_header, says_private, split_frontmatter
from co_cli.note import ARTICLE, FOLDERS, Note, NoteError, Problem, clean_tags, instant
from co_cli.vault import Scan, Vault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import NoReturn

ENDINGS = (".md", ".markdown", ".mdx", ".rst", ".txt")
"""How the names of files end that are read."""
MOST_FILES, LARGEST = 25_000, 10_000_000
"""Files that are read at most, and bytes of each."""
_MOST_SEEN, _DEEPEST = 250_000, 60
"""Entries that are looked at, and folders within one another."""
_SKIPPED = frozenset(("node_modules", "bower_components", "__pycache__", "venv"))
"""Folders, beside the hidden ones, in which nobody keeps notes."""
UNREADABLE = "not-text"
"""The code of the problem of a file that is no text: its owner wants it so, and nobody has to hear of it at every query."""
_PRINTED = "\xa0£§«°·»½¼¾×–—…•„“”’€"
"""What a Western text has beside letters and ASCII."""
_MOST_OTHERS, _LEAST_LETTERS = 0.2, 0.9
"""The share of signs beyond ASCII that it has at most, and how many of those have to be letters or the like: what looks
different is of another part of the world."""
_MOST_TAGS, _NAMED = 100, 20
"""Tags of a note that count, and files that are named where a ref could be any of them."""

_HEADING = r"(?:\A|\n)#[ \t]+(\S[^\n]*)|(?:\A|\n)(\S[^\n]*)\n=+[ \t]*\r?(?:\n|\Z)"
_CODE = r"(?ms)^[ \t]*(?P<fence>```+|~~~+).*?(?:^[ \t]*(?P=fence)|\Z)|`[^`\n]*`"
_TAG = r"(?<![^\s(\[,;])(?<!\]\()#(?=[\w/-]{0,59}[^\W\d_])([\w/-]{1,60})"


class Skipped(NamedTuple):
    """What of a folder is not read: its names, and why."""

    name: str
    why: str


class Walk(NamedTuple):
    """What one look at all of a folder showed."""

    names: list[str]
    """The files that are read: their paths in the folder, with slashes."""
    stamps: list[int]
    hidden: list[str]
    """Folders that could not be looked into, each with a slash behind it: what lies there is not known to be gone."""
    skipped: list[Skipped]
    """What somebody may miss; hidden files and folders are none of that."""


class LinkedFolder(Vault):
    """The folder behind a link, read like a vault that holds articles only."""

    read_only = True

    def __init__(self, root: str, name: str, key: str, *, private: bool = False) -> None:
        super().__init__(root, name, key)
        self.private = private

    # ------------------------------------------------------------------------------------------------- what there is

    def walk(self) -> Walk:
        """Look at every file; raises ``OSError`` where the folder itself cannot be looked into."""
        return _Walking(self.root).walk()

    def look(self, kind: str, problems: list[Problem], *, archived: bool = False) -> Look | None:
        """What one look shows, without reading any file; see :meth:`Vault.look`."""
        if kind != ARTICLE or archived:
            return None
        try:
            found = self.walk()
        except FileNotFoundError:
            return None
        except OSError as error:
            problems.append(Problem(self.root, f"cannot be read: {reason(error)}"))
            return None
        for name, why in found.skipped:
            if name.endswith("/"):  # not a file that somebody left out on purpose
                path = os.path.join(self.root, name.strip("/"))
                problems.append(Problem(path, why, hint="What it holds is not searched.", code="not-searched"))
        return Look([os.fsencode(name) for name in found.names], found.stamps, tuple(found.hidden))

    def count(self, kinds: Iterable[str], enough: int) -> int:
        """How many files there are to read, counted no further than it takes to know that there are enough."""
        total = 0
        for _folder, folders, files in os.walk(self.root) if ARTICLE in kinds else ():
            total += sum(map(_is_read, files))
            if total >= enough:
                break
            folders[:] = [name for name in folders if name[0] != "." and name not in _SKIPPED]
        return total

    def path_of(self, kind: str, name: str, *, archived: bool = False) -> str:
        """The path of a file by its name in the folder."""
        del kind, archived
        return os.path.join(self.root, *name.split("/"))

    def name_of(self, path: str) -> str:
        """The name of a file in the folder, by its path."""
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    def folder_of(self, note: Note) -> str:
        """The folder that the links of a note start from."""
        return note.slug.rpartition("/")[0]

    def folder_identity(self, kind: str) -> str:
        """What tells this folder from any other that may lie in its place."""
        del kind
        try:
            found = os.stat(self.root)
        except OSError:
            return ""
        return f"{found.st_dev} {found.st_ino}"

    def is_archived(self, note: Note) -> bool:
        """Nothing is put away here."""
        del note
        return False

    # ----------------------------------------------------------------------------------------------------------- reading

    def scan(
        self,
        kinds: Iterable[str] = tuple(FOLDERS),
        *,
        wanted: Callable[[bytes], bool] | None = None,
        archived: bool = False,
    ) -> Scan:
        """Read every file; with ``wanted``, only those whose bytes it says yes to."""
        notes: list[Note] = []
        problems: list[Problem] = []
        look = self.look(ARTICLE, problems, archived=archived) if ARTICLE in kinds else None
        names = map(os.fsdecode, look.names) if look else ()
        for path, raw in self.named_files(ARTICLE, names, problems):
            if wanted is None or wanted(raw):
                with suppress(NoteError):
                    notes.append(self.parse(raw, ARTICLE, path))
        return Scan(tuple(notes), tuple(problems))

    def named_files(
        self, kind: str, names: Iterable[str], problems: list[Problem], *, archived: bool = False
    ) -> Iterator[tuple[str, bytes]]:
        """The path and the bytes of just these files."""
        straight: dict[str, bool] = {}
        for name in names if kind == ARTICLE and not archived else ():
            path = self.path_of(kind, name)
            folder = os.path.dirname(path)
            if folder not in straight:  # looked up once for each folder: none that is read leads out of here
                straight[folder] = folder == self.root or leads_straight(folder, self.root)
            try:
                raw = _read_plain(path) if straight[folder] and _is_read(name) else None
            except OSError as error:
                problems.append(Problem(path, f"cannot be read: {reason(error)}", hint=f"Check its permissions: {path}"))
                continue
            if raw is not None:
                yield path, raw

    def read(self, path: str, kind: str) -> Note:
        """Read one file; raises ``NotFound`` or ``Corrupt``."""
        problems: list[Problem] = []
        for found, raw in self.named_files(kind, [self.name_of(path)], problems):
            try:
                return self.parse(raw, kind, found)
            except NoteError as error:
                problems.append(error.problem)
        if problems:
            raise Corrupt(f"{self.name}:{self.name_of(path)} cannot be shown: {problems[0].message}.", problems[0].hint)
        raise NotFound(f"There is no file {self.name}:{self.name_of(path)}.")

    def read_named(self, kind: str, names: Iterable[str]) -> dict[str, Note]:
        """The notes in just these files, by their names; what is gone is left out."""
        notes = {}
        for path, raw in self.named_files(kind, names, []):
            with suppress(NoteError):
                notes[self.name_of(path)] = self.parse(raw, kind, path)
        return notes

    def find(self, kind: str, name: str) -> Note | None:
        """The note with this path in the folder, with or without its ending; or the only one whose path ends like this."""
        if kind != ARTICLE:
            return None
        for ending in ("", *ENDINGS):
            note = self.read_named(kind, [name + ending]).get(name + ending)
            if note:
                return note
        try:
            alike = [known for known in self.walk().names if _ends_like(known, name)]
        except OSError as error:
            raise Unavailable(f"{self.name} cannot be read: {reason(error)}.", "Check its permissions.") from error
        if len(alike) > 1:
            refs = [] if self.private else [f"{self.name}:{_slug(known)}" for known in sorted(alike)[:_NAMED]]
            hint = "Name its folders as well."
            raise Conflict(f"{self.name}:{name} may be one of {len(alike)} files.", hint, details="\n".join(refs))
        return self.read(self.path_of(kind, alike[0]), kind) if alike else None

    def parse(self, raw: bytes, kind: str, path: str) -> Note:
        """What a file says, as an article."""
        note = read_leniently(raw, vault=self.name, path=path, name=self.name_of(path))
        return note._replace(kind=kind, private=note.private or self.private)

    # ---------------------------------------------------------------------------------------------------------- changing

    def change(self, operation: str, *, undoes: int | None = None) -> NoReturn:
        """Refuse: these files are somebody else's."""
        del operation, undoes
        raise read_only(self.name, self.root)


def read_only(name: str, path: str) -> Denied:
    """The error for whoever would change what is only linked."""
    hint = f"Change the file itself: {path}" if path else "Change the file itself."
    return Denied(f"{name} is a linked folder: co reads it, and never writes to it.", hint)


class _Walking:
    """One look at all of a folder."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.found = Walk([], [], [], [])
        self.seen = 0

    def walk(self) -> Walk:
        with os.scandir(self.root) as entries:
            self._look(entries, "", 1)
        if self._is_full():
            self._leave_out("", f"more than {MOST_FILES:,} files to read: the rest is left out")
        return self.found

    def _is_full(self) -> bool:
        return len(self.found.names) > MOST_FILES or self.seen > _MOST_SEEN

    def _look(self, entries: Iterable[os.DirEntry[str]], prefix: str, depth: int) -> None:
        for entry in entries:
            name = entry.name
            self.seen += 1
            if self._is_full():
                return
            if name[0] == ".":
                continue
            if entry.is_dir(follow_symlinks=False):
                if name not in _SKIPPED:
                    self._enter(entry.path, f"{prefix}{name}/", depth)
            elif name.endswith(ENDINGS):
                self._add(entry, prefix + name)
            elif entry.is_symlink() and entry.is_dir():
                self.found.skipped.append(Skipped(prefix + name, "a symbolic link, which is not followed"))

    def _enter(self, path: str, prefix: str, depth: int) -> None:
        if depth >= _DEEPEST:
            self._leave_out(prefix, "lies too deep")
            return
        try:
            with os.scandir(path) as entries:
                self._look(entries, prefix, depth + 1)
        except FileNotFoundError:  # removed since the folder above was listed
            pass
        except OSError as error:
            self._leave_out(prefix, f"cannot be read: {reason(error)}")

    def _add(self, entry: os.DirEntry[str], name: str) -> None:
        try:
            found = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return
        if stat.S_ISLNK(found.st_mode):
            self.found.skipped.append(Skipped(name, "a symbolic link, which is not followed"))
        elif found.st_size > LARGEST:
            self.found.skipped.append(Skipped(name, f"larger than {LARGEST // 1_000_000} MB"))
        elif stat.S_ISREG(found.st_mode):
            self.found.names.append(name)
            self.found.stamps.append(stamp(found))

    def _leave_out(self, prefix: str, why: str) -> None:
        self.found.hidden.append(prefix)
        self.found.skipped.append(Skipped(prefix or "/", why))


def _is_read(name: str) -> bool:
    """Whether a file of this name in the folder is one that is read."""
    *folders, file = name.split("/")
    return (
        file.endswith(ENDINGS)
        and not any(part[:1] in ("", ".") for part in (*folders, file))
        and _SKIPPED.isdisjoint(folders)
    )


def _read_plain(path: str) -> bytes | None:
    """The bytes of an ordinary file of a bearable size; ``None`` where there is none."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        if os.path.islink(path):
            return None
        raise
    with open(handle, "rb") as file:
        found = os.fstat(file.fileno())
        return file.read() if stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST else None


def _ends_like(known: str, wanted: str) -> bool:
    """Whether a path ends with these parts, its ending aside."""
    import unicodedata

    plain, sought = (unicodedata.normalize("NFC", text).casefold() for text in (known, wanted.strip("/")))
    return any(f"/{each}".endswith(f"/{sought}") for each in (plain, plain.rpartition(".")[0]))


# ------------------------------------------------------------------------------------------------------ what a file says


def read_leniently(raw: bytes, *, vault: str, path: str, name: str) -> Note:
    """A file as an article, whatever its header; raises :class:`NoteError` only for what is no text."""
    text = _decoded(raw, path)
    header, body = split_frontmatter(text)
    try:
        fields = parse_header(header) if header else {}
    except FrontmatterError:  # a template, or another language
        fields = {"private": says_private(header or "")}
    slug = _slug(name)
    stem = slug.rpartition("/")[2].removesuffix(os.path.splitext(name)[1])
    title = _words(fields.get("title")) or _first_heading(body) or stem
    aliases = [stem, *_list(fields, "aliases", "alias")]
    tags = _list(fields, "tags", "tag", "keywords")
    if not name.endswith((".rst", ".txt")):
        tags += _inline_tags(body)
    created, updated = (_first_date(fields, *names) for names in (("created", "date", "published"), ("updated", "modified")))
    return Note(
        kind=ARTICLE,
        vault=vault,
        path=path,
        raw=raw if _is_utf8(raw) else text.encode("utf-8", "surrogatepass"),
        body=body.strip(),
        slug=slug,
        title=title,
        tags=clean_tags(tags[:_MOST_TAGS]),
        created=created,
        updated=updated,
        source=_words(fields.get("source")),
        private=fields.get("private") is True,
        aliases=tuple(alias for alias in dict.fromkeys(aliases) if alias != title),
    )


def _slug(name: str) -> str:
    return name.removesuffix(".md")


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _decoded(raw: bytes, path: str) -> str:
    """The text of a file in the encoding that it seems to have."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16", "replace")
    try:
        text = raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", "replace")
        others = [sign for sign in text if sign > "\x7f"]
        letters = sum(sign.isalpha() or sign in _PRINTED for sign in others)
        if len(others) > _MOST_OTHERS * len(text) or letters < _LEAST_LETTERS * len(others):
            raise NoteError(Problem(path, "in an encoding that is not known", code=UNREADABLE)) from None
    if "\0" in text:
        raise NoteError(Problem(path, "no text", code=UNREADABLE))
    return text


def _first_heading(body: str) -> str:
    """The title of a document: its first heading of the highest level, if it has one."""
    found = re.search(_HEADING, body)
    return (found[1] or found[2]).rstrip(" \t\r#") if found else ""


def _words(value: object) -> str:
    """A value of a header as a title has it."""
    return " ".join(str(value).split()) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""


def _list(fields: Mapping[str, object], *names: str) -> list[str]:
    """The values of fields that may be lists or texts; tags in a text stand between commas or blanks."""
    found: list[str] = []
    for name in names:
        value = fields.get(name)
        if isinstance(value, list):
            found += filter(None, map(_words, value))
        elif isinstance(value, str):
            parts = value.split(",") if "," in value or "alias" in name else value.split()
            found += filter(None, map(_words, parts))
    return found


def _inline_tags(body: str) -> list[str]:
    """The tags that stand in a text, as Obsidian has them: ``#project/alpha``; not in code."""
    return re.findall(_TAG, re.sub(_CODE, " ", body)) if "#" in body else []


def _first_date(fields: Mapping[str, object], *names: str) -> str:
    return next((date for name in names if (date := _words(fields.get(name))) and instant(date)), "")
