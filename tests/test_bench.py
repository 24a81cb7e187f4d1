"""The bench measures real processes and says what it measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from co_cli import open_knowledge
from co_cli.bench.cli import write_vault
from co_cli.surfaces.cli.main import main


def test_the_vault_of_the_bench_is_the_same_at_every_run_and_free_of_problems(tmp_path: Path) -> None:
    first, second = (write_vault(str(tmp_path / name), 50) for name in ("one", "two"))
    names = sorted(path.name for path in Path(first).iterdir())
    assert names[0] == "001-vagafifa-fowodone-fupupi-luvi-kani-lenicu-nugama-g.md"
    texts = [{path.name: path.read_text() for path in Path(folder).iterdir()} for folder in (first, second)]
    assert texts[0] == texts[1]
    listing = open_knowledge(tmp_path / "one").list()
    assert (len(listing.notes), listing.problems) == (50, ())


@pytest.mark.slow
def test_figures_come_with_the_floor_of_the_same_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "cli", "--sizes", "20", "--runs", "1", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)["figures"]
    by_command = {figure["command"]: figure for figure in figures}
    assert by_command["python -c pass"]["ratio"] == 1.0
    recall = by_command["co recall (a rare word)"]
    assert recall["promised"] == 8.0
    assert recall["cpu_ms"] > by_command["python -c pass"]["cpu_ms"] > 0
    assert recall["notes"] == 20
