"""`compactlab settings`."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from compactlab.cli.output import console, print_json
from compactlab.errors import SpecError
from compactlab.pins import check
from compactlab.settings import Advice, Project, advised, load
from compactlab.settings.effective import Effective, Value

OTHER = "any other"
"""What stands for types of agents that nobody names."""


def main(options: Namespace) -> None:
    """Print what holds for each type of agent and which models are asked, each value with where it comes from."""
    if options.window is not None and options.window <= 0:
        raise SpecError(f"window {options.window}: expected a number of tokens above 0")
    check(options.pin)
    project = load(options.settings).examining(options.reader, options.judge)
    project = project.asking(options.llm, options.model, options.base_url)
    effective = Effective(project, _given(options))
    told = found(effective, options.type)
    if options.json:
        print_json({"file": project.path, **told})
        return
    print_found(project, told)


def found(effective: Effective, only: str = "") -> dict[str, Any]:
    """All that there is to say, as plain data: types, their paths, models, prices, advice, notes."""
    advice = advised()
    kinds = [only] if only else [*effective.project.types, ""]
    return {
        "types": {kind or OTHER: of_type(effective, kind, advice.get(kind)) for kind in kinds},
        "agent_types": effective.agent_types,
        "llm": effective.model(),
        **{role: effective.model(role) for role in ("reader", "judge")},
        "prices": effective.prices,
        "memory": effective.memory,
        "notes": list(effective.notes),
    }


def of_type(effective: Effective, agent_type: str, advice: Advice | None) -> dict[str, Value]:
    """What holds for a type, what that comes to, and what is advised beside it."""
    project = effective.project
    marks = project.marks.of(agent_type)
    steps = " + ".join(f"{strategy!r} at {mark:g}" for mark, strategy in project.policy(agent_type).at(marks).items())
    rows = effective.of_type(agent_type) | {"runs": Value(steps or "none", "all of these together")}
    if advice:
        keys = ", ".join(f"{key} = {value!r}" for key, value in advice.keys.items())
        rows["advised"] = Value(keys, f"tuning, not applied: {advice.evidence}")
    return rows


def print_found(project: Project, told: Mapping[str, Any]) -> None:
    """Print tables: of the types, then of the models, and what may not be meant."""
    out = console()
    out.print(f"settings: {project.path or 'no file; the defaults hold'}", markup=False)
    show = partial(_print, path=project.path)
    show("type of agent", told["types"])
    if not any("advised" in rows for rows in told["types"].values()):
        out.print("advised by tuning: nothing yet; `compactlab tune` tries policies on your sessions\n", markup=False)
    named = {"model": told["llm"], "reader": told["reader"], "judge": told["judge"]}
    absent = Value("none", "default")
    show("model", {name: rows or {"kind": absent} for name, rows in named.items()} | {"prices": told["prices"]})
    show("memory", {"": told["memory"]})
    if told["agent_types"]:
        show("type by path", {"": told["agent_types"]})
    for note in told["notes"]:
        sys.stdout.write(f"note: {note}\n")


def _print(heading: str, groups: Mapping[str, Mapping[str, Value]], path: str) -> None:
    """One table: a group's name beside its first row, a line below its last; of the file its name will do."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in (heading, "key", "value", "from"):
        table.add_column(name, overflow="fold")
    for group, rows in groups.items():
        for number, (key, row) in enumerate(rows.items()):
            table.add_row(*map(Text, ("" if number else group, key, _shown(row.value), _short(row.origin, path))))
        table.add_section()
    console().print(table)


def _short(origin: str, path: str) -> str:
    return origin.replace(path, Path(path).name) if path else origin


def _shown(value: object) -> str:
    """A value as a person reads it."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {inner:g}" for key, inner in value.items())
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "none" if value is None else str(value)


def _given(options: Namespace) -> dict[str, Any]:
    """What the command line says, of what it may say."""
    named = ("window", "llm", "model", "base_url", "reader", "judge")
    given = {name: getattr(options, name) for name in named if getattr(options, name)}
    return given | ({"pins": tuple(options.pin)} if options.pin else {})
