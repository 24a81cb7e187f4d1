"""Pages of the web: their main text, and what they say of themselves.

Owns the choice of what on a page is text and what stands around it, and what is made of a page before it is chosen from.
Reads with trafilatura and lxml. Knows nothing of how a page was fetched; nothing in it is run or loaded.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from co_cli.articles.document import PAGE_SOURCE_LIMIT, Extracted, no_text, too_large

if TYPE_CHECKING:
    from co_cli.articles.document import Original, SignOfLife

_HEAD = 4096
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]{1,40})""", re.IGNORECASE)
_XML_CHARSET = re.compile(rb"""^\s*<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9_:.-]{1,40})["']""", re.IGNORECASE)
_XML_HEAD = re.compile(r"^\s*<\?xml[^>]*>")
_UNSEEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])", re.IGNORECASE)
_ANCHORS = frozenset(["¶", "#", "§", "🔗", "\u200b", ""])
_ENOUGH = 0.5
"""Share of what a page itself calls its main part that has to be left of it; else that part is taken as it is."""
_AROUND = ("nav", "footer", "aside", "form", "header")
_ROLES = frozenset(["navigation", "banner", "contentinfo", "search", "complementary", "menu", "dialog"])


def read_page(original: Original, alive: SignOfLife) -> Extracted:
    """The main text of a page, with its headings, links, lists, tables and code."""
    from co_cli.articles.rendering import rendered

    if len(original.raw) > PAGE_SOURCE_LIMIT:
        raise too_large("page", f"its HTML has more than {PAGE_SOURCE_LIMIT // 1024 // 1024} MB")
    tree = page_tree(original)
    if tree is None:
        raise no_text("page")
    base = _base_of(tree, original.base_url)
    prepare(tree)
    found = _main_text(tree, base)
    alive()
    markdown = rendered(found.body, base) if found is not None and found.body is not None else ""
    said = _said(tree)
    own = own_part(tree)
    if own is not None and len(markdown) < _ENOUGH * len(" ".join("".join(own.itertext()).split())):
        markdown = rendered(own, base)
    if not markdown.strip():
        markdown = rendered(_without_surroundings(tree), base)
    if not markdown.strip():
        raise no_text(
            "page", "Pages that a script writes are empty without it; save it from a browser as PDF, and add that."
        )
    return Extracted(
        markdown=markdown,
        title=said["title"] or (found.title if found is not None else "") or "",
        author=(found.author if found is not None else "") or said["author"],
        date=(found.date if found is not None else "") or "",
        language=said["language"],
    )


def page_tree(original: Original) -> Any:  # noqa: ANN401 - an element of lxml, which has no types
    """The tree of a page, whatever its encoding and however broken its tags; ``None`` where there is nothing."""
    from lxml import etree, html

    from co_cli.articles.encoding import decoded

    head = original.raw[:_HEAD]
    said = _CHARSET.search(head) or _XML_CHARSET.search(head)
    text, _ = decoded(original.raw, original.charset or (said[1].decode("ascii") if said else ""))
    if original.charset and said:  # of two that differ the one that fits better counts
        other, _ = decoded(original.raw, said[1].decode("ascii"))
        text = other if other.count("\ufffd") < text.count("\ufffd") else text
    parser = html.HTMLParser(encoding="utf-8", no_network=True, remove_pis=True)
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

    from co_cli.articles.rendering import language_of

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


def own_part(tree: Any) -> Any:  # noqa: ANN401
    """What the page itself calls its main part, where it is one."""
    for path in ("//main", "//*[@role='main']", "//article"):
        parts = tree.xpath(path)
        if len(parts) == 1:
            return parts[0]
    return None


def _main_text(tree: Any, base: str) -> Any:  # noqa: ANN401
    """What trafilatura finds; nothing where it stumbles, since the page can be read without it."""
    from copy import deepcopy

    import trafilatura

    try:
        return trafilatura.bare_extraction(
            deepcopy(tree),
            url=base or None,
            with_metadata=True,
            include_links=True,
            include_tables=True,
            include_images=True,
            include_formatting=True,
            include_comments=False,
            favor_recall=True,
        )
    except Exception:  # noqa: BLE001 - whatever it is: there is another way
        return None


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


def _said(tree: Any) -> dict[str, str]:  # noqa: ANN401
    """What the head of a page says of it."""
    named: dict[str, str] = {}
    for element in tree.iter("meta"):
        name = str(element.get("property") or element.get("name") or "").lower()
        if name and element.get("content"):
            named.setdefault(name, str(element.get("content")).strip())
    heading = [" ".join("".join(found.itertext()).split()) for found in tree.iter("h1")]
    head = next((" ".join("".join(found.itertext()).split()) for found in tree.iter("title")), "")
    title = named.get("og:title") or named.get("twitter:title") or named.get("dc.title") or ""
    if not title:  # the title of the window names the site too; the only heading of the page does not
        title = heading[0] if len(heading) == 1 and heading[0] and (not head or heading[0] in head) else head
    language = str(tree.get("lang") or tree.get("{http://www.w3.org/XML/1998/namespace}lang") or "")
    return {"title": title or next(iter(heading), ""), "author": named.get("author", ""), "language": language.strip()[:35]}


def _without_surroundings(tree: Any) -> Any:  # noqa: ANN401
    """The whole page but what stands around the text of any page."""
    body = next(tree.iter("body"), tree)
    for element in list(body.iter(*_AROUND)):
        if element.tag != "header" or element.getparent() is body:
            _take_out(element)
    for element in body.xpath(".//*[@role]"):
        if element.get("role") in _ROLES:
            _take_out(element)
    return body


def _is_anchor(element: Any) -> bool:  # noqa: ANN401
    """Whether a link only gives a heading its address."""
    target = element.get("href") or ""
    if "headerlink" in (element.get("class") or "") or "anchor" in (element.get("class") or "").split():
        return not "".join(element.itertext()).strip("¶#§🔗 \n")
    return target.startswith("#") and "".join(element.itertext()).strip() in _ANCHORS and not len(element)


def _take_out(element: Any) -> None:  # noqa: ANN401
    if element.getparent() is not None:
        element.drop_tree()
