"""Hypothesis without deadlines, where `CI` is set the same examples each time, and fewer; studies by `-m`."""

import gc
import os
import shutil
import tempfile

import pytest
import runs
from hypothesis import settings

from compactlab.cli import main
from compactlab.sweeping import SELDOM

settings.register_profile("plain", deadline=None)
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("repeatable" if os.environ.get("CI") else "plain")


def pytest_configure(config):
    """Make the folder that all processes of this run share; those that are started for it inherit its name."""
    if not hasattr(config, "workerinput"):
        os.environ[runs.SHARED] = tempfile.mkdtemp(prefix="compactlab-tests-")


def pytest_collection_finish():
    """Search for cycles seldom, and not among the tests themselves: it took a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*SELDOM)


def pytest_unconfigure(config):
    """Take that folder away."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ[runs.SHARED], ignore_errors=True)


def pytest_collection_modifyitems(config, items):
    """Notebooks first, the longest of all: no process waits for one at the end. Studies only where `-m` asks."""
    items.sort(key=lambda item: not item.nodeid.startswith("notebooks/"))
    if "study" in config.getoption("markexpr"):
        return
    studies = [item for item in items if item.get_closest_marker("study")]
    if studies:
        config.hook.pytest_deselected(items=studies)
        out = set(studies)
        items[:] = [item for item in items if item not in out]


@pytest.fixture
def said(capsys):
    """Run a command in this process; give its exit code, standard output and standard error."""

    def run(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """Work in an empty folder, without a key or an address of a model."""
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def unswept():
    """Times are of the code alone: nothing is swept up of what earlier tests left."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(scope="session")
def fixture_report():
    """The report of the README's own run: all recorded sessions under every strategy."""
    return runs.everything()
