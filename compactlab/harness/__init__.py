"""Runs strategies over transcripts: every session at every cut under every strategy and control, into a run folder.

`run` reads and plans, hands sessions to worker processes, and writes their blocks in one order, whoever is first.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

from msgspec.structs import replace

import compactlab
from compactlab import catalog
from compactlab.errors import SpecError, TranscriptError
from compactlab.facts import FAMILIES, mine
from compactlab.harness.cuts import SHARES, Cut, planned
from compactlab.harness.session import CONTROLS, Job, keys, labels, scored
from compactlab.harness.workers import pool_of
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

Progress = Callable[[int, int, str], None]


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
    """
    settings = settings or Settings()
    corpus = _Corpus.read([paths] if isinstance(paths, str | Path) else paths, settings)
    folder = Path(out) if out else Path("runs", f"{datetime.now():%Y%m%d-%H%M%S}-{corpus.manifest.digest()}")  # noqa: DTZ005
    writer = Writer(folder, corpus.manifest, corpus.made_by)
    try:
        with pool_of(corpus.workers) as pool:
            _write(writer, corpus, pool, progress)
    finally:
        writer.close()
    results = Results(folder)
    results.unread = corpus.unread
    return results


def _write(writer: Writer, corpus: _Corpus, pool: ProcessPoolExecutor | None, progress: Progress | None) -> None:
    if progress:
        progress(0, 0, "mining facts")
    jobs = corpus.jobs(writer.done, pool)
    total = sum(len(keys(job)) for job in jobs)
    done = 0
    for job, blocks in _in_order(jobs, pool):
        made = iter(blocks)
        for key in keys(job):
            if key in writer.done:
                writer.keep(key)
            else:
                writer.write(next(made))
            done += 1
            if progress:
                progress(done, total, job.transcript.id)


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
        found = _told_apart([transcript for reading in readings for transcript in reading.transcripts])
        ordered = tuple(_pinned(t, settings) for t in sorted(found, key=lambda t: t.id))
        meter = Meter(settings.counter)
        cuts = {t.id: planned(t, settings.cuts, settings.window, settings.project.marks, meter) for t in ordered}
        unread = (line for reading in readings for line in reading.unread)
        return cls(settings, ordered, _probes(ordered, settings.probes), cuts, tuple(unread))

    @cached_property
    def manifest(self) -> Manifest:
        settings = self.settings
        cuts = tuple(f"{share:g}" for share in settings.cuts)
        return Manifest(
            compactlab=compactlab.__version__,
            scorer=SCORER_VERSION,
            counter=settings.counter,
            counter_version=_engine(settings.counter),
            seed=settings.seed,
            cuts=cuts if settings.window is None else (f"window {settings.window}",),
            budgets=settings.budget_names,
            strategies=tuple(map(repr, settings.built)),
            corpus=self._digest(),
            sessions=tuple(t.id for t in self.transcripts),
            families=FAMILIES,
            plugins={" at the size of ".join(filter(None, label)): made for label, made in self._made_by.items()},
        )

    @property
    def workers(self) -> int:
        """How many processes: never more than sessions, and one where a strategy is the main script's own."""
        if any(type(strategy).__module__ == "__main__" for strategy in self.settings.built):
            return 1
        return min(self.settings.jobs or os.cpu_count() or 1, len(self.transcripts))

    def _digest(self) -> str:
        """Digest of all messages and probes, wherever the files lie and whatever their format."""
        whole = hashlib.sha256()
        for transcript in self.transcripts:
            story = (transcript.id, transcript.messages, *transcript.compactions)
            for part in (story, self.probes.get(transcript.id)):
                whole.update(repr(part).encode("utf-8", "surrogatepass"))
        return whole.hexdigest()[:12]

    def made_by(self, key: Key) -> str:
        """Digest of the sources behind a block: the metrics', the strategy's, and a control's own."""
        return self._made_by.get((key.strategy, key.size_of), "")

    @cached_property
    def _made_by(self) -> dict[tuple[str, str], str]:
        scored_by = [catalog.digest("metrics", name) for name in catalog.names("metrics")]
        own = {repr(strategy): catalog.source_digest(type(strategy).__module__) for strategy in self.settings.built}
        own |= {control: catalog.source_digest(f"compactlab.controls.{control}") for control in CONTROLS}
        return {
            (label, size_of): _short([*scored_by, own.get(label, ""), own.get(size_of, "")])
            for label, size_of, _ in labels(self.settings.built, ())
        }

    def jobs(self, done: frozenset[Key], pool: ProcessPoolExecutor | None) -> list[Job]:
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
            )
            jobs.append(job.without(done))
        return jobs

    def _unrelated(self, at: int) -> tuple[Transcript, ...]:
        """The next sessions of other stories, going round: deterministic, and spread over all."""
        after = (*self.transcripts[at + 1 :], *self.transcripts[:at])
        mine_too = self.transcripts[at].cluster
        return tuple(t for t in after if t.cluster != mine_too)[:FOREIGN]


def _told_apart(transcripts: Sequence[Transcript]) -> list[Transcript]:
    """Lead ids that sessions of several folders share by the folder's name; the same session twice is an error."""
    held = Counter(t.id for t in transcripts)
    named = [t if held[t.id] == 1 else replace(t, id=f"{Path(t.path).parent.name}/{t.id}") for t in transcripts]
    doubled = next((name for name, times in Counter(t.id for t in named).items() if times > 1), None)
    if doubled is not None:
        raise TranscriptError(f"session {doubled!r} was given more than once; expected each session once")
    return named


def _pinned(transcript: Transcript, settings: Settings) -> Transcript:
    """The transcript with what the settings pin."""
    pins = (*settings.project.pins(transcript.agent_type), *settings.pins)
    return replace(transcript, messages=pinned(transcript.messages, pins)) if pins else transcript


def _short(digests: Iterable[str]) -> str:
    return hashlib.sha256("|".join(digests).encode()).hexdigest()[:12]


def _engine(counter_name: str) -> str:
    """The package behind a counter, with its version."""
    if counter_name == "chars/4":
        return "no tokenizer"
    package = "tiktoken" if counter_name.startswith("tiktoken:") else "toktok-rs"
    return f"{package} {version(package)}"


def _probes(transcripts: Sequence[Transcript], files: Sequence[Path]) -> dict[str, tuple[hand.Probe, ...]]:
    """Probes by session: those beside its file, and those of *files* named after it."""
    found: dict[str, tuple[hand.Probe, ...]] = defaultdict(tuple)
    for transcript in transcripts:
        beside = hand.beside(Path(transcript.path)) if transcript.path else None
        own = [f for f in files if f.name.removesuffix(".jsonl").removesuffix(".probes") == transcript.id]
        named = list(files) if len(transcripts) == 1 else own
        for file in dict.fromkeys([*([beside] if beside else []), *named]):
            found[transcript.id] += hand.load(file)
    return found
