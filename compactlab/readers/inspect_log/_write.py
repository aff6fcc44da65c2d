"""Transcripts as a JSON log of Inspect, one sample each, its messages in the chat form that Inspect itself writes.

What that form cannot hold (arguments byte for byte, several results in one message, a picture that was not recorded)
stands beside it under a key of our own, so that reading gives back the same messages.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from compactlab.readers._own_blocks import block_to
from compactlab.readers.inspect_log._chat import Chat
from compactlab.readers.inspect_log._own import KEY, REST
from compactlab.shapes import images
from compactlab.shapes.parts import json_text
from compactlab.transcript import Block, Image, Message, Reasoning, Text, ToolCall, ToolResult, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

UNDATED = "1970-01-01T00:00:00+00:00"


def write(transcripts: Iterable[Transcript]) -> str:
    """Write a log with one sample a transcript; reading gives back role, blocks and synthetic of each message."""
    transcripts = tuple(transcripts)
    epochs: Counter[str] = Counter()
    samples: list[dict[str, Any]] = []
    for transcript in transcripts:
        epochs[transcript.id] += 1
        samples.append(_sample(transcript, epochs[transcript.id]))
    models = [model for t in transcripts if isinstance(model := t.header.get("model"), str)]
    spec = {
        "created": _created(transcripts),
        "task": KEY,
        "task_id": KEY,
        "run_id": KEY,
        "dataset": {"name": KEY, "samples": len(samples)},
        "model": models[0] if models else "none/none",
        "config": {"epochs": max(epochs.values(), default=1)},
    }
    log = {"version": 2, "status": "success", "eval": spec, "plan": {"name": "plan", "steps": []}, "samples": samples}
    return json_text(log) + "\n"


def _created(transcripts: Sequence[Transcript]) -> str:
    """The first time that is recorded in any of them, so that the same transcripts always give the same log."""
    times = (message.timestamp for transcript in transcripts for message in transcript.messages)
    return next((time for time in times if time is not None and _is_time(time)), UNDATED)


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _sample(transcript: Transcript, epoch: int) -> dict[str, Any]:
    written = list(wires(transcript.messages))
    asked = next((message.text for message in transcript.messages if message.by_person), "")
    own: dict[str, Any] = {"id": transcript.id, "agent_type": transcript.agent_type, "cluster": transcript.cluster}
    own |= {"title": transcript.title, "tools": list(transcript.tools)}
    own |= {name: msgspec.to_builtins(getattr(transcript, name)) for name in ("compactions", "usage")}
    return {
        "id": transcript.id,
        "epoch": epoch,
        "input": asked,
        "target": "",
        "messages": written,
        "metadata": {KEY: {name: value for name, value in own.items() if value}},
    }


def wires(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """Each message as Inspect writes it, and as often as it has results; then with what its reader would lack."""
    plain = [_plain(message) for message in messages]
    chat = Chat({}, [wire for wires in plain for wire in wires])
    for message, wires in zip(messages, plain, strict=True):
        first = wires[0]
        own = _lacking(message, first, chat) if len(wires) == 1 else _whole(message)
        if own:
            first["metadata"] = {KEY: own}
        yield first
        yield from ({**wire, "metadata": {KEY: {REST: True}}} for wire in wires[1:])


def _lacking(message: Message, wire: dict[str, Any], chat: Chat) -> dict[str, Any]:
    """Our own keys for a message that its wire alone would not give back."""
    own: dict[str, Any] = {}
    for more in ({}, {"arguments": [call.arguments for call in message.calls]}, {"synthetic": message.synthetic}):
        own |= more
        read = chat.message({**wire, "metadata": {KEY: own}}, None)
        if read is not None and (read.role, read.blocks, read.synthetic) == _told(message):
            return own
    return _whole(message)


def _told(message: Message) -> tuple[str, tuple[Block, ...], bool]:
    return message.role, message.blocks, message.synthetic


def _whole(message: Message) -> dict[str, Any]:
    blocks = [json.loads(block_to(block, sliced=False)) for block in message.blocks]
    return {"role": message.role, "blocks": blocks, "synthetic": message.synthetic}


def _plain(message: Message) -> list[dict[str, Any]]:
    if message.role == "tool":
        return [_result(result) for result in message.results] or [{"role": "tool", "content": ""}]
    wire: dict[str, Any] = {"role": message.role}
    wire["content"] = _content([block for block in message.blocks if not isinstance(block, ToolCall | ToolResult)])
    if message.role == "user" and not message.synthetic:
        wire["source"] = "input"
    if message.role == "assistant":
        wire["source"] = "input" if message.synthetic else "generate"
        if message.calls:
            wire["tool_calls"] = [_call(call) for call in message.calls]
    return [wire]


def _call(call: ToolCall) -> dict[str, Any]:
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        arguments = {"arguments": call.arguments}
    arguments = arguments if isinstance(arguments, dict) else {"arguments": arguments}
    return {"id": call.id, "function": call.name, "arguments": arguments, "type": "function"}


def _result(result: ToolResult) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": "tool", "content": _content(result.content), "tool_call_id": result.call_id}
    return wire | ({"error": {"type": "unknown", "message": result.text}} if result.is_error else {})


def _content(blocks: Sequence[Block]) -> str | list[dict[str, Any]]:
    if not blocks:
        return ""
    if len(blocks) == 1 and isinstance(blocks[0], Text) and blocks[0].text:
        return blocks[0].text
    return [_part(block) for block in blocks]


def _part(block: Block) -> dict[str, Any]:
    if isinstance(block, Image):
        url = images.to_url(block)
        return {"type": "text", "text": images.described(block)} if url is None else {"type": "image", "image": url}
    if isinstance(block, Reasoning):
        signed = {} if block.signature is None else {"signature": block.signature}
        if block.opaque is None:
            return {"type": "reasoning", "reasoning": block.text, **signed}
        shown = {"summary": block.text} if block.text else {}
        return {"type": "reasoning", "reasoning": block.opaque, "redacted": True, **shown, **signed}
    return {"type": "text", "text": block.text if isinstance(block, Text) else ""}
