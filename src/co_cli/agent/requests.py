"""What a person asks for in plain words, as far as it can be told without a model.

Owns the patterns of requests. Pure: from a text to an action and what it is about. What fits no pattern is a question to
the notes, and that is always a safe reading: it changes nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

REMEMBER, RECALL, LIST, SHOW, FORGET, SEARCH, TOPICS, HELP, THANKS, UNDO, ASK = (
    *("remember", "recall", "list", "show", "forget", "search", "topics", "help", "thanks", "undo", "ask"),
)


class Request(NamedTuple):
    """What is wanted, and what it is about."""

    action: str
    about: str = ""
    tags: tuple[str, ...] = ()


_POLITE = (
    r"(?:(?:hey|hi|hello|ok(?:ay)?|so|and|now|co|please|pls)\b[\s,:!]*)*"
    r"(?:(?:(?:can|could|would|will)\s+you|i(?:'d| would)\s+like\s+you\s+to|i\s+want\s+you\s+to|let'?s|you\s+should)\s+)?"
    r"(?:(?:please|also|kindly|just)\s+)*"
)
_MINE = r"(?:the\s+|my\s+|our\s+|all\s+|of\s+|your\s+|every\s+)*"
_NOTE = r"(?:memor(?:y|ies)|notes?|facts?|entr(?:y|ies))"
_REF = r"(?P<ref>#?\d+|[gp]:(?:(?:memory|topic|article):)?[\w.-]+|(?:memory|topic|article):[\w.-]+|context)"
_THAT = r"(?:\s*[:,–—-]\s*|\s+)(?:that\s+|this\s*[:,–—-]\s*|the\s+fact\s+that\s+|for\s+(?:later|me)\s*[:,]\s*)?"

# The first that fits a whole request is meant; the more special ones come first.
_PATTERNS = (
    (HELP, r"(?:help|what\s+can\s+you\s+do|how\s+does\s+this\s+work|how\s+do\s+(?:i|you)\s+(?:use|work)\b.*)"),
    (THANKS, r"(?:h(?:i|ello|ey)|good\s+(?:morning|afternoon|evening)|thanks?(?:\s+you)?(?:\s+(?:a\s+lot|so\s+much|very\s+much))?|thx|great|cool|perfect|good|nice|bye|goodbye)"),
    (UNDO, r"(?:undo|take\s+(?:that|it)\s+back|revert)(?:\s+(?:that|it|the\s+last\s+(?:change|one)))?"),
    (TOPICS, rf"(?:list|show|give)\s+(?:me\s+)?{_MINE}(?:topics?|knowledge(?:\s+base)?(?:\s+entries)?)"),
    (TOPICS, r"(?:what|which)\s+topics\s+(?:are\s+there|do\s+you\s+(?:have|know))"),
    (LIST, rf"(?:list|show|print|give|display)\s+(?:me\s+)?(?:(?:{_MINE}{_NOTE})|everything(?:\s+you\s+(?:know|remember))?)"),
    (LIST, r"list"),
    (LIST, r"what\s+(?:do|can)\s+you\s+(?:remember|know)(?:\s+so\s+far|\s+about\s+me)?"),
    (LIST, r"what(?:'s|\s+is)\s+in\s+(?:your|the|my)\s+memory"),
    (SHOW, rf"(?:show|open|display|print|read|view)\s+(?:me\s+)?(?:{_MINE}(?:{_NOTE}\s+|number\s+|no\.?\s*)*)?{_REF}"),
    (FORGET, rf"(?:forget|delete|remove|drop|erase)\s+(?:{_MINE}(?:{_NOTE}\s+|number\s+|no\.?\s*)*)?{_REF}"),
    (REMEMBER, rf"(?:remember|memori[sz]e|note|learn|don'?t\s+forget|do\s+not\s+forget|bear\s+in\s+mind){_THAT}(?P<about>.+)"),
    (REMEMBER, r"keep\s+(?:(?:it|this)\s+)?in\s+mind(?:\s*[:,–—-]\s*|\s+)(?:that\s+)?(?P<about>.+)"),
    (REMEMBER, rf"(?:save|store|keep|record|write\s+down|jot\s+down)(?:\s+(?:a|the|this)\s+{_NOTE})?{_THAT}(?P<about>.+)"),
    (REMEMBER, r"(?:make|take|add|create)\s+a\s+(?:note|memory)(?:\s+(?:of\s+this|that|saying))?(?:\s*[:,–—-]\s*|\s+)(?P<about>.+)"),
    (
        FORGET,
        rf"(?:forget|delete|remove|drop|erase)\s+(?:(?:about|that|{_MINE}{_NOTE}(?:\s+(?:about|that\s+says?|saying|on))?)\s+)?"
        r"(?P<about>.+)",
    ),
    (RECALL, r"what\s+(?:do|did)\s+(?:you|we|i)\s+(?:remember|know|say|tell\s+you|note|save|learn)\s+(?:about|of|on)\s+(?P<about>.+)"),
    (RECALL, r"(?:do\s+you\s+(?:remember|recall|know)|have\s+i\s+told\s+you|did\s+i\s+tell\s+you)\s+(?:about\s+|that\s+)?(?P<about>.+)"),
    (RECALL, r"(?:recall|remind\s+me(?:\s+(?:about|of|that))?|tell\s+me(?:\s+(?:about|of))?)\s+(?P<about>.+)"),
    (SEARCH, r"(?:search|look|find|grep|query)(?:\s+(?:in|through)?\s*(?:the\s+|my\s+)?(?:knowledge(?:\s+base)?|notes|memory))?"
             r"(?:\s+(?:for|up|about|on))?\s+(?P<about>.+)"),
)  # fmt: skip
_COMPILED = tuple(
    (action, re.compile(rf"{_POLITE}{pattern}[\s.!?]*", re.IGNORECASE | re.DOTALL)) for action, pattern in _PATTERNS
)
_TAG = r"(?<!\S)#([^\W\d]\w*)"
_QUESTION_WORDS = frozenset(
    [
        "what",
        "when",
        "where",
        "which",
        "who",
        "whom",
        "whose",
        "why",
        "how",
        "is",
        "are",
        "do",
        "does",
        "did",
        "can",
        "could",
        "would",
        "will",
    ]
)


def read_request(text: str) -> Request:
    """What a person asks for; ``ASK``, with the whole text, where it is no request that is known."""
    text = text.strip()
    for action, pattern in _COMPILED:
        found = pattern.fullmatch(text)
        if not found:
            continue
        groups = found.groupdict()
        about = (groups.get("ref") or groups.get("about") or "").strip()
        if action is REMEMBER and not _is_worth_keeping(about):
            continue
        if action is REMEMBER:
            about = about.rstrip("?") if is_question(text) else about  # "can you remember that …?" asks for that alone
            return Request(action, _as_fact(re.sub(_TAG, "", about)), tuple(re.findall(_TAG, about)))
        return Request(action, about.rstrip("?!. ").strip("\"'“”"))
    return Request(ASK, text)


def is_question(text: str) -> bool:
    """Whether a text asks something, rather than saying it."""
    first = re.match(r"\w+", text.lower())
    return text.rstrip().endswith("?") or (first is not None and first[0] in _QUESTION_WORDS)


def _is_worth_keeping(about: str) -> bool:
    """Whether this is something that can be kept: "remember when we met?" is a question."""
    first = re.match(r"\w+", about.lower())
    return len(about.split()) > 1 and not (about.endswith("?") and first is not None and first[0] in _QUESTION_WORDS)


def _as_fact(text: str) -> str:
    """A fact as it is kept: without quotation marks around it, and beginning with a capital."""
    text = " ".join(text.split()) if "\n" not in text else text
    text = text.strip().strip('"“”').strip()
    return text[:1].upper() + text[1:] if text[:1].islower() and " " in text else text
