"""`claw_code`: a summary made by code alone, with a line for each message that went, before the newest four.

Follows ultraworkers/claw-code as of August 2026. The summary counts the messages that go, names tools, the last three
requests, what sounds like open work, up to eight files and the current work, and holds a timeline. On the next pass its
lines but for the timeline are carried on. `trident` runs three passes before: superseded operations on files go, runs
of short talk collapse, messages that resemble each other become one line. An `automatic` pass has no least weight;
without, `max_tokens` is one. Its notes are system messages in the store and a user's on the wire: so they stand here.
Bytes over four and one, a block.

Leaves out: the retries with fewer messages after an overflow (`preserve_recent=2`, `1`, `0` are what they do), the
shortened form of the summary for display.

Known faults:

- Trident looks at no pair and at no tail: a call goes and its result stays, or the newest of what was done goes.
- An earlier edit counts as superseded by a later one, though both stand in the file.
- Plain messages without tools and files resemble each other: three of a person's become one line without their words,
  the latest request among them.
- The border looks at the first block of a message alone.
- The timeline grows with what went: a summary may weigh more than what it replaces; requests end at 160 characters.
- Each merge indents what it carries on once more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compactlab.peers import Peer
from compactlab.peers._shapes import apart, leading, rejoined
from compactlab.peers._trident import clustered, collapsed, superseded
from compactlab.strategies import Compacted, Context, note
from compactlab.transcript import Message, Messages, Reasoning, Text, ToolCall, ToolResult

VARIANTS = ("claw_code(trident=True)",)

PREAMBLE = "[Earlier part of this session, compacted]"
RECENT = "The newest messages follow word for word."
RESUME = "Go on where the work stands; no recap, no mention of this note."
TIMELINE = "- Timeline:"
OPEN_WORK = ("todo", "next", "pending", "follow up", "remaining")
ENDINGS = (".rs", ".ts", ".tsx", ".js", ".json", ".md")
_EDGES = ",.:;)(\"'`"


@dataclass(frozen=True, repr=False)
class ClawCode(Peer):
    """Replace all but the newest `preserve_recent` messages by one summary that code wrote."""

    automatic: bool = True
    trident: bool = False
    preserve_recent: int = 4
    max_tokens: int = 10_000
    requests: int = 3
    open_items: int = 3
    key_files: int = 8
    line_chars: int = 160
    current_chars: int = 200
    run_length: int = 4
    run_chars: int = 200
    topics: int = 5
    topic_chars: int = 80
    similarity: float = 0.6
    cluster_size: int = 3

    def compact(self, messages: Messages, context: Context) -> Compacted:  # noqa: ARG002  # it has no size to meet
        head, body = leading(messages)
        active = apart(body)
        if self.trident:
            active = superseded(active)
            active = collapsed(active, self.run_length, self.run_chars, (self.topics, self.topic_chars))
            active = clustered(active, self.similarity, self.cluster_size)
        previous = active[0].text if active and _is_summary(active[0]) else ""
        active = active[1:] if previous else active
        least = 0 if self.automatic else self.max_tokens
        if len(active) <= self.preserve_recent or sum(map(tokens, active)) < least:
            return Compacted((*head, *((note(previous),) if previous else ()), *rejoined(active)))
        border = _border(active, len(active) - self.preserve_recent)
        gone, tail = active[:border], active[border:]
        lines = _merged(previous, list(self._summary(gone)))
        said = "\n".join((PREAMBLE, "", "Summary:", *lines, "", *([RECENT] if tail else []), RESUME))
        return Compacted((*head, note(said), *rejoined(tail)))

    def _summary(self, gone: Sequence[Message]) -> Iterator[str]:
        """The lines of a summary: what went by role, tools, requests, open work, files, current work, the timeline."""
        roles = Counter(message.role for message in gone)
        yield f"- Scope: {len(gone)} messages ({', '.join(f'{r}={roles[r]}' for r in ('user', 'assistant', 'tool'))})"
        if tools := sorted({call.name for message in gone for call in message.calls}):
            yield f"- Tools: {', '.join(tools)}"
        said = [(message.role, text) for message in gone if (text := _first_text(message))]
        requests = [text for role, text in said if role == "user"]
        yield from self._items("- Requests of the user:", requests[max(0, len(requests) - self.requests) :])
        work = [text for _, text in said if any(word in text.lower() for word in OPEN_WORK)]
        yield from self._items("- Open work:", work[max(0, len(work) - self.open_items) :])
        if files := sorted({file for message in gone for file in _files(message)})[: self.key_files]:
            yield f"- Files: {', '.join(files)}"
        if said:
            yield f"- Current work: {_cut(said[-1][1], self.current_chars)}"
        yield TIMELINE
        names = {call.id: call.name for message in gone for call in message.calls}
        for message in gone:
            yield f"  - {message.role}: {' | '.join(_cut(text, self.line_chars) for text in _told(message, names))}"

    def _items(self, title: str, texts: Sequence[str]) -> Iterator[str]:
        if texts:
            yield title
            yield from (f"  - {_cut(text, self.line_chars)}" for text in texts)


def tokens(message: Message) -> int:
    """Tokens by its own rule: bytes over four, and one for each block; pictures are not counted."""
    return sum(len(text.encode("utf-8", "replace")) // 4 + 1 for text in _weighed(message))


def _weighed(message: Message) -> Iterator[str]:
    for block in message.blocks:
        if isinstance(block, Text | ToolResult):
            yield block.text
        elif isinstance(block, ToolCall):
            yield block.name + block.arguments
        elif isinstance(block, Reasoning):
            yield block.text + (block.signature or "")


def _is_summary(message: Message) -> bool:
    return message.synthetic and message.text.startswith(PREAMBLE)


def _border(active: Sequence[Message], border: int) -> int:
    """Step back while the first kept message begins with a result; one more where the message before holds a call."""
    while 0 < border < len(active) and isinstance(next(iter(active[border].blocks), None), ToolResult):
        border -= 1
        if active[border].calls:
            break
    return border


def _first_text(message: Message) -> str:
    return next((b.text for b in message.blocks if isinstance(b, Text) and b.text.strip()), "")


def _files(message: Message) -> Iterator[str]:
    for text in _weighed(message):
        for word in text.split():
            bare = word.strip(_EDGES)
            if "/" in bare and bare.lower().endswith(ENDINGS):
                yield bare


def _told(message: Message, names: dict[str, str]) -> Iterator[str]:
    for block in message.blocks:
        if isinstance(block, Text):
            yield block.text
        elif isinstance(block, ToolCall):
            yield f"tool_use {block.name}({block.arguments})"
        elif isinstance(block, ToolResult):
            error = "error " if block.is_error else ""
            yield f"tool_result {names.get(block.call_id, '')}: {error}{block.text}"


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[:characters]}…"


def _merged(previous: str, lines: list[str]) -> list[str]:
    """The lines of the summary before, but for its timeline, then the new ones: each a step further in."""
    if not previous:
        return lines
    old = previous.partition("Summary:\n")[2].partition(f"\n{TIMELINE}")[0].split("\n")
    at = lines.index(TIMELINE)
    before = [f"  - {line}" for line in old if line.strip()]
    return ["- Compacted before:", *before, "- Newly compacted:", *(f"  - {line}" for line in lines[:at]), *lines[at:]]
