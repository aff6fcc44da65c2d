"""What `hermes` takes out of messages beside its summary: doubled and old results, long arguments, old pictures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from compactlab.peers._shapes import edited
from compactlab.tools import decoded, path_argument, shell_command, tool_name
from compactlab.transcript import Block, Image, Message, Text, ToolCall, ToolResult

DUPLICATE = "[Duplicate tool output — same content as a more recent call]"
SCREENSHOT = "[screenshot removed to save context]"
STRIPPED = "[Attached image — stripped after compression]"
TRUNCATED = "...[truncated]"


@dataclass(frozen=True)
class Pruning:
    """Lengths in characters: from where a result is described, arguments are opened, and their texts are cut."""

    result_chars: int
    argument_chars: int
    leaf_chars: int

    def pruned(self, messages: Sequence[Message], border: int) -> list[Message]:
        """All messages without doubled results; before *border* long results as a line, long arguments cut."""
        calls = {call.id: call for message in messages for call in message.calls}
        seen: set[str] = set()
        found: list[Message] = []
        for at in range(len(messages) - 1, -1, -1):
            message = self._without_doubles(messages[at], seen)
            found.append(self._lightened(message, calls) if at < border else message)
        return found[::-1]

    def _without_doubles(self, message: Message, seen: set[str]) -> Message:
        """Of equal long results the newest stays, wherever the others stand; called from the newest on."""
        texts = {}
        for at, result in enumerate(message.blocks):
            if isinstance(result, ToolResult) and len(text := result.text) >= self.result_chars:
                if text in seen:
                    texts[at] = DUPLICATE
                seen.add(text)
        return edited(message, texts)

    def _lightened(self, message: Message, calls: dict[str, ToolCall]) -> Message:
        blocks = tuple(self._lighter(block, calls) for block in message.blocks)
        return replace(message, blocks=blocks) if blocks != message.blocks else message

    def _lighter(self, block: Block, calls: dict[str, ToolCall]) -> Block:
        if isinstance(block, ToolCall):
            return replace(block, arguments=self.cut_arguments(block.arguments))
        if not isinstance(block, ToolResult):
            return block
        if any(isinstance(part, Image) for part in block.content):
            return replace(block, content=(*(p for p in block.content if isinstance(p, Text)), Text(SCREENSHOT)))
        if len(block.text) <= self.result_chars or block.text == DUPLICATE:
            return block
        return replace(block, content=(Text(described(calls.get(block.call_id), block.text)),))

    def cut_arguments(self, arguments: str) -> str:
        """Cut the long texts inside JSON arguments; what is no JSON, or short, stays as it is.

        >>> Pruning(200, 20, 4).cut_arguments('{"path": "a.py", "body": "abcdefgh"}')
        '{"path": "a.py", "body": "abcd...[truncated]"}'
        """
        if len(arguments) <= self.argument_chars:
            return arguments
        try:
            parsed = json.loads(arguments)
        except (ValueError, RecursionError):
            return arguments
        return json.dumps(self._cut(parsed), ensure_ascii=False)

    def _cut(self, value: Any) -> Any:  # noqa: ANN401  # any JSON
        if isinstance(value, str):
            return value if len(value) <= self.leaf_chars else value[: self.leaf_chars] + TRUNCATED
        if isinstance(value, dict):
            return {key: self._cut(inner) for key, inner in value.items()}
        return [self._cut(inner) for inner in value] if isinstance(value, list) else value


def described(call: ToolCall | None, text: str) -> str:
    r"""Say in one line what a call did and how much came back.

    >>> described(ToolCall("c", "read_file", '{"path": "a.py"}'), "one\ntwo")
    '[read_file] read a.py (7 chars)'
    >>> described(ToolCall("c", "fetch", '{"url": "example.org", "depth": 2}'), "page")
    '[fetch] url=example.org depth=2 (4 chars)'
    """
    if call is None:
        return f"[tool] {len(text):,} chars"
    kind, size = tool_name(call.name), f"({len(text):,} chars)"
    lines = text.count("\n") + 1
    if kind == "bash":
        return f"[{call.name}] ran `{_short(shell_command(call), 80)}` -> {lines} lines output"
    if kind in {"read", "write", "edit"} and (path := path_argument(call)):
        return f"[{call.name}] {'wrote' if kind == 'write' else kind} {path} {size}"
    if kind in {"grep", "glob"}:
        return f"[{call.name}] {lines} matches for {_short(_first(call), 80)!r}"
    given = " ".join(f"{key}={_short(str(value), 40)}" for key, value in list(decoded(call).items())[:2])
    return " ".join(filter(None, (f"[{call.name}]", given, size)))


def _first(call: ToolCall) -> str:
    arguments = decoded(call)
    return str(arguments.get("pattern") or arguments.get("query") or next(iter(arguments.values()), ""))


def _short(text: str, characters: int) -> str:
    bare = " ".join(text.split())
    return bare if len(bare) <= characters else f"{bare[:characters]}..."


def without_old_pictures(messages: Sequence[Message]) -> list[Message]:
    """Pictures of people before the newest message that has one become a line."""
    newest = next((i for i in range(len(messages) - 1, -1, -1) if _shows(messages[i])), 0)
    return [_stripped(message) if i < newest else message for i, message in enumerate(messages)]


def _shows(message: Message) -> bool:
    return message.role == "user" and any(isinstance(block, Image) for block in message.blocks)


def _stripped(message: Message) -> Message:
    if not any(isinstance(block, Image) for block in message.blocks):
        return message
    blocks = tuple(Text(STRIPPED) if isinstance(block, Image) else block for block in message.blocks)
    return replace(message, blocks=blocks)
