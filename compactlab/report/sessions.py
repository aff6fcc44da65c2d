"""Each session by itself: what every strategy kept there of the facts that an action needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from compactlab.report.pairs import told
from compactlab.report.section import INTERVAL, Section, interval, share
from compactlab.summary.cells import Cell, cells
from compactlab.summary.pool import Group, Place, Pool, session_means

SHOWN = 40
"""Sessions in a table; of more, those that needed most facts."""


def sections(pool: Pool) -> tuple[Section, ...]:
    """Give a table for each told budget, sessions as rows and strategies as columns; none where no fact was needed."""
    tables = (_section(pool, budget) for budget in told(pool.manifest.budgets))
    return tuple(table for table in tables if table.rows)


def _section(pool: Pool, budget: str) -> Section:
    """`none`, then what saved anything within the budget; `n` counts the needed facts over all cuts."""
    rows = {g.strategy: _reached(pool, g) for g in pool.strategies if g.strategy == "none" or g.budget == budget}
    shown = {name: of for name, of in rows.items() if name == "none" or any(c.saved > 0 for c in of.values())}
    kept = {name: session_means({place: cell.quality for place, cell in of.items()}) for name, of in shown.items()}
    floor = cells(pool, Group("null"))
    needed: Counter[str] = Counter()
    for (session, _), cell in floor.items():
        needed[session] += cell.needed
    named = [session for session, n in needed.most_common(SHOWN) if n]
    found = []
    for session in sorted(named, key=lambda session: (pool.cluster[session], session)):
        texts = [share(kept[name].get(session)) + _mark(of, floor, session) for name, of in shown.items()]
        found.append((session, str(needed[session]), *texts))
    if found:
        means = [_mean(pool, of, len([n for n in needed.values() if n])) for of in kept.values()]
        found.append(("mean of all", str(needed.total()), *means))
    title = f"Each session, at {budget} %" if budget else "Each session, at own sizes"
    return Section(title, ("session", "n", *shown), found, _legend(sum(n > 0 for n in needed.values())))


def _reached(pool: Pool, group: Group) -> dict[Place, Cell]:
    return {place: cell for place, cell in cells(pool, group).items() if cell.reached}


def _mean(pool: Pool, of: Mapping[str, float], sessions: int) -> str:
    """The mean of the sessions; with a star if some are missing."""
    return interval(pool.estimate(of)) + ("*" if len(of) < sessions else "") if of else "-"


def _mark(of: Mapping[Place, Cell], floor: Mapping[Place, Cell], session: str) -> str:
    """A star where some cuts of a session that needed facts are not among the cells, and others are."""
    wanted = [place for place, cell in floor.items() if place[0] == session and cell.needed]
    there = sum(place in of for place in wanted)
    return "*" if 0 < there < len(wanted) else ""


def _legend(sessions: int) -> str:
    more = f" Of {sessions} sessions, the {SHOWN} that needed most." if sessions > SHOWN else ""
    return (
        "Bound retention of the facts that an action needed, mean over the cuts of a session; n of them over all cuts,"
        f" a fact once a cut. * at some cuts alone, - at none: the budget was not met.{more} Sessions of one story"
        f" stand together. A single session has no interval: the unit is the session. mean of all: over {sessions}"
        f" sessions, those with a star over fewer. {INTERVAL}"
    )
