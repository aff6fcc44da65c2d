"""What is tuned on: the sessions by type of agent, each with its facts and the window of its type; and the journal."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from compactlab import catalog
from compactlab.errors import RunError
from compactlab.facts import mine
from compactlab.harness.corpus import Corpus
from compactlab.harness.options import Settings
from compactlab.harness.replayed import ENGINE, schemas
from compactlab.harness.sources import GUARDING, asked_by
from compactlab.harness.spool import Spool
from compactlab.harness.workers import can_be_sent
from compactlab.llm import Model
from compactlab.records import Manifest
from compactlab.tokens import Meter
from compactlab.transcript import Transcript
from compactlab.tuning.options import Options, default_window
from compactlab.tuning.tried import Material

Progress = Callable[[int, int, str], None]
SPENDING = "spending.jsonl"
SOURCES = ("statements.judging", "statements.ledger", "statements.rules", "tuning.standing", "tuning.tried", "validity")
"""Modules that have a say in a row, beside those of any replay."""


@dataclass(frozen=True)
class Materials:
    """The sessions of a search; `windows` are those of each type of agent, in tokens.

    `transcripts` are all that lie there, `by_type` those that are tuned for.
    """

    options: Options
    manifest: Manifest
    transcripts: tuple[Transcript, ...]
    by_type: dict[str, list[Transcript]]
    windows: dict[str, int]
    folder: Path
    journal: Path
    models: dict[str, Model]
    unread: tuple[str, ...]

    @classmethod
    def read(cls, paths: Iterable[str | Path], options: Options, folder: Path | None) -> Materials:
        """Read the sessions, choose the windows. Raises `RunError` where the type has no session."""
        with Spool() as spool:
            corpus = Corpus.read(paths, _reading(options), spool)
            transcripts = tuple(corpus.transcripts)
        of = _by_type(transcripts, options.agent_type)
        windows = {kind: _window(kind, found, options) for kind, found in of.items()}
        digest = _digest(corpus.manifest, windows, options)
        folder = folder or Path("runs", f"tune-{digest}")
        models = {kind: options.project.of(kind).model(folder / SPENDING) for kind in of}
        journal = folder / f"candidates-{digest}.jsonl"
        return cls(options, corpus.manifest, transcripts, of, windows, folder, journal, models, corpus.unread)

    def mined(self) -> list[Material]:
        """All sessions that are tuned for, with their facts; which values are common tell those of all types."""
        facts = {t.id: mine(t.messages) for t in self.transcripts}
        spread = Counter(value for found in facts.values() for value in {fact.value for fact in found})
        return [
            Material(
                transcript,
                own := facts[transcript.id],
                frozenset(fact.value for fact in own if spread[fact.value] > 2),
                self.windows[kind],
                self.options.project.of(kind),
                self.options.counter,
                self.models[kind],
            )
            for kind, found in self.by_type.items()
            for transcript in found
        ]

    def sessions(self, agent_type: str) -> tuple[str, ...]:
        """The sessions of a type, in the order of their names."""
        return tuple(transcript.id for transcript in self.by_type[agent_type])

    def stories(self, agent_type: str) -> dict[str, str]:
        """The story of each session of a type."""
        return {transcript.id: transcript.story for transcript in self.by_type[agent_type]}

    @property
    def workers(self) -> int:
        """How many processes: never more than sessions, and one where the model cannot be sent to another."""
        jobs = min(self.options.jobs or os.cpu_count() or 1, sum(map(len, self.by_type.values())))
        return jobs if all(map(can_be_sent, self.models.values())) else 1


def _reading(options: Options) -> Settings:
    """How the sessions are read: as for a run of replays, so that the corpus has the same digest."""
    return Settings(
        ("none",),
        mode="replay",
        window=options.window or 1,
        counter=options.counter,
        project=options.project,
        limit=options.limit,
    )


def _by_type(transcripts: Sequence[Transcript], wanted: str) -> dict[str, list[Transcript]]:
    """The sessions of each type of agent, or of the one that is wanted."""
    found: dict[str, list[Transcript]] = {}
    for transcript in sorted(transcripts, key=lambda t: (t.agent_type, t.id)):
        found.setdefault(transcript.agent_type, []).append(transcript)
    if wanted and wanted not in found:
        there = ", ".join(f"{len(of)} {kind}" for kind, of in found.items()) or "none"
        raise RunError(f"no session of type {wanted!r} was found; there are {there}")
    return {wanted: found[wanted]} if wanted else found


def _window(agent_type: str, transcripts: Sequence[Transcript], options: Options) -> int:
    """The window of a type: as it was given, or as the settings have it, or one by what the sessions weigh."""
    meter = Meter(options.counter)
    given = options.window or options.project.window(agent_type)
    return given or default_window([meter.messages(t.messages) + schemas(t, meter) for t in transcripts])


def _digest(manifest: Manifest, windows: dict[str, int], options: Options) -> str:
    """Digest of all that a row rests on: sessions, windows, counter, marks, model, and the code that makes it."""
    project = options.project
    strategies = [catalog.digest("strategies", name) for name in catalog.names("strategies")]
    modules = [
        *(f"compactlab.replay.{name}" for name in ENGINE),
        *(f"compactlab.{name}" for name in (*GUARDING, *SOURCES)),
    ]
    code = [*strategies, *(catalog.source_digest(name) for name in modules)]
    parts = (manifest.corpus, manifest.scorer, manifest.counter, manifest.counter_version, windows, project.marks)
    asked = [(project.of(kind).described_model(), project.of(kind).prompts, asked_by(project)) for kind in windows]
    whole = repr((*parts, asked, code))
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:12]
