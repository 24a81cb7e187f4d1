"""Articles: pages and files that were taken in, each with its source and, where there is one, its original.

Owns their fields and names, which article a source has, and what becomes of one that is taken in again. Knows nothing of
fetching or reading documents, nor of surfaces, search or prompts.
"""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING, NamedTuple

from co_cli import attachment, memory
from co_cli.attachment import Attachment
from co_cli.errors import CoError, Conflict, Denied, Invalid, NotFound
from co_cli.frontmatter import parse_frontmatter, render_document, replace_fields
from co_cli.note import ARTICLE, GLOBAL, Note, clean_tags, parse_ref, sha_of, slugify

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from co_cli.draft import Draft
    from co_cli.vault import Vault

NO_TEXT = "no-text"
"""The code of the error for a document in which there are no words."""

_ADDRESS = r"(?i)[a-z][a-z0-9+.-]*://([^/?#]*)([^?#]*)"
_GENERIC = frozenset(("article", "index", "readme", "untitled", "document", "home", "default"))
_SLUG_LENGTH = 80


class Incoming(NamedTuple):
    """What is to become an article: a text, where it comes from, and what is known about it."""

    content: str
    source: str
    """An address or a path, in the one form in which it is to be recognised."""
    title: str = ""
    titled: bool = False
    """Whether somebody chose the title: then it is put in place of an old one in any case."""
    tags: tuple[str, ...] = ()
    fetched: str = ""
    sha256: str = ""
    """The hash of the original; that of the attachment, where there is one."""
    attachment: Attachment | None = None
    etag: str = ""
    last_modified: str = ""
    author: str = ""
    date: str = ""
    private: bool = False
    name: str = ""
    """The slug that it is to have, where it is new and that is free."""


class Details(NamedTuple):
    """What the header of an article says of where it comes from."""

    source: str = ""
    fetched: str = ""
    sha256: str = ""
    attachment: str = ""
    etag: str = ""
    last_modified: str = ""
    author: str = ""
    date: str = ""


def details(note: Note) -> Details:
    """What an article says of where it comes from."""
    fields = _fields(note.raw)
    return Details(**{name: str(fields[name]) for name in Details._fields if fields.get(name) is not None})


def _fields(raw: bytes) -> Mapping[str, object]:
    try:
        return parse_frontmatter(raw.decode("utf-8"))[0]
    except ValueError:
        return {}


# ------------------------------------------------------------------------------------------------------------------- names


def slug_of(incoming: Incoming) -> str:
    """The slug of a new article: from its title, else from its source; that of a private one says nothing about it."""
    if incoming.private:
        return f"{sha_of(incoming.source.encode())[:8]}-private"
    slugs = [slugify(words, otherwise="") for words in (incoming.name, incoming.title, *_words_of(incoming.source))]
    slugs = [slug for slug in slugs if slug]
    telling = [slug for slug in slugs if slug not in _GENERIC]
    return next(iter((*telling, *slugs)), "article")


def _words_of(source: str) -> Iterator[str]:
    """The parts of a source that may say what it is about, the most telling first."""
    found = re.match(_ADDRESS, source)
    path = found[2] if found else source.replace("\\", "/")
    for part in reversed(path.split("/")):
        yield os.path.splitext(part)[0]
    if found:
        yield found[1]


def named(vaults: Sequence[Vault], sources: Mapping[str, Sources], name: str) -> Note:
    """The article that a slug, a ref or a source names, the project's before that of all projects."""
    ref = parse_ref(name if name.removeprefix("g:").removeprefix("p:").startswith(f"{ARTICLE}:") else f"{ARTICLE}:{name}")
    for vault in vaults:
        if ref and ref.vault in ("", vault.name) and os.path.basename(ref.name) == ref.name:
            note = vault.find(ARTICLE, ref.name)
            if note:
                return note
    for vault in vaults:
        note = sources[vault.name].find(name)
        if note:
            return note
    import difflib

    known = sorted({each for vault in vaults for each in vault.names(ARTICLE)})
    near = difflib.get_close_matches(name, known, n=3)
    hint = f"Did you mean {', '.join(near)}?" if near else "`co article list` shows what there is."
    raise NotFound(f"There is no article {name}.", hint)


class Sources:
    """Which article of a vault was taken from which source; whoever asks gets what the files say now."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._stamps: dict[tuple[bool, str], int] = {}
        self._sources: dict[tuple[bool, str], str] = {}
        self._places: dict[str, set[tuple[bool, str]]] = {}
        self._looked = float("-inf")

    def find(self, source: str, age: float = 0.0) -> Note | None:
        """The article that was taken from a source, the archive included; ``None`` if there is none.

        The last look at the files may be so many seconds old; what is found is read as it is now in any case.
        """
        if self._vault.rehearses:  # what would be there has no stamps
            notes = (note for archived in (False, True) for note in self._vault.scan((ARTICLE,), archived=archived).notes)
            return next((note for note in notes if note.source == source), None)
        if time.monotonic() - self._looked > age:
            self._look()
        for archived, name in sorted(self._places.get(source, ())):
            folder = os.path.dirname(self._vault.path_of(ARTICLE, name, archived=archived))
            try:
                note = self._vault.read(os.path.join(folder, name), ARTICLE)
            except CoError:  # no longer what it was a moment ago
                continue
            if note.source == source:
                return note
        return None

    def _look(self) -> None:
        self._looked = time.monotonic()
        seen: dict[tuple[bool, str], int] = {}
        for archived in (False, True):
            stamps = self._vault.stamps(ARTICLE, [], archived=archived) or {}
            seen.update(((archived, name), stamp) for name, stamp in stamps.items())
        for place in self._stamps.keys() - seen.keys():
            self._forget(place)
        changed = [place for place, stamp in seen.items() if self._stamps.get(place) != stamp]
        for archived in (False, True):
            wanted = [name for in_archive, name in changed if in_archive is archived]
            for path, raw in self._vault.named_files(ARTICLE, wanted, [], archived=archived) if wanted else ():
                place = (archived, os.path.basename(path))
                self._forget(place)
                self._sources[place] = str(_fields(raw).get("source") or "")
                self._places.setdefault(self._sources[place], set()).add(place)
                self._stamps[place] = seen[place]

    def _forget(self, place: tuple[bool, str]) -> None:
        self._stamps.pop(place, None)
        self._places.get(self._sources.pop(place, ""), set()).discard(place)


# ----------------------------------------------------------------------------------------------------------------- writing


def check(incoming: Incoming) -> Incoming:
    """What is to be kept, without the white space around it; raises ``Invalid`` or ``Denied`` where it cannot be."""
    from co_cli.credentials import find_secret

    if not incoming.content.strip("\ufeff \t\r\n"):
        raise Invalid("There is no text in it.", "What is not text cannot be found by its words.", code=NO_TEXT)
    if not incoming.source.strip():
        raise Invalid("An article needs a source.", "Name the address or the path that it comes from.")
    tags = clean_tags(incoming.tags)
    title = " ".join(incoming.title.split())[:300]
    memory.check_words(incoming.source, title, incoming.author, incoming.date, incoming.etag, incoming.last_modified, *tags)
    content = memory.check_content(incoming.content)
    secret = "" if incoming.private else find_secret("\n".join((content, title, incoming.source, *tags)))
    if secret:
        hint = "Take it out, or keep the article to yourself: --private"
        raise Denied(f"There is what looks like {secret} in it: it was not kept.", hint, code="secret")
    sha256 = sha_of(incoming.attachment.raw) if incoming.attachment else incoming.sha256
    return incoming._replace(content=content, title=title, tags=tags, sha256=sha256)


def write(draft: Draft, vault: Vault, incoming: Incoming, known: Note | None, taken: set[str]) -> tuple[Note, str]:
    """Put an article into a draft, new or in place of the one from the same source; returns it with ``created``,
    ``updated`` or ``unchanged``.

    To be called while the vault is locked, with what has been checked. ``taken`` are the slugs that the draft uses already.
    """
    if known and vault.is_archived(known):
        raise Conflict(f"{known.ref} is in the archive.", f"Bring it back first: co knowledge --restore {known.ref}")
    if known:
        return _write_again(draft, vault, incoming, known)
    slug = _free_slug(vault, slug_of(incoming), taken)
    path = vault.path_of(ARTICLE, f"{slug}.md")
    original = attachment.put(draft, vault, incoming.attachment, private=incoming.private) if incoming.attachment else ""
    fields = {
        "source": incoming.source,
        "fetched": incoming.fetched or memory.now(),
        "title": incoming.title or slug,
        "tags": [*incoming.tags],
        **{name: value for name, value in _optional(incoming, original).items() if value},
    }
    note = _reread(render_document(fields, incoming.content), vault, path)
    draft.create(path, note.raw)
    taken.add(slug)
    return note, "created"


def _optional(incoming: Incoming, original: str) -> dict[str, object]:
    return {
        "author": incoming.author,
        "date": incoming.date,
        "attachment": original,
        "sha256": incoming.sha256,
        "etag": incoming.etag,
        "last_modified": incoming.last_modified,
        "private": incoming.private,
    }


def _free_slug(vault: Vault, slug: str, taken: set[str]) -> str:
    """The slug itself or, where another article has it, the same with a number behind it."""
    slug = slug[:_SLUG_LENGTH].rstrip("-.")
    number, free = 1, slug
    while free in taken or vault.find(ARTICLE, free):
        number += 1
        free = f"{slug}-{number}"
    return free


def _write_again(draft: Draft, vault: Vault, incoming: Incoming, known: Note) -> tuple[Note, str]:
    """What becomes of an article whose source is taken in again; its text stays where the original is the same."""
    before, private = details(known), known.private or incoming.private
    same = before.sha256 == incoming.sha256 if incoming.sha256 else known.body == incoming.content
    changes: dict[str, object | None] = {"private": True} if private and not known.private else {}
    tags = clean_tags((*known.tags, *incoming.tags))
    if tags != known.tags:
        changes["tags"] = [*tags]
    if incoming.title and (incoming.titled or not same):
        changes["title"] = incoming.title
    if not same:
        original = attachment.put(draft, vault, incoming.attachment, private=private) if incoming.attachment else ""
        changes.update({name: value for name, value in _optional(incoming, original).items() if value})
        if incoming.sha256:  # what was known of the old original does not hold for the new one
            old = ("attachment", "etag", "last_modified", "author", "date")
            changes.update(dict.fromkeys(name for name in old if name not in changes))
        changes.update({"fetched": incoming.fetched or memory.now(), "updated": memory.now()})
    lost = same and before.attachment and attachment.content(vault, before.attachment) is None
    if lost and incoming.attachment:
        attachment.bring_back(draft, vault, before.attachment, incoming.attachment.raw)
    text = known.text if same else memory.with_body(known.text, incoming.content)
    after = _reread(replace_fields(text, changes), vault, known.path)
    if after.raw == known.raw:
        return known, "updated" if lost and incoming.attachment else "unchanged"
    return replace(draft, vault, known, after), "updated"


def replace(draft: Draft, vault: Vault, before: Note, after: Note) -> Note:
    """Put a revised article in place of the one that was read; one that becomes private loses its telling names, and so does
    its original.
    """
    if before.private or not after.private:
        draft.replace(before, after.raw)
        return after
    text, found = after.text, details(after)
    raw = attachment.content(vault, found.attachment)
    if raw is not None:
        hidden = attachment.put(draft, vault, Attachment(found.attachment, raw), private=True)
        text = replace_fields(text, {"attachment": hidden})
    slug = _free_slug(vault, slug_of(Incoming("", found.source or before.slug, private=True)), set())
    after = _reread(text, vault, vault.path_of(ARTICLE, f"{slug}.md", archived=vault.is_archived(before)))
    draft.create(after.path, after.raw)
    draft.remove(before)
    return after


def _reread(text: str, vault: Vault, path: str) -> Note:
    return memory.reread(memory.encode(text), kind=ARTICLE, vault=vault.name, path=path)


def home(
    vaults: Sequence[Vault], sources: Mapping[str, Sources], source: str, *, in_global: bool, age: float = 0.0
) -> Vault:
    """The vault that an article from this source is to be written to: where there is one already, else the project's."""
    by_name = {vault.name: vault for vault in vaults}
    if in_global:
        return by_name[GLOBAL]
    return next((vault for vault in vaults if sources[vault.name].find(source, age)), vaults[0])


def summary(done: Sequence[tuple[Note, str]]) -> str:
    """What was done to articles, as the log says it."""
    verbs = {"created": "took in", "updated": "updated"}
    if len(done) == 1:
        note, outcome = done[0]
        return f"{verbs[outcome]} {note.label if note.private else f'{note.ref}: {note.title}'}"
    if not done:
        return ""
    counts = {verb: sum(each == outcome for _, each in done) for outcome, verb in verbs.items()}
    return f"{', '.join(f'{verb} {count}' for verb, count in counts.items() if count)} articles"
