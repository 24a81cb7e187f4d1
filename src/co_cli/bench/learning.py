"""How well the rules of learning judge, on labelled statements.

Owns the labelled set of statements that lies beside this file, and the measures. The set was written for this project; the
rules were made on one part of it, and are measured on another that was held out, and on two that were written without a look
at the rules.
"""

from __future__ import annotations

import json
import os
import random
import re
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from co_cli.bench.figures import Figure, Times, once
from co_cli.errors import Invalid, NotFound
from co_cli.files import reason
from co_cli.knowledge import open_knowledge_at
from co_cli.learning.relations import CONTRADICTION, LABELS, judge
from co_cli.learning.relations.pairs import Nearness, check
from co_cli.note import render_memory
from co_cli.settings import PROJECT_FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from co_cli.bench.figures import Progress

PARTS = ("develop", "held-out", "other hand", "second hand")
_PAIRS = "statement_pairs.jsonl"
_PRECISION, _RECALL = 0.9, 0.7
_DAY = "2026-03-05T10:00:00+00:00"
_MANY, _SECONDS = 5000, 20
"""Memories that are compared with each other within so many seconds."""


class Pair(NamedTuple):
    """Two statements, with what people say of them."""

    one: str
    other: str
    label: str
    part: str


@dataclass(frozen=True, slots=True)
class Judged:
    """How often a label was given, and how often that was right."""

    what: str
    part: str
    label: str
    examples: int
    """How many bear this label."""
    claimed: int
    """How many were given it."""
    precision: float
    recall: float
    us_each: float
    """CPU time for one of them, in microseconds."""
    promised: str = ""
    kept: bool | None = None


def labelled(path: str, included: str) -> str:
    """The text of a file of labelled lines; without a path, of one that is part of the package."""
    try:
        return (Path(path) if path else files("co_cli.bench") / included).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NotFound(f"{path} cannot be read: {reason(error)}.", "Name a file of JSON Lines.") from error


def load_pairs(path: str = "") -> tuple[Pair, ...]:
    """The labelled pairs of a file with ``a``, ``b`` and ``label`` on each line; without one, those of the included set."""
    pairs = []
    for number, line in enumerate(labelled(path, _PAIRS).splitlines(), start=1):
        try:
            entry = json.loads(line)
            pair = Pair(str(entry["a"]), str(entry["b"]), str(entry["label"]), str(entry.get("part", "all")))
        except (ValueError, KeyError, TypeError) as error:
            raise Invalid(f"{path}:{number}: a line needs a, b and a label.") from error
        if pair.label not in LABELS:
            raise Invalid(f"{path}:{number}: there is no label {pair.label!r}.", f"Labels: {', '.join(LABELS)}.")
        pairs.append(pair)
    return tuple(pairs)


def relations(pairs: Sequence[Pair], progress: Callable[[str, int, int], None] | None = None) -> list[Judged]:
    """Judge each pair, with the vectors of the static model where it is installed."""
    near, judged = Nearness(), []
    for part in dict.fromkeys(pair.part for pair in pairs):
        mine = [pair for pair in pairs if pair.part == part]
        started, claims = time.process_time(), []
        for number, pair in enumerate(mine, start=1):
            claims.append(judge(pair.one, pair.other, near=near).label)
            if progress:
                progress("judging", number, len(mine))
        each = (time.process_time() - started) * 1e6 / len(mine)
        labels = [pair.label for pair in mine]
        judged += [_measured("relations", part, label, labels, claims, each) for label in LABELS]
    return judged


def _measured(what: str, part: str, label: str, labels: Iterable[str], claims: Iterable[str], us_each: float) -> Judged:
    counts = Counter(zip(labels, claims, strict=True))
    right = counts[label, label]
    examples = sum(count for (given, _claim), count in counts.items() if given == label)
    claimed = sum(count for (_label, given), count in counts.items() if given == label)
    precision, recall = round(right / max(claimed, 1), 3), round(right / max(examples, 1), 3)
    promised = label == CONTRADICTION
    return Judged(
        what,
        part,
        label,
        examples,
        claimed,
        precision,
        recall,
        round(us_each),
        f"precision ≥ {_PRECISION}, recall ≥ {_RECALL}" if promised else "",
        precision >= _PRECISION and recall >= _RECALL if promised else None,
    )


# ----------------------------------------------------------------------------------------------------- a vault of statements

_THINGS = "importer exporter gateway scheduler mailer indexer dashboard archive billing search checkout notifier proxy"
_PARTS = "timeout port queue cache owner branch format limit region prefix folder database theme worker schedule licence"
_SAYINGS = (
    "The {part} of the {name} {thing} is {value}.",
    "We keep the {part} of the {name} {thing} at {value}.",
    "The {name} {thing} needs its {part} before {value} is started.",
    "Ask the {name} team before the {part} of the {thing} changes to {value}.",
)


def statements(count: int, planted: int = 0) -> list[str]:
    """Made-up statements as developers would keep them, the same each time; of the first ``planted``, each is contradicted
    by one of the last.
    """
    rng = random.Random(count)  # noqa: S311 - the same each time
    things, parts = _THINGS.split(), _PARTS.split()
    texts: dict[str, None] = {}
    while len(texts) < count - planted:
        name = "".join(rng.choice("bdfgklmnprst") + rng.choice("aeiou") for _ in range(3))
        given = {"part": rng.choice(parts), "name": name, "thing": rng.choice(things), "value": rng.randrange(2, 9000)}
        texts[rng.choice(_SAYINGS[: 1 if len(texts) < planted else None]).format(**given)] = None
    kept = [*texts]
    return [*kept, *(re.sub(r"\d+", lambda found: str(int(found[0]) + 7), text) for text in kept[:planted])]


def checking(sizes: Sequence[int], progress: Progress | None = None) -> list[Figure]:
    """What it takes to compare all memories of a vault with each other."""
    figures = []
    for size in sizes:
        planted = size // 100
        with tempfile.TemporaryDirectory(prefix="co-bench-") as scratch:
            kb = open_knowledge_at(home=f"{scratch}/home", state=f"{scratch}/state", project=f"{scratch}/project")
            folder = os.path.join(scratch, "project", PROJECT_FOLDER, "knowledge", "memories")
            os.makedirs(folder)
            for number, text in enumerate(statements(size, planted), start=1):
                raw = render_memory({"id": number, "created": _DAY, "tags": [], "source": "user-told"}, text)
                Path(folder, f"{number:05d}-note.md").write_bytes(raw)
            times = Times([], [])
            checked = once(times, check, kb, dry_run=True, progress=progress)
        found = sum(related.contradicts for related in checked.found)
        kept = times.wall[0] <= _SECONDS if size >= _MANY else None
        what = f"co knowledge --check ({found} contradictions, {planted} of them planted)"
        promised = f"≤ {_SECONDS} s" if size >= _MANY else ""
        figures.append(Figure(size, what, times.cpu_ms, times.wall_ms, promised=promised, kept=kept))
    return figures
