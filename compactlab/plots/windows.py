"""Money and tokens against the window: what a session takes under each policy, as the window grows.

Three parts over one axis: money with a provider's cache, money without one, and tokens that are sent. All points are
means over the same sessions, those that every drawn policy brings to their end in every window; policies that do not
finish most sessions are left out, and named. The grey line is what the same sessions take with no window at all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.llm.prices import Price
from compactlab.metrics.cache import money, of_turns, unbounded
from compactlab.plots.canvas import GREY, WIDE, Named, begun, dodged, finished, key, reach, tidy, titled, write
from compactlab.plots.palette import Style, styles
from compactlab.replay import Replay
from compactlab.stats import Estimate, clustered
from compactlab.summary.pool import Pool
from compactlab.summary.replayed import Row
from compactlab.summary.replayed import rows as rows_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARTS = {"cached": "money with a cache", "plain": "money without a cache", "sent": "tokens sent"}
MOST = 0.5
"""Share of the sessions that must be left for a policy to be drawn beside the others."""
_UNBOUNDED = {"cached": "unbounded", "sent": "unbounded_sent"}


class Costs(NamedTuple):
    """What one session took under one policy in one window: money by the prices of a model, tokens sent.

    `unbounded` and `unbounded_sent` are the same with no window and no policy; None where not known. Of a session that
    overflowed there are no costs.
    """

    session: str
    cluster: str
    policy: str
    window: int
    cached: float
    plain: float
    sent: float
    unbounded: float | None = None
    unbounded_sent: float | None = None


class Compared(NamedTuple):
    """Costs that can be held beside each other: sessions that all `policies` finished; those left out, and how far."""

    policies: tuple[str, ...]
    sessions: frozenset[str]
    left_out: dict[str, int]
    of: int


def of_runs(pools: Iterable[Pool]) -> list[Costs]:
    """Take the costs of runs of replays, one or more windows each; sessions whose money is not known are left out."""
    found: list[Costs] = []
    for pool in pools:
        for row in rows_of(pool):
            found += _of_row(row, pool)
    return found


def _of_row(row: Row, pool: Pool) -> Iterable[Costs]:
    quantities = {
        name: row.quantities(name) for name in ("money", "money_uncached", "money_plain", "sent", "sent_plain")
    }
    policy = row.heads[0].strategy if row.heads else row.label
    windows = {record.session: _window(record.cut) for record in row.heads}
    for session, cached in quantities["money"].items():
        yield Costs(
            session,
            pool.cluster[session],
            policy,
            windows[session],
            cached,
            quantities["money_uncached"][session],
            quantities["sent"].get(session, 0.0),
            quantities["money_plain"].get(session),
            quantities["sent_plain"].get(session),
        )


def _window(cut: str) -> int:
    """The window of a replay, out of the name of its cut.

    >>> _window("replay 64000"), _window("window 32000, reserve 2000, priced as x-4")
    (64000, 32000)
    """
    return next((int(word.strip(",")) for word in cut.split() if word.strip(",").isdigit()), 0)


def of_replays(replays: Iterable[Replay], price: Price) -> list[Costs]:
    """Take the costs of replays by a price; those that overflowed have none."""
    return [
        Costs(
            one.transcript.id,
            one.transcript.story,
            repr(one.policy),
            one.window,
            money(one, price, cached=True),
            money(one, price, cached=False),
            float(sum(turn.tokens for turn in one.turns)),
            of_turns(unbounded(one), price, cached=True),
            float(one.sent_plain),
        )
        for one in replays
        if not one.overflow
    ]


def compared(costs: Sequence[Costs]) -> Compared:
    """Find the sessions that can be compared: policies that finish most come first, and take part while enough is left.

    A policy finishes a session if it does in every window of all.
    """
    windows = {cost.window for cost in costs}
    done: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for cost in costs:
        done[cost.policy][cost.session].add(cost.window)
    finished_by = {p: {s for s, at in of.items() if at == windows} for p, of in done.items()}
    everything = {cost.session for cost in costs}
    sessions = set(everything)
    policies: list[str] = []
    for policy in sorted(finished_by, key=lambda name: -len(finished_by[name])):
        left = sessions & finished_by[policy]
        if left and len(left) >= MOST * len(everything):
            sessions, policies = left, [*policies, policy]
    order = [policy for policy in done if policy in policies]
    left_out = {policy: len(of) for policy, of in finished_by.items() if policy not in policies}
    return Compared(tuple(order), frozenset(sessions if order else ()), left_out, len(everything))


def figure(costs: Sequence[Costs], signature: str, width: float = WIDE, currency: str = "USD") -> Figure:
    """Draw the costs of a session, in *currency* and in thousands of tokens; *width* is in inches."""
    shown = compared(costs)
    beside = width >= 8
    made = begun(width, 4.6 if beside else 8.5)
    parts = made.subplots(1 if beside else 3, 3 if beside else 1, squeeze=False).flat
    named: list[Named] = []
    for axes, (part, title) in zip(parts, PARTS.items(), strict=True):
        named = draw(axes, costs, part)
        axes.set_title(title, fontsize=9)
        axes.set_ylabel("thousand tokens a session" if part == "sent" else f"{currency} a session", fontsize=8.5)
    left = ", ".join(f"{name} ({n} of {shown.of} finished)" for name, n in shown.left_out.items())
    n = f"{len(shown.sessions)} of {shown.of} sessions, finished under all policies shown"
    titled(made, f"What a session takes: {n}")
    if left:
        named.append(key(Style("#ffffff", "o"), f"left out: {left}", line=False))
    return finished(made, signature, named)


def draw(axes: Any, costs: Sequence[Costs], part: str) -> list[Named]:  # noqa: ANN401  # matplotlib is untyped
    """Draw one of `PARTS` into axes that are there; what is drawn is given back with its names, for a legend."""
    shown = compared(costs)
    found = [cost for cost in costs if cost.session in shown.sessions and cost.policy in shown.policies]
    windows = sorted({cost.window for cost in found})
    looks = styles(shown.policies)
    scale = 1_000 if part == "sent" else 1
    named = []
    for policy, aside in zip(shown.policies, dodged(len(shown.policies), 0.18), strict=True):
        style = looks[policy]
        means = _means([cost for cost in found if cost.policy == policy], part, scale)
        places = [windows.index(window) + aside for window in means]
        axes.plot(places, [mean.mean for mean in means.values()], lw=1.2, alpha=0.8, **style.line)
        for place, mean in zip(places, means.values(), strict=True):
            bars = {"ecolor": style.colour, "elinewidth": 0.9, "capsize": 0, "alpha": 0.9, "ms": 5, "linestyle": "none"}
            axes.errorbar(place, mean.mean, yerr=reach(mean, 0.0, None), **style.point(), **bars)
        named.append(key(style, policy))
    plain = _means(found, _UNBOUNDED[part], scale) if part in _UNBOUNDED else {}
    if plain:
        line = axes.axhline(next(iter(plain.values())).mean, color=GREY, lw=1.6, ls=(0, (5, 1.5)), zorder=1)
        named.append(Named(line, "the same sessions with no window"))
    _dressed(axes, windows)
    if part == "sent":
        axes.yaxis.set_major_formatter("{x:,.15g}")
    return named


def _means(costs: Sequence[Costs], part: str, scale: float) -> dict[int, Estimate]:
    """By window the mean over sessions, a session being one however often it is told."""
    values: dict[int, dict[str, tuple[str, float]]] = defaultdict(dict)
    for cost in costs:
        value: float | None = getattr(cost, part)
        if value is not None:
            values[cost.window][cost.session] = cost.cluster, value / scale
    found: Mapping[int, Estimate | None] = {w: clustered(list(of.values())) for w, of in sorted(values.items())}
    return {window: estimate for window, estimate in found.items() if estimate is not None}


def _dressed(axes: Any, windows: Sequence[int]) -> None:  # noqa: ANN401  # same
    axes.set_xticks(range(len(windows)), [f"{window / 1_000:g}k" for window in windows])
    axes.set_xlim(-0.5, max(0.5, len(windows) - 0.5))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("window (tokens)")
    tidy(axes, grid="y")


def save(costs: Sequence[Costs], signature: str, path: str | Path) -> None:
    """Write the figure; the ending of *path* (png, svg, pdf) says how."""
    write(figure(costs, signature), path)
