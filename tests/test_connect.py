"""Connecting other agents: their settings get what they need, keep all that was there, and lose exactly that again."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from commands import Co
from hypothesis import given
from hypothesis import strategies as st

from co_cli.clients import blocks, json_text

JSON_CLIENTS = {
    "claude": (".claude.json", "mcpServers"),
    "gemini": (".gemini/settings.json", "mcpServers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "vscode": (".config/Code/User/mcp.json", "servers"),
}
PROJECT_FILES = {
    "claude": ".mcp.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "agents-md": "AGENTS.md",
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(exist_ok=True)
    return folder


def everything(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.mark.parametrize("client", JSON_CLIENTS)
def test_a_client_is_connected_and_leaves_no_trace_when_removed(co: Co, home: Path, client: str) -> None:
    name, section = JSON_CLIENTS[client]
    before = everything(home)
    assert co("connect", client) == 0
    server = json.loads((home / name).read_text())[section]["co"]
    assert server["args"][-3:] == ["mcp", "--client", client]
    assert os.path.isabs(server["command"])
    assert stat.S_IMODE((home / name).stat().st_mode) == 0o600
    connected = everything(home)
    assert co("connect", client) == 0
    assert "is connected already" in co.out
    assert everything(home) == connected
    assert co("connect", client, "--remove") == 0
    assert everything(home) == before
    assert co("connect", client, "--remove") == 0
    assert "is not connected" in co.out


@pytest.mark.parametrize("client", JSON_CLIENTS)
def test_foreign_settings_and_comments_stay_byte_for_byte(co: Co, home: Path, client: str) -> None:
    name, section = JSON_CLIENTS[client]
    text = (
        '{\n\t// mine, and it stays\n\t"theme": "dark",\n\t/* servers */\n'
        f'\t"{section}": {{\n\t\t"other": {{"command": "x", "env": {{"TOKEN": "abc"}}}}, // keep\n\t}},\n'
        '\t"big": 12345678901234567890.10,\n}\n'
    )
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    assert co("connect", client) == 0
    assert "TOKEN" not in co.out + co.err
    after = path.read_text()
    assert set(json_text.value_at(json_text.parse(after).value, (section,))) == {"co", "other"}
    ours = after.splitlines()
    assert [line for line in text.splitlines() if line not in ours] == []
    assert co("connect", client, "--remove") == 0
    assert path.read_text() == text


@pytest.mark.parametrize("client", JSON_CLIENTS)
@pytest.mark.parametrize("text", ['{"SECTION": {}}', '{\n  "a": 1,\n  "SECTION": {\n  }\n}\n', '{"a": 1}'])
def test_a_section_that_was_there_and_empty_stays_and_one_that_was_made_goes(
    co: Co, home: Path, client: str, text: str
) -> None:
    name, section = JSON_CLIENTS[client]
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    before = text.replace("SECTION", section)
    path.write_text(before)
    for _ in range(2):
        assert co("connect", client) == 0
    assert "is connected already" in co.out
    assert set(json.loads(path.read_text())[section]) == {"co"}
    assert co("connect", client, "--remove") == 0
    assert json.loads(path.read_text()) == json.loads(before)


def test_codex_keeps_its_comments(co: Co, home: Path) -> None:
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    text = '# my settings\nmodel = "x"   # the best\n\n[mcp_servers.other]\ncommand = "y"'
    path.write_text(text)
    assert co("connect", "codex") == 0
    after = path.read_text()
    assert after.startswith(text)
    servers = tomllib.loads(after)["mcp_servers"]
    assert set(servers) == {"other", "co"}
    assert servers["co"]["args"][-3:] == ["mcp", "--client", "codex"]
    assert co("connect", "codex") == 0
    assert path.read_text() == after
    path.write_text(f"{after}\n[profiles.p]\nmodel = 'z'\n")
    assert co("connect", "codex", "--remove") == 0
    assert path.read_text() == f"{text}\n[profiles.p]\nmodel = 'z'\n"


@pytest.mark.parametrize("client", PROJECT_FILES)
def test_a_project_is_connected_for_all_who_have_it(co: Co, project: Path, home: Path, client: str) -> None:
    before, at_home = everything(project), everything(home)
    assert co("connect", client, "--project") == 0
    text = (project / PROJECT_FILES[client]).read_text()
    assert str(home) not in text
    assert sys.executable not in text
    assert everything(home) == at_home
    assert co("connect", client, "--project", "--remove") == 0
    assert everything(project) == before


def test_a_dry_run_shows_the_change_and_makes_none(co: Co, home: Path) -> None:
    before = everything(home)
    assert co("connect", "claude", "--dry-run") == 0
    assert '+    "co": {' in co.err
    assert "SessionStart" in co.err
    assert everything(home) == before
    assert co.json("connect", "claude", "--dry-run")["changed"] == [
        str(home / ".claude.json"),
        str(home / ".claude/settings.json"),
    ]


def test_claude_code_gets_its_hooks_beside_those_of_others(co: Co, home: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    theirs = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo hello"}]}]}, "model": "opus"}
    path.write_text(json.dumps(theirs, indent=2))
    before = path.read_bytes()
    assert co("connect", "claude", "--pre-compact") == 0
    hooks = json.loads(path.read_text())["hooks"]
    commands = [entry["command"] for group in hooks["SessionStart"] for entry in group["hooks"]]
    assert len(commands) == 2
    assert "echo hello" in commands
    (group,) = hooks["PreCompact"]
    assert group["hooks"][0]["command"].endswith("hook pre-compact --client claude")
    assert co("connect", "claude") == 0
    assert "PreCompact" not in json.loads(path.read_text())["hooks"]
    assert co("connect", "claude", "--no-hooks") == 0
    assert path.read_bytes() == before
    assert co("connect", "claude", "--pre-compact") == 0
    assert co("connect", "claude", "--remove") == 0
    assert path.read_bytes() == before


def test_the_hook_that_was_written_can_be_run(co: Co, home: Path, project: Path) -> None:
    co("learn", "Herons nest in colonies")
    co("pin", "1")
    assert co("connect", "claude") == 0
    hooks = json.loads((home / ".claude" / "settings.json").read_text())["hooks"]
    command = hooks["SessionStart"][0]["hooks"][0]["command"]
    done = subprocess.run(command, shell=True, check=True, capture_output=True, text=True, input='{"source": "startup"}')
    assert "Herons nest in colonies" in done.stdout
    assert done.stderr == ""


def test_a_server_of_that_name_that_is_not_ours_is_left_alone(co: Co, home: Path) -> None:
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{"mcpServers": {"co": {"command": "somebody-else"}}}')
    assert co("connect", "cursor") == 4
    assert co("connect", "cursor", "--remove") == 4
    assert "somebody-else" in path.read_text()
    config = home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text('[mcp_servers.co]\ncommand = "somebody-else"\n')
    assert co("connect", "codex") == 4


@pytest.mark.parametrize(
    ("client", "name", "content"),
    [
        ("cursor", ".cursor/mcp.json", b'{\n  "mcpServers": {,}\n}'),
        ("cursor", ".cursor/mcp.json", b'{"mcpServers": [1]}'),
        ("cursor", ".cursor/mcp.json", b"\xff\xfe{"),
        ("cursor", ".cursor/mcp.json", b"[" * 5000),
        ("codex", ".codex/config.toml", b"this is = = no toml"),
        ("codex", ".codex/config.toml", b'mcp_servers = {other = {command = "x"}}\n'),
    ],
)
def test_settings_that_cannot_be_understood_are_not_touched(
    co: Co, home: Path, client: str, name: str, content: bytes
) -> None:
    path = home / name
    path.parent.mkdir()
    path.write_bytes(content)
    assert co("connect", client) == 1
    assert str(path) in co.err
    assert path.read_bytes() == content


def test_a_link_into_a_folder_of_dotfiles_stays_a_link(co: Co, home: Path) -> None:
    (home / "dotfiles").mkdir()
    (home / "dotfiles" / "claude.json").write_text('{"a": 1}')
    (home / ".claude.json").symlink_to("dotfiles/claude.json")
    assert co("connect", "claude", "--no-hooks") == 0
    assert (home / ".claude.json").is_symlink()
    assert "mcpServers" in (home / "dotfiles" / "claude.json").read_text()
    assert co("connect", "claude", "--remove") == 0
    assert (home / "dotfiles" / "claude.json").read_text() == '{"a": 1}'


def test_advice_goes_into_the_files_that_agents_read(co: Co, project: Path) -> None:
    (project / "CLAUDE.md").write_text("# Mine")
    (project / "GEMINI.md").symlink_to("CLAUDE.md")
    assert co("connect", "agents-md") == 0
    for name in ("AGENTS.md", "CLAUDE.md"):
        assert (project / name).read_text().count("recall_memory") == 1
    assert (project / "CLAUDE.md").read_text().startswith("# Mine\n\n<!-- co connect: begin")
    assert co("connect", "agents-md", "--remove") == 0
    assert (project / "CLAUDE.md").read_text() == "# Mine"
    assert not (project / "AGENTS.md").exists()


def test_only_claude_code_has_hooks(co: Co) -> None:
    assert co("connect", "codex", "--pre-compact") == 2
    assert co("connect", "claude", "--pre-compact", "--no-hooks") == 2
    assert co("connect", "emacs") == 2


# -------------------------------------------------------------------------------------------------------------- properties

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3) | st.dictionaries(st.text(max_size=3), inner, min_size=1, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=3), VALUES, max_size=4)


@given(
    OBJECTS,
    st.dictionaries(st.text(max_size=3), VALUES, min_size=1, max_size=3),
    st.sampled_from([None, 2, 4, "\t"]),
    st.booleans(),
)
def test_what_is_put_into_json_can_be_taken_out_again(rest: dict, others: dict, indent: int | None, crlf: bool) -> None:
    whole = {**rest, "servers": others}
    others.pop("co", None)
    if not others:
        whole.pop("servers")
    text = json.dumps(whole, indent=indent)
    text = text.replace("\n", "\r\n") if crlf else text
    more = json_text.put(text, ("servers", "co"), {"command": "x", "args": ["y"]})
    assert json_text.value_at(json_text.parse(more).value, ("servers", "co")) == {"command": "x", "args": ["y"]}
    assert json.loads(more) == {**whole, "servers": {**others, "co": {"command": "x", "args": ["y"]}}}
    assert json_text.drop(more, ("servers", "co")) == text


@given(OBJECTS.filter(bool), st.data())
def test_any_member_can_be_taken_out_and_the_rest_is_still_json(whole: dict, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(whole)))
    indent = data.draw(st.sampled_from([None, 2]))
    rest = {other: value for other, value in whole.items() if other != name}
    assert json.loads(json_text.drop(json.dumps(whole, indent=indent), (name,))) == rest


def test_a_block_that_lost_its_end_takes_nothing_of_others_with_it() -> None:
    broken = blocks.with_block("", "#", "one").replace("# co connect: end\n", "") + "theirs = 1\n"
    more = blocks.with_block(broken, "#", "one")
    assert blocks.with_block(more, "#", "one") == more
    assert "theirs = 1" in blocks.without(more, "#")


def test_without_the_package_of_the_server_nothing_is_connected(co: Co, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import co_cli.surfaces.cli.connect as command

    monkeypatch.setattr(command, "find_spec", lambda _name: None)
    assert co("connect", "cursor") == 1
    assert "pip install 'co-cli[mcp]'" in co.err
    assert not (home / ".cursor").exists()
    assert co("connect", "agents-md") == 0
    assert co("connect", "cursor", "--remove") == 0


@given(st.text(alphabet="ab\n", max_size=12), st.sampled_from(["#", "<!--"]))
def test_a_block_can_be_taken_out_again(text: str, comment: str) -> None:
    more = blocks.with_block(text, comment, "one\ntwo")
    assert blocks.with_block(more, comment, "one\ntwo") == more
    assert blocks.without(more, comment) == text
    assert blocks.without(blocks.with_block(more, comment, "three"), comment) == text
