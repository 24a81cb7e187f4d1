"""``co import``: take in what another tool remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from co_cli.exchange.json_form import import_json
from co_cli.knowledge import open_knowledge
from co_cli.surfaces.cli.terminal import emit, paint

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable


def import_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Take in what another tool remembered. Doing it again adds nothing twice.

    SOURCE json is the older form of co: internal/context.json and memories/*.json. PATH is the project, its .co-cli folder,
    or one of these files.

    Examples:
        co import json . --dry-run
        co import json ~/work/old-project
    """
    parser.add_argument("source", choices=("json",), metavar="SOURCE", help="json")
    parser.add_argument("path", metavar="PATH", help="the file or folder")
    parser.add_argument("--global", action="store_true", dest="in_global", help="into the vault of all your projects")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    return _import


def _import(arguments: Namespace) -> None:
    report = import_json(open_knowledge(), arguments.path, in_global=arguments.in_global, dry_run=arguments.dry_run)
    colours = {"created": "green", "updated": "cyan", "skipped": "yellow"}
    lines = []
    for entry in report.entries:
        outcome = paint(entry.outcome.ljust(9), colours.get(entry.outcome, "dim"))
        lines.append(
            f"{outcome}  {entry.origin}"
            + (f" → {entry.ref}" if entry.ref else "")
            + (f": {entry.reason}" if entry.reason else "")
        )
    lines.append(", ".join(f"{count} {outcome}" for outcome, count in report.counts.items()) or "Nothing to take in.")
    entries = [
        {"origin": entry.origin, "outcome": entry.outcome, "ref": entry.ref, "reason": entry.reason}
        for entry in report.entries
    ]
    emit(arguments, {"counts": dict(report.counts), "entries": entries}, "\n".join(lines))
