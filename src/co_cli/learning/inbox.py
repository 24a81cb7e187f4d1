"""The inbox of a vault: proposals as files, each waiting for the yes or no of a person.

Owns the folder ``inbox/``: what may be put there, what it is called, what becomes of it, and the memory of what was refused.
What a proposal is, :mod:`co_cli.learning.proposal` knows; what it does, :mod:`co_cli.learning.actions`. Knows nothing of
surfaces.

A proposal is no note: putting one there is no change of the notes, and is not in the journal. Accepting one is: the notes
and the removal of the file are one change, which `co undo` takes back. The drafts of one person are not for the team, so git
leaves the folder out.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from co_cli import memory
from co_cli.custody import INBOX
from co_cli.errors import CoError, Conflict, Invalid, NotFound
from co_cli.files import is_within, make_folder, read_bytes, replace_file, sweep
from co_cli.knowledge import GLOBAL, MEMORY, PROJECT
from co_cli.learning.actions import carry_out, changed_since, concerned, found, mark_of
from co_cli.learning.proposal import (
    ACTIONS,
    FORGET,
    KINDS,
    REVISE,
    SAVE,
    TOPIC,
    Evidence,
    Proposal,
    checked,
    identity,
    name_of,
    parse,
    postponed,
    render,
    reworded,
)
from co_cli.note import NoteError, Problem, numbers_in
from co_cli.vault import documents

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from co_cli.draft import Draft
    from co_cli.knowledge import FileChange, KnowledgeBase, Note, Vault

__all__ = [
    "ACTIONS",
    "KINDS",
    "NOTHING",
    "PROPOSED",
    "REFUSED",
    "REJECTED",
    "WAITING",
    "Evidence",
    "Listing",
    "Outcome",
    "Proposal",
    "accept",
    "changed_since",
    "changes",
    "count",
    "forget_rejected",
    "get",
    "is_due",
    "postpone",
    "proposals",
    "propose",
    "reject",
    "reword",
    "waiting",
]

_REJECTED_FOLDER, _LAST, _IGNORE = ".rejected", ".last", ".gitignore"
_IGNORED = b"# what is proposed waits for the yes of one person; it is not for the team\n*\n"
_MODE = 0o600
"""Evidence quotes what was said in sessions, so nobody else is to read it."""

PROPOSED, WAITING, REJECTED, NOTHING, REFUSED = "proposed", "waiting already", "rejected before", "nothing to do", "refused"
"""What became of something that was proposed."""
_REHEARSED = (SAVE, REVISE, TOPIC)
"""Actions that are tried before they are proposed, since they may come to nothing, or may not be done at all."""


_FEW = 3


class Listing(NamedTuple):
    """What waits, and the files of the inbox that cannot be read."""

    proposals: tuple[Proposal, ...]
    problems: tuple[Problem, ...]


class Outcome(NamedTuple):
    """What became of something that was proposed."""

    proposal: Proposal
    """As it waits, where it does."""
    state: str
    error: CoError | None = None
    """Why it was refused."""


# ------------------------------------------------------------------------------------------------------------------ reading


def proposals(kb: KnowledgeBase) -> Listing:
    """All that waits in the inboxes of both vaults, by vault and number; what was put off is among it."""
    waits: list[Proposal] = []
    problems: list[Problem] = []
    for vault in kb.vaults:
        waits.extend(_in(vault, problems))
    return Listing(tuple(waits), tuple(sorted(problems, key=lambda problem: problem.path)))


def waiting(kb: KnowledgeBase) -> tuple[Proposal, ...]:
    """What is to be shown today."""
    return tuple(filter(is_due, proposals(kb).proposals))


def count(kb: KnowledgeBase) -> int:
    """How many files wait to be looked at today, without reading what they say."""
    today = _today()
    contents = (raw for vault in kb.vaults for _path, raw in _files(vault, []))
    days = (re.search(rb"(?m)^later: ['\"]?([0-9-]{10})", raw) for raw in contents)
    return sum(not day or day[1].decode() <= today for day in days)


def get(kb: KnowledgeBase, name: str) -> Proposal:
    """The proposal of this name: ``p3`` or ``g2``, or a number where only one has it."""
    text = name.strip().lower().lstrip("#")
    letter, number = (text[:1], text[1:]) if text[:1] in ("p", "g") else ("", text)
    if not number.isdecimal():
        raise Invalid(f"{name!r} names no proposal.", "Names look like p3 or g2: co review --list")
    vaults = {"p": (PROJECT,), "g": (GLOBAL,), "": (PROJECT, GLOBAL)}[letter]
    listing = proposals(kb)
    meant = [each for each in listing.proposals if each.vault in vaults and each.id == int(number)]
    if len(meant) > 1:
        where = "\n".join(each.path for each in meant)
        one_inbox = len({each.vault for each in meant}) == 1
        hint = "Give one of these files another number." if one_inbox else "Name it in full, such as p3."
        raise Conflict(f"{len(meant)} proposals could be meant by {name}.", hint, details=where)
    if not meant:
        for problem in listing.problems:
            if int(number) in numbers_in(problem.path):
                raise NotFound(f"{name} cannot be read: {problem}.", problem.hint)
        raise NotFound(f"There is no proposal {name}.", "`co review --list` lists what waits.")
    return meant[0]


def is_due(proposal: Proposal) -> bool:
    """Whether it is to be shown today."""
    return not proposal.later or proposal.later <= _today()


def _today() -> str:
    from datetime import datetime

    return datetime.now().astimezone().date().isoformat()


def changes(kb: KnowledgeBase, proposal: Proposal, *, as_proposed: bool = False) -> tuple[FileChange, ...]:
    """What accepting it would do to which notes as they are now; raises what accepting it would raise.

    With ``as_proposed`` it raises ``Conflict``, too, where they are no longer the notes that it was made for.
    """
    meant = proposal if as_proposed else _unguarded(proposal)
    done = kb.rehearse(lambda rehearsal: carry_out(rehearsal, meant))
    return tuple(change for change in done if change.path != proposal.path)  # which goes in any case


def _in(vault: Vault, problems: list[Problem]) -> Iterator[Proposal]:
    """The proposals of one inbox, by number; each file that is none is a problem."""
    read = []
    for path, raw in _files(vault, problems):
        try:
            read.append(parse(raw, vault=vault.name, path=path))
        except NoteError as error:
            problems.append(error.problem)
    yield from sorted(read, key=lambda proposal: (proposal.id, proposal.path))


def _files(vault: Vault, problems: list[Problem]) -> Iterator[tuple[str, bytes]]:
    folder = _folder(vault)
    if not os.path.isdir(folder):
        return
    if _is_safe(vault, folder):
        yield from documents(folder, problems)
    else:
        problems.append(Problem(folder, "a symbolic link that leaves the vault is not followed", code="link"))


def _folder(vault: Vault) -> str:
    return os.path.join(vault.root, INBOX)


def _is_safe(vault: Vault, folder: str) -> bool:
    return vault.is_whole() and is_within(folder, vault.root)


# ---------------------------------------------------------------------------------------------------------------- proposing


def propose(kb: KnowledgeBase, proposed: Iterable[Proposal]) -> tuple[Outcome, ...]:
    """Put what is new into the inbox; says of each what became of it, in the same order.

    What waits already, was rejected before, or would change nothing is left out; what could never be accepted is refused,
    and stops none of the others.
    """
    tried = _marked(kb, [_tried(kb, proposal) for proposal in proposed])
    for vault in kb.vaults:
        mine = [place for place, each in enumerate(tried) if each.state == PROPOSED and each.proposal.vault == vault.name]
        if mine:
            for place, outcome in zip(mine, _put(vault, [tried[place].proposal for place in mine]), strict=True):
                tried[place] = outcome
    return tuple(tried)


def _tried(kb: KnowledgeBase, proposal: Proposal) -> Outcome:
    """Whether it can be proposed at all, and whether it would change anything."""
    try:
        ready = checked(proposal)
        mark = ready.fingerprint or identity(ready)  # one that was put into other words is still the same proposal
        ready = ready._replace(fingerprint=mark, created=ready.created or memory.now(), later="", seen=())
        if ready.action in _REHEARSED and not changes(kb, ready):
            return Outcome(ready, NOTHING)
    except CoError as error:
        return Outcome(proposal, REFUSED, error)
    return Outcome(ready, PROPOSED)


def _marked(kb: KnowledgeBase, tried: list[Outcome]) -> list[Outcome]:
    """The proposals with marks of the notes as they are, so that nothing is done later to what has changed since."""
    refs = {ref for each in tried if each.state == PROPOSED for ref in concerned(each.proposal)}
    notes = _notes(kb, refs)
    return [_marked_one(each, notes) if each.state == PROPOSED else each for each in tried]


def _notes(kb: KnowledgeBase, refs: Collection[str]) -> dict[str, Note | None]:
    """The notes that refs name; where there are many, all notes are read once."""
    if len(refs) <= _FEW:
        return {ref: found(kb, ref) for ref in refs}
    listed = (*kb.list((MEMORY,)).notes, *kb.list((MEMORY,), archived=True).notes)
    by_ref = {note.ref: note for note in reversed(listed)}
    return {ref: by_ref[ref] if ref in by_ref else found(kb, ref) for ref in refs}


def _marked_one(outcome: Outcome, notes: Mapping[str, Note | None]) -> Outcome:
    proposal = outcome.proposal
    for ref in concerned(proposal) if proposal.action != TOPIC else ():
        if notes[ref] is None:
            return Outcome(proposal, REFUSED, NotFound(f"There is no note {ref}.", "`co list` shows what there is."))
    meant = [notes[ref] for ref in concerned(proposal)]
    fields = dict(proposal.fields)
    if any(note and note.private for note in meant):  # what is said of a private note is as private
        fields["private"] = True
    return outcome._replace(proposal=proposal._replace(seen=tuple(map(mark_of, meant)), fields=fields))


def _unguarded(proposal: Proposal) -> Proposal:
    return proposal._replace(seen=())


def _put(vault: Vault, ready: list[Proposal]) -> Iterator[Outcome]:
    """Write proposals into an inbox, but for those that are there, or were rejected."""
    with vault.change("propose"):  # for its lock; what is put here is no change of the notes
        known = {mark: each for each in _in(vault, []) for mark in _marks(each)}
        outcomes = []
        for proposal in ready:
            if proposal.fingerprint in known:
                outcomes.append(Outcome(known[proposal.fingerprint], WAITING))
            elif os.path.lexists(_rejected(vault, proposal.fingerprint)):
                outcomes.append(Outcome(proposal, REJECTED))
            else:
                written = proposal if vault.rehearses else _written(vault, proposal)
                known[proposal.fingerprint] = written
                outcomes.append(Outcome(written, PROPOSED))
    yield from outcomes


def _written(vault: Vault, proposal: Proposal) -> Proposal:
    folder = _folder(vault)
    _check_safe(vault, folder)
    make_folder(folder)
    sweep(folder)
    number = _next_id(folder)
    if not os.path.lexists(os.path.join(folder, _IGNORE)):
        replace_file(os.path.join(folder, _IGNORE), _IGNORED)
    replace_file(os.path.join(folder, _LAST), b"%d\n" % number)
    proposal = proposal._replace(id=number)
    path = os.path.join(folder, name_of(proposal))
    raw = render(proposal)
    try:
        kept = parse(raw, vault=vault.name, path=path)
    except NoteError as error:  # what co could not read again, it does not write
        raise Invalid(f"This cannot be proposed: {error.problem.message}.", "Nothing was written.") from error
    replace_file(path, raw, _MODE)
    return kept


def _next_id(folder: str) -> int:
    """One more than any number that was ever given here: a name that somebody has read must not mean something else."""
    taken = [number for name in os.listdir(folder) for number in numbers_in(name)]
    with suppress(OSError, ValueError):
        taken.append(int(read_bytes(os.path.join(folder, _LAST)) or b"0"))
    return max(taken, default=0) + 1


def _check_safe(vault: Vault, folder: str) -> None:
    if not _is_safe(vault, folder):
        raise Conflict(f"{folder} leads out of the vault by a symbolic link: co does not write there.", "Remove the link.")


def _marks(proposal: Proposal) -> set[str]:
    """What it was proposed as, and what has been made of it since."""
    return {mark for mark in (proposal.fingerprint, identity(proposal)) if mark}


def _rejected(vault: Vault, mark: str) -> str:
    return os.path.join(_folder(vault), _REJECTED_FOLDER, mark)


# ----------------------------------------------------------------------------------------------------------------- deciding


def accept(
    kb: KnowledgeBase, proposal: Proposal, content: str | None = None, *, seen: Iterable[FileChange] | None = None
) -> tuple[FileChange, ...]:
    """Do what is proposed, with another text if one is given, as one change; returns what became of the notes.

    With ``seen`` it is done only where it would do to the files just what was shown. Raises ``Conflict`` where it waits no
    more, or where the notes are no longer what it was made for; then nothing is changed.
    """
    agreed = proposal if content is None else checked(proposal._replace(content=content))
    agreed = agreed if seen is None else _unguarded(agreed)
    shown = None if seen is None else [change[:2] for change in seen]

    def action(rehearsal: KnowledgeBase) -> None:
        _check_waits(proposal)
        if shown is not None and [change[:2] for change in changes(rehearsal, agreed)] != shown:
            raise Conflict(f"The notes that {proposal.ref} is about have changed since they were shown.", _AGAIN)
        carry_out(rehearsal, agreed)
        with rehearsal.vault(proposal.vault).change("accept") as draft:
            _remove(draft, proposal)

    from co_cli.learning.summaries import derivation  # which proposes things itself

    made = derivation.made_from(kb, agreed.refs) if agreed.action == FORGET else ()
    done = kb.as_one(action, "accept", f"accepted {agreed.label}")
    derivation.propose(kb, made)
    return tuple(change for change in done if change.path != proposal.path)


_AGAIN = "Nothing was changed. Look at it again: co review"


def reject(kb: KnowledgeBase, proposal: Proposal, reason: str = "") -> None:
    """Take it out of the inbox, and remember that: the same will not be proposed again. `co undo` brings it back."""
    vault = kb.vault(proposal.vault)
    with vault.change("reject") as draft:
        _check_waits(proposal)
        _remove(draft, proposal)
        for mark in sorted(_marks(proposal)):
            path = _rejected(vault, mark)
            if not os.path.lexists(path):
                draft.create(path, f"{memory.now()}\n".encode())
        why = " ".join(reason.split())
        draft.summary = f"rejected {proposal.label}{f' because {why}' if why and not proposal.private else ''}"


def reword(kb: KnowledgeBase, proposal: Proposal, content: str) -> Proposal:
    """Give it another text, which waits like the first."""
    checked(proposal._replace(content=content))
    return _rewrite(kb, proposal, reworded(proposal, content))


def postpone(kb: KnowledgeBase, proposal: Proposal, until: str = "1w") -> Proposal:
    """Show it no more before a day, or before a span such as ``1w`` is over."""
    return _rewrite(kb, proposal, postponed(proposal, memory.parse_expiry(until)[: len("2026-12-31")]))


def forget_rejected(kb: KnowledgeBase) -> int:
    """Forget what was rejected, so that it may be proposed again; returns how many rejections there were."""
    count = 0
    for vault in kb.vaults:
        folder = os.path.join(_folder(vault), _REJECTED_FOLDER)
        if not os.path.isdir(folder):
            continue
        with vault.change("forget-rejected") as draft:
            for name in sorted(os.listdir(folder)):
                draft.put(os.path.join(folder, name), read_bytes(os.path.join(folder, name)), None)
            count += len(draft.steps)
            draft.summary = f"forgot {len(draft.steps)} rejected {'proposal' if len(draft.steps) == 1 else 'proposals'}"
    return count


def _check_waits(proposal: Proposal) -> None:
    now = read_bytes(proposal.path)
    if now is None:
        raise Conflict(f"{proposal.ref} waits no more: it was accepted or rejected meanwhile.", "See: co review --list")
    if now != proposal.raw:
        raise Conflict(f"{proposal.ref} was changed by another program meanwhile.", _AGAIN)


def _remove(draft: Draft, proposal: Proposal) -> None:
    draft.put(proposal.path, proposal.raw, None)


def _rewrite(kb: KnowledgeBase, proposal: Proposal, raw: bytes) -> Proposal:
    vault = kb.vault(proposal.vault)
    try:
        kept = parse(raw, vault=vault.name, path=proposal.path)
    except NoteError as error:
        raise Invalid(f"Line {error.problem.line}: {error.problem.message}.", "Nothing was changed.") from error
    with vault.change("propose"):
        _check_waits(proposal)
        _check_safe(vault, _folder(vault))
        sweep(_folder(vault))
        replace_file(proposal.path, raw, _MODE)
    return kept
