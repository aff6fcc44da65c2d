"""What speaks for the scorer, as figures that anyone can recompute: each a count of n with its interval.

A kind of evidence lives in each file. `look` measures one session, in any process, `figures` pools what was seen; the
labels of the miner and the labelled cases of another project are read from files, where they are at hand.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from compactlab.harness.workers import pool_of
from compactlab.readers import surveys
from compactlab.study import distinct, sessions_of
from compactlab.study.evidence import agreement, cases, ends, labels, leaks, mutation, permuted
from compactlab.study.evidence.figure import Figure
from compactlab.study.session import Session

__all__ = ["Evidence", "Figure", "gathered"]

GROUPS = (mutation, permuted, leaks, ends, agreement)
Progress = Callable[[int, int, str], None]
LABELS = Path("labels", "facts.jsonl")
"""Where the labels lie, seen from the folder above that of the transcripts."""


class Evidence(NamedTuple):
    """The figures, the sessions they rest on, what could not be measured and why, and files that were passed over."""

    figures: tuple[Figure, ...]
    sessions: tuple[str, ...]
    missing: tuple[str, ...]
    unread: tuple[str, ...]


def gathered(
    paths: Iterable[str | Path], labelled: Path | None = None, jobs: int = 0, progress: Progress | None = None
) -> Evidence:
    """Measure everything on the transcripts at *paths*, with the probes and the labels that lie beside them.

    *labelled* is the source distribution of compaction-guard; without it its cases are told as missing. *jobs* 0 means
    one process a core. Equal transcripts give equal figures. `TranscriptError` if nothing can be read.
    """
    given = [Path(path) for path in paths]
    found = cases.figures(cases.load(labelled)) if labelled else []
    readings = surveys(given)
    transcripts = distinct(t for reading in readings for t in reading.transcripts)
    windows = _windows(given)
    looked = []
    with pool_of(min(jobs or os.cpu_count() or 1, len(transcripts))) as pool:
        sessions = sessions_of(transcripts, pool)
        tasks = [(session, windows.get(session.transcript.id, ())) for session in sessions]
        for done, seen in enumerate(pool.map(_look, tasks) if pool else map(_look, tasks), 1):
            looked.append(seen)
            if progress:
                progress(done, len(tasks), sessions[done - 1].transcript.id)
    *groups, pairs = zip(*looked, strict=True)
    counts = labels.by_family(pair for seen in pairs for pair in seen)
    of_groups = [group.figures(seen) for group, seen in zip(GROUPS, groups, strict=True)]
    of_miner = labels.figures(counts) if labels.total(counts).true else []
    missing = [
        *([] if of_miner else [f"the miner's precision and recall: no labels of these sessions in {LABELS}"]),
        *([] if found else [f"labelled cases: give what `{cases.FETCH}` leaves"]),
    ]
    parts = [of_groups[0], of_miner, found, *of_groups[1:]]
    unread = tuple(line for reading in readings for line in reading.unread)
    figures = tuple(figure for part in parts for figure in part if figure.n)
    return Evidence(figures, tuple(t.id for t in transcripts), tuple(missing), unread)


def _look(task: tuple[Session, Sequence[labels.Window]]) -> tuple[Any, ...]:
    """Let every group look at one session, and find its mined facts in its labelled excerpts."""
    session, windows = task
    pairs = [(window.facts, labels.standing(window, session.facts, session.matcher)) for window in windows]
    return (*(group.look(session) for group in GROUPS), pairs)


def _windows(paths: Iterable[Path]) -> dict[str, list[labels.Window]]:
    """The labelled excerpts that lie beside some transcripts, by session."""
    folders = dict.fromkeys((path if path.is_dir() else path.parent).parent / LABELS for path in paths)
    found = defaultdict(list)
    for window in (window for path in folders if path.is_file() for window in labels.load(path)):
        found[window.session].append(window)
    return found
