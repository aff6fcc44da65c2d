"""A story told in turns, and the three common lists of messages that it becomes; `story_forms` makes files of them."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MISSING: Any = object()
Content = Any
"""Of a message or a result: words, a list of words and pictures (bytes), None, or MISSING."""
Wire = dict[str, Any]


class Said(NamedTuple):
    """What a user or the model says."""

    role: str
    content: Content


class Call(NamedTuple):
    """A call of a tool, its arguments as text."""

    id: str
    arguments: str = '{"a":1}'
    name: str = "bash"


class Did(NamedTuple):
    """One response of the model: calls, and words before them."""

    calls: tuple[Call, ...]
    text: str = ""


class Got(NamedTuple):
    """What came back for a call."""

    call_id: str
    content: Content
    name: str = "bash"


Turn = Said | Did | Got
Told = "Iterable[Turn]"


def fields(**given: object) -> Wire:
    """The fields that are not missing."""
    return {key: value for key, value in given.items() if value is not MISSING}


def encoded(picture: bytes) -> str:
    return base64.b64encode(picture).decode()


def data_url(picture: bytes) -> str:
    return f"data:image/png;base64,{encoded(picture)}"


def parts(content: Content, words: Callable[[str], Any], picture: Callable[[bytes], Any]) -> Content:
    """A content with each of its parts as a format writes it; what is no list stays as it is."""
    if not isinstance(content, list):
        return content
    return [picture(part) if isinstance(part, bytes) else words(part) for part in content]


def listed(content: Content) -> list[str | bytes]:
    """The parts of a content."""
    return content if isinstance(content, list) else [content] if isinstance(content, str) else []


def plain(content: Content) -> Content:
    """A content for formats that hold words only."""
    return "\n".join(part for part in content if isinstance(part, str)) if isinstance(content, list) else content


def given(call: Call) -> Any:  # JSON is any value
    return json.loads(call.arguments)


def text_part(text: str) -> Wire:
    return {"type": "text", "text": text}


def _linked(picture: bytes) -> Wire:
    return {"type": "image_url", "image_url": {"url": data_url(picture)}}


def chat_call(call: Call) -> Wire:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def chat_turn(turn: Turn) -> Wire:
    if isinstance(turn, Said):
        return fields(role=turn.role, content=parts(turn.content, text_part, _linked))
    if isinstance(turn, Did):
        return {"role": "assistant", "content": turn.text or None, "tool_calls": [chat_call(c) for c in turn.calls]}
    content = parts(turn.content, text_part, _linked)
    return fields(role="tool", tool_call_id=turn.call_id, name=turn.name, content=content)


def chat(turns: Iterable[Turn]) -> list[Wire]:
    """The story as OpenAI's list of messages."""
    return [chat_turn(turn) for turn in turns]


def sourced(picture: bytes) -> Wire:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": encoded(picture)}}


def _used(call: Call) -> Wire:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": given(call)}


def block_turn(turn: Turn) -> Wire:
    if isinstance(turn, Said):
        return fields(role=turn.role, content=parts(turn.content, text_part, sourced))
    if isinstance(turn, Did):
        words = [text_part(turn.text)] if turn.text else []
        return {"role": "assistant", "content": [*words, *(_used(call) for call in turn.calls)]}
    content = parts(turn.content, text_part, sourced)
    return {"role": "user", "content": [fields(type="tool_result", tool_use_id=turn.call_id, content=content)]}


def blocks(turns: Iterable[Turn]) -> list[Wire]:
    """The story as Anthropic's list of messages."""
    return [block_turn(turn) for turn in turns]


def _input_text(text: str) -> Wire:
    return {"type": "input_text", "text": text}


def _input_image(picture: bytes) -> Wire:
    return {"type": "input_image", "image_url": data_url(picture)}


def items(turns: Iterable[Turn]) -> list[Wire]:
    """The story as OpenAI's list of items."""
    made: list[Wire] = []
    for turn in turns:
        if isinstance(turn, Said) and turn.role == "assistant":
            made.append(_answer(str(turn.content)))
        elif isinstance(turn, Said):
            content = turn.content if turn.content is None else listed(turn.content)
            made.append({"type": "message", "role": "user", "content": parts(content, _input_text, _input_image)})
        elif isinstance(turn, Did):
            made += [_answer(turn.text)] if turn.text else []
            made += [
                {"type": "function_call", "call_id": c.id, "name": c.name, "arguments": c.arguments} for c in turn.calls
            ]
        else:
            output = parts(turn.content, _input_text, _input_image)
            made.append(fields(type="function_call_output", call_id=turn.call_id, output=output))
    return made


def _answer(text: str) -> Wire:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
