"""Messages of pi: contents to blocks, the roles that only pi has, and which texts no person wrote.

Shell commands of the user, summaries of branches and of compactions reach the model as user text; the frames around
them are those that the model reads.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.readers._arguments import arguments
from compactlab.readers._fields import count, first_string, mapping, objects, string, strings
from compactlab.readers._times import iso
from compactlab.shapes import images
from compactlab.shapes.parts import words
from compactlab.transcript import Block, Image, Message, Reasoning, Text, ToolCall, ToolResult, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

COMPACTED = (
    "The conversation history before this point was compacted into the following summary:\n\n<summary>\n{}\n</summary>"
)
BRANCHED = "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n{}</summary>"
CLIENT_MODELS = {"gateway-injected", "delivery-mirror"}

_BLOB = "blob:"  # leads the digest of a picture that lies in a store of its own
_DATED = re.compile(r"\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d[^\]\n]*\]\s*")
_NOTES = (
    "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>",
    "[OpenClaw heartbeat poll]",
    "Read HEARTBEAT.md if it exists",
    "[Internal task completion event]",
    "[Inter-session message]",
    "[System Message]",
    "[cron:",
    "System: [",
    "A new session was started via /new or /reset",
    "Pre-compaction memory flush",
    "[Retry after the previous model attempt failed or timed out]",
    "[Queued announce messages while agent was busy]",
)


class Heard(NamedTuple):
    """What a record became: a message with its usage and model, or why it is none."""

    message: Message | None = None
    usage: Usage | None = None
    model: str = ""
    skipped: str = ""
    unknown: str = ""


class Place(NamedTuple):
    """Where a message stands, its line counted from 0, and when it was recorded."""

    line: int
    time: str | None


def heard(wire: Mapping[str, Any], line: int, timestamp: object) -> Heard:
    """Read the message of an entry, recorded in a line that counts from 0."""
    role = string(wire.get("role"))
    if role not in _READ:
        return Heard(unknown=f"message of role {role}" if role else "message without role")
    return _READ[role](wire, Place(line, iso(timestamp) or iso(wire.get("timestamp"))))


def injected(wire: Mapping[str, Any], place: Place) -> Heard:
    """Read a text that an extension gave to the model, as an entry of its own or as a message."""
    blocks = _blocks(wire.get("content"))
    if not blocks:
        return Heard(skipped="text of an extension without content")
    return Heard(Message("user", blocks, place.line, synthetic=True, timestamp=place.time))


def prompt(wire: Mapping[str, Any], place: Place) -> Heard:
    """Read the system prompt with which an agent was started: one text, or several."""
    given = wire.get("systemPrompt")
    blocks = tuple(Text(text) for text in (strings(given) or [string(given)]) if text)
    if not blocks:
        return Heard(skipped="session_init")
    return Heard(Message("system", blocks, place.line, timestamp=place.time))


def branch_summary(wire: Mapping[str, Any], place: Place) -> Heard:
    """Read the summary of a branch that the user left."""
    summary = string(wire.get("summary"))
    if not summary:
        return Heard(skipped="branch summary without text")
    blocks = (Text(BRANCHED.format(summary)),)
    return Heard(Message("user", blocks, place.line, synthetic=True, timestamp=place.time))


def _user(wire: Mapping[str, Any], place: Place) -> Heard:
    blocks = _blocks(wire.get("content"))
    if not blocks:
        return Heard(skipped="user message without content")
    kind = string(mapping(wire.get("provenance")).get("kind"))
    made = kind.startswith(("inter_session", "internal")) or _is_note(blocks)
    return Heard(Message("user", blocks, place.line, synthetic=made, timestamp=place.time))


def _is_note(blocks: tuple[Block, ...]) -> bool:
    texts = [block.text for block in blocks if isinstance(block, Text)]
    return bool(texts) and all(_DATED.sub("", text, count=1).lstrip().startswith(_NOTES) for text in texts)


def _system(wire: Mapping[str, Any], place: Place) -> Heard:
    blocks = _blocks(wire.get("content"))
    if not blocks:
        return Heard(skipped="system message without content")
    return Heard(Message("system", blocks, place.line, timestamp=place.time))


def _assistant(wire: Mapping[str, Any], place: Place) -> Heard:
    blocks = _blocks(wire.get("content"))
    if not blocks:
        return Heard(skipped=f"{string(wire.get('stopReason')) or 'assistant'} response without content")
    model = first_string(wire, "responseModel", "model")
    made_up = model in CLIENT_MODELS
    message = Message("assistant", blocks, place.line, synthetic=made_up, timestamp=place.time)
    return Heard(message, _usage(wire.get("usage")), "" if made_up else model)


def _usage(wire: object) -> Usage | None:
    usage = mapping(wire)
    read, made = count(usage.get("cacheRead")) or 0, count(usage.get("output")) or 0
    sent = (count(usage.get("input")) or 0) + read + (count(usage.get("cacheWrite")) or 0)
    return Usage(None, sent, made, read, min(count(usage.get("reasoning")) or 0, made)) if sent or made else None


def _result(wire: Mapping[str, Any], place: Place) -> Heard:
    given = wire.get("content")
    parts = given if isinstance(given, list) else [] if given is None else [given]
    content = tuple(shown for part in parts if (shown := _shown(part)) is not None)
    result = ToolResult(first_string(wire, "toolCallId", "toolUseId"), content, wire.get("isError") is True)
    return Heard(Message("tool", (result,), place.line, timestamp=place.time))


def _shown(part: object) -> Text | Image | None:
    block = _block(part)
    return block if block is None or isinstance(block, Text | Image) else Text(words(part))


def _shell(wire: Mapping[str, Any], place: Place) -> Heard:
    return _ran(wire, place, f"Ran `{string(wire.get('command'))}`\n")


def _python(wire: Mapping[str, Any], place: Place) -> Heard:
    return _ran(wire, place, f"Ran Python:\n```python\n{string(wire.get('code'))}\n```\nOutput:\n")


def _ran(wire: Mapping[str, Any], place: Place, text: str) -> Heard:
    """Read what the user ran, of which the model is told with its output."""
    if wire.get("excludeFromContext") is True:
        return Heard(skipped="shell command kept out of the context")
    output, code = string(wire.get("output")), count(wire.get("exitCode"))
    text += f"```\n{output}\n```" if output else "(no output)"
    if wire.get("cancelled") is True:
        text += "\n\n(command cancelled)"
    elif code:
        text += f"\n\nCommand exited with code {code}"
    path = string(wire.get("fullOutputPath"))
    if wire.get("truncated") is True and path:
        text += f"\n\n[Output truncated. Full output: {path}]"
    return Heard(Message("user", (Text(text),), place.line, synthetic=True, timestamp=place.time))


def _files(wire: Mapping[str, Any], place: Place) -> Heard:
    """Read the files that a prompt named: the text of each, and its picture."""
    blocks: list[Block] = []
    for file in objects(wire.get("files")):
        blocks.append(Text(f'<file path="{string(file.get("path"))}">\n{string(file.get("content"))}\n</file>'))
        blocks += [_image(file["image"])] if isinstance(file.get("image"), dict) else []
    if not blocks:
        return Heard(skipped="mention of files without files")
    return Heard(Message("user", tuple(blocks), place.line, synthetic=True, timestamp=place.time))


_READ: dict[str, Callable[[Mapping[str, Any], Place], Heard]] = {
    "user": _user,
    "system": _system,
    "assistant": _assistant,
    "toolResult": _result,
    "bashExecution": _shell,
    "pythonExecution": _python,
    "developer": _system,
    "fileMention": _files,
    "custom": injected,
    "hookMessage": injected,
    "branchSummary": branch_summary,
}


def _blocks(content: object) -> tuple[Block, ...]:
    """Read a content: text or a list of parts; empty text is no block."""
    if isinstance(content, str):
        return (Text(content),) if content else ()
    if content is None:
        return ()
    parts = content if isinstance(content, list) else [content]
    return tuple(block for part in parts if (block := _block(part)) is not None)


def _block(part: object) -> Block | None:
    fields = mapping(part)
    kind = fields.get("type")
    text = fields.get("text")
    if kind == "text" and isinstance(text, str):
        return Text(text) if text else None
    if kind in ("toolCall", "tool_use"):
        given = arguments(fields.get("arguments", fields.get("input")))
        return ToolCall(string(fields.get("id")), string(fields.get("name")), given)
    if kind == "thinking":
        return _thinking(fields)
    if kind == "redactedThinking":
        return Reasoning(opaque=string(fields.get("data")))
    if kind == "image":
        return _image(fields)
    return Text(words(part)) if part not in (None, "") else None


def _thinking(fields: dict[str, Any]) -> Reasoning | None:
    text, signature = string(fields.get("thinking")), string(fields.get("thinkingSignature"))
    if fields.get("redacted") is True and signature:
        return Reasoning(opaque=signature)
    return Reasoning(text, signature=signature or None) if text or signature else None


def _image(fields: dict[str, Any]) -> Image:
    source = mapping(fields.get("source")) or fields
    media_type, data = first_string(source, "mimeType", "media_type"), source.get("data")
    if isinstance(data, str) and data.startswith(_BLOB):
        return Image(media_type or images.UNKNOWN_TYPE, digest=data.removeprefix(_BLOB))
    if isinstance(data, str):
        return images.from_url(data) if data.startswith("data:") else images.from_base64(media_type, data)
    url = first_string(source, "url")
    return images.from_url(url) if url else Image(media_type or images.UNKNOWN_TYPE)
