"""The notebooks are numbered, short, stored without output, and each asks a question and says how to read the answer.

That they run is tested by nbmake, which executes every notebook in `notebooks/`.
"""

import ast
import json
import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parent.parent
NOTEBOOKS = sorted((CHECKOUT / "notebooks").glob("*.ipynb"))
READ = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in NOTEBOOKS}
MOST_CODE_CELLS = 12
MOST_BYTES = 12_000
WIDEST = 126

every_notebook = pytest.mark.parametrize("name", READ)


def cells(name, kind):
    return ["".join(cell["source"]) for cell in READ[name]["cells"] if cell["cell_type"] == kind]


def python(source):
    """A cell as Python: lines of magic left out; None of a cell that writes a file."""
    if source.startswith("%%"):
        return None
    return "\n".join(line for line in source.split("\n") if not line.startswith("%"))


def test_they_are_numbered_from_one_on_without_a_gap():
    assert [int(name.split("_")[0]) for name in READ] == list(range(1, len(READ) + 1))
    assert len(READ) > 5


@every_notebook
def test_it_is_stored_without_output(name):
    code = [cell for cell in READ[name]["cells"] if cell["cell_type"] == "code"]
    assert code
    assert [cell for cell in code if cell["outputs"] or cell["execution_count"] is not None] == []
    assert [cell for cell in READ[name]["cells"] if cell["metadata"]] == []
    assert (CHECKOUT / "notebooks" / name).stat().st_size < MOST_BYTES


@every_notebook
def test_it_defines_no_function_of_its_own(name):
    found = [ast.parse(source) for cell in cells(name, "code") if (source := python(cell)) is not None]
    defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    assert [ast.unparse(node) for tree in found for node in ast.walk(tree) if isinstance(node, defined)] == []


@every_notebook
def test_it_opens_with_its_question_and_ends_with_how_to_read_the_result(name):
    first, last = READ[name]["cells"][0], READ[name]["cells"][-1]
    assert (first["cell_type"], last["cell_type"]) == ("markdown", "markdown")
    opening = "".join(first["source"])
    assert re.match(rf"# {name[0]} \S.*\n\n\*\*[^*]+\?\*\*", opening), opening
    assert "".join(last["source"]).startswith("## How to read the result\n\n- ")


@every_notebook
def test_it_has_few_cells_with_short_lines(name):
    assert len(cells(name, "code")) <= MOST_CODE_CELLS
    lines = [line for cell in READ[name]["cells"] for line in "".join(cell["source"]).split("\n")]
    assert [line for line in lines if len(line) > WIDEST] == []


@every_notebook
def test_its_cells_can_be_told_apart(name):
    ids = [cell["id"] for cell in READ[name]["cells"]]
    assert len(set(ids)) == len(ids)
    assert (READ[name]["nbformat"], READ[name]["nbformat_minor"]) == (4, 5)


@every_notebook
def test_it_writes_into_a_folder_of_its_own_alone(name):
    """What it runs, it runs into a temporary folder: the checkout stays as it is."""
    code = "\n".join(cells(name, "code"))
    if "compactlab.run(" in code:
        assert "tempfile.mkdtemp()" in code
        assert re.search(r"compactlab\.run\([^\n]*folder", code)


@every_notebook
def test_the_page_says_what_it_answers(name):
    page = (CHECKOUT / "docs" / "notebooks.md").read_text(encoding="utf-8")
    assert f"`{name}`" in page


@pytest.mark.parametrize(
    ("source", "expected"),
    [("%matplotlib inline\nx = 1", "x = 1"), ("%%writefile a.py\ndef f(): ...", None), ("y = 2", "y = 2")],
)
def test_magic_is_no_python(source, expected):
    assert python(source) == expected
