"""LangChain: policies as an `AgentMiddleware`, strategies as a `ContextEdit`, as of langchain 1.5.

The middleware compacts the agent's state before a model is called. A policy runs at its marks of pressure, as in a
replay: each mark fires once when the messages reach that share of the window, and again only after they fell below it;
what does not fit at all is given to the strategy of the highest mark, with a target below the lowest. Which marks are
armed stands in the agent's state, so that each thread and checkpoint has its own. The edit is for LangChain's own
`ContextEditingMiddleware`: the state keeps everything, and each call is sent a compacted copy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from typing import Annotated, Any, NamedTuple, NotRequired

from compactlab import catalog
from compactlab.compaction import Guard
from compactlab.errors import SpecError
from compactlab.llm import ModelError, Reply, Request
from compactlab.plugins import STOPPED, Passed, Plan, Shape, checked, passed
from compactlab.policy import Policy, policy
from compactlab.pressure import Marks, crossed, pressure
from compactlab.receipt import Receipt
from compactlab.shapes import langchain
from compactlab.strategies import Strategy
from compactlab.transcript import Message, Messages

Own = Any
"""A message of LangChain's."""
ARMED = "compactlab_armed"
"""The key of the agent's state that holds the marks which may fire."""
KEPT = ("id", "name", "response_metadata", "usage_metadata")
"""What a message keeps when it is edited, beside what it says; artifacts of tools go with the text."""
SAID_AGAIN = ("tool_calls", "function_call", "compactlab")
"""Keys of `additional_kwargs` that say again what a message holds: an edit writes them anew, or not at all."""


def compactlab_middleware(
    what: str | Strategy | Policy,
    window: int,
    *,
    target: float | None = None,
    overhead: int = 0,
    guard: Guard | None = None,
) -> Any:  # noqa: ANN401  # an AgentMiddleware of LangChain's
    """Give an `AgentMiddleware` that compacts the state's messages by a policy or a strategy, or its spec.

    *window* are the tokens of the agent's model, *overhead* those of the system prompt and the tools, which stand
    outside of the state. *target* is what a pass should not pass: tokens, or a share below 1 of what the messages
    weigh; None leaves it to the strategy. A strategy alone runs at the lowest of the marks 0.80, 0.90, 0.95. `receipt`
    of the object is that of its latest pass.

    Raises `SpecError` for what makes no sense, also for a strategy that asks a model where *guard* has none
    (`Guard(model=Asked(llm))`), `UnknownName`, and `ModuleNotFoundError` without LangChain.
    """
    built, guard = policy(what), replace(guard or Guard(), window=window)
    if built.uses_model and guard.model is None:
        raise SpecError(f"{built!r} asks a model; expected one, as in guard=Guard(model=Asked(llm))")
    pressure(overhead, window)
    return _middleware_class()(_Trigger(built, window, overhead, checked(target), guard))


def read(history: Sequence[Own]) -> Messages:
    """Read messages of LangChain; each keeps its index as `source`."""
    wires = [langchain.fields(message.model_dump()) for message in history]
    return langchain.from_wire([{} if wire is None else wire for wire in wires])


def write(message: Message, was: Sequence[Own] = ()) -> list[Own]:
    """Write a message as LangChain's; what it *was* before an edit keeps its id and what LangChain says about it."""
    made = import_module("langchain_core.messages").messages_from_dict(langchain.to_wire([message]))
    if len(made) != len(was):
        return list(made)
    return [_edited(before, after) for before, after in zip(was, made, strict=True)]


def _edited(before: Own, after: Own) -> Own:
    kept = {name: getattr(before, name) for name in KEPT if hasattr(before, name)}
    extra = {name: value for name, value in before.additional_kwargs.items() if name not in SAID_AGAIN}
    return after.model_copy(update={**kept, "additional_kwargs": extra | after.additional_kwargs})


SHAPE: Shape[Own] = Shape(read, write)


class _Trigger(NamedTuple):
    """When to compact, and how."""

    policy: Policy
    window: int
    overhead: int
    target: float | None
    guard: Guard

    def full(self, history: Sequence[Own]) -> float:
        """How full the window is."""
        return pressure(self.guard.meter.messages(read(history)) + self.overhead, self.window)

    def run(self, history: Sequence[Own], armed: frozenset[float]) -> tuple[Passed[Own] | None, frozenset[float]]:
        """The pass that is due before a request, if one is, and the marks that are armed after it."""
        steps = self.policy.at(Marks())
        if not steps:
            return None, armed
        marks, full = Marks(tuple(steps)), self.full(history)
        fired = crossed(marks, armed, full).fired
        if full > 1:
            plan = Plan(steps[marks.last], self._below_marks(steps), self.guard)
        elif fired:
            plan = Plan(steps[fired[-1]], self.target, self.guard)
        else:
            return None, crossed(marks, armed, full).armed
        done = passed(history, SHAPE, plan)
        return done, crossed(marks, armed, self.full(done.messages)).armed

    def _below_marks(self, steps: Iterable[float]) -> int:
        """The most that messages may weigh so that no mark is reached."""
        return max(1, math.ceil(min(steps) * self.window) - 1 - self.overhead)


@lru_cache(maxsize=1)
def _middleware_class() -> Callable[[_Trigger], Any]:
    """The class of our middleware: made where LangChain is, whose own is its base."""
    middleware = import_module("langchain.agents.middleware")
    base = middleware.AgentMiddleware

    def start(self: Any, trigger: _Trigger) -> None:  # noqa: ANN401  # an object of the class
        base.__init__(self)
        self.trigger = trigger
        self.receipt = None

    def before_model(self: Any, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ANN401, ARG001  # its signature
        before = frozenset(state.get(ARMED, self.trigger.policy.at(Marks())))
        done, armed = self.trigger.run(state["messages"], before)
        update: dict[str, Any] = {} if armed == before else {ARMED: sorted(armed)}
        if done is not None:
            self.receipt = done.receipt
            if not _same(done.messages, state["messages"]):
                update["messages"] = [_all_removed(), *done.messages]
        return update or None

    async def abefore_model(self: Any, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ANN401  # its signature
        found = await import_module("asyncio").to_thread(before_model, self, state, runtime)
        return dict(found) if found else None

    body = {"__init__": start, "before_model": before_model, "abefore_model": abefore_model, "__module__": __name__}
    body |= {"state_schema": _state(middleware.AgentState), "__doc__": "A policy of compactlab, run at its marks."}
    return type("CompactlabMiddleware", (base,), body)


def _state(base: Any) -> Any:  # noqa: ANN401  # LangChain's class of states
    """The agent's state with the armed marks in it, which nobody else sees."""
    private = import_module("langchain.agents.middleware.types").PrivateStateAttr
    body = {"__annotations__": {ARMED: NotRequired[Annotated[list[float], private]]}, "__module__": __name__}
    return type(base)("CompactlabState", (base,), body)


def _all_removed() -> Own:
    everything = import_module("langgraph.graph.message").REMOVE_ALL_MESSAGES
    return import_module("langchain_core.messages").RemoveMessage(id=everything)


def _same(now: Sequence[Own], was: Sequence[Own]) -> bool:
    return len(now) == len(was) and all(one is other for one, other in zip(now, was, strict=True))


class CompactlabEdit:
    """A `ContextEdit`: compacts the copy of the messages that a model is sent, where they weigh more than *trigger*.

    It runs before each call, on all that was ever said: not for a strategy that asks a model.
    """

    def __init__(
        self, strategy: str | Strategy, *, trigger: int, target: float | None = None, guard: Guard | None = None
    ) -> None:
        built = catalog.strategy(strategy) if isinstance(strategy, str) else strategy
        if built.uses_model:
            raise SpecError(f"{built!r} asks a model, and would at each call; expected compactlab_middleware for it")
        self.trigger = trigger
        self.receipt: Receipt | None = None
        self._plan = Plan(built, checked(target), guard or Guard())

    def apply(self, messages: list[Own], *, count_tokens: Callable[[Sequence[Own]], int]) -> None:
        """Edit the list in place, as LangChain asks for; *count_tokens* is LangChain's, for the trigger."""
        if count_tokens(messages) > self.trigger:
            done = passed(messages, SHAPE, self._plan)
            self.receipt = done.receipt
            messages[:] = done.messages


class Asked(NamedTuple):
    """A chat model of LangChain's as a model of ours: for use as `Guard(model=...)`."""

    llm: Any

    @property
    def name(self) -> str:
        """The name of the model, or of its class."""
        known = (getattr(self.llm, field, None) for field in ("model_name", "model"))
        return next((name for name in known if isinstance(name, str)), type(self.llm).__name__)

    @property
    def window(self) -> int | None:
        """Not known here."""
        return None

    def reply(self, request: Request) -> Reply:
        """Ask it; what it raises is a `ModelError`. How long a reply may be is what the chat model was made with."""
        own = import_module("langchain_core.messages")
        try:
            said = self.llm.invoke([own.SystemMessage(request.system), own.HumanMessage(request.prompt)])
        except Exception as error:  # whatever a provider raises is a reply that did not come
            raise ModelError(f"{self.name}: {type(error).__name__}: {error}") from error
        told = said.response_metadata
        reason = str(told.get("finish_reason") or told.get("stop_reason") or "")
        usage = said.usage_metadata or {}
        sent, made = int(usage.get("input_tokens", 0)), int(usage.get("output_tokens", 0))
        return Reply(read([said])[0].text, self.name, STOPPED.get(reason, reason), sent, made)
