"""A model may put a summary into words: within the cap of the day, and only where it drops and adds nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from commands import Co
from model_server import ModelServer, send
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from co_cli import KnowledgeBase
from co_cli.agent.providers import Choice
from co_cli.agent.wording import ANSWER, wording
from co_cli.learning import inbox, spending
from co_cli.learning.inbox import Proposal
from co_cli.learning.summaries.merging import Merged, Summaries, summarize, summary_from
from co_cli.settings import change_setting

REMOTE = Choice("openai", "script")
FACTS = ("We deploy on Fridays after 3pm", "Never deploy without a green smoke run", "Anna approves production deploys")
GOOD = {
    "heading": "Deploys",
    "statements": [
        {"text": "Deploys go out on Fridays after 3 pm, never without a green smoke run.", "refs": ["1", "2"]},
        {"text": "Production deploys are approved by Anna.", "refs": ["3"]},
    ],
}
LIST = f"Deploy:\n\n- {FACTS[0]} [1]\n- {FACTS[1]} [2]\n- {FACTS[2]} [3]"


def dropping(*changes: tuple[str, str]) -> dict[str, Any]:
    """The good answer with some words put otherwise."""
    text = json.dumps(GOOD)
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    answer: dict[str, Any] = json.loads(text)
    return answer


class Asked:
    """A model that gives these answers, one after the other, the last one again and again."""

    def __init__(self, *answers: dict[str, Any] | str | Exception, tokens: int = 400) -> None:
        self.answers, self.tokens = list(answers), tokens
        self.prompts: list[str] = []
        self.limits: list[int] = []
        self.model = FunctionModel(self._answer, model_name="script")

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.prompts.append(str(messages))
        self.limits.append((info.model_settings or {}).get("max_tokens", 0))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        usage = RequestUsage(input_tokens=self.tokens, output_tokens=20)
        if isinstance(answer, str):
            return ModelResponse(parts=[TextPart(answer)], usage=usage)
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, answer)], usage=usage)


def learn(kb: KnowledgeBase, *texts: str, private: bool = False) -> None:
    for text in texts or FACTS:
        kb.save(text, private=private)


def ask(kb: KnowledgeBase, asked: Asked, **how: Any) -> Summaries:
    return summarize(kb, wording=wording(kb, REMOTE, asked.model), **how)


def one(kb: KnowledgeBase, asked: Asked) -> Merged:
    (merged,) = ask(kb, asked).merged
    return merged


def only(kb: KnowledgeBase) -> Proposal:
    (proposal,) = inbox.proposals(kb).proposals
    return proposal


def test_faithful_words_of_a_model_are_proposed_with_citations_and_nothing_is_written_before_a_yes(
    kb: KnowledgeBase,
) -> None:
    learn(kb)
    before = kb.log()
    asked = Asked(GOOD)
    merged = one(kb, asked)
    assert (merged.wording, merged.refused) == ("openai:script", ())
    proposal = only(kb)
    assert proposal.content == (
        "Deploys:\n\n"
        "- Deploys go out on Fridays after 3 pm, never without a green smoke run. [1, 2]\n"
        "- Production deploys are approved by Anna. [3]"
    )
    assert "openai:script" in proposal.reason
    assert (len(asked.prompts), asked.limits) == (1, [ANSWER])
    assert kb.log() == before
    inbox.accept(kb, proposal)
    (note,) = kb.list().notes
    assert (note.supersedes, note.source) == ((1, 2, 3), "agent-inferred")


UNFAITHFUL = [
    ([("after 3 pm, ", "")], "drops the number “after 3pm” of 1"),
    ([("3 pm", "4 pm")], "drops the number “after 3pm” of 1"),
    ([("Fridays", "weekdays")], "drops the date “Fridays” of 1"),
    ([("by Anna", "by the lead")], "drops the name “Anna” of 3"),
    ([("never without", "with")], "drops the negation “never deploy without a green” of 2"),
    ([("by Anna", "by Anna and Ben")], "adds the name “Ben”, which 3 does not have"),
    (
        [("Deploys go out", "Deploys never go out")],
        "adds the negation “never go out on fridays”, which 1 or 2 does not have",
    ),
    ([('["3"]', '["2"]')], "leaves 3 out"),
    ([('["3"]', '["3", "77"]')], "cites 77"),
    ([('"Deploys"', '"Jenkins"')], "adds the name “Jenkins”, which no source has"),
]


@pytest.mark.parametrize(("changes", "told"), UNFAITHFUL)
def test_words_that_are_not_faithful_are_refused_twice_and_the_list_is_proposed(
    kb: KnowledgeBase, changes: list[tuple[str, str]], told: str
) -> None:
    learn(kb)
    asked = Asked(dropping(*changes))
    merged = one(kb, asked)
    assert any(why.startswith(told) for why in merged.refused), merged.refused
    assert merged.wording == ""
    assert only(kb).content == LIST
    assert len(asked.prompts) == 2
    assert "Your last answer was not faithful" not in asked.prompts[0]
    assert told in asked.prompts[1]


def test_words_that_say_the_contrary_without_a_not_are_refused_too(kb: KnowledgeBase) -> None:
    learn(kb, "Telemetry is disabled in staging", "Telemetry goes to the collector in Oslo")
    texts = ("Telemetry is enabled in staging", "Telemetry goes to the collector in Oslo")
    answer = {"heading": "", "statements": [{"text": text, "refs": [str(ref)]} for ref, text in enumerate(texts, start=1)]}
    (merged,) = ask(kb, Asked(answer), refs=["1", "2"]).merged
    assert merged.refused == ("contradicts 1: “Telemetry is enabled in staging”",)


def test_a_second_answer_that_is_faithful_is_taken(kb: KnowledgeBase) -> None:
    learn(kb)
    merged = one(kb, Asked(dropping(("by Anna", "by the lead")), GOOD))
    assert (merged.wording, merged.refused) == ("openai:script", ())
    assert "Anna" in only(kb).content


@pytest.mark.parametrize(
    "answer",
    [
        "Here is a summary: we deploy.",
        {"heading": "Deploys"},
        {"heading": "Deploys", "statements": []},
        {"heading": "Deploys", "statements": [{"text": "x"}]},
    ],
)
def test_a_malformed_answer_is_discarded_with_a_note(kb: KnowledgeBase, answer: Any) -> None:
    learn(kb)
    asked = Asked(answer)
    found = ask(kb, asked)
    assert found.notices == ("The model's answer had another form than was asked for: it was left out.",)
    assert only(kb).content == LIST
    assert len(asked.prompts) == 1


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "text",
        [GOOD],
        {"heading": 5, "statements": GOOD["statements"]},
        {"statements": "x"},
        {"statements": ["x"]},
        {"statements": [{"text": "x", "refs": "1"}]},
        {"statements": [{"text": " ", "refs": ["1"]}]},
        {"statements": [{"text": "x", "refs": ["one"]}]},
        {"statements": [{"text": "x", "refs": []}]},
    ],
)
def test_what_is_no_summary_is_none(answer: object) -> None:
    assert summary_from(answer) is None


def test_the_cap_of_a_day_stops_the_request_before_it_is_made(kb: KnowledgeBase) -> None:
    learn(kb)
    learn(kb, "The ashmill grinds ashcorn", "Buy ashoil for the ashmill", "The ashmill rests on Sundays")
    change_setting(kb.places, "learn_tokens", "3000")
    asked = Asked(GOOD, tokens=2500)
    found = ask(kb, asked)
    assert len(asked.prompts) == 1
    assert spending.spent(kb, 1).today == 2520
    assert "2,520 of the 3,000 for today are spent" in found.notices[0]
    assert len(found.proposed) == 2  # the other in its own words


def test_with_a_cap_of_nothing_no_model_is_asked(kb: KnowledgeBase) -> None:
    learn(kb)
    change_setting(kb.places, "learn_tokens", "0")
    asked = Asked(GOOD)
    assert "learn_tokens is 0" in ask(kb, asked).notices[0]
    assert asked.prompts == []
    assert only(kb).content == LIST


def test_a_model_that_fails_costs_its_words_and_nothing_else(kb: KnowledgeBase) -> None:
    learn(kb)
    found = ask(kb, Asked(OSError("no route")))
    assert "openai:script" in found.notices[0]
    assert only(kb).content == LIST


def test_private_memories_are_told_to_no_model(kb: KnowledgeBase) -> None:
    learn(kb, private=True)
    asked = Asked(GOOD)
    merged = one(kb, asked)
    assert asked.prompts == []
    assert merged.summary.body == LIST


def test_what_waits_or_was_rejected_is_not_asked_about_again(kb: KnowledgeBase) -> None:
    learn(kb)
    asked = Asked(GOOD)
    ask(kb, asked)
    ask(kb, asked, refs=["1", "2", "3"])
    inbox.reject(kb, only(kb))
    assert [each.outcome.state for each in ask(kb, asked).merged] == [inbox.REJECTED]
    assert len(asked.prompts) == 1
    assert inbox.proposals(kb).proposals == ()


def test_a_dry_run_asks_no_model(kb: KnowledgeBase) -> None:
    learn(kb)
    asked = Asked(GOOD)
    assert ask(kb, asked, dry_run=True).proposed[0].summary.body == LIST
    assert asked.prompts == []


def test_without_a_source_the_words_of_a_model_are_proposed_anew_too(kb: KnowledgeBase) -> None:
    from co_cli.learning.summaries.derivation import forget

    learn(kb)
    ask(kb, Asked(GOOD))
    inbox.accept(kb, only(kb))
    forget(kb, ["3"])
    body = "Deploys:\n\n- Deploys go out on Fridays after 3 pm, never without a green smoke run. [1, 2]"
    assert only(kb).content == body


# ------------------------------------------------------------------------------------------------------------------- command


def test_the_command_asks_the_model_that_is_configured_unless_told_not_to(
    co: Co, kb: KnowledgeBase, server: ModelServer
) -> None:
    learn(kb)
    server.answers = [_answers(GOOD)]
    assert co("knowledge", "--summarize", "--no-model", "--dry-run") == 0
    assert server.asked == []
    assert co("knowledge", "--summarize") == 0
    assert "Deploy (1, 2, 3, in the words of openai:script)" in co.out
    assert "- Production deploys are approved by Anna. [3]" in co.out
    assert len(server.asked) == 1
    assert server.asked[0]["max_completion_tokens"] == ANSWER


def test_the_command_says_why_the_words_of_a_model_were_not_taken(co: Co, kb: KnowledgeBase, server: ModelServer) -> None:
    learn(kb)
    wrong = dropping(("by Anna", "by the lead"))
    server.answers = [_answers(wrong), _answers(wrong)]
    assert co("knowledge", "--summarize") == 0
    assert "The words of the model were not taken: drops the name “Anna” of 3" in co.out
    assert only(kb).content == LIST


def _answers(answer: dict[str, Any]) -> Any:
    def respond(handler: Any) -> None:
        call = {"id": "c1", "type": "function", "function": {"name": "final_result", "arguments": json.dumps(answer)}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        usage = {"prompt_tokens": 400, "completion_tokens": 20, "total_tokens": 420}
        about = {"id": "c1", "object": "chat.completion", "created": 1, "model": "script"}
        send(handler, 200, json.dumps({**about, "choices": [choice], "usage": usage}).encode())

    return respond
