"""The command line: what is typed, what is printed, and with which code it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Co

from co_cli import Invalid, KnowledgeBase
from co_cli.bench.vaults import write_vault
from co_cli.errors import KINDS
from co_cli.surfaces.cli.main import COMMANDS, EXIT_CODES, build_parser


def test_a_fact_that_is_learned_can_be_recalled_listed_and_shown(co: Co, project: Path) -> None:
    assert co("learn", "We deploy on Fridays", "-t", "deploy", "-t", "ops") == 0
    path = project / ".co-cli/knowledge/memories/001-we-deploy-on-fridays.md"
    assert f"Location: {path}" in co.out
    assert co("recall", "FRIDAYS") == 0
    assert "We deploy on Fridays" in co.out
    assert co("recall", "ops") == 0
    assert "We deploy on Fridays" in co.out
    assert co("list") == 0
    assert "We deploy on Fridays [deploy, ops]" in co.out
    assert co("show", "1") == 0
    assert co.out == path.read_text()


def test_the_forms_of_the_first_design_work_as_they_are(co: Co) -> None:
    co("learn", "I prefer async/await over callbacks")
    co("learn", "A pattern about callbacks is kept here")
    assert co("knowledge", "--list") == 0
    assert "I prefer async/await over callbacks" in co.out
    assert co("forget", "pattern about callbacks") == 0
    assert "Forgot 2" in co.out


def test_learn_as_json_names_the_memory(co: Co, project: Path) -> None:
    learned = co.json("learn", "Tests run in parallel")
    assert learned["memory_id"] == 1
    assert learned["ref"] == "1"
    assert Path(learned["path"]).is_relative_to(project)
    assert learned["display"].startswith("✓ Saved memory 1")


def test_recall_as_json_has_the_promised_shape(co: Co) -> None:
    co("learn", "Tests run in parallel", "-t", "ci")
    co("learn", "Tests never touch the network", "--global")
    found = co.json("recall", "tests")
    assert (found["query"], found["mode"], found["count"], found["degraded"]) == ("tests", "grep", 2, [])
    by_ref = {result["ref"]: result for result in found["results"]}
    assert set(by_ref) == {"1", "g:1"}
    first = by_ref["1"]
    assert {"ref", "kind", "id", "title", "content", "tags", "created", "path", "scope", "score", "why"} <= set(first)
    assert (first["kind"], first["id"], first["content"], first["tags"]) == ("memory", 1, "Tests run in parallel", ["ci"])
    assert by_ref["g:1"]["scope"] == "global"
    assert first["why"]["places"] == ["body"]


def test_knowledge_list_as_json_counts_its_memories(co: Co) -> None:
    co("learn", "One")
    co("learn", "Two")
    listed = co.json("knowledge", "--list")
    assert listed["count"] == 2
    assert [memory["content"] for memory in listed["memories"]] == ["One", "Two"]


def test_a_recall_without_a_match_says_so_and_is_no_error(co: Co) -> None:
    assert co("recall", "nothing") == 0
    assert co.out == ""
    assert "No notes found matching 'nothing'" in co.err
    assert co.json("recall", "nothing")["count"] == 0


def test_why_says_what_matched_where(co: Co) -> None:
    co("learn", "We deploy on Fridays", "-t", "release")
    co("recall", "release fridays", "--why")
    assert "why: all words (release, fridays) in body and tags; project vault" in co.out


def test_forgetting_by_words_that_fit_several_lists_them_and_forgets_none(co: Co) -> None:
    co("learn", "Callbacks are old")
    co("learn", "Callbacks are slow")
    assert co("forget", "callbacks") == 4
    assert "Callbacks are old" in co.err
    assert "Callbacks are slow" in co.err
    error = co.json("forget", "callbacks")["error"]
    assert error["code"] == "ambiguous"
    assert "Callbacks are old" in error["details"]
    assert co.json("list")["count"] == 2
    assert co("forget", "callbacks", "--yes") == 0
    assert co.json("list")["count"] == 0
    assert co("undo") == 0
    assert co.json("list")["count"] == 2


def test_forgetting_what_is_not_there_shows_the_closest_and_forgets_none(co: Co) -> None:
    co("learn", "Callbacks are old")
    assert co("forget", "callbacks of elephants") == 3
    assert "Callbacks are old" in co.err
    assert co("forget", "7") == 3
    assert co.json("list")["count"] == 1


def test_the_context_cannot_be_forgotten_by_its_name(co: Co, project: Path) -> None:
    co("init")
    assert co("forget", "context") == 2
    assert (project / ".co-cli/knowledge/context.md").exists()


def test_a_secret_is_refused_with_a_hint_and_kept_private_when_insisted_upon(co: Co, project: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    assert co("learn", f"The token is {secret}") == 5
    assert "GitHub token" in co.err
    assert "--force" in co.err
    assert secret not in co.err
    assert co.json("list")["count"] == 0
    assert co("learn", f"The token is {secret}", "--force") == 0
    assert "kept as a private note" in co.out
    kept = next((project / ".co-cli/knowledge/memories").iterdir())
    assert kept.name == "001-private.md"
    assert "private: true" in kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0
    co("forget", "1")
    co("log")
    assert "learned 1 (private)" in co.out
    assert secret not in co.out
    assert co("learn", "A fact", "-t", secret) == 5
    assert co("learn", "hunter2-x9", "--key", "db_password") == 5


def test_the_same_text_again_names_the_memory_that_holds_it(co: Co) -> None:
    co("learn", "We deploy on Fridays.")
    again = co.json("learn", "we deploy,  on FRIDAYS")
    assert (again["outcome"], again["ref"]) == ("unchanged", "1")
    assert co.json("learn", "we deploy on fridays", "--force")["ref"] == "2"


def test_saying_it_again_with_more_adds_what_was_missing_to_the_memory_that_is_there(co: Co) -> None:
    co("learn", "We deploy on Fridays", "-t", "deploy")
    again = co.json("learn", "we deploy on fridays", "--pin", "--private", "-t", "ops")
    assert (again["outcome"], again["ref"]) == ("updated", "1")
    note = co.json("show", "1")
    assert (note["content"], note["tags"], note["pinned"], note["private"]) == (
        "We deploy on Fridays",
        ["deploy", "ops"],
        True,
        True,
    )


def test_what_has_expired_can_be_said_again(co: Co) -> None:
    co("learn", "Staging is frozen", "--expires", "2020-01-01")
    assert co.json("learn", "Staging is frozen")["outcome"] == "updated"
    assert co.json("recall", "staging")["count"] == 1
    co("learn", "Friday", "--key", "deploy", "--expires", "2020-01-01")
    co("learn", "Monday", "--key", "deploy")
    assert [result["content"] for result in co.json("recall", "monday")["results"]] == ["Monday"]


def test_forget_means_whole_words_and_never_reaches_into_the_other_vault(co: Co) -> None:
    co("learn", "Staging is small")
    co("learn", "Everybody has this", "--global")
    assert co("forget", "all") == 3
    assert co("forget", '""') == 2
    assert co("forget", "1") == 0
    assert co("forget", "1") == 3
    assert "g:1" in co.err
    assert co.json("list")["count"] == 1
    assert co("forget", "g:1") == 0


def test_a_key_is_never_lost_to_a_twin_in_the_other_vault(co: Co) -> None:
    co("learn", "We indent with tabs", "--global")
    assert co("learn", "we indent with tabs!") == 0
    assert "g:1 already says this" in co.out
    co("learn", "We indent with tabs", "--key", "indent")
    assert co.json("list", "--key", "indent")["memories"][0]["ref"] == "1"
    co("learn", "We indent with spaces", "--key", "indent")
    assert [note["content"] for note in co.json("list")["memories"]] == ["We indent with spaces", "We indent with tabs"]


def test_recall_says_how_many_more_there_are(co: Co) -> None:
    for number in range(7):
        co("learn", f"Fact number {number}")
    co("recall", "fact")
    assert "5 of 7 notes" in co.err
    found = co.json("recall", "fact", "-n", "3")
    assert (found["count"], found["total"]) == (3, 7)
    co("recall", "fact", "-n", "1")
    assert "1 of 7 notes" in co.err
    assert co("recall", '""') == 2


def test_what_a_terminal_would_obey_is_shown_instead(co: Co, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    co("learn", "evil \x1b]0;title\x07 \x1b[2J text")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    folder = project / ".co-cli/knowledge/memories"
    (folder / "bad \x1b[2J.md").write_text("---\nid: evil\n---\nevil \x1b]0;title\x07\n")
    commands = [
        ["list"],
        ["recall", "evil"],
        ["show", "1"],
        ["log"],
        ["doctor"],
        ["pin", "1"],
        ["prompt"],
        ["context"],
        ["learn", "evil \x1b]0;title\x07 \x1b[2J text"],
        ["edit", "1", "--content", "evil \x1b[2J too"],
        ["knowledge", "--archive", "1"],
        ["undo"],
        ["forget", "evil \x1b[2J too"],
        ["show", "evil \x1b[2J"],
    ]
    for command in commands:
        co(*command)
        assert "\x1b]0;" not in co.out + co.err, command
        assert "\x1b[2J" not in co.out + co.err, command
        assert "\x1b[1m" in co.out or command[0] not in ("list", "recall", "log"), "our own colours stay"
        assert "evil" in co.out + co.err or command == ["pin", "1"]


def test_colours_are_for_terminals_only(co: Co, monkeypatch: pytest.MonkeyPatch) -> None:
    co("learn", "We deploy on Fridays", "-t", "deploy")
    co("list")
    assert "\x1b[" not in co.out + co.err
    monkeypatch.setenv("FORCE_COLOR", "1")
    co("list")
    assert "\x1b[" in co.out
    assert "\x1b[" not in json.dumps(co.json("list"))
    monkeypatch.setenv("NO_COLOR", "1")
    co("list")
    assert "\x1b[" not in co.out


def test_every_command_that_reports_gives_one_json_document(co: Co) -> None:
    co("learn", "We deploy on Fridays")
    commands = [
        ["init"],
        ["learn", "x"],
        ["recall", "x"],
        ["list"],
        ["show", "1"],
        ["edit", "1", "--content", "y"],
        ["pin", "1"],
        ["unpin", "1"],
        ["review", "--list"],
        ["promote", "1"],
        ["demote", "g:1"],
        ["log"],
        ["undo"],
        ["prompt"],
        ["context"],
        ["prompt", "--personalities"],
        ["usage"],
        ["connect", "claude"],
        ["connect", "claude", "--remove"],
        ["hook", "session-start"],
        ["article", "link", ".", "--name", "here"],
        ["article", "links"],
        ["article", "unlink", "here"],
        ["topic", "list"],
        ["article", "list"],
        ["merge", "nowhere"],
        ["status"],
        ["review"],
        ["doctor"],
        ["knowledge", "--list"],
        ["knowledge", "--archive", "1"],
        ["import", "json", "nowhere"],
        ["eval", "nowhere"],
        ["chat", "hello"],
        ["config", "list"],
        ["config", "get", "editor"],
        ["trust", "--remove"],
        ["completion", "bash"],
        ["forget", "2"],
        ["demo"],
    ]
    for command in commands:
        assert isinstance(co.json(*command), dict), command
    assert {command[0] for command in commands} | {"bench", "eval", "mcp"} == set(COMMANDS)
    co("config", "--json", "list")
    assert "settings" in json.loads(co.out)


def test_the_same_key_again_replaces_the_text_and_the_log_keeps_the_old_one(co: Co) -> None:
    co("learn", "Indent with tabs", "--category", "user_preferences", "--key", "indent", "-t", "style")
    updated = co.json("learn", "Indent with spaces", "--category", "user_preferences", "--key", "indent")
    assert (updated["outcome"], updated["ref"]) == ("updated", "1")
    memories = co.json("list", "--key", "indent")["memories"]
    assert [memory["content"] for memory in memories] == ["Indent with spaces"]
    co("undo")
    assert co.json("show", "1")["content"] == "Indent with tabs"


@pytest.mark.parametrize(
    ("span", "good"), [("30d", True), ("2w", True), ("2030-12-31", True), ("soon", False), ("2030-02-30", False)]
)
def test_expiry_takes_dates_and_spans_and_nothing_else(co: Co, span: str, good: bool) -> None:
    assert co("learn", "Staging is frozen", "--expires", span) == (0 if good else 2)
    assert bool(co.json("list")["count"]) == good


def test_an_expired_memory_is_left_out_of_recall_unless_asked_for(co: Co) -> None:
    co("learn", "Staging is frozen", "--expires", "2020-01-01")
    assert co.json("recall", "staging")["count"] == 0
    assert co.json("recall", "staging", "--expired")["count"] == 1


def test_edit_with_options_changes_just_these(co: Co) -> None:
    co("learn", "We deploy on Fridays", "-t", "deploy", "--pin")
    assert co("edit", "1", "--content", "We deploy on Mondays") == 0
    note = co.json("show", "1")
    assert (note["content"], note["tags"], note["pinned"]) == ("We deploy on Mondays", ["deploy"], True)
    assert note["updated"]


def test_edit_opens_the_editor_and_takes_what_was_saved(co: Co, monkeypatch: pytest.MonkeyPatch) -> None:
    co("learn", "We deploy on Fridays")
    monkeypatch.setenv("EDITOR", "sed -i s/Fridays/Mondays/")
    assert co("edit", "1") == 0
    assert co.json("show", "1")["content"] == "We deploy on Mondays"
    monkeypatch.setenv("EDITOR", "true")
    assert co("edit", "1") == 0
    assert "nothing to change" in co.out


def test_an_edit_that_breaks_the_note_changes_nothing_and_keeps_the_draft(co: Co, monkeypatch: pytest.MonkeyPatch) -> None:
    co("learn", "We deploy on Fridays")
    monkeypatch.setenv("EDITOR", "sed -i 's/^id: 1/id: [/'")
    assert co("edit", "1") == 2
    draft = Path(co.err.split("Your draft is kept: ")[1].split()[0])
    assert "id: [" in draft.read_text()
    draft.unlink()
    assert co.json("show", "1")["content"] == "We deploy on Fridays"


def test_an_edit_never_overwrites_what_another_program_saved_meanwhile(
    co: Co, monkeypatch: pytest.MonkeyPatch, project: Path, tmp_path: Path
) -> None:
    co("learn", "We deploy on Fridays")
    path = next((project / ".co-cli/knowledge/memories").iterdir())
    script = tmp_path / "editor.sh"
    script.write_text(f"#!/bin/sh\nsed -i s/Fridays/Tuesdays/ '{path}'\nsed -i s/Fridays/Mondays/ \"$1\"\n")
    script.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(script))
    assert co("edit", "1") == 4
    assert "Tuesdays" in co.err
    assert "Mondays" in co.err
    assert "Tuesdays" in path.read_text()
    Path(co.err.split("Your draft is kept: ")[1].split()[0]).unlink()


def test_pin_puts_a_memory_into_the_prompt_and_unpin_takes_it_out(co: Co) -> None:
    co("learn", "We deploy on Fridays")
    co("pin", "1")
    co("prompt")
    assert "### Pinned Memories\n- [1] We deploy on Fridays" in co.out
    co("pin", "1")
    assert "already pinned" in co.out
    co("unpin", "1")
    co("prompt")
    assert "Fridays" not in co.out
    co("unpin", "1")
    assert co.out == "1 is not pinned.\n"


def test_a_private_memory_is_in_the_prompt_of_no_remote_model(co: Co) -> None:
    co("learn", "The gate code is on the fridge", "--pin", "--private")
    co("prompt", "--provider", "offline", "--private")
    assert "gate code" in co.out
    for arguments in ([], ["--private", "--provider", "gemini"], *(["--provider", name] for name in ("openai", "ollama"))):
        co("prompt", *arguments)
        assert "gate code" not in co.out
        assert "1 private note is left out" in co.err
    assert co("prompt", "--provider", "gemni") == 2


def test_prompt_says_its_budget_on_stderr_and_has_the_prompt_alone_on_stdout(co: Co, vault: Path) -> None:
    (vault / "context.md").write_text("# Project\n- Language: Python\n")
    co("prompt")
    assert "Language: Python" in co.out
    assert "of 10240 bytes" in co.err
    assert "10240" not in co.out


def test_init_makes_what_is_missing_and_touches_nothing_that_is_there(co: Co, project: Path) -> None:
    co("init")
    context = project / ".co-cli/knowledge/context.md"
    context.write_text("mine")
    assert co("init") == 0
    assert context.read_text() == "mine"
    assert "nothing to make" in co.out
    assert "knowledge.db*" in (project / ".co-cli/knowledge/.gitignore").read_text()


def test_status_tells_where_everything_is(co: Co, project: Path) -> None:
    co("learn", "One")
    status = co.json("status")
    assert status["project"] == str(project)
    assert [(vault["name"], vault["memories"]) for vault in status["vaults"]] == [("project", 1), ("global", 0)]
    co("status")
    assert str(project) in co.out


def test_archive_keeps_a_memory_readable_but_out_of_recall(co: Co) -> None:
    co("learn", "We deploy on Fridays")
    assert co("knowledge", "--archive", "1") == 0
    assert co.json("recall", "deploy")["count"] == 0
    assert co.json("list", "--archived")["count"] == 1
    assert co.json("show", "1")["content"] == "We deploy on Fridays"
    assert co("knowledge", "--archive", "1") == 4
    assert co("knowledge", "--restore", "1") == 0
    assert co.json("recall", "deploy")["count"] == 1


def test_log_and_undo_name_changes_by_place_and_by_id(co: Co) -> None:
    co("learn", "One")
    co("learn", "Two")
    changes = co.json("log")["changes"]
    assert [(change["position"], change["summary"]) for change in changes] == [(1, "learned 2: Two"), (2, "learned 1: One")]
    assert co("undo", "2") == 0
    assert [memory["content"] for memory in co.json("list")["memories"]] == ["Two"]
    assert co("undo", changes[0]["id"]) == 0
    assert co.json("list")["count"] == 0
    assert co("undo") == 3
    assert co("undo", "99") == 3


def test_an_undo_after_an_edit_by_hand_refuses_and_shows_the_difference(co: Co) -> None:
    path = Path(co.json("learn", "We deploy on Fridays")["path"])
    path.write_text(path.read_text().replace("Fridays", "Tuesdays"))
    assert co("undo") == 4
    assert "-We deploy on Fridays" in co.err
    assert "+We deploy on Tuesdays" in co.err
    assert "Tuesdays" in path.read_text()


def test_settings_are_set_read_and_unset(co: Co) -> None:
    assert co("config", "set", "personality", "terse") == 0
    assert co("config", "get", "personality") == 0
    assert co.out == "terse\n"
    co("prompt")
    assert "## Personality" in co.out
    co("config", "unset", "personality")
    assert co.json("config", "get", "personality")["value"] == ""
    assert co("config", "set", "personalty", "x") == 3
    assert "Did you mean personality?" in co.err


def test_a_projects_harmless_settings_count_and_the_others_need_trust(co: Co, project: Path) -> None:
    settings = project / ".co-cli" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"personality": "terse", "editor": "touch /tmp/never", "provider": "openai"}')
    values = {row["name"]: (row["value"], row["origin"]) for row in co.json("config", "list")["settings"]}
    expected = {"personality": ("terse", "project"), "provider": ("offline", "default"), "editor": ("", "default")}
    assert {name: values[name] for name in expected} == expected
    assert co.json("status")["untrusted"] == ["editor", "provider"]
    assert co("trust") == 5
    assert co("trust", "--yes") == 0
    assert co.json("config", "get", "provider")["value"] == "openai"
    settings.write_text('{"provider": "anthropic"}')
    assert co.json("config", "get", "provider")["value"] == "offline"
    co("trust", "--yes")
    co("trust", "--remove")
    assert co.json("config", "get", "provider")["value"] == "offline"


def test_a_broken_settings_file_is_a_warning_and_everything_still_works(co: Co, project: Path) -> None:
    settings = project / ".co-cli" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"personality": ')
    assert co("prompt") == 0
    assert "settings.json:1" in co.err
    assert "You are Co" in co.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_that_knows_the_commands(co: Co, shell: str) -> None:
    assert co("completion", shell) == 0
    assert "recall" in co.out


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["rec"], ["recall"]),
        (["un"], ["unpin", "undo"]),
        (["learn", "--cat"], ["--category"]),
        (["config", "g"], ["get"]),
        (["import", "s"], ["skynet"]),
        (["knowledge", "--arch"], ["--archive", "--archived"]),
    ],
)
def test_bash_completes_commands_and_options(co: Co, typed: list[str], offered: list[str]) -> None:
    co("completion", "bash")
    ask = """
        function=$(complete -p co | sed 's/.*-F \\([^ ]*\\).*/\\1/')
        COMP_WORDS=(co "$@") COMP_CWORD=$#
        $function co "${!#}" "${COMP_WORDS[$#-1]}"
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    done = subprocess.run(["bash", "-c", co.out + ask, "bash", *typed], capture_output=True, text=True, check=True)
    assert sorted(done.stdout.split()) == sorted(offered)


def test_the_other_name_of_the_command_has_a_completion_too(project: Path) -> None:
    command = Path(sys.executable).with_name("co-cli")
    script = subprocess.run([command, "completion", "bash"], capture_output=True, text=True, check=True).stdout
    done = subprocess.run(["bash", "-c", f"{script}\ncomplete -p co-cli"], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith(" co-cli")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples_and_takes_json(co: Co, name: str) -> None:
    parser, _ = build_parser(name)
    assert "Examples" not in (parser.description or "")
    assert f"co {name}" in (parser.epilog or "")
    with pytest.raises(SystemExit) as ended:
        co(name, "--help")
    assert ended.value.code == 0


def test_every_kind_of_error_has_an_exit_code() -> None:
    assert set(EXIT_CODES) == set(KINDS)
    assert EXIT_CODES["not_found"] == 3
    assert EXIT_CODES["conflict"] == 4
    assert EXIT_CODES["denied"] == 5


@pytest.mark.parametrize(
    ("argv", "code", "hint"),
    [
        (["lern", "x"], 2, "Did you mean `co learn`?"),
        (["--json", "list"], 2, "co list --json"),
        (["learn"], 2, "co learn --help"),
        (["learn", "   "], 2, "co learn"),
        (["recall", ""], 2, "co recall"),
        (["recall", "x", "-n", "0"], 2, ""),
        (["recall", "x", "--mode", "magic"], 2, "auto, grep"),
        (["recall", "x", "--kind", "poem"], 2, "memory, topic, article"),
        (["show", "12"], 3, "co list"),
        (["show", "what?"], 2, "co list"),
        (["show", "context"], 3, "co init"),
        (["prompt", "--personality", "grumpy"], 3, "terse"),
        (["learn", "x", "--category", "misc"], 2, "user_preferences"),
        (["forget", ""], 2, "co forget"),
        (["learn", "--verbose"], 2, "co learn -- --word"),
    ],
)
def test_bad_input_gets_a_clear_error_with_the_next_step(co: Co, argv: list[str], code: int, hint: str) -> None:
    assert co(*argv) == code
    assert co.err.startswith("error: ")
    assert hint in co.err
    assert co.json(*argv)["error"]["message"]


def test_what_stands_behind_two_dashes_is_a_word_whatever_it_begins_with(co: Co) -> None:
    assert co("learn", "-t", "git", "--", "--force-with-lease", "is", "safer", "than", "-f") == 0
    assert co.json("show", "1")["content"] == "--force-with-lease is safer than -f"
    assert co("learn", "rebase", "-t", "git", "--", "--onto") == 0
    assert co.json("show", "2")["content"] == "rebase --onto"
    assert co("recall", "-n", "1", "--", "--onto") == 0
    assert "rebase --onto" in co.out
    assert co("show", "--", "1") == 0
    assert co("forget", "--", "--onto") == 0
    assert co("show", "--", "-x") == 2
    assert "'-x' names no note" in co.err


def test_an_input_that_is_no_text_is_refused(kb: KnowledgeBase) -> None:
    for locale in ("C", "C.UTF-8", "en_US.UTF-8"):
        done = subprocess.run(
            [sys.executable, "-m", "co_cli", "learn", "-"],
            input=b"\xff\xfe",
            env={**os.environ, "LC_ALL": locale},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 2
        assert b"not UTF-8" in done.stderr
    for text, said in (("a\0b", "NUL"), ("a\ud800b", "surrogate")):
        with pytest.raises(Invalid, match=said):
            kb.save(text)
    assert kb.list().notes == ()


def test_a_hint_about_dashes_is_given_only_where_a_word_was_meant(co: Co) -> None:
    assert co("prompt", "--provider", "nobody") == 2
    assert "--word" not in co.err


def test_a_memory_is_not_emptied_but_forgotten_and_a_context_may_be_empty(co: Co) -> None:
    co("learn", "We deploy on Fridays")
    assert co("edit", "1", "--content", "") == 2
    assert "co forget 1" in co.err
    assert co.json("show", "1")["content"] == "We deploy on Fridays"
    co("init")
    assert co("edit", "context", "--content", "- Tests: pytest") == 0
    assert co("edit", "context", "--content", "") == 0
    assert co.json("show", "context")["content"] == ""


def test_what_has_expired_already_is_kept_with_a_word_about_it(co: Co) -> None:
    assert co("learn", "Staging is frozen", "--expires", "2020-01-01") == 0
    assert "expired already" in co.out


def test_demo_shows_the_round_trip_and_leaves_the_users_vaults_alone(co: Co, project: Path, tmp_path: Path) -> None:
    demo = co.json("demo")
    commands = [step["command"].split()[1] for step in demo["steps"]]
    assert [name for name in commands if name in COMMANDS] == [
        "learn",
        "learn",
        "recall",
        "list",
        "prompt",
        "forget",
        "undo",
        "log",
    ]
    assert not (project / ".co-cli").exists()
    assert not (tmp_path / "home").exists()


HEAVY = {"pydantic", "numpy", "httpx", "mcp", "pydantic_ai", "rich", "typer", "yaml", "asyncio", "dataclasses", "inspect"}


def recall_in_a_process(*words: str) -> tuple[str, str, set[str]]:
    """What a recall says on stdout and stderr, and which modules it has loaded by then."""
    code = "import sys; from co_cli.surfaces.cli.main import main; main(['recall', *sys.argv[1:]]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    said, _, modules = done.stdout.rstrip("\n").rpartition("\n")
    return said, done.stderr, set(modules.split())


@pytest.mark.parametrize(("mode", "heavy"), [("grep", HEAVY | {"apsw"}), ("text", HEAVY), ("hybrid", HEAVY)])
def test_recall_as_a_process_loads_nothing_heavy(kb: KnowledgeBase, mode: str, heavy: set[str]) -> None:
    kb.save("We deploy on Fridays", tags=["deploy"])
    kb.sync()
    said, about, loaded = recall_in_a_process("deploy", "--mode", mode)
    assert "We deploy on Fridays" in said
    assert about == f"1 note · {mode}\n"
    assert loaded & heavy == set()


def test_a_search_by_words_loads_nothing_that_only_others_need(kb: KnowledgeBase) -> None:
    kb.save("We deploy on Fridays", tags=["deploy"])
    kb.recall("deploy", mode="text")  # the index is there
    said, _about, loaded = recall_in_a_process("deploy", "--mode", "text")
    assert "We deploy on Fridays" in said
    others = {"embedding", "index.vectors", "chunking", "links", "retrieval.grep", "journal", "draft", "memory"}
    assert loaded & {f"co_cli.{name}" for name in others} == set()


@pytest.mark.slow
def test_recall_among_ten_thousand_notes_loads_nothing_heavy(project: Path, kb: KnowledgeBase) -> None:
    write_vault(str(project), 10_000)
    said, about, loaded = recall_in_a_process("zanzibar", "-n", "20", "--mode", "grep")
    assert (said.count("zanzibar"), about) == (10, "10 notes · grep\n")
    assert loaded & (HEAVY | {"apsw"}) == set()
    kb.sync()
    said, about, loaded = recall_in_a_process("zanzibar", "-n", "10")
    assert said.count("zanzibar") == 10
    assert about.endswith("notes · hybrid\n")
    assert loaded & HEAVY == set()


def test_output_that_is_cut_off_by_its_reader_is_no_error(kb: KnowledgeBase) -> None:
    for number in range(50):
        kb.save(f"Fact number {number} " + "x" * 2000)
    done = subprocess.run(
        f"'{sys.executable}' -m co_cli recall fact -n 50 | head -1", shell=True, capture_output=True, text=True, check=True
    )
    assert done.stderr.count("Traceback") == 0
    assert "Broken" not in done.stderr
