"""One simulation as its agent saw it: the customer's own calls and their results are left out and counted."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from compactlab.readers._fields import array, first_string, mapping, objects, string
from compactlab.readers._usage import openai_usage
from compactlab.shapes.openai_chat import content
from compactlab.shapes.parts import json_text, words
from compactlab.transcript import Block, Image, Message, Reasoning, Text, ToolCall, ToolResult, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator


class Seen:
    """A session as the agent saw it, growing message by message."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.usage: list[Usage] = []
        self.skipped: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()

    def add(self, wire: object, index: int) -> None:
        """Take up the recorded message of that index, if the agent saw it."""
        fields = mapping(wire)
        role = string(fields.get("role"))
        if role == "tool":
            self._results(fields, index)
        elif role == "assistant":
            self._spoken(fields, index)
        elif role == "user":
            self._heard(fields, index)
        elif role == "system":
            self._append(role, _said(fields), index, fields)
        else:
            self.unknown[f"message of role {fields.get('role')!r}"[:80]] += 1

    def _append(self, role: Any, blocks: list[Block], index: int, fields: dict[str, Any]) -> None:  # noqa: ANN401  # one of the four
        timestamp = string(fields.get("timestamp")) or None
        self.messages.append(Message(role, tuple(blocks), source=index, timestamp=timestamp))

    def _spoken(self, fields: dict[str, Any], index: int) -> None:
        reasoning = string(fields.get("reasoning"))
        blocks: list[Block] = [Reasoning(reasoning)] if reasoning else []
        blocks += [*_said(fields), *self._calls(fields)]
        used = openai_usage(len(self.messages), fields.get("usage"))
        self.usage += [] if used is None else [used]
        self.skipped["context cut to a budget, extent not recorded"] += bool(fields.get("context_truncation"))
        self._append("assistant", blocks, index, fields)

    def _calls(self, fields: dict[str, Any]) -> Iterator[ToolCall]:
        for call in array(fields.get("tool_calls")):
            inner = mapping(call)
            if inner.get("requestor") == "user":
                self.skipped["user-side call"] += 1
                continue
            arguments = inner.get("arguments")
            text = arguments if isinstance(arguments, str) else json_text({} if arguments is None else arguments)
            yield ToolCall(string(inner.get("id")), string(inner.get("name")), text)

    def _heard(self, fields: dict[str, Any], index: int) -> None:
        calls = len(array(fields.get("tool_calls")))
        self.skipped["user-side call"] += calls
        said = _said(fields)
        if said or not calls:
            self._append("user", said, index, fields)

    def _results(self, fields: dict[str, Any], index: int) -> None:
        several = fields.get("tool_messages")
        for result in objects(several) if isinstance(several, list) else [fields]:
            if result.get("requestor") == "user":
                self.skipped["user-side result"] += 1
                continue
            parts = tuple(part for part in _said(result) if isinstance(part, Text | Image))
            answered = first_string(result, "id", "tool_call_id")
            self._append("tool", [ToolResult(answered, parts, is_error=result.get("error") is True)], index, result)


def _said(fields: dict[str, Any]) -> list[Block]:
    """The words of a message; of sound there is nothing to be read but its script."""
    if fields.get("is_audio") is True:
        script = string(fields.get("audio_script_gold"))
        return [Text(script or words({"type": "audio", "data": f"data:,{fields.get('content')}"}))]
    return content(fields.get("content"))
