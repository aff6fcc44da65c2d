"""What is appended: messages as people have them, in our own lines, or as OpenAI's and Anthropic's APIs know them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from msgspec.structs import replace

from compactlab.errors import TranscriptError
from compactlab.readers import Line, Lines, read_json
from compactlab.readers._conversations import Conversation, shape
from compactlab.readers._raw import keep_raw
from compactlab.readers.compactlab import messages_of
from compactlab.shapes import anthropic, openai_chat
from compactlab.shapes.parts import json_text
from compactlab.transcript import Message, Messages


class Incoming(NamedTuple):
    """Messages to append, and the session header that came before them, empty if none did."""

    messages: Messages
    header: Mapping[str, Any]


def parsed(data: bytes) -> Incoming:
    """Read messages from JSON: one, a list, or one a line; our own session files too, of which the messages are taken.

    `TranscriptError` for anything else, with its place: nothing is passed over.

    >>> parsed(b'{"role": "user", "content": "When is the frost?"}').messages[0].text
    'When is the frost?'
    """
    try:
        return _of_lines([Line(1, value, data) for value in [read_json(data)]])
    except TranscriptError as error:
        if data.strip().count(b"\n") == 0:
            raise
        lines = Lines(data.split(b"\n"))
        found = list(lines)
        if lines.problems or lines.skipped:
            fault = next(iter(lines.problems), "the last line breaks off")
            raise TranscriptError(f"messages to append: {fault}") from error
        return _of_lines(found)


def given(messages: Iterable[Message | Mapping[str, Any]]) -> Messages:
    """Take messages as Python has them: our own, or dictionaries of any shape that `parsed` knows.

    >>> from compactlab.transcript import Text
    >>> [m.role for m in given([Message("user", (Text("Hi"),)), {"role": "assistant", "content": "Hello"}])]
    ['user', 'assistant']
    """
    found: list[Message] = []
    for is_ours, run in groupby(messages, key=lambda message: isinstance(message, Message)):
        if is_ours:
            found += (message for message in run if isinstance(message, Message))
        else:
            found += _of_lines([Line(1, [dict(wire) for wire in run if isinstance(wire, Mapping)], b"")]).messages
    return tuple(map(_unplaced, found))


def _of_lines(lines: Sequence[Line]) -> Incoming:
    header: dict[str, Any] = {}
    values: list[tuple[dict[str, Any], str]] = []
    for line in lines:
        where = f"line {line.number}" if len(lines) > 1 else "message"
        for value in _values(line, where):
            if value.get("type") == "session" and not header and not values:
                header = value
            else:
                values.append((value, where))
    messages: list[Message] = []
    for is_own, run in groupby(values, key=_is_own):
        found = list(run)
        messages += _own(found) if is_own else _wire([value for value, _ in found])
    return Incoming(tuple(map(_unplaced, messages)), header)


def _values(line: Line, where: str) -> Iterator[dict[str, Any]]:
    if line.raw:
        keep_raw(line.value, line.raw)
    for value in line.value if isinstance(line.value, list) else [line.value]:
        if not isinstance(value, dict):
            raise TranscriptError(f"{where} is {json_text(value)[:60]}; expected a message")
        if value.get("type") not in {"session", "message"} and "role" not in value:
            keys = ", ".join(map(repr, list(value)[:4])) or "no keys"
            raise TranscriptError(f"{where} is no message (it has {keys}); expected role and content")
        yield value


def _is_own(found: tuple[dict[str, Any], str]) -> bool:
    return found[0].get("type") == "message"


def _own(run: Iterable[tuple[dict[str, Any], str]]) -> Iterator[Message]:
    for value, where in run:
        yield from messages_of(Line(0, value, b""), 0, where)


def _wire(run: list[dict[str, Any]]) -> Messages:
    if any("role" not in value for value in run):
        raise TranscriptError("a session header stands among the messages; expected one session")
    if shape([Conversation(run, {})]) == "anthropic_messages":
        return anthropic.from_wire(run)
    return openai_chat.from_wire(run)


def _unplaced(message: Message) -> Message:
    """The message as one that is new here: None as its source would say that a pass made it."""
    return replace(message, source=0)
