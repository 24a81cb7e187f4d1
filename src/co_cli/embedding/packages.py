"""The files of models that come inside of installed packages.

Owns finding, mapping and recognising them without importing anything: the packages that carry models take up to 300 ms to
be imported. Owns also what the engine that runs them is told before its import, so that nothing leaves this machine.
"""

from __future__ import annotations

import os
import sys
from mmap import ACCESS_READ, mmap

from co_cli.embedding import SEMANTIC_UNAVAILABLE
from co_cli.errors import Unavailable

_SAMPLES, _SAMPLE = 16, 4096


def find_folder(package: str) -> str:
    """The folder of an installed package, or an empty string."""
    for place in sys.path:
        folder = os.path.join(place, package)
        if os.path.isfile(os.path.join(folder, "__init__.py")):
            return folder
    return ""


def keep_onnxruntime_silent() -> None:
    """Called before onnxruntime is imported: from its import on it reports to its makers, unless this is said before."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"


def mapped(path: str) -> mmap:
    """A file as bytes that are read when they are looked at; an empty one is a ``ValueError``."""
    with open(path, "rb") as file:
        return mmap(file.fileno(), 0, access=ACCESS_READ)


def sampled(*contents: mmap) -> str:
    """What tells one model's files from another's; samples, since every query asks, and the whole would take 20 to 90 ms."""
    from zlib import crc32

    checksum = 0
    for content in contents:
        for place in range(0, len(content), max(1, len(content) // _SAMPLES)):
            checksum = crc32(content[place : place + _SAMPLE], checksum)
        checksum = crc32(b"%d" % len(content), checksum)
    return f"{checksum:08x}"


def unavailable(message: str, hint: str) -> Unavailable:
    """The error that takes the vectors away, and leaves text search as it was."""
    return Unavailable(message, hint, code=SEMANTIC_UNAVAILABLE)
