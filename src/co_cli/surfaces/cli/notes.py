"""The commands of every day: learn, list, show, edit, forget, pin, unpin."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from co_cli.errors import CoError, Conflict, Denied, Invalid, NotFound, Unavailable
from co_cli.knowledge import GLOBAL, MEMORY, is_expired, open_knowledge
from co_cli.surfaces.cli.editor import editor_of, run_editor
from co_cli.surfaces.cli.recall import neighbour_line
from co_cli.surfaces.cli.terminal import as_data, ask, emit, interactive, line_of, paint, say, visible, warn

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterable

    from co_cli.knowledge import KnowledgeBase, Listing, Note, Saved
    from co_cli.learning.relations.pairs import Report
    from co_cli.learning.summaries.derivation import Derived


def learn_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Remember a small fact: one sentence that stands by itself.

    Saying the same again adds nothing. The same --category and --key again replace the text; `co log` keeps the old one.

    With --auto, co drafts such facts from what you say in chats; with --from, from what you said in earlier sessions with
    Claude Code, Codex, Gemini CLI or co itself. Drafts wait in the inbox for your yes.

    Examples:
        co learn "We deploy on Fridays, after the tests are green" -t deploy
        co learn "I prefer concise answers" --global --pin
        co learn "Staging is frozen" --expires 30d
        git log -1 --format=%s | co learn -
        co learn --auto
        co learn --auto=false
        co learn --from ~/.claude/projects --since 2026-11-01 --dry-run
    """
    parser.add_argument("text", nargs="*", metavar="TEXT", help="what to remember; - reads it from stdin")
    parser.add_argument("-t", "--tag", action="append", default=[], metavar="TAG", help="a tag; may be given again")
    parser.add_argument("--global", action="store_true", dest="in_global", help="for all your projects")
    parser.add_argument("--category", default="", metavar="C", help="user_preferences, project_insights or learned_facts")
    parser.add_argument("--key", default="", metavar="K", help="a name under which a later text replaces this one")
    parser.add_argument("--language", default="", metavar="L", help="the programming language that it is about")
    parser.add_argument("--expires", default="", metavar="WHEN", help="a date (2026-12-31) or a span (30d, 2w, 6m, 1y)")
    parser.add_argument("--pin", action="store_true", help="load it into every prompt")
    parser.add_argument("--private", action="store_true", help="never let it leave this machine")
    parser.add_argument("--force", action="store_true", help="add a twin all the same; keep a secret, as private")
    parser.add_argument("--auto", nargs="?", const="true", metavar="YES", help="draft facts from chats; false: no longer")
    parser.add_argument(
        "--from", dest="transcripts", default="", metavar="PATH", help="draft facts from transcripts of agents"
    )
    parser.add_argument("--since", default="", metavar="DATE", help="only from what was said since then (--from)")
    parser.add_argument("--dry-run", action="store_true", help="show the drafts, and propose none (--from)")
    parser.add_argument(
        "--with-model", action="store_true", help="ask the configured model too, within learn_tokens (--from)"
    )
    return _learn


def _learn(arguments: Namespace) -> None:
    if _is_drafting(arguments):
        return
    text = _given(arguments.text)
    kb = open_knowledge()
    saved = kb.save(
        text,
        tags=arguments.tag,
        in_global=arguments.in_global,
        category=arguments.category,
        key=arguments.key,
        language=arguments.language,
        expires=arguments.expires,
        pinned=arguments.pin,
        private=arguments.private,
        force=arguments.force,
    )
    note = saved.note
    name = os.path.basename(note.path)
    display = {
        "created": f"✓ Saved memory {note.ref}: {name}\nLocation: {note.path}",
        "updated": f"✓ Updated memory {note.ref}: {name}\nLocation: {note.path}",
        "unchanged": f"Memory {note.ref} already says this: {note.summary}\nNothing was added; --force adds it.",
    }[saved.outcome]
    display += _expired(arguments, note)
    if note.private and not arguments.private and saved.outcome != "unchanged":
        display += "\nIt is kept as a private note: it never leaves this machine."
    data: dict[str, object] = {"memory_id": note.id}
    if saved.outcome != "unchanged":
        sentences, related = _compared(kb, note)
        display = "\n".join((display, *map(visible, sentences)))
        data.update({"related": related} if related else {})
    emit(arguments, {**data, **_outcome(saved, display)}, display)


def _compared(kb: KnowledgeBase, note: Note) -> Report:
    """What a new memory repeats or contradicts; in a large vault that has no index yet, one is made to find that."""
    from co_cli.learning.relations.pairs import compare
    from co_cli.surfaces.cli.progress import Progress

    with Progress() as kb.progress:
        return compare(kb, note)


def _is_drafting(arguments: Namespace) -> bool:
    """Switch drafting on or off, or draft from transcripts, where that is what is wanted."""
    given = [name for name in ("auto", "transcripts") if getattr(arguments, name)]
    if (given and arguments.text) or len(given) > 1:
        raise Invalid("A text, --auto and --from are three different things.", "Give one of them.")
    if not given and not arguments.text:
        raise Invalid(
            "There is nothing to remember.", 'Say it in a sentence: co learn "We use pytest." See: co learn --help'
        )
    if not arguments.transcripts and (arguments.since or arguments.dry_run or arguments.with_model):
        raise Invalid("--since, --dry-run and --with-model are for --from.", "Name the transcripts: co learn --from PATH")
    if not given:
        return False
    from co_cli.surfaces.cli import learning

    (learning.switch if arguments.auto else learning.learn_from)(arguments)
    return True


def _given(words: list[str]) -> str:
    if words == ["-"]:
        if sys.stdin is None:
            raise Invalid("There is no input to read.", 'Give the text itself: co learn "…"')
        if hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(errors="strict")  # in some locales Python would smuggle in bytes that are no text
        try:
            return sys.stdin.read()
        except UnicodeDecodeError as error:
            raise Invalid("The input is not UTF-8.", "Convert it first, for instance with iconv.") from error
    return " ".join(words)


def _outcome(saved: Saved, display: str) -> dict[str, object]:
    return {"path": saved.note.path, "ref": saved.note.ref, "outcome": saved.outcome, "display": display}


def list_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """List the memories of the project and the global ones.

    Examples:
        co list
        co list -t deploy --json
        co list --archived
    """
    add_list_arguments(parser)
    return lambda arguments: print_list(arguments, open_knowledge())


def add_list_arguments(parser: ArgumentParser) -> None:
    """The filters of a list of memories."""
    parser.add_argument("-t", "--tag", action="append", default=[], metavar="TAG", help="only those with this tag")
    parser.add_argument("--category", default="", metavar="C", help="only those of this category")
    parser.add_argument("--key", default="", metavar="K", help="only those with this key")
    parser.add_argument("--archived", action="store_true", help="those in the archive instead")


def print_list(arguments: Namespace, kb: KnowledgeBase) -> None:
    """Print the memories that the filters let through."""
    listing = kb.list(
        (MEMORY,), tags=arguments.tag, category=arguments.category, key=arguments.key, archived=arguments.archived
    )
    warn(listing.problems)
    count = len(listing.notes)
    emit(arguments, _listed(listing) if arguments.json else None, "\n".join(map(line_of, listing.notes)))
    if not arguments.json:
        filtered = any((arguments.tag, arguments.category, arguments.key, arguments.archived))
        none = "No memories match." if filtered else 'No memories yet. Save one: co learn "…"'
        say(paint(f"Total memories: {count}" if count else none, "dim", sys.stderr))
        if listing.problems:
            say("`co doctor` says what to do about these files.")


def _listed(listing: Listing) -> dict[str, object]:
    problems = [{"path": problem.path, "line": problem.line, "message": problem.message} for problem in listing.problems]
    return {"count": len(listing.notes), "memories": [as_data(note) for note in listing.notes], "problems": problems}


def show_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Show a note as it stands in its file, or the section or page of it that a citation names.

    Examples:
        co show 12
        co show g:3
        co show topic:deploy --links
        co show article:rfc-9110#routing
        co show "article:manual p. 12"
        co show context
    """
    parser.add_argument("ref", metavar="REF", help="which note: 12, g:3, topic:deploy, context; or which part of it")
    parser.add_argument("--links", action="store_true", help="the notes that it is linked with, instead of its text")
    return _show


def _show(arguments: Namespace) -> None:
    kb = open_knowledge()
    part = kb.part(arguments.ref)
    note = part.note
    if not arguments.json:
        say(paint(note.path, "dim", sys.stderr))
    data = {**as_data(note), "sha": note.sha, "text": note.text}
    if not (part.is_whole or arguments.links):
        data.update(content=part.text, text=part.text, cite=arguments.ref.strip(), page=part.page or None, line=part.line)
        emit(arguments, data, visible(part.text))
        return
    if not arguments.links:
        emit(arguments, data, visible(note.text.removeprefix("\ufeff").rstrip("\n")))
        return
    linked = kb.neighbours([note])[note.path]
    lines = map(neighbour_line, linked)
    emit(arguments, {**data, "links": [each._asdict() for each in linked]}, "\n".join(lines))
    if not linked and not arguments.json:
        say(paint(f"{note.ref} is linked with no other note.", "dim", sys.stderr))


def edit_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Change a note in your editor, or with options. What you do not touch stays as it is.

    The editor is the setting `editor`, else $VISUAL, else $EDITOR. A change that another program made meanwhile is never
    overwritten.

    Examples:
        co edit 12
        co edit context
        co edit 12 --content "We deploy on Mondays" -t deploy
    """
    parser.add_argument("ref", metavar="REF", help="which note: 12, g:3, context, g:context")
    parser.add_argument("--content", metavar="TEXT", help="the new text; - reads it from stdin")
    parser.add_argument("-t", "--tag", action="append", metavar="TAG", help="the new tags, instead of the old")
    parser.add_argument("--expires", metavar="WHEN", help='a date or a span; "" for never')
    parser.add_argument("--private", action="store_const", const=True, help="never let it leave this machine")
    parser.add_argument("--force", action="store_true", help="keep what looks like a secret, as private")
    return _edit


def _edit(arguments: Namespace) -> None:
    kb = open_knowledge()
    options = (arguments.content, arguments.tag, arguments.expires, arguments.private)
    if all(option is None for option in options):
        saved = _edit_in_editor(kb, arguments.ref, force=arguments.force)
    else:
        content = None if arguments.content is None else _given([arguments.content])
        saved = kb.update(
            arguments.ref,
            content=content,
            tags=arguments.tag,
            expires=arguments.expires,
            private=arguments.private,
            force=arguments.force,
        )
    _report_update(arguments, saved)


def _report_update(arguments: Namespace, saved: Saved) -> None:
    if saved.outcome == "unchanged":
        display = f"{saved.note.ref} is as it was: nothing to change."
    else:
        display = f"✓ Updated {saved.note.ref}: {saved.note.summary or 'it is empty now'}\nLocation: {saved.note.path}"
        display += _expired(arguments, saved.note)
    emit(arguments, _outcome(saved, display), display)


def _expired(arguments: Namespace, note: Note) -> str:
    """What is said where the day that was given is over."""
    given = getattr(arguments, "expires", None)
    return f"\nIt has expired already, on {note.expires[:10]}: recall leaves it out." if given and is_expired(note) else ""


def _edit_in_editor(kb: KnowledgeBase, ref: str, *, force: bool) -> Saved:
    import tempfile

    note = kb.get(ref)
    kb.named(note.ref)  # what may not be changed is not opened
    command = editor_of(kb)
    handle, draft = tempfile.mkstemp(prefix=f"co-{note.ref.replace(':', '-')}-", suffix=".md")
    with open(handle, "wb") as file:
        file.write(note.raw)
    try:
        run_editor(command, draft)
        with open(draft, encoding="utf-8", newline="") as file:
            saved = kb.update(note.ref, text=file.read(), expected_sha=note.sha, force=force)
    except FileNotFoundError as error:
        raise Unavailable(f"The editor removed its file {draft}: nothing was changed.") from error
    except UnicodeDecodeError as error:
        raise Invalid("The text is not UTF-8: nothing was changed.", f"Your draft is kept: {draft}") from error
    except CoError as error:
        if not _untouched(draft, note.raw):
            error.hint = f"{error.hint} Your draft is kept: {draft}".strip()
        raise
    finally:
        if _untouched(draft, note.raw):  # a copy that holds nothing new, of a note that may be private
            os.unlink(draft)
    if os.path.exists(draft):
        os.unlink(draft)
    return saved


def _untouched(draft: str, raw: bytes) -> bool:
    try:
        with open(draft, "rb") as file:
            return file.read() == raw
    except OSError:
        return False


def forget_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Remove notes, by ref or by some of their words; `co undo` brings them back.

    Words that fit several memories are never guessed at: the memories are listed, and you choose.

    With --purge nothing brings them back: the journal forgets them too. That works for notes forgotten before as well,
    by their refs. What co cannot remove, such as the history of git, is named.

    Examples:
        co forget 12
        co forget "pattern about callbacks"
        co forget staging --yes
        co forget 12 --purge
    """
    parser.add_argument("what", nargs="+", metavar="ID|TEXT", help="refs, or words of one memory")
    parser.add_argument("--yes", action="store_true", help="forget all that the words fit, without asking")
    parser.add_argument("--purge", action="store_true", help="for good: out of the journal as well, by refs only")
    return _forget


def _purge(arguments: Namespace, kb: KnowledgeBase) -> None:
    from co_cli.learning.summaries.derivation import purge

    refs = [kb.ref(word) for word in arguments.what]
    if not all(refs):
        raise Invalid("Only refs can be purged.", "`co list` and `co log` show what there is and was.")
    if not arguments.yes:
        question = f"Forget {', '.join(refs)} for good? Nothing brings it back. y/n"
        if not ask(question, otherwise="Say it with --yes.").lower().startswith("y"):
            raise Denied("Nothing was purged.")
    purged, derived = purge(kb, refs)
    changes = "1 change" if purged.changes == 1 else f"{purged.changes} changes"
    lines = [f"✓ Purged {', '.join(refs)}, and {changes} in the journal that held something of it."]
    lines += [stands_again(kb, note) for note in purged.standing]
    lines += [f"{each.where}: {each.what}.\n  {each.hint}" for each in purged.remains]
    lines += [visible(str(each)) for each in derived]
    lines += [f"The journal keeps what {each.note.ref} said before, until {each.note.ref} is purged." for each in derived]
    data = {"purged": refs, "changes": purged.changes, "remains": [each._asdict() for each in purged.remains]}
    data |= {"standing": [note.ref for note in purged.standing]} if purged.standing else {}
    emit(arguments, {**data, **_derived(derived), "display": "\n".join(lines)}, "\n".join(lines))


def _forget(arguments: Namespace) -> None:
    from co_cli.learning.summaries.derivation import forget

    kb = open_knowledge()
    if arguments.purge:
        _purge(arguments, kb)
        return
    (notes, standing), derived = forget(kb, [note.ref for note in _meant(kb, arguments)])
    lines = [f"✓ Forgot {visible(note.label)}" for note in notes]
    lines += [stands_again(kb, note) for note in standing]
    lines += [visible(str(each)) for each in derived]
    twice = ", twice," if len({note.vault for note in notes}) > 1 else ""  # each vault has its own journal
    display = "\n".join([*lines, f"`co undo`{twice} brings {'it' if len(notes) == 1 else 'them'} back."])
    data = {"count": len(notes), "forgotten": [as_data(note) for note in notes], **_derived(derived), "display": display}
    emit(arguments, {**data, "standing": [note.ref for note in standing]} if standing else data, display)


def stands_again(kb: KnowledgeBase, note: Note) -> str:
    """What is said of a note whose successor is gone."""
    if kb.vault(note.vault).is_archived(note):
        back = f"co knowledge --restore {note.ref}"
        return f"{visible(note.label)} lies in the archive, and nothing supersedes it any more: {back}"
    return f"{visible(note.label)} stands again: nothing supersedes it any more."


def _derived(derived: Iterable[Derived]) -> dict[str, object]:
    """What was made from forgotten notes, as JSON; nothing where there is none."""
    made = [{"ref": each.note.ref, "from": [*each.gone], "proposal": each.proposal or None} for each in derived]
    return {"derived": made} if made else {}


def _meant(kb: KnowledgeBase, arguments: Namespace) -> tuple[Note, ...]:
    refs = [kb.ref(word) for word in arguments.what]
    if all(refs):
        return tuple(kb.named(ref) for ref in refs if ref)
    text = " ".join(arguments.what)
    if not text.strip(' \t\r\n"'):
        raise Invalid("There is nothing to look for: the text is empty.", "Name a ref, or some words: co forget 12")
    found = kb.match(text)
    if not found:
        near = "\n".join(line_of(hit.note) for hit in kb.recall(text, expired=True, linked=False).hits)
        hint = "The closest are listed above; forget one by its ref." if near else "`co list` shows what there is."
        raise NotFound(f"No memory says {text!r}.", hint, details=near)
    if len(found) == 1 or arguments.yes:
        return found
    if arguments.json or not interactive():
        candidates = "\n".join(map(line_of, found))
        hint = f"Name one: co forget {found[0].ref}, or forget them all with --yes."
        error = Conflict(f"{len(found)} notes fit {text!r}.", hint, details=candidates, code="ambiguous")
        error.candidates = tuple(note.ref for note in found)
        raise error
    say("\n".join(map(line_of, found)))
    answer = ask("Forget which? Refs, a for all, Enter for none.", otherwise="Name one by its ref.")
    return _chosen(found, answer)


def _chosen(found: tuple[Note, ...], answer: str) -> tuple[Note, ...]:
    if answer.lower() in ("a", "all"):
        return found
    by_ref = {note.ref: note for note in found}
    wanted = [word.removeprefix("p:").removeprefix("#") for word in answer.replace(",", " ").split()]
    unknown = [word for word in wanted if word not in by_ref]
    if unknown:
        raise Invalid(
            f"{', '.join(unknown)} is not in the list: nothing was forgotten.", "Choose among those that are shown."
        )
    if not wanted:
        raise Denied("Nothing was chosen, nothing was forgotten.")
    return tuple(by_ref[word] for word in dict.fromkeys(wanted))


def pin_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Load a memory into every prompt, within the budget of the context.

    Examples:
        co pin 12
    """
    parser.add_argument("ref", metavar="REF", help="which memory")
    return lambda arguments: _pin(arguments, pinned=True)


def unpin_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Stop loading a memory into every prompt; it can still be recalled.

    Examples:
        co unpin 12
    """
    parser.add_argument("ref", metavar="REF", help="which memory")
    return lambda arguments: _pin(arguments, pinned=False)


def _pin(arguments: Namespace, *, pinned: bool) -> None:
    saved = open_knowledge().update(arguments.ref, pinned=pinned)
    state = "pinned: every prompt has it" if pinned else "no longer pinned"
    unchanged = saved.outcome == "unchanged"
    if unchanged:
        state = "already pinned: every prompt has it" if pinned else "not pinned"
    mark = "" if unchanged else "✓ "
    every = f"all your {visible(saved.note.language)} projects" if saved.note.language else "all your projects"
    where = every if saved.note.vault == GLOBAL else "this project"
    display = f"{mark}{saved.note.ref} is {state}{f' in {where}' if pinned else ''}."
    if pinned and is_expired(saved.note):
        display += " Since it has expired, no prompt has it: co edit REF --expires …"
    elif pinned and saved.note.private:
        display += " Being private, it is left out of what leaves this machine."
    emit(arguments, _outcome(saved, display), display)
