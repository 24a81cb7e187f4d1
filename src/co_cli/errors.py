"""The one tree of errors that co raises on purpose.

    CoError
    ├── Invalid        what was asked for makes no sense as it stands
    ├── NotFound       no such note, change, setting, personality, …
    ├── Conflict       the file is not what it was when it was read, or the request fits several notes
    ├── Denied         refused on purpose: a secret, an untrusted project, a question answered with no
    ├── Unavailable    the machine said no: full disk, read-only folder, a lock that is never released
    └── Corrupt        a file that cannot be understood

Owns the kinds, their codes and the shape of a message; imports nothing and knows nothing of any surface.
The message says what happened, the hint names the next step.
"""

INVALID = "invalid"
NOT_FOUND = "not_found"
CONFLICT = "conflict"
DENIED = "denied"
UNAVAILABLE = "unavailable"
CORRUPT = "corrupt"

KINDS = (INVALID, NOT_FOUND, CONFLICT, DENIED, UNAVAILABLE, CORRUPT)


class CoError(Exception):
    """An error with a message for people, a hint with the next step, and a code for programs."""

    kind = INVALID

    def __init__(self, message: str, hint: str = "", *, code: str = "", details: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code or self.kind
        self.details = details
        """What there is to look at before the next step, such as a difference or a list of candidates."""
        self.candidates: tuple[str, ...] = ()
        """The refs that a request could have meant."""


class Invalid(CoError):
    """The request cannot be carried out as it stands."""

    kind = INVALID


class NotFound(CoError):
    """What was asked for does not exist."""

    kind = NOT_FOUND


class Conflict(CoError):
    """The world is not what the request took it to be."""

    kind = CONFLICT


class Denied(CoError):
    """Refused on purpose."""

    kind = DENIED


class Unavailable(CoError):
    """The machine or another program stands in the way."""

    kind = UNAVAILABLE


class Corrupt(CoError):
    """A file cannot be understood."""

    kind = CORRUPT
