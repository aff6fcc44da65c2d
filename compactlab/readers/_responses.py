"""Requests to the OpenAI Responses API, and what they were answered with, as lists of items."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.readers._fields import array, first_string, mapping, objects, string
from compactlab.readers._logged import Logged, Part, without
from compactlab.readers._usage import openai_usage
from compactlab.shapes.openai_items import COMPACTED, kind_of
from compactlab.shapes.openai_responses import Assembly
from compactlab.transcript import Message, RecordedCompaction, Text, Transcript

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compactlab.transcript import Usage

_CONTENT = frozenset({"input_text", "output_text", "input_image", "input_file", "refusal", "summary_text"})
_SURE = frozenset({"function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", *COMPACTED})


def is_item(value: object) -> bool:
    """Whether a value can be an item: it has a role and a content, or a type that items have."""
    wire = mapping(value)
    kind = kind_of(wire)
    if kind == "message":
        return isinstance(wire.get("role"), str) and isinstance(wire.get("content"), str | list | None)
    return is_marked(wire) or kind.endswith(("_call", "_call_output")) or kind in {"item_reference", "mcp_list_tools"}


def is_marked(value: object) -> bool:
    """Whether a value is an item and can be nothing else: by its type and keys, or by the kinds of its content."""
    wire = mapping(value)
    kind = kind_of(wire)
    if kind == "message":
        return isinstance(wire.get("role"), str) and any(
            string(part.get("type")) in _CONTENT for part in objects(wire.get("content"))
        )
    if kind == "reasoning":
        return isinstance(wire.get("summary"), list)
    return kind in _SURE and ("call_id" in wire or "encrypted_content" in wire)


def is_list(value: object) -> bool:
    """Whether a value is a list of items of which at least one can be nothing else."""
    items = array(value)
    return bool(items) and all(is_item(item) for item in items) and any(is_marked(item) for item in items)


class Bodies:
    """Reads bodies of requests one after the other; items that one repeats from the one before are not read twice.

    `skipped` and `unknown` count, by kind, the items that became no message.
    """

    def __init__(self) -> None:
        self.skipped: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self._items: list[Any] = []
        self._messages: tuple[Message, ...] = ()

    def logged(self, body: dict[str, Any], answer: dict[str, Any], where: str) -> Logged:
        """Read a request and its answer, of which both may be told in one; *where* begins the places."""
        instructions = body.get("instructions") or answer.get("instructions")
        sent: list[Part] = []
        if isinstance(instructions, str):
            sent.append(Part(f"{where}instructions", (Message("system", (Text(instructions),), source=0),), 1))
        elif isinstance(instructions, list):
            sent.append(self.part(instructions, f"{where}instructions[{{}}]"))
        given = body.get("input")
        items = [{"role": "user", "content": given}] if isinstance(given, str) else array(given)
        sent.append(self._repeating(items, f"{where}input[{{}}]"))
        return Logged(
            tuple(sent),
            self.part(answer.get("output"), f"{where}output[{{}}]"),
            usage=openai_usage(None, answer.get("usage")),
            name=first_string(answer, "id"),
            after=first_string(body, "previous_response_id") or first_string(answer, "previous_response_id"),
            body=without(answer, "output", "input", "instructions") | without(body, "input", "output", "instructions"),
        )

    def part(self, given: object, where: str) -> Part:
        """Read a list of items."""
        items = array(given)
        return Part(where, self._read(items, 0, ()), len(items))

    def _repeating(self, items: list[Any], where: str) -> Part:
        """Read a list that may begin as the one before it did; its last message may go on, so it is read again."""
        at, kept = 0, self._messages
        if kept and items[: len(self._items)] == self._items:
            at = kept[-1].source or 0
            kept = tuple(message for message in kept if (message.source or 0) < at)
        else:
            kept = ()
        self._items, self._messages = items, self._read(items, at, kept)
        return Part(where, self._messages, len(items))

    def _read(self, items: list[Any], at: int, kept: tuple[Message, ...]) -> tuple[Message, ...]:
        assembly = Assembly()
        for index in range(at, len(items)):
            if isinstance(items[index], dict):
                assembly.add(items[index], index)
            else:
                assembly.unknown["item that is no object"] += 1
        assembly.close()
        self.skipped.update(assembly.skipped)
        self.unknown.update(assembly.unknown)
        return (*kept, *assembly.messages)


def with_compactions(transcript: Transcript) -> Transcript:
    """Give a transcript with the provider's compaction items as compactions, which they stand for, and not as messages.

    Where only a user and the system spoke before such an item, that was kept; else it stands for all but the system.
    """
    if not any(_is_made(message) for message in transcript.messages):
        return transcript
    said: list[Message] = []
    found: list[RecordedCompaction] = []
    places: dict[int, int] = {}
    for index, message in enumerate(transcript.messages):
        places[index] = len(said)
        if _is_made(message):
            found.append(RecordedCompaction(len(said), after=_after(said, message), summary=message.text))
        else:
            said.append(message)
    usage = tuple(_placed(usage, places) for usage in transcript.usage)
    return replace(transcript, messages=tuple(said), compactions=tuple(found), usage=usage)


def _is_made(message: Message) -> bool:
    return message.role == "assistant" and message.synthetic


def _after(said: Sequence[Message], made: Message) -> tuple[int | Message, ...]:
    asked = all(message.role in {"system", "user"} for message in said)
    kept = [index for index, message in enumerate(said) if asked or message.role == "system"]
    return (*kept, made)


def _placed(usage: Usage, places: dict[int, int]) -> Usage:
    return usage if usage.position is None else replace(usage, position=places.get(usage.position))
