"""`compactlab compact`."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from msgspec.structs import replace

from compactlab import catalog
from compactlab.cli.input import transcripts
from compactlab.cli.output import print_json, print_warnings
from compactlab.compaction import Guard
from compactlab.errors import SpecError, TranscriptError
from compactlab.pins import pinned
from compactlab.plan import plan
from compactlab.readers import writable, write
from compactlab.settings import Project, load
from compactlab.tokens import Meter
from compactlab.transcript import Transcript


def main(options: Namespace) -> None:
    """Compact one transcript, or say what would be done; print the receipt, and write what was asked for."""
    if options.target is not None and options.target <= 0:
        raise SpecError(f"--target {options.target}: expected a number of tokens above 0")
    project = load(options.settings).asking(options.llm, options.model, options.base_url)
    transcript = _only(options, project)
    project, meter = project.of(transcript.agent_type), Meter(options.counter)
    view = transcript.view(len(transcript.messages))
    spec = options.strategy or project.strategy(transcript.agent_type, meter.messages(view))
    messages = pinned(view, (*project.pins(transcript.agent_type), *options.pin))
    model = project.model() if catalog.strategy(spec).uses_model else None
    guard = Guard(meter, model=model, prompts=project.prompts.focused(options.focus))
    planned = plan(messages, spec, target=options.target, guard=guard)
    if options.output and not options.dry_run:
        _write(replace(transcript, messages=planned.apply(messages), compactions=(), usage=()), options)
    if options.receipt and not options.dry_run:
        Path(options.receipt).write_text(planned.receipt.to_json(), encoding="utf-8")
    if options.json:
        print_json(planned.receipt)
    elif options.dry_run:
        sys.stdout.write(f"would be: {planned.receipt.to_text()}\n")
    else:
        sys.stdout.write(planned.receipt.to_text() + "\n")


def _write(transcript: Transcript, options: Namespace) -> None:
    """Write in the format that was asked for, else in the one that was read, else in our own."""
    own = transcript.format if transcript.format in writable() else "compactlab"
    write(transcript, options.output, options.to or own)
    if own != transcript.format and not options.to:
        print_warnings([f"{transcript.format} can only be read; {options.output} is in compactlab's own format"])


def _only(options: Namespace, project: Project) -> Transcript:
    found = transcripts(options, project)
    if len(found) != 1:
        ids = ", ".join(t.id for t in found[:3])
        raise TranscriptError(f"{options.path}: holds {len(found)} sessions ({ids}, ...); expected one to compact")
    return found[0]
