"""Drafting with a model: one request within the cap of the day, of which nothing is believed that was not said."""

from __future__ import annotations

import json
import sqlite3
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from commands import Co
from model_server import ModelServer, says, send
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage
from transcripts import claude

from co_cli import KnowledgeBase
from co_cli.agent.learner import drafter
from co_cli.agent.providers import Choice
from co_cli.learning import inbox, spending
from co_cli.learning.drafting.answers import LONGEST, MOST, drafts_from
from co_cli.learning.drafting.conversations import conversations_at
from co_cli.learning.drafting.lessons import Lesson, learn
from co_cli.learning.drafting.rules import Turn
from co_cli.settings import change_setting
from co_cli.usage import UsageLog

REMOTE = Choice("openai", "script")
SAID = "The thing is that whenever we ship, somebody from Ops has to bless it with 2 thumbs."
ITEM = {
    "text": "Somebody from Ops has to bless every release.",
    "quote": "somebody from Ops has to bless it",
    "category": "project_insights",
}


class Asked:
    """A model that answers a request for drafts with these items, or with a text of its own."""

    def __init__(self, *items: dict[str, Any], text: str = "", error: Exception | None = None, tokens: int = 300) -> None:
        self.items, self.text, self.error, self.tokens = items, text, error, tokens
        self.prompts: list[str] = []
        self.limits: list[int] = []
        self.model = FunctionModel(self._answer, model_name="script")

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.prompts.append(str(messages))
        self.limits.append((info.model_settings or {}).get("max_tokens", 0))
        if self.error:
            raise self.error
        usage = RequestUsage(input_tokens=self.tokens, output_tokens=20)
        if self.text:
            return ModelResponse(parts=[TextPart(self.text)], usage=usage)
        arguments = {"items": list(self.items)}
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, arguments)], usage=usage)


def lesson(kb: KnowledgeBase, asked: Asked, folder: Path, *said: str) -> Lesson:
    path = claude(folder, Path(kb.places.project), *said)
    return learn(kb, conversations_at(str(path)), drafter=drafter(kb, REMOTE, asked.model))


def waiting(kb: KnowledgeBase) -> list[str]:
    return [proposal.content for proposal in inbox.proposals(kb).proposals]


def test_a_model_finds_what_rules_do_not_and_nothing_is_written_before_a_yes(kb: KnowledgeBase, tmp_path: Path) -> None:
    asked = Asked(ITEM)
    found = lesson(kb, asked, tmp_path, SAID, "what is a monad?", "we use pnpm here")
    assert sorted(waiting(kb)) == [ITEM["text"], "We use pnpm here."]
    assert kb.list().notes == ()
    assert found.notices == ()
    assert len(asked.prompts) == 1
    assert asked.limits == [1000]
    quote = next(each.evidence.quote for each in found.proposed if each.content == ITEM["text"])
    assert quote == ITEM["quote"]


def test_what_the_model_says_is_checked_against_what_was_said() -> None:
    turns = [Turn(SAID), Turn("```\nwe use tabs\n```")]
    good, notes = drafts_from([ITEM], turns)
    assert ([draft.text for draft in good], notes) == ([ITEM["text"]], ())
    bad: list[object] = [
        {**ITEM, "quote": "Ops signs every release"},
        {**ITEM, "quote": ""},
        {**ITEM, "quote": "we use tabs"},
        {**ITEM, "text": "Ops blesses it with 3 thumbs."},
        {**ITEM, "text": "x" * (LONGEST + 1)},
        {**ITEM, "text": f"The key is AKIA{'ABCDEFGHIJKLMNOP'}."},
        {**ITEM, "text": "  "},
        {**ITEM, "text": 5},
        {"quote": ITEM["quote"]},
        "a text",
        None,
    ]
    for item in bad:
        drafts, notes = drafts_from([item], turns)
        assert drafts == ()
        assert len(notes) == 1
        assert notes[0].startswith("1 of the model's items left out: ")
    drafts, _ = drafts_from([{**ITEM, "category": "gossip"}], turns)
    assert drafts[0].category == "learned_facts"
    drafts, notes = drafts_from([ITEM] * (MOST + 5), turns)
    assert (len(drafts), notes) == (MOST, ("5 of the model's items left out: there were too many.",))


@pytest.mark.parametrize("other", [None, {}, {"items": "no"}, "we use pnpm", 5])
def test_an_answer_of_another_form_is_left_out_with_a_note(other: object) -> None:
    drafts, notes = drafts_from(other, [Turn(SAID)])
    assert drafts == ()
    assert "another form than was asked for" in notes[0]


@pytest.mark.parametrize(
    "asked",
    [
        Asked(text="Sure! Here is what I found: nothing."),
        Asked({"text": "x"}),
        Asked({**ITEM, "category": "gossip"}),
    ],
)
def test_a_malformed_answer_is_discarded_with_a_note_and_the_rules_go_on(
    kb: KnowledgeBase, tmp_path: Path, asked: Asked
) -> None:
    found = lesson(kb, asked, tmp_path, SAID, "we use pnpm here")
    assert found.notices == ("The model's answer had another form than was asked for: it was left out.",)
    assert waiting(kb) == ["We use pnpm here."]
    assert len(asked.prompts) == 1  # it is not asked again and again


def test_a_model_that_fails_costs_its_drafts_and_no_others(kb: KnowledgeBase, tmp_path: Path) -> None:
    found = lesson(kb, Asked(error=OSError("no route")), tmp_path, "we use pnpm here")
    assert "openai:script broke off" in found.notices[0] or "connection to openai:script" in found.notices[0].lower()
    assert waiting(kb) == ["We use pnpm here."]


def test_the_cap_of_a_day_stops_the_request_before_it_is_made(kb: KnowledgeBase, tmp_path: Path) -> None:
    change_setting(kb.places, "learn_tokens", "4000")
    asked = Asked(tokens=2500)
    assert lesson(kb, asked, tmp_path / "a", SAID).notices == ()
    assert spending.spent(kb, 1).today == 2520
    found = lesson(kb, asked, tmp_path / "b", f"{SAID} Really.", "we use pnpm here")
    assert len(asked.prompts) == 1
    assert "2,520 of the 4,000 for today are spent" in found.notices[0]
    assert "co config set learn_tokens" in found.notices[0]
    assert waiting(kb) == ["We use pnpm here."]


def test_with_a_cap_of_nothing_no_model_is_asked(kb: KnowledgeBase, tmp_path: Path) -> None:
    change_setting(kb.places, "learn_tokens", "0")
    asked = Asked(ITEM)
    assert "learn_tokens is 0" in lesson(kb, asked, tmp_path, SAID).notices[0]
    assert asked.prompts == []


def test_what_is_put_aside_counts_until_it_is_settled_and_days_are_counted_apart(kb: KnowledgeBase) -> None:
    change_setting(kb.places, "learn_tokens", "1000")
    number = spending.reserve(kb, "openai:script", 900)  # and then the process is killed
    with pytest.raises(Exception, match="900 of the 1,000"):
        spending.reserve(kb, "openai:script", 200)
    spending.settle(kb, number, 100)
    assert spending.reserve(kb, "openai:script", 200)
    file = sqlite3.connect(kb.places.usage_log)
    file.execute("UPDATE spent SET at = at - 86400")
    file.commit()
    file.close()
    assert spending.spent(kb, 3).today == 0
    assert sum(day.tokens for day in spending.spent(kb, 3).days) == 300


def test_the_ledger_is_part_of_co_usage(co: Co, kb: KnowledgeBase, tmp_path: Path) -> None:
    co("usage")
    assert "Tokens for learning" not in co.out
    lesson(kb, Asked(tokens=1200), tmp_path, SAID)
    assert co("usage") == 0
    assert "Tokens for learning" in co.out
    assert "1,220 of 20,000 for today are spent." in co.out
    found = co.json("usage")["learning"]
    assert (found["cap"], found["today"]) == (20_000, 1220)
    assert found["by_day"][0]["model"] == "openai:script"


def test_a_turn_that_quoted_private_notes_stays_on_this_machine(kb: KnowledgeBase, tmp_path: Path) -> None:
    turns = [
        {"at": "2026-11-10T09:00:00+00:00", "private": True, "message": _request("we use the secret bunker here")},
        {"at": "2026-11-10T09:01:00+00:00", "message": _request(SAID)},
    ]
    path = tmp_path / "20261110-090000-abcd.jsonl"
    about = {"session": "20261110-090000-abcd", "project": kb.places.project, "started": "2026-11-10T09:00:00+00:00"}
    path.write_text("".join(f"{json.dumps(each)}\n" for each in (about, *turns)), encoding="utf-8")
    asked = Asked(ITEM)
    learn(kb, conversations_at(str(path)), drafter=drafter(kb, REMOTE, asked.model))
    assert "bunker" not in asked.prompts[0]
    private = [each for each in inbox.proposals(kb).proposals if each.private]
    assert [each.content for each in private] == ["We use the secret bunker here."]
    assert "bunker" not in Path(private[0].path).name


def _request(text: str) -> dict[str, object]:
    return {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": text}]}


def test_code_and_quotations_and_what_programs_said_are_not_sent(kb: KnowledgeBase, tmp_path: Path) -> None:
    asked = Asked()
    said = f"{SAID}\n```\npassword = 'bunker'\n```\n> bunker\n<system-reminder>bunker</system-reminder>"
    lesson(kb, asked, tmp_path, said)
    assert "bless it" in asked.prompts[0]
    assert "bunker" not in asked.prompts[0]


def test_secrets_are_not_sent(kb: KnowledgeBase, tmp_path: Path) -> None:
    asked = Asked()
    lesson(kb, asked, tmp_path, f"{SAID} Our key is AKIA{'ABCDEFGHIJKLMNOP'}.")
    assert "AKIA" not in asked.prompts[0]


def test_the_ledger_of_an_older_co_is_taken_over(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "usage.db"
    path.write_bytes(gzip.decompress((Path(__file__).parent / "schemas" / "usage-1.db.gz").read_bytes()))
    log = UsageLog(str(path))
    calls = log.days(0)
    assert calls
    assert log.reserve("learning", "m", 10, cap=100, since=0) == 1
    assert log.spent(0)[0].tokens == 10
    log.close()


# ------------------------------------------------------------------------------------------------------------------ chats


def test_at_the_end_of_a_chat_its_model_is_asked_once_more(
    co: Co, kb: KnowledgeBase, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    co("learn", "--auto")
    server.answers = [says("Noted."), _items(ITEM)]
    monkeypatch.setattr(sys, "stdin", StringIO(f"{SAID}\n"))
    assert co("chat") == 0
    assert waiting(kb) == [ITEM["text"]]
    assert len(server.asked) == 2
    assert server.asked[1]["max_completion_tokens"] == 1000
    assert spending.spent(kb, 1).today == 420


def _items(*items: dict[str, str]) -> Any:
    def answer(handler: Any) -> None:
        arguments = json.dumps({"items": items})
        call = {"id": "c1", "type": "function", "function": {"name": "final_result", "arguments": arguments}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        usage = {"prompt_tokens": 400, "completion_tokens": 20, "total_tokens": 420}
        about = {"id": "c1", "object": "chat.completion", "created": 1, "model": "script"}
        send(handler, 200, json.dumps({**about, "choices": [choice], "usage": usage}).encode())

    return answer
