"""`key_value`: a slide that leaves a ledger of short facts behind, made by code.

The seeds name `kv_target` and say that its strategy was never built; this is one. Lines of the form `key: value` or
`key = value`, and what was last done with each file, are read from calls, results and people's messages; the newest
value of a key wins; the ledger is read again on the next pass, so that it stays one and bounded. No secret gets into
it. It uses none of the scorer's code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from compactlab.markers import LEDGER
from compactlab.strategies import Compacted, Context, Strategy, note
from compactlab.strategies._slide import slide, with_note
from compactlab.strategies._stretch import Stretch
from compactlab.strategies.sliding_window import marker, removed_before
from compactlab.tools import decoded, shell_command, tool_name
from compactlab.transcript import Message, Messages, Text, ToolCall, ToolResult

ALIASES = ("kv",)

_PAIR = re.compile(r"([A-Za-z][\w ./'-]{1,38}?) ?(?::|=|\|) (.{1,90})")
_IS = re.compile(r"\b[Tt]he ([a-z][\w' -]{2,32}?) (?:is|are|costs?|weighs|measures|was) ((?:[^.!?\n]|\.(?=\d)){2,60})")
_LEDGER_LINE = re.compile(r"- (.+?): (.*)")
_TELLING = re.compile(r"\d|/|_|[A-Z][a-z]+")
_FRAME = ' \t>*|-"`,;'
LONGEST_LINE = 160
LONGEST_KEY = 80


class _Entry(NamedTuple):
    """One line of the ledger, how much it says, and when it was last written."""

    key: str
    value: str
    weight: float
    order: int


@dataclass(frozen=True, repr=False)
class SlideAndLedger(Strategy):
    """Keep the newest `preserve_recent` units, or what fits a target; leave at most `kv_target` lines of the rest."""

    kv_target: int = 16
    preserve_recent: int = 10

    parameter_aliases: ClassVar[dict[str, str]] = {"min_messages": "preserve_recent"}

    def __post_init__(self) -> None:
        self.require_whole("kv_target", 1)
        self.require_whole("preserve_recent")

    def compact(self, messages: Messages, context: Context) -> Compacted:
        reserve = 20 + 40 * self.kv_target
        keep, gone, is_needed = slide(messages, context, self.preserve_recent, reserve, is_ledger)
        if not is_needed:
            return Compacted(messages)
        entries = _entries(Stretch(gone, context.originals or messages, context).read)
        left = note(_written(entries, self.kv_target)) if entries else marker(gone)
        return Compacted(with_note(messages, keep, left))


def is_ledger(message: Message) -> bool:
    """True of the note that an earlier pass left: a ledger, or a plain line where there was nothing to write down."""
    return message.synthetic and (message.text.startswith(LEDGER) or removed_before(message) > 0)


def _written(entries: dict[str, _Entry], kv_target: int) -> str:
    best = sorted(entries.values(), key=lambda e: (-e.weight, -e.order))[:kv_target]
    return "\n".join([LEDGER, *(f"- {e.key}: {e.value}" for e in sorted(best, key=lambda e: e.order))])


def _entries(messages: Messages) -> dict[str, _Entry]:
    """Newest value of every key; a key that was set again says a little more."""
    found: dict[str, _Entry] = {}
    pairs = (pair for message in messages for pair in _pairs(message))
    for order, (key, value, weight) in enumerate(pairs):
        folded = key.casefold()
        again = 0.5 if folded in found and found[folded].value != value else 0.0
        found[folded] = _Entry(key, value, weight + again + order * 1e-6, order)
    return found


def _pairs(message: Message) -> Iterator[tuple[str, str, float]]:
    """Keys, values and how much they weigh: a person's words most, then the agent's, then what tools printed.

    Lines that are read back from an earlier ledger weigh no more than the agent's words: they make room for new ones.
    """
    if message.synthetic and message.text.startswith(LEDGER):
        found = (_LEDGER_LINE.fullmatch(line) for line in message.text.split("\n"))
        yield from ((pair[1], pair[2], 1.8) for pair in found if pair)
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


def _stated(text: str, weight: float) -> Iterator[tuple[str, str, float]]:
    """Lines that are a key and its value, bare or as a list, a quotation or a table row writes them."""
    for line in text.split("\n"):
        if len(line) > LONGEST_LINE:
            continue
        found = _PAIR.fullmatch(" ".join(line.strip(_FRAME).replace("**", "").split()))
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
