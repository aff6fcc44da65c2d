"""A Codex session, growing record by record: which are items, which events, which bookkeeping."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.readers._fields import count, mapping, objects, string
from compactlab.readers.codex._events import SAYS, Events
from compactlab.readers.codex._history import History, Place
from compactlab.readers.codex._injected import is_summary
from compactlab.readers.codex._own import add
from compactlab.readers.codex._tokens import REPEATED
from compactlab.shapes.openai_items import COMPACTED, kind_of, read
from compactlab.shapes.openai_responses import Assembly
from compactlab.transcript import Message, Text

if TYPE_CHECKING:
    from collections.abc import Sequence

BREAKS = frozenset({"task_started", "turn_started", "task_complete", "turn_complete", "turn_aborted"})
LONE = "context_compacted without a record of what it left"
Wire = dict[str, Any]


class Rollout:
    """The state of a session behind the records that were taken so far."""

    def __init__(self) -> None:
        self.history = History()
        self.assembly = self.history.assembly
        self.title = ""
        self._instructions: Message | None = None
        self._waiting: list[tuple[Wire, Place]] | None = []
        self._events: Events | None = None

    def prompt(self, text: object, place: Place) -> None:
        """Take the system prompt, which stands outside the items; only before anything was said."""
        if not isinstance(text, str) or not text or self.history.prompted or self.assembly.responses:
            return
        told = Message("system", (Text(text),), source=place.source, timestamp=place.timestamp)
        self.history.prompted = self.history.lead(told, 0)

    def instruct(self, text: object, place: Place) -> None:
        """Take the user's standing instructions, which Codex sends first, whether or not an item holds them."""
        if isinstance(text, str) and text.strip():
            self._instructions = Message("user", (Text(text),), source=place.source, synthetic=True)

    def item(self, wire: Wire, place: Place) -> None:
        """Take an item of the model's context."""
        self._flush(by_events=False)
        if kind_of(wire) in COMPACTED:
            self._inline(wire, place)
        else:
            self._add(wire, place)

    def compacted(self, record: Wire, place: Place) -> None:
        """Take the record of a compaction: what replaced the context, or the summary alone."""
        if self._is_put_off(record, place):
            return
        history = record.get("replacement_history")
        made = self._replaced(history, place) if isinstance(history, list) else None
        if made is None:
            self.history.compact(None, place, record)
            return
        summary = string(record.get("message"))
        summary = summary or next((message.text for message in made if is_summary(message)), "")
        told = [replace(m, synthetic=True) if m.role == "user" and summary and m.text == summary else m for m in made]
        self.history.compact(told, place, {**record, "message": summary})

    def event(self, event: Wire, place: Place) -> None:
        """Take an event: the counts of tokens, a turn's bounds, what was rolled back; all else mirrors the items."""
        if self._is_put_off(event, place):
            return
        kind = string(event.get("type")) or "event without type"
        if kind in BREAKS:
            self.assembly.close()
        elif kind == "token_count":
            kind = kind if self.history.count(event.get("info")) else REPEATED
        elif kind == "thread_rolled_back":
            self.history.roll_back(count(event.get("num_turns")) or 0)
        elif kind == "thread_name_updated":
            self.title = string(event.get("thread_name")) or self.title
        elif kind == "context_compacted" and not self.history.is_compacted_here:
            kind = LONE
        elif self._events is not None and self._read(event, place):
            return
        self.assembly.skipped[f"event {kind}"] += 1

    def thread_item(self, item: Wire, place: Place, *, ended: bool) -> None:
        """Take an item of a thread that `codex exec` printed; of one that has only begun, the call alone."""
        self._flush(by_events=False)
        self._events = self._events or Events()
        if not self._read(item, place, ended=ended):
            self.assembly.skipped[f"thread item {string(item.get('type'))}"] += 1

    def end(self) -> None:
        """Take what was put off; nothing follows."""
        self._flush(by_events=True)
        self.assembly.close()
        self._resolve(last=True)

    def _is_put_off(self, record: Wire, place: Place) -> bool:
        """Keep events back until an item shows that they mirror it."""
        if self._waiting is None:
            return False
        self._waiting.append((record, place))
        return True

    def _flush(self, *, by_events: bool) -> None:
        waiting, self._waiting = self._waiting or [], None
        if by_events and waiting:
            self._events = Events()
            if any(string(record.get("type")) in SAYS for record, _ in waiting):
                waiting = [(record, place) for record, place in waiting if record.get("type") != "item_completed"]
        for record, place in waiting:
            if "message" in record and "type" not in record:
                self.compacted(record, place)
            else:
                self.event(record, place)

    def _read(self, event: Wire, place: Place, *, ended: bool = True) -> bool:
        """Read an event as items; whether it is one of those that tell of some."""
        told = mapping(event.get("item")) if event.get("type") == "item_completed" else event
        items = None if self._events is None else self._events.items(told, ended=ended)
        for wire in items or ():
            if ended or wire.get("type") == "function_call":
                self._add(wire, place)
        return items is not None

    def _add(self, wire: Wire, place: Place) -> None:
        add(self.assembly, wire, place)
        self._resolve()

    def _inline(self, wire: Wire, place: Place) -> None:
        item = read(wire)
        blocks = () if item is None else item.blocks
        left = Message("assistant", blocks, place.source, synthetic=True, timestamp=place.timestamp)
        self.history.compact_inline(left)

    def _replaced(self, history: Sequence[object], place: Place) -> list[Message]:
        """The messages of a history that replaced the context."""
        assembly = Assembly()
        for wire in objects(history):
            add(assembly, wire, place)
        assembly.close()
        for kept, found in ((self.assembly.skipped, assembly.skipped), (self.assembly.unknown, assembly.unknown)):
            kept.update({f"{kind} in a replaced history": number for kind, number in found.items()})
        return assembly.messages

    def _resolve(self, *, last: bool = False) -> None:
        """Put the standing instructions first, once it is known that no item before the first turn holds them."""
        messages = self.assembly.messages
        if self._instructions is None or not (last or self.assembly.responses or (messages and messages[-1].by_person)):
            return
        text = self._instructions.text.strip()
        if (messages or not last) and not any(text in m.text for m in messages if m.role == "user"):
            self.history.lead(self._instructions, int(self.history.prompted))
        self._instructions = None
