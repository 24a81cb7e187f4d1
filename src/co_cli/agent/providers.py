"""Which model answers: the choice of a provider, its key, and whether it can be reached.

Owns the names of providers and models, where keys come from, and what is said when something is missing. Keys are read from
the environment or the system's keyring; they are never written, shown or logged.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import Denied, Invalid, Unavailable
from co_cli.settings import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_ai.models import Model

    from co_cli.settings import Settings

OFFLINE = "offline"
ALIASES = {"google": "gemini"}
KEYRING_SERVICE = "co-cli"
_KEYS = {
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "ollama": ("OLLAMA_API_KEY",),
}
_MODELS = {"gemini": "gemini-3.8-flash", "openai": "gpt-6-luna", "anthropic": "claude-haiku-5-5"}
"""The usual model of a provider; an Ollama server has those that its owner has fetched."""
_OLLAMA_URL = "http://127.0.0.1:11434"
_WINDOWS = {"gemini": 1_000_000, "openai": 400_000, "anthropic": 200_000, "ollama": 8_000, OFFLINE: 8_000}
"""Tokens that fit into a model's window: no more than the smallest of the provider's usual models has."""
_SECONDS = 3.0


class Choice(NamedTuple):
    """A provider with its model and address, and where each comes from is known."""

    provider: str
    model: str = ""
    url: str = ""
    key_name: str = ""
    """Where the key was found: a variable, or ``keyring``; empty where there is none."""

    @property
    def label(self) -> str:
        """What people call it."""
        return self.provider if self.provider == OFFLINE else f"{self.provider}:{self.model or '?'}"

    @property
    def window(self) -> int:
        """Tokens that fit into the window of the model."""
        return _WINDOWS[self.provider]


class Health(NamedTuple):
    """Whether a provider can be used, what is missing, and what to type next."""

    ready: bool
    message: str
    hint: str = ""


def choose(
    settings: Settings, *, provider: str = "", model: str = "", environment: Mapping[str, str] | None = None
) -> Choice:
    """The provider in force: what was asked for comes before the environment, and that before the settings."""
    environment = os.environ if environment is None else environment
    name = provider or environment.get("CO_PROVIDER", "") or settings.value("provider")
    if not provider and ":" in model:
        name, model = model.split(":", 1)
    name = ALIASES.get(name, name)
    if name not in PROVIDERS:
        raise Invalid(f"There is no provider {name!r}.", f"Choose one of {', '.join(PROVIDERS)}.")
    if name == OFFLINE:
        return Choice(OFFLINE)
    own = name == ALIASES.get(settings.value("provider"), settings.value("provider"))
    chosen = model or environment.get("CO_MODEL", "") or (settings.value("model") if own else "") or _MODELS.get(name, "")
    url = environment.get("CO_PROVIDER_URL", "") or (settings.value("provider_url") if own else "")
    if name == "ollama":
        url = url or environment.get("OLLAMA_BASE_URL", "") or _OLLAMA_URL
    return Choice(name, chosen, url.rstrip("/"), _key_name(name, environment))


def _key_name(provider: str, environment: Mapping[str, str]) -> str:
    for name in _KEYS[provider]:
        if environment.get(name, "").strip():
            return name
    return "keyring" if _from_keyring(provider) else ""


def _from_keyring(provider: str) -> str:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return ""
    try:
        return keyring.get_password(KEYRING_SERVICE, provider) or ""
    except (KeyringError, RuntimeError, OSError):  # a locked or a missing keyring is one without a key
        return ""


def _key(choice: Choice) -> str:
    return _from_keyring(choice.provider) if choice.key_name == "keyring" else os.environ.get(choice.key_name, "").strip()


def health(choice: Choice, *, ask: bool = True) -> Health:
    """Say whether a provider is configured and, where ``ask`` is set, whether its server answers."""
    if choice.provider == OFFLINE:
        hint = "Choose one: co config set provider ollama, or gemini, openai, anthropic"
        return Health(True, "no model is configured; co answers from the notes", hint)
    if not _installed(choice.provider):
        return Health(False, "the packages of the chat are not installed", "Install them: pip install 'co-cli[chat]'")
    if not choice.key_name and choice.provider != "ollama" and not choice.url:
        name = _KEYS[choice.provider][0]
        where = f"export {name}=…   or: keyring set {KEYRING_SERVICE} {choice.provider}"
        return Health(False, f"{choice.provider} needs a key, and none is set", where)
    if choice.provider == "ollama":
        return _ollama_health(choice, ask=ask)
    if ask and choice.url and not _answers(choice.url):
        return Health(
            False, f"{choice.url} does not answer", "Start the server, or correct it: co config set provider_url …"
        )
    key = f", with the key in {choice.key_name}" if choice.key_name else ""
    return Health(True, f"{choice.label} is configured{key}")


def _ollama_health(choice: Choice, *, ask: bool) -> Health:
    if not ask:
        return Health(True, f"{choice.label} at {choice.url}")
    models = ollama_models(choice)
    if models is None:
        return Health(False, f"no Ollama server answers at {choice.url}", "Start it: ollama serve")
    if not models:
        return Health(False, "the Ollama server has no model", "Fetch one: ollama pull qwen3")
    if choice.model and choice.model not in models and f"{choice.model}:latest" not in models:
        return Health(False, f"the Ollama server has no model {choice.model!r}", f"It has: {', '.join(models)}")
    return Health(True, f"{choice.label} at {choice.url}" if choice.model else f"Ollama at {choice.url}: {models[0]}")


def ollama_models(choice: Choice) -> list[str] | None:
    """The names of the models that an Ollama server has; ``None`` where none answers."""
    import json
    from urllib.request import urlopen

    try:
        with urlopen(f"{choice.url.removesuffix('/v1')}/api/tags", timeout=_SECONDS) as answer:  # noqa: S310 - as configured
            return [str(model["name"]) for model in json.load(answer)["models"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _answers(url: str) -> bool:
    from urllib.error import HTTPError
    from urllib.request import urlopen

    try:
        with urlopen(f"{url}/models", timeout=_SECONDS):  # noqa: S310 - as configured
            return True
    except HTTPError:  # it says no, but it is there
        return True
    except (OSError, ValueError):
        return False


def _installed(provider: str) -> bool:
    from importlib.util import find_spec

    packages = {"gemini": "google.genai", "anthropic": "anthropic"}
    try:
        return all(find_spec(name) is not None for name in ("pydantic_ai", packages.get(provider, "openai")))
    except ModuleNotFoundError:
        return False


def open_model(choice: Choice) -> Model:
    """The model of a choice, ready to be asked; raises ``Unavailable`` with the next step where something is missing."""
    if choice.provider == OFFLINE:
        from co_cli.agent.offline import offline_model

        return offline_model()
    found = health(choice, ask=False)
    if not found.ready:
        raise Unavailable(f"{found.message[:1].upper()}{found.message[1:]}.", found.hint, code="provider")
    key = _key(choice) or "none"
    if key != "none" and choice.url.startswith("http://") and not _on_this_machine(choice.url):
        raise Denied(f"The key would go to {choice.url} unencrypted.", "Set provider_url to an https address.")
    match choice.provider:
        case "gemini":
            from pydantic_ai.models.google import GoogleModel
            from pydantic_ai.providers.google import GoogleProvider

            return GoogleModel(choice.model, provider=GoogleProvider(api_key=key))
        case "anthropic":
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            return AnthropicModel(choice.model, provider=AnthropicProvider(api_key=key, base_url=choice.url or None))
        case "ollama":
            return _ollama_model(choice, key)
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIChatModel(choice.model, provider=OpenAIProvider(api_key=key, base_url=choice.url or None))


def _ollama_model(choice: Choice, key: str) -> Model:
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    model = choice.model or next(iter(ollama_models(choice) or ()), "")
    if not model:
        found = _ollama_health(choice, ask=True)
        raise Unavailable(f"{found.message[:1].upper()}{found.message[1:]}.", found.hint, code="provider")
    return OllamaModel(model, provider=OllamaProvider(base_url=f"{choice.url.removesuffix('/v1')}/v1", api_key=key))


def _on_this_machine(url: str) -> bool:
    from ipaddress import ip_address
    from urllib.parse import urlsplit

    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
