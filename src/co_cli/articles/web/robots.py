"""What a site asks programs to leave alone: its robots.txt, as RFC 9309 has it.

Owns the rules, which of them apply to co, and how long they are remembered. Knows nothing of how they are fetched.

The standard library's parser takes the first rule that fits and knows no ``*`` or ``$`` in a path; by the RFC the longest
rule counts, and most sites write for that.
"""

from __future__ import annotations

import re
from threading import Lock
from time import monotonic
from typing import NamedTuple

from co_cli.articles.web.addresses import spelled

PRODUCT = "co-cli"
LARGEST = 500 * 1024
"""Bytes that are read of a robots.txt; the RFC asks for no more."""

_LIFE, _MOST = 3600.0, 1000
_PRODUCT = re.compile(r"[A-Za-z_-]+")
_LINE_END = re.compile(r"[\r\n]+")
_EVERYBODY = "*"


class Rule(NamedTuple):
    """One line that allows or disallows paths."""

    pattern: str
    allows: bool

    def fits(self, target: str) -> bool:
        """Whether a path and query are what it speaks of; ``*`` is anything, and ``$`` ends it."""
        ends = self.pattern.endswith("$")
        first, *rest = self.pattern.removesuffix("$").split("*")
        if not target.startswith(first):
            return False
        if not rest:
            return not ends or target == first
        place = len(first)
        for part in rest[:-1] if ends else rest:
            place = target.find(part, place)
            if place < 0:
                return False
            place += len(part)
        return not ends or (target.endswith(rest[-1]) and len(target) - len(rest[-1]) >= place)


class Rules(NamedTuple):
    """What one site asks of co."""

    rules: tuple[Rule, ...] = ()

    def allow(self, target: str) -> bool:
        """Whether a path and query may be fetched: as the longest rule that fits says, and of two the one that allows."""
        return max(
            ((len(rule.pattern), rule.allows) for rule in self.rules if rule.fits(target)),
            default=(0, True),
        )[1]


def read_rules(content: bytes) -> Rules:
    """The rules for co in a robots.txt; lines that make no sense are passed over."""
    groups: dict[str, list[Rule]] = {}
    current: set[str] = set()
    is_open = False
    for line in _LINE_END.split(content[:LARGEST].decode("utf-8-sig", "replace")):
        name, colon, value = line.partition("#")[0].partition(":")
        name, value = name.strip().lower(), value.strip()
        if name == "user-agent":
            current = (current if is_open else set()) | _agents(value)
            is_open = True
            for agent in current:
                groups.setdefault(agent, [])
        elif colon and name in {"allow", "disallow"}:
            is_open = False
            if value:
                for agent in current:
                    groups[agent].append(Rule(spelled(value), name == "allow"))
    return Rules(tuple(groups.get(PRODUCT, groups.get(_EVERYBODY, ()))))


def _agents(value: str) -> set[str]:
    """Whom a line speaks to, if that may be co."""
    if value.startswith(_EVERYBODY):
        return {_EVERYBODY}
    product = _PRODUCT.match(value)
    return {PRODUCT} if product and product[0].lower() == PRODUCT else set()


class Known:
    """The rules of sites that were asked lately."""

    def __init__(self) -> None:
        self._rules: dict[str, tuple[float, Rules]] = {}
        self._lock = Lock()

    def rules(self, origin: str) -> Rules | None:
        """What a site asks, if that is known."""
        with self._lock:
            found = self._rules.get(origin)
        return found[1] if found and monotonic() - found[0] < _LIFE else None

    def remember(self, origin: str, rules: Rules) -> None:
        """Keep what a site asks."""
        with self._lock:
            if len(self._rules) >= _MOST:
                self._rules.pop(next(iter(self._rules)))
            self._rules[origin] = (monotonic(), rules)
