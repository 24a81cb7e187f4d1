"""The user's editor: which one it is, and running it on a draft.

Owns the choice of the command, and what Ctrl-C means while it runs. Knows nothing of what is edited.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from co_cli.errors import Invalid, Unavailable
from co_cli.surfaces.cli.terminal import interactive

if TYPE_CHECKING:
    from co_cli.knowledge import KnowledgeBase


def run_editor(command: list[str], draft: str) -> None:
    """Let the user edit a draft; raises ``Unavailable`` where the editor does not come to a good end."""
    import signal
    import subprocess

    shown = None if sys.stdout.isatty() else 2  # to stderr: what the editor prints is no result of ours
    # Ctrl-C belongs to the editor while it runs, which may go on: to die of it would end the editor with all that was typed.
    # Unlike SIG_IGN, a handler is not handed down to the editor.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        code = subprocess.run([*command, draft], check=False, stdout=shown).returncode
    except OSError as error:
        raise Unavailable(f"The editor {command[0]!r} cannot be started.", "Set another: co config set editor …") from error
    finally:
        signal.signal(signal.SIGINT, before)
    if code < 0:
        raise Unavailable(f"The editor was ended by the signal {-code}: nothing was changed.")
    if code:
        raise Unavailable(f"The editor ended with the code {code}: nothing was changed.")


def edit_text(kb: KnowledgeBase, text: str, purpose: str) -> str:
    """A text as the user leaves it in the editor; raises ``Unavailable`` where that went wrong."""
    import tempfile
    from contextlib import suppress

    command = editor_of(kb)
    handle, draft = tempfile.mkstemp(prefix=f"co-{purpose}-", suffix=".md")
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(f"{text}\n")
        run_editor(command, draft)
        with open(draft, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Unavailable(f"The draft cannot be read: {error}.", "Nothing was changed.") from error
    finally:
        with suppress(OSError):
            os.unlink(draft)


def editor_of(kb: KnowledgeBase) -> list[str]:
    """The command of the user's editor."""
    import shlex
    import shutil

    chosen = kb.settings().value("editor") or os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not chosen:
        if not interactive():
            raise Unavailable("No editor is set, and this is no terminal.", "Use: co edit REF --content TEXT")
        chosen = next((name for name in ("editor", "nano", "vim", "vi", "notepad") if shutil.which(name)), "")
    if not chosen:
        raise Unavailable("No editor was found.", "Set one: co config set editor …")
    try:
        return shlex.split(chosen)
    except ValueError as error:
        raise Invalid(
            f"The editor {chosen!r} cannot be read as a command: {error}.", "Set it: co config set editor …"
        ) from error
