"""Which model answers: chosen by flag, environment and settings; what is missing is said, and keys are shown to nobody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import Co
from model_server import ModelServer, model_server

from co_cli import Invalid, KnowledgeBase, Unavailable
from co_cli.agent.providers import Choice, choose, health, open_model
from co_cli.errors import Denied
from co_cli.settings import PROVIDERS, change_setting

KEY = "sk-key-that-nobody-may-see-0123456789"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as served:
        yield served


def chosen(kb: KnowledgeBase, provider: str = "", model: str = "", **environment: str) -> Choice:
    return choose(kb.settings(), provider=provider, model=model, environment=environment)


def test_without_a_choice_there_is_no_model(kb: KnowledgeBase) -> None:
    assert chosen(kb) == Choice("offline")
    found = health(chosen(kb))
    assert (found.ready, found.message) == (True, "no model is configured; co answers from the notes")
    assert "co config set provider" in found.hint


def test_a_flag_comes_before_the_environment_and_that_before_the_settings(kb: KnowledgeBase) -> None:
    change_setting(kb.places, "provider", "anthropic")
    change_setting(kb.places, "model", "claude-set")
    assert chosen(kb).label == "anthropic:claude-set"
    assert chosen(kb, CO_PROVIDER="openai", CO_MODEL="gpt-env").label == "openai:gpt-env"
    assert chosen(kb, "gemini", CO_PROVIDER="openai", CO_MODEL="gpt-env").provider == "gemini"
    assert "gpt-env" not in chosen(kb, "gemini", CO_PROVIDER="openai", CO_MODEL="gpt-env").model
    assert chosen(kb, "anthropic").model == "claude-set"
    assert chosen(kb, "google").provider == "gemini"
    assert chosen(kb, model="gpt-flag", CO_PROVIDER="openai").label == "openai:gpt-flag"
    assert chosen(kb, model="openai:gpt-flag").label == "openai:gpt-flag"


def test_a_models_own_name_may_hold_a_colon(kb: KnowledgeBase) -> None:
    assert chosen(kb, "ollama", "qwen3:8b").model == "qwen3:8b"
    assert chosen(kb, model="ollama:qwen3:8b") == Choice("ollama", "qwen3:8b", "http://127.0.0.1:11434")
    assert chosen(kb, model="qwen3:8b", CO_PROVIDER="ollama").model == "qwen3:8b"


def test_an_address_counts_for_its_own_provider_only(kb: KnowledgeBase) -> None:
    change_setting(kb.places, "provider", "openai")
    change_setting(kb.places, "provider_url", "http://127.0.0.1:9/v1/")
    assert chosen(kb).url == "http://127.0.0.1:9/v1"
    assert chosen(kb, "anthropic").url == ""
    assert chosen(kb, OPENAI_BASE_URL="http://127.0.0.1:7").url == "http://127.0.0.1:9/v1"
    assert chosen(kb, "anthropic", ANTHROPIC_BASE_URL="http://127.0.0.1:7").url == "http://127.0.0.1:7"
    assert chosen(kb, "ollama", OLLAMA_BASE_URL="http://127.0.0.1:7/v1").url == "http://127.0.0.1:7/v1"


def test_a_provider_that_does_not_exist_is_refused(kb: KnowledgeBase) -> None:
    with pytest.raises(Invalid, match="no provider 'zebra'"):
        chosen(kb, CO_PROVIDER="zebra")


def test_a_clone_cannot_choose_where_words_are_sent(kb: KnowledgeBase, project: Path) -> None:
    (project / ".co-cli").mkdir()
    (project / ".co-cli" / "settings.json").write_text('{"provider": "openai", "provider_url": "https://evil.example"}')
    assert chosen(kb) == Choice("offline")


@pytest.mark.parametrize(("provider", "name"), [("openai", "OPENAI"), ("anthropic", "ANTHROPIC"), ("gemini", "GEMINI")])
def test_a_missing_key_is_named_with_the_next_command(kb: KnowledgeBase, provider: str, name: str) -> None:
    found = health(chosen(kb, provider))
    assert (found.ready, found.message) == (False, f"{provider} needs a key, and none is set")
    assert found.hint.startswith(f"export {name}_API_KEY=…")
    with pytest.raises(Unavailable, match="needs a key"):
        open_model(chosen(kb, provider), kb)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_provider_opens_its_model_without_asking_anybody(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    names = {"gemini": "GOOGLE_API_KEY", "openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
    if provider in names:
        monkeypatch.setenv(names[provider], KEY)
    model = open_model(choose(kb.settings(), provider=provider, model="some-model"), kb)
    assert model.model_name == ("offline" if provider == "offline" else "some-model")


def test_a_key_is_found_in_the_systems_keyring(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    import keyring
    from keyring.backend import KeyringBackend

    class Ring(KeyringBackend):
        priority = 1  # type: ignore[assignment]

        def get_password(self, service: str, username: str) -> str | None:
            return KEY if (service, username) == ("co-cli", "openai") else None

        def set_password(self, service: str, username: str, password: str) -> None:
            raise NotImplementedError

    before = keyring.get_keyring()
    keyring.set_keyring(Ring())
    try:
        assert chosen(kb, "openai").key_name == "keyring"
        assert chosen(kb, "openai", OPENAI_API_KEY="x").key_name == "OPENAI_API_KEY"
        assert chosen(kb, "anthropic").key_name == ""
        model = open_model(chosen(kb, "openai"), kb)
        assert model.client.api_key == KEY  # type: ignore[attr-defined]
    finally:
        keyring.set_keyring(before)


def test_a_key_never_travels_unencrypted(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("CO_PROVIDER_URL", "http://models.example/v1")
    choice = choose(kb.settings(), provider="openai")
    choice = choice._replace(url="http://models.example/v1")
    assert "unencrypted" in health(choice).message
    with pytest.raises(Denied, match="unencrypted"):
        open_model(choice, kb)
    for url in ("http://127.0.0.1:1/v1", "http://localhost:1/v1", "http://[::1]:1/v1", "https://models.example/v1"):
        assert health(choice._replace(url=url), ask=False).ready


# ---------------------------------------------------------------------------------------------------------- what is asked


def configure(kb: KnowledgeBase, server: ModelServer, model: str = "script", provider: str = "openai") -> None:
    change_setting(kb.places, "provider", provider)
    change_setting(kb.places, "provider_url", server.url)
    change_setting(kb.places, "model", model)


@pytest.mark.parametrize("command", ["config", "doctor"])
def test_config_and_doctor_say_that_a_server_answers(kb: KnowledgeBase, server: ModelServer, co: Co, command: str) -> None:
    configure(kb, server)
    assert co(command) == 0
    assert f"openai:script at {server.url} answers" in co.out
    assert [(path, body) for path, _headers, body in server.requests] == [("/v1/models", None)]


def test_config_and_doctor_name_the_models_where_the_one_that_is_set_is_missing(
    kb: KnowledgeBase, server: ModelServer, co: Co
) -> None:
    configure(kb, server, "zebra")
    assert co("doctor") == 1
    assert "has no model 'zebra'" in co.out
    assert "It has: script, other" in co.out
    assert co.json("config")["provider"] == co.json("doctor")["provider"]
    assert co.json("config", "list")["provider"]["ready"] is False


def test_doctor_says_that_a_key_is_not_accepted_and_shows_it_to_nobody(
    kb: KnowledgeBase, server: ModelServer, co: Co, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    configure(kb, server)
    server.listing = 401
    assert co("doctor") == 1
    assert "does not accept the key of OPENAI_API_KEY" in co.out
    assert KEY not in co.out + co.err
    assert server.requests[0][1]["authorization"] == f"Bearer {KEY}"
    assert KEY not in str(co.json("config")) + str(co.json("doctor"))


def test_a_redirection_is_not_followed_with_the_key(
    kb: KnowledgeBase, server: ModelServer, co: Co, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    configure(kb, server)
    server.listing = 302
    co("doctor")
    assert [path for path, _headers, _body in server.requests] == ["/v1/models"]


def test_the_providers_own_server_is_asked_by_doctor_only(
    kb: KnowledgeBase, co: Co, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    change_setting(kb.places, "provider", "openai")
    assert co("config") == 0
    assert "is configured, with the key of OPENAI_API_KEY" in co.out
    assert co("doctor") == 1  # tests do not leave this machine
    assert "the server of openai does not answer" in co.out


def test_an_ollama_server_is_asked_for_its_models(kb: KnowledgeBase, server: ModelServer, co: Co) -> None:
    configure(kb, server, "", "ollama")
    server.models = ["qwen3:latest"]
    assert co("doctor") == 0
    assert "answers with qwen3:latest" in co.out
    assert server.requests[0][0] == "/api/tags"
    change_setting(kb.places, "model", "qwen3")
    assert co("doctor") == 0
    server.models = []
    assert co("doctor") == 1
    assert "Fetch one: ollama pull" in co.out
    server.close()
    assert co("doctor") == 1
    assert "Start it: ollama serve" in co.out


def test_without_a_model_doctor_has_nothing_to_say_of_one(co: Co) -> None:
    assert co("doctor") == 0
    assert "model" not in co.out
    assert co.json("doctor")["provider"]["ready"] is True


def test_status_lists_the_tools_with_what_each_needs(co: Co) -> None:
    co("status", "--tools")
    assert "save_memory       yes       no       none\n" in co.out
    assert "recall_memory     no        no       none\n" in co.out
    by_name = {tool["name"]: tool for tool in co.json("status", "--tools")["tools"]}
    assert by_name["knowledge_delete"]["approval"] is True
    assert by_name["knowledge_list"] == by_name["knowledge_list"] | {"approval": False, "network": False, "extra": ""}
