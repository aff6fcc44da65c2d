"""The package keeps to its own sizes and manners."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "compactlab"
FILES = sorted(PACKAGE.rglob("*.py"))
FILE_LINES = 300
FUNCTION_LINES = 40
PARAMETERS = 5
EMPTY_NAMES = {"util", "utils", "common", "helper", "helpers", "manager", "managers", "misc"}
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef

every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]


def body_lines(function):
    """Lines from `def` to the end, the docstring left out."""
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function, clean=False) is not None:
        lines -= function.body[0].end_lineno - function.body[0].lineno + 1
    return lines


def test_the_package_was_found():
    assert len(FILES) > 8


@every_file
def test_a_file_has_at_most_three_hundred_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= FILE_LINES


@every_file
def test_a_function_has_at_most_forty_lines(path):
    assert {f.name: body_lines(f) for f in functions(parsed(path)) if body_lines(f) > FUNCTION_LINES} == {}


@every_file
def test_a_function_has_at_most_five_parameters(path):
    def parameters(function):
        taken = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        return [p.arg for p in taken if p.arg not in {"self", "cls"}]

    assert {f.name: parameters(f) for f in functions(parsed(path)) if len(parameters(f)) > PARAMETERS} == {}


@every_file
def test_only_the_command_line_prints(path):
    if path.relative_to(PACKAGE).parts[0] in {"cli", "cli.py"}:
        return
    calls = [node for node in ast.walk(parsed(path)) if isinstance(node, ast.Call)]
    assert [call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"] == []


@every_file
def test_no_name_of_a_file_or_folder_is_empty_of_meaning(path):
    words = {word for part in path.relative_to(PACKAGE).with_suffix("").parts for word in part.split("_")}
    assert not words & EMPTY_NAMES


@every_file
def test_every_module_and_public_function_and_class_says_what_it_is(path):
    tree = parsed(path)
    public = [n for n in tree.body if isinstance(n, FUNCTIONS | ast.ClassDef) and not n.name.startswith("_")]
    assert ast.get_docstring(tree), f"{path.name} has no docstring"
    assert [node.name for node in public if not ast.get_docstring(node)] == []


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("def f():\n    return 1\n", 2),
        ('def f():\n    """Say."""\n    return 1\n', 2),
        ('def f():\n    """Say.\n\n    More.\n    """\n    return 1\n', 2),
        ("def f(\n    a,\n):\n    b = a\n    return b\n", 5),
    ],
)
def test_lines_are_counted_without_the_docstring(source, lines):
    assert body_lines(ast.parse(source).body[0]) == lines
