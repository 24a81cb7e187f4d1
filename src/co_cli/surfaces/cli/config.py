"""The commands of set-up: config, trust, completion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from co_cli.errors import Denied, NotFound
from co_cli.knowledge import open_knowledge
from co_cli.settings import (
    SETTINGS,
    change_setting,
    distrust_project,
    find_places,
    is_trusted,
    load_settings,
    sensitive_settings,
    trust_project,
)
from co_cli.surfaces.cli.provider import look_at_provider
from co_cli.surfaces.cli.terminal import ask, emit, paint, say, warn

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable


def config_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Read and change settings. A project's settings come with its clone: only the harmless ones among them count.

    Examples:
        co config
        co config get personality
        co config set personality terse
        co config unset personality
    """
    commands = parser.add_subparsers(dest="action", prog="co config", metavar="ACTION")
    commands.add_parser("list", help="all settings with where each comes from, and how it stands with the provider")
    get = commands.add_parser("get", help="print one value")
    get.add_argument("name", metavar="NAME", help="which setting")
    put = commands.add_parser("set", help="change one")
    put.add_argument("name", metavar="NAME", help="which setting")
    put.add_argument("value", metavar="VALUE", help="its new value")
    unset = commands.add_parser("unset", help="go back to the default")
    unset.add_argument("name", metavar="NAME", help="which setting")
    for command in (put, unset):
        command.add_argument("--project", action="store_true", help="for everybody who has this project")
    return _config


def _config(arguments: Namespace) -> None:
    places = find_places()
    if arguments.action in ("set", "unset"):
        value = arguments.value if arguments.action == "set" else None
        _check_personality(arguments.name, value)
        if arguments.name == "fetch_allow" and value:
            from co_cli.articles.web.reach import read_allowed

            read_allowed(value)  # raises what the next fetch would
        path = change_setting(places, arguments.name, value, in_project=arguments.project)
        display = f"✓ {arguments.name} is {'now ' + repr(value) if value is not None else 'unset'} in {path}"
        settings = load_settings(places)
        if settings.value(arguments.name) != value and value is not None:
            display += (
                f"\nIn this project it stays {settings.value(arguments.name)!r}: {places.project_settings} comes first."
            )
        emit(arguments, {"name": arguments.name, "value": value, "path": path, "display": display}, display)
        return
    settings = load_settings(places)
    warn(settings.warnings)
    if arguments.action == "get":
        value = settings.value(arguments.name)
        emit(arguments, {"name": arguments.name, "value": value}, value)
        return
    meanings = {setting.name: setting.meaning for setting in SETTINGS}
    rows = [
        {"name": chosen.name, "value": chosen.value, "origin": chosen.origin, "meaning": meanings[chosen.name]}
        for chosen in settings.chosen
    ]
    width = max(len(row["name"]) for row in rows)
    lines = [
        f"{paint(row['name'].ljust(width), 'bold')}  {row['value'] or '(none)'}  "
        + paint(f"{row['origin']}; {row['meaning']}", "dim")
        for row in rows
    ]
    lines += [f"The project asks for {name} too: co trust" for name in settings.untrusted]
    provider = look_at_provider(settings)
    lines.append(provider.line)
    data = {"settings": rows, "untrusted": list(settings.untrusted), "provider": provider.data}
    emit(arguments, data, "\n".join(lines))


def _check_personality(name: str, value: str | None) -> None:
    known = open_knowledge().personalities() if name == "personality" and value else {}
    if known and value not in known:
        raise NotFound(f"There is no personality {value!r}.", f"Known: {', '.join(known)}.")


def trust_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Take a project's settings for your own, also those that could run something or send data elsewhere.

    They are shown first. Trust is for the settings as they are now: when they change, you are asked again.

    Examples:
        co trust
        co trust --yes
        co trust --remove
    """
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--remove", action="store_true", help="trust them no longer")
    return _trust


def _trust(arguments: Namespace) -> None:
    places = find_places()
    if arguments.remove:
        distrust_project(places)
        display = f"✓ {places.project} is not trusted."
        emit(arguments, {"project": places.project, "trusted": False, "display": display}, display)
        return
    asked, fingerprint = sensitive_settings(places)
    if asked and not is_trusted(places):
        lines = [f"{places.project} wants to set:", *(f"  {name} = {value!r}" for name, value in asked.items())]
        say("\n".join(lines))
    if asked and not is_trusted(places) and not arguments.yes:
        answer = ask("Trust these settings? y / N", otherwise="Trust them with: co trust --yes")
        if answer.lower() not in ("y", "yes"):
            raise Denied("The project is not trusted.")
    trust_project(places, fingerprint)
    display = f"✓ {places.project} is trusted with its settings as they are now."
    emit(arguments, {"project": places.project, "trusted": True, "settings": asked, "display": display}, display)


def completion_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """Print the completion script of a shell, for the name by which you call it: `co`, or `co-cli`.

    Examples:
        co completion bash > ~/.local/share/bash-completion/completions/co
        co completion zsh > ~/.zfunc/_co
        co completion fish > ~/.config/fish/completions/co.fish
        co-cli completion bash > ~/.local/share/bash-completion/completions/co-cli
    """
    parser.add_argument(
        "shell",
        metavar="SHELL",
        choices=("bash", "zsh", "fish", "tcsh", "powershell"),
        help="bash, zsh, fish, tcsh or powershell",
    )
    return _completion


def _completion(arguments: Namespace) -> None:
    import os
    import sys

    import shtab

    from co_cli.surfaces.cli.main import whole_parser

    called = os.path.basename(sys.argv[0])
    script = shtab.complete(whole_parser("co-cli" if called == "co-cli" else "co"), shell=arguments.shell)
    emit(arguments, {"shell": arguments.shell, "script": script}, script)
