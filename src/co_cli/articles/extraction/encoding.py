"""From bytes to text, whatever the encoding.

Owns the choice of an encoding: what the bytes prove comes first, then what was said about them, then what is likely. Knows
nothing of what the text means. A text comes back in any case.
"""

from __future__ import annotations

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# As browsers have it: who says one of these means the other, which has all of its letters and more.
_MEANT = {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932"}
_MEANT |= {"iso8859-9": "cp1254", "euc_kr": "cp949", "tis_620": "cp874", "iso8859-11": "cp874"}
_NOT_TEXTS = frozenset(["utf-7", "idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs", "oem"])
_HEAD, _SAMPLE = 1024, 64 * 1024
_LIKELY = 0.7
"""Share of the high or low bytes that are zero in UTF-16 text."""
_STRAY = 2
"""Zeros that may stand in a text by accident."""
_RARE = 200
"""One byte in so many may be wrong in a text that is UTF-8 all the same."""
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_OTHER = re.compile(rb"[\x80-\xff]")
_ALONE = re.compile(rb"(?<![\x80-\xff])(?<![\x80-\xff][\0-\x7f])[\x80-\xff](?![\0-\x7f]?[\x80-\xff])")
_WESTERN, _ONE_BYTE = "cp1252", ("cp125", "iso8859", "koi8")
_STATEFUL = re.compile(rb"\x1b[$(][@BJ()A-D]")
"""What switches the letters of ISO-2022, as mail in Japanese has it; to UTF-8 it is all ASCII."""


def decoded(raw: bytes, declared: str = "") -> tuple[str, str]:
    """The text of bytes, and the encoding that was taken for it; ``declared`` may be wrong, or none at all."""
    for mark, name in _MARKS:
        if raw.startswith(mark):
            return raw[len(mark) :].decode(name, "replace"), name
    wide = _wide(raw)
    if wide:
        return raw.decode(wide, "replace"), wide
    said = codec_name(declared)
    if (said.startswith(("utf-16", "utf-32")) and b"\0" in raw) or (said.startswith("iso2022") and _STATEFUL.search(raw)):
        return raw.decode(said, "replace"), said
    try:
        return raw.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        pass
    if _mostly_utf8(raw):
        return raw.decode("utf-8", "replace"), "utf-8"
    for name in (said, _likely(raw)):
        if name and name != "utf-8":
            text = _strictly(raw, name)
            if text is not None:
                return text, name
    return raw.decode("cp1252", "replace"), "cp1252"


def codec_name(declared: str) -> str:
    """The name by which Python knows an encoding, or an empty string."""
    try:
        found = codecs.lookup(declared.strip().strip("\"'"))
    except (LookupError, ValueError):
        return ""
    if not getattr(found, "_is_text_encoding", True) or found.name in _NOT_TEXTS:
        return ""
    return _MEANT.get(found.name, found.name)


def is_binary(raw: bytes) -> bool:
    """Whether bytes are no text in any encoding."""
    sample = raw[:_SAMPLE]
    if any(sample.startswith(mark) for mark, _ in _MARKS):
        return False
    wide = _wide(sample)
    text = sample[: len(sample) // 4 * 4].decode(wide, "replace") if wide else sample.decode("latin-1")
    controls = len(_CONTROLS.findall(text))
    if not wide and (sample.count(b"\0", 0, _HEAD) > _STRAY or sample.count(b"\0") > max(_STRAY, len(sample) // 1000)):
        return True
    return controls * 20 > len(text)


def _wide(raw: bytes) -> str:
    """The wide encoding that bytes without a mark are in, seen by where the zeros are."""
    sample = raw[:_SAMPLE]
    if len(sample) < 4 or b"\0" not in sample:  # noqa: PLR2004 - the bytes of one sign
        return ""
    zeros = [sample[place::4].count(0) * 4 / len(sample) for place in range(4)]
    if len(raw) % 4 == 0:
        for name, expected in (("utf-32-le", (0, 0, 1, 1)), ("utf-32-be", (1, 1, 0, 0))):
            outer = 3 if expected[3] else 0  # the byte that is zero in every sign there is
            if zeros[outer] > 1 - 1e-9 and all(zeros[place] > _LIKELY for place in range(4) if expected[place]):
                return name if _strictly(raw, name) is not None else ""
    if len(raw) % 2 == 0:
        even, odd = (zeros[0] + zeros[2]) / 2, (zeros[1] + zeros[3]) / 2
        for name, high, low in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
            if high > _LIKELY and low < 1 - _LIKELY:
                return name if _strictly(raw, name) is not None else ""
    return ""


def _strictly(raw: bytes, name: str) -> str | None:
    try:
        return raw.decode(name)
    except (UnicodeDecodeError, LookupError):
        return None


def _mostly_utf8(raw: bytes) -> bool:
    """Whether a few wrong bytes are all that keeps a text from being UTF-8."""
    text = raw.decode("utf-8", "replace")
    wrong, right = text.count("\ufffd"), sum(sign > "\x7f" for sign in text[:_SAMPLE])
    return wrong * _RARE < len(text) and right > 3 * wrong


def _likely(raw: bytes) -> str:
    """The encoding that a text is probably in, by its letters; nothing where what could tell is not installed.

    The guess is good for texts that are full of other letters. Where they are few it takes German for Chinese and French for
    Polish: so what may as well be Western is, and letters that stand alone are taken for one byte each.
    """
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        return ""
    sample = raw[:_SAMPLE]
    names = [codec_name(match.encoding) for match in from_bytes(sample)]
    names = [name for name in names if name and _strictly(b"ab", name) == "ab"]  # not those of mainframes
    if _WESTERN in names:
        return _WESTERN
    if _has_single_letters(sample):
        names = [name for name in names if name.startswith(_ONE_BYTE)]
    return next(iter(names), "")


def _has_single_letters(sample: bytes) -> bool:
    """Whether most of what is not ASCII stands alone among what is."""
    return 2 * len(_ALONE.findall(sample)) >= len(_OTHER.findall(sample))
