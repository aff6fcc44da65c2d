"""`microcompact`: old results of known tools become one line; their calls, and the newest results, stay.

Follows the seed document's Microcompact: seven tools, the newest five results kept, one fixed placeholder. Tool names
are compared without case, and by what other harnesses call the same tool. Two things that the seeds lack: errors may
keep their ends, and a giant result may be shortened where it stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from msgspec.structs import replace

from compactlab.errors import SpecError
from compactlab.history import Place, pair, protected
from compactlab.markers import CLEARED, MIDDLE_CUT, lines_cleared, middle_cut
from compactlab.strategies import Compacted, Context, Strategy
from compactlab.tokens import Meter
from compactlab.tools import tool_name
from compactlab.transcript import Block, Messages, Text, ToolCall, ToolResult

ALIASES = ("micro", "tool_results")
TOOLS = ("read", "bash", "grep", "glob", "list_dir", "edit", "write")
ENDS = 5
"""Lines that stay at either end of an error with `errors="ends"`."""

Errors = Literal["clear", "ends", "keep"]


@dataclass(frozen=True, repr=False)
class ClearToolResults(Strategy):
    """Clear all but the newest `keep_recent` results of `tools`; one lighter than the placeholder stays.

    A result that its tool marked as useless goes at once, whatever its age and tool, unless it is an error.
    `errors` says what becomes of old results that are errors: cleared like any other, cut to their first and last five
    lines, or kept. With `max_result_tokens` any remaining result of any tool that weighs more loses its middle. Notes
    name the calls whose results were cleared or shortened. A token target plays no part.
    """

    keep_recent: int = 5
    tools: tuple[str, ...] = TOOLS
    errors: Errors = "clear"
    max_result_tokens: int | None = None

    def __post_init__(self) -> None:
        self.require_whole("keep_recent")
        if not isinstance(self.tools, tuple) or not all(isinstance(tool, str) for tool in self.tools):
            raise SpecError(f"tools is {self.tools!r}; expected a tuple of names, such as ('read', 'bash')")
        if self.errors not in get_args(Errors):
            raise SpecError(f"errors is {self.errors!r}; expected one of {', '.join(get_args(Errors))}")
        if self.max_result_tokens is not None:
            self.require_whole("max_result_tokens", 50)

    def compact(self, messages: Messages, context: Context) -> Compacted:
        wanted = {tool_name(tool) for tool in self.tools}
        call_of = pair(messages).call_of
        useless = {result for result in call_of if _is_useless(messages, result)}
        places = sorted(r for r, call in call_of.items() if r not in useless and _name(messages, call) in wanted)
        old = {*useless, *places[: max(0, len(places) - self.keep_recent)]}
        done: dict[str, list[str]] = {"cleared": [], "shortened": []}
        held = protected(messages)
        compacted = []
        for position, message in enumerate(messages):
            blocks = (
                message.blocks
                if position in held or ToolResult not in map(type, message.blocks)
                else tuple(
                    self._lightened(block, Place(position, i) in old, context.meter, done)
                    for i, block in enumerate(message.blocks)
                )
            )
            compacted.append(replace(message, blocks=blocks) if blocks != message.blocks else message)
        return Compacted(tuple(compacted), tuple(f"{what}: {', '.join(ids)}" for what, ids in done.items() if ids))

    def _lightened(self, block: Block, is_old: bool, meter: Meter, done: dict[str, list[str]]) -> Block:
        if not isinstance(block, ToolResult):
            return block
        lighter = block
        if is_old and not (block.is_error and self.errors == "keep"):
            ends = block.is_error and self.errors == "ends"
            lighter = replace(block, content=(Text(_ends(block.text) if ends else CLEARED),))
        if self.max_result_tokens is not None and lighter.text != CLEARED:
            lighter = _shortened(lighter, self.max_result_tokens, meter)
        if meter.block(lighter) >= meter.block(block):
            return block
        done["cleared" if lighter.text == CLEARED else "shortened"].append(block.call_id)
        return lighter


def _name(messages: Messages, place: Place) -> str:
    call = messages[place.message].blocks[place.block]
    return tool_name(call.name) if isinstance(call, ToolCall) else ""


def _is_useless(messages: Messages, place: Place) -> bool:
    """Whether a tool said of its own result that nobody needs it; of an error that counts for nothing."""
    result = messages[place.message].blocks[place.block]
    return isinstance(result, ToolResult) and result.useless and not result.is_error


def _ends(text: str) -> str:
    lines = text.split("\n")
    if len(lines) <= 2 * ENDS + 1:
        return text
    return "\n".join([*lines[:ENDS], lines_cleared(len(lines) - 2 * ENDS), *lines[-ENDS:]])


def _shortened(block: ToolResult, tokens: int, meter: Meter) -> ToolResult:
    """The result without the middle of its text, so that it weighs at most *tokens*; once cut it stays as it is."""
    text = block.text
    if meter.block(block) <= tokens or MIDDLE_CUT.search(text):
        return block
    pictures = tuple(part for part in block.content if not isinstance(part, Text))
    mark = f"\n{middle_cut(len(text))}\n"
    room = tokens - meter.block(replace(block, content=(Text(mark), *pictures)))
    while True:
        head = meter.truncated(text, room * 2 // 3)
        tail = text[len(head) :][-(len(head) // 2) :] if head else ""
        while tail and meter.text(tail) > room // 3:
            tail = tail[len(tail) // 4 + 1 :]
        shorter = replace(block, content=(Text(head + mark + tail), *pictures))
        if meter.block(shorter) <= tokens or room <= 0:
            return shorter
        room -= meter.block(shorter) - tokens + 1
