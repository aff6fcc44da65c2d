"""Lines of a living conversation: a message and its identity on one line of compactlab's own format, and back."""

from __future__ import annotations

import secrets
from typing import Any

from msgspec.structs import replace

from compactlab.errors import TranscriptError
from compactlab.memory.parts import Kept
from compactlab.readers import Line, written
from compactlab.readers.compactlab import messages_of
from compactlab.shapes.parts import json_text
from compactlab.transcript import Message, Transcript

IDENTITY_BYTES = 8


def new_identity() -> str:
    """Make an identity for one message: 16 hex digits by chance."""
    return secrets.token_hex(IDENTITY_BYTES)


def kept(message: Message, identity: str = "") -> Kept:
    r"""Write a message as a line, with a new identity unless it has one; what no JSON can hold is escaped.

    The line says whether a pass made the message (`source` is None), not where it stood elsewhere.

    >>> from compactlab.transcript import Text
    >>> kept(Message("user", (Text("Hi \ud83d"),)), "00c0ffee").line
    b'{"type": "message", "role": "user", "content": [{"type": "text", "text": "Hi \\ud83d"}], "source": null, "id": "00c0ffee"}'
    """  # noqa: E501  # a line is a line
    identity = identity or new_identity()
    placed = message if message.source is None else replace(message, source=0)
    line = written((Transcript("", "compactlab", (placed,)),)).split("\n")[1]
    return Kept(identity, f'{line[:-1]}, "id": {json_text(identity)}}}'.encode(), message)


def read_back(line: Line, index: int, where: str) -> Kept:
    """Read the message of a line; its `source` is *index*, or None if a pass made it.

    `TranscriptError`, which begins with *where*, for what is no message or has no identity.
    """
    identity = line.value.get("id")
    if not isinstance(identity, str) or not identity:
        raise TranscriptError(f"{where} is a message without an id; `compactlab memory append` gives it one")
    found = messages_of(line, index, where)
    if len(found) != 1:
        raise TranscriptError(f"{where} holds results beside words; `compactlab memory append` makes two lines of it")
    return Kept(identity, line.raw, found[0])


def note(kind: str, **told: Any) -> bytes:  # noqa: ANN401  # JSON is any value
    """Write a line that is no message: what happened to the conversation.

    >>> note("ignored", reason="nearly done")
    b'{"type": "ignored", "reason": "nearly done"}'
    """
    return json_text({"type": kind, **told}).encode()
