"""Texts: plain ones and Markdown as they are, source code and data with their language.

Owns what of a text is its title. Needs no library beyond those of co.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from co_cli.articles.extraction.document import CHARACTERS, Extracted
from co_cli.articles.extraction.encoding import decoded

if TYPE_CHECKING:
    from co_cli.articles.extraction.document import Original, SignOfLife

_HEADING = re.compile(r"^#[ \t]+(\S[^\n]*?)[ \t]*#*[ \t]*$", re.MULTILINE)
_WIDEST = 4
"""Bytes that a sign may take."""
_FIELDS = ("title", "author", "date", "language")


def read_text(original: Original, alive: SignOfLife) -> Extracted:  # noqa: ARG001 - it does not take long
    """A plain text, as it is."""
    text, encoding = decoded(_beginning(original.raw), original.charset)
    return Extracted(markdown=text, notices=_notices(text, encoding))


def read_markdown(original: Original, alive: SignOfLife) -> Extracted:  # noqa: ARG001
    """A Markdown file, as it is; what its header says of it is taken out of the text."""
    from co_cli.frontmatter import FrontmatterError, parse_frontmatter, says_private, split_frontmatter
    from co_cli.note import clean_tags

    text, encoding = decoded(_beginning(original.raw), original.charset)
    notices = _notices(text, encoding)
    fields: dict[str, Any] = {}
    body = text
    try:
        fields, body = parse_frontmatter(text.replace("\r\n", "\n"))
    except FrontmatterError as error:
        fields = {"private": says_private(split_frontmatter(text)[0] or "")}
        notices += (f"The header could not be read, and stays in the text: {error.reason}.",)
    said = {name: str(fields[name]) for name in _FIELDS if isinstance(fields.get(name), (str, int)) and fields[name]}
    heading = _HEADING.search(body)
    tags = fields.get("tags")
    named = [str(tag) for tag in tags] if isinstance(tags, list) else [tags] if isinstance(tags, str) else []
    return Extracted(
        markdown=body,
        title=said.get("title") or (heading[1] if heading else ""),
        author=said.get("author", ""),
        date=said.get("date", ""),
        language=said.get("language", ""),
        tags=clean_tags(named),
        private=fields.get("private") is True,
        notices=notices,
    )


def read_code(original: Original, alive: SignOfLife) -> Extracted:  # noqa: ARG001
    """Source code or data, as one block that names its language."""
    from co_cli.articles.extraction.cleaning import clean, fenced
    from co_cli.articles.extraction.recognition import language_of

    text, encoding = decoded(_beginning(original.raw), original.charset)
    name = original.name.replace("\\", "/").rpartition("/")[2]
    block = fenced(clean(text), language_of(original))
    return Extracted(markdown=block, title=name, notices=_notices(text, encoding))


def read_notebook(original: Original, alive: SignOfLife) -> Extracted:
    """The texts and the code of a notebook, in their order; what the code put out is left out."""
    import json

    from co_cli.articles.extraction.cleaning import clean, fenced

    text, encoding = decoded(original.raw, original.charset)
    try:
        notebook = json.loads(text)
        language = notebook.get("metadata", {}).get("kernelspec", {}).get("language", "python")
        cells = [(cell["cell_type"], "".join(cell["source"])) for cell in notebook["cells"]]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return read_code(original._replace(name=f"{original.name}.json"), alive)
    shown = [fenced(clean(source), str(language)) if kind == "code" else source for kind, source in cells if source.strip()]
    heading = next(filter(None, (_HEADING.search(source) for kind, source in cells if kind == "markdown")), None)
    return Extracted(markdown="\n\n".join(shown), title=heading[1] if heading else "", notices=_notices(text, encoding))


def _beginning(raw: bytes) -> bytes:
    """As much of a text as can be kept, up to the end of a line: more would only take memory."""
    limit = _WIDEST * (CHARACTERS + 1)
    if len(raw) <= limit:
        return raw
    end = raw.rfind(b"\n", 0, limit) + 1 or limit
    while end % _WIDEST and raw[end] == 0:  # the end of a line takes two or four bytes in the wide encodings
        end += 1
    return raw[:end]


def _notices(text: str, encoding: str) -> tuple[str, ...]:
    wrong = text.count("\ufffd")
    return (f"{wrong} of its bytes are no {encoding.upper()}: what cannot be read stands as \ufffd.",) if wrong else ()
