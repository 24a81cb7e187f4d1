"""The examples in the documents are true: every command and every line of Python in them is run, and its output compared.

In a ``console`` block a line that starts with ``$ `` is typed into bash, and lines that start with ``>`` right after it go
on with it; what follows is what is printed, on stdout and stderr together. In a ``python`` block the comment behind each
``print(…)`` is what it prints. ``…`` stands for anything (on a line by itself: for any number of lines), and a date for any
date. The blocks of one document run in their order, in one scratch project.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

TOP = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted(path.relative_to(TOP).as_posix() for path in (*TOP.glob("*.md"), *TOP.glob("docs/**/*.md")))

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[+-]\d\d:\d\d)?)?")
_PRINTED = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)
_TIME_LIMIT = 60


class Example(NamedTuple):
    """One thing that a document claims: what is run, and what is then printed."""

    line: int
    language: str
    source: str
    printed: str


def examples(text: str) -> Iterator[Example]:
    """What a document claims, in its order."""
    for block in _BLOCK.finditer(text):
        line = text.count("\n", 0, block.start()) + 2
        if block[1] == "console":
            yield from _typed(block[2], line)
        elif block[1] == "python":
            yield Example(line, "python", block[2], "\n".join(_PRINTED.findall(block[2])))


def _typed(block: str, first: int) -> Iterator[Example]:
    lines = block.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    assert starts[:1] == [0], f"line {first}: a console block starts with a command"
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        after = start + 1
        while after < end and (lines[after] == ">" or lines[after].startswith("> ")):
            after += 1
        command = "\n".join(line[2:] for line in lines[start:after])
        yield Example(first + start, "console", command, "\n".join(lines[after:end]))


def pattern(printed: str) -> re.Pattern[str]:
    """What a document shows, as a pattern for what is really printed."""
    parts = []
    for line in printed.strip("\n").split("\n"):
        if line.strip() == "…":
            parts.append(r"(?:.*\n)*?")
        else:
            dated = re.split(rf"({_DATE.pattern})", line)
            parts.append("".join(_shape(part) if place % 2 else _open(part) for place, part in enumerate(dated)) + "\n")
    return re.compile("".join(parts))


def _shape(date: str) -> str:
    return re.sub(r"\\?\d", r"\\d", re.escape(date))


def _open(text: str) -> str:
    return ".*".join(map(re.escape, text.split("…")))


def run(example: Example, folder: Path, environment: dict[str, str]) -> str:
    """What is really printed; the exit code must be 0."""
    interpreter = {"python": sys.executable, "console": "bash"}[example.language]
    done = subprocess.run(
        [interpreter, "-c", example.source],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=_TIME_LIMIT,
        check=False,
    )
    assert done.returncode == 0, f"{example.source}\nended with the code {done.returncode}:\n{done.stdout}"
    return done.stdout


def check(example: Example, folder: Path, environment: dict[str, str]) -> None:
    """Run one example, and hold what it prints against what the document shows."""
    real = run(example, folder, environment).strip("\n") + "\n"
    if not pattern(example.printed).fullmatch(real):
        pytest.fail(f"line {example.line}: {example.source}\n--- shown\n{example.printed}\n--- real\n{real}", pytrace=False)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A user who has never run co, with the `co` that is tested first on PATH."""
    scripts = Path(sys.executable).parent
    assert (scripts / "co").exists(), f"the project is not installed beside {sys.executable}: run `make`"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CO_", "XDG_", "GIT_"))}
    return {
        **kept,
        "PATH": os.pathsep.join((str(scripts), os.environ["PATH"])),
        "HOME": str(tmp_path / "home"),
        "CO_HOME": str(tmp_path / "home" / ".config" / "co-cli"),
        "XDG_STATE_HOME": str(tmp_path / "home" / ".local" / "state"),
        "NO_COLOR": "1",
        "COLUMNS": "80",
        "PYTHONUNBUFFERED": "1",  # stdout and stderr in the order in which a terminal shows them
        "PYTHONUTF8": "1",
    }


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("bash"), reason="the examples are typed into bash")
@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_example_is_true(document: str, project: Path, environment: dict[str, str]) -> None:
    for example in examples((TOP / document).read_text(encoding="utf-8")):
        check(example, project, environment)


def test_the_readme_has_examples_of_both_kinds() -> None:
    found = [example.language for example in examples((TOP / "README.md").read_text(encoding="utf-8"))]
    assert found.count("console") > 5
    assert "python" in found


def test_the_readme_is_read_in_one_go() -> None:
    assert len((TOP / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_leads_somewhere_and_none_to_the_web(document: str) -> None:
    for target in _LINK.findall(_without_blocks((TOP / document).read_text(encoding="utf-8"))):
        name, _, anchor = target.partition("#")
        path = (TOP / document).parent / name if name else TOP / document
        assert path.exists(), f"{document} links to {target}"
        if anchor:
            assert anchor in _anchors(path.read_text(encoding="utf-8")), f"{document} links to {target}"


def _without_blocks(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", _BLOCK.sub("", text))


def _anchors(text: str) -> set[str]:
    titles = _HEADING.findall(_BLOCK.sub("", text))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


# The runner itself: an example that is no longer true must not pass.


@pytest.mark.parametrize(
    ("shown", "real"),
    [
        ("one", "two"),
        ("one", "one\ntwo"),
        ("one\ntwo", "one"),
        ("", "one"),
        ("one", ""),
        ("1 note", "1 notes"),
        ("Total: …", "Sum: 1"),
        ("…\nend", "start\nmiddle"),
        ("2026-02-09", "yesterday"),
        ("2026-02-09", "2026-02-09 14:30"),
    ],
)
def test_a_difference_is_noticed(shown: str, real: str) -> None:
    assert not pattern(shown).fullmatch(real + "\n")


@pytest.mark.parametrize(
    ("shown", "real"),
    [
        ("one.two", "one.two"),
        ("", ""),
        ("Location: …/memories/001-x.md", "Location: /tmp/a b/memories/001-x.md"),
        ("…\nend", "start\nmiddle\nend"),
        ("…\nend", "end"),
        ("start\n…", "start\n\nend"),
        ("1  2026-02-09 14:30  x", "1  2031-11-18 22:03  x"),
        ("created: 2026-02-09T14:30:00+00:00", "created: 2031-11-18T22:03:25+02:00"),
    ],
)
def test_what_may_differ_may_differ(shown: str, real: str) -> None:
    assert pattern(shown).fullmatch(real + "\n")


def test_commands_are_cut_out_of_a_console_block_with_what_they_print() -> None:
    text = "Words.\n\n```console\n$ cat > a <<'END'\n> b\n> END\n$ cat a\nb\n\n$ true\n```\n\n```sh\nrm -rf\n```\n"
    assert list(examples(text)) == [
        Example(4, "console", "cat > a <<'END'\nb\nEND", ""),
        Example(7, "console", "cat a", "b\n"),
        Example(10, "console", "true", ""),
    ]


def test_a_command_that_fails_fails_the_test(tmp_path: Path, environment: dict[str, str]) -> None:
    with pytest.raises(AssertionError, match="ended with the code 3"):
        check(Example(1, "console", "co show 99", ""), tmp_path, environment)


def test_what_python_prints_is_compared_with_its_comments(tmp_path: Path, environment: dict[str, str]) -> None:
    (good,) = examples("```python\nprint(1 + 1)  # 2\n```\n")
    (bad,) = examples("```python\nprint(1 + 1)  # 3\n```\n")
    check(good, tmp_path, environment)
    with pytest.raises(pytest.fail.Exception, match="line 2"):
        check(bad, tmp_path, environment)
