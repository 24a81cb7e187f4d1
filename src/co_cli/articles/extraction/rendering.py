"""From a tree of HTML to Markdown.

Owns how headings, paragraphs, lists, tables, code, quotations and links are written. Knows nothing of files, or of what on a
page matters.

What is written is plain: text that would pose as a heading, a fence, a comment or a tag of HTML is made harmless, the rest
stays as it is read, since underscores and stars in names are searched for.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from co_cli.articles.extraction.cleaning import fenced

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DEPTH = 150
"""Elements in one another; deeper ones are taken as text."""
_CELLS = 100
"""Columns of a table, and rows or columns that one cell may span."""

_LEFT_OUT = """
applet area audio base button canvas datalist dialog embed frame frameset head iframe input link map meta noscript object
option optgroup param progress script select source style svg template textarea title track video
"""
_CONTAINERS = """
address article aside body center details div dd dt fieldset figcaption figure footer form header hgroup html li main nav p
section summary td th tr tbody thead tfoot caption
"""
_TITLES = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
_LISTS = frozenset(["ul", "ol", "menu", "dir", "dl"])
_UNREAD = frozenset(_LEFT_OUT.split())
_BLOCKS = frozenset(_CONTAINERS.split()) | _TITLES | _LISTS | {"table", "pre", "blockquote", "hr"}
_STRONG, _EMPHASIS, _STRUCK = (
    frozenset(["b", "strong"]),
    frozenset(["i", "em", "cite", "dfn"]),
    frozenset(["s", "del", "strike"]),
)
_CODE = frozenset(["code", "kbd", "samp", "tt"])

_SPACE = re.compile(r"[ \t\r\n\f]+")
_POSING = re.compile(r"^(?=#{1,6}(?:\s|$)|```|~~~|>|={3,}\s*$|-{3,}\s*$)|^(?=[-+*]\s)|^(\d{1,9})(?=[.)]\s)", re.MULTILINE)
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight(?:-source)?|brush:)[-: ]\s*([A-Za-z0-9+#._-]{1,30})")
_SCHEMES = ("http", "https", "mailto", "ftp", "tel")


def rendered(root: Any, base_url: str = "") -> str:  # noqa: ANN401 - an element of lxml, untyped
    """The Markdown of what is in an element; relative links start from ``base_url``, or stay as they are without one."""
    return "\n\n".join(_Renderer(base_url).blocks(root))


def language_of(element: Any) -> str:  # noqa: ANN401 - an element of lxml
    """The language of a block of code, as its element says it in one way or another."""
    for name in ("data-lang", "data-language", "lang"):
        if element.get(name) and element.tag in ("pre", "code", "div", "figure"):
            return str(element.get(name)).strip().split()[0][:30] if str(element.get(name)).strip() else ""
    found = _LANGUAGE.search(element.get("class") or "")
    return "" if found is None or found[1].lower() in ("none", "default", "plaintext") else found[1]


def harmless(text: str) -> str:
    """Text that cannot be taken for a heading, a fence, a quotation, a list or a tag."""
    return _standing(_TAG.sub(r"\\<", text))


def _standing(text: str) -> str:
    """Text whose lines begin as text does."""
    return _POSING.sub(lambda found: f"{found[1]}\\" if found[1] else "\\", text)


def _words(text: str | None) -> str:
    """Text between tags, in which no further tag stands."""
    return _TAG.sub(r"\\<", _SPACE.sub(" ", text)) if text else ""


class _Renderer:
    """One tree on its way to Markdown."""

    def __init__(self, base_url: str) -> None:
        self._base = base_url

    def blocks(self, element: Any, depth: int = 0) -> list[str]:  # noqa: ANN401
        """What an element holds, a block of Markdown each."""
        if depth > DEPTH:
            text = _words("".join(element.itertext())).strip()
            return [_standing(text)] if text else []
        found: list[str] = []
        run: list[str] = [_words(element.text)]

        def paragraph() -> None:
            text = _joined(run)
            run.clear()
            if text:
                found.append(_standing(text))

        for child in element:
            tag = _tag(child)
            if tag and tag not in _UNREAD:
                if tag in _BLOCKS or _holds_blocks(child):
                    paragraph()
                    found.extend(self._block(child, tag, depth + 1))
                else:
                    run.append(self._inline(child, tag, depth + 1))
            run.append(_words(child.tail))
        paragraph()
        return found

    def _block(self, element: Any, tag: str, depth: int) -> list[str]:  # noqa: ANN401
        if tag in _TITLES:
            text = " ".join(self._flat(element, depth).split())
            return [f"{'#' * int(tag[1])} {text}"] if text else []
        if tag in _LISTS:
            return self._list(element, tag, depth)
        if tag == "table":
            return self._table(element, depth)
        if tag == "pre":
            return _code_block(element)
        if tag == "hr":
            return ["* * *"]
        if tag == "blockquote":
            text = "\n\n".join(self.blocks(element, depth))
            return ["\n".join(f"> {line}".rstrip() for line in text.split("\n"))] if text else []
        blocks = self.blocks(element, depth)
        if tag == "a" and blocks and "\n" not in blocks[0] and "[" not in blocks[0]:  # a link around a heading and more
            marks = blocks[0][: len(blocks[0]) - len(blocks[0].lstrip("#"))]
            words = blocks[0][len(marks) :].strip()
            blocks[0] = f"{marks} {self._link(words, str(element.get('href') or ''))}".lstrip()
        return blocks

    def _list(self, element: Any, tag: str, depth: int) -> list[str]:  # noqa: ANN401
        ordered = tag == "ol"
        number = element.get("start") or ""
        place = int(number) if ordered and number.isdigit() and len(number) < 10 else 1  # noqa: PLR2004 - as Markdown has it
        lines: list[str] = []
        for child in element:
            name = _tag(child)
            if not name or name in _UNREAD:
                continue
            nested = name in _LISTS  # which browsers take, though it should stand in an item
            blocks = self._block(child, name, depth + 1) if nested else self.blocks(child, depth + 1)
            if not blocks:
                continue
            if name == "dt" and "\n" not in blocks[0]:
                blocks[0] = f"**{blocks[0]}**"
            marker = "  " if nested else "  - " if name == "dd" else f"{place}. " if ordered else "- "
            place += not nested
            lines.append(_item(marker, blocks))
        return ["\n".join(lines)] if lines else []

    def _table(self, element: Any, depth: int) -> list[str]:  # noqa: ANN401
        rows = [[cell for cell in row if _tag(cell) in ("td", "th")] for row in _rows(element)]
        rows = [row for row in rows if row]
        cells = [cell for row in rows for cell in row]
        nested = any(_tag(inner) in ("table", "pre") or _tag(inner) in _TITLES for cell in cells for inner in cell.iter())
        if nested or max(map(len, rows), default=0) <= 1:  # a table for the layout of the page
            return [block for row in rows for cell in row for block in self.blocks(cell, depth + 1)]
        caption = next(
            (_SPACE.sub(" ", "".join(part.itertext())).strip() for part in element if _tag(part) == "caption"), ""
        )
        texts = [[self._flat(cell, depth).replace("\n", " ") for cell in row] for row in rows]
        grid = _grid(rows, texts)
        return [*([harmless(caption)] if caption else []), *([table(grid)] if any(map(any, grid)) else [])]

    def _flat(self, element: Any, depth: int) -> str:  # noqa: ANN401
        """What is in an element as one run of text, whatever it is made of."""
        parts = [_words(element.text)]
        for child in element:
            tag = _tag(child)
            if tag and tag not in _UNREAD:
                parts.append(self._inline(child, tag, depth + 1) + (" " if tag in _BLOCKS else ""))
            parts.append(_words(child.tail))
        return _joined(parts)

    def _inline(self, element: Any, tag: str, depth: int) -> str:  # noqa: ANN401
        if tag == "br":
            return "\n"
        if tag == "img":
            return self._picture(element)
        if tag == "math" and element.get("alttext"):
            return f"${_SPACE.sub(' ', element.get('alttext')).strip()}$"
        if tag in _CODE:
            return _code(_SPACE.sub(" ", "".join(element.itertext())).strip())
        if depth > DEPTH:
            return _words("".join(element.itertext()))
        text = self._flat_kept(element, depth)
        if tag == "a":
            return self._link(text, str(element.get("href") or ""))
        if tag == "sup" and text.strip().lstrip("-−+").isalnum():
            return f"^{text.strip()}"
        return _emphasised(text, tag)

    def _flat_kept(self, element: Any, depth: int) -> str:  # noqa: ANN401
        """As ``_flat``, with the blanks at its ends: they stand between words."""
        text = self._flat(element, depth)
        whole = "".join(element.itertext())
        before, after = whole[:1].isspace(), whole[-1:].isspace()
        return f"{' ' if before else ''}{text}{' ' if after and text else ''}"

    def _picture(self, element: Any) -> str:  # noqa: ANN401
        words = _SPACE.sub(" ", str(element.get("alt") or "")).strip()
        address = self._address(str(element.get("src") or ""))
        if not words:
            return ""
        return f"![{_in_brackets(words)}]({address})" if address else words

    def _link(self, text: str, target: str) -> str:
        words = text.strip()
        address = self._address(target)
        if not words or not address or words in (address, target):
            return text
        before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
        return f"{before}[{_in_brackets(words.replace(chr(10), ' '))}]({address}){after}"

    def _address(self, target: str) -> str:
        """Where a link leads to, or an empty string where that is nowhere outside of the page."""
        target = "".join(sign for sign in target.strip() if sign > " ")
        if not target or target.startswith("#"):
            return ""
        try:
            address = urljoin(self._base, target) if self._base else target
            scheme = urlsplit(address).scheme.lower()
        except ValueError:
            return ""
        if (scheme and scheme not in _SCHEMES) or len(address) > 2000:  # noqa: PLR2004 - what browsers take
            return ""
        return address.replace("(", "%28").replace(")", "%29").replace("<", "%3C").replace(">", "%3E")


def _tag(element: Any) -> str:  # noqa: ANN401
    """The name of a tag in small letters and without its namespace; empty for comments and the like."""
    name = element.tag
    return name.rpartition("}")[2].lower() if isinstance(name, str) else ""


def _holds_blocks(element: Any) -> bool:  # noqa: ANN401
    return any(_tag(inner) in _BLOCKS for inner in element.iterdescendants())


def _joined(parts: Iterable[str]) -> str:
    """Runs of text as one: single blanks between words, none at the ends of lines."""
    text = "".join(parts)
    text = re.sub(r"[ \t]{2,}", " ", text)
    return re.sub(r" ?\n ?", "\n", text).strip()


def _emphasised(text: str, tag: str) -> str:
    if tag in _STRONG:
        return _marked(text, "**")
    if tag in _EMPHASIS:
        return _marked(text, "*")
    return _marked(text, "~~") if tag in _STRUCK else text


def _marked(text: str, mark: str) -> str:
    bare = text.strip()
    if not bare or "\n" in bare:
        return text
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}{mark}{bare}{mark}{after}"


def _code(text: str) -> str:
    if not text:
        return ""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}" if longest else f"`{text}`"


def _in_brackets(text: str) -> str:
    return text if text.count("[") == text.count("]") else text.replace("[", "\\[").replace("]", "\\]")


def _code_block(element: Any) -> list[str]:  # noqa: ANN401
    text = "".join(element.itertext())
    inner = next((part for part in element.iter() if _tag(part) in ("pre", "code") and language_of(part)), None)
    if not text.strip():
        return []
    return [fenced(text, language_of(inner) if inner is not None else "")]


def _item(marker: str, blocks: list[str]) -> str:
    """One item of a list, with what belongs to it under its first line."""
    text = blocks[0]
    for block in blocks[1:]:
        text += f"\n{block}" if re.match(r"(?:- |\d+\. |  )", block) else f"\n\n{block}"
    indent = " " * len(marker)
    first, *rest = text.split("\n")
    return "\n".join([marker + first, *(f"{indent}{line}" if line else "" for line in rest)])


def _rows(element: Any) -> Iterator[Any]:  # noqa: ANN401
    """The rows of a table, not those of tables in it."""
    for part in element:
        if _tag(part) == "tr":
            yield part
        elif _tag(part) in ("tbody", "thead", "tfoot"):
            yield from (row for row in part if _tag(row) == "tr")


def _grid(rows: list[list[Any]], texts: list[list[str]]) -> list[list[str]]:
    """The cells of a table in their columns; one that spans several rows is repeated, since each row is read by itself."""
    grid: list[list[str]] = []
    held: dict[int, tuple[int, str]] = {}
    for cells, words in zip(rows, texts, strict=True):
        above, held = held, {}
        line: list[str] = []
        waiting = list(zip(cells, words, strict=True))[::-1]
        while (waiting or any(column >= len(line) for column in above)) and len(line) < _CELLS:
            if len(line) in above:
                high, text = above.pop(len(line))
                wide = 1
            elif waiting:
                cell, text = waiting.pop()
                wide, high = _span(cell, "colspan"), _span(cell, "rowspan")
            else:
                wide, high, text = 1, 1, ""
            for part in range(wide):
                shown = "" if part else text
                if high > 1:
                    held[len(line)] = (high - 1, shown)
                line.append(shown)
        grid.append(line)
    return grid


def _span(cell: Any, name: str) -> int:  # noqa: ANN401
    value = cell.get(name) or "1"
    return max(1, min(int(value), _CELLS)) if value.isdigit() and len(value) < 6 else 1  # noqa: PLR2004 - digits


def table(grid: list[list[str]]) -> str:
    """Rows of cells as a Markdown table; the first is its head."""
    width = max(map(len, grid))
    used = [column for column in range(width) if any(column < len(row) and row[column] for row in grid)]
    lines = []
    for row in grid:
        cells = [row[column] if column < len(row) else "" for column in used]
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    lines.insert(1, "|" + " --- |" * len(used))
    return "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("\\|", "|").replace("|", "\\|")
