"""Where an article comes from: an address or a file, in the one form in which it is recognised, and reading what is there.

Owns that form, and what a document that was read says of itself beyond its bytes. Knows nothing of what is in it, nor of how
articles are kept.

A file of the project is named from the project's top and one of the user's from their home, so that the name holds on every
machine that has them.
"""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import Invalid, NotFound, Unavailable
from co_cli.files import read_bytes, reason

if TYPE_CHECKING:
    from co_cli.article import Details
    from co_cli.knowledge import KnowledgeBase

LARGEST = 100 * 1024 * 1024
"""Bytes of a file above which it is not read."""
TOO_LARGE, MISSING = "too-large", "missing"
_ADDRESS = r"(?i)[a-z][a-z0-9+.-]{1,20}://.*"
_BARE_ADDRESS = r"(?i)www\.\S+|(?:[a-z0-9-]+\.)+[a-z]{2,}/\S*"
_ENDINGS = {"html": ".html", "pdf": ".pdf", "markdown": ".md", "text": ".txt", "mail": ".eml"}


class Source(NamedTuple):
    """An address or a file."""

    written: str
    """How an article names it."""
    url: str = ""
    path: str = ""
    """The full path of the file; empty for an address."""


class Document(NamedTuple):
    """What lies at a source."""

    raw: bytes
    name: str
    content_type: str = ""
    charset: str = ""
    base_url: str = ""
    etag: str = ""
    last_modified: str = ""
    not_modified: bool = False
    """Whether it is what it was when the etag or the date that were handed in were learned; then there are no bytes."""
    moved_to: str = ""
    """The address that the page came from in the end, where that is another."""


def is_address(text: str) -> bool:
    """Whether a text is meant as an address rather than as a file."""
    return re.fullmatch(_ADDRESS, text) is not None


def address(text: str) -> Source:
    """The source that an address is; raises ``Invalid`` for what is none."""
    from co_cli.articles.web import canonical

    url = canonical(text)
    return Source(url, url=url)


def file(kb: KnowledgeBase, path: str, *, in_global: bool) -> Source:
    """The source that a file is."""
    folder, name = os.path.split(os.path.abspath(os.path.expanduser(path)))
    if not _is_text(path):
        shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        raise Invalid(f"The name of {shown} is no text, so nothing can be known by it.", "Rename it, and add it then.")
    full = os.path.join(os.path.realpath(folder), name)  # a link to a file keeps its name, whatever it leads to today
    tops = (("", kb.places.project),) if not in_global else ()
    for prefix, top in (*tops, ("~/", os.path.expanduser("~"))):
        inside = os.path.join(os.path.realpath(top), "")
        if full.startswith(inside) and len(inside) > 1:
            return Source(prefix + full[len(inside) :].replace(os.sep, "/"), path=full)
    return Source(full.replace(os.sep, "/"), path=full)


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def named(kb: KnowledgeBase, text: str, *, in_global: bool) -> Source:
    """The source that somebody names; raises where there is none."""
    if is_address(text):
        return address(text)
    if not os.path.lexists(os.path.expanduser(text)):
        hint = "Check its name."
        if re.fullmatch(_BARE_ADDRESS, text):
            hint = f"If it is a page, give the whole address: https://{text}"
        raise NotFound(f"There is no file {text}.", hint, code=MISSING)
    return file(kb, text, in_global=in_global)


def of(kb: KnowledgeBase, written: str) -> Source | None:
    """The source that an article names; ``None`` where that is neither an address nor a path."""
    if is_address(written):
        return Source(written, url=written)
    path = os.path.expanduser(written)
    if not os.path.isabs(path):
        path = os.path.join(kb.places.project, path)
    looks_like_path = "/" in written or re.search(r"\.[A-Za-z0-9]{1,8}$", written)
    return Source(written, path=path) if os.path.lexists(path) or looks_like_path else None


def read(kb: KnowledgeBase, source: Source, known: Details | None = None) -> Document:
    """Read what lies at a source; of a page that is known, only if it is another by now."""
    if not source.url:
        return Document(_read_file(source.path), os.path.basename(source.path))
    from co_cli.articles.web import fetch, policy

    conditions = {"etag": known.etag, "last_modified": known.last_modified} if known else {}
    page = fetch(source.url, policy(kb.settings()), **conditions)
    return Document(
        page.raw,
        _name_in(page.final_url),
        page.content_type,
        page.charset,
        page.final_url,
        page.etag,
        page.last_modified,
        page.not_modified,
        page.final_url if page.final_url != source.url else "",
    )


def _name_in(url: str) -> str:
    path = re.sub(r"[?#].*", "", url.partition("://")[2])
    host, _, rest = path.partition("/")
    return rest.rstrip("/").rpartition("/")[2] or host


def _read_file(path: str) -> bytes:
    try:
        found = os.stat(path)
        if stat.S_ISDIR(found.st_mode) or not stat.S_ISREG(found.st_mode):
            raise Invalid(f"{path} is no ordinary file.", "Name a file, or a folder of files.", code="not-a-file")
        if found.st_size > LARGEST:
            said = f"{path} is too large: it has {found.st_size >> 20:,} MB, and {LARGEST >> 20} are read at the most."
            raise Invalid(said, "Add the part of it that matters.", code=TOO_LARGE)
        raw = read_bytes(path)
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            raise NotFound(f"There is no file {path}.", "Check its name.", code=MISSING) from error
        raise Unavailable(f"{path} cannot be read: {reason(error)}.", "Check its permissions.") from error
    if raw is None:
        raise NotFound(f"There is no file {path}.", "Check its name.", code=MISSING)
    return raw


def file_name(name: str, kind: str) -> str:
    """The name of an original, with the ending of its kind where it has none that says what it is."""
    ending = _ENDINGS.get(kind, "")
    known = os.path.splitext(name)[1].lower()
    fits = not ending or known == ending or (kind != "html" and bool(known)) or known in (".htm", ".xhtml")
    return name if fits else f"{name}{ending}"
