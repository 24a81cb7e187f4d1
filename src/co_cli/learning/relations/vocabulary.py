"""The words by which statements are compared: which say nothing, which deny, which exclude each other.

Owns the tables, all of them short: what is not in them is compared by the place where it stands. English, with a few words
of other languages where a wrong guess would be an expensive one. Pure.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _groups(text: str) -> dict[str, frozenset[int]]:
    """The numbers of the lines that each word stands in; a blank within a word is written as ``_``."""
    found: dict[str, set[int]] = {}
    for number, line in enumerate(filter(None, map(str.strip, text.splitlines()))):
        for word in line.split():
            found.setdefault(word, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


SILENT = _words("""
    a an the this that these those it its they them their there i me my we us our you your he she his her user users and
    or but so then thus also too as well please is are was were be been being am do does did has have had will would
    shall of if for_example such just very quite really
""")
"""Words that are left out wherever they stand."""

SOFT = _words("""
    all any every each always everywhere everything anywhere only now currently already still today generally usually
    normally mostly typically default new general strictly actually again nowadays consistently entire whole own both
    ever directly straight anyone anybody project repo team codebase developer code_base here get make sure ensure kind type
    own call suite
""")
"""Words that may be missing from a statement that means the same."""

LIGHT = _words("""
    use run live lie need require should must may can could might want wish stay keep retain preserve put set go have do
    locate store reside find sit manage handle allow permit enable support happen contain hold provide make take write
    follow employ utilize adopt listen serve host respond bind expose perform belong track remain like prefer favour
    favor love enjoy mandatory compulsory necessary obligatory ok okay fine acceptable valid true change increase
    decrease lower reduce bump set up sollen muss müssen ist sind das der die wir base target rewrite represent express
    reimplement give given
""")
"""Verbs, mostly, that link a thing with what is said of it, and say little themselves."""

ATTITUDES = _words("like prefer favour favor love enjoy want wish hate dislike learn know")
"""What a person thinks of a thing, which is no word about whether it is in use."""

ROLES = _words("""
    in on at to with by as from after before under for every until within via into onto during when without over
""")
"""Words that say which part the next words play."""

MEANS = frozenset(("", "in", "with", "by", "as", "on"))
"""Roles of what a thing is made with, which people put in one way or another."""
PLACES = _words("in on at under into onto to within")
SCOPES = _words("for in during when")
"""Roles that an order gives to the things it is about: "use tabs in Makefiles"."""

COPULAS = _words("is are was were be been being = : means equals")
MODALS = _words("must should may can could shall will would might do does did has have had need needs get gets")
BREAKS = _words("; — – ( ) - because whereas although though")
"""Words and signs behind which a reason, or a second thought, begins."""
OPENERS = _words("in on for at when if before after from during with by every unless while within under")
"""Words that begin a condition; when one comes first, what is said follows behind a comma."""
PERSONS = _words("we i user users team you")
MOVES = _words("switch move migrate change go upgrade port")
"""Verbs by which something goes from one thing to another."""
INVARIABLE = _words("is was his this its us as yes always status process access address alias axis bus class cors")
"""Words that end like a plural, and are none."""

DENYING = _words("""
    not never no none neither nor without stop drop remove abandon ditch quit cease avoid forbid prohibit ban refrain
    deprecate retire discontinue optional unnecessary unneeded obsolete gone formerly previously nicht nie niemals kein
    keine keinen keiner ohne pas jamais sans nunca jamás não senza niet nooit geen zonder
""")
"""Words that turn a statement into its opposite."""
ENDED = _words("remove drop abandon retire deprecate discontinue")
"""Those that deny only where it has been done: "support was dropped"."""
QUALITIES = _words("optional unnecessary unneeded obsolete gone")
"""Those that tell of a thing, before which they stand, that it is of this sort: "the obsolete server"."""

OPPOSITES = {
    "disable": "enable",
    "deactivate": "enable",
    "activate": "enable",
    "exclude": "include",
    "omit": "include",
    "reject": "accept",
    "deny": "allow",
    "disallow": "allow",
    "hide": "show",
    "dislike": "like",
    "hate": "like",
    "detest": "like",
    "ignore": "consider",
    "unsupported": "support",
    "unstable": "stable",
    "insecure": "secure",
    "invalid": "valid",
    "unsafe": "safe",
    "unused": "use",
}
"""Words that stand for the denial of another; the one or two that do not deny are taken for it as they are."""
SAME_SIDE = _words("activate")

ALTERNATIVES = _groups("""
    npm pnpm yarn bun
    pip poetry uv pdm pipenv conda
    maven gradle bazel sbt
    isort ruff
    black ruff yapf autopep8 prettier biome
    flake8 pylint ruff
    eslint biome oxlint tslint
    mypy pyright pyre
    pytest unittest nose
    jest vitest mocha jasmine
    cypress playwright selenium puppeteer
    webpack vite rollup parcel esbuild turbopack
    react vue svelte angular solid ember preact
    redux zustand mobx recoil jotai pinia vuex
    django flask fastapi starlette tornado sanic
    express koa fastify nestjs hapi
    rails sinatra
    spring quarkus micronaut
    postgresql mysql mariadb sqlite oracle mssql mongodb cockroachdb dynamodb cassandra couchdb
    redis memcached valkey
    rabbitmq kafka nats sqs activemq pulsar
    sqlalchemy peewee tortoise prisma typeorm drizzle sequelize
    github gitlab bitbucket gitea
    jenkins circleci travis buildkite teamcity drone actions
    docker podman
    kubernetes nomad swarm ecs
    terraform pulumi cloudformation ansible chef puppet
    aws azure gcp hetzner digitalocean heroku
    s3 gcs minio
    jira linear trello asana youtrack
    slack teams discord mattermost zulip
    python java kotlin go rust ruby scala elixir typescript javascript c c++ c# php swift perl dart clojure haskell
    vim neovim emacs helix zed vscode sublime pycharm intellij webstorm nano cursor
    bash zsh fish powershell
    linux macos windows
    ubuntu debian fedora alpine arch centos
    rest grpc graphql soap
    json yaml toml xml ini csv
    bcrypt argon2 scrypt pbkdf2
    jwt session cookie oauth
    camelcase snake_case kebab-case pascalcase
    uuid integer ulid
    sentry rollbar bugsnag
    datadog prometheus newrelic
    nx turborepo lerna
    sass less tailwind bootstrap
    markdown restructuredtext asciidoc
    sphinx mkdocs docusaurus
    merge rebase squash
    nginx apache caddy traefik
    flutter react-native swiftui
    mit apache-2.0 gpl bsd mpl
    openai anthropic gemini ollama mistral
    english german french spanish italian portuguese dutch polish russian japanese chinese korean
    american british
    utc local
    monday tuesday wednesday thursday friday saturday sunday weekday weekend
    january february march april may june july august september october november december
    morning noon afternoon evening midnight night
    stdout stderr file
    cent euro dollar
""")
"""Words of which only one can be right in the same place, a kind of things on each line. See also ``MANY``."""

CONTRARIES = _groups("""
    tab space
    before after
    dark light
    single double
    short long
    short detailed
    brief detailed
    concise detailed
    concise verbose
    terse verbose
    concise long
    brief long
    terse detailed
    small large
    small big
    fast slow
    strict loose
    strict lenient
    automatically manually
    automatic manual
    hand automatically
    sync async
    synchronous asynchronous
    public private
    uppercase lowercase
    ascending descending
    left right
    top bottom
    eager lazy
    relative absolute
    monorepo polyrepo
    metric imperial
    formal informal
    online offline
    mutable immutable
    singular plural
    immer nie
    long-lived short-lived
    stable flaky
    stable unstable
    open closed
    beginner expert
    novice expert
    verbose concise
    many few
    strong weak
    early late
    soft hard
    narrow wide
    simple complex
    rare frequent
    rarely often
    deep flat
    deep shallow
    inside outside
    sequential parallel
    sequentially parallel
    stateless stateful
    static dynamic
    explicit implicit
    warm cold
    free paid
    opt-in opt-out
    blocking non-blocking
    single multiple
    lf crlf
    shared separate
    short verbose
""")
"""Words that exclude each other wherever they stand in the same place."""

DISTINCT = _words("""
    first last next previous old minimum maximum client server frontend backend staging production development read write
    start end stop unit integration debug source target input output request response internal external
""")
"""Words that tell two things apart: what is so of the one, may be otherwise of the other."""

GENERIC = _words("commit change branch pr code file work")
"""What an act is done to, so plainly that it may be left unsaid: one squashes commits."""

PERMITS = _words("fine ok okay acceptable allow permit")
"""Verbs by which something may be done, and need not."""

MANY = _words("like love enjoy speak know learn support understand include have contain accept offer install study")
"""Verbs of which one may have several objects: who speaks French may speak Spanish."""

TIMES = _words("""
    monday tuesday wednesday thursday friday saturday sunday weekday weekend january february march april may june july
    august september october november december morning noon afternoon evening midnight night
""")
"""Words that say when, and not where."""

SINGLE = _words("""
    name nickname port host hostname url address branch version format style language editor database queue broker theme
    shell licence license timeout limit length size locale zone timezone encoding region model provider framework manager
    bundler linter formatter deadline date freeze launch owner lead maintainer colour color prefix suffix algorithm hash
    auth state storage quote indent convention case strategy os keyboard font title password path folder file level mode
    time capacity threshold width height budget rate price currency unit level interval
""")
"""Things that have one value: two statements that give them different ones cannot both be right."""

FIXED = _words("""
    name call call_as listen live lie locate reside store save keep host deploy publish release write build implement
    expire run serve start begin schedule happen own maintain lead move switch migrate bind manage format return
    raise log target license version tag sign mount generate compile send reset rotate
""")
"""Verbs by which something gets one place, one time, one maker or one name."""

HOLDERS = _words("own maintain lead head manage")
"""Verbs of which one somebody is the subject: who owns a module."""

ALIASES = {
    word: plain
    for plain, words in {
        "deploy": "deployment deployments",
        "doc": "documentation docs",
        "indent": "indentation",
        "repo": "repository",
        "db": "db",
        "database": "db datastore",
        "auth": "authentication",
        "config": "configuration",
        "folder": "directory dir",
        "postgresql": "postgres pg psql",
        "javascript": "js",
        "typescript": "ts",
        "kubernetes": "k8s",
        "python": "py",
        "standup": "stand-up",
        "short": "brief concise succinct terse",
        "answer": "reply replies response responses",
        "production": "prod",
        "forbid": "forbidden",
        "favourite": "favorite preferred",
        "colour": "color",
        "maximum": "max",
        "minimum": "min",
        "error": "exception",
        "vscode": "vs-code",
        "mongodb": "mongo",
        "go": "golang",
        "limit": "restrict restricted",
        "time-zone": "timezone",
        "hash": "hashing",
        "test": "testing",
        "write": "written wrote",
        "build": "built",
        "keep": "kept",
        "send": "sent ship shipped",
        "run": "ran execute launch",
        "before": "prior",
        "millisecond": "ms msec",
        "rewrite": "rewritten rewrote",
        "do": "done",
        "go_to": "goes",
        "choose": "chose chosen",
        "begin": "began begun",
        "set": "setting",
        "leave": "left",
        "name": "named",
        "call": "called",
        "end": "finish",
        "start": "begin",
        "sign-in": "login log-in",
    }.items()
    for word in words.split()
}
"""Other ways of writing a word."""

_UNITS: dict[str, dict[str, float]] = {
    "s": {
        "ms millisecond msec": 0.001,
        "s sec second": 1,
        "min minute": 60,
        "h hour hr": 3600,
        "d day": 86400,
        "w week": 604800,
        "fortnight": 1209600,
        "month": 2592000,
        "quarter": 7776000,
        "y year yr": 31536000,
    },
    "B": {"byte": 1, "kb kib": 1024, "mb mib": 1024**2, "gb gib": 1024**3, "tb tib": 1024**4},
    "%": {"% percent": 1},
}
UNITS = {
    word: (unit, factor) for unit, factors in _UNITS.items() for words, factor in factors.items() for word in words.split()
}
"""Units with what they count in others of their kind; only beside a number."""

FREQUENCIES = {
    "nightly": "night",
    "hourly": "hour",
    "daily": "day",
    "weekly": "week",
    "biweekly": "fortnight",
    "monthly": "month",
    "yearly": "year",
}

_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve"
NUMBERS = {word: str(number) for number, word in enumerate(_NUMBER_WORDS.split())} | {
    **{word: str(10 * number) for number, word in enumerate(_TENS.split(), start=2)},
    "fifteen": "15",
    "once": "1",
    "twice": "2",
    "thrice": "3",
    "dozen": "12",
}
