"""What a model wrote for a note: it may not pretend to be a note of ours."""

from __future__ import annotations

from compactlab.markers import HEADINGS


def without_headings(text: str) -> str:
    r"""Take every heading of ours out of a model's text, wherever it stands, so that notes never nest.

    >>> without_headings("[Compacted summary]\n1. Primary request and intent")
    '1. Primary request and intent'
    """
    kept = []
    for line in text.split("\n"):
        bare = line
        for heading in HEADINGS:
            bare = bare.replace(heading, "")
        if bare == line or bare.strip(" >#*-"):
            kept.append(bare)
    return "\n".join(kept).strip()
