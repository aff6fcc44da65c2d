"""Strands' own conversation managers, by one `reduce_context` on messages in Strands' shape.

Results that answer one response stand together in one message there.
"""

from __future__ import annotations

import copy
from importlib import import_module
from importlib.metadata import version
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from compactlab.environments.serve import Job

Own = dict[str, Any]
"""A message of Strands'."""


def versions() -> dict[str, str]:
    """What is installed here."""
    return {"strands-agents": version("strands-agents")}


class _History:
    """The messages of a job in Strands' shape, and which of ours each one holds."""

    def __init__(self, job: Job) -> None:
        self.messages: list[Own] = []
        self._numbers: dict[int, list[int]] = {}
        for number, wire in enumerate(job.messages):
            is_result = wire["role"] == "tool"
            last = self.messages[-1] if self.messages else None
            if is_result and last is not None and "toolResult" in last["content"][0]:
                last["content"] += _content(job, wire)
            else:
                role = "assistant" if wire["role"] == "assistant" else "user"
                self.messages.append({"role": role, "content": _content(job, wire)})
            self._numbers.setdefault(id(self.messages[-1]), []).append(number)
        self._before = {id(message): copy.deepcopy(message["content"]) for message in self.messages}
        self._held = list(self.messages)  # so that no id is used again

    def entries(self, messages: list[Own]) -> list[dict[str, Any]]:
        """What became of each message."""
        found: list[dict[str, Any]] = []
        for message in messages:
            before = self._before.get(id(message))
            if before is None:
                found.append({"role": message["role"], "content": _words(message["content"])})
                continue
            numbers = self._numbers[id(message)]
            alone = len(numbers) == 1
            for k, number in enumerate(numbers):
                now, then = (
                    (message["content"], before) if alone else (message["content"][k : k + 1], before[k : k + 1])
                )
                found.append({"at": number} | ({"content": _words(now)} if _words(now) != _words(then) else {}))
        return found


def _content(job: Job, wire: dict[str, Any]) -> list[dict[str, Any]]:
    text = job.text(wire["content"])
    if wire["role"] == "tool":
        result = {"toolUseId": wire["tool_call_id"], "status": "success", "content": [{"text": text}]}
        return [{"toolResult": result}]
    uses = [
        {"toolUse": {"toolUseId": call["id"], "name": call["function"]["name"], "input": job.arguments(call)}}
        for call in wire.get("tool_calls", ())
    ]
    return [*([{"text": text}] if text or not uses else []), *uses]


def _words(content: list[dict[str, Any]]) -> str:
    texts = []
    for part in content:
        inner = part["toolResult"]["content"] if "toolResult" in part else [part]
        texts += [str(piece["text"]) for piece in inner if "text" in piece]
    return "\n".join(texts)


def _reduced(job: Job, name: str) -> list[dict[str, Any]]:
    history = _History(job)
    model = _model(job)
    agent = SimpleNamespace(messages=list(history.messages), model=model, aux_model=model)
    manager = getattr(import_module("strands.agent.conversation_manager"), name)(**job.options)
    full = import_module("strands.types.exceptions").ContextWindowOverflowException("the context is full")
    manager.reduce_context(agent, full if name == "SummarizingConversationManager" else None)
    return history.entries(agent.messages)


def _model(job: Job) -> Any:  # noqa: ANN401  # a model of Strands'
    """A model that hands on what it is asked."""

    async def stream(
        self: Any,  # noqa: ANN401, ARG001  # its signature
        messages: list[Own],
        tool_specs: object = None,  # noqa: ARG001  # same
        system_prompt: str | None = None,
        **_: object,
    ) -> AsyncIterator[dict[str, Any]]:
        shown = "\n".join(f"[{message['role']}] {_words(message['content'])}" for message in messages)
        text = job.reply(system_prompt or "", shown)
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": text}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}

    def nothing(*_: object, **__: object) -> dict[str, Any]:
        return {}

    own = {"stream": stream, "update_config": nothing, "get_config": nothing, "structured_output": nothing}
    return type("Asked", (import_module("strands.models").Model,), own)()


CALLS: dict[str, Callable[[Job], list[dict[str, Any]]]] = {
    "sliding_window": lambda job: _reduced(job, "SlidingWindowConversationManager"),
    "summarizing": lambda job: _reduced(job, "SummarizingConversationManager"),
}
