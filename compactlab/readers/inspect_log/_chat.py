"""Chat messages of Inspect, with what stands in attachments put in its place."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.readers._fields import array, mapping, string, strings
from compactlab.readers.inspect_log._own import is_rest, own_keys, own_message
from compactlab.shapes import images
from compactlab.shapes.parts import json_text, words
from compactlab.transcript import Block, Image, Message, Messages, Reasoning, Role, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
PEOPLE = {"input", "operator"}
_ATTACHED = ("attachment://", "tc://")
_REMOVED = "<base64-data-removed>"
_NESTED = 200
Mark = tuple[str, object, tuple[str, ...], str]


class Chat:
    """Reads the messages of one sample; *wires* tells whether its data set's own messages are marked as such.

    *typed* are texts that hold what an operator typed, in versions that do not mark that.
    """

    def __init__(
        self, attachments: Mapping[str, Any], wires: Iterable[dict[str, Any]], typed: Iterable[str] = ()
    ) -> None:
        self._attachments = attachments
        self._typed = [self._text(text) for text in typed]
        self._input_is_marked = any(wire.get("role") == "user" and wire.get("source") == "input" for wire in wires)
        self._marks: dict[int, Mark] = {}
        self._made_ids = 0
        self.unknown: Counter[str] = Counter()

    def message(self, wire: dict[str, Any], source: int | None) -> Message | None:
        """Read a message; None, counted, if its role is unknown.

        What the data set and an operator said is a person's; other users' words are the solver's, where that is marked.
        """
        own = own_message(wire, source)
        if own is not None:
            return own
        role = ROLES.get(string(wire.get("role")))
        if role is None:
            self.unknown[f"message of role {wire.get('role')!r}"[:80]] += 1
            return None
        if role == "tool":
            return Message(role, (self._result(wire),), source=source)
        blocks = self._content(wire.get("content"))
        if role == "assistant":
            old = string(wire.get("reasoning"))
            blocks = [*([Reasoning(self._text(old))] if old else []), *blocks, *self._calls(wire)]
        return Message(role, tuple(blocks), source=source, synthetic=self._is_made(role, wire))

    def mark(self, wire: dict[str, Any]) -> Mark:
        """What tells a message from others, whatever its id: role, words, and the ids of calls."""
        found = self._marks.get(id(wire))
        if found is None:
            content = wire.get("content")
            parts = tuple(self._part_mark(part) for part in array(content))
            said = self._text(content) if isinstance(content, str) else parts
            ids = tuple(str(mapping(call).get("id")) for call in array(wire.get("tool_calls")))
            found = (string(wire.get("role")), said, ids, string(wire.get("tool_call_id")))
            self._marks[id(wire)] = found
        return found

    def words(self, wire: dict[str, Any]) -> str:
        """The text of a message."""
        content = wire.get("content")
        if isinstance(content, str):
            return self._text(content)
        return "\n".join(self._text(string(mapping(part).get("text"))) for part in array(content))

    def _part_mark(self, part: object) -> tuple[str, ...]:
        return tuple(self._text(value) for value in mapping(part).values() if isinstance(value, str))

    def _is_made(self, role: Role, wire: dict[str, Any]) -> bool:
        source, own = wire.get("source"), own_keys(wire).get("synthetic")
        if isinstance(own, bool):
            return own
        if role == "assistant":
            return source == "input"
        if role != "user":
            return False
        answers = bool(strings(wire.get("tool_call_id"))) or bool(mapping(wire.get("metadata")).get("summary"))
        return answers or (self._input_is_marked and string(source) not in PEOPLE and not self._was_typed(wire))

    def _was_typed(self, wire: dict[str, Any]) -> bool:
        said = self.words(wire).strip() if self._typed else ""
        return bool(said) and any(said in text for text in self._typed)

    def _text(self, text: str) -> str:
        """Text as it is, or what is attached under its name."""
        if text.startswith(_ATTACHED):
            attached = self._attachments.get(text.partition("://")[2])
            return attached if isinstance(attached, str) else text
        return text

    def _resolved(self, value: Any, depth: int = 0) -> Any:  # noqa: ANN401  # JSON is any value
        if isinstance(value, str):
            return self._text(value)
        if depth > _NESTED:
            return value
        if isinstance(value, list):
            return [self._resolved(inner, depth + 1) for inner in value]
        if isinstance(value, dict):
            return {key: self._resolved(inner, depth + 1) for key, inner in value.items()}
        return value

    def _content(self, given: object) -> list[Block]:
        if given is None or given == "":
            return []
        if isinstance(given, str):
            return [Text(self._text(given))]
        parts = given if isinstance(given, list) else [given]
        return [block for part in parts for block in self._part(part)]

    def _part(self, part: object) -> list[Block]:
        fields = mapping(part)
        kind = fields.get("type")
        if kind == "text" and isinstance(fields.get("text"), str):
            return [Text(self._text(fields["text"]))]
        if kind == "reasoning":
            return [self._reasoning(fields)]
        if kind == "image":
            return [self._image(string(fields.get("image")))]
        if kind == "tool_use":
            return self._tool_use(fields)
        return [Text(words(self._resolved(part)))]

    def _reasoning(self, fields: dict[str, Any]) -> Reasoning:
        text, summary = self._text(string(fields.get("reasoning"))), self._text(string(fields.get("summary")))
        signature = string(fields.get("signature")) or None
        if fields.get("redacted") is True:
            return Reasoning(summary, signature=signature, opaque=text)
        return Reasoning(text, signature=signature)

    def _image(self, address: str) -> Image:
        address = self._text(address)
        if not address or address == _REMOVED:
            return Image(images.UNKNOWN_TYPE)
        return images.from_url(address)

    def _tool_use(self, fields: dict[str, Any]) -> list[Block]:
        """A tool that the provider ran: call and result inside the response."""
        name, call_id = string(fields.get("name")), string(fields.get("id"))
        error = self._text(string(fields.get("error")))
        result = self._resolved(fields.get("result"))
        text = result if isinstance(result, str) else "" if result is None else json_text(result)
        said = tuple(Text(part) for part in (text, error) if part)
        return [
            ToolCall(call_id, name, self._arguments(fields.get("arguments"))),
            ToolResult(call_id, said, is_error=bool(error)),
        ]

    def _calls(self, wire: dict[str, Any]) -> Iterable[ToolCall]:
        written = strings(own_keys(wire).get("arguments"))
        for place, call in enumerate(array(wire.get("tool_calls"))):
            fields = mapping(call)
            call_id = string(fields.get("id")) or f"call_{self._made_ids}"
            self._made_ids += not fields.get("id")
            given = written[place] if place < len(written) else self._arguments(fields.get("arguments"))
            yield ToolCall(call_id, string(fields.get("function")), given)

    def _arguments(self, given: object) -> str:
        if given is None:
            return "{}"
        return self._text(given) if isinstance(given, str) else json_text(self._resolved(given))

    def _result(self, wire: dict[str, Any]) -> ToolResult:
        """A result; providers are sent the words of its error, which stand beside its content."""
        parts = self._content(wire.get("content"))
        kept = tuple(part if isinstance(part, Text | Image) else Text(words(part)) for part in parts)
        error = wire.get("error") or wire.get("tool_error")
        message = self._text(error if isinstance(error, str) else string(mapping(error).get("message")))
        result = ToolResult(string(wire.get("tool_call_id")), kept, is_error=bool(error))
        if message and message not in result.text:
            return replace(result, content=(*kept, Text(message)))
        return result


def chat_messages(wires: Sequence[dict[str, Any]]) -> Messages:
    """Read chat messages that stand in no log; each keeps its index as `source`.

    >>> chat_messages([{"role": "user", "content": "hello"}])
    (Message(role='user', blocks=(Text(text='hello'),), source=0, synthetic=False, pinned=False, timestamp=None),)
    """
    chat = Chat({}, wires)
    read = (chat.message(wire, index) for index, wire in enumerate(wires) if not is_rest(wire))
    return tuple(message for message in read if message is not None)
