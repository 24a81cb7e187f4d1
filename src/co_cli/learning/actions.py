"""What is done when a proposal is accepted: each action is a verb of the knowledge base, or a few of them.

Owns which verbs, and that a proposal which the notes have left behind is refused in clear words. Knows nothing of files: it
is always called in a rehearsal, whose changes are then made as one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from co_cli.errors import Conflict, Invalid, NotFound
from co_cli.frontmatter import replace_fields
from co_cli.knowledge import GLOBAL, MEMORY
from co_cli.learning import proposal as p
from co_cli.note import TOPIC, parse_ref, sha_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from co_cli.knowledge import KnowledgeBase, Note
    from co_cli.learning.proposal import Proposal


_MARK = 12


def carry_out(kb: KnowledgeBase, proposal: Proposal) -> None:
    """Do what is proposed; raises ``Conflict`` where the notes that it names are no longer what it was made for."""
    changed = changed_since(kb, proposal)
    try:
        _ACTIONS[proposal.action](kb, proposal)
    except NotFound as error:
        raise _left_behind(proposal, error.message) from error
    if changed:  # said last: that a note was replaced or put away says more
        hint = f"Nothing was changed. Look at it: co review {proposal.ref}"
        raise Conflict(f"{', '.join(changed)} has changed since {proposal.ref} was proposed.", hint)


def concerned(proposal: Proposal) -> tuple[str, ...]:
    """The refs of the notes that it would change, as far as it names them."""
    if proposal.action == p.TOPIC:
        return (f"{'g:' if proposal.vault == GLOBAL else ''}topic:{proposal.fields.get('name', '')}",)
    return tuple(filter(None, (*proposal.refs, str(proposal.fields.get("by", "")))))


def changed_since(kb: KnowledgeBase, proposal: Proposal) -> list[str]:
    """The refs of the notes that are no longer what they were when it was proposed."""
    refs = concerned(proposal) if proposal.seen else ()
    marks = (*proposal.seen, *[""] * len(refs))  # refs that somebody added by hand have none
    return [ref for ref, mark in zip(refs, marks, strict=False) if mark != mark_of(found(kb, ref))]


def mark_of(note: Note | None) -> str:
    """What tells a note as it is from what it will be, and from another that may get its number."""
    if note and note.supersedes:  # what it has taken the place of does not change what it says
        return sha_of(replace_fields(note.text, {"supersedes": None}).encode())[:_MARK]
    return note.sha[:_MARK] if note else "none"


def found(kb: KnowledgeBase, ref: str) -> Note | None:
    """The note that a ref names, if there is one."""
    try:
        parsed = parse_ref(ref)
        return kb.topic(ref) if parsed and parsed.kind == TOPIC else kb.named(ref)
    except NotFound:
        return None


def _left_behind(proposal: Proposal, why: str) -> Conflict:
    name = proposal.ref if proposal.id else "This"
    hint = f"Nothing was changed. If it makes no sense any more: co review --reject {proposal.ref}"
    return Conflict(f"{name} cannot be accepted: {why}", hint)


def _standing(kb: KnowledgeBase, proposal: Proposal) -> list[Note]:
    """The notes that it is about, and the one that is to take their place, all of them still in force."""
    by = str(proposal.fields.get("by", ""))
    notes = [kb.named(ref) for ref in dict.fromkeys(filter(None, (*proposal.refs, by)))]
    for note in notes:
        if kb.vault(note.vault).is_archived(note):
            raise _left_behind(proposal, f"{note.ref} is in the archive.")
        if note.superseded_by:
            raise _left_behind(proposal, f"{note.ref} has been replaced by {note.superseded_by} already.")
    return notes


def _given(proposal: Proposal, *left_out: str) -> dict[str, Any]:
    """The fields as the verb takes them."""
    return {name: value for name, value in proposal.fields.items() if name not in left_out}


def _save(kb: KnowledgeBase, proposal: Proposal) -> None:
    kb.save(proposal.content, in_global=proposal.vault == GLOBAL, **_given(proposal, "scope"))


def _revise(kb: KnowledgeBase, proposal: Proposal) -> None:
    (note, *others) = _standing(kb, proposal)
    if others:
        raise Invalid(f"{proposal.ref} revises one note, not {len(others) + 1}.", "Leave one ref in its file.")
    kb.update(note.ref, content=proposal.content or None, **_given(proposal))


def _topic(kb: KnowledgeBase, proposal: Proposal) -> None:
    given = _given(proposal, "name", "private")
    if proposal.private:
        (ref,) = concerned(proposal)
        note = found(kb, ref)
        if note is None or not note.private:
            raise Invalid("A new topic cannot be private: topics are shared.", "Propose it as a memory.")
    kb.write_topic(str(proposal.fields["name"]), proposal.content, in_global=proposal.vault == GLOBAL, **given)


def _article(kb: KnowledgeBase, proposal: Proposal) -> None:
    kb.save_article(proposal.content, in_global=proposal.vault == GLOBAL, **_given(proposal))


def _archive(kb: KnowledgeBase, proposal: Proposal) -> None:
    kb.archive(proposal.refs)


def _forget(kb: KnowledgeBase, proposal: Proposal) -> None:
    kb.forget(proposal.refs)


def _move(kb: KnowledgeBase, proposal: Proposal) -> None:
    if proposal.fields.get("to") == GLOBAL:
        kb.promote(proposal.refs, language=str(proposal.fields.get("language", "")))
    else:
        kb.demote(proposal.refs)


def _supersede(kb: KnowledgeBase, proposal: Proposal) -> None:
    """The new note takes the place of the old ones, which stay readable and say by which they were replaced."""
    old = _memories(kb, proposal)
    new = old.pop() if proposal.fields.get("by") else _successor(kb, proposal)
    _link(kb, proposal, new, old)


def _merge(kb: KnowledgeBase, proposal: Proposal) -> None:
    old = _memories(kb, proposal)
    _link(kb, proposal, _successor(kb, proposal), old)
    kb.archive(note.ref for note in old)


def _memories(kb: KnowledgeBase, proposal: Proposal) -> list[Note]:
    notes = _standing(kb, proposal)
    for note in notes:
        if note.kind != MEMORY or note.vault != proposal.vault:
            raise _left_behind(proposal, f"{note.ref} is no memory of the same vault.")
    return notes


def _successor(kb: KnowledgeBase, proposal: Proposal) -> Note:
    given = _given(proposal, "scope", "by", "because")
    return kb.save(proposal.content, in_global=proposal.vault == GLOBAL, **given).note


def _link(kb: KnowledgeBase, proposal: Proposal, new: Note, old: list[Note]) -> None:
    if new.kind != MEMORY or new.vault != proposal.vault or new.ref in [note.ref for note in old]:
        raise _left_behind(proposal, f"{new.ref} cannot take the place of {', '.join(note.ref for note in old)}.")
    kb.supersede([note.ref for note in old], by=new.ref, because=str(proposal.fields.get("because", "")))


_ACTIONS: dict[str, Callable[[KnowledgeBase, Proposal], None]] = {
    p.SAVE: _save,
    p.REVISE: _revise,
    p.SUPERSEDE: _supersede,
    p.MERGE: _merge,
    p.TOPIC: _topic,
    p.ARTICLE: _article,
    p.ARCHIVE: _archive,
    p.FORGET: _forget,
    p.MOVE: _move,
}
