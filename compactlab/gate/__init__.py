"""The gate: whether a run is no worse than a baseline, exactly where it can be told exactly (M16, M17).

`gate` holds a finished run against a `Baseline`; `accepted` makes one of a run. The parts: `measures` what is compared,
`sides` a run and a baseline in one form, `compared` what may be held against what, `rule` and `checks` the verdicts,
`faults` and `twice` what no margin excuses, `suite` a file that says what is run and how it is judged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from compactlab import catalog
from compactlab.answering.agreement import kinship
from compactlab.errors import RunError
from compactlab.gate import compared
from compactlab.gate.baseline import Baseline, Rule, encoded, of_run, read
from compactlab.gate.checks import Checks
from compactlab.gate.faults import against, errors, invalid
from compactlab.gate.measures import MEASURES, PRIMARY
from compactlab.gate.outcome import EXIT_CODES, Check, FactChange, Fault, Gated, Verdict
from compactlab.gate.sides import Run, taken
from compactlab.gate.twice import Twice, twice
from compactlab.harness import Settings
from compactlab.harness.options import OWN
from compactlab.harness.places import NAME
from compactlab.llm.extractive import Extractive
from compactlab.policy import policy
from compactlab.results import Results
from compactlab.settings import Project
from compactlab.signature import Counts, signature_of

__all__ = [
    "EXIT_CODES",
    "MEASURES",
    "PRIMARY",
    "Baseline",
    "Check",
    "FactChange",
    "Fault",
    "Gated",
    "Options",
    "Rule",
    "Verdict",
    "accepted",
    "encoded",
    "gate",
    "read",
    "save",
]


@dataclass(frozen=True)
class Options:
    """How to hold a run against a baseline.

    `margin` wins over those of the baseline for every metric; `renamed` says which row of the run stands for which of
    the baseline, old to new; `settings` are those of the run where they are known, else `project` is what its settings
    file says: compactions that leave nothing to chance are made a second time by them. `declared` is the rule that a
    suite states: the baseline's is what holds, and a note says where they differ.
    """

    margin: float | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)
    settings: Settings | None = None
    project: Project = field(default_factory=Project)
    declared: Rule | None = None


def gate(results: Results, baseline: Baseline, options: Options | None = None, where: str = "the baseline") -> Gated:
    """Judge a finished run against a baseline, that of the file *where*.

    Raises `RunError` if the run is not finished, or the two cannot be compared: that is never a pass.
    """
    options = options or Options()
    run = taken(results)
    compared.check(run, baseline, where)
    rows = compared.paired_rows(run, baseline, options.renamed)
    rule = baseline.rule
    if options.margin is not None:
        rule = replace(rule, margins=dict.fromkeys(rule.metrics, options.margin))
    varies = varies_in(run)
    checks = tuple(Checks(run, baseline.side, rule, rows, lambda row: varies(run.strategies[row])).all())
    again = twice(results, varies, options.settings, options.project)
    faults = (*errors(run), *invalid(run), *against(run, baseline.side, rows), *again.faults)
    notes = (*_of_twice(again), *_of_judge(run), *compared.told(run, baseline), *rows.notes)
    notes += _of_rule(options, baseline.rule)
    return Gated(_whole(checks, faults, again), checks, faults, _signed(run), f"{where} ({baseline.told})", notes)


def accepted(results: Results, rule: Rule, options: Options | None = None) -> Baseline:
    """Make the baseline of a finished run.

    Raises `RunError` for a run that no baseline may be made of: one with errors, results that a provider would refuse,
    compactions that come out otherwise a second time. Rules turned round and overflows are known to it from then on.
    """
    options = options or Options()
    run = taken(results)
    again = twice(results, varies_in(run), options.settings, options.project)
    if faults := (*errors(run), *invalid(run), *again.faults):
        first, more = faults[0], f" and {len(faults) - 1} more" if len(faults) > 1 else ""
        case = f"{first.strategy} on {first.session} at {first.cut}: {first.kind}, {first.reason}{more}"
        raise RunError(f"no baseline is made of a run with faults: {case}")
    return of_run(run, rule, results.folder)


def varies_in(run: Run) -> Callable[[str], bool]:
    """Tell which strategies and policies of a run leave something to chance: those that draw or that a model wrote for.

    The stand-in that is code is no model.
    """
    writers = run.writers

    def varies(spec: str) -> bool:
        if writers.get(spec, frozenset()) - {Extractive.name}:
            return True
        if spec == NAME:
            return False
        if run.pool.manifest.mode != "replay":
            return catalog.strategy(spec).stochastic
        meant = run.pool.manifest.settings.values() if spec == OWN else (spec,)
        return any(policy(one).stochastic for one in meant)

    return varies


def _whole(checks: Sequence[Check], faults: Sequence[Fault], again: Twice) -> Verdict:
    """Fail for any fault or failed check; pass only if all that decides was judged, and made a second time."""
    if faults or any(check.verdict == "fail" for check in checks):
        return "fail"
    deciding = [check for check in checks if check.decides]
    all_there = {check.metric for check in checks} == {check.metric for check in deciding} != set()
    all_judged = all(check.verdict == "pass" for check in deciding)
    return "pass" if all_there and all_judged and not again.unchecked else "inconclusive"


def _of_twice(again: Twice) -> tuple[str, ...]:
    made = f"{again.cases:,} compactions that leave nothing to chance were made a second time"
    of_faults = f"{len(again.faults)} came out otherwise" if again.faults else "all came out the same"
    return (*([f"{made}: {of_faults}"] if again.cases else []), *([again.unchecked] if again.unchecked else []))


def _of_judge(run: Run) -> tuple[str, ...]:
    """Of which models of the run its judge is kin: it may favour them."""
    manifest = run.pool.manifest
    writers = sorted({name for names in run.writers.values() for name in names} - {Extractive.name})
    others = [*(("writes for the strategies", name) for name in writers), ("answers the probes", manifest.reader)]
    return kinship(manifest.judge, others) if manifest.judge else ()


def _of_rule(options: Options, rule: Rule) -> tuple[str, ...]:
    """What is to be known of the rule: a margin that was given, a suite that states another rule than the baseline."""
    notes = []
    if options.margin is not None:
        notes.append(f"margin {options.margin:g} by the command line, instead of the baseline's rule: {rule.told}")
    if options.declared is not None and options.declared != rule:
        notes.append(
            f"the baseline's rule holds: {rule.told}; the suite's from its renewal on: {options.declared.told}"
        )
    return tuple(notes)


def _signed(run: Run) -> str:
    pool = run.pool
    counted = sum(s.use == "action" for found in run.stories.values() for s in found) or _most_needed(run)
    writers = sorted({name for names in run.writers.values() for name in names})
    stories = {pool.cluster[session] for session in run.types}
    counts = Counts(len(run.types), len(stories), counted, cases=len(run.side.facts) or None, writers=tuple(writers))
    return signature_of(pool.manifest, counts)


def _most_needed(run: Run) -> int:
    """Facts that an action needed in a replay: those of the policy behind whose fires most were needed."""
    needed: dict[str, float] = defaultdict(float)
    for case, found in run.side.found.items():
        needed[case.row] += found[0].shares.get("bound", (0, 0))[1]
    return round(max(needed.values(), default=0))


def save(baseline: Baseline, path: Path) -> None:
    """Write a baseline to a file, whose folder is made if it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(encoded(baseline), encoding="utf-8")
