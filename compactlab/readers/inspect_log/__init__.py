"""Inspect AI logs: `.eval` archives (deflate or zstd members, also without their header) and `.json`, log version 2.

Each sample of each epoch is a session; what is attached to it, and what its events hold in pools, is put in its place.
Tokens and times come from the model events, scores stand in the header. A user's words that are marked neither as the
data set's nor as an operator's are the solver's, and synthetic, where the sample marks such things. Where a context was
compacted, the whole story and what stood in context after are rebuilt from what the calls of the model were sent. Calls
that share nothing with the sample's conversation are sessions of sub-agents; those that made a summary stand alone,
with what they were asked and what they answered. Calls of scorers, and calls beside the conversation, are counted.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec.structs import replace

from compactlab.errors import TranscriptError
from compactlab.readers.inspect_log._log import is_archive, is_log, is_sample, samples
from compactlab.readers.inspect_log._own import own_keys
from compactlab.readers.inspect_log._sample import sessions
from compactlab.readers.inspect_log._write import write as write
from compactlab.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactlab.readers import Source

WHERE = "logs/TIME_TASK_ID.eval (or .json) where `inspect eval` was run"


def sniff(source: Source) -> float:
    """Look for the members of an archive, for a log's `eval` beside its samples or status, or for a single sample."""
    if source.members:
        return 0.95 if is_archive(source) else 0.0
    if is_log(source.first):
        return 0.97
    return 0.93 if is_sample(source.first) else 0.0


def read(source: Source) -> Iterator[Transcript]:
    """Read each sample of a log, one member of an archive after the other, and the sub-agents in it.

    A member that cannot be read is a problem, told with the last session; an error if there is no other.
    """
    ids: Counter[str] = Counter()
    problems: list[str] = []
    held: Transcript | None = None
    for sample in samples(source, problems):
        written = own_keys(sample.value).get("id")
        own = written if isinstance(written, str) else f"{sample.value.get('id')}_epoch_{sample.value.get('epoch')}"
        name = own if own == written else f"{source.stem}/{own}"
        ids[name] += 1
        for transcript in sessions(source, sample, name if ids[name] == 1 else f"{name}-{ids[name]}"):
            if held is not None:
                yield held
            held = transcript
    if held is not None:
        yield replace(held, intake=replace(held.intake, problems=(*held.intake.problems, *problems)))
    elif problems:
        raise TranscriptError(f"{source.path}: {problems[0]}")
