"""The table of a run, for terminals (by rich) and as Markdown, with what has to be said under it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from compactlab import catalog
from compactlab.report import terminal
from compactlab.report.section import INTERVAL, Section, interval, markdown, percent, sample, share
from compactlab.signature import signature
from compactlab.stats import MARGIN, POWER, Estimate
from compactlab.summary import Row, Summary
from compactlab.summary.pool import OF_A_SIZE
from compactlab.summary.power import Power

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

COLUMNS = (
    "strategy",
    "before",
    "after",
    "saved",
    "bound",
    "loose",
    "over chance",
    "over random",
    "skill",
    "irrecov.",
    "re-obt.",
    "rules",
    "random",
    "r. lines",
    "regex",
    "oracle",
    "probes",
    "stale",
    "lost",
    "valid",
    "outcomes",
    "errors",
)


WORDS = ("outcomes",)


def cells(row: Row) -> tuple[str, ...]:
    """The texts of a row, in the order of `COLUMNS`; a dash where nothing could be measured."""
    means = {name: interval(of, "+" if name == "over random" else "") for name, of in estimates(row).items()}
    texts = {
        **means,
        "strategy": row.name,
        "before": f"{row.before:,.0f}",
        "after": f"{row.after:,.0f}",
        "saved": percent(row.saved) if row.saved.n else "-",
        "valid": "-" if row.valid is None else f"{round(row.valid * row.checked)}/{row.checked}",
        "outcomes": "control" if row.is_control else _outcomes(row),
        "errors": str(row.errors),
    }
    return tuple(texts[name] for name in COLUMNS)


def estimates(row: Row) -> dict[str, Estimate | None]:
    """The means of a row, by the names of their columns."""
    kept: Mapping[str, Estimate | None] = row.answers
    return {
        "saved": row.saved,
        "bound": row.bound,
        "loose": row.loose,
        "over chance": row.over_chance,
        "over random": row.over_random,
        "skill": row.skill,
        "irrecov.": row.irrecoverable,
        "re-obt.": row.reobtainable,
        "rules": row.rules,
        **{name: row.same_size.get(control) for name, control in _SAME_SIZE.items()},
        "probes": kept.get("kept"),
        "stale": kept.get("stale"),
        "lost": kept.get("lost"),
    }


_SAME_SIZE = dict(zip(("random", "r. lines", "regex", "oracle"), OF_A_SIZE, strict=True))


def _outcomes(row: Row) -> str:
    """How often each outcome came out, and how many cells missed their budget."""
    return " ".join(f"{n} {what}" for what, n in {**row.outcomes, **row.missed._asdict()}.items() if n)


def to_rich(summary: Summary, width: int) -> list[Table]:
    """The table for a terminal of *width* columns, in as many parts as no number need be cut; controls are dim."""
    return terminal.tables(main_table(summary), width)


def main_table(summary: Summary) -> Section:
    """The table itself as a section among others."""
    rows = [cells(row) for row in summary.rows]
    return Section("Main", COLUMNS, rows, "\n".join(legend(summary)), WORDS, signature(summary))


def families(summary: Summary) -> Section:
    """Bound retention of each row by family of fact: the families that an action needed."""
    found = tuple(f for f in summary.families if any(row.by_family.get(f) for row in summary.rows))
    rows = [(row.name, *(interval(row.by_family.get(family)) for family in found)) for row in summary.rows]
    needed = ", ".join(f"{family} {summary.chance[family].needed:,}" for family in found if family in summary.chance)
    sizes = sample({family: [row.by_family.get(family) for row in summary.rows] for family in found})
    legend = (
        f"Bound retention of the facts that an action needed, by family, means over sessions. {INTERVAL} {sizes}"
        f" Needed: {needed}."
    )
    return Section("By family of fact", ("strategy", *found), rows, legend)


def to_frame(summary: Summary) -> pd.DataFrame:
    """The table as a data frame of texts, for notebooks; numbers are in `compactlab.summary.Row`."""
    import pandas as pd

    return pd.DataFrame([cells(row) for row in summary.rows], columns=COLUMNS).set_index("strategy")


def to_markdown(summary: Summary, sentences: Sequence[str] = ()) -> str:
    """The table and all that stands under it as Markdown; *sentences* come first."""
    _, *table = markdown(main_table(summary)._replace(legend="", signature="")).rstrip().splitlines()
    told = (f"- {line}" for line in (*sentences, *legend(summary)))
    return "\n".join([*table[1:], "", *told, "", f"`{signature(summary)}`", ""])


BUDGETS = (
    "budgets are shares of the weight before the cut, protected set included: a cell over its budget is unreachable"
    " for that strategy, one under nine tenths of it is underfilled; the rows of this table hold all cells, the tables"
    " by budget those that met it."
)
CONTROL_ROWS = (
    "random, r. lines, regex, oracle: bound retention of controls cut to the very size of the row's results: random"
    " units and random lines (means of 20 draws), lines that look most like facts, and the best choice of blocks by"
    " one who knows what is needed (a bound for strategies that only delete). over random: the sessions' paired"
    " differences to random units; skill: their mean as a share of the way from random to all, ± by bootstrap-t over"
    " stories. bag: bare values of all facts at risk. null: what no strategy may touch. rules: standing demands of"
    " people that stand as they were meant. probes: hand-made questions whose current answer stands; stale: only an"
    " older one; lost: none (pooled over sessions)."
)
PEERS = (
    "peers are other harnesses' strategies, from their published behaviour, faults included; those that begin with"
    " peer: are the packages themselves. What the guard mended or refused counts as it came out. With guard='off' a"
    " result stands as it was given, and valid says how many of them a provider would take."
)
PLAIN = (
    "without an interval: before and after, the mean tokens of the cells (what is lost of them, and its interval, is"
    " saved), and counts: valid, outcomes, errors."
)
BEHIND = (
    "the future comes from a session that went on with what its harness left: see the table of recorded compactions on"
    " how that speaks for the harness. Presence is not recall."
)
LIMITS = (
    "the future comes from a session that went on without this compaction: presence is not recall, and a missing"
    " fact may be one cheap call away (re-obtainable) or gone for good (irrecoverable)."
)


def legend(summary: Summary) -> Iterable[str]:
    """What the numbers mean and what they cannot mean, a sentence or two each."""
    yield (
        "bound and loose: share of the facts that the agent went on to use in an action, and nothing supplied again"
        " before, that still stand near a word that tells what they are about, or anywhere; ± is the 95 % interval over"
        f" sessions, clustered by story{'' if summary.clusters >= 5 else ' (under five stories: none)'}."
    )
    yield sample(_by_column(summary.rows))
    yield PLAIN
    yield CONTROL_ROWS
    if any(catalog.is_peer(row.label) for row in summary.rows):
        yield PEERS
    yield _chance(summary)
    if summary.decoys:
        yield _decoys(summary)
    if summary.power is not None:
        yield told_apart(summary.power)
    if summary.supplied_again is not None:
        yield (
            f"{summary.supplied_again:.0%} of the facts that recur were supplied again by a person or a tool before the"
            " agent used them: they do not count."
        )
    if summary.manifest.budgets:
        yield BUDGETS
    yield BEHIND if summary.manifest.mode == "recorded" else LIMITS
    if summary.unfinished:
        what = f"{summary.unfinished[0]}{' and more' if len(summary.unfinished) > 1 else ''}"
        cases = f"{len(summary.unfinished)} cases have no rows yet ({what})"
        yield f"this run is not finished: {cases}; all means are of those that have."
    yield from (f"skipped: {line}" for line in summary.skipped[:5])
    if len(summary.skipped) > 5:
        yield f"skipped: {len(summary.skipped) - 5} more sessions."
    yield from (f"error: {line}" for line in summary.errors[:5])


def _by_column(rows: Iterable[Row]) -> dict[str, list[Estimate | None]]:
    of = [estimates(row) for row in rows]
    return {name: [found[name] for found in of] for name in (of[0] if of else ())}


def told_apart(power: Power) -> str:
    """Say what a run could have shown, and how many sessions a difference that matters would take."""
    told = (
        f"two strategies that differ by less than {power.detectable:.2f} could not be told apart here. A difference of"
        f" {share(MARGIN)} would take about {power.sessions():,} sessions of stories of their own ({POWER:.0%} power,"
        f" by the pair that spreads most: {power.one} and {power.other})"
    )
    if power.spread.first or power.spread.second:
        told += f", {power.sessions(replicates=1):,} without repetitions"
    return f"{told}."


def _chance(summary: Summary) -> str:
    if summary.overall_chance is None:
        return "chance was not measured: there is no unrelated session to compare with."
    rates = [(family, chance) for family, chance in summary.chance.items() if chance.rate is not None]
    used = ", ".join(f"{family} {chance.rate:.0%}" for family, chance in rates if not chance.refused)
    refused = ", ".join(f"{family} {chance.rate:.0%}" for family, chance in rates if chance.refused)
    return (
        f"chance c = {summary.overall_chance:.1%} of the needed facts would be needed by an unrelated session too"
        f" ({used}); over chance = (bound - c) / (1 - c), c taken as known."
        + (f" Refused for a rate over 10 %: {refused}." if refused else "")
    )


def _decoys(summary: Summary) -> str:
    rates = ", ".join(f"{family} {found.rate:.0%}" for family, found in summary.decoys.items())
    return (
        "decoys, values that differ from a fact at risk in one late digit and stood nowhere before the cut: how many"
        f" look needed after it, for each needed fact that has one: {rates}."
    )
