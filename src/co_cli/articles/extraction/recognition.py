"""What kind of document bytes are.

Owns how each kind is told from the others: by what the bytes are first, by their content type and name only where several
kinds of text look alike. A name or a content type that lies is not believed. Knows nothing of how a kind is read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from co_cli.articles.extraction.document import UNKNOWN_KIND, broken, encrypted
from co_cli.articles.extraction.encoding import is_binary
from co_cli.errors import Invalid

if TYPE_CHECKING:
    from co_cli.articles.extraction.document import Original

_HEAD = 64 * 1024
_PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
_GIF = (b"GIF87a", b"GIF89a")
_BITMAP_HEADERS = (12, 40, 52, 56, 64, 108, 124)
_PDF, _PACKED, _RICH_TEXT = b"%PDF-", b"PK\x03\x04", b"{\\rtf"
_START = 1024
"""Bytes within which a PDF has to say that it is one."""
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

# What can be recognised and is not read, with what a person could do instead.
_OTHERS = (
    (b"\x1f\x8b", "an archive"),
    (b"7z\xbc\xaf\x27\x1c", "an archive"),
    (b"Rar!\x1a\x07", "an archive"),
    (b"BZh", "an archive"),
    (b"\xfd7zXZ\0", "an archive"),
    (b"\x28\xb5\x2f\xfd", "an archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"\xcf\xfa\xed\xfe", "a program"),
    (b"\0asm", "a program"),
    (b"SQLite format 3\0", "a database"),
    (b"ID3", "a recording"),
    (b"OggS", "a recording"),
    (b"fLaC", "a recording"),
    (b"\x1a\x45\xdf\xa3", "a film"),
    (b"wOF2", "a font"),
    (b"\0\x01\0\0\0", "a font"),
    (_RICH_TEXT, "a document in Rich Text Format"),
)
_WAYS_OUT = {
    "an archive": "Unpack it, then add the folder.",
    "a picture in a format that is not read": "Save it as PNG or JPEG, and add that.",
    "a document in Rich Text Format": "Save it as DOCX, and add that.",
    "a document of an old Office format": "Save it as DOCX, PPTX or XLSX, and add that.",
    "a message of Outlook": "Save it as EML, and add that.",
    "a document of LibreOffice": "Save it as DOCX, PPTX or PDF, and add that.",
}
_WAY_OUT = "What can be read is listed in docs/article-kinds.md; describe anything else in a note of your own."

_HTML = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|title)\b", re.IGNORECASE | re.DOTALL
)
_TAG = re.compile(r"<(?:p|div|h[1-6]|table|[uo]l|section|article|main|body|span|a|br|pre)\b[^<>]{0,500}>", re.IGNORECASE)
_MAIL_FIELD = re.compile(r"([A-Za-z][A-Za-z0-9-]{0,60}):(?:[ \t]|$)")
_MAIL_SURE = frozenset(["from", "received", "return-path", "delivered-to"])
_MAIL_USUAL = frozenset(["date", "subject", "message-id", "mime-version", "to", "content-type"])
_MAIL_USUALS = 2

# Languages, each with the suffixes of its files where they are not its name.
_LANGUAGES = """
awk batch:bat,cmd bibtex:bib c:c,h clojure:clj,cljs cmake cpp:cc,cpp,cxx,hh,hpp,hxx csharp:cs css csv dart
diff:diff,patch dockerfile elixir:ex,exs elm erlang:erl fish fortran:f,f90 fsharp:fs go graphql:graphql,gql
groovy:gradle,groovy haskell:hs hcl:hcl,tf ini:cfg,conf,ini java javascript:cjs,js,mjs
json:geojson,json,jsonl,ndjson jsx julia:jl kotlin:kt,kts latex:sty,tex less lisp:el,lisp,scm lua
makefile:mk,makefile nim nix objectivec:m,mm ocaml:ml,mli pascal:pas perl:pl,pm php powershell:ps1 properties
protobuf:proto python:py,pyi,pyw r ruby:rb rust:rs sass scala scss shell:bash,sh,zsh solidity:sol sql svelte swift tcl
toml tsv tsx typescript:cts,mts,ts v verilog:sv vbnet:vb vhdl:vhd vim vue xml:atom,opml,plist,rss,svg,xml,xsd,xsl,xslt
yaml:yaml,yml zig
"""
_TYPES = {
    "application/json": "json",
    "application/ld+json": "json",
    "application/javascript": "javascript",
    "application/x-sh": "shell",
    "application/xml": "xml",
    "application/yaml": "yaml",
    "application/toml": "toml",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "text/css": "css",
    "text/javascript": "javascript",
    "text/x-python": "python",
    "text/xml": "xml",
    "text/yaml": "yaml",
}
_SHEBANG = re.compile(r"#!\s*\S*?/(?:env\s+(?:-S\s+)?)?(?:\S*/)?(bash|sh|zsh|python|ruby|perl|node|lua|php|awk)[\d.]*\b")
_MARKDOWN_SUFFIXES = ("md", "markdown", "mdown", "mkd", "mdx", "qmd", "rmd")


def recognise(original: Original) -> str:
    """The kind of a document; raises what there is to say about one that cannot be read."""
    raw = original.raw
    if raw.startswith(_PACKED):
        return _packed(raw)
    if raw.startswith(_OLD_OFFICE):
        return _old_office(raw)
    binary = is_binary(raw)  # a text may begin with any letters, such as GIF89a
    if raw[:_START].lstrip().startswith(_PDF) or (binary and _PDF in raw[:_START]):
        return "pdf"
    if _is_picture(raw) or (binary and raw.startswith(_GIF)):
        return "image"
    if binary or raw.startswith(_RICH_TEXT):
        raise _not_read(_other(raw))
    return _text(original)


def _other(raw: bytes) -> str:
    """What a document is that cannot be read, as far as it can be told."""
    if raw[4:8] == b"ftyp":
        return "a picture in a format that is not read" if raw[8:12] in (b"heic", b"heix", b"mif1", b"avif") else "a film"
    return next((what for mark, what in _OTHERS if raw.startswith(mark)), "")


def _is_picture(raw: bytes) -> bool:
    if raw.startswith(_PICTURES) or (raw[:4] == b"RIFF" and raw[8:12] == b"WEBP"):
        return True
    return raw[:2] == b"BM" and int.from_bytes(raw[14:18], "little") in _BITMAP_HEADERS


def _not_read(what: str) -> Invalid:
    message = f"This is {what}, which cannot be read." if what else "This is no text, nor any other kind that can be read."
    return Invalid(message, _WAYS_OUT.get(what, _WAY_OUT), code=UNKNOWN_KIND)


def _packed(raw: bytes) -> str:
    """The kind of a document that is a packed folder, by the parts that make it one."""
    import io
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError) as error:
        raise broken("packed document", str(error)) from error
    declared = raw[30:120]  # `mimetype` is the first part, and not compressed
    if "META-INF/container.xml" in names or b"application/epub+zip" in declared:
        return "epub"
    if b"opendocument.spreadsheet" in declared:
        return "xlsx"
    for part, kind in (("word/", "docx"), ("ppt/", "pptx"), ("xl/", "xlsx")):
        if "[Content_Types].xml" in names and any(name.startswith(part) for name in names):
            return kind
    raise _not_read("a document of LibreOffice" if b"opendocument" in declared else "an archive")


def _old_office(raw: bytes) -> str:
    """The container of the Office of old, in which those of today put what a password protects."""
    if "EncryptedPackage".encode("utf-16-le") in raw:
        raise encrypted("document")
    if "__substg1.0_".encode("utf-16-le") in raw:
        raise _not_read("a message of Outlook")
    if "Workbook".encode("utf-16-le") in raw:
        return "xlsx"
    raise _not_read("a document of an old Office format")


def _text(original: Original) -> str:
    """The kind of a text: what it begins with, then what was said about it."""
    from co_cli.articles.extraction.encoding import decoded

    head = decoded(original.raw[: _HEAD // 4 * 4], original.charset)[0].lstrip("\ufeff \t\r\n")
    media, suffix = media_type(original), suffix_of(original.name)
    if _HTML.match(head):
        return "html"
    if media in ("text/markdown", "text/x-markdown") or suffix in _MARKDOWN_SUFFIXES:
        return "markdown"
    if _is_mail(head):
        return "mail"
    if (media in ("text/html", "application/xhtml+xml") or suffix in ("html", "htm", "xhtml")) and _TAG.search(head):
        return "html"
    if suffix == "ipynb" or media == "application/x-ipynb+json":
        return "notebook"
    return "code" if language_of(original) else "text"


def _is_mail(head: str) -> bool:
    """Whether a text begins with the fields of a message."""
    lines = head.split("\n", 80)
    if lines[0].startswith("From ") and len(lines) > 1:  # the line between messages of a mailbox
        del lines[0]
    found = set()
    for line in lines[:80]:
        field = _MAIL_FIELD.match(line)
        if field:
            found.add(field[1].lower())
        elif not line.strip() or not line.startswith((" ", "\t")) or not found:
            break
    return bool(found & _MAIL_SURE) and len(found & _MAIL_USUAL) >= _MAIL_USUALS


def media_type(original: Original) -> str:
    """The content type without its parameters."""
    return original.content_type.partition(";")[0].strip().lower()


def suffix_of(name: str) -> str:
    """What stands behind the last dot of a file's name."""
    base = name.replace("\\", "/").rpartition("/")[2]
    return base.rpartition(".")[2].lower() if "." in base else ""


def language_of(original: Original) -> str:
    """The language of source code or data, by the name of its file, its content type or its first line; empty for others."""
    base = original.name.replace("\\", "/").rpartition("/")[2].lower()
    suffix = suffix_of(base)
    if suffix in ("html", "htm", "xhtml"):  # a template without any tag
        return "html"
    for entry in _LANGUAGES.split():
        language, _, suffixes = entry.partition(":")
        if (suffix or base) in (suffixes.split(",") if suffixes else (language,)):
            return language
    if base in ("dockerfile", "makefile"):
        return base
    if media_type(original) in _TYPES:
        return _TYPES[media_type(original)]
    shebang = _SHEBANG.match(original.raw[:200].decode("latin-1"))
    return (
        {"bash": "shell", "sh": "shell", "zsh": "shell", "node": "javascript"}.get(shebang[1], shebang[1]) if shebang else ""
    )
