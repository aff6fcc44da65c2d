"""Runs strategies over transcripts: every session at every cut under every strategy and control, into a run folder.

`run` reads and plans, hands sessions to worker processes, and writes their blocks in one order, whoever is first.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

import compactlab
from compactlab import catalog
from compactlab.errors import SpecError
from compactlab.facts import FAMILIES, mine
from compactlab.harness.answers import Progress, with_cost
from compactlab.harness.corpus import engine, probes_of, sources, told_apart
from compactlab.harness.cuts import SHARES, Cut, planned
from compactlab.harness.session import Job, keys, scored
from compactlab.harness.workers import can_be_sent, pool_of
from compactlab.llm import Model
from compactlab.llm.build import settle
from compactlab.llm.recorded import Missing
from compactlab.pins import pinned
from compactlab.probes import hand
from compactlab.readers import surveys
from compactlab.records import SCORER_VERSION, Block, Key, Manifest
from compactlab.results import Results, Writer
from compactlab.settings import Project
from compactlab.strategies import Strategy
from compactlab.tokens import DEFAULT_COUNTER, Meter, counter
from compactlab.transcript import Transcript

DEFAULT_STRATEGIES = (
    "none",
    "microcompact",
    "cull",
    "sliding_window",
    "sliding_reflect",
    "summary",
    "key_value",
    "ladder",
    "defer",
)
FOREIGN = 2
"""How many unrelated sessions each session's facts are held against to measure chance."""

SPENDING = "spending.jsonl"
"""File of a run's folder in which its processes add up what a model cost, where there is a cap."""


@dataclass(frozen=True)
class Settings:
    """How to run: strategies as specs or objects, cuts as shares of the assistant messages or by a window in tokens.

    `budgets` are per cents of the weight before a cut that each strategy is to meet in turn. `pins` and those of
    `project` (what a settings file says) protect messages in every session; `jobs` 0 means one process a core. An
    `agent_type` holds for all sessions; at most `limit` are read from each path.
    """

    strategies: tuple[str | Strategy, ...] = DEFAULT_STRATEGIES
    cuts: tuple[float, ...] = SHARES
    window: int | None = None
    budgets: tuple[float, ...] = ()
    counter: str = DEFAULT_COUNTER
    seed: int = 0
    jobs: int = 0
    probes: tuple[Path, ...] = ()
    pins: tuple[str, ...] = ()
    project: Project = field(default_factory=Project)
    agent_type: str = ""
    limit: int | None = None

    def __post_init__(self) -> None:
        if not self.strategies:
            raise SpecError("no strategy given; expected at least one")
        if not self.cuts or not all(0 < share < 1 for share in self.cuts):
            raise SpecError(f"cut shares {list(self.cuts)}: expected numbers between 0 and 1, such as 0.4,0.55")
        if self.jobs < 0:
            raise SpecError(f"jobs {self.jobs}: expected a number of processes, or 0 for one a core")
        if self.window is not None and self.window <= 0:
            raise SpecError(f"window {self.window}: expected a number of tokens above 0")
        if not all(0 < budget < 100 for budget in self.budgets):
            raise SpecError(f"budgets {list(self.budgets)}: expected per cents between 0 and 100, such as 10,20")
        counter(self.counter)

    @property
    def budget_names(self) -> tuple[str, ...]:
        """The budgets as they stand in records, each once, rising."""
        return tuple(f"{budget:g}" for budget in sorted(set(self.budgets)))

    @cached_property
    def built(self) -> tuple[Strategy, ...]:
        """The strategies as objects, each once."""
        made = [catalog.strategy(s) if isinstance(s, str) else s for s in self.strategies]
        return tuple({repr(strategy): strategy for strategy in made}.values())

    @property
    def uses_model(self) -> bool:
        """True if one of the strategies asks a model."""
        return any(strategy.uses_model for strategy in self.built)

    def model(self, ledger: Path) -> Model | None:
        """The project's model, or None where no strategy asks one."""
        return self.project.model(ledger) if self.uses_model else None


def run(
    paths: str | Path | Iterable[str | Path],
    out: str | Path | None = None,
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> Results:
    """Run *settings* over the transcripts at *paths* into the folder *out*, or go on with the run that it holds.

    Without *out* the folder is new: `runs/<time>-<digest>`.

    Hand-made probes are taken from `NAME.probes.jsonl` beside each `NAME.jsonl`, and from `settings.probes`. *progress*
    is called with blocks done, blocks in all, and the session. Raises `TranscriptError`, `SpecError`, `UnknownName` or
    `RunError` before anything is run; a case that fails later is a row with its error.

    A case that waits for a model's reply (see `compactlab.llm.batch`) has no row yet and is told of in `pending` of the
    results; the same run into the same folder goes on. `Missing`, after all else was run, if a reply cannot be had.
    """
    settings = settings or Settings()
    if progress:
        progress(0, 0, "mining facts")
    corpus = _Corpus.read([paths] if isinstance(paths, str | Path) else paths, settings)
    folder = Path(out) if out else Path("runs", f"{datetime.now():%Y%m%d-%H%M%S}-{corpus.manifest.digest()}")  # noqa: DTZ005
    model = settings.model(folder / SPENDING)
    progress = with_cost(progress, folder / SPENDING) if progress and model is not None else progress
    name = "" if model is None else settings.project.identity(model)
    writer = Writer(folder, replace(corpus.manifest, model=name), corpus.made_by)
    try:
        with pool_of(corpus.workers(model)) as pool:
            lacking = _write(writer, corpus.jobs(writer.done, pool, model), pool, progress)
    finally:
        writer.close()
        settle(model)
    results = Results(folder)
    results.unread = corpus.unread
    results.pending = tuple(block.records[0].reason for block in lacking if block.lacks == "pending")
    missing = [block.records[0].reason for block in lacking if block.lacks == "missing"]
    if missing:
        more = f"; {len(missing) - 1} more lack theirs too" if len(missing) > 1 else ""
        raise Missing(f"{missing[0]}{more}; all other rows stand in {folder}")
    return results


def _write(
    writer: Writer, jobs: Sequence[Job], pool: ProcessPoolExecutor | None, progress: Progress | None
) -> list[Block]:
    """Write all blocks in order; give those that lack a model's reply, without the controls of their size."""
    total = sum(len(keys(job)) for job in jobs)
    done = 0
    lacking: list[Block] = []
    for job, blocks in _in_order(jobs, pool):
        made = iter(blocks)
        for key in keys(job):
            if key in writer.done:
                writer.keep(key)
            elif (block := next(made)).lacks:
                lacking += [] if key.size_of else [block]
            else:
                writer.write(block)
            done += 1
            if progress:
                progress(done, total, job.transcript.id)
    return lacking


def _in_order(jobs: Sequence[Job], pool: ProcessPoolExecutor | None) -> Iterator[tuple[Job, Iterable[Block]]]:
    """Give each job with its blocks, in order: lazily in this process, or from a pool that works ahead."""
    if pool is None:
        yield from ((job, scored(job)) for job in jobs)
        return
    futures = {job.transcript.id: pool.submit(_all_blocks, job) for job in jobs if not job.complete}
    yield from ((job, () if job.complete else futures.pop(job.transcript.id).result()) for job in jobs)


def _all_blocks(job: Job) -> list[Block]:
    return list(scored(job))


@dataclass(frozen=True)
class _Corpus:
    """The transcripts of a run with their probes, and what is known only of all of them together."""

    settings: Settings
    transcripts: tuple[Transcript, ...]
    probes: dict[str, tuple[hand.Probe, ...]]
    cuts: dict[str, tuple[Cut, ...]]
    unread: tuple[str, ...]

    @classmethod
    def read(cls, paths: Iterable[str | Path], settings: Settings) -> _Corpus:
        types = settings.agent_type or settings.project.agent_types
        readings = surveys(paths, agent_type=types, limit=settings.limit)
        found = told_apart([transcript for reading in readings for transcript in reading.transcripts])
        ordered = tuple(_pinned(t, settings) for t in sorted(found, key=lambda t: t.id))
        meter = Meter(settings.counter)
        cuts = {t.id: planned(t, settings.cuts, settings.window, settings.project.marks, meter) for t in ordered}
        unread = (line for reading in readings for line in reading.unread)
        return cls(settings, ordered, probes_of(ordered, settings.probes), cuts, tuple(unread))

    @cached_property
    def manifest(self) -> Manifest:
        settings = self.settings
        cuts = tuple(f"{share:g}" for share in settings.cuts)
        return Manifest(
            compactlab=compactlab.__version__,
            scorer=SCORER_VERSION,
            counter=settings.counter,
            counter_version=engine(settings.counter),
            seed=settings.seed,
            cuts=cuts if settings.window is None else (f"window {settings.window}{settings.project.marks.told}",),
            budgets=settings.budget_names,
            strategies=tuple(map(repr, settings.built)),
            corpus=self._digest(),
            sessions=tuple(t.id for t in self.transcripts),
            families=FAMILIES,
            asked_by=settings.project.described_model() if settings.uses_model else "",
            plugins={" at the size of ".join(filter(None, label)): made for label, made in self._made_by.items()},
        )

    def workers(self, model: Model | None) -> int:
        """How many processes: never more than sessions, and one where a strategy is the main script's own, or the model
        cannot be sent to another process.
        """
        own = any(type(strategy).__module__ == "__main__" for strategy in self.settings.built)
        jobs = min(self.settings.jobs or os.cpu_count() or 1, len(self.transcripts))
        return 1 if own or (jobs > 1 and not can_be_sent(model)) else jobs

    def _digest(self) -> str:
        """Digest of all messages and probes, wherever the files lie and whatever their format."""
        whole = hashlib.sha256()
        for transcript in self.transcripts:
            story = (transcript.id, transcript.agent_type, transcript.messages, *transcript.compactions)
            for part in (story, self.probes.get(transcript.id)):
                whole.update(repr(part).encode("utf-8", "surrogatepass"))
        return whole.hexdigest()[:12]

    def made_by(self, key: Key) -> str:
        """Digest of the sources behind a block: the metrics', the strategy's, and a control's own."""
        return self._made_by.get((key.strategy, key.size_of), "")

    @cached_property
    def _made_by(self) -> dict[tuple[str, str], str]:
        return sources(self.settings.built, self.settings.project)

    def jobs(self, done: frozenset[Key], pool: ProcessPoolExecutor | None, model: Model | None) -> list[Job]:
        """One job a session, with its facts and what other sessions say of them."""
        messages = [transcript.messages for transcript in self.transcripts]
        facts = list(pool.map(mine, messages) if pool else map(mine, messages))
        spread = Counter(value for found in facts for value in {fact.value for fact in found})
        jobs = []
        for at, transcript in enumerate(self.transcripts):
            common = frozenset(fact.value for fact in facts[at] if spread[fact.value] > 2)
            job = Job(
                transcript,
                facts[at],
                self.cuts[transcript.id],
                self.probes.get(transcript.id, ()),
                common,
                self._unrelated(at),
                self.settings.built,
                self.settings.budget_names,
                self.settings.project,
                self.settings.counter,
                self.settings.seed,
                self._made_by,
                model=model,
            )
            jobs.append(job.without(done))
        return jobs

    def _unrelated(self, at: int) -> tuple[Transcript, ...]:
        """The next sessions of other stories, going round: deterministic, and spread over all."""
        after = (*self.transcripts[at + 1 :], *self.transcripts[:at])
        mine_too = self.transcripts[at].cluster
        return tuple(t for t in after if t.cluster != mine_too)[:FOREIGN]


def _pinned(transcript: Transcript, settings: Settings) -> Transcript:
    """The transcript with what the settings pin."""
    pins = (*settings.project.pins(transcript.agent_type), *settings.pins)
    return replace(transcript, messages=pinned(transcript.messages, pins)) if pins else transcript
