"""What the tests on peers share: histories to compact, a pass with the guard and one without, constants in a table."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from histories import agent, call, result, user
from msgspec.structs import replace

from compactlab import catalog
from compactlab.compaction import Guard, compact
from compactlab.llm.scripted import Scripted
from compactlab.strategies import Context
from compactlab.tokens import Meter
from compactlab.transcript import Message, Text

SPECS = tuple(sorted((*catalog.peer_specs(), "openhands_attention")))
"""Those that `--peers all` runs, and the one that is for a real model alone."""

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compactlab.compaction import Compaction
    from compactlab.peers import Peer
    from compactlab.strategies import Compacted

SUMMARY = "<analysis>hm</analysis>\n<summary>\nThe port is 5433.\n</summary>"


def constants(cls: type[Peer]) -> dict[str, object]:
    """The defaults of a peer's fields, but for `guard`."""
    return {field.name: field.default for field in fields(cls) if field.name != "guard"}


def talk(count: int, first: str = "Move the orders table.", length: int = 40) -> list[Message]:
    """A conversation of *count* messages that begins with a person."""
    said = [user(first), agent("I begin.")]
    for i in range(2, count):
        text = f"Message {i}: " + "word " * length
        said.append(user(text) if i % 2 == 0 else agent(text))
    return said[:count]


def steps(count: int, length: int = 400, name: str = "bash", argument: str = "ls") -> list[Message]:
    """*count* calls of the agent, each with its result behind it."""
    found = []
    for i in range(count):
        arguments = f'{{"command": "{argument} {i}"}}'
        found.append(agent(f"Step {i}.", call(f"c{i}", name, arguments)))
        found.append(Message("tool", (result(f"c{i}", f"result {i} " + "x" * length),)))
    return found


def context(*replies: str | Exception, **more: object) -> Context:
    return Context(Meter("chars/4"), model=Scripted(*(replies or (SUMMARY,))), **more)


def raw(strategy: Peer, messages: Sequence[Message], *replies: str | Exception, **more: object) -> Compacted:
    """What a peer gives, before any guard; the source of each message is its position."""
    numbered = tuple(replace(message, source=i) for i, message in enumerate(messages))
    return strategy.compact(numbered, context(*replies, **more))


def held(strategy: Peer, messages: Sequence[Message], *replies: str | Exception, **more: object) -> Compaction:
    """The pass of a peer under the guard, or without it where it says so."""
    guard = Guard(Meter("chars/4"), model=Scripted(*(replies or (SUMMARY,))), window=more.pop("window", None))
    return compact(messages, strategy, guard=guard, **more)


def sources(given: Compacted) -> list[int | None]:
    """Which messages are left, by position; None for made ones."""
    return [message.source for message in given.messages]


def long_text(length: int) -> Message:
    return Message("user", (Text("a" * length),))
