"""`compactlab compact`."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from msgspec.structs import replace

from compactlab import catalog
from compactlab.cli.output import print_json
from compactlab.compaction import Guard, compact
from compactlab.errors import SpecError, TranscriptError
from compactlab.readers import read, write
from compactlab.tokens import Meter


def main(options: Namespace) -> None:
    """Compact one transcript, print the receipt, and write what was asked for."""
    if options.target is not None and options.target <= 0:
        raise SpecError(f"--target {options.target}: expected a number of tokens above 0")
    strategy = catalog.strategy(options.strategy)
    transcripts = read(options.path)
    if len(transcripts) != 1:
        ids = ", ".join(t.id for t in transcripts[:3])
        raise TranscriptError(
            f"{options.path}: holds {len(transcripts)} sessions ({ids}, ...); expected one to compact"
        )
    transcript = transcripts[0]
    view = [transcript.messages[i] for i in transcript.view(len(transcript.messages))]
    result = compact(view, strategy, target=options.target, guard=Guard(Meter(options.counter)))
    if options.output:
        write(replace(transcript, messages=result.messages, compactions=()), options.output)
    if options.receipt:
        Path(options.receipt).write_text(result.receipt.to_json(), encoding="utf-8")
    if options.json:
        print_json(result.receipt)
    else:
        sys.stdout.write(result.receipt.to_text() + "\n")
