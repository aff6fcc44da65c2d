"""What both shapes share: JSON text, and words for the kinds of content that our blocks have no place for."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NoReturn

from compactlab.errors import TranscriptError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROLES = ("system", "user", "assistant", "tool")
LONGEST_DATA = 2_000  # characters of base64 that may stand for themselves
_NOT_WORDS = {"type", "cache_control", "citations", "encrypted_content", "encrypted_index", "signature"}
_LONE = re.compile("[\ud800-\udfff]")
_DATA = re.compile(
    r"data:[^\s,;]*(?:;[^\s,;]+)*,\S*|[A-Za-z0-9+/_-]+={0,2}|(?:[A-Za-z0-9+/]{60,80}\r?\n)+[A-Za-z0-9+/]*={0,2}\s*"
)


def json_text(value: object) -> str:
    r"""Write *value* as JSON on one line, non-ASCII as it is, lone surrogates escaped so that any file can hold it.

    >>> json_text({"name": "Zoë", "broken": "\ud800"})
    '{"name": "Zoë", "broken": "\\ud800"}'
    """
    return _LONE.sub(lambda lone: f"\\u{ord(lone.group()):04x}", json.dumps(value, ensure_ascii=False))


def words(part: object) -> str:
    """Give the readable content of any block: its one text if it has one, else its JSON without data and signatures.

    >>> words({"type": "document", "source": {"type": "text", "data": "Dear all"}, "title": None})
    'Dear all'
    >>> words({"type": "web_search_result", "title": "Tides", "url": "https://example.org", "encrypted_content": "x"})
    '{"title": "Tides", "url": "https://example.org"}'
    """
    if isinstance(part, str):
        return part
    pruned = _pruned(part)
    if not pruned and isinstance(part, dict) and isinstance(part.get("type"), str):
        return f"[{part['type']}]"
    texts = list(_strings(pruned))
    return texts[0] if len(texts) == 1 else json_text(pruned)


def _pruned(value: object) -> object:
    if isinstance(value, dict):
        return {k: _pruned(v) for k, v in value.items() if k not in _NOT_WORDS and v is not None}
    if isinstance(value, list):
        return [_pruned(inner) for inner in value]
    return _shown_data(value) if isinstance(value, str) else value


def _shown_data(text: str) -> str:
    """Base64, in one run or in lines of one length, and data URIs by their size; words stay, however many."""
    if (text.startswith("data:") or len(text) > LONGEST_DATA) and _DATA.fullmatch(text):
        return f"[{len(text)} characters of data]"
    return text


def _strings(value: object) -> Iterable[str]:
    """Leaves of a JSON value as texts; one that is no string counts twice, so that it is never taken for words."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from [] if key == "media_type" else _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
    elif isinstance(value, str):
        yield value
    else:
        yield from ("", "")


def wrong_role(index: int, role: object, expected: Iterable[str] = ROLES) -> NoReturn:
    """Raise the error for a role that no message may have."""
    *most, last = expected
    raise TranscriptError(f"message {index} has role {role!r}; expected {', '.join(most)} or {last}")


def role_of(wire: Mapping[str, Any], index: int, expected: Iterable[str]) -> str:
    """Give the role of a wire message; `TranscriptError`, with its index, if it is none of *expected*."""
    role = wire.get("role")
    expected = tuple(expected)
    if role not in expected:
        wrong_role(index, role, expected)
    return str(role)
