"""Ten summaries in a row on recorded sessions that grow: bounded, flat, and nothing that a person asked for is lost."""

from functools import cache
from itertools import pairwise

import pytest
import runs
from msgspec.structs import replace

from compactlab.compaction import Guard, compact
from compactlab.history import anchor
from compactlab.llm.extractive import Extractive
from compactlab.markers import SUMMARY
from compactlab.readers import read
from compactlab.strategies.summary import MAX_CARRIED, OVERHEAD, Summarise, is_summary
from compactlab.tokens import Meter

PASSES = 10
METER = Meter()
LONGEST = Summarise().max_summary_tokens + MAX_CARRIED + OVERHEAD + 80
NAMES = sorted(path.stem for path in runs.TRANSCRIPTS)


class Windowed(Extractive):
    """The stand-in with a window that none of the sessions fits."""

    window = 8_192


@cache
def passes(name, model):
    """What stood after each of ten passes: each on what the last one left, and a tenth more of the session."""
    [transcript] = read(runs.FIXTURES / f"{name}.jsonl")
    messages = tuple(replace(message, source=None) for message in transcript.messages)
    ends = [len(messages) * number // PASSES for number in range(PASSES + 1)]
    held, left = (), []
    for start, end in pairwise(ends):
        guard = Guard(METER, model=model())
        done = compact((*held, *messages[start:end]), "summary(preserve_recent=3)", guard=guard)
        assert done.receipt.outcome in {"applied", "skipped", "rejected"}, done.receipt.reason
        held = done.messages
        left.append(held)
    return messages, left


@pytest.mark.parametrize("model", [Extractive, Windowed])
@pytest.mark.parametrize("name", NAMES)
def test_ten_summaries_in_a_row_stay_bounded_and_flat_and_keep_the_first_request(name, model):
    messages, left = passes(name, model)
    notes = [[message for message in held if is_summary(message)] for held in left]
    assert len(left) == PASSES
    assert sum(map(bool, notes)) >= PASSES - 1  # the first tenth of one session is too short to be worth a note
    first = [messages[i] for i in sorted(anchor(messages))]
    for held, found in zip(left, notes, strict=True):
        assert len(found) <= 1
        assert sum(message.text.count(SUMMARY) for message in held) == len(found)
        assert all(METER.message(note) <= LONGEST for note in found)
        assert list(held[: len(first)]) == first
