"""OpenAI Chat Completions message lists: JSON, JSON lines, and logs of requests with their responses.

Read are a list of messages, `{"messages": [...], "tools": [...]}`, a list of those, JSON lines of one conversation or
one message each; the message of a logged `response` comes last. Lists of plain text count as this format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compactlab.readers._conversations import Conversation, Shape, confidence, transcripts
from compactlab.readers._usage import openai_usage
from compactlab.shapes.openai_chat import from_wire, to_wire
from compactlab.shapes.parts import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from compactlab.readers import Source
    from compactlab.transcript import Messages, Transcript, Usage


WHERE = "wherever requests are logged or conversations are kept"


def sniff(source: Source) -> float:
    """Look for message lists with calls beside the content, results in messages of their own, or plain text only."""
    return confidence(source, "openai_chat")


def read(source: Source) -> Iterator[Transcript]:
    """Read each conversation of a file; an unknown role is a `TranscriptError`."""
    return transcripts(source, _Dialect())


class _Dialect:
    name: Shape = "openai_chat"

    def messages(self, conversation: Conversation) -> Messages:
        return from_wire(conversation.messages)

    def usage(self, position: int | None, wire: object) -> Usage | None:
        return openai_usage(position, wire)


def write(transcripts: Iterable[Transcript]) -> str:
    """Write one conversation a line, with its id, title and tools."""
    return "".join(f"{_line(transcript)}\n" for transcript in transcripts)


def _line(transcript: Transcript) -> str:
    body = {"id": transcript.id, "title": transcript.title, "messages": to_wire(transcript.messages)}
    return json_text(body | ({"tools": list(transcript.tools)} if transcript.tools else {}))
