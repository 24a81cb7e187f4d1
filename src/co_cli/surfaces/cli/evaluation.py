"""``co eval``: measure the search on questions whose answers are known."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING

from co_cli.errors import Invalid, Unavailable
from co_cli.knowledge import open_knowledge, search_means
from co_cli.settings import EMBEDDERS, FUSIONS, MODES
from co_cli.surfaces.cli.progress import Progress
from co_cli.surfaces.cli.terminal import emit, warn

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from co_cli.bench.quality import Run
    from co_cli.knowledge import Means

_HEADINGS = {
    "set": "set",
    "mode": "mode",
    "embedder": "embedder",
    "documents": "documents",
    "queries": "queries",
    "recall_5": "R@5",
    "recall_10": "R@10",
    "mrr_10": "MRR@10",
    "ndcg_10": "nDCG@10",
    "index_seconds": "indexing, CPU s",
    "query_ms": "query, CPU ms",
}
_TEXTS = ("set", "mode", "embedder")


def eval_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Measure the search on questions whose answers are known: Recall, MRR and nDCG, and the CPU time of it.

    A set is a folder with `corpus.jsonl` (`_id`, `title`, `text`), `queries.jsonl` (`_id`, `text`) and `qrels.tsv` (query,
    document, grade). Its documents become notes in a scratch vault and take the way of all notes; your own notes are not
    touched. What lifts recent and pinned notes is off.

    Examples:
        co eval sets/manuals
        co eval sets/manuals sets/talks --mode hybrid --embedder minilm
        co eval sets/manuals --mode text --run manuals.run
    """
    parser.add_argument("sets", nargs="+", metavar="DIR", help="folder of a set")
    parser.add_argument("--mode", default="", metavar="M", help="auto, grep, text, vector or hybrid; else as it is set")
    parser.add_argument("--embedder", default="", metavar="E", help="what makes vectors; else as it is set")
    parser.add_argument("--fusion", default="", metavar="F", help="weighted or rrf; else as it is set")
    parser.add_argument(
        "--run",
        default="",
        metavar="OUT",
        help="write a TREC run, up to 100 documents a query, to this file; of several sets one each, into this folder",
    )
    return _evaluate


def _evaluate(arguments: Namespace) -> None:
    from co_cli.bench.quality import evaluate, load_answers

    mode, means = _wanted(arguments)
    names = [os.path.basename(os.path.abspath(folder)) for folder in arguments.sets]
    if len(set(names)) < len(names):
        raise Invalid("Two of the sets have the same name.", "Measure them one after the other.")
    answers = [load_answers(folder) for folder in arguments.sets]
    rows, notices = [], []
    for name, known in zip(names, answers, strict=True):
        with Progress() as progress:
            quality, run = evaluate(known, mode=mode, means=means, progress=progress)
        embedder = means.embedder if quality.mode in ("vector", "hybrid") else ""
        row = {"set": name, "embedder": embedder, **asdict(quality)}
        if arguments.run:
            row["run"] = _write(run, arguments.run, name if len(answers) > 1 else "")
        if quality.degraded:
            notices.append(f"{name}: {', '.join(quality.degraded)}. `co doctor` and `co status` say more.")
        rows.append(row)
    warn(notices)
    emit(arguments, {"sets": rows}, _table(rows))


def _wanted(arguments: Namespace) -> tuple[str, Means]:
    """The mode, and what to search with: what is set, but for what is asked for."""
    kb = open_knowledge()
    settings = kb.settings()
    means = search_means(kb.places, settings)
    for name, value, known in (
        ("mode", arguments.mode, MODES),
        ("embedder", arguments.embedder, EMBEDDERS),
        ("fusion", arguments.fusion, FUSIONS),
    ):
        if value and value not in known:
            raise Invalid(f"There is no {name} {value!r}.", f"Known: {', '.join(known)}.")
    if arguments.embedder and arguments.embedder != means.embedder:
        means = means._replace(embedder=arguments.embedder, embedding_url="", embedding_model="")
    return arguments.mode or settings.value("mode"), means._replace(fusion=arguments.fusion or means.fusion)


def _write(run: Run, out: str, name: str) -> str:
    from co_cli.bench.quality import write_run

    path = os.path.join(out, f"{name}.run") if name else out
    try:
        if name:
            os.makedirs(out, exist_ok=True)
        write_run(run, path)
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror}.", "Name another place with --run.") from error
    return path


def _table(rows: list[dict[str, object]]) -> str:
    lines = [
        f"| {' | '.join(_HEADINGS.values())} |",
        f"|{'|'.join('---' if name in _TEXTS else '---:' for name in _HEADINGS)}|",
    ]
    lines += [f"| {' | '.join(_cell(row[name]) for name in _HEADINGS)} |" for row in rows]
    return "\n".join(lines)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if value <= 1 else f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
