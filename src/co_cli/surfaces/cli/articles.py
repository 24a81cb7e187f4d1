"""``co article``: pages and files that were taken in, each with its source and its original."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from co_cli.errors import DENIED, CoError
from co_cli.knowledge import GLOBAL, open_knowledge
from co_cli.surfaces.cli import linked
from co_cli.surfaces.cli.main import EXIT_CODES
from co_cli.surfaces.cli.progress import Progress
from co_cli.surfaces.cli.terminal import as_data, ask, counted, emit, harmless, interactive, paint, say, visible, warn

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from co_cli.articles.entry import Entry
    from co_cli.articles.renewal import State
    from co_cli.knowledge import KnowledgeBase, Note

_COLOURS = {"added": "green", "updated": "cyan", "skipped": "dim", "failed": "red", "changed": "cyan", "dead": "red"}


def article_command(parser: ArgumentParser) -> Callable[[Namespace], int | None]:
    """Take in pages and files, and look after what was taken in. Each becomes a note that `co recall` finds, and its
    original is kept beside it as it came. Folders of notes that somebody else looks after can be linked instead.

    Adding the same page or file again updates its article; what is as it was stays untouched. `co log` has the old text, and
    `co undo` brings it back. A folder is gone through with all folders below it; hidden files and links are passed by.

    Examples:
        co article add https://www.rfc-editor.org/rfc/rfc9110 -t http
        co article add papers/ notes/plan.docx
        co article list -t http
        co article show rfc-9110
        co article refresh
        co article check
        co article link ~/Obsidian --name notes --global --private
    """
    actions = parser.add_subparsers(dest="action", required=True, prog="co article", metavar="ACTION")
    add = actions.add_parser("add", help="take in pages, files and folders of files")
    add.add_argument("what", nargs="+", metavar="URL|FILE|FOLDER", help="what to take in")
    add.add_argument("-t", "--tag", action="append", default=[], metavar="TAG", help="a tag; may be given again")
    add.add_argument("--global", action="store_true", dest="in_global", help="for all your projects")
    add.add_argument("--title", default="", metavar="TITLE", help="another title than that of the document")
    add.add_argument("--private", action="store_true", help="never let it leave this machine")
    add.add_argument("--dry-run", action="store_true", help="only say what would be done")
    listing = actions.add_parser("list", help="list the articles with their sources")
    listing.add_argument("-t", "--tag", action="append", default=[], metavar="TAG", help="only those with this tag")
    listing.add_argument("--archived", action="store_true", help="those in the archive instead")
    show = actions.add_parser("show", help="print an article")
    show.add_argument("name", metavar="NAME", help="which one: its name, its ref or its source")
    delete = actions.add_parser("delete", help="remove articles and their originals; `co undo` brings them back")
    delete.add_argument("names", nargs="+", metavar="NAME", help="which ones")
    refresh = actions.add_parser("refresh", help="read the sources again, and show what has changed there")
    refresh.add_argument("names", nargs="*", metavar="NAME", help="these articles; all if left out")
    refresh.add_argument("--yes", action="store_true", help="replace what has changed without asking")
    check = actions.add_parser("check", help="find articles whose sources are gone; nothing is removed")
    check.add_argument("names", nargs="*", metavar="NAME", help="these articles; all if left out")
    linked.add_link_actions(actions)
    run = {"add": _add, "list": _list, "show": _show, "delete": _delete, "refresh": _refresh, "check": _check, **linked.RUN}
    return lambda arguments: run[arguments.action](arguments, open_knowledge())


# -------------------------------------------------------------------------------------------------------------- taking in


def _add(arguments: Namespace, kb: KnowledgeBase) -> int:
    from co_cli.articles.intake import Wish, take_in

    wish = Wish(tuple(arguments.tag), arguments.title, arguments.private, arguments.in_global, arguments.dry_run)
    entries = []
    try:
        with Progress() as progress:
            for entry in take_in(kb, arguments.what, wish, progress):
                entries.append(entry)
                if not arguments.json:
                    progress.clear()
                    print(harmless(_line(entry), sys.stdout), flush=True)
    except KeyboardInterrupt:
        say("What was taken in stays. The same command goes on from there.")
        raise
    return _summed_up(arguments, entries)


def _line(entry: Entry) -> str:
    """What became of one document."""
    outcome = paint(entry.outcome.ljust(12 if entry.outcome.startswith("would") else 9), _colour(entry.outcome))
    ref = f" → {entry.ref}" if entry.ref else ""
    about = ", ".join(filter(None, (entry.kind, counted(entry.pages, "page", "pages") if entry.pages else "")))
    reason = f": {visible(entry.reason)}" if entry.reason else ""
    hint = f" {visible(entry.hint)}" if entry.outcome == "failed" else ""
    lines = [f"{outcome} {_one_line(entry.source)}{ref}{f' ({about})' if about else ''}{reason}{hint}"]
    return "\n".join([*lines, *(paint(f"          {visible(notice)}", "dim") for notice in entry.notices)])


def _one_line(text: str) -> str:
    """A source as it fits on a line; a file may be called anything."""
    return visible(text).replace("\n", "␊")


def _colour(outcome: str) -> str:
    return _COLOURS.get(outcome, "green" if outcome.startswith("would") else "dim")


def _summed_up(arguments: Namespace, entries: list[Entry]) -> int:
    from co_cli.articles.entry import counts

    found = counts(entries)
    data = {"counts": found, "entries": [{**entry._asdict(), "notices": [*entry.notices]} for entry in entries]}
    emit(arguments, data, "")
    if not arguments.json:
        say(paint(", ".join(f"{count:,} {outcome}" for outcome, count in found.items()) or "There is no file in it.", "dim"))
    if len(entries) == 1 and entries[0].error:
        return EXIT_CODES[entries[0].error]
    return 1 if "failed" in found else 0


# ----------------------------------------------------------------------------------------------------------- looking after


def _list(arguments: Namespace, kb: KnowledgeBase) -> None:
    found = kb.articles(tags=arguments.tag, archived=arguments.archived)
    warn(found.problems)
    data = {"count": len(found.notes), "articles": [_data(kb, note) for note in found.notes]}
    emit(arguments, data, "\n".join(_listed(kb, note) for note in found.notes))
    if not arguments.json:
        none = "No articles match." if arguments.tag or arguments.archived else "No articles yet: co article add URL"
        say(paint(f"Total articles: {len(found.notes)}" if found.notes else none, "dim", sys.stderr))


def _listed(kb: KnowledgeBase, note: Note) -> str:
    tags = visible(f" [{', '.join(note.tags)}]") if note.tags else ""
    marks = paint(" (private)", "dim") if note.private else ""
    source = paint(_one_line(f" — {kb.details(note).source}"), "dim") if note.source else ""
    day = paint(note.created[:10].ljust(10), "dim")
    return f"{paint(note.ref, 'bold')}  {day}  {visible(note.title)}{paint(tags, 'cyan')}{marks}{source}"


def _data(kb: KnowledgeBase, note: Note) -> dict[str, object]:
    """An article as JSON, with what it says of where it comes from."""
    found = {name: value for name, value in kb.details(note)._asdict().items() if value}
    return {**as_data(note), **found}


def _show(arguments: Namespace, kb: KnowledgeBase) -> None:
    note = kb.article(arguments.name)
    if not arguments.json:
        found = kb.details(note)
        about = (note.ref, note.title, ", ".join(note.tags), found.author, found.date, found.source, found.attachment)
        say(paint(visible(" · ".join(filter(None, about))), "dim", sys.stderr))
    emit(arguments, {**_data(kb, note), "sha": note.sha}, visible(note.body))


def _delete(arguments: Namespace, kb: KnowledgeBase) -> None:
    refs = [kb.article(name).ref for name in arguments.names]  # all are known before the first one goes
    notes = [kb.delete_article(ref) for ref in dict.fromkeys(refs)]
    display = "\n".join(f"✓ Deleted {note.ref}" for note in notes)
    emit(arguments, {"count": len(notes), "deleted": [as_data(note) for note in notes], "display": display}, display)


# ------------------------------------------------------------------------------------------------- sources that live on


def _refresh(arguments: Namespace, kb: KnowledgeBase) -> int:
    from co_cli.articles.renewal import CHANGED, LEFT, SAME, refreshed

    consent = _Consent("all" if arguments.yes else "" if interactive() and not arguments.json else "nobody")
    states = []
    with Progress() as progress:
        for state in refreshed(kb, _meant(kb, arguments.names), progress):
            progress.clear()
            if state.outcome != SAME and not arguments.json:
                print(harmless(_state_lines(state), sys.stdout), flush=True)
            states.append(consent.settled(kb, state) if state.outcome == CHANGED else state)
    code = _report_states(arguments, states)
    if consent.answer == "nobody" and any(state.outcome == LEFT for state in states):
        say("What has changed was left as it is, since nobody can be asked. To replace it: co article refresh --yes")
        return EXIT_CODES[DENIED]
    return code


class _Consent:
    """Whether what has changed is to be replaced; asked about once for each, or for all of them."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        """``all``, ``nobody`` where none can be asked, or nothing where each is to be asked about."""

    def settled(self, kb: KnowledgeBase, state: State) -> State:
        """What became of an article whose source has changed."""
        from co_cli.articles.renewal import LEFT, REPLACED

        answer = self.answer
        if state.strange and answer == "all":  # it is to be looked at in any case
            if not interactive():
                source = visible(state.source)
                say(f"{state.note.ref} was left: {source} lies outside of the project, and may not be meant to be in it.")
                say(f"If it is: co article add {source}")
                return state._replace(outcome=LEFT)
            answer = ""
        answer = answer or self._ask(state.note)
        if answer in ("nobody", "no") or state.incoming is None:
            return state._replace(outcome=LEFT)
        (saved,) = kb.save_articles([state.incoming], in_global=state.note.vault == GLOBAL)
        if isinstance(saved, CoError):
            return state._replace(outcome="failed", reason=f"{saved.message} {saved.hint}", code=saved.code)
        return state._replace(outcome=REPLACED, note=saved.note)

    def _ask(self, note: Note) -> str:
        answer = ask(f"Replace the text of {note.ref}? y yes, n no, a all that follow", otherwise="").lower()
        if answer in ("a", "all"):
            self.answer = "all"
        return "yes" if answer in ("y", "yes", "a", "all") else "no"


def _check(arguments: Namespace, kb: KnowledgeBase) -> int:
    from co_cli.articles.renewal import ALIVE, checked

    states = []
    with Progress() as progress:
        for state in checked(kb, _meant(kb, arguments.names), progress):
            states.append(state)
            if state.outcome != ALIVE and not arguments.json:
                progress.clear()
                print(harmless(_state_lines(state), sys.stdout), flush=True)
    return _report_states(arguments, states)


def _meant(kb: KnowledgeBase, names: list[str]) -> tuple[Note, ...]:
    if names:
        return tuple({note.path: note for note in map(kb.article, names)}.values())
    found = kb.articles()
    warn(found.problems)
    return found.notes


def _state_lines(state: State) -> str:
    outcome = paint(state.outcome.ljust(11), _colour(state.outcome))
    reason = f": {visible(state.reason)}" if state.reason else ""
    line = f"{outcome} {paint(state.note.ref, 'bold')} — {_one_line(state.source)}{reason}"
    return f"{line}\n{visible(state.difference)}" if state.difference else line


def _report_states(arguments: Namespace, states: list[State]) -> int:
    """Say what was found; 1 where something is to be looked at."""
    from co_cli.articles.renewal import DEAD, UNREACHABLE, counts

    found = counts(states)
    shown = ("outcome", "source", "reason", "code", "difference")
    rows = [{"ref": state.note.ref, **{name: getattr(state, name) for name in shown}} for state in states]
    emit(arguments, {"counts": found, "articles": rows}, "")
    if not arguments.json:
        said = ", ".join(f"{count:,} {outcome}" for outcome, count in found.items())
        say(paint(said or "No articles yet: co article add URL", "dim", sys.stderr))
    return 1 if {DEAD, UNREACHABLE, "failed"} & {state.outcome for state in states} else 0
