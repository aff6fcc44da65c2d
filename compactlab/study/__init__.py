"""The study behind the metrics, done again: sixteen findings on recorded sessions, with the product's own code.

A study of six sessions led to the definitions that every run uses (`docs/validity.md`). Here each of its findings is
recomputed on any folder of transcripts, so that anyone can see whether what was made of it still follows. A group of
findings lives in each file: `look` measures one session, in any process, `findings` pools what was seen.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from compactlab.errors import TranscriptError
from compactlab.facts import Fact, mine
from compactlab.harness.workers import pool_of
from compactlab.probes import hand
from compactlab.readers import surveys
from compactlab.study import agreement, chance, needs, presence, rankings, sampling, sizes
from compactlab.study.finding import Finding
from compactlab.study.session import Session
from compactlab.transcript import Transcript

__all__ = ["Finding", "Study", "study"]

GROUPS = (presence, needs, chance, sizes, rankings, sampling, agreement)
Progress = Callable[[int, int, str], None]


class Study(NamedTuple):
    """The findings in the order of their numbers, the sessions they rest on, and the files that were passed over."""

    findings: tuple[Finding, ...]
    sessions: tuple[str, ...]
    unread: tuple[str, ...]


def study(paths: Iterable[str | Path], jobs: int = 0, progress: Progress | None = None) -> Study:
    """Recompute the findings on the transcripts at *paths*, with the hand-made probes that lie beside them.

    *jobs* 0 means one process a core. *progress* is called with sessions done, sessions in all, and the session. Equal
    transcripts give equal numbers, seconds left aside. `TranscriptError` if nothing can be read or an id comes twice.
    """
    readings = surveys(paths)
    transcripts = distinct(t for reading in readings for t in reading.transcripts)
    looked = []
    with pool_of(min(jobs or os.cpu_count() or 1, len(transcripts))) as pool:
        sessions = sessions_of(transcripts, pool)
        for done, (session, seen) in enumerate(zip(sessions, _seen(sessions, pool), strict=True), 1):
            looked.append(seen)
            if progress:
                progress(done, len(sessions), session.transcript.id)
    found = [
        finding for group, seen in zip(GROUPS, zip(*looked, strict=True), strict=True) for finding in _of(group, seen)
    ]
    unread = tuple(line for reading in readings for line in reading.unread)
    return Study(tuple(sorted(found, key=lambda f: f.number)), tuple(t.id for t in transcripts), unread)


def distinct(transcripts: Iterable[Transcript]) -> list[Transcript]:
    """Put transcripts in the order of their ids; `TranscriptError` where one comes twice."""
    found = sorted(transcripts, key=lambda t: t.id)
    doubled = next((name for name, times in Counter(t.id for t in found).items() if times > 1), None)
    if doubled is not None:
        raise TranscriptError(f"session {doubled!r} was given more than once; expected each session once")
    return found


def sessions_of(transcripts: Sequence[Transcript], pool: ProcessPoolExecutor | None = None) -> list[Session]:
    """Make the sessions, each with its facts and what is known only of all of them together."""
    messages = [transcript.messages for transcript in transcripts]
    facts: list[tuple[Fact, ...]] = list(pool.map(mine, messages) if pool else map(mine, messages))
    spread = Counter(value for found in facts for value in {fact.value for fact in found})
    return [
        Session(
            transcript,
            found,
            frozenset(fact.value for fact in found if spread[fact.value] > 2),
            _probes(transcript),
            tuple(other for other in transcripts if other.story != transcript.story),
        )
        for transcript, found in zip(transcripts, facts, strict=True)
    ]


def _probes(transcript: Transcript) -> tuple[hand.Probe, ...]:
    beside = hand.beside(Path(transcript.path)) if transcript.path else None
    return hand.load(beside) if beside else ()


def _seen(sessions: Sequence[Session], pool: ProcessPoolExecutor | None) -> Iterator[tuple[Any, ...]]:
    """What each group sees in each session, in order: lazily in this process, or from a pool that works ahead."""
    yield from pool.map(look, sessions) if pool else map(look, sessions)


def look(session: Session) -> tuple[Any, ...]:
    """Let every group look at one session."""
    return tuple(group.look(session) for group in GROUPS)


def _of(group: Any, seen: Sequence[Any]) -> list[Finding]:  # noqa: ANN401  # a module of this package
    found: list[Finding] = group.findings(seen)
    return found
