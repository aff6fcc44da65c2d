"""How often Python looks for cycles among its objects while compactlab works: seldom.

Transcripts, facts and rows are millions of objects that last, and hardly one cycle. With Python's own thresholds a
third of a run was the search for them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = (50_000, 20, 50)
"""Objects from which the young ones are searched; how many of these searches go before one of the older ones."""


@contextmanager
def swept_seldom() -> Iterator[None]:
    """Search seldom inside of the block, and behind it as before.

    >>> before = gc.get_threshold()
    >>> with swept_seldom():
    ...     inside = gc.get_threshold()
    >>> inside == SELDOM, gc.get_threshold() == before
    (True, True)
    """
    before = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
