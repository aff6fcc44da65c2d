"""What a span says a model was given and answered, in each of the ways in which instrumentations write that down.

Read are the semantic conventions of OpenTelemetry (messages with parts, and the older events, one a message),
OpenInference, OpenLLMetry, Monocle, the AI SDK, and the bodies in which AWS puts the messages of a span, whatever
wrote them. All give messages with a role and `parts` or a `content`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from compactlab.readers._fields import array, first_string, mapping, objects, string
from compactlab.readers.opentelemetry._messages import Said, called, loaded
from compactlab.readers.opentelemetry._records import Event, Span

Wires = list[dict[str, Any]]
_MESSAGE_EVENTS = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}
_CHOICE = "gen_ai.choice"
_RUN = {"input_str", "inputs", "outputs", "output"}


class Exchange(NamedTuple):
    """What a model was given, and what it answered; each is empty if that was not recorded."""

    given: Sequence[dict[str, Any] | Said]
    answer: Sequence[dict[str, Any] | Said]


def exchange(span: Span) -> Exchange:
    """Read the messages of a span, in the first of the ways in which it has any."""
    for read in (_conventions, _events, _openinference, _openllmetry, _monocle, _ai_sdk, _bodies, _contents):
        found = read(span)
        if found.given or found.answer:
            return found
    return Exchange([], [])


def _conventions(span: Span) -> Exchange:
    holders = [span.fields, *(event.fields for event in span.events if "gen_ai" in event.name)]
    for holder in holders:
        given = _listed(holder.get("gen_ai.input.messages") or holder.get("pydantic_ai.all_messages"))
        answer = _listed(holder.get("gen_ai.output.messages"))
        if given or answer:
            return Exchange([*_instructions(holder), *given] if given else [], answer)
    return Exchange([], [])


def is_cut(span: Span) -> bool:
    """Whether a span has messages as JSON text that breaks off, as exporters cut long values."""
    held = [
        span.fields.get(name) for name in ("gen_ai.input.messages", "pydantic_ai.all_messages", "ai.prompt.messages")
    ]
    return any(isinstance(value, str) and value.lstrip()[:1] == "[" and loaded(value) is value for value in held)


def _listed(value: object) -> Wires:
    return objects(loaded(value))


def _instructions(holder: dict[str, Any]) -> Wires:
    given = loaded(holder.get("gen_ai.system_instructions"))
    if isinstance(given, str) and given:
        return [{"role": "system", "content": given}]
    parts = array(given)
    if parts and all(isinstance(part, dict) and "role" in part for part in parts):
        return objects(parts)
    return [{"role": "system", "parts": parts}] if parts else []


def _events(span: Span) -> Exchange:
    listed = [Event(first_string(e, "event.name", "name"), e) for e in _listed(span.fields.get("events"))]
    given: Wires = []
    answer: Wires = []
    for event in (*span.events, *listed):
        said = {**event.fields, **mapping(loaded(event.fields.get("gen_ai.event.content")))}
        if event.name in _MESSAGE_EVENTS:
            given.append({"role": _MESSAGE_EVENTS[event.name], **said})
        elif event.name == _CHOICE:
            inner = loaded(said.get("message"))
            message = inner if isinstance(inner, dict) else {"content": inner} if inner is not None else said
            answer.append({"role": "assistant", **message})
    return Exchange(given, answer)


def _openinference(span: Span) -> Exchange:
    return Exchange(
        [_inference_message(message) for message in numbered(span.fields, "llm.input_messages.")],
        [_inference_message(message) for message in numbered(span.fields, "llm.output_messages.")],
    )


def _inference_message(given: dict[str, Any]) -> dict[str, Any]:
    message = mapping(given.get("message")) or given
    wire = {key: message[key] for key in ("role", "content", "tool_call_id", "name") if key in message}
    parts = [_inference_part(mapping(part.get("message_content"))) for part in _in_order(message.get("contents"))]
    if parts:
        wire["content"] = parts
    calls = [mapping(call.get("tool_call")) for call in _in_order(message.get("tool_calls"))]
    if message.get("function_call_name"):
        calls.append(
            {
                "function": {
                    "name": message["function_call_name"],
                    "arguments": message.get("function_call_arguments_json"),
                }
            }
        )
    return wire | ({"tool_calls": calls} if calls else {})


def _inference_part(part: dict[str, Any]) -> dict[str, Any]:
    url = mapping(mapping(part.get("image")).get("image")).get("url") or mapping(part.get("image")).get("url")
    if isinstance(url, str):
        return {"type": "image_url", "image_url": {"url": url}}
    return part if part.get("type") else {"type": "text", **part}


def _openllmetry(span: Span) -> Exchange:
    for given, answer in (("gen_ai.prompt.", "gen_ai.completion."), ("llm.prompts.", "llm.completions.")):
        found = Exchange(
            [_numbered_calls(message) for message in numbered(span.fields, given)],
            [{"role": "assistant", **_numbered_calls(message)} for message in numbered(span.fields, answer)],
        )
        if found.given or found.answer:
            return found
    return Exchange([], [])


def _numbered_calls(message: dict[str, Any]) -> dict[str, Any]:
    calls = message.get("tool_calls")
    return {**message, "tool_calls": _in_order(calls)} if isinstance(calls, dict) else message


def _monocle(span: Span) -> Exchange:
    if not string(span.fields.get("span.type")).startswith(("inference", "agentic")):
        return Exchange([], [])
    said = {event.name: event.fields for event in span.events}
    given, answer = mapping(said.get("data.input")).get("input"), mapping(said.get("data.output")).get("response")
    return Exchange(_entries(given, "user"), _entries(answer, "assistant"))


def _entries(value: object, role: str) -> list[Said]:
    """Messages, each with its role in it; words without one are of *role*."""
    value = loaded(value) if isinstance(value, str) and value.lstrip()[:1] == "[" else value
    listed = value if isinstance(value, list) and not called(value) else [value]
    return [Said(role, entry) for entry in listed if entry not in (None, "")]


def _ai_sdk(span: Span) -> Exchange:
    fields = span.fields
    given = _listed(fields.get("ai.prompt.messages"))
    if not given:
        return Exchange([], [])
    said = first_string(fields, "ai.response.text", "ai.response.object")
    answer: dict[str, Any] = {"role": "assistant", "content": said}
    answer["reasoning"] = fields.get("ai.response.reasoning")
    answer["tool_calls"] = _listed(fields.get("ai.response.toolCalls"))
    return Exchange(given, [answer] if any(answer[key] for key in ("content", "reasoning", "tool_calls")) else [])


def _bodies(span: Span) -> Exchange:
    """Messages of a log record's body, under `input` and `output`; what tells of a tool or of a graph's run is none."""
    given, answer = _sides(span)
    if all(message.get("role") == "tool" for message in given) or any(map(_of_a_run, (*given, *answer))):
        return Exchange([], [])
    return Exchange(given, answer)


def _sides(span: Span) -> tuple[Wires, Wires]:
    found = ([_of_body(event.fields.get(side)) for side in ("input", "output")] for event in span.events)
    return next(((given, answer) for given, answer in found if given or answer), ([], []))


def _of_body(side: object) -> Wires:
    """Messages of one side of a body; what an event said of each stands in its content."""
    listed = objects(mapping(side).get("messages"))
    return [{**message, **_held(message.get("content"))} for message in listed]


def _held(content: object) -> dict[str, Any]:
    inner = mapping(content)
    said = next((inner[name] for name in ("content", "message") if name in inner), None)
    about = {name: inner[name] for name in ("id", "tool_call_id", "name") if isinstance(inner.get(name), str)}
    return {**about, "content": said} if said is not None else {}


def _of_a_run(message: dict[str, Any]) -> bool:
    """Whether a content is what LangChain's tracer was told of a run, in place of a message."""
    content = message.get("content")
    return isinstance(content, str) and bool(_RUN & mapping(loaded(content)).keys())


def outcome(span: Span) -> Any:  # noqa: ANN401  # JSON is any value
    """What the events of a tool's span, or the body of its log record, say the tool gave; None if there is none."""
    said = {event.name: event.fields for event in span.events}
    if _CHOICE in said:
        return said[_CHOICE].get("message")
    for fields in said.values():
        for part in (part for message in _listed(fields.get("gen_ai.output.messages")) for part in _parts(message)):
            if "response" in part or "result" in part:
                return part.get("response", part.get("result"))
    told = next((message.get("content") for message in _sides(span)[1]), None)
    return mapping(said.get("gen_ai.tool.message")).get("content") if told is None else told


def _parts(message: dict[str, Any]) -> Wires:
    return objects(message.get("parts"))


def _contents(span: Span) -> Exchange:
    """The oldest events of the conventions, and attributes of the same names: lists as JSON text."""
    holders = [span.fields, *(event.fields for event in span.events)]
    given = next((found for holder in holders if (found := _listed(holder.get("gen_ai.prompt")))), [])
    answer = next((found for holder in holders if (found := _listed(holder.get("gen_ai.completion")))), [])
    return Exchange(given, [{"role": "assistant", **message} for message in answer])


def numbered(fields: dict[str, Any], prefix: str) -> Wires:
    """Objects whose keys were written as attributes with a number and a path.

    >>> numbered({"p.0.role": "user", "p.1.calls.0.id": "c"}, "p.")
    [{'role': 'user'}, {'calls': {'0': {'id': 'c'}}}]
    """
    tree: dict[str, Any] = {}
    for name, value in fields.items():
        if name.startswith(prefix):
            *path, last = name.removeprefix(prefix).split(".")[:20]
            at = tree
            for step in path:
                inner = at.get(step)
                at[step] = at = inner if isinstance(inner, dict) else {}
            at[last] = value
    return _in_order(tree)


def _in_order(value: object) -> Wires:
    """Objects of a list, or of an object whose keys are numbers."""
    if isinstance(value, list):
        return objects(value)
    by_number = {int(key): inner for key, inner in mapping(value).items() if key.isdecimal() and len(key) < 10}
    return [by_number[number] for number in sorted(by_number) if isinstance(by_number[number], dict)]
