"""Calls that are to wait for a yes: from what a tool is called with to a proposal in the inbox, and what the caller is told.

Owns that mapping, one function for each tool that writes. Knows nothing of protocols.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from co_cli.errors import Denied
from co_cli.knowledge import GLOBAL, PROJECT
from co_cli.learning import inbox
from co_cli.learning.inbox import Evidence, Proposal
from co_cli.note import clean_tags
from co_cli.tools.articles import article_to_save
from co_cli.tools.tool import Answer, Caller, tags_of
from co_cli.tools.topics import note_to_delete, topic_to_write

if TYPE_CHECKING:
    from collections.abc import Callable

    from co_cli.knowledge import KnowledgeBase
    from co_cli.learning.proposal import Value
    from co_cli.tools.tool import Given, Tool


def proposed(kb: KnowledgeBase, tool: Tool, given: Given, caller: Caller) -> Answer:
    """Put what a call would write into the inbox instead; tells that it waits, and for whom."""
    if tool.name not in PROPOSALS:
        hint = "The user may allow it: co config set mcp_writes ask"
        raise Denied(f"Notes are not to be changed from here, and {tool.name} cannot be proposed.", hint)
    who = caller.session or caller.surface
    proposal = PROPOSALS[tool.name](kb, given, caller)
    proposal = proposal._replace(evidence=Evidence(session=who), reason=f"{who} called {tool.name}")
    (outcome,) = inbox.propose(kb, [proposal])
    if outcome.error:
        raise outcome.error
    waits = outcome.state in (inbox.PROPOSED, inbox.WAITING)
    data: dict[str, object] = {"outcome": outcome.state, "saved": False}
    if waits:
        data.update(proposal=outcome.proposal.ref, review=f"co review {outcome.proposal.ref}")
    return Answer({"display": _told(outcome), **data})


def _told(outcome: inbox.Outcome) -> str:
    ref = outcome.proposal.ref
    how = f"The user answers it with `co review {ref}`."
    return {
        inbox.PROPOSED: f"Nothing is changed yet: this waits for the user's yes, as {ref}. {how} Go on without it.",
        inbox.WAITING: f"This waits for the user's yes already, as {ref}. {how} There is no need to ask for it again.",
        inbox.REJECTED: "The user has said no to this before, so it is not proposed again. Nothing is changed.",
        inbox.NOTHING: "This is known already: there is nothing to change.",
    }[outcome.state]


def _save_memory(kb: KnowledgeBase, given: Given, caller: Caller) -> Proposal:
    del kb
    fields: dict[str, Value] = {"tags": _tags(given), "source": caller.memory_source}
    fields.update({name: str(given.get(name, "")) for name in ("key", "category")})
    vault = GLOBAL if given.get("everywhere") else PROJECT
    return Proposal("draft", vault, "save", str(given["content"]), _without_empty(fields))


def _knowledge_write(kb: KnowledgeBase, given: Given, caller: Caller) -> Proposal:
    vault, slug, there = topic_to_write(kb, str(given["topic"]), caller)
    fields: dict[str, Value] = {"name": slug, "source": caller.source}
    if tags_of(given) is not None:
        fields["tags"] = _tags(given)
    return Proposal("update" if there else "draft", vault, "topic", str(given["content"]), fields)


def _knowledge_delete(kb: KnowledgeBase, given: Given, caller: Caller) -> Proposal:
    note = note_to_delete(kb, str(given["topic"]), caller)
    marks: dict[str, Value] = {"private": True} if note.private else {}
    return Proposal("expiry", note.vault, "forget", fields=marks, refs=(note.ref,))


def _save_knowledge(kb: KnowledgeBase, given: Given, caller: Caller) -> Proposal:
    source, known = article_to_save(kb, given, caller)
    fields: dict[str, Value] = {"source": source, "title": str(given["title"]), "tags": _tags(given)}
    vault = known.vault if known else PROJECT
    return Proposal("update" if known else "draft", vault, "article", str(given["content"]), _without_empty(fields))


def _tags(given: Given) -> list[str]:
    return [*clean_tags(tags_of(given) or ())]


def _without_empty(fields: dict[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in fields.items() if value}


PROPOSALS: dict[str, Callable[[KnowledgeBase, Given, Caller], Proposal]] = {
    "save_memory": _save_memory,
    "knowledge_write": _knowledge_write,
    "knowledge_delete": _knowledge_delete,
    "save_knowledge": _save_knowledge,
}
"""What each tool that writes would propose."""
