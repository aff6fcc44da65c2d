"""What notebooks show: transcripts, messages, compactions, runs, reports, tables and replays, and a bar for progress.

All is HTML without scripts, readable on dark and light ground. Texts of transcripts are data: they are escaped, cut to
a few lines, and their credentials masked.
"""

from __future__ import annotations

import importlib
from typing import Any

from compactlab.displays.messages import listing
from compactlab.displays.progress import Bar, progress
from compactlab.displays.tables import Shown, table

__all__ = ["Bar", "Shown", "html", "listing", "progress", "table", "text"]

_HOME = {
    "Transcript": "transcripts",
    "Message": "messages",
    "Receipt": "receipts",
    "Compaction": "receipts",
    "Results": "runs",
    "Report": "runs",
    "Section": "tables",
    "Replay": "replays",
}
"""By the name of a class, the module that shows its objects: only that one is loaded."""


def html(thing: object) -> str:
    """Give the HTML that a notebook shows of an object of compactlab; `TypeError` for any other."""
    return str(_home(thing).html(thing))


def text(thing: object) -> str:
    """Give the line or lines that stand for an object of compactlab where no HTML is shown.

    >>> from compactlab.transcript import Message, Text, Transcript
    >>> text(Transcript("talk", "compactlab", (Message("user", (Text("Hello!"),)),)))
    "Transcript 'talk' (compactlab, primary): 1 message"
    """
    return str(_home(thing).text(thing))


def _home(thing: object) -> Any:  # noqa: ANN401  # a module with html and text
    for cls in type(thing).__mro__:
        if cls.__name__ in _HOME and cls.__module__.partition(".")[0] == __package__.partition(".")[0]:
            return importlib.import_module(f"{__package__}.{_HOME[cls.__name__]}")
    raise TypeError(f"{type(thing).__name__}: no display is known; expected one of {', '.join(_HOME)}")
