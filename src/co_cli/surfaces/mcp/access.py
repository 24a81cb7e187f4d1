"""Who may ask over HTTP: those who know the token.

Owns the token, the file that it is kept in, and the gate that asks for it.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from co_cli.errors import Denied, Invalid, Unavailable

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_FOR_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_SHORTEST = 16


def load_token(path: str) -> tuple[str, bool]:
    """The token that a file holds, and whether it has just been made; nobody but the user may read the file."""
    try:
        with open(path, encoding="ascii") as file:
            others = stat.S_IMODE(os.fstat(file.fileno()).st_mode) & _FOR_OTHERS
            token = file.read().strip()
    except FileNotFoundError:
        return _make_token(path), True
    except (OSError, UnicodeDecodeError) as error:
        raise Unavailable(
            f"{path} cannot be read: {error}.", "Check the file, or name another with --token-file."
        ) from error
    if others and os.name != "nt":
        raise Denied(
            f"{path} can be read by others, so its token is no secret.", f"Delete the file; co makes a new one: rm {path}"
        )
    if len(token) < _SHORTEST or not token.isprintable() or " " in token:
        raise Invalid(f"{path} holds no token.", f"It takes {_SHORTEST} signs or more. Delete the file, and co makes one.")
    return token, False


def _make_token(path: str) -> str:
    import secrets

    token = secrets.token_urlsafe(32)
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "w", encoding="ascii") as file:
            file.write(f"{token}\n")
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error}.", "Name another file with --token-file.") from error
    return token


class TokenGate:
    """Lets requests through that bring the token; the others get a 401 and nothing else."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"bearer {token}".encode("ascii")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http" and not self._knows(scope):
            from starlette.responses import PlainTextResponse

            said = "The token is missing or wrong: send the header `Authorization: Bearer TOKEN`.\n"
            response = PlainTextResponse(said, status_code=401, headers={"WWW-Authenticate": 'Bearer realm="co"'})
            await response(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _knows(self, scope: Scope) -> bool:
        import hmac

        given = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(given) != 1:
            return False
        kind, _, token = given[0].partition(b" ")
        return hmac.compare_digest(kind.lower() + b" " + token.strip(), self._expected)
