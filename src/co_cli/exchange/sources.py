"""What can be imported: every source by its name, with what it takes and what its importer is called.

Owns the list. An importer is loaded when it is needed, and takes the knowledge base and a path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import Invalid

if TYPE_CHECKING:
    from co_cli.exchange.report import ImportReport
    from co_cli.knowledge import KnowledgeBase

AS_WHAT, CONVERSATIONS = "as_what", "conversations"
"""What may be said to an importer beside where the notes go."""


class Source(NamedTuple):
    """Something that notes can be taken from."""

    module: str
    function: str
    meaning: str
    options: tuple[str, ...] = ()


SOURCES = {
    "json": Source("json_form", "import_json", "the older form of co: internal/context.json and memories/*.json"),
    "skynet": Source("skynet", "import_skynet", "a Skynet: its database, its folder, or its Markdown files"),
    "jsonl": Source("json_lines", "import_json_lines", "JSON Lines, as co knowledge --export writes them"),
    "markdown": Source("markdown", "import_markdown", "an export of co, or any folder of Markdown files", (AS_WHAT,)),
    "obsidian": Source("obsidian", "import_obsidian", "a vault of Obsidian", (AS_WHAT,)),
    "basic-memory": Source("basic_memory", "import_basic_memory", "a project of basic-memory"),
    "claude": Source("claude", "import_claude", "Claude Code: CLAUDE.md and its memory folders", (AS_WHAT,)),
    "codex": Source("codex", "import_codex", "Codex: AGENTS.md and its memories", (AS_WHAT,)),
    "gemini": Source("gemini", "import_gemini", "Gemini CLI: GEMINI.md and what it was told to remember", (AS_WHAT,)),
    "mem0": Source("mem0", "import_mem0", "memories of mem0 as JSON"),
    "mcp-memory": Source("mcp_memory", "import_mcp_memory", "the memory.jsonl of the MCP reference server"),
    "chatgpt": Source("chatgpt", "import_chatgpt", "the export of ChatGPT", (CONVERSATIONS,)),
    "claude-ai": Source("claude_ai", "import_claude_ai", "the export of claude.ai", (CONVERSATIONS,)),
}


def import_from(
    kb: KnowledgeBase,
    source: str,
    path: str,
    *,
    in_global: bool = False,
    dry_run: bool = False,
    as_what: str = "",
    conversations: bool = False,
) -> ImportReport:
    """Take notes in from a source of this name."""
    from importlib import import_module

    if source not in SOURCES:
        raise Invalid(f"There is no source {source!r}.", f"Sources: {', '.join(SOURCES)}.")
    found = SOURCES[source]
    options: dict[str, object] = {}
    for name, value in ((AS_WHAT, as_what), (CONVERSATIONS, conversations)):
        if value and name not in found.options:
            others = ", ".join(other for other, each in SOURCES.items() if name in each.options)
            flag = "--as" if name == AS_WHAT else "--conversations"
            raise Invalid(f"{flag} does not go with {source}.", f"It goes with {others}.")
        if value:
            options[name] = value
    importer = getattr(import_module(f"co_cli.exchange.{found.module}"), found.function)
    report: ImportReport = importer(kb, path, in_global=in_global, dry_run=dry_run, **options)
    return report
