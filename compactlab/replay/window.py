"""What a request must fit: the window, less what is set aside for output, with what goes along with every request."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from compactlab.errors import SpecError


class Window(NamedTuple):
    """A window of `tokens`, of which `reserve` are set aside for output: pressure is on what is left for input.

    `overhead` are the tokens that each request carries beside the messages: schemas of tools, a system prompt outside
    the log. `later` gives other overheads from a recorded message on, by rising position: tools that were loaded then.

    >>> window = Window(128_000, overhead=1_000, reserve=64_000, later=((12, 15_000),))
    >>> window.input, window.overhead_at(11), window.overhead_at(12)
    (64000, 1000, 15000)
    """

    tokens: int
    overhead: int = 0
    reserve: int = 0
    later: tuple[tuple[int, int], ...] = ()

    @property
    def input(self) -> int:
        """Tokens that a request may have."""
        return self.tokens - self.reserve

    def overhead_at(self, position: int) -> int:
        """The overhead of a request whose answer is recorded at *position*."""
        at = bisect_right(self.later, position, key=lambda change: change[0])
        return self.later[at - 1][1] if at else self.overhead

    def checked(self) -> Window:
        """Give itself; `SpecError` if nothing is left for input, an overhead is negative, or positions do not rise."""
        if self.input <= 0 or self.reserve < 0:
            raise SpecError(
                f"window of {self.tokens:,} tokens with {self.reserve:,} set aside for output: "
                "expected something left for input"
            )
        least = min((self.overhead, *(tokens for _, tokens in self.later)))
        if least < 0:
            raise SpecError(f"overhead {least!r}: expected tokens, 0 or more")
        places = [position for position, _ in self.later]
        if places != sorted(set(places)):
            raise SpecError(f"overheads from messages {places}: expected rising positions")
        return self
