"""Plain forms of what people put in several ways: who owns a thing, what limits it, where it is, how long it takes.

Owns rewriting a sentence, before it is taken apart, to the form in which two of them can be compared word by word. Knows
nothing of what a comparison means. English. Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class _Form(NamedTuple):
    triggers: frozenset[str]
    """Words of which one is in each sentence that it is for; most sentences have none, and cost nothing."""
    pattern: re.Pattern[str]
    plain: str | Callable[[re.Match[str]], str]


_BOUND = re.compile(r"(?i)\b(?:maximum|minimum) (?=\d)")
_MEASURE = re.compile(r"(?i)\b(?:in )?(?:length|size|width|version|long|large|big|wide|tall)\b ?")
"""What a bound is of, where that goes without saying: a line that is at most so many characters long."""
_HOLDS = {"owner": "owns", "maintainer": "maintains", "lead": "leads", "head": "heads"}
_PERSON = r"(?P<who>(?-i:[A-Z])[\w-]+(?: (?-i:[A-Z])[\w-]+)?)"
_HOLDER = r"(?P<holder>owner|maintainer|lead|head)"
_STAGES = "production|prod|staging|test|development|dev|local"
_DATABASES = "postgres|mysql|mariadb|sqlite|oracle|mongo|cockroachdb|dynamodb|cassandra"
_BOUND_FIRST = r"^(?:the |our )?(?P<bound>max|min)(?:imum)? (?:allowed )?(?P<what>.+?) (?:is|are|must be)\s+(?=\d)"
_LANGUAGES = (
    r"(?:python|go|java|kotlin|rust|ruby|scala|typescript|javascript|c\+\+|php|swift|yaml|json|toml|css|html|sql|shell|bash)"
)


def _holding(found: re.Match[str]) -> str:
    return f"{found['who']} {_HOLDS[found['holder'].lower()]} {found['what']}"


def _bound(found: re.Match[str]) -> str:
    return f"{found['what']} is {found['bound'].lower()}imum "


def _form(triggers: str, pattern: str, plain: str | Callable[[re.Match[str]], str]) -> _Form:
    return _Form(frozenset(triggers.split()), re.compile(f"(?i){pattern}"), plain)


_FORMS = (
    # who owns a thing
    _form("owner maintainer lead head", rf"^(?:the |our )?{_HOLDER} of (?P<what>.+?) is {_PERSON}\W*$", _holding),
    _form("owner maintainer lead head", rf"^{_PERSON} is (?:the |our )?{_HOLDER} of (?P<what>.+)$", _holding),
    _form("owner maintainer", rf"^(?P<what>.+?)(?:'s| has) (?:as )?{_HOLDER} (?:is )?{_PERSON}\W*$", _holding),
    # what limits it
    _form(
        "exceed longer larger bigger higher greater wider more over",
        r"\b(?:(?:must|may|can|should|do|does|are|is)(?: not|n't)|cannot|can't|never)(?: allowed to| to)?"
        r" (?:exceed|be (?:(?:more|longer|larger|bigger|higher|greater|wider) than|over))\s+(?=\d)",
        "is maximum ",
    ),
    _form(
        "below under less lower shorter smaller fewer",
        r"\b(?:(?:must|may|can|should|do|does)(?: not|n't)|cannot|can't|(?:must )?never) (?:fall|drop|go|be|sink|get|have)"
        r" (?:below|under|(?:less|lower|shorter|smaller|fewer) than)\s+(?=\d)",
        "is minimum ",
    ),
    _form(
        "limited capped most maximum more",
        r"\b(?:limited to|capped at|at most|(?:no|not) more than|a maximum of)\s+(?=\d)",
        "maximum ",
    ),
    _form("least", r"\bat least (?-i:([A-Z][\w.+#-]*)) (?=\d)", r"\1 minimum "),
    _form("least minimum less", r"\b(?:at least|(?:no|not) less than|a minimum of)\s+(?=\d)", "minimum "),
    _form("newer later higher above up", r"(?<=\s)(\d[\w.%]*) (?:or|and) (?:newer|later|higher|above|up)\b", r"minimum \1"),
    _form("older lower fewer less", r"(?<=\s)(\d[\w.%]*(?: \w+)?) or (?:older|lower|fewer|less)\b", r"maximum \1"),
    _form("maximum minimum max min", _BOUND_FIRST, _bound),
    # where, when and how long it is
    _form("where", r"^(.+?) is where (.+?) (?:runs?|lives?|is|are|listens?|goes?|sits?)\W*$", r"\2 runs on \1"),
    _form("folder directory dir", r"(?<=\s)([\w.~-]*/[\w./-]*) (?:folder|directory|dir)\b", r"\1"),
    _form("folder directory dir", r"\b(?:folder|directory|dir) (?=[\w.~-]*/)", ""),
    _form(
        "starts start begins begin held scheduled", r"\b(?:starts?|begins?|(?:is|are) (?:held|scheduled)) (?=at \d)", "is "
    ),
    _form("every other cut", r"\bevery other\b", "every second"),
    _form("cut out", r"\breleases (?:are cut|go out)\b", "we release"),
    _form("out", r"\b(?:deploys|deployments) go out\b", "we deploy"),
    _form("deleted purged removed", r"\b(?:is|are|get|gets) (?:deleted|purged|removed) after (?=\d)", "are kept for "),
    _form("lasts last", r"\blasts? (?=\d)", "is "),
    _form("times", r"\b((?:max|min)imum \d+) times\b", r"\1"),
    _form("enough", r"^(\w+ \w+) (?:is|are) enough for (?:an? )?(.+?)\W*$", r"\2 need \1"),
    _form("based works work", r"\b(?:works? from|(?:is|are|am|'m) based in) (?=(?-i:[A-Z]))", " is located in "),
    _form("responds respond answers", r"\b(?:responds?|answers) with\b", "returns"),
    _form("hand manually", r"\b(edit|edited|change|changed|touch|touched) (?:by hand|manually)\b", r"\1"),
    _form("once", r"\bonce (?:an?|per|every) (?=\w)", "every "),
    _form(
        "about roughly around approximately",
        r"\b(?:about|roughly|around|approximately) (?=\d|an? |half |\w+ (?:seconds|minutes|hours|days))",
        "",
    ),
    _form(
        "it takes",
        r"^it takes (.+?) (?:for (.+?) to (?:finish|run|complete|end)|to (?:run|finish|complete) (.+?))\W*$",
        r"\2\3 takes \1",
    ),
    # what it is made, handled and filled with
    _form("installed done", r"\b(is|are) (?:installed|done) (with|by|via|using|through)\b", r"\1 handled \2"),
    _form(
        "read loaded fetched taken pulled retrieved",
        r"\b(?:is|are) (?:read|loaded|fetched|taken|pulled|retrieved) from\b",
        "come from",
    ),
    _form(
        "gets reads takes fetches loads pulls get read fetch load",
        r"\b(?:the |our )?(?:app|application|service|program|system|server|we)"
        r" (?:gets?|reads?|takes?|fetch(?:es)?|loads?|pulls?) (?:its |the |all |our )*(\w+(?: \w+)?) from\b",
        r"\1 come from",
    ),
    _form("package", r"^(.+?) is (?:our|the) package manager\b", r"We use \1 for packages"),
    _form("package", r"^(?:our|the) package manager is (\S+?)(?=[.,;]?(?:\s|$))", r"We use \1 for packages"),
    _form("test", r"^(.+?) is (?:our|the) test (?:runner|framework)\b", r"We use \1 for tests"),
    _form("build", r"^(.+?) is (?:our|the) build tool for (.+?)\W*$", r"\2 is built with \1"),
    # of whom it is
    _form("own", r"^(?:each|every) (.+?) has its own (?:separate |dedicated |private )?(.+?)\W*$", r"\2 is separate for \1"),
    _form(
        "own", r"^(?:all |the )*(.+?) have their own (?:separate |dedicated |private )?(.+?)\W*$", r"\2 is separate for \1"
    ),
    _form("share", r"^(?:all |the )*(.+?) share (?:a single |an? |one |the same |the )(.+?)\W*$", r"\2 is shared for \1"),
    _form("shared", r"\b(is|are) shared (?:between|by|among|across)(?: all)?(?: of)?(?: the| our)?\b", r"\1 shared for"),
    # what is to be done
    _form("without", r"^no (?:new )?([\w-]+) without asking(?: me)?(?: first)?\b", r"Ask before adding new \1"),
    _form(
        "commit push commits pushes",
        r"\b(?:commit|push) (?:anything |code )?(?:directly |straight )?(?:in)?to (?=main|master|trunk)",
        "commit to ",
    ),
    _form(
        "forbidden", r"^(?:direct )?(?:commits|pushes) to (main|master|trunk) (?:is|are) forbidden", r"Never commit to \1"
    ),
    # names of several words
    _form("spelling english", r"\b(british|american) (?:spelling|english)\b", r"\1"),
    _form("continuous", r"\bcontinuous integration\b", "CI"),
    _form("front back", r"\b(front|back) end\b", r"\1end"),
    _form("amounts amount", r"\b(?:amounts? of money|money amounts?)\b", "money"),
    _form("whole", r"\bwhole (?=cents|numbers)", "integer "),
    _form("files code sources strings", rf"\b({_LANGUAGES}) (?:source )?(?:files|code|sources|strings)\b", r"\1"),
    _form("environment env", r"\b(staging|production|prod|qa) env(?:ironment)?\b", r"\1"),
    _form("database db", rf"\b({_STAGES}) (?:database|db) (?=(?:is|runs on) (?:{_DATABASES}))", r"\1 "),
    _form("apache", r"\bapache (?=2)", "apache-"),
)
_TRIGGERS = frozenset(word for form in _FORMS for word in form.triggers)
_EDGES = ".,;:!?()\"'"


def plain(sentence: str) -> str:
    """A sentence in its plain form, which is mostly the one that it has."""
    words = {word.strip(_EDGES) for word in sentence.lower().split()}
    met = words & _TRIGGERS
    if not met:
        return sentence
    for form in _FORMS:
        if not met.isdisjoint(form.triggers):
            sentence = form.pattern.sub(form.plain, sentence, count=1)
    return _MEASURE.sub("", sentence) if _BOUND.search(sentence) else sentence
