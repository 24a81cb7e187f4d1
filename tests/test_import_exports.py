"""What services and servers hand out as files is taken over: mem0, the MCP memory, ChatGPT and claude.ai."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from commands import Co

from co_cli import CoError, Corrupt, KnowledgeBase, NotFound
from co_cli.exchange import archive
from co_cli.exchange.chatgpt import import_chatgpt
from co_cli.exchange.claude_ai import import_claude_ai
from co_cli.exchange.mcp_memory import import_mcp_memory
from co_cli.exchange.mem0 import import_mem0


def put(path: Path, content: object) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return str(path)


def zipped(path: Path, files: dict[str, object]) -> str:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, json.dumps(content))
    return str(path)


def bodies(kb: KnowledgeBase) -> list[str]:
    return [note.body for note in kb.list().notes]


# ------------------------------------------------------------------------------------------------------------------ mem0


def mem0(text: object, number: str, updated: str = "2025-05-02T00:00:00-07:00") -> dict[str, object]:
    return {
        "id": number,
        "memory": text,
        "hash": "abc",
        "user_id": "noor",
        "metadata": {"category": "food"},
        "categories": ["preferences"],
        "created_at": "2025-05-01T10:00:00.123456-07:00",
        "updated_at": updated,
    }


def test_a_memory_of_mem0_keeps_its_date_and_is_known_again_by_its_id(kb: KnowledgeBase, tmp_path: Path) -> None:
    path = put(
        tmp_path / "mem0.json", {"results": [mem0("Likes tea", "m-1"), mem0("Works in Lisbon", "m-2"), mem0("", "m-3"), 7]}
    )
    report = import_mem0(kb, path)
    assert [(entry.outcome, entry.code) for entry in report.entries] == [
        ("created", ""),
        ("created", ""),
        ("skipped", "empty"),
        ("skipped", "wrong-type"),
    ]
    note = kb.get("1")
    assert (note.created, note.key) == ("2025-05-01T10:00:00-07:00", "mem0 m-1")
    assert note.tags == ("imported", "mem0", "preferences", "food")
    assert note.because == "imported from mem0: user_id noor"
    assert import_mem0(kb, path).counts == {"unchanged": 2, "skipped": 2}
    put(Path(path), [mem0("Likes green tea", "m-1", "2999-01-01T00:00:00Z"), mem0("Works in Lisbon", "m-2")])
    assert import_mem0(kb, path).counts == {"updated": 1, "unchanged": 1}
    assert bodies(kb) == ["Likes green tea", "Works in Lisbon"]


@pytest.mark.parametrize("content", ["{", '{"results": 1}', "[1, 2]", "[" * 100_000, '"' + "x" * 10])
def test_what_holds_no_memories_of_mem0_is_an_error_and_nothing_is_written(
    kb: KnowledgeBase, tmp_path: Path, content: str
) -> None:
    with pytest.raises(CoError):
        import_mem0(kb, put(tmp_path / "mem0.json", content))
    assert kb.log() == ()


# ------------------------------------------------------------------------------------------------------------ MCP memory

GRAPH = [
    {
        "type": "entity",
        "name": "Noor Haddad",
        "entityType": "person",
        "observations": ["Speaks Portuguese", "Leads the team"],
    },
    {"type": "entity", "name": "Tidepool", "entityType": "project", "observations": ["Written in Rust"]},
    {"type": "relation", "from": "Noor Haddad", "to": "Tidepool", "relationType": "works_on"},
    {"type": "relation", "from": "Nobody", "to": "Tidepool", "relationType": "works_on"},
]


def test_an_entity_becomes_a_topic_and_its_relations_become_links(kb: KnowledgeBase, tmp_path: Path) -> None:
    path = put(tmp_path / "memory.jsonl", "\n".join(map(json.dumps, GRAPH)) + "\n{broken\n\n")
    report = import_mcp_memory(kb, path)
    assert [(entry.outcome, entry.ref or entry.code, entry.line) for entry in report.entries] == [
        ("created", "topic:noor_haddad", 0),
        ("created", "topic:tidepool", 0),
        ("skipped", "malformed", 5),
        ("skipped", "unknown", 4),
    ]
    note = kb.topic("Noor Haddad")
    assert note.body == "# Noor Haddad\n\n- Speaks Portuguese\n- Leads the team\n\n## Relations\n\n- works_on [[Tidepool]]"
    assert note.tags == ("imported", "mcp-memory", "person")
    assert [link.ref for link in kb.neighbours([note])[note.path]] == ["topic:tidepool"]
    assert import_mcp_memory(kb, str(tmp_path)).counts == {"unchanged": 2, "skipped": 2}


def test_a_file_without_entities_is_no_graph(kb: KnowledgeBase, tmp_path: Path) -> None:
    with pytest.raises(Corrupt, match="no line is an entity"):
        import_mcp_memory(kb, put(tmp_path / "memory.jsonl", "[]\n{}\n"))


# --------------------------------------------------------------------------------------------------------------- ChatGPT


def message(role: str, text: str, **given: object) -> dict[str, object]:
    content = {"content_type": "text", "parts": [text]}
    made = {"author": {"role": role}, "content": content, "create_time": 1767225600.0, "recipient": "all", "metadata": {}}
    return {**made, **given}


def talk(number: str, *messages: dict[str, object]) -> dict[str, object]:
    mapping: dict[str, object] = {"root": {"id": "root", "message": None, "parent": None, "children": ["n0"]}}
    for place, each in enumerate(messages):
        parent = f"n{place - 1}" if place else "root"
        mapping[f"n{place}"] = {"id": f"n{place}", "message": each, "parent": parent, "children": []}
    mapping["other"] = {"id": "other", "message": message("assistant", "A branch that was left"), "parent": "n0"}
    times = {"create_time": 1767225600.5, "update_time": 1767225700.5}
    return {"title": "Tea", "conversation_id": number, "mapping": mapping, "current_node": f"n{len(messages) - 1}", **times}


INSTRUCTIONS = {
    "content_type": "user_editable_context",
    "user_profile": "The user provided this:\n```Noor, in Lisbon```",
    "user_instructions": "The user said how:\n```Be brief```",
}
SNAPSHOT = {
    "content_type": "model_editable_context",
    "model_set_context": "1. [2025-05-02]. Likes green tea\n\n2. [2025-06-01] Has a cat",
}
CONVERSATIONS = [
    talk(
        "c-1",
        message("system", "", content=INSTRUCTIONS, metadata={"is_visually_hidden_from_conversation": True}),
        message("user", "Remember that I like tea"),
        message("assistant", "User likes tea.", recipient="bio"),
        message("tool", "Model set context updated."),
        message("assistant", "Noted."),
    ),
    talk(
        "c-2",
        message("system", "", content=SNAPSHOT),
        message("user", "Hi"),
        message("assistant", "User likes tea.", recipient="bio"),
    ),
]


def test_what_chatgpt_was_told_to_remember_is_taken_and_conversations_are_not(kb: KnowledgeBase, tmp_path: Path) -> None:
    path = zipped(tmp_path / "export.zip", {"conversations.json": CONVERSATIONS, "user.json": {"email": "noor@example.org"}})
    report = import_chatgpt(kb, path, in_global=True)
    assert report.counts == {"created": 5, "unchanged": 1, "skipped": 1}
    assert report.entries[-1].reason == "2 conversations are left out: --conversations takes them in as articles"
    assert sorted(bodies(kb)) == ["Be brief", "Has a cat", "Likes green tea", "Noor, in Lisbon", "User likes tea."]
    dated = next(note for note in kb.list().notes if note.body == "Likes green tea")
    assert dated.created == "2025-05-02T00:00:00+00:00"
    assert {note.category for note in kb.list(key="chatgpt about me").notes} == {"user_preferences"}
    assert import_chatgpt(kb, path, in_global=True).counts == {"unchanged": 6, "skipped": 1}


def test_a_conversation_becomes_an_article_along_the_branch_that_it_ended_with(kb: KnowledgeBase, tmp_path: Path) -> None:
    put(tmp_path / "in" / "conversations.json", CONVERSATIONS[:1])
    import_chatgpt(kb, str(tmp_path / "in"), conversations=True)
    (article,) = kb.list(("article",)).notes
    assert (article.title, article.source) == ("Tea", "chatgpt:c-1")
    assert article.body == "## User\n\nRemember that I like tea\n\n## ChatGPT\n\nNoted."
    assert article.tags == ("imported", "chatgpt", "conversation")
    assert import_chatgpt(kb, str(tmp_path / "in"), conversations=True).counts == {"unchanged": 4}
    grown = talk("c-1", message("user", "Remember that I like tea"), message("assistant", "More"))
    put(tmp_path / "in" / "conversations.json", [{**grown, "update_time": 4e9}])
    assert import_chatgpt(kb, str(tmp_path / "in"), conversations=True).counts == {"updated": 1}


@pytest.mark.parametrize(
    "damage", [[], [{"mapping": {"a": {"parent": "a", "message": {}}}, "current_node": "a"}], [{"mapping": {}}], 7]
)
def test_an_odd_conversation_breaks_nothing(kb: KnowledgeBase, tmp_path: Path, damage: object) -> None:
    path = put(tmp_path / "conversations.json", damage)
    assert "created" not in import_chatgpt(kb, path, conversations=True).counts


# ------------------------------------------------------------------------------------------------------------- claude.ai

PROJECT = {
    "uuid": "p-1",
    "name": "Shop",
    "prompt_template": "Answer in Polish",
    "docs": [{"filename": "prices.md", "content": "Cups: 45"}],
}
CLAUDE = {
    "memories.json": [
        {
            "conversations_memory": "**Work context**\n\nNoor leads a team.\n\n- Likes boring tools\n",
            "project_memories": {"p-1": "The shop sells cups."},
            "memory_files": [
                {"path": "/areas/tea.md", "content": "- Likes tea", "updated_at": "2026-01-02T03:04:05.000000Z"}
            ],
            "account_uuid": "a-1",
        }
    ],
    "projects/p-1.json": PROJECT,
    "conversations.json": [
        {
            "uuid": "t-1",
            "name": "Talk",
            "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-01-02T00:00:00Z",
            "chat_messages": [
                {"sender": "human", "text": "Hello", "content": [{"type": "text", "text": "Hello"}], "attachments": []},
                {
                    "sender": "assistant",
                    "text": "Hi",
                    "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Hi"}],
                },
                {"sender": "human", "text": "See", "attachments": [{"file_name": "a.txt", "extracted_content": "Words"}]},
            ],
        }
    ],
}


def test_what_claude_remembers_is_taken_from_the_export(kb: KnowledgeBase, tmp_path: Path) -> None:
    path = zipped(tmp_path / "data.zip", CLAUDE)
    report = import_claude_ai(kb, path)
    assert report.counts == {"created": 4, "skipped": 2}
    assert bodies(kb) == ["Noor leads a team.", "Likes boring tools", "The shop sells cups."]
    assert kb.get("1").because == "imported from claude.ai: Work context"
    assert kb.get("3").tags == ("imported", "claude-ai", "Shop")
    assert kb.topic("claude areas tea").body == "- Likes tea"
    assert [entry.reason.partition(" left")[0] for entry in report.skipped] == [
        "1 document of a project is",
        "1 conversation is",
    ]
    assert import_claude_ai(kb, path).counts == {"unchanged": 4, "skipped": 2}


def test_conversations_and_documents_of_projects_become_articles_if_wanted(kb: KnowledgeBase, tmp_path: Path) -> None:
    path = zipped(tmp_path / "data.zip", CLAUDE)
    import_claude_ai(kb, path, conversations=True)
    found = {note.title: note.body for note in kb.list(("article",)).notes}
    assert found == {
        "Talk": "## User\n\nHello\n\n## Claude\n\nHi\n\n## User\n\nSee\n\n### Attached: a.txt\n\nWords",
        "Shop: prices.md": "Cups: 45",
        "Shop: instructions": "Answer in Polish",
    }
    assert import_claude_ai(kb, path, conversations=True).counts == {"unchanged": 7}


def test_an_archive_that_is_none_or_has_nothing_of_it_is_an_error(kb: KnowledgeBase, tmp_path: Path) -> None:
    whole = Path(zipped(tmp_path / "data.zip", CLAUDE)).read_bytes()
    (tmp_path / "torn.zip").write_bytes(whole[:200] + b"\0" * 60 + whole[260:])
    with pytest.raises(Corrupt):
        import_claude_ai(kb, str(tmp_path / "torn.zip"))
    with pytest.raises(NotFound, match=r"There is none of memories\.json"):
        import_claude_ai(kb, zipped(tmp_path / "other.zip", {"x.json": 1}))
    assert kb.log() == ()


def test_a_file_of_an_archive_that_unpacks_to_more_than_is_read_is_left(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "LARGEST_JSON", 2000)
    path = zipped(tmp_path / "data.zip", {"memories.json": CLAUDE["memories.json"], "conversations.json": ["x" * 3000]})
    report = import_claude_ai(kb, path)
    assert report.counts == {"created": 4, "skipped": 1}
    assert report.skipped[0].code == "too-large"


def test_the_command_leaves_conversations_out_unless_told(co: Co, tmp_path: Path) -> None:
    path = zipped(tmp_path / "export.zip", {"conversations.json": CONVERSATIONS})
    assert co("import", "chatgpt", path, "--dry-run", "--conversations") == 0
    assert co.out.splitlines()[-1] == "7 would-create, 1 unchanged"
    assert co("import", "mem0", path, "--conversations") == 2
    assert "It goes with chatgpt, claude-ai." in co.err
