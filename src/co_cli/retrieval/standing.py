"""What an answer shows of notes that another has taken the place of.

Owns the rules: the note that stands now is shown where the older one was found, and says so; the older one is left out, or
comes behind it where it was asked for. So it is with a memory for all projects where this project, or its language, has one
under the same key. Costs nothing but a look at two fields where no note is replaced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from co_cli.note import GLOBAL, MEMORY, PROJECT, is_expired

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from co_cli.note import Note
    from co_cli.retrieval.hit import Filter, Hit
    from co_cli.succession import Succession

    Keyed = Callable[[str, str, str], Iterable[Note]]
    """What finds the memories of a vault, by its name, that have a category and a key."""


def in_force(hits: Iterable[Hit], successions: Mapping[str, Succession], only: Filter, keyed: Keyed) -> Iterator[Hit]:
    """The hits, each note once, with what stands now in the place of what was superseded or is known better here."""
    shown: set[str] = set()
    for hit in hits:
        note = hit.note
        new = successions[note.vault].successor(note) if note.superseded_by else None
        if new is None and note.key and note.vault == GLOBAL:
            nearer = _nearer(note, successions, only, keyed)
            if nearer:
                yield from _overridden(hit, nearer, shown, only)
                continue
        if new is None:
            if note.path not in shown:
                shown.add(note.path)
                yield _explained(hit, _superseding(note)) if note.supersedes else hit
            continue
        if new.path not in shown and not successions[note.vault].is_put_away(new) and (only.expired or not is_expired(new)):
            shown.add(new.path)
            explained = (
                f"{_superseding(new)}, in whose place it was found" if note.id in new.supersedes else _found(note, new)
            )
            yield _explained(hit._replace(note=new, content=new.body, heading="", line=1), explained)
        if only.superseded and note.path not in shown:
            shown.add(note.path)
            yield _explained(hit, f"superseded by {new.ref}{_since(new)}")


def _overridden(hit: Hit, nearer: Note, shown: set[str], only: Filter) -> Iterator[Hit]:
    whose = "this project's" if nearer.vault == PROJECT else f"that of {nearer.language}"
    if nearer.path not in shown:
        shown.add(nearer.path)
        why = f"{whose} {nearer.key}, in the place of {hit.note.ref}"
        yield _explained(hit._replace(note=nearer, content=nearer.body, heading="", line=1), why)
    if only.superseded and hit.note.path not in shown:
        shown.add(hit.note.path)
        yield _explained(hit, f"overridden by {nearer.ref}, {whose} {nearer.key}")


def _nearer(note: Note, successions: Mapping[str, Succession], only: Filter, keyed: Keyed) -> Note | None:
    """The memory of the same key that counts before one for all projects, or for all of a language."""
    found: list[Note] = [*keyed(PROJECT, note.category, note.key)] if PROJECT in successions else []
    if not found and not note.language:
        found = [each for each in keyed(GLOBAL, note.category, note.key) if each.language and each.path != note.path]
    standing = [each for each in found if each.kind == MEMORY and only.admits(each) and not each.superseded_by]
    return max(standing, key=lambda each: each.id or 0, default=None)


def _explained(hit: Hit, standing: str) -> Hit:
    return hit._replace(why=hit.why._replace(standing=standing))


def _superseding(note: Note) -> str:
    mark = "g:" if note.ref.startswith("g:") else ""
    return f"supersedes {', '.join(f'{mark}{number}' for number in note.supersedes)}{_since(note)}"


def _found(note: Note, new: Note) -> str:
    return f"stands in the place of {note.ref}{_since(new)}"


def _since(note: Note) -> str:
    return f" since {note.created[:10]}" if note.created else ""
