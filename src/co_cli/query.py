"""What a query asks for: words, phrases, filters, and the time that it speaks of.

Owns the language of queries, and the meaning of dates in it. Knows nothing of notes, the index or ranking. Pure; every text
is a query, nothing raises, and what cannot be understood stays a word, with a warning.

It stands on the way of every search: a query of plain words is read without a regular expression and without datetime.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

KINDS = {
    "memory": "memory",
    "memories": "memory",
    "topic": "topic",
    "topics": "topic",
    "article": "article",
    "articles": "article",
}
"""The kinds of notes that can be asked for, as they may be written."""

_CLOSERS = {
    '"': '"',
    "\uff02": "\uff02",
    "“": '”“"',
    "”": "”",
    "„": '“”"',
    "«": "»",
    "»": "«",
    "「": "」",
    "『": "』",
}
_TWO_FACED = '"”»\uff02'
"""Signs that may also close, or mean inches: they open a phrase only where no letter or digit stands before them."""
_QUOTES = "".join(_CLOSERS) + "」』"
_SIGNS = frozenset(":0123456789" + _QUOTES)
_MARKS = ".,;:!?()[]"
_TOKEN = (
    r"(?i)(?<!\S)(?P<minus>-?)(?P<key>tags?|kinds?|before|after|since|on|in):(?![:/\\])"
    rf"|(?P<quote>[{''.join(_CLOSERS)}])|[^\s{''.join(_CLOSERS)}]+"
)
_WARNINGS = 5
"""More warnings than this help nobody."""
_SHOWN = 40

_RELATIVE_DAYS = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}
_OFFSETS = {"last": -1, "past": -1, "previous": -1, "this": 0, "current": 0, "next": 1}
_UNITS = {"day": "day", "week": "week", "weekend": "weekend", "month": "month", "quarter": "quarter", "year": "year"}
_COUNTED = {**{unit: unit for unit in ("day", "week", "month", "year")}, "days": "day", "weeks": "week", "months": "month"}
_COUNTED["years"] = "year"
_COMPACT = {"d": "day", "w": "week", "m": "month", "y": "year"}
_NUMBERS = {
    word: value
    for value, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)  # noqa: SIM905
}
_NUMBERS |= {"a": 1, "an": 1}
_WEEKDAYS = {
    name: number
    for number, name in enumerate(["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"])
}
_MONTHS = {
    name: number
    for number, names in enumerate(
        [
            ("january", "jan"),
            ("february", "feb"),
            ("march", "mar"),
            ("april", "apr"),
            ("may",),
            ("june", "jun"),
            ("july", "jul"),
            ("august", "aug"),
            ("september", "sep", "sept"),
            ("october", "oct"),
            ("november", "nov"),
            ("december", "dec"),
        ],
        1,
    )
    for name in names
}
_ALSO_VERBS = ("may", "march")
_LEADS = frozenset(["in", "on", "during", "of", "since", "from", "after", "between", "year"])
"""Words after which a bare year, month or weekday is a time."""
_AGAINST = frozenset(["before", "until", "till", "by"])
_TO = frozenset(["to", "and", "until", "till", "through", "-", "–"])
_DATE_WORDS = frozenset(
    [*_RELATIVE_DAYS, *_UNITS, *_COUNTED, *_WEEKDAYS, *_MONTHS, "night", "morning", "afternoon", "evening"]
)

_Moment = tuple[str, int, int, int]
"""What an expression says, before the calendar is asked: a unit with an offset, or ``date`` with year, month and day."""


class Query(NamedTuple):
    """A query, taken apart."""

    text: str
    """What is searched for by meaning: the query without its filters."""
    words: tuple[str, ...] = ()
    """The words outside of quotation marks, as they are written."""
    phrases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    after: str = ""
    """The first day or instant that counts; empty where there is no limit."""
    before: str = ""
    """The first day or instant that does not count any more."""
    span: tuple[str, str] = ("", "")
    """The time that the words speak of, from the first day to the one after the last; it favours notes, it drops none."""
    warnings: tuple[str, ...] = ()


def parse_query(text: str, today: str) -> Query:
    """Take a query apart; ``today`` is the local date, ``2026-11-19``."""
    words = text.split()
    if _SIGNS.isdisjoint(text) and _DATE_WORDS.isdisjoint(map(_bare, words)):
        return Query(" ".join(words), tuple(words))
    return _Reader(text, today).read()


def _bare(word: str) -> str:
    """A word without the signs of a sentence around it: ``(yesterday's,`` is ``yesterday``."""
    word = word.lower().strip(_MARKS)
    return word[:-2] if word.endswith(("'s", "’s")) else word


class _Reader:
    """One pass over a query, from left to right."""

    def __init__(self, text: str, today: str) -> None:
        self.text, self.today = text, today
        self.words: list[str] = []
        self.phrases: list[str] = []
        self.tags: dict[str, str] = {}
        self.kinds: dict[str, None] = {}
        self.after = self.before = ""
        self.warnings: dict[str, None] = {}
        self._next: dict[str, int] = {}

    def read(self) -> Query:
        kept: list[str] = []
        plain: list[str] = []  # what may speak of a time: no phrases
        at = copied = 0
        token = re.compile(_TOKEN)
        while found := token.search(self.text, at):
            start, at = found.span()
            if found["key"]:
                values, at = self._values(at)
                if self._filter(found["minus"] + found["key"].lower(), values):
                    kept += (self.text[copied:start], " ")
                    copied = at
                    continue
                self.words += [word for part in self.text[start:at].split() if (word := part.strip(_QUOTES))]
            elif found["quote"]:
                closing = self._closing(start)
                if closing < 0:
                    continue
                at = closing + 1
                phrase = " ".join(self.text[start + 1 : closing].split())
                if phrase:
                    self.phrases.append(phrase)
                plain.append("|")
                continue
            elif word := found[0].strip(_QUOTES):
                self.words.append(word)
            plain.append(self.text[start:at])
        if self.after and self.before and self.after >= self.before:
            self._warn(f"no time is both since {self.after} and before {self.before}")
        return Query(
            " ".join("".join((*kept, self.text[copied:])).split()),
            tuple(self.words),
            tuple(self.phrases),
            tuple(self.tags.values()),
            tuple(self.kinds),
            self.after,
            self.before,
            _span(" ".join(plain), self.today),
            tuple(self.warnings),
        )

    def _closing(self, opening: int) -> int:
        """Where the phrase ends that may begin here, or -1."""
        sign = self.text[opening]
        if sign in _TWO_FACED and opening and self.text[opening - 1].isalnum():
            return -1
        return min((place for closer in _CLOSERS[sign] if (place := self._find(closer, opening + 1)) > 0), default=-1)

    def _find(self, sign: str, start: int) -> int:
        """The next such sign; it is looked for once, however often it is asked for."""
        place = self._next.get(sign, 0)
        if 0 <= place < start:
            place = self._next[sign] = self.text.find(sign, start)
        return place

    def _values(self, at: int) -> tuple[list[str], int]:
        """The values of a filter, parted by commas, and where they end; quotation marks hold what belongs together."""
        text = self.text
        values: list[list[str]] = [[]]
        while at < len(text) and not text[at].isspace():
            if text[at] in _CLOSERS:
                closing = self._closing(at)
                if closing > 0:
                    values[-1].append(text[at + 1 : closing])
                    at = closing
            elif text[at] == ",":
                values.append([])
            else:
                values[-1].append(text[at])
            at += 1
        return [" ".join("".join(value).split()) for value in values], at

    def _filter(self, key: str, values: list[str]) -> bool:
        """Take a filter in, or warn: then it is no filter."""
        given = [value for value in values if value]
        shown = _shown(f"{key}:{','.join(given)}")
        name = key.removesuffix("s")
        if key[0] == "-":
            if key not in ("-on", "-in"):
                self._warn(f"nothing can be left out: {shown} is searched for as a word")
            return False
        if name == "tag":
            tags = [tag for value in given if (tag := value.lstrip("#").rstrip(";:!?").strip())]
            for tag in tags:
                self.tags.setdefault(tag.casefold(), tag)
            if not tags:
                self._warn("tag: names no tag; write it without a blank, as in tag:deploy")
            return bool(tags)
        if name == "kind":
            kinds = [KINDS.get(value.lower().rstrip(_MARKS), "") for value in given]
            if not kinds or "" in kinds:
                self._warn(f"{shown} is no kind of note; there are kind:memory, kind:topic and kind:article")
                return False
            self.kinds.update(dict.fromkeys(kinds))
            return True
        return self._limit(key, " ".join(given), shown)

    def _limit(self, key: str, value: str, shown: str) -> bool:
        start, end = _period(value, self.today)
        if not start:
            if key not in ("on", "in") or value[:1].isdecimal():  # on:click and in:box are words
                self._warn(
                    f"{shown} is no date; use a day (2024-05-03), a month (2024-05), a year, a time (2024-05-03T14:30), "
                    'or words such as yesterday, "last week" or 7d'
                )
            return False
        if key == "before":
            self.before = min(self.before or start, start)
        else:
            self.after = max(self.after, start)
        if key in ("on", "in"):
            self.before = min(self.before or end, end)
        return True

    def _warn(self, message: str) -> None:
        if len(self.warnings) < _WARNINGS:
            self.warnings[message] = None


def _shown(text: str) -> str:
    text = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return "".join([sign if sign.isprintable() else "?" for sign in text])


# ---------------------------------------------------------------------------------------------------------------- time


def _period(value: str, today: str) -> tuple[str, str]:
    """The time that the value of a filter names; empty where it names none."""
    if "T" in value.upper() and value[:4].isdecimal():
        return _instant(value)
    words = [word for word in map(_bare, value.split()) if word and word != "the"]
    if not words:
        return "", ""
    compact = words[0]
    if len(words) == 1 and compact[-1] in _COMPACT and (count := _number(compact[:-1])) >= 0:
        return _resolved(("back " + _COMPACT[compact[-1]], -count, 0, 0), today)
    found, length = _expression(words, 0, alone=True)
    if not found or length != len(words):
        return "", ""
    if words[-1] == "ago":
        found = ("back " + found[0], *found[1:])
    return _resolved(found, today)


def _instant(value: str) -> tuple[str, str]:
    from datetime import datetime

    value = value.upper().rstrip(_MARKS)
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return "", ""
    if not _year(value[: len("2024")]):
        return "", ""
    following = _resolved(("date", moment.year, moment.month, moment.day), "")[1]
    return (value, following) if following else ("", "")


def _span(text: str, today: str) -> tuple[str, str]:
    """The first time that a text speaks of, as its words say it; a time that something is *before* is none."""
    words = [bare for word in text.split() if (bare := _bare(word) or word) != "the"]
    at = 0
    while at < len(words):
        lead = words[at - 1] if at else ""
        found, length = _expression(words, at, alone=lead in _LEADS or lead in _AGAINST)
        if not found:
            at += 1
            continue
        at += length
        start, end = _resolved(found, today)
        if not start or lead in _AGAINST:
            continue
        if lead in ("from", "between") and words[at : at + 1] and words[at] in _TO:
            start, end = _between(found, _expression(words, at + 1, alone=True)[0], today)
        elif lead in ("since", "after"):
            end = max(end, _resolved(("day", 0, 0, 0), today)[1])
        return start, end
    return "", ""


def _between(first: _Moment, last: _Moment | None, today: str) -> tuple[str, str]:
    """From the first moment to the end of the last one, which may say the year for both."""
    if last and first[:2] == ("date", 0) and last[0] == "date":
        first = ("date", last[1], *first[2:])
    start, end = _resolved(first, today)
    return start, max(end, _resolved(last, today)[1] if last else "")


def _expression(words: Sequence[str], at: int, *, alone: bool) -> tuple[_Moment | None, int]:
    """Read a time from the words from here on, and how many words it takes.

    ``alone`` says that there must be a time here, so that a bare year, month or weekday is one.
    """
    word, second, third = (*words[at : at + 3], "", "", "")[:3]
    if word in _RELATIVE_DAYS:
        return ("day", _RELATIVE_DAYS[word], 0, 0), 1
    if (word, second, third) == ("day", "before", "yesterday"):
        return ("day", -2, 0, 0), 3
    if word in _OFFSETS:
        return _related(_OFFSETS[word], second, third)
    if third == "ago" and second in _COUNTED and (count := _number(word)) >= 0:
        return (_COUNTED[second], -count, 0, 0), 3
    if word in _WEEKDAYS:
        return (("weekday", _WEEKDAYS[word], 0, 0), 1) if alone else (None, 0)
    if word[:1].isdecimal() or word in _MONTHS:
        return _calendar(words, at, alone=alone)
    return None, 0


def _related(offset: int, second: str, third: str) -> tuple[_Moment | None, int]:
    """``last week``, ``this morning``, ``last 3 days``, ``last Monday``, ``last May``."""
    if second in _UNITS:
        return (_UNITS[second], offset, 0, 0), 2
    if (offset < 0 and second == "night") or (offset == 0 and second in ("morning", "afternoon", "evening")):
        return ("day", offset, 0, 0), 2
    if offset <= 0 and second in _WEEKDAYS:
        return ("weekday", _WEEKDAYS[second], -offset, 0), 2
    if offset <= 0 and second in _MONTHS:
        return ("date", 0, _MONTHS[second], 0), 2
    if offset < 0 and third in _COUNTED and (count := _number(second)) > 0:
        return ("past " + _COUNTED[third], -count, 0, 0), 3
    return None, 0


def _calendar(words: Sequence[str], at: int, *, alone: bool) -> tuple[_Moment | None, int]:
    """``2024-03``, ``May 2023``, ``3 March 2024``, ``March 3rd, 2024``, ``3rd of March``; alone also ``2024``, ``May``."""
    word = words[at]
    following = [*words[at + 1 : at + 4], "", "", ""]
    if word not in _MONTHS:
        if len(word) > len("2024"):
            return _iso(word)
        if alone and (year := _year(word)):
            return ("date", year, 0, 0), 1
        length = 3 if following[0] == "of" else 2
        month, day, year = _MONTHS.get(following[length - 2], 0), _day(word), _year(following[length - 1])
        if not month or not day:
            return None, 0
        return ("date", year, month, day), length + bool(year)
    month, day, year = _MONTHS[word], _day(following[0]), _year(following[0])
    if year:
        return ("date", year, month, 0), 2
    if day and (year := _year(following[1])):
        return ("date", year, month, day), 3
    if day and (alone or word not in _ALSO_VERBS):
        return ("date", 0, month, day), 2
    return (("date", 0, month, 0), 1) if alone else (None, 0)


def _iso(word: str) -> tuple[_Moment | None, int]:
    """A date that begins with its year, with hyphens or slashes; the time of a timestamp does not matter here."""
    parts = word.partition("t")[0].replace("/", "-").split("-")
    year = _year(parts[0])
    rest = [int(part) if part.isascii() and part.isdecimal() and len(part) <= len("12") else 0 for part in parts[1:]]
    if not year or not 1 <= len(rest) <= len(("month", "day")) or 0 in rest:
        return None, 0
    return ("date", year, rest[0], rest[1] if rest[1:] else 0), 1


def _number(word: str) -> int:
    """A count of up to four digits, or a small one in words; -1 for anything else."""
    if word.isascii() and word.isdecimal() and len(word) <= len("9999"):
        return int(word)
    return _NUMBERS.get(word, -1)


def _year(word: str) -> int:
    return (
        int(word)
        if len(word) == len("2024") and word[:2] in ("18", "19", "20", "21") and word.isascii() and word.isdecimal()
        else 0
    )


def _day(word: str) -> int:
    digits = word[:-2] if word.endswith(("st", "nd", "rd", "th")) else word
    day = int(digits) if digits.isascii() and digits.isdecimal() and len(digits) <= len("31") else 0
    return day if day <= 31 else 0  # noqa: PLR2004 - days of a month


def _resolved(moment: _Moment, today: str) -> tuple[str, str]:
    """The days of a moment in the calendar: the first one, and the one after the last; empty where there are none."""
    from datetime import date, timedelta

    try:
        if moment[0] == "date" and moment[1]:
            start, end = _dated(*moment[1:])
        else:
            now = date.fromisoformat(today[:10])
            if moment[0] == "date":
                start, end = _latest(now, moment[2], moment[3])
            elif moment[0] == "weekday":
                back = (now.weekday() - moment[1]) % 7 or 7 * moment[2]
                start = now - timedelta(back)
                end = start + timedelta(1)
            else:
                start, end = _shifted(now, moment[0], moment[1])
    except (ValueError, OverflowError):
        return "", ""
    return start.isoformat(), end.isoformat()


def _dated(year: int, month: int, day: int) -> tuple[date, date]:
    """A year, a month of it, or a day of that."""
    from datetime import date, timedelta

    if day:
        start = date(year, month, day)
        return start, start + timedelta(1)
    if month:
        return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)
    return date(year, 1, 1), date(year + 1, 1, 1)


def _latest(now: date, month: int, day: int) -> tuple[date, date]:
    """A month, or a day of it, in the last year in which it has begun."""
    for year in range(now.year, now.year - 9, -1):  # a 29th of February may be eight years away
        try:
            start, end = _dated(year, month, day)
        except ValueError:
            continue
        if start <= now:
            return start, end
    raise ValueError("no such day")


def _shifted(now: date, unit: str, offset: int) -> tuple[date, date]:
    """The day, week, month, quarter or year that is so many away from now.

    ``back week`` is the day that is so many weeks ago; ``past week`` is the time since then.
    """
    from datetime import date, timedelta

    how, _, unit = unit.rpartition(" ")
    if how:
        if unit in ("day", "week"):
            start = now + timedelta(offset * (7 if unit == "week" else 1))
        else:
            first, after = _shifted(now, "month", offset * (12 if unit == "year" else 1))
            start = min(first.replace(day=1) + timedelta(now.day - 1), after - timedelta(1))
        return start, (now if how == "past" else start) + timedelta(1)
    if unit == "day":
        return now + timedelta(offset), now + timedelta(offset + 1)
    if unit in ("week", "weekend"):
        monday = now + timedelta(7 * offset - now.weekday())
        return monday + timedelta(5 if unit == "weekend" else 0), monday + timedelta(7)
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    count = (now.year * 12 + now.month - 1) // months * months + offset * months
    following = count + months
    return date(count // 12, count % 12 + 1, 1), date(following // 12, following % 12 + 1, 1)
