"""From a word to the numbers of its pieces, as the vocabulary of the static model has them.

Owns the cutting of words. Reads the vocabulary out of the bytes of a ``tokenizer.json``; knows no vectors.

The model's tokenizer is a byte-pair encoding: of all neighbours that make a known piece together, those whose piece has the
lowest number are joined first. Its own library needs 60 ms to be imported and to read its file. Here the vocabulary is cut
out of the file by its quotation marks, which takes 5 ms, and a word is joined by hand.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mmap import mmap

START = "▁"
"""What the vocabulary puts before a piece that begins a word."""
BYTES = range(3, 259)
"""The pieces that are no more than a byte of a character that is not known."""


def read_vocabulary(content: bytes | mmap) -> dict[bytes, int]:
    """Each piece, in UTF-8, with its number; raises ``ValueError`` if the file is not of the form that is known."""
    start = content.find(b"{", content.find(b'"vocab"'))
    end = content.find(b'"merges"', start)
    if not 0 <= start < end:
        raise ValueError("it has no vocabulary")
    # Numbers are not read, they are counted. What is escaped is in no word, so it does not matter what it stands for.
    parts = re.sub(rb"\\.", b"\0", content[start:end]).split(b'"')
    pieces, between = parts[1::2], parts[2::2]
    ends = (0, len(pieces) - 1)
    if not between or any(between[place].strip(b": ,\r\n\t}") != b"%d" % place for place in ends):
        raise ValueError("its vocabulary is not in the order of its numbers")
    return dict(zip(pieces, range(len(pieces)), strict=True))


def pieces(word: str, vocabulary: dict[bytes, int]) -> list[int]:
    """The numbers of the pieces that a word is made of."""
    parts = [letter.encode("utf-8", "surrogatepass") for letter in START + word]
    joined = [vocabulary.get(left + right) for left, right in pairwise(parts)]
    while True:
        best = min((number for number in joined if number is not None), default=None)
        if best is None:
            break
        place = joined.index(best)
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
        del joined[place]
        if place:
            joined[place - 1] = vocabulary.get(parts[place - 1] + parts[place])
        if place < len(joined):
            joined[place] = vocabulary.get(parts[place] + parts[place + 1])
    numbers: list[int] = []
    for part in parts:
        number = vocabulary.get(part)
        numbers.extend((number,) if number is not None else (BYTES.start + byte for byte in part))
    return numbers
