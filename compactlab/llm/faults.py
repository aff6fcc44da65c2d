"""What a server's error says: its words out of many forms of body, whether to ask again, and after how long.

Wordings for a request that is longer than the model reads are those of OpenAI, Azure, Anthropic, Google, Mistral, xAI,
Groq, Bedrock, DashScope, OpenRouter, vLLM, SGLang, llama.cpp, LM Studio and Ollama, as their users report them.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

AGAIN = frozenset({408, 409, 429})
"""Statuses that may pass when asked again, beside those of 500 and more."""
LONGEST_WORDS = 300
_DEEPEST = 4
_WORDED = ("message", "error", "detail", "details", "msg", "errors", "error_msg", "error_message")
_CODED = ("code", "type", "status")

_NEVER_FITS = re.compile(r"request too large for|must be reduced in order to run", re.IGNORECASE)
_BUSY = re.compile(r"rate.?limit|too many requests|per (?:minute|min|hour|day)\b|please wait|throttl", re.IGNORECASE)
_UNPAID = re.compile(r"insufficient[_ ](?:quota|balance|credits?)", re.IGNORECASE)
_IN_WORDS = re.compile(r"(?:try again|retry) (?:in|after) (?:(\d+)m)?(\d+(?:\.\d+)?) ?(ms|s)\b", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"""
      context[\s_](?:length|window|size|limit)
    | \bcontext\ the\ overflows
    | (?:maximum|max|allowed)[\s_](?:allowed\ )?(?:prompt|input|model|sequence)[\s_](?:length|tokens)
    | (?:prompt|input|request)(?:\ is)?\ too\ (?:long|large)
    | prompt\ exceeds\ max | request_too_large | string_above_max_length
    | (?:input|prompt|requested)\ token\ count\b.{0,60}?\bexceeds
    | exceeded\ model\ token\ limit | token\ limit\ exceeded | too\ many\ (?:input\ )?tokens
    | input\ tokens?\ (?:exceed|limit)
    | range\ of\ input\ length | max_seq_len | max_prompt_tokens
    | reduce\ (?:the\ |your\ )?(?:length\ of\ the\ )?(?:messages?|prompt|input)\b
    | too\ large\ for\ model | longer\ than\ the\ (?:maximum\ )?model
    | `?inputs`?\ tokens\ \+\ `?max_new_tokens
    """,
    re.IGNORECASE | re.VERBOSE,
)


@dataclass
class Fault(Exception):  # noqa: N818  # says what is the matter
    """One try that gave no reply: what to tell, whether to try again and after how long, whether it may be billed.

    `said` is the server's; it may be long and hold the key.
    """

    said: str
    status: int | None = None
    again: bool = False
    wait_seconds: float | None = None
    billed: bool = False
    too_long: bool = False
    note: str = ""


def refused(status: int, headers: Mapping[str, str], content: bytes) -> Fault:
    """The fault that an answer with an error status is."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        body = plain(content)
    return fault_of(status, body, retry_after(headers, dt.datetime.now(dt.UTC)))


def fault_of(status: int, body: Any, wait_seconds: float | None = None) -> Fault:  # noqa: ANN401  # any JSON
    """The fault that an error body tells, under whatever status it came."""
    words = _words(body).strip()
    everything = " ".join([words, *_codes(body)])
    too_long = is_too_long(status, everything)
    passes = (status in AGAIN or status >= HTTPStatus.INTERNAL_SERVER_ERROR) and not _UNPAID.search(everything)
    wait_seconds = _wait_in(words) if wait_seconds is None else wait_seconds
    said = f"HTTP {status}: {words or _phrase(status)}"
    return Fault(said, status, passes and not too_long, wait_seconds, too_long=too_long)


def is_too_long(status: int, words: str) -> bool:
    """Whether an error says that the request is longer than what the model reads, and not that it came too soon.

    >>> is_too_long(400, "prompt is too long: 205748 tokens > 200000 maximum")
    True
    >>> is_too_long(429, "Too many tokens, please wait before trying again.")
    False
    """
    if _NEVER_FITS.search(words) or status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return True
    return not _BUSY.search(words) and bool(_TOO_LONG.search(words))


def is_error(body: Any) -> bool:  # noqa: ANN401  # any JSON
    """Whether a body that came with status 200 is an error all the same."""
    if isinstance(body, list):
        return any(is_error(item) for item in body[:1])
    return isinstance(body, dict) and (bool(body.get("error")) or body.get("object") == "error")


def told_status(body: Any, status: int) -> int:  # noqa: ANN401  # any JSON
    """The status that an error body names itself, or the one that it came under."""
    numbers = [int(code) for code in _codes(body) if code.isdecimal() and len(code) == len("400")]
    return next((number for number in numbers if number >= HTTPStatus.BAD_REQUEST), status)


def retry_after(headers: Mapping[str, str], now: dt.datetime) -> float | None:
    """Seconds that a server asks to wait: from milliseconds, seconds or a date; None where it says nothing clear.

    >>> noon = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)
    >>> retry_after({"retry-after": "Thu, 01 Jan 2026 12:00:30 GMT"}, noon), retry_after({"retry-after": "soon"}, noon)
    (30.0, None)
    """
    for name, unit in (("retry-after-ms", 1_000), ("retry-after", 1)):
        said = headers.get(name, "").strip()
        try:
            seconds = float(said) / unit
        except ValueError:
            continue
        return max(0.0, seconds) if math.isfinite(seconds) else None
    try:
        date = parsedate_to_datetime(headers.get("retry-after", ""))
    except (ValueError, IndexError, TypeError):
        return None
    date = date if date.tzinfo else date.replace(tzinfo=dt.UTC)
    return max(0.0, (date - now).total_seconds())


def plain(content: bytes) -> str:
    """The words of a body that is no JSON: text without tags."""
    text = content[: 16 * LONGEST_WORDS].decode("utf-8", "replace")
    return re.sub(r"(?is)<(script|style|head)\b.*?</\1>|<[^>]*>", " ", text)


def shortened(text: str) -> str:
    r"""One line of at most 300 characters, without control characters.

    >>> shortened("a\n\n  b")
    'a b'
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= LONGEST_WORDS else line[: LONGEST_WORDS - 1] + "…"


def _words(value: Any, deep: int = 0) -> str:  # noqa: ANN401  # any JSON
    if isinstance(value, str):
        return value
    if deep > _DEEPEST:
        return ""
    if isinstance(value, list):
        return "; ".join(filter(None, (_words(item, deep + 1) for item in value[:3])))
    if not isinstance(value, dict):
        return ""
    words = next(filter(None, (_words(value.get(name), deep + 1) for name in _WORDED)), "")
    place = value.get("loc")
    if isinstance(place, list) and words:  # what a field was refused for
        words = f"{'.'.join(map(str, place))}: {words}"
    metadata = value.get("metadata")
    behind = metadata.get("raw") if isinstance(metadata, dict) else None  # what a gateway's provider said
    return f"{words}: {behind}" if isinstance(behind, str) else words


def _codes(body: Any) -> list[str]:  # noqa: ANN401  # any JSON
    body = body[0] if isinstance(body, list) and body else body
    if not isinstance(body, dict):
        return []
    inner = body.get("error")
    levels = [inner, body] if isinstance(inner, dict) else [body]
    found = [level.get(name) for level in levels for name in _CODED]
    return [str(code) for code in found if isinstance(code, (str, int)) and not isinstance(code, bool)]


def _wait_in(words: str) -> float | None:
    """Seconds to wait that a server says in words alone: `Please try again in 1m20.5s`."""
    found = _IN_WORDS.search(words)
    if not found:
        return None
    minutes, seconds, unit = found.groups()
    return 60 * int(minutes or 0) + float(seconds) / (1_000 if unit.lower() == "ms" else 1)


def _phrase(status: int) -> str:
    try:
        return f"{HTTPStatus(status).phrase}, no words"
    except ValueError:
        return "no words"
