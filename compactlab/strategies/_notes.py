"""The headings of the notes that strategies leave, in one place: a model's text may not pretend to be another note."""

from __future__ import annotations

SUMMARY = "[Compacted summary]"
CARRIED = "[All user messages, word for word]"
THREADS = "[Threads I carried forward]"
LEDGER = "[Ledger of what the removed messages said]"
_ALL = (SUMMARY, CARRIED, THREADS, LEDGER)


def without_headings(text: str) -> str:
    r"""Take every heading of ours out of a model's text, wherever it stands, so that notes never nest.

    >>> without_headings("[Compacted summary]\n1. Primary request and intent")
    '1. Primary request and intent'
    """
    kept = []
    for line in text.split("\n"):
        bare = line
        for heading in _ALL:
            bare = bare.replace(heading, "")
        if bare == line or bare.strip(" >#*-"):
            kept.append(bare)
    return "\n".join(kept).strip()
