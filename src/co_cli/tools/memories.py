"""The tools of the memory: keeping, finding and listing small facts.

Owns what each takes, and the words in which its result is told.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from co_cli.errors import Invalid
from co_cli.knowledge import MEMORY, Why
from co_cli.learning.relations.pairs import compare
from co_cli.tools.tool import FLAG, NUMBER, TAGS, Answer, Caller, Parameter, Tool, marks, meant, tags_of

if TYPE_CHECKING:
    from co_cli.knowledge import KnowledgeBase, Note
    from co_cli.tools.tool import Given

RESULTS, MOST = 5, 50
"""Memories that a search returns where nothing is said, and at most."""


def _save(kb: KnowledgeBase, given: Given, caller: Caller) -> Answer:
    saved = kb.save(
        str(given["content"]),
        tags=tags_of(given) or (),
        in_global=bool(given.get("everywhere")),
        category=str(given.get("category", "")),
        key=str(given.get("key", "")),
        source=caller.memory_source,
    )
    note = saved.note
    if note.private and not caller.private:  # what a private note says is not for everybody
        return Answer({"display": "This is known already.", "outcome": "unchanged"})
    display = {
        "created": f"✓ Saved memory {note.ref}: {os.path.basename(note.path)}\nLocation: {note.path}",
        "updated": f"✓ Updated memory {note.ref}: {os.path.basename(note.path)}\nLocation: {note.path}",
        "unchanged": f"Memory {note.ref} already says this: {note.summary}",
    }[saved.outcome]
    data: dict[str, object] = {"memory_id": note.id, "ref": note.ref, "path": note.path, "outcome": saved.outcome}
    if saved.outcome != "unchanged":
        compared = compare(kb, note, private=caller.private)
        display = "\n".join((display, *compared.sentences))
        data.update({"related": [*compared.data]} if compared.data else {})
    return Answer({"display": display, **data, **marks(note)}, (note,))


def _recall(kb: KnowledgeBase, given: Given, caller: Caller) -> Answer:
    query, limit = str(given["query"]), int(str(given.get("max_results", RESULTS)))
    if not query.strip():
        raise Invalid("The query is empty.", "Say in a few words what to look for; list_memories lists everything.")
    if not 1 <= limit <= MOST:
        raise Invalid(f"max_results must be between 1 and {MOST}, not {limit}.", "Leave it out for 5.")
    note = meant(kb, query, (MEMORY,))
    if note:
        superseded = f"superseded by {note.superseded_by}" if note.superseded_by else None
        why = Why("named by its ref", (), (), standing=superseded)
        return _recalled(query, [(note, why, ())] if caller.private or not note.private else [], "ref", ())
    # enough to fill the answer where private ones have to be left out
    found = kb.recall(query, limit=limit if caller.private else 4 * limit, kinds=(MEMORY,))
    allowed = [(hit.note, hit.why, hit.stale) for hit in found.hits if caller.private or not hit.note.private]
    return _recalled(query, allowed[:limit], found.mode, found.degraded)


def _recalled(query: str, found: list[tuple[Note, Why, tuple[str, ...]]], mode: str, degraded: tuple[str, ...]) -> Answer:
    notes = tuple(note for note, _why, _stale in found)
    shown = query if len(query) <= _SHOWN else f"{query[:_SHOWN]}…"
    display = f"No memories found matching '{shown}'"
    if notes:
        lines = [f"Found {_counted(len(notes))} matching '{shown}':"]
        for note, why, stale in found:
            lines += ["", f"**Memory {note.ref}** (created {note.created[:10]})"]
            lines += [f"Tags: {', '.join(note.tags)}"] if note.tags else []
            lines += [why.standing.capitalize()] if why.standing else []
            lines.append(note.body)
            lines += [f"(This may be out of date: {'; '.join(stale)}.)"] if stale else []
        display = "\n".join(lines)
    results = [
        {**_entry(note), "content": note.body, "why": str(why), **({"stale": [*stale]} if stale else {})}
        for note, why, stale in found
    ]
    data: dict[str, object] = {"query": query, "count": len(notes), "mode": mode, "degraded": [*degraded]}
    return Answer({"display": display, **data, "results": results}, notes)


def _list(kb: KnowledgeBase, _given: Given, caller: Caller) -> Answer:
    notes = tuple(note for note in kb.list().notes if caller.private or not note.private)
    if not notes:
        return Answer({"display": "No memories saved yet.", "count": 0, "memories": []})
    lines = [f"Total memories: {len(notes)}", ""]
    for note in notes:
        tags = f" [{', '.join(note.tags)}]" if note.tags else ""
        superseded = f", superseded by {note.superseded_by}" if note.superseded_by else ""
        lines.append(f"**{note.ref}** ({note.created[:10]}{superseded}){tags}: {note.summary}")
    memories = [{**_entry(note), "summary": note.summary} for note in notes]
    return Answer({"display": "\n".join(lines), "count": len(notes), "memories": memories})


def _entry(note: Note) -> dict[str, object]:
    return {"ref": note.ref, "id": note.id, "tags": [*note.tags], "created": note.created, **marks(note)}


def _counted(count: int) -> str:
    return f"{count} {'memory' if count == 1 else 'memories'}"


_SHOWN = 80

MEMORY_TOOLS = (
    Tool(
        "save_memory",
        "Keep a small fact for later sessions: a preference, a decision, a correction. One sentence that stands by itself.",
        {
            "content": Parameter("the fact, in one sentence"),
            "tags": Parameter("tags, as a list or as a text with commas", TAGS, required=False),
            "key": Parameter("a name under which a later text replaces this one", required=False),
            "category": Parameter("user_preferences, project_insights or learned_facts", required=False),
            "everywhere": Parameter("for all projects, not only this one", FLAG, required=False),
        },
        _save,
        writes=True,
        idempotent=True,
    ),
    Tool(
        "recall_memory",
        "Find or look up small facts that were kept, by their words or their ref. Returns the best with their whole text.",
        {
            "query": Parameter("words that the fact would use, or its ref, such as 12"),
            "max_results": Parameter("at most so many, 5 if left out", NUMBER, required=False),
        },
        _recall,
    ),
    Tool("list_memories", "List every small fact with its ref, tags and first line.", {}, _list),
)
