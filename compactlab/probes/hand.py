"""Hand-made probes: questions with a known answer, and whether a compacted history still holds it.

One JSON object a line: `id`, `kind`, `question`, `answer`, `aliases`, `evidence` (indices of recorded messages),
`superseded` (older values, now wrong), `asked_after` (the question makes sense from this message on). `run` finds
`NAME.probes.jsonl` beside `NAME.jsonl` by itself. A probe is admitted at a cut behind its `asked_after`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from compactlab.errors import TranscriptError
from compactlab.facts.text import canonical
from compactlab.markers import without_markers
from compactlab.matching import Matcher, Pattern, Verdict, content_words
from compactlab.transcript import Block, Message, readable

SHORT_ANSWER = 4
"""Answers with fewer characters never count by presence alone."""


class Probe(msgspec.Struct, frozen=True):
    """One question about a session and what counts as its answer."""

    id: str
    question: str
    answer: str
    evidence: tuple[int, ...]
    asked_after: int
    kind: str = "recall"
    aliases: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()


def load(path: Path) -> tuple[Probe, ...]:
    """Read a file of probes; `TranscriptError` names the line that is none."""
    decoder = msgspec.json.Decoder(Probe)
    probes: list[Probe] = []
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise TranscriptError(f"{path}: cannot be read ({error.strerror})") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                probes.append(decoder.decode(line))
            except msgspec.DecodeError as error:
                raise TranscriptError(f"{path}: line {number} is no probe: {error}") from error
    return tuple(probes)


def beside(transcript: Path) -> Path | None:
    """The file of probes that lies beside a transcript, if there is one."""
    candidate = transcript.with_name(f"{transcript.stem}.probes.jsonl")
    return candidate if candidate.is_file() else None


class HandProbes:
    """The probes of one session, judged against any compacted form of it."""

    def __init__(self, probes: Sequence[Probe]) -> None:
        self.probes = tuple(probes)
        self._matcher = Matcher([p for group in _groups(self.probes) for p in group])
        self._seen: dict[tuple[Block, int | None, bool], tuple[int, int]] = {}

    @cached_property
    def _questions(self) -> list[frozenset[str]]:
        return [content_words(probe.question) for probe in self.probes]

    def admitted(self, cut: int, protected: Iterable[Message]) -> tuple[int, ...]:
        """Indices of probes that may be asked at a cut before recorded message *cut* and are at risk there.

        A probe that the protected set alone answers tells nothing of a strategy: it is left out, as facts are.
        """
        safe = self.verdicts(protected)
        return tuple(i for i, p in enumerate(self.probes) if p.asked_after < cut and safe[i] not in {"kept", "both"})

    def verdicts(self, messages: Iterable[Message], own: Collection[Block] | None = None) -> list[Verdict]:
        """Judge every probe: kept, both (an older value stands too), stale (only an older one), lost.

        *own* are the blocks that stood before a compaction; in any other its markers answer nothing.
        """
        current = older = 0
        for message in messages:
            for block in message.blocks:
                made = own is not None and block not in own
                key = (block, message.source, made)
                if key not in self._seen:
                    self._seen[key] = self._found(block, message.source, made=made)
                current |= self._seen[key][0]
                older |= self._seen[key][1]
        return [_verdict(current >> i & 1, older >> i & 1) for i in range(len(self.probes))]

    def _found(self, block: Block, source: int | None, *, made: bool) -> tuple[int, int]:
        """Bit sets of the probes whose current, and whose older, values stand in a block."""
        found = [0, 0]
        hits = self._matcher.hits(without_markers(readable(block))) if made else self._matcher.block(block)
        for hit in hits:
            group, index = divmod(hit.pattern, len(self.probes))
            is_older, is_short = divmod(group, 2)
            at_home = source in self.probes[index].evidence and not is_short
            if at_home or not self._questions[index].isdisjoint(hit.words):
                found[is_older] |= 1 << index
        return found[0], found[1]


def _groups(probes: Sequence[Probe]) -> list[list[Pattern]]:
    """Patterns of all probes in four groups: current values, short ones of them, older values, short ones of them."""
    forms = [(probe.answer, *probe.aliases) for probe in probes], [probe.superseded for probe in probes]
    return [
        [
            Pattern(
                tuple(canonical(v) for v in values if (len(v) < SHORT_ANSWER) is short), exact=False, family="answer"
            )
            for values in group
        ]
        for group in forms
        for short in (False, True)
    ]


def _verdict(current: int, older: int) -> Verdict:
    if current:
        return "both" if older else "kept"
    return "stale" if older else "lost"
