"""``co review``: saying yes or no to what is proposed, on a terminal one after the other, or by name.

Owns the arguments, what is shown of a proposal, and the questions. What becomes of it is the matter of the inbox.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from co_cli.agent.approval import shown
from co_cli.errors import CoError, Invalid
from co_cli.knowledge import GLOBAL, open_knowledge
from co_cli.learning import inbox
from co_cli.surfaces.cli.editor import edit_text
from co_cli.surfaces.cli.terminal import counted, emit, harmless, interactive, paint, painted_difference, say, visible, warn

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Sequence

    from co_cli.knowledge import FileChange, KnowledgeBase
    from co_cli.learning.inbox import Proposal

_UNTIL = "1w"
_DOUBTS = 5
"""Doubts that are told at most."""
_HELP = """y  yes: do what is shown, as one change; `co undo` takes it back
n  no: the same is not proposed again, in whatever words
e  edit the text in your editor first; then you are asked again
l  later: it is not shown for a week
a  yes to this and to all others of this kind, without showing them
q  end; what you have not answered goes on waiting"""


def review_command(parser: ArgumentParser) -> Callable[[Namespace], int]:
    """Say yes or no to what is proposed: what agents and `co learn` would keep, and what no longer seems to hold.

    Each proposal is shown with its reason, the words that it rests on, and exactly what it would do to which files. Nothing
    is done without a yes; a yes is one change that `co undo` takes back. What you say no to is not proposed again.
    Without a terminal the proposals are listed. They are files in `inbox/` of the vault, and may be edited there.

    Examples:
        co review
        co review --list
        co review p3 --list
        co review --accept p3 g2
        co review --reject --kind expiry --reason "we still need them"
        co review --later p4 --until 2w
    """
    parser.add_argument("ids", nargs="*", metavar="ID", help="which: p3 is one of this project, g2 one of all projects")
    parser.add_argument("--list", action="store_true", help="list them; those named are shown whole")
    parser.add_argument("--accept", action="store_true", help="say yes without being asked")
    parser.add_argument("--reject", action="store_true", help="say no without being asked")
    parser.add_argument("--later", action="store_true", help="put them off")
    parser.add_argument("--kind", action="append", default=[], choices=tuple(inbox.KINDS), metavar="K", help=_kinds())
    parser.add_argument("--all", action="store_true", help="every one, also those that were put off")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why not; `co log` keeps it (--reject)")
    parser.add_argument("--until", default=_UNTIL, metavar="WHEN", help="a date, or a span such as 3d or 2w (--later)")
    parser.add_argument("--forget-rejected", action="store_true", help="what was rejected may be proposed again")
    return _review


def _kinds() -> str:
    return f"only those of a kind: {', '.join(inbox.KINDS)}; may be given again"


def _review(arguments: Namespace) -> int:
    kb = open_knowledge()
    verbs = [name for name in ("list", "accept", "reject", "later", "forget_rejected") if getattr(arguments, name)]
    if len(verbs) > 1:
        raise Invalid(f"--{verbs[0]} and --{verbs[1]} do not go together.".replace("_", "-"), "Leave one of them out.")
    if arguments.forget_rejected:
        forgotten = inbox.forget_rejected(kb)
        display = f"✓ Forgot {counted(forgotten, 'rejected proposal', 'rejected proposals')}."
        emit(arguments, {"forgotten": forgotten, "display": display}, display)
        return 0
    listing = inbox.proposals(kb)
    warn(listing.problems)
    wanted = _wanted(kb, listing.proposals, arguments)
    if verbs and verbs != ["list"]:
        return _decide(arguments, kb, wanted, verbs[0])
    if verbs or arguments.json or not interactive():
        _list(arguments, kb, wanted, put_off=len(listing.proposals) - len(wanted))
        return 0
    if not wanted:
        say(_nothing(len(listing.proposals)))
        return 0
    return ask_about(kb, wanted, arguments)


def ask_about(kb: KnowledgeBase, wanted: Sequence[Proposal], arguments: Namespace) -> int:
    """Show these proposals one after the other, and ask; returns the exit code."""
    return _Review(kb, wanted).run(arguments)


def _wanted(kb: KnowledgeBase, waiting: Sequence[Proposal], arguments: Namespace) -> list[Proposal]:
    """The proposals that the arguments choose."""
    if arguments.ids:
        if arguments.kind or arguments.all:
            raise Invalid("Name them, or choose them by --kind or --all: not both.", "Leave one of them out.")
        chosen = [inbox.get(kb, name) for name in arguments.ids]
        return [*{proposal.ref: proposal for proposal in chosen}.values()]
    if (arguments.accept or arguments.reject or arguments.later) and not (arguments.kind or arguments.all):
        raise Invalid("It is not said which proposals are meant.", "Name them, or choose by --kind K or --all.")
    found = [each for each in waiting if arguments.all or inbox.is_due(each)]
    return [each for each in found if not arguments.kind or each.kind in arguments.kind]


def _nothing(put_off: int) -> str:
    if not put_off:
        return "Nothing is proposed."
    return f"Nothing waits today; {counted(put_off, 'proposal is', 'proposals are')} put off: co review --all"


# ------------------------------------------------------------------------------------------------------------------- showing


_INNER = ("raw", "fingerprint", "id", "seen")


class _Card(NamedTuple):
    """What is shown of one proposal."""

    proposal: Proposal
    changed: Sequence[str] = ()
    """The notes that have changed since it was proposed."""
    changes: tuple[FileChange, ...] = ()
    error: CoError | None = None
    """Why it cannot be accepted as it stands."""
    doubts: Sequence[str] = ()
    """What a merge has otherwise than the notes that it would replace."""

    @property
    def lines(self) -> list[str]:
        """All but the changes."""
        proposal, lines = self.proposal, []
        if proposal.reason:
            lines.append(f"  why: {visible(proposal.reason)}")
        quote, session, refs = proposal.evidence
        if quote:
            lines.append(f"  said: “{visible(' '.join(quote.split()))}”")
        came = [*filter(None, (session, f"notes {', '.join(refs)}" if refs else "", proposal.created[:10]))]
        if came:  # one that was written by hand may be from nowhere
            lines.append(f"  from: {visible(' · '.join(came))}")
        if self.error:
            lines.append(paint(f"  it cannot be done: {visible(self.error.message)}", "yellow", sys.stderr))
        elif self.changed:
            lines.append(paint(f"  look twice: {', '.join(self.changed)} has changed since", "yellow", sys.stderr))
        lines += [paint(f"  look twice: it {visible(doubt)}", "yellow", sys.stderr) for doubt in self.doubts[:_DOUBTS]]
        return lines

    @property
    def seen(self) -> tuple[FileChange, ...] | None:
        """What a yes is a yes to."""
        return None if self.error else self.changes

    @property
    def difference(self) -> str:
        """What would become of which files."""
        return "" if self.error else shown(self.changes)

    def data(self) -> dict[str, object]:
        """As JSON."""
        proposal = self.proposal
        known = {name: value for name, value in proposal._asdict().items() if name not in _INNER}
        known.update(fields=dict(proposal.fields), refs=list(proposal.refs), evidence=_evidence(proposal))
        error = {"kind": self.error.kind, "message": self.error.message, "hint": self.error.hint} if self.error else None
        whole = {"id": proposal.ref, **known, "private": proposal.private, "waits": inbox.is_due(proposal)}
        whole["doubts"] = [*self.doubts]
        return {**whole, "changed_since": [*self.changed], "difference": self.difference, "error": error}


def _evidence(proposal: Proposal) -> dict[str, object]:
    return {**proposal.evidence._asdict(), "refs": list(proposal.evidence.refs)}


def _card(kb: KnowledgeBase, proposal: Proposal) -> _Card:
    from co_cli.learning.summaries.merging import doubts

    try:
        return _Card(proposal, inbox.changed_since(kb, proposal), inbox.changes(kb, proposal), None, doubts(kb, proposal))
    except CoError as error:
        return _Card(proposal, error=error)


def _title(proposal: Proposal) -> str:
    where = "all your projects" if proposal.vault == GLOBAL else "this project"
    return f"{proposal.ref} · {proposal.kind}: {inbox.KINDS[proposal.kind]} · for {where}"


def _list(arguments: Namespace, kb: KnowledgeBase, wanted: Sequence[Proposal], *, put_off: int) -> None:
    if arguments.json:
        emit(arguments, {"count": len(wanted), "proposals": [_card(kb, each).data() for each in wanted]}, "")
        return
    if arguments.ids:
        cards = [_card(kb, each) for each in wanted]
        whole = [
            [paint(_title(card.proposal), "bold"), *card.lines, painted_difference(card.difference, sys.stdout)]
            for card in cards
        ]
        emit(arguments, None, "\n\n".join("\n".join(lines) for lines in whole))
        return
    emit(arguments, None, "\n".join(map(_line, wanted)))
    if not wanted:
        say(paint(_nothing(put_off), "dim", sys.stderr))
    elif put_off and not arguments.kind:
        say(paint(f"{put_off} more put off: co review --list --all", "dim", sys.stderr))


def _line(proposal: Proposal) -> str:
    words = proposal.label.removeprefix(f"{proposal.ref} {proposal.kind}").strip()
    why = f" ({proposal.reason})" if proposal.reason else ""
    later = f" (not before {proposal.later})" if not inbox.is_due(proposal) else ""
    said = f"{visible(words)}{paint(visible(why) + later, 'dim')}"
    day = paint(proposal.created[:10].ljust(10), "dim")
    return f"{paint(proposal.ref.rjust(5), 'bold')}  {day}  {proposal.kind.ljust(13)}  {said}"


# ------------------------------------------------------------------------------------------------------------------ deciding


def _decide(arguments: Namespace, kb: KnowledgeBase, wanted: Sequence[Proposal], verb: str) -> int:
    """Do the same with all of them; what goes wrong with one stops none of the others."""
    decided = _Decided(kb, arguments.until)
    for proposal in wanted:
        decided.decide(proposal, verb, reason=arguments.reason)
    return decided.report(arguments)


class _Decided:
    """What has been decided so far, and doing it."""

    def __init__(self, kb: KnowledgeBase, until: str = _UNTIL) -> None:
        self._kb = kb
        self._until = until
        self.done: dict[str, list[str]] = {"accept": [], "reject": [], "later": []}
        self.failed: list[tuple[str, CoError]] = []

    def decide(self, proposal: Proposal, verb: str, *, seen: tuple[FileChange, ...] | None = None, reason: str = "") -> bool:
        """Accept, reject or put off one; returns whether that went well."""
        from co_cli.learning.relations.pairs import compare_accepted
        from co_cli.learning.summaries.merging import doubts

        # who has seen it has seen these too
        told = doubts(self._kb, proposal)[:_DOUBTS] if verb == "accept" and seen is None else ()
        try:
            if verb == "accept":
                done = inbox.accept(self._kb, proposal, seen=seen)
                for line in compare_accepted(self._kb, proposal, done).sentences:
                    say(visible(line))
                warn(f"{proposal.ref} {visible(doubt)}; `co undo` takes it back" for doubt in told)
            elif verb == "reject":
                inbox.reject(self._kb, proposal, reason)
            else:
                inbox.postpone(self._kb, proposal, self._until)
        except CoError as error:
            self.failed.append((proposal.ref, error))
            say(f"{paint('error:', 'red', sys.stderr)} {error.message}")
            for line in filter(None, (error.details, error.hint)):
                say(paint(line, "dim", sys.stderr))
            return False
        self.done[verb].append(proposal.ref)
        return True

    def report(self, arguments: Namespace) -> int:
        """Print what became of them; returns the exit code: that of the first that failed."""
        from co_cli.surfaces.cli.main import EXIT_CODES

        waiting = inbox.count(self._kb)
        words = {"accept": "accepted", "reject": "rejected", "later": "put off"}
        parts = [f"{len(refs)} {words[verb]}" for verb, refs in self.done.items() if refs]
        parts += [f"{len(self.failed)} failed"] if self.failed else []
        rest = f"{waiting} still {'waits' if waiting == 1 else 'wait'}" if waiting else "nothing waits"
        display = f"{'✓ ' if parts and not self.failed else ''}{', '.join(parts) or 'Nothing was decided'}; {rest}."
        data = {words[verb].replace(" ", "_"): refs for verb, refs in self.done.items()}
        failed = [{"id": ref, "kind": error.kind, "message": error.message} for ref, error in self.failed]
        emit(arguments, {**data, "failed": failed, "waiting": waiting, "display": display}, display)
        return EXIT_CODES[self.failed[0][1].kind] if self.failed else 0


class _Review:
    """Asking about one after the other."""

    def __init__(self, kb: KnowledgeBase, wanted: Sequence[Proposal]) -> None:
        self._kb = kb
        self._open = list(wanted)
        self._count = len(wanted)
        self._decided = _Decided(kb)

    def run(self, arguments: Namespace) -> int:
        """Ask until all is answered, or the person has enough."""
        while self._open:
            card = _card(self._kb, self._open[0])
            say(paint(f"{self._count - len(self._open) + 1} of {self._count} · {_title(card.proposal)}", "bold", sys.stderr))
            say("\n".join([*card.lines, painted_difference(card.difference, sys.stderr)]).rstrip("\n"))
            say("")
            if not self._answered(card):
                break
            say("")
        self._decided.failed.clear()  # each was told when it happened, and answered since or left waiting
        return self._decided.report(arguments)

    def _answered(self, card: _Card) -> bool:
        """Ask about one until there is an answer; returns whether to go on."""
        proposal = card.proposal
        edit = ["e edit"] if proposal.content else []
        yes, every = (["y yes"], ["a all of its kind"]) if card.seen is not None else ([], [])
        choices = [*yes, "n no", *edit, "l later", *every, "q end", "? help"]
        while True:
            answer = _typed(f"{paint('Accept?', 'bold', sys.stderr)} {' · '.join(choices)} › ")
            match answer if answer is None else answer.lower():
                case None | "q" | "quit":
                    return False
                case "y" | "yes" if yes:
                    self._finish(proposal, self._decided.decide(proposal, "accept", seen=card.seen))
                case "n" | "no":
                    reason = _typed("Why not? (Enter: no reason) › ") or ""
                    self._finish(proposal, self._decided.decide(proposal, "reject", reason=reason))
                case "l" | "later":
                    self._finish(proposal, self._decided.decide(proposal, "later"))
                case "a" | "all" if every:
                    self._accept_all(card)
                case "e" | "edit" if edit:
                    if not self._edited(proposal):
                        continue
                case _:
                    say(_HELP)
                    continue
            return True

    def _finish(self, proposal: Proposal, done: bool) -> None:
        """Go on behind one that is done; one that is not is shown once more, as it is now, if it is there at all."""
        place = self._open.index(proposal)
        self._open.remove(proposal)
        if not done:
            with suppress(CoError):
                self._open.insert(place, inbox.get(self._kb, proposal.ref))

    def _accept_all(self, card: _Card) -> None:
        for proposal in [each for each in self._open if each.kind == card.proposal.kind]:
            seen = card.seen if proposal == card.proposal else None
            self._finish(proposal, self._decided.decide(proposal, "accept", seen=seen))

    def _edited(self, proposal: Proposal) -> bool:
        """Let the text be edited; returns whether there is another now."""
        try:
            text = edit_text(self._kb, proposal.content, "review").strip()
            if text in ("", proposal.content):
                say("Nothing was edited.")
                return False
            self._open[0] = inbox.reword(self._kb, proposal, text)
        except CoError as error:
            say(f"{error.message} {error.hint}".strip())
            return False
        return True


def _typed(question: str) -> str | None:
    """What is typed behind a question; ``None`` where the input has ended."""
    sys.stderr.write(harmless(question, sys.stderr))
    sys.stderr.flush()
    try:
        return input().strip()
    except EOFError:
        say("")
        return None
