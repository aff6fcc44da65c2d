"""Claude Code's own session files, written: one record a message, linked, with boundaries where it was compacted.

What the format has no place for (a role, a mark, arguments that are no JSON object, the order after a compaction)
stands under a key of our own, which Claude Code passes over and `read` heeds. Uuids are made of the session's id and
the place of the record: the same transcript gives the same bytes.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, UUID

import msgspec

from compactlab.errors import TranscriptError
from compactlab.readers._own_blocks import block_to
from compactlab.readers.claude_code import _kinds
from compactlab.shapes.parts import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from compactlab.transcript import Message, RecordedCompaction, Transcript, Usage

VERSION = "2.1.0"
TYPES = {"assistant": "assistant", "system": "system"}


def write(transcripts: Iterable[Transcript]) -> str:
    """Write one transcript as a session file; `TranscriptError` for several, of which each is a file of its own."""
    given = tuple(transcripts)
    if len(given) != 1:
        raise TranscriptError(f"a Claude Code file holds one session; expected 1 transcript, got {len(given)}")
    return "".join(f"{line}\n" for line in _Writer(given[0]).lines())


class _Writer:
    """A session, written record by record; each hangs from the one before it."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.uuids = [self._uuid(f"message {index}") for index in range(len(transcript.messages))]
        self.usage: dict[int | None, Usage] = {usage.position: usage for usage in transcript.usage}
        self.last: str | None = None
        self.made = 0

    def _uuid(self, name: str) -> str:
        """The uuid of version 5 that RFC 4122 gives a name, here of the session's id and a place in it."""
        named = f"compactlab:{self.transcript.id}/{name}".encode("utf-8", "surrogatepass")
        return str(
            UUID(bytes=hashlib.sha1(NAMESPACE_URL.bytes + named, usedforsecurity=False).digest()[:16], version=5)
        )

    def lines(self) -> Iterator[str]:
        transcript = self.transcript
        yield json_text(self._head())
        if transcript.title:
            yield json_text({"type": "custom-title", "customTitle": transcript.title, "sessionId": transcript.id})
        compactions = sorted(transcript.compactions, key=lambda compaction: compaction.position)
        for index, message in enumerate(transcript.messages):
            while compactions and compactions[0].position <= index:
                yield from self._compaction(compactions.pop(0))
            yield self._line(message, self.uuids[index], self._spoken(index, message))
        for compaction in compactions:
            yield from self._compaction(compaction)

    def _head(self) -> dict[str, Any]:
        transcript = self.transcript
        head = {
            "type": _kinds.OWN,
            "sessionId": transcript.id,
            "id": transcript.id,
            "agent_type": transcript.agent_type,
        }
        return head | {"cluster": transcript.cluster} | ({"tools": list(transcript.tools)} if transcript.tools else {})

    def _envelope(self, uuid: str, timestamp: str | None = None) -> dict[str, Any]:
        """The keys of every record that stands in the tree."""
        envelope = {
            "parentUuid": self.last,
            "isSidechain": False,
            "userType": "external",
            "sessionId": self.transcript.id,
            "version": VERSION,
            "uuid": uuid,
        }
        self.last = uuid
        return envelope | ({} if timestamp is None else {"timestamp": timestamp})

    def _spoken(self, index: int, message: Message) -> dict[str, Any]:
        """What stands in a response beside its content."""
        if message.role != "assistant":
            return {}
        model = self.transcript.header.get("model")
        model = model if isinstance(model, str) and model else "unknown"
        named = {"id": f"msg_{self.uuids[index].replace('-', '')}", "type": "message"}
        spoken = named | {"model": "<synthetic>" if message.synthetic else model}
        usage = self.usage.get(index)
        if usage is None:
            return spoken
        counts = {"input_tokens": usage.input - usage.cached, "cache_read_input_tokens": usage.cached}
        return spoken | {"usage": counts | {"cache_creation_input_tokens": 0, "output_tokens": usage.output}}

    def _line(self, message: Message, uuid: str, spoken: dict[str, Any], **more: Any) -> str:  # noqa: ANN401  # JSON
        kind = TYPES.get(message.role, "user")
        keys = {"type": kind} | ({"subtype": _kinds.SYSTEM_PROMPT} if kind == "system" else {})
        meta = {"isMeta": True} if message.synthetic and kind == "user" else {}
        made = more.pop("made", False)
        own = {"role": message.role, "made": made, "synthetic": message.synthetic, "pinned": message.pinned}
        told = {name: value for name, value in own.items() if value}
        record = self._envelope(uuid, message.timestamp) | keys | meta | more | {_kinds.OWN: told}
        return _composed(record, {"role": kind} | spoken, message)

    def _compaction(self, compaction: RecordedCompaction) -> Iterator[str]:
        """A boundary, and after it a record for each message that the compaction made."""
        name = self._uuid(f"boundary {self.made}")
        after: list[str] = []
        kept: list[str] = []
        made: list[tuple[str, Message]] = []
        for entry in compaction.after:
            if not isinstance(entry, int):
                self.made += 1
                made.append((self._uuid(f"made {self.made}"), entry))
                after.append(made[-1][0])
            elif 0 <= entry < len(self.uuids):
                kept.append(self.uuids[entry])
                after.append(self.uuids[entry])
        self.made += 1
        summary = next((uuid for uuid, message in made if message.text == compaction.summary), "")
        yield json_text(self._boundary(compaction, name, kept, summary or name) | {_kinds.OWN: _own(compaction, after)})
        for uuid, message in made:
            flags = {"isCompactSummary": True, "isVisibleInTranscriptOnly": True} if uuid == summary else {}
            yield self._line(message, uuid, {}, made=True, **flags)

    def _boundary(self, compaction: RecordedCompaction, uuid: str, kept: list[str], anchor: str) -> dict[str, Any]:
        metadata: dict[str, Any] = {"trigger": compaction.trigger}
        for key, tokens in (("preTokens", compaction.tokens_before), ("postTokens", compaction.tokens_after)):
            metadata |= {} if tokens is None else {key: tokens}
        if kept:
            metadata["preservedMessages"] = {"anchorUuid": anchor, "uuids": kept, "allUuids": kept}
        envelope = self._envelope(uuid)
        envelope |= {"parentUuid": None, "logicalParentUuid": envelope["parentUuid"]}
        kind = {"type": "system", "subtype": _kinds.BOUNDARY, "content": "Conversation compacted"}
        return envelope | kind | {"isMeta": False, "compactMetadata": metadata}


def _own(compaction: RecordedCompaction, after: list[str]) -> dict[str, Any]:
    summariser = {"summariser": compaction.summariser} if compaction.summariser else {}
    return {"after": after, "summary": compaction.summary} | summariser


def _composed(record: dict[str, Any], head: dict[str, Any], message: Message) -> str:
    """Compose a line in which the arguments of calls stand as they were recorded, where that can be read again."""
    for sliced in (True, False):
        blocks = ", ".join(block_to(block, sliced=sliced) for block in message.blocks)
        inner = f'{json_text(head)[:-1]}, "content": [{blocks}]}}'
        line = f'{json_text(record)[:-1]}, "message": {inner}}}'
        try:
            msgspec.json.decode(line.encode())
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            continue
        break
    return line
