"""Topics: documents that everybody shares, each under a slug.

Owns slugs, which names mean the same topic, and what becomes of a topic that is written again. Knows nothing of surfaces,
search or prompts.

People and models seldom spell a name twice in the same way. So a topic is found by what its names have in common: "discord
setup", "Discord_Setup" and "discord-setup" are one topic, "C", "C++" and "C#" are three.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from co_cli import memory
from co_cli.errors import Conflict, Denied, Invalid, NotFound
from co_cli.frontmatter import render_document, replace_fields
from co_cli.note import GLOBAL, PROJECT, TOPIC, Note, clean_tags

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from co_cli.draft import Draft
    from co_cli.vault import Vault

SOURCES = ("user", "seed", "api")
"""Where a topic can come from."""
SLUG_LENGTH = 80
_FILE_NAME = 240
"""Bytes that the name of a file may have on every system, less its ending and that of a temporary file."""

_VAULTS = {"g": GLOBAL, "p": PROJECT}
_NAME = r"(?s)(?:(?P<vault>[gp]):)?(?:topic:)?(?P<name>.*)"
_SEPARATORS = str.maketrans("", "", "_-. ")
_RUN = re.compile(r"[_\-. ]+")


class Address(NamedTuple):
    """The name of a topic as somebody wrote it: a slug, and the vault where that was said."""

    slug: str
    vault: str = ""


def address(name: str) -> Address:
    """Read the name of a topic: ``Discord Setup``, ``topic:discord_setup`` or ``g:discord_setup``; raises ``Invalid``."""
    match = re.fullmatch(_NAME, name.strip())
    vault, words = ("", name) if match is None else (match["vault"] or "", match["name"])
    return Address(slug_of(words), _VAULTS.get(vault, ""))


def slug_of(name: str) -> str:
    """The slug of a name: lower case, an underscore for what no file name should have; raises ``Invalid`` for no name."""
    import unicodedata

    memory.check_words(name)
    text = unicodedata.normalize("NFC", name[: 4 * SLUG_LENGTH]).strip().lower().removesuffix(".md")
    kept = (sign if sign.isalnum() or sign in "_-.+#" or unicodedata.category(sign)[0] == "M" else " " for sign in text)
    slug = re.sub(r"[_\-.]* [_\-. ]*|[_\-.]{2,}", "_", "".join(kept)).strip("_-.").lstrip("#_-.")
    if not any(sign.isalnum() for sign in slug):
        raise Invalid(f"{name[:SLUG_LENGTH]!r} is no name for a topic.", "Name it with a few letters, such as deploy_steps.")
    if len(slug) > SLUG_LENGTH or len(slug.encode()) > _FILE_NAME:
        hint = f"Name it in at most {SLUG_LENGTH} characters; the rest belongs into the text."
        raise Invalid(f"The name {slug[:40]!r}… is too long for a topic.", hint)
    return slug


def essence(slug: str) -> str:
    """What the slugs of one topic have in common; between two digits a separator counts, so 3.11 is not 311."""
    import unicodedata

    return _RUN.sub(_joint, unicodedata.normalize("NFKC", slug).casefold())


def _joint(run: re.Match[str]) -> str:
    before, after = run.string[: run.start()][-1:], run.string[run.end() : run.end() + 1]
    return "_" if before.isdigit() and after.isdigit() else ""


def find(vault: Vault, slug: str) -> Note | None:
    """The topic of a vault that this slug means, or ``None``; raises ``Conflict`` where it could mean several."""
    names = vault.names(TOPIC)
    if slug not in names:
        letters, wanted = slug.translate(_SEPARATORS), essence(slug)
        near = [name for name in names if name.casefold().translate(_SEPARATORS) == letters and essence(name) == wanted]
        if not near and not slug.isascii():
            near = [name for name in names if essence(name) == wanted]
        if len(near) > 1:
            refs = ", ".join(f"topic:{name}" for name in sorted(near))
            raise Conflict(f"{slug!r} could be any of {refs}.", "Name one of them as it is written there.")
        if not near:
            return None
        slug = near[0]
    return vault.find(TOPIC, slug)


def look_up(vaults: Iterable[Vault], name: str) -> Note | None:
    """The topic that a name means, the project's before that of all projects."""
    wanted = address(name)
    for vault in vaults:
        if wanted.vault in ("", vault.name):
            note = find(vault, wanted.slug)
            if note:
                return note
    return None


def named(vaults: Sequence[Vault], name: str) -> Note:
    """The topic that a name means; raises ``NotFound`` with those that look like it."""
    note = look_up(vaults, name)
    if note is None:
        import difflib

        slug = address(name).slug
        known = sorted({each for vault in vaults for each in vault.names(TOPIC)})
        near = difflib.get_close_matches(slug, known, n=3)
        hint = f"Did you mean {', '.join(near)}?" if near else "`co topic list` shows what there is."
        raise NotFound(f"There is no topic {slug}.", hint)
    return note


def home(vaults: Sequence[Vault], name: str, *, in_global: bool) -> tuple[Vault, str]:
    """The vault that a topic of this name is to be written to, and its slug: where it is already, else the project's."""
    wanted = address(name)
    asked = GLOBAL if in_global else wanted.vault
    known = None if asked else look_up(vaults, name)
    place = asked or (known.vault if known else PROJECT)
    return next(vault for vault in vaults if vault.name == place), wanted.slug


def write(
    draft: Draft,
    vault: Vault,
    slug: str,
    content: str,
    *,
    tags: Iterable[str] | None,
    source: str = "user",
    created: str = "",
    updated: str = "",
    expected_sha: str | None = None,
) -> tuple[Note, str]:
    """Put a topic into a draft, new or in place of its old text; returns it with ``created``, ``updated`` or ``unchanged``.

    To be called while the vault is locked. With ``expected_sha`` the topic has to be the one that was read; an empty one
    says that there was none.
    """
    content = check_content(content, () if tags is None else clean_tags(tags), source)
    known = find(vault, slug)
    if expected_sha is not None and (known.sha if known else "") != expected_sha:
        raise _changed(slug, known, content)
    if known is None:
        return create(draft, vault, slug, content, tags=tags or (), source=source, created=created, updated=updated)
    wanted = known.tags if tags is None else clean_tags(tags)
    if (known.body, known.tags) == (content, wanted):
        return known, "unchanged"
    fields: dict[str, object | None] = {"tags": [*wanted], "source": source, "updated": updated or memory.now()}
    after = memory.revise(known, content=content, fields=fields)
    if updated:
        after = _read(replace_fields(after.text, {"updated": updated}), vault, known.path)
    draft.replace(known, after.raw)
    draft.summary = f"updated {after.label}"
    return after, "updated"


def check_content(content: str, tags: Iterable[str], source: str) -> str:
    """The text of a topic without the white space around it; raises ``Invalid`` or ``Denied`` where it cannot be kept."""
    from co_cli.credentials import find_secret

    if source not in SOURCES:
        raise Invalid(f"A topic cannot come from {source!r}.", f"Sources: {', '.join(SOURCES)}.")
    if not content.strip("\ufeff \t\r\n"):
        raise Invalid("The topic has no text.", "Say what there is to know about it.")
    memory.check_words(*tags)
    content = memory.check_content(content)
    secret = find_secret("\n".join((content, *tags)))
    if secret:
        hint = "Topics are shared. Leave it out, or keep it to yourself: co learn --private --force"
        raise Denied(f"This looks like {secret}: it was not saved.", hint, code="secret")
    return content


def create(
    draft: Draft,
    vault: Vault,
    slug: str,
    content: str,
    *,
    tags: Iterable[str],
    source: str,
    created: str = "",
    updated: str = "",
) -> tuple[Note, str]:
    """Put a new topic into a draft; its text has been checked, and so has that there is none of this name."""
    if vault.find(TOPIC, slug):
        ref = f"{'g:' if vault.name == GLOBAL else ''}topic:{slug}"
        raise Conflict(f"{ref} is in the archive.", f"Bring it back first: co knowledge --restore {ref}")
    created = created or memory.now()
    fields = {
        "topic": slug,
        "tags": [*clean_tags(tags)],
        "source": source,
        "created": created,
        "updated": updated or created,
    }
    path = vault.path_of(TOPIC, f"{slug}.md")
    note = _read(render_document(fields, content), vault, path)
    draft.create(path, note.raw)
    draft.summary = f"wrote {note.label}"
    return note, "created"


def _read(text: str, vault: Vault, path: str) -> Note:
    return memory.reread(memory.encode(text), kind=TOPIC, vault=vault.name, path=path)


def _changed(slug: str, known: Note | None, content: str) -> Conflict:
    if known is None:
        return Conflict(f"The topic {slug} is not there any more.", "Nothing was written. Write it anew, or leave it.")
    return memory.changed_meanwhile(known, content)
