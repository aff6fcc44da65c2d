"""Which tables a run has: one that cuts sessions, one that replays them, one that looks at recorded compactions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from compactlab.errors import SpecError
from compactlab.metrics.speed import Timed
from compactlab.records import Mode
from compactlab.report import (
    answers,
    budgets,
    density,
    distribution,
    fidelity,
    pairs,
    positions,
    recorded,
    repetitions,
    replayed,
    sessions,
)
from compactlab.report.section import Section
from compactlab.report.table import families, main_table
from compactlab.signature import Counts, signature, signature_of
from compactlab.summary.pool import Pool

if TYPE_CHECKING:
    from compactlab.report import Report

Tables = dict[str, Callable[["Report"], Sequence[Section]]]

CUTS: Tables = {
    "main": lambda report: (main_table(report.summary),),
    "budgets": lambda report: budgets.sections(report.curves),
    "answers": lambda report: answers.sections(report.pool, report.results),
    "pairs": lambda report: pairs.sections(report.pool),
    "repetitions": lambda report: (repetitions.section(report.pool, report.summary),),
    "sessions": lambda report: sessions.sections(report.pool),
    "spread": lambda report: (distribution.section(report.pool, report.summary),),
    "families": lambda report: (families(report.summary),),
    "rules": lambda report: (fidelity.statements(report.pool, report.summary),),
    "distortion": lambda report: (fidelity.distortion(report.pool, report.summary),),
    "artifacts": lambda report: (fidelity.artifacts(report.pool, report.summary),),
    "position": lambda report: (positions.of_positions(report.pool, report.summary),),
    "age": lambda report: (positions.of_ages(report.pool, report.summary),),
    "density": lambda report: (density.section(report.pool, report.summary),),
    "miners": lambda report: (fidelity.second_opinion(report.pool, report.summary),),
}
"""The tables of a run that cuts sessions, by the name that asks for them, the main one first."""

RECORDED: Tables = {"recorded": lambda report: recorded.sections(report.pool)} | CUTS
"""Those of a run over recorded compactions."""

REPLAY: Tables = {
    **{name: lambda report, name=name: replayed.tables(report.pool, [name]) for name in replayed.TABLES},  # type: ignore[misc]
    "speed": lambda report: (replayed.speeds(_fires(report)),),
}
"""Those of a run that replays whole sessions."""

TABLES: dict[Mode, Tables] = {"cuts": CUTS, "recorded": RECORDED, "replay": REPLAY}


def tables(report: Report, names: Sequence[str] = ()) -> list[Section]:
    """Give the tables of these names, or all but the main one of cuts, each signed; empty ones are left out.

    `SpecError` for a name that runs of this mode do not have.
    """
    mode = report.results.manifest.mode
    known = TABLES[mode]
    for name in names:
        if name not in known:
            raise SpecError(f"table {name!r} is none of a run in the mode {mode}; expected some of {', '.join(known)}")
    wanted = names or [name for name in known if name != "main"]
    signed = signature_line(report)
    found = [section for name in wanted for section in known[name](report)]
    return [section._replace(signature=signed) for section in found if section.rows]


def signature_line(report: Report) -> str:
    """Give the line that says how the numbers of a run were made, whatever it did with its sessions."""
    return _of_replays(report.pool) if report.results.manifest.mode == "replay" else signature(report.summary)


def _of_replays(pool: Pool) -> str:
    heads = [record for record in pool.records if record.metric == "outcome"]
    uses = sum(record.n for record in pool.records if record.metric == "decay_loose" and record.use == "action")
    counts = Counts(
        sessions=len({head.session for head in heads}),
        stories=len({head.cluster for head in heads}),
        facts=uses,
        cases=len(heads),
        writers=tuple(sorted({head.model for head in heads if head.model})),
    )
    return signature_of(pool.manifest, counts)


def _fires(report: Report) -> dict[str, list[Timed]]:
    """By policy, the seconds and tokens of each fire."""
    found: dict[str, list[Timed]] = defaultdict(list)
    for key, fires in report.results.timed:
        found[key.strategy] += fires
    return found
