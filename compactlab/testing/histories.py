"""Message lists on which a strategy is tried: ordinary sessions, and lists that are as odd as real ones come.

All are made by code from a fixed seed, the same on every machine: sessions of people, tools in both storage shapes,
parallel calls, calls that were never answered, ids that are used twice, pictures, notes of an earlier compaction, lone
halves of characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from compactlab.transcript import Block, Image, Message, Messages, Reasoning, Text, ToolCall, ToolResult

SESSIONS = 24
"""How many sessions are drawn."""

WORDS = (
    "Please move the orders table to port 5433, and never touch invoices_archive.",
    "yes",
    "ok, thanks",
    "The build failed: src/orders/refunds.py:118 AssertionError: 1204 != 1240",
    "Which one, /etc/app/config.toml or ~/.config/app.toml?",
    "",
    " \n\t ",
    "請把資料庫搬到新的主機，版本是三點五。",
    "naïve café, e\u0301 and \u202eright to left\u202c 🎉",
    "a\x00b, broken \ud83d escape, <|endoftext|>",
    '{"total": 1204.50, "id": "ord_9f8e7d", "hash": "3fa9c1d2e4b5a697"}',
    "[Old tool result content cleared]",
    "[Compacted summary]\nThe user moved the database to db-7.internal:5433.",
    "def total(rows):\n    return sum(r.cents for r in rows)\n",
)
LONG = "worker-3 took 1,204 ms for GET /api/v2/orders/88231\n" * 40
TOOLS = ("bash", "read", "grep", "edit", "write", "list_dir", "mcp__db__query", "")
ARGUMENTS = (
    '{"command": "ls -la /srv"}',
    '{"path": "/etc/app/config.toml"}',
    "{}",
    "",
    '{"command": "echo ',
    "not json",
)
PICTURE = Image("image/png", 640, 480, digest="sha256:0a1b")


class History(NamedTuple):
    """A list of messages by its name; an `ordinary` one is such as agents really have."""

    name: str
    messages: Messages
    ordinary: bool


def histories() -> tuple[History, ...]:
    """Every history, ordinary ones first."""
    ordinary = [History(name, messages, ordinary=True) for name, messages in _ordinary()]
    drawn = [History(f"drawn session {n}", _drawn(n), ordinary=False) for n in range(SESSIONS)]
    return (*ordinary, *drawn, *(History(name, messages, ordinary=False) for name, messages in _odd()))


def steps(count: int) -> Messages:
    """A session of an agent that calls a tool *count* times, one call and one result a step."""
    made = [_said("system", "You are careful."), _said("user", WORDS[0])]
    for i in range(count):
        made += [_calling(f"c{i}"), _answer(f"c{i}", f"line {i} of the log\n" * 30)]
    return _numbered(made)


def _said(role: str, text: str) -> Message:
    return Message(role, (Text(text),))  # type: ignore[arg-type]  # a role


def _calling(*ids: str) -> Message:
    return Message("assistant", tuple(ToolCall(call_id, "bash", '{"command": "ls"}') for call_id in ids))


def _answer(call_id: str, text: str = "fine", *, failed: bool = False) -> Message:
    return Message("tool", (ToolResult(call_id, (Text(text),), is_error=failed),))


def _numbered(messages: list[Message]) -> Messages:
    return tuple(replace(message, source=i) for i, message in enumerate(messages))


@cache
def _ordinary() -> tuple[tuple[str, Messages], ...]:
    talk = [_said("user" if i % 2 == 0 else "assistant", f"{WORDS[i % 4]} Point {i}. " * 12) for i in range(60)]
    turns = [_said("system", "You are careful."), _said("user", WORDS[0])]
    for i in range(20):
        blocks: list[Block] = [Reasoning(f"Step {i}.")]
        for name in (f"a{i}", f"b{i}"):
            blocks += [ToolCall(name, "read", f'{{"path": "src/{name}.py"}}'), ToolResult(name, (Text(LONG),))]
        turns += [Message("assistant", (*blocks, Text(f"Step {i} is done."))), _said("user", f"Go on with {i + 1}.")]
    failing = [_said("user", WORDS[3])]
    for i in range(30):
        failing += [_calling(f"e{i}"), _answer(f"e{i}", f"no such file {i} " * 40, failed=True)]
    pinned = list(steps(30))
    pinned[12] = replace(pinned[12], pinned=True)
    return (
        ("a long talk", _numbered(talk)),
        ("sixty calls", steps(60)),
        ("whole turns in one message", _numbered(turns)),
        ("calls that fail", _numbered(failing)),
        ("a pinned message", _numbered(pinned)),
    )


@cache
def _odd() -> tuple[tuple[str, Messages], ...]:
    twelve = [f"c{i}" for i in range(12)]
    found: dict[str, list[Message]] = {
        "nothing": [],
        "one message": [_said("user", "hi")],
        "one message of the agent": [_said("assistant", "hi")],
        "only system": [_said("system", "Be brief."), _said("system", "")],
        "only an open call": [_calling("a")],
        "only a result": [_answer("a")],
        "no blocks": [Message("user", ()), Message("assistant", ()), Message("system", ()), Message("assistant", ())],
        "no person": [_said("assistant", f"line {i} " * 20) for i in range(30)],
        "a person alone": [_said("user", f"line {i} " * 20) for i in range(30)],
        "twelve calls at once": [_said("user", "go"), _calling(*twelve), *map(_answer, twelve), _said("user", "on")],
        "empty ids": [_said("user", "go"), _calling("", ""), _answer(""), _said("assistant", "x"), _said("user", "y")],
        "half a character": [_said("user", "\ud83d"), _said("assistant", "\udc00 " * 50), _said("user", "\ud83d")],
        "one giant result": [_said("user", "go"), _calling("a"), _answer("a", "x" * 200_000), _said("assistant", "ok")],
    }
    return tuple((name, _numbered(messages)) for name, messages in found.items())


@cache
def _drawn(number: int) -> Messages:
    """A session of a dozen or more events, drawn from a seed."""
    draw = Random(f"history {number}")
    made = [_said("system", "You are a careful agent."), _said("user", WORDS[0])][draw.randrange(2) :]
    for event in range(draw.randrange(8, 30)):
        made += draw.choice(_EVENTS)(draw, f"call_{event}")
    return _numbered(made)


def _text(draw: Random) -> str:
    return LONG if draw.random() < 0.1 else draw.choice(WORDS)


def _person(draw: Random, _: str) -> Iterator[Message]:
    more = (PICTURE,) if draw.random() < 0.1 else ()
    yield Message("user", (Text(_text(draw)), *more), pinned=draw.random() < 0.08)


def _agent(draw: Random, _: str) -> Iterator[Message]:
    thought = (Reasoning("The port must be 5433.", signature="sig=="),) if draw.random() < 0.3 else ()
    yield Message("assistant", (*thought, Text(_text(draw))))


def _tools(draw: Random, name: str) -> Iterator[Message]:
    """Calls at once, answered in another order, in one message or several, or not at all."""
    ids = [name if draw.random() < 0.1 else f"{name}_{i}" for i in range(draw.choice((1, 1, 2, 3)))]
    yield Message("assistant", tuple(ToolCall(i, draw.choice(TOOLS), draw.choice(ARGUMENTS)) for i in ids))
    answered = [i for i in ids if draw.random() < 0.9]
    draw.shuffle(answered)
    results = [ToolResult(i, (Text(_text(draw)),), is_error=draw.random() < 0.2) for i in answered]
    if results and draw.random() < 0.3:
        yield Message("tool", tuple(results))
    else:
        yield from (Message("tool", (result,)) for result in results)


def _turn(draw: Random, name: str) -> Iterator[Message]:
    """A whole turn in one message of the agent."""
    blocks: list[Block] = []
    for i in range(draw.choice((1, 2, 3))):
        call = ToolCall(f"{name}_{i}", draw.choice(TOOLS), draw.choice(ARGUMENTS))
        blocks += [call, ToolResult(call.id, (Text(_text(draw)),))]
    yield Message("assistant", (*blocks, Text(_text(draw))))


def _note(draw: Random, _: str) -> Iterator[Message]:
    yield Message(draw.choice(("user", "system")), (Text(_text(draw)),), synthetic=True)


def _stray(draw: Random, _: str) -> Iterator[Message]:
    yield draw.choice((_answer("never_called"), _said("system", "Be brief."), Message("assistant", ())))


_EVENTS: tuple[Callable[[Random, str], Iterator[Message]], ...] = (
    *[_person] * 3,
    *[_agent] * 3,
    *[_tools] * 6,
    *[_turn] * 2,
    _note,
    _stray,
)
