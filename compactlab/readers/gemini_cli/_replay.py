"""The records of a Gemini CLI session, gone through one by one: what was said, rewound, compressed and masked."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.readers._fields import mapping, objects, string
from compactlab.readers.gemini_cli._contents import SNAPSHOT
from compactlab.readers.gemini_cli._patches import ordered, patched, updates
from compactlab.readers.gemini_cli._records import Record, build
from compactlab.transcript import Message, Reasoning, RecordedCompaction, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

Entry = int | Message


class Replay:
    """Takes records in their order; `settle` makes those messages that were still growing.

    `messages` is the whole story of the branch, `compactions` what the tool did to its list of messages on the way.
    """

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.compactions: list[RecordedCompaction] = []
        self.usage: list[Usage] = []
        self.models: dict[str, None] = {}
        self.skipped: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self._pending: dict[str, Record] = {}
        self._standing: dict[str, list[Entry]] = {}
        self._context: list[Entry] = []
        self._nameless = 0

    def take(self, value: dict[str, Any], source: int) -> dict[str, Any]:
        """Take one JSON line, and give the metadata that is in it."""
        if isinstance(value.get("$rewindTo"), str):
            self.skipped["rewind"] += 1
            self._rewind(value["$rewindTo"])
        elif isinstance(value.get("$set"), dict):
            self.skipped["metadata"] += 1
            if isinstance(value["$set"].get("messages"), list):
                self._replace(value["$set"]["messages"], source)
            return mapping(value["$set"])
        elif isinstance(value.get("$patch"), dict):
            self.skipped["change to messages"] += 1
            self._patch(value["$patch"], source)
        elif isinstance(value.get("type"), str) and "sessionId" not in value:
            self.message(value, source)
        elif isinstance(value.get("sessionId"), str):
            self.skipped["metadata"] += 1
            for inner in objects(value.get("messages")):
                self.message(inner, source)
            return value
        else:
            self.unknown["record of another kind"] += 1
        return {}

    def message(self, value: dict[str, Any], source: int) -> None:
        """Take a message; one with the id of an earlier one stands in its place."""
        name = self._name(value)
        if name in self._standing:
            self._grow(Record(name, value, source))
        elif name in self._pending:
            self.skipped["earlier version of a message"] += 1
            self._pending[name] = Record(name, value, self._pending[name].source)
        else:
            self._pending[name] = Record(name, value, source)

    def _name(self, value: dict[str, Any]) -> str:
        name = string(value.get("id"))
        if name:
            return name
        self._nameless += 1
        return f"\0{self._nameless}"

    def settle(self) -> None:
        """Make messages of the records that were taken since the last time."""
        built = build(list(self._pending.values()))
        base = len(self.messages)
        self.usage += [replace(used, position=base + (used.position or 0)) for used in built.usage]
        self.models |= dict.fromkeys(model for model in built.models if model)
        self.skipped.update(built.skipped)
        self.unknown.update(built.unknown)
        for name, made in built.groups:
            self._standing[name] = self._append(made)
        self._pending = {}

    def _append(self, made: Sequence[Message]) -> list[Entry]:
        places: list[Entry] = list(range(len(self.messages), len(self.messages) + len(made)))
        self.messages += made
        self._context += places
        return places

    def _grow(self, record: Record) -> None:
        """Add what a message that was made already got since: calls and results that stand behind what it said."""
        self.skipped["earlier version of a message"] += 1
        self.settle()
        [(_, made)] = build([record]).groups
        before = self._standing[record.id]
        is_last = before == self._context[len(self._context) - len(before) :]
        last = self.compactions[-1].position if self.compactions else 0
        fresh = [entry for entry in before if isinstance(entry, int) and entry >= last]
        if is_last and len(fresh) == len(before) and len(made) >= len(before):
            for entry, message in zip(fresh, made, strict=False):
                self.messages[entry] = replace(message, source=self.messages[entry].source)
            self._standing[record.id] = before + self._append(made[len(before) :])
        elif len(made) > len(before):
            self._standing[record.id] = before + self._append(made[len(before) :])

    def _rewind(self, name: str) -> None:
        """Leave the branch that starts with a message."""
        if name in self._pending:
            names = list(self._pending)
            for later in names[names.index(name) :]:
                del self._pending[later]
                self.skipped["message of another branch"] += 1
            return
        entries = self._standing.get(name)
        if entries is None:
            self.unknown["rewind to a message that is not there"] += 1
            return
        self.settle()
        if entries and entries[0] in self._context:
            self._cut(self._context.index(entries[0]))

    def _cut(self, length: int) -> None:
        """Keep the first entries of the context; messages behind them stand on another branch."""
        kept, dropped = self._context[:length], self._context[length:]
        gone = [entry for entry in dropped if isinstance(entry, int)]
        last = self.compactions[-1].position if self.compactions else 0
        end = max(last, min(gone, default=len(self.messages)))
        self.skipped["message of another branch"] += len(self.messages) - end
        del self.messages[end:]
        self.usage = [used for used in self.usage if (used.position or 0) < end]
        if self.compactions and (len(gone) < len(dropped) or any(entry < last for entry in gone)):
            self.compactions[-1] = replace(self.compactions[-1], after=tuple(kept))
        self._context = kept
        whole = {id(entry) for entry in kept if isinstance(entry, Message)} | {e for e in kept if isinstance(e, int)}
        self._standing = {
            name: entries
            for name, entries in self._standing.items()
            if all((entry if isinstance(entry, int) else id(entry)) in whole for entry in entries)
        }

    def _replace(self, values: list[Any], source: int) -> None:
        """Put another list in the place of the context: a compaction, a rewind, or the same with more behind it."""
        self.settle()
        built = build([Record(self._name(value), value, source) for value in objects(values)])
        self.unknown.update(built.unknown)
        self._becomes({name: self._same(name, made) for name, made in built.groups})

    def _patch(self, patch: dict[str, Any], source: int) -> None:
        """Change some messages of the context, take some out, put them in another order."""
        self.settle()
        places = {entry if isinstance(entry, int) else id(entry): at for at, entry in enumerate(self._context)}
        groups = {
            name: [places.get(entry if isinstance(entry, int) else id(entry), -1) for entry in group]
            for name, group in self._standing.items()
        }
        names = sorted((name for name, at in groups.items() if at and min(at) >= 0), key=lambda name: groups[name])
        standing = {name: self._standing[name] for name in ordered(names, patch)}
        for update in updates(patch):
            name = string(update.get("id"))
            if name in standing:
                held = [self.messages[e] if isinstance(e, int) else e for e in standing[name]]
                standing[name] = self._same(name, patched(held, update, source))
        self._becomes(standing)

    def _becomes(self, standing: dict[str, list[Entry]]) -> None:
        """Note what the list of messages became."""
        entries = [entry for _, group in standing.items() for entry in group]
        if not entries or entries == self._context:
            return
        if entries == self._context[: len(entries)]:
            self._cut(len(entries))
            return
        fresh = [entry for entry in entries if isinstance(entry, Message) and entry not in self._context]
        if entries[: len(self._context)] == self._context:
            added = [entry for entry in entries[len(self._context) :] if isinstance(entry, Message)]
            self._standing |= self._told(standing, added)
            return
        self._compact(standing, fresh)

    def _told(self, standing: dict[str, list[Entry]], added: list[Message]) -> dict[str, list[Entry]]:
        """Messages that a list brought at its end belong to the story."""
        places = {id(message): place for message, place in zip(added, self._append(added), strict=True)}
        return {
            name: [places.get(id(entry), entry) for entry in group if isinstance(entry, int) or id(entry) in places]
            for name, group in standing.items()
        }

    def _compact(self, standing: dict[str, list[Entry]], fresh: list[Message]) -> None:
        """Note what the tool made of its list: *fresh* are the messages that are new or changed."""
        summary = next((m.text for m in fresh if m.role == "user" and SNAPSHOT in m.text), "")
        held = {name for name, group in standing.items() if group}
        masked = not summary and bool(fresh) and held <= self._standing.keys()
        marked = {id(m): replace(m, synthetic=True) if m.role in {"user", "assistant"} else m for m in fresh}
        settled: dict[str, list[Entry]] = {
            name: [marked.get(id(entry), entry) if isinstance(entry, Message) else entry for entry in group]
            for name, group in standing.items()
        }
        after = tuple(entry for group in settled.values() for entry in group)
        self._standing |= settled
        self._context = list(after)
        trigger = "mask" if masked else "unknown"
        self.compactions.append(RecordedCompaction(len(self.messages), trigger=trigger, after=after, summary=summary))

    def _same(self, name: str, made: Sequence[Message]) -> list[Entry]:
        """The entries of a message: those that stand already where nothing in them changed, else new ones."""
        before = self._standing.get(name, [])
        given: list[Entry] = []
        for place, message in enumerate(made):
            held = before[place] if place < len(before) else None
            old = self.messages[held] if isinstance(held, int) else held
            given.append(message if held is None or old is None or _said(old) != _said(message) else held)
        return given


def _said(message: Message) -> tuple[str, tuple[object, ...]]:
    return message.role, tuple(block for block in message.blocks if not isinstance(block, Reasoning))
