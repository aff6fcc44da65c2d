"""Inspect AI's own compaction strategies on Inspect's own messages."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from compactlab.environments.serve import Job

Own = Any
"""A message of Inspect's."""


def versions() -> dict[str, str]:
    """What is installed here."""
    return {"inspect-ai": version("inspect-ai")}


class _History:
    """The messages of a job as Inspect has them; `metadata` holds the number of each, which an edit leaves there."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.messages = [_message(job, wire, n) for n, wire in enumerate(job.messages)]
        self._before = [_state(message) for message in self.messages]

    def entries(self, messages: list[Own]) -> list[dict[str, Any]]:
        """What became of each message."""
        return [self._entry(message) for message in messages]

    def _entry(self, message: Own) -> dict[str, Any]:
        number = (message.metadata or {}).get("number")
        text, calls, thinks = _state(message)
        if number is None:
            return {"role": message.role, "content": text}
        before, called, thought = self._before[number]
        left = [name for name in called if name in calls]
        return (
            {"at": number}
            | ({"content": text} if text != before else {})
            | ({"calls": left} if len(left) < len(called) else {})
            | ({"reasoning": False} if thought and not thinks else {})
        )


def _state(message: Own) -> tuple[str, list[str], bool]:
    """The words of a message, the ids of its calls, and whether it holds reasoning."""
    thinks = not isinstance(message.content, str) and any(part.type == "reasoning" for part in message.content)
    return message.text, [call.id for call in getattr(message, "tool_calls", None) or ()], thinks


def _message(job: Job, wire: dict[str, Any], number: int) -> Own:
    own, role, content = import_module("inspect_ai.model"), wire["role"], job.text(wire["content"])
    meta = {"number": number}
    if role == "tool":
        return own.ChatMessageTool(content=content, tool_call_id=wire["tool_call_id"], metadata=meta)
    if role != "assistant":
        return (own.ChatMessageSystem if role == "system" else own.ChatMessageUser)(content=content, metadata=meta)
    made = import_module("inspect_ai.tool").ToolCall
    calls = [
        made(id=call["id"], function=call["function"]["name"], arguments=job.arguments(call))
        for call in wire.get("tool_calls", ())
    ]
    thoughts = job.thoughts(wire)
    parts = [own.ContentReasoning(reasoning=thoughts), own.ContentText(text=content)] if thoughts else content
    return own.ChatMessageAssistant(content=parts, tool_calls=calls or None, metadata=meta)


def _compacted(job: Job, name: str) -> list[dict[str, Any]]:
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", tempfile.gettempdir())
    history = _History(job)
    strategy = getattr(import_module("inspect_ai.model"), name)(memory=False, **job.options)
    messages, _ = asyncio.run(strategy.compact(_model(job), history.messages, []))
    return history.entries(messages)


def _model(job: Job) -> Any:  # noqa: ANN401  # a model of Inspect's
    """A model that hands on what it is asked, and counts as the run does."""
    own = import_module("inspect_ai.model")

    def generate(messages: list[Own], *_: object) -> Any:  # noqa: ANN401  # its output
        system = "\n".join(message.text for message in messages if message.role == "system")
        shown = "\n".join(f"[{m.role}] {m.text}{_called(m)}" for m in messages if m.role != "system")
        return own.ModelOutput.from_content(model="asked", content=job.reply(system, shown))

    async def count(text: str) -> int:  # Inspect awaits it
        return job.count(text)

    model = own.get_model("mockllm/model", custom_outputs=generate, memoize=False)
    model.api.count_text_tokens = count
    return model


def _called(message: Own) -> str:
    calls = getattr(message, "tool_calls", None) or ()
    return "".join(f"\n-> {call.function} {json.dumps(call.arguments, ensure_ascii=False)}" for call in calls)


CALLS: dict[str, Callable[[Job], list[dict[str, Any]]]] = {
    "edit": lambda job: _compacted(job, "CompactionEdit"),
    "trim": lambda job: _compacted(job, "CompactionTrim"),
    "summary": lambda job: _compacted(job, "CompactionSummary"),
}
