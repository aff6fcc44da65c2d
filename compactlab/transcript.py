"""Transcript, Message and the five blocks: what every part of compactlab speaks of.

A `Transcript` is what one agent saw and said, in the order of the recording. A `Message` has a role and blocks; a block
is `Text`, `Reasoning`, `ToolCall`, `ToolResult` or `Image`. All are immutable and compare by value. Readers make them
from files; nothing after the reader asks which tool wrote the file.

Results stand in messages of role `tool`. A recorded message that mixes results and words becomes two messages that
share `source`, the index of the recorded message; text that compaction made has the source None.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from compactlab import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    """What a tool gave back for the call `call_id`.

    `useless` is the tool's own word that nobody needs it again: nothing was found, the file is empty.
    """

    call_id: str
    content: tuple[Text | Image, ...] = ()
    is_error: bool = False
    useless: bool = False

    def __repr__(self) -> str:
        """Write what it is; `useless` only where it says so, since digests of what was said rest on this text."""
        told = ", useless=True" if self.useless else ""
        return f"ToolResult(call_id={self.call_id!r}, content={self.content!r}, is_error={self.is_error!r}{told})"

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

    _repr_html_ = shown.html
    _repr_pretty_ = shown.pretty

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
    """A compaction that the recording agent's own harness did, before `messages[position]`.

    `after` is what stood in the agent's context right after it, in order: the index of a message before `position`, or
    a message that the harness made or changed (a summary, a result that it cleared). `summary` is the text of the
    summary, empty where there was none or where it cannot be read; `summariser` is the id of the transcript of the
    summariser's own call, where that was recorded. Tokens are the harness's own figures.
    """

    position: int
    trigger: str = "unknown"
    tokens_before: int | None = None
    tokens_after: int | None = None
    after: tuple[int | Message, ...] = ()
    summary: str = ""
    summariser: str = ""


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens of one response of the model, as recorded: the one that became `messages[position]`, or None for them all.

    `input` counts all that was sent, what came from a cache (`cached`) included; `output` counts `reasoning` too.
    """

    position: int | None
    input: int
    output: int = 0
    cached: int = 0
    reasoning: int = 0


class Origin(msgspec.Struct, frozen=True):
    """Where recorded messages stand: those whose `source` is *first* or more, up to the next origin, are in one file.

    *where* names a place in the file; `{}` in it stands for a number, the `source` of the message less *first*, plus
    *base*.
    """

    path: str
    where: str = "message {}"
    first: int = 0
    base: int = 0


class Intake(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a reader did with the records of a file, so that nothing is dropped in silence.

    `records` counts all that were read. By kind: `skipped` counts what is known and no part of any context, `unknown`
    what the reader does not know, `repaired` what it mended. `problems` are faults that it read past, each with its
    place.
    """

    records: int = 0
    skipped: dict[str, int] = {}
    unknown: dict[str, int] = {}
    repaired: dict[str, int] = {}
    problems: tuple[str, ...] = ()


class Transcript(msgspec.Struct, frozen=True, omit_defaults=True, dict=True):
    """One recorded session of one agent.

    `messages` are the whole story, `compactions` what a real harness did to it on the way, by rising position.
    `agent_type` is `primary`, `subconscious`, `subagent` or a name of the user's own. `cluster` names the story that
    sessions share: sessions of one cluster are not independent. `usage` are the token counts that were recorded.
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
    usage: tuple[Usage, ...] = ()
    origins: tuple[Origin, ...] = ()
    intake: Intake = Intake()
    header: dict[str, Any] = {}

    _repr_html_ = shown.html
    _repr_pretty_ = shown.pretty

    @property
    def story(self) -> str:
        """The story that the session belongs to: its cluster; a session without one is a story of its own."""
        return self.cluster or self.id

    def view(self, position: int) -> Messages:
        """The messages that stood in the agent's context just before `messages[position]`."""
        return self._messages(self.entries(position))

    def entries(self, position: int) -> tuple[int | Message, ...]:
        """As `view`, but by index where a message is one of `messages`."""
        return self._entries(sum(compaction.position <= position for compaction in self.compactions), position)

    def before(self, compaction: int) -> Messages:
        """The messages in the agent's context just before the recorded compaction of that index."""
        return self._messages(self._entries(compaction, self.compactions[compaction].position))

    def after(self, compaction: int) -> Messages:
        """The messages in the agent's context just after the recorded compaction of that index."""
        return self._messages(self.compactions[compaction].after)

    def _entries(self, count: int, position: int) -> tuple[int | Message, ...]:
        """What stood in the context behind the first *count* compactions and the messages up to *position*."""
        if not count:
            return tuple(range(position))
        last = self.compactions[count - 1]
        return (*last.after, *range(last.position, position))

    def _messages(self, entries: Iterable[int | Message]) -> Messages:
        return tuple(self.messages[entry] if isinstance(entry, int) else entry for entry in entries)

    def place(self, message: Message) -> str:
        """The file and the place in it where a message was recorded; empty for one that compaction made.

        >>> said = Message("user", (Text("hello"),), source=4)
        >>> Transcript("t", "", (said,), origins=(Origin("a.jsonl", "line {}", base=1),)).place(said)
        'a.jsonl: line 5'
        """
        if message.source is None or not self.origins:
            return self.path if message.source is not None else ""
        at = bisect_right(self.origins, message.source, key=lambda origin: origin.first) - 1
        origin = self.origins[max(at, 0)]
        return f"{origin.path}: {origin.where.format(message.source - origin.first + origin.base)}"


def readable(block: Block) -> str:
    r"""The words of a block as mined and matched: decoded strings, not their JSON escapes; nothing for a picture.

    Results that are one JSON object whose texts are escaped, as some harnesses wrap them, are decoded too.

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
        return _decoded(block.text) if block.text[:1] == "{" and "\\" in block.text else block.text
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
