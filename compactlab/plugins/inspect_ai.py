"""Inspect AI: any strategy of ours as a `CompactionStrategy`, as of inspect-ai 0.3.285.

Inspect decides when: its `react` and `compaction()` take the strategy, call it where the context passes its threshold,
up to three times, and put back messages of the prefix that went. It fails the sample where that is not enough, so give
a target below the threshold, or a strategy that surely gets there.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from importlib import import_module
from typing import Any, NamedTuple

from compactlab import catalog
from compactlab.compaction import Guard
from compactlab.llm import ModelError, Reply, Request
from compactlab.plugins import STOPPED, Plan, Shape, checked, passed
from compactlab.readers.inspect_log._chat import chat_messages
from compactlab.readers.inspect_log._write import wires
from compactlab.strategies import Strategy
from compactlab.transcript import Message, Messages

Own = Any
"""A `ChatMessage` of Inspect's."""
PARTS = ("content", "tool_calls", "error")
"""What an edit of ours changes in a message."""


def compactlab_strategy(
    strategy: str | Strategy, *, target: float | None = None, threshold: float = 0.9, guard: Guard | None = None
) -> Any:  # noqa: ANN401  # a CompactionStrategy of Inspect's
    """Give a `CompactionStrategy` that does what *strategy*, or its spec, does under the guard.

    *target* is what the result should not pass: tokens, or a share below 1 of what the messages weigh; None leaves it
    to the strategy. *threshold* is Inspect's own: tokens, or a share of the model's window, from where on it is asked.
    A strategy that asks a model asks the *guard*'s, or else the one that Inspect compacts for. `receipt` of the object
    is that of its latest pass.

    Raises `SpecError` and `UnknownName` for a strategy or target that is none, `ModuleNotFoundError` without Inspect.
    """
    built = catalog.strategy(strategy) if isinstance(strategy, str) else strategy
    plan = Plan(built, checked(target), guard or Guard())
    return _strategy_class()(plan, threshold)


def read(history: Sequence[Own]) -> Messages:
    """Read chat messages of Inspect; each keeps its index as `source`."""
    return chat_messages([message.model_dump(exclude_none=True) for message in history])


def write(message: Message, was: Sequence[Own] = ()) -> list[Own]:
    """Write a message as Inspect's; what it *was* before an edit keeps all but its id and what the edit changed."""
    model = import_module("inspect_ai.model")
    made = [_made(model, wire) for wire in wires([message])]
    if len(made) != len(was):
        return made
    return [_edited(before, after) for before, after in zip(was, made, strict=True)]


def _made(model: Any, wire: dict[str, Any]) -> Own:  # noqa: ANN401  # Inspect's module
    return getattr(model, f"ChatMessage{wire['role'].capitalize()}")(**wire, id=uuid.uuid4().hex[:22])


def _edited(before: Own, after: Own) -> Own:
    changed = {name: getattr(after, name) for name in PARTS if hasattr(after, name)}
    marks = {**(before.metadata or {}), **(after.metadata or {})}
    return before.model_copy(update={**changed, "id": after.id, "metadata": marks or None})


SHAPE: Shape[Own] = Shape(read, write)


@lru_cache(maxsize=1)
def _strategy_class() -> Callable[[Plan, float], Any]:
    """The class of our strategies: made where Inspect is, whose own is its base."""
    base = import_module("inspect_ai.model").CompactionStrategy

    def start(self: Any, plan: Plan, threshold: float) -> None:  # noqa: ANN401  # an object of the class
        base.__init__(self, type="summary" if plan.strategy.uses_model else "edit", threshold=threshold, memory=False)
        self.plan = plan
        self.receipt = None

    def parameters(self: Any) -> dict[str, Any]:  # noqa: ANN401  # same
        return {**base._repr_params_(self), "strategy": repr(self.plan.strategy), "target": self.plan.target}

    async def compact(self: Any, model: Any, messages: list[Own], tools: list[Any]) -> tuple[list[Own], None]:  # noqa: ANN401, ARG001  # its signature
        guard = self.plan.guard
        if guard.model is None and self.plan.strategy.uses_model:
            guard = replace(guard, model=Asked(model))
        pass_ = partial(passed, messages, SHAPE, self.plan._replace(guard=guard))
        done = await import_module("anyio").to_thread.run_sync(pass_)
        self.receipt = done.receipt
        return done.messages, None

    body = {"__init__": start, "_repr_params_": parameters, "compact": compact, "__module__": __name__}
    body["__doc__"] = "A strategy of compactlab, run under its guard on Inspect's messages."
    return type("CompactlabStrategy", (base,), body)


class Asked(NamedTuple):
    """A model of Inspect's, asked from the thread of a pass: for use as `Guard(model=...)`."""

    model: Any

    @property
    def name(self) -> str:
        """The name that Inspect has for it."""
        return str(self.model)

    @property
    def window(self) -> int | None:
        """Not known here."""
        return None

    def reply(self, request: Request) -> Reply:
        """Ask it; what it raises is a `ModelError`."""
        own = import_module("inspect_ai.model")
        config = own.GenerateConfig(max_tokens=request.max_output, temperature=request.temperature, seed=request.seed)
        said = [own.ChatMessageSystem(content=request.system), own.ChatMessageUser(content=request.prompt)]
        try:
            output = import_module("anyio").from_thread.run(_generated, self.model, said, config)
        except Exception as error:  # whatever a provider raises is a reply that did not come
            raise ModelError(f"{self.name}: {type(error).__name__}: {error}") from error
        usage = output.usage
        reason = str(output.stop_reason)
        return Reply(
            output.completion,
            self.name,
            STOPPED.get(reason, reason),
            usage.input_tokens if usage else 0,
            usage.output_tokens if usage else 0,
        )


async def _generated(model: Any, said: list[Own], config: Any) -> Any:  # noqa: ANN401  # Inspect's own types
    """Ask in a span of its own, so that a log tells this call from those of the agent."""
    async with import_module("inspect_ai.util").span("compactlab"):
        return await model.generate(said, config=config)
