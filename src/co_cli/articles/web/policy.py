"""How much a page may cost and where it may be: the limits of fetching.

Owns the limits, and which of them are set by the user. Knows nothing of how they are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from co_cli.articles.web.reach import Allowed, read_allowed, system_addresses
from co_cli.articles.web.robots import Known

if TYPE_CHECKING:
    from co_cli.articles.web.reach import Resolve
    from co_cli.settings import Settings

MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Policy:
    """What fetching has to keep to."""

    allow: tuple[Allowed, ...] = ()
    """Hosts and networks that may be fetched from although they are not in the internet."""
    largest: int = 25 * MEGABYTE
    """Bytes of a page, as they are sent and as they are unpacked."""
    robots: bool = True
    """Whether a site's robots.txt is asked first, and obeyed."""
    seconds: float = 60.0
    """For all of it: names, redirects, robots.txt and the page."""
    silence: float = 15.0
    """Seconds without a byte after which a server is given up."""
    connection: float = 8.0
    """Seconds for a connection to one machine; a host may have several."""
    redirects: int = 8
    resolve: Resolve = system_addresses
    known: Known = field(default_factory=Known)
    """What sites say in their robots.txt, so that it is read once for many pages."""


_KNOWN = Known()


def policy(settings: Settings) -> Policy:
    """The policy that the user has set."""
    return Policy(
        allow=read_allowed(settings.value("fetch_allow")),
        largest=int(settings.value("fetch_megabytes")) * MEGABYTE,
        robots=settings.value("fetch_robots") == "yes",
        known=_KNOWN,
    )
