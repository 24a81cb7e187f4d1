"""``co knowledge --summarize``: proposing one memory in place of several that speak of the same.

Owns what is printed of it. What is grouped, and how it is put, is the matter of `learning`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from co_cli.learning.inbox import PROPOSED, REJECTED, WAITING
from co_cli.learning.summaries.merging import summarize
from co_cli.surfaces.cli.progress import Progress
from co_cli.surfaces.cli.terminal import counted, emit, paint, visible, warn

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from co_cli.knowledge import KnowledgeBase
    from co_cli.learning.summaries.merging import Merged, Summaries, Wording


def print_summaries(arguments: Namespace, kb: KnowledgeBase) -> None:
    """Propose what is to stand for several memories, and say what that is."""
    wording = None if arguments.no_model or arguments.dry_run else _wording(kb)
    with Progress() as progress:
        found = summarize(kb, arguments.summarize, wording=wording, dry_run=arguments.dry_run, progress=progress)
    warn(found.notices)
    display = "\n".join(_lines(found, arguments))
    data = {
        "dry_run": arguments.dry_run,
        "proposed": len(found.proposed),
        "further": found.further,
        "waiting": [*found.waiting],
        "groups": [_data(each) for each in found.merged],
        "notices": [*found.notices],
    }
    emit(arguments, {**data, "display": display}, display)


def _wording(kb: KnowledgeBase) -> Wording | None:
    """What asks the model that is configured; ``None`` where none is."""
    from co_cli.agent.providers import OFFLINE, choose

    choice = choose(kb.settings())
    if choice.provider == OFFLINE:
        return None
    from co_cli.agent.wording import wording

    return wording(kb, choice)


def _data(merged: Merged) -> dict[str, object]:
    proposal = merged.outcome.proposal
    error = merged.outcome.error
    return {
        "refs": [*merged.group.refs],
        "subject": merged.group.subject,
        "private": merged.group.private,
        "text": merged.summary.body,
        "wording": merged.wording or None,
        "refused": [*merged.refused],
        "state": merged.outcome.state,
        "id": proposal.ref if proposal.id else None,
        "error": error.message if error else None,
    }


def _lines(found: Summaries, arguments: Namespace) -> Iterator[str]:
    proposed = found.proposed
    if proposed:
        count = sum(len(each.group.notes) for each in proposed)
        texts = counted(len(proposed), "memory could stand", "memories could stand")
        said = f"{texts} for {count}"
        yield (
            f"{said}. Nothing was proposed; without --dry-run it is."
            if arguments.dry_run
            else f"✓ {said}. Nothing was changed yet; say yes or no: co review"
        )
        for each in proposed:
            yield from _shown(each)
    elif not found.merged:
        yield "No memories speak of the same closely enough. To merge some that you choose: co knowledge --summarize 12 15"
    for each in found.merged:
        if each.outcome.state != PROPOSED:
            yield _left_out(each)
    if found.waiting:
        left_out = counted(len(found.waiting), "memory was", "memories were")
        yield paint(f"{left_out} left out, since what waits is about them already: co review --list", "dim")
    if found.further:
        more = counted(found.further, "more group was", "more groups were")
        yield paint(f"{more} found: summarize again after `co review`.", "dim")


def _shown(merged: Merged) -> Iterator[str]:
    proposal = merged.outcome.proposal
    name = paint((proposal.ref if proposal.id else "").rjust(5), "bold")
    of = f"{', '.join(merged.group.refs)}"
    by = f", in the words of {merged.wording}" if merged.wording else ""
    if merged.group.private:
        yield f"{name}  {len(merged.group.notes)} private memories ({of})"
    else:
        yield f"{name}  {visible(merged.group.subject or 'What you named')} ({of}{by})"
        yield from (f"       {visible(line)}" for line in merged.summary.body.split("\n") if line.startswith("- "))
    if merged.refused:
        yield paint(f"       The words of the model were not taken: {visible('; '.join(merged.refused))}", "dim")


def _left_out(merged: Merged) -> str:
    refs = ", ".join(merged.group.refs)
    outcome = merged.outcome
    if outcome.state == WAITING:
        return f"{refs}: {outcome.proposal.ref} proposes this already. co review {outcome.proposal.ref}"
    if outcome.state == REJECTED:
        return paint(f"{refs}: rejected before. `co review --forget-rejected` lets it be proposed again.", "dim")
    why = f": {outcome.error.message}" if outcome.error else ""
    return f"{refs}: {outcome.state}{why}"
