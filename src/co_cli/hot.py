"""The hot index: the few topics that are most useful now, to be listed in the prompt by name only.

Owns which topics these are, and the lines that name them. Knows nothing of the rest of the prompt.

Two things make a topic hot: its tags name the tools that agents call, and it came back lately when they searched. So does a
memory, by the second. The log of calls knows both; without it there is no hot index. The index of the vault tells which
topics have which tags, so that what is looked at does not grow with the number of topics; the files of the few that are
listed are read, so that none is listed that is gone, private or no longer so tagged.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import closing, suppress
from math import log2
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import CoError
from co_cli.note import GLOBAL, MEMORY, TOPIC, NoteError, parse_note
from co_cli.retrieval import Filter

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from co_cli.note import Note
    from co_cli.settings import Places, Settings
    from co_cli.usage import ToolUse, UsageLog
    from co_cli.vault import Vault

HEADING = "## Knowledge index (top topics - use knowledge_search for full details)"
SHOWN, TOOLS, DAYS = 5, 20, 30
"""Lines of the block, and the tools that count: the most called ones of so many days."""
LINE = 100
"""Characters of a line; tags that do not fit are left out."""

_CONSIDERED = 60
"""Notes of each vault that may come into question, by their tags and by their uses."""
_READ = 3 * SHOWN
_FEW = 200
"""Notes below which there may be no index: so many files are quickly read."""
_WORDS = 60
_SETTLING_NS = 50_000_000
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\dA-Za-z_]+")


class Weights(NamedTuple):
    """What makes a note hot, as the user has set it."""

    tools: int = 2
    """For each of its tags that names a tool."""
    topics: int = 2
    memories: int = 1
    """For each doubling of its uses."""


class Hot(NamedTuple):
    """A note that is useful now, and why."""

    note: Note
    score: float
    matches: tuple[tuple[str, str], ...]
    """Each of its tags that names a tool, with the tool."""
    uses: float
    """How often it came back; a use of 30 days ago counts half."""
    name: str
    """What the block calls it."""

    @property
    def line(self) -> str:
        """Its line in the block."""
        tags = [*self.note.tags]
        while tags and len(f"- {self.name} [{','.join(tags)}]") > LINE:
            tags.pop()
        return f"- {self.name} [{','.join(tags)}]" if tags else f"- {self.name}"

    @property
    def why(self) -> str:
        """The reasons, for people."""
        reasons = [f"the tag {tag} names {tool}" for tag, tool in self.matches]
        if self.uses:
            reasons.append(f"came back {self.uses:.1f} times lately")
        return f"{'; '.join(reasons)}; score {self.score:.2f}"


def hot_index(
    places: Places,
    vaults: Sequence[Vault],
    settings: Settings,
    *,
    private: bool,
    languages: Container[str] | None = None,
) -> tuple[Hot, ...]:
    """The notes that are most useful now, the hottest first; nothing where nothing was used yet."""
    from co_cli.usage import UsageLog

    if not os.path.exists(places.usage_log):
        return ()
    weights = Weights(*(int(settings.value(name)) for name in ("hot_tools", "hot_topics", "hot_memories")))
    with closing(UsageLog(places.usage_log)) as log:
        return hottest(vaults, log, places.cache, weights, private=private, languages=languages)


def hottest(
    vaults: Sequence[Vault],
    log: UsageLog,
    cache: str,
    weights: Weights,
    *,
    private: bool,
    languages: Container[str] | None = None,
) -> tuple[Hot, ...]:
    """The notes of these vaults that are most useful now, by the log of calls."""
    from co_cli.usage import days_ago

    now = time.time()
    names = _names_of(log.tools(days_ago(DAYS), TOOLS))
    found: list[Hot] = []
    only = Filter((TOPIC, MEMORY), languages=languages)
    for vault in vaults:
        uses = _candidates(vault, log, cache, names, weights, now)
        for name, note in _read(vault, uses).items():
            if (private or not note.private) and not note.pinned and only.admits(note):
                found.append(_weighed(note, names, uses[name], weights))
    found.sort(key=lambda hot: (-hot.score, hot.note.vault == GLOBAL, hot.note.lasting_name))
    kept = [hot for hot in found if hot.score > 0][:SHOWN]
    slugs = {hot.note.slug for hot in kept if hot.note.vault != GLOBAL}
    return tuple(hot._replace(name=_name(hot.note, slugs)) for hot in kept)


def block(hot: Iterable[Hot]) -> str:
    """The block for the prompt; empty where there is nothing to list."""
    lines = [each.line for each in hot]
    return "\n".join((HEADING, *lines)) if lines else ""


def _names_of(tools: Iterable[ToolUse]) -> dict[str, str]:
    """What tags may say of tools: a whole name, or a word of it, with the most called tool of that name."""
    names: dict[str, str] = {}
    for tool in tools:
        names.setdefault(tool.tool.casefold(), tool.tool)
    for tool in tools:
        for word in _PART.findall(tool.tool):
            if len(word) > 1 and len(names) < _WORDS + TOOLS:
                names.setdefault(word.casefold(), tool.tool)
    return names


def _candidates(
    vault: Vault, log: UsageLog, cache: str, names: Mapping[str, str], weights: Weights, now: float
) -> dict[tuple[str, str], float]:
    """The notes whose files are worth reading, by kind and name, with their uses."""
    overlaps = _overlaps(vault, cache, [*names]) if names and weights.tools else {}
    warm = {each.note.name: each.uses for each in log.warmest((vault.key,), _CONSIDERED, now)}
    used = {**log.uses(vault.key, [f"{TOPIC}:{slug}" for slug in overlaps], now), **warm}
    scores: dict[str, float] = {}
    for name in (*used, *(f"{TOPIC}:{slug}" for slug in overlaps)):
        kind, _, rest = name.partition(":")
        scores[name] = _score(kind, overlaps.get(rest, 0) if kind == TOPIC else 0, used.get(name, 0.0), weights)
    best = sorted((name for name in scores if scores[name] > 0), key=lambda name: (-scores[name], name))[:_READ]
    return {(kind, rest): used.get(f"{kind}:{rest}", 0.0) for kind, _, rest in (name.partition(":") for name in best)}


def _score(kind: str, overlap: int, uses: float, weights: Weights) -> float:
    weight = {TOPIC: weights.topics, MEMORY: weights.memories}.get(kind, 0)
    return weights.tools * overlap + weight * log2(1 + uses)


def _weighed(note: Note, names: Mapping[str, str], uses: float, weights: Weights) -> Hot:
    matches = tuple((tag, names[tag.casefold()]) for tag in note.tags if tag.casefold() in names)
    matches = matches if note.kind == TOPIC and weights.tools else ()
    return Hot(note, _score(note.kind, len(matches), uses, weights), matches, uses, "")


def _name(note: Note, project_slugs: set[str]) -> str:
    if note.kind == MEMORY:
        return f"{note.ref}: {note.summary}"
    return f"g:{note.slug}" if note.vault == GLOBAL and note.slug in project_slugs else note.slug


# ---------------------------------------------------------------------------------------------------------------- looking


def _overlaps(vault: Vault, cache: str, names: Sequence[str]) -> dict[str, int]:
    """The topics whose tags name tools, with how many of their tags do."""
    from co_cli.sync import index_path

    if not os.path.exists(index_path(vault, cache)) and vault.count((TOPIC,), _FEW) < _FEW:
        counts = {note.slug: len({*names} & {tag.casefold() for tag in note.tags}) for note in vault.scan((TOPIC,)).notes}
        return {slug: count for slug, count in counts.items() if count}
    return {name.removesuffix(".md"): count for name, count in _from_index(vault, cache, names).items()}


def _from_index(vault: Vault, cache: str, names: Sequence[str]) -> dict[str, int]:
    """The same from the index. An index that cannot be had now tells nothing: the uses have to do."""
    from co_cli.index.database import Damaged
    from co_cli.sync import open_index, sync

    with suppress(Damaged, CoError), closing(open_index(vault, cache)) as index:
        changed = _changed_at(vault)
        if not changed or index.meta("hot") != changed:
            sync(vault, index, (TOPIC,))
            with index.writing():
                index.set_meta("hot", changed)
        return index.topics_tagged(names, _CONSIDERED)
    return {}


def _changed_at(vault: Vault) -> int:
    """When a topic was last added or replaced; ``0`` where that was just now. One that was written in place is seen when
    somebody searches.
    """
    try:
        changed = os.stat(vault.path_of(TOPIC, "")).st_mtime_ns
    except OSError:
        return 0
    return changed if changed < time.time_ns() - _SETTLING_NS else 0


def _read(vault: Vault, wanted: Mapping[tuple[str, str], float]) -> dict[tuple[str, str], Note]:
    """Notes by their kinds and names, without those that are in the archive, are gone or cannot be read."""
    files: dict[str, list[str]] = {TOPIC: [], MEMORY: []}
    numbers = set()
    for kind, name in wanted:
        if kind == TOPIC:
            files[TOPIC].append(f"{name}.md")
        elif kind == MEMORY:
            numbers.add(name)
    if numbers:
        files[MEMORY] = [f"{name}.md" for name in vault.names(MEMORY) if name.partition("-")[0].lstrip("0") in numbers]
    notes = {}
    for kind, names in files.items():
        for path, raw in vault.named_files(kind, names, []):
            with suppress(NoteError):
                note = parse_note(raw, kind=kind, vault=vault.name, path=path)
                notes[kind, note.lasting_name.partition(":")[2]] = note
    return {name: note for name, note in notes.items() if name in wanted}
