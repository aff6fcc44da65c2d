"""LangChain messages to and from our messages, in every form that LangChain itself writes.

A message is a dict with `type` beside `content` (`model_dump`, LangGraph), `{"type", "data"}` (`messages_to_dict`), or
`{"lc": 1, "type": "constructor", "id": [..., "AIMessage"], "kwargs"}` (`dumpd`); runs also hold `{"role", "content"}`
and pairs of role and text. A call that stands in several places is read once: `tool_calls` says which there are, the
provider's own copy how their arguments were written. Artifacts of tools are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.shapes import _langchain_content, _langchain_own, anthropic
from compactlab.shapes.call_ids import with_ids
from compactlab.transcript import Message, Messages, Role, ToolResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KINDS: dict[str, Role] = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"}
ROLES = {
    "user": "human",
    "human": "human",
    "assistant": "ai",
    "ai": "ai",
    "model": "ai",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "function",
}
REMOVE, REMOVE_ALL = "remove", "__remove_all__"
SUMMARY = "Here is a summary of the conversation to date"


def kind(name: object) -> str:
    """Kind of a message by its `type` or the name of its class; empty if it is none.

    >>> kind("AIMessageChunk"), kind("human"), kind("ChatMessage"), kind("message")
    ('ai', 'human', 'chat', '')
    """
    short = name.removesuffix("Chunk").removesuffix("Message").lower() if isinstance(name, str) else ""
    return short if short in KINDS or short in {"chat", REMOVE} else ""


def fields(wire: object) -> dict[str, Any] | None:
    """Fields of a message in any form, its `type` made one of human, ai, system, tool, function, chat and remove.

    None if *wire* is no message of LangChain's own forms; `fields_of_role` knows the others.
    """
    if not isinstance(wire, dict):
        return None
    named = wire.get("id")
    if wire.get("type") == "constructor" and isinstance(named, list) and named and isinstance(wire.get("kwargs"), dict):
        of_class = kind(named[-1])
        return {**wire["kwargs"], "type": of_class} if of_class else None
    of_type = kind(wire.get("type"))
    if of_type and isinstance(wire.get("data"), dict):
        return {**wire["data"], "type": of_type}
    if of_type and ("content" in wire or (of_type == REMOVE and isinstance(named, str))):
        return wire if of_type == wire.get("type") else {**wire, "type": of_type}
    return None


def fields_of_role(wire: object) -> dict[str, Any] | None:
    """Fields of a message that names a role instead: `{"role", "content"}` or `[role, content]`; None if it does not.

    >>> fields_of_role(["user", "Hi"])
    {'type': 'human', 'content': 'Hi'}
    """
    if isinstance(wire, list):
        is_pair = len(wire) == 2 and isinstance(wire[0], str) and isinstance(wire[1], str | list)
        return {"type": ROLES[wire[0]], "content": wire[1]} if is_pair and wire[0] in ROLES else None
    role = wire.get("role") if isinstance(wire, dict) else None
    if not isinstance(wire, dict) or not isinstance(role, str) or role not in ROLES:
        return None
    return {**wire, "type": ROLES[role]}


def from_wire(messages: Sequence[Mapping[str, Any]]) -> Messages:
    """Read a list of messages, each as `fields` gives it; each keeps its index as `source`.

    A message that only removes others, and one of an unknown role, is left out.

    >>> from_wire([{"type": "system", "content": "Be brief."}])[0].role
    'system'
    """
    read: list[Message] = []
    names: dict[int, str] = {}
    bare: set[int] = set()
    for index, wire in enumerate(messages):
        marks = _langchain_own.marks(wire)
        for made in message(wire, index):
            if marks.part and read:
                read[-1] = replace(read[-1], blocks=read[-1].blocks + made.blocks)
            else:
                names[len(read)] = name(wire)
                read.append(made)
            if marks.bare:
                bare.add(len(read) - 1)
    return with_ids(read, names, bare)


def message(wire: Mapping[str, Any], source: int | None = None) -> Messages:
    """Read one message, as `fields` gives it: mostly one, two if a person's words stand among results, or none.

    Calls and results that were recorded without an id have none yet.
    """
    role = role_of(wire)
    if role is None:
        return ()
    extra = _langchain_content.extras(wire)
    if role == "tool":
        read: Messages = (Message(role, (_result(wire),), source=source),)
    else:
        blocks = _langchain_content.blocks(wire, role)
        read = anthropic.split(role, blocks, source)
    return _langchain_own.restored(extra, tuple(_marked(made, wire, extra) for made in read))


def role_of(wire: Mapping[str, Any]) -> Role | None:
    """Role of a message, as `fields` gives it; None if it only removes others, or has a role that nobody knows."""
    of_type = wire.get("type")
    if of_type == "chat":
        of_type = ROLES.get(str(wire.get("role")).lower())
    return KINDS.get(str(of_type))


def name(wire: Mapping[str, Any]) -> str:
    """Name beside a message: of the tool whose result it is, or of the speaker."""
    named = wire.get("name")
    return named if isinstance(named, str) else ""


def is_summary(wire: Mapping[str, Any]) -> bool:
    """Whether a message says what older ones said, in the words or with the mark of LangChain's own summariser."""
    extra = _langchain_content.extras(wire)
    content = wire.get("content")
    told = isinstance(content, str) and content.lstrip().startswith(SUMMARY)
    return extra.get("lc_source") == "summarization" or (told and wire.get("type") != "ai")


def _marked(made: Message, wire: Mapping[str, Any], extra: Mapping[str, Any]) -> Message:
    """Mark what no person said: summaries, reminders, and what is kept from the user's own view."""
    if made.role != "user":
        return made
    text = made.text.strip()
    reminder = text.startswith("<system-reminder>") and text.endswith("</system-reminder>")
    hidden = bool(extra.get("hide_from_ui")) or reminder or is_summary(wire)
    return replace(made, synthetic=True) if hidden else made


def _result(wire: Mapping[str, Any]) -> ToolResult:
    call_id = wire.get("tool_call_id")
    return ToolResult(
        call_id if isinstance(call_id, str) else "",
        _langchain_content.result_content(wire.get("content")),
        is_error=wire.get("status") == "error",
    )


def to_wire(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Write messages as `messages_to_dict` does, so that `from_wire` gives back their roles, blocks and marks.

    A message of several results becomes as many; what LangChain has no place for stands in
    `additional_kwargs["compactlab"]`.
    """
    written: list[dict[str, Any]] = []
    for given in messages:
        for part, blocks in enumerate(_langchain_own.pieces(given)):
            piece = replace(given, blocks=blocks, source=None)
            plain = _langchain_own.natural(piece)
            own = _langchain_own.missing(piece, message(plain), part=part > 0)
            if own:
                plain["additional_kwargs"] = {**plain["additional_kwargs"], _langchain_own.KEY: own}
            written.append({"type": plain["type"], "data": plain})
    return written
