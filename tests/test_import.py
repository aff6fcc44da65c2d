"""Nothing happens at import, and the command line starts fast."""

import importlib.util
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HEAVY = {"pandas", "matplotlib", "datasets", "openai", "jupyterlab", "numpy", "scipy"}
HELP = "import sys; sys.argv = ['compactlab', '--help']; from compactlab.cli import main; sys.exit(main())"
BARE_PYTHONS = 6

SHOW_LOADED = """
import atexit, sys
atexit.register(lambda: print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr))
"""


def run(code):
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)


def loaded(code):
    return set(run(SHOW_LOADED + code).stderr.split())


def has_command_line():
    if importlib.util.find_spec("compactlab.cli") is None:
        return False
    return hasattr(importlib.import_module("compactlab.cli"), "main")


needs_command_line = pytest.mark.skipif(not has_command_line(), reason="compactlab.cli has no main yet")


def test_importing_the_package_loads_nothing_heavy():
    names = loaded("import compactlab")
    assert "compactlab" in names
    assert not names & (HEAVY | {"msgspec", "tiktoken", "toktok", "rich", "git"})


@pytest.mark.parametrize("name", ["transcript", "tokens", "history", "validity", "pressure", "catalog", "strategies"])
def test_importing_a_core_module_loads_nothing_heavy(name):
    assert not loaded(f"import compactlab.{name}") & HEAVY


def test_importing_the_package_prints_nothing():
    done = run("import compactlab")
    assert (done.stdout, done.stderr) == ("", "")


def test_every_public_name_is_listed_and_an_unknown_one_is_an_attribute_error():
    import compactlab

    assert set(compactlab.__all__) > {"Transcript", "Message", "Strategy", "strategy", "Meter"}
    assert compactlab.Transcript.__module__ == "compactlab.transcript"
    with pytest.raises(AttributeError, match="no_such_name"):
        compactlab.no_such_name  # noqa: B018


@needs_command_line
def test_help_loads_not_even_msgspec():
    names = loaded(HELP)
    assert not names & (HEAVY | {"msgspec", "tiktoken", "toktok", "rich", "git", "tomlkit"})


@needs_command_line
def test_help_takes_at_most_six_bare_pythons():
    def seconds(code):
        start = time.perf_counter()
        run(code)
        return time.perf_counter() - start

    bare = min(seconds("pass") for _ in range(7))
    assert min(seconds(HELP) for _ in range(7)) <= BARE_PYTHONS * bare
