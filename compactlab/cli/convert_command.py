"""`compactlab convert`."""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path

from compactlab import catalog
from compactlab.cli.input import transcripts
from compactlab.errors import TranscriptError
from compactlab.readers import read, write
from compactlab.transcript import Block, Message, Transcript


def main(options: Namespace) -> None:
    """Write what was read in another format, read it back, and say what that format could not hold."""
    found = transcripts(options)
    lost: Counter[str] = Counter()
    blocks = 0
    for part, path in _files(found, options.to, Path(options.output)):
        write(part, path, options.to)
        back = read(path, options.to)
        if len(back) != len(part):
            raise TranscriptError(f"{path}: {len(part)} sessions were written, but {len(back)} can be read back")
        for was, now in zip(part, back, strict=True):
            lost.update(_differences(was.messages, now.messages))
            blocks += sum(len(message.blocks) for message in was.messages)
        sys.stdout.write(f"{path}: {len(part):,} sessions, {sum(len(t.messages) for t in part):,} messages\n")
    if not lost:
        sys.stdout.write(f"read back: all {blocks:,} blocks are equal\n")
        return
    told = ", ".join(f"{what} of {n:,}" for what, n in lost.most_common())
    sys.stdout.write(f"read back: {options.to} cannot hold everything; of {blocks:,} blocks it lost the {told}\n")


def _files(found: Sequence[Transcript], name: str, output: Path) -> Iterable[tuple[tuple[Transcript, ...], Path]]:
    """Which sessions go to which file: all to one, or one file each in a folder, where a file holds but one session."""
    reader = catalog.load("readers", name)
    if not getattr(reader, "ONE_SESSION", False) or (len(found) == 1 and not output.is_dir()):
        return ((tuple(found), output),)
    if output.is_file():
        raise TranscriptError(f"{output}: a file of {name} holds one session; expected a folder for {len(found)}")
    output.mkdir(parents=True, exist_ok=True)
    return [((transcript,), output / f"{_safe(transcript.id)}.jsonl") for transcript in found]


def _safe(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name).strip(".") or "session"


def _differences(was: Sequence[Message], now: Sequence[Message]) -> Iterable[str]:
    """What of each block did not come back; how blocks are grouped into messages is the format's own matter."""
    for before, after in zip_longest(_said(was), _said(now)):
        if before is None or after is None or before[0] != after[0]:
            yield "place"
        elif before[1] != after[1]:
            yield "content"
        elif before[2] != after[2]:
            yield "mark of synthetic text"


def _said(messages: Iterable[Message]) -> list[tuple[str, Block, bool]]:
    return [(message.role, block, message.synthetic) for message in messages for block in message.blocks]
