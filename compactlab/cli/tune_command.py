"""`compactlab tune`."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from compactlab.cli.input import limit
from compactlab.cli.output import console, print_json, print_sections, print_warnings, watched
from compactlab.errors import SpecError
from compactlab.report import tuned
from compactlab.settings import load
from compactlab.tuning import ForType, Goal, Options, Row, Tuning, advice, tune


def main(options: Namespace) -> None:
    """Tune, print the advice and what it rests on; write it into a settings file, and draw it, if that is asked for."""
    _check(options)
    with watched() as progress:
        found = tune(options.paths, _options(options), options.out, progress)
    print_warnings(found.unread)
    found.folder.mkdir(parents=True, exist_ok=True)  # nothing is tried for types of too few sessions
    (found.folder / "report.md").write_text(tuned.to_markdown(found), encoding="utf-8")
    written = advice.written(found, options.write) if options.write else ()
    if options.figure:
        _draw(found, options.figure)
    if options.json:
        print_json(as_data(found) | {"written": {"file": options.write, "types": written} if options.write else None})
        return
    print_sections(tuned.sections(found))
    out = console()
    for line in tuned.sentences(found):
        out.print(line, markup=False)
    if options.write:
        told = f"wrote the advice for {', '.join(written)} into" if written else "no advice to write into"
        sys.stdout.write(f"{told} {options.write}\n")
    sys.stdout.write(f"tried: {found.folder}\n")


def _check(options: Namespace) -> None:
    """Refuse a figure that could not be drawn, before anything is tried."""
    if options.figure:
        from compactlab.plots.canvas import ending

        ending(options.figure)
        if options.type:
            raise SpecError(f"--figure shows one type tried on another; expected no --type, not --type {options.type}")


def _draw(tuning: Tuning, path: str) -> None:
    """Draw what is advised for each type of agent, tried on the others; say so where nothing is advised."""
    from compactlab.plots import transfer

    if tuning.transfer:
        transfer.save(transfer.of_cells(tuning.transfer), tuned.signature(tuning), path)
    else:
        sys.stderr.write(f"compactlab: {path} is not drawn: there is no advice for any of several types\n")


def _options(options: Namespace) -> Options:
    return Options(
        agent_type=options.type,
        window=options.window,
        trials=options.trials,
        writes=not options.no_model,
        goal=Goal(options.quality, options.constraints),
        policies=tuple(options.policy or ()),
        project=load(options.settings).asking(options.llm, options.model, options.base_url),
        counter=options.counter,
        seed=options.seed,
        jobs=options.jobs,
        limit=limit(options),
    )


def as_data(tuning: Tuning) -> dict[str, Any]:
    """A tuning as plain data; null where there is none."""
    goal = tuning.options.goal
    return {
        "folder": str(tuning.folder),
        "goal": {"quality": goal.quality, "constraints": goal.constraints},
        "signature": tuned.signature(tuning),
        "types": [_of_type(one, tuning) for one in tuning.types],
        "transfer": [
            {"tuned_on": c.tuned_on, "tried_on": c.tried_on, "held_out": c.held_out, "holds": c.holds} | _of_row(c.row)
            for c in tuning.transfer
        ],
    }


def _of_type(one: ForType, tuning: Tuning) -> dict[str, Any]:
    marks = tuning.options.project.marks.of(one.agent_type)
    return {
        "agent_type": one.agent_type,
        "window": one.window,
        "sessions": one.sessions,
        "stories": one.stories,
        "candidates": one.candidates,
        "complete": one.complete,
        "advice": one.advice,
        "keys": advice.keys(one.advice, marks) if one.advice else None,
        "evidence": advice.evidence(one) if one.advice else None,
        "reason": one.reason,
        "choice": one.choice,
        "regret": one.regret,
        "rows": [{"label": row.label} | _of_row(row) for row in one.rows],
        "folds": one.folds,
        "levels": [{"goal": goal, "bounds": found} for goal, found in one.levels],
    }


def _of_row(row: Row) -> dict[str, Any]:
    return {"policy": row.policy, "saved": row.saved, "kept": row.kept, "rules": row.rules} | row.counts
