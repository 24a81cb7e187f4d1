"""``co topic``: the documents that everybody shares."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from co_cli.errors import Invalid, Unavailable
from co_cli.knowledge import open_knowledge
from co_cli.surfaces.cli.terminal import as_data, emit, paint, say, visible, warn
from co_cli.tools import ENTRIES, table

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from co_cli.knowledge import KnowledgeBase, Saved


def topic_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Write, read and find topics: documents that everybody shares, each under a name.

    A name need not be spelt the same way twice: "discord setup" finds discord_setup. Writing a topic that is there gives it
    the new text; `co log` keeps the old one, and `co undo` brings it back.

    Examples:
        co topic write deploy_steps "1. Tag. 2. Push. 3. Wait." -t deploy,release
        co topic write deploy_steps --file docs/deploy.md
        co topic show "deploy steps"
        co topic search rollback
        co topic list
    """
    actions = parser.add_subparsers(dest="action", required=True, prog="co topic", metavar="ACTION")
    write = actions.add_parser("write", help="write a topic, new or in place of its old text")
    write.add_argument("name", metavar="NAME", help="its name, such as deploy_steps")
    write.add_argument("text", nargs="*", metavar="TEXT", help="the whole text, in Markdown; - reads it from stdin")
    write.add_argument("--file", metavar="PATH", help="take the text from a file")
    write.add_argument("-t", "--tag", action="append", metavar="TAG", help="its tags, instead of the old ones")
    write.add_argument("--global", action="store_true", dest="in_global", help="for all your projects")
    write.add_argument("--expected", metavar="SHA", help="only if it is the one with this hash; see show --json")
    show = actions.add_parser("show", help="print a topic")
    show.add_argument("name", metavar="NAME", help="which topic")
    listing = actions.add_parser("list", help="list the topics with their tags and sources")
    listing.add_argument("-t", "--tag", action="append", default=[], metavar="TAG", help="only those with this tag")
    search = actions.add_parser("search", help="find topics by what they say")
    search.add_argument("query", nargs="+", metavar="QUERY", help="words to look for")
    search.add_argument("-n", type=int, default=ENTRIES, dest="limit", metavar="N", help=f"at most so many ({ENTRIES})")
    search.add_argument("--mode", default="", metavar="M", help="auto, grep, text, vector or hybrid")
    delete = actions.add_parser("delete", help="remove topics; `co undo` brings them back")
    delete.add_argument("names", nargs="+", metavar="NAME", help="which topics")
    seed = actions.add_parser("seed", help="load new seed documents, or look at those that changed")
    seed.add_argument("names", nargs="*", metavar="NAME", help="with --update: these, whatever became of their topics here")
    how = seed.add_mutually_exclusive_group()
    how.add_argument("--diff", action="store_true", help="show what taking the changed seed documents would change")
    how.add_argument("--update", action="store_true", help="take those that changed and whose topics nobody touched here")
    run = {"write": _write, "show": _show, "list": _list, "search": _search, "delete": _delete, "seed": _seed}
    return lambda arguments: run[arguments.action](arguments, open_knowledge())


def _write(arguments: Namespace, kb: KnowledgeBase) -> None:
    saved = kb.write_topic(
        arguments.name,
        _text(arguments),
        tags=arguments.tag,
        in_global=arguments.in_global,
        expected_sha=arguments.expected,
    )
    data = {**as_data(saved.note), "sha": saved.note.sha, "outcome": saved.outcome, "display": _told(saved)}
    emit(arguments, data, _told(saved))


def _told(saved: Saved) -> str:
    note = saved.note
    return {
        "created": f"✓ Created {note.ref}\nLocation: {note.path}",
        "updated": f"✓ Updated {note.ref}; `co undo` brings its old text back\nLocation: {note.path}",
        "unchanged": f"{note.ref} says this already: nothing was changed.",
    }[saved.outcome]


def _text(arguments: Namespace) -> str:
    """The text that was given: as words, from a file, or from stdin."""
    if bool(arguments.text) == bool(arguments.file):
        raise Invalid("Give the text of the topic, or a file with --file.", "See: co topic write --help", code="usage")
    try:
        if arguments.file:
            with open(arguments.file, "rb") as file:
                return file.read().decode("utf-8-sig")
        if arguments.text == ["-"]:
            return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid("The text is not UTF-8.", "Convert it first, for instance with iconv.") from error
    except OSError as error:
        raise Unavailable(
            f"{arguments.file} cannot be read: {error.strerror}.", "Check its name and permissions."
        ) from error
    return " ".join(arguments.text)


def _show(arguments: Namespace, kb: KnowledgeBase) -> None:
    note = kb.topic(arguments.name)
    if not arguments.json:
        about = " · ".join(filter(None, (note.ref, ", ".join(note.tags), note.source, note.path)))
        say(paint(about, "dim", sys.stderr))
    emit(arguments, {**as_data(note), "sha": note.sha}, visible(note.body))


def _list(arguments: Namespace, kb: KnowledgeBase) -> None:
    found = kb.topics(tags=arguments.tag)
    warn(found.problems)
    display = visible(table(found.notes))
    emit(arguments, {"count": len(found.notes), "topics": [as_data(note) for note in found.notes]}, display)


def _search(arguments: Namespace, kb: KnowledgeBase) -> None:
    found = kb.search_topics(" ".join(arguments.query), limit=arguments.limit, mode=arguments.mode)
    warn((*found.problems, *found.notices))
    results = [{**as_data(hit.note), "score": hit.score} for hit in found.hits]
    data = {
        "query": found.query,
        "mode": found.mode,
        "count": len(results),
        "degraded": [*found.degraded],
        "results": results,
    }
    text = "\n\n".join(
        f"{paint(f'[{hit.note.ref}]', 'bold')} {paint(visible(' '.join(f'#{tag}' for tag in hit.note.tags)), 'dim')}\n"
        + visible(hit.note.body)
        for hit in found.hits
    )
    emit(arguments, data, text)
    if not arguments.json:
        count = len(found.hits)
        what = f"{count} {'topic' if count == 1 else 'topics'}" if count else f"No topics found matching '{found.query}'"
        say(paint(" · ".join((what, found.mode, *found.degraded)), "dim", sys.stderr))


def _delete(arguments: Namespace, kb: KnowledgeBase) -> None:
    names = [kb.topic(name).ref for name in arguments.names]  # all are known before the first one goes
    notes = [kb.delete_topic(name) for name in dict.fromkeys(names)]
    display = "\n".join(f"✓ Deleted {note.ref}" for note in notes)
    emit(arguments, {"count": len(notes), "deleted": [as_data(note) for note in notes], "display": display}, display)


def _seed(arguments: Namespace, kb: KnowledgeBase) -> None:
    if arguments.names and not arguments.update:
        raise Invalid("Names go with --update.", "See: co topic seed --help", code="usage")
    loaded = kb.load_seeds()
    if arguments.diff:
        _show_changes(arguments, kb)
        return
    seeding = kb.take_seeds(arguments.names) if arguments.update else loaded
    warn(seeding.problems)
    lines = [f"{each.outcome.ljust(6)}  {each.ref}{f': {each.reason}' if each.reason else ''}" for each in seeding.seeded]
    if arguments.update and any(each.outcome == "left" for each in seeding.seeded):
        lines.append("What was left is taken by its name: co topic seed --update NAME")
    data = {"count": len(seeding.seeded), "seeds": [each._asdict() for each in seeding.seeded]}
    emit(arguments, data, "\n".join(lines) or "Nothing new in the seed documents.")


def _show_changes(arguments: Namespace, kb: KnowledgeBase) -> None:
    changes, problems = kb.changed_seeds()
    warn(problems)
    about = {
        "unchanged": "co topic seed --update takes it",
        "edited": "the topic was changed here",
        "deleted": "the topic was deleted here",
        "own": "the topic was there before the seed",
    }
    text = "\n\n".join(
        f"{paint(change.ref, 'bold')}: {change.path} has changed; {about[change.state]}\n{visible(change.difference)}"
        for change in changes
    )
    data = {"count": len(changes), "changed": [change._asdict() for change in changes]}
    emit(arguments, data, text or "No seed document has changed.")
