"""The tools of the shared knowledge base: searching topics and articles, writing, listing and deleting topics.

Owns what each takes, and the words in which its result is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import Denied, Invalid, NotFound
from co_cli.knowledge import ARTICLE, GLOBAL, TOPIC
from co_cli.tools.tool import TAGS, Answer, Caller, Parameter, Tool, marks, tags_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from co_cli.knowledge import Hit, KnowledgeBase, Note
    from co_cli.tools.tool import Given

ENTRIES = 5
"""Entries that a search returns at most."""


class _Entry(NamedTuple):
    """What a search returns of a note: all of a topic, of an article the passage that answers."""

    note: Note
    content: str
    cite: str
    page: int
    score: float
    why: str


def _search(kb: KnowledgeBase, given: Given, caller: Caller) -> Answer:
    query = str(given["query"])
    if not query.strip():
        raise Invalid("The query is empty.", "Say in a few words what to look for; knowledge_list lists everything.")
    named = _named(kb, query)
    if named:
        return _found(query, [named] if caller.private or not named.note.private else [], "ref", ())
    found = kb.recall(query, kinds=(TOPIC, ARTICLE), limit=ENTRIES if caller.private else 4 * ENTRIES)
    hits = [hit for hit in found.hits if caller.private or not hit.note.private][:ENTRIES]
    return _found(query, [_as_entry(hit) for hit in hits], found.mode, found.degraded)


def _named(kb: KnowledgeBase, query: str) -> _Entry | None:
    """The topic or article that a query names by its ref, or the part of one that it names by a citation."""
    try:
        part = kb.part(query)
    except (Invalid, NotFound):
        return None
    if part.note.kind not in (TOPIC, ARTICLE):
        return None
    cite = part.note.ref if part.is_whole else query.strip()
    return _Entry(part.note, part.text, cite, part.page, 1.0, "named by its ref")


def _as_entry(hit: Hit) -> _Entry:
    if hit.note.kind == TOPIC:
        return _Entry(hit.note, hit.note.body, hit.note.ref, 0, hit.score, str(hit.why))
    return _Entry(hit.note, hit.content, hit.cite, hit.page, hit.score, str(hit.why))


def _found(query: str, entries: list[_Entry], mode: str, degraded: tuple[str, ...]) -> Answer:
    notes = tuple(entry.note for entry in entries)
    asked = query if len(query) <= _SHOWN else f"{query[:_SHOWN]}…"
    display = f"No knowledge entries found for {asked!r}."
    if entries:
        shown = "\n\n".join(f"### {_heading(entry, notes)}{_bracketed(entry.note)}\n\n{entry.content}" for entry in entries)
        display = f"{_counted(len(notes))} for {asked!r}:\n\n{shown}"
    results = [_result(entry) for entry in entries]
    return Answer(
        {
            "display": display,
            "query": query,
            "count": len(notes),
            "mode": mode,
            "degraded": [*degraded],
            "results": results,
        },
        notes,
    )


def _heading(entry: _Entry, among: tuple[Note, ...]) -> str:
    return name_of(entry.note, among) if entry.note.kind == TOPIC else f"{entry.note.title} [{entry.cite}]"


def _result(entry: _Entry) -> dict[str, object]:
    place: dict[str, object] = {"cite": entry.cite, **({"page": entry.page} if entry.page else {})}
    return {**_entry(entry.note), **place, "content": entry.content, "score": entry.score, "why": entry.why}


def _write(kb: KnowledgeBase, given: Given, caller: Caller) -> Answer:
    name, content = str(given["topic"]), str(given["content"])
    if not caller.private:
        _refuse_private(kb, name)
    saved = kb.write_topic(name, content, tags=tags_of(given), source=caller.source)
    note = saved.note
    display = {
        "created": f"✓ Created topic {note.slug}{_bracketed(note)}",
        "updated": f"✓ Updated topic {note.slug}{_bracketed(note)}; `co undo` brings its old text back.",
        "unchanged": f"Topic {note.slug} says this already: nothing was changed.",
    }[saved.outcome]
    return Answer({"display": display, "outcome": saved.outcome, **_entry(note), "path": note.path}, (note,))


def topic_to_write(kb: KnowledgeBase, name: str, caller: Caller) -> tuple[str, str, bool]:
    """The vault and the slug of the topic that a name means, and whether it is there."""
    from co_cli import topic

    if not caller.private:
        _refuse_private(kb, name)
    vault, slug = topic.home(kb.vaults, name, in_global=False)
    known = topic.find(vault, slug)
    return vault.name, known.slug if known else slug, known is not None


def _refuse_private(kb: KnowledgeBase, name: str) -> None:
    try:
        note = kb.topic(name)
    except NotFound:
        return
    if note.private:
        raise Denied(f"The topic {note.slug} is private: it is not for this caller.", "Choose another name.")


def _list(kb: KnowledgeBase, _given: Given, caller: Caller) -> Answer:
    listing = kb.topics()
    notes = tuple(note for note in listing.notes if caller.private or not note.private)
    return Answer({"display": table(notes), "count": len(notes), "topics": [_entry(note) for note in notes]})


def _delete(kb: KnowledgeBase, given: Given, caller: Caller) -> Answer:
    note = note_to_delete(kb, str(given["topic"]), caller)
    from co_cli.learning.summaries.derivation import forget

    forgotten, derived = forget(kb, [note.ref])
    (gone,) = forgotten.notes
    if gone.kind == TOPIC:
        display = f"✓ Deleted topic {gone.slug}; `co undo` brings it back."
        return Answer({"display": display, "topic": gone.slug, "ref": gone.ref, **marks(gone)})
    told = [str(each) for each in derived if caller.private or not each.note.private]
    display = "\n".join([f"✓ Forgot {gone.label}; `co undo` brings it back.", *told])
    return Answer({"display": display, "ref": gone.ref, **marks(gone)})


def note_to_delete(kb: KnowledgeBase, name: str, caller: Caller) -> Note:
    """The note that a name or a ref means, if the caller may know of it."""
    ref = kb.ref(name)
    is_topic = not ref or ref.lstrip("gp:").startswith("topic:")
    note = kb.topic(name) if is_topic else kb.named(ref)
    if note.private and not caller.private:
        lists = "knowledge_list" if is_topic else "list_memories"
        raise NotFound(f"There is no {'topic' if is_topic else 'note'} {name}.", f"{lists} lists what there is.")
    return note


def table(notes: Iterable[Note]) -> str:
    """Topics as a table, as an agent gets it."""
    notes = tuple(notes)
    if not notes:
        return "0 knowledge entries."
    rows = [(name_of(note, notes), ",".join(note.tags), note.source or "user") for note in notes]
    lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join([f"{_counted(len(notes))}:", "", "| Topic | Tags | Source |", "|-------|------|--------|", *lines])


def name_of(note: Note, among: Iterable[Note]) -> str:
    """The name by which a topic is shown and found: its slug; one for all projects says so where the project has its own."""
    twice = note.vault == GLOBAL and any(other.slug == note.slug and other.vault != GLOBAL for other in among)
    return f"g:{note.slug}" if twice else note.slug


def _bracketed(note: Note) -> str:
    return f" [{','.join(note.tags)}]" if note.tags else ""


def _entry(note: Note) -> dict[str, object]:
    return {
        "topic": note.slug,
        "ref": note.ref,
        "tags": [*note.tags],
        "source": note.source,
        "created": note.created,
        "updated": note.updated,
        **marks(note),
    }


def _counted(count: int) -> str:
    return f"{count} knowledge {'entry' if count == 1 else 'entries'}"


_SHOWN = 80
_TOPIC = Parameter("name of the topic, such as deploy_steps")

TOPIC_TOOLS = (
    Tool(
        "knowledge_search",
        "Search shared topics and saved articles by words and meaning. Returns up to 5 entries, best first: topics in full, "
        "of articles the passage that answers. Cite it by its `cite`.",
        {"query": Parameter("words to look for, or a ref or cite such as article:rfc-9110#routing")},
        _search,
    ),
    Tool(
        "knowledge_write",
        "Create a shared topic, or replace the text of the one that is there. Write a whole document in Markdown.",
        {
            "topic": _TOPIC,
            "content": Parameter("the whole text, in Markdown"),
            "tags": Parameter("tags, as a list or as a text with commas", TAGS, required=False),
        },
        _write,
        writes=True,
        destructive=True,
        idempotent=True,
    ),
    Tool("knowledge_list", "List all shared topics with their tags and sources.", {}, _list),
    Tool(
        "knowledge_delete",
        "Remove a shared topic, or any note by its ref.",
        {"topic": Parameter("name of the topic, or the ref of a note, such as 12")},
        _delete,
        writes=True,
        destructive=True,
        idempotent=True,
    ),
)
