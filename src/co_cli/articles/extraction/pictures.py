"""Pictures with letters in them, read by OCR on this machine.

Owns the engine, what it is told, and how what it finds becomes lines. Reads with rapidocr, whose models come with it, and
Pillow. Knows nothing of documents that pictures stand in.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from co_cli.articles.extraction.cleaning import page_mark
from co_cli.articles.extraction.document import PAGES, PIXELS, Extracted, broken, listed, missing, no_text, too_large

if TYPE_CHECKING:
    from collections.abc import Iterator

    from co_cli.articles.extraction.document import Original, SignOfLife

PACKAGES = ("PIL", "numpy", "onnxruntime", "rapidocr")
HINT = "OCR reads them: pip install 'co-cli[articles]'"
_FORMATS = ("PNG", "JPEG", "WEBP", "TIFF", "GIF", "BMP")
_THREADS = 2
_LOOK = 960
"""Dots along the longer side in which letters are looked for, and then read in the picture as it is: more take 600 MB."""
SIDE = 3000
"""Dots along the longer side of what is read; more are not looked at."""
_TALL, _STRIP = 3, 1600
_SURE = 0.5
_MIN_SIDE, _MIN_SHARE = 8, 0.5


def missing_packages() -> list[str]:
    """What OCR needs and is not installed."""
    from co_cli.embedding.packages import find_folder

    return [name for name in PACKAGES if not find_folder(name)]


def read_picture(original: Original, alive: SignOfLife) -> Extracted:
    """The lines that can be read in a picture; one with several frames has pages, as a scanned fax has."""
    import warnings

    from PIL import Image, ImageSequence, UnidentifiedImageError

    absent = missing_packages()
    if absent:
        raise missing("Pictures", absent)
    Image.MAX_IMAGE_PIXELS = None  # the limit is ours, and known before a picture is unpacked
    parts, frames, failed = [], 1, []
    try:
        with warnings.catch_warnings(), _opened(original.raw) as picture:
            warnings.simplefilter("ignore")
            if picture.width * picture.height > PIXELS:
                raise too_large("picture", f"{picture.width:,} × {picture.height:,} dots; {PIXELS:,} are read at the most")
            paged = picture.format == "TIFF" and getattr(picture, "n_frames", 1) > 1
            frames = min(picture.n_frames, PAGES) if paged else 1
            for number, frame in zip(range(1, frames + 1), ImageSequence.Iterator(picture), strict=False):
                alive()
                if frame.width * frame.height > PIXELS:
                    failed.append(number)
                    continue
                text = text_of(_upright(frame))
                if text:
                    parts.append(f"{page_mark(number)}\n\n{text}" if paged else text)
    except UnidentifiedImageError as error:
        raise broken("picture") from error
    except (OSError, ValueError, SyntaxError, EOFError, IndexError, KeyError, TypeError, OverflowError) as error:
        raise broken("picture", str(error)) from error
    if not parts:
        raise no_text("picture")
    notices = (f"Not read, since they are too large: pages {listed(failed)}.",) if failed else ()
    return Extracted(markdown="\n\n".join(parts), pages=frames if paged else 0, notices=notices)


def _opened(raw: bytes) -> Any:  # noqa: ANN401 - Pillow is left to its own types
    import io

    from PIL import Image

    return Image.open(io.BytesIO(raw), formats=_FORMATS)


def _upright(picture: Any) -> Any:  # noqa: ANN401
    """A picture as it is meant to be seen: turned as its camera says, and on white where it is transparent."""
    import numpy as np
    from PIL import Image, ImageOps

    turned = ImageOps.exif_transpose(picture)
    if turned.mode == "F" or turned.mode.startswith("I"):  # more shades than a screen has
        shades = np.asarray(turned, dtype=np.float32)
        turned = Image.fromarray((shades * (255 / max(float(shades.max()), 1))).clip(0, 255).astype(np.uint8))
    if turned.mode in ("RGBA", "LA", "PA") or "transparency" in turned.info:
        seen = turned.convert("RGBA")
        paper = Image.new("RGBA", seen.size, "white")
        return Image.alpha_composite(paper, seen).convert("RGB")
    return turned.convert("RGB")


def text_of(picture: Any) -> str:  # noqa: ANN401 - a picture of Pillow
    """The lines that can be read in a picture, from top to bottom."""
    if min(picture.size) < _MIN_SIDE:
        return ""
    if picture.height <= _TALL * picture.width:
        picture.thumbnail((SIDE, SIDE))
        return _read(picture)
    picture.thumbnail((SIDE, picture.height))
    return "\n".join(filter(None, map(_read, _strips(picture))))


def _strips(picture: Any) -> Iterator[Any]:  # noqa: ANN401
    """A picture of a whole page of the web, cut where nothing stands: as one it would become too narrow to be read."""
    import numpy as np

    start = 0
    while start < picture.height:
        end = min(start + _STRIP, picture.height)
        if end < picture.height:
            below = end - _STRIP // 4
            rows = np.asarray(picture.crop((0, below, picture.width, end)).convert("L"), dtype=np.float32).std(axis=1)
            quiet = np.flatnonzero(rows <= rows.min() + 1)
            end = below + int(quiet[-1]) + 1
        yield picture.crop((0, start, picture.width, end))
        start = end


def _read(picture: Any) -> str:  # noqa: ANN401
    import numpy as np

    found = _engine()(np.asarray(picture))
    if found.txts is None:
        return ""
    pieces = []
    for box, text, score in zip(found.boxes, found.txts, found.scores, strict=True):
        if score >= _SURE and text.strip():
            top, bottom = float(box[:, 1].min()), float(box[:, 1].max())
            pieces.append((top, bottom, float(box[:, 0].min()), text.strip()))
    return "\n".join(_lines(pieces))


def _lines(pieces: list[tuple[float, float, float, str]]) -> list[str]:
    """Pieces of text, each with its top, bottom and left side, as lines; a gap of a line's height starts a paragraph."""
    rows: list[list[tuple[float, float, float, str]]] = []
    for piece in sorted(pieces):
        top, bottom, _, _ = piece
        if rows:
            above, below = rows[-1][0][0], rows[-1][0][1]
            shared = min(bottom, below) - max(top, above)
            if shared > _MIN_SHARE * min(bottom - top, below - above):
                rows[-1].append(piece)
                continue
        rows.append([piece])
    lines: list[str] = []
    end = None
    for row in rows:
        top, bottom = row[0][0], row[0][1]
        if end is not None and top - end > bottom - top:
            lines.append("")
        lines.append(" ".join(text for _, _, _, text in sorted(row, key=lambda piece: piece[2])))
        end = bottom
    return lines


@cache
def _engine() -> Any:  # noqa: ANN401 - rapidocr has no types
    """The engine with its models; a second to load."""
    import os

    from co_cli.embedding.packages import keep_onnxruntime_silent

    keep_onnxruntime_silent()
    from rapidocr import RapidOCR

    threads = min(_THREADS, os.cpu_count() or 1)
    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.text_score": _SURE,
            "Global.max_side_len": SIDE,
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            "Det.limit_type": "max",
            "Det.limit_side_len": _LOOK,
            "Rec.rec_batch_num": 1,
        }
    )
