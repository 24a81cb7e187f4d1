"""Which model answers: the choice of a provider, its key, and whether it can be reached.

Owns the names of providers and models, where keys come from, and what is said when something is missing. Keys are read from
the environment or the system's keyring; they are never written, shown or logged.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from co_cli.agent.listing import listed_models
from co_cli.errors import Denied, Invalid, Unavailable
from co_cli.settings import PROVIDERS, WINDOWS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_ai.models import Model

    from co_cli.knowledge import KnowledgeBase
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
_URLS = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL", "ollama": "OLLAMA_BASE_URL"}
"""The variables by which other programs are told of another server: it would be strange to ask another one than they do."""
_MODELS = {"gemini": "gemini-3.8-flash", "openai": "gpt-6-luna", "anthropic": "claude-haiku-5-5"}
"""The usual model of a provider; an Ollama server has those that its owner has fetched."""
_OLLAMA_URL = "http://127.0.0.1:11434"
_OTHER_SERVER_WINDOW = 16_000
"""Tokens of the window of a model on a server of one's own, of which nothing is known."""


_REFUSED = (401, 403)


class Choice(NamedTuple):
    """A provider with its model and address, and where each comes from is known."""

    provider: str
    model: str = ""
    url: str = ""
    key_name: str = ""
    """Where the key was found: a variable, or ``keyring``; empty where there is none."""
    tokens: int = 0
    """Tokens of its window, where the user has said how many."""

    @property
    def label(self) -> str:
        """What people call it."""
        return self.provider if self.provider == OFFLINE else f"{self.provider}:{self.model or '?'}"

    @property
    def window(self) -> int:
        """Tokens that fit into the window of the model."""
        usual = WINDOWS[self.provider]
        return self.tokens or (min(usual, _OTHER_SERVER_WINDOW) if self.url else usual)


class Health(NamedTuple):
    """Whether a provider can be used, what is missing, and what to type next."""

    ready: bool
    message: str
    hint: str = ""


def choose(
    settings: Settings, *, provider: str = "", model: str = "", environment: Mapping[str, str] | None = None
) -> Choice:
    """The provider in force: what was asked for comes before the environment, and that before the settings.

    A model may be named with its provider, ``ollama:qwen3``. Model and address count for the provider beside which they are
    set, and for no other.
    """
    environment = os.environ if environment is None else environment
    prefix, _, rest = model.partition(":")
    if not provider and rest and ALIASES.get(prefix, prefix) in PROVIDERS:  # a model's own name may hold a colon too
        provider, model = prefix, rest
    layers = (
        (provider, model, ""),
        (environment.get("CO_PROVIDER", ""), environment.get("CO_MODEL", ""), environment.get("CO_PROVIDER_URL", "")),
        (settings.value("provider"), settings.value("model"), settings.value("provider_url")),
    )
    name = next(ALIASES.get(named, named) for named, _model, _url in layers if named)
    if name not in PROVIDERS:
        raise Invalid(f"There is no provider {name!r}.", f"Choose one of {', '.join(PROVIDERS)}.")
    if name == OFFLINE:
        return Choice(OFFLINE)
    own = [(layer[1], layer[2]) for layer in layers if ALIASES.get(layer[0], layer[0]) in ("", name)]
    chosen = next((each for each, _url in own if each), _MODELS.get(name, ""))
    url = next((each for _model, each in own if each), environment.get(_URLS.get(name, ""), ""))
    url = url or (_OLLAMA_URL if name == "ollama" else "")
    return Choice(name, chosen, url.rstrip("/"), _key_name(name, environment), int(settings.value("model_window")))


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


def health(choice: Choice, *, ask: bool = True, official: bool = False) -> Health:
    """Say whether a provider is configured and, where ``ask`` is set, whether its server answers.

    A server of one's own is asked; the provider's own one on the internet only where ``official`` is set too. Nothing more
    is sent than the request for the list of models.
    """
    if choice.provider == OFFLINE:
        hint = "Choose one: co config set provider ollama, or gemini, openai, anthropic"
        return Health(True, "no model is configured; co answers from the notes", hint)
    if not _installed(choice.provider):
        return Health(False, "the packages of the chat are not installed", "Install them: pip install 'co-cli[chat]'")
    if not choice.key_name and choice.provider != "ollama" and not choice.url:
        name = _KEYS[choice.provider][0]
        where = f"export {name}=…   or: keyring set {KEYRING_SERVICE} {choice.provider}"
        return Health(False, f"{choice.provider} needs a key, and none is set", where)
    if _would_show_the_key(choice):
        return Health(False, f"the key would go to {choice.url} unencrypted", "Name an https address: provider_url")
    at = f" at {choice.url}" if choice.url else ""
    key = f", with the key of {choice.key_name}" if choice.key_name else ""
    if not ask or not (choice.url or official):
        return Health(True, f"{choice.label}{at} is configured{key}")
    return _asked(choice, f"{choice.label}{at} answers{key}")


def _asked(choice: Choice, well: str) -> Health:
    listed = listed_models(choice, _key(choice))
    server = f"the server at {choice.url}" if choice.url else f"the server of {choice.provider}"
    if listed.status == 0:
        start = "Start it: ollama serve" if choice.provider == "ollama" else "Check your network, and provider_url"
        return Health(False, f"{server} does not answer", start)
    if listed.status in _REFUSED:
        return Health(False, f"{server} does not accept the key of {choice.key_name or 'nobody'}", "Set another key")
    if not listed.models:  # it has no such list, but it is there
        if choice.provider == "ollama":
            return Health(False, f"{server} has no model", "Fetch one: ollama pull qwen3")
        return Health(True, well)
    if choice.model and choice.model not in listed.models and f"{choice.model}:latest" not in listed.models:
        few = ", ".join(listed.models[:8])
        return Health(False, f"{server} has no model {choice.model!r}", f"It has: {few}. Choose: co config set model …")
    return Health(True, well if choice.model else f"{choice.provider} at {choice.url} answers with {listed.models[0]}")


def _installed(provider: str) -> bool:
    from importlib.util import find_spec

    packages = {"gemini": "google.genai", "anthropic": "anthropic"}
    try:
        return all(find_spec(name) is not None for name in ("pydantic_ai", packages.get(provider, "openai")))
    except ModuleNotFoundError:
        return False


def open_model(choice: Choice, kb: KnowledgeBase) -> Model:
    """The model of a choice, ready to be asked; raises ``Unavailable`` with the next step where something is missing."""
    if choice.provider == OFFLINE:
        from co_cli.agent.offline import offline_model

        return offline_model(kb)
    found = health(choice, ask=choice.provider == "ollama" and not choice.model)
    if not found.ready:
        kind = Denied if _would_show_the_key(choice) else Unavailable
        raise kind(f"{found.message[:1].upper()}{found.message[1:]}.", found.hint, code="provider")
    key = _key(choice) or "none"
    match choice.provider:
        case "gemini":
            from pydantic_ai.models.google import GoogleModel
            from pydantic_ai.providers.google import GoogleProvider

            return GoogleModel(choice.model, provider=GoogleProvider(api_key=key, base_url=choice.url or None))
        case "anthropic":
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            return AnthropicModel(choice.model, provider=AnthropicProvider(api_key=key, base_url=choice.url or None))
        case "ollama":
            from pydantic_ai.models.ollama import OllamaModel
            from pydantic_ai.providers.ollama import OllamaProvider

            model = choice.model or listed_models(choice, key).models[0]
            return OllamaModel(model, provider=OllamaProvider(base_url=f"{choice.url.removesuffix('/v1')}/v1", api_key=key))
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIChatModel(choice.model, provider=OpenAIProvider(api_key=key, base_url=choice.url or None))


def _would_show_the_key(choice: Choice) -> bool:
    return bool(choice.key_name) and choice.url.startswith("http://") and not _is_on_this_machine(choice.url)


def _is_on_this_machine(url: str) -> bool:
    from ipaddress import ip_address
    from urllib.parse import urlsplit

    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
