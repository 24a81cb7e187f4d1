"""The notes that are linked with others.

Owns following links in both directions, across the vaults that are asked. Knows nothing of how links are found in a text, or
how they are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import CoError
from co_cli.links import Named, Names
from co_cli.note import MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from co_cli.note import Note
    from co_cli.retrieval.candidates import Source


class Neighbour(NamedTuple):
    """A note at the other end of a link."""

    ref: str
    """Empty where the link names no note that there is."""
    title: str
    path: str
    incoming: bool
    """Whether the link stands in that note, and leads here."""
    written: str
    """The link as it stands in the text."""
    line: int
    """The line of the text in which it stands."""
    private: bool = False


def neighbours(sources: Sequence[Source], notes: Iterable[Note]) -> dict[str, tuple[Neighbour, ...]]:
    """The neighbours of each of these notes, by its path: first those that it leads to, then those that lead to it."""
    graph = _Graph(sources)
    return {note.path: _once((*graph.outgoing(note), *graph.incoming(note))) for note in notes}


def _once(found: Iterable[Neighbour]) -> tuple[Neighbour, ...]:
    """Each neighbour once in each direction, however many links lead there."""
    return tuple({(each.path or each.written, each.incoming): each for each in reversed([*found])}.values())[::-1]


class _Graph:
    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = sources
        self.known: dict[tuple[str, int], Named] = {}
        for vault, index, _unseen in sources:
            for row, kind, file, number, title in index.titles():
                self.known[vault.name, row] = Named(vault.name, kind, file, number if kind == MEMORY else None, title)
        self.names = Names(self.known.values())

    def outgoing(self, note: Note) -> list[Neighbour]:
        vault, index, _unseen = next(source for source in self.sources if source.vault.name == note.vault)
        found = index.find(note.kind, vault.name_of(note.path))
        rows = index.links_of(found.id) if found else []
        return [self._at(self.names.meant(key, vault.name), written, line) for key, written, line in rows]

    def incoming(self, note: Note) -> list[Neighbour]:
        home = next(source.vault for source in self.sources if source.vault.name == note.vault)
        me = Named(note.vault, note.kind, home.name_of(note.path), note.id, note.title)
        found = []
        for vault, index, _unseen in self.sources:
            for row, key, written, line in index.links_to(me.names):
                other = self.known.get((vault.name, row))
                meant = self.names.meant(key, vault.name)
                if other and meant and meant[:3] == me[:3] and other[:3] != me[:3]:
                    found.append(self._at(other, written, line, incoming=True))
        return sorted(found, key=lambda neighbour: (neighbour.path, neighbour.line))

    def _at(self, named: Named | None, written: str, line: int, *, incoming: bool = False) -> Neighbour:
        nowhere = Neighbour("", "", "", incoming, written, line)
        if named is None:
            return nowhere
        vault = next(source.vault for source in self.sources if source.vault.name == named.vault)
        try:
            note = vault.read(vault.path_of(named.kind, named.file), named.kind)
        except CoError:  # gone, or broken, since the index was brought up to date
            return nowhere
        return Neighbour(note.ref, note.title or note.summary, note.path, incoming, written, line, note.private)
