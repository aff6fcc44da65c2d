"""The curves of a run as tables: what is kept at each budget, skill over luck, areas and the front (M6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from compactlab.report.section import INTERVAL, Section, interval, percent, sample, share
from compactlab.stats import Estimate
from compactlab.summary.curves import AT, BESIDE, Curve, Curves
from compactlab.summary.points import Point


def sections(curves: Curves) -> tuple[Section, ...]:
    """Give the tables of a run: three with budgets, one without, none where no strategy has a curve."""
    if not curves.curves:
        return ()
    budgets = sorted({point.budget for curve in curves.curves for point in curve.points if point.budget}, key=float)
    if not budgets:
        return (_own_sizes(curves),)
    return (_kept(curves, budgets), _skill(curves, budgets), _areas(curves, budgets))


def _kept(curves: Curves, budgets: list[str]) -> Section:
    rows = [(c.name, *_by_budget(c, budgets, lambda p: p.quality)) for c in curves.curves]
    beside = {name: curves.controls[name] for name in BESIDE if curves.controls[name]}
    rows += [(f"{name}, same sizes", *(interval(at.get(b)) for b in budgets)) for name, at in beside.items()]
    legend = (
        "Bound retention over the cells that met the budget. * some did not, or are under nine tenths of it; in"
        " brackets: under three quarters of those that could, no place in an area or the front. The controls are means"
        f" over the sizes of all strategies, theirs ± a bootstrap-t. {INTERVAL} {_sizes(curves, budgets)}"
        f"{_alone(curves)}"
    )
    return Section("Kept at each budget", ("strategy", *(f"{budget} %" for budget in budgets)), rows, legend)


def _sizes(curves: Curves, budgets: Iterable[str]) -> str:
    """Over how many sessions the means at each budget are taken."""
    at = {budget: [p.quality for c in curves.curves for p in c.points if p.budget == budget] for budget in budgets}
    return sample({f"{budget} %" if budget else "own sizes": found for budget, found in at.items()})


def _alone(curves: Curves) -> str:
    """What has no curve, and what it does at its own size."""
    idle = [name for name, point in curves.alone if point.saved.mean <= 0]
    told = [
        f"{name} meets no budget often enough; at its own size it saves {percent(point.saved)} and keeps"
        f" {interval(point.quality)}"
        for name, point in curves.alone
        if point.saved.mean > 0
    ]
    told += [f"{', '.join(idle)}: nothing saved"] if idle else []
    return f" No curve: {'; '.join(told)}." if told else ""


def _skill(curves: Curves, budgets: list[str]) -> Section:
    rows = [(c.name, *_by_budget(c, budgets, lambda p: p.skill, "+")) for c in curves.curves]
    legend = (
        "Skill = (R - random) / (1 - random), R and random units of the same size in the same cells: 0 is luck, 1 is"
        " everything. ± is half the 95 % interval of the whole, by bootstrap-t over stories (under five: none)."
        f" {_sizes(curves, budgets)}"
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


def _areas(curves: Curves, budgets: list[str]) -> Section:
    span = f"AURC {curves.common[0]}-{curves.common[-1]} %" if curves.common else "AURC"
    columns = ("strategy", "area", "adds", "behind", span, *(f"Q@{budget}" for budget in AT), "tokens@.9")
    rows = [(c.name, *_area(c), interval(c.aurc), *_at(c), share(c.tokens)) for c in curves.curves]
    legend = (
        f"{_AREA} AURC: mean quality over the logarithm of the budget, over the budgets at which every curve has a"
        " point. Q@B: quality at a budget of B %, read between neighbours. tokens@.9: the share of the weight at which"
        " nine tenths are kept, read off the means and so without an interval; a dash where that is never reached."
        f" {_sizes(curves, budgets)}"
    )
    return Section("Areas and the front", columns, [*rows, _together(curves, len(columns))], legend)


def _own_sizes(curves: Curves) -> Section:
    columns = ("strategy", "saved", "bound", "skill", "front", "area", "adds", "behind")
    rows = [_own_size(curves, i, curve) for i, curve in enumerate(curves.curves)]
    legend = (
        f"{_AREA} Each strategy is one point, at its own size; front: no other saves and keeps as much."
        f" {_sizes(curves, [''])}{_alone(curves)}"
    )
    title = "The front, at each strategy's own size"
    return Section(title, columns, [*rows, _together(curves, len(columns))], legend, ("front",))


def _own_size(curves: Curves, place: int, curve: Curve) -> tuple[str, ...]:
    [point] = curve.points
    on = "yes" if any(place == i for i, _ in curves.front) else "no"
    shares = (percent(point.saved), interval(point.quality), interval(point.skill, "+"))
    return (curve.name, *shares, on, *_area(curve))


_AREA = (
    "area: hypervolume of the points (share saved, bound retention), 1 would be all saved and all kept. adds: what the"
    " area of all strategies loses without this one. behind: what must be added to both shares until it is nowhere"
    " behind the front of all. ± is half the 95 % interval, of areas by bootstrap-t over stories, of the whole quantity"
    " (under five stories, and for what is 0 by its nature: none)."
)


def _area(curve: Curve) -> tuple[str, str, str]:
    return interval(curve.hypervolume), _fine(curve.contribution), interval(curve.behind)


def _at(curve: Curve) -> Iterable[str]:
    return (interval(curve.at.get(budget)) for budget in AT)


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
