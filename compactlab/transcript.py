"""Transcript, Message and the five blocks: what every part of compactlab speaks of.

A `Transcript` is what one agent saw and said, in the order of the recording. A `Message` has a role and blocks; a block
is `Text`, `Reasoning`, `ToolCall`, `ToolResult` or `Image`. All are immutable and compare by value. Readers make them
from files; nothing after the reader asks which tool wrote the file.

Results stand in messages of role `tool`. A recorded message that mixes results and words becomes two messages that
share `source`, the index of the recorded message; text that compaction made has the source None.
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any, Literal

import msgspec

Role = Literal["system", "user", "assistant", "tool"]


class Text(msgspec.Struct, frozen=True, tag="text"):
    """Words."""

    text: str


class Reasoning(msgspec.Struct, frozen=True, tag="reasoning", omit_defaults=True):
    """Thinking of the model: readable `text`, or `opaque` as the provider sent it. A signature travels on untouched."""

    text: str = ""
    signature: str | None = None
    opaque: str | None = None


class ToolCall(msgspec.Struct, frozen=True, tag="call"):
    """A call of a tool; `arguments` is the JSON text as recorded, which may be invalid JSON."""

    id: str
    name: str
    arguments: str


class Image(msgspec.Struct, frozen=True, tag="image", omit_defaults=True):
    """A picture: its size in pixels if known, and its bytes, its address, or a digest of what was left out."""

    media_type: str
    width: int | None = None
    height: int | None = None
    data: bytes | None = None
    url: str | None = None
    digest: str | None = None


class ToolResult(msgspec.Struct, frozen=True, tag="result", omit_defaults=True):
    """What a tool gave back for the call `call_id`."""

    call_id: str
    content: tuple[Text | Image, ...] = ()
    is_error: bool = False

    @property
    def text(self) -> str:
        """The text blocks of the content, one a line."""
        return "\n".join(part.text for part in self.content if isinstance(part, Text))


Block = Text | Reasoning | ToolCall | ToolResult | Image


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message; `synthetic` marks what no person and no agent said: hook output, reminders, summaries, stand-ins."""

    role: Role
    blocks: tuple[Block, ...]
    source: int | None = None
    synthetic: bool = False
    pinned: bool = False
    timestamp: str | None = None

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(block for block in self.blocks if isinstance(block, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple(block for block in self.blocks if isinstance(block, ToolResult))

    @property
    def text(self) -> str:
        """The text blocks, one a line; no reasoning, no calls, no results."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def by_person(self) -> bool:
        """True if a person wrote it: a user message that is not synthetic and holds words or a picture."""
        return (
            self.role == "user" and not self.synthetic and any(isinstance(block, Text | Image) for block in self.blocks)
        )


Messages = tuple[Message, ...]


class RecordedCompaction(msgspec.Struct, frozen=True, omit_defaults=True):
    """A compaction that the recording agent's own harness did.

    It stands before `messages[position]`: an agent that spoke at or after `position` saw only the messages from
    `position` on, the leading system messages, and those listed in `kept`. The summary, where there is one, is
    `messages[position]`. Tokens are the harness's own figures.
    """

    position: int
    trigger: str = "unknown"
    tokens_before: int | None = None
    tokens_after: int | None = None
    kept: tuple[int, ...] = ()
    summarised: bool = True


class Transcript(msgspec.Struct, frozen=True, omit_defaults=True, dict=True):
    """One recorded session of one agent.

    `agent_type` is `primary`, `subconscious`, `subagent` or a name of the user's own. `cluster` names the story that
    sessions share: sessions of one cluster are not independent. `skipped` counts, by kind, what the reader met and did
    not take as context; `problems` are faults of the file that it read past, each with its place.
    """

    id: str
    format: str
    messages: Messages
    path: str = ""
    title: str = ""
    agent_type: str = "primary"
    cluster: str = ""
    tools: tuple[str | dict[str, Any], ...] = ()
    compactions: tuple[RecordedCompaction, ...] = ()
    skipped: dict[str, int] = {}
    problems: tuple[str, ...] = ()
    header: dict[str, Any] = {}

    def view(self, position: int) -> tuple[int, ...]:
        """Indices of the messages that stood in the agent's context just before `messages[position]`."""
        last = max((c for c in self.compactions if c.position <= position), key=lambda c: c.position, default=None)
        if last is None:
            return tuple(range(position))
        head = sorted(i for i in {*self._leading_system, *last.kept} if i < last.position)
        return (*head, *range(last.position, position))

    @cached_property
    def _leading_system(self) -> tuple[int, ...]:
        count = 0
        while count < len(self.messages) and self.messages[count].role == "system":
            count += 1
        return tuple(range(count))


def readable(block: Block) -> str:
    r"""The words of a block as mined and matched: decoded strings, not their JSON escapes; nothing for a picture.

    >>> readable(ToolCall("c1", "bash", '{"command": "echo \\"hi\\"", "timeout": 30}'))
    'bash\ncommand: echo "hi"\ntimeout: 30'
    """
    if isinstance(block, Text):
        return block.text
    if isinstance(block, Reasoning):
        return block.text
    if isinstance(block, ToolCall):
        return f"{block.name}\n{_decoded(block.arguments)}"
    if isinstance(block, ToolResult):
        return block.text
    return ""


def _decoded(arguments: str) -> str:
    try:
        return "\n".join(_lines(json.loads(arguments), ""))
    except (ValueError, RecursionError):
        return arguments


def _lines(value: object, key: str) -> list[str]:
    if isinstance(value, dict):
        return [line for name, inner in value.items() for line in _lines(inner, str(name))]
    if isinstance(value, list):
        return [line for inner in value for line in _lines(inner, key)]
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return [f"{key}: {shown}" if key else shown]
