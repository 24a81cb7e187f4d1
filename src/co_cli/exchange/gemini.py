"""What Gemini CLI knows: GEMINI.md, with the facts that it was told to remember at its end, and its memory folders.

Owns where these lie, and the heading under which the remembered facts stand.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from co_cli.errors import NotFound
from co_cli.exchange.documents import MEMORIES, TOPICS, check_is_text, entry_of, statements
from co_cli.exchange.instructions import of_text
from co_cli.exchange.intake import imported
from co_cli.exchange.memory_folder import INDEX, is_memory_folder, items_of, memories_in
from co_cli.exchange.reading import place, read_text
from co_cli.exchange.report import ImportEntry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from co_cli.exchange.intake import Item
    from co_cli.exchange.report import ImportReport
    from co_cli.knowledge import KnowledgeBase

FORMS = "Name a project with a GEMINI.md, that file, ~/.gemini, or a memory folder of Gemini CLI."
TAG = "gemini-cli"
_REMEMBERED = re.compile(r"(?ms)^## Gemini Added Memories[ \t]*$(.*?)(?=^#{1,2} |\Z)")


def import_gemini(
    kb: KnowledgeBase, path: str, *, in_global: bool = False, dry_run: bool = False, as_what: str = TOPICS
) -> ImportReport:
    """Take in what Gemini CLI knows of a project, or of its user."""
    top = place(path, FORMS)
    files: list[str] = []
    items: list[Item] = []
    if os.path.isfile(top):
        check_is_text(top)
        files = [top]
        items = list(items_of(top, TAG) if os.path.basename(top) == INDEX else _items(top, as_what))
    else:
        if is_memory_folder(top):
            files, items = memories_in(top, TAG)
        candidates = (os.path.join(top, "GEMINI.md"), os.path.join(top, ".gemini", "GEMINI.md"))
        for file in filter(os.path.isfile, candidates):
            files.append(file)
            items.extend(_items(file, as_what))
    if not items:
        raise NotFound(f"There is nothing of Gemini CLI in {top}.", FORMS)
    return imported(kb, top, files, items, what=TAG, in_global=in_global, dry_run=dry_run)


def _items(path: str, as_what: str) -> Iterator[Item]:
    """Each remembered fact as a memory, and the rest as instructions."""
    read = read_text(path)
    if isinstance(read, ImportEntry):
        yield read
        return
    rest = _REMEMBERED.sub("", read.text)
    if any(sign.isalnum() for sign in rest) and as_what != MEMORIES:
        yield from of_text(read._replace(text=rest), "gemini_instructions", TAG, as_what)
    for section in _REMEMBERED.finditer(read.text):
        above = read.text.count("\n", 0, section.start(1))
        for said in statements(section[1]):
            yield entry_of(read, said._replace(line=said.line + above), TAG)
    if as_what == MEMORIES:  # with the lines that they really have
        blanked = _REMEMBERED.sub(lambda section: "\n" * section[0].count("\n"), read.text)
        yield from of_text(read._replace(text=blanked), "", TAG, as_what)
