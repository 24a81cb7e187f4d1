"""What a note is: its kinds, its fields, its name, its ref.

Owns turning the bytes of one file into a :class:`Note` and back. Knows nothing of folders, locks or other notes. Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from co_cli.frontmatter import (
    FieldError,
    FrontmatterError,
    parse_frontmatter,
    render_document,
    split_frontmatter,
    validate_context_frontmatter,
    validate_memory_frontmatter,
    validate_note_frontmatter,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

MEMORY, TOPIC, ARTICLE, CONTEXT = "memory", "topic", "article", "context"
FOLDERS = {MEMORY: "memories", TOPIC: "topics", ARTICLE: "articles"}
"""The folder of a vault in which each kind lives; the context is one file at its top."""

PROJECT, GLOBAL = "project", "global"
_VAULTS = (PROJECT, GLOBAL, "")

SLUG_LENGTH = 50
PRIVATE_SLUG = "private"
SUMMARY_LENGTH = 80

_OPEN_HEADER = r"---[ \t]*\r?\n[A-Za-z_][A-Za-z0-9_]*[ \t]*:"
_HEADING = r"(?m)^#{1,6}[ \t]+(\S.*)$"
_DIGITS = frozenset("0123456789")
_PUNCTUATION = r"[\s!\"'()*,./:;?@\[\\\]_`{}-]+"
_REF = r"(?s)(?:(?P<vault>g|p):)?(?:(?P<kind>memory|topic|article):)?(?P<name>.+)"


class Problem(NamedTuple):
    """Something in a file that a person has to look at; it never stops the other files from being read."""

    path: str
    message: str
    line: int = 1
    hint: str = ""
    code: str = "unreadable"

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


class NoteError(ValueError):
    """A file that is no note, with the problem to report."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class Note(NamedTuple):
    """One Markdown document of a vault, as it stands in its file."""

    kind: str
    vault: str
    """``project`` or ``global``: the vault that it was read from."""
    path: str
    raw: bytes
    """The bytes of the file: what a change is guarded by, and what is kept where nothing is changed."""
    body: str
    id: int | None = None
    slug: str = ""
    title: str = ""
    tags: tuple[str, ...] = ()
    created: str = ""
    updated: str = ""
    source: str = ""
    category: str = ""
    key: str = ""
    scope: str = ""
    language: str = ""
    expires: str = ""
    pinned: bool = False
    private: bool = False
    supersedes: tuple[int, ...] = ()
    """The memories of the same vault whose place it has taken."""
    superseded_by: int | None = None
    """The memory that has taken its place."""
    because: str = ""
    aliases: tuple[str, ...] = ()
    """Other titles, by which a note of a linked folder is found."""

    @property
    def ref(self) -> str:
        """The name of this note across vaults: ``12``, ``g:3``, ``topic:deploy``, ``context``, ``docs:guide/install``."""
        if self.vault not in _VAULTS:
            return f"{self.vault}:{self.slug}"
        name = str(self.id) if self.kind == MEMORY else self.kind if self.kind == CONTEXT else f"{self.kind}:{self.slug}"
        return f"g:{name}" if self.vault == GLOBAL else name

    @property
    def lasting_name(self) -> str:
        """The name of this note in its vault, whatever becomes of its words: ``memory:12``, ``topic:deploy``."""
        return lasting_name(self.kind, self.id, self.slug)

    @property
    def label(self) -> str:
        """How the log names the note: a private one by its ref alone."""
        return f"{self.ref} (private)" if self.private else f"{self.ref}: {self.summary}"

    @property
    def text(self) -> str:
        """The whole document, header and all."""
        return self.raw.decode("utf-8")

    @property
    def sha(self) -> str:
        """The hash of the file as it was read."""
        return sha_of(self.raw)

    @property
    def summary(self) -> str:
        """The first line of the body, in at most 80 characters."""
        body = self.body.lstrip()
        if body.startswith("<!-- page "):
            from co_cli.pages import without_marks

            body = without_marks(body).lstrip()
        first = body.split("\n", 1)[0].strip()
        return first[: SUMMARY_LENGTH - 3] + "..." if len(first) > SUMMARY_LENGTH else first


def lasting_name(kind: str, number: int | None, slug: str) -> str:
    """The name of a note in its vault: a memory is known by its number, any other note by its slug."""
    return f"{kind}:{number if kind == MEMORY else slug}"


def sha_of(raw: bytes) -> str:
    """The hash by which co recognises the content of a file."""
    import hashlib

    return hashlib.sha256(raw).hexdigest()


def parse_note(raw: bytes, *, kind: str, vault: str, path: str) -> Note:
    """Read a note from the bytes of its file; raises :class:`NoteError` with path and line where they are no note."""
    text = decode(raw, path)
    fields: dict[str, Any] = {}
    try:
        fields, body = parse_frontmatter(text)
        if not fields and re.match(_OPEN_HEADER, body):
            raise FrontmatterError("the header is never closed: a line of three dashes is missing after it")
        _VALIDATE[kind](fields)
    except FrontmatterError as error:
        raise NoteError(Problem(path, error.reason, error.line, code="bad-frontmatter")) from error
    except FieldError as error:
        code = "no-frontmatter" if not fields else "bad-field"
        raise NoteError(Problem(path, str(error), line_of(text, error.field), code=code)) from error
    slug = path.replace("\\", "/").rpartition("/")[2].removesuffix(".md")
    return Note(kind=kind, vault=vault, path=path, raw=raw, body=body.strip(), slug=slug, **_typed(kind, fields, body, slug))


# The order in which co writes the fields of a memory.
_ORDER = (
    "id",
    "created",
    "tags",
    "source",
    "updated",
    "category",
    "key",
    "scope",
    "language",
    "expires",
    "pinned",
    "private",
    "supersedes",
    "superseded_by",
    "because",
)


def _validate_context(fields: Mapping[str, Any]) -> None:
    if fields:  # a context without a header is accepted
        validate_context_frontmatter(fields)


_VALIDATE = {
    MEMORY: validate_memory_frontmatter,
    TOPIC: validate_note_frontmatter,
    ARTICLE: validate_note_frontmatter,
    CONTEXT: _validate_context,
}
_TEXT_FIELDS = ("created", "updated", "source", "category", "key", "scope", "language", "expires", "because")


_OTHER_FIELDS = ("pinned", "private", "superseded_by")


def _typed(kind: str, fields: Mapping[str, Any], body: str, slug: str) -> dict[str, Any]:
    typed: dict[str, Any] = {name: fields[name] for name in _TEXT_FIELDS if fields.get(name)}
    typed.update({name: fields[name] for name in _OTHER_FIELDS if fields.get(name) is not None})
    typed["tags"] = tuple(fields.get("tags") or ())
    superseded = fields.get("supersedes") or ()
    typed["supersedes"] = tuple(superseded) if isinstance(superseded, list) else (superseded,) if superseded else ()
    if kind == MEMORY:
        typed["id"] = fields["id"]
    else:
        if kind == ARTICLE and fields.get("fetched"):
            typed.setdefault("created", fields["fetched"])
        typed["title"] = str(fields.get("title") or fields.get("topic") or _first_heading(body) or slug)
    return typed


def _first_heading(body: str) -> str:
    found = re.search(_HEADING, body)
    title = found[1].rstrip() if found else ""
    bare = title.rstrip("#")
    # closing signs stand by themselves: "# Learn #" has one, "# Learn C#" has none
    return title if bare and not bare[-1].isspace() else bare.rstrip()


def decode(raw: bytes, path: str) -> str:
    """The text of a file; a byte-order mark is left out, bytes that are no UTF-8 are a :class:`NoteError`."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = f"not UTF-8: byte 0x{raw[error.start]:02x} cannot be read"
        hint = "save the file as UTF-8; co leaves it as it is until then"
        raise NoteError(Problem(path, message, line, hint, code="not-utf-8")) from error
    return text.removeprefix("\ufeff")


def line_of(text: str, field: str) -> int:
    """The line of a document on which a field of its header stands."""
    header = split_frontmatter(text)[0] or ""
    found = re.search(rf"^[\"']?{re.escape(field)}[\"']?[ \t]*:", header, re.MULTILINE)
    return header.count("\n", 0, found.start()) + 2 if found else 1


def render_memory(fields: Mapping[str, object], content: str) -> bytes:
    """The bytes of a new memory; fields that are empty are left out, tags are always there."""
    kept = {name: fields[name] for name in _ORDER if fields.get(name) or (name == "tags" and name in fields)}
    return render_document(kept, content).encode("utf-8")


def slugify(text: str, otherwise: str = "memory") -> str:
    """The part of a file name that says what is in it: the first 50 characters, as letters, digits and hyphens.

    A text without ASCII letters keeps the letters that it has.
    """
    head = text[:SLUG_LENGTH].lower()
    slug = re.sub(r"[^a-z0-9]+", "-", head).strip("-")
    if not re.search(r"[a-z]", slug) and not head.isascii():
        import unicodedata

        head = unicodedata.normalize("NFC", head)
        slug = ""
        for sign in head:
            # a mark, such as an accent, belongs to the letter before it
            kept = sign.isalnum() or (unicodedata.category(sign)[0] == "M" and slug[-1:] not in ("", "-"))
            slug += sign if kept else "-"
        slug = re.sub(r"-+", "-", slug).strip("-")
    return slug[:SLUG_LENGTH].strip("-") or otherwise


def memory_name(memory_id: int, content: str, *, private: bool = False) -> str:
    """The file name of a memory; that of a private one gives nothing away."""
    return f"{memory_id:03d}-{PRIVATE_SLUG if private else slugify(content.strip())}.md"


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags without blanks around them, without empty ones and without twins."""
    cleaned: dict[str, str] = {}
    for tag in [tags] if isinstance(tags, str) else tags:
        for part in tag.split(","):
            name = " ".join(part.split()).lstrip("#")
            if name:
                cleaned.setdefault(name.casefold(), name)
    return tuple(cleaned.values())


def fold(text: str) -> str:
    """What two texts have in common when they differ only in case, white space and punctuation.

    Signs that carry meaning stay: ``C++``, ``C#`` and ``C`` are three things, and so are ``3.11`` and ``311``, ``-5`` and
    ``5``, ``a != b`` and ``a = b``.
    """
    folded = " ".join(text.casefold().split())
    if not folded.isascii():
        import unicodedata

        folded = unicodedata.normalize("NFKC", folded).casefold()
        folded = "".join("-" if sign > "\x7f" and unicodedata.category(sign)[0] == "P" else sign for sign in folded)
    return re.sub(_PUNCTUATION, _significant, folded) or folded


def _significant(run: re.Match[str]) -> str:
    """What a run of punctuation and white space means: mostly nothing."""
    before, after = run.string[max(run.start() - 1, 0) : run.start()], run.string[run.end() : run.end() + 1]
    signs = "".join(run[0].split())
    if after in _DIGITS and before in _DIGITS:
        return signs or " "
    if after in _DIGITS and run[0][-1] in "-." and (not before or len(run[0]) > 1):
        return run[0][-1]  # -5 is not 5, and .5 is not 5
    return "!" if after == "=" and signs.endswith("!") else ""


def instant(timestamp: str) -> float:
    """The moment that a note's timestamp names, for sorting; one without a zone is taken as UTC."""
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def is_expired(note: Note) -> bool:
    """Whether a note's time is over: a date counts until its end, in local time."""
    if not note.expires:
        return False
    from datetime import UTC, datetime

    now = datetime.now(UTC)
    if len(note.expires) == len("2026-12-31"):
        return note.expires < now.astimezone().date().isoformat()
    return instant(note.expires) < now.timestamp()


_HEAD = 4096
_ID = rb"(?m)^id:[ \t]*[\"']?([0-9]{1,18})"
# The header as co writes it, with no second id.
_OWN_ID = rb"---\nid: ([0-9]{1,18})\n(?:(?!id\b|---)[a-z_]+: [^\n]*\n)*---\n"
_NUMBERED = r"([0-9]{1,18})-"


def _fields(raw: bytes) -> dict[str, Any]:
    """The header of a file, as far as it can be read."""
    try:
        return parse_frontmatter(raw.decode("utf-8"))[0]
    except ValueError:
        return {}


def claimed_ids(raw: bytes) -> set[int]:
    """The ids that a file could claim: what its header says or, where that cannot be read, what looks like one."""
    found = re.match(_OWN_ID, raw)
    if found:
        return {int(found[1])}
    claimed = _fields(raw).get("id")
    if type(claimed) is int:
        return {claimed}
    found = re.search(_ID, raw[:_HEAD])
    return {int(found[1])} if found else set()


def numbers_in(path: str) -> list[int]:
    """The number that the name of a file begins with, if it does."""
    found = re.match(_NUMBERED, path.replace("\\", "/").rpartition("/")[2])
    return [int(found[1])] if found else []


class Ref(NamedTuple):
    """A parsed ref: which note is meant, and in which vault where that was said."""

    kind: str
    name: str
    vault: str = ""


def parse_ref(text: str) -> Ref | None:
    """Read ``12``, ``#12``, ``g:3``, ``topic:deploy``, ``g:article:rfc-9110`` or ``context``; ``None`` for anything else."""
    match = re.fullmatch(_REF, text.strip())
    if not match:
        return None
    vault = {"g": GLOBAL, "p": PROJECT, None: ""}[match["vault"]]
    name = match["name"]
    if name == CONTEXT and not match["kind"]:
        return Ref(CONTEXT, name, vault or PROJECT)
    if match["kind"] in (TOPIC, ARTICLE):
        return Ref(match["kind"], name, vault)
    number = re.fullmatch(r"#?([0-9]{1,18})", name)
    return Ref(MEMORY, str(int(number[1])), vault) if number else None
