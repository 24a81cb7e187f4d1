"""``co knowledge --check``: what is found among the memories, and what is proposed about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from co_cli.surfaces.cli.progress import Progress
from co_cli.surfaces.cli.terminal import counted, emit, visible, warn

if TYPE_CHECKING:
    from argparse import Namespace

    from co_cli.knowledge import KnowledgeBase
    from co_cli.learning.inbox import Outcome, Proposal
    from co_cli.learning.relations.pairs import Checked


def print_check(arguments: Namespace, kb: KnowledgeBase) -> None:
    """Compare all memories, look which have served their time, propose what to do, and say so."""
    from co_cli.learning.aging import propose_worn
    from co_cli.learning.relations.pairs import check

    with Progress() as progress:
        checked = check(kb, dry_run=arguments.dry_run, progress=progress)
        worn, answers, left = propose_worn(kb, dry_run=arguments.dry_run)
    warn((*checked.problems, *checked.notices))
    lines = [*_compared(checked), *_aged(worn, answers)]
    left += checked.left
    if left:
        lines.append(f"{left} more would be proposed: check again after `co review`.")
    emit(arguments, {**_data(checked, worn, answers, left), "dry_run": arguments.dry_run}, "\n".join(lines))


def _compared(checked: Checked) -> list[str]:
    from co_cli.learning.relations.pairs import is_settled, sentence

    pairs = list(zip(checked.found, checked.outcomes, strict=True))
    at_odds = sum(related.contradicts for related in checked.found)
    counts = [counted(at_odds, "contradiction", "contradictions")]
    counts.append(counted(len(pairs) - at_odds, "duplicate", "duplicates"))
    lines = [f"✓ {counted(checked.memories, 'memory', 'memories')} compared: {', '.join(counts)}."]
    lines += [visible(sentence(*pair)) for pair in pairs if not is_settled(pair[1])]
    settled = sum(is_settled(outcome) for outcome in checked.outcomes)
    if settled:
        lines.append(f"{settled} of them {'was' if settled == 1 else 'were'} rejected before, and not proposed again.")
    return lines


def _aged(worn: tuple[Proposal, ...], answers: tuple[Outcome, ...]) -> list[str]:
    """A line for each memory that has served its time, but for those about which somebody has said no."""
    from co_cli.learning.inbox import REJECTED

    names = {answer.proposal.refs: answer for answer in answers}
    lines = []
    for proposal in worn:
        answer = names.get(proposal.refs)
        if answer is None or answer.state != REJECTED:
            where = f"; {answer.proposal.ref}: co review" if answer and answer.proposal.id else ""
            lines.append(visible(f"{proposal.refs[0]}: {proposal.reason.rstrip('.')}{where}."))
    settled = sum(answer.state == REJECTED for answer in answers)
    kept = f", {settled} of them kept since you said so" if settled else ""
    return (
        [f"✓ {counted(len(worn), 'memory has served its', 'memories have served their')} time{kept}.", *lines]
        if worn
        else []
    )


def _data(checked: Checked, worn: tuple[Proposal, ...], answers: tuple[Outcome, ...], left: int) -> dict[str, object]:
    from co_cli.learning.relations.pairs import as_pair

    at_odds = sum(related.contradicts for related in checked.found)
    states = {answer.proposal.refs: (answer.state, answer.proposal) for answer in answers}
    return {
        "memories": checked.memories,
        "contradictions": at_odds,
        "duplicates": len(checked.found) - at_odds,
        "left": left,
        "pairs": [as_pair(*pair) for pair in zip(checked.found, checked.outcomes, strict=True)],
        "worn": [
            {"ref": each.refs[0], "kind": each.kind, "reason": each.reason, **_answered(states.get(each.refs))}
            for each in worn
        ],
        "problems": [{"path": each.path, "line": each.line, "message": each.message} for each in checked.problems],
    }


def _answered(answer: tuple[str, Proposal] | None) -> dict[str, object]:
    state, proposal = answer or ("", None)
    return {"state": state, "proposal": proposal.ref if proposal and proposal.id else None}
