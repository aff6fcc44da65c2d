"""A bar for the progress of a run in a notebook: plain HTML that is shown once and then changed in its place."""

from __future__ import annotations

import importlib
import importlib.util
import time
from typing import Any

from compactlab.displays import _page as page

EVERY_SECONDS = 0.2
"""No more often than this is the bar redrawn, so that a run of many cases does not wait for its display."""


def progress(what: str = "cases") -> Bar:
    """Give a bar for `compactlab.run(..., progress=progress())`; it is silent where no notebook and no IPython runs.

    *what* names what is counted: the cases of a run, the candidates of a search.
    """
    return Bar(what)


class Bar:
    """A bar that is called with cases done, cases in all, and the session; it shows itself at the first call."""

    def __init__(self, what: str = "cases") -> None:
        self.what = what
        self.done, self.total, self.session = 0, 0, ""
        self._started = time.monotonic()
        self._drawn = 0.0
        self._handle: Any = None

    def __call__(self, done: int, total: int, session: str) -> None:
        """Take in how far the run is, and redraw where it is time or the last case is done."""
        if done < self.done:
            self._handle, self._started = None, time.monotonic()
        self.done, self.total, self.session = done, total, session
        now = time.monotonic()
        if self._handle is None:
            self._handle = _shown(self)
        elif now - self._drawn < EVERY_SECONDS and done < total:
            return
        else:
            self._handle.update(self)
        self._drawn = now

    @property
    def told(self) -> str:
        """Words for where the run stands.

        >>> bar = Bar()
        >>> bar.done, bar.total, bar.session = 3, 12, "primary-garden"
        >>> bar.told.partition(" · ")[0]
        '3 of 12 cases'
        """
        if not self.total:
            return self.session
        seconds = time.monotonic() - self._started
        if self.done >= self.total:
            return f"{self.total:,} {self.what} in {seconds:.0f} s"
        left = f" · about {seconds * (self.total - self.done) / self.done:.0f} s left" if self.done else ""
        return f"{self.done:,} of {self.total:,} {self.what} · {self.session}{left}"

    def _repr_html_(self) -> str:
        at = f' max="{self.total}" value="{self.done}"' if self.total else ""
        return page.framed(f'<progress{at}></progress><span class="cl-pale">{page.escaped(self.told)}</span>')

    def __repr__(self) -> str:
        return self.told


class _Silent:
    """Stands for a display where there is none."""

    def update(self, bar: Bar) -> None:
        """Show nothing."""


def _shown(bar: Bar) -> Any:  # noqa: ANN401  # the handle of a display
    """Show the bar in the notebook that runs, if one does, and give what redraws it."""
    if importlib.util.find_spec("IPython") is None:
        return _Silent()
    display: Any = importlib.import_module("IPython.display")
    core: Any = importlib.import_module("IPython")
    return display.display(bar, display_id=True) if core.get_ipython() else _Silent()
