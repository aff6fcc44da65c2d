"""Turns of chats as data sets keep them: who speaks and what, calls and results in turns of their own, without ids."""

from __future__ import annotations

import re
from collections import Counter, deque
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.errors import TranscriptError
from compactlab.readers._fields import first_string, mapping, string
from compactlab.readers._lines import Lines, read_json
from compactlab.shapes.openai_chat import content
from compactlab.shapes.parts import json_text
from compactlab.transcript import Block, Image, Message, Reasoning, Role, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactlab.readers import Source

KEYS = ("conversations", "conversation", "items")
CALLS = {"function_call", "function-call", "tool_call", "tool_calls"}
ROLES: dict[str, Role] = {
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("human", "user", "prompter"), "user"),
    **dict.fromkeys(("gpt", "chatgpt", "assistant", "bing", "bard", "bot", "chatbot", "model", "claude"), "assistant"),
    **dict.fromkeys(CALLS, "assistant"),
    **dict.fromkeys(("tool", "observation", "function_response", "function", "tool_response", "ipython"), "tool"),
}
NAMES = ("id", "conversation_id", "session_id", "idx")
_LONGEST = 200
_THOUGHT = re.compile(r"\s*<think>\n?(.*?)\n?</think>\s*(?=[\[{])", re.DOTALL)


class Row(NamedTuple):
    """One row of a file: what it holds, its turns and the key they are under, and where it stands."""

    fields: dict[str, Any]
    turns: list[dict[str, Any]]
    key: str
    where: str


def row_of(value: object, where: str = "") -> Row | None:
    """A value as a row of turns; None if it is no such thing."""
    fields = mapping(value)
    for key in KEYS:
        turns = fields.get(key)
        if not isinstance(turns, list) or not turns or "messages" in fields:
            continue
        if all(isinstance(turn, dict) and _is_turn(turn, strict=key == "items") for turn in turns):
            return Row(fields, turns, key, where)
    return None


def _is_turn(turn: dict[str, Any], *, strict: bool) -> bool:
    said = isinstance(turn.get("from"), str) and ("value" in turn or "content" in turn)
    return said or (not strict and isinstance(turn.get("role"), str) and ("content" in turn or "value" in turn))


def rows(source: Source, lines: Lines, unknown: Counter[str]) -> Iterator[Row]:
    """Give the rows of a file, of its document or else of its *lines*; other records are counted as *unknown*."""
    document = source.document
    if document is None:
        given = ((line.value, f"line {line.number}: ") for line in lines)
    else:
        listed = document if isinstance(document, list) else [document]
        given = ((value, f"[{index}]." if isinstance(document, list) else "") for index, value in enumerate(listed))
    for value, where in given:
        row = row_of(value, where)
        if row is None:
            unknown["row without turns"] += 1
        else:
            yield row


def own_id(row: Row, index: int) -> str:
    """The id of a row: a recorded one, else its number in the file."""
    number = next((f"{name}-{row.fields[name]}" for name in NAMES if type(row.fields.get(name)) is int), f"row-{index}")
    return first_string(row.fields, *NAMES) or number


def tools_of(row: Row) -> tuple[str | dict[str, Any], ...]:
    """The tools beside the turns: a list, or its JSON text."""
    given = row.fields.get("tools")
    if isinstance(given, str) and given.lstrip()[:1] == "[":
        given = decoded(given)
    return tuple(tool for tool in given if isinstance(tool, str | dict)) if isinstance(given, list) else ()


def header_of(row: Row) -> dict[str, Any]:
    """Short values beside the turns: the model, the category and the like."""
    used = {*KEYS, *NAMES, "system", "tools"}
    short = {k: v for k, v in row.fields.items() if k not in used and isinstance(v, str | int | float)}
    return {k: v for k, v in short.items() if not isinstance(v, str) or len(v) <= _LONGEST}


def decoded(given: object) -> Any:  # noqa: ANN401  # JSON is any value
    """The value of a JSON text; any other value as it is, and None for text that is no JSON."""
    if not isinstance(given, str):
        return given
    try:
        return read_json(given.encode("utf-8", "surrogatepass"))
    except TranscriptError:
        return None


class Turns:
    """Messages made of turns, one after the other.

    Calls get ids in order, and results the id of the first call that still waits for one.
    """

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.unknown: Counter[str] = Counter()
        self.repaired: Counter[str] = Counter()
        self.source = 0
        self._made = 0
        self._open: deque[ToolCall] = deque()

    def add(self, turn: dict[str, Any]) -> None:
        """Make the messages of one turn; one of an unknown speaker is counted."""
        speaker = (string(turn.get("from")) or string(turn.get("role"))).lower()
        role = ROLES.get(speaker)
        given = turn["value"] if "value" in turn else turn.get("content")
        if role is None:
            self.unknown[f"turn of {speaker or 'nobody'}"] += 1
        elif role == "tool":
            self.tell("tool", self.results(given))
        elif speaker in CALLS:
            self.tell("assistant", self._calls(given))
        else:
            self.tell(role, self.said(role, given))
        self.source += 1

    def tell(self, role: Role, blocks: tuple[Block, ...]) -> None:
        """Take a message that was made of the turn at hand; calls that a person did not wait for get no result."""
        self.messages.append(Message(role, blocks, source=self.source))
        if role == "user":
            self._open.clear()

    def said(self, role: Role, given: object) -> tuple[Block, ...]:  # noqa: ARG002  # marks of a format may tell more
        """The blocks of a turn of words."""
        return tuple(content(given))

    def call(self, name: str, arguments: object, call_id: str = "") -> ToolCall:
        """Make a call, with the next id if none was recorded; it waits for its result."""
        text = arguments if isinstance(arguments, str) else "{}" if arguments is None else json_text(arguments)
        made = ToolCall(call_id or f"call_{self._made}", name, text)
        self._made += not call_id
        self._open.append(made)
        return made

    def answered(self, name: str = "") -> str:
        """The id of the call that the next result answers: the first open one, of that name if there is one."""
        chosen = next((call for call in self._open if call.name == name), self._open[0] if self._open else None)
        if chosen is None:
            return ""
        self._open.remove(chosen)
        return chosen.id

    def results(self, given: object) -> tuple[Block, ...]:
        """The results of a turn; a list of as many values as calls are open answers them all."""
        value = decoded(given) if len(self._open) > 1 else None
        if isinstance(value, list) and len(value) == len(self._open):
            texts = [part if isinstance(part, str) else json_text(part) for part in value]
            return tuple(ToolResult(self.answered(), (Text(text),)) for text in texts)
        parts = tuple(part for part in content(given) if isinstance(part, Text | Image))
        return (ToolResult(self.answered(), parts),)

    def _calls(self, given: object) -> tuple[Block, ...]:
        thought = _THOUGHT.match(given) if isinstance(given, str) else None
        if thought is not None and isinstance(given, str):
            return (Reasoning(thought[1]), *self._calls(given[thought.end() :]))
        value = decoded(given)
        listed = value if isinstance(value, list) else [value]
        if not listed or not all(isinstance(call, dict) and isinstance(call.get("name"), str) for call in listed):
            self.repaired["call that is no JSON, kept as words"] += 1
            return tuple(content(given))
        return tuple(self.call(call["name"], call.get("arguments", call.get("parameters"))) for call in listed)
