"""OpenHarness's own compaction services on its own messages.

Results that answer one response stand together in one message there; the system prompt stands beside the messages.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from importlib.metadata import version
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from compactlab.environments.serve import Job

Own = Any
"""A message of OpenHarness's."""


def versions() -> dict[str, str]:
    """What is installed here."""
    return {"openharness-ai": version("openharness-ai")}


class _History:
    """The messages of a job as OpenHarness has them, and which of ours each block belongs to."""

    def __init__(self, job: Job) -> None:
        own = import_module("openharness.engine.messages")
        self.results: dict[str, int] = {}
        self.calls: dict[str, int] = {}
        self.texts: dict[tuple[str, str], list[int]] = {}
        self.before: dict[int, str] = {}
        self.messages: list[Own] = []
        for number, wire in enumerate(job.messages):
            text = self.before[number] = job.text(wire["content"])
            if wire["role"] == "tool":
                self._result(own, wire["tool_call_id"], text, number)
                continue
            role = "assistant" if wire["role"] == "assistant" else "user"
            blocks = [own.TextBlock(text=text)] if text else []
            for call in wire.get("tool_calls", ()):
                name = call["function"]["name"]
                blocks.append(own.ToolUseBlock(id=call["id"], name=name, input=job.arguments(call)))
                self.calls[call["id"]] = number
            self.messages.append(own.ConversationMessage(role=role, content=blocks))
            self._mark(number)

    def _result(self, own: Any, call_id: str, text: str, number: int) -> None:  # noqa: ANN401  # its module
        block = own.ToolResultBlock(tool_use_id=call_id, content=text)
        self.results[call_id] = number
        last = self.messages[-1] if self.messages else None
        if last is not None and last.role == "user" and last.content and last.content[0].type == "tool_result":
            last.content.append(block)
        else:
            self.messages.append(own.ConversationMessage(role="user", content=[block]))

    def _mark(self, number: int) -> None:
        """Remember a message by its words: those come through every copy that OpenHarness makes."""
        self.texts.setdefault((self.messages[-1].role, self.before[number]), []).append(number)

    def entries(self, messages: list[Own]) -> list[dict[str, Any]]:
        """What became of each message."""
        waiting = {key: list(numbers) for key, numbers in self.texts.items()}
        return [entry for message in reversed(messages) for entry in self._of(message, waiting)][::-1]

    def _of(self, message: Own, waiting: dict[tuple[str, str], list[int]]) -> list[dict[str, Any]]:
        """The entries of a message, last first, since equal words stand for the newest message that has them."""
        results = [block for block in message.content if block.type == "tool_result"]
        if results:
            return [self._changed(self.results[b.tool_use_id], b.content) for b in reversed(results)]
        calls = [block.id for block in message.content if block.type == "tool_use"]
        text = "\n".join(block.text for block in message.content if block.type == "text")
        numbers = waiting.get((message.role, text), [])
        number = self.calls[calls[0]] if calls else numbers.pop() if numbers else None
        if number is None:
            return [self._collapsed(message.role, text)]
        if calls and number in numbers:
            numbers.remove(number)
        return [self._changed(number, text)]

    def _collapsed(self, role: str, text: str) -> dict[str, Any]:
        """A message without calls whose words changed: one of ours whose middle went, or one that was made."""
        head, cut, _ = text.partition("\n...[collapsed ")
        found = next(
            (n for (by, words), all_ in self.texts.items() for n in all_ if by == role and words.startswith(head)), None
        )
        return {"role": role, "content": text} if not cut or found is None else {"at": found, "content": text}

    def _changed(self, number: int, text: str) -> dict[str, Any]:
        return {"at": number} | ({"content": text} if text != self.before[number] else {})


class _Client:
    """An API client that hands on what it is asked."""

    def __init__(self, job: Job) -> None:
        self._job = job

    async def stream_message(self, request: Any) -> AsyncIterator[Any]:  # noqa: ANN401  # its request
        own = import_module("openharness.engine.messages")
        shown = "\n".join(f"[{message.role}] {_shown(message)}" for message in request.messages)
        text = self._job.reply(request.system_prompt or "", shown)
        api = import_module("openharness.api.client")
        usage = import_module("openharness.api.usage").UsageSnapshot()
        message = own.ConversationMessage(role="assistant", content=[own.TextBlock(text=text)])
        yield api.ApiMessageCompleteEvent(message=message, usage=usage, stop_reason="end_turn")


def _shown(message: Own) -> str:
    parts = {"text": "text", "tool_result": "content", "tool_use": "input"}
    return "\n".join(str(getattr(block, parts[block.type])) for block in message.content if block.type in parts)


def microcompact(job: Job) -> list[dict[str, Any]]:
    """`microcompact_messages`, its first step."""
    history = _History(job)
    compact = import_module("openharness.services.compact")
    messages, _ = compact.microcompact_messages(history.messages, **job.options)
    return history.entries(messages)


def collapse(job: Job) -> list[dict[str, Any]]:
    """`try_context_collapse`, its second step."""
    history = _History(job)
    compact = import_module("openharness.services.compact")
    return history.entries(compact.try_context_collapse(history.messages, **job.options) or history.messages)


def conversation(job: Job) -> list[dict[str, Any]]:
    """`compact_conversation`, its `/compact`."""
    history = _History(job)
    compact = import_module("openharness.services.compact")
    done = asyncio.run(
        compact.compact_conversation(history.messages, api_client=_Client(job), model="asked", **job.options)
    )
    if not isinstance(done, list):
        done = compact.build_post_compact_messages(done) if not isinstance(done, SimpleNamespace) else done.messages
    return history.entries(done)


CALLS: dict[str, Callable[[Job], list[dict[str, Any]]]] = {
    "microcompact": microcompact,
    "collapse": collapse,
    "conversation": conversation,
}
