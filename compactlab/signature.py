"""The line under every table and figure that says how its numbers were made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from compactlab.records import Manifest
from compactlab.summary import Summary


class Counts(NamedTuple):
    """What the numbers of a table rest on.

    `facts` are those that its headline counts, of `at_risk` if that is told; `cases` what a session was looked at
    (cuts, replays, recorded compactions); `writers` the models that wrote text, `more` further parts of the line.
    """

    sessions: int
    stories: int
    facts: int
    at_risk: int | None = None
    cases: int | None = None
    writers: tuple[str, ...] = ()
    more: tuple[str, ...] = ()


def signature(summary: Summary) -> str:
    """Give the line of a run that cuts sessions."""
    more = [f"tells {summary.detectable:.2f} apart"] if summary.detectable is not None else []
    counts = Counts(
        sessions=summary.sessions,
        stories=summary.clusters,
        facts=summary.needed,
        at_risk=summary.at_risk,
        cases=summary.cuts,
        writers=tuple(sorted({row.model for row in summary.rows if row.model})),
        more=(*more, f"families {','.join(summary.families)}"),
    )
    return signature_of(summary.manifest, counts)


def signature_of(manifest: Manifest, counts: Counts) -> str:
    """Give the line of any run: versions, corpus, counter, where it looked, seed, models, and how much there was."""
    cases = [f"{counts.cases:,} {_CASES[manifest.mode]}"] if counts.cases is not None else []
    return " · ".join(
        (
            f"compactlab {manifest.compactlab}",
            f"scorer {manifest.scorer}",
            f"corpus {manifest.corpus}",
            f"{manifest.counter} ({manifest.counter_version})",
            _where(manifest),
            *([f"budgets {','.join(manifest.budgets)} %"] if manifest.budgets else []),
            f"seed {manifest.seed}",
            *_models(manifest, counts.writers),
            *([f"settings: {_each(manifest.settings)}"] if manifest.settings else []),
            *([f"{manifest.replicates} repetitions"] if manifest.replicates > 1 else []),
            f"{counts.sessions} sessions",
            f"{counts.stories} stories",
            *cases,
            _facts(counts),
            *counts.more,
        )
    )


_CASES = {"cuts": "cuts", "replay": "replays", "recorded": "recorded compactions"}


def _where(manifest: Manifest) -> str:
    """Where sessions were looked at."""
    if manifest.mode == "recorded":
        return "cut where a harness compacted"
    if manifest.mode == "replay":
        return f"replayed, {','.join(manifest.cuts)}"
    return f"cuts {','.join(manifest.cuts)}"


def _models(manifest: Manifest, writers: Iterable[str]) -> Iterable[str]:
    """Who wrote, read and judged, by name; where nobody did, that."""
    named = ["extractive (written by code, no model)" if name == "extractive" else name for name in writers]
    if named:
        yield f"text by {', '.join(named)}"
    if manifest.reader:
        yield f"read by {manifest.reader}"
    if manifest.judge:
        yield f"judged by {manifest.judge}"
    if not (named or manifest.reader or manifest.judge):
        yield "no model"


def _each(policies: dict[str, str]) -> str:
    """The policy of each type of agent, as the row `settings` has them."""
    return ", ".join(f"{kind} {policy}" for kind, policy in policies.items())


def _facts(counts: Counts) -> str:
    if counts.at_risk is None:
        return f"{counts.facts:,} facts"
    return f"{counts.facts} facts needed of {counts.at_risk:,} at risk"
