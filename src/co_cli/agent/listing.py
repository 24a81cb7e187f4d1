"""Asking a server which models it has: the smallest question that shows whether it is there and takes the key.

Owns where each provider keeps that list, and its forms. Nothing else is ever sent, and no redirection is followed, since the
key would go along.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from co_cli.agent.providers import Choice

_SECONDS = 3.0
_OFFICIAL = {
    "gemini": "https://generativelanguage.googleapis.com",
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
}


class Listed(NamedTuple):
    """What a server said to the question."""

    status: int
    """The HTTP status; 0 where nobody answered."""
    models: tuple[str, ...] = ()


def listed_models(choice: Choice, key: str) -> Listed:
    """Ask the server of a choice for its models."""
    import json
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import HTTPRedirectHandler, Request, build_opener

    class Stay(HTTPRedirectHandler):
        def redirect_request(self, *_arguments: object) -> None:
            """Go nowhere."""

    url, headers = _question(choice, key)
    try:
        with build_opener(Stay).open(Request(url, headers=headers), timeout=_SECONDS) as answer:  # noqa: S310 - as configured
            return Listed(answer.status, _names(json.load(answer)))
    except HTTPError as error:  # it says no, but it is there
        error.close()
        return Listed(error.code)
    except ValueError:  # no JSON, or no address
        return Listed(200 if url.startswith("http") else 0)
    except (OSError, HTTPException):
        return Listed(0)


def _question(choice: Choice, key: str) -> tuple[str, dict[str, str]]:
    base = choice.url or _OFFICIAL.get(choice.provider, "")
    match choice.provider:
        case "ollama":
            return f"{base.removesuffix('/v1')}/api/tags", {"Authorization": f"Bearer {key}"} if key else {}
        case "gemini":
            return f"{base}/v1beta/models?pageSize=1000", {"x-goog-api-key": key}
        case "anthropic":
            return f"{base}/v1/models?limit=1000", {"x-api-key": key, "anthropic-version": "2023-06-01"}
    return f"{base}/models", {"Authorization": f"Bearer {key}"} if key else {}


def _names(content: Any) -> tuple[str, ...]:  # noqa: ANN401 - JSON
    entries = (content.get("models") or content.get("data")) if isinstance(content, dict) else None
    listed = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    named = [entry.get("id") or entry.get("name") for entry in listed]
    return tuple(str(name).removeprefix("models/") for name in named if name)
