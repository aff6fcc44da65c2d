"""Runs strategies over transcripts: every session at every cut under every strategy and control, into a run folder.

`run` reads and plans, hands sessions to worker processes, and writes their blocks in one order, whoever is first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from compactlab.harness.answers import Progress, with_cost
from compactlab.harness.corpus import Corpus
from compactlab.harness.models import models
from compactlab.harness.options import DEFAULT_STRATEGIES, Settings
from compactlab.harness.session import Job
from compactlab.harness.workers import pool_of
from compactlab.llm.build import settle
from compactlab.llm.recorded import Missing
from compactlab.records import Block
from compactlab.results import Results, Writer, origins

__all__ = ["DEFAULT_STRATEGIES", "Settings", "run"]

SPENDING = "spending.jsonl"
"""File of a run's folder in which its processes add up what a model cost, where there is a cap."""


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
    corpus = Corpus.read([paths] if isinstance(paths, str | Path) else paths, settings)
    folder = Path(out) if out else Path("runs", f"{datetime.now():%Y%m%d-%H%M%S}-{corpus.manifest.digest()}")  # noqa: DTZ005
    asked = models(settings, folder / SPENDING, corpus.types)
    progress = with_cost(progress, folder / SPENDING) if progress and asked.all else progress
    writer = Writer(folder, replace(corpus.manifest, **asked.names), corpus.made_by)
    origins.save(folder, corpus.transcripts)
    try:
        with pool_of(corpus.workers(asked)) as pool:
            lacking = _write(writer, corpus.jobs(writer.done, pool, asked), pool, progress)
    finally:
        writer.close()
        for model in asked.all:
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
    total = sum(len(job.keys) for job in jobs)
    done = 0
    lacking: list[Block] = []
    for job, blocks in _in_order(jobs, pool):
        made = iter(blocks)
        for key in job.keys:
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
        yield from ((job, job.blocks()) for job in jobs)
        return
    futures = {job.transcript.id: pool.submit(_all_blocks, job) for job in jobs if not job.complete}
    yield from ((job, () if job.complete else futures.pop(job.transcript.id).result()) for job in jobs)


def _all_blocks(job: Job) -> list[Block]:
    return list(job.blocks())
