"""What a reader answered from each row's histories, and how a judge graded it."""

from __future__ import annotations

from collections.abc import Iterator

from compactlab.answering.agreement import kinship
from compactlab.answering.grades import PASS
from compactlab.answering.scores import GIVEN
from compactlab.answering.wording import DIMENSIONS
from compactlab.report.section import Section, interval, sample, share
from compactlab.results import Results
from compactlab.stats import Estimate
from compactlab.summary.answered import Reading, graded_alike, readings
from compactlab.summary.pool import Pool


def sections(pool: Pool, results: Results) -> tuple[Section, ...]:
    """Give the table of answers, and that of the grades where a judge gave some; empty without a reader."""
    found = readings(pool, results.answers) if pool.manifest.reader else []
    return _answers(found, pool), _grades([row for row in found if row.graded or row.ungraded], pool)


def _answers(rows: list[Reading], pool: Pool) -> Section:
    columns = ("strategy", "n", "failed", "present", "answered", "gap", "found", "guessed", *GIVEN[1:], "spread")
    cells = [
        (
            _name(row),
            str(row.answers),
            str(row.failed),
            interval(row.present),
            interval(row.right),
            interval(row.gap, "+"),
            interval(row.found),
            interval(row.guessed),
            *(interval(row.shares[verdict]) for verdict in GIVEN[1:]),
            share(row.spread),
        )
        for row in rows
    ]
    times = pool.manifest.replicates
    over = sample({"answered": [row.right for row in rows]})
    legend = (
        f"Hand-made probes, answered by {pool.manifest.reader} from the compacted history alone: n answers, and those"
        " that failed (they count for nothing). present: a right value stands there; answered: the reader gave it; gap:"
        " the first less the second; found: rightly answered where it stands, guessed: where it does not. wrong to"
        " undecided are shares of the answers: undecided ones, which match cannot grade and no judge did, do not count"
        " as right. spread: standard deviation over repetitions"
        f" ({times} of each question{'; one shows no spread' if times == 1 else ''}). null shows what can be guessed."
        f" All shares are means over sessions, ± the 95 % interval over stories (under five stories: none). {over}"
    )
    return Section("Answers of a reader", columns, cells, legend)


def _grades(rows: list[Reading], pool: Pool) -> Section:
    columns = ("strategy", "n", "ungraded", *(name.replace("_", " ") for name in DIMENSIONS))
    cells = [
        (
            _name(row),
            str(row.graded),
            str(row.ungraded),
            *(_grade(row.grades[name]) for name in DIMENSIONS),
        )
        for row in rows
    ]
    legend = (
        f"Means of n grades from 0 to 5 by {pool.manifest.judge}, who sees question, right answer and answer alone: of"
        f" all answers that match cannot decide, and of one in four others. An answer of {PASS} or more in accuracy and"
        " in completeness counts as right. Means over sessions, ± the 95 % interval over stories (under five stories:"
        f" none). {sample({'accuracy': [row.grades['accuracy'] for row in rows]})}"
    )
    return Section("Grades of a judge", columns, cells, legend)


def _grade(estimate: Estimate | None) -> str:
    if estimate is None:
        return "-"
    return f"{estimate.mean:.1f}" if estimate.half is None else f"{estimate.mean:.1f}±{estimate.half:.1f}"


def _name(row: Reading) -> str:
    name = f"{row.group.strategy} at {row.group.budget} %" if row.group.budget else row.group.strategy
    return f"{name} ({row.model})" if row.model else name


def sentences(pool: Pool) -> Iterator[str]:
    """Say how far judge and match agree, and whether the judge is of one family with those that it judges."""
    manifest = pool.manifest
    if not manifest.judge:
        return
    found = graded_alike(pool)
    if found:
        kappa = "none, since one of them gave one verdict throughout" if found.kappa is None else f"{found.kappa:.2f}"
        yield (
            f"judge {manifest.judge} and exact match grade alike in {found.share:.0%} of the {found.n} answers that"
            f" both graded; Cohen's kappa {kappa}."
        )
    yield from warnings(pool)


def warnings(pool: Pool) -> tuple[str, ...]:
    """Say of which models of the run the judge is kin."""
    manifest = pool.manifest
    writers = sorted({record.model for record in pool.records if record.model and record.model != "extractive"})
    others = [*(("writes for the strategies", name) for name in writers), ("answers the probes", manifest.reader)]
    return kinship(manifest.judge, others) if manifest.judge else ()
