"""Changes that calls make: what is written where, rows of tables, values in texts."""

import json

import pytest

from compactlab.traffic.artifacts import Paths
from compactlab.traffic.changes import read_whole, rows_in, settings_in, values_in, words_of, written
from compactlab.transcript import Text, ToolCall, ToolResult

WRITTEN = [
    ("Write", {"file_path": "/a", "content": "x"}, [("/a", "", "x")]),
    ("Edit", {"file_path": "/a", "old_string": "x", "new_string": "y"}, [("/a", "x", "y")]),
    ("MultiEdit", {"file_path": "/a", "edits": [{"old_string": "x", "new_string": "y"}, {"old_string": 3}]},
     [("/a", "x", "y")]),
    ("str_replace_editor", {"command": "create", "path": "/a", "file_text": "x"}, [("/a", "", "x")]),
    ("bash", {"command": "printf 'k\\tv\\n' >> /a"}, [("/a", None, "k\tv\n")]),
    ("bash", {"command": "printf '%s\\n' x >> /a"}, []),
    ("bash", {"command": "echo -n x y > /a"}, [("/a", "", "x y")]),
    ("bash", {"command": "cat > /a <<E\nx\nE"}, [("/a", "", "x\n")]),
    ("bash", {"command": "sed -i -e 's/x 1/x 2/; s|y|z|g' /a"}, [("/a", "x 1", "x 2"), ("/a", "y", "z")]),
    ("bash", {"command": "sed -n 's/x/y/p' /a"}, []),
    ("read", {"path": "/a"}, []),
    ("Edit", {"file_path": "/a"}, []),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "expected"), WRITTEN)
def test_what_a_call_writes_is_read_from_its_arguments(name, arguments, expected):
    call = ToolCall("c", name, json.dumps(arguments))
    assert [tuple(made) for made in written(call, Paths(()))] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,204.50 of 7", [("1,204.50", "number"), ("7", "number")]),
        ("£3,900, 12 %", [("£3,900", "number"), ("12 %", "number")]),
        ("2026-03-30, 4 April 2026 and May 3", [("2026-03-30", "date"), ("4 April 2026", "date"), ("May 3", "date")]),
        ("at 09:30:10", [("09:30:10", "time")]),
        ("at 14:22:23.618Z", [("14:22:23.618Z", "time")]),
        ("PX-5, v1.2.3, a7, 10.0.0.1 and x/5", []),
    ],
)
def test_values_of_a_text_have_a_kind(text, expected):
    assert [(value.text, value.kind) for value in values_in(text)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cap\t1\n", {"cap": "1"}),
        ("cap\t1\ncap\t2\n", {}),
        ("C21\tRowan\n12\tx\n", {}),
        ("cap\t\n", {}),
        ("no tabs here", {}),
    ],
)
def test_rows_have_a_key_of_words_that_stands_once(text, expected):
    assert rows_in(text) == expected


def test_the_words_of_a_key_come_apart():
    assert words_of("max_retryCount of it") == {"max", "retry", "count"}


@pytest.mark.parametrize(
    ("name", "arguments", "path"),
    [
        ("Read", {"file_path": "/a"}, "/a"),
        ("Read", {"file_path": "/a", "offset": 3}, None),
        ("view", {"path": "/a", "view_range": [1, 9]}, None),
        ("bash", {"command": "cat /a"}, "/a"),
        ("bash", {"command": "cd /srv && cat a"}, None),
        ("bash", {"command": "cat /a /b"}, None),
        ("bash", {"command": "head -3 /a"}, None),
        ("grep", {"path": "/a", "pattern": "x"}, None),
    ],
)
def test_a_file_is_read_whole_where_nothing_names_a_part(name, arguments, path):
    shown = read_whole(ToolCall("c", name, json.dumps(arguments)), ToolResult("c", (Text("x = 1"),)), Paths(()))
    assert (shown.path if shown else None) == path


def test_numbers_before_the_lines_of_a_file_are_no_part_of_it():
    answer = ToolResult("c", (Text("     1\tx = 1\n     2\ty = 2"),))
    shown = read_whole(ToolCall("c", "read", '{"path": "/a"}'), answer, Paths(()))
    assert shown.new == "x = 1\ny = 2"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a_b = 3\ncd: 'x y'", [("a_b", "3"), ("cd", "x y")]),
        ("export PORT=80\n**mode**: fast", [("PORT", "80"), ("mode", "fast")]),
        ("the port = 3 of it\nx: -", []),
    ],
)
def test_settings_are_lines_of_a_key_and_a_value(text, expected):
    assert list(settings_in(text)) == expected
