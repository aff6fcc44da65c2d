"""What a tool call does, whatever its harness calls the tool: one name for the same tool, and whether it only reads.

Also what its arguments say under their usual names: the file that it is about, the command line that it runs.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

from compactlab.transcript import ToolCall

_OTHER_NAMES = {
    "read": "read_file readfile view view_file open open_file cat notebookread",
    "bash": "shell local_shell exec exec_command execute_bash run_command run_shell_command run_terminal_cmd terminal",
    "grep": "search search_files search_file_content ripgrep rg grep_search codebase_search",
    "glob": "find find_files file_search find_by_name",
    "list_dir": "ls list list_files list_directory",
    "edit": "multiedit str_replace str_replace_editor str_replace_based_edit_tool edit_file apply_patch replace patch"
    " notebookedit",
    "write": "write_file create create_file write_to_file",
}
_SAME = {other: name for name, others in _OTHER_NAMES.items() for other in others.split()}

_ASKING = frozenset(
    """
    ask ask_user askuserquestion ask_user_question ask_followup_question ask_human request_user_input user_input
    question confirm request_approval get_user_input
    """.split()
)
_PATH_NAMES = (
    "file_path path filename file_name filepath filePath absolute_path notebook_path target_file"
    " relative_workspace_path old_path source file"
).split()
_READERS = frozenset({"read", "grep", "glob", "list_dir"})
_READING_PROGRAMS = frozenset(
    """
    cat head tail grep egrep fgrep rg sed awk find ls tree wc sort uniq cut tr diff cmp stat file du nl column jq xxd od
    less more cd pwd echo printf test true for do done while if then else fi [ basename dirname md5sum sha256sum
    """.split()
)
_READING_GIT = frozenset("log show diff status ls-files blame grep rev-parse shortlog".split())
_SEPARATOR = re.compile(r"&&|\|\||[;|\n&]")
_HARMLESS = re.compile(r"\d?>\s*(?:&\d|/dev/null)|&>\s*/dev/null")
_WRITES = re.compile(
    r">|<<|\$\(|`|\bsed\b[^|;]*\s-[a-zA-Z]*i|\bfind\b[^|;]*\s-(?:delete|exec|ok|fprint)|\bsort\b[^|;]*\s-[a-zA-Z]*o"
    r"|\bawk\b.*\bsystem\b|\btree\b[^|;]*\s-o|\buniq\s+[^-|;\s]\S*\s+[^|;\s]"
)


def tool_name(recorded: str) -> str:
    """Give the name that the seeds use for a tool; a tool that none of them is keeps its own, in lower case.

    >>> tool_name("Read"), tool_name("run_shell_command"), tool_name("memory")
    ('read', 'bash', 'memory')
    """
    folded = recorded.rpartition(".")[2].casefold()
    return _SAME.get(folded, folded)


def asks_person(call: ToolCall) -> bool:
    """Tell whether a call puts a question to a person: its result holds the person's own words.

    >>> asks_person(ToolCall("1", "AskUserQuestion", "{}")), asks_person(ToolCall("2", "bash", "{}"))
    (True, False)
    """
    return call.name.rpartition(".")[2].casefold() in _ASKING


def is_read_only(call: ToolCall) -> bool:
    """Tell whether the same call would bring the same kind of thing back and change nothing.

    A shell command is read-only if every program in it is on a closed list and nothing is redirected into a file;
    what a test run or a script printed is one-off output, though it could be run again.

    >>> is_read_only(ToolCall("1", "bash", '{"command": "cd src && cat a.py | head -5 2>/dev/null"}'))
    True
    >>> is_read_only(ToolCall("2", "bash", '{"command": "pytest -q > out.txt"}'))
    False
    """
    name = tool_name(call.name)
    return name in _READERS or (name == "bash" and _only_reads(shell_command(call)))


def decoded(call: ToolCall) -> dict[str, Any]:
    """Give the arguments by name; none where they are no JSON object.

    >>> decoded(ToolCall("1", "read", '{"path": "a.py"}')), decoded(ToolCall("2", "read", "a.py"))
    ({'path': 'a.py'}, {})
    """
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return arguments if isinstance(arguments, dict) else {}


def path_argument(call: ToolCall) -> str:
    """Give the file or folder that a call names, as it is written; an empty string where it names none.

    >>> path_argument(ToolCall("1", "Read", '{"file_path": "/srv/a.py", "limit": 20}'))
    '/srv/a.py'
    """
    arguments = decoded(call)
    found = next((arguments[name] for name in _PATH_NAMES if arguments.get(name)), "")
    return found if isinstance(found, str) else ""


def shell_command(call: ToolCall) -> str:
    """The command line of a shell call, or an empty string where the arguments hold none.

    >>> shell_command(ToolCall("1", "shell", '{"command": ["bash", "-lc", "ls src"]}'))
    'ls src'
    """
    arguments = decoded(call)
    found = next((arguments[key] for key in ("command", "cmd", "script") if key in arguments), "")
    if isinstance(found, list) and all(isinstance(word, str) for word in found):
        through_shell = len(found) == 3 and found[1] in {"-c", "-lc"}
        return str(found[2]) if through_shell else shlex.join(found)
    return found if isinstance(found, str) else ""


def _only_reads(command: str) -> bool:
    command = _HARMLESS.sub(" ", command)
    if not command.strip() or _WRITES.search(command):
        return False
    return all(_reads(part.split()) for part in _SEPARATOR.split(command) if part.strip())


def _reads(words: list[str]) -> bool:
    while words and (words[0] in {"do", "then", "else"} or ("=" in words[0] and len(words) > 1)):
        words = words[1:]
    if words[:1] == ["git"]:
        words = words[3:] if words[1:2] == ["-C"] else words[1:]
        return next((word for word in words if not word.startswith("-")), "") in _READING_GIT
    return not words or words[0].rpartition("/")[2] in _READING_PROGRAMS
