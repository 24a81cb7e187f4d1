"""What a proposal is: something to be done with notes once a person says yes, as a file that can be read and edited.

Owns the kinds, the actions with what each takes, what makes two proposals the same, and the way from the bytes of a file to
a :class:`Proposal` and back. Knows nothing of folders and locks, nor of what the actions do. Pure.

The header says what is to be done and why; the body is the text that would be kept, and may be edited like any other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import Invalid
from co_cli.frontmatter import (
    FieldError,
    FrontmatterError,
    parse_frontmatter,
    render_document,
    replace_fields,
    split_frontmatter,
    validate_note_frontmatter,
)
from co_cli.note import GLOBAL, PROJECT, NoteError, Problem, decode, fold, line_of, numbers_in, slugify

if TYPE_CHECKING:
    from typing import Any

DRAFT, UPDATE, MERGED, CONTRADICTION, EXPIRY, STALE = "draft", "update", "merge", "contradiction", "expiry", "stale"
KINDS = {
    DRAFT: "something new",
    UPDATE: "another text for a note that is there",
    MERGED: "one note in place of several",
    CONTRADICTION: "two notes that cannot both hold",
    EXPIRY: "a note that has served its time",
    STALE: "a note that no longer fits what it speaks of",
}
"""Why something is proposed, in the words of people."""

SAVE, REVISE, SUPERSEDE, MERGE, TOPIC, ARTICLE = "save", "revise", "supersede", "merge", "topic", "article"
ARCHIVE, FORGET, MOVE = "archive", "forget", "move"

Value = str | int | bool | list[str]
_TEXT, _FLAG, _TAGS = "a text", "true or false", "a list of texts"
_MEMORY = {
    **dict.fromkeys(("category", "key", "language", "expires", "source", "created", "scope"), _TEXT),
    **dict.fromkeys(("pinned", "force"), _FLAG),
    "tags": _TAGS,
}
_OF_A_PAGE = ("source", "title", "name", "fetched", "sha256", "etag", "last_modified", "author", "date")
ACTIONS: Mapping[str, Mapping[str, str]] = {
    SAVE: _MEMORY,
    REVISE: {"tags": _TAGS, "expires": _TEXT, "pinned": _FLAG, "force": _FLAG},
    SUPERSEDE: {**_MEMORY, "by": _TEXT, "because": _TEXT},
    MERGE: {**_MEMORY, "because": _TEXT},
    TOPIC: {"name": _TEXT, "tags": _TAGS, "source": _TEXT, "created": _TEXT, "updated": _TEXT},
    ARTICLE: {**dict.fromkeys(_OF_A_PAGE, _TEXT), "tags": _TAGS},
    ARCHIVE: {},
    FORGET: {},
    MOVE: {"to": _TEXT, "language": _TEXT},
}
"""What is to be done, with the fields that each takes beside ``private``; see :mod:`co_cli.learning.actions`."""
WITH_TEXT = (SAVE, TOPIC, ARTICLE, MERGE)
"""The actions that make nothing without a text."""
WITH_REFS = (REVISE, SUPERSEDE, MERGE, ARCHIVE, FORGET, MOVE)
"""The actions that are about notes which are there."""

_OWN = ("kind", "action", "refs", "reason", "evidence", "seen", "proposed", "later", "fingerprint")
_PRIVATE = "private"
_QUOTE = 2000


class Evidence(NamedTuple):
    """What a proposal rests on."""

    quote: str = ""
    """The words that were said or written."""
    session: str = ""
    """Where: the name of a session, a file, or a client."""
    refs: tuple[str, ...] = ()
    """The notes that it rests on."""


class Proposal(NamedTuple):
    """One thing that waits for a yes."""

    kind: str
    vault: str
    """``project`` or ``global``: the vault that it is for, in whose inbox it waits."""
    action: str
    content: str = ""
    """The text that would be kept."""
    fields: Mapping[str, Value] = {}
    """What the action takes beside the text, by name."""
    refs: tuple[str, ...] = ()
    """The notes that it would change."""
    evidence: Evidence = Evidence()
    reason: str = ""
    """Why, in a sentence."""
    id: int = 0
    created: str = ""
    path: str = ""
    raw: bytes = b""
    later: str = ""
    """The day before which it is not shown."""
    fingerprint: str = ""
    """What it was proposed as, whatever somebody has made of its text since."""
    seen: tuple[str, ...] = ()
    """The notes that it would change, as they were: a mark for each, ``none`` where there was none."""

    @property
    def ref(self) -> str:
        """Its name among those of both vaults: ``p3`` or ``g2``."""
        return f"{self.vault[:1]}{self.id}"

    @property
    def private(self) -> bool:
        """Whether it is for nobody on another machine."""
        return self.fields.get(_PRIVATE) is True

    @property
    def label(self) -> str:
        """How the log and lists name it; a private one keeps its words to itself."""
        about = ", ".join(self.refs) or str(self.fields.get("name", ""))
        first = self.content.lstrip().partition("\n")[0][:_LABEL]
        words = "(private)" if self.private else f"{about}: {first}" if about and first else about or first
        return f"{self.ref} {self.kind} {words}".rstrip()


_LABEL = 60


_NO_MATTER = ("source", "created", _PRIVATE)
"""Fields that make no other proposal of the same."""


def identity(proposal: Proposal) -> str:
    """What proposals of the same thing have in common, whatever their case and punctuation; it gives no word away."""
    import hashlib

    named = (str(proposal.fields.get(name, "")) for name in ("name", "by", "to"))
    marks = {name: value for name, value in proposal.fields.items() if name not in _NO_MATTER}
    about = fold(proposal.content) if proposal.content.strip() else repr(sorted(marks.items()))
    parts = (proposal.kind, proposal.action, *sorted(proposal.refs), "", *map(fold, named), about)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def checked(proposal: Proposal) -> Proposal:
    """A proposal that can be written down; raises ``Invalid`` for one that nobody could accept."""
    from co_cli import memory

    try:
        _check(proposal)
        fields = {name: value for name, value in proposal.fields.items() if value != ""}
        quote = proposal.evidence.quote.strip()[:_QUOTE]
        evidence = Evidence(quote, proposal.evidence.session.strip(), tuple(map(str.strip, proposal.evidence.refs)))
        memory.check_words(proposal.content, proposal.reason, *_texts_of(fields), *proposal.refs, quote, evidence.session)
    except FieldError as error:
        taken = ", ".join(_takes(proposal.action)) or "none"
        hint = f"Fields of {proposal.action}: {taken}." if error.field in proposal.fields else ""
        raise Invalid(f"This cannot be proposed: {error}.", hint) from error
    content = proposal.content.strip().replace("\r\n", "\n").removeprefix("\ufeff").strip()
    return proposal._replace(
        content=content,
        fields=fields,
        evidence=evidence,
        reason=" ".join(proposal.reason.split()),
        refs=tuple(map(str.strip, proposal.refs)),
    )


def _texts_of(fields: Mapping[str, Value]) -> list[str]:
    return [text for value in fields.values() for text in (value if isinstance(value, list) else [str(value)])]


def _takes(action: str) -> Mapping[str, str]:
    return {**ACTIONS.get(action, {}), _PRIVATE: _FLAG}


def _check(proposal: Proposal) -> None:
    if proposal.kind not in KINDS:
        raise FieldError("kind", f"there is no kind {proposal.kind!r}; kinds: {', '.join(KINDS)}")
    if proposal.action not in ACTIONS:
        raise FieldError("action", f"there is no action {proposal.action!r}; actions: {', '.join(ACTIONS)}")
    taken = _takes(proposal.action)
    for name, value in proposal.fields.items():
        if name not in taken:
            raise FieldError(name, f"{proposal.action} takes no {name!r}")
        if not _fits(taken[name], value):
            raise FieldError(name, f"Field '{name}' must be {taken[name]}")
    if proposal.action in WITH_REFS and not proposal.refs:
        raise FieldError("action", f"{proposal.action} needs refs: the notes that it is about")
    if proposal.action in WITH_TEXT and not proposal.content.strip():
        raise FieldError("action", f"{proposal.action} needs a text, and that is empty")
    needed = {TOPIC: "name", ARTICLE: "source"}.get(proposal.action)
    if needed and not proposal.fields.get(needed):
        raise FieldError("action", f"{proposal.action} needs a {needed}")
    if proposal.action == MOVE and proposal.fields.get("to") not in (GLOBAL, PROJECT):
        raise FieldError("to", f"Field 'to' must be {GLOBAL} or {PROJECT}")
    if proposal.action == SUPERSEDE and bool(proposal.fields.get("by")) is bool(proposal.content.strip()):
        raise FieldError("by", "supersede needs either a text or by: the note that takes the place")


def _fits(kind: str, value: object) -> bool:
    if kind == _FLAG:
        return isinstance(value, bool)
    if kind == _TAGS:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return isinstance(value, str)


# ----------------------------------------------------------------------------------------------------------------- as a file


def name_of(proposal: Proposal) -> str:
    """The name of its file; that of a private one gives nothing away."""
    words = proposal.content.strip() or " ".join((str(proposal.fields.get("name", "")), *proposal.refs))
    return f"{proposal.id:04d}-{proposal.kind}-{'private' if proposal.private else slugify(words)}.md"


def render(proposal: Proposal) -> bytes:
    """The bytes of its file."""
    evidence = {name: value for name, value in proposal.evidence._asdict().items() if value}
    if proposal.evidence.refs:
        evidence["refs"] = _as_written(proposal.evidence.refs)
    header: dict[str, object] = {
        "kind": proposal.kind,
        "action": proposal.action,
        "refs": _as_written(proposal.refs),
        **proposal.fields,
        "reason": proposal.reason,
        "evidence": evidence,
        "seen": list(proposal.seen),
        "proposed": proposal.created,
        "later": proposal.later,
        "fingerprint": proposal.fingerprint,
    }
    kept = {name: value for name, value in header.items() if value or name in proposal.fields}
    return render_document(kept, proposal.content).encode("utf-8")


def parse(raw: bytes, *, vault: str, path: str) -> Proposal:
    """Read a proposal from the bytes of its file; raises :class:`NoteError` with path and line where they are none."""
    text = decode(raw, path)
    numbers = numbers_in(path)
    try:
        header, body = parse_frontmatter(text)
        proposal = _typed(header, body.strip(), vault)
        _check(proposal)
    except FrontmatterError as error:
        raise NoteError(Problem(path, error.reason, error.line, _HINT, code="bad-proposal")) from error
    except FieldError as error:
        raise NoteError(Problem(path, str(error), line_of(text, error.field), _HINT, code="bad-proposal")) from error
    if not numbers:
        hint = "Give the file a name that begins with a number and a hyphen, such as 0001-draft.md."
        raise NoteError(Problem(path, "the name of the file does not begin with a number", 1, hint, code="bad-proposal"))
    return proposal._replace(id=numbers[0], path=path, raw=raw)


_HINT = "Correct it by hand, or remove the file."


def _typed(header: Mapping[str, Any], body: str, vault: str) -> Proposal:
    validate_note_frontmatter({name: value for name, value in header.items() if name in _DATED})
    for name in ("kind", "action"):
        if not isinstance(header.get(name), str):
            raise FieldError(name, f"Missing required field: {name}")
    for name in ("reason", "proposed", "later", "fingerprint"):
        if not isinstance(header.get(name, ""), str):
            raise FieldError(name, f"Field '{name}' must be a text")
    later = header.get("later", "")
    if later and not re.fullmatch(r"\d{4}-\d\d-\d\d", later):
        raise FieldError("later", "Field 'later' must be a date, like 2026-12-31")
    fields = {name: value for name, value in header.items() if name not in _OWN and value is not None}
    if type(fields.get("by")) is int:  # whoever names a note by its number writes no quotes
        fields["by"] = str(fields["by"])
    return Proposal(
        kind=header["kind"],
        vault=vault,
        action=header["action"],
        content=body,
        fields=fields,
        refs=_refs(header.get("refs"), "refs"),
        evidence=_evidence(header.get("evidence")),
        reason=header.get("reason", ""),
        created=header.get("proposed", ""),
        later=later,
        fingerprint=header.get("fingerprint", ""),
        seen=_refs(header.get("seen"), "seen"),
    )


_DATED = ("tags", "category", "scope", "created", "updated", "private", "pinned")


def _evidence(value: object) -> Evidence:
    value = {} if value is None else value
    if not isinstance(value, Mapping) or not value.keys() <= {*Evidence._fields}:
        raise FieldError("evidence", f"Field 'evidence' must have no more than {', '.join(Evidence._fields)}")
    for name in ("quote", "session"):
        if not isinstance(value.get(name, ""), str):
            raise FieldError("evidence", f"Field 'evidence': {name} must be a text")
    return Evidence(value.get("quote", ""), value.get("session", ""), _refs(value.get("refs"), "evidence"))


def _refs(value: object, field: str) -> tuple[str, ...]:
    listed = [] if value is None else value if isinstance(value, list) else [value]
    if not all(isinstance(ref, (str, int)) and not isinstance(ref, bool) for ref in listed):
        raise FieldError(field, f"Field '{field}': refs must be a list such as [12, g:3]")
    return tuple(str(ref).strip() for ref in listed)


def _as_written(refs: tuple[str, ...]) -> list[object]:
    """Refs as people write them: numbers without quotes."""
    return [int(ref) if re.fullmatch(r"[1-9][0-9]{0,17}", ref) else ref for ref in refs]


def reworded(proposal: Proposal, content: str) -> bytes:
    """The bytes of its file with another text; the header stays as it is."""
    text = proposal.raw.decode("utf-8")
    body = split_frontmatter(text)[1]
    head = text[: len(text) - len(body)] if body else f"{text.rstrip()}\n\n"
    return f"{head}{content.strip()}\n".encode()


def postponed(proposal: Proposal, day: str) -> bytes:
    """The bytes of its file with the day before which it is not to be shown."""
    return replace_fields(proposal.raw.decode("utf-8"), {"later": day or None}).encode("utf-8")
