"""What learning may take from a model, and what it took.

Owns the cap of a day and the ledger of it. The cap stops a request before it is made: it is put aside by its estimate, and
settled by what was counted.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import Denied
from co_cli.usage import UsageLog, days_ago

if TYPE_CHECKING:
    from co_cli.knowledge import KnowledgeBase
    from co_cli.usage import Spending

PURPOSE = "learning"
SETTING = "learn_tokens"


class Spent(NamedTuple):
    """What learning took in some days."""

    cap: int
    """Tokens that it may take on one day."""
    today: int
    days: tuple[Spending, ...]


def reserve(kb: KnowledgeBase, model: str, tokens: int) -> int:
    """Put tokens aside for a request; raises ``Denied`` where the cap of the day stands against it."""
    cap = int(kb.settings().value(SETTING))
    if not cap:
        raise Denied(
            "No model is asked: learn_tokens is 0.", f"Allow it so many tokens a day: co config set {SETTING} 20000"
        )
    with closing(UsageLog(kb.places.usage_log)) as log:
        number = log.reserve(PURPOSE, model, tokens, cap=cap, since=_midnight())
        if number is None:
            spent = sum(day.tokens for day in log.spent(_midnight()) if day.purpose == PURPOSE)
            raise Denied(
                f"No model is asked: that takes about {tokens:,} tokens, and {spent:,} of the {cap:,} for today are spent.",
                f"Rules go on without it. Another cap: co config set {SETTING} N",
                code="cap",
            )
    return number


def settle(kb: KnowledgeBase, number: int, tokens: int) -> None:
    """Put down what a request really took."""
    with closing(UsageLog(kb.places.usage_log)) as log:
        log.settle(number, tokens)


def spent(kb: KnowledgeBase, days: int) -> Spent:
    """What learning took in the last days, today among them."""
    with closing(UsageLog(kb.places.usage_log)) as log:
        rows = tuple(each for each in log.spent(days_ago(days)) if each.purpose == PURPOSE)
        today = sum(each.tokens for each in log.spent(_midnight()) if each.purpose == PURPOSE)
    return Spent(int(kb.settings().value(SETTING)), today, rows)


def _midnight() -> float:
    """The beginning of this day, where the user is."""
    from datetime import datetime

    return datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
