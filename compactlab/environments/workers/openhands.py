"""OpenHands' own condensers on OpenHands' own events; the id of each event holds the number of our message.

A call is an event of its own, those of one response share its id; tools are unknown here, so that calls and results are
of the classes that it has for tools of others.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from compactlab.environments.serve import Job

os.environ.setdefault("OPENHANDS_SUPPRESS_BANNER", "1")
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # it looks for a newer one on the net otherwise
Own = Any
"""An event of OpenHands'."""


def versions() -> dict[str, str]:
    """What is installed here."""
    return {"openhands-sdk": version("openhands-sdk")}


class _History:
    """The messages of a job as the events that OpenHands has for them."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.llm = import_module("openhands.sdk.llm")
        self.event = import_module("openhands.sdk.event")
        self.mcp = import_module("openhands.sdk.mcp.definition")
        self.called: dict[str, tuple[str, str]] = {}
        self.events = [event for n, wire in enumerate(job.messages) for event in self._events(wire, n)]

    def _events(self, wire: dict[str, Any], number: int) -> list[Own]:
        text = self.llm.TextContent(text=self.job.text(wire["content"]))
        if wire["role"] == "system":
            return [self.event.SystemPromptEvent(id=str(number), system_prompt=text, tools=[])]
        if wire["role"] == "tool":
            return [self._result(wire, text, number)]
        thoughts = self._thoughts(wire)
        if wire.get("tool_calls"):
            return self._calls(wire, [text] if text.text else [], thoughts, number)
        own, source = wire["role"] == "assistant", "agent" if wire["role"] == "assistant" else "user"
        message = self.llm.Message(role="assistant" if own else "user", content=[text], **thoughts)
        return [self.event.MessageEvent(id=str(number), source=source, llm_message=message)]

    def _thoughts(self, wire: dict[str, Any]) -> dict[str, Any]:
        """Reasoning as its messages hold it: signed and sealed blocks apart, words alone in a text."""
        made = [
            self.llm.RedactedThinkingBlock(data=block["data"])
            if "data" in block
            else self.llm.ThinkingBlock(thinking=block["thinking"], signature=block["signature"])
            for block in wire.get("thinking_blocks", ())
            if "data" in block or "signature" in block
        ]
        return {"reasoning_content": self.job.thoughts(wire) or None, "thinking_blocks": made}

    def _calls(self, wire: dict[str, Any], text: list[Own], thoughts: dict[str, Any], number: int) -> list[Own]:
        found = []
        for k, call in enumerate(wire["tool_calls"]):
            name, arguments = call["function"]["name"], call["function"]["arguments"]
            asked = self.llm.MessageToolCall(id=call["id"], name=name, arguments=arguments, origin="completion")
            self.called[call["id"]] = (name, f"{number}.{k}")
            found.append(
                self.event.ActionEvent(
                    id=f"{number}.{k}",
                    thought=[] if k else text,
                    action=self.mcp.MCPToolAction(data=self.job.arguments(call)),
                    tool_name=name,
                    tool_call_id=call["id"],
                    tool_call=asked,
                    llm_response_id=f"response {number}",
                    **({} if k else thoughts),
                )
            )
        return found

    def _result(self, wire: dict[str, Any], text: Own, number: int) -> Own:
        name, action = self.called.get(wire["tool_call_id"], ("", ""))
        return self.event.ObservationEvent(
            id=str(number),
            observation=self.mcp.MCPToolObservation(content=[text], tool_name=name),
            action_id=action,
            tool_name=name,
            tool_call_id=wire["tool_call_id"],
        )

    def entries(self, events: list[Own]) -> list[dict[str, Any]]:
        """What became of each message; the calls of one stand behind each other."""
        found: list[dict[str, Any]] = []
        for event in events:
            number, _, call = event.id.partition(".")
            if not number.isdigit():
                found.append({"role": "user", "content": event.summary})
            elif call and found and found[-1].get("at") == int(number):
                found[-1]["calls"].append(event.tool_call_id)
            else:
                found.append({"at": int(number)} | ({"calls": [event.tool_call_id]} if call else {}))
        return found


@cache
def _asking() -> Any:  # noqa: ANN401  # a class of models
    """The class of a model that hands on what it is asked, and counts as the run does."""
    own = import_module("openhands.sdk.llm")
    testing = import_module("openhands.sdk.testing").TestLLM

    def completion(self: Any, messages: list[Own], *_: object, **__: object) -> Own:  # noqa: ANN401  # its signature
        parts = {True: "", False: ""}
        for message in messages:
            parts[message.role == "system"] += "\n".join(own.content_to_str(message.content))
        said = self.job.reply(parts[True], parts[False])
        self._scripted_responses.append(own.Message(role="assistant", content=[own.TextContent(text=said)]))
        return testing.completion(self, messages)

    def count(self: Any, messages: list[Own], *_: object, **__: object) -> int:  # noqa: ANN401  # same
        texts = ["\n".join(own.content_to_str(message.content)) for message in messages]
        texts += [f"{call.name} {call.arguments}" for message in messages for call in message.tool_calls or ()]
        return sum(map(int, map(self.job.count, texts))) + 4 * len(messages)

    no_limit = property(lambda _: None)
    members = {"completion": completion, "get_token_count": count, "effective_max_input_tokens": no_limit}
    return type("Asked", (testing,), {"__annotations__": {"job": Any}, "job": None, **members})


def _condenser(job: Job) -> Own:
    options = {name: value for name, value in job.options.items() if name != "requested"}
    made = import_module("openhands.sdk.context.condenser").LLMSummarizingCondenser
    return made(llm=_asking()(job=job, model="asked"), **options)


def _viewed(history: _History, condense: Callable[[Own], Own], *more: Own) -> list[dict[str, Any]]:
    """What stands in the view of all events once what a condenser gives has joined them."""
    view = import_module("openhands.sdk.context.view").View
    given = condense(view.from_events([*history.events, *more]))
    left = given if isinstance(given, view) else view.from_events([*history.events, *more, given])
    return history.entries(left.events)


def llm_summarizing(job: Job) -> list[dict[str, Any]]:
    """`LLMSummarizingCondenser.condense`, for a request or for too many tokens."""
    history, condenser = _History(job), _condenser(job)
    asked = [history.event.CondensationRequest()] if job.options["requested"] else []
    return _viewed(history, lambda view: condenser.condense(view, agent_llm=condenser.llm), *asked)


def hard_reset(job: Job) -> list[dict[str, Any]]:
    """`LLMSummarizingCondenser.hard_context_reset`."""
    return _viewed(_History(job), _condenser(job).hard_context_reset)


def no_op(job: Job) -> list[dict[str, Any]]:
    """`NoOpCondenser.condense`."""
    return _viewed(_History(job), import_module("openhands.sdk.context.condenser").NoOpCondenser().condense)


CALLS: dict[str, Callable[[Job], list[dict[str, Any]]]] = {
    "llm_summarizing": llm_summarizing,
    "hard_reset": hard_reset,
    "no_op": no_op,
}
