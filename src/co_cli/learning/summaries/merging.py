"""From memories that speak of the same to one that could stand for them, as a proposal.

Owns the course of it: which groups are tried, the faithful list, the words of a model where one is asked, what becomes of
words that are not faithful, and that all of it goes to the inbox and nowhere else. Knows nothing of surfaces, nor of models:
it is handed something to ask.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import CoError, Conflict, Invalid
from co_cli.knowledge import MEMORY
from co_cli.learning import inbox
from co_cli.learning.inbox import PROPOSED, Evidence, Outcome, Proposal
from co_cli.learning.proposal import ARCHIVE, FORGET, MERGE, MERGED, REVISE, SUPERSEDE, identity
from co_cli.learning.relations import CONTRADICTION, judge
from co_cli.learning.summaries.faithfulness import Lapse, lapses, lapses_of_text
from co_cli.learning.summaries.grouping import Group, group_of, groups, hindrance, kind_of
from co_cli.learning.summaries.summary import MERGED_FROM, Statement, Summary, listed, parse, statements_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from co_cli.knowledge import KnowledgeBase
    from co_cli.learning.proposal import Value

    Progress = Callable[[str, int, int], None]

AT_ONCE = 10
"""Groups that are proposed at once: nobody looks through more with care."""
_ATTEMPTS = 2
"""How often a model is asked for one group."""
_FEWEST = 2
"""Memories that may be merged where they are named."""
_TOLD = 5
_CHECKED = 20_000
"""Characters of sources that are compared with what a person made of them."""
_TAKEN = (MERGE, SUPERSEDE, ARCHIVE, FORGET, REVISE)
"""What waits for notes that no second proposal should take away from under it."""
_MALFORMED = "The model's answer had another form than was asked for: it was left out."


class Request(NamedTuple):
    """What a model is asked for: several notes in fewer words."""

    heading: str
    notes: tuple[tuple[str, str], ...]
    """Each by its ref and its text."""
    lapses: tuple[str, ...] = ()
    """What was wrong with the last answer."""


class Wording(NamedTuple):
    """Something that puts notes into words."""

    ask: Callable[[Request], object]
    """Returns raw data, of which nothing is believed unseen; raises a ``CoError`` where it cannot ask."""
    name: str


class Merged(NamedTuple):
    """What came of one group."""

    group: Group
    summary: Summary
    outcome: Outcome
    wording: str = ""
    """Whose words they are; empty for those of the notes themselves."""
    refused: tuple[str, ...] = ()
    """Why the words of the model were not taken."""


class Summaries(NamedTuple):
    """What came of summarizing."""

    merged: tuple[Merged, ...]
    further: int = 0
    """Groups that there are beyond those."""
    waiting: tuple[str, ...] = ()
    """Memories that were left out, since something else is proposed of them already."""
    notices: tuple[str, ...] = ()

    @property
    def proposed(self) -> tuple[Merged, ...]:
        """Those that wait in the inbox now and did not before, or would."""
        return tuple(each for each in self.merged if each.outcome.state == PROPOSED)


def summarize(
    kb: KnowledgeBase,
    refs: Sequence[str] = (),
    *,
    wording: Wording | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Summaries:
    """Propose one memory in place of several: of these, or of all that speak of the same. No note is changed.

    With ``dry_run`` nothing is proposed either, and no model is asked.
    """
    notes = () if refs else kb.list((MEMORY,)).notes
    taken = frozenset() if refs else _spoken_for(kb)
    found = (_named(kb, refs),) if refs else groups(notes, taken)
    work = _Summarizing(kb, None if dry_run else wording, dry_run=dry_run)
    merged: list[Merged] = []
    further = 0
    for place, group in enumerate(found):
        if sum(each.outcome.state == PROPOSED for each in merged) >= AT_ONCE:
            further = len(found) - place
            break
        if progress:
            progress("summarizing", place, min(len(found), AT_ONCE))
        merged.append(work.summarize(group))
    waiting = tuple(note.ref for note in notes if note.ref in taken)
    return Summaries(tuple(merged), further, waiting, tuple(work.notices))


def _spoken_for(kb: KnowledgeBase) -> frozenset[str]:
    """The memories of which something else is proposed already."""
    waiting = (each for each in inbox.proposals(kb).proposals if each.action in _TAKEN)
    return frozenset(ref.removeprefix("p:") for each in waiting for ref in each.refs)


def _named(kb: KnowledgeBase, refs: Iterable[str]) -> Group:
    """The memories that somebody wants to be one; raises ``Conflict`` where they cannot be."""
    notes = {note.ref: note for note in map(kb.named, refs)}
    for note in notes.values():
        why = "is in the archive" if kb.vault(note.vault).is_archived(note) else hindrance(note)
        if why:
            raise Conflict(f"{note.ref} {why}: it cannot be merged with others.", "Name the others without it.")
    if len(notes) < _FEWEST:
        raise Invalid("It takes two memories at least to make one of them.", "Name more, or none: co knowledge --summarize")
    first, *others = notes.values()
    for note in others:
        if kind_of(note) != kind_of(first):
            why = (
                "one is private and the other is not" if note.private != first.private else "they hold for different things"
            )
            raise Conflict(
                f"{first.ref} and {note.ref} cannot be merged: {why}.",
                "Only memories of one vault, scope, language and category are; and private ones with private ones only.",
            )
    for place, one in enumerate(notes.values()):
        for other in [*notes.values()][place + 1 :]:
            if judge(one.body, other.body).label == CONTRADICTION:
                hint = f"Decide which holds, and forget the other: co show {one.ref}; co show {other.ref}"
                raise Conflict(f"{one.ref} and {other.ref} are at odds: they cannot both be in one.", hint)
    return group_of([*notes.values()])


class _Summarizing:
    """Making one memory of several, one group after the other."""

    def __init__(self, kb: KnowledgeBase, wording: Wording | None, *, dry_run: bool) -> None:
        self._kb = kb
        self._wording = wording
        self._dry_run = dry_run
        self.notices: dict[str, None] = {}

    def summarize(self, group: Group) -> Merged:
        """Propose what is to stand for a group: in the words of the model if they are faithful, or in its own."""
        plain = _list_of(group)
        if lapses(_sources(group), plain, known=_known(group)):  # its own words hold for sure; a heading may not
            plain = plain._replace(heading="")
        simple = _proposal(group, plain)
        tried = self._tried(simple)
        if tried.state != PROPOSED:  # nobody is asked for words that nobody will see
            return Merged(group, plain, tried)
        worded, refused = self._worded(group, plain)
        if worded is None:
            return Merged(group, plain, tried if self._dry_run else self._put(simple), refused=refused)
        name = self._wording.name if self._wording else ""
        proposal = _proposal(group, worded, name)._replace(fingerprint=identity(simple))
        return Merged(group, worded, self._put(proposal), name, refused)

    def _tried(self, proposal: Proposal) -> Outcome:
        """What would become of a proposal."""
        outcomes: list[Outcome] = []
        self._kb.rehearse(lambda rehearsal: outcomes.extend(inbox.propose(rehearsal, [proposal])))
        return outcomes[0]

    def _put(self, proposal: Proposal) -> Outcome:
        (outcome,) = inbox.propose(self._kb, [proposal])
        return outcome

    def _worded(self, group: Group, plain: Summary) -> tuple[Summary | None, tuple[str, ...]]:
        """The words of the model for a group, if it may be asked and they are faithful, and why any were not taken."""
        wording = self._wording
        if wording is None or group.private:  # what is private is told to no model that is asked over a wire
            return None, ()
        told: tuple[str, ...] = ()
        for _attempt in range(_ATTEMPTS):
            request = Request(plain.heading, tuple((note.ref, note.body) for note in group.notes), told)
            try:
                summary = summary_from(wording.ask(request))
            except CoError as error:  # the cap of the day, or no connection: the next would meet the same
                self.notices.setdefault(f"{error.message} {error.hint}".strip())
                self._wording = None
                return None, told
            if summary is None:
                self.notices.setdefault(_MALFORMED)
                return None, (_MALFORMED,)
            wrong = _lapses(group, plain, summary)
            if not wrong:
                return summary, ()
            told = tuple(map(str, wrong))[:_TOLD]
        return None, told


def summary_from(answer: object) -> Summary | None:
    """The summary that an answer is; ``None`` for an answer of any other form."""
    if not isinstance(answer, Mapping):
        return None
    heading, items = answer.get("heading", ""), answer.get("statements")
    if not isinstance(heading, str) or not isinstance(items, (list, tuple)) or not items:
        return None
    statements = []
    for item in items:
        text, refs = (item.get("text"), item.get("refs")) if isinstance(item, Mapping) else (None, None)
        if not isinstance(text, str) or not text.strip() or not isinstance(refs, (list, tuple)):
            return None
        named = tuple(dict.fromkeys(str(ref).strip().strip("[]") for ref in refs))
        statements.append(Statement(" ".join(text.split()), named))
    summary = Summary(" ".join(heading.split()).rstrip(":. "), tuple(statements))
    return summary if parse(summary.body) == summary else None


def _list_of(group: Group) -> Summary:
    """A group in its own words."""
    return listed(group.subject, (statement for note in group.notes for statement in statements_of(note)))


def _sources(group: Group) -> dict[str, str]:
    """What each ref stands for that a summary of a group may cite."""
    texts: dict[str, list[str]] = {}
    for statement in _list_of(group).statements:
        for ref in statement.refs:
            texts.setdefault(ref, []).append(statement.text)
    return {ref: "\n".join(found) for ref, found in texts.items()}


def _known(group: Group) -> str:
    """Words that a heading may have beside those of the notes."""
    return " ".join(tag for note in group.notes for tag in note.tags)


def _lapses(group: Group, plain: Summary, summary: Summary) -> tuple[Lapse, ...]:
    """What is wrong with the words of a model: lost or added facts, or a statement that contradicts one it cites."""
    sources = _sources(group)
    found = list(lapses(sources, summary, known=f"{_known(group)} {plain.heading}"))
    found += (
        Lapse("contradicts", "", statement.text, ref)
        for statement in summary.statements
        for ref in (statement.refs if len(statement.refs) == 1 else ())  # what joins two says more than either of them
        if judge(statement.text, sources.get(ref, "")).label == CONTRADICTION
    )
    return tuple(found)


def _proposal(group: Group, summary: Summary, wording: str = "") -> Proposal:
    first = group.notes[0]
    count = len(group.notes)
    tags = list(dict.fromkeys(tag for note in group.notes for tag in note.tags))
    sources = {note.source for note in group.notes}
    fields: dict[str, Value] = {
        "tags": tags,
        "category": first.category,
        "language": first.language,
        "source": "agent-inferred" if wording else sources.pop() if len(sources) == 1 else "extracted",
        "because": f"{MERGED_FROM}{', '.join(group.refs[:-1])} and {group.refs[-1]}",
    }
    if group.private:
        fields.update(private=True, force=True)  # what looks like a secret is in the notes already
    about = f" about {summary.heading}" if summary.heading and not group.private else ""
    how = f"put into words by {wording}; every number, name, date and negation is kept" if wording else "in their own words"
    reason = f"{count} memories{about} as one, {how}"
    evidence = Evidence(refs=group.refs)
    return Proposal(MERGED, first.vault, MERGE, summary.body, fields, group.refs, evidence, reason)


def doubts(kb: KnowledgeBase, proposal: Proposal) -> tuple[str, ...]:
    """What the text of a proposed merge has otherwise than the notes that it would replace: a person may want it so."""
    if proposal.action != MERGE:
        return ()
    try:
        notes = [kb.named(ref) for ref in proposal.refs]
    except CoError:  # it cannot be accepted as it stands, which is said already
        return ()
    if sum(len(note.body) for note in notes) > _CHECKED or not notes:
        return ()
    group = Group("", tuple(notes))
    known = f"{_known(group)} {(parse(proposal.content) or Summary('', ())).heading}"
    wrong = lapses_of_text(_sources(group), proposal.content, known=known)
    # where one note is to go since another says the same, it is no fault that the other says more
    return tuple(str(lapse) for lapse in wrong if lapse.what != "adds" or len(notes) > 1)
