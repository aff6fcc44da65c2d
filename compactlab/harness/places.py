"""Where a real harness compacted a session: the places to score it at, and what its recording leaves untold.

What stood in the context and what was sent differ where a harness clears results in silence, or hands over files beside
its summary that the recording does not hold. Recorded token counts tell: between the responses of one session they grow
by a steady ratio to our weights, so that a count far off the line shows what was sent and not recorded, or recorded and
not sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from compactlab.harness.cuts import Cut, spoken_by_agent
from compactlab.pressure import weights_in_view
from compactlab.tokens import Meter
from compactlab.transcript import Message, Reasoning, Transcript

NAME = "recorded"
GROWTH = 200
"""Tokens by which a context must have grown between two responses for their counts to be compared."""
UNSEEN = (2_000, 0.10)
"""More than this many tokens, and this share of what was left, sent beyond it are no error of the estimate."""
CLEARED = (5_000, 0.10)
"""The same for tokens that stood before a compaction and were no longer sent."""
_TELLS_ALL = ("claude", "terminus")
"""Producers of ATIF that keep no messages beside their summary."""


class Sent(NamedTuple):
    """By recorded counts, in our tokens: what stood before and was no longer sent, what was sent after beside the rest.

    None where the counts do not tell. A few per cent of the context either way is the error of the estimate.
    """

    cleared: int | None
    unseen: int | None


def places(transcript: Transcript) -> tuple[Cut, ...]:
    """Plan a place at each recorded compaction, `recorded 1` the first; one that cannot be scored has its reason."""
    spoken = spoken_by_agent(transcript)
    found = []
    for index, compaction in enumerate(transcript.compactions):
        told = sum(position < compaction.position for position in spoken)
        share = told / len(spoken) if spoken else 0.0
        found.append(Cut(f"{NAME} {index + 1}", compaction.position, share, unscored(transcript, index)))
    return tuple(found)


def unscored(transcript: Transcript, index: int) -> str:
    """Say why a recorded compaction cannot be scored; empty where it can."""
    compaction = transcript.compactions[index]
    if compaction.trigger == "clear":
        return "the context was cleared, not compacted"
    if not compaction.after:
        return "what it left is not recorded"
    if not any(message.blocks for message in transcript.before(index)):
        return "what stood before it is not recorded"
    if not any(position >= compaction.position for position in spoken_by_agent(transcript)):
        return "the agent says nothing after it"
    return _untold(transcript, index)


def _untold(transcript: Transcript, index: int) -> str:
    after = transcript.compactions[index].after
    made = [entry for entry in after if isinstance(entry, Message)]
    hidden = sum(_is_hidden(message) for message in made)
    if hidden:
        return f"what it left is encrypted: {hidden} of the {len(made)} messages that it made cannot be read"
    if {id(message) for message in transcript.before(index)} <= {id(message) for message in transcript.after(index)}:
        return "what it dropped is not recorded: all that stood before it still stands"
    if transcript.format == "atif" and not _tells_tail(transcript, index):
        return "which messages it kept beside its summary is not recorded"
    return ""


def harness_of(transcript: Transcript) -> str:
    """Name the harness: the format, and for one that many harnesses write, which of them did.

    >>> harness_of(Transcript("t", "pi", ())), harness_of(Transcript("t", "atif", (), header={"agent": "terminus-2"}))
    ('pi', 'atif (terminus-2)')
    """
    producer = _producer(transcript)
    return f"{transcript.format} ({producer})" if producer else transcript.format


def _producer(transcript: Transcript) -> str:
    return str(transcript.header.get("agent") or "") if transcript.format == "atif" else ""


def _is_hidden(message: Message) -> bool:
    """A message of which all that says anything is encrypted."""
    opaque = any(isinstance(block, Reasoning) and block.opaque for block in message.blocks)
    return opaque and all(isinstance(block, Reasoning) and not block.text for block in message.blocks)


def _tells_tail(transcript: Transcript, index: int) -> bool:
    """Whether an ATIF file tells what was kept: its producer keeps nothing, or the kept messages are listed.

    They are where it goes on in another file, which begins with copies of all that stands.
    """
    compaction = transcript.compactions[index]
    kept = {transcript.messages[entry].role for entry in compaction.after if isinstance(entry, int)}
    last, first = (transcript.messages[i].source or 0 for i in (compaction.position - 1, compaction.position))
    is_copied = any(last < origin.first <= first for origin in transcript.origins)
    return is_copied or _producer(transcript).casefold().startswith(_TELLS_ALL) or not kept <= {"system", "user"}


def sent(transcript: Transcript, meter: Meter) -> list[Sent]:
    """Hold what was recorded around each compaction against the token counts of the responses next to it.

    input = overhead + ratio * weight: the ratio is the median growth of the counts over that of our weights, the
    overhead (system prompt, schemas) what the first response leaves. Linear in the length of the session.
    """
    points = list(_points(transcript, meter))
    borders = [compaction.position for compaction in transcript.compactions]
    grown = [
        (later.input - point.input) / (later.weight - point.weight)
        for point, later in pairwise(points)
        if later.weight - point.weight >= GROWTH and not any(point.position < at <= later.position for at in borders)
    ]
    ratio = median(grown) if grown else 0.0
    if ratio <= 0:
        return [Sent(None, None) for _ in borders]
    overhead = points[0].input - ratio * points[0].weight
    more = {point.position: round((point.input - overhead) / ratio - point.weight) for point in points}
    found = []
    for index, border in enumerate(borders):
        start = max(borders[:index], default=0)
        last = max((at for at in more if start <= at < border), default=None)
        end = next((at for at in borders[index + 1 :] if at > border), len(transcript.messages))
        first = min((at for at in more if border <= at < end), default=None)
        told = index + 1 == len(borders) or borders[index + 1] > border  # of several at one place the last one was sent
        cleared = None if last is None else -more[last]
        found.append(Sent(cleared, more[first] if told and first is not None else None))
    return found


class _Point(NamedTuple):
    """A response: its position, what we weigh before it, what was sent by its record."""

    position: int
    weight: int
    input: int


def _points(transcript: Transcript, meter: Meter) -> Iterator[_Point]:
    told = sorted((u.position, u.input) for u in transcript.usage if u.position is not None and u.input)
    weights = weights_in_view(transcript, meter) if told else []
    for position, given in told:
        yield _Point(position, weights[position] - meter.message(transcript.messages[position]), given)


def beyond(tokens: int | None, of: int, limits: tuple[int, float]) -> bool:
    """Tell whether an estimate is more than its error: over the tokens and over the share of *limits*.

    >>> beyond(2_500, 3_000, UNSEEN), beyond(2_500, 30_000, UNSEEN), beyond(None, 3_000, UNSEEN)
    (True, False, False)
    """
    return tokens is not None and tokens > limits[0] and tokens > limits[1] * of
