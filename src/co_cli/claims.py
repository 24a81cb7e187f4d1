"""What a memory says about a project that the project's files can confirm: paths, commits and commands that it names.

Owns reading such claims out of a text, and looking whether they hold. Knows nothing of notes or search. Careful on purpose:
what is not plainly a path, a commit or a command claims nothing.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

PATH, COMMIT, COMMAND = "path", "commit", "command"
_MOST = 20
"""Claims of one text that are looked at."""
_TICKED = re.compile(r"`([^`\n]{1,200})`")
_BARE = re.compile(r"(?<![\w/.:@~$\\-])(?:\./)?[\w.-]+(?:/[\w.-]+)*/?(?![\w/:@\\])")
_FILE = re.compile(r"(?:\./)?(?:[\w.-]+/)*[\w-][\w.-]*\.[A-Za-z][A-Za-z0-9]{0,7}|(?:\./)?(?:[\w.-]+/)+")
_TICKED_PATH = re.compile(r"(?:\./)?[\w.-]+(?:/[\w.-]+)*/?")
_COMMIT = re.compile(r"(?i)\b(?:commit|revision|rev|sha)s?[ :]+`?([0-9a-f]{7,40})\b")
_COMMANDS = re.compile(r"(?P<tool>make|npm run|pnpm run|pnpm|yarn run|yarn|just)\s+(?P<name>[A-Za-z][\w:.-]*)(?:\s.*)?")
_ENDINGS = frozenset(
    """
    c cc cfg conf cpp cs css csv env go graphql h hpp html ini ipynb java js json jsx kt less lock lua md mjs php pl proto
    py pyi rb rs rst sass scala scss sh sql svelte swift tf toml ts tsx txt vue xml yaml yml zig
    """.split()  # noqa: SIM905 - a table is read more easily so
)
_HISTORY = re.compile(
    r"(?i)\b(?:was|were|used to|formerly|no longer|removed|deleted|renamed|moved|replaced|instead of|gone|obsolete"
    r"|will|plan|should (?:be|go|live)|create|never|don't|do not|avoid|example|e\.g)\b"
)
"""Words of sentences that are about what was, will be, or is not to be."""
_NAMES = re.compile(r"`[^`\n]*`|\S*/\S*")
"""What is named in a sentence, whose parts are none of its words: ``src/plan/create.py``."""
_SECONDS = 10
_LOOKED_AT = 5000
_FOREIGN = frozenset(("node_modules", "__pycache__", "target", "dist", "build", "venv"))


class Claim(NamedTuple):
    """Something that a text takes for granted about a project."""

    kind: str
    name: str


class Broken(NamedTuple):
    """A claim that does not hold."""

    claim: Claim
    why: str

    def __str__(self) -> str:
        return self.why


def claims_in(text: str) -> tuple[Claim, ...]:
    """What a text claims, each once, in its order."""
    found: dict[Claim, None] = {}
    for sentence in re.split(r"(?<=[.!?])\s+|\n+", text):
        if not _HISTORY.search(_NAMES.sub(" ", sentence)):
            found.update(dict.fromkeys(_claims_of(sentence)))
    return tuple(found)[:_MOST]


def _claims_of(sentence: str) -> Iterator[Claim]:
    for match in _COMMIT.finditer(sentence):
        yield Claim(COMMIT, match[1].lower())
    for match in _TICKED.finditer(sentence):
        content = match[1].strip()
        command = _COMMANDS.fullmatch(content)
        if command:
            yield Claim(COMMAND, f"{command['tool'].split()[0]} {command['name']}")
        elif _TICKED_PATH.fullmatch(content) and (_is_file(content) or content.endswith("/")):
            yield Claim(PATH, content)
    for match in _BARE.finditer(_TICKED.sub(" ", sentence)):
        word = match[0].rstrip(".")
        if "/" in word.strip("/") and _FILE.fullmatch(word) and _is_file(word):
            yield Claim(PATH, word)


def _is_file(path: str) -> bool:
    """Whether a path ends as files of projects do: ``e.g.`` and ``3.11`` do not."""
    return path.rpartition("/")[2].rpartition(".")[2].lower() in _ENDINGS and not path.startswith("..")


def broken_claims(project: str, text: str, *, thorough: bool = False) -> tuple[Broken, ...]:
    """The claims of a text that do not hold in a project.

    A quick look leaves out what takes one: names that may be anywhere in the project, and commits.
    """
    if "/" not in text and "`" not in text and not (thorough and _COMMIT.search(text)):
        return ()
    return tuple(_check(project, claims_in(text), thorough=thorough))


def _check(project: str, claims: tuple[Claim, ...], *, thorough: bool) -> Iterator[Broken]:
    commits = [claim.name for claim in claims if claim.kind == COMMIT]
    missing = _missing_commits(project, commits) if thorough and commits else set()
    for claim in claims:
        if claim.kind == PATH and not _exists(project, claim.name, thorough=thorough):
            yield Broken(claim, f"{claim.name} is not there")
        elif claim.kind == COMMAND and not _is_command(project, claim.name):
            yield Broken(claim, f"there is no `{claim.name}`")
        elif claim.kind == COMMIT and claim.name in missing:
            yield Broken(claim, f"commit {claim.name} is not in the history")


def _exists(project: str, path: str, *, thorough: bool) -> bool:
    """Whether there is such a path: seen from the top of the project, or from any of its folders."""
    parts = path.removeprefix("./").rstrip("/").split("/")
    if os.path.lexists(os.path.join(project, *parts)):
        return True
    if len(parts) > 1 and os.path.lexists(os.path.join(project, parts[0])):
        return False  # it is seen from the top
    return not thorough or _is_below(project, parts)


def _is_below(project: str, parts: list[str]) -> bool:
    """Whether some folder of the project has it; a project too large to be looked through may have it."""
    seen, waiting = 0, [project]
    for folder in waiting:
        if os.path.lexists(os.path.join(folder, *parts)):
            return True
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    seen += 1
                    if entry.name[0] != "." and entry.name not in _FOREIGN and entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            return True
        if seen > _LOOKED_AT:
            return True
    return False


def _is_command(project: str, command: str) -> bool:
    """Whether a project knows a command; where its file is missing or odd, nothing is claimed to be wrong."""
    tool, _, name = command.partition(" ")
    if tool in ("make", "just"):
        names = ("Makefile", "makefile", "GNUmakefile") if tool == "make" else ("justfile", "Justfile", ".justfile")
        text = next((found for each in names if (found := _text(os.path.join(project, each))) is not None), None)
        if text is None or re.search(r"(?m)^-?include\b|^%|^import\b", text):
            return True
        return re.search(rf"(?m)^(?:[\w .:-]*\s)?@?{re.escape(name)}(?:\s[^:=\n]*)?:(?!=)", text) is not None
    return _is_script(project, name)


def _is_script(project: str, name: str) -> bool:
    import json

    text = _text(os.path.join(project, "package.json"))
    try:
        package = json.loads(text or "")
    except ValueError:
        return True
    scripts = package.get("scripts") if isinstance(package, dict) else None
    built_in = ("add", "install", "remove", "test", "start", "exec", "publish", "init", "up", "dlx", "link", "why")
    return name in built_in or not isinstance(scripts, dict) or name in scripts


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def _missing_commits(project: str, names: list[str]) -> set[str]:
    """The commits that a git history does not have; where there is none, nothing is missing."""
    import subprocess

    command = ["git", "-C", project, "cat-file", "--batch-check"]
    try:
        done = subprocess.run(
            command, input="\n".join(names) + "\n", capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return set()
    lines = done.stdout.splitlines() if done.returncode == 0 else []
    return {line.split()[0] for line in lines if line.endswith(" missing")}
