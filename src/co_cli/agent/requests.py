"""What a person asks for in plain words, as far as it can be told without a model.

Owns the patterns of requests. Pure: from a text to an action and what it is about. What fits no pattern is a question to
the notes, and that is always a safe reading: it changes nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

REMEMBER, RECALL, LIST, SHOW, FORGET, SEARCH, TOPICS, HELP, THANKS, UNDO, FETCH, KEEP, ASK = (
    *("remember", "recall", "list", "show", "forget", "search", "topics", "help", "thanks", "undo", "fetch", "keep", "ask"),
)


class Request(NamedTuple):
    """What is wanted, and what it is about."""

    action: str
    about: str = ""
    tags: tuple[str, ...] = ()


_POLITE = (
    r"(?:(?:hey|hi|hello|ok(?:ay)?|so|and|now|co|please|pls)\b[\s,:!]*){0,6}"  # bounded: no text takes long to read
    r"(?:(?:(?:can|could|would|will)\s+you|i(?:'d| would)\s+like\s+you\s+to|i\s+want\s+you\s+to|let'?s|you\s+should)\s+)?"
    r"(?:(?:please|also|kindly|just)\s+){0,3}"
)
_MINE = r"(?:the\s+|my\s+|our\s+|all\s+|of\s+|your\s+|every\s+){0,4}"
_NOTE = r"(?:memor(?:y|ies)|notes?|facts?|entr(?:y|ies))"
_REF = r"(?P<ref>#?\d+|[gp]:(?:(?:memory|topic|article):)?[\w.-]+|(?:memory|topic|article):[\w.-]+|context)"
_THAT = r"(?:\s*[:,–—-]\s*|\s+)(?:that\s+|this\s*[:,–—-]\s*|the\s+fact\s+that\s+|for\s+(?:later|me)\s*[:,]\s*)?"

# Patterns of whole requests; the first that fits is meant, so the more special ones come first. In parts, for the eye.
_SELF = r"(?:h(?:i|ello|ey)|good\s+(?:morning|afternoon|evening))"
_THANKS = r"(?:thanks?(?:\s+you)?(?:\s+(?:a\s+lot|so\s+much|very\s+much))?|thx|great|cool|perfect|good|nice|bye|goodbye)"
_HELP = r"(?:help|what\s+can\s+you\s+do|how\s+does\s+this\s+work|how\s+do\s+(?:i|you)\s+(?:use|work)\b.*)"
_UNDO = r"(?:undo|take\s+(?:that|it)\s+back|revert)(?:\s+(?:that|it|the\s+last\s+(?:change|one)))?"
_WHICH = rf"(?:{_MINE}(?:{_NOTE}\s+|number\s+|no\.?\s*){{0,3}})?{_REF}"
_SAID = r"what\s+(?:do|did)\s+(?:you|we|i)\s+(?:remember|know|say|tell\s+you|note|save|learn)\s+(?:about|of|on)\s+"
_ASKED = r"(?:do\s+you\s+(?:remember|recall|know)|have\s+i\s+told\s+you|did\s+i\s+tell\s+you)\s+(?:about\s+|that\s+)?"
_REMIND = r"(?:recall|remind\s+me(?:\s+(?:about|of|that))?|tell\s+me(?:\s+(?:about|of))?)\s+"
_WHERE = r"(?:\s+(?:in|through)?\s*(?:the\s+|my\s+)?(?:knowledge(?:\s+base)?|notes|memory))?"
_MADE = r"(?:make|take|add|create)\s+a\s+(?:note|memory)(?:\s+(?:of\s+this|that|saying))?(?:\s*[:,–—-]\s*|\s+)"
_DROPPED = rf"(?:(?:about|that|{_MINE}(?:{_NOTE}|ones?|what\s+you\s+know)(?:\s+(?:about|that\s+says?|saying|on))?)\s+)?"
_ABOUT = r"(?P<about>.+)"
_URL = r"[<\"'(]?(?P<url>(?:https?://|www\.)[^\s<>\"']+)[>\"']?"
_PAGE = r"(?:(?:web\s?)?(?:page|site)|website|article|link|url|address|document|pdf)"
_THE_PAGE = rf"(?:(?:the|this|that)\s+)?(?:(?:whole|entire|full|last)\s+)?{_PAGE}"
_TO_READ = (
    r"(?:fetch|read|open|get|download|load|visit|browse|summari[sz]e|look\s+at|check(?:\s+out)?|show(?:\s+me)?|go\s+to)"
)
_TO_KEEP = r"(?:save|keep|store|archive|add|remember|note|file)"
_AT = r"(?:(?:at|from|on|under|of)\s+)?"
_AWAY = (
    r"(?:\s+(?:for\s+(?:later|me)|as\s+an?\s+(?:article|note)|(?:in|into|to|among|with)\s+(?:the\s+|my\s+|our\s+)?"
    r"(?:articles?|knowledge(?:\s+base)?|library|notes|memory|vault)))?(?P<tags>(?:\s+#[\w-]+)*)"
)

_PATTERNS = (
    (HELP, _HELP),
    (THANKS, rf"(?:{_SELF}|{_THANKS})"),
    (UNDO, _UNDO),
    (FETCH, rf"{_URL}"),
    (FETCH, rf"{_TO_READ}\s+(?:me\s+)?(?:{_THE_PAGE}\s+)?{_AT}{_URL}"),
    (FETCH, rf"what(?:'s|\s+is|\s+does|\s+do)\s+(?:there\s+)?(?:{_THE_PAGE}\s+)?{_AT}{_URL}(?:\s+(?:say|about))?"),
    (KEEP, rf"{_TO_KEEP}\s+(?:{_THE_PAGE}\s+)?{_AT}{_URL}{_AWAY}"),
    (KEEP, rf"{_TO_KEEP}\s+(?:(?:the|this|that)\s+)(?:(?:whole|entire|full|last)\s+)?{_PAGE}{_AWAY}"),
    (KEEP, rf"{_TO_KEEP}\s+(?:it|this|that)\s+as\s+an?\s+article{_AWAY}"),
    (TOPICS, rf"(?:list|show|give)\s+(?:me\s+)?{_MINE}(?:topics?|knowledge(?:\s+base)?(?:\s+entries)?)"),
    (TOPICS, r"(?:what|which)\s+topics\s+(?:are\s+there|do\s+you\s+(?:have|know))"),
    (LIST, rf"(?:list|show|print|give|display)\s+(?:me\s+)?(?:{_MINE}{_NOTE}|everything(?:\s+you\s+(?:know|remember))?)"),
    (LIST, r"list"),
    (LIST, r"what\s+(?:do|can)\s+you\s+(?:remember|know)(?:\s+so\s+far|\s+about\s+me)?"),
    (LIST, r"what(?:'s|\s+is)\s+in\s+(?:your|the|my)\s+memory"),
    (SHOW, rf"(?:show|open|display|print|read|view)\s+(?:me\s+)?{_WHICH}"),
    (FORGET, rf"(?:forget|delete|remove|drop|erase)\s+{_WHICH}"),
    (REMEMBER, rf"(?:remember|memori[sz]e|note|learn|do(?:n'?t|\s+not)\s+forget|bear\s+in\s+mind){_THAT}{_ABOUT}"),
    (REMEMBER, rf"keep\s+(?:(?:it|this)\s+)?in\s+mind(?:\s*[:,–—-]\s*|\s+)(?:that\s+)?{_ABOUT}"),
    (REMEMBER, rf"(?:save|store|keep|record|write\s+down|jot\s+down)(?:\s+(?:a|the|this)\s+{_NOTE})?{_THAT}{_ABOUT}"),
    (REMEMBER, _MADE + _ABOUT),
    (FORGET, rf"(?:forget|delete|remove|drop|erase)\s+{_DROPPED}{_ABOUT}"),
    (RECALL, _SAID + _ABOUT),
    (RECALL, _ASKED + _ABOUT),
    (RECALL, _REMIND + _ABOUT),
    (SEARCH, rf"(?:search|look|find|grep|query){_WHERE}(?:\s+(?:for|up|about|on))?\s+{_ABOUT}"),
)
_COMPILED = tuple((action, re.compile(rf"(?is){_POLITE}{pattern}[\s.!?]*")) for action, pattern in _PATTERNS)
_TAG = r"(?<!\S)#([^\W\d]\w*)"
_QUESTION_WORDS = frozenset(
    "what when where which who whom whose why how is are do does did can could would will".split()  # noqa: SIM905
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
        if action in (FETCH, KEEP):
            tags = tuple(re.findall(_TAG, groups.get("tags") or ""))
            return Request(action, (groups.get("url") or "").rstrip(".,;:!?)"), tags)
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
