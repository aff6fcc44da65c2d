"""Secrets in a text: what looks like a credential is masked before any family reads it, so none can give a piece of it.

What a secret is says `compactlab.redaction`; here its place is kept, so that positions stay what they were.
"""

from __future__ import annotations

from collections.abc import Iterable

from compactlab.facts.text import FILLER, blank
from compactlab.redaction import secrets


def without_secrets(text: str, known: Iterable[str] = ()) -> str:
    r"""Mask everything in *text* that looks like a credential, and what is *known* as one; the length stays.

    >>> without_secrets("API_KEY=q9w8e7r6t5 on port 5433").replace("\ufffc", "*")
    'API_KEY=********** on port 5433'
    """
    found = secrets(text)
    text = blank(text, [(start, end) for start, end, _ in found]) if found else text
    for value in sorted(known, key=len, reverse=True):
        text = text.replace(value, FILLER * len(value))
    return text
