"""Documents that are packed folders of XML: Office files and EPUB.

Owns how much may be unpacked, and what no such document has any honest use for. Knows nothing of what the parts mean.
"""

from __future__ import annotations

import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from co_cli.articles.extraction.document import MEGABYTE, UNPACKED_LIMIT, Extracted, broken, encrypted, too_large

if TYPE_CHECKING:
    from collections.abc import Iterator

_PARTS = 20_000
_RATIO, _HARMLESS = 200, 10 * MEGABYTE
"""Text shrinks to a tenth, or a fiftieth where it repeats itself; what shrinks more is made to fill a memory."""
_CHUNK = 64 * 1024
_ENCRYPTED = 0x1
_XML = (".xml", ".rels", ".opf", ".ncx", ".xhtml", ".html", ".htm")


class Archive:
    """A packed folder whose parts can be read one by one, never more than the limit together."""

    def __init__(self, raw: bytes, what: str, *, doctype: bool = False) -> None:
        import io

        self._what, self._left = what, UNPACKED_LIMIT
        try:
            self._file = zipfile.ZipFile(io.BytesIO(raw))
            parts = self._file.infolist()
        except (zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError) as error:
            raise broken(what, str(error)) from error
        if any(part.flag_bits & _ENCRYPTED for part in parts):
            raise encrypted(what)
        if len(parts) > _PARTS:
            raise too_large(what, f"it has {len(parts):,} parts")
        self.names = [part.filename for part in parts]
        unpacked = sum(part.file_size for part in parts)
        if unpacked > UNPACKED_LIMIT or any(_swells(part) for part in parts):
            raise too_large(what, f"unpacked it would take {unpacked // MEGABYTE:,} MB")
        self._doctype = doctype

    def read(self, name: str) -> bytes | None:
        """The bytes of a part; ``None`` where there is none of that name."""
        try:
            part = self._file.getinfo(name)
        except KeyError:
            return None
        content = bytearray()
        try:
            with self._file.open(part) as file:
                while chunk := file.read(_CHUNK):
                    content += chunk
                    self._left -= len(chunk)
                    if self._left < 0:  # what the list of parts says of their sizes need not be true
                        raise too_large(self._what, f"unpacked it takes more than {UNPACKED_LIMIT // MEGABYTE} MB")
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError) as error:
            raise broken(self._what, str(error)) from error
        return bytes(content)

    def check(self) -> None:
        """Read every part once, for a library that will unpack them without such care."""
        left = self._left
        for name in self.names:
            content = self.read(name)
            if not self._doctype and content and name.lower().endswith(_XML) and _declares(content):
                raise broken(self._what, "its XML declares entities, which no program of an office writes")
        self._left = left

    def tree(self, name: str) -> Any:  # noqa: ANN401 - an element of lxml
        """The tree of an XML part; ``None`` where there is none, or it is damaged."""
        from lxml import etree

        content = self.read(name)
        if not content or (not self._doctype and _declares(content)):
            return None
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True)
        try:
            return etree.fromstring(content, parser)
        except etree.LxmlError:
            return None

    def parts(self, beginning: str) -> Iterator[str]:
        """The names of parts that begin so."""
        return (name for name in self.names if name.startswith(beginning))


def _swells(part: zipfile.ZipInfo) -> bool:
    return part.file_size > _HARMLESS and part.file_size > _RATIO * max(part.compress_size, 1)


def _declares(content: bytes) -> bool:
    """Whether XML has a part in which it could make names for what takes no end."""
    text = content if b"\0" not in content[:200] else content.replace(b"\0", b"")
    return b"<!DOCTYPE" in text or b"<!ENTITY" in text


def properties(archive: Archive) -> Extracted:
    """What an Office document says of itself, without its text."""
    tree = archive.tree("docProps/core.xml")
    said: dict[str, str] = {}
    for element in tree if tree is not None else ():
        if isinstance(element.tag, str) and element.text:
            said.setdefault(element.tag.rpartition("}")[2], " ".join(element.text.split()))
    return Extracted(
        title=said.get("title", ""),
        author=said.get("creator", ""),
        date=(said.get("created") or said.get("modified") or "")[:10],
        language=said.get("language", ""),
    )
