"""Which row of a run is held against which of a baseline, and what forbids to compare the two at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from compactlab.errors import RunError
from compactlab.gate.baseline import COMPARED, TOLD, Baseline, described
from compactlab.gate.sides import Run, name_of

RENEW = "renew the baseline by the same command with --update-baseline, and review what that prints"


class Rows(NamedTuple):
    """By row of the run that of the baseline; rows that are new; what is to be known of it."""

    of: dict[str, str]
    fresh: tuple[str, ...]
    notes: tuple[str, ...]


def differing(run: Run, baseline: Baseline) -> tuple[str, ...]:
    """Say in which of the fields that must agree a run and a baseline differ, and at which places their facts do."""
    here = described(run.pool.manifest)
    found = [f"{name} {_shown(baseline.of[name])} there, {_shown(here[name])} here" for name in COMPARED
             if baseline.of[name] != here[name]]  # fmt: skip
    if not found and run.side.facts != baseline.side.facts:
        places = [p for p in {**run.side.facts, **baseline.side.facts}
                  if run.side.facts.get(p) != baseline.side.facts.get(p)]  # fmt: skip
        found.append(f"the facts needed at {len(places)} places, such as {' at '.join(places[0])}")
    return tuple(found)


def check(run: Run, baseline: Baseline, where: str) -> None:
    """Raise `RunError` unless both were scored alike over the same corpus."""
    if found := differing(run, baseline):
        raise RunError(f"{where}: cannot be compared with this run: {'; '.join(found)}; {RENEW}")


def paired_rows(run: Run, baseline: Baseline, renamed: Mapping[str, str]) -> Rows:
    """Pair the rows: those of one spec, those that *renamed* names (old to new), then those alone of their name.

    Raises `RunError` if a row of the baseline has none in the run, or a name of *renamed* stands nowhere.
    """
    here, there = run.side.rows, baseline.side.rows
    for old, new in renamed.items():
        if old not in there or new not in here:
            missing, side = (old, "the baseline") if old not in there else (new, "the run")
            raise RunError(f"{old}={new}: no strategy {missing!r} stands in {side}")
    of = {new: old for old, new in renamed.items()}
    of |= {row: row for row in here if row in there and row not in of and row not in of.values()}
    by_name = _by_name([row for row in here if row not in of]), _by_name([r for r in there if r not in of.values()])
    alone = [name for name, rows in by_name[0].items() if len(rows) == len(by_name[1].get(name, ())) == 1]
    of |= {by_name[0][name][0]: by_name[1][name][0] for name in alone}
    if missing_rows := [row for row in there if row not in of.values()]:
        raise RunError(
            f"the run lacks {', '.join(missing_rows)} of the baseline; expected every strategy of it"
            f" (a renamed one: --as OLD=NEW, or [gate.compare]); or {RENEW}"
        )
    notes = [f"{new} is held against the baseline's {old}" for new, old in of.items() if new != old]
    fresh = tuple(row for row in here if row not in of)
    notes += [f"{row} is not in the baseline: it is judged from the next --update-baseline on" for row in fresh]
    return Rows({row: of[row] for row in here if row in of}, fresh, tuple(notes))


def told(run: Run, baseline: Baseline) -> tuple[str, ...]:
    """What differs and may: versions, seeds, models, what the settings choose."""
    here = described(run.pool.manifest)
    return tuple(
        f"{name}: {_shown(baseline.of[name])} in the baseline, {_shown(here[name])} in the run"
        for name in TOLD
        if baseline.of[name] != here[name]
    )


def _by_name(rows: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        found[name_of(row)].append(row)
    return found


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value)) or "none"
    return str(value) or "none"
