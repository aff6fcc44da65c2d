"""Records of a Claude Code file, each cut down to what is needed of it as soon as its line was read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from compactlab.readers._fields import mapping, objects, string
from compactlab.readers._own_blocks import block_from
from compactlab.readers._raw import keep_raw
from compactlab.readers.claude_code import _attachments, _kinds
from compactlab.readers.claude_code._injected import CONTINUED
from compactlab.shapes import anthropic
from compactlab.transcript import Block, Text

if TYPE_CHECKING:
    from compactlab.readers import Line

Kind = Literal["user", "assistant", "system", "boundary", "microcompact", "link"]

UNKNOWN_PARENT = "\0"
MARKERS = {"fallback"}  # blocks that say which model took over, no part of what was said
_WHOLE, _MICRO = ("compactMetadata", "compact_metadata"), ("microcompactMetadata", "microcompact_metadata")
METADATA = {_kinds.BOUNDARY: (*_WHOLE, *_MICRO), _kinds.MICROCOMPACT: (*_MICRO, *_WHOLE)}
_SOLD = {"task-notification", "teammate", "peer", "coordinator", "channel", "hook", "agent"}


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One record; `index` is its line in the file, from 0. A `link` only stands in the chain of parents.

    `parent` is None where the file says that there is none. `hidden` names why the model was never sent a message.
    """

    index: int
    uuid: str
    kind: Kind = "link"
    parent: str | None = None
    logical: str = ""
    sidechain: bool = False
    agent: str = ""
    session: str = ""
    timestamp: str | None = None
    response: str = ""
    model: str = ""
    blocks: tuple[Block, ...] = ()
    synthetic: bool = False
    attached: bool = False
    is_summary: bool = False
    hidden: str = ""
    usage: dict[str, Any] | None = None
    metadata: dict[str, Any] = {}
    own: dict[str, Any] | None = None

    @property
    def is_message(self) -> bool:
        return self.kind in {"user", "assistant", "system"}

    @property
    def is_boundary(self) -> bool:
        return self.kind in {"boundary", "microcompact"}

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.blocks if isinstance(block, Text))


def record(line: Line) -> Record:
    """Read a record that stands in the tree."""
    value = line.value
    parent = value.get("parentUuid", UNKNOWN_PARENT)
    timestamp = value.get("timestamp")
    return Record(
        index=line.number - 1,
        uuid=string(value.get("uuid")) or f"line {line.number}",
        parent=parent if parent is None or isinstance(parent, str) else UNKNOWN_PARENT,
        logical=string(value.get("logicalParentUuid")),
        sidechain=value.get("isSidechain") is True,
        agent=string(value.get("agentId")),
        session=string(value.get("sessionId")),
        timestamp=timestamp if isinstance(timestamp, str) else None,
        **({} if value.get("type") == "progress" else said(line, starts=parent is None)),
    )


def said(line: Line, *, starts: bool) -> dict[str, Any]:
    """Fields of a record that say what it is; it *starts* a context if nothing stands before it."""
    value = line.value
    kind = value.get("type")
    own = value.get(_kinds.OWN)
    if isinstance(own, dict) and isinstance(value.get("message"), dict):
        return _own(line, own)
    if kind == "assistant":
        return _spoken(line)
    if kind == "user":
        return _heard(value, starts=starts)
    if kind == "attachment":
        blocks = _attachments.blocks(value)
        prompt = _attachments.is_prompt(value)
        return {"kind": "user", "blocks": blocks, "synthetic": not prompt, "attached": not prompt} if blocks else {}
    return _of_system(value) if kind == "system" else {}


def _spoken(line: Line) -> dict[str, Any]:
    message = mapping(line.value.get("message"))
    content = message.get("content")
    if any(part.get("type") in anthropic.CALLS for part in objects(content)):
        keep_raw(line.value, line.raw)
    if isinstance(content, list):
        content = [part for part in content if not _is_marker(part)]
    return {
        "kind": "assistant",
        "response": string(message.get("id")),
        "model": string(message.get("model")),
        "blocks": tuple(block for block in anthropic.blocks(content) if block != Text("")),
        "usage": message.get("usage") if isinstance(message.get("usage"), dict) else None,
        "hidden": _hidden(line.value),
    }


def _is_marker(part: object) -> bool:
    return isinstance(part, dict) and isinstance(part.get("type"), str) and part["type"] in MARKERS


def _heard(value: dict[str, Any], *, starts: bool) -> dict[str, Any]:
    message = value.get("message")
    blocks = anthropic.blocks(mapping(message).get("content") if isinstance(message, dict) else message)
    summary = value.get("isCompactSummary") is True or (starts and _continues(blocks))
    origin = mapping(value.get("origin"))
    sent = "senderTaskId" in origin or (isinstance(origin.get("kind"), str) and origin["kind"] in _SOLD)
    return {
        "kind": "user",
        "blocks": blocks,
        "synthetic": bool(value.get("isMeta") or value.get("isSynthetic") or summary or sent),
        "is_summary": summary,
        "hidden": "" if summary else _hidden(value),
    }


def _continues(blocks: tuple[Block, ...]) -> bool:
    return bool(blocks) and isinstance(blocks[0], Text) and blocks[0].text.startswith(CONTINUED)


def _hidden(value: dict[str, Any]) -> str:
    if value.get("isApiErrorMessage"):
        return "api error shown to the user"
    return "message shown to the user only" if value.get("isVisibleInTranscriptOnly") else ""


def _of_system(value: dict[str, Any]) -> dict[str, Any]:
    subtype = value.get("subtype")
    if subtype in (_kinds.BOUNDARY, _kinds.MICROCOMPACT):
        names = METADATA[subtype]
        metadata: dict[str, Any] = next((value[name] for name in names if isinstance(value.get(name), dict)), {})
        own = value.get(_kinds.OWN)
        return {
            "kind": "boundary" if subtype == _kinds.BOUNDARY else "microcompact",
            "metadata": metadata,
            "own": own if isinstance(own, dict) else None,
        }
    if subtype == _kinds.LOCAL_COMMAND and value.get("content"):
        return {"kind": "user", "blocks": anthropic.blocks(value["content"])}
    return {}


def _own(line: Line, own: dict[str, Any]) -> dict[str, Any]:
    """Fields of a message that our own writer wrote, which says all of it."""
    value = line.value
    keep_raw(value, line.raw)
    message = value["message"]
    content = message.get("content")
    where = f"line {line.number}"
    kind = value.get("type")
    return {
        "kind": kind if kind in ("user", "assistant", "system") else "user",
        "blocks": tuple(block_from(part, where) for part in content) if isinstance(content, list) else (),
        "response": string(message.get("id")),
        "model": string(message.get("model")),
        "usage": message.get("usage") if isinstance(message.get("usage"), dict) else None,
        "is_summary": value.get("isCompactSummary") is True,
        "own": own,
    }
