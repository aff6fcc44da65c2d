"""The curves of a run as tables: what is kept at each budget, skill over luck, areas and the front (M6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from compactlab.report.section import Section, interval, share
from compactlab.stats import Estimate
from compactlab.summary.curves import Curve, Curves
from compactlab.summary.points import Point

AT = (10, 20, 30)
"""Budgets in per cent whose quality stands in the table of areas."""
BESIDE = ("random", "regex_lines", "oracle")
"""Controls that have a curve of their own."""


def sections(curves: Curves) -> tuple[Section, ...]:
    """Give the tables of a run: three with budgets, one without, none where no strategy has a curve."""
    if not curves.curves:
        return ()
    budgets = sorted({point.budget for curve in curves.curves for point in curve.points if point.budget}, key=float)
    if not budgets:
        return (_own_sizes(curves),)
    return (_kept(curves, budgets), _skill(curves, budgets), _areas(curves))


def _kept(curves: Curves, budgets: list[str]) -> Section:
    rows = [(c.name, *_by_budget(c, budgets, lambda p: p.quality)) for c in curves.curves]
    for name in BESIDE:
        at = curves.control(name)
        if at:
            rows.append((f"{name}, same sizes", *(share(at[b][1]) if b in at else "-" for b in budgets)))
    legend = (
        "Bound retention over the cells that met the budget. * some did not, or are under nine tenths of it; in"
        " brackets: under three quarters of those that could, no place in an area or the front. The controls are means"
        f" over the sizes of all strategies.{_alone(curves)}"
    )
    return Section("Kept at each budget", ("strategy", *(f"{budget} %" for budget in budgets)), rows, legend)


def _alone(curves: Curves) -> str:
    """What has no curve, and what it does at its own size."""
    idle = [name for name, point in curves.alone if point.saved.mean <= 0]
    told = [
        f"{name} meets no budget often enough; at its own size it saves {point.saved.mean:.0%} and keeps"
        f" {share(point.quality.mean)}"
        for name, point in curves.alone
        if point.saved.mean > 0
    ]
    told += [f"{', '.join(idle)}: nothing saved"] if idle else []
    return f" No curve: {'; '.join(told)}." if told else ""


def _skill(curves: Curves, budgets: list[str]) -> Section:
    rows = [(c.name, *_by_budget(c, budgets, lambda p: p.skill, "+")) for c in curves.curves]
    legend = (
        "Skill = (R - random) / (1 - random), R and random units of the same size in the same cells: 0 is luck, 1 is"
        " everything. Intervals of the whole quantity, by bootstrap-t over stories."
    )
    return Section("Skill at each budget", ("strategy", *(f"{budget} %" for budget in budgets)), rows, legend)


def _by_budget(
    curve: Curve, budgets: Iterable[str], value: Callable[[Point], Estimate | None], sign: str = ""
) -> Iterable[str]:
    of = {point.budget: point for point in curve.points}
    for budget in budgets:
        point = of.get(budget)
        text = "-" if point is None else interval(value(point), sign)
        if point is None or text == "-":
            yield text
        elif point.ranked:
            yield text + ("*" if point.flagged else "")
        else:
            yield f"({text})"


def _areas(curves: Curves) -> Section:
    span = f"AURC {curves.common[0]}-{curves.common[-1]} %" if curves.common else "AURC"
    columns = ("strategy", "area", "adds", "behind", span, *(f"Q@{budget}" for budget in AT), "tokens@.9")
    rows = [(c.name, *_area(c), interval(c.aurc), *_at(c), share(c.tokens)) for c in curves.curves]
    legend = (
        f"{_AREA} AURC: mean quality over the logarithm of the budget, over the budgets at which every curve has a"
        " point. Q@B: quality at a budget of B %, read between neighbours. tokens@.9: the share of the weight at which"
        " nine tenths are kept, a dash where that is never reached."
    )
    return Section("Areas and the front", columns, [*rows, _together(curves, len(columns))], legend)


def _own_sizes(curves: Curves) -> Section:
    rows = []
    for i, curve in enumerate(curves.curves):
        [point] = curve.points
        on = "yes" if any(i == place for place, _ in curves.front) else "no"
        shares = (f"{point.saved.mean:.0%}", interval(point.quality), interval(point.skill, "+"))
        rows.append((curve.name, *shares, on, *_area(curve)))
    columns = ("strategy", "saved", "bound", "skill", "front", "area", "adds", "behind")
    legend = (
        f"{_AREA} Each strategy is one point, at its own size; front: no other saves and keeps as much.{_alone(curves)}"
    )
    return Section("The front, at each strategy's own size", columns, [*rows, _together(curves, len(columns))], legend)


_AREA = (
    "area: hypervolume of the points (share saved, bound retention), 1 would be all saved and all kept. adds: what the"
    " area of all strategies loses without this one. behind: what must be added to both shares until it is nowhere"
    " behind the front of all. ± by bootstrap-t over stories, of the whole quantity."
)


def _area(curve: Curve) -> tuple[str, str, str]:
    return interval(curve.hypervolume), _fine(curve.contribution), share(curve.behind)


def _at(curve: Curve) -> Iterable[str]:
    return (share(curve.quality_at(budget)) for budget in AT)


def _together(curves: Curves, columns: int) -> tuple[str, ...]:
    """The row of all strategies' points together."""
    place = {8: 5}.get(columns, 1)
    return ("all together", *([""] * (place - 1)), interval(curves.hypervolume), *([""] * (columns - place - 1)))


def _fine(estimate: Estimate | None) -> str:
    """A small share to three places: `.028±.021`."""
    if estimate is None:
        return "-"
    half = "" if estimate.half is None else f"±{estimate.half:.3f}"
    return f"{estimate.mean:.3f}{half}".replace("0.", ".")
