"""Harbor ATIF trajectories (`trajectory.json`), versions 1.0 to 1.8: steps of an agent with what came back from each.

A step of the agent becomes its response and one message a result. A result that names no call answers the next that is
open; with none open it is what an agent that acts in plain text hears, a synthetic user message. A trajectory that goes
on in other files (`continued_trajectory_ref`) is one session, whichever of them is read: steps marked as copied stand
once, and where the copies differ from what stood in context, there is a recorded compaction. So there is at a step
that marks one; what stayed in context beside the summary is not recorded there, so that only the system prompt and the
summary are listed after it. Sub-agents, embedded, in files of their own or by steps marked as a sidechain, are
transcripts of their own in the cluster of the session; copied steps at their head are not told again. Token ids and log
probabilities are not read.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.readers._fields import mapping, string
from compactlab.readers.atif._files import File, first_file, is_trajectory
from compactlab.readers.atif._session import Session
from compactlab.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactlab.readers import Lines, Source

WHERE = "jobs/JOB/TRIAL/agent/trajectory.json of a Harbor run"


def sniff(source: Source) -> float:
    """Look for `schema_version` ATIF and steps, or for steps of an agent that name no version."""
    first: object = source.first
    if isinstance(source.document, list):
        first = source.document[0] if source.document else None
    if not is_trajectory(first):
        return 0.0
    return 1.0 if string(mapping(first).get("schema_version")).startswith("ATIF") else 0.9


def read(source: Source) -> Iterator[Transcript]:
    """Read the session of a file, over all its files, and its sub-agents; or the trajectories of a list or of lines.

    What is no trajectory is counted with the last transcript.
    """
    if isinstance(source.document, dict):
        first = first_file(source)
        if first is not None:
            yield from Session(first, Counter()).transcripts()
        return
    lines = source.lines() if source.document is None else None
    unknown: Counter[str] = Counter()
    held: Transcript | None = None
    for transcript in _listed(source, lines, unknown):
        if held is not None:
            yield held
        held = transcript
    if held is not None:
        yield _counted(held, lines, unknown)


def _listed(source: Source, lines: Lines | None, unknown: Counter[str]) -> Iterator[Transcript]:
    ids: Counter[str] = Counter()
    values: Any = source.document if lines is None else (line.value for line in lines)
    for value in values:
        if is_trajectory(value):
            yield from Session(File(source, value), ids).transcripts()
        else:
            unknown["entry that is no trajectory"] += 1


def _counted(last: Transcript, lines: Lines | None, unknown: Counter[str]) -> Transcript:
    own = last.intake
    unknown.update(own.unknown)
    problems = (*own.problems, *(() if lines is None else lines.intake().problems))
    return replace(last, intake=replace(own, unknown=dict(unknown), problems=problems))
