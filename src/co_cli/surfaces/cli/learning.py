"""``co learn --auto`` and ``co learn --from``: drafting what may be kept from what was said, for the inbox.

Owns switching it on and off, and what is printed of a lesson. What is drafted is the matter of `learning`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from co_cli.errors import Invalid
from co_cli.knowledge import open_knowledge
from co_cli.learning.drafting.lessons import SETTING, learn
from co_cli.learning.spending import SETTING as CAP
from co_cli.settings import change_setting
from co_cli.surfaces.cli.progress import Progress
from co_cli.surfaces.cli.terminal import counted, emit, paint, visible, warn

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from co_cli.knowledge import KnowledgeBase
    from co_cli.learning.drafting.lessons import Drafter, Lesson

_ON_OFF = {"true": "yes", "yes": "yes", "on": "yes", "false": "no", "no": "no", "off": "no"}
_SHOWN = 20
"""Drafts that are listed at most."""


def switch(arguments: Namespace) -> None:
    """Opt in to drafting, or out of it."""
    wanted = _ON_OFF.get(arguments.auto.lower())
    if wanted is None:
        hint = "On: co learn --auto, off: co learn --auto=false. For what is in files: co learn --from PATH"
        raise Invalid(f"--auto cannot be {arguments.auto!r}.", hint)
    kb = open_knowledge()
    path = change_setting(kb.places, SETTING, wanted)
    settings = kb.settings()
    value = settings.value(SETTING)
    if wanted == "no":
        lines = ["✓ Learning from chats is off. What waits in the inbox stays there: co review"]
    elif value == "no":
        lines = ["✓ Learning from chats is on for your projects, but not for this one: its settings switch it off."]
    else:
        lines = ["✓ Learning from chats is on, for all your projects.", *_explained(kb)]
    if value == "yes" and wanted == "no":
        lines = [f"Learning from chats stays on in this project: {kb.places.project_settings} comes first."]
    display = "\n".join(lines)
    emit(arguments, {"auto_learn": value == "yes", "path": path, "display": display}, display)


def _explained(kb: KnowledgeBase) -> list[str]:
    settings = kb.settings()
    provider, cap = settings.value("provider"), settings.value(CAP)
    asks = provider != "offline" and cap != "0"
    how = (
        f"by rules, and by one request to {provider} at its end (at most {int(cap):,} tokens a day)" if asks else "by rules"
    )
    return [
        f"When a chat ends, what you said of yourself and of the project is drafted, {how}.",
        "Drafts wait for your yes: co review. Until then nothing is written into your notes.",
        "Off again: co learn --auto=false · in this project alone: co config set auto_learn no --project",
    ]


def learn_from(arguments: Namespace) -> None:
    """Draft from the transcripts at a path."""
    from co_cli.learning.drafting.conversations import conversations_at

    kb = open_knowledge()
    drafter = model_of(kb) if arguments.with_model else None
    with Progress() as progress:
        conversations = conversations_at(arguments.transcripts, progress)
        lesson = learn(kb, conversations, drafter=drafter, since=arguments.since, dry_run=arguments.dry_run)
    warn(lesson.notices)
    data = {"dry_run": arguments.dry_run, **as_data(lesson)}
    emit(arguments, data, "\n".join([*_counts(lesson), "", *lines_of(lesson, dry_run=arguments.dry_run)]).strip())


def model_of(kb: KnowledgeBase) -> Drafter | None:
    """What asks the model that is configured; ``None`` where none is."""
    from co_cli.agent.providers import OFFLINE, choose

    choice = choose(kb.settings())
    if choice.provider == OFFLINE:
        hint = "Choose a provider: co config set provider ollama. Without --with-model, rules draft alone."
        raise Invalid("No model is configured.", hint)
    from co_cli.agent.learner import drafter

    return drafter(kb, choice)


def as_data(lesson: Lesson) -> dict[str, object]:
    """A lesson as JSON."""
    states = [outcome.state for outcome in lesson.outcomes] or [""] * len(lesson.drafts)
    ids = [outcome.proposal.ref if outcome.proposal.id else None for outcome in lesson.outcomes] or [None] * len(states)
    drafts = [
        {
            "text": found.draft.text,
            "category": found.draft.category,
            "quote": found.draft.quote,
            "confidence": found.draft.confidence,
            "agent": found.agent,
            "session": found.session,
            "private": found.draft.turn.private,
            "state": state or None,
            "id": id,
        }
        for found, state, id in zip(lesson.drafts, states, ids, strict=True)  # noqa: A001 - its name everywhere
    ]
    return {
        "conversations": lesson.conversations,
        "new_turns": lesson.turns,
        "proposed": len(lesson.proposed),
        "drafts": drafts,
        "known": [{"text": draft.text, "holder": holder} for draft, holder in lesson.known],
        "elsewhere": lesson.elsewhere,
        "broken_lines": lesson.broken,
        "unread": [unread._asdict() for unread in lesson.unread],
        "notices": list(lesson.notices),
    }


def _counts(lesson: Lesson) -> Iterator[str]:
    """What was read."""
    conversations = counted(lesson.conversations, "conversation", "conversations")
    turns = counted(lesson.turns, "turn was new", "turns were new") if lesson.turns else "nothing in it was new"
    yield f"Read {conversations}: {turns if lesson.conversations else 'there was none to read'}."
    if lesson.broken:
        passed = counted(lesson.broken, "line was passed over: it", "lines were passed over: they")
        yield paint(f"{passed} could not be read.", "dim")
    if lesson.unread:
        first = lesson.unread[0]
        more = f", and {len(lesson.unread) - 1} more" if len(lesson.unread) > 1 else ""
        yield paint(f"Left out: {visible(first.path)} ({first.why}){more}.", "dim")


def lines_of(lesson: Lesson, *, dry_run: bool = False) -> Iterator[str]:
    """What came of it, for people."""
    if dry_run:
        shown = [("", found.draft.text, found.draft.quote) for found in lesson.drafts]
        head = f"{counted(len(shown), 'draft', 'drafts')} would be proposed. Nothing was written; without --dry-run it is."
    else:
        shown = [(each.ref, each.content, each.evidence.quote) for each in lesson.proposed]
        waits = counted(len(shown), "draft waits", "drafts wait")
        head = f"{waits} for your yes: co review"
    yield paint(head, "bold") if shown else "Nothing new to propose."
    for ref, text, quote in shown[:_SHOWN]:
        said = paint(f" — “{visible(quote)}”", "dim") if quote.casefold().rstrip(".!") not in text.casefold() else ""
        yield f"{paint(ref.rjust(5), 'bold')}  {visible(text)}{said}"
    if len(shown) > _SHOWN:
        yield paint(f"       and {len(shown) - _SHOWN} more", "dim")
    left = _left_out(lesson)
    if left:
        yield paint(f"Left out: {', '.join(left)}.", "dim")


def _left_out(lesson: Lesson) -> list[str]:
    counts: dict[str, int] = {}
    for outcome in lesson.outcomes:
        if outcome.state != "proposed":
            counts[outcome.state] = counts.get(outcome.state, 0) + 1
    left = [f"{number} {state}" for state, number in counts.items()]
    left += [f"{len(lesson.known)} known already"] if lesson.known else []
    return left + ([f"{lesson.elsewhere} about other projects (learn from them there)"] if lesson.elsewhere else [])
