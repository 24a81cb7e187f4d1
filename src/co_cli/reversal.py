"""Taking a change back: every file of it gets again what it held before.

Owns when that would lose something, and which id a memory takes whose own is another's by now. Knows nothing of what the
notes say.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from co_cli import attachment
from co_cli.draft import absolute, content_of, difference
from co_cli.errors import Conflict, NotFound
from co_cli.frontmatter import replace_fields
from co_cli.journal import is_of
from co_cli.note import FOLDERS, MEMORY, claimed_ids

if TYPE_CHECKING:
    from co_cli.draft import Draft
    from co_cli.journal import Change, Done
    from co_cli.vault import Vault


def undo(vault: Vault, number: int) -> Change:
    """Take a change back; refuses with the difference where a file has been changed since."""
    with vault.change("undo", undoes=number) as draft:
        change = next((change for change in vault.journal.changes() if change.number == number), None)
        if change is None:
            raise NotFound(f"There is no change {number}.", "`co log` lists the changes.")
        if change.undone or change.struck:
            why = "has been undone already" if change.undone else "is about a note that was purged"
            raise Conflict(f"Change {number} {why}.", "`co log` lists the changes.")
        steps = vault.journal.steps(number)
        taken = _ids_beside(vault, steps)
        returning = {number for step in steps for number in claimed_ids(step.before or b"")}
        for step in reversed(steps):
            path = absolute(vault.root, step.path)
            now = content_of(path)
            if now == step.before and step.path.startswith(f"{attachment.FOLDER}/"):
                continue  # another article with the same original has brought it back already, or taken it with it
            if not is_of(now, step.after):
                raise Conflict(
                    f"{path} has been changed since: undoing would lose that.",
                    "Nothing was changed. Bring it in order by hand, or undo the later change first.",
                    details=difference(step.after, now, "as co left it", "as it is now"),
                )
            _reverse(vault, draft, step, now, taken, returning)
        attachment.settle(draft, vault)
        words = change.summary.removeprefix("undid: ").removeprefix("redid: ")
        redone = change.operation == "undo" and change.summary.startswith("undid: ")
        draft.summary = f"{'redid' if redone else 'undid'}: {words}"
    return change


def _ids_beside(vault: Vault, steps: tuple[Done, ...]) -> set[int]:
    """The ids of all memories but those that taking these steps back will remove."""
    leaving = {absolute(vault.root, step.path) for step in steps if step.before is None}
    files = (file for archived in (False, True) for file in vault.files(MEMORY, [], archived=archived))
    return {number for path, raw in files if path not in leaving for number in claimed_ids(raw)}


def _reverse(vault: Vault, draft: Draft, step: Done, now: bytes | None, taken: set[int], returning: set[int]) -> None:
    path, restored = absolute(vault.root, step.path), step.before
    folder, name = os.path.split(path)
    if step.after is None and restored is not None and os.path.basename(folder) == FOLDERS[MEMORY]:
        if claimed_ids(restored) & taken:
            # Meanwhile another memory got the id: the one that comes back takes a new one.
            new_id = vault.next_id()
            while new_id in taken | returning:
                new_id += 1
            restored = replace_fields(restored.decode("utf-8"), {"id": new_id}).encode("utf-8")
            path = os.path.join(folder, re.sub(r"^[0-9]+", f"{new_id:03d}", name))
        taken |= claimed_ids(restored)
    draft.put(path, now, restored, mode=step.mode)
