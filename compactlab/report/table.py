"""The table of a run, for terminals (by rich) and as Markdown, with what has to be said under it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from compactlab.report.section import Section, interval, share
from compactlab.signature import signature
from compactlab.stats import Estimate
from compactlab.summary import Row, Summary
from compactlab.summary.pool import OF_A_SIZE

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


def cells(row: Row) -> tuple[str, ...]:
    """The texts of a row, in the order of `COLUMNS`; a dash where nothing could be measured."""
    kept = row.probes.get("kept", 0.0) + row.probes.get("both", 0.0)
    return (
        row.name,
        f"{row.before:,.0f}",
        f"{row.after:,.0f}",
        f"{row.saved.mean:.0%}",
        interval(row.bound),
        interval(row.loose),
        share(row.over_chance),
        interval(row.over_random, "+"),
        share(row.skill),
        interval(row.irrecoverable),
        interval(row.reobtainable),
        interval(row.rules),
        *(_mean(row.same_size.get(control)) for control in OF_A_SIZE),
        _part(kept, row.asked),
        _part(row.probes.get("stale", 0.0), row.asked),
        _part(row.probes.get("lost", 0.0), row.asked),
        "-" if row.valid is None else f"{row.valid:.0%}",
        "control" if row.is_control else _outcomes(row),
        str(row.errors),
    )


def _outcomes(row: Row) -> str:
    """How often each outcome came out, and how many cells missed their budget."""
    return " ".join(f"{n} {what}" for what, n in {**row.outcomes, **row.missed._asdict()}.items() if n)


def _mean(estimate: Estimate | None) -> str:
    return share(estimate and estimate.mean)


def _part(count: float, whole: int) -> str:
    return f"{count / whole:.0%}" if whole else "-"


def to_rich(summary: Summary, width: int) -> list[Table]:
    """The table for a terminal of *width* columns, in as many parts as no number need be cut; controls are dim."""
    texts = [COLUMNS, *(cells(row) for row in summary.rows)]
    widths = [max(len(row[i]) for row in texts) + 2 for i in range(len(COLUMNS))]
    widths[COLUMNS.index("outcomes")] = 12
    first = min(widths[0], max(14, width // 3))
    parts: list[list[int]] = [[0]]
    for i in range(1, len(COLUMNS)):
        if first + sum(widths[j] for j in parts[-1][1:]) + widths[i] > width and len(parts[-1]) > 1:
            parts.append([0])
        parts[-1].append(i)
    return [_part_of(summary, columns, first - 2) for columns in parts]


def _part_of(summary: Summary, columns: Sequence[int], first: int) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name in (COLUMNS[i] for i in columns):
        if name in {"strategy", "outcomes"}:
            table.add_column(name, min_width=first if name == "strategy" else 10, overflow="fold")
        else:
            table.add_column(name, justify="right", no_wrap=True)
    for row in summary.rows:
        texts = cells(row)
        table.add_row(*(Text(texts[i]) for i in columns), style="dim" if row.is_control else None)
    return table


def main_table(summary: Summary) -> Section:
    """The table itself as a section among others."""
    return Section("Main", COLUMNS, [cells(row) for row in summary.rows], "\n".join(legend(summary)))


def families(summary: Summary) -> Section:
    """Bound retention of each row by family of fact: the families that an action needed."""
    found = tuple(f for f in summary.families if any(row.by_family.get(f) for row in summary.rows))
    rows = [(row.name, *(_mean(row.by_family.get(family)) for family in found)) for row in summary.rows]
    needed = ", ".join(f"{family} {summary.chance[family].needed:,}" for family in found if family in summary.chance)
    legend = f"Bound retention of the facts that an action needed, by family, means over sessions. Needed: {needed}."
    return Section("By family of fact", ("strategy", *found), rows, legend)


def to_frame(summary: Summary) -> pd.DataFrame:
    """The table as a data frame of texts, for notebooks; numbers are in `compactlab.summary.Row`."""
    import pandas as pd

    return pd.DataFrame([cells(row) for row in summary.rows], columns=COLUMNS).set_index("strategy")


def to_markdown(summary: Summary, sentences: Sequence[str] = ()) -> str:
    """The table and all that stands under it as Markdown; *sentences* come first."""
    lines = ["| " + " | ".join(COLUMNS) + " |"]
    lines.append("|" + "|".join(":--" if name in {"strategy", "outcomes"} else "--:" for name in COLUMNS) + "|")
    lines += ["| " + " | ".join(text.replace("|", "\\|") for text in cells(row)) + " |" for row in summary.rows]
    told = (f"- {line}" for line in (*sentences, *legend(summary)))
    return "\n".join([*lines, "", *told, "", f"`{signature(summary)}`", ""])


BUDGETS = (
    "budgets are shares of the weight before the cut, protected set included: a cell over its budget is unreachable"
    " for that strategy, one under nine tenths of it is underfilled; the rows of this table hold all cells, the tables"
    " by budget those that met it."
)
CONTROL_ROWS = (
    "random, r. lines, regex, oracle: bound retention of controls cut to the very size of the row's results: random"
    " units and random lines (means of 20 draws), lines that look most like facts, and the best choice of blocks by"
    " one who knows what is needed (a bound for strategies that only delete). over random: the sessions' paired"
    " differences to random units; skill: their mean as a share of the way from random to all. bag: bare values of all"
    " facts at risk. null: what no strategy may touch. rules: standing demands of people that stand as they were meant."
    " probes: hand-made questions whose current answer stands."
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
    yield CONTROL_ROWS
    yield _chance(summary)
    if summary.decoys:
        yield _decoys(summary)
    if summary.detectable is not None:
        yield f"two strategies that differ by less than {summary.detectable:.2f} could not be told apart here."
    if summary.supplied_again is not None:
        yield (
            f"{summary.supplied_again:.0%} of the facts that recur were supplied again by a person or a tool before the"
            " agent used them: they do not count."
        )
    if summary.manifest.budgets:
        yield BUDGETS
    yield LIMITS
    yield from (f"skipped: {line}" for line in summary.skipped[:5])
    if len(summary.skipped) > 5:
        yield f"skipped: {len(summary.skipped) - 5} more sessions."
    yield from (f"error: {line}" for line in summary.errors[:5])


def _chance(summary: Summary) -> str:
    if summary.overall_chance is None:
        return "chance was not measured: there is no unrelated session to compare with."
    rates = [(family, chance) for family, chance in summary.chance.items() if chance.rate is not None]
    used = ", ".join(f"{family} {chance.rate:.0%}" for family, chance in rates if not chance.refused)
    refused = ", ".join(f"{family} {chance.rate:.0%}" for family, chance in rates if chance.refused)
    return (
        f"chance c = {summary.overall_chance:.1%} of the needed facts would be needed by an unrelated session too"
        f" ({used}); over chance = (bound - c) / (1 - c)."
        + (f" Refused for a rate over 10 %: {refused}." if refused else "")
    )


def _decoys(summary: Summary) -> str:
    rates = ", ".join(f"{family} {found.rate:.0%}" for family, found in summary.decoys.items())
    return (
        "decoys, values that differ from a fact at risk in one late digit and stood nowhere before the cut: how many"
        f" look needed after it, for each needed fact that has one: {rates}."
    )
