"""Pydantic AI's own compaction, by `compact_now` on its own messages.

Neighbouring requests are one message there, as its runs make them; `timestamp` holds the number of each of ours, which
every edit leaves there: the message number n was said n seconds after 1970 began.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from compactlab.environments.serve import Job

Own = Any
"""A message of Pydantic AI's, or a part of one."""


def versions() -> dict[str, str]:
    """What is installed here."""
    return {name: version(name) for name in ("pydantic-ai-harness", "pydantic-ai-slim")}


class _History:
    """The messages of a job as Pydantic AI has them."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.own = import_module("pydantic_ai.messages")
        self.tools: dict[str, str] = {}
        self.messages: list[Own] = []
        for number, wire in enumerate(job.messages):
            self._add(wire, datetime.fromtimestamp(number, UTC))

    def _add(self, wire: dict[str, Any], when: datetime) -> None:
        if wire["role"] == "assistant":
            self.messages.append(self.own.ModelResponse(parts=self._parts(wire), timestamp=when))
            return
        part = self._part(wire, when)
        if self.messages and self.messages[-1].kind == "request":
            self.messages[-1].parts.append(part)
        else:
            self.messages.append(self.own.ModelRequest(parts=[part], timestamp=when))

    def _part(self, wire: dict[str, Any], when: datetime) -> Own:
        text = self.job.text(wire["content"])
        if wire["role"] == "tool":
            name = wire["tool_call_id"]
            return self.own.ToolReturnPart(self.tools.get(name, ""), text, tool_call_id=name, timestamp=when)
        return (self.own.SystemPromptPart if wire["role"] == "system" else self.own.UserPromptPart)(
            text, timestamp=when
        )

    def _parts(self, wire: dict[str, Any]) -> list[Own]:
        text, thoughts = self.job.text(wire["content"]), self.job.thoughts(wire)
        parts = [self.own.ThinkingPart(thoughts)] if thoughts else []
        parts += [self.own.TextPart(text)] if text else []
        for call in wire.get("tool_calls", ()):
            name = self.tools[call["id"]] = call["function"]["name"]
            parts.append(self.own.ToolCallPart(name, call["function"]["arguments"], tool_call_id=call["id"]))
        return parts

    def entries(self, messages: list[Own]) -> list[dict[str, Any]]:
        """What became of each message."""
        found: list[dict[str, Any]] = []
        for message in messages:
            found += [self._response(message)] if message.kind == "response" else map(self._request, message.parts)
        return found

    def _number(self, own: Own) -> int | None:
        """The number of ours that a message or a part stands for; None for one that was made."""
        when = getattr(own, "timestamp", None)
        number = int(when.timestamp()) if when else len(self.job.messages)
        return number if number < len(self.job.messages) else None

    def _request(self, part: Own) -> dict[str, Any]:
        number, text = self._number(part), _words(part)
        if number is None:
            return {"role": "user", "content": text}
        same = text == self.job.text(self.job.messages[number]["content"])
        return {"at": number} | ({} if same else {"content": text})

    def _response(self, message: Own) -> dict[str, Any]:
        number = self._number(message)
        text = "\n".join(part.content for part in message.parts if part.part_kind == "text")
        if number is None:
            return {"role": "assistant", "content": text}
        calls = {part.tool_call_id: part.args for part in message.parts if part.part_kind == "tool-call"}
        before = self.job.text(self.job.messages[number]["content"])
        return self.job.kept(number, calls) | ({"content": text} if text != before else {})


def _words(part: Own) -> str:
    """The words of a part of a request, a summary in the frame in which a model gets to see it."""
    if part.part_kind == "compaction":
        framed = getattr(import_module("pydantic_ai.models"), "_conversation_summary_text", str)
        return str(framed(part.content))
    if isinstance(part.content, str):
        return part.content
    return "\n".join(item if isinstance(item, str) else str(getattr(item, "content", "")) for item in part.content)


def _model(job: Job) -> Own:
    """A model that hands on what it is asked."""
    own = import_module("pydantic_ai.messages")

    def asked(messages: list[Own], _: object) -> Own:
        prompt = "\n".join(_words(part) for part in messages[-1].parts if part.part_kind != "system-prompt")
        return own.ModelResponse(parts=[own.TextPart(job.reply(messages[-1].instructions or "", prompt))])

    return import_module("pydantic_ai.models.function").FunctionModel(asked)


def _compacted(job: Job, make: Callable[[Any, Job], Own]) -> list[dict[str, Any]]:
    harness = import_module("pydantic_ai_harness.compaction")
    history, strategy = _History(job), make(harness, job)
    left = asyncio.run(harness.compact_now(strategy, history.messages, model=_model(job), tokenizer=job.count))
    return history.entries(left)


def _clearing(harness: Any, job: Job) -> Own:  # noqa: ANN401  # its module
    least = job.options.pop("min_clear_tokens") or None
    tools = frozenset(job.options.pop("exclude_tools"))
    return harness.ClearToolResults(
        max_tokens=1, min_clear_tokens=least, exclude_tools=tools, tokenizer=job.count, **job.options
    )


def _tiered(harness: Any, job: Job) -> Own:  # noqa: ANN401  # same
    pairs, newest, target = (job.options[name] for name in ("keep_pairs", "keep_messages", "target_tokens"))
    tiers = [
        harness.ClearToolResults(max_tokens=1, keep_pairs=pairs, tokenizer=job.count),
        harness.SummarizingCompaction(max_messages=1, keep_messages=newest, tokenizer=job.count),
    ]
    return harness.TieredCompaction(tiers=tiers, target_tokens=target, tokenizer=job.count)


def _named(name: str) -> Callable[[Job], list[dict[str, Any]]]:
    def made(harness: Any, job: Job) -> Own:  # noqa: ANN401  # its module
        return getattr(harness, name)(max_messages=1, tokenizer=job.count, **job.options)

    return lambda job: _compacted(job, made)


CALLS: dict[str, Callable[[Job], list[dict[str, Any]]]] = {
    "sliding_window": _named("SlidingWindowCompaction"),
    "clear_tool_results": lambda job: _compacted(job, _clearing),
    "summarizing": _named("SummarizingCompaction"),
    "tiered": lambda job: _compacted(job, _tiered),
}
