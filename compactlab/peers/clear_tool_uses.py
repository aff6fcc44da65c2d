"""`clear_tool_uses`: the oldest results become a placeholder; the newest uses of tools stay, and so do the calls.

Follows Anthropic's context editing `clear_tool_uses_20250919` as documented in November 2026, all parameters and
defaults: `trigger` (input tokens, or uses of tools), `keep`, `clear_at_least`, `exclude_tools`, `clear_tool_inputs`.
The provider edits what the model sees; the client keeps everything. Tokens are those of the run's own meter. What the
documents leave open is taken as LangChain's client-side copy has it: a use of an excluded tool counts among those that
are kept, and a cleared input is an empty object. The wording of the placeholder is not documented: ours stands.

A target takes the place of the trigger. A trigger that the window could never reach is taken as reached.

Leaves out: the report of what was cleared in the response, the preview by counting tokens, the memory tool's warning
before a clearing, uses of tools that the provider itself runs.

Known faults:

- Age alone decides: a result that is needed goes, a large one among the newest stays.
- Without results to clear it does nothing, however full the window is.
- A placeholder is put in place of results that are shorter than it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from msgspec.structs import replace

from compactlab.errors import SpecError
from compactlab.history import Place, pair
from compactlab.markers import CLEARED
from compactlab.peers import Peer
from compactlab.strategies import Compacted, Context
from compactlab.transcript import Block, Messages, Text, ToolCall, ToolResult

VARIANTS = ("clear_tool_uses(clear_tool_inputs=True)",)


@dataclass(frozen=True, repr=False)
class ClearToolUses(Peer):
    """Clear all but the newest `keep` uses, if that frees `clear_at_least` tokens; inputs of all or some tools too."""

    trigger: int = 100_000
    trigger_type: Literal["input_tokens", "tool_uses"] = "input_tokens"
    keep: int = 3
    clear_at_least: int = 0
    exclude_tools: tuple[str, ...] = ()
    clear_tool_inputs: bool | tuple[str, ...] = False

    choices: ClassVar[dict[str, tuple[str, ...]]] = {"trigger_type": ("input_tokens", "tool_uses")}

    def _check(self, name: str, default: object) -> None:
        value = getattr(self, name)
        if name in ("exclude_tools", "clear_tool_inputs"):
            if not (isinstance(value, bool) and isinstance(default, bool)) and not _names(value):
                raise SpecError(f"{name} is {value!r}; expected a tuple of names of tools, such as ('memory',)")
        else:
            super()._check(name, default)

    def compact(self, messages: Messages, context: Context) -> Compacted:
        uses = sorted(pair(messages).call_of.items())
        weight = context.meter.messages(messages)
        if not self._is_due(weight, len(uses), context):
            return Compacted(messages, ("under the trigger",))
        blocks = {i: list(message.blocks) for i, message in enumerate(messages)}
        cleared = 0
        for result, call in uses[: max(0, len(uses) - self.keep)]:
            cleared += self._clear(messages, blocks, result, call)
        done = tuple(
            m if tuple(blocks[i]) == m.blocks else replace(m, blocks=tuple(blocks[i])) for i, m in enumerate(messages)
        )
        freed = weight - context.meter.messages(done)
        if not cleared or (self.clear_at_least and freed < self.clear_at_least):
            why = f"would free {freed:,} tokens" if cleared else "no use of a tool to clear"
            return Compacted(messages, (why,))
        return Compacted(done, (f"{cleared} tool uses cleared",))

    def _is_due(self, weight: int, uses: int, context: Context) -> bool:
        if context.target is not None:
            return weight > context.target
        if self.trigger_type == "tool_uses":
            return context.window is None or uses > self.trigger
        return context.window is None or context.window <= self.trigger or weight > self.trigger

    def _clear(self, messages: Messages, blocks: dict[int, list[Block]], result: Place, call: Place) -> int:
        """Put the placeholder in, and clear the input where that is asked for; 1 where it was not done before."""
        asked, old = messages[call.message].blocks[call.block], messages[result.message].blocks[result.block]
        if not isinstance(asked, ToolCall) or not isinstance(old, ToolResult) or asked.name in self.exclude_tools:
            return 0
        inputs = self.clear_tool_inputs
        if inputs is True or (isinstance(inputs, tuple) and asked.name in inputs):
            blocks[call.message][call.block] = replace(asked, arguments="{}")
        blocks[result.message][result.block] = replace(old, content=(Text(CLEARED),))
        return int(old.content != (Text(CLEARED),))


def _names(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(name, str) for name in value)
