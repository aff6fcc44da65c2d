"""The three passes that `claw_code` may run before its summary: each looks at messages alone, no pair and no tail."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from compactlab.strategies import note
from compactlab.tools import path_argument, tool_name
from compactlab.transcript import Message, ToolCall

COLLAPSED = "[Collapsed Conversation]"
_FILE_TOOLS = frozenset({"read", "write", "edit"})


def clustered_line(count: int) -> str:
    """The words in the place of *count* messages that resemble each other."""
    return f"[Clustered {count} messages]"


def superseded(messages: Sequence[Message]) -> list[Message]:
    """Without every message that reads, writes or edits a file before the last write or edit of it."""
    last: dict[str, int] = {}
    touched: list[tuple[str, ...]] = []
    for at, message in enumerate(messages):
        touched.append(tuple(path for call in message.calls if (path := _path(call))) + _told_paths(message))
        last.update({path: at for call in message.calls if (path := _path(call)) and tool_name(call.name) != "read"})
    return [m for at, m in enumerate(messages) if not any(at < last.get(path, -1) for path in touched[at])]


def _path(call: ToolCall) -> str:
    return path_argument(call) if tool_name(call.name) in _FILE_TOOLS else ""


def _told_paths(message: Message) -> tuple[str, ...]:
    """Files that results name as the harness's own do: in a JSON object, under `filePath`."""
    found = []
    for result in message.results:
        if '"filePath"' in result.text[:4_000]:
            try:
                told = json.loads(result.text)
            except (ValueError, RecursionError):
                continue
            path = told.get("filePath") if isinstance(told, dict) else None
            found += [path] if isinstance(path, str) else []
    return tuple(found)


def collapsed(messages: Sequence[Message], length: int, characters: int, topics: tuple[int, int]) -> list[Message]:
    """Runs of *length* and more messages without tools, each under *characters*, become counts and a few beginnings."""
    found: list[Message] = []
    run: list[Message] = []
    for message in (*messages, None):
        if message is not None and _is_talk(message, characters):
            run.append(message)
            continue
        found += [_told(run, topics)] if len(run) >= max(1, length) else run
        run = []
        found += [message] if message is not None else []
    return found


def _is_talk(message: Message, characters: int) -> bool:
    return not message.calls and not message.results and len(message.text) < characters


def _told(run: Sequence[Message], topics: tuple[int, int]) -> Message:
    roles = Counter(message.role for message in run)
    said = [message.text[: topics[1]] for message in run if message.text.strip()][: topics[0]]
    counts = ", ".join(f"{count} {role}" for role, count in sorted(roles.items()))
    return note("\n".join([f"{COLLAPSED} {counts}", *(f"- {text}" for text in said)]))


class _Traits(NamedTuple):
    """What messages are compared by."""

    role: str
    tools: frozenset[str]
    files: frozenset[str]
    length: int

    def marks(self) -> Iterator[tuple[object, ...]]:
        """Under which of these another message must be found to resemble this one by 0.6 or more.

        Of tools and files together they must share at least half: the same tools, with a file or the length in common,
        or none with files at all, or both partly.
        """
        yield from (("file", self.role, file) for file in self.files)
        yield ("length", self.role, self.length)
        if not self.files:
            yield from (("tool", self.role, tool) for tool in self.tools or ("",))


def clustered(messages: Sequence[Message], least: float, size: int) -> list[Message]:
    """Messages of one role that resemble each other become one line at the place of the first, *size* and more of them.

    Each joins the first one before it that it resembles. Tools count 0.4, files 0.4, the ratio of lengths 0.2.
    """
    traits = [_traits(message) for message in messages]
    found: dict[tuple[object, ...], list[int]] = defaultdict(list)
    members: dict[int, list[int]] = {}
    for at, own in enumerate(traits):
        near = sorted({first for key in own.marks() for first in found[key]})
        first = next((i for i in near if _similarity(traits[i], own) >= least), at)
        members.setdefault(first, []).append(at)
        if first == at:
            for key in own.marks():
                found[key].append(at)
    lines = {first: [traits[i] for i in of] for first, of in members.items() if len(of) >= max(2, size)}
    gone = {i for first in lines for i in members[first]}
    return [_line(lines[at]) if at in lines else m for at, m in enumerate(messages) if at in lines or at not in gone]


def _traits(message: Message) -> _Traits:
    tools = frozenset(call.name for call in message.calls)
    files = frozenset(path for call in message.calls if (path := path_argument(call)))
    length = sum(len(getattr(block, "text", "") or getattr(block, "arguments", "")) for block in message.blocks)
    return _Traits(message.role, tools, files, length)


def _similarity(one: _Traits, other: _Traits) -> float:
    ratio = min(one.length, other.length) / max(one.length, other.length, 1) if one.length != other.length else 1.0
    return 0.4 * _shared(one.tools, other.tools) + 0.4 * _shared(one.files, other.files) + 0.2 * ratio


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 1.0


def _line(alike: Sequence[_Traits]) -> Message:
    tools = sorted({tool for traits in alike for tool in traits.tools})
    files = sorted({file for traits in alike for file in traits.files})
    named = [f"tools: {', '.join(tools)}" if tools else "", f"files: {', '.join(files)}" if files else ""]
    return note("; ".join([clustered_line(len(alike)), *filter(None, named)]))
