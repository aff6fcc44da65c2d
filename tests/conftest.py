"""Hypothesis without deadlines, the same examples each time where `CI` is set; studies by `-m`; the README's run."""

import gc
import os

import pytest
import runs
from hypothesis import settings

settings.register_profile("plain", deadline=None)
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable" if os.environ.get("CI") else "plain")


def pytest_collection_modifyitems(config, items):
    """Leave tests with the mark `study` out, unless `-m` names it."""
    if "study" in config.getoption("markexpr"):
        return
    studies = [item for item in items if item.get_closest_marker("study")]
    if studies:
        config.hook.pytest_deselected(items=studies)
        out = set(studies)
        items[:] = [item for item in items if item not in out]


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
