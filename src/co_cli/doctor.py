"""What is wrong with the files of a vault, and what of it can be mended without losing anything.

Owns the checks and the repairs. A repair of a file is a change like any other, in the journal and undoable (permissions are
set on the spot); no file of the user's is ever deleted. An index that says something else than the files is thrown away.
Knows nothing of queries or prompts.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from co_cli import attachment
from co_cli.coverage import differences, empty
from co_cli.errors import CoError
from co_cli.files import read_bytes, reason
from co_cli.frontmatter import HEADER_LIMIT, FrontmatterError, parse_frontmatter, render_field, replace_fields
from co_cli.links import Link, Named, Names, key_of, links
from co_cli.note import (
    ARTICLE,
    CONTEXT,
    FOLDERS,
    MEMORY,
    Note,
    NoteError,
    Problem,
    instant,
    memory_name,
    parse_note,
    slugify,
)
from co_cli.vault import IGNORED, Vault

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from co_cli.draft import Draft

_OTHERS, _WRITABLE = 0o077, 0o002
_CONFLICT_MARKS = (b"<<<<<<< ", b">>>>>>> ")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, and what became of it."""

    problem: Problem
    mendable: bool = False
    mended: str = ""
    """What was done about it."""


@dataclass(frozen=True, slots=True)
class Report:
    """What an examination found."""

    notes: int
    findings: tuple[Finding, ...]

    @property
    def open(self) -> tuple[Finding, ...]:
        """The findings that are still to be mended."""
        return tuple(finding for finding in self.findings if not finding.mended)


def examine(
    vaults: Sequence[Vault], cache: str, *, fix: bool, also: Iterable[Problem] = (), linked: Iterable[Vault] = ()
) -> Report:
    """Look at every file of the vaults, and at their indexes; with ``fix``, mend what can be mended.

    ``also`` is what others have found wrong. Of linked folders only the names are of interest, to which links may lead.
    """
    everything: list[Note] = []
    findings: list[Finding] = []
    for vault in vaults:
        if fix and os.path.isdir(vault.root):
            findings.extend(_mended(vault))
        notes, found = _look(vault)
        everything.extend(notes)
        findings.extend(found)
        findings.extend(_compared(vault, cache, fix=fix))
    broken = sorted(_broken_links(vaults, everything, linked), key=lambda problem: (problem.path, problem.line))
    findings.extend(map(Finding, (*broken, *also)))
    return Report(len(everything), tuple(findings))


def _compared(vault: Vault, cache: str, *, fix: bool) -> list[Finding]:
    """What the index of a vault has wrong; it is thrown away where that is to be mended."""
    problems = differences(vault, cache)
    if not problems or not fix:
        return [Finding(problem, mendable=True) for problem in problems]
    empty(vault, cache)
    mended = "the index was thrown away; the next search makes it anew"
    return [Finding(problem, mendable=True, mended=mended) for problem in problems]


def _broken_links(vaults: Iterable[Vault], notes: list[Note], linked: Iterable[Vault]) -> Iterator[Problem]:
    """Links that lead to nothing, in the notes that are not in the archive; those in articles are not ours to correct."""
    names = Names(
        (
            *(
                Named(note.vault, note.kind, os.path.basename(note.path), note.id, note.title if note.kind != MEMORY else "")
                for note in notes
            ),
            *(
                Named(folder.name, note.kind, folder.name_of(note.path), None, note.title)
                for folder in linked
                for note in folder.scan().notes
            ),
        )
    )
    by_name = {vault.name: vault for vault in vaults}
    for note in notes:
        vault = by_name[note.vault]
        for link in links(note.body) if note.kind != ARTICLE and not vault.is_archived(note) else ():
            key = key_of(link, note.kind)
            if not (key and names.meant(key, note.vault)) and not _is_there(vault, note, link):
                what = "a link" if note.private else link.written
                line = note.text.removeprefix("\ufeff").partition(note.body)[0].count("\n") + link.line
                hint = "Correct the link, or make the note that it names."
                yield Problem(note.path, f"{what} leads nowhere", line, hint, code="broken-link")


def _is_there(vault: Vault, note: Note, link: Link) -> bool:
    """Whether a link leads to a file: beside its note, in the vault or, as a name alone, among the attachments."""
    folders = [os.path.dirname(note.path), vault.root]
    if link.wiki:
        folders.append(os.path.join(vault.root, attachment.FOLDER))
    return any(
        os.path.lexists(os.path.join(folder, link.target.strip("/") + ending))
        for folder in folders
        for ending in ("", ".md")
    )


def _look(vault: Vault) -> tuple[list[Note], list[Finding]]:
    notes: list[Note] = []
    findings: list[Finding] = []
    for archived in (False, True):
        scan = vault.scan(archived=archived)
        notes.extend(scan.notes)
        findings.extend(_unreadable(vault, problem) for problem in scan.problems)
    findings.extend(Finding(problem, mendable=_mend_context(vault) is not None) for problem in _context_problems(vault))
    memories = [note for note in notes if note.kind == MEMORY]
    findings.extend(Finding(problem) for problem in _unmerged(notes))
    findings.extend(Finding(problem, mendable=True) for problem, _ in _duplicates(memories))
    findings.extend(Finding(problem, mendable=True) for problem, _ in _misnamed(memories))
    findings.extend(Finding(problem, mendable=True) for problem, _, _ in _too_open(vault, notes))
    findings.extend(Finding(problem, mendable=True) for problem in _not_ignored(vault))
    findings.extend(Finding(lost.problem, mendable=lost.raw is not None) for lost in attachment.missing(vault, notes))
    findings.extend(Finding(problem) for problem in attachment.unused(vault, notes))
    return notes, findings


def _context_problems(vault: Vault) -> Iterator[Problem]:
    try:
        raw = read_bytes(vault.context_path)
        if raw is not None:
            parse_note(raw, kind=CONTEXT, vault=vault.name, path=vault.context_path)
    except NoteError as error:
        yield error.problem._replace(code="bad-context")
    except OSError as error:
        yield Problem(vault.context_path, f"cannot be read: {reason(error)}", code="bad-context")


def _unreadable(vault: Vault, problem: Problem) -> Finding:
    return Finding(_marked(problem), mendable=_mend_header(vault, problem.path, 1) is not None)


def _marked(problem: Problem) -> Problem:
    """Name the usual reason for a broken header after a merge."""
    try:
        raw = read_bytes(problem.path) or b""
    except OSError:
        return problem
    for number, line in enumerate(raw[:HEADER_LIMIT].splitlines(), start=1):
        if line.startswith(_CONFLICT_MARKS):
            hint = "Choose between the two sides by hand, then remove the marks."
            return problem._replace(message="conflict marks of a git merge are left in it", line=number, hint=hint)
    return problem


# ------------------------------------------------------------------------------------------------------------------ checks


def _unmerged(notes: list[Note]) -> Iterator[Problem]:
    for note in notes:
        if any(mark in note.raw for mark in _CONFLICT_MARKS):
            marked = _marked(Problem(note.path, "", code="unmerged"))
            if marked.message:
                yield marked


def _duplicates(memories: list[Note]) -> Iterator[tuple[Problem, Note]]:
    """Every memory but the oldest of those that share an id."""
    by_id: dict[int, list[Note]] = {}
    for note in memories:
        by_id.setdefault(note.id or 0, []).append(note)
    for memory_id, sharing in sorted(by_id.items()):
        first, *others = sorted(sharing, key=lambda note: (instant(note.created), note.path))
        for note in others:
            message = f"the id {memory_id} is that of {os.path.basename(first.path)} too"
            yield Problem(note.path, message, hint="co doctor --fix gives it a new one.", code="duplicate-id"), note


def _misnamed(memories: list[Note]) -> Iterator[tuple[Problem, Note]]:
    for note in memories:
        if not note.slug.startswith(f"{note.id:03d}-"):
            hint = f"co doctor --fix renames it to {_right_name(note)}"
            yield Problem(note.path, f"the name does not begin with the id {note.id:03d}", hint=hint, code="misnamed"), note


def _right_name(note: Note) -> str:
    words = note.slug.lstrip("0123456789").strip("-_ ")
    if note.private or not words:
        return memory_name(note.id or 0, note.body, private=note.private)
    return f"{note.id:03d}-{slugify(words)}.md"


def _too_open(vault: Vault, notes: list[Note]) -> Iterator[tuple[Problem, str, int]]:
    if os.name == "nt":
        return
    paths = [(note.path, _OTHERS if note.private else _WRITABLE) for note in notes]
    paths += [(os.path.join(vault.root, folder), _WRITABLE) for folder in ("", *FOLDERS.values())]
    paths += [(vault.context_path, _WRITABLE), (vault.journal.folder, _OTHERS)]
    for path, forbidden in paths:
        try:
            mode = stat.S_IMODE(os.stat(path).st_mode)
        except OSError:
            continue
        if mode & forbidden:
            who = "others can read it" if forbidden == _OTHERS else "anybody can change it"
            hint = f"chmod {mode & ~forbidden:o}, or: co doctor --fix"
            yield (
                Problem(path, f"permissions {mode:o} are too open: {who}", hint=hint, code="too-open"),
                path,
                mode & ~forbidden,
            )


def _not_ignored(vault: Vault) -> Iterator[Problem]:
    if not os.path.isdir(vault.root):
        return
    ignore = os.path.join(vault.root, ".gitignore")
    try:
        with open(ignore, encoding="utf-8", errors="replace") as file:
            lines = [line.strip() for line in file]
    except OSError:
        lines = []
    if not any(line in ("knowledge.db*", "*.db*", "*") for line in lines):
        yield Problem(ignore, "knowledge.db, which co makes anew, is not git-ignored", code="not-ignored")


# ----------------------------------------------------------------------------------------------------------------- repairs


def _mended(vault: Vault) -> list[Finding]:
    """Mend what can be mended, one kind after the other: a mended header may show a duplicate id."""
    findings: list[Finding] = []
    for repair in (_repair_headers, _repair_ids, _repair_names, _repair_permissions, _repair_ignored, _repair_originals):
        try:
            findings.extend(repair(vault))
        except CoError as error:
            problem = Problem(vault.root, f"could not be mended: {error.message}", hint=error.hint, code="not-mended")
            findings.append(Finding(problem))
    return findings


def _repair_headers(vault: Vault) -> list[Finding]:
    findings = []
    with vault.change("doctor") as draft:
        new_id = vault.next_id()
        problems = [problem for archived in (False, True) for problem in vault.scan(archived=archived).problems]
        taken = {note.id for archived in (False, True) for note in vault.scan((MEMORY,), archived=archived).notes}
        for problem in problems:
            mended = _mend_header(vault, problem.path, new_id, taken)
            if mended is not None:
                before, after = mended
                draft.put(problem.path, before, after)
                taken.add(parse_frontmatter(after.decode("utf-8"))[0]["id"])
                findings.append(Finding(problem, mendable=True, mended="the header was completed"))
                new_id += 1
        context = _mend_context(vault)
        if context is not None:
            draft.put(vault.context_path, *context)
            problems = list(_context_problems(vault))
            findings.extend(Finding(problem, mendable=True, mended="the header was completed") for problem in problems)
        draft.summary = f"completed {len(findings)} {'header' if len(findings) == 1 else 'headers'}"
    return findings


def _mend_header(vault: Vault, path: str, new_id: int, taken: Collection[int | None] = ()) -> tuple[bytes, bytes] | None:
    """The bytes of a file whose header only lacks something that is known, before and after; else ``None``."""
    kind = next((kind for kind, folder in FOLDERS.items() if os.path.basename(os.path.dirname(path)) == folder), None)
    if kind != MEMORY or not os.path.isfile(path) or os.path.islink(path):
        return None
    return _completed(vault, path, kind, lambda fields: _missing(fields, path, new_id, taken))


def _mend_context(vault: Vault) -> tuple[bytes, bytes] | None:
    """The bytes of a context whose header only lacks something that is known, before and after; else ``None``."""
    path = vault.context_path
    return (
        None if os.path.islink(path) else _completed(vault, path, CONTEXT, lambda fields: _missing_in_context(fields, path))
    )


def _completed(
    vault: Vault, path: str, kind: str, missing: Callable[[dict[str, object]], dict[str, object]]
) -> tuple[bytes, bytes] | None:
    try:
        raw = read_bytes(path) or b""
        text = raw.decode("utf-8")
        fields, body = parse_frontmatter(text)
        changes = missing(fields)
        after = replace_fields(text, changes).encode("utf-8") if changes else raw
        parse_note(after, kind=kind, vault=vault.name, path=path)
    except (OSError, UnicodeDecodeError, FrontmatterError, NoteError):
        return None
    looks_like_header = not fields and text.lstrip("\ufeff \r\n").startswith("---")
    return (raw, after) if changes and body.strip() and not looks_like_header else None


def _missing(fields: dict[str, object], path: str, new_id: int, taken: Collection[int | None]) -> dict[str, object]:
    changes: dict[str, object] = {}
    memory_id, tags = fields.get("id"), fields.get("tags")
    number = os.path.basename(path).partition("-")[0]
    if isinstance(memory_id, str) and memory_id.strip().removeprefix("mem-").isdecimal():
        changes["id"] = int(memory_id.strip().removeprefix("mem-"))
    elif memory_id is None:
        free = number.isdecimal() and int(number) > 0 and int(number) not in taken
        changes["id"] = int(number) if free else new_id
    changes |= _as_moment("created", fields.get("created"), path)
    if isinstance(tags, str):
        changes["tags"] = [tag.strip() for tag in tags.split(",") if tag.strip()]
    elif isinstance(tags, list) and not all(isinstance(tag, str) for tag in tags):
        changes["tags"] = [tag if isinstance(tag, str) else render_field("tag", tag)[5:].strip() for tag in tags]
    elif not fields:
        changes["tags"] = []
        changes["source"] = "user-told"
    return changes


def _missing_in_context(fields: dict[str, object], path: str) -> dict[str, object]:
    if not fields:  # a context needs no header
        return {}
    version = fields.get("version")
    known = version is None or (type(version) is not int and str(version) in ("1", "1.0"))
    return ({"version": 1} if known else {}) | _as_moment("updated", fields.get("updated"), path)


def _as_moment(name: str, value: object, path: str) -> dict[str, object]:
    """What a timestamp lacks: all of it, so that the file's own has to do, or the time of the day."""
    from datetime import UTC, datetime

    if value is None:
        return {name: datetime.fromtimestamp(os.stat(path).st_mtime, UTC).isoformat(timespec="seconds")}
    if isinstance(value, str) and len(value) == len("2026-02-09"):
        return {name: f"{value}T00:00:00+00:00"}
    return {}


def _repair_ids(vault: Vault) -> list[Finding]:
    def repaired(note: Note, draft: Draft) -> str:
        new_id = vault.next_id() + len(draft.steps) // 2
        raw = replace_fields(note.text, {"id": new_id}).encode("utf-8")
        words = note.slug.lstrip("0123456789").strip("-_ ")
        path = os.path.join(os.path.dirname(note.path), f"{new_id:03d}-{words or 'memory'}.md")
        draft.put(path, None, raw, mode=stat.S_IMODE(os.stat(note.path).st_mode))
        draft.remove(note)
        return f"its id is now {new_id}"

    return _repair_memories(vault, "gave a new id to", _duplicates, repaired)


def _repair_names(vault: Vault) -> list[Finding]:
    def repaired(note: Note, draft: Draft) -> str:
        name = _right_name(note)
        path = os.path.join(os.path.dirname(note.path), name)
        if os.path.lexists(path):
            return ""
        draft.move(note, path)
        return f"renamed to {name}"

    return _repair_memories(vault, "renamed", _misnamed, repaired)


def _repair_memories(
    vault: Vault,
    what: str,
    check: Callable[[list[Note]], Iterator[tuple[Problem, Note]]],
    repaired: Callable[[Note, Draft], str],
) -> list[Finding]:
    findings = []
    with vault.change("doctor") as draft:
        notes = [note for archived in (False, True) for note in vault.scan((MEMORY,), archived=archived).notes]
        for problem, note in check(notes):
            mended = repaired(note, draft)
            if mended:
                findings.append(Finding(problem, mendable=True, mended=mended))
        draft.summary = f"{what} {len(findings)} {'memory' if len(findings) == 1 else 'memories'}"
    return findings


def _repair_permissions(vault: Vault) -> list[Finding]:
    findings = []
    notes = [note for archived in (False, True) for note in vault.scan(archived=archived).notes]
    for problem, path, mode in _too_open(vault, notes):
        try:
            os.chmod(path, mode)
            findings.append(Finding(problem, mendable=True, mended=f"permissions are now {mode:o}"))
        except OSError as error:
            findings.append(Finding(problem._replace(hint=f"chmod failed: {reason(error)}"), mendable=True))
    return findings


def _repair_ignored(vault: Vault) -> list[Finding]:
    findings = []
    with vault.change("doctor") as draft:
        for problem in _not_ignored(vault):
            try:
                before = read_bytes(problem.path) or b""
            except OSError as error:
                findings.append(Finding(problem._replace(hint=f"cannot be read: {reason(error)}")))
                continue
            separator = b"" if not before or before.endswith(b"\n") else b"\n"
            draft.put(problem.path, before, before + separator + IGNORED.encode())
            findings.append(Finding(problem, mendable=True, mended="a line was added to .gitignore"))
        draft.summary = "told git to leave out knowledge.db"
    return findings


def _repair_originals(vault: Vault) -> list[Finding]:
    """Bring back the originals that the journal has."""
    findings = []
    with vault.change("doctor") as draft:
        notes = [note for archived in (False, True) for note in vault.scan((ARTICLE,), archived=archived).notes]
        for lost in attachment.missing(vault, notes):
            if lost.raw is not None:
                attachment.bring_back(draft, vault, lost.name, lost.raw)
                findings.append(Finding(lost.problem, mendable=True, mended="the journal had it: it is back"))
        draft.summary = f"brought back {len(findings)} {'original' if len(findings) == 1 else 'originals'}"
    return findings
