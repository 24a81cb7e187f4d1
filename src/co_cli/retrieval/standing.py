"""What an answer shows of notes that another has taken the place of.

Owns the rule: the note that stands now is shown where the older one was found, and says so; the older one is left out, or
comes behind it where it was asked for. Costs nothing but a look at a field where no note is superseded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from co_cli.note import is_expired
from co_cli.succession import successor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from co_cli.note import Note
    from co_cli.retrieval.hit import Filter, Hit
    from co_cli.vault import Vault


def in_force(hits: Iterable[Hit], vaults: Mapping[str, Vault], only: Filter) -> Iterator[Hit]:
    """The hits, each note once, with what stands now in the place of what was superseded."""
    shown: set[str] = set()
    for hit in hits:
        note = hit.note
        vault = vaults[note.vault]
        new = successor(vault, note) if note.superseded_by else None
        if new is None:
            if note.path not in shown:
                shown.add(note.path)
                yield _explained(hit, _superseding(note)) if note.supersedes else hit
            continue
        if new.path not in shown and not vault.is_archived(new) and (only.expired or not is_expired(new)):
            shown.add(new.path)
            explained = (
                f"{_superseding(new)}, in whose place it was found" if note.id in new.supersedes else _found(note, new)
            )
            yield _explained(hit._replace(note=new, content=new.body, heading="", line=1), explained)
        if only.superseded and note.path not in shown:
            shown.add(note.path)
            yield _explained(hit, f"superseded by {new.ref}{_since(new)}")


def _explained(hit: Hit, standing: str) -> Hit:
    return hit._replace(why=hit.why._replace(standing=standing))


def _superseding(note: Note) -> str:
    mark = "g:" if note.ref.startswith("g:") else ""
    return f"supersedes {', '.join(f'{mark}{number}' for number in note.supersedes)}{_since(note)}"


def _found(note: Note, new: Note) -> str:
    return f"stands in the place of {note.ref}{_since(new)}"


def _since(note: Note) -> str:
    return f" since {note.created[:10]}" if note.created else ""
