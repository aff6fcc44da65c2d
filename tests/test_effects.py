"""What calls do to files: the tools of several harnesses, patches, shell programs."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab.traffic.effects import effects
from compactlab.transcript import ToolCall


def found(name, arguments):
    return [(effect.verb, effect.path) for effect in effects(ToolCall("c", name, json.dumps(arguments)))]


PATCH = """*** Begin Patch
*** Add File: new.py
+x = 1
*** Update File: old.py
*** Move to: moved.py
@@
-a
+b
*** Delete File: gone.py
*** End Patch"""
TOOLS = [
    ("Read", {"file_path": "/a.py", "limit": 5}, [("read", "/a.py")]),
    ("Write", {"file_path": "/a.py", "content": "x"}, [("write", "/a.py")]),
    ("Edit", {"file_path": "/a.py", "old_string": "x", "new_string": "y"}, [("edit", "/a.py")]),
    ("Edit", {"file_path": "/a.py", "old_string": "", "new_string": "y"}, [("write", "/a.py")]),
    ("MultiEdit", {"file_path": "/a.py", "edits": []}, [("edit", "/a.py")]),
    ("NotebookEdit", {"notebook_path": "/a.ipynb", "new_source": "x"}, [("edit", "/a.ipynb")]),
    ("edit", {"path": "a.md", "old": "x", "new": "y"}, [("edit", "a.md")]),
    ("write_file", {"filename": "a.md", "content": ""}, [("write", "a.md")]),
    ("str_replace_editor", {"command": "view", "path": "/a.py"}, [("read", "/a.py")]),
    ("str_replace_editor", {"command": "create", "path": "/a.py", "file_text": "x"}, [("write", "/a.py")]),
    ("str_replace_editor", {"command": "str_replace", "path": "/a.py", "old_str": "x"}, [("edit", "/a.py")]),
    ("memory", {"command": "delete", "path": "/memories/a.md"}, [("delete", "/memories/a.md")]),
    ("memory", {"command": "rename", "old_path": "/m/a", "new_path": "/m/b"},
     [("move", "/m/a"), ("arrive", "/m/b")]),
    ("delete_file", {"target_file": "a.py"}, [("delete", "a.py")]),
    ("apply_patch", {"input": PATCH},
     [("add", "new.py"), ("edit", "old.py"), ("move", "old.py"), ("arrive", "moved.py"), ("delete", "gone.py")]),
    ("edit", {"start": 1, "end": 5, "text": "x"}, [("edit", "")]),
    ("grep", {"pattern": "x", "path": "/srv"}, []),
    ("Glob", {"pattern": "*.py"}, []),
    ("WebFetch", {"url": "https://example.org/a.py"}, []),
    ("Read", {}, []),
    ("Read", {"file_path": 3}, []),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "expected"), TOOLS)
def test_a_tool_does_what_its_arguments_say(name, arguments, expected):
    assert found(name, arguments) == expected


SHELL = [
    ("rm a.py b.py", [("delete", "a.py"), ("delete", "b.py")]),
    ("rm -rf build", [("clear", "build")]),
    ("mv a.py b.py", [("move", "a.py"), ("arrive", "b.py")]),
    ("mv a.py b.py sub", [("move", "a.py"), ("arrive", "sub/a.py"), ("move", "b.py"), ("arrive", "sub/b.py")]),
    ("mv a.py sub/", [("move", "a.py"), ("arrive", "sub/a.py")]),
    ("git mv a.py b.py", [("move", "a.py"), ("arrive", "b.py")]),
    ("git rm a.py", [("delete", "a.py")]),
    ("git rm --cached a.py", []),
    ("cp a.py b.py", [("write", "b.py")]),
    ("cp -r a b", []),
    ("mkdir -p x/y", [("make", "x/y")]),
    ("touch a.py", [("make", "a.py")]),
    ("echo x > a.txt", [("write", "a.txt")]),
    ("echo x >> a.txt", [("append", "a.txt")]),
    ("make | tee -a log.txt", [("append", "log.txt")]),
    ("make | tee log.txt", [("write", "log.txt")]),
    ("sed -i 's/a/b/' a.py", [("edit", "a.py")]),
    ("sed -i '' 's/a/b/' a.py", [("edit", "a.py")]),
    ("sed -i -e s/a/b/ -e s/c/d/ a.py b.py", [("edit", "a.py"), ("edit", "b.py")]),
    ("sed -n 1,20p a.py", [("read", "a.py")]),
    ("sed s/a/b/ a.py > b.py", [("write", "b.py")]),
    ("cat a.py b.py", [("read", "a.py"), ("read", "b.py")]),
    ("cat a.py > b.py", [("write", "b.py")]),
    ("head -n 5 a.py; tail -20 b.py; tail -n +3 c.py", [("read", "a.py"), ("read", "b.py"), ("read", "c.py")]),
    ("cat -n a.py | head -5", [("read", "a.py")]),
    ("cat > a.py <<'E'\nrm b.py\nE\n", [("write", "a.py")]),
    ("apply_patch <<'E'\n*** Begin Patch\n*** Delete File: a.py\n*** End Patch\nE\n", [("delete", "a.py")]),
    ("rm *.py $x", []),
    ("test -f a.py && rm a.py", []),
    ("rm a.py || rm b.py", [("delete", "a.py")]),
    ("python3 - <<'E'\nopen('a.py', 'w')\nE\n", []),
    ("grep -n x a.py", []),
    ("echo 'never closed > a.py", []),
]


@pytest.mark.parametrize(("command", "expected"), SHELL)
def test_a_shell_command_does_what_its_words_say_and_nothing_is_guessed(command, expected):
    assert found("bash", {"command": command}) == expected


def test_a_patch_may_come_as_a_list_of_words():
    assert ("add", "new.py") in found("shell", {"command": ["apply_patch", PATCH]})


def test_paths_are_seen_from_the_directory_of_their_step():
    made = effects(ToolCall("c", "bash", json.dumps({"command": "cd /srv/app && rm a.py; cat ../b.py"})))
    assert [(effect.path, effect.directory) for effect in made] == [("a.py", "/srv/app"), ("../b.py", "/srv/app")]


@given(st.sampled_from(["bash", "Edit", "write", "str_replace_editor", "apply_patch"]), st.text(max_size=60))
def test_arguments_of_any_shape_do_no_harm(name, text):
    for arguments in (text, json.dumps(text), json.dumps({"command": text, "path": text, "edits": text, "input": 5})):
        assert all(effect.path or effect.verb == "edit" for effect in effects(ToolCall("c", name, arguments)))
