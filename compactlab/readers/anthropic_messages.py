"""Anthropic Messages bodies: `{"system": ..., "messages": [...], "tools": [...]}`, bare lists, and JSON lines of those.

A `system` beside the list is message 0; the list follows it. Arguments of calls are kept as they were recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compactlab.readers._conversations import Conversation, Shape, confidence, transcripts
from compactlab.readers._usage import anthropic_usage
from compactlab.shapes.anthropic import from_wire, to_wire
from compactlab.shapes.parts import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from compactlab.readers import Source
    from compactlab.transcript import Messages, Transcript, Usage


WHERE = "wherever requests are logged or conversations are kept"


def sniff(source: Source) -> float:
    """Look for message lists with calls, results or thinking among their blocks, or with the system prompt outside."""
    return confidence(source, "anthropic_messages")


def read(source: Source) -> Iterator[Transcript]:
    """Read each conversation of a file; an unknown role is a `TranscriptError`."""
    return transcripts(source, _Dialect())


class _Dialect:
    name: Shape = "anthropic_messages"

    def messages(self, conversation: Conversation) -> Messages:
        return from_wire(conversation.messages, conversation.body.get("system"))

    def usage(self, position: int | None, wire: object) -> Usage | None:
        return anthropic_usage(position, wire)


def write(transcripts: Iterable[Transcript]) -> str:
    """Write one request body a line, with its id, title and tools."""
    return "".join(f"{_line(transcript)}\n" for transcript in transcripts)


def _line(transcript: Transcript) -> str:
    wire = to_wire(transcript.messages)
    body = {"id": transcript.id, "title": transcript.title, "system": wire.system, "messages": wire.messages}
    return json_text(body | ({"tools": list(transcript.tools)} if transcript.tools else {}))
