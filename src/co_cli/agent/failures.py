"""What is said when a model does not answer as it should.

Owns the table from the errors of pydantic_ai to a line and a next step for people. Messages of servers are not repeated:
they quote what they were sent, keys included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic_ai import exceptions

from co_cli.errors import CoError, Unavailable

if TYPE_CHECKING:
    from co_cli.agent.providers import Choice

_OTHER_MODEL = "Choose another: /model PROVIDER:NAME"
_AGAIN = "Say it again, or choose another: /model PROVIDER:NAME"
_TABLE: tuple[tuple[type[Exception], str, str], ...] = (
    (exceptions.ModelAuthenticationError, "does not accept the key", "Check the key: co doctor"),
    (exceptions.ModelNotFoundError, "does not know this model", "Choose another: /model NAME"),
    (exceptions.ModelQuotaExceededError, "says that your quota is used up", _OTHER_MODEL),
    (exceptions.ModelRateLimitError, "has too many requests from you", "Wait a little, then say it again."),
    (exceptions.ModelContextWindowExceededError, "cannot take in so much", "Start afresh: /quit, then co chat"),
    (exceptions.ModelTimeoutError, "takes too long to answer", _AGAIN),
    (exceptions.ModelConnectionError, "cannot be reached", "Check your network and the address: co doctor"),
    (exceptions.ModelServerError, "has a fault of its own", "Say it again in a moment."),
    (exceptions.ModelUnavailableError, "is not available now", "Say it again in a moment."),
    (exceptions.ModelRequestRejectedError, "does not accept the request", "Choose another model: /model NAME"),
    (exceptions.ContentFilterError, "refuses to answer this", "Say it in other words."),
    (exceptions.OutputTokenLimitExceeded, "broke off, since its answer became too long", "Ask for less at once."),
    (exceptions.UsageLimitExceeded, "called tools again and again without an end", "Say what you want in other words."),
    (exceptions.ModelAPIError, "answers with an error", _AGAIN),
    (exceptions.UnexpectedModelBehavior, "answered with something that makes no sense", "Say it again, or in other words."),
    (exceptions.UserError, "cannot do what the chat needs", _OTHER_MODEL),
)
_CLIENTS = frozenset({"anthropic", "google", "h11", "httpcore", "httpcore2", "httpx", "httpx2", "openai", "ssl"})
"""The packages through which servers are asked; an error of theirs that nobody translated is a broken connection."""


def explained(error: Exception, choice: Choice) -> CoError:
    """An error as people are told it; the chat goes on after it."""
    if isinstance(error, CoError):
        return error
    for kind, what, hint in _TABLE:
        if isinstance(error, kind):
            return Unavailable(f"{choice.label} {what}.", hint, code="model")
    if isinstance(error, OSError) or type(error).__module__.partition(".")[0] in _CLIENTS:
        return Unavailable(f"The connection to {choice.label} broke off.", "Say it again.", code="model")
    return Unavailable(f"Answering failed: {_where(error)}.", "This is a mistake in co: please report it.", code="fault")


def _where(error: Exception) -> str:
    """What kind of error it was, and where it happened, for those who are to mend it."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    place = f" in {trace.tb_frame.f_globals.get('__name__')}, line {trace.tb_lineno}" if trace else ""
    return f"{type(error).__name__}{place}"
