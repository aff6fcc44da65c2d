"""What an agent fetched again after a compaction: facts that stood before and came back by a call that only reads.

A fact that was lost at a recorded compaction cannot be used after it, so it is not among the needed ones; if the agent
fetches it again it was needed, and lost (DESIGN 5). A fact is **fetched again** if it recurs first in the result of a
read-only call of the agent that names what one of its homes was about: the same file, the same address, or word for
word the same command or search.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Literal, NamedTuple

from compactlab import history
from compactlab.matching import Hit
from compactlab.probes.mined import AtRisk, UseKind, kind_of
from compactlab.tools import decoded, is_read_only, path_argument, shell_command, tool_name
from compactlab.traffic.artifacts import Paths
from compactlab.traffic.effects import effects
from compactlab.transcript import Block, Messages, ToolCall, ToolResult

_SEARCHES = frozenset(("grep", "glob", "list_dir"))
_FETCHES = frozenset("fetch web_fetch webfetch web_search websearch browse open_url get_url fetch_url".split())
_ADDRESSES = ("url", "uri", "href", "link")

Key = tuple[str, str]
"""What a call is about: `path`, `address`, `command` or `search`, and its name."""


class Refetched(NamedTuple):
    """Which later message brought a fact back (0 is the first after the compaction), and by what it was then used."""

    after: int
    use: UseKind | Literal[""]


class Held(AtRisk):
    """The facts of the protected set instead of those at risk: what every strategy keeps and a real harness may not."""

    @cached_property
    def anchors(self) -> dict[int, set[str]]:
        """For each fact that stands in the protected set, the content words near its homes."""
        held = history.protected(self.base)
        safe = {hit.pattern for i in held for block in self.base[i].blocks for hit in self.matcher.block(block)}
        near: dict[int, set[str]] = {fact: set() for fact in safe - self.excluded}
        for block in (block for message in self.base for block in message.blocks):
            for hit in self.matcher.block(block):
                if hit.pattern in near:
                    near[hit.pattern].update(hit.words)
        return near


def refetched(risk: AtRisk, future: Messages, paths: Paths) -> dict[int, Refetched]:
    """Find the facts of *risk* that the agent fetched again in *future*, in the order in which they came back.

    *paths* brings the paths of the session to one form. Linear in the length of both.
    """
    about = _abouts(risk, paths)
    back: dict[int, int] = {}
    used: dict[int, UseKind] = {}
    waiting = set(risk.anchors)
    calls = history.pair(future).call_of
    for place, block, said in _blocks(future):
        call = calls.get(history.Place(*place))
        keys = frozenset[Key]() if call is None else _read_again(future[call.message].blocks[call.block], paths)
        for hit in _counting(risk, block):
            fact = hit.pattern
            if fact in waiting:
                waiting.discard(fact)
                if not keys.isdisjoint(about.get(fact, ())):
                    back[fact] = place[0]
            elif said and fact in back:
                used.setdefault(fact, kind_of(block))
    return {fact: Refetched(after, used.get(fact, "")) for fact, after in back.items()}


def keys_of(call: ToolCall, paths: Paths) -> frozenset[Key]:
    """Say what a call is about: the files that it names, its address, the very command line or search.

    >>> from compactlab.transcript import Message
    >>> sorted(keys_of(ToolCall("1", "bash", '{"command": "cd src && cat a.py"}'), Paths([])))
    [('command', 'cd src && cat a.py'), ('path', 'src/a.py')]
    """
    name, arguments = tool_name(call.name), decoded(call)
    found: set[Key] = {("path", path) for e in effects(call) if e.path and (path := paths.of(e.path, e.directory))}
    found |= {("address", value) for key in _ADDRESSES if isinstance(value := arguments.get(key), str) and value}
    command = " ".join(shell_command(call).split()) if name == "bash" else ""
    if command:
        found.add(("command", command))
    elif name in _SEARCHES:
        found.add(("search", f"{name} {json.dumps(arguments, sort_keys=True)}"))
    elif path_argument(call) and (path := paths.of(path_argument(call))):
        found.add(("path", path))
    return frozenset(found)


def _read_again(call: Block, paths: Paths) -> frozenset[Key]:
    """What a call is about if it only reads; nothing else fetches."""
    if not isinstance(call, ToolCall) or not (is_read_only(call) or call.name.casefold() in _FETCHES):
        return frozenset()
    return keys_of(call, paths)


def _abouts(risk: AtRisk, paths: Paths) -> dict[int, set[Key]]:
    """For each fact what the calls were about that it stood in, or in whose results."""
    found: dict[int, set[Key]] = defaultdict(set)
    calls = history.pair(risk.base).call_of
    for place, block, _ in _blocks(risk.base):
        at = calls.get(history.Place(*place))
        call = block if at is None else risk.base[at.message].blocks[at.block]
        if isinstance(call, ToolCall):
            keys = keys_of(call, paths)
            for hit in risk.matcher.block(block):
                found[hit.pattern] |= keys
    return found


def _blocks(messages: Messages) -> Iterator[tuple[tuple[int, int], Block, bool]]:
    """Each block with its place, and whether the agent said it."""
    for position, message in enumerate(messages):
        for at, block in enumerate(message.blocks):
            yield (position, at), block, message.role == "assistant" and not isinstance(block, ToolResult)


def _counting(risk: AtRisk, block: Block) -> Iterable[Hit]:
    """The hits of facts of *risk* that count as a recurrence: some only beside a word of a home of theirs."""
    for hit in risk.matcher.block(block):
        near = risk.anchors.get(hit.pattern)
        if near is not None and not (risk.facts[hit.pattern].needs_anchor and near.isdisjoint(hit.words)):
            yield hit
