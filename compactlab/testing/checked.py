"""What a strategy keeps and saves on given transcripts, and assertions on that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from compactlab import catalog
from compactlab.errors import RunError, SpecError
from compactlab.gate.faults import errors, invalid
from compactlab.gate.measures import FACTS, MEASURES, PRIMARY
from compactlab.gate.outcome import FactChange, Fault
from compactlab.gate.rule import MARGIN, ROUNDING
from compactlab.gate.sides import Case, Found, Run, row_of, taken
from compactlab.gate.twice import twice
from compactlab.gate.wording import AROUND, VALUE, counted, visible
from compactlab.harness import Settings
from compactlab.llm.extractive import Extractive
from compactlab.results import Results
from compactlab.strategies import Strategy
from compactlab.summary.pool import mean_of, session_means
from compactlab.testing.measured import measured

NAMED = 10
"""Facts, faults or sessions that a message names; of the rest it says how many."""

Paths = str | Path | Iterable[str | Path]


def check(strategy: str | Strategy, on: Paths, settings: Settings | None = None) -> Checked:
    """Run a strategy, a spec or an object, over the transcripts at *on*, and give what can be asserted of it.

    *settings* say where sessions are cut and how tokens are counted, as for `compactlab.run`; their strategies do not
    count. One process, nothing is left on the disk, and the controls of the tables are left out. Raises
    `TranscriptError`, `SpecError`, `UnknownName` or `RunError` for what cannot be run at all.
    """
    __tracebackhide__ = True
    built = catalog.strategy(strategy) if isinstance(strategy, str) else strategy
    paths = (on,) if isinstance(on, str | Path) else tuple(on)
    settings = replace(settings or Settings(), strategies=(built,), policies=(), jobs=1)
    if len(settings.budget_names) > 1:
        raise SpecError(f"budgets {', '.join(settings.budget_names)}: expected one at most; check each alone")
    return Checked(repr(built), paths, settings, measured(paths, settings))


def assert_no_worse(
    strategy: str | Strategy, than: str | Strategy, on: Paths, margin: float = MARGIN, metric: str = PRIMARY
) -> None:
    """Raise `AssertionError` if a strategy keeps less than another on the transcripts at *on*, by more than *margin*.

    See `Checked.no_worse`, which takes settings too.
    """
    __tracebackhide__ = True
    check(strategy, on).no_worse(than, margin, metric)


@dataclass(frozen=True)
class Checked:
    """What a strategy came to on some transcripts. The assertions give it back, so that they can be chained.

    No assertion holds while a case ended in an error. Values are means over sessions of means over their cuts.
    """

    spec: str
    paths: tuple[str | Path, ...]
    settings: Settings
    results: Results

    def valid(self) -> Checked:
        """Assert that nothing is amiss that a gate never lets pass.

        No error, no result that the guard rejected or a provider would refuse, no demand of a person turned round, no
        overflow; and compactions made a second time, the last one first, are the same, unless the strategy is
        `stochastic` or asks a model.
        """
        __tracebackhide__ = True
        if found := [*self._faults()]:
            raise AssertionError(
                _told(f"{self.spec} has {counted(len(found), 'fault')}", (_fault(fault) for fault in found))
            )
        return self

    def keeps(self, **least: float) -> Checked:
        """Assert for each metric (`irrecoverable`, `bound`, `loose`, `constraints`, `probes`) the least mean share."""
        __tracebackhide__ = True
        for metric, expected in least.items():
            if not MEASURES[_known(metric)].things:
                raise SpecError(f"{metric!r} is nothing that is kept; expected .saves({expected})")
            self._reaches(metric, expected)
        return self

    def saves(self, least: float) -> Checked:
        """Assert the least mean share of the tokens that is saved."""
        __tracebackhide__ = True
        self._reaches("saved", least)
        return self

    def no_worse(self, than: str | Strategy | Checked, margin: float = MARGIN, metric: str = PRIMARY) -> Checked:
        """Assert that another strategy's mean share, on the same transcripts, is not higher by more than *margin*.

        The other is run too, unless it was checked already. A plain difference, exact for these transcripts: what it
        would be on others has an interval, which `compactlab report --table pairs` shows.
        """
        __tracebackhide__ = True
        other = than if isinstance(than, Checked) else check(than, self.paths, self.settings)
        if other.results.manifest.corpus != self.results.manifest.corpus:
            raise SpecError(f"{other.spec} was checked on other transcripts; expected the same")
        here, there = self.share(metric), other.share(metric)
        if here < there - margin - ROUNDING:
            known = {*other.lost(metric)}
            lost = [fact for fact in self.lost(metric) if fact not in known]
            head = f"{self.spec} has {here:.3f} of {metric}, {other.spec} {there:.3f}; expected {margin:g} less at most"
            raise AssertionError(_told(head, self._shown(lost, metric)))
        return self

    def share(self, metric: str = PRIMARY) -> float:
        """The mean share of a metric; `AssertionError` if a case failed, or no session has what it measures."""
        __tracebackhide__ = True
        if failed := [*errors(self._whole)]:
            raise AssertionError(_told(f"{self.spec}: {counted(len(failed), 'case')} failed", map(_fault, failed)))
        if not (found := self.by_session(metric)):
            raise AssertionError(f"{self.spec}: no session has {metric} to measure")
        return mean_of(list(found.values()))

    def by_session(self, metric: str = PRIMARY) -> dict[str, float]:
        """The mean share over the cuts of each session that has what the metric measures."""
        _known(metric)
        values = {
            (case.session, case.cut): mean_of([value / n for value, n in shares])
            for case, found in self._own.items()
            if (shares := [one.shares[metric] for one in found if metric in one.shares])
        }
        return session_means(values)

    def lost(self, metric: str = PRIMARY) -> tuple[FactChange, ...]:
        """The needed facts that a metric counts and that do not stand (in every replicate); none but for facts."""
        return tuple(self._lost(_known(metric))) if metric in FACTS else ()

    @cached_property
    def _whole(self) -> Run:
        return taken(self.results)

    @cached_property
    def _own(self) -> dict[Case, tuple[Found, ...]]:
        row = row_of(self.spec, next(iter(self.settings.budget_names), ""))
        return {case: found for case, found in self._whole.side.found.items() if case.row in {row, self.spec}}

    def _lost(self, metric: str) -> Iterator[FactChange]:
        admitted = self._whole.admitted
        for case, found in self._own.items():
            standing = [{*one.bound, *(one.loose if metric == "loose" else ())} for one in found]
            for number, story in enumerate(self._whole.stories.get((case.session, case.cut), ())):
                counts = story.use == "action" and (admitted is None or story.family in admitted)
                counts = counts and (metric != "irrecoverable" or story.regain == "irrecoverable")
                if counts and not all(number in facts for facts in standing):
                    parts = (story.family, story.value, story.home, story.home_text, story.used, story.used_text)
                    yield FactChange(case.session, case.cut, *parts, story.regain)

    def _faults(self) -> Iterator[Fault]:
        yield from errors(self._whole)
        yield from invalid(self._whole)
        for case, found in self._own.items():
            if any(one.outcome == "rejected" for one in found):
                yield Fault("validity", case.row, case.session, case.cut, "the guard rejected its result")
            if any(one.inverted for one in found):
                yield Fault("inverted", case.row, case.session, case.cut, "demands of people say the opposite now")
            if any(one.overflow for one in found):
                yield Fault("overflow", case.row, case.session, case.cut, "it does not fit")
        again = twice(self.results, self._varies, self.settings)
        yield from again.faults
        if again.unchecked:
            raise RunError(f"{self.spec}: {again.unchecked}")

    def _varies(self, spec: str) -> bool:
        writers = self._whole.writers.get(spec, frozenset()) - {Extractive.name}
        return bool(writers) or bool(getattr(self.settings.built[0], "stochastic", False))

    def _reaches(self, metric: str, least: float) -> None:
        __tracebackhide__ = True
        if (found := self.share(metric)) < least - ROUNDING:
            head = f"{self.spec} has {found:.3f} of {metric} ({MEASURES[metric].what}); expected {least:g} or more"
            raise AssertionError(_told(head, self._shown(self.lost(metric), metric)))

    def _shown(self, lost: Sequence[FactChange], metric: str) -> Iterator[str]:
        """What a failed assertion lists: the lost facts, or where there are none to name, the lowest sessions."""
        yield from map(_fact, lost)
        if not lost:
            worst = sorted(self.by_session(metric).items(), key=lambda one: one[1])
            yield from (f"{visible(session, VALUE)}: {value:.3f}" for session, value in worst)


def _known(metric: str) -> str:
    if metric not in MEASURES:
        raise SpecError(catalog.unknown("metric", metric, MEASURES))
    return metric


def _told(head: str, lines: Iterable[str]) -> str:
    """A message: what is wrong, and line by line at what."""
    found = list(lines)
    more = [f"and {len(found) - NAMED:,} more"] if len(found) > NAMED else []
    return "\n".join((head, *(f"  {line}" for line in (*found[:NAMED], *more))))


def _fault(fault: Fault) -> str:
    return f"{fault.kind}: {visible(fault.session, VALUE)} at {fault.cut}: {visible(fault.reason, AROUND)}"


def _fact(fact: FactChange) -> str:
    home, used = visible(fact.home_text, AROUND), visible(fact.used_text, AROUND)
    return (
        f"lost: {fact.family} {visible(fact.value, VALUE)} of {visible(fact.session, VALUE)} at {fact.cut};"
        f" stood in message {fact.home}: {home}; needed by message {fact.used}: {used}"
    )
