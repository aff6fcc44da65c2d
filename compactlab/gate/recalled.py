"""The settings of a run, put together again from what it left: the manifest, and the files of its sessions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from compactlab.errors import RunError
from compactlab.harness import Settings
from compactlab.harness.corpus import Corpus
from compactlab.harness.spool import Spool
from compactlab.records import Manifest, decoded
from compactlab.results import Results, origins
from compactlab.settings import Project

ALIKE = ("corpus", "mode", "cuts", "budgets", "strategies", "counter", "sessions", "settings")
"""Fields of the manifest that tell whether the sessions are what they were."""


def corpus_of(results: Results, settings: Settings, spool: Spool) -> Corpus:
    """Read the sessions of a run again; `RunError` if they are not what they were.

    Pins and probes of a command line, which a manifest does not hold, show in another digest of the corpus.
    """
    file = results.folder / origins.FILE
    rows = [decoded(line, origins.Origin) for line in file.read_bytes().splitlines()] if file.exists() else []
    paths = dict.fromkeys(row.path for row in rows)
    if gone := [path for path in paths if not path or not Path(path).exists()]:
        raise RunError(f"{gone[0] or 'a session'} is not where it was read")
    found = origins.load(results.folder, paths)
    if found.missing or not rows:
        raise RunError(f"{next(iter(found.missing), 'it')} is not what it was")
    types = {record.session: record.agent_type for record in results.records}
    known = (replace(t, agent_type=types.get(session, t.agent_type)) for session, t in found.transcripts.items())
    corpus = Corpus.of(known, settings, spool)
    for name in ALIKE:
        here, there = getattr(corpus.manifest, name), getattr(results.manifest, name)
        if here != there:
            raise RunError(f"{name} was {there!r} in the run, and is {here!r} now")
    return corpus


def recalled(results: Results, project: Project) -> Settings:
    """The settings of a run as far as its manifest and its records tell them.

    Raises `SpecError` or `UnknownName` for strategies that there are no more.
    """
    manifest = results.manifest
    types = {record.agent_type for record in results.records}
    given: dict[str, Any] = {
        "counter": manifest.counter,
        "seed": manifest.seed,
        "replicates": manifest.replicates,
        "mode": manifest.mode,
        "budgets": tuple(map(float, manifest.budgets)),
        "agent_type": next(iter(types)) if len(types) == 1 else "",
        "project": project,
    }
    return Settings(**given, **_places(manifest))


def _places(manifest: Manifest) -> dict[str, Any]:
    """Strategies or policies, and where sessions were cut, or in which window replayed."""
    told = ", ".join(manifest.cuts)
    number: dict[str, Any] = {
        name: int(found[1]) for name in ("window", "overhead", "reserve") if (found := _number(name, told))
    }
    if manifest.mode == "replay":
        priced = re.search(r"priced as (.+)$", told)
        return {"policies": manifest.strategies, **number} | ({"priced_as": priced[1]} if priced else {})
    if manifest.mode == "cuts" and not number:
        number = {"cuts": tuple(map(float, manifest.cuts))}
    return {"strategies": manifest.strategies, **number}


def _number(name: str, told: str) -> re.Match[str] | None:
    return re.search(rf"\b{name} (\d+)", told)
