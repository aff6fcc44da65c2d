"""Real packages as strategies: each runs in an environment of its own, on the same messages, counter, model and target.

A file is an environment, a class in it one thing that the package does. Its fields are the package's parameters with
the package's defaults; its spec is `peer:ENVIRONMENT.CALL(...)`, as `peer:langchain.trim_messages(max_tokens=4000)`.
What holds of `compactlab.peers` holds here: a pass is one that was called for, so a trigger is taken as reached unless
a target takes its place; the leading system messages stand beside the messages where the package has them there; and
`guard='off'` takes what the package gives as it is. Weights are those of the run's own meter, and a package that asks a
model asks the run's. The version of the package stands in the notes of the receipt.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from msgspec.structs import replace

from compactlab import catalog
from compactlab.environments import ENVIRONMENTS, PeerError, fingerprint, is_installed
from compactlab.environments.process import Worker, worker
from compactlab.errors import SpecError, UnknownName
from compactlab.llm import ModelError, Purpose, Request
from compactlab.peers import Peer
from compactlab.peers._shapes import apart, leading, rejoined
from compactlab.shapes import openai_chat
from compactlab.strategies import Compacted, Context
from compactlab.transcript import Block, Image, Message, Messages, Reasoning, Role, Text, ToolCall, ToolResult

PREFIX = "peer:"
LONGEST_REPLY = 4_096
PROBE = 40
"""Characters by which a message is known again in a package's prompt."""


@dataclass(frozen=True, repr=False)
class Adapter(Peer):
    """Base of every adapter: what to call in which environment, and with what options."""

    environment: ClassVar[str] = ""
    call: ClassVar[str] = ""
    has_system: ClassVar[bool] = False
    """True where the package holds the system prompt among its messages."""

    @property
    def name(self) -> str:
        """`peer:`, the environment and the call."""
        return f"{PREFIX}{self.environment}.{self.call}"

    def options(self, context: Context, weight: int) -> dict[str, Any]:  # noqa: ARG002  # some need neither
        """What the package is called with, for messages of so many tokens; the fields as they are."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "guard"}

    def room(self, context: Context, weight: int, most: int) -> int:
        """Tokens to come down to: the target, or what a field says, or half of the weight where that is 0."""
        return max(1, context.target or most or weight // 2)

    def _check(self, name: str, default: object) -> None:
        value = getattr(self, name)
        if isinstance(default, tuple):
            if not isinstance(value, tuple) or not all(isinstance(part, str) for part in value):
                raise SpecError(f"{name} is {value!r}; expected a tuple of names")
        elif isinstance(default, str) and not isinstance(value, str):
            raise SpecError(f"{name} is {value!r}; expected a text")
        else:
            super()._check(name, default)

    @property
    def fingerprint(self) -> str:
        """Changes with what is installed: rows that another version made are stale."""
        return fingerprint(self.environment)

    @property
    def process(self) -> Worker:
        """The process that does it; `PeerError` where its environment is not installed."""
        return worker(self.environment)

    def compact(self, messages: Messages, context: Context) -> Compacted:
        head, body = ((), messages) if self.has_system else leading(messages)
        parts = apart(body)
        process = self.process
        entries = process.ask(self._job(parts, head, context), _Answers(body, context))
        left = rejoined([_placed(parts, entry) for entry in entries])
        packages = ", ".join(f"{package} {version}" for package, version in process.versions.items())
        return Compacted((*head, *left), (packages,))

    def _job(self, parts: Sequence[Message], head: Messages, context: Context) -> dict[str, Any]:
        weights = [context.meter.message(part) for part in parts]
        if context.target is not None and head:
            room = max(1, context.target - context.meter.messages(head))
            context = dataclasses.replace(context, target=room)
        wires = [wire for part in parts for wire in openai_chat.to_wire((part,))]
        if len(wires) != len(parts):
            raise PeerError(f"{len(parts)} messages became {len(wires)} on the wire")
        options = self.options(context, sum(weights))
        return {"call": self.call, "messages": wires, "weights": weights, "options": options}


@dataclass(frozen=True)
class _Answers:
    """Answers what a worker asks back: weights by the run's meter, replies by the run's model."""

    material: Messages
    context: Context
    purpose: Purpose = "reflect"

    def __call__(self, question: Mapping[str, Any]) -> object:
        if "count" in question:
            return [self.context.meter.text(str(text)) for text in question["count"]]
        if self.context.model is None:
            raise ModelError("no model was given")
        system, prompt = str(question["system"]), str(question["prompt"])
        request = Request(self.purpose, system, prompt, _within(self.material, prompt), LONGEST_REPLY, None)
        return self.context.model.reply(request).text


def _within(material: Messages, prompt: str) -> Messages:
    """The messages that a package put into its prompt, for a stand-in that works on them: known by how they begin."""
    return tuple(message for message in material if (begun := _begun(message)) and begun in prompt)


def _begun(message: Message) -> str:
    text = next((block.text for block in message.blocks if isinstance(block, Text | ToolResult)), "")
    return text.strip().partition("\n")[0][:PROBE]


def _placed(parts: Sequence[Message], entry: Mapping[str, Any]) -> Message:
    """The message that an entry stands for: one of ours, as it was or edited, or one that the package made."""
    if "at" not in entry:
        role: Role = entry["role"] if entry["role"] in ("system", "assistant") else "user"
        return Message(role, (Text(str(entry["content"])),), synthetic=True)
    message: Message = parts[int(entry["at"])]
    blocks = message.blocks
    if entry.get("reasoning") is False:
        blocks = tuple(block for block in blocks if not isinstance(block, Reasoning))
    if entry.get("images") is False:
        blocks = tuple(block for block in blocks if not isinstance(block, Image))
    if "calls" in entry:
        blocks = tuple(b for b in blocks if not isinstance(b, ToolCall) or b.id in entry["calls"])
    if "content" in entry:
        blocks = _worded(blocks, str(entry["content"]))
    if "arguments" in entry:
        blocks = tuple(_called(block, entry["arguments"]) for block in blocks)
    return message if blocks == message.blocks else replace(message, blocks=blocks)


def _worded(blocks: tuple[Block, ...], content: str) -> tuple[Block, ...]:
    """The blocks with other words: those of a result, or one text where the first stood, or before the calls."""
    if any(isinstance(block, ToolResult) for block in blocks):
        return tuple(replace(b, content=(Text(content),)) if isinstance(b, ToolResult) else b for b in blocks)
    at = next((i for i, block in enumerate(blocks) if isinstance(block, Text | ToolCall)), len(blocks))
    rest = [block for block in blocks if not isinstance(block, Text)]
    return (*rest[:at], *((Text(content),) if content else ()), *rest[at:])


def _called(block: Block, arguments: Mapping[str, str]) -> Block:
    changed = isinstance(block, ToolCall) and block.id in arguments
    return replace(block, arguments=arguments[block.id]) if changed and isinstance(block, ToolCall) else block


def adapters() -> dict[str, type[Adapter]]:
    """All adapters by their names, whether their environments are installed or not."""
    found = {}
    for environment in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        module = importlib.import_module(f"{__name__}.{environment}")
        for cls in vars(module).values():
            if isinstance(cls, type) and issubclass(cls, Adapter) and cls.__module__ == module.__name__:
                found[f"{PREFIX}{cls.environment}.{cls.call}"] = cls
    return found


def installed() -> tuple[str, ...]:
    """The adapters whose environments are there, at their defaults, sorted; `PeerError` where none is."""
    names = tuple(name for name, cls in sorted(adapters().items()) if is_installed(cls.environment))
    if not names:
        known = ", ".join(sorted(ENVIRONMENTS))
        raise PeerError(f"no real package is installed; expected compactlab peers install NAME before, with {known}")
    return names


def adapter(name: str) -> type[Adapter]:
    """The adapter of a name, such as `peer:langchain.trim_messages`; `UnknownName`, with those that there are."""
    known = adapters()
    if name not in known:
        raise UnknownName(catalog.unknown("adapter", name, known))
    return known[name]
