"""compactlab's own format: JSON lines, a session header and then its messages (docs/format.md).

Blocks are those of the Anthropic Messages API, so that a plain file needs nothing else; keys of our own carry what that
has no place for, and stand only where they say something. Whatever a `Transcript` holds is read back equal, but for
what tells of the file that it was read from (`path`, `origins`, `intake`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec.structs import replace

from compactlab.errors import TranscriptError
from compactlab.readers import Line, Source, default_agent_type
from compactlab.readers._own_blocks import block_from, block_to, message_keys
from compactlab.readers._raw import keep_raw
from compactlab.shapes import anthropic
from compactlab.shapes.parts import ROLES, json_text
from compactlab.transcript import Intake, Message, Origin, RecordedCompaction, ToolResult, Transcript, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

NAME = "compactlab"
WHERE = "wherever `compactlab.write` and `compactlab convert` put it"
_Keyed = TypeVar("_Keyed", bound=msgspec.Struct)


class _Header(msgspec.Struct):
    """Keys of a session header; all others go into `Transcript.header`."""

    id: str
    title: str | None = None
    agent_type: str | None = None
    tools: tuple[str | dict[str, Any], ...] | None = None
    format: str = NAME
    cluster: str | None = None
    compactions: tuple[RecordedCompaction, ...] = ()
    usage: tuple[Usage, ...] = ()
    header: dict[str, Any] = {}


class _Keys(msgspec.Struct):
    """Keys of a message line beside role and content."""

    source: int | msgspec.UnsetType | None = msgspec.UNSET
    ts: str | None = None
    synthetic: bool = False
    pinned: bool = False
    whole: bool = False


RESERVED = frozenset({"type", *_Header.__struct_fields__})


def sniff(source: Source) -> float:
    """Look for a session header, and after it a message with its role beside it."""
    first = source.first
    if first.get("type") != "session" or "id" not in first:
        return 0.0
    after = next((v for v in source.values[1:] if isinstance(v, dict) and v.get("type") == "message"), None)
    if after is None:
        return 0.9 if "agent_type" in first and "title" in first else 0.0
    return 1.0 if "role" in after and "content" in after else 0.0


def read(source: Source) -> Iterator[Transcript]:
    """Read the sessions of a file; a wrong role, a missing header or a wrong content is a `TranscriptError`."""
    lines = source.lines()
    session: _Session | None = None
    for line in lines:
        if isinstance(line.value, dict) and line.value.get("type") == "session":
            if session is not None:
                yield session.transcript(Intake())
            session = _Session(source, line)
        elif session is None:
            where = f"{source.path}: line {line.number}"
            raise TranscriptError(f'{where} is no session header; expected {{"type": "session", "id": ...}}')
        else:
            session.add(line)
    if session is not None:
        yield session.transcript(lines.intake())


class _Session:
    """A session, growing line by line."""

    def __init__(self, source: Source, header: Line) -> None:
        self.path = str(source.path)
        self.record: dict[str, Any] = header.value
        self.head = _checked(self.record, _Header, f"{self.path}: line {header.number}")
        self.messages: list[Message] = []
        self.unknown: Counter[str] = Counter()
        self.lines = 0

    def add(self, line: Line) -> None:
        kind = line.value.get("type", "message") if isinstance(line.value, dict) else "no object"
        if kind != "message":
            self.unknown[str(kind)] += 1
            return
        self.messages += messages_of(line, self.lines, f"{self.path}: line {line.number}")
        self.lines += 1

    def transcript(self, read: Intake) -> Transcript:
        """The session so far; *read* is what the lines of the file gave, told with its last session."""
        head = self.head
        agent_type = default_agent_type(tuple(self.messages)) if head.agent_type is None else head.agent_type
        unknown = dict(Counter(read.unknown) + self.unknown)
        return Transcript(
            id=head.id,
            format=head.format,
            messages=tuple(self.messages),
            path=self.path,
            title=head.title or "",
            agent_type=agent_type,
            cluster=default_cluster(head.id, agent_type) if head.cluster is None else head.cluster,
            tools=head.tools or (),
            compactions=head.compactions,
            usage=head.usage,
            origins=(Origin(self.path),),
            intake=replace(read, unknown=unknown),
            header={key: value for key, value in self.record.items() if key not in RESERVED} | head.header,
        )


def _checked(record: dict[str, Any], kind: type[_Keyed], where: str) -> _Keyed:
    try:
        return msgspec.convert(record, kind)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise TranscriptError(f"{where}: {error}") from error


def default_cluster(session_id: str, agent_type: str) -> str:
    """Name the story that a session belongs to: its id without its agent type.

    >>> default_cluster("primary-garden", "primary")
    'garden'
    """
    return session_id.removeprefix(f"{agent_type}-")


def messages_of(line: Line, index: int, where: str) -> tuple[Message, ...]:
    """Read the messages of a line, the *index*-th of its session; a `TranscriptError` begins with *where* it stands."""
    record = line.value
    role, content = record.get("role"), record.get("content")
    if role not in ROLES:
        raise TranscriptError(f"{where} has role {role!r}; expected system, user, assistant or tool")
    if not isinstance(content, str | list | None):
        raise TranscriptError(f"{where} has content of another kind; expected a list of blocks or a text")
    keys = _checked(record, _Keys, where)
    keep_raw(record, line.raw)
    blocks = (
        tuple(block_from(part, where) for part in content) if isinstance(content, list) else anthropic.blocks(content)
    )
    source = index if isinstance(keys.source, msgspec.UnsetType) else keys.source
    made = (Message(role, blocks, source=source),) if keys.whole else anthropic.split(role, blocks, source)
    return tuple(replace(message, timestamp=keys.ts, synthetic=keys.synthetic, pinned=keys.pinned) for message in made)


def write(transcripts: Iterable[Transcript]) -> str:
    """Write transcripts one after the other; `read` gives back equal ones, but for their path."""
    lines = [line for transcript in transcripts for line in _written(transcript)]
    return "".join(f"{line}\n" for line in lines)


def _written(transcript: Transcript) -> Iterator[str]:
    yield json_text(_header(transcript))
    messages = transcript.messages
    at = index = 0
    while at < len(messages):
        joined = _joins(messages[at : at + 2])
        yield _line(messages[at : at + 2] if joined else messages[at : at + 1], index)
        at += 2 if joined else 1
        index += 1


def _header(transcript: Transcript) -> dict[str, Any]:
    head: dict[str, Any] = {"type": "session", "id": transcript.id, "title": transcript.title}
    head |= {"agent_type": transcript.agent_type, "tools": list(transcript.tools)}
    if transcript.format != NAME:
        head["format"] = transcript.format
    if transcript.cluster != default_cluster(transcript.id, transcript.agent_type):
        head["cluster"] = transcript.cluster
    for name in ("compactions", "usage"):
        if getattr(transcript, name):
            head[name] = msgspec.to_builtins(getattr(transcript, name))
    extras = {key: value for key, value in transcript.header.items() if key not in RESERVED}
    hidden = {key: value for key, value in transcript.header.items() if key not in extras}
    return head | extras | ({"header": hidden} if hidden else {})


def _joins(pair: Sequence[Message]) -> bool:
    """Whether two messages were one recorded message: results, then a user's words, and all else equal."""
    if len(pair) < 2 or pair[0].role != "tool" or pair[1].role != "user" or not pair[1].blocks:
        return False
    results = all(isinstance(block, ToolResult) for block in pair[0].blocks)
    same = replace(pair[0], role="user", blocks=()) == replace(pair[1], blocks=())
    return results and bool(pair[0].blocks) and same and pair[0].source is not None and not pair[1].results


def _line(messages: Sequence[Message], index: int) -> str:
    first = messages[0]
    blocks = tuple(block for message in messages for block in message.blocks)
    heard = first.role == "tool" and bool(first.blocks) and all(isinstance(b, ToolResult) for b in first.blocks)
    keys = message_keys(first, index)
    if first.role == "user" and first.results:
        keys["whole"] = True
    role = "user" if heard else first.role
    line = _composed(role, [block_to(block) for block in blocks], keys)
    try:
        msgspec.json.decode(line.encode())
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):  # no reader could slice arguments out of it
        return _composed(role, [block_to(block, sliced=False) for block in blocks], keys)
    return line


def _composed(role: str, blocks: Sequence[str], keys: dict[str, Any]) -> str:
    rest = json_text(keys)[1:-1]
    start = f'"type": "message", "role": "{role}", "content": [{", ".join(blocks)}]'
    return f"{{{start}, {rest}}}" if rest else f"{{{start}}}"
