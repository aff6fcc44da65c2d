"""The tables of a run of whole sessions: what each policy fired, kept, sent and cost, and how long facts lived."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from compactlab.metrics.speed import Timed, speed
from compactlab.records import Record
from compactlab.report.lifetimes import LATER, cliffs, decay, kept_of, survival, survival_by_family
from compactlab.report.section import Section, interval
from compactlab.stats import Estimate
from compactlab.summary.pool import Pool
from compactlab.summary.replayed import Counts, Row
from compactlab.summary.replayed import rows as rows_of

OUTCOMES = ("applied", "skipped", "rejected", "failed", "deferred")


def tables(pool: Pool, names: Sequence[str] = ()) -> list[Section]:
    """Give the tables of a run of replays by these names, or all in the order of `TABLES`; empty ones are left out."""
    made = rows_of(pool)
    found = [TABLES[name](made) for name in names or TABLES]
    return [section for section in found if section.rows]


def main_table(rows: Sequence[Row]) -> Section:
    """One row a policy: what it fired, kept, sent and cost."""
    made = [(row.name, *_main(row)) for row in rows]
    return Section("Replay", MAIN, made, "\n".join(_legend(rows)))


MAIN = (
    *("policy", "sessions", "finished", "errors", "fired", "fires", "wasted", "thrash", "first fire"),
    *("kept at 1", "kept at 2+", "drift", "sent", "own calls", "debt", "per task", "saved", "net", "with debt"),
    *("reuse", "breaks", "money", "cheaper", "pays"),
)


def _main(row: Row) -> Iterable[str]:
    priced = _of(_priced(row))
    yield from (str(n) for n in (row.sessions, row.sessions - len(row.overflows), len(row.errors), row.fired))
    yield amount(row.quantity("fires"))
    yield from (interval(row.share(metric)) for metric in ("wasted", "thrash"))
    yield amount(row.quantity("first_fire"))
    yield from (kept_of(row.kept(passes)) for passes in ([1], LATER))
    yield interval(row.drift())
    yield from (thousands(row.quantity(metric)) for metric in ("sent", "own_tokens", "debt", "task_tokens"))
    yield from (interval(row.saved(*spent)) for spent in (("sent",), ("sent", "own_tokens"), ("task_tokens",)))
    yield from (interval(row.share(metric)) for metric in ("reuse", "breaks"))
    yield amount(row.quantity("money", priced), 2)
    yield interval(row.saved("money", of="money_plain", counts=priced))
    yield interval(row.share("pays", priced))


MEANS = (
    "all means are over sessions, ± the 95 % interval, sessions of one story being one cluster (under five stories:"
    " none). sessions: those replayed without an error; finished: those that came to their end."
    " fired: those in which a mark was reached; the others are the same under every policy, and count in all means."
)
FIRES = (
    "fires: a session; wasted: of the fires but deferred ones, those that freed less than a tenth of the view; thrash:"
    " those less than 5 turns behind the one before; first fire: its turn."
)
KEPT = (
    "kept at 1, at 2+: of the facts that the agent used in an action when one fire, or more, lay behind their last"
    " mention, the share that still stood near a word that tells what they are about, and in brackets their number;"
    " drift: the mean of these shares behind 2, 3, 4, 5+ fires over that behind 1."
)
TOKENS = (
    "sent, own calls, debt, per task: thousands of tokens of a finished session, of all its requests, of the calls of a"
    " model that its compactions made, of results that were evicted though an action relied on them later, and their"
    " sum. saved: 1 - sent / what the same requests would have held unbounded; net: own calls counted; with debt: the"
    " debt too. A session that overflowed has no end: it has no tokens and no money, and rows with fewer finished"
    " sessions speak of those alone."
)
CACHED = (
    "reuse: the share of what was sent that the request before began with; breaks: requests that do not go on from the"
    " whole one before; pays: applied fires that save more than they cost; cheaper: 1 - money / what the session would"
    " have cost unbounded with the same cache, below 0 where compacting made it dearer"
)
LIMITS = (
    "the answers are those of a session that went on without these compactions: an agent that had forgotten might have"
    " asked, or looked again. Presence is not recall."
)


def _legend(rows: Sequence[Row]) -> Iterable[str]:
    yield from (MEANS, FIRES, KEPT, TOKENS, f"{CACHED}{_priced_by(rows)}.")
    supplied = [record for row in rows for record in row.of["supplied_again"]]
    if supplied:
        again = sum(record.value for record in supplied) / sum(record.n for record in supplied)
        yield (
            f"{again:.0%} of the facts that came again behind a fire were told by a person or a tool before the agent"
            " used them: they do not count."
        )
    yield LIMITS
    yield from _told("ended early", [(row, head) for row in rows for head in row.ended])
    yield from _told("error", [(row, head) for row in rows for head in row.errors])


def _told(what: str, heads: Sequence[tuple[Row, Record]]) -> Iterable[str]:
    """The first five of some heads in words, and how many more there are."""
    for row, head in heads[:5]:
        yield f"{what}: {head.session}, {row.name}: {head.reason or 'no reason was recorded'}"
    if len(heads) > 5:
        yield f"{what}: {len(heads) - 5} more."


def triggers(rows: Sequence[Row]) -> Section:
    """When each policy fired and what came of it."""
    made = []
    for row in rows:
        if not row.of["overflow"]:
            continue
        outcomes = (interval(row.outcome(outcome)) for outcome in OUTCOMES)
        shares = (interval(row.share(metric)) for metric in ("forced", "split_units", "open_tasks"))
        answers = (interval(row.share(metric)) for metric in ("narrowed", "shortened"))
        cut = (amount(row.quantity(metric)) for metric in ("tokens_cut", "calls_over"))
        room = (interval(row.share(metric)) for metric in ("fill", "peak", "overflow", "overflow_unfired"))
        made.append((row.name, amount(row.hundred("fires")), *outcomes, *shares, *answers, *cut, *room))
    columns = (
        *("policy", "per 100 turns", *OUTCOMES, "forced", "split", "open tasks", "narrowed", "shortened"),
        *("tokens cut", "calls over", "fill", "peak", "overflow", "unfired"),
    )
    return Section("Triggers", columns, made, TRIGGERS)


TRIGGERS = (
    "Fires for a hundred turns; of the fires, the share of each outcome, and of those before a request that did not"
    " fit; for an applied fire, the units that it left in parts, and how often items of a todo list were in progress."
    " Of the turns, the share with less than the full output allowance, and of answers that were cut; tokens cut off,"
    " and calls over the allowance (never cut), a session. Fill: the mean share of the window that was sent, peak its"
    " highest. Overflow: sessions that ended early, and those that did so before anything was compacted. Means over"
    " sessions, ± the 95 % interval over stories."
)


def money(rows: Sequence[Row]) -> Section:
    """What each policy costs by each priced model, with a cache and without."""
    made = []
    for row in rows:
        for model in _models(row):
            counts = _of(model)
            costs = (amount(row.quantity(m, counts), 2) for m in ("money", "money_plain", "money_uncached"))
            sent = (thousands(row.quantity("sent")), *(interval(row.share(m)) for m in ("reuse", "breaks")))
            again = thousands(row.quantity("reread"))
            finished = str(row.sessions - len(row.overflows))
            made.append((row.name, model, finished, *sent, again, *costs, interval(row.share("pays", counts))))
    legend = (
        "What all requests of a finished session cost by the prices of the model: what the request before began with"
        " comes out of the cache, the rest is stored, answers are output; tokens of a strategy's own model calls cost"
        " what input does. Unbounded: the same session with no window and no policy, and the same cache. Uncached: all"
        " that is read costs what input does. Again: thousands of tokens that fires made the model read anew though no"
        " news. Nothing runs out of the cache. Means over sessions, ± the 95 % interval over stories."
    )
    columns = (
        "policy",
        "prices of",
        "finished",
        "sent",
        "reuse",
        "breaks",
        "again",
        "money",
        "unbounded",
        "uncached",
        "pays",
    )
    return Section("Cache and money", columns, made, legend)


def speeds(timed: Mapping[str, Sequence[Timed]]) -> Section:
    """How long the fires of each policy took; not repeatable, and on this machine."""
    made = []
    for name, fires in timed.items():
        found = speed(fires)
        if found is not None:
            p50, p95 = (f"{1000 * seconds:,.1f}" for seconds in (found.p50, found.p95))
            made.append((name, f"{found.fires:,}", p50, p95, f"{found.thousands:,.0f}"))
    legend = "Milliseconds of a fire on the machine of the run, and thousands of tokens of the view a second."
    return Section("Speed", ("policy", "fires", "p50", "p95", "kTok/s"), made, legend)


TABLES: dict[str, Callable[[Sequence[Row]], Section]] = {
    "replay": main_table,
    "decay": decay,
    "cliffs": cliffs,
    "survival": survival,
    "survival_families": survival_by_family,
    "triggers": triggers,
    "money": money,
}
"""The tables of a replay by the name that asks for them, the main one first."""


def _models(row: Row) -> list[str]:
    return sorted({record.group for record in row.of["money"]})


def _priced(row: Row) -> str:
    return next(iter(_models(row)), "")


def _of(model: str) -> Counts:
    return lambda record: record.group == model


def _priced_by(rows: Sequence[Row]) -> str:
    models = sorted({model for row in rows for model in _models(row)[:1]})
    return f"; money: by the prices of {', '.join(models)}, a session" if models else ""


def amount(estimate: Estimate | None, places: int = 1) -> str:
    """Write a mean that is no share, with half its interval.

    >>> amount(Estimate(1_234.56, 7.8, 9, 9)), amount(Estimate(0.5, None, 2, 2), 2), amount(None)
    ('1,234.6±7.8', '0.50', '-')
    """
    if estimate is None:
        return "-"
    mean = f"{estimate.mean:,.{places}f}"
    return mean if estimate.half is None else f"{mean}±{estimate.half:,.{places}f}"


def thousands(estimate: Estimate | None) -> str:
    """Write a mean of tokens in thousands.

    >>> thousands(Estimate(1_234_567, 89_000, 9, 9))
    '1,235±89'
    """
    if estimate is None:
        return "-"
    half = None if estimate.half is None else estimate.half / 1000
    return amount(estimate._replace(mean=estimate.mean / 1000, half=half), 0)
