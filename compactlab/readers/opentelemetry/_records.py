"""Spans and log records in the ways they are written: OTLP JSON, what the SDKs print, Jaeger's export; made alike."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.readers._fields import array, first_string, mapping, objects, string
from compactlab.readers._times import iso
from compactlab.readers.opentelemetry._attributes import attributes, counted, decoded, flat

if TYPE_CHECKING:
    from collections import Counter

    from compactlab.readers._files import Source

_NANOSECONDS = 1_000_000
_NAMES = ("name", "span_name", "SpanName")
_TRACES = ("trace_id", "traceId", "TraceId")
_ATTRIBUTES = ("attributes", "span_attributes", "SpanAttributes")
_STARTS = ("start_time", "startTimeUnixNano", "start_time_unix_nano", "timestamp", "Timestamp")
_OTLP = ("resourceSpans", "resource_spans", "resourceLogs", "resource_logs", "batches")


class Event(NamedTuple):
    """An event of a span, or a log record: its name and what it says."""

    name: str
    fields: dict[str, Any]


@dataclass
class Span:
    """One span: where it stands in its trace, what its attributes and events say, and the number of its record."""

    trace: str
    id: str
    parent: str
    name: str
    started: str
    ended: str | None
    failed: bool
    fields: dict[str, Any]
    events: list[Event]
    source: int = 0
    logged: bool = field(default=False)
    """Whether it is a log record that belongs to the span of that id."""


def is_record(value: object) -> bool:
    """Whether a value holds spans or log records."""
    given = mapping(value)
    if any(isinstance(given.get(name), list) for name in _OTLP):
        return True
    if any(_is_jaeger(trace) for trace in objects(given.get("data"))[:1]):
        return True
    listed = array(given.get("spans"))
    return _is_span(value) or _is_log(value) or (bool(listed) and _is_span(_inside(listed[0], _id(given, *_TRACES))))


def _is_span(value: object) -> bool:
    given = mapping(value)
    traced = _id(given.get("context"), *_TRACES) or _id(given, *_TRACES)
    return bool(traced) and bool(first_string(given, *_NAMES)) and isinstance(_of_any(given, _ATTRIBUTES), dict | list)


def _of_any(given: dict[str, Any], names: tuple[str, ...]) -> object:
    """What stands under the first of *names* that is there."""
    return next((given[name] for name in names if name in given), None)


def _inside(value: object, trace: str) -> dict[str, Any]:
    """A span that stands in a trace, which may be the only place that names it."""
    given = mapping(value)
    return given if not trace or _id(given.get("context"), *_TRACES) else {"trace_id": trace, **given}


def _is_log(value: object) -> bool:
    given = mapping(value)
    about = {"severity_number", "severityNumber", "observed_timestamp", "observedTimeUnixNano", "trace_id", "traceId"}
    return "body" in given and isinstance(given.get("attributes"), dict | list) and bool(about & given.keys())


def _is_jaeger(value: object) -> bool:
    return "traceID" in mapping(value) and isinstance(mapping(value).get("spans"), list)


def spans(value: object) -> Iterator[Span]:
    """The spans and log records of one JSON value."""
    if isinstance(value, list):
        for inner in value:
            yield from spans(inner)
        return
    given = mapping(value)
    if any(name in given for name in _OTLP):
        yield from _otlp(given)
    elif any(_is_jaeger(trace) for trace in objects(given.get("data"))):
        yield from (_jaeger(span) for trace in objects(given["data"]) for span in objects(trace.get("spans")))
    elif isinstance(given.get("spans"), list):
        yield from _tree(objects(given["spans"]), _id(given, *_TRACES))
    elif _is_span(given):
        yield from _tree([given], "")
    elif _is_log(given):
        yield _log(given)


def _tree(listed: list[dict[str, Any]], trace: str) -> Iterator[Span]:
    """Spans, and those that some backends write inside them."""
    pending = listed[::-1]
    while pending:
        given = _inside(pending.pop(), trace)
        yield _span(given)
        pending += objects(given.get("child_spans"))[::-1]


def _otlp(given: dict[str, Any]) -> Iterator[Span]:
    for name in _OTLP:
        for resource in objects(given.get(name)):
            for scope in ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "scopeLogs", "scope_logs"):
                for held in objects(resource.get(scope)):
                    yield from (_span(span) for span in objects(held.get("spans")))
                    yield from (_log(log) for log in objects(held.get("logRecords") or held.get("log_records")))


def _span(given: dict[str, Any]) -> Span:
    context = mapping(given.get("context")) or given
    status = mapping(given.get("status"))
    code = given.get("status_code") or given.get("StatusCode") or status.get("status_code") or status.get("code")
    return Span(
        _id(context, *_TRACES),
        _id(context, "span_id", "spanId", "SpanId"),
        _id(given, "parent_id", "parentSpanId", "parent_span_id", "ParentSpanId"),
        first_string(given, *_NAMES),
        _order(given, *_STARTS),
        _time(given, "end_time", "endTimeUnixNano", "end_time_unix_nano", "timestamp", "Timestamp"),
        code == 2 or (isinstance(code, str) and code.upper() in {"ERROR", "STATUS_CODE_ERROR"}),
        flat(counted(attributes(_of_any(given, _ATTRIBUTES)))),
        list(_events(given)),
    )


def _events(given: dict[str, Any]) -> Iterator[Event]:
    """Events of a span: a list, or, as in columns of a table, a list of their names and one of their attributes."""
    for event in objects(given.get("events")):
        yield Event(first_string(event, "name", "Name"), attributes(_of_any(event, ("attributes", "Attributes"))))
    columns = mapping(given.get("Events"))
    names = array(given.get("Events.Name") or columns.get("Name"))
    said = array(given.get("Events.Attributes") or columns.get("Attributes"))
    yield from (Event(string(name), attributes(fields)) for name, fields in zip(names, said, strict=False))


def _log(given: dict[str, Any]) -> Span:
    about = attributes(given.get("attributes"))
    body = decoded(given.get("body"))
    said = body if isinstance(body, dict) else {} if body is None else {"content": body}
    name = first_string(given, "event_name", "eventName") or first_string(about, "event.name") or _by_body(said)
    times = ("timestamp", "timeUnixNano", "time_unix_nano", "observedTimeUnixNano", "observed_timestamp")
    at = _time(given, *times)
    trace, span = _id(given, "trace_id", "traceId"), _id(given, "span_id", "spanId")
    return Span(
        trace, span, "", name, _order(given, *times), at, False, about, [Event(name, {**about, **said})], logged=True
    )


def _by_body(said: dict[str, Any]) -> str:
    """The name of an event whose writer left it out, where its body can only be that of one."""
    if "message" in said and {"finish_reason", "index"} & said.keys():
        return "gen_ai.choice"
    if "tool_calls" in said:
        return "gen_ai.assistant.message"
    return "gen_ai.tool.message" if "content" in said and isinstance(said.get("id"), str) else ""


def _jaeger(given: dict[str, Any]) -> Span:
    parent = next((ref for ref in objects(given.get("references")) if ref.get("refType") == "CHILD_OF"), {})
    tags = {string(tag.get("key")): tag.get("value") for tag in objects(given.get("tags"))}
    start = given.get("startTime")
    logs = [
        {string(pair.get("key")): pair.get("value") for pair in objects(log.get("fields"))}
        for log in objects(given.get("logs"))
    ]
    at = iso(start / 1000) if isinstance(start, int | float) and not isinstance(start, bool) else None
    return Span(
        _id(given, "traceID"),
        _id(given, "spanID"),
        _id(parent, "spanID"),
        string(given.get("operationName")),
        at or "",
        at,
        tags.get("error") is True or tags.get("otel.status_code") == "ERROR",
        flat(tags),
        [Event(string(log.get("event") or log.get("name")), log) for log in logs],
    )


def _id(holder: object, *names: str) -> str:
    return first_string(holder, *names).removeprefix("0x")


def _order(given: dict[str, Any], *names: str) -> str:
    """A time as a text that sorts, with all its digits."""
    value = next((given[name] for name in names if given.get(name)), "")
    if isinstance(value, str) and not value.isdecimal():
        return value.removesuffix("Z").partition("+")[0]
    return f"{value:0>25}"[:40] if isinstance(value, str | int | float) else ""


def _time(given: dict[str, Any], *names: str) -> str | None:
    """A time as ISO 8601 text; counts of nanoseconds may be texts or numbers."""
    for name in names:
        value = given.get(name) or None
        if isinstance(value, str) and not value.isdecimal():
            return iso(value)
        if isinstance(value, str) and len(value) < 25:
            value = int(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return iso(value / _NANOSECONDS if value > 1e15 else value)
    return None


def concatenated(source: Source, problems: Counter[str]) -> Iterator[Any]:
    """The JSON values of a file that has one after the other, over any number of lines, as the SDKs print them."""
    text = source.data.decode(errors="replace")
    decoder = json.JSONDecoder(strict=False)
    at = 0
    while (at := _next(text, at)) >= 0:
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            problems["record that breaks off or is malformed"] += 1
            at = text.find("\n{", at + 1)
            if at < 0:
                return
            continue
        yield value


def _next(text: str, at: int) -> int:
    """Where the next object or array starts."""
    starts = [place for mark in "{[" if (place := text.find(mark, at)) >= 0]
    return min(starts, default=-1)
