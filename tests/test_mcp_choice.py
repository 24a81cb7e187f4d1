"""A model chooses a tool by its description: those of different tools are told apart by the words of plain requests.

No model is asked. The chooser here knows words only: those of a description, each weighed by how few of the tools have it.
Where even that finds the right tool, a model has an easy time.
"""

from __future__ import annotations

import math
import re

import pytest

from co_cli.surfaces.mcp.server import describe
from co_cli.tools import TOOLS

REQUESTS = {
    "save_memory": (
        "Remember this preference: I like tabs",
        "Keep in mind that I prefer short answers",
        "Save the fact that the build needs Python 3.12",
        "Note this decision for later sessions: we use SQLite",
        "Please remember the correction that I just made",
        "Keep a fact for later: the office closes at six",
        "Don't forget that I prefer pytest",
        "Save this small fact for all projects: my name is Ada",
    ),
    "recall_memory": (
        "Which small facts were kept about tabs?",
        "Find the fact about the office hours",
        "What facts do you recall about the build?",
        "Recall my preference for answers, by its words",
        "Find what was kept about pytest",
        "Look up the fact with the ref 12",
        "Do you recall which database we kept?",
    ),
    "list_memories": (
        "List every small fact",
        "List all facts with their first line",
        "Give me every memory, one line each",
        "Show every fact that you have, with its tags, in a list",
    ),
    "knowledge_search": (
        "Search the shared topics for deployment",
        "Search the knowledge for how we release",
        "What do the documents say about discord? Search their full content",
        "Search by meaning for notes on model families",
        "Look in the topics for the words blue-green, best first",
        "Search the knowledge entries on backups",
    ),
    "knowledge_write": (
        "Write a document on how to deploy",
        "Create a shared topic called release_steps",
        "Replace the text of the topic on backups",
        "Write this down as a whole document in Markdown",
        "Create a topic with these instructions",
        "Replace the document about hosting with this text",
    ),
    "knowledge_list": (
        "List all shared topics",
        "Which topics are there, with their tags and sources?",
        "List the topics that everybody shares",
        "Show the list of the knowledge topics and their sources",
    ),
    "knowledge_delete": (
        "Delete the topic on discord",
        "Remove the topic old_hosting",
        "Remove the note 12",
        "Delete what is kept under the ref 7",
        "Remove any note on the old office",
    ),
    "web_fetch": (
        "Fetch https://example.org/page",
        "Fetch the page at this address as Markdown",
        "What does this URL say? Fetch it",
        "Read the PDF at https://example.org/paper.pdf",
        "Open the page https://example.org and summarise it",
    ),
    "save_knowledge": (
        "Keep this article with its source",
        "Save the article that you just read",
        "Keep the article on herons, and say where it comes from",
        "Save this web page as an article",
        "Keep what was read there, with the title and the URL it comes from",
    ),
}
_SAYING_NOTHING = """
a about all an and are as at by do does down for from give have how i if in is it its just me my no of on one or our out
please so such than that the their there these this to under up was we were what which with you your
"""
_STOP = frozenset(_SAYING_NOTHING.split())


def _words(text: str) -> set[str]:
    """Words by their stems, roughly."""
    found = set()
    for word in re.findall(r"[a-z]+", text.lower().replace("_", " ")):
        if word not in _STOP:
            stem = re.sub(r"(?:ies|y)$", "i", word)
            found.add(re.sub(r"(?:ing|ences?|ed|es|s|e)$", "", stem) if len(stem) > 3 else stem)
    return found


def _vocabularies() -> dict[str, set[str]]:
    tools = [describe(name) for name in TOOLS]
    return {tool.name: _words(f"{tool.name} {tool.description} {' '.join(_meanings(tool.input_schema))}") for tool in tools}


def _meanings(schema: dict) -> list[str]:
    return [parameter["description"] for parameter in schema["properties"].values()]


def _choice(request: str) -> str:
    known = _vocabularies()
    scores = dict.fromkeys(known, 0.0)
    for word in _words(request):
        holders = [name for name, words in known.items() if word in words]
        for name in holders:
            scores[name] += math.log(1 + len(known) / len(holders)) / math.sqrt(math.sqrt(len(known[name])))
    return max(scores, key=lambda name: scores[name])


def test_there_are_fifty_requests_and_some_for_every_tool() -> None:
    assert set(REQUESTS) == set(TOOLS)
    assert sum(map(len, REQUESTS.values())) == 50


@pytest.mark.parametrize(("tool", "request_text"), [(tool, text) for tool, texts in REQUESTS.items() for text in texts])
def test_the_words_of_a_plain_request_lead_to_its_tool(tool: str, request_text: str) -> None:
    assert _choice(request_text) == tool


def test_a_chooser_without_descriptions_would_do_much_worse() -> None:
    """So that the test above says something: by the names alone, many requests go wrong."""
    right = 0
    for tool, texts in REQUESTS.items():
        for text in texts:
            scores = {name: len(_words(text) & _words(name)) for name in TOOLS}
            best = max(scores.values())
            right += scores[tool] == best and list(scores.values()).count(best) == 1
    assert right < 38
