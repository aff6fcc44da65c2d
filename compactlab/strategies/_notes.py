"""The headings of the notes that strategies leave, in one place: a model's text may not pretend to be another note."""

from __future__ import annotations

SUMMARY = "[Compacted summary]"
CARRIED = "[All user messages, word for word]"
THREADS = "[Threads I carried forward]"
LEDGER = "[Ledger of what the removed messages said]"
_ALL = (SUMMARY, CARRIED, THREADS, LEDGER)


def without_headings(text: str) -> str:
    r"""Leave out of a model's text every line that begins with a heading of ours, so that notes never nest.

    >>> without_headings("[Compacted summary]\n1. Primary request and intent")
    '1. Primary request and intent'
    """
    return "\n".join(line for line in text.split("\n") if not line.lstrip(" >#*-").startswith(_ALL)).strip()
