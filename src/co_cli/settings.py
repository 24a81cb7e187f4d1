"""Where things live, and what the user has set.

Owns the folders of co, the discovery of the project, the table of settings, and which of them a project may bring along.
Knows nothing of notes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import Corrupt, Denied, Invalid, NotFound, Unavailable
from co_cli.files import make_folder, read_bytes, reason, replace_file

if TYPE_CHECKING:
    from typing import Any

PROJECT_FOLDER = ".co-cli"


PROVIDERS = ("gemini", "ollama", "openai", "anthropic", "offline")
MODES = ("auto", "grep", "text", "vector", "hybrid")
FUSIONS = ("weighted", "rrf")
YES_NO = ("yes", "no")
PERMISSIONS = ("allow", "ask", "inbox", "deny")
WINDOWS = {"gemini": 1_000_000, "openai": 400_000, "anthropic": 200_000, "ollama": 8_000, "offline": 8_000}
"""Tokens that fit into a model's window: no more than the smallest of the provider's usual models has."""
EMBEDDERS = ("static", "minilm", "ollama", "openai", "none", "fake")


_MOST_DIGITS = 18
"""Of a number that is set; Python refuses to read one of thousands."""


class Setting(NamedTuple):
    """One thing that can be set."""

    name: str
    default: str
    meaning: str
    harmless: bool
    """Whether a project may set it by itself; the others could run something or send data elsewhere."""
    choices: tuple[str, ...] = ()
    number: bool = False
    """Whether the value must be a whole number."""
    safe: str = ""
    """The value that a project may set all the same: the one that switches it off."""

    def may_come_along(self, value: str) -> bool:
        """Whether a project may bring this value without being trusted."""
        return self.harmless or (bool(self.safe) and value == self.safe)

    def accepts(self, value: str) -> bool:
        """Whether this can be its value."""
        return value.isdecimal() and len(value) <= _MOST_DIGITS if self.number else value in (self.choices or (value,))


SETTINGS = (
    Setting("personality", "", "style of the agent, one of `co prompt --personalities`", harmless=True),
    Setting("provider", "offline", f"model provider: {', '.join(PROVIDERS)}", harmless=False, choices=PROVIDERS),
    Setting("model", "", "model of the provider; empty for its usual one", harmless=False),
    Setting("provider_url", "", "address of a server that speaks the provider's protocol", harmless=False),
    Setting("model_window", "0", "tokens that fit into the model's window; 0: as usual", harmless=True, number=True),
    Setting("context_share", "50", "percent of that window that context may fill; 0: any", harmless=True, number=True),
    Setting(
        "recall_tokens",
        "600",
        "tokens of notes that a chat offers to its model by itself; 0: none",
        harmless=True,
        number=True,
    ),
    Setting(
        "auto_learn",
        "no",
        "whether facts are drafted from chats, for the inbox: `co learn --auto`",
        harmless=False,
        choices=YES_NO,
        safe="no",
    ),
    Setting(
        "learn_tokens",
        "20000",
        "tokens a day that drafting and summaries may take from a model; 0: none",
        harmless=False,
        number=True,
        safe="0",
    ),
    Setting("languages", "", "programming languages of a project, with commas; empty: as its files tell", harmless=True),
    Setting("mode", "auto", "way of searching where none is asked for", harmless=True, choices=MODES),
    Setting("text_from", "200", "notes from which `auto` ranks by words", harmless=True, number=True),
    Setting("hybrid_from", "500", "notes from which `auto` ranks by words and meaning", harmless=True, number=True),
    Setting("fusion", "weighted", "how words and meaning are weighed: weighted or rrf", harmless=True, choices=FUSIONS),
    Setting("embedder", "static", f"what makes vectors: {', '.join(EMBEDDERS)}", harmless=False, choices=EMBEDDERS),
    Setting("embedding_url", "", "address of the server that makes vectors", harmless=False),
    Setting("embedding_model", "", "model of the server that makes vectors", harmless=False),
    Setting("unused_days", "120", "days unused after which a memory may go; 0: never", harmless=True, number=True),
    Setting("category_limit", "200", "memories that a category may have; 0: any number", harmless=True, number=True),
    Setting("hot_tools", "2", "hot index: weight of each tag that names a tool", harmless=True, number=True),
    Setting("hot_topics", "2", "hot index: weight of how often a topic came back", harmless=True, number=True),
    Setting("hot_memories", "1", "hot index: weight of how often a memory came back", harmless=True, number=True),
    Setting("seed_folders", "", f"more folders of seed documents, with {os.pathsep!r} between", harmless=False),
    Setting("log_arguments", "no", "whether `co usage` keeps what tools were called with", harmless=False, choices=YES_NO),
    Setting(
        "mcp_writes",
        "allow",
        "whether clients of `co mcp` may change notes: allow, ask, inbox (they propose) or deny",
        harmless=False,
        choices=PERMISSIONS,
    ),
    Setting("fetch_allow", "", "hosts and networks to fetch from although they are not in the internet", harmless=False),
    Setting("fetch_megabytes", "25", "size from which a page is not fetched", harmless=False, number=True),
    Setting("fetch_robots", "yes", "whether a site's robots.txt is obeyed", harmless=False, choices=YES_NO),
    Setting("editor", "", "command of `co edit`, before $VISUAL and $EDITOR", harmless=False),
)
DEFAULTS = {setting.name: setting.default for setting in SETTINGS}
_BY_NAME = {setting.name: setting for setting in SETTINGS}


class Places(NamedTuple):
    """The folders in force: one user, one project."""

    home: str
    """The user's folder: settings, personalities and the global vault."""
    state: str
    """What is neither knowledge nor derivable: journal, usage, sessions."""
    project: str
    """The top of the project, in which ``.co-cli`` lies or would lie."""
    cache: str
    """What can be made again at any time: models, and indexes of vaults that cannot be written."""

    @property
    def global_vault(self) -> str:
        """The folder of the global vault."""
        return os.path.join(self.home, "knowledge")

    @property
    def project_vault(self) -> str:
        """The folder of the project's vault."""
        return os.path.join(self.project, PROJECT_FOLDER, "knowledge")

    @property
    def usage_log(self) -> str:
        """The file of the log of tool calls."""
        return os.path.join(self.state, "usage.db")

    @property
    def user_settings(self) -> str:
        """The user's settings file."""
        return os.path.join(self.home, "settings.json")

    @property
    def project_settings(self) -> str:
        """The settings file that comes with the project."""
        return os.path.join(self.project, PROJECT_FOLDER, "settings.json")

    @property
    def instructions(self) -> str:
        """The conventions of the project."""
        return os.path.join(self.project, PROJECT_FOLDER, "instructions.md")


def find_places(project: str | os.PathLike[str] | None = None) -> Places:
    """The folders for a project, or for the one that the working directory is in."""
    home = os.environ.get("CO_HOME") or os.path.join(_xdg("XDG_CONFIG_HOME", ".config"), "co-cli")
    state = os.path.join(_xdg("XDG_STATE_HOME", os.path.join(".local", "state")), "co-cli")
    if project is not None:
        top = os.path.abspath(os.path.expanduser(os.fspath(project)))
        if not os.path.isdir(top):
            raise NotFound(f"There is no folder {top}.", "Name the top folder of a project.")
    else:
        top = find_project(_working_directory())
    cache = os.path.join(_xdg("XDG_CACHE_HOME", ".cache"), "co-cli")
    return Places(os.path.abspath(os.path.expanduser(home)), os.path.abspath(state), top, os.path.abspath(cache))


def _xdg(variable: str, default: str) -> str:
    given = os.environ.get(variable, "")
    return given if os.path.isabs(given) else os.path.join(_user_folder(), default)


def _user_folder() -> str:
    home = os.path.expanduser("~")
    if not os.path.isabs(home) or home == os.path.dirname(home):  # HOME is empty, or the top of the disk
        raise Unavailable("Your home folder is not known: HOME is not set to a folder.", "Set HOME, or CO_HOME.")
    return home


def _working_directory() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise Unavailable("The working directory does not exist any more.", "Change to a folder that exists: cd ~") from None


def find_project(start: str) -> str:
    """The nearest ancestor that holds ``.co-cli``, else the top of the git checkout, else the folder itself."""
    git_top = ""
    folder = os.path.abspath(start)
    while True:
        if os.path.isdir(os.path.join(folder, PROJECT_FOLDER)):
            return folder
        if not git_top and os.path.exists(os.path.join(folder, ".git")):  # a folder, or a worktree's file
            git_top = folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return git_top or os.path.abspath(start)
        folder = parent


# --------------------------------------------------------------------------------------------------------------- settings


class Chosen(NamedTuple):
    """A setting with the value in force and where it comes from."""

    name: str
    value: str
    origin: str
    """``default``, ``user`` or ``project``."""


class Settings(NamedTuple):
    """All settings in force, and what the project asked for without being trusted to."""

    chosen: tuple[Chosen, ...]
    untrusted: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def value(self, name: str) -> str:
        """The value in force of one setting."""
        known_setting(name)
        return next(chosen.value for chosen in self.chosen if chosen.name == name)


def known_setting(name: str) -> Setting:
    """The setting of this name."""
    if name not in _BY_NAME:
        import difflib

        near = difflib.get_close_matches(name, _BY_NAME, n=1)
        hint = f"Did you mean {near[0]}? " if near else ""
        raise NotFound(f"There is no setting {name!r}.", f"{hint}`co config list` shows them all.")
    return _BY_NAME[name]


def load_settings(places: Places) -> Settings:
    """Merge the defaults, the user's settings, and of the project's those that it may set."""
    user, user_warnings = _read_tolerantly(places.user_settings)
    project, project_warnings = _read_tolerantly(places.project_settings)
    may_set_all = bool(project) and is_trusted(places)
    untrusted = tuple(
        name for name in project if not may_set_all and name in _BY_NAME and not _BY_NAME[name].may_come_along(project[name])
    )
    chosen = []
    for setting in SETTINGS:
        if setting.name in project and setting.name not in untrusted:
            chosen.append(Chosen(setting.name, project[setting.name], "project"))
        elif setting.name in user:
            chosen.append(Chosen(setting.name, user[setting.name], "user"))
        else:
            chosen.append(Chosen(setting.name, setting.default, "default"))
    return Settings(tuple(chosen), untrusted, (*user_warnings, *project_warnings))


def _read_tolerantly(path: str) -> tuple[dict[str, str], list[str]]:
    """The known settings of a file; what is wrong with it is a warning, since a session must start all the same."""
    try:
        content = _read_file(path)
    except Corrupt as error:
        return {}, [f"{error.message} It is left out. {error.hint}".strip()]
    known: dict[str, str] = {}
    warnings = []
    for name, value in content.items():
        if name not in _BY_NAME:
            warnings.append(f"{path}: there is no setting {name!r}; it is left out.")
        elif not isinstance(value, str):
            warnings.append(f"{path}: the setting {name!r} must be a text; it is left out.")
        elif not _BY_NAME[name].accepts(value):
            warnings.append(f"{path}: {name} cannot be {value!r}; it is left out.")
        else:
            known[name] = value
    return known, warnings


def _read_file(path: str) -> dict[str, Any]:
    try:
        raw = read_bytes(path)
        if raw is None:
            return {}
        text = raw.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise Corrupt(f"{path} cannot be read: {reason(error)}.", "Check the file and its permissions.") from error
    import json

    try:
        content = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise Corrupt(f"{path}:{line}: this is no JSON.", "Correct the file by hand.") from error
    if not isinstance(content, dict):
        raise Corrupt(f"{path}:1: settings must be a JSON object.", "Correct the file by hand.")
    return content


def change_setting(places: Places, name: str, value: str | None, *, in_project: bool = False) -> str:
    """Set a value, or with ``None`` go back to the default; everything else in the file stays. Returns the file's path."""
    setting = known_setting(name)
    if value is not None and not setting.accepts(value):
        hint = (
            f"Choose one of {', '.join(setting.choices)}."
            if setting.choices
            else f"Give a whole number of at most {_MOST_DIGITS} digits."
        )
        raise Invalid(f"{name} cannot be {value!r}.", hint)
    if value is not None and not value.isprintable():
        raise Invalid(f"The value {value!r} has signs that cannot be shown.", "Type it again.")
    if in_project and not setting.may_come_along(setting.safe if value is None else value):
        raise Denied(
            f"{name} cannot be set for a project by co: whoever clones it would have to trust it first.",
            f"Set it for yourself: co config set {name} …",
        )
    path = places.project_settings if in_project else places.user_settings
    content = _read_file(path)
    if value is None:
        content.pop(name, None)
    else:
        content[name] = value
    _write_json(path, content)
    return path


def _write_json(path: str, content: object) -> None:
    import json

    make_folder(os.path.dirname(path))
    # a link, such as one into a folder of dotfiles, stays a link
    replace_file(os.path.realpath(path), (json.dumps(content, indent=2) + "\n").encode("ascii"))


# ------------------------------------------------------------------------------------------------------------------ trust


def sensitive_settings(places: Places) -> tuple[dict[str, str], str]:
    """What the project's settings ask for beyond the harmless, and the fingerprint of the file that asks for it."""
    fingerprint = _fingerprint(places)
    project, _ = _read_tolerantly(places.project_settings)
    return {name: value for name, value in project.items() if not _BY_NAME[name].may_come_along(value)}, fingerprint


def is_trusted(places: Places) -> bool:
    """Whether the user has trusted the project's settings, in just this wording."""
    fingerprint = _fingerprint(places)
    return bool(fingerprint) and _read_trust(places).get(places.project) == fingerprint


def trust_project(places: Places, fingerprint: str) -> None:
    """Take the project's settings for one's own, in the wording that has this fingerprint and in no other."""
    if not fingerprint:
        hint = f"Settings of a project lie in {places.project_settings}."
        raise Invalid(f"{places.project} brings no settings: there is nothing to trust.", hint)
    _write_json(_trust_file(places), {**_read_trust(places), places.project: fingerprint})


def distrust_project(places: Places) -> None:
    """Take the project's settings for one's own no longer."""
    known = _read_trust(places)
    if known.pop(places.project, None) is not None:
        _write_json(_trust_file(places), known)


def _trust_file(places: Places) -> str:
    return os.path.join(places.home, "trusted.json")


def _read_trust(places: Places) -> dict[str, Any]:
    try:
        return _read_file(_trust_file(places))
    except Corrupt:  # trust that cannot be read is no trust
        return {}


def _fingerprint(places: Places) -> str:
    try:
        content = read_bytes(places.project_settings)
    except OSError:
        content = None
    if not content:
        return ""
    import hashlib

    return hashlib.sha256(content).hexdigest()
