"""The form of a vector: length one, little-endian 32-bit floats.

Owns that form. Pure; knows no model.
"""

from __future__ import annotations

from math import hypot, isfinite
from struct import pack
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_TINY = 1e-12
"""Lengths below this are zero with rounding errors."""


def unit(values: Sequence[float]) -> bytes:
    """The vector in the direction of these numbers; empty if they have none, or if one of them is no number."""
    length = hypot(*values)
    if not isfinite(length) or length < _TINY:
        return b""
    return pack(f"<{len(values)}f", *[value / length for value in values])
