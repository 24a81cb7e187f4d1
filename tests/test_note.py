"""What a note is: its name, its ref, its fields, and what is wrong with a file that is none."""

from __future__ import annotations

import string
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from co_cli.note import (
    ARTICLE,
    CONTEXT,
    GLOBAL,
    MEMORY,
    PROJECT,
    TOPIC,
    NoteError,
    Ref,
    fold,
    instant,
    is_expired,
    memory_name,
    parse_note,
    parse_ref,
    render_memory,
    sha_of,
    slugify,
)

promise = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
texts = st.text(st.characters(exclude_categories=["Cs"]))

CREATED = "2026-02-09T14:30:00+00:00"


def note_from(text: str | bytes, kind: str = MEMORY, vault: str = PROJECT, path: str = "memories/001-a.md"):
    return parse_note(text if isinstance(text, bytes) else text.encode(), kind=kind, vault=vault, path=path)


def memory(fields: str = "", body: str = "A fact.", **place: str):
    return note_from(f"---\nid: 1\ncreated: {CREATED}\n{fields}---\n\n{body}\n", **place)


# ----------------------------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("User prefers async/await over callbacks.", "user-prefers-async-await-over-callbacks"),
        ("  spaces \t and\nlines  ", "spaces-and-lines"),
        ("B" * 100, "b" * 50),
        ("x" * 49 + " word", "x" * 49),
        ("C++ & C#", "c-c"),
        ("Größe und Straße", "gr-e-und-stra-e"),
        ("2026 年の計画", "2026-年の計画"),
        ("日本語のメモ。", "日本語のメモ"),
        ("日 \u0301本", "日-本"),
        ("Привет, МИР", "привет-мир"),
        ("हिन्दी", "हिन्दी"),
        ("12:30", "12-30"),
        ("../../etc/passwd", "etc-passwd"),
        ("", "memory"),
        ("!!! ???", "memory"),
        ("❤️ 🚀", "memory"),
        ("\u0301\u200b", "memory"),
    ],
)
def test_a_slug_is_what_a_person_would_call_the_file(text, slug):
    assert slugify(text) == slug


@promise
@given(texts)
@example("İ" * 60)
@example("é" * 60)
def test_a_slug_is_short_lower_case_and_never_empty_or_odd(text):
    slug = slugify(text)
    assert 0 < len(slug) <= 50
    assert slug.strip("-") == slug == slug.lower()
    assert "--" not in slug
    if any(letter in string.ascii_lowercase for letter in text[:50].lower()):
        assert set(slug) <= {*string.ascii_lowercase, *string.digits, "-"}
    else:
        assert slug == "memory" or slug[0].isalnum()
    assert len(memory_name(123456, text).encode()) < 255


@promise
@given(st.text(string.printable, max_size=80))
def test_the_slug_of_a_slug_is_that_slug(text):
    assert slugify(slugify(text)) == slugify(text)


@pytest.mark.parametrize(
    ("number", "content", "name"),
    [
        (1, "User prefers tabs", "001-user-prefers-tabs.md"),
        (42, "\n  Leading blanks are no part of it", "042-leading-blanks-are-no-part-of-it.md"),
        (1234, "?", "1234-memory.md"),
    ],
)
def test_a_memory_is_named_by_its_id_and_its_first_words(number, content, name):
    assert memory_name(number, content) == name


# --------------------------------------------------------------------------------------------------------- the same text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We use pytest.", "we use PYTEST"),
        ("tabs, not spaces", "Tabs not  spaces!"),
        ("line one\nline two", "line one line two"),
        ("it’s “quoted” – here…", 'it\'s "quoted" - here...'),
        ("Straße", "STRASSE"),
        ("cafe\u0301", "café"),
        ("Python 3.11.", "python 3.11"),
        ("ports 80, 443", "ports 80,443"),
        ("in 2 000 steps", "in 2\u00a0000 steps"),
        ("(5 items)", "5 items"),
        ("python-3 and v.2", "python 3 and v 2"),
        ("Offset: -5", "offset -5"),
    ],
)
def test_case_space_and_punctuation_make_no_difference(one, other):
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C++", "C"),
        ("C#", "C"),
        ("C++", "C#"),
        ("Python 3.11", "Python 311"),
        ("Python 3.11", "Python 3 11"),
        ("port 8080", "port 808"),
        ("ports 80, 443", "ports 80443"),
        ("version 1. 2", "version 12"),
        ("the offset is -5", "the offset is 5"),
        ("weight .5", "weight 5"),
        ("a != b", "a = b"),
        ("x < 3", "x > 3"),
        ("costs 5%", "costs 5"),
        ("costs $5", "costs €5"),
        ("!!!", "???"),
        ("год", "гид"),
    ],
)
def test_signs_that_carry_meaning_make_a_difference(one, other):
    assert fold(one) != fold(other)


@promise
@given(
    st.lists(
        st.tuples(st.from_regex(r"[a-zäß]{1,6}", fullmatch=True), st.booleans(), st.sampled_from(" ,.-;\n\t—…")), min_size=1
    ),
    st.sampled_from(["", ".", "!", " ?!", "\n"]),
)
def test_the_same_words_fold_alike_however_they_are_set(words, end):
    plain = " ".join(word for word, _, _ in words)
    odd = "".join((word.upper() if loud else word) + sign + " " for word, loud, sign in words) + end
    assert fold(odd) == fold(plain)


# ------------------------------------------------------------------------------------------------------------------ refs


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("12", Ref(MEMORY, "12")),
        ("#12", Ref(MEMORY, "12")),
        (" 012 ", Ref(MEMORY, "12")),
        ("g:3", Ref(MEMORY, "3", GLOBAL)),
        ("p:3", Ref(MEMORY, "3", PROJECT)),
        ("memory:3", Ref(MEMORY, "3")),
        ("topic:deploy", Ref(TOPIC, "deploy")),
        ("g:article:rfc-9110", Ref(ARTICLE, "rfc-9110", GLOBAL)),
        ("topic:#hash", Ref(TOPIC, "#hash")),
        ("topic:context", Ref(TOPIC, "context")),
        ("context", Ref(CONTEXT, "context", PROJECT)),
        ("g:context", Ref(CONTEXT, "context", GLOBAL)),
    ],
)
def test_a_ref_is_read_as_it_is_written(text, ref):
    assert parse_ref(text) == ref


@pytest.mark.parametrize("text", ["", "  ", "deploy", "12a", "-1", "1.5", "topic:", "g:", "x:12", "memory:deploy", "٣"])
def test_other_words_are_no_ref(text):
    assert parse_ref(text) is None


@promise
@given(
    st.sampled_from([MEMORY, TOPIC, ARTICLE, CONTEXT]),
    st.sampled_from([PROJECT, GLOBAL]),
    st.integers(1, 10**17),
    texts.filter(lambda slug: slug and slug == slug.strip() and not set(slug) & set("/\\\0")),
)
def test_the_ref_of_a_note_names_that_note(kind, vault, number, slug):
    text = f"---\nid: {number}\ncreated: {CREATED}\n---\n" if kind == MEMORY else "words"
    note = note_from(text, kind, vault, "context.md" if kind == CONTEXT else f"x/{slug}.md")
    ref = parse_ref(note.ref)
    assert ref is not None
    assert ref.kind == kind
    assert ref.name == {MEMORY: str(number), CONTEXT: "context"}.get(kind, slug)
    assert (ref.vault or PROJECT) == vault


# --------------------------------------------------------------------------------------------------------------- reading


def test_every_field_of_a_memory_is_read():
    note = memory(
        "tags: [python, style]\nsource: user-told\nupdated: 2026-03-01T00:00:00Z\ncategory: user_preferences\nkey: style\n"
        "scope: language\nlanguage: python\nexpires: 2026-12-31\npinned: true\nprivate: true\nsupersedes: 12\n"
        'superseded_by: 31\nbecause: "the words"\nunknown: kept in the file\n',
        "User prefers async.\n\nMore.",
    )
    assert (note.id, note.created, note.tags, note.source) == (1, CREATED, ("python", "style"), "user-told")
    assert (note.updated, note.category, note.key) == ("2026-03-01T00:00:00Z", "user_preferences", "style")
    assert (note.scope, note.language, note.expires) == ("language", "python", "2026-12-31")
    assert (note.pinned, note.private, note.supersedes, note.superseded_by) == (True, True, (12,), 31)
    assert (note.because, note.body, note.slug, note.ref) == ("the words", "User prefers async.\n\nMore.", "001-a", "1")


def test_a_note_keeps_the_bytes_of_its_file():
    raw = f"\ufeff---\r\nid: 1\r\ncreated: {CREATED}\r\n---\r\n\r\n a fact\r\n".encode()
    note = note_from(raw)
    assert (note.raw, note.text.encode(), note.sha) == (raw, raw, sha_of(raw))
    assert note.body == "a fact"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: Given\ntopic: other\n---\n# Heading\n", "Given"),
        ("---\ntopic: Given\n---\n# Heading\n", "Given"),
        ("words first\n\n## Then a heading ##\n", "Then a heading"),
        ("# Learn C#\r\nwords\r\n", "Learn C#"),
        ("# #\n", "deploy"),
        ("no heading", "deploy"),
    ],
)
def test_a_topic_is_titled_by_its_header_its_heading_or_its_name(text, title):
    assert note_from(text, TOPIC, path="topics/deploy.md").title == title


def test_a_summary_is_the_first_line_of_at_most_eighty_characters():
    assert memory(body="\n\n  First.\nSecond.").summary == "First."
    assert memory(body="x" * 80).summary == "x" * 80
    assert memory(body="x" * 81).summary == "x" * 77 + "..."


moments = st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), allow_imaginary=False)  # noqa: DTZ001
offsets = st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-11))])
timestamps = st.builds(lambda moment, zone: moment.replace(tzinfo=zone).isoformat(), moments, offsets)
memories = st.fixed_dictionaries(
    {"id": st.integers(1, 10**15), "created": timestamps, "tags": st.lists(texts, max_size=3), "source": texts},
    optional={
        "updated": timestamps,
        "category": st.sampled_from(["", "user_preferences", "project_insights", "learned_facts"]),
        "key": texts,
        "scope": st.sampled_from(["", "project", "language", "global"]),
        "language": texts | st.just("no"),
        "expires": st.dates().map(str) | timestamps,
        "pinned": st.booleans(),
        "private": st.booleans(),
        "supersedes": st.integers(1) | st.lists(st.integers(1), min_size=1, max_size=3),
        "superseded_by": st.integers(1),
        "because": texts,
    },
)


@promise
@given(memories, texts)
def test_a_memory_that_co_writes_is_read_back_as_it_was(fields, content):
    note = note_from(render_memory(fields, content))
    assert note.body == content.strip()
    for name, value in fields.items():
        listed = value if isinstance(value, list) else [value]
        assert getattr(note, name) == (tuple(listed) if name in ("tags", "supersedes") else value)


def test_a_new_memory_has_its_fields_in_one_order_and_no_empty_ones():
    raw = render_memory(
        {"because": "", "pinned": False, "source": "user-told", "tags": [], "key": "k", "created": CREATED, "id": 7},
        "\n Fact \n",
    )
    assert raw.decode() == f"---\nid: 7\ncreated: {CREATED}\ntags: []\nsource: user-told\nkey: k\n---\n\nFact\n"


# -------------------------------------------------------------------------------------------------------------- problems


@pytest.mark.parametrize(
    ("text", "line", "code", "words"),
    [
        (f"---\ncreated: {CREATED}\nid: seven\n---\nx", 3, "bad-field", "Field 'id' must be integer"),
        (f"---\n# note\n'id': '7'\ncreated: {CREATED}\n---\nx", 3, "bad-field", "Field 'id' must be integer"),
        (f"---\r\ncreated: {CREATED}\r\ntags: python\r\nid: 1\r\n---\r\n", 3, "bad-field", "Field 'tags' must be list"),
        ("---\nid: 1\n---\ncreated: in the body\n", 1, "bad-field", "Missing required field: created"),
        ("---\nid: 1\ncreated: yesterday\n---\n", 3, "bad-field", "Field 'created' must be ISO8601"),
        ("id: 1\njust words\n", 1, "no-frontmatter", "Missing required field: id"),
        ("", 1, "no-frontmatter", "Missing required field: id"),
        ("---\nid: 1\ntags: [a\n---\n", 3, "bad-frontmatter", "Invalid YAML"),
        ("---\n- id\n---\n", 2, "bad-frontmatter", "mapping"),
        (b"---\nid: 1\n---\nfine\ncaf\xe9\n", 5, "not-utf-8", "0xe9"),
        ("---\nid: 1\n".encode("utf-16"), 1, "not-utf-8", "0xff"),
    ],
)
def test_a_file_that_is_no_memory_is_a_problem_with_path_and_line(text, line, code, words):
    with pytest.raises(NoteError, match=words) as caught:
        note_from(text, path="memories/007-odd.md")
    problem = caught.value.problem
    assert (problem.path, problem.line, problem.code) == ("memories/007-odd.md", line, code)
    assert str(problem).startswith(f"memories/007-odd.md:{line}: ")


@pytest.mark.parametrize("field", ["tags: 5", "private: maybe", "version: 2", "updated: today"])
def test_a_context_with_a_header_must_have_a_good_one(field):
    name = field.partition(":")[0]
    good = {"version": "version: 1", "updated": f"updated: {CREATED}"}
    lines = "\n".join({**good, name: field}.values())
    with pytest.raises(NoteError, match=f"{name}|version"):
        note_from(f"---\n{lines}\n---\n", CONTEXT)
    assert note_from("no header at all", CONTEXT).body == "no header at all"


# ---------------------------------------------------------------------------------------------------------------- expiry


def test_a_date_counts_until_its_end_and_a_moment_until_it_has_come():
    today = datetime.now().astimezone()
    day, second = timedelta(days=1), timedelta(seconds=30)
    assert not is_expired(memory())
    assert is_expired(memory(f"expires: {(today - day).date()}\n"))
    assert not is_expired(memory(f"expires: {(today + second).date()}\n"))
    assert not is_expired(memory(f"expires: {(today + day).date()}\n"))
    for zone in (UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-11))):
        assert is_expired(memory(f"expires: {(today - second).astimezone(zone).isoformat()}\n"))
        assert not is_expired(memory(f"expires: {(today + second).astimezone(zone).isoformat()}\n"))


def test_moments_are_compared_across_zones_and_without_one_they_are_utc():
    assert instant("2026-02-09T14:30:00+02:00") == instant("2026-02-09T12:30:00Z") == instant("2026-02-09T12:30:00")
    assert instant("2026-02-09T14:30:00Z") < instant("2026-02-09T14:30:00.5Z")
    assert instant("whenever") == 0
