"""Artifact operations: what the calls of a session did to files, exactly."""

import json
import time

import pytest
import runs
from histories import agent, answering, call, calling, messages, result, system, user
from hypothesis import given

from compactlab.history import repair
from compactlab.readers import read
from compactlab.traffic.artifacts import KINDS, Paths, Traffic, operations
from compactlab.transcript import Message, Text, ToolResult


def session(*steps):
    """Make a session of (tool, arguments, result) steps; a result that is a tuple is an error."""
    made = [user("Please do it.")]
    for at, (name, arguments, answer) in enumerate(steps):
        failed = isinstance(answer, tuple)
        made.append(agent(call(f"c{at}", name, json.dumps(arguments))))
        made.append(Message("tool", (ToolResult(f"c{at}", (Text(answer[0] if failed else answer),), is_error=failed),)))
    return made


def pairs(*steps):
    return [(made.path, made.op) for made in operations(session(*steps))]


def bash(command, answer="", **more):
    return ("bash", {"command": command, **more}, answer)


SESSIONS = [
    ("a new file", [("write", {"path": "/a.py", "content": "x"}, "ok")], [("/a.py", "created")]),
    (
        "a file written twice",
        [("write", {"path": "/a.py", "content": "x"}, "ok"), ("write", {"path": "/a.py", "content": "y"}, "ok")],
        [("/a.py", "created"), ("/a.py", "modified")],
    ),
    (
        "a file read before",
        [("read", {"path": "/a.py"}, "x"), ("write", {"path": "/a.py", "content": "y"}, "ok")],
        [("/a.py", "read"), ("/a.py", "modified")],
    ),
    (
        "a file listed before",
        [("list_dir", {"path": "/srv"}, "a.py\t20\nb.py\t30"), ("write", {"path": "/srv/a.py", "content": ""}, "ok")],
        [("/srv/a.py", "modified")],
    ),
    (
        "a longer name listed before",
        [bash("ls /srv", "data.py"), ("write", {"path": "/srv/a.py", "content": ""}, "ok")],
        [("/srv/a.py", "created")],
    ),
    (
        "the same name listed elsewhere",
        [("list_dir", {"path": "/old"}, "a.py"), ("write", {"path": "/srv/a.py", "content": ""}, "ok")],
        [("/srv/a.py", "created")],
    ),
    (
        "listed after it was written",
        [("write", {"path": "/a.py", "content": ""}, "ok"), bash("ls /", "a.py")],
        [("/a.py", "created")],
    ),
    (
        "told by the tool that it was there",
        [("Write", {"file_path": "/a.py", "content": ""}, "The file /a.py has been updated.")],
        [("/a.py", "modified")],
    ),
    (
        "told by the tool that it is new",
        [bash("ls /", "a.py"), ("Write", {"file_path": "/a.py", "content": ""}, "File created: /a.py")],
        [("/a.py", "created")],
    ),
    ("a failed write", [("write", {"path": "/a.py", "content": "x"}, ("no space",))], []),
    (
        "a failure without the mark",
        [("Edit", {"file_path": "/a.py", "old_string": "x", "new_string": "y"}, "String to replace not found.")],
        [],
    ),
    ("a failed command", [bash("rm /a.py && pytest", "1 failed\n\n[exit status 1]")], []),
    ("a fault in the middle", [bash("rm /a.py; ls", "rm: cannot remove '/a.py': No such file or directory\nb.py")], []),
    ("deleted and written again", [bash("touch /a.py"), bash("rm /a.py"), bash("touch /a.py")],
     [("/a.py", "created"), ("/a.py", "deleted"), ("/a.py", "created")]),
    ("forced away without having been there", [bash("rm -rf /build")], []),
    ("moved", [bash("mv /a.py /b.py"), bash("echo x >> /b.py")],
     [("/a.py", "moved"), ("/b.py", "moved"), ("/b.py", "modified")]),
    ("folders", [bash("mkdir -p /x"), bash("mkdir -p /x")], [("/x", "created")]),
    ("doubled reads", [bash("cat /a.py"), ("read", {"path": "/a.py"}, "x")], [("/a.py", "read"), ("/a.py", "read")]),
    ("a path that begins another", [bash("touch /a/b"), bash("echo x > /a/bc")],
     [("/a/b", "created"), ("/a/bc", "created")]),
    ("the open file", [("open", {"path": "/a.py"}, "x"), ("edit", {"start": 1, "text": "y"}, "ok")],
     [("/a.py", "read"), ("/a.py", "modified")]),
]  # fmt: skip


@pytest.mark.parametrize(("steps", "expected"), [case[1:] for case in SESSIONS], ids=[case[0] for case in SESSIONS])
def test_operations_are_what_the_calls_did(steps, expected):
    assert pairs(*steps) == expected


def test_the_position_is_that_of_the_call():
    (made,) = operations(session(("write", {"path": "a.py", "content": ""}, "ok")))
    assert (made.position, made.call.id) == (1, "c0")


def test_a_call_without_a_result_did_nothing_that_is_known():
    assert operations([user(), agent(call("c", "write", '{"path": "a.py", "content": ""}'))]) == ()


def test_what_failed_is_known_apart():
    traffic = Traffic(session(("edit", {"path": "/a.py", "old": "x", "new": "y"}, ("not found",))))
    assert traffic.operations == ()
    assert list(traffic.failed.values()) == [(("/a.py", "modified"),)]


FORMS = [
    ("./src/a.py", "", "/srv/src/a.py"),
    ("src/../b.py", "", "/srv/b.py"),
    ("a.py", "src", "/srv/src/a.py"),
    ("a.py", "/opt", "/opt/a.py"),
    ("/etc//x", "src", "/etc/x"),
    ("~/x", "", "~/x"),
    ("a.py", None, None),
]


@pytest.mark.parametrize(("path", "directory", "expected"), FORMS)
def test_paths_come_to_one_form(path, directory, expected):
    calls = session(bash("cat src/a.py"), ("read", {"path": "/srv/src/a.py"}, "x"))
    assert Paths(calls).of(path, directory) == expected


HOMES = [
    ("a file named both ways", session(bash("cat src/a.py"), ("read", {"path": "/w/src/a.py"}, "x")), "/w"),
    ("the directory that calls change to", session(bash("cd /w && ls a")), "/w"),
    ("a prompt", [system("Working directory: /w"), *session(bash("ls"))], "/w"),
    ("a tool", session(bash("ls", "a\n[Current working directory: /w]")), "/w"),
    ("nothing", session(bash("cat a.py")), ""),
]  # fmt: skip


@pytest.mark.parametrize(("history", "home"), [case[1:] for case in HOMES], ids=[case[0] for case in HOMES])
def test_the_working_directory_is_told_by_the_calls(history, home):
    assert Paths(history).home == home


def test_a_broken_character_in_a_name_or_a_listing_does_no_harm():
    calls = (("list_dir", {"path": "/srv"}, "a\ud83d.py"), ("write", {"path": "/srv/a\ud83d.py", "content": ""}, "ok"))
    assert pairs(*calls)[0][1] in {"created", "modified"}


@given(messages())
def test_operations_of_any_history_are_well_formed_and_in_order(history):
    made = operations(repair(history).messages)
    assert all(one.op in KINDS and one.path for one in made)
    assert [one.position for one in made] == sorted(one.position for one in made)


COUNTS = [
    ("subagent-incident", {"created": 1, "modified": 39}),
    ("primary-garden", {"created": 22, "modified": 114}),
    ("subconscious-novel", {"created": 3, "modified": 93}),
]


@pytest.mark.parametrize(("name", "counts"), COUNTS)
def test_the_operations_of_recorded_sessions_were_counted_by_hand(name, counts):
    (transcript,) = read(runs.FIXTURES / f"{name}.jsonl")
    made = [one.op for one in operations(repair(transcript.messages).messages)]
    assert {op: made.count(op) for op in counts} == counts


def test_time_grows_with_the_number_of_calls_only():
    steps = [bash(f"cat > /srv/f{at}.py <<'E'\nx\nE\nls /srv", f"f{at}.py\n" * 20) for at in range(1_500)]
    history = session(*steps)
    began = time.process_time()
    assert len(operations(history)) == 1_500
    assert time.process_time() - began < 5


def test_results_of_other_calls_are_told_apart_by_their_ids():
    history = [
        user(),
        calling("a"),
        answering("a"),
        agent(call("b", "write", '{"path": "x.py", "content": ""}')),
        Message("tool", (result("b", "ok"),)),
    ]
    assert [(made.path, made.op) for made in operations(history)] == [("x.py", "created")]
