"""`compactlab list`."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import fields

from compactlab import catalog
from compactlab.cli.output import print_json, print_table
from compactlab.tokens import counter_names


def main(options: Namespace) -> None:
    """Print names and first lines of the docstrings; for strategies their parameters too."""
    if options.kind == "counters":
        rows = [{"name": name} for name in counter_names()]
    else:
        rows = [described(options.kind, name) for name in catalog.names(options.kind)]
    if options.json:
        print_json(rows)
    else:
        print_table(tuple(rows[0]), [tuple(row.values()) for row in rows])


def described(kind: catalog.Kind, name: str) -> dict[str, str]:
    """What there is to say about a plug-in, by column."""
    module = catalog.load(kind, name)
    first = (module.__doc__ or "").partition("\n")[0].removeprefix(f"`{name}`: ")
    if kind == "readers":
        written = "yes" if hasattr(module, "write") else ""
        return {"name": name, "what": first, "where": module.WHERE, "written": written}
    if kind == "metrics":
        return {"name": name, "what": first}
    parameters = ", ".join(f"{f.name}={f.default!r}" for f in fields(catalog.strategy_class(name)))
    return {"name": name, "what": first, "parameters": parameters}
