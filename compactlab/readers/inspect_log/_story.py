"""A conversation that was compacted, made whole again out of what each call of its model was sent.

Each call's input is what stood in context. Before a compaction it grows; after one it has lost messages, and holds some
that the harness made (a summary) or changed (a result that was cleared, a response without its reasoning). The sample's
final messages fill in what no call was sent any more.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.readers._fields import array, mapping, string
from compactlab.readers.inspect_log._calls import Call, Compacted, Item, beyond

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from compactlab.readers.inspect_log._chat import Chat, Mark

Wire = dict[str, Any]
_LEAST_SUMMARY = 16  # characters; a shorter answer stands in any text
_SUMMARY = re.compile(r"<summary>(.*)</summary>", re.DOTALL)


class Node:
    """A message of the story as recorded, and the call that it is the answer of."""

    def __init__(self, wire: Wire, call: Call | None = None) -> None:
        self.wire = wire
        self.call = call


class Made(NamedTuple):
    """A message that a compaction made, or changed from one of the story."""

    wire: Wire
    original: Node | None = None


class Seam(NamedTuple):
    """A compaction: the event, what stood in context after it, the answer that came next, and who summarised."""

    event: Compacted
    after: tuple[Node | Made, ...]
    following: Node
    summariser: Call | None


class Told:
    """The story of a thread and its seams, growing call by call."""

    def __init__(self, chat: Chat) -> None:
        self.nodes: list[Node] = []
        self.seams: list[Seam] = []
        self.skipped: Counter[str] = Counter()
        self._chat = chat
        self._context: list[Node | Made] = []
        self._sent: list[Wire] = []
        self._pending: list[Compacted] = []
        self._summariser: Call | None = None

    def add(self, items: Sequence[Item], final: Sequence[Wire]) -> None:
        """Take up the calls and compactions of a thread, whose messages in the end were *final* (none if not known)."""
        kept = _on_line(items, final, self._chat)
        for place, item in enumerate(items):
            if isinstance(item, Compacted):
                self._pending.append(item)
            elif place in kept:
                self._call(item)
            elif _summarises(items, place, self._chat):
                self._summariser = item
                self._enter(item.input[:-1])
            else:
                self.skipped["model call beside the conversation"] += 1
        self.skipped["compaction without a call after it"] += len(self._pending)
        self._fill(final)

    def matched(self, items: Sequence[Item], final: Sequence[Wire]) -> None:
        """Take up a conversation that was never compacted: its final messages, each answer as its call gave it."""
        self.nodes = [Node(wire) for wire in final]
        known = self._known(self.nodes)
        for item in items:
            found = known.take(item.output, changed=True) if isinstance(item, Call) else None
            if isinstance(found, Node) and isinstance(item, Call):
                found.call = item
                found.wire = item.output  # the harness may have put the submitted answer in place of its call
            else:
                self.skipped["model call beside the conversation"] += 1

    def _call(self, call: Call) -> None:
        answer = Node(call.output, call)
        if self._pending:
            self._compacted(call, answer)
        else:
            self._context = self._enter(call.input)
        self._sent = call.input
        self.nodes.append(answer)
        self._context.append(answer)

    def _enter(self, sent: list[Wire]) -> list[Node | Made]:
        """What a call was sent, as messages of the story; those that are new come into it."""
        fresh = beyond(self._sent, sent)
        same = len(sent) - len(fresh)
        entries = self._context[:same]
        known = self._known(self._context[same:])
        for wire in fresh:
            found = known.take(wire, changed=True)
            if found is None:
                found = Node(wire)
                self.nodes.append(found)
            entries.append(found)
        return entries

    def _compacted(self, call: Call, answer: Node) -> None:
        event = self._pending.pop()
        self.skipped["compaction right before another"] += len(self._pending)
        self._pending = []
        inside, whole = self._known(self._context), self._known(self.nodes)
        entries: list[Node | Made] = []
        is_marked = any(is_summary(wire) for wire in call.input)
        for wire in call.input:
            found = inside.take(wire) or whole.take(wire)
            if found is None:
                found = self._fresh(wire, event.kind == "summary" and not is_marked)
            if isinstance(found, Node) and found not in self.nodes:
                self.nodes.append(found)
            entries.append(found)
        self.seams.append(Seam(event, tuple(entries), answer, self._summariser))
        self._summariser = None
        self._context = entries

    def _fresh(self, wire: Wire, has_summary: bool) -> Node | Made:
        """A message that did not stand in the story: changed, made by the compaction, or new since the last answer.

        With *has_summary*, a user's message is the summary, though it is not marked as one.
        """
        role = string(wire.get("role"))
        original = next((node for node in reversed(self.nodes) if _same_place(node.wire, wire)), None)
        if original is not None or role in {"assistant", "system"}:
            return Made(wire, original)
        if role == "user" and (is_summary(wire) or has_summary):
            return Made(wire)
        return Node(wire)

    def _fill(self, final: Sequence[Wire]) -> None:
        """Put what stands only in the final messages after the message that it follows there."""
        known = self._known(self.nodes)
        made = {self._chat.mark(entry.wire) for seam in self.seams for entry in seam.after if isinstance(entry, Made)}
        behind: dict[int, list[Node]] = defaultdict(list)
        places = {id(node): place for place, node in enumerate(self.nodes)}
        at = -1
        for wire in final:
            found = known.take(wire, changed=True)
            if isinstance(found, Node):
                at = max(at, places[id(found)])
            elif not is_summary(wire) and self._chat.mark(wire) not in made:
                behind[at].append(Node(wire))
        whole = list(behind.get(-1, ()))
        for place, node in enumerate(self.nodes):
            whole += [node, *behind.get(place, ())]
        self.nodes = whole

    def _known(self, entries: Iterable[Node | Made]) -> _Known:
        return _Known(entries, self._chat)


class _Known:
    """Entries to be found again by what they say, else by their id, each once and in order."""

    def __init__(self, entries: Iterable[Node | Made], chat: Chat) -> None:
        self._chat = chat
        self._by_mark: dict[Mark, deque[Node | Made]] = defaultdict(deque)
        self._by_id: dict[tuple[str, str], Node | Made] = {}
        self._taken: set[int] = set()
        for entry in entries:
            self._by_mark[chat.mark(entry.wire)].append(entry)
            key = _key(entry.wire)
            if key[1]:
                self._by_id[key] = entry

    def take(self, wire: Wire, *, changed: bool = False) -> Node | Made | None:
        """The entry that says the same; with *changed*, also one of the same id that says something else."""
        waiting = self._by_mark.get(self._chat.mark(wire), deque())
        while waiting:
            found = waiting.popleft()
            if id(found) not in self._taken:
                return self._took(found)
        same = self._by_id.get(_key(wire)) if changed else None
        return None if same is None or id(same) in self._taken else self._took(same)

    def _took(self, entry: Node | Made) -> Node | Made:
        self._taken.add(id(entry))
        return entry


def is_summary(wire: Wire) -> bool:
    """Whether Inspect marked a message as the summary that its compaction made."""
    return wire.get("role") == "user" and bool(mapping(wire.get("metadata")).get("summary"))


def _key(wire: Wire) -> tuple[str, str]:
    return string(wire.get("role")), string(wire.get("id"))


def _same_place(before: Wire, after: Wire) -> bool:
    """Whether two messages that differ are one: the same result, the same calls, or the same id."""
    if before.get("role") != after.get("role"):
        return False
    if before.get("role") == "tool" and string(after.get("tool_call_id")):
        return string(before.get("tool_call_id")) == string(after.get("tool_call_id"))
    same = string(after.get("id"))
    return (bool(same) and before.get("id") == same) or bool(_call_ids(before) & _call_ids(after))


def _call_ids(wire: Wire) -> set[str]:
    return {string(mapping(call).get("id")) for call in array(wire.get("tool_calls"))} - {""}


def _on_line(items: Sequence[Item], final: Sequence[Wire], chat: Chat) -> set[int]:
    """Places of the calls whose answers came into the conversation.

    Those are the answers that stand in the input of a later call or in the final messages; the last answer, where final
    messages are not known; and the last one before a compaction, unless it is its summary.
    """
    seen = {chat.mark(wire) for wire in final}
    ids = {key for wire in final if (key := _key(wire))[1]}
    last = max((place for place, item in enumerate(items) if isinstance(item, Call)), default=-1)
    kept: set[int] = set()
    later: list[Wire] = []
    for place in reversed(range(len(items))):
        item = items[place]
        if isinstance(item, Compacted):
            continue
        held = chat.mark(item.output) in seen or _key(item.output) in ids or (place == last and not final)
        before = isinstance(items[place + 1], Compacted) if place + 1 < len(items) else False
        if held or (before and not _summarises(items, place, chat)):
            kept.add(place)
        if len(beyond(item.input, later)) == len(later):
            seen.update(chat.mark(wire) for wire in item.input if wire.get("role") == "assistant")
        later = item.input
    return kept


def _summarises(items: Sequence[Item], place: int, chat: Chat) -> bool:
    """Whether the answer of a call right before a compaction is what the next call was sent as a summary."""
    call = items[place]
    if isinstance(call, Compacted) or place + 1 >= len(items) or not isinstance(items[place + 1], Compacted):
        return False
    following = next((item for item in items[place + 1 :] if isinstance(item, Call)), None)
    said = chat.words(call.output)
    inner = _SUMMARY.search(said)
    parts = [part.strip() for part in (said, "" if inner is None else inner.group(1))]
    heard = [] if following is None else [chat.words(wire) for wire in following.input if wire.get("role") == "user"]
    return any(len(part) >= _LEAST_SUMMARY and part in text for part in parts for text in heard)
