"""Token counts as providers record them, made one: input with all that came from a cache, output with the reasoning."""

from __future__ import annotations

from typing import Any

from compactlab.readers._fields import count, mapping
from compactlab.transcript import Usage


def openai_usage(position: int | None, wire: object) -> Usage | None:
    """Counts of Chat Completions or Responses, in which the input includes what was cached; None if there are none.

    >>> openai_usage(1, {"prompt_tokens": 90, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 64}})
    Usage(position=1, input=90, output=5, cached=64, reasoning=0)
    """
    usage = mapping(wire)
    sent = _first(usage, "prompt_tokens", "input_tokens")
    if not sent and not _first(usage, "completion_tokens", "output_tokens"):
        return None
    details = mapping(usage.get("prompt_tokens_details") or usage.get("input_tokens_details"))
    made = mapping(usage.get("completion_tokens_details") or usage.get("output_tokens_details"))
    return Usage(
        position,
        sent or 0,
        _first(usage, "completion_tokens", "output_tokens") or 0,
        _first(details, "cached_tokens") or _first(usage, "cached_input_tokens", "cached_tokens") or 0,
        _first(made, "reasoning_tokens") or _first(usage, "reasoning_output_tokens", "reasoning_tokens") or 0,
    )


def anthropic_usage(position: int | None, wire: object) -> Usage | None:
    """Counts of the Anthropic Messages API, whose input leaves out what a cache gave and took; None if there are none.

    >>> anthropic_usage(1, {"input_tokens": 3, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 890})
    Usage(position=1, input=993, output=0, cached=890, reasoning=0)
    """
    usage = mapping(wire)
    fresh, read = _first(usage, "input_tokens") or 0, _first(usage, "cache_read_input_tokens") or 0
    sent = fresh + read + (_first(usage, "cache_creation_input_tokens") or 0)
    made = _first(usage, "output_tokens") or 0
    return Usage(position, sent, made, read) if sent or made else None


def _first(usage: dict[str, Any], *keys: str) -> int | None:
    return next((found for key in keys if (found := count(usage.get(key))) is not None), None)
