"""What a model reads of a stretch of messages that may be longer than its window: all of it, in parts where it must be.

If the stretch fits, it is one request. If not, calls and results lose their middles, visibly; if it still does not fit,
it is read in parts, cut between units, and what the parts gave is merged. A model that says that a request was too long
is asked again with less in each part. Where a part gives no usable reply, reading stops before it: what was not read is
named by position, and is not the reader's to remove.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from msgspec.structs import replace

from compactlab.history import units
from compactlab.llm import ModelError, TooLong
from compactlab.llm.checks import is_no_answer
from compactlab.llm.prompts import rendered
from compactlab.markers import middle_cut
from compactlab.tokens import Meter, counter
from compactlab.transcript import Block, Message, Messages, Text, ToolCall, ToolResult

MARGIN = 0.85
"""Share of a model's window that is used: its own counter may count more than ours."""
SMALLEST_ROOM = 200
"""Tokens of material under which a request is not worth making."""
SMALLEST_TEXT = 96
"""Tokens under which the text of a part is not worth asking for."""
LABEL = 8
"""Tokens by which the texts of parts are told apart."""
MOST_PARTS = 40
WHOLE_RESULTS = (2_000, 800)
"""Tokens that calls and results are cut to, in turn, before the stretch is read in parts."""
LESS = 0.6
"""What is left of the room of a part each time that a model says a request was too long."""
TRIES = 5


class Part(NamedTuple):
    """Messages of one request, as they are shown to the model, their text, and the units that end in it or before."""

    material: Messages
    text: str
    units: int


class Parts(NamedTuple):
    """The parts of a stretch, and what was shortened on the way to them."""

    parts: tuple[Part, ...]
    note: str


class Read(NamedTuple):
    """What was made of a stretch, positions in it that were not read, and what is to be told."""

    text: str
    unread: tuple[int, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Reader:
    """How to read: `ask` makes a text of one part, or of the whole, `merge` one text of several.

    Both are told how many tokens that text may have, so that two of them can be merged; None for the last text, which
    may be as long as it likes and takes in what was noted before. `room` are the tokens of material that a request may
    hold, None for no limit; what was noted before takes `before` tokens of that, in the request for the last text.
    """

    ask: Callable[[Part, int | None], str]
    merge: Callable[[Sequence[str], int | None], str]
    meter: Meter
    room: int | None = None
    before: int = 0

    def read(self, messages: Messages) -> Read:
        """Read a stretch; `ModelError` where nothing of it could be read, or the parts could not be merged."""
        room = self.room
        for _ in range(TRIES):
            try:
                return self._read(messages, room)
            except TooLong as error:
                last = error
                held = self.meter.text(rendered(messages))
                room = int(min(held, held if room is None else room) * LESS)
                if room < SMALLEST_ROOM:
                    break
        raise last

    def _read(self, messages: Messages, room: int | None) -> Read:
        whole = self._whole(messages, room)
        parts, note = whole or in_parts(messages, room, self.meter)
        longest = None if whole else self._longest(room)
        texts, stopped = self._asked(parts, longest)
        read = parts[len(texts) - 1].units if texts else 0
        if stopped and not read:
            raise stopped
        unread = tuple(sorted(position for unit in units(messages)[read:] for position in unit))
        notes = [note] if note else []
        if len(parts) > 1:
            notes.append(f"read in {len(texts)} parts")
        if unread:
            why = stopped or f"more than {MOST_PARTS} parts"
            notes.append(f"{len(unread)} messages were not read and stay: {why}")
        return Read(texts[0] if whole else self._merged(texts, room, longest), unread, tuple(notes))

    def _whole(self, messages: Messages, room: int | None) -> Parts | None:
        """The stretch as one part, beside what was noted before; None where both do not fit."""
        left = None if room is None else room - self.before
        if left is not None and left < SMALLEST_ROOM:
            return None
        parts = in_parts(messages, left, self.meter)
        return parts if len(parts.parts) == 1 else None

    def _longest(self, room: int | None) -> int | None:
        """Tokens that the text of a part may have: two can be merged, and one with what was noted before."""
        if room is None:
            return None
        longest = min(room // 2, room - self.before) - LABEL
        if longest < SMALLEST_TEXT:
            raise ModelError(f"the window leaves only {max(0, longest)} tokens for the text of a part")
        return longest

    def _asked(self, parts: Sequence[Part], longest: int | None) -> tuple[list[str], ModelError | None]:
        """Texts of the parts up to the first that got no usable reply, and why it did not."""
        texts: list[str] = []
        waits: ModelError | None = None
        for part in parts:
            try:
                texts.append(self.ask(part, longest))
            except TooLong:
                raise
            except ModelError as error:
                if not is_no_answer(error):
                    if waits:
                        break
                    return texts, error
                waits = waits or error  # ask for the other parts too, so that all replies can come at once
        if waits:
            raise waits
        return texts, None

    def _merged(self, texts: list[str], room: int | None, longest: int | None) -> str:
        """One text of several, as many at a time as fit, again and again; the last one with what was noted before."""
        while len(texts) > 1 or self.before:
            if len(self._groups(texts, None if room is None else room - self.before)) == 1:
                return self.merge(texts, None)
            groups = self._groups(texts, room)
            if len(groups) == len(texts):
                raise ModelError("the texts of the parts are too long to be merged")
            waits: ModelError | None = None
            merged: list[str] = []
            for group in groups:
                try:
                    merged.append(group[0] if len(group) == 1 else self.merge(group, longest))
                except ModelError as error:
                    if not is_no_answer(error):
                        raise
                    waits = waits or error
            if waits:
                raise waits
            texts = merged
        return texts[0]

    def _groups(self, texts: list[str], room: int | None) -> list[list[str]]:
        groups: list[list[str]] = []
        left = 0
        for text in texts:
            weight = self.meter.text(text) + LABEL
            if not groups or (room is not None and weight > left):
                groups.append([])
                left = room or 0
            groups[-1].append(text)
            left -= weight
        return groups


def room_for_material(window: int | None, output: int, frame: int) -> int | None:
    """Tokens of material that fit a *window* beside the *output* and the *frame* of a request; None for no limit.

    >>> room_for_material(None, 2_048, 500), room_for_material(8_192, 2_048, 500)
    (None, 4722)
    """
    if window is None:
        return None
    room = int((window - output) * MARGIN) - frame
    if room < SMALLEST_ROOM:
        raise TooLong(
            f"a window of {window:,} tokens leaves no room beside {output:,} of output and {frame:,} of prompt"
        )
    return room


def in_parts(messages: Messages, room: int | None, meter: Meter) -> Parts:
    """Cut a stretch into parts of at most *room* tokens, between units; say what was shortened on the way.

    Only as much as `MOST_PARTS` hold; the `units` of the last part tell how far it came.
    """
    grouped = units(messages)
    whole = Part(messages, rendered(messages), len(grouped))
    if room is None or meter.text(whole.text) <= room:
        return Parts((whole,), "")
    for longest in WHOLE_RESULTS:
        short = tuple(_shortened(message, longest, meter) for message in messages)
        if meter.text(text := rendered(short)) <= room:
            return Parts((Part(short, text, len(grouped)),), _told(messages, short))
    longest = max(100, room // 4)
    short = tuple(_shortened(message, longest, meter) for message in messages)
    return Parts(tuple(_packed(short, grouped, room, meter)), _told(messages, short))


def _told(messages: Messages, short: Messages) -> str:
    count = sum(one is not other for one, other in zip(messages, short, strict=True))
    return f"the model read {count} messages with the middle of a call or a result cut" if count else ""


def _shortened(message: Message, longest: int, meter: Meter) -> Message:
    """A message whose calls and results are at most *longest* tokens, the middle of what is more cut and marked."""
    blocks = tuple(_block(block, longest, meter) for block in message.blocks)
    changed = any(one is not other for one, other in zip(blocks, message.blocks, strict=True))
    return replace(message, blocks=blocks) if changed else message


def _block(block: Block, longest: int, meter: Meter) -> Block:
    if isinstance(block, ToolResult) and meter.text(block.text) > longest:
        pictures = tuple(part for part in block.content if not isinstance(part, Text))
        return replace(block, content=(Text(_ends(block.text, longest, meter)), *pictures))
    if isinstance(block, ToolCall) and meter.text(block.arguments) > longest:
        return replace(block, arguments=_ends(block.arguments, longest, meter))
    return block


def _ends(text: str, longest: int, meter: Meter) -> str:
    """Both ends of a text, as even as they go, with a mark between them."""
    mark = middle_cut(len(text))
    half = max(8, (longest - meter.text(mark)) // 2)
    head = meter.truncated(text, half)
    tail = meter.truncated(text[::-1][: 3 * len(head)], half)[::-1]
    return f"{head}\n{mark}\n{tail}"


def _packed(messages: Messages, grouped: Sequence[tuple[int, ...]], room: int, meter: Meter) -> Iterator[Part]:
    """Fill parts with whole units; a unit that fits none is cut between its messages, and inside a long one."""
    held: list[Message] = []
    left, done, made = room, 0, 0
    for number, unit in enumerate(grouped):
        stretch = [messages[i] for i in unit]
        weights = _weights(stretch, meter)
        if sum(weights) > left and held:
            yield _part(held, messages, number)
            held, left, made = [], room, made + 1
        if sum(weights) > room:
            pieces = [piece for message in stretch for piece in _pieces(message, room - 40, meter)]
            stretch, weights = pieces, _weights(pieces, meter)
        for message, weight in zip(stretch, weights, strict=True):
            if weight > left and held:
                yield _part(held, messages, done)
                held, left, made = [], room, made + 1
            if made >= MOST_PARTS:
                return
            held.append(message)
            left -= weight
        done = number + 1
    if held:
        yield _part(held, messages, done)


def _part(held: list[Message], messages: Messages, done: int) -> Part:
    return Part(tuple(held), rendered(held, messages), done)


def _weights(stretch: Sequence[Message], meter: Meter) -> list[int]:
    """What messages weigh as they are shown, with a little for the names of tools."""
    shown = [rendered([message]) for message in stretch]
    return [weight + 4 for weight in counter(meter.counter_name)(shown)] if shown else []


def _pieces(message: Message, room: int, meter: Meter) -> Iterator[Message]:
    """A message in pieces of at most *room* tokens: block by block, and a long text in slices."""
    for block in message.blocks:
        if not isinstance(block, Text):
            yield replace(message, blocks=(_block(block, room, meter),))
            continue
        text = block.text
        while text:
            piece = meter.truncated(text, room) or text[:1]
            yield replace(message, blocks=(Text(piece),))
            text = text[len(piece) :]
