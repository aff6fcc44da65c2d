"""The sessions of a run, with their probes and cuts, and what is known only of all of them together."""

from __future__ import annotations

import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

import compactlab
from compactlab.errors import RunError, TranscriptError
from compactlab.facts import FAMILIES
from compactlab.harness import recorded
from compactlab.harness.cuts import Cut, planned
from compactlab.harness.models import Asked
from compactlab.harness.options import OWN, Settings
from compactlab.harness.places import places
from compactlab.harness.replayed import ReplayJob, sources_of
from compactlab.harness.session import Job
from compactlab.harness.sources import engine, sources
from compactlab.harness.spool import Place, Spool, Spooled
from compactlab.harness.tasks import Task
from compactlab.harness.workers import can_be_sent, in_order
from compactlab.pins import pinned
from compactlab.policy import Policy
from compactlab.probes import hand
from compactlab.readers import sifted
from compactlab.records import SCORER_VERSION, Key, Manifest
from compactlab.replay import Window
from compactlab.tokens import Meter
from compactlab.transcript import Transcript

FOREIGN = 2
"""How many unrelated sessions each session's facts are held against to measure chance."""


@dataclass(frozen=True)
class Corpus:
    """The sessions of a run, in a spool, with their probes, and what is known only of all of them together."""

    settings: Settings
    spool: Spool
    sessions: tuple[Spooled, ...]
    probes: dict[str, tuple[hand.Probe, ...]]
    unread: tuple[str, ...]

    @classmethod
    def read(cls, paths: Iterable[str | Path], settings: Settings, spool: Spool) -> Corpus:
        """Read the sessions at *paths* into the spool, one after the other."""
        types = settings.agent_type or settings.project.agent_types
        meter = Meter(settings.counter)

        def keep(transcript: Transcript) -> Spooled:
            return _kept(transcript, settings, meter, spool)

        readings = sifted(paths, keep, agent_type=types, limit=settings.limit)
        found = told_apart([session for reading in readings for session in reading.transcripts])
        ordered = tuple(sorted(found, key=lambda session: session.id))
        if settings.mode == "recorded" and not any(session.cuts for session in ordered):
            raise RunError(f"no compaction is recorded in any of {len(ordered)} sessions; expected one to score")
        unread = (line for reading in readings for line in reading.unread)
        return cls(settings, spool, ordered, probes_of(ordered, settings.probes), tuple(unread))

    @classmethod
    def of(cls, transcripts: Iterable[Transcript], settings: Settings, spool: Spool) -> Corpus:
        """Put sessions that were read already into the spool; each has an id of its own."""
        meter = Meter(settings.counter)
        kept = [_kept(transcript, settings, meter, spool) for transcript in transcripts]
        ordered = tuple(sorted(kept, key=lambda session: session.id))
        return cls(settings, spool, ordered, probes_of(ordered, settings.probes), ())

    @property
    def transcripts(self) -> tuple[Transcript, ...]:
        """All sessions, read into memory."""
        return tuple(self.spool.place(session).transcript() for session in self.sessions)

    @cached_property
    def manifest(self) -> Manifest:
        settings = self.settings
        return Manifest(
            compactlab=compactlab.__version__,
            scorer=SCORER_VERSION,
            counter=settings.counter,
            counter_version=engine(settings.counter),
            seed=settings.seed,
            cuts=_told(settings),
            budgets=settings.budget_names,
            strategies=settings.labels,
            settings=settings.own_policies(self.types),
            corpus=self._digest(),
            sessions=tuple(session.id for session in self.sessions if session.cuts),
            families=FAMILIES,
            asked_by=settings.project.described_models(self.types) if settings.asks_model(self.types) else "",
            replicates=settings.replicates,
            mode=settings.mode,
            plugins={" at the size of ".join(filter(None, label)): made for label, made in self._made_by.items()},
        )

    def workers(self, asked: Asked) -> int:
        """How many processes: never more than sessions, and one where a strategy is the main script's own, or the model
        cannot be sent to another process.
        """
        steps = (step.strategy for meant in self._policies.values() for policy in meant for step in policy.steps)
        own = any(type(strategy).__module__ == "__main__" for strategy in (*self.settings.built, *steps))
        jobs = min(self.settings.jobs or os.cpu_count() or 1, len(self.sessions))
        alone = own or ((jobs > 1 or self.settings.executor) and not can_be_sent(asked))
        if alone and self.settings.executor:
            what = "a strategy of the main script" if own else "the model"
            raise RunError(f"{what} cannot be sent to {self.settings.executor}; expected one of a module")
        return 1 if alone else jobs

    @cached_property
    def types(self) -> frozenset[str]:
        """The types of agents that the sessions have."""
        return frozenset(session.agent_type for session in self.sessions)

    @cached_property
    def _policies(self) -> dict[str, list[Policy]]:
        """By label what it means, for each of the types."""
        if self.settings.mode != "replay":
            return {}
        meant = [self.settings.policies_of(kind) for kind in sorted(self.types)]
        return {label: [policies[label] for policies in meant] for label in self.settings.labels}

    def _digest(self) -> str:
        """Digest of all that was said and of all probes, wherever the files lie and whatever their format."""
        whole = hashlib.sha256()
        for session in self.sessions:
            told = (session.id, session.agent_type, session.digest, session.pinned, self.probes.get(session.id))
            whole.update(repr(told).encode("utf-8", "surrogatepass"))
        return whole.hexdigest()[:12]

    def made_by(self, key: Key) -> str:
        """Digest of the sources behind a block: the metrics', the strategy's, and a control's own."""
        return self._made_by.get((key.strategy, key.size_of), "")

    @cached_property
    def _made_by(self) -> dict[tuple[str, str], str]:
        settings = self.settings
        if settings.mode == "replay":
            return sources_of(self._policies, settings.project)
        return (recorded.made_by if settings.mode == "recorded" else sources)(settings.built, settings.project)

    def mine(self, pool: Executor | None, ahead: int) -> None:
        """Mine the facts of all sessions, by the processes that there are."""
        places = map(self.spool.place, self.sessions)
        self.spool.count(digests for _, digests in in_order(pool, Place.mined, places, ahead))

    def tasks(self, done: frozenset[Key], asked: Asked) -> Iterator[Task]:
        """One piece of work a session."""
        for at, session in enumerate(self.sessions):
            job = Job(
                session.light,
                (),
                session.cuts,
                self.probes.get(session.id, ()),
                frozenset(),
                (),
                self.settings.built,
                self.settings.budget_names,
                self.settings.project.of(session.agent_type),
                self.settings.counter,
                self.settings.seed,
                self._made_by,
                asked=asked.of(session.agent_type),
            )
            unrelated = () if self.settings.mode == "replay" else tuple(self._unrelated(at))  # it measures no chance
            yield Task(self._in_mode(job).without(done), self.spool.place(session), unrelated)

    def _in_mode(self, job: Job) -> Job:
        """The job that does what the mode asks for."""
        settings, given = self.settings, {field.name: getattr(job, field.name) for field in fields(job)}
        if settings.mode == "replay":
            kind = job.transcript.agent_type
            window = Window(settings.window_of(kind) or 0, settings.overhead, settings.reserve)
            policies = settings.policies_of(kind)
            return ReplayJob(**given, policies=policies, window=window, priced_as=settings.priced_as)
        return recorded.RecordedJob(**given) if settings.mode == "recorded" else job

    def _unrelated(self, at: int) -> Iterator[Place]:
        """The next sessions of other stories, going round: deterministic, and spread over all."""
        every, steps = len(self.sessions), self._steps
        step = steps[at] or every
        for _ in range(FOREIGN):
            if step >= every:
                return
            yield self.spool.place(self.sessions[(at + step) % every])
            behind = (at + step + 1) % every
            step += 1 + (steps[behind] if self.sessions[behind].cluster == self.sessions[at].cluster else 0)

    @cached_property
    def _steps(self) -> list[int]:
        """For each session how many steps it is to the next of another story, going round; 0 if there is none."""
        stories = [session.cluster for session in self.sessions]
        steps = [0] * len(stories)
        if len(set(stories)) > 1:
            for at in (*reversed(range(len(stories))), *reversed(range(len(stories)))):
                behind = (at + 1) % len(stories)
                steps[at] = 1 if stories[behind] != stories[at] else steps[behind] + 1
        return steps


def _kept(transcript: Transcript, settings: Settings, meter: Meter, spool: Spool) -> Spooled:
    """Put a session into the spool, with what the settings pin, and where it is cut."""
    whole = _pinned(transcript, settings)
    return spool.put(whole, _cuts(whole, settings, meter))


def _cuts(transcript: Transcript, settings: Settings, meter: Meter) -> tuple[Cut, ...]:
    """Where a session is looked at: at cuts, at its recorded compactions, or as a whole, named after the window."""
    if settings.mode == "recorded":
        return places(transcript)
    if settings.mode == "replay":
        if settings.window_of(transcript.agent_type) is None:
            expected = f"window in [compaction], or --window N; the settings have one {settings.project.windows} alone"
            raise RunError(
                f"{transcript.id}: no window is known for the type {transcript.agent_type!r}; expected {expected}"
            )
        return (Cut(f"replay {settings.window or OWN}", 0, 0.0),)
    return planned(transcript, settings.cuts, settings.window, settings.project.marks, meter)


def _told(settings: Settings) -> tuple[str, ...]:
    """The cuts as the manifest and the signature name them."""
    if settings.mode == "recorded":
        return ("recorded compactions",)
    if settings.window is None and settings.mode == "cuts":
        return tuple(f"{share:g}" for share in settings.cuts)
    more = "".join(f", {what} {n}" for what, n in (("overhead", settings.overhead), ("reserve", settings.reserve)) if n)
    priced = f", priced as {settings.priced_as}" if settings.mode == "replay" else ""
    window = settings.window or f"{settings.project.windows} by the settings"
    return (f"window {window}{settings.project.marks.told}{more}{priced}",)


def told_apart(transcripts: Sequence[Spooled]) -> list[Spooled]:
    """Lead ids that sessions of several folders share by the folder's name; the same session twice is an error."""
    held = Counter(t.id for t in transcripts)
    named = [t if held[t.id] == 1 else replace(t, id=f"{Path(t.path).parent.name}/{t.id}") for t in transcripts]
    doubled = next((name for name, times in Counter(t.id for t in named).items() if times > 1), None)
    if doubled is not None:
        raise TranscriptError(f"session {doubled!r} was given more than once; expected each session once")
    return named


def probes_of(transcripts: Sequence[Spooled], files: Sequence[Path]) -> dict[str, tuple[hand.Probe, ...]]:
    """Probes by session: those beside its file, and those of *files* named after it."""
    found: dict[str, tuple[hand.Probe, ...]] = defaultdict(tuple)
    for transcript in transcripts:
        beside = hand.beside(Path(transcript.path)) if transcript.path else None
        own = [f for f in files if f.name.removesuffix(".jsonl").removesuffix(".probes") == transcript.id]
        named = list(files) if len(transcripts) == 1 else own
        for file in dict.fromkeys([*([beside] if beside else []), *named]):
            found[transcript.id] += hand.load(file)
    return found


def _pinned(transcript: Transcript, settings: Settings) -> Transcript:
    """The transcript with what the settings pin."""
    pins = (*settings.project.pins(transcript.agent_type), *settings.pins)
    return replace(transcript, messages=pinned(transcript.messages, pins)) if pins else transcript
