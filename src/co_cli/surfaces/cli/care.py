"""The commands that look after the vaults: init, status, doctor."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from co_cli.knowledge import ARTICLE, GLOBAL, MEMORY, PROJECT, TOPIC, is_expired, open_knowledge
from co_cli.learning import inbox
from co_cli.settings import DEFAULTS
from co_cli.surfaces.cli.linked import link_data, link_lines
from co_cli.surfaces.cli.provider import look_at_provider
from co_cli.surfaces.cli.terminal import counted, emit, paint, waiting_line, warn

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterable

    from co_cli.knowledge import Coverage, Finding, LinkState, Listing, Vault


def init_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Make the folders of the project's vault and an empty context. What is there already is not touched.

    With --git, git is told to merge notes field by field where two branches changed the same one: see co merge.

    Examples:
        co init
        co init --global
        co init --git
    """
    parser.add_argument("--git", action="store_true", help="have git merge notes with co in this repository")
    parser.add_argument("--global", action="store_true", dest="in_global", help="the vault of all your projects")
    return _init


def _init(arguments: Namespace) -> None:
    kb = open_knowledge()
    if arguments.git:
        from co_cli.surfaces.cli.merging import print_git_set_up

        print_git_set_up(arguments, kb)
        return
    made = kb.init(in_global=arguments.in_global)
    root = kb.vault(GLOBAL if arguments.in_global else PROJECT).root
    name = "g:context" if arguments.in_global else "context"
    if made:
        lines = [f"✓ Made {path}" for path in made]
        display = "\n".join([*lines, f'Next: co edit {name}, or: co learn "…"'])
    else:
        display = f"{root} is there already: nothing to make."
    emit(arguments, {"vault": root, "made": list(made), "display": display}, display)


def status_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Say where everything is, how much there is, and what is set.

    Examples:
        co status
        co status --tools
    """
    parser.add_argument("--tools", action="store_true", help="list the tools of agents instead, with what each needs")
    return lambda arguments: _tools(arguments) if arguments.tools else _status(arguments)


def _tools(arguments: Namespace) -> None:
    from co_cli.tools import TOOLS

    rows: list[dict[str, object]] = [
        {
            "name": tool.name,
            "approval": tool.writes or tool.network,
            "network": tool.network,
            "extra": tool.extra,
            "meaning": tool.meaning,
        }
        for tool in TOOLS.values()
    ]
    lines = [paint(f"{'tool'.ljust(18)}{'approval'.ljust(10)}{'network'.ljust(9)}extra", "bold")]
    for tool in TOOLS.values():
        asks, network = ("yes" if yes else "no" for yes in (tool.writes or tool.network, tool.network))
        lines.append(f"{tool.name.ljust(18)}{asks.ljust(10)}{network.ljust(9)}{tool.extra or 'none'}")
    emit(arguments, {"tools": rows}, "\n".join(lines))


def _status(arguments: Namespace) -> None:
    kb = open_knowledge()
    listing = kb.list((MEMORY, TOPIC, ARTICLE))
    originals = kb.originals()
    vaults = [{**_vault_data(vault, listing), "originals": originals[vault.name]._asdict()} for vault in kb.vaults]
    settings = kb.settings()
    context = kb.context(private=True)
    linked = kb.links()
    data = {
        "project": kb.places.project,
        "vaults": vaults,
        "linked": [link_data(state) for state in linked],
        "context": {"bytes": context.sent, "uncut": context.bytes, "target": context.target, "limit": context.limit},
        "search": {
            "mode": kb.mode(),
            "embedder": settings.value("embedder"),
            "indexes": {name: _coverage_data(known) for name, known in kb.coverage().items()},
        },
        "settings": {chosen.name: chosen.value for chosen in settings.chosen},
        "untrusted": list(settings.untrusted),
        "problems": len(listing.problems),
        "proposals": inbox.count(kb),
    }
    warn([*settings.warnings, *context.notices])
    emit(arguments, data, "\n".join(_status_lines(data, vaults, linked)))


def _vault_data(vault: Vault, listing: Listing) -> dict[str, object]:
    notes = [note for note in listing.notes if note.vault == vault.name]
    counts = {kind: sum(note.kind == kind for note in notes) for kind in (MEMORY, TOPIC, ARTICLE)}
    return {
        "name": vault.name,
        "path": vault.root,
        "exists": os.path.isdir(vault.root),
        "notes": len(notes),
        "memories": counts[MEMORY],
        "topics": counts[TOPIC],
        "articles": counts[ARTICLE],
        "pinned": sum(note.pinned for note in notes),
        "expired": sum(map(is_expired, notes)),
    }


def _coverage_data(known: Coverage) -> dict[str, object]:
    data = {"path": known.path, "exists": known.exists, "files": known.files, "indexed": known.indexed, "bytes": known.bytes}
    return {**data, "passages": known.passages, "vectors": known.vectors, "model": known.model, "damage": known.damage}


_MODES = {
    "grep": "every note is read at each query",
    "text": "notes are ranked by their words",
    "vector": "notes are ranked by their meaning",
    "hybrid": "notes are ranked by their words and their meaning",
}


def _search_lines(search: object) -> list[str]:
    if not isinstance(search, dict):
        return []
    lines = [f"{paint('search  ', 'bold')} {search['mode']}: {_MODES[search['mode']]}"]
    for name, known in search["indexes"].items():
        if known["damage"]:
            lines.append(f"         the {name} index is damaged ({known['damage']}); the next search makes it anew")
        elif known["exists"]:
            parts = [f"{known['indexed']:,} of {counted(known['files'], 'note', 'notes')} in the {name} index"]
            parts.append(f"{known['vectors']:,} of {counted(known['passages'], 'passage', 'passages')} with a vector")
            lines.append(f"         {', '.join(parts)}; {known['bytes'] / 1e6:,.1f} MB")
    return lines


def _status_lines(data: dict[str, object], vaults: list[dict[str, object]], linked: Iterable[LinkState]) -> list[str]:
    lines = []
    for vault in vaults:
        lines.append(f"{paint(str(vault['name']).ljust(8), 'bold')} {vault['path']}")
        if not vault["exists"]:
            lines.append(f"         not made yet: co init{' --global' if vault['name'] == GLOBAL else ''}")
            continue
        kinds = (("memory", "memories"), ("topic", "topics"), ("article", "articles"))
        counts = ", ".join(counted(int(str(vault[many])), one, many) for one, many in kinds if vault[many])
        extras = ", ".join(f"{vault[name]} {name}" for name in ("pinned", "expired") if vault[name])
        lines.append(f"         {counts or 'no notes yet'}{f' ({extras})' if extras else ''}{_originals(vault)}")
    lines += [line for state in linked for line in link_lines(state)]
    context, settings = data["context"], data["settings"]
    if isinstance(context, dict) and isinstance(settings, dict):
        lines.append(f"{paint('context '.ljust(8), 'bold')} {context['bytes']} of {context['target']} bytes in every prompt")
        lines += _search_lines(data["search"])
        chosen = ", ".join(f"{name} {value}" for name, value in settings.items() if value != DEFAULTS[name])
        lines.append(f"{paint('settings', 'bold')} {chosen or 'the defaults'}")
        if settings["auto_learn"] == "yes":
            lines.append(
                f"{paint('learning', 'bold')} on: what you say in chats is drafted for the inbox; off: co learn --auto=false"
            )
    if data["untrusted"]:
        lines.append("This project asks for settings that need your trust: co trust")
    if data["problems"]:
        lines.append(f"{data['problems']} files cannot be read as notes: co doctor")
    if data["proposals"]:
        lines.append(waiting_line(int(str(data["proposals"]))))
    return lines


def _originals(vault: dict[str, object]) -> str:
    found = vault["originals"]
    if not isinstance(found, dict) or not found["files"]:
        return ""
    return f"; {counted(found['files'], 'original', 'originals')} with {found['size'] / 1e6:,.1f} MB"


def doctor_command(parser: ArgumentParser) -> Callable[[Namespace], int]:
    """Find what is wrong with the files: duplicate ids, broken headers, wrong names, broken links, permissions, what git
    should ignore; where the index says something else than the files; and whether the model of the chat can be used.

    With --fix, mend what can be mended. No note is ever deleted; `co log` lists the repairs, and `co undo` takes one back.
    Exits with 1 while something is left to mend.

    Examples:
        co doctor
        co doctor --fix
    """
    parser.add_argument("--fix", action="store_true", help="mend what can be mended")
    return _doctor


def _doctor(arguments: Namespace) -> int:
    kb = open_knowledge()
    report = kb.check(fix=arguments.fix, also=inbox.proposals(kb).problems)
    settings = kb.settings()
    warn(settings.warnings)
    provider = look_at_provider(settings, official=True)
    data = {
        "notes": report.notes,
        "open": len(report.open),
        "findings": [_finding_data(finding) for finding in report.findings],
        "settings_warnings": list(settings.warnings),
        "provider": provider.data,
    }
    lines = [line for finding in report.findings for line in _finding_lines(finding)]
    mendable = sum(finding.mendable for finding in report.open)
    if settings.warnings and not report.open:
        lines.append("The notes are fine; the settings need a look, see above.")
    elif report.open:
        lines.append(f"{len(report.open)} to look at" + (f", {mendable} of which co doctor --fix mends" if mendable else ""))
    else:
        lines.append(f"✓ {counted(report.notes, 'note', 'notes')}, nothing wrong.")
    if provider.is_a_model:
        lines.append(provider.line)
    emit(arguments, data, "\n".join(lines))
    return 1 if report.open or settings.warnings or not provider.ready else 0


def _finding_data(finding: Finding) -> dict[str, object]:
    problem = finding.problem
    return {
        "code": problem.code,
        "path": problem.path,
        "line": problem.line,
        "message": problem.message,
        "hint": problem.hint,
        "mendable": finding.mendable,
        "mended": finding.mended,
    }


def _finding_lines(finding: Finding) -> list[str]:
    if finding.mended:
        return [f"{paint('mended', 'green')}  {finding.problem}: {finding.mended}"]
    hint = "co doctor --fix mends it." if finding.mendable else "Correct it by hand; co leaves it as it is until then."
    return [f"{paint('problem', 'yellow')} {finding.problem}", f"        {finding.problem.hint or hint}"]
