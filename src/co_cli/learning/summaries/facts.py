"""What of a text must not get lost or changed when it is put into other words: numbers, dates, names, and what it denies.

Owns finding these, and the forms in which they count as the same: ``20,000`` and ``20000``, ``30 s`` and ``30 seconds``,
``Feb 9, 2026`` and ``2026-02-09``. Knows nothing of notes. Pure, and linear in the length of a text.

It would rather hold on to too much: what it takes for a name by mistake costs a wording, what it misses costs a fact. In
scripts without capitals no name can be told from other words, so that there every word counts as one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

NUMBER, DATE, NAME, DENIAL, LIMIT = "number", "date", "name", "negation", "limit"


class Fact(NamedTuple):
    """Something that has to stay."""

    kind: str
    mark: str
    """What is compared."""
    shown: str
    """The words as they stand in the text."""
    place: int = 0
    """Where in the text it begins."""


class Denial(NamedTuple):
    """A word that denies, with what it is about."""

    shown: str
    about: tuple[str, ...]
    """The words that it denies, the nearest first."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# ------------------------------------------------------------------------------------------------------------------- tables

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            *("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug"),
            *("september sept sep", "october oct", "november nov", "december dec"),
        ),
        start=1,
    )
    for name in names.split()
}
_DAYS = _words("monday tuesday wednesday thursday friday saturday sunday")
_COUNTED = {
    name: value
    for name, _, value in (
        pair.partition(":")
        for pair in _words("""
            zero:0 two:2 three:3 four:4 five:5 six:6 seven:7 eight:8 nine:9 ten:10 eleven:11 twelve:12 fifteen:15 twenty:20
            thirty:30 forty:40 fifty:50 sixty:60 seventy:70 eighty:80 ninety:90 hundred:100 thousand:1000 million:1000000
            half:0.5 dozen:12 twice:2
        """)
    )
}
"""Numbers in letters; "one" and "once" are mostly no numbers."""
_UNITS = {
    form: (unit, factor)
    for (unit, factor), forms in {
        ("s", 0.001): "ms millisecond milliseconds msec",
        ("s", 1): "s sec secs second seconds",
        ("s", 60): "min mins minute minutes",
        ("s", 3600): "h hr hrs hour hours",
        ("s", 86_400): "d day days",
        ("s", 604_800): "w week weeks",
        ("month", 1): "month months",
        ("month", 12): "y year years yr yrs",
        ("%", 1): "% percent",
        ("kb", 1): "kb kilobyte kilobytes",
        ("mb", 1): "mb megabyte megabytes",
        ("gb", 1): "gb gigabyte gigabytes",
        ("tb", 1): "tb terabyte terabytes",
    }.items()
    for form in forms.split()
}
_AT_MOST = r"at most|no more than|not more than|up to|less than|fewer than|maximum(?: of)?|max\.?(?: of)?|under|below|within"
_AT_LEAST = r"at least|no fewer than|no less than|not less than|more than|minimum(?: of)?|min\.?(?: of)?|over|above"
_BOUND = re.compile(
    rf"(?i)(?<!\w)(?:(?P<most>{_AT_MOST})|(?P<least>{_AT_LEAST})|(?P<before>before|until|till)|(?P<after>after|since))\s+$"
)
_SIGNS = {"most": "≤", "least": "≥", "before": "<", "after": ">"}

_DENYING = _words("""
    not no never none nobody nothing nowhere neither nor without cannot avoid avoids avoided avoiding forbid forbids
    forbidden prohibit prohibits prohibited ban bans banned stop stops stopped
    nicht nie niemals kein keine keinen keiner keinem keines ohne pas jamais sans aucun aucune nunca jamás sin ningún ninguno
    não sem nem niet nooit geen zonder inte aldrig ikke aldri nie nigdy bez ne nikdy nem soha ei değil
    не нет нельзя никогда без ні ніколи
""")
_INSTEAD = (("instead", "of"), ("rather", "than"))
_LIMITS = {
    form: forms[0]
    for forms in (
        *(("only", "solely", "exclusively"), ("except", "excluding", "apart", "besides"), ("unless",)),
        ("formerly", "previously"),
    )
    for form in forms
}
"""Words that narrow what is said; a statement that lost one would say more than it did."""
_ENDING = _words("but instead rather whereas while because unless although though so")
"""Words at which ends what a denial is about."""
_BEGINNING = _words("always we i you they it use prefer keep run do only then must should never not no don't")
"""Words with which, behind an "and", something else begins."""
SILENT = _words("""
    a an the this that these those it its they them their there here i me my we us our you your he she his her who which
    what where when how and or but so then thus also too as well if of in on at to for from with by into onto about than
    is are was were be been being am do does did done has have had having will would shall should must may might can could
    need needs use uses used using keep keeps make makes made get gets set sets put puts take takes taken
    allow allows allowed permit permitted want wants wanted like likes all any every each both some just very please
    always usually mostly generally mainly currently now still already more most
""")
"""Words that tell nothing by themselves."""
_OPENING = (
    SILENT
    | _DENYING
    | _words("""
    user users team everyone everybody one prefer prefers run runs write writes deploy deploys test tests check checks
    add adds ask start open close send read call create remove delete update install build push pull merge commit
    before after during while because unless until once instead only remember note see let there given since although
    though however again never yes first last next new old most many few several another other others same such
""")
)
"""Words with which sentences begin, and which are no names although they have a capital there."""

_TOKEN = re.compile(
    rf"""(?x)
    (?P<code>`[^`\n]+`)
  | (?P<url>[a-z][a-z0-9+.-]*://[^\s<>"'`]+)
  | (?P<iso>(?<![\w.-])\d{{4}}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?)?(?![\w-]))
  | (?P<identifier>
        --?[A-Za-z][\w-]*                                   # --option
      | @[\w.-]*\w | \#\d+(?!\w)                             # @handle, #123
      | (?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+          # an address
      | (?:~|\.{{1,2}})?/[\w.@%+*~-][\w.@%+*/~-]*             # /path, ./path, ~/path
      | (?<![\w.@+-])(?=[\w.@+-]*+/)[\w.@+-]*[^\W\d][\w.@+-]*/(?:[\w.@%+*/-]*\w/?|(?!\w)) # a/path, a/
      | \.[A-Za-z_][\w.-]*\w                                # .env
    )
  | (?P<number>
        (?<![\w.])[-−]?[$€£¥]?\d+(?:[.,:]\d+)*(?:\s?(?:{"|".join(_UNITS)})(?!\w)|[A-Za-z]{{1,8}}(?!\w))?
      | (?<!\w)[vV]\d+(?:\.\d+)*(?!\w)
    )
  | (?P<word>[^\W_](?:[\w'’+#-]|\.(?=\w))*(?:\+\+|\#)?|_\w+)
  | (?P<border>[.;:!?,()\n\u2013\u2014\u3002])
    """
)
_DAY_FIRST = re.compile(r"(?i)(?<![\w.-])(\d{1,2})(?:st|nd|rd|th)?\.?\s+(?:of\s+)?([a-z]{3,9})\.?(?:,?\s+(\d{4}))?(?!\w)")
_MONTH_FIRST = re.compile(r"(?i)(?<!\w)([a-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?(?!\w|[.:]\d)(?:,?\s+(\d{4})(?!\w))?")
_CLOCK = re.compile(r"(?i)(\d{1,2})(?::(\d\d))?\s?([ap])\.?m\b\.?")
_IDENTIFIER = re.compile(r"_|\.\w|.\d|[a-z][A-Z]|[A-Z]{2}|[+#]")
_LETTERS = 2


# -------------------------------------------------------------------------------------------------------------------- facts


class Reading(NamedTuple):
    """What was found in a text."""

    text: str
    facts: tuple[Fact, ...]
    denials: tuple[Denial, ...]
    places: tuple[tuple[str, int], ...]
    """The words that say something, by their stems, each with its place."""
    borders: tuple[int, ...]
    """The places at which something else begins."""

    @property
    def stems(self) -> frozenset[str]:
        """The words that say something."""
        return frozenset(word for word, _place in self.places)

    def marks(self, kind: str) -> frozenset[str]:
        """What is compared of one kind."""
        return frozenset(fact.mark for fact in self.facts if fact.kind == kind)


def read(text: str) -> Reading:
    """Find what must not get lost of a text."""
    dates, rest = _dates(text)
    facts, tokens = list(dates), []
    opening = True
    for found in _TOKEN.finditer(rest):
        kind, words = str(found.lastgroup), found[0]
        if kind == "border":
            opening = opening or words in ".:!?\n\u3002"
            tokens.append((words, found.start(), kind))
            continue
        facts += _facts(kind, words, found, rest, opening=opening)
        tokens.append((words, found.start(), kind))
        opening = False
    facts.sort(key=lambda fact: fact.place)
    return Reading(text, tuple(facts), tuple(_denials(tokens)), tuple(_places(tokens)), _borders(tokens))


def _facts(kind: str, words: str, found: re.Match[str], text: str, *, opening: bool) -> Iterator[Fact]:
    start = found.start()
    if kind == "code":
        yield Fact(NAME, words.strip("`").strip(), words, start)
    elif kind == "url":
        bare = words.rstrip(".,;:!?)]}*_")
        yield Fact(NAME, bare, bare, start)
    elif kind == "iso":
        yield _bounded(Fact(DATE, words.replace(" ", "T"), words, start), text)
    elif kind == "identifier":
        bare = words.rstrip(".-*")
        yield Fact(NAME, bare, bare, start)
    elif kind == "number":
        yield _number(words, text, start, found.end())
    else:
        yield from _word(words, text, start, opening=opening)


def _dates(text: str) -> tuple[list[Fact], str]:
    """The dates that are written out, and the text with blanks in their place."""
    facts: list[Fact] = []

    def noted(found: re.Match[str], month: str, day: str, year: str | None) -> str:
        number = _MONTHS.get(month.lower())
        if number is None or not 1 <= int(day) <= 31:  # noqa: PLR2004 - days of a month
            return found[0]
        mark = f"{year or '-'}-{number:02d}-{int(day):02d}"
        facts.append(_bounded(Fact(DATE, mark, found[0].strip(), found.start()), text))
        return " " * len(found[0])

    rest = _DAY_FIRST.sub(lambda found: noted(found, found[2], found[1], found[3]), text)
    rest = _MONTH_FIRST.sub(lambda found: noted(found, found[1], found[2], found[3]), rest)
    return facts, rest


def _number(words: str, text: str, start: int, end: int) -> Fact:
    """A number with its unit, and with the word that makes it a bound."""
    clock = _CLOCK.match(text, start)
    if clock:
        hour = int(clock[1]) % 12 + (12 if clock[3].lower() == "p" else 0)
        return _bounded(Fact(NUMBER, f"{hour}:{clock[2] or '00'}", clock[0], start), text)
    parts = re.fullmatch(r"([-−]?[$€£¥]?)[vV]?(\d+(?:[.,:]\d+)*)\s?([A-Za-z%]*)", words)
    before, digits, unit = parts.groups() if parts else ("", words, "")
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits):
        digits = digits.replace(",", "")
    elif re.fullmatch(r"0\d:\d\d", digits):
        digits = digits[1:]
    if not unit:
        behind = re.compile(r"[\s-]?([A-Za-z]+)(?![\w])").match(text, end)
        unit = behind[1] if behind and behind[1].lower() in _UNITS else ""
        words = f"{words} {unit}".rstrip()
    if unit.lower() in _UNITS and re.fullmatch(r"\d+(?:\.\d+)?", digits):
        unit, factor = _UNITS[unit.lower()]
        digits = f"{float(digits) * factor:.10g}"
    return _bounded(Fact(NUMBER, f"{before.replace('−', '-')}{digits}{unit.lower()}", words, start), text)


def _bounded(fact: Fact, text: str) -> Fact:
    """A number or a date with the word that makes it a bound: at most 5, before Friday."""
    bound = _BOUND.search(text, max(0, fact.place - 20), fact.place)
    if not bound:
        return fact
    return fact._replace(mark=f"{_SIGNS[str(bound.lastgroup)]}{fact.mark}", shown=f"{bound[0]}{fact.shown}")


def _word(words: str, text: str, start: int, *, opening: bool) -> Iterator[Fact]:
    bare = _bare(words)
    low = bare.lower()
    if not bare:
        return
    if low in _COUNTED:
        digits = _COUNTED[low]
        spelt = f"{text[:start]}{digits}{text[start + len(words) :]}"
        number = _number(digits, spelt, start, start + len(digits))
        yield number._replace(shown=re.sub(rf"{re.escape(digits)}\b", bare, number.shown, count=1))
    elif low.rstrip("s") in _DAYS:
        yield _bounded(Fact(DATE, low.rstrip("s"), bare, start), text)
    elif low in _MONTHS and len(low) > _LETTERS and (bare[0].isupper() or low not in ("may", "march", "mar", "dec", "jan")):
        yield _bounded(Fact(DATE, f"month {_MONTHS[low]}", bare, start), text)
    elif low in _LIMITS:
        yield Fact(LIMIT, _LIMITS[low], bare, start)
    elif _IDENTIFIER.search(bare) and low.rstrip("s") not in SILENT:
        yield Fact(NAME, bare.rstrip("s") if bare[:-1].isupper() else bare, bare, start)
    elif bare[0].isupper():
        if low not in (_OPENING if opening else ("i", "a")) and not _denies(low):
            yield Fact(NAME, stem(bare), bare, start)
    elif bare[0].lower() == bare[0].upper():  # a script without capitals
        yield Fact(NAME, bare, bare, start)


def _bare(word: str) -> str:
    """A word without the marks of a possessive, and without what stands around it."""
    return re.sub(r"['’](?:s|re|ve|ll|m|d)?$", "", word.strip("'’-*_"))


def stem(word: str) -> str:
    """A word without the endings in which forms of it differ."""
    low = _bare(word).replace("’", "'").lower()
    for ending, least in (("ies", 2), ("sses", 2), ("ing", 4), ("ed", 4), ("es", 4), ("s", 3)):
        if low.endswith(ending) and len(low) - len(ending) >= least and not low.endswith("ss"):
            root = low[: -len(ending)]
            root += {"ies": "y", "sses": "ss"}.get(ending, "")
            return root[:-1] if len(root) > least and root[-1] == root[-2:-1] and root[-1] not in "ls" else root.rstrip("e")
    return low.rstrip("e") if len(low) > 3 else low  # noqa: PLR2004 - "the", "use"


# ------------------------------------------------------------------------------------------------------------------ denials

_NEAR = 4
"""Words that a denial is about at most."""
_FAR = 20
"""Words on either side that are looked at for these."""


def _places(tokens: list[tuple[str, int, str]]) -> Iterator[tuple[str, int]]:
    for word, start, kind in tokens:
        if kind not in ("border", "number", "iso") and _bare(word).lower() not in SILENT | _DENYING:
            yield stem(word.strip("`")), start


def _borders(tokens: list[tuple[str, int, str]]) -> tuple[int, ...]:
    joints = _ENDING | {"and", "or"}
    return tuple(start for word, start, kind in tokens if kind == "border" or (kind == "word" and word.lower() in joints))


def _denials(tokens: list[tuple[str, int, str]]) -> Iterator[Denial]:
    words = [_bare(token[0]).lower().replace("’", "'") if token[2] == "word" else token[0] for token in tokens]
    for place, word in enumerate(words):
        is_instead = any(tuple(words[place : place + 2]) == pair for pair in _INSTEAD)
        if not is_instead and not _denies(word):
            continue
        if word in ("no", "not") and tuple(words[place + 1 : place + 3]) in _BOUNDS:
            continue
        begin = place + (2 if is_instead else 1)
        after = _clause(words[begin : begin + _FAR])
        before = _clause(words[max(0, place - _FAR) : place][::-1])
        about = _about(after) or _about(before)
        yield Denial(" ".join(words[place : place + 1 + len(after)][: _NEAR + 1]), about)


def _denies(word: str) -> bool:
    return word in _DENYING or word.endswith(("n't", "n’t"))


_BOUNDS = {("more", "than"), ("fewer", "than"), ("less", "than")}


def _clause(words: list[str]) -> list[str]:
    """The words up to where something else begins."""
    for place, word in enumerate(words):
        if word in _ENDING or (len(word) == 1 and _BORDER.match(word)):
            return words[:place]
        if word in ("and", "or") and (words[place + 1 : place + 2] or [""])[0] in _BEGINNING:
            return words[:place]
    return words


_BORDER = re.compile(r"[.;:!?,()\n\u2013\u2014\u3002]")


def _about(words: list[str]) -> tuple[str, ...]:
    found = [stem(word.strip("`")) for word in words if word not in SILENT and not _denies(word)]
    return tuple(found[:_NEAR])
