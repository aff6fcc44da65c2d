"""Parts of opencode messages: blocks, results, and what the model never sees."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from msgspec.structs import replace

from compactlab.readers._arguments import arguments
from compactlab.readers._fields import count, first_string, mapping, objects, string
from compactlab.readers._times import iso
from compactlab.shapes import images
from compactlab.shapes.parts import json_text
from compactlab.transcript import Block, Image, Reasoning, Text, ToolCall, ToolResult, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

COMPACT = "What did we do so far?"
SUBTASK = "The following tool was executed by the user"
_NOT_CONTEXT = {"snapshot", "patch", "agent", "retry"}
_SIGNATURES = ("signature", "thoughtSignature", "thought_signature")
_OPAQUE = ("reasoningEncryptedContent", "redactedData", "encryptedContent")


class Part(NamedTuple):
    """What a part became: a block and perhaps its result, a border of steps, a compaction, or a reason why it is none.

    `ended` is the time of the result, `compacted` that, in milliseconds, at which it was pruned; `tail` the first
    message that a compaction kept.
    """

    id: str
    kind: str
    block: Block | None = None
    result: ToolResult | None = None
    synthetic: bool = False
    ended: str | None = None
    compacted: int | None = None
    usage: Usage | None = None
    trigger: str = ""
    tail: str = ""
    skipped: str = ""
    unknown: str = ""


def part(wire: Mapping[str, Any]) -> Part:
    """Read one part, as it stands in a file, a row or an export."""
    kind = string(wire.get("type"))
    found = Part(string(wire.get("id")), kind)
    if kind in _NOT_CONTEXT:
        return found._replace(skipped=f"{kind} part")
    if kind not in _READ:
        return found._replace(unknown=f"{kind} part" if kind else "part without type")
    return _READ[kind](found, wire)


def _text(found: Part, wire: Mapping[str, Any]) -> Part:
    text = string(wire.get("text"))
    if wire.get("ignored") is True:
        return found._replace(skipped="text that the model never saw")
    return found._replace(block=Text(text) if text else None, synthetic=wire.get("synthetic") is True)


def _reasoning(found: Part, wire: Mapping[str, Any]) -> Part:
    text, metadata = string(wire.get("text")), mapping(wire.get("metadata"))
    signature, opaque = _named(metadata, _SIGNATURES), _named(metadata, _OPAQUE)
    if not text and not signature and not opaque:
        return found
    return found._replace(block=Reasoning(text, signature or None, opaque or None))


def _named(metadata: dict[str, Any], keys: tuple[str, ...]) -> str:
    """The first text under one of *keys*, in the metadata or in that of one provider in it."""
    held = [metadata, *objects(list(metadata.values()))]
    return next((found for fields in held if (found := first_string(fields, *keys))), "")


def _tool(found: Part, wire: Mapping[str, Any]) -> Part:
    state = mapping(wire.get("state"))
    call_id = first_string(wire, "callID", "id")
    call = ToolCall(call_id, string(wire.get("tool")), _arguments(state))
    result = _result(call_id, state)
    if result is None:
        return found._replace(block=call)
    times = mapping(state.get("time"))
    ended, compacted = iso(times.get("end")), count(times.get("compacted"))
    return found._replace(block=call, result=result, ended=ended, compacted=compacted)


def _arguments(state: dict[str, Any]) -> str:
    given, raw = state.get("input"), string(state.get("raw"))
    if raw and not given:
        return raw
    return arguments(given)


def _result(call_id: str, state: dict[str, Any]) -> ToolResult | None:
    """The result that a call holds; none while it runs. Output of one that was interrupted counts as output."""
    status = state.get("status")
    if status == "completed":
        attached = [_attached(inner) for inner in objects(state.get("attachments"))]
        return ToolResult(call_id, (*_said(state.get("output")), *_contents(state), *attached))
    if status != "error":
        return None
    metadata = mapping(state.get("metadata"))
    if metadata.get("interrupted") is True and isinstance(metadata.get("output"), str):
        return ToolResult(call_id, tuple(_said(metadata["output"])))
    return ToolResult(call_id, (*_said(state.get("error")), *_contents(state)), is_error=True)


def _contents(state: dict[str, Any]) -> list[Text | Image]:
    """The contents of a result that is a list of them."""
    held = objects(state.get("content"))
    return [Text(string(inner["text"])) if inner.get("type") == "text" else _attached(inner) for inner in held]


def _said(value: object) -> list[Text]:
    if value is None or value == "":
        return []
    return [Text(value if isinstance(value, str) else json_text(value))]


def _attached(wire: Mapping[str, Any]) -> Text | Image:
    """A picture, the text of a file that lies in its URL, or the name of another one."""
    mime, url = string(wire.get("mime")), string(wire.get("url"))
    if mime.startswith("image/") or url.startswith("data:image/"):
        picture = images.from_url(url) if url else Image(mime)
        return replace(picture, media_type=mime) if mime else picture
    text = _inlined(url) if url.startswith("data:text/") else None
    return Text(f"[{mime or 'file'}: {first_string(wire, 'filename', 'url')[:200]}]" if text is None else text)


def _inlined(url: str) -> str | None:
    head, _, body = url.partition(",")
    if not head.endswith(";base64"):
        return unquote(body)
    try:
        return base64.b64decode(body).decode(errors="replace")
    except (binascii.Error, ValueError):
        return None


def _file(found: Part, wire: Mapping[str, Any]) -> Part:
    """A text file or a folder is shown to the model in parts beside this one, if it does not lie in the URL."""
    mime, url = string(wire.get("mime")), string(wire.get("url"))
    if mime in {"text/plain", "application/x-directory"} and not url.startswith("data:"):
        return found._replace(skipped="reference to a file")
    return found._replace(block=_attached(wire), synthetic=mime.startswith("text/"))


def _subtask(found: Part, wire: Mapping[str, Any]) -> Part:
    del wire
    return found._replace(block=Text(SUBTASK), synthetic=True)


def _compaction(found: Part, wire: Mapping[str, Any]) -> Part:
    auto = wire.get("auto")
    trigger = "auto" if auto is True else "manual" if auto is False else "unknown"
    return found._replace(block=Text(COMPACT), synthetic=True, trigger=trigger, tail=string(wire.get("tail_start_id")))


def _step_start(found: Part, wire: Mapping[str, Any]) -> Part:
    del wire
    return found


def _step_finish(found: Part, wire: Mapping[str, Any]) -> Part:
    return found._replace(usage=usage(wire.get("tokens")))


def usage(wire: object) -> Usage | None:
    """Counts of a response, in which the input leaves out what a cache gave and took; None if all are 0.

    Some versions count the reasoning in the output, some beside it: where a total is recorded, that tells.

    >>> usage({"total": 1010, "input": 12, "output": 40, "reasoning": 8, "cache": {"read": 900, "write": 50}})
    Usage(position=None, input=962, output=48, cached=900, reasoning=8)
    """
    tokens = mapping(wire)
    cache = mapping(tokens.get("cache"))
    fresh, made, thought = (count(tokens.get(key)) or 0 for key in ("input", "output", "reasoning"))
    read, written = (count(cache.get(key)) or 0 for key in ("read", "write"))
    sent = fresh + read + written
    beside = made < thought or count(tokens.get("total")) == sent + made + thought
    made += thought if beside else 0
    return Usage(None, sent, made, read, thought) if sent or made else None


_READ: dict[str, Callable[[Part, Mapping[str, Any]], Part]] = {
    "text": _text,
    "reasoning": _reasoning,
    "tool": _tool,
    "file": _file,
    "subtask": _subtask,
    "compaction": _compaction,
    "step-start": _step_start,
    "step-finish": _step_finish,
}
