"""A compaction and its receipt as a notebook shows them: weights before and after, and what became of every message."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from itertools import groupby

from compactlab.compaction import Compaction
from compactlab.displays import _page as page
from compactlab.receipt import Change, Receipt

SHOWN = 12
"""Notes and repairs that are listed."""
COLUMNS = ("messages", "what", "how many", "why")


def html(thing: Receipt | Compaction) -> str:
    """The outcome, the weights before and after by kind of block, a strip of all messages, and the runs of one fate."""
    receipt = thing.receipt if isinstance(thing, Compaction) else thing
    kinds = [kind for kind, weight in receipt.kinds_before.items() if weight or receipt.kinds_after[kind]]
    heaviest = max(receipt.tokens_before, receipt.tokens_after)
    counts = {fate: receipt.count(fate) for fate in page.FATES}  # type: ignore[arg-type]
    named = {f"{fate} {n:,}": page.FATES[fate][0] for fate, n in counts.items() if n}
    rows = [_row(list(run)) for _, run in groupby(receipt.changes, key=lambda change: (change.action, change.why))]
    return page.framed(
        page.head(f"{receipt.strategy}: {receipt.outcome}", receipt.reason, _weights(receipt), *_model(receipt)),
        page.bar({kind: receipt.kinds_before[kind] for kind in kinds}, heaviest),
        page.bar({kind: receipt.kinds_after[kind] for kind in kinds}, heaviest),
        page.keys({f"{k} {receipt.kinds_before[k]:,} → {receipt.kinds_after[k]:,}": page.KINDS[k] for k in kinds}),
        page.strip([change.action for change in receipt.changes]),
        page.keys(named),
        page.listed(_notes(receipt)),
        page.folded("what became of every message", page.table(COLUMNS, rows, ("what", "why"))),
    )


def text(thing: Receipt | Compaction) -> str:
    """The receipt's own text."""
    return (thing.receipt if isinstance(thing, Compaction) else thing).to_text()


def _weights(receipt: Receipt) -> str:
    pinned = f", of which pinned {receipt.pinned_tokens:,}" if receipt.pinned_tokens else ""
    target = "" if receipt.target is None else f"; target {receipt.target:,}{', missed' if receipt.over_target else ''}"
    return (
        f"{receipt.tokens_before:,} → {receipt.tokens_after:,} tokens ({receipt.counter}), {receipt.saved:.1%} saved"
        f"{target}; protected {receipt.protected_tokens:,}{pinned}"
    )


def _notes(receipt: Receipt) -> list[str]:
    notes = [f"repaired: {repair}" for repair in receipt.repairs] + [f"note: {note}" for note in receipt.notes]
    short = [textwrap.shorten(note, 200, placeholder=" ...") for note in notes[:SHOWN]]
    return short + ([f"{len(notes) - SHOWN:,} more"] if len(notes) > SHOWN else [])


def _model(receipt: Receipt) -> Iterator[str]:
    if receipt.model_calls:
        yield f"{receipt.model}: {receipt.model_calls} calls, {receipt.model_tokens:,} tokens"
    if receipt.fell_back:
        yield "fell back to a lesser way, see the notes"


def _row(run: list[Change]) -> tuple[str, ...]:
    first, last = run[0], run[-1]
    if first.position is None:
        span = "new"
    else:
        span = str(first.position) if len(run) == 1 else f"{first.position}-{last.position}"
    return (span, first.action, f"{len(run):,}", first.why)
