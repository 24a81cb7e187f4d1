"""What a text must be to be kept, and the bytes that a kept text becomes.

Owns the checks of a memory's text, tags and expiry, what counts as saying the same, and how a note is revised. Knows
nothing of scopes, surfaces or search.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from co_cli.errors import Denied, Invalid
from co_cli.frontmatter import CATEGORIES
from co_cli.note import MEMORY, Note, NoteError, fold, parse_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from co_cli.vault import Vault

CONTENT_LIMIT = 50 * 1024 * 1024
"""Bytes of a memory's text above which it is refused: such a text is a document, not a memory."""

_DAYS = r"([0-9]{1,5})([dwmy])"
_UNIT = {"d": 1, "w": 7, "m": 30, "y": 365}


def twins(vault: Vault, content: str) -> Iterable[Note]:
    """The memories of a vault that say the same, but for case, white space and punctuation."""
    folded = fold(content)
    longest = max(re.findall(r"\w+", content.casefold()), key=len, default="")

    def plausible(raw: bytes) -> bool:
        return longest in raw.decode("utf-8", "replace").casefold()

    notes = vault.scan((MEMORY,), wanted=plausible).notes
    return sorted((note for note in notes if fold(note.body) == folded), key=lambda note: note.id or 0)


def revise(note: Note, *, content: str | None = None, fields: Mapping[str, object | None], edited: bool = False) -> bytes:
    """The bytes of a note with another text or other fields; nothing else moves. The update is dated where words changed."""
    from co_cli.frontmatter import replace_fields, split_frontmatter

    text = note.text
    body = split_frontmatter(text)[1]
    new_text = content is not None and content != note.body
    if new_text:
        ending = "\r\n" if "\r\n" in text else "\n"
        text = text[: len(text) - len(body)] + (content or "").strip().replace("\n", ending) + ending
    changes = {name: value for name, value in fields.items() if _current(note, name) != value}
    if new_text or edited:
        changes["updated"] = now()
    has_header = split_frontmatter(text)[0] is not None
    return encode(replace_fields(text, changes) if changes and has_header else text)


def _current(note: Note, name: str) -> object:
    value = getattr(note, name)
    return list(value) if isinstance(value, tuple) else value or None


def name_notes(notes: list[Note]) -> str:
    """The notes as the log names them."""
    first = f"{notes[0].ref}: {notes[0].summary}"
    return first if len(notes) == 1 else f"{len(notes)} notes ({', '.join(note.ref for note in notes)})"


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
        raise Invalid(f"The text has {size} bytes; a memory has at most {CONTENT_LIMIT}.", "Keep it as an article instead.")
    return content


def check_words(*words: str) -> None:
    """Raise ``Invalid`` for what no file can hold: half of a character."""
    try:
        for word in words:
            encode(word)
    except UnicodeEncodeError as error:
        message = "The text has a character that is none (a lone surrogate)."
        raise Invalid(message, "Leave it out, or mend its encoding.") from error


def check_category(category: str) -> None:
    """Raise ``Invalid`` unless this is a category, or none."""
    if category and category not in CATEGORIES:
        raise Invalid(f"There is no category {category!r}.", f"Categories: {', '.join(CATEGORIES)}.")


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
