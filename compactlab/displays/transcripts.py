"""A transcript as a notebook shows it: what it holds, what it weighs, and its messages in pages."""

from __future__ import annotations

from collections import Counter

from compactlab.displays import _page as page
from compactlab.displays import messages as of_messages
from compactlab.tokens import Meter
from compactlab.transcript import Transcript

MOST = 2_000
"""Messages that are listed; a longer session says how many more there are."""


def html(transcript: Transcript) -> str:
    """The head of a session, its weight by kind of block, its recorded compactions, and its messages in pages."""
    meter = Meter()
    kinds = {kind: weight for kind, weight in meter.by_kind(transcript.messages).items() if weight}
    total = sum(kinds.values())
    weights = ", ".join(f"{kind} {weight:,}" for kind, weight in kinds.items())
    return page.framed(
        page.head(
            transcript.title or transcript.id,
            f"{_facts(transcript)}; {_roles(transcript)}",
            f"{total:,} tokens ({meter.counter_name}): {weights}",
        ),
        page.bar(kinds, total),
        page.keys({kind: page.KINDS.get(kind, "#9a9a9a") for kind in kinds}),
        page.listed(_compactions(transcript)),
        _listed(transcript),
    )


def text(transcript: Transcript) -> str:
    """A line with the name of a session, its format, and how many messages it has."""
    return f"Transcript {transcript.id!r} ({transcript.format}, {transcript.agent_type}): {_count(transcript)}"


def _count(transcript: Transcript) -> str:
    return page.counted(len(transcript.messages), "message")


def _facts(transcript: Transcript) -> str:
    named = [transcript.id] if transcript.title else []
    return ", ".join([*named, transcript.format, transcript.agent_type, _count(transcript)])


def _roles(transcript: Transcript) -> str:
    roles = Counter(message.role for message in transcript.messages)
    return ", ".join(f"{n:,} {role}" for role, n in roles.items())


def _compactions(transcript: Transcript) -> list[str]:
    return [
        f"recorded compaction before message {done.position:,} ({done.trigger}): "
        f"{len(transcript.before(i)):,} messages became {len(done.after):,}"
        for i, done in enumerate(transcript.compactions)
    ]


def _listed(transcript: Transcript) -> str:
    """The messages in pages."""
    shown = transcript.messages[:MOST]
    more = len(transcript.messages) - len(shown)
    rest = f'<div class="cl-pale">and {more:,} more messages</div>' if more else ""
    made = page.table(of_messages.COLUMNS, of_messages.rows(shown), ("role", "says"))
    return page.folded(f"the {_count(transcript)}", made + rest)
