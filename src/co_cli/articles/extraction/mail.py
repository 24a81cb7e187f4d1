"""Messages of electronic mail.

Owns which part of a message is its text. Reads with the standard library, and HTML as a page is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from co_cli.articles.extraction.cleaning import one_line
from co_cli.articles.extraction.document import Extracted, Original, broken, no_text

if TYPE_CHECKING:
    from email.message import EmailMessage

    from co_cli.articles.extraction.document import SignOfLife

_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_KILOBYTE, _MEGABYTE = 1024, 1024 * 1024


def read_mail(original: Original, alive: SignOfLife) -> Extracted:
    """Who wrote what to whom and when, the text, and the names of what is attached."""
    from email import errors, message_from_bytes, policy

    try:
        message: EmailMessage = message_from_bytes(original.raw, policy=policy.default)
        said = {name: _header(message, name) for name in _HEADERS}
        alive()
        text = _text(message)
        attached = [_attachment(part) for part in message.iter_attachments()] if message.is_multipart() else []
    except (errors.MessageError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise broken("message") from error
    if not text.strip() and not attached and not said["Subject"]:
        raise no_text("message")
    head = "\n".join(f"- **{name}**: {_words(value)}" for name, value in said.items() if value and name != "Subject")
    blocks = [f"# {one_line(said['Subject'])}" if said["Subject"] else "", head, text]
    if attached:
        blocks.append("Attachments:\n\n" + "\n".join(f"- {line}" for line in attached))
    return Extracted(
        markdown="\n\n".join(filter(None, blocks)), title=said["Subject"], author=said["From"], date=_date(message)
    )


def _header(message: EmailMessage, name: str) -> str:
    try:
        return one_line(str(message[name] or ""), 1000)
    except (ValueError, LookupError, IndexError, AttributeError, TypeError):  # headers may be as wrong as anything else
        return one_line(next((str(value) for key, value in message.raw_items() if key.lower() == name.lower()), ""), 1000)


def _words(value: str) -> str:
    return value.replace("<", "\\<")


def _date(message: EmailMessage) -> str:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(str(message["Date"] or "")).isoformat()
    except (ValueError, TypeError, IndexError):
        return ""


def _text(message: EmailMessage) -> str:
    """The plain text, or the HTML where there is no other."""
    plain: Any = message.get_body(preferencelist=("plain",))
    if plain is not None:
        text = _content(plain)
        if text.strip():
            return text
    html: Any = message.get_body(preferencelist=("html",))
    if html is None:
        return ""
    from co_cli.articles.extraction.page import page_tree, prepare
    from co_cli.articles.extraction.rendering import rendered

    tree = page_tree(Original(html.get_payload(decode=True) or b"", charset=html.get_content_charset("")))
    if tree is None:
        return ""
    prepare(tree)
    return rendered(next(tree.iter("body"), tree))


def _content(part: Any) -> str:  # noqa: ANN401 - a part of a message
    from co_cli.articles.extraction.cleaning import without_page_marks
    from co_cli.articles.extraction.encoding import decoded

    return without_page_marks(decoded(part.get_payload(decode=True) or b"", part.get_content_charset(""))[0].strip())


def _attachment(part: Any) -> str:  # noqa: ANN401
    content = part.get_payload(decode=True) if not part.is_multipart() else b""
    size = len(content or b"")
    shown = f"{size / _MEGABYTE:.1f} MB" if size >= _MEGABYTE else f"{max(1, round(size / _KILOBYTE))} KB"
    name = one_line(part.get_filename() or "", 200) or f"without a name ({part.get_content_type()})"
    return f"{_words(name)} ({shown})" if size else _words(name)
