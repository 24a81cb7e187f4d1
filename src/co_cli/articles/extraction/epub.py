"""Books in EPUB, chapter by chapter.

Owns the order of the chapters, and which part of the folder is what. Reads with lxml.
"""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from co_cli.articles.extraction.archive import Archive
from co_cli.articles.extraction.document import CHARACTERS, Extracted, Original, broken, encrypted, no_text

if TYPE_CHECKING:
    from co_cli.articles.extraction.document import SignOfLife

_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
"""Ways to hide fonts from copying, which leave the text alone."""
_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def read_epub(original: Original, alive: SignOfLife) -> Extracted:
    """The chapters of a book in their order; links within the book are left as text."""
    archive = Archive(original.raw, "EPUB book", doctype=True)
    place, package = _package(archive)
    folder = posixpath.dirname(place)
    files = {
        element.get("id"): (
            posixpath.normpath(posixpath.join(folder, unquote(element.get("href") or ""))),
            element.get("media-type"),
        )
        for element in package.iter("{*}item")
    }
    hidden = _hidden(archive)
    parts: list[str] = []
    notices: list[str] = []
    size = 0
    for reference in package.iter("{*}itemref"):
        name, media = files.get(reference.get("idref"), ("", ""))
        if media not in _PAGES or size > CHARACTERS:
            continue
        if name in hidden:
            raise encrypted("EPUB book")
        alive()
        text = _chapter(archive.read(name))
        if text is None:
            notices.append(f"A chapter is missing: {posixpath.basename(name)}.")
        elif text:
            parts.append(text)
            size += len(text)
    if not parts:
        raise no_text("EPUB book")
    return replace(_said(package), markdown="\n\n".join(parts), notices=tuple(notices))


def _package(archive: Archive) -> tuple[str, Any]:
    """The part that lists all others, and its place."""
    container = archive.tree("META-INF/container.xml")
    root = container.find(".//{*}rootfile") if container is not None else None
    place = str(root.get("full-path") or "") if root is not None else ""
    place = place or next((name for name in archive.names if name.endswith(".opf")), "")
    package = archive.tree(place) if place else None
    if package is None:
        raise broken("EPUB book", "its list of chapters is missing")
    return place, package


def _chapter(content: bytes | None) -> str | None:
    from co_cli.articles.extraction.page import page_tree, prepare
    from co_cli.articles.extraction.rendering import rendered

    if content is None:
        return None
    tree = page_tree(Original(content))
    if tree is None:
        return ""
    prepare(tree)
    for element in list(tree.iter("a")):
        target = element.get("href") or ""
        if "://" not in target and not target.startswith("mailto:"):
            element.attrib.pop("href", None)
    for element in list(tree.iter("img")):
        element.attrib.pop("src", None)
    return rendered(next(tree.iter("body"), tree))


def _hidden(archive: Archive) -> set[str]:
    """The parts that are encrypted, but for fonts."""
    tree = archive.tree("META-INF/encryption.xml")
    found = set()
    for data in tree.iter("{*}EncryptedData") if tree is not None else ():
        method, reference = data.find("{*}EncryptionMethod"), data.find(".//{*}CipherReference")
        if reference is not None and (method is None or method.get("Algorithm") not in _FONTS):
            found.add(unquote(reference.get("URI") or ""))
    return found


def _said(package: Any) -> Extracted:  # noqa: ANN401 - an element of lxml
    names = {"title": "title", "creator": "author", "date": "date", "language": "language"}
    said: dict[str, str] = {}
    for element in package.iterfind("{*}metadata/{*}*"):
        name = names.get(element.tag.rpartition("}")[2])
        if name and element.text and element.text.strip():
            said.setdefault(name, " ".join(element.text.split()))
    return Extracted(
        title=said.get("title", ""),
        author=said.get("author", ""),
        date=said.get("date", ""),
        language=said.get("language", ""),
    )
