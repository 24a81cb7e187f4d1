"""Exports: which notes go out, in which format, and what is told of each.

Owns the choice of the notes and the report. What files become of them is each format's own, and how files are written is
:mod:`co_cli.exchange.target`'s. Private notes stay here unless somebody insists.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import Invalid
from co_cli.exchange import target
from co_cli.exchange.outgoing import Rendering, Shelf
from co_cli.files import read_bytes
from co_cli.knowledge import ARTICLE, CONTEXT, MEMORY, TOPIC
from co_cli.note import clean_tags

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from co_cli.knowledge import KnowledgeBase, Note, Vault

MARKDOWN, JSONL, DIGEST, BASIC_MEMORY, OBSIDIAN = "markdown", "jsonl", "digest", "basic-memory", "obsidian"
FORMS = (MARKDOWN, JSONL, DIGEST, BASIC_MEMORY, OBSIDIAN)
WITHHELD, SKIPPED = "withheld", "skipped"
DIGEST_SIZE = 10 * 1024
"""Bytes of a digest where nobody says otherwise: about what an agent's file of instructions may have."""


class Exported(NamedTuple):
    """One note, or a file that goes with it, and what became of it."""

    ref: str
    path: str
    """The file that it is in, relative to the folder of the export."""
    outcome: str
    """``written``, ``unchanged``, ``removed``, ``left``, ``withheld`` (it is private) or ``skipped`` (it cannot be read)."""
    reason: str = ""
    summary: str = ""


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export did, or in a dry run would do."""

    path: str
    form: str
    dry_run: bool
    entries: tuple[Exported, ...]
    notices: tuple[str, ...] = ()

    @property
    def counts(self) -> Mapping[str, int]:
        """How many entries had each outcome; an outcome that no entry had is left out."""
        outcomes = (target.WRITTEN, target.UNCHANGED, target.REMOVED, target.LEFT, WITHHELD, SKIPPED)
        counts = {outcome: sum(entry.outcome == outcome for entry in self.entries) for outcome in outcomes}
        return {outcome: count for outcome, count in counts.items() if count}


def export(
    kb: KnowledgeBase,
    path: str,
    *,
    form: str = "",
    vaults: Iterable[str],
    tags: Iterable[str] = (),
    private: bool = False,
    size: int = DIGEST_SIZE,
    dry_run: bool = False,
) -> ExportReport:
    """Write the notes of these vaults to a folder or a file; raises a ``CoError`` with nothing written where that fails."""
    if not path.strip():
        raise Invalid("There is no path to export to.", "Name a folder, or a file: co knowledge --export ~/notes")
    path = os.path.abspath(os.path.expanduser(path))
    form = form or _form_of(path)
    target.check_place(path, [*(vault.root for vault in kb.vaults), *(each.link.folder for each in kb.links())])
    names = tuple(vaults)
    shelves = [_shelf(kb.vault(name), clean_tags(tags), private=private, several=len(names) > 1) for name in names]
    rendering, is_own = _rendered(kb, form, shelves, size)
    secrets = [
        rendering.places[note.path]
        for shelf in shelves
        for note in shelf.notes
        if note.private and note.path in rendering.places
    ]
    if is_own:
        (content,) = rendering.files.values()
        outcomes = {"": target.write_file(path, content, is_own, dry_run=dry_run, private=bool(secrets))}
    else:
        outcomes = target.write_folder(path, rendering.files, dry_run=dry_run, private=secrets)
    entries = [entry for shelf in shelves for entry in _entries(shelf, rendering, outcomes)]
    told = {entry.path for entry in entries}
    entries += [Exported("", name, outcome) for name, outcome in sorted(outcomes.items()) if name and name not in told]
    return ExportReport(path, form, dry_run, tuple(entries), rendering.notices)


def _form_of(path: str) -> str:
    """The format where none is named: by the ending of a file, else a folder of Markdown."""
    ending = os.path.splitext(path)[1].lower()
    return MARKDOWN if os.path.isdir(path) else {".jsonl": JSONL, ".md": DIGEST}.get(ending, MARKDOWN)


def _rendered(
    kb: KnowledgeBase, form: str, shelves: list[Shelf], size: int
) -> tuple[Rendering, Callable[[bytes], bool] | None]:
    """What a format makes of the notes and, where that is one file, how it is known to be the work of an export."""
    if form == JSONL:
        from co_cli.exchange.json_lines import is_own, render

        return render(shelves), is_own
    if form == DIGEST:
        from co_cli.exchange.digest import is_own as is_own_digest
        from co_cli.exchange.digest import render as render_digest

        return render_digest(kb, shelves, size), is_own_digest
    if form == BASIC_MEMORY:
        from co_cli.exchange.basic_memory import render as render_basic_memory

        return render_basic_memory(shelves), None
    if form == OBSIDIAN:
        from co_cli.exchange.obsidian import render as render_obsidian

        return render_obsidian(shelves), None
    if form == MARKDOWN:
        return _as_markdown(shelves), None
    raise Invalid(f"There is no format {form!r}.", f"Formats: {', '.join(FORMS)}.")


def _as_markdown(shelves: list[Shelf]) -> Rendering:
    """The files of the notes as they are, byte for byte, in the folders of their vault."""
    places = {note.path: shelf.prefix + shelf.place(note) for shelf in shelves for note in (*shelf.notes, *shelf.archived)}
    notes = {place: path for path, place in places.items()}
    raws = {note.path: note.raw for shelf in shelves for note in (*shelf.notes, *shelf.archived)}
    files = {place: raws[path] for place, path in notes.items()}
    for shelf in shelves:
        files.update({shelf.prefix + name: raw for name, raw in shelf.attachments.items()})
    return Rendering(files, places)


def _shelf(vault: Vault, tags: tuple[str, ...], *, private: bool, several: bool) -> Shelf:
    """The notes of a vault that are to go out, with the files that go with them."""
    shelf = Shelf(vault, f"{vault.name}/" if several else "")
    wanted = {tag.casefold() for tag in tags}
    for archived in (False, True):
        scan = vault.scan((MEMORY, TOPIC, ARTICLE), archived=archived)
        shelf.problems.extend(scan.problems)
        found = sorted(scan.notes, key=lambda note: (_ORDER.index(note.kind), note.id or 0, note.slug))
        chosen = [note for note in found if wanted <= {tag.casefold() for tag in note.tags}]
        (shelf.archived if archived else shelf.notes).extend(note for note in chosen if private or not note.private)
        shelf.withheld.extend(note for note in chosen if note.private and not private)
    context = None if wanted else vault.find(CONTEXT, CONTEXT)
    if context:
        (shelf.withheld if context.private and not private else shelf.notes).insert(0, context)
    shelf.attachments = _attachments(vault, shelf, everything=not wanted)
    return shelf


_ORDER = (MEMORY, TOPIC, ARTICLE)


def _attachments(vault: Vault, shelf: Shelf, *, everything: bool) -> dict[str, bytes]:
    """The files beside the notes; those of notes that stay here stay too."""
    mine = {_attachment_of(note) for note in (*shelf.notes, *shelf.archived)}
    theirs = {_attachment_of(note) for note in shelf.withheld} - mine
    found = {}
    top = os.path.join(vault.root, "attachments")
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = os.path.join(folder, name)
            place = os.path.relpath(path, vault.root).replace(os.sep, "/")
            wanted = place in mine or (everything and place not in theirs)
            if wanted and not name.startswith(".") and not os.path.islink(path):
                raw = read_bytes(path)
                if raw is not None:
                    found[place] = raw
    return found


def _attachment_of(note: Note) -> str:
    if note.kind != ARTICLE or b"attachment" not in note.raw:
        return ""
    from co_cli.batch import header_of

    return str(header_of(note.raw).get("attachment") or "")


def _entries(shelf: Shelf, rendering: Rendering, outcomes: Mapping[str, str]) -> Iterable[Exported]:
    for note in (*shelf.notes, *shelf.archived):
        summary = note.title or note.summary
        if note.path in rendering.places:
            place = rendering.places[note.path]
            yield Exported(note.ref, place, outcomes[place], summary=summary)
        elif note.path in rendering.left_out:
            yield Exported(note.ref, "", SKIPPED, rendering.left_out[note.path], summary)
    for note in shelf.withheld:
        yield Exported(note.ref, "", WITHHELD, "it is private; --private takes it along")
    for problem in shelf.problems:
        yield Exported("", problem.path, SKIPPED, f"line {problem.line}: {problem.message}")
