"""From what a person said to a statement that stands by itself: who is meant, and where it begins and ends.

Owns the wording. Pure. The person changes, from the first to the third; slips of the keyboard, politeness and a word of when
something was decided go; every other word stays as it was said.
"""

from __future__ import annotations

import re

_AUXILIARY = {
    "am": "is",
    "have": "has",
    "do": "does",
    "don't": "does not",
    "can't": "cannot",
    "haven't": "has not",
    "won't": "will not",
    **{word: word for word in ("would", "will", "can", "cannot", "must", "should", "was", "had")},
}
_SHORT = {"'m": "is", "'ve": "has", "'d": "would", "'ll": "will"}
_ADVERBS = frozenset(
    (
        *(
            "always",
            "never",
            "usually",
            "generally",
            "mostly",
            "typically",
            "only",
            "normally",
            "often",
            "really",
            "strongly",
        ),
        *("also", "still", "personally", "absolutely", "currently", "now", "just"),
    )
)
_OTHERS = (
    (r"\bI'm\b", "they are"),
    (r"\bI am\b", "they are"),
    (r"\bI've\b", "they have"),
    (r"\bI'd\b", "they would"),
    (r"\bI'll\b", "they will"),
    (r"\bI was\b", "they were"),
    (r"\bI\b", "they"),
    (r"\bmyself\b", "themselves"),
    (r"\bmine\b", "theirs"),
    (r"\bmy\b", "their"),
    (r"\bme\b", "them"),
)
_NAMED = (
    (r"\bI'm\b", "the user is"),
    (r"\bI've\b", "the user has"),
    (r"\bI'd\b", "the user would"),
    (r"\bI'll\b", "the user will"),
    (r"\bmyself\b", "the user"),
    (r"\bmine\b", "the user's"),
    (r"\bmy\b", "the user's"),
    (r"\bme\b", "the user"),
)
_FIRST = re.compile(r"I(?P<short>'m|'ve|'d|'ll)?(?=\s)(?P<rest>(?:\s+\S+){1,4})", re.IGNORECASE)
_SMALL_I = re.compile(r"(?<![\w.'/-])i(?=(?:'(?:m|ve|d|ll))?\s)")
_NO_APOSTROPHE = re.compile(r"(?i)\b(do|does|did|is|are|was|were|has|have|had|ca|wo|should|would|could|must)nt\b")
_MANNERS = re.compile(r"(?i),?\s+(?:pls|plz)\b|(?<=\w)\s+please(?=\s+(?:don'?t|do\s+not|never|always|use|keep|avoid)\b)")
_WHEN = re.compile(
    r"(?i)\s+(?:yesterday|today|just\s+now|recently|this\s+(?:morning|week|month|sprint|quarter|year)"
    r"|last\s+(?:night|week|month|sprint|quarter|year|spring|summer|autumn|fall|winter|\w+day)"
    r"|(?:a\s+few|a\s+couple\s+of|some|two|three|\d+)\s+(?:days|weeks|months)\s+ago)(?=\s+to\s|\s*[,.!;]|\s*$)"
)
_LETS = re.compile(r"(?i)let'?s\s+(?:all\s+)?(?P<verb>settle|standardi[sz]e|agree|stick|go)\s+(?P<on>on|with|to)\s+")
_CALL_ME = re.compile(r"(?:you\s+(?:can|may|should)\s+|just\s+|please\s+)*call\s+me\s+(?P<name>.+)", re.IGNORECASE)
_I_AM_NAME = re.compile(r"I(?:'m|\s+am)\s+(?P<name>[A-Z][a-z]+)(?P<rest>\s*$|\s*[,.!].*|\s+and\b.*)")


def statement(words: str) -> str:
    """A statement in the third person that says what a clause in the first person says."""
    words = _mended(" ".join(words.replace("’", "'").split()).strip(" ,;:–—-"))
    called, named = _CALL_ME.fullmatch(words), _I_AM_NAME.fullmatch(words)
    if called:
        words = f"User wants to be called {called['name']}"
    elif named:
        words = f"User's name is {named['name']}{_third(named['rest'])}"
    elif re.match(r"(?i)my\b", words):
        words = f"User's{_third(words[2:])}"
    elif re.match(r"(?i)I(?:'\w+)?\s", words):
        words = _FIRST.sub(_subject, words, count=1)
        words = words if words.startswith("User") else f"User {words}"
        words = words[: len("User")] + _third(words[len("User") :])
    else:
        for pattern, other in _NAMED:
            words = re.sub(pattern, other, words)
        words = re.sub(r"\bI (\w[\w']*)", lambda found: f"the user {_verb(found[1])}", words)
    return _sentence(words)


def undated(words: str) -> str:
    """What was decided, without a word of when that is wrong a day later."""
    return _WHEN.sub("", words)


def _mended(words: str) -> str:
    """With "I" and apostrophes as they are written, without words of politeness, and a call to decide as the decision."""
    words = _SMALL_I.sub("I", _MANNERS.sub("", words))
    words = _NO_APOSTROPHE.sub(lambda found: f"{found[1]}n't", words)
    words = re.sub(r"(?i)^my ((?:\w+ )?name)'s\b", r"my \1 is", words)
    lets = _LETS.match(words)
    return f"We {_DECIDED.get(lets['verb'].lower(), lets['verb'])} {lets['on']} {words[lets.end() :]}" if lets else words


_DECIDED = {"settle": "settled", "agree": "agreed"}


def _third(words: str) -> str:
    for pattern, other in _OTHERS:
        words = re.sub(pattern, other, words)
    return words


def _subject(found: re.Match[str]) -> str:
    """`I always work` as `User always works`."""
    if found["short"]:
        return f"User {_SHORT[found['short'].lower()]}{found['rest']}"
    words = found["rest"].split(" ")
    place = next((number for number, word in enumerate(words) if word and word.lower() not in _ADVERBS), 0)
    words[place] = _verb(words[place])
    return f"User{' '.join(words)}"


def _verb(verb: str) -> str:
    """A verb as it follows the third person."""
    if verb.lower() in _AUXILIARY:
        return _AUXILIARY[verb.lower()]
    if not verb.isalpha():
        return verb
    if re.search(r"(?:s|x|z|ch|sh|o)$", verb):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if re.search(r"[^aeiou]y$", verb) else f"{verb}s"


def _sentence(words: str) -> str:
    """With a capital at its beginning, where that is a plain word, and with an end."""
    first = words.split(" ", 1)[0]
    if first.rstrip(",").replace("'", "").isalpha() and first.islower():
        words = words[:1].upper() + words[1:]
    words = words.rstrip(" .,;:")
    return words if words.endswith(("!", "?", "…")) else f"{words}."
