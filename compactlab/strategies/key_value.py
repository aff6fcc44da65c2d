"""`key_value`: a slide that leaves a ledger of short facts behind, made by code.

The seeds name `kv_target` and say that its strategy was never built; this is one. Lines of the form `key: value` or
`key = value`, and what was last done with each file, are read from calls, results and people's messages; the newest
value of a key wins; the ledger is read again on the next pass, so that it stays one and bounded. No secret gets into
it. It uses none of the scorer's code.

A label is no key: `Note: ...` may stand before many statements. With `labels` each of them stays, and one that says the
same with other numbers, dates or names replaces the older. With `kv_share` a target is shared out between ledger and
tail, and the ledger holds as many lines as fit, of equal weight the shorter first. `terse` leaves the labels of
statements out, and most of the heading, so that more of them fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from msgspec.structs import replace

from compactlab.errors import SpecError
from compactlab.history import protected
from compactlab.markers import BRIEF_LEDGER, LEDGER
from compactlab.strategies import Compacted, Context, Strategy, note
from compactlab.strategies._slide import slide, with_note
from compactlab.strategies._stretch import Stretch
from compactlab.strategies.sliding_window import marker, removed_before
from compactlab.tokens import MESSAGE_OVERHEAD, Meter
from compactlab.tools import decoded, shell_command, tool_name
from compactlab.transcript import Block, Message, Messages, Text, ToolCall, ToolResult

ALIASES = ("kv",)

_PAIR = re.compile(r"([A-Za-z][\w ./'-]{1,38}?) ?(?::|=|\|) (.{1,90})")
_IS = re.compile(r"\b[Tt]he ([a-z][\w' -]{2,32}?) (?:is|are|costs?|weighs|measures|was) ((?:[^.!?\n]|\.(?=\d)){2,60})")
_LABELLED = re.compile(r"([A-Z][\w ./'-]{1,38}): (\S.{1,240})")
_VALUE = re.compile(r"\S*[\d/_]\S*|(?<=[a-z,] )[A-Z]\w+|\b[a-z]+-[a-z]+\b")
_LEDGER_LINE = re.compile(r"- (.+?): (.*)")
_TELLING = re.compile(r"\d|/|_|[A-Z][a-z]+")
_FRAME = ' \t>*|-"`,;'
LONGEST_LINE = 160
LONGEST_KEY = 80
LEAST_WORDS = 4
"""Words from which what stands behind a label is a statement, and no value."""


class _Entry(NamedTuple):
    """One line of the ledger, how much it says, and when it was last written."""

    key: str
    value: str
    weight: float
    order: int


@dataclass(frozen=True, repr=False)
class SlideAndLedger(Strategy):
    """Keep the newest `preserve_recent` units, or what fits a target; leave at most `kv_target` lines of the rest.

    With a target and `kv_share`, the ledger may fill that share of the room which the protected set leaves, and what
    the tail does not; `kv_target` then plays no part.
    """

    kv_target: int = 16
    preserve_recent: int = 10
    labels: bool = False
    kv_share: float | None = None
    terse: bool = False

    parameter_aliases: ClassVar[dict[str, str]] = {"min_messages": "preserve_recent"}

    def __post_init__(self) -> None:
        self.require_whole("kv_target", 1)
        self.require_whole("preserve_recent")
        for name, value in (("labels", self.labels), ("terse", self.terse)):
            if not isinstance(value, bool):
                raise SpecError(f"{name} is {value!r}; expected True or False")
        share = self.kv_share
        if share is not None and (isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1):
            raise SpecError(f"kv_share is {share!r}; expected None, or a share above 0 and up to 1")

    def compact(self, messages: Messages, context: Context) -> Compacted:
        keep, gone, is_needed = slide(
            messages, context, self.preserve_recent, self._reserve(messages, context), is_ledger
        )
        if not is_needed:
            return Compacted(messages)
        entries = _entries(Stretch(gone, context.originals or messages, context).read, self.labels, self.terse)
        heading = BRIEF_LEDGER if self.terse else LEDGER
        best = sorted(entries.values(), key=lambda e: (-e.weight, -e.order))[: self.kv_target]
        if self.kv_share is not None and context.target is not None:
            room = context.target - context.meter.messages(messages[i] for i in keep) - MESSAGE_OVERHEAD
            best = _fitting(entries.values(), room, context.meter, heading)
        left = note(_written(best, heading)) if best else marker(gone)
        return Compacted(with_note(messages, keep, left))

    def _reserve(self, messages: Messages, context: Context) -> int:
        """Tokens of a target that are set aside for the ledger."""
        if self.kv_share is None or context.target is None:
            return 20 + 40 * self.kv_target
        held = protected(messages)
        return int(self.kv_share * max(0, context.target - context.meter.messages(messages[i] for i in sorted(held))))


def is_ledger(message: Message) -> bool:
    """True of the note that an earlier pass left: a ledger, or a plain line where there was nothing to write down."""
    return message.synthetic and (_holds_ledger(message) or removed_before(message) > 0)


def _holds_ledger(message: Message) -> bool:
    return message.text.startswith((LEDGER, BRIEF_LEDGER))


def _written(entries: Iterable[_Entry], heading: str = LEDGER) -> str:
    r"""The ledger in the order of what it holds; a label that several statements share is written once.

    >>> _written([_Entry("Rule", "Never do this.", 3, 0), _Entry("Rule", "Do that.", 3, 1)]).split("\n")[1:]
    ['- Rule:', '  Never do this.', '  Do that.']
    """
    told: dict[str, list[str]] = {}
    for entry in sorted(entries, key=lambda e: e.order):
        told.setdefault(entry.key, []).append(entry.value)
    return "\n".join((heading, *(line for key, values in told.items() for line in _lines(key, values))))


def _lines(key: str, values: list[str]) -> list[str]:
    if not key:
        return [f"- {value}" for value in values]
    return [f"- {key}: {values[0]}"] if len(values) == 1 else [f"- {key}:", *(f"  {value}" for value in values)]


def _fitting(entries: Iterable[_Entry], room: int, meter: Meter, heading: str) -> list[_Entry]:
    """The weightiest entries that fit *room* tokens as one ledger; of equal weight the shorter, then the newer."""
    room -= meter.text(f"{heading}\n")
    best: list[_Entry] = []
    labels: set[str] = set()
    for entry in sorted(entries, key=lambda e: (-round(e.weight - e.order * 1e-6, 3), len(e.value), -e.order)):
        label = f"- {entry.key}:\n" if entry.key and entry.key not in labels else ""
        tokens = meter.text(f"  {entry.value}\n") + meter.text(label)
        if tokens <= room:
            room -= tokens
            labels.add(entry.key)
            best.append(entry)
    return best


def _entries(messages: Messages, labels: bool, terse: bool) -> dict[str, _Entry]:
    """Newest value of every key; a key that was set again says a little more."""
    found: dict[str, _Entry] = {}
    pairs = (pair for message in messages for pair in (_labelled(message) if labels else _pairs(message)))
    for order, (key, value, weight) in enumerate(pairs):
        is_one = labels and _is_statement(key, value)
        key = "" if is_one and terse else key  # noqa: PLW2901  # it stands without its label
        folded = f"{key.casefold()}: {_identity(value)}" if is_one or not key else key.casefold()
        again = 0.5 if folded in found and found[folded].value != value else 0.0
        found[folded] = _Entry(key, value, weight + again + order * 1e-6, order)
    return found


def _is_statement(key: str, value: str) -> bool:
    return len(value.split()) >= LEAST_WORDS and _LABELLED.fullmatch(f"{key}: {value}") is not None


def _identity(statement: str) -> str:
    """What a statement is about: its words without numbers, dates, ids and names, which an update changes.

    >>> _identity("Budget cap is $390 total.") == _identity("Budget cap is $878 total.")
    True
    """
    return " ".join(_VALUE.sub("#", statement).casefold().split())


def _labelled(message: Message) -> Iterator[tuple[str, str, float]]:
    """As `_pairs`, but what stands in a line behind a label, where that is a statement, is taken whole."""
    if message.synthetic:
        yield from _pairs(message)
        return
    rest: list[Block] = []
    for block in message.blocks:
        lines = block.text.split("\n") if isinstance(block, Text) else []
        found = {line: _LABELLED.fullmatch(_bare(line)) for line in lines}
        told = {line: pair for line, pair in found.items() if pair and len(pair[2].split()) >= LEAST_WORDS}
        yield from ((pair[1], pair[2], 3.0 if message.by_person else 2.0) for pair in told.values())
        rest.append(Text("\n".join(line for line in lines if line not in told)) if told else block)
    yield from _pairs(replace(message, blocks=tuple(rest)))


def _bare(line: str) -> str:
    """A line without what lists, quotations and tables put around it."""
    return " ".join(line.strip(_FRAME).replace("**", "").split())


def _pairs(message: Message) -> Iterator[tuple[str, str, float]]:
    """Keys, values and how much they weigh: a person's words most, then the agent's, then what tools printed.

    Lines that are read back from an earlier ledger weigh no more than the agent's words: they make room for new ones.
    """
    if message.synthetic and _holds_ledger(message):
        yield from _read_back(message.text)
        return
    for block in message.blocks:
        if isinstance(block, Text):
            weight = 3.0 if message.by_person else 2.0
            yield from _stated(block.text, weight)
            yield from ((key, value, weight) for key, value in _IS.findall(block.text) if _TELLING.search(value))
        elif isinstance(block, ToolResult):
            yield from _stated(block.text[:20_000], 1.5 if block.is_error else 1.0)
        elif isinstance(block, ToolCall):
            yield from _done(block)


def _read_back(ledger: str) -> Iterator[tuple[str, str, float]]:
    """The lines of an earlier ledger; in a brief one what reads as a label may be the beginning of a statement."""
    if ledger.startswith(BRIEF_LEDGER):
        for line in filter(None, (line.removeprefix("- ") for line in ledger.split("\n")[1:])):
            key, colon, value = line.partition(": ")
            yield ("", line, 1.8) if not colon or _is_statement(key, value) else (key, value, 1.8)
        return
    label = ""
    for line in ledger.split("\n"):
        if found := _LEDGER_LINE.fullmatch(line):
            yield found[1], found[2], 1.8
        elif line.startswith("- ") and line.endswith(":"):
            label = line[2:-1]
        elif label and line.startswith("  "):
            yield label, line[2:], 1.8


def _stated(text: str, weight: float) -> Iterator[tuple[str, str, float]]:
    """Lines that are a key and its value, bare or as a list, a quotation or a table row writes them."""
    for line in text.split("\n"):
        if len(line) > LONGEST_LINE:
            continue
        found = _PAIR.fullmatch(_bare(line))
        if found and _TELLING.search(found[2]) and len(found[1].split()) <= 5 and "|" not in found[2]:
            yield found[1], found[2].strip(_FRAME), weight


def _done(call: ToolCall) -> Iterator[tuple[str, str, float]]:
    arguments = decoded(call)
    path = next((arguments[k] for k in ("path", "file_path", "filename") if isinstance(arguments.get(k), str)), "")
    if path := _key(path):
        yield path, f"{tool_name(call.name)} last", 1.2 if tool_name(call.name) in {"edit", "write"} else 0.8
    elif command := " ".join(shell_command(call).split("\n")[0].split())[:90]:
        yield "last command", command, 1.2


def _key(text: str) -> str:
    """A text as a key that the next pass reads back: one line, not long, no colon before a blank."""
    return " ".join(text.split()).replace(": ", ":")[:LONGEST_KEY]
