"""OpenTelemetry traces of model calls: OTLP JSON, what the SDKs print, Jaeger's export; one document or JSON lines.

The messages of spans are read in the semantic conventions for generative AI (attributes, events, log records, new and
old) and in the dialects of OpenInference, OpenLLMetry, Monocle and the AI SDK. Each call of a model repeats the
context: the spans of a conversation, or of a trace that belongs to none, tell one story for each agent in it. Where a
later request lost some of what stood before, that is a recorded compaction. Results of tools that no request shows
are taken from the spans of the tools. Not read: runs of agents beside the calls of their models, embeddings, metrics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from compactlab.readers._fields import array
from compactlab.readers._sessions import told_with
from compactlab.readers.opentelemetry._records import Span, concatenated, is_record, spans
from compactlab.readers.opentelemetry._traces import transcripts
from compactlab.transcript import Intake, Origin, Transcript

if TYPE_CHECKING:
    from compactlab.readers._files import Source

WHERE = "wherever a collector's file exporter, a console exporter or a tracing backend's export writes"


def sniff(source: Source) -> float:
    """Look for OTLP's envelopes, and for spans and log records with a trace and attributes."""
    found = [is_record(inner) for value in source.values for inner in (array(value)[:20] or [value])]
    return 0.95 if any(found[:20]) else 0.0


def read(source: Source) -> Iterator[Transcript]:
    """Read the conversations of a file; what was read past in it is told with the last one."""
    reading = _Reading(source)
    found = list(reading.spans())
    held: Transcript | None = None
    records = 0
    for told in transcripts(source, found, reading.origin()):
        if held is not None:
            records += held.intake.records
            yield held
        held = told
    if held is not None:
        yield told_with(held, reading.intake(), max(len(found) - records, 0))


class _Reading:
    """The spans of one file, numbered by their line, or where a record holds several or is no line, by themselves."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.lines = source.lines()
        self.unknown: Counter[str] = Counter()
        self.broken: Counter[str] = Counter()
        self.by_line = source.document is None and not _is_printed(source)

    def origin(self) -> Origin:
        path = str(self.source.path)
        return Origin(path, "line {}", base=1) if self.by_line else Origin(path, "span {}")

    def intake(self) -> Intake:
        return self.lines.intake(skipped=self.broken, unknown=+self.unknown)

    def spans(self) -> Iterator[Span]:
        number = 0
        for line, value in self._values():
            before = number
            for span in spans(value):
                span.source = line if self.by_line else number
                number += 1
                yield span
            self.unknown["record without spans"] += number == before

    def _values(self) -> Iterator[tuple[int, Any]]:
        if self.source.document is not None:
            yield 0, self.source.document
        elif self.by_line:
            yield from ((line.number - 1, line.value) for line in self.lines)
        else:
            yield from enumerate(concatenated(self.source, self.broken))


def _is_printed(source: Source) -> bool:
    """Whether a file has its records over several lines each, as the SDKs print them."""
    first = source.head.lstrip().partition(b"\n")[0].strip()
    return first in {b"{", b"["}
