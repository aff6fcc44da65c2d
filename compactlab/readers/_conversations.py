"""Message lists in the ways people keep them: which conversations a file holds, and whose shape they have.

A conversation is a list of messages, a body with `messages` (and perhaps the `response` of a logged request), a JSON
line of either, or the lines themselves, one message each. Two providers' shapes look alike; `shape` decides by what
only one of them has, so that every file belongs to exactly one reader.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from msgspec.structs import replace

from compactlab.errors import TranscriptError
from compactlab.readers import Line, Lines, Source, read_json
from compactlab.readers._fields import first_string, mapping, string
from compactlab.readers._raw import keep_raw
from compactlab.readers._sessions import default_agent_type
from compactlab.transcript import Intake, Messages, Origin, Transcript, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Shape = Literal["openai_chat", "anthropic_messages"]

ROLES = {"system", "developer", "user", "assistant", "tool", "function"}
FOREIGN = {"trajectory_format", "tool_metadata", "projectHash", "llm_config", "simulations", "checkpoint", "platform"}
MOST = 0.5
"""Share of lines that must hold messages; the others are counted as not understood."""
NAMES = ("id", "session_id", "conversation_id", "instance_id", "traj_id")
ANTHROPIC_BLOCKS = {"tool_use", "tool_result", "server_tool_use", "thinking", "redacted_thinking", "document"}


class Conversation(NamedTuple):
    """Messages as they stand in the file, the object that held them (empty for a bare list), and where that stands."""

    messages: list[dict[str, Any]]
    body: dict[str, Any]
    where: str = ""


class Dialect(Protocol):
    """What a provider's message lists need to become transcripts."""

    name: Shape

    def messages(self, conversation: Conversation) -> Messages:
        """Turn a conversation into messages."""

    def usage(self, position: int | None, wire: object) -> Usage | None:
        """Read the token counts beside a response."""


def confidence(source: Source, wanted: Shape) -> float:
    """How sure a file of message lists is of the shape *wanted*: never for both shapes above 0."""
    if not source.values or not _is_held(source.values[0]):
        return 0.0
    held = sum(map(_is_held, source.values)) / len(source.values)
    found = [conversation for value in source.values for conversation in _seen(value)]
    if held < MOST or not found or _decided(source, found) != wanted:
        return 0.0
    sure = 0.8 if any(conversation.body for conversation in found) else 0.7
    return sure if held == 1 else sure / 2


def _decided(source: Source, found: Sequence[Conversation]) -> Shape:
    """The shape of what a file starts with; where that is plain text, the first line after it that tells decides."""
    if source.document is not None or any(_tells(conversation) for conversation in found):
        return shape(found)
    later = (conversation for line in source.lines() for conversation in _seen(line.value))
    telling = next((conversation for conversation in later if _tells(conversation)), None)
    return shape(found if telling is None else (telling,))


def _tells(conversation: Conversation) -> bool:
    return any(_is_openai(message) or _has_anthropic_block(message) for message in conversation.messages)


def _seen(value: object) -> Sequence[Conversation]:
    return (Conversation([value], {}),) if isinstance(value, dict) and _is_message(value) else _held(value)


def shape(conversations: Iterable[Conversation]) -> Shape:
    """Decide whose shape conversations have; plain text under plain roles counts as OpenAI's.

    >>> shape([Conversation([{"role": "user", "content": "Hi"}], {"system": "Be brief."})])
    'anthropic_messages'
    >>> shape([Conversation([{"role": "user", "content": "Hi"}], {})])
    'openai_chat'
    """
    conversations = tuple(conversations)
    messages = [message for conversation in conversations for message in conversation.messages]
    if any(_is_openai(message) for message in messages):
        return "openai_chat"
    if any(_has_anthropic_block(message) for message in messages):
        return "anthropic_messages"
    outside = any(isinstance(conversation.body.get("system"), str | list) for conversation in conversations)
    inside = any(message["role"] in {"system", "developer"} for message in messages)
    return "anthropic_messages" if outside and not inside else "openai_chat"


def _is_openai(message: dict[str, Any]) -> bool:
    calls = message.get("tool_calls") or message.get("function_call")
    return bool(calls) or message["role"] in {"tool", "function", "developer"}


def _has_anthropic_block(message: dict[str, Any]) -> bool:
    content = message.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return any(str(part.get("type")) in ANTHROPIC_BLOCKS or isinstance(part.get("source"), dict) for part in parts)


def transcripts(source: Source, dialect: Dialect) -> Iterator[Transcript]:
    """Make a transcript of each conversation of a file, one after the other.

    Its id is the one recorded beside it, else the file's name, with a number where there are several. What was read
    past is told with the last one.
    """
    raw = dialect.name == "anthropic_messages"
    lines = source.lines() if source.document is None else Lines(())
    unknown: Counter[str] = Counter()
    found = _of_document(source, raw=raw) if source.document is not None else _of_lines(lines, unknown, raw=raw)
    held: Transcript | None = None
    index = 0
    for index, conversation in enumerate(found):
        if held is not None:
            yield _numbered(held, source, index - 1)
        held = _transcript(source, dialect, conversation)
    if held is not None:
        read = lines.intake(unknown=unknown) if source.document is None else Intake(records=len(held.messages))
        yield replace(_numbered(held, source, index) if index else held, intake=read)


def _numbered(transcript: Transcript, source: Source, index: int) -> Transcript:
    """Number a transcript that has no id of its own."""
    if transcript.id != source.stem:
        return transcript
    return replace(transcript, id=f"{source.stem}-{index}", cluster=f"{source.stem}-{index}")


def _transcript(source: Source, dialect: Dialect, conversation: Conversation) -> Transcript:
    try:
        messages = dialect.messages(conversation)
    except TranscriptError as error:
        raise TranscriptError(f"{source.path}: {conversation.where}{error}") from error
    body = conversation.body
    used = {*NAMES, "title", "system", "messages", "tools", "response"}
    tools = body.get("tools")
    session = first_string(body, *NAMES) or source.stem
    return Transcript(
        id=session,
        format=dialect.name,
        messages=messages,
        path=str(source.path),
        title=string(body.get("title")),
        agent_type=default_agent_type(messages),
        cluster=session,
        tools=tuple(tool for tool in tools if isinstance(tool, str | dict)) if isinstance(tools, list) else (),
        usage=_usage(dialect, body, messages),
        origins=_origins(str(source.path), conversation),
        header={k: v for k, v in body.items() if k not in used and isinstance(v, str | int | float)},
    )


def _origins(path: str, conversation: Conversation) -> tuple[Origin, ...]:
    list_origin = Origin(path, f"{conversation.where}message {{}}")
    if not conversation.body.get("system"):
        return (list_origin,)
    return (Origin(path, f"{conversation.where}system"), replace(list_origin, first=1))


def _usage(dialect: Dialect, body: dict[str, Any], messages: Messages) -> tuple[Usage, ...]:
    """Counts of a logged response, which is the last message; beside a list that has none they are of them all."""
    response = mapping(body.get("response"))
    found = dialect.usage(len(messages) - 1 if response else None, (response or body).get("usage"))
    return () if found is None else (found,)


def _of_document(source: Source, *, raw: bool) -> Iterator[Conversation]:
    document = source.document
    if raw:
        keep_raw(document, source.data)
    if _is_message(document):
        yield Conversation([mapping(document)], {})
        return
    held = _held(document)
    for index, conversation in enumerate(held):
        yield conversation._replace(where=f"conversation {index}: " if len(held) > 1 else "")


def _of_lines(lines: Iterable[Line], unknown: Counter[str], *, raw: bool) -> Iterator[Conversation]:
    """The conversations of JSON lines, one a line; lines of one message each make one together.
    Other lines are counted as *unknown*.

    With *raw*, arguments of calls stand in them as the bytes that were recorded.
    """
    single: list[dict[str, Any]] = []
    for line in lines:
        if raw and isinstance(line.value, dict | list):
            keep_raw(line.value, line.raw)
        if isinstance(line.value, dict) and _is_message(line.value):
            single.append(line.value)
            continue
        held = _held(line.value)
        unknown["line without messages"] += not held
        if held and single:
            yield Conversation(single, {})
            single = []
        yield from (conversation._replace(where=f"line {line.number}: ") for conversation in held)
    if single:
        yield Conversation(single, {})


def _is_held(value: object) -> bool:
    """Whether a value is a message, or holds at least one conversation and nothing else."""
    if _is_message(value):
        return True
    if isinstance(value, list) and value and not _is_message(value[0]):
        return all(isinstance(inner, dict | list) and bool(_conversation(inner)) for inner in value)
    return bool(_conversation(value))


def _held(value: object) -> Sequence[Conversation]:
    one = _conversation(value)
    if one:
        return (one,)
    if not isinstance(value, list):
        return ()
    return tuple(found for inner in value if (found := _conversation(inner)))


def _conversation(value: object) -> Conversation | None:
    if isinstance(value, list):
        return Conversation(value, {}) if value and all(_is_message(inner) for inner in value) else None
    if not isinstance(value, dict) or not FOREIGN.isdisjoint(value):
        return None
    messages = value.get("messages")
    if isinstance(messages, str) and messages.startswith("["):
        messages = read_json(messages.encode("utf-8", "surrogatepass"))
    if not isinstance(messages, list) or not all(_is_message(inner) for inner in messages):
        return None
    if not messages and not value.get("system"):
        return None
    return Conversation([*messages, *_response(value.get("response"))], value)


def _response(response: object) -> list[dict[str, Any]]:
    """Find the message that a logged request was answered with: the first choice, or the response itself."""
    if not isinstance(response, dict):
        return []
    choices = response.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else response
    return [message] if isinstance(message, dict) and _is_message(message) else []


def _is_message(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("role"), str) or value["role"] not in ROLES:
        return False
    if value["role"] == "tool" and isinstance(value.get("tool_call_id"), str):
        return True
    calls = value.get("tool_calls") or value.get("function_call")
    return ("content" in value and isinstance(value["content"], str | list | None)) or bool(calls)
