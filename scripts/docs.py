"""Write docs/commands.md from the commands themselves; with --check, only say whether it is up to date."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from co_cli.surfaces.cli.main import COMMANDS, build_parser

TARGET = Path(__file__).resolve().parent.parent / "docs" / "commands.md"
HEAD = """# Commands

<!-- Written by scripts/docs.py from the commands themselves: change them, then run `make docs`. -->

Every command takes `--json`: one JSON document on stdout and nothing else there. Text for people that is no result, such as
warnings and counts, goes to stderr. Colours are used on a terminal only (`NO_COLOR` turns them off).

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 conflict, 5 denied.
"""


def render() -> str:
    """The whole page."""
    parts = [HEAD]
    group = ""
    for name, command in COMMANDS.items():
        if command.group != group:
            group = command.group
            parts.append(f"## {group}\n")
        parts.append(section(build_parser(name)[0]))
    return "\n".join(parts)


def section(parser: argparse.ArgumentParser) -> str:
    """One command."""
    lines = [f"### {parser.prog}", "", parser.description or "", ""]
    actions = [action for action in parser._actions if not isinstance(action, argparse._HelpAction)]
    lines += table(action for action in actions if not isinstance(action, argparse._SubParsersAction))
    for action in actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, child in action.choices.items():
                lines += [f"`{parser.prog} {name}`: {helps[name]}", ""]
                lines += table(a for a in child._actions if not isinstance(a, argparse._HelpAction) and a.dest != "json")
    if parser.epilog:
        examples = [line.strip() for line in parser.epilog.splitlines()[1:]]
        lines += ["```sh", *examples, "```", ""]
    return "\n".join(lines)


def table(actions: object) -> list[str]:
    """Arguments and options, a row each."""
    rows = [f"| `{names(action)}` | {(action.help or '').replace('|', chr(92) + '|')} |" for action in actions]
    return ["| argument | meaning |", "|---|---|", *rows, ""] if rows else []


def names(action: argparse.Action) -> str:
    """How an argument is written."""
    if not action.option_strings:
        return f"{action.metavar or action.dest}{' …' if action.nargs in ('+', '*') else ''}".replace("|", "\\|")
    value = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}{' …' if action.nargs == '+' else ''}"
    return ", ".join(f"{option}{value}" for option in action.option_strings)


def main() -> int:
    """Write the page, or check it."""
    page = render()
    if "--check" in sys.argv:
        if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != page:
            print(f"{TARGET.name} is out of date: run `make docs`", file=sys.stderr)
            return 1
        return 0
    TARGET.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
