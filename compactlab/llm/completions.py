"""A reply out of the body of a chat completion, whatever the server made of that form."""

from __future__ import annotations

import json
from typing import Any

from compactlab.llm import Reply
from compactlab.llm.faults import Fault, fault_of, is_error, plain, told_status
from compactlab.tokens import clean

OK = 200
_PARTS = ("text", "output_text")


def read(content: bytes, model: str) -> Reply:
    """The reply that a body with status 200 holds; `Fault` for an error in disguise and for what is no reply.

    A refusal in its own field, and a call of a tool in place of words, come back with the finish reasons `refusal` and
    `tool_calls`, even where the server says `stop`.
    """
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        raise Fault(f"the reply is no JSON: {' '.join(plain(content).split())!r}", OK, billed=True) from None
    if is_error(body):
        raise fault_of(told_status(body, OK), body)
    choice = _first(body)
    if is_error(choice):  # a gateway whose provider broke off
        raise fault_of(told_status(choice, OK), choice)
    message = _table(choice.get("message"))
    reason = _text(choice.get("finish_reason"))
    text = _said(message.get("content"))
    refusal = _text(message.get("refusal"))
    if refusal:
        text, reason = text or refusal, "refusal"
    elif not text and (message.get("tool_calls") or message.get("function_call")):
        reason = "tool_calls"
    if text is None and reason in {"", "stop"}:
        raise Fault("the reply has no content", OK, billed=True)
    read_tokens, cached, written = usage(_table(body.get("usage")))
    return Reply(clean(text or ""), _text(body.get("model")) or model, reason, read_tokens, written, cached)


def usage(told: dict[str, Any]) -> tuple[int, int, int]:
    """Tokens read (those out of a cache included), read out of a cache, and written (reasoning included); else 0.

    >>> usage({"prompt_tokens": 90, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 64}})
    (90, 64, 5)
    >>> usage({"input_tokens": 10, "cache_read_input_tokens": 80, "output_tokens": 5})
    (90, 80, 5)
    """
    details = _table(told.get("prompt_tokens_details"))
    inside = (details.get("cached_tokens"), told.get("prompt_cache_hit_tokens"), told.get("cached_tokens"))
    cached = next(filter(None, map(_count, inside)), 0)
    tokens, written = _count(told.get("prompt_tokens")), _count(told.get("completion_tokens"))
    if "prompt_tokens" not in told:
        beside = _count(told.get("cache_read_input_tokens"))
        tokens = _count(told.get("input_tokens")) + beside + _count(told.get("cache_creation_input_tokens"))
        cached, written = cached or beside, _count(told.get("output_tokens"))
    # Some leave reasoning out of what was written, and have it in the total alone.
    return tokens, min(cached, tokens), max(written, _count(told.get("total_tokens")) - tokens)


def _first(body: Any) -> dict[str, Any]:  # noqa: ANN401  # any JSON
    choices = _table(body).get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Fault("the reply has no choices", OK, billed=True)
    return choices[0]


def _said(content: Any) -> str | None:  # noqa: ANN401  # any JSON
    """The words of a content that is a text, or a list of parts; None where there are none."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [_table(part) for part in content]
    words = [_text(part.get("text")) for part in parts if part.get("type", "text") in _PARTS]
    return "".join(words) if words else None


def _table(value: Any) -> dict[str, Any]:  # noqa: ANN401  # any JSON
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:  # noqa: ANN401  # any JSON
    return value if isinstance(value, str) else ""


def _count(value: Any) -> int:  # noqa: ANN401  # any JSON
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
