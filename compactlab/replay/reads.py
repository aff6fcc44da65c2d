"""Which results could be had again, and which of them a later call relies on, by the path or URL that both are about.

A call relies on the newest result of a path that it changes, and of a URL that it names, unless it reads that again
itself: for metric M11, whose keys are paths, URLs and commands. A command that is run again brings its result with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from compactlab.history import Place
from compactlab.tools import decoded, is_read_only
from compactlab.traffic.artifacts import Paths
from compactlab.traffic.effects import effects
from compactlab.transcript import Message, Messages, ToolCall, ToolResult

_URL = re.compile(r"https?://[^\s\"'<>\\)\]}|]{3,2000}")
_URL_NAMES = ("url", "uri", "href", "link")


class Reads:
    """The newest results by what they were about, as a session grows."""

    def __init__(self, messages: Messages, call_of: Mapping[Place, Place]) -> None:
        self._messages, self._call_of = messages, call_of
        self._paths = Paths(messages)
        self._newest: dict[str, Place] = {}

    def learn(self, result: Place) -> bool:
        """Take in a result; True if its call only read and did not fail, so that it could be had again."""
        place = self._call_of[result]
        call = self._messages[place.message].blocks[place.block]
        came = self._messages[result.message].blocks[result.block]
        if not isinstance(call, ToolCall) or not isinstance(came, ToolResult) or came.is_error:
            return False
        reads = is_read_only(call)
        keys = _fetched(call) if not reads else (*_fetched(call), *self._touched(call, reading=True))
        self._newest.update(dict.fromkeys(keys, result))
        return reads

    def relied(self, message: Message) -> tuple[Place, ...]:
        """The results that the calls of a message rely on, each once."""
        return tuple(dict.fromkeys(place for call in message.calls for place in self._relied(call)))

    def again(self, message: Message) -> frozenset[Place]:
        """The results that the calls of a message bring again."""
        keys = (key for call in message.calls for key in (*_fetched(call), *self._touched(call, reading=True)))
        return frozenset(self._newest[key] for key in keys if key in self._newest)

    def _relied(self, call: ToolCall) -> Iterator[Place]:
        if not self._newest:
            return
        again = {*_fetched(call), *self._touched(call, reading=True)}
        for key in (*self._touched(call, reading=False), *_named(call)):
            if key in self._newest and key not in again:
                yield self._newest[key]

    def _touched(self, call: ToolCall, *, reading: bool) -> Iterator[str]:
        """The paths that a call reads, or does anything else to."""
        for effect in effects(call):
            path = self._paths.of(effect.path, effect.directory)
            if path and (effect.verb == "read") is reading:
                yield path


def _fetched(call: ToolCall) -> tuple[str, ...]:
    """The address that a call is about; of a call that reads a page."""
    if "://" not in call.arguments:
        return ()
    arguments = decoded(call)
    return tuple(value for name in _URL_NAMES if isinstance(value := arguments.get(name), str))


def _named(call: ToolCall) -> Iterable[str]:
    """All addresses in a call's arguments."""
    return (url.rstrip(".,;:") for url in _URL.findall(call.arguments)) if "://" in call.arguments else ()
