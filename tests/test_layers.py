"""One direction: a module imports those that stand before it in this list, never one after it.

All imports are read, also those inside functions; those under TYPE_CHECKING load nothing and are free. A module belongs
to the longest name here that is its own or its package's, and modules of one such package may import each other.
"""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "compactlab"

ORDER = (
    "errors",
    "sweeping",
    "catalog",
    "shown",
    "transcript",
    "remembered",
    "tokens",
    "markers",
    "history",
    "shapes",
    "plainness",
    "validity",
    "pressure",
    "redaction",
    "tools",
    "llm",
    "pins",
    "readers",
    "facts.words",
    "facts.text",
    "matching",
    "facts",
    "traffic",
    "statements",
    "second_miner",
    "probes",
    "strategies",
    "peers",
    "environments",
    "adapters",
    "receipt",
    "reconcile",
    "compaction",
    "plan",
    "stats",
    "front",
    "survival",
    "policy",
    "plugins",
    "settings",
    "replay",
    "metrics",
    "answering",
    "records",
    "results",
    "summary",
    "signature",
    "controls",
    "harness",
    "study",
    "tuning",
    "gate",
    "testing",
    "plots",
    "report",
    "displays",
    "memory",
    "cli",
    "__main__",
)

# The catalog is what finds plug-ins: it loads them, and asks what a strategy is, when it is called and not before.
LATE = {("catalog", "strategies"), ("catalog", "adapters"), ("shown", "displays")}

# A strategy sees what an agent has: nothing that mines, matches or scores what it will be measured by.
BLIND = ("strategies", "peers", "environments", "adapters")
HIDDEN = ("facts", "traffic", "statements", "second_miner", "matching", "probes", "metrics", "controls")

MODULES = sorted(PACKAGE.rglob("*.py"))


def name_of(path):
    """Dotted name below the package; empty for the package itself, which loads its parts on first use."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {name_of(path): path for path in MODULES}


def layer(name):
    own = [entry for entry in ORDER if name == entry or name.startswith(f"{entry}.")]
    return max(own, key=len, default=None)


class _Imports(ast.NodeVisitor):
    """Collects (dotted name of an imported module, True if inside a function), without what is only for types."""

    def __init__(self, name, *, is_package):
        self.found = set()
        self._home = name.split(".") if is_package else name.split(".")[:-1]
        self._depth = 0

    def visit_FunctionDef(self, node):
        self._depth += 1
        self.generic_visit(node)
        self._depth -= 1

    def visit_AsyncFunctionDef(self, node):
        self.visit_FunctionDef(node)

    def visit_If(self, node):
        if ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}:
            for other in node.orelse:
                self.visit(other)
        else:
            self.generic_visit(node)

    def visit_Import(self, node):
        for alias in node.names:
            self._add(alias.name)

    def visit_ImportFrom(self, node):
        if node.level:
            home = self._home[: len(self._home) - node.level + 1]
            base = ".".join(["compactlab", *home, *(node.module or "").split(".")]).rstrip(".")
        else:
            base = node.module or ""
        for alias in node.names:
            within = f"{base}.{alias.name}".removeprefix("compactlab.")
            self._add(f"{base}.{alias.name}" if within in NAMES else base)

    def visit_Call(self, node):
        loads = ast.unparse(node.func) in {"importlib.import_module", "import_module", "__import__"}
        if loads and node.args and isinstance(node.args[0], ast.Constant):
            self._add(str(node.args[0].value))
        self.generic_visit(node)

    def _add(self, name):
        if name.startswith("compactlab."):
            self.found.add((name.removeprefix("compactlab."), self._depth > 0))


def imports(name, source, *, is_package=False):
    collector = _Imports(name, is_package=is_package)
    collector.visit(ast.parse(source))
    return collector.found


def faults(name, source, *, is_package=False):
    """Say which imports of a module go the wrong way."""
    here = layer(name)
    if here is None:
        return [f"{name} stands in no layer"]
    found = []
    for imported, inside in sorted(imports(name, source, is_package=is_package)):
        there = layer(imported)
        if there is None:
            found.append(f"{name} imports {imported}, which stands in no layer")
        elif ORDER.index(there) > ORDER.index(here) and not (inside and (here, there) in LATE):
            found.append(f"{name} imports {imported}, which stands after it")
        if here in BLIND and imported.split(".")[0] in HIDDEN:
            found.append(f"{name} imports {imported}, which no strategy may see")
    return found


def test_the_package_was_found():
    assert len(MODULES) > 8
    assert {"", "errors", "transcript", "strategies.none"} <= set(NAMES)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_module_stands_in_a_layer(name):
    assert name == "" or layer(name), f"{name}: put it into ORDER where it belongs, and say so in the design"


@pytest.mark.parametrize("name", [name for name in sorted(NAMES) if name])
def test_no_module_imports_one_that_stands_after_it(name):
    path = NAMES[name]
    assert faults(name, path.read_text(encoding="utf-8"), is_package=path.name == "__init__.py") == []


def test_the_package_itself_imports_nothing_of_its_own_at_load():
    assert imports("", NAMES[""].read_text(encoding="utf-8"), is_package=True) == set()


@pytest.mark.parametrize(
    ("name", "source", "wrong"),
    [
        ("tokens", "from compactlab.transcript import Text", 0),
        ("transcript", "from compactlab.tokens import Meter", 1),
        ("transcript", "import compactlab.tokens", 1),
        ("transcript", "from compactlab import tokens, errors", 1),
        ("transcript", "def late():\n    from compactlab.tokens import Meter", 1),
        ("transcript", "if TYPE_CHECKING:\n    from compactlab.tokens import Meter", 0),
        ("transcript", "if TYPE_CHECKING:\n    pass\nelse:\n    import compactlab.tokens", 1),
        ("transcript", "importlib.import_module('compactlab.tokens')", 1),
        ("catalog", "def load():\n    from compactlab.strategies import Strategy", 0),
        ("catalog", "from compactlab.strategies import Strategy", 1),
        ("strategies.none", "from compactlab.facts import mine", 1),
        ("strategies.none", "def late():\n    import compactlab.matching", 1),
        ("strategies.none", "from compactlab.metrics import Case", 2),
        ("strategies.none", "from compactlab import history, catalog", 0),
        ("facts.text", "from compactlab.facts.code import mine_paths", 1),
        ("facts.code", "from compactlab.matching import Matcher", 0),
        ("facts.code", "from .fact import Fact", 0),
        ("shapes.parts", "from ..gate import Gate", 1),
        ("tokens", "import compactlab.no_such_module", 1),
    ],
)
def test_an_import_that_goes_the_wrong_way_is_seen(name, source, wrong):
    assert len(faults(name, source)) == wrong
