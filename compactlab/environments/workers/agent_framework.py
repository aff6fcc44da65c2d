"""Microsoft Agent Framework's own strategies, by `apply_compaction` on the framework's own messages."""

from __future__ import annotations

import asyncio
import json
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from compactlab.environments.serve import Job

Own = Any
"""A message of the framework's."""


def versions() -> dict[str, str]:
    """What is installed here."""
    return {"agent-framework-core": version("agent-framework-core")}


class _Tokenizer:
    """Counts what the framework hands it by the counter of the run."""

    def __init__(self, job: Job) -> None:
        self.count_tokens = job.count


class _Client:
    """A chat client that hands on what it is asked."""

    def __init__(self, job: Job) -> None:
        self._job = job

    async def get_response(self, messages: list[Own], **_: object) -> Any:  # noqa: ANN401  # its response
        parts = {True: "", False: ""}
        for message in messages:
            parts[message.role == "system"] += f"{message.text}\n"
        text = self._job.reply(parts[True].strip(), parts[False].strip())
        own = import_module("agent_framework")
        return own.ChatResponse(messages=own.Message("assistant", [text]))


def _message(job: Job, wire: dict[str, Any], number: int) -> Own:
    own, text = import_module("agent_framework"), job.text(wire["content"])
    if wire["role"] == "tool":
        contents = [own.Content.from_function_result(wire["tool_call_id"], result=text)]
    else:
        contents = [own.Content.from_text(text)] if text else []
        contents += [
            own.Content.from_function_call(
                call["id"], call["function"]["name"], arguments=call["function"]["arguments"]
            )
            for call in wire.get("tool_calls", ())
        ]
    return own.Message(wire["role"], contents, message_id=str(number))


def _state(message: Own) -> tuple[str, list[str]]:
    """The words of a message, results among them, and the ids of its calls."""
    words, calls = [], []
    for content in message.contents:
        if content.type == "text":
            words.append(content.text)
        elif content.type == "function_result":
            words.append(content.result if isinstance(content.result, str) else json.dumps(content.result))
        elif content.type == "function_call":
            calls.append(content.call_id)
    return "\n".join(words), calls


def _compacted(job: Job, make: Callable[[Any, Job], Any]) -> list[dict[str, Any]]:
    messages = [_message(job, wire, n) for n, wire in enumerate(job.messages)]
    before = {message.message_id: _state(message) for message in messages}
    framework = import_module("agent_framework._compaction")
    left = asyncio.run(framework.apply_compaction(messages, strategy=make(framework, job), tokenizer=_Tokenizer(job)))
    return [_entry(message, before) for message in left]


def _entry(message: Own, before: dict[str, tuple[str, list[str]]]) -> dict[str, Any]:
    text, calls = _state(message)
    if message.message_id not in before:
        return {"role": message.role, "content": text}
    words, called = before[message.message_id]
    return (
        {"at": int(message.message_id)}
        | ({"content": text} if text != words else {})
        | ({"calls": calls} if calls != called else {})
    )


def _truncation(framework: Any, job: Job) -> Any:  # noqa: ANN401  # the framework's own
    return framework.TruncationStrategy(tokenizer=_Tokenizer(job), **job.options)


def _summarization(framework: Any, job: Job) -> Any:  # noqa: ANN401  # same
    return framework.SummarizationStrategy(client=_Client(job), tokenizer=_Tokenizer(job), **job.options)


def _named(name: str) -> Callable[[Job], list[dict[str, Any]]]:
    return lambda job: _compacted(job, lambda framework, asked: getattr(framework, name)(**asked.options))


CALLS: dict[str, Callable[[Job], list[dict[str, Any]]]] = {
    "sliding_window": _named("SlidingWindowStrategy"),
    "selective_tool_call": _named("SelectiveToolCallCompactionStrategy"),
    "tool_result": _named("ToolResultCompactionStrategy"),
    "truncation": lambda job: _compacted(job, _truncation),
    "summarization": lambda job: _compacted(job, _summarization),
}
