"""What is said when a model does not answer as it should.

Owns the table from the errors of pydantic_ai to a line and a next step for people. Messages of servers are not repeated:
they quote what they were sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic_ai import exceptions

from co_cli.errors import CoError, Unavailable

if TYPE_CHECKING:
    from co_cli.agent.providers import Choice

_TABLE: tuple[tuple[type[Exception], str, str], ...] = (
    (exceptions.ModelAuthenticationError, "does not accept the key", "Check the key: co doctor"),
    (exceptions.ModelNotFoundError, "does not know this model", "Choose another: /model NAME"),
    (exceptions.ModelQuotaExceededError, "says that your quota is used up", "Choose another: /model PROVIDER:NAME"),
    (exceptions.ModelRateLimitError, "has too many requests from you", "Wait a little, then say it again."),
    (exceptions.ModelContextWindowExceededError, "cannot take in so much", "Start afresh: /quit, then co chat"),
    (exceptions.ModelTimeoutError, "takes too long to answer", "Say it again, or choose another: /model PROVIDER:NAME"),
    (exceptions.ModelConnectionError, "cannot be reached", "Check your network and the address: co doctor"),
    (exceptions.ModelServerError, "has a fault of its own", "Say it again in a moment."),
    (exceptions.ModelUnavailableError, "is not available now", "Say it again in a moment."),
    (exceptions.ModelRequestRejectedError, "does not accept the request", "Choose another model: /model NAME"),
    (exceptions.ContentFilterError, "refuses to answer this", "Say it in other words."),
    (exceptions.OutputTokenLimitExceeded, "broke off, since its answer became too long", "Ask for less at once."),
    (exceptions.UsageLimitExceeded, "called tools again and again without an end", "Say what you want in other words."),
    (exceptions.ModelAPIError, "answers with an error", "Say it again, or choose another: /model PROVIDER:NAME"),
    (exceptions.UnexpectedModelBehavior, "answered with something that makes no sense", "Say it again, or in other words."),
)  # fmt: skip


def explained(error: Exception, choice: Choice) -> CoError:
    """An error as people are told it; the chat goes on after it."""
    if isinstance(error, CoError):
        return error
    for kind, what, hint in _TABLE:
        if isinstance(error, kind):
            return Unavailable(f"{choice.label} {what}.", hint, code="model")
    return Unavailable(
        f"{choice.label} failed: {type(error).__name__}.", "Say it again; nothing was half saved.", code="model"
    )


def is_expected(error: Exception) -> bool:
    """Whether an error is one that models and servers make, rather than a fault of ours."""
    return isinstance(error, (CoError, exceptions.AgentRunError, exceptions.UserError, OSError))
