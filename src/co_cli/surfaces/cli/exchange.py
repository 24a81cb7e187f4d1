"""``co import``: take in what another tool remembered."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from co_cli.exchange.json_form import import_json
from co_cli.exchange.skynet import import_skynet
from co_cli.knowledge import open_knowledge
from co_cli.surfaces.cli.terminal import emit, paint, warn

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from co_cli.exchange.report import ImportEntry

_COLOURS = {"created": "green", "create": "green", "updated": "cyan", "update": "cyan", "skipped": "yellow"}


def import_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Take in what another tool remembered. Doing it again adds nothing twice.

    SOURCE json is the older form of co: internal/context.json and memories/*.json. PATH is the project, its .co-cli folder,
    or one of these files. SOURCE skynet is a Skynet: PATH is its database, its folder, or a folder of its Markdown files.

    Examples:
        co import json . --dry-run
        co import json ~/projects/old
        co import skynet ~/.skynet --global
    """
    parser.add_argument("source", choices=("json", "skynet"), metavar="SOURCE", help="json or skynet")
    parser.add_argument("path", metavar="PATH", help="the file or folder")
    parser.add_argument("--global", action="store_true", dest="in_global", help="into the vault of all your projects")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    return _import


def _import(arguments: Namespace) -> None:
    kb = open_knowledge()
    take_in = {"json": import_json, "skynet": import_skynet}[arguments.source]
    report = take_in(kb, arguments.path, in_global=arguments.in_global, dry_run=arguments.dry_run)
    width = max((len(entry.outcome) for entry in report.entries), default=0)
    lines = [_line(entry, width) for entry in report.entries]
    lines.append(", ".join(f"{count} {outcome}" for outcome, count in report.counts.items()) or "Nothing to take in.")
    warn(kb.context().warnings)  # what was taken in is loaded into every prompt
    data = {
        "path": report.path,
        "vault": report.vault,
        "dry_run": report.dry_run,
        "counts": dict(report.counts),
        "entries": [{"origin": entry.origin, **asdict(entry)} for entry in report.entries],
    }
    emit(arguments, data, "\n".join(lines))


def _line(entry: ImportEntry, width: int) -> str:
    outcome = paint(entry.outcome.ljust(width), _COLOURS.get(entry.outcome.removeprefix("would-"), "dim"))
    ref = f" → {entry.ref}" if entry.ref else ""
    return f"{outcome}  {entry.origin}{ref}{f': {entry.reason}' if entry.reason else ''}"
