"""`compactlab compact`."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from msgspec.structs import replace

from compactlab import catalog
from compactlab.cli.output import print_json
from compactlab.compaction import Guard
from compactlab.errors import SpecError, TranscriptError
from compactlab.pins import pinned
from compactlab.plan import plan
from compactlab.readers import read, write
from compactlab.settings import load
from compactlab.tokens import Meter
from compactlab.transcript import Transcript


def main(options: Namespace) -> None:
    """Compact one transcript, or say what would be done; print the receipt, and write what was asked for."""
    if options.target is not None and options.target <= 0:
        raise SpecError(f"--target {options.target}: expected a number of tokens above 0")
    project = load(options.settings)
    transcript = _only(options.path)
    spec = options.strategy or project.strategy(transcript.agent_type)
    view = [transcript.messages[i] for i in transcript.view(len(transcript.messages))]
    messages = pinned(view, (*project.pins(transcript.agent_type), *options.pin))
    model = project.model() if catalog.strategy(spec).uses_model else None
    guard = Guard(Meter(options.counter), model=model)
    planned = plan(messages, spec, target=options.target, guard=guard)
    if options.output and not options.dry_run:
        write(replace(transcript, messages=planned.apply(messages), compactions=()), options.output)
    if options.receipt and not options.dry_run:
        Path(options.receipt).write_text(planned.receipt.to_json(), encoding="utf-8")
    if options.json:
        print_json(planned.receipt)
    elif options.dry_run:
        sys.stdout.write(f"would be: {planned.receipt.to_text()}\n")
    else:
        sys.stdout.write(planned.receipt.to_text() + "\n")


def _only(path: str) -> Transcript:
    transcripts = read(path)
    if len(transcripts) != 1:
        ids = ", ".join(t.id for t in transcripts[:3])
        raise TranscriptError(f"{path}: holds {len(transcripts)} sessions ({ids}, ...); expected one to compact")
    return transcripts[0]
