"""A process of its own in which documents from elsewhere are read.

A library that crashes, hangs or fills the memory over a broken document takes that process down, and the document gets its
line in the report. Owns both ends: who asks, and who reads. The process is kept for the next document, since its libraries
take up to 200 ms to be loaded; it ends with who started it, or when nothing is asked of it, or once it is large. Of
the environment it gets what finds Python, and none of the keys that may stand there. Knows nothing of any kind.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

from co_cli.articles.extraction.document import MEGABYTE, TOO_SLOW, Extracted, Original, broken, too_large
from co_cli.errors import CoError, Corrupt, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from co_cli.articles.extraction.document import Reading

PATIENCE = 120.0
"""Seconds without a sign of life after which the reading of a document is given up."""
_IDLE = 60.0
_MEMORY = 1536 * MEGABYTE
"""What the process may take; OCR takes 400 MB."""
_LARGE = 450 * MEGABYTE
"""What it may have taken at most and still be kept."""
_VARIABLES = """
COMSPEC DYLD_LIBRARY_PATH HOME LANG LD_LIBRARY_PATH PATH PYTHONHOME PYTHONPATH PYTHONUTF8 SYSTEMROOT TEMP TMP TMPDIR
USERPROFILE VIRTUAL_ENV
"""
_SETTINGS = {
    "MALLOC_MMAP_THRESHOLD_": str(
        8 * MEGABYTE
    ),  # what is large and no longer needed goes back to the system: OCR takes a third less
    "MALLOC_TRIM_THRESHOLD_": str(8 * MEGABYTE),
    "OMP_NUM_THREADS": "2",
    "OPENBLAS_NUM_THREADS": "1",
    "OPENCV_FOR_THREADS_NUM": "2",
    "PYTHONWARNINGS": "ignore",
}
_START = "from co_cli.articles.extraction.reader import serve; serve()"
_TAKEN, _ALIVE = b'{"taken": true}\n', b'{"alive": true}\n'
_ATTEMPTS = 2


class Desk:
    """Where documents are handed in to be read, one after the other, whichever thread brings them."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._heard: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def read(self, reading: str, original: Original) -> Extracted:
        """Have a document read by a function, named as ``module:function``."""
        import json

        answer = b""
        with self._lock:
            for _ in range(_ATTEMPTS):
                answer = b""
                try:
                    answer = self._asked(reading, original)
                finally:
                    if not answer.endswith(b"\n"):  # interrupted, crashed or stuck: nothing more is to be had from it
                        self._end()
                if answer != _TAKEN[:-1]:
                    break
        if not answer.endswith(b"\n"):
            raise _STOPPED.get(answer, broken("document", "what reads it crashed over it"))
        said = json.loads(answer)
        if "error" in said:
            raise _ERRORS.get(said["error"].pop("kind"), Corrupt)(**said["error"])
        found = said["found"]
        return Extracted(**{**found, "tags": tuple(found["tags"]), "notices": tuple(found["notices"])})

    def close(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            self._end()

    def _asked(self, reading: str, original: Original) -> bytes:
        """The line that answers; without an end where there is none, it says how far things went."""
        import json

        process = self._running()
        head = {"reading": reading, **original._asdict(), "raw": len(original.raw)}
        pipe = cast("BinaryIO", process.stdin)
        try:
            pipe.write(json.dumps(head).encode() + b"\n")
            pipe.write(original.raw)
            pipe.flush()
        except OSError:  # it ended itself at that very moment
            return _TAKEN[:-1]
        taken = False
        while True:
            try:
                line = self._heard.get(timeout=self._patience)
            except queue.Empty:
                return b"slow"
            if line == _TAKEN:
                taken = True
            elif line != _ALIVE:
                return line or (b"crashed" if taken else _TAKEN[:-1])

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and (self._owner != os.getpid() or self._process.poll() is not None):
            self._end()
        if self._process is None:
            import atexit

            wanted = _VARIABLES.split()
            variables = {name: value for name, value in os.environ.items() if name.upper() in wanted or name[:3] == "LC_"}
            variables |= _SETTINGS
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-c", _START],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=variables,
                    start_new_session=True,  # Ctrl-C is for who started it
                )
            except OSError as error:
                raise Unavailable(f"The process that reads documents cannot be started: {error}.", "Try again.") from error
            self._owner = os.getpid()
            self._heard = queue.SimpleQueue()
            threading.Thread(target=_listen, args=(self._process.stdout, self._heard.put), daemon=True).start()
            atexit.unregister(self.close)
            atexit.register(self.close)
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if self._owner == os.getpid():
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError, ValueError):
                if pipe is not None and (pipe is process.stdin or self._owner == os.getpid()):
                    pipe.close()


def _listen(pipe: BinaryIO, hear: Callable[[bytes], None]) -> None:
    with suppress(OSError, ValueError):  # closed while it was listened to
        for line in pipe:
            hear(line)
    hear(b"")


_STOPPED = {
    b"slow": Corrupt(
        "This document takes too long to be read.",
        "Open it with the program that made it, save it again or only the part that matters, and add that.",
        code=TOO_SLOW,
    )
}
_ERRORS = {kind.kind: kind for kind in CoError.__subclasses__()}
_DESK = Desk()


def read_apart(reading: str, original: Original) -> Extracted:
    """Have a document read in the process of its own."""
    return _DESK.read(reading, original)


def serve() -> None:
    """What the process does: it reads what it is handed, until nobody hands it anything more."""
    import json
    import logging
    import warnings

    asked, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):  # what a library prints is no answer
        os.dup2(nowhere, number)
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    _limit()

    def say(line: bytes) -> None:
        answers.write(line)
        answers.flush()

    requests: queue.SimpleQueue[tuple[str, Original]] = queue.SimpleQueue()
    threading.Thread(target=_take, args=(asked, requests.put), daemon=True).start()
    with suppress(queue.Empty, OSError):
        while True:
            reading, original = requests.get(timeout=_IDLE)
            say(_TAKEN)
            answer = _answer(reading, original, lambda: say(_ALIVE))
            del original
            say(json.dumps(answer).encode() + b"\n")
            if _taken_memory() > _LARGE:
                break
    os._exit(0)  # there is nothing to tidy up, and libraries take their time over it


def _take(pipe: BinaryIO, put: Callable[[tuple[str, Original]], None]) -> None:
    import json

    for line in pipe:
        head: dict[str, Any] = json.loads(line)
        head["raw"] = pipe.read(head["raw"])
        put((head.pop("reading"), Original(**head)))
    os._exit(0)  # who asked is gone


def _answer(reading: str, original: Original, alive: Callable[[], None]) -> dict[str, object]:
    from importlib import import_module

    module, _, name = reading.partition(":")
    try:
        read = cast("Reading", getattr(import_module(module), name))
        return {"found": asdict(read(original, alive))}
    except CoError as error:
        failed = error
    except MemoryError:
        failed = too_large("document", f"it takes more than {_MEMORY // MEGABYTE:,} MB to be read")
    except RecursionError:
        failed = broken("document", "its parts lie too deep in one another")
    except ImportError as error:
        failed = Unavailable(
            f"What reads this document cannot be loaded: {error}.",
            "Install it again: pip install --force-reinstall 'co-cli[articles]'",
        )
    except Exception as error:  # noqa: BLE001 - libraries have errors of many kinds for broken documents
        failed = broken("document", f"{type(error).__name__} while reading it")
    return {"error": {"kind": failed.kind, "message": failed.message, "hint": failed.hint, "code": failed.code}}


def _limit() -> None:
    """Bound what the process may take, where the system can, and leave no trace of a crash."""
    sys.setrecursionlimit(3000)
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))


def _taken_memory() -> int:
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) * 1024
    except (OSError, StopIteration):
        return 0
