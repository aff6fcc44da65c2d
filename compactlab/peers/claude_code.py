"""`claude_code`: old results are cleared; if that is not enough, a summary and the newest files are all that is left.

Follows Claude Code as of November 2026, as far as its documentation says it, and, where that is silent, reports of what
was measured: the threshold (window less 20,000 and 13,000 tokens), the newest five results that stay, the tools whose
results go, the nine sections. The order (results first, then the summary) and what comes back behind a summary (up to
five files that were touched last, one over 5,000 tokens by its path alone) are documented. `trigger='manual'` is its
`/compact`, `focus` what is written behind it. The prompt is ours and asks for the same sections.

A file comes back from disk in the original. Here it is what the session last showed of it: the result of the last read,
or what was last written; a file that was edited since comes back by its path alone.

Leaves out: what stands on disk only (CLAUDE.md, rules, memory, the plan, skills), hooks, the clearing after an idle
hour, the breaker after three failures.

Known faults:

- Nothing is kept word for word: no message of a person, not even the newest, and no open call.
- Each pass that sums up writes the whole prefix anew: no prompt cache holds.
- In a window of 33,000 tokens or less the threshold is zero or negative: each pass goes to the end.
- A blank reply, or one that did something else than it was asked, is a summary like any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from msgspec.structs import replace

from compactlab.errors import SpecError
from compactlab.history import Place, pair
from compactlab.llm import Request
from compactlab.llm.prompts import rendered
from compactlab.markers import CLEARED
from compactlab.peers import Peer
from compactlab.peers._asking import asked, plain_summary
from compactlab.peers._shapes import edited, leading
from compactlab.strategies import Compacted, Context, note
from compactlab.tools import decoded, path_argument, tool_name
from compactlab.transcript import Messages, ToolCall

TOOLS = ("Read", "Bash", "Grep", "Glob", "WebSearch", "WebFetch", "Edit", "Write")
HEADING = "[This session goes on from an earlier one, whose context was full. What it held:]"
FILES = "[Files as they were last seen]"

_CLEARABLE = frozenset(map(tool_name, (*TOOLS, "web_search", "web_fetch")))
_WRITTEN = ("content", "contents", "file_text", "text")

VARIANTS = ("claude_code(trigger='manual')",)


@dataclass(frozen=True, repr=False)
class ClaudeCode(Peer):
    """Clear results but for the newest `keep_results`; over the threshold sum up everything, and bring files back."""

    trigger: Literal["auto", "manual"] = "auto"
    focus: str = ""
    keep_results: int = 5
    window: int = 200_000
    summary_tokens: int = 20_000
    buffer_tokens: int = 13_000
    files: int = 5
    file_tokens: int = 5_000

    choices: ClassVar[dict[str, tuple[str, ...]]] = {"trigger": ("auto", "manual")}
    uses_model: ClassVar[bool] = True

    def _check(self, name: str, default: object) -> None:
        if name != "focus":
            super()._check(name, default)
        elif not isinstance(self.focus, str):
            raise SpecError(f"focus is {self.focus!r}; expected a text")

    def compact(self, messages: Messages, context: Context) -> Compacted:
        if self.trigger == "manual":
            return self._summed_up(messages, context)
        weight = context.meter.messages(messages)
        threshold = self.threshold(context, weight)
        if weight < threshold or (context.target is not None and weight <= threshold):
            return Compacted(messages, ("under the threshold",))
        cleared = self._cleared(messages)
        now = context.meter.messages(cleared)
        if now < weight and now < threshold:
            return Compacted(cleared, ("results cleared",))
        return self._summed_up(cleared, context)

    def threshold(self, context: Context, weight: int) -> int:
        """Tokens from which it compacts: the target, or the window less what is set aside; at most *weight*."""
        if context.target is not None:
            return context.target
        aside = self.summary_tokens + self.buffer_tokens
        return min(self.window - aside, weight) if context.window is None else context.window - aside

    def _cleared(self, messages: Messages) -> Messages:
        results = [at for at, call in sorted(_called(messages).items()) if tool_name(call.name) in _CLEARABLE]
        texts: dict[int, dict[int, str]] = {}
        for at in results[: max(0, len(results) - self.keep_results)]:
            texts.setdefault(at.message, {})[at.block] = CLEARED
        return tuple(edited(message, texts.get(i, {})) for i, message in enumerate(messages))

    def _summed_up(self, messages: Messages, context: Context) -> Compacted:
        head, body = leading(messages)
        if not body:
            return Compacted(messages)
        prompts = context.prompts
        focus = f"\nGive most room to this: {self.focus}\n" if self.focus else ""
        task = prompts.summary(rendered(body)) + focus
        request = Request("summary", prompts.summary_system, task, body, self.summary_tokens, None)
        summary = plain_summary(asked(context, replace(request, prompt_version=prompts.version)))
        files = self._files(body, context)
        left = (note(f"{HEADING}\n\n{summary}"), *((note(files),) if files else ()))
        return Compacted((*head, *left), ("summary",))

    def _files(self, body: Messages, context: Context) -> str:
        """The files that were touched last, newest first, whole where the session shows them and they are small."""
        seen: dict[str, str] = {}
        before = {message.source: message for message in context.originals}
        whole = tuple(before.get(message.source, message) for message in body)
        for at, call in sorted(_called(whole).items(), reverse=True):
            path = path_argument(call)
            if tool_name(call.name) in {"read", "edit", "write"} and path and path not in seen:
                seen[path] = _shown(whole, at, call)
            if len(seen) == self.files:
                break
        parts = (f"{path}{self._within(text, context)}" for path, text in seen.items())
        return "\n".join((FILES, *parts)) if seen else ""

    def _within(self, text: str, context: Context) -> str:
        return f":\n{text}" if text and context.meter.text(text) <= self.file_tokens else ""


def _called(messages: Messages) -> dict[Place, ToolCall]:
    """The call that each result answers."""
    found = {}
    for result, call in pair(messages).call_of.items():
        block = messages[call.message].blocks[call.block]
        if isinstance(block, ToolCall):
            found[result] = block
    return found


def _shown(messages: Messages, at: Place, call: ToolCall) -> str:
    """What a file held after a call, as far as the session shows it."""
    name = tool_name(call.name)
    result = messages[at.message].results
    if name == "read":
        return next((r.text for r in result if r.call_id == call.id and not r.is_error), "")
    arguments = decoded(call)
    text = next((arguments[key] for key in _WRITTEN if key in arguments), "") if name == "write" else ""
    return text if isinstance(text, str) else ""
