"""Lists of messages: bare, under `messages`, one a line, or rows of a message store; removals are compactions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.errors import TranscriptError
from compactlab.readers import _archives
from compactlab.readers._fields import array, first_string, mapping, string
from compactlab.readers._lines import read_json
from compactlab.readers._requests import Story, Told
from compactlab.readers._sessions import transcript
from compactlab.readers.langchain._wires import Maker, fields_of, is_list, models, usage_of
from compactlab.shapes import langchain
from compactlab.transcript import Intake, Messages, Origin, Transcript, Usage

if TYPE_CHECKING:
    from compactlab.readers._files import Source

NAMES = ("id", "session_id", "conversation_id", "thread_id")
STORE = {"session_id", "message"}


def is_conversation(record: object) -> bool:
    """Whether a record is a list of messages, or an object that holds one as `messages`."""
    return is_list(record) or is_list(mapping(record).get("messages"))


def conversation(source: Source, record: object, where: str) -> Transcript:
    """Read one conversation that stands at *where* in the file."""
    body = mapping(record)
    wires = array(body.get("messages") if body else record)
    names = "messages[{}]" if body else "message {}"
    made = made_of(source, wires, Origin(str(source.path), f"{where}{names}"), first_string(body, *NAMES))
    tools = tuple(tool for tool in array(body.get("tools")) if isinstance(tool, str | dict))
    agent_type = string(body.get("agent_type")) or made.agent_type
    return replace(made, title=string(body.get("title")), tools=tools, agent_type=agent_type)


def made_of(
    source: Source, wires: Sequence[Any], origin: Origin, own: str = "", places: Sequence[int] | None = None
) -> Transcript:
    """Make a transcript of a list of messages; *places* are their numbers in the file, if not 0, 1, ..."""
    unknown: Counter[str] = Counter()
    read: list[dict[str, Any]] = []
    found: list[int] = []
    for index, wire in enumerate(wires):
        fields = fields_of(wire)
        if fields is None:
            unknown["record that is no message"] += 1
        elif langchain.role_of(fields) is None and fields["type"] != langchain.REMOVE:
            unknown[f"message of type {fields['type']}"] += 1
        else:
            read.append(fields)
            found.append(places[index] if places else index)
    told = _told(read, found)
    intake = Intake(records=len(wires), unknown=dict(unknown))
    extra = {"compactions": told.compactions, "usage": told.usage, "header": models(read), "intake": intake}
    return transcript(source, "langchain", told.messages, own, origins=(origin,), **extra)


def _told(read: Sequence[dict[str, Any]], places: Sequence[int]) -> Told:
    if any(fields["type"] == langchain.REMOVE for fields in read):
        return _with_removals(read, places)
    messages = langchain.from_wire(read)
    usage = tuple(_usage(read, messages))
    moved = (replace(message, source=places[message.source or 0]) for message in messages)
    return Told(tuple(moved), (), usage)


def _usage(read: Sequence[dict[str, Any]], messages: Messages) -> Iterator[Usage]:
    positions = {message.source: i for i, message in enumerate(messages) if message.role == "assistant"}
    for index, position in positions.items():
        counted = usage_of(read[index or 0])
        if counted is not None:
            yield replace(counted, position=position)


def _with_removals(read: Sequence[dict[str, Any]], places: Sequence[int]) -> Told:
    """Follow a list in which messages take others away: what then follows stands in place of them."""
    maker, story = Maker(), Story()
    context: list[Any] = []
    for fields, place in zip(read, places, strict=True):
        if fields["type"] != langchain.REMOVE:
            context += maker.items(fields, place)
            continue
        if not story.items or len(context) > len(story.context):
            story.take(context)
        gone = fields.get("id")
        context = [] if gone == langchain.REMOVE_ALL else [item for item in context if item.key != gone]
    story.take(context)
    return story.told()


def is_store(source: Source) -> bool:
    """Whether a database holds message stores as LangChain's SQL history writes them."""
    return any(columns >= STORE for columns in source.tables.values())


def stored(source: Source) -> Iterator[Transcript]:
    """One transcript a session of the message stores of a database."""
    for table, columns in source.tables.items():
        if columns >= STORE:
            yield from _sessions_of(source, table.replace('"', '""'))


def _sessions_of(source: Source, table: str) -> Iterator[Transcript]:
    sessions: dict[str, list[Any]] = {}
    with _archives.database(source.path) as connection:
        for row in _archives.rows(connection, f'SELECT session_id, message FROM "{table}" ORDER BY rowid'):  # noqa: S608  # quoted
            sessions.setdefault(str(row["session_id"]), []).append(_message(row["message"]))
    for session, wires in sessions.items():
        yield made_of(source, wires, Origin(str(source.path), f"session {session}: message {{}}"), session)


def _message(text: object) -> object:
    try:
        return read_json(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else None
    except TranscriptError:
        return None
