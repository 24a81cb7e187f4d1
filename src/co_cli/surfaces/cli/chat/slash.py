"""The commands of a chat itself, which begin with a slash.

Owns the table of commands and what each does. Knows nothing of terminals: what it says goes to a voice.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from co_cli import tools
from co_cli.agent.audience import OFFERED
from co_cli.agent.providers import ALIASES, OFFLINE, choose, health
from co_cli.agent.requests import read_request
from co_cli.errors import CoError, Conflict, Invalid, NotFound, Unavailable
from co_cli.settings import PROVIDERS
from co_cli.surfaces.cli.loaded import budget_text
from co_cli.surfaces.cli.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from co_cli.knowledge import Note
    from co_cli.surfaces.cli.chat.chat import Chat

_LISTED = 10
_NAMES = (*PROVIDERS, *ALIASES)


class Slash(NamedTuple):
    """One command."""

    usage: str
    summary: str
    run: Callable[[Chat, str], Any]
    needs: bool = False
    """Whether it cannot do without an argument."""


async def obey(chat: Chat, line: str) -> bool:
    """Do what a line says; returns whether the chat goes on."""
    name, _, argument = line.removeprefix("/").partition(" ")
    if name in ("quit", "exit", "q"):
        return False
    command = SLASHES.get(name)
    if command is None:
        import difflib

        near = difflib.get_close_matches(name, SLASHES, n=1)
        raise Invalid(f"There is no /{name}.", f"Did you mean /{near[0]}?" if near else "/help lists what there is.")
    if command.needs and not argument.strip():
        raise Invalid(f"/{name} needs something more.", f"Type: {command.usage}")
    result: Awaitable[None] | None = command.run(chat, argument.strip())
    if result is not None:
        await result
    return True


def _help(chat: Chat, _argument: str) -> None:
    width = max(len(command.usage) for command in SLASHES.values())
    lines = [f"{command.usage.ljust(width)}  {command.summary}" for command in SLASHES.values()]
    keys = "Alt-Enter begins a new line, Ctrl-R searches what you typed before, Ctrl-C stops an answer, Ctrl-D ends."
    chat.voice.show("\n".join([*lines, "", keys]))


def _tools(chat: Chat, _argument: str) -> None:
    allowed = chat.session.approvals if chat.session else None
    lines = []
    for tool in tools.TOOLS.values():
        asks = tool.writes or tool.network
        state = "asks first" if asks and not (allowed and allowed.covers(tool.name)) else "allowed" if asks else ""
        lines.append(f"{tool.name.ljust(18)}{state.ljust(12)}{tool.meaning}")
    chat.voice.show("\n".join(lines))


def _remember(chat: Chat, text: str) -> None:
    request = read_request(f"remember: {text}")
    given: dict[str, object] = {"content": request.about if request.action == "remember" else text}
    if request.tags:
        given["tags"] = list(request.tags)
    # What a person types needs no approval, and what it shows goes to nobody else.
    chat.voice.show(str(tools.call(chat.kb, "save_memory", given, tools.Caller("chat", private=True))["display"]))


def _recall(chat: Chat, text: str) -> None:
    if chat.kb.ref(text):
        part = chat.kb.part(text)
        chat.voice.show(f"{_head(part.note, part.note.ref if part.is_whole else text)}\n{part.text}")
        return
    found = chat.kb.recall(text)
    entries = [f"{_head(hit.note, hit.cite)}\n{hit.content}\nwhy: {hit.why}" for hit in found.hits]
    chat.voice.show("\n\n".join(entries) or f"No notes found matching {text!r}.")


def _head(note: Note, name: str) -> str:
    return " ".join(filter(None, (f"[{name}]", note.title, note.created[:10], *(f"#{tag}" for tag in note.tags))))


def _context(chat: Chat, _argument: str) -> None:
    context = chat.kb.context(private=False, window=chat.session.choice.window if chat.session else 0)
    chat.voice.show("\n\n".join(filter(None, (context.text, budget_text(context)))))


def _why(chat: Chat, _argument: str) -> None:
    offered = chat.session.offered if chat.session else ()
    if not offered:
        chat.voice.show("No note came before the model in the last turn.")
        return
    lines = []
    for note in offered:
        how = "offered by itself" if note.by == OFFERED else f"found by {note.by}"
        lines.append(f"[{note.ref}] {note.title}\n     {how}; {note.why}")
    chat.voice.show("\n".join(lines))


async def _undo(chat: Chat, _argument: str) -> None:
    from co_cli.agent.approval import shown

    changes = chat.kb.rehearse(lambda rehearsal: rehearsal.undo())
    if await chat.voice.confirm("Take this back? y / n", shown(changes)):
        chat.voice.show(f"✓ Took back: {chat.kb.undo().change.summary}")
    else:
        chat.voice.show("Nothing was taken back.")


async def _review(chat: Chat, _argument: str) -> None:
    from co_cli.agent.approval import shown
    from co_cli.learning import inbox
    from co_cli.learning.relations.pairs import compare_accepted

    waiting = inbox.waiting(chat.kb)
    if not waiting:
        chat.voice.show("Nothing is proposed.")
        return
    for proposal in waiting:
        try:
            changes = inbox.changes(chat.kb, proposal, as_proposed=True)
        except CoError as error:  # what the notes have left behind
            chat.voice.show(f"{error.message} {error.hint}")
            continue
        why = f" ({proposal.reason})" if proposal.reason else ""
        if await chat.voice.confirm(f"{proposal.ref}{why}: keep this? y, or anything else to leave it", shown(changes)):
            done = inbox.accept(chat.kb, proposal, seen=changes)
            related = compare_accepted(chat.kb, proposal, done).sentences
            chat.voice.show("\n".join([f"✓ Accepted {proposal.ref}.", *related]))
    chat.voice.show("To reject, edit or put off what is left: co review")


def _save(chat: Chat, path: str) -> None:
    session = chat.load()
    if session.transcript is None:
        raise NotFound("Nothing has been said yet.", "A chat is kept from its first answer on.")
    if not path:
        where = f"Kept as {session.transcript.id} in {session.transcript.path}"
        chat.voice.show(f"{where}\nGo on with it later: co chat --resume {session.transcript.id}")
        return
    from co_cli.agent.history import as_text

    path = os.path.expanduser(path)
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(f"{as_text(session.messages)}\n")
    except FileExistsError as error:
        raise Conflict(f"{path} exists already.", "Name another file.") from error
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror}.", "Name another file.") from error
    chat.voice.show(f"✓ Saved to {path}")


def _resume(chat: Chat, wanted: str) -> None:
    from co_cli.agent.transcripts import stored

    session = chat.load()
    if not wanted:
        chats = stored(session.folder)[:_LISTED]
        lines = [f"{chat.id}  {counted(chat.turns, 'turn', 'turns').rjust(9)}  {chat.title}" for chat in chats]
        lines.append("Go on with one: /resume ID")
        chat.voice.show("\n".join(lines) if chats else "No chat has been kept yet.")
        return
    chat_kept = session.resume(wanted)
    chat.voice.show(f"✓ Going on with {chat_kept.id}: {counted(chat_kept.turns, 'turn', 'turns')}, {chat_kept.title}")


def _model(chat: Chat, name: str) -> None:
    if not name:
        found = health(chat.choice)
        chat.voice.show("\n".join(filter(None, (f"{chat.choice.label}: {found.message}", found.hint))))
        return
    prefix, _, rest = name.partition(":")
    if prefix in _NAMES:
        choice = choose(chat.kb.settings(), provider=prefix, model=rest)
    elif chat.choice.provider == OFFLINE:
        raise Invalid(f"No provider is known for the model {name}.", "Name it too: /model PROVIDER:NAME")
    else:
        choice = choose(chat.kb.settings(), provider=chat.choice.provider, model=name)
    chat.load().switch(choice)
    chat.voice.show(f"✓ {choice.label} answers from now on.")


SLASHES = {
    "help": Slash("/help", "list these", _help),
    "tools": Slash("/tools", "list what the model can call, and what it asks for first", _tools),
    "remember": Slash("/remember TEXT", "keep a fact; #words become tags", _remember, needs=True),
    "recall": Slash("/recall WORDS|REF", "find notes, or show one", _recall, needs=True),
    "context": Slash("/context", "show what every prompt holds", _context),
    "why": Slash("/why", "list the notes that came before the model in the last turn, and why", _why),
    "review": Slash("/review", "say yes to what is proposed, one after the other", _review),
    "undo": Slash("/undo", "take the last change of the notes back", _undo),
    "save": Slash("/save [FILE]", "say where this chat is kept, or write it to a file", _save),
    "resume": Slash("/resume [ID]", "list the chats that were kept, or go on with one", _resume),
    "model": Slash("/model [NAME]", "say which model answers, or choose another: qwen3, openai:gpt-5, offline", _model),
    "quit": Slash("/quit", "end", _help),
}
