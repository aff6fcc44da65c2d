"""Secrets out of what goes into git: texts and whole lines, by the patterns and by the values that are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from compactlab.errors import TranscriptError
from compactlab.memory.lines import kept
from compactlab.memory.parts import Kept
from compactlab.readers import read_json
from compactlab.redaction import known_in, known_secrets, redacted, redacted_messages
from compactlab.shapes.parts import json_text
from compactlab.tokens import clean
from compactlab.transcript import Message, Text

WHOLE_LINE = "[REDACTED:message]"


@dataclass(frozen=True)
class Veil:
    """What is redacted by: values that stood behind a label somewhere, with their kinds."""

    known: Mapping[str, str] = field(default_factory=dict)

    def text(self, words: str) -> str:
        """Give the words without secrets and without what no file can hold.

        >>> Veil({"hunter22-4711": "password"}).text("it took hunter22-4711")
        'it took [REDACTED:password]'
        """
        return redacted(clean(words.replace("\0", "")), self.known)

    def line(self, one: Kept) -> bytes:
        """Give the line of a message without secrets: the very same bytes if it holds none.

        It is redacted as its message is read, then in every string of its JSON, decoded, JSON inside of strings too
        (a secret may have a shape only there), then as it is written. If no line is left, all words of the message go.
        """
        message = redacted_messages([one.message], self.known)[0]
        line = one.line if message is one.message else kept(message, one.id).line
        try:
            record = _parsed(line.decode("utf-8", "surrogateescape"))
            inner = json_text(self._walked(record))
            line = line if inner == json_text(record) else inner.encode()
        except RecursionError:  # nested deeper than anybody looks
            return _nothing_of(one)
        text = line.decode("utf-8", "surrogateescape")
        veiled = redacted(text, self.known)
        if veiled == text:
            return line
        left = _parsed(veiled)
        is_line = isinstance(left, dict) and left.get("id") == one.id
        return veiled.encode("utf-8", "surrogateescape") if is_line else _nothing_of(one)

    def _walked(self, value: Any) -> Any:  # noqa: ANN401  # JSON is any value
        if isinstance(value, dict):
            return {name: inner if name == "id" else self._walked(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._walked(inner) for inner in value]
        if not isinstance(value, str):
            return value
        inside = _parsed(value) if value[:1] in {"{", "["} else None
        walked = self._walked(inside) if inside is not None else None
        return redacted(value if walked == inside else json_text(walked), self.known)


def veil(messages: Iterable[Message], texts: Iterable[str]) -> Veil:
    """Make the veil for what is said of *messages* and in *texts*: what has a label in one is known in all."""
    return Veil(known_in(messages) | known_secrets(texts))


def _parsed(text: str) -> Any:  # noqa: ANN401  # JSON is any value
    """The value of a JSON text; None if it is none."""
    try:
        return read_json(text.encode("utf-8", "surrogateescape"))
    except (TranscriptError, UnicodeEncodeError):
        return None


def _nothing_of(one: Kept) -> bytes:
    words = (Text(WHOLE_LINE),)
    return kept(Message(one.message.role, words, source=one.message.source, synthetic=True), one.id).line
