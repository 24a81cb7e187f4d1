"""``co demo``: the round trip of a memory, in a scratch vault."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

from co_cli.knowledge import open_knowledge_at
from co_cli.surfaces.cli.loaded import budget_text
from co_cli.surfaces.cli.terminal import emit, line_of, paint

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterator

    from co_cli.knowledge import KnowledgeBase

_CONTEXT = """---
version: 1
updated: 2026-02-09T14:30:00Z
---

# Project

- Language: Python
- Tests: pytest, no mocks
"""


def demo_command(parser: ArgumentParser) -> Callable[[Namespace], None]:
    """See what co does: save, recall, list, prompt, forget, undo, with real files in a scratch vault.

    Your own vaults are not touched; the scratch vault is removed at the end.

    Examples:
        co demo
    """
    del parser  # it takes no arguments of its own
    return _demo


def _demo(arguments: Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="co-demo-") as scratch:
        kb = open_knowledge_at(
            home=os.path.join(scratch, "home"),
            state=os.path.join(scratch, "state"),
            project=os.path.join(scratch, "project"),
        )
        steps = []
        for command, shown in _round_trip(kb):
            steps.append({"command": command, "output": shown.replace(scratch, "…")})
            if not arguments.json:
                print(f"{paint('$ ' + command, 'bold')}\n{steps[-1]['output']}\n")
    closing = 'That was all in a scratch vault, and it is gone. For your own: co init, then co learn "…"'
    emit(arguments, {"steps": steps, "display": closing}, closing)


def _round_trip(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    kb.init()
    kb.update("context", text=_CONTEXT)
    first = kb.save("User prefers async/await over callbacks", tags=["python", "style"]).note
    yield 'co learn "User prefers async/await over callbacks" -t python -t style', f"✓ Saved memory 1\n{first.path}"
    yield f"cat {os.path.basename(first.path)}", first.text.rstrip()
    kb.save("We deploy on Fridays, after the tests are green", tags=["deploy"], pinned=True)
    yield 'co learn "We deploy on Fridays, after the tests are green" -t deploy --pin', "✓ Saved memory 2"
    found = kb.recall("async").hits
    yield "co recall async --why", "\n".join(f"[{hit.note.ref}] {hit.note.body}\nwhy: {hit.why}" for hit in found)
    yield "co list", "\n".join(map(line_of, kb.list().notes))
    prompt = kb.prompt("offline")
    knowledge = prompt.text[prompt.text.index("<system-reminder>\n") : prompt.text.index("</system-reminder>")]
    yield "co prompt        (the knowledge in it)", f"{knowledge}</system-reminder>\n{budget_text(prompt.context)}"
    kb.forget(["1"])
    yield "co forget 1", f"✓ Forgot memory 1; recall finds {len(kb.recall('async').hits)} notes now"
    kb.undo()
    yield "co undo", f"✓ Memory 1 is back: {kb.get('1').body}"
    yield "co log", "\n".join(f"{entry.position}  {entry.change.summary}" for entry in kb.log())
