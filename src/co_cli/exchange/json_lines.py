"""JSON Lines: one note a line, with nothing of it lost.

Owns what a line looks like. A line has the fields of the header and the body; where co would write a header otherwise than
it stands, the whole document is there too, so that the same bytes come back.

The first line says what the file is and has a hash of the rest: by it an export is known that nobody has edited.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from typing import TYPE_CHECKING

from co_cli.exchange.intake import IMPORTED, Entry, imported
from co_cli.exchange.outgoing import Rendering
from co_cli.exchange.reading import LONGEST_LINE, lines_of, place
from co_cli.exchange.report import SKIPPED, ImportEntry, ImportReport
from co_cli.exchange.wholes import Whole
from co_cli.frontmatter import FrontmatterError, parse_frontmatter, render_document
from co_cli.knowledge import CONTEXT, GLOBAL, MEMORY, PROJECT
from co_cli.note import FOLDERS, memory_name, sha_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from co_cli.exchange.intake import Item
    from co_cli.exchange.outgoing import Shelf
    from co_cli.knowledge import KnowledgeBase, Note

FORMS = "Name a file of JSON Lines, such as `co knowledge --export FILE.jsonl` writes."
ATTACHMENT = "attachment"
VERSION = 1
_TEXTS = ("content", "text", "memory", "body")
"""The fields under which others keep the words of a memory."""


# --------------------------------------------------------------------------------------------------------------- writing


def render(shelves: list[Shelf]) -> Rendering:
    """All notes in one file."""
    lines, places = [], {}
    for shelf in shelves:
        for note in (*shelf.notes, *shelf.archived):
            lines.append(_line(shelf.vault.name, shelf.place(note), note))
            places[note.path] = ""
        for where, raw in shelf.attachments.items():
            data = {
                "kind": ATTACHMENT,
                "vault": shelf.vault.name,
                "path": where,
                "base64": base64.b64encode(raw).decode("ascii"),
            }
            lines.append(json.dumps(data, ensure_ascii=False))
    rest = "".join(f"{line}\n" for line in lines).encode("utf-8")
    head = json.dumps({"co": "export", "version": VERSION, "lines": len(lines), "sha256": sha_of(rest)})
    return Rendering({"": f"{head}\n".encode() + rest}, places)


def _line(vault: str, where: str, note: Note) -> str:
    text = note.text
    fields, _ = parse_frontmatter(text)
    data: dict[str, object] = {"kind": note.kind, "vault": vault, "path": where, "fields": fields, "body": note.body}
    line = ""
    try:
        line = json.dumps(data, ensure_ascii=False, allow_nan=False)
        exact = json.loads(line)["fields"] == fields and render_document(fields, note.body) == text
    except (TypeError, ValueError, RecursionError):  # YAML knows values that JSON does not
        exact, data["fields"] = False, {name: value for name, value in fields.items() if isinstance(value, (str, int, bool))}
    return line if exact else json.dumps({**data, "document": text}, ensure_ascii=False)


def is_own(raw: bytes) -> bool:
    """Whether a file is an export that nobody has edited."""
    head, _, rest = raw.partition(b"\n")
    try:
        said = json.loads(head)
        return bool(said["co"] == "export" and said["sha256"] == sha_of(rest))
    except (ValueError, TypeError, KeyError, RecursionError):
        return False


# --------------------------------------------------------------------------------------------------------------- reading


def import_json_lines(kb: KnowledgeBase, path: str, *, in_global: bool = False, dry_run: bool = False) -> ImportReport:
    """Take notes in that were exported as JSON Lines, with their ids where these are free.

    Lines that are no notes of co but have a text (``content``, ``text`` or ``memory``) become memories.
    """
    path = place(path, FORMS)
    parsed = list(_parsed(path))
    vaults = {data.get("vault") for _, data in parsed if isinstance(data, dict) and "kind" in data}
    only = (GLOBAL if in_global else PROJECT) if len(vaults) > 1 else ""
    found = (data if isinstance(data, ImportEntry) else _item(path, number, data, only) for number, data in parsed)
    items: list[Item] = [item for item in found if item is not None]
    written = next((data.get("lines") for _, data in parsed if isinstance(data, dict) and data.get("co") == "export"), None)
    if isinstance(written, int) and len(parsed) - 1 < written:
        reason = f"the file is not whole: {written} lines were written, and {len(parsed) - 1} are there"
        items.append(ImportEntry(path, "", SKIPPED, reason, "torn"))
    return imported(kb, path, [path], items, what="jsonl", in_global=in_global, dry_run=dry_run)


def _parsed(path: str) -> Iterator[tuple[int, object]]:
    for number, raw in lines_of(path, FORMS):
        if raw is None:
            reason = f"the line is longer than {LONGEST_LINE // 1024 // 1024} MiB"
            yield number, ImportEntry(path, "", SKIPPED, reason, "too-large", line=number)
        elif raw.strip():
            try:
                yield number, json.loads(raw.decode("utf-8-sig"))
            except UnicodeDecodeError:
                yield number, ImportEntry(path, "", SKIPPED, "not UTF-8", "not-utf-8", line=number)
            except (ValueError, RecursionError) as error:
                yield number, ImportEntry(path, "", SKIPPED, f"this is no JSON: {error}", "malformed", line=number)


def _item(path: str, number: int, data: object, only: str) -> Whole | Entry | ImportEntry | None:
    at = f"line {number}"

    def skip(reason: str, code: str) -> ImportEntry:
        return ImportEntry(path, "", SKIPPED, reason, code, line=number)

    if not isinstance(data, dict):
        return skip("must be an object", "wrong-type")
    if data.get("co") == "export":
        known = data.get("version") == VERSION
        return None if known else skip(f"version {data.get('version')!r} is unknown", "unsupported-version")
    if only and data.get("vault") != only:
        how = "with" if data.get("vault") == GLOBAL else "without"
        return skip(f"belongs to the {data.get('vault')} vault: take it in {how} --global", "other-vault")
    if isinstance(data.get("fields"), dict) or isinstance(data.get("document"), str) or data.get("kind") == ATTACHMENT:
        return _whole(path, at, data) or skip("has no path, no text or no id", "malformed")
    for name in _TEXTS:
        if isinstance(data.get(name), str) and data[name].strip():
            tags = data.get("tags")
            given = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
            file_time = os.stat(path).st_mtime
            return Entry(path, file_time, at, data[name], "", [IMPORTED, *given], pinned=False)
    return skip(f"has no text under {', '.join(_TEXTS)}", "empty")


def _whole(path: str, at: str, data: dict[str, object]) -> Whole | None:
    kind, body = data.get("kind"), str(data.get("body") or "")
    fields = data.get("fields")
    fields = fields if isinstance(fields, dict) else {}
    where = data.get("path")
    if kind == ATTACHMENT:
        try:
            raw = base64.b64decode(str(data.get("base64")), validate=True)
        except (binascii.Error, ValueError):
            return None
        return Whole(path, str(where or at), str(where or ""), raw)
    text = data.get("document")
    try:
        text = text if isinstance(text, str) else render_document(fields, body)
        raw = text.encode("utf-8")
    except (FrontmatterError, ValueError, TypeError, RecursionError):
        return None
    where = where if isinstance(where, str) else _place(kind, fields, body)
    return Whole(path, where, where, raw) if where else None


def _place(kind: object, known: dict[str, object], body: str) -> str:
    """Where a note belongs of which that is not said."""
    if kind == CONTEXT:
        return "context.md"
    number = known.get("id")
    if kind == MEMORY and isinstance(number, int):
        return f"{FOLDERS[MEMORY]}/{memory_name(number, body, private=known.get('private') is True)}"
    name = known.get("topic") or known.get("title")
    folder = FOLDERS.get(str(kind), "")
    return f"{folder}/{name}.md" if folder and isinstance(name, str) and kind != MEMORY else ""
