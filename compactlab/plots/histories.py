"""What is drawn of one history under several strategies: what became of each message, and of each needed fact.

Made of a transcript, whose messages are weighed; or of the folder of a run, which holds no words and no weights: there
each message is as wide as any other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from compactlab import catalog, history
from compactlab.compaction import Compaction, Guard, compact
from compactlab.errors import SpecError
from compactlab.harness.fates import fates
from compactlab.llm.extractive import Extractive
from compactlab.pressure import Marks
from compactlab.receipt import Action
from compactlab.records import Key
from compactlab.results import Results
from compactlab.strategies import Strategy
from compactlab.tokens import Meter
from compactlab.transcript import Transcript

NOWHERE = -1
"""The home of facts of which it is not known at which message they stand."""


class Row(NamedTuple):
    """One strategy: what became of each message, what was written and before which one, and the needed facts.

    `made` holds (position of the message that it stands before, weight); `facts` by home, how many are bound, loose or
    lost. `note` is a word on it: its outcome, if it was not applied.
    """

    name: str
    actions: tuple[Action, ...]
    made: tuple[tuple[int, int], ...]
    facts: dict[int, dict[str, int]]
    note: str = ""


class History(NamedTuple):
    """A history before a cut: the weight and the role of each message, "" where it is not known, and its rows.

    `unit` is how much weight is 1 on the axis, which `axis` names.
    """

    name: str
    weights: tuple[int, ...]
    roles: tuple[str, ...]
    rows: tuple[Row, ...]
    unit: float = 1_000.0
    axis: str = "thousand tokens of the history, the oldest first"


def of_transcript(
    transcript: Transcript, share: float, strategies: Iterable[str | Strategy], guard: Guard | None = None
) -> History:
    """Compact a transcript behind *share* of its assistant messages by each strategy, and follow its needed facts.

    Without a *guard* text is written by `extractive`. `SpecError` if the session is too short to be cut there.
    """
    from compactlab.harness.cuts import planned

    guard = guard or Guard(Meter(), model=Extractive())
    built = [catalog.strategy(one) if isinstance(one, str) else one for one in strategies]
    [cut] = planned(transcript, (share,), None, Marks(), guard.meter)
    if cut.skipped:
        raise SpecError(f"{transcript.id}: {cut.skipped}; expected a session that can be cut at {share}")
    repaired = history.repair(transcript.view(cut.before))
    base = tuple(replace(message, source=i) for i, message in enumerate(repaired.messages))
    homes = _places(transcript.entries(cut.before), repaired.origins)
    found = fates(transcript, share, built)
    rows = []
    for strategy in built:
        facts: dict[int, Counter[str]] = defaultdict(Counter)
        for fate in found:
            facts[homes.get(fate.story.home, 0)][fate.kept[repr(strategy)]] += 1
        rows.append(_row(compact(base, strategy, guard=guard), facts, guard.meter))
    weights = tuple(guard.meter.message(message) for message in base)
    name = f"{transcript.id} before message {cut.before}"
    return History(name, weights, tuple(message.role for message in base), tuple(rows))


def _places(entries: Sequence[Any], origins: Sequence[int | None]) -> dict[int, int]:
    """Where in the repaired history each message of the transcript begins."""
    found: dict[int, int] = {}
    for place, origin in enumerate(origins):
        if origin is not None and isinstance(entries[origin], int):
            found.setdefault(entries[origin], place)
    return found


def _row(compaction: Compaction, facts: dict[int, Counter[str]], meter: Meter) -> Row:
    """What a pass did to each message, by its receipt; the source of what it left is a position, or none if made."""
    receipt = compaction.receipt
    actions = tuple(change.action for change in receipt.changes if change.position is not None)
    weighed = [(message.source, meter.message(message)) for message in compaction.messages]
    note = "" if receipt.outcome == "applied" else receipt.outcome
    return Row(receipt.strategy, actions, _made(weighed, len(actions)), {i: dict(of) for i, of in facts.items()}, note)


def _made(left: Sequence[tuple[int | None, int]], end: int) -> tuple[tuple[int, int], ...]:
    """Which message each one that was made stands before, of (position, weight) in order.

    >>> _made([(0, 9), (None, 5), (7, 9), (None, 4)], 8)
    ((7, 5), (8, 4))
    """
    made: list[tuple[int, int]] = []
    before = end
    for position, weight in reversed(left):
        if position is None:
            made.append((before, weight))
        else:
            before = position
    return tuple(reversed(made))


def of_run(results: Results, session: str = "", cut: str = "") -> History:
    """Take one cut of a session out of a run's folder; by default the one that needed most facts.

    Strategies of several budgets are those at the budget nearest to 20 %. Where the history was no plain beginning of
    the session (a harness had compacted it, or messages were parted), a run does not say where in it a fact stood: it
    is counted and not shown. `SpecError` if there is no such cut.
    """
    if results.manifest.mode == "replay":
        raise SpecError("a run of replays has no cuts; expected one that cuts sessions")
    counts = Counter((fact.session, fact.cut) for fact in results.needed)
    chosen = [place for place in sorted(counts) if session in {"", place[0]} and cut in {"", place[1]}]
    if not chosen:
        raise SpecError(f"no cut {cut} of {session} with needed facts; expected one of the run".replace("  ", " "))
    session, cut = max(chosen, key=lambda place: counts[place])
    found = [(key, left) for key, left in results.left if (key.session, key.cut, key.replicate) == (session, cut, 0)]
    passes = [(key, left) for key, left in found if "messages" in left]
    one = _one(results.manifest.budgets)
    index = next(record.index for record in results.records if (record.session, record.cut) == (session, cut))
    ends = [entry[1] + 1 for _, left in passes for entry in left["messages"] if isinstance(entry, list)]
    end = max(ends, default=index)
    facts: dict[str, dict[int, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for fact in results.needed:
        if (fact.session, fact.cut) == (session, cut) and fact.budget in {"", one}:
            fate = "bound" if fact.bound else "loose" if fact.verdict == "kept" else "lost"
            facts[fact.strategy][fact.home if end == index else NOWHERE][fate] += 1
    rows = tuple(_told(key, left, (facts[key.strategy], end)) for key, left in passes if key.budget in {"", one})
    name = f"{session} before message {index} (cut {cut})"
    return History(name, (1,) * end, ("",) * end, rows, 1.0, "messages of the history, the oldest first")


def _one(budgets: Sequence[str]) -> str:
    return min(budgets, key=lambda budget: abs(float(budget) - 20)) if budgets else ""


def _told(key: Key, told: dict[str, Any], at: tuple[dict[int, Counter[str]], int]) -> Row:
    """A row out of what a run keeps: runs of positions that were kept, and messages that were edited or made.

    *at* are its needed facts by home, and where the history ends.
    """
    facts, end = at
    actions: list[Action] = ["dropped"] * end
    left: list[tuple[int | None, int]] = []
    waiting: list[dict[str, Any]] = []
    begin = 0
    for entry in [*told["messages"], [end, end - 1]]:
        if not isinstance(entry, list):
            waiting.append(entry)
            continue
        first, last = entry
        places = _edited(waiting, range(begin, first), is_ours=key.strategy != "recorded")
        for place in (place for place in places if place is not None):
            actions[place] = "edited"
        actions[first : last + 1] = ["kept"] * (last + 1 - first)
        left += [(place, 1) for place in (*places, *range(first, last + 1))]
        waiting, begin = [], last + 1
    outcome = told["outcome"]
    note = "" if outcome == "applied" else outcome
    return Row(key.strategy, tuple(actions), _made(left, end), {i: dict(of) for i, of in facts.items()}, note)


def _edited(entries: Sequence[dict[str, Any]], gap: range, *, is_ours: bool) -> list[int | None]:
    """Where each of some messages stood that are not whole, among the positions of a gap; None for one that was made.

    What a strategy edited has the source of what it was, but sources are positions in some formats only: where they do
    not fit the gap, the edited ones are taken to be its first. What a harness made has a source too, of its record.
    """
    sources = [e.get("source") if is_ours or not e.get("synthetic") else None for e in entries]
    known = [source for source in sources if source is not None]
    fits = all(source in gap for source in known) and known == sorted(set(known)) and len(known) < len(gap)
    free = iter(known if fits else gap)
    return [None if source is None else next(free, None) for source in sources]
