"""What separates from what, as tables and as a sentence that holds for any run (M16)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from compactlab.report.section import Section, interval, sample, share
from compactlab.stats import MARGIN, Estimate
from compactlab.summary.pairs import AGAINST, Pair, against_controls, between_strategies, takes_part
from compactlab.summary.pool import Pool

WANTED = ("10", "20")
"""Budgets in per cent that are told; the two smallest of a run that has neither."""


def told(budgets: Sequence[str]) -> tuple[str, ...]:
    """Choose the budgets that a report tells of; ("",), the strategies' own sizes, for a run without budgets.

    >>> told(("5", "10", "50")), told(("60", "30", "40")), told(())
    (('10',), ('30', '40'), ('',))
    """
    if not budgets:
        return ("",)
    return tuple(b for b in WANTED if b in budgets) or tuple(sorted(budgets, key=float)[:2])


def sections(pool: Pool) -> tuple[Section, ...]:
    """Give for each told budget the strategies against controls, and against each other; empty tables are left out."""
    found = []
    between, against = between_strategies(pool), against_controls(pool)
    for budget in told(pool.manifest.budgets):
        controls = [pair for pair in against if pair.budget == budget]
        pairs = [pair for pair in between if pair.budget == budget]
        if controls:
            found.append(_controls(controls, budget))
        if pairs:
            found.append(_pairs(pairs, budget))
    return tuple(found)


def sentences(pool: Pool) -> tuple[str, ...]:
    """Say for each told budget which strategies keep more than `bag` and `regex_lines`, beyond the interval, or none.

    A verdict is one after Holm's correction for the strategies held against the same control; one that stands without
    the correction alone is named as such.
    """
    against = against_controls(pool, ("bag", "regex_lines"))
    return tuple(_sentence(pool, against, budget) for budget in told(pool.manifest.budgets))


_NOTHING = {
    True: "no strategy that saves anything met the budget in three quarters of the cells",
    False: "no strategy saves anything",
}


def _sentence(pool: Pool, against: Sequence[Pair], budget: str) -> str:
    where = _where(budget)
    there = [group for group in pool.strategies if group.budget == budget and takes_part(pool, group)]
    at = [pair for pair in against if pair.budget == budget]
    if not there:
        return f"{where} there is nothing to compare: {_NOTHING[bool(budget)]}."
    parts = []
    for control, named in (("bag", "bag"), ("regex_lines", "regex_lines of the same size")):
        pairs = [pair for pair in at if pair.other == control]
        known = [pair for pair in pairs if pair.verdict is not None]
        if not pairs:
            parts.append(f"there is no {control} to hold them against")
        elif not known:
            stories = max(pair.difference.clusters for pair in pairs)
            parts.append(f"{stories} {'story is' if stories == 1 else 'stories are'} too few to say what beats {named}")
        else:
            parts.append(_beaten(known, named))
    return f"{where}, of the facts that an action needed: {'; '.join(parts)}."


def _beaten(pairs: Sequence[Pair], named: str) -> str:
    """Who keeps more than a control, and who would without the correction."""
    better, worse, equal = ([p.one for p in pairs if p.verdict == said] for said in ("better", "worse", "equivalent"))
    nearly = [f"{p.one} ({interval(p.difference, '+')})" for p in pairs if _by_interval_alone(p)]
    if len(better) == len(pairs) > 1:
        text = f"all {len(pairs)} strategies keep more than {named}"
    elif better:
        text = f"{_listed(better)} {'keeps' if len(better) == 1 else 'keep'} more than {named}"
    else:
        text = f"no strategy keeps more than {named} beyond the interval"
    if nearly:
        text += f" once {len(pairs)} comparisons are allowed for ({_listed(nearly)} would, taken alone)"
    text += f", {_listed(worse)} less" if worse else ""
    return text + (f", {_listed(equal)} as much within {share(MARGIN)}" if equal else "")


def _by_interval_alone(pair: Pair) -> bool:
    low = pair.difference.low
    return pair.verdict == "inconclusive" and low is not None and low > 0


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _where(budget: str) -> str:
    return f"At {budget} % of the weight" if budget else "At each strategy's own size"


def _controls(pairs: Sequence[Pair], budget: str) -> Section:
    """One row a strategy, one column a control."""
    names = [c for c in AGAINST if any(pair.other == c for pair in pairs)]
    at = {(pair.one, pair.other): pair for pair in pairs}
    rows = [
        (one, *(_told(at[one, name]) if (one, name) in at else "-" for name in names))
        for one in dict.fromkeys(pair.one for pair in pairs)
    ]
    legend = (
        "bag lists the bare values of all facts at risk and has a size of its own; regex_lines and random have that of"
        f" each strategy. {_LEGEND} {sample({name: _of(pairs, name) for name in names})}"
    )
    return Section(f"Over the controls, {_title(budget)}", ("strategy", *names), rows, legend)


_LEGEND = (
    "Paired differences of bound retention by session, ± half the 95 % interval over stories (under five: none)."
    " better, worse: a difference was shown at 5 %, by the clustered t after Holm's correction over the column or"
    f" table, and by sign flips; equivalent: none was shown, and one of {share(MARGIN)} or more is ruled out (two"
    " one-sided tests, after Holm); inconclusive: neither; unranked: they differ, but the one that kept more weighs"
    " over a ninth more. Under six stories no verdict: sign flips cannot reach 5 %."
)


def _of(pairs: Sequence[Pair], name: str) -> list[Estimate | None]:
    return [pair.difference for pair in pairs if pair.other == name]


def _told(pair: Pair) -> str:
    return f"{interval(pair.difference, '+')} {pair.verdict or ''}".strip()


def _pairs(pairs: Sequence[Pair], budget: str) -> Section:
    columns = ("strategy", "against", "kept", "saved", "cells", "p", "Holm", "flips", "equal", "d_z", "verdict")
    rows = [tuple(_texts(pair)) for pair in pairs]
    where = "cell by cell where both lie within the budget" if budget else "cell by cell, each at its own size"
    legend = (
        f"The first less the second, {where}; saved: by how much more it saved there. {_LEGEND} p: clustered t; Holm:"
        " the same, corrected; flips: sign-flip permutation by story, not corrected; equal: the two one-sided tests,"
        " corrected; d_z: the mean difference over the sessions' standard deviation."
        f" {sample({'kept': [pair.difference for pair in pairs]})}"
    )
    return Section(f"What separates from what, {_title(budget)}", columns, rows, legend, ("against", "verdict"))


def _texts(pair: Pair) -> Iterable[str]:
    yield from (pair.one, pair.other, interval(pair.difference, "+"), interval(pair.saved, "+"))
    yield str(pair.cells)
    yield from map(_chance, (pair.found.p, pair.judged.p, pair.found.flips, pair.judged.equal))
    yield "-" if pair.found.d_z is None else _signed(pair.found.d_z)
    yield pair.verdict or "-"


def _chance(p: float | None) -> str:
    """Write a p value to three places.

    >>> _chance(0.0123), _chance(0.00001), _chance(1.0)
    ('.012', '<.001', '1.000')
    """
    if p is None:
        return "-"
    return "<.001" if p < 0.0005 else f"{p:.3f}".replace("0.", ".") if p < 1 else f"{p:.3f}"


def _signed(value: float) -> str:
    """A signed number to two places; what rounds to nothing has a plus."""
    text = f"{round(value, 2) + 0.0:+.2f}"
    return text.replace("0.", ".") if abs(value) < 0.995 else text


def _title(budget: str) -> str:
    return f"at {budget} %" if budget else "at own sizes"
