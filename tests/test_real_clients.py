"""The agents of others as they come from the npm registry, with co in their settings: run without a network."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from commands import Co

COMMANDS = Path(__file__).resolve().parent.parent / ".clients" / "node_modules" / ".bin"
NOWHERE = "http://127.0.0.1:9"
pytestmark = [
    pytest.mark.clients,
    pytest.mark.skipif(not COMMANDS.is_dir(), reason="the agents are not installed: make test-clients"),
]


# What each client is told, with no server to answer it: it keeps what was said before it gives up.
MODEL = '{name="nowhere",base_url="http://127.0.0.1:9/v1",wire_api="responses",request_max_retries=0,stream_max_retries=0}'
SAYING = {
    "claude": ["-p"],
    "codex": [
        "exec",
        "--skip-git-repo-check",
        "-c",
        "model_provider=nowhere",
        "-c",
        f"model_providers.nowhere={MODEL}",
        "-m",
        "x",
    ],
    "gemini": ["--skip-trust", "-m", "gemini-2.5-flash", "-p"],
}
KEYS = {
    "ANTHROPIC_API_KEY": "x",
    "ANTHROPIC_BASE_URL": NOWHERE,
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "OPENAI_API_KEY": "x",
    "GEMINI_API_KEY": "x",
    "GOOGLE_GEMINI_BASE_URL": NOWHERE,
}


def run(client: str, *arguments: str, seconds: float = 120, **variables: str) -> str:
    """Run a client; it gets no network but what a process of its own has for itself."""
    alone = ["unshare", "--map-root-user", "--net"]
    may_be_alone = (
        shutil.which("unshare") and not subprocess.run([*alone, "true"], capture_output=True, check=False).returncode
    )
    env = {**os.environ, "HTTP_PROXY": NOWHERE, "HTTPS_PROXY": NOWHERE, "NO_COLOR": "1", **variables}
    command = [*(alone if may_be_alone else ()), str(COMMANDS / client), *arguments]
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:  # it goes on trying
        return ""
    return done.stdout + done.stderr


def listed(client: str) -> str:
    """What a client says of the servers that it knows."""
    return run(client, "mcp", "list")


@pytest.mark.parametrize("client", ["claude", "codex", "gemini"])
def test_a_real_client_knows_co_once_it_is_connected_and_not_after_that(co: Co, client: str) -> None:
    assert "mcp --client" not in listed(client)
    assert co("connect", client) == 0
    assert f"mcp --client {client}" in listed(client)
    assert co("connect", client, "--remove") == 0
    assert "mcp --client" not in listed(client)


def test_claude_code_finds_that_the_server_answers(co: Co) -> None:
    assert co("connect", "claude") == 0
    (line,) = [line for line in listed("claude").splitlines() if line.startswith("co:")]
    assert line.endswith("Connected")


def test_what_claude_code_writes_itself_stays(co: Co, tmp_path: Path) -> None:
    add = [str(COMMANDS / "claude"), "mcp", "add", "other", "-s", "user", "--", "true"]
    subprocess.run(add, check=True, capture_output=True, timeout=120)
    settings = tmp_path / "home" / ".claude.json"
    before = settings.read_bytes()
    assert co("connect", "claude") == 0
    assert co("connect", "claude", "--remove") == 0
    assert settings.read_bytes() == before


@pytest.mark.parametrize("client", ["claude", "codex", "gemini"])
def test_what_was_said_to_a_real_client_is_drafted_from_what_it_keeps(co: Co, client: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".gemini").mkdir(parents=True)
    (home / ".gemini" / "settings.json").write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}}')
    run(client, *SAYING[client], "we use pnpm here, not npm", seconds=45, **KEYS)
    found = co.json("learn", "--from", str(home / f".{client}"))
    assert [(draft["agent"], draft["text"]) for draft in found["drafts"]] == [(client, "We use pnpm here, not npm.")]
    assert found["broken_lines"] == 0
