"""Steps as messages: a step of the agent is its response and, after it, what came back."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from compactlab.errors import TranscriptError
from compactlab.readers._fields import array, mapping, string
from compactlab.readers._times import iso
from compactlab.readers.atif._files import referred
from compactlab.shapes import images
from compactlab.shapes.parts import json_text, words
from compactlab.transcript import Block, Image, Message, Reasoning, Role, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactlab.readers import Source

ROLES: dict[str, Role] = {"system": "system", "user": "user", "agent": "assistant", "assistant": "assistant"}


class Steps:
    """Makes messages of the steps of one session, and counts what it passes over."""

    def __init__(self) -> None:
        self.skipped: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self._made_ids = 0

    def messages(self, step: object, source: int, file: Source) -> list[Message]:
        """The messages of a step, which is the recorded message *source*; pictures lie beside *file*."""
        fields = mapping(step)
        role = ROLES.get(string(fields.get("source")))
        if role is None:
            self.unknown[f"step of source {fields.get('source')!r}"[:80]] += 1
            return []
        time = iso(fields.get("timestamp"))
        reasoning = string(fields.get("reasoning_content"))
        blocks: list[Block] = [Reasoning(reasoning)] if reasoning else []
        blocks += content(fields.get("message"), file)
        calls = list(self._calls(fields)) if role == "assistant" else []
        made = role == "assistant" and fields.get("llm_call_count") == 0
        if mapping(fields.get("extra")).get("pi_event_type") == "branch_summary":
            role, made = "user", True  # what pi tells of a branch that was left, in the words of a model
        spoken = Message(role, (*blocks, *calls), source=source, synthetic=made, timestamp=time)
        heard = list(self._results(fields, calls, file))
        rest = [Message(r, b, source=source, synthetic=r == "user", timestamp=time) for r, b in heard]
        if not spoken.blocks and role != "assistant":
            self.skipped["step without content"] += not rest
            return rest
        return [spoken, *rest]

    def _calls(self, step: dict[str, Any]) -> Iterator[ToolCall]:
        for call in array(step.get("tool_calls")):
            fields = mapping(call)
            arguments = fields.get("arguments")
            name = string(fields.get("function_name")) or string(fields.get("name"))
            call_id = string(fields.get("tool_call_id")) or f"call_{self._made_ids}"
            self._made_ids += not fields.get("tool_call_id")
            text = arguments if isinstance(arguments, str) else json_text({} if arguments is None else arguments)
            yield ToolCall(call_id, name, text)

    def _results(
        self, step: dict[str, Any], calls: list[ToolCall], file: Source
    ) -> Iterator[tuple[Role, tuple[Block, ...]]]:
        """Role and blocks of what came back: one that names no call answers the next that is still open.

        With no call open it is the observation of an agent that acts in plain text, which it hears as a user's message.
        """
        results = [mapping(result) for result in _listed(step.get("observation"))]
        answered = {string(result.get("source_call_id")) for result in results}
        waiting = [call.id for call in calls if call.id not in answered]
        for result in results:
            named = string(result.get("source_call_id"))
            if not named and result.get("content") is None:
                continue
            call_id = named or (waiting.pop(0) if waiting else "")
            parts = content(result.get("content"), file)
            failed = mapping(result.get("extra")).get("is_error") is True
            if call_id:
                yield "tool", (ToolResult(call_id, tuple(parts), is_error=failed),)
            elif parts:
                yield "user", tuple(parts)


def _listed(observation: object) -> list[Any]:
    if isinstance(observation, str):
        return [{"content": observation}]
    return array(mapping(observation).get("results")) or array(observation)


def content(given: object, file: Source) -> list[Text | Image]:
    """Read a message or the content of a result: text, or, from version 1.6 on, parts with pictures."""
    if given is None or given == "":
        return []
    if isinstance(given, str):
        return [Text(given)]
    return [_part(part, file) for part in (given if isinstance(given, list) else [given])]


def _part(part: object, file: Source) -> Text | Image:
    fields = mapping(part)
    if fields.get("type") == "text" and isinstance(fields.get("text"), str):
        return Text(fields["text"])
    if fields.get("type") == "image":
        return _image(mapping(fields.get("source")), file)
    return Text(words(part))


def _image(source: dict[str, Any], file: Source) -> Image:
    """A picture: its bytes, where its file lies beside the trajectory, else its address."""
    media_type, path = string(source.get("media_type")), string(source.get("path")) or string(source.get("url"))
    if path.startswith("data:"):
        return images.from_url(path)
    found = referred(file.path, path)
    if found is not None:
        try:
            return images.from_bytes(media_type, file.beside(found).data)
        except TranscriptError:
            pass
    return Image(media_type or images.guessed_type(path), url=path or None)
