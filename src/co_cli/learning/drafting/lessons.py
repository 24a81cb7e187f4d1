"""From conversations to proposals: what was said in them that may be kept, and is not known yet.

Owns the course of it: which turns are new, what is drafted from them, what of that is left out and why, which vault it is
for, and that it goes to the inbox and nowhere else. Knows nothing of surfaces, nor of models: it is handed something to ask.
"""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING, NamedTuple

from co_cli import memory
from co_cli.errors import CoError, Invalid
from co_cli.files import is_within
from co_cli.knowledge import GLOBAL, MEMORY, PROJECT
from co_cli.learning.drafting.answers import drafts_from
from co_cli.learning.drafting.conversations import Conversation, read_conversation
from co_cli.learning.drafting.known import Shown, known_in
from co_cli.learning.drafting.rules import USER, Draft, drafts_of
from co_cli.learning.inbox import PROPOSED, propose
from co_cli.learning.proposal import CONTRADICTION, DRAFT, SAVE, SUPERSEDE, Evidence, Proposal
from co_cli.learning.relations.pairs import Related, look
from co_cli.note import fold, render_memory
from co_cli.usage import UsageLog

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from co_cli.knowledge import KnowledgeBase
    from co_cli.learning.drafting.conversations import Unread
    from co_cli.learning.drafting.known import Known
    from co_cli.learning.drafting.rules import Turn
    from co_cli.learning.inbox import Outcome

    Drafter = Callable[[tuple[Turn, ...]], object]
    """Asks a model what is to be kept of these turns; returns raw items, and raises a ``CoError`` where it cannot ask."""

SETTING = "auto_learn"
_AT_ONCE = 25
"""Drafts that are put into the inbox together."""
_LOOKED_BACK = 20
"""Chats that are looked at for some that broke off."""
_QUIET_SECONDS = 600
"""A chat in which nobody said anything for so long has ended, or may be learned from all the same."""
_NAMES = {"claude": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI", "co": "co"}


class Found(NamedTuple):
    """A draft, with the conversation that it is from."""

    draft: Draft
    agent: str
    session: str
    against: tuple[Related, ...] = ()
    """The memories that it contradicts, and would take the place of."""

    @property
    def vault(self) -> str:
        """Where it would be kept: what is about the user for all projects."""
        return GLOBAL if self.draft.category == USER else PROJECT


class Lesson(NamedTuple):
    """What came of some conversations."""

    conversations: int = 0
    turns: int = 0
    """The turns that were new."""
    drafts: tuple[Found, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    """What became of each draft in the inbox; empty where nothing was to be proposed."""
    known: tuple[tuple[Draft, str], ...] = ()
    """What was left out, and where it stands already."""
    elsewhere: int = 0
    """Statements about other projects, which were left out."""
    broken: int = 0
    """Lines that cannot be read."""
    unread: tuple[Unread, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def proposed(self) -> tuple[Proposal, ...]:
        """What waits in the inbox now that did not before."""
        return tuple(outcome.proposal for outcome in self.outcomes if outcome.state == PROPOSED)


class Lessons:
    """Learning from conversations, one after the other."""

    def __init__(self, kb: KnowledgeBase, *, drafter: Drafter | None = None, since: str = "", dry_run: bool = False) -> None:
        self._kb = kb
        self._drafter = drafter
        self._since = _day(since)
        self._dry_run = dry_run
        self._known: Known | None = None
        self._drafts: list[Found] = []
        self._found: list[Found] = []
        self._heard: list[bytes] = []
        self._outcomes: list[Outcome] = []
        self._left_out: list[tuple[Draft, str]] = []
        self._unread: list[Unread] = []
        self._notices: dict[str, None] = {}
        self._conversations = self._turns = self._elsewhere = self._broken = 0

    def learn(self, conversations: Iterable[Conversation | Unread]) -> Lesson:
        """Draft from what is new in each, and put it into the inbox on the way: who is killed goes on where that was."""
        with closing(UsageLog(self._kb.places.usage_log)) as log:
            for each in conversations:
                if isinstance(each, Conversation):
                    self._hear(each, log)
                else:
                    self._unread.append(each)
            self._propose(log)
        return Lesson(
            self._conversations,
            self._turns,
            tuple(self._drafts),
            tuple(self._outcomes),
            tuple(self._left_out),
            self._elsewhere,
            self._broken,
            tuple(self._unread),
            tuple(self._notices),
        )

    def _hear(self, conversation: Conversation, log: UsageLog) -> None:
        marks = {turn: _mark(self._kb, turn) for turn in conversation.turns if turn.at[:10] >= self._since or not turn.at}
        unheard = self._unheard(log, marks)
        turns = tuple(turn for turn, mark in marks.items() if mark in unheard)
        self._conversations += 1
        self._broken += conversation.broken
        self._turns += len(turns)
        found = list(self._new(conversation, turns))
        self._drafts += found
        self._found += found
        self._heard += [marks[turn] for turn in turns]
        if self._drafter or len(self._found) >= _AT_ONCE:  # what was paid for is not to be lost
            self._propose(log)

    def _propose(self, log: UsageLog) -> None:
        """Put what was found into the inbox, and only then remember the turns that it was found in."""
        found, heard = self._found, self._heard
        self._found, self._heard = [], []
        if self._dry_run:
            return
        self._outcomes += propose(self._kb, map(proposal_of, found))
        try:
            log.hear(heard)
        except CoError as error:
            self._note(error)

    def _unheard(self, log: UsageLog, marks: dict[Turn, bytes]) -> Container[bytes]:
        """The marks of what is new; all of them where nobody can tell, since the inbox takes nothing twice."""
        try:
            return log.unheard(marks.values())
        except CoError as error:
            self._note(error)
            return frozenset(marks.values())

    def _note(self, error: CoError) -> None:
        self._notices.setdefault(f"{error.message} {error.hint}".strip())

    def _new(self, conversation: Conversation, turns: tuple[Turn, ...]) -> Iterator[Found]:
        """The drafts of these turns that are not known yet, and are about this project or its user."""
        is_elsewhere = not _is_about(conversation.project, self._kb.places.project)
        shown = Shown(conversation.shown, conversation.decided)
        for draft in sorted((*drafts_of(turns), *self._asked(turns)), key=lambda draft: draft.turn.seen):
            if is_elsewhere and draft.category != USER:
                self._elsewhere += 1
                continue
            self._known = self._known or known_in(self._kb)
            statements = draft.text, draft.quote
            holder = self._known.holder(*statements) or shown.reach(draft.turn.seen).holder(*statements)
            found = Found(draft, conversation.agent, conversation.id)
            related = () if holder else _related(self._kb, found)
            holder = holder or next((each.other.ref for each in related if not each.contradicts), "")
            if holder:
                self._left_out.append((draft, holder))
                continue
            self._known.add(draft.text, "another draft")
            yield found._replace(against=tuple(each for each in related if each.in_one_vault))

    def _asked(self, turns: tuple[Turn, ...]) -> tuple[Draft, ...]:
        """What the model finds beyond the rules; it is told nothing of a turn that quoted private notes."""
        public = tuple(turn for turn in turns if not turn.private)
        if self._drafter is None or not public:
            return ()
        try:
            drafts, notes = drafts_from(self._drafter(public), public)
        except CoError as error:
            self._note(error)
            return ()
        self._notices.update(dict.fromkeys(notes))
        return drafts


def learn(
    kb: KnowledgeBase,
    conversations: Iterable[Conversation | Unread],
    *,
    drafter: Drafter | None = None,
    since: str = "",
    dry_run: bool = False,
) -> Lesson:
    """Propose what was said in conversations and is not known yet; a turn that was looked through is not looked at again.

    Nothing is written into the notes. With ``dry_run`` nothing is proposed either, and nothing is remembered.
    """
    return Lessons(kb, drafter=drafter, since=since, dry_run=dry_run).learn(conversations)


def is_on(kb: KnowledgeBase) -> bool:
    """Whether what is said in chats is to be learned from."""
    return kb.settings().value(SETTING) == "yes"


def learn_from_chats(kb: KnowledgeBase, path: str, drafter: Drafter | None = None) -> Lesson:
    """Learn from the chat that has just ended, and from those before it that broke off before they could be learned from.

    Of each, only what was said while learning was on.
    """
    return learn(kb, _with_leave(path, *_left_behind(path)), drafter=drafter)


def _with_leave(*paths: str) -> Iterator[Conversation]:
    for path in paths:
        conversation = read_conversation(path)
        if isinstance(conversation, Conversation):
            turns = tuple(turn for turn in conversation.turns if turn.allowed)
            if turns:
                yield conversation._replace(turns=turns)


def _left_behind(path: str) -> Iterator[str]:
    """The last chats of co, but for this one, and for those that may be going on."""
    folder = os.path.dirname(path)
    quiet = time.time() - _QUIET_SECONDS
    with suppress(OSError):
        for name in sorted(os.listdir(folder), reverse=True)[:_LOOKED_BACK]:
            other = os.path.join(folder, name)
            if name.endswith(".jsonl") and other != path and os.stat(other).st_mtime < quiet:
                yield other


def proposal_of(found: Found) -> Proposal:
    """A draft as it waits in the inbox: what is about the user in that of the user, the rest in that of the project."""
    draft, against = found.draft, tuple(each.other.ref for each in found.against)
    fields: dict[str, str | bool | int | list[str]] = {"category": draft.category, "source": "extracted"}
    if draft.turn.private or any(each.private for each in found.against):
        fields["private"] = True
    when = f" on {draft.turn.at[:10]}" if draft.turn.at else ""
    why = f" It contradicts {', '.join(against)}: {found.against[0].reason}." if against else ""
    return Proposal(
        kind=CONTRADICTION if against else DRAFT,
        vault=found.vault,
        action=SUPERSEDE if against else SAVE,
        content=draft.text,
        fields=fields,
        refs=against,
        evidence=Evidence(draft.quote, f"{found.agent}:{found.session}"),
        reason=f"You said so to {_NAMES.get(found.agent, found.agent)}{when}.{why}",
    )


def _related(kb: KnowledgeBase, found: Found) -> tuple[Related, ...]:
    """The memories that say the same as a draft would, or the contrary; the draft is the first of each two."""
    draft = found.draft
    header = {"id": 1, "created": memory.now(), "category": draft.category, "source": "extracted"}
    note = memory.reread(render_memory(header, draft.text), kind=MEMORY, vault=found.vault, path="")
    try:
        related = look(kb, note)
    except CoError:  # it is proposed as it is, and compared when it is kept
        return ()
    return tuple(each if each.note.path == "" else Related(each.other, each.note, each.relation) for each in related)


def _day(since: str) -> str:
    if not since:
        return ""
    from datetime import date

    try:
        return date.fromisoformat(since[: len("2026-12-31")]).isoformat()
    except ValueError as error:
        raise Invalid(f"{since!r} is no date.", "Give a date, such as 2026-12-31.") from error


def _is_about(theirs: str, project: str) -> bool:
    """Whether an agent worked in a project; where that is not known, it is taken at the user's word."""
    if theirs.startswith("sha256:"):
        return theirs == f"sha256:{hashlib.sha256(project.encode()).hexdigest()}"
    return not theirs or is_within(theirs, project)


def _mark(kb: KnowledgeBase, turn: Turn) -> bytes:
    """What is remembered of a turn: whoever says the same again in the same project says nothing new."""
    return hashlib.sha256(f"{kb.places.project}\0{fold(turn.text)}".encode("utf-8", "surrogatepass")).digest()[:16]
