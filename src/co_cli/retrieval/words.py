"""Words that say nothing by themselves.

Owns the list. They make no note match where a query has other words.
"""

from __future__ import annotations

STOP_WORDS = frozenset(
    """
    a about after again against am an and any are aren as at be because been before being between both but by can could
    couldn d did didn do does doesn don down during each either for from had hadn has hasn have haven he her here him his how
    i if in into is isn it its just ll m me might must my neither no nor not of off on onto or our out over re s she should
    shouldn so such t than that the their them then there these they this those through to too under until up us ve very
    was wasn we were weren what when where which while who whom whose why will with won would wouldn yes you your
    """.split()  # noqa: SIM905 - a list of so many would be a page
)
