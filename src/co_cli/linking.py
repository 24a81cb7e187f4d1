"""Linked folders: the verbs of the knowledge base that link a folder of somebody else's notes, and let it go again.

Owns the list of links, and what may be linked under which name. Knows nothing of what is in the files of a folder, nor of
search; :class:`co_cli.knowledge.KnowledgeBase` is made of it.

The list lies in the user's own folder, and nowhere else: what arrives with the clone of a project cannot have any folder of
the machine read.
"""

from __future__ import annotations

import os
import re
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from co_cli.errors import CoError, Conflict, Corrupt, Invalid, NotFound
from co_cli.library import Library
from co_cli.note import ARTICLE, GLOBAL, PROJECT, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from co_cli.linked import LinkedFolder, Walk
    from co_cli.note import Note
    from co_cli.settings import Places
    from co_cli.vault import Vault

_NAME = r"[^\W\d_][\w-]{0,39}"
_PREFIX = rf"({_NAME}):(\S.*)"
_TAKEN = frozenset(
    "g p global project memory memories topic topics article articles context archive team seed inbox"  # noqa: SIM905
    " tag tags kind kinds before after since on in http https file mailto co c d".split()
)
"""What a ref, a query or an address has before a colon already."""
_FIELDS = {"name": str, "folder": str, "project": str, "private": bool}


class Link(NamedTuple):
    """A folder that is linked."""

    name: str
    """What stands before the colon in the refs of its notes."""
    folder: str
    project: str = ""
    """The project in which it is linked; empty for all of them."""
    private: bool = False
    """Whether its notes must not leave this machine."""


class LinkState(NamedTuple):
    """A link, and what is behind it."""

    link: Link
    files: int = 0
    """Files that are read."""
    indexed: int = 0
    """Those of them that the index knows as they are now."""
    skipped: tuple[tuple[str, str], ...] = ()
    """What is not read that somebody may miss: names, and why."""
    problem: str = ""
    """Why nothing of it can be read; empty where it can."""


class Linking(Library):
    """The folders that one user has linked, for one project or for all."""

    def link(self, folder: str, *, name: str = "", in_global: bool = False, private: bool = False) -> LinkState:
        """Have the notes of a folder found by ``recall``, where they are; they are never written to.

        Linked once more, a folder gets the new name, or the new privacy.
        """
        top = os.path.realpath(os.path.expanduser(folder))
        if not os.path.isdir(top):
            raise NotFound(f"There is no folder {top}.", "Name the top folder of some notes or documents.")
        self._check_apart(top)
        name = _checked_name(name, top)
        project = "" if in_global else self.places.project
        link = Link(name, top, project, private)
        state = self._state(link)
        if state.problem:
            raise Invalid(f"{top} cannot be linked: {state.problem}.", "Name a folder that can be read.")
        with _changing(self.places) as links:
            others = [each for each in links if (each.folder, each.project) != (top, project)]
            twin = next((each for each in others if each.name == name and self._is_mine(each)), None)
            if twin:
                hint = f"Give it another name: co article link {folder} --name …"
                raise Conflict(f"{twin.folder} is linked as {name} already.", hint)
            former = [each for each in links if each not in (*others, link)]
            links[:] = [*others, link]
        for each in former:
            self._drop_index(each)
        return state

    def unlink(self, name: str) -> Link:
        """Let a linked folder go, with the index of it; the folder itself stays as it is."""
        with _changing(self.places) as links:
            mine = [each for each in links if self._is_mine(each)]
            found = next((each for each in mine if name in (each.name, each.folder)), None)
            if found is None:
                top = os.path.realpath(os.path.expanduser(name))
                found = next((each for each in mine if each.folder == top), None)
            if found is None:
                known = ", ".join(each.name for each in mine)
                raise NotFound(f"No folder is linked as {name}.", f"Linked are: {known}." if known else "None is linked.")
            links.remove(found)
        self._drop_index(found)
        return found

    def links(self) -> tuple[LinkState, ...]:
        """The folders that are linked here, each with what is behind it."""
        return tuple(self._state(link) for link in self._links())

    def article(self, name: str) -> Note:
        """The article that a slug, a ref or a source names; a note of a linked folder is none that co keeps."""
        if self._is_linked_ref(name):
            hint = f"`co show {name}` prints it; change it or remove it where it lies."
            raise Invalid(f"{name} is a note of a linked folder, and no article of co's.", hint)
        return super().article(name)

    def _readable(self, kinds: Iterable[str] = (ARTICLE,)) -> tuple[tuple[Vault, ...], tuple[Problem, ...]]:
        """The vaults and, where articles are asked for, the linked folders; with what cannot be read of these."""
        if ARTICLE not in kinds or not os.path.exists(_list_of(self.places)):
            return self.vaults, ()
        problems: list[Problem] = []
        try:
            links = self._links()
        except CoError as error:
            return self.vaults, (Problem(_list_of(self.places), f"no linked folder is read: {error.message}"),)
        for link in links:
            if not os.path.isdir(link.folder):
                hint = (
                    f"Nothing of it is lost: co finds it again when it is back. Or let it go: co article unlink {link.name}"
                )
                message = f"the linked folder {link.name} is not there: it is not searched"
                problems.append(Problem(link.folder, message, hint=hint, code="link-gone"))
        folders = [self._open(link) for link in links if os.path.isdir(link.folder)]
        return (*self.vaults, *folders), tuple(problems)

    def _linked_note(self, ref: str) -> Note | None:
        """The note of a linked folder that a ref such as ``docs:guide/install`` names; ``None`` for any other ref."""
        folder, path = self._linked_ref(ref)
        if folder is None:
            return None
        if not os.path.isdir(folder.root):
            raise NotFound(f"The linked folder {folder.name} is not there.", "`co article links` shows where it was.")
        note = folder.find(ARTICLE, path)
        if note is None:
            raise NotFound(f"There is no note {ref.strip()}.", "`co recall WORDS` finds what there is.")
        return note

    def _is_linked_ref(self, text: str) -> bool:
        """Whether a text names a note of a linked folder."""
        return self._linked_ref(text)[0] is not None

    @staticmethod
    def _own(note: Note) -> Note:
        """The note, if it is one of the vaults, so that it may be changed."""
        if note.vault not in (PROJECT, GLOBAL):
            from co_cli.linked import read_only

            raise read_only(note.vault, "" if note.private else note.path)
        return note

    def _linked_ref(self, text: str) -> tuple[LinkedFolder | None, str]:
        found = re.fullmatch(_PREFIX, text.strip())
        if not found or found[1] in _TAKEN or not os.path.exists(_list_of(self.places)):
            return None, ""
        link = next((link for link in self._links() if link.name == found[1]), None)
        return (self._open(link), found[2]) if link else (None, "")

    # ------------------------------------------------------------------------------------------------------------------

    def _links(self) -> list[Link]:
        return [link for link in _read_links(self.places) if self._is_mine(link)]

    def _is_mine(self, link: Link) -> bool:
        return link.project in ("", self.places.project)

    def _open(self, link: Link) -> LinkedFolder:
        from co_cli.linked import LinkedFolder

        return LinkedFolder(link.folder, link.name, _key(link), private=link.private)

    def _state(self, link: Link) -> LinkState:
        from co_cli.coverage import coverage
        from co_cli.files import reason
        from co_cli.index.store import Index
        from co_cli.linked import MOST_FILES
        from co_cli.sync import known_problems

        folder = self._open(link)
        try:
            walk: Walk = folder.walk()
        except FileNotFoundError:
            return LinkState(link, problem="it is not there")
        except OSError as error:
            return LinkState(link, problem=reason(error))
        if "" in walk.hidden:
            return LinkState(link, problem=f"it has more than {MOST_FILES:,} files to read")
        known = coverage(folder, self.places.cache)
        skipped = [(each.name, each.why) for each in walk.skipped]
        if known.exists and not known.damage:
            with closing(Index(known.path, as_it_is=True)) as index:
                skipped += [(folder.name_of(each.path), each.message) for each in known_problems(folder, index)]
        return LinkState(link, len(walk.names), known.indexed, tuple(skipped))

    def _check_apart(self, top: str) -> None:
        """Refuse a folder in which notes of a vault would be read a second time, as somebody else's."""
        for vault in self.vaults:
            root = os.path.realpath(vault.root)
            inner = os.path.relpath(root, top)
            holds = not inner.startswith(os.pardir) and not any(
                part[0] == "." for part in inner.split(os.sep) if part != "."
            )
            if top == root or holds or top.startswith(os.path.join(root, "")):
                what = "holds" if holds and top != root else "belongs to"
                hint = (
                    "Its notes are found already. Link a folder beside it."
                    if what == "belongs to"
                    else "Link a folder in it."
                )
                raise Invalid(f"{top} {what} a vault of co, {root}: it cannot be linked.", hint)

    def _drop_index(self, link: Link) -> None:
        """Remove the index of a folder, unless it is linked like this elsewhere; what stands in the way is no error."""
        from co_cli.coverage import throw_away

        if _key(link) not in map(_key, _read_links(self.places)):
            with suppress(CoError):
                throw_away(self._open(link), self.places.cache)


def _checked_name(name: str, folder: str) -> str:
    from co_cli.note import slugify

    given = name or slugify(os.path.basename(folder))
    if not re.fullmatch(_NAME, given) or given.lower() in _TAKEN or given != given.lower():
        hint = "A name begins with a letter and has small letters, digits and hyphens, such as: --name docs"
        raise Invalid(f"A linked folder cannot be called {given!r}.", hint)
    return given


def _key(link: Link) -> str:
    """What tells the index of a link from every other; the number tells two folders of one name apart."""
    import zlib

    place = f"{link.name}\n{link.folder}\n{link.private}".encode("utf-8", "surrogateescape")
    return f"linked-{re.sub('[^A-Za-z0-9_-]+', '-', link.name)}-{zlib.crc32(place):08x}{zlib.adler32(place):08x}"


# -------------------------------------------------------------------------------------------------------------- the list


def _list_of(places: Places) -> str:
    return os.path.join(places.home, "links.json")


def _read_links(places: Places) -> list[Link]:
    """All links, of all projects; raises ``Corrupt`` where the list cannot be understood."""
    from co_cli.files import read_bytes, reason

    path = _list_of(places)
    try:
        raw = read_bytes(path)
    except OSError as error:
        raise Corrupt(f"{path} cannot be read: {reason(error)}.", "Check its permissions.") from error
    if not raw:
        return []
    import json

    try:
        return [_as_link(entry) for entry in json.loads(raw)["links"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        hint = "Correct the file by hand, or delete it and link the folders again."
        raise Corrupt(f"{path}:1: this is no list of linked folders.", hint) from error


def _as_link(entry: dict[str, object]) -> Link:
    fields = {name: entry[name] for name in _FIELDS if name in entry}
    if any(not isinstance(value, _FIELDS[name]) for name, value in fields.items()):
        raise TypeError(entry)
    link = Link(**fields)  # type: ignore[arg-type]
    if not re.fullmatch(_NAME, link.name) or link.name in _TAKEN or not os.path.isabs(link.folder):
        raise ValueError(entry)
    return link


@contextmanager
def _changing(places: Places) -> Iterator[list[Link]]:
    """The list of links, to be changed by one process at a time; what it holds at the end of the block is written."""
    from co_cli.files import locked, make_folder, replace_file

    make_folder(places.home)
    with locked(places.home):
        links = _read_links(places)
        before = [*links]
        yield links
        if links != before:
            import json

            content = {"links": [link._asdict() for link in links]}
            # a link, such as one into a folder of dotfiles, stays a link
            replace_file(os.path.realpath(_list_of(places)), (json.dumps(content, indent=2) + "\n").encode("ascii"))
