"""States of LangGraph threads: one, or a history of them, each with a full copy of the messages.

A history is read along the links to the parent of each state, from the newest: other branches are counted. A step at
which messages were lost or changed is a recorded compaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.readers._fields import array, count, first_string, mapping, string
from compactlab.readers._items import Repeats
from compactlab.readers._requests import Story
from compactlab.readers._sessions import transcript
from compactlab.readers._times import iso
from compactlab.readers.langchain._wires import Maker, is_list, models
from compactlab.transcript import Intake, Origin, Transcript

if TYPE_CHECKING:
    from compactlab.readers._files import Source


class State(NamedTuple):
    """A state: its thread, its own and its parent's id, when it was made, its messages, and where they stand."""

    thread: str
    id: str
    parent: str
    made: tuple[str, int]
    messages: list[Any]
    title: str
    header: dict[str, Any]
    place: str
    source: int


def holder(record: object) -> dict[str, Any]:
    """The values of a state that hold its `messages`; empty if a record is no state."""
    given = mapping(record)
    inner = mapping(given.get("checkpoint"))
    for values in (given.get("values"), given.get("channel_values"), inner.get("channel_values")):
        held = mapping(values)
        if is_list(held.get("messages")) or (_linked(given) and isinstance(held.get("messages"), list)):
            return held
    return {}


def is_state(record: object) -> bool:
    """Whether a record is a state of a thread, if only one without messages yet."""
    given = mapping(record)
    return bool(holder(record)) or (_linked(given) and isinstance(given.get("values"), dict | list))


def _linked(given: dict[str, Any]) -> bool:
    linked = {"parent_checkpoint", "parent_config", "parent_checkpoint_id", "thread_id"} & given.keys()
    return bool(linked) and bool({"checkpoint", "config", "next", "values"} & given.keys())


def state(record: dict[str, Any], source: int) -> State:
    """Read one state."""
    about = mapping(record.get("metadata"))
    at, before = _configured(record, "checkpoint", "config"), _configured(record, "parent_checkpoint", "parent_config")
    thread = first_string(at, "thread_id") or first_string(record, "thread_id") or first_string(about, "thread_id")
    namespace = first_string(at, "checkpoint_ns")
    return State(
        f"{thread}:{namespace}" if namespace else thread,
        first_string(at, "checkpoint_id", "id") or first_string(record, "checkpoint_id"),
        first_string(before, "checkpoint_id") or first_string(record, "parent_checkpoint_id"),
        (string(record.get("created_at")) or first_string(at, "ts"), count(about.get("step")) or 0),
        array(holder(record).get("messages")),
        string(holder(record).get("title")),
        _header(record),
        "values.messages[{}]" if "messages" in mapping(record.get("values")) else "channel_values.messages[{}]",
        source,
    )


def _header(record: dict[str, Any]) -> dict[str, Any]:
    about = mapping(record.get("metadata"))
    found = {name: about[name] for name in ("graph_id", "langgraph_version") if isinstance(about.get(name), str)}
    ended = iso(record.get("created_at"))
    return found | ({"ended": ended} if ended else {})


def _configured(record: dict[str, Any], *names: str) -> dict[str, Any]:
    """What the fields that name a checkpoint say together; in some, it stands one level down."""
    found: dict[str, Any] = {}
    for name in names:
        given = mapping(record.get(name))
        found |= mapping(given.get("configurable")) or given
    return found


def transcripts(source: Source, states: Sequence[State], where: Origin) -> Iterator[Transcript]:
    """One transcript a thread."""
    threads: dict[str, list[State]] = {}
    for each in states:
        threads.setdefault(each.thread, []).append(each)
    for number, (thread, group) in enumerate(threads.items()):
        own = thread or (str(number) if len(threads) > 1 else "")
        yield _single(source, group[0], own) if len(group) == 1 else _history(source, group, own, where)


def _single(source: Source, only: State, own: str) -> Transcript:
    """A thread of which only one state is known: its messages are the story."""
    maker, story = Maker(), Story()
    story.take([item for i, wire in enumerate(only.messages) for item in maker.items(wire, i)])
    intake = Intake(records=len(only.messages), unknown=dict(maker.unknown))
    origin = Origin(str(source.path), only.place)
    return _made(source, story, only, own, {"intake": intake, "origins": (origin,)})


def _history(source: Source, group: Sequence[State], own: str, where: Origin) -> Transcript:
    maker, story = Maker(), Story()
    repeats = Repeats(maker.items)
    chain = _chain(group)
    for each in chain:
        story.take(repeats.items(each.messages, each.source))
    live = {each.source for each in chain}
    known = {item.content for item in story.items}
    left = {
        item.content
        for each in group
        if each.source not in live
        for item in repeats.items(each.messages, each.source)
        if item.content not in known
    }
    skipped = Counter({"message of another branch": len(left) + story.others, "state without new messages": 0})
    intake = Intake(records=len(group), skipped=dict(+skipped), unknown=dict(maker.unknown))
    return _made(source, story, chain[-1], own, {"intake": intake, "origins": (where,)})


def _made(source: Source, story: Story, last: State, own: str, fields: dict[str, Any]) -> Transcript:
    told = story.told()
    return transcript(
        source,
        "langchain",
        told.messages,
        own,
        compactions=told.compactions,
        usage=told.usage,
        title=last.title,
        header=models(last.messages) | last.header,
        **fields,
    )


def _chain(group: Sequence[State]) -> list[State]:
    """The states that led to the newest one, oldest first; where a link is missing, the next older one is taken."""
    if not any(each.parent for each in group) and not any(each.made[0] for each in group):
        return list(group)
    by_id = {each.id: each for each in group if each.id}
    parents = {each.parent for each in group}
    leaves = [each for each in group if each.id not in parents or not each.id] or list(group)
    by_age = sorted(group, key=lambda each: each.made)
    ages = {id(each): place for place, each in enumerate(by_age)}
    chain: list[State] = []
    taken: set[int] = set()
    at: State | None = max(leaves, key=lambda each: each.made)
    while at is not None and id(at) not in taken:
        chain.append(at)
        taken.add(id(at))
        parent = by_id.get(at.parent)
        at = parent if parent is not None or not ages[id(at)] else by_age[ages[id(at)] - 1] if _broken(at) else None
    return chain[::-1]


def _broken(at: State) -> bool:
    """Whether a state has a parent, or may have one, that is not in the file."""
    return bool(at.parent) or not at.id
