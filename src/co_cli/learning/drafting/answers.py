"""What a model makes of a conversation, before anybody believes it.

Owns the checks of raw items: each must quote words that the person really said, have no number that was not said, and hold
no secret. What fails is left out, with a note. Knows nothing of models: it is handed what one returned.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from co_cli.credentials import find_secret
from co_cli.frontmatter import CATEGORIES
from co_cli.learning.drafting.rules import FACT, Draft
from co_cli.learning.drafting.speech import said_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from co_cli.learning.drafting.rules import Turn

LONGEST = 300
"""Characters of a statement at most: a longer one is no single fact."""
MOST = 20
"""Items that are taken from one answer."""
_CONFIDENCE = 0.7
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def drafts_from(items: object, turns: Sequence[Turn]) -> tuple[tuple[Draft, ...], tuple[str, ...]]:
    """The drafts that an answer holds, and a note for what was left out of it."""
    if not isinstance(items, (list, tuple)):
        return (), ("The model's answer had another form than was asked for: it was left out.",)
    drafts: list[Draft] = []
    left_out: dict[str, int] = {}
    for item in items[:MOST]:
        found = _draft(item, turns)
        if isinstance(found, Draft):
            drafts.append(found)
        else:
            left_out[found] = left_out.get(found, 0) + 1
    if len(items) > MOST:
        left_out["there were too many"] = len(items) - MOST
    notes = tuple(f"{number} of the model's items left out: {why}." for why, number in left_out.items())
    return tuple(drafts), notes


def _draft(item: object, turns: Sequence[Turn]) -> Draft | str:
    """The draft that an item is, or why it is none."""
    if not isinstance(item, Mapping):
        return "they had another form than was asked for"
    text, quote, category = (item.get(name, "") for name in ("text", "quote", "category"))
    if not (isinstance(text, str) and isinstance(quote, str)) or not text.strip():
        return "they had another form than was asked for"
    text = " ".join(text.split())
    if len(text) > LONGEST:
        return "they were too long for a single fact"
    turn = next((turn for turn in turns if said_in(quote, turn.text)), None)
    if turn is None:
        return "they quoted words that were not said"
    if not set(_NUMBER.findall(text)) <= set(_NUMBER.findall(turn.text)):
        return "they had numbers that were not said"
    if find_secret(text) or find_secret(quote):
        return "they looked like secrets"
    return Draft(text, category if category in CATEGORIES else FACT, quote.strip(), _CONFIDENCE, turn)
