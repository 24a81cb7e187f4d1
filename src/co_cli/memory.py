"""What a text must be to be kept, and the bytes that a kept text becomes.

Owns the checks of a memory's text, tags and expiry, what counts as saying the same, and how a note is revised. Knows
nothing of scopes, surfaces or search.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from co_cli.errors import Conflict, Denied, Invalid
from co_cli.frontmatter import CATEGORIES, replace_fields, split_frontmatter
from co_cli.languages import language_name
from co_cli.note import CONTEXT, GLOBAL, MEMORY, Note, NoteError, clean_tags, fold, is_expired, parse_note
from co_cli.succession import as_written, linked, stands

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from co_cli.draft import Draft
    from co_cli.vault import Vault

CONTENT_LIMIT = 50 * 1024 * 1024
"""Bytes of a memory's text above which it is refused: such a text is a document, not a memory."""

_DAYS = r"([0-9]{1,5})([dwmy])"
_UNIT = {"d": 1, "w": 7, "m": 30, "y": 365}


def keyed(vault: Vault, category: str, key: str, language: str = "") -> Note | None:
    """The memory of a vault that has this category and key, and is for the same programming language or for all."""
    wanted = (category, key, language_name(language))
    needle = max(re.findall("[A-Za-z0-9_]+", key), key=len, default="").encode()  # a header may quote the rest
    notes = vault.scan((MEMORY,), wanted=lambda raw: needle in raw).notes
    same = [
        note for note in notes if (note.category, note.key, language_name(note.language)) == wanted and stands(vault, note)
    ]
    return max(same, key=lambda note: note.id or 0, default=None)


def twins(vault: Vault, content: str) -> Iterable[Note]:
    """The memories of a vault that say the same, but for case, white space and punctuation, and stand."""
    folded = fold(content)
    longest = max(re.findall(r"\w+", _plain(content)), key=len, default="")

    def plausible(raw: bytes) -> bool:
        return longest in _plain(raw.decode("utf-8", "replace"))

    notes = vault.scan((MEMORY,), wanted=plausible).notes
    same = (note for note in notes if fold(note.body) == folded and stands(vault, note))
    return sorted(same, key=lambda note: note.id or 0)


def _plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    import unicodedata

    return unicodedata.normalize("NFKC", text.casefold()).casefold()


def enriched(note: Note, content: str | None, fields: Mapping[str, object]) -> Note:
    """A note with another text, and with the fields that were asked for; what has expired is renewed."""
    wanted: dict[str, object | None] = {name: value for name, value in fields.items() if value and name != "source"}
    wanted["tags"] = [*clean_tags([*note.tags, *_texts(fields.get("tags"))])]
    if is_expired(note) and not fields.get("expires"):
        wanted["expires"] = None
    return revise(note, content=content, fields=wanted)


def revise(note: Note, *, text: str | None = None, content: str | None = None, fields: Mapping[str, object | None]) -> Note:
    """A note as another document, with another text, or with other fields; nothing else moves.

    The update is dated where words changed. Raises ``Invalid`` for what co could not read again.
    """
    place: dict[str, str] = {"kind": note.kind, "vault": note.vault, "path": note.path}
    edited = text is not None and encode(text) != note.raw
    base = reread(encode(text), **place) if text is not None else note
    emptied = content is not None and not content.strip()
    wanted = note.body if content is None else "" if emptied else check_content(content)
    new_text = wanted != note.body
    raw = encode(with_body(base.text, wanted)) if new_text else base.raw
    changes = {name: value for name, value in fields.items() if _current(base, name) != value}
    if changes or new_text or edited:
        raw = encode(_with_fields(raw.decode("utf-8"), base, changes, dated=new_text or edited))
    after = reread(raw, **place)
    if after.id != note.id:
        raise Invalid(f"The id of a memory stays: {note.id}, not {after.id}.")
    if (new_text or edited) and note.kind == MEMORY and not after.body:
        raise Invalid(f"{note.ref} would be empty.", f"Nothing was changed. To remove it: co forget {note.ref}")
    return after


def with_body(text: str, content: str) -> str:
    """A document with another body: its header, its line endings and all else stay."""
    body = split_frontmatter(text)[1]
    ending = "\r\n" if "\r\n" in text else "\n"
    head = text[: len(text) - len(body)]
    if head and not head.endswith("\n"):
        head += ending * 2
    return head + content.replace("\n", ending) + ending


def _with_fields(text: str, note: Note, changes: Mapping[str, object | None], *, dated: bool) -> str:
    bare = split_frontmatter(text)[0] is None
    if dated and not bare:
        changes = {**changes, "updated": now()}
    if bare and any(changes.values()) and note.kind == CONTEXT:
        changes = {"version": 1, "updated": now(), **changes}
    return replace_fields(text, changes) if changes else text


def replace(draft: Draft, vault: Vault, before: Note, after: Note) -> Note:
    """Put a revised note in place of the one that was read; a memory that becomes private loses its telling name."""
    if before.private or not after.private or before.kind != MEMORY:
        draft.replace(before, after.raw)
        return after
    path = vault.memory_path(after.id or 0, "", private=True)
    draft.create(path, after.raw)
    draft.remove(before)
    return reread(after.raw, kind=after.kind, vault=after.vault, path=path)


def moved(note: Note, vault: Vault, *, language: str = "") -> Note:
    """A note as it would be in the other vault; raises ``Conflict`` where there is one that says the same already."""
    if note.kind == MEMORY:
        twin = next(iter(twins(vault, note.body)), None)
        same_key = keyed(vault, note.category, note.key, language) if note.key else None
        if twin or same_key:
            known = twin or same_key or note
            hint = f"Forget one of them: co forget {note.ref}"
            raise Conflict(f"{known.ref} {'says this' if twin else f'has the key {note.key!r}'} there already.", hint)
        number = vault.next_id()
        name = language_name(language) if vault.name == GLOBAL else ""
        scope = {"language": name or None, "scope": "language" if name else "global" if vault.name == GLOBAL else None}
        if vault.name == GLOBAL and not language and note.language:
            scope = {"scope": "language"}
        # the numbers of the notes that it replaced, or that replaced it, are those of the other vault
        alone: dict[str, object | None] = {"supersedes": None, "superseded_by": None}
        raw = encode(replace_fields(note.text, {"id": number, **scope, **alone}))
        path = vault.memory_path(number, note.body, private=note.private)
    else:
        raw, path = note.raw, vault.path_of(note.kind, f"{note.slug}.md")
        if vault.find(note.kind, note.slug):
            raise Conflict(f"There is a {note.kind} {note.slug} there already.", "Rename or delete one of the two.")
    return reread(raw, kind=note.kind, vault=vault.name, path=path)


def changed_meanwhile(note: Note, wanted: str) -> Conflict:
    """The error for a note that another program changed since it was read; it shows both sides."""
    from co_cli.draft import difference

    return Conflict(
        f"{note.path} was changed by another program meanwhile.",
        "Nothing was overwritten. Look at both, then try again.",
        details=difference(note.raw, encode(wanted), "as it is now", "as it would have become"),
    )


def needs_privacy(note: Note, text: str | None, content: str | None, *, private: bool | None, force: bool) -> bool:
    """Whether new words make a note private that was not; refuses a secret as ``must_be_private`` does."""
    if text is None and content is None:
        return False
    stays_private = private if private is not None else note.private
    insisted = force or (note.private and stays_private)  # a private note may hold what only such a note may
    return must_be_private(content or text or "", private=stays_private, force=insisted) and not stays_private


def _current(note: Note, name: str) -> object:
    value = getattr(note, name)
    return list(value) if isinstance(value, tuple) else value or None


def _texts(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else []


def rewritten(vault: Vault, leaving: Iterable[Note]) -> list[tuple[Note, Note]]:
    """The memories that speak of some that will be gone, before and after: what those superseded stands again."""
    gone = {note.id for note in leaving if note.kind == MEMORY and (note.supersedes or note.superseded_by)}
    if not gone:
        return []
    pairs = []
    for note in linked(vault):
        fields: dict[str, object | None] = {}
        if note.superseded_by in gone:
            fields["superseded_by"] = None
        if gone & {*note.supersedes}:
            fields["supersedes"] = as_written(number for number in note.supersedes if number not in gone)
        if fields and note.id not in gone:
            pairs.append((note, revise(note, fields=fields)))
    return pairs


def name_notes(notes: list[Note]) -> str:
    """The notes as the log names them."""
    return notes[0].label if len(notes) == 1 else f"{len(notes)} notes ({', '.join(note.ref for note in notes)})"


def name_revision(before: Note, after: Note) -> str:
    """What was done to a note, as the log says it."""
    repinned = before._replace(raw=after.raw, pinned=after.pinned) == after and before.pinned != after.pinned
    return ("pinned" if after.pinned else "unpinned") if repinned else "edited"


def reread(raw: bytes, *, kind: str, vault: str, path: str) -> Note:
    """Read back what is about to be written: what co could not read again, it does not write."""
    try:
        return parse_note(raw, kind=kind, vault=vault, path=path)
    except NoteError as error:
        problem = error.problem
        raise Invalid(f"Line {problem.line}: {problem.message}.", "Nothing was changed.", code=problem.code) from error


def encode(text: str) -> bytes:
    """The bytes of a text as co writes it."""
    return text.encode("utf-8")


def check_content(content: str) -> str:
    """The text of a memory without the white space around it; raises ``Invalid`` for one that cannot be kept."""
    content = content.strip().replace("\r\n", "\n").removeprefix("\ufeff")
    if not content.strip():
        raise Invalid("There is nothing to remember: the text is empty.", 'Say it in a sentence: co learn "We use pytest."')
    check_words(content)
    size = len(encode(content))
    if size > CONTENT_LIMIT:
        raise Invalid(
            f"The text has {size} bytes; a memory has at most {CONTENT_LIMIT}.", "Shorten it, or cut it into several facts."
        )
    return content


def check_words(*words: str) -> None:
    """Raise ``Invalid`` for what makes a file no text: half of a character, or a NUL."""
    try:
        for word in words:
            if b"\0" in encode(word):
                raise Invalid("The text has a NUL, so it is no text.", "Leave it out.")
    except UnicodeEncodeError as error:
        message = "The text has a character that is none (a lone surrogate)."
        raise Invalid(message, "Leave it out, or mend its encoding.") from error


def check_category(category: str) -> None:
    """Raise ``Invalid`` unless this is a category, or none."""
    if category and category not in CATEGORIES:
        raise Invalid(f"There is no category {category!r}.", f"Categories: {', '.join(CATEGORIES)}.")


def check_fields(
    content: str,
    *,
    tags: tuple[str, ...],
    source: str,
    category: str,
    key: str,
    language: str,
    expires: str,
    pinned: bool,
    private: bool,
    force: bool,
) -> dict[str, object]:
    """The fields of a new memory; raises ``Invalid`` or ``Denied`` for what cannot be kept."""
    check_category(category)
    check_words(key, language, *tags)
    return {
        "tags": [*tags],
        "source": source,
        "category": category,
        "key": key,
        "scope": "language" if language else "",
        "language": language_name(language),
        "expires": parse_expiry(expires),
        "pinned": pinned,
        "private": must_be_private("\n".join((f"{key}: {content}", *tags)), private=private, force=force),
    }


def must_be_private(content: str, *, private: bool, force: bool) -> bool:
    """Whether a text is to be kept private; one that looks like a secret is refused unless that was insisted upon."""
    from co_cli.credentials import find_secret

    secret = find_secret(content)
    if secret and not force:
        raise Denied(
            f"This looks like {secret}: it was not saved.",
            "Leave it out, or keep it as a private note with --force.",
            code="secret",
        )
    return private or bool(secret)


def now() -> str:
    """The moment as co writes it."""
    from datetime import UTC, datetime

    return datetime.now(UTC).isoformat(timespec="seconds")


def parse_expiry(text: str) -> str:
    """The day on which a note expires: a date, a timestamp, or a span from today such as 30d, 2w, 6m or 1y."""
    text = text.strip()
    if not text:
        return ""
    from datetime import date, datetime, timedelta

    span = re.fullmatch(_DAYS, text.lower())
    try:
        if span:
            return (datetime.now().astimezone().date() + timedelta(days=int(span[1]) * _UNIT[span[2]])).isoformat()
        return date.fromisoformat(text).isoformat() if len(text) == len("2026-12-31") else _timestamp(text)
    except (ValueError, OverflowError) as error:
        raise Invalid(f"{text!r} is no date.", "Give a date (2026-12-31) or a span (30d, 2w, 6m, 1y).") from error


def _timestamp(text: str) -> str:
    from datetime import datetime

    return datetime.fromisoformat(text).isoformat(timespec="seconds")
