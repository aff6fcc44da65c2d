"""Events of Codex as items: those of a rollout that has no items, and those that `codex exec --json` prints.

Events tell the user what happened; what the model was sent is not among them word for word. So they are read only where
nothing else was recorded.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from compactlab.readers._fields import array, first_string, mapping, objects, string, strings
from compactlab.shapes.parts import words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Wire = Mapping[str, Any]

SAYS = frozenset({"user_message", "agent_message"})
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Events:
    """Turns events into items; a call whose beginning was told is not told again with its end."""

    def __init__(self) -> None:
        self._begun: set[str] = set()

    def items(self, event: Wire, *, ended: bool = True) -> list[dict[str, Any]] | None:
        """Give the items of an event or a thread item; None for a kind that is no part of any context."""
        kind = _CAMEL.sub("_", string(event.get("type"))).lower()
        read = _READ.get(kind)
        if read is None:
            return None
        items = read({**event, "ended": ended and not kind.endswith(("_begin", "_request"))})
        return [item for item in items if not self._is_told(item)]

    def _is_told(self, item: Wire) -> bool:
        if item.get("type") != "function_call":
            return False
        name = string(item.get("call_id"))
        told = bool(name) and name in self._begun
        self._begun.add(name)
        return told


def _user(event: Wire) -> list[dict[str, Any]]:
    images = [{"type": "input_image", "image_url": url} for url in strings(event.get("images"))]
    return [{"role": "user", "content": [*_texts(event), *images]}]


def _agent(event: Wire) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": _texts(event)}]


def _texts(event: Wire) -> list[dict[str, Any]]:
    text = first_string(event, "message", "text")
    if text:
        return [{"type": "input_text", "text": text}]
    return [{**part, "type": string(part.get("type")).lower()} for part in objects(event.get("content"))]


def _thought(event: Wire) -> list[dict[str, Any]]:
    texts = [*strings(event.get("summary_text")), *strings(event.get("raw_content"))]
    return [{"type": "reasoning", "summary": [{"text": text} for text in texts or strings([event.get("text")])]}]


def _command(event: Wire) -> list[dict[str, Any]]:
    given = {"command": event.get("command")} | ({"workdir": event["cwd"]} if event.get("cwd") else {})
    shown = first_string(event, "formatted_output", "aggregated_output")
    shown = shown or "\n".join(text for name in ("stdout", "stderr") if (text := string(event.get(name))))
    return _called(event, "shell", given, shown, failed=bool(event.get("exit_code")))


def _patch(event: Wire) -> list[dict[str, Any]]:
    shown = "\n".join(text for name in ("stdout", "stderr") if (text := string(event.get(name))))
    failed = event.get("success") is False or event.get("status") == "failed"
    return _called(event, "apply_patch", {"changes": event.get("changes")}, shown, failed=failed)


def _mcp(event: Wire) -> list[dict[str, Any]]:
    invocation = mapping(event.get("invocation")) or event
    result, error = mapping(event.get("result")), event.get("error") or mapping(event.get("result")).get("Err")
    held = mapping(result.get("Ok")) or result
    name = ".".join(part for key in ("server", "tool") if (part := string(invocation.get(key))))
    failed = bool(error) or held.get("isError") is True
    shown = [_shown(part) for part in array(held.get("content"))] or (words(error) if error else "")
    return _called(event, name, invocation.get("arguments"), shown, failed=failed)


def _dynamic(event: Wire) -> list[dict[str, Any]]:
    shown = [_shown(part) for part in array(event.get("content_items"))]
    name = first_string(event, "tool")
    return _called(event, name, event.get("arguments"), shown, failed=event.get("success") is False)


def _shown(part: object) -> object:
    """A part of a tool's result as a part of an item's output."""
    told = mapping(part)
    if told.get("type") == "image" and isinstance(told.get("data"), str):
        kind = first_string(told, "mimeType", "mime_type") or "image/png"
        return {"type": "input_image", "image_url": f"data:{kind};base64,{told['data']}"}
    if string(told.get("type")) in {"inputImage", "input_image"}:
        return {"type": "input_image", "image_url": first_string(told, "imageUrl", "image_url") or None}
    text = told.get("text")
    return {"type": "input_text", "text": text} if isinstance(text, str) else part


def _search(event: Wire) -> list[dict[str, Any]]:
    given = event.get("action") if event.get("action") is not None else {"query": event.get("query")}
    return _called({**event, "ended": False}, "web_search", given, "")


def _picture(event: Wire) -> list[dict[str, Any]]:
    kept = {key: event[key] for key in ("revised_prompt", "result") if key in event}
    return [{"type": "image_generation_call", "call_id": _id(event), **kept}]


def _view(event: Wire) -> list[dict[str, Any]]:
    return _called({**event, "ended": False}, "view_image", {"path": event.get("path")}, "")


def _todo(event: Wire) -> list[dict[str, Any]]:
    return _called({**event, "ended": False}, "update_plan", {"plan": event.get("items")}, "")


def _collab(event: Wire) -> list[dict[str, Any]]:
    given = {key: event[key] for key in ("receiver_thread_ids", "prompt") if event.get(key)}
    shown = words(event["agents_states"]) if event.get("agents_states") else ""
    return _called(event, first_string(event, "tool"), given, shown, failed=event.get("status") == "failed")


def _called(event: Wire, name: str, given: object, shown: object, *, failed: bool = False) -> list[dict[str, Any]]:
    call = {"type": "function_call", "call_id": _id(event), "name": name, "arguments": given}
    if not event.get("ended"):
        return [call]
    return [call, {"type": "function_call_output", "call_id": _id(event), "output": shown, "is_error": failed}]


def _id(event: Wire) -> str:
    return first_string(event, "call_id", "callId", "id")


_READ: dict[str, Callable[[Wire], list[dict[str, Any]]]] = {
    "user_message": _user,
    "agent_message": _agent,
    "plan": _agent,
    "reasoning": _thought,
    "agent_reasoning": _thought,
    "agent_reasoning_raw_content": _thought,
    "exec_command_begin": _command,
    "exec_command_end": _command,
    "command_execution": _command,
    "patch_apply_begin": _patch,
    "patch_apply_end": _patch,
    "file_change": _patch,
    "mcp_tool_call_begin": _mcp,
    "mcp_tool_call_end": _mcp,
    "mcp_tool_call": _mcp,
    "dynamic_tool_call_request": _dynamic,
    "dynamic_tool_call_response": _dynamic,
    "collab_tool_call": _collab,
    "web_search_end": _search,
    "web_search": _search,
    "image_generation_end": _picture,
    "image_generation": _picture,
    "view_image_tool_call": _view,
    "todo_list": _todo,
}
