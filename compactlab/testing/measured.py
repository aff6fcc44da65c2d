"""A run for assertions: one process, in a folder that goes away, without the controls that no assertion asks for."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from compactlab.errors import RunError
from compactlab.harness import AHEAD, SPENDING, Making, Settings
from compactlab.harness.corpus import Corpus
from compactlab.harness.models import models
from compactlab.harness.spool import Spool
from compactlab.llm.build import settle
from compactlab.results import Results, Writer, origins


def measured(paths: Sequence[str | Path], settings: Settings) -> Results:
    """Run *settings* over *paths*; the folder goes when the results do.

    Controls that are cut to a strategy's size cost the most of a run. `null` stays: by it chance is measured.
    """
    folder = Path(tempfile.mkdtemp(prefix="compactlab-check-"))
    try:
        _write(folder, paths, settings)
        results = Results(folder / "run")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(results, shutil.rmtree, folder, ignore_errors=True)
    return results


def _write(folder: Path, paths: Sequence[str | Path], settings: Settings) -> None:
    with Spool() as spool:
        corpus = Corpus.read(paths, settings, spool)
        asked = models(settings, folder / SPENDING, corpus.types)
        writer = Writer(folder / "run", replace(corpus.manifest, **asked.names), corpus.made_by)
        try:
            origins.save(folder / "run", (session.origin for session in corpus.sessions))
            corpus.mine(None, AHEAD)
            tasks = corpus.tasks(frozenset(), asked)
            unasked = frozenset(key for task in tasks for key in task.job.keys if key.size_of or key.strategy == "bag")
            for _, blocks in Making(corpus, asked, None, AHEAD).blocks(unasked):
                for block in blocks:
                    if block.lacks:
                        raise RunError(f"a reply of the model is {block.lacks}: {block.records[0].reason}")
                    writer.write(block)
        finally:
            writer.close()
            for model in asked.all:
                settle(model)
