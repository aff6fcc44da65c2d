"""`compactlab peers`."""

from __future__ import annotations

import sys
from argparse import Namespace

from compactlab.cli.output import print_json, print_table
from compactlab.environments import ENVIRONMENTS, folder, install, is_installed, python_of
from compactlab.errors import SpecError


def main(options: Namespace) -> None:
    """Install environments, or say which there are and what their adapters are called."""
    if options.action == "install":
        _install(options)
    elif options.names:
        raise SpecError("peers status takes no names; expected compactlab peers status")
    else:
        _status(options)


def _install(options: Namespace) -> None:
    if not options.names:
        raise SpecError(f"peers install: no name; expected one or more of {', '.join(sorted(ENVIRONMENTS))}")
    wanted = sorted(ENVIRONMENTS) if options.names == ["all"] else options.names
    for name in wanted:
        python_of(name)  # an unknown name ends it before anything is fetched
    made = {name: install(name) for name in wanted}
    if options.json:
        print_json([{"environment": name, "python": python} for name, python in made.items()])
        return
    for name, python in made.items():
        sys.stdout.write(f"{name} is ready: {python}\n")


def _status(options: Namespace) -> None:
    from compactlab.adapters import adapters

    specs = sorted(adapters())
    rows = [
        {
            "environment": name,
            "installed": "yes" if is_installed(name) else "",
            "what": what,
            "specs": " ".join(spec for spec in specs if spec.startswith(f"peer:{name}.")),
        }
        for name, (_, what) in sorted(ENVIRONMENTS.items())
    ]
    if options.json:
        print_json(rows)
        return
    print_table(tuple(rows[0]), [tuple(row.values()) for row in rows])
    sys.stdout.write(f"environments lie in {folder()}\n")
