"""Message lists in the ways people keep them: which conversations a file holds, and whose shape they have.

A conversation is a list of messages, a body with `messages` (and perhaps the `response` of a logged request), a JSON
line of either, or the lines themselves, one message each. Two providers' shapes look alike; `shape` decides by what
only one of them has, so that every file belongs to exactly one reader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from compactlab.errors import TranscriptError
from compactlab.readers import Sample, Source, default_agent_type, read_json
from compactlab.readers._raw import keep_raw
from compactlab.transcript import Messages, Transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Shape = Literal["openai_chat", "anthropic_messages"]

ROLES = {"system", "developer", "user", "assistant", "tool", "function"}
FOREIGN = {"trajectory_format", "tool_metadata", "projectHash", "llm_config", "simulations", "checkpoint"}
NAMES = ("id", "session_id", "conversation_id", "instance_id", "traj_id")
ANTHROPIC_BLOCKS = {"tool_use", "tool_result", "server_tool_use", "thinking", "redacted_thinking", "document"}


class Conversation(NamedTuple):
    """Messages as they stand in the file, and the object that held them (empty for a bare list)."""

    messages: list[dict[str, Any]]
    body: dict[str, Any]


def confidence(sample: Sample, wanted: Shape) -> float:
    """How sure a file of message lists is of the shape *wanted*: never for both shapes above 0."""
    if not all(_is_held(value) for value in sample.values):
        return 0.0
    found = [conversation for value in _whole(sample.source) for conversation in _held(value)]
    if not found or shape(found) != wanted:
        return 0.0
    return 0.8 if any(conversation.body for conversation in found) else 0.7


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


def transcripts(source: Source, name: Shape, read: Callable[[Conversation], Messages]) -> Iterator[Transcript]:
    """Make a transcript of each conversation of a file; *read* turns one into messages.

    Its id is the one recorded beside it, else the file's name, with a number where there are several.
    """
    values = [value for value in _whole(source, raw=name == "anthropic_messages") if _is_held(value)]
    found = [conversation for value in values for conversation in _held(value)]
    for index, conversation in enumerate(found):
        try:
            messages = read(conversation)
        except TranscriptError as error:
            where = f"{source.path.name}: " + (f"conversation {index}: " if len(found) > 1 else "")
            raise TranscriptError(f"{where}{error}") from error
        yield _transcript(source, name, conversation.body, messages, "" if len(found) == 1 else f"-{index}")


def _transcript(source: Source, name: Shape, body: dict[str, Any], messages: Messages, nth: str) -> Transcript:
    own = next((body[key] for key in NAMES if isinstance(body.get(key), str) and body[key]), None)
    used = {*NAMES, "title", "system", "messages", "tools", "response"}
    tools = body.get("tools")
    lines = None if source.document is not None or nth not in {"", "-0"} else source.lines
    session = own or source.path.stem + nth
    return Transcript(
        id=session,
        format=name,
        messages=messages,
        path=str(source.path),
        title=body["title"] if isinstance(body.get("title"), str) else "",
        agent_type=default_agent_type(messages),
        cluster=session,
        tools=tuple(tool for tool in tools if isinstance(tool, str | dict)) if isinstance(tools, list) else (),
        skipped=lines.skipped if lines else {},
        problems=lines.problems if lines else (),
        header={k: v for k, v in body.items() if k not in used and isinstance(v, str | int | float)},
    )


def _whole(source: Source, *, raw: bool = False) -> list[Any]:
    """Every value that may hold conversations: the document, the lines, or, of single messages, all lines as one list.

    With *raw*, arguments of calls stand in them as the bytes that were recorded.
    """
    if source.document is not None and not _is_message(source.document):
        if raw:
            keep_raw(source.document, source.data)
        return [source.document]
    lines = [line for line in source.lines.lines if isinstance(line.value, dict | list)]
    for line in lines if raw else ():
        keep_raw(line.value, line.raw)
    values = [line.value for line in lines]
    if values and all(_is_message(value) for value in values):
        return [values]
    return values


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
    calls = value.get("tool_calls") or value.get("function_call")
    return ("content" in value and isinstance(value["content"], str | list | None)) or bool(calls)
