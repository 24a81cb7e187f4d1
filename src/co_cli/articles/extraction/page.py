"""Pages of the web: their main text, and what they say of themselves.

Owns the choice of what on a page is text and what stands around it, and what is made of a page before it is chosen from.
Reads with trafilatura and lxml. Knows nothing of how a page was fetched; nothing in it is run or loaded.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from co_cli.articles.extraction.document import PAGE_SOURCE_LIMIT, Extracted, no_text, too_large

if TYPE_CHECKING:
    from co_cli.articles.extraction.document import Original, SignOfLife

_HEAD = 4096
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]{1,40})""", re.IGNORECASE)
_XML_CHARSET = re.compile(rb"""^\s*<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9_:.-]{1,40})["']""", re.IGNORECASE)
_XML_HEAD = re.compile(r"^\s*<\?xml[^>]*>")
_UNSEEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])", re.IGNORECASE)
_ANCHORS = frozenset(["¶", "#", "§", "🔗", "\u200b", ""])
_AROUND = ("nav", "footer", "aside", "form", "header", "menu")
_ROLES = frozenset(["navigation", "banner", "contentinfo", "search", "complementary", "menu", "dialog"])
_PIECES = ("div", "section", "ul", "ol", "p", "table")
"""What may be left out of the main part where nothing else wants it."""
_WHOLES = ("div", "section", "article", "main", "center", "table", "tbody", "tr", "td", "td", "form", "span")
_NAMED = re.compile(
    r"(?:^|[\s_-])(?:share|sharing|social|related|newsletter|subscribe|cookies?|consent|breadcrumbs?|comments?|sidebar|promo"
    r"|advert\w*|ads?|pagination|skip)(?:$|[\s_-])",
    re.IGNORECASE,
)
_MANY = 20_000
"""Elements of a page up to which its main text is looked for; with three times as many that takes a minute."""
_DAY = re.compile(r"\d{4}(?:-\d\d){0,2}")
_SAMPLES, _NEARLY = 40, 0.9
_SHORT, _FEW, _MOSTLY = 80, 2, 0.7


def read_page(original: Original, alive: SignOfLife) -> Extracted:
    """The main text of a page, with its headings, links, lists, tables and code."""
    from co_cli.articles.extraction.rendering import rendered

    if len(original.raw) > PAGE_SOURCE_LIMIT:
        raise too_large("page", f"its HTML has more than {PAGE_SOURCE_LIMIT // 1024 // 1024} MB")
    tree = page_tree(original)
    if tree is None:
        raise no_text("page")
    base = _base_of(tree, original.base_url)
    said = _said(tree)
    prepare(tree)
    alive()
    found = _found(tree, base)
    alive()
    body = next(tree.iter("body"), tree)
    markdown = rendered(_main_part(body, found), base)
    if not markdown.strip():
        markdown = rendered(body, base)
    if not markdown.strip():
        raise no_text(
            "page", "Pages that a script writes are empty without it; save it from a browser as PDF, and add that."
        )
    return replace(
        said,
        markdown=markdown,
        author=(found.author if found is not None else "") or said.author,
        date=(found.date if found is not None else "") or said.date,
    )


def page_tree(original: Original) -> Any:  # noqa: ANN401 - an element of lxml, which has no types
    """The tree of a page, whatever its encoding and however broken its tags; ``None`` where there is nothing."""
    from lxml import etree, html

    from co_cli.articles.extraction.encoding import decoded

    head = original.raw[:_HEAD]
    said = _CHARSET.search(head) or _XML_CHARSET.search(head)
    text, _ = decoded(original.raw, original.charset or (said[1].decode("ascii") if said else ""))
    if original.charset and said:  # of two that differ the one that fits better counts
        other, _ = decoded(original.raw, said[1].decode("ascii"))
        text = other if other.count("\ufffd") < text.count("\ufffd") else text
    parser = html.HTMLParser(encoding="utf-8", no_network=True, remove_pis=True, huge_tree=True)
    content = _XML_HEAD.sub("", text.replace("\0", "")).encode("utf-8", "replace")
    if not content.strip():
        return None
    try:
        return html.document_fromstring(content, parser=parser)
    except etree.LxmlError:
        return None


def prepare(tree: Any) -> None:  # noqa: ANN401
    """Take out what nobody sees on the page, and make each block of code one text."""
    from itertools import islice

    from lxml import etree

    from co_cli.articles.extraction.rendering import language_of

    for element in list(tree.iter(etree.Element)):
        if element.getparent() is None or element.tag in ("body", "head"):
            continue
        unseen = element.get("hidden") is not None or _UNSEEN.search(element.get("style") or "")
        if (
            element.tag in ("script", "style", "template", "noscript")
            or unseen
            or (element.tag == "a" and _is_anchor(element))
        ):
            _take_out(element)
    for block in list(tree.iter("pre")):
        inner = [block, *block.iter("code"), *islice(block.iterancestors("div", "figure"), 3)]
        language = next(filter(None, map(language_of, inner)), "")
        for end in block.iter("br"):
            end.tail = f"\n{end.tail or ''}"
        text = "".join(block.itertext())
        for child in list(block):
            block.remove(child)
        block.text = None
        code = etree.SubElement(block, "code")
        code.text = text
        if language:
            code.set("class", f"language-{language}")


def _found(tree: Any, base: str) -> Any:  # noqa: ANN401
    """What trafilatura finds; nothing where it stumbles or would take minutes, since the page can be read without it."""
    from copy import deepcopy

    import trafilatura

    if sum(1 for _ in tree.iter()) > _MANY:
        return None
    copy = deepcopy(tree)
    for cell in copy.iter("td", "th"):  # it would make a cell of each of thousands of columns that one says it spans
        cell.attrib.pop("colspan", None)
        cell.attrib.pop("rowspan", None)
    try:
        return trafilatura.bare_extraction(
            copy,
            url=base or None,
            with_metadata=True,
            include_tables=True,
            include_comments=False,
            favor_recall=True,
            date_extraction_params={"extensive_search": False, "original_date": True},
        )
    except Exception:  # noqa: BLE001 - whatever it is: there is another way
        return None


def _main_part(body: Any, found: Any) -> Any:  # noqa: ANN401
    """The element that holds the main text, without what stands in it and is none.

    trafilatura finds the words, but loses headings, code, captions and joined cells on its way; so its words only tell which
    part of the page to take, and what of it to leave out.
    """
    texts = [_bare(text) for text in found.body.itertext()] if found is not None and found.body is not None else []
    samples = sorted(set(filter(None, texts)), key=len, reverse=True)[:_SAMPLES]
    part = _own_part(body)
    if part is None or len("".join(texts)) > len(
        _bare(_text(part))
    ):  # it found more than the page itself calls its main part
        part = _smallest(body, samples)
    _leave_out(part, "".join(texts))
    return part


def _own_part(body: Any) -> Any:  # noqa: ANN401
    """What the page itself calls its main part, where it is one."""
    for path in (".//main", ".//*[@role='main']", ".//article"):
        parts = body.xpath(path)
        if len(parts) == 1 and len(_bare(_text(parts[0]))) > _SHORT:
            return parts[0]
    return None


def _smallest(body: Any, samples: list[str]) -> Any:  # noqa: ANN401
    """The smallest element that holds nearly all of some texts."""
    wanted = _NEARLY * sum(map(len, samples))
    part = body
    while wanted:
        for child in part.iterchildren(*_WHOLES):
            text = _bare(_text(child))
            if len(text) >= wanted and sum(len(sample) for sample in samples if sample in text) >= wanted:
                part = child
                break
        else:
            break
    return part


def _leave_out(part: Any, wanted: str) -> None:  # noqa: ANN401
    """Take out what stands around the text of any page, is mostly links, or is named like a sidebar, unless it is wanted."""
    for element in list(part.iterdescendants(*_AROUND, *_PIECES)):
        text = _bare(_text(element)) if element.getparent() is not None else ""
        if not text or text[:_SHORT] in wanted:
            continue
        title = element.tag == "header" and any(True for _ in element.iter("h1", "h2"))
        around = (element.tag in _AROUND and not title) or element.get("role") in _ROLES
        if around or _NAMED.search(f"{element.get('class') or ''} {element.get('id') or ''}") or _is_links(element, text):
            _take_out(element)


def _is_links(element: Any, text: str) -> bool:  # noqa: ANN401
    links = list(element.iter("a"))
    return len(links) > _FEW and sum(len(_bare(_text(link))) for link in links) > _MOSTLY * len(text)


def _text(element: Any) -> str:  # noqa: ANN401
    return "".join(element.itertext())


def _bare(text: str) -> str:
    return "".join(text.split())


def _base_of(tree: Any, base_url: str) -> str:  # noqa: ANN401
    """Where the page's relative links start from: it may say so itself."""
    from urllib.parse import urljoin, urlsplit

    for element in tree.iter("base"):
        try:
            base = urljoin(base_url, str(element.get("href") or ""))
            if urlsplit(base).scheme in ("http", "https"):
                return base
        except ValueError:
            break
    return base_url


def _said(tree: Any) -> Extracted:  # noqa: ANN401
    """What the head of a page says of it."""
    named: dict[str, str] = {}
    for element in tree.iter("meta"):
        name = str(element.get("property") or element.get("name") or "").lower()
        if name and element.get("content"):
            named.setdefault(name, str(element.get("content")).strip())
    headings = [" ".join(_text(found).strip("¶#§🔗 \n").split()) for found in tree.iter("h1")]
    head = next((" ".join(_text(found).split()) for found in tree.iter("title")), "")
    title = named.get("og:title") or named.get("twitter:title") or named.get("dc.title") or ""
    if not title:  # the title of the window names the site too; the only heading of the page does not
        title = headings[0] if len(headings) == 1 and headings[0] and (not head or headings[0] in head) else head
    language = str(tree.get("lang") or tree.get("{http://www.w3.org/XML/1998/namespace}lang") or "")
    day = _DAY.match(next((named[name] for name in ("article:published_time", "date", "dc.date") if name in named), ""))
    return Extracted(
        title=title or next(iter(headings), ""),
        author=named.get("author", ""),
        date=day[0] if day else "",
        language=language.strip()[:35],
    )


def _is_anchor(element: Any) -> bool:  # noqa: ANN401
    """Whether a link only gives a heading its address."""
    target = element.get("href") or ""
    if "headerlink" in (element.get("class") or "") or "anchor" in (element.get("class") or "").split():
        return not "".join(element.itertext()).strip("¶#§🔗 \n")
    return target.startswith("#") and "".join(element.itertext()).strip() in _ANCHORS and not len(element)


def _take_out(element: Any) -> None:  # noqa: ANN401
    if element.getparent() is not None:
        element.drop_tree()
