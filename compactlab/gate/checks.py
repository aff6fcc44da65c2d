"""The checks of a gate: one for each row, type of agent and metric; exact where nothing is left to chance.

Exact (M17): the same corpus, the same code, the same bytes. Then a difference is no estimate; what counts is which
things were lost and which gained. A strategy fails if it loses more than it gains, beyond the tolerance of the baseline
(0 unless it says otherwise), or if the metric falls though as many are kept; and if one session alone falls by more
than the margin, whatever the others gain. A metric that counts no things (tokens saved) has the margin alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from compactlab.gate.baseline import Rule
from compactlab.gate.compared import Rows
from compactlab.gate.measures import FACTS, MEASURES, Measure
from compactlab.gate.outcome import Check, FactChange, Verdict
from compactlab.gate.rule import ROUNDING, Interval, fallen, paired, verdict
from compactlab.gate.sides import Case, Found, Run, Side, Story
from compactlab.stats import MIN_CLUSTERS

ALL = "all"


class Judged(NamedTuple):
    """What a check comes to: the verdict, why, and what is to be warned of."""

    verdict: Verdict
    reason: str
    warning: str = ""


class Pair(NamedTuple):
    """A case on both sides, replicate by replicate: `base` and `new` are as long."""

    case: Case
    base: tuple[Found, ...]
    new: tuple[Found, ...]


class Moved(NamedTuple):
    """Facts lost and gained; how many things fewer than the baseline a row keeps in all.

    None where that cannot be told: a metric that counts none, or a replay, in which other fires ask for other facts.
    """

    lost: tuple[FactChange, ...]
    gained: tuple[FactChange, ...]
    less: float | None


class Checks:
    """Makes the checks of a run against the cases of a baseline."""

    def __init__(self, run: Run, base: Side, rule: Rule, rows: Rows, varies: Callable[[str], bool]) -> None:
        """Take both sides, the rule, which row is held against which, and which rows are left to chance."""
        self.run, self.rule, self.rows, self.varies = run, rule, rows, varies
        self.pairs: dict[str, list[Pair]] = defaultdict(list)
        for case, new in run.side.found.items():
            old = base.found.get(case._replace(row=rows.of.get(case.row, "")), ())
            if count := min(len(old), len(new)):
                self.pairs[case.row].append(Pair(case, old[:count], new[:count]))

    def all(self) -> Iterator[Check]:
        """Every check, rows in case order: the metric over all sessions, then over those of each type of agent."""
        for row in self.rows.of:
            for metric in self.rule.metrics:
                whole = self.check(row, metric, ALL)
                yield whole
                for agent_type in sorted(set(self.run.types.values())):
                    check = self.check(row, metric, agent_type)
                    if check.sessions:
                        yield check

    def check(self, row: str, metric: str, agent_type: str) -> Check:
        """One check; without sessions where nothing of its kind is measured."""
        pairs = [pair for pair in self.pairs[row] if agent_type in {ALL, self.run.types[pair.case.session]}]
        base, new = (_by_session(pairs, metric, side) for side in ("base", "new"))
        sessions = sorted(base.keys() & new.keys())
        differences = {s: [b - a for a, b in zip(base[s], new[s], strict=True)] for s in sessions}
        interval = paired(differences) if sessions else Interval(0.0, None, None)
        exact = not self.varies(row)
        if exact:
            interval = Interval(*[interval.difference] * 3) if sessions else interval
        moved = self._moved([p for p in pairs if p.case.session in base], metric) if exact else Moved((), (), None)
        stories = len({self.run.pool.cluster[session] for session in sessions})
        if stories < MIN_CLUSTERS:
            said = _told(MEASURES[metric], moved, interval.difference) if exact and stories else ""
            judged = Judged("inconclusive", _too_few(stories, metric, agent_type, said))
        elif exact:
            judged = self._exact(metric, differences, moved)
        else:
            judged = self._varying(metric, differences, interval)
        return Check(
            strategy=row,
            agent_type=agent_type,
            metric=metric,
            base=_mean(base, sessions),
            new=_mean(new, sessions),
            **judged._asdict(),
            **interval._asdict(),
            margin=self.rule.margin(metric),
            sessions=len(sessions),
            stories=stories,
            exact=exact,
            lost=moved.lost,
            gained=moved.gained,
            decides=stories >= MIN_CLUSTERS or (agent_type == ALL and _measured(pairs, metric)),
        )

    def _exact(self, metric: str, differences: dict[str, list[float]], moved: Moved) -> Judged:
        measure, margin, tolerance = MEASURES[metric], self.rule.margin(metric), self.rule.tolerance(metric)
        mean = sum(values[0] for values in differences.values()) / len(differences)
        said, faults = _told(measure, moved, mean), []
        if moved.less is not None and moved.less > tolerance + ROUNDING:
            faults.append(f"at most {measure.counted(tolerance)} may be lost" if tolerance else "none may be lost")
        elif mean < -(margin if tolerance or not measure.things else 0.0) - ROUNDING:
            faults.append(f"the mean over sessions fell by {-mean:.3f}")
        if alone := fallen(differences, margin):
            faults.append(f"more than {margin:g} fell in {_listed(alone)}")
        if faults:
            return Judged("fail", f"{said}; {'; '.join(faults)}")
        worse = moved.lost or mean < -ROUNDING
        return Judged("pass", said, f"{said}, which is let pass" if worse else "")

    def _varying(self, metric: str, differences: dict[str, list[float]], interval: Interval) -> Judged:
        margin = self.rule.margin(metric)
        count = len(next(iter(differences.values())))
        if count < 2:
            return Judged("inconclusive", "one replicate has no interval; expected --replicates 20 on both sides")
        said = verdict(interval, margin)
        alone = fallen(differences, margin)
        warning = "worse, beyond chance, though within the margin" if interval.high and interval.high < 0 else ""
        if said == "fail":
            return Judged("fail", f"worse by more than {margin:g} over {count} replicates")
        if alone:
            return Judged("fail", f"{_listed(alone)} fell by more than {margin:g} alone", warning)
        reason = f"{count} replicates"
        if said == "inconclusive":
            reason = f"{count} replicates do not tell whether it is worse by {margin:g}; more of them would"
        return Judged(said, reason, warning)

    def _moved(self, pairs: Sequence[Pair], metric: str) -> Moved:
        """What a row without chance lost and gained."""
        shares = [(pair.base[0].shares[metric], pair.new[0].shares[metric]) for pair in pairs if _has(pair, metric)]
        is_counted = bool(MEASURES[metric].things) and all(old[1] == new[1] for old, new in shares)
        less = sum(old[0] - new[0] for old, new in shares) if is_counted else None
        lost: list[FactChange] = []
        gained: list[FactChange] = []
        if metric in FACTS:
            for pair in pairs:
                old, new = (_standing(side[0], metric) for side in (pair.base, pair.new))
                stories = self.run.stories.get(pair.case[:2], ())
                counted = {i for i, story in enumerate(stories) if self._counts(story, metric)}
                lost += (_change(pair.case, stories[i]) for i in sorted((old - new) & counted))
                gained += (_change(pair.case, stories[i]) for i in sorted((new - old) & counted))
        return Moved(tuple(lost), tuple(gained), less)

    def _counts(self, story: Story, metric: str) -> bool:
        admitted = self.run.admitted
        is_home = metric != "irrecoverable" or story.regain == "irrecoverable"
        return story.use == "action" and is_home and (admitted is None or story.family in admitted)


def _by_session(pairs: Sequence[Pair], metric: str, side: str) -> dict[str, list[float]]:
    """By session and replicate the mean over cuts of a share; a cut that lacks it on either side is left out."""
    found: dict[str, list[list[float]]] = defaultdict(list)
    for pair in pairs:
        if _has(pair, metric):
            passes = pair.base if side == "base" else pair.new
            found[pair.case.session].append([value / n for value, n in (one.shares[metric] for one in passes)])
    return {session: [sum(cuts) / len(cuts) for cuts in zip(*rows, strict=False)] for session, rows in found.items()}


def _has(pair: Pair, metric: str) -> bool:
    return all(metric in one.shares for one in (*pair.base, *pair.new))


def _measured(pairs: Sequence[Pair], metric: str) -> bool:
    """Whether a metric is there on either side: a policy that never fires asks for no facts."""
    return any(metric in one.shares for pair in pairs for one in (*pair.base, *pair.new))


def _standing(found: Found, metric: str) -> set[int]:
    return {*found.bound, *(found.loose if metric == "loose" else ())}


def _change(case: Case, story: Story) -> FactChange:
    parts = (story.family, story.value, story.home, story.home_text, story.used, story.used_text, story.regain)
    return FactChange(case.session, case.cut, *parts)


def _mean(values: dict[str, list[float]], sessions: Sequence[str]) -> float:
    means = [sum(values[session]) / len(values[session]) for session in sessions]
    return sum(means) / len(means) if means else 0.0


def _too_few(stories: int, metric: str, agent_type: str, said: str) -> str:
    if not stories:
        return f"no session has {metric} to measure"
    found = f"{stories} {'story' if stories == 1 else 'stories'}: a verdict takes {MIN_CLUSTERS}"
    decides = [] if agent_type == ALL else ["all sessions together decide"]
    return "; ".join([*([said] if said else []), found, *decides])


def _told(measure: Measure, moved: Moved, mean: float) -> str:
    """How many things fewer or more, and of facts how many went and came.

    >>> _told(MEASURES["bound"], Moved((), (), -2.0), 0.01), _told(MEASURES["saved"], Moved((), (), None), -0.02)
    ('better: 2 facts more', 'worse by 0.020')
    """
    if not (moved.lost or moved.gained or abs(mean) > ROUNDING or moved.less):
        return "unchanged"
    if moved.less is None:
        return f"{'better' if mean > 0 else 'worse'} by {abs(mean):.3f}"
    parts = f" ({len(moved.lost)} lost, {len(moved.gained)} gained)" if moved.lost and moved.gained else ""
    if not moved.less:
        return f"as many, but others{parts}"
    word = "worse" if moved.less > 0 else "better"
    return f"{word}: {measure.counted(abs(moved.less))} {'fewer' if moved.less > 0 else 'more'}{parts}"


def _listed(sessions: Sequence[str]) -> str:
    return ", ".join(sessions[:3]) + (f" and {len(sessions) - 3} more" if len(sessions) > 3 else "")
