"""Strategies for property tests: those of the catalog with drawn parameters, and one that does whatever it is told.

`Hostile` is a row of operations on the messages and a way to give them back; its spec can be pasted into a test.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from msgspec.structs import replace

from compactlab import catalog
from compactlab.strategies import Compacted, Context, Strategy
from compactlab.transcript import Image, Message, Reasoning, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from compactlab.transcript import Messages

ROLES = ("system", "user", "assistant", "tool")
LONG = "a line that makes the result heavier than what it stands for\n" * 40
MARKERS = (
    "[3 earlier messages removed to save context]",
    "[3 earlier messages removed to save context]\n[2 earlier messages removed to save context]",
    "[Compacted summary]\n[Compacted summary]\nnothing",
    "[Threads I carried forward]",
)


class Mischief(Exception):  # noqa: N818  # what a strategy of someone else may raise
    """An error that no one has heard of."""


def _drop(out: list[Any], a: int, b: int) -> None:
    start = a % len(out)
    del out[start : start + 1 + b % 8]


def _keep_ends(out: list[Any], a: int, b: int) -> None:
    del out[a % 4 : max(a % 4, len(out) - b % 6)]


def _drop_one_of_a_unit(out: list[Any], a: int, b: int) -> None:
    wanted = [i for i, message in enumerate(out) if message.results or (b % 2 and message.calls)]
    if wanted:
        del out[wanted[a % len(wanted)]]


def _drop_people(out: list[Any], a: int, b: int) -> None:
    role = ROLES[a % 4]
    out[:] = [message for message in out if message.role != role or message.text == str(b)]


def _edit(out: list[Any], a: int, **changes: Any) -> None:
    out[a % len(out)] = replace(out[a % len(out)], **changes)


def _edit_blocks(out: list[Any], a: int, change: Callable[[Any], Any]) -> None:
    _edit(out, a, blocks=tuple(change(block) for block in out[a % len(out)].blocks))


def _reword(out: list[Any], a: int, b: int) -> None:
    words = Text(("x", "", " \n", LONG, "a\ud800b")[b % 5])
    _edit_blocks(out, a, lambda block: words if isinstance(block, Text) else block)


def _reword_all(out: list[Any], a: int, b: int) -> None:
    del a
    for i in range(len(out)):
        _reword(out, i, b)


def _clear_results(out: list[Any], a: int, b: int) -> None:
    content = ((Text("x"),), (), (Image("image/png"),), (Text(LONG),))[b % 4]
    for i in range(a % len(out), len(out)):
        _edit_blocks(out, i, lambda block: replace(block, content=content) if isinstance(block, ToolResult) else block)


def _edit_calls(out: list[Any], a: int, b: int) -> None:
    changes: dict[str, str] = ({"arguments": "{}"}, {"name": "bash"}, {"id": "call_0"}, {"id": ""})[b % 4]
    for i in range(len(out)):
        _edit_blocks(out, i + a, lambda block: replace(block, **changes) if isinstance(block, ToolCall) else block)


def _edit_result_ids(out: list[Any], a: int, b: int) -> None:
    name = ("call_0", "call_1", "", "never")[b % 4]
    for i in range(a % len(out), len(out)):
        _edit_blocks(out, i, lambda block: replace(block, call_id=name) if isinstance(block, ToolResult) else block)


def _edit_thoughts(out: list[Any], a: int, b: int) -> None:
    wanted = Reasoning(("", "other")[b % 2], opaque=("zz", None)[a % 2])
    for i in range(len(out)):
        _edit_blocks(out, i, lambda block: wanted if isinstance(block, Reasoning) else block)


def _drop_blocks(out: list[Any], a: int, b: int) -> None:
    blocks = out[a % len(out)].blocks
    _edit(out, a, blocks=blocks[: b % (len(blocks) + 1)])


def _turn_blocks(out: list[Any], a: int, b: int) -> None:
    blocks = out[a % len(out)].blocks
    _edit(out, a, blocks=blocks[::-1] if b % 2 else blocks * 2)


def _add_block(out: list[Any], a: int, b: int) -> None:
    block = (ToolCall("new", "bash", "{}"), ToolResult("new"), Text("more"), Image("image/png"), Reasoning("hm"))[b % 5]
    _edit(out, a, blocks=(*out[a % len(out)].blocks, block))


def _change_role(out: list[Any], a: int, b: int) -> None:
    _edit(out, a, role=ROLES[b % 4])


def _flip_flags(out: list[Any], a: int, b: int) -> None:
    message = out[a % len(out)]
    _edit(
        out,
        a,
        pinned=message.pinned ^ bool(b & 1),
        synthetic=message.synthetic ^ bool(b & 2),
        timestamp=("2026-01-01", None)[b % 2],
    )


def _change_source(out: list[Any], a: int, b: int) -> None:
    sources = (None, -1, len(out), 10**9, out[(a + b) % len(out)].source, 0)
    _edit(out, a, source=sources[b % len(sources)])


def _change_sources(out: list[Any], a: int, b: int) -> None:
    for i, message in enumerate(out):
        moved = message.source if message.source is None or b % 2 else message.source + a % 3 - 1
        out[i] = replace(message, source=moved if b % 2 == 0 else None)


def _swap(out: list[Any], a: int, b: int) -> None:
    first, second = a % len(out), b % len(out)
    out[first], out[second] = out[second], out[first]


def _reverse(out: list[Any], a: int, b: int) -> None:
    out[a % len(out) :] = out[a % len(out) :][:: -1 if b % 2 else 1]


def _double(out: list[Any], a: int, b: int) -> None:
    out.insert(b % (len(out) + 1), out[a % len(out)])


def _make(out: list[Any], a: int, b: int) -> None:
    words = (*MARKERS, "", "a note", "half a \ud83d", LONG)[b % 8]
    made = Message(ROLES[b // 8 % 4], (Text(words),), pinned=bool(b & 32), synthetic=bool(b & 64))
    out.insert(a % (len(out) + 1), made)


def _make_odd(out: list[Any], a: int, b: int) -> None:
    blocks = ((), (Reasoning("hm"),), (Image("image/png", 1, 1),), (ToolCall("m", "bash", "{}"),), (ToolResult("m"),))
    out.insert(a % (len(out) + 1), Message(ROLES[b // 5 % 4], blocks[b % 5]))


def _break_types(out: list[Any], a: int, b: int) -> None:
    message = out[a % len(out)]
    wrong: Any = (
        lambda: replace(message, source="0"),
        lambda: replace(message, source=1.5),
        lambda: replace(message, blocks=list(message.blocks)),
        lambda: replace(message, blocks=("words",)),
        lambda: replace(message, blocks=None),
        lambda: replace(message, blocks=(Text(None),)),  # type: ignore[arg-type]
        lambda: Message("robot", (Text("hello"),)),  # type: ignore[arg-type]
        lambda: Message("user", (Text(17),)),  # type: ignore[arg-type]
        lambda: Message("user", [Text("hello")]),  # type: ignore[arg-type]
        lambda: Message("user", ("hello",)),  # type: ignore[arg-type]
        lambda: {"role": "user", "content": "hello"},
        lambda: None,
    )[b % 12]
    out[a % len(out)] = wrong()


_Operation = tuple[str, int, int]
OPERATIONS: dict[str, Callable[[list[Any], int, int], None]] = {
    "drop": _drop,
    "keep_ends": _keep_ends,
    "drop_one_of_a_unit": _drop_one_of_a_unit,
    "drop_role": _drop_people,
    "reword": _reword,
    "reword_all": _reword_all,
    "clear_results": _clear_results,
    "edit_calls": _edit_calls,
    "edit_result_ids": _edit_result_ids,
    "edit_thoughts": _edit_thoughts,
    "drop_blocks": _drop_blocks,
    "turn_blocks": _turn_blocks,
    "add_block": _add_block,
    "change_role": _change_role,
    "flip_flags": _flip_flags,
    "change_source": _change_source,
    "change_sources": _change_sources,
    "swap": _swap,
    "reverse": _reverse,
    "double": _double,
    "make": _make,
    "make_odd": _make_odd,
    "break_types": _break_types,
}
TAME = tuple(name for name in OPERATIONS if name not in {"break_types", "change_source", "change_sources"})


def _endless() -> Iterator[Message]:
    while True:
        yield Message("user", (Text("more"),))


def _broken_off(out: list[Any]) -> Iterator[Any]:
    yield from out[:2]
    raise Mischief("in the middle of it")


def _raise(error: Exception) -> Any:
    raise error


ENDINGS: dict[str, Callable[[Messages, list[Any]], Any]] = {
    "tuple": lambda _, out: Compacted(tuple(out)),
    "list": lambda _, out: Compacted(out),
    "generator": lambda _, out: Compacted(m for m in out),  # type: ignore[arg-type]
    "with notes": lambda _, out: Compacted(out, ("did it", "", "twice\nover")),
    "the very input": lambda given, _: Compacted(given),
    "nothing": lambda _, __: Compacted(()),
    "deferred": lambda _, out: Compacted(out, deferred="the turn ends soon"),
    "endless": lambda _, __: Compacted(_endless()),  # type: ignore[arg-type]
    "broken off": lambda _, out: Compacted(_broken_off(out)),  # type: ignore[arg-type]
    "no Compacted": lambda _, out: out,
    "None": lambda _, __: None,
    "messages None": lambda _, __: Compacted(None),  # type: ignore[arg-type]
    "a number": lambda _, __: Compacted(7),  # type: ignore[arg-type]
    "words": lambda _, __: Compacted("hello"),  # type: ignore[arg-type]
    "ValueError": lambda _, __: _raise(ValueError("no")),
    "KeyError": lambda _, __: _raise(KeyError("no")),
    "Mischief": lambda _, __: _raise(Mischief()),
    "StopIteration": lambda _, __: _raise(StopIteration()),
    "RecursionError": lambda _, __: _raise(RecursionError("too deep")),
    "MemoryError": lambda _, __: _raise(MemoryError()),
    "AssertionError": lambda _, __: _raise(AssertionError()),
    "an odd error": lambda _, __: _raise(ValueError("half a \ud83d")),
}


@dataclass(frozen=True, repr=False)
class Hostile(Strategy):
    """Do `operations` (name, two numbers that choose) on the messages, then give them back by `ending`."""

    operations: tuple[_Operation, ...] = ()
    ending: str = "tuple"

    def compact(self, messages: Messages, context: Context) -> Compacted:  # noqa: ARG002
        out: list[Any] = list(messages)
        for name, a, b in self.operations:
            if out and all(isinstance(message, Message) for message in out):
                OPERATIONS[name](out, a, b)
        given: Compacted = ENDINGS[self.ending](messages, out)
        return given


_byte: Any = st.integers(0, 255)


def _rows(names: tuple[str, ...], most: int) -> Any:
    return st.lists(st.tuples(st.sampled_from(names), _byte, _byte), max_size=most).map(tuple)


def hostile(most: int = 4) -> Any:
    """Draw a `Hostile`: half of them keep to operations that the guard can live with, and give back a tuple."""
    tame = st.builds(Hostile, _rows(TAME, most))
    wild = st.builds(Hostile, _rows(tuple(OPERATIONS), most), st.sampled_from(tuple(ENDINGS)))
    return st.one_of(tame, tame, tame, wild)


def of_catalog(name: str) -> Any:
    """Draw the strategy *name* of the catalog: at its defaults, or with some of its parameters drawn."""
    return st.fixed_dictionaries({}, optional=_drawn(name)).map(lambda given: _built(name, given))


def _built(name: str, given: dict[str, Any]) -> Strategy:
    cls = catalog.strategy_class(name)
    try:
        return cls(**given)
    except ValueError:  # drawn without knowing its range
        return cls()


def _drawn(name: str) -> dict[str, Any]:
    drawn = {}
    for field in fields(catalog.strategy_class(name)):
        default = field.default
        if isinstance(default, bool):
            drawn[field.name] = st.booleans()
        elif isinstance(default, int):
            drawn[field.name] = st.integers(0, 12) | st.integers(0, 5_000)
        elif isinstance(default, tuple) and default and all(isinstance(part, str) for part in default):
            drawn[field.name] = st.lists(st.sampled_from(default), unique=True).map(tuple)
    return drawn
