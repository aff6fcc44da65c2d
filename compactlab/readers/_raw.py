"""Arguments of calls as they were recorded: the bytes of each `input`, sliced out of the line that holds it."""

from __future__ import annotations

from typing import Any

import msgspec

from compactlab.shapes.anthropic import CALLS

_NOTHING = msgspec.Raw(b"null")


class _Holder(msgspec.Struct):
    """The places in which messages, blocks and arguments lie, undecoded."""

    messages: msgspec.Raw = _NOTHING
    message: msgspec.Raw = _NOTHING
    content: msgspec.Raw = _NOTHING
    input: msgspec.Raw = _NOTHING


_HOLDER = msgspec.json.Decoder(_Holder)
_LIST = msgspec.json.Decoder(list[msgspec.Raw])


def keep_raw(value: Any, raw: bytes | msgspec.Raw) -> None:  # noqa: ANN401  # JSON is any value
    """Replace the `input` of every call in *value* by its bytes in *raw*, the JSON text that *value* was read from.

    *value* is a message, a list of messages or blocks, or an object that holds them as `message`, `messages` or
    `content`. Text that msgspec refuses (lone surrogates, NaN) leaves *value* as it is.

    >>> message = {"content": [{"type": "tool_use", "input": {"a": 1.50}}]}
    >>> keep_raw(message, b'{"content": [{"type": "tool_use", "input": {"a":1.50}}]}')
    >>> bytes(message["content"][0]["input"])
    b'{"a":1.50}'
    """
    try:
        _keep(value, raw, ("messages", "message", "content"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return


def _keep(value: Any, raw: bytes | msgspec.Raw, names: tuple[str, ...]) -> None:  # noqa: ANN401  # JSON is any value
    """Look for calls in a value, and in what it holds under *names*; blocks hold no further ones."""
    if isinstance(value, list):
        for inner, inner_raw in zip(value, _LIST.decode(raw), strict=False):
            if isinstance(inner, dict):
                _keep(inner, inner_raw, names)
        return
    holder = _HOLDER.decode(raw)
    for name in names:
        if isinstance(value.get(name), dict | list):
            _keep(value[name], getattr(holder, name), () if name == "content" else names)
    if value.get("type") in CALLS and value.get("input") is not None:
        value["input"] = holder.input
