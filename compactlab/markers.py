"""The words that a compaction itself puts in: placeholders, marks of a cut, headings. They are no words of a history.

Who scores a compaction leaves them out of what it made: a placeholder answers no question, and the number of characters
that a mark counts is no number of the history.
"""

from __future__ import annotations

import re

CLEARED = "[Old tool result content cleared]"
NO_RESULT = "[No result of this call was recorded]"
CUT = "[… cut]"
SUMMARY = "[Compacted summary]"
CARRIED = "[All user messages, word for word]"
THREADS = "[Threads I carried forward]"
LEDGER = "[Ledger of what the removed messages said]"
BRIEF_LEDGER = "[Ledger]"
RULES = "[Standing rules and prohibitions, word for word]"
HEADINGS = (SUMMARY, CARRIED, RULES, THREADS, LEDGER, BRIEF_LEDGER)


def lines_cleared(count: int) -> str:
    """Mark where *count* lines stood between the ends of a result."""
    return f"[{count} lines cleared]"


def middle_cut(characters: int) -> str:
    """Mark the missing middle of a text that had *characters* in all."""
    return f"[… {characters:,} characters, the middle cut …]"


def messages_cut(count: int) -> str:
    """Mark where *count* messages were left out."""
    return f"[{count} message{'' if count == 1 else 's'} cut]"


def messages_removed(count: int) -> str:
    """Mark where *count* messages were slid out of view."""
    return f"[{count} earlier message{'' if count == 1 else 's'} removed to save context]"


REMOVED = re.compile(r"\[(\d+) earlier messages? removed to save context\]")
MIDDLE_CUT = re.compile(r"\[… [\d,]+ characters, the middle cut …\]")
_COUNTED = (MIDDLE_CUT.pattern, REMOVED.pattern.replace("(", "(?:"), r"\[\d+ lines cleared\]", r"\[\d+ messages? cut\]")
_MARKER = re.compile("|".join((*map(re.escape, (CLEARED, NO_RESULT, CUT, *HEADINGS)), *_COUNTED)))


def without_markers(text: str) -> str:
    """Take the markers out of a *text* that a compaction made or edited.

    >>> without_markers("[Compacted summary] Port 5433. [… 12,904 characters, the middle cut …]")
    ' Port 5433. '
    """
    return _MARKER.sub("", text) if "[" in text else text
