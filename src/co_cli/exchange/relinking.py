"""Links of a body, written anew one by one.

Owns replacing a link where it stands and nothing else. Knows neither what links mean nor where a body goes. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from co_cli.links import links

if TYPE_CHECKING:
    from collections.abc import Callable

    from co_cli.links import Link


def relink(body: str, write: Callable[[Link], str | None]) -> str:
    """A body whose links are written as they are told to be; ``None`` leaves one as it is, and so is what stands in code."""
    lines: list[str] | None = None
    done: dict[int, int] = {}
    for link in links(body):
        new = write(link)
        lines = lines if lines is not None else body.split("\n")
        line = lines[link.line - 1]
        start = line.find(link.written, done.get(link.line, 0))
        if start < 0:  # a link over several lines stays as it is
            continue
        put = link.written if new is None else new
        lines[link.line - 1] = f"{line[:start]}{put}{line[start + len(link.written) :]}"
        done[link.line] = start + len(put)
    return body if lines is None else "\n".join(lines)
