"""From spans to transcripts: which conversation each belongs to, what it is, and the stories of the agents in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace as with_fields
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from compactlab.readers._fields import count, first_string, mapping, objects
from compactlab.readers._items import Item, Repeats
from compactlab.readers._lanes import Lanes, Request
from compactlab.readers.opentelemetry._dialects import Exchange, exchange, is_cut, numbered, outcome
from compactlab.readers.opentelemetry._messages import Maker, loaded, result_content, unwrapped
from compactlab.readers.opentelemetry._records import Span
from compactlab.shapes.parts import json_text
from compactlab.transcript import Intake, Origin, ToolCall, ToolResult, Transcript, Usage

if TYPE_CHECKING:
    from compactlab.readers._files import Source

Kind = Literal["model", "tool", "agent", "other"]
CONVERSATIONS = (
    "gen_ai.conversation.id",
    "session.id",
    "scope.agentic.session",
    "traceloop.association.properties.session_id",
    "traceloop.association.properties.thread_id",
    "traceloop.association.properties.conversation_id",
    "langfuse.session.id",
    "ai.telemetry.metadata.sessionId",
    "ai.telemetry.metadata.threadId",
)
_TOOLS = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name", "entity.1.name")
_CALL_IDS = ("gen_ai.tool.call.id", "tool_call.id", "tool.call_id", "ai.toolCall.id")
_ASKED = """gen_ai.tool.call.arguments ai.toolCall.args ai.toolCall.input input.value tool.parameters
    traceloop.entity.input""".split()
_GAVE = """gen_ai.tool.call.result ai.toolCall.result ai.toolCall.output output.value
    traceloop.entity.output""".split()
_MODELS = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.model.id", "entity.2.name")
_SENT = """gen_ai.usage.input_tokens gen_ai.usage.prompt_tokens llm.token_count.prompt metadata.prompt_tokens
    ai.usage.promptTokens ai.usage.inputTokens llm.usage.prompt_tokens"""
_MADE = """gen_ai.usage.output_tokens gen_ai.usage.completion_tokens llm.token_count.completion
    metadata.completion_tokens ai.usage.completionTokens ai.usage.outputTokens llm.usage.completion_tokens"""
_CACHED = """gen_ai.usage.cache_read.input_tokens gen_ai.usage.cache_read_input_tokens
    llm.token_count.prompt_details.cache_read ai.usage.cachedInputTokens"""
_WRITTEN = """gen_ai.usage.cache_creation.input_tokens gen_ai.usage.cache_creation_input_tokens
    llm.token_count.prompt_details.cache_write"""
_THOUGHT = """gen_ai.usage.reasoning.output_tokens gen_ai.usage.reasoning_tokens
    llm.token_count.completion_details.reasoning ai.usage.reasoningTokens"""
_TOKENS = [names.split() for names in (_SENT, _MADE, _CACHED, _WRITTEN, _THOUGHT)]
_KINDS: dict[str, Kind] = {
    "chat": "model",
    "text_completion": "model",
    "generate_content": "model",
    "execute_tool": "tool",
    "invoke_agent": "agent",
    "llm": "model",
    "tool": "tool",
    "agent": "agent",
    "inference": "model",
    "inference.framework": "model",
    "agentic.tool.invocation": "tool",
    "agentic.invocation": "agent",
    "agentic.turn": "agent",
    "agentic.request": "agent",
    "ai.toolCall": "tool",
}


def kind(span: Span) -> Kind:
    """What a span is, by the attribute that says so in its dialect, or by its name."""
    fields = span.fields
    names = ("gen_ai.operation.name", "span.type", "openinference.span.kind", "traceloop.span.kind", "ai.operationId")
    for said in (*(fields.get(name) for name in names), span.name.partition(" ")[0]):
        if isinstance(said, str):
            found = _KINDS.get(said) or _KINDS.get(said.lower())
            if found:
                return found
    return "other"


def transcripts(source: Source, spans: Sequence[Span], where: Origin) -> Iterator[Transcript]:
    """The transcripts of each conversation, or of each trace that belongs to none."""
    spans = _with_logs(spans)
    by_trace = {span.trace: found for span in spans if (found := first_string(span.fields, *CONVERSATIONS))}
    groups: dict[str, list[Span]] = {}
    for span in spans:
        own = first_string(span.fields, *CONVERSATIONS) or by_trace.get(span.trace, "")
        groups.setdefault(own or span.trace, []).append(span)
    for key, group in groups.items():
        known = any(first_string(span.fields, *CONVERSATIONS) for span in group)
        yield from _Group(source, group, known=known).transcripts(key, where)


def _with_logs(spans: Sequence[Span]) -> list[Span]:
    """Spans with the log records that belong to them; records without a span make one together."""
    held: dict[tuple[str, str], Span] = {(span.trace, span.id): span for span in spans if not span.logged}
    found = list(held.values()) if len(held) == len(spans) else [span for span in spans if not span.logged]
    for record in spans:
        if record.logged:
            key = (record.trace, record.id)
            if key not in held:
                held[key] = with_fields(record, events=[])
                found.append(held[key])
            held[key].events.extend(record.events)
    return found


class _Group:
    """The spans of one conversation."""

    def __init__(self, source: Source, spans: Sequence[Span], *, known: bool) -> None:
        self.source = source
        self.spans = sorted(spans, key=lambda span: (span.started, span.source)) if _timed(spans) else list(spans)
        self.by_id = {span.id: span for span in spans if span.id}
        self.inside: dict[str, list[Span]] = {}
        for span in self.spans:
            if kind(span) == "model":
                for above in takewhile(lambda above: kind(above) == "other", self._above(span)):
                    self.inside.setdefault(above.id, []).append(span)
        self.maker = Maker()
        self.repeats = Repeats(self.maker.items)
        self.lanes = Lanes(branches=known)
        self.skipped: Counter[str] = Counter()
        self.header: dict[str, Any] = {}
        self.tools: tuple[str | dict[str, Any], ...] = ()
        self.told: set[str] = set()

    def transcripts(self, own: str, where: Origin) -> Iterator[Transcript]:
        for span in self.spans:
            self._span(span, kind(span))
        if not self.lanes.lanes:
            self._agents()
        self.skipped["request that goes on with another"] += self.lanes.repeated
        self.skipped["result that no call asked for"] += self.lanes.unasked
        intake = Intake(len(self.spans), dict(+self.skipped), dict(self.maker.unknown))
        fields = {"origins": (where,), "header": self.header, "tools": self.tools}
        for number, told in enumerate(self.lanes.transcripts(self.source, "opentelemetry", own, fields)):
            yield told if number else _counted(told, intake)

    def _span(self, span: Span, of: Kind) -> None:
        if of == "tool":
            self._tool(span)
            return
        found = Exchange([], []) if of == "agent" else exchange(span)
        if not found.given:
            without = "span of a model without messages" if of == "model" else "span without messages"
            self.skipped["span whose messages are cut off" if is_cut(span) else without] += 1
        elif of == "other" and any(exchange(inner).given for inner in self.inside.get(span.id, ())):
            self.skipped["span around one of the same request"] += 1
        elif any(above.id in self.told for above in self._above(span)):
            self.skipped["span inside one of the same request"] += 1
        else:
            self.told.add(span.id)
            self._request(span, found)

    def _request(self, span: Span, found: Exchange) -> None:
        model = first_string(span.fields, *_MODELS)
        if model:
            self.header.setdefault("model", model)
        self.tools = tools(span) or self.tools
        answer = [item for wire in found.answer[:1] for item in self.maker.items(wire, span.source)]
        self.skipped["message of another branch"] += len(found.answer[1:])
        timed = [Item(replace(item.message, timestamp=span.ended), item.key, item.name) for item in answer]
        agent = next((above for above in self._above(span) if kind(above) == "agent"), None)
        named = first_string(span.fields, "gen_ai.agent.name") or (_agent(agent) if agent else "")
        given = self.repeats.items(found.given, span.source)
        self.lanes.take(Request(given, timed, usage(span), named, agent.id if agent else ""))

    def _tool(self, span: Span) -> None:
        said = {event.name: event.fields for event in span.events}
        asked = _first(span.fields, _ASKED, mapping(said.get("data.input")).get("input"))
        gave = _first(span.fields, _GAVE, mapping(said.get("data.output")).get("response"))
        gave = unwrapped(outcome(span) if gave is None else gave)
        if gave is None and not span.failed:
            self.skipped["span of a tool without its result"] += 1
            return
        error = first_string(said.get("exception"), "exception.message") or first_string(span.fields, "error.type")
        call_id = first_string(span.fields, *_CALL_IDS)
        result = ToolResult(call_id, result_content(error if gave is None else gave), is_error=span.failed)
        written = asked if isinstance(asked, str) else json_text(asked)
        call = ToolCall(call_id, first_string(span.fields, *_TOOLS) or span.name.removeprefix("execute_tool "), written)
        self.lanes.result(result, call, span.ended, span.source)

    def _agents(self) -> None:
        """Read what whole runs of agents were given and gave, where no call of a model was recorded."""
        for span in self.spans:
            if kind(span) == "agent":
                found = exchange(span)
                if found.given:
                    self.skipped["span without messages"] -= 1
                    self._request(span, found)

    def _above(self, span: Span) -> Iterator[Span]:
        """The spans that a span lies in, innermost first."""
        seen = {span.id}
        at = self.by_id.get(span.parent)
        while at is not None and at.id not in seen:
            seen.add(at.id)
            yield at
            at = self.by_id.get(at.parent)


def _timed(spans: Sequence[Span]) -> bool:
    return all(span.started for span in spans)


def _agent(span: Span) -> str:
    return first_string(span.fields, "gen_ai.agent.name", "entity.1.name", "agent.name", "traceloop.entity.name")


def _first(fields: dict[str, Any], names: Sequence[str], other: object) -> Any:  # noqa: ANN401  # JSON is any value
    return next((fields[name] for name in names if fields.get(name) is not None), other)


def _counted(told: Transcript, intake: Intake) -> Transcript:
    skipped = Counter(told.intake.skipped) + Counter(intake.skipped)
    return replace(told, intake=replace(intake, skipped=dict(skipped), repaired=told.intake.repaired))


def tools(span: Span) -> tuple[dict[str, Any], ...]:
    """Tools that a model was offered, as its span lists them."""
    listed = objects(loaded(span.fields.get("gen_ai.tool.definitions")))
    if not listed:
        schemas = [entry.get("tool") for entry in numbered(span.fields, "llm.tools.")]
        listed = [found for entry in schemas if isinstance(found := loaded(mapping(entry).get("json_schema")), dict)]
    return tuple(listed or numbered(span.fields, "llm.request.functions."))


def usage(span: Span) -> Usage | None:
    """Token counts of a span; an input that leaves out what was cached is completed."""
    said = next((event.fields for event in span.events if event.name == "metadata"), {})
    fields = {**span.fields, **{f"metadata.{name}": value for name, value in said.items()}}
    sent, made, cached, written, thought = (_count(fields, names) for names in _TOKENS)
    if not sent and not made:
        return None
    whole = sent if sent >= cached + written else sent + cached + written
    return Usage(None, whole, made, cached, thought)


def _count(fields: dict[str, Any], names: Sequence[str]) -> int:
    for name in names:
        value = fields.get(name)
        found = count(int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 18 else value)
        if found is not None:
            return found
    return 0
