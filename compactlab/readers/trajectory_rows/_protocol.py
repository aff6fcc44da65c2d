"""The Agent Data Protocol: a trajectory as a list of actions and observations, told apart by `class_`.

An action that calls something is a message of the assistant with one call; actions that follow each other without an
observation between them are told apart, as they were recorded. The observation after a call is its result, unless words
stand between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.readers._fields import first_string, mapping, string
from compactlab.shapes import images
from compactlab.shapes.call_ids import with_ids
from compactlab.shapes.parts import json_text
from compactlab.transcript import Block, Image, Message, Messages, Reasoning, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator

_ACTIONS = {"api_action", "code_action", "message_action"}
_OBSERVATIONS = {"text_observation", "web_observation", "image_observation", "json_observation"}


def messages(items: list[Any]) -> tuple[Messages, dict[str, int]]:
    """Read the items of a trajectory; counted are those of an unknown class."""
    read: list[Message] = []
    unknown: dict[str, int] = {}
    waiting: dict[str, None] = {}
    tasked = False
    made = 0
    for index, item in enumerate(items):
        told = mapping(item)
        kind = string(told.get("class_"))
        if kind in _ACTIONS:
            message = _action(told, kind, f"call_{made}")
            made += any(call.id == f"call_{made}" for call in message.calls)
            if not message.calls:
                waiting.clear()
            waiting |= dict.fromkeys(call.id for call in message.calls)
        elif kind in _OBSERVATIONS:
            message = _observation(told, waiting, tasked=tasked)
            tasked = tasked or message.role == "user"
        else:
            unknown[kind[:60] or "no class_"] = unknown.get(kind[:60] or "no class_", 0) + 1
            continue
        read.append(replace(message, source=index))
    return with_ids(read), unknown


def _action(told: dict[str, Any], kind: str, made_id: str) -> Message:
    reasoning, words = first_string(told, "reasoning_content"), first_string(told, "description")
    blocks: list[Block] = [Reasoning(reasoning)] if reasoning else []
    if words:
        blocks.append(Text(words))
    name = first_string(told, "tool_call_id") or made_id
    if kind == "message_action":
        said = told.get("content")
        blocks += [Text(said if isinstance(said, str) else json_text(said))] if said else []
    elif kind == "code_action":
        blocks.append(
            ToolCall(name, first_string(told, "language") or "code", json_text({"code": told.get("content")}))
        )
    else:
        given = told.get("kwargs")
        arguments = given if isinstance(given, str) else json_text({} if given is None else given)
        blocks.append(ToolCall(name, first_string(told, "function"), arguments))
    return Message("assistant", tuple(blocks))


def _observation(told: dict[str, Any], waiting: dict[str, None], *, tasked: bool) -> Message:
    """A result of the call that it names, or of the one that waits; else words of the user or of the environment."""
    parts = tuple(_parts(told))
    name = first_string(told, "tool_call_id")
    source = string(told.get("source"))
    if name or (waiting and source not in {"user", "agent"}):
        name = name or next(iter(waiting))
        waiting.pop(name, None)
        return Message("tool", (ToolResult(name, parts),))
    waiting.clear()
    if source == "agent":
        return Message("assistant", parts)
    return Message("user", parts, synthetic=source != "user" and tasked)


def _parts(told: dict[str, Any]) -> Iterator[Text | Image]:
    if told.get("class_") == "image_observation":
        yield images.from_url(string(told.get("content")))
        return
    given = next((told[key] for key in ("content", "axtree", "html") if told.get(key)), None)
    place = first_string(told, "url")
    if place:
        yield Text(place)
    if given is not None:
        yield Text(given if isinstance(given, str) else json_text(given))
    picture = first_string(mapping(told.get("image_observation")), "content")
    if picture:
        yield images.from_url(picture)
