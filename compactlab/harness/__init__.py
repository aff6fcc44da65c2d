"""Runs strategies over transcripts: every session at every cut under every strategy and control, into a run folder.

`run` reads the sessions into a spool and plans, hands them to worker processes, here or on a cluster, and writes their
blocks in one order, whoever is first. Its memory does not grow with the size of the sessions: it holds a few words of
each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from compactlab.harness.answers import Progress, with_cost
from compactlab.harness.corpus import Corpus
from compactlab.harness.models import Asked, models
from compactlab.harness.options import DEFAULT_STRATEGIES, Settings
from compactlab.harness.spool import Spool
from compactlab.harness.tasks import Task
from compactlab.harness.workers import hands, in_order
from compactlab.llm.build import settle
from compactlab.llm.recorded import Missing
from compactlab.records import Block, Key
from compactlab.results import Results, Writer, origins

__all__ = ["DEFAULT_STRATEGIES", "Settings", "run"]

SPENDING = "spending.jsonl"
"""File of a run's folder in which its processes add up what a model cost, where there is a cap."""
AHEAD = 3
"""Sessions on their way for each worker: enough for none to wait, few enough to fit into memory."""


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
        progress(0, 0, "reading")
    with Spool(_shared(out) if settings.executor else None) as spool:
        corpus = Corpus.read([paths] if isinstance(paths, str | Path) else paths, settings, spool)
        folder = Path(out) if out else Path("runs", f"{datetime.now():%Y%m%d-%H%M%S}-{corpus.manifest.digest()}")  # noqa: DTZ005
        lacking = _run(corpus, folder, progress)
    results = Results(folder)
    results.unread = corpus.unread
    results.pending = tuple(block.records[0].reason for block in lacking if block.lacks == "pending")
    missing = [block.records[0].reason for block in lacking if block.lacks == "missing"]
    if missing:
        more = f"; {len(missing) - 1} more lack theirs too" if len(missing) > 1 else ""
        raise Missing(f"{missing[0]}{more}; all other rows stand in {folder}")
    return results


def _shared(out: str | Path | None) -> Path:
    """The folder beside the run: on a cluster it is one for all workers."""
    return Path(out).absolute().parent if out else Path("runs").absolute()


def _run(corpus: Corpus, folder: Path, progress: Progress | None) -> list[Block]:
    """Make all blocks, into the folder; give those that lack a model's reply."""
    asked = models(corpus.settings, folder / SPENDING, corpus.types)
    progress = with_cost(progress, folder / SPENDING) if progress and asked.all else progress
    writer = Writer(folder, replace(corpus.manifest, **asked.names), corpus.made_by)
    workers = corpus.workers(asked)
    try:
        origins.save(folder, (session.origin for session in corpus.sessions))
        with hands(corpus.settings.executor, workers) as (executor, at_once):
            if progress:
                progress(0, 0, "mining facts")
            corpus.mine(executor, AHEAD * at_once)
            return _write(writer, Making(corpus, asked, executor, AHEAD * at_once), progress)
    finally:
        writer.close()
        for model in asked.all:
            settle(model)


class Making(NamedTuple):
    """Who does the tasks of a run, and how many at most are on their way."""

    corpus: Corpus
    asked: Asked
    executor: Executor | None
    ahead: int

    def blocks(self, done: frozenset[Key]) -> Iterator[tuple[Task, Iterable[Block]]]:
        """Give each task with its blocks, in order: lazily in this process, or from others that work ahead."""
        tasks = self.corpus.tasks(done, self.asked)
        if self.executor is None:
            return ((task, task.blocks()) for task in tasks)
        return in_order(self.executor, Task.all_blocks, tasks, self.ahead)


def _write(writer: Writer, making: Making, progress: Progress | None) -> list[Block]:
    """Write all blocks in order; give those that lack a model's reply, without the controls of their size."""
    total = sum(len(task.job.keys) for task in making.corpus.tasks(frozenset(), making.asked))
    done = 0
    lacking: list[Block] = []
    for task, blocks in making.blocks(writer.done):
        new = iter(blocks)
        for key in task.job.keys:
            if key in writer.done:
                writer.keep(key)
            elif (block := next(new)).lacks:
                lacking += [] if key.size_of else [block]
            else:
                writer.write(block)
            done += 1
            if progress:
                progress(done, total, task.job.transcript.id)
    return lacking
