"""Transcripts as rollout files: records of the current version, and keys of our own for what it cannot hold."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from compactlab.errors import TranscriptError
from compactlab.readers._own_blocks import block_to
from compactlab.readers.codex._history import Place
from compactlab.readers.codex._own import JOINS, NEW, SYNTHETIC, WHOLE, add
from compactlab.shapes import openai_items
from compactlab.shapes.openai_responses import Assembly, to_items
from compactlab.shapes.parts import json_text
from compactlab.transcript import Message, Reasoning, Text, ToolResult, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from compactlab.transcript import RecordedCompaction, Usage

Wire = dict[str, Any]
_SOURCES: dict[str, Any] = {"primary": "cli", "subagent": {"subagent": "other"}}
_SUBCONSCIOUS = {"subagent": "memory_consolidation"}


def write(transcripts: Iterable[Transcript]) -> str:
    """Write one session as a rollout; several are a `TranscriptError`, since a rollout holds one."""
    given = tuple(transcripts)
    if len(given) != 1:
        raise TranscriptError(f"codex holds one session a file, and these are {len(given)}")
    return "".join(f"{json_text(record)}\n" for record in _records(given[0]))


def _records(transcript: Transcript) -> Iterator[Wire]:
    prompted = _is_prompted(transcript)
    first = next((message.timestamp for message in transcript.messages if message.timestamp), "")
    began = transcript.messages[0].timestamp if prompted else first
    yield _record("session_meta", _meta(transcript, first, prompted=prompted), began)
    if transcript.title:
        yield _record("event_msg", {"type": "thread_name_updated", "thread_name": transcript.title}, first)
    items = _Items()
    counts = _Counts(transcript.usage)
    compactions = sorted(transcript.compactions, key=lambda compaction: compaction.position)
    for index, message in enumerate((*transcript.messages, None)):
        while compactions and (compactions[0].position <= index or message is None):
            yield _record("compacted", _compacted(compactions.pop(0), transcript, prompted=prompted), "")
            items.end()
        if message is not None and (index or not prompted):
            yield from (_record("response_item", item, message.timestamp) for item in items.of(message))
        told = counts.at(index)
        if told is not None:
            yield _record("event_msg", told, message.timestamp if message else "")
            items.end()
    whole = counts.whole()
    if whole is not None:
        yield _record("event_msg", whole, "")


def _record(kind: str, payload: Wire, timestamp: str | None) -> Wire:
    return {"timestamp": timestamp or "", "type": kind, "payload": payload}


def _is_prompted(transcript: Transcript) -> bool:
    """Whether the first message can stand outside the items: a text of the system that every compaction kept first."""
    first = transcript.messages[0] if transcript.messages else None
    if first is None or first.role != "system" or first.synthetic or len(first.blocks) != 1:
        return False
    words = isinstance(first.blocks[0], Text) and bool(first.text)
    return words and all(told.after[:1] == (0,) and 0 not in told.after[1:] for told in transcript.compactions)


def _meta(transcript: Transcript, first: str, *, prompted: bool) -> Wire:
    source = _SUBCONSCIOUS if transcript.agent_type == "subconscious" else _SOURCES.get(transcript.agent_type, "cli")
    meta: Wire = {"id": transcript.id, "timestamp": first, "cwd": "", "originator": "compactlab", "cli_version": ""}
    meta["source"] = source
    if transcript.cluster and transcript.cluster != transcript.id:
        meta["forked_from_id"] = transcript.cluster
    if transcript.tools:
        meta["dynamic_tools"] = list(transcript.tools)
    if prompted:
        meta["base_instructions"] = {"text": transcript.messages[0].text}
    return meta


def _compacted(compaction: RecordedCompaction, transcript: Transcript, *, prompted: bool) -> Wire:
    items = _Items()
    left = [transcript.messages[e] if isinstance(e, int) else e for e in compaction.after if not (prompted and e == 0)]
    told: Wire = {"message": compaction.summary}
    told["replacement_history"] = [item for message in left for item in items.of(message)]
    if compaction.trigger != "unknown":
        told["trigger"] = compaction.trigger
    for name in ("tokens_before", "tokens_after"):
        if getattr(compaction, name) is not None:
            told[name] = getattr(compaction, name)
    return told


class _Counts:
    """Token counts as events; those of the whole session, where no others are, at its end."""

    def __init__(self, usages: Sequence[Usage]) -> None:
        self._by_place = {usage.position: usage for usage in usages if usage.position is not None}
        self._whole = next((usage for usage in usages if usage.position is None), None)
        self._total = [0, 0, 0, 0]

    def at(self, index: int) -> Wire | None:
        """The event behind the message of that index, if there is one."""
        usage = self._by_place.get(index)
        if usage is None:
            return None
        last = [usage.input, usage.cached, usage.output, usage.reasoning]
        self._total = [sum(pair) for pair in zip(self._total, last, strict=True)]
        return _count_event({"total_token_usage": _counted(self._total), "last_token_usage": _counted(last)})

    def whole(self) -> Wire | None:
        """The event of a session of which only the sum is known."""
        if self._whole is None or self._by_place:
            return None
        usage = self._whole
        return _count_event({"total_token_usage": _counted([usage.input, usage.cached, usage.output, usage.reasoning])})


def _count_event(info: Wire) -> Wire:
    return {"type": "token_count", "info": info, "rate_limits": None}


def _counted(counts: Sequence[int]) -> dict[str, int]:
    names = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
    return dict(zip(names, counts, strict=True)) | {"total_tokens": counts[0] + counts[2]}


class _Items:
    """Messages as items, each read again at once: what would not come back equal gets keys of our own."""

    def __init__(self) -> None:
        self._custom: set[str] = set()
        self._grows = False

    def end(self) -> None:
        """Note that something parts the items so far from those that follow."""
        self._grows = False

    def of(self, message: Message) -> list[Wire]:
        """The items of a message."""
        plain = _told(to_items(message, self._custom), message)
        starts = self._grows and message.role == "assistant"
        self._grows = message.role == "assistant"
        keyed = [{**plain[0], SYNTHETIC: message.synthetic}, *plain[1:]]
        tries = (plain, keyed, _joining(plain), _joining(keyed), _whole(plain, message))
        items = next(items for items in tries if items is tries[-1] or _comes_back(items, message))
        return [{NEW: True, **items[0]}, *items[1:]] if starts else items


def _told(items: list[Wire], message: Message) -> list[Wire]:
    """Items with the faults of results and the signatures of reasoning beside them."""
    results = iter(message.results)
    thoughts = (block for block in message.blocks if isinstance(block, Reasoning))
    for item in items:
        if item["type"] == "reasoning":
            signature = next(thoughts).signature
            item.update({} if signature is None else {"signature": signature})
        elif item["type"].endswith("_output"):
            failed = next(results).is_error
            item.update({"is_error": failed} if _failed(item) != failed else {})
    return items


def _failed(item: Wire) -> bool:
    read = openai_items.read(item)
    return read is not None and any(isinstance(block, ToolResult) and block.is_error for block in read.blocks)


def _joining(items: Sequence[Wire]) -> list[Wire]:
    return [items[0], *({**item, JOINS: True} for item in items[1:])]


def _whole(items: Sequence[Wire], message: Message) -> list[Wire]:
    content = [json.loads(block_to(block, sliced=False)) for block in message.blocks]
    told = {"role": message.role, "content": content} | ({SYNTHETIC: True} if message.synthetic else {})
    return [{**items[0], WHOLE: told}, *({**item, WHOLE: {}} for item in items[1:])]


def _comes_back(items: Sequence[Wire], message: Message) -> bool:
    """Whether items are read as that message and nothing else."""
    assembly = Assembly()
    for item in items:
        add(assembly, item, Place())
    assembly.close()
    read = [(back.role, back.blocks, back.synthetic) for back in assembly.messages]
    return read == [(message.role, message.blocks, message.synthetic)]
