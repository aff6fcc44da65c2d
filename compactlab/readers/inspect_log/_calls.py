"""Calls of the model and compactions in the events of a sample, and which of them belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.readers._fields import array, count, mapping, objects, string
from compactlab.transcript import Usage

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from compactlab.readers.inspect_log._chat import Chat, Mark

_NESTED = 100
_SCORERS = {"scorer", "scorers"}


class Call(NamedTuple):
    """One call of the model: the messages that it was sent, its answer, tokens, time, and the span it happened in."""

    input: list[dict[str, Any]]
    output: dict[str, Any]
    usage: dict[str, Any]
    time: str | None
    span: str
    tools: list[Any]


class Compacted(NamedTuple):
    """A compaction event: its kind, what else it says, and the span it happened in."""

    kind: str
    fields: dict[str, Any]
    span: str


Item = Call | Compacted


class Thread:
    """Calls and compactions of one conversation, in order, and the marks of all its messages but system prompts."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.marks: set[Mark] = set()
        self.sent: list[dict[str, Any]] = []
        self.waits = False

    @property
    def compacts(self) -> bool:
        """Whether its context was compacted."""
        return any(isinstance(item, Compacted) for item in self.items)


def items(sample: dict[str, Any], skipped: Counter[str]) -> tuple[list[Item], dict[str, str]]:
    """Calls and compactions of a sample in order, those of scorers left out and counted; and the names of its spans."""
    pool = objects(mapping(sample.get("events_data")).get("messages")) or objects(sample.get("message_pool"))
    scoring: set[str] = set()
    names: dict[str, str] = {}
    steps = 0
    found: list[Item] = []
    for event in _events(sample.get("events") or mapping(sample.get("transcript")).get("events")):
        kind, span = event.get("event"), string(event.get("span_id"))
        if kind == "span_begin":
            names[string(event.get("id"))] = string(event.get("name"))
            if (
                _SCORERS & {string(event.get("type")), string(event.get("name"))}
                or string(event.get("parent_id")) in scoring
            ):
                scoring.add(string(event.get("id")))
        elif kind == "step":
            steps += _depth(event)
        item = _item(event, pool)
        if item is not None and (steps > 0 or (span and span in scoring)):
            skipped["model call of a scorer"] += isinstance(item, Call)
        elif item is not None:
            found.append(item)
        elif kind == "model":
            skipped["model call without an answer"] += 1
    return found, names


def _depth(event: dict[str, Any]) -> int:
    """How a step event of older versions changes how deep in scorers what follows stands."""
    if not _SCORERS & {string(event.get("type"))}:
        return 0
    return {"begin": 1, "end": -1}.get(string(event.get("action")), 0)


def _events(given: object) -> Iterator[dict[str, Any]]:
    """All events in order, those of subtasks and tools (older versions) after the event that holds them."""
    waiting = [iter(objects(given))]
    while waiting:
        event = next(waiting[-1], None)
        if event is None:
            waiting.pop()
            continue
        yield event
        if event.get("events") and len(waiting) < _NESTED:
            waiting.append(iter(objects(event["events"])))


def _item(event: dict[str, Any], pool: list[dict[str, Any]]) -> Item | None:
    kind, span = event.get("event"), string(event.get("span_id"))
    if kind == "compaction":
        return Compacted(string(event.get("type")) or "summary", event, span)
    if kind != "model":
        return None
    output = mapping(event.get("output"))
    choices = objects(output.get("choices"))
    answer = choices[0].get("message") if choices else None
    if not isinstance(answer, dict):
        return None
    sent = objects(event.get("input")) or _pooled(event.get("input_refs"), pool)
    time = string(event.get("completed")) or string(event.get("timestamp")) or None
    return Call(sent, answer, mapping(output.get("usage")), time, span, array(event.get("tools")))


def _pooled(refs: object, pool: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages that ranges of a pool mean: pairs of a start and the place after the end."""
    found: list[dict[str, Any]] = []
    for ref in array(refs):
        pair = array(ref)
        if len(pair) == 2 and all(isinstance(place, int) and place >= 0 for place in pair):
            found += pool[pair[0] : pair[1]]
        elif isinstance(ref, int) and 0 <= ref < len(pool):
            found.append(pool[ref])
        if len(found) > 10 * len(pool) + 1:
            break
    return found


def threads(found: list[Item], final: list[dict[str, Any]], chat: Chat) -> list[Thread]:
    """Part calls by conversation: the first thread is that of the *final* messages, others share nothing with it.

    The call after a compaction belongs to the thread that was compacted, if they happened in the same span.
    """
    main = Thread()
    known = {chat.mark(wire) for wire in final if wire.get("role") != "system"}
    ids = {string(wire.get("id")) for wire in final} - {""}
    main.marks |= known
    parted = [main]
    spans: dict[str, Thread] = {}
    last = main
    compacts = any(isinstance(item, Compacted) for item in found)
    for item in found:
        if isinstance(item, Compacted):
            last = spans.get(item.span, last)
            last.waits = True
        elif chat.mark(item.output) in known or string(item.output.get("id")) in ids:
            last = main
            _join(main, spans.get(item.span), parted)
        else:
            last = _thread(item, parted, spans, chat)
        last.items.append(item)
        if isinstance(item, Call):
            last.waits = False
            spans[item.span] = last
            if compacts or not known or last is not main:
                fresh = beyond(last.sent, item.input)
                last.marks |= {chat.mark(wire) for wire in (*fresh, item.output) if wire.get("role") != "system"}
                last.sent = item.input
    return parted


def beyond(before: list[dict[str, Any]], sent: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What was sent beyond all that was sent *before*; all of it, if it does not begin with that."""
    return sent[len(before) :] if sent[: len(before)] == before else sent


def _join(main: Thread, before: Thread | None, parted: list[Thread]) -> None:
    """Put the thread that waits after a compaction before the main one, if that has only begun: it is its beginning."""
    if before is None or before is main or not before.waits or main.items:
        return
    parted.remove(before)
    main.items, main.marks = before.items, main.marks | before.marks


def _thread(call: Call, parted: list[Thread], spans: dict[str, Thread], chat: Chat) -> Thread:
    """The thread that a call goes on: one that shares a message, one that waits after a compaction, or its own."""
    for thread in reversed(parted):
        if thread.sent and len(beyond(thread.sent, call.input)) < len(call.input):
            return thread
    marks = [chat.mark(wire) for wire in call.input if wire.get("role") != "system"]
    for thread in reversed(parted):
        if not thread.marks.isdisjoint(marks):
            return thread
    beside = spans.get(call.span)
    if beside is not None and beside.waits:
        return beside
    if not parted[0].items and not parted[0].marks:
        return parted[0]
    fresh = Thread()
    parted.append(fresh)
    return fresh


def usage(position: int | None, given: dict[str, Any]) -> Usage | None:
    """Token counts of a call, made one: whether its input includes what was cached shows in the total.

    >>> usage(1, {"input_tokens": 10, "output_tokens": 5, "total_tokens": 105, "input_tokens_cache_read": 90})
    Usage(position=1, input=100, output=5, cached=90, reasoning=0)
    >>> usage(1, {"input_tokens": 100, "output_tokens": 5, "total_tokens": 105, "input_tokens_cache_read": 90}).input
    100
    """
    sent, made = count(given.get("input_tokens")) or 0, count(given.get("output_tokens")) or 0
    read, written = (count(given.get(f"input_tokens_cache_{kind}")) or 0 for kind in ("read", "write"))
    if not sent and not made and not read:
        return None
    total = count(given.get("total_tokens"))
    apart = total == sent + made + read + written if total else sent < read
    whole = sent + read + written if apart else sent
    return Usage(position, whole, made, read, count(given.get("reasoning_tokens")) or 0)
