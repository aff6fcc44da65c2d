"""One item of the OpenAI Responses API: under which role it stands in context, and its blocks.

Follows OpenAI's published API and what Codex writes of it. Items in which the provider ran a tool hold the call and
what came back; the result is given apart. Text that a client wrapped as `{"output": ..., "metadata": {"exit_code":
...}}` stays as the model was sent it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from compactlab.shapes import images, openai_chat
from compactlab.shapes.parts import json_text, words
from compactlab.transcript import Block, Image, Reasoning, Role, Text, ToolCall, ToolResult

SKIPPED = frozenset(
    {
        "additional_tools",
        "compaction_trigger",
        "configuration_update",
        "ghost_snapshot",
        "item_reference",
        "mcp_approval_request",
        "mcp_approval_response",
        "mcp_list_tools",
        "other",
    }
)
COMPACTED = frozenset({"compaction", "compaction_summary", "context_compaction"})
_CALL, _OUTPUT = "_call", "_output"
_FAILED = re.compile(r"\A(?:Chunk ID: .*\n)?(?:Wall time: .*\n)?(?:Exit code: |Process exited with code )(-?\d+)\n")
_IMAGES = frozenset({"input_image", "computer_screenshot", "image"})
_FIXED_KEYS = frozenset({"type", "id", "call_id", "status", "metadata", "internal_chat_message_metadata_passthrough"})
_Wire = Mapping[str, Any]


class Item(NamedTuple):
    """What an item says under *role*, and the results of calls in it; `synthetic` if no person and no model said it."""

    role: Role
    blocks: tuple[Block, ...]
    results: tuple[ToolResult, ...] = ()
    synthetic: bool = False


def kind_of(wire: _Wire) -> str:
    """The type of an item; `message` for one that has a role instead, empty for one that has neither.

    >>> kind_of({"role": "user", "content": "Hi"}), kind_of({"type": "reasoning"}), kind_of({"id": 1})
    ('message', 'reasoning', '')
    """
    kind = wire.get("type")
    if isinstance(kind, str) and kind:
        return kind
    return "message" if isinstance(wire.get("role"), str) else ""


def read(wire: _Wire) -> Item | None:
    """Read an item; None for a kind or a role that is not known.

    >>> read({"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"}).blocks
    (ToolCall(id='c1', name='ls', arguments='{}'),)
    """
    kind = kind_of(wire)
    if kind in _READ:
        return _READ[kind](wire)
    if kind.endswith(_CALL):
        return _other_call(wire, kind.removesuffix(_CALL))
    if kind.endswith(_OUTPUT):
        return Item("tool", (_result(wire, wire.get("output")),))
    return None


def _message(wire: _Wire) -> Item | None:
    role = openai_chat.ROLES.get(str(wire.get("role")))
    if role is None:
        return None
    if role == "tool" or wire.get("tool_calls"):
        [message] = openai_chat.from_wire([wire])
        return Item(role, message.blocks)
    return Item(role, content(wire.get("content")))


def content(given: object) -> tuple[Block, ...]:
    """Read a `content` or an `output`: text, a part, a list of parts, or null.

    >>> content([{"type": "input_text", "text": "Look:"}, {"type": "input_image", "file_id": "file-1"}])[1].digest
    'file-1'
    """
    if isinstance(given, list):
        return tuple(_part(part) for part in given)
    return (_part(given),) if isinstance(given, dict) else tuple(openai_chat.content(given))


def _part(part: object) -> Block:
    kind = str(part.get("type")) if isinstance(part, dict) else ""
    if isinstance(part, dict) and kind in _IMAGES and not isinstance(part.get("image_url"), dict):
        url, file = part.get("image_url"), part.get("file_id")
        return images.from_url(url) if isinstance(url, str) else Image(images.UNKNOWN_TYPE, digest=_str(file) or None)
    if isinstance(part, dict) and kind == "encrypted_content":
        return Reasoning(opaque=_str(part.get("encrypted_content")))
    read = openai_chat.content([part])
    return read[0]


def _agent_message(wire: _Wire) -> Item:
    return Item("user", content(wire.get("content")), synthetic=True)


def _reasoning(wire: _Wire) -> Item:
    texts = [_str(part.get("text")) for name in ("summary", "content") for part in _objects(wire.get(name))]
    opaque, signature = wire.get("encrypted_content"), wire.get("signature")
    if not texts and not isinstance(opaque, str):
        return Item("assistant", ())
    thought = Reasoning(
        "\n\n".join(texts),
        signature=signature if isinstance(signature, str) else None,
        opaque=opaque if isinstance(opaque, str) else None,
    )
    return Item("assistant", (thought,))


def _compaction(wire: _Wire) -> Item:
    opaque = wire.get("encrypted_content")
    held = (Reasoning(opaque=opaque),) if isinstance(opaque, str) else content(wire.get("summary"))
    return Item("assistant", held, synthetic=True)


def _function_call(wire: _Wire) -> Item:
    space = wire.get("namespace")
    name = _str(wire.get("name"))
    return _call(wire, f"{space}.{name}" if isinstance(space, str) and space else name, wire.get("arguments"))


def _custom_call(wire: _Wire) -> Item:
    return _function_call({**wire, "arguments": wire.get("input")})


def _mcp_call(wire: _Wire) -> Item:
    item = _function_call({**wire, "namespace": wire.get("server_label")})
    if wire.get("output") is None and not wire.get("error"):
        return item
    return _with_result(
        item, wire.get("output") if wire.get("output") is not None else _wording(wire.get("error")), wire
    )


def _image_call(wire: _Wire) -> Item:
    item = _call(wire, "image_generation", {"prompt": wire.get("revised_prompt")} if wire.get("revised_prompt") else {})
    data = wire.get("result")
    if not isinstance(data, str) or not data:
        return item
    image = images.from_base64(f"image/{_str(wire.get('output_format')) or 'png'}", data)
    [call] = item.blocks
    return item._replace(results=(ToolResult(_id(call), (image,)),))


def _computer_call(wire: _Wire) -> Item:
    return _call(wire, "computer", wire.get("action") if wire.get("actions") is None else wire["actions"])


def _search_call(wire: _Wire) -> Item:
    item = _call(wire, "file_search", {"queries": wire.get("queries")})
    found = wire.get("results")
    return item if found is None else _with_result(item, json_text(found), wire)


def _code_call(wire: _Wire) -> Item:
    item = _call(wire, "code_interpreter", {"code": wire.get("code")})
    outputs = wire.get("outputs")
    if not isinstance(outputs, list):
        return item
    shown = [
        {"type": "input_image", "image_url": part.get("url")}
        if part.get("type") == "image"
        else {"type": "input_text", "text": _str(part.get("logs"))}
        for part in _objects(outputs)
    ]
    return _with_result(item, shown, wire)


def _tool_search_output(wire: _Wire) -> Item:
    return Item("tool", (_result(wire, json_text(wire.get("tools"))),))


def _other_call(wire: _Wire, name: str) -> Item:
    """A call of a tool that the provider or the client names by the type of the item."""
    for key in ("arguments", "action", "operation", "input"):
        if wire.get(key) is not None:
            return _call(wire, name, wire[key])
    rest = {key: value for key, value in wire.items() if key not in _FIXED_KEYS}
    return _call(wire, name, rest)


def _call(wire: _Wire, name: str, given: object) -> Item:
    arguments = "{}" if given is None else given if isinstance(given, str) else json_text(given)
    return Item("assistant", (ToolCall(_call_id(wire), name, arguments),))


def _call_id(wire: _Wire) -> str:
    return _str(wire["call_id"] if isinstance(wire.get("call_id"), str) else wire.get("id"))


def _id(block: Block) -> str:
    return block.id if isinstance(block, ToolCall) else ""


def _with_result(item: Item, output: object, wire: _Wire) -> Item:
    [call] = item.blocks
    return item._replace(results=(_result({**wire, "call_id": _id(call)}, output),))


def _output(wire: _Wire) -> Item:
    return Item("tool", (_result(wire, wire.get("output")),))


def _result(wire: _Wire, output: object) -> ToolResult:
    output, failed = _unwrapped(output)
    parts = tuple(part if isinstance(part, Text | Image) else Text("[encrypted content]") for part in content(output))
    if len(parts) == 1 and isinstance(parts[0], Text):
        code = _FAILED.match(parts[0].text)
        failed = failed or (code is not None and code[1] != "0")
    given = wire.get("is_error")
    return ToolResult(
        _call_id(wire), parts, is_error=given if isinstance(given, bool) else failed or bool(wire.get("error"))
    )


def _unwrapped(output: object) -> tuple[object, bool]:
    """What a tool put out, as the model was sent it, and whether what a client wrapped it in says that it failed."""
    value = output
    if isinstance(output, str) and output.startswith(('{"output":', '{"metadata":')):
        try:
            value = json.loads(output)
        except (ValueError, RecursionError):
            return output, False
    if not isinstance(value, dict):
        return output, False
    failed = False
    if "output" in value and value.keys() <= {"output", "metadata"}:
        metadata = value.get("metadata")
        code = metadata.get("exit_code") if isinstance(metadata, dict) else None
        failed, value = code is not None and code != 0, value["output"]
    elif "content" in value and value.keys() <= {"content", "success"}:
        failed, value = value.get("success") is False, value["content"]
    elif not isinstance(value.get("type"), str):
        value = words(value)
    return (output if isinstance(output, str) else value), failed


def _shell_output(wire: _Wire) -> Item:
    """Output of a shell of the API's own: what each command wrote, and how it ended."""
    texts: list[str] = []
    failed = False
    for part in _objects(wire.get("output")):
        texts += [_str(part[name]) for name in ("stdout", "stderr") if part.get(name)]
        outcome = part.get("outcome")
        ended = outcome if isinstance(outcome, dict) else {}
        failed = failed or ended.get("type") == "timeout" or bool(ended.get("exit_code"))
    if not isinstance(wire.get("output"), list):
        return _output(wire)
    return Item("tool", (_result({"is_error": failed, **wire}, "\n".join(texts)),))


def _wording(error: object) -> str:
    return error if isinstance(error, str) else words(error)


def _objects(value: object) -> list[dict[str, Any]]:
    return [inner for inner in value if isinstance(inner, dict)] if isinstance(value, list) else []


def _str(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else json_text(value)


_READ: dict[str, Callable[[_Wire], Item | None]] = {
    "message": _message,
    "agent_message": _agent_message,
    "reasoning": _reasoning,
    "function_call": _function_call,
    "custom_tool_call": _custom_call,
    "mcp_call": _mcp_call,
    "image_generation_call": _image_call,
    "computer_call": _computer_call,
    "file_search_call": _search_call,
    "code_interpreter_call": _code_call,
    "tool_search_output": _tool_search_output,
    "shell_call_output": _shell_output,
    **dict.fromkeys(COMPACTED, _compaction),
}
