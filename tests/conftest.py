"""What every test gets: a home, a state folder and a project of its own, and no network beyond loopback."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import Co
from model_server import ModelServer, model_server

from co_cli import KnowledgeBase, open_knowledge


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project as the working directory, away from the user's own files."""
    for name in list(os.environ):
        theirs = name.startswith(("CO_", "XDG_", "GIT_", "OTEL_", "CLAUDE", "CODEX_", "GEMINI_")) or name.endswith(
            ("_API_KEY", "_BASE_URL")
        )
        if theirs or name in ("VISUAL", "EDITOR", "NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CO_HOME", str(tmp_path / "home" / ".config" / "co-cli"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home" / ".local" / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / ".cache"))
    top = tmp_path / "project"
    (top / ".git").mkdir(parents=True)
    monkeypatch.chdir(top)
    return top


@pytest.fixture
def kb(project: Path) -> KnowledgeBase:
    """The knowledge of that project."""
    return open_knowledge(project)


@pytest.fixture
def vault(project: Path) -> Path:
    """The folder of the project's vault."""
    folder = project / ".co-cli" / "knowledge"
    (folder / "memories").mkdir(parents=True)
    return folder


@pytest.fixture
def global_vault(tmp_path: Path) -> Path:
    """The folder of the global vault."""
    folder = tmp_path / "home" / ".config" / "co-cli" / "knowledge"
    (folder / "memories").mkdir(parents=True)
    return folder


@pytest.fixture
def co(capsys: pytest.CaptureFixture[str]) -> Co:
    """The command."""
    return Co(capsys)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A server that says what the test has written, as the model of whoever asks one."""
    with model_server() as served:
        monkeypatch.setenv("CO_PROVIDER", "openai")
        monkeypatch.setenv("CO_PROVIDER_URL", served.url)
        monkeypatch.setenv("CO_MODEL", "script")
        yield served


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        host = address[0] if isinstance(address, tuple) else "127.0.0.1"
        if host not in ("127.0.0.1", "::1", "localhost"):
            raise OSError(f"tests do not leave this machine: {host}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
