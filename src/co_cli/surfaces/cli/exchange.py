"""The commands that take notes in and hand them out: ``co import``, and ``co knowledge --export``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from co_cli.errors import Invalid
from co_cli.exchange.export import DIGEST, DIGEST_SIZE, FORMS, SKIPPED, WITHHELD, Exported, export
from co_cli.exchange.sources import SOURCES, import_from
from co_cli.knowledge import GLOBAL, PROJECT, open_knowledge
from co_cli.surfaces.cli.terminal import emit, paint, say, warn

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterable

    from co_cli.exchange.report import ImportEntry
    from co_cli.knowledge import KnowledgeBase

_COLOURS = {"created": "green", "create": "green", "updated": "cyan", "update": "cyan", "skipped": "yellow"}
_EXPORTED = {"written": "green", "removed": "red", "left": "yellow", "withheld": "yellow", "skipped": "yellow"}


def import_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Take in what another tool remembered. Doing it again adds nothing twice, and `co undo` takes all of it back.

    SOURCE is what the notes come from, PATH where they are: json, skynet, jsonl, markdown, obsidian, basic-memory, claude,
    codex, gemini, mem0, mcp-memory, chatgpt or claude-ai. A wrong PATH is told what that source takes.

    Examples:
        co import claude . --dry-run
        co import gemini ~/.gemini --global
        co import obsidian ~/Notes
        co import markdown docs/decisions --as memories
        co import chatgpt ~/Downloads/chatgpt.zip --global --conversations
        co import jsonl notes.jsonl
    """
    parser.add_argument("source", choices=tuple(SOURCES), metavar="SOURCE", help="what the notes come from")
    parser.add_argument("path", metavar="PATH", help="the file or folder")
    parser.add_argument("--global", action="store_true", dest="in_global", help="into the vault of all your projects")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    parser.add_argument(
        "--as",
        choices=("topics", "memories"),
        default="",
        dest="as_what",
        help="what a Markdown text becomes: one topic, or a memory for each thing that it says",
    )
    parser.add_argument("--conversations", action="store_true", help="take conversations in as well, as articles")
    return _import


def _import(arguments: Namespace) -> None:
    kb = open_knowledge()
    report = import_from(
        kb,
        arguments.source,
        arguments.path,
        in_global=arguments.in_global,
        dry_run=arguments.dry_run,
        as_what=arguments.as_what,
        conversations=arguments.conversations,
    )
    if not arguments.dry_run:
        warn(kb.context().warnings)  # what was taken in may be loaded into every prompt
    data = {
        "path": report.path,
        "vault": report.vault,
        "dry_run": report.dry_run,
        "counts": dict(report.counts),
        "entries": [{"origin": entry.origin, **asdict(entry)} for entry in report.entries],
    }
    emit(arguments, data, "\n".join(import_lines(report.entries, report.counts.items())))


def import_lines(entries: Iterable[ImportEntry], counts: Iterable[tuple[str, int]]) -> list[str]:
    """The lines of a report for people."""
    entries = list(entries)
    width = max((len(entry.outcome) for entry in entries), default=0)
    lines = [_line(entry, width) for entry in entries]
    return [*lines, ", ".join(f"{count} {outcome}" for outcome, count in counts) or "Nothing to take in."]


def _line(entry: ImportEntry, width: int) -> str:
    outcome = paint(entry.outcome.ljust(width), _COLOURS.get(entry.outcome.removeprefix("would-"), "dim"))
    ref = f" → {entry.ref}" if entry.ref else ""
    return f"{outcome}  {entry.origin}{ref}{f': {entry.reason}' if entry.reason else ''}"


# --------------------------------------------------------------------------------------------------------------- exports


def add_export_arguments(parser: ArgumentParser) -> None:
    """The options of an export."""
    parser.add_argument(
        "--as",
        choices=FORMS,
        default="",
        dest="form",
        metavar="FORM",
        help=f"the format of an export: {', '.join(FORMS)}; by the path otherwise",
    )
    parser.add_argument("--global", action="store_true", dest="in_global", help="export the vault of all your projects")
    parser.add_argument("--all", action="store_true", dest="both", help="export both vaults")
    parser.add_argument("--private", action="store_true", help="export private notes too")
    parser.add_argument(
        "--size", type=int, default=DIGEST_SIZE, metavar="BYTES", help=f"what a digest may have; {DIGEST_SIZE} if not given"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="only say what would be done, for --export, --check and --summarize"
    )


def check_export(arguments: Namespace) -> None:
    """Raise ``Invalid`` for options that would be passed over."""
    exports = arguments.export is not None
    options = (
        arguments.form,
        arguments.in_global,
        arguments.both,
        arguments.private,
        arguments.dry_run and not arguments.check and arguments.summarize is None,
    )
    if not exports and (any(options) or arguments.size != DIGEST_SIZE):
        raise Invalid("These options go with --export.", "Name where to: co knowledge --export ~/notes")
    if exports and (arguments.category or arguments.key or arguments.archived):
        raise Invalid("An export takes tags only.", "Choose with: co knowledge --export ~/notes -t TAG")


def print_export(arguments: Namespace, kb: KnowledgeBase) -> None:
    """Export notes, and print what became of each."""
    vaults = (PROJECT, GLOBAL) if arguments.both else (GLOBAL if arguments.in_global else PROJECT,)
    report = export(
        kb,
        arguments.export,
        form=arguments.form,
        vaults=vaults,
        tags=arguments.tag,
        private=arguments.private,
        size=arguments.size,
        dry_run=arguments.dry_run,
    )
    data = {
        "path": report.path,
        "format": report.form,
        "dry_run": report.dry_run,
        "counts": dict(report.counts),
        "notices": list(report.notices),
        "entries": [entry._asdict() for entry in report.entries],
    }
    told = [entry for entry in report.entries if entry.outcome in (WITHHELD, SKIPPED, "left", "removed")]
    lines = [_export_line(entry) for entry in told if report.form != DIGEST or entry.outcome != SKIPPED]
    would = "Would export" if report.dry_run else "✓ Exported"
    counts = ", ".join(f"{count} {outcome}" for outcome, count in report.counts.items()) or "nothing"
    emit(arguments, data, "\n".join([*lines, f"{would} to {report.path} as {report.form}: {counts}"]))
    for notice in report.notices:
        say(paint(notice, "dim"))


def _export_line(entry: Exported) -> str:
    outcome = paint(entry.outcome.ljust(9), _EXPORTED.get(entry.outcome, "dim"))
    what = " → ".join(filter(None, (entry.ref, entry.path)))
    return f"{outcome}  {what}{f': {entry.reason}' if entry.reason else ''}"
