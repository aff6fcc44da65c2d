"""`openharness`: clear old results, collapse long texts, then a digest by code or a summary by a model.

Follows HKUDS/OpenHarness as of May 2026, itself a translation of Claude Code's compaction. The steps of an automatic
pass: results but for the newest five are cleared; if that is not enough, long texts of the older part lose their
middles; if that is not enough, the older part becomes one line a message (session memory); what is too short for that
goes to a model. `trigger='manual'` is its `/compact`: straight to the model. Names of tools are compared as
`compactlab.tools` translates them. Counts characters over four, times 4/3; no system prompt, no thinking.

Leaves out: the attachments (goals, files, plans, skills) that it restores from its own records, hooks, timeouts, the
session memory file on disk, the breaker after three failures (every pass here is a new query).

Known faults:

- Prompt-too-long retries and attempts share one count: three such errors end with no summary, and the unchanged
  messages, with a marker more, are given as a success.
- Session memory comes before the model and keeps its oldest lines: over 16 messages no model is ever asked.
- The threshold of a window under 33,000 tokens is negative: each pass goes to the end of the ladder.
- An agent's message loses its words with its calls where the results do not all stand right behind it.
- The request that was asked first is kept nowhere but in the digest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from msgspec.structs import replace

from compactlab.llm import Request, TooLong
from compactlab.llm.prompts import rendered
from compactlab.markers import CLEARED
from compactlab.peers import Peer
from compactlab.peers._asking import asked, plain_summary
from compactlab.peers._shapes import call_ids, characters, edited, images_in, leading, result_ids, together
from compactlab.strategies import Compacted, Context, note
from compactlab.tools import tool_name
from compactlab.transcript import Block, Message, Messages, Text, ToolCall, ToolResult

VARIANTS = ("openharness(trigger='manual')",)

TOOLS = ("read_file", "bash", "grep", "glob", "web_search", "web_fetch", "edit_file", "write_file")
BOUNDARY = "[Compact boundary marker]"
CUT_OFF = "[earlier conversation truncated for compaction retry]"

_Entries = list[Messages]
_CLEARABLE = frozenset(map(tool_name, TOOLS))


@dataclass(frozen=True, repr=False)
class OpenHarness(Peer):
    """Climb its ladder until the threshold is passed, or summarise at once; the newest `preserve_recent` stay."""

    trigger: Literal["auto", "manual"] = "auto"
    keep_results: int = 5
    preserve_recent: int = 6
    memory_recent: int = 12
    memory_lines: int = 48
    memory_chars: int = 4_000
    memory_line_chars: int = 160
    window: int = 200_000
    summary_tokens: int = 20_000
    buffer_tokens: int = 13_000
    collapse_chars: int = 2_400
    collapse_head: int = 900
    collapse_tail: int = 500
    clearable_chars: int = 4_000
    image_tokens: int = 3_072
    attempts: int = 3

    choices: ClassVar[dict[str, tuple[str, ...]]] = {"trigger": ("auto", "manual")}
    uses_model: ClassVar[bool] = True

    def compact(self, messages: Messages, context: Context) -> Compacted:
        head, body = leading(messages)
        weight = self.estimate(body)
        threshold = self.threshold(context, weight)
        if context.target is not None and weight < threshold:
            return Compacted(messages, ("under the threshold",))
        if self.trigger == "manual":
            body, said = self._summarised(self._cleared(body), context)
        else:
            body, said = self._climbed(body, threshold, context)
        return Compacted((*head, *body), (said,))

    def threshold(self, context: Context, weight: int) -> int:
        """Tokens from which it compacts: the target, or the window less what is set aside; at most *weight*."""
        if context.target is not None:
            return context.target
        aside = self.summary_tokens + self.buffer_tokens
        return min(self.window - aside, weight) if context.window is None else context.window - aside

    def estimate(self, messages: Sequence[Message]) -> int:
        """Tokens by its own rule: a quarter of the characters of each block, a flat price a picture, and a third."""
        pictures = self.image_tokens * sum(map(images_in, messages))
        return int((pictures + sum(_quarter(block) for m in messages for block in m.blocks)) * 4 / 3)

    def _climbed(self, body: Messages, threshold: int, context: Context) -> tuple[Messages, str]:
        """The messages after the step that ended the climb, and which one it was."""
        weight = self.estimate(body)
        cleared = self._cleared(body)
        if (now := self.estimate(cleared)) < min(weight, threshold):
            return cleared, "microcompact"
        collapsed = self._collapsed(cleared)
        if (lower := self.estimate(collapsed)) >= now:
            collapsed, lower = cleared, now
        if lower < threshold and context.target is not None:
            return collapsed, "context collapse"
        remembered = self._remembered(collapsed)
        if remembered and (self.estimate(remembered) < lower or len(together(remembered)) < len(together(collapsed))):
            return remembered, "session memory"
        return self._summarised(collapsed, context)

    def _cleared(self, body: Messages) -> Messages:
        """Step one: old results of its tools, of any MCP tool, and any long one, become the placeholder."""
        names = {call.id: call.name for message in body for call in message.calls}
        places = [
            (i, k)
            for i, message in enumerate(body)
            for k, block in enumerate(message.blocks)
            if isinstance(block, ToolResult) and self._is_clearable(names.get(block.call_id, ""), block)
        ]
        old: dict[int, dict[int, str]] = {}
        for i, k in places[: max(0, len(places) - max(1, self.keep_results))]:
            old.setdefault(i, {})[k] = CLEARED
        return tuple(edited(message, old.get(i, {})) for i, message in enumerate(body))

    def _is_clearable(self, name: str, result: ToolResult) -> bool:
        is_known = tool_name(name) in _CLEARABLE or name.startswith("mcp__")
        return is_known or len(result.text) >= self.clearable_chars

    def _collapsed(self, body: Messages) -> Messages:
        """Step two: long texts of the older part keep their ends."""
        entries = together(body)
        if len(entries) <= self.preserve_recent + 2:
            return body
        older = sum(map(len, entries[: len(entries) - self.preserve_recent]))
        return tuple(self._ends(message) if i < older else message for i, message in enumerate(body))

    def _ends(self, message: Message) -> Message:
        texts = {}
        for at, block in enumerate(message.blocks):
            if isinstance(block, Text | ToolResult) and len(text := block.text) > self.collapse_chars:
                gone = len(text) - self.collapse_head - self.collapse_tail
                tail = text[len(text) - self.collapse_tail :]
                texts[at] = f"{text[: self.collapse_head]}\n...[collapsed {gone} chars]...\n{tail}"
        return edited(message, texts)

    def _remembered(self, body: Messages) -> Messages:
        """Step three: the older part as one line a message, the oldest first, as many as fit; nothing if too few."""
        entries = together(body)
        recent = max(self.preserve_recent, self.memory_recent)
        if len(entries) <= recent + 4:
            return ()
        older, tail = _parted(entries, recent)
        lines: list[str] = []
        left = self.memory_chars
        for line in self._lines(older):
            left -= len(line) + 1
            if left < 0 or len(lines) == self.memory_lines:
                break
            lines.append(line)
        return (_boundary("session memory", body), _continued("\n".join(lines)), *_sound(tail))

    def _lines(self, entries: _Entries) -> Iterator[str]:
        for entry in entries:
            text = " ".join(" ".join(message.text for message in entry).split())
            calls = [call.name for message in entry for call in message.calls]
            if text:
                yield f"{entry[0].role}: {text[: self.memory_line_chars]}"
            elif calls:
                yield f"{entry[0].role}: called {', '.join(calls[:4])}"
            elif result_ids(entry):
                yield "user: tool results came back"

    def _summarised(self, body: Messages, context: Context) -> tuple[Messages, str]:
        """The last step: the older part goes to a model; without a summary all stays, and a marker comes on top."""
        entries = together(body)
        if len(entries) <= self.preserve_recent:
            return body, "too few messages to summarise"
        older, tail = _parted(entries, self.preserve_recent)
        summary = self._asked(older, context)
        if not summary:
            return (_boundary("no summary", body), *body), "the summary came back empty: nothing was compacted"
        return (_boundary("summary", body), _continued(summary), *_sound(tail)), "summary"

    def _asked(self, older: _Entries, context: Context) -> str:
        """The summary; empty where the request was too long at each attempt, a fifth of its rounds less at each."""
        prompts = context.prompts
        for _ in range(self.attempts):
            material = tuple(message for entry in older for message in entry)
            task = prompts.summary(rendered(material))
            request = Request("summary", prompts.summary_system, task, material, self.summary_tokens, None)
            try:
                return plain_summary(asked(context, replace(request, prompt_version=prompts.version)))
            except TooLong:
                older = _shortened(older)
        return ""


def _quarter(block: Block) -> int:
    if isinstance(block, Text | ToolResult):
        return max(1, math.ceil(len(block.text) / 4))
    return max(1, math.ceil((len(block.name) + len(block.arguments)) / 4)) if isinstance(block, ToolCall) else 0


def _parted(entries: _Entries, recent: int) -> tuple[_Entries, _Entries]:
    """The older part and the newest entries; the border steps back from between a call and its results."""
    border = max(0, len(entries) - recent)
    while 0 < border < len(entries) and call_ids(entries[border - 1]) & result_ids(entries[border]):
        border -= 1
    return entries[:border], entries[border:]


def _sound(tail: _Entries) -> Iterator[Message]:
    """The tail without empty messages of the agent, calls that are not all answered next, results without a call."""
    asked_for: set[str] = set()
    for at, entry in enumerate(tail):
        ids = call_ids(entry)
        if entry[0].role == "assistant":
            answered = result_ids(tail[at + 1]) if at + 1 < len(tail) else set()
            asked_for = ids if ids <= answered else set()
            if characters(entry[0]) and ids <= answered:
                yield from entry
        elif entry[0].role == "tool":
            for message in entry:
                kept = tuple(b for b in message.blocks if not isinstance(b, ToolResult) or b.call_id in asked_for)
                if kept:
                    yield message if len(kept) == len(message.blocks) else replace(message, blocks=kept)
        else:
            yield from entry


def _shortened(older: _Entries) -> _Entries:
    """The older part without the oldest fifth of its rounds; a round begins with a person's words."""
    starts = [i for i, entry in enumerate(older) if i == 0 or (entry[0].role == "user" and entry[0].text)]
    if len(starts) < 2:
        return older
    left = older[starts[min(max(1, len(starts) // 5), len(starts) - 1)] :]
    return [(note(CUT_OFF),), *left] if left[0][0].role == "assistant" else left


def _boundary(kind: str, body: Messages) -> Message:
    return note(f"{BOUNDARY}\nkind: {kind}; before it stood {len(together(body))} messages")


def _continued(summary: str) -> Message:
    return note(
        f"An earlier part of this session was compacted. What it held:\n\n{summary}\n\n"
        "The newest messages follow word for word. Go on with the work where it stands; do not speak of this note."
    )
