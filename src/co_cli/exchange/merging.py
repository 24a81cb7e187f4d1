"""Joining another vault into one of ours.

Owns finding that vault, and the version that two of a note come from: it is looked for in the journals of both. What becomes
of each note is :mod:`co_cli.exchange.wholes`'s; what a person makes of those that differ, the surface's.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from co_cli.errors import CoError, Invalid, NotFound
from co_cli.exchange.intake import in_one_change
from co_cli.exchange.markdown import wholes_in
from co_cli.exchange.reading import place
from co_cli.exchange.report import ImportEntry, ImportReport
from co_cli.exchange.wholes import Joining, Whole
from co_cli.knowledge import PROJECT
from co_cli.note import FOLDERS
from co_cli.settings import PROJECT_FOLDER
from co_cli.vault import open_vaults

if TYPE_CHECKING:
    from co_cli.batch import Batch
    from co_cli.exchange.wholes import Divergence
    from co_cli.journal import Journal
    from co_cli.knowledge import KnowledgeBase, Vault

FORMS = f"Name a vault, or a project that has one in {PROJECT_FOLDER}/knowledge."
_OWN_FIELDS = re.compile(rb"(?m)^(?:id|supersedes|superseded_by):[^\n]*\n")
"""What may be another in another vault, though the note is the same."""


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What a merge did, or in a dry run would do."""

    report: ImportReport
    divergences: tuple[Divergence, ...]
    """The notes that say something else here and there: ours stand as they were."""


def merge_vault(kb: KnowledgeBase, path: str, *, into: str = PROJECT, dry_run: bool = False) -> MergeReport:
    """Join another vault into one of ours, as one change; raises a ``CoError`` with nothing written where that fails."""
    root = _find(place(path, FORMS))
    ours = kb.vault(into)
    if os.path.realpath(root) == os.path.realpath(ours.root):
        raise Invalid(f"{root} is this vault itself.", "Name another one: co merge ~/other-project")
    files, items = wholes_in(root)
    wholes = [item for item in items if isinstance(item, Whole)]
    others = [item for item in items if isinstance(item, ImportEntry)]
    histories = _Histories(ours, _vault_at(kb, root))
    divergences: list[Divergence] = []

    def keep(batch: Batch) -> list[ImportEntry]:
        joining = Joining(batch, histories.ancestor)
        lines = joining.join(wholes)
        divergences[:] = joining.divergences
        return [*lines, *others]

    lines = in_one_change(kb, into, keep, dry_run=dry_run, what="another vault", operation="merge")
    return MergeReport(ImportReport(root, into, dry_run, tuple(files), lines), tuple(divergences))


def _find(path: str) -> str:
    """The vault that a path stands for."""
    for root in (path, os.path.join(path, PROJECT_FOLDER, "knowledge"), os.path.join(path, "knowledge")):
        parts = (os.path.join(root, name) for name in (*FOLDERS.values(), "context.md"))
        if any(map(os.path.lexists, parts)):
            return root
    raise NotFound(f"There is no vault in {path}.", FORMS)


def _vault_at(kb: KnowledgeBase, root: str) -> Vault:
    """A vault of this machine, with the journal that it has here if it has one."""
    above = os.path.dirname(root)
    if os.path.basename(above) == PROJECT_FOLDER:
        return open_vaults(kb.places._replace(project=os.path.dirname(above)))[0]
    return open_vaults(kb.places._replace(home=above))[1]


class _Histories:
    """What the files of two vaults held at one time or another."""

    def __init__(self, ours: Vault, theirs: Vault) -> None:
        self._ours, self._theirs = _History(ours.journal), _History(theirs.journal)

    def ancestor(self, our_name: str, their_name: str, ours: bytes, theirs: bytes) -> bytes | None:
        """The newest version of ours that they had as well; ``None`` where none is known."""
        had = {_bare(version) for version in (theirs, *self._theirs.versions(their_name))}
        versions = (ours, *self._ours.versions(our_name))
        return next((version for version in versions if _bare(version) in had), None)


def _bare(raw: bytes) -> bytes:
    return _OWN_FIELDS.sub(b"", raw)


class _History:
    """The journal of a vault, asked for single files."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._changes: dict[str, list[int]] | None = None

    def versions(self, name: str) -> list[bytes]:
        """What a file held, the newest first, as far as the journal reaches back."""
        if self._changes is None:
            self._changes = {}
            for change in self._journal.changes():
                for path in change.paths:
                    self._changes.setdefault(path, []).append(change.number)
        found: list[bytes] = []
        for number in self._changes.get(name, ()):
            try:
                steps = self._journal.steps(number)
            except CoError:  # pruned meanwhile, or damaged
                continue
            for step in steps:
                if step.path == name:
                    found.extend(raw for raw in (step.after, step.before) if isinstance(raw, bytes))
        return found
