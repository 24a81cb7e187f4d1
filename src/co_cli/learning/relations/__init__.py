"""How two statements stand to each other: the same, at odds, or neither.

Owns the judgement and its reasons. Pure: it is handed texts, with what else is known of them. It claims a contradiction only
where it can name it, since a wrong claim costs a person's attention; what it does not understand is unrelated.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from co_cli.learning.relations.statement import NAME, NUMBER, WORD, Statement, Token, read
from co_cli.learning.relations.vocabulary import (
    ALTERNATIVES,
    CONTRARIES,
    DENYING,
    DISTINCT,
    FIXED,
    GENERIC,
    HOLDERS,
    LIGHT,
    MANY,
    MEANS,
    PERMITS,
    SCOPES,
    SINGLE,
    TIMES,
)
from co_cli.note import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Near = Callable[[str, str], float | None]
    """Tells the cosine of the vectors of two texts, or that there is none."""

DUPLICATE, CONTRADICTION, UNRELATED = "duplicate", "contradiction", "unrelated"
LABELS = (DUPLICATE, CONTRADICTION, UNRELATED)

_NEAR = 0.85
"""The cosine from which on two texts may say the same in other words."""
_LONG, _APART = 200, 8
"""Characters from which on a text is compared as a whole too, and one word in so many that may differ then."""
_SLOT = 4
"""Words of a value at most."""


class Relation(NamedTuple):
    """What two statements are to each other, and why."""

    label: str
    reason: str = ""


class Said(NamedTuple):
    """A text that was read, with what its note says of it."""

    text: str
    folded: str
    statements: tuple[Statement, ...]
    category: str = ""
    key: str = ""
    language: str = ""


_Slots = tuple[tuple[Token, ...], tuple[Token, ...]]
"""What stands in the place in which two statements differ."""

_NONE = Relation(UNRELATED)
_PERHAPS = Relation(UNRELATED, "nearly the same words")
"""What may be the same: their vectors decide."""


def said(text: str, *, category: str = "", key: str = "", language: str = "") -> Said:
    """Read a text once, to be judged against many."""
    return Said(text, fold(text), read(text), category, key, language.casefold())


def judge(one: Said | str, other: Said | str, *, near: Near | None = None) -> Relation:
    """How two statements stand to each other; ``near`` tells the cosine of two texts, and is asked where it matters only."""
    one = said(one) if isinstance(one, str) else one
    other = said(other) if isinstance(other, str) else other
    if one.folded == other.folded:
        return Relation(DUPLICATE, "the same words")
    if one.language and other.language and one.language != other.language:
        return _NONE
    found = _compare_all(one.statements, other.statements)
    if found is _NONE and min(len(one.text), len(other.text)) > _LONG and _are_alike(one.text, other.text):
        found = _PERHAPS
    if found is _PERHAPS:
        cosine = near(one.text, other.text) if near else None
        same = cosine is not None and cosine >= _NEAR
        found = Relation(DUPLICATE, "nearly the same words and meaning") if same else _NONE
    if one.key and (one.category, one.key) == (other.category, other.key) and found.label != DUPLICATE:
        return Relation(CONTRADICTION, found.reason or f"the same key, {one.key}, with another value")
    return found


def _are_alike(one: str, other: str) -> bool:
    """Whether two long texts have nearly all words in common, and all numbers and denials."""
    mine, theirs = ({*re.findall(r"\w+", text.casefold())} for text in (one, other))
    apart = mine ^ theirs
    telling = any(word in DENYING or any(map(str.isdigit, word)) for word in apart)
    return not telling and len(apart) * _APART <= len(mine | theirs)


def _compare_all(ones: Sequence[Statement], others: Sequence[Statement]) -> Relation:
    """Compare each sentence with each: one that is denied is enough, but to be the same all have to be."""
    if len(ones) == len(others) == 1:
        return _compare(ones[0], others[0])
    grid = [[_compare(one, other) for other in others] for one in ones]
    for row in grid:
        for found in row:
            if found.label == CONTRADICTION:
                return found
    same_rows = all(any(found.label == DUPLICATE for found in row) for row in grid)
    same_columns = all(any(row[place].label == DUPLICATE for row in grid) for place in range(len(others)))
    return Relation(DUPLICATE, "nearly the same words") if grid and others and same_rows and same_columns else _NONE


class _Difference(NamedTuple):
    """What only one of two statements says, and what both do."""

    one: tuple[Token, ...]
    other: tuple[Token, ...]
    shared: frozenset[str]


def _difference(one: Statement, other: Statement) -> _Difference:
    all_one, all_other = (Counter(token.stem for token in each.tokens) for each in (one, other))
    shared = frozenset((all_one & all_other).keys())
    return _Difference(_only(one.content, all_other), _only(other.content, all_one), shared)


def _only(tokens: Iterable[Token], others: Counter[str]) -> tuple[Token, ...]:
    left = others.copy()
    found = []
    for token in tokens:
        if left[token.stem] > 0:
            left[token.stem] -= 1
        else:
            found.append(token)
    return tuple(found)


def _compare(one: Statement, other: Statement) -> Relation:
    difference = _difference(one, other)
    rejected = _rejection(one, other, difference) or _rejection(other, one, _turned(difference))
    if rejected:
        return rejected
    if not difference.shared:
        return _NONE
    if one.negative != other.negative:
        return _negation(one, other, difference) if one.negative else _negation(other, one, _turned(difference))
    if not difference.one and not difference.other:
        return _NONE if _crossed(one, other) else Relation(DUPLICATE, "the same, put in other words")
    if difference.one and difference.other and not one.negative:
        found = _other_value(one, other, difference)
        if found:
            return found
    return _PERHAPS if _is_nearly(one, other, difference) else _NONE


def _turned(difference: _Difference) -> _Difference:
    return _Difference(difference.other, difference.one, difference.shared)


# ---------------------------------------------------------------------------------------------------------------- the same


def _crossed(one: Statement, other: Statement) -> bool:
    """Whether the same words stand the other way round: what calls the one, is called in the other."""
    if {one.verb, other.verb} & (LIGHT | {"", "be"}):
        return False
    subjects = [{token.stem for token in each.content if token.before_verb} for each in (one, other)]
    objects = [{token.stem for token in each.content if not token.before_verb and not token.role} for each in (one, other)]
    return bool(subjects[0] & objects[1] and subjects[1] & objects[0])


def _is_nearly(one: Statement, other: Statement, difference: _Difference) -> bool:
    """Whether what one of them adds says little; their meaning decides then."""
    left = (*difference.one, *difference.other)
    telling = [token for token in left if token.kind != WORD or token.stem in ALTERNATIVES or token.stem in SINGLE]
    size = len({token.stem for token in (*one.content, *other.content)})
    return not telling and len(left) * 3 <= size


# ------------------------------------------------------------------------------------------------------------ contradictions


def _rejection(one: Statement, other: Statement, difference: _Difference) -> Relation | None:
    """One turns down by name what the other says."""
    if not one.rejected or one.negative or other.negative:
        return None
    taken = {token.stem for token in other.content} & one.rejected
    if not taken or {token.stem for token in one.content} & one.rejected:
        return None
    context_one = {token.stem for token in difference.one} - other.rejected
    context_other = {token.stem for token in difference.other} - one.rejected - FIXED
    swapped = bool(other.rejected & {token.stem for token in one.content})
    if swapped and not context_other:
        return Relation(CONTRADICTION, "the other way round")
    named = " ".join(sorted(taken))
    if len(one.content) == 1 and len(context_other) == 1:
        return Relation(CONTRADICTION, f"one says that it is no longer {named}")
    if context_other or not (difference.shared or len(context_one) == 1):
        return None
    return Relation(CONTRADICTION, f"one says not to take {named}")


def _negation(denying: Statement, saying: Statement, difference: _Difference) -> Relation:
    """One denies what the other says, all of it: an exception to a rule is none of it."""
    if difference.one and not _is_same_act(denying, saying, difference.one):
        return _NONE  # the denial is about something narrower, or something else
    if denying.attitude != saying.attitude and not (denying.order or saying.order):
        return _NONE
    same_order = denying.order and saying.order and denying.verb == saying.verb
    total = len(saying.content)
    if all(token.role for token in denying.content) or _is_of_one_sort(saying, difference):
        return _NONE  # it denies a word that is not compared, or only of one thing of its sort
    if not denying.content or (total > 2 * (total - len(difference.other)) and not same_order):
        return _NONE
    return Relation(CONTRADICTION, "one denies what the other says")


def _is_same_act(denying: Statement, saying: Statement, extra: Iterable[Token]) -> bool:
    """Whether a denial names no more than what the other did not have to: "always squash", "never squash commits"."""
    plain = [token for token in saying.content if not token.role]
    same = len(plain) == 1 and denying.content and denying.content[0].stem == plain[0].stem == saying.content[0].stem
    return bool(same) and all(token.stem in GENERIC and not token.role for token in extra)


def _is_of_one_sort(saying: Statement, difference: _Difference) -> bool:
    """Whether only of one thing of its sort it is said what the other denies of all: but a permission for one sort, "fine in
    unit tests", is denied by what forbids them all.
    """
    content = saying.content
    for token in difference.other:
        if token.stem not in DISTINCT:
            continue
        behind = next((each for each in content if each.place > token.place and each.role == token.role), None)
        if saying.verb not in PERMITS or not token.role or not behind or behind.stem not in difference.shared:
            return True
    return False


def _other_value(one: Statement, other: Statement, difference: _Difference) -> Relation | None:
    """The same thing has another value: one place in which they differ, and values of which only one can be right."""
    slots = difference.one, difference.other
    if not all(_is_slot(slot, each) for slot, each in zip(slots, (one, other), strict=True)):
        return None
    if _numbers(slots) and not _are_subjects(one, other, slots):
        return Relation(CONTRADICTION, f"another number: {_shown(slots[0])} ≠ {_shown(slots[1])}")
    if not _differ_in_value(one, other, slots, difference.shared):
        return None
    return Relation(CONTRADICTION, f"another value for the same thing: {_shown(slots[0])} ≠ {_shown(slots[1])}")


def _differ_in_value(one: Statement, other: Statement, slots: _Slots, shared: frozenset[str]) -> bool:
    """Whether what stands in the same place of both are values of which only one can be right."""
    alone = all(len(slot) == 1 for slot in slots)
    if alone and _are_alternatives(slots, CONTRARIES) and slots[0][0].before_verb != slots[1][0].before_verb:
        return True  # "keep functions short", "long functions are fine"
    if _are_subjects(one, other, slots):
        return one.verb == other.verb and one.verb in HOLDERS and _all_named(slots)
    roles = {slots[0][0].role, slots[1][0].role}
    if len(roles) > 1:  # "uses React", "is written in Vue"
        named = all(sum(token.kind != NUMBER for token in slot) == 1 for slot in slots)  # "Postgres 15"
        one_kind = named and roles <= MEANS and _are_alternatives(slots, ALTERNATIVES)
        return one_kind and not _may_have_many(one, other, shared)
    if any(token.kind == WORD and token.stem in DISTINCT for slot in slots for token in slot):
        return False
    if _are_alternatives(slots, CONTRARIES):
        return True
    scopes = roles & SCOPES and one.order and other.order and not _fixed(one, other)
    return not scopes and _exclude_each_other(one, other, slots, shared)


def _are_subjects(one: Statement, other: Statement, slots: _Slots) -> bool:
    """Whether it is the things that differ, of which the same is said, or something else."""
    return bool(one.verb and other.verb) and any(token.before_verb for slot in slots for token in slot)


def _may_have_many(one: Statement, other: Statement, shared: frozenset[str]) -> bool:
    return bool(shared & MANY or {one.verb, other.verb} & MANY)


def _is_slot(slot: Sequence[Token], statement: Statement) -> bool:
    """Whether words stand together, in one part of the sentence."""
    if len(slot) > _SLOT or len({token.role for token in slot}) > 1:
        return False
    mine = {token.place for token in slot}
    between = (token for token in statement.content if slot[0].place < token.place < slot[-1].place)
    return all(token.place in mine for token in between)


def _numbers(slots: _Slots) -> bool:
    if not all(len(slot) == 1 and slot[0].kind == NUMBER for slot in slots):
        return False
    roles = {slot[0].role for slot in slots}
    if len(roles) > 1 and not roles <= {"", "in"}:
        return False  # "every 5 minutes", "after 5 minutes"
    units = [slot[0].stem.lstrip("v0123456789.,:/-e+") for slot in slots]
    return units[0] == units[1]


def _all_named(slots: Iterable[Sequence[Token]]) -> bool:
    return all(token.kind == NAME or token.place == 0 for slot in slots for token in slot)


def _fixed(one: Statement, other: Statement) -> bool:
    return one.verb == other.verb and one.verb in FIXED


def _are_alternatives(slots: _Slots, table: Mapping[str, frozenset[int]]) -> bool:
    groups = [[table[token.stem] for token in slot if token.stem in table] for slot in slots]
    return any(mine & theirs for mine in groups[0] for theirs in groups[1])


def _exclude_each_other(one: Statement, other: Statement, slots: _Slots, shared: frozenset[str]) -> bool:
    """Whether of two values only one can be right: they are of one kind, or what they are values of has one only."""
    if _may_have_many(one, other, shared):
        return False
    if _are_alternatives(slots, ALTERNATIVES):
        return True
    known = [any(token.stem in ALTERNATIVES for token in slot) for slot in slots]
    timed = [any(token.stem in TIMES or token.kind == NUMBER for token in slot) for slot in slots]
    paths = ["/" in slot[0].stem for slot in slots]
    role = slots[0][0].role
    if role == "every" and all(timed):
        return True
    qualities = any(map(_is_quality, slots)) or any(token.stem in CONTRARIES for slot in slots for token in slot)
    if all(known) or qualities or paths[0] != paths[1] or timed[0] != timed[1]:
        return False
    orders = one.order and other.order
    if shared & SINGLE or role == "by" or (_fixed(one, other) and (role or not orders)):
        return True
    if orders:
        scoped = [{token.stem for token in each.content if token.role in SCOPES} & shared for each in (one, other)]
        return not role and all(scoped)
    named = all(token.kind != WORD for slot in slots for token in slot)
    return named and (role == "in" or (one.verb == other.verb == "be"))


_QUALITY = ("ed", "en", "ing", "able", "ible", "al", "ive", "ful", "ous", "ly")


def _is_quality(slot: Sequence[Token]) -> bool:
    """Whether words say how a thing is, of which it may be several: encrypted, and replicated."""
    return not slot[0].role and slot[0].kind == WORD and slot[0].shown.endswith(_QUALITY)


def _shown(slot: Iterable[Token]) -> str:
    return " ".join(token.shown for token in slot)
