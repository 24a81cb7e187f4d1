"""``co knowledge``: what concerns the memories as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from co_cli.errors import Invalid
from co_cli.knowledge import open_knowledge
from co_cli.surfaces.cli.exchange import add_export_arguments, check_export, print_export
from co_cli.surfaces.cli.notes import add_list_arguments, print_list
from co_cli.surfaces.cli.progress import Progress
from co_cli.surfaces.cli.terminal import as_data, counted, emit, warn

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from co_cli.knowledge import KnowledgeBase, Rebuilt


def knowledge_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """List the memories, make the index anew, export the notes, or put notes into the archive: kept there, but no longer
    recalled.

    --check compares all memories with each other, and looks which have served their time. What contradicts another, says the
    same, has expired, was long unused, or names what the project no longer has, is proposed for `co review`; nothing is
    changed.

    --summarize groups memories that speak of the same, and proposes one in place of each group: their own words as a list,
    or those of the model that is configured where they keep every number, name, date and negation. The originals go to
    the archive when you accept. Named memories are one group.

    The index is kept up to date by every search; --reindex is for the day when you do not trust it. Interrupt it when you
    like: the next --reindex goes on where it was.

    Examples:
        co knowledge --list
        co knowledge --reindex
        co knowledge --check --dry-run
        co knowledge --summarize
        co knowledge --summarize 12 15 18 --no-model
        co knowledge --archive 12 15
        co knowledge --restore 12
        co knowledge --export ~/notes
        co knowledge --export notes.jsonl --all
        co knowledge --export AGENTS.md --as digest
        co knowledge --export ~/Vault --as obsidian -t deploy
    """
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--list", action="store_true", help="list the memories")
    what.add_argument("--reindex", action="store_true", help="make the index anew from the notes")
    what.add_argument(
        "--check", action="store_true", help="find memories that contradict each other, say the same, or are worn"
    )
    what.add_argument("--summarize", nargs="*", metavar="REF", help="propose one memory in place of several")
    what.add_argument("--archive", nargs="+", metavar="REF", help="put these notes into the archive")
    what.add_argument("--restore", nargs="+", metavar="REF", help="bring these notes back from the archive")
    what.add_argument("--export", metavar="PATH", help="write the notes to a folder or a file")
    add_list_arguments(parser)
    add_export_arguments(parser)
    parser.add_argument("--no-model", action="store_true", help="summarize in the words of the notes alone")
    return _knowledge


def _knowledge(arguments: Namespace) -> None:
    check_export(arguments)
    if arguments.no_model and arguments.summarize is None:
        raise Invalid("--no-model goes with --summarize.", "Leave it out: nothing else asks a model.")
    kb = open_knowledge()
    if arguments.list:
        print_list(arguments, kb)
        return
    if arguments.export is not None:
        print_export(arguments, kb)
        return
    if arguments.tag or arguments.category or arguments.key or arguments.archived:
        raise Invalid("The filters go with --list.", "Name the notes by their refs: co knowledge --archive 12")
    if arguments.check:
        from co_cli.surfaces.cli.checking import print_check

        print_check(arguments, kb)
        return
    if arguments.summarize is not None:
        from co_cli.surfaces.cli.summaries import print_summaries

        print_summaries(arguments, kb)
        return
    if arguments.reindex:
        _reindex(arguments, kb)
        return
    notes = kb.archive(arguments.archive or arguments.restore, restore=bool(arguments.restore))
    done = "Restored" if arguments.restore else "Archived"
    display = "\n".join(f"✓ {done} {note.ref}: {note.summary}" for note in notes)
    emit(arguments, {"count": len(notes), "notes": [as_data(note) for note in notes], "display": display}, display)


def _reindex(arguments: Namespace, kb: KnowledgeBase) -> None:
    with Progress() as progress:
        done = kb.reindex(progress)
    warn(dict.fromkeys(notice for rebuilt in done for notice in rebuilt.notices))
    warn(problem for rebuilt in done for problem in rebuilt.report.problems)
    data = {"vaults": [_rebuilt_data(rebuilt) for rebuilt in done]}
    emit(arguments, data, "\n".join(map(_rebuilt_line, done)) or "There is no vault yet: nothing to index.")


def _rebuilt_data(rebuilt: Rebuilt) -> dict[str, object]:
    report, coverage = rebuilt.report, rebuilt.coverage
    return {
        "name": rebuilt.vault,
        "path": coverage.path,
        "files": coverage.files,
        "indexed": list(report.indexed),
        "unchanged": report.unchanged,
        "skipped": [{"path": each.path, "line": each.line, "reason": each.message} for each in report.problems],
        "passages": coverage.passages,
        "vectors": coverage.vectors,
        "seconds": round(rebuilt.seconds, 2),
    }


def _rebuilt_line(rebuilt: Rebuilt) -> str:
    report, coverage = rebuilt.report, rebuilt.coverage
    counts = [f"{counted(len(report.indexed), 'note', 'notes')} indexed"]
    if report.unchanged:
        counts.append(f"{report.unchanged} already there")
    if report.problems:
        counts.append(f"{len(report.problems)} skipped")
    if coverage.vectors:
        counts.append(counted(coverage.vectors, "vector", "vectors"))
    return f"✓ {rebuilt.vault}: {', '.join(counts)} in {rebuilt.seconds:.1f} s"
