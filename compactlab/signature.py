"""The line under every table and figure that says how its numbers were made."""

from __future__ import annotations

from compactlab.summary import Summary


def signature(summary: Summary) -> str:
    """One line that says how the numbers were made."""
    manifest = summary.manifest
    return " · ".join(
        (
            f"compactlab {manifest.compactlab}",
            f"scorer {manifest.scorer}",
            f"corpus {manifest.corpus}",
            f"{manifest.counter} ({manifest.counter_version})",
            f"cuts {','.join(manifest.cuts)}",
            *([f"budgets {','.join(manifest.budgets)} %"] if manifest.budgets else []),
            f"seed {manifest.seed}",
            _models(summary),
            f"{summary.sessions} sessions",
            f"{summary.clusters} stories",
            f"{summary.cuts} cuts",
            f"{summary.needed} facts needed of {summary.at_risk:,} at risk",
            *([f"tells {summary.detectable:.2f} apart"] if summary.detectable is not None else []),
            f"families {','.join(summary.families)}",
        )
    )


def _models(summary: Summary) -> str:
    models = sorted({row.model for row in summary.rows if row.model})
    named = ["extractive (written by code, no model)" if model == "extractive" else model for model in models]
    return f"text by {', '.join(named)}" if named else "no model"
