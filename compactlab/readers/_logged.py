"""Logged requests, of which each repeats what was said before it: one conversation of those that continue each other.

A request continues the conversation whose messages it begins with, or whose last response it names. Reasoning is not
compared, since clients leave it out when they send an answer again; what the model really said is kept.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from compactlab.readers._fields import array, first_string, mapping, string
from compactlab.readers._sessions import transcript
from compactlab.shapes.call_ids import with_ids
from compactlab.transcript import Intake, Message, Messages, Origin, Reasoning, Transcript, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from compactlab.readers._files import Source

AGAIN, BRANCH = "request that was logged again", "message of another branch"
SESSIONS = ("session_id", "conversation_id", "thread_id", "trace_id")


class Part(NamedTuple):
    """Messages of one list in a request: where the list stands, and how long it was; `source` counts in it."""

    where: str
    messages: Messages
    size: int


class Logged(NamedTuple):
    """A request and its answer: `usage` counts the answer; `name` is the id of the answer, `after` of the one before.

    `body` is the request without its messages.
    """

    sent: tuple[Part, ...]
    answered: Part
    usage: Usage | None = None
    name: str = ""
    after: str = ""
    body: dict[str, Any] = {}  # noqa: RUF012  # never changed


class _Conversation:
    """A conversation, growing request by request."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.messages: list[Message] = []
        self.keys: list[int] = []
        self.answered_from = 0
        self.usage: dict[int, Usage] = {}
        self.origins: list[Origin] = []
        self.places = 0
        self.body: dict[str, Any] = {}

    def add(self, parts: Iterable[Part], skipped: int) -> None:
        """Go on with the messages of *parts* behind the first *skipped* ones, which it has."""
        for where, messages, size in parts:
            new = messages[skipped:]
            skipped = max(0, skipped - len(messages))
            if new:
                self.origins.append(Origin(self.path, where, first=self.places))
                self.messages += [_moved(message, self.places) for message in new]
                self.places += size

    def extend_keys(self) -> list[int]:
        """The keys of the messages since the last time: each tells of all up to its own."""
        new = _keys(self.messages[len(self.keys) :], self.keys[-1] if self.keys else 0)
        self.keys += new
        return new

    def cut(self, length: int) -> int:
        """Take back the messages from *length* on; how many there were."""
        gone = len(self.messages) - length
        del self.messages[length:], self.keys[length:]
        self.usage = {place: usage for place, usage in self.usage.items() if place < length}
        return gone


def _moved(message: Message, first: int) -> Message:
    return replace(message, source=first + (message.source or 0))


def _keys(messages: Iterable[Message], start: int) -> list[int]:
    found: list[int] = []
    for message in messages:
        said = tuple(block for block in message.blocks if not isinstance(block, Reasoning))
        start = hash((start, message.role, said))
        found.append(start)
    return found


class Conversations:
    """The conversations of a log. `skipped` counts requests that only repeat, and answers that were asked for anew."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.all: list[_Conversation] = []
        self.skipped: Counter[str] = Counter()
        self._at: dict[int, tuple[_Conversation, int]] = {}
        self._named: dict[str, _Conversation] = {}

    def add(self, logged: Logged) -> None:
        """Take a request, in the order of the log."""
        sent = tuple(message for part in logged.sent for message in part.messages)
        named = self._named.get(logged.after) if logged.after else None
        if named is not None and not self._repeats(named, sent):
            self._extend(named, logged, 0)
            return
        keys = _keys(sent, 0)
        place = next((at for at in range(len(keys), 0, -1) if self._ends_at(keys[at - 1], at, sent)), 0)
        known = self._held(keys[-1], len(keys)) if keys else None
        if place:
            self._continue(self._at[keys[place - 1]][0], logged, sent, place)
        elif known is not None and self._is_told(keys, logged):
            self.skipped[AGAIN] += 1
        elif known is not None and known.answered_from == len(keys):
            self.skipped[BRANCH] += known.cut(len(keys))
            self._extend(known, logged, len(sent))
        else:
            self.all.append(_Conversation(self.path))
            self._extend(self.all[-1], logged, 0)

    def _repeats(self, conversation: _Conversation, sent: Sequence[Message]) -> bool:
        return bool(sent) and _keys(sent[:1], 0) == conversation.keys[:1] and len(sent) > 1

    def _held(self, key: int, length: int) -> _Conversation | None:
        """The conversation that begins with those messages."""
        held = self._at.get(key)
        if held is None or held[1] != length or held[0].keys[length - 1 : length] != [key]:
            return None
        return held[0]

    def _ends_at(self, key: int, length: int, sent: Sequence[Message]) -> bool:
        """Whether a conversation ends there, or its last answer begins there and *sent* has more than that."""
        conversation = self._held(key, length)
        if conversation is None:
            return False
        return len(conversation.messages) == length or (conversation.answered_from == length < len(sent))

    def _continue(self, conversation: _Conversation, logged: Logged, sent: Sequence[Message], place: int) -> None:
        """Go on behind the answer; one that was sent again in other words takes the place of the logged one."""
        answer = conversation.messages[place:]
        if answer:
            again = sent[place : place + len(answer)]
            if [_outline(message) for message in again] == [_outline(message) for message in answer]:
                place += len(answer)
            else:
                self.skipped[BRANCH] += conversation.cut(place)
        if place == len(sent) == len(conversation.messages) and not logged.answered.messages:
            self.skipped[AGAIN] += 1
        self._extend(conversation, logged, place)

    def _is_told(self, sent: Sequence[int], logged: Logged) -> bool:
        keys = _keys(logged.answered.messages, sent[-1])
        return not keys or self._held(keys[-1], len(sent) + len(keys)) is not None

    def _extend(self, conversation: _Conversation, logged: Logged, skipped: int) -> None:
        conversation.add(logged.sent, skipped)
        conversation.answered_from = len(conversation.messages)
        conversation.add((logged.answered,), 0)
        said = (at for at in range(conversation.answered_from, len(conversation.messages)))
        place = next((at for at in said if _is_said(conversation.messages[at])), None)
        if logged.usage is not None and place is not None:
            conversation.usage[place] = replace(logged.usage, position=place)
        conversation.body = {**conversation.body, **logged.body}
        before = len(conversation.keys)
        for offset, key in enumerate(conversation.extend_keys(), before + 1):
            self._at[key] = conversation, offset
        if logged.name:
            self._named[logged.name] = conversation


def _is_said(message: Message) -> bool:
    return message.role == "assistant" and not message.synthetic


def _outline(message: Message) -> tuple[str, list[str]]:
    return message.role, [call.id for call in message.calls]


def transcripts(
    source: Source,
    format: str,  # noqa: A002  # the field's word
    found: Conversations,
    read: Callable[[], Intake],
) -> Iterator[Transcript]:
    """Make a transcript of each conversation; what was read, which *read* gives, is told with the last one."""
    used: Counter[str] = Counter()
    last = len(found.all) - 1
    for index, conversation in enumerate(found.all):
        body = conversation.body
        own = first_string(body, *SESSIONS) or first_string(body.get("metadata"), *SESSIONS)
        name = own or (f"{source.stem}-{index}" if last else source.stem)
        used[name] += 1
        messages = with_ids(conversation.messages)
        made = transcript(
            source,
            format,
            messages,
            name if used[name] == 1 else f"{name}-{used[name] - 1}",
            title=string(body.get("title")),
            tools=tuple(tool for tool in array(body.get("tools")) if isinstance(tool, str | dict)),
            usage=tuple(usage for _, usage in sorted(conversation.usage.items())),
            origins=tuple(conversation.origins) or (Origin(str(source.path)),),
            intake=read() if index == last else Intake(),
            header={key: body[key] for key in ("model", "provider") if isinstance(body.get(key), str)},
        )
        yield replace(made, cluster=own) if own else made


def without(body: object, *keys: str) -> dict[str, Any]:
    """The fields of a request but for its messages."""
    return {key: value for key, value in mapping(body).items() if key not in keys}
