"""`souveraine`: the five strategies of the harness that ours grew from, as its public code has them, faults included.

Follows Fimeg/Souveraine as of August 2026, the fourth version of its code. `strategy` is one of `cull` (the default of
its main agent), `microcompact`, `sliding_window`, `sliding_reflect` and `summary`. Messages are counted, not units; the
first one always stays. A note is a system message at the very end.

Leaves out: the report in the first person, the audit file, the rescue of an agent that has no context left, the repair
of pairs when a session is sent (the raw result here is what it stores), the two sets of defaults: these are the ones
of the code.

Known faults:

- `summary` never steps back from between a call and its results; the slides do, by eight messages at most.
- The step back looks at the first message alone, not at ids; it can reach the beginning, where `sliding_reflect` ends
  in a panic (an error here).
- Of what a model is to read only the beginning is shown: `max_summary_length` times four characters.
- A blank summary is taken, `<analysis>` stays in, the note of `sliding_reflect` has two headings.
- A note stands behind the newest messages, as a system message, where some providers take none.
- A plain slide leaves a silent gap. `cull` takes one-word answers, and messages without any block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from compactlab.llm import ModelError, Request
from compactlab.llm.checks import is_no_answer
from compactlab.llm.prompts import rendered
from compactlab.markers import CLEARED, SUMMARY, THREADS
from compactlab.peers import Peer
from compactlab.peers._asking import asked
from compactlab.peers._shapes import apart, edited, rejoined
from compactlab.strategies import Compacted, Context
from compactlab.strategies.cull import TRIVIAL
from compactlab.strategies.microcompact import TOOLS
from compactlab.tools import tool_name
from compactlab.transcript import Message, Messages, Reasoning, Text, ToolResult

STRATEGIES = ("cull", "microcompact", "sliding_window", "sliding_reflect", "summary")
VARIANTS = tuple(f"souveraine(strategy={name!r})" for name in STRATEGIES[1:])
REFLECT_TOKENS = 2_048


@dataclass(frozen=True, repr=False)
class Souveraine(Peer):
    """Compact by one of its five strategies; the newest `preserve_recent` messages stay."""

    strategy: Literal["cull", "microcompact", "sliding_window", "sliding_reflect", "summary"] = "cull"
    preserve_recent: int = 20
    max_summary_length: int = 2_048
    keep_results: int = 5
    steps_back: int = 8
    least_messages: int = 3

    choices: ClassVar[dict[str, tuple[str, ...]]] = {"strategy": STRATEGIES}

    @property
    def uses_model(self) -> bool:  # type: ignore[override]  # true of the object, not of the class
        """True of the two that write a note."""
        return self.strategy in {"sliding_reflect", "summary"}

    def compact(self, messages: Messages, context: Context) -> Compacted:
        active = apart(messages)
        if self.strategy == "microcompact":
            return Compacted(rejoined(self._cleared(active)))
        if len(active) < self.least_messages:
            return Compacted(messages)
        if self.strategy == "cull":
            return Compacted(rejoined(self._culled(active)))
        if self.strategy == "summary":
            border = len(active) - min(self.preserve_recent, len(active) - 2)
            text = self._summary(active[1:border], context)
            return Compacted((*rejoined([active[0], *active[border:]]), _noted(text)))
        return self._slid(active, context)

    def _cleared(self, active: Sequence[Message]) -> list[Message]:
        wanted = {call.id for message in active for call in message.calls if tool_name(call.name) in TOOLS}
        ordered = [call.id for message in active for call in message.calls if call.id in wanted]
        old = set(ordered[: max(0, len(ordered) - self.keep_results)])
        return [
            edited(message, {at: CLEARED for at, b in enumerate(message.blocks) if _is_of(b, old)})
            for message in active
        ]

    def _culled(self, active: Sequence[Message]) -> list[Message]:
        border = len(active) - min(self.preserve_recent, len(active) - 2)
        return [m for at, m in enumerate(active) if at == 0 or at >= border or not _is_trivial(m)]

    def _slid(self, active: Sequence[Message], context: Context) -> Compacted:
        border = self._border(active)
        if border is None:
            return Compacted(rejoined(active))
        if self.strategy == "sliding_window":
            return Compacted(rejoined([active[0], *active[max(1, border) :]]))
        if border < 1:
            raise IndexError(f"the stretch from message 1 to {border} begins behind its end")
        gone = active[1:border]
        kept = rejoined([active[0], *active[border:]])
        if not gone:
            return Compacted(rejoined(active))
        try:
            reply = self._reflection(gone, active[0], context)
        except ModelError as error:
            if is_no_answer(error):
                raise
            return Compacted(kept, (f"a plain slide: {error}",), fell_back=True)
        return Compacted((*kept, *([_noted(f"{THREADS}\n{reply}")] if reply.strip() else [])))

    def _border(self, active: Sequence[Message]) -> int | None:
        """Where the tail begins, stepped back from results; None where nothing would go."""
        keep = min(self.preserve_recent, len(active) - 1)
        if keep + 1 >= len(active):
            return None
        border = len(active) - keep
        for _ in range(self.steps_back):
            if not (0 < border < len(active) and (active[border].role == "tool" or active[border].results)):
                break
            border -= 1
        return border

    def _shown(self, gone: Sequence[Message]) -> str:
        return rendered(gone)[: self.max_summary_length * 4]

    def _reflection(self, gone: Sequence[Message], first: Message, context: Context) -> str:
        prompts = context.prompts
        system = prompts.reflecting(first.text if first.role == "system" else "")
        task = prompts.reflect(self._shown(gone))
        request = Request("reflect", system, task, tuple(gone), REFLECT_TOKENS, prompt_version=prompts.version)
        return asked(context, request)

    def _summary(self, gone: Sequence[Message], context: Context) -> str:
        prompts, longest = context.prompts, max(1, self.max_summary_length)
        task = prompts.summary(self._shown(gone))
        request = Request("summary", prompts.summary_system, task, tuple(gone), longest, prompt_version=prompts.version)
        return asked(context, request)


def _is_of(block: object, ids: set[str]) -> bool:
    return isinstance(block, ToolResult) and block.call_id in ids


def _is_trivial(message: Message) -> bool:
    """True if each block is a trivial word or reasoning; also of a message without blocks."""
    if message.role in {"system", "tool"} or message.calls or message.results:
        return False
    return all(
        isinstance(block, Reasoning) or (isinstance(block, Text) and _is_trivial_text(block.text))
        for block in message.blocks
    )


def _is_trivial_text(text: str) -> bool:
    bare = text.strip().lower()
    return not bare or bare in TRIVIAL


def _noted(text: str) -> Message:
    return Message("system", (Text(f"{SUMMARY}\n{text}"),), synthetic=True)
