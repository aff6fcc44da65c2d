"""Changes that calls make: what is written where, rows of tables, values in texts."""

import json

import pytest

from compactlab.facts.artifacts import Paths
from compactlab.facts.changes import rows_in, values_in, words_of, written
from compactlab.transcript import ToolCall

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
