"""One name for the same tool, and which calls only read."""

import json

import pytest

from compactlab.tools import decoded, is_read_only, path_argument, shell_command, tool_name
from compactlab.transcript import ToolCall

NAMES = [
    ("read", "read"),
    ("Read", "read"),
    ("READ_FILE", "read"),
    ("read_file", "read"),
    ("view", "read"),
    ("cat", "read"),
    ("NotebookRead", "read"),
    ("Bash", "bash"),
    ("shell", "bash"),
    ("local_shell", "bash"),
    ("exec_command", "bash"),
    ("run_shell_command", "bash"),
    ("run_terminal_cmd", "bash"),
    ("container.exec", "bash"),
    ("functions.exec_command", "bash"),
    ("Grep", "grep"),
    ("search_file_content", "grep"),
    ("rg", "grep"),
    ("Glob", "glob"),
    ("file_search", "glob"),
    ("LS", "list_dir"),
    ("list_directory", "list_dir"),
    ("Edit", "edit"),
    ("MultiEdit", "edit"),
    ("apply_patch", "edit"),
    ("str_replace_based_edit_tool", "edit"),
    ("replace", "edit"),
    ("Write", "write"),
    ("create_file", "write"),
    ("write_to_file", "write"),
    ("memory", "memory"),
    ("WebFetch", "webfetch"),
    ("mcp__db__query", "mcp__db__query"),
    ("", ""),
    ("TodoWrite", "todowrite"),
]


@pytest.mark.parametrize(("recorded", "name"), NAMES)
def test_a_tool_has_one_name_whatever_its_harness_calls_it(recorded, name):
    assert tool_name(recorded) == name


@pytest.mark.parametrize(("recorded", "name"), NAMES)
def test_a_name_is_given_once_and_for_all(recorded, name):  # noqa: ARG001
    assert tool_name(tool_name(recorded)) == tool_name(recorded)


def bash(command, name="bash"):
    return ToolCall("c", name, json.dumps({"command": command}))


READING = [
    "ls -la /srv",
    "cat a.py",
    "cd src && cat a.py | head -5",
    "cat a.py 2>/dev/null",
    "grep -rn 'total' src 2>&1 | sort | uniq -c",
    "git log --oneline -5",
    "git -C repo status",
    "git --no-pager diff",
    "find . -name '*.py' | wc -l",
    "sed -n 1,20p a.py",
    "LANG=C sort names.txt",
    "/usr/bin/head -c 10 a.bin",
    "for f in a b; do cat $f; done",
    "if test -f a; then cat a; fi",
    "pwd",
]
DOING = [
    "",
    "   ",
    "pytest -q",
    "python a.py",
    "make",
    "rm -rf build",
    "echo hi > a.txt",
    "echo hi >> a.txt",
    "cat <<EOF\nhello\nEOF",
    "ls && rm a",
    "ls; npm install",
    "ls | tee a.txt",
    "cat a.py\nrm a.py",
    "sed -i s/a/b/ a.py",
    "sed -n -i 1p a.py",
    "find . -name x -delete",
    "find . -exec rm {} ;",
    "git commit -m x",
    "git push",
    "git",
    "git checkout main",
    "git branch -D old",
    "git tag v1",
    "awk 'BEGIN { system(\"rm a\") }'",
    "sort -o a.txt a.txt",
    "cat $(rm a)",
    "cat `rm a`",
    "ls & rm a",
    "curl https://example.org",
    "sudo cat /etc/shadow",
]


@pytest.mark.parametrize("command", READING)
def test_a_command_of_readers_alone_only_reads(command):
    assert is_read_only(bash(command))


@pytest.mark.parametrize("command", DOING)
def test_a_command_that_may_change_something_does_not_only_read(command):
    assert not is_read_only(bash(command))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Read", True),
        ("grep", True),
        ("Glob", True),
        ("ls", True),
        ("Edit", False),
        ("write_file", False),
        ("memory", False),
        ("", False),
    ],
)
def test_other_tools_read_or_not_by_their_name(name, expected):
    assert is_read_only(ToolCall("c", name, '{"path": "a"}')) is expected


@pytest.mark.parametrize("name", ["shell", "exec_command", "run_shell_command", "Bash"])
def test_a_shell_of_another_name_is_judged_by_its_command(name):
    assert is_read_only(bash("ls", name))
    assert not is_read_only(bash("make", name))


SHELL = [
    ('{"command": "ls"}', "ls"),
    ('{"cmd": "ls"}', "ls"),
    ('{"script": "ls"}', "ls"),
    ('{"command": ["bash", "-lc", "ls -la"]}', "ls -la"),
    ('{"command": []}', ""),
    ('{"command": 3}', ""),
    ('{"command": null}', ""),
    ('{"timeout": 3}', ""),
    ("{}", ""),
    ("", ""),
    ("null", ""),
    ("[]", ""),
    ("[1]", ""),
    ('["command"]', ""),
    ("3", ""),
    ('"command"', ""),
    ("true", ""),
    ('{"command": "ls', ""),
    ("not json", ""),
    ("[" * 100_000, ""),
    ('{"q": "\\ud83d"}', ""),
]


@pytest.mark.parametrize(("arguments", "command"), SHELL, ids=[case[0][:30] for case in SHELL])
def test_the_command_line_is_found_or_empty_whatever_the_arguments(arguments, command):
    assert shell_command(ToolCall("c", "bash", arguments)) == command
    assert is_read_only(ToolCall("c", "bash", arguments)) is command.startswith("ls")


@pytest.mark.parametrize(
    ("argv", "expected"),
    [(["bash", "-lc", "ls"], True), (["ls", "-la"], True), (["rm", "ls"], False), (["bash", "-lc", "rm a"], False)],
)
def test_a_command_of_several_words_is_judged_by_what_it_runs(argv, expected):
    assert is_read_only(ToolCall("c", "shell", json.dumps({"command": argv}))) is expected


PATHS = [
    ('{"file_path": "/srv/a.py", "limit": 20}', "/srv/a.py"),
    ('{"path": "a.py"}', "a.py"),
    ('{"notebook_path": "/a.ipynb"}', "/a.ipynb"),
    ('{"old_path": "/a", "new_path": "/b"}', "/a"),
    ('{"file_path": "", "path": "a.py"}', "a.py"),
    ('{"path": 3}', ""),
    ('{"pattern": "*.py"}', ""),
    ("not json", ""),
    ("[]", ""),
]


@pytest.mark.parametrize(("arguments", "path"), PATHS)
def test_the_file_of_a_call_is_found_under_its_usual_names(arguments, path):
    assert path_argument(ToolCall("c", "read", arguments)) == path


@pytest.mark.parametrize("arguments", ["", "null", "[1]", '"a"', "3", '{"a', "[" * 100_000])
def test_arguments_that_are_no_object_hold_nothing(arguments):
    assert decoded(ToolCall("c", "read", arguments)) == {}
