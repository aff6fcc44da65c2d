"""Messages as Letta stores them: their parts, the events that are packed into user messages, and results."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from compactlab.errors import TranscriptError
from compactlab.readers._fields import array, count, first_string, mapping, objects, string
from compactlab.readers._lines import read_json
from compactlab.readers.claude_code._injected import injected
from compactlab.shapes import anthropic
from compactlab.shapes.parts import json_text, words
from compactlab.transcript import Block, Image, Message, Reasoning, RecordedCompaction, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator

EVENT = re.compile(r'\s*\{\s*"type"\s*:\s*"\w+"')
_STATUS = re.compile(r'\s*\{\s*"status"\s*:\s*"(\w+)"')
_BOOT = "Bootup sequence complete. Persona activated. Testing messaging functionality."
_FAILED = {"error", "failed", "failure"}
_HIDDEN = "hidden from view"
_SUMMARY = re.compile(r"The following is a summary of the previous .{0,40}?messages:\s*", re.DOTALL)


class Summary(NamedTuple):
    """A message that took the place of hidden ones, the words of the summary in it, and the server's figures."""

    message: Message
    text: str
    stats: dict[str, Any]

    def compaction(self, position: int, after: tuple[int | Message, ...]) -> RecordedCompaction:
        """Make the compaction that this summary tells of."""
        stats = self.stats
        return RecordedCompaction(
            position,
            trigger=string(stats.get("trigger")) or "unknown",
            tokens_before=count(stats.get("context_tokens_before")),
            tokens_after=count(stats.get("context_tokens_after")),
            after=after,
            summary=self.text,
        )


def event(text: str) -> dict[str, Any]:
    """The event that a text is, such as a user's message in its wrapping; an empty one if it is none.

    >>> event('{"type": "login", "last_login": "Never (first login)"}')["type"], event("Hello")
    ('login', {})
    """
    if not EVENT.match(text):
        return {}
    try:
        value = mapping(read_json(text.encode("utf-8", "surrogatepass")))
    except TranscriptError:
        return {}
    return value if isinstance(value.get("type"), str) else {}


def summary_of(record: dict[str, Any], source: int) -> Summary | None:
    """The summary that a stored message is; None for any other message."""
    role = string(record.get("role"))
    if role not in {"summary", "user"}:
        return None
    content = record.get("content", record.get("text"))
    texts = [content] if isinstance(content, str) else [string(part.get("text")) for part in objects(content)]
    text = "\n".join(texts) if role == "summary" else next((text for text in texts if _is_alert(text)), "")
    given = event(text)
    told = string(given.get("message")) if given.get("type") == "system_alert" else ""
    if role == "user" and _HIDDEN not in told:
        return None
    message = Message(
        "user", tuple(Text(text) for text in texts if text), source, synthetic=True, timestamp=time_of(record)
    )
    return Summary(message, summary_text(told or text), mapping(given.get("compaction_stats")))


def _is_alert(text: str) -> bool:
    return "system_alert" in text[:200] and _HIDDEN in text


def summary_text(told: str) -> str:
    """The summary without the words in front of it."""
    found = _SUMMARY.search(told)
    if found:
        return told[found.end() :]
    return "" if _HIDDEN in told else told


def time_of(record: dict[str, Any]) -> str | None:
    """When a message was stored or sent."""
    return first_string(record, "created_at", "date") or None


def parts(record: dict[str, Any], skipped: Counter[str] | None = None) -> list[Block]:
    """The blocks of a stored message's content."""
    content = record.get("content", record.get("text"))
    if isinstance(content, str):
        return [Text(content)] if content else []
    found: list[Block] = []
    for wire in [content] if isinstance(content, dict) else array(content):
        kind = string(mapping(wire).get("type"))
        if kind == "omitted_reasoning" and not mapping(wire).get("signature"):
            if skipped is not None:
                skipped["reasoning that was left out"] += 1
            continue
        found.append(_READ.get(kind, anthropic.block)(wire))
    return [block for block in found if block != Text("")]


def _reasoning(wire: dict[str, Any]) -> Block:
    told = "\n".join(string(part.get("text")) for part in objects(wire.get("summary")))
    hidden = first_string(wire, "data", "encrypted_content")
    signature = string(wire.get("signature")) or None
    return Reasoning(string(wire.get("reasoning")) or told, signature=signature, opaque=hidden or None)


def call(wire: dict[str, Any]) -> ToolCall:
    """A call in one of the forms in use."""
    inner = mapping(wire.get("function")) or wire
    given = inner.get("arguments", inner.get("input"))
    text = given if isinstance(given, str) else "{}" if given is None else json_text(given)
    return ToolCall(first_string(wire, "id", "tool_call_id"), string(inner.get("name")), text)


def result(wire: dict[str, Any]) -> ToolResult:
    """A result in one of the forms in use."""
    given = next((wire[key] for key in ("func_response", "tool_return", "content") if wire.get(key) is not None), None)
    content = tuple(part if isinstance(part, Text | Image) else Text(words(given)) for part in anthropic.blocks(given))
    failed = wire.get("is_error") is True or string(wire.get("status")).lower() in _FAILED
    return ToolResult(string(wire.get("tool_call_id")), content, is_error=failed or told_failed(content))


def told_failed(content: tuple[Text | Image, ...]) -> bool:
    """Whether a result says of itself that the tool failed."""
    first = content[0].text if content and isinstance(content[0], Text) else ""
    found = _STATUS.match(first)
    return found is not None and found.group(1).lower() in _FAILED


_READ: dict[str, Callable[[dict[str, Any]], Block]] = {
    "reasoning": _reasoning,
    "redacted_reasoning": _reasoning,
    "omitted_reasoning": _reasoning,
    "summarized_reasoning": _reasoning,
    "tool_call": call,
    "tool_return": result,
}


def spoken(record: dict[str, Any], source: int, skipped: Counter[str]) -> Message:
    """The message of a response: what was thought and said, and the calls beside it."""
    blocks = parts(record, skipped)
    known = {block.id for block in blocks if isinstance(block, ToolCall)}
    blocks += [made for made in map(call, objects(record.get("tool_calls"))) if made.id not in known or not made.id]
    boot = any(block == Text(_BOOT) for block in blocks)
    return Message("assistant", tuple(blocks), source, synthetic=boot, timestamp=time_of(record))


def answered(record: dict[str, Any], source: int) -> Message:
    """The message of results; its text, which is what the model saw, stands for a single one."""
    content = parts(record)
    found = [block for block in content if isinstance(block, ToolResult)]
    returns = [result(wire) for wire in objects(record.get("tool_returns"))]
    if not found and len(returns) > 1:
        found = returns
    if not found:
        seen = tuple(block for block in content if isinstance(block, Text | Image))
        only = returns[0] if returns else ToolResult("")
        call_id = string(record.get("tool_call_id")) or only.call_id
        failed = only.is_error or told_failed(seen)
        found = [ToolResult(call_id, seen or only.content, is_error=failed)]
    return Message("tool", tuple(found), source, timestamp=time_of(record))


def heard(record: dict[str, Any], source: int, *, by_agent: bool = False) -> Iterator[Message]:
    """The messages of a user's record, reminders and events apart from a person's words; *by_agent*, there are none."""
    base = Message("user", (), source, timestamp=time_of(record))
    unpacked = [_unpacked(block, by_agent=by_agent) for block in parts(record)]
    for synthetic, run in groupby(unpacked, key=lambda entry: entry[1]):
        listed = list(run)
        time = base.timestamp or listed[0][2]
        yield replace(base, blocks=tuple(entry[0] for entry in listed), synthetic=synthetic, timestamp=time)


def _unpacked(block: Block, *, by_agent: bool) -> tuple[Block, bool, str | None]:
    """A block, out of its wrapping if that held no more; whether no person said it; and the time in the wrapping."""
    if not isinstance(block, Text):
        return block, by_agent, None
    given = event(block.text)
    if not given:
        return block, by_agent or injected(block.text), None
    time = string(given.get("time")) or None
    if given["type"] != "user_message":
        return block, True, time
    if given.keys() <= {"type", "message", "time"} and isinstance(given.get("message"), str):
        return Text(given["message"]), by_agent, time
    return block, by_agent, time
