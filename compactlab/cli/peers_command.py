"""`compactlab peers`."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from compactlab.cli.output import print_json, print_table
from compactlab.environments import ENVIRONMENTS, PeerError, folder, install, is_installed, require_known
from compactlab.environments.interpreters import spelled
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
    """Make each; one that cannot be made keeps no other back, and is told when all were tried."""
    if not options.names:
        raise SpecError(f"peers install: no name; expected one or more of {', '.join(sorted(ENVIRONMENTS))}, or all")
    wanted = sorted(ENVIRONMENTS) if options.names == ["all"] else list(dict.fromkeys(options.names))
    for name in wanted:
        require_known(name)  # an unknown name ends it before anything is fetched
    made, failed = _made(wanted, told=not options.json)
    if options.json:
        print_json([{"environment": name, "python": python} for name, python in made.items()])
    if failed:
        raise PeerError("; ".join(failed))


def _made(wanted: list[str], *, told: bool) -> tuple[dict[str, Path], list[str]]:
    """The Pythons of those that could be made, each told once it is ready, and what was wrong with the others."""
    made: dict[str, Path] = {}
    failed: list[str] = []
    for name in wanted:
        try:
            made[name] = install(name)
        except PeerError as error:
            failed.append(str(error))
            continue
        if told:
            sys.stdout.write(f"{name} is ready: {made[name]}\n")
            sys.stdout.flush()
    return made, failed


def _status(options: Namespace) -> None:
    from compactlab.adapters import adapters

    specs = sorted(adapters())
    rows = [
        {
            "environment": name,
            "installed": "yes" if is_installed(name) else "",
            "python": spelled(environment.least, environment.below),
            "what": environment.what,
            "specs": " ".join(spec for spec in specs if spec.startswith(f"peer:{name}.")),
        }
        for name, environment in sorted(ENVIRONMENTS.items())
    ]
    if options.json:
        print_json(rows)
        return
    print_table(tuple(rows[0]), [tuple(row.values()) for row in rows])
    sys.stdout.write(f"environments lie in {folder()}\n")
