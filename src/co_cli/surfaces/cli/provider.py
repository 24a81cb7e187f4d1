"""What is said of the model provider by the commands that look at the set-up: config and doctor.

Owns those words, and the form in JSON. Whether a provider can be used is found out by the agent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from co_cli.surfaces.cli.terminal import paint

if TYPE_CHECKING:
    from co_cli.settings import Settings


class ProviderReport(NamedTuple):
    """How it stands with the provider."""

    data: dict[str, object]
    line: str
    ready: bool
    is_a_model: bool
    """Whether there is a model at all, and not only the notes."""


def look_at_provider(settings: Settings, *, official: bool = False) -> ProviderReport:
    """Ask whether the provider can be used; its own server on the internet only where ``official`` says so."""
    from co_cli.agent.providers import OFFLINE, choose, health

    choice = choose(settings)
    found = health(choice, official=official)
    data: dict[str, object] = {
        "provider": choice.provider,
        "model": choice.model,
        "url": choice.url,
        "key": choice.key_name,
        "ready": found.ready,
        "message": found.message,
        "hint": found.hint,
    }
    mark = paint("chat    ", "bold") if found.ready else paint("problem", "yellow")
    hint = f"\n         {found.hint}" if found.hint else ""
    return ProviderReport(data, f"{mark} {found.message}{hint}", found.ready, choice.provider != OFFLINE)
