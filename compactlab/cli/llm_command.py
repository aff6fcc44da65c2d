"""`compactlab llm`."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from compactlab.cli.output import print_json
from compactlab.errors import SpecError
from compactlab.llm.build import Spec
from compactlab.settings import Project, load

SHOWN = 5
"""Failed and unknown results that are told one by one."""


def main(options: Namespace) -> None:
    """Do what `action` says; each says in one line or a few what came of it."""
    actions: dict[str, Callable[[Namespace], None]] = {
        "import": _import,
        "install": _install,
        "serve": _serve,
        "status": _status,
    }
    wanted = {"import": 2, "status": 1}.get(options.action, 0)
    given = sum(value is not None for value in (options.folder, options.file))
    if given > wanted or (options.action == "import" and given < wanted):
        expected = {"import": "import FOLDER FILE", "status": "status [FOLDER]"}.get(options.action, options.action)
        raise SpecError(f"llm {options.action}: {given} paths were given; expected compactlab llm {expected}")
    actions[options.action](options)


def _import(options: Namespace) -> None:
    from compactlab.llm.batch import import_results

    done = import_results(options.folder, options.file)
    if options.json:
        print_json(done)
        return
    for what, lines in (("failed", done.failed), ("unknown", done.unknown)):
        for line in lines[:SHOWN]:
            sys.stderr.write(f"compactlab: {what}: {line}\n")
        if len(lines) > SHOWN:
            sys.stderr.write(f"compactlab: {what}: {len(lines) - SHOWN} more\n")
    counts = f"{done.added} added, {done.known} known before, {len(done.failed)} failed, {len(done.unknown)} unknown"
    waits = f"{done.waiting} still {'waits: ask for it' if done.waiting == 1 else 'wait: ask for them'} again"
    sys.stdout.write(f"{counts}; {waits if done.waiting else 'none waits: run the same command again'}\n")


def _install(options: Namespace) -> None:
    from compactlab.llm.weights import digest, install

    path = install(Path(options.gguf) if options.gguf else None)
    if options.json:
        print_json({"weights": path})
    else:
        sys.stdout.write(f"the local model is ready: {path} (SHA-256 {digest(path)})\n")


def _serve(options: Namespace) -> None:
    """Serve until interrupted."""
    from compactlab.llm.local import WINDOW, serve
    from compactlab.llm.weights import find

    path = Path(options.gguf) if options.gguf else find()
    if path is None:
        raise SpecError("the weights of the local model are not installed; expected compactlab llm install before")
    with serve(path, options.host, options.port, options.window or WINDOW) as served:
        sys.stdout.write(f"{served.base_url}\n")
        sys.stdout.flush()
        try:
            while True:
                time.sleep(3_600)
        except KeyboardInterrupt:
            return


def _status(options: Namespace) -> None:
    """Say which model would be asked, or what a store or batch folder holds."""
    if options.folder:
        _of_folder(options)
        return
    project = load(options.settings).asking(options.llm, options.model, options.base_url)
    name = project.model().name
    if options.json:
        print_json({"model": name, "asked_by": project.described_model()})
    else:
        sys.stdout.write(f"text is written by {name}{_how(project)}\n")


def _how(project: Project) -> str:
    kind = Spec(project.spec).kind
    if kind == "extractive":
        return ": code that picks lines, no model; --model NAME or --llm SPEC asks a real one"
    return f", {project.described_model()}"


def _of_folder(options: Namespace) -> None:
    from compactlab.llm.batch import waiting
    from compactlab.llm.recorded import contents

    held = contents(options.folder)
    requests = waiting(options.folder) if Path(options.folder).is_dir() else 0
    if options.json:
        print_json({"replies": held, "waiting": requests})
        return
    for row in held:
        failures = f", {row.failures} of them failures" if row.failures else ""
        sys.stdout.write(f"{row.model}: {row.replies + row.failures} replies to {row.purpose} requests{failures}\n")
    sys.stdout.write(f"{requests} requests wait\n")
