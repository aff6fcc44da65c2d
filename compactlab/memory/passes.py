"""A pass over a living conversation: planned without the lock, since a model may take a minute, and applied under it.

It is applied only to what it was planned for. If another pass came first it is not applied, and says which and when;
messages that were appended meanwhile follow behind the result. The journal records it before the list is replaced, so
that a kill in between leaves the old list and an entry that no conversation names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from compactlab import catalog
from compactlab.compaction import Compaction, Guard, compact
from compactlab.errors import CompactlabError
from compactlab.llm.extractive import Extractive
from compactlab.markers import REMOVED
from compactlab.memory.attention import Estimate, Room, Step, attention, step
from compactlab.memory.conversation import VERSION, Conversation, Note, Standing, now
from compactlab.memory.lines import kept
from compactlab.memory.parts import Kept, Pass
from compactlab.pins import pinned
from compactlab.readers import read_json
from compactlab.receipt import Action, Change, Receipt
from compactlab.strategies import Strategy
from compactlab.tokens import Meter
from compactlab.transcript import Message, Messages

LADDER = ("microcompact", "cull", "sliding_window", "sliding_reflect", "summary")
"""From the cheapest to the most disruptive, as the seed document has them."""


class Recorded(Protocol):
    """What the journal gives back: the id of its entry, and the path of it in the memory repository."""

    @property
    def id(self) -> str:
        """The id by which a pass is brought back."""

    @property
    def path(self) -> object:
        """Where the record rests."""

    @property
    def note(self) -> str:
        """What is to be said of it beside that; empty for nothing."""


@dataclass(frozen=True)
class Asked:
    """How to compact: by which strategy, under which guard, to which weight, with which pins."""

    strategy: Strategy
    guard: Guard
    target: int | None = None
    pins: tuple[str, ...] = ()


class Planned(NamedTuple):
    """What a pass would do to the list that stood when it was planned; nothing has been done yet.

    The receipt says what would happen to each message and why; its `source` is the position in that list. `after` is
    the list behind the pass: what stayed as it is on the disk, what was edited or made on new lines.
    """

    standing: Standing
    receipt: Receipt
    after: tuple[Kept, ...]
    summary: str


class Applied(NamedTuple):
    """What came of a pass: the journal's entry (None if it was not applied), and why it was not."""

    entry: Recorded | None
    why_not: str = ""
    standing: Standing | None = None


def plan(standing: Standing, asked: Asked) -> Planned:
    """Plan a pass over the list as it stands; errors of the strategy are an outcome in the receipt."""
    messages = pinned([replace(one.message, source=i) for i, one in enumerate(standing.kept)], asked.pins)
    previous = _last(standing)
    done = compact(messages, asked.strategy, target=asked.target, guard=asked.guard, previous=previous)
    return Planned(standing, done.receipt, tuple(_after(done.messages, standing.kept)), summary_of(done))


def estimate(messages: Messages, asked: Asked, room: Room, *, by_default: bool = False) -> Estimate:
    """Say what a strategy would free, asking nobody: where it asks a model, code writes the text."""
    stands_in = asked.strategy.uses_model
    guard = Guard(asked.guard.meter, asked.guard.rules, Extractive() if stands_in else None, asked.guard.prompts)
    receipt = compact(pinned(messages, asked.pins), asked.strategy, target=asked.target, guard=guard).receipt
    frees = receipt.tokens_before - receipt.tokens_after
    left = room.pressure(receipt.tokens_after)
    return Estimate(receipt.strategy, receipt.outcome, receipt.reason, frees, left, stands_in, by_default)


def choices(default: Strategy) -> tuple[Strategy, ...]:
    """What an agent chooses from: the strategy of her type, then those of the catalog, as she would climb them."""
    names = [name for name in catalog.names("strategies") if name not in {"none", "defer"}]
    climbed = sorted(names, key=lambda name: LADDER.index(name) if name in LADDER else len(LADDER))
    return tuple({repr(one): one for one in (default, *map(catalog.strategy, climbed))}.values())


def apply(
    conversation: Conversation, planned: Planned, room: Room, meter: Meter, record: Callable[[Pass], Recorded]
) -> Applied:
    """Apply a pass if its list is still the head of the conversation; *record* writes it into the journal first.

    If the journal cannot be written, or the new list cannot, the conversation stays as it was.
    """
    with conversation.held() as held:
        standing = held.read()
        if standing.generation != planned.standing.generation:
            return Applied(None, _came_first(standing))
        later = standing.kept[len(planned.standing.kept) :]
        done = _pass(planned, standing, (*planned.after, *later))
        looked = step(attention(standing.notes), room, meter.messages(one.message for one in done.after))
        try:
            entry = record(done)
            fresh = _fresh(standing, done, entry, looked)
            held.replace(fresh)
        except CompactlabError as error:
            return Applied(None, str(error))
        return Applied(entry, standing=fresh)


def _pass(planned: Planned, standing: Standing, after: tuple[Kept, ...]) -> Pass:
    return Pass(
        conversation=str(standing.header.get("id", "")),
        agent_type=standing.agent_type,
        strategy=planned.receipt.strategy,
        time=now(),
        before=standing.kept,
        after=after,
        receipt=planned.receipt,
        summary=planned.summary,
        previous=standing.entry,
    )


def summary_of(compaction: Compaction) -> str:
    """Give the text that a pass made, without plain marks of what was removed; empty if there is none.

    >>> from compactlab.transcript import Text
    >>> talk = [Message("user" if i % 2 == 0 else "assistant", (Text(f"line {i} " * 40),)) for i in range(30)]
    >>> summary_of(compact(talk, "sliding_window(preserve_recent=4)"))
    ''
    """
    if not compaction.receipt.count("made"):
        return ""
    made = (message.text for message in compaction.messages if message.source is None and message.synthetic)
    return "\n\n".join(text for text in made if text and not REMOVED.fullmatch(text))


def _after(messages: Iterable[Message], before: Sequence[Kept]) -> Iterator[Kept]:
    """Each message with its identity: what did not change keeps its line, what a pass made has a new identity."""
    seen: set[int] = set()
    for message in messages:
        at = message.source
        if at is None or at in seen:
            yield kept(replace(message, source=None))
            continue
        seen.add(at)
        old = before[at].message
        same = replace(message, source=old.source, pinned=old.pinned)
        yield before[at] if same == old else kept(same, before[at].id)


def plan_back(standing: Standing, entry: str, was: Sequence[Kept], meter: Meter) -> Planned:
    """Plan to bring back the list *was*, that before the pass *entry*: what was appended since then follows behind it.

    What later passes made goes, as any pass lets go: it can be brought back in turn.
    """
    ids = {one.id: one.line for one in was}
    after = (*was, *(one for one in standing.kept if one.id not in ids and one.message.source is not None))
    why, lines = f"brought back from {entry}", {one.id for one in after}
    changes = [
        Change(i, i, one.message.role, _fate(one, ids, lines), "" if ids.get(one.id) == one.line else why)
        for i, one in enumerate(standing.kept)
    ]
    live = {one.id for one in standing.kept}
    changes += [Change(None, None, one.message.role, "made", why) for one in was if one.id not in live]
    before, fresh = ([one.message for one in kept] for kept in (standing.kept, after))
    receipt = replace(
        _blank(),
        strategy=f"restore({entry!r})",
        counter=meter.counter_name,
        tokens_before=meter.messages(before),
        tokens_after=meter.messages(fresh),
        kinds_before=meter.by_kind(before),
        kinds_after=meter.by_kind(fresh),
        changes=tuple(changes),
    )
    return Planned(standing, receipt, after, "")


def _fate(one: Kept, was: Mapping[str, bytes], after: Container[str]) -> Action:
    if one.id not in after:
        return "dropped"
    return "kept" if was.get(one.id, one.line) == one.line else "edited"


def _fresh(standing: Standing, done: Pass, entry: Recorded, looked: Step) -> Standing:
    """The conversation behind a pass: another list, a header that names the entry, the other lines as they were."""
    memory = {
        "version": VERSION,
        "generation": standing.generation + 1,
        "entry": entry.id,
        "applied": {"strategy": done.strategy, "time": done.time, "process": os.getpid()},
        "result": done.receipt.result,
    }
    notes = standing.notes
    if looked.line and not looked.fired:
        notes = (*notes, Note(read_json(looked.line), looked.line))
    return Standing({**standing.header, "memory": memory}, done.after, notes)


def _came_first(standing: Standing) -> str:
    by = standing.memory.get("applied", {})
    told = f"{by.get('strategy')} of process {by.get('process')} at {by.get('time')}"
    return f"another pass came first ({told}, entry {standing.entry}); the list is another one now"


def _last(standing: Standing) -> Receipt | None:
    """Of the receipt of the last pass what tells that nothing is new; None if there was no pass."""
    result = standing.memory.get("result")
    if not isinstance(result, str):
        return None
    return replace(_blank(), result=result)


def _blank() -> Receipt:
    nothing: dict[str, int] = {}
    return Receipt("", "applied", "", "", None, False, 0, 0, nothing, nothing, (), (), (), (), "")
