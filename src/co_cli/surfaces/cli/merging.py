"""``co merge``: join another vault into one of ours, or two versions of a note where git asks for it."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from co_cli.errors import Invalid
from co_cli.exchange.git_driver import merge_file, set_up
from co_cli.exchange.merging import merge_vault
from co_cli.knowledge import GLOBAL, PROJECT, open_knowledge
from co_cli.surfaces.cli.exchange import import_lines
from co_cli.surfaces.cli.terminal import counted, emit, paint, painted_difference, say

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Sequence

    from co_cli.exchange.wholes import Divergence
    from co_cli.knowledge import KnowledgeBase

_UNSETTLED = 1


def merge_command(parser: ArgumentParser) -> Callable[[Namespace], int]:
    """Join another vault into this project's, as one change that `co undo` takes back.

    A note that is here already is recognised. What only one side changed is taken over; where both changed something, ours
    stays, and theirs is proposed: co review. Ids that are taken are given anew, and what refers to them goes along.

    With --driver it joins two versions of one file for git, and ends with 1 where a person has to decide: `co init --git`
    tells git to call it.

    Examples:
        co merge ~/other-project --dry-run
        co merge ~/other-project
        co merge ~/backup/knowledge --into global
    """
    parser.add_argument("vault", nargs="?", default="", metavar="VAULT", help="a vault, or a project that has one")
    parser.add_argument(
        "--into", choices=(PROJECT, GLOBAL), default=PROJECT, help="which of your vaults; project if left out"
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    parser.add_argument("--driver", nargs=4, metavar="FILE", help="for git: BASE OURS THEIRS NAME")
    return _merge


def _merge(arguments: Namespace) -> int:
    if bool(arguments.vault) == bool(arguments.driver):
        raise Invalid("Name either a vault or, for git, four files.", "To join a vault: co merge ~/other-project")
    return _drive(arguments) if arguments.driver else _join(arguments)


def _drive(arguments: Namespace) -> int:
    done = merge_file(*arguments.driver)
    if done.message:
        say(done.message)
    emit(arguments, {"name": arguments.driver[3], "conflicts": done.conflicts, "message": done.message}, "")
    return _UNSETTLED if done.conflicts else 0


def _join(arguments: Namespace) -> int:
    kb = open_knowledge()
    merged = merge_vault(kb, arguments.vault, into=arguments.into, dry_run=arguments.dry_run)
    report, differing = merged.report, merged.divergences
    states = [] if arguments.dry_run else _proposed(kb, differing)
    data = {
        "path": report.path,
        "vault": report.vault,
        "dry_run": report.dry_run,
        "counts": dict(report.counts),
        "entries": [{"origin": entry.origin, **asdict(entry)} for entry in report.entries],
        "conflicts": [
            {"ref": each.ref, "path": each.path, "origin": each.origin, "difference": each.difference} for each in differing
        ],
    }
    told = [entry for entry in report.entries if entry.outcome != "unchanged"]
    lines = import_lines(told, report.counts.items())
    for each in differing:
        lines.insert(-1, painted_difference(each.difference, sys.stdout))
    emit(arguments, data, "\n".join(lines))
    waiting = sum(state in ("proposed", "waiting already") for state in states)
    if waiting:
        what = counted(waiting, "note says", "notes say")
        say(paint(f"{what} something else there: ours stands, theirs is proposed. Decide with: co review", "yellow"))
    return 0


def _proposed(kb: KnowledgeBase, differing: Sequence[Divergence]) -> list[str]:
    """Put what differs into the inbox; returns what became of each."""
    from co_cli.exchange.report import short_name
    from co_cli.learning.inbox import Evidence, Proposal, propose
    from co_cli.learning.proposal import REVISE, UPDATE

    proposals = []
    for each in differing:
        note = each.note
        fields: dict[str, str | int | bool | list[str]] = {"tags": list(note.tags)}
        if note.private:
            fields["private"] = True
        evidence = Evidence(session=short_name(each.origin), refs=(each.ref,))
        reason = f"the vault that was merged says something else in {short_name(each.origin)}"
        proposals.append(
            Proposal(UPDATE, each.vault, REVISE, note.body, fields, (each.ref,), evidence=evidence, reason=reason)
        )
    return [outcome.state for outcome in propose(kb, proposals)]


def print_git_set_up(arguments: Namespace, kb: KnowledgeBase) -> None:
    """Tell git to merge notes as notes, and print what was set."""
    vault = kb.vault(GLOBAL if arguments.in_global else PROJECT)
    done = set_up(vault)
    lines = [f"✓ {line}" for line in done] or ["git merges notes with co already: nothing to set."]
    if done:
        lines.append("Commit .gitattributes; everybody else runs `co init --git` once in their clone.")
    emit(arguments, {"vault": vault.root, "set": done, "display": "\n".join(lines)}, "\n".join(lines))
