"""How objects show themselves in a notebook: their classes name these two; `compactlab.displays` is loaded then."""

from __future__ import annotations

import importlib
from typing import Any


def html(thing: object) -> str:
    """Give what a notebook shows of *thing*; the `_repr_html_` of its class."""
    displays: Any = importlib.import_module("compactlab.displays")
    return str(displays.html(thing))


def pretty(thing: object, printer: Any, cycle: bool) -> None:  # noqa: ANN401  # IPython's own printer
    """Write a line for *thing* where a notebook or IPython shows text; the `_repr_pretty_` of its class.

    Without it a notebook would keep the `repr` of a whole session beside what it shows.
    """
    displays: Any = importlib.import_module("compactlab.displays")
    printer.text("..." if cycle else displays.text(thing))
