"""`last_n_observations`: old observations become one line that counts what they held; the newest `n` stay.

Follows SWE-agent's history processor of that name as of December 2025: the first observation is the task and always
stays, `polling` lets the border move only every so many observations, and observations may be marked to be kept or
removed whatever their age. The original marks them by tags, which no transcript has: here a tag is the name of a tool.
`keep_output` are tools whose observations stay, `remove_output` those whose observations go, and a removal wins.

Leaves out: the demonstrations that it passes over (no reader calls them observations), the tags themselves, and its
other processors (closed windows, removal by pattern, cache marks).

Known faults:

- Nothing but position counts: a line of three words that the agent needs goes like a page of a log.
- It edits at every step a message that was sent before, unless `polling` is used: a prompt cache never holds.
- A short observation grows: its replacement weighs more than `ok` does.
"""

from __future__ import annotations

from dataclasses import dataclass

from compactlab.errors import SpecError
from compactlab.history import Place, pair
from compactlab.peers import Peer
from compactlab.peers._observations import observed, shown
from compactlab.peers._shapes import edited
from compactlab.strategies import Compacted, Context
from compactlab.tools import tool_name
from compactlab.transcript import Block, Messages, ToolCall

_TAGS = ("keep_output", "remove_output")


@dataclass(frozen=True, repr=False)
class LastObservations(Peer):
    """Elide all but the newest `n` observations: between `n` and `n + polling` of them stay."""

    n: int = 5
    polling: int = 1
    keep_output: tuple[str, ...] = ()
    remove_output: tuple[str, ...] = ()

    def _check(self, name: str, default: object) -> None:
        value = getattr(self, name)
        if name in _TAGS:
            if not isinstance(value, tuple) or not all(isinstance(tool, str) for tool in value):
                raise SpecError(f"{name} is {value!r}; expected a tuple of names of tools, such as ('edit',)")
        elif name in ("n", "polling"):
            self.require_whole(name, 1)
        else:
            super()._check(name, default)

    def compact(self, messages: Messages, context: Context) -> Compacted:  # noqa: ARG002  # it has no size to meet
        names = _tools(messages)
        places = observed(messages)
        old = set(self.old(places))
        texts: dict[int, dict[int, str]] = {}
        for at in places:
            if self._goes(names.get(at, ""), is_old=at in old):
                texts.setdefault(at.message, {})[at.block] = elided(messages[at.message].blocks[at.block])
        return Compacted(tuple(edited(message, texts.get(i, {})) for i, message in enumerate(messages)))

    def old(self, places: list[Place]) -> list[Place]:
        """Those of the observations that are too old; the task, which stands before them, counts as one."""
        number = len(places) + 1
        border = max(0, number // self.polling * self.polling - self.n)
        return places[: max(0, border - 1)]

    def _goes(self, tool: str, *, is_old: bool) -> bool:
        if tool in {tool_name(name) for name in self.remove_output}:
            return True
        return is_old and tool not in {tool_name(name) for name in self.keep_output}


def elided(block: Block) -> str:
    """The line that takes the place of an observation."""
    text, pictures = shown(block)
    line = f"Old environment output: ({len(text.splitlines())} lines omitted)"
    return f"{line} ({pictures} images omitted)" if pictures else line


def _tools(messages: Messages) -> dict[Place, str]:
    """The tool that each result comes from, by the name of `compactlab.tools`."""
    called: dict[Place, str] = {}
    for result, call in pair(messages).call_of.items():
        block = messages[call.message].blocks[call.block]
        called[result] = tool_name(block.name) if isinstance(block, ToolCall) else ""
    return called
