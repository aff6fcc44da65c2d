"""What a gate can compare: shares by name, each read from the records of a case as a value and of how many."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import NamedTuple

from compactlab.records import Mode, Record
from compactlab.summary.pool import Pool

PRIMARY = "irrecoverable"
"""The metric that a gate looks at unless another is declared."""

Share = tuple[float, float]
"""A value, and of how many things, or of what weight, it is a part."""


class Measure(NamedTuple):
    """A metric of the gate: what it says, what its value counts (nothing where it is a weight), in which modes."""

    what: str
    things: str
    modes: tuple[Mode, ...]

    def counted(self, number: float) -> str:
        """A number of its things in words.

        >>> MEASURES["bound"].counted(1), MEASURES["probes"].counted(3)
        ('1 fact', '3 probes')
        """
        return f"{number:,g} {self.things if number == 1 else self.things + 's'}"


_CUT: tuple[Mode, ...] = ("cuts", "recorded")
_ANY: tuple[Mode, ...] = ("cuts", "replay", "recorded")
MEASURES = {
    "irrecoverable": Measure(
        "facts needed by an action that no call brings back, bound to their context", "fact", _ANY
    ),
    "bound": Measure("facts needed by an action, bound to their context", "fact", _ANY),
    "loose": Measure("facts needed by an action, standing anywhere", "fact", _ANY),
    "constraints": Measure("demands of people that stand as they were meant", "demand", _CUT),
    "probes": Measure("hand-made probes whose answer stands", "probe", _CUT),
    "answers": Measure("questions that a reader answers right", "answer", _CUT),
    "saved": Measure("tokens saved", "", _ANY),
}
"""By name, in the order in which they are shown."""
FACTS = ("irrecoverable", "bound", "loose")
"""Those whose single facts a run names."""


def shares(records: Iterable[Record], admitted: Collection[str] | None, mode: Mode) -> dict[str, Share]:
    """Give every share that the records of one case hold; *admitted* are the families that count, None for all."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    weights: dict[str, float] = {}
    for record in records:
        for name, value, n in _told(record, admitted):
            sums[name][0] += value
            sums[name][1] += n
        weights[record.metric] = record.value
    plain, left = ("sent_plain", "sent") if mode == "replay" else ("tokens_before", "tokens_after")
    found = {name: (value, n) for name, (value, n) in sums.items() if n}
    if weights.get(plain) and left in weights:
        found["saved"] = weights[plain] - weights[left], weights[plain]
    return found


def admitted_of(pool: Pool) -> frozenset[str] | None:
    """The families that count in a run; None, all of them, where chance was not measured."""
    return pool.admitted if pool.chance else None


_FACTS = {"needed_bound": ("bound", "irrecoverable"), "needed_loose": ("loose",)}
_FACTS |= {"decay_bound": ("bound", "irrecoverable"), "decay_loose": ("loose",)}
_WHOLE = {"probe_kept": "probes", "answer_right": "answers"}


def _told(record: Record, admitted: Collection[str] | None) -> Iterable[tuple[str, float, float]]:
    """The shares that a record is a part of, with its value and n; what stands beside an older one is in n once."""
    if record.metric in _FACTS:
        if record.use == "action" and (admitted is None or record.family in admitted):
            names = (n for n in _FACTS[record.metric] if n != PRIMARY or record.home == "irrecoverable")
            yield from ((name, record.value, record.n) for name in names)
    elif record.metric in _WHOLE:
        yield _WHOLE[record.metric], record.value, record.n
    elif record.metric == "probe_both":
        yield "probes", record.value, 0
    elif record.metric == "statement" and record.family == "constraint" and record.group in {"kept", "both"}:
        yield "constraints", record.value, record.n if record.group == "kept" else 0
