"""Seed documents: files that become topics by themselves, once.

Owns what a seed document looks like, and the memory of what was seeded: by slug and hash, in the state folder. Knows nothing
of surfaces or search.

A seed never overwrites. Whatever there is under its name stays, and a seeded topic that somebody changed or removed stays
changed or removed; a seed that changed is taken only when somebody says so. Whether there is anything to do is told by the
times of the folders, which change when a file is added: no more than that is looked at when co starts.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import CoError, Corrupt, NotFound, Unavailable
from co_cli.files import locked, make_folder, read_bytes, reason, replace_file
from co_cli.note import GLOBAL, TOPIC, NoteError, Problem, sha_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from co_cli.draft import Draft
    from co_cli.vault import Vault

LOADED, TAKEN, KEPT, LEFT = "loaded", "taken", "kept", "left"
SETTLING_NS = 50_000_000
"""How long after a change the time of a folder may still be that of another change."""

_TAGS = re.compile(r"tags[ \t]*:[ \t]*(.*)", re.IGNORECASE)


class Seed(NamedTuple):
    """A seed document as it stands in its file."""

    path: str
    slug: str
    content: str
    tags: tuple[str, ...]
    sha: str
    """The hash of the file."""


class Taken(NamedTuple):
    """What is remembered of a seed document."""

    sha: str
    topic: str
    """What text and tags it gave to its topic, as a hash; empty where there was a topic of this name before."""


class Seeded(NamedTuple):
    """What became of a seed document."""

    slug: str
    ref: str
    path: str
    outcome: str
    """``loaded`` or ``taken``; ``kept`` where a topic of this name was there before; ``left`` where it was changed here."""
    reason: str = ""


class Seeding(NamedTuple):
    """What loading the seed documents did."""

    seeded: tuple[Seeded, ...] = ()
    problems: tuple[Problem, ...] = ()


class Changed(NamedTuple):
    """A seed document that is no longer what was taken."""

    slug: str
    ref: str
    path: str
    state: str
    """``unchanged`` where the topic is as it was seeded, ``edited`` or ``deleted`` where somebody has changed that, ``own``
    where the topic was there before."""
    difference: str


def is_settled(vaults: Iterable[Vault], extra: Sequence[str], state: str) -> bool:
    """Whether nothing was added since the seeds were loaded: one look at each folder, and at what is remembered of it."""
    for vault in vaults:
        stamp = _stamp(_folders(vault, extra))
        if stamp:
            raw = _raw(vault, state)
            if raw is None or raw.partition(b"\n")[0] != stamp:
                return False
    return True


def load(vaults: Iterable[Vault], extra: Sequence[str], state: str) -> Seeding:
    """Make topics of the seed documents that have not been seen before."""
    done: list[Seeded] = []
    problems: list[Problem] = []
    for vault in vaults:
        folders = _folders(vault, extra)
        if _stamp(folders):
            done.extend(_load(vault, folders, state, problems))
    return Seeding(tuple(done), tuple(problems))


def _load(vault: Vault, folders: Sequence[str], state: str, problems: list[Problem]) -> list[Seeded]:
    stamp, known = _settled_stamp(folders), _remembered(vault, state)
    found: list[Problem] = []
    unseen = [seed for seed in _read(vault, folders, found) if seed.slug not in known]
    done = []
    with _alone(state):
        if unseen:
            known = _remembered(vault, state)  # once more, now that no other process can be at it
            with vault.change("seed") as draft:
                done = _plant(draft, vault, [seed for seed in unseen if seed.slug not in known], known, found)
        # what could not be read, or may have been added in this very moment, is looked at again
        trouble = any(problem.code != "seed-twice" for problem in found)
        _remember(vault, state, b"" if trouble else stamp, known)
    problems.extend(found)
    return done


def _plant(
    draft: Draft, vault: Vault, seeds: Iterable[Seed], known: dict[str, Taken], problems: list[Problem]
) -> list[Seeded]:
    """Put a topic into the draft for each seed whose name is free, and remember all of them."""
    from co_cli import topic

    done = []
    there = {topic.essence(name) for name in vault.names(TOPIC)}
    for seed in seeds:
        try:
            content = topic.check_content(seed.content, seed.tags, "seed")
        except CoError as error:
            problems.append(Problem(seed.path, error.message, hint=error.hint, code="seed"))
            continue
        if topic.essence(seed.slug) in there or vault.find(TOPIC, seed.slug):
            done.append(_line(vault, seed, KEPT, "there is a topic of this name"))
        else:
            topic.create(draft, vault, seed.slug, content, tags=seed.tags, source="seed")
            done.append(_line(vault, seed, LOADED))
            there.add(topic.essence(seed.slug))
        known[seed.slug] = Taken(seed.sha, _given(content, seed.tags) if done[-1].outcome == LOADED else "")
    draft.summary = _summary("loaded", done, LOADED)
    return done


def changed(vaults: Iterable[Vault], extra: Sequence[str], state: str) -> tuple[tuple[Changed, ...], tuple[Problem, ...]]:
    """The seed documents that are no longer what was taken of them, with what taking them would change."""
    found: list[Changed] = []
    problems: list[Problem] = []
    for vault in vaults:
        known = _remembered(vault, state)
        for seed in _read(vault, _folders(vault, extra), problems):
            taken = known.get(seed.slug)
            if taken and taken.sha != seed.sha:
                found.append(_compare(vault, seed, taken))
    return tuple(found), tuple(problems)


def _compare(vault: Vault, seed: Seed, taken: Taken) -> Changed:
    from co_cli import topic
    from co_cli.draft import difference

    note = topic.find(vault, seed.slug)
    state = "own"
    if taken.topic:
        state = "deleted" if note is None else "edited"
        if note and _given(note.body, note.tags) == taken.topic:
            state = "unchanged"
    now = _page(note.body, note.tags) if note else None
    text = difference(now, _page(seed.content, seed.tags), "the topic as it is now", "the seed document")
    return Changed(seed.slug, _ref(vault, seed.slug), seed.path, state, text)


def take(vaults: Iterable[Vault], extra: Sequence[str], state: str, names: Iterable[str]) -> Seeding:
    """Take seed documents again: those named or, where none is, those that changed and whose topics nobody touched."""
    from co_cli import topic

    wanted = {topic.address(name).slug: name for name in names}
    missing = dict(wanted)
    done: list[Seeded] = []
    problems: list[Problem] = []
    for vault in vaults:
        with _alone(state):
            known = _remembered(vault, state)
            seeds = [
                seed
                for seed in _read(vault, _folders(vault, extra), problems)
                if seed.slug in known and (seed.slug in wanted if wanted else known[seed.slug].sha != seed.sha)
            ]
            if seeds:
                with vault.change("seed") as draft:
                    lines = [_take(draft, vault, seed, known, insisted=bool(wanted)) for seed in seeds]
                    draft.summary = _summary("took", lines, TAKEN)
                _remember(vault, state, (_raw(vault, state) or b"").partition(b"\n")[0], known)
                done.extend(lines)
        for seed in seeds:
            missing.pop(seed.slug, None)
    if missing:
        raise NotFound(f"There is no seed document {next(iter(missing.values()))}.", "See: co topic seed --diff")
    return Seeding(tuple(done), tuple(problems))


def _take(draft: Draft, vault: Vault, seed: Seed, known: dict[str, Taken], *, insisted: bool) -> Seeded:
    from co_cli import topic

    found = _compare(vault, seed, known[seed.slug])
    if found.state != "unchanged" and not insisted:
        return _line(vault, seed, LEFT, _WHY_LEFT[found.state])
    note, _outcome = topic.write(draft, vault, seed.slug, seed.content, tags=seed.tags, source="seed")
    known[seed.slug] = Taken(seed.sha, _given(note.body, note.tags))
    return _line(vault, seed, TAKEN)


# ---------------------------------------------------------------------------------------------------------------- reading


def parse_seed(raw: bytes, path: str) -> Seed:
    """Read a seed document: a first line ``tags: a,b,c``, if there is one, and the text. A header with tags does as well."""
    from co_cli.frontmatter import parse_frontmatter
    from co_cli.note import clean_tags, decode
    from co_cli.topic import slug_of

    text = decode(raw, path).replace("\r\n", "\n")
    first, _, rest = text.partition("\n")
    found = _TAGS.fullmatch(first.strip())
    tags: object = found[1] if found else ()
    if not found and first.rstrip() == "---":
        fields, rest = parse_frontmatter(text)
        tags = fields.get("tags") or ()
    content = rest if found or first.rstrip() == "---" else text
    given = [str(tag) for tag in tags] if isinstance(tags, (list, tuple)) else [str(tags)]
    return Seed(path, slug_of(os.path.basename(path)), content.strip(), clean_tags(given), sha_of(raw))


def _read(vault: Vault, folders: Sequence[str], problems: list[Problem]) -> Iterator[Seed]:
    """The seed documents of some folders, by their names; of two with one name the first counts."""
    from co_cli.vault import documents

    seen: dict[str, str] = {}
    for folder in folders:
        files = vault.seeds(problems) if folder == vault.seed_folder else documents(folder, problems)
        for path, raw in sorted(files):
            try:
                seed = parse_seed(raw, path)
            except NoteError as error:
                problems.append(error.problem)
                continue
            except (CoError, ValueError) as error:
                problems.append(Problem(path, str(error).rstrip("."), code="seed"))
                continue
            if seed.slug in seen:
                problems.append(
                    Problem(path, f"left out: {seen[seed.slug]} has this name and comes first", code="seed-twice")
                )
                continue
            seen[seed.slug] = path
            yield seed


def _folders(vault: Vault, extra: Sequence[str]) -> list[str]:
    return [vault.seed_folder, *(extra if vault.name == GLOBAL else ())]


def _stamp(folders: Iterable[str]) -> bytes:
    """When something was last added to any of these folders; empty where there is none of them."""
    times = [_changed_at(folder) for folder in folders]
    return ",".join(map(str, times)).encode() if any(times) else b""


def _settled_stamp(folders: Sequence[str]) -> bytes:
    stamp = _stamp(folders)
    latest = max(map(_changed_at, folders), default=0)
    return stamp if latest < time.time_ns() - SETTLING_NS else b""


def _changed_at(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


# ------------------------------------------------------------------------------------------------------------ remembering


def _raw(vault: Vault, state: str) -> bytes | None:
    """What is remembered: a line with the times of the folders, then JSON. Without topics there is nothing to remember."""
    if not os.path.isdir(vault.path_of(TOPIC, "")):
        return None
    try:
        return read_bytes(_file(vault, state))
    except OSError as error:
        raise Unavailable(f"{_file(vault, state)} cannot be read: {reason(error)}.", "Check its permissions.") from error


def _file(vault: Vault, state: str) -> str:
    return os.path.join(state, "seeds", vault.key)


@contextmanager
def _alone(state: str) -> Iterator[None]:
    """Let no other process seed meanwhile: it would take the topics that were just made for somebody's own."""
    folder = os.path.join(state, "seeds")
    make_folder(folder, mode=0o700)
    with locked(folder):
        yield


def _remembered(vault: Vault, state: str) -> dict[str, Taken]:
    import json

    raw = _raw(vault, state)
    if not raw:
        return {}
    try:
        content = json.loads(raw.partition(b"\n")[2])
        return {slug: Taken(str(sha), str(given)) for slug, (sha, given) in content.items()}
    except (ValueError, TypeError, AttributeError):
        hint = "Remove it: existing topics are kept, and those that were deleted come back."
        raise Corrupt(f"{_file(vault, state)} cannot be understood.", hint) from None


def _remember(vault: Vault, state: str, stamp: bytes, known: dict[str, Taken]) -> None:
    import json

    content = stamp + b"\n" + json.dumps(known, indent=1, sort_keys=True).encode()
    if _raw(vault, state) != content:
        replace_file(_file(vault, state), content, mode=0o600)


def _given(content: str, tags: Iterable[str]) -> str:
    return sha_of(_page(content, tags))


def _page(content: str, tags: Iterable[str]) -> bytes:
    line = ",".join(tags)
    return (f"tags: {line}\n{content}" if line else content).encode("utf-8", "surrogatepass")


# --------------------------------------------------------------------------------------------------------------- reporting


_WHY_LEFT = {
    "edited": "the topic was changed here",
    "deleted": "the topic was deleted here",
    "own": "the topic was there before the seed",
}


def _line(vault: Vault, seed: Seed, outcome: str, why: str = "") -> Seeded:
    return Seeded(seed.slug, _ref(vault, seed.slug), seed.path, outcome, why)


def _ref(vault: Vault, slug: str) -> str:
    return f"{'g:' if vault.name == GLOBAL else ''}topic:{slug}"


def _summary(verb: str, lines: Iterable[Seeded], outcome: str) -> str:
    slugs = [line.slug for line in lines if line.outcome == outcome]
    return f"{verb} the seed {slugs[0]}" if len(slugs) == 1 else f"{verb} {len(slugs)} seeds"
