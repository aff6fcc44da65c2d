"""Events of OpenHands' software agent SDK (from late 2025 on), told apart by `kind`.

Actions of one response share `llm_response_id`: the first holds its words, each one call. Results name their call.
What an agent behind the Agent Client Protocol calls is told by events of its own, several for one call as it goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.readers._fields import array, count, first_string, mapping, objects, string, strings
from compactlab.readers._times import iso
from compactlab.readers.openhands._story import Built, Condensation, Event, Key, Story, framed
from compactlab.shapes import images
from compactlab.shapes.openai_chat import content, from_wire
from compactlab.shapes.parts import json_text, words
from compactlab.transcript import Block, Image, Message, Reasoning, Role, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_RESULTS = {"ObservationEvent", "AgentErrorEvent", "UserRejectObservation"}
_BOOKKEEPING = {
    "CondensationSummaryEvent",
    "ConversationErrorEvent",
    "ConversationStateUpdateEvent",
    "HookExecutionEvent",
    "InterruptEvent",
    "LLMCompletionLogEvent",
    "PauseEvent",
    "SecurityAnalysisEvent",
    "ServerErrorEvent",
    "StreamingDeltaEvent",
    "TokenEvent",
}
_SPOKEN = {"SystemPromptEvent", "MessageEvent", "ActionEvent", "ACPToolCallEvent"}
_KINDS = _RESULTS | _BOOKKEEPING | _SPOKEN | {"Condensation"}
_SPEAKERS: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}


def is_event(value: object) -> bool:
    """Whether a value is an event of this architecture, also of a kind that is not known here."""
    event = mapping(value)
    kind = string(event.get("kind"))
    return bool({"id", "source"} <= event.keys()) and (kind in _KINDS or kind.endswith(("Event", "Request")))


def build(events: Sequence[Event], stats: object = None) -> Built:
    """Make the story of the events of a conversation; *stats* are the counts that its state holds."""
    builder = _Builder()
    for event in events:
        builder.take(event)
    for told in (mapping(stats), builder.stats):
        uses = mapping(told.get("usage_to_metrics"))
        for metrics in uses.values():
            builder.story.count_responses(objects(mapping(metrics).get("token_usages")))
        builder.story.count_all(uses.get("agent"))
    return Built("", builder.story, {}, builder.tools)


class _Builder:
    """Takes the events of a conversation in their order."""

    def __init__(self) -> None:
        self.story = Story(keeps_task=False)
        self.tools: tuple[Any, ...] = ()
        self.stats: dict[str, Any] = {}
        self._called: dict[str, int] = {}
        self._answered: dict[str, int] = {}

    def take(self, event: Event) -> None:
        value = event.value
        kind = string(value.get("kind"))
        if kind == "SystemPromptEvent":
            self.tools = tuple(tool for tool in array(value.get("tools")) if isinstance(tool, str | dict))
            prompt = (value.get("system_prompt"), value.get("dynamic_context"))
            self._add(event, Message("system", tuple(block for part in prompt for block in _parts(part))))
        elif kind == "MessageEvent":
            self._message(event)
        elif kind == "ActionEvent":
            self._action(event)
        elif kind in _RESULTS:
            self._result(event, kind)
        elif kind == "ACPToolCallEvent":
            self._outside(event)
        else:
            self._told(value, kind)

    def _told(self, value: dict[str, Any], kind: str) -> None:
        """Take up an event that is no message."""
        if kind == "Condensation":
            summary = value.get("summary")
            told = summary if isinstance(summary, str) else None
            forgotten = frozenset(strings(value.get("forgotten_event_ids")))
            offset = count(value.get("summary_offset"))
            name = f"{first_string(value, 'id')}-summary"
            self.story.condensed(Condensation(forgotten, told, offset, iso(value.get("timestamp")), name))
        elif kind == "CondensationRequest":
            self.story.skipped[kind] += 1
            self.story.trigger = first_string(value, "reason") or "requested"
        elif kind in _BOOKKEEPING:
            self.story.skipped[kind] += 1
            told_of, state = value.get("key"), mapping(value.get("value"))
            self.stats = {"stats": state, "full_state": mapping(state.get("stats"))}.get(string(told_of)) or self.stats
        else:
            self.story.unknown[kind[:60] or "no event"] += 1

    def _message(self, event: Event) -> None:
        told = mapping(event.value.get("llm_message"))
        role = _SPEAKERS.get(string(told.get("role")))
        if role is None:
            self.story.unknown["message of an unknown role"] += 1
            return
        blocks = (*(_reasoning(told) if role == "assistant" else ()), *_parts(told.get("content")))
        made_up = role == "user" and string(event.value.get("source")) not in {"user", "agent"}
        place = self._add(event, Message(role, blocks, synthetic=made_up))
        if role == "assistant":
            self.story.spoken.setdefault(first_string(event.value, "llm_response_id"), place)
        added = tuple(_parts(event.value.get("extended_content")))
        if added:
            self._add(event, Message("user", added, synthetic=True))

    def _action(self, event: Event) -> None:
        value = event.value
        call = value.get("tool_call")
        if not isinstance(call, dict):
            given = {key: inner for key, inner in mapping(value.get("action")).items() if key != "kind"}
            call = {"id": value.get("tool_call_id"), "name": value.get("tool_name"), "arguments": given}
        calls = from_wire([{"role": "assistant", "tool_calls": [call]}])[0].blocks
        blocks = (*_reasoning(value), *_parts(value.get("thought")), *calls)
        response = first_string(value, "llm_response_id")
        if not response or response not in self.story.spoken:
            place = self._add(event, Message("assistant", blocks))
            self.story.spoken.update({response: place} if response else {})
            return
        self.story.extend(self.story.spoken[response], blocks, _key(event))

    def _result(self, event: Event, kind: str) -> None:
        value = event.value
        told = mapping(value.get("observation"))
        failed = kind != "ObservationEvent" or bool(told.get("is_error") or told.get("error"))
        if kind == "ObservationEvent":
            seen = (*_seen(told), *_parts(value.get("extended_content")))
        else:
            seen = tuple(_parts(first_string(value, "error", "rejection_reason")))
        parts = tuple(part if isinstance(part, Text | Image) else Text(words(told)) for part in seen)
        result = ToolResult(first_string(value, "tool_call_id"), parts, is_error=failed)
        self._add(event, Message("tool", (result,)))

    def _outside(self, event: Event) -> None:
        """A call of an agent that runs by itself: what is told of it later takes the place of what was told before."""
        value = event.value
        name, told = first_string(value, "tool_call_id"), value.get("raw_input")
        arguments = json_text({"title": value.get("title")} if told is None else told)
        call = ToolCall(name, first_string(value, "tool_kind", "title"), arguments)
        self._put(event, self._called, name, Message("assistant", (call,)), is_known=told is None)
        seen = tuple(_told_outside(value))
        if value.get("status") in {"completed", "failed"} or seen:
            failed = value.get("is_error") is True
            self._put(event, self._answered, name, Message("tool", (ToolResult(name, seen, is_error=failed),)))

    def _put(
        self, event: Event, places: dict[str, int], name: str, message: Message, *, is_known: bool = False
    ) -> None:
        """Take up a message, or put it in the place of the one of that *name*, unless that *is_known* to say more."""
        place = places.get(name) if name else None
        if place is None:
            places[name] = self._add(event, message)
        elif not is_known:
            self.story.messages[place] = replace(self.story.messages[place], blocks=message.blocks)

    def _add(self, event: Event, message: Message) -> int:
        timed = replace(message, source=event.source, timestamp=iso(event.value.get("timestamp")))
        return self.story.add(timed, _key(event))


def _key(event: Event) -> Key:
    return first_string(event.value, "id") or None


def _parts(given: object) -> Iterator[Block]:
    """The blocks of a content: text, parts, a single part, or nothing; one part may hold several pictures."""
    for part in given if isinstance(given, list) else [given]:
        urls = strings(mapping(part).get("image_urls"))
        if urls:
            yield from (images.from_url(url) for url in urls)
        elif part is not None:
            yield from content([part] if isinstance(part, dict) else part)


def _reasoning(told: dict[str, Any]) -> Iterator[Block]:
    """The reasoning of a response, in the field of its provider."""
    fields = {key: told.get(key) for key in ("thinking_blocks", "reasoning_details", "reasoning_content")}
    found = from_wire([fields | {"role": "assistant"}])[0].blocks
    item = mapping(told.get("responses_reasoning_item"))
    if item:
        shown = "\n".join((*strings(item.get("summary")), *strings(item.get("content"))))
        found = (Reasoning(shown, opaque=first_string(item, "encrypted_content") or None),)
    yield from found


def _seen(told: dict[str, Any]) -> Iterator[Block]:
    """What an observation shows: its content, or, in earlier versions, its output; else all of it."""
    given = next((told[key] for key in ("content", "output", "text", "error") if told.get(key) is not None), None)
    if given is None:
        given = words({key: value for key, value in told.items() if key != "kind"}) if len(told) > 1 else None
    blocks = list(_parts(given))
    if len(blocks) <= 1 and all(isinstance(block, Text) for block in blocks):
        text = framed("".join(block.text for block in blocks if isinstance(block, Text)), told.get("metadata"))
        blocks = [Text(text)] if text else []
    yield from blocks


def _told_outside(value: dict[str, Any]) -> Iterator[Text | Image]:
    """What came back of a call outside: its content, else its output."""
    for part in objects(value.get("content")):
        inner = mapping(part.get("content")) if part.get("type") == "content" else part
        if inner.get("type") == "image" and isinstance(inner.get("data"), str):
            yield images.from_url(f"data:{first_string(inner, 'mime_type', 'mimeType')};base64,{inner['data']}")
        else:
            yield Text(inner["text"] if isinstance(inner.get("text"), str) else json_text(inner))
    output = value.get("raw_output")
    if output is not None and not value.get("content"):
        yield Text(output if isinstance(output, str) else json_text(output))
