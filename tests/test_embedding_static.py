"""The static embedder: its pieces are those of the model's own tokenizer, with and without numpy, and it is cheap."""

from __future__ import annotations

import json
import shutil
import struct
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import run
from tokenizers import Tokenizer

from co_cli.embedding import SEMANTIC_UNAVAILABLE, Choice, open_embedder
from co_cli.embedding.packages import find_folder
from co_cli.embedding.static import PACKAGE
from co_cli.embedding.wordpieces import pieces, read_vocabulary
from co_cli.errors import Unavailable

FILES = ("weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json")
TOKENIZER = Path(find_folder(PACKAGE)) / FILES[1]
VOCABULARY = read_vocabulary(TOKENIZER.read_bytes())
REAL = Tokenizer.from_file(str(TOKENIZER))

# Latin, Greek, Cyrillic, Hebrew and Arabic, Devanagari, Thai, Georgian, kana, Han, Hangul, an alphabet beyond 16 bits
SCRIPTS = [(0x30, 0x39), (0x61, 0x7A), (0xC0, 0x24F), (0x370, 0x3FF), (0x400, 0x4FF), (0x5D0, 0x6FF), (0x900, 0x97F)]
SCRIPTS += [
    (0xE00, 0xE7F),
    (0x10A0, 0x10FF),
    (0x3040, 0x30FF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7A3),
    (0x10400, 0x1044F),
]
letters = st.one_of(
    [st.characters(min_codepoint=first, max_codepoint=last, categories=["L", "N", "M"]) for first, last in SCRIPTS]
)
TEXTS = [
    "Where do we deploy the cluster on Fridays? On Fridays we do not deploy.",
    "Größere Änderungen fängt man nicht am Freitag an: ﬁnal, ＦＵＬＬ, e\u0301",
    "Мы храним настройки в базе данных, а копии делаем ночью",
    "知识库里的每一条记录都是一个文件",
    "日本語の文章もここにあります",
    "snake_case_names, CamelCase, xk7-42 and 3.14159 " * 9,
]


@pytest.fixture
def static():
    return open_embedder(Choice(), "")


def test_a_process_that_stays_reads_the_vocabulary_once(static) -> None:
    assert open_embedder(Choice(), "")._vocabulary is static._vocabulary


def expected(word: str) -> list[int]:
    return REAL.encode(word, add_special_tokens=False).ids


@given(st.text(letters, min_size=1, max_size=24))
@settings(max_examples=400)
def test_words_of_every_script_are_cut_as_the_models_own_tokenizer_cuts_them(word):
    assert pieces(word, VOCABULARY) == expected(word)


def test_all_words_of_the_vocabulary_are_cut_as_the_models_own_tokenizer_cuts_them():
    words = [piece.removeprefix("▁") for piece in REAL.get_vocab()]
    words = [word for word in words if word.isalnum()][::7]
    assert len(words) > 4000
    assert [pieces(word, VOCABULARY) for word in words] == [expected(word) for word in words]


def test_the_vocabulary_has_the_numbers_that_its_file_says():
    said = json.loads(TOKENIZER.read_bytes())["model"]["vocab"]
    said = {piece: number for piece, number in said.items() if json.dumps(piece, ensure_ascii=False) == f'"{piece}"'}
    assert len(said) > 31_000
    assert {piece: VOCABULARY[piece.encode()] for piece in said} == said


BY_HAND = """
import json, sys
if sys.argv[1] == "without":
    class Blocked:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in ("numpy", "tokenizers", "wordllama", "json"):
                raise ImportError(name)
    real_json, texts = json, json.loads(sys.argv[2])
    sys.modules.pop("json")
    sys.meta_path.insert(0, Blocked())
else:
    import numpy
    real_json, texts = json, json.loads(sys.argv[2])
from co_cli.embedding import Choice, open_embedder
vectors = open_embedder(Choice(), "").embed(texts * 20)
print(real_json.dumps([("numpy" in sys.modules), [vector.hex() for vector in vectors]]))
"""


def test_the_vectors_are_the_same_with_and_without_numpy():
    (has, fast), (has_not, slow) = (run(BY_HAND, how, json.dumps(TEXTS)) for how in ("with", "without"))
    assert (has, has_not) == (True, False)
    assert len(fast) == len(slow) == 20 * len(TEXTS)
    for one, other in zip(fast, slow, strict=True):
        assert len(one) == 2 * 4 * 256
        assert struct.unpack("<256f", bytes.fromhex(one)) == pytest.approx(
            struct.unpack("<256f", bytes.fromhex(other)), abs=1e-6
        )


ONE_QUERY = """
import json, sys, re, typing
from time import process_time
before = process_time()
from co_cli.embedding import Choice, open_embedder
embedder = open_embedder(Choice(), "")
vector = embedder.embed_query("how do we deploy the kubernetes cluster tomorrow")
spent = process_time() - before
heavy = [name for name in ("numpy", "tokenizers", "wordllama", "inspect", "ctypes") if name in sys.modules]
print(json.dumps([spent, heavy, len(vector)]))
"""


def test_one_question_is_cheap_and_imports_nothing_heavy():
    spent, heavy, length = min(run(ONE_QUERY) for _ in range(3))
    assert (heavy, length) == ([], 1024)
    assert spent < 0.06  # 14 ms where nothing else runs


def test_a_script_whose_letters_alone_are_known_has_no_vector(static):
    assert (
        static.embed(["สวัสดีครับ ผมชอบกินข้าวผัดมาก", "שלום עולם טוב", "नमस्ते दुनिया कैसे हो", "안녕하세요 저는 사람입니다"])
        == [b""] * 4
    )
    assert all(static.embed(TEXTS))


def test_a_word_of_a_known_script_does_not_speak_for_a_text_of_another(static):
    assert static.embed_query("สวัสดีครับ ผมชอบกินข้าวผัดมาก ขอบคุณ ครับ docker") == b""


def test_the_size_of_letters_and_the_form_of_characters_make_no_difference(static):
    assert static.embed_query("CAFÉ Müller") == static.embed_query("cafe\u0301 mu\u0308ller")


def test_texts_that_have_nothing_in_common_have_a_cosine_of_about_zero(static):
    texts = [
        "my cat sleeps on the sofa",
        "the budget meeting moved to monday",
        "postgres needs a vacuum",
        "bake it for an hour",
    ]
    vectors = [struct.unpack("<256f", vector) for vector in static.embed(texts)]
    pairs = [(one, other) for place, one in enumerate(vectors) for other in vectors[:place]]
    assert abs(sum(sum(a * b for a, b in zip(*pair, strict=True)) for pair in pairs) / len(pairs)) < 0.1


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Another installation of the package, whose files can be spoilt."""
    folder = tmp_path / "site" / PACKAGE
    for name in FILES:
        (folder / name).parent.mkdir(parents=True)
        shutil.copy(Path(find_folder(PACKAGE)) / name, folder / name)
    (folder / "__init__.py").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    return folder


def test_other_vectors_have_another_fingerprint(static, installed):
    assert open_embedder(Choice(), "").fingerprint == static.fingerprint
    with (installed / FILES[0]).open("r+b") as file:
        file.seek(96)
        file.write(b"\0" * 512)
    assert open_embedder(Choice(), "").fingerprint != static.fingerprint


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("spoil", ["missing", "empty", "cut", "other"])
def test_spoilt_files_are_noticed_and_named(name, spoil, installed):
    path = installed / name
    content = path.read_bytes()
    path.unlink()
    if spoil != "missing":
        path.write_bytes({"empty": b"", "cut": content[: len(content) // 4], "other": content[::-1]}[spoil])
    with pytest.raises(Unavailable) as caught:
        open_embedder(Choice(), "")
    assert caught.value.code == SEMANTIC_UNAVAILABLE
    assert str(installed) in caught.value.message
    assert "--force-reinstall" in caught.value.hint
