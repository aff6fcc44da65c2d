"""Contents of the Gemini API: parts to blocks, calls and responses paired, and which texts no person wrote."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.readers._arguments import arguments
from compactlab.readers._fields import array, first_string, mapping, string
from compactlab.shapes import images
from compactlab.shapes.parts import json_text, words
from compactlab.transcript import Block, Image, Message, Messages, Reasoning, Role, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Sequence

SNAPSHOT = "<state_snapshot>"
_ROLES: dict[str, Role] = {"user": "user", "model": "assistant", "function": "user", "system": "system"}
_PARTS = {
    *("text", "functionCall", "functionResponse", "inlineData", "fileData", "thought", "executableCode"),
    *("codeExecutionResult", "function_call", "function_response", "inline_data", "file_data"),
}
_NOTES = (
    "<session_context>",
    SNAPSHOT,
    "<hook_context>",
    "This is the Gemini CLI. We are setting up the context for our chat.",
    "Here is the user's editor context",
    "Here is a summary of changes in the user's editor context",
    "System: Please continue.",
)
_ANSWERS = ("Got it. Thanks for the context!", "Got it. Thanks for the additional context!")
_FILES, _FILES_END = "--- Content from referenced files ---", "--- End of content ---"


def is_content(value: object) -> bool:
    """Whether a value is a content: a role of the API, and parts without the `type` that other formats give theirs."""
    fields = mapping(value)
    parts = fields.get("parts")
    if not isinstance(parts, list) or fields.get("role") not in ("user", "model", "function"):
        return False
    held = [mapping(part) for part in parts]
    return all("type" not in part and "kind" not in part and not _PARTS.isdisjoint(part) for part in held)


class Pairing:
    """Gives ids to calls that have none, and finds the call that a response without one answers: by name and order."""

    def __init__(self) -> None:
        self._made = 0
        self._waiting: list[tuple[str, str]] = []

    def call(self, given: str, name: str) -> str:
        """The id of a call."""
        if not given:
            given = f"call_{self._made}"
            self._made += 1
        self._waiting.append((name, given))
        return given

    def response(self, given: str, name: str) -> str:
        """The id of the call that a response is for; empty if no call waits."""
        place = next((i for i, entry in enumerate(self._waiting) if entry == (name, given) or entry[1] == given), None)
        if not given:
            named = (i for i, entry in enumerate(self._waiting) if entry[0] == name)
            place = next(named, 0 if self._waiting else None)
        if place is None:
            return given
        return self._waiting.pop(place)[1]


class Made(NamedTuple):
    """What contents became, and what was left out, by kind."""

    messages: Messages
    skipped: Counter[str]
    unknown: Counter[str]


def from_contents(contents: Sequence[object], first: int = 0) -> Made:
    """Read a history; *first* is the number of its first content."""
    pairing = Pairing()
    messages: list[Message] = []
    skipped: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    for index, content in enumerate(contents, first):
        fields = mapping(content)
        role = _ROLES.get(string(fields.get("role")))
        if role is None:
            unknown[f"content of role {string(fields.get('role')) or 'none'}"] += 1
            continue
        made = heard(blocks(fields.get("parts"), pairing), role, index)
        skipped["content without parts"] += not made
        messages += made
    return Made(tuple(messages), skipped, unknown)


def system_text(document: dict[str, Any]) -> str:
    """The system instruction that stands beside contents; empty if there is none."""
    given = document.get("systemInstruction", document.get("system_instruction"))
    found = blocks(given if isinstance(given, str) else mapping(given).get("parts", given), Pairing())
    return "\n".join(block.text for block in found if isinstance(block, Text))


def heard(found: Sequence[Block], role: Role, index: int, timestamp: str | None = None) -> list[Message]:
    """Make messages of the blocks of one content: results as `tool`, what the client added to a prompt as synthetic."""
    if not found:
        return []
    results = tuple(block for block in found if isinstance(block, ToolResult))
    rest = [block for block in found if not isinstance(block, ToolResult)]
    made = [Message("tool", results, source=index, timestamp=timestamp)] if results else []
    if role != "user":
        ready = len(rest) == 1 and isinstance(rest[0], Text) and rest[0].text.strip() in _ANSWERS
        spoken = Message(role, tuple(rest), source=index, synthetic=ready, timestamp=timestamp)
        return [*made, spoken] if rest else made
    for synthetic, run in groupby(zip(rest, _added(rest), strict=True), key=lambda entry: entry[1]):
        heard_blocks = tuple(block for block, _ in run)
        made.append(Message("user", heard_blocks, source=index, synthetic=synthetic, timestamp=timestamp))
    return made


def _added(found: Sequence[Block]) -> list[bool]:
    """For each block of a prompt whether the client wrote it: notes, and contents of files that were referred to."""
    flags: list[bool] = []
    inside = False
    for block in found:
        text = block.text.strip() if isinstance(block, Text) else ""
        inside = inside or text.startswith(_FILES)
        flags.append(inside or text.startswith(_NOTES))
        inside = inside and not text.endswith(_FILES_END)
    return flags


def blocks(parts: object, pairing: Pairing) -> list[Block]:
    """Read parts, or text; pictures behind a response belong to it."""
    if isinstance(parts, str):
        return [Text(parts)] if parts else []
    found: list[Block] = []
    held = parts if isinstance(parts, list) else [] if parts is None else [parts]
    for part in held:
        for block in _part(part, pairing):
            before = found[-1] if found else None
            if isinstance(block, Image) and isinstance(before, ToolResult):
                found[-1] = ToolResult(before.call_id, (*before.content, block), before.is_error)
            else:
                found.append(block)
    return found


def _part(part: object, pairing: Pairing) -> list[Block]:
    if isinstance(part, str):
        return [Text(part)] if part else []
    fields = mapping(part)
    signature = first_string(fields, "thoughtSignature", "thought_signature")
    text = fields.get("text")
    if isinstance(text, str) and fields.get("thought"):
        return [Reasoning(text, signature=signature or None)] if text or signature else []
    signed: list[Block] = [Reasoning(opaque=signature)] if signature else []
    call = _either(fields, "functionCall", "function_call")
    if call:
        name = string(call.get("name"))
        return [*signed, ToolCall(pairing.call(string(call.get("id")), name), name, arguments(call.get("args")))]
    response = _either(fields, "functionResponse", "function_response")
    if response:
        return [_result(response, pairing)]
    return [*signed, *_shown(fields, text)]


def _shown(fields: dict[str, Any], text: object) -> list[Block]:
    inline, file = _either(fields, "inlineData", "inline_data"), _either(fields, "fileData", "file_data")
    if inline or file:
        return [_data(inline, file)]
    if isinstance(text, str):
        return [Text(text)] if text else []
    return [Text(words(fields))] if fields and fields.keys() - {"thought", "thoughtSignature"} else []


def _either(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    return next((found for name in names if (found := mapping(fields.get(name)))), {})


def _data(inline: dict[str, Any], file: dict[str, Any]) -> Text | Image:
    """A picture, or, of another kind of data, its name."""
    mime = first_string(inline or file, "mimeType", "mime_type")
    if mime and not mime.startswith("image/"):
        return Text(f"[{mime}: {first_string(inline or file, 'displayName', 'fileUri', 'file_uri') or 'data'}]")
    if isinstance(inline.get("data"), str):
        return images.from_base64(mime, inline["data"])
    uri = first_string(file, "fileUri", "file_uri")
    return images.from_url(uri) if uri else Image(mime or images.UNKNOWN_TYPE)


def _result(response: dict[str, Any], pairing: Pairing) -> ToolResult:
    call_id = pairing.response(string(response.get("id")), string(response.get("name")))
    return answer(call_id, response)


def answer(call_id: str, response: dict[str, Any], *, failed: bool = False) -> ToolResult:
    """Make the result of a function response: its `output`, its `error`, or all that it holds, and its own parts."""
    given = response.get("response")
    held = mapping(given)
    said = held.get("output", held.get("error")) if len(held) == 1 else None
    value = said if said is not None else given
    text = value if isinstance(value, str) else "" if value is None else json_text(value)
    inner = [block for part in array(response.get("parts")) for block in _part(part, Pairing())]
    shown = [block for block in inner if isinstance(block, Text | Image)]
    content = (*([Text(text)] if text else []), *shown)
    return ToolResult(call_id, content, is_error=failed or ("error" in held and "output" not in held))
