"""LangChain's own functions on LangChain's own messages."""

from __future__ import annotations

import json
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from compactlab.environments.serve import Job

Own = Any
"""A message of LangChain's."""


def versions() -> dict[str, str]:
    """What is installed here."""
    return {name: version(name) for name in ("langchain", "langchain-core")}


class _History:
    """The messages of a job as LangChain has them; the id of each is its number."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.messages = [_message(job, wire, str(n)) for n, wire in enumerate(job.messages)]
        self._before = [self._state(message) for message in self.messages]

    def weigh(self, messages: list[Own] | Own) -> int:
        """Tokens of messages: those that are as they came by the run's own weights, others by its counter."""
        return sum(map(self._weight, messages if isinstance(messages, list) else [messages]))

    def entries(self, messages: list[Own]) -> list[dict[str, Any]]:
        """What became of each message."""
        return [self._entry(message) for message in messages]

    def _state(self, message: Own) -> tuple[str, dict[str, Any]]:
        calls = {call["id"]: call["args"] for call in getattr(message, "tool_calls", ())}
        return self.job.text(message.content), calls

    def _number(self, message: Own) -> int | None:
        known = isinstance(message.id, str) and message.id.isdigit() and int(message.id) < len(self._before)
        return int(message.id) if known else None

    def _weight(self, message: Own) -> int:
        number = self._number(message)
        content, calls = self._state(message)
        if number is not None and (content, calls) == self._before[number]:
            return self.job.weights[number]
        return self.job.count(f"{content} {json.dumps(calls) if calls else ''}") + 4

    def _entry(self, message: Own) -> dict[str, Any]:
        number = self._number(message)
        content, calls = self._state(message)
        if number is None:
            return {"role": {"system": "system", "ai": "assistant"}.get(message.type, "user"), "content": content}
        before, called = self._before[number]
        changed = {name: json.dumps(args) for name, args in calls.items() if args != called.get(name)}
        return (
            {"at": number}
            | ({"content": content} if content != before else {})
            | ({"arguments": changed} if changed else {})
        )


def _message(job: Job, wire: dict[str, Any], name: str) -> Own:
    own = import_module("langchain_core.messages")
    content = job.text(wire["content"])
    if wire["role"] == "tool":
        return own.ToolMessage(content, tool_call_id=wire["tool_call_id"], id=name)
    if wire["role"] == "assistant":
        calls = [
            {"id": call["id"], "name": call["function"]["name"], "args": job.arguments(call), "type": "tool_call"}
            for call in wire.get("tool_calls", ())
        ]
        return own.AIMessage(content, tool_calls=calls, id=name)
    return (own.SystemMessage if wire["role"] == "system" else own.HumanMessage)(content, id=name)


def trim_messages(job: Job) -> list[dict[str, Any]]:
    """`langchain_core.messages.trim_messages`."""
    history = _History(job)
    trim = import_module("langchain_core.messages").trim_messages
    return history.entries(trim(history.messages, token_counter=history.weigh, **job.options))


def clear_tool_uses(job: Job) -> list[dict[str, Any]]:
    """`ClearToolUsesEdit`, as `ContextEditingMiddleware` applies it."""
    history = _History(job)
    messages = list(history.messages)
    editing = import_module("langchain.agents.middleware.context_editing")
    editing.ClearToolUsesEdit(**job.options).apply(messages, count_tokens=history.weigh)
    return history.entries(messages)


def summarization(job: Job) -> list[dict[str, Any]]:
    """`SummarizationMiddleware`, its own prompt asked of the run's model."""
    history = _History(job)
    options = {name: tuple(value) if isinstance(value, list) else value for name, value in job.options.items()}
    made = import_module("langchain.agents.middleware").SummarizationMiddleware
    middleware = made(model=_model(job), token_counter=history.weigh, **options)
    done = middleware.before_model({"messages": list(history.messages)}, None)
    messages = history.messages if done is None else [m for m in done["messages"] if m.type != "remove"]
    return history.entries(messages)


def _model(job: Job) -> Any:  # noqa: ANN401  # a chat model of LangChain's
    """A chat model that hands on what it is asked."""

    def _call(self: Any, messages: list[Own], *args: Any, **more: Any) -> str:  # noqa: ANN401, ARG001  # its signature
        parts = {True: "", False: ""}
        for message in messages:
            parts[message.type == "system"] += f"{job.text(message.content)}\n"
        return job.reply(parts[True].strip(), parts[False].strip())

    base = import_module("langchain_core.language_models").SimpleChatModel
    return type("Asked", (base,), {"_call": _call, "_llm_type": property(lambda _: "asked")})()


CALLS: dict[str, Callable[[Job], list[dict[str, Any]]]] = {
    "trim_messages": trim_messages,
    "clear_tool_uses": clear_tool_uses,
    "summarization": summarization,
}
