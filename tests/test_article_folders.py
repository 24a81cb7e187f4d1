"""A folder of a thousand mixed files: taken in within its memory, broken off and gone on with, and then only looked at."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path

import pytest
from processes import finish, kill, start

from co_cli import KnowledgeBase

FILES = 1000
WORDS = "heron stork water river still bird nest tree year south autumn field dusk reed fish bill wing cloud".split()  # noqa: SIM905

# Takes the folder in, and says what came of it, which of its files were opened, and how much memory it took at most, with
# all the processes that it started.
TAKING = """
import contextlib, glob, json, os, resource, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
opened = set()
def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and "/docs/" in arguments[0]:
        opened.add(arguments[0])
sys.addaudithook(watch)
from co_cli import open_knowledge
from co_cli.articles.intake import Wish, take_in
print(json.dumps("ready"), flush=True)
counts = {}
for entry in take_in(open_knowledge(), ["docs"], Wish()):
    counts[entry.outcome] = counts.get(entry.outcome, 0) + 1
    if entry.outcome == "added":
        print(json.dumps(entry.source), flush=True)
most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for status in glob.glob("/proc/[0-9]*/status"):  # the processes that read pages, which are still there
    with contextlib.suppress(OSError), open(status) as file:
        facts = dict(line.split(":", 1) for line in file)
        if int(facts["PPid"]) == os.getpid():
            most += int(facts.get("VmHWM", "0 kB").split()[0])
print(json.dumps({"counts": counts, "opened": len(opened), "megabytes": most / 1024}), flush=True)
"""


def make(docs: Path) -> None:
    chance = random.Random(7)

    def text(words: int) -> str:
        return " ".join(chance.choice(WORDS) for _ in range(words))

    for number in range(FILES):
        folder = docs / f"{number % 25:02}"
        folder.mkdir(parents=True, exist_ok=True)
        match number % 20:
            case 0:
                (folder / f"blob{number}.bin").write_bytes(chance.randbytes(500))
            case 1:
                html = f"<title>Page {number}</title><article><h1>Page {number}</h1><p>{text(80)}</p></article>"
                (folder / f"page{number}.html").write_text(f"<html><body>{html}</body></html>")
            case 2:
                (folder / f"code{number}.py").write_text(f"# {text(20)}\nx = {number}\n")
            case 3:
                (folder / f"old{number}.txt").write_bytes(f"Bücher {number}: {text(50)}".encode("utf-16"))
            case _:
                (folder / f"note{number}.md").write_text(f"# Note {number}\n\n{text(60)}\n")
    large = "\n\n".join(f"# Part {part}\n\n{text(4000)}" for part in range(60))
    (docs / "large.md").write_text(large)


@pytest.mark.slow
def test_a_thousand_files_are_taken_in_gone_on_with_after_a_break_and_then_only_looked_at(
    kb: KnowledgeBase, project: Path
) -> None:
    make(project / "docs")
    expected = FILES - FILES // 20 + 1
    time.sleep(0.06)

    process = start(TAKING)
    try:
        assert process.stdout is not None
        first = [json.loads(process.stdout.readline()) for _ in range(250)][1:]
        os.kill(process.pid, signal.SIGINT)  # as Ctrl-C does
        process.communicate(timeout=60)
    finally:
        kill(process)
    assert process.returncode != 0
    done = len(kb.articles().notes)
    assert len(first) <= done < expected, "what was taken in stays"
    assert kb.check().open == ()

    *added, rest = finish(start(TAKING))
    assert rest["counts"] == {"added": expected - done, "unchanged": done, "skipped": FILES // 20}
    assert not set(first) & set(added)
    assert rest["megabytes"] < 500
    assert len(kb.articles().notes) == expected
    assert len(kb.log()) < 20, "many are one change"

    (_, again) = finish(start(TAKING))
    assert again["counts"] == {"unchanged": expected, "skipped": FILES // 20}
    assert again["opened"] == 0, "the files are only looked at"
