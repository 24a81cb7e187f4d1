"""What is asked for in plain words is understood without a model; what is not understood changes nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from co_cli.agent.requests import read_request

UNDERSTOOD = [
    # remembering
    ("remember that we deploy on Fridays", "remember", "We deploy on Fridays"),
    ("Remember: we deploy on Fridays.", "remember", "We deploy on Fridays."),
    ("please remember we deploy on Fridays", "remember", "We deploy on Fridays"),
    ("Could you please remember that we deploy on Fridays?", "remember", "We deploy on Fridays"),
    ("can you remember that the tests need Docker", "remember", "The tests need Docker"),
    ("I want you to remember that I prefer tea", "remember", "I prefer tea"),
    ("I'd like you to remember that I prefer tea", "remember", "I prefer tea"),
    ("hey co, remember that I prefer tea", "remember", "I prefer tea"),
    ("ok, so please also remember that I prefer tea", "remember", "I prefer tea"),
    ("don't forget that the key rotates in May", "remember", "The key rotates in May"),
    ("do not forget the key rotates in May", "remember", "The key rotates in May"),
    ("Don’t forget".replace("’", "'") + " that Anna owns billing", "remember", "Anna owns billing"),
    ("note that Anna owns billing", "remember", "Anna owns billing"),
    ("Note: Anna owns billing", "remember", "Anna owns billing"),
    ("make a note that Anna owns billing", "remember", "Anna owns billing"),
    ("take a note: Anna owns billing", "remember", "Anna owns billing"),
    ("add a memory saying Anna owns billing", "remember", "Anna owns billing"),
    ("save that Anna owns billing", "remember", "Anna owns billing"),
    ("save this: Anna owns billing", "remember", "Anna owns billing"),
    ("save the note: Anna owns billing", "remember", "Anna owns billing"),
    ("store the fact that Anna owns billing", "remember", "Anna owns billing"),
    ("write down that Anna owns billing", "remember", "Anna owns billing"),
    ("jot down: Anna owns billing", "remember", "Anna owns billing"),
    ("keep in mind that Anna owns billing", "remember", "Anna owns billing"),
    ("bear in mind that Anna owns billing", "remember", "Anna owns billing"),
    ("memorize: Anna owns billing", "remember", "Anna owns billing"),
    ("memorise that Anna owns billing", "remember", "Anna owns billing"),
    ("learn that Anna owns billing", "remember", "Anna owns billing"),
    ('remember "Anna owns billing"', "remember", "Anna owns billing"),
    # recalling
    ("what do you remember about deploys?", "recall", "deploys"),
    ("what do you know about the staging server?", "recall", "the staging server"),
    ("what did I tell you about Anna?", "recall", "Anna"),
    ("what did we say about callbacks", "recall", "callbacks"),
    ("do you remember when we deploy?", "recall", "when we deploy"),
    ("do you know about the outage", "recall", "the outage"),
    ("have I told you about Anna?", "recall", "Anna"),
    ("recall deploys", "recall", "deploys"),
    ("remind me about the outage", "recall", "the outage"),
    ("remind me of the outage, please", "recall", "the outage, please"),
    ("tell me about Anna", "recall", "Anna"),
    # searching
    ("search for rollback", "search", "rollback"),
    ("search the knowledge base for rollback", "search", "rollback"),
    ("please search my notes for rollback steps", "search", "rollback steps"),
    ("find the rollback steps", "search", "the rollback steps"),
    ("look up rollback", "search", "rollback"),
    ("look for rollback", "search", "rollback"),
    ("grep rollback", "search", "rollback"),
    # listing
    ("list my memories", "list", ""),
    ("list all memories", "list", ""),
    ("list", "list", ""),
    ("show me all my notes", "list", ""),
    ("show me everything you know", "list", ""),
    ("what do you remember?", "list", ""),
    ("what do you know about me?", "list", ""),
    ("what's in your memory?", "list", ""),
    ("list topics", "topics", ""),
    ("show me the topics", "topics", ""),
    ("which topics are there?", "topics", ""),
    ("list the knowledge base", "topics", ""),
    # showing
    ("show 12", "show", "12"),
    ("show me memory 12", "show", "12"),
    ("show me note number 12, please".replace(", please", ""), "show", "12"),
    ("open topic:deploy_steps", "show", "topic:deploy_steps"),
    ("read g:3", "show", "g:3"),
    # forgetting
    ("forget 12", "forget", "12"),
    ("forget memory 12", "forget", "12"),
    ("please delete #12", "forget", "#12"),
    ("delete g:3", "forget", "g:3"),
    ("remove topic:deploy_steps", "forget", "topic:deploy_steps"),
    ("forget about callbacks", "forget", "callbacks"),
    ("forget the note about callbacks", "forget", "callbacks"),
    ("forget my memories about callbacks", "forget", "callbacks"),
    ("forget the one about callbacks", "forget", "callbacks"),
    ("delete the memory that says tea is better", "forget", "tea is better"),
    ("can you forget that I prefer tea?", "forget", "I prefer tea"),
    ("drop the note on callbacks", "forget", "callbacks"),
    # the rest
    ("undo", "undo", ""),
    ("undo the last change", "undo", ""),
    ("take that back", "undo", ""),
    ("help", "help", ""),
    ("what can you do?", "help", ""),
    ("how does this work?", "help", ""),
    ("thanks!", "thanks", ""),
    ("thank you very much", "thanks", ""),
    ("hello", "thanks", ""),
    # questions to the notes
    ("when do we deploy?", "ask", "when do we deploy?"),
    ("who owns billing", "ask", "who owns billing"),
    ("remember when we met?", "ask", "remember when we met?"),
    ("remember", "ask", "remember"),
    ("I like tea", "ask", "I like tea"),
    ("why did we forget the rollback?", "ask", "why did we forget the rollback?"),
    ("is there a note about tea?", "ask", "is there a note about tea?"),
]


@pytest.mark.parametrize(("text", "action", "about"), UNDERSTOOD)
def test_a_plain_request_is_understood(text: str, action: str, about: str) -> None:
    request = read_request(text)
    assert (request.action, request.about) == (action, about)


def test_there_are_many_ways_to_ask() -> None:
    assert len({text for text, _action, _about in UNDERSTOOD}) >= 60


@pytest.mark.parametrize(
    ("text", "about", "tags"),
    [
        ("remember that we deploy on Fridays #ops", "We deploy on Fridays", ("ops",)),
        ("remember #ops #team that we deploy", "That we deploy", ("ops", "team")),
        ("remember that issue #12 is Anna's", "Issue #12 is Anna's", ()),
        ("remember that C# is typed", "C# is typed", ()),
    ],
)
def test_words_with_a_hash_become_tags_and_numbers_stay(text: str, about: str, tags: tuple[str, ...]) -> None:
    request = read_request(text)
    assert (request.about, request.tags) == (about, tags)


@given(st.text(max_size=300))
def test_any_text_at_all_is_read_in_no_time(text: str) -> None:
    assert read_request(text).action


@pytest.mark.parametrize(
    "text", ["please " * 3000, "remember " * 3000, "the " * 5000 + "?", "show me " + "my " * 4000, " " * 20000]
)
def test_no_text_takes_long_to_read(text: str) -> None:
    import time

    started = time.process_time()
    read_request(text)
    assert time.process_time() - started < 1
