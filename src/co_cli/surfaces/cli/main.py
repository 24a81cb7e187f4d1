"""The command ``co``: finds the command, reads its arguments, runs it, and turns errors into exit codes.

Owns the list of commands and the table from the kind of an error to an exit code. Each command lives in a module of its
group and is imported when it is called: what `co recall` does not need, `co recall` does not load.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import CONFLICT, CORRUPT, DENIED, INVALID, NOT_FOUND, UNAVAILABLE, CoError, Invalid, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn

EXIT_CODES = {INVALID: 2, NOT_FOUND: 3, CONFLICT: 4, DENIED: 5, UNAVAILABLE: 1, CORRUPT: 1}
INTERRUPTED = 130
_NO_OPTION = "\0"


class Command(NamedTuple):
    """One command: where it lives and what it does."""

    module: str
    summary: str
    group: str


_GROUPS = {
    "Every day": {
        "learn": ("notes", "remember a small fact"),
        "recall": ("recall", "find notes by what they say"),
        "list": ("notes", "list the memories"),
        "show": ("notes", "show a note as it stands in its file"),
        "edit": ("notes", "change a note in your editor, or with options"),
        "forget": ("notes", "remove notes; `co undo` brings them back"),
        "pin": ("notes", "load a memory into every prompt"),
        "unpin": ("notes", "stop loading a memory into every prompt"),
        "promote": ("scopes", "make notes of a project ones for all projects"),
        "demote": ("scopes", "make notes for all projects ones of this project alone"),
    },
    "With an agent": {
        "chat": ("chat", "talk with an agent that remembers, and asks before it writes"),
        "mcp": ("mcp", "serve the knowledge to other agents, over the Model Context Protocol"),
        "connect": ("connect", "set up another agent, so that it uses co"),
        "hook": ("hook", "print what an agent should know at a moment of its session"),
    },
    "Shared documents": {
        "topic": ("topics", "write, read and find the topics that everybody shares"),
        "article": ("articles", "take in pages and files, or link folders of them"),
    },
    "Looking back": {
        "log": ("history", "list the last changes"),
        "undo": ("history", "take a change back"),
    },
    "What agents see": {
        "prompt": ("loaded", "show the assembled prompt with its budget"),
        "context": ("loaded", "show what fills the knowledge in every prompt, and what would go first"),
        "usage": ("usage", "show which tools agents call, and which notes they get"),
    },
    "Care": {
        "review": ("review", "say yes or no to what is proposed"),
        "init": ("care", "make the folders of a vault and an empty context"),
        "status": ("care", "say where everything is and how much there is"),
        "doctor": ("care", "find what is wrong with the files, and mend it"),
        "knowledge": ("knowledge", "list or archive memories"),
        "import": ("exchange", "take in what another tool remembered"),
        "merge": ("merging", "join another vault into this one"),
    },
    "Set-up": {
        "config": ("config", "read and change settings"),
        "trust": ("config", "take a project's settings for your own"),
        "completion": ("config", "print the completion script of a shell"),
    },
    "Trying and measuring": {
        "demo": ("demo", "see what co does, in a scratch vault, in 20 seconds"),
        "eval": ("evaluation", "measure the search on questions whose answers are known"),
        "bench": ("bench", "measure the promises on this machine"),
    },
}
COMMANDS = {
    name: Command(f"co_cli.surfaces.cli.{module}", summary, group)
    for group, commands in _GROUPS.items()
    for name, (module, summary) in commands.items()
}


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal; found out without shutil, which argparse would load at every start."""

    def __init__(self, prog: str) -> None:
        try:
            width = int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
        except (OSError, ValueError):
            width = 80
        super().__init__(prog, width=max(width, 40) - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Break the lines of a paragraph where the terminal ends; those of an example stay as they are to be typed."""
        import textwrap

        lines = (line if line.startswith(("  ", "examples:")) else textwrap.fill(line, width) for line in text.splitlines())
        return "\n".join(indent + line for line in lines)


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are errors of ours, and whose every command takes ``--json``."""

    given: Sequence[str] = ()
    complaint: Callable[[str], NoReturn] | None = None
    """Who gets to know of wrong arguments instead, where nobody may be bothered with them."""

    def error(self, message: str) -> NoReturn:
        """Complain about the arguments."""
        if self.complaint:
            self.complaint(message.replace(_NO_OPTION, ""))
        hint = f"See: {self.prog} --help"
        if not message.startswith("argument ") and any(word[:1] == "-" and len(word) > len("-x") for word in self.given):
            hint += f" (words that begin with a dash go behind two: {self.prog} -- --word)"
        message = message.replace(_NO_OPTION, "")
        raise Invalid(f"{message[:1].upper()}{message[1:]}.", hint, code="usage")


def build_parser(name: str) -> tuple[Parser, Callable[[argparse.Namespace], int | None]]:
    """The parser of one command, and what runs it."""
    command = COMMANDS[name]
    configure = getattr(import_module(command.module), f"{name}_command")
    description, _, examples = (configure.__doc__ or "").partition("Examples:")
    parser = Parser(
        prog=f"co {name}",
        description=_dedent(description),
        epilog=f"examples:\n{_dedent(examples, indent='  ')}" if examples else None,
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    run = configure(parser)
    about_json = "one JSON document on stdout, nothing else"
    parser.add_argument("--json", action="store_true", help=about_json)
    for child in _children(parser):  # without a default, so that what stood before the action's name counts too
        child.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help=about_json)
    return parser, run


def _children(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    actions = parser._actions  # noqa: SLF001 - argparse has no public way to its subparsers
    return [child for action in actions if isinstance(action.choices, dict) for child in action.choices.values()]


def _dedent(text: str, indent: str = "") -> str:
    return "\n".join(indent + line.strip() for line in text.strip().splitlines())


def whole_parser(prog: str = "co") -> argparse.ArgumentParser:
    """Every command in one parser, for those who look at all of them: completion and the docs."""
    parser = argparse.ArgumentParser(prog=prog, description="Long-term memory for you and your agents.")
    commands = parser.add_subparsers(dest="command")
    for name, command in COMMANDS.items():
        single, _ = build_parser(name)
        commands.add_parser(name, help=command.summary, parents=[single], add_help=False, conflict_handler="resolve")
    return parser


def overview() -> str:
    """What `co --help` prints."""
    lines = ["usage: co COMMAND …", "", "Long-term memory for you and your agents, in plain Markdown files."]
    width = max(map(len, COMMANDS))
    for group, commands in _GROUPS.items():
        lines += ["", f"{group}:"]
        lines += [f"  {name.ljust(width)}  {summary}" for name, (_, summary) in commands.items()]
    lines += ["", "`co COMMAND --help` explains one, with examples; `co --version` says which co this is."]
    lines += ["New here? Try: co demo"]
    return "\n".join(lines)


def run(argv: Sequence[str]) -> int:
    """Run one command line; returns the exit code."""
    name, *rest = argv or ("--help",)
    if name in ("-h", "--help") or (name == "help" and not rest):
        print(overview())
        return 0
    if name in ("-V", "--version"):
        from co_cli import __version__

        print(f"co {__version__}")
        return 0
    if name == "help":
        name, rest = rest[0], ["--help"]
    if name not in COMMANDS:
        import difflib

        near = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f"Did you mean `co {near[0]}`? " if near else ""
        if name.startswith("-") and rest and rest[0] in COMMANDS:
            hint = f"Options go behind the command: co {' '.join((*rest, name))}. "
        raise Invalid(f"There is no command {name!r}.", f"{hint}`co --help` lists them.", code="usage")
    parser, command = build_parser(name)
    parser.given = rest
    if _children(parser) or name == "knowledge":
        return command(parser.parse_args(rest)) or 0
    return command(_read_intermixed(parser, rest)) or 0


def _read_intermixed(parser: Parser, argv: Sequence[str]) -> argparse.Namespace:
    """Read options among words. What begins with a dash behind `--` is a word: argparse, which would forget that, gets it
    with a sign before it that no argument can have.
    """
    end = argv.index("--") if "--" in argv else len(argv)
    words = [f"{_NO_OPTION}{word}" if word[:1] == "-" else word for word in argv[end + 1 :]]
    arguments = parser.parse_intermixed_args([*argv[:end], *words])
    for name, value in vars(arguments).items() if words else ():
        if isinstance(value, list):
            setattr(arguments, name, [word.removeprefix(_NO_OPTION) for word in value])
        elif isinstance(value, str):
            setattr(arguments, name, value.removeprefix(_NO_OPTION))
    return arguments


def main(argv: Sequence[str] | None = None) -> int:
    """The entry point of ``co`` and ``co-cli``."""
    argv = sys.argv[1:] if argv is None else argv
    gc.disable()  # a command ends before there is garbage worth looking for; what stays, such as a server, turns it on
    atexit.register(gc.freeze)  # nor is it worth a look at the very end, which Python would take all the same
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a note may hold what the terminal's encoding cannot show
            stream.reconfigure(errors="backslashreplace")
    try:
        return _run_reporting(argv)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run_reporting(argv: Sequence[str]) -> int:
    try:
        code = run(argv)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except CoError as error:
        _report(error, as_json="--json" in argv)
        return EXIT_CODES[error.kind]
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except OSError as error:  # a full disk behind stdout, say
        _report(Unavailable(f"The system said no: {error}."), as_json=False)
        return EXIT_CODES[UNAVAILABLE]


def _report(error: CoError, *, as_json: bool) -> None:
    from co_cli.surfaces.cli.terminal import can_show_all, paint, say

    if as_json:
        import json
        import re

        content: dict[str, object] = {"kind": error.kind, "code": error.code, "message": error.message, "hint": error.hint}
        if error.details:
            content["details"] = re.sub("\x1b\\[[0-9;]*m", "", error.details)  # colours are for people
        if error.candidates:
            content["candidates"] = list(error.candidates)
        print(json.dumps({"error": content}, ensure_ascii=not can_show_all(sys.stdout), indent=2))
    say(f"{paint('error:', 'red', sys.stderr)} {error.message}")
    if error.details:
        say(error.details)
    if error.hint:
        say(paint(error.hint, "dim", sys.stderr))
