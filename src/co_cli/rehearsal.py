"""A vault whose changes are only noted, and read back as if they had been made.

Owns what a rehearsal has changed so far. Knows nothing of what the changes are for.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from co_cli.draft import Draft, absolute, relative
from co_cli.folder import is_note_name
from co_cli.journal import Step
from co_cli.vault import Vault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from co_cli.note import Problem


class Rehearsal(Vault):
    """The notes of a vault, with the changes that would have been made to them."""

    rehearses = True

    def __init__(self, vault: Vault) -> None:
        super().__init__(vault.root, vault.name, vault.journal_folder)
        self._steps: dict[str, Step] = {}
        self._modes: dict[str, int | None] = {}
        if isinstance(vault, Rehearsal):  # a rehearsal in a rehearsal goes on from there
            self._steps.update(vault._steps)  # noqa: SLF001 - its own class
            self._modes.update(vault._modes)  # noqa: SLF001

    @property
    def steps(self) -> tuple[Step, ...]:
        """What the changes come to, a step for each file; what was done and undone is none."""
        return tuple(step for step in self._steps.values() if step.before != step.after)

    @contextmanager
    def change(self, operation: str, *, undoes: int | None = None) -> Iterator[Draft]:
        """Note what the draft holds when the block ends."""
        draft = Draft(self.root, self.journal, operation, undoes)
        yield draft
        for step in draft.steps:
            first = self._steps.get(step.path, step)
            self._steps[step.path] = Step(step.path, first.before, step.after, first.mode)
            self._modes[step.path] = draft.modes.get(step.path)

    def hand_over(self, draft: Draft) -> None:
        """Put all that was noted into a draft, which will do it."""
        for step in self.steps:
            draft.put(absolute(self.root, step.path), step.before, step.after, mode=self._modes[step.path])

    def names(self, kind: str) -> frozenset[str]:
        """The names of the note files of a kind, as they would be."""
        folder = self._folder(kind)
        names = {f"{name}.md" for name in super().names(kind)}
        for path, after in self._changed_in(folder):
            (names.discard if after is None else names.add)(os.path.basename(path))
        return frozenset(name[:-3] for name in names if is_note_name(name))

    def _changed_in(self, folder: str) -> Iterator[tuple[str, bytes | None]]:
        """The files of a folder that would be others."""
        for step in self._steps.values():
            path = absolute(self.root, step.path)
            if os.path.dirname(path) == folder:
                yield path, step.after

    def files(self, kind: str, problems: list[Problem], *, archived: bool = False) -> Iterator[tuple[str, bytes]]:
        """The path and the bytes of each note file of a kind, as they would be; the index is told of the real ones only."""
        changed = dict(self._changed_in(self._folder(kind, archived=archived)))
        for path, raw in super().files(kind, problems, archived=archived):
            if path not in changed:
                yield path, raw
        for path, after in changed.items():
            if after is not None and is_note_name(os.path.basename(path)):
                yield path, after

    def content(self, path: str) -> bytes | None:
        """What a file would hold."""
        noted = self._noted(path)
        return noted.after if noted else super().content(path)

    def _exists(self, path: str) -> bool:
        noted = self._noted(path)
        return noted.after is not None if noted else super()._exists(path)

    def _noted(self, path: str) -> Step | None:
        return self._steps.get(relative(self.root, path))
