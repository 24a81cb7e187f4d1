"""What a person said in a turn: their own plain words, sentence by sentence.

Owns what is left out (code, quotations, output of programs, what a program put beside the words), and where a sentence ends.
Pure. A sentence is always a piece of the turn, sign for sign, so that it can be quoted.
"""

from __future__ import annotations

import re

PASTED = 2400
"""Characters of a turn's prose from which on it is taken for something pasted, and not for something said."""
_LONGEST = 320
"""Characters of a sentence that is looked at: what is longer is no plain statement."""

# Blocks that programs put beside what a person typed: reminders, outputs of commands, boot files, the context of an editor.
_INJECTED = re.compile(
    r"<(?P<tag>system-reminder|command-[a-z]+|local-command-[a-z]+|bash-[a-z]+|user-prompt-[a-z-]+|task-notification"
    r"|environment_context|user_instructions|INSTRUCTIONS|instructions|turn_aborted|ide_[a-z_]+|skill|recommended_plugins"
    r"|permissions instructions|collaboration_mode|subagent_notification|function_results|session_context|user_shell_command"
    r"|hook_context|state_snapshot|context|attachment|attached_files?|file|document|selection)\b[^>]*>"
    r".*?(?:</(?P=tag)>|\Z)",
    re.DOTALL,
)
_BOOT_FILE = re.compile(
    r"^\s*#+ (?:AGENTS|CLAUDE|GEMINI)\.md\b|^\s*This session is being continued from a previous|^Caveat: The"
    r"|^This is the Gemini CLI\. We are setting up"
)
_FENCE = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n.*?(?:^[ \t]*\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
# Lines that nobody says: quotations, code, differences, lists of files, tables, what a program printed.
_NO_SPEECH = re.compile(
    r"""^(?:\s*>|\s*\||[ ]{4,}\S|\t|\s*[{}\[\]()<;$#@]|\s*//|\s*/\*|[-+]{3}\s|[-+][^\s-]|diff --git
    |\s*(?:def|class|import|from|return|const|let|var|function|public|private|export|SELECT|INSERT|UPDATE|curl|sudo|git|npm|pip|cd)\s
      (?=[^\n]*(?:[(){};=*]|--|\bimport\b|\||\s-\w|$))
    |\s*(?:[A-Z]\w*(?:Error|Exception|Warning)|Traceback|ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|error|warning)\b[^\n]{0,40}?:
    |\s*at\s\S+\(|\s*File\s"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\s*[\w./-]+:\d+(?::\d+)?:?\s|.*[;{}]\s*$|.*=>|[\w.]+\s=\s)""",
    re.VERBOSE,
)
_LIST_MARK = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)])\s+")
_NO_END = r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)(?<!\bapprox)(?<!\bresp)(?<!\bcf)(?<!\bDr)(?<!\bMr)(?<!\bMs)"
_END = re.compile(rf"{_NO_END}[.!?…]+[\"'”’)]*(?=\s|$)|\n")


def spoken(text: str) -> tuple[str, ...]:
    """The sentences that a person said in a turn; none where the turn is something pasted."""
    if _BOOT_FILE.search(text):
        return ()
    text = _FENCE.sub("\n", _INJECTED.sub("\n", text.replace("\r\n", "\n")))
    lines = [line for line in text.split("\n") if line.strip() and not _NO_SPEECH.match(line)]
    if sum(map(len, lines)) > PASTED:
        return ()
    sentences = (sentence for line in lines for sentence in _sentences(_without_mark(line)))
    return tuple(sentence for sentence in sentences if len(sentence) <= _LONGEST)


def _without_mark(line: str) -> str:
    mark = _LIST_MARK.match(line)
    return line[mark.end() :] if mark else line


def said_in(quote: str, text: str) -> bool:
    """Whether these words stand among those that a person said in a turn, but for white space and letter case."""
    wanted = _plain(quote)
    return bool(wanted) and wanted in _plain(" ".join(spoken(text)))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .!?…\"'“”")


def _sentences(line: str) -> list[str]:
    found, start = [], 0
    for end in _END.finditer(line):
        found.append(line[start : end.end()].strip())
        start = end.end()
    return [sentence for sentence in (*found, line[start:].strip()) if re.search(r"\w", sentence)]
